/*
 * create.c - makes the file of a new segment.
 *
 * A new segment is made whole under a temporary name (path + ".new") and then linked into place, so
 * a file at the path is always complete. The creator holds the kernel's lock on the temporary file.
 * So other processes do not reserve the memory a second time. If the creator dies, the next one
 * removes the temporary file and begins anew.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/create.h"

#include "core/hash.h"
#include "core/layout.h"
#include "core/segment/clock.h"
#include "core/segment/regions.h"
#include "core/segment/segment.h"
#include "core/status.h"
#include "platform/platform.h"

#include <errno.h>
#include <string.h>

bool bshm__file_trusted(const bshm_options *options, const bshm_os_stat *st)
{
	const uint32_t group_bit = options->readonly ? 0040 : 0020;
	const uint32_t other_bit = options->readonly ? 0004 : 0002;
	return st->owner_uid == bshm_os_effective_uid() ||
		   ((options->mode & group_bit) != 0 && st->shares_group) ||
		   (options->mode & other_bit) != 0;
}

static bshm_status write_header(const bshm_options *options, int fd, bshm_error *error)
{
	bshm_segment layout = {.features = BSHM_FEATURES_KNOWN};
	bshm__regions_count(&layout, options->filter_bytes / BSHM_PARTITION_BYTES);
	bshm__regions_count_store(&layout, options->cache_bytes, options->cache_records);
	const uint64_t bytes = bshm__regions_lay_out(&layout, NULL);
	int code = bshm_os_reserve(fd, bytes, options->huge_pages);
	if (code != 0) {
		bshm__fail_os(error, BSHM_CAUSE_RESERVE, code);
		error->asked = bytes;
		return error->status;
	}
	bshm_header header = {
		.magic = BSHM_MAGIC,
		.layout = bshm__layout_word(),
		.segment_bytes = bytes,
		.partition_count = layout.partition_count,
		.entry_count = layout.entry_count,
		.head_count = layout.head_count,
		.chunk_count = layout.chunk_count,
		.created_s = (uint64_t) bshm_os_wall_s(),
		.shard_count = layout.shard_count,
		.table_count = layout.table_count,
		.page_count = layout.shard_count * layout.shard_pages,
		.features = layout.features,
		.cache_records = layout.cache_records,
		.cache_bytes = layout.cache_bytes,
	};
	const bool on_disk = !bshm_os_in_memory(fd);
	code = bshm__clock_begin(&header);
	if (on_disk && code != 0) {
		return bshm__fail_os(error, BSHM_CAUSE_OPEN, code);
	}
	header.rest = on_disk ? BSHM_REST_ASLEEP : BSHM_REST_AWAKE;
	code = bshm_os_random(&header.name_seed, sizeof(header.name_seed));
	if (code != 0) {
		return bshm__fail_os(error, BSHM_CAUSE_RANDOM, code);
	}
	header.check = bshm__checksum(&header, offsetof(bshm_header, check), 0);
	header.cache_check = bshm__checksum(&header.shard_count,
		offsetof(bshm_header, cache_check) - offsetof(bshm_header, shard_count), header.name_seed);
	void *base;
	code = bshm_os_map(fd, bytes, false, &base);
	if (code != 0) {
		return bshm__fail_os(error, BSHM_CAUSE_MAP, code);
	}
	memcpy(base, &header, sizeof(header));
	bshm_os_unmap(base, bytes);
	code = bshm_os_set_mode(fd, options->mode);
	if (code != 0) {
		return bshm__fail_os(error, BSHM_CAUSE_SET_MODE, code);
	}
	code = on_disk ? bshm_os_sync(fd) : 0; /* whole on the disk before it has its name */
	return code != 0 ? bshm__fail_os(error, BSHM_CAUSE_SYNC, code) : BSHM_OK;
}

/* While a file is being made, it begins with the process id of its creator. */
static void sign(int fd)
{
	const uint64_t process_id = bshm_os_process_id();
	bshm_os_file_write(fd, &process_id, sizeof(process_id));
}

static bshm_status fail_creating(int fd, const bshm_os_stat *st, bshm_error *error)
{
	uint64_t process_id = 0;
	size_t got = 0;
	if (bshm_os_file_read(fd, &process_id, sizeof(process_id), &got) != 0 ||
		got != sizeof(process_id) || process_id == BSHM_MAGIC) {
		process_id = 0; /* not written yet, or overwritten by the header */
	}
	bshm__fail(error, BSHM_E_BUSY, BSHM_CAUSE_CREATE);
	error->process_id = process_id;
	error->uid = st->owner_uid;
	return BSHM_E_BUSY;
}

/*
 * Creates path + ".new" and locks it. BUSY when a live creator holds the lock; a dead creator's
 * file is removed. Another process that does the same may remove the name between any two steps, so
 * the file counts only if it still has its name after it was locked. Another user's file is not
 * waited for, and in a shared folder this process must not remove it.
 */
static bshm_status claim_temporary(
	const bshm_options *options, const char *temporary, int *fd, bshm_error *error)
{
	for (int tries = 0; tries < 8; tries++) {
		int code = bshm_os_create(temporary, fd);
		const bool fresh = code == 0;
		if (code == EEXIST) {
			code = bshm_os_open(temporary, false, fd);
			if (code == ENOENT) {
				continue;
			}
		}
		if (code != 0) {
			return bshm__fail_os(error, BSHM_CAUSE_CREATE, code);
		}
		bshm_os_stat mine;
		bshm_os_stat named;
		code = bshm_os_stat_fd(*fd, &mine);
		if (code == 0 && !bshm__file_trusted(options, &mine)) {
			bshm_os_close(*fd);
			*fd = -1;
			return bshm__fail_uid(error, BSHM_CAUSE_TEMPORARY, mine.owner_uid);
		}
		code = code != 0 ? code : bshm_os_lock_byte(*fd, BSHM_CREATE_LOCK_OFF);
		if (code == 0 && bshm_os_stat_path(temporary, &named) == 0 && mine.inode == named.inode &&
			mine.device == named.device) {
			if (fresh) {
				sign(*fd);
				return BSHM_OK;
			}
			bshm_os_unlink(temporary);
		}
		if (code != 0) {
			code == EAGAIN ? fail_creating(*fd, &mine, error)
						   : bshm__fail_os(error, BSHM_CAUSE_LOCK, code);
		}
		bshm_os_close(*fd);
		*fd = -1;
		if (code != 0) {
			return error->status;
		}
	}
	return bshm__fail(error, BSHM_E_BUSY, BSHM_CAUSE_CREATE);
}

bshm_status bshm__file_create(const bshm_options *options, bshm_error *error)
{
	char temporary[sizeof(((bshm_segment *) NULL)->path) + 8];
	const size_t length = strlen(options->path);
	memcpy(temporary, options->path, length);
	memcpy(temporary + length, ".new", sizeof(".new"));

	int fd = -1;
	bshm_status status = claim_temporary(options, temporary, &fd, error);
	if (status != BSHM_OK) {
		return status;
	}
	bshm_os_stat st;
	if (bshm_os_stat_path(options->path, &st) != 0) { /* else another process was faster */
		status = write_header(options, fd, error);
		if (status == BSHM_OK) {
			const int code = bshm_os_link(temporary, options->path);
			if (code != 0 && code != EEXIST) {
				status = bshm__fail_os(error, BSHM_CAUSE_LINK, code);
			}
		}
	}
	bshm_os_unlink(temporary);
	bshm_os_close(fd);
	return status;
}
