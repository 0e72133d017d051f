/*
 * php_keys.h - from PHP values to keys.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_KEYS_H
#define PHP_BLOOMSHM_KEYS_H

#include "php.h"

#include "core/bshm.h"

#include "Zend/zend_execute.h"

/*
 * Ends the request if its time limit has struck: for a loop that may have no end and that runs no
 * PHP code. PHP looks between two steps of a script only. It ends a call that goes on by ending the
 * process (hard_timeout), and not at all where it has threads.
 */
static inline void php_bloomshm_keep_time_limit(void)
{
	if (UNEXPECTED(zend_atomic_bool_load_ex(&EG(timed_out)))) {
		zend_timeout();
	}
}

/* Points to the bytes of the string, which has to outlive it. */
static inline bshm_key php_bloomshm_key_of_string(const zend_string *string)
{
	return (bshm_key){ZSTR_VAL(string), ZSTR_LEN(string)};
}

/* A key and its bytes: those of `string`, or `digits`. */
typedef struct {
	bshm_key key;
	zend_string *string;
	zend_string *owned; /* `string`, where php_bloomshm_key_release() has to release it */
	char digits[24];
} php_bloomshm_key;

/* Takes the key out of an element; `rows`: an array is a row, whose first column is the key. False:
 * a TypeError that names the element was thrown. */
bool php_bloomshm_key_of(
	php_bloomshm_key *out, zval *element, zend_ulong index, uint32_t argument, bool rows);
void php_bloomshm_key_release(php_bloomshm_key *key);

/* Calls `each` for every key of an array or Traversable, until it returns false. False: it did, or
 * an exception was thrown. */
typedef bool (*php_bloomshm_each)(const php_bloomshm_key *key, void *context);
bool php_bloomshm_iterate(
	zval *keys, uint32_t argument, bool rows, php_bloomshm_each each, void *context);

/* A list of keys that does not depend on the value it was made from. */
typedef struct {
	bshm_key *keys;
	zend_string **strings;
	size_t count;
	size_t room;
} php_bloomshm_list;

/* False: an exception was thrown. The list has to be released in both cases. */
bool php_bloomshm_list_collect(php_bloomshm_list *list, zval *keys, uint32_t argument, bool rows);
void php_bloomshm_list_release(php_bloomshm_list *list);

#endif
