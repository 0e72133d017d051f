/*
 * test_directory.c - names, renames, and what a death in the middle of a change leaves.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_step.h"

#include "core/base.h"
#include "core/filter/mend.h"
#include "core/segment/directory.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/sound.h"

#include <signal.h>
#include <string.h>

static bshm_segment *segment;

static uint32_t named_entries(void)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < segment->entry_count; i++) {
		count += segment->entries[i].name[0] != 0;
	}
	return count;
}

/* How often a name comes in the list of filters. */
static int listed(const char *name)
{
	char found[BSHM_NAME_BYTES_MAX + 1];
	uint32_t cursor = 0;
	int count = 0;
	do {
		const size_t length = bshm_filter_next(segment, &cursor, found);
		CHECK_INT(length, length == 0 ? 0 : strlen(found));
		count += length != 0 && strcmp(name, found) == 0;
	} while (cursor != 0);
	return count;
}

/* ------------------------------------------------------------------ many names */

/* A directory of many filters, without the cost of reserving each. */
static void publish_numbered(const char *prefix, uint32_t count)
{
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	for (uint32_t i = 0; i < count; i++) {
		const char *text = numbered(prefix, i);
		const bshm__name name = bshm__name_of(text, strlen(text));
		uint32_t index;
		REQUIRE(bshm__entry_create(segment, &name, &index, &last_error) == BSHM_OK);
		bshm_descriptor d = {
			.seed = i, .capacity = 10, .error_rate = bshm__bits(0.01), .state = BSHM_STATE_LIVE};
		set_layer(segment, &d, (bshm_run){i, 1, 0}, 6);
		bshm__entry_publish(segment, index, &d, 0);
	}
	bshm__unlock(segment);
}

TEST(ten_thousand_filters_are_found)
{
	segment = open_segment(MB(80));
	REQUIRE(segment->entry_count >= 10000);
	publish_numbered("filter-", 10000);
	for (uint32_t i = 0; i < 10000; i++) {
		CHECK_INT(has(segment, numbered("filter-", i), "a"), 0);
		CHECK_INT(has(segment, numbered("other-", i), "a"), BSHM_E_NOT_FOUND);
	}
	for (uint32_t i = 0; i < 10000; i += 97) {
		CHECK_INT(add(segment, numbered("filter-", i), numbered("", i)), 1);
	}
	for (uint32_t i = 0; i < 10000; i += 97) {
		CHECK_INT(has_fresh(segment, numbered("filter-", i), numbered("", i)), 1);
	}
	const bshm_stat stat = stat_of(segment);
	CHECK_INT(stat.filters, 10000);
	CHECK_INT(stat.filter_bytes_free, stat.filter_bytes - 10000 * BSHM_FILTER_UNIT_BYTES);
	CHECK_INT(reserve(segment, "one more", 10, 0.01), 1);
	CHECK_INT(faults(segment), 0);
}

TEST(every_filter_is_listed_once)
{
	segment = open_segment(MB(1));
	CHECK_INT(listed("f-1"), 0);
	for (uint64_t i = 0; i < 100; i++) {
		CHECK_INT(reserve(segment, numbered("f-", i), 10, 0.01), 1);
	}
	bshm_build *build = begin_build(segment, "unpublished");
	for (uint64_t i = 0; i < 100; i += 3) {
		CHECK_INT(drop(segment, numbered("f-", i)), 1);
	}
	for (uint64_t i = 0; i < 100; i++) {
		CHECK_INT(listed(numbered("f-", i)), i % 3 != 0);
	}
	CHECK_INT(listed("unpublished"), 0);
	bshm_build_abort(build);
	/* An invented cursor ends. */
	const uint32_t cursors[] = {127, 128, 129, 1000000, UINT32_MAX};
	for (size_t i = 0; i < sizeof(cursors) / sizeof(cursors[0]); i++) {
		char name[BSHM_NAME_BYTES_MAX + 1];
		uint32_t cursor = cursors[i];
		bshm_filter_next(segment, &cursor, name);
		CHECK_INT(cursor, 0);
	}
}

