/*
 * ops.c - work in progress on a filter.
 *
 * A load, merge, copy, restore, reservation, clear, or growth by a layer is an op: it names the
 * process, the entry, and the partitions that the process has taken. While an entry has an op that
 * keeps a journal (journal.c), its `builders` word is set.
 *
 * An op ends with its owner. Its owner may also give it up at any time, without the lock, by
 * setting `owner` to 0; the next process that takes the lock tidies up (mend.c). An op is over when
 * its `entry` is 0, and its journal chunks are free from then on.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/ops.h"

#include "core/hash.h"
#include "core/segment/segment.h"
#include "core/segment/space.h"
#include "core/status.h"
#include "platform/atomic.h"

static uint64_t op_check(const bshm_segment *segment, const bshm_op *op)
{
	return bshm__checksum(
		&op->serial, offsetof(bshm_op, check) - offsetof(bshm_op, serial), segment->name_seed);
}

bshm_op bshm__op_read(const bshm_op *op)
{
	bshm_op copy = {0};
	bshm__racy_copy(&copy, op, offsetof(bshm_op, pending));
	return copy;
}

bool bshm__op_sound(const bshm_segment *segment, const bshm_op *op)
{
	return op->check == op_check(segment, op);
}

void bshm__op_claim(bshm_segment *segment, bshm_op *op, const bshm_run *run)
{
	if (op->run.count != 0) {
		bshm__space_forget(segment);
	}
	bshm__racy_copy(&op->run, run, sizeof(*run)); /* bshm__space_lacks() may be reading */
	BSHM_STORE(&op->check, op_check(segment, op), RELAXED);
}

bshm_op *bshm__op_begin(
	bshm_segment *segment, uint32_t kind, uint32_t entry, uint64_t seed, bool counting)
{
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		bshm_op *op = &segment->ops[i];
		if (op->entry != 0) {
			continue;
		}
		const bshm_op fresh = {
			.serial = ++segment->header->serial,
			.seed = seed,
			.entry = entry + 1,
			.kind = kind,
			.counting = counting,
		};
		bshm__racy_copy(op, &fresh, sizeof(fresh)); /* bshm__space_lacks() may be reading */
		BSHM_STORE(&op->check, op_check(segment, op), RELAXED);
		BSHM_STORE(&op->owner, segment->owner, RELEASE); /* pairs with reap_ops() */
		if (bshm__op_keeps_journal(op)) {
			/* An add that does not see this has set its bits before the op reads its first key:
			 * pairs with the fence of add_published(). */
			BSHM_STORE(&segment->entries[entry].builders, 1, RELAXED);
			BSHM_FENCE(SEQ_CST);
		}
		return op;
	}
	return NULL;
}

bshm_status bshm__fail_ops(bshm_error *error)
{
	return bshm__fail_sizes(
		error, BSHM_E_NO_SPACE, BSHM_CAUSE_OPS, BSHM_OP_COUNT + 1, BSHM_OP_COUNT);
}

void bshm__op_retire(bshm_segment *segment, bshm_op *op)
{
	if (op->run.count != 0) {
		bshm__space_forget(segment);
	}
	BSHM_STORE(&op->owner, 0, RELEASE); /* pairs with reap_ops() */
	BSHM_STORE(&op->entry, 0, RELAXED);
}

bool bshm__entry_has_op(const bshm_segment *segment, uint32_t index)
{
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		if (BSHM_LOAD(&segment->ops[i].entry, RELAXED) == index + 1) {
			return true;
		}
	}
	return false;
}

bool bshm__entry_has_journal(const bshm_segment *segment, uint32_t index)
{
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		if (BSHM_LOAD(&segment->ops[i].entry, RELAXED) == index + 1 &&
			bshm__op_keeps_journal(&segment->ops[i])) {
			return true;
		}
	}
	return false;
}

bool bshm__entry_is_growing(const bshm_segment *segment, uint32_t index)
{
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		if (segment->ops[i].entry == index + 1 && segment->ops[i].kind == BSHM_OP_GROW) {
			return true;
		}
	}
	return false;
}
