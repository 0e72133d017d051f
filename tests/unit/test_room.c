/*
 * test_room.c - whose room is taken for a large record, or for one of another size: evictions page
 * by page, and how many.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/evict.h"
#include "core/cache/ghost.h"
#include "core/cache/recency.h"
#include "core/cache/room.h"
#include "core/cache/table.h"
#include "test_shard.h"

static void use_records(uint32_t from, uint32_t until)
{
	for (uint32_t i = from; i < until; i++) {
		const uint64_t number = i;
		const bshm_key key = {(const char *) &number, 8};
		bshm_found found;
		CHECK_INT(bshm_record_find(segment, BSHM_SPACE_CACHE, &key, BSHM_FIND_USE, &found), 1);
	}
}

static uint32_t count_present(uint32_t from, uint32_t until)
{
	uint32_t present = 0;
	for (uint32_t i = from; i < until; i++) {
		uint64_t serial = 0;
		uint32_t length = 0;
		present += store_get(segment, i, &serial, &length) == 1;
	}
	return present;
}

/* The most recent quarter weighs most, because none of it was used twice: each page has some of it.
 * It is moved. */
TEST(a_large_value_does_not_evict_the_most_recent_quarter)
{
	const uint32_t count = 120000;
	segment = open_store(MB(8), count + 10);
	s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < count; i++) {
		CHECK_INT(store_put(segment, i, 1, 40, 0, BSHM_PUT_SET), 1);
	}
	for (uint32_t round = 0; round < 3; round++) {
		use_records(0, count);
	}
	/* A quarter is replaced, in the slots of others that lie all over the store. */
	for (uint32_t i = 0; i < count; i += 4) {
		store_remove(segment, i);
	}
	for (uint32_t i = 0; i < count / 4; i++) {
		CHECK_INT(store_put(segment, count + i, 1, 40, 0, BSHM_PUT_SET), 1);
	}
	BSHM_STORE(&s.shard->lean, 4u << 24, RELAXED);
	const uint64_t before = store_evictions(segment);
	CHECK_INT(store_put(segment, UINT32_MAX, 1, 2000000, 0, BSHM_PUT_SET), 1);
	test_note("%u evicted", (unsigned) (store_evictions(segment) - before));
	CHECK(store_evictions(segment) - before > count / 10);
	CHECK_INT(count_present(count, count + count / 4), count / 4);
	check_sound(segment);
}

/* Records of a hundred sizes: no class has a page's worth of free slots for long. */
TEST(room_for_another_size_is_a_page_of_one_class)
{
	segment = open_store(MB(8), 0);
	s = bshm__shard_at(segment, 0);
	uint32_t number = 0;
	while (store_evictions(segment) == 0) {
		CHECK_INT(store_put(segment, number, 1, 4 + number % 250, 0, BSHM_PUT_SET), 1);
		number++;
	}
	uint64_t most = 0;
	for (uint32_t bytes = 300; bytes <= 4000; bytes += 200) {
		const uint64_t before = store_evictions(segment);
		CHECK_INT(store_put(segment, number++, 1, bytes, 0, BSHM_PUT_SET), 1);
		const uint64_t evicted = store_evictions(segment) - before;
		most = evicted > most ? evicted : most;
	}
	test_note("%u records, %u evicted for one", (unsigned) records_of(segment), (unsigned) most);
	CHECK(most <= 64 + 1024 + 256);
	check_sound(segment);
}

/* Then units are free, too, of whatever size. */
TEST(an_eviction_tells_that_a_table_has_become_smaller)
{
	segment = open_store(MB(1), 8191);
	s = bshm__shard_at(segment, 0);
	uint32_t shrunk = 0;
	for (uint32_t i = 0; i < 6000; i++) {
		CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	for (uint32_t i = 0; i < 6000; i++) {
		const uint32_t before = bshm__buckets_of(segment, 0).count;
		uint32_t size_class = 0;
		uint32_t looks = 0;
		CHECK(bshm__evict_one(&s, &size_class, &looks));
		const bool less = bshm__buckets_of(segment, 0).count < before;
		CHECK_INT(size_class, less ? BSHM_CLASS_COUNT : bshm__class_of(BSHM_SLOT_HEADER + 8 + 8));
		shrunk += less;
	}
	CHECK(shrunk > 3);
	check_sound(segment);
}

/* A page is chosen, and none of another class; in steps, the same one goes on. */
TEST(evictions_of_a_page_are_of_one_class_and_so_many_at_most)
{
	segment = open_store(MB(4), 0);
	s = bshm__shard_at(segment, 0);
	uint32_t number = 0;
	while (store_evictions(segment) == 0) {
		const uint32_t length = number % 2 == 0 ? 4 : 100;
		CHECK_INT(store_put(segment, number++, 1, length, 0, BSHM_PUT_SET), 1);
	}
	const uint32_t wanted = bshm__class_of(BSHM_SLOT_HEADER + 8 + 100);
	for (uint32_t i = 0; i < 50; i++) {
		const uint32_t used = s.shard->classes[wanted].used;
		bshm__page_wish wish = {i % 2 == 0 ? wanted : BSHM_CLASS_COUNT, 4, false, 0, 0};
		const uint32_t gone = bshm__evict_page(&s, &wish, 10);
		CHECK(gone != 0 && gone <= 10);
		CHECK(wish.size_class == wanted || i % 2 != 0);
		CHECK_INT(used - s.shard->classes[wanted].used, wish.size_class == wanted ? gone : 0);
	}
	check_sound(segment);
}

/* Between two steps of making room: others must not use what the steps have made. */
TEST(the_lock_is_left_to_others_only_after_progress)
{
	segment = open_store(MB(4), 0);
	s = bshm__shard_at(segment, 0);
	bshm_patience patience = {0};
	bshm__low low = BSHM_LOW_NONE;
	CHECK_INT(store_put(segment, 1, 1, 100, 0, BSHM_PUT_SET), 1);
	CHECK_INT(store_put(segment, 2, 1, 100, 0, BSHM_PUT_SET), 1);
	CHECK(bshm__may_pause(&s, 9, &low, &patience));
	CHECK(!bshm__may_pause(&s, 9, &low, &patience));
	CHECK(bshm__may_pause(&s, 8, &low, &patience));
	CHECK_INT(store_remove(segment, 1), 1);
	CHECK(bshm__may_pause(&s, 8, &low, &patience));
	CHECK_INT(store_put(segment, 1, 1, 100, 0, BSHM_PUT_SET), 1);
	CHECK(!bshm__may_pause(&s, 8, &low, &patience)); /* another process has used it */
	CHECK_INT(store_remove(segment, 1), 1);
	CHECK(!bshm__may_pause(&s, 8, &low, &patience)); /* made up for, and no more */
	patience.waited_ns = BSHM_LOCK_BATCH_NS / 2;
	CHECK(!bshm__may_pause(&s, 7, &low, &patience));
	patience.batch = true;
	CHECK(bshm__may_pause(&s, 6, &low, &patience));
	patience = (bshm_patience){.gone = true, .waited_ns = BSHM_LOCK_BATCH_NS};
	CHECK(bshm__may_pause(&s, 5, &low, &patience)); /* else others would never get it */
}
