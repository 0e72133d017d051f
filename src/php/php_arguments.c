/*
 * php_arguments.c - checks of the arguments that several functions share.
 *
 * A bad argument is a ValueError that names it. A path that open_basedir forbids, or that names no
 * regular file, is a BloomShm\Exception.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_arguments.h"
#include "php_error.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

bool php_bloomshm_check_name(const zend_string *name, uint32_t argument)
{
	if (EXPECTED(ZSTR_LEN(name) >= 1 && ZSTR_LEN(name) <= BSHM_NAME_BYTES_MAX &&
				 memchr(ZSTR_VAL(name), '\0', ZSTR_LEN(name)) == NULL)) {
		return true;
	}
	zend_argument_value_error(
		argument, "must be a filter name of 1 to %d bytes without NUL bytes", BSHM_NAME_BYTES_MAX);
	return false;
}

bool php_bloomshm_check_capacity(zend_long capacity, uint32_t argument)
{
	if (capacity >= 1 && capacity <= (zend_long) BSHM_CAPACITY_MAX) {
		return true;
	}
	zend_argument_value_error(argument,
		"must be between 1 and " ZEND_LONG_FMT ", " ZEND_LONG_FMT " given",
		(zend_long) BSHM_CAPACITY_MAX, capacity);
	return false;
}

bool php_bloomshm_check_parameters(bshm_parameters *out, double error_rate, uint32_t rate_argument,
	zend_long expansion, uint32_t expansion_argument, const zend_string *seed,
	uint32_t seed_argument)
{
	if (!(error_rate > 0 && error_rate <= 0.5)) {
		zend_argument_value_error(
			rate_argument, "must be greater than 0 and at most 0.5, %g given", error_rate);
		return false;
	}
	if (expansion != 0 && (expansion < 2 || expansion > 32)) {
		zend_argument_value_error(expansion_argument,
			"must be 0, or between 2 and 32, " ZEND_LONG_FMT " given", expansion);
		return false;
	}
	if (seed != NULL && (ZSTR_LEN(seed) < 1 || ZSTR_LEN(seed) > 64)) {
		zend_argument_value_error(
			seed_argument, "must be between 1 and 64 bytes long, %zu given", ZSTR_LEN(seed));
		return false;
	}
	*out = (bshm_parameters){
		.error_rate = error_rate,
		.expansion = (uint32_t) expansion,
		.seed = seed == NULL ? NULL : ZSTR_VAL(seed),
		.seed_length = seed == NULL ? 0 : ZSTR_LEN(seed),
	};
	return true;
}

bool php_bloomshm_check_kind(bshm_parameters *out, zend_long window, uint32_t window_argument,
	bool counting, uint32_t counting_argument, uint32_t expansion_argument)
{
	if (window < 0 || window > BSHM_WINDOW_MAX_S) {
		zend_argument_value_error(window_argument,
			"must be 0, or between 1 and %d seconds, " ZEND_LONG_FMT " given", BSHM_WINDOW_MAX_S,
			window);
		return false;
	}
	if (window != 0 && counting) {
		zend_argument_value_error(counting_argument, "must be false for a filter with a window");
		return false;
	}
	if (window == 0 && !counting) {
		return true;
	}
	if (out->expansion != 0 && out->expansion != 2) {
		zend_argument_value_error(expansion_argument, "must be 0 or its default for a %s",
			counting ? "counting filter" : "filter with a window");
		return false;
	}
	out->expansion = 0;
	out->window_s = (uint32_t) window;
	out->counting = counting;
	return true;
}

ZEND_COLD bool php_bloomshm_refuse_ttl(zend_long ttl, uint32_t argument)
{
	zend_argument_value_error(argument,
		"must be 0 (no limit) or between 1 and %d seconds, " ZEND_LONG_FMT " given", BSHM_TTL_MAX_S,
		ttl);
	return false;
}

ZEND_COLD bool php_bloomshm_refuse_key(const zend_string *key, uint32_t argument)
{
	zend_argument_value_error(
		argument, "must be at most %d bytes long, %zu given", BSHM_KEY_BYTES_MAX, ZSTR_LEN(key));
	return false;
}

ZEND_COLD bool php_bloomshm_refuse_key_in(const zend_string *key, uint32_t argument)
{
	zend_argument_value_error(argument, "must contain keys of at most %d bytes, one has %zu",
		BSHM_KEY_BYTES_MAX, ZSTR_LEN(key));
	return false;
}

/* Throws; frees the path. */
static char *refuse(bshm_cause cause, int os_code, const zend_string *path, char *absolute)
{
	const bshm_error error = {.status = BSHM_E_IO, .cause = cause, .os_code = os_code};
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
	/* Links are resolved by the kernel, which does not follow all of them in a shared folder. */
	char *absolute = expand_filepath_with_mode(ZSTR_VAL(path), NULL, NULL, 0, CWD_EXPAND);
	if (absolute == NULL) {
		return refuse(BSHM_CAUSE_USE, ENAMETOOLONG, path, NULL);
	}
	if (php_check_open_basedir_ex(absolute, 0) != 0) {
		return refuse(BSHM_CAUSE_OPEN_BASEDIR, EPERM, path, absolute);
	}
	return absolute;
}

/*
 * The folder must be allowed too, because a new file is made there; if the path is a link, the file
 * replaces the link. A device or FIFO is left alone.
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
		return refuse(BSHM_CAUSE_OPEN_BASEDIR, EPERM, path, absolute);
	}
	zend_stat_t st;
	if (VCWD_LSTAT(absolute, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		return refuse(BSHM_CAUSE_OPEN, EINVAL, path, absolute);
	}
	return absolute;
}
