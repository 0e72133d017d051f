/*
 * test_gain.c - what the settings have brought against an LRU, and what follows from it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/gain.h"

#include "core/cache/ghost.h"
#include "core/cache/settings.h"
#include "core/cache/size.h"
#include "test_store.h"

/* 6,400 records: a key of the sample stands for 40 hits at most. */
static bshm__shard shard_of_many(bshm_segment *segment)
{
	const bshm__shard s = bshm__shard_at(segment, 0);
	BSHM_STORE(&s.shard->records, 6400, RELAXED);
	return s;
}

/* So many keys of the sample have been counted. */
static void count(const bshm__shard *s, uint32_t keys, int64_t hits)
{
	for (uint32_t i = 0; i < keys; i++) {
		bshm__gain_add(s, hits);
	}
}

static int64_t gain_of(const bshm__shard *s)
{
	return (int32_t) BSHM_LOAD(&s->shard->gain, RELAXED);
}

TEST(what_is_counted_has_bounds)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	bshm__gain_add(&s, 100000);
	CHECK_INT(gain_of(&s), 6400);
	bshm__gain_add(&s, INT64_C(-100000000000));
	CHECK_INT(gain_of(&s), -6400);
	BSHM_STORE(&s.shard->gain, 0, RELAXED);
	BSHM_STORE(&s.shard->records, 3, RELAXED); /* as if a key stood for 1.6 hits at least */
	bshm__gain_add(&s, -1000);
	CHECK_INT(gain_of(&s), -260);
	BSHM_STORE(&s.shard->gain, 1u << 31, RELAXED); /* damaged */
	bshm__gain_add(&s, -1);
	CHECK_INT(gain_of(&s), -(int64_t) (segment->shard_bytes / BSHM_SLOT_BYTES_MIN));
	BSHM_STORE(&s.shard->gain, (1u << 31) - 1, RELAXED);
	bshm__gain_add(&s, 1);
	CHECK_INT(gain_of(&s), 260);
	BSHM_STORE(&s.shard->records, UINT32_MAX, RELAXED); /* damaged, both */
	BSHM_STORE(&s.shard->gain_each, UINT32_MAX, RELAXED);
	bshm__gain_add(&s, 1);
	CHECK_INT(gain_of(&s), 261);
	CHECK_INT(bshm__gain_earned(&s, BSHM_OCTAVE), BSHM_OCTAVE);
}

TEST(what_was_lost_stays_lost_when_keys_stand_for_fewer_hits)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	count(&s, 38, -40);
	CHECK_INT(gain_of(&s), -1520);
	BSHM_STORE(&s.shard->records, 3, RELAXED);
	bshm__gain_add(&s, -1);
	CHECK_INT(gain_of(&s), -1520);
	bshm__gain_add(&s, 1);
	CHECK_INT(gain_of(&s), -1519);
	CHECK_INT(bshm__gain_earned(&s, 1000), 0);
}

TEST(the_more_was_lost_the_smaller_are_the_steps_away_from_lru)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	CHECK_INT(bshm__gain_earned(&s, 1000), 1000);
	count(&s, 5, -40);
	CHECK_INT(bshm__gain_earned(&s, 1000), 750);
	CHECK_INT(bshm__gain_back(&s, 800), 0);
	count(&s, 14, -40);
	CHECK_INT(bshm__gain_earned(&s, 1000), 50);
	CHECK_INT(bshm__gain_back(&s, 800), 0);
	count(&s, 1, -40);
	CHECK_INT(bshm__gain_earned(&s, 1000), 0);
	CHECK_INT(bshm__gain_back(&s, 800), -100);
}

/* Most records are tiny, and no call asks for them: the keys that are counted stand for themselves.
 * 32 lost hits of these are too many. */
