/*
 * usage.c - what a filter was asked: counted in private views, handed in now and then.
 *
 * A shared counter would cost each question a cache line that all processes write. So a thread
 * counts in its own views (view.h), with two plain additions a question, and adds the counts to the
 * filter's entry once a second, before it forks, and when a view is given up. What a killed process
 * has not handed in is lost.
 *
 * The entry has counters for two sets of keys, and the descriptor says which of them are its own,
 * as with `items`. A process throws the counts of a replaced set away, because no call reads that
 * set's counters again. If other processes publish two sets between the look at the descriptor and
 * the addition, the counts of the first are added to those of the last.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/usage.h"

#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "platform/atomic.h"

/* Is the view's set of keys still in force? A filter that grows has a new generation, and the same
 * set. */
static bool has_set_in_force(const bshm_view *view)
{
	const bshm_entry *entry = &view->segment->entries[view->entry];
	/* Pairs with put_in_force(). */
	const uint64_t generation = BSHM_LOAD(view->generation_word, ACQUIRE);
	if (generation == view->generation) {
		return true;
	}
	const bshm_descriptor now = bshm__descriptor_read(entry, generation);
	BSHM_FENCE(ACQUIRE); /* pairs with the first fence of put_in_force() */
	return BSHM_LOAD(view->generation_word, RELAXED) == generation &&
		   now.publication == view->descriptor.publication;
}

static void add(uint64_t *to, uint64_t count)
{
	if (count != 0) {
		BSHM_ADD(to, count, RELAXED);
	}
}

void bshm__usage_hand_in(bshm_view *view)
{
	const bshm_usage mine = view->usage;
	if (mine.questions == 0 && mine.fetches == 0) {
		return;
	}
	view->usage = (bshm_usage){0};
	if (view->segment->readonly || !has_set_in_force(view)) {
		return;
	}
	bshm_entry *entry = &view->segment->entries[view->entry];
	bshm_usage *all = &entry->usage[view->descriptor.items_slot & 1];
	add(&all->questions, mine.questions);
	add(&all->maybes, mine.maybes);
	add(&all->fetches, mine.fetches);
	add(&all->denied, mine.denied);
	add(&all->found, mine.found);
	add(&all->loaded, mine.loaded);
}

bshm_usage bshm__usage_of(const bshm_entry *entry, const bshm_descriptor *descriptor)
{
	const bshm_usage *all = &entry->usage[descriptor->items_slot & 1];
	return (bshm_usage){
		.questions = BSHM_LOAD(&all->questions, RELAXED),
		.maybes = BSHM_LOAD(&all->maybes, RELAXED),
		.fetches = BSHM_LOAD(&all->fetches, RELAXED),
		.denied = BSHM_LOAD(&all->denied, RELAXED),
		.found = BSHM_LOAD(&all->found, RELAXED),
		.loaded = BSHM_LOAD(&all->loaded, RELAXED),
	};
}
