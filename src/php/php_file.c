/*
 * php_file.c - filters as files: bloom_dump() and bloom_restore().
 *
 * The engine reads and writes the files (filter_file.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_arguments.h"
#include "php_error.h"
#include "php_segment.h"

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
	char *absolute = php_bloomshm_path_to_write(path, 2);
	bshm_segment *segment = absolute == NULL ? NULL : php_bloomshm_segment_of(ZSTR_VAL(filter));
	uint64_t bytes = 0;
	bshm_error error;
	if (segment != NULL && bshm_filter_dump(segment, php_bloomshm_views(), ZSTR_VAL(filter),
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
	char *absolute = php_bloomshm_path_to_read(path, 2);
	bshm_segment *segment = absolute == NULL ? NULL : php_bloomshm_segment_to_create(true);
	bshm_error error;
	if (segment != NULL && bshm_filter_restore(segment, ZSTR_VAL(filter), ZSTR_LEN(filter),
							   absolute, &error) != BSHM_OK) {
		php_bloomshm_throw_file(&error, ZSTR_VAL(filter), ZSTR_VAL(path));
		segment = NULL;
	}
	if (segment != NULL) {
		php_bloomshm_check_published(segment, ZSTR_VAL(filter));
	}
	if (absolute != NULL) {
		efree(absolute);
	}
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
	RETURN_TRUE;
}
