/*
 * verify.c - the validator of the record store. check.c calls it for the whole segment.
 *
 * Each ref of a bucket must lead to a live record that belongs there and is found there, so no
 * two refs lead to one slot. Each taken slot must be led to: a record by its key's bucket, a chunk
 * by the slot before it in its chain, a unit by one table. The counts must be right.
 *
 * The validator takes a shard's lock for some work at a time, and leaves it free for a pause after
 * that. A clock ends the hold of a process that is slow, because it has not touched the segment
 * before, or because the segment was swapped out. What it checks in one step is true of that
 * moment, so other processes may change the shard between two steps. The records are counted table
 * by table. A table's own count may be too high after a death. The excess does not change when
 * records come and go, and a resize ends it. The count of bytes, and whether chunks lead to each
 * other in a ring, can only be checked if the shard was not changed meanwhile.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/verify.h"

#include "core/cache/chain.h"
#include "core/cache/parked.h"
#include "core/cache/record.h"
#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"
#include "core/status.h"
#include "platform/platform.h"

/* Records and slots that are looked at under one hold of the lock; then the hold ends after the
 * present record, slot or table's count. */
#define STEP_WORK 1024u
#define LOOK_WORK 32u /* after so many of them the clock is looked at */
#define AHEAD     16u /* slots */
/* So many roots and units are compared in the time that a record takes. */
#define LOOKS_OF_ONE 32u
/* A table that counted too many may be resized while the others are counted. */
#define COUNT_TRIES 3u

typedef struct {
	bshm__shard s;
	uint64_t steps;
	uint64_t began;   /* this step; monotonic, ns */
	uint32_t work;    /* in this step */
	uint32_t look_at; /* the clock, at this work */
	uint64_t data_bytes;
	uint64_t chunks;       /* in chains */
	uint64_t taken_chunks; /* in pages */
	uint64_t sequence;     /* of the shard, at the beginning */
	uint32_t records;      /* the same */
	bshm__fault fault;
	void *context;
	bshm_status status; /* why it could not be done */
	bshm_error *error;
} inspection;

static void note(inspection *in, const char *what)
{
	in->fault(in->context, what);
}

/* False: the lock could not be taken in time. */
static bool begin_step(inspection *in)
{
	in->status = bshm__shard_lock(&in->s, BSHM_LOCK_BATCH_NS, in->error);
	in->steps++;
	in->began = bshm_os_monotonic_ns();
	in->work = 0;
	in->look_at = LOOK_WORK;
	return in->status == BSHM_OK;
}

static bool is_step_over(inspection *in)
{
	if (in->work < in->look_at) {
		return false;
	}
	in->look_at = in->work + LOOK_WORK;
	return in->work >= STEP_WORK || bshm_os_monotonic_ns() - in->began >= BSHM_VERIFY_STEP_NS;
}

static void end_step(inspection *in)
{
	bshm__shard_unlock(&in->s);
	bshm_os_sleep_us(3 * BSHM_LOCK_SLEEP_US); /* so that waiters find the lock free */
}

/* Between two records: ends the step, if it is over. False: as begin_step(). */
static bool breathe(inspection *in)
{
	if (in->status == BSHM_OK && is_step_over(in)) {
		end_step(in);
		return begin_step(in);
	}
	return in->status == BSHM_OK;
}

/* ------------------------------------------------------------------ from the buckets */

/* False: the step was over before the chain was. */
static bool walk_chain(inspection *in, const bshm__record *record, uint32_t first, bool in_steps)
{
	const bshm__shard *s = &in->s;
	const uint64_t rest = bshm__record_size(record) - record->first;
	uint64_t chunks = 0;
	uint32_t before = first;
	uint32_t chunk = record->next;
	for (uint64_t off = 0; off < rest; off += BSHM_CHUNK_BYTES) {
		uint8_t *bytes = bshm__ref_at(s, chunk, BSHM_CHUNK_HEADER);
		if (bytes == NULL || bshm__ref_class(s, chunk) != bshm__chunk_class(rest - off) ||
			!bshm__slot_taken(s, chunk)) {
			note(in, "a large record's chain is broken");
			break;
		}
		if (BSHM_LOAD(bshm__slot_word(bytes, 2), RELAXED) != before) {
			note(in, "a large record's chain does not lead back");
		}
		before = chunk;
		chunk = BSHM_LOAD(bshm__slot_word(bytes, 1), RELAXED);
		chunks++;
		in->work++;
		if (in_steps && is_step_over(in)) {
			return false;
		}
	}
	in->chunks += chunks;
	return true;
}

