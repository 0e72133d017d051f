/*
 * table.c - a table gets more buckets, or fewer; a unit of 64 buckets is moved.
 *
 * A resize fills new units beside the old ones and puts them in force with one store of the table's
 * shape. Readers of the old units see that the sequence has jumped, and search anew. A table can be
 * nine tenths full.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/table.h"

#include "core/cache/intent.h"

#define SPARSE       4u  /* cells of ten in use, on average, below which a table shrinks */
#define COMFORT      7u  /* cells of ten in use after it has shrunk */
#define SMALL_RECORD 64u /* bytes of the store for each record of the limit */

/* The first units of a table: one. Where the limit of records can only be met by small records, the
 * table will grow to its full size anyway: then it gets all units at once. */
static uint32_t first_units(const bshm_segment *segment)
{
	const uint64_t most = segment->cache_records;
	if (most == 0 || segment->cache_bytes / most > SMALL_RECORD) {
		return 1;
	}
	const uint64_t records = most / ((uint64_t) segment->shard_count * segment->shard_tables);
	/* Planned for 88 % full: hashes do not spread evenly over the tables. */
	const uint64_t units = records * 100 / (BSHM_UNIT_BUCKETS * BSHM_BUCKET_CELLS * 88) + 1;
	return units < BSHM_TABLE_UNITS ? (uint32_t) units : BSHM_TABLE_UNITS;
}

uint32_t bshm__table_growth(const bshm__shard *s, uint32_t table)
{
	if (!bshm__table_full(s, table)) {
		return 0;
	}
	const uint32_t units = bshm__buckets_of(s->segment, table).count / BSHM_UNIT_BUCKETS;
	const uint32_t wanted =
		units == 0 ? first_units(s->segment) : units + (units < 8 ? 1 : units / 8);
	return wanted < BSHM_TABLE_UNITS ? wanted : units < BSHM_TABLE_UNITS ? BSHM_TABLE_UNITS : 0;
}

/* New buckets, which no reader knows yet, and how many of their cells are in use. */
typedef struct {
	bshm__buckets buckets;
	uint8_t used[BSHM_TABLE_UNITS * BSHM_UNIT_BUCKETS];
} fresh_buckets;

/* False: too many buckets in a row are full. */
static bool put_ref(const bshm__shard *s, fresh_buckets *to, uint32_t position, uint32_t ref)
{
	bshm__bucket_walk w;
	bshm_bucket *bucket = bshm__bucket_first(s, &w, to->buckets, position, BSHM_OVERFLOW_MAX + 1);
	for (; bucket != NULL; bucket = bshm__bucket_next(s, &w)) {
		if (to->used[w.number] < BSHM_BUCKET_CELLS) {
			const uint32_t cell = to->used[w.number]++;
			uint64_t *tags = &bucket->tags[cell / 4]; /* of a new bucket: 0 so far */
			const uint64_t tag = position & BSHM_TAG_MASK;
			BSHM_STORE(tags, BSHM_LOAD(tags, RELAXED) | tag << (cell % 4 * 16), RELAXED);
			BSHM_STORE(&bucket->ref[cell], ref, RELAXED);
			return true;
		}
		bshm__overflow_add(bucket, 1);
	}
	return false;
}

