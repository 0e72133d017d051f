/*
 * php_filter.c - the bloom_* functions on the keys of published filters: ask, add, insert, count,
 * remove.
 *
 * Not here: making and moving filters (php_admin.c), describing them (php_info.c), loads
 * (php_load.c), files (php_file.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_arguments.h"
#include "php_error.h"
#include "php_fetch.h"
#include "php_keys.h"
#include "php_segment.h"

#include <inttypes.h>
#include <string.h>

/* Attempts to answer all keys of a list from one generation. */
#define MANY_TRIES 16
/* Attempts to make a filter and to add to it before another process drops it. */
#define INSERT_TRIES 10000

/* ------------------------------------------------------------------ questions */

PHP_FUNCTION(bloom_maybe_has)
{
	zend_string *filter;
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(filter)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();

	bshm_segment *segment = php_bloomshm_segment();
	const int answer = segment == NULL
						   ? php_bloomshm_segment_status()
						   : bshm_filter_has(segment, php_bloomshm_views(), ZSTR_VAL(filter),
								 ZSTR_LEN(filter), ZSTR_VAL(key), ZSTR_LEN(key));
	/*
	 * A name that is too long, say, resolves to no filter: so it is checked only after a failure.
	 */
	if (UNEXPECTED(answer < 0) && (!php_bloomshm_check_name(filter, 1) ||
									  !php_bloomshm_unanswered(answer, ZSTR_VAL(filter), 1))) {
		RETURN_THROWS();
	}
	RETURN_BOOL(answer != 0);
}

/* "Maybe" for every key. */
static void answer_maybe(HashTable *questions, HashTable *answers)
{
	zend_ulong index;
	zend_string *name;
	zval maybe;
	ZVAL_TRUE(&maybe);
	ZEND_HASH_FOREACH_KEY(questions, index, name)
	{
		if (name != NULL) {
			zend_hash_add_new(answers, name, &maybe);
		} else {
			zend_hash_index_add_new(answers, index, &maybe);
		}
	}
	ZEND_HASH_FOREACH_END();
}

/* Asks the keys of a list without holes; the answers are a list too. *maybes grows. False: not all
 * keys are strings. */
static bool ask_list(
	const bshm_view *view, HashTable *questions, HashTable *answers, uint32_t *maybes)
{
	const uint32_t count = zend_hash_num_elements(questions);
	const zval *element = questions->arPacked;
	bshm_key keys[BSHM_BATCH];
	bool maybe[BSHM_BATCH];
	zval verdicts[2] = {0};
	ZVAL_FALSE(&verdicts[0]);
	ZVAL_TRUE(&verdicts[1]);
	ZEND_HASH_FILL_PACKED(answers)
	{
		for (uint32_t done = 0; done < count;) {
			const uint32_t part = MIN(count - done, BSHM_BATCH);
			for (uint32_t i = 0; i < part; i++, element++) {
				if (UNEXPECTED(Z_TYPE_P(element) != IS_STRING)) {
					return false;
				}
				const zend_string *key = Z_STR_P(element);
				keys[i] = php_bloomshm_key_of_string(key);
			}
			bshm_view_has(view, keys, part, maybe);
			for (uint32_t i = 0; i < part; i++) {
				ZEND_HASH_FILL_ADD(&verdicts[maybe[i]]);
				*maybes += maybe[i];
			}
			done += part;
		}
	}
	ZEND_HASH_FILL_END();
	return true;
}

/* Asks the keys of any other array; each answer has the array key of its question. */
static bool ask_map(
	const bshm_view *view, HashTable *questions, HashTable *answers, uint32_t *maybes)
{
	bshm_key keys[BSHM_BATCH];
	zval *places[BSHM_BATCH];
	bool maybe[BSHM_BATCH];
	unsigned part = 0;
	uint32_t left = zend_hash_num_elements(questions);
	zval *element;
	zend_ulong index;
	zend_string *name;
	zval unknown;
	ZVAL_TRUE(&unknown);
	ZEND_HASH_FOREACH_KEY_VAL(questions, index, name, element) {
		if (UNEXPECTED(Z_TYPE_P(element) != IS_STRING)) {
			return false;
		}
		keys[part] = php_bloomshm_key_of_string(Z_STR_P(element));
		places[part++] = name != NULL ? zend_hash_add_new(answers, name, &unknown)
									  : zend_hash_index_add_new(answers, index, &unknown);
		left--;
		if (part == BSHM_BATCH || left == 0) {
			bshm_view_has(view, keys, part, maybe);
			for (unsigned i = 0; i < part; i++) {
				ZVAL_BOOL(places[i], maybe[i]);
				*maybes += maybe[i];
			}
			part = 0;
		}
	}
	ZEND_HASH_FOREACH_END();
	return true;
}

