/*
 * test_gain.c - how long an LRU keeps a record, and what the settings have brought against it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/gain.h"

#include "core/cache/ghost.h"
#include "core/cache/recency.h"
#include "core/cache/size.h"
#include "core/cache/walk.h"
#include "test_store.h"

static void use_or_put(bshm_segment *segment, uint32_t key)
{
	if (!store_use(segment, key)) {
		CHECK_INT(store_put(segment, key, 1, 16, 0, BSHM_PUT_SET), 1);
	}
}

/* An epoch has a 64th of the records in uses. Where each use is of another key, the store is used
 * up in 64 of them. If every second use is of a tenth that stays, nearly half are spent on that. */
static void measure(uint32_t records)
{
	bshm_segment *segment = open_store(MB(8), records);
	const bshm__shard s = bshm__shard_at(segment, 0);
	uint32_t key = records / 10;
	for (uint32_t i = 0; i < 4 * records; i++) {
		use_or_put(segment, key++);
	}
	const uint32_t once = bshm__lru_age(&s);
	for (uint32_t i = 0; i < 4 * records; i++) {
		use_or_put(segment, key++);
		use_or_put(segment, i % (records / 10));
	}
	const uint32_t beside = bshm__lru_age(&s);
	test_note("%u and %u epochs", once, beside);
	CHECK(once >= 60 && once <= 70);
	CHECK(beside >= 105 && beside <= 125);
	bshm_segment_close(segment);
}

TEST(the_age_of_an_lru_is_measured)
{
	measure(900);
	measure(3000);
	measure(30000); /* one use of eight counts */
}

/* A thousand records; the clock, as if a quarter of them had been used in the last 16 epochs; and
 * the last measurement found 100 epochs. */
static bshm__shard shard_at_rest(bshm_segment *segment)
{
	const bshm__shard s = bshm__shard_at(segment, 0);
	BSHM_STORE(&s.shard->clock, UINT64_C(0x1ff01fe81fe02000), RELAXED);
	BSHM_STORE(&s.shard->turn_began, 0x2000, RELAXED);
	BSHM_STORE(&s.shard->lru_age, 100u << 16 | 0x2000, RELAXED);
	BSHM_STORE(&s.shard->intent.size_margin,
		segment->cache_records != 0 ? BSHM_RECORDS_ARE_LIMIT : 0, RELAXED);
	BSHM_STORE(&s.shard->records, 1000, RELAXED);
	BSHM_STORE(&s.shard->data_bytes, 1000 * 1000, RELAXED);
	return s;
}

/* Else a store that has just been filled gave up what it has learnt: 5 % more misses. */
TEST(what_was_measured_while_the_store_was_filled_is_forgotten)
{
	bshm_segment *segment = open_store(MB(4), 5000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 5000; i++) {
		use_or_put(segment, i);
	}
	BSHM_STORE(&s.shard->lru_age, 500u << 16, RELAXED);
	use_or_put(segment, 5000);
	CHECK(bshm__lru_age(&s) < 100);
	use_or_put(segment, 5001);
	CHECK_INT(BSHM_LOAD(&s.shard->lru_age, RELAXED) >> 16, 0);
}

/* Another process has begun it, in an epoch after the one that this process has read. */
TEST(a_measurement_that_began_later_is_not_ended)
{
	bshm_segment *segment = open_store(MB(4), 500);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i <= 500; i++) {
		use_or_put(segment, i);
	}
	const uint32_t later = 70u << 16 | ((bshm__stamp_now(&s) + 5) & BSHM_SLOT_STAMP);
	BSHM_STORE(&s.shard->lru_age, later, RELAXED);
	BSHM_STORE(&s.shard->lru_used, 0, RELAXED);
	use_or_put(segment, 501);
	CHECK_INT(BSHM_LOAD(&s.shard->lru_age, RELAXED), later);
	CHECK_INT(BSHM_LOAD(&s.shard->lru_used, RELAXED), 0);
	bshm__measure_anew(&s, 40);
	CHECK_INT(BSHM_LOAD(&s.shard->lru_age, RELAXED), 40u << 16 | bshm__stamp_now(&s));
}

