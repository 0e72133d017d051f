/*
 * shadow.h - which records an LRU would hold.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_SHADOW_H
#define BSHM_CACHE_SHADOW_H

#include "core/cache/shard.h"

/* `state` and `bytes` (of key and value) are those of the record. What an LRU would have done
 * otherwise is counted by gain.c. */

/* A record is used, by a call that asks for it: before it is stamped. Takes no lock. */
void bshm__shadow_used(const bshm__shard *s, uint64_t hash, uint32_t state, uint64_t bytes);
/* A call asks for a key, and there is no record. Takes no lock. */
void bshm__shadow_asked(const bshm__shard *s, uint64_t hash);
/* Has a key without a record a cell? Takes no lock. */
bool bshm__shadow_exists(const bshm__shard *s, uint64_t hash);

/* All others under the shard's lock. */

/* A record is put for a key that has none. `asked`: this call itself has asked for it. */
void bshm__shadow_put(const bshm__shard *s, uint64_t hash, uint64_t bytes, bool asked);
/* One is put in place of another, which had so many bytes `before`. */
void bshm__shadow_replaced(const bshm__shard *s, uint64_t hash, uint64_t before, uint64_t bytes);
/* A record is about to be evicted; any record is about to go. */
void bshm__shadow_evicted(const bshm__shard *s, uint64_t hash, uint32_t state, uint64_t bytes);
void bshm__shadow_removed(const bshm__shard *s, uint64_t hash, uint64_t bytes);
/* A key without a record is removed: an LRU would not hold it either. */
void bshm__shadow_forget(const bshm__shard *s, uint64_t hash);

#endif
