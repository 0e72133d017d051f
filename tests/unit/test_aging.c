/*
 * test_aging.c - the order of records stays, however long they are not used.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/aging.h"
#include "core/cache/locate.h"
#include "core/cache/sample.h"
#include "test_lru.h"
#include "test_store.h"

static lru same;

static bool use_or_put(bshm_segment *segment, uint32_t key, uint32_t bytes)
{
	const bool hit = store_use(segment, key);
	if (!hit) {
		CHECK_INT(store_put(segment, key, 1, bytes, 0, BSHM_PUT_SET), 1);
	}
	return hit;
}

/* Nearly every use is of a few hot records. Of the others, 3 of 5 come round after 45 % of the
 * records, and 2 of 5 come once. So an LRU loses only these: it has to know which of the records
 * that were not used for thousands of epochs is the oldest. */
TEST(as_many_are_missed_as_with_lru_where_misses_are_rare)
{
	test_counts();
	static const struct {
		uint32_t records;
		uint32_t bytes; /* of the store, in MB */
		uint32_t hot;   /* uses of hot records for each other one */
		uint32_t others;
	} cases[] = {{130, 1, 1000, 3000}, {1000, 1, 500, 6000}, {1500, 2, 500, 6000},
		{1500, 2, 2000, 3000}, {4000, 64, 200, 16000}};
	for (unsigned c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const uint32_t limit = cases[c].records;
		const uint32_t hot = limit / 20;
		const uint32_t turn = limit * 45 / 100;
		uint32_t next = hot + turn;
		uint32_t misses = 0;
		uint32_t lost = 0;
		uint64_t seed = test_seed();
		bshm_segment *segment = open_store(MB((uint64_t) cases[c].bytes), limit);
		lru_begin(&same, limit);
		for (uint32_t i = 0, round = 0; i < cases[c].others; i++) {
			for (uint32_t k = 0; k < cases[c].hot; k++) {
				const uint32_t key = (uint32_t) (test_random(&seed) % hot);
				use_or_put(segment, key, 8);
				lru_use(&same, key);
			}
			const bool once = i % 5 == 0 || i % 5 == 2;
			const uint32_t key = once ? next++ : hot + round++ % turn;
			lost += !use_or_put(segment, key, 8);
			misses += !lru_use(&same, key);
		}
		test_note("%u records: %u lost, %u by an LRU", limit, lost, misses);
		CHECK(lost <= misses + misses / 100);
		check_sound(segment);
		bshm_segment_close(segment);
	}
}

#define SECOND UINT64_C(1000000000)

static uint32_t oldest_age(const bshm_segment *segment)
{
	const bshm_shard_header *shard = &segment->shards[0];
	const uint32_t now = (uint32_t) BSHM_LOAD(&shard->clock, RELAXED);
	return bshm__age(now, BSHM_LOAD(&shard->base, RELAXED));
}

/* Sets the clock so far ahead of the oldest stamp. */
static void set_ahead(bshm_shard_header *shard, uint32_t age)
{
	bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&shard->clock, RELAXED));
	e.now = BSHM_LOAD(&shard->base, RELAXED) + age;
	BSHM_STORE(&shard->clock, bshm__clock_of(e), RELAXED);
}

/* Uses alone: for more epochs than there are stamps. Then a fifth of the records is used once more:
 * by each record 20 uses or more in a second. */
TEST(what_was_used_last_stays_after_any_number_of_reads)
{
	test_counts();
	static const uint32_t counts[] = {10, 100, 1000, 2000};
	for (unsigned c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		const uint32_t count = counts[c];
		const uint32_t in_second = count < 100 ? 1000 : 20 * count;
		uint64_t seed = test_seed();
		uint64_t now_s = 1000;
		bshm_clock_set(now_s * SECOND);
		bshm_segment *segment = open_store(MB(4), count);
		uint32_t lost = 0;
		for (uint32_t i = 0; i < count; i++) {
			CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
		}
		for (uint32_t i = 0; i < 2000 * (count < 100 ? 100 : count); i++) {
			if (i % in_second == 0) {
				bshm_clock_set(++now_s * SECOND);
			}
			CHECK(store_use(segment, (uint32_t) (test_random(&seed) % count)));
		}
		for (uint32_t i = 0; i < count / 5; i++) {
			CHECK(store_use(segment, i));
		}
		for (uint32_t i = 0; i < count / 2; i++) {
			CHECK_INT(store_put(segment, count + i, 1, 8, 0, BSHM_PUT_SET), 1);
		}
		for (uint32_t i = 0; i < count / 5; i++) {
			lost += !store_has(segment, i);
		}
		test_note("%u records: %u of %u lost", count, lost, count / 5);
		CHECK_INT(lost, 0);
		check_sound(segment);
		bshm_segment_close(segment);
	}
	bshm_clock_set(0);
}

