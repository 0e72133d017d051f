/*
 * test_large_most.c - values of most of a shard: for whom their puts wait, what they replace, and
 * when they are not wanted any more.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/change.h"
#include "core/cache/lease_table.h"
#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"
#include "platform/platform.h"
#include "test_park.h"

static const bshm_key wide = {"wide", 4};

static uint32_t shard_of_wide(void)
{
	return bshm__home_of(segment, BSHM_SPACE_CACHE, &wide).shard;
}

static uint8_t *bytes;
static bshm_put put; /* of the largest value there may be: with several shards most of one */
static bshm_error error;

static void stand(void)
{
	segment = open_store(MB(66), 0);
	s = bshm__shard_at(segment, shard_of_wide());
	const uint64_t most = bshm__record_most(segment);
	REQUIRE(most * 2 > segment->shard_bytes);
	bytes = calloc(1, most);
	put = (bshm_put){.key = wide, .value = {BSHM_VALUE_STRING, bytes, most - wide.length}};
}

static void end(void)
{
	check_sound(segment);
	free(bytes);
}

static bool was_asked;
static unsigned misses;

static void look_for_wide(void)
{
	bshm_found found;
	was_asked = true;
	misses += bshm_record_find(segment, BSHM_SPACE_CACHE, &wide, 0, &found) != 1;
}

static void park_a_quarter(void)
{
	park_chunks(shard_of_wide(), bshm__record_most(segment) / BSHM_CHUNK_BYTES);
}

static void park_nothing_yet(void)
{
	park_chunks(shard_of_wide(), 0);
}

static void check_they_wait(void (*other)(void))
{
	stand();
	const pid_t child = spawn(other);
	await_flag(0);
	store_fill_up(segment, 100, 200);
	const uint32_t before = BSHM_LOAD(&s.shard->records, RELAXED);
	CHECK(before > 1000);
	CHECK_INT(bshm_record_put(segment, &put, &error), BSHM_E_TIMEOUT);
	CHECK_INT(BSHM_LOAD(&s.shard->records, RELAXED), before);
	kill_child(child);
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	end();
}

TEST(two_records_that_do_not_fit_together_wait_for_each_other)
{
	check_they_wait(park_a_quarter);
}

TEST(a_record_waits_for_one_that_has_no_chunk_yet)
{
	check_they_wait(park_nothing_yet);
}

/* A shard has no room for both, but for all that is left when the old one has gone. */
TEST(a_set_of_most_of_a_shard_takes_the_room_of_what_it_replaces)
{
	stand();
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	for (uint32_t i = 0; i < 20000; i++) {
		CHECK_INT(store_put(segment, i, 1, 200, 0, BSHM_PUT_SET), 1);
	}
	const uint64_t before = store_evictions(segment);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	}
	CHECK_INT(store_evictions(segment), before);
	end();
}

/* Two that just fit leave nothing else in the shard: so, too. */
TEST(a_set_of_almost_half_of_a_shard_evicts_few_others)
{
	stand();
	put.value.length = segment->shard_bytes * 49 / 100;
	store_fill_up(segment, 0, 200);
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	const uint64_t before = store_evictions(segment);
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	CHECK(store_evictions(segment) - before < 1000);
	end();
}

/* It needs the old one until the put: so that stays, and its room is used last. */
TEST(a_set_that_keeps_the_ttl_spares_what_it_replaces)
{
	stand();
	put.value.length = segment->shard_bytes * 45 / 100;
	put.ttl_s = 1000;
	store_fill_up(segment, 0, 200);
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	bshm_found found;
	CHECK_INT(bshm_record_find(segment, BSHM_SPACE_CACHE, &wide, 0, &found), 1);
	const uint32_t expires_s = found.expires_s;
	const uint64_t before = store_evictions(segment);
	put.ttl_s = 0;
	put.keeps_ttl = true;
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	CHECK(store_evictions(segment) - before < 1000);
	CHECK_INT(bshm_record_find(segment, BSHM_SPACE_CACHE, &wide, 0, &found), 1);
	CHECK_INT(found.expires_s, expires_s);
	end();
}

static uint64_t evictions_then;

static void end_the_leases(void)
{
	evictions_then = store_evictions(segment);
	bshm__leases_end_all(&s);
}

/* What it has loaded is not stored any more: so no others go for it. */
TEST(a_put_by_a_lease_that_ends_makes_no_more_room)
{
	stand();
	store_fill_up(segment, 0, 200);
	uint64_t access = 1000;
	int stored;
	do {
		bshm_lease_grant grant;
		CHECK_INT(bshm_lease_take(segment, BSHM_SPACE_CACHE, &wide, false, NULL, &grant),
			BSHM_LEASE_MINE);
		bshm__held.call = end_the_leases;
		bshm__held.call_at = bshm__held.accesses + access;
		stored = bshm_lease_release(segment, &grant, &put, NULL, &error);
		bshm__held.call = NULL;
		CHECK(stored == 1 || store_evictions(segment) - evictions_then < 2000); /* a step's */
		access *= 2;
	} while (stored == 0);
	CHECK(access > 100000);
	end();
}

