/*
 * quota.c - the limit of records, which all shards of a store share.
 *
 * `reserved` is how many records of the limit the shards have taken: for their records, and as
 * credit for the next ones. It is never less than the sum of records and credits of all shards, and
 * never more than the limit. A shard takes many at once, and few when few are left. So most puts do
 * not write this word, which all processes share: that would cost more than the rest of the put.
 *
 * When the limit is reached, a shard without credit collects the credit of other shards before it
 * evicts: so a limit of n holds n records. A shard with credit has a bit in `holders`, at the
 * latest when its lock is released. The collector holds its own shard's lock, and waits for another
 * one only for a moment: two collectors may wait for each other.
 *
 * A death leaves `reserved` too high, never too low, because it goes up before a credit does, and
 * down after. The process that takes over the lock of the dead holder notes that in `recount`
 * (quota_recount.c). With one shard there is no credit: the shard's own count is compared with the
 * limit. If that count is damaged, no eviction brings it below: so after some, that of the shard's
 * tables takes its place.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/quota.h"

#define BATCH       64u
#define BATCH_SHARE 4u /* at most this part of a shard's share of the rest */
#define SPINS       200

/* Takes the credit of another shard. */
static uint32_t take_credit(const bshm__shard *other)
{
	for (unsigned i = 0;; i++) {
		if (BSHM_LOAD(&other->shard->lock, RELAXED) != 0 &&
			BSHM_LOAD(&other->shard->credit, RELAXED) == 0) {
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
	const uint32_t credit = BSHM_LOAD(&other->shard->credit, RELAXED);
	BSHM_STORE(&other->shard->credit, 0, RELAXED);
	BSHM_AND(&other->segment->store->holders, ~(UINT64_C(1) << other->index), RELAXED);
	bshm__shard_leave(other);
	return credit;
}

static uint32_t collect(const bshm__shard *s)
{
	uint64_t holders = BSHM_LOAD(&s->segment->store->holders, RELAXED);
	uint32_t got = 0;
	for (holders &= ~(UINT64_C(1) << s->index); got == 0 && holders != 0; holders &= holders - 1) {
		const uint32_t index = BSHM_LOWEST_BIT(holders);
		if (index >= s->segment->shard_count) {
			break; /* damaged */
		}
		const bshm__shard other = bshm__shard_at(s->segment, index);
		got = take_credit(&other);
	}
	return got;
}

/* Takes a part of the rest of the limit, or of a credit; 0: the limit is reached. */
static BSHM_NOINLINE uint32_t draw(const bshm__shard *s)
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
	if (reserved > most) { /* damaged */
		BSHM_STORE(&s->segment->store->recount, 1, RELAXED);
	}
	return collect(s);
}

bool bshm__quota_take(const bshm__shard *s)
{
	if (!bshm__quota_shared(s->segment)) {
		const uint64_t most = s->segment->cache_records;
		return most == 0 || BSHM_LOAD(&s->shard->records, RELAXED) < most;
	}
	uint32_t credit = BSHM_LOAD(&s->shard->credit, RELAXED);
	if (BSHM_UNLIKELY(credit - 1 >= 2 * BATCH)) { /* none, or more than there can be */
		if (credit != 0) {
			BSHM_STORE(&s->segment->store->recount, 1, RELAXED);
		}
		credit = draw(s);
		if (credit == 0) {
			return false;
		}
	}
	BSHM_STORE(&s->shard->credit, credit - 1, RELAXED);
	return true;
}

void bshm__quota_give(const bshm__shard *s)
{
	if (!bshm__quota_shared(s->segment)) {
		return;
	}
	const uint32_t credit = BSHM_LOAD(&s->shard->credit, RELAXED) + 1;
	if (credit <= 2 * BATCH) {
		BSHM_STORE(&s->shard->credit, credit, RELAXED);
	} else {
		BSHM_STORE(&s->shard->credit, credit - BATCH, RELAXED);
		BSHM_SUB(&s->segment->store->reserved, BATCH, RELAXED);
	}
}

bool bshm__quota_doubt(const bshm__shard *s)
{
	const uint32_t tables = s->segment->shard_tables;
	uint32_t records = 0;
	for (uint32_t i = 0; i < tables; i++) {
		records += BSHM_LOAD(&s->segment->tables[s->index * tables + i].records, RELAXED);
	}
	const bool less = records < BSHM_LOAD(&s->shard->records, RELAXED);
	if (less) {
		BSHM_STORE(&s->shard->records, records, RELAXED);
	}
	if (less || records != 0) { /* an empty shard may find the limit reached by others */
		BSHM_STORE(&s->segment->store->recount, 1, RELAXED);
	}
	return less;
}

void bshm__quota_announce(const bshm__shard *s)
{
	uint64_t *holders = &s->segment->store->holders;
	const uint64_t bit = UINT64_C(1) << s->index;
	if ((BSHM_LOAD(holders, RELAXED) & bit) == 0) {
		BSHM_OR(holders, bit, RELAXED);
	}
}
