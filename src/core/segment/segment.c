/*
 * segment.c - the file: create it, attach to it, let it go.
 *
 * A new segment is made whole under a temporary name (path + ".new") and then linked into place,
 * so a file at the path is always complete. The creator holds the kernel's lock on the temporary
 * file: others see that it is at work and do not reserve the memory a second time; when it dies,
 * the next creator takes the name away and begins anew.
 *
 * Attaching trusts nothing: every number in the header is checked against the file before it is
 * used, and a private copy of it is used from then on.
 *
 * Not here: owner slots (owners.c), what is inside the entries (directory.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

/* In integers: nothing may be mapped at the base yet. */
static void *at(const uint8_t *base, uint64_t off)
{
	return (void *) ((uintptr_t) base + (uintptr_t) off);
}

/* The regions of the record store, from `off` on: from the shards on they fit in cache_bytes. Returns
 * their end. */
static uint64_t lay_out_store(bshm_segment *segment, const uint8_t *base, uint64_t off)
{
	const uint64_t shards = segment->shard_count;
	segment->store = at(base, off);
	off += sizeof(bshm_store);
	segment->tallies = at(base, off);
	off += sizeof(bshm_tally) * (BSHM_OWNER_COUNT + 1);
	const uint64_t begin = off;
	segment->shards = at(base, off);
	off += sizeof(bshm_shard) * shards;
	segment->leases = at(base, off);
	off += sizeof(bshm_lease) * BSHM_LEASE_COUNT * shards;
	segment->tables = at(base, off);
	off += sizeof(bshm_table) * shards * segment->shard_tables;
	segment->pages = at(base, off);
	const uint64_t fixed = round_up(off - begin, BSHM_PAGE_BYTES) + BSHM_PAGE_BYTES;
	const uint64_t bytes = segment->cache_bytes - fixed;
	const uint64_t pages = bytes / (BSHM_SLAB_BYTES + sizeof(bshm_page) + sizeof(bshm_map));
	segment->shard_pages = (uint32_t) (pages / shards);
	segment->shard_bytes = segment->shard_pages * (uint64_t) BSHM_SLAB_BYTES;
	off += sizeof(bshm_page) * shards * segment->shard_pages;
	segment->maps = at(base, off);
	off += sizeof(bshm_map) * shards * segment->shard_pages;
	off = round_up(off, BSHM_PAGE_BYTES);
	segment->slabs = at(base, off);
	return off + shards * segment->shard_bytes;
}

/* Sets the regions from the counts; returns the bytes of the whole file. */
static uint64_t lay_out(bshm_segment *segment, const uint8_t *base)
{
	uint64_t off = 0;
	segment->header = at(base, off);
	off += sizeof(bshm_header);
	segment->owners = at(base, off);
	off += sizeof(bshm_owner) * BSHM_OWNER_COUNT;
	segment->ops = at(base, off);
	off += sizeof(bshm_op) * BSHM_OP_COUNT;
	segment->heads = at(base, off);
	off += round_up(sizeof(uint32_t) * segment->head_count, BSHM_PAGE_BYTES);
	segment->entries = at(base, off);
	off += round_up(sizeof(bshm_entry) * segment->entry_count, BSHM_PAGE_BYTES);
	segment->layers = at(base, off);
	off += round_up(sizeof(bshm_layer) * (uint64_t) segment->layer_count, BSHM_PAGE_BYTES);
	segment->tags = at(base, off);
	off += round_up(sizeof(uint64_t) * segment->chunk_count, BSHM_PAGE_BYTES);
	segment->chunks = at(base, off);
	off += sizeof(bshm_chunk) * segment->chunk_count;
	segment->links = at(base, off);
	off += round_up(sizeof(uint32_t) * (uint64_t) segment->partition_count, BSHM_PAGE_BYTES);
	segment->epochs = at(base, off);
	off += round_up(sizeof(uint64_t) * (uint64_t) segment->partition_count, BSHM_PAGE_BYTES);
	segment->partitions = at(base, off);
	off += (uint64_t) segment->partition_count * BSHM_PARTITION_BYTES;
	segment->store_off = off;
	return segment->shard_count == 0 ? off : lay_out_store(segment, base, off);
}

static uint32_t clamp(uint64_t value, uint32_t least, uint32_t most)
{
	return value < least ? least : value > most ? most : (uint32_t) value;
}