TEST(the_last_measurement_stands_for_what_is_left_of_the_next)
{
	bshm_segment *segment = open_store(MB(4), 1000);
	const bshm__shard s = shard_at_rest(segment);
	CHECK_INT(bshm__lru_age(&s), 100);
	BSHM_STORE(&s.shard->lru_age, 100u << 16 | (0x2000 - 60), RELAXED);
	BSHM_STORE(&s.shard->lru_used, 250, RELAXED);
	CHECK_INT(bshm__lru_age(&s), 60 + 75);
	BSHM_STORE(&s.shard->lru_used, 900, RELAXED);
	CHECK_INT(bshm__lru_age(&s), 60 + 10);
	BSHM_STORE(&s.shard->lru_used, 990, RELAXED);
	CHECK_INT(bshm__lru_age(&s), 64);                            /* four quarters */
	BSHM_STORE(&s.shard->lru_age, 100u << 16 | 0x2001, RELAXED); /* later than the clock was */
	CHECK_INT(bshm__lru_age(&s), 64);
	BSHM_STORE(&s.shard->records, 0, RELAXED);
	CHECK_INT(bshm__lru_age(&s), 64);
}

static uint64_t hash_of(uint32_t key)
{
	return bshm__checksum((const char *) &key, sizeof(key), 1);
}

/* So many records with this state go, and are put again, and as many others. What counts? */
static uint32_t counted(const bshm__shard *s, uint32_t keys, uint32_t state)
{
	bshm__walk w = {0, 0, 0};
	uint32_t before;
	const uint32_t ref = bshm__walk_next(s, &w, &before);
	BSHM_STORE(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), 0), state, RELAXED);
	BSHM_STORE(&s->shard->lru_used, 0, RELAXED);
	for (uint32_t i = 0; i < keys; i++) {
		bshm__measure_removed(s, hash_of(i), ref, 8);
	}
	for (uint32_t i = 0; i < 2 * keys; i++) {
		bshm__measure_put(s, hash_of(i), 8);
	}
	return BSHM_LOAD(&s->shard->lru_used, RELAXED);
}

TEST(what_goes_and_is_put_again_counts_once)
{
	bshm_segment *segment = open_store(MB(4), 1000000);
	use_or_put(segment, 1); /* it lends its state to all */
	const bshm__shard s = shard_at_rest(segment);
	BSHM_STORE(&s.shard->lru_age, 100u << 16 | (0x2000 - 60), RELAXED);
	CHECK_INT(counted(&s, 100, BSHM_SLOT_LIVE | (0x2000 - 61)), 200);
	const uint32_t few =
		counted(&s, 100, BSHM_SLOT_LIVE | (0x2000 - 60)); /* two keys may have the same bit */
	CHECK(few >= 95 && few <= 100);
	BSHM_STORE(&s.shard->lru_age, 100u << 16 | (0x2000 - 50), RELAXED);
	CHECK_INT(counted(&s, 100, BSHM_SLOT_LIVE | (0x2000 - 60)), 200); /* a new measurement */
	BSHM_STORE(&s.shard->records, 100000, RELAXED); /* the sample is one key of 32 */
	const uint32_t many = counted(&s, 20000, BSHM_SLOT_LIVE | 0x2000);
	test_note("%u of 40,000", many);
	CHECK(many >= 15000 && many <= 25000);
	BSHM_STORE(&s.shard->records, UINT32_MAX, RELAXED); /* damaged */
	counted(&s, 20000, BSHM_SLOT_LIVE | 0x2000);
}

