/*
 * test_ghost.c - what the store learns from records that return, and words that are damaged.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/ghost.h"

#include "core/cache/evict.h"
#include "core/cache/locate.h"
#include "core/cache/recency.h"
#include "core/cache/size.h"
#include "test_store.h"

TEST(a_ghost_is_met_once_and_while_it_is_young)
{
	bshm_segment *segment = open_with_seed(MB(4), 100);
	const bshm__shard s = bshm__shard_at(segment, 0);
	bshm_found found;
	const uint64_t number = 7;
	const bshm_key key = {(const char *) &number, 8};
	const bshm__home home = bshm__home_of(segment, 0, &key);
	for (uint32_t i = 0; i < 100; i++) {
		CHECK_INT(store_put(segment, i, i, 16, 0, BSHM_PUT_SET), 1);
	}
	for (uint32_t i = 100; store_has(segment, 7); i++) {
		CHECK_INT(store_put(segment, i, i, 16, 0, BSHM_PUT_SET), 1);
	}
	const int32_t lean = bshm__ghost_lean(&s);
	CHECK_INT(bshm_record_find(segment, 0, &key, BSHM_FIND_USE, &found), 0);
	CHECK(bshm__ghost_returns(&s, &home, 24, false));
	CHECK(bshm__ghost_lean(&s) < lean); /* it was on probation */
	CHECK(!bshm__ghost_returns(&s, &home, 24, false));
	CHECK_INT(store_put(segment, 7, 7, 16, 0, BSHM_PUT_SET), 1);
	for (uint32_t i = 1000; store_has(segment, 7); i++) {
		CHECK_INT(store_put(segment, i, i, 16, 0, BSHM_PUT_SET), 1);
	}
	for (uint32_t i = 0; i < 100; i++) {
		CHECK_INT(store_put(segment, 5000 + i, i, 16, 0, BSHM_PUT_SET), 1);
	}
	CHECK_INT(bshm_record_find(segment, 0, &key, BSHM_FIND_USE, &found), 0);
	CHECK(!bshm__ghost_returns(&s, &home, 24, false));
	check_sound(segment);
}

/* What is read again after it would have expired tells nothing: so a record that would not have
 * lived for a turn more leaves no ghost. */
TEST(what_would_have_expired_soon_leaves_no_ghost)
{
	static const struct {
		uint32_t ttl_s;
		uint32_t last; /* how long the last turn was, packed: 22 are 96 s */
		uint32_t so_far_s;
		bool leaves;
	} cases[] = {{0, 22, 500, true}, {90, 22, 0, false}, {1000, 22, 0, true}, {90, 0, 500, false},
		{1000, 0, 500, true}, {90, 0, 0, true}, {90, 0, UINT32_MAX - 5, true},
		{100000, 63, 0, false}, {200000, 63, 0, true}};
	bshm_segment *segment = open_with_seed(MB(4), 100);
	const bshm__shard s = bshm__shard_at(segment, 0);
	const uint64_t number = 7;
	const bshm_key key = {(const char *) &number, 8};
	const bshm__home home = bshm__home_of(segment, 0, &key);
	bshm_error error;
	uint32_t next = 1000;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bshm_put put = {
			.key = key, .value = {BSHM_VALUE_STRING, &number, 8}, .ttl_s = cases[i].ttl_s};
		CHECK_INT(bshm_record_put(segment, &put, &error), 1);
		while (store_has(segment, 7)) {
			const uint32_t began_s = bshm__store_now_s(segment) - cases[i].so_far_s;
			s.shard->turn_rounds = began_s << 8 | cases[i].last << 2;
			CHECK_INT(store_put(segment, next++, 1, 16, 0, BSHM_PUT_SET), 1);
		}
		CHECK_INT(bshm__ghost_exists(&s, &home), cases[i].leaves);
		bshm__ghost_end(&s, &home);
	}
	check_sound(segment);
}

/* Each turn says how long it was. */
TEST(a_turn_tells_how_long_it_was)
{
	bshm_segment *segment = open_store(MB(4), 100);
	const bshm__shard s = bshm__shard_at(segment, 0);
	static const uint32_t lengths[][2] = {{0, 0}, {3, 3}, {4, 4}, {7, 7}, {9, 8}, {96, 22},
		{111, 22}, {114687, 62}, {114688, 63}, {4000000, 63}};
	uint32_t next = 0;
	while (store_evictions(segment) == 0) {
		CHECK_INT(store_put(segment, next++, 1, 16, 0, BSHM_PUT_SET), 1);
	}
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint32_t now_s;
		do { /* in one second */
			now_s = bshm__store_now_s(segment);
			s.shard->ghosts = 0;
			s.shard->turn_rounds = (now_s - lengths[i][0]) << 8 | 2;
			CHECK_INT(store_put(segment, next++, 1, 16, 0, BSHM_PUT_SET), 1);
		} while (bshm__store_now_s(segment) != now_s);
		CHECK_INT(s.shard->turn_rounds >> 2 & 63, lengths[i][1]);
		CHECK_INT(s.shard->turn_rounds >> 8, now_s & 0xffffff);
	}
}

