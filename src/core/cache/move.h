/*
 * move.h - moves a record or chunk to another slot of its class.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_MOVE_H
#define BSHM_CACHE_MOVE_H

#include "core/cache/shard.h"

/* Under the shard's lock: moves a record, or a chunk, out of its slot. False: damaged, or no
 * room. */
bool bshm__record_move(const bshm__shard *s, uint32_t ref);
bool bshm__chunk_move(const bshm__shard *s, uint32_t ref);

#endif
