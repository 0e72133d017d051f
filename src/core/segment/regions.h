/*
 * regions.h - the regions of a segment: how many elements each has, and where it lies.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_REGIONS_H
#define BSHM_REGIONS_H

#include "core/segment/segment.h"

/* How many partitions, entries, chunks and layers there are. */
void bshm__regions_count(bshm_segment *segment, uint64_t partition_count);
/* How many shards, tables and pages; 0 bytes: no record store. */
void bshm__regions_count_store(bshm_segment *segment, uint64_t cache_bytes, uint64_t cache_records);
/* Sets the regions from the counts; returns the bytes of the whole file. */
uint64_t bshm__regions_lay_out(bshm_segment *segment, const uint8_t *base);

#endif
