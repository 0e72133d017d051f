/*
 * test_counting.c - counting filters: remove, count, saturation, and no count below the
 * truth.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include <pthread.h>
#include <string.h>

static bshm_segment *segment;

static int reserve_counting(const char *name, uint64_t capacity)
{
	bshm_parameters p = parameters(0.01, capacity, 0);
	p.counting = true;
	p.seed = "seed";
	p.seed_length = 4;
	return bshm_filter_reserve(segment, name, strlen(name), &p, &last_error);
}

static __thread bshm_views *views;

static int remove_number(const char *name, uint64_t number)
{
	views = views == NULL ? bshm_views_new() : views;
	return PATIENTLY(bshm_filter_remove(
		segment, views, name, strlen(name), (const char *) &number, 8, &last_error));
}

static int count_number(const char *name, uint64_t number)
{
	views = views == NULL ? bshm_views_new() : views;
	return bshm_filter_count(segment, views, name, strlen(name), (const char *) &number, 8);
}

static void stand(uint64_t capacity)
{
	segment = open_segment(MB(4));
	REQUIRE(reserve_counting("f", capacity) == 1);
}

TEST(counts_are_those_of_a_multiset)
{
	stand(1000);
	int truth[100] = {0};
	uint64_t state = test_seed();
	for (int i = 0; i < 20000; i++) {
		const uint64_t key = test_random(&state) % 100;
		const bool adds = test_random(&state) % 2 != 0;
		if (adds && truth[key] < 14) {
			CHECK_INT(add_number(segment, "f", key), truth[key] == 0);
			truth[key]++;
		} else if (!adds) {
			CHECK_INT(remove_number("f", key), truth[key] != 0);
			truth[key] -= truth[key] != 0;
		}
		CHECK_INT(count_number("f", key), truth[key]);
	}
	uint64_t there = 0;
	for (int i = 0; i < 100; i++) {
		there += truth[i] != 0;
	}
	CHECK_INT(info_of(segment, "f").items, there);
}

TEST(counts_stay_at_fifteen)
{
	stand(1000);
	for (int i = 1; i <= 40; i++) {
		CHECK(add_number(segment, "f", 1) >= 0);
		CHECK_INT(count_number("f", 1), i < BSHM_COUNT_MAX ? i : BSHM_COUNT_MAX);
	}
	for (int i = 0; i < 100; i++) {
		CHECK_INT(remove_number("f", 1), 1);
		CHECK_INT(count_number("f", 1), BSHM_COUNT_MAX);
	}
	CHECK_INT(has_number(segment, "f", 1), 1);
}

TEST(what_is_absent_is_not_removed)
{
	stand(1000);
	CHECK_INT(remove_number("f", 1), 0);
	CHECK_INT(count_number("f", 1), 0);
	CHECK_INT(remove_number("missing", 1), BSHM_E_NOT_FOUND);
	CHECK_INT(count_number("missing", 1), BSHM_E_NOT_FOUND);
	CHECK_INT(reserve(segment, "plain", 100, 0.01), 1);
	CHECK_INT(remove_number("plain", 1), BSHM_E_INCOMPATIBLE);
	CHECK_INT(count_number("plain", 1), BSHM_E_INCOMPATIBLE);
}

TEST(removing_gives_capacity_back)
{
	stand(100);
	uint64_t added = 0;
	uint64_t key = 0;
	while (added < 100) {
		added += (uint64_t) (add_number(segment, "f", key++) == 1);
	}
	CHECK_INT(add_number(segment, "f", 100000), BSHM_E_FULL);
	CHECK_INT(add_number(segment, "f", 0), 0); /* it is there already: counted once more */
	CHECK_INT(remove_number("f", 0), 1);
	CHECK_INT(add_number(segment, "f", 100000), BSHM_E_FULL);
	CHECK_INT(remove_number("f", 0), 1);
	CHECK_INT(add_number(segment, "f", 100000), 1);
	CHECK_INT(add_number(segment, "f", 100001), BSHM_E_FULL);
	CHECK_INT(add_numbers(segment, "f", 0, 2), BSHM_E_FULL); /* all or none */
	CHECK_INT(count_number("f", 1), 1);
}

