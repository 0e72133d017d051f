/*
 * usage.h - what a filter was asked: counted in private views, handed in now and then.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_USAGE_H
#define BSHM_USAGE_H

#include "core/filter/view.h"

/* Counts `questions` keys, `maybes` of which were answered "maybe". */
static inline void bshm__usage_count(bshm_view *view, uint64_t questions, uint64_t maybes)
{
	view->usage.questions += questions;
	view->usage.maybes += maybes;
}

/* Adds the view's counts to the filter, unless another set of keys has taken its place; the view
 * then has none. The segment must still be mapped. */
void bshm__usage_hand_in(bshm_view *view);

/* What the filter whose descriptor is in force was asked, as far as it is handed in. */
bshm_usage bshm__usage_of(const bshm_entry *entry, const bshm_descriptor *descriptor);

#endif
