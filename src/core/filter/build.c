/*
 * build.c - makes a filter aside, then publishes it with one store.
 *
 * A load, a reservation, a copy and a restore take the same steps:
 *
 *   1. register an op on the name: from then on adders keep a journal (journal.c);
 *   2. find the size, and take partitions;
 *   3. write the bits, without the lock;
 *   4. under the lock: move the journal into the bits, and publish with one store.
 *
 * The old filter answers until that store, and the new one from then on. The old partitions are
 * free at once: a reader that still uses them sees afterwards that the generation has moved
 * (query.c).
 *
 * A process that dies here leaves an op without a living owner. The next process that takes the
 * lock ends the op, and its partitions are free (mend.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/build.h"

#include "core/base.h"
#include "core/filter/geometry.h"
#include "core/filter/kind.h"
#include "core/filter/lay.h"
#include "core/filter/mend.h"
#include "core/filter/partition.h"
#include "core/filter/spool.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "core/segment/blocks.h"
#include "core/segment/directory.h"
#include "core/segment/journal.h"
#include "core/segment/layers.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/ops.h"
#include "core/segment/run.h"
#include "core/segment/segment.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

/* So often a size is found anew because many keys were added meanwhile. */
#define LAY_OUT_TRIES 4

static bshm_status fail_ops(bshm_error *error)
{
	return bshm__fail_sizes(
		error, BSHM_E_NO_SPACE, BSHM_CAUSE_OPS, BSHM_OP_COUNT + 1, BSHM_OP_COUNT);
}

/* ------------------------------------------------------------------ begin, end */

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

/* 0, or EXISTS with the first parameter that differs: those that decide about others come first. */
static int compare_parameters(
	const bshm_descriptor *existing, const bshm_descriptor *asked, bool any_seed, bshm_error *error)
{
	const struct {
		bshm_cause cause;
		uint64_t asked;
		uint64_t existing;
	} parameters[] = {
		{BSHM_CAUSE_WINDOW, asked->window_s, existing->window_s},
		{BSHM_CAUSE_COUNTING, bshm__counts(asked), bshm__counts(existing)},
		{BSHM_CAUSE_EXPANSION, asked->expansion, existing->expansion},
		{BSHM_CAUSE_CAPACITY, asked->capacity, existing->capacity},
		{BSHM_CAUSE_ERROR_RATE, asked->error_rate, existing->error_rate},
		{BSHM_CAUSE_SEED, any_seed ? 0 : asked->seed, any_seed ? 0 : existing->seed},
	};
	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
		if (parameters[i].asked != parameters[i].existing) {
			bshm__fail_sizes(error, BSHM_E_EXISTS, parameters[i].cause, parameters[i].asked,
				parameters[i].existing);
			error->rate = bshm__double(existing->error_rate);
			error->rate_asked = bshm__double(asked->error_rate);
			return BSHM_E_EXISTS;
		}
	}
	return 0;
}

/* Under the lock: the filter that a reservation finds. 1 = none, 0 = the same, EXISTS = another. */
static int compare_existing(const bshm_build *build, bool any_seed, bshm_error *error)
{
	uint32_t index;
	bshm_descriptor existing;
	const bshm_status status = bshm__entry_current(build->segment, &build->name, &index, &existing);
	if (status == BSHM_E_NOT_FOUND || status == BSHM_E_CORRUPT) {
		return 1;
	}
	return compare_parameters(&existing, &build->descriptor, any_seed, error);
}

int bshm__build_register(bshm_build *build, bool any_seed, bshm_error *error)
{
	bshm_segment *segment = build->segment;
	int status = bshm__lock(segment, build->wait_ns, error);
	if (status != BSHM_OK) {
		return status;
	}
	status = build->op_kind == BSHM_OP_RESERVE ? compare_existing(build, any_seed, error) : 1;
	uint32_t index;
	if (status == 1 && bshm__entry_create(segment, &build->name, &index, error) != BSHM_OK) {
		status = error->status;
	}
	if (status == 1) {
		build->op = bshm__op_begin(segment, build->op_kind, index, build->descriptor.seed,
			bshm__counts(&build->descriptor));
		if (build->op == NULL) {
			bshm__entry_tidy(segment, index);
			status = fail_ops(error);
		} else {
			build->serial = build->op->serial;
			build->owner = segment->owner;
			build->entry = index;
		}
	}
	bshm__unlock(segment);
	return status;
}

