/*
 * test_query.c - questions, and the views that processes keep of filters.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/mend.h"
#include "core/segment/directory.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "platform/platform.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bshm_segment *segment;

/* ------------------------------------------------------------------ answers */

TEST(names_and_keys_of_all_lengths)
{
	segment = open_segment(MB(2));
	char name[BSHM_NAME_BYTES_MAX + 1] = "";
	for (size_t length = 1; length <= BSHM_NAME_BYTES_MAX; length++) {
		name[length - 1] = (char) ('!' + length);
		CHECK_INT(reserve(segment, name, 100, 0.000001), 1);
	}
	char key[600];
	memset(key, 'k', sizeof(key));
	for (size_t length = 1; length <= BSHM_NAME_BYTES_MAX; length++) {
		char shorter[BSHM_NAME_BYTES_MAX + 1];
		memcpy(shorter, name, length);
		shorter[length] = '\0';
		key[length * 9] = '\0';
		CHECK_INT(has(segment, shorter, key), 0);
		CHECK_INT(add(segment, shorter, key), 1);
		CHECK_INT(has(segment, shorter, key), 1);
		CHECK_INT(has_fresh(segment, shorter, key), 1);
		key[length * 9] = 'k';
	}
	bshm_views *views = bshm_views_new();
	char too_long[200];
	memset(too_long, 'x', sizeof(too_long));
	for (size_t length = BSHM_NAME_BYTES_MAX + 1; length <= sizeof(too_long); length++) {
		CHECK(bshm_filter_has(segment, views, too_long, length, "a", 1) < 0);
	}
	CHECK(bshm_filter_has(segment, views, "", 0, "a", 1) < 0);
	bshm_views_free(views);
}

TEST(names_that_differ_little_are_not_mixed_up)
{
	segment = open_segment(MB(1));
	const char *names[] = {"a", "b", "ab", "ba", "aba", "abb", "bba", "abab", "abbb", "abababab",
		"ababababa", "abababababababab", "abababaXababababab", "abababaYababababab", "abcdefg",
		"abcdXfg", "A", "\x80", "\xff"};
	const size_t count = sizeof(names) / sizeof(names[0]);
	for (size_t i = 0; i < count; i++) {
		CHECK_INT(reserve(segment, names[i], 100, 0.000001), 1);
		CHECK_INT(add(segment, names[i], names[i]), 1);
	}
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			CHECK_INT(has(segment, names[i], names[j]), i == j);
		}
	}
}

/* What is laid out once is found again, however alike the names: here 40 that differ in the
 * middle. */
TEST(names_that_differ_in_the_middle_have_places_of_their_own)
{
	const char *const ends[] = {"", ":seen", ":seen-items", ":everything-ever-seen-in-the-shop"};
	bshm_segment *own = open_segment(MB(2));
	bshm_views *views = bshm_views_new();
	bshm_view *first[40];
	char names[40][BSHM_NAME_MAX + 1];
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 40; i++) {
			const int length =
				snprintf(names[i], sizeof(names[i]), "customer:%06u%s", i / 4, ends[i % 4]);
			bshm_view *view;
			CHECK(round != 0 || reserve(own, names[i], 100, 0.01) == 1);
			CHECK_INT(bshm_view_open(own, views, names[i], (size_t) length, &view), BSHM_OK);
			CHECK(round == 0 || view == first[i]);
			first[i] = view;
		}
	}
	bshm_views_free(views);
}

/* More filters than a thread has views, asked in turn. */
TEST(a_thousand_filters_each_answer_for_themselves)
{
	segment = open_segment(MB(16));
	for (uint64_t i = 0; i < 1000; i++) {
		const char *name = numbered("filter-", i);
		REQUIRE(reserve(segment, name, 10, 0.000001) == 1);
		CHECK_INT(add(segment, name, name), 1);
	}
	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < 1000; i++) {
			const char *name = numbered("filter-", (i * 7 % 1000));
			CHECK_INT(has(segment, name, name), 1);
			CHECK_INT(has(segment, name, "other"), 0);
		}
	}
}

