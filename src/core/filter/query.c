/*
 * query.c - the question: is this key (maybe) in that filter?
 *
 * A thread keeps views of the filters that it has asked about: copies of their descriptors, found
 * again by the bytes of the name. A view may be used as long as the entry's generation is the same.
 * That one shared word is all that a question reads besides the bits.
 *
 * "Maybe" is always a permitted answer, whatever filter the bits belong to by now. "No" is given
 * only if the generation is the same before and after the bits were read: partitions are zeroed, or
 * given to another filter, only after the generation has moved (directory.c). So a reader need not
 * keep the partitions from being reused. A process that is stopped for an hour between the two
 * reads finds the generation moved, and asks again.
 *
 * Not here: adding (add.c), which hash bits pick what (hash.h).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/query.h"

#include "core/base.h"
#include "core/filter/geometry.h"
#include "core/filter/growing.h"
#include "core/filter/kind.h"
#include "core/filter/lag.h"
#include "core/filter/lay.h"
#include "core/filter/partition.h"
#include "core/filter/usage.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "core/segment/directory.h"
#include "core/segment/name.h"
#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

#define VIEW_COUNT 256 /* a power of two */
#define VIEW_WAYS  4u  /* a power of two */
#define HINT_COUNT 64

/*
 * The views of a thread, four-way associative by the bytes of the name. A hint finds a view sooner:
 * a caller mostly passes a name at the same address again, and the address is known before the
 * bytes are read. The view that a hint finds is still compared with the name.
 */
struct bshm_views {
	bshm_view *hints[HINT_COUNT];
	bool begun[VIEW_COUNT / VIEW_WAYS]; /* the ways of an index: may they be read? */
	uint32_t replaced;                  /* views that made room for others */
	uint32_t forks; /* as `forks`; fewer: a copy of views of a thread that is not in this process */
	bshm_views *next; /* of the same thread */
	bshm_view all[VIEW_COUNT];
};

static BSHM_THREAD_LOCAL bshm_views *views_of_thread;
static uint32_t forks; /* from the first process to this one */

/* The child of a fork has a copy of the views: what is in them would be counted twice. */
static void before_fork(void)
{
	for (bshm_views *views = views_of_thread; views != NULL; views = views->next) {
		bshm_views_hand_in(views);
	}
}

/* The other threads do not exist here. Their views may be half written. */
static void in_child(void)
{
	forks++;
	for (bshm_views *views = views_of_thread; views != NULL; views = views->next) {
		views->forks = forks;
	}
}

/* Most processes ask about a few filters. The views of others are not written: their 25 pages of
 * memory would take most of the time of a process's first question. */
static void begin_ways(bshm_views *views, uint32_t index)
{
	bool *begun = &views->begun[index / VIEW_WAYS];
	if (!*begun) {
		memset(&views->all[index / VIEW_WAYS * VIEW_WAYS], 0, VIEW_WAYS * sizeof(bshm_view));
		*begun = true;
	}
}

bshm_views *bshm_views_new(void)
{
	static uint32_t registered;
	uint32_t first = 0;
	if (BSHM_CAS(&registered, &first, 1, RELAXED)) {
		bshm_os_at_fork(before_fork, NULL, in_child);
	}
	bshm_views *views = malloc(sizeof(bshm_views));
	if (views == NULL) {
		return NULL;
	}
	memset(views, 0, offsetof(bshm_views, all));
	begin_ways(views, 0);
	for (size_t i = 0; i < HINT_COUNT; i++) {
		views->hints[i] = &views->all[0]; /* empty: it has no name */
	}
	views->forks = forks;
	views->next = views_of_thread;
	views_of_thread = views;
	return views;
}

void bshm_views_hand_in(bshm_views *views)
{
	for (size_t i = 0; i < VIEW_COUNT; i++) {
		if (views->begun[i / VIEW_WAYS]) {
			bshm__usage_hand_in(&views->all[i]);
		}
	}
}

