/*
 * test_rice.c - gaps there and back, the shortest way, and codes of any bytes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/delta/rice.h"

#include <stdlib.h>
#include <string.h>

#define GAPS 3000u

/* Gaps of all sizes: some are short, as in a line, and some as long as a group. */
static void draw_gaps(uint32_t *gaps, uint32_t count, uint64_t *state)
{
	const uint32_t near_bits = 1 + (uint32_t) (test_random(state) % 10);
	const uint32_t far_bits = 1 + (uint32_t) (test_random(state) % 27);
	const uint32_t share = (uint32_t) (test_random(state) % 5);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t drawn = test_random(state);
		gaps[i] =
			(uint32_t) (drawn >> 8) & ((1u << (drawn % 4 < share ? near_bits : far_bits)) - 1);
	}
}

static bshm__rice reader(const uint8_t *bytes, size_t count, bshm__rice_way way)
{
	return (bshm__rice){bytes, (uint64_t) count * 8, 0, way};
}

static uint64_t bits_by(const uint32_t *gaps, uint32_t count, bshm__rice_way way)
{
	uint64_t bits = 0;
	for (uint32_t i = 0; i < count; i++) {
		const bool two = way.line_parameter != BSHM_RICE_NONE;
		const bool is_short = two && gaps[i] < BSHM_RICE_LINE;
		const uint32_t parameter = is_short ? way.line_parameter : way.parameter;
		bits += two + 1 + parameter +
				((gaps[i] - (two && !is_short ? BSHM_RICE_LINE : 0)) >> parameter);
	}
	return bits;
}

TEST(gaps_come_back)
{
	uint64_t state = test_seed();
	uint32_t gaps[2 * GAPS];
	for (uint32_t turn = 0; turn < 300; turn++) {
		const uint32_t count = turn < 20 ? turn : (uint32_t) (test_random(&state) % GAPS);
		size_t bytes;
		draw_gaps(gaps, count, &state);
		const bshm__rice_way way = bshm__rice_best(gaps, count, gaps + count, &bytes);
		uint8_t *code = malloc(bytes + BSHM_RICE_PAD);
		bshm__rice_put(code, bytes, gaps, count, way);
		bshm__rice read = reader(code, bytes, way);
		for (uint32_t i = 0; i < count; i++) {
			uint64_t gap = UINT64_MAX;
			CHECK(!bshm__rice_ended(&read) || (uint32_t) bytes * 8 - read.at < 8);
			CHECK(bshm__rice_next(&read, &gap) && gap == gaps[i]);
		}
		CHECK(bshm__rice_ended(&read));
		free(code);
	}
}

TEST(no_way_is_shorter_than_the_best_one)
{
	uint64_t state = test_seed();
	uint32_t gaps[2 * GAPS];
	for (uint32_t turn = 0; turn < 30; turn++) {
		size_t bytes;
		draw_gaps(gaps, GAPS, &state);
		const bshm__rice_way way = bshm__rice_best(gaps, GAPS, gaps + GAPS, &bytes);
		const uint64_t best = bits_by(gaps, GAPS, way);
		CHECK_INT(bytes, (best + 7) / 8);
		for (uint8_t parameter = 0; parameter <= BSHM_RICE_MAX; parameter++) {
			CHECK(bits_by(gaps, GAPS, (bshm__rice_way){parameter, BSHM_RICE_NONE}) >= best);
			for (uint8_t line = 0; line <= BSHM_RICE_LINE_MAX; line++) {
				CHECK(bits_by(gaps, GAPS, (bshm__rice_way){parameter, line}) >= best);
			}
		}
	}
}

/* The buffer has no byte more, so that AddressSanitizer sees each one that is touched. */
TEST(any_bytes_are_read_to_their_end_and_no_further)
{
	uint64_t state = test_seed();
	for (uint32_t turn = 0; turn < 20000; turn++) {
		const size_t count = test_random(&state) % 40;
		const uint64_t kind = test_random(&state);
		uint8_t *code = malloc(count + BSHM_RICE_PAD);
		for (size_t i = 0; i < count; i++) {
			code[i] =
				kind % 3 == 0 ? 0 : (uint8_t) (test_random(&state) >> (kind % 3 == 1 ? 0 : 7));
			code[i] &= kind % 3 == 2 && i % 9 != 0 ? 0 : 255;
		}
		memset(code + count, 0, BSHM_RICE_PAD);
		const bshm__rice_way way = {(uint8_t) (kind >> 8) % (BSHM_RICE_MAX + 1),
			(kind >> 16 & 1) != 0 ? BSHM_RICE_NONE : (uint8_t) (kind >> 17) % 10};
		bshm__rice read = reader(code, count, way);
		uint64_t gap;
		uint32_t gaps = 0;
		while (bshm__rice_next(&read, &gap)) {
			gaps++;
			CHECK(gap < UINT64_C(1) << 62);
		}
		CHECK(gaps <= count * 8);
		CHECK(read.at <= count * 8);
		free(code);
	}
}

TEST(what_is_left_of_the_last_byte_is_zero)
{
	const bshm__rice_way way = {3, BSHM_RICE_NONE};
	uint8_t code[1 + BSHM_RICE_PAD] = {0x0b}; /* a one, 5 in three bits, and four zeros */
	uint64_t gap;
	bshm__rice read = reader(code, 1, way);
	CHECK(bshm__rice_next(&read, &gap) && gap == 5);
	CHECK(bshm__rice_ended(&read));
	CHECK(!bshm__rice_next(&read, &gap));
	code[0] = 0x8b;
	read = reader(code, 1, way);
	CHECK(bshm__rice_next(&read, &gap) && gap == 5);
	CHECK(!bshm__rice_ended(&read));
}
