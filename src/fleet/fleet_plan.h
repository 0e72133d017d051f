/*
 * fleet_plan.h - the cheapest way from the image that is here to the newest one.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_PLAN_H
#define FLEET_PLAN_H

#include "fleet/fleet_head.h"

/* What to fetch: deltas, or the whole image. */
typedef struct {
	uint64_t bytes;
	unsigned count;                   /* of the deltas; 0: the whole image */
	uint8_t deltas[FLEET_DELTAS_MAX]; /* of the head, in the order in which they are applied */
} fleet_route;

/*
 * The route of the fewest bytes from the image to that of the head. A delta leads both ways. Those
 * with their bit in `without` are not used. If the whole image has no more bytes than the deltas it
 * is taken. `image` is not the head's. Cost: at most 841 steps.
 */
void fleet_plan(const fleet_head *head, uint64_t image, uint32_t without, fleet_route *out);

#endif
