/*
 * php_store.c - the bloom_cache_* functions on the store as a whole: scan, clear, oldest, files, info.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php_bloomshm.h"

#include <string.h>

#define POP_TRIES 1024

/* A found record's key; NULL: it has changed meanwhile. */
static zend_string *key_of_found(const bshm_found *found)
{
	zend_string *key = zend_string_alloc(found->key_length, false);
	if (!bshm_found_copy_key(found, ZSTR_VAL(key))) {
		zend_string_efree(key);
		return NULL;
	}
	ZSTR_VAL(key)[ZSTR_LEN(key)] = '\0';
	return key;
}

static bool has_prefix(const zend_string *key, const zend_string *prefix)
{
	return ZSTR_LEN(key) >= ZSTR_LEN(prefix) &&
		   memcmp(ZSTR_VAL(key), ZSTR_VAL(prefix), ZSTR_LEN(prefix)) == 0;
}

/* ------------------------------------------------------------------ scan and clear */

/* The found records that are users', whose keys begin with the prefix, to the array. */
static void add_found(
	zval *records, const bshm_found *found, unsigned count, const zend_string *prefix)
{
	for (unsigned i = 0; i < count && EG(exception) == NULL; i++) {
		if (found[i].space != BSHM_SPACE_CACHE) {
			continue;
		}
		zend_string *key = key_of_found(&found[i]);
		zval value;
		if (key != NULL && has_prefix(key, prefix)) {
			int got = php_bloomshm_value_get(&found[i], &value);
			if (got == 0) { /* written meanwhile: it is shown as it is now */
				const bshm_key wanted = {ZSTR_VAL(key), ZSTR_LEN(key)};
				got = php_bloomshm_record_get(
					found[i].segment, BSHM_SPACE_CACHE, &wanted, 0, &value);
			}
			if (got > 0) {
				zend_symtable_update(Z_ARRVAL_P(records), key, &value);
			}
		}
		if (key != NULL) {
			zend_string_release(key);
		}
	}
}

PHP_FUNCTION(bloom_cache_scan)
{
	zval *cursor;
	zend_long count = 100;
	zend_string *prefix = ZSTR_EMPTY_ALLOC();
	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_ZVAL(cursor)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(count)
		Z_PARAM_STR(prefix)
	ZEND_PARSE_PARAMETERS_END();

	if (count < 1) {
		zend_argument_value_error(2, "must be greater than 0");
		RETURN_THROWS();
	}
	uint64_t at = (uint64_t) zval_get_long(Z_REFVAL_P(cursor));
	bshm_segment *segment = php_bloomshm_store();
	bshm_found found[BSHM_SCAN_ROOM];
	array_init(return_value);
	zend_ulong looked_at = 0;
	do {
		const unsigned got =
			segment == NULL ? 0 : bshm_record_scan(segment, &at, 0, found, BSHM_SCAN_ROOM);
		at = segment == NULL ? 0 : at;
		looked_at += got;
		add_found(return_value, found, got, prefix);
	} while (at != 0 && looked_at < (zend_ulong) count && EG(exception) == NULL);
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
	ZEND_TRY_ASSIGN_REF_LONG(cursor, (zend_long) at);
}

/* Removes those of the found records that begin with the prefix; returns how many. */
static zend_long clear_found(const bshm_found *found, unsigned count, const zend_string *prefix)
{
	zend_long removed = 0;
	for (unsigned i = 0; i < count; i++) {
		const bool all = ZSTR_LEN(prefix) == 0;
		zend_string *key =
			all || found[i].space == BSHM_SPACE_CACHE ? key_of_found(&found[i]) : NULL;
		if (key == NULL) {
			continue;
		}
		if (has_prefix(key, prefix)) {
			const bshm_key wanted = {ZSTR_VAL(key), ZSTR_LEN(key)};
			bshm_error error;
			const bool gone =
				bshm_record_forget(found[i].segment, found[i].space, &wanted, &error) == 1;
			removed += gone && found[i].space == BSHM_SPACE_CACHE;
		}
		zend_string_release(key);
	}
	return removed;
}

