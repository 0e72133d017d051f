/*
 * walk.h - walks the records of a shard in the order of memory.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_WALK_H
#define BSHM_CACHE_WALK_H

#include "core/cache/slab.h"

/* A position among the slots that are first slots of records. */
typedef struct {
	uint32_t page; /* from 0 on */
	uint32_t slot;
	uint32_t visited; /* pages */
} bshm__walk;

/* The next record's ref, and its state. 0: all pages have been visited once. */
uint32_t bshm__walk_next(const bshm__shard *s, bshm__walk *w, uint32_t *state);

/* Has a record of this state expired? */
static inline bool bshm__walk_expired(
	const bshm__shard *s, uint32_t ref, uint32_t state, uint32_t now_s)
{
	uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	return (state & BSHM_SLOT_EXPIRES) != 0 &&
		   bshm__expired(BSHM_LOAD(bshm__slot_word(slot, 2), RELAXED), now_s);
}

#endif
