/*
 * php_file.c - filters as files: bloom_dump() and bloom_restore().
 *
 * The engine reads and writes the files (snapshot.c); here a path becomes one that it may use.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php_bloomshm.h"

/* The absolute path, to be freed with efree(); NULL: an exception was thrown. */
static char *path_of(const zend_string *path)
{
	bshm_error error = {.status = BSHM_E_IO, .op = "open", .os_code = ENOENT};
	if (ZSTR_LEN(path) == 0) {
		zend_argument_value_error(2, "cannot be empty");
		return NULL;
	}
	char *absolute = expand_filepath(ZSTR_VAL(path), NULL);
	if (absolute == NULL) {
		php_bloomshm_throw_file(&error, NULL, ZSTR_VAL(path));
		return NULL;
	}
	if (php_check_open_basedir_ex(absolute, 0) != 0) {
		error.op = "open_basedir";
		php_bloomshm_throw_file(&error, NULL, ZSTR_VAL(path));
		efree(absolute);
		return NULL;
	}
	return absolute;
}

PHP_FUNCTION(bloom_dump)
{
	zend_string *filter;
	zend_string *path;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(filter)
		Z_PARAM_PATH_STR(path)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(filter, 1)) {
		RETURN_THROWS();
	}
	char *absolute = path_of(path);
	bshm_segment *segment = absolute == NULL ? NULL : php_bloomshm_segment_or_throw();
	uint64_t bytes = 0;
	bshm_error error;
	if (segment != NULL && bshm_filter_dump(segment, php_bloomshm_cache(), ZSTR_VAL(filter),
							   ZSTR_LEN(filter), absolute, &bytes, &error) != BSHM_OK) {
		php_bloomshm_throw_file(&error, ZSTR_VAL(filter), ZSTR_VAL(path));
	}
	if (absolute != NULL) {
		efree(absolute);
	}
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
	RETURN_LONG((zend_long) bytes);
}

PHP_FUNCTION(bloom_restore)
{
	zend_string *filter;
	zend_string *path;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(filter)
		Z_PARAM_PATH_STR(path)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(filter, 1)) {
		RETURN_THROWS();
	}
	char *absolute = path_of(path);
	bshm_segment *segment = absolute == NULL ? NULL : php_bloomshm_segment_to_change();
	bshm_error error;
	if (segment != NULL && bshm_filter_restore(segment, ZSTR_VAL(filter), ZSTR_LEN(filter),
							   absolute, &error) != BSHM_OK) {
		php_bloomshm_throw_file(&error, ZSTR_VAL(filter), ZSTR_VAL(path));
	}
	if (absolute != NULL) {
		efree(absolute);
	}
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
	RETURN_TRUE;
}
