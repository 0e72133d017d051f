/*
 * spool.h - the hashes of a load, set aside.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_SPOOL_H
#define BSHM_SPOOL_H

#include "core/filter/view.h"
#include "core/format.h"

/*
 * Hashes in private memory, grouped by their top bits. That is the order of their partitions, too,
 * whatever the number of partitions will be.
 */
typedef struct bshm__spool bshm__spool;

/* With `keep_copies` every copy of a hash is kept; else there may be one of each. */
bshm__spool *bshm__spool_new(bool keep_copies);
void bshm__spool_free(bshm__spool *spool);
/* False: no memory left. */
bool bshm__spool_add(bshm__spool *spool, bshm_hash hash);
uint64_t bshm__spool_count(const bshm__spool *spool);
/* About how many different hashes there are: exact when all are, or when there are few. */
bool bshm__spool_distinct(const bshm__spool *spool, uint64_t *distinct);
/* Adds all to a new filter that no other process writes; returns how many keys were new. */
uint64_t bshm__spool_apply(const bshm__spool *spool, const bshm_view *view);

#endif
