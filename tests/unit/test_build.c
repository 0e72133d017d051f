/*
 * test_build.c - builds, and what is added meanwhile.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/build.h"
#include "core/filter/mend.h"
#include "core/segment/directory.h"
#include "core/segment/lock.h"
#include "core/segment/ops.h"
#include "core/segment/sound.h"
#include "platform/platform.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bshm_segment *segment;

/* ------------------------------------------------------------------ loads */

TEST(a_load_is_found_and_nothing_else)
{
	segment = open_segment(MB(2));
	CHECK_INT(has(segment, "f", "a"), BSHM_E_NOT_FOUND);
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(has(segment, "f", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(offer(build, 0, 100000), BSHM_OK);
	CHECK_INT(bshm_build_offered(build), 100000);
	bshm_info info;
	CHECK_INT(publish(build, &info), BSHM_OK);
	CHECK_INT(present(segment, "f", 0, 100000), 100000);
	const uint64_t wrong = present(segment, "f", 1000000, 1100000);
	CHECK(wrong < 1000);
	CHECK(wrong > 0);
	CHECK(info.items >= 99000 && info.items <= 100000);
	CHECK(info.capacity >= 100000);
	CHECK_INT(info.partition_count, bshm_geometry_for(0.01, 100000).partition_count);
	CHECK_INT(info.bytes, info.partition_count * BSHM_PARTITION_BYTES);
	CHECK(info.estimated_error_rate <= 0.01);
	CHECK(info.worst_partition_error_rate >= info.estimated_error_rate);
	CHECK(info.published_s > 1.5e9);
	const bshm_info again = info_of(segment, "f");
	CHECK_INT(again.generation, info.generation);
	CHECK_INT(again.items, info.items);
	CHECK_INT(faults(segment), 0);
}

TEST(a_load_without_keys_publishes_an_empty_filter)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 0), BSHM_OK);
	CHECK_INT(has(segment, "f", "a"), 0);
	CHECK_INT(info_of(segment, "f").partition_count, 1);
}

TEST(empty_and_zero_bytes_are_keys)
{
	segment = open_segment(MB(1));
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(bshm_build_key(build, "", 0, &last_error), BSHM_OK);
	CHECK_INT(bshm_build_key(build, "a\0b", 3, &last_error), BSHM_OK);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	bshm_views *views = bshm_views_new();
	CHECK_INT(bshm_filter_has(segment, views, "f", 1, "", 0), 1);
	CHECK_INT(bshm_filter_has(segment, views, "f", 1, "a\0b", 3), 1);
	CHECK_INT(bshm_filter_has(segment, views, "f", 1, "a", 1), 0);
	CHECK_INT(bshm_filter_has(segment, views, "f", 1, "a\0c", 3), 0);
	bshm_views_free(views);
}

TEST(a_load_replaces_the_set)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	const uint64_t free_before = stat_of(segment).filter_bytes_free;
	for (uint64_t round = 1; round <= 50; round++) {
		CHECK_INT(load(segment, "f", round * 1000, round * 1000 + 1000), BSHM_OK);
		CHECK_INT(present(segment, "f", round * 1000, round * 1000 + 1000), 1000);
		CHECK(present(segment, "f", round * 1000 - 1000, round * 1000) < 100);
	}
	CHECK_INT(stat_of(segment).filter_bytes_free, free_before);
	CHECK_INT(stat_of(segment).filters, 1);
}

TEST(an_aborted_build_changes_nothing)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	const bshm_stat before = stat_of(segment);
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(offer(build, 5000, 6000), BSHM_OK);
	bshm_build_abort(build);
	bshm_build_abort(NULL);
	build = begin_build(segment, "new");
	CHECK_INT(offer(build, 0, 10), BSHM_OK);
	bshm_build_abort(build);
	CHECK_INT(present(segment, "f", 0, 1000), 1000);
	CHECK(present(segment, "f", 5000, 6000) < 50);
	const bshm_stat after = stat_of(segment);
	CHECK_INT(after.filter_bytes_free, before.filter_bytes_free);
	CHECK_INT(after.filters, 1);
	CHECK_INT(op_count(segment), 0);
	CHECK_INT(has(segment, "new", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(faults(segment), 0);
}

TEST(a_rate_above_the_limit_is_not_published)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	const bshm_stat before = stat_of(segment);
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(offer(build, 5000, 12000), BSHM_OK);
	bshm_info info;
	CHECK_INT(bshm_build_publish(build, 1e-6, &info, &last_error), BSHM_E_ERROR_RATE);
	CHECK_INT(last_error.status, BSHM_E_ERROR_RATE);
	CHECK(last_error.rate > 1e-6 && last_error.rate < 0.01);
	CHECK_INT(present(segment, "f", 0, 1000), 1000);
	CHECK_INT(stat_of(segment).filter_bytes_free, before.filter_bytes_free);
	CHECK_INT(op_count(segment), 0);
}

