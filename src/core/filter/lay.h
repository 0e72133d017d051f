/*
 * lay.h - lays a view over the layers of a filter.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_LAY_H
#define BSHM_LAY_H

#include "core/bshm.h"
#include "core/filter/view.h"
#include "core/format.h"
#include "core/status.h"

/* Lays a view over layers: OK, NO_SPACE (private memory), or CORRUPT. */
bshm_status bshm__view_lay(const bshm_segment *segment, bshm_view *view,
	const bshm_descriptor *descriptor, const bshm_layer *layers);
void bshm__view_release(bshm_view *view);

/* Fills the error of a view that could not be laid. */
static inline bshm_status bshm__view_fail(bshm_status status, bshm_error *error)
{
	return bshm__fail(
		error, status, status == BSHM_E_CORRUPT ? BSHM_CAUSE_LINKS : BSHM_CAUSE_MEMORY);
}

#endif
