/*
 * filter_remove.c - takes an add of a key back, and says how often the key was added.
 *
 * Only kinds that count can do so (counting.c). Removing takes the lock. Reading the count is a
 * question like any other, and takes none.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include "core/filter/kind.h"
#include "core/filter/lag.h"
#include "core/filter/mend.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "core/segment/lock.h"
#include "core/segment/segment.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

/* Under the lock: no other process removes, and the published set stays in force. */
static int remove_locked(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const char *key, size_t key_length, bshm_error *error)
{
	bshm_view *view;
	const bshm_status status = bshm_view_open(segment, views, name, name_length, &view);
	if (status != BSHM_OK) {
		return bshm__fail(error, status, BSHM_CAUSE_FILTER);
	}
	if (view->kind->count == NULL) {
		return bshm__fail(error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_COUNTING);
	}
	const bshm_hash h = bshm__hash_key(key, key_length, view->seed);
	const uint32_t count = view->kind->count(view, h);
	if (count == 0) {
		return 0;
	}
	view->kind->take_back(view, h);
	if (count == 1) {
		uint64_t *items = &segment->entries[view->entry].items[view->descriptor.items_slot & 1];
		uint64_t before = BSHM_LOAD(items, RELAXED);
		while (before != 0 && !BSHM_CAS(items, &before, before - 1, RELAXED)) {
		}
	}
	return 1;
}

int bshm_filter_remove(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const char *key, size_t key_length, bshm_error *error)
{
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		/* Resolving the name may allocate: do it before the lock is taken. */
		bshm_view *view;
		bshm_view_open(segment, views, name, name_length, &view);
		int status = bshm__lock(segment, BSHM_LOCK_PAGE_NS, error);
		if (status != BSHM_OK) {
			return status;
		}
		status = remove_locked(segment, views, name, name_length, key, key_length, error);
		bshm__unlock(segment);
		if (status != BSHM_E_BUSY) {
			return status;
		}
		bshm_os_sleep_us(500); /* it is being cleared */
	}
	return bshm__fail(error, BSHM_E_TIMEOUT, BSHM_CAUSE_CLEAR);
}

int bshm_filter_count(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const char *key, size_t key_length)
{
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		bshm_view *view;
		const bshm_status status = bshm_view_open(segment, views, name, name_length, &view);
		if (status != BSHM_OK) {
			return status;
		}
		if (view->kind->count == NULL) {
			return BSHM_E_INCOMPATIBLE;
		}
		const bshm_hash h = bshm__hash_key(key, key_length, view->seed);
		const uint32_t count = bshm__view_stale(view) ? BSHM_COUNT_MAX : view->kind->count(view, h);
		if (bshm__view_current(view)) {
			return (int) count;
		}
	}
	return BSHM_E_BUSY;
}
