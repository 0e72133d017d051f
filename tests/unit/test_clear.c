/*
 * test_clear.c - clears, what is added meanwhile, and what follows the death of the process.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/lay.h"
#include "core/filter/mend.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/ops.h"
#include "core/segment/sound.h"

#include <signal.h>

static bshm_segment *segment;

#define CLEARED_CAPACITY 30000000

static void clear_it(void)
{
	CHECK_INT(clear(segment, "f"), 1);
}

static bool is_clearing(void)
{
	const bshm_entry *entry = entry_of(segment, "f");
	const uint64_t generation = BSHM_LOAD(&entry->generation, ACQUIRE);
	return bshm__descriptor_read(entry, generation).state == BSHM_STATE_CLEARING &&
		   BSHM_LOAD(&segment->header->lock, RELAXED) == 0;
}

/* The filter "f", whose clear takes a while. */
static void stand(void)
{
	segment = open_segment(MB(64));
	const bshm_parameters grows = parameters(0.01, CLEARED_CAPACITY, 2);
	REQUIRE(bshm_filter_reserve(segment, "f", 1, &grows, &last_error) == 1);
	CHECK_INT(add_numbers(segment, "f", 0, 1000), 1000);
}

/* A process stopped in the middle of a clear of "f". */
static pid_t stop_a_clear(void)
{
	for (int i = 0; i < 20; i++) {
		const pid_t child = spawn(clear_it);
		if (stop_child_when(child, is_clearing)) {
			return child;
		}
		kill(child, SIGCONT);
		CHECK_INT(finish(child), 0);
	}
	test_skip("the child could not be stopped in the middle of a clear");
}

static pid_t stopped_clear(void)
{
	stand();
	return stop_a_clear();
}

TEST(a_cleared_filter_is_empty)
{
	segment = open_segment(MB(1));
	CHECK_INT(reserve(segment, "f", 3000, 0.01), 1);
	CHECK(add_numbers(segment, "f", 0, 2500) > 2400);
	CHECK_INT(clear(segment, "f"), 1);
	CHECK_INT(absent(segment, "f", 0, 2500), 2500);
	CHECK_INT(info_of(segment, "f").items, 0);
	CHECK_INT(info_of(segment, "f").capacity, 3000);
	CHECK(add_numbers(segment, "f", 0, 2500) > 2400);
	CHECK_INT(clear(segment, "none"), 0);
	CHECK_INT(op_count(segment), 0);
	CHECK_INT(faults(segment), 0);
}

TEST(a_clear_keeps_what_is_added_meanwhile)
{
	const pid_t child = stopped_clear();
	CHECK_INT(has_number(segment, "f", 1), BSHM_E_BUSY); /* maybe */
	CHECK_INT(has_number(segment, "f", 123456), BSHM_E_BUSY);
	CHECK(add_number(segment, "f", 5000) >= 0);
	CHECK(add_numbers(segment, "f", 6000, 7000) >= 0);
	CHECK_INT(clear(segment, "f"), BSHM_E_TIMEOUT);
	kill(child, SIGCONT);
	CHECK_INT(finish(child), 0);
	CHECK_INT(has_number(segment, "f", 5000), 1);
	CHECK_INT(absent(segment, "f", 6000, 7000), 0);
	CHECK_INT(absent(segment, "f", 0, 1000), 1000);
	CHECK_INT(info_of(segment, "f").items, 1001);
	CHECK_INT(faults(segment), 0);
}

TEST(a_clear_keeps_more_than_its_journal_holds)
{
	const pid_t child = stopped_clear();
	const uint64_t room = (uint64_t) segment->chunk_count * BSHM_CHUNK_HASHES;
	const int64_t added = add_numbers(segment, "f", 10000, 10000 + room + 1000);
	CHECK(added >= 0 || added == BSHM_E_TIMEOUT || added == BSHM_E_NO_SPACE);
	kill(child, SIGCONT);
	CHECK_INT(finish(child), 0);
	if (added >= 0) { /* it said that they are in */
		CHECK_INT(absent(segment, "f", 10000, 10000 + room + 1000), 0);
	}
}

static void stat_it(void)
{
	stat_of(segment);
}

static void load_another(void)
{
	CHECK_INT(load(segment, "other", 0, 10), BSHM_OK);
}

static void add_to_it(void)
{
	CHECK(add_number(segment, "f", 5001) >= 0);
}

static void rename_it(void)
{
	if (rename_filter(segment, "f", "g") == BSHM_OK) {
		CHECK_INT(rename_filter(segment, "g", "f"), BSHM_OK);
	}
}

static void copy_it(void)
{
	copy_filter(segment, "f", "g");
}

static void reserve_it(void)
{
	const bshm_parameters grows = parameters(0.01, CLEARED_CAPACITY, 2);
	CHECK_INT(bshm_filter_reserve(segment, "f", 1, &grows, &last_error), 0);
}

/* Every process that takes the lock helps to end a dead process's clear. */
#define SOON 16

static void expect_killed_clear_finished_by(void (*next)(void))
{
	const pid_t child = stopped_clear();
	CHECK(add_number(segment, "f", 5000) >= 0);
	kill_child(child);
	for (int i = 0; i < SOON && has_number(segment, "f", 5000) != 1; i++) {
		next();
		CHECK(has_number(segment, "f", 5000) != 0);
	}
	CHECK_INT(has_number(segment, "f", 5000), 1);
	CHECK_INT(absent(segment, "f", 0, 1000), 1000);
	CHECK_INT(op_count(segment), 0);
	CHECK_INT(faults(segment), 0);
}

TEST(a_killed_clear_is_finished_by_a_stat)
{
	expect_killed_clear_finished_by(stat_it);
}

