/*
 * record_file.c - writes all records to a file, and puts them back: for a warm cache after a
 * restart.
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
 * its last use; a restore puts the records from the oldest to the newest. (If stamps begin to be
 * renumbered during the dump, aging.c, what was written before looks older than the rest.) Expiry
 * is a time of the wall clock. The checksum is the XXH3-64 of everything before it. A restore reads
 * and checks the whole file before it puts a record.
 *
 * Records of fetches are left out: what they say about keys of a filter is true only as long as the
 * set of that filter is in force.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/aging.h"
#include "core/cache/record.h"
#include "core/file.h"
#include "core/status.h"
#include "platform/platform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC          BSHM_RECORD_FILE_MAGIC
#define VERSION        1u
#define PART_BYTES     32u
#define END            UINT64_MAX
#define COPY_TRIES     64 /* while the value outgrows the memory */
#define ROOM_FIRST     8192u
#define FLAG_TYPE      0xffu
#define FLAG_PROTECTED 0x100u

typedef union {
	uint64_t words[PART_BYTES / 8];
	uint8_t bytes[PART_BYTES];
} part;

static part part_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return (part){{bshm__little64(a), bshm__little64(b), bshm__little64(c), bshm__little64(d)}};
}

/* ------------------------------------------------------------------ writing */

/* A shard's epoch as it was last seen, and how many have passed since the dump began. */
typedef struct {
	uint32_t now;
	uint32_t passed;
} progress;

typedef struct {
	bshm_segment *segment;
	bshm__output out;
	progress shards[BSHM_SHARD_MAX];
	int64_t ahead_s; /* unix time less the engine clock */
	uint64_t count;  /* records so far */
	bshm_patience patience;
} writer;

static uint32_t epoch_of(const writer *w, uint32_t shard)
{
	return (uint32_t) BSHM_LOAD(&w->segment->shards[shard].clock, RELAXED) & BSHM_SLOT_STAMP;
}

/* About how many uses of other records came after its last use, when the dump began; 0: it was used
 * since then. */
static uint64_t recency(writer *w, const bshm_found *found)
{
	progress *shard = &w->shards[found->shard];
	const uint32_t now = epoch_of(w, found->shard); /* no earlier than the state's stamp */
	shard->passed += bshm__age(now, shard->now);
	shard->now = now;
	const bshm__shard s = bshm__shard_at(w->segment, found->shard);
	const uint32_t page = (uint32_t) ((size_t) (found->slot - s.pages) / BSHM_SLAB_BYTES) + 1;
	const uint32_t age = bshm__aging_age(&s, now, page, bshm__age(now, found->state));
	const uint64_t records = BSHM_LOAD(&s.shard->records, RELAXED);
	return age > shard->passed ? (age - shard->passed) * (1 + records / 64) : 0;
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
			return 0; /* gone, or damaged, or its lock was not free in time */
		}
		room = found->length + (tries != 0 ? found->length / 8 : 0);
	}
	return 0; /* it grew during each try */
}

static bool is_kept(uint64_t type, uint64_t bytes)
{
	return type != BSHM_VALUE_NOTHING && bshm__is_value(type, bytes);
}

/* Numbers are little-endian in the file. */
static void swap_number(bshm_value_type type, void *bytes)
{
	uint64_t number;
	if (type == BSHM_VALUE_INT || type == BSHM_VALUE_FLOAT) {
		memcpy(&number, bytes, sizeof(number));
		number = bshm__little64(number);
		memcpy(bytes, &number, sizeof(number));
	}
}

/* Unix time less the engine clock, in whole seconds: 0 as long as the host's clock is not set. */
static int64_t wall_ahead_s(const bshm_segment *segment)
{
	return llround(bshm_os_wall_s() - (double) bshm__store_clock_ns(segment) / 1e9);
}

