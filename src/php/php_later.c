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
void php_bloomshm_throw_later(const char *what)
{
	zend_throw_exception_ex(php_bloomshm_exception_ce, BLOOMSHM_CODE_UNAVAILABLE,
		"%s(): %s is not part of this version (" PHP_BLOOMSHM_VERSION ")",
		get_active_function_name(), what);
}

#define LATER(name, what)                                                                          \
 PHP_FUNCTION(name)                                                                                \
 {                                                                                                 \
  (void) execute_data;                                                                             \
  (void) return_value;                                                                             \
  php_bloomshm_throw_later(what);                                                                  \
 }

LATER(bloom_insert, "inserting into growing filters")
LATER(bloom_remove, "a counting filter")
LATER(bloom_count, "a counting filter")
LATER(bloom_merge, "merging")
LATER(bloom_dump, "dumping to a file")
LATER(bloom_restore, "restoring from a file")
LATER(bloom_fetch, "the record store")
LATER(bloom_forget, "the record store")
LATER(bloom_cache_get, "the record store")
LATER(bloom_cache_get_many, "the record store")
LATER(bloom_cache_set, "the record store")
LATER(bloom_cache_set_many, "the record store")
LATER(bloom_cache_add, "the record store")
LATER(bloom_cache_replace, "the record store")
LATER(bloom_cache_has, "the record store")
LATER(bloom_cache_delete, "the record store")
LATER(bloom_cache_delete_many, "the record store")
LATER(bloom_cache_increment, "the record store")
LATER(bloom_cache_decrement, "the record store")
LATER(bloom_cache_cas, "the record store")
LATER(bloom_cache_append, "the record store")
LATER(bloom_cache_touch, "the record store")
LATER(bloom_cache_remember, "the record store")
LATER(bloom_cache_pop_oldest, "the record store")
LATER(bloom_cache_scan, "the record store")
LATER(bloom_cache_clear, "the record store")
LATER(bloom_cache_dump, "the record store")
LATER(bloom_cache_restore, "the record store")
LATER(bloom_cache_info, "the record store")
