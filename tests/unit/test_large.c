/*
 * test_large.c - large records are put without holding the lock for long: large.c, parked.c.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/change.h"
#include "core/cache/lease_table.h"
#include "core/cache/parked.h"
#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"
#include "platform/platform.h"
#include "test_shard.h"

#define LARGE_KEYS 6u
#define LARGE_NEW  12u

static uint64_t bytes_used(void)
{
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	return info.bytes_used;
}

static void clear_all(bshm_segment *of)
{
	bshm_records_clear(of, &(bshm_key){"", 0});
}

/* Chunks of a record are taken; the process stops before it has put the record. */
static void park_chunks(uint32_t shard, uint64_t count)
{
	bshm_segment *own = attach_store();
	REQUIRE(store_put(own, 9, 1, 20, 0, BSHM_PUT_SET) == 1);
	const bshm__shard of = bshm__shard_at(own, shard);
	REQUIRE(bshm__shard_try(&of, own->owner));
	REQUIRE(bshm__parked_begin(&of));
	for (uint64_t i = 0; i < count; i++) {
		const uint32_t next = bshm__parked(&of);
		const uint32_t chunk = bshm__slot_find(&of, BSHM_CLASS_CHUNK, 0);
		REQUIRE(chunk != 0);
		bshm__word_set(&of, chunk, 0, BSHM_SLOT_CHAINED);
		bshm__word_set(&of, chunk, 1, next);
		bshm__parked_name(&of, chunk);
		bshm__slot_take(&of, chunk);
		if (next != 0) {
			bshm__word_set(&of, next, 2, chunk);
		}
	}
	bshm__shard_leave(&of);
	raise_flag_and_sleep(0);
}

static void park(void)
{
	park_chunks(0, 60);
}

static pid_t stand(void)
{
	segment = open_store(MB(4), 0);
	s = bshm__shard_at(segment, 0);
	const pid_t child = spawn(park);
	await_flag(0);
	return child;
}

TEST(the_chunks_of_a_put_in_progress_are_left_alone)
{
	const pid_t child = stand();
	const uint32_t chain = bshm__parked(&s);
	check_sound(segment);
	CHECK(!bshm__parked_reclaim(&s));
	for (uint32_t i = 0; i < 3000; i++) { /* pages are emptied, records evicted */
		store_put(segment, i, i, i % 20 == 0 ? 300000 : 20 + i % 3000, 0, BSHM_PUT_SET);
	}
	CHECK_INT(bshm__parked(&s), chain);
	uint32_t chunk = chain;
	for (unsigned i = 0; i < 60; i++) {
		CHECK(bshm__slot_taken(&s, chunk));
		chunk = word(chunk, 1);
	}
	CHECK_INT(chunk, 0);
	check_sound(segment);
	kill_child(child);
}

static const bshm_key wide = {"wide", 4};

static int put_wide(const uint8_t *bytes)
{
	const bshm_put put = {
		.key = wide, .value = {BSHM_VALUE_STRING, bytes, bshm__record_most(segment) - wide.length}};
	bshm_error error;
	return bshm_record_put(segment, &put, &error);
}

static bool was_asked;
static unsigned misses;

static void look_for_wide(void)
{
	bshm_found found;
	was_asked = true;
	misses += bshm_record_find(segment, BSHM_SPACE_CACHE, &wide, 0, &found) != 1;
}

static uint32_t shard_of_wide(void)
{
	return bshm__home_of(segment, BSHM_SPACE_CACHE, &wide).shard;
}

static void park_a_quarter(void)
{
	park_chunks(shard_of_wide(), bshm__record_most(segment) / BSHM_CHUNK_BYTES);
}

static void park_nothing_yet(void)
{
	park_chunks(shard_of_wide(), 0);
}

