/*
 * layers.c - the older layers of a filter: layers[] of the segment.
 *
 * A filter that grows keeps its layers. The descriptor has the newest one, and names the place in
 * layers[] of the next older one, which names the next, and so on. A place is in use exactly if a
 * sound descriptor in force leads to it, as with partitions (blocks.c). It is written before that
 * descriptor is published, and reused only when the last descriptor that led to it is no longer in
 * force. So if a reader finds the generation unchanged after it has read the chain, the chain was
 * the right one. The checksum of each layer covers the checksum of the next older one; that of the
 * descriptor covers them all.
 *
 * The second layer of a filter has at least two partitions, the third four, and so on. So places
 * for a third of the partitions are enough, with some for a filter that is just growing
 * (regions.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/layers.h"

#include "core/segment/name.h"
#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "platform/atomic.h"

#include <string.h>

#define LAYER_WORDS (sizeof(bshm_layer) / sizeof(uint64_t))

static void write_record(bshm_segment *segment, uint32_t index, const bshm_layer *layer)
{
	uint64_t words[LAYER_WORDS];
	memcpy(words, layer, sizeof(words));
	uint64_t *to = (uint64_t *) (void *) &segment->layers[index];
	for (size_t i = 0; i < LAYER_WORDS; i++) {
		BSHM_STORE(&to[i], words[i], RELAXED);
	}
}

/* ------------------------------------------------------------------ storing (under the lock) */

static bool is_used(const uint64_t *map, uint32_t index)
{
	return (map[index / 64] >> (index % 64) & 1) != 0;
}

static void mark_used(const bshm_segment *segment, uint64_t *map)
{
	memset(map, 0, ((size_t) segment->layer_count + 63) / 64 * sizeof(*map));
	for (uint32_t i = 0; i < segment->entry_count; i++) {
		const bshm_entry *entry = &segment->entries[i];
		const uint64_t generation = BSHM_LOAD(&entry->generation, RELAXED);
		if (generation == 0 || entry->descriptor[generation & 1].newest.older == 0) {
			continue;
		}
		const bshm_descriptor descriptor = bshm__descriptor_read(entry, generation);
		bshm_layer layers[BSHM_LAYERS_MAX];
		const bshm__name name = bshm__entry_name(entry);
		if (!bshm__descriptor_sound(segment, &name, &descriptor, generation) ||
			!bshm__layers_read(segment, &descriptor, layers)) {
			continue;
		}
		for (uint32_t k = 1; k < descriptor.layer_count; k++) {
			map[(layers[k].older - 1) / 64] |= UINT64_C(1) << ((layers[k].older - 1) % 64);
		}
	}
}

bool bshm__layers_store(bshm_segment *segment, bshm_descriptor *descriptor,
	const bshm_layer *layers, uint32_t count, uint64_t *map)
{
	if (count > 1) {
		mark_used(segment, map);
		/* Readers of a chain that led here before see that its generation has moved: pairs with
		 * bshm__view_current(). */
		BSHM_FENCE(RELEASE);
	}
	uint32_t older = 0;
	uint64_t older_check = 0;
	uint32_t place = 0;
	for (uint32_t i = 0;; i++) {
		bshm_layer layer = layers[i];
		layer.older = older;
		layer.older_check = older_check;
		layer.check = bshm__layer_check(segment, &layer);
		if (i + 1 == count) {
			descriptor->newest = layer;
			descriptor->layer_count = count;
			return true;
		}
		while (place < segment->layer_count && is_used(map, place)) {
			place++;
		}
		if (place == segment->layer_count) {
			return false;
		}
		write_record(segment, place, &layer);
		older = ++place;
		older_check = layer.check;
	}
}
