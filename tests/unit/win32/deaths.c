/*
 * deaths.c - processes that are terminated while they hold something, on Windows.
 *
 *   deaths            runs each death, and prints TAP lines
 *   deaths ROLE PATH  a process that takes what its role says, tells so, and waits to be terminated
 *
 * After each death another process goes on with the same segment: it mends what was left, within
 * the time that a call waits, and the validator finds no fault.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm_records.h"
#include "core/cache/index.h"
#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"
#include "core/segment/owners.h"
#include "core/segment/segment.h"
#include "platform/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

#define WAIT_NS UINT64_C(10000000000) /* of a busy machine */

BSHM_THREAD_LOCAL bshm_held bshm__held;

void test_skip(const char *why) /* of posix.h */
{
	puts(why);
	exit(1);
}

static bshm_error error;
static bool failed;

#define CHECK(condition)                                                                           \
 do {                                                                                              \
  if (!(condition)) {                                                                              \
   printf("# line %d: %s (%s, %d)\n", __LINE__, #condition, bshm_cause_str(error.cause),           \
	   error.os_code);                                                                             \
   failed = true;                                                                                  \
  }                                                                                                \
 } while (0)

static bshm_segment *open_segment(const char *path)
{
	const bshm_options options = {.path = path,
		.filter_bytes = 1 << 20,
		.cache_bytes = 4 << 20,
		.cache_records = 1000,
		.mode = 0600};
	bshm_segment *segment = NULL;
	const uint64_t until = bshm_now_ns() + WAIT_NS;
	while (bshm_segment_open(&options, &segment, &error) == BSHM_E_BUSY && bshm_now_ns() < until) {
		bshm_sleep_us(1000);
	}
	if (segment == NULL) {
		printf("# %s does not open: %s, %d\n", path, bshm_cause_str(error.cause), error.os_code);
		exit(1);
	}
	return segment;
}

static void sleep_for_ever(void)
{
	puts("ready");
	fflush(stdout);
	Sleep(INFINITE);
}

/* ------------------------------------------------------------------ who dies */

static const bshm_key key = {"key", 3};

static void die_in_lock(bshm_segment *segment)
{
	bool dead;
	CHECK(bshm__lock_take(segment, WAIT_NS, &dead, &error) == BSHM_OK);
	sleep_for_ever();
}

static void die_in_shard(bshm_segment *segment)
{
	const bshm__home home = bshm__home_of(segment, BSHM_SPACE_CACHE, &key);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	CHECK(bshm__shard_lock(&s, WAIT_NS, &error) == BSHM_OK);
	sleep_for_ever();
}

static void die_with_lease(bshm_segment *segment)
{
	bshm_lease_grant grant;
	CHECK(bshm_lease_take(segment, BSHM_SPACE_CACHE, &key, false, NULL, &grant) == BSHM_LEASE_MINE);
	sleep_for_ever();
}

static void die_loading(bshm_segment *segment)
{
	const bshm_parameters p = {.error_rate = 0.01, .capacity = 1000};
	bshm_build *build;
	CHECK(bshm_build_begin(segment, "f", 1, &p, &build, &error) == BSHM_OK);
	CHECK(bshm_build_key(build, "key", 3, &error) == BSHM_OK);
	sleep_for_ever();
}

/* Terminated at any moment of its work. */
static void die_storing(bshm_segment *segment)
{
	puts("ready");
	fflush(stdout);
	for (uint64_t i = 0;; i++) {
		char value[300] = {0};
		const uint64_t number = i % 1000;
		const bshm_put put = {.key = {(const char *) &number, sizeof(number)},
			.value = {BSHM_VALUE_STRING, value, (uint32_t) (i % sizeof(value))}};
		bshm_record_put(segment, &put, &error);
	}
}

/* ------------------------------------------------------------------ what is left */

static bool store(bshm_segment *segment)
{
	const bshm_put put = {.key = key, .value = {BSHM_VALUE_STRING, "value", 5}};
	return bshm_record_put(segment, &put, &error) == 1;
}

static void go_on_storing(bshm_segment *segment)
{
	CHECK(store(segment));
}

static void go_on_in_lock(bshm_segment *segment)
{
	const bshm_parameters p = {.error_rate = 0.01, .capacity = 1000};
	CHECK(bshm_filter_reserve(segment, "g", 1, &p, &error) == 1);
}