TEST(a_load_that_does_not_fit_says_how_much_there_is)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 100000), BSHM_OK);
	const bshm_stat before = stat_of(segment);
	const uint64_t need = bshm_geometry_for(0.01, 750000).partition_count * BSHM_PARTITION_BYTES;
	CHECK(need <= before.filter_bytes && need > before.filter_bytes_free);
	CHECK_INT(load(segment, "f", 0, 750000), BSHM_E_NO_SPACE);
	CHECK_INT(last_error.asked, need);
	CHECK_INT(last_error.available, before.filter_bytes_free);
	CHECK(last_error.cause == BSHM_CAUSE_FILTER_MEMORY);
	CHECK_INT(load(segment, "f", 0, 900000), BSHM_E_NO_SPACE); /* more than the whole segment */
	CHECK_INT(last_error.available, before.filter_bytes_free);
	CHECK_INT(present(segment, "f", 0, 100000), 100000);
	CHECK_INT(stat_of(segment).filter_bytes_free, before.filter_bytes_free);
}

TEST(keys_offered_again_do_not_enlarge_a_filter)
{
	segment = open_segment(MB(4));
	bshm_build *build = begin_build(segment, "few");
	for (int i = 0; i < 1000; i++) {
		REQUIRE(offer(build, 0, 1000) == BSHM_OK);
	}
	bshm_info info;
	CHECK_INT(publish(build, &info), BSHM_OK);
	CHECK_INT(info.partition_count, 1);
	CHECK(info.items >= 995 && info.items <= 1000);

	build = begin_build(segment, "many");
	for (int i = 0; i < 5; i++) {
		REQUIRE(offer(build, 0, 200000) == BSHM_OK);
	}
	CHECK_INT(publish(build, &info), BSHM_OK);
	const double ideal = (double) bshm_geometry_for(0.01, 200000).partition_count;
	CHECK(info.partition_count >= ideal - 1 && info.partition_count < ideal * 1.1);
	CHECK(info.estimated_error_rate <= 0.01);
	CHECK_INT(absent(segment, "many", 0, 200000), 0);
}

/* The capacity is a hint: too small, and the size is found all the same. */
TEST(a_capacity_hint_is_a_lower_bound)
{
	segment = open_segment(MB(4));
	const uint64_t hints[] = {1, 50000, 500000};
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		const bshm_parameters p = parameters(0.01, hints[i], 0);
		bshm_build *build;
		REQUIRE(bshm_build_begin(segment, "f", 1, &p, &build, &last_error) == BSHM_OK);
		REQUIRE(offer(build, 0, 50000) == BSHM_OK);
		bshm_info info;
		CHECK_INT(publish(build, &info), BSHM_OK);
		const uint64_t keys = hints[i] < 50000 ? 50000 : hints[i];
		CHECK_INT(info.partition_count, bshm_geometry_for(0.01, keys).partition_count);
		CHECK(info.capacity >= keys);
		CHECK(info.estimated_error_rate <= 0.01);
		CHECK_INT(absent(segment, "f", 0, 50000), 0);
	}
	const bshm_parameters huge = parameters(0.01, BSHM_CAPACITY_MAX, 0);
	bshm_build *build;
	REQUIRE(bshm_build_begin(segment, "f", 1, &huge, &build, &last_error) == BSHM_OK);
	CHECK_INT(publish(build, NULL), BSHM_E_NO_SPACE);
	CHECK_INT(absent(segment, "f", 0, 50000), 0);
}

