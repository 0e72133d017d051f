/*
 * spool.c - the hashes of a load, set aside until the number of keys is known.
 *
 * The spool is private memory, 16 bytes a key. It ends with the process, and the segment needs room
 * only for the finished filter.
 *
 * Hashes are put into 1,024 buckets by their top bits. A hash with higher top bits has the same or
 * a higher partition, whatever the size of the filter will be. So the keys of a bucket fall into
 * one narrow range of partitions: a load that is applied bucket by bucket stays in the processor's
 * cache.
 *
 * Many keys may be copies of few. At a million hashes, and whenever their number has doubled since
 * the last check, a few buckets are checked. If less than half of their hashes are different, all
 * buckets are made anew with one of each. So there are never more than a million hashes, or four
 * times the different ones. A counting filter keeps every copy.
 *
 * A bucket is a list of pieces. The first piece is small, so that a small load stays small. The
 * buckets are also random samples of the keys: the number of different keys is estimated by
 * counting a few buckets exactly.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/spool.h"

#include "core/base.h"
#include "core/filter/kind.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "platform/platform.h"

#include <math.h>
#include <stdlib.h>

#define BUCKET_BITS   10
#define BUCKETS       (1u << BUCKET_BITS)
#define PIECE_FIRST   14   /* hashes; with the header 240 bytes */
#define PIECE_LATER   1022 /* 16 kB */
#define ARENA_BYTES   ((size_t) 2 << 20)
#define SAMPLE_HASHES 65536
#define FIRST_LOOK    (UINT64_C(1) << 20)
#define FEW_HASHES    16384 /* checked for copies: about a millisecond */

typedef struct piece {
	struct piece *next; /* filled before this one */
	uint32_t used;
	uint32_t room;
	bshm_hash hash[];
} piece;

typedef struct arena {
	struct arena *next;
} arena;

struct bshm__spool {
	piece *newest[BUCKETS];
	arena *arenas;
	size_t arena_used;
	uint64_t count;
	uint64_t look_at; /* at so many hashes the spool is checked for copies again */
};

bshm__spool *bshm__spool_new(bool keep_copies)
{
	bshm__spool *spool = calloc(1, sizeof(*spool));
	if (spool != NULL) {
		spool->look_at = keep_copies ? UINT64_MAX : FIRST_LOOK;
	}
	return spool;
}

static void release_arenas(arena *arenas)
{
	while (arenas != NULL) {
		arena *next = arenas->next;
		bshm_os_private_release(arenas, ARENA_BYTES);
		arenas = next;
	}
}

void bshm__spool_free(bshm__spool *spool)
{
	if (spool != NULL) {
		release_arenas(spool->arenas);
		free(spool);
	}
}

static void unify(bshm__spool *spool);

static BSHM_NOINLINE piece *piece_new(bshm__spool *spool, uint32_t bucket)
{
	if (spool->count >= spool->look_at) {
		unify(spool);
	}
	piece *last = spool->newest[bucket];
	if (last != NULL && last->used < last->room) {
		return last;
	}
	const uint32_t room = last == NULL ? PIECE_FIRST : PIECE_LATER;
	const size_t bytes = sizeof(piece) + room * sizeof(bshm_hash);
	if (spool->arenas == NULL || spool->arena_used + bytes > ARENA_BYTES) {
		arena *fresh = bshm_os_private(ARENA_BYTES);
		if (fresh == NULL) {
			return NULL;
		}
		fresh->next = spool->arenas;
		spool->arenas = fresh;
		spool->arena_used = sizeof(piece); /* the arena's header, rounded up */
	}
	piece *c = (piece *) (void *) ((char *) spool->arenas + spool->arena_used);
	spool->arena_used += bytes;
	c->next = last;
	c->used = 0;
	c->room = room;
	spool->newest[bucket] = c;
	return c;
}

