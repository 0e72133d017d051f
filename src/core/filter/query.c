/*
 * query.c - the question: is this key (maybe) in that filter?
 *
 * A thread keeps the filters it has asked about in a small cache of views: copies of their
 * descriptors, found again by the name's bytes. A view is good for as long as the entry's
 * generation stands, and that one shared word is all a question reads besides the bits.
 *
 * "Maybe" may be said at once, whatever the bits belonged to. "No" is said only if the
 * generation is the same after the bits were read as before: partitions are zeroed or given to
 * another filter only after it has moved (directory.c). So nothing needs to be pinned, and a
 * worker that was stopped for an hour between the two reads asks again.
 *
 * Not here: adding (add.c), which hash bits pick what (hash.h).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/core.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_VIEWS 256 /* a power of two */
#define CACHE_HINTS 64

/*
 * A view has two places, told by its name's bytes. The hints lead to it sooner: a caller mostly
 * passes the name at the same address again, and the address is known before its bytes are read.
 * A hint is no more than that: what it leads to is compared with the name's bytes.
 */
struct bshm_cache {
	bshm_view *hints[CACHE_HINTS];
	bshm_view views[CACHE_VIEWS];
};

bshm_cache *bshm_cache_new(void)
{
	bshm_cache *cache = calloc(1, sizeof(bshm_cache));
	for (size_t i = 0; cache != NULL && i < CACHE_HINTS; i++) {
		cache->hints[i] = &cache->views[0]; /* empty: no name equals it */
	}
	return cache;
}

void bshm_cache_free(bshm_cache *cache)
{
	if (cache == NULL) {
		return;
	}
	for (size_t i = 0; i < CACHE_VIEWS; i++) {
		bshm__view_release(&cache->views[i]);
	}
	free(cache);
}

/* ------------------------------------------------------------------ views */

bshm_status bshm__view_lay(
	const bshm_segment *segment, bshm_view *view, const bshm_descriptor *descriptor)
{
	const bshm_run *run = &descriptor->run;
	uint32_t *map = NULL;
	if (!bshm__run_in_bounds(segment, run)) {
		return BSHM_E_CORRUPT;
	}
	if (run->check != 0) {
		map = malloc(sizeof(*map) * run->count);
		if (map == NULL) {
			return BSHM_E_NO_SPACE;
		}
		if (!bshm__run_walk(segment, run, map, NULL)) {
			free(map);
			return BSHM_E_CORRUPT;
		}
	}
	const size_t first = map == NULL ? run->first : 0;
	view->partitions = segment->partitions + first * BSHM_PARTITION_BYTES;
	view->map = map;
	view->partition_count = run->count;
	view->hash_count = descriptor->hash_count;
	view->seed = descriptor->seed;
	view->generation = descriptor->generation;
	view->expansion = descriptor->expansion;
	view->capacity = descriptor->capacity;
	return BSHM_OK;
}

void bshm__view_release(bshm_view *view)
{
	free(view->map);
	*view = (bshm_view){0};
}

static inline uint64_t load_bytes(const char *from, size_t count)
{
	uint64_t word = 0;
	memcpy(&word, from, count);
	return word;
}

/* Two places in the cache where a name may be (the second: place ^ 1), from a few of its bytes. */
static inline uint32_t place_of(const char *name, size_t length)
{
	uint64_t word;
	if (length >= 8) {
		word = load_bytes(name, 8) + load_bytes(name + length - 8, 8) * 31;
	} else {
		word = (uint64_t) (uint8_t) name[0] << 16 | (uint64_t) (uint8_t) name[length / 2] << 8 |
			   (uint8_t) name[length - 1];
	}
	return (uint32_t) (((word + length) * UINT64_C(0x9e3779b97f4a7c15)) >> 56) % CACHE_VIEWS;
}

static inline bool same_name(const bshm_view *view, const char *name, size_t length)
{
	const char *own = (const char *) view->name.bytes + 1;
	if (view->name.bytes[0] != length) {
		return false;
	}
	if (length >= 8) {
		for (size_t i = 0; i + 8 < length; i += 8) {
			if (load_bytes(own + i, 8) != load_bytes(name + i, 8)) {
				return false;
			}
		}
		return load_bytes(own + length - 8, 8) == load_bytes(name + length - 8, 8);
	}
	if (length >= 4) {
		return load_bytes(own, 4) == load_bytes(name, 4) &&
			   load_bytes(own + length - 4, 4) == load_bytes(name + length - 4, 4);
	}
	return own[0] == name[0] && own[length / 2] == name[length / 2] &&
		   own[length - 1] == name[length - 1];
}

