/*
 * merge.c - copies and unions of published filters.
 *
 * Both are builds (build.c) whose bits come from other filters; a copy is the union of one. The op
 * is registered before the first bit is read, so keys that are added to the target meanwhile are in
 * the journal.
 *
 * A union is published only if every set that was read is still published under its name. The
 * target is one of these sets. So what another process publishes meanwhile either is in the union,
 * or comes after it. If a set was replaced, the union is made again.
 *
 * Filters can be united if a key has the same positions in both: same kind, same seed, and layers
 * of the same sizes and numbers of probes. Of two filters that have grown, one may have layers that
 * the other lacks.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include "core/filter/build.h"
#include "core/filter/geometry.h"
#include "core/filter/kind.h"
#include "core/filter/mend.h"
#include "core/filter/view.h"
#include "core/segment/directory.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRY_NAP_US 200 /* between attempts to unite, after the first 16 */

typedef struct {
	bshm_segment *segment;
	bshm_views *views;
	const bshm_key *sources;
	size_t count;
	bshm__name target;
	bool with_target; /* a filter that the target's name already has is a source too */
	uint64_t *sets;   /* the publication number of each source; 0 = the target does not exist */
	uint64_t deadline;
	bshm_error *error;
} task;

static bshm__name source_name(const task *t, size_t i)
{
	return i < t->count ? bshm__name_of(t->sources[i].bytes, t->sources[i].length) : t->target;
}

/* How many sources there are, with the target if it is one. */
static size_t source_count(const task *t)
{
	return t->with_target ? t->count + 1 : t->count;
}

/* The name of source i; number `count` is the target. */
static bshm_key source(const task *t, size_t i)
{
	return i < t->count ? t->sources[i]
						: (bshm_key){(const char *) t->target.bytes + 1, t->target.bytes[0]};
}

static bool is_repeated(const task *t, size_t i)
{
	const bshm_key own = source(t, i);
	for (size_t other = i + 1; other < source_count(t); other++) {
		const bshm_key key = source(t, other);
		if (key.length == own.length && memcmp(key.bytes, own.bytes, own.length) == 0) {
			return true;
		}
	}
	return false;
}

/* Fails because of source i. */
static bshm_status fail(const task *t, bshm_status status, bshm_cause cause, size_t i)
{
	bshm__fail(t->error, status, cause);
	t->error->source = i < t->count ? (uint32_t) i + 1 : 0;
	return status;
}

/*
 * The view and layers of source i. OK with *view = NULL: the target does not exist yet, which is no
 * failure. BUSY: look again. Another source that does not exist is a failure: NOT_FOUND.
 */
static bshm_status open_source(const task *t, size_t i, bshm_view **view, bshm_layer *layers)
{
	const bshm_key key = source(t, i);
	bshm_status status = bshm_view_open(t->segment, t->views, key.bytes, key.length, view);
	if (status == BSHM_E_NOT_FOUND && i == t->count) {
		*view = NULL;
		return BSHM_OK;
	}
	if (status == BSHM_OK && !bshm__layers_read(t->segment, &(*view)->descriptor, layers)) {
		status = bshm__view_current(*view) ? BSHM_E_CORRUPT : BSHM_E_BUSY;
	}
	return status == BSHM_OK || status == BSHM_E_BUSY ? status
													  : fail(t, status, BSHM_CAUSE_FROM, i);
}

/* What keeps a source out of the union, or NONE. */
static bshm_cause difference(
	const bshm_build *build, const bshm_descriptor *d, const bshm_layer *layers)
{
	if (d->kind != build->descriptor.kind) {
		return BSHM_CAUSE_KIND;
	}
	if (d->window_s != build->descriptor.window_s) {
		return BSHM_CAUSE_WINDOW;
	}
	for (uint32_t i = 0; i < d->layer_count && i < build->descriptor.layer_count; i++) {
		if (layers[i].run.count != build->layers[i].run.count ||
			layers[i].hash_count != build->layers[i].hash_count) {
			return BSHM_CAUSE_GEOMETRY;
		}
	}
	return d->seed != build->descriptor.seed ? BSHM_CAUSE_SEED : BSHM_CAUSE_NONE;
}

