/*
 * test_copy.c - large records, which take long to be copied, beside others who change the shard.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"
#include "platform/platform.h"
#include "test_shard.h"

#include <signal.h>

#define LARGE 200000u
#define HUGE  (8u << 20)

static const bshm_key counter = {"counter", 7};

static bool found_stands(const bshm_found *found)
{
	uint8_t *bytes = malloc(found->length + 1);
	const bool stands = bshm_found_copy(found, bytes);
	free(bytes);
	return stands;
}

static bshm_found find(uint32_t number)
{
	const uint64_t key_bytes = number;
	const bshm_key key = {(const char *) &key_bytes, 8};
	bshm_found found;
	REQUIRE(bshm_record_find(segment, BSHM_SPACE_CACHE, &key, 0, &found) == 1);
	return found;
}

static void count_up(unsigned times)
{
	const bshm_increment one = {.key = counter, .by = 1};
	int64_t value;
	bshm_error error;
	while (times-- > 0) {
		REQUIRE(bshm_record_increment(segment, &one, &value, &error) == 1);
	}
}

static void begin(uint64_t bytes)
{
	segment = open_store(bytes, 0);
	s = bshm__shard_at(segment, 0);
}

TEST(what_others_free_does_not_void_a_large_record)
{
	begin(MB(16));
	REQUIRE(store_put(segment, 1, 1, LARGE, 0, BSHM_PUT_SET) == 1);
	REQUIRE(store_put(segment, 2, 1, 100, 0, BSHM_PUT_SET) == 1);
	REQUIRE(store_put(segment, 3, 1, LARGE, 0, BSHM_PUT_SET) == 1);
	count_up(2); /* it has a place, and a page for its slots */
	const bshm_found large = find(1);
	bshm_found small = find(2);
	small.fetched = false;
	count_up(BSHM_SLOT_VERSIONS - 1);
	CHECK(found_stands(&small));
	count_up(100000);
	CHECK(!found_stands(&small));
	CHECK(found_stands(&large));
	/* Nor does another large one, whose pages are given up and taken again. */
	for (unsigned i = 0; i < 100; i++) {
		CHECK_INT(store_remove(segment, 3), 1);
		CHECK_INT(store_put(segment, 3, i, LARGE, 0, BSHM_PUT_SET), 1);
	}
	CHECK(found_stands(&large));
	/* Memory that gets another meaning does. */
	bshm__sequence_jump(&s);
	CHECK(!found_stands(&large));
	CHECK_INT(store_put(segment, 1, 2, LARGE, 0, BSHM_PUT_SET), 1);
	CHECK(!found_stands(&large));
}

/* Its version comes back after 4,096 records in the same slot; its serial does not. */
TEST(a_large_record_in_the_same_slot_with_the_same_version_is_another)
{
	begin(MB(16));
	REQUIRE(store_put(segment, 1, 1, LARGE, 0, BSHM_PUT_SET) == 1);
	const bshm_found large = find(1);
	bshm_found again;
	unsigned puts = 0;
	do {
		CHECK_INT(store_remove(segment, 1), 1);
		CHECK_INT(store_put(segment, 1, 2, LARGE, 0, BSHM_PUT_SET), 1);
		again = find(1);
	} while (!test_failed() && ++puts < 2 * BSHM_SLOT_VERSIONS &&
			 (again.slot != large.slot || !bshm__same_state(again.state, large.state)));
	test_note("after %u", puts);
	CHECK(again.slot == large.slot && bshm__same_state(again.state, large.state));
	CHECK_INT(again.sequence - large.sequence < BSHM_SEQUENCE_JUMP, 1);
	CHECK(!found_stands(&large));
	CHECK(found_stands(&again));
}

static void replace(void)
{
	bshm_segment *own = attach_store();
	for (uint64_t serial = 2;; serial++) {
		store_put(own, 1, serial, HUGE - (uint32_t) (serial % 3) * 1000, 0, BSHM_PUT_SET);
	}
}

/* As a reader does that has room: 1 = whole, 0 = missing, -1 = torn. */
static int read_huge(bshm_patience *patience, uint8_t *bytes, uint8_t *expected)
{
	const uint64_t number = 1;
	const bshm_key key = {(const char *) &number, 8};
	bshm_error error;
	bshm_found found;
	const int copied = bshm_record_copy(
		segment, BSHM_SPACE_CACHE, &key, 0, &(bshm_room){bytes, HUGE}, patience, &found, &error);
	if (copied != 1) {
		return copied;
	}
	uint64_t serial;
	memcpy(&serial, bytes + 8, 8);
	store_fill(expected, 1, serial, (uint32_t) found.length);
	return memcmp(bytes, expected, found.length) == 0 ? 1 : -1;
}

