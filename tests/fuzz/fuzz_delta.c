/*
 * fuzz_delta.c - a libFuzzer target: deltas that may be anything are applied.
 *
 *      +--------+--------+--------+--------+
 *      | which  | repair | patches         |  then the patches, 8 bytes each: offset u32, 4 bytes
 *      +--------+--------+--------+--------+  then the delta; none: one that was made here
 *
 * `which`: the pair of images, modulo 4; bit 2: back. `repair` makes checksums anew, as the author
 * of a hostile delta would: bit 0 the header's and the last one, bit 1 those of the groups and of
 * the image.
 *
 * A model decodes the delta, bit by bit. What it refuses, the engine must refuse; what the engine
 * writes is what the model says, and leads back; and if it refuses a delta with right checksums,
 * then for its head alone. A delta that is refused leaves no file.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fuzz.h"

#include "core/base.h"
#include "core/delta/delta_file.h"
#include "core/delta/rice.h"
#include "core/filter/filter_head.h"
#include "core/hash.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DELTA_BYTES_MAX (1u << 18)
#define IMAGE_BYTES_MAX (1u << 20)
#define PAIRS           4u
#define REPAIR_DELTA    1u
#define REPAIR_GROUPS   2u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
	fuzz_content images[2];
	fuzz_content delta;
} pair;

static pair pairs[PAIRS];
static char *from_path;
static char *to_path;
static char *delta_path;
static char *out_path;
static uint8_t delta[DELTA_BYTES_MAX];
static size_t delta_bytes;

/* ------------------------------------------------------------------ files */

static uint64_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 32;
}

/* An image with one bit of 2^thin set, but in every fourth partition one of two. */
static fuzz_content make_image(uint32_t layer_count, uint32_t thin, uint64_t state)
{
	const char *path = fuzz_path("image");
	bshm_error error;
	bshm__output out;
	bshm_layer layers[BSHM_LAYERS_MAX] = {0};
	uint64_t end[BSHM_LAYERS_MAX + 1];
	const bool grows = layer_count > 1;
	const bshm__filter_header h = {.seed = 1,
		.capacity = 1000,
		.error_rate = bshm__bits(0.01),
		.dumped_s = bshm__bits((double) thin),
		.items = 1000 * layer_count,
		.kind = grows ? BSHM_KIND_GROWING : BSHM_KIND_PLAIN,
		.expansion = grows ? 2 : 0,
		.layer_count = layer_count,
		.name = {1, 'f'}};
	for (uint32_t i = 0; i < layer_count; i++) {
		layers[i] = (bshm_layer){.run.count = 1u << i,
			.capacity = 1000,
			.items_before = 1000 * i,
			.error_rate = bshm__bits(0.01),
			.hash_count = 7};
	}
	if (bshm__output_open(&out, path, &error) != BSHM_OK) {
		fuzz_defect("an image cannot be made", "");
	}
	bshm__head_put(&out, h, layers);
	bshm__output_check(&out);
	for (uint32_t i = 0; i < layer_count; i++) {
		for (uint32_t w = 0; w < BSHM_PARTITION_WORDS << i; w++) {
			uint64_t word = draw(&state) << 32 | draw(&state);
			for (uint32_t t = w / BSHM_PARTITION_WORDS % 4 == 3 ? thin : 1; t < thin; t++) {
				word &= draw(&state) << 32 | draw(&state);
			}
			bshm__output_put(&out, &word, sizeof(word));
		}
		end[i] = bshm__little64(bshm__output_check(&out));
	}
	bshm__head_end(end, layer_count);
	bshm__output_put(&out, end, bshm__head_end_bytes(layer_count));
	if (bshm__output_close(&out, BSHM_OK) != BSHM_OK) {
		fuzz_defect("an image cannot be made", "");
	}
	return fuzz_read_file(path, IMAGE_BYTES_MAX);
}

