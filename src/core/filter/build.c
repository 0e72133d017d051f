/*
 * build.c - make a filter aside, then publish it with one store.
 *
 * A load, a reservation and a copy are the same: register an op on the name, so that adders keep
 * a journal (ops.c); find the size; take partitions; write the bits while no lock is held; and
 * then, in one critical section, move the journal into the bits and publish. Until that store
 * the old filter answers; the store makes the new one answer; the old partitions are free from
 * then on, for nobody is waited for (query.c).
 *
 * Whoever dies here leaves an op that nobody owns. It claims nothing any more, and the next who
 * needs memory tidies it up.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/core.h"

#include <stdlib.h>
#include <string.h>

/* Times a size is found anew because many keys were added meanwhile. */
#define LAY_OUT_TRIES 4

struct bshm_build {
	bshm_segment *segment;
	bshm__name name;
	bshm_op *op;
	uint64_t owner; /* that began the build: a fork's child must not end it */
	uint64_t serial;
	uint32_t entry;
	bool exclusive; /* a reservation: publishes only where nothing stands */
	bshm__spool *spool;
	uint64_t offered;
	uint64_t look_at; /* how many keys are offered when it is next asked whether they can fit */
	uint64_t hint;
	bshm_descriptor descriptor; /* of what will be published */
	bshm_view view;             /* of the partitions taken */
	bshm_run run;
};

static bshm_status fail_ops(bshm_error *error)
{
	return bshm__fail_sizes(error, BSHM_E_NO_SPACE, "ops", BSHM_OP_COUNT + 1, BSHM_OP_COUNT);
}

/* ------------------------------------------------------------------ begin, end */

static bshm_status pick_seed(const bshm_parameters *parameters, uint64_t *seed, bshm_error *error)
{
	if (parameters->seed != NULL) {
		*seed = bshm__checksum(parameters->seed, parameters->seed_length, 0);
		return BSHM_OK;
	}
	return bshm_os_random(seed, sizeof(*seed)) == 0
			   ? BSHM_OK
			   : bshm__fail(error, BSHM_E_UNAVAILABLE, "random");
}

/* Under the lock: what a reservation finds standing. 1 = nothing, 0 = the same, EXISTS. */
static int compare_standing(const bshm_build *build, bool any_seed, bshm_error *error)
{
	uint32_t index;
	bshm_descriptor standing;
	const bshm_status status = bshm__entry_current(build->segment, &build->name, &index, &standing);
	if (status == BSHM_E_NOT_FOUND || status == BSHM_E_CORRUPT) {
		return 1;
	}
	const bshm_descriptor *asked = &build->descriptor;
	if (standing.capacity == asked->capacity && standing.error_rate == asked->error_rate &&
		standing.expansion == asked->expansion && standing.window_s == asked->window_s &&
		(any_seed || standing.seed == asked->seed)) {
		return 0;
	}
	return bshm__fail(error, BSHM_E_EXISTS, "parameters");
}

/* Registers the op. For a reservation: 0 = the same filter stands, and no build was begun. */
static int begin(bshm_build *build, bool any_seed, bshm_error *error)
{
	bshm_segment *segment = build->segment;
	int status = bshm__lock(segment, BSHM_LOCK_BATCH_NS, error);
	if (status != BSHM_OK) {
		return status;
	}
	status = build->exclusive ? compare_standing(build, any_seed, error) : 1;
	uint32_t index;
	if (status == 1 && bshm__entry_create(segment, &build->name, &index, error) != BSHM_OK) {
		status = error->status;
	}
	if (status == 1) {
		build->op = bshm__op_begin(segment, build->exclusive ? BSHM_OP_RESERVE : BSHM_OP_BUILD,
			index, build->descriptor.seed);
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

/* Is the op as this build left it? A fork's child has the parent's build, but not its op. */
static bshm_status check_op(const bshm_build *build, bshm_error *error)
{
	const bshm_op *op = build->op;
	if (build->segment->owner != build->owner) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, "fork");
	}
	if (BSHM_LOAD(&op->owner, ACQUIRE) != build->owner || op->serial != build->serial ||
		!bshm__op_sound(build->segment, op) ||
		memcmp(&op->run, &build->run, sizeof(build->run)) != 0) {
		return bshm__fail(error, BSHM_E_CORRUPT, "op");
	}
	if (op->lost != 0) {
		const uint64_t room = (uint64_t) build->segment->chunk_count * BSHM_CHUNK_HASHES;
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, "journal", room + 1, room);
	}
	return BSHM_OK;
}

