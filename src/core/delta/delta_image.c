/*
 * delta_image.c - a filter's file that is read for a delta: an image.
 *
 * It is read once from its beginning to its end, except for the checksums at its end, which are
 * read first: with the head they make its check, which names it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/delta/delta_image.h"

#include "core/bshm.h"
#include "core/hash.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_COUNT 32u /* partitions that are read at a time: 256 kB */

uint64_t bshm__delta_image_check(const bshm__filter_head *head, const uint64_t *end)
{
	const uint32_t layer_count = head->header.layer_count;
	XXH3_state_t hash;
	XXH3_64bits_reset(&hash);
	XXH3_64bits_update(&hash, &head->raw, bshm__head_bytes(layer_count));
	XXH3_64bits_update(&hash, end, bshm__head_end_bytes(layer_count));
	return XXH3_64bits_digest(&hash);
}

bshm_status bshm__delta_image_plain(const bshm__filter_head *head, bshm_error *error)
{
	const uint32_t flags = bshm__kind_flags(head->header.kind);
	if ((flags & (BSHM_F_WINDOW | BSHM_F_COUNTS)) == 0) {
		return BSHM_OK;
	}
	return bshm__fail(error, BSHM_E_INCOMPATIBLE,
		(flags & BSHM_F_COUNTS) != 0 ? BSHM_CAUSE_COUNTING : BSHM_CAUSE_WINDOW);
}

bshm_status bshm__delta_image_same(
	const bshm__filter_head *a, const bshm__filter_head *b, bshm_error *error)
{
	if (a->header.kind != b->header.kind) {
		return bshm__fail(error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_KIND);
	}
	if (a->header.seed != b->header.seed) {
		return bshm__fail(error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_SEED);
	}
	for (uint32_t i = 0; i < a->header.layer_count && i < b->header.layer_count; i++) {
		if (a->layers[i].run.count != b->layers[i].run.count ||
			a->layers[i].hash_count != b->layers[i].hash_count) {
			return bshm__fail(error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_GEOMETRY);
		}
	}
	return BSHM_OK;
}

static bshm_status read_end(bshm__delta_image *image)
{
	const uint32_t layer_count = image->head.header.layer_count;
	const size_t bytes = bshm__head_end_bytes(layer_count);
	uint64_t expected[BSHM_LAYERS_MAX + 1];
	bshm_status status = bshm__input_seek(&image->in, image->in.bytes - bytes);
	if (status == BSHM_OK) {
		status = bshm__input_get(&image->in, image->end, bytes);
	}
	if (status != BSHM_OK) {
		return status;
	}
	memcpy(expected, image->end, bytes);
	bshm__head_end(expected, layer_count);
	if (expected[layer_count] != image->end[layer_count]) {
		return bshm__fail(&image->error, BSHM_E_CORRUPT, BSHM_CAUSE_CHECKSUM);
	}
	image->check = bshm__delta_image_check(&image->head, image->end);
	return bshm__input_seek(&image->in, bshm__head_bytes(layer_count));
}

bshm_status bshm__delta_image_open(bshm__delta_image *image, const char *path)
{
	image->error = (bshm_error){0};
	memset(&image->head.raw, 0, sizeof(image->head.raw)); /* layers that are not there are zero */
	image->block = malloc((size_t) BLOCK_COUNT * BSHM_PARTITION_BYTES);
	bshm_status status = bshm__input_open(&image->in, path, &image->error);
	if (status == BSHM_OK && image->block == NULL) {
		status = bshm__fail(&image->error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	if (status == BSHM_OK) {
		status = bshm__head_get(&image->in, &image->head);
	}
	return status == BSHM_OK ? read_end(image) : status;
}

void bshm__delta_image_layer(bshm__delta_image *image, uint32_t layer, uint32_t partition_count)
{
	image->left = layer < image->head.header.layer_count ? partition_count : 0;
	image->block_at = image->block_count = 0;
	bshm__input_check(&image->in); /* begins anew */
}

uint64_t *bshm__delta_image_next(bshm__delta_image *image)
{
	if (image->block_at == image->block_count) {
		if (image->left == 0) {
			return memset(image->block, 0, BSHM_PARTITION_BYTES);
		}
		image->block_at = 0;
		image->block_count = image->left < BLOCK_COUNT ? image->left : BLOCK_COUNT;
		image->left -= image->block_count;
		if (bshm__input_get(&image->in, image->block,
				(size_t) image->block_count * BSHM_PARTITION_BYTES) != BSHM_OK) {
			return NULL;
		}
	}
	return image->block + (size_t) image->block_at++ * BSHM_PARTITION_WORDS;
}

bshm_status bshm__delta_image_layer_end(bshm__delta_image *image, uint32_t layer)
{
	const uint64_t found = bshm__little64(bshm__input_check(&image->in));
	return layer >= image->head.header.layer_count || found == image->end[layer]
			   ? BSHM_OK
			   : bshm__fail(&image->error, BSHM_E_CORRUPT, BSHM_CAUSE_CHECKSUM);
}

void bshm__delta_image_close(bshm__delta_image *image)
{
	bshm__input_close(&image->in);
	free(image->block);
}

bshm_status bshm_image_check(const char *path, uint64_t *check, uint64_t *bytes, bshm_error *error)
{
	bshm__delta_image image;
	const bshm_status status = bshm__delta_image_open(&image, path);
	*check = status == BSHM_OK ? image.check : 0;
	*bytes = status == BSHM_OK ? image.in.bytes : 0;
	*error = image.error;
	bshm__delta_image_close(&image);
	return status;
}
