/*
 * bshm_records.h - the engine: the record store of a segment, and leases on loads.
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
	BSHM_VALUE_NOTHING /* of a key that a filter knows and the backend does not: bytes of its set */
} bshm_value_type;

typedef struct {
	bshm_value_type type;
	const void *bytes;
	uint64_t length;
} bshm_value;

#define BSHM_KEY_BYTES_MAX    65535
#define BSHM_RECORD_BYTES_MAX (UINT64_C(64) << 20) /* key and value; and a quarter of the store */
#define BSHM_TTL_MAX_S        315360000

/* Keys of two spaces have nothing in common: users' own, and those of fetches. */
#define BSHM_SPACE_CACHE 0u
#define BSHM_SPACE_FETCH 1u

/*
 * What the waits for locks of one call with many keys have in common: all zero to begin with. For
 * the first lock that it cannot get, the call waits 50 ms (`batch`: a second); for later ones it
 * does not wait. All waits for locks that it gets end after a second together (`batch`: no limit).
 * Time by which it wakes late, because it got no processor, does not count, up to 150 ms. It always
 * gets a lock that is free, or is so within microseconds.
 */
typedef struct {
	bool batch;
	bool gone; /* a lock was not to be had */
	uint64_t waited_ns;
	uint64_t copying_since_ns; /* bshm_record_copy() */
	bool counted;              /* the limit was counted anew, as after a death, or could not be */
} bshm_patience;

/* Has the segment a record store? */
bool bshm_store_exists(const bshm_segment *segment);

/*
 * A record that was found: what kind of value it has, and how long that is. Its bytes are fetched
 * with bshm_found_copy(). Nothing is held: it may be replaced meanwhile. A value of 8 to 32 bytes
 * may have been fetched with it: bshm_found_short() then copies it, and cannot fail.
 */
#define BSHM_SHORT_MIN 8u
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

/* Copies the value of found->length bytes that was fetched: two moves that may overlap, no loop. */
static inline void bshm_found_short(const bshm_found *found, void *to)
{
	const uint8_t *end = found->value + found->length;
	uint8_t *to_end = (uint8_t *) to + found->length;
	if (found->length <= 16) {
		memcpy(to, found->value, 8);
		memcpy(to_end - 8, end - 8, 8);
	} else {
		memcpy(to, found->value, 16);
		memcpy(to_end - 16, end - 16, 16);
	}
}

#define BSHM_FIND_USE   1u /* a use: sets the record's recency, and counts a hit or a miss */
#define BSHM_FIND_STALE 2u /* records that have expired are found too */
#define BSHM_FIND_VALUE 4u /* if the value is fetched, only type, length and value are set */

/*
 * Looks a key up. 1 = found, 0 = absent or expired; UNAVAILABLE (no record store). Takes no lock
 * and never waits. Cost: one hash and two or three lines of the processor's cache.
 */
int bshm_record_find(
	bshm_segment *segment, uint32_t space, const bshm_key *key, unsigned flags, bshm_found *found);
/* The same for 1..BSHM_BATCH keys: all memory is requested before any is used. */
int bshm_record_find_many(bshm_segment *segment, uint32_t space, const bshm_key *keys,
	unsigned count, unsigned flags, bshm_found *found, bool *present);
/*
 * Asks for the memory that changes of 1..BSHM_BATCH keys, soon after, will look at, so that they do
 * not wait for it one by one: a hint, which takes no lock and changes nothing.
 */
void bshm_records_prefetch(
	bshm_segment *segment, uint32_t space, const bshm_key *keys, unsigned count);
/*
 * Copies the value out, which takes found->length bytes, without a lock. False: it was replaced or
 * removed meanwhile, and what is in `to` is worth nothing: find it again.
 */
