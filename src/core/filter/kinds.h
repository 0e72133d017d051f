/*
 * kinds.h - adding a hash to a view, whatever its kind.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_KINDS_H
#define BSHM_KINDS_H

#include "core/filter/bits.h"
#include "core/filter/sliding.h"
#include "core/filter/view.h"

/*
 * Sets a hash in the newest layer; true: it was certainly not there. Under the lock, or in a filter
 * that is not published yet; a plain or growing one: always.
 */
static inline bool bshm__view_put(const bshm_view *view, bshm_hash h)
{
	const uint32_t kind = view->descriptor.kind;
	return kind == BSHM_KIND_SLIDING ? bshm__sliding_put(view, h)
									 : bshm__bits_put(kind, &view->newest, h, false);
}

#endif
