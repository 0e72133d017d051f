/*
 * recency.h - when each record was last used.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_RECENCY_H
#define BSHM_CACHE_RECENCY_H

#include "core/cache/slab.h"

/* An epoch ends when such a part of the records has been stamped in it. */
#define BSHM_EPOCH_SHARE 64u

/* The part of the store that has been used since `middle` when it becomes the floor, in 64ths: a
 * quarter; some more where the keys are not spread evenly over shards. */
static inline uint32_t bshm__safe_share(const bshm_segment *segment)
{
	return segment->shard_count == 1 ? 16 : 20;
}

/* The stamp of a record that is used now. */
static inline uint32_t bshm__stamp_now(const bshm__shard *s)
{
	return (uint32_t) BSHM_LOAD(&s->shard->clock, RELAXED) & BSHM_SLOT_STAMP;
}

/* When `now` is so far ahead of the oldest stamp, stamps should have been renumbered. */
#define BSHM_AGE_DONE 0x5000u

/* Notes a use of a record, once an epoch; `state` is the one that was read, `bytes` are those of
 * key and value. Takes no lock. True: BSHM_AGE_DONE is reached. */
bool bshm__touch_set(const bshm_segment *segment, bshm_shard_header *shard, uint32_t *state_word,
	uint32_t state, uint64_t bytes);
static inline bool bshm__touch(const bshm__shard *s, uint8_t *slot, uint32_t state, uint64_t bytes)
{
	return BSHM_UNLIKELY((state & BSHM_SLOT_STAMP) != bshm__stamp_now(s)) &&
		   bshm__touch_set(s->segment, s->shard, bshm__slot_word(slot, 0), state, bytes);
}

/* Counts a stamp; `before` is the state before, or 0 for a new record; `bytes` are those of key and
 * value. */
void bshm__touch_count(const bshm__shard *s, uint32_t before, uint64_t bytes);
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

typedef struct {
	uint32_t now;
	uint32_t floor;
	uint32_t middle;
	uint32_t last;
} bshm__epochs;

static inline bshm__epochs bshm__epochs_of(uint64_t clock)
{
	return (bshm__epochs){(uint32_t) clock & BSHM_SLOT_STAMP,
		(uint32_t) (clock >> 16) & BSHM_SLOT_STAMP, (uint32_t) (clock >> 32) & BSHM_SLOT_STAMP,
		(uint32_t) (clock >> 48) & BSHM_SLOT_STAMP};
}

static inline uint64_t bshm__clock_of(bshm__epochs e)
{
	return (uint64_t) (e.now & BSHM_SLOT_STAMP) | (uint64_t) (e.floor & BSHM_SLOT_STAMP) << 16 |
		   (uint64_t) (e.middle & BSHM_SLOT_STAMP) << 32 |
		   (uint64_t) (e.last & BSHM_SLOT_STAMP) << 48;
}

/* The kinds of records: on probation, PROTECTED, and FREQUENT as well. */
enum {
	BSHM_KIND_PROBATION,
	BSHM_KIND_PROTECTED,
	BSHM_KIND_FREQUENT,
	BSHM_KINDS
};
static inline uint32_t bshm__kind_of(uint32_t state)
{
	return (state & BSHM_SLOT_PROTECTED) == 0  ? BSHM_KIND_PROBATION
		   : (state & BSHM_SLOT_FREQUENT) == 0 ? BSHM_KIND_PROTECTED
											   : BSHM_KIND_FREQUENT;
}

/* The state of a record after a use now. */
uint32_t bshm__state_used(const bshm__shard *s, uint32_t state);
/* The ref of the least recently used record of space 0 that has not expired; 0 = none. Takes no
 * lock. */
uint32_t bshm__oldest(const bshm__shard *s, uint32_t *age);

#endif
