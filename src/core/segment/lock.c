/*
 * lock.c - the segment's one writer lock.
 *
 * The lock guards the directory, the ops, the giving out of partitions, and counters: steps of
 * microseconds. Calls that make, move, clear, drop or check filters take it, and so do removals. Of
 * the adds, only those take it that count, rotate a partition, make a filter grow, or meet a build
 * or clear. Questions never look at it.
 *
 * The lock word holds the owner word of its holder. A waiter asks the kernel now and then whether
 * the holder lives (owners.c). A dead holder's lock is taken over by compare-and-swap from its
 * word, so one waiter wins; it mends what the holder left before it goes on. A live holder, however
 * long it is stopped, keeps its lock: waiters give up after their time and say so.
 *
 * A waiter that looks at the word now and then hardly ever finds it free while other processes take
 * it again and again. So beside each lock word there is a hint, which a waiter past 5 ms sets.
 * While it is set, only waiters past 5 ms take the lock.
 *
 * A holder that loses its processor keeps all others out until it gets one again. On a busy machine
 * that takes longer than a waiter waits. So a process that takes locks again and again yields its
 * processor twice a millisecond, while it holds no lock. And if a waiter wakes late, because all
 * processors are busy, the delay does not count as waited, up to 150 ms: the holder is as late.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/lock.h"

#include "core/segment/owners.h"
#include "core/segment/segment.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#define SPINS          200
#define PROBE_EVERY_NS UINT64_C(500000)
#define PATIENCE_NS    UINT64_C(5000000) /* after that a waiter starves */
#define LATE_NS        UINT64_C(1000000) /* a sleeper that wakes so late had no processor */
#define GRACE_NS       UINT64_C(150000000)
#define STREAK_GAP_NS  UINT64_C(1000000) /* so long without a lock ends a streak */
#define STREAK_NS      UINT64_C(500000)  /* shorter than a time slice of the processor */

/* One waiter for one word. */
typedef struct {
	uint32_t *starving; /* the hint beside the word */
	uint64_t deadline;
	uint64_t grace; /* by how much the deadline may still be put off */
	uint64_t patient_until;
	unsigned looks;
	bool starves;
	bool waits;   /* it has time to wait at all */
	bool is_last; /* the look to come */
} waiter;

/* A function of its own, because no scenario of tests/deaths waits so long. */
static void set_starving(uint32_t *starving, uint32_t value)
{
	BSHM_STORE(starving, value, RELAXED);
}

/*
 * Must the waiter leave a free word to waiters that starve? The process that set the hint may have
 * died. Then the waiters that it holds up soon starve, too, and clear the hint in the end. One that
 * waits for less time than that takes a free word at its last look: a waiter that lives has had its
 * turn. (That is not so if it does not wait at all.)
 */
static bool is_behind(const waiter *w)
{
	return !w->starves && !w->is_last && BSHM_LOAD(w->starving, RELAXED) != 0;
}

/* Sleeps for a moment. The time by which it wakes late does not count as waited. */
static void nap(waiter *w, uint64_t now)
{
	bshm_os_sleep_us(BSHM_LOCK_SLEEP_US);
	const uint64_t late = bshm_os_monotonic_ns() - now;
	if (late > LATE_NS) {
		const uint64_t put_off = late < w->grace ? late : w->grace;
		w->grace -= put_off;
		w->deadline += put_off;
	}
}

/*
 * Waits between two looks at the word; false: the time is over. *now is 0 as long as it only spins.
 */
static bool wait_a_little(waiter *w, uint64_t *now)
{
	*now = 0;
	if (w->looks == 0) {
		w->waits = w->deadline > bshm_os_monotonic_ns();
	}
	if (w->looks++ < SPINS) {
		BSHM_PAUSE();
		return true;
	}
	*now = bshm_os_monotonic_ns();
	if (w->looks == SPINS + 1) {
		const uint64_t longest = w->deadline > *now ? 3 * (w->deadline - *now) : 0;
		w->grace = longest < GRACE_NS ? longest : GRACE_NS;
		w->patient_until = *now + PATIENCE_NS;
	}
	if (*now > w->patient_until) {
		w->starves = true;
		set_starving(w->starving, 1);
	}
	if (*now > w->deadline) {
		w->is_last = w->waits && !w->is_last;
		return w->is_last;
	}
	nap(w, *now);
	return true;
}

static void end_wait(const waiter *w)
{
	if (w->starves) {
		set_starving(w->starving, 0);
	}
}

