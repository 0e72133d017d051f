/*
 * put.c - puts a new record into a free cell, or in place of an existing record.
 *
 * Under the lock of the key's shard: fill a free slot, look up the existing record, decide, make
 * room, and publish with one store of the new ref. Nothing is allocated under the lock, and no
 * caller's code runs.
 *
 * The existing record is looked up last: its cache miss overlaps the filling of the slot. A slot
 * that was filled in vain stays free. It becomes live only after it is taken, so that a repair
 * after a death frees it, and its next record has another version.
 *
 * Not here: whether a record is put, and with which value (change.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/put.h"

#include "core/cache/aging.h"
#include "core/cache/chain.h"
#include "core/cache/evict.h"
#include "core/cache/ghost.h"
#include "core/cache/intent.h"
#include "core/cache/parked.h"
#include "core/cache/quota.h"
#include "core/cache/recency.h"
#include "core/cache/remove.h"
#include "core/cache/room.h"
#include "core/cache/shadow.h"
#include "core/cache/table.h"

/* A table that grows for a key may have to do so again: size_after(). */
#define GROW_TRIES 10u
#define PUT_TRIES  (11 + GROW_TRIES)

/* One is enough below the limit of records, if the counts are right. */
#define LIMIT_EVICTIONS 48u

/* Of so many steps one that frees nothing is the last: it finds only a damaged index. While another
 * process has chunks of the shard, their room may come yet. */
#define VAIN_STEPS        8u
#define VAIN_STEPS_PARKED 64u

/* A chunk more costs a look-up another cache miss, which so many bytes are worth. */
#define CHUNK_COST 32u
/* The same if the key goes on in a chunk, which a look-up has to read to compare it. */
#define KEY_COST 64u
/* The same of a record that would fit into one slot: this share of its bytes, as its put takes
 * twice as long. No shorter one than that is divided. */
#define DIVIDED_SHARE 16u
#define WHOLE_BYTES   2048u
/* A page of a class without a free slot costs so many, divided by the count of the pages. */
#define PAGES_COST (UINT64_C(3) << 17)
/* But only a sixteenth of that where a sixteenth of the pages has records of about this size: those
 * that come soon fill the rest of the page. (Where it was a quarter, nearly so many pages kept
 * slots that were too large: three shards had 3 % fewer records of 2,750 bytes than one, and 3,400
 * bytes in 4 MB wasted 6 %, now 3.) */
#define MANY_PART  16u
#define MANY_SHARE 16u
/* In a full store a put finds slots of the classes that went, so each record would be divided as
 * those before it, also when keys get longer, and other classes are better. Where an eighth of the
 * records has such a first slot, one of 16 gets a page of another class for a quarter of that: the
 * next ones fill it. (10,000 bytes in 16 MB wasted 2.5 %, and 4,350 in 4 MB 22; now 1.3 and 6.) */
#define TRY_PART  8u
#define TRY_EACH  16u
#define TRY_SHARE 4u
/* A store of fewer pages has none for each class. */
#define FEW_PAGES 160u
#define FEW_PART  8u

static uint64_t new_bytes(const bshm__new_record *r)
{
	return (uint64_t) r->key.length + r->value.length;
}

/* Not if its chunks may be filled before the put, when less is known of it: parked.h. */
static bool is_divided_freely(const bshm__new_record *r)
{
	return new_bytes(r) / BSHM_CHUNK_BYTES < BSHM_LARGE_CHUNKS;
}

/*
 * What a slot of a record in parts costs: its bytes. If the class has no free one, it gets a page,
 * and most of that may stay free. There are 60 such classes, so in a small store that may be most
 * of the memory: the fewer pages there are, the more it costs.
 */
static uint64_t slot_cost(const bshm__shard *s, uint64_t page_cost, uint32_t size_class)
{
	const bshm_class *c = &s->shard->classes[size_class];
	const uint64_t slots = (uint64_t) BSHM_LOAD(&c->pages, RELAXED) * bshm__class_slots(size_class);
	const bool is_full = BSHM_LOAD(&c->used, RELAXED) >= slots;
	return bshm__class_bytes(size_class) + (is_full ? page_cost : 0);
}

