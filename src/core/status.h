/*
 * status.h - filling in an error.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_STATUS_H
#define BSHM_STATUS_H

#include "core/bshm.h"

/* Fill *error and return its status: here, so that analysers of the callers see which. */
static inline bshm_status bshm__fail_sizes(
	bshm_error *error, bshm_status status, const char *op, uint64_t asked, uint64_t available)
{
	*error = (bshm_error){.status = status, .op = op, .asked = asked, .available = available};
	return status;
}

static inline bshm_status bshm__fail(bshm_error *error, bshm_status status, const char *op)
{
	return bshm__fail_sizes(error, status, op, 0, 0);
}

/* With the system's error number: NO_SPACE or UNAVAILABLE. */
bshm_status bshm__fail_os(bshm_error *error, const char *op, int code);

#endif
