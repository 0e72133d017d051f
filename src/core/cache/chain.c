/*
 * chain.c - the slots of a record: the first, and the chunks that it leads to.
 *
 * The first slot, which leads to the chunks, is freed last: after a death its chain can be freed
 * again.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/chain.h"

/* Up to the last word that may have the ref of a chunk. */
#define CHAINED_BYTES_MIN (BSHM_SLOT_HEADER + 4 + BSHM_CHAIN_HEADER)

uint32_t bshm__chain_word(const bshm__shard *s, uint32_t ref)
{
	if (bshm__ref_at(s, ref, CHAINED_BYTES_MIN) == NULL) {
		return 0;
	}
	const uint32_t state = bshm__word(s, ref, 0); /* a chunk in use is CHAINED, too */
	if ((state & BSHM_SLOT_CHAINED) == 0) {
		return 0;
	}
	if (bshm__class_of_chunks(bshm__ref_class(s, ref))) {
		return 1;
	}
	return (state & BSHM_SLOT_EXPIRES) != 0 ? 5 : 4;
}

void bshm__chain_link_back(const bshm__shard *s, uint32_t ref)
{
	const uint32_t word = bshm__chain_word(s, ref);
	const uint32_t chunk = word == 0 ? 0 : bshm__word(s, ref, word);
	if (bshm__ref_at(s, chunk, BSHM_CHUNK_HEADER) != NULL) {
		bshm__word_set(s, chunk, 2, ref);
	}
}

void bshm__chain_free(const bshm__shard *s, uint32_t ref)
{
	if (bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN) == NULL) {
		return;
	}
	/* A free first slot is not CHAINED: then its chunks are free, too. One that is not yet taken is
	 * CHAINED. */
	const uint32_t word = bshm__chain_word(s, ref);
	uint32_t chunk = word == 0 ? 0 : bshm__word(s, ref, word);
	const uint64_t most = BSHM_RECORD_BYTES_MAX / BSHM_CHUNK_BYTES + 32;
	for (uint64_t i = 0; i < most && bshm__ref_at(s, chunk, BSHM_CHUNK_HEADER) != NULL; i++) {
		const uint32_t next = bshm__word(s, chunk, 1);
		if (bshm__class_of_chunks(bshm__ref_class(s, chunk))) {
			bshm__slot_free(s, chunk);
		}
		chunk = next;
	}
	bshm__slot_free(s, ref);
}

void bshm__chain_touch(const bshm__shard *s, uint32_t chunk, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		uint8_t *bytes = bshm__ref_at(s, chunk, BSHM_CHUNK_HEADER);
		if (bytes == NULL) {
			break;
		}
		chunk = BSHM_LOAD(bshm__slot_word(bytes, 1), RELAXED);
	}
}
