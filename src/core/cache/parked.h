/*
 * parked.h - the chunks of a large record that are taken and filled before it is put.
 *
 * A large record's bytes take long to copy, so they are copied without the lock. Meanwhile its
 * chunks are taken, and only the shard's words `parked` lead to them: the first chunk, and the
 * process that fills them. A shard has one such chain. While there is one, no chunk of the shard is
 * moved. When its process has given it up, or has died, the next process that needs room frees it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_PARKED_H
#define BSHM_CACHE_PARKED_H

#include "core/cache/shard.h"

/* All but bshm__parked_give_up() under the shard's lock. */

/* False: there is one already, or this process may not have one. */
bool bshm__parked_begin(const bshm__shard *s);
/* Names the next chunk, before it is taken; it leads to those taken before. */
static inline void bshm__parked_name(const bshm__shard *s, uint32_t chunk)
{
	BSHM_STORE(&s->shard->parked, chunk, RELEASE); /* pairs with bshm__intent_repair() */
}

static inline uint32_t bshm__parked(const bshm__shard *s)
{
	return BSHM_LOAD(&s->shard->parked, RELAXED);
}

/* Has a process begun, though it may have no chunk yet? */
static inline bool bshm__parked_in_use(const bshm__shard *s)
{
	return bshm__parked(s) != 0 || BSHM_LOAD(&s->shard->parked_owner, RELAXED) != 0;
}

/* The chunks belong to the intent from now on, which names them. */
void bshm__parked_hand_over(const bshm__shard *s);
/* Frees the chain, unless it was handed over. */
void bshm__parked_end(const bshm__shard *s, uint32_t chain);
/*
 * By a process that has no chunk, or not the lock, which was not free in time: the next process
 * that needs room frees the chain.
 */
void bshm__parked_give_up(const bshm__shard *s);
/* Frees the chain of a process that has given it up, or has died. False: there is none such. */
bool bshm__parked_reclaim(const bshm__shard *s);

#endif
