/*
 * test_add_stopped.c - an adder who is stopped at any instruction, while a load ends.
 *
 * The load had read the catalogue before the key's row was written, so the adder alone sees to it
 * that the key is found. Whatever the instruction: once its call has returned, it is.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_step.h"

enum {
	ADDED = 1
};                                       /* test_words[]: what the call gave */
#define TIME_NS     UINT64_C(2000000000) /* of the processor */
#define STOPS_LEAST 11

static bshm_segment *segment;
static bshm_build *build;

static void resolve(void)
{
	has(segment, "f", "old");
}

static void add_new(void)
{
	test_words[ADDED] = (uint64_t) add(segment, "f", "new");
}

static void begin_load(void)
{
	const bshm_parameters parameters = {.error_rate = 0.01};
	REQUIRE(bshm_build_begin(segment, "f", 1, &parameters, &build, &last_error) == BSHM_OK);
	REQUIRE(bshm_build_key(build, "old", 3, &last_error) == BSHM_OK);
}

static void end_load(void)
{
	bshm_info info;
	CHECK_INT(bshm_build_publish(build, 0.5, &info, &last_error), BSHM_OK);
}

static void give_up(void)
{
	bshm_build_abort(build);
}

/* Stops the adder so many instructions after its key's bits are set. *over: its call had ended. */
static pid_t stop_behind_bits(long instructions, bool *over)
{
	pid_t child;
	stop_after(0, &child, over);
	while (has(segment, "f", "new") == 0 && step(child)) {
	}
	for (long i = 0; i < instructions && !*over && step(child); i++) {
		*over = BSHM_LOAD(&test_words[MARK], SEQ_CST) == 2;
	}
	return child;
}

/* From the moment on when its bits are set, at instruction after instruction until it has the
 * lock. */
static void stop_all_along(void (*meanwhile)(void))
{
	if (TEST_UNDER_TSAN) {
		test_skip("the sanitizer cannot be traced");
	}
	segment = open_segment(MB(1));
	prepare = resolve;
	call = add_new;
	const uint64_t until = test_processor_ns() + TIME_NS;
	bool over = false;
	bool locked = false;
	long stops = 0;
	while (!over && !locked && !test_failed() &&
		   (stops < STOPS_LEAST || test_processor_ns() < until)) {
		drop(segment, "f");
		REQUIRE(reserve(segment, "f", 100, 0.01) == 1 && add(segment, "f", "old") == 1);
		begin_load();
		const pid_t child = stop_behind_bits(stops++, &over);
		locked = BSHM_LOAD(&segment->header->lock, SEQ_CST) != 0;
		if (!locked) {
			meanwhile();
		}
		go_on(child, over);
		CHECK((int64_t) test_words[ADDED] >= 0);
		CHECK(has(segment, "f", "new") != 0);
		if (locked) {
			meanwhile();
		}
	}
	test_note("stopped %ld times", stops);
	CHECK(stops >= STOPS_LEAST);
}

TEST(a_key_is_found_when_a_load_is_published_while_its_adder_is_stopped)
{
	stop_all_along(end_load);
}

TEST(a_key_is_found_when_a_load_is_given_up_while_its_adder_is_stopped)
{
	stop_all_along(give_up);
}
