/*
 * test_repair.c - what a writer that died left behind: each kind of change, cut off before and
 * after the store that makes it so, is undone or finished, and nothing is lost.
 *
 * Deaths at random instructions: test_repair_death.c.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/table.h"
#include "core/cache/intent.h"
#include "core/cache/move.h"
#include "core/cache/repair.h"
#include "core/cache/shard_lock.h"
#include "test_shard.h"

#define RECORDS 3000u
#define LARGE   100000u /* the number of a record that has chunks */

static void stand(void)
{
	segment = open_store(MB(4), 0);
	s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < RECORDS; i++) {
		REQUIRE(store_put(segment, i, i, 100, 0, BSHM_PUT_SET) == 1);
	}
	REQUIRE(store_put(segment, LARGE, 7, 200000, 0, BSHM_PUT_SET) == 1);
	bshm_error error;
	REQUIRE(bshm__shard_lock(&s, BSHM_LOCK_PAGE_NS, &error) == BSHM_OK);
}

/* Ends the lock; every record must be there, and every slot accounted for. */
static void check_nothing_lost(void)
{
	uint64_t serial = 0;
	uint32_t length = 0;
	CHECK_INT(BSHM_LOAD(&s.shard->intent.kind, RELAXED), BSHM_INTENT_NONE);
	bshm__shard_unlock(&s);
	for (uint32_t i = 0; i < RECORDS; i++) {
		CHECK_INT(store_get(segment, i, &serial, &length), 1);
	}
	CHECK_INT(store_get(segment, LARGE, &serial, &length), 1);
	check_sound(segment);
}

static uint32_t first_unit(uint32_t table)
{
	return bshm__buckets_of(segment, table).first;
}

static void intend(uint32_t kind, uint32_t table, uint32_t old, uint32_t fresh)
{
	bshm_intent *intent = &s.shard->intent;
	BSHM_STORE(&intent->table, table, RELAXED);
	BSHM_STORE(&intent->old, old, RELAXED);
	BSHM_STORE(&intent->fresh, fresh, RELAXED);
	BSHM_STORE(&intent->kind, kind, RELEASE);
}

/* ------------------------------------------------------------------ units of the index */

TEST(a_unit_of_the_index_moves_with_all_that_is_in_it)
{
	stand();
	for (uint32_t table = 0; table < segment->shard_tables; table++) {
		const uint32_t before = first_unit(table);
		if (bshm__buckets_of(segment, table).count != 0) {
			CHECK(bshm__unit_move(&s, before));
			CHECK(first_unit(table) != before);
			CHECK(!bshm__slot_taken(&s, before));
		}
	}
	CHECK(!bshm__unit_move(&s, locate(1).ref)); /* it is no unit */
	check_nothing_lost();
}

static uint32_t begin_unit_move(uint32_t old)
{
	const uint32_t size_class = bshm__ref_class(&s, old);
	const uint32_t bytes = bshm__class_bytes(size_class);
	const uint32_t fresh = bshm__slot_find(&s, size_class, old >> 12);
	REQUIRE(fresh != 0);
	intend(BSHM_INTENT_MOVE_UNIT, 0, old, fresh);
	bshm__slot_take(&s, fresh);
	memcpy(bshm__ref_at(&s, fresh, bytes), bshm__ref_at(&s, old, bytes), bytes);
	return fresh;
}

TEST(a_unit_whose_move_was_cut_off_before_it_counted_stays)
{
	stand();
	const uint32_t old = first_unit(0);
	const uint32_t fresh = begin_unit_move(old);
	bshm__intent_repair(&s);
	CHECK_INT(first_unit(0), old);
	CHECK(!bshm__slot_taken(&s, fresh));
	check_nothing_lost();
}

TEST(a_unit_whose_move_was_cut_off_after_it_counted_has_moved)
{
	stand();
	const uint32_t old = first_unit(0);
	const uint32_t fresh = begin_unit_move(old);
	const uint32_t shape = (uint32_t) BSHM_LOAD(&segment->roots[0], RELAXED);
	BSHM_STORE(&segment->roots[0], (uint64_t) fresh << BSHM_ROOT_UNIT | shape, RELEASE);
	bshm__intent_repair(&s);
	CHECK_INT(first_unit(0), fresh);
	CHECK(!bshm__slot_taken(&s, old));
	check_nothing_lost();
}