static void go_on_with_lease(bshm_segment *segment)
{
	bshm_lease_grant grant;
	bshm_lease_status status =
		bshm_lease_take(segment, BSHM_SPACE_CACHE, &key, false, NULL, &grant);
	if (status == BSHM_LEASE_TAKEN) { /* a waiter finds that the process is gone */
		CHECK(!bshm_lease_held(segment, &grant, true));
		status = bshm_lease_take(segment, BSHM_SPACE_CACHE, &key, false, NULL, &grant);
	}
	CHECK(status == BSHM_LEASE_MINE);
	CHECK(bshm_lease_release(segment, &grant, NULL, NULL, &error) == 0);
}

/* The load's memory is given back, and the name is free. */
static void go_on_loading(bshm_segment *segment)
{
	bshm_stat stat;
	go_on_in_lock(segment);
	CHECK(bshm_filter_drop(segment, "g", 1, &error) == 1);
	CHECK(bshm_segment_stat(segment, &stat, &error) == BSHM_OK);
	CHECK(stat.filter_bytes_free == stat.filter_bytes);
}

static const struct {
	const char *name;
	void (*die)(bshm_segment *segment);
	void (*go_on)(bshm_segment *segment);
	unsigned times;
} deaths[] = {
	{"lock", die_in_lock, go_on_in_lock, 3},
	{"shard", die_in_shard, go_on_storing, 3},
	{"lease", die_with_lease, go_on_with_lease, 3},
	{"load", die_loading, go_on_loading, 3},
	{"store", die_storing, go_on_storing, 10},
};
#define DEATHS (sizeof(deaths) / sizeof(deaths[0]))

/* ------------------------------------------------------------------ running */

/* Starts a process that plays the role; returns when it says that it is ready. */
static HANDLE start(const char *program, const char *role, const char *path)
{
	char line[1024];
	char said;
	DWORD count = 0;
	HANDLE ours;
	HANDLE theirs;
	SECURITY_ATTRIBUTES inherited = {sizeof(inherited), NULL, TRUE};
	STARTUPINFOA info = {.cb = sizeof(info), .dwFlags = STARTF_USESTDHANDLES};
	PROCESS_INFORMATION child;
	CHECK(CreatePipe(&ours, &theirs, &inherited, 0));
	SetHandleInformation(ours, HANDLE_FLAG_INHERIT, 0);
	info.hStdOutput = theirs;
	snprintf(line, sizeof(line), "\"%s\" %s %s", program, role, path);
	if (!CreateProcessA(program, line, NULL, NULL, TRUE, 0, NULL, NULL, &info, &child)) {
		printf("# no process: %lu\n", GetLastError());
		exit(1);
	}
	CloseHandle(theirs);
	CHECK(ReadFile(ours, &said, 1, &count, NULL) && count == 1);
	CloseHandle(ours);
	CloseHandle(child.hThread);
	return child.hProcess;
}

static void tell_fault(void *context, const char *what, const char *name)
{
	(void) context;
	printf("# fault: %s (%s)\n", what, name);
}

static void run(const char *program, unsigned which, const char *path)
{
	failed = false;
	bshm_segment *segment = open_segment(path);
	uint64_t longest_ns = 0;
	for (unsigned i = 0; i < deaths[which].times; i++) {
		HANDLE child = start(program, deaths[which].name, path);
		Sleep(i * 7);
		CHECK(bshm__owner_count(segment) == 2);
		CHECK(TerminateProcess(child, 1));
		CHECK(WaitForSingleObject(child, INFINITE) == WAIT_OBJECT_0);
		CloseHandle(child);
		const uint64_t died_ns = bshm_now_ns();
		deaths[which].go_on(segment);
		const uint64_t took_ns = bshm_now_ns() - died_ns;
		longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
		CHECK(bshm_segment_check(segment, tell_fault, NULL, &error) == 0);
		CHECK(bshm__owner_count(segment) == 1);
		bshm_filter_drop(segment, "g", 1, &error);
	}
	bshm_segment_close(segment);
	printf("# at most %.1f ms\n", (double) longest_ns / 1e6);
	printf("%s - deaths: %u times at the %s\n", failed ? "not ok" : "ok", deaths[which].times,
		deaths[which].name);
}

int main(int argc, char **argv)
{
	char path[256];
	bool all = true;
	setvbuf(stdout, NULL, _IONBF, 0);
	for (unsigned i = 0; i < DEATHS; i++) {
		if (argc == 3 && strcmp(argv[1], deaths[i].name) == 0) {
			deaths[i].die(open_segment(argv[2]));
			return 1;
		}
	}
	const char *folder = getenv("TEST_FOLDER");
	for (unsigned i = 0; i < DEATHS; i++) {
		snprintf(path, sizeof(path), "%s/%s.seg", folder == NULL ? "." : folder, deaths[i].name);
		run(argv[0], i, path);
		all = all && !failed;
	}
	return all ? 0 : 1;
}
