/*
 * slab.h - pages of 16 kB, divided into slots of one size each.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_SLAB_H
#define BSHM_CACHE_SLAB_H

#include "core/cache/shard.h"

/* The byte that a ref names. NULL: the shard's pages do not have `bytes` bytes from there on. */
static inline uint8_t *bshm__ref_at(const bshm__shard *s, uint32_t ref, uint32_t bytes)
{
	const uint32_t units = ref - s->first_ref; /* wraps for a ref below */
	const uint64_t offset = (uint64_t) units * BSHM_SLOT_UNIT;
	if (BSHM_UNLIKELY(offset + bytes > s->segment->shard_bytes)) {
		return NULL;
	}
	uint8_t *byte = s->pages + offset;
	if (byte == NULL) {
		BSHM_UNREACHABLE(); /* so callers compare only once: above */
	}
	return byte;
}

/* Prefetches the header and the bitmap of the page that a ref leads into: that at its end, too, if
 * the page has 512 slots at most. */
static inline void bshm__page_prefetch(const bshm__shard *s, uint32_t ref)
{
	const uintptr_t number = (ref >> 12) - 1; /* a damaged ref may lead anywhere */
	BSHM_PREFETCH(
		(const void *) ((uintptr_t) s->segment->page_headers + number * sizeof(bshm_page_header)));
	BSHM_PREFETCH(
		(const void *) ((uintptr_t) s->segment->page_bitmaps + number * sizeof(bshm_page_bitmap)));
	BSHM_PREFETCH((const void *) ((uintptr_t) s->segment->pages + (number + 1) * BSHM_SLAB_BYTES -
								  BSHM_MAP_BYTES / 2));
}

static inline uint32_t *bshm__slot_word(uint8_t *slot, uint32_t word)
{
	return (uint32_t *) (void *) (slot + 4 * (size_t) word);
}

/* A word of a slot, whose ref was checked before. */
static inline uint32_t bshm__word(const bshm__shard *s, uint32_t ref, uint32_t word)
{
	return BSHM_LOAD(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), word), RELAXED);
}

static inline void bshm__word_set(const bshm__shard *s, uint32_t ref, uint32_t word, uint32_t value)
{
	BSHM_STORE(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), word), value, RELAXED);
}

/* How many bytes a record takes besides those of key and value, about: the head of its slot, its
 * cell of the index, and what is left free. */
#define BSHM_RECORD_EXTRA 16u

/* The bytes of key and value of the record in a slot, whose state was read before. A hint: the
 * record may be another one by now, or damaged. */
static inline uint64_t bshm__slot_bytes(const bshm__shard *s, uint8_t *slot, uint32_t state)
{
	if (BSHM_LIKELY((state & BSHM_SLOT_CHAINED) == 0)) {
		const uint32_t shape = BSHM_LOAD(bshm__slot_word(slot, 1), RELAXED);
		return (shape & BSHM_SHAPE_BYTES) + (shape >> BSHM_SHAPE_VALUE & BSHM_SHAPE_BYTES);
	}
	const uint32_t word = (state & BSHM_SLOT_EXPIRES) != 0 ? 3 : 2;
	if ((size_t) (slot - s->pages) + BSHM_SLOT_BYTES_MIN + 4 > s->segment->shard_bytes) {
		return 0;
	}
	const uint64_t bytes =
		(uint64_t) (BSHM_LOAD(bshm__slot_word(slot, word), RELAXED) & BSHM_CHAIN_KEY) +
		BSHM_LOAD(bshm__slot_word(slot, word + 1), RELAXED);
	return bytes < BSHM_RECORD_BYTES_MAX ? bytes : BSHM_RECORD_BYTES_MAX;
}

/* Makes a record of a slot that is taken and filled. A look-up that meets the slot by an old ref
 * reads nothing of it but the state before this store. */
static inline void bshm__slot_live(const bshm__shard *s, uint32_t ref, uint32_t state)
{
	uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	/* Pairs with bshm__record_load(), find_plain(). */
	BSHM_STORE(bshm__slot_word(slot, 0), state, RELEASE);
}

uint32_t bshm__class_of(uint32_t bytes); /* the smallest class with slots of so many bytes */
uint32_t bshm__class_bytes(uint32_t size_class);
uint32_t bshm__class_slots(uint32_t size_class); /* of a page */
/* How many words the bitmap at the end of such a page has; 0: it lies with the others, and has
 * one. */
