/*
 * filter_file.c - a filter as a file: dump and restore.
 *
 *      +----------------------+
 *      | header, layers       |  filter_head.h
 *      +----------------------+
 *      | partitions           |  all of layer 0, then all of layer 1, ...
 *      +----------------------+
 *      | uint64 []            |  XXH3-64 of the partitions of each layer, then of these numbers
 *      +----------------------+
 *
 * All numbers, and the words of the partitions, are little-endian. docs/FORMAT.md has the offsets.
 *
 * A dump reads a published filter as a question does: without a lock, and again from the beginning
 * if the filter was replaced meanwhile. Keys may be added during the dump, because the checksum is
 * computed from the bytes as they are written.
 *
 * A restore is a build (build.c). It checks every number before it uses it, and the checksums of
 * the bits before it publishes the filter. The checksums find damage, not malice: a process that
 * may write the file may put any filter into it, but nothing that harms the segment.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/filter_file.h"

#include "core/base.h"
#include "core/bshm.h"
#include "core/file.h"
#include "core/filter/kind.h"
#include "core/filter/view.h"
#include "core/hash.h"
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

#define BLOCK_COUNT 128u /* partitions that are read at a time: 1 MB */

/* ------------------------------------------------------------------ dump */

static bshm__filter_header header_of(
	const bshm_view *view, uint64_t items, uint64_t phase_ns, double dumped_s)
{
	const bshm_descriptor *d = &view->descriptor;
	bshm__filter_header h = {
		.seed = d->seed,
		.capacity = d->capacity,
		.error_rate = d->error_rate,
		.published_s = d->published_s,
		.dumped_s = bshm__bits(dumped_s),
		.items = items,
		.kind = d->kind,
		.expansion = d->expansion,
		.window_s = d->window_s,
		.layer_count = d->layer_count,
		.sized = d->sized,
		.phase_ns = phase_ns,
	};
	memcpy(h.name, view->name.bytes, sizeof(h.name));
	return h;
}

/* A private copy of a partition in the file's byte order. Its epochs begin anew. */
static void copy_partition(
	uint64_t *to, const bshm_view *view, const uint64_t *words, uint32_t epoch)
{
	view->kind->export(to, view, words, epoch);
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		to[i] = bshm__little64(to[i]);
	}
}

static void put_layer(
	bshm__output *out, const bshm_view *view, const bshm__parts *parts, uint32_t epoch)
{
	uint64_t copy[BSHM_PARTITION_WORDS];
	for (uint32_t i = 0; i < parts->partition_count && out->status == BSHM_OK; i++) {
		copy_partition(copy, view, bshm__parts_at(parts, i), epoch);
		bshm__output_put(out, copy, sizeof(copy));
	}
}

static void put_bits(bshm__output *out, const bshm_view *view, uint32_t epoch)
{
	uint64_t checks[BSHM_LAYERS_MAX + 1];
	const uint32_t count = view->older_count + 1;
	bshm__output_check(out); /* header and layers have checksums of their own */
	for (uint32_t i = 0; i < count; i++) {
		put_layer(out, view, bshm__view_layer(view, i), epoch);
		checks[i] = bshm__little64(bshm__output_check(out));
	}
	bshm__head_end(checks, count);
	bshm__output_put(out, checks, bshm__head_end_bytes(count));
}

/* One attempt. BUSY: the filter was replaced while it was read. */
static bshm_status dump_once(bshm__output *out, bshm_segment *segment, const bshm_view *view)
{
	bshm_layer layers[BSHM_LAYERS_MAX];
	const bool read = bshm__layers_read(segment, &view->descriptor, layers);
	const uint64_t counted =
		BSHM_LOAD(&segment->entries[view->entry].items[view->descriptor.items_slot & 1], RELAXED);
	/* The count, but not less than the keys of the older layers: an adder may have given places
	 * back after the filter grew. */
	const uint64_t before = view->descriptor.newest.items_before;
	const uint64_t items = counted < before ? before : counted;
	if (!bshm__view_current(view)) {
		return BSHM_E_BUSY;
	}
	if (!read) {
		return bshm__fail(out->error, BSHM_E_CORRUPT, BSHM_CAUSE_LAYERS);
	}
	/* Lanes and phase must belong to one moment, so the clock is read once. The wall clock is read
	 * after it: if the process is stopped in between, keys live too long, not too short. */
	bshm__moment moment = {0};
	if (view->kind->now != NULL) {
		moment = view->kind->now(segment, &view->descriptor);
	}
	bshm__head_put(out, header_of(view, items, moment.phase_ns, bshm_os_wall_s()), layers);
	put_bits(out, view, moment.epoch);
	return bshm__view_current(view) ? BSHM_OK : BSHM_E_BUSY;
}

static bshm_status dump_to(const char *path, bshm_segment *segment, const bshm_view *view,
	uint64_t *bytes, bshm_error *error)
{
	bshm__output out;
	bshm_status status = bshm__output_open(&out, path, error);
	if (status == BSHM_OK) {
		status = dump_once(&out, segment, view);
	}
	*bytes = out.bytes;
	return bshm__output_close(&out, status);
}

bshm_status bshm_filter_dump(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const char *path, uint64_t *bytes, bshm_error *error)
{
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		bshm_view *view;
		bshm_status status = bshm_view_open(segment, views, name, name_length, &view);
		if (status == BSHM_OK) {
			status = dump_to(path, segment, view, bytes, error);
		} else if (status != BSHM_E_BUSY) {
			bshm__fail(error, status, BSHM_CAUSE_FILTER);
		}
		if (status != BSHM_E_BUSY) {
			return status;
		}
		bshm_os_sleep_us(1000); /* it is being cleared, or was just replaced */
	}
	return bshm__fail(error, BSHM_E_TIMEOUT, BSHM_CAUSE_FILTER);
}

