/*
 * bench_locks.c - the longest time that each kind of call holds a lock in a full store.
 *
 *     bench_locks MEGABYTES SEGMENT        {"set", "large", "verify", "clear"}: milliseconds
 *
 * The processor's time counts, so that other processes lengthen no hold. A virtual machine that is
 * stopped for a moment does; so all calls run three times, each on a new store, and the least of
 * the longest holds is printed. The engine has to be built with `-include held.h`.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS        3
#define CALLS       200000
#define LARGE_BYTES (UINT64_C(8) << 20)
#define LARGE_CALLS 4

static struct {
	double began;
	double most;
	unsigned depth;
} held;

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

void held_begin(void)
{
	if (held.depth++ == 0) {
		held.began = now_ms();
	}
}

void held_end(void)
{
	if (--held.depth == 0) {
		const double taken = now_ms() - held.began;
		held.most = taken > held.most ? taken : held.most;
	}
}

static void require(bool holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "bench_locks: %s\n", what);
		exit(1);
	}
}

static bshm_segment *open_store(const char *path, const char *megabytes)
{
	const bshm_options options = {
		.path = path,
		.filter_bytes = BSHM_FILTER_BYTES_MIN,
		.cache_bytes = strtoull(megabytes, NULL, 10) << 20,
		.mode = 0600,
	};
	bshm_segment *segment;
	bshm_error error;
	unlink(path);
	require(bshm_segment_open(&options, &segment, &error) == BSHM_OK, path);
	return segment;
}

static uint64_t evictions(bshm_segment *segment)
{
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	return info.evictions;
}

/* New keys, so that each one needs a free slot. */
static void set(bshm_segment *segment, uint64_t number)
{
	char key[24];
	const bshm_put put = {
		.key = {key,
			(size_t) snprintf(key, sizeof(key), "tag:%08llu", (unsigned long long) number)},
		.value = {BSHM_VALUE_STRING, "8 bytes.", 8},
	};
	bshm_error error;
	require(bshm_record_put(segment, &put, &error) == 1, "a record was not stored");
}

/* Fills the store; then each record needs an eviction. */
static void set_records(bshm_segment *segment)
{
	uint64_t number = 0;
	while (number % 4096 != 0 || evictions(segment) == 0) {
		set(segment, number++);
	}
	for (const uint64_t end = number + CALLS; number < end; number++) {
		set(segment, number);
	}
}

/* Each one needs the room of many small records. */
static void set_large(bshm_segment *segment)
{
	void *bytes = calloc(1, LARGE_BYTES);
	require(bytes != NULL, "no memory");
	for (unsigned i = 0; i < LARGE_CALLS; i++) {
		const bshm_put put = {
			.key = {(const char *) &i, sizeof(i)},
			.value = {BSHM_VALUE_STRING, bytes, LARGE_BYTES},
		};
		bshm_error error;
		require(bshm_record_put(segment, &put, &error) == 1, "a large record was not stored");
	}
	free(bytes);
}

static void report_problem(void *context, const char *what, const char *name)
{
	(void) context;
	(void) name;
	require(false, what);
}

/* In a process that has not touched the segment before, as whoever calls it in the CLI. */
static void verify(bshm_segment *segment)
{
	int ends[2];
	bshm_error error;
	require(pipe(ends) == 0, "no pipe");
	const pid_t child = fork();
	if (child == 0) {
		require(bshm_segment_check(segment, report_problem, NULL, &error) == 0, "not sound");
		_exit(write(ends[1], &held.most, sizeof(held.most)) != sizeof(held.most));
	}
	int status = 1;
	require(child > 0 && waitpid(child, &status, 0) == child && status == 0, "no child");
	require(read(ends[0], &held.most, sizeof(held.most)) == sizeof(held.most), "no answer");
	close(ends[0]);
	close(ends[1]);
}

static void clear(bshm_segment *segment)
{
	require(bshm_records_clear(segment, &(bshm_key){"", 0}) > CALLS, "nothing was removed");
}

static const struct {
	const char *name;
	void (*run)(bshm_segment *segment);
} calls[] = {{"set", set_records}, {"large", set_large}, {"verify", verify}, {"clear", clear}};
#define CALL_COUNT (sizeof(calls) / sizeof(*calls))

int main(int argc, char **argv)
{
	double least[CALL_COUNT];
	require(argc == 3, "usage: bench_locks MEGABYTES SEGMENT");
	for (int run = 0; run < RUNS; run++) {
		bshm_segment *segment = open_store(argv[2], argv[1]);
		for (size_t i = 0; i < CALL_COUNT; i++) {
			held.most = 0;
			calls[i].run(segment);
			least[i] = run == 0 || held.most < least[i] ? held.most : least[i];
		}
		bshm_segment_close(segment);
	}
	for (size_t i = 0; i < CALL_COUNT; i++) {
		printf("%s\"%s\": %.4f", i == 0 ? "{" : ", ", calls[i].name, least[i]);
	}
	puts("}");
	unlink(argv[2]);
	return 0;
}