/* A writer removes the key of a value that it changes, whether there is a record or not. The next
 * call that asks for it would miss it anyhow. */
TEST(the_ghost_of_a_key_that_is_removed_ends)
{
	bshm_segment *segment = open_with_seed(MB(4), 100);
	const bshm__shard s = bshm__shard_at(segment, 0);
	bshm_error error;
	uint32_t next = 1000;
	uint32_t left = 0;
	for (uint64_t number = 0; number < 30; number++) {
		const uint32_t way = (uint32_t) number % 3;
		const bshm_key key = {(const char *) &number, 8};
		const bshm__home home = bshm__home_of(segment, 0, &key);
		CHECK_INT(store_put(segment, (uint32_t) number, 7, 16, 0, BSHM_PUT_SET), 1);
		while (store_has(segment, (uint32_t) number)) {
			CHECK_INT(store_put(segment, next++, 1, 16, 0, BSHM_PUT_SET), 1);
		}
		CHECK(bshm__ghost_exists(&s, &home));
		if (way == 0) {
			CHECK(bshm__ghost_returns(&s, &home, 24, true));
		} else {
			CHECK_INT(way == 1 ? bshm_record_remove(segment, 0, &key, &error)
							   : bshm_record_forget(segment, 0, &key, NULL, &error),
				0);
			left += bshm__ghost_returns(&s, &home, 24, true);
		}
	}
	CHECK(left <= 2); /* another key's ghost may look the same: one in hundreds */
	check_sound(segment);
}

/* Keys that are only written cost nothing where they are evicted, however often they return. */
TEST(what_nobody_asks_for_teaches_nothing)
{
	bshm_segment *segment = open_store(MB(1), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 100000; i++) {
		CHECK_INT(store_put(segment, i % 30000, i, i % 3 * 40, 0, BSHM_PUT_SET), 1);
	}
	CHECK(store_evictions(segment) > 10000);
	CHECK_INT((int32_t) s.shard->lean, 0);
	CHECK_INT((int32_t) s.shard->size_power, 0);
}

/* Of pages that miss a key at once, one puts it, or each adds it: the count of missed records does
 * not grow, however many they are. */
TEST(what_is_put_after_it_was_missed_is_counted_off)
{
	bshm_segment *segment = open_with_seed(MB(1), 500);
	const bshm__shard s = bshm__shard_at(segment, 0);
	bshm_found found;
	for (uint32_t i = 0; i < 200000; i++) {
		const uint64_t name = i * 7919u % 601;
		const bshm_key key = {(const char *) &name, 8};
		if (bshm_record_find(segment, 0, &key, BSHM_FIND_USE, &found) == 0) {
			for (uint32_t others = i % 7; others != 0; others--) {
				bshm_record_find(segment, 0, &key, BSHM_FIND_USE, &found);
			}
			const unsigned mode = i % 2 == 0 ? BSHM_PUT_SET : BSHM_PUT_ADD;
			CHECK_INT(store_put(segment, (uint32_t) name, 1, 16, 0, mode), 1);
		}
	}
	test_note("count %u", BSHM_LOAD(&s.shard->turn, RELAXED) >> 8);
	CHECK(store_evictions(segment) > 10000);
	const uint32_t before = BSHM_LOAD(&s.shard->turn, RELAXED) >> 8;
	CHECK(before < 500);
	for (uint64_t name = 0; name < 601; name++) { /* nor by one that is removed then */
		const bshm_key key = {(const char *) &name, 8};
		if (bshm_record_find(segment, 0, &key, BSHM_FIND_USE, &found) == 0) {
			store_remove(segment, (uint32_t) name);
		}
	}
	CHECK(BSHM_LOAD(&s.shard->turn, RELAXED) >> 8 <= before);
}

/* Sessions: each is put once, and read seven times, about as often as the others; one that is gone
 * is not put again. All that live fit, and an LRU loses none. */
#define SESSIONS 800u
#define READS    7u

typedef struct {
	uint32_t name[SESSIONS];
	uint32_t reads[SESSIONS]; /* to come */
	uint32_t last;
} sessions;

/* How many reads find none. */
static uint32_t use_sessions(bshm_segment *segment, sessions *all, uint32_t rounds)
{
	bshm_found found;
	uint32_t lost = 0;
	for (uint32_t i = 0; i < rounds * SESSIONS; i++) {
		const uint32_t k = i % SESSIONS;
		const uint64_t name = all->name[k];
		const bshm_key key = {(const char *) &name, 8};
		if (all->reads[k] != 0) {
			all->reads[k]--;
			lost += bshm_record_find(segment, 0, &key, BSHM_FIND_USE, &found) == 0;
		} else {
			all->name[k] = ++all->last;
			all->reads[k] = all->last <= SESSIONS ? k % (READS + 1) : READS;
			CHECK_INT(store_put(segment, all->name[k], 1, 16, 0, BSHM_PUT_SET), 1);
		}
	}
	return lost;
}