/* Called before a lock is taken, while the process has none. Yields the processor if the process
 * takes locks again and again. Returns the time. */
static uint64_t breathe(bshm_segment *segment)
{
	uint64_t now = bshm_os_monotonic_ns();
	bool fresh = now - BSHM_LOAD(&segment->locked_ns, RELAXED) > STREAK_GAP_NS;
	if (!fresh && now - BSHM_LOAD(&segment->streak_ns, RELAXED) > STREAK_NS) {
		bshm_os_yield();
		now = bshm_os_monotonic_ns();
		fresh = true;
	}
	if (fresh) {
		BSHM_STORE(&segment->streak_ns, now, RELAXED);
	}
	BSHM_STORE(&segment->locked_ns, now, RELAXED);
	return now;
}

/* Excludes the other threads of this process, which share its owner word. */
static bool enter_process(bshm_segment *segment, uint64_t deadline)
{
	waiter w = {.starving = &segment->busy_starving, .deadline = deadline};
	uint64_t now;
	bool entered;
	do {
		uint32_t free_word = 0;
		/* Pairs with bshm__unlock(). */
		entered = !is_behind(&w) && BSHM_CAS(&segment->busy, &free_word, 1, ACQUIRE);
	} while (!entered && wait_a_little(&w, &now));
	end_wait(&w);
	return entered;
}

bool bshm__word_lock(
	bshm_segment *segment, uint64_t *word, uint32_t *starving, uint64_t deadline, bool *dead)
{
	waiter w = {.starving = starving, .deadline = deadline};
	uint64_t next_probe = 1;
	bool in_time = true;
	bool taken = false;
	*dead = false;
	while (!taken && in_time) {
		const bool behind = is_behind(&w);
		uint64_t holder = behind ? BSHM_LOAD(word, RELAXED) : 0;
		/* Acquire pairs with the store of 0; release with the fence below. */
		if (!behind && BSHM_CAS(word, &holder, segment->owner, ACQ_REL)) {
			taken = true;
			break;
		}
		uint64_t now;
		in_time = wait_a_little(&w, &now);
		if (now >= next_probe) {
			next_probe = now + PROBE_EVERY_NS;
			/* Pairs with the compare-and-swap that stored `holder`: the generation of its slot is
			 * seen too, and an older one would make a living process look dead. What a dead
			 * process stored is ordered by the kernel: it releases the byte after that. */
			BSHM_FENCE(ACQUIRE);
			*dead = taken = holder != 0 && !bshm__owner_alive(segment, holder) &&
							BSHM_CAS(word, &holder, segment->owner, ACQ_REL);
		}
	}
	end_wait(&w);
	if (taken) {
		BSHM_HELD_BEGIN();
	}
	return taken;
}

/* Takes the segment's lock. If the word is this process's own, a thread of it died inside: `busy`
 * keeps the living threads out. */
static bool acquire(bshm_segment *segment, uint64_t deadline, bool *dead)
{
	uint64_t *word = &segment->header->lock;
	*dead = BSHM_LOAD(word, RELAXED) == segment->owner;
	return *dead || bshm__word_lock(segment, word, &segment->header->starving, deadline, dead);
}

bshm_status bshm__lock_take(bshm_segment *segment, uint64_t wait_ns, bool *dead, bshm_error *error)
{
	if (segment->readonly) {
		return bshm__fail(error, BSHM_E_READ_ONLY, BSHM_CAUSE_READONLY);
	}
	const uint64_t deadline = breathe(segment) + wait_ns;
	bool entered = enter_process(segment, deadline);
	if (entered && bshm__owner_attach(segment, error) != BSHM_OK) {
		BSHM_STORE(&segment->busy, 0, RELEASE); /* pairs with enter_process() */
		return error->status;
	}
	if (entered && !acquire(segment, deadline, dead)) {
		BSHM_STORE(&segment->busy, 0, RELEASE); /* pairs with enter_process() */
		entered = false;
	}
	if (!entered) {
		BSHM_ADD(&segment->header->lock_timeouts, 1, RELAXED);
		return bshm__fail_sizes(error, BSHM_E_TIMEOUT, BSHM_CAUSE_LOCK, wait_ns / 1000000, 0);
	}
	return BSHM_OK;
}

void bshm__unlock(bshm_segment *segment)
{
	BSHM_HELD_END();
	BSHM_STORE(&segment->header->lock, 0, RELEASE); /* pairs with bshm__word_lock() */
	BSHM_STORE(&segment->busy, 0, RELEASE);         /* pairs with enter_process() */
}
