/*
 * build.c - makes a filter aside, then publishes it with one store.
 *
 * A load and a reservation (load.c), a merge and a copy (merge.c) and a restore (filter_file.c)
 * take the same steps:
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
#include "core/filter/kind.h"
#include "core/filter/lay.h"
#include "core/filter/mend.h"
#include "core/filter/partition.h"
#include "core/filter/spool.h"
#include "core/filter/view.h"
#include "core/segment/blocks.h"
#include "core/segment/directory.h"
#include "core/segment/layers.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/ops.h"
#include "core/segment/run.h"
#include "core/segment/segment.h"
#include "core/segment/source.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ begin, end */

/* 0, or EXISTS with the first parameter that differs. A parameter that decides about others comes
 * before them. */
static int compare_parameters(
	const bshm_build *build, const bshm_descriptor *existing, bshm_error *error)
{
	const bshm_descriptor *asked = &build->descriptor;
	const struct {
		uint32_t named;
		bshm_cause cause;
		uint64_t asked;
		uint64_t existing;
	} parameters[] = {
		{BSHM_NAMED_WINDOW, BSHM_CAUSE_WINDOW, asked->window_s, existing->window_s},
		{BSHM_NAMED_COUNTING, BSHM_CAUSE_COUNTING, bshm__counts(asked), bshm__counts(existing)},
		{BSHM_NAMED_EXPANSION, BSHM_CAUSE_EXPANSION, asked->expansion, existing->expansion},
		{BSHM_NAMED_CAPACITY, BSHM_CAUSE_CAPACITY, asked->capacity, existing->capacity},
		{BSHM_NAMED_ERROR_RATE, BSHM_CAUSE_ERROR_RATE, asked->error_rate, existing->error_rate},
		{BSHM_NAMED_SEED, BSHM_CAUSE_SEED, asked->seed, existing->seed},
	};
	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
		if ((build->compared & parameters[i].named) != 0 &&
			parameters[i].asked != parameters[i].existing) {
			bshm__fail_sizes(error, BSHM_E_EXISTS, parameters[i].cause, parameters[i].asked,
				parameters[i].existing);
			error->rate = bshm__double(existing->error_rate);
			error->rate_asked = bshm__double(asked->error_rate);
			return BSHM_E_EXISTS;
		}
	}
	return 0;
}

/* Under the lock: the filter that a reservation finds. 1 = none, 0 = the same, EXISTS = another,
 * CORRUPT = a damaged one, which answers "maybe": an empty one would deny the keys that it has. */
static int compare_existing(const bshm_build *build, bshm_error *error)
{
	uint32_t index;
	bshm_descriptor existing;
	const bshm_status status = bshm__entry_current(build->segment, &build->name, &index, &existing);
	if (status == BSHM_E_NOT_FOUND) {
		return 1;
	}
	if (status == BSHM_E_CORRUPT) {
		return bshm__fail(error, status, BSHM_CAUSE_DESCRIPTOR);
	}
	return compare_parameters(build, &existing, error);
}

/* Under the lock: the build takes the parameters of the filter that it finds. 1, or EXISTS. */
static int take_after(bshm_build *build, bshm_error *error)
{
	uint32_t index;
	bshm_descriptor existing;
	const bshm_status status = bshm__entry_current(build->segment, &build->name, &index, &existing);
	if (status != BSHM_OK && status != BSHM_E_BUSY) { /* BUSY: it is being cleared */
		return 1;
	}
	if (compare_parameters(build, &existing, error) != 0) {
		return BSHM_E_EXISTS;
	}
	build->model = existing;
	build->descriptor.seed = existing.seed;
	build->descriptor.kind = existing.kind;
	build->descriptor.error_rate = existing.error_rate;
	build->descriptor.expansion = existing.expansion;
	build->descriptor.window_s = existing.window_s;
	return 1;
}

bshm_status bshm__build_begin_op(
	bshm_build *build, uint32_t index, uint64_t seed, bool counting, bshm_error *error)
{
	build->op = bshm__op_begin(build->segment, build->op_kind, index, seed, counting);
	if (build->op == NULL) {
		return bshm__fail_ops(error);
	}
	build->serial = build->op->serial;
	build->owner = build->segment->owner;
	build->entry = index;
	return BSHM_OK;
}

