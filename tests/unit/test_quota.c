/*
 * test_quota.c - the limit of records that several shards share.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_store.h"

#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"

#define LIMIT 1000u

static bshm_segment *segment;

/* Of several shards, which only a large limit gives; this process, and its children, heed a lower
 * one. */
static void open_shards(void)
{
	segment = open_store(MB(160), 300 * 8192);
	REQUIRE(segment->shard_count > 2);
	segment->cache_records = LIMIT;
}

static void check_all(void)
{
	CHECK_INT(BSHM_LOAD(&segment->store->reserved, RELAXED), given_out(segment));
	segment->cache_records = 300 * 8192; /* as the header says */
	check_sound(segment);
}

static uint32_t shard_of(uint32_t number)
{
	const uint64_t key = number;
	return bshm__home_of(segment, BSHM_SPACE_CACHE, &(bshm_key){(const char *) &key, 8}).shard;
}

/* The next number from *number on whose record belongs to the shard. */
static uint32_t next_of(uint32_t *number, uint32_t shard)
{
	while (shard_of(*number) != shard) {
		++*number;
	}
	return (*number)++;
}

static void remove_record(uint32_t number)
{
	bshm_error error;
	const uint64_t key = number;
	CHECK_INT(
		bshm_record_remove(segment, BSHM_SPACE_CACHE, &(bshm_key){(const char *) &key, 8}, &error),
		1);
}

static uint64_t evictions(void)
{
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	return info.evictions;
}

