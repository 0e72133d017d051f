/*
 * change.h - changes of one record, under the lock that the caller has taken.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_CHANGE_H
#define BSHM_CACHE_CHANGE_H

#include "core/cache/shard.h"

/* Under the lock: what bshm_record_put() and _remove() do. */
int bshm__record_put_locked(const bshm__shard *s, const bshm__home *home, const bshm_put *put);
/*
 * Under the lock, before anything of it is looked at: makes room for the put, if it is a large one, letting
 * others in now and then. Of the value, only the length is looked at. Unless it is to be set, what
 * stands is not what goes for it. Not OK: the lock is lost.
 */
bshm_status bshm__prepare_large(const bshm__shard *s, const bshm__home *home, const bshm_put *put,
	bshm_patience *patience, bshm_error *error);
int bshm__record_remove_locked(
	const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key);

#endif