/* Is the op as this build left it? The child of a fork has the parent's build, but not its op. */
static bshm_status check_op(const bshm_build *build, bshm_error *error)
{
	const bshm_op *op = build->op;
	if (build->segment->owner != build->owner) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE,
			build->segment->slot_lost ? BSHM_CAUSE_DESCRIPTORS : BSHM_CAUSE_FORK);
	}
	/* Pairs with bshm__op_begin(). */
	if (BSHM_LOAD(&op->owner, ACQUIRE) != build->owner || op->serial != build->serial ||
		!bshm__op_sound(build->segment, op) ||
		memcmp(&op->run, &build->run, sizeof(build->run)) != 0) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_OP);
	}
	if (op->lost != 0) {
		const uint64_t room = (uint64_t) build->segment->chunk_count * BSHM_CHUNK_HASHES;
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, BSHM_CAUSE_JOURNAL, room + 1, room);
	}
	return BSHM_OK;
}

bshm_status bshm__build_lock(const bshm_build *build, bshm_error *error)
{
	bshm_status status = bshm__lock(build->segment, build->wait_ns, error);
	if (status == BSHM_OK) {
		status = check_op(build, error);
		if (status != BSHM_OK) {
			bshm__unlock(build->segment);
		}
	}
	return status;
}

/* Gives the op up without the lock: the next process that takes the lock ends it. */
static void give_up(bshm_build *build)
{
	if (build->op != NULL && build->segment->owner == build->owner &&
		build->op->serial == build->serial) {
		uint64_t owner = build->owner;
		BSHM_CAS(&build->op->owner, &owner, 0, RELEASE); /* pairs with reap_ops() */
	}
}

void bshm_build_abort(bshm_build *build)
{
	if (build == NULL) {
		return;
	}
	give_up(build);
	bshm__view_release(&build->view);
	bshm__spool_free(build->spool);
	free(build->map);
	free(build);
}

bshm_build *bshm__build_new(
	bshm_segment *segment, const bshm__name *name, uint32_t op_kind, uint64_t wait_ns)
{
	bshm_build *build = calloc(1, sizeof(*build));
	if (build == NULL) {
		return NULL;
	}
	build->segment = segment;
	build->name = *name;
	build->op_kind = op_kind;
	build->wait_ns = wait_ns;
	build->map = bshm__blocks_map(segment);
	if (build->map == NULL) {
		free(build);
		return NULL;
	}
	return build;
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
	if (bshm__kinds[d->kind]->begin != NULL) {
		bshm__kinds[d->kind]->begin(build->segment, d);
	}
}

bshm_status bshm__build_fail_size(bshm_build *build, uint64_t partitions, bshm_error *error)
{
	const uint64_t asked = partitions > UINT64_MAX / BSHM_PARTITION_BYTES
							   ? UINT64_MAX
							   : partitions * BSHM_PARTITION_BYTES;
	bshm__space space = {0};
	bshm__space_look(build->segment, &space, error);
	return bshm__fail_sizes(error, BSHM_E_NO_SPACE, BSHM_CAUSE_FILTER_MEMORY, asked,
		(uint64_t) space.free * BSHM_PARTITION_BYTES);
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
	if (build == NULL || (build->spool = bshm__spool_new(parameters->counting)) == NULL) {
		bshm_build_abort(build);
		return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	describe(build, parameters);
	build->look_at = segment_capacity(build) + 1;
	int status = pick_seed(parameters, &build->descriptor.seed, error);
	if (status == BSHM_OK) {
		status = bshm__build_register(build, false, error);
	}
	if (status < 0) {
		bshm_build_abort(build);
		return status;
	}
	*out = build;
	return BSHM_OK;
}

/* ------------------------------------------------------------------ keys */

/* Empties the journal into the spool now and then, so that a long load does not fill it. */
static bshm_status spool_journal(bshm_build *build, bshm_error *error)
{
	bshm_hash taken[BSHM_CHUNK_HASHES];
	size_t count;
	do {
		const bshm_status status = bshm__build_lock(build, error);
		if (status != BSHM_OK) {
			return status;
		}
		count = bshm__journal_take(build->segment, build->op, taken, BSHM_CHUNK_HASHES);
		bshm__unlock(build->segment);
		for (size_t i = 0; i < count; i++) {
			if (!bshm__spool_add(build->spool, taken[i])) {
				return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
			}
		}
	} while (count == BSHM_CHUNK_HASHES);
	return BSHM_OK;
}

/* More keys were offered than the segment can hold: goes on only if enough of them are copies. */
static __attribute__((noinline)) bshm_status look_at_size(bshm_build *build, bshm_error *error)
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

bshm_status bshm_build_key(bshm_build *build, const char *key, size_t key_length, bshm_error *error)
{
	const bshm_hash h = bshm__hash_key(key, key_length, build->descriptor.seed);
	if (BSHM_UNLIKELY(!bshm__spool_add(build->spool, h))) {
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY,
			(build->offered + 1) * sizeof(bshm_hash), build->offered * sizeof(bshm_hash));
	}
	if (BSHM_UNLIKELY(++build->offered == build->look_at)) {
		return look_at_size(build, error);
	}
	if (BSHM_UNLIKELY(BSHM_LOAD(&build->op->pending, RELAXED) >= BSHM_CHUNK_HASHES)) {
		return spool_journal(build, error);
	}
	return BSHM_OK;
}

