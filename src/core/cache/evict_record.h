/*
 * evict_record.h - evicts a record of a sample.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_EVICT_RECORD_H
#define BSHM_CACHE_EVICT_RECORD_H

#include "core/cache/sample.h"

/* Both under the lock. *size_class: the class that gains a free slot; BSHM_CLASS_COUNT: several
 * do. */

/* False: no cell of its key's has it, as the index is damaged or the record has gone; or a look-up
 * has used it since it was weighed. */
bool bshm__evict_record(
	const bshm__shard *s, const bshm__member *m, uint32_t *size_class, uint32_t *looks);
/* Frees the cell in which the record was found, if the key's have not got it. False: it was not
 * found in a cell, or was used. */
bool bshm__evict_surely(
	const bshm__shard *s, const bshm__member *m, uint32_t *size_class, uint32_t *looks);

#endif
