/*
 * php_settings.c - the INI settings: read, checked, written to the module globals.
 *
 * All are SYSTEM settings, which an FPM pool sets with php_admin_value. A bad value is refused with
 * a warning at startup, and the setting keeps the value that it had. In php-fpm a value that a
 * request brings is refused.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "compat.h"
#include "php_path.h"
#include "php_settings.h"
#include "php_state.h"

#include "SAPI.h"
#include "php_ini.h"

#include <stdlib.h>
#include <string.h>

/* The field of the module globals that the arguments of an entry name. */
static zend_long *field_of(void *offset, void *globals)
{
#ifdef ZTS
	char *base = ts_resource(*(int *) globals);
#else
	char *base = globals;
#endif
	return (zend_long *) (void *) (base + (size_t) offset);
}

static const char *text_of(const zend_string *value)
{
	return value == NULL ? "" : ZSTR_VAL(value);
}

static int refuse(const zend_ini_entry *entry, const char *value, const char *rule)
{
	zend_error(E_WARNING, "%s must be %s, \"%s\" given; the old value stays", ZSTR_VAL(entry->name),
		rule, value);
	return FAILURE;
}

/*
 * php-fpm takes every setting, also a SYSTEM one, from the FastCGI parameters PHP_VALUE and
 * PHP_ADMIN_VALUE, and the worker keeps it for all later requests. The settings of the pool come
 * before the first request.
 */
static bool from_request(void)
{
	return SG(server_context) != NULL && strcmp(sapi_module.name, "fpm-fcgi") == 0;
}

static ZEND_INI_MH(on_update_path)
{
	if (from_request()) {
		return FAILURE;
	}
	if (new_value == NULL ||
		!php_bloomshm_path_is_absolute(ZSTR_VAL(new_value), ZSTR_LEN(new_value))) {
		return refuse(entry, text_of(new_value), "an absolute path");
	}
	return OnUpdateStringUnempty(entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage);
}

static ZEND_INI_MH(on_update_bool)
{
	return from_request() ? FAILURE
						  : OnUpdateBool(entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage);
}

/* A number of bytes or of records: 0 if that is allowed, or from `least` to `most`. */
static int set_quantity(const zend_ini_entry *entry, zend_string *value, zend_long *field,
	bool zero, uint64_t least, uint64_t most, const char *rule)
{
	if (from_request()) {
		return FAILURE;
	}
	if (*text_of(value) == '\0') { /* of a variable that is not set: not a 0 that was meant */
		return refuse(entry, "", rule);
	}
	zend_string *problem = NULL;
	const zend_long number = zend_ini_parse_quantity(value, &problem);
	const bool fits = number >= (zend_long) least && number <= (zend_long) most;
	if (problem != NULL || !(fits || (zero && number == 0))) {
		if (problem != NULL) {
			zend_string_release(problem);
		}
		return refuse(entry, text_of(value), rule);
	}
	*field = number;
	return SUCCESS;
}

static ZEND_INI_MH(on_update_memory)
{
	(void) mh_arg3;
	(void) stage;
	return set_quantity(entry, new_value, field_of(mh_arg1, mh_arg2), false, BSHM_FILTER_BYTES_MIN,
		BSHM_FILTER_BYTES_MAX, "from 1M to 8192G (with K, M or G)");
}

static ZEND_INI_MH(on_update_cache_memory)
{
	(void) mh_arg3;
	(void) stage;
	return set_quantity(entry, new_value, field_of(mh_arg1, mh_arg2), true, BSHM_CACHE_BYTES_MIN,
		BSHM_CACHE_BYTES_MAX, "0, or from 1M to 16G (with K, M or G)");
}

static ZEND_INI_MH(on_update_cache_records)
{
	(void) mh_arg3;
	(void) stage;
	return set_quantity(entry, new_value, field_of(mh_arg1, mh_arg2), true, 0, ZEND_LONG_MAX,
		"0 (as many as fit), or a number of records");
}