uint64_t bshm_build_offered(const bshm_build *build)
{
	return build->offered;
}

/* ------------------------------------------------------------------ partitions */

/* Under the lock: takes `count` partitions for the build, and gives back those it has. */
static bshm_status claim(bshm_build *build, uint32_t count, bshm_error *error)
{
	bshm__space space;
	build->run = (bshm_run){0};
	bshm__op_claim(build->segment, build->op, &build->run);
	if (!bshm__blocks_take(build->segment, count, build->map, &build->run, &space)) {
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, BSHM_CAUSE_FILTER_MEMORY,
			(uint64_t) count * BSHM_PARTITION_BYTES, (uint64_t) space.free * BSHM_PARTITION_BYTES);
	}
	bshm__op_claim(build->segment, build->op, &build->run);
	return BSHM_OK;
}

bshm_status bshm__build_take(bshm_build *build, uint32_t from, bshm_error *error)
{
	bshm_segment *segment = build->segment;
	uint32_t counts[BSHM_LAYERS_MAX];
	bshm_run runs[BSHM_LAYERS_MAX];
	const uint32_t parts = build->descriptor.layer_count - from;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < parts; i++) {
		counts[i] = build->layers[from + i].run.count;
		sum += counts[i];
	}
	if (sum > segment->partition_count) {
		return bshm__build_fail_size(build, sum, error);
	}
	bshm__view_release(&build->view);
	bshm_status status = bshm__build_lock(build, error);
	if (status != BSHM_OK) {
		return status;
	}
	status = claim(build, (uint32_t) sum, error);
	bshm__unlock(segment);
	if (status != BSHM_OK) {
		return status;
	}
	if (!bshm__run_divide(segment, &build->run, counts, parts, runs)) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_LINKS);
	}
	for (uint32_t i = 0; i < parts; i++) {
		build->layers[from + i].run = runs[i];
	}
	status = bshm__view_lay(segment, &build->view, &build->descriptor, build->layers);
	if (status != BSHM_OK) {
		return bshm__fail(
			error, status, status == BSHM_E_CORRUPT ? BSHM_CAUSE_LINKS : BSHM_CAUSE_MEMORY);
	}
	/* Pairs with bshm_view_current(): a reader that sees words written from here on also sees that
	 * the filter that had the partitions before was replaced: that came before they were taken. */
	BSHM_FENCE(RELEASE);
	return BSHM_OK;
}

void bshm__build_zero(const bshm_build *build, uint32_t from)
{
	for (uint32_t layer = from; layer < build->descriptor.layer_count; layer++) {
		const bshm__parts *parts = bshm__view_layer(&build->view, layer);
		for (uint32_t i = 0; i < parts->partition_count; i++) {
			uint64_t *words = bshm__parts_at(parts, i);
			bshm__partition_zero(words);
			if (build->view.kind->reset != NULL) {
				build->view.kind->reset(&build->view, words);
			}
		}
	}
}

