/*
 * lease_table.h - the leases of a shard: all under its lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_LEASE_TABLE_H
#define BSHM_CACHE_LEASE_TABLE_H

#include "core/bshm_records.h"
#include "core/cache/shard.h"

static inline bshm_lease *bshm__lease_at(const bshm__shard *s, uint32_t slot)
{
	return &s->segment->leases[(size_t) s->index * BSHM_LEASE_COUNT + slot];
}

/* Has the granted lease not ended? By its process; without the lock it may end at once. */
static inline bool bshm__lease_granted(const bshm__shard *s, const bshm_lease_grant *grant)
{
	const bshm_lease *lease = bshm__lease_at(s, grant->slot);
	return BSHM_LOAD(&lease->owner, RELAXED) == s->segment->owner &&
		   BSHM_LOAD(&lease->serial, RELAXED) == grant->serial;
}

/* All under the shard's lock. */

/* Ends one lease, after the change that ends it. */
void bshm__lease_end(const bshm__shard *s, bshm_lease *lease);
/* Ends the leases of a hash, or all: values that are being loaded under them will not be stored. */
void bshm__leases_end_of(const bshm__shard *s, uint64_t hash);
void bshm__leases_end_all(const bshm__shard *s);
static inline void bshm__leases_end(const bshm__shard *s, uint64_t hash)
{
	if (BSHM_UNLIKELY(BSHM_LOAD(&s->shard->leases, RELAXED) != 0)) {
		bshm__leases_end_of(s, hash);
	}
}

#endif
