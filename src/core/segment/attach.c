/*
 * attach.c - attaches this process to the file, and detaches it.
 *
 * Attaching trusts nothing: every number in the header is checked against the file before it is
 * used, and a private copy of it is used from then on.
 *
 * Not here: making the file (create.c), owner slots (owners.c), the entries (directory.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include "core/hash.h"
#include "core/layout.h"
#include "core/segment/clock.h"
#include "core/segment/create.h"
#include "core/segment/owners.h"
#include "core/segment/regions.h"
#include "core/segment/rest.h"
#include "core/segment/segment.h"
#include "core/status.h"
#include "platform/platform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bshm_status check_file(
	const bshm_options *options, const bshm_os_stat *st, bshm_error *error)
{
	if (!st->regular) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_TYPE);
	}
	if (!bshm__file_trusted(options, st)) {
		return bshm__fail_uid(error, BSHM_CAUSE_OWNER, st->owner_uid);
	}
	if ((st->mode & ~options->mode) != 0) {
		return bshm__fail_sizes(
			error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_WIDE_MODE, options->mode, st->mode);
	}
	if (st->bytes < sizeof(bshm_header)) {
		return bshm__fail_sizes(
			error, BSHM_E_CORRUPT, BSHM_CAUSE_SIZE, sizeof(bshm_header), st->bytes);
	}
	return BSHM_OK;
}

/* A copied file may have holes, whose first touch fails when there is no room: fill them now. */
static bshm_status check_reserved(
	const bshm_options *options, int fd, const bshm_os_stat *st, bshm_error *error)
{
	if (st->reserved_bytes >= st->bytes) {
		return BSHM_OK;
	}
	if (options->readonly) {
		return bshm__fail_sizes(
			error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_HOLES, st->bytes, st->reserved_bytes);
	}
	const int code = bshm_os_reserve(fd, st->bytes, false);
	if (code != 0) {
		bshm__fail_os(error, BSHM_CAUSE_RESERVE, code);
		error->asked = st->bytes;
		return error->status;
	}
	return BSHM_OK;
}

static bool cache_bytes_fit(uint64_t bytes)
{
	return bytes == 0 || (bytes >= BSHM_CACHE_BYTES_MIN && bytes <= BSHM_CACHE_BYTES_MAX);
}

/* Checks the header and lays out the regions. */
static bshm_status check_header(
	bshm_segment *segment, uint8_t *base, uint64_t file_bytes, bshm_error *error)
{
	bshm_header copy;
	/* Only what was written before the file had its name. */
	memcpy(&copy, base, offsetof(bshm_header, lock));
	memcpy(&copy.shard_count, base + offsetof(bshm_header, shard_count),
		offsetof(bshm_header, rest) - offsetof(bshm_header, shard_count));
	if (copy.magic != BSHM_MAGIC) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_MAGIC);
	}
	if (copy.layout != bshm__layout_word()) {
		return bshm__fail(error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_LAYOUT);
	}
	if (copy.check != bshm__checksum(&copy, offsetof(bshm_header, check), 0)) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_HEADER);
	}
	if (copy.partition_count == 0 || copy.partition_count > BSHM_PARTITION_MAX) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_COUNTS);
	}
	bshm__regions_count(segment, copy.partition_count);
	if (copy.entry_count != segment->entry_count || copy.head_count != segment->head_count ||
		copy.chunk_count != segment->chunk_count) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_COUNTS);
	}
	const uint64_t cache_check = bshm__checksum(&copy.shard_count,
		offsetof(bshm_header, cache_check) - offsetof(bshm_header, shard_count), copy.name_seed);
	if (copy.cache_check != cache_check || !cache_bytes_fit(copy.cache_bytes)) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_HEADER);
	}
	if ((copy.features & ~BSHM_FEATURES_KNOWN) != 0) {
		return bshm__fail(error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_LAYOUT);
	}
	segment->features = copy.features;
	bshm__regions_count_store(segment, copy.cache_bytes, copy.cache_records);
	const uint64_t bytes = bshm__regions_lay_out(segment, base);
	if (copy.shard_count != segment->shard_count || copy.table_count != segment->table_count ||
		copy.page_count != segment->shard_count * segment->shard_pages) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_COUNTS);
	}
	if (copy.segment_bytes != bytes || file_bytes != bytes) {
		return bshm__fail_sizes(error, BSHM_E_CORRUPT, BSHM_CAUSE_SIZE, bytes, file_bytes);
	}
	segment->segment_bytes = bytes;
	segment->name_seed = copy.name_seed;
	return BSHM_OK;
}

