/*
 * test_blocks.c - which partitions are free, and runs of neighbours and of scattered ones.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/mend.h"
#include "core/segment/blocks.h"
#include "core/segment/directory.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/ops.h"
#include "core/segment/run.h"
#include "core/segment/sound.h"
#include "core/segment/space.h"
#include "platform/platform.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static bshm_segment *segment;

/* A filter of exactly `partitions`, at 1 %. */
static int reserve_partitions(const char *name, uint32_t partitions)
{
	const uint64_t keys = bshm_geometry_for(0.01, 1).keys_per_partition;
	return reserve(segment, name, keys * partitions, 0.01);
}

static bshm_run run_of(const char *name)
{
	const bshm_entry *entry = entry_of(segment, name);
	return bshm__descriptor_read(entry, entry->generation).newest.run;
}

/* ------------------------------------------------------------------ runs */

TEST(runs_stay_inside_the_segment)
{
	segment = open_segment(MB(1));
	const uint32_t n = segment->partition_count;
	const struct {
		bshm_run run;
		bool inside;
	} cases[] = {
		{{0, 1, 0}, true},
		{{0, n, 0}, true},
		{{n - 1, 1, 0}, true},
		{{0, 0, 0}, false},
		{{0, n + 1, 0}, false},
		{{1, n, 0}, false},
		{{n, 1, 0}, false},
		{{n - 1, 2, 0}, false},
		{{UINT32_MAX, 1, 0}, false},
		{{UINT32_MAX, UINT32_MAX, 0}, false},
		{{2, UINT32_MAX, 0}, false},
		{{n - 1, 2, 1}, true}, /* scattered: its links decide */
		{{n, 2, 1}, false},
		{{0, n + 1, 1}, false},
		{{0, 0, 1}, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_INT(bshm__run_in_bounds(segment, &cases[i].run), cases[i].inside);
	}
	const bshm_run scattered = {0, 5, 1};
	CHECK(!bshm__run_walk(segment, &scattered, NULL, NULL)); /* its checksum is not that */
	segment->links[0] = n;
	CHECK(!bshm__run_walk(segment, &scattered, NULL, NULL));
	segment->links[0] = UINT32_MAX;
	CHECK(!bshm__run_walk(segment, &scattered, NULL, NULL));
}

TEST(the_smallest_hole_that_holds_a_filter_is_taken)
{
	segment = open_segment(MB(1)); /* 128 partitions */
	const uint32_t sizes[] = {10, 1, 5, 1, 20, 1, 8, 1};
	for (uint32_t i = 0; i < 8; i++) {
		CHECK_INT(reserve_partitions(numbered("f-", i), sizes[i]), 1);
	}
	for (uint32_t i = 0; i < 8; i += 2) { /* holes of 10, 5, 20 and 8, and 81 at the end */
		CHECK_INT(drop(segment, numbered("f-", i)), 1);
	}
	const bshm_stat stat = stat_of(segment);
	CHECK_INT(stat.filter_bytes_free, (128 - 4) * BSHM_FILTER_UNIT_BYTES);
	CHECK_INT(stat.largest_free_bytes, 81 * BSHM_FILTER_UNIT_BYTES);
	CHECK_INT(reserve_partitions("a", 5), 1);
	CHECK_INT(run_of("a").first, 11);
	CHECK_INT(reserve_partitions("b", 6), 1);
	CHECK_INT(run_of("b").first, 38);
	CHECK_INT(reserve_partitions("c", 9), 1);
	CHECK_INT(run_of("c").first, 0);
	CHECK_INT(reserve_partitions("d", 11), 1);
	CHECK_INT(run_of("d").first, 17);
	CHECK_INT(reserve_partitions("e", 81), 1);
	CHECK_INT(run_of("e").first, 47);
	CHECK_INT(run_of("e").check, 0);
	CHECK_INT(faults(segment), 0);
}

/* Every second partition is taken: the rest is still one filter's. */
static void scatter(void)
{
	segment = open_segment(MB(1));
	for (uint32_t i = 0; i < 128; i++) {
		REQUIRE(reserve_partitions(numbered("f-", i), 1) == 1);
	}
	CHECK_INT(stat_of(segment).filter_bytes_free, 0);
	CHECK_INT(reserve_partitions("none left", 1), BSHM_E_NO_SPACE);
	for (uint32_t i = 0; i < 128; i += 2) {
		CHECK_INT(drop(segment, numbered("f-", i)), 1);
	}
	CHECK_INT(stat_of(segment).filter_bytes_free, 64 * BSHM_FILTER_UNIT_BYTES);
	CHECK_INT(stat_of(segment).largest_free_bytes, BSHM_FILTER_UNIT_BYTES);
}

TEST(scattered_partitions_make_one_filter)
{
	scatter();
	CHECK_INT(reserve_partitions("too large", 65), BSHM_E_NO_SPACE);
	CHECK_INT(last_error.asked, 65 * BSHM_FILTER_UNIT_BYTES);
	CHECK_INT(last_error.available, 64 * BSHM_FILTER_UNIT_BYTES);
	CHECK_INT(load(segment, "big", 0, 390000), BSHM_OK);
	CHECK(run_of("big").check != 0);
	CHECK(run_of("big").count > 55);
	CHECK_INT(absent(segment, "big", 0, 390000), 0);
	CHECK(present(segment, "big", 1000000, 1100000) < 1200);
	CHECK(has_fresh(segment, "big", "absent") >= 0);
	for (uint32_t i = 1; i < 128; i += 2) { /* and no other bits were touched */
		CHECK_INT(info_of(segment, numbered("f-", i)).items, 0);
		CHECK(info_of(segment, numbered("f-", i)).fill == 0);
	}
	CHECK(add_number(segment, "big", 999999999) >= 0);
	CHECK_INT(has_number(segment, "big", 999999999), 1);
	CHECK_INT(faults(segment), 0);

	CHECK_INT(rename_filter(segment, "big", "renamed"), BSHM_OK);
	CHECK_INT(absent(segment, "renamed", 0, 1000), 0);
	CHECK_INT(clear(segment, "renamed"), 1);
	CHECK_INT(absent(segment, "renamed", 0, 1000), 1000);
	CHECK_INT(drop(segment, "renamed"), 1);
	CHECK_INT(stat_of(segment).filter_bytes_free, 64 * BSHM_FILTER_UNIT_BYTES);
}

TEST(a_scattered_filter_is_copied)
{
	scatter();
	CHECK_INT(load(segment, "one", 0, 150000), BSHM_OK);
	CHECK_INT(copy_filter(segment, "one", "two"), BSHM_OK);
	CHECK(run_of("two").check != 0);
	CHECK_INT(absent(segment, "two", 0, 150000), 0);
	CHECK_INT(drop(segment, "one"), 1);
	CHECK_INT(load(segment, "three", 500000, 650000), BSHM_OK);
	CHECK_INT(absent(segment, "two", 0, 150000), 0);
	CHECK_INT(absent(segment, "three", 500000, 650000), 0);
	CHECK_INT(faults(segment), 0);
}

TEST(damaged_links_are_seen)
{
	scatter();
	CHECK_INT(reserve_partitions("big", 60), 1);
	CHECK_INT(add(segment, "big", "a"), 1);
	const bshm_run run = run_of("big");
	uint32_t list[128];
	REQUIRE(bshm__run_walk(segment, &run, list, NULL));
	const uint32_t values[] = {0, 1, 127, 128, UINT32_MAX};
	for (uint32_t i = 0; i + 1 < run.count; i++) {
		const uint32_t sound = segment->links[list[i]];
		segment->links[list[i]] = values[i % 5];
		CHECK_INT(has_fresh(segment, "big", "absent"), BSHM_E_CORRUPT);
		CHECK_INT(has(segment, "big", "a"), 1); /* who has walked them needs them no more */
		segment->links[list[i]] = sound;
	}
	CHECK_INT(has_fresh(segment, "big", "absent"), 0);
	segment->links[list[3]] ^= 1;
	forget_views();
	CHECK_INT(add(segment, "big", "b"), BSHM_E_CORRUPT);
	CHECK_INT(copy_filter(segment, "big", "copy"), BSHM_E_CORRUPT);
	CHECK_INT(clear(segment, "big"), BSHM_E_CORRUPT);
	bshm_views *views = bshm_views_new();
	bshm_info info;
	CHECK_INT(bshm_filter_info(segment, views, "big", 3, &info), BSHM_E_CORRUPT);
	bshm_views_free(views);
	/* The next who needs memory unpublishes it, and has its partitions. */
	CHECK_INT(load(segment, "next", 0, 390000), BSHM_OK);
	CHECK_INT(has(segment, "big", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(absent(segment, "next", 0, 390000), 0);
	CHECK_INT(faults(segment), 0);
}

/* A worker that looked at the filter while it was sound must not read another's bits as its own. */
TEST(a_damaged_filters_memory_is_not_read_as_its_own)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, 1000), 0); /* keeps a view */
	bshm_entry *entry = entry_of(segment, "f");
	entry->descriptor[entry->generation & 1].newest.run.count ^= 2;
	CHECK_INT(load(segment, "g", 0, 700000), BSHM_OK); /* gets the memory */
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	CHECK_INT(has_number(segment, "f", 1), BSHM_E_NOT_FOUND);
	CHECK(stat_of(segment).repairs > 0);
}

