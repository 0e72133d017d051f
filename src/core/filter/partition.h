/*
 * partition.h - the bits of one 8 kB partition.
 *
 * In a published filter a bit is only ever set, by a relaxed atomic OR. Bits have no order among
 * each other: the entry's generation, read before and after them, says whether they may be used
 * (query.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_PARTITION_H
#define BSHM_PARTITION_H

#include "core/bshm.h"
#include "core/format.h"
#include "core/hash.h"
#include "platform/atomic.h"

#include <stdbool.h>

static inline uint64_t bshm__partition_bit(const uint64_t *words, uint32_t position)
{
	return BSHM_LOAD(&words[position >> 6], RELAXED) >> (position & 63);
}

/*
 * Adds bit (position mod 64) of a word to a count. On x86-64 this is one bit test and one add with
 * carry; compiled from C, each of the six shifts would need its count in the same register.
 */
static BSHM_ALWAYS_INLINE uint32_t bshm__word_count(
	uint64_t word, uint64_t position, uint32_t count)
{
#if defined(__x86_64__) && defined(__GNUC__)
	__asm__("btq %1, %2\n\tadcl $0, %0" : "+r"(count) : "r"(position), "r"(word) : "cc");
	return count;
#else
	return count + (uint32_t) (word >> (position & 63) & 1);
#endif
}

static BSHM_ALWAYS_INLINE uint32_t bshm__partition_count(
	const uint64_t *words, uint64_t position, uint32_t count)
{
	return bshm__word_count(BSHM_LOAD(&words[position >> 6], RELAXED), position, count);
}

/* Are the probes after the first six set? */
static inline bool bshm__partition_has_rest(const uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	uint64_t more = 0;
	for (uint32_t i = 6; i < hash_count; i++) {
		more = (i - 6) % 4 == 0 ? bshm__hash_more(h, (i - 6) / 4) : more >> 16;
		if ((bshm__partition_bit(words, more & 0xffff) & 1) == 0) {
			return false;
		}
	}
	return true;
}

/*
 * Are the first six probes of `h` set? They are read without a branch: in a filter at its capacity
 * an early exit would save two loads from the first-level cache, and cost a mispredicted branch.
 */
static BSHM_ALWAYS_INLINE bool bshm__partition_has_six(const uint64_t *words, bshm_hash h)
{
	uint32_t count = 0;
	count = bshm__partition_count(words, h.low & 0xffff, count);
	count = bshm__partition_count(words, h.low >> 16 & 0xffff, count);
	count = bshm__partition_count(words, h.low >> 32 & 0xffff, count);
	count = bshm__partition_count(words, h.low >> 48, count);
	count = bshm__partition_count(words, h.high & 0xffff, count);
	count = bshm__partition_count(words, h.high >> 16 & 0xffff, count);
	return count == 6;
}

static inline bool bshm__partition_has(const uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	if (hash_count >= 6) {
		return bshm__partition_has_six(words, h) && bshm__partition_has_rest(words, h, hash_count);
	}
	for (uint32_t i = 0; i < hash_count; i++) {
		if ((bshm__partition_bit(words, bshm__hash_probe(h, i)) & 1) == 0) {
			return false;
		}
	}
	return true;
}

/* Sets one probe. `alone`: no other process writes the partition. True: it was not set. */
static inline bool bshm__partition_set_bit(uint64_t *words, uint32_t position, bool alone)
{
	uint64_t *word = &words[position >> 6];
	const uint64_t bit = UINT64_C(1) << (position & 63);
	const uint64_t old = BSHM_LOAD(word, RELAXED);
	if (alone) {
		BSHM_STORE(word, old | bit, RELAXED); /* a plain store instead of a locked OR */
		return (old & bit) == 0;
	}
	return (old & bit) == 0 && (BSHM_OR(word, bit, RELAXED) & bit) == 0;
}

/* Sets all probes of `h`; true when this call set at least one bit that was not set. */
static BSHM_ALWAYS_INLINE bool bshm__partition_add(
	uint64_t *words, bshm_hash h, uint32_t hash_count, bool alone)
{
	bool fresh = false;
	for (uint32_t i = 0; i < hash_count; i++) {
		fresh |= bshm__partition_set_bit(words, bshm__hash_probe(h, i), alone);
	}
	return fresh;
}

/* ------------------------------------------------------------------ cells */

/*
 * Sliding and counting filters: 16,384 cells of 4 bits. A probe's two lowest bits are dropped, so
 * it finds its cell in the same word as it would find its bit.
 */
static inline uint32_t bshm__cell_shift(uint32_t probe)
{
	return probe & 60;
}

static inline uint64_t bshm__cell(const uint64_t *words, uint64_t probe)
{
	return BSHM_LOAD(&words[probe >> 6], RELAXED) >> bshm__cell_shift((uint32_t) probe);
}

static BSHM_ALWAYS_INLINE void bshm__partition_prefetch(
	const uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	BSHM_PREFETCH(&words[(h.low & 0xffff) >> 6]);
	BSHM_PREFETCH(&words[(h.low >> 16 & 0xffff) >> 6]);
	BSHM_PREFETCH(&words[(h.low >> 32 & 0xffff) >> 6]);
	BSHM_PREFETCH(&words[h.low >> 54]);
	BSHM_PREFETCH(&words[(h.high & 0xffff) >> 6]);
	BSHM_PREFETCH(&words[(h.high >> 16 & 0xffff) >> 6]);
	uint64_t more = 0;
	for (uint32_t i = 6; i < hash_count; i++) {
		more = (i - 6) % 4 == 0 ? bshm__hash_more(h, (i - 6) / 4) : more >> 16;
		BSHM_PREFETCH(&words[(more & 0xffff) >> 6]);
	}
}

static inline void bshm__partition_zero(uint64_t *words)
{
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		BSHM_STORE(&words[i], 0, RELAXED);
	}
}

static inline uint32_t bshm__partition_popcount(const uint64_t *words)
{
	uint32_t bits = 0;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		bits += BSHM_BIT_COUNT(BSHM_LOAD(&words[i], RELAXED));
	}
	return bits;
}

/* As bshm__kind.merge() and export() of the kinds whose words are bits. */
void bshm__partition_merge(
	const bshm_view *to, uint64_t *to_words, const bshm_view *from, const uint64_t *from_words);
void bshm__partition_export(
	uint64_t *to, const bshm_view *from, const uint64_t *words, uint32_t epoch);

#endif
