/*
 * loop.h - loops that are longer than the store.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_LOOP_H
#define BSHM_CACHE_LOOP_H

#include "core/cache/shard.h"

/* None takes a lock, and none needs it. */

/* A key of the sample (shadow.c) is used, or a call asks for it: an LRU holds it. */
void bshm__loop_held(const bshm__shard *s);
/* An LRU has evicted it: it was last used so many epochs ago. `lru_age`: how many an LRU holds what
 * was used. */
void bshm__loop_returns(const bshm__shard *s, uint32_t age, uint32_t lru_age);
/* It is put, and nothing is known of it, or no call has asked for it since an LRU evicted it. */
void bshm__loop_new(const bshm__shard *s);

bool bshm__loop_goes_on(const bshm__shard *s);
/* Records stay whose bshm__ghost_hash() is below that; 0: there is no loop. */
uint32_t bshm__loop_share(const bshm__shard *s);
/* By how many octaves other records count as older, in 2^-24, as long as there is a loop; else
 * 0. */
int32_t bshm__loop_lean(const bshm__shard *s);

#endif