/* Describes the union by the source with the most layers. INCOMPATIBLE: another does not fit. */
static bshm_status describe(const task *t, bshm_build *build)
{
	const size_t end = source_count(t);
	bshm_view *view;
	build->descriptor.layer_count = 0;
	bshm_layer layers[BSHM_LAYERS_MAX];
	for (size_t i = 0; i < end; i++) {
		const bshm_status status = open_source(t, i, &view, layers);
		if (status != BSHM_OK) {
			return status;
		}
		t->sets[i] = view == NULL ? 0 : view->descriptor.publication;
		/* Among equals the target comes first, so that it keeps its capacity and rate. */
		const uint32_t most = build->descriptor.layer_count;
		if (view != NULL && (view->descriptor.layer_count > most ||
								(i == t->count && view->descriptor.layer_count == most))) {
			build->descriptor = view->descriptor;
			build->descriptor.epoch_base = 0; /* its partitions are new */
			bshm__descriptor_localize(&build->descriptor);
			memcpy(build->layers, layers, sizeof(layers));
		}
	}
	for (size_t i = 0; end > 1 && i < end; i++) {
		const bshm_status status = open_source(t, i, &view, layers);
		if (status != BSHM_OK) {
			return status;
		}
		const bshm_cause cause =
			view == NULL ? BSHM_CAUSE_NONE : difference(build, &view->descriptor, layers);
		if (cause != BSHM_CAUSE_NONE) {
			return fail(t, BSHM_E_INCOMPATIBLE, cause, i);
		}
	}
	return BSHM_OK;
}

static void merge_layer(const bshm_build *build, const bshm_view *view, uint32_t layer)
{
	const bshm__parts *from = bshm__view_layer(view, layer);
	const bshm__parts *to = bshm__view_layer(&build->view, layer);
	for (uint32_t i = 0; i < from->partition_count; i++) {
		view->kind->merge(&build->view, bshm__parts_at(to, i), view, bshm__parts_at(from, i));
	}
}

/* Adds the keys of source i to the union. BUSY: the source was replaced, or has grown. */
static bshm_status merge_source(
	const task *t, bshm_build *build, size_t i, uint64_t *most, uint64_t *sum)
{
	bshm_view *view;
	bshm_layer layers[BSHM_LAYERS_MAX];
	const bshm_status status = open_source(t, i, &view, layers);
	if (status != BSHM_OK) {
		return status;
	}
	if (t->sets[i] != (view == NULL ? 0 : view->descriptor.publication)) {
		return BSHM_E_BUSY;
	}
	if (view == NULL) {
		return BSHM_OK;
	}
	if (view->descriptor.layer_count > build->descriptor.layer_count) {
		return BSHM_E_BUSY;
	}
	for (uint32_t layer = 0; layer < view->descriptor.layer_count; layer++) {
		merge_layer(build, view, layer);
	}
	const bshm_entry *entry = &t->segment->entries[view->entry];
	const uint64_t items = BSHM_LOAD(&entry->items[view->descriptor.items_slot & 1], RELAXED);
	*most = items > *most ? items : *most;
	*sum += items;
	return bshm__view_current(view) ? BSHM_OK : BSHM_E_BUSY;
}

/* How many keys a union has: what its bits say, but at least those of the largest source, and at
 * most those of all sources together. */
static uint64_t count_items(bshm_build *build, uint64_t most, uint64_t sum)
{
	uint64_t items = 0;
	for (uint32_t i = 0; i < build->descriptor.layer_count; i++) {
		build->layers[i].items_before = items < sum ? items : sum;
		items += (uint64_t) llround(bshm__layer_items(&build->view, i));
	}
	return items < most ? most : items > sum ? sum : items;
}

