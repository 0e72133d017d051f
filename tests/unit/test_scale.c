/*
 * test_scale.c - keys that were chosen to do harm, and numbers beyond 32 bits.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/partition.h"
#include "core/hash.h"
#include "core/segment/sound.h"

#include <math.h>
#include <string.h>
#include <sys/statvfs.h>

static bshm_segment *segment;

/* ------------------------------------------------------------------ chosen keys */

#define CHOSEN     100000
#define PARTITIONS 16

static void add_chosen(const char *name, uint64_t known_seed)
{
	uint64_t number = 0;
	for (int added = 0; added < CHOSEN; number++) {
		const bshm_hash h = bshm__hash_key(&number, sizeof(number), known_seed);
		if (bshm__hash_partition(h, PARTITIONS) == 3) {
			REQUIRE(add_number(segment, name, number) >= 0);
			added++;
		}
	}
}

/* The number of bits set in each partition: the most, and the mean. */
static void survey(const char *name, double *most, double *mean)
{
	const bshm_entry *entry = entry_of(segment, name);
	const bshm_run run = bshm__descriptor_read(entry, entry->generation).newest.run;
	REQUIRE(run.count == PARTITIONS && run.check == 0);
	*most = *mean = 0;
	for (uint32_t i = 0; i < run.count; i++) {
		const uint8_t *bytes =
			segment->partitions + (size_t) (run.first + i) * BSHM_PARTITION_BYTES;
		const double bits = bshm__partition_popcount((const uint64_t *) (const void *) bytes);
		*most = fmax(*most, bits);
		*mean += bits / PARTITIONS;
	}
}

TEST(keys_chosen_against_one_seed_do_nothing_to_another)
{
	segment = open_segment(MB(1));
	bshm_parameters p = parameters(0.01, CHOSEN, 0);
	REQUIRE(bshm_geometry_for(0.01, CHOSEN).partition_count == PARTITIONS);
	p.seed = "known";
	p.seed_length = 5;
	REQUIRE(bshm_filter_reserve(segment, "known", 5, &p, &last_error) == 1);
	p.seed = NULL;
	REQUIRE(bshm_filter_reserve(segment, "secret", 6, &p, &last_error) == 1);
	const uint64_t known_seed = bshm__checksum("known", 5, 0);
	add_chosen("known", known_seed);
	add_chosen("secret", known_seed);
	double most;
	double mean;
	survey("known", &most, &mean);
	CHECK(most > 0.99 * BSHM_PARTITION_BITS); /* against their own seed they work */
	survey("secret", &most, &mean);
	CHECK(mean > 0.3 * BSHM_PARTITION_BITS);
	/* 6,250 keys a partition, within six standard deviations: 7.6 %, of which the bits see less. */
	CHECK(most < mean * 1.08);
	CHECK(info_of(segment, "secret").worst_partition_error_rate < 0.015);
}

TEST(seeds_are_random)
{
	segment = open_segment(MB(1));
	uint64_t seeds[50];
	for (uint64_t i = 0; i < 50; i++) {
		const char *name = numbered("f", i);
		REQUIRE(reserve(segment, name, 10, 0.01) == 1);
		const bshm_entry *entry = entry_of(segment, name);
		seeds[i] = bshm__descriptor_read(entry, entry->generation).seed;
		for (uint64_t k = 0; k < i; k++) {
			CHECK(seeds[k] != seeds[i]);
		}
	}
}

/* ------------------------------------------------------------------ many filters */

TEST(ten_thousand_filters_are_found_in_one_step_or_two)
{
	segment = open_segment(MB(80));
	for (uint64_t i = 0; i < 10000; i++) {
		REQUIRE(reserve(segment, numbered("filter ", i), 10, 0.01) == 1);
	}
	uint64_t steps = 0;
	uint32_t longest = 0;
	for (uint32_t head = 0; head < segment->head_count; head++) {
		uint32_t length = 0;
		for (uint32_t at = segment->heads[head]; at != 0; at = segment->entries[at - 1].next) {
			steps += ++length;
		}
		longest = length > longest ? length : longest;
	}
	CHECK(steps < 15000);
	CHECK(longest < 12);
	for (uint64_t i = 0; i < 10000; i++) {
		CHECK_INT(has(segment, numbered("filter ", i), "a"), 0);
	}
}

/* ------------------------------------------------------------------ beyond 32 bits */

#define BITS_32 (UINT64_C(1) << 32)

/* More than 2^32 keys at one half: 6,600,000,000 bits in 830 MB. */
TEST(more_than_two_to_the_32_bits_and_keys)
{
	struct statvfs fs;
	const uint64_t bytes = UINT64_C(900) << 20;
	if (statvfs(test_path(""), &fs) != 0 || (uint64_t) fs.f_bavail * fs.f_bsize < 2 * bytes) {
		test_skip("no room for a segment of 900 MB");
	}
	segment = open_segment(bytes);
	const uint64_t capacity = BITS_32 + 100000000;
	REQUIRE(reserve(segment, "f", capacity, 0.5) == 1);
	bshm_entry *entry = entry_of(segment, "f");
	const bshm_descriptor d = bshm__descriptor_read(entry, entry->generation);
	entry->items[d.items_slot] = BITS_32 - 500;
	CHECK(add_numbers(segment, "f", 0, 100000) > 99000);
	CHECK_INT(absent(segment, "f", 0, 100000), 0);
	CHECK(absent(segment, "f", 200000, 300000) > 99000);
	const bshm_info info = info_of(segment, "f");
	CHECK(info.bytes * 8 > BITS_32 && info.capacity == capacity);
	CHECK(info.items > BITS_32 + 98000 && info.items <= BITS_32 + 100000);
	/* The keys are all over it, the last tenth included. */
	uint64_t beyond = 0;
	for (uint64_t i = 0; i < 100000; i++) {
		const bshm_hash h = bshm__hash_key(&i, sizeof(i), d.seed);
		beyond += bshm__hash_partition(h, d.newest.run.count) > d.newest.run.count / 10 * 9;
	}
	CHECK(beyond > 9000 && beyond < 11000);
	entry->items[d.items_slot] = capacity - 1;
	CHECK_INT(add_numbers(segment, "f", 1000000, 1000100), BSHM_E_FULL);
	CHECK(last_error.available == capacity && last_error.asked > capacity);
}

TEST(two_to_the_40_keys_are_refused_at_once)
{
	segment = open_segment(MB(1));
	CHECK_INT(reserve(segment, "f", BSHM_CAPACITY_MAX, 0.01), BSHM_E_NO_SPACE);
	CHECK(last_error.asked > UINT64_C(1384) * 1000 * 1000 * 1000);
	CHECK_INT(last_error.available, MB(1));
	CHECK_INT(reserve(segment, "f", BSHM_CAPACITY_MAX, 1e-300), BSHM_E_NO_SPACE);
	const uint32_t kinds[] = {2, 32};
	for (int i = 0; i < 2; i++) {
		const bshm_parameters p = parameters(1e-9, BSHM_CAPACITY_MAX, kinds[i]);
		CHECK_INT(bshm_filter_reserve(segment, "f", 1, &p, &last_error), BSHM_E_NO_SPACE);
	}
	CHECK_INT(stat_of(segment).filter_bytes_free, MB(1));
	CHECK_INT(faults(segment), 0);
}
