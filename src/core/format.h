/*
 * format.h - every struct that lives in the segment, and nothing else.
 *
 * Positions are numbers, never pointers; integers are in the byte order of the machine (the
 * magic word tells them apart). docs/FORMAT.md says the same in prose, byte by byte;
 * docs/CONCURRENCY.md argues why each word may be read without a lock. A change here changes
 * the layout word by itself where sizes or offsets move, and needs a new BSHM_LAYOUT_VERSION
 * where only the meaning does.
 *
 * The regions of the file, each beginning on a 4 kB boundary, in this order:
 *
 *      +----------------------+
 *      | bshm_header          |  one page
 *      +----------------------+
 *      | bshm_owner [2048]    |  attached processes
 *      +----------------------+
 *      | bshm_op [64]         |  work in progress: loads, copies, clears
 *      +----------------------+
 *      | uint32 heads[]       |  name hash -> first entry of a chain
 *      +----------------------+
 *      | bshm_entry []        |  one filter each
 *      +----------------------+
 *      | uint64 tags[]        |  journal chunk -> serial of the op it belongs to
 *      +----------------------+
 *      | bshm_chunk []        |  journal: keys added while an op builds
 *      +----------------------+
 *      | uint32 links[]       |  partition -> next partition of a scattered run
 *      +----------------------+
 *      | partitions           |  8 kB of filter bits each
 *      +----------------------+
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_FORMAT_H
#define BSHM_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define BSHM_STATIC_ASSERT(name, condition) typedef char bshm_assert_##name[(condition) ? 1 : -1]
#define BSHM_AT(type, field, offset)                                                               \
 BSHM_STATIC_ASSERT(type##_##field, offsetof(bshm_##type, field) == (offset))

#define BSHM_LAYOUT_VERSION 1

#define BSHM_MAGIC           UINT64_C(0x4d485342304d4c42) /* "BLM0BSHM" in little-endian bytes */
#define BSHM_PAGE_BYTES      4096u
#define BSHM_PARTITION_BYTES 8192u
#define BSHM_PARTITION_BITS  65536u
#define BSHM_PARTITION_WORDS 1024u
#define BSHM_NAME_MAX        63u
#define BSHM_OWNER_COUNT     2048u
#define BSHM_OP_COUNT        64u
#define BSHM_ENTRY_COUNT_MIN 128u
#define BSHM_ENTRY_COUNT_MAX 16384u
#define BSHM_CHUNK_COUNT_MIN 16u
#define BSHM_CHUNK_COUNT_MAX 1024u
#define BSHM_CHUNK_HASHES    255u
#define BSHM_PARTITION_MAX   (1u << 30)

/*
 *  off   0                 8                 16                24
 *      +-----------------+-----------------+-----------------+-----------------+
 *   0: | magic           | layout          | segment_bytes   | name_seed       |
 *      +--------+--------+--------+--------+-----------------+-----------------+
 *  32: | parts  | entries| heads  | chunks | created_s       | check           |
 *      +--------+--------+--------+--------+-----------------+-----------------+
 *  64: | lock            | serial          | intent| from| to| intent_generation
 *      +-----------------+-----------------+-----------------+-----------------+
 * 128: | directory_version
 *      +-----------------+-----------------+
 * 192: | repairs         | lock_timeouts   |
 *      +-----------------+-----------------+
 *
 *  magic..check        written once by the creator before the file has its name
 *  lock                by compare-and-swap: 0 = free, else the owner word (slot + 1 in the low 16
 *                      bits, the slot's generation above)
 *  serial..to, intent_generation
 *                      under the lock
 *  directory_version   under the lock: odd while chains or names change
 *  repairs, lock_timeouts  fetch_add by anyone
 */
typedef struct {
	uint64_t magic;
	uint64_t layout;
	uint64_t segment_bytes;
	uint64_t name_seed; /* secret; seeds name hashes and checksums */
	uint32_t partition_count;
	uint32_t entry_count;
	uint32_t head_count; /* a power of two */
	uint32_t chunk_count;
	uint64_t created_s; /* unix time */
	uint64_t check;     /* XXH3-64 of the bytes before it, seed 0 */
	uint64_t lock;
	uint64_t serial; /* of the newest op */
	uint32_t intent; /* 1: a rename is being carried out */
	uint32_t intent_from;
	uint32_t intent_to;
	uint32_t reserved0;
	uint64_t intent_generation; /* of `to` once the rename has published it */
	uint8_t reserved1[24];
	uint64_t directory_version;
	uint8_t reserved2[56];
	uint64_t repairs;
	uint64_t lock_timeouts;
	uint8_t reserved3[3888];
} bshm_header;

