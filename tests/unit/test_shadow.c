/*
 * test_shadow.c - the LRU of a sample of the keys, against an LRU of all of them.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/shadow.h"

#include "core/cache/octave.h"
#include "core/cache/recency.h"
#include "core/cache/slab.h"
#include "test_store.h"

#define KEYS 50000u

/* An LRU of all keys, whose records have these sizes. */
typedef struct {
	uint64_t used[KEYS]; /* when; 0: never, or removed */
	uint32_t bytes[KEYS];
	uint32_t by_use[1000 * 1000]; /* the keys in the order of their uses */
	uint64_t uses;
	uint64_t oldest; /* the uses before that are gone */
	uint64_t held;
} lru;

static bool lru_holds(const lru *l, uint32_t key)
{
	return l->used[key] != 0 && l->used[key] >= l->oldest;
}

static void lru_use(lru *l, uint32_t key, uint32_t bytes, uint64_t most)
{
	if (lru_holds(l, key)) {
		l->held -= l->bytes[key];
	}
	l->bytes[key] = bytes;
	l->by_use[++l->uses] = key;
	l->used[key] = l->uses;
	l->held += bytes;
	while (l->held > most) {
		const uint32_t old = l->by_use[l->oldest];
		l->held -= l->oldest != 0 && l->used[old] == l->oldest ? l->bytes[old] : 0;
		l->oldest++;
	}
}

/* What the store had and the LRU had not; what it lost; the same as the shadow tells it. */
typedef struct {
	int64_t gained, lost;
	int64_t told_gained, told_lost;
} sums;

static uint32_t size_of(uint32_t key, uint32_t least, uint32_t most)
{
	return least + key * 2654435761u % (most - least + 1);
}

/* Asks for a key, and puts it if it is missed. `limit`: of records; 0 = of bytes. */
static void ask(bshm_segment *segment, lru *l, sums *all, uint32_t key, uint32_t bytes)
{
	const bshm__shard s = bshm__shard_at(segment, 0);
	const bool by_records = segment->cache_records != 0;
	const bool calm = BSHM_LOAD(&s.shard->evictions, RELAXED) == 0;
	BSHM_STORE(&s.shard->gain, 0, RELAXED);
	const bool hit = store_use(segment, key);
	if (!hit) {
		CHECK_INT(store_put(segment, key, 1, bytes, 0, BSHM_PUT_SET), 1);
	}
	const bool lru_hit = lru_holds(l, key);
	const uint64_t records = BSHM_LOAD(&s.shard->records, RELAXED);
	const uint64_t held = BSHM_LOAD(&s.shard->data_bytes, RELAXED) + records * BSHM_RECORD_EXTRA;
	lru_use(l, key, by_records ? 1 : bytes + 8 + BSHM_RECORD_EXTRA, by_records ? records : held);
	const int64_t told = (int32_t) BSHM_LOAD(&s.shard->gain, RELAXED);
	all->gained += !calm && hit && !lru_hit;
	all->lost += !calm && !hit && lru_hit;
	all->told_gained += told > 0 ? told : 0;
	all->told_lost += told < 0 ? -told : 0;
}

/* By day a loop and keys that come once, by night a larger loop: most of it returns at the ages at
 * which an LRU evicts. Beside both, popular keys. */
static uint32_t take_turns(uint64_t *state, uint32_t i, uint32_t keys)
{
	static uint32_t once;
	const uint32_t draw = test_random(state) % 8;
	const bool night = i / (keys * 10) % 2 == 1;
	if (draw < 2) {
		return (uint32_t) (test_random(state) % (keys / 8));
	}
	return night      ? keys + i % keys
		   : draw < 5 ? keys / 8 + i % (keys / 3)
					  : keys * 2 + once++ % (keys * 50);
}

/* All ages, and in turns more keys or fewer. */
static uint32_t spread(uint64_t *state, uint32_t i, uint32_t keys)
{
	const uint32_t popular = (uint32_t) (test_random(state) % (keys / 4));
	const uint32_t any =
		(uint32_t) (test_random(state) % (i / (keys * 10) % 2 == 1 ? keys : keys * 3));
	return test_random(state) % 2 == 0 ? popular : keys + any;
}

