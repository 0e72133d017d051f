/*
 * test_recency.c - what a use counts, and which record is the oldest, whatever others do meanwhile.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/recency.h"

#include "core/cache/walk.h"
#include "test_store.h"

#include <inttypes.h>

#define RECORDS 50u
#define BYTES   104u /* of a value: a use counts 128 bytes in all */

static bshm_segment *in_use;
static bool was_used;
static void use_another(void)
{
	was_used = store_use(in_use, 1);
}

/* All records were last used before the two younger periods began, and nothing in these yet. */
static bshm_shard_header *store_at_rest(bshm_segment *segment)
{
	bshm_shard_header *shard = &segment->shards[0];
	for (uint32_t i = 0; i < RECORDS; i++) {
		CHECK_INT(store_put(segment, i, i, BYTES, 0, BSHM_PUT_SET), 1);
	}
	const uint64_t after = (BSHM_LOAD(&shard->clock, RELAXED) & BSHM_SLOT_STAMP) + 2;
	BSHM_STORE(&shard->clock, after | after << 16 | after << 32 | after << 48, RELAXED);
	BSHM_STORE(&shard->touches, 0, RELAXED);
	return shard;
}

/* Each use ends an epoch. Before each of its accesses another process uses another record. */
TEST(two_uses_at_once_of_few_records_are_both_counted)
{
	const uint64_t access_most = 200;
	uint64_t reached = 0;
	for (uint64_t access = 1; access < access_most; access++) {
		bshm_segment *segment = open_store(MB(16), 0);
		bshm_shard_header *shard = store_at_rest(segment);
		const uint64_t before = BSHM_LOAD(&shard->clock, RELAXED);
		in_use = segment;
		was_used = false;
		bshm__held.call_at = bshm__held.accesses + access;
		bshm__held.call = use_another;
		CHECK(store_use(segment, 0));
		bshm__held.call = NULL;
		if (was_used) {
			reached++;
			const uint64_t both = 2 * 128u >> segment->period_shift;
			CHECK_INT(BSHM_LOAD(&shard->touches, RELAXED), both << 16 | both << 40);
		}
		const uint64_t epochs = BSHM_LOAD(&shard->clock, RELAXED) - before;
		CHECK(epochs == 1 || epochs == 2);
		check_sound(segment);
		bshm_segment_close(segment);
		unlink(test_path("segment"));
	}
	CHECK(reached > 20 && reached < access_most - 1);
}

/* Into the page of short records and back: one is always there. */
static void put_shorter(void)
{
	was_used = store_put(in_use, 1, 1, 10, 0, BSHM_PUT_SET) == 1;
}

TEST(the_only_record_is_found_or_has_changed_while_it_is_replaced)
{
	const uint64_t access_most = 20000;
	static const char name[] = "a record that stays";
	bshm_segment *segment = open_store(MB(1), 0);
	bshm_error error;
	uint64_t busy = 0;
	/* It does not count, but its page comes before that of long records. */
	const bshm_put other = {
		.space = BSHM_SPACE_FETCH, .key = {name, 8}, .value = {BSHM_VALUE_STRING, name, 10}};
	CHECK_INT(bshm_record_put(segment, &other, &error), 1);
	in_use = segment;
	was_used = true;
	for (uint64_t access = 1; access < access_most && was_used; access++) {
		bshm_found found;
		CHECK_INT(store_put(segment, 1, 1, 1000, 0, BSHM_PUT_SET), 1);
		was_used = false;
		bshm__held.call_at = bshm__held.accesses + access;
		bshm__held.call = put_shorter;
		const int oldest = bshm_record_oldest(segment, &found);
		bshm__held.call = NULL;
		CHECK(oldest == 1 || oldest == BSHM_E_BUSY);
		busy += oldest == BSHM_E_BUSY;
	}
	CHECK(busy > 0 && !was_used);
	check_sound(segment);
}

static uint32_t other_space;

/* As an eviction and a put do: the slot of the oldest record is the next one that is free. */
static void put_in_its_place(void)
{
	bshm_error error;
	was_used = store_remove(in_use, 1) == 1;
	const uint64_t key = 3;
	const bshm_put put = {.space = other_space,
		.key = {(const char *) &key, 8},
		.value = {BSHM_VALUE_STRING, &key, 8}};
	CHECK_INT(bshm_record_put(in_use, &put, &error), 1);
}

