/*
 * share.h - which share of what was evicted lately were records on probation.
 *
 * `probation` of a shard has two means of it: bits 0 to 15 over the last evictions, and bits 16 to
 * 31 over as many, or more. Each is the share in 2^-16, less a half. It is a share of the number of
 * records, or, where memory is the limit, of their bytes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_SHARE_H
#define BSHM_CACHE_SHARE_H

#include "core/cache/size.h"

#define BSHM_SHARE_ONE 65536

/* From the lower half of a word; at least 1. */
static inline int32_t bshm__share_in(uint32_t word)
{
	const int32_t share = BSHM_SHARE_ONE / 2 + (int16_t) (uint16_t) word;
	return share < 1 ? 1 : share;
}

/*
 * The half word after one more eviction, as a mean over `every`, BSHM_SIZE_MOST or more. `parts`
 * counts of the record that goes (size.h); `its` is that if it was on probation, or 0. Rounded up
 * as often as the remainder is large: else a small share would count too high.
 */
static inline uint32_t bshm__share_after(
	uint32_t word, uint32_t its, uint32_t parts, uint32_t every, uint64_t evictions)
{
	const int64_t all = (int64_t) BSHM_SIZE_ONE * every;
	const int64_t rest = (int64_t) (evictions % every) * BSHM_SIZE_ONE;
	const int64_t before = bshm__share_in(word);
	const int64_t after = (before * (all - parts) + BSHM_SHARE_ONE * (int64_t) its + rest) / all;
	const int64_t most = after < BSHM_SHARE_ONE ? after : BSHM_SHARE_ONE - 1;
	return (uint16_t) (most - BSHM_SHARE_ONE / 2);
}

#endif