/* The class of its first slot, if that has so many bytes: the cheapest. */
static uint32_t first_class(const bshm__shard *s, uint64_t page_cost, uint32_t bytes)
{
	uint32_t cheapest = bshm__class_of(bytes);
	uint64_t lowest = slot_cost(s, page_cost, cheapest);
	for (uint32_t i = cheapest + 1; i < BSHM_CLASS_RECORDS && bshm__class_bytes(i) < lowest; i++) {
		const uint64_t cost = slot_cost(s, page_cost, i);
		cheapest = cost < lowest ? i : cheapest;
		lowest = cost < lowest ? cost : lowest;
	}
	return cheapest;
}

/* The words of a record in one slot. */
static uint32_t plain_head(const bshm__new_record *r)
{
	return BSHM_SLOT_HEADER + (r->expires_s != 0 ? 4 : 0);
}

/* The words of the first slot of a large record. */
static uint32_t large_head(const bshm__new_record *r)
{
	const bool may_expire = r->expires_s != 0 || !is_divided_freely(r);
	return BSHM_SLOT_HEADER + (may_expire ? 4 : 0) + BSHM_CHAIN_HEADER;
}

/* A store of few pages has none for some classes. Then a slot may be larger by a fourth: where its
 * class has few pages. Else most records might lie in slots that are too large. */
static BSHM_NOINLINE uint32_t class_in_use(const bshm__shard *s, uint32_t size_class)
{
	const uint32_t most = bshm__class_bytes(size_class) * 5 / 4;
	for (uint32_t i = size_class; i < BSHM_CLASS_RECORDS && bshm__class_bytes(i) <= most; i++) {
		const uint32_t pages = BSHM_LOAD(&s->shard->classes[i].pages, RELAXED);
		if (pages != 0) {
			return pages <= s->segment->shard_pages / FEW_PART ? i : size_class;
		}
	}
	return size_class;
}

static void keep_whole(const bshm__shard *s, bshm__new_record *r)
{
	r->chunks = 0;
	r->first = (uint32_t) new_bytes(r);
	r->size_class = bshm__class_of(plain_head(r) + r->first);
	if (BSHM_UNLIKELY(s->segment->shard_pages < FEW_PAGES)) {
		r->size_class = class_in_use(s, r->size_class);
	}
}

/* Gives the first slot so many bytes of the record, and chunks the rest. Returns what that costs;
 * `most` or more: not less than that. */
static uint64_t divide_at(
	const bshm__shard *s, bshm__new_record *r, uint64_t page_cost, uint64_t first, uint64_t most)
{
	const uint64_t rest = new_bytes(r) - first;
	if (rest == 0) {
		keep_whole(s, r);
		return slot_cost(s, page_cost, r->size_class);
	}
	r->first = (uint32_t) first;
	r->chunks = (uint32_t) ((rest + BSHM_CHUNK_BYTES - 1) / BSHM_CHUNK_BYTES);
	const uint64_t whole = r->chunks - 1;
	r->last_class = bshm__chunk_class(rest - whole * BSHM_CHUNK_BYTES);
	const uint64_t cost = slot_cost(s, page_cost, r->last_class) +
						  whole * bshm__class_bytes(BSHM_CLASS_CHUNK) + r->chunks * CHUNK_COST +
						  new_bytes(r) / DIVIDED_SHARE + (first < r->key.length ? KEY_COST : 0);
	if (cost + large_head(r) + first >= most) {
		return most;
	}
	r->size_class = first_class(s, page_cost, large_head(r) + r->first);
	return cost + slot_cost(s, page_cost, r->size_class);
}

/* The first and the last slot. */
static uint64_t bytes_of_parts(const bshm__new_record *r)
{
	return (uint64_t) bshm__class_bytes(r->size_class) + bshm__class_bytes(r->last_class);
}

