/*
 * store.h - what the files of the record store share, and nobody else includes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_STORE_H
#define BSHM_STORE_H

#include "core/core.h"

/* One shard as this process sees it: what every step of a call needs. */
typedef struct {
	bshm_segment *segment;
	bshm_shard *shard;
	uint8_t *slabs; /* its pages */
	uint32_t index;
	uint32_t first_page; /* of the segment's pages */
	uint32_t first_ref;
} bshm__shard;

/* Where a key belongs. */
typedef struct {
	uint64_t hash;
	uint32_t shard;
	uint32_t table;    /* of the segment's tables */
	uint32_t position; /* BSHM_POSITION_BITS bits: orders the lines of the table */
} bshm__home;

static inline bshm__shard bshm__shard_at(bshm_segment *segment, uint32_t index)
{
	bshm__shard s = {segment, segment->shards, segment->slabs, 0, 0, BSHM_REF_PAGE};
	if (BSHM_UNLIKELY(index != 0)) { /* most stores have one shard */
		s.shard += index;
		s.slabs += index * segment->shard_bytes;
		s.index = index;
		s.first_page = index * segment->shard_pages;
		s.first_ref = (s.first_page + 1) * BSHM_REF_PAGE;
	}
	return s;
}

static inline bshm__home bshm__home_of_hash(const bshm_segment *segment, uint64_t hash)
{
	uint64_t shard = 0;
	uint64_t rest = hash >> 32;
	if (BSHM_UNLIKELY(segment->shard_count != 1)) { /* a branch is less work than the products */
		rest *= segment->shard_count;
		shard = rest >> 32;
		rest &= 0xffffffff;
	}
	const uint64_t table = rest * segment->shard_tables >> 32;
	return (bshm__home){
		.hash = hash,
		.shard = (uint32_t) shard,
		.table = (uint32_t) (shard * segment->shard_tables + table),
		.position = (uint32_t) hash & ((1u << BSHM_POSITION_BITS) - 1),
	};
}

/* Of a key, which `space` keeps apart from those of other spaces. */
static inline bshm__home bshm__home_of(
	const bshm_segment *segment, uint32_t space, const bshm_key *key)
{
	const uint64_t seed = segment->name_seed + (space + 1) * UINT64_C(0x9e3779b97f4a7c15);
	return bshm__home_of_hash(segment, bshm__checksum(key->bytes, key->length, seed));
}

/* ------------------------------------------------------------------ shard.c */

/* Takes the lock if it is to be had at once. */
static inline bool bshm__shard_lock_free(const bshm__shard *s)
{
	uint64_t nobody = 0;
	const uint64_t me = s->segment->quick_owner;
	if (BSHM_LIKELY(me != 0 && BSHM_LOAD(&s->shard->starving, RELAXED) == 0 &&
					BSHM_CAS(&s->shard->lock, &nobody, me, ACQUIRE))) {
		BSHM_FENCE(RELEASE); /* as bshm__shard_lock_wait() */
		return true;
	}
	return false;
}

/* The same when it is not to be had at once. */
bshm_status bshm__shard_lock_wait(const bshm__shard *s, uint64_t wait_ns, bshm_error *error);
bshm_status bshm__shard_lock_long(const bshm__shard *s, bshm_patience *patience, bshm_error *error);
/* OK, or TIMEOUT, UNAVAILABLE. What a dead holder left is finished or undone before it returns. */
static inline bshm_status bshm__shard_lock(
	const bshm__shard *s, uint64_t wait_ns, bshm_error *error)
{
	return bshm__shard_lock_free(s) ? BSHM_OK : bshm__shard_lock_wait(s, wait_ns, error);
}

/* One of the locks of a call, which waits as long as its patience lasts; NULL: its only one. */
static inline bshm_status bshm__shard_lock_patient(
	const bshm__shard *s, bshm_patience *patience, bshm_error *error)
{
	return bshm__shard_lock_free(s) ? BSHM_OK : bshm__shard_lock_long(s, patience, error);
}

