/*
 * octave.h - logarithms of ages and sizes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_OCTAVE_H
#define BSHM_CACHE_OCTAVE_H

#include "core/cache/slab.h"

#define BSHM_OCTAVE (1 << 24) /* a factor of two, in logarithms */

/* 2^log in 256ths, by straight lines between the powers of two. */
static inline uint64_t bshm__power_of(uint64_t log)
{
	return (256 + log % BSHM_OCTAVE / (BSHM_OCTAVE / 256)) << (log / BSHM_OCTAVE);
}

/* log2 of the bytes of a record, with what it takes beside key and value: 4 octaves or more. */
static inline uint64_t bshm__size_log(uint64_t bytes)
{
	const uint64_t all = bytes + BSHM_RECORD_EXTRA;
	const uint32_t octaves = BSHM_HIGHEST_BIT(all);
	return (all * BSHM_OCTAVE >> octaves) + (uint64_t) (octaves - 1) * BSHM_OCTAVE;
}

/* log2 of an age and one epoch more. */
static inline int64_t bshm__age_log(uint32_t age)
{
	return (int64_t) (bshm__size_log((uint64_t) age * BSHM_RECORD_EXTRA) - bshm__size_log(0));
}

#define BSHM_PACKED_MOST 63u

/* A number in six bits, rounded down to a quarter of an octave: 114,688 at most. */
static inline uint32_t bshm__packed(uint32_t number)
{
	const uint32_t octave = number < 4 ? 1 : BSHM_HIGHEST_BIT(number);
	const uint32_t packed = number < 4 ? number : (octave - 1) * 4 + (number >> (octave - 2) & 3);
	return packed < BSHM_PACKED_MOST ? packed : BSHM_PACKED_MOST;
}

static inline uint32_t bshm__unpacked(uint32_t packed)
{
	return packed < 4 ? packed : (4 + packed % 4) << (packed / 4 - 1);
}

#endif
