/*
 * add_layer.h - one more layer for a filter that is full.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_ADD_LAYER_H
#define BSHM_ADD_LAYER_H

#include "core/bshm.h"
#include "core/filter/view.h"

/*
 * Gives the viewed filter one more layer. OK: it has one more, or was replaced: look again. If
 * another process is growing it, `wait` waits for that process, and after 50 ms makes a layer
 * nevertheless; without `wait` the call returns. NO_SPACE, TIMEOUT, CORRUPT.
 */
bshm_status bshm__filter_grow(
	bshm_segment *segment, const bshm_view *view, bool wait, bshm_error *error);

#endif
