/*
 * php_error.c - the one place where a status becomes PHP behaviour.
 *
 * A failure for an outside reason (no space, no segment, another owner) is a BloomShm\Exception,
 * whose message php_message.c makes. A question or an add without its filter follows
 * bloomshm.missing_filter.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_error.h"
#include "php_message.h"
#include "php_state.h"

#include "SAPI.h"
#include "Zend/zend_exceptions.h"
#include "Zend/zend_smart_str.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

zend_class_entry *php_bloomshm_exception_ce;

static _Atomic uint64_t missing_answers; /* of this process, all threads */
ZEND_TLS char last_error[512];

static void throw_text(bshm_status status, zend_string *text)
{
	snprintf(last_error, sizeof(last_error), "%s", ZSTR_VAL(text));
	const bshm_status code = status == BSHM_E_BUSY ? BSHM_E_UNAVAILABLE : status;
	zend_throw_exception(php_bloomshm_exception_ce, ZSTR_VAL(text), -code);
	zend_string_release(text);
}

void php_bloomshm_throw_format(bshm_status status, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	throw_text(status, zend_vstrpprintf(0, format, arguments));
	va_end(arguments);
}

#define LOG_EVERY_NS UINT64_C(60000000000)

void php_bloomshm_log(const bshm_error *error)
{
	static _Atomic uint64_t not_before_ns[2];
	_Atomic uint64_t *log_at_ns = &not_before_ns[error->cause == BSHM_CAUSE_REPLACED];
	const uint64_t now = bshm_now_ns();
	uint64_t at = atomic_load_explicit(log_at_ns, memory_order_relaxed);
	if (now < at || !atomic_compare_exchange_strong(log_at_ns, &at, now + LOG_EVERY_NS)) {
		return;
	}
	zend_string *text = php_bloomshm_message(error, NULL);
	snprintf(last_error, sizeof(last_error), "%s", ZSTR_VAL(text));
	if (PG(log_errors)) {
		char line[sizeof(last_error) + 16];
		snprintf(line, sizeof(line), "bloomshm: %s", last_error);
		php_log_err(line);
	}
	zend_string_release(text);
}

void php_bloomshm_throw_file(const bshm_error *error, const char *filter, const char *path)
{
	zend_string *text = php_bloomshm_message_file(error, path);
	throw_text(error->status, text != NULL ? text : php_bloomshm_message(error, filter));
}

void php_bloomshm_throw(const bshm_error *error, const char *filter)
{
	throw_text(error->status, php_bloomshm_message(error, filter));
}

void php_bloomshm_throw_record(const bshm_error *error, zend_string *key)
{
	smart_str shown = {0};
	smart_str_append_escaped_truncated(&shown, key, 64);
	smart_str_0(&shown);
	php_bloomshm_throw(error, shown.s == NULL ? "" : ZSTR_VAL(shown.s));
	smart_str_free(&shown);
}

void php_bloomshm_throw_unavailable(const bshm_error *error)
{
	throw_text(BSHM_E_UNAVAILABLE, php_bloomshm_message(error, NULL));
}

void php_bloomshm_throw_add(const bshm_error *error, const char *filter)
{
	bshm_error e = *error;
	if (e.status == BSHM_E_NO_SPACE && e.cause == BSHM_CAUSE_FILTER_MEMORY) {
		e.cause = BSHM_CAUSE_GROW;
	}
	php_bloomshm_throw(&e, filter);
}

const char *php_bloomshm_last_error(void)
{
	return last_error[0] == '\0' ? NULL : last_error;
}

/* Is this the first warning about the filter in this request? */
static bool first_warning(const char *filter)
{
	const double request = sapi_get_request_time();
	if (BLOOMSHM_G(warned) == NULL) {
		BLOOMSHM_G(warned) = pemalloc(sizeof(HashTable), 1);
		zend_hash_init(BLOOMSHM_G(warned), 8, NULL, NULL, 1);
	}
	if (BLOOMSHM_G(warned_at) != request) {
		BLOOMSHM_G(warned_at) = request;
		zend_hash_clean(BLOOMSHM_G(warned));
	}
	return zend_hash_str_add_empty_element(BLOOMSHM_G(warned), filter, strlen(filter)) != NULL;
}

bool php_bloomshm_unanswered(bshm_status status, const char *filter, uint64_t questions)
{
	if (status == BSHM_E_NOT_FOUND || status == BSHM_E_UNAVAILABLE) {
		atomic_fetch_add_explicit(&missing_answers, questions, memory_order_relaxed);
	}
	if (status != BSHM_E_NOT_FOUND) {
		return true;
	}
	if (BLOOMSHM_G(missing_filter) == BLOOMSHM_MISSING_THROW) {
		const bshm_error error = {.status = BSHM_E_NOT_FOUND, .cause = BSHM_CAUSE_FILTER};
		php_bloomshm_throw(&error, filter);
		return false;
	}
	if (BLOOMSHM_G(missing_filter) == BLOOMSHM_MISSING_WARN && first_warning(filter)) {
		php_error_docref(NULL, E_WARNING,
			"filter \"%s\" is not published; every key is answered \"maybe\"", filter);
	}
	return EG(exception) == NULL; /* an error handler may have thrown */
}

uint64_t php_bloomshm_missing_answers(void)
{
	return atomic_load_explicit(&missing_answers, memory_order_relaxed);
}

void php_bloomshm_warned_free(HashTable *warned)
{
	if (warned != NULL) {
		zend_hash_destroy(warned);
		pefree(warned, 1);
	}
}
