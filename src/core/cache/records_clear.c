/*
 * records_clear.c - removes all records, or those whose keys begin with a prefix.
 *
 * The tables are cleared in parts of 64 buckets. A part is named by positions, as in scan.c: so a
 * table that is resized between two parts loses no record. The records of a part are first looked
 * at without the lock, which is taken only if some of them have to go. They are removed one by one,
 * as any record is (remove.c), so a death leaves at most one change to repair.
 *
 * A table with an empty beginning cannot be shrunk, because its other records would lie too close
 * together. So it is shrunk once, at the end of each part. In a full store no page is free for
 * other units of the first tables. These tables are shrunk after the last one.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/chain.h"
#include "core/cache/lease_table.h"
#include "core/cache/record.h"
#include "core/cache/remove.h"
#include "core/cache/shard_lock.h"
#include "core/cache/table.h"
#include "core/segment/lock.h"
#include "platform/platform.h"

#define PART_BUCKETS 64u
/* A step under the lock ends after so many chunks, or after this time: a process that has not
 * touched the segment before meets page faults. */
#define PART_CHUNKS 1024u
#define PART_NS     UINT64_C(1000000)
/* The chain of a record with more chunks is touched without the lock before it is freed. */
#define TOUCH_CHUNKS 64u
/* After so many steps of a part that ended early, two for each record that it may have, others are
 * filling it again: then neither time nor chains end a step. */
#define EARLY_MOST 2048u
/* After so many records and chunks the lock stays free for a pause. */
#define PAUSE_EVERY 4096u

/* The records of a table with a position from `from` to before `until`. */
typedef struct {
	const bshm_key *prefix;
	uint32_t table;
	uint32_t from;
	uint32_t until;
	uint64_t removed; /* users' records that had not expired */
	uint32_t work;    /* records and chunks since the last pause */
	uint32_t early;   /* steps of this part that ended early */
	uint32_t touched; /* the ref of the last record whose chain was touched */
	uint32_t chunk;   /* where a chain begins that is to be touched; 0: none */
	uint32_t chunks;  /* how many it has */
	bool oversized;   /* a table of the shard may not have been shrunk */
} clearing;

/* The buckets of a part, and the present one. */
typedef struct {
	bshm__bucket_walk walk;
	bshm_bucket *bucket; /* NULL: that was all, or there is damage */
	uint32_t whole;      /* buckets up to here; those after it only have what overflowed */
} part_walk;

static bool is_cleared(const bshm__shard *s, const bshm__record *record, const bshm_key *prefix)
{
	if (prefix->length == 0) {
		return true;
	}
	bshm__record beginning = *record;
	beginning.key_bytes = (uint32_t) prefix->length;
	return record->key_bytes >= prefix->length &&
		   bshm__record_has_key(s, &beginning, BSHM_SPACE_CACHE, prefix);
}

static void prefetch_records(const bshm__shard *s, const bshm_bucket *bucket, bool change)
{
	for (uint32_t k = 0; bucket != NULL && k < BSHM_BUCKET_CELLS; k++) {
		const uint32_t ref = BSHM_LOAD(&bucket->ref[k], RELAXED);
		const uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
		if (slot != NULL) {
			BSHM_PREFETCH(slot);
			if (change) {
				bshm__page_prefetch(s, ref);
			}
		}
	}
}

/* Where the part ends, with so many buckets in the table. */
static void set_end(clearing *c, uint32_t buckets)
{
	const uint32_t last = buckets == 0 ? 0 : bshm__bucket_of(c->from, buckets) + PART_BUCKETS;
	c->until = last < buckets ? bshm__bucket_end(last - 1, buckets) : BSHM_POSITIONS;
}

static void first_bucket(const bshm__shard *s, const clearing *c, part_walk *at)
{
	const bshm__buckets buckets = bshm__buckets_of(s->segment, c->table);
	at->bucket = bshm__bucket_first(s, &at->walk, buckets, c->from, buckets.count);
	at->whole = at->bucket == NULL ? 0 : bshm__bucket_of(c->until - 1, buckets.count);
}

static void next_bucket(const bshm__shard *s, part_walk *at)
{
	const bool more = at->walk.number < at->whole || bshm__bucket_overflow(at->bucket) != 0;
	at->bucket = more ? bshm__bucket_next(s, &at->walk) : NULL;
}

/* The bucket after the present one, to prefetch from. */
static const bshm_bucket *peek(const bshm__shard *s, const part_walk *at)
{
	return at->walk.number < at->whole ? bshm__bucket_at(s, &at->walk.buckets, at->walk.number + 1)
									   : NULL;
}

