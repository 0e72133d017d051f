/*
 * locate.h - where the record of a key is, or where it could be put, under the shard's lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_LOCATE_H
#define BSHM_CACHE_LOCATE_H

#include "core/cache/record.h"

/* The existing record of a key, as a change finds it; if there is none, the cell that a new one
 * could get. */
typedef struct {
	uint32_t cell; /* that leads to it; 0: there is none */
	uint32_t ref;
	uint32_t free_cell; /* for a new one; 0: the table has to grow */
	bool overflows;     /* the free cell is not in the home bucket */
	bool expired;
	uint64_t sequence;
	bshm__record record;
} bshm__existing;

/* Under the shard's lock. */
void bshm__locate(const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key,
	bshm__existing *at);

#endif
