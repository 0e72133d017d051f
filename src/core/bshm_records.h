/*
 * bshm_records.h - the engine: the record store of a segment, and leases on loads.
 *
 * A key has 0 to BSHM_KEY_BYTES_MAX bytes, a ttl 0 (none) or 1 to BSHM_TTL_MAX_S seconds: the
 * caller checks that. Every function with a status returns UNAVAILABLE where there is no record
 * store. A function that changes a record takes the lock of the key's shard, for which it waits 50
 * ms: TIMEOUT; UNAVAILABLE also if this process cannot take locks. Its cost is one hash, a few
 * cache misses and the copy of the value, and the eviction of as many records as are in the way.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_RECORDS_H
#define BSHM_RECORDS_H

#include "core/bshm.h"

#include <string.h>

/* ------------------------------------------------------------------ records */

/* What a value is. The engine keeps the bytes; numbers are 8 of them in the machine's order. */
typedef enum {
	BSHM_VALUE_NULL,
	BSHM_VALUE_FALSE,
	BSHM_VALUE_TRUE,
	BSHM_VALUE_INT,
	BSHM_VALUE_FLOAT,
	BSHM_VALUE_STRING,
	BSHM_VALUE_PHP,      /* serialized */
	BSHM_VALUE_IGBINARY, /* serialized */
	BSHM_VALUE_NOTHING   /* a filter says maybe, the backend has no value: a bshm_set */
} bshm_value_type;

typedef struct {
	bshm_value_type type;
	const void *bytes;
	uint64_t length;
} bshm_value;

#define BSHM_KEY_BYTES_MAX    65535
#define BSHM_RECORD_BYTES_MAX (UINT64_C(64) << 20) /* key and value; and a quarter of the store */
#define BSHM_TTL_MAX_S        315360000

/* The same key in two spaces names two records: keys of users, and keys of fetches. */
#define BSHM_SPACE_CACHE 0u
#define BSHM_SPACE_FETCH 1u

/*
 * The patience of one call with many keys, all zero to begin with. For the first lock that is not
 * free in time, the call waits 50 ms (`batch`: a second); for later ones it does not wait. All its
 * waits together end after a second (`batch`: no limit). Time by which it wakes late, because it
 * got no processor, does not count, up to 150 ms a wait. It gets a lock that is free, or becomes
 * free within microseconds, unless another process has waited for that one for 5 ms.
 */
typedef struct {
	bool batch;
	bool gone; /* a lock was not free in time */
	uint64_t waited_ns;
	uint64_t copying_since_ns; /* bshm_record_copy() */
	bool counted;              /* the limit was counted anew, as after a death, or could not be */
	uint64_t no_lease;         /* bshm_lease_take(): a bit for each shard that had none to give */
	uint64_t no_parking;       /* the same: another process does not end a large put there */
	uint64_t parking_ns;       /* spent waiting for such processes */
} bshm_patience;

/* Has the segment a record store? */
bool bshm_store_exists(const bshm_segment *segment);

/*
 * A record that was found: the type and length of its value. bshm_found_copy() copies the bytes.
 * Nothing is held: the record may be replaced meanwhile. A value of up to BSHM_SHORT_MAX bytes may
 * have been fetched with it: then bshm_found_short() copies it, and cannot fail.
 */
#define BSHM_SHORT_MAX 32u
typedef struct {
	bshm_value_type type;
	uint32_t key_length;
	uint64_t length;    /* of the value, in bytes */
	uint32_t expires_s; /* engine seconds; 0 = never */
	uint32_t space;
	uint8_t value[BSHM_SHORT_MAX]; /* if it was fetched */
	bool fetched;
	bool expired; /* only with BSHM_FIND_STALE */
	/* The engine's own. */
	bshm_segment *segment;
	uint8_t *slot;
	uint8_t *bytes;
	uint64_t sequence;
	uint32_t shard;
	uint32_t state;
	uint32_t shape;
	uint32_t first;
	uint32_t next;
} bshm_found;

