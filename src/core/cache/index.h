/*
 * index.h - from a key to its record: tables, lines, tags and refs.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_INDEX_H
#define BSHM_CACHE_INDEX_H

#include "core/cache/slab.h"

/* How many lines a record may lie behind its own: as far as a tag tells its position for certain in the
 * smallest table. */
#define BSHM_PASSED_MAX 15u
#define BSHM_TAG_MASK   0xffffu

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
	/* Pairs with bshm__unit_move(). */
	const uint32_t ref = BSHM_LOAD(bshm__unit(lines->units, line / BSHM_UNIT_LINES), ACQUIRE);
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

/* Asks for the line of a key. */
static inline void bshm__home_prefetch(bshm_segment *segment, const bshm__home *home)
{
	const bshm__shard s = bshm__shard_at(segment, home->shard);
	const bshm__lines lines = bshm__lines_of(segment, home->table);
	if (lines.lines != 0) {
		__builtin_prefetch(bshm__line_at(&s, &lines, bshm__line_of(home->position, lines.lines)));
	}
}

#endif
