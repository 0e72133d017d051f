/*
 * large.c - room for a large record, and its bytes, without holding the lock for long.
 *
 * Other processes wait for the lock of a shard for 50 ms, and a record of 64 MB takes as long to
 * copy. So its chunks are taken in steps, with pauses in which the lock is free, and filled without
 * the lock (parked.h). The put itself (put.c) then only fills the first slot and stores one ref.
 * Where there are several shards, two of the largest records may not fit into one shard. The second
 * waits until the first has been put, and then evicts it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/large.h"

#include "core/cache/lease_table.h"
#include "core/cache/parked.h"
#include "core/cache/put.h"
#include "core/cache/record.h"
#include "core/cache/remove.h"
#include "core/cache/room.h"
#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"
#include "core/status.h"
#include "platform/platform.h"

#define STEP_CHUNKS 256u
/* Of a value that is expected, bytes at each step: the put compares all. */
#define COMPARED_MOST 4096u
/* For each page of the shard: a step evicts 128 records, or empties some pages, and a page has up
 * to 1,024 records. More steps than are ever needed: the shard's counts may be damaged. (With 2, a
 * shard of tiny records had no room yet, and all that was missing was made in one hold of 0.5 s.)
 */
#define STEPS_OF_A_PAGE 16u

bool bshm__too_large(const bshm_segment *segment, uint64_t key_bytes, uint64_t value_bytes)
{
	return key_bytes > BSHM_KEY_BYTES_MAX || key_bytes + value_bytes > bshm__record_most(segment);
}

bool bshm__may_put(
	const bshm__shard *s, const bshm__existing *at, const bshm_put *put, uint64_t most)
{
	const bool present = at->cell != 0 && !at->expired;
	const bshm_value *expected = put->expected;
	switch (put->mode) {
		case BSHM_PUT_ADD:
			return !present;
		case BSHM_PUT_NEVER:
			return false;
		case BSHM_PUT_REPLACE:
			return present;
		case BSHM_PUT_CAS:
			if (expected == NULL || !present) {
				return expected == NULL && !present;
			}
			return bshm__record_type(&at->record) == expected->type &&
				   at->record.value_bytes == expected->length &&
				   bshm__record_is(s, &at->record, at->record.key_bytes, expected->bytes,
					   expected->length < most ? expected->length : most);
		default:
			return true;
	}
}

/* May the put still store the record? Another process may have ended its lease, or changed what it
 * depends on: then no others need to go for it, and it need not wait. */
static bool is_wanted(const bshm__shard *s, const bshm__home *home, const bshm_put *put)
{
	bshm__existing at;
	if (put->lease != NULL) {
		return put->mode != BSHM_PUT_NEVER && bshm__lease_granted(s, put->lease);
	}
	if (put->mode == BSHM_PUT_SET) {
		return true;
	}
	bshm__locate(s, home, put->space, &put->key, &at);
	return bshm__may_put(s, &at, put, COMPARED_MOST);
}

/* So many chunks and an index are more than the shard has room for, or leave it to no others. */
static bool is_most_of(const bshm_segment *segment, uint64_t bytes)
{
	return bytes * 8 > segment->shard_bytes * 7;
}

/*
 * An existing record that the put does not depend on goes before any other one does for the new
 * one's chunks, where the shard cannot have both. (When it went only as the others did, by its age,
 * a value of 60 MB that was set again evicted all other records of its shard.)
 */
static void make_way(
	const bshm__shard *s, const bshm__home *home, const bshm_put *put, uint64_t chunks)
{
	bshm__existing at;
	bshm__locate(s, home, put->space, &put->key, &at);
	if (at.cell != 0 && (!bshm__put_depends(put) || at.expired) &&
		is_most_of(s->segment, chunks * BSHM_CHUNK_BYTES + bshm__record_size(&at.record)) &&
		bshm__slots_free(s, BSHM_CLASS_CHUNK) < chunks) {
		bshm__record_remove(s, home, at.cell, at.ref);
	}
}

/*
 * Spares the existing record, and touches it, so that other processes evict others before it.
 * Returns how many chunks must be free for the new record: if the shard may be too small for both,
 * the existing record's chunks become free before the put takes any (bshm__put_record()).
 */
