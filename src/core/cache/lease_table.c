/*
 * lease_table.c - ends the leases of a shard.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/lease_table.h"

/* Under the lock, after the change: pairs with bshm_lease_held(), and with bshm_record_forget(). */
void bshm__lease_end(const bshm__shard *s, bshm_lease *lease)
{
	BSHM_STORE(&lease->owner, 0, RELEASE); /* pairs with bshm_lease_held() */
	/* Pairs with bshm_record_forget(), bshm_records_clear(). */
	BSHM_STORE(&s->shard->leases, BSHM_LOAD(&s->shard->leases, RELAXED) - 1, RELEASE);
}

/* Stops after the last lease: the count is never too low. */
static void end_leases(const bshm__shard *s, bool all, uint64_t hash)
{
	uint32_t left = BSHM_LOAD(&s->shard->leases, RELAXED);
	for (uint32_t i = 0; i < BSHM_LEASE_COUNT && left != 0; i++) {
		bshm_lease *lease = bshm__lease_at(s, i);
		if (BSHM_LOAD(&lease->owner, RELAXED) != 0) {
			left--;
			if (all || BSHM_LOAD(&lease->hash, RELAXED) == hash) {
				bshm__lease_end(s, lease);
			}
		}
	}
}

void bshm__leases_end_of(const bshm__shard *s, uint64_t hash)
{
	end_leases(s, false, hash);
}

void bshm__leases_end_all(const bshm__shard *s)
{
	end_leases(s, true, 0);
}
