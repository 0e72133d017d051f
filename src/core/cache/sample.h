/*
 * sample.h - looks at some records, and weighs how soon each should be evicted.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_SAMPLE_H
#define BSHM_CACHE_SAMPLE_H

#include "core/cache/index.h"
#include "core/cache/recency.h"

/* All under the shard's lock. */

/* A record of a sample. */
typedef struct {
	uint32_t ref;   /* 0: chosen already */
	uint32_t *cell; /* where it was found; NULL: not by the index */
	uint32_t state;
	uint32_t age;
	uint64_t weight; /* its age, size, and how soon its kind is evicted */
	bool expired;
} bshm__member;

/* What makes a record's weight. */
typedef struct {
	uint32_t now; /* the epoch */
	uint32_t now_s;
	uint32_t least_age;           /* of a record that may be evicted: older than the floor */
	bool aging;                   /* the stamps are being renumbered: aging.h */
	bool by_size;                 /* is memory the limit? */
	int32_t size_power;           /* to which a size counts then */
	uint64_t of_kind[BSHM_KINDS]; /* how much an epoch weighs */
} bshm__scales;
#define BSHM_SCALE_ONE 256u /* what an epoch weighs with a lean of 0 */

bshm__scales bshm__scales_of(const bshm__shard *s);
/* The least age of records that were last used before this period. */
uint32_t bshm__least_age(const bshm__shard *s, uint32_t now, uint32_t period);

/* The record at a ref; its own ref is 0 where there is none, or the ref leads nowhere. */
bshm__member bshm__weigh(const bshm__shard *s, const bshm__scales *by, uint32_t ref);
/* Is it the record that the call makes room for, or rather for its next value? */
bool bshm__is_spared(const bshm__shard *s, const bshm__member *m);

/* A sample has so many records: as a rule; where they are large, or only age counts; at most. */
#define BSHM_EVICT_SAMPLE       16u
#define BSHM_EVICT_SAMPLE_LARGE 32u
#define BSHM_EVICT_SAMPLE_MOST  192u
/* Where few buckets have records, at most so many are looked at for a sample. */
#define BSHM_EVICT_BUCKETS 1024u
/* The most that a sample has of so many: it ends with a bucket. */
#define BSHM_SAMPLE_ROOM(wanted) ((wanted) + BSHM_BUCKET_CELLS - 1)

/* The next sample, of `wanted` records or up to a bucket more: how many. 0: there is none. The hand
 * passes them. Adds the buckets and tables it looked at to *looks. */
uint32_t bshm__sample_next(const bshm__shard *s, const bshm__scales *by, uint32_t wanted,
	bshm__member *sample, uint32_t *looks);
/* The record to evict: an expired one, or the heaviest of those that are old enough. NULL: there is
 * none. */
bshm__member *bshm__choose(bshm__member *sample, uint32_t count, uint32_t least_age);

#endif
