/*
 * index.h - from a key to its record: tables, buckets, tags and refs.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_INDEX_H
#define BSHM_CACHE_INDEX_H

#include "core/cache/slab.h"

/* A record lies in its home bucket, or fewer than so many buckets further on. */
#define BSHM_REACH_MAX    16u
#define BSHM_BUCKETS_MAX  (BSHM_TABLE_UNITS * BSHM_UNIT_BUCKETS)
#define BSHM_TINY_BUCKETS 4u
#define BSHM_TAG_MASK     0xffffu
#define BSHM_POSITIONS    (1u << BSHM_POSITION_BITS)

static inline uint32_t bshm__bucket_of(uint32_t position, uint32_t buckets)
{
	return (uint32_t) ((uint64_t) position * buckets >> BSHM_POSITION_BITS);
}

/* The buckets of a table, from one reading of its root. */
typedef struct {
	uint32_t *units; /* the list of the units after the first */
	uint32_t first;  /* the ref of the first unit */
	uint32_t count;  /* 0 = none yet */
} bshm__buckets;

/* May a table have so many buckets? */
static inline bool bshm__is_table_size(uint32_t buckets)
{
	return BSHM_LIKELY(buckets % BSHM_UNIT_BUCKETS == 0)
			   ? buckets <= BSHM_BUCKETS_MAX
			   : buckets < BSHM_UNIT_BUCKETS && (buckets & (buckets - 1)) == 0;
}

/* Is a table so small that its records may lie in any of its buckets? */
static inline bool bshm__is_tiny(uint32_t buckets)
{
	return buckets <= BSHM_TINY_BUCKETS;
}

static inline bshm__buckets bshm__buckets_of(const bshm_segment *segment, uint32_t table)
{
	const uint64_t root = BSHM_LOAD(&segment->roots[table], ACQUIRE); /* pairs with its stores */
	const uint32_t count = (uint32_t) root >> 1;
	return (bshm__buckets){
		.units = segment->tables[table].units[root & 1],
		.first = (uint32_t) (root >> BSHM_ROOT_UNIT),
		.count = bshm__is_table_size(count) ? count : 0,
	};
}

/* How many units have so many buckets. */
static inline uint32_t bshm__units_for(uint32_t buckets)
{
	return (buckets + BSHM_UNIT_BUCKETS - 1) / BSHM_UNIT_BUCKETS;
}

/* The class of a unit of a table with so many buckets. (Where there is damage they may be 0.) */
static inline uint32_t bshm__unit_class(uint32_t buckets)
{
	return BSHM_CLASS_UNITS + BSHM_LOWEST_BIT((uint64_t) buckets | BSHM_UNIT_BUCKETS);
}

/*
 * In how many buckets, from the home bucket on, a record may lie. A tag and a bucket tell the
 * position only if these buckets have 2^16 positions at most: a quarter of a small table. A tiny
 * table would have no bucket to overflow into then: so a record may lie in any of them, and its
 * position is told from its key.
 */
static inline uint32_t bshm__reach(uint32_t buckets)
{
	return buckets >= 4 * BSHM_REACH_MAX ? BSHM_REACH_MAX
		   : bshm__is_tiny(buckets)      ? buckets
										 : buckets / 4;
}

/* The ref of unit i. */
static inline uint32_t bshm__unit(const bshm__buckets *buckets, uint32_t i)
{
	/* Acquire pairs with set_unit(). */
	return i == 0 ? buckets->first : BSHM_LOAD(&buckets->units[i], ACQUIRE);
}

/* Bucket number `bucket`; NULL: damaged. */
static inline bshm_bucket *bshm__bucket_at(
	const bshm__shard *s, const bshm__buckets *buckets, uint32_t bucket)
{
	const uint32_t unit = bshm__unit(buckets, bucket / BSHM_UNIT_BUCKETS);
	const uint32_t words = sizeof(bshm_bucket) / BSHM_SLOT_UNIT;
	const uint32_t ref = unit + bucket % BSHM_UNIT_BUCKETS * words;
	uint8_t *byte = bshm__ref_at(s, ref, sizeof(bshm_bucket));
	return BSHM_LIKELY((unit & 0xf) == 0) ? (bshm_bucket *) (void *) byte : NULL;
}