bool bshm_found_copy(const bshm_found *found, void *to);
/*
 * For a value that was replaced while it was copied: finds it and copies it into `room`, again
 * until it did not change during the copy. Takes no lock and does not wait, if the value is a short
 * one, or if all copies of a call together take less than 10 ms. After that, a large value (more
 * than 4 kB) is copied under its shard's lock, so that its writers cannot keep it from its readers;
 * for the lock it waits as `patience` says. 1 = copied, 0 = absent; BUSY: call again with room for
 * found->length bytes; TIMEOUT, UNAVAILABLE: it could not be copied. `flags` as bshm_record_find().
 */
typedef struct {
	void *bytes;
	uint64_t count;
} bshm_room;
int bshm_record_copy(bshm_segment *segment, uint32_t space, const bshm_key *key, unsigned flags,
	const bshm_room *room, bshm_patience *patience, bshm_found *found, bshm_error *error);
/* The same for the key: found->key_length bytes. */
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
	const bshm_value *expected;
	bshm_patience *patience; /* NULL: it is a call of its own */
} bshm_put;

/*
 * Stores a record with one step: others see the old one or the new one. 1 = stored, 0 = not,
 * because of the mode, or because key and value are larger than the store takes (a SET then removes
 * what was there). TIMEOUT, UNAVAILABLE. Waits 50 ms for the shard's lock (bshm_patience). When
 * there is no room, it evicts records that have long not been used.
 */
int bshm_record_put(bshm_segment *segment, const bshm_put *put, bshm_error *error);

/*
 * Adds `by` to an int (`down`: takes it away), or stores that of `initial` with this ttl where
 * there is none; an existing record keeps its ttl. INCOMPATIBLE (not an int), RANGE (past the
 * edge), NO_SPACE, TIMEOUT, UNAVAILABLE.
 */
bshm_status bshm_record_increment(bshm_segment *segment, const bshm_key *key, int64_t by, bool down,
	int64_t initial, uint32_t ttl_s, int64_t *out, bshm_error *error);
/* Appends to a string, after `delimiter`, or stores `suffix` where there is none; as above. */
bshm_status bshm_record_append(bshm_segment *segment, const bshm_key *key, const bshm_key *suffix,
	const bshm_key *delimiter, uint64_t *length, bshm_error *error);
/* Sets the ttl of a record. 1 = done, 0 = absent. */
int bshm_record_touch(
	bshm_segment *segment, const bshm_key *key, uint32_t ttl_s, bshm_error *error);
/* 1 = removed, 0 = was absent (or had expired). */
int bshm_record_remove(
	bshm_segment *segment, uint32_t space, const bshm_key *key, bshm_error *error);
/* Removes what was found, if it is that still. 1 or 0. `patience`: NULL, or that of a call with
 * many keys. */
int bshm_found_remove(
	const bshm_found *found, const bshm_key *key, bshm_patience *patience, bshm_error *error);
/*
 * Removes users' records whose keys begin with the prefix; if it is empty, all records of both
 * spaces. No value that is being loaded is stored any more. Returns how many users' records that
 * had not expired it removed. Waits for a lock as a call with many keys (bshm_patience), and counts
 * each record that has to stay, because a lock was not to be had, as a timeout. Holds a lock for
 * the work of some hundred removals at a time.
 */
uint64_t bshm_records_clear(bshm_segment *segment, const bshm_key *prefix);
/* The least recently used record of users' keys that has not expired. 1 = found, 0 = there is
 * none. */
int bshm_record_oldest(bshm_segment *segment, bshm_found *found);

/*
 * Walks the records: all zero to begin with; a cursor of 0 after a step is the end. A step gives
 * the keys of a few neighbouring places; every record that is not written meanwhile comes exactly
 * once. False: no private memory left. Takes no lock. Any cursor is harmless.
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
	uint64_t records; /* with those that have expired and were not taken out yet */
	uint64_t max_records;
	uint64_t bytes_used; /* pages given to a size of slots, and all structures around them */
	uint64_t bytes_total;
	uint64_t data_bytes; /* of keys and values */
	uint64_t hits;
	uint64_t misses;
	uint64_t sets;
	uint64_t evictions;
	uint64_t expired; /* records that were taken out because they had */
	uint64_t rejected;
	uint64_t lock_timeouts;
	uint64_t repairs;
	uint64_t shards;
} bshm_store_info;

