/*
 * test_find_stopped.c - a reader, or the writer beside it, is stopped at any instruction.
 *
 * A reader is stopped at each instruction of its call. Meanwhile the record that it reads is
 * replaced, and the memory is used for something else. The reader then goes on, and finds a whole
 * value. When a writer is stopped, readers do not wait for it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/locate.h"
#include "core/cache/move.h"
#include "core/cache/table.h"
#include "test_step.h"
#include "test_store.h"

#include "core/cache/record.h"
#include "platform/platform.h"

#include <sys/mman.h>

#define KEYS   400
#define VICTIM UINT32_MAX /* of no other number */

static bshm_segment *store;

static void fill(uint32_t length)
{
	for (uint32_t i = 0; i < KEYS; i++) {
		CHECK_INT(store_put(store, i, i, length, 0, BSHM_PUT_SET), 1);
	}
}

/* ------------------------------------------------------------------ stopped writers */

static bool lock_is_held(void)
{
	return BSHM_LOAD(&store->shards[0].lock, RELAXED) != 0;
}

/* A record in one slot: the writer has the lock for most of its time. */
static void write_for_ever(void)
{
	for (uint64_t serial = 1;; serial++) {
		store_put(store, VICTIM, serial, 3000, 0, BSHM_PUT_SET);
	}
}

TEST(readers_do_not_wait_for_a_stopped_writer_and_its_lock_is_not_taken)
{
	store = open_store(MB(16), 0);
	fill(100);
	const pid_t child = spawn(write_for_ever);
	while (!stop_child_when(child, lock_is_held)) {
		kill(child, SIGCONT); /* it gave the lock back before it stopped */
	}
	const uint64_t holder = BSHM_LOAD(&store->shards[0].lock, RELAXED);
	uint64_t serial = 0;
	uint32_t length = 0;
	for (uint32_t i = 0; i < KEYS; i++) {
		CHECK_INT(store_get(store, i, &serial, &length), 1);
	}
	for (int i = 0; i < 3; i++) {
		CHECK_INT(store_put_once(store, 1, 1, 100, 0, BSHM_PUT_SET), BSHM_E_TIMEOUT);
		CHECK_INT(BSHM_LOAD(&store->shards[0].lock, RELAXED), holder);
	}
	bshm_store_info info;
	bshm_store_stat(store, &info);
	CHECK(info.lock_timeouts >= 3);
	CHECK_INT(info.repairs, 0);
	kill_child(child);
	CHECK_INT(store_put(store, 1, 1, 100, 0, BSHM_PUT_SET), 1);
	bshm_store_stat(store, &info);
	CHECK_INT(info.repairs, 1);
	check_sound(store);
}

/* ------------------------------------------------------------------ stopped readers */

#define FOUND       1 /* test_words[]: what the reader found */
#define READER_TIME UINT64_C(2500000000)
#define LENGTH_MOST 1000
#define STRIDE      1009 /* a prime: its multiples are all instructions, spread */

/* Of the value: one that is copied after the look-up, or one that comes with it. */
static uint32_t value_length;
static uint8_t *copy; /* that the reader made */

/* The reader takes an owner slot before it is stopped for the first time. */
static void take_slot(void)
{
	bshm_error error;
	bshm_record_remove(store, 0, &(bshm_key){"other", 5}, &error);
}

static void read_it(void)
{
	const uint64_t number = VICTIM;
	const bshm_key key = {(const char *) &number, 8};
	bshm_found found;
	do {
		test_words[FOUND] = bshm_record_find(store, 0, &key, BSHM_FIND_USE, &found) == 1 &&
							found.length == value_length;
	} while (test_words[FOUND] == 1 && !bshm_found_copy(&found, copy));
}

/* Is that the value that was put with one of these? */
static bool was_read(uint64_t serial, uint64_t or_serial)
{
	uint8_t bytes[LENGTH_MOST];
	store_fill(bytes, VICTIM, serial, value_length);
	return test_words[FOUND] == 1 && (memcmp(copy, bytes, value_length) == 0 ||
										 (serial != or_serial && was_read(or_serial, or_serial)));
}

static void replace_it(uint64_t serial)
{
	CHECK_INT(store_put(store, VICTIM, serial, value_length, 0, BSHM_PUT_SET), 1);
}

/* Records of its size that take what is free, the slot that was its own among it. */
static void take_what_is_free(void)
{
	for (uint32_t i = 0; i < 200; i++) {
		CHECK_INT(store_put(store, KEYS + i, 1, value_length, 0, BSHM_PUT_SET), 1);
	}
}

static void replaced_and_slot_reused(uint64_t serial)
{
	replace_it(serial);
	take_what_is_free();
}

