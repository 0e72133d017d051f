/*
 * rice.c - gaps between changed bits, by Rice's code.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/delta/rice.h"

#include "core/file.h"
#include "platform/compiler.h"

#include <string.h>

#define WHOLE 57u /* bits that a read of 8 bytes gives at least, from any bit on */

/* ------------------------------------------------------------------ writing */

static uint64_t bits_of(const uint32_t *gaps, uint32_t count, uint32_t parameter)
{
	uint64_t bits = (uint64_t) count * (parameter + 1);
	for (uint32_t i = 0; i < count; i++) {
		bits += gaps[i] >> parameter;
	}
	return bits;
}

/* The length is convex in the parameter, so the first one whose neighbours are longer is best. */
static uint8_t best_of(const uint32_t *gaps, uint32_t count, uint32_t most, uint64_t *bits)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		sum += gaps[i];
	}
	uint32_t best = sum > count ? BSHM_HIGHEST_BIT(sum / count) : 0;
	uint64_t next;
	best = best < most ? best : most;
	*bits = bits_of(gaps, count, best);
	while (best > 0 && (next = bits_of(gaps, count, best - 1)) < *bits) {
		*bits = next;
		best--;
	}
	while (best < most && (next = bits_of(gaps, count, best + 1)) < *bits) {
		*bits = next;
		best++;
	}
	return (uint8_t) best;
}

bshm__rice_way bshm__rice_best(
	const uint32_t *gaps, uint32_t count, uint32_t *sorted, size_t *bytes)
{
	uint32_t shorts = 0;
	uint32_t longs = 0; /* from the end on */
	uint64_t bits;
	uint64_t short_bits;
	uint64_t long_bits;
	for (uint32_t i = 0; i < count; i++) {
		const bool is_short = gaps[i] < BSHM_RICE_LINE;
		sorted[is_short ? shorts : count - 1 - longs] = gaps[i] - (is_short ? 0 : BSHM_RICE_LINE);
		shorts += is_short;
		longs += !is_short;
	}
	bshm__rice_way way = {best_of(gaps, count, BSHM_RICE_MAX, &bits), BSHM_RICE_NONE};
	const bshm__rice_way other = {best_of(sorted + shorts, longs, BSHM_RICE_MAX, &long_bits),
		best_of(sorted, shorts, BSHM_RICE_LINE_MAX, &short_bits)};
	if (count + short_bits + long_bits < bits) {
		bits = count + short_bits + long_bits;
		way = other;
	}
	*bytes = (size_t) ((bits + 7) / 8);
	return way;
}

/* Writes up to WHOLE bits into zeros. */
static void put_bits(uint8_t *to, uint64_t at, uint64_t bits)
{
	uint64_t word;
	memcpy(&word, to + (at >> 3), sizeof(word));
	word |= bshm__little64(bits << (at & 7));
	memcpy(to + (at >> 3), &word, sizeof(word));
}

void bshm__rice_put(
	uint8_t *to, size_t bytes, const uint32_t *gaps, uint32_t count, bshm__rice_way way)
{
	uint64_t at = 0;
	memset(to, 0, bytes + BSHM_RICE_PAD);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t gap = gaps[i];
		uint32_t parameter = way.parameter;
		if (way.line_parameter != BSHM_RICE_NONE) {
			const bool is_short = gap < BSHM_RICE_LINE;
			put_bits(to, at++, is_short);
			parameter = is_short ? way.line_parameter : parameter;
			gap -= is_short ? 0 : BSHM_RICE_LINE;
		}
		at += gap >> parameter;
		put_bits(to, at, 1 | (uint64_t) (gap & ((UINT32_C(1) << parameter) - 1)) << 1);
		at += 1 + parameter;
	}
}

/* ------------------------------------------------------------------ reading */

/* At least WHOLE bits from bit `at` on. */
static uint64_t bits_at(const bshm__rice *code, uint64_t at)
{
	uint64_t word;
	memcpy(&word, code->bytes + (at >> 3), sizeof(word));
	return bshm__little64(word) >> (at & 7);
}

static bool read_gap(bshm__rice *code, uint32_t parameter, uint64_t *gap)
{
	uint64_t at = code->at;
	uint64_t word;
	while ((word = bits_at(code, at)) == 0) {
		at += WHOLE; /* zeros */
		if (at >= code->bit_count) {
			return false;
		}
	}
	at += BSHM_LOWEST_BIT(word);
	if (at + 1 + parameter > code->bit_count) {
		return false;
	}
	*gap =
		(at - code->at) << parameter | (bits_at(code, at + 1) & ((UINT64_C(1) << parameter) - 1));
	code->at = at + 1 + parameter;
	return true;
}

bool bshm__rice_next(bshm__rice *code, uint64_t *gap)
{
	const bshm__rice_way way = code->way;
	if (way.line_parameter == BSHM_RICE_NONE) {
		return read_gap(code, way.parameter, gap);
	}
	if (code->at == code->bit_count) {
		return false;
	}
	const bool is_short = (bits_at(code, code->at++) & 1) != 0;
	if (!read_gap(code, is_short ? way.line_parameter : way.parameter, gap)) {
		return false;
	}
	*gap += is_short ? 0 : BSHM_RICE_LINE;
	return true;
}

bool bshm__rice_ended(const bshm__rice *code)
{
	return (code->at + 7) / 8 == code->bit_count / 8 &&
		   (code->at == code->bit_count || bits_at(code, code->at) == 0);
}