PHP_FUNCTION(bloom_cache_clear)
{
	zend_string *prefix = ZSTR_EMPTY_ALLOC();
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR(prefix)
	ZEND_PARSE_PARAMETERS_END();

	bshm_segment *segment = php_bloomshm_store();
	bshm_found found[BSHM_SCAN_ROOM];
	zend_long removed = 0;
	uint64_t at = 0;
	if (segment == NULL) {
		RETURN_LONG(0);
	}
	do {
		const unsigned got =
			bshm_record_scan(segment, &at, BSHM_FIND_STALE, found, BSHM_SCAN_ROOM);
		removed += clear_found(found, got, prefix);
	} while (at != 0);
	RETURN_LONG(removed);
}

/* ------------------------------------------------------------------ the oldest */

/* Takes the oldest record out: 1 = done, 0 = there is none, -1 = somebody else changed it. */
static int pop(bshm_segment *segment, zval *return_value)
{
	bshm_found found;
	bshm_error error;
	zval value;
	const int oldest = bshm_record_oldest(segment, &found);
	if (oldest <= 0) {
		return oldest == 0 ? 0 : -1;
	}
	zend_string *key = key_of_found(&found);
	if (key == NULL) {
		return -1;
	}
	const bshm_key wanted = {ZSTR_VAL(key), ZSTR_LEN(key)};
	const int got = php_bloomshm_value_get(&found, &value);
	if (got == 0 || bshm_found_remove(&found, &wanted, &error) != 1) {
		zend_string_release(key);
		if (got > 0) {
			zval_ptr_dtor(&value);
		}
		return -1;
	}
	if (got < 0) {
		ZVAL_NULL(&value); /* it cannot be read any more; an exception tells why, if there is one */
	}
	array_init_size(return_value, 2);
	add_next_index_str(return_value, key);
	add_next_index_zval(return_value, &value);
	return 1;
}

PHP_FUNCTION(bloom_cache_pop_oldest)
{
	ZEND_PARSE_PARAMETERS_NONE();

	bshm_segment *segment = php_bloomshm_store();
	int popped = segment == NULL ? 0 : -1;
	for (int tries = 0; tries < POP_TRIES && popped < 0 && EG(exception) == NULL; tries++) {
		popped = pop(segment, return_value);
	}
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
	if (popped != 1) {
		RETURN_NULL();
	}
}

/* ------------------------------------------------------------------ files */

typedef bshm_status (*transfer)(bshm_segment *, const char *, uint64_t *, bshm_error *);

static void transfer_records(INTERNAL_FUNCTION_PARAMETERS, transfer move, bool writes)
{
	zend_string *path;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_PATH_STR(path)
	ZEND_PARSE_PARAMETERS_END();

	char *absolute = writes ? php_bloomshm_path_to_write(path, 1) : php_bloomshm_path_to_read(path, 1);
	bshm_segment *segment = absolute == NULL ? NULL : php_bloomshm_store_or_throw();
	uint64_t count = 0;
	bshm_error error;
	if (segment != NULL && move(segment, absolute, &count, &error) != BSHM_OK) {
		php_bloomshm_throw_file(&error, NULL, ZSTR_VAL(path));
	}
	if (absolute != NULL) {
		efree(absolute);
	}
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
	RETURN_LONG((zend_long) count);
}

PHP_FUNCTION(bloom_cache_dump)
{
	transfer_records(INTERNAL_FUNCTION_PARAM_PASSTHRU, bshm_store_dump, true);
}

PHP_FUNCTION(bloom_cache_restore)
{
	transfer_records(INTERNAL_FUNCTION_PARAM_PASSTHRU, bshm_store_restore, false);
}

/* ------------------------------------------------------------------ info */

PHP_FUNCTION(bloom_cache_info)
{
	ZEND_PARSE_PARAMETERS_NONE();

	bshm_store_info info = {0};
	bshm_segment *segment = php_bloomshm_store();
	if (segment != NULL) {
		bshm_store_stat(segment, &info);
	}
	const struct {
		const char *name;
		uint64_t value;
	} figures[] = {
		{"records", info.records},
		{"max_records", info.max_records},
		{"bytes_used", info.bytes_used},
		{"bytes_total", info.bytes_total},
		{"data_bytes", info.data_bytes},
		{"hits", info.hits},
		{"misses", info.misses},
		{"sets", info.sets},
		{"evictions", info.evictions},
		{"expired", info.expired},
		{"rejected", info.rejected},
		{"lock_timeouts", info.lock_timeouts},
		{"repairs", info.repairs},
		{"shards", info.shards},
	};
	array_init(return_value);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		add_assoc_long(return_value, figures[i].name, (zend_long) figures[i].value);
	}
}
