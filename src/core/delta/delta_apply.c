/*
 * delta_apply.c - makes the other image of one image and a delta.
 *
 * Nothing in the delta is believed: each number is checked before it is used, the head that it
 * makes must be as sound as one that is restored, each group must lead from the checksum of its
 * partitions before to the one after, and head and end of the written file must have the check that
 * the delta names. The file gets its name after all of that only.
 *
 * A filter of 1 GB is read once, piece by piece, and each piece is hashed, changed, hashed, written
 * and put into a build while it is in the processor's cache.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include "core/delta/delta_file.h"
#include "core/delta/delta_image.h"
#include "core/delta/rice.h"
#include "core/filter/filter_file.h"
#include "core/hash.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	bshm__delta_image from;
	bshm__input delta;
	uint64_t delta_read; /* bytes */
	bshm__delta_header header;
	bool back;              /* the image is the one that the delta leads to */
	bshm__filter_head head; /* of the image that is written, */
	uint64_t end[BSHM_LAYERS_MAX + 1];
	bshm__output out;
	bshm_error delta_error;
	bshm_error out_error;
	uint8_t *bytes;        /* that follow a group */
	bshm_segment *segment; /* NULL: the image is only written */
	const char *name;
	size_t name_length;
	bshm_build *build; /* NULL: none could be begun */
	bshm_delta_stat *stat;
} applier;

static bshm_status refuse(applier *a, bshm_cause cause)
{
	return bshm__fail(&a->delta_error, BSHM_E_CORRUPT, cause);
}

static bshm_status get(applier *a, void *bytes, size_t count)
{
	a->delta_read += count;
	return bshm__input_get(&a->delta, bytes, count);
}

/* ------------------------------------------------------------------ header */

static bshm_status get_header(bshm__input *in, bshm__delta_header *h)
{
	const bshm_status status = bshm__input_header(in, BSHM_DELTA_FILE_MAGIC, h, sizeof(*h));
	if (status != BSHM_OK) {
		return status;
	}
	const bool sound = h->check == bshm__head_check(h, offsetof(bshm__delta_header, check));
	bshm__delta_swap_header(h);
	if (h->version != BSHM_DELTA_VERSION) {
		return bshm__fail_sizes(
			in->error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_VERSION, BSHM_DELTA_VERSION, h->version);
	}
	return sound && h->layer_count >= 1 && h->layer_count <= BSHM_LAYERS_MAX && h->reserved == 0
			   ? BSHM_OK
			   : bshm__fail(in->error, BSHM_E_CORRUPT, BSHM_CAUSE_HEADER);
}

static void tell_header(const bshm__input *in, const bshm__delta_header *h, bshm_delta_stat *out)
{
	*out = (bshm_delta_stat){
		.from_bytes = h->from_bytes,
		.to_bytes = h->to_bytes,
		.from_check = h->from_check,
		.to_check = h->to_check,
		.delta_bytes = in->bytes,
	};
}

bshm_status bshm_delta_read(const char *delta, bshm_delta_stat *out, bshm_error *error)
{
	bshm__input in;
	bshm__delta_header h;
	*out = (bshm_delta_stat){0};
	bshm_status status = bshm__input_open(&in, delta, error);
	if (status == BSHM_OK) {
		status = get_header(&in, &h);
	}
	if (status == BSHM_OK) {
		tell_header(&in, &h, out);
	} else {
		error->source = 1;
	}
	bshm__input_close(&in);
	return status;
}

/* Which way does the delta lead from the image? */
static bshm_status find_way(applier *a)
{
	bshm_delta_stat *stat = a->stat;
	tell_header(&a->delta, &a->header, stat);
	a->back = a->from.check != stat->from_check;
	if (a->back) {
		stat->from_bytes = a->header.to_bytes;
		stat->from_check = a->header.to_check;
		stat->to_bytes = a->header.from_bytes;
		stat->to_check = a->header.from_check;
	}
	return a->from.check == stat->from_check && a->from.in.bytes == stat->from_bytes
			   ? BSHM_OK
			   : bshm__fail(&a->from.error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_IMAGE);
}

/* ------------------------------------------------------------------ head */

