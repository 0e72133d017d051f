/*
 * ops.h - work in progress on filters: all under the lock, but bshm__op_read().
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_OPS_H
#define BSHM_OPS_H

#include "core/format.h"
#include "core/segment/segment.h"
#include "platform/atomic.h"

/* Registers work on an entry; for a build or clear, adders keep a journal of hashes under
 * `seed` from now on. NULL: 64 are running. */
bshm_op *bshm__op_begin(
	bshm_segment *segment, uint32_t kind, uint32_t entry, uint64_t seed, bool counting);
/* Fills the error for that: NO_SPACE. */
bshm_status bshm__fail_ops(bshm_error *error);
/* Puts a run into the op: claims its partitions. */
void bshm__op_claim(bshm_segment *segment, bshm_op *op, const bshm_run *run);
/* Ends the op and frees its journal chunks. bshm__op_end() also tidies its entry up. */
void bshm__op_retire(bshm_segment *segment, bshm_op *op);
/*
 * A copy of its words from `owner` to `check`; the others are 0. Without the lock, too: all that is
 * read is written by atomic stores (bshm__op_begin(), bshm__op_claim(), bshm__op_retire()), and the
 * checksum of words of two moments is wrong.
 */
bshm_op bshm__op_read(const bshm_op *op);
bool bshm__op_sound(const bshm_segment *segment, const bshm_op *op);
bool bshm__entry_has_op(const bshm_segment *segment, uint32_t index);
/* Has the entry an op for which adders keep a journal? */
bool bshm__entry_has_journal(const bshm_segment *segment, uint32_t index);
/* Is the filter being made to grow? */
bool bshm__entry_is_growing(const bshm_segment *segment, uint32_t index);
static inline bool bshm__op_keeps_journal(const bshm_op *op)
{
	const uint32_t kind = BSHM_LOAD(&op->kind, RELAXED);
	return kind == BSHM_OP_BUILD || kind == BSHM_OP_CLEAR;
}

#endif
