/*
 * bench_core.c - the engine without PHP: what a question, an add and an attach cost in C, and
 * which false-positive rate a filter really has.
 *
 *     bench_core ask SEGMENT FILTER COUNT        {"has", "view_has"}: nanoseconds a key
 *     bench_core add SEGMENT FILTER COUNT        {"keys_per_second"}: adds in arrival order
 *     bench_core rate SEGMENT FILTER PROBES      {"measured"}: share of absent keys answered maybe
 *     bench_core attach SEGMENT FILTER TIMES     {"microseconds"}: attach and first question
 *
 * The keys are those of keys.php: "tag:%08d" present, "non:%08d" absent. The segment must stand.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEY_BYTES   12
#define KEYS_A_CALL 20
#define KEYS_MAX    UINT64_C(100000000) /* what eight digits can tell apart */
#define TIMES_MAX   1000

typedef struct {
	const char *path;
	const char *filter;
	size_t filter_length;
	bshm_segment *segment;
	bshm_views *views;
} bench;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_core: %s: %s\n", what, why);
	exit(1);
}

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

static uint64_t number_argument(const char *text, uint64_t max)
{
	char *end;
	const uint64_t number = strtoull(text, &end, 10);
	if (*end != '\0' || number == 0 || number > max) {
		die(text, "not a number in range");
	}
	return number;
}

static void write_key(char key[KEY_BYTES], const char prefix[4], uint64_t number)
{
	memcpy(key, prefix, 4);
	for (int i = KEY_BYTES - 1; i >= 4; i--) {
		key[i] = (char) ('0' + number % 10);
		number /= 10;
	}
}

/* `count` keys, one after the other in memory. */
static bshm_key *make_keys(uint64_t count)
{
	bshm_key *keys = malloc(count * sizeof *keys);
	char *bytes = malloc(count * KEY_BYTES);
	if (keys == NULL || bytes == NULL) {
		die("keys", "no memory");
	}
	for (uint64_t i = 0; i < count; i++) {
		keys[i] = (bshm_key){bytes + i * KEY_BYTES, KEY_BYTES};
		write_key(bytes + i * KEY_BYTES, "tag:", i);
	}
	return keys;
}

static void attach(bench *b)
{
	const bshm_options options = {
		.path = b->path,
		.filter_bytes = BSHM_FILTER_BYTES_MIN,
		.mode = 0600,
	};
	bshm_error error;
	if (bshm_segment_open(&options, &b->segment, &error) != BSHM_OK) {
		die(b->path, bshm_status_str(error.status));
	}
	b->views = bshm_views_new();
	if (b->views == NULL) {
		die("cache", "no memory");
	}
}

static const bshm_view *open_view(bench *b)
{
	bshm_view *view;
	const bshm_status status =
		bshm_view_open(b->segment, b->views, b->filter, b->filter_length, &view);
	if (status != BSHM_OK) {
		die(b->filter, bshm_status_str(status));
	}
	return view;
}

/* All keys must be there: a filter that is missing or empty measures nothing. */
static double has_ns(bench *b, const bshm_key *keys, uint64_t count)
{
	const double start = now_ns();
	for (uint64_t i = 0; i < count; i++) {
		if (bshm_filter_has(b->segment, b->views, b->filter, b->filter_length, keys[i].bytes,
				keys[i].length) != 1) {
			die(b->filter, "a key is missing");
		}
	}
	return (now_ns() - start) / (double) count;
}

static double view_has_ns(bench *b, const bshm_key *keys, uint64_t count)
{
	bool answers[KEYS_A_CALL];
	const double start = now_ns();
	for (uint64_t i = 0; i + KEYS_A_CALL <= count; i += KEYS_A_CALL) {
		const bshm_view *view = open_view(b);
		bshm_view_has(view, keys + i, KEYS_A_CALL, answers);
		if (!bshm_view_current(view)) {
			die(b->filter, "changed while it was measured");
		}
	}
	return (now_ns() - start) / (double) (count - count % KEYS_A_CALL);
}

static int run_ask(bench *b, const char *number)
{
	const uint64_t count = number_argument(number, KEYS_MAX);
	const bshm_key *keys = make_keys(count);
	attach(b);
	has_ns(b, keys, count); /* brings the pages into this process */
	const double has = has_ns(b, keys, count);
	const double view_has = view_has_ns(b, keys, count);
	printf("{\"has\": %.3f, \"view_has\": %.3f}\n", has, view_has);
	return 0;
}

