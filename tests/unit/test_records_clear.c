/*
 * test_records_clear.c - all records are removed, or those with a prefix, beside other processes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/chain.h"
#include "core/cache/shard_lock.h"
#include "core/cache/table.h"
#include "core/cache/walk.h"
#include "test_slow.h"
#include "test_store.h"

#include <stdio.h>

#define GROUPS 4u

/* Records of four groups: a key is the letter of its group, and a number. */
static int put_in_group(bshm_segment *segment, uint32_t group, uint32_t number, uint32_t length)
{
	char name[16];
	uint8_t *bytes = malloc(length + 1);
	store_fill(bytes, number, group, length);
	const int key_bytes = snprintf(name, sizeof(name), "%c%u", 'a' + group, number);
	const bshm_put put = {
		.key = {name, (size_t) key_bytes},
		.value = {BSHM_VALUE_STRING, bytes, length},
	};
	bshm_error error;
	const int stored = PATIENTLY(bshm_record_put(segment, &put, &error));
	free(bytes);
	return stored;
}

static bool has_in_group(bshm_segment *segment, uint32_t group, uint32_t number)
{
	char name[16];
	const int key_bytes = snprintf(name, sizeof(name), "%c%u", 'a' + group, number);
	bshm_found found;
	return bshm_record_find(segment, 0, &(bshm_key){name, (size_t) key_bytes}, 0, &found) == 1;
}

static uint64_t clear_prefix(bshm_segment *segment, const char *prefix)
{
	return bshm_records_clear(segment, &(bshm_key){prefix, strlen(prefix)});
}

/* Again where a lock was not to be had: how many of so many records were removed. */
static uint64_t clear_patiently(bshm_segment *segment, const char *prefix, uint64_t records)
{
	uint64_t removed = clear_prefix(segment, prefix);
	for (unsigned again = 0; removed < records && again < REFUSED_MAX; again++) {
		removed += clear_prefix(segment, prefix);
	}
	return removed;
}

static uint32_t count_group(bshm_segment *segment, uint32_t group, uint32_t count)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < count; i++) {
		found += has_in_group(segment, group, i);
	}
	return found;
}

TEST(records_with_a_prefix_go_and_others_stay)
{
	bshm_segment *segment = open_store(MB(8), 0);
	for (uint32_t i = 0; i < 2000; i++) {
		for (uint32_t g = 0; g < GROUPS; g++) {
			REQUIRE(put_in_group(segment, g, i, i % 50 == 0 ? 5000 + i * 4 : i % 300) == 1);
		}
	}
	const uint64_t records = records_of(segment);
	CHECK_INT(clear_prefix(segment, "none"), 0);
	CHECK_INT(records_of(segment), records);
	CHECK_INT(clear_prefix(segment, "b1"), count_group(segment, 0, 0) + 1111);
	CHECK_INT(clear_prefix(segment, "b"), 2000 - 1111);
	CHECK_INT(count_group(segment, 1, 2000), 0);
	CHECK_INT(count_group(segment, 2, 2000), 2000);
	check_sound(segment);
	CHECK_INT(clear_prefix(segment, ""), 3 * 2000);
	CHECK_INT(records_of(segment), 0);
	check_sound(segment);
}

/* Of a full store: while its first tables are cleared there is no page for smaller units. */
TEST(an_empty_store_has_no_index_but_the_smallest_one)
{
	bshm_segment *segment = open_store(MB(16), 0);
	const bshm_shard_header *shard = bshm__shard_at(segment, 0).shard;
	store_fill_up(segment, 0, 8);
	CHECK(BSHM_LOAD(&shard->classes[BSHM_CLASS_INDEX].used, RELAXED) > 500);
	CHECK(bshm_records_clear(segment, &(bshm_key){"", 0}) > 100000);
	CHECK_INT(BSHM_LOAD(&shard->classes[BSHM_CLASS_INDEX].used, RELAXED), 0);
	check_sound(segment);
}

/* A long key goes on in the chunks, and so does the prefix. */
TEST(a_prefix_may_be_as_long_as_a_key)
{
	bshm_segment *segment = open_store(MB(4), 0);
	static char key[20000];
	memset(key, 'k', sizeof(key));
	bshm_error error;
	for (size_t length = 100; length <= sizeof(key); length += 1990) {
		const bshm_put put = {.key = {key, length}, .value = {BSHM_VALUE_STRING, "v", 1}};
		REQUIRE(bshm_record_put(segment, &put, &error) == 1);
	}
	CHECK_INT(bshm_records_clear(segment, &(bshm_key){key, sizeof(key)}), 1);
	key[9000] = 'x';
	CHECK_INT(bshm_records_clear(segment, &(bshm_key){key, 9001}), 0);
	key[9000] = 'k';
	CHECK_INT(bshm_records_clear(segment, &(bshm_key){key, 9001}), 5);
	CHECK_INT(bshm_records_clear(segment, &(bshm_key){key, 1}), 5);
	check_sound(segment);
}

/* Other records come and go meanwhile, so tables grow and shrink. */
static void change_others(void)
{
	bshm_segment *segment = attach_store();
	raise_flag(0);
	for (uint32_t i = 0;; i++) {
		put_in_group(segment, 1, i % 20000, 20 + i % 40);
		if (i % 20000 == 19999) {
			clear_prefix(segment, "b1");
		}
	}
}

