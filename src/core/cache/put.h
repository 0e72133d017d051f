/*
 * put.h - a record is put, in the place of another or in a new one.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_PUT_H
#define BSHM_CACHE_PUT_H

#include "core/cache/locate.h"

/* What a new record will be. */
typedef struct {
	uint32_t space;
	bshm_key key;
	bshm_value value;
	uint32_t expires_s;
	bool used_again;
	uint32_t first; /* bytes in the first slot */
	uint32_t chunks;
	bool half;           /* the last of them is half a one */
	uint32_t size_class; /* of the first slot */
	uint32_t slot;       /* a free one of that class, which is filled; 0 = none is yet */
} bshm__recipe;

/* All under the shard's lock. */

/* Optional, before bshm__locate(): fills a free slot with the record, if it needs only one, while what
 * locate looks at comes from memory. */
void bshm__put_prepare(const bshm__shard *s, bshm__recipe *r);
/* Stores the recipe's record; `at` is what stands, looked at under the same lock, and changes. False:
 * no room. */
bool bshm__put_record(
	const bshm__shard *s, const bshm__home *home, bshm__recipe *r, bshm__standing *at);

#endif
