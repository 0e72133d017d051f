/*
 * shard_lock.h - takes the lock of a shard, and repairs what a dead holder left.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_SHARD_LOCK_H
#define BSHM_CACHE_SHARD_LOCK_H

#include "core/cache/quota.h"
#include "core/cache/shard.h"

/* Takes the lock if it is free and no process has waited long for it. */
static inline bool bshm__shard_lock_free(const bshm__shard *s)
{
	const uint64_t me = BSHM_LOAD(&s->segment->quick_owner, ACQUIRE); /* pairs with occupy() */
	if (BSHM_LIKELY(
			me != 0 && BSHM_LOAD(&s->shard->starving, RELAXED) == 0 && bshm__shard_try(s, me))) {
		BSHM_FENCE(RELEASE); /* pairs with bshm__record_current(): see bshm__shard_lock_wait() */
		return true;
	}
	return false;
}

/* When the lock is not free: waits at most `wait_ns`, or as long as the patience lasts. */
bshm_status bshm__shard_lock_wait(const bshm__shard *s, uint64_t wait_ns, bshm_error *error);
bshm_status bshm__shard_lock_long(const bshm__shard *s, bshm_patience *patience, bshm_error *error);
/* OK, or TIMEOUT, UNAVAILABLE. A dead holder's change is finished or undone before it returns. */
static inline bshm_status bshm__shard_lock(
	const bshm__shard *s, uint64_t wait_ns, bshm_error *error)
{
	return bshm__shard_lock_free(s) ? BSHM_OK : bshm__shard_lock_wait(s, wait_ns, error);
}

/* The same for a call that may take several locks; NULL: the call takes only one. */
static inline bshm_status bshm__shard_lock_patient(
	const bshm__shard *s, bshm_patience *patience, bshm_error *error)
{
	return bshm__shard_lock_free(s) ? BSHM_OK : bshm__shard_lock_long(s, patience, error);
}

static inline void bshm__shard_unlock(const bshm__shard *s)
{
	if (BSHM_LOAD(&s->shard->credit, RELAXED) != 0) {
		bshm__quota_announce(s);
	}
	bshm__shard_leave(s);
}

/* Between two steps of a call: leaves the lock free for a pause. Not OK: it is lost. */
bshm_status bshm__shard_lock_pause(
	const bshm__shard *s, bshm_patience *patience, bshm_error *error);
/* Gives the lock only to a process that has waited long for it. */
bshm_status bshm__shard_lock_yield(
	const bshm__shard *s, bshm_patience *patience, bshm_error *error);

#endif
