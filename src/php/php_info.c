/*
 * php_info.c - the bloom_* functions that list and describe filters, and check the segment.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_arguments.h"
#include "php_error.h"
#include "php_message.h"
#include "php_info.h"
#include "php_path.h"
#include "php_segment.h"
#include "php_state.h"

#include <inttypes.h>

#define REPLACED_TRIES 16 /* of a filter that is replaced again and again */

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

static void add_layers(zval *array, const bshm_info *info)
{
	zval layers;
	array_init(&layers);
	for (uint32_t i = 0; i < info->layer_count; i++) {
		const bshm_layer_info *from = &info->layers[i];
		zval layer;
		array_init(&layer);
		add_size(&layer, "capacity", from->capacity);
		add_size(&layer, "items", from->items);
		add_assoc_double(&layer, "error_rate", from->error_rate);
		add_size(&layer, "hashes", from->hash_count);
		add_size(&layer, "partitions", from->partition_count);
		add_size(&layer, "bytes", from->bytes);
		add_assoc_double(&layer, "fill", from->fill);
		add_assoc_double(&layer, "estimated_error_rate", from->estimated_error_rate);
		add_next_index_zval(&layers, &layer);
	}
	add_assoc_zval(array, "layers", &layers);
}

static void add_fetches(zval *array, const bshm_info *info)
{
	zval fetches;
	array_init(&fetches);
	add_size(&fetches, "asked", info->usage.fetches);
	add_size(&fetches, "denied", info->usage.denied);
	add_size(&fetches, "found", info->usage.found);
	add_size(&fetches, "loaded", info->usage.loaded);
	add_size(&fetches, "confirmed", info->false_positives);
	add_assoc_zval(array, "fetches", &fetches);
}

/* Whom the filter follows; null of a local one. */
static void add_origin(zval *array, const bshm_info *info)
{
	if (info->source[0] != '\0') {
		add_assoc_string(array, "source", info->source);
	} else {
		add_assoc_null(array, "source");
	}
	if (info->followed) {
		add_size(array, "version", info->version);
		add_assoc_double(array, "lag", info->lag_s);
	} else {
		add_assoc_null(array, "version");
		add_assoc_null(array, "lag");
	}
	if (info->max_lag_s != 0) {
		add_size(array, "max_lag", info->max_lag_s);
	} else {
		add_assoc_null(array, "max_lag");
	}
	add_assoc_bool(array, "stale", info->stale);
	if (info->sends) {
		add_size(array, "unsent", info->unsent);
	} else {
		add_assoc_null(array, "unsent");
	}
}

void php_bloomshm_info_array(zval *array, const zend_string *name, const bshm_info *info)
{
	array_init(array);
	add_assoc_stringl(array, "name", ZSTR_VAL(name), ZSTR_LEN(name));
	add_assoc_string(array, "type", info->type);
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
	add_size(array, "questions", info->usage.questions);
	add_size(array, "maybes", info->usage.maybes);
	add_fetches(array, info);
	add_size(array, "false_positives", info->false_positives);
	add_origin(array, info);
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
	if (segment == NULL || bshm_filter_info(segment, php_bloomshm_views(), ZSTR_VAL(filter),
							   ZSTR_LEN(filter), &info) != BSHM_OK) {
		RETURN_NULL();
	}
	php_bloomshm_info_array(return_value, filter, &info);
}

static void add_run(void *context, uint64_t first, uint64_t count)
{
	zval run;
	array_init_size(&run, 2);
	add_next_index_long(&run, (zend_long) first);
	add_next_index_long(&run, (zend_long) count);
	add_next_index_zval(context, &run);
}

static void add_fill(void *context, double fill)
{
	add_next_index_double(context, fill);
}

static void list_runs(const bshm_view *view, zval *list)
{
	bshm_view_runs(view, add_run, list);
}

static void list_fills(const bshm_view *view, zval *list)
{
	bshm_view_fills(view, add_fill, list);
}

/* Lists something of a filter's partitions; null: it is replaced again and again, or there is
 * none. */
