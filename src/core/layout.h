/*
 * layout.h - a hash of the sizes and places in the segment, by which builds recognise its layout.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_LAYOUT_H
#define BSHM_LAYOUT_H

#include "core/bshm.h"
#include "core/format_store.h"

BSHM_STATIC_ASSERT(segment_magic, BSHM_MAGIC == BSHM_SEGMENT_MAGIC);

/* Two builds that disagree about any size or place refuse each other's segments. */
static inline uint64_t bshm__layout_word(void)
{
	const uint64_t parts[] = {
		BSHM_LAYOUT_VERSION,
		sizeof(bshm_header),
		sizeof(bshm_owner) * BSHM_OWNER_COUNT,
		sizeof(bshm_op) * BSHM_OP_COUNT,
		sizeof(bshm_entry),
		sizeof(bshm_descriptor),
		sizeof(bshm_layer),
		sizeof(bshm_chunk),
		BSHM_PARTITION_BYTES,
		offsetof(bshm_header, directory_version),
		offsetof(bshm_op, run),
		offsetof(bshm_descriptor, newest),
		offsetof(bshm_entry, items),
		sizeof(bshm_store) + sizeof(bshm_tally) * (BSHM_OWNER_COUNT + 1),
		sizeof(bshm_shard_header),
		sizeof(bshm_lease) * BSHM_LEASE_COUNT,
		sizeof(bshm_table),
		sizeof(bshm_bucket),
		sizeof(bshm_page_header),
		sizeof(bshm_page_bitmap),
		BSHM_SLAB_BYTES,
		offsetof(bshm_shard_header, intent),
	};
	uint64_t word = UINT64_C(0xcbf29ce484222325); /* FNV-1a, a part at a time */
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		word = (word ^ parts[i]) * UINT64_C(0x100000001b3);
	}
	return word;
}

#endif