static void prepare(void)
{
	static const uint32_t made[PAIRS][4] = {/* layers and thinness of both */
		{1, 11, 1, 12}, {2, 9, 3, 5}, {3, 3, 2, 8}, {1, 20, 1, 20}};
	from_path = strdup(fuzz_path("from"));
	to_path = strdup(fuzz_path("to"));
	delta_path = strdup(fuzz_path("delta"));
	out_path = strdup(fuzz_path("out"));
	for (unsigned i = 0; i < PAIRS; i++) {
		bshm_delta_stat stat;
		bshm_error error;
		for (unsigned k = 0; k < 2; k++) {
			pairs[i].images[k] = make_image(made[i][2 * k], made[i][2 * k + 1], i + k);
			fuzz_write_file(fuzz_path(k == 0 ? "from" : "to"), pairs[i].images[k].bytes,
				pairs[i].images[k].count);
		}
		if (bshm_delta_make(from_path, to_path, delta_path, &stat, &error) != BSHM_OK) {
			fuzz_defect("a delta cannot be made", bshm_cause_str(error.cause));
		}
		pairs[i].delta = fuzz_read_file(delta_path, IMAGE_BYTES_MAX);
		if (pairs[i].delta.count > DELTA_BYTES_MAX) {
			fuzz_defect("a delta is too large", "");
		}
	}
}

/* ------------------------------------------------------------------ the model */

typedef struct {
	const fuzz_content *image;
	bool back;
	bool forge; /* checksums of groups are set, and not compared */
	bool sound;
	size_t at; /* of the delta */
	uint8_t out[IMAGE_BYTES_MAX];
	size_t out_bytes;
} model;

static model m;

static const uint8_t *take(size_t count)
{
	m.sound = m.sound && count <= delta_bytes - m.at;
	if (!m.sound) {
		return NULL;
	}
	m.at += count;
	return delta + m.at - count;
}

static uint64_t number(const uint8_t *at, size_t count)
{
	uint64_t value = 0;
	for (size_t i = 0; at != NULL && i < count; i++) {
		value |= (uint64_t) at[i] << 8 * i;
	}
	return value;
}

static uint64_t check_of(const uint8_t *bytes, size_t count)
{
	return XXH3_64bits(bytes, count);
}

static void set(uint8_t *at, uint64_t value)
{
	for (size_t i = 0; i < 8; i++) {
		at[i] = (uint8_t) (value >> 8 * i);
	}
}

static void claim(size_t off, uint64_t value)
{
	if (m.forge) {
		set(delta + off, value);
	}
	m.sound = m.sound && number(delta + off, 8) == value;
}

static bool is_zero(const uint8_t *bytes, size_t count)
{
	return count == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0);
}

static void change_record(const uint8_t *from, size_t words)
{
	uint8_t *to = m.out + m.out_bytes;
	if (from == NULL) {
		memset(to, 0, words * 8);
	} else {
		memcpy(to, from, words * 8);
	}
	const uint64_t mask = number(take(4), 4);
	m.sound = m.sound && mask >> (words - 1) == 0;
	for (size_t i = 0; i < words - 1; i++) {
		if (m.sound && (mask >> i & 1) != 0) {
			set(to + 8 * i, number(to + 8 * i, 8) ^ number(take(8), 8));
		}
	}
	set(to + 8 * (words - 1), check_of(to, 8 * (words - 1)));
	m.out_bytes += words * 8;
}

static const uint8_t *code_bytes;
static uint64_t code_bits;
static uint64_t code_at;

static uint64_t bit(void)
{
	m.sound = m.sound && code_at < code_bits;
	const uint64_t found = m.sound ? code_bytes[code_at / 8] >> code_at % 8 & 1 : 1;
	code_at++;
	return found;
}

static uint64_t code(uint64_t parameter)
{
	uint64_t gap = 0;
	while (bit() == 0) {
		gap += UINT64_C(1) << parameter;
	}
	for (uint64_t i = 0; i < parameter; i++) {
		gap += bit() << i;
	}
	return gap;
}

/* Changes the bits of the group at `to`. */
static void change_bits(uint8_t *to, uint64_t partitions, const uint8_t *head)
{
	const uint64_t parameter = head[4];
	const uint64_t line = head[5];
	const uint64_t changed = number(head + 8, 4);
	code_bits = number(head + 12, 4) * 8;
	m.sound = m.sound && head[6] == 0 && head[7] == 0 && code_bits <= 524288 * 8;
	code_bytes = take(code_bits / 8);
	code_at = 0;
	if (parameter == 255) {
		uint64_t count = 0;
		m.sound = m.sound && line == 255 && code_bits == partitions * 65536;
		for (uint64_t i = 0; m.sound && i < code_bits / 8; i++) {
			to[i] ^= code_bytes[i];
			count += (uint64_t) __builtin_popcount(code_bytes[i]);
		}
		m.sound = m.sound && count == changed;
		return;
	}
	m.sound = m.sound && parameter <= 27 && (line <= 9 || line == 255);
	uint64_t next = 0;
	for (uint64_t i = 0; m.sound && i < changed; i++) {
		const bool is_short = line != 255 && bit() == 1;
		next += is_short ? code(line) : code(parameter) + (line == 255 ? 0 : 512);
		m.sound = m.sound && next < partitions * 65536;
		if (m.sound) {
			to[next / 8] ^= (uint8_t) (1u << next % 8);
		}
		next++;
	}
	m.sound = m.sound && (code_at + 7) / 8 == code_bits / 8;
	while (m.sound && code_at < code_bits) {
		m.sound = bit() == 0;
	}
}