static void describe(INTERNAL_FUNCTION_PARAMETERS, void (*list)(const bshm_view *, zval *))
{
	zend_string *filter;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(filter)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(filter, 1)) {
		RETURN_THROWS();
	}
	bshm_segment *segment = php_bloomshm_segment();
	for (int tries = 0; segment != NULL && tries < REPLACED_TRIES; tries++) {
		bshm_view *view;
		if (bshm_view_open(segment, php_bloomshm_views(), ZSTR_VAL(filter), ZSTR_LEN(filter),
				&view) != BSHM_OK) {
			break;
		}
		array_init(return_value);
		list(view, return_value);
		if (bshm_view_current(view)) {
			return;
		}
		zval_ptr_dtor(return_value);
	}
	RETURN_NULL();
}

PHP_FUNCTION(bloom_runs)
{
	describe(INTERNAL_FUNCTION_PARAM_PASSTHRU, list_runs);
}

PHP_FUNCTION(bloom_fills)
{
	describe(INTERNAL_FUNCTION_PARAM_PASSTHRU, list_fills);
}

/* Why there is no segment, or which settings the segment was not made with; or null. */
static void add_reason(
	zval *array, bshm_segment *segment, const bshm_stat *stat, const bshm_error *e)
{
	const uint64_t wanted =
		(uint64_t) BLOOMSHM_G(filter_memory) / BSHM_FILTER_UNIT_BYTES * BSHM_FILTER_UNIT_BYTES;
	bshm_store_info store = {0};
	if (segment != NULL) {
		bshm_store_stat(segment, &store);
	}
	if (segment == NULL) {
		add_assoc_str(array, "reason", php_bloomshm_message(e, NULL));
	} else if (stat->filter_bytes != wanted) {
		add_assoc_str(array, "reason",
			zend_strpprintf(0,
				"the existing segment keeps its %" PRIu64
				" bytes of filter memory; bloomshm.filter_memory asks for %" PRIu64,
				stat->filter_bytes, wanted));
	} else if (store.bytes_total != (uint64_t) BLOOMSHM_G(cache_memory) ||
			   (store.bytes_total != 0 &&
				   store.max_records != (uint64_t) BLOOMSHM_G(cache_records))) {
		add_assoc_str(array, "reason",
			zend_strpprintf(0,
				"the existing segment keeps its record store of %" PRIu64 " bytes and %" PRIu64
				" records (0: as many as fit); bloomshm.cache_memory asks for " ZEND_LONG_FMT
				", bloomshm.cache_records for " ZEND_LONG_FMT,
				store.bytes_total, store.max_records, BLOOMSHM_G(cache_memory),
				BLOOMSHM_G(cache_records)));
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
	if (segment != NULL) {
		bshm_views_hand_in(php_bloomshm_views());
	}
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
	bshm_store_info store = {0};
	if (segment != NULL) {
		bshm_store_stat(segment, &store);
	}
	add_size(return_value, "cache_bytes", store.bytes_total);
	add_size(return_value, "cache_bytes_free", store.bytes_total - store.bytes_used);
	add_size(return_value, "filters", stat.filters);
	add_size(return_value, "attached", stat.attached);
	add_size(return_value, "repairs", stat.repairs);
	add_size(return_value, "lock_timeouts", stat.lock_timeouts);
	add_size(return_value, "questions", stat.questions);
	add_size(return_value, "maybes", stat.maybes);
	add_size(return_value, "outbox_keys", stat.outbox_keys);
	add_size(return_value, "outbox_bytes", stat.outbox_bytes);
	add_size(return_value, "outbox_bytes_free", stat.outbox_bytes_free);
	add_size(return_value, "unsent", stat.unsent);
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
		add_next_index_str(return_value, php_bloomshm_message(&error, NULL));
		return;
	}
	if (bshm_segment_check(segment, add_problem, return_value, &error) < 0) {
		add_next_index_str(return_value, php_bloomshm_message(&error, NULL));
	}
}