typedef uint32_t key_fn(uint64_t *state, uint32_t i, uint32_t keys);

static sums follow(key_fn *next, uint64_t records, uint32_t least, uint32_t most, uint32_t keys)
{
	static lru l;
	uint64_t state = test_seed();
	sums all = {0, 0, 0, 0};
	bshm_segment *segment = open_store(records != 0 ? MB(40) : MB(4), records);
	memset(&l, 0, sizeof(l));
	for (uint32_t i = 0; i < keys * 10 * 20; i++) {
		const uint32_t key = next(&state, i, keys);
		ask(segment, &l, &all, key, size_of(key, least, most));
	}
	test_note("gained %lld, told %lld; lost %lld, told %lld", (long long) all.gained,
		(long long) all.told_gained, (long long) all.lost, (long long) all.told_lost);
	bshm_segment_close(segment);
	return all;
}

static void check_sums(sums all, double least, double most)
{
	CHECK(all.gained > 1000 && all.lost > 1000);
	CHECK(all.told_gained > least * all.gained && all.told_gained < most * all.gained);
	CHECK(all.told_lost > least * all.lost && all.told_lost < most * all.lost);
}

TEST(of_few_records_each_hit_against_an_lru_is_told)
{
	check_sums(follow(take_turns, 150, 16, 16, 165), 0.7, 1.3);
}

/* Each cell stands for many keys: so the sums are estimates. */
TEST(of_many_records_a_sample_tells_them)
{
	check_sums(follow(spread, 3000, 16, 16, 3000), 0.4, 1.6);
}

TEST(where_memory_is_the_limit_sizes_are_counted)
{
	check_sums(follow(spread, 0, 1000, 40000, 440), 0.5, 1.6);
}

static uint64_t hash_of(uint32_t key)
{
	return bshm__checksum((const char *) &key, sizeof(key), 1);
}

/* So few records that each key is in the sample. An LRU keeps a record for 100
 * epochs. */
static bshm__shard shard_of_few(bshm_segment *segment)
{
	const bshm__shard s = bshm__shard_at(segment, 0);
	BSHM_STORE(&s.shard->clock, UINT64_C(0x1ff01fe81fe02000), RELAXED);
	BSHM_STORE(&s.shard->base, 1000, RELAXED);
	BSHM_STORE(&s.shard->shadow_base, 0x8000 | 1000, RELAXED);
	BSHM_STORE(&s.shard->intent.size_margin, BSHM_RECORDS_ARE_LIMIT, RELAXED);
	BSHM_STORE(&s.shard->shadow_oldest, 0x8000 | (0x2000 - 100), RELAXED);
	BSHM_STORE(&s.shard->records, 150, RELAXED);
	BSHM_STORE(&s.shard->lean, BSHM_OCTAVE, RELAXED); /* an LRU counts nothing */
	return s;
}

static int32_t gain_of(const bshm__shard *s)
{
	return (int32_t) BSHM_LOAD(&s->shard->gain, RELAXED);
}

static uint32_t cells_of(const bshm__shard *s)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < BSHM_SHADOW_CELLS; i++) {
		count += BSHM_LOAD(&s->shard->shadow[i], RELAXED) != 0;
	}
	return count;
}

/* A record of that age is evicted, and put again. */
static int32_t gain_of_return(const bshm__shard *s, uint32_t age)
{
	BSHM_STORE(&s->shard->gain, 0, RELAXED);
	bshm__shadow_put(s, hash_of(1), 8, false);
	bshm__shadow_evicted(s, hash_of(1), BSHM_SLOT_LIVE | (0x2000 - age), 8);
	bshm__shadow_removed(s, hash_of(1), 8);
	BSHM_STORE(&s->shard->gain, 0, RELAXED);
	bshm__shadow_asked(s, hash_of(1));
	bshm__shadow_put(s, hash_of(1), 8, false);
	return gain_of(s);
}