/* A quarter of the store is most of a shard, where there are several. */
static void check_they_wait(void (*other)(void))
{
	segment = open_store(MB(66), 0);
	s = bshm__shard_at(segment, shard_of_wide());
	REQUIRE(bshm__record_most(segment) * 2 > segment->shard_bytes);
	uint8_t *bytes = calloc(1, bshm__record_most(segment));
	const pid_t child = spawn(other);
	await_flag(0);
	store_fill_up(segment, 100, 200);
	const uint32_t before = BSHM_LOAD(&s.shard->records, RELAXED);
	CHECK(before > 1000);
	CHECK_INT(put_wide(bytes), BSHM_E_TIMEOUT);
	CHECK_INT(BSHM_LOAD(&s.shard->records, RELAXED), before);
	kill_child(child);
	CHECK_INT(put_wide(bytes), 1);
	CHECK_INT(put_wide(bytes), 1);
	check_sound(segment);
	free(bytes);
}

TEST(two_records_that_do_not_fit_together_wait_for_each_other)
{
	check_they_wait(park_a_quarter);
}

TEST(a_record_waits_for_one_that_has_no_chunk_yet)
{
	check_they_wait(park_nothing_yet);
}

TEST(the_chunks_of_a_dead_process_are_freed_when_room_is_needed)
{
	const pid_t child = stand();
	const uint64_t before = bytes_used();
	kill_child(child);
	check_sound(segment);
	store_fill_up(segment, 0, 3000);
	CHECK_INT(bshm__parked(&s), 0);
	check_sound(segment);
	clear_all(segment);
	CHECK(bytes_used() < before);
}

/* A process that does not get the lock again gives the chunks up. */
TEST(chunks_that_were_given_up_are_freed)
{
	const pid_t child = stand();
	bshm__parked_give_up(&s);
	CHECK(bshm__shard_try(&s, segment->owner != 0 ? segment->owner : 1));
	CHECK(bshm__parked_reclaim(&s));
	bshm__shard_leave(&s);
	CHECK_INT(bshm__parked(&s), 0);
	check_sound(segment);
	kill_child(child);
}

/* A process is stopped while it fills chunks. A call waits for it once a shard, whatever the number
 * of its keys, and then fills its own chunks under the lock. */
TEST(a_call_with_many_keys_waits_once_for_chunks_that_are_not_put)
{
	const unsigned keys = 60;
	static uint8_t bytes[300000];
	const pid_t child = stand();
	bshm_patience patience = {.batch = true};
	const uint64_t begun = bshm_os_monotonic_ns();
	const int64_t undelayed = test_undelayed_ns();
	for (unsigned i = 0; i < keys; i++) {
		const uint32_t name = i % 4;
		const bshm_put put = {.key = {(const char *) &name, sizeof(name)},
			.value = {BSHM_VALUE_STRING, bytes, sizeof(bytes)},
			.patience = &patience};
		bshm_error error;
		CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	}
	CHECK(bshm_os_monotonic_ns() - begun >= BSHM_LOCK_PAGE_NS);
	CHECK(test_undelayed_ns() - undelayed < (int64_t) (keys / 2 * BSHM_LOCK_PAGE_NS));
	CHECK(!patience.gone);
	kill_child(child);
	check_sound(segment);
}

/* A shard has no room for both, but for all that is left when the old one has gone. */
TEST(a_set_of_most_of_a_shard_takes_the_room_of_what_it_replaces)
{
	segment = open_store(MB(66), 0);
	s = bshm__shard_at(segment, shard_of_wide());
	uint8_t *bytes = calloc(1, bshm__record_most(segment));
	CHECK_INT(put_wide(bytes), 1);
	for (uint32_t i = 0; i < 20000; i++) {
		CHECK_INT(store_put(segment, i, 1, 200, 0, BSHM_PUT_SET), 1);
	}
	const uint64_t before = store_evictions(segment);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_INT(put_wide(bytes), 1);
	}
	CHECK_INT(store_evictions(segment), before);
	check_sound(segment);
	free(bytes);
}

