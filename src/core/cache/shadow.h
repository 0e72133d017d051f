/*
 * shadow.h - which records an LRU would hold.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_SHADOW_H
#define BSHM_CACHE_SHADOW_H

#include "core/cache/shard.h"
#include "core/cache/slab.h"

/* What limits the store, and what a cell stands for. In steps of BSHM_SHADOW_STEP bytes, where
 * memory does; else in records. Then `each` is what a record takes of it; else 0: as much as it is
 * large. */
typedef struct {
	uint64_t all;
	uint64_t cell;
	uint64_t each;
} bshm__shadow_limit;

#define BSHM_SHADOW_STEP 16u

static inline bshm__shadow_limit bshm__shadow_limit_of(const bshm__shard *s)
{
	const bshm_segment *segment = s->segment;
	const bool by_memory = bshm__memory_is_limit(segment, s->shard);
	const uint64_t each = by_memory ? 0 : segment->shard_count;
	const uint64_t all =
		by_memory ? segment->shard_bytes / BSHM_SHADOW_STEP : segment->cache_records;
	const uint64_t cell = all / BSHM_SHADOW_KEYS;
	return (bshm__shadow_limit){all, cell > each ? cell : each, each};
}

/* A record's, of so many bytes of key and value. */
static inline uint64_t bshm__shadow_size(uint64_t bytes)
{
	return (bytes + BSHM_RECORD_EXTRA + BSHM_SHADOW_STEP - 1) / BSHM_SHADOW_STEP;
}

/* What a record of this size takes of the limit. */
static inline uint64_t bshm__shadow_part(bshm__shadow_limit most, uint64_t size)
{
	return most.each != 0 ? most.each : size != 0 ? size : 1; /* a cell may be damaged */
}

static inline uint64_t bshm__shadow_mixed(uint64_t hash)
{
	return hash * UINT64_C(0x9e3779b97f4a7c15);
}

static inline bool bshm__shadow_samples(uint64_t hash, bshm__shadow_limit most, uint64_t size)
{
	const uint64_t draw = bshm__shadow_mixed(hash) >> 40;
	return (draw * most.all >> 24) < bshm__shadow_part(most, size) * BSHM_SHADOW_KEYS;
}

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