TEST(no_record_is_taken_for_the_oldest_whose_slot_it_has_got)
{
	for (other_space = BSHM_SPACE_CACHE; other_space <= BSHM_SPACE_FETCH; other_space++) {
		uint64_t busy = 0;
		in_use = open_store(MB(1), 0);
		was_used = true;
		for (uint64_t access = 1; was_used && !test_failed(); access++) {
			bshm_records_clear(in_use, &(bshm_key){"", 0});
			CHECK_INT(store_put(in_use, 1, 1, 8, 0, BSHM_PUT_SET), 1);
			CHECK_INT(store_put(in_use, 2, 1, 8, 0, BSHM_PUT_SET), 1);
			was_used = false;
			bshm__held.call_at = bshm__held.accesses + access;
			bshm__held.call = put_in_its_place;
			bshm_found found;
			uint64_t key = 0;
			const int oldest = bshm_record_oldest(in_use, &found);
			bshm__held.call = NULL;
			CHECK(oldest == 1 || oldest == BSHM_E_BUSY);
			CHECK(oldest != 1 || found.space == BSHM_SPACE_CACHE);
			CHECK(oldest != 1 || !bshm_found_copy_key(&found, &key) || key != 3);
			busy += oldest == BSHM_E_BUSY;
		}
		CHECK(busy > 0);
		check_sound(in_use);
		bshm_segment_close(in_use);
		unlink(test_path("segment"));
	}
}

/* While a store fills, epochs are short at first: hundreds of them have a few records each. */
TEST(a_filled_store_is_emptied_oldest_first_without_reading_all_records_for_each)
{
	const uint32_t count = 40000;
	bshm_segment *segment = open_store(MB(4), 0);
	uint64_t most = 0; /* of a record, how many younger ones went before it */
	for (uint32_t i = 0; i < count; i++) {
		CHECK_INT(store_put(segment, i, i, 8 + 16 * (i % 3), 0, BSHM_PUT_SET), 1);
	}
	const uint64_t before = bshm__held.accesses;
	for (uint32_t i = 0; i < count && !test_failed(); i++) {
		const uint32_t key = store_pop(segment);
		most = key > i && key - i > most ? key - i : most;
	}
	const uint64_t walks = (bshm__held.accesses - before) / (3 * count);
	test_note("all records are read %" PRIu64 " times; %" PRIu64 " out of order", walks, most);
	CHECK(walks < 600 && most <= 2 * count / 64);
	check_sound(segment);
}