/*
 * Others may change the chain between two steps, so it is walked in one. If it takes longer than a
 * step, the process first touches the chunks without the lock, so that no page fault is left.
 */
static void inspect_chain(inspection *in, const bshm__record *record, uint32_t ref)
{
	const uint32_t same = BSHM_SLOT_VERSION_MASK | BSHM_SLOT_LIVE;
	bshm__record now;
	if (walk_chain(in, record, ref, true)) {
		return;
	}
	end_step(in);
	bshm__chain_touch(
		&in->s, record->next, (bshm__record_size(record) - record->first) / BSHM_CHUNK_BYTES + 1);
	if (begin_step(in) && bshm__record_load(&in->s, ref, &now) &&
		((now.state ^ record->state) & same) == 0) {
		walk_chain(in, &now, ref, false);
	}
}

static bool is_value(const bshm__record *record)
{
	const bshm_value_type type = bshm__record_type(record);
	const uint32_t space = record->shape >> BSHM_SHAPE_SPACE & 1;
	return bshm__is_value(type, record->value_bytes) &&
		   (type != BSHM_VALUE_NOTHING || space != BSHM_SPACE_CACHE);
}

static void inspect_record(inspection *in, uint32_t cell, uint32_t ref)
{
	const bshm__shard *s = &in->s;
	const uint32_t size_class = bshm__ref_class(s, ref);
	bshm__record record;
	bshm__home home;
	in->work++;
	if (!bshm__slot_taken(s, ref)) {
		note(in, "something leads to a slot that is free");
		return;
	}
	if (size_class >= BSHM_CLASS_RECORDS || !bshm__record_load(s, ref, &record) ||
		record.bytes + record.first > record.slot + bshm__class_bytes(size_class) ||
		!bshm__record_home(s, &record, &home) || !is_value(&record)) {
		note(in, "a record is damaged");
		return;
	}
	/* Found by its tag, as a look-up does. */
	const uint32_t found = bshm__cell_of(s, &home, ref);
	if (found != cell) {
		note(in, found == 0 ? "a record cannot be found where its key belongs"
							: "two refs lead to one slot");
	}
	in->data_bytes += bshm__record_size(&record);
	if ((record.state & BSHM_SLOT_CHAINED) != 0) {
		inspect_chain(in, &record, ref);
	}
}

/* False: the table has no sound buckets. */
static bool inspect_units(inspection *in, uint32_t table)
{
	const bshm__shard *s = &in->s;
	const bshm__buckets buckets = bshm__buckets_of(s->segment, table);
	for (uint32_t i = 0; i < buckets.count; i += BSHM_UNIT_BUCKETS) {
		const uint32_t unit = bshm__unit(&buckets, i / BSHM_UNIT_BUCKETS);
		if (bshm__ref_class(s, unit) != bshm__unit_class(buckets.count) ||
			!bshm__slot_taken(s, unit)) {
			note(in, "a table's buckets are damaged");
			return false;
		}
	}
	return true;
}

static void prefetch_records(const bshm__shard *s, const bshm_bucket *bucket)
{
	for (uint32_t k = 0; bucket != NULL && k < BSHM_BUCKET_CELLS; k++) {
		const uint32_t ref = BSHM_LOAD(&bucket->ref[k], RELAXED);
		BSHM_PREFETCH(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN));
		bshm__page_prefetch(s, ref);
	}
}

