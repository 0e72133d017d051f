/*
 * remove.c - removes a record: stores 0 into its cell, then frees its slots.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/remove.h"

#include "core/cache/chain.h"
#include "core/cache/index.h"
#include "core/cache/intent.h"
#include "core/cache/quota.h"
#include "core/cache/record.h"
#include "core/cache/shadow.h"

void bshm__record_remove(const bshm__shard *s, const bshm__home *home, uint32_t cell, uint32_t ref)
{
	bshm__record record;
	const uint64_t bytes = bshm__record_load(s, ref, &record) ? bshm__record_size(&record) : 0;
	bshm__shadow_removed(s, home->hash, bytes);
	bshm__intent_begin(s, BSHM_INTENT_NONE, cell, ref, 0);
	bshm__intent_plan(s, BSHM_LOAD(&s->shard->records, RELAXED) - 1,
		BSHM_LOAD(&s->shard->data_bytes, RELAXED) - bytes);
	/* Pairs with bshm__intent_repair(). */
	BSHM_STORE(&s->shard->intent.kind, BSHM_INTENT_REMOVE, RELEASE);
	BSHM_STORE(bshm__cell_word(s, cell), 0, RELEASE); /* pairs with search() */
	bshm__cell_leave(s, home, cell);
	bshm__chain_free(s, ref);
	bshm__intent_set_counts(s);
	bshm__intent_end(s);
	bshm__quota_give(s);
}
