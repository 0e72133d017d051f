/*
 * delta_image.h - a filter's file that is read for a delta: an image.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_DELTA_IMAGE_H
#define BSHM_DELTA_IMAGE_H

#include "core/file.h"
#include "core/filter/filter_head.h"

typedef struct {
	bshm__input in;
	bshm_error error; /* of this file */
	bshm__filter_head head;
	uint64_t end[BSHM_LAYERS_MAX + 1]; /* as it is in the file */
	uint64_t check;
	uint64_t *block; /* of partitions: so many, */
	uint32_t block_count;
	uint32_t block_at; /* and this one is the next */
	uint32_t left;     /* partitions of the layer that are not in a block yet */
} bshm__delta_image;

/* The check of an image, of its head and its end. */
uint64_t bshm__delta_image_check(const bshm__filter_head *head, const uint64_t *end);
/* Can the bits of such a filter be carried by a delta? Else INCOMPATIBLE. */
bshm_status bshm__delta_image_plain(const bshm__filter_head *head, bshm_error *error);
/* Do the bits of both mean the same? Else INCOMPATIBLE, and the cause says what is another. */
bshm_status bshm__delta_image_same(
	const bshm__filter_head *a, const bshm__filter_head *b, bshm_error *error);

/* Reads head and end, and goes to the first partition: OK, IO, CORRUPT, INCOMPATIBLE, NO_SPACE.
 * Every image that was opened must be closed, whatever this returns. */
bshm_status bshm__delta_image_open(bshm__delta_image *image, const char *path);
/* Begins the next layer, of `partition_count` partitions. If the image has no such layer, they are
 * all zero. */
void bshm__delta_image_layer(bshm__delta_image *image, uint32_t layer, uint32_t partition_count);
/* The next partition's words as they are in the file, which the caller may change; NULL:
 * image->error says why. */
uint64_t *bshm__delta_image_next(bshm__delta_image *image);
/* After the layer's last partition: do they have the checksum that ends the file? Else CORRUPT. */
bshm_status bshm__delta_image_layer_end(bshm__delta_image *image, uint32_t layer);
void bshm__delta_image_close(bshm__delta_image *image);

#endif
