/*
 * test_table.c - the size of a table follows its records, up and down.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/table.h"

#include "core/cache/record.h"
#include "core/cache/shard_lock.h"
#include "core/cache/size.h"
#include "test_shard.h"

#define ALL 6000u

/* Opens a store of one table. */
static void open_one(void)
{
	segment = open_store(MB(1), 8191);
	s = bshm__shard_at(segment, 0);
	REQUIRE(s.segment->shard_tables == 1);
}

static uint32_t buckets(void)
{
	return bshm__buckets_of(segment, 0).count;
}

static void check_all(uint32_t from, uint32_t to)
{
	uint64_t serial = 0;
	uint32_t length = 0;
	for (uint32_t i = from; i < to; i++) {
		CHECK_INT(store_get(segment, i, &serial, &length), 1);
	}
	check_sound(segment);
}

TEST(a_table_has_no_bucket_then_one_and_then_ever_more)
{
	open_one();
	uint32_t before = buckets();
	CHECK_INT(before, 0);
	for (uint32_t i = 0; i < ALL; i++) {
		REQUIRE(store_put(segment, i, i, 8, 0, BSHM_PUT_SET) == 1);
		const uint32_t now = buckets();
		CHECK(now * BSHM_BUCKET_CELLS > i);
		CHECK(now == 1 || now * 2 <= i + 1);            /* at least a fifth is in use */
		CHECK(!bshm__is_tiny(now) || i >= now / 2 * 8); /* the half would be full */
		if (now != before) {
			CHECK(before != 0 ? now > before : now == 1);
			check_all(0, i + 1);
			before = now;
		}
	}
	for (uint32_t i = BSHM_CLASS_UNITS; i < BSHM_CLASS_INDEX; i++) { /* small units were freed */
		CHECK_INT(bshm__slots_free(&s, i) % bshm__class_slots(i), 0);
	}
	bshm_segment_close(segment);
}

TEST(a_table_shrinks_with_its_records)
{
	open_one();
	for (uint32_t i = 0; i < ALL; i++) {
		REQUIRE(store_put(segment, i, i, 8, 0, BSHM_PUT_SET) == 1);
	}
	for (uint32_t i = 0; i < ALL; i++) {
		CHECK_INT(store_remove(segment, i), 1);
		CHECK(buckets() <= 16 || buckets() * 2 <= ALL - i);
		CHECK(bshm__is_tiny(buckets()) || ALL - i - 1 >= 4 * 6);
		CHECK(buckets() == 1 || ALL - i - 1 >= 6);
		if (i % 500 == 0) {
			check_all(i + 1, ALL);
		}
	}
	CHECK_INT(buckets(), 1);
	check_sound(segment);
	bshm_segment_close(segment);
}

/* There may be no room for the small unit when the 32nd record from the end goes. */
TEST(a_table_of_few_records_shrinks_with_any_of_them)
{
	bshm_error error;
	open_one();
	for (uint32_t i = 0; i < 24; i++) {
		REQUIRE(store_put(segment, i, i, 8, 0, BSHM_PUT_SET) == 1);
	}
	REQUIRE(bshm__shard_lock(&s, BSHM_LOCK_BATCH_NS, &error) == BSHM_OK);
	REQUIRE(bshm__table_resize(&s, 0, BSHM_UNIT_BUCKETS));
	bshm__shard_unlock(&s);
	CHECK_INT(store_remove(segment, 0), 1);
	CHECK_INT(buckets(), 4);
	check_all(1, 24);
	bshm_segment_close(segment);
}

/* A limit that only small records can meet: a table gets all buckets at once, but not before it has
 * some hundred records, and not for larger ones. */
