/*
 * sliding.h - epochs, and the lanes of a sliding filter's partitions.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_SLIDING_H
#define BSHM_SLIDING_H

#include "core/bshm.h"
#include "core/filter/view.h"
#include "core/format.h"

/* A third of the window, in ns. */
uint64_t bshm__epoch_width(uint32_t window_s);
/* The origin of a new filter, whose epoch is BSHM_EPOCH_FIRST now. All filters' epochs of one
 * length begin at the same times. */
uint64_t bshm__epoch_origin(const bshm_segment *segment, uint32_t window_s);
uint32_t bshm__epoch_now(const bshm_segment *segment, const bshm_descriptor *descriptor);
/* An epoch, and how far into it the filter is: of one reading of the clock. */
typedef struct {
	uint32_t epoch;
	uint64_t phase_ns;
} bshm__moment;
bshm__moment bshm__moment_now(const bshm_segment *segment, const bshm_descriptor *descriptor);
/* Ends the epochs of all keys: the next epoch is as many later as there are lanes. */
void bshm__epoch_skip(const bshm_segment *segment, bshm_descriptor *descriptor);
/* The epochs[] word of a partition. */
uint64_t *bshm__epoch_word(const bshm_segment *segment, const uint64_t *partition);
/* Which lanes of a partition with this word are in the window at `epoch`: four bits. */
uint32_t bshm__lanes_live(uint64_t word, uint32_t epoch);
bool bshm__sliding_has(bshm_view *view, const uint64_t *words, bshm_hash h);
/* 1 = added and was certainly not there, 0 = added; TIMEOUT and the lock's other failures. */
int bshm__sliding_add(bshm_segment *segment, const bshm_view *view, bshm_hash h, bshm_error *error);
/* The same where nobody else writes the partitions, or under the lock. */
bool bshm__sliding_put(const bshm_view *view, bshm_hash h);
/* Marks a partition that has just been zeroed. */
void bshm__lanes_reset(const bshm_segment *segment, const uint64_t *partition);
/*
 * Adds the lanes of one partition of `from` to one of `to`, which nobody else writes: each to the
 * lane that has its age there.
 */
void bshm__lanes_merge(
	const bshm_view *to, uint64_t *to_words, const bshm_view *from, const uint64_t *from_words);
/* A private copy of a partition's live lanes, as if `epoch`, the present one, were the first. */
void bshm__lanes_export(
	uint64_t *to, const bshm_view *from, const uint64_t *from_words, uint32_t epoch);

#endif