void bshm__quota_announce(const bshm__shard *s);
static inline void bshm__shard_unlock(const bshm__shard *s)
{
	if (BSHM_LOAD(&s->shard->spare, RELAXED) != 0) {
		bshm__quota_announce(s);
	}
	BSHM_STORE(&s->shard->lock, 0, RELEASE); /* pairs with bshm__shard_lock() */
}

/* ------------------------------------------------------------------ slab.c */

/* The first byte of a slot, or NULL: `ref` does not lead into the shard's pages, with room for `bytes`. */
static inline uint8_t *bshm__ref_at(const bshm__shard *s, uint32_t ref, uint32_t bytes)
{
	const uint32_t units = ref - s->first_ref; /* wraps for what is before */
	const uint64_t offset = (uint64_t) units * BSHM_SLOT_UNIT;
	if (BSHM_UNLIKELY(offset + bytes > s->segment->shard_bytes)) {
		return NULL;
	}
	return s->slabs + offset;
}

/* Asks for the head and the map of the page that a ref leads into. */
static inline void bshm__page_prefetch(const bshm__shard *s, uint32_t ref)
{
	const uintptr_t number = (ref >> 12) - 1; /* a damaged ref may lead anywhere */
	__builtin_prefetch((const void *) ((uintptr_t) s->segment->pages + number * sizeof(bshm_page)));
	__builtin_prefetch((const void *) ((uintptr_t) s->segment->maps + number * sizeof(bshm_map)));
}

uint32_t bshm__class_of(uint32_t bytes); /* the smallest class with slots of so many bytes */
uint32_t bshm__class_bytes(uint32_t size_class);
uint32_t bshm__class_slots(uint32_t size_class); /* of a page */
static inline bool bshm__class_of_chunks(uint32_t size_class)
{
	return size_class == BSHM_CLASS_CHUNK || size_class == BSHM_CLASS_HALF;
}

/* All under the shard's lock. */

/* The number in the shard, + 1, of the page that a ref leads into. */
static inline uint32_t bshm__page_number(const bshm__shard *s, uint32_t ref)
{
	return (ref >> 12) - s->first_page;
}

/* A free slot, not in the page of that number; 0: there is none. It is nobody's until bshm__slot_take(). */
uint32_t bshm__slot_find(const bshm__shard *s, uint32_t size_class, uint32_t avoid);
void bshm__slot_take(const bshm__shard *s, uint32_t ref);
/* Harmless when it is free. Its contents end here, for those who still read them. */
void bshm__slot_free(const bshm__shard *s, uint32_t ref);
/* The same in a page that is being emptied: it is not where the next slot is looked for. */
void bshm__slot_vacate(const bshm__shard *s, uint32_t ref);
/* The class of the page that a ref leads into; BSHM_CLASS_COUNT: none. */
uint32_t bshm__ref_class(const bshm__shard *s, uint32_t ref);
/* Is it the first byte of a slot that is taken? */
bool bshm__slot_taken(const bshm__shard *s, uint32_t ref);
/* Somebody died at work: the counts of pages and slots may be one off. */
void bshm__slabs_doubt(const bshm__shard *s);
/* Those who are reading start anew: memory gets another meaning. */
void bshm__sequence_jump(const bshm__shard *s);
/* How many slots of a class there is room for, without taking anything away. */
uint64_t bshm__slots_free(const bshm__shard *s, uint32_t size_class);
/* Pages by their number in the shard, + 1. The one whose taken slots fit into the others of the class
 * with the least moving; 0 = none. */
uint32_t bshm__page_to_empty(const bshm__shard *s, uint32_t size_class);
/* Are so many slots of the class free in its pages that one could be emptied, and `needed` were free still;
 * and, unless that is the last resort, some more? */
bool bshm__class_wasteful(
	const bshm__shard *s, uint32_t size_class, uint32_t needed, bool to_the_last);
/* Gives the page back if all its slots are free. */
bool bshm__page_release(const bshm__shard *s, uint32_t number);
uint32_t bshm__page_class(const bshm__shard *s, uint32_t number); /* BSHM_CLASS_COUNT: free */
uint64_t bshm__page_taken(const bshm__shard *s, uint32_t number, uint32_t word);
uint32_t bshm__page_ref(const bshm__shard *s, uint32_t number, uint32_t slot);
uint64_t bshm__store_pages_used(const bshm_segment *segment);