TEST(a_table_jumps_to_the_size_that_small_records_will_need)
{
	uint32_t jumped = 0;
	for (uint32_t store = 0; store < 5; store++) {
		segment = open_store(MB(1), 20000);
		s = bshm__shard_at(segment, 0);
		uint32_t resizes = 0;
		for (uint32_t i = 0, before = 0; i < 20000; i++) {
			REQUIRE(store_put(segment, i, i, 8, 0, BSHM_PUT_SET) == 1);
			CHECK(buckets() <= 32 || BSHM_LOAD(&segment->tables[0].records, RELAXED) > 150);
			resizes += buckets() != before;
			before = buckets();
		}
		jumped += resizes <= 9; /* 1 to 32, and as many as it needs; by chance two more */
		check_all(0, 20000);
		bshm_segment_close(segment);
	}
	CHECK(jumped >= 3); /* of one store in 400 the first table is planned too small by chance */
}

TEST(a_limit_that_only_small_records_can_meet_is_no_promise)
{
	static const uint64_t limits[] = {20000, 1000000, UINT64_C(1) << 40};
	uint32_t larger = 0;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		segment = open_store(MB(1), limits[i]);
		s = bshm__shard_at(segment, 0);
		store_fill_up(segment, 0, 10000);
		CHECK(buckets() <= 16);
		larger += buckets() > 8;
		bshm_segment_close(segment);

		segment = open_store(MB(1), limits[i]);
		store_fill_up(segment, 0, 1200);
		CHECK(buckets() >= 32 && buckets() <= BSHM_UNIT_BUCKETS);
		check_sound(segment);
		bshm_segment_close(segment);
	}
	CHECK(larger <= 1); /* two neighbouring buckets may be full by chance: once in hundreds */
}

/* Small records make way for large ones. No page is free then for the units of small tables, if no
 * room is made for one. */
TEST(tables_are_small_again_when_large_records_have_come)
{
	segment = open_store(MB(16), 400000);
	/* Sizes do not count. */
	BSHM_STORE(&segment->shards[0].size_power, (uint32_t) -BSHM_OCTAVE, RELAXED);
	for (uint32_t i = 0; i < 400000; i++) {
		REQUIRE(store_put(segment, i, i, 8, 0, BSHM_PUT_SET) == 1);
	}
	for (uint32_t i = 400000; i < 410000; i++) {
		REQUIRE(store_put(segment, i, i, 9000, 0, BSHM_PUT_SET) == 1);
	}
	uint32_t large = 0;
	for (uint32_t t = 0; t < segment->table_count; t++) {
		large += bshm__buckets_of(segment, t).count >= BSHM_UNIT_BUCKETS;
	}
	test_note("%u of %u tables", large, segment->table_count);
	CHECK(large * 8 <= segment->table_count); /* by chance a few get no more records */
	check_sound(segment);
	bshm_segment_close(segment);
}

