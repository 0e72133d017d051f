/*
 * test_sliding.c - sliding filters on an engine clock: how long keys live, turning, clearing.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/mend.h"
#include "core/filter/sliding.h"
#include "core/segment/directory.h"
#include "core/segment/lock.h"
#include "core/segment/sound.h"
#include "platform/platform.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define WINDOW 30u
#define EPOCH  (WINDOW * SECOND / 3)

static bshm_segment *segment;
static uint64_t now;

static void set_clock(uint64_t ns)
{
	now = ns;
	bshm_clock_set(ns);
}

static int reserve_window(const char *name, uint64_t capacity, uint32_t window_s)
{
	bshm_parameters p = parameters(0.01, capacity, 0);
	p.window_s = window_s;
	p.seed = "seed";
	p.seed_length = 4;
	return bshm_filter_reserve(segment, name, strlen(name), &p, &last_error);
}

/* A segment whose clock stands at the beginning of an epoch, and a filter. */
static void stand(void)
{
	set_clock(1000000 * SECOND);
	segment = open_segment(MB(2));
	const uint64_t into = (now + segment->clock_offset) % EPOCH;
	set_clock(now + EPOCH - into);
	REQUIRE(reserve_window("f", 3000, WINDOW) == 1);
}

static bshm_entry *entry(void)
{
	return entry_of(segment, "f");
}

static const bshm_descriptor *descriptor(void)
{
	return &entry()->descriptor[entry()->generation & 1];
}

static uint64_t *words_of(const bshm_descriptor *d, uint32_t partition)
{
	return (uint64_t *) (void *) (segment->partitions + (size_t) (d->newest.run.first + partition) *
															BSHM_PARTITION_BYTES);
}

/* ------------------------------------------------------------------ how long a key lives */

/* Added at any moment of an epoch, in steps through more than two windows; nothing else happens. */
TEST(a_key_lives_for_its_window_and_at_most_a_third_longer)
{
	stand();
	const uint64_t start = now;
	const uint64_t step = EPOCH / 7;
	for (uint64_t phase = 0; phase < 4 * EPOCH; phase += step) {
		set_clock(start + 100 * EPOCH * (phase / step + 1) + phase);
		const uint64_t added = now;
		CHECK_INT(add_number(segment, "f", 1000 + phase), 1);
		for (uint64_t age = 0; age <= 3 * WINDOW * SECOND; age += SECOND / 4) {
			set_clock(added + age);
			const int found = has_number(segment, "f", 1000 + phase);
			if (age <= WINDOW * SECOND) {
				CHECK_INT(found, 1);
			} else if (age >= WINDOW * SECOND / 3 * 4) {
				CHECK_INT(found, 0);
			}
		}
	}
}

/* A scheme of two filters that rotate every half window drops keys of a bit more than that age. */
TEST(the_lifetime_is_never_half_a_window)
{
	stand();
	for (uint64_t i = 0; i < 200; i++) {
		CHECK(add_number(segment, "f", i) >= 0);
		set_clock(now + SECOND / 3);
		for (uint64_t age = 0; age <= i && age < 3 * WINDOW; age++) {
			CHECK_INT(has_number(segment, "f", i - age), 1);
		}
	}
}

TEST(an_idle_filter_expires)
{
	stand();
	CHECK(add_numbers(segment, "f", 0, 1000) > 900);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	set_clock(now + 4 * EPOCH);
	CHECK_INT(absent(segment, "f", 0, 1000), 1000);
	CHECK_INT(info_of(segment, "f").items, 0);
	CHECK(info_of(segment, "f").estimated_error_rate == 0);
	set_clock(now + 1000000 * EPOCH);
	CHECK_INT(absent(segment, "f", 0, 1000), 1000);
	CHECK_INT(faults(segment), 0);
}

/* One add is enough, also if the key is still found from before. */
TEST(one_add_refreshes_for_a_whole_window)
{
	stand();
	CHECK_INT(add_number(segment, "f", 7), 1);
	for (int i = 0; i < 50; i++) {
		set_clock(now + WINDOW * SECOND);
		CHECK_INT(has_number(segment, "f", 7), 1);
		CHECK_INT(add_number(segment, "f", 7), 0);
	}
	set_clock(now + WINDOW * SECOND);
	CHECK_INT(has_number(segment, "f", 7), 1);
	set_clock(now + EPOCH);
	CHECK_INT(has_number(segment, "f", 7), 0);
}

/* Counting lanes instead of keys would say too many, counting new bits only too few. */
TEST(refreshed_keys_count_once)
{
	stand();
	for (int round = 0; round < 12; round++) {
		CHECK(add_numbers(segment, "f", 0, 1000) >= 0);
		const uint64_t items = info_of(segment, "f").items;
		CHECK(items > 950 && items < 1050);
		set_clock(now + EPOCH * 2 / 3);
	}
}

