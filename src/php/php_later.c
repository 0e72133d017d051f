/*
 * php_later.c - functions of the contract whose engine is not part of this version.
 *
 * They exist, so that code and tools find them, and say clearly what is missing.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php_bloomshm.h"

#include "Zend/zend_exceptions.h"

static void throw_later(void)
{
	zend_throw_exception_ex(php_bloomshm_exception_ce, BLOOMSHM_CODE_UNAVAILABLE,
		"%s(): the record store is not part of this version (" PHP_BLOOMSHM_VERSION ")",
		get_active_function_name());
}

#define LATER(name)                                                                                \
 PHP_FUNCTION(name)                                                                                \
 {                                                                                                 \
  (void) execute_data;                                                                             \
  (void) return_value;                                                                             \
  throw_later();                                                                                   \
 }

LATER(bloom_fetch)
LATER(bloom_forget)
LATER(bloom_cache_get)
LATER(bloom_cache_get_many)
LATER(bloom_cache_set)
LATER(bloom_cache_set_many)
LATER(bloom_cache_add)
LATER(bloom_cache_replace)
LATER(bloom_cache_has)
LATER(bloom_cache_delete)
LATER(bloom_cache_delete_many)
LATER(bloom_cache_increment)
LATER(bloom_cache_decrement)
LATER(bloom_cache_cas)
LATER(bloom_cache_append)
LATER(bloom_cache_touch)
LATER(bloom_cache_remember)
LATER(bloom_cache_pop_oldest)
LATER(bloom_cache_scan)
LATER(bloom_cache_clear)
LATER(bloom_cache_dump)
LATER(bloom_cache_restore)
LATER(bloom_cache_info)
