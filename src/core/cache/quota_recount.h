/*
 * quota_recount.h - counts `reserved` anew after a death.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_QUOTA_RECOUNT_H
#define BSHM_CACHE_QUOTA_RECOUNT_H

#include "core/cache/shard.h"

/* Without a lock. After a death, once the limit is reached: takes all locks for a moment. */
void bshm__quota_recount(bshm_segment *segment);
static inline bool bshm__quota_in_doubt(const bshm_segment *segment)
{
	return BSHM_LOAD(&segment->store->recount, RELAXED) != 0;
}

static inline void bshm__quota_settle(bshm_segment *segment)
{
	if (BSHM_UNLIKELY(bshm__quota_in_doubt(segment))) {
		bshm__quota_recount(segment);
	}
}

#endif
