/*
 * record_file.c - all records to a file, and back: so that a cache is warm after a restart.
 *
 *      +----------------------+
 *      | file header          |  32 bytes: "BLOOMREC", version u32, 0 u32, dumped_ns i64, 0 u64
 *      +----------------------+
 *      | record               |  32 bytes: recency u64, expires_s u64, key_bytes u32, value_bytes
 *      |                      |  u32, flags u32, 0 u32; then the key, then the value
 *      +----------------------+
 *      | ...                  |  more records
 *      +----------------------+
 *      | end                  |  32 bytes: 0xffffffffffffffff u64, count u64, bytes before this
 *      |                      |  u64, checksum u64
 *      +----------------------+
 *
 * Little-endian. The records come in the order of a scan, so each record that is not written
 * during the dump comes exactly once. `recency` is about how many uses of other records came after
 * its last use; a restore puts the records from the oldest to the newest. Expiry is a time of the
 * wall clock. The checksum is the XXH3-64 of everything before it. A restore reads and checks the
 * whole file before it puts a record.
 *
 * Records of fetches are left out: what they say about keys of a filter is true only as long as the
 * set of that filter is in force.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/shard.h"
#include "core/status.h"
#include "platform/platform.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC          BSHM_RECORD_FILE_MAGIC
#define VERSION        1u
#define PART_BYTES     32u
#define BUFFER_BYTES   (UINT64_C(1) << 20)
#define END            UINT64_MAX
#define COPY_TRIES     64 /* while the value outgrows the memory */
#define ROOM_FIRST     8192u
#define FLAG_TYPE      0xffu
#define FLAG_PROTECTED 0x100u

typedef union {
	uint64_t words[PART_BYTES / 8];
	uint8_t bytes[PART_BYTES];
} part;

static uint64_t little(uint64_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(value);
#else
	return value;
#endif
}

static part part_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return (part){{little(a), little(b), little(c), little(d)}};
}

/* ------------------------------------------------------------------ writing */

typedef struct {
	int fd;
	uint8_t *buffer;
	size_t used;
	uint64_t bytes;
	XXH3_state_t *hash;
	int64_t ahead_s; /* unix time less the engine clock */
	int code;        /* the first error */
	bshm_patience patience;
} writer;

static void flush(writer *w)
{
	if (w->code == 0 && w->used != 0) {
		w->code = bshm_os_file_write(w->fd, w->buffer, w->used);
	}
	w->used = 0;
}

static void write_bytes(writer *w, const void *bytes, size_t count)
{
	XXH3_64bits_update(w->hash, bytes, count);
	w->bytes += count;
	if (w->used + count > BUFFER_BYTES) {
		flush(w);
	}
	if (count > BUFFER_BYTES) {
		w->code = w->code != 0 ? w->code : bshm_os_file_write(w->fd, bytes, count);
	} else {
		memcpy(w->buffer + w->used, bytes, count);
		w->used += count;
	}
}

/* About how many uses of other records came after its last use, when the dump began. */
static uint64_t recency(const bshm_segment *segment, const uint16_t *now, const bshm_found *found)
{
	const uint32_t age = (now[found->shard] - found->state) & BSHM_SLOT_STAMP;
	const uint64_t records = BSHM_LOAD(&segment->shards[found->shard].records, RELAXED);
	return age >= 0xf000 ? 0 : age * (1 + records / 64); /* used during the dump */
}

/* A copy of a key's record: 1 = it is in *bytes, 0 = it is gone, -1 = no private memory left. */
static int copy_value(bshm_segment *segment, const bshm_key *key, bshm_patience *patience,
	bshm_found *found, uint8_t **bytes)
{
	uint64_t room = ROOM_FIRST;
	for (unsigned tries = 0; tries < COPY_TRIES; tries++) {
		bshm_error error;
		*bytes = malloc((size_t) room);
		if (*bytes == NULL) {
			return -1;
		}
		const int copied = bshm_record_copy(
			segment, BSHM_SPACE_CACHE, key, 0, &(bshm_room){*bytes, room}, patience, found, &error);
		if (copied == 1) {
			return 1;
		}
		free(*bytes);
		if (copied != BSHM_E_BUSY) {
			return 0; /* gone, or damaged, or its lock was not to be had */
		}
		room = found->length + (tries != 0 ? found->length / 8 : 0);
	}
	return 0; /* it grew during each try */
}

