/*
 * change.h - changes of one record, under the lock that the caller has taken.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_CHANGE_H
#define BSHM_CACHE_CHANGE_H

#include "core/cache/shard.h"

/* Under the lock: as bshm_record_put() and bshm_record_remove(). */
int bshm__record_put_locked(const bshm__shard *s, const bshm__home *home, const bshm_put *put);
/*
 * Under the lock, before the existing record is looked up: makes room for a large record, in steps.
 * Between two steps it gives the lock to waiters. Reads only the length of the value. Unless the
 * mode is SET, the existing record is touched, so that it is not evicted. Not OK: the lock is lost.
 */
bshm_status bshm__prepare_large(const bshm__shard *s, const bshm__home *home, const bshm_put *put,
	bshm_patience *patience, bshm_error *error);
int bshm__record_remove_locked(
	const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key);

#endif
