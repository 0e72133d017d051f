/*
 * move.c - moves a record or chunk to another slot of its class.
 *
 * All under the shard's lock. Every change of the store works alike (put.c, remove.c): it fills
 * slots that no ref leads to, publishes with one store of a ref (or of 0), and then frees the old
 * slots. Before the first step the intent says what the change is. A put names each slot in the
 * intent before it takes it, and each slot leads to those taken before. So a repair finds all slots
 * of a change that was not finished (repair.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/move.h"

#include "core/cache/aging.h"
#include "core/cache/chain.h"
#include "core/cache/index.h"
#include "core/cache/intent.h"
#include "core/cache/parked.h"
#include "core/cache/record.h"

/* Copies a slot. The new one keeps its own version, and is not LIVE yet. False: a ref is
 * damaged. */
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
		bshm__slot_free(s, ref); /* no look-up can find it */
		return true;
	}
	const uint32_t cell = bshm__cell_of(s, &home, ref);
	const uint32_t size_class = bshm__ref_class(s, ref);
	if (cell == 0 || size_class >= BSHM_CLASS_RECORDS) {
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
	bshm__intent_begin(s, BSHM_INTENT_MOVE, cell, ref, fresh);
	bshm__slot_take(s, fresh);
	const uint32_t state = bshm__aging_moved(s, ref, fresh, bshm__word(s, fresh, 0));
	bshm__slot_live(s, fresh, state | BSHM_SLOT_LIVE);
	BSHM_STORE(bshm__cell_word(s, cell), fresh, RELEASE); /* pairs with search() */
	bshm__chain_link_back(s, fresh);
	bshm__slot_vacate(s, ref);
	bshm__intent_end(s);
	return true;
}

/* The ref of the word that leads to a chunk; 0: the chain is damaged. */
static uint32_t word_of_chunk(const bshm__shard *s, uint32_t ref)
{
	const uint32_t before =
		bshm__ref_at(s, ref, BSHM_CHUNK_HEADER) == NULL ? 0 : bshm__word(s, ref, 2);
	if (!bshm__slot_taken(s, before)) {
		return 0;
	}
	const uint32_t word = bshm__chain_word(s, before);
	return word != 0 && bshm__word(s, before, word) == ref ? before + word : 0;
}

bool bshm__chunk_move(const bshm__shard *s, uint32_t ref)
{
	if (bshm__parked(s) != 0 && !bshm__parked_reclaim(s)) {
		return false; /* a process may be filling it */
	}
	const uint32_t word = word_of_chunk(s, ref);
	if (word == 0) {
		bshm__slot_free(s, ref); /* no record leads to it */
		return true;
	}
	const uint32_t size_class = bshm__ref_class(s, ref);
	if (!bshm__class_of_chunks(size_class)) {
		return false; /* damaged */
	}
	const uint32_t fresh = bshm__slot_find(s, size_class, bshm__page_number(s, ref));
	if (fresh == 0 || !copy_slot(s, ref, fresh, bshm__class_bytes(size_class))) {
		return false;
	}
	/* This jump's number is given to no other move, also if this process dies now. */
	bshm__sequence_jump(s);
	const uint64_t jumps = BSHM_LOAD(&s->shard->sequence, RELAXED) / BSHM_SEQUENCE_JUMP;
	/* After the bytes: pairs with bshm__record_read_part(). */
	BSHM_STORE(
		bshm__slot_word(bshm__ref_at(s, fresh, BSHM_CHUNK_HEADER), 3), (uint32_t) jumps, RELEASE);
	bshm__intent_begin(s, BSHM_INTENT_MOVE_CHUNK, word, ref, fresh);
	bshm__slot_take(s, fresh);
	/* Pairs with bshm__record_load(), bshm__record_read_part(). */
	BSHM_STORE(bshm__cell_word(s, word), fresh, RELEASE);
	bshm__chain_link_back(s, fresh);
	/* A reader of the record sees that: its state is unchanged. */
	bshm__sequence_jump(s);
	bshm__slot_vacate(s, ref);
	bshm__intent_end(s);
	return true;
}
