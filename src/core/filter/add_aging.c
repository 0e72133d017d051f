/*
 * add_aging.c - adding a key to a filter whose keys age.
 *
 * The kind adds without the lock (sliding.c), unless the partition must be rotated before: that is
 * done here, under the lock. If the partition was rotated while the key was added, its bits may be
 * gone, so the key is added again.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/add_aging.h"

#include "core/filter/kind.h"
#include "core/filter/mend.h"
#include "core/filter/view.h"
#include "core/segment/lock.h"
#include "core/segment/segment.h"
#include "core/status.h"

/* Rotates a partition under the lock, if it still belongs to the filter. */
static bshm_status rotate(
	bshm_segment *segment, const bshm_view *view, uint64_t *words, bshm_error *error)
{
	const bshm_status status = bshm__lock(segment, BSHM_LOCK_PAGE_NS, error);
	if (status == BSHM_OK) {
		if (bshm__view_current(view)) {
			view->kind->rotate(view, words);
		}
		bshm__unlock(segment);
	}
	return status;
}

int bshm__add_aging(
	bshm_segment *segment, const bshm_view *view, bshm_hash h, int answer, bshm_error *error)
{
	uint64_t *words = bshm__parts_of(&view->newest, h);
	int first = -1;
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		answer = tries == 0 ? answer : view->kind->add(view, words, h);
		if (answer == BSHM_ADD_ROTATE) {
			const bshm_status status = rotate(segment, view, words, error);
			if (status != BSHM_OK) {
				return status;
			}
			answer = view->kind->add(view, words, h);
		}
		if (answer != BSHM_ADD_ROTATE && first < 0) {
			first = answer & BSHM_ADD_NEW; /* later attempts find the bits of the first */
		}
		if ((answer & ~BSHM_ADD_NEW) == 0 || !bshm__view_current(view)) {
			return first < 0 ? BSHM_ADD_MAYBE : first;
		}
	}
	return bshm__fail(error, BSHM_E_TIMEOUT, BSHM_CAUSE_EPOCH);
}
