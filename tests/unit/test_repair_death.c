/*
 * test_repair_death.c - a writer of the record store that dies at any instruction.
 *
 * A writer is traced, and killed after so many machine instructions of its call; then another
 * process takes its lock. Whatever the instruction: the store is sound, no record but the one being
 * written has changed, and that one is the old or the new one, whole.
 *
 * What a death leaves, cut off by hand: test_repair.c.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_step.h"
#include "test_store.h"

#include "core/cache/slab.h"
#include "platform/platform.h"

#include <inttypes.h>

#define KEYS        400
#define VICTIM      UINT32_MAX /* of no other number */
#define KILLS_LEAST 20
#define KILLS       120                   /* for each kind of call */
#define LONG_NS     1000000000            /* longer than any call */
#define TIME_NS     UINT64_C(10000000000) /* stepping is slow: fewer, where a call is long */

static bshm_segment *store;
/* Has a slot of its own. */
static void take_slot(void)
{
	bshm_error error;
	bshm_record_remove(store, 0, &(bshm_key){"other", 5}, &error);
}

/* Kills a writer about so many nanoseconds after its call began; how many it took, if it was
 * *over. */
static long kill_in_time(long nanoseconds, bool *over)
{
	BSHM_STORE(&test_words[MARK], 0, SEQ_CST);
	const pid_t child = spawn(marked);
	while (BSHM_LOAD(&test_words[MARK], SEQ_CST) == 0) {
	}
	const uint64_t start = bshm_os_monotonic_ns();
	do {
		*over = BSHM_LOAD(&test_words[MARK], SEQ_CST) == 2;
	} while (!*over && bshm_os_monotonic_ns() - start < (uint64_t) nanoseconds);
	kill_child(child);
	return (long) test_words[TAKEN];
}

static uint64_t before_serial;
static uint32_t before_length;
static uint64_t next_serial;
static uint32_t next_length;

static uint8_t next_bytes[20000];
static unsigned refill; /* small records that take the room before each call */

static void put_next(void)
{
	const uint64_t key = VICTIM;
	const bshm_put put = {
		.key = {(const char *) &key, 8},
		.value = {BSHM_VALUE_STRING, next_bytes, next_length},
	};
	bshm_error error;
	bshm_record_put(store, &put, &error);
}

static void remove_it(void)
{
	store_remove(store, VICTIM);
}

static void judge(bool may_be_absent, bool others_may_go)
{
	CHECK_INT(store_put(store, 1, 1, 50, 0, BSHM_PUT_SET), 1); /* takes the lock, and mends */
	uint64_t serial = 0;
	uint32_t length = 0;
	const int found = store_get(store, VICTIM, &serial, &length);
	if (found == 0) {
		CHECK(may_be_absent);
	} else {
		const bool old = serial == before_serial && length == before_length;
		CHECK_INT(found, 1);
		CHECK(old || (serial == next_serial && length == next_length));
	}
	uint32_t there = 0;
	for (uint32_t i = 0; i < KEYS; i++) {
		const int other = store_get(store, i, &serial, &length);
		CHECK(other == 1 || (other == 0 && others_may_go));
		there += other == 1;
	}
	CHECK(others_may_go || there == KEYS);
	check_sound(store);
}

/* Kills calls all along: about KILLS of them, spread over the call's length. */
static void kill_all_along(void (*what)(void), bool starts_absent, bool others_may_go)
{
	uint64_t seed = test_seed();
	long length = STEPS_MAX;
	long (*kill_at)(long, bool *) = kill_after;
	unsigned kills = 0;
	call = what;
	const uint64_t until = bshm_os_monotonic_ns() + TIME_NS;
	for (unsigned i = 0;
		 !test_failed() && kills < KILLS && (kills < KILLS_LEAST || bshm_os_monotonic_ns() < until);
		 i++) {
		if (starts_absent) {
			store_remove(store, VICTIM);
		} else {
			before_serial = 1000 + i;
			before_length = 3 * next_length / 4 + 20;
			CHECK_INT(store_put(store, VICTIM, before_serial, before_length, 0, BSHM_PUT_SET), 1);
		}
		for (unsigned k = 0; k < refill; k++) {
			store_put(store, 1000 + i * refill + k, k, 100, 0, BSHM_PUT_SET);
		}
		next_serial = 5000 + i;
		store_fill(next_bytes, VICTIM, next_serial, next_length);
		bool over;
		const long at = i == 0 ? length : (long) (test_random(&seed) % (uint64_t) length);
		const long steps = kill_at(at, &over);
		kills += !over;
		if (i == 0 && over) {
			length = steps;
		} else if (i == 0) { /* too long to be stepped through */
			kill_at = kill_in_time;
			judge(starts_absent || what == remove_it, others_may_go);
			length = kill_in_time(LONG_NS, &over);
		}
		judge(starts_absent || what == remove_it, others_may_go);
	}
	bshm_store_info info;
	bshm_store_stat(store, &info);
	test_note("%u deaths within %ld %s, %u repairs", kills, length,
		kill_at == kill_after ? "instructions" : "ns", (unsigned) info.repairs);
	CHECK(kills >= KILLS_LEAST && info.repairs > 0);
}