TEST(too_many_are_as_many_as_keys_of_the_sample_stand_for)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	count(&s, 31, -1);
	CHECK(bshm__gain_earned(&s, 1000) > 0);
	count(&s, 2, -1);
	CHECK_INT(bshm__gain_earned(&s, 1000), 0);
	count(&s, 300, -1);
	CHECK_INT(gain_of(&s), -260);
	count(&s, 80, 40); /* they stand for more now */
	BSHM_STORE(&s.shard->gain, (uint32_t) -600, RELAXED);
	CHECK(bshm__gain_earned(&s, 1000) > 0);
	BSHM_STORE(&s.shard->gain, (uint32_t) -800, RELAXED);
	CHECK_INT(bshm__gain_earned(&s, 1000), 0);
}

static uint32_t each_of(const bshm__shard *s)
{
	return BSHM_LOAD(&s->shard->gain_each, RELAXED);
}

TEST(what_a_key_stands_for_is_a_mean_of_the_last_ones)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	BSHM_STORE(&s.shard->gain, (uint32_t) -799, RELAXED); /* 20 keys of 40: none is known yet */
	CHECK(bshm__gain_earned(&s, 1000) > 0);
	BSHM_STORE(&s.shard->gain, (uint32_t) -800, RELAXED);
	CHECK_INT(bshm__gain_earned(&s, 1000), 0);
	bshm__gain_add(&s, 40);
	CHECK_INT(each_of(&s), 40 * 64);
	bshm__gain_add(&s, -8);
	CHECK_INT(each_of(&s), 38 * 64); /* a 16th of the way */
	BSHM_STORE(&s.shard->gain_each, 50 * 64, RELAXED);
	bshm__gain_add(&s, 24); /* not from 50, which cannot be: from a 160th of the records */
	CHECK_INT(each_of(&s), 39 * 64);
	count(&s, 200, 2);
	CHECK(each_of(&s) >= 2 * 64 && each_of(&s) < 2 * 64 + 16);
}

static void set(const bshm__shard *s, int32_t lean, int32_t power)
{
	BSHM_STORE(&s->shard->lean, (uint32_t) lean, RELAXED);
	BSHM_STORE(&s->shard->size_power, (uint32_t) (power - BSHM_POWER_NEW), RELAXED);
}

/* A miss and an eviction with which a lost hit is forgotten. */
static void forget(const bshm__shard *s)
{
	BSHM_STORE(&s->shard->gain_misses, 1, RELAXED);
	bshm__gain_evicted(s, 255);
	bshm__gain_evicted(s, 256);
	bshm__gain_evicted(s, 512); /* no miss waits any more */
}

/* What the sample tells of an LRU is chance. */
TEST(an_lru_brings_and_loses_nothing)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	set(&s, BSHM_OCTAVE / 16 - 1, BSHM_OCTAVE / 64 - 1);
	bshm__gain_add(&s, -100);
	CHECK_INT(gain_of(&s), 0);
	set(&s, BSHM_OCTAVE / 16, 0);
	bshm__gain_add(&s, -100);
	CHECK_INT(gain_of(&s), -100);
	set(&s, BSHM_LEAN_LOW, 0); /* as 0 */
	bshm__gain_add(&s, 50);
	CHECK_INT(gain_of(&s), -100);
	set(&s, 0, BSHM_OCTAVE / 64);
	bshm__gain_add(&s, -100);
	CHECK_INT(gain_of(&s), -200);
	set(&s, 0, 0);
	forget(&s); /* it is forgotten all the same */
	CHECK_INT(gain_of(&s), -199);
	BSHM_STORE(&s.shard->gain, 1280, RELAXED);
	bshm__gain_turn(&s);
	CHECK_INT(gain_of(&s), 1270);
	bshm_segment_close(segment);

	segment = open_store(MB(4), 6400);
	const bshm__shard of_records = shard_of_many(segment);
	BSHM_STORE(&of_records.shard->intent.size_margin, BSHM_RECORDS_ARE_LIMIT, RELAXED);
	set(&of_records, 0, BSHM_OCTAVE / 64); /* no sizes count */
	bshm__gain_add(&of_records, -100);
	CHECK_INT(gain_of(&of_records), 0);
	set(&of_records, BSHM_OCTAVE / 16, 0);
	bshm__gain_add(&of_records, -100);
	CHECK_INT(gain_of(&of_records), -100);
}

