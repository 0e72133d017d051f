/*
 * shard_lock.c - waits for the lock of a shard.
 *
 * A process that takes the lock from a dead holder first finishes or undoes the change that the
 * intent names (repair.c): the work of one call, whatever the size of the shard.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/shard_lock.h"

#include "core/cache/repair.h"
#include "core/segment/lock.h"
#include "core/segment/owners.h"
#include "core/status.h"
#include "platform/platform.h"

bshm_status bshm__shard_lock_wait(const bshm__shard *s, uint64_t wait_ns, bshm_error *error)
{
	bshm_segment *segment = s->segment;
	if (!segment->store_writable) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_NO_STORE);
	}
	if (bshm__owner_attach(segment, error) != BSHM_OK) { /* no change either, so it counts, too */
		BSHM_ADD(&s->shard->timeouts, 1, RELAXED);
		return error->status;
	}
	bool dead;
	const uint64_t deadline = bshm_os_monotonic_ns() + wait_ns;
	if (!bshm__word_lock(segment, &s->shard->lock, &s->shard->starving, deadline, &dead)) {
		BSHM_ADD(&s->shard->timeouts, 1, RELAXED);
		return bshm__fail_sizes(error, BSHM_E_TIMEOUT, BSHM_CAUSE_SHARD, wait_ns / 1000000, 0);
	}
	if (dead) {
		BSHM_STORE(&s->shard->repairs, BSHM_LOAD(&s->shard->repairs, RELAXED) + 1, RELAXED);
		bshm__intent_repair(s);
	}
	/* A look-up that reads a byte written from here on also sees that its slot was freed, by any
	 * process: pairs with bshm__record_current(). */
	BSHM_FENCE(RELEASE);
	return BSHM_OK;
}

bshm_status bshm__shard_lock_long(const bshm__shard *s, bshm_patience *patience, bshm_error *error)
{
	if (patience == NULL) {
		return bshm__shard_lock_wait(s, BSHM_LOCK_PAGE_NS, error);
	}
	const uint64_t began = bshm_os_monotonic_ns();
	uint64_t wait_ns = patience->batch ? BSHM_LOCK_BATCH_NS : BSHM_LOCK_PAGE_NS;
	if (patience->gone || (!patience->batch && patience->waited_ns > BSHM_LOCK_BATCH_NS)) {
		wait_ns = 0; /* takes a lock that is free within microseconds, or whose holder is dead */
	}
	const bshm_status status = bshm__shard_lock_wait(s, wait_ns, error);
	patience->gone |= status == BSHM_E_TIMEOUT;
	patience->waited_ns += bshm_os_monotonic_ns() - began;
	return status;
}

bshm_status bshm__shard_lock_pause(const bshm__shard *s, bshm_patience *patience, bshm_error *error)
{
	bshm__shard_unlock(s);
	bshm_os_sleep_us(3 * BSHM_LOCK_SLEEP_US); /* so that waiters find the lock free */
	return bshm__shard_lock_patient(s, patience, error);
}

bshm_status bshm__shard_lock_yield(const bshm__shard *s, bshm_patience *patience, bshm_error *error)
{
	if (BSHM_LOAD(&s->shard->starving, RELAXED) == 0 || patience->gone) {
		return BSHM_OK;
	}
	bshm__shard_unlock(s);
	return bshm__shard_lock_patient(s, patience, error);
}