/* Is it a record of the part, by its position? A tiny table has one part, or was larger when the
 * part was named: then each record that is met counts as of the part. */
static bool in_part(const clearing *c, const part_walk *at, uint32_t cell, uint32_t *position)
{
	const uint32_t end = bshm__bucket_end(at->walk.number, at->walk.buckets.count);
	*position = bshm__position_before(end, bshm__bucket_tag(at->bucket, cell));
	return bshm__is_tiny(at->walk.buckets.count) || (*position >= c->from && *position < c->until);
}

/* Without the lock: does the record at a ref have to go? -1: the cell or the record has changed. */
static int look(const bshm__shard *s, const clearing *c, const uint32_t *word, uint32_t ref)
{
	bshm__record record;
	if (bshm__record_load(s, ref, &record) && is_cleared(s, &record, c->prefix)) {
		return 1;
	}
	BSHM_FENCE(ACQUIRE); /* pairs with the fence of free_taken() */
	const bool same = BSHM_LOAD(word, RELAXED) == ref &&
					  (record.slot == NULL || bshm__record_same_state(&record));
	return same ? 0 : -1;
}

/* Without the lock: how many records of the part have to go; where it is in doubt, one at least. */
static uint32_t count_part(const bshm__shard *s, const clearing *c)
{
	/* Pairs with bshm__sequence_jump(). */
	const uint64_t sequence = BSHM_LOAD(&s->shard->sequence, ACQUIRE);
	uint32_t count = 0;
	bool doubt = false;
	part_walk at;
	for (first_bucket(s, c, &at); at.bucket != NULL; next_bucket(s, &at)) {
		if (c->prefix->length != 0) {
			prefetch_records(s, peek(s, &at), false);
		}
		for (uint32_t k = 0; k < BSHM_BUCKET_CELLS; k++) {
			uint32_t position;
			const uint32_t *word = &at.bucket->ref[k];
			const uint32_t ref = BSHM_LOAD(word, ACQUIRE); /* pairs with its publication */
			if (ref != 0 && in_part(c, &at, k, &position)) {
				const int found = c->prefix->length == 0 ? 1 : look(s, c, word, ref);
				count += found > 0;
				doubt |= found < 0;
			}
		}
	}
	BSHM_FENCE(ACQUIRE); /* pairs with bshm__sequence_jump(), and the fence of free_taken() */
	doubt |= bshm__versions_passed(s, sequence);
	return count == 0 && doubt ? 1 : count;
}

/* Under the lock: removes the record in a cell, if it has to go; how many slots that freed. Or says
 * which chain has to be touched first. */
static uint32_t clear_cell(
	const bshm__shard *s, clearing *c, const part_walk *at, uint32_t cell, uint32_t now_s)
{
	bshm__record record;
	bshm__home home = {.shard = s->index, .table = c->table};
	const uint32_t ref = BSHM_LOAD(&at->bucket->ref[cell], RELAXED);
	if (ref == 0 || !in_part(c, at, cell, &home.position) || !bshm__record_load(s, ref, &record) ||
		!is_cleared(s, &record, c->prefix)) {
		return 0;
	}
	const uint32_t rest = record.key_bytes + record.value_bytes - record.first;
	const uint32_t chunks = (rest + BSHM_CHUNK_BYTES - 1) / BSHM_CHUNK_BYTES;
	if (record.next != 0 && chunks > TOUCH_CHUNKS && c->touched != ref && c->early < EARLY_MOST) {
		c->touched = ref;
		c->chunk = record.next;
		c->chunks = chunks;
		return 0;
	}
	bshm__home by_key;
	const bool known = bshm__record_home(s, &record, &by_key);
	home.hash = known ? by_key.hash : 0;
	if (known && bshm__is_tiny(at->walk.buckets.count)) {
		home.position = by_key.position;
	}
	c->removed += (record.shape >> BSHM_SHAPE_SPACE & 1) == BSHM_SPACE_CACHE &&
				  !bshm__expired(record.expires_s, now_s);
	bshm__record_remove(s, &home, bshm__cell_in(s, at->bucket, cell), ref);
	if (known && BSHM_UNLIKELY(BSHM_LOAD(&s->shard->leases, RELAXED) != 0)) {
		bshm__leases_end(s, by_key.hash);
	}
	return 1 + chunks;
}

