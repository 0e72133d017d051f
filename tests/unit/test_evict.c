/*
 * test_evict.c - which record is evicted: the limit, the floor, LRU's misses, expiry, and stamps
 * that come round.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/evict.h"
#include "core/cache/evict_old.h"
#include "core/cache/evict_record.h"
#include "core/cache/ghost.h"
#include "core/cache/locate.h"
#include "core/cache/move.h"
#include "core/cache/recency.h"
#include "core/cache/room.h"
#include "platform/platform.h"
#include "test_lru.h"
#include "test_store.h"

static lru same;
static lru quarter;

TEST(n_records_fit_in_a_limit_of_n)
{
	static const uint32_t limits[] = {1, 2, 3, 10, 1000, 20000};
	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		bshm_segment *segment = open_store(MB(4), limits[i]);
		for (uint32_t k = 0; k < limits[i]; k++) {
			CHECK_INT(store_put(segment, k, k, 8, 0, BSHM_PUT_SET), 1);
		}
		CHECK_INT(records_of(segment), limits[i]);
		for (uint32_t k = 0; k < limits[i]; k++) {
			CHECK(store_has(segment, k));
		}
		for (uint32_t k = limits[i]; k < 2 * limits[i]; k++) {
			CHECK_INT(store_put(segment, k, k, 8, 0, BSHM_PUT_SET), 1);
			CHECK(store_has(segment, k));
			CHECK_INT(records_of(segment), limits[i]);
		}
		bshm_segment_close(segment);
	}
}

/* The limit is one for all shards: of a store so large that it has several. */
TEST(n_records_fit_in_a_limit_of_n_over_several_shards)
{
	test_counts();
	const uint32_t limit = 300 * 8192;
	bshm_segment *segment = open_store(MB(160), limit);
	bshm_error error;
	REQUIRE(segment->shard_count > 1);
	for (uint64_t k = 0; k < limit + 1000; k++) {
		const bshm_put put = {.key = {(const char *) &k, 8}, .value = {BSHM_VALUE_TRUE, "", 0}};
		if (bshm_record_put(segment, &put, &error) != 1) {
			CHECK(false);
		}
		if (k + 1 == limit) {
			CHECK_INT(records_of(segment), limit);
		}
	}
	CHECK_INT(records_of(segment), limit);
	check_sound(segment);
}

/* Pages that are mostly free are emptied for other sizes: in every shard, and before anything is
 * evicted. */
TEST(what_lies_free_in_other_sizes_is_used_in_every_shard)
{
	bshm_segment *segment = open_store(MB(96), 0);
	const uint32_t small = 700000;
	bshm_store_info info;
	REQUIRE(segment->shard_count > 1);
	for (uint32_t i = 0; i < small; i++) {
		CHECK_INT(store_put(segment, i, i, 80, 0, BSHM_PUT_SET), 1);
	}
	for (uint32_t i = 0; i < small; i++) {
		const uint64_t key = i;
		bshm_error error;
		if (i % 4 != 0) {
			bshm_record_remove(segment, 0, &(bshm_key){(const char *) &key, 8}, &error);
		}
	}
	for (uint32_t i = 0; i < 50000; i++) {
		CHECK_INT(store_put(segment, small + i, i, 1000, 0, BSHM_PUT_SET), 1);
	}
	bshm_store_stat(segment, &info);
	CHECK_INT(info.evictions, 0);
	CHECK_INT(info.records, small / 4 + 50000);
	check_sound(segment);
}

