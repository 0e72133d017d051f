/*
 * store_stat.c - the store's figures.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/slab.h"

bshm_status bshm_store_stat(const bshm_segment *segment, bshm_store_info *out)
{
	*out = (bshm_store_info){
		.max_records = segment->cache_records,
		.bytes_total = segment->cache_bytes,
		.shards = segment->shard_count,
	};
	if (segment->shard_count == 0) {
		return BSHM_E_UNAVAILABLE;
	}
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		const bshm_shard_header *shard = &segment->shards[i];
		out->records += BSHM_LOAD(&shard->records, RELAXED);
		out->data_bytes += BSHM_LOAD(&shard->data_bytes, RELAXED);
		out->evictions += BSHM_LOAD(&shard->evictions, RELAXED);
		out->expired += BSHM_LOAD(&shard->expired, RELAXED);
		out->rejected += BSHM_LOAD(&shard->rejected, RELAXED);
		out->lock_timeouts += BSHM_LOAD(&shard->timeouts, RELAXED);
		out->repairs += BSHM_LOAD(&shard->repairs, RELAXED);
	}
	for (uint32_t i = 0; i <= BSHM_OWNER_COUNT; i++) {
		out->hits += BSHM_LOAD(&segment->tallies[i].hits, RELAXED);
		out->misses += BSHM_LOAD(&segment->tallies[i].misses, RELAXED);
		out->sets += BSHM_LOAD(&segment->tallies[i].sets, RELAXED);
	}
	const uint64_t pages = (uint64_t) segment->shard_count * segment->shard_pages;
	const uint64_t unused = pages - bshm__store_pages_used(segment);
	const uint64_t fixed = (uint64_t) (segment->pages - (uint8_t *) segment->shards);
	out->bytes_used = fixed + (pages - unused) * BSHM_SLAB_BYTES;
	return BSHM_OK;
}
