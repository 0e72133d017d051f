/*
 * evict.c - chooses the records that are evicted when there is no room.
 *
 * 32 records are sampled, and the one that counts as the oldest is evicted; an expired one before
 * all others. The sample is taken in the order of the index: a hand goes over the buckets. That is
 * the order of the keys' hashes, so the records of a sample are alike neither in age nor in size
 * nor in place, and each record is looked at once a round.
 *
 * Age is the time since the last use (recency.c). A record that was not used again is on probation
 * and counts as 2^lean times as old as it is, a FREQUENT one as 2^-(lean / 2) times as old. With a
 * lean of 0 that is LRU; with a large one, records on probation go first, as in 2Q or S3-FIFO.
 * Ghosts move the lean to what fits the traffic (ghost.c).
 *
 * Sources: for the sample, Redis and hyperbolic caching (Blankstein, 2017); for probation and
 * ghosts that adapt, ARC (Megiddo and Modha, 2003) and S3-FIFO (Yang, 2023); for age weighed by
 * kind, LHD (Beckmann, 2018). LRU is one of the settings, so the worst case is that of LRU: CLOCK,
 * SIEVE, ARC and S3-FIFO miss up to a fifth more often than LRU where only recency counts. Set
 * dueling (DIP, DRRIP) would need two parts of the store with a share of the memory each. Sizes are
 * not weighed: a large value is often expensive to make.
 *
 * For a large record many are evicted. If it needs an eighth of the store, an eighth of each sample
 * is evicted at once: the same records that would be evicted one by one, with one round of the
 * hand.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/evict.h"

#include "core/cache/ghost.h"
#include "core/cache/recency.h"
#include "core/cache/record.h"
#include "core/cache/remove.h"
#include "core/cache/table.h"
#include "core/cache/walk.h"

#define ALL_CLASSES BSHM_CLASS_COUNT

/* ------------------------------------------------------------------ the sample */

/* A record of the sample. */
typedef struct {
	uint32_t ref;   /* 0: chosen already */
	uint32_t *cell; /* where it was found */
	uint32_t state;
	uint32_t age;
	uint64_t weight; /* its age, and how soon its kind is evicted */
	bool expired;
} member;

/* The sample ends with a bucket. */
#define SAMPLE_ROOM (BSHM_EVICT_SAMPLE + BSHM_BUCKET_CELLS - 1)

/* Puts the refs of a bucket into the sample, and prefetches their slots. */
static uint32_t take_bucket(const bshm__shard *s, bshm_bucket *bucket, member *sample)
{
	uint32_t count = 0;
	bshm__ghosts_age(s, bucket);
	for (uint32_t k = 0; k < BSHM_BUCKET_CELLS; k++) {
		const uint32_t ref = BSHM_LOAD(&bucket->ref[k], RELAXED);
		const uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
		if (slot != NULL) { /* 0 is no place in the pages */
			__builtin_prefetch(slot);
			sample[count++] = (member){.ref = ref, .cell = &bucket->ref[k]};
		}
	}
	return count;
}

/* Collects refs from the hand on: how many. Looks at BSHM_EVICT_BUCKETS buckets and tables at most,
 * or at all tables where these have no record. */
static uint32_t collect(const bshm__shard *s, member *sample)
{
	bshm_shard_header *shard = s->shard;
	const uint32_t tables = s->segment->shard_tables;
	uint32_t table = BSHM_LOAD(&shard->hand_table, RELAXED);
	uint32_t number = BSHM_LOAD(&shard->hand_bucket, RELAXED);
	uint32_t count = 0;
	uint32_t wraps = 0;
	table = table < tables ? table : 0;
	for (uint32_t steps = 0;
		 count < BSHM_EVICT_SAMPLE && wraps <= tables && (count == 0 || steps < BSHM_EVICT_BUCKETS);
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
		}
	}
	BSHM_STORE(&shard->hand_table, table, RELAXED);
	BSHM_STORE(&shard->hand_bucket, number, RELAXED);
	return count;
}

/* 2^lean in 256ths, by straight lines between the powers of two. */
static uint64_t power(int32_t lean)
{
	const uint32_t octaves = (uint32_t) (lean / BSHM_LEAN_OCTAVE);
	return (256 + (uint32_t) (lean % BSHM_LEAN_OCTAVE) / (BSHM_LEAN_OCTAVE / 256)) << octaves;
}

/* The next sample: how many records. 0: there is none. */
static uint32_t next_sample(const bshm__shard *s, member *sample)
{
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&s->shard->clock, RELAXED));
	const uint32_t now_s = bshm__store_now_s(s->segment);
	const int32_t leaning = bshm__ghost_lean(s);
	const int32_t lean = leaning < 0 ? 0 : leaning;
	const uint64_t probation = power(lean) * 256;
	const uint64_t frequent = 256 * 256 * 256 / power(lean / 2);
	const uint32_t collected = collect(s, sample);
	uint32_t count = 0;
	for (uint32_t i = 0; i < collected; i++) {
		const uint32_t ref = sample[i].ref;
		const uint32_t state = bshm__word(s, ref, 0);
		if ((state & BSHM_SLOT_LIVE) == 0) {
			continue; /* damaged */
		}
		const uint32_t age = bshm__age(e.now, state & BSHM_SLOT_STAMP);
		const uint64_t kind = (state & BSHM_SLOT_PROTECTED) == 0  ? probation
							  : (state & BSHM_SLOT_FREQUENT) == 0 ? 256 * 256
																  : frequent;
		sample[count++] = (member){ref, sample[i].cell, state, age, (age + 1) * kind,
			bshm__walk_expired(s, ref, state, now_s)};
	}
	return count;
}

