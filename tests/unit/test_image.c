/*
 * test_image.c - builds that begin with a filter's file, and the keys that are added to them.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/bshm_origin.h"
#include "core/filter/build.h"
#include "core/segment/sound.h"
#include "platform/platform.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static bshm_segment *segment;

static void make(const char *name, const bshm_parameters *p, uint64_t keys)
{
	REQUIRE(bshm_filter_reserve(segment, name, strlen(name), p, &last_error) == 1);
	REQUIRE(add_numbers(segment, name, 0, keys) > 0);
	bshm_views *views = bshm_views_new();
	uint64_t bytes;
	const bshm_status status =
		bshm_filter_dump(segment, views, name, strlen(name), test_path(name), &bytes, &last_error);
	REQUIRE(status == BSHM_OK);
	bshm_views_free(views);
}

static bshm_build *begin(const char *name, const char *file)
{
	bshm_build *build = NULL;
	const bshm_status status =
		bshm_restore_begin(segment, name, strlen(name), test_path(file), &build, &last_error);
	REQUIRE(status == BSHM_OK);
	return build;
}

static const bshm_parameters fixed = {.error_rate = 0.01, .capacity = 6000};
static const bshm_parameters growing = {.error_rate = 0.01, .capacity = 100, .expansion = 2};
static const bshm_parameters sliding = {.error_rate = 0.01, .capacity = 20000, .window_s = 60};
static const bshm_parameters counting = {.error_rate = 0.01, .capacity = 6000, .counting = true};

TEST(keys_of_every_kind_are_added)
{
	segment = open_segment(MB(4));
	const bshm_parameters *const all[] = {&fixed, &growing, &sliding, &counting};
	static const char *const names[] = {"fixed", "growing", "sliding", "counting"};
	for (int i = 0; i < 4; i++) {
		make(names[i], all[i], 3000);
		bshm_build *build = begin("f", names[i]);
		CHECK_INT(offer(build, 100000, 102000), BSHM_OK);
		CHECK_INT(bshm_build_offered(build), 2000);
		bshm_info info;
		CHECK_INT(bshm_build_publish(build, 0, &info, &last_error), BSHM_OK);
		CHECK_INT(present(segment, "f", 0, 3000), 3000);
		CHECK_INT(present(segment, "f", 100000, 102000), 2000);
		CHECK(present(segment, "f", 200000, 210000) < 200);
		const uint64_t most = all[i] == &sliding ? 5100 : 5000; /* sliding: it is an estimate */
		CHECK(info.items > 4900 && info.items <= most);
		const bshm_info found = info_of(segment, "f");
		CHECK_INT(found.type, info_of(segment, names[i]).type);
		CHECK(found.items > 4900 && found.items < 5100);
		CHECK_INT(faults(segment), 0);
	}
}

/* As many layers as adds to the published filter make. */
TEST(a_filter_that_grows_grows)
{
	segment = open_segment(MB(16));
	make("g", &growing, 3000);
	bshm_build *build = begin("f", "g");
	CHECK_INT(offer(build, 100000, 200000), BSHM_OK);
	bshm_info info;
	CHECK_INT(bshm_build_publish(build, 0, &info, &last_error), BSHM_OK);
	CHECK(add_numbers(segment, "g", 100000, 200000) > 0);
	const bshm_info added = info_of(segment, "g");
	CHECK(info.layer_count > 4);
	CHECK_INT(info.layer_count, added.layer_count);
	CHECK_INT(info.bytes, added.bytes);
	CHECK(info.estimated_error_rate < 0.01);
	uint64_t items = 0;
	for (uint32_t i = 0; i < info.layer_count; i++) {
		CHECK(info.layers[i].items <= info.layers[i].capacity);
		items += info.layers[i].items;
	}
	CHECK_INT(items, info.items);
	CHECK_INT(present(segment, "f", 0, 3000), 3000);
	CHECK_INT(present(segment, "f", 100000, 200000), 100000);
	CHECK_INT(faults(segment), 0);
}

/* Every second filter is dropped, so that no two free partitions are neighbours. */
static void scatter(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		CHECK_INT(reserve(segment, numbered("small", i), 100, 0.01), 1);
	}
	for (uint32_t i = 0; i < count; i += 2) {
		CHECK_INT(drop(segment, numbered("small", i)), 1);
	}
}

TEST(it_grows_where_the_room_is_scattered)
{
	segment = open_segment(MB(2));
	make("g", &growing, 3000);
	scatter(segment->partition_count - info_of(segment, "g").partition_count);
	const uint64_t room = stat_of(segment).filter_bytes_free;
	CHECK_INT(stat_of(segment).largest_free_bytes, BSHM_PARTITION_BYTES);
	bshm_build *build = begin("f", "g");
	CHECK_INT(offer(build, 100000, 150000), BSHM_OK);
	CHECK_INT(faults(segment), 0);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	const bshm_info info = info_of(segment, "f");
	CHECK(info.layer_count > 3);
	CHECK_INT(stat_of(segment).filter_bytes_free, room - info.bytes);
	CHECK_INT(present(segment, "f", 0, 3000), 3000);
	CHECK_INT(present(segment, "f", 100000, 150000), 50000);
	CHECK_INT(faults(segment), 0);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(stat_of(segment).filter_bytes_free, room);
}

TEST(a_full_one_says_so_and_nothing_is_published)
{
	segment = open_segment(MB(2));
	const bshm_parameters *const all[] = {&fixed, &counting};
	static const char *const names[] = {"fixed", "counting"};
	for (int i = 0; i < 2; i++) {
		make(names[i], all[i], 5000);
		bshm_build *build = begin("f", names[i]);
		CHECK_INT(offer(build, 0, 5000), BSHM_OK); /* they are there already */
		CHECK_INT(offer(build, 100000, 102000), BSHM_E_FULL);
		CHECK_INT(last_error.available, 6000);
		CHECK_INT(last_error.asked, 6001);
		bshm_build_abort(build);
		CHECK(!ready(segment, "f"));
		CHECK_INT(op_count(segment), 0);
	}
}