/* The keys that are counted now stand for fewer hits. */
TEST(the_more_was_lost_by_others_the_sooner_it_is_forgotten)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	count(&s, 39, -40);
	forget(&s);
	CHECK_INT(gain_of(&s), -1559);
	BSHM_STORE(&s.shard->records, 320, RELAXED); /* two each: 40 keys stand for 80 */
	forget(&s);                                  /* one, and 19 times 80 */
	CHECK_INT(gain_of(&s), -1539);
}

TEST(what_was_lost_is_forgotten_with_misses_and_evictions_and_what_was_gained_with_turns)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	BSHM_STORE(&s.shard->clock, 64, RELAXED);
	count(&s, 25, -40);
	bshm__gain_turn(&s);
	bshm__gain_evicted(&s, 256);
	CHECK_INT(gain_of(&s), -1000);
	BSHM_STORE(&s.shard->gain_misses, UINT32_MAX, RELAXED); /* damaged */
	for (uint64_t i = 0; i < 700; i++) {
		bshm__gain_evicted(&s, i);
	}
	CHECK_INT(gain_of(&s), -997);
	for (uint64_t i = 700; i < 2560; i++) {
		bshm__gain_evicted(&s, i);
	}
	CHECK_INT(gain_of(&s), -996);
	BSHM_STORE(&s.shard->gain, 0, RELAXED);
	forget(&s);
	CHECK_INT(gain_of(&s), 0);
	CHECK_INT(BSHM_LOAD(&s.shard->gain_misses, RELAXED), 0); /* nothing is left over for a debt */
	BSHM_STORE(&s.shard->gain, 1280, RELAXED);
	forget(&s);
	bshm__gain_turn(&s);
	CHECK_INT(gain_of(&s), 1270);
	bshm__gain_turn(&s); /* 9.9: the epoch rounds it */
	CHECK_INT(gain_of(&s), 1260);
	BSHM_STORE(&s.shard->clock, 0, RELAXED);
	bshm__gain_turn(&s); /* 9.8 */
	CHECK_INT(gain_of(&s), 1251);
}

static uint32_t drawn(const bshm__shard *s, uint64_t hash)
{
	BSHM_STORE(&s->shard->gain_misses, 0, RELAXED);
	bshm__gain_missed(s, hash);
	return BSHM_LOAD(&s->shard->gain_misses, RELAXED);
}

/* A key that is missed all the time does not count each time, nor never. */
TEST(a_miss_of_256_is_drawn_by_key_and_epoch)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	uint32_t keys = 0;
	uint32_t epochs = 0;
	for (uint64_t i = 0; i < 25600; i++) {
		keys += drawn(&s, bshm__hash_key(&i, sizeof(i), 1).low);
	}
	for (uint64_t epoch = 0; epoch < 25600; epoch++) {
		BSHM_STORE(&s.shard->clock, epoch, RELAXED);
		epochs += drawn(&s, 0x123456789abcdef);
	}
	CHECK(keys > 90 && keys < 120); /* always the same: 100 are expected */
	CHECK(epochs > 95 && epochs < 105);
	for (uint64_t i = 0; i < 25600; i++) {
		bshm__gain_missed(&s, i << 40);
	}
	CHECK_INT(BSHM_LOAD(&s.shard->gain_misses, RELAXED), 4);
}

