/*
 * put.c - a record is put, in the place of another or in a new one.
 *
 * Under the lock of the key's shard: fill a slot that nothing leads to yet, look at what stands, decide,
 * evict until there is room, and publish with one store. Nothing is allocated there, and
 * nobody is called back.
 *
 * What stands is looked at last because it has to come from memory, which takes longer than all the rest.
 * A slot that was filled in vain stays a free one: it is live only when it is taken, so that whoever frees
 * it after a death gives it another version.
 *
 * Not here: when a record is put, and as what (change.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/put.h"

#include "core/cache/chain.h"
#include "core/cache/evict.h"
#include "core/cache/intent.h"
#include "core/cache/quota.h"
#include "core/cache/recency.h"
#include "core/cache/room.h"

/* A table that grows for a key may have to do so again, by one unit each time. */
#define PUT_TRIES (8 + BSHM_TABLE_UNITS)

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
	r->half = false;
	r->first = (uint32_t) bytes;
	if (head + bytes > BSHM_SLOT_BYTES_MAX) {
		r->first = bshm__record_first(bytes);
		r->chunks = (uint32_t) ((bytes - r->first + BSHM_CHUNK_BYTES - 1) / BSHM_CHUNK_BYTES);
		const uint64_t last = bytes - r->first - (uint64_t) (r->chunks - 1) * BSHM_CHUNK_BYTES;
		r->half = bshm__chunk_class(last) == BSHM_CLASS_HALF;
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

/* Fills the first slot, all but its state: nothing leads to it yet, and it stays a free one. */
static void fill_first(const bshm__shard *s, const bshm__recipe *r, uint32_t ref, uint32_t next)
{
	uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	uint32_t *words = bshm__slot_word(slot, 0);
	uint32_t shape = (uint32_t) r->value.type << BSHM_SHAPE_TYPE | r->space << BSHM_SHAPE_SPACE;
	uint32_t word = 2;
	if (r->expires_s != 0) {
		BSHM_STORE(&words[word++], r->expires_s, RELAXED);
	}
	if (r->chunks != 0) {
		BSHM_STORE(&words[word++], (uint32_t) r->key.length, RELAXED);
		BSHM_STORE(&words[word++], (uint32_t) r->value.length, RELAXED);
		BSHM_STORE(&words[word++], next, RELAXED);
		shape |= (uint32_t) BSHM_LOAD(&s->shard->sequence, RELAXED) & BSHM_SHAPE_SERIAL;
	} else {
		shape |= (uint32_t) r->key.length | (uint32_t) r->value.length << BSHM_SHAPE_VALUE;
	}
	BSHM_STORE(&words[1], shape, RELAXED);
	write_bytes(r, 0, slot + 4 * (size_t) word, r->first);
}

/* Takes and fills the chunks, the last one first; false: there was no room, and none is taken. */
static bool build_chunks(const bshm__shard *s, const bshm__recipe *r, uint32_t *next)
{
	for (uint32_t i = r->chunks; i-- > 0;) {
		const uint64_t off = r->first + (uint64_t) i * BSHM_CHUNK_BYTES;
		const uint64_t left = recipe_bytes(r) - off;
		const uint32_t chunk = bshm__slot_find(s, bshm__chunk_class(left), 0);
		if (chunk == 0) {
			bshm__chain_free(s, *next);
			return false;
		}
		bshm__word_set(
			s, chunk, 0, (bshm__word(s, chunk, 0) & BSHM_SLOT_VERSION_MASK) | BSHM_SLOT_CHAINED);
		bshm__word_set(s, chunk, 1, *next);
		BSHM_STORE(&s->shard->intent.fresh, chunk, RELEASE); /* pairs with bshm__intent_repair() */
		bshm__slot_take(s, chunk);
		write_bytes(r, off, bshm__ref_at(s, chunk, BSHM_SLOT_BYTES_MAX) + BSHM_CHUNK_HEAD,
			left < BSHM_CHUNK_BYTES ? left : BSHM_CHUNK_BYTES);
		if (*next != 0) {
			bshm__word_set(s, *next, 2, chunk);
		}
		*next = chunk;
	}
	return true;
}

/* Takes and fills all slots that are not filled yet; 0: there was no room, and nothing is taken. */
static uint32_t build(const bshm__shard *s, const bshm__recipe *r, uint32_t state)
{
	uint32_t next = 0;
	uint32_t first = r->slot;
	if (BSHM_UNLIKELY(first == 0)) {
		if (!build_chunks(s, r, &next)) {
			return 0;
		}
		first = bshm__slot_find(s, r->size_class, 0);
		if (first == 0) {
			bshm__chain_free(s, next);
			return 0;
		}
		fill_first(s, r, first, next);
	}
	state |= bshm__word(s, first, 0) & BSHM_SLOT_VERSION_MASK;
	state |= r->expires_s != 0 ? BSHM_SLOT_EXPIRES : 0;
	state |= r->chunks != 0 ? BSHM_SLOT_CHAINED : 0;
	bshm__word_set(s, first, 0, state & ~BSHM_SLOT_LIVE); /* as far as a repair looks at it */
	BSHM_STORE(&s->shard->intent.fresh, first, RELEASE);  /* pairs with bshm__intent_repair() */
	bshm__slot_take(s, first);
	bshm__slot_live(s, first, state);
	if (next != 0) {
		bshm__word_set(s, next, 2, first);
	}
	return first;
}

void bshm__put_prepare(const bshm__shard *s, bshm__recipe *r)
{
	work_out(r);
	r->slot = r->chunks == 0 ? bshm__slot_find(s, r->size_class, 0) : 0;
	if (r->slot != 0) {
		fill_first(s, r, r->slot, 0);
	}
}

/* Does what stands still stand: has nothing of the shard been given up since? */
static bool still(const bshm__shard *s, const bshm__standing *at)
{
	return BSHM_LOAD(&s->shard->sequence, RELAXED) == at->sequence;
}

/* Makes room in the table for one more; false: cannot be. `must`: it has to grow. */
static __attribute__((noinline)) bool grow_table(
	const bshm__shard *s, const bshm__home *home, bool must)
{
	const uint32_t lines = bshm__lines_of(s->segment, home->table).lines;
	uint32_t units = bshm__table_growth(s, home->table);
	if (units == 0 && !must) {
		return true;
	}
	units = units != 0 ? units : lines / BSHM_UNIT_LINES + 1;
	/* As large as it has to be: by chance, many keys may belong to a few neighbouring lines. */
	for (; units <= BSHM_TABLE_UNITS; units++) {
		if (!bshm__make_room(s, BSHM_CLASS_INDEX, units, 0)) {
			return false;
		}
		if (bshm__table_resize(s, home->table, units)) {
			return true;
		}
	}
	return false;
}

static inline bool make_place(const bshm__shard *s, const bshm__home *home, bool must)
{
	return BSHM_LIKELY(!must && !bshm__table_full(s, home->table)) || grow_table(s, home, must);
}

/* Makes room for the record itself: the chunks' room is not made of the first slot's. */
static bool make_slots(const bshm__shard *s, bshm__recipe *r, const bshm__standing *at)
{
	if (BSHM_LIKELY(r->slot != 0 && still(s, at))) {
		return true;
	}
	bshm__put_prepare(s, r);
	if (r->slot != 0) {
		return true;
	}
	uint64_t keep = UINT64_C(1) << r->size_class;
	if (!bshm__make_room(s, r->size_class, 1, 0) ||
		(r->half && !bshm__make_room(s, BSHM_CLASS_HALF, 1, keep))) {
		return false;
	}
	keep |= (uint64_t) r->half << BSHM_CLASS_HALF;
	const uint32_t whole = r->chunks - r->half;
	if (whole != 0 && !bshm__make_room(s, BSHM_CLASS_CHUNK, whole, keep)) {
		return false;
	}
	bshm__put_prepare(s, r);
	return true;
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
			bshm__place_enter(s, home, place, at->far);
		}
		/* Others see it from here on: pairs with search(). */
		BSHM_STORE(bshm__place_word(s, place), first, RELEASE);
		bshm__intent_carry_out(s);
		if (at->place != 0) {
			bshm__chain_free(s, at->ref);
		}
	}
	bshm__intent_end(s);
	return first != 0;
}

