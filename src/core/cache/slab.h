/*
 * slab.h - pages of 16 kB, divided into slots of one size each.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_SLAB_H
#define BSHM_CACHE_SLAB_H

#include "core/cache/shard.h"

/* The first byte of a slot, or NULL: `ref` does not lead into the shard's pages, with room for `bytes`. */
static inline uint8_t *bshm__ref_at(const bshm__shard *s, uint32_t ref, uint32_t bytes)
{
	const uint32_t units = ref - s->first_ref; /* wraps for what is before */
	const uint64_t offset = (uint64_t) units * BSHM_SLOT_UNIT;
	if (BSHM_UNLIKELY(offset + bytes > s->segment->shard_bytes)) {
		return NULL;
	}
	return s->slabs + offset;
}

/* Asks for the head and the map of the page that a ref leads into. */
static inline void bshm__page_prefetch(const bshm__shard *s, uint32_t ref)
{
	const uintptr_t number = (ref >> 12) - 1; /* a damaged ref may lead anywhere */
	__builtin_prefetch((const void *) ((uintptr_t) s->segment->pages + number * sizeof(bshm_page)));
	__builtin_prefetch((const void *) ((uintptr_t) s->segment->maps + number * sizeof(bshm_map)));
}

static inline uint32_t *bshm__slot_word(uint8_t *slot, uint32_t word)
{
	return (uint32_t *) (void *) (slot + 4 * (size_t) word);
}

/* A word of a slot, whose ref is known to be good. */
static inline uint32_t bshm__word(const bshm__shard *s, uint32_t ref, uint32_t word)
{
	return BSHM_LOAD(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), word), RELAXED);
}

static inline void bshm__word_set(const bshm__shard *s, uint32_t ref, uint32_t word, uint32_t value)
{
	BSHM_STORE(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), word), value, RELAXED);
}

/*
 * Of a slot that is taken, and whole: from here on it is a record. Whoever is led to it by an old ref sees no
 * more of it than its state, and relies on that.
 */
static inline void bshm__slot_live(const bshm__shard *s, uint32_t ref, uint32_t state)
{
	uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	BSHM_STORE(bshm__slot_word(slot, 0), state, RELEASE); /* pairs with bshm__record_load() */
}

uint32_t bshm__class_of(uint32_t bytes); /* the smallest class with slots of so many bytes */
uint32_t bshm__class_bytes(uint32_t size_class);
uint32_t bshm__class_slots(uint32_t size_class); /* of a page */
static inline bool bshm__class_of_chunks(uint32_t size_class)
{
	return size_class == BSHM_CLASS_CHUNK || size_class == BSHM_CLASS_HALF;
}

/* All under the shard's lock. */

/* The number in the shard, + 1, of the page that a ref leads into. */
static inline uint32_t bshm__page_number(const bshm__shard *s, uint32_t ref)
{
	return (ref >> 12) - s->first_page;
}

/* A free slot, not in the page of that number; 0: there is none. It is nobody's until bshm__slot_take(). */
uint32_t bshm__slot_find(const bshm__shard *s, uint32_t size_class, uint32_t avoid);
void bshm__slot_take(const bshm__shard *s, uint32_t ref);
/* Harmless when it is free. Its contents end here, for those who still read them. */
void bshm__slot_free(const bshm__shard *s, uint32_t ref);
/* The same in a page that is being emptied: it is not where the next slot is looked for. */
void bshm__slot_vacate(const bshm__shard *s, uint32_t ref);
/* The class of the page that a ref leads into; BSHM_CLASS_COUNT: none. */
uint32_t bshm__ref_class(const bshm__shard *s, uint32_t ref);
/* Is it the first byte of a slot that is taken? */
bool bshm__slot_taken(const bshm__shard *s, uint32_t ref);
/* Somebody died at work: the counts of pages and slots may be one off. */
void bshm__slabs_doubt(const bshm__shard *s);
/* Those who are reading start anew: memory gets another meaning. */
void bshm__sequence_jump(const bshm__shard *s);
/* How many slots of a class there is room for, without taking anything away. */
uint64_t bshm__slots_free(const bshm__shard *s, uint32_t size_class);
/* Pages by their number in the shard, + 1. The one whose taken slots fit into the others of the class
 * with the least moving; 0 = none. */
uint32_t bshm__page_to_empty(const bshm__shard *s, uint32_t size_class);
/* Are so many slots of the class free in its pages that one could be emptied, and `needed` were free still;
 * and, unless that is the last resort, some more? */
bool bshm__class_wasteful(
	const bshm__shard *s, uint32_t size_class, uint32_t needed, bool to_the_last);
/* Gives the page back if all its slots are free. */
bool bshm__page_release(const bshm__shard *s, uint32_t number);
uint32_t bshm__page_class(const bshm__shard *s, uint32_t number); /* BSHM_CLASS_COUNT: free */
uint64_t bshm__page_taken(const bshm__shard *s, uint32_t number, uint32_t word);
uint32_t bshm__page_ref(const bshm__shard *s, uint32_t number, uint32_t slot);
uint64_t bshm__store_pages_used(const bshm_segment *segment);

#endif