/* Names come and go by the thousand; the directory does not wear out. */
TEST(a_hundred_thousand_names_pass_through_a_few_entries)
{
	segment = open_segment(MB(1));
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	for (uint32_t i = 0; i < 100000; i++) {
		const char *text = numbered("a-name-that-comes-and-goes-", i);
		const bshm__name name = bshm__name_of(text, strlen(text));
		uint32_t index;
		REQUIRE(bshm__entry_create(segment, &name, &index, &last_error) == BSHM_OK);
		bshm_descriptor d = {.seed = i, .state = BSHM_STATE_LIVE};
		set_layer(segment, &d, (bshm_run){i % 128, 1, 0}, 6);
		bshm__entry_publish(segment, index, &d, 0);
		if (i >= 7) {
			const char *old = numbered("a-name-that-comes-and-goes-", i - 7);
			const bshm__name gone = bshm__name_of(old, strlen(old));
			REQUIRE(bshm__entry_find(segment, &gone, &index) == BSHM_OK);
			bshm__entry_drop(segment, index);
		}
		CHECK_INT(index < 16, 1);
	}
	bshm__unlock(segment);
	CHECK_INT(named_entries(), 7);
	for (uint32_t i = 0; i < 7; i++) {
		CHECK(ready(segment, numbered("a-name-that-comes-and-goes-", 99993 + i)));
	}
	CHECK(!ready(segment, numbered("a-name-that-comes-and-goes-", 99992)));
	CHECK_INT(faults(segment), 0);
}

TEST(reserved_and_dropped_names_leave_nothing)
{
	segment = open_segment(MB(1));
	for (uint64_t i = 0; i < 3000; i++) {
		CHECK_INT(reserve(segment, numbered("f-", i), 10, 0.01), 1);
		CHECK_INT(drop(segment, numbered("f-", i)), 1);
		CHECK_INT(drop(segment, numbered("f-", i)), 0);
	}
	CHECK_INT(named_entries(), 0);
	const bshm_stat stat = stat_of(segment);
	CHECK_INT(stat.filters, 0);
	CHECK_INT(stat.filter_bytes_free, stat.filter_bytes);
	CHECK_INT(stat.repairs, 0);
}

TEST(a_full_directory_is_told)
{
	segment = open_segment(MB(1)); /* 128 entries, 128 partitions */
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	const uint32_t count = segment->entry_count;
	for (uint32_t i = 0; i < count; i++) {
		const char *text = numbered("f-", i);
		const bshm__name name = bshm__name_of(text, strlen(text));
		uint32_t index;
		REQUIRE(bshm__entry_create(segment, &name, &index, &last_error) == BSHM_OK);
		bshm_descriptor d = {.state = BSHM_STATE_LIVE};
		set_layer(segment, &d, (bshm_run){i / 2, 1, 0}, 6);
		bshm__entry_publish(segment, index, &d, 0);
	}
	bshm__unlock(segment);
	CHECK_INT(reserve(segment, "one more", 10, 0.01), BSHM_E_NO_SPACE);
	CHECK(last_error.cause == BSHM_CAUSE_DIRECTORY);
	CHECK_INT(last_error.asked, count + 1);
	CHECK_INT(last_error.available, count);
	CHECK_INT(rename_filter(segment, "f-1", "one more"), BSHM_E_NO_SPACE);
	CHECK_INT(copy_filter(segment, "f-1", "one more"), BSHM_E_NO_SPACE);
	CHECK(ready(segment, "f-1"));
	CHECK_INT(rename_filter(segment, "f-1", "f-2"), BSHM_OK); /* needs no entry */
	CHECK_INT(reserve(segment, "one more", 10, 0.01), 1);
	CHECK_INT(load(segment, "f-3", 0, 10), BSHM_OK);
	CHECK_INT(named_entries(), count);
}

