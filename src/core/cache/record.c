/*
 * record.c - one record: its bytes in the chunks, and its home.
 *
 * Sizes and refs are checked against the shard's pages before they are used: the segment may be
 * damaged.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/record.h"

#define KEY_PIECE   256u
#define INDEX_TRIES 256u /* while memory gets another meaning all the time */
#define WALKS       4u   /* in which some chunks were found elsewhere */

bool bshm__record_copy(
	const bshm__shard *s, const bshm__record *record, uint64_t off, void *to, uint64_t count)
{
	bshm__places places;
	return bshm__record_read(s, record, off, to, count, &places);
}

bool bshm__record_is(const bshm__shard *s, const bshm__record *record, uint64_t off,
	const void *bytes, uint64_t count)
{
	const uint8_t *with = bytes;
	const uint8_t *from = record->bytes;
	uint64_t length = record->first; /* of the bytes at `from` */
	uint32_t next = record->next;
	while (count != 0) {
		const uint64_t here = off >= length ? 0 : length - off < count ? length - off : count;
		if (here != 0 && memcmp(from + off, with, (size_t) here) != 0) {
			return false;
		}
		with += here;
		count -= here;
		off = off < length ? 0 : off - length;
		length = off + count < BSHM_CHUNK_BYTES ? off + count : BSHM_CHUNK_BYTES;
		uint8_t *chunk =
			count == 0 ? NULL : bshm__ref_at(s, next, BSHM_CHUNK_HEADER + (uint32_t) length);
		if (chunk == NULL) {
			return count == 0;
		}
		next = BSHM_LOAD(bshm__slot_word(chunk, 1), RELAXED);
		from = chunk + BSHM_CHUNK_HEADER;
	}
	return true;
}

/* A key that goes on in the chunks, in pieces. */
bool bshm__record_has_long_key(
	const bshm__shard *s, const bshm__record *record, const bshm_key *key)
{
	uint8_t piece[KEY_PIECE];
	for (uint32_t off = 0; off < record->key_bytes; off += KEY_PIECE) {
		const uint32_t count =
			record->key_bytes - off < KEY_PIECE ? record->key_bytes - off : KEY_PIECE;
		if (!bshm__record_copy(s, record, off, piece, count) ||
			memcmp(piece, key->bytes + off, count) != 0) {
			return false;
		}
	}
	return true;
}

bool bshm__record_home(const bshm__shard *s, const bshm__record *record, bshm__home *home)
{
	const uint32_t space = record->shape >> BSHM_SHAPE_SPACE & 1;
	bshm_key key = {(const char *) record->bytes, record->key_bytes};
	if (record->first >= record->key_bytes) {
		*home = bshm__home_of(s->segment, space, &key);
	} else {
		/* A long key that continues in chunks: rare, and at most 64 kB. */
		char bytes[BSHM_KEY_BYTES_MAX];
		key.bytes = bytes;
		if (!bshm__record_copy(s, record, 0, bytes, record->key_bytes)) {
			return false;
		}
		*home = bshm__home_of(s->segment, space, &key);
	}
	return home->shard == s->index;
}

/* Has the index a ref to the slot, and the slot the state and the serial that were loaded? Then the
 * record has stood since. */
static bool is_indexed(const bshm__shard *s, const bshm__record *record)
{
	char bytes[BSHM_KEY_BYTES_MAX];
	const bshm_key key = {bytes, record->key_bytes};
	const uint32_t ref = s->first_ref + (uint32_t) ((record->slot - s->pages) / BSHM_SLOT_UNIT);
	if (!bshm__record_copy(s, record, 0, bytes, key.length)) {
		return false;
	}
	/* If these are other bytes by now, the index does not lead from them to the slot. */
	const uint32_t space = record->shape >> BSHM_SHAPE_SPACE & 1;
	const bshm__home home = bshm__home_of(s->segment, space, &key);
	for (unsigned tries = 0; home.shard == s->index && tries < INDEX_TRIES; tries++) {
		/* Pairs with bshm__sequence_jump(). */
		const uint64_t sequence = BSHM_LOAD(&s->shard->sequence, ACQUIRE);
		const bool found = bshm__cell_of(s, &home, ref) != 0;
		BSHM_FENCE(ACQUIRE); /* pairs with the publication of the ref, and free_taken() */
		const bool same = bshm__record_same_state(record);
		/* The serial is that of the state, or of a later one: pairs with bshm__slot_live(). */
		BSHM_FENCE(ACQUIRE);
		if (!same || BSHM_LOAD(bshm__slot_word(record->slot, 1), RELAXED) != record->shape) {
			return false;
		}
		if (!bshm__versions_passed(s, sequence)) {
			return found;
		}
	}
	return false;
}

/* Goes over the chunks again. Copies each part again of which a chunk has another place now; *moved
 * is true if there is one. */
static bool read_moved(const bshm__shard *s, const bshm__record *record, uint64_t off, uint8_t *to,
	uint64_t count, bshm__places *places, bool *moved)
{
	bshm__chunk_walk w = {record->next, off, count};
	for (unsigned i = 0; w.left != 0; i++) {
		const bshm__chunk_walk before = w;
		uint64_t now;
		if (!bshm__record_read_part(s, &w, NULL, count, &now)) {
			return false;
		}
		if (now != places->of[i]) {
			w = before;
			*moved = true;
			if (to == NULL || !bshm__record_same_state(record) ||
				!bshm__record_read_part(s, &w, to, count, &places->of[i])) {
				return false;
			}
		}
	}
	return true;
}

bool bshm__record_survived(const bshm__shard *s, const bshm__record *record, uint64_t off, void *to,
	uint64_t count, bshm__places *places)
{
	bshm__record now = *record;
	const uint64_t here = bshm__record_here(record, off, count);
	uint8_t *rest = to == NULL ? NULL : (uint8_t *) to + here;
	if ((record->state & BSHM_SLOT_CHAINED) == 0) {
		return false;
	}
	for (unsigned i = 0; i < WALKS; i++) {
		BSHM_FENCE(ACQUIRE); /* after the bytes: pairs with the fence of free_taken() */
		const uint32_t word = (record->state & BSHM_SLOT_EXPIRES) != 0 ? 5 : 4;
		/* Pairs with bshm__chunk_move(). */
		now.next = BSHM_LOAD(bshm__slot_word(record->slot, word), ACQUIRE);
		bool moved = false;
		if (!read_moved(s, &now, off + here - record->first, rest, count - here, places, &moved)) {
			return false;
		}
		if (!moved) {
			return is_indexed(s, &now);
		}
	}
	return false;
}

void bshm__record_prefetch_home(const bshm__shard *s, uint32_t ref)
{
	bshm__record record;
	bshm__home home;
	if (bshm__record_load(s, ref, &record) && record.first >= record.key_bytes &&
		bshm__record_home(s, &record, &home)) {
		bshm__home_prefetch(s->segment, &home);
	}
}
