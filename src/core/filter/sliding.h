/*
 * sliding.h - epochs, and the word of a partition that says what its lanes hold.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_SLIDING_H
#define BSHM_SLIDING_H

#include "core/format.h"
#include "core/segment/segment.h"

/* A third of the window, in ns. */
uint64_t bshm__epoch_width(uint32_t window_s);
/* The epochs[] word of a partition. */
uint64_t *bshm__epoch_word(const bshm_segment *segment, const uint64_t *partition);

#endif
