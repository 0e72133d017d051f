/*
 * php_filter.c - the bloom_* functions on published filters: ask, add, list, move, describe.
 *
 * Not here: loads (php_load.c), what a later version brings (php_later.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php_bloomshm.h"

#include <inttypes.h>
#include <string.h>

/* Most attempts to answer a long list of keys from one generation. */
#define MANY_TRIES 16

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
						   ? BSHM_E_UNAVAILABLE
						   : bshm_filter_has(segment, php_bloomshm_cache(), ZSTR_VAL(filter),
								 ZSTR_LEN(filter), ZSTR_VAL(key), ZSTR_LEN(key));
	/* A name that was resolved is a good one: it is only looked at when it was not. */
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

/* Asks a list without holes; the answers make a list too. False: not all keys are strings. */
static bool ask_list(const bshm_view *view, HashTable *questions, HashTable *answers)
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
				keys[i] = (bshm_key){ZSTR_VAL(key), ZSTR_LEN(key)};
			}
			bshm_view_has(view, keys, part, maybe);
			for (uint32_t i = 0; i < part; i++) {
				ZEND_HASH_FILL_ADD(&verdicts[maybe[i]]);
			}
			done += part;
		}
	}
	ZEND_HASH_FILL_END();
	return true;
}

/* Asks any other array; each answer stands under its question's array key. */
static bool ask_map(const bshm_view *view, HashTable *questions, HashTable *answers)
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
		keys[part] = (bshm_key){Z_STRVAL_P(element), Z_STRLEN_P(element)};
		places[part++] = name != NULL ? zend_hash_add_new(answers, name, &unknown)
									  : zend_hash_index_add_new(answers, index, &unknown);
		left--;
		if (part == BSHM_BATCH || left == 0) {
			bshm_view_has(view, keys, part, maybe);
			for (unsigned i = 0; i < part; i++) {
				ZVAL_BOOL(places[i], maybe[i]);
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

/*
 * Fills `answers`, which is empty, and stays so when the status is not OK. INCOMPATIBLE: not all
 * keys are strings.
 */
static bshm_status ask_many(zend_string *filter, HashTable *questions, HashTable *answers)
{
	bshm_segment *segment = php_bloomshm_segment();
	if (segment == NULL) {
		return BSHM_E_UNAVAILABLE;
	}
	const bool list = HT_IS_PACKED(questions) && HT_IS_WITHOUT_HOLES(questions);
	if (list) {
		zend_hash_real_init_packed(answers);
	} else {
		zend_hash_real_init_mixed(answers); /* of its final size: what is in it never moves */
	}
	for (int tries = 0; tries < MANY_TRIES; tries++) {
		const bshm_view *view;
		const bshm_status status = bshm_view_open(
			segment, php_bloomshm_cache(), ZSTR_VAL(filter), ZSTR_LEN(filter), &view);
		if (status != BSHM_OK) {
			return status;
		}
		const bool asked =
			list ? ask_list(view, questions, answers) : ask_map(view, questions, answers);
		if (EXPECTED(asked) && EXPECTED(bshm_view_current(view))) {
			return BSHM_OK;
		}
		/* Published anew meanwhile: not one answer of the old set stays. */
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
	RETURN_BOOL(segment != NULL && bshm_filter_ready(segment, php_bloomshm_cache(),
									   ZSTR_VAL(filter), ZSTR_LEN(filter)));
}

/* ------------------------------------------------------------------ adding */

/* A failed add: the policy for a missing filter, nothing for one in doubt, else an exception. */
static bool add_failed(const bshm_error *error, const zend_string *filter)
{
	if (error->status == BSHM_E_NOT_FOUND || error->status == BSHM_E_CORRUPT ||
		error->status == BSHM_E_BUSY) {
		return php_bloomshm_unanswered(error->status, ZSTR_VAL(filter), 0);
	}
	php_bloomshm_throw(error, ZSTR_VAL(filter));
	return false;
}

/* The segment to add to; NULL: none (the add gives false), or an exception was thrown. */
static bshm_segment *segment_to_add(void)
{
	if (BLOOMSHM_G(enable) && BLOOMSHM_G(readonly)) {
		const bshm_error error = {.status = BSHM_E_READ_ONLY, .op = "add"};
		php_bloomshm_throw(&error, NULL);
		return NULL;
	}
	return php_bloomshm_segment();
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
	bshm_segment *segment = segment_to_add();
	if (segment == NULL) {
		RETURN_FALSE;
	}
	bshm_error error;
	const int fresh = bshm_filter_add(segment, php_bloomshm_cache(), ZSTR_VAL(filter),
		ZSTR_LEN(filter), ZSTR_VAL(key), ZSTR_LEN(key), &error);
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
	if (php_bloomshm_list_collect(&list, keys, 2)) {
		bshm_segment *segment = segment_to_add();
		bshm_error error;
		if (segment != NULL &&
			bshm_filter_add_many(segment, php_bloomshm_cache(), ZSTR_VAL(filter), ZSTR_LEN(filter),
				list.keys, list.count, &added, &error) != BSHM_OK) {
			add_failed(&error, filter);
		}
	}
	php_bloomshm_list_release(&list);
	RETURN_LONG((zend_long) added);
}

/* ------------------------------------------------------------------ reserve, drop, move */

PHP_FUNCTION(bloom_reserve)
{
	zend_string *filter;
	zend_string *seed = NULL;
	zend_long capacity;
	zend_long expansion = 2;
	zend_long window = 0;
	double error_rate = 0.01;
	bool counting = false;
	ZEND_PARSE_PARAMETERS_START(2, 7)
		Z_PARAM_STR(filter)
		Z_PARAM_LONG(capacity)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE(error_rate)
		Z_PARAM_LONG(expansion)
		Z_PARAM_LONG(window)
		Z_PARAM_BOOL(counting)
		Z_PARAM_STR_OR_NULL(seed)
	ZEND_PARSE_PARAMETERS_END();

	bshm_parameters parameters;
	if (!php_bloomshm_check_name(filter, 1) || !php_bloomshm_check_capacity(capacity, 2) ||
		!php_bloomshm_parameters(&parameters, error_rate, 3, expansion, 4, seed, 7) ||
		!php_bloomshm_check_kind(window, counting, expansion)) {
		RETURN_THROWS();
	}
	parameters.capacity = (uint64_t) capacity;
	bshm_segment *segment = php_bloomshm_segment_to_change();
	if (segment == NULL) {
		RETURN_THROWS();
	}
	bshm_error error;
	const int created =
		bshm_filter_reserve(segment, ZSTR_VAL(filter), ZSTR_LEN(filter), &parameters, &error);
	if (created < 0) {
		php_bloomshm_throw(&error, ZSTR_VAL(filter));
		RETURN_THROWS();
	}
	RETURN_BOOL(created);
}

typedef int (*removal)(bshm_segment *, const char *, size_t, bshm_error *);

static void remove_filter(INTERNAL_FUNCTION_PARAMETERS, removal remove)
{
	zend_string *filter;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(filter)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(filter, 1)) {
		RETURN_THROWS();
	}
	bshm_segment *segment = segment_to_add();
	if (segment == NULL) {
		RETURN_FALSE;
	}
	bshm_error error;
	const int done = remove(segment, ZSTR_VAL(filter), ZSTR_LEN(filter), &error);
	if (done < 0) {
		php_bloomshm_throw(&error, ZSTR_VAL(filter));
		RETURN_THROWS();
	}
	RETURN_BOOL(done);
}

PHP_FUNCTION(bloom_drop)
{
	remove_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU, bshm_filter_drop);
}

PHP_FUNCTION(bloom_clear)
{
	remove_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU, bshm_filter_clear);
}

