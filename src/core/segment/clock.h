/*
 * clock.h - the engine clock of a segment.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CLOCK_H
#define BSHM_CLOCK_H

#include "core/bshm.h"
#include "core/format.h"

/* Fills the clock's words of a new segment; 0, or the error that kept the boot from being told. */
int bshm__clock_begin(bshm_header *header);
/* Works out what this process adds to its monotonic clock. `in_memory`: the file is on no disk. */
void bshm__clock_attach(bshm_segment *segment, bool in_memory);
/* Is it known that the header's clock is of the present boot? 0, or the error that kept it from
 * being told. */
int bshm__clock_boot(const bshm_header *header, bool *same);
/* Changes a copy of the header, for a segment that no process uses: its clock continues from the
 * time when it was brought to rest, by this process's monotonic clock. As bshm__clock_begin(). */
int bshm__clock_resume(bshm_header *copy);

#endif