static void fill(uint32_t length)
{
	for (uint32_t i = 0; i < KEYS; i++) {
		CHECK_INT(store_put(store, i, i, length, 0, BSHM_PUT_SET), 1);
	}
}

static void begin(uint64_t bytes, uint64_t records, uint32_t length, uint32_t value_length)
{
	if (TEST_UNDER_TSAN) {
		test_skip("the sanitizer cannot be traced");
	}
	store = open_store(bytes, records);
	prepare = take_slot;
	fill(length);
	next_length = value_length;
}

TEST(death_while_a_record_is_inserted)
{
	begin(MB(4), 0, 50, 60);
	kill_all_along(put_next, true, false);
}

TEST(death_while_a_record_is_replaced)
{
	begin(MB(4), 0, 50, 60);
	kill_all_along(put_next, false, false);
}

TEST(death_while_a_record_is_removed)
{
	begin(MB(4), 0, 50, 60);
	kill_all_along(remove_it, false, false);
}

TEST(death_while_a_large_record_is_replaced)
{
	begin(MB(4), 0, 50, 20000);
	kill_all_along(put_next, false, false);
}

/* The limit is reached: each insertion evicts. */
TEST(death_while_a_record_is_evicted)
{
	begin(MB(4), KEYS + 1, 50, 60);
	kill_all_along(put_next, true, true);
}

/* The memory is full: records of another size are evicted and moved for it. */
TEST(death_while_room_is_made)
{
	begin(MB(1), 0, 100, 9000);
	refill = 9000;
	for (uint32_t i = 0; i < refill; i++) {
		store_put(store, 1000 + i, i, 100, 0, BSHM_PUT_SET);
	}
	refill = 120;
	kill_all_along(put_next, true, true);
}

/* How many slots of records are free and live: pages that were given out once hold nothing else's
 * leavings. */
static unsigned free_and_live(void)
{
	const bshm__shard s = bshm__shard_at(store, 0);
	unsigned found = 0;
	for (uint32_t page = 1; page <= store->shard_pages; page++) {
		const uint32_t size_class = bshm__page_class(&s, page);
		const uint32_t slots = size_class < BSHM_CLASS_RECORDS ? bshm__class_slots(size_class) : 0;
		for (uint32_t i = 0; i < slots; i++) {
			const uint32_t ref = bshm__page_ref(&s, page, size_class, i);
			found += !bshm__slot_taken(&s, ref) && (bshm__word(&s, ref, 0) & BSHM_SLOT_LIVE) != 0;
		}
	}
	return found;
}

/* Else a death would leave one that is live, and a reader could watch the next record being written
 * into it. */
TEST(a_slot_is_live_only_while_it_is_taken)
{
	begin(MB(4), 0, 50, 60);
	call = put_next;
	store_fill(next_bytes, VICTIM, 1, 60);
	for (unsigned round = 0; round < 2; round++) { /* inserted, then replaced */
		pid_t child;
		bool over;
		stop_after(0, &child, &over);
		while (!over && step(child)) {
			over = BSHM_LOAD(&test_words[MARK], SEQ_CST) == 2;
			CHECK_INT(free_and_live(), 0);
		}
		kill_child(child);
	}
	uint64_t serial = 0;
	uint32_t length = 0;
	CHECK_INT(store_get(store, VICTIM, &serial, &length), 1);
}

/* ------------------------------------------------------------------ killed at random */

#define STORM_KEYS 300

static void write_at_random(void)
{
	uint64_t seed = (uint64_t) getpid();
	for (uint64_t serial = 1;; serial++) {
		const uint32_t number = (uint32_t) (test_random(&seed) % STORM_KEYS);
		const uint32_t kind = (uint32_t) (test_random(&seed) % 16);
		const uint32_t length =
			kind < 12 ? (uint32_t) (test_random(&seed) % 300) + 16 : 3000 * kind;
		if (kind == 3) {
			store_remove(store, number);
		} else {
			store_put(store, number, serial, length, kind == 5 ? 60 : 0, BSHM_PUT_SET);
		}
	}
}

TEST(writers_killed_at_random_leave_whole_records_and_a_sound_store)
{
	uint64_t seed = test_seed();
	store = open_store(MB(2), 0);
	uint64_t reads = 0;
	uint64_t hits = 0;
	for (int round = 0; round < 60 && !test_failed(); round++) {
		const pid_t writers[2] = {spawn(write_at_random), spawn(write_at_random)};
		const uint64_t until = bshm_os_monotonic_ns() + 1000000 + test_random(&seed) % 15000000;
		while (bshm_os_monotonic_ns() < until) {
			uint64_t serial = 0;
			uint32_t length = 0;
			const int found =
				store_get(store, (uint32_t) (test_random(&seed) % STORM_KEYS), &serial, &length);
			CHECK(found == 0 || found == 1);
			reads++;
			hits += found == 1;
		}
		kill_child(writers[0]);
		kill_child(writers[1]);
		check_sound(store);
	}
	bshm_store_info info;
	bshm_store_stat(store, &info);
	test_note(
		"%" PRIu64 " reads, %" PRIu64 " hits, %u repairs", reads, hits, (unsigned) info.repairs);
	CHECK(hits > 0);
}
