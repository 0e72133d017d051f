/*
 * chain.h - the slots of a record: the first, and the chunks that it leads to.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_CHAIN_H
#define BSHM_CACHE_CHAIN_H

#include "core/cache/slab.h"

/* All but the last one under the shard's lock. */

/* Which word of a slot has the ref of the next chunk; 0: none, or there is no such slot. */
uint32_t bshm__chain_word(const bshm__shard *s, uint32_t ref);
/* Stores the ref of the record's first slot, `ref`, in its first chunk. */
void bshm__chain_link_back(const bshm__shard *s, uint32_t ref);
/* Frees the slots of a record, or the chunks of a put that was not finished. */
void bshm__chain_free(const bshm__shard *s, uint32_t ref);

/* Without the lock: reads the headers of up to so many chunks, from `chunk` on, so that the process
 * meets no page fault there under the lock. What is read may be of another record by now. */
void bshm__chain_touch(const bshm__shard *s, uint32_t chunk, uint64_t count);

#endif