/* ------------------------------------------------------------------ a long life */

static void random_life(uint64_t *random)
{
	bool stands[24] = {false};
	uint64_t sizes[24] = {0};
	for (int step = 0; step < 150; step++) {
		const uint32_t i = (uint32_t) (test_random(random) % 24);
		const char *name = numbered("f-", i);
		if (stands[i] && test_random(random) % 3 == 0) {
			CHECK_INT(drop(segment, name), 1);
			stands[i] = false;
			continue;
		}
		const uint64_t keys = test_random(random) % 50000;
		const int status = load(segment, name, i * UINT64_C(1000000), i * UINT64_C(1000000) + keys);
		CHECK(status == BSHM_OK || status == BSHM_E_NO_SPACE);
		if (status == BSHM_OK) {
			stands[i] = true;
			sizes[i] = keys;
		} else {
			/* Only when it is true: what is free, were it scattered, could not hold it. */
			CHECK(last_error.asked > last_error.available);
		}
	}
	for (uint32_t i = 0; i < 24; i++) {
		if (stands[i]) {
			const uint64_t first = i * UINT64_C(1000000);
			CHECK_INT(absent(segment, numbered("f-", i), first, first + sizes[i]), 0);
		}
	}
}

TEST(after_any_life_what_is_free_is_one_filters)
{
	uint64_t random = test_seed();
	segment = open_segment(MB(1));
	for (int round = 0; round < 2; round++) {
		random_life(&random);
		const bshm_stat stat = stat_of(segment);
		const uint32_t left = (uint32_t) (stat.filter_bytes_free / BSHM_FILTER_UNIT_BYTES);
		CHECK_INT(reserve_partitions("too large", left + 1), BSHM_E_NO_SPACE);
		CHECK_INT(last_error.available, stat.filter_bytes_free);
		if (left != 0) {
			CHECK_INT(reserve_partitions("all", left), 1);
			CHECK_INT(stat_of(segment).filter_bytes_free, 0);
			CHECK(add_number(segment, "all", 7) == 1);
			CHECK_INT(faults(segment), 0);
			CHECK_INT(drop(segment, "all"), 1);
		}
		CHECK_INT(faults(segment), 0);
	}
	for (uint32_t i = 0; i < 24; i++) {
		drop(segment, numbered("f-", i));
	}
	CHECK_INT(reserve_partitions("everything", 128), 1);
	CHECK_INT(stat_of(segment).repairs, 0);
}

