/*
 * lag.h - how long ago the origin of a followed filter said that the set is its newest.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_LAG_H
#define BSHM_LAG_H

#include "core/bshm.h"
#include "core/filter/view.h"
#include "core/format.h"

/* A time that lies ahead by more is damage: the clocks of two processes are at most 0.1 s apart. */
#define BSHM_AHEAD_NS INT64_C(1000000000)

/*
 * The lag of a followed filter at a time of the engine clock, in ns; UINT64_MAX: the moment lies
 * ahead.
 */
uint64_t bshm__lag(const bshm_entry *entry, const bshm_descriptor *descriptor, uint64_t now_ns);
/* Has the filter a limit of its lag, and is the lag above it? */
bool bshm__view_stale(const bshm_view *view);
/* bshm_view.has of a filter with such a limit. */
bool bshm__followed_has(const bshm_view *view, const uint64_t *words, bshm_hash h);
/* Describes whom the filter follows. Of one moment if the view is in force afterwards. */
void bshm__lag_describe(const bshm_view *view, bshm_info *out);

#endif