TEST(rates_from_one_half_to_a_millionth_are_kept)
{
	segment = open_segment(MB(8));
	const double rates[] = {0.5, 0.1, 0.01, 0.001, 0.0001, 0.000001};
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		const bshm_parameters p = parameters(rates[i], 0, 0);
		bshm_build *build;
		REQUIRE(bshm_build_begin(segment, "f", 1, &p, &build, &last_error) == BSHM_OK);
		REQUIRE(offer(build, 0, 150000) == BSHM_OK);
		bshm_info info;
		CHECK_INT(bshm_build_publish(build, rates[i], &info, &last_error), BSHM_OK);
		CHECK_INT(absent(segment, "f", 0, 150000), 0);
		const double found = (double) present(segment, "f", 1000000, 1200000) / 200000;
		CHECK(found <= rates[i] * 1.05 + 0.0001);
	}
}

TEST(seeds_decide_the_bits)
{
	segment = open_segment(MB(1));
	const char *seeds[] = {"one", "one", "two"};
	uint64_t words[3];
	for (int i = 0; i < 3; i++) {
		bshm_parameters p = parameters(0.01, 0, 0);
		p.seed = seeds[i];
		p.seed_length = 3;
		bshm_build *build;
		REQUIRE(bshm_build_begin(segment, "f", 1, &p, &build, &last_error) == BSHM_OK);
		REQUIRE(offer(build, 0, 1000) == BSHM_OK);
		REQUIRE(publish(build, NULL) == BSHM_OK);
		const bshm_entry *entry = entry_of(segment, "f");
		const bshm_descriptor d = bshm__descriptor_read(entry, entry->generation);
		words[i] = bshm__checksum(
			segment->partitions + (size_t) d.newest.run.first * BSHM_PARTITION_BYTES, 8192, 0);
	}
	CHECK(words[0] == words[1]);
	CHECK(words[0] != words[2]);
}

TEST(sixty_four_builds_run_and_the_next_is_told_so)
{
	segment = open_segment(MB(1));
	bshm_build *builds[BSHM_OP_COUNT];
	char name[16] = "build-";
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		name[6] = (char) ('0' + i % 64);
		builds[i] = begin_build(segment, name);
	}
	const bshm_parameters p = parameters(0.01, 10, 0);
	bshm_build *one_more = NULL;
	CHECK_INT(bshm_build_begin(segment, "more", 4, &p, &one_more, &last_error), BSHM_E_NO_SPACE);
	CHECK(last_error.cause == BSHM_CAUSE_OPS);
	CHECK_INT(last_error.available, BSHM_OP_COUNT);
	CHECK_INT(reserve(segment, "more", 10, 0.01), BSHM_E_NO_SPACE);
	bshm_build_abort(builds[0]);
	CHECK_INT(reserve(segment, "more", 10, 0.01), 1);
	for (uint32_t i = 1; i < BSHM_OP_COUNT; i++) {
		CHECK_INT(publish(builds[i], NULL), BSHM_OK);
	}
	CHECK_INT(stat_of(segment).filters, BSHM_OP_COUNT);
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ adds meanwhile */

TEST(an_add_during_a_rebuild_is_in_the_new_set)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(add_number(segment, "f", 7000), 1);
	CHECK_INT(add_number(segment, "f", 5), 0); /* in the old set, not in the catalogue any more */
	CHECK_INT(offer(build, 2000, 3000), BSHM_OK);
	CHECK_INT(add_numbers(segment, "f", 8000, 8003), 3);
	CHECK_INT(has_number(segment, "f", 7000), 1);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(has_number(segment, "f", 7000), 1);
	CHECK_INT(has_number(segment, "f", 5), 1);
	CHECK_INT(absent(segment, "f", 8000, 8003), 0);
	CHECK_INT(absent(segment, "f", 2000, 3000), 0);
	CHECK(present(segment, "f", 100, 1000) < 100);
	CHECK_INT(add_number(segment, "f", 9000), 1);
	CHECK_INT(entry_of(segment, "f")->builders, 0);
	CHECK_INT(faults(segment), 0);
}

