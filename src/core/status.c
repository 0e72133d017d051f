/*
 * status.c - status codes to English, and system errors to statuses.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/status.h"

#include "core/bshm.h"
#include "platform/platform.h"

#include <errno.h>

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

bshm_status bshm__fail_os(bshm_error *error, const char *op, int code)
{
	const bool space = code == ENOSPC || code == EDQUOT || code == EFBIG || code == ENOMEM;
	bshm__fail(error, space ? BSHM_E_NO_SPACE : BSHM_E_UNAVAILABLE, op);
	error->os_code = code;
	if (code == EMFILE) {
		error->available = bshm_os_descriptor_limit();
	}
	return error->status;
}