/* ------------------------------------------------------------------ index.c */

/* How many lines a record may lie behind its own: as far as a tag tells its position for certain in the
 * smallest table. */
#define BSHM_PASSED_MAX 15u
#define BSHM_TAG_MASK   0xffffu

static inline uint32_t *bshm__slot_word(uint8_t *slot, uint32_t word)
{
	return (uint32_t *) (void *) (slot + 4 * (size_t) word);
}

static inline uint32_t bshm__line_of(uint32_t position, uint32_t lines)
{
	return (uint32_t) ((uint64_t) position * lines >> BSHM_POSITION_BITS);
}

/* A table's lines, as one reading of its shape says. */
typedef struct {
	uint32_t *units; /* where the list begins: bshm__unit() */
	uint32_t lines;  /* 0 = none yet */
} bshm__lines;

static inline bshm__lines bshm__lines_of(const bshm_segment *segment, uint32_t table)
{
	bshm_table *t = &segment->tables[table];
	const uint64_t shape = BSHM_LOAD(&t->shape, ACQUIRE); /* pairs with its store */
	const uint64_t units = shape >> 1 & 0xff;
	return (bshm__lines){
		.units = &t->units[shape & 1],
		.lines = (uint32_t) (units <= BSHM_TABLE_UNITS ? units : 0) * BSHM_UNIT_LINES,
	};
}

/* Where the ref of a unit stands in a table's list: the two lists take turns. */
static inline uint32_t *bshm__unit(uint32_t *units, uint32_t i)
{
	return &units[2 * i];
}

/* A line; NULL: damaged. */
static inline bshm_line *bshm__line_at(
	const bshm__shard *s, const bshm__lines *lines, uint32_t line)
{
	const uint32_t ref = BSHM_LOAD(bshm__unit(lines->units, line / BSHM_UNIT_LINES), RELAXED);
	uint8_t *unit = bshm__ref_at(s, ref, BSHM_UNIT_BYTES);
	if (BSHM_UNLIKELY(unit == NULL || (ref & 0xf) != 0)) {
		return NULL;
	}
	return (bshm_line *) (void *) unit + line % BSHM_UNIT_LINES;
}

/* Bits 15, 31, 47, 63 of those of four tags that are equal to the wanted one; perhaps of one behind
 * such a one too. */
static inline uint64_t bshm__tags_equal(uint64_t tags, uint64_t wanted)
{
	const uint64_t x = tags ^ wanted;
	return (x - UINT64_C(0x0001000100010001)) & ~x & UINT64_C(0x8000800080008000);
}

/* The slot that the lowest bit of a match stands for. */
static inline uint32_t bshm__match_slot(uint64_t match)
{
	const uint32_t bit = (uint32_t) __builtin_ctzll(match);
	return bit / 16 + bit % 16 * 4;
}

/* Which slots of a line have a tag: bit 16 * j + i for slot 4 * i + j; *passed: how many records were
 * passed on. */
static inline uint64_t bshm__line_match(const bshm_line *line, uint32_t tag, uint32_t *passed)
{
	const uint64_t wanted = (tag & BSHM_TAG_MASK) * UINT64_C(0x0001000100010001);
	const uint64_t last = BSHM_LOAD(&line->head[2], RELAXED);
	*passed = (uint32_t) (last >> 32);
	const uint64_t a = bshm__tags_equal(BSHM_LOAD(&line->head[0], RELAXED), wanted);
	const uint64_t b = bshm__tags_equal(BSHM_LOAD(&line->head[1], RELAXED), wanted);
	const uint64_t c = bshm__tags_equal(last, wanted);
	return a >> 15 | b >> 14 | (c & 0xffffffff) >> 13;
}

/* A free slot of a line, or BSHM_LINE_SLOTS. Under the lock: nobody else changes refs. Two at a time: the
 * high bit of each half of `taken` says that the half is not 0. */
