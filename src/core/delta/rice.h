/*
 * rice.h - gaps between changed bits, by Rice's code.
 *
 * With the parameter k a gap is written as gap / 2^k zeros, a one, and the k lowest bits of the
 * gap, the lowest first. Bit i of the code is bit i % 8 of byte i / 8. Gaps of bits that change by
 * chance take at most 0.12 bits each more than their entropy, if k is the best one.
 *
 * In a GROWING filter the bits of a key are near each other, and keys are not. So there is a second
 * code: a one, and a gap of less than a line (512 bits) with a parameter of its own; or a zero, and
 * what a gap is longer than that.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_RICE_H
#define BSHM_RICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BSHM_RICE_MAX      27u  /* the largest parameter, */
#define BSHM_RICE_LINE_MAX 9u   /* and the largest of short gaps */
#define BSHM_RICE_NONE     255u /* in the place of that one: the first code */
#define BSHM_RICE_LINE     512u
#define BSHM_RICE_PAD      8u /* bytes behind a code that are touched, and zero */

typedef struct {
	uint8_t parameter;
	uint8_t line_parameter;
} bshm__rice_way;

/* The way with the shortest code, and how many bytes that takes. `sorted` takes as many gaps. */
bshm__rice_way bshm__rice_best(
	const uint32_t *gaps, uint32_t count, uint32_t *sorted, size_t *bytes);
/* Writes the code: exactly as many bytes as it takes, and the pad. */
void bshm__rice_put(
	uint8_t *to, size_t bytes, const uint32_t *gaps, uint32_t count, bshm__rice_way way);

/* A code that is being read. Whatever its bytes are, none but they and the pad are looked at. */
typedef struct {
	const uint8_t *bytes;
	uint64_t bit_count; /* of all bytes */
	uint64_t at;        /* the bit to be read next */
	bshm__rice_way way;
} bshm__rice;

/* The next gap, which may be any number below 2^62. False: the code has ended before. */
bool bshm__rice_next(bshm__rice *code, uint64_t *gap);
/* Have all bytes been read, and is the rest of the last one zero? */
bool bshm__rice_ended(const bshm__rice *code);

#endif