/* Numbers are little-endian in the file. */
static void swap_number(bshm_value_type type, void *bytes)
{
	uint64_t number;
	if (type == BSHM_VALUE_INT || type == BSHM_VALUE_FLOAT) {
		memcpy(&number, bytes, sizeof(number));
		number = little(number);
		memcpy(bytes, &number, sizeof(number));
	}
}

/* Unix time less the engine clock, in whole seconds: 0 as long as the host's clock is not set. */
static int64_t wall_ahead_s(const bshm_segment *segment)
{
	return llround(bshm_os_wall_s() - (double) bshm__store_clock_ns(segment) / 1e9);
}

/* Writes a key's record, if it is there still; false: no private memory left. */
static bool write_record(
	writer *w, bshm_segment *segment, const uint16_t *now, const bshm_key *key, uint64_t *count)
{
	bshm_found found;
	uint8_t *bytes;
	const int there = copy_value(segment, key, &w->patience, &found, &bytes);
	if (there <= 0) {
		return there == 0;
	}
	const uint64_t expires_s = found.expires_s == 0 ? 0 : (uint64_t) (found.expires_s + w->ahead_s);
	swap_number(found.type, bytes);
	const uint64_t flags =
		(uint64_t) found.type | ((found.state & BSHM_SLOT_PROTECTED) != 0 ? FLAG_PROTECTED : 0);
	const part head = part_of(recency(segment, now, &found), expires_s,
		(uint64_t) key->length | found.length << 32, flags);
	write_bytes(w, head.bytes, sizeof(head.bytes));
	write_bytes(w, key->bytes, key->length);
	write_bytes(w, bytes, (size_t) found.length);
	free(bytes);
	++*count;
	return true;
}

/* False: no private memory left. */
static bool write_all(writer *w, bshm_segment *segment, uint64_t *count)
{
	uint16_t now[BSHM_SHARD_MAX];
	const double wall_s = bshm_os_wall_s();
	w->ahead_s = wall_ahead_s(segment);
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		now[i] = (uint16_t) BSHM_LOAD(&segment->shards[i].clock, RELAXED);
	}
	const part head = part_of(MAGIC, VERSION, (uint64_t) (wall_s * 1e9), 0);
	write_bytes(w, head.bytes, sizeof(head.bytes));
	bshm_scan scan = {.cursor = 0};
	bool room = true;
	do {
		room = bshm_scan_next(segment, &scan, 0);
		for (unsigned i = 0; room && i < scan.count && w->code == 0; i++) {
			room = scan.spaces[i] != BSHM_SPACE_CACHE ||
				   write_record(w, segment, now, &scan.keys[i], count);
		}
	} while (room && scan.cursor != 0 && w->code == 0);
	bshm_scan_free(&scan);
	if (!room) {
		return false;
	}
	const part last = part_of(END, *count, w->bytes, 0);
	write_bytes(w, last.bytes, sizeof(last.bytes) - 8);
	const uint64_t check = little(XXH3_64bits_digest(w->hash));
	write_bytes(w, &check, sizeof(check));
	flush(w);
	return true;
}

bshm_status bshm_store_dump(
	bshm_segment *segment, const char *path, uint64_t *count, bshm_error *error)
{
	*count = 0;
	if (segment->shard_count == 0) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_NO_STORE);
	}
	writer w = {.fd = -1, .buffer = malloc(BUFFER_BYTES), .hash = XXH3_createState()};
	w.patience.batch = true;
	char *name = malloc(strlen(path) + 32);
	bshm_status status = bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	bshm_cause cause = BSHM_CAUSE_CREATE;
	if (w.buffer == NULL || w.hash == NULL || name == NULL) {
		goto out;
	}
	XXH3_64bits_reset(w.hash);
	w.code = bshm_os_file_create(path, name, &w.fd);
	if (w.code == 0) {
		cause = BSHM_CAUSE_WRITE;
		if (!write_all(&w, segment, count)) {
			bshm_os_unlink(name);
			goto out;
		}
		if (w.code == 0) {
			cause = BSHM_CAUSE_PUBLISH;
			w.code = bshm_os_file_publish(w.fd, name, path);
		}
		if (w.code != 0) {
			bshm_os_unlink(name);
		}
	}
	status = BSHM_OK;
	if (w.code != 0) {
		status = bshm__fail_code(error, BSHM_E_IO, cause, w.code);
	}
