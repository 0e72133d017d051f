/*
 * add.c - adding keys to a published filter.
 *
 * A plain add sets bits with relaxed atomic ORs, then looks at two words of the entry: is the
 * generation still the one whose bits were set, and is nobody building the next one? If both
 * hold, the key was in the published set at that moment, and whoever starts to build later reads
 * the catalogue later. If the generation has moved, the bits may belong to anybody: the add is
 * done again (bits set in vain are a needless "maybe" at worst). If somebody is building, the add
 * is done again under the lock, and noted in the builder's journal (ops.c).
 *
 * The ORs and the two loads must not pass each other, hence the one full fence.
 *
 * A filter that never grows counts before it sets: the count is taken first and given back, so
 * two adders cannot share the last place.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/core.h"

#include <stdlib.h>

/* Keys that are noted in one go while the lock is held: about 50 microseconds. */
#define LOCKED_KEYS 1024

typedef struct {
	bshm_segment *segment;
	const bshm_view *view;
	bshm_entry *entry;
	uint64_t *items;
} target;

static target target_of(bshm_segment *segment, const bshm_view *view)
{
	bshm_entry *entry = &segment->entries[view->entry];
	return (target){segment, view, entry, &entry->items[view->generation & 1]};
}

static uint64_t *words_of(const bshm_view *view, bshm_hash h)
{
	return bshm__view_partition(view, bshm__hash_partition(h, view->partition_count));
}

/* A clear may have set the count to 0 since the places were taken: it never goes below. */
static void give_back(const target *t, uint64_t count)
{
	uint64_t items = BSHM_LOAD(t->items, RELAXED);
	while (!BSHM_CAS(t->items, &items, items > count ? items - count : 0, RELAXED)) {
	}
}

/* Takes `count` places, or none: false when the filter is full. */
static bool take_places(const target *t, uint64_t count)
{
	const uint64_t before = BSHM_ADD(t->items, count, RELAXED);
	if (t->view->expansion == 0 &&
		(before > t->view->capacity || count > t->view->capacity - before)) {
		give_back(t, count);
		return false;
	}
	return true;
}

static int by_value(const void *a, const void *b)
{
	const bshm_hash *x = a;
	const bshm_hash *y = b;
	if (x->high != y->high) {
		return x->high < y->high ? -1 : 1;
	}
	return x->low < y->low ? -1 : x->low > y->low;
}

size_t bshm__hashes_distinct(bshm_hash *hashes, size_t count)
{
	qsort(hashes, count, sizeof(*hashes), by_value);
	size_t distinct = 0;
	for (size_t i = 0; i < count; i++) {
		distinct += i == 0 || by_value(&hashes[i - 1], &hashes[i]) != 0;
	}
	return distinct;
}

/* Hashes the keys that are certainly absent into `fresh`; returns how many. */
static size_t find_absent(
	const bshm_view *view, const bshm_key *keys, size_t count, bshm_hash *fresh)
{
	size_t absent = 0;
	for (size_t i = 0; i < count; i++) {
		const bshm_hash h = bshm__hash_key(keys[i].bytes, keys[i].length, view->seed);
		if (!bshm__partition_has(words_of(view, h), h, view->hash_count)) {
			fresh[absent++] = h;
		}
	}
	return absent;
}

/* One attempt on one generation. `fresh` has room for all keys. */
static bshm_status add_to(const target *t, const bshm_key *keys, size_t count, bshm_hash *fresh,
	uint64_t *added, bshm_error *error)
{
	size_t absent = find_absent(t->view, keys, count, fresh);
	size_t places = absent;
	*added = 0;
	if (absent != 0 && !take_places(t, places)) {
		places = bshm__hashes_distinct(fresh, absent); /* a key offered twice takes one place */
		if (!take_places(t, places)) {
			return bshm__fail_sizes(error, BSHM_E_FULL, "capacity",
				BSHM_LOAD(t->items, RELAXED) + places, t->view->capacity);
		}
	}
	for (size_t i = 0; i < absent; i++) {
		*added += bshm__partition_add(words_of(t->view, fresh[i]), fresh[i], t->view->hash_count);
	}
	/* Fewer bits than keys may have been new: the same key twice, or another adder. */
	if (*added < places) {
		give_back(t, places - *added);
	}
	return BSHM_OK;
}

/*
 * With a builder at work: under the lock, into what is published (`view`, or NULL) and into the
 * journal. BUSY: what is published has changed, look again.
 */