/* Copies the value of found->length bytes that was fetched: moves that may overlap, no loop. */
static inline void bshm_found_short(const bshm_found *found, void *to)
{
	const size_t length = (size_t) found->length;
	const uint8_t *from = found->value;
	uint8_t *bytes = (uint8_t *) to;
	if (length > 16) {
		memcpy(bytes, from, 16);
		memcpy(bytes + length - 16, from + length - 16, 16);
	} else if (length >= 8) {
		memcpy(bytes, from, 8);
		memcpy(bytes + length - 8, from + length - 8, 8);
	} else if (length >= 4) {
		memcpy(bytes, from, 4);
		memcpy(bytes + length - 4, from + length - 4, 4);
	} else if (length != 0) {
		bytes[0] = from[0];
		bytes[length / 2] = from[length / 2];
		bytes[length - 1] = from[length - 1];
	}
}

#define BSHM_FIND_USE   1u /* a use: sets the record's recency, and counts a hit or a miss */
#define BSHM_FIND_STALE 2u /* records that have expired are found too */
#define BSHM_FIND_VALUE 4u /* if the value is fetched, only type, length and value are set */

/*
 * Looks a key up. 1 = found, 0 = absent or expired, or in constant change; UNAVAILABLE. Takes no
 * lock and never waits. Cost: one hash and two or three lines of the processor's cache.
 */
int bshm_record_find(
	bshm_segment *segment, uint32_t space, const bshm_key *key, unsigned flags, bshm_found *found);
/*
 * The same for 1..BSHM_BATCH keys; present[i]: was keys[i] found? Returns how many were. All memory
 * is requested before any is used.
 */
int bshm_record_find_many(bshm_segment *segment, uint32_t space, const bshm_key *keys,
	unsigned count, unsigned flags, bshm_found *found, bool *present);
/*
 * Requests the memory that changes of 1..BSHM_BATCH keys, soon after, will read, so that their
 * cache misses overlap: a hint, which takes no lock and changes nothing.
 */
void bshm_records_prefetch(
	bshm_segment *segment, uint32_t space, const bshm_key *keys, unsigned count);
/*
 * Copies the value, found->length bytes, without a lock. False: it was replaced or removed
 * meanwhile, and the bytes in `to` are not a value: find it again.
 */
bool bshm_found_copy(const bshm_found *found, void *to);
/*
 * For a value that was replaced while it was copied: finds it and copies it into `room`, again
 * until it did not change during the copy. Takes no lock and does not wait, if the value has at
 * most 4 kB, or if all copies of a call together take less than 10 ms. After that, a larger value
 * is copied under its shard's lock, so that its writers cannot keep it from its readers; for the
 * lock it waits as `patience` says, which must not be NULL. 1 = copied, 0 = absent; BUSY: call
 * again with room for found->length bytes; TIMEOUT, UNAVAILABLE: it could not be copied. `flags` as
 * bshm_record_find().
 */
typedef struct {
	void *bytes;
	uint64_t count;
} bshm_room;
int bshm_record_copy(bshm_segment *segment, uint32_t space, const bshm_key *key, unsigned flags,
	const bshm_room *room, bshm_patience *patience, bshm_found *found, bshm_error *error);
/* As bshm_found_copy(), for the key: found->key_length bytes. */
bool bshm_found_copy_key(const bshm_found *found, void *to);

typedef enum {
	BSHM_PUT_SET,
	BSHM_PUT_ADD,     /* only if absent */
	BSHM_PUT_REPLACE, /* only if present */
	BSHM_PUT_CAS,     /* only if it is `expected`, type and bytes; NULL: only if absent */
	BSHM_PUT_NEVER    /* what was loaded is not to be stored: bshm_lease_release() */
} bshm_put_mode;

