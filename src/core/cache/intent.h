/*
 * intent.h - the note of the change that the holder of a shard's lock is making.
 *
 * It is written before the first step. If the holder dies, the process that takes the lock over
 * finishes or undoes the change (repair.c). All under the shard's lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_INTENT_H
#define BSHM_CACHE_INTENT_H

#include "core/cache/shard.h"

/* Begin: which word of the segment will publish, the ref that it has and the one that it will
 * have. */
static inline void bshm__intent_begin(
	const bshm__shard *s, uint32_t kind, uint32_t word, uint32_t old, uint32_t fresh)
{
	bshm_intent *intent = &s->shard->intent;
	BSHM_STORE(&intent->word, word, RELAXED);
	BSHM_STORE(&intent->old, old, RELAXED);
	BSHM_STORE(&intent->fresh, fresh, RELAXED);
	BSHM_STORE(&intent->kind, kind, RELEASE); /* pairs with bshm__intent_repair() */
}

/* The counts of the shard after the change; bshm__intent_set_counts() makes them so. */
static inline void bshm__intent_plan(const bshm__shard *s, uint64_t records, uint64_t data_bytes)
{
	bshm_intent *intent = &s->shard->intent;
	BSHM_STORE(&intent->records_after, records, RELAXED);
	BSHM_STORE(&intent->data_after, data_bytes, RELEASE); /* pairs with bshm__intent_repair() */
}

static inline void bshm__intent_set_counts(const bshm__shard *s)
{
	const bshm_intent *intent = &s->shard->intent;
	/* After the store that is planned: pairs with bshm__intent_repair(). */
	BSHM_STORE(&s->shard->records, (uint32_t) BSHM_LOAD(&intent->records_after, RELAXED), RELEASE);
	BSHM_STORE(&s->shard->data_bytes, BSHM_LOAD(&intent->data_after, RELAXED), RELEASE);
}

static inline void bshm__intent_end(const bshm__shard *s)
{
	/* Pairs with bshm__intent_repair(). */
	BSHM_STORE(&s->shard->intent.kind, BSHM_INTENT_NONE, RELEASE);
}

#endif
