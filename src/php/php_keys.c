/*
 * php_keys.c - from PHP values to keys.
 *
 * A key is the bytes of a string, an int, a float or a Stringable. Where rows are allowed, an
 * array is a database row, and its first column is the key. A conversion may run user code
 * (__toString, an iterator), so all come before the first step on the segment.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_keys.h"

#include "Zend/zend_interfaces.h"
#include "ext/spl/spl_iterators.h"

void php_bloomshm_key_release(php_bloomshm_key *key)
{
	if (key->owned != NULL) {
		zend_string_release(key->owned);
		key->owned = NULL;
	}
}

static bool key_of_scalar(php_bloomshm_key *out, zval *value)
{
	if (EXPECTED(Z_TYPE_P(value) == IS_STRING)) {
		out->string = Z_STR_P(value);
		out->key = php_bloomshm_key_of_string(Z_STR_P(value));
		return true;
	}
	if (Z_TYPE_P(value) == IS_LONG) {
		char *end = out->digits + sizeof(out->digits) - 1;
		char *digits = zend_print_long_to_buf(end, Z_LVAL_P(value));
		out->key = (bshm_key){digits, (size_t) (end - digits)};
		return true;
	}
	if (Z_TYPE_P(value) == IS_DOUBLE ||
		(Z_TYPE_P(value) == IS_OBJECT && Z_OBJCE_P(value)->__tostring != NULL)) {
		out->owned = zval_try_get_string(value);
		if (out->owned != NULL) {
			out->string = out->owned;
			out->key = php_bloomshm_key_of_string(out->owned);
		}
		return out->owned != NULL;
	}
	return false;
}

static zval *first_column(zval *row)
{
	zval *column;
	ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(row), column) {
		ZVAL_DEREF(column);
		return column;
	}
	ZEND_HASH_FOREACH_END();
	return NULL;
}

bool php_bloomshm_key_of(
	php_bloomshm_key *out, zval *element, zend_ulong index, uint32_t argument, bool rows)
{
	out->owned = NULL;
	out->string = NULL;
	ZVAL_DEREF(element);
	zval *value = element;
	if (rows && Z_TYPE_P(element) == IS_ARRAY) {
		value = first_column(element);
		if (value == NULL) {
			zend_argument_type_error(argument,
				"must contain rows with a first column, element " ZEND_ULONG_FMT " is empty",
				index);
			return false;
		}
	}
	if (EXPECTED(key_of_scalar(out, value))) {
		return true;
	}
	if (EG(exception) == NULL) {
		zend_argument_type_error(argument,
			"must contain only string, int, float%s or Stringable, %s%s given at "
			"element " ZEND_ULONG_FMT,
			rows ? ", row" : "", value == element ? "" : "a row that begins with ",
			zend_zval_type_name(value), index);
	}
	return false;
}

/* ------------------------------------------------------------------ iterables */

typedef struct {
	php_bloomshm_each each;
	void *context;
	zend_ulong index;
	uint32_t argument;
	bool rows;
	bool stopped;
} walk;

static bool visit(walk *w, zval *element)
{
	php_bloomshm_key key;
	if (!php_bloomshm_key_of(&key, element, w->index, w->argument, w->rows)) {
		return false;
	}
	w->index++;
	const bool go_on = w->each(&key, w->context);
	php_bloomshm_key_release(&key);
	return go_on;
}

static int visit_iterator(zend_object_iterator *iterator, void *argument)
{
	walk *w = argument;
	php_bloomshm_keep_time_limit(); /* InfiniteIterator has no end */
	zval *element = iterator->funcs->get_current_data(iterator);
	if (element == NULL || EG(exception) != NULL || !visit(w, element)) {
		w->stopped = true;
		return ZEND_HASH_APPLY_STOP;
	}
	return ZEND_HASH_APPLY_KEEP;
}

bool php_bloomshm_iterate(
	zval *keys, uint32_t argument, bool rows, php_bloomshm_each each, void *context)
{
	walk w = {each, context, 0, argument, rows, false};
	if (Z_TYPE_P(keys) == IS_ARRAY) {
		zval *element;
		ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(keys), element) {
			if (!visit(&w, element)) {
				return false;
			}
		}
		ZEND_HASH_FOREACH_END();
		return true;
	}
	return spl_iterator_apply(keys, visit_iterator, &w) == SUCCESS && !w.stopped &&
		   EG(exception) == NULL;
}

/* ------------------------------------------------------------------ lists */

static void release_strings(php_bloomshm_list *list)
{
	while (list->count != 0) {
		zend_string_release(list->strings[--list->count]);
	}
}

static void make_room(php_bloomshm_list *list, size_t room)
{
	list->room = room;
	list->keys = safe_erealloc(list->keys, room, sizeof(*list->keys), 0);
	list->strings = safe_erealloc(list->strings, room, sizeof(*list->strings), 0);
}

static bool append(const php_bloomshm_key *key, void *context)
{
	php_bloomshm_list *list = context;
	if (list->count == list->room) {
		make_room(list, list->room == 0 ? 64 : list->room * 2);
	}
	zend_string *string = key->string != NULL
							  ? zend_string_copy(key->string)
							  : zend_string_init(key->key.bytes, key->key.length, 0);
	list->strings[list->count] = string;
	list->keys[list->count] = php_bloomshm_key_of_string(string);
	list->count++;
	return true;
}

/* False: not all elements are strings, and the list is empty. */
static bool collect_strings(php_bloomshm_list *list, HashTable *keys)
{
	zval *element;
	make_room(list, MAX(zend_hash_num_elements(keys), 1));
	ZEND_HASH_FOREACH_VAL(keys, element) {
		if (UNEXPECTED(Z_TYPE_P(element) != IS_STRING)) {
			release_strings(list);
			return false;
		}
		zend_string *string = zend_string_copy(Z_STR_P(element));
		list->strings[list->count] = string;
		list->keys[list->count++] = php_bloomshm_key_of_string(string);
	}
	ZEND_HASH_FOREACH_END();
	return true;
}

bool php_bloomshm_list_collect(php_bloomshm_list *list, zval *keys, uint32_t argument, bool rows)
{
	*list = (php_bloomshm_list){0};
	if (Z_TYPE_P(keys) == IS_ARRAY && collect_strings(list, Z_ARRVAL_P(keys))) {
		return true;
	}
	return php_bloomshm_iterate(keys, argument, rows, append, list);
}

void php_bloomshm_list_release(php_bloomshm_list *list)
{
	release_strings(list);
	if (list->keys != NULL) {
		efree(list->keys);
		efree(list->strings);
	}
}
