/*
 * evict.h - evicts records.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_EVICT_H
#define BSHM_CACHE_EVICT_H

#include "core/cache/shard.h"

/* To evict one record, 32 are looked at as a rule, and 256 at most. */
#define BSHM_EVICT_SAMPLE 32u
#define BSHM_EVICT_LOOKS  256u
/* Where few buckets have records, at most so many are looked at. */
#define BSHM_EVICT_BUCKETS 1024u

/* Under the lock: evicts one record, an expired one if the sample has one. False: there is none. */
bool bshm__evict(const bshm__shard *s);

/*
 * The same for a large record, which needs many slots: evicts up to `most` records of one sample.
 * Returns how many. *size_class: the class that has gained free slots; BSHM_CLASS_COUNT: several
 * have.
 */
uint32_t bshm__evict_some(const bshm__shard *s, uint32_t most, uint32_t *size_class);

#endif
