/*
 * storm.c - processes that do everything with records and filters are killed; no other one notices.
 *
 *   storm KILLS [PHP EXTENSION]     with the latter, some of the workers are PHP scripts: storm.php
 *
 * Workers put, change, read, lease, scan, dump and restore; PHP workers do all that a page and a
 * batch can do. Each is killed at a random moment, and replaced. Two observers, which are never
 * killed, ask for keys and records that were there before: none may be missing, no value may be
 * another than was put, and no call may wait, or begin anew again and again. A value tells its
 * key's number, its length and a serial number, and the rest follows from them; so every process
 * checks every value that it reads.
 *
 * Ends with the validator, and with all memory that must be free again. Prints its seed
 * (BLOOMSHM_SEED).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE
#endif

#include "core/bshm_records.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include "observer.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GOLDEN       2000
#define GOLDEN_FILES 200 /* records */
#define CHURNED      500
#define OBSERVERS    2
#define C_WORKERS    5
#define PHP_WORKERS  2
#define ACTORS       (OBSERVERS + C_WORKERS + PHP_WORKERS)
#define LENGTH_MAX   40000
#define TRIES_MOST   1000u              /* to read a value */
#define PHP_START_NS UINT64_C(60000000) /* of the processor: who had less has done nothing yet */

typedef struct {
	uint32_t stop;
	uint64_t failures;
	uint64_t observed;
	uint32_t unwatched; /* observers: their system calls could not be */
	uint32_t most_tries;
	uint64_t calls;
	uint64_t refused; /* time-outs */
} shared_state;

static shared_state *S;
static char folder[] = "/dev/shm/bloomshm-storm.XXXXXX";
static char path[64];
static char **php; /* NULL = none */

static uint64_t draw(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t x = *state;
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static void fail(const char *what, const char *which)
{
	BSHM_ADD(&S->failures, 1, RELAXED);
	fprintf(stderr, "FAILURE: %s %s\n", what, which);
}

static bshm_segment *attach(void)
{
	const bshm_options options = {
		.path = path, .filter_bytes = 16 << 20, .cache_bytes = 16 << 20, .mode = 0600};
	bshm_segment *segment;
	bshm_error error;
	if (bshm_segment_open(&options, &segment, &error) != BSHM_OK) {
		fprintf(stderr, "cannot attach: %s (%s)\n", bshm_status_str(error.status),
			bshm_cause_str(error.cause));
		_exit(1);
	}
	return segment;
}

/* ------------------------------------------------------------------ values */

/* "NUMBER:LENGTH:SERIAL:" and then one letter; storm.php makes and reads the same. */
static void make_value(char *to, unsigned number, unsigned length, unsigned serial)
{
	char head[40];
	const size_t count = (size_t) snprintf(head, sizeof(head), "%u:%u:%u:", number, length, serial);
	memset(to, 'a' + (int) ((number + serial) % 26), length);
	memcpy(to, head, count < length ? count : length);
}

static bool is_value(const char *bytes, uint64_t count, unsigned number)
{
	static char expected[LENGTH_MAX + 1];
	char head[40] = "";
	unsigned told = 0;
	unsigned length = 0;
	unsigned serial = 0;
	memcpy(head, bytes, count < sizeof(head) - 1 ? (size_t) count : sizeof(head) - 1);
	if (sscanf(head, "%u:%u:%u:", &told, &length, &serial) != 3 || told != number ||
		length != count || count > LENGTH_MAX) {
		return false;
	}
	make_value(expected, number, length, serial);
	return memcmp(bytes, expected, (size_t) count) == 0;
}

/* 1 = there and whole, 0 = absent. */
static int read_value(bshm_segment *segment, const char *kind, unsigned number)
{
	static char bytes[LENGTH_MAX + 1];
	char name[32];
	const size_t length = (size_t) snprintf(name, sizeof(name), "%s %u", kind, number);
	const bshm_key key = {name, length};
	bshm_found found;
	uint32_t tries = 0;
	do {
		if (tries++ == TRIES_MOST) {
			fail("a value cannot be read", name);
			return 0;
		}
		if (bshm_record_find(segment, BSHM_SPACE_CACHE, &key, BSHM_FIND_USE, &found) != 1) {
			return 0;
		}
		if (found.length > LENGTH_MAX) {
			fail("a value too long", name);
			return 0;
		}
	} while (!bshm_found_copy(&found, bytes));
	uint32_t most = BSHM_LOAD(&S->most_tries, RELAXED);
	while (tries > most && !BSHM_CAS(&S->most_tries, &most, tries, RELAXED)) {
	}
	if (!is_value(bytes, found.length, number)) {
		fail("a value that was never put", name);
	}
	return 1;
}

static bool expected(int status)
{
	BSHM_ADD(&S->refused, status == BSHM_E_TIMEOUT, RELAXED);
	return status >= 0 || status == BSHM_E_TIMEOUT || status == BSHM_E_NO_SPACE ||
		   status == BSHM_E_INCOMPATIBLE || status == BSHM_E_IO || status == BSHM_E_CORRUPT;
}

static uint64_t processor_ns(pid_t pid)
{
	clockid_t clock;
	struct timespec taken;
	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &taken) != 0) {
		return 0;
	}
	return (uint64_t) taken.tv_sec * UINT64_C(1000000000) + (uint64_t) taken.tv_nsec;
}

