/*
 * test.c - runs the registered tests, and the helpers of test.h.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "run.h"

#include "../busy.h"

#include "core/segment/directory.h"
#include "core/segment/layers.h"
#include "core/segment/name.h"
#include "platform/platform.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TESTS_MAX     128
#define FAILURES_TOLD 8

static test tests[TESTS_MAX];
static size_t test_count;
blackboard *board;

uint64_t *test_words;
uint64_t *test_refused;
BSHM_THREAD_LOCAL bshm_error last_error;
BSHM_THREAD_LOCAL bshm_held bshm__held;

void test_register(const char *file, const char *name, void (*function)(void), bool threads)
{
	if (test_count == TESTS_MAX) {
		fprintf(stderr, "more than %d tests in %s\n", TESTS_MAX, file);
		_exit(1);
	}
	const char *slash = strrchr(file, '/');
	tests[test_count++] = (test){slash == NULL ? file : slash + 1, name, function, threads};
}

/* ------------------------------------------------------------------ checks */

/* One write a line: lines of several processes do not mix. */
static void tell_line(const char *format, va_list arguments)
{
	char line[512] = "# ";
	const int length = vsnprintf(line + 2, sizeof(line) - 3, format, arguments);
	if (length < 0) {
		return;
	}
	size_t end = 2 + (size_t) length;
	end = end > sizeof(line) - 2 ? sizeof(line) - 2 : end;
	line[end] = '\n';
	(void) !write(STDOUT_FILENO, line, end + 1);
}

void test_note(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	tell_line(format, arguments);
	va_end(arguments);
}

void test_fail(const char *file, int line, const char *format, ...)
{
	if (BSHM_ADD(&board->failures, 1, RELAXED) >= FAILURES_TOLD) {
		return;
	}
	char what[400];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	const char *slash = strrchr(file, '/');
	test_note("%s:%d: %s", slash == NULL ? file : slash + 1, line, what);
}

bool test_failed(void)
{
	return BSHM_LOAD(&board->failures, RELAXED) != 0;
}

void test_stop(void)
{
	_exit(1);
}

void test_skip(const char *why)
{
	test_note("skipped: %s", why);
	_exit(EXIT_SKIPPED);
}

void test_slow(void)
{
	if (getenv("SKIP_SLOW_TESTS") != NULL) { /* as in php-src */
		test_skip("slow");
	}
}

void test_counts(void)
{
	if (getenv("SKIP_COUNTING_TESTS") != NULL) {
		test_skip("it counts");
	}
	test_slow();
}

/* ------------------------------------------------------------------ randomness */

uint64_t test_seed(void)
{
	const char *given = getenv("TEST_SEED");
	uint64_t seed = 0;
	if (given != NULL) {
		seed = strtoull(given, NULL, 0);
	} else {
		bshm_os_random(&seed, sizeof(seed));
	}
	test_note("TEST_SEED=%" PRIu64, seed);
	return seed;
}

uint64_t test_random(uint64_t *state) /* splitmix64 */
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* ------------------------------------------------------------------ time */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	REQUIRE(clock_gettime(clock, &now) == 0);
	return (uint64_t) now.tv_sec * UINT64_C(1000000000) + (uint64_t) now.tv_nsec;
}

uint64_t test_processor_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t test_undelayed_ns(void)
{
	return undelayed_ns();
}

/* ------------------------------------------------------------------ flags */

void raise_flag(unsigned flag)
{
	BSHM_STORE(&board->flags[flag], 1, RELEASE);
}

void await_flag(unsigned flag)
{
	while (BSHM_LOAD(&board->flags[flag], ACQUIRE) == 0) {
		bshm_os_sleep_us(50);
	}
}

/* ------------------------------------------------------------------ segments */

const char *test_path(const char *file)
{
	static char paths[4][sizeof(board->directory) + 64];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", board->directory, file);
	return path;
}

static bshm_segment *open_or_stop(const bshm_options *options)
{
	bshm_segment *segment = NULL;
	if (bshm_segment_open(options, &segment, &last_error) != BSHM_OK) {
		test_fail(__FILE__, __LINE__, "the segment does not open: %s (%s, %d)",
			bshm_status_str(last_error.status), bshm_cause_str(last_error.cause),
			last_error.os_code);
		test_stop();
	}
	return segment;
}

bshm_segment *open_segment(uint64_t bytes)
{
	const bshm_options options = {
		.path = test_path("segment"), .filter_bytes = bytes, .mode = 0600};
	return open_or_stop(&options);
}

bshm_segment *open_segment_readonly(void)
{
	const bshm_options options = {
		.path = test_path("segment"), .filter_bytes = MB(1), .mode = 0600, .readonly = true};
	return open_or_stop(&options);
}

