/*
 * test_atomic.c - copies that may race with a writer: atomic.h.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "platform/atomic.h"
#include "test.h"

#include <string.h>

#define ROOM   16384u
#define EDGE   64u /* before and after the target: stays as it was */
#define UNUSED 0xaau
#define PIECES UINT64_MAX /* as where the processor has no AVX2 */

static uint8_t source[ROOM + EDGE];
static uint8_t target[ROOM + 3 * EDGE];

/* Are `count` bytes of `from` at `to`, and no other byte written? */
static bool is_copy(const uint8_t *to, const uint8_t *from, size_t count)
{
	size_t unused = 0;
	for (const uint8_t *at = target; at < target + sizeof(target); at++) {
		unused += (at < to || at >= to + count) && *at == UNUSED;
	}
	return unused == sizeof(target) - count && memcmp(to, from, count) == 0;
}

static void check_copy(size_t count, size_t to_off, size_t from_off, uint64_t whole)
{
	uint8_t *to = target + EDGE + to_off;
	memset(target, UNUSED, sizeof(target));
	if (whole == PIECES) {
		bshm__copy_pieces(to, source + from_off, count);
	} else if (whole == 0) {
		bshm__racy_copy(to, source + from_off, count);
	} else {
		bshm__racy_copy_part(to, source + from_off, count, whole);
	}
	CHECK(is_copy(to, source + from_off, count));
}

TEST(a_copy_has_all_bytes_and_no_others)
{
	static const size_t counts[] = {
		0, 1, 7, 8, 9, 16, 17, 1984, 2047, 2048, 2049, 2112, 4032, 4080, 4096, 4097, 8176, 16384};
	for (size_t i = 0; i < sizeof(source); i++) {
		source[i] = (uint8_t) (i * 7 % 167);
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		for (size_t off = 0; off < EDGE; off += 3) {
			check_copy(counts[i], off, 16, 0);
			check_copy(counts[i], 24, off, counts[i]);
			check_copy(counts[i], off, 16, BSHM_COPY_CACHED + 1);
			check_copy(counts[i], off, 16, PIECES);
		}
	}
}