TEST(clear_is_complete_at_once_and_touches_no_partition)
{
	stand();
	for (int i = 0; i < 4; i++) {
		CHECK(add_numbers(segment, "f", 0, 1000) >= 0);
		set_clock(now + EPOCH);
	}
	CHECK(add_numbers(segment, "f", 0, 1000) >= 0);
	uint64_t before[BSHM_PARTITION_WORDS];
	memcpy(before, words_of(descriptor(), 0), sizeof(before));
	CHECK_INT(clear(segment, "f"), 1);
	CHECK_INT(absent(segment, "f", 0, 1000), 1000);
	CHECK(memcmp(before, words_of(descriptor(), 0), sizeof(before)) == 0);
	CHECK_INT(info_of(segment, "f").items, 0);
	CHECK_INT(add_number(segment, "f", 5), 1);
	CHECK_INT(has_number(segment, "f", 5), 1);
	CHECK_INT(absent(segment, "f", 10, 1000), 990);
	set_clock(now + WINDOW * SECOND);
	CHECK_INT(has_number(segment, "f", 5), 1);
	set_clock(now + 2 * EPOCH);
	CHECK_INT(absent(segment, "f", 0, 1000), 1000);
}

/* Adds a key, clears, and looks: it is gone, and one that is added then lives for the window. */
static void clear_and_live(const char *name, uint64_t window_ns)
{
	const uint64_t added = now;
	CHECK_INT(add_number(segment, name, 1), 1);
	CHECK_INT(bshm_filter_clear(segment, name, strlen(name), &last_error), 1);
	CHECK_INT(has_number(segment, name, 1), 0);
	CHECK_INT(add_number(segment, name, 2), 1);
	set_clock(added + window_ns);
	CHECK_INT(has_number(segment, name, 1), 0);
	CHECK_INT(has_number(segment, name, 2), 1);
	set_clock(added + window_ns / 3 * 4 + 4);
	CHECK_INT(has_number(segment, name, 2), 0);
}

/* However often it is cleared, and whatever becomes of it then. */
TEST(ten_thousand_clears_are_as_good_as_one)
{
	static const uint32_t windows[] = {1, 30 * 86400, BSHM_WINDOW_MAX_S};
	for (int w = 0; w < 3; w++) {
		const uint64_t window_ns = windows[w] * SECOND;
		set_clock(1000000 * SECOND);
		segment = open_segment(MB(2));
		CHECK_INT(reserve_window("f", 3000, windows[w]), 1);
		for (uint64_t i = 0; i < 10000 && !test_failed(); i++) {
			CHECK_INT(add_number(segment, "f", 1), 1);
			CHECK_INT(clear(segment, "f"), 1);
			CHECK_INT(has_number(segment, "f", 1), 0);
			set_clock(now + (i % 8 == 0 ? SECOND / 10 : 0));
		}
		CHECK_INT(add_number(segment, "f", 7), 1);
		CHECK_INT(copy_filter(segment, "f", "copy"), BSHM_OK);
		bshm_views *views = bshm_views_new();
		uint64_t bytes;
		CHECK_INT(bshm_filter_dump(segment, views, "f", 1, test_path("dump"), &bytes, &last_error),
			BSHM_OK);
		bshm_views_free(views);
		CHECK_INT(bshm_filter_restore(segment, "old", 3, test_path("dump"), &last_error), BSHM_OK);
		CHECK_INT(rename_filter(segment, "f", "moved"), BSHM_OK);
		CHECK_INT(reserve_window("sum", 3000, windows[w]), 1);
		const bshm_key from = {"moved", 5};
		CHECK_INT(bshm_filter_merge(segment, "sum", 3, &from, 1, &last_error), BSHM_OK);
		CHECK_INT(clear(segment, "sum"), 1);
		CHECK_INT(absent(segment, "sum", 7, 8), 1);
		CHECK_INT(bshm_filter_merge(segment, "sum", 3, &from, 1, &last_error), BSHM_OK);
		static const char *const all[] = {"moved", "copy", "old", "sum"};
		for (int i = 0; i < 4; i++) {
			CHECK_INT(has_number(segment, all[i], 7), 1);
			CHECK_INT(has_number(segment, all[i], 1), 0);
		}
		for (int i = 0; i < 4; i++) {
			clear_and_live(all[i], window_ns);
			CHECK_INT(has_number(segment, all[i], 7), 0);
		}
		CHECK_INT(faults(segment), 0);
		forget_views();
		bshm_segment_close(segment);
		REQUIRE(unlink(test_path("segment")) == 0);
	}
}