TEST(a_view_answers_many_at_once_as_one_by_one)
{
	segment = open_segment(MB(2));
	CHECK_INT(load(segment, "small", 0, 1000), BSHM_OK);
	CHECK_INT(load(segment, "large", 0, 1000000), BSHM_OK); /* more than PREFETCH_PARTITIONS */
	bshm_views *views = bshm_views_new();
	const char *names[] = {"small", "large"};
	for (int n = 0; n < 2; n++) {
		bshm_view *view;
		REQUIRE(bshm_view_open(segment, views, names[n], 5, &view) == BSHM_OK);
		for (unsigned count = 1; count <= BSHM_BATCH; count++) {
			uint64_t numbers[BSHM_BATCH];
			bshm_key keys[BSHM_BATCH];
			bool answers[BSHM_BATCH];
			for (unsigned i = 0; i < count; i++) {
				numbers[i] = i * 997 + (i % 3) * 2000000;
				keys[i] = (bshm_key){(const char *) &numbers[i], sizeof(numbers[i])};
			}
			bshm_view_has(view, keys, count, answers);
			for (unsigned i = 0; i < count; i++) {
				CHECK_INT(answers[i], has_number(segment, names[n], numbers[i]));
			}
		}
		CHECK(bshm_view_current(view));
	}
	bshm_view *view;
	CHECK_INT(bshm_view_open(segment, views, "none", 4, &view), BSHM_E_NOT_FOUND);
	CHECK(view == NULL);
	bshm_views_free(views);
}

TEST(every_number_of_probes_is_answered_alike)
{
	segment = open_segment(MB(4));
	for (uint64_t exponent = 1; exponent <= 18; exponent++) {
		double rate = 0.5;
		for (uint64_t i = 1; i < exponent; i++) {
			rate /= 8;
		}
		const char *name = numbered("rate-", exponent);
		REQUIRE(reserve(segment, name, 1000, rate) == 1);
		CHECK(add_numbers(segment, name, 0, 1000) > 400);
		CHECK_INT(absent(segment, name, 0, 1000), 0);
		const uint64_t wrong = present(segment, name, 100000, 110000);
		CHECK((double) wrong <= 10000 * rate * 1.1 + 5);
	}
}

/* ------------------------------------------------------------------ views through changes */

TEST(a_view_does_not_outlive_its_generation)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	bshm_views *views = bshm_views_new();
	bshm_view *view;
	REQUIRE(bshm_view_open(segment, views, "f", 1, &view) == BSHM_OK);
	CHECK(bshm_view_current(view));
	CHECK_INT(load(segment, "f", 1000, 2000), BSHM_OK);
	CHECK(!bshm_view_current(view));
	REQUIRE(bshm_view_open(segment, views, "f", 1, &view) == BSHM_OK);
	CHECK(bshm_view_current(view));
	CHECK_INT(drop(segment, "f"), 1);
	CHECK(!bshm_view_current(view));
	CHECK_INT(bshm_view_open(segment, views, "f", 1, &view), BSHM_E_NOT_FOUND);
	bshm_views_free(views);
}

