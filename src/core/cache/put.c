/*
 * put.c - a record is put, in the place of another or in a new one.
 *
 * Under the lock of the key's shard: look at what stands, decide, evict until there is room, fill
 * slots that nothing leads to yet, and publish with one store (write.c). Nothing is allocated there,
 * and nobody is called back.
 *
 * Not here: when a record is put, and as what (change.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/store.h"

#define PUT_TRIES 8

/* ------------------------------------------------------------------ putting */

static uint64_t recipe_bytes(const bshm__recipe *r)
{
	return (uint64_t) r->key.length + r->value.length;
}

static void work_out(bshm__recipe *r)
{
	const uint64_t bytes = recipe_bytes(r);
	const uint32_t head = BSHM_SLOT_HEAD + (r->expires_s != 0 ? 4 : 0);
	r->chunks = 0;
	r->first = (uint32_t) bytes;
	if (head + bytes > BSHM_SLOT_BYTES_MAX) {
		r->first = bshm__record_first(bytes);
		r->chunks = (uint32_t) ((bytes - r->first + BSHM_CHUNK_BYTES - 1) / BSHM_CHUNK_BYTES);
		r->size_class = bshm__class_of(head + BSHM_CHAIN_HEAD + r->first);
	} else {
		r->size_class = bshm__class_of(head + r->first);
	}
}

/* Copies `count` bytes of key and value, from `off` on. */
static void write_bytes(const bshm__recipe *r, uint64_t off, uint8_t *to, uint64_t count)
{
	uint64_t of_key = 0;
	if (off < r->key.length) {
		of_key = r->key.length - off < count ? r->key.length - off : count;
		bshm__racy_copy(to, r->key.bytes + off, (size_t) of_key);
	}
	if (of_key != count) {
		const uint8_t *value = r->value.bytes;
		bshm__racy_copy(
			to + of_key, value + (off + of_key - r->key.length), (size_t) (count - of_key));
	}
}

/* Fills the first slot, which nothing leads to yet and which is not taken. */
static void write_first(
	const bshm__shard *s, const bshm__recipe *r, uint32_t ref, uint32_t state, uint32_t next)
{
	uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	uint32_t *words = bshm__slot_word(slot, 0);
	uint32_t shape = (uint32_t) r->value.type << BSHM_SHAPE_TYPE | r->space << BSHM_SHAPE_SPACE;
	uint32_t word = 2;
	state |= BSHM_LOAD(words, RELAXED) & BSHM_SLOT_VERSION_MASK;
	if (r->expires_s != 0) {
		state |= BSHM_SLOT_EXPIRES;
		BSHM_STORE(&words[word++], r->expires_s, RELAXED);
	}
	if (r->chunks != 0) {
		state |= BSHM_SLOT_CHAINED;
		BSHM_STORE(&words[word++], (uint32_t) r->key.length, RELAXED);
		BSHM_STORE(&words[word++], (uint32_t) r->value.length, RELAXED);
		BSHM_STORE(&words[word++], next, RELAXED);
	} else {
		shape |= (uint32_t) r->key.length | (uint32_t) r->value.length << BSHM_SHAPE_VALUE;
	}
	BSHM_STORE(&words[1], shape, RELAXED);
	uint8_t *to = slot + 4 * (size_t) word;
	write_bytes(r, 0, to, r->first);
	BSHM_STORE(words, state, RELAXED);
}

