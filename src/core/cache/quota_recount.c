/*
 * quota_recount.c - counts `reserved` anew, which a death or damage leaves too high (quota.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/quota_recount.h"

#include "core/cache/quota.h"
#include "core/cache/shard_lock.h"

/* For each lock, while those before are held: enough for a dead holder, not for a stopped one. */
#define RECOUNT_WAIT_NS UINT64_C(1000000)

void bshm__quota_recount(bshm_segment *segment)
{
	bshm_store *store = segment->store;
	if (!segment->store_writable || !bshm__quota_shared(segment) ||
		BSHM_LOAD(&store->reserved, RELAXED) < segment->cache_records) {
		return;
	}
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
