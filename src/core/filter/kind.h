/*
 * kind.h - the functions of a kind of filter.
 *
 * Each kind has one file with a constant table of functions: plain.c, growing.c, sliding.c and
 * counting.c. They read and change the bits of a filter, and for keys that age its epochs. They
 * take no lock, and know no entry and no op. So every part of filter/ may call them.
 *
 * Functions that may be NULL say so. For the two most common kinds, questions and adds have direct
 * branches instead (query.c, add.c), which must do the same.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_KIND_H
#define BSHM_KIND_H

#include "core/bshm.h"
#include "core/format.h"

#include <math.h>

/* What follows from the bits of a partition. */
typedef struct {
	double fill;  /* share of the positions that are set */
	double rate;  /* an absent key's chance of "maybe" */
	double items; /* about how many different keys set them */
} bshm__rates;

/* An epoch, and how far into it the filter is, by one reading of the clock. */
typedef struct {
	uint32_t epoch;
	uint64_t phase_ns;
} bshm__moment;

/* Answers of bshm__kind.add(). */
#define BSHM_ADD_MAYBE  0 /* added; it was maybe there */
#define BSHM_ADD_NEW    1 /* added; it was certainly not there */
#define BSHM_ADD_ROTATE 2 /* not added: the partition must be rotated first, under the lock */
#define BSHM_ADD_AGAIN  4 /* besides one of the first two: the partition was rotated meanwhile */

typedef struct {
	const char *type; /* as bloom_info() calls it */

	/* ---- sizes (geometry.c) */

	double positions; /* of a partition that a probe can pick */
	uint32_t lanes;   /* a question reads so many; all but one of them hold the keys */
	double near_best; /* a number of probes is good enough from this share of the best size on */
	double used;      /* share of a partition's limit that is used: keys spread unevenly */

	/* ---- keys */

	/* Is the hash maybe in the filter? `words`: its partition in the newest layer. */
	bool (*has)(const bshm_view *view, const uint64_t *words, bshm_hash h);
	/*
	 * Adds hashes to the newest layer; returns how many were certainly not there. Under the lock,
	 * or in a filter that is not published yet; without the lock for a kind that has no add(), and
	 * does not count. `alone`: no other process writes the partitions.
	 */
	uint64_t (*put)(const bshm_view *view, const bshm_hash *hashes, size_t count, bool alone);
	/* NULL: put() does it. Adds a hash without the lock: BSHM_ADD_... */
	int (*add)(const bshm_view *view, uint64_t *words, bshm_hash h);
	/* With add(). Under the lock: makes the partition take keys that are added now. */
	void (*rotate)(const bshm_view *view, uint64_t *words);
	/* NULL: the kind does not count. How often a hash was added, at most. */
	uint32_t (*count)(const bshm_view *view, bshm_hash h);
	/* NULL as well. Under the lock: takes one add of a hash, whose count is not 0, back. */
	void (*take_back)(const bshm_view *view, bshm_hash h);

	/* ---- partitions */

	/* NULL: nothing to do. Resets what belongs to a partition but lies outside of it. */
	void (*reset)(const bshm_view *view, const uint64_t *words);
	/* Adds the keys of a partition of `from` to one of `to`, which no other process writes. */
	void (*merge)(
		const bshm_view *to, uint64_t *to_words, const bshm_view *from, const uint64_t *from_words);
	/*
	 * A private copy of a partition, as a new filter would have it, whose first epoch is `epoch`.
	 */
	void (*export)(uint64_t *to, const bshm_view *from, const uint64_t *words, uint32_t epoch);
	/* The rates of a partition of a layer with so many probes, in an epoch. */
	bshm__rates (*rate)(
		const bshm_view *view, const uint64_t *words, uint32_t hash_count, uint32_t epoch);

	/* ---- time: all NULL for a kind whose keys do not age */

	bshm__moment (*now)(const bshm_segment *segment, const bshm_descriptor *descriptor);
	/* Begins the time of a new filter. */
	void (*begin)(const bshm_segment *segment, bshm_descriptor *descriptor);
	/* Continues the time of a filter that was exported `aged_s` seconds ago, at that phase. */
	void (*resume)(
		const bshm_segment *segment, bshm_descriptor *descriptor, uint64_t phase_ns, double aged_s);
	/* Ends the time of all keys at once. */
	void (*expire)(const bshm_segment *segment, bshm_descriptor *descriptor);
} bshm__kind;

#define BSHM_KIND_DECLARE(name, number, functions, flags) extern const bshm__kind bshm__##functions;
BSHM_KIND_LIST(BSHM_KIND_DECLARE)
#undef BSHM_KIND_DECLARE

/* kinds.c: by number. Index it with the kind of a sound descriptor only. */
extern const bshm__kind *const bshm__kinds[BSHM_KIND_COUNT];
/* The number of the kind that such parameters make. */
uint32_t bshm__kind_of(const bshm_parameters *parameters);

/* How many keys set a share of `fill` of m positions (Swamidass and Baldi 2007). */
static inline double bshm__keys_of(double m, double fill, uint32_t hash_count)
{
	const double most = 1 - 0.5 / m; /* if all are set: as if half of one were not */
	return -m / hash_count * log1p(-fmin(fill, most));
}

/* The rates of a partition with `count` of m positions set, each as likely as any other. */
static inline bshm__rates bshm__rates_even(double m, uint32_t count, uint32_t hash_count)
{
	const double fill = count / m;
	return (bshm__rates){
		.fill = fill,
		.rate = pow(fill, hash_count),
		.items = bshm__keys_of(m, fill, hash_count),
	};
}

#endif