TEST(what_returns_was_lost_if_an_lru_had_it)
{
	bshm_segment *segment = open_store(MB(4), BSHM_SHADOW_KEYS);
	const bshm__shard s = shard_of_few(segment);
	CHECK_INT(gain_of_return(&s, 99), -1);
	CHECK_INT(gain_of_return(&s, 100), 0); /* the epoch where an LRU ends */
	CHECK_INT(gain_of_return(&s, 101), 0);
	bshm__shadow_evicted(&s, hash_of(1), BSHM_SLOT_LIVE | 0x1fff, 8);
	CHECK(bshm__shadow_exists(&s, hash_of(1)));
	bshm__shadow_forget(&s, hash_of(1)); /* removed by name meanwhile */
	CHECK(!bshm__shadow_exists(&s, hash_of(1)));
	bshm__shadow_put(&s, hash_of(1), 8, true);
	CHECK_INT(gain_of(&s), 0);
	bshm__shadow_removed(&s, hash_of(1), 8);
	bshm__shadow_put(&s, hash_of(1), 8, true);
	CHECK_INT(gain_of(&s), 0);
	BSHM_STORE(&s.shard->shadow_oldest, 0, RELAXED); /* an LRU has evicted nothing yet */
	CHECK_INT(gain_of_return(&s, 5000), -1);
}

/* A key is lost when it is asked for, once an epoch: not when it is only written. */
TEST(what_is_asked_for_is_lost)
{
	bshm_segment *segment = open_store(MB(4), BSHM_SHADOW_KEYS);
	const bshm__shard s = shard_of_few(segment);
	bshm__shadow_put(&s, hash_of(1), 8, true);
	bshm__shadow_asked(&s, hash_of(1)); /* it has a record: another process has just put it */
	bshm__shadow_evicted(&s, hash_of(1), BSHM_SLOT_LIVE | (0x2000 - 10), 8);
	bshm__shadow_put(&s, hash_of(1), 8, false);
	CHECK_INT(gain_of(&s), 0);
	bshm__shadow_evicted(&s, hash_of(1), BSHM_SLOT_LIVE | (0x2000 - 10), 8);
	bshm__shadow_put(&s, hash_of(1), 8, true);
	CHECK_INT(gain_of(&s), -1);
	bshm__shadow_evicted(&s, hash_of(1), BSHM_SLOT_LIVE | (0x2000 - 10), 8);
	bshm__shadow_asked(&s, hash_of(1));
	bshm__shadow_asked(&s, hash_of(1)); /* so do other processes */
	CHECK_INT(gain_of(&s), -2);
	BSHM_STORE(&s.shard->clock, UINT64_C(0x1ff01fe81fe02001), RELAXED);
	bshm__shadow_asked(&s, hash_of(1)); /* it is not put again: a session */
	CHECK_INT(gain_of(&s), -3);
	bshm__shadow_put(&s, hash_of(1), 8, true); /* the same miss */
	CHECK_INT(gain_of(&s), -3);
	bshm__shadow_asked(&s, hash_of(2)); /* it never had a record */
	CHECK_INT(gain_of(&s), -3);
}

TEST(what_is_used_was_gained_if_an_lru_had_not_had_it)
{
	bshm_segment *segment = open_store(MB(4), BSHM_SHADOW_KEYS);
	const bshm__shard s = shard_of_few(segment);
	bshm__shadow_put(&s, hash_of(1), 8, true);
	bshm__shadow_used(&s, hash_of(1), BSHM_SLOT_LIVE | (0x2000 - 100), 8);
	CHECK_INT(gain_of(&s), 0);
	const uint32_t missed = BSHM_LOAD(&s.shard->shadow_missed, RELAXED);
	bshm__shadow_used(&s, hash_of(1), BSHM_SLOT_LIVE | (0x2000 - 101), 8);
	CHECK_INT(gain_of(&s), 1);
	CHECK_INT(BSHM_LOAD(&s.shard->shadow_missed, RELAXED), missed + 1);
	bshm__shadow_used(&s, hash_of(2), BSHM_SLOT_LIVE | (0x2000 - 101), 8); /* it has no cell */
	CHECK_INT(gain_of(&s), 1);
	CHECK_INT(cells_of(&s), 1);
	bshm__shadow_used(&s, hash_of(1), BSHM_SLOT_LIVE | 500, 8); /* older than all: a late clock */
	CHECK_INT(gain_of(&s), 1);
	/* It is used in place of another one, and goes. */
	BSHM_STORE(&s.shard->clock, UINT64_C(0x1ff01fe81fe02064), RELAXED);
	bshm__shadow_replaced(&s, hash_of(1), 8, 8);
	CHECK_INT(gain_of(&s), 1);
	CHECK_INT(cells_of(&s), 1);
	BSHM_STORE(&s.shard->shadow_oldest, 0, RELAXED);
	bshm__shadow_used(&s, hash_of(1), BSHM_SLOT_LIVE | 1001, 8);
	CHECK_INT(gain_of(&s), 1);
	BSHM_STORE(&s.shard->shadow_oldest, 0x8000 | (0x2064 - 100), RELAXED);
	BSHM_STORE(&s.shard->base, 1001, RELAXED); /* renumbered: not before the cells are looked at */
	bshm__shadow_used(&s, hash_of(1), BSHM_SLOT_LIVE | (0x2064 - 101), 8);
	CHECK_INT(gain_of(&s), 1);
}

