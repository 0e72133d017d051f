/*
 * test_check.c - the whole-segment validator finds every kind of damage, and nothing else.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/mend.h"
#include "core/segment/directory.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/run.h"
#include "core/segment/sound.h"
#include "platform/platform.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static bshm_segment *segment;

typedef struct {
	int calls;
	char what[128];
	char name[BSHM_NAME_BYTES_MAX + 1];
} told;

static void remember(void *context, const char *what, const char *name)
{
	told *t = context;
	t->calls++;
	snprintf(t->what, sizeof(t->what), "%s", what);
	snprintf(t->name, sizeof(t->name), "%s", name);
}

static void ignore(void *context, const char *what, const char *name)
{
	(void) context;
	CHECK(what[0] != '\0' && strlen(name) <= BSHM_NAME_BYTES_MAX);
}

static int quiet_faults(void)
{
	return bshm_segment_check(segment, ignore, NULL, &(bshm_error){0});
}

/* The check finds something, and what it tells contains `part`. */
static void expect_fault(const char *part, const char *name)
{
	told t = {0};
	const int count = bshm_segment_check(segment, remember, &t, &(bshm_error){0});
	CHECK(count >= 1);
	CHECK_INT(t.calls, count);
	if (strstr(t.what, part) == NULL || (name != NULL && strcmp(t.name, name) != 0)) {
		test_fail(__FILE__, __LINE__, "told \"%s\" (%s), not \"%s\"", t.what, t.name, part);
	}
}

/* Flips bits of a word, expects the fault, and sets the word back. */
#define EXPECT_FAULT_WHEN(word, value, part, name)                                                 \
 do {                                                                                              \
  __typeof__(word) saved_ = (word);                                                                \
  (word) = (__typeof__(word)) (value);                                                             \
  expect_fault(part, name);                                                                        \
  (word) = saved_;                                                                                 \
  CHECK_INT(quiet_faults(), 0);                                                                    \
 } while (0)

static void stand_in(uint64_t bytes)
{
	segment = open_segment(bytes);
	CHECK_INT(load(segment, "one", 0, 20000), BSHM_OK);
	CHECK_INT(load(segment, "two", 0, 20000), BSHM_OK);
	CHECK_INT(load(segment, "two", 0, 20000), BSHM_OK);
}

static void stand(void)
{
	stand_in(MB(1));
}

TEST(a_sound_segment_has_no_faults)
{
	segment = open_segment(MB(1));
	CHECK_INT(faults(segment), 0);
	stand();
	CHECK_INT(faults(segment), 0);
	bshm_build *build = begin_build(segment, "one");
	CHECK(add_numbers(segment, "one", 50000, 50600) > 500);
	CHECK_INT(faults(segment), 0);
	bshm_build_abort(build);
	CHECK_INT(faults(segment), 0);
	CHECK_INT(clear(segment, "one"), 1);
	CHECK_INT(rename_filter(segment, "one", "three"), BSHM_OK);
	CHECK_INT(copy_filter(segment, "two", "one"), BSHM_OK);
	CHECK_INT(drop(segment, "two"), 1);
	CHECK_INT(faults(segment), 0);
	memset(segment->partitions, 0x5a, MB(1)); /* any bits are a filter */
	CHECK_INT(faults(segment), 0);
}

TEST(a_changed_header_is_found)
{
	stand();
	bshm_header *h = segment->header;
	EXPECT_FAULT_WHEN(h->magic, h->magic ^ 1, "header", "");
	EXPECT_FAULT_WHEN(h->layout, h->layout ^ 1, "header", "");
	EXPECT_FAULT_WHEN(h->segment_bytes, h->segment_bytes + 4096, "header", "");
	EXPECT_FAULT_WHEN(h->name_seed, h->name_seed ^ 1, "header", "");
	EXPECT_FAULT_WHEN(h->partition_count, h->partition_count + 1, "header", "");
	EXPECT_FAULT_WHEN(h->entry_count, h->entry_count - 1, "header", "");
	EXPECT_FAULT_WHEN(h->head_count, h->head_count * 2, "header", "");
	EXPECT_FAULT_WHEN(h->chunk_count, 0, "header", "");
	EXPECT_FAULT_WHEN(h->created_s, h->created_s + 1, "header", "");
	EXPECT_FAULT_WHEN(h->check, h->check ^ 1, "header", "");
	EXPECT_FAULT_WHEN(h->directory_version, h->directory_version | 1, "unfinished", "");
	EXPECT_FAULT_WHEN(h->intent, 1, "rename", "");
	EXPECT_FAULT_WHEN(h->publications, 0, "publication number", NULL);
}

