/*
 * test_delta.c - from one image to another and back, and every delta that is none.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/base.h"
#include "core/delta/delta_file.h"
#include "core/filter/filter_head.h"
#include "core/hash.h"
#include "platform/platform.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
	uint8_t *bytes;
	size_t count;
} file;

/* The file's bytes, with room for one more; valid until the fourth call after. */
static file slurp(const char *path)
{
	static uint8_t *kept[4];
	static unsigned turn;
	uint8_t **bytes = &kept[turn++ % 4];
	struct stat st;
	FILE *f = fopen(path, "rb");
	REQUIRE(f != NULL && fstat(fileno(f), &st) == 0);
	free(*bytes);
	*bytes = malloc((size_t) st.st_size + 1);
	const file all = {*bytes, (size_t) st.st_size};
	REQUIRE(fread(all.bytes, 1, all.count, f) == all.count);
	fclose(f);
	return all;
}

static void spit(const char *name, const void *bytes, size_t count)
{
	FILE *f = fopen(test_path(name), "wb");
	REQUIRE(f != NULL && fwrite(bytes, 1, count, f) == count);
	fclose(f);
}

static bool same_files(const char *a, const char *b)
{
	const file one = slurp(test_path(a));
	const file two = slurp(test_path(b));
	return one.count == two.count && memcmp(one.bytes, two.bytes, one.count) == 0;
}

static bool is_there(const char *name)
{
	return access(test_path(name), F_OK) == 0;
}

static int files_there(void)
{
	int count = 0;
	DIR *folder = opendir(test_path(""));
	for (const struct dirent *e; (e = readdir(folder)) != NULL;) {
		count += e->d_name[0] != '.' || strstr(e->d_name, ".tmp") != NULL;
	}
	closedir(folder);
	return count;
}

/* ------------------------------------------------------------------ images */

static void dump(bshm_segment *segment, const char *filter, const char *name)
{
	bshm_views *views = bshm_views_new();
	uint64_t bytes;
	REQUIRE(bshm_filter_dump(segment, views, filter, strlen(filter), test_path(name), &bytes,
				&last_error) == BSHM_OK);
	bshm_views_free(views);
}

/* A filter of the numbers from..to-1, of one seed, as an image. */
static void make_image(const char *name, bshm_parameters p, uint64_t from, uint64_t to)
{
	bshm_segment *segment = open_segment(MB(4));
	p.seed = p.seed == NULL ? "seed" : p.seed;
	p.seed_length = 4;
	drop(segment, "f");
	REQUIRE(bshm_filter_reserve(segment, "f", 1, &p, &last_error) == 1);
	REQUIRE(from == to || add_numbers(segment, "f", from, to) > 0);
	dump(segment, "f", name);
	forget_views();
	bshm_segment_close(segment);
}

/* An image of an own making: `counts` of partitions, in each of them words that `draw` gives. */
static void write_image(const char *name, uint32_t layer_count, const uint32_t *counts,
	uint64_t (*draw)(uint64_t *), uint64_t *state)
{
	bshm__output out;
	bshm_layer layers[BSHM_LAYERS_MAX] = {0};
	uint64_t end[BSHM_LAYERS_MAX + 1];
	bshm__filter_header h = {.seed = 4711,
		.capacity = 1000,
		.error_rate = bshm__bits(0.01),
		.items = 1 + (uint64_t) layer_count,
		.kind = BSHM_KIND_GROWING,
		.expansion = 2,
		.layer_count = layer_count,
		.name = {1, 'f'}};
	for (uint32_t i = 0; i < layer_count; i++) {
		layers[i] = (bshm_layer){.run.count = counts[i],
			.capacity = 1000,
			.items_before = i,
			.error_rate = bshm__bits(0.01),
			.hash_count = 7};
	}
	REQUIRE(bshm__output_open(&out, test_path(name), &last_error) == BSHM_OK);
	bshm__head_put(&out, h, layers);
	bshm__output_check(&out);
	for (uint32_t i = 0; i < layer_count; i++) {
		for (uint64_t w = 0; w < (uint64_t) counts[i] * BSHM_PARTITION_WORDS; w++) {
			const uint64_t word = draw(state);
			bshm__output_put(&out, &word, sizeof(word));
		}
		end[i] = bshm__little64(bshm__output_check(&out));
	}
	bshm__head_end(end, layer_count);
	bshm__output_put(&out, end, bshm__head_end_bytes(layer_count));
	REQUIRE(bshm__output_close(&out, BSHM_OK) == BSHM_OK);
}