/* A lean goes up sooner than what it costs is seen. */
TEST(no_more_of_the_lean_counts_than_is_earned)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	BSHM_STORE(&s.shard->records, 6400, RELAXED); /* 800 lost hits are too many */
	BSHM_STORE(&s.shard->lean, 4 * BSHM_OCTAVE, RELAXED);
	CHECK_INT(bshm__ghost_older(&s, BSHM_KIND_PROBATION), 4 * BSHM_OCTAVE);
	const int32_t younger = bshm__ghost_older(&s, BSHM_KIND_FREQUENT);
	CHECK(younger < -BSHM_OCTAVE);
	BSHM_STORE(&s.shard->gain, (uint32_t) -400, RELAXED);
	CHECK_INT(bshm__ghost_older(&s, BSHM_KIND_PROBATION), 2 * BSHM_OCTAVE);
	CHECK_INT(bshm__ghost_older(&s, BSHM_KIND_FREQUENT), younger / 2);
	CHECK_INT(bshm__ghost_older(&s, BSHM_KIND_PROTECTED), 0);
	BSHM_STORE(&s.shard->gain, (uint32_t) -800, RELAXED);
	CHECK_INT(bshm__ghost_older(&s, BSHM_KIND_PROBATION), 0);
	CHECK_INT(bshm__ghost_older(&s, BSHM_KIND_FREQUENT), 0);
	CHECK_INT(bshm__ghost_lean(&s), 4 * BSHM_OCTAVE);
}

/* The store begins far on the side of records that return, by which it has gained: what it loses
 * must take it back. */
