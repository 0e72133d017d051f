/*
 * mend.h - the segment's lock, with what dead processes left mended.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_MEND_H
#define BSHM_MEND_H

#include "core/bshm.h"
#include "core/format.h"
#include "core/segment/blocks.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/segment.h"

/* Partitions of a dead process's clear that are zeroed at a time: 8 MB, about 1 ms. */
#define BSHM_CLEAR_STEP 1024u

/* OK or TIMEOUT, READ_ONLY, UNAVAILABLE. What dead processes left is mended before it returns. */
bshm_status bshm__lock(bshm_segment *segment, uint64_t wait_ns, bshm_error *error);
/*
 * Takes the lock once the filter is not being cleared any more (waiting for that until `deadline`:
 * TIMEOUT); *current is what bshm__entry_current() then says. Not OK: no lock is held.
 */
bshm_status bshm__lock_settled(bshm_segment *segment, const bshm__name *name, uint64_t deadline,
	uint32_t *index, bshm_descriptor *descriptor, bshm_status *current, bshm_error *error);
/*
 * Under the lock: ends a clear, if the filter has not been replaced meanwhile. `zeroed` says that
 * its owner lived to zero the bits. If not, some more are zeroed; the next calls go on.
 */
void bshm__clear_finish(bshm_segment *segment, bshm_op *op, uint32_t index, bool zeroed);
/*
 * How much memory is free, with what dead processes had, if the lock is to be had; else about so
 * much.
 */
bshm_status bshm__space_look(bshm_segment *segment, bshm__space *out, bshm_error *error);

#endif