/* Two that just fit leave nothing else in the shard: so, too. */
TEST(a_set_of_almost_half_of_a_shard_evicts_few_others)
{
	segment = open_store(MB(66), 0);
	s = bshm__shard_at(segment, shard_of_wide());
	const uint64_t most = segment->shard_bytes * 49 / 100;
	uint8_t *bytes = calloc(1, most);
	const bshm_put put = {.key = wide, .value = {BSHM_VALUE_STRING, bytes, most - wide.length}};
	bshm_error error;
	store_fill_up(segment, 0, 200);
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	const uint64_t before = store_evictions(segment);
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	CHECK(store_evictions(segment) - before < 1000);
	check_sound(segment);
	free(bytes);
}

static uint64_t evictions_then;

static void end_the_leases(void)
{
	evictions_then = store_evictions(segment);
	bshm__leases_end_all(&s);
}

/* What it has loaded is not stored any more: so no others go for it. */
TEST(a_put_by_a_lease_that_ends_makes_no_more_room)
{
	segment = open_store(MB(66), 0);
	s = bshm__shard_at(segment, shard_of_wide());
	store_fill_up(segment, 0, 200);
	const uint64_t most = bshm__record_most(segment) - wide.length;
	uint8_t *bytes = calloc(1, most);
	const bshm_put put = {.key = wide, .value = {BSHM_VALUE_STRING, bytes, most}};
	bshm_error error;
	uint64_t access = 1000;
	int stored;
	do {
		bshm_lease_grant grant;
		CHECK_INT(bshm_lease_take(segment, BSHM_SPACE_CACHE, &wide, false, NULL, &grant),
			BSHM_LEASE_MINE);
		bshm__held.call = end_the_leases;
		bshm__held.call_at = bshm__held.accesses + access;
		stored = bshm_lease_release(segment, &grant, &put, NULL, &error);
		bshm__held.call = NULL;
		CHECK(stored == 1 || store_evictions(segment) - evictions_then < 2000); /* a step's */
		access *= 2;
	} while (stored == 0);
	CHECK(access > 100000);
	check_sound(segment);
	free(bytes);
}

/* The value is there since before the lease was given: else that would have ended. */
TEST(a_put_by_a_lease_takes_the_room_of_what_it_replaces)
{
	segment = open_store(MB(66), 0);
	s = bshm__shard_at(segment, shard_of_wide());
	const uint64_t most = bshm__record_most(segment) - wide.length;
	uint8_t *bytes = calloc(1, most);
	store_fill_up(segment, 0, 200);
	CHECK_INT(put_wide(bytes), 1);
	const uint64_t before = store_evictions(segment);
	const bshm_put put = {.key = wide, .value = {BSHM_VALUE_STRING, bytes, most}};
	bshm_lease_grant grant;
	bshm_error error;
	CHECK_INT(
		bshm_lease_take(segment, BSHM_SPACE_CACHE, &wide, false, NULL, &grant), BSHM_LEASE_MINE);
	CHECK_INT(bshm_lease_release(segment, &grant, &put, NULL, &error), 1);
	CHECK_INT(store_evictions(segment), before);
	check_sound(segment);
	free(bytes);
}

/* The call waits for another process's chunks meanwhile, which are not put. */
TEST(a_put_by_a_lease_that_ends_waits_no_longer)
{
	segment = open_store(MB(66), 0);
	s = bshm__shard_at(segment, shard_of_wide());
	const uint64_t most = bshm__record_most(segment) - wide.length;
	uint8_t *bytes = calloc(1, most);
	const bshm_put put = {.key = wide, .value = {BSHM_VALUE_STRING, bytes, most}};
	const pid_t child = spawn(park_nothing_yet);
	await_flag(0);
	bshm_lease_grant grant;
	bshm_error error;
	CHECK_INT(
		bshm_lease_take(segment, BSHM_SPACE_CACHE, &wide, false, NULL, &grant), BSHM_LEASE_MINE);
	bshm__held.call = end_the_leases;
	bshm__held.call_at = bshm__held.accesses + 100;
	CHECK_INT(bshm_lease_release(segment, &grant, &put, NULL, &error), 0);
	bshm__held.call = NULL;
	kill_child(child);
	check_sound(segment);
	free(bytes);
}

static unsigned next_flag;
static bool removes;

