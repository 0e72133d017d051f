/*
 * record.h - one record: its words, its bytes, its key.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_RECORD_H
#define BSHM_CACHE_RECORD_H

#include "core/cache/index.h"

/* A copy goes in parts of so many chunks, and checks after each whether the record still exists. */
#define BSHM_PART_CHUNKS 64u
#define BSHM_PARTS_MAX   (BSHM_RECORD_BYTES_MAX / (BSHM_PART_CHUNKS * BSHM_CHUNK_BYTES) + 2)

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

/* The key of a record that goes on in the chunks. */
bool bshm__record_has_long_key(
	const bshm__shard *s, const bshm__record *record, const bshm_key *key);

static inline uint64_t bshm__record_size(const bshm__record *record)
{
	return (uint64_t) record->key_bytes + record->value_bytes;
}

/* False: there is no live record, or its lengths do not fit the shard's pages. */
static inline bool bshm__record_load(const bshm__shard *s, uint32_t ref, bshm__record *record)
{
	uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	record->slot = slot;
	record->state = 0;
	if (slot == NULL) {
		return false;
	}
	/* Pairs with bshm__slot_live(), and with free_taken(). */
	record->state = BSHM_LOAD(bshm__slot_word(slot, 0), ACQUIRE);
	if ((record->state & BSHM_SLOT_LIVE) == 0) {
		return false;
	}
	record->shape = BSHM_LOAD(bshm__slot_word(slot, 1), RELAXED);
	uint32_t words = 2;
	record->expires_s = 0;
	if ((record->state & BSHM_SLOT_EXPIRES) != 0) {
		record->expires_s = BSHM_LOAD(bshm__slot_word(slot, words++), RELAXED);
	}
	record->next = 0;
	if (BSHM_LIKELY((record->state & BSHM_SLOT_CHAINED) == 0)) {
		record->key_bytes = record->shape & BSHM_SHAPE_BYTES;
		record->value_bytes = record->shape >> BSHM_SHAPE_VALUE & BSHM_SHAPE_BYTES;
		record->first = record->key_bytes + record->value_bytes;
	} else {
		if (bshm__ref_at(s, ref, 4 * (words + 3)) == NULL) {
			return false;
		}
		const uint32_t key_first = BSHM_LOAD(bshm__slot_word(slot, words), RELAXED);
		record->key_bytes = key_first & BSHM_CHAIN_KEY;
		record->first = key_first >> BSHM_CHAIN_FIRST;
		record->value_bytes = BSHM_LOAD(bshm__slot_word(slot, words + 1), RELAXED);
		/* Pairs with bshm__chunk_move(). */
		record->next = BSHM_LOAD(bshm__slot_word(slot, words + 2), ACQUIRE);
		words += 3;
		if (record->first > bshm__record_size(record) ||
			bshm__record_size(record) > bshm__record_most(s->segment)) {
			return false;
		}
	}
	record->bytes = slot + 4 * (size_t) words;
	return bshm__ref_at(s, ref, 4 * words + record->first) != NULL;
}

static inline bool bshm__record_has_key(
	const bshm__shard *s, const bshm__record *record, uint32_t space, const bshm_key *key)
{
	if (record->key_bytes != key->length || (record->shape >> BSHM_SHAPE_SPACE & 1) != space) {
		return false;
	}
	if (BSHM_LIKELY(record->first >= record->key_bytes)) {
		return bshm__racy_equal(record->bytes, key->bytes, key->length);
	}
	const bshm__shard shard = *s; /* copies, so that the caller's can stay in registers */
	const bshm__record chained = *record;
	return bshm__record_has_long_key(&shard, &chained, key);
}

static inline bshm_value_type bshm__record_type(const bshm__record *record)
{
	return (bshm_value_type) (record->shape >> BSHM_SHAPE_TYPE & 15);
}

/* May a value of this type have so many bytes? Else the record is damaged. */
static inline bool bshm__is_value(uint64_t type, uint64_t bytes)
{
	return type < BSHM_VALUE_INT      ? bytes == 0
		   : type <= BSHM_VALUE_FLOAT ? bytes == 8
									  : type <= BSHM_VALUE_NOTHING;
}

/* Are two states of a slot equal, except for stamp, PROTECTED and FREQUENT? Then the slot was not
 * freed between them. */
static inline bool bshm__same_state(uint32_t a, uint32_t b)
{
	return ((a ^ b) & ~(BSHM_SLOT_STAMP | BSHM_SLOT_LEVEL)) == 0;
}

/* The same of the state now and the state that was loaded. */
static inline bool bshm__record_same_state(const bshm__record *record)
{
	return bshm__same_state(BSHM_LOAD(bshm__slot_word(record->slot, 0), RELAXED), record->state);
}

/* Where the chunks of a copy lay, each part's as one number. */
typedef struct {
	uint64_t of[BSHM_PARTS_MAX];
} bshm__places;

/* The places of the chunks so far, and 64 bits more. */
static inline uint64_t bshm__places_add(uint64_t places, uint32_t upper, uint32_t lower)
{
	const uint64_t mixed =
		(places ^ ((uint64_t) upper << 32 | lower)) * UINT64_C(0x9e3779b97f4a7c15);
	return mixed ^ mixed >> 32;
}

/* How far a copy has come in the chunks. */
typedef struct {
	uint32_t ref;  /* of the next chunk */
	uint64_t off;  /* of the next byte, from the first of that chunk on */
	uint64_t left; /* bytes */
} bshm__chunk_walk;

/* Copies up to BSHM_PART_CHUNKS chunks of `whole` bytes to their place in `to`; NULL: only finds
 * their places. False: the chain is damaged, or has changed. */
