/*
 * index.c - from a key to its record: lines of ten tags and refs.
 *
 * The hash of a key names a shard, a table in it, and a position. A table has lines, strung together
 * from units of 64; the line of a position is position * lines >> 18, so the lines are in the order
 * of the positions whatever their number is. A line that is full passes a record on to the next, and
 * counts it: a search goes on only where records were passed on.
 *
 * A slot's tag is the low 16 bits of the position. The line tells the rest: so a table is given more
 * lines, or fewer, in one pass over the old ones, a few at a time, without looking at a record. It is
 * made anew beside the old one and put in force with one store. It can be nine tenths full.
 *
 * A record stays in its place as long as it lives, so a search that takes no lock cannot miss it; a
 * search that began in lines that have been given up since finds that the shard's sequence has
 * jumped, and begins anew.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/index.h"

#include "core/cache/intent.h"

#define PER_LINE     BSHM_LINE_SLOTS
#define SPARSE       4u  /* of ten slots a line, before the table shrinks */
#define COMFORT      7u  /* of ten, after it has shrunk */
#define SMALL_RECORD 64u /* bytes of the store for each record of the limit */

#define POSITIONS (1u << BSHM_POSITION_BITS)
#define TAG_MASK  BSHM_TAG_MASK

uint32_t bshm__line_tag(const bshm_line *line, uint32_t slot)
{
	return (uint32_t) (BSHM_LOAD(&line->head[slot / 4], RELAXED) >> (slot % 4 * 16)) & TAG_MASK;
}

static void add_passed(bshm_line *line, int by)
{
	uint64_t *word = &line->head[2];
	const uint64_t change = (uint64_t) (int64_t) by << 32;
	BSHM_STORE(word, BSHM_LOAD(word, RELAXED) + change, RELAXED);
}

uint32_t bshm__line_end(uint32_t line, uint32_t lines)
{
	return (uint32_t) ((((uint64_t) line + 1) * POSITIONS + lines - 1) / lines);
}

/* ------------------------------------------------------------------ places */

uint32_t bshm__place_of(const bshm__shard *s, const bshm__home *home, uint32_t ref)
{
	const bshm__lines lines = bshm__lines_of(s->segment, home->table);
	uint32_t at = bshm__line_of(home->position, lines.lines);
	uint32_t passed = lines.lines != 0 && ref != 0;
	for (uint32_t i = 0; passed != 0 && i <= BSHM_PASSED_MAX; i++) {
		const bshm_line *line = bshm__line_at(s, &lines, at);
		uint64_t match = line == NULL ? 0 : bshm__line_match(line, home->position, &passed);
		for (; match != 0; match &= match - 1) {
			const uint32_t slot = bshm__match_slot(match);
			if (BSHM_LOAD(&line->ref[slot], RELAXED) == ref) {
				return bshm__place_in(s, line, slot);
			}
		}
		if (line == NULL) {
			break;
		}
		at = bshm__line_next(at, lines.lines);
	}
	return 0;
}

void bshm__count_passed(
	const bshm__shard *s, const bshm__home *home, const bshm_line *until, int by)
{
	const bshm__lines lines = bshm__lines_of(s->segment, home->table);
	uint32_t at = bshm__line_of(home->position, lines.lines);
	for (uint32_t i = 0; i <= BSHM_PASSED_MAX; i++, at = bshm__line_next(at, lines.lines)) {
		bshm_line *line = bshm__line_at(s, &lines, at);
		if (line == NULL || line == until) {
			return;
		}
		add_passed(line, by);
	}
}

void bshm__place_leave(const bshm__shard *s, const bshm__home *home, uint32_t place)
{
	bshm__count_passed(s, home, bshm__place_line(s, place), -1);
	bshm__table_count(s, home->table, -1);
}

/* ------------------------------------------------------------------ more lines, and fewer */

/*
 * A table's first units: one; or all that it will need, if as many records are allowed as fit only if
 * they are small.
 */
static uint32_t first_units(const bshm_segment *segment)
{
	const uint64_t most = segment->cache_records;
	if (most == 0 || segment->cache_bytes / most > SMALL_RECORD) {
		return 1;
	}
	const uint64_t records = most / ((uint64_t) segment->shard_count * segment->shard_tables);
	/* A little less than full: they are not spread quite evenly. */
	const uint64_t units = records * 100 / (BSHM_UNIT_LINES * PER_LINE * 88) + 1;
	return units < BSHM_TABLE_UNITS ? (uint32_t) units : BSHM_TABLE_UNITS;
}

uint32_t bshm__table_growth(const bshm__shard *s, uint32_t table)
{
	if (!bshm__table_full(s, table)) {
		return 0;
	}
	const uint32_t units = bshm__lines_of(s->segment, table).lines / BSHM_UNIT_LINES;
	const uint32_t wanted =
		units == 0 ? first_units(s->segment) : units + (units < 8 ? 1 : units / 8);
	return wanted < BSHM_TABLE_UNITS ? wanted : units < BSHM_TABLE_UNITS ? BSHM_TABLE_UNITS : 0;
}

