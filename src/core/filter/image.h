/*
 * image.h - builds that begin with a whole filter: keys that are added to it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_IMAGE_H
#define BSHM_IMAGE_H

#include "core/filter/build.h"
#include "core/format.h"

/*
 * Adds a hash to the build's partitions; makes one more layer where a filter that grows is full.
 * FULL: any other filter that has a capacity is, unless `anyway`. NO_SPACE, lock statuses.
 */
bshm_status bshm__image_put(bshm_build *build, bshm_hash h, bool anyway, bshm_error *error);
/* Measures what is in the build's partitions, if `out` is not NULL: OK, or ERROR_RATE. */
bshm_status bshm__image_measure(
	const bshm_build *build, double max_error_rate, bshm_info *out, bshm_error *error);

#endif
