/*
 * test_change.c - changes of one record by many processes at once: none is lost, and no process is
 * kept out by the others, or by one that stores a large record.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"
#include "platform/platform.h"
#include "test_store.h"

#include <sys/resource.h>

#define WORKERS 6u
#define CALLS   4000u

static bshm_segment *segment;
static const bshm_key log_key = {"log", 3};
static const bshm_key none = {"", 0};

static void run_workers(void (*work)(void))
{
	pid_t children[WORKERS];
	for (unsigned i = 0; i < WORKERS; i++) {
		children[i] = spawn(work);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		CHECK_INT(finish(children[i]), 0);
	}
}

/* Values long enough that copying them takes a while. */
static void append(void)
{
	bshm_segment *own = attach_store();
	const bshm_key suffix = {"0123456789", 10};
	bshm_error error;
	uint64_t length;
	for (unsigned i = 0; i < CALLS && !test_failed(); i++) {
		CHECK_INT(
			PATIENTLY(bshm_record_append(own, &log_key, &suffix, &none, &length, &error)), BSHM_OK);
	}
}

/* Waiters get their turn: hardly any wait ends in vain, though all processes want the lock all the
 * time. */
static void check_hardly_refused(void)
{
	test_note("%lu refused of %u", (unsigned long) *test_refused, WORKERS * CALLS);
	CHECK(*test_refused < WORKERS * CALLS / 100);
}

TEST(all_who_append_to_one_record_get_through)
{
	segment = open_store(MB(16), 0);
	run_workers(append);
	bshm_found found;
	CHECK_INT(bshm_record_find(segment, BSHM_SPACE_CACHE, &log_key, 0, &found), 1);
	CHECK_INT(found.length, WORKERS * CALLS * 10);
	check_hardly_refused();
	check_sound(segment);
}

/* A value of so many blocks is copied without the lock, and the call begins again if another one
 * has changed it meanwhile. */
#define BLOCK       5000u
#define LARGE_CALLS 20u

static void append_blocks(void)
{
	bshm_segment *own = attach_store();
	char block[BLOCK];
	memset(block, (int) (bshm_os_process_id() & 127), BLOCK);
	const bshm_key suffix = {block, BLOCK};
	bshm_error error;
	uint64_t length;
	for (unsigned i = 0; i < LARGE_CALLS && !test_failed(); i++) {
		CHECK_INT(
			PATIENTLY(bshm_record_append(own, &log_key, &suffix, &none, &length, &error)), BSHM_OK);
		CHECK_INT(length % BLOCK, 0);
	}
}

TEST(all_who_append_to_one_large_record_get_through)
{
	segment = open_store(MB(64), 0);
	run_workers(append_blocks);
	const uint32_t blocks = WORKERS * LARGE_CALLS;
	uint8_t *bytes = malloc((size_t) blocks * BLOCK);
	const bshm_room room = {bytes, (uint64_t) blocks * BLOCK};
	bshm_patience patience = {0};
	bshm_found found;
	bshm_error error;
	CHECK_INT(
		bshm_record_copy(segment, BSHM_SPACE_CACHE, &log_key, 0, &room, &patience, &found, &error),
		1);
	CHECK_INT(found.length, blocks * BLOCK);
	unsigned of[128] = {0};
	for (uint32_t i = 0; i < blocks; i++) {
		CHECK_INT(memcmp(bytes + i * BLOCK, bytes + i * BLOCK + 1, BLOCK - 1), 0);
		of[bytes[i * BLOCK]]++;
	}
	for (unsigned i = 0; i < 128; i++) {
		CHECK_INT(of[i] % LARGE_CALLS, 0);
	}
	free(bytes);
	check_sound(segment);
}

/* Faster than the value is copied. */
static void replace_large(void)
{
	bshm_segment *own = attach_store();
	for (uint32_t i = 0;; i++) {
		store_put_once(own, 1, i, 300000, 0, BSHM_PUT_SET);
	}
}

