/*
 * lag.c - how long ago the origin of a followed filter said that the set is its newest.
 *
 * "No" is certain as of that moment. If a filter has a limit, and the moment is longer ago, the
 * filter is stale, and every "no" is a "maybe". Nobody has to mark it: a filter whose follower has
 * died becomes stale by itself.
 *
 * The descriptor has the moment at which the set was published, the entry's word a later one at
 * which the origin was heard again (origin.c). A publication zeroes the word before it stores the
 * generation, so a set is never taken for newer than its own origin said. Whoever reads the word of
 * a later set sees the generation moved, and asks again.
 *
 * Only views of filters with a limit have has() here. All others do not pay for it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/lag.h"

#include "core/filter/kind.h"
#include "core/filter/view.h"
#include "core/segment/segment.h"
#include "core/segment/source.h"
#include "platform/atomic.h"
#include "platform/platform.h"

uint64_t bshm__lag(const bshm_entry *entry, const bshm_descriptor *descriptor, uint64_t now_ns)
{
	/* Pairs with bshm_filter_heard(), by the fence of bshm__view_current(). */
	const uint64_t heard_ns = BSHM_LOAD(&entry->as_of_ns, RELAXED);
	const uint64_t as_of_ns = heard_ns > descriptor->as_of_ns ? heard_ns : descriptor->as_of_ns;
	const int64_t lag_ns = (int64_t) (now_ns - as_of_ns);
	return lag_ns >= 0 ? (uint64_t) lag_ns : lag_ns < -BSHM_AHEAD_NS ? UINT64_MAX : 0;
}

static uint64_t lag_now(const bshm_view *view)
{
	const uint64_t now_ns = bshm_os_clock_cheap_ns() + view->segment->clock_offset;
	return bshm__lag(&view->segment->entries[view->entry], &view->descriptor, now_ns);
}

bool bshm__view_stale(const bshm_view *view)
{
	const uint64_t max_ns = view->descriptor.max_lag_s * UINT64_C(1000000000);
	return max_ns != 0 && lag_now(view) > max_ns;
}

bool bshm__followed_has(const bshm_view *view, const uint64_t *words, bshm_hash h)
{
	return view->kind->has(view, words, h) || bshm__view_stale(view);
}

void bshm__lag_describe(const bshm_view *view, bshm_info *out)
{
	const bshm_descriptor *d = &view->descriptor;
	out->followed = d->as_of_ns != 0;
	out->unsent = BSHM_LOAD(&view->segment->entries[view->entry].unsent, RELAXED);
	if (!out->followed) {
		return;
	}
	bshm__source_read(view->segment, d->source, out->source);
	out->epoch = d->source_epoch;
	out->version = d->source_version;
	out->max_lag_s = d->max_lag_s;
	out->lag_s = (double) lag_now(view) / 1e9;
	out->stale = bshm__view_stale(view);
	out->sends = (d->source & BSHM_SOURCE_SENDS) != 0;
}