TEST(a_damaged_chain_is_found)
{
	stand();
	const bshm__name name = bshm__name_of("one", 3);
	uint32_t *head = &segment->heads[bshm__name_head(segment, &name)];
	const uint32_t one = (uint32_t) (entry_of(segment, "one") - segment->entries);
	EXPECT_FAULT_WHEN(*head, 0, "exactly one chain", NULL);
	EXPECT_FAULT_WHEN(*head, segment->entry_count + 1, "chain", NULL);
	EXPECT_FAULT_WHEN(*head, UINT32_MAX, "chain", NULL);
	EXPECT_FAULT_WHEN(segment->entries[one].next, one + 1, "chain", NULL);
	EXPECT_FAULT_WHEN(segment->entries[one].next, UINT32_MAX, "chain", NULL);
	const uint32_t other = bshm__name_head(segment, &name) ^ 1;
	if (segment->heads[other] == 0) {
		EXPECT_FAULT_WHEN(segment->heads[other], one + 1, "chain", NULL);
	}
	uint32_t unused = 0;
	while (segment->entries[unused].name[0] != 0) {
		unused++;
	}
	EXPECT_FAULT_WHEN(segment->entries[unused].name[0], 3, "exactly one chain", NULL);
	EXPECT_FAULT_WHEN(segment->entries[unused].name[0], 200, "exactly one chain", NULL);
	for (size_t i = 0; i < 8; i++) {
		EXPECT_FAULT_WHEN(
			segment->entries[one].name[i], segment->entries[one].name[i] ^ 16, "", NULL);
	}
}

TEST(a_damaged_descriptor_is_found)
{
	stand();
	bshm_entry *entry = entry_of(segment, "two");
	bshm_descriptor *d = &entry->descriptor[entry->generation & 1];
	EXPECT_FAULT_WHEN(d->generation, d->generation + 2, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->seed, d->seed ^ 1, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->capacity, d->capacity + 1, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->error_rate, 0, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->published_s, 0, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->state, BSHM_STATE_ABSENT, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->state, BSHM_STATE_CLEARING, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->newest.hash_count, 0, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->newest.hash_count, 7, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->expansion, 2, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->window_s, 9, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->newest.run.first, UINT32_MAX, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->newest.run.count, 0, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->newest.run.check, 1, "descriptor", "two");
	EXPECT_FAULT_WHEN(d->check, d->check ^ 1, "descriptor", "two");
	EXPECT_FAULT_WHEN(entry->generation, entry->generation + 1, "descriptor", "two");
	EXPECT_FAULT_WHEN(entry->generation, entry->generation - 1, "descriptor", "two");
}

/* Two sound descriptors over one partition. */
TEST(partitions_with_two_masters_are_found)
{
	stand();
	bshm_entry *one = entry_of(segment, "one");
	bshm_descriptor d = bshm__descriptor_read(one, one->generation);
	const bshm_entry *two = entry_of(segment, "two");
	const bshm_run run = bshm__descriptor_read(two, two->generation).newest.run;
	set_layer(segment, &d, (bshm_run){run.first + run.count - 1, 1, 0}, 6);
	bshm__entry_publish(segment, (uint32_t) (one - segment->entries), &d, 0);
	expect_fault("two filters claim one partition", NULL);
}

TEST(damaged_links_are_found)
{
	segment = open_segment(MB(1));
	const uint64_t keys = bshm_geometry_for(0.01, 1).keys_per_partition;
	for (uint64_t i = 0; i < 128; i++) {
		const char *name = numbered("f-", i);
		REQUIRE(reserve(segment, name, keys, 0.01) == 1);
	}
	for (uint64_t i = 0; i < 128; i += 2) {
		const char *name = numbered("f-", i);
		CHECK_INT(drop(segment, name), 1);
	}
	CHECK_INT(reserve(segment, "scattered", keys * 10, 0.01), 1);
	CHECK_INT(faults(segment), 0);
	const bshm_entry *entry = entry_of(segment, "scattered");
	const bshm_run run = bshm__descriptor_read(entry, entry->generation).newest.run;
	REQUIRE(run.check != 0);
	uint32_t list[10];
	REQUIRE(run.count == 10 && bshm__run_walk(segment, &run, list, NULL));
	for (uint32_t i = 0; i < 9; i++) {
		EXPECT_FAULT_WHEN(segment->links[list[i]], 0, "links", "scattered");
		EXPECT_FAULT_WHEN(segment->links[list[i]], UINT32_MAX, "links", "scattered");
		EXPECT_FAULT_WHEN(
			segment->links[list[i]], segment->links[list[i]] ^ 2, "links", "scattered");
	}
	segment->links[list[9]] ^= 1; /* after the last: of no run */
	CHECK_INT(faults(segment), 0);
}

