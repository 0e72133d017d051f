/*
 * spool.c - the hashes of a load, set aside until the number of keys is known.
 *
 * 16 bytes a key, in private memory: it goes with the process, and the segment needs room for
 * the finished filter only. Hashes are dealt into 1,024 buckets by their top bits. The partition
 * is monotonic in those bits, so whatever the size of the filter turns out to be, a bucket's keys
 * fall into one narrow range of it: applied bucket by bucket, a load runs in the cache instead of
 * missing it with every key.
 *
 * A bucket is a chain of chunks; the first of each is small, so that a small load stays small.
 * The buckets are also random samples of the keys: the number of different keys is estimated by
 * counting a few buckets exactly.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/core.h"

#include <math.h>
#include <stdlib.h>

#define BUCKET_BITS   10
#define BUCKETS       (1u << BUCKET_BITS)
#define CHUNK_FIRST   14   /* hashes; with the header 240 bytes */
#define CHUNK_LATER   1022 /* 16 kB */
#define SLAB_BYTES    ((size_t) 2 << 20)
#define SAMPLE_HASHES 65536

typedef struct chunk {
	struct chunk *next; /* the one filled before */
	uint32_t used;
	uint32_t room;
	bshm_hash hash[];
} chunk;

typedef struct slab {
	struct slab *next;
} slab;

struct bshm__spool {
	chunk *newest[BUCKETS];
	slab *slabs;
	size_t slab_used;
	uint64_t count;
};

bshm__spool *bshm__spool_new(void)
{
	return calloc(1, sizeof(bshm__spool));
}

void bshm__spool_free(bshm__spool *spool)
{
	if (spool == NULL) {
		return;
	}
	while (spool->slabs != NULL) {
		slab *next = spool->slabs->next;
		bshm_os_private_release(spool->slabs, SLAB_BYTES);
		spool->slabs = next;
	}
	free(spool);
}

static __attribute__((noinline)) chunk *chunk_new(bshm__spool *spool, uint32_t bucket)
{
	chunk *last = spool->newest[bucket];
	const uint32_t room = last == NULL ? CHUNK_FIRST : CHUNK_LATER;
	const size_t bytes = sizeof(chunk) + room * sizeof(bshm_hash);
	if (spool->slabs == NULL || spool->slab_used + bytes > SLAB_BYTES) {
		slab *fresh = bshm_os_private(SLAB_BYTES);
		if (fresh == NULL) {
			return NULL;
		}
		fresh->next = spool->slabs;
		spool->slabs = fresh;
		spool->slab_used = sizeof(chunk); /* the slab's header, rounded up */
	}
	chunk *c = (chunk *) (void *) ((char *) spool->slabs + spool->slab_used);
	spool->slab_used += bytes;
	c->next = last;
	c->used = 0;
	c->room = room;
	spool->newest[bucket] = c;
	return c;
}

bool bshm__spool_add(bshm__spool *spool, bshm_hash hash)
{
	const uint32_t bucket = (uint32_t) (hash.high >> (64 - BUCKET_BITS));
	chunk *c = spool->newest[bucket];
	if (BSHM_UNLIKELY(c == NULL || c->used == c->room)) {
		c = chunk_new(spool, bucket);
		if (c == NULL) {
			return false;
		}
	}
	c->hash[c->used++] = hash;
	spool->count++;
	return true;
}

uint64_t bshm__spool_count(const bshm__spool *spool)
{
	return spool->count;
}

static size_t bucket_count(const bshm__spool *spool, uint32_t bucket)
{
	size_t count = 0;
	for (const chunk *c = spool->newest[bucket]; c != NULL; c = c->next) {
		count += c->used;
	}
	return count;
}

bool bshm__spool_distinct(const bshm__spool *spool, uint64_t *distinct)
{
	uint32_t buckets = 0;
	size_t sampled = 0;
	while (buckets < BUCKETS && sampled < SAMPLE_HASHES) {
		sampled += bucket_count(spool, buckets++);
	}
	bshm_hash *sample = malloc((sampled + 1) * sizeof(*sample));
	if (sample == NULL) {
		return false;
	}
	size_t filled = 0;
	for (uint32_t b = 0; b < buckets; b++) {
		for (const chunk *c = spool->newest[b]; c != NULL; c = c->next) {
			for (uint32_t i = 0; i < c->used; i++) {
				sample[filled++] = c->hash[i];
			}
		}
	}
	const size_t different = bshm__hashes_distinct(sample, sampled);
	free(sample);
	if (different == sampled) {
		*distinct = spool->count; /* none twice: do not estimate what is known */
		return true;
	}
	/* The share of the hash space that was looked at, and three standard deviations on top. */
	const double share = (double) buckets / BUCKETS;
	const double margin = share < 1 ? 3 * sqrt((double) different) : 0;
	const double estimate = ceil(((double) different + margin) / share);
	*distinct = estimate < (double) spool->count ? (uint64_t) estimate : spool->count;
	return true;
}

/* Sets a hash in a layer of this kind that nobody else writes. */
static bool put_alone(uint32_t kind, const bshm__parts *parts, bshm_hash h)
{
	uint64_t *words = bshm__parts_of(parts, h);
	return kind == BSHM_KIND_COUNTING  ? bshm__counters_add(words, h, parts->hash_count)
		   : kind == BSHM_KIND_GROWING ? bshm__line_add(words, h, parts->hash_count, true)
									   : bshm__partition_add(words, h, parts->hash_count, true);
}

uint64_t bshm__spool_apply(const bshm__spool *spool, const bshm_view *view)
{
	uint64_t items = 0;
	for (uint32_t b = 0; b < BUCKETS; b++) {
		for (const chunk *c = spool->newest[b]; c != NULL; c = c->next) {
			for (uint32_t i = 0; i < c->used; i++) {
				items += put_alone(view->descriptor.kind, &view->newest, c->hash[i]);
			}
		}
	}
	return items;
}
