/*
 * stress.c - real processes add, load, copy, rename, clear and drop on one segment, and are
 * killed at random moments, while observers ask keys that must always be found.
 *
 *   stress SECONDS            processes, SIGKILLed and replaced
 *   stress SECONDS threads    threads on one mapping, for ThreadSanitizer; none is killed
 *
 * The truth is a ledger outside the segment. An adder first writes its key there, as a page writes
 * its row to the database before bloom_add(), then adds it, then marks it confirmed. A loader reads
 * the ledger after it has begun, as a batch job runs its query. So every confirmed key must be
 * found, at any time, by every process: in the catalogue, which is loaded again and again, and in
 * the log, which is never loaded and grows. A third filter slides: its keys must be found for a
 * second after they were added.
 *
 * Ends with the validator, and with the memory that must be free again. Prints its seed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE
#endif

#include "core/segment/owners.h"
#include "core/segment/segment.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include "observer.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define GOLDEN    2000
#define LEDGER    (1 << 20)
#define OBSERVERS 2
#define WORKERS   6
#define CHURNED   8
#define RECENT    64
#define WINDOW_S  1

typedef struct {
	uint32_t stop;
	uint32_t next;      /* the ledger's length */
	uint32_t unwatched; /* processes: their observers' system calls could not be */
	uint64_t asked;
	uint64_t added;
	uint64_t loads;
	uint64_t moves;
	uint64_t kills;
	uint64_t failures;
	uint64_t slowest_ns;        /* observer call */
	uint64_t turns;             /* adds to the filter that slides */
	uint64_t recent_ns[RECENT]; /* when an add of the key had begun that has returned */
	uint8_t written[LEDGER];
	uint8_t confirmed[LEDGER];
} shared;

static shared *S;
static char path[256];
static bool threads;
static bshm_segment *first; /* threads: whose mapping all share */
static const char filter[] = "catalogue";
static const char grown[] = "log";
static const char recent[] = "recent";

