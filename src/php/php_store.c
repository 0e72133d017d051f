/*
 * php_store.c - the bloom_cache_* functions on the store as a whole: scan, clear, oldest, files,
 * info.
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

#include <string.h>

#define POP_TRIES 4
#define POP_NS    UINT64_C(50000000) /* or so long, while other processes change the oldest */

/* A found record's key; NULL: the record has changed meanwhile. */
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

static bool has_prefix(const bshm_key *key, const zend_string *prefix)
{
	return key->length >= ZSTR_LEN(prefix) &&
		   memcmp(key->bytes, ZSTR_VAL(prefix), ZSTR_LEN(prefix)) == 0;
}

/* ------------------------------------------------------------------ scan and clear */

/* There is no private memory for the keys of a step. */
static void throw_memory(void)
{
	const bshm_error error = {.status = BSHM_E_NO_SPACE, .cause = BSHM_CAUSE_MEMORY};
	php_bloomshm_throw(&error, NULL);
}

/* Adds the user's records of a scan's step whose keys begin with the prefix to the array. */
static void add_records(zval *records, bshm_segment *segment, const bshm_scan *scan,
	const zend_string *prefix, bshm_patience *patience)
{
	for (unsigned i = 0; i < scan->count && EG(exception) == NULL && !ZEND_HAS_OOM(); i++) {
		const bshm_key *key = &scan->keys[i];
		zval value;
		if (scan->spaces[i] == BSHM_SPACE_CACHE && has_prefix(key, prefix) &&
			php_bloomshm_record_get(segment, BSHM_SPACE_CACHE, key, 0, patience, &value)) {
			zend_symtable_str_update(Z_ARRVAL_P(records), key->bytes, key->length, &value);
		}
	}
}

/*
 * One step of a scan. User code may end the request while the keys are used, so they are copied to
 * *bytes, memory of the request. False: an exception was thrown.
 */
static bool scan_next(bshm_segment *segment, bshm_scan *scan, unsigned flags, zend_string **bytes)
{
	bshm_scan step = {.cursor = scan->cursor};
	const bool done = bshm_scan_next(segment, &step, flags);
	if (!done) {
		bshm_scan_free(&step);
		throw_memory();
		return false; /* the cursor has not moved: the caller may repeat the step */
	}
	size_t length = 0;
	for (unsigned i = 0; i < step.count; i++) {
		length += step.keys[i].length;
	}
	*scan = step;
	*bytes = NULL;
	zend_try
	{
		*bytes = zend_string_init(step.bytes == NULL ? "" : step.bytes, length, false);
	}
	zend_end_try();
	if (UNEXPECTED(*bytes == NULL)) { /* memory_limit */
		bshm_scan_free(&step);
		zend_bailout();
	}
	for (unsigned i = 0; i < step.count; i++) {
		scan->keys[i].bytes = ZSTR_VAL(*bytes) + (step.keys[i].bytes - step.bytes);
	}
	bshm_scan_free(&step);
	return true;
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
	zend_long from;
	if (!zend_parse_arg_long(Z_REFVAL_P(cursor), &from, NULL, false, 1)) {
		zend_wrong_parameter_type_error(1, Z_EXPECTED_LONG, Z_REFVAL_P(cursor));
		RETURN_THROWS();
	}
	bshm_segment *segment = php_bloomshm_segment_with_store();
	bshm_scan scan = {.cursor = (uint64_t) from};
	bshm_patience patience = {0};
	zend_ulong looked_at = 0;
	array_init(return_value);
	if (segment == NULL) {
		scan.cursor = 0;
	}
	while (segment != NULL) {
		zend_string *bytes;
		if (!scan_next(segment, &scan, 0, &bytes)) {
			break;
		}
		looked_at += scan.count;
		add_records(return_value, segment, &scan, prefix, &patience);
		zend_string_release(bytes);
		if (scan.cursor == 0 || looked_at >= (zend_ulong) count || EG(exception) != NULL ||
			ZEND_HAS_OOM()) {
			break;
		}
	}
	/* The cursor moves on even if unserializing a value threw: otherwise a scan would never get
	 * past that value. */
	ZEND_TRY_ASSIGN_REF_LONG(cursor, (zend_long) scan.cursor);
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
}

