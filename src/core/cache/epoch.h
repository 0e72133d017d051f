/*
 * epoch.h - the clock of a shard, and the ages of stamps by it: recency.c.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_EPOCH_H
#define BSHM_CACHE_EPOCH_H

#include "core/cache/shard.h"

typedef struct {
	uint32_t now;
	uint32_t floor;
	uint32_t middle;
	uint32_t last;
	uint32_t period; /* in a store of several shards: up to which one of the store's it has come */
} bshm__epochs;

#define BSHM_PERIODS 16u /* that are told apart: bit 15 of each 16 is one of the number */

static inline bshm__epochs bshm__epochs_of(uint64_t clock)
{
	return (bshm__epochs){(uint32_t) clock & BSHM_SLOT_STAMP,
		(uint32_t) (clock >> 16) & BSHM_SLOT_STAMP, (uint32_t) (clock >> 32) & BSHM_SLOT_STAMP,
		(uint32_t) (clock >> 48) & BSHM_SLOT_STAMP,
		(uint32_t) ((clock >> 15 & 1) | (clock >> 30 & 2) | (clock >> 45 & 4) | (clock >> 60 & 8))};
}

static inline uint64_t bshm__clock_of(bshm__epochs e)
{
	return (uint64_t) (e.now & BSHM_SLOT_STAMP) | (uint64_t) (e.floor & BSHM_SLOT_STAMP) << 16 |
		   (uint64_t) (e.middle & BSHM_SLOT_STAMP) << 32 |
		   (uint64_t) (e.last & BSHM_SLOT_STAMP) << 48 | (uint64_t) (e.period & 1) << 15 |
		   (uint64_t) (e.period & 2) << 30 | (uint64_t) (e.period & 4) << 45 |
		   (uint64_t) (e.period & 8) << 60;
}

/* The stamp of a record that is used now. */
static inline uint32_t bshm__stamp_now(const bshm__shard *s)
{
	return (uint32_t) BSHM_LOAD(&s->shard->clock, RELAXED) & BSHM_SLOT_STAMP;
}

/* How many epochs before `now` a stamp, or epoch, was. */
static inline uint32_t bshm__age(uint32_t now, uint32_t then)
{
	return (now - then) & BSHM_SLOT_STAMP;
}

/* The same of a record's state. `now` may have been read before its last use: then it is 0. A stamp
 * after `now` looks older than `base`, because the clock never comes so far that both are alike. */
static inline uint32_t bshm__age_of(const bshm__shard *s, uint32_t now, uint32_t state)
{
	const uint32_t age = bshm__age(now, state);
	return age <= bshm__age(now, BSHM_LOAD(&s->shard->base, RELAXED)) ? age : 0;
}

/* When `now` is so far ahead of the oldest stamp, stamps should have been renumbered; and so far
 * ahead it stops. */
#define BSHM_AGE_DONE 0x5000u
#define BSHM_AGE_MAX  0x7800u

#endif