static bshm_delta_stat stat_made;

static bshm_status make(const char *from, const char *to, const char *delta)
{
	return bshm_delta_make(
		test_path(from), test_path(to), test_path(delta), &stat_made, &last_error);
}

static bshm_status apply(const char *from, const char *delta, const char *to)
{
	return bshm_delta_apply(
		test_path(from), test_path(delta), test_path(to), &stat_made, &last_error);
}

/* Does the build that is made beside the file publish the file's filter? There is none where the
 * file cannot be restored, either. */
static bool restores(const char *from, const char *to)
{
	bshm_build *build;
	bshm_segment *segment = open_segment(MB(4));
	drop(segment, "f");
	CHECK_INT(bshm_delta_restore(segment, "f", 1, test_path(from), test_path("delta"),
				  test_path("made"), &stat_made, &build, &last_error),
		BSHM_OK);
	CHECK(same_files("made", to));
	if (build == NULL) {
		const bshm_status status =
			bshm_restore_begin(segment, "f", 1, test_path("made"), &build, &last_error);
		bshm_segment_close(segment);
		return status == BSHM_E_NO_SPACE;
	}
	CHECK_INT(bshm_build_publish(build, 1, NULL, &last_error), BSHM_OK);
	dump(segment, "f", "published");
	CHECK_INT(faults(segment), 0);
	forget_views();
	bshm_segment_close(segment);
	const file found = slurp(test_path("published"));
	const file wanted = slurp(test_path(to));
	const size_t head = sizeof(bshm__filter_header); /* says when it was dumped */
	return found.count == wanted.count &&
		   memcmp(found.bytes + head, wanted.bytes + head, found.count - head) == 0;
}

/* Makes the delta, and goes there and back by it. */
static void there_and_back(const char *from, const char *to)
{
	bshm_delta_stat made;
	bshm_delta_stat read;
	uint64_t check;
	uint64_t bytes;
	bshm_os_stat st;
	CHECK_INT(make(from, to, "delta"), BSHM_OK);
	made = stat_made;
	CHECK(bshm_os_stat_path(test_path("delta"), &st) == 0 && st.bytes == made.delta_bytes &&
		  st.mode == 0600);
	CHECK_INT(apply(from, "delta", "there"), BSHM_OK);
	CHECK(memcmp(&stat_made, &made, sizeof(made)) == 0);
	CHECK(same_files("there", to));
	CHECK_INT(apply(to, "delta", "back"), BSHM_OK);
	CHECK(stat_made.from_check == made.to_check && stat_made.to_bytes == made.from_bytes);
	CHECK(same_files("back", from));
	CHECK_INT(bshm_delta_apply(test_path(from), test_path("delta"), NULL, &stat_made, &last_error),
		BSHM_OK);
	CHECK(memcmp(&stat_made, &made, sizeof(made)) == 0);
	CHECK(restores(from, to) && restores(to, from));
	CHECK_INT(bshm_delta_read(test_path("delta"), &read, &last_error), BSHM_OK);
	read.changed_bits = made.changed_bits;
	read.raw_partitions = made.raw_partitions;
	CHECK(memcmp(&read, &made, sizeof(made)) == 0);
	CHECK_INT(bshm_image_check(test_path(from), &check, &bytes, &last_error), BSHM_OK);
	CHECK(check == made.from_check && bytes == made.from_bytes);
	CHECK_INT(bshm_image_check(test_path(to), &check, &bytes, &last_error), BSHM_OK);
	CHECK(check == made.to_check && bytes == made.to_bytes);
	stat_made = made;
}

TEST(filters_whose_keys_change)
{
	const bshm_parameters kinds[] = {parameters(0.01, 70000, 0), parameters(0.01, 70000, 2)};
	const uint64_t gone[] = {0, 1, 60, 600, 6000, 60000};
	for (int k = 0; k < 2; k++) {
		make_image("a", kinds[k], 0, 60000);
		uint64_t before = 0;
		for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
			make_image("b", kinds[k], gone[i], 60000 + gone[i]);
			there_and_back("a", "b");
			CHECK(stat_made.changed_bits >= before && stat_made.changed_bits <= 16 * gone[i]);
			CHECK(stat_made.delta_bytes < 300 + 16 * gone[i]);
			before = stat_made.changed_bits;
		}
		CHECK(stat_made.raw_partitions > 0);
	}
}

