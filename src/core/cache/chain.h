/*
 * chain.h - the slots of a record: the first, and the chunks that it leads to.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_CHAIN_H
#define BSHM_CACHE_CHAIN_H

#include "core/cache/slab.h"

/* All under the shard's lock. */

/* Which of its words leads from a slot to the next chunk; 0: none does, or there is no such slot. */
uint32_t bshm__chain_word(const bshm__shard *s, uint32_t ref);
/* The first chunk leads back to the record's first slot. */
void bshm__chain_lead_back(const bshm__shard *s, uint32_t ref);
/* Frees a record's slots, or the chunks that were to be a record's. */
void bshm__chain_free(const bshm__shard *s, uint32_t ref);

#endif
