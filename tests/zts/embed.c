/*
 * embed.c - a program that runs PHP with threads.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "embed.h"

#include "php_main.h"

#include "sapi/embed/php_embed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ZEND_TSRMLS_CACHE_DEFINE()

/* The program is linked with the extension: PHP would load it by RTLD_DEEPBIND, under which the
 * sanitizer would not see its calls. */
zend_module_entry *get_module(void);

typedef struct {
	void (*work)(void *argument);
	void *argument;
} start;

typedef struct {
	const char *expression;
	zend_long value;
} question;

static int failures;

static void fail(const char *what)
{
	fprintf(stderr, "not ok - %s failed\n", what);
	exit(1);
}

static int start_modules(sapi_module_struct *sapi)
{
	return php_module_startup(sapi, get_module());
}

void embed_start(const char *name, const char *ini, const zend_function_entry *functions)
{
	static const char common[] = "display_errors=stderr\nhtml_errors=0\nmax_execution_time=0\n";
	char *lines = malloc(sizeof(common) + strlen(ini));
	if (lines == NULL) {
		fail("malloc");
	}
	memcpy(lines, common, sizeof(common) - 1);
	strcpy(lines + sizeof(common) - 1, ini);
	php_tsrm_startup();
	ZEND_TSRMLS_CACHE_UPDATE();
	zend_signal_startup();
	php_embed_module.name = strdup(name);
	php_embed_module.php_ini_ignore = 1;
	sapi_startup(&php_embed_module);
	php_embed_module.ini_entries = lines;
	php_embed_module.additional_functions = functions;
	php_embed_module.startup = start_modules;
	if (start_modules(&php_embed_module) == FAILURE) {
		fail("the start of PHP");
	}
	SG(options) |= SAPI_OPTION_NO_CHDIR;
}

void embed_stop(void)
{
	php_module_shutdown();
	sapi_shutdown();
	tsrm_shutdown();
}

static void begin_request(void)
{
	if (php_request_startup() == FAILURE) {
		fail("the start of a request");
	}
	SG(headers_sent) = 1;
	SG(request_info).no_headers = 1;
}

void embed_next_request(void)
{
	php_request_shutdown(NULL);
	begin_request();
}

static void *run(void *argument)
{
	start *s = argument;
	ts_resource(0);
	ZEND_TSRMLS_CACHE_UPDATE();
	begin_request();
	s->work(s->argument);
	php_request_shutdown(NULL);
	ts_free_thread();
	free(s);
	return NULL;
}

pthread_t embed_thread(void (*work)(void *argument), void *argument)
{
	pthread_t thread;
	start *s = malloc(sizeof(*s));
	if (s == NULL) {
		fail("malloc");
	}
	*s = (start){work, argument};
	if (pthread_create(&thread, NULL, run, s) != 0) {
		fail("pthread_create");
	}
	return thread;
}

zend_long embed_value(const char *expression)
{
	zval value;
	volatile zend_long number = 0;
	volatile bool bailed = false;
	zend_first_try
	{
		if (zend_eval_stringl(expression, strlen(expression), &value, "embed") == SUCCESS) {
			number = zval_get_long(&value);
			zval_ptr_dtor(&value);
		}
	}
	zend_catch
	{
		bailed = true;
	}
	zend_end_try();
	if (bailed || EG(exception) != NULL) {
		fail(expression);
	}
	return number;
}

static void answer(void *argument)
{
	question *q = argument;
	q->value = embed_value(q->expression);
}

zend_long embed_value_of_thread(const char *expression)
{
	question q = {.expression = expression};
	pthread_join(embed_thread(answer, &q), NULL);
	return q.value;
}

void embed_check(const char *what, bool ok)
{
	printf("%sok - %s\n", ok ? "" : "not ", what);
	failures += !ok;
}

int embed_status(void)
{
	return failures == 0 ? 0 : 1;
}
