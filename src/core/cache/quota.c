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
#include "core/cache/quota.h"

#define BATCH       64u
#define BATCH_SHARE 4u /* no more than this part of what there is left for each shard */
#define SPINS       200

/* Takes what another shard has to spare. */
static uint32_t take_spare(const bshm__shard *other)
{
	for (unsigned i = 0;; i++) {
		if (BSHM_LOAD(&other->shard->lock, RELAXED) != 0 &&
			BSHM_LOAD(&other->shard->spare, RELAXED) == 0) {
			return 0; /* not worth waiting for */
		}
		if (bshm__shard_try(other, other->segment->owner)) {
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
	bshm__shard_leave(other);
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
	if (!bshm__quota_shared(s->segment)) {
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
	if (!bshm__quota_shared(s->segment)) {
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