TEST(sessions_that_are_lost_are_a_lesson_too)
{
	bshm_segment *segment = open_store(MB(1), 1000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	sessions all = {.last = 0};
	BSHM_STORE(&s.shard->lean, 5 * BSHM_OCTAVE, RELAXED);
	BSHM_STORE(&s.shard->gain, 1000, RELAXED);
	const uint32_t first = use_sessions(segment, &all, 200);
	const uint32_t last = use_sessions(segment, &all, 400);
	test_note("lost: %u of %u reads, then %u of %u", first, 200 * SESSIONS, last, 400 * SESSIONS);
	CHECK(first > SESSIONS);
	CHECK(last <= SESSIONS);
}

/* Even if none of them stays long enough to be used late: 3,000 were missed, and are not put. */
TEST(what_is_missed_and_not_put_takes_the_lean_back)
{
	bshm_segment *segment = open_store(MB(1), 1000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK_INT(store_put(segment, i, 1, 16, 0, BSHM_PUT_SET), 1);
	}
	CHECK_INT(bshm__ghost_lean(&s), 0); /* a new store is an LRU */
	BSHM_STORE(&s.shard->lean, BSHM_OCTAVE, RELAXED);
	BSHM_ADD(&s.shard->turn, 3000u << 8, RELAXED);
	for (uint32_t i = 1000; i < 1300; i++) {
		CHECK_INT(store_put(segment, i, 1, 16, 0, BSHM_PUT_SET), 1);
	}
	CHECK(bshm__ghost_lean(&s) < BSHM_OCTAVE);
	CHECK(BSHM_LOAD(&s.shard->turn, RELAXED) >> 8 <= 2048); /* so many may still be put */
}

/* Else all that was used while the store was filled would count as used in it: evictions would
 * look rare, and each at 192 records. */
TEST(the_first_turn_begins_with_the_first_eviction)
{
	bshm_segment *segment = open_store(MB(4), 1000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i <= 1000; i++) {
		CHECK_INT(store_put(segment, i, i, 16, 0, BSHM_PUT_SET), 1);
	}
	CHECK_INT(store_evictions(segment), 1);
	CHECK(bshm__age(bshm__stamp_now(&s), s.shard->turn_began) <= 1);
	CHECK_INT(bshm__ghost_uses(&s), 0);
}

/* How often records are used between two evictions: as in the last turn, or as in this one. */
TEST(a_turn_tells_how_rare_evictions_are)
{
	bshm_segment *segment = open_store(MB(4), 1000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	bshm_shard_header *shard = s.shard;
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK_INT(store_put(segment, i, i, 16, 0, BSHM_PUT_SET), 1);
	}
	const uint32_t now = (uint32_t) shard->clock & BSHM_SLOT_STAMP;
	const uint32_t began = (now - 64) & BSHM_SLOT_STAMP;
	const uint32_t floor = (now - 100) & BSHM_SLOT_STAMP; /* so a turn may last for 250 epochs */
	shard->clock = (shard->clock & ~(UINT64_C(0xffff) << 16)) | (uint64_t) floor << 16;
	shard->evictions = 1;
	shard->turn_began = 7u << 16 | began;
	shard->ghosts = 490; /* of 500: the last turn tells */
	CHECK_INT(bshm__ghost_uses(&s), 7);
	shard->ghosts = 400;
	CHECK_INT(bshm__ghost_uses(&s), 64 * (1000 / 64.0) / 100);
	shard->ghosts = 0; /* the turn is over, but the hand has not come round */
	shard->turn_rounds = 0;
	CHECK_INT(store_put(segment, 1000, 1, 16, 0, BSHM_PUT_SET), 1);
	CHECK_INT(shard->turn_began, 7u << 16 | began);
	shard->turn_rounds = 2;
	CHECK_INT(store_put(segment, 1001, 1, 16, 0, BSHM_PUT_SET), 1);
	CHECK_INT(shard->turn_began >> 16, 64 * (1000 / 64.0) / 500);
	CHECK_INT(shard->ghosts, 499);
	/* Evictions are rare: a turn of a single one. */
	shard->turn_began = ((uint32_t) shard->clock - 255) & BSHM_SLOT_STAMP;
	shard->ghosts = 499;
	shard->turn_rounds = 2;
	CHECK_INT(store_put(segment, 1002, 1, 16, 0, BSHM_PUT_SET), 1);
	CHECK(shard->turn_began >> 16 >= 3900);
	CHECK_INT(shard->ghosts, 499);
}

/* A record that returns moves the power of the sizes: within 0 and 5/4. */
TEST(what_returns_says_how_much_a_size_counts)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	const int32_t most = BSHM_OCTAVE / 4 * 5;
	const int32_t first = bshm__size_power(&s);
	CHECK_INT(first, most / 4);
	bshm__size_returned(&s, 1000, true); /* nothing has been evicted yet */
	BSHM_STORE(&s.shard->records, 100, RELAXED);
	for (uint32_t i = 0; i < 1000; i++) {
		bshm__size_evicted(&s, 984, bshm__age_log(63));
	}
	CHECK_INT(BSHM_LOAD(&s.shard->size_evicted, RELAXED), bshm__size_log(984));
	CHECK_INT(bshm__size_power(&s), first);
	bshm__size_returned(&s, 100, true);
	const int32_t more = bshm__size_power(&s);
	CHECK(more > first);
	bshm__size_returned(&s, 984, true);
	CHECK_INT(bshm__size_power(&s), more);
	bshm__size_returned(&s, 4000, true);
	CHECK(bshm__size_power(&s) < more);
	for (uint32_t i = 0; i < 1000; i++) {
		bshm__size_returned(&s, 4000, true);
	}
	CHECK_INT(bshm__size_power(&s), 0);
	CHECK_INT(bshm__size_weight(0, 60000), 256);
	BSHM_STORE(&s.shard->gain, (uint32_t) -64, RELAXED);
	bshm__size_returned(&s, 100, true);
	CHECK_INT(bshm__size_power(&s), 0); /* hits have been lost against an LRU */
	BSHM_STORE(&s.shard->gain, 0, RELAXED);
	for (uint32_t i = 0; i < 1000; i++) {
		bshm__size_returned(&s, 100, true);
	}
	CHECK_INT(bshm__size_power(&s), most);
	CHECK_INT(bshm__size_weight(most, 16 * 16 - 16), 256 * 32);
}

/* So does one that is used when it would have been evicted soon: the mean age was 63 epochs. */
TEST(what_is_used_late_says_how_much_a_size_counts)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	const uint32_t least = bshm__size_log(0);
	const int32_t first = bshm__size_power(&s);
	CHECK(!bshm__size_used(&s, 4000, bshm__age_log(1000))); /* nothing has been evicted yet */
	for (uint32_t i = 0; i < 1000; i++) {
		bshm__size_evicted(&s, 984, bshm__age_log(63));
	}
	CHECK_INT(BSHM_LOAD(&segment->shards[0].evicted_age, RELAXED), least + bshm__age_log(63));
	CHECK(!bshm__size_used(&s, 984, bshm__age_log(55)));
	CHECK(bshm__size_used(&s, 984, bshm__age_log(56)));
	CHECK_INT(bshm__size_power(&s), first); /* it has the size of the margin */
	/* Four times as large as the mean, or as small, and the power is 5/16: 5/8 of an octave. */
	CHECK(!bshm__size_used(&s, 3984, bshm__age_log(35)));
	CHECK(!bshm__size_used(&s, 234, bshm__age_log(87)));
	CHECK_INT(bshm__size_power(&s), first);
	CHECK(bshm__size_used(&s, 234, bshm__age_log(88)));
	const int32_t more = bshm__size_power(&s);
	CHECK(more > first);
	CHECK(bshm__size_used(&s, 3984, bshm__age_log(36)));
	const int32_t less = bshm__size_power(&s);
	CHECK(less < first);
	bshm__size_returned(&s, 234, false); /* counts five times as much, or half of that */
	const int32_t half = bshm__size_power(&s) - less;
	CHECK(half > 2 * (more - first));
	bshm__size_returned(&s, 234, true);
	CHECK(bshm__size_power(&s) - less > 2 * half);
}