/* False: as begin_step(). */
static bool inspect_table(inspection *in, uint32_t table)
{
	const bshm__shard *s = &in->s;
	if (!inspect_units(in, table)) {
		return true;
	}
	bshm__buckets buckets = bshm__buckets_of(s->segment, table);
	uint64_t step = in->steps;
	for (uint32_t i = 0; i < buckets.count; i++) {
		if (i + 1 < buckets.count) {
			prefetch_records(s, bshm__bucket_at(s, &buckets, i + 1));
		}
		for (uint32_t k = 0; k < BSHM_BUCKET_CELLS; k++) {
			const bshm_bucket *bucket = bshm__bucket_at(s, &buckets, i);
			const uint32_t ref = bucket == NULL ? 0 : BSHM_LOAD(&bucket->ref[k], RELAXED);
			if (ref != 0) {
				inspect_record(in, bshm__cell_in(s, bucket, k), ref);
			}
			if (!breathe(in)) {
				return false;
			}
			if (in->steps != step) {
				const uint32_t last = bshm__bucket_end(i, buckets.count) - 1;
				step = in->steps;
				buckets = bshm__buckets_of(s->segment, table); /* it may have been resized */
				if (buckets.count == 0) {
					return true;
				}
				i = bshm__bucket_of(last, buckets.count);
			}
		}
	}
	return true;
}

/* ------------------------------------------------------------------ from the pages */

/* Is the slot that comes before a chunk taken, and does it lead to it? */
static bool is_led_to(const bshm__shard *s, uint32_t chunk)
{
	const uint32_t before = bshm__word(s, chunk, 2);
	const uint32_t word = bshm__slot_taken(s, before) ? bshm__chain_word(s, before) : 0;
	return word != 0 && bshm__word(s, before, word) == chunk;
}

static uint32_t count_units(inspection *in, uint32_t ref)
{
	const bshm__shard *s = &in->s;
	const uint32_t first = s->index * s->segment->shard_tables;
	uint32_t found = 0;
	uint32_t looks = 0;
	for (uint32_t t = first; t < first + s->segment->shard_tables; t++) {
		const bshm__buckets buckets = bshm__buckets_of(s->segment, t);
		const uint32_t units = bshm__units_for(buckets.count);
		for (uint32_t i = 0; i < units; i++) {
			found += bshm__unit(&buckets, i) == ref;
		}
		looks += 1 + units;
	}
	in->work += looks / LOOKS_OF_ONE;
	return found;
}

static bool is_record_found(const bshm__shard *s, uint32_t ref)
{
	bshm__record record;
	bshm__home home;
	return bshm__record_load(s, ref, &record) && bshm__record_home(s, &record, &home) &&
		   bshm__cell_of(s, &home, ref) != 0;
}

static void inspect_slot(inspection *in, uint32_t size_class, uint32_t ref)
{
	const bshm__shard *s = &in->s;
	uint32_t refs = 1;
	in->work++;
	if (bshm__class_of_units(size_class)) {
		refs = count_units(in, ref);
	} else if (bshm__class_of_chunks(size_class)) {
		refs = is_led_to(s, ref) || ref == bshm__parked(s);
		in->taken_chunks++;
	} else {
		refs = is_record_found(s, ref);
	}
	if (refs != 1) {
		note(in, refs == 0 ? "nothing leads to a slot that is taken" : "two refs lead to one slot");
	}
}

static bool is_taken(const bshm__shard *s, uint32_t number, uint32_t size_class, uint32_t slot)
{
	return (bshm__page_taken(s, number, size_class, slot / 64) >> (slot % 64) & 1) != 0;
}

/* False: as begin_step(). The page may get another class between two steps. */
static bool inspect_page(inspection *in, uint32_t number)
{
	const bshm__shard *s = &in->s;
	const uint32_t size_class = bshm__page_class(s, number);
	const uint32_t slots = size_class == BSHM_CLASS_COUNT ? 0 : bshm__class_slots(size_class);
	for (uint32_t i = 0; i < slots && bshm__page_class(s, number) == size_class; i++) {
		if (size_class < BSHM_CLASS_RECORDS && i + AHEAD < slots &&
			is_taken(s, number, size_class, i + AHEAD)) {
			bshm__record_prefetch_home(s, bshm__page_ref(s, number, size_class, i + AHEAD));
		}
		if (is_taken(s, number, size_class, i)) {
			inspect_slot(in, size_class, bshm__page_ref(s, number, size_class, i));
		}
		if (!breathe(in)) {
			return false;
		}
	}
	in->work++;
	return breathe(in);
}