/* On the process's own line: who holds a lock has one. */
static void count_set(bshm_segment *segment)
{
	bshm_tally *own = segment->tally;
	if (BSHM_LIKELY(own != NULL)) {
		BSHM_STORE(&own->sets, BSHM_LOAD(&own->sets, RELAXED) + 1, RELAXED);
	}
}

/*
 * Stores the recipe's record; what stands has been looked at under the same lock. What is evicted to
 * make room may be that record itself: so it is looked for again.
 */
bool bshm__put_record(
	const bshm__shard *s, const bshm__home *home, bshm__recipe *r, bshm__standing *at)
{
	bool reserved = false;
	bool must_grow = false;
	for (unsigned tries = 0; tries < PUT_TRIES; tries++) {
		bool ready = true;
		while (ready && at->place == 0 && !reserved && !(reserved = bshm__quota_take(s))) {
			ready = bshm__evict(s);
		}
		if (!ready || (at->place == 0 && !make_place(s, home, must_grow || at->vacant == 0)) ||
			!make_slots(s, r, at)) {
			break;
		}
		if (!still(s, at)) { /* room was made, perhaps of what stood */
			bshm__locate(s, home, r->space, &r->key, at);
		}
		if (at->place != 0 && reserved) {
			bshm__quota_give(s);
			reserved = false;
		}
		const uint32_t before = at->place != 0 ? bshm__word(s, at->ref, 0) : 0;
		if ((at->place != 0 || (reserved && at->vacant != 0)) && publish(s, home, r, at)) {
			count_set(s->segment);
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
		bshm__quota_give(s);
	}
	return false;
}
