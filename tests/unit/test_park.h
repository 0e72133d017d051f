/*
 * test_park.h - a process that has taken chunks of a record, and does not put it: parked.h.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_PARK_H
#define BSHM_TEST_PARK_H

#include "core/cache/parked.h"
#include "test_shard.h"

/* Chunks of a record are taken; the process stops before it has put the record. */
static inline void park_chunks(uint32_t shard, uint64_t count)
{
	bshm_segment *own = attach_store();
	REQUIRE(store_put(own, 9, 1, 20, 0, BSHM_PUT_SET) == 1);
	const bshm__shard of = bshm__shard_at(own, shard);
	REQUIRE(bshm__shard_try(&of, own->owner));
	REQUIRE(bshm__parked_begin(&of));
	for (uint64_t i = 0; i < count; i++) {
		const uint32_t next = bshm__parked(&of);
		const uint32_t chunk = bshm__slot_find(&of, BSHM_CLASS_CHUNK, 0);
		REQUIRE(chunk != 0);
		bshm__word_set(&of, chunk, 0, BSHM_SLOT_CHAINED);
		bshm__word_set(&of, chunk, 1, next);
		bshm__parked_name(&of, chunk);
		bshm__slot_take(&of, chunk);
		if (next != 0) {
			bshm__word_set(&of, next, 2, chunk);
		}
	}
	bshm__shard_leave(&of);
	raise_flag_and_sleep(0);
}

#endif
