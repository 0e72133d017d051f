/*
 * counters.c - a partition of a counting filter: counters instead of bits.
 *
 * A partition holds 16,384 counters of 4 bits. Adding a key adds one to each of its counters,
 * removing it takes one away; the smallest of them says how often it was added, at most. A counter
 * that reached 15 stays there, for nobody knows any more how many keys it stands for.
 *
 * Whoever changes counters of a published filter has the lock (counting.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/counters.h"

#include "core/bshm.h"
#include "core/filter/partition.h"
#include "core/format.h"
#include "core/hash.h"
#include "platform/atomic.h"

/* The different cells of a hash; two probes may pick one, and it is still one counter. */
static uint32_t cells_of(bshm_hash h, uint32_t hash_count, uint32_t cells[BSHM_HASHES_MAX])
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < hash_count; i++) {
		const uint32_t cell = bshm__hash_probe(h, i) & ~UINT32_C(3);
		uint32_t at = 0;
		while (at < count && cells[at] != cell) {
			at++;
		}
		cells[at] = cell;
		count += at == count;
	}
	return count;
}

/* Adds `by` (1 or -1) to a counter, unless it is saturated; returns what it was. */
static uint32_t change(uint64_t *words, uint32_t cell, int by)
{
	uint64_t *at = &words[cell >> 6];
	const uint32_t shift = bshm__cell_shift(cell);
	const uint64_t word = BSHM_LOAD(at, RELAXED);
	const uint32_t old = (uint32_t) (word >> shift) & 15;
	if (old != BSHM_COUNT_MAX && (old != 0 || by > 0)) {
		const uint64_t one = UINT64_C(1) << shift;
		BSHM_STORE(at, by > 0 ? word + one : word - one, RELAXED);
	}
	return old;
}

bool bshm__counters_add(uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	uint32_t cells[BSHM_HASHES_MAX];
	const uint32_t count = cells_of(h, hash_count, cells);
	bool fresh = false;
	for (uint32_t i = 0; i < count; i++) {
		fresh |= change(words, cells[i], 1) == 0;
	}
	return fresh;
}

void bshm__counters_take(uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	uint32_t cells[BSHM_HASHES_MAX];
	const uint32_t count = cells_of(h, hash_count, cells);
	for (uint32_t i = 0; i < count; i++) {
		change(words, cells[i], -1);
	}
}

uint32_t bshm__counters_least(const uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	uint32_t least = BSHM_COUNT_MAX;
	for (uint32_t i = 0; i < hash_count && least != 0; i++) {
		const uint32_t counter = bshm__cell(words, bshm__hash_probe(h, i)) & 15;
		least = counter < least ? counter : least;
	}
	return least;
}

void bshm__counters_merge(uint64_t *to, const uint64_t *from)
{
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		const uint64_t a = BSHM_LOAD(&to[i], RELAXED);
		const uint64_t b = BSHM_LOAD(&from[i], RELAXED);
		uint64_t sum = 0;
		for (uint32_t shift = 0; shift < 64; shift += 4) {
			const uint64_t both = (a >> shift & 15) + (b >> shift & 15);
			sum |= (both > BSHM_COUNT_MAX ? BSHM_COUNT_MAX : both) << shift;
		}
		BSHM_STORE(&to[i], sum, RELAXED);
	}
}