TEST(an_image_and_itself)
{
	make_image("a", parameters(0.01, 6000, 0), 0, 4000);
	there_and_back("a", "a");
	CHECK_INT(stat_made.delta_bytes, 64 + 2 * 4 + 32 + 8);
	CHECK_INT(stat_made.changed_bits, 0);
}

TEST(empty_filters_fill_and_are_emptied)
{
	make_image("empty", parameters(0.01, 6000, 0), 0, 0);
	make_image("one", parameters(0.01, 6000, 0), 5, 6);
	make_image("full", parameters(0.01, 6000, 0), 0, 6000);
	there_and_back("empty", "one");
	CHECK(stat_made.changed_bits > 0 && stat_made.changed_bits <= 7);
	there_and_back("empty", "full");
	there_and_back("full", "empty");
}

TEST(a_filter_that_grows)
{
	const bshm_parameters p = parameters(0.01, 1000, 2);
	make_image("small", p, 0, 900);
	make_image("large", p, 0, 30000);
	there_and_back("small", "large");
	CHECK(stat_made.to_bytes > stat_made.from_bytes + 100);
	there_and_back("large", "small");
	CHECK(stat_made.raw_partitions > 0);
}

/* How many bits of a word are drawn, of 256; the next words have as many, for a while. */
static uint64_t draw_word(uint64_t *state)
{
	static uint32_t density;
	static uint32_t left;
	if (left-- == 0) {
		const uint32_t densities[] = {0, 0, 1, 2, 40, 96, 97, 128, 255};
		density = densities[test_random(state) % 9];
		left = (uint32_t) (test_random(state) % 3000);
	}
	uint64_t word = 0;
	for (int i = 0; density != 0 && i < 64; i++) {
		word = word << 1 | ((test_random(state) & 255) < density);
	}
	return word;
}

static uint64_t draw_nothing(uint64_t *state)
{
	(void) state;
	return 0;
}

/* Of all densities side by side: raw partitions and coded ones, in groups of all lengths. */
TEST(images_of_any_bits)
{
	uint64_t state = test_seed();
	for (int turn = 0; turn < 12; turn++) {
		uint32_t counts[4];
		counts[0] = 1 + (uint32_t) (test_random(&state) % 20);
		for (int i = 1; i < 4; i++) {
			counts[i] = 2 * counts[i - 1] + (uint32_t) (test_random(&state) % 9);
		}
		write_image("a", 1 + (uint32_t) (test_random(&state) % 4), counts, draw_word, &state);
		write_image("b", 1 + (uint32_t) (test_random(&state) % 4), counts,
			turn == 0 ? draw_nothing : draw_word, &state);
		there_and_back("a", "b");
		CHECK(stat_made.delta_bytes < (stat_made.from_bytes > stat_made.to_bytes
											  ? stat_made.from_bytes
											  : stat_made.to_bytes) +
										  4000);
	}
}

static uint64_t draw_rarely(uint64_t *state)
{
	return ++*state % 4000000 == 0;
}

TEST(groups_as_long_as_they_can_be)
{
	uint64_t state = 0;
	const uint32_t count = 2 * BSHM_DELTA_LONGEST + 1;
	write_image("a", 1, &count, draw_nothing, &state);
	write_image("b", 1, &count, draw_rarely, &state);
	there_and_back("a", "b");
	CHECK_INT(stat_made.changed_bits, (uint64_t) count * BSHM_PARTITION_WORDS / 4000000);
	CHECK_INT(stat_made.delta_bytes, 64 + 2 * 4 + 3 * 32 + 8 + stat_made.changed_bits * 4);
}

/* ------------------------------------------------------------------ what does not fit */

static void expect(bshm_status found, bshm_status wanted, bshm_cause cause, uint32_t source)
{
	CHECK_INT(found, wanted);
	if (last_error.cause != cause || last_error.source != source) {
		test_fail(__FILE__, __LINE__, "\"%s\" of file %u instead of \"%s\" of file %u",
			bshm_cause_str(last_error.cause), last_error.source, bshm_cause_str(cause), source);
	}
	CHECK(!is_there("out"));
}

