/*
 * test_usage.c - what a filter was asked is counted: nothing twice, nothing for another set, and
 * nothing lost but what a killed process had not handed in.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bshm_segment *segment;

static bshm_usage usage_of(const char *name)
{
	return info_of(segment, name).usage;
}

/* Asks about numbers that are there and as many that are not. */
static void ask(const char *name, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		CHECK_INT(has_number(segment, name, i), 1);
		CHECK_INT(has_number(segment, name, 1000000 + i), 0);
	}
}

static void open_with_filter(void)
{
	segment = open_segment(MB(4));
	CHECK_INT(reserve(segment, "f", 100000, 1e-9), 1);
	CHECK_INT(add_numbers(segment, "f", 0, 1000), 1000);
}

TEST(the_process_that_asks_sees_its_own_questions)
{
	open_with_filter();
	CHECK_INT(usage_of("f").questions, 0);
	ask("f", 100);
	CHECK_INT(usage_of("f").questions, 200);
	CHECK_INT(usage_of("f").maybes, 100);
	CHECK_INT(usage_of("f").questions, 200);
	CHECK_INT(reserve(segment, "g", 100, 0.01), 1);
	CHECK_INT(has_number(segment, "g", 1), 0);
	CHECK_INT(usage_of("f").questions, 200);
	CHECK_INT(usage_of("g").questions, 1);
	CHECK_INT(stat_of(segment).questions, 201);
	CHECK_INT(stat_of(segment).maybes, 100);
}

TEST(questions_without_an_answer_are_not_counted)
{
	open_with_filter();
	CHECK(has_number(segment, "missing", 1) < 0);
	CHECK_INT(reserve(segment, "missing", 100, 0.01), 1);
	CHECK_INT(usage_of("missing").questions, 0);
}

TEST(a_list_is_counted_when_its_answers_hold)
{
	open_with_filter();
	bshm_views *views = bshm_views_new();
	bshm_view *view;
	REQUIRE(bshm_view_open(segment, views, "f", 1, &view) == BSHM_OK);
	const uint64_t numbers[] = {1, 2, 1000000};
	bshm_key keys[3];
	bool answers[3];
	for (unsigned i = 0; i < 3; i++) {
		keys[i] = (bshm_key){(const char *) &numbers[i], sizeof(numbers[i])};
	}
	bshm_view_has(view, keys, 3, answers);
	bshm_views_hand_in(views);
	CHECK_INT(usage_of("f").questions, 0);
	bshm_view_answered(view, 3, 2);
	bshm_views_hand_in(views);
	bshm_views_hand_in(views);
	CHECK_INT(usage_of("f").questions, 3);
	CHECK_INT(usage_of("f").maybes, 2);
	bshm_views_free(views);
	CHECK_INT(usage_of("f").questions, 3);
}

/* A view that makes room for another hands its counts in. */
TEST(more_filters_than_views)
{
	segment = open_segment(MB(16));
	for (uint64_t i = 0; i < 600; i++) {
		CHECK_INT(reserve(segment, numbered("filter", i), 100, 0.01), 1);
	}
	for (unsigned round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < 600; i++) {
			CHECK_INT(has_number(segment, numbered("filter", i), i), 0);
		}
	}
	for (uint64_t i = 0; i < 600; i++) {
		CHECK_INT(usage_of(numbered("filter", i)).questions, 3);
	}
	CHECK_INT(stat_of(segment).questions, 1800);
}

/* ------------------------------------------------------------------ sets of keys */

TEST(a_new_set_begins_at_nothing)
{
	open_with_filter();
	for (unsigned round = 0; round < 4; round++) {
		ask("f", 10);
		CHECK_INT(usage_of("f").questions, 20);
		ask("f", 10); /* not handed in: of the old set */
		CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
		CHECK_INT(usage_of("f").questions, 0);
		CHECK_INT(usage_of("f").maybes, 0);
		CHECK_INT(stat_of(segment).questions, 0);
	}
	ask("f", 10);
	CHECK_INT(clear(segment, "f"), 1);
	CHECK_INT(usage_of("f").questions, 0);
	CHECK_INT(has_number(segment, "f", 1), 0);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(reserve(segment, "f", 100, 0.01), 1);
	CHECK_INT(usage_of("f").questions, 0);
}

/* The entry has another name by then. */
TEST(counts_of_a_dropped_filter_go_nowhere)
{
	open_with_filter();
	ask("f", 10);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(reserve(segment, "other", 100, 0.01), 1);
	forget_views();
	CHECK_INT(usage_of("other").questions, 0);
	CHECK_INT(stat_of(segment).questions, 0);
}

TEST(a_filter_that_grows_keeps_its_counts)
{
	segment = open_segment(MB(4));
	bshm_parameters growing = parameters(0.01, 100, 2);
	REQUIRE(bshm_filter_reserve(segment, "f", 1, &growing, &last_error) == 1);
	uint64_t asked = 0;
	for (uint64_t i = 0; i < 20000; i++) {
		add_number(segment, "f", i);
		CHECK_INT(has_number(segment, "f", i), 1);
		asked++;
	}
	const bshm_info info = info_of(segment, "f");
	CHECK(info.layer_count > 2);
	CHECK_INT(info.usage.questions, asked);
	CHECK_INT(info.usage.maybes, asked);
}

