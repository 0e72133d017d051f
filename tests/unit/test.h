/*
 * test.h - what the unit tests of the core share.
 *
 * TEST(name) { ... } registers itself. Each test runs in a process of its own, in a directory of
 * its own, under a watchdog; whatever it leaves behind (processes, files) is removed after it.
 * One TAP line a test; what failed is told in comment lines before it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_H
#define BSHM_TEST_H

#include "core/segment/segment.h"
#include "platform/atomic.h"

#include <sys/types.h>

#if defined(__has_feature)
# if __has_feature(thread_sanitizer)
#  define TEST_UNDER_TSAN 1
# endif
#endif
#ifndef TEST_UNDER_TSAN
# define TEST_UNDER_TSAN 0
#endif
/* What an access costs is the sanitizer's then. */
#if defined(__has_feature)
# if __has_feature(address_sanitizer)
#  define TEST_UNDER_ASAN 1
# endif
#endif
#if defined(__SANITIZE_ADDRESS__)
# define TEST_UNDER_ASAN 1
#endif
#ifndef TEST_UNDER_ASAN
# define TEST_UNDER_ASAN 0
#endif

void test_register(const char *file, const char *name, void (*function)(void), bool threads);

#define TEST_REGISTERED(name, threads)                                                             \
 static void name(void);                                                                           \
 static __attribute__((constructor)) void register_##name(void)                                    \
 {                                                                                                 \
  test_register(__FILE__, #name, name, threads);                                                   \
 }                                                                                                 \
 static void name(void)

#define TEST(name) TEST_REGISTERED(name, false)
/* Threads that share one mapping: the only tests that ThreadSanitizer has something to say to. */
#define THREAD_TEST(name) TEST_REGISTERED(name, true)

/* ------------------------------------------------------------------ checks */

/* All of these may be used in child processes and threads too. */
void test_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Has a check of this test failed? */
bool test_failed(void);
/* Ends the test as one that cannot be carried out here. */
_Noreturn void test_skip(const char *why);
/* First in a test that takes more than two seconds of a processor: `script/test quick` skips it. */
void test_slow(void);
/* The same, if it compares counts of accesses or misses. AddressSanitizer sees the same calls in
 * other tests, and would take minutes for this one: script/test-unit sets SKIP_COUNTING_TESTS. */
void test_counts(void);
_Noreturn void test_stop(void);

#define CHECK(condition)                                                                           \
 do {                                                                                              \
  if (!(condition)) {                                                                              \
   test_fail(__FILE__, __LINE__, "%s", #condition);                                                \
  }                                                                                                \
 } while (0)

#define CHECK_INT(actual, expected)                                                                \
 do {                                                                                              \
  const long long actual_ = (long long) (actual);                                                  \
  const long long expected_ = (long long) (expected);                                              \
  if (actual_ != expected_) {                                                                      \
   test_fail(__FILE__, __LINE__, "%s is %lld, not %lld", #actual, actual_, expected_);             \
  }                                                                                                \
 } while (0)

/* For what the rest of the test stands on. */
#define REQUIRE(condition)                                                                         \
 do {                                                                                              \
  if (!(condition)) {                                                                              \
   test_fail(__FILE__, __LINE__, "%s", #condition);                                                \
   test_stop();                                                                                    \
  }                                                                                                \
 } while (0)

/* ------------------------------------------------------------------ randomness */

/* A seed for this run, told in a comment line; TEST_SEED in the environment overrides it. */
uint64_t test_seed(void);
uint64_t test_random(uint64_t *state);

/* ------------------------------------------------------------------ time */

/*
 * The machine may be busy with other work, so no test compares what the clock says with a number.
 * Where time is what is tested, these are compared: the processor's time that this process has
 * taken, and a clock that stands still while this thread could run and had no processor. (Of
 * several threads, each has its own.)
 */
uint64_t test_processor_ns(void);
int64_t test_undelayed_ns(void);

/*
 * What the call answers in the end. A page's call waits 50 ms for a lock; on a busy machine its
 * holder may be without a processor for longer, and the call says TIMEOUT: it is made again, and
 * test_refused counts it. A lock that is never given back is still seen: a call that is refused so
 * often stays refused.
 */
#define REFUSED_MAX 100
/* clang-format off */
#define PATIENTLY(call)                                                                            \
 __extension__({                                                                                   \
  __typeof__(call) answer_;                                                                        \
  unsigned tries_ = 0;                                                                             \
  while ((answer_ = (call)) == BSHM_E_TIMEOUT && tries_++ < REFUSED_MAX) {                         \
   BSHM_ADD(test_refused, 1, RELAXED);                                                             \
  }                                                                                                \
  answer_;                                                                                         \
 })
/* clang-format on */
/* By the test and its children: 0 at the beginning of each test. */
extern uint64_t *test_refused;

/* ------------------------------------------------------------------ processes */

/* Runs `work` in a child, which then exits with 0. */
pid_t spawn(void (*work)(void));
/* Waits for the child's end: its exit code, or the negated number of the signal that ended it. */
int finish(pid_t child);
void kill_child(pid_t child);
/* Returns when the child has been stopped; wake it with kill(child, SIGCONT). */
void stop_child(pid_t child);

/*
 * Stops the child as soon as `condition` holds. False: it was too late, the child went on or has
 * ended; kill or finish it and try again.
 */
bool stop_child_when(pid_t child, bool (*condition)(void));

/* Flags that a test and its children share: false at the beginning of each test. */
#define TEST_FLAG_COUNT 64
void raise_flag(unsigned flag);
void await_flag(unsigned flag);
/* Raises `mine` and then sleeps until it is killed. */
_Noreturn void raise_flag_and_sleep(unsigned flag);
/* Words that a test and its children share: 0 at the beginning of each test. */
#define TEST_WORD_COUNT 16
extern uint64_t *test_words;

/* ------------------------------------------------------------------ segments */

#define MB(count) ((uint64_t) (count) << 20)

/* The path of a file in the test's directory; valid until the fourth call after this one. */
const char *test_path(const char *file);
/* Opens (and creates) the segment "segment" of the test's directory; the test ends if it fails. */
bshm_segment *open_segment(uint64_t bytes);
bshm_segment *open_segment_readonly(void);
/* Lets `copy` use the mapping of `original`, for threads with owners of their own. Both stay
 * open until the test ends. */
void share_mapping(bshm_segment *copy, const bshm_segment *original);

/* Zero terminated names and keys; the views of the calling thread. */
int has(bshm_segment *segment, const char *name, const char *key);
int add(bshm_segment *segment, const char *name, const char *key); /* patiently: see above */
int add_once(bshm_segment *segment, const char *name, const char *key);
/* As a process asks that has not asked before. */
int has_fresh(bshm_segment *segment, const char *name, const char *key);
/* Frees the calling thread's views: at a thread's end, or to ask as if for the first time. */
void forget_views(void);
int reserve(bshm_segment *segment, const char *name, uint64_t capacity, double error_rate);
int drop(bshm_segment *segment, const char *name);
int clear(bshm_segment *segment, const char *name);
int rename_filter(bshm_segment *segment, const char *from, const char *to);
int copy_filter(bshm_segment *segment, const char *from, const char *to);
bool ready(bshm_segment *segment, const char *name);
/* The error of the last call of one of these functions by this thread. */
extern __thread bshm_error last_error;

/* `prefix` followed by a number: a name; valid until the fourth call after this one. */
const char *numbered(const char *prefix, uint64_t number);

/* Makes one layer over `run` the descriptor's own. */
void set_layer(
	bshm_segment *segment, bshm_descriptor *descriptor, bshm_run run, uint32_t hash_count);

/* Keys made of numbers: 8 bytes each. */
int has_number(bshm_segment *segment, const char *name, uint64_t number);
int add_number(bshm_segment *segment, const char *name, uint64_t number); /* patiently */
int add_number_once(bshm_segment *segment, const char *name, uint64_t number);
/* Adds from..to-1 in one call; the status, or how many were certainly new. */
int64_t add_numbers(bshm_segment *segment, const char *name, uint64_t from, uint64_t to);
/* How many of from..to-1 are certainly absent; not answerable counts as no. */
uint64_t absent(bshm_segment *segment, const char *name, uint64_t from, uint64_t to);
/* How many ops are taken. */
uint32_t op_count(const bshm_segment *segment);
/* How many of from..to-1 are (maybe) present, by a sound filter's own answer. */
uint64_t present(bshm_segment *segment, const char *name, uint64_t from, uint64_t to);

bshm_parameters parameters(double error_rate, uint64_t capacity, uint32_t expansion);
/* 1 %, no hint, does not grow; the test ends if it fails. */
bshm_build *begin_build(bshm_segment *segment, const char *name);
/* The first status that is not OK. */
bshm_status offer(bshm_build *build, uint64_t from, uint64_t to);
bshm_status publish(bshm_build *build, bshm_info *info);
/* begin_build, offer, publish. */
bshm_status load(bshm_segment *segment, const char *name, uint64_t from, uint64_t to);

bshm_stat stat_of(bshm_segment *segment);
bshm_info info_of(bshm_segment *segment, const char *name);
/* The entry that stands for a name; the test ends if there is none. */
bshm_entry *entry_of(bshm_segment *segment, const char *name);
/* Faults that bshm_segment_check() finds, each told in a comment line. */
int faults(bshm_segment *segment);

#endif
