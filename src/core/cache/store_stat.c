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

static bshm_class_use use_of(uint32_t size_class)
{
	return size_class < BSHM_CLASS_RECORDS     ? BSHM_CLASS_FOR_RECORDS
		   : bshm__class_of_chunks(size_class) ? BSHM_CLASS_FOR_PARTS
											   : BSHM_CLASS_FOR_INDEX;
}

unsigned bshm_store_classes(const bshm_segment *segment, bshm_class_info *out)
{
	unsigned count = 0;
	for (uint32_t i = 0; i < BSHM_CLASS_COUNT; i++) {
		uint64_t pages = 0;
		uint64_t used = 0;
		for (uint32_t k = 0; k < segment->shard_count; k++) {
			const bshm_class *c = &segment->shards[k].classes[i];
			pages += BSHM_LOAD(&c->pages, RELAXED);
			used += BSHM_LOAD(&c->used, RELAXED);
		}
		if (pages != 0) {
			out[count++] = (bshm_class_info){use_of(i), bshm__class_bytes(i),
				pages * BSHM_SLAB_BYTES, pages * bshm__class_slots(i), used};
		}
	}
	return count;
}