static bool only_strings(HashTable *questions)
{
	zval *element;
	ZEND_HASH_FOREACH_VAL(questions, element) {
		if (Z_TYPE_P(element) != IS_STRING) {
			return false;
		}
	}
	ZEND_HASH_FOREACH_END();
	return true;
}

/* A copy of the array with every key as a string; NULL: an exception was thrown. */
static HashTable *stringify(HashTable *questions)
{
	HashTable *strings = zend_new_array(zend_hash_num_elements(questions));
	zval *element;
	zend_ulong index;
	zend_string *name;
	zend_ulong position = 0;
	ZEND_HASH_FOREACH_KEY_VAL(questions, index, name, element) {
		php_bloomshm_key key;
		if (!php_bloomshm_key_of(&key, element, position++, 2, false)) {
			zend_array_destroy(strings);
			return NULL;
		}
		zval value;
		if (key.string != NULL) {
			ZVAL_STR_COPY(&value, key.string);
		} else {
			ZVAL_STRINGL(&value, key.key.bytes, key.key.length);
		}
		php_bloomshm_key_release(&key);
		if (name != NULL) {
			zend_hash_add_new(strings, name, &value);
		} else {
			zend_hash_index_add_new(strings, index, &value);
		}
	}
	ZEND_HASH_FOREACH_END();
	return strings;
}

/* Fills `answers`, which are empty at first, and on every status but OK. INCOMPATIBLE: not all keys
 * are strings. */
static bshm_status ask_many(zend_string *filter, HashTable *questions, HashTable *answers)
{
	bshm_segment *segment = php_bloomshm_segment();
	if (segment == NULL) {
		return php_bloomshm_segment_status();
	}
	const bool list = HT_IS_PACKED(questions) && HT_IS_WITHOUT_HOLES(questions);
	if (list) {
		zend_hash_real_init_packed(answers);
	} else {
		zend_hash_real_init_mixed(answers); /* in its final size: its elements never move */
	}
	for (int tries = 0; tries < MANY_TRIES; tries++) {
		bshm_view *view;
		const bshm_status status = bshm_view_open(
			segment, php_bloomshm_views(), ZSTR_VAL(filter), ZSTR_LEN(filter), &view);
		if (status != BSHM_OK) {
			return status;
		}
		uint32_t maybes = 0;
		const bool asked = list ? ask_list(view, questions, answers, &maybes)
								: ask_map(view, questions, answers, &maybes);
		if (EXPECTED(asked) && EXPECTED(bshm_view_current(view))) {
			bshm_view_answered(view, zend_hash_num_elements(questions), maybes);
			return BSHM_OK;
		}
		/* The filter was published anew: the answers of the old generation are void. */
		zend_hash_clean(answers);
		if (!asked) {
			return BSHM_E_INCOMPATIBLE;
		}
	}
	return BSHM_E_BUSY;
}

PHP_FUNCTION(bloom_maybe_has_many)
{
	zend_string *filter;
	HashTable *keys;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(filter)
		Z_PARAM_ARRAY_HT(keys)
	ZEND_PARSE_PARAMETERS_END();

	HashTable *questions = keys;
	const uint32_t count = zend_hash_num_elements(keys);
	bool answered = true;
	array_init_size(return_value, count);
	bshm_status status =
		EXPECTED(count != 0) ? ask_many(filter, keys, Z_ARRVAL_P(return_value)) : BSHM_OK;
	if (UNEXPECTED(status != BSHM_OK) && !only_strings(keys)) {
		questions = stringify(keys);
		if (questions == NULL) {
			RETURN_THROWS();
		}
		zend_hash_destroy(Z_ARRVAL_P(return_value));
		zend_hash_init(Z_ARRVAL_P(return_value), count, NULL, ZVAL_PTR_DTOR, 0);
		status = ask_many(filter, questions, Z_ARRVAL_P(return_value));
	}
	if (UNEXPECTED(status != BSHM_OK || count == 0)) {
		answered = php_bloomshm_check_name(filter, 1) &&
				   php_bloomshm_unanswered(status, ZSTR_VAL(filter), count);
		answer_maybe(questions, Z_ARRVAL_P(return_value));
	}
	if (questions != keys) {
		zend_array_release(questions);
	}
	if (!answered) {
		RETURN_THROWS();
	}
}

PHP_FUNCTION(bloom_ready)
{
	zend_string *filter;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(filter)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(filter, 1)) {
		RETURN_THROWS();
	}
	bshm_segment *segment = php_bloomshm_segment();
	RETURN_BOOL(segment != NULL && bshm_filter_ready(segment, php_bloomshm_views(),
									   ZSTR_VAL(filter), ZSTR_LEN(filter)));
}