/* Takes and fills all slots, the last chunk first; 0: there was no room, and nothing is taken. */
static uint32_t build(const bshm__shard *s, const bshm__recipe *r, uint32_t state)
{
	uint32_t *named = &s->shard->intent.fresh;
	uint32_t next = 0;
	for (uint32_t i = r->chunks; i-- > 0;) {
		const uint32_t chunk = bshm__slot_find(s, BSHM_CLASS_CHUNK, 0);
		if (chunk == 0) {
			bshm__chain_free(s, next);
			return 0;
		}
		bshm__word_set(
			s, chunk, 0, (bshm__word(s, chunk, 0) & BSHM_SLOT_VERSION_MASK) | BSHM_SLOT_CHAINED);
		bshm__word_set(s, chunk, 1, next);
		BSHM_STORE(named, chunk, RELEASE);
		bshm__slot_take(s, chunk);
		const uint64_t off = r->first + (uint64_t) i * BSHM_CHUNK_BYTES;
		const uint64_t left = recipe_bytes(r) - off;
		write_bytes(r, off, bshm__ref_at(s, chunk, BSHM_SLOT_BYTES_MAX) + BSHM_CHUNK_HEAD,
			left < BSHM_CHUNK_BYTES ? left : BSHM_CHUNK_BYTES);
		if (next != 0) {
			bshm__word_set(s, next, 2, chunk);
		}
		next = chunk;
	}
	const uint32_t first = r->slot != 0 ? r->slot : bshm__slot_find(s, r->size_class, 0);
	if (first == 0) {
		bshm__chain_free(s, next);
		return 0;
	}
	write_first(s, r, first, state, next);
	BSHM_STORE(named, first, RELEASE);
	bshm__slot_take(s, first);
	if (next != 0) {
		bshm__word_set(s, next, 2, first);
	}
	return first;
}

/* Does what stands still stand: has nothing of the shard been given up since? */
static bool still(const bshm__shard *s, const bshm__standing *at)
{
	return BSHM_LOAD(&s->shard->sequence, RELAXED) == at->sequence;
}

void bshm__locate(const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key,
	bshm__standing *at)
{
	at->place = at->ref = at->vacant = 0;
	at->expired = false;
	at->sequence = BSHM_LOAD(&s->shard->sequence, RELAXED);
	const bshm__lines lines = bshm__lines_of(s->segment, home->table);
	uint32_t number = bshm__line_of(home->position, lines.lines);
	bool passed_on = lines.lines != 0;
	for (uint32_t i = 0; i <= BSHM_PASSED_MAX && (passed_on || at->vacant == 0); i++) {
		const bshm_line *line = lines.lines == 0 ? NULL : bshm__line_at(s, &lines, number);
		uint32_t passed;
		if (line == NULL) {
			break;
		}
		uint64_t match = bshm__line_match(line, home->position, &passed);
		for (match = passed_on ? match : 0; match != 0; match &= match - 1) {
			const uint32_t slot = bshm__match_slot(match);
			const uint32_t ref = BSHM_LOAD(&line->ref[slot], RELAXED);
			bshm__page_prefetch(s, ref); /* if it is the one, its slot is given up */
			if (ref != 0 && bshm__record_load(s, ref, &at->record) &&
				bshm__record_has_key(s, &at->record, space, key)) {
				at->ref = ref;
				at->place = bshm__place_in(s, line, slot);
				at->expired = bshm__expired(at->record.expires_s,
					at->record.expires_s == 0 ? 0 : bshm__store_now_s(s->segment));
				return;
			}
		}
		const uint32_t vacant = at->vacant != 0 ? 0 : bshm__line_free(line);
		if (vacant != 0) {
			at->vacant = bshm__place_in(s, line, (uint32_t) __builtin_ctz(vacant));
		}
		passed_on = passed_on && passed != 0;
		number = bshm__line_next(number, lines.lines);
	}
}

/* Makes room in the table for one more; false: cannot be. */
static bool make_place(const bshm__shard *s, const bshm__home *home, bool must)
{
	const uint32_t lines = bshm__lines_of(s->segment, home->table).lines;
	uint32_t units = bshm__table_growth(s, home->table);
	if (units == 0 && !must) {
		return true;
	}
	units = units != 0 ? units : lines / BSHM_UNIT_LINES + 1;
	/* As large as it has to be: by chance, many keys may belong to a few neighbouring lines. */
	for (; units <= BSHM_TABLE_UNITS; units++) {
		if (!bshm__make_room(s, BSHM_CLASS_INDEX, units, BSHM_CLASS_COUNT, UINT32_MAX)) {
			return false;
		}
		if (bshm__table_resize(s, home->table, units)) {
			return true;
		}
	}
	return false;
}

/* Makes room for the record itself: the chunks' room is not made of the first slot's. */
static bool make_slots(const bshm__shard *s, bshm__recipe *r)
{
	r->slot = bshm__slot_find(s, r->size_class, 0);
	if (BSHM_LIKELY(r->slot != 0 && r->chunks == 0)) {
		return true;
	}
	r->slot = 0;
	return bshm__make_room(s, r->size_class, 1, BSHM_CLASS_COUNT, UINT32_MAX) &&
		   (r->chunks == 0 ||
			   bshm__make_room(s, BSHM_CLASS_CHUNK, r->chunks, r->size_class, UINT32_MAX));
}