static void use_often(bshm_segment *segment, uint32_t uses)
{
	for (uint32_t i = 0; i < uses; i++) {
		CHECK(store_use(segment, i % 20));
	}
}

/* Processes that read the same records all the time take lines from each other while the clock goes
 * on: so look-ups let it stop, for seconds. They wait for no lock. */
TEST(look_ups_renumber_seldom_and_only_while_the_lock_is_free)
{
	bshm_clock_set(1000 * SECOND);
	bshm_segment *segment = open_store(MB(4), 0);
	bshm_shard_header *shard = &segment->shards[0];
	for (uint32_t i = 0; i < 20; i++) {
		CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	BSHM_STORE(&shard->lock, UINT64_C(1) << 40, RELAXED);
	use_often(segment, 60000);
	CHECK(oldest_age(segment) > BSHM_AGE_DONE);
	BSHM_STORE(&shard->lock, 0, RELAXED);
	use_often(segment, BSHM_HELP_HITS);
	CHECK(oldest_age(segment) <= BSHM_HELP_HITS + 20);

	use_often(segment, 60000);
	CHECK(oldest_age(segment) > BSHM_AGE_DONE);
	bshm_clock_set(1003 * SECOND);
	use_often(segment, BSHM_HELP_HITS);
	CHECK(oldest_age(segment) > BSHM_AGE_DONE);
	bshm_clock_set(1004 * SECOND);
	use_often(segment, BSHM_HELP_HITS);
	CHECK(oldest_age(segment) <= BSHM_HELP_HITS + 20);
	bshm_clock_set(0);
	check_sound(segment);
}

static bshm_segment *in_use;
static bool was_renumbered;
static void renumber(void)
{
	const bshm__shard s = bshm__shard_at(in_use, 0);
	was_renumbered = bshm__aging_due(s.shard);
	bshm__aging_step(&s);
}

/* Before each access of a use another process renumbers the stamps, that of this record, too. */
TEST(a_record_that_is_used_while_stamps_are_renumbered_is_the_youngest)
{
	const uint64_t access_most = 100;
	uint64_t reached = 0;
	for (uint64_t access = 1; access < access_most; access++) {
		bshm_segment *segment = open_store(MB(1), 10);
		for (uint32_t i = 0; i < 10; i++) {
			CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
		}
		set_ahead(&segment->shards[0], 0x4100);
		in_use = segment;
		was_renumbered = false;
		bshm__held.call_at = bshm__held.accesses + access;
		bshm__held.call = renumber;
		CHECK(store_use(segment, 0));
		bshm__held.call = NULL;
		reached += was_renumbered;
		for (uint32_t i = 10; i < 19; i++) {
			CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
		}
		CHECK(store_has(segment, 0));
		bshm_segment_close(segment);
		unlink(test_path("segment"));
	}
	CHECK(reached > 10 && reached < access_most - 1);
}

/* All that is read has the stamp `now` when the clock has stopped. It goes on all the same. */
TEST(the_clock_goes_on_after_it_has_stopped)
{
	static const uint32_t counts[] = {100, 2000};
	for (unsigned c = 0; c < 2; c++) {
		const uint32_t count = counts[c];
		bshm_clock_set(1000 * SECOND);
		bshm_segment *segment = open_store(MB(4), count);
		bshm_shard_header *shard = &segment->shards[0];
		for (uint32_t i = 0; i < count; i++) {
			CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
		}
		BSHM_STORE(&shard->helped_s, bshm__store_now_s(segment), RELAXED);
		set_ahead(shard, BSHM_AGE_MAX - 1);
		for (uint32_t i = 0; i < 20 * count + 2 * BSHM_HELP_HITS; i++) {
			CHECK(store_use(segment, i % count));
		}
		CHECK_INT(oldest_age(segment), BSHM_AGE_MAX - 1);
		bshm_clock_set(1004 * SECOND);
		const bshm__epochs before = bshm__epochs_of(BSHM_LOAD(&shard->clock, RELAXED));
		for (uint32_t i = 0; i < 8 * BSHM_HELP_HITS + 4 * count; i++) {
			CHECK(store_use(segment, i % count));
		}
		const bshm__epochs after = bshm__epochs_of(BSHM_LOAD(&shard->clock, RELAXED));
		CHECK(bshm__age(after.now, after.floor) < bshm__age(after.now, before.now));
		for (uint32_t i = 0; i < count; i++) {
			CHECK(store_use(segment, i % (count / 5)));
		}
		for (uint32_t i = 0; i < count / 2; i++) {
			CHECK_INT(store_put(segment, count + i, 1, 8, 0, BSHM_PUT_SET), 1);
		}
		uint32_t lost = 0;
		for (uint32_t i = 0; i < count / 5; i++) {
			lost += !store_has(segment, i);
		}
		CHECK_INT(lost, 0);
		check_sound(segment);
		bshm_segment_close(segment);
		unlink(test_path("segment"));
	}
	bshm_clock_set(0);
}

static void make_due(bshm_segment *segment)
{
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		set_ahead(&segment->shards[i], 0x4100);
	}
}

