/*
 * put.h - puts a new record.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_PUT_H
#define BSHM_CACHE_PUT_H

#include "core/cache/locate.h"

#define BSHM_STEP_LATER UINT32_MAX /* the step has not made all of the room */

/* A record that is to be put. */
typedef struct {
	uint32_t space;
	uint32_t step; /* 0: room is made at once; else in steps, of which this is the next one */
	bshm_key key;
	bshm_value value;
	uint32_t expires_s;
	bool is_protected;
	bool asked;     /* the call depends on the existing record, so it asks for it */
	uint32_t level; /* bits of the state, from the existing record that went before */
	uint32_t first; /* bytes in the first slot */
	uint32_t chunks;
	uint32_t last_class; /* of the last chunk */
	uint32_t size_class; /* of the first slot */
	uint32_t slot;       /* a free slot of that class, already filled; 0 = none yet */
	uint32_t chain;      /* its chunks, if they are taken and filled already: parked.h; 0 = no */
} bshm__new_record;

/* So that other processes do not wait long for the lock, room for a record of more chunks is made
 * in steps, and the chunks of one of still more are taken and filled in steps, too. */
#define BSHM_STEP_CHUNKS  4u
#define BSHM_LARGE_CHUNKS 32u

/* Copies `count` bytes of key and value, from `off` on. Takes no lock. */
void bshm__record_bytes(const bshm__new_record *r, uint64_t off, uint8_t *to, uint64_t count);

/* All under the shard's lock. */

/* The words of a chunk that is free, before it is taken: it leads to the chunk `next`. */
static inline void bshm__chunk_fill_head(const bshm__shard *s, uint32_t chunk, uint32_t next)
{
	const uint32_t version = bshm__word(s, chunk, 0) & BSHM_SLOT_VERSION_MASK;
	bshm__word_set(s, chunk, 0, version | BSHM_SLOT_CHAINED);
	bshm__word_set(s, chunk, 1, next);
	bshm__word_set(s, chunk, 3, 0); /* not moved yet */
}

/* Optional, before bshm__locate(): fills a free slot with the record, if one slot is enough. That
 * overlaps the cache misses of bshm__locate(). */
void bshm__put_prepare(const bshm__shard *s, bshm__new_record *r);
/* Notes a use of the existing record by a call that holds the lock. */
void bshm__note_use(const bshm__shard *s, const bshm__home *home, const bshm__existing *at);
/* Stores the record. `at`: from bshm__locate() under the same lock; it is located again after an
 * eviction. False: no room; not yet, if r->step is LATER then. */
bool bshm__put_record(
	const bshm__shard *s, const bshm__home *home, bshm__new_record *r, bshm__existing *at);

#endif
