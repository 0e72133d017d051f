/*
 * test_verify.c - the validator of the record store finds what is damaged, and says what it is.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_shard.h"
#include "test_slow.h"

#include "platform/platform.h"

#include <pthread.h>
#include <stdio.h>

static char told[16][64];
static unsigned told_count;

static void remember(void *context, const char *what, const char *name)
{
	(void) context;
	(void) name;
	if (told_count < 16) {
		snprintf(told[told_count++], sizeof(told[0]), "%s", what);
	}
}

/* Some small records, and a large one whose number is 1000. */
static void stand(void)
{
	segment = open_store(MB(2), 0);
	s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 100; i++) {
		REQUIRE(store_put(segment, i, i, 100, 0, BSHM_PUT_SET) == 1);
	}
	REQUIRE(store_put(segment, 1000, 7, 200000, 0, BSHM_PUT_SET) == 1);
	check_sound(segment);
}

/* The validator tells of it, in these words. */
static void check_told(const char *expected)
{
	bool found = false;
	told_count = 0;
	CHECK(bshm_segment_check(segment, remember, NULL, &(bshm_error){0}) > 0);
	for (unsigned i = 0; i < told_count; i++) {
		found |= strcmp(told[i], expected) == 0;
	}
	for (unsigned i = 0; i < told_count && !found; i++) {
		test_note("told: %s", told[i]);
	}
	CHECK(found);
}

TEST(a_cell_that_leads_to_a_free_slot_is_found)
{
	stand();
	bshm__slot_free(&s, locate(1).ref);
	check_told("something leads to a slot that is free");
}

TEST(two_refs_that_lead_to_one_slot_are_found)
{
	stand();
	BSHM_STORE(bshm__cell_word(&s, locate(1).cell), locate(2).ref, RELAXED);
	check_told("two refs lead to one slot");
	check_told("nothing leads to a slot that is taken");
}

TEST(a_broken_chain_is_found)
{
	stand();
	const uint32_t chunk = locate(1000).record.next;
	set_word(chunk, 1, 0);
	check_told("a large record's chain is broken");
}

TEST(a_chain_that_does_not_lead_back_is_found)
{
	stand();
	const uint32_t chunk = locate(1000).record.next;
	set_word(chunk, 2, word(chunk, 2) + 1);
	check_told("a large record's chain does not lead back");
}

TEST(a_damaged_record_is_found)
{
	stand();
	set_word(locate(3).ref, 0, 0);
	check_told("a record is damaged");
}

/* No call could read it. */
TEST(a_value_of_no_type_is_found)
{
	stand();
	const uint32_t ref = locate(3).ref;
	const uint32_t shape = word(ref, 1);
	set_word(ref, 1, shape ^ 8u << BSHM_SHAPE_TYPE);
	check_told("a record is damaged");
	set_word(ref, 1, shape ^ (BSHM_VALUE_STRING ^ BSHM_VALUE_INT) << BSHM_SHAPE_TYPE);
	check_told("a record is damaged"); /* a number has 8 bytes */
	/* Only what a filter let through may be without a value. */
	set_word(ref, 1, (shape & ~(15u << BSHM_SHAPE_TYPE)) | BSHM_VALUE_NOTHING << BSHM_SHAPE_TYPE);
	check_told("a record is damaged");
	set_word(ref, 1, shape);
	check_sound(segment);
}

TEST(a_record_that_is_not_where_its_key_belongs_is_found)
{
	stand();
	const bshm__existing a = locate(4);
	const bshm__existing b = locate(5);
	BSHM_STORE(bshm__cell_word(&s, a.cell), b.ref, RELAXED);
	BSHM_STORE(bshm__cell_word(&s, b.cell), a.ref, RELAXED);
	check_told("a record cannot be found where its key belongs");
}

TEST(damaged_buckets_are_found)
{
	stand();
	const bshm__buckets buckets = bshm__buckets_of(segment, 0);
	REQUIRE(buckets.count != 0);
	BSHM_AND(&segment->roots[0], UINT32_MAX, RELAXED); /* no first unit */
	check_told("a table's buckets are damaged");
}

TEST(wrong_counts_are_found)
{
	stand();
	BSHM_ADD(&s.shard->records, 1, RELAXED);
	check_told("the record store counts what it does not hold");
	BSHM_SUB(&s.shard->records, 1, RELAXED);
	check_sound(segment);
	BSHM_ADD(&s.shard->data_bytes, 1, RELAXED);
	check_told("the record store counts what it does not hold");
}

TEST(a_lost_slot_is_found)
{
	stand();
	const uint32_t ref = bshm__slot_find(&s, bshm__class_of(100), 0);
	REQUIRE(ref != 0);
	bshm__slot_take(&s, ref);
	check_told("nothing leads to a slot that is taken");
	bshm__slot_free(&s, ref);
	check_sound(segment);
}

TEST(an_unfinished_change_is_found)
{
	stand();
	BSHM_STORE(&s.shard->intent.kind, BSHM_INTENT_PUT, RELEASE);
	check_told("a change of the record store was left unfinished");
}

