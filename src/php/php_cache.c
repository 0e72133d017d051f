/*
 * php_cache.c - the bloom_cache_* functions on single records and lists of them.
 *
 * Not here: values to bytes (php_value.c), the store as a whole (php_store.c), loaders
 * (php_fetch.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "compat.h"
#include "php_arguments.h"
#include "php_cache.h"
#include "php_error.h"
#include "php_keys.h"
#include "php_segment.h"
#include "php_value.h"

static bool check_keys(const php_bloomshm_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!php_bloomshm_check_key_in(list->strings[i], 1)) {
			return false;
		}
	}
	return true;
}

/* For a record that was replaced while it was read: 1 = *out is its value, 0 = there is none. */
static zend_never_inline int get_again(
	bshm_found *found, const bshm_key *key, unsigned flags, bshm_patience *patience, zval *out)
{
	php_bloomshm_value value;
	zval taken = {0};
	if (!php_bloomshm_value_again(found, key, flags, patience, &value) ||
		!php_bloomshm_value_take(&value, &taken)) {
		return 0;
	}
	ZVAL_COPY_VALUE(out, &taken);
	return 1;
}

static zend_always_inline int get(bshm_segment *segment, uint32_t space, const bshm_key *key,
	unsigned flags, bshm_patience *patience, zval *out)
{
	bshm_found found;
	if (bshm_record_find(segment, space, key, flags | BSHM_FIND_VALUE, &found) <= 0) {
		return 0;
	}
	const int got = php_bloomshm_value_get(&found, out);
	if (EXPECTED(got != 0)) {
		return got > 0;
	}
	return get_again(&found, key, flags & ~BSHM_FIND_USE, patience, out); /* one use is counted */
}

int php_bloomshm_record_get(bshm_segment *segment, uint32_t space, const bshm_key *key,
	unsigned flags, bshm_patience *patience, zval *out)
{
	return get(segment, space, key, flags, patience, out);
}

/* ------------------------------------------------------------------ reading */

PHP_FUNCTION(bloom_cache_get)
{
	zend_string *key;
	zval *otherwise = NULL;
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_ZVAL(otherwise)
	ZEND_PARSE_PARAMETERS_END();

	if (UNEXPECTED(!php_bloomshm_check_key(key, 1))) {
		RETURN_THROWS();
	}
	const bshm_key wanted = php_bloomshm_key_of_string(key);
	bshm_segment *segment = php_bloomshm_segment(); /* without a record store nothing is found */
	if (EXPECTED(segment != NULL) &&
		get(segment, BSHM_SPACE_CACHE, &wanted, BSHM_FIND_USE, NULL, return_value)) {
		return;
	}
	if (otherwise != NULL && EG(exception) == NULL) {
		RETURN_COPY(otherwise);
	}
}

PHP_FUNCTION(bloom_cache_has)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();

	const bshm_key wanted = php_bloomshm_key_of_string(key);
	bshm_segment *segment = php_bloomshm_segment_with_store();
	bshm_found found;
	if (!php_bloomshm_check_key(key, 1)) {
		RETURN_THROWS();
	}
	RETURN_BOOL(
		segment != NULL && bshm_record_find(segment, BSHM_SPACE_CACHE, &wanted, 0, &found) == 1);
}

/* Adds the values of up to BSHM_BATCH keys to `answers`. */
static void get_batch(bshm_segment *segment, zend_string *const *strings, const bshm_key *keys,
	unsigned count, zval *otherwise, bshm_patience *patience, zval *answers)
{
	bshm_found found[BSHM_BATCH];
	bool present[BSHM_BATCH] = {false};
	if (segment != NULL) {
		bshm_record_find_many(segment, BSHM_SPACE_CACHE, keys, count,
			BSHM_FIND_USE | BSHM_FIND_VALUE, found, present);
	}
	for (unsigned i = 0; i < count && EG(exception) == NULL && !ZEND_HAS_OOM(); i++) {
		zval value;
		int got = present[i] ? php_bloomshm_value_get(&found[i], &value) : -1;
		if (UNEXPECTED(got == 0)) { /* replaced meanwhile */
			got = get_again(&found[i], &keys[i], 0, patience, &value);
		}
		if (got <= 0) {
			ZVAL_COPY(&value, otherwise);
		}
		zend_symtable_update(Z_ARRVAL_P(answers), strings[i], &value);
	}
}

