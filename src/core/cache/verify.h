/*
 * verify.h - the validator of the record store.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_VERIFY_H
#define BSHM_CACHE_VERIFY_H

#include "core/bshm.h"

/* A validator that has held a lock for so long ends its step soon, also where it has not yet done
 * the work of one. ns. */
#define BSHM_VERIFY_STEP_NS UINT64_C(1000000)

typedef void (*bshm__fault)(void *context, const char *what);
/* Looks through the whole record store; OK, or why that was not possible. */
bshm_status bshm__store_verify(
	bshm_segment *segment, bshm__fault fault, void *context, bshm_error *error);

#endif
