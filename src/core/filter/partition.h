/*
 * partition.h - the bits of one 8 kB partition.
 *
 * Bits are only ever set, by a relaxed atomic OR of the word that lacks them; whether an answer
 * read from them counts is decided by the entry's generation, read around it (query.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_PARTITION_H
#define BSHM_PARTITION_H

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
 * carry; the compiler's own shift wants the one register that can count it, six times.
 */
static inline __attribute__((always_inline)) uint32_t bshm__word_count(
	uint64_t word, uint64_t position, uint32_t count)
{
#if defined(__x86_64__) && defined(__GNUC__)
	__asm__("btq %1, %2\n\tadcl $0, %0" : "+r"(count) : "r"(position), "r"(word) : "cc");
	return count;
#else
	return count + (uint32_t) (word >> (position & 63) & 1);
#endif
}

static inline __attribute__((always_inline)) uint32_t bshm__partition_count(
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
 * Are the first six probes of `h` set? They are read without a branch: for a filter at its
 * capacity an early exit would save two loads from the first-level cache and cost a misprediction.
 */
static inline __attribute__((always_inline)) bool bshm__partition_has_six(
	const uint64_t *words, bshm_hash h)
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

/* Sets one probe. `alone`: nobody else writes the partition. True: it was not set. */
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
static inline bool bshm__partition_add(
	uint64_t *words, bshm_hash h, uint32_t hash_count, bool alone)
{
	bool fresh = false;
	for (uint32_t i = 0; i < hash_count; i++) {
		fresh |= bshm__partition_set_bit(words, bshm__hash_probe(h, i), alone);
	}
	return fresh;
}

/* ------------------------------------------------------------------ growing filters */

/* Are the bits of the line set in the partition? */
static inline __attribute__((always_inline)) bool bshm__line_has(
	const uint64_t *words, const bshm__line *line)
{
	/* In this form a loop over layers needs one instruction a word besides the load. */
	const uint64_t a = BSHM_LOAD(&words[line->word[0]], RELAXED) | ~line->bits[0];
	const uint64_t b = BSHM_LOAD(&words[line->word[1]], RELAXED) | ~line->bits[1];
	const uint64_t c = BSHM_LOAD(&words[line->word[2]], RELAXED) | ~line->bits[2];
	return (a & b & c) == UINT64_MAX;
}

/* The same for six probes of a key that is asked for in one layer: without making masks first. */
static inline __attribute__((always_inline)) bool bshm__line_has_six(
	const uint64_t *words, bshm_hash h)
{
	const uint64_t *line = words + (h.low >> 57) * BSHM_LINE_WORDS;
	uint32_t count = 0;
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t probes = h.low >> (18 * i);
		const uint64_t word = BSHM_LOAD(&line[probes >> 12 & (BSHM_LINE_WORDS - 1)], RELAXED);
		count = bshm__word_count(word, probes, count);
		count = bshm__word_count(word, probes >> 6, count);
	}
	return count == BSHM_LINE_PROBES;
}

/* As bshm__partition_add(). */
static inline bool bshm__line_add(uint64_t *words, bshm_hash h, uint32_t hash_count, bool alone)
{
	const bshm__line line = bshm__hash_line(h, hash_count);
	bool fresh = false;
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t *word = &words[line.word[i]];
		const uint64_t bits = line.bits[i];
		const uint64_t old = BSHM_LOAD(word, RELAXED);
		if (alone) {
			BSHM_STORE(word, old | bits, RELAXED);
			fresh |= (old & bits) != bits;
		} else if ((old & bits) != bits) {
			fresh |= (BSHM_OR(word, bits, RELAXED) & bits) != bits;
		}
	}
	for (uint32_t i = BSHM_LINE_PROBES; i < hash_count; i++) {
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

static inline __attribute__((always_inline)) void bshm__partition_prefetch(
	const uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	__builtin_prefetch(&words[(h.low & 0xffff) >> 6]);
	__builtin_prefetch(&words[(h.low >> 16 & 0xffff) >> 6]);
	__builtin_prefetch(&words[(h.low >> 32 & 0xffff) >> 6]);
	__builtin_prefetch(&words[h.low >> 54]);
	__builtin_prefetch(&words[(h.high & 0xffff) >> 6]);
	__builtin_prefetch(&words[(h.high >> 16 & 0xffff) >> 6]);
	uint64_t more = 0;
	for (uint32_t i = 6; i < hash_count; i++) {
		more = (i - 6) % 4 == 0 ? bshm__hash_more(h, (i - 6) / 4) : more >> 16;
		__builtin_prefetch(&words[(more & 0xffff) >> 6]);
	}
}

static inline void bshm__partition_zero(uint64_t *words)
{
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		BSHM_STORE(&words[i], 0, RELAXED);
	}
}

/* The union, in a partition that nobody else writes. */
static inline void bshm__partition_merge(uint64_t *to, const uint64_t *from)
{
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		const uint64_t word = BSHM_LOAD(&to[i], RELAXED) | BSHM_LOAD(&from[i], RELAXED);
		BSHM_STORE(&to[i], word, RELAXED);
	}
}

static inline uint32_t bshm__partition_popcount(const uint64_t *words)
{
	uint32_t bits = 0;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		bits += (uint32_t) __builtin_popcountll(BSHM_LOAD(&words[i], RELAXED));
	}
	return bits;
}

#endif
