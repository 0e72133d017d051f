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

/* The least that there has been after a step. */
typedef struct {
	uint64_t bytes; /* of records, and of chunks that are still needed */
	uint64_t pages; /* of all classes but that of chunks */
} bshm__low;

#define BSHM_LOW_NONE                                                                              \
 {                                                                                                 \
  UINT64_MAX, UINT64_MAX                                                                           \
 }

/*
 * Between two steps: may the lock be left to any process? A writer that never pauses could use all
 * the room that each step makes. So there must be less now than after all steps before; and the
 * call must not have waited for half of its time, unless its patience is gone: then others would
 * never get the lock. `chunks`: as many are still needed.
 */
bool bshm__may_pause(
	const bshm__shard *s, uint64_t chunks, bshm__low *low, const bshm_patience *patience);

#endif