/* While the other call waits for this process's chunks, it changes the key. */
static void change_before_the_other(void)
{
	bshm_segment *own = attach_store();
	const bshm_put put = {.key = wide, .value = {BSHM_VALUE_STRING, "new", 3}};
	const bshm__home home = bshm__home_of(own, BSHM_SPACE_CACHE, &wide);
	const bshm__shard of = bshm__shard_at(own, home.shard);
	REQUIRE(store_put(own, 9, 1, 20, 0, BSHM_PUT_SET) == 1);
	REQUIRE(bshm__shard_try(&of, own->owner));
	REQUIRE(bshm__parked_begin(&of));
	bshm__shard_leave(&of);
	raise_flag(next_flag);
	bshm_os_sleep_us(20000);
	bshm_error error;
	REQUIRE(bshm__shard_lock_wait(&of, BSHM_LOCK_BATCH_NS, &error) == BSHM_OK);
	REQUIRE((removes ? bshm__record_remove_locked(&of, &home, BSHM_SPACE_CACHE, &wide)
					 : bshm__record_put_step(&of, &home, &put, 0, 0)) == 1);
	bshm__parked_give_up(&of);
	bshm__shard_unlock(&of);
}

static void check_no_room_is_made(bshm_put_mode mode, const bshm_value *old)
{
	segment = open_store(MB(66), 0);
	s = bshm__shard_at(segment, shard_of_wide());
	store_fill_up(segment, 100, 200);
	bshm_error error;
	if (old != NULL) {
		CHECK_INT(bshm_record_put(segment, &(bshm_put){.key = wide, .value = *old}, &error), 1);
	}
	uint8_t *bytes = calloc(1, bshm__record_most(segment));
	bshm_patience patience = {.batch = true};
	const bshm_put put = {.key = wide,
		.value = {BSHM_VALUE_STRING, bytes, bshm__record_most(segment) - wide.length},
		.mode = mode,
		.expected = old,
		.patience = &patience};
	removes = mode == BSHM_PUT_REPLACE; /* else it puts "new", which is as long as "old" */
	const pid_t child = spawn(change_before_the_other);
	await_flag(next_flag++);
	const uint64_t before = store_evictions(segment);
	CHECK_INT(bshm_record_put(segment, &put, &error), 0);
	CHECK(store_evictions(segment) - before < 2000); /* the other's record may need a page */
	CHECK_INT(finish(child), 0);
	check_sound(segment);
	free(bytes);
}

TEST(a_put_whose_key_another_changes_meanwhile_makes_no_room)
{
	const bshm_value old = {BSHM_VALUE_STRING, "old", 3};
	check_no_room_is_made(BSHM_PUT_ADD, NULL);
	check_no_room_is_made(BSHM_PUT_CAS, NULL);
	check_no_room_is_made(BSHM_PUT_REPLACE, &old);
	check_no_room_is_made(BSHM_PUT_CAS, &old);
}

/* As another process might: the key comes and goes whenever the lock is free. */
static void come_and_go(void)
{
	bshm_error error;
	const bshm_put put = {
		.key = wide, .value = {BSHM_VALUE_STRING, "new", 3}, .mode = BSHM_PUT_ADD};
	if (BSHM_LOAD(&s.shard->lock, RELAXED) == 0 && bshm_record_put(segment, &put, &error) == 0) {
		bshm_record_remove(segment, BSHM_SPACE_CACHE, &wide, &error);
	}
	bshm__held.call_at = bshm__held.accesses + 7;
}

/* After some tries the value is put in one hold, whatever is there then: but not the room made. */
TEST(an_append_to_what_comes_and_goes_makes_room_in_steps)
{
	segment = open_store(MB(16), 0);
	s = bshm__shard_at(segment, 0);
	uint32_t next = store_fill_up(segment, 0, 20);
	const uint64_t bytes = bshm__record_most(segment) / 2;
	uint8_t *suffix = calloc(1, bytes);
	uint64_t length;
	bshm_error error;
	for (unsigned i = 0; i < 6; i++) {
		bshm__held = (bshm_held){.call = come_and_go, .call_at = 1 + i};
		CHECK_INT(bshm_record_append(segment, &wide, &(bshm_key){(const char *) suffix, bytes},
					  &(bshm_key){"", 0}, &length, &error),
			BSHM_OK);
		bshm__held.call = NULL;
		CHECK(bshm__held.most < 300000); /* 10 million, if all is made at once */
		bshm_record_remove(segment, BSHM_SPACE_CACHE, &wide, &error);
		const uint64_t before = store_evictions(segment);
		while (store_evictions(segment) == before) {
			store_put(segment, next++, 1, 20, 0, BSHM_PUT_SET);
		}
	}
	check_sound(segment);
	free(suffix);
}

