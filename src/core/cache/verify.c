/*
 * verify.c - the validator of the record store. check.c calls it for the whole segment.
 *
 * Each ref of a bucket must lead to a live record that belongs there and can be found. Each taken
 * slot must be referred to exactly once: by a bucket, a chain or a table. The counts must be right.
 * It checks one shard at a time, under its lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/verify.h"

#include "core/cache/record.h"
#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	bshm__shard s;
	uint64_t *referred; /* a bit for each slot, as in the pages' bitmaps */
	uint64_t records;
	uint64_t data_bytes;
	bshm__fault fault;
	void *context;
} inspection;

static void note(inspection *in, const char *what)
{
	in->fault(in->context, what);
}

/* Notes that a slot is referred to. False: it is not taken, or was referred to before. */
static bool refer(inspection *in, uint32_t ref)
{
	const bshm__shard *s = &in->s;
	if (!bshm__slot_taken(s, ref)) {
		note(in, "something leads to a slot that is free");
		return false;
	}
	const uint32_t page = bshm__page_number(s, ref) - 1;
	const uint32_t slot =
		(ref & 0xfff) * BSHM_SLOT_UNIT / bshm__class_bytes(bshm__ref_class(s, ref));
	uint64_t *word = &in->referred[page * BSHM_PAGE_WORDS + slot / 64];
	if ((*word >> (slot % 64) & 1) != 0) {
		note(in, "two refs lead to one slot");
		return false;
	}
	*word |= UINT64_C(1) << (slot % 64);
	return true;
}

static void inspect_chain(inspection *in, const bshm__record *record, uint32_t first)
{
	const bshm__shard *s = &in->s;
	const uint64_t rest = (uint64_t) record->key_bytes + record->value_bytes - record->first;
	uint32_t before = first;
	uint32_t chunk = record->next;
	for (uint64_t off = 0; off < rest; off += BSHM_CHUNK_BYTES) {
		uint8_t *bytes = bshm__ref_at(s, chunk, BSHM_SLOT_BYTES_MAX);
		if (bytes == NULL || bshm__ref_class(s, chunk) != bshm__chunk_class(rest - off) ||
			!refer(in, chunk)) {
			note(in, "a large record's chain is broken");
			return;
		}
		if (BSHM_LOAD(bshm__slot_word(bytes, 2), RELAXED) != before) {
			note(in, "a large record's chain does not lead back");
		}
		before = chunk;
		chunk = BSHM_LOAD(bshm__slot_word(bytes, 1), RELAXED);
	}
}

static void inspect_record(inspection *in, uint32_t table, uint32_t ref)
{
	const bshm__shard *s = &in->s;
	bshm__record record;
	bshm__home home;
	if (!refer(in, ref)) {
		return;
	}
	if (!bshm__record_load(s, ref, &record) || !bshm__record_home(s, &record, &home)) {
		note(in, "a record is damaged");
		return;
	}
	/* Found by its tag, as a look-up does. */
	if (home.table != table || bshm__cell_of(s, &home, ref) == 0) {
		note(in, "a record cannot be found where its key belongs");
	}
	in->records++;
	in->data_bytes += (uint64_t) record.key_bytes + record.value_bytes;
	if ((record.state & BSHM_SLOT_CHAINED) != 0) {
		inspect_chain(in, &record, ref);
	}
}

static void inspect_table(inspection *in, uint32_t table)
{
	const bshm__shard *s = &in->s;
	const bshm__buckets buckets = bshm__buckets_of(s->segment, table);
	for (uint32_t i = 0; i < buckets.count; i += BSHM_UNIT_BUCKETS) {
		const uint32_t unit = BSHM_LOAD(bshm__unit(buckets.units, i / BSHM_UNIT_BUCKETS), RELAXED);
		if (bshm__ref_class(s, unit) != BSHM_CLASS_INDEX || !refer(in, unit)) {
			note(in, "a table's buckets are damaged");
			return;
		}
	}
	for (uint32_t i = 0; i < buckets.count; i++) {
		const bshm_bucket *bucket = bshm__bucket_at(s, &buckets, i);
		for (uint32_t k = 0; bucket != NULL && k < BSHM_BUCKET_CELLS; k++) {
			const uint32_t ref = BSHM_LOAD(&bucket->ref[k], RELAXED);
			if (ref != 0) {
				inspect_record(in, table, ref);
			}
		}
	}
}

static void inspect_shard(inspection *in)
{
	const bshm__shard *s = &in->s;
	const bshm_shard_header *shard = s->shard;
	for (uint32_t i = 0; i < s->segment->shard_tables; i++) {
		inspect_table(in, s->index * s->segment->shard_tables + i);
	}
	if (in->records != BSHM_LOAD(&shard->records, RELAXED) ||
		in->data_bytes != BSHM_LOAD(&shard->data_bytes, RELAXED)) {
		note(in, "the record store counts what it does not hold");
	}
	bool lost = false;
	for (uint32_t i = 0; i < s->segment->shard_pages; i++) {
		const bool free_page = bshm__page_class(s, i + 1) == BSHM_CLASS_COUNT;
		for (uint32_t k = 0; k < BSHM_PAGE_WORDS && !free_page; k++) {
			lost |= bshm__page_taken(s, i + 1, k) != in->referred[i * BSHM_PAGE_WORDS + k];
		}
	}
	if (lost) {
		note(in, "nothing leads to a slot that is taken");
	}
	if (BSHM_LOAD(&shard->intent.kind, RELAXED) != BSHM_INTENT_NONE) {
		note(in, "a change of the record store was left unfinished");
	}
}

bshm_status bshm__store_verify(
	bshm_segment *segment, bshm__fault fault, void *context, bshm_error *error)
{
	const size_t words = (size_t) segment->shard_pages * BSHM_PAGE_WORDS;
	uint64_t records = 0;
	inspection in = {.fault = fault, .context = context};
	bshm_status status = BSHM_OK;
	in.referred = calloc(words == 0 ? 1 : words, sizeof(*in.referred));
	for (uint32_t i = 0; in.referred != NULL && status == BSHM_OK && i < segment->shard_count;
		 i++) {
		in.s = bshm__shard_at(segment, i);
		in.records = in.data_bytes = 0;
		memset(in.referred, 0, words * sizeof(*in.referred));
		status = bshm__shard_lock(&in.s, BSHM_LOCK_BATCH_NS, error);
		if (status == BSHM_OK) {
			inspect_shard(&in);
			bshm__shard_unlock(&in.s);
		}
		records += in.records;
	}
	if (status == BSHM_OK && segment->cache_records != 0 && records > segment->cache_records) {
		note(&in, "the record store holds more records than it may");
	}
	status = in.referred == NULL ? bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY) : status;
	free(in.referred);
	return status;
}
