/*
 * test_add_missing.c - adds to a name that has no set, while a set is being made for it.
 *
 * Such an add says NOT_FOUND, and the key is noted for the set that is being made.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/segment/name.h"

#include <signal.h>

static bshm_segment *segment;

/* If the add has returned, a set has the key, or the answer is maybe. */
static void expect_kept(int added)
{
	CHECK(added < 0 || has_fresh(segment, "f", "key") != 0);
}

/* ------------------------------------------------------------------ loads that fail */

static void fail(bshm_build *build)
{
	bshm_info info;
	CHECK_INT(bshm_build_publish(build, 1e-300, &info, &last_error), BSHM_E_ERROR_RATE);
}

static void cancel(bshm_build *build)
{
	bshm_build_abort(build);
}

static void be_killed(bshm_build *build)
{
	(void) build;
	raise(SIGKILL);
}

static void (*const ends[])(bshm_build *build) = {fail, cancel, be_killed};
#define ENDS (sizeof(ends) / sizeof(ends[0]))

/* A turn has one way to end and one way to publish, and two flags of its own. */
static unsigned turn;

static void load_without_end(void)
{
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(offer(build, 0, 1000), BSHM_OK);
	raise_flag(2 * turn);
	await_flag(2 * turn + 1);
	ends[turn % ENDS](build);
}

/* ------------------------------------------------------------------ what another one publishes */

static int reserve_f(void)
{
	return reserve(segment, "f", 1000, 0.01);
}

static int load_f(void)
{
	return load(segment, "f", 0, 10);
}

static int copy_to_f(void)
{
	return copy_filter(segment, "from", "f");
}

static int merge_into_f(void)
{
	const bshm_key from = {"from", 4};
	return bshm_filter_merge(segment, "f", 1, &from, 1, &last_error);
}

static int rename_to_f(void)
{
	CHECK_INT(copy_filter(segment, "from", "other"), BSHM_OK);
	return rename_filter(segment, "other", "f");
}

static int restore_f(void)
{
	return bshm_filter_restore(segment, "f", 1, test_path("dump"), &last_error);
}

static int (*const publications[])(void) = {
	reserve_f, load_f, copy_to_f, merge_into_f, rename_to_f, restore_f};
#define PUBLICATIONS (sizeof(publications) / sizeof(publications[0]))

/* Every way to end beside every way to publish; `first`: the load ends first. */
static void try_all(bool first)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "from", 0, 10), BSHM_OK);
	bshm_views *views = bshm_views_new();
	uint64_t bytes;
	REQUIRE(views != NULL && bshm_filter_dump(segment, views, "from", 4, test_path("dump"), &bytes,
								 &last_error) == BSHM_OK);
	bshm_views_free(views);
	for (turn = 0; turn < ENDS * PUBLICATIONS; turn++) {
		const pid_t child = spawn(load_without_end);
		await_flag(2 * turn);
		const int added = add(segment, "f", "key");
		if (!first) {
			CHECK(publications[turn / ENDS]() >= 0);
			expect_kept(added);
		}
		raise_flag(2 * turn + 1);
		CHECK_INT(finish(child), ends[turn % ENDS] == be_killed ? -SIGKILL : 0);
		if (first) {
			expect_kept(added);
			CHECK(publications[turn / ENDS]() >= 0);
		}
		CHECK(ready(segment, "f"));
		expect_kept(added);
		CHECK_INT(drop(segment, "f"), 1);
	}
	CHECK_INT(faults(segment), 0);
}

TEST(an_add_beside_a_first_load_promises_nothing_that_another_set_denies)
{
	try_all(false);
}

TEST(the_same_where_the_other_set_comes_after_the_load_has_failed)
{
	try_all(true);
}

/* ------------------------------------------------------------------ what is noted */

TEST(a_load_has_what_was_added_beside_it_whatever_was_published_meanwhile)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "from", 0, 10), BSHM_OK);
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(add(segment, "f", "key"), BSHM_E_NOT_FOUND);
	CHECK(last_error.cause == BSHM_CAUSE_JOURNAL);
	CHECK_INT(reserve_f(), 1);
	CHECK_INT(has(segment, "f", "key"), 0);
	CHECK_INT(add(segment, "f", "beside"), 1);
	CHECK_INT(merge_into_f(), BSHM_E_INCOMPATIBLE);
	CHECK_INT(copy_to_f(), BSHM_OK);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(has(segment, "f", "key"), 1);
	CHECK_INT(has(segment, "f", "beside"), 1);
}

/* More keys than are noted under one hold of the lock. */
TEST(a_list_is_noted_to_its_end)
{
	segment = open_segment(MB(1));
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(add_numbers(segment, "f", 0, 1000), BSHM_E_NOT_FOUND);
	CHECK(last_error.cause == BSHM_CAUSE_JOURNAL);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
}

TEST(an_add_to_a_damaged_filter_beside_its_load_is_refused_and_noted)
{
	segment = open_segment(MB(1));
	CHECK_INT(reserve_f(), 1);
	bshm_entry *entry = entry_of(segment, "f");
	entry->descriptor[entry->generation & 1].newest.run.first ^= 64;
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(add(segment, "f", "key"), BSHM_E_CORRUPT);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(has(segment, "f", "key"), 1);
}

/* ------------------------------------------------------------------ a set that goes away */

TEST(a_set_that_is_dropped_beside_its_load_promises_no_more)
{
	segment = open_segment(MB(1));
	CHECK_INT(reserve_f(), 1);
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(add(segment, "f", "before"), 1);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(has(segment, "f", "before"), BSHM_E_NOT_FOUND);
	CHECK_INT(add(segment, "f", "key"), BSHM_E_NOT_FOUND);
	cancel(build);
	CHECK_INT(reserve_f(), 1);
	CHECK_INT(has(segment, "f", "key"), 0);
}

TEST(a_set_that_is_renamed_away_beside_its_load_takes_its_keys_along)
{
	segment = open_segment(MB(1));
	CHECK_INT(reserve_f(), 1);
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(add(segment, "f", "before"), 1);
	CHECK_INT(rename_filter(segment, "f", "g"), BSHM_OK);
	CHECK_INT(add(segment, "f", "key"), BSHM_E_NOT_FOUND);
	CHECK_INT(has(segment, "g", "before"), 1);
	cancel(build);
	CHECK_INT(has(segment, "g", "before"), 1);
	CHECK_INT(has(segment, "f", "before"), BSHM_E_NOT_FOUND);
}