TEST(who_changes_a_large_record_gets_through_beside_one_that_replaces_it)
{
	segment = open_store(MB(16), 0);
	CHECK_INT(store_put(segment, 1, 0, 300000, 0, BSHM_PUT_SET), 1);
	const pid_t child = spawn(replace_large);
	const uint64_t number = 1;
	const bshm_key key = {(const char *) &number, sizeof(number)};
	bshm_error error;
	for (unsigned i = 0; i < 30; i++) {
		uint64_t length;
		CHECK_INT(
			PATIENTLY(bshm_record_append(segment, &key, &log_key, &none, &length, &error)), 0);
		CHECK(length % 300000 % log_key.length == 0);
		CHECK_INT(PATIENTLY(bshm_record_touch(segment, &key, 100, &error)), 1);
	}
	kill_child(child);
	check_sound(segment);
}

static void put_one(void)
{
	bshm_segment *own = attach_store();
	CHECK_INT(store_put(own, 1, 1, 8, 0, BSHM_PUT_SET), 1);
}

TEST(who_waits_long_says_so_until_it_has_the_lock)
{
	segment = open_store(MB(1), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	bshm_error error;
	REQUIRE(store_put(segment, 1, 1, 8, 0, BSHM_PUT_SET) == 1);
	REQUIRE(bshm__shard_lock(&s, BSHM_LOCK_PAGE_NS, &error) == BSHM_OK);
	const pid_t child = spawn(put_one);
	bool said = false;
	while (!said &&
		   *test_refused <
			   20) { /* each time it is refused, it has waited ten times as long as it should */
		said = BSHM_LOAD(&s.shard->starving, RELAXED) != 0;
	}
	CHECK(said);
	bshm__shard_unlock(&s);
	CHECK_INT(finish(child), 0);
	CHECK_INT(BSHM_LOAD(&s.shard->starving, RELAXED), 0);
}

/* Others let it go first for a while, and no longer. */
TEST(who_has_died_waiting_keeps_nobody_out)
{
	segment = open_store(MB(1), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	REQUIRE(store_put(segment, 1, 1, 8, 0, BSHM_PUT_SET) == 1);
	BSHM_STORE(&s.shard->starving, 1, RELAXED);
	const uint64_t begun = bshm_os_monotonic_ns();
	CHECK_INT(store_put(segment, 1, 2, 8, 0, BSHM_PUT_SET), 1);
	CHECK(bshm_os_monotonic_ns() - begun >= UINT64_C(20) * BSHM_LOCK_SLEEP_US * 1000);
	CHECK_INT(BSHM_LOAD(&s.shard->starving, RELAXED), 0);
}

/* Each touch puts it anew, for it has no place for a time; each set takes that place away. */
static void touch(void)
{
	bshm_segment *own = attach_store();
	const bshm_put put = {.key = log_key, .value = {BSHM_VALUE_STRING, "0123456789", 10}};
	bshm_error error;
	for (unsigned i = 0; i < CALLS && !test_failed(); i++) {
		CHECK_INT(PATIENTLY(bshm_record_touch(own, &log_key, 100, &error)), 1);
		CHECK_INT(PATIENTLY(bshm_record_put(own, &put, &error)), 1);
	}
}

TEST(all_who_touch_one_record_get_through)
{
	segment = open_store(MB(1), 0);
	const bshm_put put = {.key = log_key, .value = {BSHM_VALUE_STRING, "0123456789", 10}};
	bshm_error error;
	REQUIRE(bshm_record_put(segment, &put, &error) == 1);
	run_workers(touch);
	check_hardly_refused();
	check_sound(segment);
}

/* ------------------------------------------------------------------ a large record */

enum {
	STORED,
	ENDED
};

static void store_small_ones(void)
{
	bshm_segment *own = attach_store();
	for (uint32_t i = 0; BSHM_LOAD(&test_words[ENDED], RELAXED) == 0; i++) {
		if (store_put(own, i % 100, i, 8, 0, BSHM_PUT_SET) == 1) {
			BSHM_ADD(&test_words[STORED], 1, RELEASE);
		}
	}
}

static const uint32_t large = MB(6) - 100;

static int put_large(const bshm_key *key, const uint8_t *bytes)
{
	const bshm_put put = {.key = *key, .value = {BSHM_VALUE_STRING, bytes, large}};
	bshm_error error;
	return bshm_record_put(segment, &put, &error);
}

static int load_large(const uint8_t *bytes)
{
	const bshm_put put = {.key = log_key, .value = {BSHM_VALUE_STRING, bytes, large}};
	bshm_lease_grant grant;
	bshm_error error;
	return bshm_lease_take(segment, BSHM_SPACE_CACHE, &log_key, false, NULL, &grant) ==
				   BSHM_LEASE_MINE
			   ? bshm_lease_release(segment, &grant, &put, NULL, &error)
			   : BSHM_E_TIMEOUT;
}

/* How many small records were stored since the last call. */
static uint64_t stored_meanwhile(void)
{
	static uint64_t before;
	const uint64_t now = BSHM_LOAD(&test_words[STORED], ACQUIRE);
	const uint64_t count = now - before;
	before = now;
	return count;
}

/* Room for it is made of hundreds of thousands of small ones. The lock is free between the steps,
 * so others store meanwhile. How many depends on the scheduler; test_bounds.c counts the steps. */
TEST(who_stores_a_large_record_lets_others_in)
{
	test_slow();
	uint8_t *bytes = calloc(1, large);
	bshm_error error;
	uint64_t length;
	segment = open_store(MB(24), 0);
	store_fill_up(segment, 1000, 8);
	const pid_t child = spawn(store_small_ones);
	while (BSHM_LOAD(&test_words[STORED], ACQUIRE) == 0) {
		bshm_os_sleep_us(100);
	}
	uint64_t stored[3];
	/* The record is a quarter of the store. Room for its longer copy is made of other records; but
	 * it may be the one that the other process evicts. Then the append makes a new one. */
	for (int tries = 0; tries == 0 || (length == log_key.length && tries < 10); tries++) {
		CHECK_INT(
			PATIENTLY(bshm_record_remove(segment, BSHM_SPACE_CACHE, &log_key, &error)), tries != 0);
		stored_meanwhile();
		CHECK_INT(PATIENTLY(load_large(bytes)), 1);
		stored[0] = stored_meanwhile();
		CHECK_INT(
			PATIENTLY(bshm_record_append(segment, &log_key, &log_key, &none, &length, &error)),
			BSHM_OK);
	}
	CHECK_INT(length, large + log_key.length);
	stored[1] = stored_meanwhile();
	const bshm_key other = {"other", 5};
	stored[2] = 0;
	/* On a busy machine the other process may get no processor for as long as one put takes. */
	for (int tries = 0; tries == 0 || (stored[2] == 0 && tries < 100); tries++) {
		CHECK_INT(PATIENTLY(put_large(&other, bytes)), 1);
		stored[2] += stored_meanwhile();
	}
	BSHM_STORE(&test_words[ENDED], 1, RELAXED);
	CHECK_INT(finish(child), 0);
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	test_note("%u time-outs, %lu, %lu and %lu stored meanwhile", (unsigned) info.lock_timeouts,
		(unsigned long) stored[0], (unsigned long) stored[1], (unsigned long) stored[2]);
	CHECK(stored[2] >= 1);
	CHECK(info.lock_timeouts < 75);
	check_sound(segment);
	free(bytes);
}

TEST(nothing_is_evicted_for_what_is_not_stored)
{
	bshm_error error;
	int64_t number;
	uint64_t length;
	segment = open_store(MB(8), 0);
	store_fill_up(segment, 1000, 8);
	CHECK_INT(store_put(segment, 1, 1, 16, 0, BSHM_PUT_SET), 1);
	const bshm_increment one = {.key = log_key, .by = 1};
	CHECK_INT(bshm_record_increment(segment, &one, &number, &error), 1);
	const uint64_t evicted = store_evictions(segment);
	char *suffix = calloc(1, MB(1));
	CHECK_INT(store_put(segment, 1, 2, MB(1), 0, BSHM_PUT_ADD), 0);
	CHECK_INT(store_put(segment, 2, 2, MB(1), 0, BSHM_PUT_REPLACE), 0);
	CHECK_INT(
		bshm_record_append(segment, &log_key, &(bshm_key){suffix, MB(1)}, &none, &length, &error),
		BSHM_E_INCOMPATIBLE);
	bshm_lease_grant grant;
	const bshm_put put = {.key = {"loaded", 6}, .value = {BSHM_VALUE_STRING, suffix, MB(1)}};
	CHECK_INT(bshm_lease_take(segment, 0, &put.key, false, NULL, &grant), BSHM_LEASE_MINE);
	CHECK_INT(bshm_record_forget(segment, 0, &put.key, NULL, &error), 0);
	CHECK_INT(bshm_lease_release(segment, &grant, &put, NULL, &error), 0);
	CHECK_INT(store_evictions(segment), evicted);
	free(suffix);
}

TEST(an_increment_of_an_absent_record_may_create_none)
{
	bshm_increment increment = {
		.key = log_key, .by = 1, .initial = 5, .ttl_s = 60, .only_present = true};
	bshm_error error;
	int64_t number = 0;
	segment = open_store(MB(1), 0);
	CHECK_INT(bshm_record_increment(segment, &increment, &number, &error), 0);
	CHECK_INT(number, 0);
	increment.only_present = false;
	CHECK_INT(bshm_record_increment(segment, &increment, &number, &error), 1);
	CHECK_INT(number, 6);
	increment.only_present = true;
	CHECK_INT(bshm_record_increment(segment, &increment, &number, &error), 1);
	CHECK_INT(number, 7);
	check_sound(segment);
}

static uint32_t expiry_of(const bshm_key *key)
{
	bshm_found found;
	REQUIRE(bshm_record_find(segment, BSHM_SPACE_CACHE, key, 0, &found) == 1);
	return found.expires_s;
}

/* From 16 bytes in one slot to a megabyte whose chunks are filled without the lock, and back. */
TEST(a_record_may_keep_its_ttl)
{
	static const uint32_t lengths[] = {16, 20, 5000, 1 << 20, 16, 200000, 16};
	uint8_t *bytes = calloc(1, 1 << 20);
	bshm_error error;
	for (uint32_t ttl_s = 0; ttl_s <= 100; ttl_s += 100) {
		bshm_value value = {BSHM_VALUE_STRING, bytes, 8};
		bshm_put put = {.key = log_key, .value = value, .ttl_s = ttl_s, .keeps_ttl = true};
		segment = open_store(MB(8), 0);
		CHECK_INT(bshm_record_put(segment, &put, &error), 1);
		const uint32_t expires_s = expiry_of(&log_key);
		CHECK_INT(expires_s != 0, ttl_s != 0);
		for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			const bshm_value before = put.value;
			put.mode = i % 3 == 0 ? BSHM_PUT_CAS : i % 3 == 1 ? BSHM_PUT_REPLACE : BSHM_PUT_SET;
			put.expected = &before;
			put.value.length = lengths[i];
			put.ttl_s = 7;
			CHECK_INT(bshm_record_put(segment, &put, &error), 1);
			CHECK_INT(expiry_of(&log_key), expires_s);
			check_sound(segment);
		}
		bshm_segment_close(segment);
	}
	free(bytes);
}

/* One byte that differs is seen wherever it lies: in the first slot, or at the edge of a chunk. */
TEST(a_value_is_compared_to_its_last_byte)
{
	segment = open_store(MB(1), 0);
	const uint32_t lengths[] = {1, 2000, 8176, 8177, 16352, 16360, 16400, 30000, 100000};
	uint8_t *bytes = malloc(100000);
	bshm_error error;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		const uint32_t length = lengths[i];
		store_fill(bytes, 1, 1, length);
		const bshm_value value = {BSHM_VALUE_STRING, bytes, length};
		bshm_put put = {.key = log_key, .value = value};
		CHECK_INT(bshm_record_put(segment, &put, &error), 1);
		put.mode = BSHM_PUT_CAS;
		put.expected = &value;
		put.value.length = 1;
		for (uint32_t at = 0; at < length; at += length < 3000 || at % 8176 > 8160 ? 1 : 997) {
			bytes[at] ^= 1;
			CHECK_INT(bshm_record_put(segment, &put, &error), 0);
			bytes[at] ^= 1;
		}
		bytes[length - 1] ^= 1;
		CHECK_INT(bshm_record_put(segment, &put, &error), 0);
		bytes[length - 1] ^= 1;
		CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	}
	free(bytes);
}

