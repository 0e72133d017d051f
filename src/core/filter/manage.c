/*
 * manage.c - gives a filter another name, and drops it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include "core/filter/mend.h"
#include "core/format.h"
#include "core/segment/directory.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/status.h"
#include "platform/platform.h"

#include <string.h>

bshm_status bshm_filter_rename(bshm_segment *segment, const char *from, size_t from_length,
	const char *to, size_t to_length, bshm_error *error)
{
	const bshm__name from_name = bshm__name_of(from, from_length);
	const bshm__name to_name = bshm__name_of(to, to_length);
	uint32_t source;
	bshm_descriptor descriptor;
	bshm_status current;
	const uint64_t deadline = bshm_os_monotonic_ns() + BSHM_LOCK_BATCH_NS;
	bshm_status status =
		bshm__lock_settled(segment, &from_name, deadline, &source, &descriptor, &current, error);
	if (status != BSHM_OK) {
		return status;
	}
	if (current != BSHM_OK) {
		status = bshm__fail(error, current, BSHM_CAUSE_FROM);
	} else if (memcmp(&from_name, &to_name, sizeof(to_name)) != 0) {
		uint32_t target;
		status = bshm__entry_create(segment, &to_name, &target, error);
		if (status == BSHM_OK) {
			bshm__entry_rename(segment, source, target, &descriptor);
		}
	}
	bshm__unlock(segment);
	return status;
}

int bshm_filter_drop(bshm_segment *segment, const char *name, size_t name_length, bshm_error *error)
{
	const bshm__name padded = bshm__name_of(name, name_length);
	const bshm_status status = bshm__lock(segment, BSHM_LOCK_BATCH_NS, error);
	if (status != BSHM_OK) {
		return status;
	}
	uint32_t index;
	bshm_descriptor descriptor;
	/* A damaged filter is dropped as well. */
	const bool exists =
		bshm__entry_current(segment, &padded, &index, &descriptor) != BSHM_E_NOT_FOUND;
	if (exists) {
		bshm__entry_drop(segment, index);
	}
	bshm__unlock(segment);
	return exists;
}
