/*
 * geometry.h - sizes and rates.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_GEOMETRY_H
#define BSHM_GEOMETRY_H

#include "core/bshm.h"
#include "core/filter/kind.h"
#include "core/filter/view.h"
#include "core/format.h"

bshm_geometry bshm__geometry(const bshm__kind *kind, double error_rate, uint64_t capacity);
/* Does a growing filter of this capacity need more than one partition to begin with? */
bool bshm__is_sized(const bshm__kind *kind, double error_rate, uint64_t capacity);
/* Describes the first layer, for descriptor->capacity keys or more; and the one after `last`. */
bshm_layer bshm__layer_first(const bshm_descriptor *descriptor, uint64_t *partition_count);
bshm_layer bshm__layer_next(const bshm_descriptor *descriptor, const bshm_layer *first,
	const bshm_layer *last, uint64_t *partition_count);

/* Rates, and a sliding filter's items, follow from at most `most` partitions of each layer. */
bshm_info bshm__info_of(
	const bshm_view *view, const bshm_layer *layers, uint64_t items, uint32_t most);
/* About how many different keys set the bits of a layer, the oldest being layer 0. */
double bshm__layer_items(const bshm_view *view, uint32_t layer);

#endif
