/*
 * ops.c - work in progress on a filter, and the journal of what is added meanwhile.
 *
 * A load, copy, reservation or clear is an op: a record of who does it, for which entry, and
 * which partitions it has taken. While an entry has one, its `builders` word is set, and whoever
 * adds a key to that filter also notes it, under the lock, in the op's journal: as the hash under
 * the seed of the generation that is being built. The op moves the journal into its bits before
 * it publishes, in the same critical section, so an add that returned is in the new set.
 *
 * The journal lies in chunks of its own and never in filter partitions: an adder that was stopped
 * in the middle may still set bits of a partition that is no longer its filter's. In bits that is
 * a needless "maybe"; in a journal it would be a lost key.
 *
 * An op ends with its owner. Its owner may also give it up at any time, without the lock, by
 * setting `owner` to 0. bshm__ops_reap() then tidies up: an op is over when its `entry` is 0, and
 * its journal chunks are free from then on. A clear that was given up is finished, not undone, for
 * its bits are already half gone; until then it keeps its partitions and its journal.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/core.h"

/* Partitions of a dead process's clear that are zeroed at a time: 8 MB, about 1 ms. */
#define CLEAR_STEP 1024u

static uint64_t op_check(const bshm_segment *segment, const bshm_op *op)
{
	return bshm__checksum(
		&op->serial, offsetof(bshm_op, check) - offsetof(bshm_op, serial), segment->name_seed);
}

bool bshm__op_sound(const bshm_segment *segment, const bshm_op *op)
{
	return op->check == op_check(segment, op);
}

void bshm__op_claim(bshm_segment *segment, bshm_op *op, const bshm_run *run)
{
	if (op->run.count != 0) {
		bshm__space_forget(segment);
	}
	bshm__racy_copy(&op->run, run, sizeof(*run)); /* bshm__space_lacks() may be reading */
	op->check = op_check(segment, op);
}

static bool keeps_journal(const bshm_op *op)
{
	return op->kind == BSHM_OP_BUILD || op->kind == BSHM_OP_CLEAR;
}

bshm_op *bshm__op_begin(
	bshm_segment *segment, uint32_t kind, uint32_t entry, uint64_t seed, bool counting)
{
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		bshm_op *op = &segment->ops[i];
		if (op->entry != 0) {
			continue;
		}
		const bshm_op fresh = {
			.serial = ++segment->header->serial,
			.seed = seed,
			.entry = entry + 1,
			.kind = kind,
			.counting = counting,
		};
		bshm__racy_copy(op, &fresh, sizeof(fresh)); /* bshm__space_lacks() may be reading */
		op->check = op_check(segment, op);
		BSHM_STORE(&op->owner, segment->owner, RELEASE);
		if (keeps_journal(op)) {
			/* An add that does not see this has returned before the op reads its first key. */
			BSHM_STORE(&segment->entries[entry].builders, 1, SEQ_CST);
		}
		return op;
	}
	return NULL;
}

void bshm__op_end(bshm_segment *segment, bshm_op *op)
{
	const uint32_t entry = BSHM_LOAD(&op->entry, RELAXED) - 1;
	if (op->run.count != 0) {
		bshm__space_forget(segment);
	}
	BSHM_STORE(&op->owner, 0, RELEASE);
	BSHM_STORE(&op->entry, 0, RELAXED);
	if (entry < segment->entry_count) {
		bshm__entry_tidy(segment, entry);
	}
}

bool bshm__entry_has_op(const bshm_segment *segment, uint32_t index)
{
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		if (segment->ops[i].entry == index + 1) {
			return true;
		}
	}
	return false;
}

bool bshm__entry_has_journal(const bshm_segment *segment, uint32_t index)
{
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		if (segment->ops[i].entry == index + 1 && keeps_journal(&segment->ops[i])) {
			return true;
		}
	}
	return false;
}