/* A filter takes at least one partition, so a directory as large as the memory is never short. */
static void count_regions(bshm_segment *segment, uint64_t partition_count)
{
	segment->partition_count = (uint32_t) partition_count;
	segment->entry_count = clamp(partition_count, BSHM_ENTRY_COUNT_MIN, BSHM_ENTRY_COUNT_MAX);
	segment->head_count = BSHM_ENTRY_COUNT_MIN;
	while (segment->head_count < segment->entry_count) {
		segment->head_count *= 2;
	}
	segment->chunk_count = clamp(partition_count / 32, BSHM_CHUNK_COUNT_MIN, BSHM_CHUNK_COUNT_MAX);
	/* Always enough, with those of a filter that is just growing: layers.c. */
	segment->layer_count = segment->partition_count / 3 + BSHM_LAYERS_MAX;
}

/*
 * A table of the index serves TABLE_RECORDS records as a rule, which grow it in small steps; a shard
 * has several. There is one shard where they are few: then recency is exact over the whole store.
 * A shard is so large that the largest record, a quarter of the store or 64 MB, is a part of it.
 */
#define TABLE_BYTES   (UINT64_C(256) << 10)
#define TABLE_RECORDS 8192u
#define LONE_TABLES   256u
#define SHARD_BYTES   (UINT64_C(80) << 20)

