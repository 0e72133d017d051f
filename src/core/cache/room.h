/*
 * room.h - makes room: moves what lies scattered together, and evicts.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_ROOM_H
#define BSHM_CACHE_ROOM_H

#include "core/cache/shard.h"

/* Under the lock: moves, and evicts, until there are `count` free slots in the class; false: there are not.
 * In the classes whose bits are set in `keep` a slot stays free. */
bool bshm__make_room(const bshm__shard *s, uint32_t size_class, uint64_t count, uint64_t keep);
/* A part of that; false: there are not yet so many. */
bool bshm__make_room_step(const bshm__shard *s, uint32_t size_class, uint64_t count);

#endif