out:
	bshm_os_close(w.fd);
	free(w.buffer);
	free(name);
	XXH3_freeState(w.hash);
	return status;
}

/* ------------------------------------------------------------------ reading */

/* A record of the file, by where it is. */
typedef struct {
	uint64_t recency;
	uint64_t off;
} item;

static int older_first(const void *a, const void *b)
{
	const item *x = a;
	const item *y = b;
	if (x->recency != y->recency) {
		return x->recency > y->recency ? -1 : 1;
	}
	return x->off < y->off ? -1 : x->off > y->off;
}

static part part_at(const uint8_t *bytes)
{
	part p;
	memcpy(p.bytes, bytes, sizeof(p.bytes));
	for (unsigned i = 0; i < PART_BYTES / 8; i++) {
		p.words[i] = little(p.words[i]);
	}
	return p;
}

/* Opens a file; *size is how long it is. */
static bshm_status open_file(const char *path, int *fd, uint64_t *size, bshm_error *error)
{
	bshm_os_stat st = {0};
	int code = bshm_os_file_open(path, fd);
	if (code == 0) {
		code = bshm_os_stat_fd(*fd, &st);
		if (code == 0 && !st.regular) {
			code = EINVAL;
		}
	}
	*size = st.bytes;
	return code == 0 ? BSHM_OK : bshm__fail_code(error, BSHM_E_IO, BSHM_CAUSE_OPEN, code);
}

static bshm_status check_head(const part *head, uint64_t size, bshm_error *error)
{
	if (size < 8) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED);
	}
	if (head->words[0] != MAGIC) {
		return bshm__fail_magic(error, head->words[0]);
	}
	if (size < 2 * PART_BYTES) {
		return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED);
	}
	if (head->words[1] != VERSION) {
		return bshm__fail_sizes(
			error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_VERSION, VERSION, head->words[1]);
	}
	return BSHM_OK;
}

/* Reads the whole file into private memory, once its head says what it is; *bytes is NULL on
 * failure. */
static bshm_status read_file(int fd, uint64_t size, uint8_t **bytes, bshm_error *error)
{
	uint8_t head[PART_BYTES] = {0};
	size_t begun = 0;
	size_t got = 0;
	*bytes = NULL;
	int code = bshm_os_file_read(fd, head, PART_BYTES, &begun);
	if (code != 0) {
		return bshm__fail_code(error, BSHM_E_IO, BSHM_CAUSE_READ, code);
	}
	const part first = part_at(head);
	const bshm_status status = check_head(&first, begun < PART_BYTES ? begun : size, error);
	if (status != BSHM_OK) {
		return status;
	}
	*bytes = bshm_os_private((size_t) size + 1);
	if (*bytes == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	memcpy(*bytes, head, PART_BYTES);
	code = bshm_os_file_read(fd, *bytes + PART_BYTES, (size_t) size - PART_BYTES, &got);
	if (code == 0 && PART_BYTES + got == size) {
		return BSHM_OK;
	}
	bshm_os_private_release(*bytes, (size_t) size + 1);
	*bytes = NULL;
	return code == 0 ? bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED)
					 : bshm__fail_code(error, BSHM_E_IO, BSHM_CAUSE_READ, code);
}

static uint32_t key_bytes(const part *head)
{
	return (uint32_t) head->words[2];
}

static uint32_t value_bytes(const part *head)
{
	return (uint32_t) (head->words[2] >> 32);
}

static bool is_record(const part *head)
{
	const uint64_t type = head->words[3] & FLAG_TYPE;
	const bool number = type == BSHM_VALUE_INT || type == BSHM_VALUE_FLOAT;
	const bool empty = type < BSHM_VALUE_INT;
	return key_bytes(head) <= BSHM_KEY_BYTES_MAX &&
		   (uint64_t) key_bytes(head) + value_bytes(head) <= BSHM_RECORD_BYTES_MAX &&
		   head->words[3] <= (FLAG_TYPE | FLAG_PROTECTED) && type <= BSHM_VALUE_IGBINARY &&
		   (!number || value_bytes(head) == 8) && (!empty || value_bytes(head) == 0);
}