/* The lock, with the build's op in it: not the lock if the op is no longer this build's. */
static bshm_status lock_op(const bshm_build *build, bshm_error *error)
{
	bshm_status status = bshm__lock(build->segment, BSHM_LOCK_BATCH_NS, error);
	if (status == BSHM_OK) {
		status = check_op(build, error);
		if (status != BSHM_OK) {
			bshm__unlock(build->segment);
		}
	}
	return status;
}

/* Ends the build without the lock: what it leaves is tidied up by the next who has it. */
static void give_up(bshm_build *build)
{
	if (build->op != NULL && build->segment->owner == build->owner &&
		build->op->serial == build->serial) {
		uint64_t owner = build->owner;
		BSHM_CAS(&build->op->owner, &owner, 0, RELEASE);
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
	free(build);
}

static bshm_build *new_build(bshm_segment *segment, const char *name, size_t name_length)
{
	bshm_build *build = calloc(1, sizeof(*build));
	if (build != NULL) {
		build->segment = segment;
		build->name = bshm__name_of(name, name_length);
	}
	return build;
}

static void describe(bshm_build *build, const bshm_parameters *parameters)
{
	build->hint = parameters->capacity;
	build->descriptor.state = BSHM_STATE_LIVE;
	build->descriptor.capacity = parameters->capacity;
	build->descriptor.error_rate = bshm__bits(parameters->error_rate);
	build->descriptor.expansion = parameters->expansion;
}

/* NO_SPACE: `keys` take more than the whole segment has. */
static bshm_status fail_size(bshm_build *build, uint64_t keys, bshm_error *error)
{
	const bshm_geometry geometry =
		bshm_geometry_for(bshm__double(build->descriptor.error_rate), keys);
	const uint64_t count = geometry.partition_count;
	const uint64_t asked =
		count > UINT64_MAX / BSHM_PARTITION_BYTES ? UINT64_MAX : count * BSHM_PARTITION_BYTES;
	bshm_stat stat = {0};
	bshm_segment_stat(build->segment, &stat, error);
	return bshm__fail_sizes(error, BSHM_E_NO_SPACE, "filter_memory", asked, stat.filter_bytes_free);
}

/* How many keys the whole segment could hold at the build's error rate. */
static uint64_t segment_capacity(const bshm_build *build)
{
	const bshm_geometry geometry = bshm_geometry_for(bshm__double(build->descriptor.error_rate), 1);
	return (uint64_t) build->segment->partition_count * geometry.keys_per_partition;
}

bshm_status bshm_build_begin(bshm_segment *segment, const char *name, size_t name_length,
	const bshm_parameters *parameters, bshm_build **out, bshm_error *error)
{
	bshm_build *build = new_build(segment, name, name_length);
	if (build == NULL || (build->spool = bshm__spool_new()) == NULL) {
		bshm_build_abort(build);
		return bshm__fail(error, BSHM_E_NO_SPACE, "memory");
	}
	describe(build, parameters);
	build->look_at = segment_capacity(build) + 1;
	int status = pick_seed(parameters, &build->descriptor.seed, error);
	if (status == BSHM_OK) {
		status = begin(build, false, error);
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
		const bshm_status status = lock_op(build, error);
		if (status != BSHM_OK) {
			return status;
		}
		count = bshm__journal_take(build->segment, build->op, taken, BSHM_CHUNK_HASHES);
		bshm__unlock(build->segment);
		for (size_t i = 0; i < count; i++) {
			if (!bshm__spool_add(build->spool, taken[i])) {
				return bshm__fail(error, BSHM_E_NO_SPACE, "memory");
			}
		}
	} while (count == BSHM_CHUNK_HASHES);
	return BSHM_OK;
}

/* More keys than the segment could hold: go on only if they are fewer different ones. */
static __attribute__((noinline)) bshm_status look_at_size(bshm_build *build, bshm_error *error)
{
	uint64_t keys;
	if (!bshm__spool_distinct(build->spool, &keys)) {
		return bshm__fail(error, BSHM_E_NO_SPACE, "memory");
	}
	if (keys > segment_capacity(build)) {
		return fail_size(build, keys, error);
	}
	build->look_at *= 2;
	return BSHM_OK;
}

bshm_status bshm_build_key(bshm_build *build, const char *key, size_t key_length, bshm_error *error)
{
	const bshm_hash h = bshm__hash_key(key, key_length, build->descriptor.seed);
	if (BSHM_UNLIKELY(!bshm__spool_add(build->spool, h))) {
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, "memory",
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

/* Takes `count` partitions for the build, instead of those it has, and lays its view over them. */
static bshm_status take_partitions(bshm_build *build, uint32_t count, bshm_error *error)
{
	bshm_segment *segment = build->segment;
	uint64_t *claimed = bshm__blocks_map(segment);
	if (claimed == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, "memory");
	}
	bshm__view_release(&build->view);
	bshm_status status = lock_op(build, error);
	if (status == BSHM_OK) {
		bshm__space space;
		build->run = (bshm_run){0};
		bshm__op_claim(segment, build->op, &build->run);
		if (bshm__blocks_take(segment, count, claimed, &build->run, &space)) {
			bshm__op_claim(segment, build->op, &build->run);
		} else {
			status = bshm__fail_sizes(error, BSHM_E_NO_SPACE, "filter_memory",
				(uint64_t) count * BSHM_PARTITION_BYTES,
				(uint64_t) space.free * BSHM_PARTITION_BYTES);
		}
		bshm__unlock(segment);
	}
	free(claimed);
	if (status == BSHM_OK) {
		build->descriptor.run = build->run;
		status = bshm__view_lay(segment, &build->view, &build->descriptor);
		if (status != BSHM_OK) {
			bshm__fail(error, status, status == BSHM_E_CORRUPT ? "links" : "memory");
		}
	}
	return status;
}

/* Sizes the filter, takes its partitions and sets the bits of every key. */
static bshm_status lay_out(bshm_build *build, uint64_t *items, bshm_error *error)
{
	uint64_t keys = 0;
	if (build->spool != NULL) {
		const bshm_status status = spool_journal(build, error);
		if (status != BSHM_OK) {
			return status;
		}
		if (!bshm__spool_distinct(build->spool, &keys)) {
			return bshm__fail(error, BSHM_E_NO_SPACE, "memory");
		}
	}
	keys = keys < build->hint ? build->hint : keys < 1 ? 1 : keys;
	const bshm_geometry geometry =
		bshm_geometry_for(bshm__double(build->descriptor.error_rate), keys);
	if (geometry.partition_count > build->segment->partition_count) {
		return fail_size(build, keys, error);
	}
	build->descriptor.hash_count = geometry.hash_count;
	if (!build->exclusive) {
		build->descriptor.capacity = geometry.partition_count * geometry.keys_per_partition;
	}
	const bshm_status status = take_partitions(build, (uint32_t) geometry.partition_count, error);
	if (status != BSHM_OK) {
		return status;
	}
	/* Pairs with bshm_view_current(): whoever sees these zeros sees that the partitions' last
	 * filter was replaced, which came before the lock that gave them to us. */
	BSHM_FENCE(RELEASE);
	for (uint32_t i = 0; i < build->view.partition_count; i++) {
		bshm__partition_zero(bshm__view_partition(&build->view, i));
	}
	*items = build->spool == NULL ? 0 : bshm__spool_apply(build->spool, &build->view);
	return BSHM_OK;
}

/* ------------------------------------------------------------------ publish */

/* Under the lock. 1 = published; a reservation: 0 = the same filter stands by now, or EXISTS. */
static int publish_locked(bshm_build *build, bool any_seed, uint64_t *items, bshm_error *error)
{
	bshm_segment *segment = build->segment;
	const int status = build->exclusive ? compare_standing(build, any_seed, error) : 1;
	if (status == 1) {
		*items += bshm__journal_apply(segment, build->op, &build->view);
		build->descriptor.published_s = bshm__bits(bshm_os_wall_s());
		bshm__entry_publish(segment, build->entry, &build->descriptor, *items);
	}
	bshm__op_end(segment, build->op);
	build->op = NULL;
	return status;
}

static int publish(bshm_build *build, bool any_seed, uint64_t *items, bshm_error *error)
{
	int status = lock_op(build, error);
	if (status == BSHM_OK) {
		status = publish_locked(build, any_seed, items, error);
		bshm__unlock(build->segment);
	}
	return status;
}

/* Most of what was added while the bits were being set, before they are measured. */
static bshm_status apply_journal(bshm_build *build, uint64_t *items, bshm_error *error)
{
	const bshm_status status = lock_op(build, error);
	if (status == BSHM_OK) {
		*items += bshm__journal_apply(build->segment, build->op, &build->view);
		bshm__unlock(build->segment);
	}
	return status;
}

/* Lays out and measures. What was added in between may be too much for the size found before:
 * then once more, with those keys in the spool. */
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
		*out = bshm__info_of(&build->view, &build->descriptor, *items);
		if (out->estimated_error_rate <= max_error_rate) {
			return BSHM_OK;
		}
		if (*items == spooled || tries == LAY_OUT_TRIES) {
			bshm__fail_sizes(error, BSHM_E_ERROR_RATE, "max_error_rate", *items, 0);
			error->rate = out->estimated_error_rate;
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
		status = publish(build, true, &items, error);
		out->items = items;
		out->generation = build->descriptor.generation;
		out->published_s = bshm__double(build->descriptor.published_s);
	}
	bshm_build_abort(build);
	return status < 0 ? status : BSHM_OK;
}

int bshm_filter_reserve(bshm_segment *segment, const char *name, size_t name_length,
	const bshm_parameters *parameters, bshm_error *error)
{
	bshm_build *build = new_build(segment, name, name_length);
	if (build == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, "memory");
	}
	build->exclusive = true;
	describe(build, parameters);
	const bool any_seed = parameters->seed == NULL;
	uint64_t items = 0;
	int status = pick_seed(parameters, &build->descriptor.seed, error);
	if (status == BSHM_OK) {
		status = begin(build, any_seed, error);
	}
	if (status == 1) {
		status = lay_out(build, &items, error);
		status = status == BSHM_OK ? publish(build, any_seed, &items, error) : status;
	}
	bshm_build_abort(build);
	return status;
}

