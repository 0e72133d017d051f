/*
 * test_lease.c - one loads what belongs to a key; what changes the key meanwhile; what cannot be
 * stored; calls with many keys.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_store.h"

#include "core/cache/shard.h"

static bshm_segment *segment;
static bshm_error error;
static const bshm_key name = {"k", 1};

static bshm_lease_status take(bool beside, bshm_lease_grant *grant)
{
	return bshm_lease_take(segment, BSHM_SPACE_CACHE, &name, beside, NULL, grant);
}

static int release(const bshm_lease_grant *grant, const char *value)
{
	const bshm_put put = {.key = name, .value = {BSHM_VALUE_STRING, value, 3}};
	return bshm_lease_release(segment, grant, value == NULL ? NULL : &put, NULL, &error);
}

static int refuse(const bshm_lease_grant *grant)
{
	const bshm_put put = {.key = name, .mode = BSHM_PUT_NEVER};
	return bshm_lease_release(segment, grant, &put, NULL, &error);
}

static bool is_kept(const char *value)
{
	bshm_found found;
	char bytes[3];
	return bshm_record_find(segment, BSHM_SPACE_CACHE, &name, 0, &found) == 1 &&
		   found.length == 3 && bshm_found_copy(&found, bytes) && memcmp(bytes, value, 3) == 0;
}

static void put_key(const char *value)
{
	const bshm_put put = {.key = name, .value = {BSHM_VALUE_STRING, value, 3}};
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
}

/* Another process does this while `segment` is open in it, too. */
static void in_another(void (*work)(void))
{
	CHECK_INT(finish(spawn(work)), 0);
}

static bshm_lease_grant held;

static void other_is_told_to_wait(void)
{
	bshm_lease_grant grant;
	CHECK_INT(take(false, &grant), BSHM_LEASE_TAKEN);
	CHECK_INT(grant.serial, held.serial);
	CHECK(bshm_lease_held(segment, &grant, true));
}

static void other_loads_first(void)
{
	bshm_lease_grant grant;
	CHECK_INT(take(true, &grant), BSHM_LEASE_MINE);
	CHECK_INT(release(&grant, "2nd"), 1);
}

static void other_loads_in_vain(void)
{
	bshm_lease_grant grant;
	CHECK_INT(take(true, &grant), BSHM_LEASE_MINE);
	CHECK_INT(release(&grant, NULL), 0);
}

TEST(one_loads_and_the_others_are_told_for_whom_to_wait)
{
	segment = open_store(MB(1), 0);
	CHECK_INT(take(false, &held), BSHM_LEASE_MINE);
	in_another(other_is_told_to_wait);
	CHECK(bshm_lease_held(segment, &held, true));
	CHECK_INT(release(&held, "1st"), 1);
	CHECK(!bshm_lease_held(segment, &held, true));
	CHECK(is_kept("1st"));
	CHECK_INT(segment->shards[0].leases, 0);
	check_sound(segment);
}

/* Whose time to wait is up loads beside the other; who stores first has stored. */
TEST(of_two_who_load_the_first_stores)
{
	segment = open_store(MB(1), 0);
	CHECK_INT(take(false, &held), BSHM_LEASE_MINE);
	in_another(other_loads_in_vain);
	CHECK(bshm_lease_held(segment, &held, true));
	in_another(other_loads_first);
	CHECK(!bshm_lease_held(segment, &held, true));
	CHECK_INT(release(&held, "1st"), 0);
	CHECK(is_kept("2nd"));
	CHECK_INT(segment->shards[0].leases, 0);
	check_sound(segment);
}

static void put_new(void)
{
	put_key("new");
}

TEST(a_change_ends_the_lease_and_the_next_has_its_own)
{
	bshm_lease_grant next;
	segment = open_store(MB(1), 0);
	CHECK_INT(take(false, &held), BSHM_LEASE_MINE);
	in_another(put_new);
	CHECK_INT(segment->shards[0].leases, 0);
	CHECK_INT(take(false, &next), BSHM_LEASE_MINE); /* of the same place */
	CHECK_INT(next.slot, held.slot);
	CHECK_INT(release(&held, "old"), 0);
	CHECK(bshm_lease_held(segment, &next, true));
	CHECK(is_kept("new"));
	CHECK_INT(release(&next, "nxt"), 1);
	CHECK(is_kept("nxt"));
	check_sound(segment);
}

