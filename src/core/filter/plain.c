/*
 * plain.c - filters of a fixed size: a probe picks one of the 65,536 bits of a partition.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/kind.h"
#include "core/filter/partition.h"
#include "core/filter/view.h"

static bool has(const bshm_view *view, const uint64_t *words, bshm_hash h)
{
	return bshm__partition_has(words, h, view->newest.hash_count);
}

static BSHM_ALWAYS_INLINE uint64_t put_all(
	const bshm_view *view, const bshm_hash *hashes, size_t count, bool alone)
{
	const bshm__parts parts = view->newest; /* a copy: the stores might change the view's own */
	uint64_t added = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t *words = bshm__parts_of(&parts, hashes[i]);
		added += bshm__partition_add(words, hashes[i], parts.hash_count, alone);
	}
	return added;
}

static uint64_t put(const bshm_view *view, const bshm_hash *hashes, size_t count, bool alone)
{
	return alone ? put_all(view, hashes, count, true) : put_all(view, hashes, count, false);
}

static bshm__rates rate(
	const bshm_view *view, const uint64_t *words, uint32_t hash_count, uint32_t epoch)
{
	(void) view;
	(void) epoch;
	return bshm__rates_even(BSHM_PARTITION_BITS, bshm__partition_popcount(words), hash_count);
}

const bshm__kind bshm__plain = {
	.type = "fixed",
	.positions = BSHM_PARTITION_BITS,
	.lanes = 1,
	/* Six probes are the fastest, and most filters are asked for 1 %. */
	.near_best = 0.99,
	.used = 0.955,
	.has = has,
	.put = put,
	.merge = bshm__partition_merge,
	.export = bshm__partition_export,
	.rate = rate,
};