typedef bshm_status (*movement)(
	bshm_segment *, const char *, size_t, const char *, size_t, bshm_error *);

static void move_filter(INTERNAL_FUNCTION_PARAMETERS, movement move)
{
	zend_string *from;
	zend_string *to;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(from)
		Z_PARAM_STR(to)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(from, 1) || !php_bloomshm_check_name(to, 2)) {
		RETURN_THROWS();
	}
	bshm_segment *segment = php_bloomshm_segment_to_change();
	if (segment == NULL) {
		RETURN_THROWS();
	}
	bshm_error error;
	if (move(segment, ZSTR_VAL(from), ZSTR_LEN(from), ZSTR_VAL(to), ZSTR_LEN(to), &error) !=
		BSHM_OK) {
		php_bloomshm_throw(&error, ZSTR_VAL(from));
		RETURN_THROWS();
	}
	RETURN_TRUE;
}

PHP_FUNCTION(bloom_rename)
{
	move_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU, bshm_filter_rename);
}

PHP_FUNCTION(bloom_copy)
{
	move_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU, bshm_filter_copy);
}

/* ------------------------------------------------------------------ inspection */

static int compare_names(Bucket *a, Bucket *b)
{
	return zend_binary_strcmp(
		Z_STRVAL(a->val), Z_STRLEN(a->val), Z_STRVAL(b->val), Z_STRLEN(b->val));
}

