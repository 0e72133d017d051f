/*
 * test_layers.c - filters that grow: sizes, rates, who makes a layer, and who dies while doing so.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/base.h"
#include "core/filter/geometry.h"
#include "core/filter/kind.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

static bshm_segment *segment;

static int reserve_growing(
	const char *name, uint64_t capacity, double error_rate, uint32_t expansion)
{
	bshm_parameters p = parameters(error_rate, capacity, expansion);
	return bshm_filter_reserve(segment, name, strlen(name), &p, &last_error);
}

/* ------------------------------------------------------------------ arithmetic */

typedef struct {
	bshm_layer layers[BSHM_LAYERS_MAX];
	uint32_t count;
	double rate;         /* if all layers were full: the sum of their shares */
	uint64_t partitions; /* of all layers */
	uint64_t keys;       /* when all are full */
} plan;

/* The layers that a filter of this kind will have. */
static plan plan_of(uint64_t capacity, double error_rate, uint32_t expansion)
{
	const bshm_descriptor d = {
		.kind = BSHM_KIND_GROWING,
		.capacity = capacity,
		.error_rate = bshm__bits(error_rate),
		.expansion = expansion,
		.sized = bshm__is_sized(&bshm__growing, error_rate, capacity),
	};
	plan p = {0};
	uint64_t count;
	while (p.count < BSHM_LAYERS_MAX) {
		bshm_layer *layer = &p.layers[p.count];
		*layer = p.count == 0 ? bshm__layer_first(&d, &count)
							  : bshm__layer_next(&d, &p.layers[0], &p.layers[p.count - 1], &count);
		if (count > BSHM_PARTITION_MAX) {
			break;
		}
		layer->run.count = (uint32_t) count;
		p.rate += bshm__double(layer->error_rate);
		p.partitions += count;
		p.keys += layer->capacity;
		p.count++;
	}
	return p;
}

static const double rates[] = {0.5, 0.1, 0.01, 0.0001, 0.000001};
static const uint32_t expansions[] = {2, 3, 4, 7, 32};
static const uint64_t capacities[] = {1, 100, 3000, 10000, 1000000, 100000000, UINT64_C(1) << 36};

TEST(shares_never_sum_to_more_than_the_rate)
{
	for (size_t r = 0; r < 5; r++) {
		for (size_t e = 0; e < 5; e++) {
			for (size_t c = 0; c < 7; c++) {
				const plan p = plan_of(capacities[c], rates[r], expansions[e]);
				CHECK(p.count >= 1 && p.rate < rates[r]);
				CHECK(p.keys >= capacities[c]);
				for (uint32_t i = 1; i < p.count; i++) {
					CHECK_INT(p.layers[i].run.count,
						(uint64_t) p.layers[i - 1].run.count * expansions[e]);
					CHECK(p.layers[i].capacity > p.layers[i - 1].capacity / 2);
					CHECK(p.layers[i].hash_count >= 1);
				}
			}
		}
	}
}

TEST(ten_million_keys_grown_from_a_hundred)
{
	const plan p = plan_of(100, 0.01, 2);
	uint64_t keys = 0;
	uint64_t bytes = 0;
	uint32_t layers = 0;
	while (keys < 10000000) {
		const uint64_t full = bytes;
		bytes += (uint64_t) p.layers[layers].run.count * BSHM_PARTITION_BYTES;
		if (keys > 8000000) {
			CHECK((double) full * 8 / (double) keys <= 14.4);  /* the newest layer is full, */
			CHECK((double) bytes * 8 / (double) keys <= 29.6); /* and the next has just come */
		}
		keys += p.layers[layers++].capacity;
	}
	CHECK(layers <= 12);
	CHECK(bytes <= 36000000);
	CHECK(p.layers[0].run.count == 1); /* it begins with 8 kB */
}

TEST(the_first_layer_costs_little_more_than_a_fixed_filter)
{
	for (uint64_t capacity = 1000000; capacity <= 1000000000; capacity *= 10) {
		for (size_t r = 0; r < 5; r++) {
			const plan p = plan_of(capacity, rates[r], 2);
			const uint64_t fixed = bshm_geometry_for(rates[r], capacity).partition_count;
			const double more = ((double) p.layers[0].run.count - (double) fixed) *
								BSHM_PARTITION_BITS / (double) capacity;
			CHECK(more <= 1.2);
		}
	}
}

