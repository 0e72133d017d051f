/*
 * shard.c - is there a record store? What time is it for its records?
 *
 * A shard has its own lock, pages, tables and recency; no ref of one shard leads into another.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/shard.h"
#include "platform/platform.h"

bool bshm_store_exists(const bshm_segment *segment)
{
	return segment->shard_count != 0;
}

uint64_t bshm__store_clock_ns(const bshm_segment *segment)
{
	return bshm_os_clock_cheap_ns() + segment->clock_offset;
}

uint32_t bshm__store_now_s(const bshm_segment *segment)
{
	const uint64_t now_ns = bshm__store_clock_ns(segment);
	return (uint32_t) ((now_ns + UINT64_C(500000000)) / UINT64_C(1000000000));
}

uint32_t bshm__store_next_s(const bshm_segment *segment)
{
	return (uint32_t) (bshm__store_clock_ns(segment) / UINT64_C(1000000000)) + 1;
}
