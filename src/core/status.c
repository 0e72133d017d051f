/*
 * status.c - status codes to English, and the error record.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/core.h"

const char *bshm_status_str(bshm_status status)
{
	switch (status) {
#define BSHM_STATUS_CASE(name, code, text)                                                         \
 case BSHM_E_##name:                                                                               \
  return text;
		BSHM_STATUS_LIST(BSHM_STATUS_CASE)
#undef BSHM_STATUS_CASE
	}
	return status >= 0 ? "ok" : "unknown status";
}

bshm_status bshm__fail(bshm_error *error, bshm_status status, const char *op)
{
	return bshm__fail_sizes(error, status, op, 0, 0);
}

bshm_status bshm__fail_sizes(
	bshm_error *error, bshm_status status, const char *op, uint64_t asked, uint64_t available)
{
	*error = (bshm_error){.status = status, .op = op, .asked = asked, .available = available};
	return status;
}
