/*
 * table.c - gives a table more buckets or fewer; moves a unit of buckets.
 *
 * A resize fills new units beside the old ones and puts them in force with one store of the table's
 * root. Readers of the old units see that the sequence has jumped, and search anew.
 *
 * A table grows when nine tenths of its cells are in use, a table of less than a unit at seven
 * tenths, a tiny one at eight: to the next size, so that the index follows the records. That copies
 * each ref many times. So where many small records are to be expected, a table of some hundred
 * records gets at once all buckets that it will need. A table shrinks when less than four tenths of
 * its cells are in use, until about six tenths are: it has to gain a sixth of its records, or more,
 * before it grows again.
 *
 * Tags and buckets say where a record belongs in any other table. From a tiny one, of 40 records at
 * most, the keys are read and hashed anew.
 *
 * The first unit of the list in force is named by the root alone, so a move of it is one store too.
 * A resize notes it in the list that it replaces: a repair finds all units there that are to be
 * freed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/table.h"

#include "core/cache/intent.h"
#include "core/cache/record.h"

#define COMFORT      6u  /* cells of ten in use after it has shrunk */
#define SHRUNK_MIN   16u /* buckets of a table that is not tiny: fewer often do not do, by chance */
#define SMALL_RECORD 64u /* bytes of the store for each record of the limit */
#define JUMP_FROM    32u /* buckets: a table that fills them has 224 records */

/*
 * Where the limit of records can only be met by small records: how many buckets a table will have
 * when it is met, or when the store is full of records that are as large as the shard's are now. 0
 * elsewhere. Planned for 88 % full: hashes do not spread evenly over the tables.
 */
static uint32_t planned_buckets(const bshm__shard *s)
{
	const uint64_t limit = s->segment->cache_records;
	const uint64_t bytes = s->segment->cache_bytes;
	const uint64_t now = BSHM_LOAD(&s->shard->records, RELAXED);
	if (limit == 0 || bytes / limit > SMALL_RECORD || now == 0) {
		return 0;
	}
	const uint64_t mean = BSHM_LOAD(&s->shard->data_bytes, RELAXED) / now;
	const uint64_t fit = mean < bytes ? bytes / (mean + BSHM_RECORD_EXTRA) : 0;
	const uint64_t records = (limit < fit ? limit : fit) / s->segment->table_count;
	const uint64_t units = records * 100 / (BSHM_UNIT_BUCKETS * BSHM_BUCKET_CELLS * 88) + 1;
	return (units < BSHM_TABLE_UNITS ? (uint32_t) units : BSHM_TABLE_UNITS) * BSHM_UNIT_BUCKETS;
}

uint32_t bshm__buckets_next(uint32_t buckets)
{
	return buckets == 0                  ? 1
		   : buckets < BSHM_UNIT_BUCKETS ? 2 * buckets
										 : buckets + BSHM_UNIT_BUCKETS;
}

uint32_t bshm__table_growth(const bshm__shard *s, uint32_t table)
{
	if (!bshm__table_full(s, table)) {
		return 0;
	}
	const uint32_t now = bshm__buckets_of(s->segment, table).count;
	const uint32_t planned = now < JUMP_FROM ? 0 : planned_buckets(s);
	const uint32_t eighth = now / 8 & ~(BSHM_UNIT_BUCKETS - 1);
	const uint32_t wanted = planned > now ? planned
							: eighth == 0 ? bshm__buckets_next(now)
										  : now + eighth;
	return wanted < BSHM_BUCKETS_MAX ? wanted : now < BSHM_BUCKETS_MAX ? BSHM_BUCKETS_MAX : 0;
}

/* New buckets, which no reader knows yet, and how many of their cells are in use. */
typedef struct {
	bshm__buckets buckets;
	uint8_t used[BSHM_BUCKETS_MAX];
} fresh_buckets;

/* False: too many buckets in a row are full. */
static bool put_ref(const bshm__shard *s, fresh_buckets *to, uint32_t position, uint32_t ref)
{
	bshm__bucket_walk w;
	bshm_bucket *bucket =
		bshm__bucket_first(s, &w, to->buckets, position, bshm__reach(to->buckets.count));
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

/* The position of a record in a bucket of a table that ends at `end`. */
static uint32_t position_of(
	const bshm__shard *s, uint32_t buckets, uint32_t end, uint32_t tag, uint32_t ref)
{
	bshm__record record;
	bshm__home home;
	if (bshm__is_tiny(buckets) && bshm__record_load(s, ref, &record) &&
		bshm__record_home(s, &record, &home)) {
		return home.position;
	}
	return bshm__position_before(end, tag); /* of a tiny table: the record is damaged */
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
				const uint32_t tag = bshm__bucket_tag(bucket, k);
				if (!put_ref(s, &to, position_of(s, from->count, end, tag, ref), ref)) {
					return false;
				}
				++*records;
			}
		}
	}
	return true;
}

