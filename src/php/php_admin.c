/*
 * php_admin.c - the bloom_* functions that make, drop, clear, move, copy and merge filters.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_arguments.h"
#include "php_error.h"
#include "php_keys.h"
#include "php_segment.h"

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
		!php_bloomshm_check_parameters(&parameters, error_rate, 3, expansion, 4, seed, 7) ||
		!php_bloomshm_check_kind(&parameters, window, 5, counting, 6, 4)) {
		RETURN_THROWS();
	}
	parameters.capacity = (uint64_t) capacity;
	bshm_segment *segment = php_bloomshm_segment_to_create(true);
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
	bshm_segment *segment = php_bloomshm_segment_to_add();
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
	bshm_segment *segment = php_bloomshm_segment_to_move(ZSTR_VAL(from));
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

/* The names in the arguments from #2 on; false: an exception was thrown. */
static bool names_of(zval *arguments, uint32_t count, bshm_key *names)
{
	for (uint32_t i = 0; i < count; i++) {
		zend_string *name;
		if (!zend_parse_arg_str(&arguments[i], &name, false, i + 2)) {
			zend_wrong_parameter_error(
				ZPP_ERROR_WRONG_ARG, i + 2, NULL, Z_EXPECTED_STRING, &arguments[i]);
			return false;
		}
		if (!php_bloomshm_check_name(name, i + 2)) {
			return false;
		}
		names[i] = php_bloomshm_key_of_string(name);
	}
	return true;
}

static void merge(const zend_string *into, const bshm_key *from, uint32_t count)
{
	bshm_segment *segment =
		php_bloomshm_segment_to_move(count == 0 ? ZSTR_VAL(into) : from[0].bytes);
	bshm_error error;
	if (segment == NULL || bshm_filter_merge(segment, ZSTR_VAL(into), ZSTR_LEN(into), from, count,
							   &error) == BSHM_OK) {
		return;
	}
	php_bloomshm_throw(&error, error.source != 0 ? from[error.source - 1].bytes : ZSTR_VAL(into));
}

PHP_FUNCTION(bloom_merge)
{
	zend_string *into;
	zval *sources = NULL;
	uint32_t count = 0;
	ZEND_PARSE_PARAMETERS_START(1, -1)
		Z_PARAM_STR(into)
		Z_PARAM_VARIADIC('*', sources, count)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(into, 1)) {
		RETURN_THROWS();
	}
	bshm_key *from = safe_emalloc(count, sizeof(*from), 0);
	if (names_of(sources, count, from)) {
		merge(into, from, count);
	}
	efree(from);
	RETURN_BOOL(EG(exception) == NULL);
}