TEST(views_follow_drops_and_reuse)
{
	segment = open_segment(MB(1));
	for (uint64_t round = 0; round < 20; round++) {
		const char *name = round % 2 == 0 ? "even" : "odd-and-longer";
		CHECK_INT(has_number(segment, name, 1), BSHM_E_NOT_FOUND);
		CHECK_INT(load(segment, name, round * 1000, round * 1000 + 100), BSHM_OK);
		CHECK_INT(absent(segment, name, round * 1000, round * 1000 + 100), 0);
		CHECK(absent(segment, name, 900000, 900100) > 90);
		CHECK_INT(drop(segment, name), 1);
		CHECK_INT(has_number(segment, name, round * 1000), BSHM_E_NOT_FOUND);
		CHECK(!ready(segment, name));
	}
	/* Two names that take turns in one entry: the first free one. */
	CHECK_INT(reserve(segment, "one", 100, 0.01), 1);
	CHECK_INT(add(segment, "one", "a"), 1);
	const bshm_entry *entry = entry_of(segment, "one");
	CHECK_INT(drop(segment, "one"), 1);
	CHECK_INT(reserve(segment, "two", 100, 0.01), 1);
	CHECK(entry_of(segment, "two") == entry);
	CHECK_INT(has(segment, "one", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(has(segment, "two", "a"), 0);
}

#define SETS 4

static void republish_for_ever(void)
{
	for (uint64_t set = 0;; set++) {
		const uint64_t first = set % SETS * 100000;
		CHECK_INT(load(segment, set % 3 == 0 ? "other" : "f", first, first + 500), BSHM_OK);
	}
}

/* A key of every set is never "no", whatever is published, reused and overwritten meanwhile. */
TEST(no_question_is_answered_wrongly_during_republishing)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "other", 0, 500), BSHM_OK);
	CHECK_INT(load(segment, "f", 100000, 100500), BSHM_OK);
	const pid_t child = spawn(republish_for_ever);
	const uint64_t end_ns = bshm_os_monotonic_ns() + UINT64_C(700000000);
	uint64_t noes = 0;
	while (bshm_os_monotonic_ns() < end_ns || noes == 0) {
		/* "f" is always one of the sets: of a key of each, one at least is there. */
		bshm_views *views = bshm_views_new();
		for (int i = 0; i < 200; i++) {
			bshm_view *view;
			const int status = bshm_view_open(segment, views, "f", 1, &view);
			CHECK(status == BSHM_OK || status == BSHM_E_BUSY);
			if (status != BSHM_OK) {
				continue;
			}
			uint64_t numbers[SETS];
			bshm_key keys[SETS];
			bool answers[SETS];
			for (uint64_t s = 0; s < SETS; s++) {
				numbers[s] = s * 100000 + (uint64_t) i;
				keys[s] = (bshm_key){(const char *) &numbers[s], sizeof(numbers[s])};
			}
			bshm_view_has(view, keys, SETS, answers);
			if (bshm_view_current(view)) {
				CHECK(answers[0] || answers[1] || answers[2] || answers[3]);
				noes += !(answers[0] && answers[1] && answers[2] && answers[3]);
			}
		}
		bshm_views_free(views);
	}
	kill_child(child);
}

static void rename_for_ever(void)
{
	for (;;) {
		CHECK_INT(rename_filter(segment, "f", "g"), BSHM_OK);
		CHECK_INT(rename_filter(segment, "g", "f"), BSHM_OK);
	}
}

TEST(a_filter_that_is_renamed_to_and_fro_never_says_a_wrong_no)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 500), BSHM_OK);
	const pid_t child = spawn(rename_for_ever);
	uint64_t found = 0;
	for (uint64_t i = 0; i < 200000 || found == 0; i++) { /* under the old name at least once */
		const int answer = has_number(segment, "f", i % 500);
		CHECK(answer == 1 || answer == BSHM_E_NOT_FOUND || answer == BSHM_E_BUSY);
		found += answer == 1;
	}
	kill_child(child);
}

/* ------------------------------------------------------------------ damage */

static uint64_t *word_of(bshm_descriptor *descriptor, size_t offset)
{
	return (uint64_t *) (void *) ((uint8_t *) descriptor + offset);
}

