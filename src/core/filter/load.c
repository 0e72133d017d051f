/*
 * load.c - a filter made of keys: a load, and a reservation, which is a load of none.
 *
 * A load sets the hashes of its keys aside (spool.c), because the size of the filter depends on
 * their number. Meanwhile adders write to the existing filter, and to the journal. The load empties
 * the journal into the spool whenever it has a chunk of hashes, so that the journal does not get
 * full. At the end the load finds the size, sets the bits, measures the rate, and publishes: see
 * build.c.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm_origin.h"

#include "core/base.h"
#include "core/filter/build.h"
#include "core/filter/geometry.h"
#include "core/filter/image.h"
#include "core/filter/kind.h"
#include "core/filter/mend.h"
#include "core/filter/spool.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "core/segment/journal.h"
#include "core/segment/layers.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/segment.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <math.h>

/* The size is found anew so often, when many keys were added meanwhile. */
#define LAY_OUT_TRIES 4
/* Of the error rate asked for: the limit of the measured rate, if the caller names none. */
#define LIMIT_FACTOR 1.5
/* A filter that is like the one before keeps its size down to this share of its capacity. If its
 * size is found anew, the keys are the second share, so that the next loads have room. */
#define LIKE_LEAST 0.6
#define LIKE_SHARE 0.8

static bshm_status pick_seed(const bshm_parameters *parameters, uint64_t *seed, bshm_error *error)
{
	if (parameters->seed != NULL) {
		*seed = bshm__checksum(parameters->seed, parameters->seed_length, 0);
		return BSHM_OK;
	}
	const int code = bshm_os_random(seed, sizeof(*seed));
	if (code != 0) {
		bshm__fail_code(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_RANDOM, code);
	}
	return code == 0 ? BSHM_OK : BSHM_E_UNAVAILABLE;
}

static void describe(bshm_build *build, const bshm_parameters *parameters)
{
	bshm_descriptor *d = &build->descriptor;
	build->hint = parameters->capacity;
	d->state = BSHM_STATE_LIVE;
	d->kind = bshm__kind_of(parameters);
	d->capacity = parameters->capacity;
	d->error_rate = bshm__bits(parameters->error_rate);
	d->expansion = parameters->expansion;
	d->window_s = parameters->window_s;
	d->layer_count = 1;
}

/* The first layer for so many keys. */
static bshm_layer first_layer(bshm_build *build, uint64_t keys, uint64_t *partition_count)
{
	bshm_descriptor *d = &build->descriptor;
	d->capacity = keys;
	d->sized = d->expansion != 0 &&
			   bshm__is_sized(bshm__kinds[d->kind], bshm__double(d->error_rate), keys);
	return bshm__layer_first(d, partition_count);
}

static uint64_t keys_a_partition(const bshm_build *build, const bshm_layer *layer)
{
	const bshm__kind *kind = bshm__kinds[build->descriptor.kind];
	return bshm__geometry(kind, bshm__double(layer->error_rate), 1).keys_per_partition;
}

/* How many keys the whole segment could hold at the build's error rate. */
static uint64_t segment_capacity(bshm_build *build)
{
	uint64_t partitions;
	const bshm_layer layer = first_layer(build, BSHM_CAPACITY_MAX, &partitions);
	return build->segment->partition_count * keys_a_partition(build, &layer);
}

bshm_status bshm_build_begin(bshm_segment *segment, const char *name, size_t name_length,
	const bshm_parameters *parameters, bshm_build **out, bshm_error *error)
{
	const bshm__name padded = bshm__name_of(name, name_length);
	bshm_build *build = bshm__build_new(segment, &padded, BSHM_OP_BUILD, BSHM_LOCK_BATCH_NS);
	if (build == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	describe(build, parameters);
	build->like = parameters->like;
	build->compared = parameters->named;
	int status = pick_seed(parameters, &build->descriptor.seed, error);
	if (status == BSHM_OK) {
		status = bshm__build_register(build, error);
	}
	if (status == 1) {
		build->look_at = segment_capacity(build) + 1;
		build->spool = bshm__spool_new(bshm__counts(&build->descriptor));
		if (build->spool == NULL) {
			status = bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
		}
	}
	if (status < 0) {
		bshm_build_abort(build);
		return status;
	}
	*out = build;
	return BSHM_OK;
}

/* ------------------------------------------------------------------ keys */

/* Keeps the hash of a key. `added`: by a page, on another host or meanwhile; such a key is never
 * refused. */
static inline bshm_status keep(bshm_build *build, bshm_hash h, bool added, bshm_error *error)
{
	if (BSHM_UNLIKELY(build->spool == NULL)) {
		return bshm__image_put(build, h, added, error);
	}
	if (BSHM_UNLIKELY(!bshm__spool_add(build->spool, h))) {
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY,
			(build->offered + 1) * sizeof(bshm_hash), build->offered * sizeof(bshm_hash));
	}
	return BSHM_OK;
}