/* One more of all shards' records, if the limit allows. */
static bool reserve_one(const bshm__shard *s)
{
	bshm_segment *segment = s->segment;
	const uint64_t most = segment->cache_records;
	if (most == 0) {
		return true;
	}
	if (segment->shard_count == 1) {
		return BSHM_LOAD(&s->shard->records, RELAXED) < most;
	}
	uint64_t reserved = BSHM_LOAD(&segment->store->reserved, RELAXED);
	while (reserved < most) {
		if (BSHM_CAS(&segment->store->reserved, &reserved, reserved + 1, RELAXED)) {
			return true;
		}
	}
	return false;
}

/* Puts the recipe's record in force, in the place of `at` or in a new one; false: no room. */
static bool publish(
	const bshm__shard *s, const bshm__home *home, const bshm__recipe *r, const bshm__standing *at)
{
	bshm_shard *shard = s->shard;
	const uint32_t place = at->place != 0 ? at->place : at->vacant;
	const uint32_t now = bshm__stamp_now(s);
	uint32_t state = now | BSHM_SLOT_LIVE | (r->used_again ? BSHM_SLOT_MAIN : 0);
	uint64_t replaced = 0;
	if (at->place != 0) {
		const uint32_t before = bshm__word(s, at->ref, 0);
		const bool again = (before & BSHM_SLOT_MAIN) != 0 || (before & BSHM_SLOT_STAMP) != now;
		state |= again && !at->expired ? BSHM_SLOT_MAIN : 0;
		replaced = (uint64_t) at->record.key_bytes + at->record.value_bytes;
	}
	bshm__intent_plan(s, BSHM_LOAD(&shard->records, RELAXED) + (at->place == 0),
		BSHM_LOAD(&shard->data_bytes, RELAXED) + recipe_bytes(r) - replaced);
	bshm__intent_begin(s, BSHM_INTENT_PUT, place, at->place != 0 ? at->ref : 0, 0);
	const uint32_t first = build(s, r, state);
	if (first != 0) {
		if (at->place == 0) {
			bshm__place_enter(s, home, place);
		}
		BSHM_STORE(bshm__place_word(s, place), first, RELEASE); /* others see it from here on */
		bshm__intent_carry_out(s);
		if (at->place != 0) {
			bshm__chain_free(s, at->ref);
		}
	}
	bshm__intent_end(s);
	return first != 0;
}

/*
 * Stores the recipe's record; what stands has been looked at under the same lock. What is evicted to
 * make room may be that record itself: so it is looked for again.
 */
bool bshm__put_record(
	const bshm__shard *s, const bshm__home *home, bshm__recipe *r, bshm__standing *at)
{
	work_out(r);
	bool reserved = false;
	bool must_grow = false;
	for (unsigned tries = 0; tries < PUT_TRIES; tries++) {
		bool ready = true;
		while (ready && at->place == 0 && !reserved && !(reserved = reserve_one(s))) {
			ready = bshm__evict(s);
		}
		if (!ready || (at->place == 0 && !make_place(s, home, must_grow || at->vacant == 0)) ||
			!make_slots(s, r)) {
			break;
		}
		if (!still(s, at)) { /* room was made, perhaps of what stood */
			bshm__locate(s, home, r->space, &r->key, at);
		}
		if (at->place != 0 && reserved) {
			bshm__give_back_one(s);
			reserved = false;
		}
		const uint32_t before = at->place != 0 ? bshm__word(s, at->ref, 0) : 0;
		if ((at->place != 0 || (reserved && at->vacant != 0)) && publish(s, home, r, at)) {
			BSHM_STORE(&s->shard->sets, BSHM_LOAD(&s->shard->sets, RELAXED) + 1, RELAXED);
			const uint32_t now = bshm__stamp_now(s);
			if (before == 0 || (before & BSHM_SLOT_STAMP) != now) {
				bshm__touch_count(s, before);
			}
			bshm__aging_step(s);
			return true;
		}
		must_grow = at->place == 0 && at->vacant == 0;
		at->sequence--; /* look again */
	}
	if (reserved) {
		bshm__give_back_one(s);
	}
	return false;
}