TEST(a_killed_clear_is_finished_by_a_load)
{
	expect_killed_clear_finished_by(load_another);
}

TEST(a_killed_clear_is_finished_by_an_add)
{
	expect_killed_clear_finished_by(add_to_it);
}

TEST(a_killed_clear_is_finished_by_a_rename)
{
	expect_killed_clear_finished_by(rename_it);
}

TEST(a_killed_clear_is_finished_by_a_copy)
{
	expect_killed_clear_finished_by(copy_it);
}

TEST(a_killed_clear_is_finished_by_a_reservation)
{
	expect_killed_clear_finished_by(reserve_it);
}

TEST(a_killed_clear_can_be_repeated)
{
	const pid_t child = stopped_clear();
	kill_child(child);
	int status = BSHM_E_TIMEOUT;
	for (int i = 0; i < SOON && status == BSHM_E_TIMEOUT; i++) {
		status = clear(segment, "f");
	}
	CHECK_INT(status, 1);
	CHECK_INT(absent(segment, "f", 0, 1000), 1000);
	CHECK_INT(op_count(segment), 0);
}

TEST(a_killed_clear_can_be_dropped_or_replaced)
{
	const pid_t child = stopped_clear();
	kill_child(child);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(has_number(segment, "f", 1), BSHM_E_NOT_FOUND);
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	const bshm_stat stat = stat_of(segment);
	CHECK_INT(stat.filter_bytes_free + info_of(segment, "f").bytes, stat.filter_bytes);
	CHECK_INT(op_count(segment), 0);
}

/* Cut off when it had moved the journal into the bits, and not yet published them. */
static void die_before_publishing_a_clear(void)
{
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	const bshm_entry *entry = entry_of(segment, "f");
	const bshm_descriptor descriptor = bshm__descriptor_read(entry, entry->generation);
	bshm_view view = {0};
	REQUIRE(bshm__view_lay(segment, &view, &descriptor, &descriptor.newest) == BSHM_OK);
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		if (segment->ops[i].entry != 0) {
			bshm__journal_apply(segment, &segment->ops[i], &view);
		}
	}
	raise(SIGKILL);
}

TEST(death_at_the_end_of_a_clear_loses_no_added_key)
{
	const pid_t child = stopped_clear();
	CHECK(add_number(segment, "f", 5000) >= 0);
	CHECK_INT(finish(spawn(die_before_publishing_a_clear)), -SIGKILL);
	kill_child(child);
	for (int i = 0; i < SOON; i++) {
		stat_of(segment);
		CHECK(has_number(segment, "f", 5000) != 0);
	}
	CHECK_INT(has_number(segment, "f", 5000), 1);
}

TEST(a_load_during_a_clear_stays_in_force)
{
	const pid_t child = stopped_clear();
	CHECK_INT(load(segment, "f", 2000, 3000), BSHM_OK);
	CHECK_INT(absent(segment, "f", 2000, 3000), 0);
	kill(child, SIGCONT);
	CHECK_INT(finish(child), 0);
	CHECK_INT(absent(segment, "f", 2000, 3000), 0);
	CHECK_INT(op_count(segment), 0);
	CHECK_INT(faults(segment), 0);
}

/* Its partitions are still being zeroed: no other filter may have them before it is done. */
TEST(a_dropped_filter_that_is_being_cleared_keeps_its_memory)
{
	const pid_t child = stopped_clear();
	CHECK_INT(drop(segment, "f"), 1);
	const uint64_t left = stat_of(segment).filter_bytes_free;
	CHECK(left < MB(64) / 2);
	const uint64_t keys = left / 2; /* 16 bits a key: fits, and takes most of what is free */
	CHECK_INT(load(segment, "g", 0, keys / 8), BSHM_OK);
	kill(child, SIGCONT);
	CHECK_INT(finish(child), 0);
	CHECK_INT(absent(segment, "g", 0, keys / 8), 0);
	const bshm_stat stat = stat_of(segment);
	CHECK_INT(stat.filter_bytes_free + info_of(segment, "g").bytes, stat.filter_bytes);
}

/* ------------------------------------------------------------------ beside a load */

TEST(a_clear_keeps_what_is_added_beside_it_though_a_load_fails_or_its_process_dies)
{
	stand();
	bshm_build *build = begin_build(segment, "f");
	const pid_t child = stop_a_clear();
	const int added = add(segment, "f", "key");
	CHECK_INT(added, 0);
	bshm_info info;
	CHECK_INT(bshm_build_publish(build, 1e-300, &info, &last_error), BSHM_E_ERROR_RATE);
	CHECK(has_fresh(segment, "f", "key") != 0);
	kill_child(child);
	while (!ready(segment, "f")) {
		stat_of(segment); /* finishes the clear */
		CHECK(has_fresh(segment, "f", "key") != 0);
	}
	CHECK_INT(has(segment, "f", "key"), 1);
}

/* The clear still runs, but nothing will be published. */
TEST(an_add_to_a_filter_that_was_dropped_while_it_was_cleared_promises_nothing)
{
	stand();
	bshm_build *build = begin_build(segment, "f");
	const pid_t child = stop_a_clear();
	bshm_build_abort(build);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(add(segment, "f", "key"), BSHM_E_NOT_FOUND);
	CHECK_INT(reserve(segment, "f", 1000, 0.01), 1);
	CHECK_INT(add(segment, "f", "later"), 1);
	kill(child, SIGCONT);
	CHECK_INT(finish(child), 0);
	CHECK_INT(has(segment, "f", "key"), 0);
	CHECK_INT(has(segment, "f", "later"), 1);
	CHECK_INT(faults(segment), 0);
}
