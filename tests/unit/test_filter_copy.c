/*
 * test_filter_copy.c - copies of filters: merge.c.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/build.h"

static bshm_segment *segment;

TEST(a_copy_has_what_its_source_had)
{
	segment = open_segment(MB(2));
	CHECK_INT(reserve(segment, "from", 20000, 0.000000001), 1);
	CHECK_INT(add_numbers(segment, "from", 0, 15000), 15000);
	CHECK_INT(load(segment, "to", 50000, 50010), BSHM_OK);
	CHECK_INT(copy_filter(segment, "from", "to"), BSHM_OK);
	CHECK_INT(absent(segment, "to", 0, 15000), 0);
	CHECK_INT(absent(segment, "from", 0, 15000), 0);
	CHECK_INT(info_of(segment, "to").items, info_of(segment, "from").items);
	CHECK_INT(info_of(segment, "to").capacity, info_of(segment, "from").capacity);
	CHECK_INT(add_number(segment, "to", 99999999), 1);
	CHECK_INT(has_number(segment, "from", 99999999), 0); /* two filters from now on */
	CHECK_INT(copy_filter(segment, "from", "from"), BSHM_OK);
	CHECK_INT(copy_filter(segment, "none", "to"), BSHM_E_NOT_FOUND);
	CHECK_INT(last_error.status, BSHM_E_NOT_FOUND);
	CHECK_INT(copy_filter(segment, "none", "none"), BSHM_E_NOT_FOUND);
	CHECK_INT(absent(segment, "to", 0, 15000), 0);
	CHECK_INT(drop(segment, "from"), 1);
	CHECK_INT(absent(segment, "to", 0, 15000), 0);
	CHECK_INT(op_count(segment), 0);
	CHECK_INT(faults(segment), 0);
}

TEST(a_copy_that_does_not_fit_changes_nothing)
{
	segment = open_segment(MB(1));
	CHECK_INT(reserve(segment, "from", 450000, 0.01), 1);
	CHECK_INT(reserve(segment, "to", 100, 0.01), 1);
	CHECK_INT(add(segment, "to", "a"), 1);
	CHECK_INT(copy_filter(segment, "from", "to"), BSHM_E_NO_SPACE);
	CHECK_INT(last_error.status, BSHM_E_NO_SPACE);
	CHECK_INT(last_error.asked, info_of(segment, "from").bytes);
	CHECK_INT(has(segment, "to", "a"), 1);
	CHECK_INT(copy_filter(segment, "from", "new"), BSHM_E_NO_SPACE);
	CHECK_INT(has(segment, "new", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(op_count(segment), 0);
}

static void republish_for_ever(void)
{
	for (uint64_t set = 0;; set ^= 1) {
		CHECK_INT(load(segment, "from", set * 100000, set * 100000 + 3000), BSHM_OK);
	}
}

TEST(a_copy_is_of_one_published_set)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "from", 0, 3000), BSHM_OK);
	const pid_t child = spawn(republish_for_ever);
	int copies = 0;
	for (int i = 0; i < 200 || copies == 0; i++) {
		const int status = copy_filter(segment, "from", "to");
		CHECK(status == BSHM_OK || status == BSHM_E_TIMEOUT);
		if (status == BSHM_OK) {
			copies++;
			const uint64_t first = absent(segment, "to", 0, 3000);
			const uint64_t second = absent(segment, "to", 100000, 103000);
			CHECK((first == 0) != (second == 0));
		}
	}
	kill_child(child);
	CHECK_INT(faults(segment), 0);
}

TEST(an_add_to_the_target_of_a_copy_is_kept)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "from", 0, 3000), BSHM_OK);
	/* The copy's own middle cannot be reached from here; a build of the target is the same op. */
	bshm_build *build = begin_build(segment, "to");
	CHECK_INT(copy_filter(segment, "from", "to"), BSHM_OK);
	CHECK(add_number(segment, "to", 70000) >= 0);
	CHECK_INT(offer(build, 1000, 2000), BSHM_OK);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(has_number(segment, "to", 70000), 1);
	CHECK(present(segment, "to", 0, 1000) < 100);
}