bool bshm__spool_add(bshm__spool *spool, bshm_hash hash)
{
	const uint32_t bucket = (uint32_t) (hash.high >> (64 - BUCKET_BITS));
	piece *c = spool->newest[bucket];
	if (BSHM_UNLIKELY(c == NULL || c->used == c->room)) {
		c = piece_new(spool, bucket);
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
	for (const piece *c = spool->newest[bucket]; c != NULL; c = c->next) {
		count += c->used;
	}
	return count;
}

/* The hashes of the first buckets, `enough` or all; NULL: no memory. */
static bshm_hash *sample_of(
	const bshm__spool *spool, size_t enough, uint32_t *buckets, size_t *sampled)
{
	*buckets = 0;
	*sampled = 0;
	while (*buckets < BUCKETS && *sampled < enough) {
		*sampled += bucket_count(spool, (*buckets)++);
	}
	bshm_hash *sample = malloc((*sampled + 1) * sizeof(*sample));
	size_t filled = 0;
	for (uint32_t b = 0; sample != NULL && b < *buckets; b++) {
		for (const piece *c = spool->newest[b]; c != NULL; c = c->next) {
			for (uint32_t i = 0; i < c->used; i++) {
				sample[filled++] = c->hash[i];
			}
		}
	}
	return sample;
}

bool bshm__spool_distinct(const bshm__spool *spool, uint64_t *distinct)
{
	uint32_t buckets;
	size_t sampled;
	bshm_hash *sample = sample_of(spool, SAMPLE_HASHES, &buckets, &sampled);
	if (sample == NULL) {
		return false;
	}
	const size_t different = bshm__hashes_distinct(sample, sampled);
	free(sample);
	if (different == sampled) {
		*distinct = spool->count; /* no copies in the sample: most likely none at all */
		return true;
	}
	/* The sampled share of the hash space; and three standard deviations on top. */
	const double share = (double) buckets / BUCKETS;
	const double margin = share < 1 ? 3 * sqrt((double) different) : 0;
	const double estimate = ceil(((double) different + margin) / share);
	*distinct = estimate < (double) spool->count ? (uint64_t) estimate : spool->count;
	return true;
}

/* ------------------------------------------------------------------ copies */

/* Puts one of each hash of a bucket into `to`; `table` has places for twice as many, all NULL. */
static bool unify_bucket(bshm__spool *to, const piece *c, const bshm_hash **table, size_t mask)
{
	for (; c != NULL; c = c->next) {
		for (uint32_t i = 0; i < c->used; i++) {
			const bshm_hash *h = &c->hash[i];
			size_t at = h->low & mask;
			while (table[at] != NULL && (table[at]->low != h->low || table[at]->high != h->high)) {
				at = (at + 1) & mask;
			}
			if (table[at] != NULL) {
				continue;
			}
			if (!bshm__spool_add(to, *h)) {
				return false;
			}
			table[at] = h;
		}
	}
	return true;
}

/* All buckets of `spool` with one of each hash; false: no memory. */
static bool unify_into(bshm__spool *to, const bshm__spool *spool)
{
	bool done = true;
	for (uint32_t b = 0; done && b < BUCKETS; b++) {
		size_t room = 2;
		while (room < bucket_count(spool, b) * 2) {
			room *= 2;
		}
		const bshm_hash **table = calloc(room, sizeof(*table));
		done = table != NULL && unify_bucket(to, spool->newest[b], table, room - 1);
		free(table);
	}
	return done;
}

static int by_count(const void *a, const void *b)
{
	const size_t x = *(const size_t *) a;
	const size_t y = *(const size_t *) b;
	return x < y ? -1 : x > y;
}

/* Are most hashes in buckets of more than twice the usual size? Then few keys come often. */
static bool is_uneven(const bshm__spool *spool)
{
	size_t counts[BUCKETS];
	uint64_t excess = 0;
	for (uint32_t b = 0; b < BUCKETS; b++) {
		counts[b] = bucket_count(spool, b);
	}
	qsort(counts, BUCKETS, sizeof(counts[0]), by_count);
	const size_t usual = counts[BUCKETS / 2] * 2;
	for (uint32_t b = BUCKETS; b-- > 0 && counts[b] > usual;) {
		excess += counts[b] - usual;
	}
	return excess > spool->count / 2;
}

/* Are most hashes copies, by a sample of a few buckets? */
static bool has_copies(const bshm__spool *spool)
{
	if (is_uneven(spool)) {
		return true;
	}
	uint32_t buckets;
	size_t sampled;
	bshm_hash *sample = sample_of(spool, FEW_HASHES, &buckets, &sampled);
	const bool copies = sample != NULL && bshm__hashes_distinct(sample, sampled) < sampled / 2;
	free(sample);
	return copies;
}

/* Keeps one of each hash, if many are copies. Without memory for that, all stay. */
static void unify(bshm__spool *spool)
{
	bshm__spool *fresh = has_copies(spool) ? bshm__spool_new(true) : NULL;
	if (fresh != NULL && unify_into(fresh, spool)) {
		release_arenas(spool->arenas);
		*spool = *fresh;
		free(fresh);
	} else {
		bshm__spool_free(fresh);
	}
	const uint64_t twice = spool->count * 2;
	spool->look_at = twice > FIRST_LOOK ? twice : FIRST_LOOK;
}

/* ------------------------------------------------------------------ the filter's bits */

uint64_t bshm__spool_apply(const bshm__spool *spool, const bshm_view *view)
{
	uint64_t items = 0;
	for (uint32_t b = 0; b < BUCKETS; b++) {
		for (const piece *c = spool->newest[b]; c != NULL; c = c->next) {
			items += view->kind->put(view, c->hash, c->used, true);
		}
	}
	return items;
}