bool bshm_view_current(const bshm_view *view)
{
	/* Pairs with bshm__entry_publish(): bits that were changed after the generation moved are
	 * not seen without seeing that it moved. */
	BSHM_FENCE(ACQUIRE);
	return BSHM_LOAD(view->generation_word, RELAXED) == view->generation;
}

static inline bool stands(const bshm_view *view)
{
	return BSHM_LOAD(view->generation_word, ACQUIRE) == view->generation;
}

static bshm_status look(const bshm_segment *segment, const bshm__name *name, uint32_t *index,
	bshm_descriptor *descriptor)
{
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		const bshm_status status = bshm__entry_find(segment, name, index);
		if (status != BSHM_OK) {
			return status;
		}
		const bshm_entry *entry = &segment->entries[*index];
		const uint64_t generation = BSHM_LOAD(&entry->generation, ACQUIRE);
		/* A name changes only while its entry's generation is an absent one, so the name seen
		 * between two equal generations is the name that this generation was published for. */
		const bool named = bshm__entry_named(entry, name);
		*descriptor = bshm__descriptor_read(entry, generation);
		BSHM_FENCE(ACQUIRE);
		if (!named || BSHM_LOAD(&entry->generation, RELAXED) != generation) {
			continue;
		}
		if (generation == 0) {
			return BSHM_E_NOT_FOUND;
		}
		if (!bshm__descriptor_sound(segment, name, descriptor, generation)) {
			return BSHM_E_CORRUPT;
		}
		return descriptor->state == BSHM_STATE_LIVE     ? BSHM_OK
			   : descriptor->state == BSHM_STATE_ABSENT ? BSHM_E_NOT_FOUND
														: BSHM_E_BUSY;
	}
	return BSHM_E_BUSY;
}

/* The long way: walk the directory, check the descriptor, and keep what it says. */
static __attribute__((noinline)) bshm_status resolve(const bshm_segment *segment, bshm_cache *cache,
	const char *name, size_t length, bshm_view **out)
{
	if (length < 1 || length > BSHM_NAME_MAX) {
		return BSHM_E_RANGE;
	}
	const bshm__name padded = bshm__name_of(name, length);
	uint32_t index;
	bshm_descriptor descriptor;
	bshm_status status = look(segment, &padded, &index, &descriptor);
	if (status != BSHM_OK) {
		return status;
	}
	const uint32_t place = place_of(name, length);
	bshm_view *view = &cache->views[place];
	if (view->generation_word != NULL && !same_name(view, name, length)) {
		view = &cache->views[place ^ 1];
	}
	bshm__view_release(view);
	status = bshm__view_lay(segment, view, &descriptor);
	if (status != BSHM_OK) {
		/* Replaced while its links were walked, they may be another's by now: not damage. */
		const uint64_t *word = &segment->entries[index].generation;
		return BSHM_LOAD(word, ACQUIRE) == descriptor.generation ? status : BSHM_E_BUSY;
	}
	view->generation_word = &segment->entries[index].generation;
	view->entry = index;
	view->name = padded;
	*out = view;
	return BSHM_OK;
}

/* The view at `place` of the cache, if it is the name's and still stands; else NULL. */
static inline bshm_view *cached(bshm_cache *cache, uint32_t place, const char *name, size_t length)
{
	bshm_view *view = &cache->views[place];
	return BSHM_LIKELY(same_name(view, name, length)) && BSHM_LIKELY(stands(view)) ? view : NULL;
}

static bshm_status view_of(const bshm_segment *segment, bshm_cache *cache, const char *name,
	size_t length, bshm_view **out)
{
	if (BSHM_LIKELY(length != 0)) {
		const uint32_t place = place_of(name, length);
		for (uint32_t way = 0; way < 2; way++) {
			*out = cached(cache, place ^ way, name, length);
			if (BSHM_LIKELY(*out != NULL)) {
				return BSHM_OK;
			}
		}
	}
	return resolve(segment, cache, name, length, out);
}

bshm_status bshm_view_open(bshm_segment *segment, bshm_cache *cache, const char *name,
	size_t name_length, const bshm_view **out)
{
	bshm_view *view = NULL;
	const bshm_status status = view_of(segment, cache, name, name_length, &view);
	*out = view;
	return status;
}