/* As small records are evicted, no units are free that a sparse table could have instead. */
TEST(pages_of_units_go_with_the_records)
{
	static const uint32_t bytes[] = {400, 1500, 9000};
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		segment = open_store(MB(2), 0);
		s = bshm__shard_at(segment, 0);
		/* Sizes do not count. */
		BSHM_STORE(&segment->shards[0].size_power, (uint32_t) -BSHM_OCTAVE, RELAXED);
		const uint32_t small = store_fill_up(segment, 0, 8);
		for (uint32_t k = small; k < small + 20000; k++) {
			REQUIRE(store_put(segment, k, k, bytes[i], 0, BSHM_PUT_SET) == 1);
		}
		uint32_t needed = 0;
		for (uint32_t t = 0; t < segment->table_count; t++) {
			const uint32_t records = BSHM_LOAD(&segment->tables[t].records, RELAXED);
			needed += records < BSHM_TIDY_EVERY ? 0 : bshm__units_for(bshm__table_shrunk(records));
		}
		const bshm_class *units = &segment->shards[0].classes[BSHM_CLASS_INDEX];
		const uint32_t used = BSHM_LOAD(&units->used, RELAXED);
		const uint32_t slots =
			BSHM_LOAD(&units->pages, RELAXED) * bshm__class_slots(BSHM_CLASS_INDEX);
		test_note("%u bytes: %u units needed, %u used, %u slots", bytes[i], needed, used, slots);
		CHECK(used <= needed * 2); /* tables that are not quite sparse */
		CHECK(slots < used + 2 * bshm__class_slots(BSHM_CLASS_INDEX));
		CHECK(used != 0 || slots == 0);
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* Room for other units is made only if the table gets fewer. */
TEST(a_table_is_oversized_if_it_can_be_smaller)
{
	uint32_t oversized = 0;
	open_one();
	for (uint32_t units = 1; units <= 8; units++) {
		const uint32_t now = units * BSHM_UNIT_BUCKETS;
		bshm_error error;
		REQUIRE(bshm__shard_lock(&s, BSHM_LOCK_BATCH_NS, &error) == BSHM_OK);
		REQUIRE(bshm__table_resize(&s, 0, now));
		for (uint32_t records = 0; records < now * BSHM_BUCKET_CELLS; records++) {
			BSHM_STORE(&segment->tables[0].records, records, RELAXED);
			const uint32_t wanted = bshm__table_oversized(&s, 0);
			CHECK(wanted < now);
			CHECK(wanted == 0 || (records < now * BSHM_BUCKET_SPARSE && records < wanted * 6));
			oversized += wanted != 0;
		}
		BSHM_STORE(&segment->tables[0].records, 0, RELAXED);
		bshm__shard_unlock(&s);
	}
	CHECK(oversized > 4000);
	bshm_segment_close(segment);
}

/* How often the table of a store is resized while its last record comes and goes. */
static uint32_t resizes_at(uint32_t records)
{
	uint32_t resizes = 0;
	for (uint32_t i = 0, before = buckets(); i < 100; i++) {
		CHECK_INT(store_remove(segment, records - 1), 1);
		resizes += buckets() != before;
		before = buckets();
		REQUIRE(store_put(segment, records - 1, 1, 8, 0, BSHM_PUT_SET) == 1);
		resizes += buckets() != before;
		before = buckets();
	}
	return resizes;
}

TEST(a_table_at_the_edge_of_two_sizes_stays)
{
	for (uint32_t limit = 8191; limit <= 20000; limit += 20000 - 8191) {
		segment = open_store(MB(1), limit);
		s = bshm__shard_at(segment, 0);
		for (uint32_t i = 0; i < 1500; i++) {
			REQUIRE(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET) == 1);
			CHECK(resizes_at(i + 1) <= 2);
		}
		bshm_segment_close(segment);
	}
}

/* A figure of a damaged shard is no reason to stop. */
TEST(a_table_grows_whatever_the_bytes_of_the_shard_are_said_to_be)
{
	static const uint64_t told[] = {0, UINT64_MAX, UINT64_MAX - 15, 224 * (UINT64_MAX / 224)};
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		for (uint32_t records = 0; records <= 1; records++) {
			bshm_error error;
			segment = open_store(MB(1), 20000);
			s = bshm__shard_at(segment, 0);
			for (uint32_t k = 0; k < 400; k++) {
				REQUIRE(bshm__shard_lock(&s, BSHM_LOCK_BATCH_NS, &error) == BSHM_OK);
				BSHM_STORE(&s.shard->data_bytes, told[i], RELAXED);
				BSHM_STORE(&s.shard->records, records, RELAXED);
				bshm__shard_unlock(&s);
				REQUIRE(store_put(segment, k, k, 8, 0, BSHM_PUT_SET) == 1);
			}
			for (uint32_t k = 0; k < 400; k++) {
				CHECK_INT(store_get(segment, k, &(uint64_t){0}, &(uint32_t){0}), 1);
			}
			bshm_segment_close(segment);
		}
	}
}