TEST(an_add_during_a_first_load_is_in_it)
{
	segment = open_segment(MB(1));
	CHECK_INT(add_number(segment, "f", 1), BSHM_E_NOT_FOUND);
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(add_number(segment, "f", 1), BSHM_E_NOT_FOUND);
	CHECK_INT(add_numbers(segment, "f", 100, 200), BSHM_E_NOT_FOUND);
	CHECK_INT(has_number(segment, "f", 1), BSHM_E_NOT_FOUND);
	CHECK_INT(offer(build, 1000, 2000), BSHM_OK);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(has_number(segment, "f", 1), 1);
	CHECK_INT(absent(segment, "f", 100, 200), 0);
	CHECK_INT(absent(segment, "f", 1000, 2000), 0);
}

static void add_from_elsewhere(void)
{
	for (uint64_t i = 10000; i < 13000; i++) {
		CHECK(add_number(segment, "f", i) >= 0);
	}
}

TEST(a_long_load_empties_its_journal)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 10), BSHM_OK);
	bshm_build *build = begin_build(segment, "f");
	for (uint64_t round = 0; round < 10; round++) {
		const pid_t child = spawn(add_from_elsewhere);
		CHECK_INT(finish(child), 0);
		CHECK_INT(offer(build, round * 10, round * 10 + 10), BSHM_OK);
	}
	bshm_info info;
	CHECK_INT(publish(build, &info), BSHM_OK);
	CHECK_INT(absent(segment, "f", 10000, 13000), 0);
	CHECK_INT(absent(segment, "f", 0, 100), 0);
	CHECK_INT(info.partition_count, 1); /* keys added again and again count once */
}

TEST(a_full_journal_fails_the_build_and_spares_the_filter)
{
	segment = open_segment(MB(1));
	const bshm_parameters grows = parameters(0.01, 0, 2);
	bshm_build *build;
	REQUIRE(bshm_build_begin(segment, "f", 1, &grows, &build, &last_error) == BSHM_OK);
	REQUIRE(publish(build, NULL) == BSHM_OK);
	const uint64_t room = (uint64_t) segment->chunk_count * BSHM_CHUNK_HASHES;

	build = begin_build(segment, "f");
	CHECK(add_numbers(segment, "f", 0, room) > 0);
	CHECK(add_numbers(segment, "f", room, room + 100) >= 0);
	CHECK_INT(publish(build, NULL), BSHM_E_NO_SPACE);
	CHECK(last_error.cause == BSHM_CAUSE_JOURNAL);
	CHECK_INT(absent(segment, "f", 0, room + 100), 0);
	const bshm_stat stat = stat_of(segment);
	CHECK_INT(stat.filter_bytes_free + info_of(segment, "f").bytes, stat.filter_bytes);

	build = begin_build(segment, "f"); /* the journal is free again */
	CHECK(add_numbers(segment, "f", 0, room) >= 0);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, room), 0);
	CHECK_INT(faults(segment), 0);
}

TEST(two_builds_of_one_name_each_publish_a_whole_set)
{
	segment = open_segment(MB(1));
	bshm_build *first = begin_build(segment, "f");
	bshm_build *second = begin_build(segment, "f");
	CHECK_INT(add_number(segment, "f", 77777), BSHM_E_NOT_FOUND);
	CHECK_INT(offer(first, 0, 1000), BSHM_OK);
	CHECK_INT(offer(second, 2000, 3000), BSHM_OK);
	CHECK_INT(publish(first, NULL), BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	CHECK_INT(has_number(segment, "f", 77777), 1);
	CHECK_INT(entry_of(segment, "f")->builders, 1);
	CHECK(add_number(segment, "f", 88888) >= 0);
	CHECK_INT(publish(second, NULL), BSHM_OK);
	CHECK_INT(absent(segment, "f", 2000, 3000), 0);
	CHECK_INT(has_number(segment, "f", 77777), 1);
	CHECK_INT(has_number(segment, "f", 88888), 1);
	CHECK(present(segment, "f", 0, 1000) < 50);
	CHECK_INT(op_count(segment), 0);
	CHECK_INT(faults(segment), 0);
}

TEST(a_filter_dropped_during_its_rebuild_comes_back)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(offer(build, 0, 500), BSHM_OK);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(has_number(segment, "f", 1), BSHM_E_NOT_FOUND);
	CHECK_INT(add_number(segment, "f", 9000), BSHM_E_NOT_FOUND);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, 500), 0);
	CHECK_INT(has_number(segment, "f", 9000), 1);
}