/* ------------------------------------------------------------------ all of it */

static uint32_t table_records(const bshm__shard *s, uint32_t table)
{
	return BSHM_LOAD(&s->segment->tables[table].records, RELAXED);
}

/* How many records of a table its buckets lead to. */
static uint64_t count_refs(inspection *in, uint32_t table)
{
	const bshm__shard *s = &in->s;
	const bshm__buckets buckets = bshm__buckets_of(s->segment, table);
	uint64_t count = 0;
	for (uint32_t i = 0; i < buckets.count; i++) {
		const bshm_bucket *bucket = bshm__bucket_at(s, &buckets, i);
		for (uint32_t k = 0; bucket != NULL && k < BSHM_BUCKET_CELLS; k++) {
			count += BSHM_LOAD(&bucket->ref[k], RELAXED) != 0;
		}
	}
	in->work += buckets.count / 4;
	return count;
}

/* *right: the tables have as many records as the shard says. False: as begin_step(). */
static bool count_records(inspection *in, bool *right)
{
	const bshm__shard *s = &in->s;
	const uint32_t first = s->index * s->segment->shard_tables;
	const uint32_t end = first + s->segment->shard_tables;
	uint64_t records = 0;
	for (uint32_t t = first; t < end; t++) {
		if (!breathe(in)) {
			return false;
		}
		records += count_refs(in, t) - table_records(s, t);
	}
	for (uint32_t t = first; t < end; t++) {
		records += table_records(s, t);
	}
	*right = records == BSHM_LOAD(&s->shard->records, RELAXED);
	return true;
}

static void inspect_counts(inspection *in, bool right)
{
	const bshm__shard *s = &in->s;
	const bshm_shard_header *shard = s->shard;
	const bool changed = in->sequence != BSHM_LOAD(&shard->sequence, RELAXED) ||
						 in->records != BSHM_LOAD(&shard->records, RELAXED);
	if (!right || (!changed && in->data_bytes != BSHM_LOAD(&shard->data_bytes, RELAXED))) {
		note(in, "the record store counts what it does not hold");
	}
	if (!changed && bshm__parked(s) == 0 && in->chunks != in->taken_chunks) {
		note(in, "nothing leads to a slot that is taken");
	}
	if (BSHM_LOAD(&shard->intent.kind, RELAXED) != BSHM_INTENT_NONE) {
		note(in, "a change of the record store was left unfinished");
	}
}

static void inspect_shard(inspection *in)
{
	const bshm__shard *s = &in->s;
	if (!begin_step(in)) {
		return;
	}
	in->sequence = BSHM_LOAD(&s->shard->sequence, RELAXED);
	in->records = BSHM_LOAD(&s->shard->records, RELAXED);
	for (uint32_t i = 0; i < s->segment->shard_tables; i++) {
		if (!breathe(in) || !inspect_table(in, s->index * s->segment->shard_tables + i)) {
			return;
		}
	}
	for (uint32_t i = 0; i < s->segment->shard_pages; i++) {
		if (!inspect_page(in, i + 1)) {
			return;
		}
	}
	bool right = false;
	for (unsigned tries = 0; tries < COUNT_TRIES && !right; tries++) {
		if (!count_records(in, &right)) {
			return;
		}
	}
	inspect_counts(in, right);
	bshm__shard_unlock(s);
}

bshm_status bshm__store_verify(
	bshm_segment *segment, bshm__fault fault, void *context, bshm_error *error)
{
	uint64_t records = 0;
	bshm_status status = BSHM_OK;
	for (uint32_t i = 0; status == BSHM_OK && i < segment->shard_count; i++) {
		inspection in = {
			.s = bshm__shard_at(segment, i), .fault = fault, .context = context, .error = error};
		inspect_shard(&in);
		status = in.status;
	}
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		records += BSHM_LOAD(&segment->shards[i].records, RELAXED);
	}
	if (status == BSHM_OK && segment->cache_records != 0 && records > segment->cache_records) {
		fault(context, "the record store holds more records than it may");
	}
	return status;
}