/* Writes a key's record, if it is there still; false: no private memory left. */
static bool write_record(writer *w, const bshm_key *key)
{
	bshm_found found;
	uint8_t *bytes;
	const int there = copy_value(w->segment, key, &w->patience, &found, &bytes);
	if (there <= 0) {
		return there == 0;
	}
	if (!is_kept(found.type, found.length)) { /* damaged: no such file could be restored */
		free(bytes);
		return true;
	}
	const uint64_t expires_s = found.expires_s == 0 ? 0 : (uint64_t) (found.expires_s + w->ahead_s);
	swap_number(found.type, bytes);
	const uint64_t flags =
		(uint64_t) found.type | ((found.state & BSHM_SLOT_PROTECTED) != 0 ? FLAG_PROTECTED : 0);
	const part head =
		part_of(recency(w, &found), expires_s, (uint64_t) key->length | found.length << 32, flags);
	bshm__output_put(&w->out, head.bytes, sizeof(head.bytes));
	bshm__output_put(&w->out, key->bytes, key->length);
	bshm__output_put(&w->out, bytes, (size_t) found.length);
	free(bytes);
	w->count++;
	return true;
}

/* False: no private memory left. */
static bool write_all(writer *w)
{
	bshm_segment *segment = w->segment;
	bshm__output *out = &w->out;
	const double wall_s = bshm_os_wall_s();
	w->ahead_s = wall_ahead_s(segment);
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		w->shards[i].now = epoch_of(w, i);
	}
	const part head = part_of(MAGIC, VERSION, (uint64_t) (wall_s * 1e9), 0);
	bshm__output_put(out, head.bytes, sizeof(head.bytes));
	bshm_scan scan = {.cursor = 0};
	bool room = true;
	do {
		room = bshm_scan_next(segment, &scan, 0);
		for (unsigned i = 0; room && i < scan.count && out->status == BSHM_OK; i++) {
			room = scan.spaces[i] != BSHM_SPACE_CACHE || write_record(w, &scan.keys[i]);
		}
	} while (room && scan.cursor != 0 && out->status == BSHM_OK);
	bshm_scan_free(&scan);
	const part last = part_of(END, w->count, out->bytes, 0);
	bshm__output_put(out, last.bytes, sizeof(last.bytes) - sizeof(uint64_t));
	const uint64_t check = bshm__little64(bshm__output_check(out));
	bshm__output_put(out, &check, sizeof(check));
	return room;
}

bshm_status bshm_store_dump(
	bshm_segment *segment, const char *path, uint64_t *count, bshm_error *error)
{
	*count = 0;
	if (segment->shard_count == 0) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_NO_STORE);
	}
	writer w = {.segment = segment, .patience.batch = true};
	bshm_status status = bshm__output_open(&w.out, path, error);
	if (status == BSHM_OK && !write_all(&w)) {
		status = bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	*count = w.count;
	return bshm__output_close(&w.out, status);
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
		p.words[i] = bshm__little64(p.words[i]);
	}
	return p;
}

/* Reads the whole file into private memory, once its head says what it is; *bytes is NULL on
 * failure. *check is the XXH3-64 of all but its last word. */
