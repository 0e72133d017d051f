/*
 * test_ops.c - records of work in progress, and the journal.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/build.h"
#include "core/filter/lay.h"
#include "core/filter/mend.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "core/segment/directory.h"
#include "core/segment/journal.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/ops.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

static bshm_segment *segment;

static uint64_t room_of(void)
{
	return (uint64_t) segment->chunk_count * BSHM_CHUNK_HASHES;
}

/* A segment that is locked for the rest of the test, with the name "f". */
static uint32_t lock_with_a_name(void)
{
	segment = open_segment(MB(1));
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	const bshm__name name = bshm__name_of("f", 1);
	uint32_t index;
	REQUIRE(bshm__entry_create(segment, &name, &index, &last_error) == BSHM_OK);
	return index;
}

static int note(uint32_t index, uint64_t number)
{
	const bshm_key key = {(const char *) &number, sizeof(number)};
	return bshm__journal_add(segment, index, &key, true);
}

/* Takes everything out; CHECKs that it is the keys from..to-1, each once. */
static void expect_journal(bshm_op *op, uint64_t from, uint64_t to)
{
	static bshm_hash hashes[8192];
	REQUIRE(to - from < 8192);
	CHECK_INT(op->pending, to - from);
	size_t count = 0;
	size_t taken;
	while ((taken = bshm__journal_take(segment, op, hashes + count, 100)) != 0) {
		CHECK(taken <= 100);
		count += taken;
		REQUIRE(count <= to - from);
	}
	CHECK_INT(count, to - from);
	CHECK_INT(op->pending, 0);
	for (uint64_t key = from; key < to; key++) {
		const bshm_hash h = bshm__hash_key(&key, sizeof(key), op->seed);
		size_t found = 0;
		for (size_t i = 0; i < count; i++) {
			found += hashes[i].low == h.low && hashes[i].high == h.high;
		}
		CHECK_INT(found, 1);
	}
}

TEST(a_journal_holds_what_was_noted)
{
	const uint32_t index = lock_with_a_name();
	CHECK_INT(note(index, 1), 0); /* no op keeps one */
	bshm_op *op = bshm__op_begin(segment, BSHM_OP_BUILD, index, 42, false);
	REQUIRE(op != NULL);
	CHECK_INT(segment->entries[index].builders, 1);
	CHECK(bshm__op_sound(segment, op));
	expect_journal(op, 0, 0);
	for (uint64_t count = 1; count < 1200; count = count * 3 + 1) {
		for (uint64_t key = 0; key < count; key++) {
			CHECK_INT(note(index, key), 1);
		}
		expect_journal(op, 0, count);
	}
	bshm__op_end(segment, op);
	CHECK_INT(segment->entries[index].name[0], 0); /* nothing was published: no name is left */
	bshm__unlock(segment);
	CHECK_INT(faults(segment), 0);
}

TEST(a_key_noted_again_at_once_takes_no_more_room)
{
	const uint32_t index = lock_with_a_name();
	bshm_op *op = bshm__op_begin(segment, BSHM_OP_BUILD, index, 42, false);
	for (uint64_t i = 0; i < 100000; i++) {
		CHECK_INT(note(index, i % 50), 1);
	}
	expect_journal(op, 0, 50);
	bshm__unlock(segment);
}

TEST(a_full_journal_says_so_and_works_again_when_emptied)
{
	const uint32_t index = lock_with_a_name();
	bshm_op *op = bshm__op_begin(segment, BSHM_OP_BUILD, index, 42, false);
	for (uint64_t key = 0; key < room_of(); key++) {
		CHECK_INT(note(index, key), 1);
	}
	CHECK_INT(op->lost, 0);
	CHECK_INT(note(index, 999999), -1);
	CHECK_INT(op->lost, 1);
	expect_journal(op, 0, room_of());
	for (uint64_t key = 0; key < room_of(); key++) {
		CHECK_INT(note(index, key), 1);
	}
	expect_journal(op, 0, room_of());
	bshm__unlock(segment);
}

