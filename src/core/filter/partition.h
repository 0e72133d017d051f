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

static __attribute__((noinline, unused)) bool bshm__partition_has_any(
	const uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	for (uint32_t i = 0; i < hash_count; i++) {
		if ((bshm__partition_bit(words, bshm__hash_probe(h, i)) & 1) == 0) {
			return false;
		}
	}
	return true;
}

/*
 * Adds the bit at `position` to a count. On x86-64 this is one bit test and one add with carry;
 * the compiler's own shift wants the one register that can count it, six times.
 */
static inline __attribute__((always_inline)) uint32_t bshm__partition_count(
	const uint64_t *words, uint64_t position, uint32_t count)
{
	const uint64_t word = BSHM_LOAD(&words[position >> 6], RELAXED);
#if defined(__x86_64__) && defined(__GNUC__)
	__asm__("btq %1, %2\n\tadcl $0, %0" : "+r"(count) : "r"(position), "r"(word) : "cc");
	return count;
#else
	return count + (uint32_t) (word >> (position & 63) & 1);
#endif
}

/*
 * Are all probes of `h` set? Six are read without a branch: for a filter at its capacity an
 * early exit would save two loads from the first-level cache and cost a misprediction.
 */
static inline __attribute__((always_inline)) bool bshm__partition_has(
	const uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	if (__builtin_expect(hash_count == 6, 1)) {
		uint32_t count = 0;
		count = bshm__partition_count(words, h.low & 0xffff, count);
		count = bshm__partition_count(words, h.low >> 16 & 0xffff, count);
		count = bshm__partition_count(words, h.low >> 32 & 0xffff, count);
		count = bshm__partition_count(words, h.low >> 48, count);
		count = bshm__partition_count(words, h.high & 0xffff, count);
		count = bshm__partition_count(words, h.high >> 16 & 0xffff, count);
		return count == 6;
	}
	return bshm__partition_has_any(words, h, hash_count);
}

/* Sets all probes of `h`; true when this call set at least one bit that was not set. */
static inline bool bshm__partition_add(uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	bool fresh = false;
	for (uint32_t i = 0; i < hash_count; i++) {
		const uint32_t position = bshm__hash_probe(h, i);
		uint64_t *word = &words[position >> 6];
		const uint64_t bit = UINT64_C(1) << (position & 63);
		if ((BSHM_LOAD(word, RELAXED) & bit) == 0) {
			fresh |= (BSHM_OR(word, bit, RELAXED) & bit) == 0;
		}
	}
	return fresh;
}

/* The same for partitions that nobody else writes: load and store instead of a locked OR. */
static inline bool bshm__partition_set(uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	bool fresh = false;
	for (uint32_t i = 0; i < hash_count; i++) {
		const uint32_t position = bshm__hash_probe(h, i);
		uint64_t *word = &words[position >> 6];
		const uint64_t old = BSHM_LOAD(word, RELAXED);
		const uint64_t bit = UINT64_C(1) << (position & 63);
		fresh |= (old & bit) == 0;
		BSHM_STORE(word, old | bit, RELAXED);
	}
	return fresh;
}

static inline void bshm__partition_prefetch(const uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	for (uint32_t i = 0; i < hash_count; i++) {
		__builtin_prefetch(&words[bshm__hash_probe(h, i) >> 6]);
	}
}

static inline void bshm__partition_zero(uint64_t *words)
{
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		BSHM_STORE(&words[i], 0, RELAXED);
	}
}

static inline void bshm__partition_copy(uint64_t *to, const uint64_t *from)
{
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		BSHM_STORE(&to[i], BSHM_LOAD(&from[i], RELAXED), RELAXED);
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
