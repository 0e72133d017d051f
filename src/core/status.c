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

const char *bshm_cause_str(bshm_cause cause)
{
	static const char *const texts[] = {
#define BSHM_CAUSE_TEXT(name, text) text,
		BSHM_CAUSE_LIST(BSHM_CAUSE_TEXT)
#undef BSHM_CAUSE_TEXT
	};
	return (unsigned) cause < sizeof(texts) / sizeof(texts[0]) ? texts[cause] : "unknown cause";
}

bshm_status bshm__fail_os(bshm_error *error, bshm_cause cause, int code)
{
	bshm__fail_code(
		error, bshm_os_no_space(code) ? BSHM_E_NO_SPACE : BSHM_E_UNAVAILABLE, cause, code);
	if (code == EMFILE) {
		error->available = bshm_os_descriptor_limit();
	}
	return error->status;
}
