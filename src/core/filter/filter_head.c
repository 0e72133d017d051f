/*
 * filter_head.c - the head of a filter's file: the header and the layers.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/filter_head.h"

#include "core/base.h"
#include "core/filter/sliding.h"
#include "core/hash.h"
#include "core/status.h"

#define FILE_VERSION 1u

static void swap_header(bshm__filter_header *h)
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

static void swap_layer(bshm__filter_layer *l)
{
	uint64_t *const longs[] = {
		&l->partition_count, &l->capacity, &l->items_before, &l->error_rate, &l->check};
	for (size_t i = 0; i < sizeof(longs) / sizeof(longs[0]); i++) {
		*longs[i] = bshm__little64(*longs[i]);
	}
	l->hash_count = bshm__little32(l->hash_count);
}

uint64_t bshm__head_check(const void *bytes, size_t count)
{
	return bshm__little64(bshm__checksum(bytes, count, 0));
}

void bshm__head_end(uint64_t *checks, uint32_t layer_count)
{
	checks[layer_count] = bshm__head_check(checks, layer_count * sizeof(checks[0]));
}

static uint64_t bytes_of(const bshm_layer *layers, uint32_t count)
{
	uint64_t bytes = bshm__head_bytes(count) + bshm__head_end_bytes(count);
	for (uint32_t i = 0; i < count; i++) {
		bytes += (uint64_t) layers[i].run.count * BSHM_PARTITION_BYTES;
	}
	return bytes;
}

/* ------------------------------------------------------------------ writing */

void bshm__head_put(bshm__output *out, bshm__filter_header h, const bshm_layer *layers)
{
	const uint32_t count = h.layer_count;
	h.magic = BSHM_FILTER_FILE_MAGIC;
	h.version = FILE_VERSION;
	h.header_bytes = sizeof(h);
	h.file_bytes = bytes_of(layers, count);
	swap_header(&h);
	h.check = bshm__head_check(&h, offsetof(bshm__filter_header, check));
	bshm__output_put(out, &h, sizeof(h));
	for (uint32_t i = 0; i < count; i++) {
		bshm__filter_layer l = {
			.partition_count = layers[i].run.count,
			.capacity = layers[i].capacity,
			.items_before = layers[i].items_before,
			.error_rate = layers[i].error_rate,
			.hash_count = layers[i].hash_count,
		};
		swap_layer(&l);
		l.check = bshm__head_check(&l, offsetof(bshm__filter_layer, check));
		bshm__output_put(out, &l, sizeof(l));
	}
}

/* ------------------------------------------------------------------ reading */

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

static bool is_sound_header(const bshm__filter_header *h)
{
	return h->magic == BSHM_FILTER_FILE_MAGIC && h->header_bytes == sizeof(*h) &&
		   bshm__kind_fits(h->kind, h->expansion, h->window_s, h->layer_count) &&
		   (h->expansion == 0 || (h->expansion >= 2 && h->expansion <= 32)) &&
		   h->window_s <= BSHM_WINDOW_MAX_S &&
		   (h->window_s == 0 || h->phase_ns < bshm__epoch_width(h->window_s)) &&
		   h->layer_count >= 1 && h->layer_count <= BSHM_LAYERS_MAX && h->sized <= 1 &&
		   h->capacity >= 1 && h->capacity <= BSHM_CAPACITY_MAX && is_rate(h->error_rate) &&
		   is_time(h->published_s) && is_time(h->dumped_s) && h->items <= UINT64_MAX / 2;
}

static bshm_status take_header(bshm__filter_head *head, bshm_error *error)
{
	const bshm__filter_header *raw = &head->raw.header;
	bshm__filter_header *h = &head->header;
	const bool sound = raw->check == bshm__head_check(raw, offsetof(bshm__filter_header, check));
	*h = *raw;
	swap_header(h);
	if (h->version != FILE_VERSION) {
		return bshm__fail_sizes(
			error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_VERSION, FILE_VERSION, h->version);
	}
	return sound && is_sound_header(h) ? BSHM_OK
									   : bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_HEADER);
}

static bool take_layer(bshm__filter_head *head, uint32_t i)
{
	const bshm__filter_layer *raw = &head->raw.layers[i];
	bshm__filter_layer l = *raw;
	swap_layer(&l);
	if (raw->check != bshm__head_check(raw, offsetof(bshm__filter_layer, check)) ||
		l.partition_count < 1 || l.partition_count > BSHM_PARTITION_MAX || l.hash_count < 1 ||
		l.hash_count > BSHM_HASHES_MAX || l.items_before > head->header.items || l.capacity < 1 ||
		l.capacity > UINT64_MAX / 4 || !is_rate(l.error_rate)) {
		return false;
	}
	head->layers[i] = (bshm_layer){
		.run.count = (uint32_t) l.partition_count,
		.capacity = l.capacity,
		.items_before = l.items_before,
		.error_rate = l.error_rate,
		.hash_count = l.hash_count,
	};
	return true;
}

/* Each layer is at least twice as large as the one before, and no count goes down. */
static bool is_sound_growth(const bshm__filter_head *head)
{
	const bshm_layer *layers = head->layers;
	for (uint32_t i = 1; i < head->header.layer_count; i++) {
		if (layers[i].run.count / 2 < layers[i - 1].run.count ||
			layers[i].items_before < layers[i - 1].items_before) {
			return false;
		}
	}
	return layers[0].items_before == 0;
}

static bshm_status take_layers(bshm__filter_head *head, bshm_error *error)
{
	const uint32_t count = head->header.layer_count;
	bool sound = true;
	for (uint32_t i = 0; sound && i < count; i++) {
		sound = take_layer(head, i);
	}
	sound =
		sound && is_sound_growth(head) && head->header.file_bytes == bytes_of(head->layers, count);
	return sound ? BSHM_OK : bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_LAYER);
}

bshm_status bshm__head_take(bshm__filter_head *head, bshm_error *error)
{
	const bshm_status status = take_header(head, error);
	return status == BSHM_OK ? take_layers(head, error) : status;
}

bshm_status bshm__head_get(bshm__input *in, bshm__filter_head *head)
{
	bshm__filter_raw *raw = &head->raw;
	bshm_status status =
		bshm__input_header(in, BSHM_FILTER_FILE_MAGIC, &raw->header, sizeof(raw->header));
	if (status == BSHM_OK) {
		status = take_header(head, in->error);
	}
	if (status == BSHM_OK) {
		status =
			bshm__input_get(in, raw->layers, head->header.layer_count * sizeof(raw->layers[0]));
	}
	if (status == BSHM_OK) {
		status = take_layers(head, in->error);
	}
	if (status == BSHM_OK && in->bytes != head->header.file_bytes) {
		status = bshm__fail(in->error, BSHM_E_CORRUPT,
			in->bytes < head->header.file_bytes ? BSHM_CAUSE_TRUNCATED : BSHM_CAUSE_TRAILING_BYTES);
	}
	return status;
}
