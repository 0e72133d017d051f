/*
 * stat.c - figures of a segment for its operator.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include "core/filter/mend.h"
#include "core/filter/usage.h"
#include "core/segment/blocks.h"
#include "core/segment/directory.h"
#include "core/segment/outbox.h"
#include "core/segment/owners.h"
#include "core/segment/segment.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

bshm_status bshm_segment_stat(bshm_segment *segment, bshm_stat *out, bshm_error *error)
{
	*out = (bshm_stat){
		.layout_version = BSHM_LAYOUT_VERSION,
		.filter_bytes = (uint64_t) segment->partition_count * BSHM_PARTITION_BYTES,
	};
	bshm_os_stat st;
	if (bshm__owner_file(segment, error) != BSHM_OK) {
		return error->status;
	}
	const int code = bshm_os_stat_fd(segment->fd, &st);
	if (code != 0) {
		return bshm__fail_os(error, BSHM_CAUSE_STAT, code);
	}
	out->owner_uid = st.owner_uid;
	out->mode = st.mode;
	bshm__space space;
	if (bshm__space_look(segment, &space, error) != BSHM_OK) {
		return error->status;
	}
	out->filter_bytes_free = (uint64_t) space.free * BSHM_PARTITION_BYTES;
	out->largest_free_bytes = (uint64_t) space.largest * BSHM_PARTITION_BYTES;
	out->repairs = BSHM_LOAD(&segment->header->repairs, RELAXED);
	out->lock_timeouts = BSHM_LOAD(&segment->header->lock_timeouts, RELAXED);
	out->attached = bshm__owner_count(segment);
	bshm__outbox_describe(segment, out);
	char name[BSHM_NAME_BYTES_MAX + 1];
	uint32_t cursor = 0;
	do {
		const bshm_entry *entry;
		bshm_descriptor descriptor;
		if (bshm__entry_next(segment, &cursor, name, &entry, &descriptor) != 0) {
			const bshm_usage usage = bshm__usage_of(entry, &descriptor);
			out->filters++;
			out->questions += usage.questions;
			out->maybes += usage.maybes;
			out->unsent += BSHM_LOAD(&entry->unsent, RELAXED);
		}
	} while (cursor != 0);
	return BSHM_OK;
}
