/*
 * test_reserve.c - empty filters: load.c, build.c.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include <signal.h>
#include <string.h>

static bshm_segment *segment;

TEST(reserve_creates_finds_and_refuses)
{
	segment = open_segment(MB(1));
	CHECK_INT(reserve(segment, "f", 10000, 0.01), 1);
	CHECK_INT(has(segment, "f", "a"), 0);
	CHECK_INT(add(segment, "f", "a"), 1);
	CHECK_INT(info_of(segment, "f").capacity, 10000);
	CHECK_INT(reserve(segment, "f", 10000, 0.01), 0);
	CHECK_INT(has(segment, "f", "a"), 1);
	CHECK_INT(reserve(segment, "f", 10001, 0.01), BSHM_E_EXISTS);
	CHECK_INT(reserve(segment, "f", 10000, 0.02), BSHM_E_EXISTS);
	bshm_parameters p = parameters(0.01, 10000, 0);
	p.seed = "secret";
	p.seed_length = 6;
	CHECK_INT(bshm_filter_reserve(segment, "f", 1, &p, &last_error), BSHM_E_EXISTS);
	CHECK_INT(last_error.status, BSHM_E_EXISTS);
	CHECK_INT(has(segment, "f", "a"), 1);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(bshm_filter_reserve(segment, "f", 1, &p, &last_error), 1);
	CHECK_INT(bshm_filter_reserve(segment, "f", 1, &p, &last_error), 0);
	CHECK_INT(reserve(segment, "f", 10000, 0.01), 0); /* no seed asked for: any will do */
	CHECK_INT(reserve(segment, "huge", UINT64_C(1) << 40, 0.01), BSHM_E_NO_SPACE);
	CHECK_INT(has(segment, "huge", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(op_count(segment), 0);
	CHECK_INT(faults(segment), 0);
}

static void reserve_big(void)
{
	const int status = reserve(segment, "f", 15000000, 0.01);
	CHECK(status == 0 || status == 1);
}

static bool is_reserving(void)
{
	return op_count(segment) == 1 && BSHM_LOAD(&segment->header->lock, RELAXED) == 0;
}

/*
 * Two processes reserve one name; a key is added after the first has begun. Either there is no such
 * filter yet, or the key is in what stands in the end, whichever of them publishes it.
 */
TEST(an_add_during_two_reservations_of_one_name_is_kept_or_refused)
{
	segment = open_segment(MB(64));
	for (int i = 0; i < 20; i++) {
		const pid_t child = spawn(reserve_big);
		if (stop_child_when(child, is_reserving)) {
			const int added = add(segment, "f", "meanwhile");
			CHECK_INT(reserve(segment, "f", 15000000, 0.01), 1);
			kill(child, SIGCONT);
			CHECK_INT(finish(child), 0);
			CHECK(added == 0 || added == BSHM_E_NOT_FOUND);
			CHECK_INT(has(segment, "f", "meanwhile"), added == 0 ? 1 : 0);
			return;
		}
		kill(child, SIGCONT);
		CHECK_INT(finish(child), 0);
		drop(segment, "f");
	}
	test_skip("the child could not be stopped in the middle of a reservation");
}

static void reserve_once(void)
{
	await_flag(0);
	const int status = reserve(segment, "f", 5000, 0.01);
	CHECK(status == 0 || status == 1);
	BSHM_ADD(&test_words[0], status == 1, RELAXED);
}

TEST(of_many_who_reserve_one_creates)
{
	segment = open_segment(MB(1));
	pid_t children[8];
	for (int i = 0; i < 8; i++) {
		children[i] = spawn(reserve_once);
	}
	raise_flag(0);
	for (int i = 0; i < 8; i++) {
		CHECK_INT(finish(children[i]), 0);
	}
	CHECK_INT(test_words[0], 1);
	CHECK_INT(stat_of(segment).filters, 1);
}

/* It answers "maybe"; an empty one would deny the keys that were in it. */
TEST(a_reservation_does_not_replace_a_damaged_filter)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	bshm_entry *entry = entry_of(segment, "f");
	entry->descriptor[entry->generation & 1].seed ^= 1;
	CHECK_INT(reserve(segment, "f", 100, 0.01), BSHM_E_CORRUPT);
	CHECK_INT(last_error.cause, BSHM_CAUSE_DESCRIPTOR);
	CHECK_INT(has(segment, "f", "absent"), BSHM_E_CORRUPT);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(reserve(segment, "f", 100, 0.01), 1);
	CHECK_INT(has(segment, "f", "absent"), 0);
	CHECK_INT(faults(segment), 0);
}

/* A filter that its chain does not lead to is found again. */
TEST(a_reservation_does_not_replace_a_filter_that_is_in_no_chain)
{
	segment = open_segment(MB(1));
	CHECK_INT(reserve(segment, "f", 100, 0.01), 1);
	CHECK_INT(add(segment, "f", "a"), 1);
	memset(segment->heads, 0, segment->head_count * sizeof(*segment->heads));
	CHECK_INT(reserve(segment, "f", 100, 0.01), 0);
	CHECK_INT(has(segment, "f", "a"), 1);
	CHECK_INT(faults(segment), 0);
}
