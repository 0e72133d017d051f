/*
 * layers.h - the records of a filter's older layers.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_LAYERS_H
#define BSHM_LAYERS_H

#include "core/format.h"
#include "core/segment/segment.h"

/*
 * Under the lock: makes the `count` layers, the oldest first, those of a descriptor that is not in
 * force yet: all but the last go into free places of layers[]. `map` is scratch
 * (bshm__blocks_map()). False: there are no places, which cannot be while the segment is sound.
 */
bool bshm__layers_store(bshm_segment *segment, bshm_descriptor *descriptor,
	const bshm_layer *layers, uint32_t count, uint64_t *map);

#endif