/* Epochs are counted modulo 2^32: a filter goes through the end of the numbers like any other. */
TEST(epochs_may_wrap)
{
	for (uint32_t before = 0; before < 24; before++) {
		stand();
		bshm_entry *f = entry();
		bshm_descriptor d = bshm__descriptor_read(f, f->generation);
		d.epoch_base = UINT32_MAX - BSHM_EPOCH_FIRST - before; /* `before` epochs before the wrap */
		for (uint32_t i = 0; i < d.newest.run.count; i++) {
			*bshm__epoch_word(segment, words_of(&d, i)) =
				(uint64_t) (UINT32_MAX - before) << 32 | (UINT32_MAX - before);
		}
		REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
		bshm__entry_publish(segment, (uint32_t) (f - segment->entries), &d, 0);
		bshm__unlock(segment);
		CHECK_INT(add_number(segment, "f", 3), 1);
		CHECK_INT(copy_filter(segment, "f", "copy"), BSHM_OK);
		set_clock(now + WINDOW * SECOND);
		CHECK_INT(has_number(segment, "f", 3), 1);
		CHECK_INT(has_number(segment, "copy", 3), 1);
		set_clock(now + EPOCH);
		CHECK_INT(has_number(segment, "f", 3), 0);
		CHECK_INT(has_number(segment, "copy", 3), 0);
		for (int i = 0; i < 8; i++) {
			clear_and_live("f", WINDOW * SECOND);
		}
		CHECK_INT(drop(segment, "f"), 1);
		CHECK_INT(drop(segment, "copy"), 1);
		forget_views();
		bshm_segment_close(segment);
	}
}

