/*
 * add.c - adding keys to a published filter.
 *
 * An adder sets bits with relaxed atomic ORs. Then it reads two words of the entry, in this order:
 *
 *   builders    Is a build or clear of the filter running? A builder that publishes between the two
 *               reads is found by the second one.
 *   generation  Is it still the one whose bits were set?
 *
 * If no build is running and the generation is unchanged, the key was in the published set at that
 * moment, and a build that begins later reads the application's data later. If a build is running,
 * the adder also notes the key in the build's journal, under the lock (journal.c). If the
 * generation has moved, the bits may belong to another filter by now. Then the adder adds again,
 * unless the filter has only grown. A bit that was set for nothing costs a needless "maybe" at
 * worst.
 *
 * Where no set is published, the key is noted for the build all the same, but the call says
 * NOT_FOUND: if the build fails, or another set is published first, that set lacks the key.
 *
 * The ORs and the two loads must not pass each other: hence the full fence between them. Counters
 * are changed under the lock instead (counting.c).
 *
 * In a filter with a capacity, a place is the share of one key. An adder takes places before it
 * sets bits, and gives back what it did not need, so two adders cannot share the last place. In a
 * filter of fixed size, a call takes places for all of its keys or for none; those of other hosts
 * are added beyond the capacity, because they are in the set there. In a filter that
 * grows, it takes the places that the newest layer has left, and makes a layer for the rest
 * (add_layer.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm_origin.h"

#include "core/base.h"
#include "core/filter/add_aging.h"
#include "core/filter/add_layer.h"
#include "core/filter/growing.h"
#include "core/filter/kind.h"
#include "core/filter/lag.h"
#include "core/filter/mend.h"
#include "core/filter/partition.h"
#include "core/filter/query.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "core/segment/directory.h"
#include "core/segment/journal.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/outbox.h"
#include "core/segment/segment.h"
#include "core/status.h"
#include "platform/atomic.h"

#include <stdlib.h>
#include <string.h>

/* Keys that are counted or noted under one hold of the lock: about 20 microseconds. */
#define LOCKED_KEYS 256
/* Keys that are added to a growing filter before its room is looked at again. */
#define BATCH_KEYS 1024
/* A new layer is begun when a 64th of the newest is left: time enough to zero it. */
#define EARLY_SHARE 64

/* One call: what it adds, and how far it has come. */
typedef struct {
	bshm_segment *segment;
	bshm_views *views;
	const char *name;
	size_t name_length;
	const bshm_key *keys;
	size_t count;
	bshm_hash *absent; /* scratch: room for all keys */
	bool *fresh;       /* for each key: was it certainly new? */
	uint64_t added;
	bool placed;          /* the first `done` keys are in the set of this publication */
	uint64_t publication; /* the same after growing */
	size_t done;
	bool told;     /* other hosts, or they told this one */
	bool received; /* they did: it is never full */
	bshm_error *error;
} call;

/* ------------------------------------------------------------------ places */

static uint64_t *items_of(const call *c, const bshm_view *view)
{
	return &c->segment->entries[view->entry].items[view->descriptor.items_slot & 1];
}

/*
 * Gives places back, unless the filter was cleared since they were taken: the new count does not
 * contain them. If a clear comes between the check and the exchange, the count is too low by a few
 * places, but not below 0.
 */
static void give_back(const call *c, const bshm_view *view, uint64_t count)
{
	const uint64_t *generation = &c->segment->entries[view->entry].generation;
	uint64_t *items = items_of(c, view);
	const bool grows = view->descriptor.expansion != 0; /* it has a new generation, but one count */
	uint64_t now = BSHM_LOAD(items, RELAXED);
	/* Pairs with put_in_force(). */
	while ((grows || BSHM_LOAD(generation, ACQUIRE) == view->generation) &&
		   !BSHM_CAS(items, &now, now > count ? now - count : 0, RELAXED)) {
	}
}

static uint64_t capacity_of(const bshm_view *view)
{
	return view->descriptor.newest.items_before + view->descriptor.newest.capacity;
}

/* Takes up to `count` places; returns how many there were. */
static uint64_t take_places(const call *c, const bshm_view *view, uint64_t count)
{
	uint64_t *items = items_of(c, view);
	const uint64_t capacity = capacity_of(view);
	const uint64_t before = BSHM_ADD(items, count, RELAXED);
	const uint64_t room = before < capacity ? capacity - before : 0;
	if (room >= count) {
		return count;
	}
	give_back(c, view, count - room);
	return room;
}