/* ------------------------------------------------------------------ growing */

/* At every size, from the first key to a hundred times the capacity and more. */
static void expect_rate(uint64_t capacity, uint64_t most, double error_rate, uint32_t expansion)
{
	REQUIRE(reserve_growing("f", capacity, error_rate, expansion) == 1);
	uint64_t keys = 0;
	uint64_t step = 1;
	while (keys < most) {
		REQUIRE(add_numbers(segment, "f", keys, keys + step) >= 0);
		keys += step;
		step = keys / 5 + 1;
		const bshm_info info = info_of(segment, "f");
		CHECK(info.estimated_error_rate <= error_rate);
		CHECK(info.items <= keys && info.items <= info.capacity);
		CHECK((double) info.items > (double) keys * (1 - error_rate) - 1);
		uint64_t items = 0;
		for (uint32_t i = 0; i < info.layer_count; i++) {
			items += info.layers[i].items;
		}
		CHECK_INT(items, info.items);
	}
	CHECK_INT(absent(segment, "f", 0, keys), 0);
	CHECK(info_of(segment, "f").layer_count > 1);
	CHECK_INT(faults(segment), 0);
	CHECK_INT(drop(segment, "f"), 1);
	CHECK_INT(stat_of(segment).filter_bytes_free, stat_of(segment).filter_bytes);
}

TEST(the_rate_is_kept_at_every_size)
{
	segment = open_segment(MB(24));
	expect_rate(100, 300000, 0.01, 2);
	expect_rate(1, 20000, 0.5, 2);
	expect_rate(5000, 500000, 0.01, 2);
	expect_rate(5000, 500000, 0.1, 3);
	expect_rate(20000, 200000, 0.0001, 4);
	expect_rate(100, 100000, 0.000001, 32);
}

TEST(a_present_key_takes_no_place)
{
	segment = open_segment(MB(4));
	REQUIRE(reserve_growing("f", 100, 0.01, 2) == 1);
	CHECK(add_numbers(segment, "f", 0, 50000) > 0);
	const bshm_info before = info_of(segment, "f");
	for (int i = 0; i < 5; i++) {
		CHECK_INT(add_numbers(segment, "f", 0, 50000), 0);
	}
	const bshm_info after = info_of(segment, "f");
	CHECK_INT(after.items, before.items);
	CHECK_INT(after.layer_count, before.layer_count);
	CHECK_INT(after.generation, before.generation);
}

TEST(what_cannot_grow_says_so_and_keeps_its_keys)
{
	segment = open_segment(MB(1));
	REQUIRE(reserve_growing("f", 100, 0.01, 2) == 1);
	uint64_t keys = 0;
	int64_t added = 0;
	while (added >= 0 && keys < 10000000) {
		added = add_numbers(segment, "f", keys, keys + 100);
		keys += 100;
	}
	CHECK_INT(added, BSHM_E_NO_SPACE);
	CHECK(last_error.asked == (UINT64_C(128) << 13) && last_error.available < last_error.asked);
	CHECK_INT(absent(segment, "f", 0, keys - 100), 0);
	CHECK_INT(add_numbers(segment, "f", 0, keys - 100), 0);
	CHECK(info_of(segment, "f").estimated_error_rate <= 0.01);
	/* Several: one of them alone may be "there" by chance. */
	CHECK_INT(add_numbers(segment, "f", 1 << 30, (1 << 30) + 100), BSHM_E_NO_SPACE);
	CHECK_INT(reserve(segment, "small", 100, 0.01), 1);
	CHECK_INT(faults(segment), 0);
}

