/*
 * growing.c - filters that grow: a question reads one line of each layer first.
 *
 * A partition has 65,536 bits, as that of a plain filter, but a key's first six probes lie in one
 * line of it (growing.h). So a question reads one line of each layer, and waits for all of them at
 * once. Not here: making one more layer (add_layer.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/growing.h"

#include "core/base.h"
#include "core/filter/kind.h"
#include "core/filter/partition.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "platform/atomic.h"

#include <math.h>

/* Reads the rest of the probes in the layers of `maybe`: bit i is the i-th oldest. */
static BSHM_NOINLINE bool layers_have_rest(const bshm_view *view, bshm_hash h, uint64_t maybe)
{
	for (; maybe != 0; maybe &= maybe - 1) {
		const bshm__parts *parts = bshm__view_layer(view, BSHM_LOWEST_BIT(maybe));
		const uint64_t *words = bshm__parts_of(parts, h);
		const bshm__line line = bshm__hash_line(h, parts->hash_count);
		if (bshm__line_has(words, &line) && bshm__partition_has_rest(words, h, parts->hash_count)) {
			return true;
		}
	}
	return false;
}

/*
 * In nearly every layer the probes in one line suffice for a "no". So the lines of all layers are
 * read first, without a branch that depends on them: the processor then waits for the memory of all
 * layers at once. The other probes are read only in layers whose line has all six bits.
 */
static bool has(const bshm_view *view, const uint64_t *newest, bshm_hash h)
{
	const bshm__line line = bshm__hash_line(h, view->line_probes);
	const uint64_t pick = h.high >> 32;
	/* Layers whose line has the bits: the newest is the highest bit. */
	uint64_t maybe = bshm__line_has(newest, &line);
	for (uint32_t i = 0; i < view->older_count; i++) {
		const bshm__parts *older = &view->older[i];
		size_t at = (pick * older->partition_count) >> 32;
		if (BSHM_UNLIKELY(older->map != NULL)) {
			at = older->map[at];
		}
		const uint64_t *words =
			(const uint64_t *) (const void *) (older->partitions + at * BSHM_PARTITION_BYTES);
		maybe = maybe * 2 + bshm__line_has(words, &line);
	}
	return BSHM_UNLIKELY(maybe != 0) && layers_have_rest(view, h, maybe);
}

static BSHM_ALWAYS_INLINE uint64_t put_all(
	const bshm_view *view, const bshm_hash *hashes, size_t count, bool alone)
{
	const bshm__parts parts = view->newest; /* a copy: the stores might change the view's own */
	uint64_t added = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t *words = bshm__parts_of(&parts, hashes[i]);
		added += bshm__line_add(words, hashes[i], parts.hash_count, alone);
	}
	return added;
}

static uint64_t put(const bshm_view *view, const bshm_hash *hashes, size_t count, bool alone)
{
	return alone ? put_all(view, hashes, count, true) : put_all(view, hashes, count, false);
}

/*
 * The rate of the first six probes in one line: three words are picked by chance, and two bits by
 * chance in each.
 */
static double line_rate(const uint64_t *line, uint32_t hash_count, uint32_t *bits)
{
	double one = 0;
	double two = 0;
	for (uint32_t i = 0; i < BSHM_LINE_WORDS; i++) {
		const int count = (int) BSHM_BIT_COUNT(BSHM_LOAD(&line[i], RELAXED));
		const double fill = count / 64.0;
		one += fill / BSHM_LINE_WORDS;
		two += fill * fill / BSHM_LINE_WORDS;
		*bits += (uint32_t) count;
	}
	double all = 1;
	for (uint32_t i = 0; i < BSHM_LINE_PROBES; i += 2) {
		all *= hash_count > i + 1 ? two : hash_count > i ? one : 1;
	}
	return all;
}

static bshm__rates rate(
	const bshm_view *view, const uint64_t *words, uint32_t hash_count, uint32_t epoch)
{
	(void) view;
	(void) epoch;
	double lines = 0;
	uint32_t bits = 0;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i += BSHM_LINE_WORDS) {
		lines += line_rate(&words[i], hash_count, &bits);
	}
	bshm__rates said = bshm__rates_even(BSHM_PARTITION_BITS, bits, hash_count);
	said.rate = lines * BSHM_LINE_WORDS / BSHM_PARTITION_WORDS;
	if (hash_count > BSHM_LINE_PROBES) {
		said.rate *= pow(said.fill, hash_count - BSHM_LINE_PROBES);
	}
	return said;
}

const bshm__kind bshm__growing = {
	.type = "scalable",
	.positions = BSHM_PARTITION_BITS,
	.lanes = 1,
	/* Six probes are the fastest; a filter that shares its error may be a little larger for it. */
	.near_best = 0.985,
	.used = 0.985,
	.has = has,
	.put = put,
	.merge = bshm__partition_merge,
	.export = bshm__partition_export,
	.rate = rate,
};