static bshm_status attach(
	const bshm_options *options, int fd, bool writable, bshm_segment *segment, bshm_error *error)
{
	bshm_os_stat st;
	int code = bshm_os_stat_fd(fd, &st);
	if (code != 0) {
		return bshm__fail_os(error, BSHM_CAUSE_STAT, code);
	}
	bshm_status status = check_file(options, &st, error);
	if (status != BSHM_OK) {
		return status;
	}
	void *base;
	code = bshm_os_map(fd, st.bytes, options->readonly, &base);
	if (code != 0) {
		return bshm__fail_os(error, BSHM_CAUSE_MAP, code);
	}
	status = check_header(segment, base, st.bytes, error);
	if (status == BSHM_OK) {
		status = check_reserved(options, fd, &st, error);
	}
	if (status == BSHM_OK) {
		status = bshm__rest_enter(segment, fd, &st, writable, error);
	}
	if (status != BSHM_OK) {
		bshm_os_unmap(base, st.bytes);
		return status;
	}
	segment->readonly = options->readonly;
	segment->store_writable = writable && segment->shard_count != 0;
	if (options->readonly && segment->store_writable) {
		/* The record store, and the owners that its locks need, stay writable. */
		if (bshm_os_protect(segment->owners, sizeof(bshm_owner) * BSHM_OWNER_COUNT) != 0 ||
			bshm_os_protect(segment->store, st.bytes - segment->store_off) != 0) {
			segment->store_writable = false;
		}
	}
	segment->device = st.device;
	segment->inode = st.inode;
	if (options->huge_pages) {
		bshm_os_advise_huge(base, st.bytes);
	}
	segment->fd = fd; /* stays open */
	return BSHM_OK;
}

/* ------------------------------------------------------------------ public */

/* Opens the file. Creates it if there is none and the options allow that. */
static bshm_status open_path(
	const bshm_options *options, int *fd, bool *writable, bshm_error *error)
{
	int code = bshm_os_open(options->path, false, fd);
	const bool creates = !options->readonly && !options->attach_only;
	if (code == ENOENT && creates) {
		if (bshm__file_create(options, error) != BSHM_OK) {
			return error->status;
		}
		code = bshm_os_open(options->path, false, fd);
	}
	*writable = code == 0;
	if (options->readonly && !*writable) {
		code = bshm_os_open(options->path, true, fd);
	}
	if (code != ENOENT || creates) {
		return code == 0 ? BSHM_OK : bshm__fail_os(error, BSHM_CAUSE_OPEN, code);
	}
	return bshm__fail_code(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_ABSENT, code);
}

bshm_status bshm_segment_open(const bshm_options *options, bshm_segment **out, bshm_error *error)
{
	bshm_segment *segment = calloc(1, sizeof(*segment));
	if (segment == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	segment->fd = -1;
	segment->lock_fd = -1;
	const size_t length = strlen(options->path);
	if (length == 0 || length >= sizeof(segment->path)) {
		free(segment);
		return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_PATH);
	}
	memcpy(segment->path, options->path, length + 1);

	int fd = -1;
	bool writable = false;
	bshm_status status = open_path(options, &fd, &writable, error);
	if (status == BSHM_OK) {
		status = attach(options, fd, writable, segment, error);
	}
	const bool in_memory = status == BSHM_OK && bshm_os_in_memory(fd);
	if (status != BSHM_OK && error->cause == BSHM_CAUSE_REST && !options->readonly &&
		!options->attach_only) {
		/* Its contents are lost. The caller makes a new file at the next try. */
		status = bshm__rest_discard(options->path, fd, error);
		status = status == BSHM_OK ? bshm__fail(error, BSHM_E_BUSY, BSHM_CAUSE_REST) : status;
	}
	if (status != BSHM_OK) {
		bshm_os_close(fd);
		free(segment);
		return status;
	}
	if (!bshm__owner_remember(segment)) {
		bshm_segment_close(segment);
		return bshm__fail(error, BSHM_E_TIMEOUT, BSHM_CAUSE_ATTACH);
	}
	if (segment->store_writable) {
		segment->roomy = calloc(segment->shard_count, sizeof(*segment->roomy));
	}
	if (!segment->readonly || segment->store_writable) {
		bshm_error unused; /* without a slot, questions and plain adds still work */
		bshm__owner_attach(segment, &unused);
	}
	bshm__clock_attach(segment, in_memory);
	*out = segment;
	return BSHM_OK;
}

bshm_status bshm_segment_rest(bshm_segment *segment, bshm_error *error)
{
	const bool all_seen = !segment->sleeps || bshm__owner_lasts(segment);
	bshm__owner_forget(segment);
	bshm_os_unmap(segment->header, segment->segment_bytes);
	const bshm_status status = all_seen ? bshm__rest_leave(segment, error)
										: bshm__fail(error, BSHM_E_BUSY, BSHM_CAUSE_PRESENCE);
	free(segment->roomy);
	free(segment);
	return status;
}

void bshm_segment_close(bshm_segment *segment)
{
	bshm_error unused;
	if (segment != NULL) {
		bshm_segment_rest(segment, &unused);
	}
}

bool bshm_segment_absent(const char *path)
{
	bshm_os_stat st;
	return bshm_os_stat_path(path, &st) == ENOENT;
}

bool bshm_segment_at_path(const bshm_segment *segment)
{
	bshm_os_stat st;
	const int code = bshm_os_stat_path(segment->path, &st);
	if (code != 0) {
		return code != ENOENT && code != ENOTDIR; /* a folder that cannot be read tells nothing */
	}
	return st.device == segment->device && st.inode == segment->inode;
}