/* Any bit of a descriptor: the answer is an error status, never "no". */
TEST(a_damaged_descriptor_is_never_believed)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	bshm_entry *entry = entry_of(segment, "f");
	bshm_descriptor *descriptor = &entry->descriptor[entry->generation & 1];
	for (size_t offset = 0; offset < sizeof(*descriptor); offset += 8) {
		for (int bit = 0; bit < 64; bit += 3) {
			*word_of(descriptor, offset) ^= UINT64_C(1) << bit;
			const int answer = has_fresh(segment, "f", "absent");
			CHECK(answer < 0);
			CHECK_INT(answer, BSHM_E_CORRUPT);
			*word_of(descriptor, offset) ^= UINT64_C(1) << bit;
		}
	}
	CHECK_INT(has_fresh(segment, "f", "absent"), 0);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
}

/* Forged under a right checksum: seeds and counts that lead outside are seen all the same. */
TEST(a_forged_descriptor_leads_nowhere)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	bshm_entry *entry = entry_of(segment, "f");
	const bshm_descriptor sound = entry->descriptor[entry->generation & 1];
	const struct {
		uint32_t state, hash_count, first, count;
		uint64_t check;
	} forged[] = {
		{3, 6, 0, 1, 0},
		{1, 0, 0, 1, 0},
		{1, 65, 0, 1, 0},
		{1, UINT32_MAX, 0, 1, 0},
		{1, 6, 0, 0, 0},
		{1, 6, 0, 129, 0},
		{1, 6, 127, 2, 0},
		{1, 6, 128, 1, 0},
		{1, 6, UINT32_MAX, 1, 0},
		{1, 6, 1, UINT32_MAX, 0},
		{1, 6, UINT32_MAX, UINT32_MAX, 0},
		{1, 6, 0, 5, 12345},
		{1, 6, 128, 5, 12345},
		{1, 6, UINT32_MAX, 5, 12345},
	};
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		bshm_descriptor d = sound;
		d.state = forged[i].state;
		set_layer(segment, &d, (bshm_run){forged[i].first, forged[i].count, forged[i].check},
			forged[i].hash_count);
		bshm__entry_publish(segment, (uint32_t) (entry - segment->entries), &d, 0);
		CHECK(has_fresh(segment, "f", "a") < 0);
		CHECK_INT(add(segment, "f", "a"), BSHM_E_CORRUPT);
		bshm_info info;
		bshm_views *views = bshm_views_new();
		CHECK(bshm_filter_info(segment, views, "f", 1, &info) < 0);
		bshm_views_free(views);
	}
}

TEST(a_damaged_name_or_chain_means_no_such_filter)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	bshm_entry *entry = entry_of(segment, "f");
	for (size_t i = 0; i < sizeof(entry->name); i++) {
		entry->name[i] ^= 0x80;
		CHECK(has_number(segment, "f", 1) != 0);
		CHECK(has_fresh(segment, "f", "absent") < 0);
		entry->name[i] ^= 0x80;
	}
	const bshm__name name = bshm__name_of("f", 1);
	uint32_t *head = &segment->heads[bshm__name_head(segment, &name)];
	const uint32_t sound = *head;
	const uint32_t values[] = {0, segment->entry_count + 1, UINT32_MAX, 0x80000000};
	for (size_t i = 0; i < 4; i++) {
		*head = values[i];
		CHECK(has_fresh(segment, "f", "absent") < 0);
		*head = sound;
	}
	entry->next = (uint32_t) (entry - segment->entries) + 1; /* a circle */
	CHECK(has_fresh(segment, "gone", "a") < 0);
	CHECK_INT(has_fresh(segment, "f", "absent"), 0);
}

/* Views that processes keep are told apart by generation: no number may come twice. */
TEST(a_generation_that_was_set_back_is_never_reused)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 500), BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, 500), 0); /* keeps a view */
	const uint64_t kept = entry_of(segment, "f")->generation;
	for (uint64_t back = 0; back <= kept; back++) {
		entry_of(segment, "f")->generation = back;
		for (int i = 0; i < 3; i++) {
			CHECK_INT(load(segment, "f", 1000, 1500), BSHM_OK);
			CHECK(entry_of(segment, "f")->generation != kept);
			CHECK_INT(absent(segment, "f", 1000, 1500), 0);
		}
		CHECK_INT(drop(segment, "f"), 1);
		CHECK_INT(load(segment, "f", 0, 500), BSHM_OK);
	}
}

