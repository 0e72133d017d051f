/*
 * lock.c - the segment's one writer lock.
 *
 * It guards the directory, the ops and the giving out of partitions: steps of microseconds that
 * batch jobs take, and adds only while a load is running. Questions never look at it.
 *
 * The lock word holds the owner word of its holder. Whoever waits asks the kernel now and then
 * whether the holder lives (owners.c). A dead holder's lock is taken over by compare-and-swap
 * from its word, so one waiter wins; it mends what the holder left before it goes on. A live
 * holder, however long it is stopped, keeps its lock: waiters give up after their time and say so.
 * Of a shard's lock, who has waited for 5 ms goes before those who have not.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/core.h"

#define SPINS          200
#define PROBE_EVERY_NS UINT64_C(500000)
#define PATIENCE_NS    UINT64_C(5000000) /* then it goes before others */

/* Excludes the other threads of this process, which share its owner word. */
static bool enter_process(bshm_segment *segment, uint64_t deadline)
{
	uint32_t free_word = 0;
	while (!BSHM_CAS(&segment->busy, &free_word, 1, ACQUIRE)) {
		free_word = 0;
		if (bshm_os_monotonic_ns() > deadline) {
			return false;
		}
		bshm_os_yield();
	}
	return true;
}

/* Apart, for no scenario of tests/deaths waits so long. */
static void set_starving(uint32_t *starving, uint32_t value)
{
	BSHM_STORE(starving, value, RELAXED);
}

/* Who has waited long goes before those who have not; when it has died meanwhile, they have soon, too. */
bool bshm__word_lock(
	bshm_segment *segment, uint64_t *word, uint32_t *starving, uint64_t deadline, bool *dead)
{
	uint64_t next_probe = 0;
	uint64_t patient_until = 0;
	bool complained = false;
	bool taken = false;
	*dead = false;
	for (unsigned spin = 0; !taken; spin++) {
		const bool behind = starving != NULL && !complained && BSHM_LOAD(starving, RELAXED) != 0;
		uint64_t holder = behind ? BSHM_LOAD(word, RELAXED) : 0;
		if (!behind && BSHM_CAS(word, &holder, segment->owner, ACQUIRE)) {
			taken = true; /* pairs with the store of 0 */
			continue;
		}
		if (spin < SPINS) {
			BSHM_PAUSE();
			continue;
		}
		const uint64_t now = bshm_os_monotonic_ns();
		patient_until = patient_until == 0 ? now + PATIENCE_NS : patient_until;
		if (starving != NULL && now > patient_until) {
			complained = true;
			set_starving(starving, 1);
		}
		if (now >= next_probe) {
			next_probe = now + PROBE_EVERY_NS;
			if (holder != 0 && !bshm__owner_alive(segment, holder) &&
				BSHM_CAS(word, &holder, segment->owner, ACQUIRE)) {
				*dead = taken = true;
				continue;
			}
		}
		if (now > deadline) {
			break;
		}
		bshm_os_sleep_us(BSHM_LOCK_SLEEP_US);
	}
	if (complained) {
		set_starving(starving, 0);
	}
	return taken;
}

/* The segment's lock. Our own word in it: a thread of ours died inside, for `busy` keeps the living
 * out. */
static bool acquire(bshm_segment *segment, uint64_t deadline)
{
	uint64_t *word = &segment->header->lock;
	bool dead = BSHM_LOAD(word, RELAXED) == segment->owner;
	if (!dead && !bshm__word_lock(segment, word, NULL, deadline, &dead)) {
		return false;
	}
	if (dead) {
		BSHM_ADD(&segment->header->repairs, 1, RELAXED);
		bshm__directory_repair(segment);
	}
	return true;
}

bshm_status bshm__lock(bshm_segment *segment, uint64_t wait_ns, bshm_error *error)
{
	if (segment->readonly) {
		return bshm__fail(error, BSHM_E_READ_ONLY, "lock");
	}
	const uint64_t deadline = bshm_os_monotonic_ns() + wait_ns;
	bool entered = enter_process(segment, deadline);
	if (entered && !bshm__owner_attach(segment)) {
		BSHM_STORE(&segment->busy, 0, RELEASE);
		return bshm__fail_sizes(
			error, BSHM_E_UNAVAILABLE, "owners", 1, segment->fd < 0 ? 1 : BSHM_OWNER_COUNT);
	}
	if (entered && !acquire(segment, deadline)) {
		BSHM_STORE(&segment->busy, 0, RELEASE);
		entered = false;
	}
	if (!entered) {
		BSHM_ADD(&segment->header->lock_timeouts, 1, RELAXED);
		return bshm__fail_sizes(error, BSHM_E_TIMEOUT, "lock", wait_ns / 1000000, 0);
	}
	bshm__ops_reap(segment);
	return BSHM_OK;
}

void bshm__unlock(bshm_segment *segment)
{
	BSHM_STORE(&segment->header->lock, 0, RELEASE); /* pairs with acquire() */
	BSHM_STORE(&segment->busy, 0, RELEASE);
}
