/*
 * journal.h - keys that are added beside a build or clear: all under the lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_JOURNAL_H
#define BSHM_JOURNAL_H

#include "core/bshm.h"
#include "core/format.h"
#include "core/segment/segment.h"

/*
 * Notes a key in the journal of every build and clear of the entry. 1 = noted, 0 = there is none
 * that keeps a journal, -1 = a journal is full (a build then fails by itself). `exists`: a filter
 * of that name is published, or is being cleared.
 */
int bshm__journal_add(bshm_segment *segment, uint32_t index, const bshm_key *key, bool exists);
/* Moves up to `room` hashes of the op's journal to `out`; 0 = it is empty. */
size_t bshm__journal_take(bshm_segment *segment, bshm_op *op, bshm_hash *out, size_t room);
/*
 * The hashes of the op's next chunk, or NULL. *cursor is 0 to begin with. Takes nothing out, so
 * what is done with them may be interrupted and done again.
 */
const bshm_hash *bshm__journal_next(
	const bshm_segment *segment, const bshm_op *op, uint32_t *cursor, uint64_t *count);

#endif
