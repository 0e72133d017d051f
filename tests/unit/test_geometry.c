/*
 * test_geometry.c - sizes and rates: what was promised, and what is measured.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/segment/sound.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double bits_per_key(double rate, uint64_t keys)
{
	const bshm_geometry g = bshm_geometry_for(rate, keys);
	return (double) (g.partition_count * BSHM_PARTITION_BITS) / (double) keys;
}

TEST(memory_a_key_is_as_promised)
{
	const struct {
		double rate;
		double bits;
	} promised[] = {{0.01, 10.3}, {0.001, 15.2}, {0.0001, 20.4}};
	const uint64_t counts[] = {1000000, 1234567, 10000000, 100000000, UINT64_C(10000000000)};
	for (size_t i = 0; i < 3; i++) {
		for (size_t j = 0; j < 5; j++) {
			CHECK(bits_per_key(promised[i].rate, counts[j]) <= promised[i].bits);
		}
	}
}

TEST(every_rate_has_a_geometry)
{
	const double rates[] = {0.5, 0.499999, 0.3, 0.1, 0.01, 1e-3, 1e-6, 1e-9, 1e-12, 1e-19, 1e-100,
		DBL_MIN, 4.9406564584124654e-324};
	const uint64_t counts[] = {1, 2, 1000, 6430, 6431, 1000000, BSHM_CAPACITY_MAX};
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		for (size_t j = 0; j < sizeof(counts) / sizeof(counts[0]); j++) {
			const bshm_geometry g = bshm_geometry_for(rates[i], counts[j]);
			CHECK(g.hash_count >= 1 && g.hash_count <= BSHM_HASHES_MAX);
			CHECK(g.keys_per_partition >= 1 && g.keys_per_partition <= BSHM_PARTITION_BITS);
			CHECK(g.partition_count >= 1);
			CHECK(g.partition_count * g.keys_per_partition >= counts[j]);
			CHECK((g.partition_count - 1) * g.keys_per_partition < counts[j]);
		}
	}
}

TEST(one_percent_takes_six_probes)
{
	const bshm_geometry g = bshm_geometry_for(0.01, 1000000);
	CHECK_INT(g.hash_count, 6);
	CHECK(g.keys_per_partition > 6400 && g.keys_per_partition < 6815);
}

TEST(a_stricter_rate_never_takes_less_memory)
{
	uint64_t partitions = 0;
	for (double rate = 0.5; rate > 1e-15; rate *= 0.9) {
		const bshm_geometry g = bshm_geometry_for(rate, 100000000);
		CHECK(g.partition_count >= partitions);
		partitions = g.partition_count;
	}
}

/* ------------------------------------------------------------------ measured */

#define KEYS   300000
#define PROBES UINT64_C(1000000)

static double chance(uint64_t probes, double rate, double deviations)
{
	return deviations * sqrt(rate / (double) probes);
}

/* Keys and probes are fixed, and the seed: what is measured is the same on every machine. */
static void measure(double rate, uint64_t probes)
{
	bshm_segment *segment = open_segment(MB(8));
	bshm_parameters p = parameters(rate, 0, 0);
	p.seed = "geometry";
	p.seed_length = 8;
	bshm_build *build;
	REQUIRE(bshm_build_begin(segment, "f", 1, &p, &build, &last_error) == BSHM_OK);
	REQUIRE(offer(build, 0, KEYS) == BSHM_OK);
	bshm_info info;
	REQUIRE(bshm_build_publish(build, rate, &info, &last_error) == BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, KEYS), 0);
	const double wrong = (double) present(segment, "f", KEYS, KEYS + probes) / (double) probes;
	test_note("%g asked, %g estimated, %g measured, %g worst partition, %.2f bits a key", rate,
		info.estimated_error_rate, wrong, info.worst_partition_error_rate,
		8 * (double) info.bytes / KEYS);
	CHECK(info.estimated_error_rate <= rate);
	/* The 5 %, and room for chance where few are expected to be wrong. */
	const double room = fmax(0.05 * wrong, chance(probes, info.estimated_error_rate, 4));
	CHECK(fabs(info.estimated_error_rate - wrong) <= room);
	CHECK(wrong <= rate + chance(probes, rate, 4));
	CHECK(info.worst_partition_error_rate >= info.estimated_error_rate);
	bshm_segment_close(segment);
}

TEST(measured_at_one_half)
{
	measure(0.5, PROBES);
}

TEST(measured_at_ten_percent)
{
	measure(0.1, PROBES);
}

TEST(measured_at_one_percent)
{
	measure(0.01, 4 * PROBES);
}

TEST(measured_at_a_tenth_of_a_percent)
{
	measure(0.001, 4 * PROBES);
}

TEST(measured_at_a_hundredth_of_a_percent)
{
	measure(0.0001, 4 * PROBES);
}

TEST(measured_at_a_millionth)
{
	measure(0.000001, PROBES);
}

TEST(a_rate_nobody_can_measure_still_finds_its_keys)
{
	bshm_segment *segment = open_segment(MB(4));
	const double rates[] = {1e-12, 1e-19, DBL_MIN};
	for (int i = 0; i < 3; i++) {
		CHECK_INT(reserve(segment, "f", 200, rates[i]), 1);
		CHECK_INT(add_numbers(segment, "f", 0, 200), 200);
		CHECK_INT(absent(segment, "f", 0, 200), 0);
		CHECK_INT(present(segment, "f", 10000, 110000), 0);
		/* One key a partition, 64 probes: what 8 kB can do at the very least. */
		CHECK(info_of(segment, "f").estimated_error_rate <= fmax(rates[i], 1e-120));
		CHECK_INT(drop(segment, "f"), 1);
	}
}

