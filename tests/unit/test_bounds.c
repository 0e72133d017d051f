/*
 * test_bounds.c - how much work a call does while it holds a lock: docs/CONCURRENCY.md, "Bounds".
 *
 * What is counted are accesses to shared words (platform/counted.h), not time.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/change.h"
#include "core/cache/evict.h"
#include "core/cache/recency.h"
#include "core/cache/shard_lock.h"
#include "core/cache/table.h"
#include "test_bounds.h"

/* Accesses of one step of a clear: 64 buckets of records and what overflowed, with one resize. */
#define CLEAR_MOST 300000u
/* 1,024 records, with the buckets of a table, the chunks of a large record, or a page. */
#define VERIFY_MOST 200000u
/* The 1,835 old chunks are freed; else 256 are taken, or room is made. */
#define LARGE_MOST 60000u
/* Room for a large record among small ones: for each that goes; and of a step, 128 evictions and a
 * page or two. The last step makes room for its first and its last part, too. About once in 130,000
 * evictions the hand crosses pages of which none has enough heavy records, 512 with each step: in
 * such steps 35 records go one by one. By the keys' hashes, a put may meet that. */
#define EVICTION_MOST 160u
#define ROOM_MOST     400000u
/* 512 entries, heads and ops, or fewer filters. */
#define FILTERS_MOST 60000u
/* 64 evictions among large records, a page or two, and the resize of a table. */
#define MIXED_MOST 100000u
/* 8 pages of records, or the headers of 32,768. */
#define AGING_MOST 50000u
/* A few steps of that, where no page of the first 512 has an old record: so many evictions as the
 * choice of one of them costs, and a page. */
#define VAIN_MOST 250000u
/* 64 evictions where no class has the pages for a choice. */
#define FEW_PAGES_MOST 100000u
/* One record is looked up, put and freed. */
#define CHANGE_MOST 500u

/* 256 keys, of 7 counters each, and the ops of dead processes. */
#define COUNT_MOST 10000u

/* Fewer than a call with many keys may have leases of one shard. */
#define MANY_KEYS 150u

static void clear_all(bshm_segment *segment)
{
	bshm_records_clear(segment, &(bshm_key){"", 0});
}

static void clear_none(bshm_segment *segment)
{
	bshm_records_clear(segment, &(bshm_key){"none", 4});
}

TEST(a_clear_holds_a_lock_for_a_step)
{
	bshm_segment *segment = filled_store(MB(16), 400000);
	const cost none = cost_of(clear_none, segment);
	CHECK_INT(none.most, 0); /* takes no lock */
	const cost all = cost_of(clear_all, segment);
	test_note("a step: %llu, all: %llu", (unsigned long long) all.most,
		(unsigned long long) all.accesses);
	CHECK(all.most <= CLEAR_MOST);
	CHECK(all.accesses < UINT64_C(400000) * 150);
	CHECK_INT(records_of(segment), 0);
}

/* A value of 15 MB, which is then replaced. */
static void put_large(bshm_segment *segment)
{
	for (uint64_t serial = 0; serial < 2; serial++) {
		CHECK_INT(store_put(segment, 1, serial, 15000000, 0, BSHM_PUT_SET), 1);
	}
}

/* Its bytes are no accesses to words: they are copied while the lock is not held. */
TEST(a_large_value_is_put_in_steps)
{
	bshm_segment *segment = open_store(MB(64), 0);
	const cost all = cost_of(put_large, segment);
	test_note("a step: %llu, all: %llu, %llu holds", (unsigned long long) all.most,
		(unsigned long long) all.accesses, (unsigned long long) bshm__held.holds);
	CHECK(all.most <= LARGE_MOST);
	CHECK(bshm__held.holds >= 2 * 15000000 / 8176 / 256);
}

/* Of chunks and records as small as can be. */
static void put_many_chunks(bshm_segment *segment)
{
	CHECK_INT(store_put(segment, 1, 1, 15000000, 0, BSHM_PUT_SET), 1);
}

/* Three quarters of a shard, of several: more than a million records go. */
static void put_most_of_a_shard(bshm_segment *segment)
{
	CHECK_INT(store_put(segment, 1, 1, 26000000, 0, BSHM_PUT_SET), 1);
}

static void put_some_chunks(bshm_segment *segment)
{
	CHECK_INT(store_put(segment, 1, 1, 250000, 0, BSHM_PUT_SET), 1);
}