TEST(a_grown_filter_is_moved_copied_and_cleared)
{
	segment = open_segment(MB(4));
	REQUIRE(reserve_growing("f", 100, 0.01, 2) == 1);
	CHECK(add_numbers(segment, "f", 0, 100000) > 0);
	const bshm_info grown = info_of(segment, "f");
	CHECK_INT(copy_filter(segment, "f", "g"), BSHM_OK);
	CHECK_INT(rename_filter(segment, "f", "h"), BSHM_OK);
	CHECK_INT(absent(segment, "g", 0, 100000), 0);
	CHECK_INT(absent(segment, "h", 0, 100000), 0);
	CHECK_INT(info_of(segment, "g").items, grown.items);
	CHECK_INT(info_of(segment, "g").layer_count, grown.layer_count);
	CHECK(add_numbers(segment, "g", 100000, 200000) > 90000);
	CHECK_INT(absent(segment, "g", 0, 200000), 0);
	CHECK_INT(faults(segment), 0);
	CHECK_INT(drop(segment, "g"), 1);
	CHECK_INT(clear(segment, "h"), 1);
	CHECK_INT(info_of(segment, "h").layer_count, 1);
	CHECK_INT(info_of(segment, "h").items, 0);
	CHECK_INT(absent(segment, "h", 0, 100000), 100000);
	CHECK_INT(stat_of(segment).filter_bytes_free + 8192, stat_of(segment).filter_bytes);
	CHECK(add_numbers(segment, "h", 0, 100000) > 0);
	CHECK_INT(absent(segment, "h", 0, 100000), 0);
	CHECK_INT(faults(segment), 0);
}

/* Every second partition is taken: all layers are scattered. */
TEST(it_grows_into_what_is_free)
{
	segment = open_segment(MB(4));
	for (uint64_t i = 0; i < 400; i++) {
		REQUIRE(reserve(segment, numbered("x-", i), 1, 0.01) == 1);
	}
	for (uint64_t i = 0; i < 400; i += 2) {
		CHECK_INT(drop(segment, numbered("x-", i)), 1);
	}
	REQUIRE(load(segment, "rest", 0, 6500 * 100) == BSHM_OK);
	REQUIRE(reserve_growing("f", 100, 0.01, 2) == 1);
	CHECK(add_numbers(segment, "f", 0, 200000) > 0);
	CHECK_INT(absent(segment, "f", 0, 200000), 0);
	CHECK_INT(copy_filter(segment, "f", "g"), BSHM_OK);
	CHECK_INT(absent(segment, "g", 0, 200000), 0);
	CHECK_INT(faults(segment), 0);
}

TEST(it_grows_while_it_is_loaded_anew)
{
	segment = open_segment(MB(4));
	REQUIRE(reserve_growing("f", 100, 0.01, 2) == 1);
	CHECK(add_numbers(segment, "f", 0, 3000) > 0);
	bshm_parameters p = parameters(0.01, 0, 2);
	bshm_build *build;
	REQUIRE(bshm_build_begin(segment, "f", 1, &p, &build, &last_error) == BSHM_OK);
	REQUIRE(offer(build, 1000000, 1010000) == BSHM_OK);
	CHECK(add_numbers(segment, "f", 3000, 5000) > 0);
	CHECK(info_of(segment, "f").layer_count > 1);
	REQUIRE(publish(build, NULL) == BSHM_OK);
	CHECK_INT(absent(segment, "f", 3000, 5000), 0);
	CHECK_INT(absent(segment, "f", 1000000, 1010000), 0);
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ many at once */

static void fill_from_a_process(void)
{
	const uint64_t first = 1000000 * (uint64_t) BSHM_ADD(&test_words[0], 1, RELAXED);
	for (uint64_t i = 0; i < 40000; i += 10) {
		REQUIRE(add_numbers(segment, "f", first + i, first + i + 10) >= 0);
	}
}

TEST(many_grow_it_at_once)
{
	segment = open_segment(MB(8));
	REQUIRE(reserve_growing("f", 100, 0.01, 2) == 1);
	pid_t children[4];
	for (int i = 0; i < 4; i++) {
		children[i] = spawn(fill_from_a_process);
	}
	for (int i = 0; i < 4; i++) {
		CHECK_INT(finish(children[i]), 0);
	}
	for (uint64_t i = 0; i < 4; i++) {
		CHECK_INT(absent(segment, "f", i * 1000000, i * 1000000 + 40000), 0);
	}
	const bshm_info info = info_of(segment, "f");
	CHECK_INT(info.generation, info.layer_count); /* one layer a time, and no time for nothing */
	CHECK(info.items > 158000 && info.items <= 160000);
	CHECK(info.estimated_error_rate <= 0.01);
	CHECK_INT(stat_of(segment).filter_bytes_free + info.bytes, stat_of(segment).filter_bytes);
	CHECK_INT(faults(segment), 0);
}

static bool is_growing(void)
{
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		if (BSHM_LOAD(&segment->ops[i].entry, RELAXED) != 0 &&
			BSHM_LOAD(&segment->ops[i].kind, RELAXED) == BSHM_OP_GROW) {
			return true;
		}
	}
	return false;
}

