/*
 * blocks.h - finds free partitions, and takes some.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_BLOCKS_H
#define BSHM_BLOCKS_H

#include "core/format.h"
#include "core/segment/segment.h"

typedef struct {
	uint32_t free;
	uint32_t largest;
} bshm__space;

/* Private scratch: one bit a partition, set where it is claimed. Free with free(). */
uint64_t *bshm__blocks_map(const bshm_segment *segment);
/*
 * Fills the map from what descriptors and ops claim. Under the lock (`locked`) it is exact, and
 * a filter whose descriptor is damaged is unpublished.
 */
bshm__space bshm__blocks_survey(bshm_segment *segment, uint64_t *claimed, bool locked);
/*
 * Under the lock: takes `count` free partitions, neighbours if possible. False: there are not so
 * many; *space says how many there are.
 */
bool bshm__blocks_take(
	bshm_segment *segment, uint32_t count, uint64_t *claimed, bshm_run *run, bshm__space *space);

#endif
