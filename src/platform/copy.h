/*
 * copy.h - copies of more than 2 kB.
 *
 * For long copies the C library of many machines uses `rep movsb`, and that is slow where source
 * and destination lie a few bytes apart in their pages, as a chunk and a string often do: 3,000 ns
 * for 8 kB instead of 100 on an AMD EPYC of the third generation. Calls of it for 2 kB each avoid
 * that. But a row of such calls may take 90 ns more in one build than in another, of which only the
 * addresses of code differ, for some sizes (a Xeon of the fifth generation: 270 ns instead of 180
 * for a get of 8 kB). So where the processor has AVX2 the copy is a loop of its own.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_COPY_H
#define BSHM_COPY_H

#include "platform/compiler.h"

#include <stddef.h>
#include <string.h>

#define BSHM_COPY_PIECE 2048u
#define BSHM_COPY_LINE  64u

#if defined(__x86_64__) && !defined(_WIN32) && !defined(BSHM_MSVC)
# define BSHM_COPY_WIDE

# define BSHM__WIDE 32u
typedef uint8_t bshm__wide __attribute__((vector_size(BSHM__WIDE)));

/* 32 bytes or more. The loop stores to whole vectors of `to`; what is before and after them comes
 * with the first and the last store, which overlap others. */
__attribute__((target("avx2"))) static BSHM_NOINLINE BSHM_MAYBE_UNUSED void bshm__copy_wide(
	void *to, const void *from, size_t count)
{
	uint8_t *out = to;
	const uint8_t *in = from;
	bshm__wide a;
	bshm__wide b;
	bshm__wide c;
	bshm__wide d;
	bshm__wide last;
	memcpy(&a, in, BSHM__WIDE);
	memcpy(&last, in + count - BSHM__WIDE, BSHM__WIDE);
	memcpy(out, &a, BSHM__WIDE);
	size_t at = BSHM__WIDE - (uintptr_t) out % BSHM__WIDE;
	for (; at + 4 * BSHM__WIDE < count; at += 4 * BSHM__WIDE) {
		memcpy(&a, in + at, BSHM__WIDE);
		memcpy(&b, in + at + BSHM__WIDE, BSHM__WIDE);
		memcpy(&c, in + at + 2 * BSHM__WIDE, BSHM__WIDE);
		memcpy(&d, in + at + 3 * BSHM__WIDE, BSHM__WIDE);
		memcpy(out + at, &a, BSHM__WIDE);
		memcpy(out + at + BSHM__WIDE, &b, BSHM__WIDE);
		memcpy(out + at + 2 * BSHM__WIDE, &c, BSHM__WIDE);
		memcpy(out + at + 3 * BSHM__WIDE, &d, BSHM__WIDE);
	}
	for (; at + BSHM__WIDE < count; at += BSHM__WIDE) {
		memcpy(&a, in + at, BSHM__WIDE);
		memcpy(out + at, &a, BSHM__WIDE);
	}
	memcpy(out + count - BSHM__WIDE, &last, BSHM__WIDE);
}
#endif

/* The first piece ends with a cache line of `to`. (GCC makes a `rep movsq` of its own of a memcpy()
 * whose size has a bound, but not of a memmove().) */
static BSHM_NOINLINE BSHM_MAYBE_UNUSED void bshm__copy_pieces(
	void *to, const void *from, size_t count)
{
	uint8_t *out = to;
	const uint8_t *in = from;
	size_t piece = BSHM_COPY_PIECE - (uintptr_t) to % BSHM_COPY_LINE;
	for (; count > BSHM_COPY_PIECE; piece = BSHM_COPY_PIECE) {
		memmove(out, in, piece);
		out += piece;
		in += piece;
		count -= piece;
	}
	memmove(out, in, count);
}

static inline void bshm__copy_long(void *to, const void *from, size_t count)
{
#ifdef BSHM_COPY_WIDE
	if (BSHM_LIKELY(__builtin_cpu_supports("avx2"))) {
		bshm__copy_wide(to, from, count);
		return;
	}
#endif
	bshm__copy_pieces(to, from, count);
}

#endif