/* A table that may not be so large has no buckets: a search ends, and no other table is harmed. */
TEST(a_size_that_no_table_has_counts_as_none)
{
	const uint32_t sizes[] = {3, 5, 9, 12, 15, 24, 31, 48, 65, 2047, 2112, 1u << 30};
	open_one();
	REQUIRE(store_put(segment, 1, 1, 8, 0, BSHM_PUT_SET) == 1);
	uint64_t *word = &segment->roots[0];
	const uint64_t root = BSHM_LOAD(word, RELAXED);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		BSHM_STORE(word, (root & ~UINT64_C(0xfffffffe)) | sizes[i] << 1, RELAXED);
		CHECK_INT(buckets(), 0);
	}
	BSHM_STORE(word, root, RELAXED);
	check_all(1, 2);
	bshm_segment_close(segment);
}

/*
 * The keys of one bucket of a small table overflow into the next ones. A resize tells their
 * positions from tag and bucket: so no record may lie further from its home bucket than the reach
 * of its table, also where the buckets begin anew.
 */
TEST(keys_of_one_bucket_are_found_after_each_growth)
{
	for (uint32_t eighth = 0; eighth < 8; eighth++) {
		const uint32_t width = BSHM_POSITIONS / 8;
		uint32_t numbers[100];
		uint64_t next = 0;
		open_one();
		for (uint32_t i = 0; i < 100; i++) {
			const uint32_t before = buckets();
			numbers[i] = key_at(segment, &next, eighth * width, (eighth + 1) * width);
			REQUIRE(store_put(segment, numbers[i], i, 8, 0, BSHM_PUT_SET) == 1);
			for (uint32_t k = 0; k <= i && before != buckets(); k++) {
				check_all(numbers[k], numbers[k] + 1);
			}
		}
		CHECK(buckets() > 8);
		bshm_segment_close(segment);
	}
}

/* Two sizes, of which one is set between the steps of a scan. */
static const uint32_t walked_sizes[] = {4, 8, 16, BSHM_UNIT_BUCKETS};

static void set_size(uint32_t size)
{
	bshm_error error;
	REQUIRE(bshm__shard_lock(&s, BSHM_LOCK_BATCH_NS, &error) == BSHM_OK);
	REQUIRE(bshm__table_resize(&s, 0, size));
	bshm__shard_unlock(&s);
}

/* How many records a scan shows whose table has another size from one step on. */
static unsigned scan_all(uint32_t before, uint32_t after, unsigned from, unsigned *steps)
{
	bshm_scan scan = {0};
	bool seen[24] = {false};
	unsigned shown = 0;
	set_size(before);
	*steps = 0;
	do {
		if (*steps == from) {
			set_size(after);
		}
		bshm_scan_next(segment, &scan, 0);
		for (unsigned i = 0; i < scan.count; i++) {
			uint64_t number;
			REQUIRE(scan.keys[i].length == sizeof(number));
			memcpy(&number, scan.keys[i].bytes, sizeof(number));
			REQUIRE(number < 24 && !seen[number]);
			seen[number] = true;
			shown++;
		}
		++*steps;
	} while (scan.cursor != 0);
	bshm_scan_free(&scan);
	return shown;
}

TEST(a_scan_shows_each_record_once_whatever_size_its_table_gets)
{
	const unsigned sizes = sizeof(walked_sizes) / sizeof(walked_sizes[0]);
	open_one();
	for (uint32_t i = 0; i < 24; i++) {
		REQUIRE(store_put(segment, i, i, 8, 0, BSHM_PUT_SET) == 1);
	}
	for (unsigned i = 0; i < sizes * sizes; i++) {
		unsigned steps = 1;
		for (unsigned from = 0; steps >= from; from++) { /* the last time it keeps its size */
			const unsigned shown =
				scan_all(walked_sizes[i / sizes], walked_sizes[i % sizes], from, &steps);
			CHECK_INT(shown, 24);
		}
	}
	bshm_segment_close(segment);
}