/* Under the lock: is every set that was read still published, each under its name? */
static bool all_published(const task *t)
{
	for (size_t i = 0; i < source_count(t); i++) {
		const bshm__name name = source_name(t, i);
		uint32_t index;
		bshm_descriptor descriptor;
		const bshm_status current = bshm__entry_current(t->segment, &name, &index, &descriptor);
		if (t->sets[i] == 0 ? current != BSHM_E_NOT_FOUND
							: current != BSHM_OK || descriptor.publication != t->sets[i]) {
			return false;
		}
	}
	return true;
}

static bshm_status publish(const task *t, bshm_build *build, uint64_t items)
{
	bshm_status status = bshm__build_lock(build, t->error);
	if (status == BSHM_OK) {
		status =
			all_published(t) ? bshm__build_publish_locked(build, &items, t->error) : BSHM_E_BUSY;
		bshm__unlock(t->segment);
	}
	return status;
}

/*
 * Ends the op after an attempt; the next attempt registers its own. But if keys were noted while
 * the target did not exist, the op goes on: only its journal has the keys.
 */
static bshm_status end_attempt(const task *t, bshm_build *build)
{
	if (build->op == NULL) {
		return BSHM_OK;
	}
	const bshm_status status = bshm__build_lock(build, t->error);
	if (status == BSHM_OK) {
		if (build->op->promised == 0) {
			bshm__op_end(t->segment, build->op);
			build->op = NULL;
			build->run = (bshm_run){0};
		}
		bshm__unlock(t->segment);
	}
	return status;
}

/*
 * Registers the op, or goes on with the op of the attempt before, if its journal suits the union.
 */
static bshm_status begin_attempt(const task *t, bshm_build *build)
{
	const bshm_op *op = build->op;
	if (op == NULL) {
		const int status = bshm__build_register(build, t->error);
		return status == 1 ? BSHM_OK : status;
	}
	return op->seed == build->descriptor.seed &&
				   (op->counting != 0) == bshm__counts(&build->descriptor)
			   ? BSHM_OK
			   : bshm__fail(t->error, BSHM_E_TIMEOUT, BSHM_CAUSE_FROM);
}

/* One attempt. BUSY: a source was replaced meanwhile. */
static bshm_status unite_once(const task *t, bshm_build *build)
{
	int status = describe(t, build);
	if (status != BSHM_OK) {
		return status;
	}
	if (build->descriptor.layer_count == 0) {
		return fail(t, BSHM_E_NOT_FOUND, BSHM_CAUSE_FROM, 0);
	}
	status = begin_attempt(t, build);
	if (status == BSHM_OK) {
		status = bshm__build_take(build, 0, t->error);
	}
	if (status != BSHM_OK) {
		return status;
	}
	bshm__build_zero(build, 0);
	uint64_t most = 0;
	uint64_t sum = 0;
	size_t sources = 0;
	for (size_t i = 0; status == BSHM_OK && i < source_count(t); i++) {
		if (!is_repeated(t, i)) {
			status = merge_source(t, build, i, &most, &sum);
			sources++;
		}
	}
	if (status != BSHM_OK) {
		return status;
	}
	return publish(t, build, sources == 1 ? sum : count_items(build, most, sum));
}

/* Waits until no source is being cleared. */
static bshm_status wait_settled(const task *t)
{
	bshm_status status = BSHM_OK;
	for (size_t i = 0; status == BSHM_OK && i < source_count(t); i++) {
		const bshm__name name = source_name(t, i);
		uint32_t index;
		bshm_descriptor descriptor;
		bshm_status current;
		status = bshm__lock_settled(
			t->segment, &name, t->deadline, &index, &descriptor, &current, t->error);
		if (status == BSHM_OK) {
			bshm__unlock(t->segment);
		}
	}
	return status;
}

