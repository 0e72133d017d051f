/*
 * index.c - from a key to its record: buckets of ten cells, each a tag and a ref.
 *
 * The hash of a key names a shard, a table in it, and a position. A table is an array of buckets;
 * the home bucket of a position is position * buckets >> 18. So the buckets are in the order of the
 * positions, whatever their number is. A record whose home bucket is full goes into the next one
 * that has room, and each full bucket on the way counts it in its overflow count. A search goes on
 * to the next bucket only while that count is not 0.
 *
 * A tag is the low 16 bits of the position. The rest follows from the bucket, if the record is not
 * too far from its home bucket: hence bshm__reach(). So a table is resized (table.c) by one pass
 * over its buckets, without reading a record. In a tiny table, of 40 records at most, a record may
 * lie in any bucket, and who needs its position reads its key.
 *
 * A record stays in its cell as long as it lives, so a search without the lock cannot miss it. A
 * search that began in buckets that were since given up finds that the shard's sequence has jumped,
 * and begins anew.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/index.h"

uint32_t bshm__cell_of(const bshm__shard *s, const bshm__home *home, uint32_t ref)
{
	bshm__search at = bshm__search_begin(s, home);
	while (ref != 0 && bshm__search_next(s, &at)) {
		if (BSHM_LOAD(&at.bucket->ref[at.cell], RELAXED) == ref) {
			return bshm__cell_in(s, at.bucket, at.cell);
		}
	}
	return 0;
}

void bshm__overflow_count(
	const bshm__shard *s, const bshm__home *home, const bshm_bucket *until, int by)
{
	const bshm__buckets buckets = bshm__buckets_of(s->segment, home->table);
	bshm__bucket_walk w;
	bshm_bucket *bucket =
		bshm__bucket_first(s, &w, buckets, home->position, bshm__reach(buckets.count));
	for (; bucket != NULL && bucket != until; bucket = bshm__bucket_next(s, &w)) {
		bshm__overflow_add(bucket, by);
	}
}

void bshm__cell_leave(const bshm__shard *s, const bshm__home *home, uint32_t cell)
{
	bshm__overflow_count(s, home, bshm__cell_bucket(s, cell), -1);
	bshm__table_count(s, home->table, -1);
}
