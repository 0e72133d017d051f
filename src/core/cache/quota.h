/*
 * quota.h - the limit of records, which all shards of a store share. All under the shard's lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_QUOTA_H
#define BSHM_CACHE_QUOTA_H

#include "core/cache/shard.h"

/* Do several shards share a limit? */
static inline bool bshm__quota_shared(const bshm_segment *segment)
{
	return segment->cache_records != 0 && segment->shard_count > 1;
}

/* Takes one of the limit for a new record; false: the limit is reached. Gives one back. */
bool bshm__quota_take(const bshm__shard *s);
void bshm__quota_give(const bshm__shard *s);
/* So many records had to go that the counts are damaged, or none can: counts those of the shard
 * anew, and, unless it is empty, notes that the limit is to be counted anew. True: the shard has
 * fewer than was known. */
bool bshm__quota_doubt(const bshm__shard *s);
/* Before the lock is released: the shard has credit. */
void bshm__quota_announce(const bshm__shard *s);

#endif
