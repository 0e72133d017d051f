/*
 * aging.h - renumbers the stamps of records before they are used up.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_AGING_H
#define BSHM_CACHE_AGING_H

#include "core/cache/epoch.h"

/* From there on stamps are renumbered. */
#define BSHM_AGE_RENUMBER 0x4000u
/* Of so many hits of a process one helps. */
#define BSHM_HELP_HITS 4096u

static inline bool bshm__aging_due(const bshm_shard_header *shard)
{
	const uint32_t now = (uint32_t) BSHM_LOAD(&shard->clock, RELAXED);
	return BSHM_LOAD(&shard->aging, RELAXED) != 0 ||
		   bshm__age(now, BSHM_LOAD(&shard->base, RELAXED)) > BSHM_AGE_RENUMBER;
}

/* Under the lock: a step of the renumbering, when it is due. */
void bshm__aging_go_on(const bshm__shard *s);
static inline void bshm__aging_step(const bshm__shard *s)
{
	if (BSHM_UNLIKELY(bshm__aging_due(s->shard))) {
		bshm__aging_go_on(s);
	}
}
/* The same by the n-th hit of a process, for one of the shards: without waiting for the lock, and
 * it begins no renumbering in the first seconds after a step by another one. */
void bshm__aging_help(bshm_segment *segment, uint64_t n);

/* The age that a record of this page will have after the renumbering that goes on; the page after
 * all: that of a period. Without the lock it is a hint. */
uint32_t bshm__aging_age(const bshm__shard *s, uint32_t now, uint32_t page, uint32_t age);
/* Under the lock: the state of a record that is moved. */
uint32_t bshm__aging_moved(const bshm__shard *s, uint32_t from, uint32_t to, uint32_t state);

#endif
