/*
 * table.h - gives a table more buckets or fewer; moves a unit of buckets.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_TABLE_H
#define BSHM_CACHE_TABLE_H

#include "core/cache/index.h"

/* All under the shard's lock. */

/* The table grows when so many of the ten cells of a bucket are in use, on average. A small table
 * has few buckets for a record to overflow into. A tiny one has them all; but ghosts need cells,
 * too, and a search for an absent key would go over several buckets. */
#define BSHM_BUCKET_FULL       9u
#define BSHM_SMALL_BUCKET_FULL 7u
#define BSHM_TINY_BUCKET_FULL  8u
#define BSHM_BUCKET_SPARSE     4u /* of ten: below that a table shrinks */
#define BSHM_TIDY_EVERY        32u

static inline bool bshm__table_full(const bshm__shard *s, uint32_t table)
{
	const uint32_t buckets = bshm__buckets_of(s->segment, table).count;
	const uint32_t full = buckets >= BSHM_UNIT_BUCKETS ? BSHM_BUCKET_FULL
						  : bshm__is_tiny(buckets)     ? BSHM_TINY_BUCKET_FULL
													   : BSHM_SMALL_BUCKET_FULL;
	return BSHM_LOAD(&s->segment->tables[table].records, RELAXED) >= buckets * full;
}

/* How many buckets a table should have before it takes one more record; 0: it is large enough. */
uint32_t bshm__table_growth(const bshm__shard *s, uint32_t table);
/* The next larger size of a table. */
uint32_t bshm__buckets_next(uint32_t buckets);
/* How many buckets a sparse table with so many records should have. */
uint32_t bshm__table_shrunk(uint32_t records);
/* Frees buckets if most of them are not needed, and there is room for the resized table. True: it
 * did. */
bool bshm__table_shrink(const bshm__shard *s, uint32_t table);
/*
 * The same after one record has gone. It costs as much as a resize also where it fails, because the
 * records that are left lie too close together. So it is tried at every 32nd record. The last 32
 * have room wherever they belong: there it is tried at each, and fails at no cost if there is no
 * room for the units.
 */
static inline bool bshm__table_tidy(const bshm__shard *s, uint32_t table)
{
	const uint32_t records = BSHM_LOAD(&s->segment->tables[table].records, RELAXED);
	return (records % BSHM_TIDY_EVERY == 0 || records < BSHM_TIDY_EVERY) &&
		   bshm__table_shrink(s, table);
}
/* Of a sparse table that has a unit too many: how many buckets would do. 0: it is no such table. */
static inline uint32_t bshm__table_oversized(const bshm__shard *s, uint32_t table)
{
	const uint32_t records = BSHM_LOAD(&s->segment->tables[table].records, RELAXED);
	const uint32_t now = bshm__buckets_of(s->segment, table).count;
	const uint32_t least = (records < BSHM_TIDY_EVERY ? 1 : 2) * BSHM_UNIT_BUCKETS;
	const bool is_sparse = now >= least && records < now * BSHM_BUCKET_SPARSE;
	const uint32_t wanted = is_sparse ? bshm__table_shrunk(records) : 0;
	return wanted < now ? wanted : 0;
}
/* Gives the table so many buckets, for whose units there is room. False: they cannot hold its
 * records. */
bool bshm__table_resize(const bshm__shard *s, uint32_t table, uint32_t buckets);
void bshm__table_resize_repair(const bshm__shard *s);
/* Moves a unit of the index out of its slot. */
bool bshm__unit_move(const bshm__shard *s, uint32_t ref);
void bshm__unit_move_repair(const bshm__shard *s);

#endif
