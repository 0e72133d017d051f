/*
 * recency.h - when each record was last used.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_RECENCY_H
#define BSHM_CACHE_RECENCY_H

#include "core/cache/epoch.h"
#include "core/cache/slab.h"

/* An epoch ends when such a part of the records has been stamped in it. */
#define BSHM_EPOCH_SHARE 64u

/* Notes a use of a record, once an epoch; `state` is the one that was read, `bytes` are those of
 * key and value. Takes no lock. */
void bshm__touch_set(const bshm_segment *segment, bshm_shard_header *shard, uint32_t *state_word,
	uint32_t state, uint64_t bytes);
static inline void bshm__touch(const bshm__shard *s, uint8_t *slot, uint32_t state, uint64_t bytes)
{
	if (BSHM_UNLIKELY((state & BSHM_SLOT_STAMP) != bshm__stamp_now(s))) {
		bshm__touch_set(s->segment, s->shard, bshm__slot_word(slot, 0), state, bytes);
	}
}

/* Before a put reads the clock for a stamp: in one of several shards a period may have to begin. */
void bshm__touch_prepare(const bshm__shard *s);
/* Counts a stamp; `before` is the state before, or 0 for a new record; `bytes` are those of key and
 * value. */
void bshm__touch_count(const bshm__shard *s, uint32_t before, uint64_t bytes);
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
/* The ref of the least recently used record of space 0 that has not expired, with the state that it
 * had; 0 = none. Takes no lock, so another record may have its slot by now. */
uint32_t bshm__oldest(const bshm__shard *s, uint32_t *state, uint32_t *age);

#endif