PHP_FUNCTION(bloom_cache_get_many)
{
	zval *keys;
	zval *otherwise = &EG(uninitialized_zval); /* null */
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_ARRAY(keys)
		Z_PARAM_OPTIONAL
		Z_PARAM_ZVAL(otherwise)
	ZEND_PARSE_PARAMETERS_END();

	php_bloomshm_list list;
	bshm_patience patience = {0};
	array_init_size(return_value, zend_hash_num_elements(Z_ARRVAL_P(keys)));
	if (php_bloomshm_list_collect(&list, keys, 1, false)) {
		bshm_segment *segment = php_bloomshm_segment_with_store();
		const bool sound = check_keys(&list);
		for (size_t done = 0; done < list.count && sound && !ZEND_HAS_OOM(); done += BSHM_BATCH) {
			const size_t part = MIN(list.count - done, BSHM_BATCH);
			get_batch(segment, list.strings + done, list.keys + done, (unsigned) part, otherwise,
				&patience, return_value);
		}
	}
	php_bloomshm_list_release(&list);
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
}

/* ------------------------------------------------------------------ writing */

/* True: the value was stored. */
static bool put(bshm_segment *segment, const bshm_put *what)
{
	bshm_error error;
	return segment != NULL && bshm_record_put(segment, what, &error) == 1;
}

/*
 * The segment for a put. A put that changes a record does not create a segment: it has no records.
 */
static bshm_segment *segment_for(const bshm_put *what)
{
	const bool changes = what->mode == BSHM_PUT_REPLACE || what->expected != NULL;
	return changes ? php_bloomshm_segment_with_store() : php_bloomshm_segment_to_store();
}

static void put_one(INTERNAL_FUNCTION_PARAMETERS, bshm_put_mode mode)
{
	zend_string *key;
	zval *value;
	zend_long ttl = 0;
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(key)
		Z_PARAM_ZVAL(value)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(ttl)
	ZEND_PARSE_PARAMETERS_END();

	php_bloomshm_value bytes;
	if (!php_bloomshm_check_key(key, 1) || !php_bloomshm_check_ttl(ttl, 3) ||
		!php_bloomshm_value_of(&bytes, value)) {
		RETURN_THROWS();
	}
	const bshm_put what = {
		.key = php_bloomshm_key_of_string(key),
		.value = bytes.value,
		.ttl_s = (uint32_t) ttl,
		.mode = mode,
	};
	RETVAL_BOOL(put(segment_for(&what), &what));
	php_bloomshm_value_release(&bytes);
}

PHP_FUNCTION(bloom_cache_set)
{
	put_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, BSHM_PUT_SET);
}

PHP_FUNCTION(bloom_cache_add)
{
	put_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, BSHM_PUT_ADD);
}

PHP_FUNCTION(bloom_cache_replace)
{
	put_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, BSHM_PUT_REPLACE);
}

/* An array or object in the format of the record: another process may have another serializer. */
static bool expect(php_bloomshm_value *out, const bshm_key *key, zval *expected)
{
	bshm_found found;
	ZVAL_DEREF(expected);
	bshm_segment *segment =
		Z_TYPE_P(expected) < IS_ARRAY ? NULL : php_bloomshm_segment_with_store();
	const bool there =
		segment != NULL && bshm_record_find(segment, BSHM_SPACE_CACHE, key, 0, &found) == 1;
	return there ? php_bloomshm_value_like(out, expected, found.type)
				 : php_bloomshm_value_of(out, expected);
}

PHP_FUNCTION(bloom_cache_cas)
{
	zend_string *key;
	zval *expected;
	zval *value;
	zend_long ttl = 0;
	bool keeps_ttl = false;
	ZEND_PARSE_PARAMETERS_START(3, 4)
		Z_PARAM_STR(key)
		Z_PARAM_ZVAL(expected)
		Z_PARAM_ZVAL(value)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG_OR_NULL(ttl, keeps_ttl)
	ZEND_PARSE_PARAMETERS_END();

	php_bloomshm_value before;
	php_bloomshm_value after;
	const bshm_key name = php_bloomshm_key_of_string(key);
	if (!php_bloomshm_check_key(key, 1) || !php_bloomshm_check_ttl(ttl, 4) ||
		!expect(&before, &name, expected)) {
		RETURN_THROWS();
	}
	if (php_bloomshm_value_of(&after, value)) {
		const bshm_put what = {
			.key = name,
			.value = after.value,
			.ttl_s = (uint32_t) ttl,
			.keeps_ttl = keeps_ttl,
			.mode = BSHM_PUT_CAS,
			.expected = before.value.type == BSHM_VALUE_NULL ? NULL : &before.value,
		};
		RETVAL_BOOL(put(segment_for(&what), &what));
		php_bloomshm_value_release(&after);
	}
	php_bloomshm_value_release(&before);
}

