/*
 * test_bounds_damage.c - how much work a put does in a damaged store: "Bounds" of
 * docs/CONCURRENCY.md.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/room.h"
#include "core/cache/table.h"
#include "test_cost.h"
#include "test_store.h"

/* 6 sizes up to the largest: 70 units are zeroed, and 160 refs looked for a place. */
#define GROWTH_MOST 120000u
/* 8 steps in vain, each of which looks twice at all buckets, and at many pages. */
#define REFUSED_MOST 4000000u
/* 48 evictions for the limit of records. */
#define DOUBT_MOST 20000u

/* The next key after *next of one bucket, whatever the size of the table. */
static uint32_t crowded(const bshm_segment *segment, uint64_t *next)
{
	return key_at(segment, next, 0, BSHM_POSITIONS / BSHM_BUCKETS_MAX);
}

static void put_crowded(bshm_segment *segment)
{
	CHECK_INT(store_put(segment, crowded(segment, &(uint64_t){MB(64)}), 1, 8, 0, BSHM_PUT_SET), 0);
}

/* No cell leads to a record any more. */
static void empty_index(bshm_segment *segment)
{
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t table = 0; table < segment->shard_tables; table++) {
		const bshm__buckets buckets = bshm__buckets_of(segment, table);
		for (uint32_t i = 0; i < buckets.count; i++) {
			for (uint32_t k = 0; k < BSHM_BUCKET_CELLS; k++) {
				BSHM_STORE(&bshm__bucket_at(&s, &buckets, i)->ref[k], 0, RELAXED);
			}
		}
	}
}

/* Puts until there is no room left, and no record that can go. */
static void put_in_vain(bshm_segment *segment)
{
	uint32_t number = MB(64);
	do {
		empty_index(segment);
		bshm__held = (bshm_held){0};
	} while (store_put(segment, number++, 1, 8, 0, BSHM_PUT_SET) == 1);
}

TEST(a_put_ends_soon_where_no_record_can_go)
{
	bshm_segment *segment = open_store(MB(1), 0);
	store_fill_up(segment, 0, 8);
	const cost one = cost_of(put_in_vain, segment);
	test_note("%llu accesses in %llu holds", (unsigned long long) one.accesses,
		(unsigned long long) bshm__held.holds);
	CHECK(one.accesses < REFUSED_MOST);
}

/* So many keys of one bucket are no chance: no size has a place for one more. */
TEST(a_table_that_is_of_no_use_larger_is_given_few_sizes)
{
	bshm_segment *segment = open_store(MB(2), 8191);
	uint64_t next = 0;
	for (unsigned i = 0; i < BSHM_REACH_MAX * BSHM_BUCKET_CELLS; i++) {
		REQUIRE(store_put(segment, crowded(segment, &next), 1, 8, 0, BSHM_PUT_SET) == 1);
	}
	const cost one = cost_of(put_crowded, segment);
	test_note("%llu accesses", (unsigned long long) one.most);
	CHECK(one.most < GROWTH_MOST);
	CHECK_INT(records_of(segment), BSHM_REACH_MAX * BSHM_BUCKET_CELLS);
	check_sound(segment);
}

static void put_one_more(bshm_segment *segment)
{
	CHECK_INT(store_put(segment, MB(64), 1, 8, 0, BSHM_PUT_SET), 1);
}

/* A shard that is said to have more records than the limit does not lose all of them. */
TEST(a_damaged_count_of_records_does_not_empty_the_store)
{
	bshm_segment *segment = open_store(MB(4), 20000);
	REQUIRE(segment->shard_count == 1);
	store_fill_up(segment, 0, 8);
	BSHM_STORE(&segment->shards[0].records, 1u << 30, RELAXED);
	const cost one = cost_of(put_one_more, segment);
	test_note("%llu accesses", (unsigned long long) one.most);
	CHECK(one.most < DOUBT_MOST);
	CHECK(records_of(segment) > 19900);
	check_sound(segment);
}

static void make_index_room(bshm_segment *segment)
{
	const bshm__shard s = bshm__shard_at(segment, 0);
	CHECK(bshm__make_room(&s, BSHM_CLASS_INDEX, 4, 0));
}

/* More units are said to be taken than there are: they are counted anew before records go. */
TEST(a_damaged_count_of_units_does_not_empty_the_store)
{
	bshm_segment *segment = open_store(MB(16), 0);
	store_fill_up(segment, 0, 8);
	const uint64_t before = records_of(segment);
	BSHM_STORE(&segment->shards[0].classes[BSHM_CLASS_INDEX].used, 1u << 31, RELAXED);
	const cost one = cost_of(make_index_room, segment);
	test_note("%llu accesses, %llu of %llu records are left", (unsigned long long) one.accesses,
		(unsigned long long) records_of(segment), (unsigned long long) before);
	CHECK(records_of(segment) > before / 100 * 99);
	check_sound(segment);
}

/* How many records are evicted while many small ones come, and the index grows. */
static uint64_t evicted_by_growth(uint32_t flipped)
{
	bshm_segment *segment = open_store(MB(4), 0);
	store_fill_up(segment, 0, 4000);
	const uint64_t before = store_evictions(segment);
	segment->shards[0].classes[BSHM_CLASS_INDEX].used ^= flipped;
	for (uint32_t k = 0; k < 30000; k++) {
		REQUIRE(store_put(segment, MB(32) + k, 1, 8, 0, BSHM_PUT_SET) == 1);
	}
	const uint64_t evicted = store_evictions(segment) - before;
	check_sound(segment);
	bshm_segment_close(segment);
	unlink(test_path("segment"));
	return evicted;
}