/* Their evictions are no misses; and misses are no evictions. Most keys are not in the sample. */
TEST(records_that_nobody_asks_for_and_keys_that_are_never_put_let_nothing_be_forgotten)
{
	bshm_segment *segment = open_store(MB(4), 10000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	uint32_t key = 0;
	while (key < 20000) {
		REQUIRE(store_put(segment, key++, 1, 100, 0, BSHM_PUT_SET) == 1);
		BSHM_STORE(&s.shard->gain, (uint32_t) -100, RELAXED);
	}
	for (uint32_t i = 0; i < 3000; i++) {
		REQUIRE(store_put(segment, key++, 1, 100, 0, BSHM_PUT_SET) == 1);
	}
	CHECK_INT(gain_of(&s), -100);
	for (uint32_t i = 0; i < 10000; i++) { /* about 40 are drawn, and four wait */
		CHECK(!store_use(segment, key++));
	}
	CHECK_INT(gain_of(&s), -100);
	for (uint32_t i = 0; i < 3000; i++) {
		REQUIRE(store_put(segment, key++, 1, 100, 0, BSHM_PUT_SET) == 1);
	}
	CHECK_INT(gain_of(&s), -96);
	for (uint32_t i = 0; i < 20000; i++) { /* an add asks for its key */
		REQUIRE(store_put(segment, key++, 1, 100, 0, BSHM_PUT_ADD) == 1);
	}
	CHECK(gain_of(&s) > -80);
}

/* 70 MB have three shards. A key of the first stands for 40 hits, one of the others for 4. */
TEST(shards_share_what_they_have_gained_or_lost)
{
	bshm_segment *segment = open_store(MB(70), 0);
	REQUIRE(segment->shard_count == 3);
	bshm__shard s[3];
	for (uint32_t i = 0; i < 3; i++) {
		s[i] = bshm__shard_at(segment, i);
		BSHM_STORE(&s[i].shard->records, i == 0 ? 6400 : 640, RELAXED);
	}
	BSHM_STORE(&s[0].shard->gain, (uint32_t) -1200, RELAXED); /* 30 keys */
	BSHM_STORE(&s[1].shard->gain, (uint32_t) -40, RELAXED);   /* 10 */
	BSHM_STORE(&s[2].shard->gain, (uint32_t) -480, RELAXED);  /* 120 */
	CHECK_INT(bshm__gain_earned(&s[0], 1000), 0);
	bshm__gain_turn(&s[0]); /* in epoch 0 with the next one */
	CHECK_INT(gain_of(&s[0]), -800);
	CHECK_INT(gain_of(&s[1]), -80);
	CHECK_INT(gain_of(&s[2]), -480);
	BSHM_STORE(&s[0].shard->clock, 1, RELAXED); /* with the one after it */
	bshm__gain_turn(&s[0]);
	CHECK_INT(gain_of(&s[0]), -2800);
	CHECK_INT(gain_of(&s[1]), -80);
	CHECK_INT(gain_of(&s[2]), -280);
	BSHM_STORE(&s[2].shard->gain, 360, RELAXED); /* 90; the third's next one is the first */
	bshm__gain_turn(&s[2]);
	CHECK_INT(gain_of(&s[0]), 400);
	CHECK_INT(gain_of(&s[2]), 40);
	CHECK_INT(bshm__gain_earned(&s[0], 1000), 1000);
	BSHM_STORE(&s[0].shard->clock, 0, RELAXED);
	BSHM_STORE(&s[1].shard->gain, (uint32_t) -100000, RELAXED); /* when keys stood for more */
	bshm__gain_turn(&s[0]);                                     /* with 10 keys and -160 */
	CHECK_INT(gain_of(&s[0]), -3000);
	CHECK_INT(gain_of(&s[1]), -100000 + 340);
	BSHM_STORE(&s[1].shard->gain, 1u << 31, RELAXED); /* damaged, all */
	BSHM_STORE(&s[1].shard->records, UINT32_MAX, RELAXED);
	BSHM_STORE(&s[1].shard->gain_each, UINT32_MAX, RELAXED);
	bshm__gain_turn(&s[0]);
	bshm__gain_turn(&s[1]);
	CHECK(gain_of(&s[0]) >= -6400);
}

/* A turn of a store of 100 records has 50 evictions. */
static void end_turn(bshm_segment *segment, const bshm__shard *s)
{
	static uint32_t key = 1000;
	const uint32_t before = BSHM_LOAD(&s->shard->turn, RELAXED) & 0xff;
	do {
		CHECK_INT(store_put(segment, key++, 1, 100, 0, BSHM_PUT_SET), 1);
	} while ((BSHM_LOAD(&s->shard->turn, RELAXED) & 0xff) == before);
}

TEST(both_settings_go_back_while_much_is_lost)
{
	bshm_segment *segment = open_store(MB(4), 100);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 3; i++) {
		end_turn(segment, &s);
	}
	BSHM_STORE(&s.shard->size_power, 0, RELAXED); /* 5/16 */
	BSHM_STORE(&s.shard->lean, BSHM_OCTAVE, RELAXED);
	const int32_t power = bshm__size_power(&s);
	const int32_t lean = bshm__ghost_lean(&s);
	CHECK(power > 0 && lean > 0);
	BSHM_STORE(&s.shard->gain, (uint32_t) -31, RELAXED); /* not quite as much as 20 keys */
	end_turn(segment, &s);
	CHECK_INT(bshm__size_power(&s), power);
	CHECK_INT(bshm__ghost_lean(&s), lean);
	BSHM_STORE(&s.shard->gain, (uint32_t) -33, RELAXED);
	end_turn(segment, &s);
	CHECK_INT(bshm__size_power(&s), power - power / 8);
	CHECK_INT(bshm__ghost_lean(&s), lean - lean / 8);
}

