/*
 * filter_head.h - the head of a filter's file: the header and the layers.
 *
 *      +----------------------+
 *      | header               |  192 bytes: parameters, seed, counts, with a checksum
 *      +----------------------+
 *      | layer []             |  64 bytes a layer, the oldest first, each with a checksum
 *      +----------------------+
 *
 * docs/FORMAT.md has the offsets. A head that was read is used only after all its numbers were
 * checked.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_FILTER_HEAD_H
#define BSHM_FILTER_HEAD_H

#include "core/file.h"
#include "core/format.h"

#include <stddef.h>

typedef struct {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes;
	uint64_t file_bytes;
	uint64_t seed;
	uint64_t capacity;
	uint64_t error_rate;
	uint64_t published_s;
	uint64_t dumped_s;
	uint64_t items;
	uint64_t phase_ns; /* sliding: how far into its epoch the filter was at dumped_s */
	uint32_t kind;
	uint32_t expansion;
	uint32_t window_s;
	uint32_t layer_count;
	uint32_t sized;
	uint32_t reserved0;
	uint8_t name[BSHM_NAME_MAX + 1];
	uint8_t reserved1[16];
	uint64_t check; /* XXH3-64 of the bytes before it */
} bshm__filter_header;

typedef struct {
	uint64_t partition_count;
	uint64_t capacity;
	uint64_t items_before;
	uint64_t error_rate;
	uint32_t hash_count;
	uint32_t reserved0;
	uint8_t reserved1[16];
	uint64_t check; /* XXH3-64 of the bytes before it */
} bshm__filter_layer;

BSHM_STATIC_ASSERT(filter_header, sizeof(bshm__filter_header) == 192);
BSHM_STATIC_ASSERT(filter_header_name, offsetof(bshm__filter_header, name) == 104);
BSHM_STATIC_ASSERT(filter_header_check, offsetof(bshm__filter_header, check) == 184);
BSHM_STATIC_ASSERT(filter_layer, sizeof(bshm__filter_layer) == 64);
BSHM_STATIC_ASSERT(filter_layer_check, offsetof(bshm__filter_layer, check) == 56);

/* As it is in the file: the bytes and their order. */
typedef struct {
	bshm__filter_header header;
	bshm__filter_layer layers[BSHM_LAYERS_MAX];
} bshm__filter_raw;

typedef struct {
	bshm__filter_raw raw;
	bshm__filter_header header; /* in this machine's byte order */
	bshm_layer layers[BSHM_LAYERS_MAX];
} bshm__filter_head;

/* How many bytes of a file are its head. */
static inline size_t bshm__head_bytes(uint32_t layer_count)
{
	return sizeof(bshm__filter_header) + layer_count * sizeof(bshm__filter_layer);
}

/* How many checksums end a file: one a layer, and theirs. */
static inline size_t bshm__head_end_bytes(uint32_t layer_count)
{
	return (layer_count + 1) * sizeof(uint64_t);
}

/* A checksum in the file's byte order. */
uint64_t bshm__head_check(const void *bytes, size_t count);
/* The checksum of the checksums of `layer_count` layers goes behind them. */
void bshm__head_end(uint64_t *checks, uint32_t layer_count);

/* Fills in magic, version and sizes, and writes the head. */
void bshm__head_put(bshm__output *out, bshm__filter_header h, const bshm_layer *layers);

/* Takes the numbers from head->raw, with their checksums: OK, or INCOMPATIBLE, CORRUPT. */
bshm_status bshm__head_take(bshm__filter_head *head, bshm_error *error);
/* Reads a head from the beginning of a file, whose size must be what the head says: as
 * bshm__head_take(), or IO. */
bshm_status bshm__head_get(bshm__input *in, bshm__filter_head *head);

#endif