/* Leases of other keys, given and ended in any order, are neither missed nor touched. */
TEST(a_change_ends_the_leases_of_its_key_alone)
{
	enum {
		KEYS = BSHM_LEASE_COUNT
	};
	static bshm_lease_grant grants[KEYS];
	uint64_t random = 17;
	segment = open_store(MB(1), 0);
	for (unsigned round = 0; round < 5000; round++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		const uint32_t i = (uint32_t) (random >> 33) % KEYS;
		const bshm_key key = {(const char *) &i, sizeof(i)};
		const bshm_put put = {.key = key, .value = {BSHM_VALUE_INT, &random, sizeof(random)}};
		if (grants[i].serial == 0) {
			CHECK_INT(bshm_lease_take(segment, 0, &key, false, NULL, &grants[i]), BSHM_LEASE_MINE);
		} else if (round % 2 == 0) {
			CHECK_INT(bshm_record_put(segment, &put, &error), 1);
			CHECK(!bshm_lease_held(segment, &grants[i], false));
			CHECK_INT(bshm_lease_release(segment, &grants[i], &put, NULL, &error), 0);
			grants[i].serial = 0;
		} else {
			CHECK(bshm_lease_held(segment, &grants[i], false));
			CHECK_INT(bshm_lease_release(segment, &grants[i], &put, NULL, &error), 1);
			grants[i].serial = 0;
		}
	}
	uint32_t out = 0;
	for (uint32_t i = 0; i < KEYS; i++) {
		out += grants[i].serial != 0;
		CHECK_INT(grants[i].serial != 0, bshm_lease_held(segment, &grants[i], false));
	}
	CHECK_INT(segment->shards[0].leases, out);
	check_sound(segment);
}

static void wait_for_none(void)
{
	bshm_lease_grant grant;
	CHECK_INT(take(false, &grant), BSHM_LEASE_MINE);
	CHECK_INT(refuse(&grant), 0);
}

TEST(what_cannot_be_stored_is_not_waited_for)
{
	bshm_lease_grant next;
	segment = open_store(MB(1), 0);
	CHECK_INT(take(false, &held), BSHM_LEASE_MINE);
	CHECK(!bshm_lease_unstored(segment, &held));
	CHECK_INT(refuse(&held), 0);
	CHECK(bshm_lease_unstored(segment, &held));
	CHECK_INT(take(false, &next), BSHM_LEASE_MINE);
	CHECK(bshm_lease_unstored(segment, &held)); /* also when the place is given again */
	in_another(wait_for_none);
	CHECK_INT(release(&next, "now"), 1);
	CHECK(is_kept("now"));

	/* Nothing is known of a load that failed; and what was known is forgotten after a while. */
	CHECK_INT(bshm_record_forget(segment, 0, &name, NULL, &error), 1);
	segment->clock_offset += UINT64_C(7000000000);
	CHECK_INT(take(false, &held), BSHM_LEASE_MINE);
	CHECK(!bshm_lease_unstored(segment, &held));
	in_another(other_is_told_to_wait);
	CHECK_INT(release(&held, NULL), 0);
	CHECK(!bshm_lease_unstored(segment, &held));
}

/* Is what expired so many seconds before a load begins good enough meanwhile? */
static bool allows(uint32_t seconds)
{
	bshm_lease_grant grant;
	bshm_found found;
	const uint64_t offset = segment->clock_offset;
	const bshm_put put = {.key = name, .value = {BSHM_VALUE_STRING, "old", 3}, .ttl_s = 1};
	CHECK_INT(bshm_record_put(segment, &put, &error), 1);
	CHECK_INT(bshm_record_find(segment, 0, &name, BSHM_FIND_STALE, &found), 1);
	const uint32_t now_s = bshm__store_now_s(segment);
	segment->clock_offset += (found.expires_s - now_s + seconds) * UINT64_C(1000000000);
	CHECK_INT(take(false, &grant), BSHM_LEASE_MINE);
	CHECK_INT(bshm_record_find(segment, 0, &name, BSHM_FIND_STALE, &found), 1);
	CHECK(found.expired);
	segment->clock_offset += UINT64_C(1000000000000); /* however long the load takes */
	const bool allowed = bshm_lease_allows_stale(&grant, &found);
	CHECK_INT(release(&grant, NULL), 0);
	segment->clock_offset = offset;
	return allowed;
}

