/*
 * ghost_lane.h - the lanes of a bucket, of which the free ones may have ghosts: ghost.c.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_GHOST_LANE_H
#define BSHM_CACHE_GHOST_LANE_H

#include "core/cache/index.h"

#define BSHM_WORD_LANES   4u /* in a word of tags */
#define BSHM_BUCKET_LANES 12u
#define BSHM_OWN_LANE     (BSHM_BUCKET_LANES - 1) /* the one before it is the overflow count */

static inline uint32_t bshm__lane_get(const bshm_bucket *bucket, uint32_t lane)
{
	const uint64_t word = BSHM_LOAD(&bucket->tags[lane / BSHM_WORD_LANES], RELAXED);
	return (uint16_t) (word >> (lane % BSHM_WORD_LANES * 16));
}

static inline void bshm__lane_set(bshm_bucket *bucket, uint32_t lane, uint32_t value)
{
	uint64_t *word = &bucket->tags[lane / BSHM_WORD_LANES];
	const unsigned shift = lane % BSHM_WORD_LANES * 16;
	const uint64_t others = BSHM_LOAD(word, RELAXED) & ~(UINT64_C(0xffff) << shift);
	BSHM_STORE(word, others | (uint64_t) value << shift, RELAXED);
}

/* May a ghost be there? */
static inline bool bshm__lane_free(const bshm_bucket *bucket, uint32_t lane)
{
	return lane == BSHM_OWN_LANE ||
		   (lane < BSHM_BUCKET_CELLS && BSHM_LOAD(&bucket->ref[lane], RELAXED) == 0);
}

#endif
