/*
 * directory.h - filter names, and which generation of each is published.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_DIRECTORY_H
#define BSHM_DIRECTORY_H

#include "core/bshm.h"
#include "core/format.h"
#include "core/segment/name.h"
#include "core/segment/segment.h"

/* Finds a name without a lock: OK and its index, NOT_FOUND, or BUSY. */
bshm_status bshm__entry_find(const bshm_segment *segment, const bshm__name *name, uint32_t *index);
/* As bshm_filter_next(), with the entry and the descriptor in force. */
size_t bshm__entry_next(const bshm_segment *segment, uint32_t *cursor, char *name,
	const bshm_entry **found, bshm_descriptor *out);
/* Which chain a name belongs to. */
uint32_t bshm__name_head(const bshm_segment *segment, const bshm__name *name);

/* All below: under the lock. */

/* What a name leads to: OK (published), BUSY (being cleared), CORRUPT, or NOT_FOUND. */
bshm_status bshm__entry_current(
	bshm_segment *segment, const bshm__name *name, uint32_t *index, bshm_descriptor *descriptor);
bshm_status bshm__entry_create(
	bshm_segment *segment, const bshm__name *name, uint32_t *index, bshm_error *error);
/*
 * Makes `descriptor` the one in force, with one store, as a new set of `items` keys; fills its
 * generation, publication, counter and checksum.
 */
void bshm__entry_publish(
	bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor, uint64_t items);
/* The same for a set that goes on: it keeps its publication and its counter. */
void bshm__entry_extend(bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor);
/*
 * Publishes the `source` entry's set, as `descriptor` has it, at the `target` entry, and drops
 * `source`.
 */
void bshm__entry_rename(
	bshm_segment *segment, uint32_t source, uint32_t target, bshm_descriptor *descriptor);
/* Publishes "absent", and frees the entry when no op is going to publish here. */
void bshm__entry_drop(bshm_segment *segment, uint32_t index);
/* Frees the entry when it has neither a filter nor an op; sets its `builders`. */
void bshm__entry_tidy(bshm_segment *segment, uint32_t index);
/* Ends an op, and frees its entry if nothing else needs it. */
void bshm__op_end(bshm_segment *segment, bshm_op *op);
/* After a holder died: finishes its rename, rebuilds chains and builder flags. */
void bshm__directory_repair(bshm_segment *segment);

#endif
