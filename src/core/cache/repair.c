/*
 * repair.c - finishes or undoes a dead process's change of a shard.
 *
 * A change is published by one store of a ref, or of 0 (move.c). The process that takes the lock
 * from a dead holder looks at the word that the intent names. If the change was published, the old
 * slots are freed, else the new ones.
 *
 * A death may leave the overflow counts of buckets one too high, never too low.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/repair.h"

#include "core/cache/chain.h"
#include "core/cache/index.h"
#include "core/cache/intent.h"
#include "core/cache/lease_table.h"
#include "core/cache/parked.h"
#include "core/cache/table.h"

void bshm__intent_repair(const bshm__shard *s)
{
	const bshm_intent *intent = &s->shard->intent;
	const uint32_t kind = BSHM_LOAD(&intent->kind, ACQUIRE); /* pairs with bshm__intent_begin() */
	const uint32_t old = BSHM_LOAD(&intent->old, RELAXED);
	const uint32_t fresh = BSHM_LOAD(&intent->fresh, RELAXED);
	const uint32_t word_ref = BSHM_LOAD(&intent->word, RELAXED);
	BSHM_STORE(&s->segment->store->recount, 1, RELAXED);
	bshm__slabs_doubt(s);
	bshm__leases_end_all(s); /* the dead process may have changed a key that is being loaded */
	if (kind == BSHM_INTENT_RESIZE) {
		bshm__table_resize_repair(s);
	} else if (kind == BSHM_INTENT_MOVE_UNIT) {
		bshm__unit_move_repair(s);
	} else if (kind != BSHM_INTENT_NONE && bshm__ref_at(s, word_ref, BSHM_SLOT_UNIT) != NULL) {
		uint32_t *word = bshm__cell_word(s, word_ref);
		const bool done = fresh != 0 && BSHM_LOAD(word, RELAXED) == fresh;
		if (kind == BSHM_INTENT_REMOVE) {
			BSHM_STORE(word, 0, RELEASE); /* pairs with search() */
			bshm__chain_free(s, old);
			bshm__intent_set_counts(s);
		} else if (kind == BSHM_INTENT_PUT) {
			bshm__chain_free(s, done ? old : fresh);
			if (done) {
				bshm__intent_set_counts(s);
			}
		} else if (kind == BSHM_INTENT_MOVE || kind == BSHM_INTENT_MOVE_CHUNK) {
			if (done) {
				bshm__chain_link_back(s, fresh);
				bshm__sequence_jump(s);
			}
			bshm__slot_free(s, done ? old : fresh);
		}
	}
	bshm__intent_end(s);
	bshm__parked_reclaim(s);
}