/* Of all that a shard may have gained, 160 keys of the sample. */
TEST(a_part_of_an_amount_is_as_large_as_what_was_gained)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	CHECK_INT(bshm__gain_part(&s, 1000), 0);
	BSHM_STORE(&s.shard->gain, 1600, RELAXED);
	CHECK_INT(bshm__gain_part(&s, 1000), 250);
	BSHM_STORE(&s.shard->gain, 6400, RELAXED);
	CHECK_INT(bshm__gain_part(&s, 1000), 1000);
	BSHM_STORE(&s.shard->gain, (1u << 31) - 1, RELAXED); /* damaged */
	CHECK_INT(bshm__gain_part(&s, 1000), 1000);
	BSHM_STORE(&s.shard->gain, (uint32_t) -1600, RELAXED);
	CHECK_INT(bshm__gain_part(&s, 1000), 0);
}

/* How many of 100 requests miss, in the last of many rounds of a loop a tenth longer than a store
 * that was full of others. */
static double misses_of_loop(void)
{
	bshm_segment *segment = open_store(MB(16), 0);
	uint32_t others = 1000000;
	while (bshm__shard_at(segment, 0).shard->evictions == 0) {
		CHECK_INT(store_put(segment, others++, 1, 12000, 0, BSHM_PUT_SET), 1);
	}
	const uint32_t keys = (others - 1000000) * 11 / 10;
	uint32_t misses = 0;
	for (uint32_t i = 0; i < 40 * keys; i++) {
		if (!store_use(segment, i % keys)) {
			CHECK_INT(store_put(segment, i % keys, 1, 12000, 0, BSHM_PUT_SET), 1);
			misses += i >= 20 * keys;
		}
	}
	check_sound(segment);
	bshm_segment_close(segment);
	return 100.0 * misses / (20 * keys);
}

/* Where nothing may draw the lean on that cannot stay, nearly all stay on probation, the lean stays
 * near 0, and 86 to 100 % miss. */
TEST(what_was_gained_lets_the_keys_of_a_loop_draw_the_lean_on)
{
	double sum = 0;
	for (unsigned i = 0; i < 3; i++) {
		const double misses = misses_of_loop();
		test_note("%.0f %% of a loop miss", misses);
		sum += misses;
	}
	CHECK(sum / 3 < 75);
}
