/*
 * aging.h - renumbers the stamps of records before they are used up.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_AGING_H
#define BSHM_CACHE_AGING_H

#include "core/cache/epoch.h"

/* From there on writers renumber. */
#define BSHM_AGE_RENUMBER 0x4000u

/* Under the lock: a step of the renumbering, when it is due. */
void bshm__aging_go_on(const bshm__shard *s);
static inline void bshm__aging_step(const bshm__shard *s)
{
	const uint32_t now = (uint32_t) BSHM_LOAD(&s->shard->clock, RELAXED);
	if (BSHM_UNLIKELY(BSHM_LOAD(&s->shard->aging, RELAXED) != 0 ||
					  bshm__age(now, BSHM_LOAD(&s->shard->base, RELAXED)) > BSHM_AGE_RENUMBER)) {
		bshm__aging_go_on(s);
	}
}
/* The same without the lock, if that is free at this moment. */
void bshm__aging_help(bshm_segment *segment, bshm_shard_header *shard);

#endif
