/*
 * query.h - asks a filter.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_QUERY_H
#define BSHM_QUERY_H

#include "core/bshm.h"
#include "core/filter/view.h"

/* Is the hash maybe in the filter, by its bits, even if it is stale? */
bool bshm__view_has_bits(const bshm_view *view, bshm_hash h);

#endif