/* A store that holds four, the oldest of which is changed: room is made of the others. */
TEST(a_large_record_that_is_changed_does_not_go_for_it)
{
	const uint32_t length = 1800000;
	const uint64_t number = 1;
	const bshm_key key = {(const char *) &number, 8};
	uint8_t *bytes = malloc(length);
	store_fill(bytes, 1, 1, length);
	const bshm_value value = {BSHM_VALUE_STRING, bytes, length};
	const bshm_put swap = {.key = key, .value = value, .mode = BSHM_PUT_CAS, .expected = &value};
	bshm_error error;
	uint64_t appended;
	for (unsigned how = 0; how < 4; how++) {
		segment = open_store(MB(8), 0);
		for (uint32_t i = 1; i <= 4; i++) {
			REQUIRE(store_put(segment, i, 1, length, 0, BSHM_PUT_SET) == 1);
		}
		switch (how) {
			case 0:
				CHECK_INT(bshm_record_append(segment, &key, &log_key, &none, &appended, &error), 0);
				CHECK_INT(appended, length + log_key.length);
				break;
			case 1:
				CHECK_INT(bshm_record_touch(segment, &key, 100, &error), 1);
				break;
			case 2:
				CHECK_INT(store_put(segment, 1, 2, length, 0, BSHM_PUT_REPLACE), 1);
				break;
			default:
				CHECK_INT(bshm_record_put(segment, &swap, &error), 1);
		}
		CHECK(store_evictions(segment) > 0);
		check_sound(segment);
		bshm_segment_close(segment);
	}
	free(bytes);
}