/*
 * Of several processes that unite into one target at once, one always succeeds. The others try
 * again: BSHM_READ_TRIES times, and on until the deadline.
 */
static bshm_status try_to_unite(const task *t, bshm_build *build)
{
	for (int tries = 0; tries < BSHM_READ_TRIES || bshm_os_monotonic_ns() < t->deadline; tries++) {
		bshm_status status = unite_once(t, build);
		if (status != BSHM_E_BUSY) {
			return status;
		}
		status = end_attempt(t, build);
		if (status == BSHM_OK) {
			status = wait_settled(t);
		}
		if (tries >= BSHM_READ_TRIES) { /* a damaged segment may be BUSY without end */
			bshm_os_sleep_us(TRY_NAP_US);
		}
		if (status != BSHM_OK) {
			return status;
		}
	}
	return bshm__fail(t->error, BSHM_E_TIMEOUT, BSHM_CAUSE_FROM);
}

static bshm_status unite(task *t)
{
	bshm_build *build = bshm__build_new(t->segment, &t->target, BSHM_OP_BUILD, BSHM_LOCK_BATCH_NS);
	t->sets = calloc(source_count(t), sizeof(*t->sets));
	bshm_status status = BSHM_E_NO_SPACE;
	if (build == NULL || t->sets == NULL) {
		bshm__fail(t->error, status, BSHM_CAUSE_MEMORY);
	} else {
		t->deadline = bshm_os_monotonic_ns() + BSHM_LOCK_BATCH_NS;
		status = try_to_unite(t, build);
	}
	bshm_build_abort(build);
	free(t->sets);
	return status;
}

/* ------------------------------------------------------------------ public */

static bool all_are(const bshm_key *keys, size_t count, const char *name, size_t name_length)
{
	for (size_t i = 0; i < count; i++) {
		if (keys[i].length != name_length || memcmp(keys[i].bytes, name, name_length) != 0) {
			return false;
		}
	}
	return true;
}

/* Is the segment writable, and does the task get views of its own? */
static bshm_status begin(task *t)
{
	if (t->segment->readonly) {
		return bshm__fail(t->error, BSHM_E_READ_ONLY, BSHM_CAUSE_READONLY);
	}
	t->views = bshm_views_new();
	return t->views != NULL ? BSHM_OK : bshm__fail(t->error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
}

/* There is nothing to add to the target: does it exist? */
static bshm_status find_target(task *t, const char *name, size_t name_length)
{
	bshm_view *view;
	const bshm_status status = bshm_view_open(t->segment, t->views, name, name_length, &view);
	/* BUSY: it is being cleared. */
	return status == BSHM_OK || status == BSHM_E_BUSY ? BSHM_OK
													  : fail(t, status, BSHM_CAUSE_FROM, 0);
}

bshm_status bshm_filter_merge(bshm_segment *segment, const char *into, size_t into_length,
	const bshm_key *from, size_t count, bshm_error *error)
{
	task t = {
		.segment = segment,
		.sources = from,
		.count = count,
		.target = bshm__name_of(into, into_length),
		.with_target = true,
		.error = error,
	};
	bshm_status status = begin(&t);
	if (status == BSHM_OK) {
		status = all_are(from, count, into, into_length) ? find_target(&t, into, into_length)
														 : unite(&t);
	}
	bshm_views_free(t.views);
	return status;
}

bshm_status bshm_filter_copy(bshm_segment *segment, const char *from, size_t from_length,
	const char *to, size_t to_length, bshm_error *error)
{
	const bshm_key one = {from, from_length};
	task t = {
		.segment = segment,
		.sources = &one,
		.count = 1,
		.target = bshm__name_of(to, to_length),
		.error = error,
	};
	bshm_status status = begin(&t);
	if (status == BSHM_OK && !(all_are(&one, 1, to, to_length) &&
								 bshm_filter_ready(segment, t.views, from, from_length))) {
		status = unite(&t);
	}
	bshm_views_free(t.views);
	return status;
}