/* The records go page by page. If free slots lay all over the pages, the others would be moved. */
TEST(room_for_a_large_value_is_made_in_steps_without_moving_many)
{
	test_counts();
	static const struct {
		uint64_t bytes; /* of the store */
		void (*put)(bshm_segment *);
	} puts[] = {{MB(64), put_many_chunks}, {0, put_some_chunks}, {MB(100), put_most_of_a_shard}};
	bshm_segment *segment = NULL;
	for (unsigned i = 0; i < 3; i++) {
		if (puts[i].bytes != 0) {
			bshm_segment_close(segment);
			segment = open_with_seed(puts[i].bytes, 0);
			store_fill_up(segment, 0, 0);
		}
		const uint64_t before = store_evictions(segment);
		const cost all = cost_of(puts[i].put, segment);
		const uint64_t evicted = store_evictions(segment) - before;
		test_note("%llu evicted, %llu accesses for each; a step: %llu, %llu holds",
			(unsigned long long) evicted, (unsigned long long) (all.accesses / evicted),
			(unsigned long long) all.most, (unsigned long long) bshm__held.holds);
		CHECK(i == 2 || all.accesses < evicted * EVICTION_MOST + ROOM_MOST);
		CHECK(all.most <= ROOM_MOST);
		CHECK(bshm__held.holds >= evicted / 160);
	}
	check_sound(segment);
}

/* A large value that is changed: an append, a touch of a record without a ttl, and puts. */
static uint32_t changed_bytes;

static const bshm_key *changed_key(void)
{
	static const uint64_t number = UINT32_MAX;
	static const bshm_key key = {(const char *) &number, sizeof(number)};
	return &key;
}

static void append_to_large(bshm_segment *segment)
{
	uint64_t length;
	bshm_error error;
	CHECK_INT(bshm_record_append(segment, changed_key(), &(bshm_key){"more", 4}, &(bshm_key){"", 0},
				  &length, &error),
		BSHM_OK);
	CHECK_INT(length, changed_bytes + 4);
}

static void touch_large(bshm_segment *segment)
{
	bshm_error error;
	CHECK_INT(bshm_record_touch(segment, changed_key(), 60, &error), 1);
}

static void replace_large(bshm_segment *segment)
{
	CHECK_INT(store_put(segment, UINT32_MAX, 2, changed_bytes, 0, BSHM_PUT_REPLACE), 1);
}

static void swap_large(bshm_segment *segment)
{
	uint8_t *bytes = malloc(changed_bytes);
	store_fill(bytes, UINT32_MAX, 1, changed_bytes);
	const bshm_value value = {BSHM_VALUE_STRING, bytes, changed_bytes};
	const bshm_put put = {
		.key = *changed_key(), .value = value, .mode = BSHM_PUT_CAS, .expected = &value};
	bshm_error error;
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	free(bytes);
}