BSHM_STATIC_ASSERT(header, sizeof(bshm_header) == BSHM_PAGE_BYTES);
BSHM_AT(header, magic, 0);
BSHM_AT(header, layout, 8);
BSHM_AT(header, segment_bytes, 16);
BSHM_AT(header, name_seed, 24);
BSHM_AT(header, partition_count, 32);
BSHM_AT(header, entry_count, 36);
BSHM_AT(header, head_count, 40);
BSHM_AT(header, chunk_count, 44);
BSHM_AT(header, created_s, 48);
BSHM_AT(header, check, 56);
BSHM_AT(header, lock, 64);
BSHM_AT(header, serial, 72);
BSHM_AT(header, intent, 80);
BSHM_AT(header, intent_from, 84);
BSHM_AT(header, intent_to, 88);
BSHM_AT(header, intent_generation, 96);
BSHM_AT(header, directory_version, 128);
BSHM_AT(header, repairs, 192);
BSHM_AT(header, lock_timeouts, 200);

/*
 *  off   0                 8
 *      +-----------------+-----------------+
 *   0: | generation      | pid             |
 *      +-----------------+-----------------+
 *
 *  generation, pid   by the process that holds the kernel's lock on the slot's byte
 *  (offset BSHM_OWNER_LOCK_OFF + slot of the file). The lock is the truth; pid is for people.
 */
typedef struct {
	uint64_t generation; /* one more with every process that takes the slot */
	uint64_t pid;
} bshm_owner;

BSHM_STATIC_ASSERT(owner, sizeof(bshm_owner) == 16);
BSHM_AT(owner, generation, 0);
BSHM_AT(owner, pid, 8);

#define BSHM_OWNER_LOCK_OFF  (INT64_C(1) << 62) /* far beyond any byte that holds data */
#define BSHM_CREATE_LOCK_OFF ((INT64_C(1) << 62) - 1)

/*
 * A run: the partitions of one filter, in order. check 0: `count` neighbours from `first` on.
 * Else the run is scattered: links[first] is its second partition and so on, and check is a
 * checksum of the whole list, seeded with name_seed and never 0 (blocks.c).
 */
typedef struct {
	uint32_t first;
	uint32_t count;
	uint64_t check;
} bshm_run;

/*
 *  off   0                 8                 16                24
 *      +-----------------+-----------------+-----------------+-----------------+
 *   0: | owner           | serial          | seed            | entry  | kind   |
 *      +-----------------+-----------------+-----------------+-----------------+
 *  32: | run: first|count| run: check      | check           | pending         |
 *      +--------+--------+-----------------+-----------------+-----------------+
 *  64: | chunk  | lost   | done   |
 *      +--------+--------+--------+
 *
 *  owner            under the lock; set to 0 by its owner at any time (gives everything up)
 *  serial..check    under the lock
 *  pending..done    under the lock; pending is read by the owner without it
 */
typedef struct {
	uint64_t owner; /* owner word as in the header's lock; 0 = free */
	uint64_t serial;
	uint64_t seed;  /* keys in the journal are hashed with it */
	uint32_t entry; /* index + 1 of the entry this op will publish; 0 = nothing to tidy up */
	uint32_t kind;  /* BSHM_OP_* */
	bshm_run run;   /* partitions taken, not yet published; count 0 = none */
	uint64_t check; /* XXH3-64 of serial..run, seeded with name_seed */
	uint64_t pending;
	uint32_t chunk; /* index + 1 of the journal chunk in use */
	uint32_t lost;  /* 1: the journal was full, and a build must not publish */
	uint32_t done;  /* clear: partitions zeroed by those who finish it for a dead owner */
	uint8_t reserved[52];
} bshm_op;

BSHM_STATIC_ASSERT(op, sizeof(bshm_op) == 128);
BSHM_AT(op, owner, 0);
BSHM_AT(op, serial, 8);
BSHM_AT(op, seed, 16);
BSHM_AT(op, entry, 24);
BSHM_AT(op, kind, 28);
BSHM_AT(op, run, 32);
BSHM_AT(op, check, 48);
BSHM_AT(op, pending, 56);
BSHM_AT(op, chunk, 64);
BSHM_AT(op, lost, 68);
BSHM_AT(op, done, 72);

#define BSHM_OP_BUILD   1u
#define BSHM_OP_CLEAR   2u
#define BSHM_OP_RESERVE 3u /* keeps no journal: adds to a filter that never stood change nothing */

/*
 *  off   0                 8                 16                24
 *      +-----------------+-----------------+-----------------+-----------------+
 *   0: | generation      | seed            | capacity        | error_rate      |
 *      +-----------------+--------+--------+-----------------+-----------------+
 *  32: | published_s     | state  | hashes | expansion|window| run: first|count|
 *      +-----------------+--------+--------+-----------------+-----------------+
 *  64: | run: check      | reserved (zero)                            | check  |
 *      +-----------------+-----------------+-----------------+-----------------+
 *
 *  Written under the lock while it is not the one that the entry's generation selects.
 */
