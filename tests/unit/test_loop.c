/*
 * test_loop.c - loops that are longer than the store, against an LRU.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/loop.h"

#include "core/cache/slab.h"
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

/* An LRU has no hit at all. So many records fit beside the floor as loop.c says; half of them are
 * asked for. */
TEST(a_part_of_a_loop_stays_that_is_longer_than_the_store)
{
	static const uint32_t times[] = {2, 3, 5, 8, 12, 16};
	for (unsigned i = 0; i < 6; i++) {
		const uint32_t keys = RECORDS * times[i];
		const uint32_t rounds = 24;
		bshm_segment *segment = open_store(MB(4), RECORDS);
		uint32_t hits = 0;
		for (uint32_t n = 0; n < keys * rounds; n++) {
			const bool hit = ask(segment, n % keys);
			hits += n >= keys * rounds / 2 && hit;
		}
		hits /= rounds / 2;
		test_note("%u times: %u of %u keys are hits", times[i], hits, keys);
		CHECK(hits >= RECORDS * times[i] / (4 * times[i] - 2));
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* Nothing of the loop is in the way of the keys that come after it. */
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
	CHECK(misses < lru_misses * 1.05);
	check_sound(segment);
}

/* Each key is written twice, and only then asked for: the second put is of a record that an LRU has
 * evicted. */
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