TEST(a_large_record_that_is_replaced_all_the_time_is_read)
{
	begin(MB(64));
	uint8_t *bytes = malloc(HUGE);
	uint8_t *expected = malloc(HUGE);
	REQUIRE(store_put(segment, 1, 1, HUGE, 0, BSHM_PUT_SET) == 1);
	const pid_t child = spawn(replace);
	unsigned refused = 0;
	for (unsigned i = 0; i < 20 && !test_failed(); i++) {
		bshm_patience patience = {0};
		const int got = read_huge(&patience, bytes, expected);
		/* On a busy machine the lock may not be had in time. */
		CHECK(got == 1 || got == BSHM_E_TIMEOUT);
		refused += got != 1;
	}
	test_note("%u of 20 refused", refused);
	CHECK(refused <= 10);
	kill(child, SIGKILL);
	finish(child);
	CHECK_INT(store_put(segment, 1, 1, HUGE, 0, BSHM_PUT_SET), 1);
	check_sound(segment);
	free(bytes);
	free(expected);
}

static void hold(void)
{
	bshm_segment *own = attach_store();
	const bshm__shard its = bshm__shard_at(own, 0);
	bshm_error error;
	REQUIRE(bshm__shard_lock(&its, BSHM_LOCK_PAGE_NS, &error) == BSHM_OK);
	BSHM_STORE(&test_words[0], 1, RELEASE);
	while (BSHM_LOAD(&test_words[1], ACQUIRE) == 0) {
		bshm_os_sleep_us(1000);
	}
	bshm__shard_unlock(&its);
}

/* A chain that leads nowhere, as it may look while it is changed: no copy stands, so the lock
 * decides. */
TEST(a_large_record_is_missing_while_the_lock_is_not_to_be_had)
{
	begin(MB(64));
	uint8_t *bytes = malloc(HUGE);
	uint8_t *expected = malloc(HUGE);
	REQUIRE(store_put(segment, 1, 1, HUGE, 0, BSHM_PUT_SET) == 1);
	const pid_t child = spawn(hold);
	while (BSHM_LOAD(&test_words[0], ACQUIRE) == 0) {
		bshm_os_sleep_us(1000);
	}
	const uint32_t chunk = locate(1).record.next;
	const uint32_t next = word(chunk, 1);
	set_word(chunk, 1, UINT32_MAX);
	bshm_patience patience = {0};
	bshm_store_info info;
	CHECK_INT(read_huge(&patience, bytes, expected), BSHM_E_TIMEOUT);
	CHECK(patience.gone);
	const uint64_t waited_ns = patience.waited_ns;
	CHECK_INT(read_huge(&patience, bytes, expected), BSHM_E_TIMEOUT);
	CHECK(patience.waited_ns - waited_ns < waited_ns); /* it did not wait again */
	CHECK_INT(bshm_store_stat(segment, &info), BSHM_OK);
	CHECK_INT(info.lock_timeouts, 2);
	BSHM_STORE(&test_words[1], 1, RELEASE);
	CHECK_INT(finish(child), 0);
	patience = (bshm_patience){0};
	CHECK_INT(read_huge(&patience, bytes, expected), 0); /* now it is known to be damaged */
	set_word(chunk, 1, next);
	CHECK_INT(read_huge(&patience, bytes, expected), 1);
	free(bytes);
	free(expected);
}

static void put_small(uint64_t number)
{
	bshm_error error;
	const bshm_put put = {
		.key = {(const char *) &number, 8},
		.value = {BSHM_VALUE_INT, &number, 8},
	};
	REQUIRE(bshm_record_put(segment, &put, &error) == 1);
}

static bool remembers(uint64_t number, unsigned flags)
{
	const bshm_key key = {(const char *) &number, 8};
	bshm_found found;
	return bshm_record_find(segment, BSHM_SPACE_CACHE, &key, flags, &found) == 1;
}

/*
 * A quarter of the store, made of small records. What was used last stays. And each record that
 * goes costs fewer accesses than one that makes room for a small record.
 */
TEST(room_for_a_large_record_is_made_of_many_small_ones)
{
	test_counts();
	const uint32_t large = 15u << 20;
	begin(MB(64));
	uint64_t number = 0;
	do {
		put_small(number);
	} while (++number % 4096 != 0 || store_evictions(segment) == 0);
	/* The control: small ones that evict small ones. */
	uint64_t evicted = store_evictions(segment);
	uint64_t began = bshm__held.accesses;
	for (unsigned i = 0; i < 300000; i++) {
		put_small(number++);
	}
	const uint64_t each = (bshm__held.accesses - began) / (store_evictions(segment) - evicted);
	const uint64_t fresh = records_of(segment) / 5;
	for (uint64_t i = number - fresh; i < number; i++) {
		CHECK(remembers(i, BSHM_FIND_USE));
	}
	evicted = store_evictions(segment);
	began = bshm__held.accesses;
	CHECK_INT(store_put(segment, 1u << 31, 1, large, 0, BSHM_PUT_SET), 1);
	evicted = store_evictions(segment) - evicted;
	const uint64_t of_many = (bshm__held.accesses - began) / evicted;
	test_note("%llu accesses each, %llu each of %llu", (unsigned long long) each,
		(unsigned long long) of_many, (unsigned long long) evicted);
	CHECK(of_many < each / 2);
	for (uint64_t i = number - fresh; i < number; i++) {
		CHECK(remembers(i, 0));
	}
	CHECK(records_of(segment) > 1000000);
	check_sound(segment);
}
