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

/* Before a change: the same if needed, but once a call, because it waits for each lock. A call that
 * has waited for a lock in vain does not wait here, too. `patience`: NULL, or that of a call with
 * many keys. */
static inline void bshm__quota_settle(bshm_segment *segment, bshm_patience *patience)
{
	if (BSHM_LIKELY(!bshm__quota_in_doubt(segment))) {
		return;
	}
	if (patience == NULL) {
		bshm__quota_recount(segment);
	} else if (!patience->counted && !patience->gone) {
		bshm__quota_recount(segment);
		patience->counted = true;
	}
}

#endif