/* It waits for another process, and then fails: what it would replace stays. */
TEST(a_set_of_most_of_a_shard_that_waits_in_vain_loses_nothing)
{
	segment = open_store(MB(66), 0);
	s = bshm__shard_at(segment, shard_of_wide());
	uint8_t *bytes = calloc(1, bshm__record_most(segment));
	CHECK_INT(put_wide(bytes), 1);
	const pid_t child = spawn(park_nothing_yet);
	await_flag(0);
	bshm_found found;
	CHECK_INT(put_wide(bytes), BSHM_E_TIMEOUT);
	CHECK_INT(bshm_record_find(segment, BSHM_SPACE_CACHE, &wide, 0, &found), 1);
	kill_child(child);
	CHECK_INT(put_wide(bytes), 1);
	check_sound(segment);
	free(bytes);
}

/* Both fit, if others go: so look-ups find the old one until the new one is whole. */
TEST(a_set_of_less_than_half_of_a_shard_is_found_all_the_time)
{
	segment = open_store(MB(66), 0);
	s = bshm__shard_at(segment, shard_of_wide());
	const uint64_t bytes = segment->shard_bytes * 43 / 100;
	uint8_t *value = calloc(1, bytes);
	const bshm_put put = {.key = wide, .value = {BSHM_VALUE_STRING, value, bytes - wide.length}};
	bshm_error error;
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	store_fill_up(segment, 0, 200);
	CHECK_INT(bshm_record_put(segment, &put, &error), 1); /* it may have been evicted */
	uint64_t access = 1;
	misses = 0;
	bshm__held.call = look_for_wide;
	for (was_asked = true; was_asked; access += 997) {
		was_asked = false;
		bshm__held.call_at = bshm__held.accesses + access;
		CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	}
	bshm__held.call = NULL;
	CHECK_INT(misses, 0);
	CHECK(access > 50000);
	check_sound(segment);
	free(value);
}

static void park_in_the_next_shard(void)
{
	park_chunks((uint32_t) BSHM_ADD(&test_words[0], 1, RELAXED), 60);
}

/* The same in each shard, and a call has a key in each. */
TEST(a_call_with_many_keys_waits_in_all_shards_no_longer_than_in_one)
{
	static const uint8_t bytes[300000];
	segment = open_store(MB(66), 0);
	const unsigned shards = segment->shard_count;
	REQUIRE(shards == 3);
	pid_t children[3];
	for (unsigned i = 0; i < shards; i++) {
		children[i] = spawn(park_in_the_next_shard);
	}
	for (unsigned i = 0; i < shards; i++) {
		s = bshm__shard_at(segment, i);
		while (!bshm__parked_in_use(&s)) {
			bshm_os_sleep_us(1000);
		}
	}
	bshm_patience patience = {0};
	unsigned waits = 0;
	for (uint64_t key = 0; patience.no_parking != (1u << shards) - 1 && key < 1000; key++) {
		const bshm_put put = {.key = {(const char *) &key, sizeof(key)},
			.value = {BSHM_VALUE_STRING, bytes, sizeof(bytes)},
			.patience = &patience};
		const int64_t undelayed = test_undelayed_ns();
		CHECK_INT(bshm_record_put(segment, &put, &(bshm_error){0}), 1);
		waits += test_undelayed_ns() - undelayed >= (int64_t) BSHM_LOCK_PAGE_NS / 2;
	}
	CHECK_INT(patience.no_parking, (1u << shards) - 1);
	CHECK(patience.parking_ns >= BSHM_LOCK_PAGE_NS);
	CHECK(waits <= 1); /* 0 where the process had no processor for most of it */
	for (unsigned i = 0; i < shards; i++) {
		kill_child(children[i]);
	}
}

