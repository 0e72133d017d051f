/*
 * counting.c - filters that count: counters instead of bits.
 *
 * A partition holds 16,384 counters of 4 bits. Adding a key adds one to each of its counters, and
 * taking an add back subtracts one. The smallest of the counters is the greatest number of times
 * that the key can have been added. A counter that has reached 15 stays there, because it may stand
 * for more keys than that.
 *
 * Counters of a published filter are changed under the lock only. A writer without the lock may set
 * a bit in a partition that by then belongs to another filter: a bit set there does no harm, but a
 * counter that is raised may clear a bit. And taking an add back reads all counters before it
 * changes the first. Two processes that did so at once could lower a counter that another key
 * shares below the count of that key. A process that dies half way leaves counters that are too
 * high, which is a needless "maybe".
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/kind.h"
#include "core/filter/partition.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "platform/atomic.h"

#define COUNTERS    (BSHM_PARTITION_BITS / 4)
#define COUNTER_LOW UINT64_C(0x1111111111111111) /* the lowest bit of all counters of a word */

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

/* Adds `by` (1 or -1) to a counter, unless it has reached 15; returns what it was. */
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

static uint64_t put(const bshm_view *view, const bshm_hash *hashes, size_t count, bool alone)
{
	(void) alone; /* the lock keeps other writers out */
	uint64_t added = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t *words = bshm__parts_of(&view->newest, hashes[i]);
		uint32_t cells[BSHM_HASHES_MAX];
		const uint32_t different = cells_of(hashes[i], view->newest.hash_count, cells);
		bool fresh = false;
		for (uint32_t k = 0; k < different; k++) {
			fresh |= change(words, cells[k], 1) == 0;
		}
		added += fresh;
	}
	return added;
}

static void take_back(const bshm_view *view, bshm_hash h)
{
	uint64_t *words = bshm__parts_of(&view->newest, h);
	uint32_t cells[BSHM_HASHES_MAX];
	const uint32_t different = cells_of(h, view->newest.hash_count, cells);
	for (uint32_t k = 0; k < different; k++) {
		change(words, cells[k], -1);
	}
}

static inline uint32_t least(const uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	uint32_t smallest = BSHM_COUNT_MAX;
	for (uint32_t i = 0; i < hash_count && smallest != 0; i++) {
		const uint32_t counter = bshm__cell(words, bshm__hash_probe(h, i)) & 15;
		smallest = counter < smallest ? counter : smallest;
	}
	return smallest;
}

static bool has(const bshm_view *view, const uint64_t *words, bshm_hash h)
{
	return least(words, h, view->newest.hash_count) != 0;
}

static uint32_t count_of(const bshm_view *view, bshm_hash h)
{
	return least(bshm__parts_of(&view->newest, h), h, view->newest.hash_count);
}

static void merge(
	const bshm_view *to, uint64_t *to_words, const bshm_view *from, const uint64_t *from_words)
{
	(void) to;
	(void) from;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		const uint64_t a = BSHM_LOAD(&to_words[i], RELAXED);
		const uint64_t b = BSHM_LOAD(&from_words[i], RELAXED);
		uint64_t sum = 0;
		for (uint32_t shift = 0; shift < 64; shift += 4) {
			const uint64_t both = (a >> shift & 15) + (b >> shift & 15);
			sum |= (both > BSHM_COUNT_MAX ? BSHM_COUNT_MAX : both) << shift;
		}
		BSHM_STORE(&to_words[i], sum, RELAXED);
	}
}

static bshm__rates rate(
	const bshm_view *view, const uint64_t *words, uint32_t hash_count, uint32_t epoch)
{
	(void) view;
	(void) epoch;
	uint32_t used = 0;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		const uint64_t word = BSHM_LOAD(&words[i], RELAXED);
		const uint64_t any = (word | word >> 1 | word >> 2 | word >> 3) & COUNTER_LOW;
		used += BSHM_BIT_COUNT(any);
	}
	return bshm__rates_even(COUNTERS, used, hash_count);
}

const bshm__kind bshm__counting = {
	.type = "counting",
	.positions = COUNTERS,
	.lanes = 1,
	.near_best = 0.99,
	.used = 0.955,
	.has = has,
	.put = put,
	.count = count_of,
	.take_back = take_back,
	.merge = merge,
	.export = bshm__partition_export,
	.rate = rate,
};