/* ------------------------------------------------------------------ adding */

/* After a failed add: bloomshm.missing_filter for a missing filter, nothing for a damaged or
 * changing one, else an exception. False: an exception was thrown. */
static bool add_failed(const bshm_error *error, const zend_string *filter)
{
	if (error->status == BSHM_E_NOT_FOUND || error->status == BSHM_E_CORRUPT ||
		error->status == BSHM_E_BUSY) {
		return php_bloomshm_unanswered(error->status, ZSTR_VAL(filter), 0);
	}
	php_bloomshm_throw_add(error, ZSTR_VAL(filter));
	return false;
}

/* The same without a segment, unless an exception was thrown already. */
static void add_nowhere(const zend_string *filter)
{
	if (EG(exception) == NULL) {
		php_bloomshm_unanswered(php_bloomshm_segment_status(), ZSTR_VAL(filter), 0);
	}
}

PHP_FUNCTION(bloom_add)
{
	zend_string *filter;
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(filter)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(filter, 1)) {
		RETURN_THROWS();
	}
	bshm_segment *segment = php_bloomshm_segment_to_add();
	if (segment == NULL) {
		add_nowhere(filter);
		RETURN_FALSE;
	}
	bshm_error error;
	const int fresh = bshm_filter_add(segment, php_bloomshm_views(), ZSTR_VAL(filter),
		ZSTR_LEN(filter), ZSTR_VAL(key), ZSTR_LEN(key), &error);
	const bshm_key added = php_bloomshm_key_of_string(key);
	php_bloomshm_forget_added(segment, filter, &added, 1);
	if (fresh < 0 && !add_failed(&error, filter)) {
		RETURN_THROWS();
	}
	RETURN_BOOL(fresh > 0);
}

PHP_FUNCTION(bloom_add_many)
{
	zend_string *filter;
	zval *keys;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(filter)
		Z_PARAM_ITERABLE(keys)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(filter, 1)) {
		RETURN_THROWS();
	}
	php_bloomshm_list list;
	uint64_t added = 0;
	if (php_bloomshm_list_collect(&list, keys, 2, true)) {
		bshm_segment *segment = php_bloomshm_segment_to_add();
		bshm_error error;
		if (segment != NULL &&
			bshm_filter_add_many(segment, php_bloomshm_views(), ZSTR_VAL(filter), ZSTR_LEN(filter),
				list.keys, list.count, NULL, &added, &error) != BSHM_OK) {
			add_failed(&error, filter);
		}
		if (segment != NULL) {
			php_bloomshm_forget_added(segment, filter, list.keys, list.count);
		} else {
			add_nowhere(filter);
		}
	}
	php_bloomshm_list_release(&list);
	RETURN_LONG((zend_long) added);
}

/* ------------------------------------------------------------------ insert */

/* One answer for each key, under the caller's array keys or as a list. */
static void answer_insert(
	zval *return_value, zval *keys, const php_bloomshm_list *list, const bool *fresh)
{
	array_init_size(return_value, (uint32_t) list->count);
	HashTable *answers = Z_ARRVAL_P(return_value);
	if (Z_TYPE_P(keys) != IS_ARRAY) {
		for (size_t i = 0; i < list->count; i++) {
			add_next_index_bool(return_value, fresh[i]);
		}
		return;
	}
	zend_ulong index;
	zend_string *name;
	size_t i = 0;
	ZEND_HASH_FOREACH_KEY(Z_ARRVAL_P(keys), index, name)
	{
		zval answer;
		ZVAL_BOOL(&answer, fresh[i++]);
		if (name != NULL) {
			zend_hash_update(answers, name, &answer);
		} else {
			zend_hash_index_update(answers, index, &answer);
		}
	}
	ZEND_HASH_FOREACH_END();
}

/* Makes the filter if there is none; another process may do it first. A damaged filter stays. */
static bool create_for_insert(
	bshm_segment *segment, const zend_string *filter, const bshm_parameters *parameters)
{
	bshm_view *view;
	if (bshm_view_open(segment, php_bloomshm_views(), ZSTR_VAL(filter), ZSTR_LEN(filter), &view) !=
		BSHM_E_NOT_FOUND) {
		return true;
	}
	bshm_error error;
	const int made =
		bshm_filter_reserve(segment, ZSTR_VAL(filter), ZSTR_LEN(filter), parameters, &error);
	if (made < 0 && made != BSHM_E_EXISTS) {
		php_bloomshm_throw(&error, ZSTR_VAL(filter));
		return false;
	}
	return true;
}