/* Keeps the journal's hashes, so that a long build does not fill the journal. */
static bshm_status empty_journal(bshm_build *build, bshm_error *error)
{
	bshm_hash taken[BSHM_CHUNK_HASHES];
	size_t count;
	do {
		bshm_status status = bshm__build_lock(build, error);
		if (status != BSHM_OK) {
			return status;
		}
		count = bshm__journal_take(build->segment, build->op, taken, BSHM_CHUNK_HASHES);
		bshm__unlock(build->segment);
		for (size_t i = 0; i < count; i++) {
			status = keep(build, taken[i], true, error);
			if (status != BSHM_OK) {
				return status;
			}
		}
	} while (count == BSHM_CHUNK_HASHES);
	return BSHM_OK;
}

/* More keys were offered than the segment can hold: goes on only if enough of them are copies. */
static BSHM_NOINLINE bshm_status look_at_size(bshm_build *build, bshm_error *error)
{
	uint64_t keys;
	if (!bshm__spool_distinct(build->spool, &keys)) {
		return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	if (keys > segment_capacity(build)) {
		uint64_t partitions;
		first_layer(build, keys, &partitions);
		return bshm__build_fail_size(build, partitions, error);
	}
	build->look_at *= 2;
	return BSHM_OK;
}

static inline bshm_status offer(
	bshm_build *build, const char *key, size_t key_length, bool added, bshm_error *error)
{
	const bshm_hash h = bshm__hash_key(key, key_length, build->descriptor.seed);
	const bshm_status status = keep(build, h, added, error);
	if (BSHM_UNLIKELY(status != BSHM_OK)) {
		return status;
	}
	if (BSHM_UNLIKELY(++build->offered == build->look_at)) {
		return look_at_size(build, error);
	}
	if (BSHM_UNLIKELY(BSHM_LOAD(&build->op->pending, RELAXED) >= BSHM_CHUNK_HASHES)) {
		return empty_journal(build, error);
	}
	return BSHM_OK;
}

bshm_status bshm_build_key(bshm_build *build, const char *key, size_t key_length, bshm_error *error)
{
	return offer(build, key, key_length, false, error);
}

bshm_status bshm_build_receive(
	bshm_build *build, const char *key, size_t key_length, bshm_error *error)
{
	return offer(build, key, key_length, true, error);
}

uint64_t bshm_build_offered(const bshm_build *build)
{
	return build->offered;
}

/* ------------------------------------------------------------------ publish */

/* How many keys the filter is made for. */
static bshm_status count_keys(bshm_build *build, uint64_t *keys, bshm_error *error)
{
	*keys = 0;
	if (build->spool != NULL) {
		const bshm_status status = empty_journal(build, error);
		if (status != BSHM_OK) {
			return status;
		}
		if (!bshm__spool_distinct(build->spool, keys)) {
			return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
		}
	}
	*keys = *keys < build->hint ? build->hint : *keys < 1 ? 1 : *keys;
	return BSHM_OK;
}

/* Would the filter that the build takes after have this size for so many keys? */
static bool keeps_size(const bshm_build *build, uint64_t keys)
{
	const uint64_t capacity = build->model.newest.capacity;
	return build->model.layer_count == 1 && keys <= capacity &&
		   (double) keys >= LIKE_LEAST * (double) capacity;
}

/* Describes the filter for so many keys; NO_SPACE if it needs more than all partitions. */
static bshm_status find_size(bshm_build *build, uint64_t keys, bshm_error *error)
{
	bshm_descriptor *d = &build->descriptor;
	const bshm__kind *kind = bshm__kinds[d->kind];
	if (kind->begin != NULL) {
		kind->begin(build->segment, d);
	}
	if (keeps_size(build, keys)) {
		d->capacity = build->model.capacity;
		d->sized = build->model.sized;
		build->layers[0] = build->model.newest;
		build->layers[0].items_before = 0;
		return BSHM_OK;
	}
	uint64_t count;
	keys = build->like ? (uint64_t) ceil((double) keys / LIKE_SHARE) : keys;
	build->layers[0] = first_layer(build, keys, &count);
	if (count > build->segment->partition_count) {
		return bshm__build_fail_size(build, count, error);
	}
	if (build->op_kind != BSHM_OP_RESERVE) {
		/* A load fills its last partition: the capacity is what the partitions can take. */
		d->capacity = count * keys_a_partition(build, &build->layers[0]);
		build->layers[0].capacity = d->capacity;
	}
	build->layers[0].run.count = (uint32_t) count;
	return BSHM_OK;
}

/* Sizes the filter, takes its partitions and sets the bits of every key. */
static bshm_status lay_out(bshm_build *build, uint64_t *items, bshm_error *error)
{
	uint64_t keys;
	bshm_status status = count_keys(build, &keys, error);
	if (status == BSHM_OK) {
		status = find_size(build, keys, error);
	}
	if (status == BSHM_OK) {
		status = bshm__build_take(build, 0, error);
	}
	if (status == BSHM_OK) {
		bshm__build_zero(build, 0);
		*items = build->spool == NULL ? 0 : bshm__spool_apply(build->spool, &build->view);
	}
	return status;
}

/*
 * Adds the journal's keys before the bits are measured, so that the measured rate contains most of
 * them. The journal is applied once more when the filter is published. To set a bit twice changes
 * nothing, but counters would count the keys twice: so a counting filter is left out.
 */
static bshm_status apply_journal(bshm_build *build, uint64_t *items, bshm_error *error)
{
	if (bshm__counts(&build->descriptor)) {
		return BSHM_OK;
	}
	const bshm_status status = bshm__build_lock(build, error);
	if (status == BSHM_OK) {
		*items += bshm__journal_apply(build->segment, build->op, &build->view);
		bshm__unlock(build->segment);
	}
	return status;
}

/*
 * Lays out and measures. Keys that were added in between may be too many for the size that was
 * found: then they go into the spool, and the size is found anew.
 */
static bshm_status lay_out_and_measure(
	bshm_build *build, double max_error_rate, uint64_t *items, bshm_info *out, bshm_error *error)
{
	for (int tries = 0;; tries++) {
		bshm_status status = lay_out(build, items, error);
		const uint64_t spooled = *items;
		if (status == BSHM_OK && BSHM_LOAD(&build->op->pending, RELAXED) != 0) {
			status = apply_journal(build, items, error);
		}
		if (status != BSHM_OK) {
			return status;
		}
		*out = bshm__info_of(&build->view, build->layers, *items, UINT32_MAX);
		if (out->estimated_error_rate <= max_error_rate) {
			return BSHM_OK;
		}
		if (*items == spooled || tries == LAY_OUT_TRIES) {
			return bshm__build_fail_rate(*items, out, max_error_rate, error);
		}
	}
}

/* The same for a build whose bits are there. */
static bshm_status measure_image(
	bshm_build *build, double max_error_rate, uint64_t *items, bshm_info *out, bshm_error *error)
{
	bshm_status status = empty_journal(build, error);
	if (status == BSHM_OK) {
		status = bshm__image_measure(build, max_error_rate, out, error);
	}
	*items = build->items;
	return status;
}

/* What was measured before the last keys came, and before it was published. */
static void describe_published(const bshm_build *build, uint64_t items, bshm_info *out)
{
	const uint32_t newest = out->layer_count - 1;
	if (build->view.kind->now == NULL) { /* else they are estimated from the bits */
		out->items = items;
		out->layers[newest].items = items - build->layers[newest].items_before;
	}
	out->generation = build->descriptor.generation;
	out->published_s = bshm__double(build->descriptor.published_s);
}

bshm_status bshm_build_publish(
	bshm_build *build, double max_error_rate, bshm_info *out, bshm_error *error)
{
	uint64_t items = 0;
	const double limit = max_error_rate != 0
							 ? max_error_rate
							 : LIMIT_FACTOR * bshm__double(build->descriptor.error_rate);
	int status = build->spool == NULL ? measure_image(build, limit, &items, out, error)
									  : lay_out_and_measure(build, limit, &items, out, error);
	if (status == BSHM_OK) {
		status = bshm__build_publish(build, &items, error);
	}
	if (status == 1 && out != NULL) {
		describe_published(build, items, out);
	}
	bshm_build_abort(build);
	return status < 0 ? status : BSHM_OK;
}

int bshm_filter_reserve(bshm_segment *segment, const char *name, size_t name_length,
	const bshm_parameters *parameters, bshm_error *error)
{
	const bshm__name padded = bshm__name_of(name, name_length);
	bshm_build *build = bshm__build_new(segment, &padded, BSHM_OP_RESERVE, BSHM_LOCK_BATCH_NS);
	if (build == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	describe(build, parameters);
	build->compared = parameters->seed == NULL ? BSHM_NAMED_ALL & ~BSHM_NAMED_SEED : BSHM_NAMED_ALL;
	uint64_t items = 0;
	int status = pick_seed(parameters, &build->descriptor.seed, error);
	if (status == BSHM_OK) {
		status = bshm__build_register(build, error);
	}
	if (status == 1) {
		status = lay_out(build, &items, error);
		status = status == BSHM_OK ? bshm__build_publish(build, &items, error) : status;
	}
	bshm_build_abort(build);
	return status;
}