/*
 * The promise as a site uses it: a key goes into the catalogue, then it is added; loads read the
 * catalogue after they began. Once the add has returned the key is never "no" again, whatever
 * loads run, end or are killed meanwhile. test_words[0] is the catalogue: keys 0 .. n-1.
 */
#define CATALOGUE 0

static void load_for_ever(void)
{
	for (;;) {
		bshm_build *build = begin_build(segment, "f");
		const uint64_t count = BSHM_LOAD(&test_words[CATALOGUE], ACQUIRE);
		CHECK_INT(offer(build, 0, count), BSHM_OK);
		const int status = publish(build, NULL);
		CHECK(status == BSHM_OK || status == BSHM_E_NO_SPACE || status == BSHM_E_TIMEOUT);
	}
}

static void expect_known(uint64_t *random, uint64_t count)
{
	for (int i = 0; i < 4; i++) {
		const uint64_t key = test_random(random) % count;
		CHECK(has_number(segment, "f", key) != 0);
	}
	CHECK(has_number(segment, "f", count - 1) != 0);
}

TEST(added_keys_stay_found_while_loads_run_and_are_killed)
{
	uint64_t random = test_seed();
	segment = open_segment(MB(2));
	const bshm_parameters grows = parameters(0.01, 0, 2);
	bshm_build *build;
	REQUIRE(bshm_build_begin(segment, "f", 1, &grows, &build, &last_error) == BSHM_OK);
	REQUIRE(publish(build, NULL) == BSHM_OK);
	pid_t loader = spawn(load_for_ever);
	uint64_t next_kill = 1 + test_random(&random) % 200;
	const uint64_t end_ns = bshm_os_monotonic_ns() + UINT64_C(1500000000);
	for (uint64_t key = 0; key < 40000 && bshm_os_monotonic_ns() < end_ns; key++) {
		BSHM_STORE(&test_words[CATALOGUE], key + 1, RELEASE);
		int status;
		do {
			status = add_number(segment, "f", key);
		} while (status == BSHM_E_TIMEOUT || status == BSHM_E_FULL);
		CHECK(status >= 0);
		expect_known(&random, key + 1);
		if (--next_kill == 0) {
			kill_child(loader);
			loader = spawn(load_for_ever);
			next_kill = 1 + test_random(&random) % 200;
		}
	}
	kill_child(loader);
	const uint64_t count = test_words[CATALOGUE];
	CHECK_INT(absent(segment, "f", 0, count), 0);
	const bshm_stat stat = stat_of(segment);
	CHECK_INT(stat.filters, 1);
	CHECK_INT(stat.filter_bytes_free + info_of(segment, "f").bytes, stat.filter_bytes);
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ death and forks */

static void build_and_sleep(void)
{
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(offer(build, 5000, 9000), BSHM_OK);
	raise_flag_and_sleep(0);
}

TEST(a_killed_load_leaves_the_filter_as_it_was)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	const pid_t child = spawn(build_and_sleep);
	await_flag(0);
	kill_child(child);
	CHECK_INT(present(segment, "f", 0, 1000), 1000);
	CHECK(add_number(segment, "f", 4000) >= 0); /* meets the dead builder, and tidies up */
	CHECK_INT(entry_of(segment, "f")->builders, 0);
	CHECK_INT(op_count(segment), 0);
	CHECK_INT(has_number(segment, "f", 4000), 1);
	CHECK_INT(load(segment, "f", 2000, 3000), BSHM_OK);
	CHECK_INT(stat_of(segment).repairs, 1);
	CHECK_INT(faults(segment), 0);
}