static bool insert_list(const zend_string *filter, const php_bloomshm_list *list,
	const bshm_parameters *parameters, bool create, bool *fresh)
{
	bshm_segment *segment = create ? php_bloomshm_segment_to_create(false)
								   : php_bloomshm_segment_to_move(ZSTR_VAL(filter));
	if (segment == NULL) {
		return false;
	}
	bshm_error error;
	bshm_status status;
	unsigned tries = 0;
	do { /* another process may drop or rename the filter between the two steps: then both again */
		uint64_t added;
		if (create && !create_for_insert(segment, filter, parameters)) {
			return false;
		}
		status = bshm_filter_add_many(segment, php_bloomshm_views(), ZSTR_VAL(filter),
			ZSTR_LEN(filter), list->keys, list->count, fresh, &added, &error);
	} while (create && status == BSHM_E_NOT_FOUND && ++tries < INSERT_TRIES);
	php_bloomshm_forget_added(segment, filter, list->keys, list->count);
	if (status != BSHM_OK) {
		php_bloomshm_throw_add(&error, ZSTR_VAL(filter));
	}
	return status == BSHM_OK;
}

PHP_FUNCTION(bloom_insert)
{
	zend_string *filter;
	zval *keys;
	zend_long capacity = 100;
	double error_rate = 0.01;
	zend_long expansion = 2;
	bool create = true;
	ZEND_PARSE_PARAMETERS_START(2, 6)
		Z_PARAM_STR(filter)
		Z_PARAM_ITERABLE(keys)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(capacity)
		Z_PARAM_DOUBLE(error_rate)
		Z_PARAM_LONG(expansion)
		Z_PARAM_BOOL(create)
	ZEND_PARSE_PARAMETERS_END();

	bshm_parameters parameters;
	if (!php_bloomshm_check_name(filter, 1) || !php_bloomshm_check_capacity(capacity, 3) ||
		!php_bloomshm_check_parameters(&parameters, error_rate, 4, expansion, 5, NULL, 0)) {
		RETURN_THROWS();
	}
	parameters.capacity = (uint64_t) capacity;
	zval kept;
	ZVAL_COPY(&kept, keys); /* so that user code cannot change the array before it is answered */
	php_bloomshm_list list;
	if (php_bloomshm_list_collect(&list, &kept, 2, true)) {
		bool *fresh = safe_emalloc(list.count + 1, sizeof(*fresh), 0);
		if (insert_list(filter, &list, &parameters, create, fresh)) {
			answer_insert(return_value, &kept, &list, fresh);
		}
		efree(fresh);
	}
	php_bloomshm_list_release(&list);
	zval_ptr_dtor(&kept);
}

/* ------------------------------------------------------------------ counting */

PHP_FUNCTION(bloom_remove)
{
	zend_string *filter;
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(filter)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(filter, 1)) {
		RETURN_THROWS();
	}
	bshm_segment *segment = php_bloomshm_segment_to_add();
	if (segment == NULL) {
		RETURN_FALSE;
	}
	bshm_error error;
	const int removed = bshm_filter_remove(segment, php_bloomshm_views(), ZSTR_VAL(filter),
		ZSTR_LEN(filter), ZSTR_VAL(key), ZSTR_LEN(key), &error);
	if (removed < 0) {
		php_bloomshm_throw(&error, ZSTR_VAL(filter));
		RETURN_THROWS();
	}
	RETURN_BOOL(removed);
}

PHP_FUNCTION(bloom_count)
{
	zend_string *filter;
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(filter)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(filter, 1)) {
		RETURN_THROWS();
	}
	bshm_segment *segment = php_bloomshm_segment();
	const int count = segment == NULL
						  ? BSHM_E_UNAVAILABLE
						  : bshm_filter_count(segment, php_bloomshm_views(), ZSTR_VAL(filter),
								ZSTR_LEN(filter), ZSTR_VAL(key), ZSTR_LEN(key));
	if (count == BSHM_E_NOT_FOUND || count == BSHM_E_INCOMPATIBLE) {
		const bshm_error error = {.status = count, .cause = BSHM_CAUSE_COUNTING};
		php_bloomshm_throw(&error, ZSTR_VAL(filter));
		RETURN_THROWS();
	}
	if (segment == NULL && php_bloomshm_segment_status() == BSHM_E_UNAVAILABLE) {
		php_bloomshm_unanswered(count, ZSTR_VAL(filter), 1);
	}
	RETURN_LONG(count < 0 ? BSHM_COUNT_MAX : count); /* unknown: the largest count, which is safe */
}