/* ------------------------------------------------------------------ a table made anew */

TEST(a_table_that_was_not_made_anew_gives_the_units_back)
{
	stand();
	const uint64_t root = BSHM_LOAD(&segment->roots[0], RELAXED);
	intend(BSHM_INTENT_RESIZE, 0, 0, (uint32_t) root ^ 1);
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t ref = bshm__slot_find(&s, BSHM_CLASS_INDEX, 0);
		BSHM_STORE(&segment->tables[0].units[~root & 1][i], ref, RELAXED);
		bshm__slot_take(&s, ref);
	}
	BSHM_STORE(&s.shard->intent.step, 2, RELAXED);
	bshm__intent_repair(&s);
	CHECK_INT(BSHM_LOAD(&segment->roots[0], RELAXED), root);
	check_nothing_lost();
}

TEST(a_table_that_was_made_anew_gives_the_old_units_back)
{
	stand();
	const uint32_t buckets = bshm__buckets_of(segment, 0).count;
	const uint32_t units = bshm__units_for(buckets);
	REQUIRE(bshm__unit_move(&s, first_unit(0))); /* its old ref is still in the list */
	REQUIRE(bshm__table_resize(&s, 0, bshm__buckets_next(buckets)));
	const uint64_t root = BSHM_LOAD(&segment->roots[0], RELAXED);
	for (uint32_t i = 0; i < units; i++) { /* as before the old ones were given back */
		bshm__slot_take(&s, segment->tables[0].units[~root & 1][i]);
	}
	intend(BSHM_INTENT_RESIZE, 0, 0, (uint32_t) root);
	BSHM_STORE(&s.shard->intent.count, units, RELAXED);
	bshm__intent_repair(&s);
	CHECK_INT(BSHM_LOAD(&segment->roots[0], RELAXED), root);
	check_nothing_lost();
}

TEST(an_intent_of_a_table_that_is_not_the_shards_changes_nothing)
{
	stand();
	intend(BSHM_INTENT_RESIZE, UINT32_MAX, 0, 3);
	BSHM_STORE(&s.shard->intent.count, BSHM_TABLE_UNITS, RELAXED);
	bshm__intent_repair(&s);
	check_nothing_lost();
}

/* ------------------------------------------------------------------ moves of records */

static uint32_t begin_move(uint32_t kind, uint32_t word_ref, uint32_t ref)
{
	const uint32_t size_class = bshm__ref_class(&s, ref);
	const uint32_t bytes = bshm__class_bytes(size_class);
	const uint32_t fresh = bshm__slot_find(&s, size_class, ref >> 12);
	REQUIRE(fresh != 0);
	memcpy(bshm__ref_at(&s, fresh, bytes), bshm__ref_at(&s, ref, bytes), bytes);
	bshm__intent_begin(&s, kind, word_ref, ref, fresh);
	bshm__slot_take(&s, fresh);
	return fresh;
}

/* Of a small record, and of a large one: its first chunk must lead back to where it is now. */
static void cut_off_move(uint32_t number, bool done)
{
	stand();
	const bshm__existing before = locate(number);
	const uint32_t fresh = begin_move(BSHM_INTENT_MOVE, before.cell, before.ref);
	if (done) {
		BSHM_STORE(bshm__cell_word(&s, before.cell), fresh, RELEASE);
	}
	bshm__intent_repair(&s);
	CHECK_INT(locate(number).ref, done ? fresh : before.ref);
	CHECK(!bshm__slot_taken(&s, done ? before.ref : fresh));
	check_nothing_lost();
	bshm_segment_close(segment);
}

TEST(a_record_whose_move_was_cut_off_is_in_one_place)
{
	cut_off_move(5, false);
	cut_off_move(5, true);
	cut_off_move(LARGE, false);
	cut_off_move(LARGE, true);
}

