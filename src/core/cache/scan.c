/*
 * scan.c - walks all records without a lock; finds the oldest.
 *
 * A cursor is the number of a table and a position in it. The buckets of a table are in the order
 * of the positions, however many there are. So a table that grows or shrinks between two steps
 * loses no record and shows none twice. A step reads the records of one home bucket; all of them
 * lie in it and the few buckets after it. A tiny table does not say its records' positions: a step
 * reads all of it. If memory gets another meaning meanwhile, the step begins anew.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/find.h"
#include "core/cache/index.h"
#include "core/cache/recency.h"
#include "core/cache/record.h"

#include <stdlib.h>
#include <string.h>

#define TRIES      4096 /* while memory gets another meaning all the time; with pauses, ms */
#define PAUSE_FROM 16
#define STEP_TRIES 64 /* while nothing has changed: then there is damage; and to copy keys */

/* The part of a step: the positions from `from` to before `until`. */
typedef struct {
	uint32_t table;
	uint32_t from;
	uint32_t until;
	bool by_key; /* of a tiny table, which was larger before: its keys say what was shown */
} span;

/* The first position of the next home bucket after that of `from`. A tiny table counts as one. */
static uint32_t end_of_bucket(uint32_t from, uint32_t buckets)
{
	return bshm__is_tiny(buckets) ? BSHM_POSITIONS
								  : bshm__bucket_end(bshm__bucket_of(from, buckets), buckets);
}

/* Copies the key of a record that stands. Memory may get another meaning so often that none can be
 * copied meanwhile: then the record stands if the bytes lead to it. */
static bool copy_key(const bshm_found *found, char *to)
{
	const bshm_key key = {to, found->key_length};
	bshm_found now;
	return bshm_found_copy_key(found, to) ||
		   (bshm_record_find(found->segment, found->space, &key, BSHM_FIND_STALE, &now) == 1 &&
			   now.slot == found->slot && bshm__same_state(now.state, found->state));
}

/* Finds the records of a span, which ends with the home bucket of its first position: their count,
 * or -1 = begin anew. *full: there are more than `room`. */
static int find_span(
	const bshm__shard *s, span *sp, bool stale, bool *full, bshm_found *found, unsigned room)
{
	/* Pairs with bshm__sequence_jump(). */
	const uint64_t sequence = BSHM_LOAD(&s->shard->sequence, ACQUIRE);
	const bshm__buckets buckets = bshm__buckets_of(s->segment, sp->table);
	const uint32_t end_of_first = end_of_bucket(sp->from, buckets.count);
	const bool tiny = bshm__is_tiny(buckets.count);
	const uint32_t now_s = bshm__store_now_s(s->segment);
	bshm__bucket_walk w;
	const bshm_bucket *bucket = bshm__bucket_first(s, &w, buckets, sp->from, buckets.count);
	int count = 0;
	/* All of a tiny table, also if a try before found that there was not room for so much. */
	sp->until = !tiny && sp->until < end_of_first ? sp->until : end_of_first;
	sp->by_key = tiny && sp->from != 0;
	*full = false;
	while (bucket != NULL) {
		const uint32_t end = bshm__bucket_end(w.number, buckets.count);
		for (uint32_t k = 0; k < BSHM_BUCKET_CELLS; k++) {
			/* Pairs with its publication: publish(), bshm__record_move(). */
			const uint32_t ref = BSHM_LOAD(&bucket->ref[k], ACQUIRE);
			const uint32_t position = bshm__position_before(end, bshm__bucket_tag(bucket, k));
			if (ref == 0 || (!tiny && (position < sp->from || position >= sp->until))) {
				continue;
			}
			if ((unsigned) count == room) {
				*full = true;
				return count;
			}
			const bool is_found = bshm__found_of(s, ref, sequence, now_s, &found[count]);
			/* Another record may have got the slot since the ref was read: pairs with the
			 * publication of the ref, and free_taken(). */
			BSHM_FENCE(ACQUIRE);
			const uint32_t ref_now = BSHM_LOAD(&bucket->ref[k], RELAXED);
			if (ref_now != (is_found ? ref : 0)) {
				return -1;
			}
			count += is_found && (stale || !found[count].expired);
		}
		const bool ends = !tiny && bshm__bucket_overflow(bucket) == 0;
		bucket = ends ? NULL : bshm__bucket_next(s, &w);
	}
	return bshm__sequence_jumped(s, sequence) ? -1 : count;
}

static unsigned step(bshm_segment *segment, span *sp, bool stale, bshm_found *found, unsigned room)
{
	const bshm__shard s = bshm__shard_at(segment, sp->table / segment->shard_tables);
	int count = -1;
	bool full = false;
	uint64_t sequence = 0;
	for (unsigned tries = 0, same = 0; tries < TRIES && same < STEP_TRIES && count < 0; tries++) {
		if (tries > PAUSE_FROM) {
			BSHM_PAUSE();
		}
		const uint64_t now = BSHM_LOAD(&s.shard->sequence, RELAXED);
		same = now == sequence ? same + 1 : 0;
		sequence = now;
		sp->until = full ? sp->until : BSHM_POSITIONS;
		count = find_span(&s, sp, stale, &full, found, room);
		if (full && sp->until - sp->from > 1) {
			sp->until = sp->from + (sp->until - sp->from) / 2;
			count = -1;
		}
	}
	return count < 0 ? 0 : (unsigned) count;
}