/* Where memory is the limit, a record may leave the sample, or enter it, when its size changes. */
TEST(what_is_replaced_by_another_size_is_sampled_by_that)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	const uint32_t whole = (uint32_t) (s.segment->shard_bytes / BSHM_SHADOW_KEYS);
	for (uint32_t i = 0; i < 100; i++) {
		bshm__shadow_put(&s, hash_of(i), whole, true);
	}
	CHECK_INT(cells_of(&s), 100);
	for (uint32_t i = 0; i < 100; i++) {
		bshm__shadow_replaced(&s, hash_of(i), whole, 8);
	}
	CHECK(cells_of(&s) < 10);
	for (uint32_t i = 0; i < 100; i++) {
		bshm__shadow_replaced(&s, hash_of(i), 8, whole);
	}
	CHECK_INT(cells_of(&s), 100);
	for (uint32_t i = 0; i < 100; i++) {
		bshm__shadow_removed(&s, hash_of(i), whole);
	}
	CHECK_INT(cells_of(&s), 0);
}

/* A set of eight cells has room for its records first, then for the youngest of the others. */
TEST(a_set_that_is_full_keeps_what_has_records)
{
	bshm_segment *segment = open_store(MB(4), BSHM_SHADOW_KEYS);
	const bshm__shard s = shard_of_few(segment);
	uint64_t hashes[10];
	uint32_t count = 0;
	for (uint64_t i = 1; count < 10; i++) { /* of one set */
		if ((i * UINT64_C(0x9e3779b97f4a7c15) >> 32) % (BSHM_SHADOW_CELLS / 8) == 5) {
			hashes[count++] = i;
		}
	}
	for (uint32_t i = 0; i < 8; i++) {
		bshm__shadow_put(&s, hashes[i], 8, true);
	}
	bshm__shadow_evicted(&s, hashes[3], BSHM_SLOT_LIVE | (0x2000 - 10), 8);
	bshm__shadow_evicted(&s, hashes[6], BSHM_SLOT_LIVE | (0x2000 - 20), 8);
	bshm__shadow_put(&s, hashes[8], 8, true);
	CHECK(bshm__shadow_exists(&s, hashes[3]));
	CHECK(!bshm__shadow_exists(&s, hashes[6]));
	bshm__shadow_put(&s, hashes[9], 8, true);
	CHECK(!bshm__shadow_exists(&s, hashes[3]));
	bshm__shadow_put(&s, hashes[6], 8, true);
	CHECK_INT(cells_of(&s), 8);
	bshm__shadow_removed(&s, hashes[6], 8); /* it has no cell */
	CHECK_INT(cells_of(&s), 8);
	bshm__shadow_forget(&s, hashes[0]); /* left by a death: it has no record */
	CHECK_INT(cells_of(&s), 7);
}