TEST(keys_of_other_hosts_find_a_full_one_with_room)
{
	segment = open_segment(MB(2));
	make("fixed", &fixed, 5000);
	bshm_build *build = begin("f", "fixed");
	for (uint64_t i = 100000; i < 102000; i++) {
		CHECK_INT(bshm_build_receive(build, (const char *) &i, sizeof(i), &last_error), BSHM_OK);
	}
	CHECK_INT(bshm_build_publish(build, 1, NULL, &last_error), BSHM_OK);
	CHECK_INT(present(segment, "f", 100000, 102000), 2000);
	CHECK(info_of(segment, "f").items > 6500);
	CHECK_INT(faults(segment), 0);
}

TEST(no_room_for_a_layer)
{
	segment = open_segment(MB(1));
	make("g", &growing, 3000);
	const uint64_t room = stat_of(segment).filter_bytes_free;
	bshm_build *build = begin("f", "g");
	CHECK_INT(offer(build, 100000, 1000000), BSHM_E_NO_SPACE);
	CHECK_INT(last_error.cause, BSHM_CAUSE_FILTER_MEMORY);
	bshm_build_abort(build);
	CHECK_INT(stat_of(segment).filter_bytes_free, room);
	CHECK_INT(faults(segment), 0);
}

TEST(copies_count_in_a_counting_filter)
{
	segment = open_segment(MB(2));
	make("c", &counting, 10);
	bshm_build *build = begin("f", "c");
	for (int i = 0; i < 3; i++) {
		CHECK_INT(offer(build, 5, 6), BSHM_OK);
	}
	CHECK_INT(publish(build, NULL), BSHM_OK);
	bshm_views *views = bshm_views_new();
	const uint64_t number = 5;
	CHECK_INT(bshm_filter_count(segment, views, "f", 1, (const char *) &number, 8), 4);
	bshm_views_free(views);
}

TEST(a_sliding_filters_keys_are_added_now)
{
	const uint64_t start = bshm_now_ns();
	bshm_clock_set(start);
	segment = open_segment(MB(2));
	make("s", &sliding, 100);
	bshm_build *build = begin("s", "s");
	bshm_clock_set(start + UINT64_C(50000000000));
	CHECK_INT(offer(build, 50, 60), BSHM_OK);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	bshm_clock_set(start + UINT64_C(105000000000));
	CHECK_INT(present(segment, "s", 50, 60), 10);
	CHECK(present(segment, "s", 0, 50) < 5);
}

/* More keys than the journal holds. */
TEST(a_long_build_empties_its_journal)
{
	segment = open_segment(MB(2));
	make("g", &growing, 3000);
	CHECK_INT(reserve(segment, "f", 100000, 0.01), 1);
	bshm_build *build = begin("f", "g");
	const uint64_t count = (uint64_t) segment->chunk_count * BSHM_CHUNK_HASHES * 2;
	for (uint64_t i = 0; i < count; i++) {
		CHECK(add_number(segment, "f", 1000000 + i) >= 0);
		CHECK_INT(offer(build, i % 3000, i % 3000 + 1), BSHM_OK);
	}
	bshm_info info;
	CHECK_INT(bshm_build_publish(build, 0, &info, &last_error), BSHM_OK);
	CHECK_INT(present(segment, "f", 0, 3000), 3000);
	CHECK_INT(present(segment, "f", 1000000, 1000000 + count), count);
	CHECK_INT(faults(segment), 0);
}

TEST(adds_to_a_full_one_are_kept)
{
	segment = open_segment(MB(2));
	make("fixed", &fixed, 5900);
	CHECK_INT(reserve(segment, "f", 100000, 0.01), 1);
	bshm_build *build = begin("f", "fixed");
	CHECK_INT(add_numbers(segment, "f", 1000000, 1001000) > 0, 1);
	CHECK_INT(offer(build, 0, 1), BSHM_OK);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(present(segment, "f", 1000000, 1001000), 1000);
}

TEST(above_the_rate)
{
	segment = open_segment(MB(2));
	make("fixed", &fixed, 5000);
	bshm_build *build = begin("f", "fixed");
	bshm_info info;
	CHECK_INT(bshm_build_publish(build, 1e-6, &info, &last_error), BSHM_E_ERROR_RATE);
	CHECK(!ready(segment, "f"));
	CHECK_INT(op_count(segment), 0);
}

static void begin_and_grow(void)
{
	bshm_build *build = begin("f", "g");
	CHECK_INT(offer(build, 100000, 130000), BSHM_OK);
	raise_flag_and_sleep(0);
}

TEST(a_killed_build_leaves_nothing)
{
	segment = open_segment(MB(4));
	make("g", &growing, 3000);
	CHECK_INT(reserve(segment, "f", 100, 0.01), 1);
	const uint64_t room = stat_of(segment).filter_bytes_free;
	const pid_t child = spawn(begin_and_grow);
	await_flag(0);
	kill_child(child);
	CHECK_INT(stat_of(segment).filter_bytes_free, room);
	CHECK_INT(op_count(segment), 0);
	CHECK_INT(faults(segment), 0);
}

TEST(a_readonly_segment_takes_no_file)
{
	segment = open_segment(MB(1));
	make("fixed", &fixed, 10);
	bshm_build *build;
	CHECK_INT(bshm_restore_begin(
				  open_segment_readonly(), "f", 1, test_path("fixed"), &build, &last_error),
		BSHM_E_READ_ONLY);
}
