/*
 * space.h - the note that a search found too few free partitions.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_SPACE_H
#define BSHM_SPACE_H

#include "core/segment/segment.h"

/* Under the lock: writes the note that only `free` partitions were found; and clears it. */
void bshm__space_note(bshm_segment *segment, uint32_t free);
void bshm__space_forget(bshm_segment *segment);
/*
 * Without the lock: was there no room for `count` partitions some ms ago, and has none come back
 * since?
 */
bool bshm__space_lacks(bshm_segment *segment, uint64_t count, uint32_t *free);

#endif