static uint64_t draw(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t x = *state;
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static void fail(const char *what, const char *key)
{
	BSHM_ADD(&S->failures, 1, RELAXED);
	fprintf(stderr, "FAILURE: %s %s\n", what, key);
}

static size_t ledger_key(char out[32], uint32_t i)
{
	return (size_t) snprintf(out, 32, "row %u", i);
}

static size_t golden_key(char out[32], uint32_t i)
{
	return (size_t) snprintf(out, 32, "golden %u", i);
}

static bshm_segment *attach(void)
{
	const bshm_options options = {.path = path, .filter_bytes = 16 << 20, .mode = 0600};
	bshm_segment *segment;
	bshm_error error;
	if (threads && first != NULL) {
		segment = malloc(sizeof(*segment));
		*segment = *first;
		segment->fd = -1;
		segment->lock_kept = NULL;
		segment->owner = 0;
		segment->quick_owner = 0;
		segment->busy = 0;
		bshm__owner_attach(segment, &error);
		return segment;
	}
	while (bshm_segment_open(&options, &segment, &error) != BSHM_OK) {
		if (error.status != BSHM_E_BUSY) {
			fprintf(stderr, "cannot attach: %s (%s)\n", bshm_status_str(error.status),
				bshm_cause_str(error.cause));
			exit(1);
		}
		bshm_os_sleep_us(1000);
	}
	return segment;
}

static void detach(bshm_segment *segment)
{
	if (threads && segment != first) {
		bshm_os_release(segment->lock_kept);
		bshm_os_close(segment->fd);
		free(segment);
	}
}

/* Anything that another process's work or a full segment may cause. */
static bool expected(bshm_status status)
{
	return status >= 0 || status == BSHM_E_TIMEOUT || status == BSHM_E_NO_SPACE ||
		   status == BSHM_E_NOT_FOUND || status == BSHM_E_EXISTS || status == BSHM_E_FULL ||
		   status == BSHM_E_INCOMPATIBLE;
}

/* ------------------------------------------------------------------ the cast */

static void observe_recent(bshm_segment *segment, bshm_views *views, uint64_t *random)
{
	char key[32];
	const uint32_t i = (uint32_t) (draw(random) % RECENT);
	const size_t length = (size_t) snprintf(key, sizeof(key), "recent %u", i);
	const uint64_t added = BSHM_LOAD(&S->recent_ns[i], ACQUIRE);
	const int found = bshm_filter_has(segment, views, recent, strlen(recent), key, length);
	if (found == 0 && bshm_os_monotonic_ns() - added < WINDOW_S * UINT64_C(1000000000)) {
		fail("false negative within the window", key);
	}
}

static void observe(bshm_segment *segment, bshm_views *views, uint64_t *random)
{
	char key[32];
	size_t length;
	const uint32_t rows = BSHM_LOAD(&S->next, ACQUIRE);
	const uint32_t row = rows == 0 ? 0 : (uint32_t) (draw(random) % rows);
	if (row < LEDGER && BSHM_LOAD(&S->confirmed[row], ACQUIRE) != 0) {
		length = ledger_key(key, row);
	} else {
		length = golden_key(key, (uint32_t) (draw(random) % GOLDEN));
	}
	const uint64_t start = bshm_os_monotonic_ns();
	if (bshm_filter_has(segment, views, filter, strlen(filter), key, length) == 0) {
		fail("false negative", key);
	}
	if (key[0] == 'r' && bshm_filter_has(segment, views, grown, strlen(grown), key, length) == 0) {
		fail("false negative of the log", key);
	}
	observe_recent(segment, views, random);
	const uint64_t took = bshm_os_monotonic_ns() - start;
	uint64_t slowest = BSHM_LOAD(&S->slowest_ns, RELAXED);
	while (took > slowest && !BSHM_CAS(&S->slowest_ns, &slowest, took, RELAXED)) {
	}
	BSHM_ADD(&S->asked, 1, RELAXED);
}

static void add_row(bshm_segment *segment, bshm_views *views)
{
	char key[32];
	bshm_error error;
	const uint32_t row = BSHM_ADD(&S->next, 1, RELAXED);
	if (row >= LEDGER) {
		BSHM_STORE(&S->next, LEDGER, RELAXED);
		return;
	}
	const size_t length = ledger_key(key, row);
	BSHM_STORE(&S->written[row], 1, SEQ_CST);
	const int logged = bshm_filter_add(segment, views, grown, strlen(grown), key, length, &error);
	if (logged < 0 && !expected(logged)) {
		fail("add to the log", bshm_status_str(logged));
	}
	const int added =
		logged < 0 ? logged
				   : bshm_filter_add(segment, views, filter, strlen(filter), key, length, &error);
	if (added >= 0) {
		BSHM_STORE(&S->confirmed[row], 1, RELEASE);
		BSHM_ADD(&S->added, 1, RELAXED);
		if (bshm_filter_has(segment, views, filter, strlen(filter), key, length) == 0) {
			fail("own add not found", key);
		}
	} else if (!expected(added)) {
		fail("add", bshm_status_str(added));
	}
}

static void add_recent(bshm_segment *segment, bshm_views *views, uint64_t *random)
{
	char key[32];
	bshm_error error;
	const uint32_t i = (uint32_t) (draw(random) % RECENT);
	const size_t length = (size_t) snprintf(key, sizeof(key), "recent %u", i);
	const uint64_t began = bshm_os_monotonic_ns();
	const int added = bshm_filter_add(segment, views, recent, strlen(recent), key, length, &error);
	if (added >= 0) {
		uint64_t last = BSHM_LOAD(&S->recent_ns[i], RELAXED);
		while (last < began && !BSHM_CAS(&S->recent_ns[i], &last, began, RELEASE)) {
		}
		BSHM_ADD(&S->turns, 1, RELAXED);
	} else if (!expected(added)) {
		fail("add to what slides", bshm_status_str(added));
	}
}

static void load(bshm_segment *segment, uint64_t *random)
{
	const bshm_parameters parameters = {.error_rate = 0.01, .expansion = 2};
	bshm_build *build;
	bshm_error error;
	char key[32];
	bshm_info info;
	if (bshm_build_begin(segment, filter, strlen(filter), &parameters, &build, &error) != BSHM_OK) {
		if (!expected(error.status)) {
			fail("load", bshm_status_str(error.status));
		}
		return;
	}
	for (uint32_t i = 0; i < GOLDEN; i++) {
		bshm_build_key(build, key, golden_key(key, i), &error);
	}
	const uint32_t rows = BSHM_LOAD(&S->next, SEQ_CST);
	for (uint32_t i = 0; i < rows && i < LEDGER; i++) {
		if (BSHM_LOAD(&S->written[i], SEQ_CST) != 0) {
			bshm_build_key(build, key, ledger_key(key, i), &error);
		}
	}
	if (draw(random) % 8 == 0) {
		bshm_build_abort(build);
	} else if (bshm_build_publish(build, 1, &info, &error) == BSHM_OK) {
		BSHM_ADD(&S->loads, 1, RELAXED);
	} else if (!expected(error.status)) {
		fail("publish", bshm_status_str(error.status));
	}
}

/* Through a file, which may be another's by the time it is read. */
static int travel(bshm_segment *segment, bshm_views *views, const char *from, size_t from_length,
	const char *to, size_t to_length, bshm_error *error)
{
	char file[280];
	uint64_t bytes;
	snprintf(file, sizeof(file), "%s.dump", path);
	const int status = bshm_filter_dump(segment, views, from, from_length, file, &bytes, error);
	return status == BSHM_OK ? bshm_filter_restore(segment, to, to_length, file, error) : status;
}

/* A few hundred keys, which make a growing filter grow; and some of them taken out again. */
static int fill(
	bshm_segment *segment, bshm_views *views, const char *name, size_t length, uint64_t *random)
{
	uint64_t numbers[300];
	bshm_key keys[300];
	bshm_error error;
	uint64_t added;
	for (int i = 0; i < 300; i++) {
		numbers[i] = draw(random) % 100000;
		keys[i] = (bshm_key){(const char *) &numbers[i], sizeof(numbers[i])};
	}
	int status =
		bshm_filter_add_many(segment, views, name, length, keys, 300, NULL, &added, &error);
	for (int i = 0; status >= 0 && i < 100; i++) {
		status =
			bshm_filter_remove(segment, views, name, length, keys[i].bytes, keys[i].length, &error);
	}
	return status;
}

/* Everything else, on filters whose content does not matter. */
static void churn(bshm_segment *segment, bshm_views *views, uint64_t *random)
{
	char a[16];
	char b[16];
	const size_t a_length =
		(size_t) snprintf(a, sizeof(a), "churn %d", (int) (draw(random) % CHURNED));
	const size_t b_length =
		(size_t) snprintf(b, sizeof(b), "churn %d", (int) (draw(random) % CHURNED));
	const uint64_t kind = draw(random) % 4;
	const bshm_parameters parameters = {
		.error_rate = 0.01,
		.capacity = 1 + draw(random) % (kind == 1 ? 200 : 60000),
		.expansion = kind == 1 ? 2 : 0,
		.window_s = kind == 2 ? 1 : 0,
		.counting = kind == 3,
		.seed = "churn",
		.seed_length = 5,
	};
	const bshm_key other = {a, a_length};
	bshm_error error = {0};
	int status = 0;
	switch (draw(random) % 10) {
		case 0:
			status = bshm_filter_reserve(segment, a, a_length, &parameters, &error);
			break;
		case 1:
			status = bshm_filter_drop(segment, a, a_length, &error);
			break;
		case 2:
			status = bshm_filter_rename(segment, a, a_length, b, b_length, &error);
			break;
		case 3:
			status = bshm_filter_copy(segment, a, a_length, b, b_length, &error);
			break;
		case 4:
			status = bshm_filter_clear(segment, a, a_length, &error);
			break;
		case 5:
			status = bshm_filter_merge(segment, b, b_length, &other, 1, &error);
			break;
		case 6:
			status = travel(segment, views, a, a_length, b, b_length, &error);
			break;
		case 7:
		case 8:
			status = fill(segment, views, a, a_length, random);
			break;
		default:
			status = bshm_filter_copy(segment, filter, strlen(filter), b, b_length, &error);
			if (status == BSHM_OK &&
				bshm_filter_has(segment, views, filter, strlen(filter), "golden 1", 8) == 0) {
				fail("source of a copy", "golden 1");
			}
			break;
	}
	if (!expected(status)) {
		fail("churn",
			error.cause == BSHM_CAUSE_NONE ? bshm_status_str(status) : bshm_cause_str(error.cause));
	}
	BSHM_ADD(&S->moves, 1, RELAXED);
}

typedef struct {
	int role;
	uint64_t random;
} actor;

static void *play(void *argument)
{
	actor *self = argument;
	bshm_segment *segment = attach();
	bshm_views *views = bshm_views_new();
	if (self->role < OBSERVERS && !threads && !forbid_waiting()) {
		BSHM_STORE(&S->unwatched, 1, RELAXED);
	}
	while (BSHM_LOAD(&S->stop, RELAXED) == 0) {
		if (self->role < OBSERVERS) {
			observe(segment, views, &self->random);
		} else if (self->role % 3 == 0) {
			load(segment, &self->random);
		} else if (self->role % 3 == 1) {
			add_row(segment, views);
			add_recent(segment, views, &self->random);
			if (draw(&self->random) % 16 == 0) {
				bshm_os_sleep_us(200);
			}
		} else {
			churn(segment, views, &self->random);
		}
	}
	bshm_views_free(views);
	detach(segment);
	return NULL;
}

/* ------------------------------------------------------------------ the show */

static pid_t start_process(int role, uint64_t seed)
{
	const pid_t pid = fork();
	if (pid == 0) {
		actor self = {role, seed};
		play(&self);
		_exit(0);
	}
	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	return pid;
}

static void run_processes(uint64_t until, uint64_t *random)
{
	pid_t actors[OBSERVERS + WORKERS];
	for (int i = 0; i < OBSERVERS + WORKERS; i++) {
		actors[i] = start_process(i, draw(random));
	}
	while (bshm_os_monotonic_ns() < until) {
		bshm_os_sleep_us((unsigned) (draw(random) % 20000));
		const int victim = OBSERVERS + (int) (draw(random) % WORKERS);
		kill(actors[victim], SIGKILL);
		waitpid(actors[victim], NULL, 0);
		BSHM_ADD(&S->kills, 1, RELAXED);
		actors[victim] = start_process(victim, draw(random));
	}
	BSHM_STORE(&S->stop, 1, RELAXED);
	for (int i = 0; i < OBSERVERS + WORKERS; i++) {
		int status;
		waitpid(actors[i], &status, 0);
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) {
			fail("an observer made a system call that may wait", "");
		} else if (status != 0) {
			fail("an actor crashed", "");
		}
	}
}