TEST(cells_that_tell_no_age_any_more_are_free)
{
	bshm_segment *segment = open_store(MB(4), BSHM_SHADOW_KEYS);
	const bshm__shard s = shard_of_few(segment);
	for (uint32_t i = 0; i < 20; i++) {
		bshm__shadow_put(&s, hash_of(i), 8, true);
		bshm__shadow_evicted(&s, hash_of(i), BSHM_SLOT_LIVE | (1000 + i), 8);
	}
	CHECK_INT(cells_of(&s), 20);
	BSHM_STORE(&s.shard->clock, UINT64_C(0x1ff01fe81fe003e9), RELAXED);
	bshm__shadow_put(&s, hash_of(50), 8, true); /* it has a record, of an old stamp */
	BSHM_STORE(&s.shard->clock, UINT64_C(0x1ff01fe81fe02000), RELAXED);
	BSHM_STORE(&s.shard->base, 1010, RELAXED); /* the records were renumbered */
	bshm__shadow_replaced(&s, hash_of(100), 8, 8);
	CHECK_INT(cells_of(&s), 12);
	bshm__shadow_removed(&s, hash_of(50), 8);
	CHECK_INT(cells_of(&s), 11);
	CHECK(BSHM_LOAD(&s.shard->shadow_oldest, RELAXED) != 0);
	BSHM_STORE(&s.shard->base, 0x2000 - 50, RELAXED);
	bshm__shadow_put(&s, hash_of(100), 8, true);
	CHECK_INT(cells_of(&s), 1);
	CHECK_INT(BSHM_LOAD(&s.shard->shadow_oldest, RELAXED), 0);
	BSHM_STORE(&s.shard->shadow_largest, UINT32_MAX, RELAXED);
	BSHM_STORE(&s.shard->intent.size_margin, 0, RELAXED); /* memory is the limit now */
	bshm__shadow_put(&s, hash_of(200), MB(1), true);      /* so large: it is in the sample */
	CHECK_INT(BSHM_LOAD(&s.shard->shadow_base, RELAXED), 0x2000 - 50);
	CHECK_INT(cells_of(&s), 1); /* the new one */
	CHECK_INT(BSHM_LOAD(&s.shard->shadow_largest, RELAXED), MB(1) / 16 + 1);
}

/* Puts 200 keys, an epoch for each, of which every second one is evicted. */
static void put_and_evict(const bshm__shard *s, uint32_t records)
{
	BSHM_STORE(&s->shard->shadow_oldest, 0, RELAXED);
	BSHM_STORE(&s->shard->evictions, 1, RELAXED);
	BSHM_STORE(&s->shard->records, records, RELAXED);
	for (uint32_t i = 0; i < 200; i++) {
		BSHM_STORE(&s->shard->clock, UINT64_C(0x1ff01fe81fe00000) | (0x2000 + i), RELAXED);
		bshm__shadow_put(s, hash_of(i), 8, true);
		if (i % 2 == 0) {
			bshm__shadow_evicted(s, hash_of(i), BSHM_SLOT_LIVE | (0x2000 + i), 8);
		}
	}
}

/* Where an LRU ends is found by the cells: as many units as stored records have. Of the others each
 * counts for 7/8, so it holds up to 107 here. */
TEST(an_lru_is_as_large_as_what_is_stored)
{
	bshm_segment *segment = open_store(MB(4), BSHM_SHADOW_KEYS);
	const bshm__shard s = shard_of_few(segment);
	put_and_evict(&s, 100);
	const uint32_t oldest = BSHM_LOAD(&s.shard->shadow_oldest, RELAXED);
	test_note("an LRU of the last 100 of 200 ends at %u", (oldest & 0x7fff) - 0x2000);
	CHECK((oldest & 0x7fff) >= 0x2000 + 92 && (oldest & 0x7fff) <= 0x2000 + 98);
	CHECK(cells_of(&s) <= 160); /* 100 have records; 50 have none, and an LRU holds them */
	/* What it has evicted does not come back, though it seems to have room. */
	for (uint32_t i = 100; i < 200; i += 2) {
		bshm__shadow_forget(&s, hash_of(i));
	}
	for (uint32_t i = 0; i < 50; i++) {
		bshm__shadow_put(&s, hash_of(1000 + i), 8, true);
	}
	CHECK((BSHM_LOAD(&s.shard->shadow_oldest, RELAXED) & 0x7fff) >= (oldest & 0x7fff));
}

/* The sample has 100 cells of 150 records, by chance. There are no fewer of the keys that an LRU
 * alone holds: each counts for 2/3 of 7/8. */
