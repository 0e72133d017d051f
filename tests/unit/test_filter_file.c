/*
 * test_filter_file.c - filters as files: every kind there and back, and every file that is not one.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/base.h"
#include "core/hash.h"
#include "platform/platform.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bshm_segment *segment;

typedef struct {
	uint8_t *bytes;
	size_t count;
} file;

/* The file's bytes, in one of two buffers in turn. */
static file slurp(const char *path)
{
	static uint8_t buffers[2][1 << 20];
	static int next;
	FILE *f = fopen(path, "rb");
	REQUIRE(f != NULL);
	file all = {buffers[next++ % 2], 0};
	all.count = fread(all.bytes, 1, sizeof(buffers[0]) - 1, f);
	fclose(f);
	return all;
}

static void spit(const char *path, const uint8_t *bytes, size_t count)
{
	FILE *f = fopen(path, "wb");
	REQUIRE(f != NULL && fwrite(bytes, 1, count, f) == count);
	fclose(f);
}

static bshm_status dump(const char *name, const char *path)
{
	bshm_views *views = bshm_views_new();
	uint64_t bytes = 0;
	const bshm_status status =
		bshm_filter_dump(segment, views, name, strlen(name), path, &bytes, &last_error);
	bshm_views_free(views);
	bshm_os_stat st;
	CHECK(status != BSHM_OK ||
		  (bshm_os_stat_path(path, &st) == 0 && st.bytes == bytes && st.mode == 0600));
	return status;
}

static bshm_status restore(const char *name, const char *path)
{
	return bshm_filter_restore(segment, name, strlen(name), path, &last_error);
}

static void make(const char *name, bshm_parameters p, uint64_t keys)
{
	p.seed = "seed";
	p.seed_length = 4;
	REQUIRE(bshm_filter_reserve(segment, name, strlen(name), &p, &last_error) == 1);
	REQUIRE(add_numbers(segment, name, 0, keys) > 0);
}

/* One of each kind: "fixed", "growing", "sliding", "counting", of 4,000 keys. */
static void make_all(void)
{
	bshm_parameters p = parameters(0.01, 6000, 0);
	make("fixed", p, 4000);
	p = parameters(0.01, 100, 2);
	make("growing", p, 4000);
	p = parameters(0.01, 6000, 0);
	p.window_s = 36000000; /* no epoch begins meanwhile */
	make("sliding", p, 4000);
	p = parameters(0.01, 6000, 0);
	p.counting = true;
	make("counting", p, 4000);
}

static const char *const kinds[] = {"fixed", "growing", "sliding", "counting"};

TEST(every_kind_there_and_back)
{
	segment = open_segment(MB(4));
	make_all();
	for (int k = 0; k < 4; k++) {
		const bshm_info before = info_of(segment, kinds[k]);
		CHECK_INT(dump(kinds[k], test_path("dump")), BSHM_OK);
		CHECK_INT(restore("copy", test_path("dump")), BSHM_OK);
		const bshm_info after = info_of(segment, "copy");
		CHECK_INT(after.type, before.type);
		CHECK_INT(after.items, before.items);
		CHECK_INT(after.capacity, before.capacity);
		CHECK_INT(after.layer_count, before.layer_count);
		CHECK(after.estimated_error_rate == before.estimated_error_rate);
		CHECK(after.published_s >= before.published_s);
		CHECK_INT(absent(segment, "copy", 0, 4000), 0);
		CHECK_INT(present(segment, "copy", 10000, 60000), present(segment, kinds[k], 10000, 60000));
		CHECK(add_numbers(segment, "copy", 100000, 101000) > 0);
		CHECK_INT(drop(segment, kinds[k]), 1);
		CHECK_INT(restore(kinds[k], test_path("dump")), BSHM_OK); /* its old name */
		CHECK_INT(absent(segment, kinds[k], 0, 4000), 0);
		CHECK_INT(faults(segment), 0);
	}
}

TEST(a_dump_of_what_was_restored_is_the_same_file)
{
	segment = open_segment(MB(4));
	make_all();
	for (int k = 0; k < 4; k++) {
		if (strcmp(kinds[k], "sliding") == 0) {
			continue; /* has aged */
		}
		CHECK_INT(dump(kinds[k], test_path("one")), BSHM_OK);
		CHECK_INT(restore(kinds[k], test_path("one")), BSHM_OK);
		CHECK_INT(dump(kinds[k], test_path("two")), BSHM_OK);
		const file one = slurp(test_path("one"));
		const file two = slurp(test_path("two"));
		REQUIRE(one.count == two.count);
		for (size_t i = 0; i < one.count; i++) {
			const bool time = (i >= 48 && i < 64) || (i >= 184 && i < 192); /* and the checksum */
			CHECK(time || one.bytes[i] == two.bytes[i]);
		}
	}
}