/* ------------------------------------------------------------------ observers */

static void observe(bshm_segment *segment, bshm_views *views, uint64_t *random)
{
	char name[32];
	const unsigned number = (unsigned) (draw(random) % GOLDEN);
	const size_t length = (size_t) snprintf(name, sizeof(name), "golden %u", number);
	if (bshm_filter_has(segment, views, "golden", 6, name, length) == 0) {
		fail("false negative", name);
	}
	if (read_value(segment, "golden", number % GOLDEN_FILES) != 1) {
		fail("a record is gone", name);
	}
	read_value(segment, "churn", (unsigned) (draw(random) % CHURNED));
	BSHM_ADD(&S->observed, 1, RELAXED);
}

/* ------------------------------------------------------------------ workers */

static bshm_error error;

static int put(bshm_segment *segment, const bshm_key *key, unsigned number, uint64_t *random)
{
	static char bytes[LENGTH_MAX + 1];
	const uint64_t kind = draw(random);
	const unsigned length = 30 + (unsigned) (draw(random) % (kind % 16 == 0 ? 39000 : 400));
	make_value(bytes, number, length, (unsigned) (draw(random) % 1000000));
	const bshm_put what = {
		.key = *key,
		.value = {BSHM_VALUE_STRING, bytes, length},
		.ttl_s = kind % 4 == 0 ? 1 + (uint32_t) (kind % 7) : 0,
		.mode = (bshm_put_mode) (kind % 32 < 3 ? kind % 32 : 0), /* not CAS */
	};
	return bshm_record_put(segment, &what, &error);
}

static int lease(bshm_segment *segment, const bshm_key *key, unsigned number, uint64_t *random)
{
	bshm_lease_grant grant;
	char bytes[100];
	make_value(bytes, number, sizeof(bytes), (unsigned) (draw(random) % 1000000));
	const bshm_put what = {.key = *key, .value = {BSHM_VALUE_STRING, bytes, sizeof(bytes)}};
	if (bshm_lease_take(segment, BSHM_SPACE_CACHE, key, false, NULL, &grant) != BSHM_LEASE_MINE) {
		return 0;
	}
	bshm_os_sleep_us((unsigned) (draw(random) % 500)); /* the loader, in which many are killed */
	return bshm_lease_release(segment, &grant, draw(random) % 4 == 0 ? NULL : &what, NULL, &error);
}

static int scan(bshm_segment *segment)
{
	bshm_scan steps = {0};
	do {
		bshm_scan_next(segment, &steps, 0);
	} while (steps.cursor != 0 && BSHM_LOAD(&S->stop, RELAXED) == 0);
	bshm_scan_free(&steps);
	return 0;
}

static int travel(bshm_segment *segment)
{
	char file[80];
	uint64_t count;
	snprintf(file, sizeof(file), "%s/records", folder);
	const int status = bshm_store_dump(segment, file, &count, &error);
	return status == BSHM_OK ? bshm_store_restore(segment, file, &count, &error) : status;
}

static int change(bshm_segment *segment, unsigned number)
{
	char name[32];
	int64_t out;
	uint64_t length = 0;
	bshm_key key = {name, (size_t) snprintf(name, sizeof(name), "count %u", number % 20)};
	int status =
		bshm_record_increment(segment, &(bshm_increment){.key = key, .by = 1}, &out, &error);
	if (status == 1 && out < 1) {
		fail("a count above the truth", name);
	}
	key.length = (size_t) snprintf(name, sizeof(name), "text %u", number % 20);
	if (status >= 0) {
		status = bshm_record_append(segment, &key, &key, &(bshm_key){",", 1}, &length, &error);
	}
	return length > 5000 ? bshm_record_remove(segment, BSHM_SPACE_CACHE, &key, &error) : status;
}

/* The one that was not used for longest goes, unless it is one that must stay. */
static int remove_oldest(bshm_segment *segment)
{
	char name[BSHM_KEY_BYTES_MAX];
	bshm_found found;
	if (bshm_record_oldest(segment, &found) != 1 || !bshm_found_copy_key(&found, name) ||
		memcmp(name, "golden", 6) == 0) {
		return 0;
	}
	return bshm_found_remove(&found, &(bshm_key){name, found.key_length}, NULL, &error);
}