/*
 * Corrects the places by what was really added. The same key twice in a call, or another adder of
 * the same key, makes fewer new; a removal of it makes more.
 */
static void settle_places(const call *c, const bshm_view *view, uint64_t places, uint64_t added)
{
	if (added < places) {
		give_back(c, view, places - added);
	} else if (added > places) {
		BSHM_ADD(items_of(c, view), added - places, RELAXED);
	}
}

/* ------------------------------------------------------------------ hashes */

static bshm_hash hash_of(const call *c, const bshm_view *view, size_t i)
{
	return bshm__hash_key(c->keys[i].bytes, c->keys[i].length, view->seed);
}

/* Marks the keys of from..to-1 that are certainly absent; returns how many there are. */
static size_t find_absent(call *c, const bshm_view *view, size_t from, size_t to)
{
	size_t absent = 0;
	for (size_t i = from; i < to; i++) {
		const bshm_hash h = hash_of(c, view, i);
		c->fresh[i] = !bshm__view_has_bits(view, h);
		if (c->fresh[i]) {
			c->absent[absent++] = h;
		}
	}
	return absent;
}

/* ------------------------------------------------------------------ by kind */

/* Adds a hash; true: it was certainly not there. The two common kinds have direct branches. */
static inline bool put_fixed(const bshm_view *view, bshm_hash h)
{
	return view->descriptor.kind == BSHM_KIND_PLAIN
			   ? bshm__partition_add(
					 bshm__parts_of(&view->newest, h), h, view->newest.hash_count, false)
			   : view->kind->put(view, &h, 1, false) != 0;
}

static inline bool put_growing(const bshm_view *view, bshm_hash h)
{
	return view->descriptor.kind == BSHM_KIND_GROWING
			   ? bshm__line_add(bshm__parts_of(&view->newest, h), h, view->newest.hash_count, false)
			   : view->kind->put(view, &h, 1, false) != 0;
}

/* Takes places for `absent` keys, whose hashes are in c->absent; returns how many, or FULL. */
static int64_t take_all_places(call *c, const bshm_view *view, uint64_t absent)
{
	uint64_t places = absent;
	uint64_t got = absent == 0 ? 0 : take_places(c, view, absent);
	if (got < places) {
		give_back(c, view, got);
		places = bshm__hashes_distinct(c->absent, absent); /* a key offered twice takes one place */
		got = take_places(c, view, places);
	}
	if (got < places && c->received) {
		BSHM_ADD(items_of(c, view), places - got, RELAXED);
		got = places;
	}
	if (got == places) {
		return (int64_t) places;
	}
	const uint64_t items = BSHM_LOAD(items_of(c, view), RELAXED) - got;
	give_back(c, view, got);
	return bshm__fail_sizes(
		c->error, BSHM_E_FULL, BSHM_CAUSE_CAPACITY, items + places, view->descriptor.capacity);
}

/* All keys, or none: FULL. */
static bshm_status add_fixed(call *c, const bshm_view *view)
{
	const size_t absent = find_absent(c, view, 0, c->count);
	const int64_t places = take_all_places(c, view, absent);
	if (places < 0) {
		return (bshm_status) places;
	}
	for (size_t i = 0; i < c->count; i++) {
		if (c->fresh[i]) {
			/* bshm__hashes_distinct() may have sorted those of many keys. */
			const bshm_hash h = c->count == 1 ? c->absent[0] : hash_of(c, view, i);
			c->fresh[i] = put_fixed(view, h);
			c->added += c->fresh[i];
		}
	}
	settle_places(c, view, (uint64_t) places, c->added);
	c->done = c->count;
	return BSHM_OK;
}

/* Adds keys done..to-1 to a counting filter, under the lock. BUSY: the filter was replaced. */
static bshm_status count_part(call *c, const bshm_view *view, size_t to)
{
	bshm_status status = bshm__lock(c->segment, BSHM_LOCK_PAGE_NS, c->error);
	if (status != BSHM_OK) {
		return status;
	}
	status = bshm__view_current(view) ? BSHM_OK : BSHM_E_BUSY;
	for (; status == BSHM_OK && c->done < to; c->done++) {
		const bshm_hash h = hash_of(c, view, c->done);
		c->fresh[c->done] = view->kind->put(view, &h, 1, false) != 0;
		c->added += c->fresh[c->done];
	}
	bshm__unlock(c->segment);
	return status;
}

