/*
 * test_bounds_index.c - how much work the index, and a search for a free slot, take under a lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/evict.h"
#include "core/cache/recency.h"
#include "core/cache/table.h"
#include "test_bounds.h"

/* Of a step, as in test_bounds.c. */
#define ROOM_MOST 400000u
/* 7 for each ref, and each word of the new units, which are zeroed first. */
#define RESIZE_MOST 180000u

/* The first large values leave an index that was made for many more records: a bucket in a hundred
 * has one. What is searched for each record that goes counts for the step, too. */
TEST(large_values_among_tiny_ones_search_a_sparse_index_in_steps)
{
	static const uint64_t sizes[] = {MB(1), MB(8)};
	for (unsigned c = 0; c < 2; c++) {
		bshm_segment *segment = open_with_seed(sizes[c], 0);
		store_fill_up(segment, 0, 0);
		uint64_t most = 0;
		for (uint32_t i = 0; i < 2 * sizes[c] / 48000; i++) {
			bshm__held = (bshm_held){0};
			CHECK_INT(store_put(segment, UINT32_MAX - i, 1, 48681, 0, BSHM_PUT_SET), 1);
			most = bshm__held.most > most ? bshm__held.most : most;
		}
		test_note("%llu accesses at most", (unsigned long long) most);
		CHECK(most <= ROOM_MOST);
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* The units of all tables are not looked through: one of its records leads to the unit's table. */
TEST(the_table_of_a_unit_is_found_at_once)
{
	bshm_segment *segment = filled_store(MB(64), 1000000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	REQUIRE(segment->shard_tables >= 256);
	uint64_t most = 0;
	for (uint32_t i = 0; i < segment->shard_tables; i += 15) {
		const bshm__buckets buckets = bshm__buckets_of(segment, i);
		uint64_t least = UINT64_MAX; /* not of those that search the pages for a free slot */
		for (unsigned k = 0; k < 8; k++) {
			const uint64_t before = bshm__held.accesses;
			CHECK(bshm__unit_move(&s, bshm__unit(&buckets, 1)));
			const uint64_t accesses = bshm__held.accesses - before;
			least = accesses < least ? accesses : least;
		}
		most = least > most ? least : most;
	}
	test_note("%llu accesses", (unsigned long long) most);
	CHECK(most < 2 * 4096 / 8 + 600); /* the copy, and few more */
	check_sound(segment);
}

/* One without a record is looked for in the roots alone. A page has 254 of the least ones. */
TEST(the_table_of_an_empty_unit_is_found_by_one_access_to_each_root)
{
	bshm_segment *segment = open_store(MB(64), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 2000; i++) {
		put_number(segment, i);
	}
	remove_in_order(segment);
	const uint32_t last = segment->shard_tables - 1;
	REQUIRE(bshm__buckets_of(segment, last).count == 1 && records_of(segment) == 0);
	uint64_t least = UINT64_MAX; /* not of one that searches the pages for a free slot */
	for (unsigned k = 0; k < 8; k++) {
		const bshm__buckets buckets = bshm__buckets_of(segment, last);
		const uint64_t before = bshm__held.accesses;
		CHECK(bshm__unit_move(&s, bshm__unit(&buckets, 0)));
		const uint64_t accesses = bshm__held.accesses - before;
		least = accesses < least ? accesses : least;
	}
	test_note("%llu accesses", (unsigned long long) least);
	CHECK(least < segment->shard_tables + 120);
	check_sound(segment);
	bshm_segment_close(segment);
}

static void resize(bshm_segment *segment)
{
	const bshm__shard s = bshm__shard_at(segment, 0);
	CHECK(bshm__table_resize(&s, 0, BSHM_BUCKETS_MAX - BSHM_UNIT_BUCKETS));
	CHECK(bshm__table_resize(&s, 0, BSHM_BUCKETS_MAX));
}

/* No table is larger, in a store of any size. */
TEST(the_largest_table_is_resized_in_one_hold)
{
	bshm_segment *segment = open_store(MB(2), 8191);
	REQUIRE(segment->shard_tables == 1);
	/* More than were planned for one table. Of more than these, one may find its bucket full. */
	segment->cache_records = 0;
	for (uint32_t i = 0; i < 14500; i++) {
		put_number(segment, i);
	}
	const cost both = cost_of(resize, segment);
	test_note("%llu accesses each", (unsigned long long) both.accesses / 2);
	CHECK(both.accesses / 2 < RESIZE_MOST);
	remove_in_order(segment);
	CHECK_INT(records_of(segment), 0);
}

/* Large values in a store whose tables were planned for small ones: a bucket in a hundred has a
 * record. All are younger than the floor. */
TEST(an_eviction_looks_at_a_bounded_part_of_a_sparse_index)
{
	bshm_segment *segment = open_store(MB(64), 1100000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 900; i++) {
		CHECK_INT(store_put(segment, i, 1, 50000, 0, BSHM_PUT_SET), 1);
	}
	uint64_t most = 0;
	const uint64_t now = bshm__stamp_now(&s);
	BSHM_STORE(&s.shard->clock, now | ((now - 0x7000) & BSHM_SLOT_STAMP) << 16, RELAXED);
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t size_class;
		uint32_t looks = 0;
		const uint64_t before = bshm__held.accesses;
		CHECK(bshm__evict_one(&s, &size_class, &looks));
		const uint64_t accesses = bshm__held.accesses - before;
		most = accesses > most ? accesses : most;
	}
	test_note("%llu accesses", (unsigned long long) most);
	CHECK(most < 16 * 1024 * 40);
}

TEST(records_that_go_in_the_order_of_a_table_resize_it_seldom)
{
	bshm_segment *segment = filled_store(MB(16), 100000);
	const cost all = cost_of(remove_in_order, segment);
	test_note("a record: %llu", (unsigned long long) all.accesses / 100000);
	CHECK(all.accesses < UINT64_C(100000) * 600);
	CHECK_INT(records_of(segment), 0);
}

#define WIDE_RECORDS 180000u
#define WIDE_ROUNDS  1000u
#define WIDE_CHANGES 5u /* of one sort in a row: more pages than a class has hints */
#define WIDE_MOST    150u

/* Some records go, from anywhere, and come again. */
static void change_here_and_there(bshm_segment *segment)
{
	uint64_t random = 1;
	for (uint32_t i = 0; i < WIDE_ROUNDS; i++) {
		uint32_t numbers[WIDE_CHANGES];
		for (uint32_t k = 0; k < WIDE_CHANGES; k++) {
			numbers[k] = (uint32_t) (test_random(&random) % WIDE_RECORDS);
			store_remove(segment, numbers[k]);
		}
		for (uint32_t k = 0; k < WIDE_CHANGES; k++) {
			store_put(segment, numbers[k], 1, 450, 0, BSHM_PUT_SET);
		}
	}
}

/* A limit of records leaves one shard, with all pages. */
TEST(a_free_slot_is_found_without_a_search_through_a_large_shard)
{
	for (uint32_t shards = 1; shards <= 3; shards += 2) {
		bshm_segment *segment = open_store(MB(128), shards == 1 ? 1000000 : 0);
		CHECK_INT(segment->shard_count, shards);
		for (uint32_t i = 0; i < WIDE_RECORDS; i++) {
			CHECK_INT(store_put(segment, i, 1, 450, 0, BSHM_PUT_SET), 1);
		}
		const cost all = cost_of(change_here_and_there, segment);
		const uint64_t each = all.accesses / (2 * WIDE_ROUNDS * WIDE_CHANGES);
		test_note("%llu accesses a change", (unsigned long long) each);
		CHECK(each <= WIDE_MOST);
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* Of several shards each has a lock of its own: threads write their notes at the same time. */
TEST(pages_with_room_are_noted_of_each_shard_apart)
{
	bshm_segment *segment = open_store(MB(66), 0);
	REQUIRE(segment->shard_count == 3);
	for (uint32_t i = 0; i < 20000; i++) {
		store_put(segment, i, 1, 450, 0, BSHM_PUT_SET);
	}
	const uint32_t size_class = bshm__class_of(BSHM_SLOT_HEADER + 8 + 450);
	bshm__roomy before[3];
	memcpy(before, segment->roomy, sizeof(before));
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_INT(before[i].next[size_class], 0);
	}
	uint32_t removed = 0;
	for (uint32_t i = 0; removed < 200; i += 10) {
		const uint64_t key = i;
		const bshm_key name = {(const char *) &key, 8};
		if (bshm__home_of(segment, BSHM_SPACE_CACHE, &name).shard == 1) {
			CHECK_INT(store_remove(segment, i), 1);
			removed++;
		}
	}
	CHECK(segment->roomy[1].next[size_class] > 20);
	CHECK(memcmp(&before[0], &segment->roomy[0], sizeof(before[0])) == 0);
	CHECK(memcmp(&before[2], &segment->roomy[2], sizeof(before[2])) == 0);
	bshm_segment_close(segment);
}
