/*
 * filter_file.h - the steps of a restore, for filter_file.c and for deltas.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_FILTER_FILE_H
#define BSHM_FILTER_FILE_H

#include "core/filter/build.h"
#include "core/filter/filter_head.h"

/* A build of the filter that the head describes, whose partitions are taken and have no bits yet.
 * As bshm_restore_begin() without a file. */
bshm_status bshm__restore_new(bshm_segment *segment, const char *name, size_t name_length,
	const bshm__filter_head *head, bshm_build **out, bshm_error *error);
/*
 * The bits of a partition, as they are in the file. `words` are private: an adder that was stopped
 * may still set a bit in a partition that its filter has lost. In the new filter that bit is a
 * needless "maybe", but between reading and hashing it would look like damage.
 */
void bshm__restore_put(
	const bshm_build *build, uint32_t layer, uint32_t partition, const uint64_t *words);

#endif