static bshm_status read_file(bshm__input *in, uint8_t **bytes, uint64_t *check)
{
	uint8_t header[PART_BYTES];
	*bytes = NULL;
	bshm_status status = bshm__input_header(in, MAGIC, header, PART_BYTES);
	if (status != BSHM_OK) {
		return status;
	}
	const uint64_t version = part_at(header).words[1];
	if (version != VERSION) {
		return bshm__fail_sizes(
			in->error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_VERSION, VERSION, version);
	}
	if (in->bytes < 2 * PART_BYTES) {
		return bshm__fail(in->error, BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED);
	}
	const size_t last = (size_t) in->bytes - sizeof(uint64_t);
	uint8_t *all = bshm_os_private((size_t) in->bytes);
	if (all == NULL) {
		return bshm__fail(in->error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	}
	memcpy(all, header, PART_BYTES);
	status = bshm__input_get(in, all + PART_BYTES, last - PART_BYTES);
	*check = bshm__input_check(in);
	if (status == BSHM_OK) {
		status = bshm__input_get(in, all + last, sizeof(uint64_t));
	}
	if (status == BSHM_OK) {
		*bytes = all;
	} else {
		bshm_os_private_release(all, (size_t) in->bytes);
	}
	return status;
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
	return key_bytes(head) <= BSHM_KEY_BYTES_MAX &&
		   (uint64_t) key_bytes(head) + value_bytes(head) <= BSHM_RECORD_BYTES_MAX &&
		   head->words[3] <= (FLAG_TYPE | FLAG_PROTECTED) &&
		   is_kept(head->words[3] & FLAG_TYPE, value_bytes(head));
}

/* Checks everything behind the head; items[] are the records, *count of them. `all` is the
 * checksum of a file that ends with its end part. */
static bshm_status check_file(const uint8_t *bytes, uint64_t size, uint64_t all, item *items,
	uint64_t *count, bshm_error *error)
{
	*count = 0;
	uint64_t off = PART_BYTES;
	while (size - off >= PART_BYTES) {
		const part next = part_at(bytes + off);
		if (next.words[0] == END) {
			const bool whole = off + PART_BYTES == size;
			const uint64_t check =
				whole ? all : bshm__checksum(bytes, (size_t) off + PART_BYTES - 8, 0);
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
		items[(*count)++] = (item){next.words[0], off};
		off += length;
	}
	return bshm__fail(error, BSHM_E_CORRUPT, BSHM_CAUSE_TRUNCATED);
}

/* When a record expires, by the store's clock; 0 = never. False: it has. */
static bool has_time(
	const bshm_segment *segment, const part *head, int64_t ahead_s, uint32_t *expires_s)
{
	*expires_s = 0;
	if (head->words[1] == 0) {
		return true;
	}
	const uint32_t now_s = bshm__store_now_s(segment);
	const double left_s = (double) head->words[1] - (double) ahead_s - now_s;
	if (left_s < 1) {
		return false;
	}
	*expires_s = now_s + (left_s > BSHM_TTL_MAX_S ? BSHM_TTL_MAX_S : (uint32_t) left_s);
	return true;
}

/* Puts a record in, if it is absent and has time left: 1 or 0, or the lock's failure. */
static int put_item(bshm_segment *segment, uint8_t *bytes, int64_t ahead_s, bshm_patience *patience,
	bshm_error *error)
{
	const part head = part_at(bytes);
	uint32_t expires_s;
	if (!has_time(segment, &head, ahead_s, &expires_s)) {
		return 0;
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
		.is_restored = true,
		.is_protected = (head.words[3] & FLAG_PROTECTED) != 0,
		.patience = patience,
	};
	return bshm_record_put(segment, &put, error);
}

/* Puts the items in, the oldest first: of more than there may be, the newest with time left. */
static bshm_status put_items(bshm_segment *segment, uint8_t *bytes, item *items, uint64_t records,
	uint64_t *count, bshm_error *error)
{
	const uint64_t limit = segment->cache_records;
	const int64_t ahead_s = wall_ahead_s(segment);
	bshm_patience patience = {.batch = true};
	uint64_t left = limit == 0 ? records : limit;
	uint64_t first = records;
	qsort(items, (size_t) records, sizeof(item), older_first);
	while (left > 0 && first > 0) {
		const part head = part_at(bytes + items[--first].off);
		uint32_t expires_s;
		left -= has_time(segment, &head, ahead_s, &expires_s);
	}
	for (uint64_t i = first; i < records; i++) {
		const int put = put_item(segment, bytes + items[i].off, ahead_s, &patience, error);
		if (put < 0) {
			return put;
		}
		*count += put == 1;
	}
	return BSHM_OK;
}

bshm_status bshm_store_restore(
	bshm_segment *segment, const char *path, uint64_t *count, bshm_error *error)
{
	*count = 0;
	if (segment->shard_count == 0 || !segment->store_writable) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_NO_STORE);
	}
	bshm__input in;
	uint8_t *bytes;
	uint64_t check;
	bshm_status status = bshm__input_open(&in, path, error);
	if (status == BSHM_OK) {
		status = read_file(&in, &bytes, &check);
	}
	bshm__input_close(&in);
	if (status != BSHM_OK) {
		return status;
	}
	uint64_t records = 0;
	const size_t room = (size_t) (in.bytes / PART_BYTES + 1) * sizeof(item);
	item *items = bshm_os_private(room);
	status = items == NULL ? bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY)
						   : check_file(bytes, in.bytes, check, items, &records, error);
	if (status == BSHM_OK) {
		status = put_items(segment, bytes, items, records, count, error);
	}
	bshm_os_private_release(items, room);
	bshm_os_private_release(bytes, (size_t) in.bytes);
	return status;
}
