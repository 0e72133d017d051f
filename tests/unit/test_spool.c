/*
 * test_spool.c - the hashes of a load, set aside: all of them, counted, and put where they belong.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/kind.h"
#include "core/filter/partition.h"
#include "core/filter/spool.h"
#include "core/hash.h"

#include <stdlib.h>
#include <string.h>

static bshm_hash hash_of(uint64_t number)
{
	return bshm__hash_key(&number, sizeof(number), 7);
}

static bshm__spool *spool_with(uint64_t keys, int times)
{
	bshm__spool *spool = bshm__spool_new(false);
	REQUIRE(spool != NULL);
	for (int t = 0; t < times; t++) {
		for (uint64_t i = 0; i < keys; i++) {
			REQUIRE(bshm__spool_add(spool, hash_of(i)));
		}
	}
	CHECK_INT(bshm__spool_count(spool), keys * (uint64_t) times);
	return spool;
}

static uint64_t distinct_of(uint64_t keys, int times)
{
	bshm__spool *spool = spool_with(keys, times);
	uint64_t distinct = 0;
	CHECK(bshm__spool_distinct(spool, &distinct));
	bshm__spool_free(spool);
	return distinct;
}

TEST(different_keys_are_counted_exactly)
{
	const uint64_t counts[] = {0, 1, 2, 14, 15, 1000, 65535, 65536, 70000, 300000};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		CHECK_INT(distinct_of(counts[i], 1), counts[i]);
	}
	bshm__spool_free(NULL);
}

TEST(keys_given_again_are_counted_once_when_there_are_few)
{
	CHECK_INT(distinct_of(1, 2), 1);
	CHECK_INT(distinct_of(100, 100), 100);
	CHECK_INT(distinct_of(20000, 3), 20000);
}

/* Estimated from a sample: not too few, and not many too many. */
TEST(keys_given_again_are_counted_about_once_when_there_are_many)
{
	const struct {
		uint64_t keys;
		int times;
	} cases[] = {{40000, 2}, {100000, 2}, {100000, 7}, {500000, 2}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t distinct = distinct_of(cases[i].keys, cases[i].times);
		CHECK(distinct >= cases[i].keys * 99 / 100);
		CHECK(distinct <= cases[i].keys * 110 / 100);
	}
}

TEST(distinct_hashes_are_told_apart_by_both_halves)
{
	bshm_hash hashes[] = {{1, 1}, {1, 2}, {2, 1}, {1, 1}, {0, 0}, {UINT64_MAX, 1}, {1, 2}};
	CHECK_INT(bshm__hashes_distinct(hashes, 7), 5);
	CHECK_INT(bshm__hashes_distinct(hashes, 1), 1);
	CHECK_INT(bshm__hashes_distinct(hashes, 0), 0);
}

/* The bits are those of adding the keys one by one, for any number of partitions. */
TEST(applied_bits_are_those_of_adding)
{
	const uint64_t keys = 50000;
	bshm__spool *spool = spool_with(keys, 1);
	const uint32_t counts[] = {1, 2, 7, 13};
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		const size_t bytes = counts[c] * (size_t) BSHM_PARTITION_BYTES;
		uint64_t *applied = calloc(1, bytes);
		uint64_t *added = calloc(1, bytes);
		REQUIRE(applied != NULL && added != NULL);
		const bshm_view view = {.kind = &bshm__plain,
			.newest = {
				.partitions = (uint8_t *) applied, .partition_count = counts[c], .hash_count = 6}};
		const uint64_t items = bshm__spool_apply(spool, &view);
		for (uint64_t i = 0; i < keys; i++) {
			const bshm_hash h = hash_of(i);
			const uint32_t partition = bshm__hash_partition(h, counts[c]);
			bshm__partition_add(added + (size_t) partition * BSHM_PARTITION_WORDS, h, 6, false);
		}
		CHECK(memcmp(applied, added, bytes) == 0);
		CHECK(items <= keys);
		CHECK(counts[c] < 7 || items > keys * 98 / 100);
		free(applied);
		free(added);
	}
	bshm__spool_free(spool);
}

/* ------------------------------------------------------------------ copies */

/* Offers 3 million hashes, of which every `rare`th is one of `different`, and the others are
 * one. */
static uint64_t kept_of_copies(bool keep_copies, uint64_t different, uint64_t rare)
{
	bshm__spool *copies = bshm__spool_new(keep_copies);
	for (uint64_t i = 0; i < 3000000; i++) {
		const uint64_t key = i % rare == 0 ? i / rare % different : different;
		CHECK(bshm__spool_add(copies, bshm__hash_key(&key, sizeof(key), 1)));
	}
	uint64_t distinct;
	CHECK(bshm__spool_distinct(copies, &distinct));
	CHECK(distinct >= different / 2 && distinct <= 2 * bshm__spool_count(copies));
	const uint64_t kept = bshm__spool_count(copies);
	bshm__spool_free(copies);
	return kept;
}

TEST(copies_take_no_more_memory_than_a_million_hashes)
{
	CHECK(kept_of_copies(false, 1000, 1) < 1100000);
	CHECK(kept_of_copies(false, 20000, 100) < 1100000); /* one key again and again */
	CHECK_INT(kept_of_copies(false, 3000000, 1), 3000000);
	CHECK_INT(kept_of_copies(true, 1000, 1), 3000000);
}