/* The index leads to the slot that it led to before, which was another record's in between. */
static void back_in_its_slot(uint64_t serial)
{
	replaced_and_slot_reused(serial);
	for (uint32_t i = 0; i < 200; i++) {
		store_remove(store, KEYS + i);
	}
	for (uint32_t i = 0; i < 300; i++) {
		replace_it(serial);
	}
}

static void index_made_anew(uint64_t serial)
{
	for (uint32_t i = 0; i < 3000; i++) {
		store_put(store, KEYS + i, 1, 8, 0, BSHM_PUT_SET);
	}
	replace_it(serial);
	for (uint32_t i = 0; i < 3000; i++) {
		store_remove(store, KEYS + i);
	}
}

static bshm_found find_it(void)
{
	const uint64_t number = VICTIM;
	bshm_found found;
	CHECK_INT(bshm_record_find(store, 0, &(bshm_key){(const char *) &number, 8}, 0, &found), 1);
	return found;
}

/* The record is in the slot that it was in before, and the slot has the version that it had. */
static void version_came_round(uint64_t serial)
{
	const bshm_found before = find_it();
	bshm_found now;
	do {
		replace_it(serial);
		now = find_it();
	} while (
		!test_failed() && (now.slot != before.slot || !bshm__same_state(now.state, before.state)));
}

/* Stops a reader at instruction after instruction; meanwhile `change` gives the record another
 * value. */