/*
 * The first slot's bytes of the division with the least waste: for each class that the last chunk
 * may have, the first slot gets what is over when that and the whole chunks are full; or the key,
 * if that is more. `whole`: what one slot for all of it takes, and `lowest` what that costs. The
 * largest chunk comes first: it leaves the least for the first slot, whose classes are closer to
 * each other, so it is the cheapest as a rule, and the others end soon.
 */
static uint64_t cheapest_first(
	const bshm__shard *s, bshm__new_record *r, uint64_t page_cost, uint64_t whole, uint64_t lowest)
{
	const uint64_t bytes = new_bytes(r);
	const uint64_t most = BSHM_SLOT_BYTES_MAX - large_head(r);
	const uint64_t key = r->key.length < most ? r->key.length : most;
	uint64_t first = lowest != UINT64_MAX ? bytes : most;
	for (uint32_t last = bshm__chunk_class(bytes); last >= BSHM_CLASS_SHORT; last--) {
		uint64_t room = bshm__class_bytes(last) - BSHM_CHUNK_HEADER;
		if (bytes > room + most) {
			room +=
				(bytes - room - most + BSHM_CHUNK_BYTES - 1) / BSHM_CHUNK_BYTES * BSHM_CHUNK_BYTES;
		}
		for (uint64_t over = bytes > room ? bytes - room : 0; over <= most;
			 over = over < key ? key : UINT64_MAX) {
			const uint64_t cost = divide_at(s, r, page_cost, over, lowest);
			if (cost < lowest && bytes_of_parts(r) < whole) {
				first = over;
				lowest = cost;
			}
		}
	}
	return first;
}

/* Have many records such a first slot? Then one of TRY_EACH says so. While the store fills only
 * their number changes, and when it is full only the sequence. */
static bool tries_another(const bshm__shard *s, const bshm__new_record *r)
{
	const uint32_t records = BSHM_LOAD(&s->shard->records, RELAXED);
	const uint32_t chance = records + (uint32_t) BSHM_LOAD(&s->shard->sequence, RELAXED);
	const uint64_t used = BSHM_LOAD(&s->shard->classes[r->size_class].used, RELAXED);
	return (chance * 0x9e3779b1u >> 16) % TRY_EACH == 0 && used * TRY_PART >= records;
}

/*
 * Divides a record. One that fits into a slot may stay there, and does if its parts would take as
 * much: in a small store they may cost less all the same, as they fit the parts of a record that
 * went.
 */
static void divide(const bshm__shard *s, bshm__new_record *r)
{
	const uint64_t bytes = new_bytes(r);
	uint64_t page_cost = is_divided_freely(r) ? PAGES_COST / s->segment->shard_pages : 0;
	const bool fits = plain_head(r) + bytes <= BSHM_SLOT_BYTES_MAX;
	const uint64_t lowest = fits ? divide_at(s, r, page_cost, bytes, UINT64_MAX) : UINT64_MAX;
	const uint64_t whole = fits ? bshm__class_bytes(r->size_class) : UINT64_MAX;
	if (fits && whole - bytes <= bytes / DIVIDED_SHARE) {
		return;
	}
	if (fits && BSHM_LOAD(&s->shard->classes[r->size_class].pages, RELAXED) >
					s->segment->shard_pages / MANY_PART) {
		page_cost /= MANY_SHARE;
	}
	uint64_t first = cheapest_first(s, r, page_cost, whole, lowest);
	divide_at(s, r, page_cost, first, UINT64_MAX);
	if (r->chunks != 0 && page_cost != 0 && tries_another(s, r)) {
		first = cheapest_first(s, r, page_cost / TRY_SHARE, whole, lowest);
		divide_at(s, r, page_cost / TRY_SHARE, first, UINT64_MAX);
	}
}

/* Room may have been made for its parts: so it is worked out once. */
static bool is_worked_out(const bshm__new_record *r)
{
	const uint32_t head = r->chunks != 0 ? large_head(r) : plain_head(r);
	return (r->chunks != 0 || r->first == new_bytes(r)) &&
		   bshm__class_bytes(r->size_class) >= head + r->first;
}