TEST(what_only_an_lru_holds_counts_for_its_share)
{
	bshm_segment *segment = open_store(MB(4), BSHM_SHADOW_KEYS);
	const bshm__shard s = shard_of_few(segment);
	put_and_evict(&s, 150);
	const uint32_t oldest = BSHM_LOAD(&s.shard->shadow_oldest, RELAXED) & 0x7fff;
	test_note("it ends at %u", oldest - 0x2000);
	CHECK(oldest >= 0x2000 + 72 && oldest <= 0x2000 + 80);
}

/* Where a count of records is the limit of several shards, each has a sample of its share. */
TEST(each_shard_has_a_sample_of_its_own)
{
	const uint64_t limit = 256 * 8192 + 300000;
	bshm_segment *segment = open_store(MB(300), limit);
	const bshm__shard s = bshm__shard_at(segment, 1);
	REQUIRE(segment->shard_count == 3);
	BSHM_STORE(&s.shard->intent.size_margin, BSHM_RECORDS_ARE_LIMIT, RELAXED);
	for (uint32_t i = 0; i < limit / 3; i++) {
		bshm__shadow_put(&s, hash_of(i), i % 1000, true);
	}
	test_note("%u cells", cells_of(&s));
	CHECK(cells_of(&s) >= BSHM_SHADOW_KEYS / 2 && cells_of(&s) <= 2 * BSHM_SHADOW_KEYS);
}

/* A store counts by the limit that will come first long before it is near: the sample of a store
 * that has just filled is whole. */
TEST(a_full_store_has_a_whole_sample)
{
	static const struct {
		uint64_t limit;
		uint32_t bytes;
		bool by_memory;
	} cases[] = {{20000, 100, false}, {3000, 9000, true}, {20000, 20, false}, {1000, 9000, false},
		{100000, 300, true}, {UINT64_C(1) << 62, 50, true}, {UINT64_MAX, 9000, true}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bshm_segment *segment = open_store(MB(16), cases[i].limit);
		const bshm__shard s = bshm__shard_at(segment, 0);
		uint32_t flips = 0;
		bool before = true;
		for (uint32_t k = 0; store_evictions(segment) == 0; k++) {
			REQUIRE(store_put(segment, k, 1, cases[i].bytes, 0, BSHM_PUT_SET) == 1);
			const bool now = bshm__memory_is_limit(segment, s.shard);
			flips += now != before;
			before = now;
		}
		test_note("limit %llu, %u bytes: %u cells", (unsigned long long) cases[i].limit,
			cases[i].bytes, cells_of(&s));
		CHECK_INT(before, cases[i].by_memory);
		CHECK_INT(flips, !cases[i].by_memory);
		CHECK(cells_of(&s) > BSHM_SHADOW_KEYS / 2);
		bshm_segment_close(segment);
	}
}

/* A hit of the sample stands for as many as the sample is smaller than the shard, not for fewer. */
TEST(what_a_hit_stands_for_is_not_rounded_down)
{
	bshm_segment *segment = open_store(MB(4), 2 * BSHM_SHADOW_KEYS - 2);
	const bshm__shard s = shard_of_few(segment);
	int64_t told = 0;
	uint32_t sampled = 0;
	for (uint32_t i = 0; i < 2000; i++) {
		const uint32_t before = cells_of(&s);
		bshm__shadow_put(&s, hash_of(i), 8, false);
		if (cells_of(&s) > before) {
			BSHM_STORE(&s.shard->gain, 0, RELAXED);
			bshm__shadow_used(&s, hash_of(i), BSHM_SLOT_LIVE | (0x2000 - 101), 8);
			told += gain_of(&s);
			sampled++;
			bshm__shadow_removed(&s, hash_of(i), 8);
		}
	}
	test_note("%u of 2000, for %lld", sampled, (long long) told);
	CHECK(told > 1850 && told < 2150);
}

/* ------------------------------------------------------------------ calls */

static bool has_cell(const bshm__shard *s, uint32_t number)
{
	const uint64_t bytes = number;
	const bshm_key key = {(const char *) &bytes, 8};
	return bshm__shadow_exists(s, bshm__home_of(s->segment, 0, &key).hash);
}