/* All keys, or none: FULL. A key that is there is counted once more. */
static bshm_status add_counting(call *c, const bshm_view *view)
{
	const size_t absent = find_absent(c, view, 0, c->count);
	const int64_t places = take_all_places(c, view, absent);
	bshm_status status = places < 0 ? (bshm_status) places : BSHM_OK;
	while (status == BSHM_OK && c->done < c->count) {
		const size_t left = c->count - c->done;
		status = count_part(c, view, c->done + (left < LOCKED_KEYS ? left : LOCKED_KEYS));
	}
	if (places >= 0) {
		settle_places(c, view, (uint64_t) places, c->added);
	}
	return status;
}

/* Is this the call that filled the newest layer up to where the next one is begun? */
static bool is_time_to_grow(const call *c, const bshm_view *view, uint64_t taken)
{
	const uint64_t early = capacity_of(view) - view->descriptor.newest.capacity / EARLY_SHARE;
	const uint64_t items = BSHM_LOAD(items_of(c, view), RELAXED);
	return taken != 0 && items >= early && items - taken < early;
}

/* Adds as many keys as the newest layer has room for. FULL: the layer has no more. */
static bshm_status add_growing(call *c, const bshm_view *view)
{
	while (c->done < c->count) {
		const size_t left = c->count - c->done;
		const size_t end = c->done + (left < BATCH_KEYS ? left : BATCH_KEYS);
		const uint64_t absent = find_absent(c, view, c->done, end);
		const uint64_t places = absent == 0 ? 0 : take_places(c, view, absent);
		uint64_t used = 0;
		uint64_t added = 0;
		size_t i = c->done;
		for (; i < end && (!c->fresh[i] || used < places); i++) {
			if (c->fresh[i]) {
				c->fresh[i] = put_growing(view, c->absent[used++]);
				added += c->fresh[i];
			}
		}
		settle_places(c, view, places, added);
		c->added += added;
		c->done = i;
		if (i < end) {
			return BSHM_E_FULL;
		}
		if (is_time_to_grow(c, view, added)) {
			/* Made early, so that no adder has to wait for it. A failure is reported by the adder
			 * that needs the layer. */
			bshm_error ignored;
			bshm__filter_grow(c->segment, view, false, &ignored);
			return BSHM_OK;
		}
	}
	return BSHM_OK;
}

/* Keys that age take no places: when they expire, no process would give the places back. */
static bshm_status add_all_aging(call *c, const bshm_view *view)
{
	for (; c->done < c->count; c->done++) {
		const bshm_hash h = hash_of(c, view, c->done);
		int status = view->kind->add(view, bshm__parts_of(&view->newest, h), h);
		if (BSHM_UNLIKELY(status > BSHM_ADD_NEW)) {
			status = bshm__add_aging(c->segment, view, h, status, c->error);
		}
		if (status < 0) {
			return status;
		}
		c->fresh[c->done] = status == BSHM_ADD_NEW;
		c->added += (uint64_t) status;
	}
	return BSHM_OK;
}

/* Adds the keys that are not in the view's set yet. */
static bshm_status add_to(call *c, const bshm_view *view)
{
	if (!c->placed || c->publication != view->descriptor.publication) {
		c->placed = true;
		c->publication = view->descriptor.publication;
		c->done = 0;
		c->added = 0;
	}
	if (c->done == c->count) {
		return BSHM_OK;
	}
	if (view->kind->add != NULL) {
		return add_all_aging(c, view);
	}
	if (view->descriptor.expansion != 0) {
		return add_growing(c, view);
	}
	return bshm__counts(&view->descriptor) ? add_counting(c, view) : add_fixed(c, view);
}

/* ------------------------------------------------------------------ beside a builder */

/*
 * Notes keys in the journals of all builds of the filter. 1: they are noted, but there is no set,
 * and the build may yet fail; the error says so. BUSY: the published set is not the one that the
 * keys were added to; or there is one now, and there was none when the call looked.
 */