/* Also where the old value and the new one do not fit into one shard. */
TEST(room_for_a_large_value_that_is_changed_is_made_in_steps)
{
	test_counts();
	static const struct {
		void (*call)(bshm_segment *);
		uint64_t store;
		uint32_t value;
	} cases[] = {{append_to_large, MB(8), 1800000}, {touch_large, MB(8), 1800000},
		{replace_large, MB(8), 1800000}, {swap_large, MB(8), 1800000},
		{append_to_large, MB(66), 16000000}};
	for (unsigned c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		bshm_segment *segment = open_store(cases[c].store, 0);
		changed_bytes = cases[c].value;
		store_fill_up(segment, 0, segment->shard_count == 1 ? 0 : 200);
		CHECK_INT(store_put(segment, UINT32_MAX, 1, changed_bytes, 0, BSHM_PUT_SET), 1);
		const uint64_t before = store_evictions(segment);
		const cost all = cost_of(cases[c].call, segment);
		const uint64_t evicted = store_evictions(segment) - before;
		test_note("%llu evicted, %llu accesses; a step: %llu, %llu holds",
			(unsigned long long) evicted, (unsigned long long) all.accesses,
			(unsigned long long) all.most, (unsigned long long) bshm__held.holds);
		CHECK(all.most <= ROOM_MOST);
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* The new value depends on the existing one, which is small: 4 chunks, and what is beside them. */
static void append_some(bshm_segment *segment)
{
	static char bytes[32000];
	uint64_t length;
	bshm_error error;
	CHECK_INT(bshm_record_append(segment, changed_key(), &(bshm_key){bytes, sizeof(bytes)},
				  &(bshm_key){"", 0}, &length, &error),
		BSHM_OK);
	CHECK_INT(length, changed_bytes + sizeof(bytes));
}

static void replace_some(bshm_segment *segment)
{
	CHECK_INT(store_put(segment, UINT32_MAX, 2, 32000, 0, BSHM_PUT_REPLACE), 1);
}

static void swap_some(bshm_segment *segment)
{
	static uint8_t bytes[32000];
	store_fill(bytes, UINT32_MAX, 1, changed_bytes);
	const bshm_value expected = {BSHM_VALUE_STRING, bytes, changed_bytes};
	const bshm_put put = {.key = *changed_key(),
		.value = {BSHM_VALUE_STRING, bytes, sizeof(bytes)},
		.mode = BSHM_PUT_CAS,
		.expected = &expected};
	bshm_error error;
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
}

static void load_some(bshm_segment *segment)
{
	static char bytes[32000];
	const bshm_put put = {.key = {"loaded", 6}, .value = {BSHM_VALUE_STRING, bytes, sizeof(bytes)}};
	bshm_lease_grant grant;
	bshm_error error;
	CHECK_INT(bshm_lease_take(segment, 0, &put.key, false, NULL, &grant), BSHM_LEASE_MINE);
	CHECK_INT(bshm_lease_release(segment, &grant, &put, NULL, &error), 1);
}

/* In a full store of tiny records, with one of 100 bytes that was just put. The first eviction may
 * have made more room than was needed, and other classes have free slots: larger values take
 * them. */
static bshm_segment *store_to_change(void)
{
	bshm_segment *segment = open_store(MB(16), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	const uint32_t next = store_fill_up(segment, 0, 0);
	for (uint32_t i = 0; i < 4 || bshm__slots_free(&s, BSHM_CLASS_CHUNK) != 0; i++) {
		CHECK_INT(store_put(segment, next + i, 1, 9000, 0, BSHM_PUT_SET), 1);
	}
	changed_bytes = 100;
	CHECK_INT(store_put(segment, UINT32_MAX, 1, changed_bytes, 0, BSHM_PUT_SET), 1);
	return segment;
}

/* While no process has waited long for the lock, it stays: others could evict the record. */
TEST(room_that_depends_on_a_record_or_a_lease_is_made_without_letting_others_in)
{
	test_counts();
	static void (*const calls[])(bshm_segment *) = {
		append_some, replace_some, swap_some, load_some};
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		bshm_segment *segment = store_to_change();
		const uint64_t before = store_evictions(segment);
		const cost all = cost_of(calls[i], segment);
		const uint64_t evicted = store_evictions(segment) - before;
		test_note("%llu evicted, %llu accesses, %llu holds", (unsigned long long) evicted,
			(unsigned long long) all.accesses, (unsigned long long) bshm__held.holds);
		CHECK(evicted > 1000);
		CHECK(bshm__held.holds <= 2); /* a lease is taken with another one */
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

/* The oldest records, a tenth of which go for each. Each step touches the one it depends on. */
TEST(an_old_record_does_not_go_for_the_room_of_its_new_value)
{
	bshm_segment *segment = open_store(MB(1), 0);
	store_fill_up(segment, 0, 0);
	uint32_t replaced = 0;
	for (uint32_t number = 0; replaced < 20; number++) {
		const uint64_t key_bytes = number;
		const bshm_key key = {(const char *) &key_bytes, 8};
		bshm_found found;
		if (bshm_record_find(segment, 0, &key, 0, &found) == 1) {
			CHECK_INT(store_put(segment, number, 2, 32000, 0, BSHM_PUT_REPLACE), 1);
			replaced++;
		}
	}
	check_sound(segment);
}

TEST(such_room_is_made_in_steps_between_which_one_that_has_waited_long_gets_the_lock)
{
	test_counts();
	static uint8_t bytes[32000];
	bshm_segment *segment = store_to_change();
	const bshm_put put = {.key = *changed_key(),
		.value = {BSHM_VALUE_STRING, bytes, sizeof(bytes)},
		.mode = BSHM_PUT_REPLACE};
	const bshm__home home = bshm__home_of(segment, 0, &put.key);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	bshm_patience patience = {0};
	bshm_error error;
	REQUIRE(bshm__shard_lock(&s, BSHM_LOCK_PAGE_NS, &error) == BSHM_OK);
	uint64_t most = 0;
	uint32_t step = 1;
	for (unsigned steps = 0;; steps++) {
		const uint64_t before = bshm__held.accesses;
		const int stored = bshm__record_put_step(&s, &home, &put, 0, step);
		const uint64_t accesses = bshm__held.accesses - before;
		most = accesses > most ? accesses : most;
		if (stored != BSHM_E_BUSY) {
			CHECK_INT(stored, 1);
			CHECK(steps > 16);
			break;
		}
		const bool starving = steps % 2 == 1;
		const uint64_t holds = bshm__held.holds;
		BSHM_STORE(&s.shard->starving, starving, RELAXED);
		CHECK_INT(bshm__yield_step(&s, 0, &patience, &step, &error), BSHM_OK);
		CHECK_INT(bshm__held.holds - holds, starving);
	}
	bshm__shard_unlock(&s);
	test_note("a step: %llu", (unsigned long long) most);
	CHECK(most <= MIXED_MOST);
	check_sound(segment);
}

/* A put needs a page for its class now and then, and the records that go are of other classes. */
static void put_mixed(bshm_segment *segment)
{
	static uint32_t serial;
	for (uint32_t i = 0; i < 1000; i++, serial++) {
		const uint32_t bytes = 8 + serial * 2654435761u % 1993;
		CHECK_INT(store_put(segment, serial, 1, bytes, 0, BSHM_PUT_SET), 1);
	}
}

TEST(room_among_records_of_all_sizes_is_made_in_steps)
{
	test_counts();
	bshm_segment *segment = open_store(MB(64), 0);
	while (store_evictions(segment) == 0) {
		put_mixed(segment);
	}
	uint64_t most = 0;
	uint64_t holds = 0;
	for (uint32_t i = 0; i < 200; i++) {
		const cost some = cost_of(put_mixed, segment);
		most = some.most > most ? some.most : most;
		holds += bshm__held.holds;
	}
	test_note("a step: %llu; %llu holds", (unsigned long long) most, (unsigned long long) holds);
	CHECK(most <= MIXED_MOST);
	CHECK(holds > 200 * 1000);
	check_sound(segment);
}

static void put_among_young(bshm_segment *segment)
{
	CHECK_INT(store_put(segment, UINT32_MAX, 1, 300000, 0, BSHM_PUT_SET), 1);
}

static void replace_among_young(bshm_segment *segment)
{
	CHECK_INT(store_put(segment, UINT32_MAX - 1, 1, 5000, 0, BSHM_PUT_REPLACE), 1);
}

/* Where the young records lie side by side, thousands of pages have none that may go. A choice that
 * finds none is not made again and again. */
TEST(pages_of_young_records_are_not_searched_in_one_hold)
{
	test_counts();
	static void (*const puts[])(bshm_segment *) = {replace_among_young, put_among_young};
	bshm_segment *segment = open_with_seed(MB(256), 1000000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	REQUIRE(segment->shard_count == 1);
	for (uint32_t i = 0; i < 90000; i++) {
		CHECK_INT(store_put(segment, i, 1, 500, 0, BSHM_PUT_SET), 1);
	}
	const uint64_t floor = bshm__stamp_now(&s);
	const uint32_t first_young = BSHM_LOAD(&s.shard->given_pages, RELAXED);
	CHECK_INT(store_put(segment, UINT32_MAX - 1, 1, 500, 0, BSHM_PUT_SET), 1);
	store_fill_up(segment, 90000, 500);
	CHECK(segment->shard_pages - first_young > 20 * 512);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t now = bshm__stamp_now(&s);
		BSHM_STORE(&s.shard->clock, now | floor << 16 | floor << 32 | now << 48, RELAXED);
		BSHM_STORE(&s.shard->empty_page, first_young + 100, RELAXED);
		const uint64_t before = store_evictions(segment);
		const cost all = cost_of(puts[i], segment);
		test_note("%llu evicted, %llu accesses; a step: %llu, %llu holds",
			(unsigned long long) (store_evictions(segment) - before),
			(unsigned long long) all.accesses, (unsigned long long) all.most,
			(unsigned long long) bshm__held.holds);
		CHECK(all.most <= VAIN_MOST);
	}
	check_sound(segment);
}

static void put_of_another_size(bshm_segment *segment)
{
	CHECK_INT(store_put(segment, UINT32_MAX, 1, 5000, 0, BSHM_PUT_SET), 1);
}

/* Nearly all pages are of chunks. The first slots of the records are of many classes. */
TEST(pages_are_not_searched_again_and_again_where_classes_have_few)
{
	bshm_segment *segment = open_store(MB(48), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	uint32_t rest = 30; /* in the first slot */
	for (uint32_t i = 0; store_evictions(segment) == 0; i++) {
		const uint32_t size_class = bshm__class_of(BSHM_SLOT_HEADER + BSHM_CHAIN_HEADER + 8 + rest);
		const uint32_t used = BSHM_LOAD(&s.shard->classes[size_class].used, RELAXED);
		CHECK_INT(store_put(segment, i, 1, BSHM_CHUNK_BYTES + rest, 0, BSHM_PUT_SET), 1);
		rest += used * 2 >= bshm__class_slots(size_class) * 5 ? 4 : 0;
	}
	for (uint32_t i = 0; i < BSHM_CLASS_RECORDS; i++) {
		CHECK(BSHM_LOAD(&s.shard->classes[i].pages, RELAXED) < 4);
	}
	const cost all = cost_of(put_of_another_size, segment);
	test_note("%llu accesses; a step: %llu, %llu holds", (unsigned long long) all.accesses,
		(unsigned long long) all.most, (unsigned long long) bshm__held.holds);
	CHECK(all.most <= FEW_PAGES_MOST);
	check_sound(segment);
}

static void put_one(bshm_segment *segment)
{
	put_number(segment, 0);
}

/* In a full store, and in one with many pages and few records. */
TEST(stamps_are_renumbered_in_steps_also_if_that_is_overdue)
{
	static const struct {
		uint64_t bytes;
		uint32_t limit;
		uint32_t records;
	} cases[] = {{MB(16), 0, 400000}, {MB(512), 2000, 2000}};
	for (unsigned c = 0; c < 2; c++) {
		bshm_segment *segment = open_store(cases[c].bytes, cases[c].limit);
		for (uint32_t i = 0; i < cases[c].records; i++) {
			put_number(segment, i);
		}
		bshm_shard_header *shard = bshm__shard_at(segment, 0).shard;
		uint64_t most = 0;
		uint32_t puts = 0;
		for (bool begun = false; !begun || BSHM_LOAD(&shard->aging, RELAXED) != 0; puts++) {
			const uint32_t last = BSHM_LOAD(&shard->base, RELAXED) + 0x7000;
			const uint64_t clock = (last & BSHM_SLOT_STAMP) * UINT64_C(0x0001000100010001);
			BSHM_STORE(&shard->clock, clock, RELAXED);
			const cost one = cost_of(put_one, segment);
			most = one.most > most ? one.most : most;
			begun = true;
		}
		test_note("%u puts, %llu accesses at most", puts, (unsigned long long) most);
		CHECK(most < AGING_MOST);
		CHECK(puts <= 2 + segment->shard_pages / 8);
		bshm_segment_close(segment);
	}
}

static void verify(bshm_segment *segment)
{
	check_sound(segment);
}

TEST(the_validator_holds_a_lock_for_a_step)
{
	bshm_segment *segment = filled_store(MB(16), 400000);
	const uint32_t large = (uint32_t) MB(3);
	CHECK_INT(store_put(segment, 1, 1, large, 0, BSHM_PUT_SET), 1);
	const cost all = cost_of(verify, segment);
	test_note("a step: %llu, all: %llu", (unsigned long long) all.most,
		(unsigned long long) all.accesses);
	CHECK(all.most <= VERIFY_MOST);
}

/* A limit that small records just meet: each table has all its units at once. Each unit of a page
 * is looked for among all of them. */
TEST(the_validator_looks_for_units_in_steps)
{
	test_counts();
	bshm_segment *segment = open_store(MB(64), 2100000);
	for (uint32_t i = 0; i < 400000; i++) {
		CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	const cost all = cost_of(verify, segment);
	test_note("a step: %llu, all: %llu", (unsigned long long) all.most,
		(unsigned long long) all.accesses);
	CHECK(all.most <= VERIFY_MOST);
	bshm_segment_close(segment);
}

TEST(the_validator_of_filters_holds_the_lock_for_a_step)
{
	bshm_segment *segment = open_segment(MB(64));
	char name[16];
	for (uint32_t i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		CHECK_INT(reserve(segment, name, 1000, 0.01), 1);
	}
	const cost all = cost_of(verify, segment);
	test_note("a step: %llu, all: %llu, %llu holds", (unsigned long long) all.most,
		(unsigned long long) all.accesses, (unsigned long long) bshm__held.holds);
	CHECK(all.most <= FILTERS_MOST);
	CHECK(bshm__held.holds >= 10);
	/* A fault is told only if it is there while the lock is held all the time. */
	bshm_entry *entry = entry_of(segment, "f0");
	entry->descriptor[entry->generation & 1].seed ^= 1;
	CHECK_INT(faults(segment), 1);
	CHECK(bshm__held.most > FILTERS_MOST);
}

/* Changes of single records: no table is resized, and there is room. */
static void change_some(bshm_segment *segment)
{
	bshm_error error;
	for (uint32_t i = 0; i < 1000; i++) {
		char name[24];
		const bshm_key key = {name, (size_t) snprintf(name, sizeof(name), "key:%u", i * 7)};
		int64_t out;
		put_number(segment, i * 7);
		bshm_record_increment(segment, &(bshm_increment){.key = key, .by = 1}, &out, &error);
		bshm_record_touch(segment, &key, 60, &error);
		bshm_record_remove(segment, 0, &key, &error);
	}
}

TEST(a_change_of_a_record_is_a_few_steps_whatever_the_size_of_the_store)
{
	for (uint32_t records = 10000; records <= 400000; records += 390000) {
		bshm_segment *segment = filled_store(MB(32), records);
		const cost all = cost_of(change_some, segment);
		test_note("%u records: %llu", records, (unsigned long long) all.most);
		CHECK(all.most <= CHANGE_MOST);
	}
}

/* Keys that are counted are noted under the segment's lock, 256 at a time. */
static void add_counted(bshm_segment *segment)
{
	CHECK(add_numbers(segment, "counted", 0, 20000) > 0);
}

TEST(keys_are_counted_in_steps)
{
	bshm_segment *segment = open_segment(MB(16));
	const bshm_parameters parameters = {.error_rate = 0.01, .capacity = 50000, .counting = true};
	bshm_error error;
	CHECK_INT(bshm_filter_reserve(segment, "counted", 7, &parameters, &error), 1);
	const cost all = cost_of(add_counted, segment);
	test_note("a step: %llu, %llu holds", (unsigned long long) all.most,
		(unsigned long long) bshm__held.holds);
	CHECK(all.most <= COUNT_MOST);
}

/* The next key of the first shard, from *number on. */
static bshm_key key_of_first_shard(bshm_segment *segment, uint64_t *number)
{
	const bshm_key key = {(const char *) number, 8};
	do {
		++*number;
	} while (bshm__home_of(segment, 0, &key).shard != 0);
	return key;
}

static void put_many(bshm_segment *segment, bshm_patience *patience)
{
	uint64_t number = 0;
	bshm_error error;
	for (uint32_t i = 0; i < MANY_KEYS; i++) {
		const bshm_put put = {.key = key_of_first_shard(segment, &number),
			.value = {BSHM_VALUE_INT, &number, sizeof(number)},
			.patience = patience};
		(void) bshm_record_put(segment, &put, &error);
	}
}

static void lease_many(bshm_segment *segment, bshm_patience *patience)
{
	uint64_t number = 0;
	bshm_lease_grant grant;
	for (uint32_t i = 0; i < MANY_KEYS; i++) {
		const bshm_key key = key_of_first_shard(segment, &number);
		CHECK_INT(bshm_lease_take(segment, 0, &key, false, patience, &grant), BSHM_LEASE_MINE);
	}
}

/* After a death the limit of records is counted anew; while a lock is held it cannot be. Each try
 * waits for that lock, so a call makes one; a call that has waited in vain makes none. */
TEST(a_call_with_many_keys_counts_the_limit_anew_once)
{
	void (*const calls[])(bshm_segment *, bshm_patience *) = {put_many, lease_many};
	bshm_segment *segment = open_store(MB(160), 300 * 8192);
	const pid_t child = spawn(hold_the_last_shard);
	await_flag(0);
	BSHM_STORE(&segment->store->recount, 1, RELAXED);
	BSHM_STORE(&segment->store->reserved, segment->cache_records, RELAXED);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		bshm__held = (bshm_held){0};
		calls[i](segment, &(bshm_patience){0});
		CHECK_INT(bshm__held.holds, MANY_KEYS + 1); /* and the locks before the one that is held */
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		bshm_records_clear(segment, &(bshm_key){"", 0}); /* ends the leases */
		bshm__held = (bshm_held){0};
		calls[i](segment, &(bshm_patience){.gone = true});
		CHECK_INT(bshm__held.holds, MANY_KEYS);
	}
	kill_child(child);
}