TEST(the_set_before_does_not_come_back)
{
	segment = open_segment(MB(1));
	for (uint64_t i = 0; i < 5; i++) {
		CHECK_INT(load(segment, "f", i * 1000, i * 1000 + 500), BSHM_OK);
		bshm_entry *entry = entry_of(segment, "f");
		entry->generation--;
		CHECK(has_fresh(segment, "f", "absent") < 0);
		entry->generation += 2;
		CHECK(has_fresh(segment, "f", "absent") < 0);
		entry->generation--;
		CHECK_INT(has_fresh(segment, "f", "absent"), 0);
	}
}

TEST(questions_never_write)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	const size_t bytes = segment->segment_bytes;
	void *before = malloc(bytes);
	REQUIRE(before != NULL);
	memcpy(before, segment->header, bytes);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	CHECK_INT(has(segment, "none", "a"), BSHM_E_NOT_FOUND);
	CHECK(ready(segment, "f"));
	CHECK(memcmp(before, segment->header, bytes) == 0);
	free(before);
}

/* ------------------------------------------------------------------ processes and threads */

static void ask_in_a_child(void)
{
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	CHECK_INT(has(segment, "f", "absent"), 0);
	CHECK_INT(has_fresh(segment, "f", "absent"), 0);
	CHECK(add(segment, "f", "from the child") == 1);
	CHECK_INT(segment->owner, 0); /* none of this needs a slot */
}

TEST(a_forks_child_asks_and_adds_at_once)
{
	segment = open_segment(MB(1));
	CHECK_INT(reserve(segment, "f", 2000, 0.01), 1);
	CHECK(add_numbers(segment, "f", 0, 1000) > 980);
	CHECK_INT(finish(spawn(ask_in_a_child)), 0);
	CHECK_INT(has(segment, "f", "from the child"), 1);
}

static void hold_the_lock(void)
{
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	raise_flag_and_sleep(0);
}

TEST(questions_do_not_wait_for_the_lock)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	const pid_t child = spawn(hold_the_lock);
	await_flag(0);
	stop_child(child);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	CHECK_INT(has_fresh(segment, "f", "absent"), 0);
	CHECK_INT(has(segment, "none", "a"), BSHM_E_NOT_FOUND);
	CHECK(ready(segment, "f"));
	CHECK_INT(stat_of(segment).filters, 1); /* goes on without it */
	CHECK_INT(segment->header->lock_timeouts, 1);
	kill_child(child);
}

static uint32_t loading;

static void *thread_that_asks(void *unused)
{
	(void) unused;
	while (BSHM_LOAD(&loading, ACQUIRE) != 0) {
		for (uint64_t i = 0; i < 100; i++) {
			CHECK_INT(has_number(segment, "f", i), 1);
			CHECK(has_number(segment, "g", i) != 0);
		}
	}
	forget_views();
	return NULL;
}

THREAD_TEST(threads_ask_while_one_loads_drops_and_renames)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	BSHM_STORE(&loading, 1, RELEASE);
	pthread_t threads[3];
	for (int i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, thread_that_asks, NULL);
	}
	for (int i = 0; i < 50; i++) {
		CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
		CHECK_INT(load(segment, "h", 0, 100), BSHM_OK);
		CHECK_INT(rename_filter(segment, "h", "g"), BSHM_OK);
		if (i % 3 == 0) {
			CHECK_INT(drop(segment, "g"), 1);
		}
	}
	BSHM_STORE(&loading, 0, RELEASE);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
	}
	CHECK_INT(faults(segment), 0);
}