uint32_t bshm__class_map_words(uint32_t size_class);
/* The smallest class of chunks with room for so many bytes, 8,176 at most. */
uint32_t bshm__chunk_class(uint64_t bytes);
static inline bool bshm__class_of_chunks(uint32_t size_class)
{
	return size_class >= BSHM_CLASS_SHORT && size_class <= BSHM_CLASS_CHUNK;
}

static inline bool bshm__class_of_units(uint32_t size_class)
{
	return size_class >= BSHM_CLASS_UNITS && size_class <= BSHM_CLASS_INDEX;
}

/* All under the shard's lock. */

/* Pages are numbered in the shard, from 1 on; 0 = none. The page that a ref leads into. */
static inline uint32_t bshm__page_number(const bshm__shard *s, uint32_t ref)
{
	return (ref >> 12) - s->first_page;
}

/* A free slot, not in the page `avoid`; 0: there is none. It stays free until bshm__slot_take(). */
uint32_t bshm__slot_find(const bshm__shard *s, uint32_t size_class, uint32_t avoid);
void bshm__slot_take(const bshm__shard *s, uint32_t ref);
/* Frees a slot: its readers see that its version has changed. Harmless if it is free. */
void bshm__slot_free(const bshm__shard *s, uint32_t ref);
/* The same in a page that is being emptied: the next search for a free slot does not begin
 * there. */
void bshm__slot_vacate(const bshm__shard *s, uint32_t ref);
/* The class of the page that a ref leads into; BSHM_CLASS_COUNT: none. */
uint32_t bshm__ref_class(const bshm__shard *s, uint32_t ref);
/* Is it the first byte of a slot that is taken? */
bool bshm__slot_taken(const bshm__shard *s, uint32_t ref);
/* The counts of pages and slots may be wrong: a process died in the shard, or they are damaged. */
void bshm__slabs_doubt(const bshm__shard *s);
/* Memory gets another meaning: all look-ups in progress begin anew. */
void bshm__sequence_jump(const bshm__shard *s);
/* How much the sequence has moved since it was read. */
static inline uint64_t bshm__sequence_since(const bshm__shard *s, uint64_t sequence)
{
	return BSHM_LOAD(&s->shard->sequence, RELAXED) - sequence;
}

/* Have so many slots been freed since then that one of them may have its old version again? */
static inline bool bshm__versions_passed(const bshm__shard *s, uint64_t sequence)
{
	return bshm__sequence_since(s, sequence) >= BSHM_SLOT_VERSIONS;
}

/* Has memory got another meaning since `sequence` was read? Takes no lock. */
static inline bool bshm__sequence_jumped(const bshm__shard *s, uint64_t sequence)
{
	BSHM_FENCE(ACQUIRE); /* pairs with bshm__sequence_jump() */
	return bshm__sequence_since(s, sequence) >= BSHM_SEQUENCE_JUMP;
}
/* How many slots a class could still take without an eviction. */
uint64_t bshm__slots_free(const bshm__shard *s, uint32_t size_class);
/* Of some pages of the class, the one with the fewest taken slots; 0 = none. */
uint32_t bshm__page_to_empty(const bshm__shard *s, uint32_t size_class);
/* Has the class so many free slots that one of its pages could be emptied into the others, with
 * `needed` slots still free after that? Some more stay free, except `to_the_last`. */
bool bshm__class_wasteful(
	const bshm__shard *s, uint32_t size_class, uint32_t needed, bool to_the_last);
/* Takes the page from its class, if all its slots are free. */
bool bshm__page_release(const bshm__shard *s, uint32_t number);
uint32_t bshm__page_class(const bshm__shard *s, uint32_t number); /* BSHM_CLASS_COUNT: free */
/* Of a page of that class: which slots are taken, 64 in a word; the ref of a slot. Without the lock
 * the page may have another class by now. */
uint64_t bshm__page_taken(
	const bshm__shard *s, uint32_t number, uint32_t size_class, uint32_t word);
uint32_t bshm__page_ref(const bshm__shard *s, uint32_t number, uint32_t size_class, uint32_t slot);
uint64_t bshm__store_pages_used(const bshm_segment *segment);

#endif