/* The keys and values of an array. All are converted before the first is stored, because a
 * conversion runs user code. */
typedef struct {
	zend_string **keys;
	php_bloomshm_value *values;
	uint32_t count;
} batch;

static bool collect(batch *b, HashTable *values)
{
	zend_ulong index;
	zend_string *name;
	zval *value;
	ZEND_HASH_FOREACH_KEY_VAL(values, index, name, value) {
		if (name != NULL && !php_bloomshm_check_key_in(name, 1)) {
			return false;
		}
		if (ZEND_HAS_OOM() || !php_bloomshm_value_of(&b->values[b->count], value)) {
			return false;
		}
		b->keys[b->count++] =
			name != NULL ? zend_string_copy(name) : zend_long_to_str((zend_long) index);
	}
	ZEND_HASH_FOREACH_END();
	return true;
}

/* Requests the memory of the next keys at once. */
static void prefetch(bshm_segment *segment, const batch *b, uint32_t first)
{
	bshm_key keys[BSHM_BATCH];
	const uint32_t count = MIN(b->count - first, BSHM_BATCH);
	for (uint32_t i = 0; i < count; i++) {
		keys[i] = php_bloomshm_key_of_string(b->keys[first + i]);
	}
	if (segment != NULL) {
		bshm_records_prefetch(segment, BSHM_SPACE_CACHE, keys, count);
	}
}

PHP_FUNCTION(bloom_cache_set_many)
{
	zval *values;
	zend_long ttl = 0;
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_ARRAY(values)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(ttl)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_ttl(ttl, 2)) {
		RETURN_THROWS();
	}
	zval kept;
	ZVAL_COPY(&kept, values); /* so that user code, while it serializes, cannot change the array */
	const uint32_t room = zend_hash_num_elements(Z_ARRVAL(kept));
	batch b = {safe_emalloc(room + 1, sizeof(*b.keys), 0),
		safe_emalloc(room + 1, sizeof(*b.values), 0), 0};
	zend_long stored = 0;
	const bool collected = collect(&b, Z_ARRVAL(kept));
	bshm_segment *segment = collected && b.count != 0 ? php_bloomshm_segment_to_store() : NULL;
	bshm_patience patience = {0};
	for (uint32_t i = 0; i < b.count; i++) {
		if (i % BSHM_BATCH == 0) {
			prefetch(segment, &b, i);
		}
		const bshm_put what = {
			.key = php_bloomshm_key_of_string(b.keys[i]),
			.value = b.values[i].value,
			.ttl_s = (uint32_t) ttl,
			.patience = &patience,
		};
		stored += put(segment, &what);
		php_bloomshm_value_release(&b.values[i]);
		zend_string_release(b.keys[i]);
	}
	efree(b.keys);
	efree(b.values);
	zval_ptr_dtor(&kept);
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
	RETURN_LONG(stored);
}

/* ------------------------------------------------------------------ removing */

/*
 * Removes the record, and invalidates the lease of a loader of its key. True: there was a record.
 */
static bool forget(bshm_segment *segment, const bshm_key *key, bshm_patience *patience)
{
	bshm_error error;
	return segment != NULL &&
		   bshm_record_forget(segment, BSHM_SPACE_CACHE, key, patience, &error) == 1;
}

PHP_FUNCTION(bloom_cache_delete)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();

	const bshm_key wanted = php_bloomshm_key_of_string(key);
	if (!php_bloomshm_check_key(key, 1)) {
		RETURN_THROWS();
	}
	RETURN_BOOL(forget(php_bloomshm_segment_with_store(), &wanted, NULL));
}