static void count_shards(bshm_segment *segment, uint64_t cache_bytes, uint64_t cache_records)
{
	if (cache_bytes == 0) {
		return;
	}
	uint64_t tables = cache_bytes / TABLE_BYTES;
	if (cache_records != 0 && cache_records / TABLE_RECORDS + 1 < tables) {
		tables = cache_records / TABLE_RECORDS + 1;
	}
	const bool lone = tables <= LONE_TABLES;
	segment->shard_count = lone ? 1 : clamp(cache_bytes / SHARD_BYTES, 3, BSHM_SHARD_MAX);
	segment->shard_tables = (uint32_t) (tables / segment->shard_count);
	segment->cache_bytes = cache_bytes;
	segment->cache_records = cache_records;
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

/* ------------------------------------------------------------------ attach */

/* Is a file ours, or of somebody with whom the segment is shared? */
static bool is_trusted(const bshm_options *options, const bshm_os_stat *st)
{
	const uint32_t group_bit = options->readonly ? 0040 : 0020;
	const uint32_t other_bit = options->readonly ? 0004 : 0002;
	return st->owner_uid == bshm_os_effective_uid() ||
		   ((options->mode & group_bit) != 0 && st->shares_group) ||
		   (options->mode & other_bit) != 0;
}

static bshm_status check_file(
	const bshm_options *options, const bshm_os_stat *st, bshm_error *error)
{
	if (!st->regular) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, "type");
	}
	if (!is_trusted(options, st)) {
		return bshm__fail_sizes(
			error, BSHM_E_UNAVAILABLE, "owner", bshm_os_effective_uid(), st->owner_uid);
	}
	if ((st->mode & ~options->mode) != 0) {
		return bshm__fail_sizes(error, BSHM_E_UNAVAILABLE, "mode", options->mode, st->mode);
	}
	if (st->bytes < sizeof(bshm_header)) {
		return bshm__fail_sizes(error, BSHM_E_CORRUPT, "size", sizeof(bshm_header), st->bytes);
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
		return bshm__fail_sizes(error, BSHM_E_UNAVAILABLE, "holes", st->bytes, st->reserved_bytes);
	}
	const int code = bshm_os_reserve(fd, st->bytes, false);
	if (code != 0) {
		bshm__fail_os(error, "reserve", code);
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
		return bshm__fail(error, BSHM_E_CORRUPT, "magic");
	}
	if (copy.layout != bshm__layout_word()) {
		return bshm__fail(error, BSHM_E_INCOMPATIBLE, "layout");
	}
	if (copy.check != bshm__checksum(&copy, offsetof(bshm_header, check), 0)) {
		return bshm__fail(error, BSHM_E_CORRUPT, "header");
	}
	if (copy.partition_count == 0 || copy.partition_count > BSHM_PARTITION_MAX) {
		return bshm__fail(error, BSHM_E_CORRUPT, "counts");
	}
	count_regions(segment, copy.partition_count);
	if (copy.entry_count != segment->entry_count || copy.head_count != segment->head_count ||
		copy.chunk_count != segment->chunk_count) {
		return bshm__fail(error, BSHM_E_CORRUPT, "counts");
	}
	const uint64_t cache_check = bshm__checksum(&copy.shard_count,
		offsetof(bshm_header, cache_check) - offsetof(bshm_header, shard_count), copy.name_seed);
	if (copy.cache_check != cache_check || !cache_bytes_fit(copy.cache_bytes)) {
		return bshm__fail(error, BSHM_E_CORRUPT, "header");
	}
	if ((copy.features & ~BSHM_FEATURES_KNOWN) != 0) {
		return bshm__fail(error, BSHM_E_INCOMPATIBLE, "layout");
	}
	count_shards(segment, copy.cache_bytes, copy.cache_records);
	const uint64_t bytes = lay_out(segment, base);
	if (copy.shard_count != segment->shard_count ||
		copy.table_count != segment->shard_count * segment->shard_tables ||
		copy.page_count != segment->shard_count * segment->shard_pages) {
		return bshm__fail(error, BSHM_E_CORRUPT, "counts");
	}
	if (copy.segment_bytes != bytes || file_bytes != bytes) {
		return bshm__fail_sizes(error, BSHM_E_CORRUPT, "size", bytes, file_bytes);
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
		return bshm__fail_os(error, "stat", code);
	}
	bshm_status status = check_file(options, &st, error);
	if (status != BSHM_OK) {
		return status;
	}
	void *base;
	code = bshm_os_map(fd, st.bytes, options->readonly, &base);
	if (code != 0) {
		return bshm__fail_os(error, "map", code);
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

/* ------------------------------------------------------------------ create */

static bshm_status write_header(const bshm_options *options, int fd, bshm_error *error)
{
	bshm_segment layout = {0};
	count_regions(&layout, options->filter_bytes / BSHM_PARTITION_BYTES);
	count_shards(&layout, options->cache_bytes, options->cache_records);
	const uint64_t bytes = lay_out(&layout, NULL);
	int code = bshm_os_reserve(fd, bytes, options->huge_pages);
	if (code != 0) {
		bshm__fail_os(error, "reserve", code);
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
		.table_count = layout.shard_count * layout.shard_tables,
		.page_count = layout.shard_count * layout.shard_pages,
		.cache_records = layout.cache_records,
		.cache_bytes = layout.cache_bytes,
	};
	const bool on_disk = !bshm_os_in_memory(fd);
	code = bshm__clock_begin(&header);
	if (on_disk && code != 0) {
		return bshm__fail_os(error, "open", code);
	}
	header.rest = on_disk ? BSHM_REST_ASLEEP : BSHM_REST_AWAKE;
	code = bshm_os_random(&header.name_seed, sizeof(header.name_seed));
	if (code != 0) {
		return bshm__fail_os(error, "random", code);
	}
	header.check = bshm__checksum(&header, offsetof(bshm_header, check), 0);
	header.cache_check = bshm__checksum(&header.shard_count,
		offsetof(bshm_header, cache_check) - offsetof(bshm_header, shard_count), header.name_seed);
	void *base;
	code = bshm_os_map(fd, bytes, false, &base);
	if (code != 0) {
		return bshm__fail_os(error, "map", code);
	}
	memcpy(base, &header, sizeof(header));
	bshm_os_unmap(base, bytes);
	code = bshm_os_set_mode(fd, options->mode);
	if (code != 0) {
		return bshm__fail_os(error, "mode", code);
	}
	code = on_disk ? bshm_os_sync(fd) : 0; /* whole before it has its name, there too */
	return code != 0 ? bshm__fail_os(error, "sync", code) : BSHM_OK;
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
		process_id = 0; /* not yet, or not any more */
	}
	return bshm__fail_sizes(error, BSHM_E_BUSY, "create", process_id, st->owner_uid);
}

/*
 * Creates path + ".new" and locks it. BUSY when a live creator has it; a dead one's file is
 * removed. The name may be taken away between any two steps by another who does the same, so
 * what counts is that the file we have locked still has its name. A stranger's file is nobody to
 * wait for, and in a shared folder not ours to remove.
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
			return bshm__fail_os(error, "create", code);
		}
		bshm_os_stat mine;
		bshm_os_stat named;
		code = bshm_os_stat_fd(*fd, &mine);
		if (code == 0 && !is_trusted(options, &mine)) {
			bshm_os_close(*fd);
			*fd = -1;
			return bshm__fail_sizes(
				error, BSHM_E_UNAVAILABLE, "temporary", bshm_os_effective_uid(), mine.owner_uid);
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
			code == EAGAIN ? fail_creating(*fd, &mine, error) : bshm__fail_os(error, "lock", code);
		}
		bshm_os_close(*fd);
		*fd = -1;
		if (code != 0) {
			return error->status;
		}
	}
	return bshm__fail(error, BSHM_E_BUSY, "create");
}

static bshm_status create(const bshm_options *options, bshm_error *error)
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
	if (bshm_os_stat_path(options->path, &st) != 0) { /* else another was faster */
		status = write_header(options, fd, error);
		if (status == BSHM_OK) {
			const int code = bshm_os_link(temporary, options->path);
			if (code != 0 && code != EEXIST) {
				status = bshm__fail_os(error, "link", code);
			}
		}
	}
	bshm_os_unlink(temporary);
	bshm_os_close(fd);
	return status;
}