TEST(a_killed_first_load_leaves_no_name)
{
	segment = open_segment(MB(1));
	const pid_t child = spawn(build_and_sleep);
	await_flag(0);
	CHECK_INT(add_number(segment, "f", 1), BSHM_E_NOT_FOUND);
	kill_child(child);
	CHECK_INT(add_number(segment, "f", 2), BSHM_E_NOT_FOUND);
	CHECK_INT(has_number(segment, "f", 1), BSHM_E_NOT_FOUND);
	CHECK_INT(stat_of(segment).filters, 0);
	CHECK_INT(op_count(segment), 0);
	for (uint32_t i = 0; i < segment->entry_count; i++) {
		CHECK_INT(segment->entries[i].name[0], 0);
	}
}

/* What a load holds between taking its memory and publishing. */
static void take_all_and_sleep(void)
{
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	const bshm__name name = bshm__name_of("f", 1);
	uint32_t index;
	bshm_run run;
	bshm__space space;
	uint64_t *claimed = bshm__blocks_map(segment);
	REQUIRE(bshm__entry_create(segment, &name, &index, &last_error) == BSHM_OK);
	bshm_op *op = bshm__op_begin(segment, BSHM_OP_BUILD, index, 1, false);
	REQUIRE(op != NULL);
	REQUIRE(bshm__blocks_take(segment, segment->partition_count, claimed, &run, &space));
	bshm__op_claim(segment, op, &run);
	bshm__unlock(segment);
	raise_flag_and_sleep(0);
}

TEST(a_dead_loads_memory_is_had_by_the_next)
{
	segment = open_segment(MB(1));
	pid_t child = spawn(take_all_and_sleep);
	await_flag(0);
	CHECK_INT(stat_of(segment).filter_bytes_free, 0);
	CHECK_INT(load(segment, "g", 0, 1000), BSHM_E_NO_SPACE);
	kill(child, SIGSTOP); /* stopped is not dead */
	CHECK_INT(load(segment, "g", 0, 1000), BSHM_E_NO_SPACE);
	kill_child(child);
	CHECK_INT(load(segment, "g", 0, 1000), BSHM_OK); /* takes it, unasked */
	CHECK_INT(has_number(segment, "f", 1), BSHM_E_NOT_FOUND);
	CHECK_INT(faults(segment), 0);
}

static bshm_build *inherited;

static void abort_inherited(void)
{
	bshm_build_abort(inherited);
}

