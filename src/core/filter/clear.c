/*
 * clear.c - takes all keys out of a filter.
 *
 * Under the lock an op is registered, and the filter is published as being cleared: the answer to
 * every question is "maybe" from then on, and adders note their keys in the op's journal. Without
 * the lock the bits are zeroed. Under it again, what was added meanwhile is put in, and the filter
 * is published anew. When the process dies in between, the next one that takes the lock goes on
 * (mend.c).
 *
 * A sliding filter is cleared with one store: all its lanes are over at once.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include "core/base.h"
#include "core/filter/kind.h"
#include "core/filter/lay.h"
#include "core/filter/mend.h"
#include "core/filter/partition.h"
#include "core/filter/view.h"
#include "core/segment/directory.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/ops.h"
#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

/*
 * Under the lock: registers the clear and takes the filter out of service. One that has grown is
 * left with its first layer, as it was reserved; the others' partitions are free from here on.
 */
static bshm_status clear_begin(bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor,
	bshm_view *view, bshm_op **op, bshm_error *error)
{
	bshm_layer layers[BSHM_LAYERS_MAX];
	if (!bshm__layers_read(segment, descriptor, layers)) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_LAYERS);
	}
	descriptor->newest = layers[0];
	descriptor->layer_count = 1;
	bshm_status status = bshm__view_lay(segment, view, descriptor, layers);
	if (status != BSHM_OK) {
		return bshm__fail(
			error, status, status == BSHM_E_CORRUPT ? BSHM_CAUSE_LINKS : BSHM_CAUSE_MEMORY);
	}
	*op = bshm__op_begin(segment, BSHM_OP_CLEAR, index, descriptor->seed, bshm__counts(descriptor));
	if (*op == NULL) {
		return bshm__fail_sizes(
			error, BSHM_E_NO_SPACE, BSHM_CAUSE_OPS, BSHM_OP_COUNT + 1, BSHM_OP_COUNT);
	}
	/* Claimed by the op too: no other op gets the partitions while they are being zeroed. */
	bshm__op_claim(segment, *op, &descriptor->newest.run);
	descriptor->state = BSHM_STATE_CLEARING;
	bshm__entry_publish(segment, index, descriptor, 0);
	return BSHM_OK;
}

/* Under the lock: all lanes of the filter are over at once, and no partition is touched. */
static void expire(bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor)
{
	bshm__kinds[descriptor->kind]->expire(segment, descriptor);
	descriptor->published_s = bshm__bits(bshm_os_wall_s());
	bshm__entry_publish(segment, index, descriptor, 0);
}

/*
 * The process that works on an op. If it is not the op's owner any more, others finish the op, and
 * have its partitions.
 */
typedef struct {
	uint64_t owner;
	uint64_t serial;
} worker;

static bool is_worker(const bshm_op *op, const worker *w)
{
	/* Pairs with bshm__op_begin(). */
	return BSHM_LOAD(&op->owner, ACQUIRE) == w->owner &&
		   BSHM_LOAD(&op->serial, RELAXED) == w->serial;
}

static bshm_status fail_lost(const bshm_segment *segment, bshm_error *error)
{
	return segment->slot_lost ? bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_DESCRIPTORS)
							  : bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_OP);
}

/* The part of a clear without the lock, and its end. */
static bshm_status clear_zero(bshm_segment *segment, uint32_t index, const bshm_view *view,
	bshm_op *op, worker w, bshm_error *error)
{
	for (uint32_t i = 0; i < view->newest.partition_count; i++) {
		if (i % BSHM_CLEAR_STEP == 0 && !is_worker(op, &w)) {
			return fail_lost(segment, error);
		}
		bshm__partition_zero(bshm__parts_at(&view->newest, i));
	}
	bshm_status status = bshm__lock(segment, BSHM_LOCK_BATCH_NS, error);
	if (status != BSHM_OK) {
		/* The next process that takes the lock finishes it: pairs with reap_ops(). */
		BSHM_CAS(&op->owner, &w.owner, 0, RELEASE);
		return status;
	}
	if (is_worker(op, &w)) {
		bshm__clear_finish(segment, op, index, true);
	} else {
		status = fail_lost(segment, error);
	}
	bshm__unlock(segment);
	return status;
}

int bshm_filter_clear(
	bshm_segment *segment, const char *name, size_t name_length, bshm_error *error)
{
	const bshm__name padded = bshm__name_of(name, name_length);
	uint32_t index;
	bshm_descriptor descriptor;
	bshm_status current;
	const uint64_t deadline = bshm_os_monotonic_ns() + BSHM_LOCK_BATCH_NS;
	bshm_status status =
		bshm__lock_settled(segment, &padded, deadline, &index, &descriptor, &current, error);
	if (status != BSHM_OK) {
		return status;
	}
	bshm_view view = {0};
	bshm_op *op = NULL;
	if (current == BSHM_OK && bshm__kinds[descriptor.kind]->expire != NULL) {
		expire(segment, index, &descriptor);
	} else if (current == BSHM_OK) {
		status = clear_begin(segment, index, &descriptor, &view, &op, error);
	} else if (current == BSHM_E_CORRUPT) {
		status = bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_DESCRIPTOR);
	}
	const worker me = {segment->owner, op == NULL ? 0 : op->serial};
	bshm__unlock(segment);
	if (op != NULL) {
		status = clear_zero(segment, index, &view, op, me, error);
	}
	bshm__view_release(&view);
	return status < 0 ? status : current == BSHM_OK;
}