typedef struct {
	uint32_t space;
	bshm_key key;
	bshm_value value;
	uint32_t ttl_s;     /* 0 = none, else 1..BSHM_TTL_MAX_S */
	uint32_t expires_s; /* if not 0, instead: the engine second from which on it has expired */
	bshm_put_mode mode;
	bool is_protected; /* the record counts as used again in a later epoch: it was, before a dump */
	bool is_restored;  /* an add that finds a record is no use of it */
	bool keeps_ttl;    /* instead of `ttl_s` an existing record keeps its own expiry */
	const bshm_value *expected;
	bshm_patience *patience;              /* NULL: it is a call of its own */
	const struct bshm_lease_grant *lease; /* the engine's own: of bshm_lease_release() */
} bshm_put;

/*
 * Stores a record with one step: others see the old one or the new one. (Neither while a SET fills
 * a value for which a shard, of several, has no room beside the old one.) 1 = stored; 0 = not: the
 * mode forbids it, or key and value are larger than BSHM_RECORD_BYTES_MAX or a quarter of the
 * store, or there is no room. (If it does not fit, a SET removes an old record.) TIMEOUT,
 * UNAVAILABLE. When there is no room, it evicts records that have not been used for long. A value
 * of more than 256 kB is put in steps, with pauses in which the lock is free, and waits for the
 * lock at each.
 */
int bshm_record_put(bshm_segment *segment, const bshm_put *put, bshm_error *error);

typedef struct {
	bshm_key key;
	int64_t by;
	bool down;         /* subtracts `by` */
	int64_t initial;   /* the value before, where there is no record */
	uint32_t ttl_s;    /* of a new record; an existing one keeps its own */
	bool only_present; /* no record is created */
} bshm_increment;

/*
 * Adds to an int. 1 = done: *out is the new value; 0 = absent, with `only_present`. INCOMPATIBLE
 * (not an int), RANGE (past the edge of int64), NO_SPACE (no room), TIMEOUT, UNAVAILABLE: the
 * record stays as it was.
 */
int bshm_record_increment(
	bshm_segment *segment, const bshm_increment *increment, int64_t *out, bshm_error *error);
/*
 * Appends `delimiter` and `suffix` to a string, or stores `suffix` without a ttl where there is
 * none. *length is the new length in bytes. INCOMPATIBLE (not a string), NO_SPACE (larger than a
 * record may be, no room, or no private memory), TIMEOUT, UNAVAILABLE: the record stays as it was.
 */
bshm_status bshm_record_append(bshm_segment *segment, const bshm_key *key, const bshm_key *suffix,
	const bshm_key *delimiter, uint64_t *length, bshm_error *error);
/*
 * Sets the ttl of a record, which is a use of it. 1 = done, 0 = absent; NO_SPACE (it had none, and
 * must be put anew), TIMEOUT, UNAVAILABLE.
 */
int bshm_record_touch(
	bshm_segment *segment, const bshm_key *key, uint32_t ttl_s, bshm_error *error);
/* 1 = removed, 0 = was absent (or had expired); TIMEOUT, UNAVAILABLE. */
int bshm_record_remove(
	bshm_segment *segment, uint32_t space, const bshm_key *key, bshm_error *error);
/*
 * Removes the record that was found, if it is still the same. 1 or 0; TIMEOUT, UNAVAILABLE.
 * `patience`: NULL, or that of a call with many keys.
 */
int bshm_found_remove(
	const bshm_found *found, const bshm_key *key, bshm_patience *patience, bshm_error *error);
/*
 * Removes users' records whose keys begin with the prefix; if it is empty, all records of both
 * spaces. Values that are being loaded are not stored any more. Returns how many users' records
 * that had not expired it removed; 0 without a record store. Waits for locks as a call with many
 * keys (bshm_patience). If a lock is not free in time, the shard's records stay, each counts as a
 * timeout, and values that are being loaded into it may be stored. Holds a lock for at most about a
 * thousand removals. Cost: all buckets; with a prefix also all keys.
 */
