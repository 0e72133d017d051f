/*
 * repair.h - finishes or undoes what a dead process left in a shard.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_REPAIR_H
#define BSHM_CACHE_REPAIR_H

#include "core/cache/shard.h"

/* Under the shard's lock, which the caller has taken from a dead process. */
void bshm__intent_repair(const bshm__shard *s);

#endif