/* ------------------------------------------------------------------ questions */

static inline __attribute__((always_inline)) bool view_has(
	const bshm_view *view, const char *key, size_t key_length)
{
	const bshm_hash h = bshm__hash_key(key, key_length, view->seed);
	const uint32_t partition = bshm__hash_partition(h, view->partition_count);
	return bshm__partition_has(bshm__view_partition(view, partition), h, view->hash_count);
}

static inline bshm_view **hint_of(bshm_cache *cache, const char *name)
{
	return &cache->hints[(uintptr_t) name / 16 % CACHE_HINTS];
}

/* What is left when there was no hint to the filter, or it was replaced. */
static __attribute__((noinline)) int ask_again(bshm_segment *segment, bshm_cache *cache,
	const char *name, size_t name_length, const char *key, size_t key_length)
{
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		bshm_view *view;
		const bshm_status status = view_of(segment, cache, name, name_length, &view);
		if (BSHM_UNLIKELY(status != BSHM_OK)) {
			return status;
		}
		*hint_of(cache, name) = view;
		if (view_has(view, key, key_length)) {
			return 1;
		}
		if (BSHM_LIKELY(bshm_view_current(view))) {
			return 0;
		}
	}
	return BSHM_E_BUSY;
}

/* `flatten` inlines the hash, whose cost for a short key is mostly its own call. */
__attribute__((flatten)) int bshm_filter_has(bshm_segment *segment, bshm_cache *cache,
	const char *name, size_t name_length, const char *key, size_t key_length)
{
	const bshm_view *view = *hint_of(cache, name);
	if (BSHM_LIKELY(name_length != 0) && BSHM_LIKELY(same_name(view, name, name_length)) &&
		BSHM_LIKELY(stands(view))) {
		const bool maybe = view_has(view, key, key_length);
		if (maybe || BSHM_LIKELY(bshm_view_current(view))) {
			return maybe;
		}
	}
	return ask_again(segment, cache, name, name_length, key, key_length);
}

/* A filter that fits the second-level cache gains nothing from asking for its memory ahead. */
#define PREFETCH_PARTITIONS 64

static __attribute__((flatten)) void ask_near(
	const bshm_view *view, const bshm_key *keys, unsigned count, bool *answers)
{
	for (unsigned i = 0; i < count; i++) {
		answers[i] = view_has(view, keys[i].bytes, keys[i].length);
	}
}

static __attribute__((flatten)) void ask_far(
	const bshm_view *view, const bshm_key *keys, unsigned count, bool *answers)
{
	bshm_hash hashes[BSHM_BATCH];
	const uint64_t *words[BSHM_BATCH];
	for (unsigned i = 0; i < count; i++) {
		hashes[i] = bshm__hash_key(keys[i].bytes, keys[i].length, view->seed);
		words[i] =
			bshm__view_partition(view, bshm__hash_partition(hashes[i], view->partition_count));
		bshm__partition_prefetch(words[i], hashes[i], view->hash_count);
	}
	for (unsigned i = 0; i < count; i++) {
		answers[i] = bshm__partition_has(words[i], hashes[i], view->hash_count);
	}
}

void bshm_view_has(const bshm_view *view, const bshm_key *keys, unsigned count, bool *answers)
{
	if (view->partition_count <= PREFETCH_PARTITIONS) {
		ask_near(view, keys, count, answers);
	} else {
		ask_far(view, keys, count, answers);
	}
}

int bshm_filter_ready(
	bshm_segment *segment, bshm_cache *cache, const char *name, size_t name_length)
{
	bshm_view *view;
	return view_of(segment, cache, name, name_length, &view) == BSHM_OK;
}

bshm_status bshm_filter_info(
	bshm_segment *segment, bshm_cache *cache, const char *name, size_t name_length, bshm_info *out)
{
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		bshm_view *view;
		const bshm_status status = view_of(segment, cache, name, name_length, &view);
		if (status != BSHM_OK) {
			return status;
		}
		const bshm_entry *entry = &segment->entries[view->entry];
		const bshm_descriptor descriptor = bshm__descriptor_read(entry, view->generation);
		const uint64_t items = BSHM_LOAD(&entry->items[view->generation & 1], RELAXED);
		if (!bshm_view_current(view)) {
			continue;
		}
		*out = bshm__info_of(view, &descriptor, items);
		if (bshm_view_current(view)) {
			return BSHM_OK;
		}
	}
	return BSHM_E_BUSY;
}