/*
 * Compares four tags at once: bits 15, 31, 47 and 63 say which are equal to the wanted one. The
 * borrow of an equal tag may set the bit of the next tag too; the caller compares the key anyway.
 */
static inline uint64_t bshm__tags_equal(uint64_t tags, uint64_t wanted)
{
	const uint64_t x = tags ^ wanted;
	return (x - UINT64_C(0x0001000100010001)) & ~x & UINT64_C(0x8000800080008000);
}

#ifdef BSHM_SSE2

/* Which of ten tags equal the wanted one: a bit for each cell. `last` are the last two. */
static inline uint64_t bshm__tags_match(const bshm_bucket *bucket, uint64_t last, uint32_t tag)
{
	const __m128i wanted = _mm_set1_epi16((short) tag);
# ifdef BSHM_RACY_BYTES
	const __m128i eight = _mm_set_epi64x((int64_t) BSHM_LOAD(&bucket->tags[1], RELAXED),
		(int64_t) BSHM_LOAD(&bucket->tags[0], RELAXED));
# else
	/* Two aligned words in one load: the processor tears neither. */
	const __m128i eight = _mm_load_si128((const __m128i *) (const void *) bucket->tags);
# endif
	const __m128i two = _mm_cvtsi64_si128((int64_t) last);
	return (uint32_t) _mm_movemask_epi8(
			   _mm_packs_epi16(_mm_cmpeq_epi16(eight, wanted), _mm_cmpeq_epi16(two, wanted))) &
		   ((1u << BSHM_BUCKET_CELLS) - 1);
}

/* The cell of the lowest bit of a match. */
static inline uint32_t bshm__match_cell(uint64_t match)
{
	return BSHM_LOWEST_BIT(match);
}

#else

/* The same: bit 16 * j + i for cell 4 * i + j. */
static inline uint64_t bshm__tags_match(const bshm_bucket *bucket, uint64_t last, uint32_t tag)
{
	const uint64_t wanted = (tag & BSHM_TAG_MASK) * UINT64_C(0x0001000100010001);
	return bshm__tags_equal(BSHM_LOAD(&bucket->tags[0], RELAXED), wanted) >> 15 |
		   bshm__tags_equal(BSHM_LOAD(&bucket->tags[1], RELAXED), wanted) >> 14 |
		   (bshm__tags_equal(last, wanted) & 0xffffffff) >> 13;
}

static inline uint32_t bshm__match_cell(uint64_t match)
{
	const uint32_t bit = BSHM_LOWEST_BIT(match);
	return bit / 16 + bit % 16 * 4;
}

#endif

/* Which cells of a bucket have a tag. *overflow: bshm__bucket_overflow(). */
static inline uint64_t bshm__bucket_match(
	const bshm_bucket *bucket, uint32_t tag, uint32_t *overflow)
{
	const uint64_t last = BSHM_LOAD(&bucket->tags[2], RELAXED);
	*overflow = (uint16_t) (last >> 32);
	return bshm__tags_match(bucket, last, tag);
}

/* How many records lie in later buckets because this one was full. */
static inline uint32_t bshm__bucket_overflow(const bshm_bucket *bucket)
{
	return (uint16_t) (BSHM_LOAD(&bucket->tags[2], RELAXED) >> 32);
}

/*
 * A free cell of a bucket, or BSHM_BUCKET_CELLS. Under the lock, because it reads refs by plain
 * loads. Looks at two refs at a time: the high bit of each half of `taken` is set if the half is
 * not 0.
 */
static inline uint32_t bshm__bucket_free_cell(const bshm_bucket *bucket)
{
	const uint64_t low = UINT64_C(0x7fffffff7fffffff);
	uint64_t empty = 0;
#pragma GCC unroll 8
	for (uint32_t i = 0; i < BSHM_BUCKET_CELLS / 2; i++) {
		uint64_t pair;
		memcpy(&pair, &bucket->ref[2 * i], sizeof(pair));
		const uint64_t taken = ((pair & low) + low) | pair;
		empty |= (~taken & ~low) >> i;
	}
	if (empty == 0) {
		return BSHM_BUCKET_CELLS;
	}
	const uint32_t bit = BSHM_LOWEST_BIT(empty);
	const uint32_t pair = 31 - bit % 32;
#if !BSHM_BIG_ENDIAN
	return 2 * pair + bit / 32;
#else
	return 2 * pair + 1 - bit / 32;
#endif
}

