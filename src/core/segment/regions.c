/*
 * regions.c - the regions of a segment: how many elements each has, and where it lies.
 *
 * Both follow from three numbers of the header: the partitions, and the record store's bytes and
 * records. So the process that makes a segment and those that attach to it work out the same.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/regions.h"

#include "core/segment/segment.h"

#define CACHE_LINE 64u

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

/* In integers, because a pointer is not valid before anything is mapped at the base. */
static void *at(const uint8_t *base, uint64_t off)
{
	return (void *) ((uintptr_t) base + (uintptr_t) off);
}

/*
 * The regions of the record store, from `off` on: from the shards on they fit in cache_bytes.
 * Returns their end.
 */
static uint64_t lay_out_store(bshm_segment *segment, const uint8_t *base, uint64_t off)
{
	const uint64_t shards = segment->shard_count;
	segment->store = at(base, off);
	off += sizeof(bshm_store);
	segment->tallies = at(base, off);
	off += sizeof(bshm_tally) * (BSHM_OWNER_COUNT + 1);
	const uint64_t begin = off;
	segment->shards = at(base, off);
	off += sizeof(bshm_shard_header) * shards;
	segment->leases = at(base, off);
	off += sizeof(bshm_lease) * BSHM_LEASE_COUNT * shards;
	segment->roots = at(base, off);
	off += round_up(sizeof(uint64_t) * (uint64_t) segment->table_count, CACHE_LINE);
	segment->tables = at(base, off);
	off += sizeof(bshm_table) * (uint64_t) segment->table_count;
	segment->page_headers = at(base, off);
	const uint64_t fixed = round_up(off - begin, BSHM_PAGE_BYTES) + BSHM_PAGE_BYTES;
	const uint64_t bytes = segment->cache_bytes - fixed;
	const uint64_t pages =
		bytes / (BSHM_SLAB_BYTES + sizeof(bshm_page_header) + sizeof(bshm_page_bitmap));
	segment->shard_pages = (uint32_t) (pages / shards);
	segment->shard_bytes = segment->shard_pages * (uint64_t) BSHM_SLAB_BYTES;
	segment->period_shift = 0;
	while (segment->shard_bytes >> segment->period_shift >= 1u << (BSHM_PERIOD_BITS - 1)) {
		segment->period_shift++;
	}
	segment->epoch_units = 1;
	while (segment->shard_bytes >> segment->period_shift >= 2 * 16 * segment->epoch_units) {
		segment->epoch_units *= 2;
	}
	off += sizeof(bshm_page_header) * shards * segment->shard_pages;
	segment->page_bitmaps = at(base, off);
	off += sizeof(bshm_page_bitmap) * shards * segment->shard_pages;
	off = round_up(off, BSHM_PAGE_BYTES);
	segment->pages = at(base, off);
	return off + shards * segment->shard_bytes;
}

uint64_t bshm__regions_lay_out(bshm_segment *segment, const uint8_t *base)
{
	uint64_t off = 0;
	segment->header = at(base, off);
	off += sizeof(bshm_header);
	segment->owners = at(base, off);
	off += sizeof(bshm_owner) * BSHM_OWNER_COUNT;
	segment->ops = at(base, off);
	off += sizeof(bshm_op) * BSHM_OP_COUNT;
	segment->heads = at(base, off);
	off += round_up(sizeof(uint32_t) * segment->head_count, BSHM_PAGE_BYTES);
	segment->entries = at(base, off);
	off += round_up(sizeof(bshm_entry) * segment->entry_count, BSHM_PAGE_BYTES);
	segment->layers = at(base, off);
	off += round_up(sizeof(bshm_layer) * (uint64_t) segment->layer_count, BSHM_PAGE_BYTES);
	segment->tags = at(base, off);
	off += round_up(sizeof(uint64_t) * segment->chunk_count, BSHM_PAGE_BYTES);
	segment->chunks = at(base, off);
	off += sizeof(bshm_chunk) * segment->chunk_count;
	segment->links = at(base, off);
	off += round_up(sizeof(uint32_t) * (uint64_t) segment->partition_count, BSHM_PAGE_BYTES);
	segment->epochs = at(base, off);
	off += round_up(sizeof(uint64_t) * (uint64_t) segment->partition_count, BSHM_PAGE_BYTES);
	segment->partitions = at(base, off);
	off += (uint64_t) segment->partition_count * BSHM_PARTITION_BYTES;
	segment->store_off = off;
	if (segment->shard_count != 0) {
		off = lay_out_store(segment, base, off);
	}
	segment->outbox = NULL;
	if ((segment->features & BSHM_FEATURE_FLEET) != 0) {
		segment->outbox = at(base, off);
		off += sizeof(bshm_outbox) + (uint64_t) segment->chunk_count * BSHM_PAGE_BYTES;
	}
	return off;
}

static uint32_t clamp(uint64_t value, uint32_t least, uint32_t most)
{
	return value < least ? least : value > most ? most : (uint32_t) value;
}

/* A filter takes at least one partition, so a directory as large as the memory is never short. */
void bshm__regions_count(bshm_segment *segment, uint64_t partition_count)
{
	segment->partition_count = (uint32_t) partition_count;
	segment->entry_count = clamp(partition_count, BSHM_ENTRY_COUNT_MIN, BSHM_ENTRY_COUNT_MAX);
	segment->head_count = BSHM_ENTRY_COUNT_MIN;
	while (segment->head_count < segment->entry_count) {
		segment->head_count *= 2;
	}
	segment->chunk_count = clamp(partition_count / 32, BSHM_CHUNK_COUNT_MIN, BSHM_CHUNK_COUNT_MAX);
	/* Always enough, with those of a filter that is just growing: layers.c. */
	segment->layer_count = segment->partition_count / 3 + BSHM_LAYERS_MAX;
}

/*
 * A table of the index is meant for TABLE_RECORDS records, and grows in small steps; a shard has
 * several. A store of few tables has one shard: then recency is exact over the whole store. In a
 * larger store each shard is so large that the largest record, a quarter of the store or 64 MB, is
 * only a part of it.
 */
#define TABLE_BYTES   (UINT64_C(256) << 10)
#define TABLE_RECORDS 8192u
#define LONE_TABLES   256u
#define SHARD_BYTES   (UINT64_C(80) << 20)

void bshm__regions_count_store(bshm_segment *segment, uint64_t cache_bytes, uint64_t cache_records)
{
	if (cache_bytes == 0) {
		return;
	}
	uint64_t tables = cache_bytes / TABLE_BYTES;
	if (cache_records != 0 && cache_records / TABLE_RECORDS + 1 < tables) {
		tables = cache_records / TABLE_RECORDS + 1;
	}
	const bool lone = tables <= LONE_TABLES;
	segment->shard_count = lone ? 1 : clamp(cache_bytes / SHARD_BYTES, 3, BSHM_SHARD_MAX);
	segment->shard_tables = (uint32_t) (tables / segment->shard_count);
	segment->table_count = segment->shard_count * segment->shard_tables;
	segment->cache_bytes = cache_bytes;
	segment->cache_records = cache_records;
}
