/*
 * test_find_fork.c - the child of a fork that asks the record store before it has written.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_store.h"

static bshm_segment *segment;

static bool is_there(uint32_t number)
{
	uint64_t serial = 0;
	uint32_t length = 0;
	return store_get(segment, number, &serial, &length) == 1;
}

static void ask(void)
{
	for (uint32_t i = 0; i < 10; i++) {
		CHECK(is_there(i));
		CHECK(!is_there(100 + i));
	}
	CHECK(segment->owner != 0); /* a slot of its own */
}

static bshm_store_info info(void)
{
	bshm_store_info out;
	bshm_store_stat(segment, &out);
	return out;
}

TEST(a_forks_child_counts_what_it_finds)
{
	segment = open_store(MB(1), 0);
	for (uint32_t i = 0; i < 10; i++) {
		REQUIRE(store_put(segment, i, i, 100, 0, BSHM_PUT_SET) == 1);
	}
	const bshm_store_info before = info();
	for (int i = 0; i < 3; i++) {
		CHECK_INT(finish(spawn(ask)), 0);
	}
	const bshm_store_info after = info();
	CHECK_INT(after.hits - before.hits, 30);
	CHECK_INT(after.misses - before.misses, 30);
	check_sound(segment);
}

/* Without the file there is no slot to be had: it asks all the same. */
static void ask_without_a_file(void)
{
	unlink(test_path("segment"));
	for (uint32_t i = 0; i < 10; i++) {
		CHECK(is_there(i));
		CHECK(!is_there(100 + i));
	}
	CHECK_INT(segment->owner, 0);
	CHECK_INT(store_put(segment, 200, 1, 100, 0, BSHM_PUT_SET), BSHM_E_UNAVAILABLE);
}

TEST(a_forks_child_whose_file_is_gone_asks_and_cannot_write)
{
	segment = open_store(MB(1), 0);
	for (uint32_t i = 0; i < 10; i++) {
		REQUIRE(store_put(segment, i, i, 100, 0, BSHM_PUT_SET) == 1);
	}
	const bshm_store_info before = info();
	CHECK_INT(finish(spawn(ask_without_a_file)), 0);
	CHECK_INT(info().hits - before.hits, 10);
}