static void run_threads(uint64_t until, uint64_t *random)
{
	pthread_t handles[OBSERVERS + WORKERS];
	actor actors[OBSERVERS + WORKERS];
	for (int i = 0; i < OBSERVERS + WORKERS; i++) {
		actors[i] = (actor){i, draw(random)};
		pthread_create(&handles[i], NULL, play, &actors[i]);
	}
	while (bshm_os_monotonic_ns() < until) {
		bshm_os_sleep_us(10000);
	}
	BSHM_STORE(&S->stop, 1, RELAXED);
	for (int i = 0; i < OBSERVERS + WORKERS; i++) {
		pthread_join(handles[i], NULL);
	}
}

static void tell(void *context, const char *what, const char *name)
{
	(void) context;
	fail(what, name);
}

/* What the published filters take, and what is free, must be all there is. */
static void check_end(bshm_segment *segment)
{
	bshm_views *views = bshm_views_new();
	bshm_stat stat;
	bshm_error error;
	bshm_segment_stat(segment, &stat, &error); /* takes back what the dead left */
	uint64_t used = 0;
	uint32_t cursor = 0;
	char name[BSHM_NAME_BYTES_MAX + 1];
	do {
		const size_t length = bshm_filter_next(segment, &cursor, name);
		bshm_info info;
		if (length != 0 && bshm_filter_info(segment, views, name, length, &info) == BSHM_OK) {
			used += info.bytes;
		}
	} while (cursor != 0);
	if (used + stat.filter_bytes_free != stat.filter_bytes) {
		fail("memory leaked", "");
	}
	bshm_segment_check(segment, tell, NULL, &(bshm_error){0});
	char key[32];
	for (uint32_t i = 0; i < LEDGER; i++) {
		const size_t length = ledger_key(key, i);
		if (S->confirmed[i] != 0 &&
			(bshm_filter_has(segment, views, filter, strlen(filter), key, length) == 0 ||
				bshm_filter_has(segment, views, grown, strlen(grown), key, length) == 0)) {
			fail("lost in the end", key);
		}
	}
	printf(
		"%llu asked (slowest %.3f ms), %llu added, %llu slid, %llu loads, %llu moves, %llu kills, "
		"%llu repairs, %llu time-outs\n",
		(unsigned long long) S->asked, (double) S->slowest_ns / 1e6, (unsigned long long) S->added,
		(unsigned long long) S->turns, (unsigned long long) S->loads, (unsigned long long) S->moves,
		(unsigned long long) S->kills, (unsigned long long) stat.repairs,
		(unsigned long long) stat.lock_timeouts);
	if (S->unwatched != 0) {
		printf("no seccomp here: whether an observer waits was not looked at\n");
	}
	bshm_views_free(views);
}

