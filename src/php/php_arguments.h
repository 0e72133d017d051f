/*
 * php_arguments.h - checks of the arguments that several functions share.
 *
 * False, or NULL: an exception was thrown. `argument` is the position that a ValueError names; 0
 * for an argument that the function does not have.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_ARGUMENTS_H
#define PHP_BLOOMSHM_ARGUMENTS_H

#include "php.h"

#include "core/bshm_records.h"

/* ------------------------------------------------------------------ filters */

/* 1 to 63 bytes, no NUL. */
bool php_bloomshm_check_name(const zend_string *name, uint32_t argument);
bool php_bloomshm_check_capacity(zend_long capacity, uint32_t argument);
/* Writes error rate, expansion and seed to *out; `seed` may be NULL. */
bool php_bloomshm_check_parameters(bshm_parameters *out, double error_rate, uint32_t rate_argument,
	zend_long expansion, uint32_t expansion_argument, const zend_string *seed,
	uint32_t seed_argument);
/* After that: makes *out a filter with a window, or a counting one, if that is asked for. */
bool php_bloomshm_check_kind(bshm_parameters *out, zend_long window, uint32_t window_argument,
	bool counting, uint32_t counting_argument, uint32_t expansion_argument);

/* ------------------------------------------------------------------ records */

/* All throw, and return false. */
ZEND_COLD bool php_bloomshm_refuse_ttl(zend_long ttl, uint32_t argument);
ZEND_COLD bool php_bloomshm_refuse_key(const zend_string *key, uint32_t argument);
ZEND_COLD bool php_bloomshm_refuse_key_in(const zend_string *key, uint32_t argument);

static inline bool php_bloomshm_check_ttl(zend_long ttl, uint32_t argument)
{
	return EXPECTED(ttl >= 0 && ttl <= BSHM_TTL_MAX_S) || php_bloomshm_refuse_ttl(ttl, argument);
}

static inline bool php_bloomshm_check_key(const zend_string *key, uint32_t argument)
{
	return EXPECTED(ZSTR_LEN(key) <= BSHM_KEY_BYTES_MAX) || php_bloomshm_refuse_key(key, argument);
}

/* Of the keys that the argument contains, one. */
static inline bool php_bloomshm_check_key_in(const zend_string *key, uint32_t argument)
{
	return EXPECTED(ZSTR_LEN(key) <= BSHM_KEY_BYTES_MAX) ||
		   php_bloomshm_refuse_key_in(key, argument);
}

/* ------------------------------------------------------------------ files */

/* The absolute path of a file that may be read, or written; the caller frees it with efree(). */
char *php_bloomshm_path_to_read(const zend_string *path, uint32_t argument);
char *php_bloomshm_path_to_write(const zend_string *path, uint32_t argument);

#endif