/* UNAVAILABLE. Takes no lock. */
bshm_status bshm_store_stat(const bshm_segment *segment, bshm_store_info *out);

/*
 * Writes users' records to a file, as bshm_filter_dump() does a filter; *count is how many. Those
 * that are written or removed meanwhile may be in it or not. IO, NO_SPACE (private memory),
 * UNAVAILABLE.
 */
bshm_status bshm_store_dump(
	bshm_segment *segment, const char *path, uint64_t *count, bshm_error *error);
/*
 * Puts in what such a file holds and is neither there nor expired, from the least recently used to
 * the most; *count is how many. The whole file is checked before the first is put. IO, CORRUPT,
 * INCOMPATIBLE, NO_SPACE (private memory: the file's size), TIMEOUT, UNAVAILABLE.
 */
bshm_status bshm_store_restore(
	bshm_segment *segment, const char *path, uint64_t *count, bshm_error *error);

/* ------------------------------------------------------------------ leases */

/* Are values stored for keys of filters (BSHM_SPACE_FETCH)? Then an add to a filter is followed by
 * bshm_record_forget() of the key. */
void bshm_store_note_fetch(bshm_segment *segment);
bool bshm_store_has_fetched(const bshm_segment *segment);

/* One process at a time loads what belongs to a key; the lease ends with the process. */
typedef struct {
	uint64_t hash;
	uint64_t serial; /* 0 = none was given */
	uint32_t shard;
	uint32_t slot;
	uint32_t begun_s; /* when it was given, by the clock of the records */
} bshm_lease_grant;

typedef enum {
	BSHM_LEASE_MINE,  /* load, then release it */
	BSHM_LEASE_TAKEN, /* another loads it: wait, or take what there is */
	BSHM_LEASE_OWN,   /* this thread is loading it just now, further up: load */
	BSHM_LEASE_NONE   /* there is none to be had: load without */
} bshm_lease_status;

/*
 * `beside`: where others load it already, too. MINE: *grant is to be released. TAKEN: it says for
 * whom to wait. A key of which no value could be stored of late is not waited for: there is MINE
 * for all.
 */
bshm_lease_status bshm_lease_take(bshm_segment *segment, uint32_t space, const bshm_key *key,
	bool beside, bshm_lease_grant *grant);
/* Is that lease still out, and its owner alive? `probe`: asks the kernel about the process. */
bool bshm_lease_held(bshm_segment *segment, const bshm_lease_grant *grant, bool probe);
/* Has what was loaded under that lease, now ended, or another for the key, not been stored of
 * late? */
bool bshm_lease_unstored(bshm_segment *segment, const bshm_lease_grant *grant);
/* May an expired record stand in for what is being loaded? Its time has passed at most 5 s before
 * that. */
bool bshm_lease_allows_stale(const bshm_lease_grant *grant, const bshm_found *found);
/*
 * Gives the lease back and stores `put` with it in one step, if it is still out: every change of
 * the key's value since has ended it. NULL: nothing was loaded. 1 = stored, 0 = not; waiters for
 * the value are told of a put that stores nothing.
 */
int bshm_lease_release(
	bshm_segment *segment, const bshm_lease_grant *grant, const bshm_put *put, bshm_error *error);
/*
 * The record of this key, and what is just being loaded for it, are void. 1 = there was a record.
 * Quick where neither is the case. `patience`: NULL, or that of a call with many keys.
 */
int bshm_record_forget(bshm_segment *segment, uint32_t space, const bshm_key *key,
	bshm_patience *patience, bshm_error *error);

#endif