/* Changes the words of a record; `check` is its last word, which follows from the others. */
static bshm_status change_record(applier *a, void *record, uint64_t *check, size_t bytes)
{
	const size_t count = bytes / sizeof(uint64_t) - 1;
	uint32_t mask;
	bshm_status status = get(a, &mask, sizeof(mask));
	mask = status == BSHM_OK ? bshm__little32(mask) : 0;
	if (mask >> count != 0) {
		return refuse(a, BSHM_CAUSE_HEADER);
	}
	for (; status == BSHM_OK && mask != 0; mask &= mask - 1) {
		uint8_t *at = (uint8_t *) record + BSHM_LOWEST_BIT(mask) * sizeof(uint64_t);
		uint64_t word;
		uint64_t change;
		memcpy(&word, at, sizeof(word));
		status = get(a, &change, sizeof(change));
		word ^= status == BSHM_OK ? change : 0;
		memcpy(at, &word, sizeof(word));
	}
	*check = bshm__head_check(record, count * sizeof(uint64_t));
	return status;
}

static bool is_zero(const void *bytes, size_t count)
{
	const uint8_t *at = bytes;
	uint8_t any = 0;
	for (size_t i = 0; i < count; i++) {
		any |= at[i];
	}
	return any == 0;
}

/* Takes the numbers of the new head: is it another one of the same filter? */
static bool is_sound_change(applier *a)
{
	bshm_error ignored;
	const uint32_t from_count = a->from.head.header.layer_count;
	if (bshm__head_take(&a->head, &ignored) != BSHM_OK ||
		bshm__delta_image_same(&a->from.head, &a->head, &ignored) != BSHM_OK ||
		a->head.header.file_bytes != a->stat->to_bytes) {
		return false;
	}
	const uint32_t to_count = a->head.header.layer_count;
	for (uint32_t i = to_count; i < from_count; i++) { /* layers that go */
		if (!is_zero(&a->head.raw.layers[i], offsetof(bshm__filter_layer, check))) {
			return false;
		}
	}
	return a->header.layer_count == (from_count > to_count ? from_count : to_count);
}

/* Makes the head of the image that is written, and checks it. */
static bshm_status get_head(applier *a)
{
	bshm__filter_raw *raw = &a->head.raw;
	const uint32_t layer_count = a->header.layer_count;
	*raw = a->from.head.raw;
	bshm_status status = change_record(a, &raw->header, &raw->header.check, sizeof(raw->header));
	for (uint32_t i = 0; status == BSHM_OK && i < layer_count; i++) {
		status = change_record(a, &raw->layers[i], &raw->layers[i].check, sizeof(raw->layers[i]));
	}
	if (status != BSHM_OK) {
		return status;
	}
	return is_sound_change(a) ? BSHM_OK : refuse(a, BSHM_CAUSE_HEADER);
}

/* ------------------------------------------------------------------ groups */

/* The changed bits of a group, while they are carried over. */
typedef struct {
	bshm__delta_group group;
	bool raw;
	bshm__rice code;
	uint32_t left; /* gaps that were not read yet */
	uint64_t next; /* the bit that changes next; UINT64_MAX: none */
	uint32_t changed;
	XXH3_state_t from_hash;
	XXH3_state_t to_hash;
} changes;

static bshm_status next_change(applier *a, changes *c)
{
	uint64_t gap;
	if (c->left == 0) {
		c->next = UINT64_MAX;
		return BSHM_OK;
	}
	if (!bshm__rice_next(&c->code, &gap)) {
		return refuse(a, BSHM_CAUSE_GROUP);
	}
	c->left--;
	c->next += gap + 1;
	return BSHM_OK;
}

static bool is_sound_group(const bshm__delta_group *g)
{
	const bool plain = g->line_parameter == BSHM_RICE_NONE;
	if (g->partition_count < 1 || g->partition_count > BSHM_DELTA_LONGEST ||
		g->bytes > BSHM_DELTA_BYTES_MAX || g->reserved[0] != 0 || g->reserved[1] != 0) {
		return false;
	}
	return g->parameter == BSHM_DELTA_RAW
			   ? plain && g->bytes == (uint64_t) g->partition_count * BSHM_PARTITION_BYTES
			   : g->parameter <= BSHM_RICE_MAX &&
					 (plain || g->line_parameter <= BSHM_RICE_LINE_MAX);
}

/* Reads a group of at most `most` partitions with the bytes that follow it. */
static bshm_status get_group(applier *a, uint32_t most, changes *c)
{
	bshm__delta_group *g = &c->group;
	bshm_status status = get(a, g, sizeof(*g));
	if (status != BSHM_OK) {
		return status;
	}
	bshm__delta_swap_group(g);
	c->raw = g->parameter == BSHM_DELTA_RAW;
	if (g->partition_count > most || !is_sound_group(g)) {
		return refuse(a, BSHM_CAUSE_GROUP);
	}
	status = get(a, a->bytes, g->bytes);
	if (status != BSHM_OK || c->raw) {
		return status;
	}
	memset(a->bytes + g->bytes, 0, BSHM_RICE_PAD);
	c->code = (bshm__rice){a->bytes, (uint64_t) g->bytes * 8, 0, {g->parameter, g->line_parameter}};
	c->left = g->changed;
	c->next = UINT64_MAX; /* one before the first */
	return next_change(a, c);
}

