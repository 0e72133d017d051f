/*
 * test_hash.c - key to partition and probes: the part of the format that is arithmetic.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/growing.h"
#include "core/filter/partition.h"
#include "core/hash.h"
#include "core/layout.h"

#include <math.h>
#include <string.h>

static bshm_hash hash_of(uint64_t number)
{
	return bshm__hash_key(&number, sizeof(number), 42);
}

/* ------------------------------------------------------------------ the format */

#define LONG_KEY                                                                                   \
 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde" \
 "f0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd" \
 "ef0123456789abcdef0123456789abcdef0123456789abcdef"

/*
 * Another value in these tests is another format: segments that stand would answer wrongly. The
 * first hash is XXH3-128's published one of the empty string.
 */
static const struct {
	const char *key;
	uint64_t seed, low, high;
	uint32_t of_128, of_2_30; /* partitions */
	uint32_t probes[17];      /* 0..15 and 63 */
} golden[] = {
	{"", 0, 0x6001c324468d497f, 0x99aa06d3014798d8, 76, 644514228,
		{18815, 18061, 49956, 24577, 39128, 327, 46602, 50590, 15395, 44069, 36834, 62056, 4280,
			56211, 33478, 38815, 54821}},
	{"a", 1, 0xd2f6d0996f37a720, 0xfdd9b77fdcaf3221, 126, 1064725983,
		{42784, 28471, 53401, 54006, 12833, 56495, 54233, 64144, 63361, 65515, 25024, 16590, 19501,
			7592, 63111, 32658, 1644}},
	{"articles/12345", UINT64_MAX, 0x667295af43137212, 0xc397a5067cf0781f, 97, 820373825,
		{29202, 17171, 38319, 26226, 30751, 31984, 39667, 50184, 30055, 36318, 54063, 17119, 59647,
			10788, 16109, 13643, 35941}},
	{LONG_KEY, 99, 0x02ce2fdf552141bc, 0x65a86e39d8f9ab09, 50, 426384270,
		{16828, 21793, 12255, 718, 43785, 55545, 3482, 19934, 22210, 2514, 43764, 9808, 56253, 2843,
			37729, 49750, 19259}},
};

TEST(golden_values_of_hash_partition_and_probes)
{
	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
		const bshm_hash h = bshm__hash_key(golden[i].key, strlen(golden[i].key), golden[i].seed);
		CHECK(h.low == golden[i].low);
		CHECK(h.high == golden[i].high);
		CHECK_INT(bshm__hash_partition(h, 1), 0);
		CHECK_INT(bshm__hash_partition(h, 128), golden[i].of_128);
		CHECK_INT(bshm__hash_partition(h, 1u << 30), golden[i].of_2_30);
		for (uint32_t p = 0; p < 16; p++) {
			CHECK_INT(bshm__hash_probe(h, p), golden[i].probes[p]);
		}
		CHECK_INT(bshm__hash_probe(h, 63), golden[i].probes[16]);
	}
	CHECK(bshm__checksum("seed", 4, 0) == 0x37bbe8a87eadd62a);
	CHECK(bshm__checksum("bloomshm", 8, 12345) == 0xed0231d0a919200e);
	CHECK(bshm__layout_word() == 0x791cbe1bb858adee);
}

TEST(six_probes_and_the_pick_use_each_bit_once)
{
	const bshm_hash h = {0x4444333322221111, 0xfedcba9866665555};
	const uint32_t slices[] = {0x1111, 0x2222, 0x3333, 0x4444, 0x5555, 0x6666};
	for (uint32_t p = 0; p < 6; p++) {
		CHECK_INT(bshm__hash_probe(h, p), slices[p]);
	}
	CHECK_INT(bshm__hash_partition(h, 0x10000), 0xfedc);
	for (int bit = 0; bit < 128; bit++) {
		bshm_hash other = h;
		if (bit < 64) {
			other.low ^= UINT64_C(1) << bit;
		} else {
			other.high ^= UINT64_C(1) << (bit - 64);
		}
		int changed =
			bshm__hash_partition(h, UINT32_MAX) != bshm__hash_partition(other, UINT32_MAX);
		for (uint32_t p = 0; p < 6; p++) {
			changed += bshm__hash_probe(h, p) != bshm__hash_probe(other, p);
		}
		CHECK_INT(changed, 1);
	}
}

/* ------------------------------------------------------------------ properties */