static void zero_unit(const bshm__shard *s, uint32_t ref, uint32_t bytes)
{
	uint64_t *words = (uint64_t *) (void *) bshm__ref_at(s, ref, bytes);
	for (uint32_t i = 0; i < bytes / 8; i++) {
		BSHM_STORE(&words[i], 0, RELAXED);
	}
}

/* Takes the units of to->count buckets into the list that is not in force. False: no room. */
static bool take_units(const bshm__shard *s, bshm__buckets *to)
{
	uint32_t *step = &s->shard->intent.step;
	const uint32_t size_class = bshm__unit_class(to->count);
	for (uint32_t i = 0; i < bshm__units_for(to->count); i++) {
		const uint32_t ref = bshm__slot_find(s, size_class, 0);
		if (ref == 0) {
			return false;
		}
		BSHM_STORE(&to->units[i], ref, RELAXED);
		/* Named before it is taken: pairs with bshm__table_resize_repair(). */
		BSHM_STORE(step, i + 1, RELEASE);
		bshm__slot_take(s, ref);
		zero_unit(s, ref, bshm__class_bytes(size_class));
	}
	to->first = BSHM_LOAD(&to->units[0], RELAXED);
	return true;
}

static void free_units(const bshm__shard *s, const uint32_t *list, uint32_t count)
{
	for (uint32_t i = 0; i < count && i < BSHM_TABLE_UNITS; i++) {
		bshm__slot_free(s, BSHM_LOAD(&list[i], RELAXED));
	}
}

bool bshm__table_resize(const bshm__shard *s, uint32_t table, uint32_t buckets)
{
	bshm_table *t = &s->segment->tables[table];
	bshm_intent *intent = &s->shard->intent;
	const uint32_t other = ~(uint32_t) BSHM_LOAD(&s->segment->roots[table], RELAXED) & 1;
	const bshm__buckets from = bshm__buckets_of(s->segment, table);
	bshm__buckets to = {t->units[other], 0, buckets};
	const uint32_t fresh = buckets << 1 | other;
	BSHM_STORE(&from.units[0], from.first, RELAXED);
	BSHM_STORE(&intent->table, table, RELAXED);
	BSHM_STORE(&intent->count, bshm__units_for(from.count), RELAXED);
	BSHM_STORE(&intent->step, 0, RELAXED);
	bshm__intent_begin(s, BSHM_INTENT_RESIZE, 0, 0, fresh);
	uint32_t records = 0;
	const bool done = take_units(s, &to) && copy_refs(s, &from, &to, &records);
	if (done) {
		BSHM_STORE(&t->records, records, RELAXED);
		/* In force; pairs with bshm__buckets_of(). */
		BSHM_STORE(
			&s->segment->roots[table], (uint64_t) to.first << BSHM_ROOT_UNIT | fresh, RELEASE);
		bshm__sequence_jump(s);
		free_units(s, from.units, bshm__units_for(from.count));
	} else {
		free_units(s, to.units, BSHM_LOAD(&intent->step, RELAXED));
	}
	bshm__intent_end(s);
	return done;
}

uint32_t bshm__table_shrunk(uint32_t records)
{
	uint32_t buckets = 1;
	while (records >= buckets * COMFORT || (!bshm__is_tiny(buckets) && buckets < SHRUNK_MIN)) {
		buckets = bshm__buckets_next(buckets);
	}
	return buckets;
}

bool bshm__table_shrink(const bshm__shard *s, uint32_t table)
{
	const uint32_t records = BSHM_LOAD(&s->segment->tables[table].records, RELAXED);
	const uint32_t now = bshm__buckets_of(s->segment, table).count;
	if (records >= now * BSHM_BUCKET_SPARSE || now <= 1) {
		return false;
	}
	const uint32_t wanted = bshm__table_shrunk(records);
	return wanted < now &&
		   bshm__slots_free(s, bshm__unit_class(wanted)) >= bshm__units_for(wanted) &&
		   bshm__table_resize(s, table, wanted);
}

void bshm__table_resize_repair(const bshm__shard *s)
{
	const bshm_intent *intent = &s->shard->intent;
	const uint32_t table = BSHM_LOAD(&intent->table, RELAXED);
	if (table - s->index * s->segment->shard_tables >= s->segment->shard_tables) {
		return; /* damaged: it is no table of this shard */
	}
	const uint32_t shape = (uint32_t) BSHM_LOAD(&s->segment->roots[table], RELAXED);
	const bool in_force = shape == BSHM_LOAD(&intent->fresh, RELAXED);
	bshm__sequence_jump(s);
	free_units(s, s->segment->tables[table].units[~shape & 1],
		BSHM_LOAD(in_force ? &intent->count : &intent->step, RELAXED));
}