/* ------------------------------------------------------------------ fetches */

TEST(fetches_are_counted_by_what_came_of_them)
{
	open_with_filter();
	bshm_views *views = bshm_views_new();
	bshm_view *view;
	REQUIRE(bshm_view_open(segment, views, "f", 1, &view) == BSHM_OK);
	const bshm_set set = bshm_view_set(view);
	static const bshm_fetched outcomes[] = {BSHM_FETCHED_DENIED, BSHM_FETCHED_STORED,
		BSHM_FETCHED_LOADED, BSHM_FETCHED_NOTHING, BSHM_FETCHED_FAILED};
	for (unsigned i = 0; i < 5; i++) {
		for (unsigned j = 0; j <= i; j++) {
			bshm_filter_fetched(segment, views, "f", 1, &set, outcomes[i], 1);
		}
	}
	bshm_views_hand_in(views);
	const bshm_info info = info_of(segment, "f");
	CHECK_INT(info.usage.fetches, 15);
	CHECK_INT(info.usage.denied, 1);
	CHECK_INT(info.usage.found, 2);
	CHECK_INT(info.usage.loaded, 3);
	CHECK_INT(info.false_positives, 4);
	CHECK_INT(info.usage.questions, 0);
	const bshm_set other = {set.publication + 1};
	bshm_filter_fetched(segment, views, "f", 1, &other, BSHM_FETCHED_LOADED, 1);
	bshm_views_free(views);
	CHECK_INT(usage_of("f").fetches, 15);
}

/* ------------------------------------------------------------------ processes and threads */

static void ask_and_exit(void)
{
	ask("f", 5);
	forget_views();
}

TEST(a_fork_counts_nothing_twice)
{
	open_with_filter();
	ask("f", 100);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_INT(finish(spawn(ask_and_exit)), 0);
		ask("f", 1);
	}
	CHECK_INT(usage_of("f").questions, 200 + 3 * 12);
}

static void ask_until_killed(void)
{
	for (unsigned round = 0; round < 10; round++) {
		ask("f", 10);
		CHECK(usage_of("f").questions >= 20 * (round + 1));
	}
	ask("f", 10);
	raise_flag_and_sleep(0);
}

TEST(a_killed_process_loses_what_it_had_not_handed_in)
{
	open_with_filter();
	const pid_t child = spawn(ask_until_killed);
	await_flag(0);
	kill_child(child);
	CHECK_INT(usage_of("f").questions, 200);
}

static void *ask_as_a_thread(void *unused)
{
	(void) unused;
	for (unsigned round = 0; round < 50; round++) {
		ask("f", 20);
		if (round % 5 == 0) {
			usage_of("f");
		}
	}
	forget_views();
	return NULL;
}

THREAD_TEST(threads_lose_nothing)
{
	open_with_filter();
	pthread_t threads[4];
	for (unsigned i = 0; i < 4; i++) {
		REQUIRE(pthread_create(&threads[i], NULL, ask_as_a_thread, NULL) == 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
	}
	CHECK_INT(usage_of("f").questions, 4 * 50 * 40);
	CHECK_INT(usage_of("f").maybes, 4 * 50 * 20);
}

static bshm_views *views_of_other;

static void *ask_once(void *unused)
{
	(void) unused;
	views_of_other = bshm_views_new();
	CHECK_INT(bshm_filter_has(segment, views_of_other, "f", 1, "absent", 6), 0);
	raise_flag(0);
	await_flag(1);
	bshm_views_free(views_of_other);
	return NULL;
}

static void free_views_of_other(void)
{
	bshm_views_free(views_of_other);
}

/* PHP frees what all threads have, at the end of each process. */
THREAD_TEST(the_child_of_a_fork_counts_nothing_for_other_threads)
{
	open_with_filter();
	pthread_t thread;
	REQUIRE(pthread_create(&thread, NULL, ask_once, NULL) == 0);
	await_flag(0);
	CHECK_INT(finish(spawn(free_views_of_other)), 0);
	raise_flag(1);
	pthread_join(thread, NULL);
	CHECK_INT(usage_of("f").questions, 1);
}

TEST(a_read_only_segment_takes_no_counts)
{
	open_with_filter();
	bshm_segment *readonly = open_segment_readonly();
	bshm_views *views = bshm_views_new();
	CHECK_INT(bshm_filter_has(readonly, views, "f", 1, "absent", 6), 0);
	bshm_views_hand_in(views);
	bshm_info info;
	CHECK_INT(bshm_filter_info(readonly, views, "f", 1, &info), BSHM_OK);
	CHECK_INT(info.usage.questions, 0);
	bshm_views_free(views);
}
