/*
 * counting.c - counters instead of bits: remove and count.
 *
 * A partition holds 16,384 counters of 4 bits. Adding a key adds one to each of its counters,
 * removing it takes one away; the smallest of them says how often it was added, at most. A counter
 * that reached 15 stays there, for nobody knows any more how many keys it stands for.
 *
 * Whoever changes counters of a published filter has the lock. Bits may be set in vain, in a
 * partition that has become another filter's meanwhile; adding one to what lies there could clear
 * some. And removing looks at all counters before it takes from the first: two who did that at once
 * could take a counter that is another key's too below that key's count. Who dies half way leaves
 * counters that are too high, which is a needless "maybe". Questions need no lock, as ever.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/core.h"

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

/* ------------------------------------------------------------------ public */

/* Under the lock, which keeps other removers out and the published set in force. */
static int remove_locked(bshm_segment *segment, bshm_cache *cache, const char *name,
	size_t name_length, const char *key, size_t key_length, bshm_error *error)
{
	const bshm_view *view;
	const bshm_status status = bshm_view_open(segment, cache, name, name_length, &view);
	if (status != BSHM_OK) {
		return bshm__fail(error, status, "filter");
	}
	if (view->descriptor.kind != BSHM_KIND_COUNTING) {
		return bshm__fail(error, BSHM_E_INCOMPATIBLE, "counting");
	}
	const bshm_hash h = bshm__hash_key(key, key_length, view->seed);
	uint64_t *words = bshm__parts_of(&view->newest, h);
	const uint32_t hash_count = view->newest.hash_count;
	const uint32_t least = bshm__counters_least(words, h, hash_count);
	if (least == 0) {
		return 0;
	}
	uint32_t cells[BSHM_HASHES_MAX];
	const uint32_t count = cells_of(h, hash_count, cells);
	for (uint32_t i = 0; i < count; i++) {
		change(words, cells[i], -1);
	}
	if (least == 1) {
		uint64_t *items = &segment->entries[view->entry].items[view->descriptor.items_slot & 1];
		uint64_t before = BSHM_LOAD(items, RELAXED);
		while (before != 0 && !BSHM_CAS(items, &before, before - 1, RELAXED)) {
		}
	}
	return 1;
}

int bshm_filter_remove(bshm_segment *segment, bshm_cache *cache, const char *name,
	size_t name_length, const char *key, size_t key_length, bshm_error *error)
{
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		/* Resolves the name, which may allocate, before the lock is taken. */
		const bshm_view *view;
		bshm_view_open(segment, cache, name, name_length, &view);
		int status = bshm__lock(segment, BSHM_LOCK_PAGE_NS, error);
		if (status != BSHM_OK) {
			return status;
		}
		status = remove_locked(segment, cache, name, name_length, key, key_length, error);
		bshm__unlock(segment);
		if (status != BSHM_E_BUSY) {
			return status;
		}
		bshm_os_sleep_us(500); /* it is being cleared */
	}
	return bshm__fail(error, BSHM_E_TIMEOUT, "clear");
}

int bshm_filter_count(bshm_segment *segment, bshm_cache *cache, const char *name,
	size_t name_length, const char *key, size_t key_length)
{
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		const bshm_view *view;
		const bshm_status status = bshm_view_open(segment, cache, name, name_length, &view);
		if (status != BSHM_OK) {
			return status;
		}
		if (view->descriptor.kind != BSHM_KIND_COUNTING) {
			return BSHM_E_INCOMPATIBLE;
		}
		const bshm_hash h = bshm__hash_key(key, key_length, view->seed);
		const uint32_t least =
			bshm__counters_least(bshm__parts_of(&view->newest, h), h, view->newest.hash_count);
		if (bshm_view_current(view)) {
			return (int) least;
		}
	}
	return BSHM_E_BUSY;
}
