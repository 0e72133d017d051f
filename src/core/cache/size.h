/*
 * size.h - how much the size of a record counts when one has to go.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_SIZE_H
#define BSHM_CACHE_SIZE_H

#include "core/cache/slab.h"

/* All under the shard's lock, but what says that it takes none. `bytes`: of key and value. Where a
 * count of records is the limit, nothing of this counts or changes but the mean age. */

#define BSHM_OCTAVE (1 << 24) /* a factor of two, in logarithms */

/* 2^log in 256ths, by straight lines between the powers of two. */
static inline uint64_t bshm__power_of(uint64_t log)
{
	return (256 + log % BSHM_OCTAVE / (BSHM_OCTAVE / 256)) << (log / BSHM_OCTAVE);
}

/* log2 of the bytes of a record, with what it takes beside key and value: 4 octaves or more. */
static inline uint64_t bshm__size_log(uint64_t bytes)
{
	const uint64_t all = bytes + BSHM_RECORD_EXTRA;
	const uint32_t octaves = BSHM_HIGHEST_BIT(all);
	return (all * BSHM_OCTAVE >> octaves) + (uint64_t) (octaves - 1) * BSHM_OCTAVE;
}

/* log2 of an age and one epoch more. */
static inline int64_t bshm__age_log(uint32_t age)
{
	return (int64_t) (bshm__size_log((uint64_t) age * BSHM_RECORD_EXTRA) - bshm__size_log(0));
}

/* To which power of its size a record counts, in 2^-24: 0 to 5/4. */
int32_t bshm__size_power(const bshm__shard *s);

/* What the size of a record counts to this power, in 256ths. Without the 4 octaves that each has:
 * so an age, a kind and this fit into 64 bits. */
static inline uint64_t bshm__size_weight(int32_t power, uint64_t bytes)
{
	return bshm__power_of(
		(bshm__size_log(bytes) - bshm__size_log(0)) * (uint64_t) power / BSHM_OCTAVE);
}

/* The shard's first table: what was evicted. */
static inline bshm_table *bshm__first_table(const bshm__shard *s)
{
	return &s->segment->tables[s->index * s->segment->shard_tables];
}

#define BSHM_SIZE_ONE 256

/* How much of the memory goes with a record that is evicted: in parts of one of the mean size, of
 * which BSHM_SIZE_ONE are one; 16 times as many at most. Where a count of records is the limit,
 * each is one. */
uint32_t bshm__size_parts(const bshm__shard *s, uint64_t bytes);
/* A record is evicted: is it larger than the mean? `age`: log2 of what its age counts as, by its
 * kind. */
bool bshm__size_evicted(const bshm__shard *s, uint64_t bytes, int64_t age);
/* A record of that age is used: would it have been evicted soon? Takes no lock. */
bool bshm__size_used(const bshm__shard *s, uint64_t bytes, int64_t age);
/* One is put that was evicted in this turn (ghost.c), or in the one before. */
void bshm__size_returned(const bshm__shard *s, uint64_t bytes, bool this_turn);
/* A turn of the ghosts is over. */
void bshm__size_turn(const bshm__shard *s);
/* So many are missed, and not put again. */
void bshm__size_missed(const bshm__shard *s, bool large, uint32_t count);

#endif