TEST(what_one_shard_has_to_spare_another_may_put)
{
	open_shards();
	uint32_t number = 0;
	uint32_t first[50];
	for (uint32_t i = 0; i < LIMIT; i++) {
		const uint32_t next = i < 50 ? next_of(&number, 0) : number++;
		CHECK_INT(store_put(segment, next, 1, 8, 0, BSHM_PUT_SET), 1);
		if (i < 50) {
			first[i] = next;
		}
	}
	CHECK_INT(records_of(segment), LIMIT);
	CHECK_INT(evictions(), 0);
	for (unsigned i = 0; i < 50; i++) {
		remove_record(first[i]);
	}
	CHECK_INT(records_of(segment), LIMIT - 50);
	for (unsigned i = 0; i < 50; i++) {
		const uint32_t next = next_of(&number, 1 + i % 2);
		CHECK_INT(store_put(segment, next, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	CHECK_INT(records_of(segment), LIMIT);
	CHECK_INT(evictions(), 0);
	CHECK_INT(store_put(segment, next_of(&number, 2), 1, 8, 0, BSHM_PUT_SET), 1);
	CHECK_INT(records_of(segment), LIMIT);
	CHECK_INT(evictions(), 1);
	check_all();
}

/* A shard keeps some of what its records leave, and gives the rest back. */
TEST(the_limit_is_given_back)
{
	open_shards();
	uint32_t number = 0;
	uint32_t numbers[400];
	for (unsigned i = 0; i < 400; i++) {
		numbers[i] = next_of(&number, 1);
		CHECK_INT(store_put(segment, numbers[i], 1, 8, 0, BSHM_PUT_SET), 1);
	}
	for (unsigned i = 0; i < 400; i++) {
		remove_record(numbers[i]);
		CHECK_INT(BSHM_LOAD(&segment->store->reserved, RELAXED), given_out(segment));
	}
	CHECK_INT(records_of(segment), 0);
	CHECK(given_out(segment) <= 128);
	CHECK_INT(store_put(segment, numbers[0], 1, 8, 0, BSHM_PUT_SET), 1);
	CHECK_INT(store_put(segment, numbers[0], 2, 8, 0, BSHM_PUT_SET), 1);
	check_all();
}

/* A shard whose lock is held has nothing to give; a put that needs one more evicts. */
TEST(a_shard_that_is_held_keeps_what_it_has)
{
	open_shards();
	bshm_error error;
	uint32_t number = 0;
	for (uint32_t i = 0; i < LIMIT; i++) {
		CHECK_INT(store_put(segment, number++, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	uint32_t first = 0;
	remove_record(next_of(&first, 0));
	const bshm__shard held = bshm__shard_at(segment, 0);
	REQUIRE(bshm__shard_lock(&held, BSHM_LOCK_PAGE_NS, &error) == BSHM_OK);
	CHECK_INT(store_put(segment, next_of(&number, 1), 1, 8, 0, BSHM_PUT_SET), 1);
	CHECK_INT(evictions(), 1);
	bshm__shard_unlock(&held);
	CHECK_INT(records_of(segment), LIMIT - 1);
	CHECK_INT(store_put(segment, next_of(&number, 1), 1, 8, 0, BSHM_PUT_SET), 1);
	CHECK_INT(evictions(), 1);
	CHECK_INT(records_of(segment), LIMIT);
	check_all();
}

/* ------------------------------------------------------------------ processes */

#define WORKERS 4u
#define CALLS   20000u
#define KILLS   200u

static void put_and_remove(void)
{
	const uint32_t me = (uint32_t) __atomic_fetch_add(&test_words[0], 1, __ATOMIC_RELAXED);
	bshm_segment *own = attach_store();
	own->cache_records = LIMIT;
	uint64_t random = test_seed() + me;
	for (unsigned i = 0; i < CALLS; i++) {
		const uint64_t key = test_random(&random) % (2 * LIMIT);
		bshm_error error;
		if (test_random(&random) % 4 == 0) {
			bshm_record_remove(own, 0, &(bshm_key){(const char *) &key, 8}, &error);
		} else {
			CHECK_INT(store_put(own, (uint32_t) key, i, 8, 0, BSHM_PUT_SET), 1);
		}
		CHECK(BSHM_LOAD(&own->store->reserved, RELAXED) <= LIMIT);
	}
}

/* A limit of n holds n, whatever has been before. */
static void fill_up(void)
{
	const uint64_t before = evictions();
	for (uint32_t number = 3 * LIMIT; records_of(segment) < LIMIT; number++) {
		REQUIRE(number < 5 * LIMIT);
		CHECK_INT(store_put(segment, number, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	CHECK_INT(evictions(), before);
	check_all();
}

/* Deaths left the number too high; and one that waited for a lock left the lock's hint. */
TEST(a_hint_of_the_dead_does_not_keep_the_limit_from_being_counted)
{
	open_shards();
	for (uint32_t number = 0; number < LIMIT / 2; number++) {
		CHECK_INT(store_put(segment, number, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		BSHM_STORE(&segment->shards[i].credit, 0, RELAXED);
	}
	BSHM_STORE(&segment->store->reserved, LIMIT, RELAXED);
	BSHM_STORE(&segment->store->recount, 1, RELAXED);
	BSHM_STORE(&segment->shards[segment->shard_count - 1].starving, 1, RELAXED);
	uint32_t number = 2 * LIMIT;
	CHECK_INT(store_put(segment, next_of(&number, 0), 1, 8, 0, BSHM_PUT_SET), 1);
	CHECK_INT(evictions(), 0);
	fill_up();
}

/* More than the limit, or a shard's credit that is more than it ever takes. */
TEST(damaged_counts_do_not_keep_the_limit_from_being_filled)
{
	for (unsigned i = 0; i < 2; i++) {
		open_shards();
		for (uint32_t number = 0; number < LIMIT; number++) {
			CHECK_INT(store_put(segment, number, 1, 8, 0, BSHM_PUT_SET), 1);
		}
		if (i == 0) {
			BSHM_ADD(&segment->store->reserved, UINT64_C(1) << 40, RELAXED);
		} else {
			BSHM_STORE(&segment->shards[0].credit, 1u << 20, RELAXED);
		}
		for (uint32_t number = 0; number < LIMIT; number++) {
			remove_record(number);
		}
		for (uint32_t number = 0; number < 3 * LIMIT; number++) {
			CHECK_INT(store_put(segment, number, 1, 8, 0, BSHM_PUT_SET), 1);
			CHECK(records_of(segment) <= LIMIT + 128);
		}
		CHECK_INT(records_of(segment), LIMIT);
		check_all();
		bshm_segment_close(segment);
		unlink(test_path("segment"));
	}
}

TEST(processes_at_the_limit_never_exceed_it_and_it_can_be_filled_then)
{
	open_shards();
	pid_t children[WORKERS];
	for (unsigned i = 0; i < WORKERS; i++) {
		children[i] = spawn(put_and_remove);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		CHECK_INT(finish(children[i]), 0);
	}
	CHECK_INT(BSHM_LOAD(&segment->store->reserved, RELAXED), given_out(segment));
	fill_up();
}

/* Deaths leave the number too high; once those who come have seen each, it is counted anew. */
TEST(the_limit_can_be_filled_when_processes_have_died_at_it)
{
	open_shards();
	pid_t children[WORKERS];
	for (unsigned i = 0; i < WORKERS; i++) {
		children[i] = spawn(put_and_remove);
	}
	uint64_t random = test_seed();
	for (unsigned i = 0; i < KILLS; i++) {
		usleep((useconds_t) (test_random(&random) % 4000));
		kill_child(children[i % WORKERS]);
		CHECK(BSHM_LOAD(&segment->store->reserved, RELAXED) <= LIMIT);
		children[i % WORKERS] = spawn(put_and_remove);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		kill_child(children[i]);
	}
	uint32_t number = 2 * LIMIT;
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		CHECK_INT(store_put(segment, next_of(&number, i), 1, 8, 0, BSHM_PUT_SET), 1);
	}
	CHECK(BSHM_LOAD(&segment->store->reserved, RELAXED) >= given_out(segment));
	fill_up();
}
