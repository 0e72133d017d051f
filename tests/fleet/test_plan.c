/*
 * test_plan.c - the planner finds what trying all ways finds.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "fleet/fleet_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define IMAGES 7
#define DELTAS 9

/* The image of the head has this number in its first digits. */
static void set_image(fleet_head *head, uint64_t image)
{
	memset(head->image.text, '0', FLEET_HASH_CHARACTERS);
	snprintf(head->image.text, sizeof(head->image.text), "%016" PRIx64, image);
	head->image.text[16] = '0';
}

/* The fewest bytes from one image to another by deltas that were not used yet. */
static uint64_t try_all(
	const fleet_head *head, uint64_t from, uint64_t to, uint32_t without, uint64_t most)
{
	if (from == to) {
		return 0;
	}
	for (unsigned i = 0; i < head->delta_count; i++) {
		const fleet_delta *d = &head->deltas[i];
		if ((without >> i & 1) == 0 && (d->from == from || d->to == from) && d->bytes < most) {
			const uint64_t next = d->from == from ? d->to : d->from;
			const uint64_t bytes =
				d->bytes + try_all(head, next, to, without | 1u << i, most - d->bytes);
			most = bytes < most ? bytes : most;
		}
	}
	return most;
}

static void check_route(const fleet_head *head, uint64_t from, uint32_t without)
{
	fleet_route route;
	uint64_t bytes = 0;
	uint64_t at = from;
	fleet_plan(head, from, without, &route);
	CHECK_INT(
		route.bytes, try_all(head, from, fleet_image_id(&head->image), without, head->image_bytes));
	for (unsigned i = 0; i < route.count; i++) {
		const fleet_delta *d = &head->deltas[route.deltas[i]];
		CHECK((without >> route.deltas[i] & 1) == 0);
		CHECK(d->from == at || d->to == at);
		at = d->from == at ? d->to : d->from;
		bytes += d->bytes;
	}
	if (route.count > 0) {
		CHECK_INT(at, fleet_image_id(&head->image));
		CHECK_INT(bytes, route.bytes);
	} else {
		CHECK_INT(route.bytes, head->image_bytes);
	}
}

TEST(the_route_has_the_fewest_bytes)
{
	uint64_t seed = test_seed();
	for (int round = 0; round < 3000; round++) {
		fleet_head head = {.image_bytes = 1 + test_random(&seed) % 400,
			.delta_count = (unsigned) (test_random(&seed) % (DELTAS + 1))};
		set_image(&head, test_random(&seed) % IMAGES);
		for (unsigned i = 0; i < head.delta_count; i++) {
			head.deltas[i].from = test_random(&seed) % IMAGES;
			head.deltas[i].to = test_random(&seed) % IMAGES;
			head.deltas[i].bytes = 1 + test_random(&seed) % 100;
		}
		const uint32_t without = test_random(&seed) % 2 ? (uint32_t) test_random(&seed) : 0;
		for (uint64_t from = 0; from < IMAGES + 1; from++) {
			if (from != fleet_image_id(&head.image)) {
				check_route(&head, from, without);
			}
		}
	}
}

TEST(a_day_of_hours_costs_what_its_deltas_cost)
{
	fleet_route route;
	fleet_head head = {.image_bytes = 1000000, .delta_count = FLEET_DELTAS_MAX};
	set_image(&head, 100);
	for (unsigned i = 0; i < FLEET_DELTAS_MAX; i++) {
		head.deltas[i] = (fleet_delta){.bytes = 1000, .from = 99 - i, .to = 100 - i};
	}
	fleet_plan(&head, 76, 0, &route);
	CHECK_INT(route.count, 24);
	CHECK_INT(route.bytes, 24000);
	head.image_bytes = 23999;
	fleet_plan(&head, 76, 0, &route);
	CHECK_INT(route.count, 0);
	CHECK_INT(route.bytes, 23999);
}

TEST(a_pin_leads_back_by_the_same_delta)
{
	fleet_route route;
	fleet_head head = {.image_bytes = 1000, .delta_count = 1};
	set_image(&head, 6);
	head.deltas[0] = (fleet_delta){.bytes = 10, .from = 6, .to = 7};
	fleet_plan(&head, 7, 0, &route);
	CHECK_INT(route.count, 1);
	CHECK_INT(route.bytes, 10);
}