static inline uint32_t bshm__line_vacant(const bshm_line *line)
{
	const uint64_t low = UINT64_C(0x7fffffff7fffffff);
	uint64_t vacant = 0;
#pragma GCC unroll 8
	for (uint32_t i = 0; i < BSHM_LINE_SLOTS / 2; i++) {
		uint64_t pair;
		memcpy(&pair, &line->ref[2 * i], sizeof(pair));
		const uint64_t taken = ((pair & low) + low) | pair;
		vacant |= (~taken & ~low) >> i;
	}
	if (vacant == 0) {
		return BSHM_LINE_SLOTS;
	}
	const uint32_t bit = (uint32_t) __builtin_ctzll(vacant);
	const uint32_t pair = 31 - bit % 32;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return 2 * pair + bit / 32;
#else
	return 2 * pair + 1 - bit / 32;
#endif
}

static inline uint32_t bshm__line_next(uint32_t line, uint32_t lines)
{
	return line + 1 == lines ? 0 : line + 1;
}

/* The ref of a line's word that leads to a record: from where the line is, which has been checked. */
static inline uint32_t bshm__place_in(const bshm__shard *s, const bshm_line *line, uint32_t slot)
{
	const size_t offset = (size_t) ((const uint8_t *) &line->ref[slot] - s->slabs);
	return s->first_ref + (uint32_t) (offset / BSHM_SLOT_UNIT);
}

/* A word of a slot, whose ref is known to be good. */
static inline uint32_t bshm__word(const bshm__shard *s, uint32_t ref, uint32_t word)
{
	return BSHM_LOAD(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), word), RELAXED);
}

static inline void bshm__word_set(const bshm__shard *s, uint32_t ref, uint32_t word, uint32_t value)
{
	BSHM_STORE(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), word), value, RELAXED);
}

/*
 * Of a slot that is taken, and whole: from here on it is a record. Whoever is led to it by an old ref sees no
 * more of it than its state, and relies on that.
 */
static inline void bshm__slot_live(const bshm__shard *s, uint32_t ref, uint32_t state)
{
	uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	BSHM_STORE(bshm__slot_word(slot, 0), state, RELEASE); /* pairs with bshm__record_load() */
}

uint32_t bshm__line_tag(const bshm_line *line, uint32_t slot);
/* The first position that belongs to a later line. */
uint32_t bshm__line_end(uint32_t line, uint32_t lines);
/* The position of a record that lies in the line that ends there: the last with this tag. */
static inline uint32_t bshm__position_before(uint32_t end, uint32_t tag)
{
	const uint32_t position = end - 1 - ((end - 1 - tag) & BSHM_TAG_MASK);
	return position & ((1u << BSHM_POSITION_BITS) - 1); /* of the line before the first: the last */
}

/* All under the shard's lock. */

/* The place that leads to a record, as the ref of its word; 0: there is none. */
uint32_t bshm__place_of(const bshm__shard *s, const bshm__home *home, uint32_t ref);
static inline uint32_t *bshm__place_word(const bshm__shard *s, uint32_t place)
{
	return bshm__slot_word(bshm__ref_at(s, place, BSHM_SLOT_UNIT), 0);
}
/* The line that a place is in. */
static inline bshm_line *bshm__place_line(const bshm__shard *s, uint32_t place)
{
	const uint32_t words = sizeof(bshm_line) / BSHM_SLOT_UNIT;
	return (bshm_line *) (void *) bshm__ref_at(s, place & ~(words - 1), sizeof(bshm_line));
}

static inline void bshm__tag_set(bshm_line *line, uint32_t slot, uint32_t position)
{
	uint64_t *word = &line->head[slot / 4];
	const unsigned shift = slot % 4 * 16;
	const uint64_t others = BSHM_LOAD(word, RELAXED) & ~((uint64_t) BSHM_TAG_MASK << shift);
	BSHM_STORE(word, others | (uint64_t) (position & BSHM_TAG_MASK) << shift, RELAXED);
}

static inline void bshm__table_count(const bshm__shard *s, uint32_t table, int by)
{
	uint32_t *records = &s->segment->tables[table].records;
	BSHM_STORE(records, BSHM_LOAD(records, RELAXED) + (uint32_t) by, RELAXED);
}

