/*
 * shard.h - a shard of the record store, the home of a key, the bare lock, and the store's clock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_SHARD_H
#define BSHM_CACHE_SHARD_H

#include "core/base.h"
#include "core/bshm_records.h"
#include "core/format_store.h"
#include "core/hash.h"
#include "core/segment/segment.h"
#include "platform/atomic.h"

/* This process's handle of a shard: what every step of a call needs. bshm_shard_header is the
 * struct in the segment. */
typedef struct {
	bshm_segment *segment;
	bshm_shard_header *shard;
	uint8_t *pages;
	uint32_t index;
	uint32_t first_page; /* of the segment's pages */
	uint32_t first_ref;
	uint32_t spared; /* of the hash of a large record that this process does not evict; 0 = none */
} bshm__shard;

/* Is memory the limit, and not a count of records? A limit of records may be one that the memory
 * does not hold: so puts note which is the limit (recency.c). */
static inline bool bshm__memory_is_limit(
	const bshm_segment *segment, const bshm_shard_header *shard)
{
	return BSHM_LIKELY(segment->cache_records == 0) ||
		   (BSHM_LOAD(&shard->intent.size_margin, RELAXED) & BSHM_RECORDS_ARE_LIMIT) == 0;
}

/* Where a key belongs. */
typedef struct {
	uint64_t hash;
	uint32_t shard;
	uint32_t table;    /* of the segment's tables */
	uint32_t position; /* BSHM_POSITION_BITS bits: orders the buckets of the table */
} bshm__home;

static inline bshm__shard bshm__shard_at(bshm_segment *segment, uint32_t index)
{
	bshm__shard s = {segment, segment->shards, segment->pages, 0, 0, BSHM_REF_PAGE, 0};
	if (BSHM_UNLIKELY(segment->shard_count != 1)) { /* not the index: that is hard to predict */
		s.shard += index;
		s.pages += index * segment->shard_bytes;
		s.index = index;
		s.first_page = index * segment->shard_pages;
		s.first_ref = (s.first_page + 1) * BSHM_REF_PAGE;
	}
	return s;
}

/* The tables of all shards are numbered in one row. So their number comes from the hash at once: it
 * does not have to wait for the shard's. */
static inline bshm__home bshm__home_of_hash(const bshm_segment *segment, uint64_t hash)
{
	const uint64_t upper = hash >> 32;
	return (bshm__home){
		.hash = hash,
		.shard = (uint32_t) (upper * segment->shard_count >> 32),
		.table = (uint32_t) (upper * segment->table_count >> 32),
		.position = (uint32_t) hash & ((1u << BSHM_POSITION_BITS) - 1),
	};
}

/* The home of a key. Equal keys of two spaces have different hashes. */
static inline bshm__home bshm__home_of(
	const bshm_segment *segment, uint32_t space, const bshm_key *key)
{
	const uint64_t seed = segment->name_seed + (space + 1) * UINT64_C(0x9e3779b97f4a7c15);
	return bshm__home_of_hash(segment, bshm__checksum(key->bytes, key->length, seed));
}

/* ------------------------------------------------------------------ the bare lock */

/* Takes the lock if it is free. Does not repair: the lock of a dead process stays taken
 * (shard_lock.h). */
static inline bool bshm__shard_try(const bshm__shard *s, uint64_t owner)
{
	uint64_t free_word = 0;
	/* Acquire pairs with bshm__shard_leave(), release with the fence of bshm__word_lock(). */
	const bool taken = BSHM_CAS(&s->shard->lock, &free_word, owner, ACQ_REL);
	if (taken) {
		BSHM_HELD_BEGIN();
	}
	return taken;
}

static inline void bshm__shard_leave(const bshm__shard *s)
{
	BSHM_HELD_END();
	BSHM_STORE(&s->shard->lock, 0, RELEASE); /* pairs with bshm__shard_try(), bshm__word_lock() */
}

/* ------------------------------------------------------------------ the clock */

uint64_t bshm__store_clock_ns(const bshm_segment *segment);
/* Whole seconds of the engine clock, rounded to the nearest. */
uint32_t bshm__store_now_s(const bshm_segment *segment);
/* The next whole second. A record that expires n seconds after it, by the rounded clock, lives for
 * n seconds, give or take half a second. */
uint32_t bshm__store_next_s(const bshm_segment *segment);

static inline bool bshm__expired(uint32_t expires_s, uint32_t now_s)
{
	return expires_s != 0 && now_s >= expires_s;
}

#endif