static bshm_status add_locked(bshm_segment *segment, const bshm_view *view, const bshm__name *name,
	const bshm_key *keys, size_t count, bshm_hash *fresh, uint64_t *added, bshm_error *error)
{
	bshm_status status = bshm__lock(segment, BSHM_LOCK_PAGE_NS, error);
	if (status != BSHM_OK) {
		return status;
	}
	uint32_t index;
	bshm_descriptor descriptor;
	const bshm_status current = bshm__entry_current(segment, name, &index, &descriptor);
	const bool published = current == BSHM_OK;
	if (published != (view != NULL) || (published && !bshm_view_current(view))) {
		status = BSHM_E_BUSY;
	} else if (published) {
		const target t = target_of(segment, view);
		status = add_to(&t, keys, count, fresh, added, error);
	} else if (bshm__entry_find(segment, name, &index) != BSHM_OK) {
		status = BSHM_E_BUSY;
	}
	for (size_t i = 0; status == BSHM_OK && i < count; i++) {
		const int noted = bshm__journal_add(segment, index, &keys[i]);
		if (noted == 0 && !published) {
			status = bshm__fail(error, BSHM_E_NOT_FOUND, "filter");
		} else if (noted < 0 && current == BSHM_E_BUSY) {
			/* Being cleared: it will be published, and only the journal could keep the key. (A
			 * build whose journal is full is not published.) */
			const uint64_t room = (uint64_t) segment->chunk_count * BSHM_CHUNK_HASHES;
			status = bshm__fail_sizes(error, BSHM_E_NO_SPACE, "journal", room + 1, room);
		}
	}
	bshm__unlock(segment);
	return status;
}

static bool has_builder(const bshm_segment *segment, const bshm__name *name)
{
	uint32_t index;
	return bshm__entry_find(segment, name, &index) == BSHM_OK &&
		   BSHM_LOAD(&segment->entries[index].builders, SEQ_CST) != 0;
}

/* A list under the lock, a part at a time, for others wait for the lock too. */
static bshm_status add_in_parts(bshm_segment *segment, const bshm_view *view,
	const bshm__name *name, const bshm_key *keys, size_t count, bshm_hash *fresh, uint64_t *added,
	bshm_error *error)
{
	for (size_t done = 0; done < count;) {
		const size_t part = count - done < LOCKED_KEYS ? count - done : LOCKED_KEYS;
		uint64_t part_added = 0;
		const bshm_status status =
			add_locked(segment, view, name, keys + done, part, fresh, &part_added, error);
		if (status != BSHM_OK) {
			return status;
		}
		*added += part_added;
		done += part;
	}
	return BSHM_OK;
}

static bshm_status add_keys(bshm_segment *segment, bshm_cache *cache, const char *name,
	size_t name_length, const bshm_key *keys, size_t count, bshm_hash *fresh, uint64_t *added,
	bshm_error *error)
{
	bool was_idle = false;
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		const bshm_view *view = NULL;
		bshm_status status = bshm_view_open(segment, cache, name, name_length, &view);
		*added = 0;
		if (status == BSHM_OK) {
			const target t = target_of(segment, view);
			status = add_to(&t, keys, count, fresh, added, error);
			/* Pairs with bshm__op_begin() and bshm__entry_publish(). */
			BSHM_FENCE(SEQ_CST);
			if (BSHM_LOAD(&t.entry->generation, SEQ_CST) != view->generation) {
				continue;
			}
			if (status != BSHM_OK || BSHM_LOAD(&t.entry->builders, SEQ_CST) == 0) {
				return status;
			}
		}
		const bshm__name padded = bshm__name_of(name, name_length);
		if (status != BSHM_OK && status != BSHM_E_BUSY && !has_builder(segment, &padded)) {
			/* A builder may have published and gone since the look-up: look once more. */
			if (was_idle) {
				return bshm__fail(error, status, "filter");
			}
			was_idle = true;
			continue;
		}
		status = add_in_parts(segment, view, &padded, keys, count, fresh, added, error);
		if (status != BSHM_E_BUSY) {
			return status;
		}
	}
	return bshm__fail(error, BSHM_E_TIMEOUT, "generation");
}

int bshm_filter_add(bshm_segment *segment, bshm_cache *cache, const char *name, size_t name_length,
	const char *key, size_t key_length, bshm_error *error)
{
	if (segment->readonly) {
		return bshm__fail(error, BSHM_E_READ_ONLY, "add");
	}
	const bshm_key one = {key, key_length};
	bshm_hash fresh;
	uint64_t added = 0;
	const bshm_status status =
		add_keys(segment, cache, name, name_length, &one, 1, &fresh, &added, error);
	return status == BSHM_OK ? added != 0 : status;
}

bshm_status bshm_filter_add_many(bshm_segment *segment, bshm_cache *cache, const char *name,
	size_t name_length, const bshm_key *keys, size_t count, uint64_t *added, bshm_error *error)
{
	*added = 0;
	if (segment->readonly) {
		return bshm__fail(error, BSHM_E_READ_ONLY, "add");
	}
	bshm_hash *fresh = malloc(sizeof(*fresh) * (count + 1));
	if (fresh == NULL) {
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, "memory", sizeof(*fresh) * count, 0);
	}
	const bshm_status status =
		add_keys(segment, cache, name, name_length, keys, count, fresh, added, error);
	free(fresh);
	return status;
}