/* The record to evict: an expired one, or the heaviest of those that are older than the floor.
 * NULL: there is none. */
static member *choose(member *sample, uint32_t count, uint32_t floor_age)
{
	member *best = NULL;
	for (member *m = sample; m < sample + count; m++) {
		if (m->ref == 0) {
			continue;
		}
		if (m->expired) {
			return m;
		}
		if (m->age > floor_age && (best == NULL || m->weight > best->weight)) {
			best = m;
		}
	}
	return best;
}

/* ------------------------------------------------------------------ eviction */

static uint32_t floor_age(const bshm__shard *s)
{
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&s->shard->clock, RELAXED));
	return bshm__age(e.now, e.floor);
}

static void count_up(uint64_t *count)
{
	BSHM_STORE(count, BSHM_LOAD(count, RELAXED) + 1, RELAXED);
}

/* Removes the record. *size_class: the one that gains a free slot; ALL_CLASSES: several do. False:
 * the cell does not belong to the record's key. The index is damaged. */
static bool evict(const bshm__shard *s, const member *m, uint32_t *size_class)
{
	bshm__record record;
	bshm__home home;
	uint32_t cell = 0;
	if (bshm__record_load(s, m->ref, &record) && bshm__record_home(s, &record, &home)) {
		cell = bshm__cell_of(s, &home, m->ref);
	}
	if (cell == 0) {
		return false;
	}
	*size_class = (m->state & BSHM_SLOT_CHAINED) != 0 ? ALL_CLASSES : bshm__ref_class(s, m->ref);
	bshm__record_remove(s, &home, cell, m->ref);
	if (!m->expired) {
		bshm__ghost_leave(s, &home, cell, m->state);
	}
	bshm__table_tidy(s, home.table);
	count_up(m->expired ? &s->shard->expired : &s->shard->evictions);
	return true;
}

static void evict_surely(const bshm__shard *s, const member *m, uint32_t *size_class)
{
	if (!evict(s, m, size_class)) {
		*size_class = ALL_CLASSES;
		BSHM_STORE(m->cell, 0, RELEASE); /* pairs with search() */
		bshm__slot_free(s, m->ref);
	}
}

/* If no record of several samples is older than the floor, the oldest one is evicted: there are few
 * records, or the clock has stopped. */
static bool evict_one(const bshm__shard *s, uint32_t *size_class)
{
	member sample[SAMPLE_ROOM];
	member oldest = {0};
	uint32_t seen = 0;
	while (seen + SAMPLE_ROOM <= BSHM_EVICT_LOOKS) {
		const uint32_t count = next_sample(s, sample);
		const member *m = choose(sample, count, floor_age(s));
		if (m != NULL) {
			evict_surely(s, m, size_class);
			return true;
		}
		for (m = sample; m < sample + count; m++) {
			oldest = oldest.ref == 0 || m->age > oldest.age ? *m : oldest;
		}
		seen += count == 0 ? BSHM_EVICT_LOOKS : count;
	}
	if (oldest.ref != 0) {
		evict_surely(s, &oldest, size_class);
	}
	return oldest.ref != 0;
}

bool bshm__evict(const bshm__shard *s)
{
	uint32_t size_class;
	return evict_one(s, &size_class);
}

/* Evicts up to `most` records of the next sample: how many. Their home buckets are prefetched
 * together. */
static uint32_t evict_group(const bshm__shard *s, uint32_t most, uint32_t *size_class)
{
	member sample[SAMPLE_ROOM];
	member gone[SAMPLE_ROOM];
	const uint32_t count = next_sample(s, sample);
	uint32_t chosen = 0;
	member *m;
	while (chosen < most && (m = choose(sample, count, floor_age(s))) != NULL) {
		gone[chosen++] = *m;
		m->ref = 0;
	}
	for (uint32_t i = 0; i < chosen; i++) {
		bshm__record_prefetch_home(s, gone[i].ref);
	}
	uint32_t done = 0;
	for (uint32_t i = 0; i < chosen; i++) {
		if ((bshm__word(s, gone[i].ref, 0) & BSHM_SLOT_LIVE) == 0) {
			continue; /* in a small store the hand may meet a record twice */
		}
		uint32_t its_class;
		if (evict(s, &gone[i], &its_class)) {
			*size_class = done++ == 0 || its_class == *size_class ? its_class : ALL_CLASSES;
		}
	}
	return done;
}

uint32_t bshm__evict_some(const bshm__shard *s, uint32_t most, uint32_t *size_class)
{
	const uint32_t gone = most > 1 ? evict_group(s, most, size_class) : 0;
	return gone != 0 ? gone : evict_one(s, size_class);
}