static int removed(bshm_segment *segment, uint32_t number)
{
	const uint64_t bytes = number;
	const bshm_key key = {(const char *) &bytes, 8};
	bshm_patience patience = {0};
	bshm_error error;
	return bshm_record_forget(segment, 0, &key, &patience, &error);
}

static bshm__shard full_store(bshm_segment *segment)
{
	for (uint32_t i = 0; i < 100; i++) {
		CHECK_INT(store_put(segment, i, 1, 16, 0, BSHM_PUT_SET), 1);
	}
	return bshm__shard_at(segment, 0);
}

/* Else what was stored once and used since then seems old when the first records are evicted: an
 * LRU seems larger, and hits lost that it has not either. */
TEST(a_use_before_the_first_eviction_tells_when_it_was)
{
	bshm_segment *segment = open_store(MB(4), 100);
	const bshm__shard s = full_store(segment);
	const uint32_t then = bshm__stamp_now(&s);
	uint32_t later = 0;
	for (uint32_t i = 0; i < 50; i++) { /* each epoch has one use */
		CHECK(store_use(segment, i));
	}
	for (uint32_t i = 0; i < BSHM_SHADOW_CELLS; i++) {
		const uint32_t cell = (uint32_t) BSHM_LOAD(&s.shard->shadow[i], RELAXED);
		later += cell != 0 && bshm__age(cell, then) - 1 < 50;
	}
	CHECK_INT(store_evictions(segment), 0);
	CHECK(later == 49 || later == 50);
}

/* Puts keys until there is one without a record whose cell is still there. */
static uint32_t evicted_key(bshm_segment *segment, const bshm__shard *s)
{
	static uint32_t next = 100;
	for (uint32_t until = next + 1000; next < until; next++) {
		CHECK_INT(store_put(segment, next, 1, 16, 0, BSHM_PUT_SET), 1);
		for (uint32_t i = 0; i < next; i++) {
			if (has_cell(s, i) && !store_has(segment, i)) {
				next++;
				return i;
			}
		}
	}
	CHECK(false);
	return 0;
}

TEST(a_key_that_is_removed_has_no_cell)
{
	bshm_segment *segment = open_store(MB(4), 100);
	const bshm__shard s = full_store(segment);
	CHECK(has_cell(&s, 99));
	CHECK_INT(store_remove(segment, 99), 1);
	CHECK(!has_cell(&s, 99));
	const uint32_t one = evicted_key(segment, &s);
	CHECK_INT(store_remove(segment, one), 0);
	CHECK(!has_cell(&s, one));
	const uint32_t other = evicted_key(segment, &s);
	CHECK_INT(removed(segment, other), 0);
	CHECK(!has_cell(&s, other));
}

TEST(a_clear_frees_the_cells_of_its_records)
{
	bshm_segment *segment = open_store(MB(4), 100);
	const bshm__shard s = full_store(segment);
	const bshm_key all = {"", 0};
	CHECK_INT(bshm_records_clear(segment, &all), 100);
	CHECK_INT(cells_of(&s), 0);
}

/* A call that changes what is there asks for it. */
TEST(what_changes_an_absent_record_has_lost_it)
{
	bshm_segment *segment = open_store(MB(4), 100);
	const bshm__shard s = full_store(segment);
	const uint64_t bytes = evicted_key(segment, &s);
	const bshm_key key = {(const char *) &bytes, 8};
	bshm_error error;
	BSHM_STORE(&s.shard->lean, BSHM_OCTAVE, RELAXED); /* an LRU counts nothing */
	BSHM_STORE(&s.shard->shadow_oldest, 0, RELAXED);
	BSHM_STORE(&s.shard->gain, 0, RELAXED);
	CHECK_INT(bshm_record_touch(segment, &key, 0, &error), 0);
	CHECK_INT(gain_of(&s), -1);
	const uint32_t other = evicted_key(segment, &s);
	BSHM_STORE(&s.shard->shadow_oldest, 0, RELAXED);
	BSHM_STORE(&s.shard->gain, 0, RELAXED);
	CHECK(!store_use(segment, other));
	CHECK_INT(gain_of(&s), -1);
}