/* Copies all refs into the new buckets; *records is their number. */
static bool copy_refs(const bshm__shard *s, const bshm__buckets *from, const bshm__buckets *buckets,
	uint32_t *records)
{
	fresh_buckets to = {.buckets = *buckets};
	*records = 0;
	for (uint32_t i = 0; i < from->count; i++) {
		const bshm_bucket *bucket = bshm__bucket_at(s, from, i);
		const uint32_t end = bshm__bucket_end(i, from->count);
		for (uint32_t k = 0; bucket != NULL && k < BSHM_BUCKET_CELLS; k++) {
			const uint32_t ref = BSHM_LOAD(&bucket->ref[k], RELAXED);
			if (ref != 0) {
				const uint32_t position = bshm__position_before(end, bshm__bucket_tag(bucket, k));
				if (!put_ref(s, &to, position, ref)) {
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

/* Takes `count` units into the list that is not in force. False: no room. */
static bool take_units(const bshm__shard *s, uint32_t *list, uint32_t count)
{
	uint32_t *step = &s->shard->intent.step;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t ref = bshm__slot_find(s, BSHM_CLASS_INDEX, 0);
		if (ref == 0) {
			return false;
		}
		BSHM_STORE(bshm__unit(list, i), ref, RELAXED);
		/* Named before it is taken: pairs with bshm__table_resize_repair(). */
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
	const bshm__buckets from = bshm__buckets_of(s->segment, table);
	uint32_t *list = &t->units[~shape & 1];
	const bshm__buckets to = {list, units * BSHM_UNIT_BUCKETS};
	const uint32_t fresh = units << 1 | (~shape & 1);
	BSHM_STORE(&intent->table, table, RELAXED);
	BSHM_STORE(&intent->count, from.count / BSHM_UNIT_BUCKETS, RELAXED);
	BSHM_STORE(&intent->step, 0, RELAXED);
	bshm__intent_begin(s, BSHM_INTENT_RESIZE, 0, 0, fresh);
	uint32_t records = 0;
	const bool done = take_units(s, list, units) && copy_refs(s, &from, &to, &records);
	if (done) {
		BSHM_STORE(&t->records, records, RELAXED);
		BSHM_STORE(&t->shape, fresh, RELEASE); /* in force; pairs with bshm__buckets_of() */
		bshm__sequence_jump(s);
		free_units(s, from.units, from.count / BSHM_UNIT_BUCKETS);
	} else {
		free_units(s, list, BSHM_LOAD(&intent->step, RELAXED));
	}
	bshm__intent_end(s);
	return done;
}

void bshm__table_shrink(const bshm__shard *s, uint32_t table)
{
	const uint32_t records = BSHM_LOAD(&s->segment->tables[table].records, RELAXED);
	const uint32_t units = bshm__buckets_of(s->segment, table).count / BSHM_UNIT_BUCKETS;
	const uint32_t wanted = records / (BSHM_UNIT_BUCKETS * COMFORT) + 1;
	if (wanted < units && records < units * BSHM_UNIT_BUCKETS * SPARSE &&
		bshm__slots_free(s, BSHM_CLASS_INDEX) >= wanted) {
		bshm__table_resize(s, table, wanted);
	}
}

/* The table that the intent names; NULL: it is damaged, and names none of this shard. */
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

/* The word of a unit in its table's list; NULL: no list in force has it. */
static uint32_t *find_unit(const bshm__shard *s, uint32_t ref, uint32_t *table)
{
	const uint32_t first = s->index * s->segment->shard_tables;
	for (*table = first; *table < first + s->segment->shard_tables; ++*table) {
		bshm_table *t = &s->segment->tables[*table];
		uint32_t *units = &t->units[BSHM_LOAD(&t->shape, RELAXED) & 1];
		const uint32_t count = bshm__buckets_of(s->segment, *table).count / BSHM_UNIT_BUCKETS;
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
	uint32_t table;
	uint32_t *unit = find_unit(s, ref, &table);
	if (unit == NULL) {
		return false; /* damaged */
	}
	const uint32_t fresh = bshm__slot_find(s, BSHM_CLASS_INDEX, bshm__page_number(s, ref));
	const uint64_t *from = (const uint64_t *) (const void *) bshm__ref_at(s, ref, BSHM_UNIT_BYTES);
	uint64_t *to = (uint64_t *) (void *) bshm__ref_at(s, fresh, BSHM_UNIT_BYTES);
	if (fresh == 0 || from == NULL || to == NULL) {
		return false;
	}
	BSHM_STORE(&s->shard->intent.table, table, RELAXED);
	bshm__intent_begin(s, BSHM_INTENT_MOVE_UNIT, 0, ref, fresh);
	bshm__slot_take(s, fresh);
	for (uint32_t i = 0; i < BSHM_UNIT_BYTES / 8; i++) {
		BSHM_STORE(&to[i], BSHM_LOAD(&from[i], RELAXED), RELAXED);
	}
	BSHM_STORE(unit, fresh, RELEASE); /* pairs with bshm__bucket_at() */
	bshm__sequence_jump(s);           /* a search of the old unit begins anew */
	bshm__slot_vacate(s, ref);
	bshm__intent_end(s);
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