static void change_raw(applier *a, changes *c, uint32_t partition, uint64_t *words)
{
	const uint8_t *from = a->bytes + (size_t) partition * BSHM_PARTITION_BYTES;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		uint64_t word;
		memcpy(&word, from + i * sizeof(word), sizeof(word));
		words[i] ^= word;
		c->changed += BSHM_BIT_COUNT(word);
	}
}

static bshm_status change_bits(applier *a, changes *c, uint32_t partition, uint64_t *words)
{
	const uint64_t first = (uint64_t) partition * BSHM_PARTITION_BITS;
	bshm_status status = BSHM_OK;
	while (status == BSHM_OK && c->next < first + BSHM_PARTITION_BITS) {
		const uint64_t position = c->next - first;
		words[position >> 6] ^= bshm__little64(UINT64_C(1) << (position & 63));
		c->changed++;
		status = next_change(a, c);
	}
	return status;
}

/* The image is damaged, or the delta lies about it: the image's own checksum tells. */
static bshm_status refuse_partitions(applier *a, uint32_t layer)
{
	while (a->from.left != 0) {
		if (bshm__delta_image_next(&a->from) == NULL) {
			return a->from.error.status;
		}
	}
	const bshm_status status = bshm__delta_image_layer_end(&a->from, layer);
	return status == BSHM_OK ? refuse(a, BSHM_CAUSE_GROUP) : status;
}

/* Where a layer is, and how much of it was carried over. */
typedef struct {
	uint32_t number;
	uint32_t done; /* partitions */
	bool kept;     /* the image that is written has it */
} place;

/* Carries over the next partition of the layer, the group's i-th one. */
static bshm_status apply_partition(applier *a, changes *c, uint32_t i, const place *at)
{
	bshm_status status = BSHM_OK;
	uint64_t *words = bshm__delta_image_next(&a->from);
	if (words == NULL) {
		return a->from.error.status;
	}
	XXH3_64bits_update(&c->from_hash, words, BSHM_PARTITION_BYTES);
	if (c->raw) {
		change_raw(a, c, i, words);
	} else {
		status = change_bits(a, c, i, words);
	}
	XXH3_64bits_update(&c->to_hash, words, BSHM_PARTITION_BYTES);
	if (at->kept) {
		bshm__output_put(&a->out, words, BSHM_PARTITION_BYTES);
		if (a->build != NULL) {
			bshm__restore_put(a->build, at->number, at->done + i, words);
		}
	} else if (status == BSHM_OK && !is_zero(words, BSHM_PARTITION_BYTES)) {
		status = refuse(a, BSHM_CAUSE_GROUP);
	}
	return status;
}

/* Carries over the partitions of a group, at most `most`. */
static bshm_status apply_group(applier *a, uint32_t most, place *at)
{
	changes c = {.next = UINT64_MAX};
	const bshm__delta_group *g = &c.group;
	XXH3_64bits_reset(&c.from_hash);
	XXH3_64bits_reset(&c.to_hash);
	bshm_status status = get_group(a, most, &c);
	for (uint32_t i = 0; status == BSHM_OK && i < g->partition_count; i++) {
		status = apply_partition(a, &c, i, at);
	}
	if (status != BSHM_OK) {
		return status;
	}
	if (XXH3_64bits_digest(&c.from_hash) != (a->back ? g->to_check : g->from_check)) {
		return refuse_partitions(a, at->number);
	}
	if (XXH3_64bits_digest(&c.to_hash) != (a->back ? g->from_check : g->to_check) ||
		c.changed != g->changed || (!c.raw && !bshm__rice_ended(&c.code))) {
		return refuse(a, BSHM_CAUSE_GROUP);
	}
	a->stat->changed_bits += g->changed;
	a->stat->raw_partitions += c.raw ? g->partition_count : 0;
	at->done += g->partition_count;
	return BSHM_OK;
}