/* One more or less of them is no reason to look through all again. */
TEST(pops_and_puts_at_a_power_of_two_do_not_read_all_records_for_each)
{
	const uint32_t count = 16384;
	bshm_segment *segment = open_store(MB(4), 0);
	for (uint32_t i = 0; i < count; i++) {
		CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	const uint64_t before = bshm__held.accesses;
	for (uint32_t i = 0; i < 100; i++) {
		store_pop(segment);
		store_pop(segment);
		CHECK_INT(store_put(segment, count + 2 * i, 1, 8, 0, BSHM_PUT_SET), 1);
		CHECK_INT(store_put(segment, count + 2 * i + 1, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	const uint64_t walks = (bshm__held.accesses - before) / (3 * count);
	test_note("all records are read %u times", (unsigned) walks);
	CHECK(walks < 20);
	check_sound(segment);
}

/* They were a 64th of all at the first pop. */
TEST(the_few_that_are_left_of_many_come_oldest_first)
{
	const uint32_t few = 100;
	bshm_segment *segment = open_store(MB(4), 0);
	for (uint32_t i = 0; i < few; i++) {
		CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	for (uint32_t i = few; i-- != 0;) {
		CHECK(store_use(segment, i));
	}
	for (uint32_t i = few; i < 64 * few; i++) {
		CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	store_pop(segment);
	for (uint32_t i = few; i < 64 * few; i++) {
		CHECK_INT(store_remove(segment, i), 1);
	}
	uint32_t before = few;
	for (uint32_t i = 1; i < few && !test_failed(); i++) {
		const uint32_t key = store_pop(segment);
		CHECK(key < before);
		before = key;
	}
	check_sound(segment);
}

TEST(an_add_that_finds_a_record_is_a_use_and_a_restored_one_is_not)
{
	for (uint32_t restored = 0; restored < 2; restored++) {
		const uint64_t first = 0;
		const bshm_put put = {.key = {(const char *) &first, 8},
			.value = {BSHM_VALUE_TRUE, "", 0},
			.mode = BSHM_PUT_ADD,
			.is_restored = restored != 0};
		bshm_error error;
		bshm_segment *segment = open_store(MB(1), 10);
		for (uint32_t i = 0; i < 10; i++) {
			CHECK_INT(store_put(segment, i, i, 8, 0, BSHM_PUT_SET), 1);
		}
		CHECK_INT(bshm_record_put(segment, &put, &error), 0);
		CHECK_INT(store_put(segment, 10, 10, 8, 0, BSHM_PUT_SET), 1);
		CHECK_INT(store_has(segment, 0), restored == 0);
		CHECK_INT(store_has(segment, 1), restored != 0);
		bshm_segment_close(segment);
		unlink(test_path("segment"));
	}
}

static uint32_t count_safe(bshm_segment *segment, uint32_t shard)
{
	const bshm__shard s = bshm__shard_at(segment, shard);
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&s.shard->clock, RELAXED));
	bshm__walk w = {0, 0, 0};
	uint32_t state;
	uint32_t safe = 0;
	while (bshm__walk_next(&s, &w, &state) != 0 && w.visited < segment->shard_pages) {
		safe += bshm__age(e.now, state) <= bshm__age(e.now, e.floor);
	}
	return safe;
}

/* Of so many records look-ups count a part of the uses. */
TEST(a_quarter_of_many_records_is_safe)
{
	const uint32_t limit = 66000;
	uint64_t seed = test_seed();
	uint32_t least = UINT32_MAX;
	uint32_t most = 0;
	bshm_segment *segment = open_store(MB(8), limit);
	for (uint32_t i = 0; i < 2000000; i++) {
		const uint32_t random = (uint32_t) (test_random(&seed) % limit);
		const uint32_t key = i % 16 == 0 ? i : i % 3 == 0 ? i % limit : random; /* new; in turn */
		if (!store_use(segment, key)) {
			CHECK_INT(store_put(segment, key, 1, 8, 0, BSHM_PUT_SET), 1);
		}
		if (i > 200000 && i % 5000 == 0) {
			const uint32_t safe = count_safe(segment, 0);
			least = safe < least ? safe : least;
			most = safe > most ? safe : most;
		}
	}
	test_note("%u to %u of %u are safe", least, most, limit);
	CHECK(least >= limit / 4 && most <= limit * 3 / 4);
	check_sound(segment);
}

#define LARGER 9u /* records */

/* In percent of the store's records, when the floors of all shards have moved. */
typedef struct {
	double least;
	double mean;
} safe_part;

static double count_safe_part(bshm_segment *segment)
{
	uint64_t safe = 0;
	uint64_t records = 0;
	for (uint32_t k = 0; k < segment->shard_count; k++) {
		safe += count_safe(segment, k);
		records += BSHM_LOAD(&segment->shards[k].records, RELAXED);
	}
	return 100.0 * (double) safe / (double) records;
}

/* In a loop that is larger than the store. Some records have other sizes: each 50th use is of one
 * of them. */
static safe_part loop(bshm_segment *segment, uint32_t keys, uint32_t bytes, uint32_t bytes_larger)
{
	uint64_t floors[3] = {0};
	safe_part all = {100, 0};
	unsigned moved = 0;
	REQUIRE(segment->shard_count == 3);
	for (uint32_t i = 0; i < 8 * keys; i++) {
		const uint32_t key = i % 50 == 0 ? i / 50 % LARGER : LARGER + i % keys;
		if (!store_use(segment, key)) {
			const uint32_t length = key < LARGER ? bytes_larger : bytes;
			CHECK_INT(store_put(segment, key, key, length, 0, BSHM_PUT_SET), 1);
		}
		bool moves = false;
		bool all_moved = true;
		for (uint32_t k = 0; k < 3; k++) {
			const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&segment->shards[k].clock, RELAXED));
			moves |= e.floor != floors[k];
			all_moved &= e.period == BSHM_LOAD(&segment->store->period, RELAXED) % BSHM_PERIODS;
			floors[k] = e.floor;
		}
		if (moves && all_moved && i > 3 * keys) {
			const double part = count_safe_part(segment);
			all.least = part < all.least ? part : all.least;
			all.mean += part;
			moved++;
		}
	}
	CHECK(moved > 20);
	all.mean /= moved;
	test_note("%u times all floors have moved: %.1f percent are safe, or more; %.1f in the mean",
		moved, all.least, all.mean);
	return all;
}

/* Keys are not spread evenly over shards: the fewer and the larger the records, the less. */
TEST(a_quarter_of_the_store_is_safe_and_little_more_in_several_shards)
{
	bshm_segment *segment = open_with_seed(MB(70), 0);
	const safe_part many = loop(segment, 22000, 3000, 3000);
	CHECK(many.least >= 25 && many.mean < 28);
	bshm_segment_close(segment);
	segment = open_with_seed(MB(70), 0);
	const safe_part some_are_large = loop(segment, 22000, 3000, 100000);
	CHECK(some_are_large.least >= 24 && some_are_large.mean < 28);
	bshm_segment_close(segment);
	segment = open_with_seed(MB(70), 0);
	const safe_part few = loop(segment, 1900, 35000, 35000);
	CHECK(few.least >= 25 && few.mean < 28);
	check_sound(segment);
	bshm_segment_close(segment);
	segment = open_with_seed(MB(160), 300 * 8192);
	segment->cache_records = 24000;
	const safe_part limited = loop(segment, 27000, 8, 8);
	CHECK(limited.least >= 25 && limited.mean < 28);
	segment->cache_records = 300 * 8192; /* as the header says */
	check_sound(segment);
}
