/*
 * shard.c - where a key belongs, the lock that writers of a shard take, and the store's figures.
 *
 * A shard has its own lock, pages, tables and recency; nothing of one shard ever leads into another.
 * Whoever takes a lock from a dead holder first finishes or undoes what the intent says (write.c):
 * one call's work, whatever the size of the shard.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/store.h"

bool bshm_store_exists(const bshm_segment *segment)
{
	return segment->shard_count != 0;
}

bshm_status bshm__shard_lock_wait(const bshm__shard *s, uint64_t wait_ns, bshm_error *error)
{
	bshm_segment *segment = s->segment;
	if (!segment->store_writable) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, "store");
	}
	if (bshm__owner_attach(segment, error) != BSHM_OK) {
		return error->status;
	}
	bool dead;
	const uint64_t deadline = bshm_os_monotonic_ns() + wait_ns;
	if (!bshm__word_lock(segment, &s->shard->lock, &s->shard->starving, deadline, &dead)) {
		BSHM_ADD(&s->shard->timeouts, 1, RELAXED);
		return bshm__fail_sizes(error, BSHM_E_TIMEOUT, "shard", wait_ns / 1000000, 0);
	}
	if (dead) {
		BSHM_STORE(&s->shard->repairs, BSHM_LOAD(&s->shard->repairs, RELAXED) + 1, RELAXED);
		bshm__intent_repair(s);
	}
	/* Who reads a byte of what is written from here on sees that its slot had been freed, by whomever:
	 * pairs with bshm__record_stands(). */
	BSHM_FENCE(RELEASE);
	return BSHM_OK;
}

bshm_status bshm__shard_lock_long(const bshm__shard *s, bshm_patience *patience, bshm_error *error)
{
	if (patience == NULL) {
		return bshm__shard_lock_wait(s, BSHM_LOCK_PAGE_NS, error);
	}
	const uint64_t began = bshm_os_monotonic_ns();
	uint64_t wait_ns = patience->batch ? BSHM_LOCK_BATCH_NS : BSHM_LOCK_PAGE_NS;
	if (patience->gone || (!patience->batch && patience->waited_ns > BSHM_LOCK_BATCH_NS)) {
		wait_ns = 0; /* it is taken if that takes some microseconds only, or the holder is dead */
	}
	const bshm_status status = bshm__shard_lock_wait(s, wait_ns, error);
	patience->gone |= status == BSHM_E_TIMEOUT;
	patience->waited_ns += bshm_os_monotonic_ns() - began;
	return status;
}

uint64_t bshm__store_clock_ns(const bshm_segment *segment)
{
	return bshm_os_clock_cheap_ns() + segment->clock_offset;
}

uint32_t bshm__store_now_s(const bshm_segment *segment)
{
	const uint64_t now_ns = bshm__store_clock_ns(segment);
	return (uint32_t) ((now_ns + UINT64_C(500000000)) / UINT64_C(1000000000));
}

uint32_t bshm__store_next_s(const bshm_segment *segment)
{
	return (uint32_t) (bshm__store_clock_ns(segment) / UINT64_C(1000000000)) + 1;
}

bshm_status bshm_store_stat(const bshm_segment *segment, bshm_store_info *out)
{
	*out = (bshm_store_info){
		.max_records = segment->cache_records,
		.bytes_total = segment->cache_bytes,
		.shards = segment->shard_count,
	};
	if (segment->shard_count == 0) {
		return BSHM_E_UNAVAILABLE;
	}
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		const bshm_shard *shard = &segment->shards[i];
		out->records += BSHM_LOAD(&shard->records, RELAXED);
		out->data_bytes += BSHM_LOAD(&shard->data_bytes, RELAXED);
		out->evictions += BSHM_LOAD(&shard->evictions, RELAXED);
		out->expired += BSHM_LOAD(&shard->expired, RELAXED);
		out->rejected += BSHM_LOAD(&shard->rejected, RELAXED);
		out->lock_timeouts += BSHM_LOAD(&shard->timeouts, RELAXED);
		out->repairs += BSHM_LOAD(&shard->repairs, RELAXED);
	}
	for (uint32_t i = 0; i <= BSHM_OWNER_COUNT; i++) {
		out->hits += BSHM_LOAD(&segment->tallies[i].hits, RELAXED);
		out->misses += BSHM_LOAD(&segment->tallies[i].misses, RELAXED);
		out->sets += BSHM_LOAD(&segment->tallies[i].sets, RELAXED);
	}
	const uint64_t pages = (uint64_t) segment->shard_count * segment->shard_pages;
	const uint64_t unused = pages - bshm__store_pages_used(segment);
	const uint64_t fixed = (uint64_t) (segment->slabs - (uint8_t *) segment->shards);
	out->bytes_used = fixed + (pages - unused) * BSHM_SLAB_BYTES;
	return BSHM_OK;
}