static uint32_t count_due(const bshm_segment *segment)
{
	uint32_t due = 0;
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		due += bshm__aging_due(&segment->shards[i]);
	}
	return due;
}

TEST(each_kind_of_use_renumbers_and_look_ups_do_in_each_shard)
{
	bshm_segment *segment = open_store(MB(200), 0);
	const uint64_t number = 1;
	const bshm_key key = {(const char *) &number, 8};
	const uint32_t shards = segment->shard_count;
	bshm_error error;
	CHECK(shards > 1);
	CHECK_INT(store_put(segment, 1, 1, 8, 60, BSHM_PUT_SET), 1);
	make_due(segment);
	CHECK_INT(bshm_record_touch(segment, &key, 60, &error), 1);
	CHECK_INT(count_due(segment), shards - 1);
	make_due(segment);
	CHECK_INT(store_put(segment, 1, 1, 8, 60, BSHM_PUT_ADD), 0);
	CHECK_INT(count_due(segment), shards - 1);
	make_due(segment);
	CHECK_INT(bshm_record_remove(segment, BSHM_SPACE_CACHE, &key, &error), 1);
	CHECK_INT(count_due(segment), shards - 1);
	CHECK_INT(store_put(segment, 1, 1, 8, 60, BSHM_PUT_SET), 1);
	make_due(segment);
	for (uint32_t i = 0; i < shards * BSHM_HELP_HITS; i++) {
		CHECK(store_use(segment, 1));
	}
	CHECK_INT(count_due(segment), 0);
	check_sound(segment);
}

/* A burst of keys, of which 3 of 5 come round after 45 % of the records. Between bursts hot records
 * are read alone, until the stamps have been renumbered many times. */
TEST(as_many_are_missed_as_with_lru_after_long_reads_of_hot_records)
{
	test_counts();
	static const uint32_t cases[][2] = {{64, 900}, {64, 1500}, {300, 1000}, {4, 3000}};
	for (unsigned c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const uint32_t limit = cases[c][1];
		const uint32_t hot = limit / 20;
		const uint32_t turn = limit * 45 / 100;
		uint32_t next = hot + turn;
		uint32_t misses = 0;
		uint32_t lost = 0;
		bshm_segment *segment = open_store(MB((uint64_t) cases[c][0]), limit);
		const bshm__shard s = bshm__shard_at(segment, 0);
		lru_begin(&same, limit);
		for (uint32_t i = 0, round = 0; i < 8 * limit; i++) {
			const bool once = i % 5 == 0 || i % 5 == 2;
			const uint32_t key = once ? next++ : hot + round++ % turn;
			lost += !use_or_put(segment, key, 8);
			misses += !lru_use(&same, key);
			for (uint32_t k = 0; i % limit == 0 && k < 12 * hot; k++) {
				use_or_put(segment, k % hot, 8);
				lru_use(&same, k % hot);
				if (k % hot == 0) {
					make_due(segment);
					while (bshm__aging_due(s.shard)) {
						bshm__aging_step(&s);
					}
				}
			}
		}
		test_note("%u records: %u lost, %u by an LRU", limit, lost, misses);
		CHECK(lost <= misses + misses / 100);
		check_sound(segment);
		bshm_segment_close(segment);
		unlink(test_path("segment"));
	}
}

