/*
 * remove.h - removes a record.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_REMOVE_H
#define BSHM_CACHE_REMOVE_H

#include "core/cache/shard.h"

/* Under the shard's lock: takes a record out, which `place` leads to. */
void bshm__record_remove(const bshm__shard *s, const bshm__home *home, uint32_t cell, uint32_t ref);

#endif
