/*
 * evict.c - which records are evicted when there is no room.
 *
 * A record is on probation until it is used again in a later epoch; then it is protected. To evict
 * one, a hand goes over the slots in the order of memory and looks at the next 32 records. If at
 * least a quarter of them are on probation, the oldest of those is evicted, else the oldest of the
 * protected ones. (On the traces of script/traces this misses less often than LRU at every size;
 * CLOCK, SIEVE and W-TinyLFU do not.)
 *
 * For a large record many are evicted. If it needs an eighth of the store, an eighth of each 32 is
 * evicted at once: the same records that would be evicted one by one, with one round of the hand.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/evict.h"

#include "core/cache/recency.h"
#include "core/cache/record.h"
#include "core/cache/remove.h"
#include "core/cache/table.h"
#include "core/cache/walk.h"

#define ALL_CLASSES BSHM_CLASS_COUNT

typedef struct {
	uint32_t ref;
	uint32_t age;
} candidate;

static void consider(candidate *best, uint32_t ref, uint32_t its_age)
{
	if (best->ref == 0 || its_age > best->age) {
		*best = (candidate){ref, its_age};
	}
}

/* The record to evict among the next ones; 0 = none. With `above_floor` only records older than the
 * floor. */
static uint32_t choose(const bshm__shard *s, bool above_floor, bool *expired)
{
	bshm_shard_header *shard = s->shard;
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&shard->clock, RELAXED));
	const uint32_t now_s = bshm__store_now_s(s->segment);
	bshm__walk w = {
		BSHM_LOAD(&shard->hand_page, RELAXED), BSHM_LOAD(&shard->hand_slot, RELAXED), 0};
	w.page = w.page < s->segment->shard_pages ? w.page : 0;
	candidate probation = {0, 0};
	candidate protected = {0, 0};
	uint32_t seen = 0;
	uint32_t on_probation = 0;
	uint32_t state;
	uint32_t ref;
	*expired = false;
	while ((seen < BSHM_EVICT_SAMPLE || (probation.ref == 0 && protected.ref == 0)) &&
		   (ref = bshm__walk_next(s, &w, &state)) != 0) {
		if (bshm__walk_expired(s, ref, state, now_s)) {
			*expired = true;
			probation.ref = ref;
			on_probation = seen = 1;
			break;
		}
		const uint32_t its_age = bshm__age(e.now, state & BSHM_SLOT_STAMP);
		const bool is_protected = (state & BSHM_SLOT_PROTECTED) != 0;
		seen++;
		on_probation += !is_protected;
		if (!above_floor || its_age > bshm__age(e.now, e.floor)) {
			consider(is_protected ? &protected : &probation, ref, its_age);
		}
	}
	BSHM_STORE(&shard->hand_page, w.page, RELAXED);
	BSHM_STORE(&shard->hand_slot, w.slot, RELAXED);
	const bool young = on_probation * 4 >= seen && probation.ref != 0;
	return young || protected.ref == 0 ? probation.ref : protected.ref;
}

static void remove_victim(const bshm__shard *s, uint32_t ref)
{
	bshm__record record;
	bshm__home home;
	uint32_t cell = 0;
	if (bshm__record_load(s, ref, &record) && bshm__record_home(s, &record, &home)) {
		cell = bshm__cell_of(s, &home, ref);
	}
	if (cell != 0) {
		bshm__record_remove(s, &home, cell, ref);
		bshm__table_tidy(s, home.table);
	} else {
		bshm__slot_free(s, ref); /* no cell leads to it: the index was damaged */
	}
}

static bool count_up(uint64_t *count)
{
	BSHM_STORE(count, BSHM_LOAD(count, RELAXED) + 1, RELAXED);
	return true;
}

/* The class that gains a free slot by an eviction; ALL_CLASSES: several do. */
static uint32_t class_of_victim(const bshm__shard *s, uint32_t ref)
{
	const bool chained = (bshm__word(s, ref, 0) & BSHM_SLOT_CHAINED) != 0;
	return chained ? ALL_CLASSES : bshm__ref_class(s, ref);
}