/* The one free page cannot be the room of a large value's short chunk and of its whole one. */
TEST(room_is_not_made_of_what_another_part_of_the_value_needs)
{
	bshm_segment *segment = open_store(MB(1), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	const uint32_t first = 100;
	const uint32_t half = BSHM_SLOT_BYTES_MAX - BSHM_CHUNK_HEADER;
	const uint32_t large = BSHM_CHUNK_BYTES + half + first - 8;
	const uint32_t small = BSHM_SLOT_BYTES_MAX - BSHM_SLOT_HEADER - 8;
	bshm_store_info info;
	CHECK_INT(store_put(segment, 0, 0, first + BSHM_CHAIN_HEADER - 8, 0, BSHM_PUT_SET), 1);
	while (bshm__slots_free(&s, bshm__class_of(BSHM_SLOT_BYTES_MAX)) >
		   BSHM_SLAB_BYTES / BSHM_SLOT_BYTES_MAX) {
		bshm_store_stat(segment, &info);
		CHECK_INT(store_put(segment, (uint32_t) info.records, 0, small, 0, BSHM_PUT_SET), 1);
	}
	CHECK_INT(s.shard->given_pages, segment->shard_pages - 1);
	CHECK_INT(store_put(segment, 1000000, 0, large, 0, BSHM_PUT_SET), 1);
	check_sound(segment);
}

/* Room for one record, of another size than the others, is a page or two; not a share of the
 * store. */
TEST(one_record_evicts_few)
{
	test_counts();
	static const uint32_t sizes[][2] = {{4, 1000}, {4, 8168}, {4, 8268}, {100, 8264}, {52, 8216}};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bshm_segment *segment = open_store(MB(8), 0);
		store_fill_up(segment, 0, sizes[i][0]);
		const uint64_t before = store_evictions(segment);
		CHECK_INT(store_put(segment, UINT32_MAX, 0, sizes[i][1], 0, BSHM_PUT_SET), 1);
		const uint64_t evicted = store_evictions(segment) - before;
		test_note(
			"%u bytes among those of %u: %u evicted", sizes[i][1], sizes[i][0], (unsigned) evicted);
		CHECK(evicted <= 4 * BSHM_SLAB_BYTES / BSHM_SLOT_BYTES_MIN);
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* Making room for a large record empties a few pages at a time. */
TEST(a_step_empties_few_pages)
{
	bshm_segment *segment = open_store(MB(8), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	const uint64_t wanted = MB(2) / BSHM_CHUNK_BYTES;
	const uint32_t count = store_fill_up(segment, 0, 4);
	const uint64_t evicted = store_evictions(segment);
	for (uint32_t i = 0; i < count; i++) {
		if (i % 8 < 3) {
			store_remove(segment, i);
		}
	}
	const bshm_class *small = &s.shard->classes[bshm__class_of(BSHM_SLOT_HEADER + 8 + 4)];
	bool done = false;
	unsigned steps = 0;
	for (; !done && steps < 1000; steps++) {
		const uint32_t before = small->pages;
		done = bshm__make_large_room_step(&s, BSHM_CLASS_CHUNK, wanted);
		CHECK(before - small->pages <= 8);
	}
	CHECK(done && steps > 3);
	CHECK_INT(store_evictions(segment), evicted); /* there was room enough */
	check_sound(segment);
}

/* One by one and page by page, all others go. */
TEST(a_record_that_is_spared_is_the_last_one)
{
	for (unsigned by_page = 0; by_page < 2; by_page++) {
		bshm_segment *segment = open_store(MB(2), 0);
		bshm__shard s = bshm__shard_at(segment, 0);
		uint64_t serial = 0;
		uint32_t length = 0;
		store_fill_up(segment, 100, 4);
		for (uint32_t i = 0; i < 3; i++) {
			CHECK_INT(store_put(segment, i, i, 100000, 0, BSHM_PUT_SET), 1);
		}
		const uint64_t key = 1;
		s.spared = (uint32_t) bshm__home_of(segment, 0, &(bshm_key){(const char *) &key, 8}).hash;
		bshm__page_wish wish = {.size_class = BSHM_CLASS_COUNT, .pages = 1};
		while (by_page && bshm__evict_page(&s, &wish, 1000) != 0) {
			wish.size_class = BSHM_CLASS_COUNT;
		}
		CHECK_INT(store_get(segment, 1, &serial, &length), 1);
		while (bshm__evict(&s)) {
		}
		CHECK_INT(records_of(segment), 1);
		CHECK_INT(store_get(segment, 1, &serial, &length), 1);
		check_sound(segment);
		s.spared = 0;
		CHECK(bshm__evict(&s));
		CHECK_INT(records_of(segment), 0);
		bshm_segment_close(segment);
	}
}

/* A look-up takes no lock: it may use a record after the eviction has read the clock, or weighed
 * the record. Then the record is the youngest, and stays. */
TEST(what_is_used_during_an_eviction_stays)
{
	bshm_segment *segment = open_store(MB(4), 100);
	const bshm__shard s = bshm__shard_at(segment, 0);
	uint64_t serial = 0;
	uint32_t length = 0;
	for (uint32_t i = 0; i < 100; i++) {
		CHECK_INT(store_put(segment, i, i, 20, 0, BSHM_PUT_SET), 1);
	}
	const uint64_t number = 50;
	const bshm_key key = {(const char *) &number, 8};
	const bshm__home home = bshm__home_of(segment, BSHM_SPACE_CACHE, &key);
	bshm__existing at;
	bshm__locate(&s, &home, BSHM_SPACE_CACHE, &key, &at);
	const bshm__scales by = bshm__scales_of(&s);
	const bshm__member before = bshm__weigh(&s, &by, at.ref);
	CHECK(before.age > 0);
	CHECK_INT(store_get(segment, 1, &serial, &length), 1); /* each is an epoch of its own */
	CHECK_INT(store_get(segment, 50, &serial, &length), 1);
	CHECK_INT(bshm__weigh(&s, &by, at.ref).age, 0);
	uint32_t size_class;
	uint32_t looks = 0;
	CHECK(!bshm__evict_record(&s, &before, &size_class, &looks));
	bshm__member in_cell = before;
	in_cell.cell = bshm__cell_word(&s, at.cell);
	CHECK(!bshm__evict_surely(&s, &in_cell, &size_class, &looks));
	CHECK_INT(store_get(segment, 50, &serial, &length), 1);
	check_sound(segment);
	/* As if the clock had been read three epochs before the use. */
	uint32_t age;
	uint32_t its_state;
	uint32_t *state = bshm__slot_word(bshm__ref_at(&s, at.ref, BSHM_SLOT_BYTES_MIN), 0);
	const uint32_t later = (uint32_t) BSHM_LOAD(&s.shard->clock, RELAXED) + 3;
	BSHM_STORE(state, (*state & ~BSHM_SLOT_STAMP) | (later & BSHM_SLOT_STAMP), RELAXED);
	CHECK(bshm__oldest(&s, &its_state, &age) != at.ref);
}

/* Nor is the next slot looked for in a page that is being emptied. */
#define ALL 150u
static bshm_segment *in_use;
static void use_all(void)
{
	for (uint32_t i = 0; i <= ALL; i++) {
		store_use(in_use, i);
	}
}

/* Whenever that is in the course of the eviction, a record is evicted: else a put would be refused.
 * Where evictions are rare there is only one sample, of 192 records. */
TEST(an_eviction_finds_one_though_all_records_are_used_meanwhile)
{
	test_counts();
	in_use = open_store(MB(4), ALL);
	const bshm__shard s = bshm__shard_at(in_use, 0);
	for (uint32_t n = 0; n < 3000; n++) {
		for (uint32_t i = 0; records_of(in_use) < ALL; i++) {
			CHECK_INT(store_use(in_use, i) || store_put(in_use, i, n, 20, 0, BSHM_PUT_SET), 1);
		}
		use_all();
		BSHM_STORE(&s.shard->lean, (uint32_t) -BSHM_OCTAVE, RELAXED);
		BSHM_STORE(&s.shard->ghosts, ALL / 2, RELAXED);
		BSHM_STORE(&s.shard->turn_began, 100u << 16 | bshm__stamp_now(&s), RELAXED);
		bshm__held.call_at = bshm__held.accesses + 1 + n;
		bshm__held.call = use_all;
		CHECK(bshm__evict(&s));
		bshm__held.call = NULL;
	}
	check_sound(in_use);
}

TEST(what_is_moved_out_of_a_page_leaves_no_hint_to_it)
{
	bshm_segment *segment = open_store(MB(1), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	uint32_t refs[8]; /* of two pages */
	for (uint32_t i = 0; i < 8; i++) {
		const uint64_t number = i;
		const bshm_key key = {(const char *) &number, 8};
		const bshm__home home = bshm__home_of(segment, BSHM_SPACE_CACHE, &key);
		bshm__existing at;
		REQUIRE(store_put(segment, i, 0, BSHM_SLOT_BYTES_MAX - 100, 0, BSHM_PUT_SET) == 1);
		bshm__locate(&s, &home, BSHM_SPACE_CACHE, &key, &at);
		refs[i] = at.ref;
	}
	REQUIRE(bshm__page_number(&s, refs[0]) != bshm__page_number(&s, refs[7]));
	store_remove(segment, 0);
	CHECK(bshm__record_move(&s, refs[7]));
	const uint32_t hint = s.shard->classes[bshm__class_of(BSHM_SLOT_BYTES_MAX)].hint & 0xffffff;
	CHECK_INT(hint, bshm__page_number(&s, refs[0]));
}

/* Copying a large record is not disturbed by one that is put and removed all the time. */
TEST(a_page_is_not_given_up_each_time)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const uint64_t number = 1;
	const bshm_key key = {(const char *) &number, 8};
	char *copy = malloc(500000);
	bshm_found found;
	REQUIRE(store_put(segment, 1, 0, 500000, 0, BSHM_PUT_SET) == 1);
	for (unsigned i = 0; i < 100; i++) {
		if (i == 1) { /* the index has grown */
			CHECK_INT(bshm_record_find(segment, BSHM_SPACE_CACHE, &key, 0, &found), 1);
		}
		CHECK_INT(store_put(segment, 2, i, 3000, 0, BSHM_PUT_SET), 1);
		CHECK_INT(store_put(segment, 3, i, 20000, 0, BSHM_PUT_SET), 1);
		CHECK_INT(store_remove(segment, 2), 1);
		CHECK_INT(store_remove(segment, 3), 1);
	}
	CHECK(bshm_found_copy(&found, copy));
	free(copy);
	check_sound(segment);
}

/* Chance brings more keys to a part of the index than it has buckets for: it grows until it has. */
static void meet_in_the_index(void)
{
	bshm_segment *segment = open_store(MB(1), 16383);
	const uint32_t part = (1u << BSHM_POSITION_BITS) / 64;
	uint64_t together[240];
	unsigned count = 0;
	for (uint64_t k = 0; count < 240; k++) {
		const bshm__home home = bshm__home_of(segment, 0, &(bshm_key){(const char *) &k, 8});
		if (home.table == 0 && home.position < part) {
			together[count++] = k;
		}
	}
	for (unsigned i = 0; i < count; i++) {
		CHECK_INT(store_put(segment, (uint32_t) together[i], 1, 8, 0, BSHM_PUT_SET), 1);
	}
	for (unsigned i = 0; i < count; i++) {
		CHECK(store_has(segment, (uint32_t) together[i]));
	}
	check_sound(segment);
	bshm_segment_close(segment);
}

TEST(no_record_is_refused_because_many_keys_meet_in_the_index)
{
	for (unsigned i = 0; i < 40 && !test_failed(); i++) {
		meet_in_the_index();
	}
}

/* As many keys as one home bucket can take, overflow included; the next key has a home bucket of
 * its own only when the table has many buckets. */
TEST(the_index_grows_until_one_more_key_has_room)
{
	bshm_segment *segment = open_store(MB(1), 16383);
	const uint32_t narrow = (1u << BSHM_POSITION_BITS) / (BSHM_TABLE_UNITS * BSHM_UNIT_BUCKETS);
	const uint32_t next = (1u << BSHM_POSITION_BITS) / (25 * BSHM_UNIT_BUCKETS) + 1;
	uint64_t k = 0;
	for (uint32_t i = 0; i < BSHM_REACH_MAX * BSHM_BUCKET_CELLS; i++) {
		REQUIRE(store_put(segment, key_at(segment, &k, 0, narrow), 1, 8, 0, BSHM_PUT_SET) == 1);
	}
	const uint32_t before = bshm__buckets_of(segment, 0).count;
	REQUIRE(before == BSHM_UNIT_BUCKETS); /* eight growths by a unit would not do */
	const uint32_t key = key_at(segment, &k, next, next + 6);
	CHECK_INT(store_put(segment, key, 1, 8, 0, BSHM_PUT_SET), 1);
	CHECK_INT(bshm__buckets_of(segment, 0).count, BSHM_BUCKETS_MAX); /* 1, 2, 4, 8, 16, 32 units */
	CHECK(store_has(segment, key));
	check_sound(segment);
	bshm_segment_close(segment);
}

/* Where memory is the limit, and the store has learnt that small records are missed more: records
 * of 100 bytes and of 10 kB, by turns. The ones that were used last, with a fifth of the memory,
 * are there; of the older ones more small than large ones. */
TEST(large_records_go_sooner_and_what_was_just_used_stays)
{
	bshm_segment *segment = open_store(MB(8), 0);
	BSHM_STORE(&segment->shards[0].size_power, BSHM_OCTAVE / 16 * 15, RELAXED); /* 5/4 */
	const uint32_t lately = MB(8) / 5 / 5050;
	const uint32_t count = 20000;
	uint32_t small = 0;
	uint32_t large = 0;
	for (uint32_t i = 0; i < count; i++) {
		CHECK_INT(store_put(segment, i, i, i % 2 == 0 ? 100 : 10000, 0, BSHM_PUT_SET), 1);
		for (uint32_t k = i < lately ? 0 : i - lately; i % 500 == 499 && k <= i; k++) {
			CHECK(store_has(segment, k));
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		const bool there = store_has(segment, i);
		small += there && i % 2 == 0;
		large += there && i % 2 != 0;
	}
	test_note("%u small and %u large records", small, large);
	CHECK(small > 5 * large && large > lately / 2);
	check_sound(segment);
}

/* A few large old records have most of the bytes, among thousands of small ones: samples find none
 * of them. */
TEST(small_records_of_the_recent_quarter_stay_beside_large_old_ones)
{
	static const uint32_t lengths[] = {10000, 50000, 1000000};
	for (uint32_t k = 0; k < 3; k++) {
		bshm_segment *segment = open_store(MB(32), 0);
		const uint32_t first = 1u << 30;
		bshm_store_info info;
		for (uint32_t i = 0; store_evictions(segment) < 5; i++) {
			CHECK_INT(store_put(segment, first + i, i, lengths[k], 0, BSHM_PUT_SET), 1);
		}
		bshm_store_stat(segment, &info);
		const uint32_t count = (uint32_t) (info.data_bytes / 5 / (8 + 16 + BSHM_RECORD_EXTRA));
		for (uint32_t i = 0; i < count; i++) {
			CHECK_INT(store_put(segment, i, i, 16, 0, BSHM_PUT_SET), 1);
		}
		uint32_t lost = 0;
		for (uint32_t i = 0; i < count; i++) {
			lost += !store_has(segment, i);
		}
		test_note("%u of %u lost beside values of %u bytes", lost, count, lengths[k]);
		CHECK_INT(lost, 0);
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* A few large values use up the memory, before as many uses as an epoch has: 100 records that are
 * used before each of them have a fifth of the memory with it. The same below a limit of records
 * that is not reached. */
TEST(what_was_just_used_stays_beside_a_large_value)
{
	static const uint32_t limits[] = {0, 500000};
	const uint32_t count = 100000;
	for (uint32_t k = 0; k < 2; k++) {
		bshm_segment *segment = open_store(MB(8), limits[k]);
		uint32_t lost = 0;
		for (uint32_t i = 0; i < count; i++) {
			CHECK_INT(store_put(segment, i, 1, 16, 0, BSHM_PUT_SET), 1);
		}
		for (uint32_t round = 0; round < 100; round++) {
			for (uint32_t i = count - 100; i < count; i++) {
				lost += !store_use(segment, i);
			}
			CHECK_INT(store_put(segment, count + round, 1, 1500000, 0, BSHM_PUT_SET), 1);
		}
		CHECK_INT(lost, 0);
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* Each read of a large value may end an epoch. When many have, without a put that renumbers stamps,
 * puts still end theirs. */
TEST(what_was_just_used_stays_after_many_reads_of_large_values)
{
	const uint32_t count = 60000;
	bshm_segment *segment = open_store(MB(8), 0);
	uint32_t lost = 0;
	for (uint32_t i = 0; i < count + 8; i++) {
		CHECK_INT(store_put(segment, i, 1, i < count ? 16 : 380000, 0, BSHM_PUT_SET), 1);
	}
	for (uint32_t i = 0; i < 60000; i++) {
		store_use(segment, count + i % 8);
	}
	for (uint32_t round = 0; round < 20; round++) {
		for (uint32_t i = count - 100; i < count; i++) {
			lost += !store_use(segment, i);
		}
		CHECK_INT(store_put(segment, count + 8 + round, 1, 1400000, 0, BSHM_PUT_SET), 1);
	}
	CHECK_INT(lost, 0);
	check_sound(segment);
}

/* Where the memory holds about as many records as the limit allows, now the one is the limit, now
 * the other: what was used last, with an eighth of the memory and of the records, stays. */
TEST(what_was_just_used_stays_where_either_limit_is_near)
{
	enum {
		OPS = 60000,
		LATELY = 60
	};
	static const uint32_t limits[] = {1000, 1500, 3000};
	for (uint32_t k = 0; k < 3; k++) {
		uint64_t seed = test_seed();
		uint32_t used[LATELY] = {0};
		uint32_t lost = 0;
		bshm_segment *segment = open_store(MB(1), limits[k]);
		for (uint32_t i = 0; i < OPS; i++) {
			const uint32_t key = (uint32_t) (test_random(&seed) % 3000);
			used[i % LATELY] = key;
			if (store_use(segment, key)) {
				continue;
			}
			const uint32_t length = key % 10 == 0 ? 20000 : 100;
			CHECK_INT(store_put(segment, key, 1, length, 0, BSHM_PUT_SET), 1);
			uint32_t bytes = 0;
			for (uint32_t back = 0; back < LATELY && back <= i && bytes < MB(1) / 8; back++) {
				const uint32_t one = used[(i - back) % LATELY];
				bytes += one % 10 == 0 ? 20000 : 100;
				lost += bytes < MB(1) / 8 && !store_has(segment, one);
			}
		}
		test_note("limit of %u: %u lost", limits[k], lost);
		CHECK_INT(lost, 0);
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* ------------------------------------------------------------------ bounds */

/* New keys alone: most records are younger than the floor, and none was used again. Then as if only
 * age counted and evictions were rare. */
TEST(an_eviction_looks_at_a_few_records_however_large_the_store_is)
{
	test_counts();
	bshm_segment *segment = open_store(MB(32), 0);
	const uint32_t count = store_fill_up(segment, 0, 4);
	const bshm__shard s = bshm__shard_at(segment, 0);
	uint64_t most = 0;
	uint32_t plain = 0;
	for (uint32_t i = 0; i < 20000; i++) {
		const uint64_t sequence = s.shard->sequence;
		if (i > 10000) {
			BSHM_STORE(&s.shard->lean, (uint32_t) -BSHM_OCTAVE, RELAXED);
			BSHM_STORE(&s.shard->turn_began, UINT32_MAX, RELAXED);
		}
		const uint64_t before = bshm__held.accesses;
		CHECK(bshm__evict(&s));
		const uint64_t accesses = bshm__held.accesses - before;
		if (!bshm__sequence_jumped(&s, sequence)) { /* no table was made smaller */
			most = accesses > most ? accesses : most;
			plain++;
		}
		CHECK_INT(store_put(segment, count + i, i, 4, 0, BSHM_PUT_SET), 1);
	}
	CHECK(plain > 19000);
	test_note("%u keys: %u accesses at most", count, (unsigned) most);
	CHECK(most < 16 * BSHM_EVICT_LOOKS);
	check_sound(segment);
}

/* A large value that is young, and small ones that are, too: that no page has an old record is
 * found once, not with each eviction, as it takes longer than to evict a hundred. */
TEST(where_all_records_are_young_an_old_one_is_looked_for_once)
{
	test_counts();
	bshm_segment *segment = open_store(MB(32), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	store_fill_up(segment, 0, 1000);
	CHECK_INT(store_put(segment, 1u << 30, 1, 7000000, 0, BSHM_PUT_SET), 1);
	const uint64_t clock = BSHM_LOAD(&s.shard->clock, RELAXED);
	const uint64_t base = BSHM_LOAD(&s.shard->base, RELAXED) & BSHM_SLOT_STAMP;
	BSHM_STORE(&s.shard->clock, (clock & ~(UINT64_C(0xffff) << 16)) | base << 16, RELAXED);
	uint64_t accesses[3];
	for (uint32_t k = 0; k < 3; k++) {
		const uint64_t before = bshm__held.accesses;
		for (uint32_t i = 0; i < (k == 0 ? 1 : 100); i++) {
			CHECK(bshm__evict(&s));
		}
		accesses[k] = bshm__held.accesses - before;
	}
	test_note("one: %u accesses, then 100: %u", (unsigned) accesses[0], (unsigned) accesses[1]);
	CHECK(accesses[0] > 10000);
	CHECK(accesses[1] < 100 * 16 * BSHM_EVICT_LOOKS);
	CHECK(accesses[2] < 100 * 16 * BSHM_EVICT_LOOKS);
	BSHM_STORE(&s.shard->clock, clock, RELAXED); /* the floor has moved */
	bshm__scales by = bshm__scales_of(&s);
	by.least_age = UINT32_MAX;
	for (uint32_t k = 0; k < 3; k++) {
		uint32_t looks = 0;
		by.now_s += k == 2; /* one may have expired */
		CHECK(bshm__find_old(&s, &by, &looks).ref == 0);
		CHECK(k == 1 ? looks == 0 : looks >= 32);
	}
	check_sound(segment);
}

/* ------------------------------------------------------------------ expiry */

#define SECOND UINT64_C(1000000000)

TEST(records_live_between_their_ttl_less_one_and_plus_one)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const uint64_t start = bshm_os_clock_ns();
	for (uint64_t phase = 0; phase < SECOND; phase += SECOND / 8) {
		const uint64_t born = start + phase;
		bshm_clock_set(born);
		CHECK_INT(store_put(segment, 1, 1, 16, 10, BSHM_PUT_SET), 1);
		bshm_clock_set(born + 9 * SECOND);
		CHECK(store_has(segment, 1));
		bshm_clock_set(born + 11 * SECOND);
		CHECK(!store_has(segment, 1));
		CHECK_INT(store_put(segment, 1, 2, 16, 0, BSHM_PUT_REPLACE), 0);
		CHECK_INT(store_put(segment, 1, 2, 16, 0, BSHM_PUT_ADD), 1);
		bshm_clock_set(born + 400000000 * SECOND);
		CHECK(store_has(segment, 1));
	}
	check_sound(segment);
}

/* Expired records go before any other, and are counted apart. */
TEST(expired_records_are_reclaimed_when_room_is_needed)
{
	bshm_segment *segment = open_store(MB(4), 1000);
	const uint64_t start = bshm_os_clock_ns();
	bshm_clock_set(start);
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK_INT(store_put(segment, i, i, 16, i % 2 == 0 ? 10 : 0, BSHM_PUT_SET), 1);
	}
	bshm_clock_set(start + 20 * SECOND);
	for (uint32_t i = 1000; i < 1500; i++) {
		CHECK_INT(store_put(segment, i, i, 16, 0, BSHM_PUT_SET), 1);
	}
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	CHECK_INT(info.expired + info.evictions, 500);
	test_note("%u expired, %u evicted", (unsigned) info.expired, (unsigned) info.evictions);
	CHECK(info.expired >= 450);
	check_sound(segment);
}

/* ------------------------------------------------------------------ the order */

/* The candidates of the samples before make a choice among 16 as good as one among a hundred. */
TEST(few_of_the_oldest_outlive_their_turn)
{
	enum {
		LIMIT = 8000
	};
	bshm_segment *segment = open_store(MB(4), LIMIT);
	uint32_t outlived = 0;
	for (uint32_t i = 0; i < LIMIT + LIMIT / 8; i++) {
		CHECK_INT(store_put(segment, i, i, 16, 0, BSHM_PUT_SET), 1);
	}
	for (uint32_t i = 0; i < LIMIT / 16; i++) {
		outlived += store_has(segment, i);
	}
	test_note("%u of %u outlived twice as many evictions", outlived, LIMIT / 16);
	CHECK(outlived < LIMIT / 16 / 50);
	check_sound(segment);
}

TEST(a_candidate_that_leads_nowhere_does_no_harm)
{
	bshm_segment *segment = open_store(MB(4), 1000);
	bshm__shard s = bshm__shard_at(segment, 0);
	uint64_t seed = test_seed();
	for (uint32_t i = 0; i < 1001; i++) {
		CHECK_INT(store_put(segment, i, i, i % 10 == 0 ? 40000 / 10 : 16, 0, BSHM_PUT_SET), 1);
	}
	CHECK(s.shard->candidates[0] != 0);
	for (uint32_t i = 1001; i < 3000; i++) {
		uint32_t *candidate = &s.shard->candidates[i % BSHM_CANDIDATES];
		*candidate = i % 3 == 0   ? (uint32_t) test_random(&seed)
					 : i % 3 == 1 ? s.first_ref + (uint32_t) (test_random(&seed) % (MB(4) / 16))
								  : *candidate + 1;
		CHECK_INT(store_put(segment, i, i, 16, 0, BSHM_PUT_SET), 1);
	}
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	CHECK_INT(info.records, 1000);
	check_sound(segment);
}

TEST(the_oldest_comes_first_exactly_among_a_hundred)
{
	uint64_t seed = test_seed();
	bshm_segment *segment = open_store(MB(4), 0);
	lru_begin(&same, 200);
	for (uint32_t i = 0; i < 100; i++) {
		CHECK_INT(store_put(segment, i, i, 16, 0, BSHM_PUT_SET), 1);
		lru_use(&same, i);
	}
	/* So many uses that the stamps come round, with writes that renumber them. */
	for (uint32_t i = 0; i < 300000; i++) {
		const uint32_t key = 10 + (uint32_t) (test_random(&seed) % 90);
		CHECK(store_use(segment, key));
		lru_use(&same, key);
		if (i % 50 == 0) {
			CHECK_INT(store_put(segment, 99, i, 16, 0, BSHM_PUT_SET), 1);
			lru_use(&same, 99);
		}
	}
	for (uint32_t i = 0; i < 100 && !test_failed(); i++) {
		const uint32_t key = store_pop(segment);
		if (i >= 10) { /* the first ten are older than any stamp */
			CHECK_INT(key, same.before[LRU_KEYS]);
		} else {
			CHECK(key < 10);
		}
		lru_unlink(&same, key);
	}
	bshm_found none;
	CHECK_INT(bshm_record_oldest(segment, &none), 0);
	check_sound(segment);
}

/* So many uses that the stamps come round again and again, and few puts. */
TEST(the_most_recent_quarter_is_safe_where_puts_are_rare)
{
	static const struct {
		uint32_t limit;
		uint32_t uses; /* for each put */
		uint32_t puts;
		uint32_t bytes; /* of the store, in MB */
	} cases[] = {{100, 1000, 400, 16}, {100, 20000, 40, 16}, {10, 100, 2000, 64},
		{12, 1000, 100, 4}, {1000, 500, 2000, 64}, {1500, 2000, 1500, 4}};
	for (unsigned c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const uint32_t limit = cases[c].limit;
		uint64_t seed = test_seed();
		bshm_segment *segment = open_store(MB(cases[c].bytes), limit);
		lru_begin(&quarter, limit / 4);
		for (uint32_t next = 0; next < limit + cases[c].puts && !test_failed(); next++) {
			CHECK_INT(store_put(segment, next, 0, 16, 0, BSHM_PUT_SET), 1);
			lru_use(&quarter, next);
			for (uint32_t key = quarter.before[LRU_KEYS]; key != LRU_KEYS;
				 key = quarter.before[key]) {
				CHECK(store_has(segment, key));
			}
			for (uint32_t i = 0; i < (next < limit ? 1 : cases[c].uses); i++) {
				const uint32_t key =
					(uint32_t) (test_random(&seed) % (next < 2 * limit ? next + 1 : 2 * limit));
				if (store_use(segment, next - key)) {
					lru_use(&quarter, next - key);
				}
			}
		}
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* All others are older than thousands of uses of one record, and than sets of it. */
TEST(the_order_of_a_hundred_is_kept_while_one_is_used)
{
	bshm_segment *segment = open_store(MB(16), 0);
	for (uint32_t i = 0; i < 100; i++) {
		CHECK_INT(store_put(segment, i, i, 16, 0, BSHM_PUT_SET), 1);
	}
	for (uint32_t i = 100; i-- > 0;) {
		CHECK(store_use(segment, i));
	}
	for (uint32_t i = 0; i < 100000; i++) {
		CHECK(store_use(segment, i % 2)); /* two in turn: each use ends an epoch */
		if (i % 100 == 0) {
			CHECK_INT(store_put(segment, 0, i, 16, 0, BSHM_PUT_SET), 1);
		}
	}
	for (uint32_t i = 100; i-- > 2;) {
		CHECK_INT(store_pop(segment), i);
	}
	check_sound(segment);
}
