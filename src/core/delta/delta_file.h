/*
 * delta_file.h - the parts of the file of a delta.
 *
 *      +----------------------+
 *      | header               |  64 bytes: which two images, with a checksum
 *      +----------------------+
 *      | changes of the heads |  of the header, and of each layer: which words, and their changes
 *      +----------------------+
 *      | group, changes       |  32 bytes, and the changed bits of up to 4,096 partitions; as many
 *      | ...                  |  groups as there are
 *      +----------------------+
 *      | uint64               |  XXH3-64 of all bytes before it
 *      +----------------------+
 *
 * A change is the exclusive or of the two images, so a delta leads from either image to the other.
 * Numbers have the lowest byte first. docs/FORMAT.md has the offsets.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_DELTA_FILE_H
#define BSHM_DELTA_FILE_H

#include "core/bshm.h"
#include "core/file.h"
#include "core/format.h"

#include <stddef.h>

#define BSHM_DELTA_VERSION 1u
#define BSHM_DELTA_RAW     255u  /* in the place of a parameter: bits as they are */
#define BSHM_DELTA_LONGEST 4096u /* partitions of a group, */
#define BSHM_DELTA_RAW_MAX 64u   /* and of one whose bits are raw */
/* The bytes behind a group. Of an honest one: 57,342 gaps of 29 bits, or 64 partitions. */
#define BSHM_DELTA_BYTES_MAX (BSHM_DELTA_RAW_MAX * BSHM_PARTITION_BYTES)

typedef struct {
	uint64_t magic;
	uint32_t version;
	uint32_t layer_count; /* of the image that has more */
	uint64_t from_bytes;
	uint64_t to_bytes;
	uint64_t from_check;
	uint64_t to_check;
	uint64_t reserved;
	uint64_t check; /* XXH3-64 of the bytes before it */
} bshm__delta_header;

typedef struct {
	uint32_t partition_count;
	uint8_t parameter;      /* of Rice's code */
	uint8_t line_parameter; /* of short gaps */
	uint8_t reserved[2];
	uint32_t changed;    /* bits */
	uint32_t bytes;      /* that follow */
	uint64_t from_check; /* XXH3-64 of the partitions in the one image, */
	uint64_t to_check;   /* and in the other */
} bshm__delta_group;

BSHM_STATIC_ASSERT(delta_header, sizeof(bshm__delta_header) == 64);
BSHM_STATIC_ASSERT(delta_header_check, offsetof(bshm__delta_header, check) == 56);
BSHM_STATIC_ASSERT(delta_group, sizeof(bshm__delta_group) == 32);

static inline void bshm__delta_swap_header(bshm__delta_header *h)
{
	h->magic = bshm__little64(h->magic);
	h->version = bshm__little32(h->version);
	h->layer_count = bshm__little32(h->layer_count);
	h->from_bytes = bshm__little64(h->from_bytes);
	h->to_bytes = bshm__little64(h->to_bytes);
	h->from_check = bshm__little64(h->from_check);
	h->to_check = bshm__little64(h->to_check);
	h->check = bshm__little64(h->check);
}

static inline void bshm__delta_swap_group(bshm__delta_group *g)
{
	g->partition_count = bshm__little32(g->partition_count);
	g->changed = bshm__little32(g->changed);
	g->bytes = bshm__little32(g->bytes);
	g->from_check = bshm__little64(g->from_check);
	g->to_check = bshm__little64(g->to_check);
}

/* Whose error is it? The first that is one, with the number of its file. Returns its status. */
static inline bshm_status bshm__delta_tell(
	bshm_error *out, const bshm_error *first, const bshm_error *second, const bshm_error *third)
{
	const bshm_error *const of[] = {first, second, third};
	uint32_t i = 0;
	while (i < 2 && of[i]->status == BSHM_OK) {
		i++;
	}
	*out = *of[i];
	out->source = i + 1;
	return out->status;
}

#endif