/* A use of a record that had this age at the last eviction, `since` epochs ago. */
static int32_t lean_after_use(const bshm__shard *s, uint32_t kind, uint32_t age, uint32_t since)
{
	const uint32_t now = (uint32_t) BSHM_LOAD(&s->shard->clock, RELAXED) & BSHM_SLOT_STAMP;
	BSHM_STORE(&s->shard->lean, BSHM_OCTAVE, RELAXED);
	BSHM_STORE(&s->segment->shards[0].evicted_epoch, (now - since) & BSHM_SLOT_STAMP, RELAXED);
	bshm__ghost_used(s, 0, kind | ((now - since - age) & BSHM_SLOT_STAMP), 100);
	return bshm__ghost_lean(s) - BSHM_OCTAVE;
}

/* The same for the lean, by kind: one on probation counts as twice as old, one that is FREQUENT as
 * 2^(3/8) times younger; and stays the longer, so a use counts less. */
TEST(what_is_used_late_says_how_much_its_kind_counts)
{
	bshm_segment *segment = open_store(MB(4), 1000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	const uint32_t frequent = BSHM_SLOT_PROTECTED | BSHM_SLOT_FREQUENT;
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK_INT(store_put(segment, i, 1, 16, 0, BSHM_PUT_SET), 1);
	}
	BSHM_STORE(&s.shard->base, 1000, RELAXED); /* as if the clock had gone on */
	BSHM_STORE(&s.shard->clock, UINT64_C(0x2000200020002000), RELAXED);
	for (uint32_t i = 0; i < 1000; i++) {
		bshm__size_evicted(&s, 100, bshm__age_log(63)); /* what it counts as */
	}
	BSHM_STORE(&s.shard->evictions, 2000, RELAXED);
	CHECK_INT(lean_after_use(&s, 0, 27, 0), 0);
	CHECK_INT(lean_after_use(&s, BSHM_SLOT_PROTECTED, 55, 0), 0);
	CHECK_INT(lean_after_use(&s, frequent, 71, 0), 0);
	const int32_t down = lean_after_use(&s, 0, 28, 0);
	const int32_t up = lean_after_use(&s, BSHM_SLOT_PROTECTED, 56, 0);
	const int32_t bonus = bshm__ghost_older(&s, BSHM_KIND_FREQUENT);
	const int32_t frequent_up = lean_after_use(&s, frequent, 77, 0);
	CHECK(bshm__ghost_older(&s, BSHM_KIND_FREQUENT) < bonus);
	CHECK(down < 0);
	CHECK(frequent_up > 0);
	CHECK(up > frequent_up);
	BSHM_STORE(&s.shard->evictions, 1999, RELAXED); /* the store is new */
	CHECK(lean_after_use(&s, 0, 28, 0) / 2 < down);
	CHECK(lean_after_use(&s, BSHM_SLOT_PROTECTED, 56, 0) / 2 > up);
	BSHM_STORE(&s.shard->evictions, 2000, RELAXED);
	/* It grew old when none was evicted. */
	CHECK_INT(lean_after_use(&s, 0, 27, 1), 0);
	CHECK_INT(lean_after_use(&s, 0, 27, 5000), 0);
	CHECK_INT(lean_after_use(&s, 0, 28, 5000), down);
	/* Nor does damage make it always late, or never. */
	BSHM_STORE(&segment->shards[0].evicted_age,
		BSHM_LOAD(&segment->shards[0].evicted_age, RELAXED) | 1u << 31, RELAXED);
	CHECK_INT(lean_after_use(&s, 0, 27, 0), 0);
	CHECK_INT(lean_after_use(&s, 0, 28, 0), down);
}

/* One of that kind is evicted, and returns: how much younger a FREQUENT one counts then. */
static int32_t bonus_after_return(const bshm__shard *s, uint32_t kind)
{
	static const uint64_t number = 1000000;
	const bshm_key key = {(const char *) &number, 8};
	const bshm__home home = bshm__home_of(s->segment, 0, &key);
	const bshm__evicted evicted = {BSHM_SLOT_LIVE | kind | bshm__stamp_now(s), 0, 24};
	bshm__ghost_leave(s, &home, 0, &evicted);
	bshm__ghost_returns(s, &home, 24, true);
	BSHM_STORE(&s->shard->lean, BSHM_OCTAVE, RELAXED);
	return -bshm__ghost_older(s, BSHM_KIND_FREQUENT);
}

