/*
 * quota.c - the limit of records, which all shards of a store share.
 *
 * `reserved` says how many records of the limit have been given to shards: to be records, or to be had
 * by the next ones, `spare`. It is never less than records and spares of all shards, and never more
 * than the limit. A shard takes many at once, and few when few are left: a word that every put of every
 * process changed would cost more than the rest of the put.
 *
 * When none is left, what other shards have to spare is collected before anything is evicted: so a limit
 * of n holds n. Who has some says so in `holders`, at the latest when its lock is given back. The
 * collector holds its own shard's lock and waits for the other a moment only, so two who collect
 * from each other do not hang; neither has anything to spare.
 *
 * A death leaves `reserved` too high, never too low: it goes up before a spare does, and down after.
 * Whoever takes a dead holder's lock notes that in `recount`. With one shard, all this is not needed: the
 * shard's own count is looked at.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/store.h"

#define BATCH       64u
#define BATCH_SHARE 4u /* no more than this part of what there is left for each shard */
#define SPINS       200
/* For each shard, while the ones before are locked: for a dead holder, not for a stopped one. */
#define RECOUNT_WAIT_NS UINT64_C(1000000)

static bool is_shared(const bshm_segment *segment)
{
	return segment->cache_records != 0 && segment->shard_count > 1;
}

/* Takes what another shard has to spare. */
static uint32_t take_spare(const bshm__shard *other)
{
	uint64_t nobody = 0;
	for (unsigned i = 0;; i++, nobody = 0) {
		if (BSHM_LOAD(&other->shard->lock, RELAXED) != 0 &&
			BSHM_LOAD(&other->shard->spare, RELAXED) == 0) {
			return 0; /* not worth waiting for */
		}
		if (BSHM_CAS(&other->shard->lock, &nobody, other->segment->owner, ACQUIRE)) {
			break;
		}
		if (i == SPINS) {
			return 0;
		}
		BSHM_PAUSE();
	}
	const uint32_t spare = BSHM_LOAD(&other->shard->spare, RELAXED);
	BSHM_STORE(&other->shard->spare, 0, RELAXED);
	BSHM_AND(&other->segment->store->holders, ~(UINT64_C(1) << other->index), RELAXED);
	BSHM_STORE(&other->shard->lock, 0, RELEASE);
	return spare;
}

static uint32_t collect(const bshm__shard *s)
{
	uint64_t holders = BSHM_LOAD(&s->segment->store->holders, RELAXED);
	uint32_t got = 0;
	for (holders &= ~(UINT64_C(1) << s->index); got == 0 && holders != 0; holders &= holders - 1) {
		const uint32_t index = (uint32_t) __builtin_ctzll(holders);
		if (index >= s->segment->shard_count) {
			break; /* damaged */
		}
		const bshm__shard other = bshm__shard_at(s->segment, index);
		got = take_spare(&other);
	}
	return got;
}

/* Takes some of what is left of the limit; 0: nothing is. */
static __attribute__((noinline)) uint32_t draw(const bshm__shard *s)
{
	const uint64_t most = s->segment->cache_records;
	uint64_t *word = &s->segment->store->reserved;
	uint64_t reserved = BSHM_LOAD(word, RELAXED);
	while (reserved < most) {
		const uint64_t part = (most - reserved) / (s->segment->shard_count * BATCH_SHARE);
		const uint64_t count = part < 1 ? 1 : part < BATCH ? part : BATCH;
		if (BSHM_CAS(word, &reserved, reserved + count, RELAXED)) {
			return (uint32_t) count;
		}
	}
	return collect(s);
}

bool bshm__quota_take(const bshm__shard *s)
{
	if (!is_shared(s->segment)) {
		const uint64_t most = s->segment->cache_records;
		return most == 0 || BSHM_LOAD(&s->shard->records, RELAXED) < most;
	}
	uint32_t spare = BSHM_LOAD(&s->shard->spare, RELAXED);
	if (BSHM_UNLIKELY(spare == 0)) {
		spare = draw(s);
		if (spare == 0) {
			return false;
		}
	}
	BSHM_STORE(&s->shard->spare, spare - 1, RELAXED);
	return true;
}

void bshm__quota_give(const bshm__shard *s)
{
	if (!is_shared(s->segment)) {
		return;
	}
	const uint32_t spare = BSHM_LOAD(&s->shard->spare, RELAXED) + 1;
	if (spare <= 2 * BATCH) {
		BSHM_STORE(&s->shard->spare, spare, RELAXED);
	} else {
		BSHM_STORE(&s->shard->spare, spare - BATCH, RELAXED);
		BSHM_SUB(&s->segment->store->reserved, BATCH, RELAXED);
	}
}

void bshm__quota_announce(const bshm__shard *s)
{
	uint64_t *holders = &s->segment->store->holders;
	const uint64_t bit = UINT64_C(1) << s->index;
	if ((BSHM_LOAD(holders, RELAXED) & bit) == 0) {
		BSHM_OR(holders, bit, RELAXED);
	}
}

void bshm__quota_recount(bshm_segment *segment)
{
	bshm_store *store = segment->store;
	if (!segment->store_writable || !is_shared(segment) ||
		BSHM_LOAD(&store->reserved, RELAXED) < segment->cache_records) {
		return;
	}
	bshm_error error;
	uint64_t reserved = 0;
	uint32_t locked = 0;
	for (; locked < segment->shard_count; locked++) {
		const bshm__shard s = bshm__shard_at(segment, locked);
		if (bshm__shard_lock(&s, RECOUNT_WAIT_NS, &error) != BSHM_OK) {
			break;
		}
		reserved +=
			(uint64_t) BSHM_LOAD(&s.shard->records, RELAXED) + BSHM_LOAD(&s.shard->spare, RELAXED);
	}
	if (locked == segment->shard_count) {
		/* Whoever dies from here on leaves a lock: who takes it over notes it again. */
		BSHM_STORE(&store->recount, 0, RELAXED);
		BSHM_STORE(&store->reserved, reserved, RELAXED);
	}
	while (locked > 0) {
		const bshm__shard s = bshm__shard_at(segment, --locked);
		bshm__shard_unlock(&s);
	}
}