/* The records of the next home bucket that has any: how many. *cursor is 0 at the end. *sp: where
 * they are. */
static unsigned scan(bshm_segment *segment, uint64_t *cursor, unsigned flags, bshm_found *found,
	unsigned room, span *sp)
{
	const uint64_t tables = segment->table_count;
	uint64_t at = *cursor;
	unsigned count = 0;
	while (count == 0 && at / BSHM_POSITIONS < tables) {
		sp->table = (uint32_t) (at / BSHM_POSITIONS);
		sp->from = (uint32_t) (at % BSHM_POSITIONS);
		count = step(segment, sp, (flags & BSHM_FIND_STALE) != 0, found, room);
		at = (uint64_t) sp->table * BSHM_POSITIONS + sp->until;
	}
	*cursor = at / BSHM_POSITIONS < tables ? at : 0;
	return count;
}

/* Copies the keys of a span: how many; *whole: all of them. False: no private memory left. */
static bool copy_keys(
	bshm_scan *scan, const span *sp, const bshm_found *found, unsigned count, bool *whole)
{
	size_t bytes = 0;
	for (unsigned i = 0; i < count; i++) {
		bytes += found[i].key_length;
	}
	if (bytes > scan->room || scan->bytes == NULL) { /* an empty key lies somewhere, too */
		char *more = realloc(scan->bytes, bytes + 1);
		if (more == NULL) {
			return false;
		}
		memset(more, 0, bytes + 1); /* copy_key() may read what it could not copy */
		scan->bytes = more;
		scan->room = bytes;
	}
	char *to = scan->bytes;
	scan->count = 0;
	*whole = true;
	for (unsigned i = 0; i < count; i++) {
		const bshm_key key = {to, found[i].key_length};
		if (!copy_key(&found[i], to)) {
			*whole = false;
		} else if (!sp->by_key ||
				   bshm__home_of(found[i].segment, found[i].space, &key).position >= sp->from) {
			scan->keys[scan->count] = key;
			scan->spaces[scan->count++] = found[i].space;
			to += key.length;
		}
	}
	return true;
}

bool bshm_scan_next(bshm_segment *segment, bshm_scan *at, unsigned flags)
{
	bshm_found found[BSHM_SCAN_ROOM];
	span sp = {0};
	const uint64_t before = at->cursor;
	bool whole = false;
	for (unsigned tries = 0; tries < STEP_TRIES && !whole; tries++) {
		at->cursor = before; /* a record has changed between finding and copying it */
		const unsigned count = scan(segment, &at->cursor, flags, found, BSHM_SCAN_ROOM, &sp);
		if (!copy_keys(at, &sp, found, count, &whole)) {
			return false;
		}
	}
	return true;
}

void bshm_scan_free(bshm_scan *at)
{
	free(at->bytes);
	at->bytes = NULL;
	at->room = 0;
}

int bshm_record_oldest(bshm_segment *segment, bshm_found *found)
{
	uint64_t most = 0;
	uint32_t best_ref = 0;
	uint32_t best_state = 0;
	bshm__shard best = {0};
	uint64_t sequence = 0;
	bool moved = false;
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		const bshm__shard s = bshm__shard_at(segment, i);
		/* Pairs with bshm__sequence_jump(). */
		const uint64_t before = BSHM_LOAD(&s.shard->sequence, ACQUIRE);
		uint32_t state;
		uint32_t age;
		const uint32_t ref = bshm__oldest(&s, &state, &age);
		/* Epochs of a large shard are longer. */
		const uint64_t weight = 1 + age * (1 + BSHM_LOAD(&s.shard->records, RELAXED) / 64);
		if (ref == 0) {          /* or one was put anew behind the search, and freed before it */
			BSHM_FENCE(ACQUIRE); /* pairs with the fence of free_taken() */
			moved |= bshm__sequence_since(&s, before) != 0;
		}
		if (ref != 0 && weight > most) {
			most = weight;
			best = s;
			best_ref = ref;
			best_state = state;
			sequence = before;
		}
	}
	if (best_ref == 0) {
		return moved ? BSHM_E_BUSY : 0;
	}
	const uint32_t now_s = bshm__store_now_s(segment);
	/* A put may have evicted it: it looks for the oldest, too. */
	const bool stands = bshm__found_of(&best, best_ref, sequence, now_s, found) &&
						bshm__same_state(found->state, best_state) &&
						found->space == BSHM_SPACE_CACHE;
	return stands ? 1 : BSHM_E_BUSY;
}
