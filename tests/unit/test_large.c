/*
 * test_large.c - large records are put without holding the lock for long: large.c, parked.c.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "platform/platform.h"
#include "test_park.h"

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

static const bshm_key fleeting = {"fleeting", 8};

/* As another process might: the key comes and goes whenever the lock is free. */
static void come_and_go(void)
{
	bshm_error error;
	const bshm_put put = {
		.key = fleeting, .value = {BSHM_VALUE_STRING, "new", 3}, .mode = BSHM_PUT_ADD};
	if (BSHM_LOAD(&s.shard->lock, RELAXED) == 0 && bshm_record_put(segment, &put, &error) == 0) {
		bshm_record_remove(segment, BSHM_SPACE_CACHE, &fleeting, &error);
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
		CHECK_INT(bshm_record_append(segment, &fleeting, &(bshm_key){(const char *) suffix, bytes},
					  &(bshm_key){"", 0}, &length, &error),
			BSHM_OK);
		bshm__held.call = NULL;
		CHECK(bshm__held.most < 300000); /* 10 million, if all is made at once */
		bshm_record_remove(segment, BSHM_SPACE_CACHE, &fleeting, &error);
		const uint64_t before = store_evictions(segment);
		while (store_evictions(segment) == before) {
			store_put(segment, next++, 1, 20, 0, BSHM_PUT_SET);
		}
	}
	check_sound(segment);
	free(suffix);
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
