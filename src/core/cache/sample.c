/*
 * sample.c - looks at some records, and weighs how soon each should be evicted: evict.c says how
 * and why.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/sample.h"

#include "core/cache/aging.h"
#include "core/cache/ghost.h"
#include "core/cache/recency.h"
#include "core/cache/record.h"
#include "core/cache/walk.h"

/* Puts the refs of a bucket into the sample, and prefetches their slots. */
static uint32_t take_bucket(const bshm__shard *s, bshm_bucket *bucket, bshm__member *sample)
{
	uint32_t count = 0;
	bshm__ghosts_age(s, bucket);
	for (uint32_t k = 0; k < BSHM_BUCKET_CELLS; k++) {
		const uint32_t ref = BSHM_LOAD(&bucket->ref[k], RELAXED);
		const uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
		if (slot != NULL) { /* 0 is no place in the pages */
			BSHM_PREFETCH(slot);
			sample[count++] = (bshm__member){.ref = ref, .cell = &bucket->ref[k]};
		}
	}
	return count;
}

/* Collects `wanted` refs or some more from the hand on: how many. Looks at BSHM_EVICT_BUCKETS
 * buckets and tables at most, or, where these have no record, at all tables and the buckets of two:
 * of that of the hand, and of one that has records. Adds them to *looks. */
static uint32_t collect(
	const bshm__shard *s, uint32_t wanted, bshm__member *sample, uint32_t *looks)
{
	bshm_shard_header *shard = s->shard;
	const uint32_t tables = s->segment->shard_tables;
	uint32_t table = BSHM_LOAD(&shard->hand_table, RELAXED);
	uint32_t number = BSHM_LOAD(&shard->hand_bucket, RELAXED);
	uint32_t count = 0;
	uint32_t wraps = 0;
	const uint32_t turn = BSHM_LOAD(&shard->turn_rounds, RELAXED);
	uint32_t rounds = turn & BSHM_ROUNDS_MOST;
	table = table < tables ? table : 0;
	uint32_t steps = 0;
	for (; count < wanted && wraps <= tables &&
		   steps < (count == 0 ? tables + 2 * BSHM_BUCKETS_MAX : BSHM_EVICT_BUCKETS);
		 steps++) {
		const uint32_t of = s->index * tables + table;
		const bshm__buckets buckets = bshm__buckets_of(s->segment, of);
		if (number < buckets.count && BSHM_LOAD(&s->segment->tables[of].records, RELAXED) != 0) {
			bshm_bucket *bucket = bshm__bucket_at(s, &buckets, number++);
			count += bucket == NULL ? 0 : take_bucket(s, bucket, sample + count);
		} else {
			table = table + 1 < tables ? table + 1 : 0;
			number = 0;
			wraps++;
			rounds += table == 0 && rounds < BSHM_ROUNDS_MOST;
		}
	}
	BSHM_STORE(&shard->hand_table, table, RELAXED);
	BSHM_STORE(&shard->hand_bucket, number, RELAXED);
	BSHM_STORE(&shard->turn_rounds, (turn & ~BSHM_ROUNDS_MOST) | rounds, RELAXED);
	*looks += steps;
	return count;
}

/* What the size of a record counts. */
static uint64_t size_weight(
	const bshm__shard *s, const bshm__scales *by, uint32_t ref, uint32_t state)
{
	if (!by->by_size) {
		return 1;
	}
	uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	return bshm__size_weight(by->size_power, bshm__slot_bytes(s, slot, state));
}

static uint64_t scale_of(const bshm__shard *s, uint32_t kind)
{
	const int32_t older = bshm__ghost_older(s, kind);
	return older < 0 ? BSHM_SCALE_ONE * BSHM_SCALE_ONE / bshm__power_of((uint64_t) -older)
					 : bshm__power_of((uint64_t) older);
}

uint32_t bshm__least_age(const bshm__shard *s, uint32_t now, uint32_t period)
{
	const uint32_t after_all = s->segment->shard_pages + 1;
	return bshm__aging_age(s, now, after_all, bshm__age(now, period)) + 1;
}

bshm__scales bshm__scales_of(const bshm__shard *s)
{
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&s->shard->clock, RELAXED));
	return (bshm__scales){
		.now = e.now,
		.now_s = bshm__store_now_s(s->segment),
		.least_age = bshm__least_age(s, e.now, e.floor),
		.aging = BSHM_LOAD(&s->shard->aging, RELAXED) != 0,
		.by_size = bshm__memory_is_limit(s->segment, s->shard),
		.size_power = bshm__size_power(s),
		.of_kind = {scale_of(s, BSHM_KIND_PROBATION), BSHM_SCALE_ONE,
			scale_of(s, BSHM_KIND_FREQUENT)},
	};
}

static BSHM_ALWAYS_INLINE bshm__member weigh(
	const bshm__shard *s, const bshm__scales *by, uint32_t ref, uint32_t *cell)
{
	const uint32_t state = bshm__word(s, ref, 0);
	if ((state & BSHM_SLOT_LIVE) == 0) {
		return (bshm__member){0}; /* damaged */
	}
	const uint32_t stamped = bshm__age_of(s, by->now, state);
	const uint32_t age = BSHM_UNLIKELY(by->aging)
							 ? bshm__aging_age(s, by->now, bshm__page_number(s, ref), stamped)
							 : stamped;
	const bool expired = bshm__walk_expired(s, ref, state, by->now_s);
	const uint64_t weight =
		expired ? UINT64_MAX
				: (age + 1) * by->of_kind[bshm__kind_of(state)] * size_weight(s, by, ref, state);
	return (bshm__member){ref, cell, state, age, weight, expired};
}

bshm__member bshm__weigh(const bshm__shard *s, const bshm__scales *by, uint32_t ref)
{
	const bool is_sound = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN) != NULL; /* not for 0 */
	return is_sound ? weigh(s, by, ref, NULL) : (bshm__member){0};
}

bool bshm__is_spared(const bshm__shard *s, const bshm__member *m)
{
	bshm__record record;
	bshm__home home;
	return s->spared != 0 && (m->state & BSHM_SLOT_CHAINED) != 0 &&
		   bshm__record_load(s, m->ref, &record) && bshm__record_home(s, &record, &home) &&
		   (uint32_t) home.hash == s->spared;
}

uint32_t bshm__sample_next(const bshm__shard *s, const bshm__scales *by, uint32_t wanted,
	bshm__member *sample, uint32_t *looks)
{
	const uint32_t collected = collect(s, wanted, sample, looks);
	uint32_t count = 0;
	for (uint32_t i = 0; i < collected; i++) {
		const bshm__member m = weigh(s, by, sample[i].ref, sample[i].cell);
		if (m.ref != 0 && !bshm__is_spared(s, &m)) {
			sample[count++] = m;
		}
	}
	return count;
}

bshm__member *bshm__choose(bshm__member *sample, uint32_t count, uint32_t least_age)
{
	bshm__member *best = NULL;
	for (bshm__member *m = sample; m < sample + count; m++) {
		if (m->ref == 0) {
			continue;
		}
		if (m->expired) {
			return m;
		}
		if (m->age >= least_age && (best == NULL || m->weight > best->weight)) {
			best = m;
		}
	}
	return best;
}