typedef struct {
	uint64_t generation; /* equals the entry's while this descriptor is in force */
	uint64_t seed;
	uint64_t capacity;    /* keys */
	uint64_t error_rate;  /* the bits of a double */
	uint64_t published_s; /* the bits of a double: unix time */
	uint32_t state;       /* BSHM_STATE_* */
	uint32_t hash_count;  /* probes a key, 1..BSHM_HASHES_MAX */
	uint32_t expansion;
	uint32_t window_s;
	bshm_run run;
	uint8_t reserved[48];
	uint64_t check; /* XXH3-64 of the bytes before it, seeded with name_seed */
} bshm_descriptor;

BSHM_STATIC_ASSERT(descriptor, sizeof(bshm_descriptor) == 128);
BSHM_AT(descriptor, generation, 0);
BSHM_AT(descriptor, seed, 8);
BSHM_AT(descriptor, capacity, 16);
BSHM_AT(descriptor, error_rate, 24);
BSHM_AT(descriptor, published_s, 32);
BSHM_AT(descriptor, state, 40);
BSHM_AT(descriptor, hash_count, 44);
BSHM_AT(descriptor, expansion, 48);
BSHM_AT(descriptor, window_s, 52);
BSHM_AT(descriptor, run, 56);
BSHM_AT(descriptor, reserved, 72);
BSHM_AT(descriptor, check, 120);

#define BSHM_STATE_ABSENT   0u /* no filter: every question is "maybe" */
#define BSHM_STATE_LIVE     1u
#define BSHM_STATE_CLEARING 2u /* bits are being zeroed: every question is "maybe" */
#define BSHM_HASHES_MAX     64u

/*
 *  off   0                 8        12       16
 *      +-----------------+--------+--------+
 *   0: | generation      | builders| next  |  read by every question
 *      +-----------------+--------+--------+
 *  64: | name: its length, its bytes, zeros |
 *      +-----------------+-----------------+
 * 128: | descriptor[0]                     |  in force while generation is even
 * 256: | descriptor[1]                     |  in force while generation is odd
 *      +-----------------+-----------------+
 * 384: | items[0]        | items[1]        |  written by every add of a new key
 *      +-----------------+-----------------+
 *
 *  generation   under the lock, release: the one store that publishes; grows for ever
 *  builders     under the lock: 1 while an op will publish here; adders then keep a journal
 *  next, name   under the lock, directory_version odd
 *  items[g & 1] fetch_add by adders of generation g; set before g is published
 */
typedef struct {
	uint64_t generation;
	uint32_t builders;
	uint32_t next; /* index + 1 of the next entry with this name hash; 0 = last */
	uint8_t reserved0[48];
	uint8_t name[BSHM_NAME_MAX + 1]; /* length 0: the entry is free */
	bshm_descriptor descriptor[2];
	uint64_t items[2];
	uint8_t reserved1[48];
} bshm_entry;

BSHM_STATIC_ASSERT(entry, sizeof(bshm_entry) == 448);
BSHM_AT(entry, generation, 0);
BSHM_AT(entry, builders, 8);
BSHM_AT(entry, next, 12);
BSHM_AT(entry, name, 64);
BSHM_AT(entry, descriptor, 128);
BSHM_AT(entry, items, 384);

/*
 * A journal chunk: hashes of keys that were added to a filter while an op was building its
 * next generation. Written and drained under the lock; `count` after the hash it counts.
 */
typedef struct {
	uint64_t low;
	uint64_t high;
} bshm_hash;

typedef struct {
	uint64_t count;
	uint64_t reserved;
	bshm_hash hash[BSHM_CHUNK_HASHES];
} bshm_chunk;

BSHM_STATIC_ASSERT(chunk, sizeof(bshm_chunk) == BSHM_PAGE_BYTES);
BSHM_AT(chunk, count, 0);
BSHM_AT(chunk, hash, 16);

/* Two builds that disagree about any size or place above refuse each other's segments. */
static inline uint64_t bshm__layout_word(void)
{
	const uint64_t parts[] = {
		BSHM_LAYOUT_VERSION,
		sizeof(bshm_header),
		sizeof(bshm_owner) * BSHM_OWNER_COUNT,
		sizeof(bshm_op) * BSHM_OP_COUNT,
		sizeof(bshm_entry),
		sizeof(bshm_descriptor),
		sizeof(bshm_chunk),
		BSHM_PARTITION_BYTES,
		offsetof(bshm_header, directory_version),
		offsetof(bshm_op, run),
		offsetof(bshm_descriptor, run),
		offsetof(bshm_entry, items),
	};
	uint64_t word = UINT64_C(0xcbf29ce484222325); /* FNV-1a, a part at a time */
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		word = (word ^ parts[i]) * UINT64_C(0x100000001b3);
	}
	return word;
}

#endif
