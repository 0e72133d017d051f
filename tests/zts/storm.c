/*
 * storm.c - threads of one process add, load, ask, store and remove the file, under a model that
 * tells the truth.
 *
 *   storm FOLDER SECONDS THREADS SEED
 *
 * Each thread works in requests of PHP (storm.php). The truth is outside of the segment: a thread
 * says which of its keys are confirmed after the call that added them has returned, and any thread
 * may ask any confirmed key at any time. A record's value tells the key that it belongs to.
 *
 *   own filters    only their thread adds and loads. The file may be removed: then the thread loads
 *                  all its keys anew, and until then the answer is "maybe"
 *   one shared     all add; one loads it again and again, from the confirmed keys. What is added to
 *                  a removed file is lost, so this filter is asked in the second half only, in
 *                  which no file is removed
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "embed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 16

static atomic_long confirmed[2][THREADS_MAX]; /* own filters; the shared one */
static atomic_bool stop;
static atomic_bool calm;      /* no file is removed any more */
static atomic_long counts[4]; /* questions, adds and loads, records read, refused calls */
static atomic_long faults;
static long threads;
static long seed;
static char path[256];

/* ------------------------------------------------------------------ functions for storm.php */

ZEND_BEGIN_ARG_INFO_EX(arginfo_numbers, 0, 0, 0)
ZEND_ARG_VARIADIC_INFO(0, numbers)
ZEND_END_ARG_INFO()

/* model_confirm(filter, thread, number): all keys below the number are confirmed. */
static ZEND_FUNCTION(model_confirm)
{
	zend_long filter;
	zend_long thread;
	zend_long number;
	ZEND_PARSE_PARAMETERS_START(3, 3)
		Z_PARAM_LONG(filter)
		Z_PARAM_LONG(thread)
		Z_PARAM_LONG(number)
	ZEND_PARSE_PARAMETERS_END();
	atomic_store_explicit(&confirmed[filter][thread], number, memory_order_release);
}

static ZEND_FUNCTION(model_confirmed)
{
	zend_long filter;
	zend_long thread;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_LONG(filter)
		Z_PARAM_LONG(thread)
	ZEND_PARSE_PARAMETERS_END();
	RETURN_LONG(atomic_load_explicit(&confirmed[filter][thread], memory_order_acquire));
}

static ZEND_FUNCTION(model_goes_on)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_LONG(atomic_load(&stop) ? 0 : atomic_load(&calm) ? 2 : 1);
}

/* model_count(what, by) */
static ZEND_FUNCTION(model_count)
{
	zend_long what;
	zend_long by;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_LONG(what)
		Z_PARAM_LONG(by)
	ZEND_PARSE_PARAMETERS_END();
	atomic_fetch_add_explicit(&counts[what], by, memory_order_relaxed);
}

static ZEND_FUNCTION(model_fault)
{
	zend_string *what;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(what)
	ZEND_PARSE_PARAMETERS_END();
	if (atomic_fetch_add(&faults, 1) < 20) {
		printf("# %s\n", ZSTR_VAL(what));
	}
}

/* clang-format off */
static const zend_function_entry functions[] = {
	ZEND_FE(model_confirm, arginfo_numbers)
	ZEND_FE(model_confirmed, arginfo_numbers)
	ZEND_FE(model_goes_on, arginfo_numbers)
	ZEND_FE(model_count, arginfo_numbers)
	ZEND_FE(model_fault, arginfo_numbers)
	ZEND_FE_END
};
/* clang-format on */

/* ------------------------------------------------------------------ threads */

static void work(void *argument)
{
	const long self = (long) (intptr_t) argument;
	char expression[128];
	for (long request = 0; !atomic_load(&stop); request++) {
		snprintf(expression, sizeof(expression), "(require '" STORM_PHP "')(%ld, %ld, %ld)", self,
			threads, seed + request * THREADS_MAX + self);
		embed_value(expression);
		embed_next_request();
	}
}

static void verify(void *argument)
{
	(void) argument;
	embed_value("count(array_map('model_fault', bloom_verify()))");
}

int main(int argc, char **argv)
{
	if (argc != 5 || (threads = atol(argv[3])) < 2 || threads > THREADS_MAX) {
		fprintf(stderr, "usage: storm FOLDER SECONDS THREADS SEED\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	const unsigned half_us = (unsigned) (atof(argv[2]) * 500000);
	seed = atol(argv[4]);
	snprintf(path, sizeof(path), "%s/storm.seg", argv[1]);
	char ini[1024];
	snprintf(ini, sizeof(ini),
		"bloomshm.path=%s\nbloomshm.filter_memory=8M\nbloomshm.cache_memory=4M\n", path);
	embed_start("embed", ini, functions);
	pthread_t running[THREADS_MAX];
	for (long i = 0; i < threads; i++) {
		running[i] = embed_thread(work, (void *) (intptr_t) i);
	}
	for (unsigned waited = 0; waited < half_us; waited += half_us / 8 + 1) {
		usleep(half_us / 8 + 1);
		unlink(path);
	}
	sleep(2); /* a process looks for its file once a second */
	atomic_store(&calm, true);
	usleep(half_us);
	atomic_store(&stop, true);
	for (long i = 0; i < threads; i++) {
		pthread_join(running[i], NULL);
	}
	pthread_join(embed_thread(verify, NULL), NULL);
	embed_stop();
	unlink(path);
	printf("# seed %ld: %ld questions, %ld adds and loads, %ld records read, %ld calls refused\n",
		seed, counts[0], counts[1], counts[2], counts[3]);
	return faults == 0 && counts[0] > 0 && counts[1] > 0 && counts[2] > 0 ? 0 : 1;
}
