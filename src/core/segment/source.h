/*
 * source.h - where followed filters come from: a few texts in the header.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_SOURCE_H
#define BSHM_SOURCE_H

#include "core/bshm.h"
#include "core/format.h"
#include "core/segment/segment.h"

/*
 * Reads the text of a place, a descriptor's `source`, and ends it with a NUL. False: it is damaged,
 * or is being written; *out is empty then. Of the set that was looked at only if its generation is
 * still in force afterwards.
 */
bool bshm__source_read(
	const bshm_segment *segment, uint32_t place, char out[BSHM_SOURCE_BYTES_MAX + 1]);
/*
 * Under the lock: the place of a text, its number plus one: one that has it already, or one that no
 * filter in force names. 0: there is none.
 */
uint32_t bshm__source_store(bshm_segment *segment, const char *text);

#endif