TEST(partitions_and_probes_stay_in_range)
{
	const uint32_t counts[] = {1, 2, 3, 127, 128, 12345, 1u << 20, BSHM_PARTITION_MAX};
	const bshm_hash extremes[] = {
		{0, 0}, {UINT64_MAX, UINT64_MAX}, {0, UINT64_MAX}, {UINT64_MAX, 0}};
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		for (uint64_t i = 0; i < 10000; i++) {
			const bshm_hash h = i < 4 ? extremes[i] : hash_of(i);
			CHECK(bshm__hash_partition(h, counts[c]) < counts[c]);
		}
	}
	for (uint64_t i = 0; i < 2000; i++) {
		const bshm_hash h = i < 4 ? extremes[i] : hash_of(i);
		for (uint32_t p = 0; p < BSHM_HASHES_MAX; p++) {
			CHECK(bshm__hash_probe(h, p) < BSHM_PARTITION_BITS);
		}
	}
}

/* What lets a build sort its keys before it knows the number of partitions. */
TEST(a_greater_hash_never_has_a_smaller_partition)
{
	const uint32_t counts[] = {1, 2, 3, 7, 128, 129, 99991, BSHM_PARTITION_MAX};
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		uint32_t last = 0;
		for (uint64_t i = 0; i < 100000; i++) {
			const bshm_hash h = {0, i * (UINT64_MAX / 100000)};
			const uint32_t partition = bshm__hash_partition(h, counts[c]);
			CHECK(partition >= last);
			last = partition;
		}
		CHECK(counts[c] > 1000 || last == counts[c] - 1);
	}
}

/* Chi-square, as deviations from its mean: 99.99 % of fair hashes lie within 5. */
static double unevenness(const uint32_t *counts, size_t bins, uint64_t total)
{
	const double expected = (double) total / (double) bins;
	double chi = 0;
	for (size_t i = 0; i < bins; i++) {
		const double off = counts[i] - expected;
		chi += off * off / expected;
	}
	return (chi - (double) (bins - 1)) / sqrt(2.0 * (double) (bins - 1));
}

TEST(keys_are_spread_evenly)
{
	static uint32_t partitions[1000];
	static uint32_t probes[BSHM_HASHES_MAX][256];
	const uint64_t total = 200000;
	for (uint64_t i = 0; i < total; i++) {
		const bshm_hash h = hash_of(i);
		partitions[bshm__hash_partition(h, 1000)]++;
		for (uint32_t p = 0; p < BSHM_HASHES_MAX; p++) {
			probes[p][bshm__hash_probe(h, p) >> 8]++;
		}
	}
	CHECK(fabs(unevenness(partitions, 1000, total)) < 5);
	for (uint32_t p = 0; p < BSHM_HASHES_MAX; p++) {
		CHECK(fabs(unevenness(probes[p], 256, total)) < 5);
	}
}

/* Two probes of a key that were always alike would be one. */
TEST(probes_do_not_follow_each_other)
{
	static uint32_t alike[BSHM_HASHES_MAX][BSHM_HASHES_MAX];
	const uint64_t total = 40000;
	for (uint64_t i = 0; i < total; i++) {
		const bshm_hash h = hash_of(i);
		uint32_t high[BSHM_HASHES_MAX];
		for (uint32_t p = 0; p < BSHM_HASHES_MAX; p++) {
			high[p] = bshm__hash_probe(h, p) >> 10;
		}
		for (uint32_t p = 0; p < BSHM_HASHES_MAX; p++) {
			for (uint32_t q = 0; q < p; q++) {
				alike[p][q] += high[p] == high[q];
			}
		}
	}
	const double expected = (double) total / 64;
	for (uint32_t p = 0; p < BSHM_HASHES_MAX; p++) {
		for (uint32_t q = 0; q < p; q++) {
			CHECK(fabs(alike[p][q] - expected) < 6 * sqrt(expected));
		}
	}
}

TEST(seeds_change_everything)
{
	const bshm_hash first = bshm__hash_key("key", 3, 1);
	const bshm_hash second = bshm__hash_key("key", 3, 2);
	CHECK(first.low != second.low && first.high != second.high);
	CHECK(bshm__checksum("key", 3, 1) != bshm__checksum("key", 3, 2));
}

/* ------------------------------------------------------------------ bits of a partition */

/* By the definition: every position's bit, one after the other. */
static bool all_set(const uint64_t *words, bshm_hash h, uint32_t k)
{
	for (uint32_t i = 0; i < k; i++) {
		const uint32_t position = bshm__hash_probe(h, i);
		if ((words[position / 64] >> (position % 64) & 1) == 0) {
			return false;
		}
	}
	return true;
}