static void grow_for_ever(void)
{
	for (uint64_t i = 1000000;; i++) {
		add_number(segment, "f", i);
	}
}

/* Stopped in the middle, it is waited for no longer than a page's time; then it is killed. */
TEST(who_grows_it_may_stop_or_die)
{
	segment = open_segment(MB(16));
	int caught = 0;
	for (int round = 0; round < 8; round++) {
		REQUIRE(reserve_growing("f", 100, 0.01, 2) == 1);
		const pid_t child = spawn(grow_for_ever);
		if (!stop_child_when(child, is_growing)) {
			kill_child(child);
			CHECK_INT(drop(segment, "f"), 1);
			continue;
		}
		caught++;
		const int64_t start = test_undelayed_ns();
		const int64_t added = add_numbers(segment, "f", 0, 30000);
		CHECK(added > 0 || added == BSHM_E_TIMEOUT); /* it may hold the lock */
		CHECK(test_undelayed_ns() - start < INT64_C(5000000000));
		kill_child(child);
		CHECK(add_numbers(segment, "f", 0, 30000) >= 0);
		CHECK_INT(absent(segment, "f", 0, 30000), 0);
		const bshm_info info = info_of(segment, "f");
		CHECK(info.estimated_error_rate <= 0.01);
		CHECK_INT(stat_of(segment).filter_bytes_free + info.bytes, stat_of(segment).filter_bytes);
		CHECK_INT(faults(segment), 0);
		CHECK_INT(drop(segment, "f"), 1);
	}
	test_note("caught in the act %d times of 8", caught);
}

static uint64_t next_key;

static void *add_and_look(void *unused)
{
	(void) unused;
	for (int i = 0; i < 3000; i++) {
		const uint64_t key = BSHM_ADD(&next_key, 1, RELAXED);
		CHECK(add_number(segment, "f", key) >= 0);
		CHECK_INT(has_number(segment, "f", key), 1);
	}
	forget_views();
	return NULL;
}

THREAD_TEST(threads_grow_it_at_once)
{
	segment = open_segment(MB(4));
	REQUIRE(reserve_growing("f", 100, 0.01, 2) == 1);
	pthread_t threads[4];
	for (int i = 0; i < 4; i++) {
		REQUIRE(pthread_create(&threads[i], NULL, add_and_look, NULL) == 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
	}
	CHECK_INT(absent(segment, "f", 0, 12000), 0);
	const bshm_info info = info_of(segment, "f");
	CHECK_INT(info.generation, info.layer_count);
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ damage */

TEST(a_damaged_older_layer_answers_maybe)
{
	segment = open_segment(MB(4));
	REQUIRE(reserve_growing("f", 100, 0.01, 2) == 1);
	CHECK(add_numbers(segment, "f", 0, 30000) > 0);
	const bshm_entry *entry = entry_of(segment, "f");
	const bshm_descriptor *d = &entry->descriptor[entry->generation & 1];
	bshm_layer *older = &segment->layers[d->newest.older - 1];
	uint8_t *bytes = (uint8_t *) older;
	for (size_t i = 0; i < sizeof(*older); i++) {
		bytes[i] ^= 0x10;
		CHECK_INT(has_fresh(segment, "f", "a"), BSHM_E_CORRUPT);
		bytes[i] ^= 0x10;
	}
	CHECK_INT(absent(segment, "f", 0, 30000), 0);
	CHECK_INT(faults(segment), 0);
}