/* Adds to `passed` of the lines from the home on to that of the place. */
void bshm__count_passed(
	const bshm__shard *s, const bshm__home *home, const bshm_line *until, int by);

/* Notes that a record's place is about to be filled (before), or has been left (after). `far`: is it in
 * another line than the key's own? */
static inline void bshm__place_enter(
	const bshm__shard *s, const bshm__home *home, uint32_t place, bool far)
{
	bshm_line *line = bshm__place_line(s, place);
	if (far) {
		bshm__count_passed(s, home, line, 1);
	}
	bshm__tag_set(line, (uint32_t) (bshm__place_word(s, place) - line->ref), home->position);
	bshm__table_count(s, home->table, 1);
}
void bshm__place_leave(const bshm__shard *s, const bshm__home *home, uint32_t place);
/* Of ten slots a line, before the table grows. */
#define BSHM_LINE_FULL 9u

static inline bool bshm__table_full(const bshm__shard *s, uint32_t table)
{
	const uint32_t lines = bshm__lines_of(s->segment, table).lines;
	return BSHM_LOAD(&s->segment->tables[table].records, RELAXED) >= lines * BSHM_LINE_FULL;
}

/* How many units a table had better have before it takes one more; 0: it may stay as it is. */
uint32_t bshm__table_growth(const bshm__shard *s, uint32_t table);
/* Gives units back if most of them are not needed, and there is room to make it anew. */
void bshm__table_tidy(const bshm__shard *s, uint32_t table);
/* Gives the table so many units, for which there is room; false: they do not hold what it has. */
bool bshm__table_resize(const bshm__shard *s, uint32_t table, uint32_t units);
void bshm__table_resize_repair(const bshm__shard *s);
/* Moves a unit of the index out of its slot. */
bool bshm__unit_move(const bshm__shard *s, uint32_t ref);
void bshm__unit_move_repair(const bshm__shard *s);

/* ------------------------------------------------------------------ record.c */

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
 * Is it still what was loaded, at a `sequence` that was read before? A large one takes long to be copied, and others
 * free thousands of slots meanwhile: it has a serial, besides its version.
 */
static inline bool bshm__record_stands(
	const bshm__shard *s, const bshm__record *record, uint64_t sequence)
{
	BSHM_FENCE(ACQUIRE); /* pairs with the fence of bshm__slot_free() */
	const bool same =
		bshm__same_state(BSHM_LOAD(bshm__slot_word(record->slot, 0), RELAXED), record->state);
	const uint64_t since = BSHM_LOAD(&s->shard->sequence, RELAXED) - sequence;
	if (BSHM_LIKELY((record->state & BSHM_SLOT_CHAINED) == 0)) {
		return same && since < BSHM_SLOT_VERSIONS;
	}
	BSHM_FENCE(ACQUIRE); /* the serial is that of the state, or of a later one: bshm__slot_live() */
	return same && since < BSHM_SEQUENCE_JUMP &&
		   BSHM_LOAD(bshm__slot_word(record->slot, 1), RELAXED) == record->shape;
}

