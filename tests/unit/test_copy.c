/*
 * test_copy.c - large records, which take long to be copied, beside others who change the shard.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/move.h"
#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"
#include "platform/platform.h"
#include "test_shard.h"

#include <signal.h>
#include <sys/mman.h>

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
	/* Nor does memory that gets another meaning. */
	bshm__sequence_jump(&s);
	CHECK(found_stands(&large));
	CHECK_INT(store_put(segment, 1, 2, LARGE, 0, BSHM_PUT_SET), 1);
	CHECK(!found_stands(&large));
	CHECK_INT(store_remove(segment, 1), 1);
	CHECK(!found_stands(&large));
}

/* The places that a copy of it would read, and do they stand? */
typedef struct {
	bshm__record record;
	bshm__places places;
} copy;

static copy copy_places(uint32_t number)
{
	copy c = {.record = locate(number).record};
	REQUIRE(bshm__record_read(&s, &c.record, c.record.key_bytes, NULL, LARGE, &c.places));
	return c;
}

static bool places_stand(const copy *c)
{
	bshm__places places = c->places;
	return bshm__record_survived(&s, &c->record, c->record.key_bytes, NULL, LARGE, &places);
}

/* The ref of chunk i of record 1. */
static uint32_t chunk_of(uint32_t i)
{
	uint32_t ref = locate(1).record.next;
	while (i-- != 0) {
		ref = word(ref, 1);
	}
	return ref;
}

static void move_chunk(uint32_t i)
{
	REQUIRE(bshm__chunk_move(&s, chunk_of(i)));
}

TEST(a_copy_does_not_stand_if_one_of_its_chunks_was_moved)
{
	begin(MB(16));
	REQUIRE(store_put(segment, 1, 1, LARGE, 0, BSHM_PUT_SET) == 1);
	for (uint32_t i = 0; i < 24; i += i == 1 ? 22 : 1) { /* the first two, and the last */
		const copy before = copy_places(1);
		CHECK(places_stand(&before));
		move_chunk(i);
		CHECK(!places_stand(&before));
		const copy after = copy_places(1);
		CHECK(places_stand(&after));
	}
	/* A chunk that is moved before the copy comes to it does no harm. */
	const bshm_found found = find(1);
	move_chunk(20);
	CHECK(found_stands(&found));
	check_sound(segment);
}

/* Something else lies where the chunk was. */
static void move_and_overwrite(uint32_t ref)
{
	REQUIRE(bshm__chunk_move(&s, ref));
	memset(bshm__ref_at(&s, ref, BSHM_CHUNK_BYTES) + BSHM_CHUNK_HEADER, 0xdd, 1000);
}

TEST(only_the_part_of_a_moved_chunk_is_copied_again)
{
	enum {
		part = BSHM_PART_CHUNKS * BSHM_CHUNK_BYTES,
		bytes = 5 * part,
		unread = 0xee
	};
	begin(MB(32));
	REQUIRE(store_put(segment, 1, 1, bytes, 0, BSHM_PUT_SET) == 1);
	uint8_t *expected = malloc(bytes);
	uint8_t *copied = malloc(bytes);
	store_fill(expected, 1, 1, bytes);
	const bshm__record record = locate(1).record;
	const uint32_t off = record.key_bytes;
	const uint32_t here = record.first - off; /* bytes in the first slot */
	for (uint32_t i = 0; i < 5; i++) {
		bshm__places places;
		const bshm__record at = locate(1).record;
		move_and_overwrite(chunk_of(5 * BSHM_PART_CHUNKS - 1));
		REQUIRE(bshm__record_read(&s, &at, off, copied, bytes, &places));
		CHECK(memcmp(copied, expected, bytes) == 0);
		memset(copied, unread, bytes);
		move_and_overwrite(chunk_of(i * BSHM_PART_CHUNKS + 7 * i));
		CHECK(!bshm__record_survived(&s, &at, off, NULL, bytes, &places));
		CHECK(bshm__record_survived(&s, &at, off, copied, bytes, &places));
		for (uint32_t k = 0; k < bytes; k++) {
			const bool again = k >= here && (k - here) / part == i;
			if (copied[k] != (again ? expected[k] : unread)) {
				test_note("byte %u of part %u", k, i);
				CHECK(false);
				break;
			}
		}
	}
	/* The look-up has read a ref that leads elsewhere by now. */
	const bshm_found found = find(1);
	move_and_overwrite(chunk_of(0));
	REQUIRE(bshm_found_copy(&found, copied));
	CHECK(memcmp(copied, expected, bytes) == 0);
	check_sound(segment);
	free(expected);
	free(copied);
}

