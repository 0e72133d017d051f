/*
 * status.h - filling in an error.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_STATUS_H
#define BSHM_STATUS_H

#include "core/bshm.h"

/*
 * Fill *error and return its status. Inline, so that static analysers see the status at each call.
 */
static inline bshm_status bshm__fail_sizes(
	bshm_error *error, bshm_status status, bshm_cause cause, uint64_t asked, uint64_t available)
{
	*error = (bshm_error){.status = status, .cause = cause, .asked = asked, .available = available};
	return status;
}

static inline bshm_status bshm__fail(bshm_error *error, bshm_status status, bshm_cause cause)
{
	return bshm__fail_sizes(error, status, cause, 0, 0);
}

/* With the system's error number. */
static inline bshm_status bshm__fail_code(
	bshm_error *error, bshm_status status, bshm_cause cause, int os_code)
{
	*error = (bshm_error){.status = status, .cause = cause, .os_code = os_code};
	return status;
}

/* UNAVAILABLE: a file belongs to another user. */
static inline bshm_status bshm__fail_uid(bshm_error *error, bshm_cause cause, uint32_t uid)
{
	*error = (bshm_error){.status = BSHM_E_UNAVAILABLE, .cause = cause, .uid = uid};
	return BSHM_E_UNAVAILABLE;
}

/* CORRUPT: a file of another sort, by its first bytes. */
static inline bshm_status bshm__fail_magic(bshm_error *error, uint64_t magic)
{
	*error = (bshm_error){.status = BSHM_E_CORRUPT, .cause = BSHM_CAUSE_MAGIC, .magic = magic};
	return BSHM_E_CORRUPT;
}

/* INCOMPATIBLE: a record's value is not of the type that `cause` names. */
static inline bshm_status bshm__fail_type(bshm_error *error, bshm_cause cause, uint32_t value_type)
{
	*error = (bshm_error){.status = BSHM_E_INCOMPATIBLE, .cause = cause, .value_type = value_type};
	return BSHM_E_INCOMPATIBLE;
}

/* The same as bshm__fail_code(), and the status is NO_SPACE or UNAVAILABLE by that number. */
bshm_status bshm__fail_os(bshm_error *error, bshm_cause cause, int code);

#endif
