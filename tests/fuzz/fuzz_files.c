/*
 * fuzz_files.c - a libFuzzer target: files of filters and of records that may be anything are
 * restored.
 *
 *      +--------+--------+--------+--------+
 *      | which  | repair | patches         |  then the patches, 8 bytes each: offset u32, 4 bytes
 *      +--------+--------+--------+--------+  then the file; none: one that was dumped here
 *
 * `which` says whose format it is: 0 the records', 1 the filters' (modulo 2); bits 1 to 3 which of
 * the files dumped here a file that is missing is. `repair` makes checksums anew after the patches,
 * for nothing gets far without: bit 0 the header's and the layers', bit 1 the bits', and the record
 * file's; bit 2 sets the counts and sizes that the file tells of itself.
 *
 * A restore either publishes or changes nothing: it never damages the segment, which the validator
 * says, and every filter that stood before is asked for its keys. What was restored is used: asked,
 * added to (until it grows), described, dumped again. That may be refused, because the author of
 * a file chooses its numbers, but it must end.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fuzz.h"

#include "core/hash.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX (3u << 20)
#define DUMPS          8u
#define REPAIR_HEADS   1u
#define REPAIR_BITS    2u
#define REPAIR_SIZES   4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static fuzz_template sound;
static fuzz_content dumps[DUMPS]; /* 0: of records; the others: of filters */
static uint8_t file[FILE_BYTES_MAX];
static size_t file_bytes;

/* ------------------------------------------------------------------ files */

static bshm_segment *open_segment(void)
{
	const char *path = fuzz_path("segment");
	const bshm_options options = fuzz_options(path);
	bshm_segment *segment;
	bshm_error error;
	fuzz_write_file(path, sound.bytes, sound.count);
	if (bshm_segment_open(&options, &segment, &error) != BSHM_OK) {
		fuzz_defect("the template is refused", bshm_cause_str(error.cause));
	}
	return segment;
}

static void prepare(void)
{
	static const unsigned filters[DUMPS] = {0, 0, 2, 3, 5, 6, 7, 1};
	const char *path = fuzz_path("dump");
	bshm_error error;
	uint64_t count;
	sound = fuzz_template_make();
	bshm_segment *segment = open_segment();
	bshm_views *views = bshm_views_new();
	if (bshm_store_dump(segment, path, &count, &error) != BSHM_OK) {
		fuzz_defect("records cannot be dumped", bshm_cause_str(error.cause));
	}
	dumps[0] = fuzz_read_file(path, FILE_BYTES_MAX);
	for (unsigned i = 1; i < DUMPS; i++) {
		const char *name = fuzz_filters[filters[i]].name;
		if (bshm_filter_dump(segment, views, name, strlen(name), path, &count, &error) != BSHM_OK) {
			fuzz_defect("a filter cannot be dumped", name);
		}
		dumps[i] = fuzz_read_file(path, FILE_BYTES_MAX);
	}
	unlink(path);
	bshm_views_free(views);
	bshm_segment_close(segment);
}

/* ------------------------------------------------------------------ repairs */

static uint64_t word_at(size_t off)
{
	uint64_t word = 0;
	if (off + sizeof(word) <= file_bytes) {
		memcpy(&word, file + off, sizeof(word));
	}
	return word;
}

static void set_word(size_t off, uint64_t word)
{
	if (off + sizeof(word) <= file_bytes) {
		memcpy(file + off, &word, sizeof(word));
	}
}

static void check_over(size_t from, size_t to)
{
	if (to <= file_bytes) {
		set_word(to, bshm__checksum(file + from, to - from, 0));
	}
}

#define HEADER_BYTES  192u
#define LAYER_BYTES   64u
#define HEADER_FILE   16u
#define HEADER_LAYERS 92u