TEST(no_record_is_left_or_lost_beside_other_changes)
{
	bshm_segment *segment = open_store(MB(8), 0);
	for (uint32_t i = 0; i < 2000; i++) {
		REQUIRE(put_in_group(segment, 2, i, i % 100) == 1);
	}
	const pid_t child = spawn(change_others);
	await_flag(0);
	for (unsigned round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			REQUIRE(put_in_group(segment, 0, i, i % 60) == 1);
		}
		CHECK_INT(clear_patiently(segment, "a", 5000), 5000);
		CHECK_INT(count_group(segment, 0, 5000), 0);
		CHECK_INT(count_group(segment, 2, 2000), 2000);
	}
	kill_child(child);
	check_sound(segment);
}

/* What is counted where another process holds the lock: each record that stays. */
static void hold_lock(void)
{
	bshm_segment *segment = attach_store();
	REQUIRE(put_in_group(segment, 3, 0, 1) == 1);
	BSHM_STORE(&segment->shards[0].lock, segment->owner, RELEASE);
	raise_flag_and_sleep(0);
}

TEST(each_record_that_has_to_stay_is_counted)
{
	bshm_segment *segment = open_store(MB(4), 0);
	for (uint32_t i = 0; i < 3000; i++) {
		REQUIRE(put_in_group(segment, i % 2, i, 10) == 1);
	}
	const pid_t child = spawn(hold_lock);
	await_flag(0);
	CHECK_INT(clear_prefix(segment, "a"), 0);
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	CHECK_INT(info.lock_timeouts, 1500);
	CHECK_INT(clear_prefix(segment, ""), 0);
	bshm_store_stat(segment, &info);
	CHECK_INT(info.lock_timeouts, 1500 + 3001);
	kill_child(child);
	CHECK_INT(clear_prefix(segment, ""), 3001);
	check_sound(segment);
}

static void resize_locked(const bshm__shard *s, uint32_t buckets)
{
	REQUIRE(bshm__table_resize(s, 0, buckets));
	bshm__shard_unlock(s);
}

/* Makes the table tiny while another process waits to remove the records of its last buckets. */
static void shrink_meanwhile(void)
{
	bshm_segment *segment = attach_store();
	const bshm__shard s = bshm__shard_at(segment, 0);
	bshm_error error;
	REQUIRE(bshm__shard_lock(&s, BSHM_LOCK_BATCH_NS, &error) == BSHM_OK);
	raise_flag(0);
	while (BSHM_LOAD(&s.shard->starving, RELAXED) == 0) {
		bshm_sleep_us(100);
	}
	resize_locked(&s, 4);
	raise_flag_and_sleep(1);
}

/* They have no room in the last two of its four buckets. */
TEST(a_table_may_become_tiny_before_its_last_part_is_cleared)
{
	bshm_segment *segment = open_store(MB(1), 8191);
	const bshm__shard s = bshm__shard_at(segment, 0);
	bshm_error error;
	for (uint32_t i = 0, count = 0; count < 36; i++) {
		char name[16];
		const int length = snprintf(name, sizeof(name), "a%u", i);
		const bshm_key key = {name, (size_t) length};
		if (bshm__home_of(segment, BSHM_SPACE_CACHE, &key).position >= BSHM_POSITIONS / 2) {
			REQUIRE(put_in_group(segment, 0, i, 10) == 1);
			count++;
		}
	}
	REQUIRE(bshm__shard_lock(&s, BSHM_LOCK_BATCH_NS, &error) == BSHM_OK);
	resize_locked(&s, 2 * BSHM_UNIT_BUCKETS);
	const pid_t child = spawn(shrink_meanwhile);
	await_flag(0);
	CHECK_INT(clear_patiently(segment, "a", 36), 36);
	CHECK_INT(records_of(segment), 0);
	check_sound(segment);
	kill_child(child);
}

TEST(a_record_whose_chain_is_lost_goes)
{
	bshm_segment *segment = open_store(MB(8), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	REQUIRE(put_in_group(segment, 0, 0, 1000000) == 1);
	bshm__walk w = {0, 0, 0};
	uint32_t state;
	uint32_t ref;
	while ((ref = bshm__walk_next(&s, &w, &state)) != 0 && (state & BSHM_SLOT_CHAINED) == 0) {
	}
	REQUIRE(ref != 0);
	bshm__word_set(&s, ref, bshm__chain_word(&s, ref), 0);
	CHECK_INT(clear_patiently(segment, "", 1), 1);
	CHECK_INT(records_of(segment), 0);
	bshm_segment_close(segment);
}

/* One that is slow while it takes the lock, or makes a table smaller, is late. */
TEST(a_process_that_is_slow_ends_its_step_early)
{
	bshm_segment *segment = open_store(MB(8), 0);
	for (uint32_t i = 0; i < 40000; i++) {
		REQUIRE(put_in_group(segment, 0, i, 50) == 1);
	}
	slow.again = 40000;
	slow.end = 6000;
	begin_slow(1);
	CHECK_INT(clear_patiently(segment, "", 40000), 40000);
	bshm__held.call = NULL;
	check_sound(segment);
	test_note("%u of %u times late", slow.late, slow.times);
	CHECK(slow.times >= 20);
	CHECK(slow.late <= slow.times / 2);
	bshm_segment_close(segment);
}
