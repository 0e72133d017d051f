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

/* 6,400 records: a part is 100. */
static bshm__shard shard_of_many(bshm_segment *segment)
{
	const bshm__shard s = bshm__shard_at(segment, 0);
	BSHM_STORE(&s.shard->records, 6400, RELAXED);
	return s;
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
	CHECK_INT(gain_of(&s), -1600);
	BSHM_STORE(&s.shard->gain, 0, RELAXED);
	BSHM_STORE(&s.shard->records, 3, RELAXED); /* four hits are a part at least */
	bshm__gain_add(&s, -1000);
	CHECK_INT(gain_of(&s), -64);
	BSHM_STORE(&s.shard->gain, 1u << 31, RELAXED); /* damaged */
	bshm__gain_add(&s, -1);
	CHECK_INT(gain_of(&s), -(int64_t) (segment->shard_bytes / BSHM_SLOT_BYTES_MIN));
	BSHM_STORE(&s.shard->gain, (1u << 31) - 1, RELAXED);
	bshm__gain_add(&s, 1);
	CHECK_INT(gain_of(&s), 256);
}

TEST(what_was_lost_stays_lost_when_there_are_fewer_records)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	bshm__gain_add(&s, -1500);
	BSHM_STORE(&s.shard->records, 3, RELAXED);
	bshm__gain_add(&s, -1);
	CHECK_INT(gain_of(&s), -1500);
	bshm__gain_add(&s, 1);
	CHECK_INT(gain_of(&s), -1499);
	CHECK_INT(bshm__gain_earned(&s, 1000), 0);
}

TEST(the_more_was_lost_the_smaller_are_the_steps_away_from_lru)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	CHECK_INT(bshm__gain_earned(&s, 1000), 1000);
	bshm__gain_add(&s, -100);
	CHECK_INT(bshm__gain_earned(&s, 1000), 875);
	CHECK_INT(bshm__gain_back(&s, 800), 0);
	bshm__gain_add(&s, -699);
	CHECK_INT(bshm__gain_earned(&s, 1000), 1);
	CHECK_INT(bshm__gain_back(&s, 800), 0);
	bshm__gain_add(&s, -1);
	CHECK_INT(bshm__gain_earned(&s, 1000), 0);
	CHECK_INT(bshm__gain_back(&s, 800), -100);
}

static void set(const bshm__shard *s, int32_t lean, int32_t power)
{
	BSHM_STORE(&s->shard->lean, (uint32_t) (lean - (int32_t) bshm__lean_new(s)), RELAXED);
	BSHM_STORE(&s->shard->size_power, (uint32_t) (power - BSHM_POWER_NEW), RELAXED);
}

/* What the sample tells of an LRU is chance. */
TEST(an_lru_brings_and_loses_nothing)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	set(&s, BSHM_LRU_NEARLY - 1, BSHM_LRU_NEARLY - 1);
	bshm__gain_add(&s, -100);
	CHECK_INT(gain_of(&s), 0);
	set(&s, BSHM_LRU_NEARLY, 0);
	bshm__gain_add(&s, -100);
	CHECK_INT(gain_of(&s), -100);
	set(&s, BSHM_LEAN_LOW, 0); /* as 0 */
	bshm__gain_add(&s, 50);
	CHECK_INT(gain_of(&s), -100);
	set(&s, 0, BSHM_LRU_NEARLY);
	bshm__gain_add(&s, -100);
	CHECK_INT(gain_of(&s), -200);
	set(&s, 0, 0);
	bshm__gain_evicted(&s, 256); /* it is forgotten all the same */
	CHECK_INT(gain_of(&s), -199);
	BSHM_STORE(&s.shard->gain, 1280, RELAXED);
	bshm__gain_turn(&s);
	CHECK_INT(gain_of(&s), 1270);

	segment = open_store(MB(4), 6400);
	const bshm__shard of_records = shard_of_many(segment);
	BSHM_STORE(&of_records.shard->intent.size_margin, BSHM_RECORDS_ARE_LIMIT, RELAXED);
	set(&of_records, 0, BSHM_LRU_NEARLY); /* no sizes count */
	bshm__gain_add(&of_records, -100);
	CHECK_INT(gain_of(&of_records), 0);
	set(&of_records, BSHM_LRU_NEARLY, 0);
	bshm__gain_add(&of_records, -100);
	CHECK_INT(gain_of(&of_records), -100);
}

/* Many records have lost more hits than the store has records now. */
TEST(the_more_was_lost_by_others_the_sooner_it_is_forgotten)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	bshm__gain_add(&s, -1600);
	bshm__gain_evicted(&s, 256);
	CHECK_INT(gain_of(&s), -1599);
	BSHM_STORE(&s.shard->records, 320, RELAXED);
	bshm__gain_evicted(&s, 512); /* one, and four times 320 */
	CHECK_INT(gain_of(&s), -1594);
	bshm__gain_evicted(&s, 513);
	CHECK_INT(gain_of(&s), -1594);
}

TEST(what_was_lost_is_forgotten_with_evictions_and_what_was_gained_with_turns)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = shard_of_many(segment);
	BSHM_STORE(&s.shard->clock, 64, RELAXED);
	bshm__gain_add(&s, -1000);
	bshm__gain_turn(&s);
	for (uint64_t i = 0; i < 2560; i++) {
		bshm__gain_evicted(&s, i);
	}
	CHECK_INT(gain_of(&s), -990);
	bshm__gain_add(&s, 990 + 1280);
	bshm__gain_evicted(&s, 0);
	bshm__gain_turn(&s);
	CHECK_INT(gain_of(&s), 1270);
	bshm__gain_turn(&s); /* 9.9: the epoch rounds it */
	CHECK_INT(gain_of(&s), 1260);
	BSHM_STORE(&s.shard->clock, 0, RELAXED);
	bshm__gain_turn(&s); /* 9.8 */
	CHECK_INT(gain_of(&s), 1251);
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
	const int32_t power = bshm__size_power(&s);
	const int32_t lean = bshm__ghost_lean(&s);
	CHECK(power > 0 && lean > 0);
	BSHM_STORE(&s.shard->gain, (uint32_t) -31, RELAXED); /* not quite eight parts of four */
	end_turn(segment, &s);
	CHECK_INT(bshm__size_power(&s), power);
	CHECK_INT(bshm__ghost_lean(&s), lean);
	BSHM_STORE(&s.shard->gain, (uint32_t) -33, RELAXED);
	end_turn(segment, &s);
	CHECK_INT(bshm__size_power(&s), power - power / 8);
	CHECK_INT(bshm__ghost_lean(&s), lean - lean / 8);
}
