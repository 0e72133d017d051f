/*
 * test_periods.c - in a store of several shards a period is the store's: who follows it, and when.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/recency.h"

#include "test_shard.h"

#include <inttypes.h>

static bshm__epochs epochs_of(uint32_t shard)
{
	return bshm__epochs_of(BSHM_LOAD(&segment->shards[shard].clock, RELAXED));
}

static uint32_t shard_of(uint32_t number)
{
	const uint64_t bytes = number;
	const bshm_key key = {(const char *) &bytes, 8};
	return bshm__home_of(segment, BSHM_SPACE_CACHE, &key).shard;
}

static uint32_t next_in(uint32_t shard, uint32_t number)
{
	do {
		number++;
	} while (shard_of(number) != shard);
	return number;
}

static void open_shards(void)
{
	segment = open_with_seed(MB(70), 0);
	REQUIRE(segment->shard_count == 3);
	for (uint32_t number = 0; number < 300; number++) {
		CHECK_INT(store_put(segment, number, 1, 1000, 0, BSHM_PUT_SET), 1);
	}
}

static void close_shards(void)
{
	check_sound(segment);
	bshm_segment_close(segment);
	unlink(test_path("segment"));
}

static void end_periods(uint32_t periods)
{
	BSHM_ADD(&segment->store->period, periods, RELAXED);
}

/* That of its last use may be long ago. */
TEST(a_shard_follows_the_store_at_its_next_use_or_put_by_as_many_periods_as_there_were)
{
	open_shards();
	const uint32_t number = next_in(1, 0);
	for (uint32_t periods = 1; periods < BSHM_PERIODS - 1; periods++) {
		const bshm__epochs before = epochs_of(1);
		end_periods(periods);
		BSHM_STORE(&segment->shards[1].touches, (uint64_t) 7000 << 40 | 9000 << 16, RELAXED);
		if (periods % 2 != 0) {
			CHECK(store_use(segment, number));
		} else {
			CHECK_INT(store_put(segment, number, 1, 1000, 0, BSHM_PUT_SET), 1);
		}
		const bshm__epochs after = epochs_of(1);
		CHECK_INT(after.period, BSHM_LOAD(&segment->store->period, RELAXED) % BSHM_PERIODS);
		CHECK(after.last == before.now);
		CHECK_INT(after.floor == before.middle, periods == 1);
		CHECK_INT(after.floor == before.last, periods == 2);
		/* What the first of them had stays only if one began. */
		const uint64_t since_middle = BSHM_LOAD(&segment->shards[1].touches, RELAXED) >> 16;
		CHECK_INT((since_middle & 0xffffff) >= 7000, periods == 1);
	}
	close_shards();
}

static uint32_t another;
static bool was_used;
static void use_another(void)
{
	was_used = store_use(segment, another);
}

/* Before each of its accesses another process uses a record of the same shard. */
TEST(two_that_follow_at_once_begin_one_period)
{
	uint64_t reached = 0;
	was_used = true;
	open_shards();
	const uint32_t number = next_in(2, 0);
	another = next_in(2, number);
	for (uint64_t access = 1; was_used && !test_failed(); access++) {
		const bshm__epochs before = epochs_of(2);
		end_periods(1);
		was_used = false;
		bshm__held.call_at = bshm__held.accesses + access;
		bshm__held.call = use_another;
		CHECK(store_use(segment, number));
		bshm__held.call = NULL;
		const bshm__epochs after = epochs_of(2);
		CHECK_INT(after.floor, before.middle);
		CHECK_INT(after.middle, before.last);
		CHECK_INT(after.period, BSHM_LOAD(&segment->store->period, RELAXED) % BSHM_PERIODS);
		reached += was_used;
	}
	CHECK(reached > 10);
	close_shards();
}

/* As if look-ups had ended epochs for long, and no process had had the lock to renumber. */
TEST(a_shard_whose_stamps_are_used_up_follows_all_the_same)
{
	open_shards();
	bshm_shard_header *shard = &segment->shards[1];
	const uint32_t number = next_in(1, 0);
	const bshm__epochs before = epochs_of(1);
	BSHM_STORE(&shard->base, (before.now + 0x8000 - 0x7fff) & BSHM_SLOT_STAMP, RELAXED);
	BSHM_STORE(&shard->touches, (uint64_t) 7000 << 40 | 9000 << 16, RELAXED);
	end_periods(1);
	CHECK(store_use(segment, number));
	CHECK((BSHM_LOAD(&shard->touches, RELAXED) >> 16 & 0xffffff) >= 7000);
	const bshm__epochs after = epochs_of(1);
	CHECK_INT(after.now, before.now);
	CHECK_INT(after.floor, before.middle);
	CHECK_INT(after.period, BSHM_LOAD(&segment->store->period, RELAXED) % BSHM_PERIODS);
	close_shards();
}