TEST(scattered_filters_travel_too)
{
	segment = open_segment(MB(1));
	for (uint64_t i = 0; i < 128; i++) {
		REQUIRE(reserve(segment, numbered("x-", i), 1, 0.01) == 1);
	}
	for (uint64_t i = 0; i < 128; i += 2) {
		CHECK_INT(drop(segment, numbered("x-", i)), 1);
	}
	make("f", parameters(0.01, 100, 2), 30000);
	CHECK_INT(dump("f", test_path("dump")), BSHM_OK);
	CHECK_INT(restore("g", test_path("dump")), BSHM_OK);
	CHECK_INT(absent(segment, "g", 0, 30000), 0);
	CHECK_INT(faults(segment), 0);
	bshm_segment *readonly = open_segment_readonly();
	segment = readonly;
	CHECK_INT(dump("f", test_path("dump")), BSHM_OK);
	CHECK_INT(restore("h", test_path("dump")), BSHM_E_READ_ONLY);
}

TEST(a_restored_sliding_filter_has_aged)
{
	const uint64_t second = UINT64_C(1000000000);
	bshm_clock_set(1000000 * second);
	segment = open_segment(MB(2));
	bshm_parameters p = parameters(0.01, 6000, 0);
	p.window_s = 300;
	make("f", p, 1000);
	CHECK_INT(dump("f", test_path("dump")), BSHM_OK);
	const file all = slurp(test_path("dump"));
	const double ages[] = {0, 299, 401, 1e9};
	for (int i = 0; i < 4; i++) {
		double dumped_s = bshm_os_wall_s() - ages[i];
		memcpy(all.bytes + 56, &dumped_s, 8);
		const uint64_t check = bshm__checksum(all.bytes, 184, 0);
		memcpy(all.bytes + 184, &check, 8);
		spit(test_path("older"), all.bytes, all.count);
		CHECK_INT(restore("g", test_path("older")), BSHM_OK);
		CHECK_INT(absent(segment, "g", 0, 1000), ages[i] < 300 ? 0 : 1000);
	}
	/* Back in time by the wall clock: as young as it was. */
	CHECK_INT(restore("g", test_path("dump")), BSHM_OK);
	bshm_clock_set(1000299 * second);
	CHECK_INT(absent(segment, "g", 0, 1000), 0);
	bshm_clock_set(1000401 * second);
	CHECK_INT(absent(segment, "g", 0, 1000), 1000);
}

#define EPOCH_END UINT64_C(1000000200000000000)

static uint32_t turned_off;

/* The clock goes to the end of an epoch and back all the time. */
static void *turn_the_clock(void *unused)
{
	(void) unused;
	for (uint64_t i = 0; BSHM_LOAD(&turned_off, RELAXED) == 0; i++) {
		bshm_clock_set(EPOCH_END - 1 + i % 2);
	}
	return NULL;
}

/* The phase that the header names and the lanes that were written belong to one moment. */
THREAD_TEST(a_dump_is_of_one_moment)
{
	bshm_clock_set(EPOCH_END - 10);
	segment = open_segment(MB(2));
	segment->clock_offset = 0;
	bshm_parameters p = parameters(0.01, 600, 0);
	p.window_s = 300;
	make("f", p, 1);
	pthread_t thread;
	REQUIRE(pthread_create(&thread, NULL, turn_the_clock, NULL) == 0);
	for (int i = 0; i < 4000 && !test_failed(); i++) {
		CHECK_INT(dump("f", test_path("dump")), BSHM_OK);
		const file all = slurp(test_path("dump"));
		uint64_t phase;
		uint64_t lanes = 0;
		memcpy(&phase, all.bytes + 72, 8);
		for (uint64_t w = 0; w < BSHM_PARTITION_WORDS; w++) {
			uint64_t word;
			memcpy(&word, all.bytes + 256 + w * 8, 8);
			for (; word != 0; word >>= 4) {
				lanes |= word & 15;
			}
		}
		/* Of the present epoch, BSHM_EPOCH_FIRST in the file, or of the one before. */
		CHECK_INT(lanes, phase == 0 ? 8 : 1);
	}
	BSHM_STORE(&turned_off, 1, RELAXED);
	pthread_join(thread, NULL);
}

