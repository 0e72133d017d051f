/*
 * run.h - runs: the partitions of a filter, neighbours or scattered.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_RUN_H
#define BSHM_RUN_H

#include "core/format.h"
#include "core/segment/segment.h"

bool bshm__run_in_bounds(const bshm_segment *segment, const bshm_run *run);
/*
 * Walks a run's partitions in order, checking bounds and checksum; false: it is damaged. Fills
 * `list` (run->count numbers) and sets the bits in `claimed`, where they are not NULL.
 */
bool bshm__run_walk(
	const bshm_segment *segment, const bshm_run *run, uint32_t *list, uint64_t *claimed);
/*
 * Divides a run whose partitions the caller has claimed: part i takes the next counts[i] of them.
 * False: the run is damaged.
 */
bool bshm__run_divide(const bshm_segment *segment, const bshm_run *run, const uint32_t *counts,
	uint32_t parts, bshm_run *out);

/*
 * Under the lock: one run of two, both of which the caller has claimed. Both stay as
 * they are, but for the link of the last partition of `one`. False: one is damaged.
 */
bool bshm__run_join(
	const bshm_segment *segment, const bshm_run *one, const bshm_run *two, bshm_run *out);

/* The checksum of a scattered run, partition by partition (MurmurHash3's finalizer). */
static inline uint64_t bshm__run_check_step(uint64_t check, uint32_t partition)
{
	uint64_t x = check + partition + 1;
	x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ (x >> 33);
}

static inline uint64_t bshm__run_check_end(uint64_t check)
{
	return check == 0 ? 1 : check;
}

#endif