static int note_part(const call *c, const bshm__name *name, size_t from, size_t to)
{
	int status = bshm__lock(c->segment, BSHM_LOCK_PAGE_NS, c->error);
	if (status != BSHM_OK) {
		return status;
	}
	uint32_t index;
	bshm_descriptor descriptor;
	const bshm_status current = bshm__entry_current(c->segment, name, &index, &descriptor);
	const bool published = current == BSHM_OK;
	const bool exists = published || current == BSHM_E_BUSY; /* BUSY: being cleared */
	const bool as_before =
		published ? c->placed && descriptor.publication == c->publication
				  : !c->placed && bshm__entry_find(c->segment, name, &index) == BSHM_OK;
	status = as_before ? BSHM_OK : BSHM_E_BUSY;
	for (size_t i = from; status == BSHM_OK && i < to; i++) {
		const int noted = bshm__journal_add(c->segment, index, &c->keys[i], exists);
		if (noted == 0 && !published) {
			status = bshm__fail(c->error,
				current == BSHM_E_CORRUPT ? BSHM_E_CORRUPT : BSHM_E_NOT_FOUND, BSHM_CAUSE_FILTER);
		} else if (noted < 0 && current == BSHM_E_BUSY) {
			/* A filter that is being cleared will be published, and only the journal can keep the
			 * key until then. (A build whose journal is full is not published.) */
			const uint64_t room = (uint64_t) c->segment->chunk_count * BSHM_CHUNK_HASHES;
			status =
				bshm__fail_sizes(c->error, BSHM_E_NO_SPACE, BSHM_CAUSE_JOURNAL, room + 1, room);
		}
	}
	bshm__unlock(c->segment);
	if (status == BSHM_OK && !exists) {
		bshm__fail(
			c->error, current, current == BSHM_E_CORRUPT ? BSHM_CAUSE_FILTER : BSHM_CAUSE_JOURNAL);
		status = 1;
	}
	return status;
}

/* A part at a time, because other processes wait for the lock too. */
static bshm_status note_all(const call *c, const bshm__name *name)
{
	int status = BSHM_OK;
	for (size_t done = 0; status >= 0 && done < c->count; done += LOCKED_KEYS) {
		const size_t left = c->count - done;
		status = note_part(c, name, done, done + (left < LOCKED_KEYS ? left : LOCKED_KEYS));
	}
	return status == 1 ? c->error->status : status;
}

static bool has_builder(const call *c, const bshm__name *name)
{
	uint32_t index;
	return bshm__entry_find(c->segment, name, &index) == BSHM_OK &&
		   BSHM_LOAD(&c->segment->entries[index].builders, SEQ_CST) != 0; /* pairs with tidy() */
}

/* ------------------------------------------------------------------ one call */

/* There is no set to add to. Keys that the call added to an earlier one do not count. */
static void forget_set(call *c)
{
	c->placed = false;
	c->added = 0;
	memset(c->fresh, 0, c->count * sizeof(*c->fresh));
}

/*
 * Leaves the keys for the process that tells other hosts: also those that are there, because a
 * filter that has them by accident only may be replaced by one that has not. Before the bits are
 * set: so a builder that has registered, and then empties the outbox, has each key that was added
 * to the set before. The fence of add_published() stands between the key and the look at builders.
 */
static void tell_hosts(call *c, bshm_entry *entry)
{
	const bshm__name name = bshm__name_of(c->name, c->name_length);
	uint64_t unsent = 0;
	for (size_t i = 0; i < c->count; i++) {
		unsent += !bshm__outbox_put(c->segment, &name, &c->keys[i]);
	}
	if (unsent != 0) {
		BSHM_ADD(&entry->unsent, unsent, RELAXED);
	}
	c->told = true;
}

/*
 * Adds to the published set. BUSY: add again. 1: a build is running, and must be told of the keys.
 */
