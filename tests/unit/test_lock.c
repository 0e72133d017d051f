/*
 * test_lock.c - the writer lock: exclusion, waiting, and taking over from the dead.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/mend.h"
#include "core/segment/lock.h"
#include "platform/platform.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

static bshm_segment *segment;

static bshm_status lock_for(uint64_t wait_ns)
{
	return bshm__lock(segment, wait_ns, &last_error);
}

static void lock_and_sleep(void)
{
	REQUIRE(lock_for(BSHM_LOCK_BATCH_NS) == BSHM_OK);
	raise_flag_and_sleep(0);
}

static void lock_and_exit(void)
{
	REQUIRE(lock_for(BSHM_LOCK_BATCH_NS) == BSHM_OK);
}

TEST(the_lock_is_taken_and_given_back)
{
	segment = open_segment(MB(1));
	for (int i = 0; i < 1000; i++) {
		CHECK_INT(lock_for(0), BSHM_OK);
		CHECK_INT(segment->header->lock, segment->owner);
		bshm__unlock(segment);
		CHECK_INT(segment->header->lock, 0);
	}
	CHECK_INT(stat_of(segment).repairs, 0);
	CHECK_INT(stat_of(segment).lock_timeouts, 0);
}

TEST(a_killed_holders_lock_is_taken_over)
{
	segment = open_segment(MB(1));
	const pid_t child = spawn(lock_and_sleep);
	await_flag(0);
	CHECK(segment->header->lock != 0 && segment->header->lock != segment->owner);
	kill_child(child);
	CHECK_INT(lock_for(BSHM_LOCK_PAGE_NS), BSHM_OK);
	CHECK_INT(segment->header->lock, segment->owner);
	CHECK_INT(segment->header->repairs, 1);
	bshm__unlock(segment);
	CHECK_INT(segment->header->lock_timeouts, 0);
}

TEST(a_lock_left_by_an_exit_is_taken_over)
{
	segment = open_segment(MB(1));
	CHECK_INT(finish(spawn(lock_and_exit)), 0);
	CHECK(segment->header->lock != 0);
	CHECK_INT(lock_for(BSHM_LOCK_PAGE_NS), BSHM_OK);
	bshm__unlock(segment);
}

TEST(a_stopped_holder_keeps_its_lock)
{
	segment = open_segment(MB(1));
	const pid_t child = spawn(lock_and_sleep);
	await_flag(0);
	stop_child(child);
	const uint64_t word = segment->header->lock;
	for (int i = 1; i <= 3; i++) {
		const uint64_t began = bshm_os_monotonic_ns();
		CHECK_INT(lock_for(BSHM_LOCK_PAGE_NS), BSHM_E_TIMEOUT);
		CHECK(bshm_os_monotonic_ns() - began >= BSHM_LOCK_PAGE_NS);
		CHECK_INT(last_error.status, BSHM_E_TIMEOUT);
		CHECK(last_error.cause == BSHM_CAUSE_LOCK);
		CHECK_INT(last_error.asked, 50); /* ms */
		CHECK_INT(segment->header->lock, word);
		CHECK_INT(segment->header->lock_timeouts, i);
	}
	CHECK_INT(reserve(segment, "f", 10, 0.01), BSHM_E_TIMEOUT);
	CHECK_INT(segment->header->repairs, 0);
	kill_child(child);
	CHECK_INT(reserve(segment, "f", 10, 0.01), 1);
}

/* A word that no process can have written there has no owner. */
TEST(a_damaged_lock_word_is_taken_over)
{
	segment = open_segment(MB(1));
	const uint64_t words[] = {1, 0xffff, UINT64_MAX, 0x10000, UINT64_C(12345) << 16 | 77,
		segment->owner + 0x10000, segment->owner};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		segment->header->lock = words[i];
		CHECK_INT(lock_for(BSHM_LOCK_PAGE_NS), BSHM_OK);
		bshm__unlock(segment);
	}
	CHECK_INT(segment->header->lock_timeouts, 0);
}

static void fork_with_the_lock_and_die(void)
{
	REQUIRE(lock_for(BSHM_LOCK_BATCH_NS) == BSHM_OK);
	if (fork() == 0) {
		/* The child of a holder holds nothing. */
		CHECK_INT(lock_for(1000000), BSHM_E_TIMEOUT);
		raise_flag_and_sleep(0);
	}
	raise_flag_and_sleep(1);
}