/* Sets the field to the index of the word among three. */
static int set_choice(const zend_ini_entry *entry, const char *value, zend_long *field,
	const char *const words[3], const char *rule)
{
	if (from_request()) {
		return FAILURE;
	}
	for (int i = 0; i < 3; i++) {
		if (strcmp(value, words[i]) == 0) {
			*field = i;
			return SUCCESS;
		}
	}
	return refuse(entry, value, rule);
}

/* The presence of igbinary is checked when a value is stored, so the order of loading does not
 * matter. */
static ZEND_INI_MH(on_update_serializer)
{
	(void) mh_arg3;
	(void) stage;
	static const char *const words[] = {"none", "php", "igbinary"};
	const char *word = *text_of(new_value) == '\0' ? "none" : ZSTR_VAL(new_value);
	return set_choice(
		entry, word, field_of(mh_arg1, mh_arg2), words, "\"php\", \"igbinary\" or \"none\"");
}

static ZEND_INI_MH(on_update_mode)
{
	(void) mh_arg3;
	(void) stage;
	if (from_request()) {
		return FAILURE;
	}
	char *end = NULL;
	const char *text = text_of(new_value);
	const long mode = strtol(text, &end, 8);
	if (*text == '\0' || *end != '\0' || mode < 0 || mode > 0777 || (mode & 0600) != 0600) {
		return refuse(entry, text, "an octal file mode from 0600 to 0777");
	}
	*field_of(mh_arg1, mh_arg2) = mode;
	return SUCCESS;
}

static ZEND_INI_MH(on_update_missing)
{
	(void) mh_arg3;
	(void) stage;
	static const char *const words[] = {"maybe", "warn", "throw"};
	return set_choice(entry, text_of(new_value), field_of(mh_arg1, mh_arg2), words,
		"\"maybe\", \"warn\" or \"throw\"");
}

/* clang-format off */
PHP_INI_BEGIN()
	STD_PHP_INI_BOOLEAN("bloomshm.enable", "1", PHP_INI_SYSTEM, on_update_bool,
		enable, zend_bloomshm_globals, bloomshm_globals)
	STD_PHP_INI_ENTRY("bloomshm.path", PHP_BLOOMSHM_PATH, PHP_INI_SYSTEM, on_update_path,
		path, zend_bloomshm_globals, bloomshm_globals)
	STD_PHP_INI_ENTRY("bloomshm.filter_memory", "32M", PHP_INI_SYSTEM, on_update_memory,
		filter_memory, zend_bloomshm_globals, bloomshm_globals)
	STD_PHP_INI_ENTRY("bloomshm.cache_memory", "16M", PHP_INI_SYSTEM, on_update_cache_memory,
		cache_memory, zend_bloomshm_globals, bloomshm_globals)
	STD_PHP_INI_ENTRY("bloomshm.cache_records", "0", PHP_INI_SYSTEM, on_update_cache_records,
		cache_records, zend_bloomshm_globals, bloomshm_globals)
	STD_PHP_INI_ENTRY("bloomshm.serializer", "php", PHP_INI_SYSTEM, on_update_serializer,
		serializer, zend_bloomshm_globals, bloomshm_globals)
	STD_PHP_INI_ENTRY("bloomshm.mode", "0600", PHP_INI_SYSTEM, on_update_mode,
		mode, zend_bloomshm_globals, bloomshm_globals)
	STD_PHP_INI_BOOLEAN("bloomshm.readonly", "0", PHP_INI_SYSTEM, on_update_bool,
		readonly, zend_bloomshm_globals, bloomshm_globals)
	STD_PHP_INI_ENTRY("bloomshm.missing_filter", "maybe", PHP_INI_SYSTEM, on_update_missing,
		missing_filter, zend_bloomshm_globals, bloomshm_globals)
	STD_PHP_INI_BOOLEAN("bloomshm.huge_pages", "0", PHP_INI_SYSTEM, on_update_bool,
		huge_pages, zend_bloomshm_globals, bloomshm_globals)
PHP_INI_END()
/* clang-format on */

void php_bloomshm_settings_register(int module_number)
{
	zend_register_ini_entries(ini_entries, module_number);
}