static void work_out(const bshm__shard *s, bshm__new_record *r)
{
	if (BSHM_LIKELY(plain_head(r) + new_bytes(r) <= WHOLE_BYTES)) {
		keep_whole(s, r);
	} else if (!is_worked_out(r)) {
		divide(s, r);
	}
}

void bshm__record_bytes(const bshm__new_record *r, uint64_t off, uint8_t *to, uint64_t count)
{
	uint64_t of_key = 0;
	if (off < r->key.length) {
		of_key = r->key.length - off < count ? r->key.length - off : count;
		bshm__racy_copy(to, r->key.bytes + off, (size_t) of_key);
	}
	if (of_key != count) {
		const uint8_t *value = r->value.bytes;
		bshm__racy_copy_part(to + of_key, value + (off + of_key - r->key.length),
			(size_t) (count - of_key), r->value.length);
	}
}

/* Fills the first slot, all but its state. No ref leads to it, and it is still free. */
static void fill_first(const bshm__shard *s, const bshm__new_record *r, uint32_t ref, uint32_t next)
{
	uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	uint32_t *words = bshm__slot_word(slot, 0);
	uint32_t shape = (uint32_t) r->value.type << BSHM_SHAPE_TYPE | r->space << BSHM_SHAPE_SPACE;
	uint32_t word = 2;
	if (r->expires_s != 0) {
		BSHM_STORE(&words[word++], r->expires_s, RELAXED);
	}
	if (r->chunks != 0) {
		BSHM_STORE(
			&words[word++], (uint32_t) r->key.length | r->first << BSHM_CHAIN_FIRST, RELAXED);
		BSHM_STORE(&words[word++], (uint32_t) r->value.length, RELAXED);
		BSHM_STORE(&words[word++], next, RELAXED);
		shape |= (uint32_t) BSHM_LOAD(&s->shard->sequence, RELAXED) & BSHM_SHAPE_SERIAL;
	} else {
		shape |= (uint32_t) r->key.length | (uint32_t) r->value.length << BSHM_SHAPE_VALUE;
	}
	BSHM_STORE(&words[1], shape, RELAXED);
	bshm__record_bytes(r, 0, slot + 4 * (size_t) word, r->first);
}

/* Takes and fills the chunks, the last one first. False: no room, and none is taken. */
static bool build_chunks(const bshm__shard *s, const bshm__new_record *r, uint32_t *next)
{
	for (uint32_t i = r->chunks; i-- > 0;) {
		const uint64_t off = r->first + (uint64_t) i * BSHM_CHUNK_BYTES;
		const uint64_t left = new_bytes(r) - off;
		const uint32_t chunk = bshm__slot_find(s, bshm__chunk_class(left), 0);
		if (chunk == 0) {
			bshm__chain_free(s, *next);
			return false;
		}
		bshm__chunk_fill_head(s, chunk, *next);
		BSHM_STORE(&s->shard->intent.fresh, chunk, RELEASE); /* pairs with bshm__intent_repair() */
		bshm__slot_take(s, chunk);
		bshm__record_bytes(r, off, bshm__ref_at(s, chunk, BSHM_CHUNK_HEADER) + BSHM_CHUNK_HEADER,
			left < BSHM_CHUNK_BYTES ? left : BSHM_CHUNK_BYTES);
		if (*next != 0) {
			bshm__word_set(s, *next, 2, chunk);
		}
		*next = chunk;
	}
	return true;
}

/* Takes all slots, and fills those that are not filled yet: the first slot. 0: no room, and nothing
 * is taken. */