static int put_some(bshm_segment *own, uint64_t key, uint32_t length, bshm_put_mode mode)
{
	static const uint8_t bytes[300000];
	const bshm_put put = {.key = {(const char *) &key, sizeof(key)},
		.value = {BSHM_VALUE_STRING, bytes, length},
		.mode = mode};
	bshm_error error;
	return bshm_record_put(own, &put, &error);
}

static void put_without_a_pause(void)
{
	bshm_segment *own = attach_store();
	raise_flag(0);
	for (uint64_t i = 1; BSHM_LOAD(&test_words[1], RELAXED) == 0; i++) {
		put_some(own, i << 32 | (uint64_t) getpid() << 8, 300, BSHM_PUT_SET);
	}
}

/* One that never pauses could use all the room that each step makes. */
TEST(room_for_a_large_value_is_made_beside_a_busy_writer)
{
	segment = open_store(MB(16), 0);
	uint32_t next = store_fill_up(segment, 0, 300);
	const pid_t children[] = {spawn(put_without_a_pause), spawn(put_without_a_pause)};
	await_flag(0);
	for (uint32_t i = 0; i < 6; i++) {
		const bshm_put_mode mode = i % 2 == 0 ? BSHM_PUT_SET : BSHM_PUT_REPLACE;
		CHECK_INT(PATIENTLY(put_some(segment, 1, 100, BSHM_PUT_SET)), 1);
		CHECK_INT(PATIENTLY(put_some(segment, 1, i % 3 == 0 ? 250000 : 40000, mode)), 1);
		CHECK_INT(PATIENTLY(store_remove(segment, 1)), 1);
		for (uint32_t k = 0; k < 20000; k++) { /* no page of chunks remains */
			put_some(segment, 2 + next++, 300, BSHM_PUT_SET);
		}
	}
	BSHM_STORE(&test_words[1], 1, RELAXED);
	CHECK_INT(finish(children[0]), 0);
	CHECK_INT(finish(children[1]), 0);
	check_sound(segment);
}

/* Small records, younger than the floor, are so many that a sample has hardly another one. Most of
 * the memory has older ones. */
TEST(large_values_that_were_put_just_now_outlive_older_records)
{
	test_slow();
	segment = open_store(MB(64), 0);
	s = bshm__shard_at(segment, 0);
	uint32_t number = 100;
	while (bytes_used() < MB(45)) {
		CHECK_INT(store_put(segment, number++, 1, 3000, 0, BSHM_PUT_SET), 1);
	}
	store_fill_up(segment, number, 8);
	for (uint32_t i = 0; i < LARGE_NEW; i++) {
		CHECK_INT(store_put(segment, i, 1, 1000000, 0, BSHM_PUT_SET), 1);
	}
	uint32_t present = 0;
	for (uint32_t i = 0; i < LARGE_NEW; i++) {
		uint64_t serial = 0;
		uint32_t length = 0;
		present += store_get(segment, i, &serial, &length) == 1;
	}
	CHECK_INT(present, LARGE_NEW);
	check_sound(segment);
}

/* Its number tells how long a large value is. */
static uint32_t length_of(uint64_t random)
{
	return 270000 + (uint32_t) (random % 1500000);
}

static void put_large_values(void)
{
	bshm_segment *own = attach_store();
	uint64_t random = test_words[0] + bshm_os_process_id();
	for (uint64_t i = 0;; i++) {
		const uint64_t drawn = test_random(&random);
		const uint32_t number = (uint32_t) (drawn % LARGE_KEYS);
		if (drawn >> 32 & 1) {
			store_put_once(own, number, i, length_of(drawn >> 8), 0, BSHM_PUT_SET);
		} else if (drawn >> 33 & 1) {
			store_put_once(own, 100 + (uint32_t) (drawn % 5000), i, 30, 0, BSHM_PUT_SET);
		} else if (drawn >> 34 & 1) { /* put anew, if it has no word for a ttl */
			const uint64_t key = number;
			bshm_record_touch(own, &(bshm_key){(const char *) &key, 8}, 30, &(bshm_error){0});
		} else {
			store_put_once(own, number, i, length_of(drawn >> 8), 30, BSHM_PUT_REPLACE);
		}
	}
}