/* An entry that is used again is as new: no filter before it is published. */
TEST(a_name_in_a_used_entry_is_missing_until_it_is_published)
{
	segment = open_segment(MB(1));
	CHECK_INT(reserve(segment, "old", 10, 0.01), 1);
	const bshm_entry *entry = entry_of(segment, "old");
	CHECK_INT(drop(segment, "old"), 1);
	bshm_build *build = begin_build(segment, "new");
	CHECK(entry_of(segment, "new") == entry);
	CHECK_INT(has(segment, "new", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(has(segment, "old", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(add(segment, "new", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(listed("new"), 0);
	CHECK_INT(drop(segment, "new"), 0);
	CHECK_INT(faults(segment), 0);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(has(segment, "new", "a"), 1);
}

/* ------------------------------------------------------------------ drop and rename */

TEST(drop_ends_a_filter_and_tells_whether_there_was_one)
{
	segment = open_segment(MB(1));
	CHECK_INT(drop(segment, "f"), 0);
	CHECK_INT(reserve(segment, "f", 10000, 0.01), 1);
	CHECK(stat_of(segment).filter_bytes_free < MB(1));
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(drop(segment, "f"), 0);
	CHECK_INT(has(segment, "f", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(stat_of(segment).filter_bytes_free, MB(1));
	CHECK_INT(reserve(segment, "f", 10000, 0.01), 1);
	bshm_entry *entry = entry_of(segment, "f");
	entry->descriptor[entry->generation & 1].capacity++;
	CHECK_INT(has_fresh(segment, "f", "a"), BSHM_E_CORRUPT);
	CHECK_INT(drop(segment, "f"), 1); /* damaged or not */
	CHECK_INT(has(segment, "f", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(named_entries(), 0);
}

TEST(rename_moves_a_filter_and_replaces_another)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "from", 0, 1000), BSHM_OK);
	CHECK_INT(load(segment, "to", 5000, 6000), BSHM_OK);
	const bshm_info before = info_of(segment, "from");
	CHECK_INT(rename_filter(segment, "from", "new"), BSHM_OK);
	CHECK_INT(has(segment, "from", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(absent(segment, "new", 0, 1000), 0);
	CHECK_INT(rename_filter(segment, "new", "to"), BSHM_OK);
	CHECK_INT(absent(segment, "to", 0, 1000), 0);
	CHECK(present(segment, "to", 5000, 6000) < 50);
	const bshm_info after = info_of(segment, "to");
	CHECK_INT(after.items, before.items);
	CHECK_INT(after.capacity, before.capacity);
	CHECK(after.published_s == before.published_s);
	const bshm_stat stat = stat_of(segment);
	CHECK_INT(stat.filters, 1);
	CHECK_INT(stat.filter_bytes_free + after.bytes, stat.filter_bytes);
	CHECK_INT(named_entries(), 1);
	CHECK_INT(faults(segment), 0);
}

TEST(rename_onto_itself_changes_nothing)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	const uint64_t generation = entry_of(segment, "f")->generation;
	CHECK_INT(rename_filter(segment, "f", "f"), BSHM_OK);
	CHECK_INT(entry_of(segment, "f")->generation, generation);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	CHECK_INT(rename_filter(segment, "none", "none"), BSHM_E_NOT_FOUND);
	CHECK_INT(last_error.status, BSHM_E_NOT_FOUND);
	CHECK_INT(rename_filter(segment, "none", "f"), BSHM_E_NOT_FOUND);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	bshm_entry *entry = entry_of(segment, "f");
	entry->descriptor[entry->generation & 1].capacity++;
	CHECK_INT(rename_filter(segment, "f", "g"), BSHM_E_CORRUPT);
	CHECK_INT(has(segment, "g", "a"), BSHM_E_NOT_FOUND);
}

TEST(a_build_of_the_old_name_publishes_under_the_old_name)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(offer(build, 2000, 2100), BSHM_OK);
	CHECK_INT(rename_filter(segment, "f", "g"), BSHM_OK);
	CHECK_INT(has(segment, "f", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(add_number(segment, "f", 9000), BSHM_E_NOT_FOUND);
	CHECK_INT(add_number(segment, "g", 9001), 1);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(absent(segment, "f", 2000, 2100), 0);
	CHECK_INT(has_number(segment, "f", 9000), 1);
	CHECK_INT(has_number(segment, "g", 9001), 1);
	CHECK_INT(absent(segment, "g", 0, 1000), 0);
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ publication numbers */

static uint64_t numbers[64];
static uint32_t number_count;

/* The number of the set that stands under a name; it must be a new one. */
static void expect_new_number(const char *name)
{
	const bshm_entry *entry = entry_of(segment, name);
	const uint64_t number = bshm__descriptor_read(entry, entry->generation).publication;
	for (uint32_t i = 0; i < number_count; i++) {
		CHECK(numbers[i] != number);
	}
	REQUIRE(number_count < sizeof(numbers) / sizeof(numbers[0]));
	numbers[number_count++] = number;
}

/* Whatever makes a new set of keys under a name. */
static void publish_in_every_way(void)
{
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	expect_new_number("f");
	CHECK_INT(rename_filter(segment, "f", "staging"), BSHM_OK);
	expect_new_number("staging");
	CHECK_INT(reserve(segment, "g", 10, 0.01), 1); /* where f was */
	expect_new_number("g");
	CHECK_INT(rename_filter(segment, "staging", "f"), BSHM_OK);
	expect_new_number("f");
	CHECK_INT(copy_filter(segment, "f", "copy"), BSHM_OK);
	expect_new_number("copy");
	const bshm_key from = {"f", 1};
	CHECK_INT(bshm_filter_merge(segment, "copy", 4, &from, 1, &last_error), BSHM_OK);
	expect_new_number("copy");
	CHECK_INT(clear(segment, "f"), 1);
	expect_new_number("f");
	const char *dump = test_path("dump");
	uint64_t bytes;
	bshm_views *views = bshm_views_new();
	REQUIRE(bshm_filter_dump(segment, views, "copy", 4, dump, &bytes, &last_error) == BSHM_OK);
	bshm_views_free(views);
	CHECK_INT(bshm_filter_restore(segment, "f", 1, dump, &last_error), BSHM_OK);
	expect_new_number("f");
	CHECK_INT(drop(segment, "g"), 1);
	CHECK_INT(reserve(segment, "g", 10, 0.01), 1);
	expect_new_number("g");
	CHECK_INT(faults(segment), 0);
	CHECK_INT(drop(segment, "g"), 1);
}

TEST(no_two_sets_have_one_publication_number)
{
	segment = open_segment(MB(1));
	publish_in_every_way();
	publish_in_every_way();
	segment->header->publications = 0;
	publish_in_every_way();
	segment->header->publications /= 2;
	publish_in_every_way();
	segment->header->publications = UINT64_MAX - 5;
	publish_in_every_way();
}

/* ------------------------------------------------------------------ death in a change */

typedef enum {
	INTENDED,
	PUBLISHED,
	DROPPED
} rename_stage;

static void do_nothing(void)
{
}

static void rename_from_to(void)
{
	rename_filter(segment, "from", "to");
}

static void step_while(pid_t child, const uint64_t *word, uint64_t value)
{
	while (BSHM_LOAD(word, SEQ_CST) == value) {
		REQUIRE(step(child));
	}
}

/* A rename dies as soon as it has come so far. */
static void die_in_a_rename(rename_stage stage)
{
	const bshm_header *header = segment->header;
	pid_t child;
	bool over;
	prepare = do_nothing;
	call = rename_from_to;
	stop_after(0, &child, &over);
	while (BSHM_LOAD(&header->intent, SEQ_CST) == 0) {
		REQUIRE(step(child));
	}
	const bshm_entry *from = &segment->entries[header->intent_from];
	const bshm_entry *to = &segment->entries[header->intent_to];
	const uint64_t from_before = from->generation;
	if (stage >= PUBLISHED) {
		step_while(child, &to->generation, to->generation);
	}
	if (stage == DROPPED) {
		step_while(child, &from->generation, from_before);
	}
	CHECK_INT(header->intent, 1);
	kill(child, SIGKILL);
	CHECK_INT(finish(child), -SIGKILL);
}

/* The next who takes the lock sees one filter, under one of the two names. */
static void expect_one_name(rename_stage stage, bool replaces)
{
	const bool moved = stage != INTENDED;
	const uint64_t repairs = stat_of(segment).repairs;
	die_in_a_rename(stage);
	CHECK_INT(reserve(segment, "next", 10, 0.01), 1);
	CHECK_INT(segment->header->intent, 0);
	CHECK_INT(stat_of(segment).repairs, repairs + 1);
	if (moved) {
		CHECK_INT(absent(segment, "to", 0, 1000), 0);
		CHECK_INT(has(segment, "from", "a"), BSHM_E_NOT_FOUND);
	} else {
		CHECK_INT(absent(segment, "from", 0, 1000), 0);
		CHECK(has(segment, "to", "a") != 1);
	}
	CHECK_INT(stat_of(segment).filters, replaces && !moved ? 3 : 2);
	CHECK_INT(rename_filter(segment, moved ? "to" : "from", "last"), BSHM_OK);
	CHECK_INT(absent(segment, "last", 0, 1000), 0);
}

static void expect_unfinished_rename(rename_stage stage, bool replaces)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "from", 0, 1000), BSHM_OK);
	if (replaces) {
		CHECK_INT(load(segment, "to", 5000, 6000), BSHM_OK);
	}
	expect_one_name(stage, replaces);
	CHECK_INT(absent(segment, "to", 5000, 6000), 0);
	CHECK_INT(faults(segment), 0);
}

TEST(death_before_a_rename_publishes_undoes_it)
{
	expect_unfinished_rename(INTENDED, false);
}

TEST(death_before_a_replacing_rename_publishes_undoes_it)
{
	expect_unfinished_rename(INTENDED, true);
}

TEST(death_after_a_rename_has_published_ends_it)
{
	expect_unfinished_rename(PUBLISHED, false);
}

TEST(death_after_a_replacing_rename_has_published_ends_it)
{
	expect_unfinished_rename(PUBLISHED, true);
}

TEST(death_at_the_end_of_a_rename_changes_nothing_more)
{
	expect_unfinished_rename(DROPPED, true);
}

/* The target's descriptor in force, its other one and its generation, damaged. */
static void damage(bshm_entry *entry, int what)
{
	switch (what) {
		case 0:
			entry->descriptor[entry->generation & 1].capacity++;
			break;
		case 1:
			entry->generation--;
			break;
		case 2:
			entry->generation += 7;
			break;
		default:
			entry->generation = 0;
			break;
	}
}

TEST(death_in_a_rename_onto_a_damaged_filter_leaves_one_name)
{
	test_slow();
	for (int what = 0; what < 4; what++) {
		for (int stage = INTENDED; stage <= DROPPED; stage++) {
			segment = open_segment(MB(1));
			CHECK_INT(load(segment, "from", 0, 1000), BSHM_OK);
			CHECK_INT(load(segment, "to", 5000, 6000), BSHM_OK);
			damage(entry_of(segment, "to"), what);
			expect_one_name((rename_stage) stage, false);
			CHECK_INT(drop(segment, "last"), 1);
			CHECK_INT(drop(segment, "next"), 1);
			drop(segment, "to");
		}
	}
}

static uint32_t torn_words; /* how much of a name got written */

static void die_writing_a_name(void)
{
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	const bshm__name name = bshm__name_of("a name that is longer than two words", 36);
	uint32_t index = 0;
	while (segment->entries[index].name[0] != 0) {
		index++;
	}
	segment->header->directory_version++;
	memcpy(segment->entries[index].name, name.bytes, torn_words * 8);
	raise(SIGKILL);
}

TEST(death_while_writing_a_name_leaves_no_name)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	for (torn_words = 0; torn_words <= 8; torn_words++) {
		CHECK_INT(finish(spawn(die_writing_a_name)), -SIGKILL);
		CHECK_INT(absent(segment, "f", 0, 100), 0); /* at once: it is found in its chain */
		CHECK(has(segment, "none", "a") < 0);
		CHECK_INT(load(segment, "g", 0, 100), BSHM_OK);
		CHECK_INT(has(segment, "none", "a"), BSHM_E_NOT_FOUND);
		CHECK_INT(named_entries(), 2);
		CHECK_INT(segment->header->directory_version & 1, 0);
		CHECK_INT(faults(segment), 0);
	}
}

static void die_breaking_the_chains(void)
{
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	segment->header->directory_version++;
	for (uint32_t i = 0; i < segment->head_count; i++) {
		segment->heads[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? 5 : UINT32_MAX;
	}
	for (uint32_t i = 0; i < segment->entry_count; i++) {
		segment->entries[i].next = i % 2 == 0 ? i + 1 : 77777;
		segment->entries[i].builders = 1;
	}
	raise(SIGKILL);
}

TEST(a_take_over_mends_chains_and_builder_flags)
{
	segment = open_segment(MB(1));
	for (uint64_t i = 0; i < 60; i++) {
		CHECK_INT(load(segment, numbered("f-", i), i * 1000, i * 1000 + 10), BSHM_OK);
	}
	bshm_build *build = begin_build(segment, "f-0");
	CHECK_INT(finish(spawn(die_breaking_the_chains)), -SIGKILL);
	for (uint64_t i = 0; i < 60; i++) { /* never a wrong "no" meanwhile */
		CHECK(has_number(segment, numbered("f-", i), i * 1000) != 0);
		CHECK(has_fresh(segment, numbered("f-", i), "a") <= 0);
	}
	CHECK_INT(stat_of(segment).filters, 60);
	CHECK_INT(segment->header->repairs, 1);
	for (uint64_t i = 0; i < 60; i++) {
		CHECK_INT(absent(segment, numbered("f-", i), i * 1000, i * 1000 + 10), 0);
		CHECK_INT(entry_of(segment, numbered("f-", i))->builders, i == 0);
	}
	CHECK(add_number(segment, "f-0", 99) >= 0);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(has_number(segment, "f-0", 99), 1);
	CHECK_INT(faults(segment), 0);
}

/* A name that hangs in no chain must not come twice: the older set would come back one day. */
TEST(a_name_lost_from_its_chain_is_not_made_twice)
{
	segment = open_segment(MB(1));
	for (uint64_t i = 0; i < 40; i++) {
		CHECK_INT(load(segment, numbered("f-", i), 0, 100), BSHM_OK);
	}
	memset(segment->heads, 0, sizeof(*segment->heads) * segment->head_count);
	for (uint64_t i = 0; i < 40; i++) {
		CHECK_INT(load(segment, numbered("f-", i), 1000, 1100), BSHM_OK);
	}
	CHECK_INT(named_entries(), 40);
	CHECK_INT(finish(spawn(die_breaking_the_chains)), -SIGKILL);
	stat_of(segment);
	for (uint64_t i = 0; i < 40; i++) {
		CHECK_INT(absent(segment, numbered("f-", i), 1000, 1100), 0);
		CHECK_INT(drop(segment, numbered("f-", i)), 1);
		CHECK_INT(has(segment, numbered("f-", i), "a"), BSHM_E_NOT_FOUND);
	}
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ churn against readers */

static void churn_for_ever(void)
{
	for (uint64_t i = 0;; i++) {
		const char *name = numbered("churn-", i % 50);
		if (drop(segment, name) == 0) {
			reserve(segment, name, 10, 0.01);
		}
	}
}

TEST(names_come_and_go_beside_a_filter_that_stays)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "stays", 0, 100), BSHM_OK);
	pid_t churners[2] = {spawn(churn_for_ever), spawn(churn_for_ever)};
	uint64_t random = test_seed();
	for (uint64_t i = 0; i < 20000; i++) {
		CHECK_INT(has_number(segment, "stays", i % 100), 1);
		if (i % 100 == 0) {
			const int fresh = has_fresh(segment, "stays", "not there");
			CHECK(fresh == 0 || fresh == BSHM_E_BUSY); /* busy: the chains are being mended */
			CHECK_INT(listed("stays"), 1);
		}
		const int other = has(segment, numbered("churn-", test_random(&random) % 50), "a");
		CHECK(other == 0 || other == BSHM_E_NOT_FOUND || other == BSHM_E_BUSY);
		if (i % 1000 == 999) { /* cut off wherever it is */
			kill_child(churners[i / 1000 % 2]);
			churners[i / 1000 % 2] = spawn(churn_for_ever);
		}
	}
	kill_child(churners[0]);
	kill_child(churners[1]);
	stat_of(segment);
	CHECK_INT(absent(segment, "stays", 0, 100), 0);
	CHECK_INT(faults(segment), 0);
}