static void stop_one(void (*change)(uint64_t serial), uint32_t length_of_value)
{
	value_length = length_of_value;
	const uint64_t until = bshm_os_monotonic_ns() + READER_TIME;
	if (TEST_UNDER_TSAN) {
		test_skip("the sanitizer cannot be traced");
	}
	store = open_store(MB(4), 0);
	copy = mmap(NULL, LENGTH_MOST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	REQUIRE(copy != MAP_FAILED);
	prepare = take_slot;
	fill(value_length);
	call = read_it;
	replace_it(1);
	pid_t child;
	bool over;
	long length = stop_after(STEPS_MAX, &child, &over);
	kill_child(child);
	long stops = 0;
	for (long at = 0; at < length && !test_failed(); at++) {
		const uint64_t serial = 2 + (uint64_t) stops;
		/* Where there is no time for each of them: some of them. */
		if (bshm_os_monotonic_ns() > until) {
			break;
		}
		stop_after(at * STRIDE % length, &child, &over);
		change(serial);
		go_on(child, over);
		CHECK(was_read(serial, serial - 1));
		stops++;
	}
	test_note("stopped %ld times within %ld instructions", stops, length);
	check_sound(store);
}

static void stop_all_along(void (*change)(uint64_t serial))
{
	stop_one(change, LENGTH_MOST);
	bshm_segment_close(store);
	stop_one(change, 30);
}

TEST(a_stopped_reader_finds_a_record_that_was_replaced)
{
	stop_all_along(replace_it);
}

TEST(a_stopped_reader_finds_a_record_whose_slot_was_reused)
{
	stop_all_along(replaced_and_slot_reused);
}

TEST(a_stopped_reader_finds_a_record_that_is_back_in_its_slot)
{
	stop_all_along(back_in_its_slot);
}

TEST(a_stopped_reader_finds_a_record_while_the_index_is_made_anew)
{
	stop_all_along(index_made_anew);
}

TEST(a_stopped_reader_finds_a_record_whose_version_came_round)
{
	stop_all_along(version_came_round);
}

/* ------------------------------------------------------------------ stopped walks */

enum {
	CURSOR = 1,
	SHOWN,
	SUM
}; /* test_words[]: where a step of the walk ended, how many keys it gave, and their sum */
#define CROWD       2000u
#define WALK_STRIDE 5    /* instructions; two looks at a table lie further apart */
#define LOOK_LEAST  100u /* a look at a bucket takes more instructions */
#define JUMPS       2000u

static void nothing(void)
{
}

static void walk_on(void)
{
	bshm_scan scan = {0};
	bshm_scan_next(store, &scan, 0);
	test_words[CURSOR] = scan.cursor;
	test_words[SHOWN] = scan.count;
	test_words[SUM] = 0;
	for (unsigned i = 0; i < scan.count; i++) {
		uint64_t number;
		memcpy(&number, scan.keys[i].bytes, sizeof(number));
		test_words[SUM] += number;
	}
	bshm_scan_free(&scan);
}

static bshm__home home_of(uint64_t number)
{
	const bshm_key key = {(const char *) &number, 8};
	return bshm__home_of(store, BSHM_SPACE_CACHE, &key);
}

/* Has the walk shown the records that there are before its cursor, and no others? */
static void check_shown(void)
{
	uint64_t count = 0;
	uint64_t sum = 0;
	for (uint64_t i = 0; i < CROWD; i++) {
		const bshm__home home = home_of(i);
		const bool before =
			(uint64_t) home.table * BSHM_POSITIONS + home.position < test_words[CURSOR];
		count += before;
		sum += before ? i : 0;
	}
	CHECK(count != 0);
	CHECK_INT(test_words[SHOWN], count);
	CHECK_INT(test_words[SUM], sum);
}

/* Stops a walk over a crowd at instruction after instruction; `change` before it, and meanwhile. */
static void stop_the_walk(void (*change)(bool stopped), long stride)
{
	if (TEST_UNDER_TSAN) {
		test_skip("the sanitizer cannot be traced");
	}
	prepare = nothing;
	call = walk_on;
	const uint64_t until = bshm_os_monotonic_ns() + READER_TIME;
	pid_t child;
	bool over;
	const long length = stop_after(STEPS_MAX, &child, &over);
	kill_child(child);
	long stops = 0;
	for (; stops < length && !test_failed() && bshm_os_monotonic_ns() < until; stops++) {
		change(false);
		stop_after(stops * stride % length, &child, &over);
		change(true);
		ptrace(PTRACE_CONT, child, NULL, NULL);
		waitpid(child, NULL, 0); /* it stops when its call is over */
		kill_child(child);
		check_shown();
	}
	test_note("stopped %ld times within %ld instructions", stops, length);
}

static void crowd(void)
{
	store = open_store(MB(1), 0);
	for (uint32_t i = 0; i < CROWD; i++) {
		CHECK_INT(store_put(store, i, i, 8, 0, BSHM_PUT_SET), 1);
	}
}

static void resize(bool stopped)
{
	const bshm__shard s = bshm__shard_at(store, 0);
	REQUIRE(bshm__table_resize(&s, 0, (stopped ? 4 : 1) * BSHM_UNIT_BUCKETS));
}

TEST(a_stopped_walk_shows_each_record_while_a_table_gets_other_buckets)
{
	crowd();
	stop_the_walk(resize, WALK_STRIDE);
}

/* The first record of the walk, and a key of a table that it does not come to. */
static uint64_t first;
static uint64_t later;

static uint32_t ref_of_first(void)
{
	const bshm__shard s = bshm__shard_at(store, 0);
	const bshm__home home = home_of(first);
	bshm__existing at;
	bshm__locate(&s, &home, BSHM_SPACE_CACHE, &(bshm_key){(const char *) &first, 8}, &at);
	REQUIRE(at.cell != 0);
	return at.ref;
}

/* The first record moves, and another one gets its slot, the only free one of its page; then
 * back. */
static void trade_slots(bool stopped)
{
	const bshm__shard s = bshm__shard_at(store, 0);
	const uint32_t ref = ref_of_first();
	if (stopped) {
		REQUIRE(bshm__record_move(&s, ref));
		const uint32_t size_class = bshm__ref_class(&s, ref);
		const uint32_t slot = (ref & 0xfff) * BSHM_SLOT_UNIT / bshm__class_bytes(size_class);
		s.shard->classes[size_class].hint = bshm__page_number(&s, ref) | slot / 64 << 24;
		REQUIRE(store_put(store, (uint32_t) later, 1, 8, 0, BSHM_PUT_SET) == 1);
		CHECK(bshm__slot_taken(&s, ref));
	} else if (store_remove(store, (uint32_t) later) == 1) {
		REQUIRE(bshm__record_move(&s, ref));
	}
}

TEST(a_stopped_walk_shows_a_record_whose_slot_another_one_gets)
{
	crowd();
	for (uint64_t i = 0; i < CROWD; i++) {
		const bshm__home home = home_of(i);
		const bshm__home best = home_of(first);
		first =
			home.table < best.table || (home.table == best.table && home.position < best.position)
				? i
				: first;
	}
	for (later = CROWD; home_of(later).table < 2; later++) {
	}
	stop_the_walk(trade_slots, STRIDE);
}

/* Memory gets another meaning all the time, as when chunks are moved: no look at a bucket stands.
 * In the end one does. */
TEST(a_walk_shows_each_record_after_memory_has_got_another_meaning_often)
{
	if (TEST_UNDER_TSAN) {
		test_skip("the sanitizer cannot be traced");
	}
	crowd();
	const bshm__shard s = bshm__shard_at(store, 0);
	prepare = nothing;
	call = walk_on;
	pid_t child;
	bool over;
	stop_after(0, &child, &over);
	for (unsigned i = 0; i < JUMPS && !over; i++) {
		for (unsigned k = 0; k < LOOK_LEAST && !over && step(child); k++) {
			over = BSHM_LOAD(&test_words[MARK], SEQ_CST) == 2;
		}
		bshm__sequence_jump(&s);
	}
	CHECK(!over);
	go_on(child, over);
	check_shown();
}