void bshm_views_free(bshm_views *views)
{
	if (views == NULL || views->forks != forks) {
		return;
	}
	bshm_views_hand_in(views);
	bshm_views **at = &views_of_thread;
	while (*at != NULL && *at != views) {
		at = &(*at)->next;
	}
	if (*at != NULL) {
		*at = views->next;
	}
	for (size_t i = 0; i < VIEW_COUNT; i++) {
		if (views->begun[i / VIEW_WAYS]) {
			bshm__view_release(&views->all[i]);
		}
	}
	free(views);
}

/* ------------------------------------------------------------------ names to views */

static inline uint64_t load_bytes(const char *from, size_t count)
{
	uint64_t word = 0;
	memcpy(&word, from, count);
	return word;
}

/* One of the four indexes where the view of a name may be; the others are this ^ 1, 2, 3. */
static inline uint32_t index_of(const char *name, size_t length)
{
	const uint64_t spread = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t word = length;
	if (length >= 8) {
		for (size_t i = 0; i + 8 < length; i += 8) {
			word = (word ^ load_bytes(name + i, 8)) * spread;
			word ^= word >> 32;
		}
		word ^= load_bytes(name + length - 8, 8);
	} else if (length >= 4) {
		word ^= load_bytes(name, 4) << 32 ^ load_bytes(name + length - 4, 4) << 3;
	} else {
		word ^= (uint64_t) (uint8_t) name[0] << 32 | (uint64_t) (uint8_t) name[length / 2] << 16 |
				(uint64_t) (uint8_t) name[length - 1] << 8;
	}
	return (uint32_t) ((word * spread) >> 56) % VIEW_COUNT;
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

static inline bool in_force(const bshm_view *view)
{
	/* Pairs with put_in_force(). */
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
		/* Pairs with put_in_force(). */
		const uint64_t generation = BSHM_LOAD(&entry->generation, ACQUIRE);
		/* A name changes only while its entry's generation is an absent one. So a name read between
		 * two equal generations is the name that this generation was published for. */
		const bool named = bshm__entry_named(entry, name);
		*descriptor = bshm__descriptor_read(entry, generation);
		BSHM_FENCE(ACQUIRE); /* pairs with the first fence of put_in_force() */
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

/*
 * Room for the view of a name: its old view, an unused one, or that of another name, in rotation.
 */
static bshm_view *room_for(bshm_views *views, const char *name, size_t length)
{
	const uint32_t index = index_of(name, length);
	bshm_view *unused = NULL;
	begin_ways(views, index);
	for (uint32_t way = 0; way < VIEW_WAYS; way++) {
		bshm_view *view = &views->all[index ^ way];
		if (view->generation_word == NULL) {
			unused = unused == NULL ? view : unused;
		} else if (same_name(view, name, length)) {
			return view;
		}
	}
	return unused != NULL ? unused : &views->all[index ^ (views->replaced++ % VIEW_WAYS)];
}

/* The slow path: walk the directory, check the descriptor, and lay a view over it. */
static BSHM_NOINLINE bshm_status resolve(const bshm_segment *segment, bshm_views *views,
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
	bshm_view *view = room_for(views, name, length);
	bshm__usage_hand_in(view);
	bshm__view_release(view);
	bshm_layer layers[BSHM_LAYERS_MAX];
	status = bshm__layers_read(segment, &descriptor, layers)
				 ? bshm__view_lay(segment, view, &descriptor, layers)
				 : BSHM_E_CORRUPT;
	if (status != BSHM_OK) {
		/*
		 * If the filter was replaced meanwhile, layers and links may belong to another: no damage.
		 */
		const uint64_t *word = &segment->entries[index].generation;
		BSHM_FENCE(ACQUIRE); /* pairs with bshm__layers_store() */
		return BSHM_LOAD(word, RELAXED) == descriptor.generation ? status : BSHM_E_BUSY;
	}
	view->generation_word = &segment->entries[index].generation;
	view->entry = index;
	view->name = padded;
	*out = view;
	return BSHM_OK;
}

/* The view at `index`, if it is the name's and its generation is in force; else NULL. */
static inline bshm_view *view_at(bshm_views *views, uint32_t index, const char *name, size_t length)
{
	bshm_view *view = &views->all[index];
	return BSHM_LIKELY(same_name(view, name, length)) && BSHM_LIKELY(in_force(view)) ? view : NULL;
}

static bshm_status view_of(const bshm_segment *segment, bshm_views *views, const char *name,
	size_t length, bshm_view **out)
{
	if (BSHM_LIKELY(length != 0)) {
		const uint32_t index = index_of(name, length);
		const uint32_t ways = views->begun[index / VIEW_WAYS] ? VIEW_WAYS : 0;
		for (uint32_t way = 0; way < ways; way++) {
			*out = view_at(views, index ^ way, name, length);
			if (BSHM_LIKELY(*out != NULL)) {
				return BSHM_OK;
			}
		}
	}
	return resolve(segment, views, name, length, out);
}

bshm_status bshm_view_open(
	bshm_segment *segment, bshm_views *views, const char *name, size_t name_length, bshm_view **out)
{
	*out = NULL;
	return view_of(segment, views, name, name_length, out);
}

/* ------------------------------------------------------------------ questions */

/* `bits`: what they say, even if the filter is stale. */
static BSHM_ALWAYS_INLINE bool has_at(
	const bshm_view *view, const uint64_t *words, bshm_hash h, bool bits)
{
	if (BSHM_LIKELY(view->path == BSHM_PATH_GROWING_SIX)) { /* what a load makes by default */
		return bshm__line_has_six(words, h);
	}
	if (BSHM_LIKELY(view->path == BSHM_PATH_PLAIN_SIX)) {
		return bshm__partition_has_six(words, h);
	}
	return bits ? view->kind->has(view, words, h) : view->has(view, words, h);
}

bool bshm__view_has_bits(const bshm_view *view, bshm_hash h)
{
	return has_at(view, bshm__parts_of(&view->newest, h), h, true);
}

static BSHM_ALWAYS_INLINE bool view_has(const bshm_view *view, const char *key, size_t key_length)
{
	const bshm_hash h = bshm__hash_key(key, key_length, view->seed);
	return has_at(view, bshm__parts_of(&view->newest, h), h, false);
}

static inline bshm_view **hint_of(bshm_views *views, const char *name)
{
	return &views->hints[(uintptr_t) name / 16 % HINT_COUNT];
}

/* Asks without a hint: no hint led to the filter, or the filter was replaced. */
static BSHM_NOINLINE int ask_again(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const char *key, size_t key_length)
{
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		bshm_view *view;
		const bshm_status status = view_of(segment, views, name, name_length, &view);
		if (BSHM_UNLIKELY(status != BSHM_OK)) {
			return status;
		}
		*hint_of(views, name) = view;
		const bool maybe = view_has(view, key, key_length);
		if (maybe || BSHM_LIKELY(bshm__view_current(view))) {
			bshm__usage_count(view, 1, maybe);
			return maybe;
		}
	}
	return BSHM_E_BUSY;
}

/* `flatten` inlines the hash: for a short key, the call is most of its cost. */
BSHM_FLATTEN int bshm_filter_has(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const char *key, size_t key_length)
{
	bshm_view *view = *hint_of(views, name);
	if (BSHM_LIKELY(name_length != 0) && BSHM_LIKELY(same_name(view, name, name_length)) &&
		BSHM_LIKELY(in_force(view))) {
		const bool maybe = view_has(view, key, key_length);
		if (maybe || BSHM_LIKELY(bshm__view_current(view))) {
			bshm__usage_count(view, 1, maybe);
			return maybe;
		}
	}
	return ask_again(segment, views, name, name_length, key, key_length);
}

/* A filter that fits into the second-level cache gains nothing from a prefetch. */
#define PREFETCH_PARTITIONS 64

static BSHM_FLATTEN void ask_near(
	const bshm_view *view, const bshm_key *keys, unsigned count, bool *answers)
{
	for (unsigned i = 0; i < count; i++) {
		answers[i] = view_has(view, keys[i].bytes, keys[i].length);
	}
}

static void prefetch(const bshm_view *view, const uint64_t *newest, bshm_hash h)
{
	if (view->descriptor.kind != BSHM_KIND_GROWING) { /* a hint only: right for any kind */
		bshm__partition_prefetch(newest, h, view->newest.hash_count);
		return;
	}
	const uint32_t line = bshm__hash_line(h, BSHM_LINE_PROBES).word[0];
	BSHM_PREFETCH(&newest[line]);
	for (uint32_t i = 0; i < view->older_count; i++) {
		BSHM_PREFETCH(&bshm__parts_of(&view->older[i], h)[line]);
	}
}

static BSHM_FLATTEN void ask_far(
	const bshm_view *view, const bshm_key *keys, unsigned count, bool *answers)
{
	bshm_hash hashes[BSHM_BATCH];
	const uint64_t *words[BSHM_BATCH];
	for (unsigned i = 0; i < count; i++) {
		hashes[i] = bshm__hash_key(keys[i].bytes, keys[i].length, view->seed);
		words[i] = bshm__parts_of(&view->newest, hashes[i]);
		prefetch(view, words[i], hashes[i]);
	}
	for (unsigned i = 0; i < count; i++) {
		answers[i] = has_at(view, words[i], hashes[i], false);
	}
}

void bshm_view_has(const bshm_view *view, const bshm_key *keys, unsigned count, bool *answers)
{
	if (view->newest.partition_count <= PREFETCH_PARTITIONS) {
		ask_near(view, keys, count, answers);
	} else {
		ask_far(view, keys, count, answers);
	}
}

void bshm_view_answered(bshm_view *view, uint64_t questions, uint64_t maybes)
{
	bshm__usage_count(view, questions, maybes);
}

bool bshm_view_current(const bshm_view *view)
{
	return bshm__view_current(view);
}

bshm_set bshm_view_set(const bshm_view *view)
{
	return (bshm_set){view->descriptor.publication};
}

int bshm_filter_ready(
	bshm_segment *segment, bshm_views *views, const char *name, size_t name_length)
{
	bshm_view *view;
	return view_of(segment, views, name, name_length, &view) == BSHM_OK;
}

bshm_status bshm_filter_estimate(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, uint32_t partitions, bshm_info *out)
{
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		bshm_view *view;
		const bshm_status status = view_of(segment, views, name, name_length, &view);
		if (status != BSHM_OK) {
			return status;
		}
		const bshm_entry *entry = &segment->entries[view->entry];
		bshm__usage_hand_in(view);
		const uint64_t items = BSHM_LOAD(&entry->items[view->descriptor.items_slot & 1], RELAXED);
		bshm_layer layers[BSHM_LAYERS_MAX];
		const bool read = bshm__layers_read(segment, &view->descriptor, layers);
		if (!bshm__view_current(view)) {
			continue;
		}
		if (!read) {
			return BSHM_E_CORRUPT;
		}
		*out = bshm__info_of(view, layers, items, partitions);
		out->false_positives =
			BSHM_LOAD(&entry->false_positives[view->descriptor.items_slot & 1], RELAXED);
		out->usage = bshm__usage_of(entry, &view->descriptor);
		bshm__lag_describe(view, out);
		if (bshm__view_current(view)) {
			return BSHM_OK;
		}
	}
	return BSHM_E_BUSY;
}

bshm_status bshm_filter_info(
	bshm_segment *segment, bshm_views *views, const char *name, size_t name_length, bshm_info *out)
{
	return bshm_filter_estimate(segment, views, name, name_length, UINT32_MAX, out);
}

void bshm_filter_fetched(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const bshm_set *set, bshm_fetched outcome, uint64_t count)
{
	bshm_view *view;
	if (segment->readonly || view_of(segment, views, name, name_length, &view) != BSHM_OK ||
		bshm_view_set(view).publication != set->publication) {
		return;
	}
	view->usage.fetches += count;
	view->usage.denied += outcome == BSHM_FETCHED_DENIED ? count : 0;
	view->usage.found += outcome == BSHM_FETCHED_STORED ? count : 0;
	view->usage.loaded += outcome == BSHM_FETCHED_LOADED ? count : 0;
	if (outcome == BSHM_FETCHED_NOTHING) {
		bshm_entry *entry = &segment->entries[view->entry];
		BSHM_ADD(&entry->false_positives[view->descriptor.items_slot & 1], count, RELAXED);
	}
}
