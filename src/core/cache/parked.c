/*
 * parked.c - the chunks of a large record that are taken and filled before it is put.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/parked.h"

#include "core/cache/chain.h"
#include "core/segment/owners.h"

/* The chain first: without an owner it may be freed. */
static void forget(const bshm__shard *s)
{
	BSHM_STORE(&s->shard->parked, 0, RELEASE);       /* pairs with bshm__parked_reclaim() */
	BSHM_STORE(&s->shard->parked_owner, 0, RELEASE); /* the same */
}

bool bshm__parked_begin(const bshm__shard *s)
{
	/* Where a mapping keeps no lock, a living process may look dead: bshm__owner_attach(). */
	const uint64_t me = BSHM_LOAD(&s->segment->quick_owner, RELAXED);
	if (me == 0 || bshm__parked_in_use(s)) {
		return false;
	}
	BSHM_STORE(&s->shard->parked_owner, me, RELAXED);
	return true;
}

void bshm__parked_hand_over(const bshm__shard *s)
{
	forget(s);
}

void bshm__parked_end(const bshm__shard *s, uint32_t chain)
{
	if (chain != 0 && bshm__parked(s) == chain) {
		bshm__chain_free(s, chain);
		forget(s);
	}
}

void bshm__parked_give_up(const bshm__shard *s)
{
	BSHM_STORE(&s->shard->parked_owner, 0, RELEASE); /* pairs with bshm__parked_reclaim() */
}

bool bshm__parked_reclaim(const bshm__shard *s)
{
	const uint32_t chain = bshm__parked(s);
	/* Pairs with bshm__parked_give_up(). */
	const uint64_t owner = BSHM_LOAD(&s->shard->parked_owner, ACQUIRE);
	if ((owner == 0 && chain == 0) || bshm__owner_alive(s->segment, owner)) {
		return false;
	}
	bshm__chain_free(s, chain);
	forget(s);
	return chain != 0;
}