PHP_FUNCTION(bloom_cache_clear)
{
	zend_string *prefix = ZSTR_EMPTY_ALLOC();
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR(prefix)
	ZEND_PARSE_PARAMETERS_END();

	const bshm_key beginning = php_bloomshm_key_of_string(prefix);
	bshm_segment *segment = php_bloomshm_segment_with_store();
	RETURN_LONG(segment == NULL ? 0 : (zend_long) bshm_records_clear(segment, &beginning));
}

/* ------------------------------------------------------------------ the oldest */

/* Takes the oldest record out: 1 = done; 0 = there is none, or its lock is held; -1 = it has
 * changed meanwhile, or its copy met memory_limit, or it cannot be read here: an exception. */
static int pop(bshm_segment *segment, bshm_patience *patience, zval *return_value)
{
	bshm_found found;
	bshm_error error;
	php_bloomshm_value bytes;
	zval value;
	const int oldest = bshm_record_oldest(segment, &found);
	if (oldest <= 0) {
		return oldest == 0 ? 0 : -1;
	}
	zend_string *key = php_bloomshm_value_readable(found.type) ? key_of_found(&found) : NULL;
	if (key == NULL) {
		return -1;
	}
	const bshm_key wanted = php_bloomshm_key_of_string(key);
	const int copied = php_bloomshm_value_copy(&found, &bytes);
	const bool keeps = copied == 0 || ZEND_HAS_OOM(); /* memory_limit: nobody would get the value */
	const int removed = keeps ? 0 : bshm_found_remove(&found, &wanted, patience, &error);
	if (removed != 1) {
		zend_string_release(key);
		php_bloomshm_value_release(&bytes);
		return removed < 0 ? 0 : -1;
	}
	/* Only this call has the value now. Its user code may pop other records. */
	if (copied < 0 || !php_bloomshm_value_take(&bytes, &value)) {
		ZVAL_NULL(&value); /* it cannot be read; there may be an exception */
	}
	array_init_size(return_value, 2);
	add_next_index_str(return_value, key);
	add_next_index_zval(return_value, &value);
	return 1;
}

PHP_FUNCTION(bloom_cache_pop_oldest)
{
	ZEND_PARSE_PARAMETERS_NONE();

	bshm_segment *segment = php_bloomshm_segment_with_store();
	bshm_patience patience = {0};
	int popped = segment == NULL ? 0 : -1;
	const uint64_t until = bshm_now_coarse_ns() + POP_NS;
	for (int tries = 0; popped < 0 && (tries < POP_TRIES || bshm_now_coarse_ns() < until) &&
						EG(exception) == NULL && !ZEND_HAS_OOM();
		 tries++) {
		popped = pop(segment, &patience, return_value);
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

	char *absolute =
		writes ? php_bloomshm_path_to_write(path, 1) : php_bloomshm_path_to_read(path, 1);
	bshm_segment *segment =
		absolute == NULL ? NULL : php_bloomshm_segment_with_store_or_throw(!writes);
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
	bshm_segment *segment = php_bloomshm_segment_with_store();
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

PHP_FUNCTION(bloom_cache_classes)
{
	ZEND_PARSE_PARAMETERS_NONE();

	static const char *const uses[] = {"records", "parts", "index"};
	bshm_class_info classes[BSHM_CLASSES_MAX];
	const bshm_segment *segment = php_bloomshm_segment_with_store();
	const unsigned count = segment == NULL ? 0 : bshm_store_classes(segment, classes);
	array_init_size(return_value, count);
	for (unsigned i = 0; i < count; i++) {
		zval one;
		array_init(&one);
		add_assoc_string(&one, "use", uses[classes[i].use]);
		add_assoc_long(&one, "slot_bytes", (zend_long) classes[i].slot_bytes);
		add_assoc_long(&one, "bytes", (zend_long) classes[i].bytes);
		add_assoc_long(&one, "slots", (zend_long) classes[i].slots);
		add_assoc_long(&one, "used", (zend_long) classes[i].used);
		add_next_index_zval(return_value, &one);
	}
}