TEST(a_forks_child_may_abort_its_copy_of_a_build)
{
	segment = open_segment(MB(1));
	inherited = begin_build(segment, "f");
	CHECK_INT(offer(inherited, 0, 1000), BSHM_OK);
	CHECK_INT(add_number(segment, "f", 5000), BSHM_E_NOT_FOUND);
	CHECK_INT(finish(spawn(abort_inherited)), 0);
	CHECK_INT(add_number(segment, "f", 5001), BSHM_E_NOT_FOUND);
	CHECK_INT(publish(inherited, NULL), BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	CHECK_INT(absent(segment, "f", 5000, 5002), 0);
}

static void publish_inherited(void)
{
	CHECK(offer(inherited, 1000, 1010) <= 0);
	CHECK(publish(inherited, NULL) < 0);
}

static void try_a_fork_that_goes_on(uint64_t added)
{
	inherited = begin_build(segment, "f");
	CHECK_INT(offer(inherited, 0, 1000), BSHM_OK);
	CHECK_INT(add_numbers(segment, "f", 5000, 5000 + added), BSHM_E_NOT_FOUND);
	CHECK_INT(finish(spawn(publish_inherited)), 0);
	CHECK_INT(has_number(segment, "f", 1), BSHM_E_NOT_FOUND);
	CHECK_INT(publish(inherited, NULL), BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	CHECK_INT(absent(segment, "f", 5000, 5000 + added), 0);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(faults(segment), 0);
}

TEST(a_forks_child_cannot_publish_or_harm_its_parents_build)
{
	segment = open_segment(MB(1));
	try_a_fork_that_goes_on(1);
	try_a_fork_that_goes_on(1000);
}

/* Cut off between the two stores that end an op. */
static void die_ending_an_op(void)
{
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	const bshm__name name = bshm__name_of("f", 1);
	uint32_t index;
	REQUIRE(bshm__entry_create(segment, &name, &index, &last_error) == BSHM_OK);
	bshm_op *op = bshm__op_begin(segment, BSHM_OP_BUILD, index, 1, false);
	REQUIRE(op != NULL);
	op->entry = 0;
	raise(SIGKILL);
}

TEST(death_while_ending_a_build_costs_no_op)
{
	segment = open_segment(MB(1));
	for (uint32_t i = 0; i <= BSHM_OP_COUNT && !test_failed(); i++) {
		CHECK_INT(finish(spawn(die_ending_an_op)), -SIGKILL);
		CHECK_INT(load(segment, "g", 0, 100), BSHM_OK);
		CHECK_INT(op_count(segment), 0);
	}
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ refusals */

TEST(a_readonly_segment_changes_nothing)
{
	segment = open_segment(MB(1));
	CHECK_INT(reserve(segment, "f", 100, 0.01), 1);
	CHECK_INT(add(segment, "f", "a"), 1);
	bshm_segment *readonly = open_segment_readonly();
	const bshm_parameters p = parameters(0.01, 100, 0);
	bshm_build *build = NULL;
	CHECK_INT(bshm_build_begin(readonly, "f", 1, &p, &build, &last_error), BSHM_E_READ_ONLY);
	CHECK_INT(reserve(readonly, "f", 100, 0.01), BSHM_E_READ_ONLY);
	CHECK_INT(clear(readonly, "f"), BSHM_E_READ_ONLY);
	CHECK_INT(drop(readonly, "f"), BSHM_E_READ_ONLY);
	CHECK_INT(rename_filter(readonly, "f", "g"), BSHM_E_READ_ONLY);
	CHECK_INT(copy_filter(readonly, "f", "g"), BSHM_E_READ_ONLY);
	CHECK_INT(copy_filter(readonly, "f", "f"), BSHM_E_READ_ONLY);
	CHECK_INT(add(readonly, "f", "b"), BSHM_E_READ_ONLY);
	CHECK_INT(add_numbers(readonly, "f", 0, 3), BSHM_E_READ_ONLY);
	CHECK_INT(last_error.status, BSHM_E_READ_ONLY);
	CHECK_INT(has(readonly, "f", "a"), 1);
	CHECK_INT(has(readonly, "f", "b"), 0);
	CHECK_INT(info_of(readonly, "f").items, 1);
	CHECK_INT(stat_of(readonly).filters, 1);
	CHECK_INT(faults(readonly), 0);
	CHECK_INT(add(segment, "f", "b"), 1);
	CHECK_INT(has(readonly, "f", "b"), 1);
}

TEST(a_load_replaces_a_damaged_filter)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	bshm_entry *entry = entry_of(segment, "f");
	entry->descriptor[entry->generation & 1].seed ^= 1;
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	const bshm_stat stat = stat_of(segment);
	CHECK_INT(stat.filter_bytes_free + info_of(segment, "f").bytes, stat.filter_bytes);
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ threads */

static void *thread_that_loads(void *unused)
{
	(void) unused;
	for (int i = 0; i < 30; i++) {
		CHECK_INT(load(segment, "f", 0, 2000), BSHM_OK);
	}
	return NULL;
}

static void *thread_that_adds(void *other)
{
	for (uint64_t i = 0; i < 2000; i++) {
		const uint64_t key = i % 200 + 3000;
		const int status = add_number(other, "f", key);
		CHECK(status >= 0 || status == BSHM_E_TIMEOUT);
		CHECK(has_number(other, "f", 1) == 1);
	}
	forget_views();
	return NULL;
}

THREAD_TEST(threads_add_and_ask_while_one_loads)
{
	segment = open_segment(MB(1));
	bshm_segment *others[3] = {open_segment(MB(1)), open_segment(MB(1)), open_segment(MB(1))};
	CHECK_INT(load(segment, "f", 0, 2000), BSHM_OK);
	pthread_t threads[4];
	for (int i = 0; i < 3; i++) {
		share_mapping(others[i], segment);
		pthread_create(&threads[i], NULL, thread_that_adds, others[i]);
	}
	pthread_create(&threads[3], NULL, thread_that_loads, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
	}
	CHECK_INT(absent(segment, "f", 0, 2000), 0);
	CHECK_INT(faults(segment), 0);
}
