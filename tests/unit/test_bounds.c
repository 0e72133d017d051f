/*
 * test_bounds.c - how much work a call does while it holds a lock: docs/CONCURRENCY.md, "Bounds".
 *
 * What is counted are accesses to shared words (platform/counted.h), not time.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_store.h"

#include <stdio.h>

/* Accesses of one step of a clear: 64 buckets of records and what overflowed, with one resize. */
#define CLEAR_MOST 300000u
/* 1,024 records, with the buckets of a table, the chunks of a large record, or a page. */
#define VERIFY_MOST 200000u
/* The 1,835 old chunks are freed; else 256 are taken, or room is made. */
#define LARGE_MOST 60000u

typedef struct {
	uint64_t most;     /* accesses of one hold */
	uint64_t accesses; /* of the whole call */
} cost;

static cost cost_of(void (*call)(bshm_segment *), bshm_segment *segment)
{
	bshm__held = (bshm_held){0};
	call(segment);
	return (cost){bshm__held.most, bshm__held.accesses};
}

static void put_number(bshm_segment *segment, uint32_t number)
{
	char name[24];
	const int key_bytes = snprintf(name, sizeof(name), "key:%u", number);
	const bshm_put put = {
		.key = {name, (size_t) key_bytes}, .value = {BSHM_VALUE_INT, &put, sizeof(int64_t)}};
	bshm_error error;
	REQUIRE(bshm_record_put(segment, &put, &error) == 1);
}

static bshm_segment *filled_store(uint64_t bytes, uint32_t records)
{
	bshm_segment *segment = open_store(bytes, 0);
	for (uint32_t i = 0; i < records; i++) {
		put_number(segment, i);
	}
	return segment;
}

static void clear_all(bshm_segment *segment)
{
	bshm_records_clear(segment, &(bshm_key){"", 0});
}

static void clear_none(bshm_segment *segment)
{
	bshm_records_clear(segment, &(bshm_key){"none", 4});
}

/* Removes the records by name, in the order of the tables: all in the first buckets go first. */
static void remove_in_order(bshm_segment *segment)
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

TEST(a_clear_holds_a_lock_for_a_step)
{
	bshm_segment *segment = filled_store(MB(16), 400000);
	const cost none = cost_of(clear_none, segment);
	CHECK_INT(none.most, 0); /* takes no lock */
	const cost all = cost_of(clear_all, segment);
	test_note("a step: %llu, all: %llu", (unsigned long long) all.most,
		(unsigned long long) all.accesses);
	CHECK(all.most <= CLEAR_MOST);
	CHECK(all.accesses < UINT64_C(400000) * 150);
	CHECK_INT(records_of(segment), 0);
}

/* A value of 15 MB, which is then replaced. */
static void put_large(bshm_segment *segment)
{
	for (uint64_t serial = 0; serial < 2; serial++) {
		CHECK_INT(store_put(segment, 1, serial, 15000000, 0, BSHM_PUT_SET), 1);
	}
}

/* Its bytes are no accesses to words: they are copied while the lock is not held. */
TEST(a_large_value_is_put_in_steps)
{
	bshm_segment *segment = open_store(MB(64), 0);
	const cost all = cost_of(put_large, segment);
	test_note("a step: %llu, all: %llu, %llu holds", (unsigned long long) all.most,
		(unsigned long long) all.accesses, (unsigned long long) bshm__held.holds);
	CHECK(all.most <= LARGE_MOST);
	CHECK(bshm__held.holds >= 2 * 15000000 / 8176 / 256);
}

static void verify(bshm_segment *segment)
{
	check_sound(segment);
}

TEST(the_validator_holds_a_lock_for_a_step)
{
	bshm_segment *segment = filled_store(MB(16), 400000);
	const uint32_t large = (uint32_t) MB(3);
	CHECK_INT(store_put(segment, 1, 1, large, 0, BSHM_PUT_SET), 1);
	const cost all = cost_of(verify, segment);
	test_note("a step: %llu, all: %llu", (unsigned long long) all.most,
		(unsigned long long) all.accesses);
	CHECK(all.most <= VERIFY_MOST);
}

TEST(records_that_go_in_the_order_of_a_table_resize_it_seldom)
{
	bshm_segment *segment = filled_store(MB(16), 100000);
	const cost all = cost_of(remove_in_order, segment);
	test_note("a record: %llu", (unsigned long long) all.accesses / 100000);
	CHECK(all.accesses < UINT64_C(100000) * 600);
	CHECK_INT(records_of(segment), 0);
}