/* Goes over buckets of a table in their order, bucket 0 after the last. */
typedef struct {
	bshm__buckets buckets;
	uint32_t number; /* of the present bucket */
	uint32_t left;   /* buckets still to come, this one included */
} bshm__bucket_walk;

/* Begins with the bucket of a position; `most` buckets in all, at least 1. NULL: that was all, or
 * there is damage. */
static BSHM_ALWAYS_INLINE bshm_bucket *bshm__bucket_first(const bshm__shard *s,
	bshm__bucket_walk *w, bshm__buckets buckets, uint32_t position, uint32_t most)
{
	*w = (bshm__bucket_walk){buckets, bshm__bucket_of(position, buckets.count), most};
	return BSHM_UNLIKELY(buckets.count == 0) ? NULL : bshm__bucket_at(s, &buckets, w->number);
}

static BSHM_ALWAYS_INLINE bshm_bucket *bshm__bucket_next(const bshm__shard *s, bshm__bucket_walk *w)
{
	if (--w->left == 0) {
		return NULL;
	}
	w->number = w->number + 1 == w->buckets.count ? 0 : w->number + 1;
	return bshm__bucket_at(s, &w->buckets, w->number);
}

/* The bucket that a key belongs to; NULL: its table has none yet, or is damaged. */
static inline bshm_bucket *bshm__home_bucket(const bshm__shard *s, const bshm__home *home)
{
	const bshm__buckets buckets = bshm__buckets_of(s->segment, home->table);
	return BSHM_UNLIKELY(buckets.count == 0)
			   ? NULL
			   : bshm__bucket_at(s, &buckets, bshm__bucket_of(home->position, buckets.count));
}

/*
 * The search for the record of a key. It goes over the cells with the key's tag, in the home bucket
 * and, as long as a bucket's overflow count is not 0, in the next bucket.
 */
typedef struct {
	bshm__bucket_walk walk;
	bshm_bucket *bucket;
	uint32_t tag;
	uint32_t overflow; /* of `bucket` */
	uint64_t match;    /* bshm__bucket_match(): the cells of `bucket` still to come */
	uint32_t cell;     /* of `bucket` */
} bshm__search;

static BSHM_ALWAYS_INLINE bshm__search bshm__search_begin(
	const bshm__shard *s, const bshm__home *home)
{
	const bshm__buckets buckets = bshm__buckets_of(s->segment, home->table);
	bshm__search at = {.tag = home->position};
	at.bucket =
		bshm__bucket_first(s, &at.walk, buckets, home->position, bshm__reach(buckets.count));
	if (BSHM_LIKELY(at.bucket != NULL)) {
		at.match = bshm__bucket_match(at.bucket, at.tag, &at.overflow);
	}
	return at;
}

/* False: that was all. */
static BSHM_ALWAYS_INLINE bool bshm__search_next(const bshm__shard *s, bshm__search *at)
{
	while (at->match == 0) {
		if (at->overflow == 0 || (at->bucket = bshm__bucket_next(s, &at->walk)) == NULL) {
			return false;
		}
		at->match = bshm__bucket_match(at->bucket, at->tag, &at->overflow);
	}
	at->cell = bshm__match_cell(at->match);
	at->match &= at->match - 1;
	return true;
}

/* The number that names a cell: the ref of its word. From where the bucket is, which has been
 * checked. */
static inline uint32_t bshm__cell_in(const bshm__shard *s, const bshm_bucket *bucket, uint32_t cell)
{
	const size_t offset = (size_t) ((const uint8_t *) &bucket->ref[cell] - s->pages);
	return s->first_ref + (uint32_t) (offset / BSHM_SLOT_UNIT);
}

static inline uint32_t bshm__bucket_tag(const bshm_bucket *bucket, uint32_t cell)
{
	return (uint32_t) (BSHM_LOAD(&bucket->tags[cell / 4], RELAXED) >> (cell % 4 * 16)) &
		   BSHM_TAG_MASK;
}

