/*
 * add_aging.h - adding a key to a filter whose keys age.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_ADD_AGING_H
#define BSHM_ADD_AGING_H

#include "core/bshm.h"
#include "core/filter/view.h"
#include "core/format.h"

/*
 * Finishes an add whose first attempt, bshm__kind.add(), gave `answer`, which is neither
 * BSHM_ADD_NEW nor BSHM_ADD_MAYBE. Returns one of these, or TIMEOUT and the lock's other failures.
 * In a filter that was replaced meanwhile the answer does not matter: the caller adds again.
 */
int bshm__add_aging(
	bshm_segment *segment, const bshm_view *view, bshm_hash h, int answer, bshm_error *error);

#endif
