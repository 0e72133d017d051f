/*
 * test_shard.h - the words of one shard's records, for tests that look at them, or damage them.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_SHARD_H
#define BSHM_TEST_SHARD_H

#include "core/cache/locate.h"
#include "test_store.h"

static bshm_segment *segment;
static bshm__shard s;

static inline uint32_t *word_at(uint32_t ref, uint32_t number)
{
	uint8_t *slot = bshm__ref_at(&s, ref, BSHM_SLOT_BYTES_MIN);
	REQUIRE(slot != NULL);
	return bshm__slot_word(slot, number);
}

static inline uint32_t word(uint32_t ref, uint32_t number)
{
	return BSHM_LOAD(word_at(ref, number), RELAXED);
}

static inline void set_word(uint32_t ref, uint32_t number, uint32_t value)
{
	BSHM_STORE(word_at(ref, number), value, RELAXED);
}

/* Where a record that is there stands. */
static inline bshm__existing locate(uint32_t number)
{
	const uint64_t key_bytes = number;
	const bshm_key key = {(const char *) &key_bytes, 8};
	const bshm__home home = bshm__home_of(segment, BSHM_SPACE_CACHE, &key);
	bshm__existing at;
	bshm__locate(&s, &home, BSHM_SPACE_CACHE, &key, &at);
	REQUIRE(at.cell != 0);
	return at;
}

#endif
