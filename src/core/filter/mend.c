/*
 * mend.c - takes the segment's lock, and mends what dead processes left.
 *
 * A process that dies with the lock may leave the directory half changed. The process that takes
 * the lock over first puts it right (directory.c).
 *
 * Every process that takes the lock also ends ops that have no living owner, or were given up:
 * their partitions and journals are free from then on. A clear is finished instead of undone,
 * because some of its bits are zero already. Until then it keeps its partitions and its journal.
 * Each holder of the lock zeroes at most 8 MB, so that none holds the lock for long.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/mend.h"

#include "core/base.h"
#include "core/filter/kind.h"
#include "core/filter/lay.h"
#include "core/filter/partition.h"
#include "core/filter/view.h"
#include "core/segment/blocks.h"
#include "core/segment/directory.h"
#include "core/segment/journal.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/ops.h"
#include "core/segment/owners.h"
#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <stdlib.h>

#define CLEAR_NAP_US 500

uint64_t bshm__journal_apply(bshm_segment *segment, const bshm_op *op, const bshm_view *view)
{
	uint64_t items = 0;
	uint32_t cursor = 0;
	uint64_t count;
	const bshm_hash *hashes;
	while ((hashes = bshm__journal_next(segment, op, &cursor, &count)) != NULL) {
		items += view->kind->put(view, hashes, count, false);
	}
	return items;
}

/* ------------------------------------------------------------------ clears of dead processes */

/* Publishes a cleared filter, whose bits are all zero, with the keys of its journal. */
static void clear_publish(bshm_segment *segment, bshm_op *op, uint32_t index, const bshm_view *view,
	bshm_descriptor *descriptor)
{
	descriptor->state = BSHM_STATE_LIVE;
	descriptor->published_s = bshm__bits(bshm_os_wall_s());
	bshm__entry_publish(segment, index, descriptor, bshm__journal_apply(segment, op, view));
}

void bshm__clear_finish(bshm_segment *segment, bshm_op *op, uint32_t index, bool zeroed)
{
	bshm_entry *entry = &segment->entries[index];
	const uint64_t generation = BSHM_LOAD(&entry->generation, RELAXED);
	bshm_descriptor descriptor = bshm__descriptor_read(entry, generation);
	bshm_view view = {0};
	const bshm__name name = bshm__entry_name(entry);
	if (bshm__descriptor_sound(segment, &name, &descriptor, generation) &&
		descriptor.state == BSHM_STATE_CLEARING && descriptor.newest.run.first == op->run.first) {
		const bshm_status status = bshm__view_lay(segment, &view, &descriptor, &descriptor.newest);
		if (status == BSHM_E_NO_SPACE) {
			/* No private memory: the next lock holder tries. Pairs with reap_ops(). */
			BSHM_STORE(&op->owner, 0, RELEASE);
			return;
		}
		/*
		 * Pairs with bshm_view_current(): a reader that sees a bit zeroed here also sees at least
		 * the generation read above. The fence of the dead process orders its own stores, not
		 * these.
		 */
		BSHM_FENCE(RELEASE);
		const uint32_t count = view.newest.partition_count;
		uint32_t done = zeroed ? count : BSHM_LOAD(&op->done, RELAXED);
		for (uint32_t step = 0; done < count && step < BSHM_CLEAR_STEP; step++) {
			bshm__partition_zero(bshm__parts_at(&view.newest, done++));
		}
		BSHM_STORE(&op->done, done, RELAXED);
		if (done < count) {
			bshm__view_release(&view);
			return;
		}
		if (status == BSHM_OK) {
			clear_publish(segment, op, index, &view, &descriptor);
		}
	}
	bshm__view_release(&view);
	bshm__op_end(segment, op);
}

/* ------------------------------------------------------------------ the lock */

/* Ends the ops of dead processes and those that were given up; finishes clears. */
static void reap_ops(bshm_segment *segment)
{
	bool cleared = false; /* one clear a time: its step may be 8 MB */
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		bshm_op *op = &segment->ops[i];
		/* Pairs with bshm__op_begin(), and with what gives an op up: give_up(), clear_zero(). */
		const uint64_t owner = BSHM_LOAD(&op->owner, ACQUIRE);
		const uint32_t entry = BSHM_LOAD(&op->entry, RELAXED);
		if (entry == 0 || (owner != 0 && bshm__owner_alive(segment, owner))) {
			continue;
		}
		BSHM_ADD(&segment->header->repairs, owner != 0, RELAXED);
		BSHM_STORE(&op->owner, 0, RELAXED);
		if (op->kind == BSHM_OP_CLEAR && entry <= segment->entry_count &&
			bshm__op_sound(segment, op)) {
			if (!cleared) {
				bshm__clear_finish(segment, op, entry - 1, false);
			}
			cleared = true;
		} else {
			bshm__op_end(segment, op);
		}
	}
}

bshm_status bshm__lock(bshm_segment *segment, uint64_t wait_ns, bshm_error *error)
{
	bool dead;
	const bshm_status status = bshm__lock_take(segment, wait_ns, &dead, error);
	if (status != BSHM_OK) {
		return status;
	}
	if (dead) {
		BSHM_ADD(&segment->header->repairs, 1, RELAXED);
		bshm__directory_repair(segment);
	}
	reap_ops(segment);
	return BSHM_OK;
}

bshm_status bshm__lock_settled(bshm_segment *segment, const bshm__name *name, uint64_t deadline,
	uint32_t *index, bshm_descriptor *descriptor, bshm_status *current, bshm_error *error)
{
	for (;;) {
		const uint64_t now = bshm_os_monotonic_ns();
		const uint64_t left = now < deadline ? deadline - now : 0;
		const bshm_status status =
			bshm__lock(segment, left > BSHM_LOCK_PAGE_NS ? left : BSHM_LOCK_PAGE_NS, error);
		if (status != BSHM_OK) {
			return status;
		}
		*current = bshm__entry_current(segment, name, index, descriptor);
		if (*current != BSHM_E_BUSY) {
			return BSHM_OK;
		}
		bshm__unlock(segment);
		if (bshm_os_monotonic_ns() > deadline) {
			return bshm__fail(error, BSHM_E_TIMEOUT, BSHM_CAUSE_CLEAR);
		}
		bshm_os_sleep_us(CLEAR_NAP_US);
	}
}

bshm_status bshm__space_look(bshm_segment *segment, bshm__space *out, bshm_error *error)
{
	uint64_t *claimed = bshm__blocks_map(segment);
	if (claimed == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	const bool locked = bshm__lock(segment, BSHM_LOCK_PAGE_NS, error) == BSHM_OK;
	*out = bshm__blocks_survey(segment, claimed, locked);
	if (locked) {
		bshm__unlock(segment);
	}
	free(claimed);
	return BSHM_OK;
}
