/*
 * layers.h - the older layers of a filter: layers[] of the segment.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_LAYERS_H
#define BSHM_LAYERS_H

#include "core/format.h"
#include "core/segment/segment.h"

/*
 * Under the lock: stores `count` layers, the oldest first, for a descriptor that is not in force
 * yet. The newest goes into the descriptor, the others into free places of layers[]. `map` is
 * scratch (bshm__blocks_map()). False: there are no free places, which cannot be while the segment
 * is sound.
 */
bool bshm__layers_store(bshm_segment *segment, bshm_descriptor *descriptor,
	const bshm_layer *layers, uint32_t count, uint64_t *map);

#endif