TEST(images_of_two_filters)
{
	bshm_parameters p = parameters(0.01, 6000, 0);
	make_image("a", p, 0, 4000);
	p.seed = "deed";
	make_image("b", p, 0, 4000);
	expect(make("a", "b", "out"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_SEED, 2);
	make_image("b", parameters(0.01, 6000, 2), 0, 4000);
	expect(make("a", "b", "out"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_KIND, 2);
	make_image("b", parameters(0.01, 60000, 0), 0, 4000);
	expect(make("a", "b", "out"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_GEOMETRY, 2);
	make_image("b", parameters(0.001, 4300, 0), 0, 4000);
	expect(make("a", "b", "out"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_GEOMETRY, 2);
}

TEST(kinds_without_deltas)
{
	bshm_parameters p = parameters(0.01, 6000, 0);
	make_image("a", p, 0, 4000);
	make_image("b", p, 0, 4100);
	REQUIRE(make("a", "b", "delta") == BSHM_OK);
	p.window_s = 300;
	make_image("sliding", p, 0, 4000);
	expect(make("sliding", "sliding", "out"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_WINDOW, 1);
	expect(apply("sliding", "delta", "out"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_WINDOW, 1);
	p.window_s = 0;
	p.counting = true;
	make_image("counting", p, 0, 4000);
	expect(make("a", "counting", "out"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_COUNTING, 2);
	uint64_t check;
	uint64_t bytes;
	CHECK_INT(bshm_image_check(test_path("counting"), &check, &bytes, &last_error), BSHM_OK);
}

TEST(an_image_of_another_time)
{
	const bshm_parameters p = parameters(0.01, 6000, 0);
	make_image("a", p, 0, 4000);
	make_image("b", p, 0, 4100);
	make_image("c", p, 0, 4200);
	REQUIRE(make("a", "b", "delta") == BSHM_OK);
	expect(apply("c", "delta", "out"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_IMAGE, 1);
}

TEST(damaged_images)
{
	const bshm_parameters p = parameters(0.01, 6000, 0);
	make_image("a", p, 0, 4000);
	make_image("b", p, 0, 4100);
	REQUIRE(make("a", "b", "delta") == BSHM_OK);
	const file all = slurp(test_path("a"));
	for (size_t i = 0; i < all.count; i += i < 256 || i > all.count - 20 ? 1 : 499) {
		all.bytes[i] ^= 4;
		spit("bad", all.bytes, all.count);
		CHECK(make("bad", "b", "out") < 0 && last_error.source == 1);
		CHECK(make("b", "bad", "out") < 0 && last_error.source == 2);
		CHECK(apply("bad", "delta", "out") < 0 && last_error.source == 1);
		CHECK(last_error.status == BSHM_E_CORRUPT || last_error.cause == BSHM_CAUSE_VERSION ||
			  last_error.cause == BSHM_CAUSE_IMAGE);
		all.bytes[i] ^= 4;
	}
	CHECK(!is_there("out"));
	for (size_t count = 0; count < all.count; count += count < 300 ? 11 : 1021) {
		spit("bad", all.bytes, count);
		expect(make("bad", "b", "out"), BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED, 1);
		expect(apply("bad", "delta", "out"), BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED, 1);
	}
}

/* ------------------------------------------------------------------ deltas that are none */

static bshm_parameters small_parameters(void)
{
	return parameters(0.01, 6000, 2);
}

/* A small delta with a new layer, "delta", of "a" and "b". */
static file make_small(void)
{
	make_image("a", small_parameters(), 0, 4000);
	make_image("b", small_parameters(), 40, 4040);
	there_and_back("a", "b");
	return slurp(test_path("delta"));
}

TEST(cut_short_at_each_byte)
{
	const file all = make_small();
	for (size_t count = 0; count < all.count; count++) {
		spit("bad", all.bytes, count);
		expect(apply("a", "bad", "out"), BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED, 2);
	}
	all.bytes[all.count] = 0;
	spit("bad", all.bytes, all.count + 1);
	expect(apply("a", "bad", "out"), BSHM_E_CORRUPT, BSHM_CAUSE_TRAILING_BYTES, 2);
}

TEST(each_bit_turned)
{
	const file all = make_small();
	for (size_t i = 0; i < all.count * 8; i++) {
		all.bytes[i / 8] ^= (uint8_t) (1 << i % 8);
		spit("bad", all.bytes, all.count);
		CHECK(apply(i % 2 == 0 ? "a" : "b", "bad", "out") < 0);
		CHECK_INT(last_error.source, 2);
		CHECK(!is_there("out"));
		all.bytes[i / 8] ^= (uint8_t) (1 << i % 8);
	}
	CHECK(!test_failed());
}

static void repair(const file *all)
{
	const uint64_t head = bshm__head_check(all->bytes, 56);
	memcpy(all->bytes + 56, &head, 8);
	const uint64_t check = bshm__head_check(all->bytes, all->count - 8);
	memcpy(all->bytes + all->count - 8, &check, 8);
}

/* The checksums of the delta itself are no help: whoever changes it can make them anew. */
static void change_each_byte(const char *from, const file *all, size_t count)
{
	for (size_t i = 8; i < count; i++) {
		const uint8_t before = all->bytes[i];
		const uint8_t after[] = {(uint8_t) ~before, 0, 255, (uint8_t) (before ^ 1)};
		for (int k = 0; k < 4; k++) {
			if (after[k] == before || (i >= 56 && i < 64)) {
				continue; /* the checksum */
			}
			all->bytes[i] = after[k];
			repair(all);
			spit("bad", all->bytes, all->count);
			CHECK(apply(from, "bad", "out") < 0);
			CHECK(!is_there("out"));
		}
		all->bytes[i] = before;
	}
}

TEST(each_byte_changed_under_right_checksums)
{
	const file all = make_small();
	change_each_byte("a", &all, all.count - 8);
}

/* The heads of three layers, two of which go: what goes must become zero. */
TEST(layers_that_go_are_not_changed)
{
	const uint32_t counts[] = {1, 2, 4};
	uint64_t state = test_seed();
	write_image("a", 3, counts, draw_word, &state);
	write_image("b", 1, counts, draw_word, &state);
	there_and_back("a", "b");
	const file all = slurp(test_path("delta"));
	change_each_byte("a", &all, 64 + 4 * 4 + 8 * (4 + 2 * 4));
}

/* A delta from nothing to what its author likes: the head must be one that can be restored. */
TEST(a_head_that_no_dump_has)
{
	const struct {
		size_t at;
		uint64_t value;
	} hostile[] = {
		{0, 1},
		{8, 1},
		{12, 1},
		{16, 8192},
		{24, 1},
		{32, UINT64_MAX},
		{40, UINT64_MAX},
		{64, UINT64_MAX},
		{80, 1},
		{84, 64},
		{88, 1},
		{92, 64},
		{92, UINT32_MAX},
		{96, 2},
		{192, 1},
		{192, UINT64_MAX},
		{200, UINT64_MAX},
		{208, 1},
		{216, UINT64_MAX},
		{224, 64},
	};
	make_image("a", small_parameters(), 0, 4000);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		uint64_t head[(192 + 64) / 8] = {0};
		uint8_t changes[sizeof(head) + 8];
		size_t used = 0;
		memcpy((uint8_t *) head + hostile[i].at, &hostile[i].value, hostile[i].at % 8 == 4 ? 4 : 8);
		for (size_t record = 0; record < 2; record++) {
			const size_t first = record == 0 ? 0 : 24;
			const size_t count = record == 0 ? 23 : 7;
			uint32_t mask = 0;
			for (size_t w = 0; w < count; w++) {
				mask |= (uint32_t) (head[first + w] != 0) << w;
			}
			memcpy(changes + used, &mask, 4);
			used += 4;
			for (size_t w = 0; w < count; w++) {
				memcpy(changes + used, &head[first + w], 8);
				used += head[first + w] != 0 ? 8 : 0;
			}
		}
		REQUIRE(make("a", "a", "delta") == BSHM_OK);
		const file all = slurp(test_path("delta"));
		uint8_t bytes[1024];
		const file bad = {bytes, all.count + used - 8};
		REQUIRE(bad.count <= sizeof(bytes));
		memcpy(bad.bytes, all.bytes, 64);
		memcpy(bad.bytes + 64, changes, used);
		memcpy(bad.bytes + 64 + used, all.bytes + 72, all.count - 72);
		repair(&bad);
		spit("bad", bad.bytes, bad.count);
		expect(apply("a", "bad", "out"), BSHM_E_CORRUPT, BSHM_CAUSE_HEADER, 2);
	}
}

TEST(files_of_another_sort)
{
	make_image("a", small_parameters(), 0, 4000);
	make_image("b", small_parameters(), 40, 4040);
	REQUIRE(make("a", "b", "delta") == BSHM_OK);
	expect(apply("a", "b", "out"), BSHM_E_CORRUPT, BSHM_CAUSE_MAGIC, 2);
	expect(apply("delta", "delta", "out"), BSHM_E_CORRUPT, BSHM_CAUSE_MAGIC, 1);
	expect(make("a", "delta", "out"), BSHM_E_CORRUPT, BSHM_CAUSE_MAGIC, 2);
	const file all = slurp(test_path("delta"));
	CHECK(memcmp(all.bytes, "BLOOMDLT", 8) == 0);
	all.bytes[8] = 2;
	spit("bad", all.bytes, all.count);
	expect(apply("a", "bad", "out"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_VERSION, 2);
	memcpy(all.bytes, "TLDMOOLB", 8);
	spit("bad", all.bytes, all.count);
	expect(apply("a", "bad", "out"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_BYTE_ORDER, 2);
	bshm_delta_stat read;
	CHECK_INT(bshm_delta_read(test_path("a"), &read, &last_error), BSHM_E_CORRUPT);
}

/* ------------------------------------------------------------------ files */

TEST(no_file_and_no_folder)
{
	make_image("a", small_parameters(), 0, 4000);
	expect(make("a", "missing", "out"), BSHM_E_IO, BSHM_CAUSE_OPEN, 2);
	CHECK_INT(last_error.os_code, ENOENT);
	expect(apply("a", "missing", "out"), BSHM_E_IO, BSHM_CAUSE_OPEN, 2);
	expect(make("", "a", "out"), BSHM_E_IO, BSHM_CAUSE_OPEN, 1); /* a folder */
	expect(make("a", "a", "no/such/out"), BSHM_E_IO, BSHM_CAUSE_CREATE, 3);
	REQUIRE(make("a", "a", "delta") == BSHM_OK);
	expect(apply("a", "delta", "no/such/out"), BSHM_E_IO, BSHM_CAUSE_CREATE, 3);
}

TEST(a_file_may_replace_one_that_is_read)
{
	make_image("a", small_parameters(), 0, 4000);
	make_image("b", small_parameters(), 0, 9000);
	make_image("c", small_parameters(), 0, 9000);
	const file a = slurp(test_path("a"));
	const file b = slurp(test_path("b"));
	CHECK_INT(make("a", "b", "b"), BSHM_OK);  /* the delta takes the place of the second image, */
	CHECK_INT(apply("a", "b", "a"), BSHM_OK); /* the second image that of the first, */
	spit("c", b.bytes, b.count);
	CHECK(same_files("a", "c"));
	CHECK_INT(apply("a", "b", "b"), BSHM_OK); /* and the first one that of the delta */
	spit("c", a.bytes, a.count);
	CHECK(same_files("b", "c"));
}

/* No build is left where the delta, the image or the disk fails. */
TEST(a_restore_that_fails)
{
	bshm_build *build;
	make_image("a", small_parameters(), 0, 4000);
	make_image("b", small_parameters(), 0, 9000);
	make_image("c", small_parameters(), 0, 5000);
	REQUIRE(make("a", "b", "delta") == BSHM_OK);
	const file delta = slurp(test_path("delta"));
	spit("cut", delta.bytes, delta.count - 9);
	bshm_segment *segment = open_segment(MB(4));
	const char *const failing[][3] = {
		{"c", "delta", "made"}, {"a", "cut", "made"}, {"a", "delta", "no/such/made"}};
	for (int i = 0; i < 3; i++) {
		CHECK(
			bshm_delta_restore(segment, "f", 1, test_path(failing[i][0]), test_path(failing[i][1]),
				test_path(failing[i][2]), &stat_made, &build, &last_error) != BSHM_OK);
		CHECK(build == NULL);
		CHECK_INT(last_error.source, i + 1);
		CHECK(!is_there("made"));
	}
	CHECK(present(segment, "f", 4500, 5000) == 500); /* what stood stands */
	CHECK_INT(faults(segment), 0);
	bshm_segment_close(segment);
}

/* A disk that is full at any place: no file, and no temporary one. */
TEST(a_full_disk)
{
	uint64_t state = test_seed();
	const uint32_t count = 300;
	write_image("a", 1, &count, draw_nothing, &state);
	write_image("b", 1, &count, draw_word, &state);
	REQUIRE(make("a", "b", "delta") == BSHM_OK);
	const int before = files_there();
	const uint64_t delta_bytes = stat_made.delta_bytes;
	signal(SIGXFSZ, SIG_IGN);
	for (uint64_t limit = 300 * BSHM_PARTITION_BYTES; limit > 100000; limit -= 100000) {
		const struct rlimit full = {limit, limit};
		REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
		expect(apply("a", "delta", "out"), BSHM_E_IO, BSHM_CAUSE_WRITE, 3);
		if (limit < delta_bytes) {
			expect(make("a", "b", "out"), BSHM_E_IO, BSHM_CAUSE_WRITE, 3);
		}
	}
	CHECK_INT(files_there(), before);
}
