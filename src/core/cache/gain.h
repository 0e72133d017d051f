/*
 * gain.h - what the settings of the eviction have brought, against an LRU.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_GAIN_H
#define BSHM_CACHE_GAIN_H

#include "core/cache/shard.h"

/* None takes a lock, and none needs it but where that is said. */

/* A key stands for so many hits that have been brought; below 0: have been lost. While the settings
 * are those of an LRU, none count. */
void bshm__gain_add(const bshm__shard *s, int64_t hits);
/* A call asks for a key, and there is no record. */
void bshm__gain_missed(const bshm__shard *s, uint64_t hash);
/* Under the lock: a record is evicted, the shard's eviction of that number. */
void bshm__gain_evicted(const bshm__shard *s, uint64_t evictions);
/* Of a step away from LRU, or of the lean: what has been earned. */
int64_t bshm__gain_earned(const bshm__shard *s, int64_t amount);
/* Such a part of it as has been gained of the most that is counted; 0 where hits were lost. */
int64_t bshm__gain_part(const bshm__shard *s, int64_t amount);
/* The step that a setting takes back to LRU with each turn of the ghosts. */
int64_t bshm__gain_back(const bshm__shard *s, int64_t setting);
/* A turn of the ghosts is over. */
void bshm__gain_turn(const bshm__shard *s);

#endif