/* Nothing new is used: what was counted is less than all, by chance or after a death. */
TEST(a_measurement_comes_to_its_end)
{
	bshm_segment *segment = open_store(MB(4), 1000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 20000; i++) {
		use_or_put(segment, i % 900);
	}
	CHECK(bshm__age(bshm__stamp_now(&s), BSHM_LOAD(&s.shard->lru_age, RELAXED)) <= 8 * 80);
	const uint32_t began = BSHM_LOAD(&s.shard->lru_age, RELAXED);
	for (uint32_t i = 0; i < 20000; i++) {
		use_or_put(segment, i % 900);
	}
	CHECK(BSHM_LOAD(&s.shard->lru_age, RELAXED) != began);
}

static uint32_t noted(const bshm__shard *s)
{
	uint32_t bits = 0;
	for (uint32_t i = 0; i < 64 * BSHM_COUNTED_WORDS; i++) {
		bits += BSHM_LOAD(&s->shard->counted[i / 64], RELAXED) >> i % 64 & 1;
	}
	return bits;
}

TEST(each_record_that_goes_is_noted)
{
	bshm_segment *segment = open_store(MB(4), 100);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i <= 100; i++) { /* the first eviction begins a measurement */
		use_or_put(segment, i);
	}
	use_or_put(segment, 101);
	CHECK_INT(noted(&s), 0);
	store_remove(segment, 101);
	CHECK_INT(noted(&s), 1);
	BSHM_STORE(&s.shard->lru_age, (bshm__stamp_now(&s) - 200) & BSHM_SLOT_STAMP, RELAXED);
	for (uint32_t i = 200; i < 241; i++) {
		use_or_put(segment, i);
	}
	CHECK(noted(&s) >= 38); /* of 40: two keys may have the same bit */
}

/* The mean age at eviction was 63 epochs. The power is 5/16: a record of 234 bytes stays 5/8 of an
 * octave longer than one of 984, one of 3984 goes as much sooner. */
TEST(sizes_count_what_they_bring_and_what_they_cost)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_at_rest(segment);
	uint32_t *gain = &s.shard->size_gain;
	BSHM_STORE(&s.shard->clock, UINT64_C(0x1ff01fe81fe42000), RELAXED); /* four quarters in 48 */
	BSHM_STORE(&s.shard->lru_age, 0x2000, RELAXED);
	bshm__size_used(&s, 234, bshm__age_log(1000)); /* nothing has been evicted yet */
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		bshm__size_evicted(&s, 984, bshm__age_log(63));
	}
	bshm__size_used(&s, 234, bshm__age_log(73)); /* a quarter of 5/8 of an octave is 74 */
	bshm__size_used(&s, 984, bshm__age_log(1000));
	bshm__size_used(&s, 3984, bshm__age_log(1000));
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 0);
	bshm__size_used(&s, 234, bshm__age_log(74));
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 1);
	BSHM_STORE(&s.shard->lru_age, 100u << 16 | 0x2000, RELAXED);
	bshm__size_used(&s, 234, bshm__age_log(100));
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 1);
	bshm__size_used(&s, 234, bshm__age_log(101));
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 2);
	bshm__gain_add(&s, &s.shard->size_gain, -1);
	bshm__size_returned(&s, 3984, false); /* in the turn before */
	bshm__size_returned(&s, 234, true);
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 1);
	BSHM_STORE(&s.shard->size_power, 0, RELAXED);
	BSHM_STORE(&s.shard->turn_began, 0x2000 - 60, RELAXED);
	bshm__size_returned(&s, 3984, true); /* it was 41 when it went, and may be 101 */
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 1);
	BSHM_STORE(&s.shard->size_power, 0, RELAXED);
	BSHM_STORE(&s.shard->turn_began, 0x2000 - 50, RELAXED);
	bshm__size_returned(&s, 3984, true);
	CHECK_INT((int32_t) BSHM_LOAD(gain, RELAXED), -1);
	CHECK_INT(bshm__gain_turn(&s, gain, 800), 0);
	CHECK_INT((int32_t) BSHM_LOAD(gain, RELAXED), -1); /* a 128th: once in 128 turns */
	BSHM_STORE(&s.shard->clock, UINT64_C(0x1ff01fe81fe4207f), RELAXED);
	CHECK_INT(bshm__gain_turn(&s, gain, 800), 0);
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 0);
}