/* The old value's room is needed for the new one. */
TEST(a_large_record_may_be_changed_where_two_do_not_fit)
{
	const uint32_t length = 16000000;
	const uint64_t number = 1;
	const bshm_key key = {(const char *) &number, 8};
	bshm_error error;
	segment = open_store(MB(66), 0);
	REQUIRE((uint64_t) 2 * length * 3 > segment->shard_bytes * 2);
	for (unsigned how = 0; how < 3; how++) {
		store_fill_up(segment, 1000, 200);
		REQUIRE(store_put(segment, 1, how, length, 0, BSHM_PUT_SET) == 1);
		uint64_t appended;
		uint64_t serial = 0;
		uint32_t found = 0;
		switch (how) {
			case 0:
				CHECK_INT(bshm_record_touch(segment, &key, 100, &error), 1);
				break;
			case 1:
				CHECK_INT(store_put(segment, 1, 1, length, 0, BSHM_PUT_REPLACE), 1);
				break;
			default:
				CHECK_INT(bshm_record_append(segment, &key, &none, &none, &appended, &error), 0);
				CHECK_INT(appended, length);
		}
		CHECK_INT(store_get(segment, 1, &serial, &found), 1);
		CHECK_INT(found, length);
		CHECK_INT(serial, how);
		check_sound(segment);
	}
}

static void change_without_descriptors(void)
{
	const struct rlimit limit = {1, 1};
	REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	bshm_store_info before;
	bshm_store_info after;
	bshm_store_stat(segment, &before);
	CHECK_INT(store_remove(segment, 1), BSHM_E_UNAVAILABLE);
	CHECK_INT(store_put(segment, 1, 2, 100, 0, BSHM_PUT_SET), BSHM_E_UNAVAILABLE);
	bshm_store_stat(segment, &after);
	CHECK_INT(after.lock_timeouts, before.lock_timeouts + 2);
	CHECK(store_has(segment, 1));
}

/* PHP's delete() gives false as if there were none: a figure says that it was not done. */
TEST(a_change_of_a_process_without_a_place_is_counted)
{
	segment = open_store(MB(1), 0);
	CHECK_INT(store_put(segment, 1, 1, 100, 0, BSHM_PUT_SET), 1);
	CHECK_INT(finish(spawn(change_without_descriptors)), 0);
}