/* The groups of a layer. `from`: its partitions; NULL: they are zero. */
static void change_layer(const uint8_t *from, uint64_t partitions, bool kept)
{
	uint8_t *to = m.out + m.out_bytes;
	if (from == NULL) {
		memset(to, 0, partitions * 8192);
	} else {
		memcpy(to, from, partitions * 8192);
	}
	for (uint64_t done = 0; m.sound && done < partitions;) {
		const size_t head = m.at;
		const uint64_t count = number(take(4), 4);
		m.sound = m.sound && count >= 1 && count <= partitions - done && count <= 4096;
		if (take(28) == NULL) {
			return;
		}
		const uint64_t before = check_of(to + done * 8192, count * 8192);
		change_bits(to + done * 8192, count, delta + head);
		const uint64_t after = check_of(to + done * 8192, count * 8192);
		claim(head + 16, m.back ? after : before);
		claim(head + 24, m.back ? before : after);
		done += count;
	}
	m.sound = m.sound && (kept || is_zero(to, partitions * 8192));
	m.out_bytes += kept ? partitions * 8192 : 0;
}

/* The new image; sets checksums anew, if they are to be. m.sound: it can be decoded. */
static void decode(const fuzz_content *image, bool back, unsigned repair)
{
	const uint64_t own = number(image->bytes + 92, 4);
	m.image = image;
	m.back = back;
	m.forge = (repair & REPAIR_GROUPS) != 0;
	m.sound = true;
	m.at = m.out_bytes = 0;
	take(64);
	const uint64_t layers = number(delta + 12, 4);
	m.sound = m.sound && layers >= own && layers <= 4; /* more would be larger than the buffers */
	change_record(image->bytes, 24);
	const uint64_t there = m.sound ? number(m.out + 92, 4) : 0;
	m.sound = m.sound && there >= 1 && layers == (own > there ? own : there);
	for (uint64_t i = 0; m.sound && i < layers; i++) {
		change_record(i < own ? image->bytes + 192 + 64 * i : NULL, 8);
		m.sound = m.sound && (i < there || is_zero(m.out + m.out_bytes - 64, 56));
	}
	const uint8_t *from = image->bytes + 192 + 64 * own;
	uint64_t end[5];
	for (uint64_t i = 0; m.sound && i < layers; i++) {
		const uint64_t count = number(m.out + 192 + 64 * i, 8);
		const uint64_t partitions = i < own ? number(image->bytes + 192 + 64 * i, 8) : count;
		m.sound = partitions <= 8 && (i >= there || count == partitions);
		if (i == 0 && m.sound) {
			m.out_bytes = 192 + 64 * there;
		}
		if (m.sound) {
			const size_t begin = m.out_bytes;
			change_layer(i < own ? from : NULL, partitions, i < there);
			end[i] = i < there ? check_of(m.out + begin, partitions * 8192) : 0;
			from += i < own ? partitions * 8192 : 0;
		}
	}
	for (uint64_t i = 0; m.sound && i < there; i++) {
		set(m.out + m.out_bytes, end[i]);
		m.out_bytes += 8;
	}
	if (m.sound) {
		set(m.out + m.out_bytes, check_of(m.out + m.out_bytes - there * 8, there * 8));
		m.out_bytes += 8;
	}
	m.sound = m.sound && delta_bytes - m.at == 8;
}

static uint64_t image_check(const uint8_t *bytes, size_t count)
{
	const size_t layers = (size_t) number(bytes + 92, 4);
	uint8_t both[(192 + 64 * 4) + 8 * 5];
	memcpy(both, bytes, 192 + 64 * layers);
	memcpy(both + 192 + 64 * layers, bytes + count - 8 * layers - 8, 8 * layers + 8);
	return check_of(both, 192 + 64 * layers + 8 * layers + 8);
}