/* Does each bucket count the records that lie further on because it was full? */
static bool overflows_right(void)
{
	const bshm__buckets of = bshm__buckets_of(segment, 0);
	uint32_t wanted[4] = {0};
	for (uint32_t i = 0; i < of.count; i++) {
		const bshm_bucket *bucket = bshm__bucket_at(&s, &of, i);
		for (uint32_t k = 0; k < BSHM_BUCKET_CELLS; k++) {
			bshm__record record;
			bshm__home home;
			if (bshm__record_load(&s, BSHM_LOAD(&bucket->ref[k], RELAXED), &record) &&
				bshm__record_home(&s, &record, &home)) {
				uint32_t at = bshm__bucket_of(home.position, of.count);
				for (; at != i; at = (at + 1) % of.count) {
					wanted[at]++;
				}
			}
		}
	}
	for (uint32_t i = 0; i < of.count; i++) {
		if (bshm__bucket_overflow(bshm__bucket_at(&s, &of, i)) != wanted[i]) {
			return false;
		}
	}
	return true;
}

/* Its records may lie in any bucket: they leave it by the position that their keys say. */
TEST(a_tiny_table_counts_what_overflows_as_records_come_and_go)
{
	uint64_t seed = 7;
	uint32_t first = 0;
	uint32_t next = 0;
	unsigned full = 0;
	open_one();
	for (unsigned i = 0; i < 4000; i++) {
		const uint32_t records = next - first;
		if (records < 13 || (records < 32 && test_random(&seed) % 100 < 60)) {
			REQUIRE(store_put(segment, next++, i, 8, 0, BSHM_PUT_SET) == 1);
		} else if (i % 2 == 0) {
			REQUIRE(store_remove(segment, first++) == 1);
		} else {
			const uint64_t key = first++;
			CHECK_INT(bshm_records_clear(segment, &(bshm_key){(const char *) &key, 8}), 1);
		}
		CHECK(buckets() == 4 || next - first <= 16);
		full += next - first == 32;
		REQUIRE(overflows_right());
	}
	CHECK(full > 20);
	check_all(first, next);
	bshm_segment_close(segment);
}

#define LONG_KEYS 31u

static unsigned scan_from(bshm_segment *from, uint64_t cursor)
{
	bshm_scan scan = {.cursor = cursor};
	unsigned shown = 0;
	do {
		bshm_scan_next(from, &scan, 0);
		shown += scan.count;
	} while (scan.cursor != 0);
	bshm_scan_free(&scan);
	return shown;
}

static uint64_t pace; /* buckets move once in so many accesses to shared words */

static void jump(void)
{
	bshm__sequence_jump(&s);
	bshm__held.call_at = bshm__held.accesses + pace;
}

/* As in a shard whose tables are resized all the time. The keys of a tiny table take longer to copy
 * than memory keeps its meaning: a whole scan never passes without a jump. */
TEST(a_scan_shows_all_records_though_buckets_move_all_the_time)
{
	static char bytes[3900];
	bshm_error error;
	unsigned later = 0;
	open_one();
	memset(bytes, 'k', sizeof(bytes));
	for (uint32_t i = 0; i < LONG_KEYS; i++) {
		memcpy(bytes, &i, sizeof(i));
		const bshm_key key = {bytes, sizeof(bytes)};
		const bshm_put put = {.key = key, .value = {BSHM_VALUE_STRING, "v", 1}};
		REQUIRE(bshm_record_put(segment, &put, &error) == 1);
		later += bshm__home_of(segment, 0, &key).position >= BSHM_POSITIONS / 2;
	}
	CHECK(bshm__is_tiny(buckets()));
	const uint64_t before = bshm__held.accesses;
	CHECK_INT(scan_from(segment, 0), LONG_KEYS);
	const uint64_t whole = bshm__held.accesses - before;
	bshm__held.call = jump;
	for (pace = whole - whole / 8; pace < whole; pace++) {
		bshm__held.call_at = bshm__held.accesses + 1;
		CHECK_INT(scan_from(segment, 0), LONG_KEYS);
		CHECK_INT(scan_from(segment, BSHM_POSITIONS / 2), later); /* the table was larger */
	}
	bshm__held.call = NULL;
	bshm_segment_close(segment);
}