static void work(bshm_segment *segment, uint64_t *random)
{
	char name[32];
	const unsigned number = (unsigned) (draw(random) % CHURNED);
	const bshm_key key = {name, (size_t) snprintf(name, sizeof(name), "churn %u", number)};
	int status;
	switch (draw(random) % 40) {
		case 0:
			status = scan(segment);
			break;
		case 1:
			status = draw(random) % 16 == 0 ? travel(segment) : 0;
			break;
		case 2:
			status = remove_oldest(segment);
			break;
		case 3:
		case 4:
			status = bshm_record_remove(segment, BSHM_SPACE_CACHE, &key, &error);
			break;
		case 5:
		case 6:
			status = bshm_record_touch(segment, &key, (uint32_t) (draw(random) % 3), &error);
			break;
		case 7:
		case 8:
			status = change(segment, number);
			break;
		case 9:
		case 10:
			status = lease(segment, &key, number, random);
			break;
		case 11:
			if (draw(random) % 8 == 0) {
				bshm_records_clear(segment, &(bshm_key){"no such key", 11});
			}
			status = bshm_record_forget(segment, BSHM_SPACE_CACHE, &key, NULL, &error);
			break;
		default:
			status = draw(random) % 3 == 0 ? read_value(segment, "churn", number)
										   : put(segment, &key, number, random);
			break;
	}
	if (!expected(status)) {
		fail(bshm_status_str((bshm_status) status), status < 0 ? bshm_cause_str(error.cause) : "");
	}
	BSHM_ADD(&S->calls, 1, RELAXED);
}

static void play(int role, uint64_t random)
{
	bshm_segment *segment = attach();
	bshm_views *views = bshm_views_new();
	if (role < OBSERVERS && !forbid_waiting()) {
		BSHM_STORE(&S->unwatched, 1, RELAXED);
	}
	while (BSHM_LOAD(&S->stop, RELAXED) == 0) {
		if (role < OBSERVERS) {
			observe(segment, views, &random);
		} else {
			work(segment, &random);
		}
	}
	bshm_views_free(views);
}

static void play_php(uint64_t random)
{
	char extension[300];
	char segment[100];
	char seed[32];
	snprintf(extension, sizeof(extension), "extension=%s", php[1]);
	snprintf(segment, sizeof(segment), "bloomshm.path=%s", path);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long) (random >> 33));
	execl(php[0], php[0], "-n", "-d", extension, "-d", segment, "-d", "bloomshm.filter_memory=16M",
		"-d", "bloomshm.cache_memory=16M", "tests/stress/storm.php", folder, seed, (char *) NULL);
	perror(php[0]);
	_exit(1);
}

/* ------------------------------------------------------------------ the storm */

static bool is_php(int role)
{
	return role >= OBSERVERS + C_WORKERS && php != NULL;
}

static pid_t start(int role, uint64_t *random)
{
	const uint64_t seed = draw(random);
	const pid_t pid = fork();
	if (pid == 0) {
		if (is_php(role)) {
			play_php(seed);
		}
		play(role, seed);
		_exit(0);
	}
	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	return pid;
}

static void run(uint64_t kills, uint64_t *random)
{
	pid_t actors[ACTORS];
	int status;
	for (int i = 0; i < ACTORS; i++) {
		actors[i] = start(i, random);
	}
	for (uint64_t killed = 0; killed < kills && BSHM_LOAD(&S->failures, RELAXED) < 10;) {
		bshm_os_sleep_us((unsigned) (draw(random) % 12000));
		const int i = OBSERVERS + (int) (draw(random) % (ACTORS - OBSERVERS));
		const bool young = is_php(i) && processor_ns(actors[i]) < PHP_START_NS;
		if (waitpid(actors[i], &status, WNOHANG) == actors[i]) {
			fail("a worker ended by itself", is_php(i) ? "(PHP)" : "");
		} else if (young) {
			continue;
		} else {
			kill(actors[i], SIGKILL);
			waitpid(actors[i], &status, 0);
			killed++;
		}
		actors[i] = start(i, random);
	}
	BSHM_STORE(&S->stop, 1, RELAXED);
	for (int i = 0; i < ACTORS; i++) {
		if (is_php(i)) {
			kill(actors[i], SIGKILL);
		}
		waitpid(actors[i], &status, 0);
		if (!is_php(i) && status != 0) {
			const bool waited = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
			fail(waited ? "an observer made a system call that may wait" : "an actor crashed", "");
		}
	}
}

