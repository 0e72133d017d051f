/*
 * locate.c - where the record of a key is, or where it could be put, under the shard's lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/locate.h"

/* The common case of a new key: its home bucket has a free cell and no cell with the key's tag.
 * False: it is not. */
static inline bool locate_new(const bshm__shard *s, const bshm__home *home, bshm__existing *at)
{
	const bshm_bucket *bucket = bshm__home_bucket(s, home);
	uint32_t overflow;
	if (bucket == NULL || bshm__bucket_match(bucket, home->position, &overflow) != 0 ||
		overflow != 0) {
		return false;
	}
	const uint32_t free_cell = bshm__bucket_free_cell(bucket);
	at->free_cell = bshm__cell_in(s, bucket, free_cell);
	return free_cell != BSHM_BUCKET_CELLS;
}

static BSHM_NOINLINE void locate_any(const bshm__shard *s, const bshm__home *home, uint32_t space,
	const bshm_key *key, bshm__existing *at)
{
	bshm__search search = bshm__search_begin(s, home);
	bshm__bucket_walk buckets = search.walk;
	const bshm_bucket *bucket = search.bucket;
	at->free_cell = 0;
	while (bshm__search_next(s, &search)) {
		const uint32_t ref = BSHM_LOAD(&search.bucket->ref[search.cell], RELAXED);
		bshm__page_prefetch(s, ref); /* if it is the one, its slot will be freed */
		if (ref != 0 && bshm__record_load(s, ref, &at->record) &&
			bshm__record_has_key(s, &at->record, space, key)) {
			at->ref = ref;
			at->cell = bshm__cell_in(s, search.bucket, search.cell);
			at->expired = bshm__expired(at->record.expires_s,
				at->record.expires_s == 0 ? 0 : bshm__store_now_s(s->segment));
			return;
		}
	}
	for (; bucket != NULL; bucket = bshm__bucket_next(s, &buckets), at->overflows = true) {
		const uint32_t free_cell = bshm__bucket_free_cell(bucket);
		if (free_cell != BSHM_BUCKET_CELLS) {
			at->free_cell = bshm__cell_in(s, bucket, free_cell);
			return;
		}
	}
}

void bshm__locate(const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key,
	bshm__existing *at)
{
	at->cell = at->ref = 0;
	at->expired = at->overflows = false;
	at->sequence = BSHM_LOAD(&s->shard->sequence, RELAXED);
	if (!locate_new(s, home, at)) {
		locate_any(s, home, space, key, at);
	}
}