static int add_published(call *c, const bshm_view *view)
{
	bshm_entry *entry = &c->segment->entries[view->entry];
	if (BSHM_UNLIKELY((view->descriptor.source & BSHM_SOURCE_SENDS) != 0) && !c->told) {
		tell_hosts(c, entry);
	}
	bshm_status status = add_to(c, view);
	/* Pairs with the fence of bshm__op_begin(). */
	BSHM_FENCE(SEQ_CST);
	/* Read before the generation, which shows if a build has published in between. Pairs
	 * with tidy(), and the generation with put_in_force(). */
	const bool building = BSHM_LOAD(&entry->builders, SEQ_CST) != 0;
	if (BSHM_LOAD(&entry->generation, SEQ_CST) != view->generation) {
		return BSHM_E_BUSY;
	}
	if (status == BSHM_E_FULL && view->descriptor.expansion != 0) {
		status = bshm__filter_grow(c->segment, view, true, c->error);
		return status == BSHM_OK ? BSHM_E_BUSY : status;
	}
	if (status != BSHM_OK) {
		return status;
	}
	if (BSHM_UNLIKELY(view->descriptor.max_lag_s != 0) && bshm__view_stale(view)) {
		c->added = 0; /* none is certainly new */
		memset(c->fresh, 0, c->count * sizeof(*c->fresh));
	}
	return c->done < c->count ? BSHM_E_BUSY : building;
}

static bshm_status add_keys(call *c)
{
	const bshm__name padded = bshm__name_of(c->name, c->name_length);
	bool was_idle = false;
	size_t done = 0;
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		bshm_view *view = NULL;
		int status = bshm_view_open(c->segment, c->views, c->name, c->name_length, &view);
		if (status == BSHM_OK) {
			status = add_published(c, view);
			if (status == BSHM_E_BUSY) {
				tries = c->done > done ? 0 : tries; /* a long list may meet many generations */
				done = c->done;
				continue;
			}
			if (status != 1) {
				return status;
			}
		} else {
			forget_set(c);
			if (status != BSHM_E_BUSY && !has_builder(c, &padded)) {
				/* A build may have published and ended since the look-up: look once more. */
				if (was_idle) {
					return bshm__fail(c->error, status, BSHM_CAUSE_FILTER);
				}
				was_idle = true;
				continue;
			}
		}
		status = note_all(c, &padded);
		if (status != BSHM_E_BUSY) {
			return status;
		}
	}
	return bshm__fail(c->error, BSHM_E_TIMEOUT, BSHM_CAUSE_GENERATION);
}

int bshm_filter_add(bshm_segment *segment, bshm_views *views, const char *name, size_t name_length,
	const char *key, size_t key_length, bshm_error *error)
{
	if (segment->readonly) {
		return bshm__fail(error, BSHM_E_READ_ONLY, BSHM_CAUSE_READONLY);
	}
	const bshm_key one = {key, key_length};
	bshm_hash absent;
	bool fresh = false;
	call c = {
		.segment = segment,
		.views = views,
		.name = name,
		.name_length = name_length,
		.keys = &one,
		.count = 1,
		.absent = &absent,
		.fresh = &fresh,
		.error = error,
	};
	const bshm_status status = add_keys(&c);
	return status == BSHM_OK ? c.added != 0 : status;
}

static bshm_status add_list(bshm_segment *segment, bshm_views *views, const bshm_key *name,
	const bshm_key *keys, size_t count, bool received, bool *fresh, uint64_t *added,
	bshm_error *error)
{
	*added = 0;
	if (segment->readonly) {
		return bshm__fail(error, BSHM_E_READ_ONLY, BSHM_CAUSE_READONLY);
	}
	bshm_hash *absent = malloc((sizeof(*absent) + sizeof(*fresh)) * (count + 1));
	if (absent == NULL) {
		return bshm__fail_sizes(
			error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY, sizeof(*absent) * count, 0);
	}
	call c = {
		.segment = segment,
		.views = views,
		.name = name->bytes,
		.name_length = name->length,
		.keys = keys,
		.count = count,
		.absent = absent,
		.told = received,
		.received = received,
		.fresh = fresh != NULL ? fresh : (bool *) (absent + count + 1),
		.error = error,
	};
	memset(c.fresh, 0, count * sizeof(*c.fresh));
	const bshm_status status = add_keys(&c);
	*added = c.added;
	free(absent);
	return status;
}

bshm_status bshm_filter_add_many(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const bshm_key *keys, size_t count, bool *fresh, uint64_t *added,
	bshm_error *error)
{
	const bshm_key own_name = {name, name_length};
	return add_list(segment, views, &own_name, keys, count, false, fresh, added, error);
}

bshm_status bshm_filter_receive(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const bshm_key *keys, size_t count, uint64_t *added, bshm_error *error)
{
	const bshm_key own_name = {name, name_length};
	return add_list(segment, views, &own_name, keys, count, true, NULL, added, error);
}
