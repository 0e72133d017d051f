/*
 * change.h - changes of one record, under the lock that the caller has taken.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_CHANGE_H
#define BSHM_CACHE_CHANGE_H

#include "core/cache/shard.h"

/* Under the lock: as bshm_record_put() and bshm_record_remove(). `chain`: of bshm__prepare_large(),
 * which is ended; 0 = none. */
int bshm__record_put_locked(
	const bshm__shard *s, const bshm__home *home, const bshm_put *put, uint32_t chain);
int bshm__record_remove_locked(
	const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key);

#endif