TEST(large_values_are_whole_beside_writers_that_die)
{
	test_slow();
	segment = open_store(MB(16), 0);
	s = bshm__shard_at(segment, 0);
	test_words[0] = test_seed();
	pid_t children[3] = {spawn(put_large_values), spawn(put_large_values), spawn(put_large_values)};
	const uint64_t until = test_processor_ns() + UINT64_C(1000000000);
	uint64_t hits = 0;
	for (unsigned i = 0; test_processor_ns() < until && !test_failed(); i++) {
		uint64_t serial = 0;
		uint32_t length = 0;
		const int got = store_get(segment, i % LARGE_KEYS, &serial, &length);
		CHECK(got >= 0);
		hits += got == 1;
		if (i % 16 == 0) {
			kill_child(children[i / 16 % 3]);
			children[i / 16 % 3] = spawn(put_large_values);
		}
		if (i % 64 == 0) {
			const int faults = bshm_segment_check(segment, store_told, NULL, &(bshm_error){0});
			CHECK(faults == 0 || faults == BSHM_E_TIMEOUT);
		}
	}
	for (unsigned i = 0; i < 3; i++) {
		kill_child(children[i]);
	}
	test_note("%llu values read", (unsigned long long) hits);
	CHECK(hits != 0);
	check_sound(segment);
	clear_all(segment);
	store_put(segment, 0, 0, 300000, 0, BSHM_PUT_SET);
	CHECK_INT(bshm__parked(&s), 0);
	CHECK_INT(records_of(segment), 1);
	check_sound(segment);
}

/* All free slots for chunks are taken meanwhile, as by other processes' records. */
TEST(a_put_that_gets_no_chunk_leaves_the_chain_to_others)
{
	segment = open_store(MB(4), 0);
	s = bshm__shard_at(segment, 0);
	uint32_t taken = 0;
	for (uint32_t ref; (ref = bshm__slot_find(&s, BSHM_CLASS_CHUNK, 0)) != 0; taken++) {
		bshm__slot_take(&s, ref);
	}
	CHECK(taken > 60);
	CHECK_INT(store_put(segment, 1, 1, 300000, 0, BSHM_PUT_SET), 0);
	CHECK(!bshm__parked_in_use(&s));
}

/* As soon as there is a chain, the word that leads to it is damaged: it leads nowhere, or somewhere
 * in the shard. */
static void damage_the_chain(void)
{
	const bshm__shard own = bshm__shard_at(attach_store(), 0);
	uint64_t random = test_seed();
	for (uint32_t damaged = 7;;) {
		const uint32_t parked = bshm__parked(&own);
		if (parked != 0 && parked != damaged) {
			const uint32_t drawn = (uint32_t) test_random(&random);
			const uint32_t within = own.first_ref + (drawn >> 8) % (segment->shard_pages << 12);
			damaged = drawn % 2 == 0 ? 7 : within;
			BSHM_STORE(&own.shard->parked, damaged, RELAXED);
		}
		BSHM_STORE(&test_words[0], 1, RELEASE);
	}
}

TEST(a_chain_that_is_damaged_while_it_grows_crashes_nobody)
{
	segment = open_store(MB(8), 0);
	const pid_t child = spawn(damage_the_chain);
	while (BSHM_LOAD(&test_words[0], ACQUIRE) == 0) {
		bshm_os_sleep_us(1000);
	}
	uint64_t random = test_seed();
	for (unsigned i = 0; i < 40 && !test_failed(); i++) {
		store_put_once(segment, i % 5, i, length_of(test_random(&random)), 0, BSHM_PUT_SET);
	}
	kill_child(child);
}