static uint64_t keep_existing(
	bshm__shard *s, const bshm__home *home, const bshm_put *put, uint64_t chunks)
{
	bshm__existing at;
	s->spared = 0;
	if (!bshm__put_depends(put)) {
		return chunks;
	}
	bshm__locate(s, home, put->space, &put->key, &at);
	if (at.cell == 0 || at.expired) {
		return chunks;
	}
	s->spared = (uint32_t) home->hash;
	const uint64_t bytes = bshm__record_size(&at.record);
	bshm__note_use(s, home, &at);
	if ((bytes + put->key.length + put->value.length) * 3 <= s->segment->shard_bytes * 2) {
		return chunks;
	}
	const uint64_t own = bytes / BSHM_CHUNK_BYTES;
	return chunks - (own < chunks ? own : chunks);
}

/* Between two steps. */
static bshm_status next_step(const bshm__shard *s, uint64_t chunks, bshm__low *low,
	bshm_patience *patience, bshm_error *error)
{
	return bshm__may_pause(s, chunks, low, patience) ? bshm__shard_lock_pause(s, patience, error)
													 : bshm__shard_lock_yield(s, patience, error);
}

/* One step: takes chunks of the record, the last one first, or makes room for them. False: there is
 * no room. */
static bool take_some(bshm__shard *s, const bshm__home *home, const bshm_put *put,
	const bshm__new_record *r, uint32_t *left)
{
	for (uint32_t i = 0; i < STEP_CHUNKS && *left != 0; i++) {
		const uint32_t size_class = *left == r->chunks ? r->last_class : BSHM_CLASS_CHUNK;
		const uint32_t next = bshm__parked(s);
		const uint32_t chunk = bshm__slot_find(s, size_class, 0);
		if (chunk == 0) { /* other processes have used some of the room */
			return keep_existing(s, home, put, *left) == *left &&
				   (bshm__make_large_room_step(s, size_class, *left) ||
					   BSHM_LOAD(&s->shard->records, RELAXED) != 0);
		}
		bshm__chunk_fill_head(s, chunk, next);
		bshm__parked_name(s, chunk);
		bshm__slot_take(s, chunk);
		if (bshm__ref_at(s, next, BSHM_CHUNK_HEADER) != NULL) { /* 0: none yet */
			bshm__word_set(s, next, 2, chunk);
		}
		--*left;
	}
	return true;
}

/* Without the lock: fills the chunks. False: the chain is damaged. */
static bool fill(const bshm__shard *s, const bshm__new_record *r, uint32_t chunk)
{
	const uint64_t bytes = (uint64_t) r->key.length + r->value.length;
	for (uint64_t off = r->first; off < bytes; off += BSHM_CHUNK_BYTES) {
		const uint64_t count = bytes - off < BSHM_CHUNK_BYTES ? bytes - off : BSHM_CHUNK_BYTES;
		uint8_t *slot = bshm__ref_at(s, chunk, BSHM_CHUNK_HEADER + (uint32_t) count);
		if (slot == NULL) {
			return false;
		}
		bshm__record_bytes(r, off, slot + BSHM_CHUNK_HEADER, count);
		chunk = BSHM_LOAD(bshm__slot_word(slot, 1), RELAXED);
	}
	return true;
}

/* Takes and fills the chunks. Not OK: the lock is lost; then *chain is given up, too. */
static bshm_status build_chain(bshm__shard *s, const bshm__home *home, const bshm_put *put,
	bshm_patience *patience, uint32_t *chain, bshm_error *error)
{
	bshm__new_record r = {.key = put->key,
		.value = put->value,
		.expires_s = put->expires_s != 0 ? put->expires_s : put->ttl_s};
	bshm__put_prepare(s, &r);
	uint32_t left = r.chunks;
	uint32_t steps = left / STEP_CHUNKS + STEPS_OF_A_PAGE * s->segment->shard_pages;
	bshm__low low = BSHM_LOW_NONE;
	bool possible = true;
	bshm_status status = BSHM_OK;
	while (status == BSHM_OK && left != 0 && possible) {
		possible = is_wanted(s, home, put) && take_some(s, home, put, &r, &left) && --steps != 0;
		status = left != 0 && possible ? next_step(s, left, &low, patience, error) : BSHM_OK;
	}
	*chain = bshm__parked(s);
	if (status == BSHM_OK && possible) {
		bshm__shard_unlock(s);
		possible = fill(s, &r, *chain);
		status = bshm__shard_lock_patient(s, patience, error);
	}
	if (status != BSHM_OK || *chain == 0) {
		bshm__parked_give_up(s);
	} else if (!possible) {
		bshm__parked_end(s, *chain);
		*chain = 0;
	}
	return status;
}