/* How many keys the filter is made for. */
static bshm_status count_keys(bshm_build *build, uint64_t *keys, bshm_error *error)
{
	*keys = 0;
	if (build->spool != NULL) {
		const bshm_status status = spool_journal(build, error);
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

/* Sizes the filter, takes its partitions and sets the bits of every key. */
static bshm_status lay_out(bshm_build *build, uint64_t *items, bshm_error *error)
{
	uint64_t keys;
	bshm_status status = count_keys(build, &keys, error);
	if (status != BSHM_OK) {
		return status;
	}
	bshm_descriptor *d = &build->descriptor;
	uint64_t count;
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
	status = bshm__build_take(build, 0, error);
	if (status == BSHM_OK) {
		bshm__build_zero(build, 0);
		*items = build->spool == NULL ? 0 : bshm__spool_apply(build->spool, &build->view);
	}
	return status;
}

/* ------------------------------------------------------------------ publish */

uint64_t bshm__journal_apply(bshm_segment *segment, const bshm_op *op, const bshm_view *view)
{
	uint64_t items = 0;
	uint32_t cursor = 0;
	uint64_t count;
	const bshm_hash *hashes;
	while ((hashes = bshm__journal_next(segment, op, &cursor, &count)) != NULL) {
		items += view->kind->put(view, hashes, count, false);
	}
	return items;
}

bshm_status bshm__build_publish_locked(bshm_build *build, uint64_t *items, bshm_error *error)
{
	bshm_segment *segment = build->segment;
	bshm_status status = BSHM_OK;
	*items += bshm__journal_apply(build->segment, build->op, &build->view);
	if (bshm__layers_store(segment, &build->descriptor, build->layers,
			build->descriptor.layer_count, build->map)) {
		build->descriptor.published_s = bshm__bits(bshm_os_wall_s());
		bshm__entry_publish(segment, build->entry, &build->descriptor, *items);
	} else {
		status = bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_LAYERS);
	}
	bshm__op_end(segment, build->op);
	build->op = NULL;
	return status;
}

int bshm__build_publish(bshm_build *build, bool any_seed, uint64_t *items, bshm_error *error)
{
	int status = bshm__build_lock(build, error);
	if (status != BSHM_OK) {
		return status;
	}
	status = build->op_kind == BSHM_OP_RESERVE ? compare_existing(build, any_seed, error) : 1;
	if (status == 1 && bshm__build_publish_locked(build, items, error) != BSHM_OK) {
		status = error->status;
	}
	bshm__unlock(build->segment);
	return status;
}

/*
 * Adds the journal's keys before the bits are measured, so that the measured rate contains most of
 * them. The journal is applied once more when the filter is published. Bits do not mind; counters
 * would count the keys twice, so a filter that counts is left out.
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
		*out = bshm__info_of(&build->view, build->layers, *items);
		if (out->estimated_error_rate <= max_error_rate) {
			return BSHM_OK;
		}
		if (*items == spooled || tries == LAY_OUT_TRIES) {
			bshm__fail_sizes(error, BSHM_E_ERROR_RATE, BSHM_CAUSE_MAX_ERROR_RATE, *items, 0);
			error->rate = out->estimated_error_rate;
			error->rate_asked = max_error_rate;
			return error->status;
		}
	}
}

bshm_status bshm_build_publish(
	bshm_build *build, double max_error_rate, bshm_info *out, bshm_error *error)
{
	uint64_t items = 0;
	int status = lay_out_and_measure(build, max_error_rate, &items, out, error);
	if (status == BSHM_OK) {
		status = bshm__build_publish(build, true, &items, error);
		out->items = out->layers[0].items = items;
		out->generation = build->descriptor.generation;
		out->published_s = bshm__double(build->descriptor.published_s);
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
	const bool any_seed = parameters->seed == NULL;
	uint64_t items = 0;
	int status = pick_seed(parameters, &build->descriptor.seed, error);
	if (status == BSHM_OK) {
		status = bshm__build_register(build, any_seed, error);
	}
	if (status == 1) {
		status = lay_out(build, &items, error);
		status = status == BSHM_OK ? bshm__build_publish(build, any_seed, &items, error) : status;
	}
	bshm_build_abort(build);
	return status;
}