static bool is_late(const clearing *c, uint64_t began)
{
	return c->early < EARLY_MOST && bshm_os_monotonic_ns() - began >= PART_NS;
}

/* Under the lock: removes the records of the part. False: there may be more, but that was enough
 * work for one step, or a chain has to be touched. */
static bool clear_part(const bshm__shard *s, clearing *c)
{
	const uint32_t now_s = bshm__store_now_s(s->segment);
	const uint64_t began = bshm_os_monotonic_ns();
	uint32_t slots = 0;
	part_walk at;
	for (first_bucket(s, c, &at); at.bucket != NULL; next_bucket(s, &at)) {
		prefetch_records(s, peek(s, &at), true);
		for (uint32_t k = 0; k < BSHM_BUCKET_CELLS; k++) {
			const uint32_t freed = clear_cell(s, c, &at, k, now_s);
			const bool last = k + 1 == BSHM_BUCKET_CELLS; /* of small records it is late sooner */
			slots += freed;
			if (slots >= PART_CHUNKS || c->chunk != 0 ||
				(slots != 0 && (freed > 1 || last) && is_late(c, began))) {
				c->work += is_late(c, began) ? PAUSE_EVERY : slots;
				c->early++;
				c->oversized = true; /* it may have been the last one of the part */
				return false;
			}
		}
	}
	bshm__table_shrink(s, c->table);
	c->oversized |= bshm__table_oversized(s, c->table) != 0;
	c->work += slots;
	return true;
}

/*
 * Counts the records that have to stay because the lock was not free in time: the first one is
 * counted already.
 */
static void give_up(const bshm__shard *s, bshm_status status, uint32_t count)
{
	if (status == BSHM_E_TIMEOUT) {
		BSHM_ADD(&s->shard->timeouts, count - 1, RELAXED);
	}
}

static void clear_table(const bshm__shard *s, clearing *c, bshm_patience *patience)
{
	bool done = true;
	for (c->from = 0; c->from < BSHM_POSITIONS; c->from = done ? c->until : c->from) {
		if (done) {
			set_end(c, bshm__buckets_of(s->segment, c->table).count);
			c->early = 0;
		}
		done = true;
		const uint32_t count = count_part(s, c);
		bshm_error error;
		const bshm_status status =
			count == 0 ? BSHM_OK : bshm__shard_lock_patient(s, patience, &error);
		if (status != BSHM_OK) {
			give_up(s, status, count);
		} else if (count != 0) {
			done = clear_part(s, c);
			bshm__shard_unlock(s);
		}
		if (c->chunk != 0) {
			bshm__chain_touch(s, c->chunk, c->chunks);
			c->chunk = 0;
		}
		if (c->work >= PAUSE_EVERY) {
			c->work = 0;
			bshm_os_sleep_us(3 * BSHM_LOCK_SLEEP_US); /* so that waiters find the lock free */
		}
	}
}

static void shrink_table(const bshm__shard *s, uint32_t table, bshm_patience *patience)
{
	bshm_error error;
	if (bshm__table_oversized(s, table) != 0 &&
		bshm__shard_lock_patient(s, patience, &error) == BSHM_OK) {
		bshm__table_shrink(s, table);
		bshm__shard_unlock(s);
	}
}

/* Values that are being loaded now may have been read before the call: they are not stored. */
static void end_leases(bshm_segment *segment, bshm_patience *patience)
{
	BSHM_FENCE(SEQ_CST); /* pairs with bshm_lease_take() */
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		const bshm__shard s = bshm__shard_at(segment, i);
		bshm_error error;
		/* Records are looked up after that: pairs with bshm__lease_end(). */
		if (BSHM_LOAD(&s.shard->leases, ACQUIRE) != 0 &&
			bshm__shard_lock_patient(&s, patience, &error) == BSHM_OK) {
			bshm__leases_end_all(&s);
			bshm__shard_unlock(&s);
		}
	}
}

uint64_t bshm_records_clear(bshm_segment *segment, const bshm_key *prefix)
{
	bshm_patience patience = {0};
	clearing c = {.prefix = prefix};
	end_leases(segment, &patience);
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		const bshm__shard s = bshm__shard_at(segment, i);
		const uint32_t first = i * segment->shard_tables;
		c.oversized = false;
		for (c.table = first; c.table < first + segment->shard_tables; c.table++) {
			clear_table(&s, &c, &patience);
		}
		for (uint32_t t = 0; c.oversized && !patience.gone && t < segment->shard_tables; t++) {
			shrink_table(&s, first + t, &patience);
		}
	}
	return c.removed;
}
