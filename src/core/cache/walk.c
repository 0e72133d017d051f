/*
 * walk.c - walks the records of a shard in the order of memory.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/walk.h"

uint32_t bshm__walk_next(const bshm__shard *s, bshm__walk *w, uint32_t *state)
{
	while (w->visited <= s->segment->shard_pages) {
		const uint32_t size_class = bshm__page_class(s, w->page + 1);
		const uint32_t slots = size_class < BSHM_CLASS_RECORDS ? bshm__class_slots(size_class) : 0;
		while (w->slot < slots) {
			const uint64_t taken =
				bshm__page_taken(s, w->page + 1, size_class, w->slot / 64) >> (w->slot % 64);
			if (taken == 0) {
				w->slot = (w->slot / 64 + 1) * 64;
				continue;
			}
			w->slot += BSHM_LOWEST_BIT(taken);
			if (w->slot >= slots) {
				break; /* damaged: the page has no such slot, and it could not be freed */
			}
			const uint32_t ref = bshm__page_ref(s, w->page + 1, size_class, w->slot++);
			uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
			*state = slot == NULL ? 0 : BSHM_LOAD(bshm__slot_word(slot, 0), RELAXED);
			if ((*state & BSHM_SLOT_LIVE) != 0) {
				return ref;
			}
		}
		w->slot = 0;
		w->page = w->page + 1 < s->segment->shard_pages ? w->page + 1 : 0;
		w->visited++;
	}
	return 0;
}
