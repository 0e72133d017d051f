/*
 * partition.c - whole partitions of bits: the union of two, and a copy.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/partition.h"

#include "core/format.h"
#include "platform/atomic.h"

void bshm__partition_merge(
	const bshm_view *to, uint64_t *to_words, const bshm_view *from, const uint64_t *from_words)
{
	(void) to;
	(void) from;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		const uint64_t word = BSHM_LOAD(&to_words[i], RELAXED) | BSHM_LOAD(&from_words[i], RELAXED);
		BSHM_STORE(&to_words[i], word, RELAXED);
	}
}

void bshm__partition_export(
	uint64_t *to, const bshm_view *from, const uint64_t *words, uint32_t epoch)
{
	(void) from;
	(void) epoch;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		to[i] = BSHM_LOAD(&words[i], RELAXED);
	}
}