static void reload_for_ever(void)
{
	const uint64_t id = BSHM_ADD(&test_words[0], 1, RELAXED) % 2;
	const char *name = id == 0 ? "left" : "right";
	for (uint64_t round = 0;; round++) {
		const int status =
			load(segment, name, id * 1000000, id * 1000000 + 30000 + round % 7 * 8000);
		CHECK(status == BSHM_OK || status == BSHM_E_NO_SPACE || status == BSHM_E_TIMEOUT);
	}
}

/* Two loaders take and leave scattered memory from under each other, and are killed at it. */
TEST(scattered_filters_are_read_right_while_others_are_loaded)
{
	uint64_t random = test_seed();
	scatter();
	CHECK_INT(load(segment, "left", 0, 30000), BSHM_OK);
	CHECK_INT(load(segment, "right", 1000000, 1030000), BSHM_OK);
	pid_t children[2] = {spawn(reload_for_ever), spawn(reload_for_ever)};
	const uint64_t end_ns = bshm_os_monotonic_ns() + UINT64_C(800000000);
	uint64_t next_kill = 300;
	while (bshm_os_monotonic_ns() < end_ns) {
		const uint64_t key = test_random(&random) % 30000;
		const int left = has_number(segment, "left", key);
		const int right = has_number(segment, "right", 1000000 + key);
		CHECK(left == 1 || left == BSHM_E_BUSY);
		CHECK(right == 1 || right == BSHM_E_BUSY);
		if (key % 64 == 0) {
			forget_views();
			const int added = add_number(segment, "left", key);
			CHECK(added >= 0 || added == BSHM_E_TIMEOUT);
		}
		if (--next_kill == 0) {
			next_kill = 300;
			kill_child(children[0]);
			children[0] = children[1];
			children[1] = spawn(reload_for_ever);
		}
	}
	kill_child(children[0]);
	kill_child(children[1]);
	stat_of(segment);
	CHECK_INT(absent(segment, "left", 0, 30000), 0);
	CHECK_INT(absent(segment, "right", 1000000, 1030000), 0);
	const bshm_stat stat = stat_of(segment);
	CHECK_INT(stat.filter_bytes_free + info_of(segment, "left").bytes +
				  info_of(segment, "right").bytes + 64 * BSHM_FILTER_UNIT_BYTES,
		stat.filter_bytes);
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ no room */

static uint64_t next_key;

/* Adds a key that is not there yet: 1, or why not. */
static int grow_by_one(void)
{
	int status;
	do {
		status = add_number(segment, "growing", next_key++);
	} while (status == 0);
	return status;
}

/* A filter that must grow, in a segment that has no partition left. */
static void fill_all(void)
{
	segment = open_segment(MB(1));
	const bshm_parameters p = parameters(0.01, 100, 2);
	CHECK_INT(bshm_filter_reserve(segment, "growing", 7, &p, &last_error), 1);
	CHECK_INT(reserve_partitions("rest", segment->partition_count - 1), 1);
	int status;
	do {
		status = grow_by_one();
	} while (status == 1);
	CHECK_INT(status, BSHM_E_NO_SPACE);
}

static void hold_the_lock(void)
{
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	raise_flag_and_sleep(0);
}

TEST(who_has_just_found_no_room_does_not_wait_for_the_lock_to_find_none_again)
{
	test_slow();
	fill_all();
	const bshm_error first = last_error;
	const pid_t child = spawn(hold_the_lock);
	await_flag(0);
	bshm__space_note(segment, 0); /* the child may have been slow to start */
	CHECK_INT(grow_by_one(), BSHM_E_NO_SPACE);
	CHECK(last_error.cause == first.cause);
	CHECK_INT(last_error.asked, first.asked);
	CHECK_INT(last_error.available, 0);
	CHECK_INT(segment->header->lock_timeouts, 0);
	/* Not for ever: it looks again. */
	segment->header->no_room -= UINT64_C(200) << 32;
	CHECK_INT(grow_by_one(), BSHM_E_TIMEOUT);
	kill_child(child);
	CHECK_INT(grow_by_one(), BSHM_E_NO_SPACE);
}

TEST(room_that_is_given_back_is_found_at_once)
{
	fill_all();
	CHECK_INT(drop(segment, "rest"), 1);
	CHECK_INT(grow_by_one(), 1);
	CHECK_INT(faults(segment), 0);
}

static bshm_op *claim_for_a_load(uint32_t count)
{
	uint32_t index;
	bshm_run run;
	bshm__space space;
	const bshm__name name = bshm__name_of("load", 4);
	uint64_t *map = bshm__blocks_map(segment);
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	REQUIRE(bshm__entry_create(segment, &name, &index, &last_error) == BSHM_OK);
	bshm_op *op = bshm__op_begin(segment, BSHM_OP_BUILD, index, 1, false);
	REQUIRE(bshm__blocks_take(segment, count, map, &run, &space));
	bshm__op_claim(segment, op, &run);
	bshm__unlock(segment);
	free(map);
	return op;
}

static void load_and_sleep(void)
{
	claim_for_a_load(segment->partition_count - 1);
	raise_flag_and_sleep(0);
}

TEST(room_of_a_dead_loader_is_found_at_once)
{
	segment = open_segment(MB(1));
	const bshm_parameters p = parameters(0.01, 100, 2);
	CHECK_INT(bshm_filter_reserve(segment, "growing", 7, &p, &last_error), 1);
	const pid_t child = spawn(load_and_sleep);
	await_flag(0);
	int status;
	do {
		status = grow_by_one();
	} while (status == 1);
	CHECK_INT(status, BSHM_E_NO_SPACE);
	kill_child(child);
	bshm__space_note(segment, 0);
	CHECK_INT(grow_by_one(), 1);
}

TEST(room_of_a_load_that_gave_up_is_found_at_once)
{
	segment = open_segment(MB(1));
	const bshm_parameters p = parameters(0.01, 100, 2);
	CHECK_INT(bshm_filter_reserve(segment, "growing", 7, &p, &last_error), 1);
	bshm_op *op = claim_for_a_load(segment->partition_count - 1);
	int status;
	do {
		status = grow_by_one();
	} while (status == 1);
	CHECK_INT(status, BSHM_E_NO_SPACE);
	bshm__space_note(segment, 0);
	BSHM_STORE(&op->owner, 0, RELEASE);
	CHECK_INT(grow_by_one(), 1);
}