TEST(a_chunk_whose_move_was_cut_off_is_in_one_place)
{
	for (int done = 0; done <= 1; done++) {
		stand();
		const uint32_t first = locate(LARGE).record.next;
		const uint32_t second = word(first, 1);
		const uint32_t fresh = begin_move(BSHM_INTENT_MOVE_CHUNK, first + 1, second);
		if (done != 0) {
			BSHM_STORE(bshm__cell_word(&s, first + 1), fresh, RELEASE);
		}
		bshm__intent_repair(&s);
		CHECK_INT(word(first, 1), done != 0 ? fresh : second);
		check_nothing_lost();
		bshm_segment_close(segment);
	}
}

TEST(a_slot_that_nobody_leads_to_is_freed_when_its_page_is_emptied)
{
	stand();
	const uint32_t record = bshm__slot_find(&s, bshm__class_of(100), 0);
	bshm__slot_take(&s, record);
	set_word(record, 0, 0);
	CHECK(bshm__record_move(&s, record));
	CHECK(!bshm__slot_taken(&s, record));
	const uint32_t chunk = bshm__slot_find(&s, BSHM_CLASS_CHUNK, 0);
	bshm__slot_take(&s, chunk);
	set_word(chunk, 2, 0);
	CHECK(bshm__chunk_move(&s, chunk));
	CHECK(!bshm__slot_taken(&s, chunk));
	check_nothing_lost();
}

/* ------------------------------------------------------------------ the number of all records */

/* As after a death: a number that is too high keeps records out until it is counted anew. */
static void stand_with_a_wrong_number(void)
{
	const uint32_t limit = 300 * 8192; /* several shards */
	segment = open_store(MB(160), limit);
	REQUIRE(segment->shard_count > 1);
	for (uint32_t i = 0; i < 100; i++) {
		REQUIRE(store_put(segment, i, i, 100, 0, BSHM_PUT_SET) == 1);
	}
	BSHM_STORE(&segment->store->reserved, limit, RELAXED);
	BSHM_STORE(&segment->store->recount, 1, RELAXED);
}

TEST(a_number_of_records_left_too_high_is_set_right_when_it_matters)
{
	stand_with_a_wrong_number();
	CHECK_INT(store_put(segment, 100, 1, 100, 0, BSHM_PUT_SET), 1);
	CHECK_INT(records_of(segment), 101);
	CHECK_INT(BSHM_LOAD(&segment->store->reserved, RELAXED), given_out(segment));
	CHECK_INT(BSHM_LOAD(&segment->store->recount, RELAXED), 0);
	check_sound(segment);
}

TEST(a_shard_that_is_held_puts_the_counting_off)
{
	stand_with_a_wrong_number();
	const uint64_t wrong = BSHM_LOAD(&segment->store->reserved, RELAXED);
	const pid_t child = spawn(hold_the_last_shard);
	await_flag(0);
	bshm_error error;
	const uint64_t key = 0;
	bshm_record_remove(segment, BSHM_SPACE_CACHE, &(bshm_key){(const char *) &key, 8}, &error);
	CHECK_INT(BSHM_LOAD(&segment->store->recount, RELAXED), 1);
	CHECK(BSHM_LOAD(&segment->store->reserved, RELAXED) >= wrong - 1);
	kill_child(child);
	BSHM_STORE(&segment->store->reserved, wrong, RELAXED);
	CHECK_INT(store_put(segment, 200, 1, 100, 0, BSHM_PUT_SET), 1);
	CHECK_INT(BSHM_LOAD(&segment->store->reserved, RELAXED), given_out(segment));
	check_sound(segment);
}

/* ------------------------------------------------------------------ room for a large record */

TEST(room_for_a_large_record_is_made_in_steps)
{
	segment = open_store(MB(32), 0);
	for (uint32_t i = 0; i < 700000; i++) {
		REQUIRE(store_put(segment, i, i, 40, 0, BSHM_PUT_SET) == 1);
	}
	const uint32_t length = (uint32_t) MB(7);
	CHECK_INT(store_put(segment, 1000000, 1, length, 0, BSHM_PUT_SET), 1);
	uint64_t serial = 0;
	uint32_t found = 0;
	CHECK_INT(store_get(segment, 1000000, &serial, &found), 1);
	CHECK_INT(found, length);
	check_sound(segment);
}