/* ------------------------------------------------------------------ restore */

/* Describes the build as the file says. */
static void describe(bshm_build *build, const bshm__filter_head *head)
{
	const bshm__filter_header *h = &head->header;
	bshm_descriptor *d = &build->descriptor;
	memcpy(build->layers, head->layers, h->layer_count * sizeof(build->layers[0]));
	d->state = BSHM_STATE_LIVE;
	d->seed = h->seed;
	d->capacity = h->capacity;
	d->error_rate = h->error_rate;
	d->kind = h->kind;
	d->expansion = h->expansion;
	d->window_s = h->window_s;
	d->layer_count = h->layer_count;
	d->sized = h->sized;
	if (bshm__kinds[d->kind]->resume != NULL) {
		/* The wall clock is read before the engine clock: if the process is stopped in between, no
		 * key gets older. */
		const double aged_s = fmax(0, bshm_os_wall_s() - bshm__double(h->dumped_s));
		bshm__kinds[d->kind]->resume(build->segment, d, h->phase_ns, aged_s);
	}
}

bshm_status bshm__restore_new(bshm_segment *segment, const char *name, size_t name_length,
	const bshm__filter_head *head, bshm_build **out, bshm_error *error)
{
	const bshm__name padded = bshm__name_of(name, name_length);
	bshm_build *build = bshm__build_new(segment, &padded, BSHM_OP_BUILD, BSHM_LOCK_BATCH_NS);
	if (build == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	describe(build, head);
	build->items = head->header.items;
	int status = bshm__build_register(build, error);
	if (status == 1) {
		status = bshm__build_take(build, 0, error);
	}
	if (status == BSHM_OK) {
		*out = build;
	} else {
		bshm_build_abort(build);
	}
	return status;
}

void bshm__restore_put(
	const bshm_build *build, uint32_t layer, uint32_t partition, const uint64_t *words)
{
	uint64_t *to = bshm__parts_at(bshm__view_layer(&build->view, layer), partition);
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		BSHM_STORE(&to[i], bshm__little64(words[i]), RELAXED);
	}
}

static bshm_status get_layer_bits(
	bshm__input *in, const bshm_build *build, uint32_t layer, uint64_t *block)
{
	const uint32_t partition_count = build->layers[layer].run.count;
	for (uint32_t i = 0; i < partition_count;) {
		const uint32_t left = partition_count - i;
		const uint32_t count = left < BLOCK_COUNT ? left : BLOCK_COUNT;
		const bshm_status status =
			bshm__input_get(in, block, (size_t) count * BSHM_PARTITION_BYTES);
		if (status != BSHM_OK) {
			return status;
		}
		for (uint32_t k = 0; k < count; k++) {
			bshm__restore_put(build, layer, i + k, block + (size_t) k * BSHM_PARTITION_WORDS);
		}
		i += count;
	}
	return BSHM_OK;
}

static void reset_partitions(const bshm_view *view)
{
	for (uint32_t i = 0; i < view->newest.partition_count; i++) {
		view->kind->reset(view, bshm__parts_at(&view->newest, i));
	}
}

/* Reads the bits into the build's partitions, and compares the checksums with those in the file. */
static bshm_status get_bits(bshm__input *in, const bshm_build *build)
{
	const uint32_t count = build->descriptor.layer_count;
	uint64_t found[BSHM_LAYERS_MAX + 1];
	uint64_t stored[BSHM_LAYERS_MAX + 1];
	uint64_t *block = malloc((size_t) BLOCK_COUNT * BSHM_PARTITION_BYTES);
	bshm_status status =
		block == NULL ? bshm__fail(in->error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY) : BSHM_OK;
	bshm__input_check(in); /* header and layers have checksums of their own */
	for (uint32_t i = 0; status == BSHM_OK && i < count; i++) {
		status = get_layer_bits(in, build, i, block);
		found[i] = bshm__little64(bshm__input_check(in));
	}
	free(block);
	if (status == BSHM_OK) {
		status = bshm__input_get(in, stored, bshm__head_end_bytes(count));
	}
	if (status != BSHM_OK) {
		return status;
	}
	bshm__head_end(found, count);
	if (memcmp(found, stored, bshm__head_end_bytes(count)) != 0) {
		return bshm__fail(in->error, BSHM_E_CORRUPT, BSHM_CAUSE_CHECKSUM);
	}
	if (build->view.kind->reset != NULL) {
		reset_partitions(&build->view);
	}
	return BSHM_OK;
}

bshm_status bshm_restore_begin(bshm_segment *segment, const char *name, size_t name_length,
	const char *path, bshm_build **out, bshm_error *error)
{
	if (segment->readonly) {
		return bshm__fail(error, BSHM_E_READ_ONLY, BSHM_CAUSE_READONLY);
	}
	bshm__input in;
	bshm__filter_head head;
	bshm_status status = bshm__input_open(&in, path, error);
	if (status == BSHM_OK) {
		status = bshm__head_get(&in, &head);
	}
	if (status == BSHM_OK) {
		status = bshm__restore_new(segment, name, name_length, &head, out, error);
	}
	if (status == BSHM_OK) {
		status = get_bits(&in, *out);
		if (status != BSHM_OK) {
			bshm_build_abort(*out);
		}
	}
	bshm__input_close(&in);
	return status;
}

bshm_status bshm_filter_restore(bshm_segment *segment, const char *name, size_t name_length,
	const char *path, bshm_error *error)
{
	bshm_build *build;
	const bshm_status status = bshm_restore_begin(segment, name, name_length, path, &build, error);
	return status == BSHM_OK ? bshm_build_publish(build, 1, NULL, error) : status;
}