PHP_FUNCTION(bloom_cache_delete_many)
{
	zval *keys;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ARRAY(keys)
	ZEND_PARSE_PARAMETERS_END();

	php_bloomshm_list list;
	zend_long removed = 0;
	bshm_patience patience = {0};
	if (php_bloomshm_list_collect(&list, keys, 1, false)) {
		bshm_segment *segment = php_bloomshm_segment_with_store();
		const bool sound = check_keys(&list);
		for (size_t i = 0; i < list.count && sound; i++) {
			if (i % BSHM_BATCH == 0 && segment != NULL) {
				const size_t part = MIN(list.count - i, BSHM_BATCH);
				bshm_records_prefetch(segment, BSHM_SPACE_CACHE, &list.keys[i], (unsigned) part);
			}
			removed += forget(segment, &list.keys[i], &patience);
		}
	}
	php_bloomshm_list_release(&list);
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
	RETURN_LONG(removed);
}

/* ------------------------------------------------------------------ changing */

/* True: every record is absent, because there is no segment yet. */
static bool has_no_file(void)
{
	return php_bloomshm_segment() == NULL && php_bloomshm_segment_status() == BSHM_E_NOT_FOUND;
}

static void increment(INTERNAL_FUNCTION_PARAMETERS, bool down)
{
	zend_string *key;
	zend_long by = 1;
	zend_long initial = 0;
	zend_long ttl = 0;
	bool create = true;
	ZEND_PARSE_PARAMETERS_START(1, 5)
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(by)
		Z_PARAM_LONG(initial)
		Z_PARAM_LONG(ttl)
		Z_PARAM_BOOL(create)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_key(key, 1) || !php_bloomshm_check_ttl(ttl, 4)) {
		RETURN_THROWS();
	}
	if (!create && has_no_file()) {
		RETURN_FALSE;
	}
	bshm_segment *segment = php_bloomshm_segment_with_store_or_throw(create);
	const bshm_increment what = {
		.key = php_bloomshm_key_of_string(key),
		.by = by,
		.down = down,
		.initial = initial,
		.ttl_s = (uint32_t) ttl,
		.only_present = !create,
	};
	int64_t result;
	bshm_error error;
	if (segment == NULL) {
		RETURN_THROWS();
	}
	const int done = bshm_record_increment(segment, &what, &result, &error);
	if (done < 0) {
		php_bloomshm_throw_record(&error, key);
		RETURN_THROWS();
	}
	if (done == 0) {
		RETURN_FALSE;
	}
	RETURN_LONG((zend_long) result);
}

PHP_FUNCTION(bloom_cache_increment)
{
	increment(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

PHP_FUNCTION(bloom_cache_decrement)
{
	increment(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}

PHP_FUNCTION(bloom_cache_append)
{
	zend_string *key;
	zend_string *suffix;
	zend_string *delimiter = ZSTR_EMPTY_ALLOC();
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(key)
		Z_PARAM_STR(suffix)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR(delimiter)
	ZEND_PARSE_PARAMETERS_END();

	bshm_segment *segment =
		php_bloomshm_check_key(key, 1) ? php_bloomshm_segment_with_store_or_throw(true) : NULL;
	if (segment == NULL) {
		RETURN_THROWS();
	}
	const bshm_key wanted = php_bloomshm_key_of_string(key);
	const bshm_key more = php_bloomshm_key_of_string(suffix);
	const bshm_key between = php_bloomshm_key_of_string(delimiter);
	uint64_t length;
	bshm_error error;
	if (bshm_record_append(segment, &wanted, &more, &between, &length, &error) != BSHM_OK) {
		php_bloomshm_throw_record(&error, key);
		RETURN_THROWS();
	}
	RETURN_LONG((zend_long) length);
}

PHP_FUNCTION(bloom_cache_touch)
{
	zend_string *key;
	zend_long ttl;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(key)
		Z_PARAM_LONG(ttl)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_key(key, 1) || !php_bloomshm_check_ttl(ttl, 2)) {
		RETURN_THROWS();
	}
	bshm_segment *segment = php_bloomshm_segment_with_store();
	const bshm_key wanted = php_bloomshm_key_of_string(key);
	bshm_error error;
	RETURN_BOOL(
		segment != NULL && bshm_record_touch(segment, &wanted, (uint32_t) ttl, &error) == 1);
}
