/*
 * evict.h - evicts records.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_EVICT_H
#define BSHM_CACHE_EVICT_H

#include "core/cache/shard.h"

/* To evict one record, so many are looked at at most, and so many samples. */
#define BSHM_EVICT_LOOKS   256u
#define BSHM_EVICT_SAMPLES 8u

/* A bucket that is copied costs as much as so many that are looked at. */
#define BSHM_LOOKS_OF_RESIZE 4u

/* All under the lock. */

/* Evicts one record, an expired one if the sample has one. False: there is none. */
bool bshm__evict(const bshm__shard *s);
/* The same. *size_class: the class that has gained free slots; BSHM_CLASS_COUNT: several have. Adds
 * the buckets and tables it looked at to *looks: a sparse index has few records in many. */
bool bshm__evict_one(const bshm__shard *s, uint32_t *size_class, uint32_t *looks);

/* Which pages' records may be evicted. */
typedef struct {
	uint32_t size_class; /* those of this class; BSHM_CLASS_COUNT: of a class with so many: */
	uint32_t pages;
	bool for_large;    /* the room is for a large record: one may go instead, wherever it is */
	uint32_t looks;    /* each choice adds the buckets, pages and slots that it has looked at */
	uint32_t searched; /* each record that goes adds what bshm__evict_one() says */
} bshm__page_wish;

/*
 * Evicts up to `most` of the older records of one page; or, for a large record, another large one,
 * if a sample has one that counts as old. Returns how many; 0: there are none in the pages that it
 * looks at. None of them is younger than the floor, unless hardly any is older; none is of the
 * youngest period. The wish has the class of the page then; BSHM_CLASS_COUNT, if it was a large
 * record.
 */
uint32_t bshm__evict_page(const bshm__shard *s, bshm__page_wish *wish, uint32_t most);

#endif