/* The first position that belongs to a later bucket. */
static inline uint32_t bshm__bucket_end(uint32_t bucket, uint32_t buckets)
{
	return (uint32_t) ((((uint64_t) bucket + 1) * BSHM_POSITIONS + buckets - 1) / buckets);
}

/* The position of a record in the bucket that ends at `end`, of a table that is not tiny: the last
 * one before `end` with this tag. */
static inline uint32_t bshm__position_before(uint32_t end, uint32_t tag)
{
	const uint32_t position = end - 1 - ((end - 1 - tag) & BSHM_TAG_MASK);
	return position & (BSHM_POSITIONS - 1); /* wraps: the buckets form a ring */
}

/* All under the shard's lock. */

/* The cell that leads to a record; 0: there is none. */
uint32_t bshm__cell_of(const bshm__shard *s, const bshm__home *home, uint32_t ref);
static inline uint32_t *bshm__cell_word(const bshm__shard *s, uint32_t cell)
{
	return bshm__slot_word(bshm__ref_at(s, cell, BSHM_SLOT_UNIT), 0);
}
/* The bucket that a cell is in. */
static inline bshm_bucket *bshm__cell_bucket(const bshm__shard *s, uint32_t cell)
{
	const uint32_t words = sizeof(bshm_bucket) / BSHM_SLOT_UNIT;
	return (bshm_bucket *) (void *) bshm__ref_at(s, cell & ~(words - 1), sizeof(bshm_bucket));
}

static inline void bshm__tag_set(bshm_bucket *bucket, uint32_t cell, uint32_t position)
{
	uint64_t *word = &bucket->tags[cell / 4];
	const unsigned shift = cell % 4 * 16;
	const uint64_t others = BSHM_LOAD(word, RELAXED) & ~((uint64_t) BSHM_TAG_MASK << shift);
	BSHM_STORE(word, others | (uint64_t) (position & BSHM_TAG_MASK) << shift, RELAXED);
}

static inline void bshm__overflow_add(bshm_bucket *bucket, int by)
{
	uint64_t *word = &bucket->tags[2];
	const uint64_t before = BSHM_LOAD(word, RELAXED);
	const uint64_t count = (uint16_t) ((before >> 32) + (uint64_t) (int64_t) by);
	BSHM_STORE(word, (before & ~(UINT64_C(0xffff) << 32)) | count << 32, RELAXED);
}

static inline void bshm__table_count(const bshm__shard *s, uint32_t table, int by)
{
	uint32_t *records = &s->segment->tables[table].records;
	BSHM_STORE(records, BSHM_LOAD(records, RELAXED) + (uint32_t) by, RELAXED);
}

/* Adds to the overflow counts of the buckets from the home bucket to the one before `until`. */
void bshm__overflow_count(
	const bshm__shard *s, const bshm__home *home, const bshm_bucket *until, int by);

/*
 * Notes that a record will be put into a cell, and that it has left one. The overflow counts go up
 * before the record is there and down after it has gone, so a death leaves them too high, never too
 * low. `overflows`: the cell is not in the home bucket.
 */
static inline void bshm__cell_enter(
	const bshm__shard *s, const bshm__home *home, uint32_t cell, bool overflows)
{
	bshm_bucket *bucket = bshm__cell_bucket(s, cell);
	if (overflows) {
		bshm__overflow_count(s, home, bucket, 1);
	}
	bshm__tag_set(bucket, (uint32_t) (bshm__cell_word(s, cell) - bucket->ref), home->position);
	bshm__table_count(s, home->table, 1);
}
void bshm__cell_leave(const bshm__shard *s, const bshm__home *home, uint32_t cell);

/* Prefetches the home bucket of a key. */
static inline void bshm__home_prefetch(bshm_segment *segment, const bshm__home *home)
{
	const bshm__shard s = bshm__shard_at(segment, home->shard);
	const bshm__buckets buckets = bshm__buckets_of(segment, home->table);
	if (buckets.count != 0) {
		const uint32_t number = bshm__bucket_of(home->position, buckets.count);
		BSHM_PREFETCH(bshm__bucket_at(&s, &buckets, number));
	}
}

#endif
