/*
 * change.h - changes of one record, under the lock that the caller has taken.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_CHANGE_H
#define BSHM_CACHE_CHANGE_H

#include "core/cache/shard.h"

/* Under the lock: as bshm_record_put(), but BUSY: the step, 1 for the first one, has not made all
 * of the room. Else `chain`, of bshm__prepare_large(), is ended; 0 = none. */
int bshm__record_put_step(const bshm__shard *s, const bshm__home *home, const bshm_put *put,
	uint32_t chain, uint32_t step);
/* Between two steps of a change that depends on an existing record, or on a lease: gives the lock
 * only to a process that has waited long for it, because any other one may evict the record, and
 * use the room. After more steps than are needed *step is 0: room is made at once. Not OK: the lock
 * is lost, and the chain given up. */
bshm_status bshm__yield_step(const bshm__shard *s, uint32_t chain, bshm_patience *patience,
	uint32_t *step, bshm_error *error);
/* Under the lock: as bshm_record_remove(). */
int bshm__record_remove_locked(
	const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key);

#endif