/* ------------------------------------------------------------------ what is not a file of ours */

/* Must be refused with this status; what stands, and the memory, stay as they were. */
static void expect_refused(const char *path, bshm_status wanted, bshm_cause cause)
{
	const bshm_stat before = stat_of(segment);
	const uint64_t generation = info_of(segment, "fixed").generation;
	CHECK_INT(restore("fixed", path), wanted);
	if (cause != BSHM_CAUSE_NONE && last_error.cause != cause) {
		test_fail(__FILE__, __LINE__, "\"%s\" instead of \"%s\"", bshm_cause_str(last_error.cause),
			bshm_cause_str(cause));
	}
	CHECK_INT(restore("new", path), wanted);
	CHECK_INT(info_of(segment, "fixed").generation, generation);
	CHECK_INT(ready(segment, "new"), false);
	CHECK_INT(stat_of(segment).filter_bytes_free, before.filter_bytes_free);
}

TEST(cut_short_at_any_place)
{
	segment = open_segment(MB(4));
	make_all();
	for (int k = 0; k < 4; k++) {
		CHECK_INT(dump(kinds[k], test_path("dump")), BSHM_OK);
		const file all = slurp(test_path("dump"));
		for (size_t count = 0; count < all.count; count += count < 400 ? 7 : 1021) {
			spit(test_path("cut"), all.bytes, count);
			expect_refused(test_path("cut"), BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED);
		}
		spit(test_path("cut"), all.bytes, all.count - 1);
		expect_refused(test_path("cut"), BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED);
		all.bytes[all.count] = 0;
		spit(test_path("cut"), all.bytes, all.count + 1);
		expect_refused(test_path("cut"), BSHM_E_CORRUPT, BSHM_CAUSE_TRAILING_BYTES);
	}
	CHECK_INT(absent(segment, "fixed", 0, 4000), 0);
	CHECK_INT(faults(segment), 0);
}

TEST(any_byte_changed)
{
	segment = open_segment(MB(4));
	make_all();
	for (int k = 0; k < 4; k++) {
		CHECK_INT(dump(kinds[k], test_path("dump")), BSHM_OK);
		const file all = slurp(test_path("dump"));
		const size_t head = 192 + 64 * info_of(segment, kinds[k]).layer_count;
		for (size_t i = 0; i < all.count; i += i < head || i > all.count - 32 ? 1 : 997) {
			all.bytes[i] ^= 0x20;
			spit(test_path("bad"), all.bytes, all.count);
			CHECK(restore("new", test_path("bad")) < 0);
			CHECK(last_error.status == BSHM_E_CORRUPT || last_error.status == BSHM_E_INCOMPATIBLE);
			all.bytes[i] ^= 0x20;
		}
	}
	CHECK_INT(ready(segment, "new"), false);
	CHECK_INT(faults(segment), 0);
}