/* ------------------------------------------------------------------ one input */

static void lay_out_delta(const uint8_t *data, size_t size)
{
	const pair *p = &pairs[data[0] % PAIRS];
	const size_t patches = data[2] | (size_t) data[3] << 8;
	const size_t fits = patches < (size - 4) / 8 ? patches : (size - 4) / 8;
	const uint8_t *rest = data + 4 + fits * 8;
	const size_t left = size - 4 - fits * 8;
	delta_bytes = left == 0 ? p->delta.count : left < DELTA_BYTES_MAX ? left : DELTA_BYTES_MAX;
	memcpy(delta, left == 0 ? p->delta.bytes : rest, delta_bytes);
	for (size_t i = 0; i < fits && delta_bytes >= 4; i++) {
		uint32_t off;
		memcpy(&off, data + 4 + i * 8, sizeof(off));
		/* Half of them at the front, where the numbers are. */
		off = ((off & 1) != 0 ? off % 256 : off) % (uint32_t) (delta_bytes - 3);
		memcpy(delta + off, data + 8 + i * 8, 4);
	}
}

/* The way back, by the same delta. */
static void go_back(const fuzz_content *image)
{
	bshm_delta_stat stat;
	bshm_error error;
	fuzz_write_file(delta_path, delta, delta_bytes);
	if (bshm_delta_apply(out_path, delta_path, to_path, &stat, &error) != BSHM_OK) {
		fuzz_defect("a delta does not lead back", bshm_cause_str(error.cause));
	}
	const fuzz_content again = fuzz_read_file(to_path, IMAGE_BYTES_MAX);
	if (again.count != image->count || memcmp(again.bytes, image->bytes, again.count) != 0) {
		fuzz_defect("a delta leads back to another image", "");
	}
	free(again.bytes);
	unlink(to_path);
}

static void apply(const fuzz_content *image, bool forged)
{
	struct stat st;
	bshm_delta_stat stat;
	bshm_error error = {0};
	fuzz_write_file(delta_path, delta, delta_bytes);
	const bshm_status status = bshm_delta_apply(from_path, delta_path, out_path, &stat, &error);
	if (status != BSHM_OK) {
		if (error.cause == BSHM_CAUSE_NONE || error.source == 0 || lstat(out_path, &st) == 0) {
			fuzz_defect("refused without a reason, or with a file", "");
		}
		if (forged && error.cause != BSHM_CAUSE_HEADER && error.cause != BSHM_CAUSE_VERSION &&
			error.cause != BSHM_CAUSE_MAGIC && error.cause != BSHM_CAUSE_BYTE_ORDER) {
			fuzz_defect("a sound delta is refused", bshm_cause_str(error.cause));
		}
		return;
	}
	const fuzz_content made = fuzz_read_file(out_path, IMAGE_BYTES_MAX);
	if (!m.sound || made.count != m.out_bytes || memcmp(made.bytes, m.out, made.count) != 0) {
		fuzz_defect("a wrong image was written", "");
	}
	free(made.bytes);
	go_back(image);
	unlink(out_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (pairs[0].delta.bytes == NULL) {
		fuzz_world_reset();
		prepare();
	}
	if (size < 4) {
		return 0;
	}
	fuzz_world_reset();
	const bool back = (data[0] & 4) != 0;
	const fuzz_content *image = &pairs[data[0] % PAIRS].images[back];
	const unsigned repair = data[1];
	lay_out_delta(data, size);
	if (delta_bytes >= 72 && (repair & REPAIR_GROUPS) != 0) { /* of this image, whatever it says */
		set(delta + (back ? 24 : 16), image->count);
		set(delta + (back ? 40 : 32), image_check(image->bytes, image->count));
	}
	decode(image, back, repair);
	if (m.sound && m.forge) {
		set(delta + (back ? 16 : 24), m.out_bytes);
		set(delta + (back ? 32 : 40), image_check(m.out, m.out_bytes));
	}
	if (delta_bytes >= 72 && (repair & REPAIR_DELTA) != 0) {
		set(delta + 56, check_of(delta, 56));
		set(delta + delta_bytes - 8, check_of(delta, delta_bytes - 8));
	}
	fuzz_write_file(from_path, image->bytes, image->count);
	apply(image, m.sound && m.forge && (repair & REPAIR_DELTA) != 0);
	return 0;
}