/* Waits until no other process fills chunks, or the put is not wanted. BUSY: one still does. */
static bshm_status await_parked(const bshm__shard *s, const bshm__home *home, const bshm_put *put,
	bshm_patience *patience, uint64_t wait_ns, bshm_error *error)
{
	const uint64_t deadline = bshm_os_monotonic_ns() + (patience->gone ? 0 : wait_ns);
	while (is_wanted(s, home, put) && bshm__parked_in_use(s) && !bshm__parked_reclaim(s)) {
		if (bshm_os_monotonic_ns() > deadline) {
			return BSHM_E_BUSY;
		}
		const bshm_status status = bshm__shard_lock_pause(s, patience, error);
		if (status != BSHM_OK) {
			return status;
		}
	}
	return BSHM_OK;
}

/*
 * Waits for another process's chunks, if the shard may be too small for them and this record: else
 * all other records would be evicted in vain. Not OK: the lock is lost.
 */
static bshm_status await_room(const bshm__shard *s, const bshm__home *home, const bshm_put *put,
	uint64_t chunks, bshm_patience *patience, bshm_error *error)
{
	const uint64_t existing = bshm__put_depends(put) ? chunks : 0;
	const uint64_t both = (chunks + existing) * BSHM_CHUNK_BYTES + bshm__record_most(s->segment);
	if (!is_most_of(s->segment, both)) {
		return BSHM_OK;
	}
	const uint64_t wait_ns = patience->batch ? BSHM_LOCK_BATCH_NS : BSHM_LOCK_PAGE_NS;
	const bshm_status status = await_parked(s, home, put, patience, wait_ns, error);
	if (status != BSHM_E_BUSY) {
		return status;
	}
	bshm__shard_unlock(s);
	BSHM_ADD(&s->shard->timeouts, 1, RELAXED);
	patience->gone = true;
	return bshm__fail_sizes(error, BSHM_E_TIMEOUT, BSHM_CAUSE_SHARD, wait_ns / 1000000, 0);
}

/* Takes the shard's chain for a record of many chunks, and fills it. If another process does not
 * end in time, the chunks are filled under the lock; a call waits so in vain once a shard, and no
 * longer in all than for a lock. Not OK: the lock is lost. */
static bshm_status park(bshm__shard *s, const bshm__home *home, const bshm_put *put,
	bshm_patience *patience, uint32_t *chain, bshm_error *error)
{
	const uint64_t bit = UINT64_C(1) << s->index;
	const uint64_t most_ns = patience->batch ? BSHM_LOCK_BATCH_NS : BSHM_LOCK_PAGE_NS;
	const bool waits = (patience->no_parking & bit) == 0 && patience->parking_ns < most_ns;
	const uint64_t began = bshm_os_monotonic_ns();
	const bshm_status status =
		await_parked(s, home, put, patience, waits ? BSHM_LOCK_PAGE_NS : 0, error);
	patience->parking_ns += bshm_os_monotonic_ns() - began;
	patience->no_parking = (patience->no_parking & ~bit) | (status == BSHM_E_BUSY ? bit : 0);
	if (status != BSHM_OK && status != BSHM_E_BUSY) {
		return status;
	}
	return bshm__parked_begin(s) ? build_chain(s, home, put, patience, chain, error) : BSHM_OK;
}

bshm_status bshm__prepare_large(const bshm__shard *s, const bshm__home *home, const bshm_put *put,
	bshm_patience *patience, uint32_t *chain, bshm_error *error)
{
	const uint64_t chunks = (put->key.length + put->value.length) / BSHM_CHUNK_BYTES + 1;
	if (chunks <= BSHM_STEP_CHUNKS ||
		bshm__too_large(s->segment, put->key.length, put->value.length)) {
		return BSHM_OK;
	}
	bshm__shard own = *s;
	bshm__parked_reclaim(s);
	uint32_t steps = STEPS_OF_A_PAGE * s->segment->shard_pages;
	bshm__low low = BSHM_LOW_NONE;
	uint64_t wanted;
	bool again;
	do {
		bshm_status status = await_room(s, home, put, chunks, patience, error);
		if (status != BSHM_OK) {
			return status;
		}
		if (!is_wanted(s, home, put)) {
			return BSHM_OK;
		}
		make_way(s, home, put, chunks);
		wanted = keep_existing(&own, home, put, chunks);
		again = !bshm__make_large_room_step(&own, BSHM_CLASS_CHUNK, wanted) &&
				BSHM_LOAD(&s->shard->records, RELAXED) > (own.spared != 0) && steps-- != 0;
		status = again ? next_step(s, wanted, &low, patience, error) : BSHM_OK;
		if (status != BSHM_OK) {
			return status;
		}
	} while (again);
	return chunks > BSHM_LARGE_CHUNKS && chain != NULL && wanted == chunks
			   ? park(&own, home, put, patience, chain, error)
			   : BSHM_OK;
}