static bool evict_one(const bshm__shard *s, uint32_t *size_class)
{
	bool expired;
	uint32_t ref = choose(s, true, &expired);
	if (ref == 0) {
		/* Few records, or the clock has stopped. */
		bshm__quarter_end(s);
		ref = choose(s, true, &expired);
	}
	if (ref == 0) {
		ref = choose(s, false, &expired);
	}
	if (ref == 0) {
		return false;
	}
	*size_class = class_of_victim(s, ref);
	remove_victim(s, ref);
	return count_up(expired ? &s->shard->expired : &s->shard->evictions);
}

bool bshm__evict(const bshm__shard *s)
{
	uint32_t size_class;
	return evict_one(s, &size_class);
}

/* ------------------------------------------------------------------ evicting many */

/* One of the next records. */
typedef struct {
	uint32_t ref; /* 0: chosen already */
	uint32_t age;
	bool protected;
	bool expired;
} member;

static uint32_t next_group(const bshm__shard *s, member *group)
{
	bshm_shard_header *shard = s->shard;
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&shard->clock, RELAXED));
	const uint32_t now_s = bshm__store_now_s(s->segment);
	bshm__walk w = {
		BSHM_LOAD(&shard->hand_page, RELAXED), BSHM_LOAD(&shard->hand_slot, RELAXED), 0};
	w.page = w.page < s->segment->shard_pages ? w.page : 0;
	uint32_t count = 0;
	uint32_t state;
	uint32_t ref;
	while (count < BSHM_EVICT_SAMPLE && (ref = bshm__walk_next(s, &w, &state)) != 0) {
		const bool expired = bshm__walk_expired(s, ref, state, now_s);
		group[count++] = (member){ref, bshm__age(e.now, state & BSHM_SLOT_STAMP),
			(state & BSHM_SLOT_PROTECTED) != 0 && !expired, expired};
	}
	BSHM_STORE(&shard->hand_page, w.page, RELAXED);
	BSHM_STORE(&shard->hand_slot, w.slot, RELAXED);
	return count;
}

/* The record that choose() would choose of the group; NULL: none is older than the floor. */
static member *choose_of(member *group, uint32_t count, uint32_t floor_age)
{
	member *oldest[2] = {NULL, NULL}; /* on probation, and not */
	uint32_t seen = 0;
	uint32_t on_probation = 0;
	for (member *m = group; m < group + count; m++) {
		if (m->ref == 0) {
			continue;
		}
		if (m->expired) {
			return m;
		}
		seen++;
		on_probation += !m->protected;
		if (m->age > floor_age &&
			(oldest[m->protected] == NULL || m->age > oldest[m->protected]->age)) {
			oldest[m->protected] = m;
		}
	}
	const bool young = on_probation * 4 >= seen && oldest[0] != NULL;
	return young || oldest[1] == NULL ? oldest[0] : oldest[1];
}

/* Evicts up to `most` of the next 32 records: how many. Their home buckets are prefetched
 * together. */
static uint32_t evict_group(const bshm__shard *s, uint32_t most, uint32_t *size_class)
{
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&s->shard->clock, RELAXED));
	member group[BSHM_EVICT_SAMPLE];
	member gone[BSHM_EVICT_SAMPLE];
	const uint32_t count = next_group(s, group);
	uint32_t chosen = 0;
	member *m;
	while (chosen < most && (m = choose_of(group, count, bshm__age(e.now, e.floor))) != NULL) {
		gone[chosen++] = *m;
		m->ref = 0;
	}
	for (uint32_t i = 0; i < chosen; i++) {
		bshm__record_prefetch_home(s, gone[i].ref);
	}
	uint32_t done = 0;
	for (uint32_t i = 0; i < chosen; i++) {
		if ((bshm__word(s, gone[i].ref, 0) & BSHM_SLOT_LIVE) == 0) {
			continue; /* in a small store the hand may meet a record twice */
		}
		const uint32_t its_class = class_of_victim(s, gone[i].ref);
		*size_class = done++ == 0 || its_class == *size_class ? its_class : ALL_CLASSES;
		remove_victim(s, gone[i].ref);
		count_up(gone[i].expired ? &s->shard->expired : &s->shard->evictions);
	}
	return done;
}

uint32_t bshm__evict_some(const bshm__shard *s, uint32_t most, uint32_t *size_class)
{
	const uint32_t gone = most > 1 ? evict_group(s, most, size_class) : 0;
	return gone != 0 ? gone : evict_one(s, size_class);
}
