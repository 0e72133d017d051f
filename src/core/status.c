/*
 * status.c - status codes to English.
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
