/*
 * gain.h - what a setting of the eviction has brought, against an LRU, and what it has cost.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_GAIN_H
#define BSHM_CACHE_GAIN_H

#include "core/cache/shard.h"

/* None takes a lock. Ages are log2 of epochs (octave.h). `gain`: the word of the setting. */

/* A record of this age is used. Would an LRU have evicted it? */
bool bshm__lru_had_evicted(const bshm__shard *s, int64_t age);
/* A record that was evicted at this age, in this turn of the ghosts, is put again. Would an LRU
 * still have it? */
bool bshm__lru_had_kept(const bshm__shard *s, int64_t evicted_age);

/* So many hits more have been brought; below 0: have been lost. */
void bshm__gain_add(const bshm__shard *s, uint32_t *gain, int64_t hits);
/* A step away from LRU, as far as the setting has earned it. */
int64_t bshm__gain_earned(const bshm__shard *s, const uint32_t *gain, int64_t step);
/* A turn of the ghosts is over: the step that the setting takes back to LRU. */
int64_t bshm__gain_turn(const bshm__shard *s, uint32_t *gain, int64_t setting);

#endif