/* What was there before is gone, and what is added afterwards lives as long as anything. */
TEST(drop_and_reserve_begins_anew)
{
	stand();
	CHECK(add_numbers(segment, "f", 0, 1000) > 0);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(add(segment, "f", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(reserve_window("f", 3000, WINDOW), 1);
	CHECK_INT(absent(segment, "f", 0, 1000), 1000);
	CHECK_INT(add_number(segment, "f", 1), 1);
	set_clock(now + WINDOW * SECOND);
	CHECK_INT(has_number(segment, "f", 1), 1);
}

TEST(the_rate_is_kept_at_an_even_flow)
{
	stand();
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(reserve_window("f", 30 * 230, WINDOW), 1); /* two partitions, used to the full */
	double worst = 0;
	for (uint64_t s = 0; s < 4 * WINDOW; s++) {
		CHECK(add_numbers(segment, "f", s * 230, s * 230 + 230) >= 0);
		const double rate = info_of(segment, "f").estimated_error_rate;
		worst = rate > worst ? rate : worst;
		set_clock(now + SECOND);
	}
	CHECK(worst > 0.005 && worst < 0.01);
}

TEST(a_burst_is_never_full_and_shows_in_the_rate)
{
	stand();
	for (uint64_t i = 0; i < 20; i++) {
		CHECK(add_numbers(segment, "f", i * 1000, i * 1000 + 1000) >= 0);
	}
	CHECK_INT(absent(segment, "f", 0, 20000), 0);
	CHECK(info_of(segment, "f").estimated_error_rate > 0.05);
}

/* ------------------------------------------------------------------ turning */

TEST(a_turn_that_was_cut_off_is_done_again)
{
	stand();
	CHECK(add_numbers(segment, "f", 0, 1000) > 0);
	set_clock(now + EPOCH);
	uint64_t *word = bshm__epoch_word(segment, words_of(descriptor(), 0));
	const uint64_t at_rest = *word;
	*word = (at_rest & ~UINT64_C(0xffffffff)) | ((at_rest & 0xffffffff) + 1); /* begun, not ended */
	CHECK_INT(absent(segment, "f", 0, 1000), 0);                              /* asking goes on */
	CHECK(add_number(segment, "f", 5000) >= 0);
	CHECK(*word == at_rest + 0x100000001);
	CHECK_INT(has_number(segment, "f", 5000), 1);
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	set_clock(now + WINDOW * SECOND);
	CHECK_INT(has_number(segment, "f", 5000), 1);
	CHECK_INT(absent(segment, "f", 0, 1000), 1000);
}

static void hold_the_lock(void)
{
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	raise_flag_and_sleep(0);
}

TEST(an_add_that_cannot_turn_says_so_in_time)
{
	stand();
	CHECK(add_number(segment, "f", 1) >= 0);
	set_clock(now + EPOCH);
	const pid_t child = spawn(hold_the_lock);
	await_flag(0);
	CHECK_INT(add_number_once(segment, "f", 2), BSHM_E_TIMEOUT);
	CHECK_INT(has_number(segment, "f", 1), 1);
	kill_child(child);
	CHECK_INT(add_number(segment, "f", 2), 1);
	CHECK_INT(has_number(segment, "f", 1), 1);
}

TEST(a_clock_that_goes_back_answers_maybe)
{
	stand();
	CHECK(add_numbers(segment, "f", 0, 500) > 0);
	set_clock(now - 1000 * EPOCH);
	CHECK_INT(absent(segment, "f", 0, 500), 0);
}

/* ------------------------------------------------------------------ threads */

#define KEYS 64

static uint64_t added_at[KEYS]; /* the clock when an add of the key had returned; 0: not yet */
static uint32_t stop;

static void *keep_adding(void *unused)
{
	(void) unused;
	while (BSHM_LOAD(&stop, RELAXED) == 0) {
		for (uint64_t key = 0; key < KEYS; key++) {
			const uint64_t before = bshm_os_clock_ns();
			const int added = add_number(segment, "f", key);
			CHECK(added >= 0 || added == BSHM_E_TIMEOUT);
			if (added >= 0) {
				BSHM_STORE(&added_at[key], before, RELEASE);
			}
		}
	}
	forget_views();
	return NULL;
}

static void *keep_asking(void *unused)
{
	(void) unused;
	while (BSHM_LOAD(&stop, RELAXED) == 0) {
		for (uint64_t key = 0; key < KEYS; key++) {
			const uint64_t added = BSHM_LOAD(&added_at[key], ACQUIRE);
			const int found = has_number(segment, "f", key);
			const uint64_t after = bshm_os_clock_ns();
			if (added != 0 && after - added < WINDOW * SECOND) {
				CHECK_INT(found, 1);
			}
		}
	}
	forget_views();
	return NULL;
}

THREAD_TEST(keys_are_found_while_the_clock_runs)
{
	stand();
	pthread_t threads[4];
	for (int i = 0; i < 4; i++) {
		REQUIRE(pthread_create(&threads[i], NULL, i < 2 ? keep_adding : keep_asking, NULL) == 0);
	}
	for (int i = 0; i < 1500; i++) {
		set_clock(now + EPOCH / 5);
		bshm_os_sleep_us(1000);
	}
	BSHM_STORE(&stop, 1, RELAXED);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
	}
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ copies */

TEST(a_copy_ages_with_its_source)
{
	stand();
	CHECK(add_numbers(segment, "f", 0, 500) > 0);
	set_clock(now + 2 * EPOCH);
	CHECK(add_numbers(segment, "f", 500, 1000) > 0);
	CHECK_INT(copy_filter(segment, "f", "copy"), BSHM_OK);
	CHECK_INT(rename_filter(segment, "copy", "moved"), BSHM_OK);
	CHECK_INT(absent(segment, "moved", 0, 1000), 0);
	set_clock(now + EPOCH);
	CHECK_INT(absent(segment, "moved", 0, 1000), 0);
	set_clock(now + EPOCH);
	CHECK(absent(segment, "moved", 0, 500) > 490);
	CHECK_INT(absent(segment, "moved", 500, 1000), 0);
	set_clock(now + 2 * EPOCH);
	CHECK_INT(absent(segment, "moved", 0, 1000), 1000);
}

/* Epochs that begin at other times: a key lives at least its window, and at most two thirds
 * more. */
TEST(filters_with_other_epochs_can_be_merged)
{
	for (uint64_t apart = 0; apart < EPOCH; apart += EPOCH / 5) {
		stand();
		REQUIRE(reserve_window("g", 3000, WINDOW) == 1);
		bshm_entry *g = entry_of(segment, "g");
		bshm_descriptor d = bshm__descriptor_read(g, g->generation);
		d.origin_ns -= apart + 3 * EPOCH;
		REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
		bshm__entry_publish(segment, (uint32_t) (g - segment->entries), &d, 0);
		bshm__unlock(segment);
		CHECK_INT(add_number(segment, "f", 1), 1);
		CHECK_INT(add_number(segment, "g", 2), 1);
		const uint64_t added = now;
		set_clock(now + EPOCH + EPOCH / 3);
		const bshm_key from = {"g", 1};
		CHECK_INT(bshm_filter_merge(segment, "f", 1, &from, 1, &last_error), BSHM_OK);
		for (uint64_t age = now - added; age < 3 * WINDOW * SECOND; age += SECOND) {
			set_clock(added + age);
			CHECK(age > WINDOW * SECOND || has_number(segment, "f", 1) == 1);
			CHECK(age > WINDOW * SECOND || has_number(segment, "f", 2) == 1);
			CHECK(age < WINDOW * SECOND / 3 * 4 || has_number(segment, "f", 1) == 0);
			CHECK(age < WINDOW * SECOND / 3 * 5 || has_number(segment, "f", 2) == 0);
		}
		CHECK_INT(drop(segment, "f"), 1);
		CHECK_INT(drop(segment, "g"), 1);
	}
}
