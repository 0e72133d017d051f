/*
 * ghost.h - ghosts: which records were evicted lately.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_GHOST_H
#define BSHM_CACHE_GHOST_H

#include "core/cache/index.h"
#include "core/cache/size.h"

#define BSHM_GHOST_BITS 11u

/* turn_rounds: bits 0 and 1: how often the hand has come round in this turn; 2 to 7: how long the
 * last turn lasted; 8 to 31: when this one began, in seconds; 0 = not known. */
#define BSHM_ROUNDS_MOST 3u

static inline uint32_t bshm__ghost_hash(uint64_t hash)
{
	return (uint32_t) (hash >> BSHM_POSITION_BITS) & ((1u << BSHM_GHOST_BITS) - 1);
}

/* May a key's home bucket have its ghost? Nearly all have not. */
static inline bool bshm__ghost_likely(uint64_t hash, const bshm_bucket *bucket)
{
	const uint64_t every_lane = UINT64_C(0x0001000100010001);
	const uint64_t wanted = bshm__ghost_hash(hash) * every_lane;
	const uint64_t mask = ((1u << BSHM_GHOST_BITS) - 1) * every_lane;
	uint64_t match = 0;
	for (uint32_t i = 0; i < sizeof(bucket->tags) / sizeof(bucket->tags[0]); i++) {
		match |= bshm__tags_equal(BSHM_LOAD(&bucket->tags[i], RELAXED) & mask, wanted);
	}
	return match != 0;
}

/*
 * A call asks for a record, there is none, and the call puts none. If the key's ghost is there,
 * that is counted: for a record that is put soon, as in a cache, and for one that is not, as a
 * session's. Takes no lock.
 */
void bshm__ghost_missed(bshm_segment *segment, uint64_t hash);
/* A record of that state is used, by a call that asks for it: before it is stamped. Takes no
 * lock. */
void bshm__ghost_used(const bshm__shard *s, uint64_t hash, uint32_t state, uint64_t bytes);
/* Is the key's ghost there? Takes no lock. */
bool bshm__ghost_exists(const bshm__shard *s, const bshm__home *home);

/* All others under the shard's lock. */

/* A record that was evicted: the state that it had, and when it would have expired (0 = never). */
typedef struct {
	uint32_t state;
	uint32_t expires_s;
	uint64_t bytes;
} bshm__evicted;

/* A new record of that home may lie in `cell`: or in a free cell of the same bucket, whose ghost is
 * spared less. Only of a tiny table: others have room for more ghosts than there are. */
uint32_t bshm__ghost_spares(const bshm__shard *s, const bshm__home *home, uint32_t cell);
/* Leaves the ghost of a record that was evicted out of `cell`. */
void bshm__ghost_leave(
	const bshm__shard *s, const bshm__home *home, uint32_t cell, const bshm__evicted *record);
/* A record of so many bytes is put for a key that has none: is its ghost there, was it missed, and
 * is the record PROTECTED for it? The ghost ends then. `asked`: this call itself missed it. */
bool bshm__ghost_returns(const bshm__shard *s, const bshm__home *home, uint64_t bytes, bool asked);
/* A key without a record is removed: its value has changed, so it would have been missed anyhow,
 * and says nothing about the eviction. Ends its ghost. */
void bshm__ghost_end(const bshm__shard *s, const bshm__home *home);
/* Removes the ghosts of a bucket that are too old. */
void bshm__ghosts_age(const bshm__shard *s, bshm_bucket *bucket);
/* How often records were used for each eviction lately, about. */
uint32_t bshm__ghost_uses(const bshm__shard *s);
/* By how many octaves records on probation count as older than they are, in 2^-24; below 0, they do
 * not. */
int32_t bshm__ghost_lean(const bshm__shard *s);
/* By how many octaves a record of that kind counts as older, or, below 0, younger; in 2^-24. */
int32_t bshm__ghost_older(const bshm__shard *s, uint32_t kind);

#endif