TEST(a_holder_that_forked_is_taken_over_when_it_dies)
{
	segment = open_segment(MB(1));
	const pid_t child = spawn(fork_with_the_lock_and_die);
	await_flag(0);
	await_flag(1);
	kill_child(child);
	CHECK_INT(lock_for(BSHM_LOCK_BATCH_NS), BSHM_OK);
	bshm__unlock(segment);
}

TEST(readers_never_take_it)
{
	bshm_segment_close(open_segment(MB(1)));
	segment = open_segment_readonly();
	CHECK_INT(lock_for(BSHM_LOCK_PAGE_NS), BSHM_E_READ_ONLY);
	CHECK_INT(segment->header->lock, 0);
}

/* ------------------------------------------------------------------ exclusion */

#define ROUNDS 3000

/* Under the lock: a sum that only exclusion keeps right. */
static void add_one_under_the_lock(void)
{
	const uint64_t before = BSHM_LOAD(&test_words[0], RELAXED);
	if (before % 64 == 0) {
		bshm_os_yield();
	}
	BSHM_STORE(&test_words[0], before + 1, RELAXED);
}

static void lock_often(void)
{
	await_flag(0);
	for (int i = 0; i < ROUNDS; i++) {
		REQUIRE(lock_for(UINT64_C(30000000000)) == BSHM_OK);
		add_one_under_the_lock();
		bshm__unlock(segment);
	}
}

TEST(processes_exclude_each_other)
{
	segment = open_segment(MB(1));
	pid_t children[4];
	for (int i = 0; i < 4; i++) {
		children[i] = spawn(lock_often);
	}
	raise_flag(0);
	for (int i = 0; i < 4; i++) {
		CHECK_INT(finish(children[i]), 0);
	}
	CHECK_INT(test_words[0], 4 * ROUNDS);
	CHECK_INT(segment->header->lock, 0);
	CHECK_INT(segment->header->repairs, 0);
}

/* test_words[1] counts who is inside; one dies there again and again. */
static void lock_and_die_inside(void)
{
	for (;;) {
		REQUIRE(lock_for(UINT64_C(30000000000)) == BSHM_OK);
		BSHM_STORE(&test_words[1], 1, RELAXED);
		add_one_under_the_lock();
		BSHM_STORE(&test_words[1], 0, RELAXED);
		bshm__unlock(segment);
	}
}

TEST(waiters_go_on_when_holders_are_killed)
{
	uint64_t random = test_seed();
	segment = open_segment(MB(1));
	pid_t children[3] = {
		spawn(lock_and_die_inside), spawn(lock_and_die_inside), spawn(lock_and_die_inside)};
	for (int i = 0; i < 150; i++) {
		bshm_os_sleep_us((unsigned) (test_random(&random) % 2000));
		kill_child(children[i % 3]);
		children[i % 3] = spawn(lock_and_die_inside);
		const uint64_t before = BSHM_LOAD(&test_words[0], RELAXED);
		REQUIRE(lock_for(UINT64_C(30000000000)) == BSHM_OK);
		CHECK(BSHM_LOAD(&test_words[0], RELAXED) >= before);
		bshm__unlock(segment);
	}
	for (int i = 0; i < 3; i++) {
		kill_child(children[i]);
	}
	CHECK_INT(lock_for(BSHM_LOCK_PAGE_NS), BSHM_OK);
	bshm__unlock(segment);
	CHECK_INT(faults(segment), 0);
}

static uint64_t sum; /* plain: only the lock makes it right */

static void *thread_that_locks(void *of)
{
	bshm_segment *own = of;
	bshm_error error;
	for (int i = 0; i < ROUNDS; i++) {
		REQUIRE(bshm__lock(own, UINT64_C(30000000000), &error) == BSHM_OK);
		sum++;
		bshm__unlock(own);
	}
	return NULL;
}

static void run_threads(bshm_segment *const segments[4])
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++) {
		pthread_create(&threads[i], NULL, thread_that_locks, segments[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
	}
	CHECK_INT(sum, 4 * ROUNDS);
	CHECK_INT(segment->header->lock, 0);
	CHECK_INT(segment->header->repairs, 0);
}

THREAD_TEST(threads_of_one_process_exclude_each_other)
{
	segment = open_segment(MB(1));
	bshm_segment *const segments[4] = {segment, segment, segment, segment};
	run_threads(segments);
}

/* The same between owners, as processes are to each other. */
THREAD_TEST(owners_exclude_each_other)
{
	segment = open_segment(MB(1));
	bshm_segment *const segments[4] = {
		segment, open_segment(MB(1)), open_segment(MB(1)), open_segment(MB(1))};
	for (int i = 1; i < 4; i++) {
		share_mapping(segments[i], segment);
	}
	run_threads(segments);
}

static void *thread_that_holds(void *unused)
{
	(void) unused;
	bshm_error error;
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &error) == BSHM_OK);
	raise_flag(0);
	await_flag(1);
	bshm__unlock(segment);
	return NULL;
}

