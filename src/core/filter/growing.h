/*
 * growing.h - the lines of a growing filter's partitions.
 *
 * A key's first six probes lie in one line of 64 bytes (bshm__hash_line()), the rest anywhere.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_GROWING_H
#define BSHM_GROWING_H

#include "core/filter/partition.h"
#include "core/hash.h"
#include "platform/atomic.h"

/* Are the bits of the line set in the partition? */
static BSHM_ALWAYS_INLINE bool bshm__line_has(const uint64_t *words, const bshm__line *line)
{
	/* In this form a loop over layers needs one instruction a word besides the load. */
	const uint64_t a = BSHM_LOAD(&words[line->word[0]], RELAXED) | ~line->bits[0];
	const uint64_t b = BSHM_LOAD(&words[line->word[1]], RELAXED) | ~line->bits[1];
	const uint64_t c = BSHM_LOAD(&words[line->word[2]], RELAXED) | ~line->bits[2];
	return (a & b & c) == UINT64_MAX;
}

/* The same for six probes of a key, in one layer only: without making masks first. */
static BSHM_ALWAYS_INLINE bool bshm__line_has_six(const uint64_t *words, bshm_hash h)
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
static BSHM_ALWAYS_INLINE bool bshm__line_add(
	uint64_t *words, bshm_hash h, uint32_t hash_count, bool alone)
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

#endif