/* With what dumps that were cut off have left in it. */
static void remove_folder(const char *folder)
{
	char file[300];
	DIR *entries = opendir(folder);
	const struct dirent *entry;
	while (entries != NULL && (entry = readdir(entries)) != NULL) {
		snprintf(file, sizeof(file), "%s/%s", folder, entry->d_name);
		unlink(file);
	}
	if (entries != NULL) {
		closedir(entries);
	}
	rmdir(folder);
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? strtod(argv[1], NULL) : 5;
	threads = argc > 2 && strcmp(argv[2], "threads") == 0;
	uint64_t seed = (uint64_t) getpid() ^ bshm_os_monotonic_ns();
	if (getenv("BLOOMSHM_SEED") != NULL) {
		seed = strtoull(getenv("BLOOMSHM_SEED"), NULL, 0);
	}
	printf("stress%s: seed %llu (BLOOMSHM_SEED)\n", threads ? " threads" : "",
		(unsigned long long) seed);
	fflush(stdout);
	char folder[] = "/dev/shm/bloomshm-stress.XXXXXX";
	if (mkdtemp(folder) == NULL) {
		perror("mkdtemp");
		return 1;
	}
	snprintf(path, sizeof(path), "%s/segment", folder);
	S = mmap(NULL, sizeof(*S), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (S == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	bshm_segment *segment = attach();
	first = segment;
	uint64_t random = seed;
	S->next = 0;
	load(segment, &(uint64_t){1}); /* 1: this draw publishes */
	bshm_error error;
	const bshm_parameters log = {.error_rate = 0.01, .capacity = 100, .expansion = 2};
	const bshm_parameters window = {.error_rate = 0.01, .capacity = 1000, .window_s = WINDOW_S};
	bshm_filter_reserve(segment, grown, strlen(grown), &log, &error);
	bshm_filter_reserve(segment, recent, strlen(recent), &window, &error);
	const uint64_t until = bshm_os_monotonic_ns() + (uint64_t) (seconds * 1e9);
	if (threads) {
		run_threads(until, &random);
	} else {
		run_processes(until, &random);
	}
	check_end(segment);
	bshm_segment_close(segment);
	remove_folder(folder);
	return S->failures == 0 ? 0 : 1;
}
