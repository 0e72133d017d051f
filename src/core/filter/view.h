/*
 * view.h - a filter at one generation: where its bits are.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_VIEW_H
#define BSHM_VIEW_H

#include "core/bshm.h"
#include "core/filter/kind.h"
#include "core/format.h"
#include "core/hash.h"
#include "core/segment/name.h"
#include "core/segment/segment.h"
#include "platform/atomic.h"

/* Where the bits of one layer are. */
typedef struct {
	uint8_t *partitions; /* the first partition; a scattered run: the segment's first */
	uint32_t *map; /* scattered run: partition -> its number in the segment; private; else NULL */
	uint32_t partition_count;
	uint32_t hash_count;
} bshm__parts;

static inline uint64_t *bshm__parts_at(const bshm__parts *parts, uint32_t i)
{
	const size_t number = parts->map == NULL ? i : parts->map[i];
	return (uint64_t *) (void *) (parts->partitions + number * BSHM_PARTITION_BYTES);
}

static inline uint64_t *bshm__parts_of(const bshm__parts *parts, bshm_hash h)
{
	return bshm__parts_at(parts, bshm__hash_partition(h, parts->partition_count));
}

/* An epoch, and how long it lasts at least, by the system's clock. */
typedef struct {
	uint64_t from_ns;
	uint64_t sure_ns; /* from then on */
	uint32_t epoch;
} bshm__epoch_span;

/* How a view is asked: these two by direct branches, all others by the kind's function. */
#define BSHM_PATH_PLAIN_SIX   6u
#define BSHM_PATH_GROWING_SIX (6u + (BSHM_KIND_GROWING << 8))
#define BSHM_PATH_FOLLOWED    (1u << 24) /* with a limit of its lag: added to the others */

/* What a question of the common kinds needs comes first, in two lines of the processor's cache. */
struct bshm_view {
	const uint64_t *generation_word; /* NULL: no view */
	uint64_t generation;
	uint64_t seed;
	bshm__parts newest;
	bshm__parts *older; /* the layers before, newest first; private; NULL: there are none */
	uint32_t older_count;
	uint32_t path; /* BSHM_PATH_..., or another number */
	bshm__name name;
	bool (*has)(const bshm_view *view, const uint64_t *words, bshm_hash h); /* a question */
	const bshm__kind *kind;
	const bshm_segment *segment;
	uint32_t entry;
	uint32_t line_probes;   /* growing: that the keys of all layers have in a line */
	bshm__epoch_span epoch; /* sliding: the last that was asked for */
	bshm_usage usage;       /* not handed in yet: usage.c */
	bshm_descriptor descriptor;
};

/* Does the filter count? The descriptor must be sound. */
static inline bool bshm__counts(const bshm_descriptor *descriptor)
{
	return (bshm__kind_flags(descriptor->kind) & BSHM_F_COUNTS) != 0;
}

/* As bshm_view_current(). */
static inline bool bshm__view_current(const bshm_view *view)
{
	/* Pairs with bshm__entry_publish(): a reader that has seen bits which were changed after the
	 * generation moved sees here that it has moved. */
	BSHM_FENCE(ACQUIRE);
	return BSHM_LOAD(view->generation_word, RELAXED) == view->generation;
}

/* Layer i of the view: 0 is the oldest. */
static inline const bshm__parts *bshm__view_layer(const bshm_view *view, uint32_t i)
{
	return i == view->older_count ? &view->newest : &view->older[view->older_count - 1 - i];
}

#endif