uint64_t bshm_records_clear(bshm_segment *segment, const bshm_key *prefix);
/*
 * The least recently used record of users' keys that has not expired; with several shards, by an
 * estimate. 1 = found, 0 = there is none, BUSY = it has changed meanwhile, or the only ones have:
 * ask again. Takes no lock. Cost: the records are read once for each 64th of them that is removed,
 * and about 200 times until a store that was just filled is empty.
 */
int bshm_record_oldest(bshm_segment *segment, bshm_found *found);

/*
 * Walks the records: all zero to begin with; a cursor of 0 after a step is the end. A step gives
 * the keys of one home bucket; every record that is not written meanwhile comes exactly once.
 * `flags`: 0, or BSHM_FIND_STALE for expired ones too. False: no private memory left. Takes no
 * lock. Any cursor is harmless. The keys are valid until the next step; bshm_scan_free() ends the
 * walk.
 */
#define BSHM_SCAN_ROOM 64
typedef struct {
	uint64_t cursor;
	unsigned count;
	bshm_key keys[BSHM_SCAN_ROOM];
	uint32_t spaces[BSHM_SCAN_ROOM]; /* BSHM_SPACE_* */
	char *bytes;                     /* the engine's own */
	size_t room;
} bshm_scan;

bool bshm_scan_next(bshm_segment *segment, bshm_scan *scan, unsigned flags);
void bshm_scan_free(bshm_scan *scan);

typedef struct {
	uint64_t records;     /* with those that have expired and were not removed yet */
	uint64_t max_records; /* 0 = as many as fit */
	uint64_t bytes_used;  /* pages given to a size of slots, and all structures around them */
	uint64_t bytes_total;
	uint64_t data_bytes; /* of keys and values */
	uint64_t hits;
	uint64_t misses;
	uint64_t sets;
	uint64_t evictions;
	uint64_t expired;  /* expired records that were evicted; not those that were overwritten */
	uint64_t rejected; /* puts without room, or too large */
	uint64_t lock_timeouts;
	uint64_t repairs;
	uint64_t shards;
} bshm_store_info;

/*
 * OK or UNAVAILABLE. Takes no lock. Cost: all shards and 2,049 tallies. The counts are those since
 * the segment was created.
 */
bshm_status bshm_store_stat(const bshm_segment *segment, bshm_store_info *out);

/* What the pages of a class are for. */
typedef enum {
	BSHM_CLASS_FOR_RECORDS, /* a record in a slot, or the begin of a large one */
	BSHM_CLASS_FOR_PARTS,   /* the other parts of large records */
	BSHM_CLASS_FOR_INDEX    /* buckets */
} bshm_class_use;

typedef struct {
	bshm_class_use use;
	uint32_t slot_bytes;
	uint64_t bytes; /* of its pages */
	uint64_t slots;
	uint64_t used; /* slots */
} bshm_class_info;

#define BSHM_CLASSES_MAX 67
/*
 * The classes of slots that have a page, in the order of FORMAT.md: how many; 0 without a record
 * store. `out` takes BSHM_CLASSES_MAX. Takes no lock, so the counts may belong to different
 * moments. Cost: 67 counts for each shard.
 */
unsigned bshm_store_classes(const bshm_segment *segment, bshm_class_info *out);

/*
 * Writes users' records to a file, as bshm_filter_dump() does a filter; *count is how many. A
 * record that is written or removed meanwhile may be in the file or not. IO, NO_SPACE (private
 * memory), UNAVAILABLE. Takes no lock, but for large values as bshm_record_copy().
 */
bshm_status bshm_store_dump(
	bshm_segment *segment, const char *path, uint64_t *count, bshm_error *error);