static inline bool bshm__expired(uint32_t expires_s, uint32_t now_s)
{
	return expires_s != 0 && now_s >= expires_s;
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
/* Asks for the line of a key. */
static inline void bshm__home_prefetch(bshm_segment *segment, const bshm__home *home)
{
	const bshm__shard s = bshm__shard_at(segment, home->shard);
	const bshm__lines lines = bshm__lines_of(segment, home->table);
	if (lines.lines != 0) {
		__builtin_prefetch(bshm__line_at(&s, &lines, bshm__line_of(home->position, lines.lines)));
	}
}
/* Describes the record at a ref, as it is at `sequence`; false: there is none, or it has changed. */
bool bshm__found_of(
	const bshm__shard *s, uint32_t ref, uint64_t sequence, uint32_t now_s, bshm_found *found);

uint64_t bshm__store_clock_ns(const bshm_segment *segment);
/* Whole seconds of the engine clock, rounded to the nearest. */
uint32_t bshm__store_now_s(const bshm_segment *segment);
/* The next whole second. A record that lives for n seconds from there on, and is looked at by the nearest,
 * lives for n seconds, give or take half a one. */
uint32_t bshm__store_next_s(const bshm_segment *segment);

/* All under the shard's lock. */

/* The home of a record whose key is read from its slot; false: it is damaged. */
bool bshm__record_home(const bshm__shard *s, const bshm__record *record, bshm__home *home);
/* Takes a record out, which `place` leads to. */
void bshm__record_remove(
	const bshm__shard *s, const bshm__home *home, uint32_t place, uint32_t ref);
/* Moves a record, or a chunk of one, out of its slot; false: damaged, or no room. */
bool bshm__record_move(const bshm__shard *s, uint32_t ref);
bool bshm__chunk_move(const bshm__shard *s, uint32_t ref);
/* Frees a record's slots, or the chunks that were to be a record's. */
void bshm__chain_free(const bshm__shard *s, uint32_t ref);
/* The intent: what is going on, what the counts will be, that they are, and that it is over. */
static inline void bshm__intent_begin(
	const bshm__shard *s, uint32_t kind, uint32_t place, uint32_t old, uint32_t fresh)
{
	bshm_intent *intent = &s->shard->intent;
	BSHM_STORE(&intent->place, place, RELAXED);
	BSHM_STORE(&intent->old, old, RELAXED);
	BSHM_STORE(&intent->fresh, fresh, RELAXED);
	BSHM_STORE(&intent->kind, kind, RELEASE);
}

static inline void bshm__intent_plan(const bshm__shard *s, uint64_t records, uint64_t data_bytes)
{
	bshm_intent *intent = &s->shard->intent;
	BSHM_STORE(&intent->records_after, records, RELAXED);
	BSHM_STORE(&intent->data_after, data_bytes, RELEASE);
}

static inline void bshm__intent_carry_out(const bshm__shard *s)
{
	const bshm_intent *intent = &s->shard->intent;
	BSHM_STORE(&s->shard->records, (uint32_t) BSHM_LOAD(&intent->records_after, RELAXED), RELAXED);
	BSHM_STORE(&s->shard->data_bytes, BSHM_LOAD(&intent->data_after, RELAXED), RELAXED);
}

static inline void bshm__intent_end(const bshm__shard *s)
{
	BSHM_STORE(&s->shard->intent.kind, BSHM_INTENT_NONE, RELEASE);
}

/* Finishes or undoes what the dead holder of the lock was doing. */
void bshm__intent_repair(const bshm__shard *s);

/* ------------------------------------------------------------------ quota.c */

/* Under the shard's lock: one more of the limit of records, if there is one to be had; one less. */
bool bshm__quota_take(const bshm__shard *s);
void bshm__quota_give(const bshm__shard *s);
/* Before the lock is given back: the shard has some to spare. */
void bshm__quota_announce(const bshm__shard *s);
/* Without a lock: sets right what a death has left, once it matters; all shards are stopped for a
 * moment. */
void bshm__quota_recount(bshm_segment *segment);
static inline void bshm__quota_settle(bshm_segment *segment)
{
	if (BSHM_UNLIKELY(BSHM_LOAD(&segment->store->recount, RELAXED) != 0)) {
		bshm__quota_recount(segment);
	}
}

/* ------------------------------------------------------------------ put.c */

/* What a new record will be. */
typedef struct {
	uint32_t space;
	bshm_key key;
	bshm_value value;
	uint32_t expires_s;
	bool used_again;
	uint32_t first; /* bytes in the first slot */
	uint32_t chunks;
	bool half;           /* the last of them is half a one */
	uint32_t size_class; /* of the first slot */
	uint32_t slot;       /* a free one of that class, which is filled; 0 = none is yet */
} bshm__recipe;

/* A record that stands, as a change meets it, or where it could be put. */
typedef struct {
	uint32_t place; /* 0: there is none */
	uint32_t ref;
	uint32_t vacant; /* the place of a new one; 0: the table has to grow */
	bool far;        /* it is not in the key's own line */
	bool expired;
	uint64_t sequence;
	bshm__record record;
} bshm__standing;

/* All under the shard's lock. */

void bshm__locate(const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key,
	bshm__standing *at);
/* Optional, before bshm__locate(): fills a free slot with the record, if it needs only one, while what
 * locate looks at comes from memory. */
void bshm__put_prepare(const bshm__shard *s, bshm__recipe *r);
/* Stores the recipe's record; `at` is what stands, looked at under the same lock, and changes. False:
 * no room. */
bool bshm__put_record(
	const bshm__shard *s, const bshm__home *home, bshm__recipe *r, bshm__standing *at);

/* ------------------------------------------------------------------ change.c */

/* Under the lock: what bshm_record_put() and _remove() do. */
int bshm__record_put_locked(const bshm__shard *s, const bshm__home *home, const bshm_put *put);
/*
 * Under the lock, before anything of it is looked at: makes room for the put, if it is a large one, letting
 * others in now and then. Of the value, only the length is looked at. Unless it is to be set, what
 * stands is not what goes for it. Not OK: the lock is lost.
 */
bshm_status bshm__prepare_large(const bshm__shard *s, const bshm__home *home, const bshm_put *put,
	bshm_patience *patience, bshm_error *error);
int bshm__record_remove_locked(
	const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key);

/* ------------------------------------------------------------------ lease.c */

/* Under the lock: what is being loaded for keys of this hash, or for any, is not stored. */
void bshm__leases_end(const bshm__shard *s, uint64_t hash);
void bshm__leases_end_all(const bshm__shard *s);

/* ------------------------------------------------------------------ evict.c */

/* The stamp of a record that is used now. */
static inline uint32_t bshm__stamp_now(const bshm__shard *s)
{
	return (uint32_t) BSHM_LOAD(&s->shard->clock, RELAXED) & BSHM_SLOT_STAMP;
}

/* Notes that a record was used, once an epoch; `state` is what its slot said. Takes no lock. */
void bshm__touch_set(const bshm__shard *s, uint8_t *slot, uint32_t state);
static inline void bshm__touch(const bshm__shard *s, uint8_t *slot, uint32_t state)
{
	if (BSHM_UNLIKELY((state & BSHM_SLOT_STAMP) != bshm__stamp_now(s))) {
		const bshm__shard copy = *s; /* the caller's can stay in registers */
		bshm__touch_set(&copy, slot, state);
	}
}

/* Counts a stamp that was set; `before` is the record's last state, or 0 of a new one. */
void bshm__touch_count(const bshm__shard *s, uint32_t before);
/* How long ago, in epochs, a record of this state was used. */
static inline uint32_t bshm__stamp_age(uint64_t clock, uint32_t state)
{
	return ((uint32_t) clock - state) & BSHM_SLOT_STAMP;
}

/* Under the lock: takes out the record that is worth least, preferring expired ones. False: there is
 * none. */
bool bshm__evict(const bshm__shard *s);
/* Under the lock: moves, and evicts, until there are `count` free slots in the class; false: there are not.
 * In the classes whose bits are set in `keep` a slot stays free. */
bool bshm__make_room(const bshm__shard *s, uint32_t size_class, uint64_t count, uint64_t keep);
/* A part of that; false: there are not yet so many. */
bool bshm__make_room_step(const bshm__shard *s, uint32_t size_class, uint64_t count);
/* Under the lock: a small part of the renumbering of old stamps, when it is due. */
#define BSHM_AGE_RENUMBER 0x8000u
void bshm__aging_go_on(const bshm__shard *s);
static inline void bshm__aging_step(const bshm__shard *s)
{
	const uint64_t clock = BSHM_LOAD(&s->shard->clock, RELAXED); /* its halves: now, base */
	if (BSHM_UNLIKELY(BSHM_LOAD(&s->shard->aging, RELAXED) != 0 ||
					  ((clock - (clock >> 48)) & BSHM_SLOT_STAMP) > BSHM_AGE_RENUMBER)) {
		bshm__aging_go_on(s);
	}
}
/* The least recently used record, as its ref; 0 = there is none. Takes no lock. */
uint32_t bshm__oldest(const bshm__shard *s, uint32_t *age);

#endif