static inline bool bshm__record_read_part(
	const bshm__shard *s, bshm__chunk_walk *w, uint8_t *to, uint64_t whole, uint64_t *places)
{
	*places = 0;
	for (unsigned i = 0; i < BSHM_PART_CHUNKS && w->left != 0; i++) {
		const uint64_t most = w->off < BSHM_CHUNK_BYTES ? BSHM_CHUNK_BYTES - w->off : 0;
		const uint64_t here = most < w->left ? most : w->left;
		uint8_t *chunk = bshm__ref_at(
			s, w->ref, (uint32_t) (BSHM_CHUNK_HEADER + BSHM_CHUNK_BYTES - most + here));
		if (chunk == NULL) {
			return false;
		}
		/* A chunk that comes back to a place has another word `moved` there; if the slot was freed
		 * meanwhile, it has another version. Before the bytes: pairs with bshm__chunk_move(). */
		const uint32_t moved = BSHM_LOAD(bshm__slot_word(chunk, 3), ACQUIRE);
		const uint32_t next = BSHM_LOAD(bshm__slot_word(chunk, 1), ACQUIRE);
		/* After `next`, which may be of what has the slot since: pairs with free_taken(). */
		const uint32_t version =
			BSHM_LOAD(bshm__slot_word(chunk, 0), ACQUIRE) & BSHM_SLOT_VERSION_MASK;
		*places = bshm__places_add(bshm__places_add(*places, moved, w->ref), 0, version);
		w->ref = next;
		if (here != 0) {
			BSHM_PREFETCH(bshm__ref_at(s, w->ref, BSHM_CHUNK_HEADER)); /* the copy takes as long */
			if (to != NULL) {
				bshm__racy_copy_part(to + (whole - w->left), chunk + BSHM_CHUNK_HEADER + w->off,
					(size_t) here, whole);
			}
			w->left -= here;
			w->off = 0;
		} else {
			w->off -= BSHM_CHUNK_BYTES;
		}
	}
	return true;
}

/* The bytes that the first slot has of `count`, from `off` on. */
static inline uint64_t bshm__record_here(const bshm__record *record, uint64_t off, uint64_t count)
{
	const uint64_t most = off < record->first ? record->first - off : 0;
	return most < count ? most : count;
}

/* Copies `count` bytes of key and value, from `off` on, and notes where the chunks lie that have
 * them; to == NULL: only that. False: the chain is damaged, or has changed. */
static inline bool bshm__record_read(const bshm__shard *s, const bshm__record *record, uint64_t off,
	void *to, uint64_t count, bshm__places *places)
{
	const uint64_t here = bshm__record_here(record, off, count);
	if (to != NULL) {
		bshm__racy_copy(to, record->bytes + off, (size_t) here);
	}
	const uint64_t rest = count - here;
	bshm__chunk_walk w = {record->next, off + here - record->first, rest};
	for (unsigned i = 0; BSHM_UNLIKELY(w.left != 0); i++) {
		if (i == BSHM_PARTS_MAX || (i != 0 && !bshm__record_same_state(record)) ||
			!bshm__record_read_part(
				s, &w, to == NULL ? NULL : (uint8_t *) to + here, rest, &places->of[i])) {
			return false;
		}
	}
	return true;
}

/* The same, not inlined: for all but look-ups. */
bool bshm__record_copy(
	const bshm__shard *s, const bshm__record *record, uint64_t off, void *to, uint64_t count);
/* Under the lock: are these its bytes, from `off` on? */
bool bshm__record_is(const bshm__shard *s, const bshm__record *record, uint64_t off,
	const void *bytes, uint64_t count);

/*
 * Is the record still the one that was loaded, after `sequence` was read? Then all words of its
 * first slot are of one record: fewer slots were freed meanwhile than a slot has versions.
 */
static inline bool bshm__record_current(
	const bshm__shard *s, const bshm__record *record, uint64_t sequence)
{
	BSHM_FENCE(ACQUIRE); /* pairs with the fence of free_taken() */
	return bshm__record_same_state(record) && !bshm__versions_passed(s, sequence);
}

/*
 * The same at any time after that. Copying a large record takes long, and other processes free
 * thousands of slots meanwhile. So it has a serial besides its version.
 */
static inline bool bshm__record_unchanged(
	const bshm__shard *s, const bshm__record *record, uint64_t sequence)
{
	if (BSHM_LIKELY((record->state & BSHM_SLOT_CHAINED) == 0)) {
		return bshm__record_current(s, record, sequence);
	}
	BSHM_FENCE(ACQUIRE); /* pairs with the fence of free_taken() */
	const bool same = bshm__record_same_state(record);
	const bool jumped = bshm__sequence_jumped(s, sequence);
	/* The serial is that of the state, or of a later one: pairs with bshm__slot_live(). */
	BSHM_FENCE(ACQUIRE);
	return same && !jumped && BSHM_LOAD(bshm__slot_word(record->slot, 1), RELAXED) == record->shape;
}

/* The same if memory has got another meaning since then: has the large record stood all the time,
 * and have its chunks been in the `places` from where so many bytes were copied? A part of which a
 * chunk was moved is copied again; to == NULL: then it is false. */
bool bshm__record_survived(const bshm__shard *s, const bshm__record *record, uint64_t off, void *to,
	uint64_t count, bshm__places *places);

/* The home of a record whose key is read from its slot; false: it is damaged. */
bool bshm__record_home(const bshm__shard *s, const bshm__record *record, bshm__home *home);
/* Prefetches the home bucket of the record at a ref. */
void bshm__record_prefetch_home(const bshm__shard *s, uint32_t ref);

#endif