/* Its stamp is the present epoch's: so a look-up does not look whether the shard is behind. */
TEST(a_record_that_is_used_while_its_shard_is_behind_is_safe_when_that_follows)
{
	open_shards();
	s = bshm__shard_at(segment, 1);
	const uint32_t number = next_in(1, 0);
	const uint32_t other = next_in(1, number);
	/* So many records that an epoch has several uses. */
	for (uint32_t i = 300; i < 3000; i++) {
		CHECK_INT(store_put(segment, i, 1, 100, 0, BSHM_PUT_SET), 1);
	}
	for (uint32_t periods = 1; periods < BSHM_PERIODS - 1; periods++) {
		BSHM_AND(&s.shard->touches, ~UINT64_C(0xffff), RELAXED);
		const uint32_t now = epochs_of(1).now;
		for (uint32_t i = 0; i < periods; i++) {
			CHECK(store_use(segment, number));
			end_periods(1);
			CHECK(store_use(segment, number));
		}
		CHECK(epochs_of(1).now == now || periods == 1);
		CHECK_INT(store_put(segment, other, 1, 100, 0, BSHM_PUT_SET), 1);
		const bshm__epochs after = epochs_of(1);
		CHECK_INT(after.period, BSHM_LOAD(&segment->store->period, RELAXED) % BSHM_PERIODS);
		const uint32_t state = word(locate(number).ref, 0);
		CHECK(bshm__age(after.now, state) <= bshm__age(after.now, after.floor));
	}
	close_shards();
}

/* Else it would count as used when it is 15 periods behind: as one that is a period before the
 * store. */
TEST(a_shard_that_is_not_used_never_seems_to_be_ahead)
{
	open_shards();
	uint32_t number = 0;
	uint32_t begun = BSHM_LOAD(&segment->store->period, RELAXED);
	const uint32_t first = begun;
	uint32_t uses = 0;
	uint32_t uses_before = 0;
	uint32_t least = UINT32_MAX;
	while (begun - first < 3 * BSHM_PERIODS && !test_failed()) {
		number = (number + 1) % 300;
		if (shard_of(number) == 1) {
			continue;
		}
		CHECK(store_use(segment, number));
		uses++;
		const uint32_t period = BSHM_LOAD(&segment->store->period, RELAXED);
		CHECK((period - epochs_of(1).period) % BSHM_PERIODS < BSHM_PERIODS - 1);
		if (period != begun) {
			const uint32_t both = uses + uses_before;
			least = both < least && begun - first > 3 ? both : least;
			begun = period;
			uses_before = uses;
			uses = 0;
		}
	}
	test_note("of 300 records %u are used in two periods, or more", least);
	CHECK(least > 300 / 5); /* a quarter, but for those of a shard that was ahead */
	close_shards();
}

/* Only one shard is used. It does not wait for the others, but no more than by one period. */
TEST(a_shard_that_alone_is_used_ends_periods_of_its_own)
{
	open_shards();
	uint32_t first = 300;
	uint32_t number = first;
	unsigned turns = 0;
	uint32_t floor = epochs_of(0).floor;
	while (turns < 40 && number < 2000000) {
		number = next_in(0, number);
		if (!store_use(segment, number)) {
			CHECK_INT(store_put(segment, number, 1, 3000, 0, BSHM_PUT_SET), 1);
		}
		const bshm__epochs e = epochs_of(0);
		const uint32_t of_store = BSHM_LOAD(&segment->store->period, RELAXED) % BSHM_PERIODS;
		const uint32_t behind = (of_store - e.period) % BSHM_PERIODS;
		CHECK(behind <= 1 || behind == BSHM_PERIODS - 1); /* 1: until its next use */
		turns += e.floor != floor;
		floor = e.floor;
	}
	CHECK_INT(turns, 40);
	CHECK(store_has(segment, number));
	close_shards();
}

/* Any process may have left anything in these words. */
TEST(damaged_periods_do_no_harm)
{
	segment = open_with_seed(MB(70), 0);
	uint64_t seed = test_seed();
	for (uint32_t i = 0; i < 20000; i++) {
		bshm_shard_header *shard = &segment->shards[i % 3];
		if (i % 7 == 0) {
			BSHM_STORE(&segment->store->period, (uint32_t) test_random(&seed), RELAXED);
		}
		if (i % 11 == 0) {
			BSHM_STORE(&segment->store->epochs, (uint32_t) test_random(&seed), RELAXED);
		}
		if (i % 1000 == 0) {
			BSHM_STORE(&shard->touches, test_random(&seed), RELAXED);
		}
		if (i % 1013 == 0) {
			const uint64_t bits = UINT64_C(0x8000800080008000);
			BSHM_STORE(&shard->clock,
				(BSHM_LOAD(&shard->clock, RELAXED) & ~bits) | (test_random(&seed) & bits), RELAXED);
		}
		const uint32_t key = (uint32_t) (test_random(&seed) % 8000);
		if (!store_use(segment, key)) {
			CHECK_INT(store_put(segment, key, i, 5000 + key, 0, BSHM_PUT_SET), 1);
			CHECK(store_has(segment, key));
		}
	}
	close_shards();
}
