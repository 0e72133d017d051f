/*
 * sound.c - reads descriptors and layers out of the segment, and says whether they are sound.
 *
 * Nothing here changes the segment or needs the lock. A descriptor may be replaced while it is
 * read, so the reader compares the generation before and after (directory.c). A sound one may be
 * used without further checks of its numbers; a run is checked again where it is walked (run.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/sound.h"

#include "core/hash.h"
#include "core/segment/name.h"
#include "core/segment/run.h"
#include "core/segment/segment.h"
#include "platform/atomic.h"

#include <string.h>

#define DESCRIPTOR_WORDS (sizeof(bshm_descriptor) / sizeof(uint64_t))
#define LAYER_WORDS      (sizeof(bshm_layer) / sizeof(uint64_t))

bshm_descriptor bshm__descriptor_read(const bshm_entry *entry, uint64_t generation)
{
	const bshm_descriptor *descriptor = &entry->descriptor[generation & 1];
	const uint64_t *from = (const uint64_t *) (const void *) descriptor;
	uint64_t words[DESCRIPTOR_WORDS];
	for (size_t i = 0; i < DESCRIPTOR_WORDS; i++) {
		words[i] = BSHM_LOAD(&from[i], RELAXED);
	}
	bshm_descriptor copy;
	memcpy(&copy, words, sizeof(copy));
	return copy;
}

uint64_t bshm__descriptor_check(
	const bshm_segment *segment, const bshm_descriptor *descriptor, const bshm__name *name)
{
	const uint64_t seed = descriptor->state == BSHM_STATE_ABSENT
							  ? segment->name_seed
							  : bshm__checksum(name, sizeof(*name), segment->name_seed);
	return bshm__checksum(descriptor, offsetof(bshm_descriptor, check), seed);
}

bool bshm__descriptor_sound(const bshm_segment *segment, const bshm__name *name,
	const bshm_descriptor *descriptor, uint64_t generation)
{
	if (descriptor->generation != generation ||
		descriptor->check != bshm__descriptor_check(segment, descriptor, name)) {
		return false;
	}
	if (descriptor->state == BSHM_STATE_ABSENT) {
		return true;
	}
	/* A filter is cleared with its first layer only: clear.c. */
	return (descriptor->state == BSHM_STATE_LIVE ||
			   (descriptor->state == BSHM_STATE_CLEARING && descriptor->layer_count == 1)) &&
		   bshm__kind_fits(descriptor->kind, descriptor->expansion, descriptor->window_s,
			   descriptor->layer_count) &&
		   bshm__layer_sound(segment, &descriptor->newest);
}

/* ------------------------------------------------------------------ layers */

uint64_t bshm__layer_check(const bshm_segment *segment, const bshm_layer *layer)
{
	return bshm__checksum(layer, offsetof(bshm_layer, check), segment->name_seed);
}

bool bshm__layer_sound(const bshm_segment *segment, const bshm_layer *layer)
{
	return layer->check == bshm__layer_check(segment, layer) && layer->hash_count >= 1 &&
		   layer->hash_count <= BSHM_HASHES_MAX && bshm__run_in_bounds(segment, &layer->run);
}

static bshm_layer read_record(const bshm_segment *segment, uint32_t index)
{
	const uint64_t *from = (const uint64_t *) (const void *) &segment->layers[index];
	uint64_t words[LAYER_WORDS];
	for (size_t i = 0; i < LAYER_WORDS; i++) {
		words[i] = BSHM_LOAD(&from[i], RELAXED);
	}
	bshm_layer layer;
	memcpy(&layer, words, sizeof(layer));
	return layer;
}

bool bshm__layers_read(const bshm_segment *segment, const bshm_descriptor *descriptor,
	bshm_layer layers[BSHM_LAYERS_MAX])
{
	if (descriptor->layer_count < 1 || descriptor->layer_count > BSHM_LAYERS_MAX) {
		return false;
	}
	uint32_t i = descriptor->layer_count - 1;
	layers[i] = descriptor->newest;
	for (; i > 0; i--) {
		const uint32_t older = layers[i].older;
		if (older == 0 || older > segment->layer_count) {
			return false;
		}
		layers[i - 1] = read_record(segment, older - 1);
		if (layers[i - 1].check != layers[i].older_check ||
			!bshm__layer_sound(segment, &layers[i - 1])) {
			return false;
		}
	}
	return layers[0].older == 0;
}