TEST(damaged_work_in_progress_is_found)
{
	stand();
	bshm_build *build = begin_build(segment, "one");
	CHECK(add_numbers(segment, "one", 50000, 50600) > 500);
	CHECK_INT(faults(segment), 0);
	bshm_op *op = &segment->ops[0];
	while (op->owner == 0) {
		op++;
	}
	const char *work = "work in progress";
	EXPECT_FAULT_WHEN(op->serial, op->serial ^ 1, work, "");
	EXPECT_FAULT_WHEN(op->seed, op->seed ^ 1, work, "");
	EXPECT_FAULT_WHEN(op->entry, op->entry + 1, work, "");
	EXPECT_FAULT_WHEN(op->kind, 9, work, "");
	EXPECT_FAULT_WHEN(op->run.first, 1, work, "");
	EXPECT_FAULT_WHEN(op->run.count, 5, work, "");
	EXPECT_FAULT_WHEN(op->check, op->check ^ 1, work, "");
	bshm_entry *entry = entry_of(segment, "one");
	EXPECT_FAULT_WHEN(entry->builders, 0, "being built", "one");
	const uint32_t chunk = op->chunk - 1;
	EXPECT_FAULT_WHEN(segment->chunks[chunk].count, 256, "chunk", "");
	EXPECT_FAULT_WHEN(segment->chunks[chunk].count, UINT64_MAX, "chunk", "");
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(faults(segment), 0);
}

TEST(more_faults_are_counted_than_told)
{
	segment = open_segment(MB(1));
	for (uint64_t i = 0; i < 100; i++) {
		const char *name = numbered("f-", i);
		REQUIRE(reserve(segment, name, 10, 0.01) == 1);
	}
	for (uint64_t i = 0; i < 100; i++) {
		const char *name = numbered("f-", i);
		bshm_entry *entry = entry_of(segment, name);
		entry->descriptor[entry->generation & 1].seed ^= 1;
	}
	told t = {0};
	CHECK_INT(bshm_segment_check(segment, remember, &t, &(bshm_error){0}), 100);
	CHECK_INT(t.calls, 64);
}

TEST(a_check_mends_nothing)
{
	stand();
	bshm_entry *entry = entry_of(segment, "one");
	entry->descriptor[entry->generation & 1].seed ^= 1;
	CHECK_INT(quiet_faults(), 1);
	CHECK_INT(quiet_faults(), 1);
	CHECK_INT(has_fresh(segment, "one", "a"), BSHM_E_CORRUPT);
	CHECK_INT(segment->header->repairs, 0);
}

TEST(a_reader_checks_too)
{
	stand();
	bshm_segment *writer = segment;
	segment = open_segment_readonly();
	CHECK_INT(faults(segment), 0);
	bshm_entry *entry = entry_of(writer, "one");
	entry->descriptor[entry->generation & 1].seed ^= 1;
	CHECK_INT(quiet_faults(), 1);
}

static uint32_t written; /* 1: the writer has done its work */

static void *check_all_the_time(void *reader)
{
	while (BSHM_LOAD(&written, RELAXED) == 0) {
		(void) bshm_segment_check(reader, ignore, NULL, &(bshm_error){0});
	}
	return NULL;
}

/* Under ThreadSanitizer: it reads no word without the lock that others write. */
THREAD_TEST(a_reader_checks_beside_writers)
{
	stand();
	bshm_segment *reader = open_segment_readonly();
	share_mapping(reader, segment); /* the sanitizer goes by addresses */
	pthread_t thread;
	REQUIRE(pthread_create(&thread, NULL, check_all_the_time, reader) == 0);
	for (int i = 0; i < 20; i++) {
		load(segment, "two", 0, 300);
		copy_filter(segment, "two", "three");
		rename_filter(segment, "three", "four");
		add_numbers(segment, "one", 0, 100);
		clear(segment, "two");
		drop(segment, "four");
	}
	BSHM_STORE(&written, 1, RELAXED);
	pthread_join(thread, NULL);
	CHECK_INT(faults(segment), 0);
}

static void hold_the_lock(void)
{
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	raise_flag_and_sleep(0);
}

TEST(a_check_that_cannot_have_the_lock_says_so)
{
	stand();
	const pid_t child = spawn(hold_the_lock);
	await_flag(0);
	CHECK_INT(quiet_faults(), BSHM_E_TIMEOUT);
	kill_child(child);
	CHECK_INT(faults(segment), 0);
}

static void work_for_ever(void)
{
	for (;;) {
		load(segment, "two", 0, 3000);
		copy_filter(segment, "two", "three");
		rename_filter(segment, "three", "four");
		clear(segment, "two");
		drop(segment, "four");
	}
}

static void check_beside_others(uint64_t bytes)
{
	uint64_t random = test_seed();
	stand_in(bytes);
	pid_t children[2] = {spawn(work_for_ever), spawn(work_for_ever)};
	for (int i = 0; i < 200; i++) {
		CHECK_INT(faults(segment), 0);
		bshm_os_sleep_us((unsigned) (test_random(&random) % 500));
		if (i % 5 == 0) {
			kill_child(children[i / 5 % 2]);
			children[i / 5 % 2] = spawn(work_for_ever);
		}
	}
	kill_child(children[0]);
	kill_child(children[1]);
	CHECK_INT(faults(segment), 0);
}

/* Work in progress is no fault, nor what a death in the middle of it leaves. */
TEST(a_check_beside_others_at_work_finds_nothing)
{
	check_beside_others(MB(1));
}

/* Two filters that have the same partitions, one after the other, are none either. */
TEST(a_check_in_several_steps_beside_others_at_work_finds_nothing)
{
	check_beside_others(MB(32));
}