/* ------------------------------------------------------------------ copy */

/* One attempt. BUSY: the source was replaced while it was being copied. */
static int copy_once(
	bshm_build *build, bshm_cache *cache, const char *from, size_t from_length, bshm_error *error)
{
	const bshm_view *source;
	int status = bshm_view_open(build->segment, cache, from, from_length, &source);
	if (status != BSHM_OK) {
		return status;
	}
	const bshm_entry *entry = &build->segment->entries[source->entry];
	build->descriptor = bshm__descriptor_read(entry, source->generation);
	if (!bshm_view_current(source)) {
		return BSHM_E_BUSY;
	}
	status = begin(build, false, error);
	if (status == 1) {
		status = take_partitions(build, source->partition_count, error);
	}
	if (status != BSHM_OK) {
		return status;
	}
	BSHM_FENCE(RELEASE); /* as in lay_out() */
	for (uint32_t i = 0; i < source->partition_count; i++) {
		bshm__partition_copy(
			bshm__view_partition(&build->view, i), bshm__view_partition(source, i));
	}
	uint64_t items = BSHM_LOAD(&entry->items[source->generation & 1], RELAXED);
	if (!bshm_view_current(source)) {
		return BSHM_E_BUSY;
	}
	return publish(build, false, &items, error);
}

