/*
 * source.c - where followed filters come from: a few texts in the header.
 *
 * A filter's descriptor names the place of its text; filters of one source share a place. A place
 * is in use exactly if a sound descriptor in force names it, as with partitions (blocks.c). It is
 * written before that descriptor is published, and never while one in force names it. So if a
 * reader finds the generation unchanged after it has read the text, the text was the right one.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/source.h"

#include "core/hash.h"
#include "core/segment/name.h"
#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "platform/atomic.h"

#include <string.h>

#define SOURCE_WORDS (sizeof(bshm_source) / sizeof(uint64_t))

static uint64_t check_of(const bshm_segment *segment, const bshm_source *source)
{
	return bshm__checksum(source->text, sizeof(source->text), segment->name_seed);
}

/* Words, because a process that looks at a set from before may be reading. */
static void copy(uint64_t *to, const uint64_t *from)
{
	for (size_t i = 0; i < SOURCE_WORDS; i++) {
		BSHM_STORE(&to[i], BSHM_LOAD(&from[i], RELAXED), RELAXED);
	}
}

bool bshm__source_read(
	const bshm_segment *segment, uint32_t place, char out[BSHM_SOURCE_BYTES_MAX + 1])
{
	bshm_source source;
	out[0] = '\0';
	place &= ~BSHM_SOURCE_SENDS;
	if (place < 1 || place > BSHM_SOURCE_COUNT) {
		return false;
	}
	copy((uint64_t *) &source, (const uint64_t *) &segment->header->sources[place - 1]);
	if (source.check != check_of(segment, &source)) {
		return false;
	}
	memcpy(out, source.text, sizeof(source.text));
	out[sizeof(source.text)] = '\0';
	return true;
}

/* The places that descriptors in force name, as bits. */
static uint32_t used_places(const bshm_segment *segment)
{
	uint32_t used = 0;
	for (uint32_t i = 0; i < segment->entry_count; i++) {
		const bshm_entry *entry = &segment->entries[i];
		const uint64_t generation = BSHM_LOAD(&entry->generation, RELAXED);
		const uint32_t place =
			BSHM_LOAD(&entry->descriptor[generation & 1].source, RELAXED) & ~BSHM_SOURCE_SENDS;
		if (generation == 0 || place < 1 || place > BSHM_SOURCE_COUNT) {
			continue;
		}
		const bshm_descriptor descriptor = bshm__descriptor_read(entry, generation);
		const bshm__name name = bshm__entry_name(entry);
		if (bshm__descriptor_sound(segment, &name, &descriptor, generation)) {
			used |= 1u << (place - 1);
		}
	}
	return used;
}

uint32_t bshm__source_store(bshm_segment *segment, const char *text)
{
	char found[BSHM_SOURCE_BYTES_MAX + 1];
	for (uint32_t place = 1; place <= BSHM_SOURCE_COUNT; place++) {
		if (bshm__source_read(segment, place, found) && strcmp(found, text) == 0) {
			return place;
		}
	}
	const uint32_t used = used_places(segment);
	for (uint32_t i = 0; i < BSHM_SOURCE_COUNT; i++) {
		if ((used >> i & 1) == 0) {
			bshm_source source = {0};
			memcpy(source.text, text, strlen(text));
			source.check = check_of(segment, &source);
			/* A reader that sees these words also sees that the filter that had the place is not
			 * in force any more: pairs with bshm__view_current(). */
			BSHM_FENCE(RELEASE);
			copy((uint64_t *) &segment->header->sources[i], (const uint64_t *) &source);
			return i + 1;
		}
	}
	return 0;
}