/* docs/FORMAT.md, "The file of a filter". */
static void repair_filter(unsigned repair)
{
	const uint32_t layers = (uint32_t) word_at(HEADER_LAYERS) % 64;
	const size_t begin = HEADER_BYTES + (size_t) layers * LAYER_BYTES;
	uint64_t bytes = begin + (layers + 1) * sizeof(uint64_t);
	for (uint32_t i = 0; i < layers; i++) {
		bytes +=
			(uint32_t) word_at(HEADER_BYTES + i * LAYER_BYTES) * (uint64_t) BSHM_PARTITION_BYTES;
	}
	if ((repair & REPAIR_SIZES) != 0) {
		set_word(HEADER_FILE, bytes);
		if (bytes > file_bytes && bytes <= FILE_BYTES_MAX) {
			memset(file + file_bytes, 0x5a, bytes - file_bytes);
		}
		file_bytes = bytes <= FILE_BYTES_MAX ? bytes : file_bytes;
	}
	if ((repair & REPAIR_HEADS) != 0) {
		check_over(0, HEADER_BYTES - 8);
		for (uint32_t i = 0; i < layers; i++) {
			const size_t at = HEADER_BYTES + (size_t) i * LAYER_BYTES;
			check_over(at, at + LAYER_BYTES - 8);
		}
	}
	if ((repair & REPAIR_BITS) != 0 && bytes <= file_bytes) {
		const size_t checks = bytes - (layers + 1) * sizeof(uint64_t);
		size_t at = begin;
		for (uint32_t i = 0; i < layers; i++) {
			const size_t part =
				(uint32_t) word_at(HEADER_BYTES + i * LAYER_BYTES) * (size_t) BSHM_PARTITION_BYTES;
			if (part > file_bytes - at) {
				return; /* what was added has become a layer's number */
			}
			set_word(checks + i * 8, bshm__checksum(file + at, part, 0));
			at += part;
		}
		check_over(checks, checks + layers * 8);
	}
}

/* The last 32 bytes are taken for the end; the count is what is before them. */
static void repair_records(unsigned repair)
{
	if (file_bytes < 64) {
		return;
	}
	uint64_t count = 0;
	size_t at = 32;
	while (at + 64 <= file_bytes && word_at(at) != UINT64_MAX) {
		at += 32 + (uint32_t) word_at(at + 16) + (size_t) (word_at(at + 16) >> 32);
		count++;
	}
	if ((repair & REPAIR_SIZES) != 0) {
		at = at + 32 <= FILE_BYTES_MAX ? at : file_bytes - 32;
		file_bytes = at + 32 > file_bytes ? at + 32 : file_bytes;
		set_word(at, UINT64_MAX);
		set_word(at + 8, count);
		set_word(at + 16, at);
		file_bytes = at + 32;
	}
	if ((repair & REPAIR_BITS) != 0) {
		check_over(0, file_bytes - 8);
	}
}

/* ------------------------------------------------------------------ what was restored */

static void find_no_fault(void *context, const char *what, const char *name)
{
	(void) context;
	(void) name;
	fuzz_defect("a restore has damaged the segment", what);
}

/* Keys are added to what was in the file before it is published. */
static void restore_with_keys(bshm_segment *segment, bshm_views *views, const char *path)
{
	bshm_build *build;
	bshm_error error;
	if (bshm_restore_begin(segment, "copy", 4, path, &build, &error) != BSHM_OK) {
		return;
	}
	uint64_t added = 0;
	bshm_key key = fuzz_key(1000);
	while (added < 300 && bshm_build_key(build, key.bytes, key.length, &error) == BSHM_OK) {
		key = fuzz_key(1000 + ++added);
	}
	if (bshm_build_publish(build, 1, NULL, &error) != BSHM_OK) {
		return;
	}
	for (uint64_t i = 0; i < added; i++) {
		key = fuzz_key(1000 + i);
		if (bshm_filter_has(segment, views, "copy", 4, key.bytes, key.length) == 0) {
			fuzz_defect("a restored filter denies what was added to its build", "");
		}
	}
}

static void use_filter(bshm_segment *segment, bshm_views *views)
{
	static const char name[] = "restored";
	const size_t length = sizeof(name) - 1;
	bshm_error error;
	bshm_info info;
	uint64_t bytes;
	bshm_key keys[64];
	uint64_t added;
	if (bshm_filter_info(segment, views, name, length, &info) != BSHM_OK) {
		fuzz_defect("a filter was restored, and is not there", "");
	}
	for (uint64_t i = 0; i < 200; i++) {
		const bshm_key key = fuzz_key(i);
		const int status =
			bshm_filter_add(segment, views, name, length, key.bytes, key.length, &error);
		if (status >= 0 &&
			bshm_filter_has(segment, views, name, length, key.bytes, key.length) == 0) {
			fuzz_defect("a restored filter denies what was added", "");
		}
		bshm_filter_count(segment, views, name, length, key.bytes, key.length);
		bshm_filter_remove(segment, views, name, length, key.bytes, key.length, &error);
	}
	for (unsigned i = 0; i < 64; i++) {
		keys[i] = (bshm_key){(const char *) sound.bytes + i * 8, 8};
	}
	bshm_filter_add_many(segment, views, name, length, keys, 64, NULL, &added, &error);
	bshm_filter_copy(segment, name, length, "copy", 4, &error);
	bshm_filter_merge(segment, "copy", 4, &(bshm_key){name, length}, 1, &error);
	const char *path = fuzz_path("again");
	if (bshm_filter_dump(segment, views, "copy", 4, path, &bytes, &error) == BSHM_OK) {
		bshm_filter_restore(segment, "copy", 4, path, &error);
		restore_with_keys(segment, views, path);
		unlink(path);
	}
	bshm_filter_clear(segment, "copy", 4, &error);
}

