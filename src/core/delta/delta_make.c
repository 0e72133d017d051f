/*
 * delta_make.c - makes the delta of two images.
 *
 * The images are read side by side, partition by partition. The changed bits of neighbouring
 * partitions are gathered in a group, as gaps between them. A group ends when it has so many that
 * its 32 bytes do not matter beside them; their best parameter is then known. So the file is
 * written in one pass, with little memory, and what it takes does not depend on how the bits are
 * spread over partitions.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include "core/delta/delta_file.h"
#include "core/delta/delta_image.h"
#include "core/delta/rice.h"
#include "core/hash.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

#define ENOUGH 32768u /* changed bits of a group: 23 kB and more of code */
/* If so many bits of a partition have changed by chance, no code is shorter than they are. */
#define RAW_FROM 24576u
#define GAPS_MAX (ENOUGH + RAW_FROM)

typedef struct {
	bshm__delta_image from;
	bshm__delta_image to;
	bshm__output out;
	bshm_error error; /* of the output */
	bshm__delta_group group;
	bool raw;
	uint32_t next;  /* of the group's bits: the one behind the last that has changed */
	uint32_t *gaps; /* and as much room again */
	uint8_t *bytes; /* that follow the group */
	XXH3_state_t from_hash;
	XXH3_state_t to_hash;
	bshm_delta_stat *stat;
} maker;

/* ------------------------------------------------------------------ groups */

static void begin_group(maker *m)
{
	m->group = (bshm__delta_group){0};
	m->next = 0;
	XXH3_64bits_reset(&m->from_hash);
	XXH3_64bits_reset(&m->to_hash);
}

static void end_group(maker *m)
{
	bshm__delta_group g = m->group;
	if (g.partition_count == 0) {
		return;
	}
	size_t bytes = (size_t) g.partition_count * BSHM_PARTITION_BYTES;
	bshm__rice_way way = {BSHM_DELTA_RAW, BSHM_RICE_NONE};
	if (!m->raw) {
		way = bshm__rice_best(m->gaps, g.changed, m->gaps + GAPS_MAX, &bytes);
		bshm__rice_put(m->bytes, bytes, m->gaps, g.changed, way);
	}
	g.parameter = way.parameter;
	g.line_parameter = way.line_parameter;
	g.bytes = (uint32_t) bytes;
	g.from_check = XXH3_64bits_digest(&m->from_hash);
	g.to_check = XXH3_64bits_digest(&m->to_hash);
	m->stat->changed_bits += g.changed;
	m->stat->raw_partitions += m->raw ? g.partition_count : 0;
	bshm__delta_swap_group(&g);
	bshm__output_put(&m->out, &g, sizeof(g));
	bshm__output_put(&m->out, m->bytes, bytes);
	begin_group(m);
}

static bool is_full(const maker *m)
{
	return m->raw ? m->group.partition_count == BSHM_DELTA_RAW_MAX
				  : m->group.partition_count == BSHM_DELTA_LONGEST || m->group.changed >= ENOUGH;
}

/* ------------------------------------------------------------------ partitions */

/* The changes of a partition. How many words of it have changed? */
static uint32_t compare(uint64_t *changes, const uint64_t *from, const uint64_t *to)
{
	uint32_t changed = 0;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		changes[i] = from[i] ^ to[i];
		changed += changes[i] != 0;
	}
	return changed;
}

static uint32_t count_bits(const uint64_t *changes)
{
	uint32_t changed = 0;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		changed += BSHM_BIT_COUNT(changes[i]);
	}
	return changed;
}

static void gather_gaps(maker *m, const uint64_t *changes)
{
	uint32_t *gap = m->gaps + m->group.changed;
	uint32_t next = m->next;
	uint32_t first = m->group.partition_count * BSHM_PARTITION_BITS;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++, first += 64) {
		for (uint64_t word = bshm__little64(changes[i]); word != 0; word &= word - 1) {
			const uint32_t position = first + BSHM_LOWEST_BIT(word);
			*gap++ = position - next;
			next = position + 1;
		}
	}
	m->next = next;
	m->group.changed = (uint32_t) (gap - m->gaps);
}

static bool add_partition(maker *m)
{
	uint64_t changes[BSHM_PARTITION_WORDS];
	const uint64_t *from = bshm__delta_image_next(&m->from);
	const uint64_t *to = bshm__delta_image_next(&m->to);
	if (from == NULL || to == NULL) {
		return false;
	}
	const uint32_t words = compare(changes, from, to);
	const uint32_t bits = 64 * words < RAW_FROM ? 0 : count_bits(changes); /* mostly too few */
	const bool raw = bits >= RAW_FROM;
	if (raw != m->raw || is_full(m)) {
		end_group(m);
		m->raw = raw;
	}
	if (raw) {
		memcpy(m->bytes + (size_t) m->group.partition_count * sizeof(changes), changes,
			sizeof(changes));
		m->group.changed += bits;
	} else if (words != 0) {
		gather_gaps(m, changes);
	}
	XXH3_64bits_update(&m->from_hash, from, BSHM_PARTITION_BYTES);
	XXH3_64bits_update(&m->to_hash, to, BSHM_PARTITION_BYTES);
	m->group.partition_count++;
	return true;
}

