/*
 * fleet_plan.c - the cheapest way from the image that is here to the newest one.
 *
 * Bellman and Ford's: the images are the places, the deltas the roads.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_plan.h"

#define PLACES_MAX (2 * FLEET_DELTAS_MAX + 2)

typedef struct {
	uint64_t image;
	uint64_t bytes; /* from here to the head's image; UINT64_MAX: no way is known */
	unsigned next;  /* place */
	unsigned delta; /* that leads there */
} place;

static unsigned place_of(place *places, unsigned *count, uint64_t image)
{
	for (unsigned i = 0; i < *count; i++) {
		if (places[i].image == image) {
			return i;
		}
	}
	places[*count] = (place){.image = image, .bytes = UINT64_MAX};
	return (*count)++;
}

/* Does the delta shorten the way from this place? */
static bool shorten(place *places, unsigned from, unsigned to, unsigned delta, uint64_t bytes)
{
	if (places[to].bytes == UINT64_MAX || places[to].bytes + bytes >= places[from].bytes) {
		return false;
	}
	places[from].bytes = places[to].bytes + bytes;
	places[from].next = to;
	places[from].delta = delta;
	return true;
}

void fleet_plan(const fleet_head *head, uint64_t image, uint32_t without, fleet_route *out)
{
	place places[PLACES_MAX] = {0};
	unsigned count = 0;
	bool changed = true;
	const unsigned target = place_of(places, &count, fleet_image_id(&head->image));
	const unsigned start = place_of(places, &count, image);
	places[target].bytes = 0;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < head->delta_count; i++) {
			const fleet_delta *d = &head->deltas[i];
			const unsigned from = place_of(places, &count, d->from);
			const unsigned to = place_of(places, &count, d->to);
			if ((without >> i & 1) == 0) {
				changed |= shorten(places, from, to, i, d->bytes);
				changed |= shorten(places, to, from, i, d->bytes);
			}
		}
	}
	*out = (fleet_route){.bytes = head->image_bytes};
	if (start == target || places[start].bytes >= head->image_bytes) {
		return;
	}
	out->bytes = places[start].bytes;
	for (unsigned at = start; at != target; at = places[at].next) {
		out->deltas[out->count++] = (uint8_t) places[at].delta;
	}
}
