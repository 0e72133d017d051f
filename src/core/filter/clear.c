/*
 * clear.c - takes all keys out of a filter.
 *
 *   1. Under the lock: register an op, and publish the filter as being cleared. From then on the
 *      answer to every question is "maybe", and adders note their keys in the op's journal.
 *   2. Without the lock: zero the bits.
 *   3. Under the lock: add the journal's keys, and publish the filter anew.
 *
 * If the process dies on the way, the next process that takes the lock goes on (mend.c). The clear
 * cannot be undone, because some bits are zero by then.
 *
 * A kind whose keys age is cleared with one store: all of its lanes expire at once.
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
 * Under the lock: registers the clear and takes the filter out of service. A filter that has grown
 * keeps its first layer only, as it was reserved; the partitions of the others are free from here
 * on.
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
	bshm__descriptor_localize(descriptor);
	bshm_status status = bshm__view_lay(segment, view, descriptor, layers);
	if (status != BSHM_OK) {
		return bshm__view_fail(status, error);
	}
	*op = bshm__op_begin(segment, BSHM_OP_CLEAR, index, descriptor->seed, bshm__counts(descriptor));
	if (*op == NULL) {
		return bshm__fail_ops(error);
	}
	/* The op claims the partitions too: if the filter is replaced, they are not given away yet. */
	bshm__op_claim(segment, *op, &descriptor->newest.run);
	descriptor->state = BSHM_STATE_CLEARING;
	bshm__entry_publish(segment, index, descriptor, 0);
	return BSHM_OK;
}

/* Under the lock: all keys expire at once, and no partition is touched. */
static void expire(bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor)
{
	bshm__kinds[descriptor->kind]->expire(segment, descriptor);
	bshm__descriptor_localize(descriptor);
	descriptor->published_s = bshm__bits(bshm_os_wall_s());
	bshm__entry_publish(segment, index, descriptor, 0);
}

/*
 * The process that works on an op. Once the op has another owner or serial, other processes finish
 * it, and its partitions may belong to another filter.
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

/* Steps 2 and 3. Checks now and then whether the op still belongs to this process. */
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
