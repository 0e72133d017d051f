/*
 * put.h - a new record is put.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_PUT_H
#define BSHM_CACHE_PUT_H

#include "core/cache/locate.h"

/* A record that is to be put. */
typedef struct {
	uint32_t space;
	bshm_key key;
	bshm_value value;
	uint32_t expires_s;
	bool is_protected;
	uint32_t first; /* bytes in the first slot */
	uint32_t chunks;
	bool half;           /* the last chunk is half a chunk */
	uint32_t size_class; /* of the first slot */
	uint32_t slot;       /* a free slot of that class, already filled; 0 = none yet */
} bshm__new_record;

/* All under the shard's lock. */

/* Optional, before bshm__locate(): fills a free slot with the record, if one slot is enough. That
 * overlaps the cache misses of bshm__locate(). */
void bshm__put_prepare(const bshm__shard *s, bshm__new_record *r);
/* Stores the record. `at`: from bshm__locate() under the same lock; it is located again after an
 * eviction. False: no room. */
bool bshm__put_record(
	const bshm__shard *s, const bshm__home *home, bshm__new_record *r, bshm__existing *at);

#endif