bool bshm__entry_is_growing(const bshm_segment *segment, uint32_t index)
{
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		if (segment->ops[i].entry == index + 1 && segment->ops[i].kind == BSHM_OP_GROW) {
			return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------------ clear */

/* Publishes a cleared filter, whose bits are all zero, with what was added meanwhile. */
static void clear_publish(bshm_segment *segment, bshm_op *op, uint32_t index, const bshm_view *view,
	bshm_descriptor *descriptor)
{
	descriptor->state = BSHM_STATE_LIVE;
	descriptor->published_s = bshm__bits(bshm_os_wall_s());
	const uint64_t items = bshm__journal_apply(segment, op, view);
	bshm__entry_publish(segment, index, descriptor, items);
}

/*
 * Ends a clear, if the filter has not been replaced meanwhile. `zeroed` says that its owner lived
 * to zero the bits. If not, they are zeroed here, a part at a time, for the lock is held: the op
 * remembers how far, and whoever has the lock next goes on. All along the answer is "maybe".
 */
static void clear_finish(bshm_segment *segment, bshm_op *op, uint32_t index, bool zeroed)
{
	bshm_entry *entry = &segment->entries[index];
	const uint64_t generation = BSHM_LOAD(&entry->generation, RELAXED);
	bshm_descriptor descriptor = bshm__descriptor_read(entry, generation);
	bshm_view view = {0};
	const bshm__name name = bshm__entry_name(entry);
	if (bshm__descriptor_sound(segment, &name, &descriptor, generation) &&
		descriptor.state == BSHM_STATE_CLEARING && descriptor.newest.run.first == op->run.first) {
		const bshm_status status = bshm__view_lay(segment, &view, &descriptor, &descriptor.newest);
		if (status == BSHM_E_NO_SPACE) {
			BSHM_STORE(&op->owner, 0, RELEASE); /* private memory: the next one tries */
			return;
		}
		/* Pairs with bshm_view_current(): whoever sees a bit zeroed here sees at least the generation
		 * read above. The dead process's own fence orders its stores, not these. */
		BSHM_FENCE(RELEASE);
		const uint32_t count = view.newest.partition_count;
		uint32_t done = zeroed ? count : BSHM_LOAD(&op->done, RELAXED);
		for (uint32_t step = 0; done < count && step < CLEAR_STEP; step++) {
			bshm__partition_zero(bshm__parts_at(&view.newest, done++));
		}
		BSHM_STORE(&op->done, done, RELAXED);
		if (done < count) {
			bshm__view_release(&view);
			return;
		}
		if (status == BSHM_OK) {
			clear_publish(segment, op, index, &view, &descriptor);
		}
	}
	bshm__view_release(&view);
	bshm__op_end(segment, op);
}

/*
 * Under the lock: registers the clear and takes the filter out of service. One that has grown is
 * left with its first layer, as it was reserved; the others' partitions are free from here on.
 */
static bshm_status clear_begin(bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor,
	bshm_view *view, bshm_op **op, bshm_error *error)
{
	bshm_layer layers[BSHM_LAYERS_MAX];
	if (!bshm__layers_read(segment, descriptor, layers)) {
		return bshm__fail(error, BSHM_E_CORRUPT, "layers");
	}
	descriptor->newest = layers[0];
	descriptor->layer_count = 1;
	bshm_status status = bshm__view_lay(segment, view, descriptor, layers);
	if (status != BSHM_OK) {
		return bshm__fail(error, status, status == BSHM_E_CORRUPT ? "links" : "memory");
	}
	const bool counting = descriptor->kind == BSHM_KIND_COUNTING;
	*op = bshm__op_begin(segment, BSHM_OP_CLEAR, index, descriptor->seed, counting);
	if (*op == NULL) {
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, "ops", BSHM_OP_COUNT + 1, BSHM_OP_COUNT);
	}
	/* Claimed by the op too: nobody gets the partitions while they are being zeroed. */
	bshm__op_claim(segment, *op, &descriptor->newest.run);
	descriptor->state = BSHM_STATE_CLEARING;
	bshm__entry_publish(segment, index, descriptor, 0);
	return BSHM_OK;
}

/* Under the lock: all lanes of the filter are over at once, and no partition is touched. */
static void clear_sliding(bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor)
{
	bshm__epoch_skip(segment, descriptor);
	descriptor->published_s = bshm__bits(bshm_os_wall_s());
	bshm__entry_publish(segment, index, descriptor, 0);
}

/* Who works on an op. Where that is not the op's owner any more, others finish it, and have its partitions. */
typedef struct {
	uint64_t owner;
	uint64_t serial;
} worker;

static bool is_worker(const bshm_op *op, const worker *w)
{
	return BSHM_LOAD(&op->owner, ACQUIRE) == w->owner &&
		   BSHM_LOAD(&op->serial, RELAXED) == w->serial;
}

static bshm_status fail_lost(const bshm_segment *segment, bshm_error *error)
{
	return segment->slot_lost ? bshm__fail(error, BSHM_E_UNAVAILABLE, "descriptors")
							  : bshm__fail(error, BSHM_E_CORRUPT, "op");
}

/* The part of a clear without the lock, and its end. */
static bshm_status clear_zero(bshm_segment *segment, uint32_t index, const bshm_view *view,
	bshm_op *op, worker w, bshm_error *error)
{
	for (uint32_t i = 0; i < view->newest.partition_count; i++) {
		if (i % CLEAR_STEP == 0 && !is_worker(op, &w)) {
			return fail_lost(segment, error);
		}
		bshm__partition_zero(bshm__parts_at(&view->newest, i));
	}
	bshm_status status = bshm__lock(segment, BSHM_LOCK_BATCH_NS, error);
	if (status != BSHM_OK) {
		BSHM_CAS(&op->owner, &w.owner, 0, RELEASE); /* the next who has the lock finishes it */
		return status;
	}
	if (is_worker(op, &w)) {
		clear_finish(segment, op, index, true);
	} else {
		status = fail_lost(segment, error);
	}
	bshm__unlock(segment);
	return status;
}

int bshm_filter_clear(
	bshm_segment *segment, const char *name, size_t name_length, bshm_error *error)
{
	const bshm__name padded = bshm__name_of(name, name_length);
	uint32_t index;
	bshm_descriptor descriptor;
	bshm_status current;
	const uint64_t deadline = bshm_os_monotonic_ns() + BSHM_LOCK_BATCH_NS;
	bshm_status status =
		bshm__lock_settled(segment, &padded, deadline, &index, &descriptor, &current, error);
	if (status != BSHM_OK) {
		return status;
	}
	bshm_view view = {0};
	bshm_op *op = NULL;
	if (current == BSHM_OK && descriptor.kind == BSHM_KIND_SLIDING) {
		clear_sliding(segment, index, &descriptor);
	} else if (current == BSHM_OK) {
		status = clear_begin(segment, index, &descriptor, &view, &op, error);
	} else if (current == BSHM_E_CORRUPT) {
		status = bshm__fail(error, BSHM_E_CORRUPT, "descriptor");
	}
	const worker me = {segment->owner, op == NULL ? 0 : op->serial};
	bshm__unlock(segment);
	if (op != NULL) {
		status = clear_zero(segment, index, &view, op, me, error);
	}
	bshm__view_release(&view);
	return status < 0 ? status : current == BSHM_OK;
}

/* ------------------------------------------------------------------ the dead */

void bshm__ops_reap(bshm_segment *segment)
{
	bool cleared = false; /* one clear a time: it may be 8 MB */
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		bshm_op *op = &segment->ops[i];
		const uint64_t owner = BSHM_LOAD(&op->owner, ACQUIRE);
		const uint32_t entry = BSHM_LOAD(&op->entry, RELAXED);
		if (entry == 0 || (owner != 0 && bshm__owner_alive(segment, owner))) {
			continue;
		}
		BSHM_ADD(&segment->header->repairs, owner != 0, RELAXED);
		BSHM_STORE(&op->owner, 0, RELAXED);
		if (op->kind == BSHM_OP_CLEAR && entry <= segment->entry_count &&
			bshm__op_sound(segment, op)) {
			if (!cleared) {
				clear_finish(segment, op, entry - 1, false);
			}
			cleared = true;
		} else {
			bshm__op_end(segment, op);
		}
	}
}

