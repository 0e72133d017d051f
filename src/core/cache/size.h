/*
 * size.h - how much the size of a record counts when one has to go.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_SIZE_H
#define BSHM_CACHE_SIZE_H

#include "core/cache/octave.h"

/* All under the shard's lock, but what says that it takes none. `bytes`: of key and value. Where a
 * count of records is the limit, nothing of this counts or changes but the mean age. */

/* To which power of its size a record counts, in 2^-24: 0 to 5/4. */
int32_t bshm__size_power(const bshm__shard *s);

/* What the size of a record counts to this power, in 256ths. Without the 4 octaves that each has:
 * so an age, a kind and this fit into 64 bits. */
static inline uint64_t bshm__size_weight(int32_t power, uint64_t bytes)
{
	return bshm__power_of(
		(bshm__size_log(bytes) - bshm__size_log(0)) * (uint64_t) power / BSHM_OCTAVE);
}

#define BSHM_SIZE_ONE  256
#define BSHM_SIZE_MOST 16u /* times the mean size: a record counts no more */

/* How much of the memory goes with a record that is evicted: in parts of one of the mean size, of
 * which BSHM_SIZE_ONE are one; BSHM_SIZE_MOST times as many at most. Where a count of records is
 * the limit, each is one. */
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
