/*
 * sound.h - reads descriptors and layers out of the segment, and says whether they are sound.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_SOUND_H
#define BSHM_SOUND_H

#include "core/format.h"
#include "core/segment/name.h"
#include "core/segment/segment.h"

/* Copies a descriptor out of the segment word by word. */
bshm_descriptor bshm__descriptor_read(const bshm_entry *entry, uint64_t generation);
/* Over the descriptor and the name it was published under; an absent one has no name. */
uint64_t bshm__descriptor_check(
	const bshm_segment *segment, const bshm_descriptor *descriptor, const bshm__name *name);
bool bshm__descriptor_sound(const bshm_segment *segment, const bshm__name *name,
	const bshm_descriptor *descriptor, uint64_t generation);

/* The descriptor of a set that follows no other. */
void bshm__descriptor_localize(bshm_descriptor *descriptor);

uint64_t bshm__layer_check(const bshm_segment *segment, const bshm_layer *layer);
bool bshm__layer_sound(const bshm_segment *segment, const bshm_layer *layer);
/*
 * All layers of a sound descriptor, the oldest first, checked one by the other; false: damaged, or
 * the descriptor is not in force any more.
 */
bool bshm__layers_read(const bshm_segment *segment, const bshm_descriptor *descriptor,
	bshm_layer layers[BSHM_LAYERS_MAX]);

#endif