void share_mapping(bshm_segment *copy, const bshm_segment *original)
{
	copy->header = original->header;
	copy->owners = original->owners;
	copy->ops = original->ops;
	copy->heads = original->heads;
	copy->entries = original->entries;
	copy->tags = original->tags;
	copy->chunks = original->chunks;
	copy->links = original->links;
	copy->layers = original->layers;
	copy->partitions = original->partitions;
	copy->store = original->store;
	copy->tallies = original->tallies;
	copy->shards = original->shards;
	copy->leases = original->leases;
	copy->roots = original->roots;
	copy->tables = original->tables;
	copy->page_headers = original->page_headers;
	copy->page_bitmaps = original->page_bitmaps;
	copy->pages = original->pages;
}

static BSHM_THREAD_LOCAL bshm_views *views;

static bshm_views *thread_views(void)
{
	if (views == NULL) {
		views = bshm_views_new();
		REQUIRE(views != NULL);
	}
	return views;
}

void forget_views(void)
{
	bshm_views_free(views);
	views = NULL;
}

int has(bshm_segment *segment, const char *name, const char *key)
{
	return bshm_filter_has(segment, thread_views(), name, strlen(name), key, strlen(key));
}

int has_fresh(bshm_segment *segment, const char *name, const char *key)
{
	bshm_views *fresh = bshm_views_new();
	const int answer = bshm_filter_has(segment, fresh, name, strlen(name), key, strlen(key));
	bshm_views_free(fresh);
	return answer;
}

int add_once(bshm_segment *segment, const char *name, const char *key)
{
	return bshm_filter_add(
		segment, thread_views(), name, strlen(name), key, strlen(key), &last_error);
}

int add(bshm_segment *segment, const char *name, const char *key)
{
	return PATIENTLY(add_once(segment, name, key));
}

int reserve(bshm_segment *segment, const char *name, uint64_t capacity, double error_rate)
{
	const bshm_parameters p = parameters(error_rate, capacity, 0);
	return bshm_filter_reserve(segment, name, strlen(name), &p, &last_error);
}

int drop(bshm_segment *segment, const char *name)
{
	return bshm_filter_drop(segment, name, strlen(name), &last_error);
}

int clear(bshm_segment *segment, const char *name)
{
	return bshm_filter_clear(segment, name, strlen(name), &last_error);
}

int rename_filter(bshm_segment *segment, const char *from, const char *to)
{
	return bshm_filter_rename(segment, from, strlen(from), to, strlen(to), &last_error);
}

int copy_filter(bshm_segment *segment, const char *from, const char *to)
{
	return bshm_filter_copy(segment, from, strlen(from), to, strlen(to), &last_error);
}

bool ready(bshm_segment *segment, const char *name)
{
	return bshm_filter_ready(segment, thread_views(), name, strlen(name)) == 1;
}

const char *numbered(const char *prefix, uint64_t number)
{
	static BSHM_THREAD_LOCAL char names[4][64];
	static BSHM_THREAD_LOCAL unsigned next;
	char *name = names[next++ % 4];
	snprintf(name, sizeof(names[0]), "%s%" PRIu64, prefix, number);
	return name;
}

int has_number(bshm_segment *segment, const char *name, uint64_t number)
{
	return bshm_filter_has(
		segment, thread_views(), name, strlen(name), (const char *) &number, sizeof(number));
}

int add_number_once(bshm_segment *segment, const char *name, uint64_t number)
{
	return bshm_filter_add(segment, thread_views(), name, strlen(name), (const char *) &number,
		sizeof(number), &last_error);
}

int add_number(bshm_segment *segment, const char *name, uint64_t number)
{
	return PATIENTLY(add_number_once(segment, name, number));
}

int64_t add_numbers(bshm_segment *segment, const char *name, uint64_t from, uint64_t to)
{
	const size_t count = to - from;
	uint64_t *numbers = malloc(sizeof(*numbers) * count);
	bshm_key *keys = malloc(sizeof(*keys) * count);
	REQUIRE(numbers != NULL && keys != NULL);
	for (size_t i = 0; i < count; i++) {
		numbers[i] = from + i;
		keys[i] = (bshm_key){(const char *) &numbers[i], sizeof(numbers[i])};
	}
	uint64_t added = 0;
	const bshm_status status = bshm_filter_add_many(
		segment, thread_views(), name, strlen(name), keys, count, NULL, &added, &last_error);
	free(numbers);
	free(keys);
	return status == BSHM_OK ? (int64_t) added : status;
}

uint32_t op_count(const bshm_segment *segment)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		count += BSHM_LOAD(&segment->ops[i].owner, ACQUIRE) != 0;
	}
	return count;
}

uint64_t absent(bshm_segment *segment, const char *name, uint64_t from, uint64_t to)
{
	uint64_t count = 0;
	for (uint64_t i = from; i < to; i++) {
		count += has_number(segment, name, i) == 0;
	}
	return count;
}