/* Of what was used again, those stay longer that are more likely to return. */
TEST(what_returns_says_how_long_frequent_records_stay)
{
	bshm_segment *segment = open_store(MB(4), 1000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	const uint32_t frequent = BSHM_SLOT_PROTECTED | BSHM_SLOT_FREQUENT;
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK_INT(store_put(segment, i, 1, 16, 0, BSHM_PUT_SET), 1);
	}
	BSHM_STORE(&s.shard->lean, BSHM_OCTAVE, RELAXED);
	const int32_t first = -bshm__ghost_older(&s, BSHM_KIND_FREQUENT);
	CHECK_INT(first, BSHM_OCTAVE / 8 * 3);
	CHECK_INT(bshm__ghost_older(&s, BSHM_KIND_PROTECTED), 0);
	CHECK_INT(bshm__ghost_older(&s, BSHM_KIND_PROBATION), BSHM_OCTAVE);
	CHECK_INT(bonus_after_return(&s, 0), first);
	const int32_t less = bonus_after_return(&s, BSHM_SLOT_PROTECTED);
	CHECK(less < first);
	CHECK(bonus_after_return(&s, frequent) > less);
	for (uint32_t i = 0; i < 1000; i++) {
		bonus_after_return(&s, BSHM_SLOT_PROTECTED);
	}
	CHECK_INT(bonus_after_return(&s, 0), 0);
	/* Hardly any was FREQUENT among those that went: so one that returns counts for many. */
	CHECK(bonus_after_return(&s, frequent) > 8 * (first - less));
	for (uint32_t i = 0; i < 1000; i++) {
		bonus_after_return(&s, frequent);
	}
	CHECK_INT(bonus_after_return(&s, 0), BSHM_OCTAVE / 4 * 3);
	BSHM_STORE(&s.shard->lean, (uint32_t) -BSHM_OCTAVE, RELAXED); /* an LRU knows no kinds */
	CHECK_INT(bshm__ghost_older(&s, BSHM_KIND_FREQUENT), 0);
	CHECK_INT(bshm__ghost_older(&s, BSHM_KIND_PROBATION), 0);
}

/* Of a sixteenth of the records: 1,000 here. A share of fewer changes sooner than ghosts return. */
TEST(the_share_of_those_on_probation_changes_slowly)
{
	bshm_segment *segment = open_store(MB(4), 16000);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 16000; i++) {
		CHECK_INT(store_put(segment, i, 1, 16, 0, BSHM_PUT_SET), 1);
	}
	const uint64_t number = 1000000;
	const bshm_key key = {(const char *) &number, 8};
	const bshm__home home = bshm__home_of(segment, 0, &key);
	const bshm__evicted evicted = {BSHM_SLOT_LIVE | bshm__stamp_now(&s), 0, 24};
	bshm__ghost_leave(&s, &home, 0, &evicted);
	CHECK_INT(BSHM_LOAD(&s.shard->probation, RELAXED), 32768 / 1000 * 0x10001);
}

/* Its shards share what the share is taken of; but which records of a loop may stay follows from as
 * many evictions as in one shard. */
TEST(in_several_shards_the_share_changes_sooner_but_not_for_what_may_stay)
{
	bshm_segment *segment = open_with_seed(MB(70), 0);
	REQUIRE(segment->shard_count == 3);
	CHECK_INT(store_put(segment, 0, 1, 16, 0, BSHM_PUT_SET), 1);
	const uint64_t number = 0;
	const bshm_key key = {(const char *) &number, 8};
	const bshm__home home = bshm__home_of(segment, 0, &key);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	const bshm__evicted evicted = {BSHM_SLOT_LIVE | bshm__stamp_now(&s), 0, 24};
	bshm__ghost_leave(&s, &home, 0, &evicted);
	const uint32_t share = BSHM_LOAD(&s.shard->probation, RELAXED);
	CHECK_INT(share & 0xffff, 32768 / (256 / 3));
	CHECK_INT(share >> 16, 32768 / 256);
	/* All that go are on probation: the share is nearly one. */
	for (uint32_t i = 0; i < 3000; i++) {
		BSHM_STORE(&s.shard->evictions, i, RELAXED);
		bshm__ghost_leave(&s, &home, 0, &evicted);
	}
	CHECK((BSHM_LOAD(&s.shard->probation, RELAXED) & 0xffff) > 32768 - 100);
	CHECK((BSHM_LOAD(&s.shard->probation, RELAXED) >> 16) > 32768 - 400);
	BSHM_STORE(&s.shard->evictions, 0, RELAXED);
	bshm_segment_close(segment);
}