/* ------------------------------------------------------------------ public */

/* Opens the file, which is created where it may be; OK or why not. */
static bshm_status open_path(
	const bshm_options *options, int *fd, bool *writable, bshm_error *error)
{
	int code = bshm_os_open(options->path, false, fd);
	const bool creates = !options->readonly && !options->standing;
	if (code == ENOENT && creates) {
		if (create(options, error) != BSHM_OK) {
			return error->status;
		}
		code = bshm_os_open(options->path, false, fd);
	}
	*writable = code == 0;
	if (options->readonly && !*writable) {
		code = bshm_os_open(options->path, true, fd);
	}
	if (code != ENOENT || creates) {
		return code == 0 ? BSHM_OK : bshm__fail_os(error, "open", code);
	}
	bshm__fail(error, BSHM_E_UNAVAILABLE, "absent");
	error->os_code = code;
	return error->status;
}

bshm_status bshm_segment_open(const bshm_options *options, bshm_segment **out, bshm_error *error)
{
	bshm_segment *segment = calloc(1, sizeof(*segment));
	if (segment == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, "memory");
	}
	segment->fd = -1;
	segment->lock_fd = -1;
	const size_t length = strlen(options->path);
	if (length == 0 || length >= sizeof(segment->path)) {
		free(segment);
		return bshm__fail(error, BSHM_E_UNAVAILABLE, "path");
	}
	memcpy(segment->path, options->path, length + 1);

	int fd = -1;
	bool writable = false;
	bshm_status status = open_path(options, &fd, &writable, error);
	if (status == BSHM_OK) {
		status = attach(options, fd, writable, segment, error);
	}
	const bool in_memory = status == BSHM_OK && bshm_os_in_memory(fd);
	if (status != BSHM_OK && strcmp(error->op, "rest") == 0 && !options->readonly &&
		!options->standing) {
		/* What it held is lost: a new one, which the caller finds at his next try. */
		status = bshm__rest_discard(options->path, fd, error);
		status = status == BSHM_OK ? bshm__fail(error, BSHM_E_BUSY, "rest") : status;
	}
	if (status != BSHM_OK) {
		bshm_os_close(fd);
		free(segment);
		return status;
	}
	if (!bshm__owner_remember(segment)) {
		bshm_segment_close(segment);
		return bshm__fail(error, BSHM_E_TIMEOUT, "attach");
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
	const bshm_status status =
		all_seen ? bshm__rest_leave(segment, error) : bshm__fail(error, BSHM_E_BUSY, "presence");
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

bool bshm_segment_stands(const bshm_segment *segment)
{
	bshm_os_stat st;
	const int code = bshm_os_stat_path(segment->path, &st);
	if (code != 0) {
		return code != ENOENT && code != ENOTDIR; /* a folder that lets nobody look says nothing */
	}
	return st.device == segment->device && st.inode == segment->inode;
}

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
		return bshm__fail_os(error, "stat", code);
	}
	out->owner_uid = st.owner_uid;
	out->mode = st.mode;
	uint64_t *claimed = bshm__blocks_map(segment);
	if (claimed == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, "memory");
	}
	const bool locked = bshm__lock(segment, BSHM_LOCK_PAGE_NS, error) == BSHM_OK;
	const bshm__space space = bshm__blocks_survey(segment, claimed, locked);
	if (locked) {
		bshm__unlock(segment);
	}
	free(claimed);
	out->filter_bytes_free = (uint64_t) space.free * BSHM_PARTITION_BYTES;
	out->largest_free_bytes = (uint64_t) space.largest * BSHM_PARTITION_BYTES;
	out->repairs = BSHM_LOAD(&segment->header->repairs, RELAXED);
	out->lock_timeouts = BSHM_LOAD(&segment->header->lock_timeouts, RELAXED);
	out->attached = bshm__owner_count(segment);
	char name[BSHM_NAME_BYTES_MAX + 1];
	uint32_t cursor = 0;
	do {
		out->filters += bshm_filter_next(segment, &cursor, name) != 0;
	} while (cursor != 0);
	return BSHM_OK;
}
