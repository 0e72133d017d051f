/*
 * write.c - how the store is changed: a record taken out, or moved; and what a death leaves.
 *
 * All under the shard's lock. A change takes slots that nothing leads to yet, fills them, and is made
 * by one store into the index line: of the new record's ref, or of 0. Then the old slots are freed.
 * Before the first step the intent says what is going on; each slot of a new record is named by it
 * before it is taken, and leads to those that were taken before. So whoever takes the lock over from a
 * dead holder looks at the one word: if the change was made, what is old is freed, else what is new.
 * Freeing twice does no harm, and a record's first slot, which leads to the others, is freed last.
 *
 * The counts of a line that say how many records passed it may be left one too high by a death, never
 * too low: they go up before a record is there, and down when it is gone.
 *
 * Not here: putting a record (put.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/store.h"

/* Up to the last word that may lead to a chunk. A page has no chained record's slot nearer its end. */
#define CHAINED_BYTES_MIN (BSHM_SLOT_HEAD + 4 + BSHM_CHAIN_HEAD)

/* ------------------------------------------------------------------ chains */

/* Which of its words leads from a slot to the next chunk; 0: none does, or there is no such slot. */
static uint32_t next_word(const bshm__shard *s, uint32_t ref)
{
	if (bshm__ref_at(s, ref, CHAINED_BYTES_MIN) == NULL) {
		return 0;
	}
	const uint32_t state = bshm__word(s, ref, 0); /* a chunk's, while it is used, is CHAINED too */
	if ((state & BSHM_SLOT_CHAINED) == 0) {
		return 0;
	}
	if (bshm__class_of_chunks(bshm__ref_class(s, ref))) {
		return 1;
	}
	return (state & BSHM_SLOT_EXPIRES) != 0 ? 5 : 4;
}

void bshm__chain_free(const bshm__shard *s, uint32_t ref)
{
	if (bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN) == NULL) {
		return;
	}
	/* A first slot that was freed says so: it went last. One that was named and not yet taken leads on. */
	const uint32_t word = next_word(s, ref);
	uint32_t chunk = word == 0 ? 0 : bshm__word(s, ref, word);
	const uint64_t most = BSHM_RECORD_BYTES_MAX / BSHM_CHUNK_BYTES + 32;
	for (uint64_t i = 0; i < most && bshm__ref_at(s, chunk, BSHM_SLOT_BYTES_MAX) != NULL; i++) {
		const uint32_t next = bshm__word(s, chunk, 1);
		if (bshm__class_of_chunks(bshm__ref_class(s, chunk))) {
			bshm__slot_free(s, chunk);
		}
		chunk = next;
	}
	bshm__slot_free(s, ref);
}

/* ------------------------------------------------------------------ intents */

/* The first chunk leads back to the record's first slot. */
static void lead_back(const bshm__shard *s, uint32_t ref)
{
	const uint32_t word = next_word(s, ref);
	const uint32_t chunk = word == 0 ? 0 : bshm__word(s, ref, word);
	if (bshm__ref_at(s, chunk, BSHM_SLOT_BYTES_MAX) != NULL) {
		bshm__word_set(s, chunk, 2, ref);
	}
}

void bshm__intent_repair(const bshm__shard *s)
{
	const bshm_intent *intent = &s->shard->intent;
	const uint32_t kind = BSHM_LOAD(&intent->kind, ACQUIRE);
	const uint32_t old = BSHM_LOAD(&intent->old, RELAXED);
	const uint32_t fresh = BSHM_LOAD(&intent->fresh, RELAXED);
	const uint32_t place = BSHM_LOAD(&intent->place, RELAXED);
	BSHM_STORE(&s->segment->store->recount, 1, RELAXED);
	BSHM_STORE(&s->shard->hand_slot, 0, RELAXED);
	bshm__slabs_doubt(s);
	bshm__leases_end_all(s); /* the dead may have changed what is being loaded */
	if (kind == BSHM_INTENT_RESIZE) {
		bshm__table_resize_repair(s);
	} else if (kind == BSHM_INTENT_MOVE_UNIT) {
		bshm__unit_move_repair(s);
	} else if (kind != BSHM_INTENT_NONE && bshm__ref_at(s, place, BSHM_SLOT_UNIT) != NULL) {
		uint32_t *word = bshm__place_word(s, place);
		const bool done = fresh != 0 && BSHM_LOAD(word, RELAXED) == fresh;
		if (kind == BSHM_INTENT_REMOVE) {
			BSHM_STORE(word, 0, RELEASE);
			bshm__chain_free(s, old);
			bshm__intent_carry_out(s);
		} else if (kind == BSHM_INTENT_PUT) {
			bshm__chain_free(s, done ? old : fresh);
			if (done) {
				bshm__intent_carry_out(s);
			}
		} else if (kind == BSHM_INTENT_MOVE || kind == BSHM_INTENT_MOVE_CHUNK) {
			if (done) {
				lead_back(s, fresh);
				bshm__sequence_jump(s);
			}
			bshm__slot_free(s, done ? old : fresh);
		}
	}
	bshm__intent_end(s);
}

/* ------------------------------------------------------------------ taking out */

bool bshm__record_home(const bshm__shard *s, const bshm__record *record, bshm__home *home)
{
	const uint32_t space = record->shape >> BSHM_SHAPE_SPACE & 1;
	bshm_key key = {(const char *) record->bytes, record->key_bytes};
	if (record->first >= record->key_bytes) {
		*home = bshm__home_of(s->segment, space, &key);
	} else {
		/* A long key in pieces: rare, and at most 64 kB. */
		char bytes[BSHM_KEY_BYTES_MAX];
		key.bytes = bytes;
		if (!bshm__record_copy(s, record, 0, bytes, record->key_bytes)) {
			return false;
		}
		*home = bshm__home_of(s->segment, space, &key);
	}
	return home->shard == s->index;
}

void bshm__record_remove(const bshm__shard *s, const bshm__home *home, uint32_t place, uint32_t ref)
{
	bshm__record record;
	const uint64_t bytes =
		bshm__record_load(s, ref, &record) ? (uint64_t) record.key_bytes + record.value_bytes : 0;
	bshm__intent_begin(s, BSHM_INTENT_NONE, place, ref, 0);
	bshm__intent_plan(s, BSHM_LOAD(&s->shard->records, RELAXED) - 1,
		BSHM_LOAD(&s->shard->data_bytes, RELAXED) - bytes);
	BSHM_STORE(&s->shard->intent.kind, BSHM_INTENT_REMOVE, RELEASE);
	BSHM_STORE(bshm__place_word(s, place), 0, RELEASE); /* gone */
	bshm__place_leave(s, home, place);
	bshm__chain_free(s, ref);
	bshm__intent_carry_out(s);
	bshm__intent_end(s);
	bshm__quota_give(s);
}

/* ------------------------------------------------------------------ moving */

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
	bshm__intent_begin(s, BSHM_INTENT_MOVE, place, ref, fresh);
	bshm__slot_take(s, fresh);
	bshm__slot_live(s, fresh, bshm__word(s, fresh, 0) | BSHM_SLOT_LIVE);
	BSHM_STORE(bshm__place_word(s, place), fresh, RELEASE);
	lead_back(s, fresh);
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
	const uint32_t word = next_word(s, before);
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
	BSHM_STORE(bshm__place_word(s, place), fresh, RELEASE);
	lead_back(s, fresh);
	bshm__sequence_jump(s); /* who is reading the old one starts anew: the record's state stays */
	bshm__slot_vacate(s, ref);
	bshm__intent_end(s);
	return true;
}