/* The same for a growing filter: six of its bits lie in three words of one line. */
static bool line_set(const uint64_t *words, bshm_hash h, uint32_t k)
{
	for (uint32_t i = 0; i < k && i < 6; i++) {
		const uint64_t part = h.low >> (18 * (i / 2));
		const uint64_t word = (h.low >> 57) * 8 + (part >> 12 & 7);
		const uint64_t bit = i % 2 == 0 ? part & 63 : part >> 6 & 63;
		if ((words[word] >> bit & 1) == 0) {
			return false;
		}
	}
	for (uint32_t i = 6; i < k; i++) {
		const uint32_t position = bshm__hash_probe(h, i);
		if ((words[position / 64] >> (position % 64) & 1) == 0) {
			return false;
		}
	}
	return true;
}

static bool line_has(const uint64_t *words, bshm_hash h, uint32_t k)
{
	const bshm__line line = bshm__hash_line(h, k);
	return bshm__line_has(words, &line) && bshm__partition_has_rest(words, h, k);
}

TEST(a_partition_holds_what_was_set)
{
	static uint64_t atomic[BSHM_PARTITION_WORDS];
	static uint64_t plain[BSHM_PARTITION_WORDS];
	static uint64_t copy[BSHM_PARTITION_WORDS];
	for (uint32_t k = 1; k <= BSHM_HASHES_MAX; k++) {
		bshm__partition_zero(atomic);
		bshm__partition_zero(plain);
		CHECK_INT(bshm__partition_popcount(atomic), 0);
		for (uint64_t i = 0; i < 500; i++) {
			const bshm_hash h = hash_of(i);
			const bool had = bshm__partition_has(atomic, h, k);
			CHECK_INT(bshm__partition_add(atomic, h, k, false), !had);
			CHECK_INT(bshm__partition_add(plain, h, k, true), !had);
			CHECK(bshm__partition_has(atomic, h, k));
			CHECK(all_set(atomic, h, k));
			CHECK(!bshm__partition_add(atomic, h, k, false));
			CHECK(!bshm__partition_add(plain, h, k, true));
		}
		CHECK(memcmp(atomic, plain, sizeof(atomic)) == 0);
		CHECK(bshm__partition_popcount(atomic) <= 500 * k);
		bshm__partition_zero(copy);
		bshm__partition_merge(NULL, copy, NULL, atomic);
		CHECK(memcmp(atomic, copy, sizeof(atomic)) == 0);
		uint32_t found = 0;
		for (uint64_t i = 1000; i < 3000; i++) {
			CHECK_INT(bshm__partition_has(atomic, hash_of(i), k), all_set(atomic, hash_of(i), k));
			found += bshm__partition_has(atomic, hash_of(i), k);
		}
		CHECK(found < 100);
	}
}

TEST(a_growing_filters_partition_holds_what_was_set)
{
	static uint64_t atomic[BSHM_PARTITION_WORDS];
	static uint64_t plain[BSHM_PARTITION_WORDS];
	for (uint32_t k = 1; k <= BSHM_HASHES_MAX; k++) {
		bshm__partition_zero(atomic);
		bshm__partition_zero(plain);
		for (uint64_t i = 0; i < 500; i++) {
			const bshm_hash h = hash_of(i);
			const bool had = line_has(atomic, h, k);
			CHECK_INT(bshm__line_add(atomic, h, k, false), !had);
			CHECK_INT(bshm__line_add(plain, h, k, true), !had);
			CHECK(line_has(atomic, h, k) && line_set(atomic, h, k));
			CHECK(!bshm__line_add(atomic, h, k, false));
		}
		CHECK(memcmp(atomic, plain, sizeof(atomic)) == 0);
		uint32_t found = 0;
		for (uint64_t i = 1000; i < 3000; i++) {
			CHECK_INT(line_has(atomic, hash_of(i), k), line_set(atomic, hash_of(i), k));
			CHECK(k != 6 ||
				  bshm__line_has_six(atomic, hash_of(i)) == line_has(atomic, hash_of(i), k));
			found += line_has(atomic, hash_of(i), k);
		}
		CHECK(found < 100);
	}
}

/* Of one hash the bits are at the 16-bit positions, in words of 64 from the lowest bit up. */
TEST(bits_are_where_the_format_says)
{
	static uint64_t words[BSHM_PARTITION_WORDS];
	const bshm_hash h = {0xffff004000010000, 0x0000000080003fc0};
	CHECK(bshm__partition_add(words, h, 6, false));
	CHECK_INT(bshm__partition_popcount(words), 6);
	CHECK(words[0] == 3);
	CHECK(words[1] == 1);
	CHECK(words[1023] == UINT64_C(1) << 63);
	CHECK(words[0x3fc0 / 64] == 1);
	CHECK(words[0x8000 / 64] == 1);
}
