/*
 * record.c - one record of the store: find it, and copy it out, without a lock; a large one that others change all
 * the time, with it.
 *
 * A look-up reads the shard's sequence, then the line, the record's state, its key and its value, and
 * then the state and the sequence once more. The state has changed if the slot was given up meanwhile:
 * its version is another one (12 bits). It cannot have come back to the same unless the slot was given
 * up 4,096 times, and then the sequence has moved by as much. Where memory gets another meaning, so
 * that a state word is no state word any more, the sequence jumps. So a look-up whose state
 * stands and whose sequence has moved by less has read one write's bytes, whole; another begins anew. Others free
 * thousands of slots while a large record is copied. It has 24 bits more of a version, its serial, and only jumps,
 * which are of 2^24, make its readers begin anew.
 *
 * A record is replaced by one store of the word that leads to it, and only then given up. So who is led
 * to a record that is not live, or that is another key's, may have looked at an old word: he reads
 * the word and the state once more, the word first. If both stand, the word led to what he saw; else
 * he looks again, and finds the new record. Nobody waits for a writer, dead or stopped.
 *
 * Sizes and refs are checked against the shard's pages before they are used: the segment may be
 * damaged. Not here: changes (put.c, remove.c, move.c), recency (recency.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/record.h"

#include "core/cache/recency.h"
#include "core/segment/owners.h"

#define TRIES      4096 /* before a record in constant change counts as absent; with pauses, ms */
#define PAUSE_FROM 16
#define KEY_PIECE  256u
#define LOOK_EVERY 64u /* chunks */

uint32_t bshm__record_first(uint64_t bytes)
{
	const uint32_t room =
		BSHM_SLOT_BYTES_MAX - BSHM_SLOT_HEAD - (uint32_t) sizeof(uint32_t) - BSHM_CHAIN_HEAD;
	const uint32_t rest = (uint32_t) (bytes % BSHM_CHUNK_BYTES);
	if (rest <= room) {
		return rest;
	}
	return rest > BSHM_HALF_BYTES && rest - BSHM_HALF_BYTES <= room ? rest - BSHM_HALF_BYTES : 0;
}

bool bshm__record_load(const bshm__shard *s, uint32_t ref, bshm__record *record)
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
		record->key_bytes = BSHM_LOAD(bshm__slot_word(slot, words), RELAXED);
		record->value_bytes = BSHM_LOAD(bshm__slot_word(slot, words + 1), RELAXED);
		/* Pairs with bshm__chunk_move(). */
		record->next = BSHM_LOAD(bshm__slot_word(slot, words + 2), ACQUIRE);
		words += 3;
		if (record->key_bytes > BSHM_KEY_BYTES_MAX ||
			(uint64_t) record->key_bytes + record->value_bytes > bshm__record_most(s->segment)) {
			return false;
		}
		record->first = bshm__record_first((uint64_t) record->key_bytes + record->value_bytes);
	}
	record->bytes = slot + 4 * (size_t) words;
	return bshm__ref_at(s, ref, 4 * words + record->first) != NULL;
}

/* The rest of a copy, in the chunks: `off` counts from the first chunk's first byte. */
static bool copy_chunks(
	const bshm__shard *s, const bshm__record *record, uint64_t off, uint8_t *to, uint64_t count)
{
	const uint32_t *state = bshm__slot_word(record->slot, 0);
	uint32_t ref = record->next;
	for (unsigned done = 1; count != 0; done++) {
		if (done % LOOK_EVERY == 0 && !bshm__same_state(BSHM_LOAD(state, RELAXED), record->state)) {
			return false; /* the rest would be copied in vain */
		}
		const uint64_t most = off < BSHM_CHUNK_BYTES ? BSHM_CHUNK_BYTES - off : 0;
		const uint64_t here = most < count ? most : count;
		uint8_t *chunk =
			bshm__ref_at(s, ref, (uint32_t) (BSHM_CHUNK_HEAD + BSHM_CHUNK_BYTES - most + here));
		if (chunk == NULL) {
			return false;
		}
		ref = BSHM_LOAD(bshm__slot_word(chunk, 1), ACQUIRE); /* pairs with bshm__chunk_move() */
		if (here != 0) {
			bshm__racy_copy(to, chunk + BSHM_CHUNK_HEAD + off, (size_t) here);
			to += here;
			count -= here;
			off = 0;
		} else {
			off -= BSHM_CHUNK_BYTES;
		}
	}
	return true;
}

bool bshm__record_copy(
	const bshm__shard *s, const bshm__record *record, uint64_t off, void *to, uint64_t count)
{
	const uint64_t here = off >= record->first          ? 0
						  : record->first - off < count ? record->first - off
														: count;
	bshm__racy_copy(to, record->bytes + off, (size_t) here);
	if (BSHM_LIKELY(here == count)) {
		return true;
	}
	return copy_chunks(s, record, off + here - record->first, (uint8_t *) to + here, count - here);
}