/* fill, mean and worst, worked out by hand. */
TEST(rates_are_those_of_the_partitions)
{
	bshm_segment *segment = open_segment(MB(1));
	const uint64_t keys = bshm_geometry_for(0.01, 1).keys_per_partition;
	REQUIRE(reserve(segment, "f", 4 * keys, 0.01) == 1);
	const bshm_entry *entry = entry_of(segment, "f");
	const bshm_descriptor d = bshm__descriptor_read(entry, entry->generation);
	REQUIRE(d.newest.run.count == 4 && d.newest.run.check == 0);
	uint8_t *bits = segment->partitions + (size_t) d.newest.run.first * BSHM_PARTITION_BYTES;
	memset(bits, 0xff, BSHM_PARTITION_BYTES);            /* full: 1 */
	memset(bits + BSHM_PARTITION_BYTES, 0x0f, 8192);     /* half: 1/64 */
	memset(bits + 2 * BSHM_PARTITION_BYTES, 0x11, 8192); /* a quarter: 1/4096 */
	const bshm_info info = info_of(segment, "f");
	CHECK(fabs(info.fill - (1 + 0.5 + 0.25) / 4) < 1e-12);
	CHECK(fabs(info.estimated_error_rate - (1 + 1.0 / 64 + 1.0 / 4096) / 4) < 1e-12);
	CHECK(info.worst_partition_error_rate == 1);
}

static bshm_info estimate_of(bshm_segment *segment, const char *name, uint32_t partitions)
{
	bshm_info info;
	bshm_views *views = bshm_views_new();
	REQUIRE(views != NULL);
	REQUIRE(bshm_filter_estimate(segment, views, name, strlen(name), partitions, &info) == BSHM_OK);
	bshm_views_free(views);
	return info;
}

TEST(an_estimate_reads_partitions_that_are_spread_over_the_layer)
{
	bshm_segment *segment = open_segment(MB(1));
	const uint64_t keys = bshm_geometry_for(0.01, 1).keys_per_partition;
	REQUIRE(reserve(segment, "f", 4 * keys, 0.01) == 1);
	const bshm_descriptor d =
		bshm__descriptor_read(entry_of(segment, "f"), entry_of(segment, "f")->generation);
	uint8_t *bits = segment->partitions + (size_t) d.newest.run.first * BSHM_PARTITION_BYTES;
	memset(bits + BSHM_PARTITION_BYTES, 0xff, BSHM_PARTITION_BYTES);
	memset(bits + 2 * BSHM_PARTITION_BYTES, 0x0f, BSHM_PARTITION_BYTES);
	CHECK(estimate_of(segment, "f", 1).estimated_error_rate == 0);
	CHECK(fabs(estimate_of(segment, "f", 2).fill - 0.5 / 2) < 1e-12);
	CHECK(fabs(estimate_of(segment, "f", 2).worst_partition_error_rate - 1.0 / 64) < 1e-12);
	CHECK(fabs(estimate_of(segment, "f", 3).fill - (1 + 0.5) / 3) < 1e-12);
	CHECK(fabs(estimate_of(segment, "f", UINT32_MAX).fill - (1 + 0.5) / 4) < 1e-12);
}

/* The difference as a share of what is right. */
static double off_by(double estimate, double right)
{
	return fabs(estimate - right) / right;
}

TEST(an_estimate_is_near_what_all_bits_say)
{
	bshm_segment *segment = open_segment(MB(16));
	const bshm_parameters kinds[] = {parameters(0.01, 1000000, 0), parameters(0.01, 1000, 8),
		{.error_rate = 0.01, .capacity = 1000000, .window_s = 3600},
		{.error_rate = 0.01, .capacity = 500000, .counting = true}};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		REQUIRE(bshm_filter_reserve(segment, "f", 1, &kinds[i], &last_error) == 1);
		REQUIRE(add_numbers(segment, "f", 0, 400000) > 0);
		CHECK_INT(has_number(segment, "f", 1), 1);
		bshm_info all = info_of(segment, "f");
		bshm_info some = estimate_of(segment, "f", 32);
		test_note("%s: %u partitions, fill %.1e off, rate %.1e off", all.type, all.partition_count,
			off_by(some.fill, all.fill),
			off_by(some.estimated_error_rate, all.estimated_error_rate));
		CHECK(all.partition_count > 64);
		CHECK(off_by(some.fill, all.fill) < 0.03);
		CHECK(off_by(some.estimated_error_rate, all.estimated_error_rate) < 0.15);
		CHECK(off_by((double) some.items, (double) all.items) < 0.03);
		CHECK(all.window_s != 0 || some.items == all.items);
		CHECK_INT(some.capacity, all.capacity);
		CHECK_INT(some.bytes, all.bytes);
		CHECK_INT(some.partition_count, all.partition_count);
		CHECK_INT(some.layer_count, all.layer_count);
		CHECK_INT(some.usage.questions, 1);
		CHECK(some.error_rate == all.error_rate && some.published_s == all.published_s);
		CHECK_INT(drop(segment, "f"), 1);
	}
}