static int run_add(bench *b, const char *number)
{
	const uint64_t count = number_argument(number, KEYS_MAX);
	const bshm_key *keys = make_keys(count);
	attach(b);
	bshm_error error;
	const double start = now_ns();
	for (uint64_t i = 0; i < count; i++) {
		if (bshm_filter_add(b->segment, b->views, b->filter, b->filter_length, keys[i].bytes,
				keys[i].length, &error) < 0) {
			die(b->filter, bshm_status_str(error.status));
		}
	}
	printf("{\"keys_per_second\": %.0f}\n", (double) count / ((now_ns() - start) / 1e9));
	return 0;
}

static int run_rate(bench *b, const char *number)
{
	const uint64_t probes = number_argument(number, KEYS_MAX);
	char bytes[BSHM_BATCH][KEY_BYTES];
	bshm_key keys[BSHM_BATCH];
	bool answers[BSHM_BATCH];
	for (unsigned i = 0; i < BSHM_BATCH; i++) {
		keys[i] = (bshm_key){bytes[i], KEY_BYTES};
	}
	attach(b);
	const bshm_view *view = open_view(b);
	uint64_t maybe = 0;
	for (uint64_t asked = 0; asked < probes;) {
		unsigned batch = 0;
		while (batch < BSHM_BATCH && asked < probes) {
			write_key(bytes[batch++], "non:", asked++);
		}
		bshm_view_has(view, keys, batch, answers);
		for (unsigned i = 0; i < batch; i++) {
			maybe += answers[i];
		}
	}
	if (!bshm_view_current(view)) {
		die(b->filter, "changed while it was measured");
	}
	printf("{\"measured\": %.10f}\n", (double) maybe / (double) probes);
	return 0;
}

static double first_question_us(bench *b)
{
	int ends[2];
	double taken = 0;
	if (pipe(ends) != 0) {
		die("pipe", "failed");
	}
	const pid_t child = fork();
	if (child == 0) {
		const double start = now_ns();
		attach(b);
		const int answer = bshm_filter_has(
			b->segment, b->views, b->filter, b->filter_length, "tag:00000001", KEY_BYTES);
		taken = (now_ns() - start) / 1000;
		_exit(answer == 1 && write(ends[1], &taken, sizeof taken) == sizeof taken ? 0 : 1);
	}
	int status;
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0 ||
		read(ends[0], &taken, sizeof taken) != sizeof taken) {
		die(b->filter, "a new process could not ask");
	}
	close(ends[0]);
	close(ends[1]);
	return taken;
}

static int ascending(const void *left, const void *right)
{
	const double a = *(const double *) left;
	const double b = *(const double *) right;
	return (a > b) - (a < b);
}

static int run_attach(bench *b, const char *number)
{
	const uint64_t times = number_argument(number, TIMES_MAX);
	double taken[TIMES_MAX];
	for (uint64_t i = 0; i < times; i++) {
		taken[i] = first_question_us(b);
	}
	qsort(taken, times, sizeof *taken, ascending);
	printf("{\"microseconds\": %.2f}\n", taken[times / 2]);
	return 0;
}

/* What reserving so many keys takes; the filter's name is the rate in percent. */
static int run_size(bench *b, const char *number)
{
	const uint64_t keys = strtoull(number, NULL, 10);
	const bshm_geometry geometry = bshm_geometry_for(strtod(b->filter, NULL) / 100, keys);
	const double bytes = (double) geometry.partition_count * (double) BSHM_FILTER_UNIT_BYTES;
	printf("{\"megabytes\": %.3f}\n", bytes / 1e6);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(bench *b, const char *number);
	} commands[] = {
		{"ask", run_ask},
		{"add", run_add},
		{"rate", run_rate},
		{"attach", run_attach},
		{"size", run_size},
	};
	for (size_t i = 0; argc == 5 && i < sizeof commands / sizeof *commands; i++) {
		if (strcmp(argv[1], commands[i].name) == 0) {
			bench b = {.path = argv[2], .filter = argv[3], .filter_length = strlen(argv[3])};
			return commands[i].run(&b, argv[4]);
		}
	}
	fprintf(stderr, "usage: bench_core ask|add|rate|attach|size SEGMENT FILTER COUNT\n");
	return 2;
}