/* BUSY once nobody is clearing the filter: it may be copied again. */
static bshm_status wait_settled(bshm_segment *segment, const bshm__name *name, bshm_error *error)
{
	uint32_t index;
	bshm_descriptor descriptor;
	bshm_status current;
	const bshm_status status =
		bshm__lock_settled(segment, name, &index, &descriptor, &current, error);
	if (status == BSHM_OK) {
		bshm__unlock(segment);
		return BSHM_E_BUSY;
	}
	return status;
}

bshm_status bshm_filter_copy(bshm_segment *segment, const char *from, size_t from_length,
	const char *to, size_t to_length, bshm_error *error)
{
	const bshm__name name = bshm__name_of(from, from_length);
	if (segment->readonly) {
		return bshm__fail(error, BSHM_E_READ_ONLY, "copy");
	}
	bshm_cache *cache = bshm_cache_new();
	if (cache == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, "memory");
	}
	const bool same = from_length == to_length && memcmp(from, to, to_length) == 0;
	int status =
		same && bshm_filter_ready(segment, cache, from, from_length) ? BSHM_OK : BSHM_E_BUSY;
	for (int tries = 0; status == BSHM_E_BUSY && tries < BSHM_READ_TRIES; tries++) {
		bshm_build *build = new_build(segment, to, to_length);
		if (build == NULL) {
			status = bshm__fail(error, BSHM_E_NO_SPACE, "memory");
			break;
		}
		*error = (bshm_error){0};
		status = copy_once(build, cache, from, from_length, error);
		bshm_build_abort(build);
		if (status == BSHM_E_BUSY) {
			status = wait_settled(segment, &name, error);
		}
	}
	bshm_cache_free(cache);
	if (status < 0 && error->status != status) {
		bshm__fail(error, status == BSHM_E_BUSY ? BSHM_E_TIMEOUT : status, "from");
	}
	return status < 0 ? error->status : BSHM_OK;
}