/* What was in its place meanwhile? */
TEST(a_copy_does_not_stand_if_a_chunk_was_moved_away_and_back)
{
	begin(MB(16));
	REQUIRE(store_put(segment, 1, 1, LARGE, 0, BSHM_PUT_SET) == 1);
	REQUIRE(store_put(segment, 2, 1, LARGE, 0, BSHM_PUT_SET) == 1);
	const uint32_t place = chunk_of(3);
	const copy before = copy_places(1);
	move_chunk(3);
	CHECK(chunk_of(3) != place);
	CHECK_INT(store_remove(segment, 2), 1); /* its slots are free, too */
	for (unsigned i = 0; i < 100 && chunk_of(3) != place; i++) {
		move_chunk(3);
	}
	CHECK(chunk_of(3) == place);
	CHECK(!places_stand(&before));
	/* A move that dies uses its number up, too: the jump after the move is another one. */
	const uint64_t number = word(place, 3);
	CHECK_INT(BSHM_LOAD(&s.shard->sequence, RELAXED) / BSHM_SEQUENCE_JUMP, number + 1);
	const copy after = copy_places(1);
	CHECK(places_stand(&after));
}

/* A walk may meet it, if the chunk before is moved while the walk is there. */
TEST(a_copy_does_not_stand_if_another_record_has_its_places)
{
	enum {
		bytes = 16500
	};
	begin(MB(16));
	REQUIRE(store_put(segment, 1, 1, bytes, 0, BSHM_PUT_SET) == 1);
	const bshm__record record = locate(1).record;
	const uint32_t first = chunk_of(0);
	const uint32_t second = chunk_of(1);
	bshm__places its;
	REQUIRE(bshm__record_read(&s, &record, record.key_bytes, NULL, bytes, &its));
	for (unsigned i = 0; i < 100; i++) {
		CHECK_INT(store_remove(segment, 1), 1);
		REQUIRE(store_put(segment, 1, 2, bytes, 0, BSHM_PUT_SET) == 1);
		if (chunk_of(0) == first && chunk_of(1) == second) {
			break;
		}
	}
	CHECK(chunk_of(0) == first && chunk_of(1) == second);
	CHECK_INT(word(first, 3), 0);
	const bshm__record other = locate(1).record;
	bshm__places now;
	REQUIRE(bshm__record_read(&s, &other, other.key_bytes, NULL, bytes, &now));
	CHECK(now.of[0] != its.of[0]);
}

/* The page of its first slot has another class, and the bytes look like the record's words. */
TEST(a_copy_does_not_stand_if_the_index_does_not_lead_to_it)
{
	begin(MB(16));
	REQUIRE(store_put(segment, 1, 1, LARGE, 0, BSHM_PUT_SET) == 1);
	const copy before = copy_places(1);
	const bshm__existing at = locate(1);
	bshm__sequence_jump(&s);
	CHECK(places_stand(&before));
	*bshm__cell_word(&s, at.cell) = 0;
	CHECK(!places_stand(&before));
	*bshm__cell_word(&s, at.cell) = at.ref;
	CHECK(places_stand(&before));
	set_word(at.ref, 1, word(at.ref, 1) + 1); /* another serial */
	CHECK(!places_stand(&before));
	set_word(at.ref, 1, word(at.ref, 1) - 1);
	set_word(at.ref, 0, word(at.ref, 0) + (1u << BSHM_SLOT_VERSION));
	CHECK(!places_stand(&before));
	set_word(at.ref, 0, word(at.ref, 0) - (1u << BSHM_SLOT_VERSION));
	CHECK(places_stand(&before));
}

/* A key that goes on in the chunks is read from them. */
TEST(a_large_record_with_a_long_key_stands_when_memory_gets_another_meaning)
{
	begin(MB(16));
	static char name[20000];
	memset(name, 'k', sizeof(name));
	static char value[LARGE];
	const bshm_put put = {
		.key = {name, sizeof(name)}, .value = {BSHM_VALUE_STRING, value, sizeof(value)}};
	bshm_error error;
	REQUIRE(bshm_record_put(segment, &put, &error) == 1);
	bshm_found found;
	REQUIRE(bshm_record_find(segment, BSHM_SPACE_CACHE, &put.key, 0, &found) == 1);
	bshm__sequence_jump(&s);
	CHECK(found_stands(&found));
	move_and_overwrite(found.next);
	CHECK(found_stands(&found));
}

/* Values of all sizes that push each other out: pages get other classes, and chunks are moved. */
static void mix(void)
{
	bshm_segment *own = attach_store();
	uint64_t seed = 1;
	for (uint64_t serial = 1;; serial++) {
		const uint32_t number = 10 + (uint32_t) (test_random(&seed) % 20000);
		store_put(
			own, number, serial, 16 + (uint32_t) (test_random(&seed) % 20000), 0, BSHM_PUT_SET);
		BSHM_STORE(&test_words[0], serial, RELAXED);
	}
}