/* The table of the first record of a unit, counted from the shard's first table; 0 if it has
 * none. */
static uint32_t likely_table(const bshm__shard *s, uint32_t unit)
{
	const uint32_t end = unit + bshm__class_bytes(bshm__ref_class(s, unit)) / BSHM_SLOT_UNIT;
	const uint32_t words = sizeof(bshm_bucket) / BSHM_SLOT_UNIT;
	for (uint32_t at = unit; at < end; at += words) {
		const bshm_bucket *bucket = bshm__cell_bucket(s, at);
		for (uint32_t k = 0; bucket != NULL && k < BSHM_BUCKET_CELLS; k++) {
			bshm__record record;
			bshm__home home;
			if (bshm__record_load(s, BSHM_LOAD(&bucket->ref[k], RELAXED), &record)) {
				const bool is_sound = bshm__record_home(s, &record, &home);
				return is_sound ? home.table % s->segment->shard_tables : 0;
			}
		}
	}
	return 0;
}

/* Which table has a unit, and as which of its units? False: none has it. */
static bool find_unit(const bshm__shard *s, uint32_t ref, uint32_t *table, uint32_t *number)
{
	const uint32_t first = s->index * s->segment->shard_tables;
	const uint32_t end = first + s->segment->shard_tables;
	const bool is_small = bshm__ref_class(s, ref) != BSHM_CLASS_INDEX;
	*table = is_small ? first : first + likely_table(s, ref);
	for (uint32_t k = first; k < end; k++, *table = *table + 1 == end ? first : *table + 1) {
		/* A page may have 254 small units without a record, and a shard 1,024 tables. */
		*number = 0;
		if (BSHM_LOAD(&s->segment->roots[*table], RELAXED) >> BSHM_ROOT_UNIT == ref) {
			return bshm__buckets_of(s->segment, *table).count != 0;
		}
		if (is_small) {
			continue;
		}
		const bshm__buckets buckets = bshm__buckets_of(s->segment, *table);
		const uint32_t count = bshm__units_for(buckets.count);
		for (*number = 1; *number < count; ++*number) {
			if (bshm__unit(&buckets, *number) == ref) {
				return true;
			}
		}
	}
	return false;
}

/* Puts another unit in force. */
static void set_unit(const bshm__shard *s, uint32_t table, uint32_t number, uint32_t ref)
{
	uint64_t *root = &s->segment->roots[table];
	const uint32_t shape = (uint32_t) BSHM_LOAD(root, RELAXED);
	if (number == 0) {
		/* Pairs with bshm__buckets_of(). */
		BSHM_STORE(root, (uint64_t) ref << BSHM_ROOT_UNIT | shape, RELEASE);
	} else {
		/* Pairs with bshm__unit(). */
		BSHM_STORE(&s->segment->tables[table].units[shape & 1][number], ref, RELEASE);
	}
}

bool bshm__unit_move(const bshm__shard *s, uint32_t ref)
{
	uint32_t table;
	uint32_t number;
	const uint32_t size_class = bshm__ref_class(s, ref);
	if (!bshm__class_of_units(size_class) || !find_unit(s, ref, &table, &number)) {
		return false; /* damaged */
	}
	const uint32_t bytes = bshm__class_bytes(size_class);
	const uint32_t fresh = bshm__slot_find(s, size_class, bshm__page_number(s, ref));
	const uint64_t *from = (const uint64_t *) (const void *) bshm__ref_at(s, ref, bytes);
	uint64_t *to = (uint64_t *) (void *) bshm__ref_at(s, fresh, bytes);
	if (fresh == 0 || from == NULL || to == NULL) {
		return false;
	}
	BSHM_STORE(&s->shard->intent.table, table, RELAXED);
	bshm__intent_begin(s, BSHM_INTENT_MOVE_UNIT, 0, ref, fresh);
	bshm__slot_take(s, fresh);
	for (uint32_t i = 0; i < bytes / 8; i++) {
		BSHM_STORE(&to[i], BSHM_LOAD(&from[i], RELAXED), RELAXED);
	}
	set_unit(s, table, number, fresh);
	bshm__sequence_jump(s); /* a search of the old unit begins anew */
	bshm__slot_vacate(s, ref);
	bshm__intent_end(s);
	return true;
}

void bshm__unit_move_repair(const bshm__shard *s)
{
	const bshm_intent *intent = &s->shard->intent;
	const uint32_t fresh = BSHM_LOAD(&intent->fresh, RELAXED);
	uint32_t table;
	uint32_t number;
	bshm__sequence_jump(s);
	bshm__slot_free(
		s, find_unit(s, fresh, &table, &number) ? BSHM_LOAD(&intent->old, RELAXED) : fresh);
}
