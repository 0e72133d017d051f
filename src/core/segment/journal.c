/*
 * journal.c - the keys that are added beside a build or clear.
 *
 * While such an op runs for a filter, an adder also notes its key, under the lock, in the op's
 * journal: as the hash under the seed of the generation that is being built. The op applies the
 * journal to its bits before it publishes, in the same critical section. So a key whose add has
 * returned is in the new set.
 *
 * The journal has chunks of its own, and never lies in filter partitions: an adder that was stopped
 * in the middle may still set bits of a partition that its filter has lost. Among bits that is a
 * needless "maybe"; in a journal it would be a lost key. A chunk belongs to the op whose serial
 * number it has, and is free when no op has that number.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/journal.h"

#include "core/hash.h"
#include "core/segment/ops.h"
#include "core/segment/segment.h"
#include "platform/atomic.h"

static bool serial_in_use(const bshm_segment *segment, uint64_t serial)
{
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		const bshm_op *op = &segment->ops[i];
		if (op->entry != 0 && op->serial == serial) {
			return true;
		}
	}
	return false;
}

/* Is the hash in the chunk already? Pages tend to add the same few keys again and again. */
static bool in_chunk(const bshm_chunk *chunk, uint64_t count, bshm_hash hash)
{
	for (uint64_t i = 0; i < count; i++) {
		if (chunk->hash[i].low == hash.low && chunk->hash[i].high == hash.high) {
			return true;
		}
	}
	return false;
}

static bool in_journal(const bshm_segment *segment, const bshm_op *op, bshm_hash hash)
{
	for (uint32_t i = 0; i < segment->chunk_count; i++) {
		if (segment->tags[i] == op->serial &&
			in_chunk(&segment->chunks[i], BSHM_CHUNK_HASHES, hash)) {
			return true;
		}
	}
	return false;
}

/* Appends to the op's chunk, or to a fresh one; false when the journal is full. */
static bool journal_append(bshm_segment *segment, bshm_op *op, bshm_hash hash)
{
	const uint32_t current = BSHM_LOAD(&op->chunk, RELAXED) - 1; /* 0 wraps: none yet */
	uint64_t count = BSHM_CHUNK_HASHES;
	bshm_chunk *chunk = NULL;
	if (current < segment->chunk_count && segment->tags[current] == op->serial) {
		chunk = &segment->chunks[current];
		count = BSHM_LOAD(&chunk->count, RELAXED);
		if (op->counting == 0 &&
			in_chunk(chunk, count < BSHM_CHUNK_HASHES ? count : BSHM_CHUNK_HASHES, hash)) {
			return true;
		}
	}
	for (uint32_t i = 0; count >= BSHM_CHUNK_HASHES; i++) {
		if (i == segment->chunk_count) {
			return op->counting == 0 && in_journal(segment, op, hash);
		}
		if (segment->tags[i] == 0 || !serial_in_use(segment, segment->tags[i])) {
			chunk = &segment->chunks[i];
			count = 0;
			BSHM_STORE(&chunk->count, 0, RELAXED);
			BSHM_STORE(&segment->tags[i], op->serial, RELAXED);
			BSHM_STORE(&op->chunk, i + 1, RELAXED);
		}
	}
	chunk->hash[count] = hash;
	BSHM_STORE(&chunk->count, count + 1, RELAXED);
	BSHM_ADD(&op->pending, 1, RELAXED);
	return true;
}

int bshm__journal_add(bshm_segment *segment, uint32_t index, const bshm_key *key, bool exists)
{
	int noted = 0;
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		bshm_op *op = &segment->ops[i];
		/* Where no set stands, the one that a clear works on was dropped: it is not published. */
		if (op->entry != index + 1 || !bshm__op_keeps_journal(op) ||
			(!exists && op->kind == BSHM_OP_CLEAR)) {
			continue;
		}
		op->promised |= !exists;
		if (!journal_append(segment, op, bshm__hash_key(key->bytes, key->length, op->seed))) {
			op->lost = 1;
			noted = -1;
		} else if (noted == 0) {
			noted = 1;
		}
	}
	return noted;
}

size_t bshm__journal_take(bshm_segment *segment, bshm_op *op, bshm_hash *out, size_t room)
{
	size_t taken = 0;
	for (uint32_t i = 0; i < segment->chunk_count && taken < room; i++) {
		if (segment->tags[i] != op->serial) {
			continue;
		}
		bshm_chunk *chunk = &segment->chunks[i];
		uint64_t left = BSHM_LOAD(&chunk->count, RELAXED);
		left = left > BSHM_CHUNK_HASHES ? BSHM_CHUNK_HASHES : left;
		while (left > 0 && taken < room) {
			out[taken++] = chunk->hash[--left];
		}
		BSHM_STORE(&chunk->count, left, RELAXED);
		BSHM_STORE(&segment->tags[i], left == 0 ? 0 : op->serial, RELAXED);
	}
	BSHM_SUB(&op->pending, taken, RELAXED);
	return taken;
}

const bshm_hash *bshm__journal_next(
	const bshm_segment *segment, const bshm_op *op, uint32_t *cursor, uint64_t *count)
{
	while (*cursor < segment->chunk_count) {
		const uint32_t i = (*cursor)++;
		if (segment->tags[i] == op->serial) {
			const uint64_t noted = BSHM_LOAD(&segment->chunks[i].count, RELAXED);
			*count = noted < BSHM_CHUNK_HASHES ? noted : BSHM_CHUNK_HASHES;
			return segment->chunks[i].hash;
		}
	}
	return NULL;
}
