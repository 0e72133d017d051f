/*
 * test_sliding_rates.c - sliding filters of few and of many hash functions keep their window, and
 * their rate.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include <string.h>

#define SECOND UINT64_C(1000000000)
#define WINDOW 30u
#define EPOCH  (WINDOW * SECOND / 3)

static void keep_the_window(double rate)
{
	uint64_t now = 1000000 * SECOND;
	bshm_clock_set(now);
	bshm_segment *segment = open_segment(MB(2));
	bshm_parameters p = parameters(rate, 2000, 0);
	p.window_s = WINDOW;
	REQUIRE(bshm_filter_reserve(segment, "f", 1, &p, &last_error) == 1);
	CHECK(add_numbers(segment, "f", 0, 1000) >= 0);
	for (unsigned i = 0; i < 2; i++) {
		CHECK_INT(absent(segment, "f", 0, 1000), 0);
		CHECK(present(segment, "f", 10000, 20000) <= (uint64_t) (10000 * rate * 1.2 + 20));
		now += EPOCH;
		bshm_clock_set(now);
	}
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	CHECK(add_number(segment, "f", 1000) >= 0);
	now += 3 * EPOCH;
	bshm_clock_set(now);
	CHECK(absent(segment, "f", 0, 1000) >= (uint64_t) (1000 * (1 - rate) - 20));
	CHECK_INT(has_number(segment, "f", 1000), 1);
	CHECK_INT(faults(segment), 0);
	bshm_clock_set(0);
	CHECK_INT(drop(segment, "f"), 1);
	forget_views();
	bshm_segment_close(segment);
}

TEST(few_hash_functions_keep_the_window)
{
	keep_the_window(0.3);
	keep_the_window(0.1);
}

TEST(many_hash_functions_keep_the_window)
{
	keep_the_window(0.0001);
	keep_the_window(0.000001);
}