/* The value is there since before the lease was given: else that would have ended. */
TEST(a_put_by_a_lease_takes_the_room_of_what_it_replaces)
{
	stand();
	store_fill_up(segment, 0, 200);
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	const uint64_t before = store_evictions(segment);
	bshm_lease_grant grant;
	CHECK_INT(
		bshm_lease_take(segment, BSHM_SPACE_CACHE, &wide, false, NULL, &grant), BSHM_LEASE_MINE);
	CHECK_INT(bshm_lease_release(segment, &grant, &put, NULL, &error), 1);
	CHECK_INT(store_evictions(segment), before);
	end();
}

/* The call waits for another process's chunks meanwhile, which are not put. */
TEST(a_put_by_a_lease_that_ends_waits_no_longer)
{
	stand();
	const pid_t child = spawn(park_nothing_yet);
	await_flag(0);
	bshm_lease_grant grant;
	CHECK_INT(
		bshm_lease_take(segment, BSHM_SPACE_CACHE, &wide, false, NULL, &grant), BSHM_LEASE_MINE);
	bshm__held.call = end_the_leases;
	bshm__held.call_at = bshm__held.accesses + 100;
	CHECK_INT(bshm_lease_release(segment, &grant, &put, NULL, &error), 0);
	bshm__held.call = NULL;
	kill_child(child);
	end();
}

static unsigned next_flag;
static bool removes;

/* While the other call waits for this process's chunks, it changes the key. */
static void change_before_the_other(void)
{
	bshm_segment *own = attach_store();
	const bshm_put own_put = {.key = wide, .value = {BSHM_VALUE_STRING, "new", 3}};
	const bshm__home home = bshm__home_of(own, BSHM_SPACE_CACHE, &wide);
	const bshm__shard of = bshm__shard_at(own, home.shard);
	REQUIRE(store_put(own, 9, 1, 20, 0, BSHM_PUT_SET) == 1);
	REQUIRE(bshm__shard_try(&of, own->owner));
	REQUIRE(bshm__parked_begin(&of));
	bshm__shard_leave(&of);
	raise_flag(next_flag);
	bshm_os_sleep_us(20000);
	REQUIRE(bshm__shard_lock_wait(&of, BSHM_LOCK_BATCH_NS, &error) == BSHM_OK);
	REQUIRE((removes ? bshm__record_remove_locked(&of, &home, BSHM_SPACE_CACHE, &wide)
					 : bshm__record_put_step(&of, &home, &own_put, 0, 0)) == 1);
	bshm__parked_give_up(&of);
	bshm__shard_unlock(&of);
}

static void check_no_room_is_made(bshm_put_mode mode, const bshm_value *old)
{
	stand();
	store_fill_up(segment, 100, 200);
	if (old != NULL) {
		CHECK_INT(bshm_record_put(segment, &(bshm_put){.key = wide, .value = *old}, &error), 1);
	}
	bshm_patience patience = {.batch = true};
	put.mode = mode;
	put.expected = old;
	put.patience = &patience;
	removes = mode == BSHM_PUT_REPLACE; /* else it puts "new", which is as long as "old" */
	const pid_t child = spawn(change_before_the_other);
	await_flag(next_flag++);
	const uint64_t before = store_evictions(segment);
	CHECK_INT(bshm_record_put(segment, &put, &error), 0);
	CHECK(store_evictions(segment) - before < 2000); /* the other's record may need a page */
	CHECK_INT(finish(child), 0);
	end();
}

TEST(a_put_whose_key_another_changes_meanwhile_makes_no_room)
{
	const bshm_value old = {BSHM_VALUE_STRING, "old", 3};
	check_no_room_is_made(BSHM_PUT_ADD, NULL);
	check_no_room_is_made(BSHM_PUT_CAS, NULL);
	check_no_room_is_made(BSHM_PUT_REPLACE, &old);
	check_no_room_is_made(BSHM_PUT_CAS, &old);
}

/* It waits for another process, and then fails: what it would replace stays. */
TEST(a_set_of_most_of_a_shard_that_waits_in_vain_loses_nothing)
{
	stand();
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	const pid_t child = spawn(park_nothing_yet);
	await_flag(0);
	bshm_found found;
	CHECK_INT(bshm_record_put(segment, &put, &error), BSHM_E_TIMEOUT);
	CHECK_INT(bshm_record_find(segment, BSHM_SPACE_CACHE, &wide, 0, &found), 1);
	kill_child(child);
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	end();
}

/* Both fit, if others go: so look-ups find the old one until the new one is whole. */
TEST(a_set_of_less_than_half_of_a_shard_is_found_all_the_time)
{
	stand();
	put.value.length = segment->shard_bytes * 43 / 100;
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	store_fill_up(segment, 0, 200);
	CHECK_INT(bshm_record_put(segment, &put, &error), 1); /* it may have been evicted */
	uint64_t access = 1;
	misses = 0;
	bshm__held.call = look_for_wide;
	for (was_asked = true; was_asked; access += 997) {
		was_asked = false;
		bshm__held.call_at = bshm__held.accesses + access;
		CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	}
	bshm__held.call = NULL;
	CHECK_INT(misses, 0);
	CHECK(access > 50000);
	end();
}