/*
 * Puts the records of such a file that are absent and not expired, from the least recently used to
 * the most; if the store has a limit, only as many of the newest. *count is how many it put. The
 * whole file is checked before the first is put. IO, CORRUPT, INCOMPATIBLE, NO_SPACE (private
 * memory: up to 1.5 times the file's size), TIMEOUT (after a second), UNAVAILABLE: records that
 * were put stay.
 */
bshm_status bshm_store_restore(
	bshm_segment *segment, const char *path, uint64_t *count, bshm_error *error);

/* ------------------------------------------------------------------ leases */

/*
 * Notes that values are stored for keys of filters (BSHM_SPACE_FETCH), and says whether they are.
 * Then an add to a filter is followed by bshm_record_forget() of the key. Takes no lock.
 */
void bshm_store_note_fetch(bshm_segment *segment);
bool bshm_store_has_fetched(const bshm_segment *segment);

/* One process at a time loads the value of a key; the lease ends with the process. */
typedef struct bshm_lease_grant {
	uint64_t hash;
	uint64_t serial; /* 0 = none was given */
	uint32_t shard;
	uint32_t slot;
	uint32_t begun_s; /* when it was given, by the clock of the records */
} bshm_lease_grant;

typedef enum {
	BSHM_LEASE_MINE,  /* load, then release it */
	BSHM_LEASE_TAKEN, /* another loads it: wait, or return a stale value */
	BSHM_LEASE_OWN,   /* this thread loads it already, in an outer call: load */
	BSHM_LEASE_NONE   /* no lease is free, or no lock in time: load without, and do not store */
} bshm_lease_status;

/*
 * Takes a lease. MINE: *grant is to be released. TAKEN: *grant is the lease to wait for; not with
 * `beside`, which gives another lease beside it. If a value of the key could not be stored in the
 * last 5 s, processes do not wait for each other: all get MINE. Waits 50 ms for the shard's lock.
 * Cost: at most 256 leases.
 *
 * `patience`: NULL, or that of a call with many keys. Such a call leaves a quarter of the shard's
 * 256 leases to calls with one key, and does not ask a shard again that had none to give.
 */
bshm_lease_status bshm_lease_take(bshm_segment *segment, uint32_t space, const bshm_key *key,
	bool beside, bshm_patience *patience, bshm_lease_grant *grant);
/*
 * True: the lease has not ended; with `probe` also: the kernel says that its process is alive.
 * Takes no lock.
 */
bool bshm_lease_held(bshm_segment *segment, const bshm_lease_grant *grant, bool probe);
/* True: a value of the lease's key could not be stored in the last 5 s. Takes no lock. */
bool bshm_lease_unstored(bshm_segment *segment, const bshm_lease_grant *grant);
/*
 * True: an expired record may be returned instead of the value that is being loaded, because it
 * expired at most 5 s before the load began.
 */
bool bshm_lease_allows_stale(const bshm_lease_grant *grant, const bshm_found *found);
/*
 * Ends the lease, and stores `put` with it in one step, if no change of the key's value has ended
 * it before. `put` NULL: nothing was loaded. 1 = stored, 0 = not: then bshm_lease_unstored() tells
 * the waiters of a put that stored nothing. Waits a second for the shard's lock: TIMEOUT,
 * UNAVAILABLE; the lease has ended all the same. `patience`: NULL, or that of a call with many
 * keys, which waits as it says.
 */
int bshm_lease_release(bshm_segment *segment, const bshm_lease_grant *grant, const bshm_put *put,
	bshm_patience *patience, bshm_error *error);
/*
 * Removes the record of this key, and ends the leases of its loads. 1 = there was a record, 0 =
 * none; TIMEOUT, UNAVAILABLE. Takes no lock if the shard has no lease and the key no record.
 * `patience`: NULL, or that of a call with many keys.
 */
int bshm_record_forget(bshm_segment *segment, uint32_t space, const bshm_key *key,
	bshm_patience *patience, bshm_error *error);

#endif
