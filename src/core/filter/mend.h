/*
 * mend.h - takes the segment's lock, and mends what dead processes left.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_MEND_H
#define BSHM_MEND_H

#include "core/bshm.h"
#include "core/filter/view.h"
#include "core/format.h"
#include "core/segment/blocks.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/segment.h"

/*
 * So many partitions of a dead process's clear are zeroed under one hold of the lock: about 1 ms.
 */
#define BSHM_CLEAR_STEP 1024u

/* Takes the lock, and mends what dead processes left: OK, or TIMEOUT, READ_ONLY, UNAVAILABLE. */
bshm_status bshm__lock(bshm_segment *segment, uint64_t wait_ns, bshm_error *error);
/*
 * Waits until the filter is not being cleared, then takes the lock. *current is what
 * bshm__entry_current() says then. TIMEOUT: still being cleared at `deadline`. Not OK: no lock is
 * held.
 */
bshm_status bshm__lock_settled(bshm_segment *segment, const bshm__name *name, uint64_t deadline,
	uint32_t *index, bshm_descriptor *descriptor, bshm_status *current, bshm_error *error);
/*
 * Under the lock: adds all keys of the journal to the view; returns how many were new. The journal
 * keeps them, so a process that takes over from a dead one may apply it again.
 */
uint64_t bshm__journal_apply(bshm_segment *segment, const bshm_op *op, const bshm_view *view);
/*
 * Under the lock: ends a clear. `zeroed`: its owner has zeroed all bits. Else zeroes some more of
 * them; once all are zero, a call publishes the filter, unless it was replaced meanwhile.
 */
void bshm__clear_finish(bshm_segment *segment, bshm_op *op, uint32_t index, bool zeroed);
/*
 * How much memory is free. Exact, and with the memory of dead processes, if the lock can be taken
 * in 50 ms; else an estimate. NO_SPACE: no private memory.
 */
bshm_status bshm__space_look(bshm_segment *segment, bshm__space *out, bshm_error *error);

#endif