TEST(a_value_stands_in_if_its_time_passed_just_before_the_load)
{
	segment = open_store(MB(1), 0);
	CHECK(allows(0));
	CHECK(allows(3));
	CHECK(!allows(5)); /* and the part of a second that has passed besides */
	CHECK(!allows(1000000));
}

static bshm_lease_status take_one_of_many(
	uint32_t number, bshm_patience *patience, bshm_lease_grant *grant)
{
	const bshm_key key = {(const char *) &number, sizeof(number)};
	return bshm_lease_take(segment, BSHM_SPACE_CACHE, &key, false, patience, grant);
}

TEST(a_call_with_many_keys_leaves_leases_to_others)
{
	enum {
		MANY = BSHM_LEASE_COUNT / 4 * 3
	};
	static bshm_lease_grant grants[BSHM_LEASE_COUNT];
	bshm_lease_grant none;
	bshm_patience patience = {0};
	bshm_patience release = {.batch = true};
	segment = open_store(MB(1), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		CHECK_INT(take_one_of_many(i, &patience, &grants[i]), BSHM_LEASE_MINE);
	}
	CHECK_INT(take_one_of_many(MANY, &patience, &none), BSHM_LEASE_NONE);
	CHECK_INT(none.serial, 0);
	CHECK_INT(patience.no_lease, 1);
	for (uint32_t i = MANY; i < BSHM_LEASE_COUNT; i++) {
		CHECK_INT(take_one_of_many(i, NULL, &grants[i]), BSHM_LEASE_MINE);
	}
	CHECK_INT(take_one_of_many(BSHM_LEASE_COUNT, NULL, &none), BSHM_LEASE_NONE);

	/* The call does not ask the shard again; another one does. */
	for (uint32_t i = 0; i < BSHM_LEASE_COUNT; i++) {
		const bshm_put put = {
			.key = {(const char *) &i, sizeof(i)}, .value = {BSHM_VALUE_STRING, "value", 5}};
		CHECK_INT(bshm_lease_release(segment, &grants[i], &put, &release, &error), 1);
	}
	CHECK_INT(segment->shards[0].leases, 0);
	CHECK_INT(take_one_of_many(0, &patience, &none), BSHM_LEASE_NONE);
	patience = (bshm_patience){0};
	CHECK_INT(take_one_of_many(0, &patience, &grants[0]), BSHM_LEASE_MINE);
	CHECK_INT(bshm_lease_release(segment, &grants[0], NULL, &release, &error), 0);
	check_sound(segment);
}

/* One wait in vain for a lock that another process holds, and the leases end without it. */
TEST(a_call_with_many_keys_waits_once_for_a_lock)
{
	bshm_lease_grant grants[3];
	bshm_patience patience = {0};
	segment = open_store(MB(1), 0);
	const bshm__shard s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < 3; i++) {
		REQUIRE(take_one_of_many(i, &patience, &grants[i]) == BSHM_LEASE_MINE);
	}
	REQUIRE(bshm__shard_lock(&s, BSHM_LOCK_PAGE_NS, &error) == BSHM_OK);
	bshm_lease_grant none;
	CHECK_INT(take_one_of_many(3, &patience, &none), BSHM_LEASE_NONE);
	CHECK(patience.gone);
	const uint64_t first_ns = patience.waited_ns;
	CHECK(first_ns >= BSHM_LOCK_PAGE_NS);
	for (uint32_t i = 4; i < 8; i++) {
		CHECK_INT(take_one_of_many(i, &patience, &none), BSHM_LEASE_NONE);
	}
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_INT(bshm_lease_release(segment, &grants[i], NULL, &patience, &error), BSHM_E_TIMEOUT);
		CHECK(!bshm_lease_held(segment, &grants[i], false));
	}
	CHECK_INT(s.shard->timeouts, 8);
	CHECK(patience.waited_ns - first_ns < first_ns * 7);
	bshm__shard_unlock(&s);
	CHECK_INT(take_one_of_many(1, &patience, &grants[1]), BSHM_LEASE_MINE);
	CHECK_INT(segment->shards[0].leases, 1);
	CHECK_INT(bshm_lease_release(segment, &grants[1], NULL, &patience, &error), 0);
	check_sound(segment);
}
