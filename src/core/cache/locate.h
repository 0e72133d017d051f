/*
 * locate.h - where a record stands, or where it could be put, under the shard's lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_LOCATE_H
#define BSHM_CACHE_LOCATE_H

#include "core/cache/record.h"

/* A record that stands, as a change meets it, or where it could be put. */
typedef struct {
	uint32_t place; /* 0: there is none */
	uint32_t ref;
	uint32_t vacant; /* the place of a new one; 0: the table has to grow */
	bool far;        /* it is not in the key's own line */
	bool expired;
	uint64_t sequence;
	bshm__record record;
} bshm__standing;

/* Under the shard's lock. */
void bshm__locate(const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key,
	bshm__standing *at);

#endif