static bshm_status add_layer(maker *m, uint32_t layer)
{
	const bool old = layer < m->from.head.header.layer_count;
	const uint32_t count = (old ? &m->from : &m->to)->head.layers[layer].run.count;
	bshm__delta_image_layer(&m->from, layer, count);
	bshm__delta_image_layer(&m->to, layer, count);
	for (uint32_t i = 0; i < count; i++) {
		if (!add_partition(m) || m->out.status != BSHM_OK) {
			return BSHM_E_IO; /* one of the three files says which error it is */
		}
	}
	end_group(m);
	const bshm_status status = bshm__delta_image_layer_end(&m->from, layer);
	return status == BSHM_OK ? bshm__delta_image_layer_end(&m->to, layer) : status;
}

/* ------------------------------------------------------------------ head */

/* Which of the record's words have changed, but for its check, and their changes. */
static void put_change(bshm__output *out, const void *from, const void *to, size_t bytes)
{
	uint32_t mask = 0;
	uint64_t changes[sizeof(bshm__filter_header) / sizeof(uint64_t)];
	uint32_t count = 0;
	for (size_t i = 0; i < bytes / sizeof(uint64_t) - 1; i++) {
		uint64_t a;
		uint64_t b;
		memcpy(&a, (const uint8_t *) from + i * sizeof(a), sizeof(a));
		memcpy(&b, (const uint8_t *) to + i * sizeof(b), sizeof(b));
		if (a != b) {
			mask |= UINT32_C(1) << i;
			changes[count++] = a ^ b;
		}
	}
	mask = bshm__little32(mask);
	bshm__output_put(out, &mask, sizeof(mask));
	bshm__output_put(out, changes, count * sizeof(changes[0]));
}

static void put_head(maker *m, uint32_t layer_count)
{
	bshm__delta_header h = {
		.magic = BSHM_DELTA_FILE_MAGIC,
		.version = BSHM_DELTA_VERSION,
		.layer_count = layer_count,
		.from_bytes = m->stat->from_bytes,
		.to_bytes = m->stat->to_bytes,
		.from_check = m->stat->from_check,
		.to_check = m->stat->to_check,
	};
	bshm__delta_swap_header(&h);
	h.check = bshm__head_check(&h, offsetof(bshm__delta_header, check));
	bshm__output_put(&m->out, &h, sizeof(h));
	const bshm__filter_raw *from = &m->from.head.raw;
	const bshm__filter_raw *to = &m->to.head.raw;
	put_change(&m->out, &from->header, &to->header, sizeof(from->header));
	for (uint32_t i = 0; i < layer_count; i++) {
		put_change(&m->out, &from->layers[i], &to->layers[i], sizeof(from->layers[i]));
	}
}

/* ------------------------------------------------------------------ the delta */

static bshm_status write_delta(maker *m)
{
	const uint32_t from_count = m->from.head.header.layer_count;
	const uint32_t to_count = m->to.head.header.layer_count;
	const uint32_t layer_count = from_count > to_count ? from_count : to_count;
	bshm_status status = BSHM_OK;
	put_head(m, layer_count);
	begin_group(m);
	for (uint32_t i = 0; status == BSHM_OK && i < layer_count; i++) {
		status = add_layer(m, i);
	}
	if (status == BSHM_OK) {
		const uint64_t check = bshm__little64(bshm__output_check(&m->out));
		bshm__output_put(&m->out, &check, sizeof(check));
	}
	m->stat->delta_bytes = m->out.bytes;
	return status;
}

static bshm_status open_images(maker *m, const char *from, const char *to)
{
	bshm_status status = bshm__delta_image_open(&m->from, from);
	if (status == BSHM_OK) {
		status = bshm__delta_image_plain(&m->from.head, &m->from.error);
	}
	if (status == BSHM_OK) {
		status = bshm__delta_image_open(&m->to, to);
	}
	if (status == BSHM_OK) {
		status = bshm__delta_image_plain(&m->to.head, &m->to.error);
	}
	return status == BSHM_OK ? bshm__delta_image_same(&m->from.head, &m->to.head, &m->to.error)
							 : status;
}

static bshm_status make(maker *m, const char *from, const char *to, const char *delta)
{
	m->gaps = malloc(2 * GAPS_MAX * sizeof(m->gaps[0]));
	m->bytes = malloc(BSHM_DELTA_BYTES_MAX + BSHM_RICE_PAD);
	if (m->gaps == NULL || m->bytes == NULL) {
		return bshm__fail(&m->error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	bshm_status status = open_images(m, from, to);
	if (status != BSHM_OK) {
		return status;
	}
	*m->stat = (bshm_delta_stat){
		.from_bytes = m->from.in.bytes,
		.to_bytes = m->to.in.bytes,
		.from_check = m->from.check,
		.to_check = m->to.check,
	};
	status = bshm__output_open(&m->out, delta, &m->error);
	return status == BSHM_OK ? write_delta(m) : status;
}

bshm_status bshm_delta_make(
	const char *from, const char *to, const char *delta, bshm_delta_stat *out, bshm_error *error)
{
	maker m = {.from.in.fd = -1, .to.in.fd = -1, .out.fd = -1, .stat = out};
	*out = (bshm_delta_stat){0};
	bshm_status status = make(&m, from, to, delta);
	bshm__delta_image_close(&m.from); /* the delta may take the place of an image */
	bshm__delta_image_close(&m.to);
	status = bshm__output_close(&m.out, status);
	free(m.gaps);
	free(m.bytes);
	return status == BSHM_OK ? status
							 : bshm__delta_tell(error, &m.from.error, &m.to.error, &m.error);
}