/* Lines that nobody else reads yet, and how many of their slots are taken. */
typedef struct {
	const bshm__lines *lines;
	uint8_t used[BSHM_TABLE_UNITS * BSHM_UNIT_LINES];
} fresh_lines;

/* Puts a ref into them; false: they are too full. */
static bool put_line(const bshm__shard *s, fresh_lines *to, uint32_t position, uint32_t ref)
{
	uint32_t at = bshm__line_of(position, to->lines->lines);
	for (uint32_t i = 0; i <= BSHM_PASSED_MAX; i++) {
		bshm_line *line = bshm__line_at(s, to->lines, at);
		if (line == NULL) {
			return false;
		}
		if (to->used[at] < PER_LINE) {
			const uint32_t slot = to->used[at]++;
			bshm__tag_set(line, slot, position);
			BSHM_STORE(&line->ref[slot], ref, RELAXED);
			return true;
		}
		add_passed(line, 1);
		at = bshm__line_next(at, to->lines->lines);
	}
	return false;
}

/* Copies all refs; *records is their number. */
static bool copy_lines(
	const bshm__shard *s, const bshm__lines *from, const bshm__lines *lines, uint32_t *records)
{
	fresh_lines to = {.lines = lines};
	*records = 0;
	for (uint32_t i = 0; i < from->lines; i++) {
		const bshm_line *line = bshm__line_at(s, from, i);
		const uint32_t end = bshm__line_end(i, from->lines);
		for (uint32_t k = 0; line != NULL && k < PER_LINE; k++) {
			const uint32_t ref = BSHM_LOAD(&line->ref[k], RELAXED);
			if (ref != 0) {
				const uint32_t position = bshm__position_before(end, bshm__line_tag(line, k));
				if (!put_line(s, &to, position, ref)) {
					return false;
				}
				++*records;
			}
		}
	}
	return true;
}

static void zero_unit(const bshm__shard *s, uint32_t ref)
{
	uint64_t *words = (uint64_t *) (void *) bshm__ref_at(s, ref, BSHM_UNIT_BYTES);
	for (uint32_t i = 0; i < BSHM_UNIT_BYTES / 8; i++) {
		BSHM_STORE(&words[i], 0, RELAXED);
	}
}

/* Takes `count` units into the list that is not in force; false: there is no room. */
static bool take_units(const bshm__shard *s, uint32_t *list, uint32_t count)
{
	uint32_t *step = &s->shard->intent.step;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t ref = bshm__slot_find(s, BSHM_CLASS_INDEX, 0);
		if (ref == 0) {
			return false;
		}
		BSHM_STORE(bshm__unit(list, i), ref, RELAXED);
		/* Before it is taken: pairs with bshm__table_resize_repair(). */
		BSHM_STORE(step, i + 1, RELEASE);
		bshm__slot_take(s, ref);
		zero_unit(s, ref);
	}
	return true;
}

static void free_units(const bshm__shard *s, uint32_t *list, uint32_t count)
{
	for (uint32_t i = 0; i < count && i < BSHM_TABLE_UNITS; i++) {
		bshm__slot_free(s, BSHM_LOAD(bshm__unit(list, i), RELAXED));
	}
}

bool bshm__table_resize(const bshm__shard *s, uint32_t table, uint32_t units)
{
	bshm_table *t = &s->segment->tables[table];
	bshm_intent *intent = &s->shard->intent;
	const uint64_t shape = BSHM_LOAD(&t->shape, RELAXED);
	const bshm__lines from = bshm__lines_of(s->segment, table);
	uint32_t *list = &t->units[~shape & 1];
	const bshm__lines to = {list, units * BSHM_UNIT_LINES};
	const uint32_t fresh = units << 1 | (~shape & 1);
	BSHM_STORE(&intent->table, table, RELAXED);
	BSHM_STORE(&intent->fresh, fresh, RELAXED);
	BSHM_STORE(&intent->count, from.lines / BSHM_UNIT_LINES, RELAXED);
	BSHM_STORE(&intent->step, 0, RELAXED);
	BSHM_STORE(&intent->kind, BSHM_INTENT_RESIZE, RELEASE); /* pairs with bshm__intent_repair() */
	uint32_t records = 0;
	const bool done = take_units(s, list, units) && copy_lines(s, &from, &to, &records);
	if (done) {
		BSHM_STORE(&t->records, records, RELAXED);
		BSHM_STORE(&t->shape, fresh, RELEASE); /* in force; pairs with bshm__lines_of() */
		bshm__sequence_jump(s);
		free_units(s, from.units, from.lines / BSHM_UNIT_LINES);
	} else {
		free_units(s, list, BSHM_LOAD(&intent->step, RELAXED));
	}
	BSHM_STORE(&intent->kind, BSHM_INTENT_NONE, RELEASE); /* pairs with bshm__intent_repair() */
	return done;
}

