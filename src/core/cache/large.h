/*
 * large.h - room for a large record, and its bytes, without holding the lock for long.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_LARGE_H
#define BSHM_CACHE_LARGE_H

#include "core/cache/locate.h"

/* Is the record too large for this store, whatever is evicted? */
bool bshm__too_large(const bshm_segment *segment, uint64_t key_bytes, uint64_t value_bytes);
/* Is the existing record needed until the put? A set that does not keep the ttl needs none. */
static inline bool bshm__put_depends(const bshm_put *put)
{
	return put->mode != BSHM_PUT_SET || put->keeps_ttl;
}

/* Does the mode allow the put beside this existing record? Of a value that is expected type,
 * length, and at most so many bytes are compared. */
bool bshm__may_put(
	const bshm__shard *s, const bshm__existing *at, const bshm_put *put, uint64_t most);
/*
 * Under the lock, before the existing record is looked up: makes room for a large record, in steps.
 * Between two steps it gives the lock to waiters. The existing record is not evicted for it, and is
 * touched, so that other processes hardly evict it; but a SET without keeps_ttl does not need it,
 * nor does any put if it has expired: then it is removed first where the shard cannot have both.
 * Ends at once when the put would store nothing any more. Not OK: the lock is lost.
 *
 * *chain: the record's chunks, taken and filled (0: bshm__put_record() has to do that, and is
 * slower). Before the lock is released the caller ends it by bshm__parked_end(). NULL: only room is
 * made, and only the length of the value is read.
 */
bshm_status bshm__prepare_large(const bshm__shard *s, const bshm__home *home, const bshm_put *put,
	bshm_patience *patience, uint32_t *chain, bshm_error *error);

#endif
