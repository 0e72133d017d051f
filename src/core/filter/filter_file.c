/*
 * filter_file.c - a filter as a file: dump and restore.
 *
 *      +----------------------+
 *      | file_header          |  192 bytes: parameters, seed, counts, with a checksum
 *      +----------------------+
 *      | file_layer []        |  64 bytes a layer, the oldest first, each with a checksum
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
#include "core/bshm.h"

#include "core/base.h"
#include "core/file.h"
#include "core/filter/build.h"
#include "core/filter/kind.h"
#include "core/filter/sliding.h"
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

#define FILE_MAGIC   BSHM_FILTER_FILE_MAGIC
#define FILE_VERSION 1u
#define BLOCK_COUNT  128u /* partitions that are read at a time: 1 MB */

typedef struct {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes;
	uint64_t file_bytes;
	uint64_t seed;
	uint64_t capacity;
	uint64_t error_rate;
	uint64_t published_s;
	uint64_t dumped_s;
	uint64_t items;
	uint64_t phase_ns; /* sliding: how far into its epoch the filter was at dumped_s */
	uint32_t kind;
	uint32_t expansion;
	uint32_t window_s;
	uint32_t layer_count;
	uint32_t sized;
	uint32_t reserved0;
	uint8_t name[BSHM_NAME_MAX + 1];
	uint8_t reserved1[16];
	uint64_t check; /* XXH3-64 of the bytes before it */
} file_header;

typedef struct {
	uint64_t partition_count;
	uint64_t capacity;
	uint64_t items_before;
	uint64_t error_rate;
	uint32_t hash_count;
	uint32_t reserved0;
	uint8_t reserved1[16];
	uint64_t check; /* XXH3-64 of the bytes before it */
} file_layer;

BSHM_STATIC_ASSERT(file_header, sizeof(file_header) == 192);
BSHM_STATIC_ASSERT(file_header_name, offsetof(file_header, name) == 104);
BSHM_STATIC_ASSERT(file_header_check, offsetof(file_header, check) == 184);
BSHM_STATIC_ASSERT(file_layer, sizeof(file_layer) == 64);
BSHM_STATIC_ASSERT(file_layer_check, offsetof(file_layer, check) == 56);

static void swap_header(file_header *h)
{
	uint64_t *const longs[] = {&h->magic, &h->file_bytes, &h->seed, &h->capacity, &h->error_rate,
		&h->published_s, &h->dumped_s, &h->items, &h->phase_ns, &h->check};
	uint32_t *const words[] = {&h->version, &h->header_bytes, &h->kind, &h->expansion, &h->window_s,
		&h->layer_count, &h->sized};
	for (size_t i = 0; i < sizeof(longs) / sizeof(longs[0]); i++) {
		*longs[i] = bshm__little64(*longs[i]);
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		*words[i] = bshm__little32(*words[i]);
	}
}

static void swap_layer(file_layer *l)
{
	uint64_t *const longs[] = {
		&l->partition_count, &l->capacity, &l->items_before, &l->error_rate, &l->check};
	for (size_t i = 0; i < sizeof(longs) / sizeof(longs[0]); i++) {
		*longs[i] = bshm__little64(*longs[i]);
	}
	l->hash_count = bshm__little32(l->hash_count);
}

/* The checksum of a header or layer in the file's byte order. */
static uint64_t check_of(const void *record, size_t bytes)
{
	return bshm__little64(bshm__checksum(record, bytes, 0));
}

/* ------------------------------------------------------------------ dump */

