/*
 * sound.c - reads descriptors and layers out of the segment, and says whether they are sound.
 *
 * No function here changes the segment or needs the lock. A descriptor may be replaced while it is
 * read, so the reader compares the generation before and after (directory.c). The numbers of a
 * sound descriptor may be used without further checks; a run is checked again where it is walked
 * (run.c).
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

/* Copies a record, word by word. */
static inline void read_words(void *to, const void *from, size_t bytes)
{
	const uint64_t *words = from;
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
		const uint64_t word = BSHM_LOAD(&words[i], RELAXED);
		memcpy((char *) to + i * sizeof(word), &word, sizeof(word));
	}
}

bshm_descriptor bshm__descriptor_read(const bshm_entry *entry, uint64_t generation)
{
	bshm_descriptor copy;
	read_words(&copy, &entry->descriptor[generation & 1], sizeof(copy));
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
	if ((descriptor->source & ~BSHM_SOURCE_SENDS) > BSHM_SOURCE_COUNT ||
		descriptor->max_lag_s > BSHM_MAX_LAG_MAX_S ||
		(descriptor->as_of_ns == 0) != (descriptor->source == 0)) {
		return false;
	}
	/* A filter is cleared with its first layer only: clear.c. */
	return (descriptor->state == BSHM_STATE_LIVE ||
			   (descriptor->state == BSHM_STATE_CLEARING && descriptor->layer_count == 1)) &&
		   bshm__kind_fits(descriptor->kind, descriptor->expansion, descriptor->window_s,
			   descriptor->layer_count) &&
		   bshm__layer_sound(segment, &descriptor->newest);
}

void bshm__descriptor_localize(bshm_descriptor *descriptor)
{
	descriptor->max_lag_s = 0;
	descriptor->source = 0;
	descriptor->source_epoch = 0;
	descriptor->source_version = 0;
	descriptor->as_of_ns = 0;
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
		read_words(&layers[i - 1], &segment->layers[older - 1], sizeof(layers[0]));
		if (layers[i - 1].check != layers[i].older_check ||
			!bshm__layer_sound(segment, &layers[i - 1])) {
			return false;
		}
	}
	return layers[0].older == 0;
}