static void use_records(bshm_segment *segment)
{
	bshm_scan at = {.cursor = 0};
	do {
		if (!bshm_scan_next(segment, &at, BSHM_FIND_STALE)) {
			break;
		}
		for (unsigned i = 0; i < at.count; i++) {
			bshm_found found;
			if (bshm_record_find(segment, at.spaces[i], &at.keys[i], BSHM_FIND_STALE, &found) ==
				1) {
				char *bytes = malloc((size_t) found.length + 1);
				bshm_found_copy(&found, bytes);
				free(bytes);
			}
		}
	} while (at.cursor != 0);
	bshm_scan_free(&at);
}

static void deny_nothing(bshm_segment *segment, bshm_views *views)
{
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		const fuzz_filter *f = &fuzz_filters[i];
		for (uint64_t k = 0; k < FUZZ_KEY_COUNT; k++) {
			const bshm_key key = fuzz_key(k * (f->keys / FUZZ_KEY_COUNT));
			if (bshm_filter_has(segment, views, f->name, strlen(f->name), key.bytes, key.length) ==
				0) {
				fuzz_defect("after a restore another filter denies a key", f->name);
			}
		}
	}
}

/* ------------------------------------------------------------------ one input */

static void lay_out_file(const uint8_t *data, size_t size)
{
	const size_t patches = data[2] | (size_t) data[3] << 8;
	const size_t fits = patches < (size - 4) / 8 ? patches : (size - 4) / 8;
	const uint8_t *rest = data + 4 + fits * 8;
	const size_t left = size - 4 - fits * 8;
	const fuzz_content *dumped = &dumps[(data[0] & 1) == 0 ? 0 : 1 + (data[0] >> 1) % (DUMPS - 1)];
	const bool own = left == 0;
	file_bytes = own ? dumped->count : left < FILE_BYTES_MAX ? left : FILE_BYTES_MAX;
	memcpy(file, own ? dumped->bytes : rest, file_bytes);
	for (size_t i = 0; i < fits; i++) {
		uint32_t off;
		memcpy(&off, data + 4 + i * 8, sizeof(off));
		/* Half of them at the front, where the numbers are. */
		off = file_bytes < 4 ? 0 : (off & 1) != 0 ? off % 1024 : off;
		off = file_bytes < 4 ? 0 : off % (uint32_t) (file_bytes - 3);
		memcpy(file + off, data + 8 + i * 8, file_bytes < 4 ? 0 : 4);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (sound.bytes == NULL) {
		fuzz_world_reset();
		prepare();
	}
	if (size < 4) {
		return 0;
	}
	fuzz_world_reset();
	const bool records = (data[0] & 1) == 0;
	lay_out_file(data, size);
	if (records) {
		repair_records(data[1]);
	} else {
		repair_filter(data[1]);
	}
	const char *path = fuzz_path("input");
	fuzz_write_file(path, file, file_bytes);
	bshm_segment *segment = open_segment();
	bshm_views *views = bshm_views_new();
	bshm_error error = {0};
	if (records) {
		uint64_t count;
		bshm_store_restore(segment, path, &count, &error);
		use_records(segment);
		bshm_segment_check(segment, find_no_fault, NULL, &(bshm_error){0});
		bshm_store_dump(segment, path, &count, &error);
	} else if (bshm_filter_restore(segment, "restored", 8, path, &error) == BSHM_OK) {
		bshm_segment_check(segment, find_no_fault, NULL, &(bshm_error){0});
		deny_nothing(segment, views);
		use_filter(segment, views);
	} else if (error.cause == BSHM_CAUSE_NONE) {
		fuzz_defect("refused without a reason", "");
	}
	bshm_segment_check(segment, find_no_fault, NULL, &(bshm_error){0});
	deny_nothing(segment, views);
	bshm_views_free(views);
	bshm_segment_close(segment);
	return 0;
}
