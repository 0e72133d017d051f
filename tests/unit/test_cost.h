/*
 * test_cost.h - how many accesses to shared words a call makes (platform/counted.h).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_COST_H
#define BSHM_TEST_COST_H

#include "core/bshm.h"
#include "platform/counted.h"

typedef struct {
	uint64_t most;     /* accesses of one hold */
	uint64_t accesses; /* of the whole call */
} cost;

static inline cost cost_of(void (*call)(bshm_segment *), bshm_segment *segment)
{
	bshm__held = (bshm_held){0};
	call(segment);
	return (cost){bshm__held.most, bshm__held.accesses};
}

#endif
