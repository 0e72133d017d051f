/*
 * add_layer.c - one more layer for a filter that is full.
 *
 * The layer is made aside, as any filter is (build.c). Under the lock an op is registered and
 * partitions are taken; without the lock they are zeroed. Under the lock again the descriptor with
 * one layer more is published, unless the filter was replaced, or has grown, meanwhile. Keys, bits
 * and count stay where they are. It is the same set, so it keeps its publication number
 * (directory.c), and adders need not add again.
 *
 * The adder that finds the newest layer nearly full begins to make the next one, and the others go
 * on adding. When the layer is full, they wait for the growing process, for 50 ms at most. If it
 * has not published by then, it may have been stopped, and a waiter makes a layer of its own. The
 * first to publish wins, so exactly one layer appears. A process that dies leaves an op, which the
 * next process that takes the lock ends.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/add_layer.h"

#include "core/filter/build.h"
#include "core/filter/geometry.h"
#include "core/filter/mend.h"
#include "core/filter/view.h"
#include "core/segment/directory.h"
#include "core/segment/layers.h"
#include "core/segment/lock.h"
#include "core/segment/ops.h"
#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "core/segment/space.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <string.h>

#define NAP_US 100

/* Without the lock: NO_SPACE if there was no room a moment ago. */
static bshm_status look_for_room(const bshm_build *build, bshm_error *error)
{
	const uint64_t count = build->layers[build->descriptor.layer_count - 1].run.count;
	uint32_t free;
	if (!bshm__space_lacks(build->segment, count, &free)) {
		return BSHM_OK;
	}
	return bshm__fail_sizes(error, BSHM_E_NO_SPACE, BSHM_CAUSE_FILTER_MEMORY,
		count * BSHM_PARTITION_BYTES, (uint64_t) free * BSHM_PARTITION_BYTES);
}

/*
 * Waits for another process that is growing the filter. OK: the filter has changed, or 50 ms are
 * over. NO_SPACE: there is no room for the layer any more.
 */
static bshm_status await_change(const bshm_build *build, const bshm_view *view, bshm_error *error)
{
	const uint64_t deadline = bshm_os_monotonic_ns() + BSHM_LOCK_PAGE_NS;
	bshm_status status = BSHM_OK;
	while (status == BSHM_OK && bshm__view_current(view) && bshm_os_monotonic_ns() <= deadline) {
		bshm_os_sleep_us(NAP_US);
		status = look_for_room(build, error);
	}
	return status;
}

/* Registers the op, and returns 1. 0: the filter has changed, or, with `alone`, another process is
 * growing it. */
static int begin(bshm_build *build, const bshm_view *view, bool alone, bshm_error *error)
{
	bshm_segment *segment = build->segment;
	int status = bshm__lock(segment, build->wait_ns, error);
	if (status != BSHM_OK) {
		return status;
	}
	if (bshm__view_current(view) && !(alone && bshm__entry_is_growing(segment, view->entry))) {
		status = bshm__build_begin_op(build, view->entry, view->seed, false, error);
		status = status == BSHM_OK ? 1 : status;
	}
	bshm__unlock(segment);
	return status;
}

/* Describes the filter with one layer more. */
static bshm_status describe(bshm_build *build, const bshm_view *view, bshm_error *error)
{
	const uint32_t count = view->descriptor.layer_count;
	build->descriptor = view->descriptor;
	if (!bshm__layers_read(build->segment, &view->descriptor, build->layers)) {
		return bshm__view_current(view) ? bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_LAYERS)
										: BSHM_E_BUSY;
	}
	uint64_t partitions;
	const bshm_layer next = bshm__layer_next(
		&view->descriptor, &build->layers[0], &build->layers[count - 1], &partitions);
	if (count == BSHM_LAYERS_MAX || partitions > build->segment->partition_count) {
		return bshm__build_fail_size(build, partitions, error);
	}
	build->layers[count] = next;
	build->layers[count].run.count = (uint32_t) partitions;
	build->descriptor.layer_count = count + 1;
	return BSHM_OK;
}

/* Publishes the layer, if the filter is still the one that it was made for. */
static bshm_status publish(bshm_build *build, const bshm_view *view, bshm_error *error)
{
	bshm_segment *segment = build->segment;
	bshm_status status = bshm__build_lock(build, error);
	if (status != BSHM_OK) {
		return status;
	}
	if (bshm__view_current(view)) {
		const bshm_entry *entry = &segment->entries[view->entry];
		const uint32_t last = build->descriptor.layer_count - 1;
		build->layers[last].items_before =
			BSHM_LOAD(&entry->items[view->descriptor.items_slot & 1], RELAXED);
		if (bshm__layers_store(segment, &build->descriptor, build->layers, last + 1, build->map)) {
			bshm__entry_extend(segment, view->entry, &build->descriptor);
		} else {
			status = bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_LAYERS);
		}
	}
	bshm__op_end(segment, build->op);
	build->op = NULL;
	bshm__unlock(segment);
	return status;
}

bshm_status bshm__filter_grow(
	bshm_segment *segment, const bshm_view *view, bool wait, bshm_error *error)
{
	bshm_build *build = bshm__build_new(segment, &view->name, BSHM_OP_GROW, BSHM_LOCK_PAGE_NS);
	if (build == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	int status = describe(build, view, error);
	if (status == BSHM_OK) {
		status = look_for_room(build, error);
	}
	if (status == BSHM_OK) {
		status = begin(build, view, true, error);
	}
	if (status == 0 && wait) {
		status = await_change(build, view, error);
		status = status == BSHM_OK ? begin(build, view, false, error) : status;
	}
	if (status == 1) {
		status = bshm__build_take(build, view->descriptor.layer_count, error);
	}
	if (status == BSHM_OK && build->op != NULL) {
		bshm__build_zero(build, view->descriptor.layer_count);
		status = publish(build, view, error);
	}
	bshm_build_abort(build);
	return status == BSHM_E_BUSY || status > 0 ? BSHM_OK : status; /* BUSY: it was replaced */
}