TEST(more_records_than_there_may_be_are_found)
{
	stand();
	segment->cache_records = 100; /* there are 101 */
	check_told("the record store holds more records than it may");
}

static void verify_slowly(uint64_t at)
{
	begin_slow(at);
	check_sound(segment);
	bshm__held.call = NULL;
}

/* One that is slow while it takes the lock is late. */
TEST(a_process_that_is_slow_ends_its_step_early)
{
	segment = open_store(MB(8), 0);
	for (uint32_t i = 0; i < 20000; i++) {
		REQUIRE(store_put(segment, i, i, 100, 0, BSHM_PUT_SET) == 1);
	}
	slow.again = 7000;
	slow.end = 6000;
	verify_slowly(1);
	test_note("%u of %u times late; %llu accesses in a hold at most", slow.late, slow.times,
		(unsigned long long) bshm__held.most);
	CHECK(slow.times >= 20);
	CHECK(slow.late <= 2);
}

/* It walks a chain twice, so one that the machine stopped in the first walk may be late. */
TEST(so_it_does_in_the_chain_of_a_large_record)
{
	enum {
		TIMES = 50
	};
	segment = open_store(MB(64), 0);
	REQUIRE(store_put(segment, 0, 0, 6000000, 0, BSHM_PUT_SET) == 1);
	bshm__held = (bshm_held){0};
	check_sound(segment);
	const uint64_t all = bshm__held.accesses;
	slow.end = 1000;
	for (uint64_t i = 0; i < TIMES; i++) {
		verify_slowly(1 + all * i / TIMES);
	}
	test_note("%u of %u times late; %llu accesses in all", slow.late, slow.times,
		(unsigned long long) all);
	CHECK(slow.times > TIMES / 2);
	CHECK(slow.late <= TIMES / 10);
}

static uint32_t done;

static void *use_records(void *own)
{
	for (uint64_t i = 0; BSHM_LOAD(&done, RELAXED) == 0; i++) {
		uint64_t serial = 0;
		uint32_t length = 0;
		const uint32_t number = (uint32_t) (i % 100);
		store_put(own, number, i, 100 + (uint32_t) (i % 50), 0, BSHM_PUT_SET);
		(void) store_get(own, number / 2, &serial, &length);
		if (i % 16 == 0) {
			store_put(own, 1000, i, 30000, 0, BSHM_PUT_SET);
		}
	}
	forget_views();
	return NULL;
}

/* Under ThreadSanitizer: it reads no word as another process may be writing it. */
THREAD_TEST(a_store_that_is_used_is_sound)
{
	stand();
	bshm_segment *own = attach_store();
	share_mapping(own, segment);
	pthread_t thread;
	REQUIRE(pthread_create(&thread, NULL, use_records, own) == 0);
	for (int i = 0; i < 50; i++) {
		const int count = bshm_segment_check(segment, remember, NULL, &(bshm_error){0});
		CHECK(count == 0 || count == BSHM_E_TIMEOUT);
	}
	BSHM_STORE(&done, 1, RELAXED);
	pthread_join(thread, NULL);
	check_sound(segment);
}

/* Puts and removes records of all sizes, far more than there is room for. */
static void churn(void)
{
	bshm_segment *own = attach_store();
	uint64_t random = test_words[0] + bshm_os_process_id();
	raise_flag(0);
	for (uint64_t i = 0;; i++) {
		const uint32_t number = (uint32_t) (test_random(&random) % 60000);
		const uint32_t kind = (uint32_t) (test_random(&random) % 512);
		const uint32_t length = kind == 0 ? 5000 + number * 3 : 16 + number % 64;
		if (kind % 4 == 1) {
			store_remove(own, number);
		} else {
			store_put(own, number, i, length, 0, BSHM_PUT_SET);
		}
		if (i % 20000 == 19999) { /* tables get fewer units, and more again */
			bshm_records_clear(own, &(bshm_key){"", 0});
		}
	}
}

/* The validator looks at a part of a shard at a time, and others change and die meanwhile. */
TEST(a_store_that_changes_between_two_steps_is_sound)
{
	test_slow();
	segment = open_store(MB(8), 0);
	for (uint32_t i = 0; i < 60000; i++) {
		store_put(segment, i, 1, 50, 0, BSHM_PUT_SET);
	}
	test_words[0] = test_seed();
	pid_t children[2] = {spawn(churn), spawn(churn)};
	await_flag(0);
	unsigned done_checks = 0;
	const uint64_t until = test_processor_ns() + UINT64_C(3000000000);
	while (test_processor_ns() < until && !test_failed()) {
		const int count = bshm_segment_check(segment, store_told, NULL, &(bshm_error){0});
		CHECK(count == 0 || count == BSHM_E_TIMEOUT);
		if (++done_checks % 16 == 0) {
			pid_t *child = &children[done_checks / 16 % 2];
			kill_child(*child);
			*child = spawn(churn);
		}
	}
	test_note("%u times", done_checks);
	kill_child(children[0]);
	kill_child(children[1]);
	check_sound(segment);
}
