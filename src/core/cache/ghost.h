/*
 * ghost.h - ghosts: which records were evicted lately.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_GHOST_H
#define BSHM_CACHE_GHOST_H

#include "core/cache/index.h"
#include "core/cache/size.h"

/* All under the shard's lock. */

/* Leaves the ghost of a record that was evicted out of `cell`; `state` is the one it had. */
void bshm__ghost_leave(const bshm__shard *s, const bshm__home *home, uint32_t cell, uint32_t state);
/* A record of so many bytes is put for a key that has none: is its ghost there, and is the record
 * PROTECTED for it? The ghost ends then. */
bool bshm__ghost_returns(const bshm__shard *s, const bshm__home *home, uint64_t bytes);
/* Removes the ghosts of a bucket that are too old. */
void bshm__ghosts_age(const bshm__shard *s, bshm_bucket *bucket);
/* How often records were used for each eviction lately, about. */
uint32_t bshm__ghost_uses(const bshm__shard *s);
/* By how many octaves records on probation count as older than they are, in 2^-24. */
int32_t bshm__ghost_lean(const bshm__shard *s);

#endif