/* A key that goes on in the chunks, in pieces. */
static __attribute__((noinline)) bool has_long_key(
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

bool bshm__record_has_key(
	const bshm__shard *s, const bshm__record *record, uint32_t space, const bshm_key *key)
{
	if (record->key_bytes != key->length || (record->shape >> BSHM_SHAPE_SPACE & 1) != space) {
		return false;
	}
	if (BSHM_LIKELY(record->first >= record->key_bytes)) {
		return bshm__racy_equal(record->bytes, key->bytes, key->length);
	}
	const bshm__shard shard = *s; /* the callers' can stay in registers */
	const bshm__record chained = *record;
	return has_long_key(&shard, &chained, key);
}

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

void bshm__record_prefetch_home(const bshm__shard *s, uint32_t ref)
{
	bshm__record record;
	bshm__home home;
	if (bshm__record_load(s, ref, &record) && record.first >= record.key_bytes &&
		bshm__record_home(s, &record, &home)) {
		bshm__home_prefetch(s->segment, &home);
	}
}

/* ------------------------------------------------------------------ finding */

/* Does the word no longer lead to the record that was looked at? */
static bool led_astray(const uint32_t *word, uint32_t ref, const bshm__record *record)
{
	BSHM_FENCE(ACQUIRE);                   /* pairs with the fence of free_taken() */
	if (BSHM_LOAD(word, ACQUIRE) != ref) { /* pairs with its publication */
		return true;
	}
	return record->slot != NULL &&
		   !bshm__same_state(BSHM_LOAD(bshm__slot_word(record->slot, 0), RELAXED), record->state);
}

/* One search: 1 = found, 0 = absent, -1 = look again. */
static int search(const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key,
	uint64_t sequence, bshm__record *record)
{
	const bshm__lines lines = bshm__lines_of(s->segment, home->table);
	bool again = false;
	uint32_t at = bshm__line_of(home->position, lines.lines);
	uint32_t passed = lines.lines != 0;
	for (uint32_t i = 0; passed != 0 && i < lines.lines; i++) {
		const bshm_line *line = bshm__line_at(s, &lines, at);
		if (BSHM_UNLIKELY(line == NULL)) {
			break;
		}
		uint64_t match = bshm__line_match(line, home->position, &passed);
		for (; match != 0; match &= match - 1) {
			const uint32_t slot = bshm__match_slot(match);
			const uint32_t ref =
				BSHM_LOAD(&line->ref[slot], ACQUIRE); /* pairs with its publication */
			if (ref == 0) {
				continue;
			}
			if (bshm__record_load(s, ref, record) && bshm__record_has_key(s, record, space, key)) {
				return bshm__record_current(s, record, sequence) ? 1 : -1;
			}
			again |= led_astray(&line->ref[slot], ref, record);
		}
		at = at + 1 == lines.lines ? 0 : at + 1;
	}
	BSHM_FENCE(ACQUIRE); /* pairs with bshm__sequence_jump(), and the fence of free_taken() */
	return again || BSHM_LOAD(&s->shard->sequence, RELAXED) - sequence >= BSHM_SLOT_VERSIONS ? -1
																							 : 0;
}

/* Of a fork's child that has no slot yet: takes one, so that it counts on a line of its own. */
static __attribute__((noinline)) void tally_shared(bshm_segment *segment, bool hit)
{
	bshm_tally *all = &segment->tallies[BSHM_OWNER_COUNT];
	BSHM_ADD(hit ? &all->hits : &all->misses, 1, RELAXED);
	if (!segment->slotless) {
		bshm_error error;
		segment->slotless = bshm__owner_attach(segment, &error) != BSHM_OK;
	}
}

/* Counts a look-up, on the process's own line. */
static inline void tally(bshm_segment *segment, bool hit)
{
	bshm_tally *own = segment->tally;
	if (BSHM_LIKELY(own != NULL)) {
		uint64_t *count = hit ? &own->hits : &own->misses;
		BSHM_STORE(count, BSHM_LOAD(count, RELAXED) + 1, RELAXED);
	} else if (segment->store_writable) {
		tally_shared(segment, hit);
	}
}

static void fill_found(const bshm__shard *s, const bshm__record *record, uint64_t sequence,
	bool expired, bshm_found *found)
{
	found->type = bshm__record_type(record);
	found->key_length = record->key_bytes;
	found->length = record->value_bytes;
	found->expires_s = record->expires_s;
	found->space = record->shape >> BSHM_SHAPE_SPACE & 1;
	found->expired = expired;
	found->segment = s->segment;
	found->slot = record->slot;
	found->bytes = record->bytes;
	found->sequence = sequence;
	found->shard = s->index;
	found->state = record->state;
	found->shape = record->shape;
	found->first = record->first;
	found->next = record->next;
}

/* What a search came to: 1 = found, 0 = absent. */
typedef struct {
	bshm__record record;
	uint64_t sequence; /* before it */
	int result;
} sought;

/* Copies a short value, if that takes no loop. */
static inline bool fetch_short(const bshm__record *record, uint8_t *to)
{
	const uint32_t count = record->value_bytes;
	const uint8_t *from = record->bytes + record->key_bytes;
	if (count - BSHM_SHORT_MIN > BSHM_SHORT_MAX - BSHM_SHORT_MIN ||
		(record->state & BSHM_SLOT_CHAINED) != 0) {
		return false;
	}
	if (count <= 16) {
		bshm__racy_copy(to, from, count);
	} else {
		bshm__racy_copy(to, from, 16);
		bshm__racy_copy(to + count - 16, from + count - 16, 16);
	}
	return true;
}

/*
 * Most searches end at the first record with the key's tag in the first line. This is that case
 * alone, without a loop, so that all of it stays in registers; false: it has to be find_all().
 */
static inline bool search_first(const bshm__shard *s, const bshm__home *home, uint32_t space,
	const bshm_key *key, sought *it, bshm_found *found)
{
	it->sequence = BSHM_LOAD(&s->shard->sequence, ACQUIRE); /* pairs with bshm__sequence_jump() */
	const bshm__lines lines = bshm__lines_of(s->segment, home->table);
	const uint32_t number = bshm__line_of(home->position, lines.lines);
	const bshm_line *line = lines.lines == 0 ? NULL : bshm__line_at(s, &lines, number);
	if (BSHM_UNLIKELY(line == NULL)) {
		return false;
	}
	uint32_t passed;
	const uint64_t match = bshm__line_match(line, home->position, &passed);
	if (match == 0) {
		BSHM_FENCE(ACQUIRE); /* pairs with bshm__sequence_jump() */
		it->result = 0;
		return passed == 0 &&
			   BSHM_LOAD(&s->shard->sequence, RELAXED) - it->sequence < BSHM_SEQUENCE_JUMP;
	}
	/* Pairs with its publication. */
	const uint32_t ref = BSHM_LOAD(&line->ref[bshm__match_slot(match)], ACQUIRE);
	it->result = 1;
	if (!bshm__record_load(s, ref, &it->record) ||
		!bshm__record_has_key(s, &it->record, space, key)) {
		return false;
	}
	found->fetched = fetch_short(&it->record, found->value);
	return bshm__record_current(s, &it->record, it->sequence);
}

/* What the caller is told of a search that has ended, and what is noted of it. */
static inline int conclude(
	const bshm__shard *s, const sought *it, unsigned flags, bshm_found *found)
{
	const bool use = (flags & BSHM_FIND_USE) != 0;
	const bool expired = BSHM_UNLIKELY(it->result == 1 && it->record.expires_s != 0) &&
						 bshm__expired(it->record.expires_s, bshm__store_now_s(s->segment));
	if (it->result != 1 || BSHM_UNLIKELY(expired && (flags & BSHM_FIND_STALE) == 0)) {
		if (use) {
			tally(s->segment, false);
		}
		return 0;
	}
	if (use) {
		tally(s->segment, !expired);
		if (s->segment->store_writable) {
			bshm__touch(s, it->record.slot, it->record.state);
		}
	}
	if (BSHM_LIKELY(found->fetched && (flags & BSHM_FIND_VALUE) != 0)) {
		found->type = bshm__record_type(&it->record);
		found->length = it->record.value_bytes;
	} else {
		fill_found(s, &it->record, it->sequence, expired, found);
	}
	return 1;
}

/* The whole of it, as often as it takes. */
static __attribute__((noinline)) int find_all(bshm_segment *segment, bshm__home home,
	uint32_t space, const bshm_key *key, unsigned flags, bshm_found *found)
{
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	sought it;
	unsigned tries = 0;
	do {
		if (tries > PAUSE_FROM) {
			BSHM_PAUSE();
		}
		it.sequence = BSHM_LOAD(&s.shard->sequence, ACQUIRE); /* pairs with bshm__sequence_jump() */
		it.result = search(&s, &home, space, key, it.sequence, &it.record);
	} while (it.result < 0 && ++tries < TRIES);
	found->fetched = false;
	return conclude(&s, &it, flags, found);
}

static inline int find(bshm_segment *segment, const bshm__home *home, uint32_t space,
	const bshm_key *key, unsigned flags, bshm_found *found)
{
	const bshm__shard s = bshm__shard_at(segment, home->shard);
	sought it;
	if (BSHM_LIKELY(search_first(&s, home, space, key, &it, found))) {
		return conclude(&s, &it, flags, found);
	}
	return find_all(segment, *home, space, key, flags, found);
}

/* `flatten` inlines the hash and the search: their calls would cost as much as they do. */
__attribute__((flatten)) int bshm_record_find(
	bshm_segment *segment, uint32_t space, const bshm_key *key, unsigned flags, bshm_found *found)
{
	if (BSHM_UNLIKELY(segment->shard_count == 0)) {
		return BSHM_E_UNAVAILABLE;
	}
	const bshm__home home = bshm__home_of(segment, space, key);
	return find(segment, &home, space, key, flags, found);
}

/* Asks for the records that a key may be, whose line is there already; to be changed: for their pages too. */
static void prefetch_record(bshm_segment *segment, const bshm__home *home, bool change)
{
	const bshm__shard s = bshm__shard_at(segment, home->shard);
	const bshm__lines lines = bshm__lines_of(segment, home->table);
	if (lines.lines == 0) {
		return;
	}
	const bshm_line *line = bshm__line_at(&s, &lines, bshm__line_of(home->position, lines.lines));
	uint32_t passed;
	uint64_t match = line == NULL ? 0 : bshm__line_match(line, home->position, &passed);
	for (; match != 0; match &= match - 1) {
		const uint32_t ref = BSHM_LOAD(&line->ref[bshm__match_slot(match)], RELAXED);
		const uint8_t *slot = bshm__ref_at(&s, ref, BSHM_SLOT_BYTES_MIN);
		if (slot != NULL) {
			__builtin_prefetch(slot);
			if (change) {
				bshm__page_prefetch(&s, ref);
			}
		}
	}
}

/* All lines, and then all records, at once. */
static void prefetch_all(bshm_segment *segment, uint32_t space, const bshm_key *keys,
	unsigned count, bool change, bshm__home *homes)
{
	for (unsigned i = 0; i < count; i++) {
		homes[i] = bshm__home_of(segment, space, &keys[i]);
		__builtin_prefetch(&segment->tables[homes[i].table]);
	}
	for (unsigned i = 0; i < count; i++) {
		bshm__home_prefetch(segment, &homes[i]);
	}
	for (unsigned i = 0; i < count; i++) {
		prefetch_record(segment, &homes[i], change);
	}
}

void bshm_records_expect(
	bshm_segment *segment, uint32_t space, const bshm_key *keys, unsigned count)
{
	if (segment->shard_count != 0) {
		bshm__home homes[BSHM_BATCH];
		prefetch_all(segment, space, keys, count, true, homes);
	}
}

int bshm_record_find_many(bshm_segment *segment, uint32_t space, const bshm_key *keys,
	unsigned count, unsigned flags, bshm_found *found, bool *present)
{
	if (segment->shard_count == 0) {
		return BSHM_E_UNAVAILABLE;
	}
	bshm__home homes[BSHM_BATCH];
	prefetch_all(segment, space, keys, count, false, homes);
	int hits = 0;
	for (unsigned i = 0; i < count; i++) {
		present[i] = find(segment, &homes[i], space, &keys[i], flags, &found[i]) != 0;
		hits += present[i];
	}
	return hits;
}

static bool copy_found(const bshm_found *found, uint64_t off, void *to, uint64_t count)
{
	const bshm__shard s = bshm__shard_at(found->segment, found->shard);
	const bshm__record record = {
		.slot = found->slot,
		.state = found->state,
		.shape = found->shape,
		.bytes = found->bytes,
		.first = found->first,
		.next = found->next,
	};
	return bshm__record_copy(&s, &record, off, to, count) &&
		   bshm__record_stands(&s, &record, found->sequence);
}

__attribute__((flatten)) bool bshm_found_copy(const bshm_found *found, void *to)
{
	if (found->fetched) {
		bshm_found_short(found, to);
		return true;
	}
	return copy_found(found, found->key_length, to, found->length);
}

bool bshm_found_copy_key(const bshm_found *found, void *to)
{
	return copy_found(found, 0, to, found->key_length);
}

bool bshm__found_of(
	const bshm__shard *s, uint32_t ref, uint64_t sequence, uint32_t now_s, bshm_found *found)
{
	bshm__record record;
	if (!bshm__record_load(s, ref, &record)) {
		return false;
	}
	found->fetched = false;
	fill_found(s, &record, sequence, bshm__expired(record.expires_s, now_s), found);
	return bshm__record_current(s, &record, sequence);
}
