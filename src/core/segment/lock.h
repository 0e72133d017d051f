/*
 * lock.h - lock words of the segment. The caller repairs what a dead holder left (mend.c,
 * shard_lock.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_LOCK_H
#define BSHM_LOCK_H

#include "core/bshm.h"
#include "core/segment/segment.h"

/* How long a writer waits for the lock: a page's add, and a batch job's step. The time by which it
 * wakes late does not count (lock.c). */
#define BSHM_LOCK_PAGE_NS  UINT64_C(50000000)
#define BSHM_LOCK_BATCH_NS UINT64_C(1000000000)
/* How long a waiter sleeps between two looks at the word. */
#define BSHM_LOCK_SLEEP_US 50

/*
 * Takes a lock word of the segment, waiting until `deadline` (monotonic, ns). *dead: it was taken
 * from a process that is gone, and the caller mends what that has left. *starving is 1 while a
 * waiter has waited long; other waiters do not take the lock then.
 */
bool bshm__word_lock(
	bshm_segment *segment, uint64_t *word, uint32_t *starving, uint64_t deadline, bool *dead);
/*
 * Takes the segment's lock: OK or TIMEOUT, READ_ONLY, UNAVAILABLE. *dead: as bshm__word_lock(), or
 * a thread of this process died inside.
 */
bshm_status bshm__lock_take(bshm_segment *segment, uint64_t wait_ns, bool *dead, bshm_error *error);
void bshm__unlock(bshm_segment *segment);

#endif
