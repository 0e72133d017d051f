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

/* Lays a view over layers: OK, NO_SPACE (private memory), or CORRUPT. */
bshm_status bshm__view_lay(const bshm_segment *segment, bshm_view *view,
	const bshm_descriptor *descriptor, const bshm_layer *layers);
void bshm__view_release(bshm_view *view);

#endif