/* ------------------------------------------------------------------ journal */

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

/* Pages tend to add the same few keys again and again: is it in the chunk already? */
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
			segment->tags[i] = op->serial;
			BSHM_STORE(&op->chunk, i + 1, RELAXED);
		}
	}
	chunk->hash[count] = hash;
	BSHM_STORE(&chunk->count, count + 1, RELAXED);
	BSHM_ADD(&op->pending, 1, RELAXED);
	return true;
}

int bshm__journal_add(bshm_segment *segment, uint32_t index, const bshm_key *key, bool stands)
{
	int noted = 0;
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		bshm_op *op = &segment->ops[i];
		if (op->entry != index + 1 || !keeps_journal(op)) {
			continue;
		}
		op->promised |= !stands;
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
		segment->tags[i] = left == 0 ? 0 : op->serial;
	}
	BSHM_SUB(&op->pending, taken, RELAXED);
	return taken;
}

uint64_t bshm__journal_apply(bshm_segment *segment, bshm_op *op, const bshm_view *view)
{
	uint64_t items = 0;
	for (uint32_t i = 0; i < segment->chunk_count; i++) {
		const bshm_chunk *chunk = &segment->chunks[i];
		const uint64_t count =
			segment->tags[i] == op->serial ? BSHM_LOAD(&chunk->count, RELAXED) : 0;
		for (uint64_t k = 0; k < count && k < BSHM_CHUNK_HASHES; k++) {
			items += bshm__view_put(view, chunk->hash[k]);
		}
	}
	return items;
}