/* Checks everything behind the head; *items are the records, *count of them. */
static bshm_status check_file(
	const uint8_t *bytes, uint64_t size, item **items, uint64_t *count, bshm_error *error)
{
	*count = 0;
	uint64_t off = PART_BYTES;
	while (size - off >= PART_BYTES) {
		const part next = part_at(bytes + off);
		if (next.words[0] == END) {
			const uint64_t check = bshm__checksum(bytes, (size_t) off + PART_BYTES - 8, 0);
			const bool whole = off + PART_BYTES == size;
			if (next.words[1] == *count && next.words[2] == off && next.words[3] == check) {
				return whole ? BSHM_OK
							 : bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_TRAILING_BYTES);
			}
			return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_CHECKSUM);
		}
		if (!is_record(&next)) {
			return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_RECORD);
		}
		const uint64_t length = (uint64_t) PART_BYTES + key_bytes(&next) + value_bytes(&next);
		if (length > size - off) {
			break;
		}
		(*items)[(*count)++] = (item){next.words[0], off};
		off += length;
	}
	return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED);
}

/* Puts a record in, if it is absent and has time left: 1 or 0, or the lock's failure. */
static int put_item(bshm_segment *segment, uint8_t *bytes, int64_t ahead_s, bshm_patience *patience,
	bshm_error *error)
{
	const part head = part_at(bytes);
	uint32_t expires_s = 0;
	if (head.words[1] != 0) {
		const uint32_t now_s = bshm__store_now_s(segment);
		const double left_s = (double) head.words[1] - (double) ahead_s - now_s;
		if (left_s < 1) {
			return 0;
		}
		expires_s = now_s + (left_s > BSHM_TTL_MAX_S ? BSHM_TTL_MAX_S : (uint32_t) left_s);
	}
	swap_number(
		(bshm_value_type) (head.words[3] & FLAG_TYPE), bytes + PART_BYTES + key_bytes(&head));
	const bshm_put put = {
		.space = BSHM_SPACE_CACHE,
		.key = {(const char *) bytes + PART_BYTES, key_bytes(&head)},
		.value = {(bshm_value_type) (head.words[3] & FLAG_TYPE),
			bytes + PART_BYTES + key_bytes(&head), value_bytes(&head)},
		.expires_s = expires_s,
		.mode = BSHM_PUT_ADD,
		.is_protected = (head.words[3] & FLAG_PROTECTED) != 0,
		.patience = patience,
	};
	return bshm_record_put(segment, &put, error);
}

bshm_status bshm_store_restore(
	bshm_segment *segment, const char *path, uint64_t *count, bshm_error *error)
{
	uint8_t *bytes;
	uint64_t size = 0;
	uint64_t records = 0;
	*count = 0;
	if (segment->shard_count == 0 || !segment->store_writable) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_NO_STORE);
	}
	int fd;
	bshm_status status = open_file(path, &fd, &size, error);
	if (status == BSHM_OK) {
		status = read_file(fd, size, &bytes, error);
	}
	bshm_os_close(fd);
	if (status != BSHM_OK) {
		return status;
	}
	const size_t room = (size_t) (size / PART_BYTES + 1) * sizeof(item);
	item *items = bshm_os_private(room);
	status = items == NULL ? bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY)
						   : check_file(bytes, size, &items, &records, error);
	if (status == BSHM_OK) {
		const uint64_t most = segment->cache_records;
		/* Of more than there may be, the newest. */
		const uint64_t first = most != 0 && records > most ? records - most : 0;
		const int64_t ahead_s = wall_ahead_s(segment);
		bshm_patience patience = {.batch = true};
		qsort(items, (size_t) records, sizeof(item), older_first);
		for (uint64_t i = first; i < records && status == BSHM_OK; i++) {
			const int put = put_item(segment, bytes + items[i].off, ahead_s, &patience, error);
			*count += put == 1;
			status = put < 0 ? put : BSHM_OK;
		}
	}
	bshm_os_private_release(items, room);
	bshm_os_private_release(bytes, (size_t) size + 1);
	return status;
}