static void begin(bshm_segment *segment, bshm_views *views)
{
	static char bytes[LENGTH_MAX];
	char name[32];
	const bshm_parameters parameters = {.error_rate = 0.01, .capacity = GOLDEN};
	int status = bshm_filter_reserve(segment, "golden", 6, &parameters, &error);
	for (unsigned i = 0; i < GOLDEN && status >= 0; i++) {
		const size_t length = (size_t) snprintf(name, sizeof(name), "golden %u", i);
		status = bshm_filter_add(segment, views, "golden", 6, name, length, &error);
	}
	for (unsigned i = 0; i < GOLDEN_FILES && status >= 0; i++) {
		const unsigned bytes_count = 30 + i * i % 9000;
		make_value(bytes, i, bytes_count, i);
		const bshm_put what = {
			.key = {name, (size_t) snprintf(name, sizeof(name), "golden %u", i)},
			.value = {BSHM_VALUE_STRING, bytes, bytes_count},
		};
		status = bshm_record_put(segment, &what, &error);
	}
	if (status < 0) {
		fail("to begin with", bshm_status_str((bshm_status) status));
	}
}

static void tell(void *context, const char *what, const char *name)
{
	(void) context;
	fail(what, name);
}

static void check_filters(bshm_segment *segment, bshm_views *views)
{
	char name[BSHM_NAME_BYTES_MAX + 1];
	uint32_t cursor = 0;
	bshm_stat figures;
	bshm_info golden;
	do {
		const size_t length = bshm_filter_next(segment, &cursor, name);
		if (length != 0 && strcmp(name, "golden") != 0) {
			bshm_filter_drop(segment, name, length, &error);
		}
	} while (cursor != 0);
	bshm_segment_stat(segment, &figures, &error);
	if (bshm_filter_info(segment, views, "golden", 6, &golden) != BSHM_OK || figures.filters != 1 ||
		figures.filter_bytes_free + golden.bytes != figures.filter_bytes) {
		fail("memory of filters is lost", "");
	}
}

static void check_records(bshm_segment *segment)
{
	bshm_scan steps = {0};
	bshm_store_info figures;
	do {
		bshm_scan_next(segment, &steps, 0);
		for (unsigned i = 0; i < steps.count; i++) {
			if (steps.keys[i].length < 6 || memcmp(steps.keys[i].bytes, "golden", 6) != 0 ||
				steps.spaces[i] != BSHM_SPACE_CACHE) {
				bshm_record_remove(segment, steps.spaces[i], &steps.keys[i], &error);
			}
		}
	} while (steps.cursor != 0);
	bshm_scan_free(&steps);
	for (unsigned i = 0; i < GOLDEN_FILES; i++) {
		if (read_value(segment, "golden", i) != 1) {
			fail("a record is gone in the end", "");
		}
	}
	bshm_store_stat(segment, &figures);
	/* Those that have expired are still taken out when their place is needed, not before. */
	const uint64_t left = figures.records - GOLDEN_FILES;
	if (left > CHURNED) {
		fail("records are left", "");
	}
	printf("%llu kills mended in the store, %llu time-outs, %llu evictions, %llu expired\n",
		(unsigned long long) figures.repairs, (unsigned long long) figures.lock_timeouts,
		(unsigned long long) figures.evictions, (unsigned long long) figures.expired);
}

static void remove_folder(void)
{
	char file[400];
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
	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: storm KILLS [PHP EXTENSION]\n");
		return 1;
	}
	php = argc == 4 ? argv + 2 : NULL;
	uint64_t seed = (uint64_t) getpid() ^ bshm_os_monotonic_ns();
	if (getenv("BLOOMSHM_SEED") != NULL) {
		seed = strtoull(getenv("BLOOMSHM_SEED"), NULL, 0);
	}
	printf("storm: seed %llu (BLOOMSHM_SEED)\n", (unsigned long long) seed);
	fflush(stdout);
	S = mmap(NULL, sizeof(*S), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mkdtemp(folder) == NULL || S == MAP_FAILED) {
		perror("storm");
		return 1;
	}
	snprintf(path, sizeof(path), "%s/segment", folder);
	bshm_segment *segment = attach();
	bshm_views *views = bshm_views_new();
	begin(segment, views);
	run(strtoull(argv[1], NULL, 10), &seed);
	bshm_segment_check(segment, tell, NULL, &(bshm_error){0});
	check_filters(segment, views);
	check_records(segment);
	bshm_segment_check(segment, tell, NULL, &(bshm_error){0});
	if (S->unwatched != 0) {
		printf("no seccomp here: whether an observer waits was not looked at\n");
	}
	printf("%s kills; %llu calls, %llu refused; %llu observed, most tries %u; %llu failures\n",
		argv[1], (unsigned long long) S->calls, (unsigned long long) S->refused,
		(unsigned long long) S->observed, S->most_tries, (unsigned long long) S->failures);
	bshm_views_free(views);
	bshm_segment_close(segment);
	remove_folder();
	return S->failures == 0 ? 0 : 1;
}