TEST(each_op_has_a_journal_of_its_own)
{
	const uint32_t index = lock_with_a_name();
	bshm_op *first = bshm__op_begin(segment, BSHM_OP_BUILD, index, 1, false);
	for (uint64_t key = 0; key < 300; key++) {
		CHECK_INT(note(index, key), 1);
	}
	bshm_op *second = bshm__op_begin(segment, BSHM_OP_BUILD, index, 2, false);
	CHECK(first->serial != second->serial);
	for (uint64_t key = 300; key < 900; key++) {
		CHECK_INT(note(index, key), 1);
	}
	expect_journal(second, 300, 900);
	expect_journal(first, 0, 900);
	for (uint64_t key = 0; key < 10; key++) {
		CHECK_INT(note(index, key), 1);
	}
	bshm__op_end(segment, first); /* its chunks are the next one's */
	CHECK_INT(segment->entries[index].builders, 1);
	for (uint64_t key = 10; key < room_of(); key++) {
		CHECK_INT(note(index, key), 1);
	}
	expect_journal(second, 0, room_of());
	bshm__unlock(segment);
}

TEST(a_reused_op_does_not_find_the_last_ones_keys)
{
	const uint32_t index = lock_with_a_name();
	bshm_op *anchor = bshm__op_begin(segment, BSHM_OP_BUILD, index, 1, false);
	REQUIRE(anchor != NULL);
	for (int round = 0; round < 1000; round++) {
		bshm_op *op = bshm__op_begin(segment, BSHM_OP_BUILD, index, 2, false);
		REQUIRE(op != NULL);
		CHECK_INT(op->pending, 0);
		CHECK_INT(note(index, (uint64_t) round % 100), 1);
		expect_journal(op, (uint64_t) round % 100, (uint64_t) round % 100 + 1);
		CHECK_INT(note(index, (uint64_t) round % 100), 1); /* left behind */
		bshm__op_end(segment, op);
	}
	bshm__unlock(segment);
	CHECK_INT(faults(segment), 0);
}

TEST(applying_takes_nothing_out)
{
	const uint32_t index = lock_with_a_name();
	bshm_op *op = bshm__op_begin(segment, BSHM_OP_BUILD, index, 42, false);
	for (uint64_t key = 0; key < 700; key++) {
		CHECK_INT(note(index, key), 1);
	}
	bshm_descriptor d = {.seed = 42, .state = BSHM_STATE_LIVE};
	set_layer(segment, &d, (bshm_run){3, 2, 0}, 20);
	bshm_view view = {0};
	REQUIRE(bshm__view_lay(segment, &view, &d, &d.newest) == BSHM_OK);
	CHECK_INT(bshm__journal_apply(segment, op, &view), 700);
	CHECK_INT(bshm__journal_apply(segment, op, &view), 0);
	expect_journal(op, 0, 700);
	bshm__view_release(&view);
	bshm__unlock(segment);
}

TEST(chunks_that_count_too_much_are_read_no_further_than_they_go)
{
	const uint32_t index = lock_with_a_name();
	bshm_op *op = bshm__op_begin(segment, BSHM_OP_BUILD, index, 42, false);
	CHECK_INT(note(index, 1), 1);
	const uint64_t counts[] = {BSHM_CHUNK_HASHES + 1, 1u << 20, UINT64_MAX};
	for (size_t i = 0; i < 3; i++) {
		segment->chunks[op->chunk - 1].count = counts[i];
		CHECK_INT(note(index, 2), 1); /* goes into another chunk */
		static bshm_hash hashes[8192];
		CHECK(bshm__journal_take(segment, op, hashes, 8192) <= room_of());
		CHECK_INT(note(index, 3), 1);
	}
	op->chunk = UINT32_MAX;
	CHECK_INT(note(index, 4), 1);
	bshm__unlock(segment);
}