PHP_FUNCTION(bloom_list)
{
	ZEND_PARSE_PARAMETERS_NONE();

	array_init(return_value);
	bshm_segment *segment = php_bloomshm_segment();
	if (segment == NULL) {
		return;
	}
	char name[BSHM_NAME_BYTES_MAX + 1];
	uint32_t cursor = 0;
	do {
		const size_t length = bshm_filter_next(segment, &cursor, name);
		if (length != 0) {
			add_next_index_stringl(return_value, name, length);
		}
	} while (cursor != 0);
	zend_hash_sort(Z_ARRVAL_P(return_value), compare_names, 1);
}

static void add_size(zval *array, const char *name, uint64_t value)
{
	add_assoc_long(array, name, (zend_long) value);
}

/* The one layer of a filter, as bloom_info()['layers'] lists them. */
static void add_layers(zval *array, const bshm_info *info)
{
	zval layers;
	zval layer;
	array_init(&layers);
	array_init(&layer);
	add_size(&layer, "capacity", info->capacity);
	add_size(&layer, "items", info->items);
	add_assoc_double(&layer, "error_rate", info->error_rate);
	add_size(&layer, "hashes", info->hash_count);
	add_size(&layer, "partitions", info->partition_count);
	add_size(&layer, "bytes", info->bytes);
	add_assoc_double(&layer, "fill", info->fill);
	add_assoc_double(&layer, "estimated_error_rate", info->estimated_error_rate);
	add_next_index_zval(&layers, &layer);
	add_assoc_zval(array, "layers", &layers);
}

void php_bloomshm_info_array(zval *array, const zend_string *name, const bshm_info *info)
{
	array_init(array);
	add_assoc_stringl(array, "name", ZSTR_VAL(name), ZSTR_LEN(name));
	add_assoc_string(array, "type", info->expansion == 0 ? "fixed" : "scalable");
	add_assoc_double(array, "error_rate", info->error_rate);
	add_size(array, "capacity", info->capacity);
	add_size(array, "items", info->items);
	add_size(array, "expansion", info->expansion);
	add_size(array, "window", info->window_s);
	add_size(array, "hashes", info->hash_count);
	add_size(array, "partitions", info->partition_count);
	add_size(array, "bytes", info->bytes);
	if (info->items == 0) {
		add_assoc_null(array, "bits_per_key");
	} else {
		add_assoc_double(array, "bits_per_key", 8.0 * (double) info->bytes / (double) info->items);
	}
	add_assoc_double(array, "fill", info->fill);
	add_assoc_double(array, "estimated_error_rate", info->estimated_error_rate);
	add_assoc_double(array, "worst_partition_error_rate", info->worst_partition_error_rate);
	add_size(array, "generation", info->generation);
	add_assoc_double(array, "published_at", info->published_s);
	add_size(array, "false_positives", 0); /* confirmed by bloom_fetch, which is not there yet */
	add_layers(array, info);
}