TEST(a_load_counts_what_it_is_offered)
{
	segment = open_segment(MB(4));
	bshm_parameters p = parameters(0.01, 0, 0);
	p.counting = true;
	bshm_build *build;
	REQUIRE(bshm_build_begin(segment, "f", 1, &p, &build, &last_error) == BSHM_OK);
	for (int i = 0; i < 5; i++) {
		REQUIRE(offer(build, 0, (uint64_t) i * 100) == BSHM_OK);
	}
	REQUIRE(publish(build, NULL) == BSHM_OK);
	CHECK_INT(count_number("f", 50), 4);
	CHECK_INT(count_number("f", 150), 3);
	CHECK_INT(count_number("f", 350), 1);
	CHECK_INT(info_of(segment, "f").items, 400);
}

/* A key that is added twice during a load must survive being removed once. */
TEST(the_journal_of_a_load_keeps_how_often)
{
	stand(1000);
	bshm_parameters p = parameters(0.01, 1000, 0);
	p.counting = true;
	bshm_build *build;
	REQUIRE(bshm_build_begin(segment, "f", 1, &p, &build, &last_error) == BSHM_OK);
	REQUIRE(offer(build, 100, 200) == BSHM_OK);
	for (int i = 0; i < 3; i++) {
		CHECK(add_number(segment, "f", 1) >= 0);
	}
	REQUIRE(publish(build, NULL) == BSHM_OK);
	CHECK_INT(count_number("f", 1), 3);
	CHECK_INT(count_number("f", 150), 1);
	CHECK_INT(remove_number("f", 1), 1);
	CHECK_INT(has_number(segment, "f", 1), 1);
}

TEST(clear_copy_and_merge)
{
	stand(1000);
	CHECK(add_numbers(segment, "f", 0, 500) > 0);
	CHECK(add_numbers(segment, "f", 0, 250) >= 0);
	CHECK_INT(copy_filter(segment, "f", "g"), BSHM_OK);
	CHECK_INT(count_number("g", 10), 2);
	const bshm_key from = {"g", 1};
	CHECK_INT(bshm_filter_merge(segment, "f", 1, &from, 1, &last_error), BSHM_OK);
	CHECK_INT(count_number("f", 10), 4);
	CHECK_INT(count_number("f", 400), 2);
	const uint64_t items = info_of(segment, "f").items;
	CHECK(items > 490 && items < 510);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(bshm_filter_merge(segment, "f", 1, &from, 1, &last_error), BSHM_OK);
	}
	CHECK_INT(count_number("f", 10), 10);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(bshm_filter_merge(segment, "f", 1, &from, 1, &last_error), BSHM_OK);
	}
	CHECK_INT(count_number("f", 10), BSHM_COUNT_MAX);
	CHECK_INT(clear(segment, "f"), 1);
	CHECK_INT(absent(segment, "f", 0, 500), 500);
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ threads */

static uint32_t stop;

/* Adds and removes its own keys, which look like others' now and then. */
static void *come_and_go(void *first)
{
	const uint64_t own = (uint64_t) (uintptr_t) first;
	for (int round = 0; round < 60; round++) {
		for (uint64_t key = own; key < own + 50; key++) {
			CHECK(add_number(segment, "f", key) >= 0);
		}
		for (uint64_t key = own; key < own + 50; key++) {
			CHECK_INT(remove_number("f", key), 1);
		}
	}
	bshm_views_free(views);
	forget_views();
	return NULL;
}

static void *watch(void *unused)
{
	(void) unused;
	while (BSHM_LOAD(&stop, RELAXED) == 0) {
		CHECK_INT(absent(segment, "f", 0, 300), 0);
	}
	forget_views();
	return NULL;
}

/* The filter is small and full: nearly every counter is several keys'. */
THREAD_TEST(no_key_is_taken_below_its_count)
{
	stand(5000);
	CHECK(add_numbers(segment, "f", 0, 300) > 0);
	CHECK(add_numbers(segment, "f", 10000, 14000) > 0);
	pthread_t threads[4];
	for (int i = 0; i < 4; i++) {
		void *first = (void *) (uintptr_t) (100000 + i * 1000);
		REQUIRE(pthread_create(&threads[i], NULL, i == 3 ? watch : come_and_go, first) == 0);
	}
	for (int i = 0; i < 4; i++) {
		if (i == 3) {
			BSHM_STORE(&stop, 1, RELAXED);
		}
		pthread_join(threads[i], NULL);
	}
	CHECK_INT(absent(segment, "f", 0, 300), 0);
	CHECK_INT(absent(segment, "f", 10000, 14000), 0);
	for (uint64_t i = 0; i < 3; i++) {
		CHECK(absent(segment, "f", 100000 + i * 1000, 100050 + i * 1000) > 40);
	}
}
