/*
 * room.h - makes room in a size class.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_ROOM_H
#define BSHM_CACHE_ROOM_H

#include "core/cache/shard.h"

/* Under the lock: empties pages and evicts until the class has `count` free slots. False:
 * impossible. Each class whose bit is set in `keep` keeps a free slot. */
bool bshm__make_room(const bshm__shard *s, uint32_t size_class, uint64_t count, uint64_t keep);
/* One step of that. False: there are not yet so many. */
bool bshm__make_room_step(
	const bshm__shard *s, uint32_t size_class, uint64_t count, uint64_t keep, bool first);
/* The same for a record of many chunks. */
bool bshm__make_large_room_step(const bshm__shard *s, uint32_t size_class, uint64_t count);

#endif