TEST(a_damaged_count_of_units_does_not_make_records_go_as_tables_grow)
{
	const uint64_t honest = evicted_by_growth(0);
	for (uint32_t bit = 8; bit < 32; bit += 4) {
		const uint64_t evicted = evicted_by_growth(1u << bit);
		test_note("bit %u: %llu records go in place of %llu", bit, (unsigned long long) evicted,
			(unsigned long long) honest);
		CHECK(evicted <= honest * 3 / 2);
	}
}

/* Puts values where a count of a class is damaged. */
static void put_beside_damage(uint64_t cache_bytes, uint32_t length, uint32_t size_class)
{
	for (uint32_t i = 0; i < 3 * 32; i += 4) {
		bshm_segment *segment = open_store(cache_bytes, 0);
		store_fill_up(segment, 0, 4000);
		for (uint32_t k = 0; k < 10; k++) {
			REQUIRE(store_put(segment, MB(32) + k, 1, length, 0, BSHM_PUT_SET) == 1);
		}
		const uint64_t before = records_of(segment);
		bshm_shard_header *shard = &segment->shards[0];
		bshm_class *c = &shard->classes[size_class];
		uint32_t *const words[] = {&c->used, &c->pages, &shard->given_pages};
		uint32_t *word = words[i / 32];
		BSHM_STORE(word, BSHM_LOAD(word, RELAXED) ^ 1u << i % 32, RELAXED);
		unsigned refused = 0;
		for (uint32_t k = 0; k < 10; k++) {
			refused += store_put(segment, MB(48) + k, 1, length, 0, BSHM_PUT_SET) != 1;
		}
		CHECK_INT(refused, 0);
		CHECK(records_of(segment) > before / 2);
		check_sound(segment);
		bshm_segment_close(segment);
		unlink(test_path("segment"));
	}
}

TEST(damaged_counts_of_chunks_do_not_empty_the_store_nor_refuse_records)
{
	put_beside_damage(MB(16), 200000, BSHM_CLASS_CHUNK);
}

TEST(neither_do_they_where_a_value_has_few_chunks)
{
	put_beside_damage(MB(4), 20000, BSHM_CLASS_CHUNK);
}

TEST(neither_do_damaged_counts_of_the_records_that_go)
{
	put_beside_damage(MB(4), 20000, bshm__class_of(4016));
}

static void put_some_size(bshm_segment *segment, uint32_t number)
{
	CHECK_INT(store_put(segment, number, 1, 16u << number % 11, 0, BSHM_PUT_SET), 1);
}

/* An epoch ends with a part of the records, or bytes, that are said to be there. If that were never
 * reached, no record would get old any more. */
TEST(damaged_counts_of_what_is_stored_do_not_stop_the_clock)
{
	for (unsigned i = 0; i < 2; i++) {
		bshm_segment *segment = open_store(MB(4), 0);
		for (uint32_t k = 0; k < 8000; k++) {
			put_some_size(segment, k);
		}
		const uint64_t before = records_of(segment);
		bshm_shard_header *shard = &segment->shards[0];
		if (i == 0) {
			BSHM_STORE(
				&shard->data_bytes, BSHM_LOAD(&shard->data_bytes, RELAXED) ^ 1ull << 40, RELAXED);
		} else {
			BSHM_STORE(&shard->records, BSHM_LOAD(&shard->records, RELAXED) ^ 1u << 30, RELAXED);
		}
		for (uint32_t k = 0; k < 8000; k++) {
			put_some_size(segment, MB(32) + k);
		}
		const uint64_t least = records_of(segment) & ((1u << 30) - 1);
		test_note("%llu of %llu", (unsigned long long) least, (unsigned long long) before);
		CHECK(least > before / 4 * 3);
		bshm_segment_close(segment);
		unlink(test_path("segment"));
	}
}

/* An append asks for room, too. */
TEST(damaged_counts_of_chunks_do_not_refuse_each_append)
{
	bshm_segment *segment = open_store(MB(16), 0);
	store_fill_up(segment, 0, 4000);
	const uint64_t number = MB(32);
	const bshm_key key = {(const char *) &number, 8};
	REQUIRE(store_put(segment, number, 1, 200000, 0, BSHM_PUT_SET) == 1);
	segment->shards[0].classes[BSHM_CLASS_CHUNK].pages ^= 1u << 12;
	unsigned refused = 0;
	for (uint32_t k = 0; k < 10; k++) {
		uint64_t length;
		bshm_error error;
		refused += bshm_record_append(segment, &key, &(bshm_key){"more", 4}, &(bshm_key){"", 0},
					   &length, &error) != BSHM_OK;
	}
	CHECK(refused <= 1);
	check_sound(segment);
}

/* Neither does a count above the limit where fewer can go than are tried. */
TEST(a_damaged_count_of_few_records_does_not_refuse_others)
{
	bshm_segment *segment = open_store(MB(4), 1000);
	for (uint32_t i = 0; i < 40; i++) {
		REQUIRE(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET) == 1);
	}
	BSHM_STORE(&segment->shards[0].records, 40 + 4096, RELAXED);
	for (uint32_t i = 100; i < 1100; i++) {
		CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	CHECK_INT(records_of(segment), 1000);
	check_sound(segment);
}
