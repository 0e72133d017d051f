/*
 * test_bounds.h - stores whose work under a lock is counted.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_BOUNDS_H
#define BSHM_TEST_BOUNDS_H

#include "test_cost.h"
#include "test_store.h"

#include <stdio.h>

static inline void put_number(bshm_segment *segment, uint32_t number)
{
	char name[24];
	const int key_bytes = snprintf(name, sizeof(name), "key:%u", number);
	const bshm_put put = {
		.key = {name, (size_t) key_bytes}, .value = {BSHM_VALUE_INT, &put, sizeof(int64_t)}};
	bshm_error error;
	REQUIRE(bshm_record_put(segment, &put, &error) == 1);
}

static inline bshm_segment *filled_store(uint64_t bytes, uint32_t records)
{
	bshm_segment *segment = open_store(bytes, 0);
	for (uint32_t i = 0; i < records; i++) {
		put_number(segment, i);
	}
	return segment;
}

/* Removes the records by name, in the order of the tables: all in the first buckets go first. */
static inline void remove_in_order(bshm_segment *segment)
{
	bshm_scan scan = {0};
	bshm_error error;
	do {
		bshm_scan_next(segment, &scan, 0);
		for (unsigned i = 0; i < scan.count; i++) {
			bshm_record_remove(segment, 0, &scan.keys[i], &error);
		}
	} while (scan.cursor != 0);
	bshm_scan_free(&scan);
}

#endif
