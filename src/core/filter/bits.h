/*
 * bits.h - adding a hash to a partition of any kind but a sliding one.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_BITS_H
#define BSHM_BITS_H

#include "core/filter/counters.h"
#include "core/filter/partition.h"
#include "core/filter/view.h"

/* True: the hash was certainly not there. `alone`: no other process writes the partition. */
static inline bool bshm__bits_put(uint32_t kind, const bshm__parts *parts, bshm_hash h, bool alone)
{
	uint64_t *words = bshm__parts_of(parts, h);
	switch (kind) {
		case BSHM_KIND_COUNTING:
			return bshm__counters_add(words, h, parts->hash_count);
		case BSHM_KIND_GROWING:
			return bshm__line_add(words, h, parts->hash_count, alone);
		default:
			return bshm__partition_add(words, h, parts->hash_count, alone);
	}
}

#endif
