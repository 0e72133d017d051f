/*
 * test_loop.c - loops that are longer than the store, against an LRU.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/loop.h"

#include "core/cache/gain.h"
#include "core/cache/ghost.h"
#include "core/cache/octave.h"
#include "core/cache/recency.h"
#include "test_lru.h"
#include "test_store.h"

#define RECORDS 2000u

/* Asks for a key, and puts it if it is missed. True: a hit. */
static bool ask(bshm_segment *segment, uint32_t key)
{
	const bool hit = store_use(segment, key);
	if (!hit) {
		CHECK_INT(store_put(segment, key, 1, 16, 0, BSHM_PUT_SET), 1);
	}
	return hit;
}

static uint32_t share_of(bshm_segment *segment)
{
	const bshm__shard s = bshm__shard_at(segment, 0);
	return bshm__loop_share(&s);
}

/* How many hits a round of a loop has in the second half of 24. */
static uint32_t hits_of_loop(bshm_segment *segment, uint32_t times)
{
	const uint32_t keys = RECORDS * times;
	uint32_t hits = 0;
	for (uint32_t n = 0; n < keys * 24; n++) {
		const bool hit = ask(segment, n % keys);
		hits += n >= keys * 12 && hit;
	}
	test_note("%u times: %u of %u keys are hits", times, hits / 12, keys);
	return hits / 12;
}

/* An LRU has no hit at all. So many records fit beside the floor as loop.c says; half of them are
 * asked for. */
TEST(a_part_of_a_loop_stays_that_is_longer_than_the_store)
{
	static const uint32_t times[] = {2, 3, 5, 8, 12};
	for (unsigned i = 0; i < 5; i++) {
		bshm_segment *segment = open_store(MB(4), RECORDS);
		CHECK(hits_of_loop(segment, times[i]) >= RECORDS * times[i] / (4 * times[i] - 2));
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* Nothing of the loop is in the way of the keys that come after it. In all, a store may lose the
 * hits of an 8th of its records before it stops: gain.c. */
TEST(where_the_loop_ends_the_store_is_an_lru_again)
{
	uint64_t seed = test_seed();
	bshm_segment *segment = open_store(MB(4), RECORDS);
	uint32_t misses = 0;
	uint32_t lru_misses = 0;
	uint32_t at = 0;
	lru_begin(&same, RECORDS);
	lru_begin(&quarter, RECORDS / 4);
	for (uint32_t n = 0; n < 300000; n++) {
		const bool in_loop = n / (RECORDS * 9) % 2 == 0; /* three rounds of it; others as long */
		const uint32_t key =
			in_loop ? at++ % (RECORDS * 3) : RECORDS * 3 + (uint32_t) test_random(&seed) % 1800;
		const bool floor_hit = lru_use(&quarter, key);
		const bool hit = ask(segment, key);
		misses += !in_loop && !hit;
		lru_misses += !lru_use(&same, key) && !in_loop;
		CHECK(hit || !floor_hit);
	}
	test_note("%u misses; LRU %u", misses, lru_misses);
	CHECK(misses < lru_misses * 1.1);
	check_sound(segment);
}

/* Each key is written eight times, and only then asked for: all but the first puts are of records
 * that an LRU has evicted. And eight times more: what was asked for once does not return again. */
TEST(what_is_put_again_and_was_not_asked_for_does_not_return)
{
	bshm_segment *segment = open_store(MB(4), RECORDS);
	for (uint32_t n = 0; n < RECORDS * 3 * 8; n++) {
		CHECK_INT(store_put(segment, n % (RECORDS * 3), 1, 16, 0, BSHM_PUT_SET), 1);
	}
	CHECK_INT(share_of(segment), 0);
	for (uint32_t n = 0; n < RECORDS * 3 * 3; n++) {
		ask(segment, n % (RECORDS * 3));
	}
	CHECK(share_of(segment) != 0);
	for (uint32_t n = 0; n < RECORDS * 3 * 8; n++) {
		CHECK_INT(store_put(segment, n % (RECORDS * 3), 1, 16, 0, BSHM_PUT_SET), 1);
	}
	CHECK_INT(share_of(segment), 0);
}

/* The records that stay are used late, which would raise it, and end the loop. The longest loop is
 * not known in one store of 40, by the keys' hashes. */
TEST(a_loop_does_not_raise_the_lean)
{
	unsigned good = 0;
	for (unsigned i = 0; i < 3; i++) {
		bshm_segment *segment = open_store(MB(4), RECORDS);
		good += hits_of_loop(segment, 16) > RECORDS / 4;
		bshm_segment_close(segment);
	}
	CHECK(good >= 2);
}

TEST(what_has_a_lean_needs_no_loop)
{
	bshm_segment *segment = open_store(MB(4), RECORDS);
	const bshm__shard s = bshm__shard_at(segment, 0);
	hits_of_loop(segment, 4);
	CHECK(share_of(segment) != 0);
	CHECK(bshm__ghost_older(&s, BSHM_KIND_PROBATION) > 3 * BSHM_OCTAVE);
	BSHM_STORE(&s.shard->lean, BSHM_OCTAVE, RELAXED);
	CHECK_INT(share_of(segment), 0);
}

/* Also where the store is an LRU without it. */
TEST(hits_that_a_loop_costs_and_brings_are_counted_and_lost_ones_stop_it)
{
	bshm_segment *segment = open_store(MB(4), RECORDS);
	const bshm__shard s = bshm__shard_at(segment, 0);
	hits_of_loop(segment, 4);
	BSHM_STORE(&s.shard->lean, 0, RELAXED);
	BSHM_STORE(&s.shard->gain, 0, RELAXED);
	bshm__gain_add(&s, 10);
	CHECK_INT(BSHM_LOAD(&s.shard->gain, RELAXED), 10);
	BSHM_STORE(&s.shard->gain, (uint32_t) - (int32_t) RECORDS, RELAXED);
	CHECK_INT(bshm__ghost_older(&s, BSHM_KIND_PROBATION), 0);
	BSHM_STORE(&s.shard->loop_shares, 0, RELAXED);
	bshm__gain_add(&s, 10);
	CHECK_INT((int32_t) BSHM_LOAD(&s.shard->gain, RELAXED), -(int32_t) RECORDS);
}

/* All workers may miss a key before the first of them has put it. One of 20 returns. */
TEST(a_key_that_many_miss_returns_once)
{
	bshm_segment *segment = open_store(MB(4), RECORDS);
	for (uint32_t n = 0; n < RECORDS * 3 * 8; n++) {
		const uint32_t key = n % 20 == 0 ? n % (RECORDS * 3) : n;
		for (unsigned worker = 0; worker < 20; worker++) {
			store_use(segment, key);
		}
		ask(segment, key);
	}
	const bshm__shard s = bshm__shard_at(segment, 0);
	const double returned = (BSHM_LOAD(&s.shard->loop_shares, RELAXED) >> 16) / 65536.0;
	test_note("%.3f of the uses return", returned);
	CHECK(returned < 0.2);
}
