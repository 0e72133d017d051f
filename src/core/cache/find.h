/*
 * find.h - describes a found record to the caller of a look-up.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_FIND_H
#define BSHM_CACHE_FIND_H

#include "core/cache/shard.h"

/* Describes the record at a ref. False: there is none, or it has changed since `sequence` was
 * read. */
bool bshm__found_of(
	const bshm__shard *s, uint32_t ref, uint64_t sequence, uint32_t now_s, bshm_found *found);

#endif
