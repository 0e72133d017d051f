/*
 * quota_recount.c - counts `reserved` anew, which a death leaves too high (quota.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/quota_recount.h"

#include "core/cache/quota.h"
#include "core/cache/shard_lock.h"

/* For each lock, while those before are held: enough for a dead holder, not for a stopped one. */
#define RECOUNT_WAIT_NS UINT64_C(1000000)
/* Longer than waiters give way to one that has waited long (lock.c). */
#define HINT_WAIT_NS UINT64_C(8000000)

/*
 * A process that died while it waited for a lock may have left the hint `starving`, for which the
 * count would give way until it is over. Takes such a lock once, in its turn, which ends the hint.
 * A living process takes a free lock at its next look.
 */
static void end_hints(bshm_segment *segment)
{
	bshm_error error;
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		const bshm__shard s = bshm__shard_at(segment, i);
		if (BSHM_LOAD(&s.shard->starving, RELAXED) != 0 &&
			BSHM_LOAD(&s.shard->lock, RELAXED) == 0 &&
			bshm__shard_lock(&s, HINT_WAIT_NS, &error) == BSHM_OK) {
			bshm__shard_unlock(&s);
		}
	}
}

void bshm__quota_recount(bshm_segment *segment)
{
	bshm_store *store = segment->store;
	if (!segment->store_writable || !bshm__quota_shared(segment) ||
		BSHM_LOAD(&store->reserved, RELAXED) < segment->cache_records) {
		return;
	}
	end_hints(segment);
	bshm_error error;
	uint64_t reserved = 0;
	uint32_t locked = 0;
	for (; locked < segment->shard_count; locked++) {
		const bshm__shard s = bshm__shard_at(segment, locked);
		if (bshm__shard_lock(&s, RECOUNT_WAIT_NS, &error) != BSHM_OK) {
			break;
		}
		reserved +=
			(uint64_t) BSHM_LOAD(&s.shard->records, RELAXED) + BSHM_LOAD(&s.shard->credit, RELAXED);
	}
	if (locked == segment->shard_count) {
		/* A death from here on leaves a lock: the process that takes it over sets `recount`
		 * again. */
		BSHM_STORE(&store->recount, 0, RELAXED);
		BSHM_STORE(&store->reserved, reserved, RELAXED);
	}
	while (locked > 0) {
		const bshm__shard s = bshm__shard_at(segment, --locked);
		bshm__shard_unlock(&s);
	}
}