static bshm_status apply_layer(applier *a, uint32_t layer)
{
	const bool there = layer < a->from.head.header.layer_count;
	const uint32_t most = (there ? &a->from.head : &a->head)->layers[layer].run.count;
	place at = {.number = layer, .kept = layer < a->head.header.layer_count};
	bshm__delta_image_layer(&a->from, layer, most);
	while (at.done < most) {
		const bshm_status status = apply_group(a, most - at.done, &at);
		if (status != BSHM_OK || a->out.status != BSHM_OK) {
			return status == BSHM_OK ? a->out.status : status;
		}
	}
	if (at.kept) {
		a->end[layer] = bshm__little64(bshm__output_check(&a->out));
	}
	return bshm__delta_image_layer_end(&a->from, layer);
}

/* ------------------------------------------------------------------ the image */

/* The ends of both files. */
static bshm_status end_files(applier *a)
{
	const uint32_t layer_count = a->head.header.layer_count;
	const uint64_t wanted = bshm__little64(bshm__input_check(&a->delta));
	uint64_t check;
	const bshm_status status = get(a, &check, sizeof(check));
	if (status != BSHM_OK) {
		return status;
	}
	if (a->delta_read != a->delta.bytes) {
		return refuse(a, BSHM_CAUSE_TRAILING_BYTES);
	}
	bshm__head_end(a->end, layer_count);
	if (check != wanted || bshm__delta_image_check(&a->head, a->end) != a->stat->to_check) {
		return refuse(a, BSHM_CAUSE_CHECKSUM);
	}
	bshm__output_put(&a->out, a->end, bshm__head_end_bytes(layer_count));
	return BSHM_OK;
}

static bshm_status write_image(applier *a)
{
	bshm_status status = BSHM_OK;
	bshm__output_put(&a->out, &a->head.raw, bshm__head_bytes(a->head.header.layer_count));
	bshm__output_check(&a->out); /* begins anew */
	for (uint32_t i = 0; status == BSHM_OK && i < a->header.layer_count; i++) {
		status = apply_layer(a, i);
	}
	return status == BSHM_OK ? end_files(a) : status;
}

static bshm_status open_files(applier *a, const char *from, const char *delta)
{
	bshm_status status = bshm__input_open(&a->delta, delta, &a->delta_error);
	if (status == BSHM_OK) {
		a->delta_read = sizeof(a->header);
		status = get_header(&a->delta, &a->header);
	}
	if (status == BSHM_OK) {
		status = bshm__delta_image_open(&a->from, from);
	}
	if (status == BSHM_OK) {
		status = bshm__delta_image_plain(&a->from.head, &a->from.error);
	}
	return status == BSHM_OK ? find_way(a) : status;
}

static bshm_status apply(applier *a, const char *from, const char *delta, const char *to)
{
	bshm_error ignored;
	a->bytes = malloc(BSHM_DELTA_BYTES_MAX + BSHM_RICE_PAD);
	if (a->bytes == NULL) {
		return bshm__fail(&a->out_error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	bshm_status status = open_files(a, from, delta);
	if (status == BSHM_OK) {
		status = get_head(a);
	}
	if (status != BSHM_OK) {
		return status;
	}
	if (a->segment != NULL) {
		bshm__restore_new(a->segment, a->name, a->name_length, &a->head, &a->build, &ignored);
	}
	status = bshm__output_open(&a->out, to, &a->out_error);
	return status == BSHM_OK ? write_image(a) : status;
}

static bshm_status run(
	applier *a, const char *from, const char *delta, const char *to, bshm_error *error)
{
	a->from.in.fd = a->delta.fd = a->out.fd = -1;
	*a->stat = (bshm_delta_stat){0};
	bshm_status status = apply(a, from, delta, to);
	bshm__delta_image_close(&a->from); /* the image may take the place of one that was read */
	bshm__input_close(&a->delta);
	status = bshm__output_close(&a->out, status);
	free(a->bytes);
	return status == BSHM_OK
			   ? status
			   : bshm__delta_tell(error, &a->from.error, &a->delta_error, &a->out_error);
}

bshm_status bshm_delta_apply(
	const char *from, const char *delta, const char *to, bshm_delta_stat *out, bshm_error *error)
{
	applier a = {.stat = out};
	return run(&a, from, delta, to, error);
}

bshm_status bshm_delta_restore(bshm_segment *segment, const char *name, size_t name_length,
	const char *from, const char *delta, const char *to, bshm_delta_stat *out, bshm_build **build,
	bshm_error *error)
{
	applier a = {.segment = segment, .name = name, .name_length = name_length, .stat = out};
	const bshm_status status = run(&a, from, delta, to, error);
	if (status != BSHM_OK) {
		bshm_build_abort(a.build);
		a.build = NULL;
	}
	*build = a.build;
	return status;
}