uint64_t present(bshm_segment *segment, const char *name, uint64_t from, uint64_t to)
{
	uint64_t count = 0;
	for (uint64_t i = from; i < to; i++) {
		count += has_number(segment, name, i) == 1;
	}
	return count;
}

void set_layer(
	bshm_segment *segment, bshm_descriptor *descriptor, bshm_run run, uint32_t hash_count)
{
	const bshm_layer layer = {.run = run, .capacity = 1, .hash_count = hash_count};
	REQUIRE(bshm__layers_store(segment, descriptor, &layer, 1, NULL));
}

bshm_parameters parameters(double error_rate, uint64_t capacity, uint32_t expansion)
{
	return (bshm_parameters){
		.error_rate = error_rate, .capacity = capacity, .expansion = expansion};
}

bshm_build *begin_build(bshm_segment *segment, const char *name)
{
	const bshm_parameters p = parameters(0.01, 0, 0);
	bshm_build *build = NULL;
	REQUIRE(bshm_build_begin(segment, name, strlen(name), &p, &build, &last_error) == BSHM_OK);
	return build;
}

bshm_status offer(bshm_build *build, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		const bshm_status status = bshm_build_key(build, (const char *) &i, sizeof(i), &last_error);
		if (status != BSHM_OK) {
			return status;
		}
	}
	return BSHM_OK;
}

bshm_status publish(bshm_build *build, bshm_info *info)
{
	bshm_info unused;
	return bshm_build_publish(build, 1.0, info == NULL ? &unused : info, &last_error);
}

bshm_status load(bshm_segment *segment, const char *name, uint64_t from, uint64_t to)
{
	bshm_build *build = begin_build(segment, name);
	const bshm_status status = offer(build, from, to);
	if (status != BSHM_OK) {
		bshm_build_abort(build);
		return status;
	}
	return publish(build, NULL);
}

bshm_stat stat_of(bshm_segment *segment)
{
	bshm_stat stat;
	REQUIRE(bshm_segment_stat(segment, &stat, &last_error) == BSHM_OK);
	return stat;
}

bshm_info info_of(bshm_segment *segment, const char *name)
{
	bshm_info info;
	REQUIRE(bshm_filter_info(segment, thread_views(), name, strlen(name), &info) == BSHM_OK);
	return info;
}

bshm_entry *entry_of(bshm_segment *segment, const char *name)
{
	const bshm__name padded = bshm__name_of(name, strlen(name));
	uint32_t index;
	REQUIRE(bshm__entry_find(segment, &padded, &index) == BSHM_OK);
	return &segment->entries[index];
}

static void tell_fault(void *context, const char *what, const char *name)
{
	(void) context;
	test_note("fault: %s (%s)", what, name);
}

int faults(bshm_segment *segment)
{
	return bshm_segment_check(segment, tell_fault, NULL, &(bshm_error){0});
}

/* ------------------------------------------------------------------ running */

static bool run(const test *t)
{
	memset(board, 0, sizeof(*board));
	if (!run_make_directory()) {
		printf("not ok - %s: no directory %s\n", t->file, board->directory);
		return false;
	}
	const int status = run_alone(t);
	run_remove_directory();

	char title[256];
	snprintf(title, sizeof(title), "%s: %s", t->file, t->name);
	for (char *c = title + strlen(t->file); *c != '\0'; c++) {
		*c = *c == '_' ? ' ' : *c;
	}
	const bool skipped = status == EXIT_SKIPPED;
	const bool passed = !test_failed() && (skipped || status == 0);
	if (!passed && status < 0) {
		printf("# ended by signal %d%s\n", -status, run_why_ended(-status));
	}
	printf("%s - %s%s\n", passed ? "ok" : "not ok", title, skipped ? " # SKIP" : "");
	return passed;
}

/* Any arguments: only the tests whose names contain one of them. */
static bool wanted(const test *t, int count, char **parts)
{
	if (TEST_UNDER_TSAN && !t->threads) {
		return false;
	}
	for (int i = 0; i < count; i++) {
		if (strstr(t->name, parts[i]) != NULL) {
			return true;
		}
	}
	return count == 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	const char *alone = run_is_alone(argc, argv);
	board = run_board();
	if (board == NULL) {
		perror("no memory to share");
		return 1;
	}
	test_words = board->words;
	test_refused = &board->refused;
	bool passed = true;
	for (size_t i = 0; i < test_count; i++) {
		if (alone != NULL && strcmp(tests[i].name, alone) == 0) {
			tests[i].function();
			return 0;
		}
		if (alone == NULL && wanted(&tests[i], argc - 1, argv + 1)) {
			passed &= run(&tests[i]);
		}
	}
	return passed && alone == NULL ? 0 : 1;
}