int bshm__build_register(bshm_build *build, bshm_error *error)
{
	bshm_segment *segment = build->segment;
	int status = bshm__lock(segment, build->wait_ns, error);
	if (status != BSHM_OK) {
		return status;
	}
	status = build->op_kind == BSHM_OP_RESERVE ? compare_existing(build, error)
			 : build->like                     ? take_after(build, error)
											   : 1;
	uint32_t index;
	if (status == 1 && bshm__entry_create(segment, &build->name, &index, error) != BSHM_OK) {
		status = error->status;
	}
	if (status == 1) {
		const bool counting = bshm__counts(&build->descriptor);
		if (bshm__build_begin_op(build, index, build->descriptor.seed, counting, error) !=
			BSHM_OK) {
			bshm__entry_tidy(segment, index);
			status = error->status;
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

bshm_status bshm__build_fail_rate(
	uint64_t items, const bshm_info *measured, double limit, bshm_error *error)
{
	bshm__fail_sizes(error, BSHM_E_ERROR_RATE, BSHM_CAUSE_MAX_ERROR_RATE, items, 0);
	error->rate = measured->estimated_error_rate;
	error->rate_asked = limit;
	return error->status;
}

/* ------------------------------------------------------------------ partitions */

/* Under the lock: finds `count` free partitions. */
static bshm_status take_run(
	const bshm_build *build, uint32_t count, bshm_run *run, bshm_error *error)
{
	bshm__space space;
	if (!bshm__blocks_take(build->segment, count, build->map, run, &space)) {
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, BSHM_CAUSE_FILTER_MEMORY,
			(uint64_t) count * BSHM_PARTITION_BYTES, (uint64_t) space.free * BSHM_PARTITION_BYTES);
	}
	return BSHM_OK;
}

/* Under the lock: takes `count` partitions for the build, and gives back those it has. */
static bshm_status claim(bshm_build *build, uint32_t count, bshm_error *error)
{
	build->run = (bshm_run){0};
	bshm__op_claim(build->segment, build->op, &build->run);
	const bshm_status status = take_run(build, count, &build->run, error);
	if (status == BSHM_OK) {
		bshm__op_claim(build->segment, build->op, &build->run);
	}
	return status;
}

/* Under the lock: takes as many partitions as `run` says, besides those the build has. */
static bshm_status claim_more(bshm_build *build, bshm_run *run, bshm_error *error)
{
	bshm_run joined;
	const bshm_status status = take_run(build, run->count, run, error);
	if (status != BSHM_OK) {
		return status;
	}
	if (!bshm__run_join(build->segment, &build->run, run, &joined)) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_LINKS);
	}
	build->run = joined;
	bshm__op_claim(build->segment, build->op, &build->run);
	return BSHM_OK;
}

/* Lays the view over all layers, whose partitions are taken. */
static bshm_status lay(bshm_build *build, bshm_error *error)
{
	bshm__view_release(&build->view);
	const bshm_status status =
		bshm__view_lay(build->segment, &build->view, &build->descriptor, build->layers);
	if (status != BSHM_OK) {
		return bshm__view_fail(status, error);
	}
	/* Pairs with bshm_view_current(): a reader that sees words written from here on also sees that
	 * the filter that had the partitions before was replaced: that came before they were taken. */
	BSHM_FENCE(RELEASE);
	return BSHM_OK;
}

bshm_status bshm__build_extend(bshm_build *build, bshm_error *error)
{
	bshm_descriptor *d = &build->descriptor;
	bshm_layer *layer = &build->layers[d->layer_count];
	bshm_status status = bshm__build_lock(build, error);
	if (status != BSHM_OK) {
		return status;
	}
	status = claim_more(build, &layer->run, error);
	bshm__unlock(build->segment);
	if (status == BSHM_OK) {
		d->newest = *layer;
		d->layer_count++;
		status = lay(build, error);
	}
	return status;
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
	return lay(build, error);
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

/* ------------------------------------------------------------------ publish */

bshm_status bshm__build_publish_locked(bshm_build *build, uint64_t *items, bshm_error *error)
{
	bshm_segment *segment = build->segment;
	bshm_status status = BSHM_OK;
	*items += bshm__journal_apply(build->segment, build->op, &build->view);
	if (build->descriptor.as_of_ns != 0) {
		const uint32_t place = bshm__source_store(segment, build->source);
		build->descriptor.source = place == 0 || !build->sends ? place : place | BSHM_SOURCE_SENDS;
	}
	if (build->descriptor.as_of_ns != 0 && build->descriptor.source == 0) {
		status = bshm__fail_sizes(
			error, BSHM_E_NO_SPACE, BSHM_CAUSE_SOURCES, BSHM_SOURCE_COUNT + 1, BSHM_SOURCE_COUNT);
	} else if (bshm__layers_store(segment, &build->descriptor, build->layers,
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

int bshm__build_publish(bshm_build *build, uint64_t *items, bshm_error *error)
{
	int status = bshm__build_lock(build, error);
	if (status != BSHM_OK) {
		return status;
	}
	status = build->op_kind == BSHM_OP_RESERVE ? compare_existing(build, error) : 1;
	if (status == 1 && bshm__build_publish_locked(build, items, error) != BSHM_OK) {
		status = error->status;
	}
	bshm__unlock(build->segment);
	return status;
}
