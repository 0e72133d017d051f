/*
 * evict_old.h - finds a record that is older than the floor by its place in the pages.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_EVICT_OLD_H
#define BSHM_CACHE_EVICT_OLD_H

#include "core/cache/sample.h"

/* All under the lock. */

#define BSHM_PAGE_LOOKS 8u /* slots of a page that are looked at, about */

/* The record in a slot of a page; ref 0: there is none. */
bshm__member bshm__in_slot(
	const bshm__shard *s, const bshm__scales *by, uint32_t number, uint32_t slot);
/* An old record, where memory is the limit; ref 0: there is none in the pages that are looked at.
 * Adds its looks to *looks. */
bshm__member bshm__find_old(const bshm__shard *s, const bshm__scales *by, uint32_t *looks);

#endif
