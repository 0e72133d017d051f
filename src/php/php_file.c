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

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Throws; frees the path. */
static char *refuse(const char *op, int os_code, const zend_string *path, char *absolute)
{
	const bshm_error error = {.status = BSHM_E_IO, .op = op, .os_code = os_code};
	php_bloomshm_throw_file(&error, NULL, ZSTR_VAL(path));
	if (absolute != NULL) {
		efree(absolute);
	}
	return NULL;
}

char *php_bloomshm_path_to_read(const zend_string *path, uint32_t argument)
{
	if (ZSTR_LEN(path) == 0) {
		zend_argument_value_error(argument, "cannot be empty");
		return NULL;
	}
	/* Links are left to the kernel, which does not follow everybody's in a shared folder. */
	char *absolute = expand_filepath_with_mode(ZSTR_VAL(path), NULL, NULL, 0, CWD_EXPAND);
	if (absolute == NULL) {
		return refuse("use", ENAMETOOLONG, path, NULL);
	}
	if (php_check_open_basedir_ex(absolute, 0) != 0) {
		return refuse("open_basedir", EPERM, path, absolute);
	}
	return absolute;
}

/*
 * The folder must be allowed too, for a new file is made there: where the path is a link, it takes the
 * link's place. A device or FIFO is left alone.
 */
char *php_bloomshm_path_to_write(const zend_string *path, uint32_t argument)
{
	char *absolute = php_bloomshm_path_to_read(path, argument);
	if (absolute == NULL) {
		return NULL;
	}
	char *folder = estrdup(absolute);
	zend_dirname(folder, strlen(folder));
	const bool allowed = php_check_open_basedir_ex(folder, 0) == 0;
	efree(folder);
	if (!allowed) {
		return refuse("open_basedir", EPERM, path, absolute);
	}
	zend_stat_t st;
	if (VCWD_LSTAT(absolute, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		return refuse("open", EINVAL, path, absolute);
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
	char *absolute = php_bloomshm_path_to_write(path, 2);
	bshm_segment *segment = absolute == NULL ? NULL : php_bloomshm_segment_of(ZSTR_VAL(filter));
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
	char *absolute = php_bloomshm_path_to_read(path, 2);
	bshm_segment *segment = absolute == NULL ? NULL : php_bloomshm_segment_to_change(true);
	bshm_error error;
	if (segment != NULL && bshm_filter_restore(segment, ZSTR_VAL(filter), ZSTR_LEN(filter),
							   absolute, &error) != BSHM_OK) {
		php_bloomshm_throw_file(&error, ZSTR_VAL(filter), ZSTR_VAL(path));
		segment = NULL;
	}
	if (segment != NULL) {
		php_bloomshm_published(segment, ZSTR_VAL(filter));
	}
	if (absolute != NULL) {
		efree(absolute);
	}
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
	RETURN_TRUE;
}
