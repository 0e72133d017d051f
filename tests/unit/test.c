/*
 * test.c - runs the registered tests, and the helpers of test.h.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "../busy.h"

#include "core/segment/directory.h"
#include "core/segment/layers.h"
#include "core/segment/name.h"
#include "platform/platform.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TESTS_MAX     128
#define FAILURES_TOLD 8
#define EXIT_SKIPPED  77
/* Only for what hangs or spins for ever: on a busy machine a test takes many times its time. */
#define WATCHDOG_SECONDS  1200
#define PROCESSOR_SECONDS 300

typedef struct {
	const char *file;
	const char *name;
	void (*function)(void);
	bool threads;
} test;

/* One page, shared by a test and its children. */
typedef struct {
	uint32_t failures;
	uint32_t flags[TEST_FLAG_COUNT];
	uint64_t words[TEST_WORD_COUNT];
	uint64_t refused;
} blackboard;

static test tests[TESTS_MAX];
static size_t test_count;
static blackboard *board;
static char directory[128];

uint64_t *test_words;
uint64_t *test_refused;
__thread bshm_error last_error;
_Thread_local bshm_held bshm__held;

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
static void tell(const char *format, va_list arguments)
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
	tell(format, arguments);
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

/* ------------------------------------------------------------------ processes */

pid_t spawn(void (*work)(void))
{
	const pid_t parent = getpid();
	const pid_t child = fork();
	REQUIRE(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent) {
			work();
		}
		_exit(0);
	}
	return child;
}

int finish(pid_t child)
{
	int status = 0;
	pid_t got;
	do {
		got = waitpid(child, &status, 0);
	} while (got < 0 && errno == EINTR);
	REQUIRE(got == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void kill_child(pid_t child)
{
	kill(child, SIGKILL);
	finish(child);
}

void stop_child(pid_t child)
{
	int status;
	kill(child, SIGSTOP);
	REQUIRE(waitpid(child, &status, WUNTRACED) == child);
	REQUIRE(WIFSTOPPED(status));
}

bool stop_child_when(pid_t child, bool (*condition)(void))
{
	siginfo_t end = {0};
	while (!condition()) {
		if (waitid(P_PID, (id_t) child, &end, WEXITED | WNOHANG | WNOWAIT) != 0 ||
			end.si_pid == child) {
			return false;
		}
	}
	kill(child, SIGSTOP);
	REQUIRE(waitid(P_PID, (id_t) child, &end, WEXITED | WSTOPPED | WNOWAIT) == 0);
	return end.si_code == CLD_STOPPED && condition();
}

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

void raise_flag_and_sleep(unsigned flag)
{
	raise_flag(flag);
	for (;;) {
		pause();
	}
}

/* ------------------------------------------------------------------ segments */

const char *test_path(const char *file)
{
	static char paths[4][sizeof(directory) + 64];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", directory, file);
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
	copy->tables = original->tables;
	copy->page_headers = original->page_headers;
	copy->page_bitmaps = original->page_bitmaps;
	copy->pages = original->pages;
}

static __thread bshm_views *views;

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
	static __thread char names[4][64];
	static __thread unsigned next;
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

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void) st;
	(void) type;
	(void) ftw;
	return remove(path);
}

static bool make_directory(void)
{
	/* Memory, where there is some: the segment reserves what it is asked for. */
	const char *base = getenv("TMPDIR");
	base = base != NULL ? base : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(directory, sizeof(directory), "%s/bshm-test-XXXXXX", base);
	return mkdtemp(directory) != NULL;
}

/* Children have the limit of processor time too, each its own. */
static void watch(void)
{
	const struct rlimit limit = {PROCESSOR_SECONDS, PROCESSOR_SECONDS + 10};
	setrlimit(RLIMIT_CPU, &limit);
	alarm(WATCHDOG_SECONDS);
}

static const char *why_ended(int signal_number)
{
	return signal_number == SIGALRM   ? ": it took too long"
		   : signal_number == SIGXCPU ? ": it took too much of the processor"
									  : "";
}

static int run_in_child(const test *t)
{
	const pid_t runner = getpid();
	const pid_t child = fork();
	if (child == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		watch();
		if (getppid() == runner) {
			t->function();
		}
		exit(0); /* not _exit: the leak checker looks now */
	}
	int status = -1;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
	}
	kill(-child, SIGKILL); /* what it left running */
	while (waitpid(-1, NULL, 0) > 0) {
	}
	return status;
}

static bool run(const test *t)
{
	memset(board, 0, sizeof(*board));
	if (!make_directory()) {
		printf("not ok - %s: no directory %s: %s\n", t->file, directory, strerror(errno));
		return false;
	}
	const int status = run_in_child(t);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	char title[256];
	snprintf(title, sizeof(title), "%s: %s", t->file, t->name);
	for (char *c = title + strlen(t->file); *c != '\0'; c++) {
		*c = *c == '_' ? ' ' : *c;
	}
	const bool skipped = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED;
	const bool passed =
		!test_failed() && (skipped || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
	if (!passed && WIFSIGNALED(status)) {
		printf("# ended by signal %d%s\n", WTERMSIG(status), why_ended(WTERMSIG(status)));
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
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	test_words = board->words;
	test_refused = &board->refused;
	bool passed = true;
	for (size_t i = 0; i < test_count; i++) {
		if (wanted(&tests[i], argc - 1, argv + 1)) {
			passed &= run(&tests[i]);
		}
	}
	return passed ? 0 : 1;
}
