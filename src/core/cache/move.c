/*
 * move.c - what is in a slot is moved to another one.
 *
 * All under the shard's lock. A change takes slots that nothing leads to yet, fills them, and is made
 * by one store into the index line: of the new record's ref, or of 0. Then the old slots are freed.
 * Before the first step the intent says what is going on; each slot of a new record is named by it
 * before it is taken, and leads to those that were taken before (repair.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/move.h"

#include "core/cache/chain.h"
#include "core/cache/index.h"
#include "core/cache/intent.h"
#include "core/cache/record.h"

/* Copies a whole slot; the new one's version stays its own, and it is not live yet. False: one of them is
 * none. */
static bool copy_slot(const bshm__shard *s, uint32_t from, uint32_t to, uint32_t bytes)
{
	const uint8_t *source = bshm__ref_at(s, from, bytes);
	uint8_t *target = bshm__ref_at(s, to, bytes);
	if (source == NULL || target == NULL) {
		return false;
	}
	const uint32_t version = bshm__word(s, to, 0) & BSHM_SLOT_VERSION_MASK;
	const uint32_t state = bshm__word(s, from, 0) & ~(BSHM_SLOT_VERSION_MASK | BSHM_SLOT_LIVE);
	bshm__racy_copy(target + 4, source + 4, bytes - 4);
	bshm__word_set(s, to, 0, state | version);
	return true;
}

bool bshm__record_move(const bshm__shard *s, uint32_t ref)
{
	bshm__record record;
	bshm__home home;
	if (!bshm__record_load(s, ref, &record) || !bshm__record_home(s, &record, &home)) {
		bshm__slot_free(s, ref); /* nobody finds it */
		return true;
	}
	const uint32_t place = bshm__place_of(s, &home, ref);
	const uint32_t size_class = bshm__ref_class(s, ref);
	if (place == 0 || size_class >= BSHM_CLASS_HALF) {
		return false;
	}
	const uint32_t fresh = bshm__slot_find(s, size_class, bshm__page_number(s, ref));
	if (fresh == 0 || !copy_slot(s, ref, fresh, bshm__class_bytes(size_class))) {
		return false;
	}
	if ((record.state & BSHM_SLOT_CHAINED) != 0) { /* no two records of a slot have one serial */
		const uint32_t serial = (uint32_t) BSHM_LOAD(&s->shard->sequence, RELAXED);
		bshm__word_set(
			s, fresh, 1, (record.shape & ~BSHM_SHAPE_SERIAL) | (serial & BSHM_SHAPE_SERIAL));
	}
	bshm__intent_begin(s, BSHM_INTENT_MOVE, place, ref, fresh);
	bshm__slot_take(s, fresh);
	bshm__slot_live(s, fresh, bshm__word(s, fresh, 0) | BSHM_SLOT_LIVE);
	BSHM_STORE(bshm__place_word(s, place), fresh, RELEASE); /* pairs with search() */
	bshm__chain_lead_back(s, fresh);
	bshm__slot_vacate(s, ref);
	bshm__intent_end(s);
	return true;
}

/* The ref of the word that leads to a chunk; 0: it is damaged. */
static uint32_t place_of_chunk(const bshm__shard *s, uint32_t ref)
{
	const uint32_t before =
		bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MAX) == NULL ? 0 : bshm__word(s, ref, 2);
	if (!bshm__slot_taken(s, before)) {
		return 0;
	}
	const uint32_t word = bshm__chain_word(s, before);
	return word != 0 && bshm__word(s, before, word) == ref ? before + word : 0;
}

bool bshm__chunk_move(const bshm__shard *s, uint32_t ref)
{
	const uint32_t place = place_of_chunk(s, ref);
	if (place == 0) {
		bshm__slot_free(s, ref); /* no record has it */
		return true;
	}
	const uint32_t size_class = bshm__ref_class(s, ref);
	if (!bshm__class_of_chunks(size_class)) {
		return false; /* damaged meanwhile */
	}
	const uint32_t fresh = bshm__slot_find(s, size_class, bshm__page_number(s, ref));
	if (fresh == 0 || !copy_slot(s, ref, fresh, bshm__class_bytes(size_class))) {
		return false;
	}
	bshm__intent_begin(s, BSHM_INTENT_MOVE_CHUNK, place, ref, fresh);
	bshm__slot_take(s, fresh);
	/* Pairs with bshm__record_load(), copy_chunks(). */
	BSHM_STORE(bshm__place_word(s, place), fresh, RELEASE);
	bshm__chain_lead_back(s, fresh);
	bshm__sequence_jump(s); /* who is reading the old one starts anew: the record's state stays */
	bshm__slot_vacate(s, ref);
	bshm__intent_end(s);
	return true;
}