static file_header header_of(const bshm_view *view, const bshm_layer *layers, uint64_t items,
	uint64_t phase_ns, double dumped_s)
{
	const bshm_descriptor *d = &view->descriptor;
	file_header h = {
		.magic = FILE_MAGIC,
		.version = FILE_VERSION,
		.header_bytes = sizeof(file_header),
		.file_bytes = sizeof(file_header) + d->layer_count * sizeof(file_layer) +
					  (d->layer_count + 1) * sizeof(uint64_t),
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
	for (uint32_t i = 0; i < d->layer_count; i++) {
		h.file_bytes += (uint64_t) layers[i].run.count * BSHM_PARTITION_BYTES;
	}
	memcpy(h.name, view->name.bytes, sizeof(h.name));
	return h;
}

static void put_records(bshm__output *out, file_header h, const bshm_layer *layers)
{
	const uint32_t count = h.layer_count;
	swap_header(&h);
	h.check = check_of(&h, offsetof(file_header, check));
	bshm__output_put(out, &h, sizeof(h));
	for (uint32_t i = 0; i < count; i++) {
		file_layer l = {
			.partition_count = layers[i].run.count,
			.capacity = layers[i].capacity,
			.items_before = layers[i].items_before,
			.error_rate = layers[i].error_rate,
			.hash_count = layers[i].hash_count,
		};
		swap_layer(&l);
		l.check = check_of(&l, offsetof(file_layer, check));
		bshm__output_put(out, &l, sizeof(l));
	}
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
	checks[count] = check_of(checks, count * sizeof(checks[0]));
	bshm__output_put(out, checks, (count + 1) * sizeof(checks[0]));
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
	const file_header h = header_of(view, layers, items, moment.phase_ns, bshm_os_wall_s());
	put_records(out, h, layers);
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

static bshm_status fail_file(const bshm__input *in, bshm_cause cause)
{
	return bshm__fail(in->error, BSHM_E_CORRUPT, cause);
}

static bool is_rate(uint64_t bits)
{
	const double rate = bshm__double(bits);
	return rate > 0 && rate <= 0.5; /* false for NaN */
}

static bool is_time(uint64_t bits)
{
	const double time = bshm__double(bits);
	return time >= 0 && time < 1e12;
}

static bool is_sound_header(const file_header *h)
{
	return h->header_bytes == sizeof(*h) &&
		   bshm__kind_fits(h->kind, h->expansion, h->window_s, h->layer_count) &&
		   (h->expansion == 0 || (h->expansion >= 2 && h->expansion <= 32)) &&
		   h->window_s <= BSHM_WINDOW_MAX_S &&
		   (h->window_s == 0 || h->phase_ns < bshm__epoch_width(h->window_s)) &&
		   h->layer_count >= 1 && h->layer_count <= BSHM_LAYERS_MAX && h->sized <= 1 &&
		   h->capacity >= 1 && h->capacity <= BSHM_CAPACITY_MAX && is_rate(h->error_rate) &&
		   is_time(h->published_s) && is_time(h->dumped_s) && h->items <= UINT64_MAX / 2;
}

static bshm_status get_header(bshm__input *in, file_header *h)
{
	const bshm_status status = bshm__input_header(in, FILE_MAGIC, h, sizeof(*h));
	if (status != BSHM_OK) {
		return status;
	}
	const bool sound = h->check == check_of(h, offsetof(file_header, check));
	swap_header(h);
	if (h->version != FILE_VERSION) {
		return bshm__fail_sizes(
			in->error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_VERSION, FILE_VERSION, h->version);
	}
	return sound && is_sound_header(h) ? BSHM_OK : fail_file(in, BSHM_CAUSE_HEADER);
}

static bshm_status get_layer(bshm__input *in, const file_header *h, bshm_layer *layer)
{
	file_layer l;
	const bshm_status status = bshm__input_get(in, &l, sizeof(l));
	if (status != BSHM_OK) {
		return status;
	}
	const bool sound = l.check == check_of(&l, offsetof(file_layer, check));
	swap_layer(&l);
	if (!sound || l.partition_count < 1 || l.partition_count > BSHM_PARTITION_MAX ||
		l.hash_count < 1 || l.hash_count > BSHM_HASHES_MAX || l.items_before > h->items ||
		l.capacity < 1 || l.capacity > UINT64_MAX / 4 || !is_rate(l.error_rate)) {
		return fail_file(in, BSHM_CAUSE_LAYER);
	}
	*layer = (bshm_layer){
		.run.count = (uint32_t) l.partition_count,
		.capacity = l.capacity,
		.items_before = l.items_before,
		.error_rate = l.error_rate,
		.hash_count = l.hash_count,
	};
	return BSHM_OK;
}

/* Each layer is at least twice as large as the one before, and no count goes down. */
static bool is_sound_growth(const file_header *h, const bshm_layer *layers)
{
	for (uint32_t i = 1; i < h->layer_count; i++) {
		if (layers[i].run.count / 2 < layers[i - 1].run.count ||
			layers[i].items_before < layers[i - 1].items_before) {
			return false;
		}
	}
	return layers[0].items_before == 0;
}

/* Describes the build as the file says. */
static void describe(bshm_build *build, const file_header *h)
{
	bshm_descriptor *d = &build->descriptor;
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

static bshm_status get_records(bshm__input *in, bshm_build *build, file_header *h)
{
	bshm_status status = get_header(in, h);
	uint64_t bytes = sizeof(file_header) + sizeof(uint64_t);
	for (uint32_t i = 0; status == BSHM_OK && i < h->layer_count; i++) {
		status = get_layer(in, h, &build->layers[i]);
		bytes += sizeof(file_layer) + sizeof(uint64_t) +
				 (uint64_t) build->layers[i].run.count * BSHM_PARTITION_BYTES;
	}
	if (status != BSHM_OK) {
		return status;
	}
	if (!is_sound_growth(h, build->layers) || h->file_bytes != bytes) {
		return fail_file(in, BSHM_CAUSE_LAYER);
	}
	if (in->bytes != bytes) {
		return fail_file(in, in->bytes < bytes ? BSHM_CAUSE_TRUNCATED : BSHM_CAUSE_TRAILING_BYTES);
	}
	describe(build, h);
	return BSHM_OK;
}

/*
 * Reads into private memory first: an adder that was stopped may still set a bit in a partition
 * that its filter has lost. In the new filter that bit is a needless "maybe", but between reading
 * and hashing it would look like damage.
 */
static bshm_status get_layer_bits(bshm__input *in, const bshm__parts *parts, uint64_t *block)
{
	for (uint32_t i = 0; i < parts->partition_count;) {
		const uint32_t left = parts->partition_count - i;
		const uint32_t count = left < BLOCK_COUNT ? left : BLOCK_COUNT;
		const bshm_status status =
			bshm__input_get(in, block, (size_t) count * BSHM_PARTITION_BYTES);
		if (status != BSHM_OK) {
			return status;
		}
		for (uint32_t k = 0; k < count; k++) {
			const uint64_t *from = block + (size_t) k * BSHM_PARTITION_WORDS;
			uint64_t *to = bshm__parts_at(parts, i + k);
			for (uint32_t w = 0; w < BSHM_PARTITION_WORDS; w++) {
				BSHM_STORE(&to[w], bshm__little64(from[w]), RELAXED);
			}
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
		status = get_layer_bits(in, bshm__view_layer(&build->view, i), block);
		found[i] = bshm__little64(bshm__input_check(in));
	}
	free(block);
	if (status == BSHM_OK) {
		status = bshm__input_get(in, stored, (count + 1) * sizeof(stored[0]));
	}
	if (status != BSHM_OK) {
		return status;
	}
	found[count] = check_of(found, count * sizeof(found[0]));
	if (memcmp(found, stored, (count + 1) * sizeof(found[0])) != 0) {
		return fail_file(in, BSHM_CAUSE_CHECKSUM);
	}
	if (build->view.kind->reset != NULL) {
		reset_partitions(&build->view);
	}
	return BSHM_OK;
}

static bshm_status restore_from(bshm__input *in, bshm_build *build)
{
	file_header h;
	int status = get_records(in, build, &h);
	if (status == BSHM_OK) {
		status = bshm__build_register(build, false, in->error);
	}
	if (status == 1) {
		status = bshm__build_take(build, 0, in->error);
	}
	if (status == BSHM_OK) {
		status = get_bits(in, build);
	}
	if (status == BSHM_OK) {
		uint64_t items = h.items;
		status = bshm__build_publish(build, false, &items, in->error);
	}
	return status < 0 ? status : BSHM_OK;
}

bshm_status bshm_filter_restore(bshm_segment *segment, const char *name, size_t name_length,
	const char *path, bshm_error *error)
{
	if (segment->readonly) {
		return bshm__fail(error, BSHM_E_READ_ONLY, BSHM_CAUSE_READONLY);
	}
	bshm__input in;
	bshm_status status = bshm__input_open(&in, path, error);
	if (status == BSHM_OK) {
		const bshm__name padded = bshm__name_of(name, name_length);
		bshm_build *build = bshm__build_new(segment, &padded, BSHM_OP_BUILD, BSHM_LOCK_BATCH_NS);
		status = build == NULL ? bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY)
							   : restore_from(&in, build);
		bshm_build_abort(build);
	}
	bshm__input_close(&in);
	return status;
}