static uint32_t ref_of(const bshm__shard *s, uint64_t number)
{
	const bshm_key key = {(const char *) &number, 8};
	const bshm__home home = bshm__home_of(s->segment, BSHM_SPACE_CACHE, &key);
	bshm__existing at;
	bshm__locate(s, &home, BSHM_SPACE_CACHE, &key, &at);
	return at.ref;
}

static uint32_t age_of(uint64_t number)
{
	const bshm__shard s = bshm__shard_at(in_use, 0);
	const uint32_t state = *bshm__slot_word(bshm__ref_at(&s, ref_of(&s, number), 16), 0);
	return bshm__age(bshm__stamp_now(&s), state);
}

/* That is also what a death there leaves. */
static void check_order(void)
{
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&in_use->shards[0].clock, RELAXED));
	uint32_t before = 0;
	for (uint64_t i = 20; i-- != 0;) {
		const uint32_t age = age_of(i);
		CHECK(age >= before && (i % 2 == 0 || i == 19 || age > before));
		CHECK_INT(age > bshm__age(e.now, e.floor), i < 8);
		CHECK_INT(age > bshm__age(e.now, e.middle), i < 14);
		CHECK_INT(age > bshm__age(e.now, e.last), i < 17);
		before = age;
	}
	bshm__held.call_at = bshm__held.accesses + 1;
}

TEST(a_death_while_a_few_are_renumbered_leaves_their_order)
{
	bshm_segment *segment = open_store(MB(1), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	in_use = segment;
	for (uint32_t i = 0; i < 20; i++) {
		CHECK_INT(store_put(segment, i, 1, 8, 0, BSHM_PUT_SET), 1);
	}
	const uint32_t oldest = BSHM_LOAD(&s.shard->base, RELAXED);
	const uint32_t now = (oldest + 0x4800) & BSHM_SLOT_STAMP;
	for (uint32_t i = 0; i < 20; i++) { /* two of each age; of the youngest one, from 5 to 0 */
		uint32_t *word = bshm__slot_word(bshm__ref_at(&s, ref_of(&s, i), 16), 0);
		const uint32_t age = i < 14 ? 0x2000 - 0x200 * (i / 2) : 19 - i;
		BSHM_STORE(word, (*word & ~BSHM_SLOT_STAMP) | ((now - age) & BSHM_SLOT_STAMP), RELAXED);
	}
	const uint64_t floor = (now - 0x2000 + 0x200 * 3 + 5) & BSHM_SLOT_STAMP;
	const uint64_t middle = (now - 0x200) & BSHM_SLOT_STAMP;
	const uint64_t last = (now - 2) & BSHM_SLOT_STAMP;
	BSHM_STORE(&s.shard->clock, now | floor << 16 | middle << 32 | last << 48, RELAXED);
	bshm__held.call_at = bshm__held.accesses + 1;
	bshm__held.call = check_order;
	bshm__aging_step(&s);
	bshm__held.call = NULL;
	check_order();
	CHECK(!bshm__aging_due(s.shard) && age_of(0) <= 20 + BSHM_SHADOW_CELLS);
	check_sound(segment);
}

#define AGES  8u
#define FLOOR 5u

/* Records of eight ages in each page; those of the two oldest ones may be evicted. */
static bshm__shard open_aged(uint32_t records)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < records; i++) {
		CHECK_INT(store_put(segment, i, 1, 100, 0, BSHM_PUT_SET), 1);
	}
	const uint32_t oldest = BSHM_LOAD(&s.shard->base, RELAXED);
	const uint32_t now = (oldest + 0x4800) & BSHM_SLOT_STAMP;
	for (uint32_t i = 0; i < records; i++) {
		uint32_t *word = bshm__slot_word(bshm__ref_at(&s, ref_of(&s, i), 16), 0);
		const uint32_t stamp = (now - 0x900 * (i % AGES + 1)) & BSHM_SLOT_STAMP;
		BSHM_STORE(word, (*word & ~BSHM_SLOT_STAMP) | stamp, RELAXED);
	}
	const uint64_t floor = (now - 0x900 * (FLOOR + 1)) & BSHM_SLOT_STAMP;
	BSHM_STORE(
		&s.shard->clock, now | floor << 16 | (uint64_t) now << 32 | (uint64_t) now << 48, RELAXED);
	return s;
}