/* A PROTECTED record of that size is evicted, and returns; it may not stay, as most that went were
 * PROTECTED: how far that moves the lean. */
static int32_t lean_after_return(const bshm__shard *s, int32_t lean, uint64_t bytes)
{
	uint64_t number = 1000000;
	const bshm_key key = {(const char *) &number, 8};
	bshm__home home;
	do {
		number++;
		home = bshm__home_of(s->segment, 0, &key);
	} while (bshm__ghost_hash(home.hash) < 1u << (BSHM_GHOST_BITS - 1));
	const bshm__evicted evicted = {
		BSHM_SLOT_LIVE | BSHM_SLOT_PROTECTED | bshm__stamp_now(s), 0, bytes};
	BSHM_STORE(&s->shard->probation, (uint32_t) (65536 - 30000) * 0x10001, RELAXED); /* of 32768 */
	bshm__ghost_leave(s, &home, 0, &evicted);
	BSHM_STORE(&s->shard->lean, (uint32_t) lean, RELAXED);
	CHECK(!bshm__ghost_returns(s, &home, bytes, true));
	return bshm__ghost_lean(s) - lean;
}

/* A loop is no reason to evict what is new sooner; a page beside many small records is. */
TEST(what_may_not_stay_hardly_moves_the_lean)
{
	bshm_segment *segment = open_store(MB(4), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	store_fill_up(segment, 0, 16);
	CHECK(lean_after_return(&s, 0, 24) > 0);
	CHECK_INT(lean_after_return(&s, BSHM_OCTAVE / 8, 24), 0);
	CHECK_INT(lean_after_return(&s, BSHM_OCTAVE / 8, 4 * 24), 0);
	CHECK(lean_after_return(&s, BSHM_OCTAVE / 8, 1000) > 0);
}

/* By a call that asks for the record, once: and only of one that may be evicted. */
static void check_late_use(
	uint32_t bytes, bool (*use)(bshm_segment *, uint32_t number, uint32_t bytes))
{
	bshm_segment *segment = open_store(MB(4) + 512 * (uint64_t) bytes, 256);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK_INT(store_put(segment, i, 1, bytes, 0, BSHM_PUT_SET), 1);
	}
	const int32_t first = bshm__ghost_lean(&s);
	CHECK(use(segment, 999, bytes));
	CHECK_INT(bshm__ghost_lean(&s), first);
	uint32_t oldest = 0;
	while (!store_has(segment, oldest)) {
		oldest++;
	}
	CHECK(use(segment, oldest, bytes));
	const int32_t less = bshm__ghost_lean(&s);
	CHECK(less < first);
	CHECK(use(segment, oldest, bytes));
	CHECK_INT(bshm__ghost_lean(&s), less);
	check_sound(segment);
	bshm_segment_close(segment);
}

static bool by_get(bshm_segment *segment, uint32_t number, uint32_t bytes)
{
	(void) bytes;
	return store_use(segment, number);
}

static bool by_replace(bshm_segment *segment, uint32_t number, uint32_t bytes)
{
	return store_put(segment, number, 2, bytes, 0, BSHM_PUT_REPLACE) == 1;
}

static bool by_touch(bshm_segment *segment, uint32_t number, uint32_t bytes)
{
	const uint64_t key_bytes = number;
	const bshm_key key = {(const char *) &key_bytes, 8};
	(void) bytes;
	return bshm_record_touch(segment, &key, 100, &(bshm_error){0}) == 1;
}

/* A put or a touch of a large record makes room for it first. */
TEST(who_asks_for_a_record_notes_a_late_use)
{
	static const uint32_t sizes[] = {16, 5000, 50000};
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check_late_use(sizes[i], by_get);
		check_late_use(sizes[i], by_replace);
		check_late_use(sizes[i], by_touch);
	}
}

/* An expired record is no hit, though a call may have it: that it stayed brought nothing. */
TEST(a_use_of_an_expired_record_is_not_late)
{
	bshm_segment *segment = open_store(MB(4), 256);
	const bshm__shard s = bshm__shard_at(segment, 0);
	bshm_clock_set(UINT64_C(1000000000000));
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK_INT(store_put(segment, i, 1, 16, 10, BSHM_PUT_SET), 1);
	}
	uint32_t oldest = 0;
	while (!store_has(segment, oldest)) {
		oldest++;
	}
	const uint64_t number = oldest;
	const bshm_key key = {(const char *) &number, 8};
	const int32_t first = bshm__ghost_lean(&s);
	bshm_found found;
	bshm_clock_set(UINT64_C(2000000000000));
	CHECK_INT(bshm_record_find(segment, 0, &key, BSHM_FIND_USE | BSHM_FIND_STALE, &found), 1);
	CHECK(found.expired);
	CHECK_INT(bshm__ghost_lean(&s), first);
	bshm_clock_set(0);
}