PHP_FUNCTION(bloom_info)
{
	zend_string *filter;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(filter)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(filter, 1)) {
		RETURN_THROWS();
	}
	bshm_segment *segment = php_bloomshm_segment();
	bshm_info info;
	if (segment == NULL || bshm_filter_info(segment, php_bloomshm_cache(), ZSTR_VAL(filter),
							   ZSTR_LEN(filter), &info) != BSHM_OK) {
		RETURN_NULL();
	}
	php_bloomshm_info_array(return_value, filter, &info);
}

/* Why there is no segment, or what is worth knowing about the one there is; or null. */
static void add_reason(
	zval *array, bshm_segment *segment, const bshm_stat *stat, const bshm_error *e)
{
	const uint64_t wanted =
		(uint64_t) BLOOMSHM_G(filter_memory) / BSHM_FILTER_UNIT_BYTES * BSHM_FILTER_UNIT_BYTES;
	if (segment == NULL) {
		add_assoc_str(array, "reason", php_bloomshm_explain(e, NULL));
	} else if (stat->filter_bytes != wanted) {
		add_assoc_str(array, "reason",
			zend_strpprintf(0,
				"the standing segment keeps its %" PRIu64
				" bytes of filter memory; bloomshm.filter_memory asks for %" PRIu64,
				stat->filter_bytes, wanted));
	} else {
		add_assoc_null(array, "reason");
	}
}

PHP_FUNCTION(bloom_status)
{
	ZEND_PARSE_PARAMETERS_NONE();

	bshm_error error = {0};
	bshm_stat stat = {0};
	bshm_segment *segment = php_bloomshm_segment_try(&error);
	if (segment != NULL && bshm_segment_stat(segment, &stat, &error) != BSHM_OK) {
		segment = NULL;
	}
	array_init(return_value);
	add_assoc_bool(return_value, "available", segment != NULL);
	add_reason(return_value, segment, &stat, &error);
	add_assoc_string(return_value, "path", php_bloomshm_path());
	add_size(return_value, "layout_version", stat.layout_version);
	add_size(return_value, "owner_uid", stat.owner_uid);
	add_size(return_value, "mode", stat.mode);
	add_size(return_value, "filter_bytes", stat.filter_bytes);
	add_size(return_value, "filter_bytes_free", stat.filter_bytes_free);
	add_size(return_value, "largest_free_bytes", stat.largest_free_bytes);
	add_size(return_value, "cache_bytes", 0); /* no record store in this version */
	add_size(return_value, "cache_bytes_free", 0);
	add_size(return_value, "filters", stat.filters);
	add_size(return_value, "attached", stat.attached);
	add_size(return_value, "repairs", stat.repairs);
	add_size(return_value, "lock_timeouts", stat.lock_timeouts);
	add_size(return_value, "missing_answers", php_bloomshm_missing_answers());
	const char *last = php_bloomshm_last_error();
	if (last == NULL) {
		add_assoc_null(return_value, "last_error");
	} else {
		add_assoc_string(return_value, "last_error", last);
	}
}

static void add_problem(void *context, const char *what, const char *name)
{
	zend_string *text = *name == '\0' ? zend_strpprintf(0, "%s", what)
									  : zend_strpprintf(0, "%s: filter \"%s\"", what, name);
	add_next_index_str(context, text);
}

PHP_FUNCTION(bloom_verify)
{
	ZEND_PARSE_PARAMETERS_NONE();

	bshm_error error;
	bshm_segment *segment = php_bloomshm_segment_try(&error);
	array_init(return_value);
	if (segment == NULL) {
		add_next_index_str(return_value, php_bloomshm_explain(&error, NULL));
		return;
	}
	const int problems = bshm_segment_check(segment, add_problem, return_value);
	if (problems < 0) {
		add_next_index_string(return_value, bshm_status_str(problems));
	}
}