/* Their stamps are renumbered page by page. Before each step an eviction sees them in the same
 * order, and the same ones behind the floor. */
TEST(the_order_is_the_same_before_while_and_after_pages_are_renumbered)
{
	enum {
		RECORDS = 6000
	};
	const bshm__shard s = open_aged(RECORDS);
	const uint32_t now = bshm__stamp_now(&s);
	uint32_t steps = 0;
	bool done = false;
	while (!done) {
		const bshm__scales by = bshm__scales_of(&s);
		uint32_t last[AGES];
		for (uint32_t i = 0; i < RECORDS; i++) {
			const bshm__member m = bshm__weigh(&s, &by, ref_of(&s, i));
			CHECK(i < AGES || m.age == last[i % AGES]);
			CHECK(i % AGES == 0 || m.age > last[i % AGES - 1]);
			CHECK_INT(m.age >= by.least_age, i % AGES > FLOOR);
			last[i % AGES] = m.age;
		}
		done = steps != 0 && BSHM_LOAD(&s.shard->aging, RELAXED) == 0;
		bshm__aging_step(&s);
		steps++;
	}
	test_note("%u steps", steps);
	CHECK(steps > 3 && bshm__age(now, BSHM_LOAD(&s.shard->base, RELAXED)) <= 0x2800);
	check_sound(s.segment);
}

/* A dump is read by its recency: the store that it is restored to has room for half of it. */
TEST(a_dump_while_pages_are_renumbered_is_in_the_same_order)
{
	enum {
		RECORDS = 6000
	};
	const bshm__shard s = open_aged(RECORDS);
	do {
		bshm__aging_step(&s);
	} while (BSHM_LOAD(&s.shard->aging_page, RELAXED) < 20);
	CHECK(bshm__aging_due(s.shard));
	uint64_t count;
	bshm_error error;
	CHECK_INT(bshm_store_dump(s.segment, test_path("dump"), &count, &error), BSHM_OK);
	CHECK_INT(count, RECORDS);
	bshm_segment_close(s.segment);
	bshm_segment *to = open_store(MB(4), RECORDS / 2);
	CHECK_INT(bshm_store_restore(to, test_path("dump"), &count, &error), BSHM_OK);
	for (uint32_t i = 0; i < RECORDS; i++) {
		CHECK_INT(store_has(to, i), i % AGES < AGES / 2);
	}
	unlink(test_path("dump"));
}

static uint64_t dies_at;

static void die(void)
{
	_exit(7);
}

static void step_and_die(void)
{
	const bshm__shard s = bshm__shard_at(in_use, 0);
	bshm__held.call_at = bshm__held.accesses + dies_at;
	bshm__held.call = die;
	bshm__aging_step(&s);
	_exit(0);
}

/* A period that is renumbered twice would be younger than what is safe because of it. */
TEST(a_death_in_the_last_step_of_a_renumbering_leaves_safe_records_safe)
{
	enum {
		RECORDS = 1100
	};
	const bshm__shard s = open_aged(RECORDS);
	in_use = s.segment;
	uint8_t *const memory = (uint8_t *) s.shard;
	const size_t bytes = (size_t) (s.pages - memory) + s.segment->shard_bytes;
	uint8_t *const before = malloc(bytes);
	do {
		memcpy(before, memory, bytes);
		bshm__aging_step(&s);
	} while (BSHM_LOAD(&s.shard->aging, RELAXED) != 0);
	unsigned older = 0;
	int status = 7;
	for (dies_at = 1; status == 7 && !test_failed(); dies_at += dies_at < 20 ? 1 : 7) {
		memcpy(memory, before, bytes);
		status = finish(spawn(step_and_die));
		while (BSHM_LOAD(&s.shard->aging, RELAXED) != 0) {
			const uint32_t later = bshm__scales_of(&s).least_age;
			bshm__aging_step(&s);
			CHECK(bshm__scales_of(&s).least_age >= later);
		}
		const bshm__scales by = bshm__scales_of(&s);
		unsigned evictable = 0;
		for (uint32_t i = 0; i < RECORDS; i++) {
			const bool is_evictable = bshm__weigh(&s, &by, ref_of(&s, i)).age >= by.least_age;
			CHECK(!is_evictable || i % AGES > FLOOR);
			evictable += is_evictable;
		}
		older += evictable == 0;
	}
	CHECK(status == 0 && dies_at > 600 && older <= 2);
	check_sound(s.segment);
	free(before);
}