/* Whatever these words hold: a record is evicted, and the sanitizers find nothing. */
static void damage(bshm_segment *segment, uint32_t *const *words, uint32_t count, uint32_t length)
{
	static const uint32_t values[] = {0, 1, 1u << 16, INT32_MAX, 1u << 31, UINT32_MAX};
	uint32_t number = 0;
	for (uint32_t i = 0; i < count * 6; i++) {
		BSHM_STORE(words[i / 6], values[i % 6], RELAXED);
		for (uint32_t k = 0; k < 300; k++) {
			/* Every other key returns soon: its ghost is met. */
			number = k % 2 == 0 ? number + 1 : number - 60;
			CHECK_INT(store_put(segment, number, i, length << number % 4, 0, BSHM_PUT_SET), 1);
			number += k % 2 == 0 ? 0 : 60;
		}
	}
	CHECK(store_evictions(segment) != 0);
	check_sound(segment);
	bshm_segment_close(segment);
}

TEST(damaged_words_of_the_eviction_do_no_harm)
{
	bshm_segment *segment = open_store(MB(4), 100);
	bshm_shard_header *shard = bshm__shard_at(segment, 0).shard;
	uint32_t *const words[] = {&shard->probation, &shard->lean, &shard->turn, &shard->ghosts,
		&shard->hand_table, &shard->hand_bucket, &shard->base, &shard->turn_began,
		&shard->turn_rounds, &segment->shards[0].frequent};
	damage(segment, words, sizeof(words) / sizeof(words[0]), 16);
}

/* Large old records that no cell of the index leads to: none counts as evicted, else a call that
 * makes room would never end. */
TEST(records_that_the_index_has_lost_do_not_stop_an_eviction)
{
	bshm_segment *segment = open_store(MB(8), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 70; i++) {
		const uint64_t number = i;
		const bshm_key key = {(const char *) &number, 8};
		const bshm__home home = bshm__home_of(segment, 0, &key);
		bshm__existing at;
		CHECK_INT(store_put(segment, i, i, 100000, 0, BSHM_PUT_SET), 1);
		bshm__locate(&s, &home, 0, &key, &at);
		CHECK(at.cell != 0);
		BSHM_STORE(bshm__cell_word(&s, at.cell), 0, RELAXED);
	}
	for (uint32_t i = 0; i < 12000; i++) {
		store_put(segment, 1000 + i, i, 16, 0, BSHM_PUT_SET);
	}
	for (uint32_t i = 0; i < 200; i++) {
		bshm__page_wish wish = {BSHM_CLASS_COUNT, 1, true, 0, 0};
		const uint64_t before = store_evictions(segment);
		const uint32_t gone = bshm__evict_page(&s, &wish, 64);
		CHECK_INT(store_evictions(segment) - before, gone);
	}
}

TEST(damaged_words_of_the_sizes_do_no_harm)
{
	bshm_segment *segment = open_store(MB(1), 0);
	bshm_shard_header *shard = bshm__shard_at(segment, 0).shard;
	uint32_t *const words[] = {&shard->size_power, &shard->size_evicted, &shard->intent.size_margin,
		&shard->turn_began, &shard->lean, &shard->evicted_age, &shard->evicted_epoch, &shard->gain,
		&shard->gain_each, &shard->gain_misses, &shard->shadow_oldest, &shard->shadow_missed,
		&shard->shadow_base, &shard->shadow_largest, &shard->old_in_vain,
		(uint32_t *) &shard->shadow[77], (uint32_t *) &shard->shadow[500] + 1};
	damage(segment, words, sizeof(words) / sizeof(words[0]), 4000);
}

/* A tiny table has few lanes for ghosts: a new record spares those that still count. */
TEST(a_tiny_table_keeps_the_ghosts_that_it_has_room_for)
{
	uint32_t ghosts = 0;
	uint32_t gone = 0;
	for (uint32_t store = 0; store < 20; store++) {
		bshm_segment *segment = open_store(MB(1), 24);
		const bshm__shard s = bshm__shard_at(segment, 0);
		for (uint32_t i = 0; i < 2000; i++) {
			REQUIRE(store_put(segment, i, i, 16, 0, BSHM_PUT_SET) == 1);
			if (i % 100 != 99) {
				continue;
			}
			CHECK_INT(bshm__buckets_of(segment, 0).count, 4);
			for (uint64_t k = i - 40; k < i; k++) {
				const bshm__home home =
					bshm__home_of(segment, 0, &(bshm_key){(const char *) &k, 8});
				gone += !store_has(segment, (uint32_t) k);
				ghosts += !store_has(segment, (uint32_t) k) && bshm__ghost_exists(&s, &home);
			}
		}
		check_sound(segment);
		bshm_segment_close(segment);
	}
	test_note("%u ghosts of %u records", ghosts, gone);
	CHECK(ghosts * 10 > gone * 7);
}