TEST(a_setting_that_has_cost_much_goes_back)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_at_rest(segment);
	uint32_t *gain = &s.shard->size_gain;
	BSHM_STORE(&s.shard->size_power, 0, RELAXED); /* 5/16 */
	const int32_t before = bshm__size_power(&s);
	bshm__gain_add(&s, gain, -65); /* four parts of 16 */
	bshm__size_turn(&s);
	CHECK_INT(bshm__size_power(&s), before - before / 8);
	bshm__size_turn(&s);
	bshm__gain_add(&s, gain, 2);
	const int32_t after = bshm__size_power(&s);
	bshm__size_turn(&s);
	CHECK_INT(bshm__size_power(&s), after);
}

static void use_at(const bshm__shard *s, uint32_t kind, uint32_t age)
{
	bshm__ghost_used(s, kind | (0x2000 - age), 100);
}

/* A record on probation counts as twice as old. */
TEST(the_lean_counts_what_it_brings_and_what_it_costs)
{
	bshm_segment *segment = open_store(MB(4), 1000);
	const bshm__shard s = shard_at_rest(segment);
	uint32_t *gain = &s.shard->lean_gain;
	BSHM_STORE(&s.shard->lru_age, 0x2000, RELAXED); /* four quarters: 64 */
	BSHM_STORE(&s.shard->evicted_epoch, 0x2000, RELAXED);
	BSHM_STORE(&s.shard->evictions, 1, RELAXED);
	CHECK_INT(bshm__ghost_lean(&s), BSHM_OCTAVE);
	use_at(&s, BSHM_SLOT_PROTECTED, 57); /* an eighth of an octave less than 64, about */
	use_at(&s, 0, 200);
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 0);
	use_at(&s, BSHM_SLOT_PROTECTED, 60);
	use_at(&s, BSHM_SLOT_PROTECTED | BSHM_SLOT_FREQUENT, 60);
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 2);
	BSHM_STORE(&s.shard->lean, (uint32_t) -BSHM_OCTAVE, RELAXED);
	use_at(&s, BSHM_SLOT_PROTECTED, 200); /* it is an LRU */
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 2);
	bshm__gain_add(&s, gain, -2 - 8);
	CHECK_INT((int32_t) BSHM_LOAD(gain, RELAXED), -8);
	CHECK_INT(bshm__gain_earned(&s, gain, 1000), 500); /* of 16, which stop it */
	bshm__gain_add(&s, gain, -8);
	CHECK_INT(bshm__gain_earned(&s, gain, 1000), 0);
	bshm__gain_add(&s, gain, -100000);
	CHECK_INT((int32_t) BSHM_LOAD(gain, RELAXED), -256);
	bshm__gain_add(&s, gain, 100000);
	CHECK_INT(BSHM_LOAD(gain, RELAXED), 1024);
	CHECK_INT(bshm__gain_earned(&s, gain, 1000), 1000);
}

TEST(what_an_lru_had_kept_returns_sooner_than_it_evicts)
{
	bshm_segment *segment = open_store(MB(4), 1000);
	const bshm__shard s = shard_at_rest(segment);
	CHECK(bshm__lru_had_kept(&s, bshm__age_log(31)));
	CHECK(bshm__lru_had_kept(&s, -BSHM_OCTAVE));
	CHECK(!bshm__lru_had_kept(&s, bshm__age_log(127)));
	CHECK(!bshm__lru_had_kept(&s, 80 * (int64_t) BSHM_OCTAVE)); /* an age that no clock has */
	BSHM_STORE(&s.shard->turn_began, 0x2000 - 60, RELAXED);
	CHECK(bshm__lru_had_kept(&s, bshm__age_log(31)));
	BSHM_STORE(&s.shard->turn_began, 0x2000 - 75, RELAXED);
	CHECK(!bshm__lru_had_kept(&s, bshm__age_log(31)));
}