void bshm__table_tidy(const bshm__shard *s, uint32_t table)
{
	const uint32_t records = BSHM_LOAD(&s->segment->tables[table].records, RELAXED);
	const uint32_t units = bshm__lines_of(s->segment, table).lines / BSHM_UNIT_LINES;
	const uint32_t wanted = records / (BSHM_UNIT_LINES * COMFORT) + 1;
	if (wanted < units && records < units * BSHM_UNIT_LINES * SPARSE &&
		bshm__slots_free(s, BSHM_CLASS_INDEX) >= wanted) {
		bshm__table_resize(s, table, wanted);
	}
}

/* The units of the table that the intent names; NULL: it names none of this shard. */
static bshm_table *intent_table(const bshm__shard *s)
{
	const uint32_t table = BSHM_LOAD(&s->shard->intent.table, RELAXED);
	const uint32_t first = s->index * s->segment->shard_tables;
	return table - first < s->segment->shard_tables ? &s->segment->tables[table] : NULL;
}

void bshm__table_resize_repair(const bshm__shard *s)
{
	const bshm_intent *intent = &s->shard->intent;
	bshm_table *t = intent_table(s);
	if (t == NULL) {
		return;
	}
	const uint64_t shape = BSHM_LOAD(&t->shape, RELAXED);
	const bool in_force = shape == BSHM_LOAD(&intent->fresh, RELAXED);
	bshm__sequence_jump(s);
	free_units(
		s, &t->units[~shape & 1], BSHM_LOAD(in_force ? &intent->count : &intent->step, RELAXED));
}

/* The place in its table's list of a unit; NULL: it is in none that is in force. */
static uint32_t *find_unit(const bshm__shard *s, uint32_t ref, uint32_t *table)
{
	const uint32_t first = s->index * s->segment->shard_tables;
	for (*table = first; *table < first + s->segment->shard_tables; ++*table) {
		bshm_table *t = &s->segment->tables[*table];
		uint32_t *units = &t->units[BSHM_LOAD(&t->shape, RELAXED) & 1];
		const uint32_t count = bshm__lines_of(s->segment, *table).lines / BSHM_UNIT_LINES;
		for (uint32_t i = 0; i < count; i++) {
			if (BSHM_LOAD(bshm__unit(units, i), RELAXED) == ref) {
				return bshm__unit(units, i);
			}
		}
	}
	return NULL;
}

bool bshm__unit_move(const bshm__shard *s, uint32_t ref)
{
	bshm_intent *intent = &s->shard->intent;
	uint32_t table;
	uint32_t *unit = find_unit(s, ref, &table);
	if (unit == NULL) {
		return false; /* damaged; and no page is taken for it */
	}
	const uint32_t fresh = bshm__slot_find(s, BSHM_CLASS_INDEX, bshm__page_number(s, ref));
	const uint64_t *from = (const uint64_t *) (const void *) bshm__ref_at(s, ref, BSHM_UNIT_BYTES);
	uint64_t *to = (uint64_t *) (void *) bshm__ref_at(s, fresh, BSHM_UNIT_BYTES);
	if (fresh == 0 || from == NULL || to == NULL) {
		return false;
	}
	BSHM_STORE(&intent->table, table, RELAXED);
	BSHM_STORE(&intent->old, ref, RELAXED);
	BSHM_STORE(&intent->fresh, fresh, RELAXED);
	/* Pairs with bshm__intent_repair(). */
	BSHM_STORE(&intent->kind, BSHM_INTENT_MOVE_UNIT, RELEASE);
	bshm__slot_take(s, fresh);
	for (uint32_t i = 0; i < BSHM_UNIT_BYTES / 8; i++) {
		BSHM_STORE(&to[i], BSHM_LOAD(&from[i], RELAXED), RELAXED);
	}
	BSHM_STORE(unit, fresh, RELEASE); /* pairs with bshm__line_at() */
	bshm__sequence_jump(s);           /* who still searches the old unit starts anew */
	bshm__slot_vacate(s, ref);
	BSHM_STORE(&intent->kind, BSHM_INTENT_NONE, RELEASE); /* pairs with bshm__intent_repair() */
	return true;
}

void bshm__unit_move_repair(const bshm__shard *s)
{
	const bshm_intent *intent = &s->shard->intent;
	const uint32_t fresh = BSHM_LOAD(&intent->fresh, RELAXED);
	uint32_t table;
	bshm__sequence_jump(s);
	bshm__slot_free(
		s, find_unit(s, fresh, &table) != NULL ? BSHM_LOAD(&intent->old, RELAXED) : fresh);
}