static uint32_t build(const bshm__shard *s, bshm__new_record *r, uint32_t state)
{
	uint32_t next = r->chain;
	uint32_t first = r->slot;
	if (BSHM_UNLIKELY(first == 0)) {
		if (next != 0) {
			BSHM_STORE(
				&s->shard->intent.fresh, next, RELEASE); /* pairs with bshm__intent_repair() */
			bshm__parked_hand_over(s);
			r->chain = 0;
		} else if (!build_chunks(s, r, &next)) {
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
	bshm__word_set(s, first, 0, state & ~BSHM_SLOT_LIVE); /* what a repair needs: the flags */
	BSHM_STORE(&s->shard->intent.fresh, first, RELEASE);  /* pairs with bshm__intent_repair() */
	bshm__slot_take(s, first);
	bshm__slot_live(s, first, state);
	if (next != 0) {
		bshm__word_set(s, next, 2, first);
	}
	return first;
}

void bshm__put_prepare(const bshm__shard *s, bshm__new_record *r)
{
	work_out(s, r);
	r->slot = r->chunks == 0 ? bshm__slot_find(s, r->size_class, 0) : 0;
	if (r->slot != 0) {
		fill_first(s, r, r->slot, 0);
	}
}

void bshm__note_use(const bshm__shard *s, const bshm__home *home, const bshm__existing *at)
{
	const uint32_t state = bshm__word(s, at->ref, 0);
	const uint64_t bytes = bshm__record_size(&at->record);
	bshm__ghost_used(s, home->hash, state, bytes);
	bshm__touch(s, at->record.slot, state, bytes);
	bshm__aging_step(s);
}

/* Has no slot of the shard been freed since bshm__locate()? Then what it found is still true. */
static bool is_located(const bshm__shard *s, const bshm__existing *at)
{
	return BSHM_LOAD(&s->shard->sequence, RELAXED) == at->sequence;
}

/* Makes room for a part of the record, or a step of it. False: there is none, or not yet. */
static bool make_room(
	const bshm__shard *s, bshm__new_record *r, uint32_t size_class, uint32_t count, uint64_t keep)
{
	if (r->step == 0) {
		return bshm__make_room(s, size_class, count, keep);
	}
	const uint64_t before = BSHM_LOAD(&s->shard->sequence, RELAXED);
	const bool made = bshm__make_room_step(s, size_class, count, keep, r->step == 1);
	const uint32_t steps = bshm__parked_in_use(s) ? VAIN_STEPS_PARKED : VAIN_STEPS;
	const bool in_vain = before == BSHM_LOAD(&s->shard->sequence, RELAXED) && r->step % steps == 0;
	if (!made && BSHM_LOAD(&s->shard->records, RELAXED) != 0 && !in_vain) {
		r->step = BSHM_STEP_LATER;
	}
	return made;
}

/* The size to try after that of so many buckets, if so many were tried before. Each is further away
 * than the last, so few lead to the largest one: where the table is damaged, none may do. */
static uint32_t size_after(uint32_t buckets, uint32_t tried)
{
	const uint32_t further = buckets < BSHM_UNIT_BUCKETS ? 0 : (1u << tried) - 1;
	const uint32_t next = bshm__buckets_next(buckets) + further * BSHM_UNIT_BUCKETS;
	return next < BSHM_BUCKETS_MAX ? next : BSHM_BUCKETS_MAX;
}

/* Makes room in the table for one more record. False: impossible. `must`: the table has to grow;
 * *tried: how many sizes it was given already. By chance many keys may belong to a few neighbouring
 * buckets: of 99,000 times that a large table of random keys grew, two took four sizes. */
static BSHM_NOINLINE bool grow_table(
	const bshm__shard *s, const bshm__home *home, bshm__new_record *r, bool must, uint32_t *tried)
{
	uint32_t buckets = bshm__table_growth(s, home->table);
	if (buckets == 0 && !must) {
		return true;
	}
	uint32_t last = bshm__buckets_of(s->segment, home->table).count;
	for (; last < BSHM_BUCKETS_MAX && *tried < GROW_TRIES; last = buckets, buckets = 0) {
		buckets = buckets != 0 ? buckets : size_after(last, *tried);
		++*tried;
		if (!make_room(s, r, bshm__unit_class(buckets), bshm__units_for(buckets), 0)) {
			return false;
		}
		if (bshm__table_resize(s, home->table, buckets)) {
			return true;
		}
		if (*tried == 1) {
			bshm__slabs_doubt(s); /* there should have been room */
		}
	}
	return false;
}

static inline bool make_cell(
	const bshm__shard *s, const bshm__home *home, bshm__new_record *r, bool must, uint32_t *tried)
{
	return BSHM_LIKELY(!must && !bshm__table_full(s, home->table)) ||
		   grow_table(s, home, r, must, tried);
}

/*
 * Where memory is full, a sparse table keeps its units: when records go, no others are free that it
 * could have instead. Makes room for them, and the table smaller. False: there is no room yet.
 * (Where tables of 32 records and more were left as they were, the units that small records had
 * needed took a fifth of a store of records of 1,500 bytes, for ever.)
 */
static bool shrink_table(const bshm__shard *s, const bshm__home *home, bshm__new_record *r)
{
	const bool is_full = BSHM_LOAD(&s->shard->given_pages, RELAXED) >= s->segment->shard_pages;
	const uint32_t buckets = is_full ? bshm__table_oversized(s, home->table) : 0;
	if (BSHM_UNLIKELY(buckets != 0)) {
		if (make_room(s, r, bshm__unit_class(buckets), bshm__units_for(buckets), 0)) {
			bshm__table_shrink(s, home->table);
			bshm__put_prepare(s, r); /* records may have gone for the room */
		}
		return r->step != BSHM_STEP_LATER; /* the record does not depend on it */
	}
	return true;
}

/* Makes room for the record's slots. `keep`: room for a part is not taken from the other parts. */
static bool make_slots(
	const bshm__shard *s, const bshm__home *home, bshm__new_record *r, const bshm__existing *at)
{
	if (BSHM_LIKELY(r->slot != 0 && is_located(s, at))) {
		return true;
	}
	bshm__put_prepare(s, r);
	if (r->slot != 0) {
		return true;
	}
	if (at->cell == 0 && !shrink_table(s, home, r)) { /* else room might cost the existing record */
		return false;
	}
	bshm__parked_reclaim(s);
	if (r->asked && at->cell != 0) { /* it should not go for the room, nor between two steps */
		bshm__touch(s, at->record.slot, bshm__word(s, at->ref, 0), bshm__record_size(&at->record));
	}
	uint64_t keep = UINT64_C(1) << r->size_class;
	const uint32_t chunks = r->chain == 0 ? r->chunks : 0;
	const bool is_short = chunks != 0 && r->last_class != BSHM_CLASS_CHUNK;
	if (!make_room(s, r, r->size_class, 1, 0) ||
		(is_short && !make_room(s, r, r->last_class, 1, keep))) {
		return false;
	}
	keep |= (uint64_t) is_short << r->last_class;
	if (chunks > is_short && !make_room(s, r, BSHM_CLASS_CHUNK, chunks - is_short, keep)) {
		return false;
	}
	bshm__put_prepare(s, r);
	return true;
}

/* Publishes the new record: in the cell of the existing record, or in a free one. False: no
 * room. */
static bool publish(
	const bshm__shard *s, const bshm__home *home, bshm__new_record *r, const bshm__existing *at)
{
	bshm_shard_header *shard = s->shard;
	uint32_t cell = at->cell;
	uint32_t state = BSHM_SLOT_LIVE | (r->is_protected ? BSHM_SLOT_PROTECTED : 0);
	uint64_t replaced = 0;
	if (at->cell == 0) {
		const bool returns = bshm__ghost_returns(s, home, new_bytes(r), r->asked);
		cell = bshm__ghost_spares(s, home, at->free_cell);
		bshm__shadow_put(s, home->hash, new_bytes(r), r->asked);
		state |= bshm__stamp_now(s) | r->level | (returns ? BSHM_SLOT_PROTECTED : 0);
	} else {
		const uint32_t before = bshm__state_used(s, bshm__word(s, at->ref, 0));
		state |= before & (BSHM_SLOT_STAMP | (at->expired ? 0 : BSHM_SLOT_LEVEL));
		replaced = bshm__record_size(&at->record);
		bshm__shadow_replaced(s, home->hash, replaced, new_bytes(r));
	}
	bshm__intent_plan(s, BSHM_LOAD(&shard->records, RELAXED) + (at->cell == 0),
		BSHM_LOAD(&shard->data_bytes, RELAXED) + new_bytes(r) - replaced);
	bshm__intent_begin(s, BSHM_INTENT_PUT, cell, at->cell != 0 ? at->ref : 0, 0);
	const uint32_t first = build(s, r, state);
	if (first != 0) {
		if (at->cell == 0) {
			bshm__cell_enter(s, home, cell, at->overflows);
		}
		/* Published: pairs with search(). */
		BSHM_STORE(bshm__cell_word(s, cell), first, RELEASE);
		bshm__intent_set_counts(s);
		if (at->cell != 0) {
			bshm__chain_free(s, at->ref);
		}
	}
	bshm__intent_end(s);
	return first != 0;
}

/* In the process's own tally: a process that holds a lock has one. */
static void count_set(bshm_segment *segment)
{
	bshm_tally *own = segment->tally;
	if (BSHM_LIKELY(own != NULL)) {
		BSHM_STORE(&own->sets, BSHM_LOAD(&own->sets, RELAXED) + 1, RELAXED);
	}
}

/*
 * A large record for which there is no room takes that of the existing record, before others go at
 * once: thousands might have to. Until the record is published, look-ups find neither.
 */
static BSHM_NOINLINE void use_existing_room(
	const bshm__shard *s, const bshm__home *home, bshm__new_record *r, bshm__existing *at)
{
	if (r->step == 0 && r->chain == 0 && at->cell != 0 &&
		bshm__slots_free(s, BSHM_CLASS_CHUNK) < new_bytes(r) / BSHM_CHUNK_BYTES) {
		r->level =
			at->expired ? 0 : bshm__state_used(s, bshm__word(s, at->ref, 0)) & BSHM_SLOT_LEVEL;
		bshm__record_remove(s, home, at->cell, at->ref);
		bshm__locate(s, home, r->space, &r->key, at);
	}
}

bool bshm__put_record(
	const bshm__shard *s, const bshm__home *home, bshm__new_record *r, bshm__existing *at)
{
	bool reserved = false;
	uint32_t tried = 0;
	uint32_t evictions = 0;
	bshm__touch_prepare(s);
	if (r->asked && at->cell != 0 && !at->expired) {
		const uint32_t state = bshm__word(s, at->ref, 0);
		bshm__ghost_used(s, home->hash, state, bshm__record_size(&at->record));
	}
	if (BSHM_UNLIKELY(r->value.length > BSHM_LARGE_CHUNKS * BSHM_CHUNK_BYTES)) {
		use_existing_room(s, home, r, at);
	}
	for (unsigned tries = 0; tries < PUT_TRIES; tries++) {
		bool ready = true;
		while (ready && at->cell == 0 && !reserved && !(reserved = bshm__quota_take(s))) {
			ready = (evictions++ < LIMIT_EVICTIONS && bshm__evict(s)) || bshm__quota_doubt(s);
		}
		if (!ready || (at->cell == 0 && !make_cell(s, home, r, at->free_cell == 0, &tried)) ||
			!make_slots(s, home, r, at)) {
			break;
		}
		if (!is_located(s, at)) { /* making room may have evicted the existing record itself */
			bshm__locate(s, home, r->space, &r->key, at);
		}
		if (at->cell != 0 && reserved) {
			bshm__quota_give(s);
			reserved = false;
		}
		const uint32_t before = at->cell != 0 ? bshm__word(s, at->ref, 0) : 0;
		if (at->cell != 0 || (reserved && at->free_cell != 0)) {
			if (publish(s, home, r, at)) {
				count_set(s->segment);
				const uint32_t now = bshm__stamp_now(s);
				if (before == 0 || (before & BSHM_SLOT_STAMP) != now) {
					bshm__touch_count(s, before, new_bytes(r));
				}
				bshm__aging_step(s);
				return true;
			}
			bshm__slabs_doubt(s); /* there should have been room */
		}
		at->sequence--; /* locate again */
	}
	if (reserved) {
		bshm__quota_give(s);
	}
	return false;
}
