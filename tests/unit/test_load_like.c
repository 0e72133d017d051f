/*
 * test_load_like.c - loads that take after the filter that stands.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/build.h"
#include "core/segment/sound.h"
#include "platform/platform.h"

#include <string.h>

static bshm_segment *segment;

static const bshm_parameters like = {.error_rate = 0.01, .expansion = 2, .like = true};

static bshm_build *begin(const char *name, const bshm_parameters *parameters)
{
	bshm_build *build = NULL;
	const bshm_status status =
		bshm_build_begin(segment, name, strlen(name), parameters, &build, &last_error);
	REQUIRE(status == BSHM_OK);
	return build;
}

static bshm_info load_as(
	const char *name, const bshm_parameters *parameters, uint64_t from, uint64_t to)
{
	bshm_info info;
	bshm_build *build = begin(name, parameters);
	CHECK_INT(offer(build, from, to), BSHM_OK);
	CHECK_INT(bshm_build_publish(build, 0, &info, &last_error), BSHM_OK);
	CHECK_INT(present(segment, name, from, to), to - from);
	return info;
}

static bshm_descriptor descriptor_of(const char *name)
{
	const bshm_entry *entry = entry_of(segment, name);
	return bshm__descriptor_read(entry, entry->generation);
}

static uint64_t seed_of(const char *name)
{
	return descriptor_of(name).seed;
}

TEST(the_first_has_a_seed_of_its_own_and_room_for_the_next)
{
	segment = open_segment(MB(4));
	const bshm_info info = load_as("f", &like, 0, 100000);
	load_as("g", &like, 0, 100000);
	CHECK(seed_of("f") != seed_of("g"));
	CHECK(info.capacity >= 125000 && info.capacity < 135000);
	CHECK_INT(info.layer_count, 1);
}

TEST(a_set_that_fits_keeps_seed_and_size_and_most_bits)
{
	segment = open_segment(MB(4));
	const bshm_info first = load_as("f", &like, 0, 100000);
	const uint64_t seed = seed_of("f");
	const uint64_t sizes[] = {first.capacity, first.capacity * 6 / 10 + 1, 100000};
	for (size_t i = 0; i < 3; i++) {
		const bshm_info next = load_as("f", &like, 1000, 1000 + sizes[i]);
		CHECK_INT(next.capacity, first.capacity);
		CHECK_INT(next.partition_count, first.partition_count);
		CHECK_INT(next.hash_count, first.hash_count);
		CHECK(next.estimated_error_rate <= 0.01);
		CHECK(seed_of("f") == seed);
	}
	CHECK_INT(faults(segment), 0);
}

TEST(equal_sets_have_equal_bits)
{
	segment = open_segment(MB(4));
	load_as("f", &like, 0, 50000);
	CHECK_INT(copy_filter(segment, "f", "before"), BSHM_OK);
	load_as("f", &like, 0, 50000);
	const bshm_descriptor a = descriptor_of("before");
	const bshm_descriptor b = descriptor_of("f");
	CHECK_INT(a.newest.run.count, b.newest.run.count);
	CHECK(a.newest.run.check == 0 && b.newest.run.check == 0);
	CHECK(memcmp(segment->partitions + (size_t) a.newest.run.first * BSHM_PARTITION_BYTES,
			  segment->partitions + (size_t) b.newest.run.first * BSHM_PARTITION_BYTES,
			  (size_t) a.newest.run.count * BSHM_PARTITION_BYTES) == 0);
}

TEST(a_set_that_is_too_large_or_small_gets_a_size_of_its_own)
{
	segment = open_segment(MB(8));
	const bshm_info first = load_as("f", &like, 0, 100000);
	const uint64_t seed = seed_of("f");
	const uint64_t more = first.capacity + 1;
	const bshm_info large = load_as("f", &like, 0, more);
	CHECK(large.capacity >= more / 8 * 10 && large.capacity < more / 8 * 10 + 15000);
	const uint64_t less = large.capacity * 6 / 10 - 1;
	const bshm_info small = load_as("f", &like, 0, less);
	CHECK(small.capacity >= less / 8 * 10 && small.capacity < less / 8 * 10 + 15000);
	CHECK(seed_of("f") == seed);
}

TEST(a_filter_that_has_grown_is_made_in_one_layer)
{
	segment = open_segment(MB(8));
	const bshm_info first = load_as("f", &like, 0, 20000);
	const uint64_t seed = seed_of("f");
	CHECK(add_numbers(segment, "f", 100000, 100000 + first.capacity) > 0);
	CHECK_INT(info_of(segment, "f").layer_count, 2);
	const bshm_info next = load_as("f", &like, 0, 20000);
	CHECK_INT(next.layer_count, 1);
	CHECK(seed_of("f") == seed);
}

TEST(a_hint_counts_as_so_many_keys_at_least)
{
	segment = open_segment(MB(8));
	bshm_parameters hinted = like;
	hinted.capacity = 100000;
	const bshm_info first = load_as("f", &hinted, 0, 1000);
	CHECK(first.capacity >= 125000);
	const bshm_info next = load_as("f", &hinted, 0, 2000);
	CHECK_INT(next.capacity, first.capacity);
	hinted.capacity = first.capacity + 1;
	CHECK(load_as("f", &hinted, 0, 2000).capacity > first.capacity);
}

TEST(kind_rate_and_expansion_are_taken_over)
{
	segment = open_segment(MB(8));
	const bshm_parameters kinds[] = {
		{.error_rate = 0.001, .capacity = 1000},
		{.error_rate = 0.02, .capacity = 1000, .expansion = 4},
		{.error_rate = 0.001, .capacity = 1000, .counting = true},
		{.error_rate = 0.001, .capacity = 1000, .window_s = 60},
	};
	static const char *const types[] = {"fixed", "scalable", "counting", "sliding"};
	for (size_t i = 0; i < 4; i++) {
		CHECK_INT(
			bshm_filter_reserve(segment, types[i], strlen(types[i]), &kinds[i], &last_error), 1);
		const bshm_descriptor before = descriptor_of(types[i]);
		const bshm_info info = load_as(types[i], &like, 0, 1000);
		const bshm_descriptor after = descriptor_of(types[i]);
		CHECK_INT(after.kind, before.kind);
		CHECK_INT(after.expansion, before.expansion);
		CHECK_INT(after.window_s, before.window_s);
		CHECK(after.seed == before.seed && after.error_rate == before.error_rate);
		CHECK(info.estimated_error_rate <= kinds[i].error_rate * 1.5);
	}
	CHECK_INT(faults(segment), 0);
}

TEST(what_is_named_must_be_the_same)
{
	segment = open_segment(MB(2));
	load_as("f", &like, 0, 1000);
	const uint64_t generation = entry_of(segment, "f")->generation;
	const struct {
		bshm_parameters parameters;
		bshm_cause cause;
	} differences[] = {
		{{.error_rate = 0.02, .expansion = 2, .named = BSHM_NAMED_ERROR_RATE},
			BSHM_CAUSE_ERROR_RATE},
		{{.error_rate = 0.01, .expansion = 4, .named = BSHM_NAMED_EXPANSION}, BSHM_CAUSE_EXPANSION},
		{{.error_rate = 0.01, .counting = true, .named = BSHM_NAMED_COUNTING}, BSHM_CAUSE_COUNTING},
	};
	for (size_t i = 0; i < 3; i++) {
		bshm_parameters parameters = differences[i].parameters;
		bshm_build *build;
		parameters.like = true;
		CHECK_INT(
			bshm_build_begin(segment, "f", 1, &parameters, &build, &last_error), BSHM_E_EXISTS);
		CHECK_INT(last_error.cause, differences[i].cause);
		parameters.named = 0;
		load_as("g", &parameters, 0, 10);
		CHECK_INT(drop(segment, "g"), 1);
	}
	CHECK_INT(entry_of(segment, "f")->generation, generation);
	CHECK_INT(op_count(segment), 0);
}

/* Seed and size are those of the filter at the begin, whatever is published meanwhile. */
TEST(replaced_or_dropped_meanwhile)
{
	segment = open_segment(MB(4));
	const bshm_info first = load_as("f", &like, 0, 50000);
	const uint64_t seed = seed_of("f");
	for (int i = 0; i < 2; i++) {
		bshm_build *build = begin("f", &like);
		CHECK_INT(offer(build, 0, 50000), BSHM_OK);
		if (i == 0) {
			CHECK_INT(load(segment, "f", 0, 10), BSHM_OK);
		} else {
			CHECK_INT(drop(segment, "f"), 1);
		}
		bshm_info info;
		CHECK_INT(publish(build, &info), BSHM_OK);
		CHECK_INT(info.capacity, first.capacity);
		CHECK(seed_of("f") == seed);
		CHECK_INT(present(segment, "f", 0, 50000), 50000);
	}
}

TEST(adds_during_the_load_are_in_it)
{
	segment = open_segment(MB(4));
	load_as("f", &like, 0, 50000);
	bshm_build *build = begin("f", &like);
	for (uint64_t i = 0; i < 3000; i++) {
		CHECK_INT(offer(build, i, i + 1), BSHM_OK);
		CHECK(add_number(segment, "f", 1000000 + i) >= 0);
	}
	CHECK_INT(offer(build, 3000, 50000), BSHM_OK);
	CHECK_INT(publish(build, NULL), BSHM_OK);
	CHECK_INT(present(segment, "f", 1000000, 1003000), 3000);
}

TEST(a_damaged_filter_is_like_none)
{
	segment = open_segment(MB(4));
	load_as("f", &like, 0, 50000);
	const uint64_t seed = seed_of("f");
	bshm_entry *entry = entry_of(segment, "f");
	entry->descriptor[entry->generation & 1].capacity ^= 1;
	load_as("f", &like, 0, 50000);
	CHECK(seed_of("f") != seed);
}