static void begin_all_and_die(void)
{
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		const char *text = numbered("f-", i);
		const bshm__name name = bshm__name_of(text, strlen(text));
		uint32_t index;
		REQUIRE(bshm__entry_create(segment, &name, &index, &last_error) == BSHM_OK);
		REQUIRE(bshm__op_begin(segment, BSHM_OP_BUILD, index, i, false) != NULL);
		for (uint64_t key = 0; key < 60; key++) {
			CHECK(note(index, key) != 0); /* noted, or the journal is full */
		}
	}
	CHECK(bshm__op_begin(segment, BSHM_OP_BUILD, 0, 0, false) == NULL);
	bshm__unlock(segment);
}

TEST(the_dead_leave_neither_ops_nor_journals_nor_names)
{
	segment = open_segment(MB(8)); /* 32 chunks, and more ops than those */
	CHECK(segment->chunk_count < BSHM_OP_COUNT);
	for (int round = 0; round < 3; round++) {
		const pid_t child = spawn(begin_all_and_die);
		finish(child);
		bshm_build *build = begin_build(segment, "f-0");
		for (uint64_t key = 0; key < room_of() / 2; key++) {
			CHECK_INT(add_number(segment, "f-0", key), round == 0 ? BSHM_E_NOT_FOUND : 0);
		}
		CHECK_INT(publish(build, NULL), BSHM_OK);
		CHECK_INT(absent(segment, "f-0", 0, room_of() / 2), 0);
		CHECK_INT(stat_of(segment).filters, 1);
		for (uint32_t i = 1; i < segment->entry_count; i++) {
			CHECK(segment->entries[i].name[0] == 0 ||
				  &segment->entries[i] == entry_of(segment, "f-0"));
		}
		CHECK_INT(faults(segment), 0);
	}
}

TEST(an_op_that_was_damaged_is_not_believed)
{
	const uint32_t index = lock_with_a_name();
	bshm_op *op = bshm__op_begin(segment, BSHM_OP_BUILD, index, 42, false);
	const bshm_run run = {5, 7, 0};
	bshm__op_claim(segment, op, &run);
	CHECK(bshm__op_sound(segment, op));
	uint8_t *bytes = (uint8_t *) op;
	for (size_t i = offsetof(bshm_op, serial); i < offsetof(bshm_op, pending); i++) {
		bytes[i] ^= 4;
		CHECK(!bshm__op_sound(segment, op));
		bytes[i] ^= 4;
	}
	CHECK(bshm__op_sound(segment, op));
	bshm__unlock(segment);
}

static uint32_t written; /* 1: the writer has done its work */

static void *look_all_the_time(void *reader)
{
	while (BSHM_LOAD(&written, RELAXED) == 0) {
		bshm_stat stat;
		CHECK_INT(bshm_segment_stat(reader, &stat, &(bshm_error){0}), BSHM_OK);
	}
	return NULL;
}

/* Under ThreadSanitizer: who asks for figures and has no lock reads no word of an op that its
 * writers write plainly. */
THREAD_TEST(figures_are_taken_beside_writers)
{
	segment = open_segment(MB(1));
	bshm_segment *reader = open_segment_readonly(); /* it may not take the lock */
	share_mapping(reader, segment);
	pthread_t thread;
	REQUIRE(pthread_create(&thread, NULL, look_all_the_time, reader) == 0);
	for (int i = 0; i < 20; i++) {
		bshm_build *build = begin_build(segment, "f");
		/* The op notes keys for a filter that is not there, and then more than it has room for. */
		for (uint64_t number = 0; number < room_of() + 1; number++) {
			const bshm_key key = {(const char *) &number, sizeof(number)};
			REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
			bshm__journal_add(segment, build->op->entry - 1, &key, number % 2 == 0);
			bshm__unlock(segment);
			number += number == 10 && i != 0 ? room_of() : 0; /* once is enough */
		}
		bshm_build_abort(build);
	}
	BSHM_STORE(&written, 1, RELAXED);
	pthread_join(thread, NULL);
}