THREAD_TEST(a_thread_waits_no_longer_than_it_said)
{
	segment = open_segment(MB(1));
	pthread_t thread;
	pthread_create(&thread, NULL, thread_that_holds, NULL);
	await_flag(0);
	CHECK_INT(lock_for(BSHM_LOCK_PAGE_NS), BSHM_E_TIMEOUT);
	raise_flag(1);
	pthread_join(thread, NULL);
	CHECK_INT(lock_for(BSHM_LOCK_PAGE_NS), BSHM_OK);
	bshm__unlock(segment);
	CHECK_INT(segment->header->lock_timeouts, 1);
}

/* ------------------------------------------------------------------ fairness */

enum {
	ENDED = 2
};

/* Has the lock nearly all of the time: it comes back for it at once. */
static void hog(void)
{
	while (BSHM_LOAD(&test_words[ENDED], RELAXED) == 0) {
		REQUIRE(lock_for(UINT64_C(30000000000)) == BSHM_OK);
		const uint64_t until = bshm_os_monotonic_ns() + 1000000;
		while (bshm_os_monotonic_ns() < until) {
		}
		bshm__unlock(segment);
	}
}

TEST(a_waiter_gets_the_lock_between_those_that_come_back_for_it)
{
	segment = open_segment(MB(1));
	const pid_t children[2] = {spawn(hog), spawn(hog)};
	for (int i = 0; i < 30; i++) {
		CHECK_INT(lock_for(BSHM_LOCK_BATCH_NS), BSHM_OK);
		bshm__unlock(segment);
	}
	BSHM_STORE(&test_words[ENDED], 1, RELAXED);
	CHECK_INT(finish(children[0]), 0);
	CHECK_INT(finish(children[1]), 0);
	CHECK_INT(segment->header->lock_timeouts, 0);
}

static void lock_once(void)
{
	REQUIRE(lock_for(60 * BSHM_LOCK_BATCH_NS) == BSHM_OK); /* longer than the other is held up */
	bshm__unlock(segment);
}

TEST(a_waiter_says_that_it_starves_until_it_has_the_lock)
{
	segment = open_segment(MB(1));
	REQUIRE(lock_for(BSHM_LOCK_PAGE_NS) == BSHM_OK);
	const pid_t child = spawn(lock_once);
	while (BSHM_LOAD(&segment->header->starving, RELAXED) == 0) { /* a watchdog ends it */
		bshm_os_yield();
	}
	CHECK_INT(BSHM_LOAD(&segment->header->starving, RELAXED), 1);
	bshm__unlock(segment);
	CHECK_INT(finish(child), 0);
	CHECK_INT(segment->header->starving, 0);
}

/* Others let it go first until they starve themselves, and no longer. */
TEST(a_process_that_died_starving_keeps_nobody_out)
{
	segment = open_segment(MB(1));
	segment->header->starving = 1;
	const uint64_t begun = bshm_os_monotonic_ns();
	CHECK_INT(lock_for(BSHM_LOCK_PAGE_NS), BSHM_OK);
	CHECK(bshm_os_monotonic_ns() - begun >= 5000000);
	CHECK_INT(segment->header->starving, 0);
	bshm__unlock(segment);
}

/* It would be refused a free lock until another process waits long enough to starve. */
TEST(a_call_that_waits_for_less_than_that_gets_a_free_lock_whoever_starves)
{
	segment = open_segment(MB(1));
	segment->header->starving = 1;
	CHECK_INT(lock_for(0), BSHM_E_TIMEOUT); /* one that starves may need longer to look */
	for (uint64_t wait_ns = 1000000; wait_ns <= 4000000; wait_ns += 1000000) {
		segment->header->starving = 1; /* one that wakes late from its sleep starves, and ends it */
		const uint64_t begun = bshm_os_monotonic_ns();
		CHECK_INT(lock_for(wait_ns), BSHM_OK);
		CHECK(bshm_os_monotonic_ns() - begun >= wait_ns); /* others had their turn */
		bshm__unlock(segment);
	}
}
