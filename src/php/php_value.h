/*
 * php_value.h - from PHP values to the bytes of a record, and back.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_VALUE_H
#define PHP_BLOOMSHM_VALUE_H

#include "php.h"

#include "core/bshm_records.h"

/* A value as the record store keeps it. Its bytes are those of `number`, or of `string`. */
typedef struct {
	bshm_value value;
	zend_string *string; /* to be released; NULL: none */
	union {
		zend_long integer;
		double real;
	} number;
} php_bloomshm_value;

/* False: the value cannot be stored, and an exception was thrown. May run user code. */
bool php_bloomshm_value_of(php_bloomshm_value *out, zval *value);
/* The same in the format of a stored value of that type, so that both can be compared. */
bool php_bloomshm_value_like(php_bloomshm_value *out, zval *value, bshm_value_type type);
/* False: a stored value of that type cannot be read here, and an exception was thrown. */
bool php_bloomshm_value_readable(bshm_value_type type);
void php_bloomshm_value_release(php_bloomshm_value *value);

/* Copies a found record's value: 1 = it is in *out; 0 = it changed meanwhile; -1 = it cannot be
 * read. */
int php_bloomshm_value_copy(const bshm_found *found, php_bloomshm_value *out);
/*
 * After a 0: finds the record again and copies its value, as bshm_record_copy() does. True: *found
 * and *out are it. `patience`: NULL, or that of a call with many keys.
 */
bool php_bloomshm_value_again(bshm_found *found, const bshm_key *key, unsigned flags,
	bshm_patience *patience, php_bloomshm_value *out);
/* Turns a copied value into a PHP value, which takes its bytes. May run user code. False: it cannot
 * be read (an exception may be set). */
bool php_bloomshm_value_take(php_bloomshm_value *value, zval *out);
/* Copy and take in one: 1 = it is in *out; 0 = it changed meanwhile; -1 = it cannot be read. */
int php_bloomshm_value_make(const bshm_found *found, zval *out);

/* For up to BSHM_SHORT_MAX bytes. Where the size is a constant, the allocator need not look for its
 * bin. */
static inline zend_string *php_bloomshm_short_string(size_t length)
{
	zend_string *string = length <= 15   ? zend_string_alloc(15, false)
						  : length <= 23 ? zend_string_alloc(23, false)
						  : length <= 31 ? zend_string_alloc(31, false)
										 : zend_string_alloc(BSHM_SHORT_MAX, false);
	ZSTR_LEN(string) = length;
	return string;
}

/* The same as php_bloomshm_value_make(), with the short way for a short string or an int. */
static zend_always_inline int php_bloomshm_value_get(const bshm_found *found, zval *out)
{
	if (EXPECTED(found->fetched)) {
		const size_t length = (size_t) found->length;
		zend_long integer;
		if (EXPECTED(found->type == BSHM_VALUE_STRING)) {
			zend_string *bytes = php_bloomshm_short_string(length);
			bshm_found_short(found, ZSTR_VAL(bytes));
			ZSTR_VAL(bytes)[length] = '\0';
			ZVAL_NEW_STR(out, bytes);
			return 1;
		}
		if (found->type == BSHM_VALUE_INT && length == sizeof(integer)) {
			memcpy(&integer, found->value, sizeof(integer));
			ZVAL_LONG(out, integer);
			return 1;
		}
	}
	return php_bloomshm_value_make(found, out);
}

#endif
