/*
 * evict.h - evicts records.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_EVICT_H
#define BSHM_CACHE_EVICT_H

#include "core/cache/shard.h"

/* So many records are looked at to evict one, as a rule, and at most. */
#define BSHM_EVICT_SAMPLE 32u
#define BSHM_EVICT_LOOKS  256u
/* So many buckets, where few of them have records. */
#define BSHM_EVICT_BUCKETS 1024u

/* Under the lock: evicts one record, an expired one if it meets one. False: there is none. */
bool bshm__evict(const bshm__shard *s);

/*
 * The same, or of records that are many small ones for a large one a part of a group of at most
 * `most`: how many went. *size_class: the class whose free slots that made more; BSHM_CLASS_COUNT:
 * more than one's.
 */
uint32_t bshm__evict_some(const bshm__shard *s, uint32_t most, uint32_t *size_class);

#endif
