/*
 * test_file.c - files of dumps: what is put is what is got, and no path leads to half a file.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/file.h"

#include <sys/stat.h>

#define MAGIC UINT64_C(0x1122334455667788)

static uint8_t bytes[4 << 20];
static uint8_t read_back[sizeof(bytes)];

static void fill(void)
{
	uint64_t seed = test_seed();
	for (size_t i = 0; i < sizeof(bytes); i += 8) {
		const uint64_t word = test_random(&seed);
		memcpy(bytes + i, &word, 8);
	}
}

/* A header of the magic and 8 bytes more, as tests of readers want it. */
static void write_header(const char *name, uint64_t magic, size_t count)
{
	bshm__output out;
	bshm_error error;
	const uint64_t header[2] = {bshm__little64(magic), 0};
	REQUIRE(bshm__output_open(&out, test_path(name), &error) == BSHM_OK);
	bshm__output_put(&out, header, count);
	REQUIRE(bshm__output_close(&out, BSHM_OK) == BSHM_OK);
}

TEST(pieces_of_all_sizes_and_their_checksums_come_back)
{
	static const size_t sizes[] = {1, 0, 1 << 20, 7, (1 << 20) + 1, 100000, 1000000};
	const size_t count = sizeof(sizes) / sizeof(sizes[0]);
	uint64_t checks[sizeof(sizes) / sizeof(sizes[0])];
	bshm__output out;
	bshm__input in;
	bshm_error error;
	fill();
	REQUIRE(bshm__output_open(&out, test_path("file"), &error) == BSHM_OK);
	size_t off = 0;
	for (size_t i = 0; i < count; i++) {
		bshm__output_put(&out, bytes + off, sizes[i]);
		checks[i] = bshm__output_check(&out);
		CHECK(checks[i] == bshm__checksum(bytes + off, sizes[i], 0));
		off += sizes[i];
	}
	CHECK_INT(out.bytes, off);
	CHECK_INT(bshm__output_close(&out, BSHM_OK), BSHM_OK);
	REQUIRE(bshm__input_open(&in, test_path("file"), &error) == BSHM_OK);
	CHECK_INT(in.bytes, off);
	off = 0;
	for (size_t i = 0; i < count; i++) {
		CHECK_INT(bshm__input_get(&in, read_back + off, sizes[i]), BSHM_OK);
		CHECK(bshm__input_check(&in) == checks[i]);
		off += sizes[i];
	}
	CHECK(memcmp(bytes, read_back, off) == 0);
	CHECK_INT(bshm__input_get(&in, read_back, 1), BSHM_E_CORRUPT);
	CHECK(error.cause == BSHM_CAUSE_TRUNCATED);
	bshm__input_close(&in);
}

TEST(the_path_leads_to_the_older_file_until_the_new_one_is_complete)
{
	bshm__output out;
	bshm_error error;
	struct stat st;
	write_header("file", MAGIC, 16);
	REQUIRE(bshm__output_open(&out, test_path("file"), &error) == BSHM_OK);
	bshm__output_put(&out, bytes, sizeof(bytes));
	CHECK(stat(test_path("file"), &st) == 0 && st.st_size == 16);
	CHECK(stat(out.name, &st) == 0);
	char name[4096];
	REQUIRE(strlen(out.name) < sizeof(name));
	strcpy(name, out.name);
	CHECK_INT(bshm__output_close(&out, BSHM_E_BUSY), BSHM_E_BUSY);
	CHECK(stat(test_path("file"), &st) == 0 && st.st_size == 16);
	CHECK(stat(name, &st) != 0);
}

TEST(a_header_is_judged_by_its_magic_first)
{
	bshm__input in;
	bshm_error error;
	uint64_t header[2];
	const struct {
		uint64_t magic;
		size_t count;
		bshm_status status;
		bshm_cause cause;
	} cases[] = {
		{MAGIC, 16, BSHM_OK, BSHM_CAUSE_NONE},
		{MAGIC, 15, BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED},
		{MAGIC, 7, BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED},
		{MAGIC + 1, 9, BSHM_E_CORRUPT, BSHM_CAUSE_MAGIC},
		{__builtin_bswap64(MAGIC), 9, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_BYTE_ORDER},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_header("file", cases[i].magic, cases[i].count);
		error = (bshm_error){0};
		REQUIRE(bshm__input_open(&in, test_path("file"), &error) == BSHM_OK);
		CHECK_INT(bshm__input_header(&in, MAGIC, header, sizeof(header)), cases[i].status);
		CHECK_INT(error.cause, cases[i].cause);
		bshm__input_close(&in);
	}
}
