/*
 * record.h - one record as its slot says.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_RECORD_H
#define BSHM_CACHE_RECORD_H

#include "core/cache/index.h"

/* The bytes of key and value that a record may have in this store, whatever is evicted. */
static inline uint64_t bshm__record_most(const bshm_segment *segment)
{
	const uint64_t quarter = segment->cache_bytes / 4;
	return quarter < BSHM_RECORD_BYTES_MAX ? quarter : BSHM_RECORD_BYTES_MAX;
}

/* A record as its slot says, checked: the numbers fit the shard's pages. */
typedef struct {
	uint8_t *slot;
	uint32_t state;
	uint32_t shape;
	uint32_t key_bytes;
	uint32_t value_bytes;
	uint32_t expires_s; /* 0 = never */
	uint32_t next;      /* the first chunk, if any */
	uint32_t first;     /* how many bytes of key and value lie in this slot */
	uint8_t *bytes;     /* they begin here */
} bshm__record;

/* False: there is no live record. */
bool bshm__record_load(const bshm__shard *s, uint32_t ref, bshm__record *record);
/* Copies `count` bytes of key and value, from `off` on; false: the chain is damaged, or has changed. */
bool bshm__record_copy(
	const bshm__shard *s, const bshm__record *record, uint64_t off, void *to, uint64_t count);
bool bshm__record_has_key(
	const bshm__shard *s, const bshm__record *record, uint32_t space, const bshm_key *key);
static inline bshm_value_type bshm__record_type(const bshm__record *record)
{
	return (bshm_value_type) (record->shape >> BSHM_SHAPE_TYPE & 15);
}

/* Do two states of a slot say that its contents have not ended between them? */
static inline bool bshm__same_state(uint32_t a, uint32_t b)
{
	return ((a ^ b) & ~(BSHM_SLOT_STAMP | BSHM_SLOT_MAIN)) == 0;
}

/*
 * Is it still what was loaded, at a `sequence` that was read before? Then all words of its first slot are of one
 * record: fewer slots were freed meanwhile than a slot has versions.
 */
static inline bool bshm__record_current(
	const bshm__shard *s, const bshm__record *record, uint64_t sequence)
{
	BSHM_FENCE(ACQUIRE); /* pairs with the fence of free_taken() */
	return bshm__same_state(BSHM_LOAD(bshm__slot_word(record->slot, 0), RELAXED), record->state) &&
		   BSHM_LOAD(&s->shard->sequence, RELAXED) - sequence < BSHM_SLOT_VERSIONS;
}

/*
 * The same at any time after that. A large record takes long to be copied, and others free thousands of slots
 * meanwhile: it has a serial, besides its version.
 */
static inline bool bshm__record_stands(
	const bshm__shard *s, const bshm__record *record, uint64_t sequence)
{
	if (BSHM_LIKELY((record->state & BSHM_SLOT_CHAINED) == 0)) {
		return bshm__record_current(s, record, sequence);
	}
	BSHM_FENCE(ACQUIRE); /* pairs with the fence of free_taken() */
	const bool same =
		bshm__same_state(BSHM_LOAD(bshm__slot_word(record->slot, 0), RELAXED), record->state);
	const uint64_t since = BSHM_LOAD(&s->shard->sequence, RELAXED) - sequence;
	/* The serial is that of the state, or of a later one: pairs with bshm__slot_live(). */
	BSHM_FENCE(ACQUIRE);
	return same && since < BSHM_SEQUENCE_JUMP &&
		   BSHM_LOAD(bshm__slot_word(record->slot, 1), RELAXED) == record->shape;
}

/* The class of the chunk that comes next, when so many bytes are left. */
static inline uint32_t bshm__chunk_class(uint64_t left)
{
	return left > BSHM_HALF_BYTES ? BSHM_CLASS_CHUNK : BSHM_CLASS_HALF;
}

/*
 * How many of a large record's bytes lie in its first slot: so many, if it can take them, that the
 * rest fills its chunks, the last of which may be half a one.
 */
uint32_t bshm__record_first(uint64_t bytes);
/* Describes the record at a ref, as it is at `sequence`; false: there is none, or it has changed. */
bool bshm__found_of(
	const bshm__shard *s, uint32_t ref, uint64_t sequence, uint32_t now_s, bshm_found *found);

/* The home of a record whose key is read from its slot; false: it is damaged. */
bool bshm__record_home(const bshm__shard *s, const bshm__record *record, bshm__home *home);
/* Asks for the line of the record at a ref. */
void bshm__record_prefetch_home(const bshm__shard *s, uint32_t ref);

#endif