TEST(other_byte_orders_and_versions)
{
	segment = open_segment(MB(4));
	make_all();
	CHECK_INT(dump("fixed", test_path("dump")), BSHM_OK);
	file all = slurp(test_path("dump"));
	CHECK(memcmp(all.bytes, "BLOOMSHM", 8) == 0);
	memcpy(all.bytes, "MHSMOOLB", 8);
	spit(test_path("bad"), all.bytes, all.count);
	expect_refused(test_path("bad"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_BYTE_ORDER);
	memcpy(all.bytes, "BLOOMSHN", 8);
	spit(test_path("bad"), all.bytes, all.count);
	expect_refused(test_path("bad"), BSHM_E_CORRUPT, BSHM_CAUSE_MAGIC);
	memcpy(all.bytes, "BLOOMSHM", 8);
	all.bytes[8] = 2;
	spit(test_path("bad"), all.bytes, all.count);
	expect_refused(test_path("bad"), BSHM_E_INCOMPATIBLE, BSHM_CAUSE_VERSION);
}

static uint64_t bits_of(double value)
{
	return bshm__bits(value);
}

/* Numbers that lead astray, under right checksums. */
TEST(hostile_numbers)
{
	segment = open_segment(MB(4));
	make_all();
	CHECK_INT(dump("growing", test_path("dump")), BSHM_OK);
	const file all = slurp(test_path("dump"));
	const uint32_t layers = info_of(segment, "growing").layer_count;
	REQUIRE(layers >= 2);
	const struct {
		size_t at;
		int bytes;
		uint64_t value;
	} hostile[] = {
		{16, 8, 0}, {16, 8, UINT64_MAX},                                     /* file_bytes */
		{32, 8, 0}, {32, 8, UINT64_MAX},                                     /* capacity */
		{40, 8, 0}, {40, 8, bits_of(NAN)}, {40, 8, bits_of(0.6)},            /* error_rate */
		{40, 8, bits_of(-1)}, {40, 8, bits_of(INFINITY)},                    /* */
		{48, 8, bits_of(NAN)}, {56, 8, bits_of(-1)}, {64, 8, UINT64_MAX},    /* times, items */
		{80, 4, 0}, {80, 4, 1}, {80, 4, 2}, {80, 4, 4}, {80, 4, UINT32_MAX}, /* kind */
		{84, 4, 0}, {84, 4, 1}, {84, 4, 33}, {88, 4, 1},
		{88, 4, UINT32_MAX}, /* expansion, window */
		{92, 4, 0}, {92, 4, 1}, {92, 4, 33}, {92, 4, UINT32_MAX}, {96, 4, 2},   /* layers, sized */
		{192, 8, 0}, {192, 8, 1u << 31}, {192, 8, UINT64_C(1) << 63},           /* partitions */
		{192, 8, 2}, {192, 8, UINT64_MAX}, {200, 8, 0}, {200, 8, UINT64_MAX},   /* capacity */
		{208, 8, 1}, {208, 8, UINT64_MAX}, {216, 8, bits_of(NAN)}, {216, 8, 0}, /* items, rate */
		{224, 4, 0}, {224, 4, 65}, {224, 4, UINT32_MAX},                        /* hash_count */
		{256, 8, 1}, {272, 8, UINT64_MAX},                                      /* the next layer */
	};
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		uint8_t *bad = malloc(all.count);
		memcpy(bad, all.bytes, all.count);
		memcpy(bad + hostile[i].at, &hostile[i].value, (size_t) hostile[i].bytes);
		for (size_t at = 0; at < 192 + 64 * layers; at += at == 0 ? 192 : 64) {
			const size_t length = at == 0 ? 184 : 56;
			const uint64_t check = bshm__checksum(bad + at, length, 0);
			memcpy(bad + at + length, &check, 8);
		}
		spit(test_path("bad"), bad, all.count);
		expect_refused(test_path("bad"), BSHM_E_CORRUPT, BSHM_CAUSE_NONE);
		free(bad);
	}
	CHECK_INT(faults(segment), 0);
}

TEST(no_file_no_folder_and_no_room)
{
	segment = open_segment(MB(1));
	bshm_parameters p = parameters(0.01, 500000, 0);
	make("fixed", p, 1000);
	CHECK_INT(restore("f", test_path("missing")), BSHM_E_IO);
	CHECK_INT(last_error.os_code, ENOENT);
	CHECK_INT(restore("f", test_path("")), BSHM_E_IO); /* a folder */
	CHECK_INT(dump("fixed", test_path("no/such/folder")), BSHM_E_IO);
	CHECK_INT(dump("missing", test_path("dump")), BSHM_E_NOT_FOUND);
	CHECK(access(test_path("dump"), F_OK) != 0);
	CHECK_INT(dump("fixed", test_path("dump")), BSHM_OK);
	CHECK_INT(restore("fixed", test_path("dump")), BSHM_E_NO_SPACE); /* not beside what stands */
	CHECK_INT(absent(segment, "fixed", 0, 1000), 0);
	REQUIRE(mkfifo(test_path("fifo"), 0600) == 0);
	CHECK_INT(restore("f", test_path("fifo")), BSHM_E_IO);
	CHECK_INT(faults(segment), 0);
}

static void add_for_ever(void)
{
	for (uint64_t i = 10000;; i++) {
		add_number(segment, "f", i);
	}
}

/* It grows and changes all the time; what had been added before is in every dump. */
TEST(a_dump_while_keys_are_added)
{
	segment = open_segment(MB(32));
	make("f", parameters(0.01, 100, 2), 5000);
	const pid_t child = spawn(add_for_ever);
	for (int i = 0; i < 30; i++) {
		const bshm_status status = dump("f", test_path("dump"));
		CHECK(status == BSHM_OK || status == BSHM_E_TIMEOUT);
		if (status == BSHM_OK) {
			CHECK_INT(restore("g", test_path("dump")), BSHM_OK);
			CHECK_INT(absent(segment, "g", 0, 5000), 0);
			CHECK_INT(drop(segment, "g"), 1);
		}
	}
	kill_child(child);
	CHECK_INT(faults(segment), 0);
}