TEST(a_large_record_is_read_beside_a_writer_of_all_sizes)
{
	begin(MB(16));
	uint8_t *bytes = malloc(1 << 20);
	uint8_t *expected = malloc(1 << 20);
	const pid_t child = spawn(mix);
	while (BSHM_LOAD(&test_words[0], RELAXED) < 20000) {
		bshm_os_sleep_us(1000);
	}
	const uint64_t jumps = BSHM_LOAD(&s.shard->sequence, RELAXED) / BSHM_SEQUENCE_JUMP;
	unsigned stood = 0;
	unsigned after_jumps = 0;
	for (uint64_t serial = 1; serial <= 300 && !test_failed(); serial++) {
		bshm_error error;
		store_fill(expected, 1, serial, 1 << 20);
		const uint64_t number = 1;
		const bshm_put put = {
			.key = {(const char *) &number, 8}, .value = {BSHM_VALUE_STRING, expected, 1 << 20}};
		while (bshm_record_put(segment, &put, &error) != 1) {
			CHECK_INT(error.status, BSHM_E_TIMEOUT);
		}
		bshm_found found;
		for (unsigned i = 0; i < 5; i++) {
			if (bshm_record_find(segment, BSHM_SPACE_CACHE, &put.key, BSHM_FIND_USE, &found) == 1 &&
				bshm_found_copy(&found, bytes)) {
				stood++;
				after_jumps += bshm__sequence_jumped(&s, found.sequence);
				CHECK(memcmp(bytes, expected, found.length) == 0);
			}
		}
	}
	const uint64_t more = BSHM_LOAD(&s.shard->sequence, RELAXED) / BSHM_SEQUENCE_JUMP - jumps;
	test_note("%u of 1500 stood, %u of them after some of %llu jumps", stood, after_jumps,
		(unsigned long long) more);
	CHECK(stood > 750 && after_jumps > 0);
	kill(child, SIGKILL);
	finish(child);
	CHECK_INT(store_put(segment, 2, 1, 8, 0, BSHM_PUT_SET), 1);
	check_sound(segment);
	free(bytes);
	free(expected);
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

/* A page of a reader's room may not be written: where it comes to it, the copy is interrupted. */
static uint8_t *interrupt_at;
static unsigned interruptions;

static void forbid(int protection)
{
	REQUIRE(mprotect(interrupt_at, 4096, protection) == 0);
}

/* The record gets another serial, as one put anew does. So the copy does not stand, nor does
 * the next one: three times. */
static void interrupt(int signal_number)
{
	(void) signal_number;
	forbid(PROT_READ | PROT_WRITE);
	const uint32_t ref = locate(1).ref;
	set_word(ref, 1, word(ref, 1) ^ 1);
	if (++interruptions == 2) {
		bshm_os_sleep_us(12000); /* more tries than four end after 10 ms */
	}
	if (interruptions < 3) {
		interrupt_at -= HUGE / 4;
		forbid(PROT_NONE);
	}
}

/* Which of a reader's tries stood, in a room of a page more: 0 = none in time, and it would have
 * waited for the lock, which another process holds. */
static unsigned standing_try(uint8_t *room, uint8_t *expected)
{
	bshm_patience patience = {0};
	interruptions = 0;
	interrupt_at = room + HUGE / 4 * 3;
	forbid(PROT_NONE);
	const int got = read_huge(&patience, room, expected);
	CHECK(got == 1 || got == BSHM_E_TIMEOUT);
	forbid(PROT_READ | PROT_WRITE);
	return got == 1 ? interruptions + 1 : 0;
}

TEST(a_copy_that_takes_long_is_tried_four_times_before_the_lock)
{
	begin(MB(64));
	uint8_t *room = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *expected = malloc(HUGE);
	REQUIRE(room != MAP_FAILED);
	REQUIRE(store_put(segment, 1, 1, HUGE, 0, BSHM_PUT_SET) == 1);
	const pid_t child = spawn(hold);
	while (BSHM_LOAD(&test_words[0], ACQUIRE) == 0) {
		bshm_os_sleep_us(1000);
	}
	signal(SIGSEGV, interrupt);
	unsigned stood = 0;
	for (unsigned i = 0; i < 20 && stood == 0; i++) { /* a busy machine may take longer */
		stood = standing_try(room, expected);
	}
	signal(SIGSEGV, SIG_DFL);
	CHECK_INT(stood, 4);
	BSHM_STORE(&test_words[1], 1, RELEASE);
	CHECK_INT(finish(child), 0);
	check_sound(segment);
	munmap(room, HUGE);
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
