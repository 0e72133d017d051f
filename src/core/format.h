/*
 * format.h - the structs of the segment: what all parts share, and the filters.
 *
 * Positions are numbers, never pointers; integers are in the byte order of the machine (the magic
 * word tells the two orders apart). docs/FORMAT.md describes the same byte by byte;
 * docs/CONCURRENCY.md argues why each word may be read without a lock. The layout word (layout.h)
 * contains all sizes, but not all offsets. A change that it does not show needs a new
 * BSHM_LAYOUT_VERSION. Not here: the record store (format_store.h).
 *
 * The regions of the file, in this order; those of the filters, the store and the pages begin on a
 * 4 kB boundary:
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
 *      | bshm_layer []        |  the older layers of filters that have grown
 *      +----------------------+
 *      | uint64 tags[]        |  journal chunk -> serial of the op it belongs to
 *      +----------------------+
 *      | bshm_chunk []        |  journal: keys added while an op builds
 *      +----------------------+
 *      | uint32 links[]       |  partition -> next partition of a scattered run
 *      +----------------------+
 *      | uint64 epochs[]      |  partition -> epochs its lanes hold (sliding filters)
 *      +----------------------+
 *      | partitions           |  8 kB of filter bits each
 *      +----------------------+
 *      | bshm_store           |  the record store: what belongs to no shard
 *      +----------------------+
 *      | bshm_tally [2049]    |  what each attached process has looked up
 *      +----------------------+
 *      | bshm_shard_header [] |  a lock, its intent, its figures
 *      +----------------------+
 *      | bshm_lease []        |  256 a shard: which process loads which key
 *      +----------------------+
 *      | bshm_table []        |  where the buckets of the index are
 *      +----------------------+
 *      | bshm_page_header []  |  what each page is for
 *      | bshm_page_bitmap []  |  which slots of a page are taken, unless they are many
 *      +----------------------+
 *      | pages                |  16 kB each: records, and the index
 *      +----------------------+
 *
 * Without a record store the file ends with the partitions.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_FORMAT_H
#define BSHM_FORMAT_H

#include "core/bshm.h"
#include "core/format_kinds.h"

#include <stddef.h>
#include <stdint.h>

#define BSHM_STATIC_ASSERT(name, condition) typedef char bshm_assert_##name[(condition) ? 1 : -1]
#define BSHM_AT(type, field, offset)                                                               \
 BSHM_STATIC_ASSERT(type##_##field, offsetof(bshm_##type, field) == (offset))

#define BSHM_LAYOUT_VERSION 11

#define BSHM_MAGIC           UINT64_C(0x4d485342304d4c42) /* BSHM_SEGMENT_MAGIC: "BLM0BSHM" */
#define BSHM_PAGE_BYTES      4096u
#define BSHM_PARTITION_BYTES 8192u
#define BSHM_PARTITION_BITS  65536u
#define BSHM_PARTITION_WORDS 1024u
#define BSHM_NAME_MAX        63u
#define BSHM_OWNER_COUNT     2048u
#define BSHM_OP_COUNT        64u
#define BSHM_ENTRY_COUNT_MIN 128u
#define BSHM_ENTRY_COUNT_MAX ((uint32_t) BSHM_FILTER_COUNT_MAX)
#define BSHM_CHUNK_COUNT_MIN 16u
#define BSHM_CHUNK_COUNT_MAX 1024u
#define BSHM_CHUNK_HASHES    255u
#define BSHM_PARTITION_MAX   (1u << 30)
#define BSHM_LAYERS_MAX      32u

/*
 *  off   0                 8                 16                24
 *      +-----------------+-----------------+-----------------+-----------------+
 *   0: | magic           | layout          | segment_bytes   | name_seed       |
 *      +--------+--------+--------+--------+-----------------+-----------------+
 *  32: | parts  | entries| heads  | chunks | created_s       | check           |
 *      +--------+--------+--------+--------+-----------------+-----------------+
 *  64: | lock            | serial          | intent | from   | to     |        |
 *      +-----------------+-----------------+--------+--------+--------+--------+
 *  96: | intent_generat. | publications    | starv. |        | no_room         |
 *      +-----------------+-----------------+--------+--------+-----------------+
 * 128: | directory_vers. | clock_boot      | clock_offset    | clock_shift     |
 *      +-----------------+--------+--------+-----------------+-----------------+
 * 160: | clock_wall      | clock_ticks     | known  |
 *      +-----------------+-----------------+--------+
 * 192: | repairs         | lock_timeouts   |
 *      +--------+--------+--------+--------+-----------------+-----------------+
 * 256: | shards | tables | pages  |features| cache_records   | cache_bytes     |
 *      +--------+--------+--------+--------+-----------------+-----------------+
 * 288: | cache_check     |
 *      +-----------------+-----------------+
 * 320: | rest            | rest_clock      |
 *      +-----------------+-----------------+
 * 384: | sources: 16 of 208 bytes          |
 *      +-----------------------------------+
 *
 *  magic..check        written once by the creator before the file has its name
 *  lock                by compare-and-swap: 0 = free, else the owner word (slot + 1 in the low 16
 *                      bits, the slot's generation above)
 *  serial..publications
 *                      under the lock
 *  starving            by any process: 1 while a process has waited long for the lock; a hint
 *  no_room             under the lock; a hint
 *  directory_version   under the lock: odd while chains or names change
 *  clock_boot, clock_offset, clock_shift, clock_ticks, clock_shift_known
 *                      by the creator; on a disk by the first process after a reboot (clock.c)
 *  clock_wall          by the creator; by an attaching process that reads the same clock, and finds
 *                      it changed
 *  repairs, lock_timeouts
 *                      fetch_add by any process
 *  shard_count..cache_check
 *                      written once by the creator before the file has its name
 *  rest                on a disk, under the presence lock; shared only to store AWAKE (rest.c)
 *  rest_clock          on a disk, under the exclusive presence lock
 *  sources             under the lock, while no descriptor in force names the place (source.c)
 *
 *  features: a bit for each region or meaning that a later build adds without a new layout version.
 *  A build refuses a segment with a bit that it does not know. A segment keeps those that it was
 *  made with.
 */
#define BSHM_SOURCE_COUNT 16u

typedef struct {
	char text[BSHM_SOURCE_BYTES_MAX]; /* zeros behind it */
	uint64_t check;                   /* XXH3-64 of the text, seeded with name_seed */
} bshm_source;

BSHM_STATIC_ASSERT(source, sizeof(bshm_source) == 208);
BSHM_AT(source, check, 200);

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
	uint64_t publications;      /* the number that was given to a set of keys last */
	uint32_t starving;          /* 1: a process has waited long for the lock */
	uint32_t reserved1;
	uint64_t
		no_room; /* free partitions + 1 when they were too few; above, when that was: space.c */
	uint64_t directory_version;
	uint64_t clock_boot;        /* the system's boot that clock_offset belongs to; 0 = not known */
	uint64_t clock_offset;      /* engine clock = monotonic clock + this, in ns */
	uint64_t clock_shift;       /* in that monotonic clock, by its time namespace, in ns */
	uint64_t clock_wall;        /* engine clock less unix time, when last compared, in ns */
	uint64_t clock_ticks;       /* that monotonic clock less the kernel's count of ticks, in ns */
	uint32_t clock_shift_known; /* 1: clock_shift is */
	uint8_t reserved2[12];
	uint64_t repairs;
	uint64_t lock_timeouts;
	uint8_t reserved3[48];
	uint32_t shard_count;   /* 0 = no record store */
	uint32_t table_count;   /* a multiple of shard_count */
	uint32_t page_count;    /* a multiple of shard_count */
	uint32_t features;      /* BSHM_FEATURES_KNOWN, or fewer */
	uint64_t cache_records; /* at most; 0 = as many as fit */
	uint64_t cache_bytes;   /* as asked for: the record store's regions from the shards on fit in */
	uint64_t cache_check;   /* XXH3-64 of the bytes from shard_count on, seeded with name_seed */
	uint8_t reserved5[24];
	uint64_t rest;       /* BSHM_REST_* */
	uint64_t rest_clock; /* the engine clock when it was brought to rest */
	uint8_t reserved6[48];
	bshm_source sources[BSHM_SOURCE_COUNT];
	uint8_t reserved7[384];
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
BSHM_AT(header, publications, 104);
BSHM_AT(header, starving, 112);
BSHM_AT(header, no_room, 120);
BSHM_AT(header, directory_version, 128);
BSHM_AT(header, clock_boot, 136);
BSHM_AT(header, clock_offset, 144);
BSHM_AT(header, clock_shift, 152);
BSHM_AT(header, clock_wall, 160);
BSHM_AT(header, clock_ticks, 168);
BSHM_AT(header, clock_shift_known, 176);
BSHM_AT(header, repairs, 192);
BSHM_AT(header, lock_timeouts, 200);
BSHM_AT(header, shard_count, 256);
BSHM_AT(header, table_count, 260);
BSHM_AT(header, page_count, 264);
BSHM_AT(header, features, 268);
BSHM_AT(header, cache_records, 272);
BSHM_AT(header, cache_bytes, 280);
BSHM_AT(header, cache_check, 288);
BSHM_AT(header, rest, 320);
BSHM_AT(header, rest_clock, 328);
BSHM_AT(header, sources, 384);

/* A filter may follow that of another host; the segment ends with an outbox (format_outbox.h). */
#define BSHM_FEATURE_FLEET 1u

#define BSHM_FEATURES_KNOWN BSHM_FEATURE_FLEET

#define BSHM_REST_AWAKE   UINT64_C(0) /* processes may be writing; or the file lies in memory */
#define BSHM_REST_WAKING  UINT64_C(1) /* processes may write soon: this word is being synced */
#define BSHM_REST_SYNCING UINT64_C(2) /* the last process that used it syncs it */
#define BSHM_REST_ASLEEP                                                                           \
 UINT64_C(0x545345524d485342) /* all of the file is on its disk, and whole */

/*
 *  off   0                 8
 *      +-----------------+-----------------+
 *   0: | generation      | pid             |
 *      +-----------------+-----------------+
 *
 *  generation, pid   by the process that holds the kernel's lock on the slot's byte
 *  (offset BSHM_OWNER_LOCK_OFF + slot of the file). Only the lock tells whether the process lives;
 *  pid is for people.
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
/* On a disk: shared by every process that may write; held alone to wake the segment, or to bring it
 * to rest. */
#define BSHM_PRESENCE_LOCK_OFF ((INT64_C(1) << 62) - 2)
#define BSHM_TRIAL_LOCK_OFF    (INT64_C(1) << 61) /* 2^60 bytes from there on: owners.c */

/*
 * A run: the partitions of one filter, in order. check 0: `count` neighbours from `first` on.
 * Else the run is scattered: links[first] is its second partition and so on, and check is a
 * checksum of the whole list, seeded with name_seed and never 0 (run.c).
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
 *  64: | chunk  | lost   | done   |counting|promised|
 *      +--------+--------+--------+--------+--------+
 *
 *  owner            under the lock; set to 0 by its owner at any time (gives everything up)
 *  serial..check    under the lock
 *  pending..promised  under the lock; pending is read by the owner without it
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
	uint32_t chunk;    /* index + 1 of the journal chunk in use */
	uint32_t lost;     /* 1: the journal was full, and a build must not publish */
	uint32_t done;     /* clear: partitions zeroed by others, after the owner died */
	uint32_t counting; /* 1: the journal keeps a key as often as it was added */
	uint32_t promised; /* 1: keys were noted while there was no set, and are nowhere else */
	uint8_t reserved[44];
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
BSHM_AT(op, counting, 76);
BSHM_AT(op, promised, 80);

#define BSHM_OP_BUILD   1u
#define BSHM_OP_CLEAR   2u
#define BSHM_OP_RESERVE 3u /* keeps no journal: adds to a filter that is absent change nothing */
#define BSHM_OP_GROW    4u /* keeps no journal: the published filter has its keys */

/*
 *  off   0                 8                 16                24
 *      +-----------------+-----------------+-----------------+-----------------+
 *   0: | run: first|count| run: check      | capacity        | items_before    |
 *      +-----------------+--------+--------+-----------------+-----------------+
 *  32: | error_rate      | hashes | older  | older_check     | check           |
 *      +-----------------+--------+--------+-----------------+-----------------+
 *
 * One layer of a filter: the newest is in the filter's descriptor, older ones are in layers[], each
 * leading to the next older one. Written under the lock while no descriptor in force leads to it;
 * never changed while one does.
 */
typedef struct {
	bshm_run run;
	uint64_t capacity;     /* keys */
	uint64_t items_before; /* how many keys the older layers hold */
	uint64_t error_rate;   /* the bits of a double: this layer's share of the filter's */
	uint32_t hash_count;   /* probes a key, 1..BSHM_HASHES_MAX */
	uint32_t older;        /* index + 1 in layers[] of the layer before; 0 = this is the first */
	uint64_t older_check;  /* that layer's check; 0 = none */
	uint64_t check;        /* XXH3-64 of the bytes before it, seeded with name_seed */
} bshm_layer;

BSHM_STATIC_ASSERT(layer, sizeof(bshm_layer) == 64);
BSHM_AT(layer, run, 0);
BSHM_AT(layer, capacity, 16);
BSHM_AT(layer, items_before, 24);
BSHM_AT(layer, error_rate, 32);
BSHM_AT(layer, hash_count, 40);
BSHM_AT(layer, older, 44);
BSHM_AT(layer, older_check, 48);
BSHM_AT(layer, check, 56);

/*
 *  off   0                 8                 16                24
 *      +-----------------+-----------------+-----------------+-----------------+
 *   0: | generation      | seed            | capacity        | error_rate      |
 *      +-----------------+-----------------+-----------------+--------+--------+
 *  32: | published_s     | publication     | origin_ns       | state  | kind   |
 *      +--------+--------+--------+--------+-----------------+--------+--------+
 *  64: | expans.| window | slot   | layers | sized  | ep.base| max_lag| source |
 *      +--------+--------+--------+--------+--------+--------+--------+--------+
 *  96: | newest layer: 64 bytes                                                |
 *      +-----------------+-----------------+-----------------+-----------------+
 * 160: | source_epoch    | source_version  | as_of_ns        | check           |
 *      +-----------------+-----------------+-----------------+-----------------+
 *
 *  Written under the lock while it is not the one that the entry's generation selects.
 */
typedef struct {
	uint64_t generation; /* equals the entry's while this descriptor is in force */
	uint64_t seed;
	uint64_t capacity;    /* keys, as asked for */
	uint64_t error_rate;  /* the bits of a double, as asked for */
	uint64_t published_s; /* the bits of a double: unix time */
	uint64_t publication; /* of this set of keys: no other set has it; growing keeps it */
	uint64_t origin_ns;   /* sliding: epoch = epoch_base + (engine clock - origin) / width */
	uint32_t state;       /* BSHM_STATE_* */
	uint32_t kind;        /* BSHM_KIND_* */
	uint32_t expansion;   /* 0 = does not grow */
	uint32_t window_s;
	uint32_t items_slot;  /* which of the entry's two counters counts this set: 0 or 1 */
	uint32_t layer_count; /* 1..BSHM_LAYERS_MAX */
	uint32_t sized;       /* 1: the first layer was made for an expected number of keys */
	uint32_t epoch_base;  /* sliding: more than 0 once it has been cleared; wraps */
	uint32_t max_lag_s;   /* followed: stale if it lags more; 0 = never */
	uint32_t
		source; /* followed: index + 1 in the header's sources, and perhaps BSHM_SOURCE_SENDS */
	bshm_layer newest;
	uint64_t source_epoch; /* followed: as the origin numbers its publishers, and its versions */
	uint64_t source_version;
	uint64_t as_of_ns; /* the engine clock when the origin said so; 0 = not followed */
	uint64_t check;    /* XXH3-64 of the bytes before it, seeded with name_seed and the name */
} bshm_descriptor;

BSHM_STATIC_ASSERT(descriptor, sizeof(bshm_descriptor) == 192);
BSHM_AT(descriptor, generation, 0);
BSHM_AT(descriptor, seed, 8);
BSHM_AT(descriptor, capacity, 16);
BSHM_AT(descriptor, error_rate, 24);
BSHM_AT(descriptor, published_s, 32);
BSHM_AT(descriptor, publication, 40);
BSHM_AT(descriptor, origin_ns, 48);
BSHM_AT(descriptor, state, 56);
BSHM_AT(descriptor, kind, 60);
BSHM_AT(descriptor, expansion, 64);
BSHM_AT(descriptor, window_s, 68);
BSHM_AT(descriptor, items_slot, 72);
BSHM_AT(descriptor, layer_count, 76);
BSHM_AT(descriptor, sized, 80);
BSHM_AT(descriptor, epoch_base, 84);
BSHM_AT(descriptor, max_lag_s, 88);
BSHM_AT(descriptor, source, 92);
BSHM_AT(descriptor, newest, 96);
BSHM_AT(descriptor, source_epoch, 160);
BSHM_AT(descriptor, source_version, 168);
BSHM_AT(descriptor, as_of_ns, 176);
BSHM_AT(descriptor, check, 184);

#define BSHM_SOURCE_SENDS (1u << 16) /* keys of adds are left in the outbox */

#define BSHM_STATE_ABSENT   0u /* no filter: every question is "maybe" */
#define BSHM_STATE_LIVE     1u
#define BSHM_STATE_CLEARING 2u /* bits are being zeroed: every question is "maybe" */
#define BSHM_HASHES_MAX     64u

/*
 *  off   0                 8        12       16
 *      +-----------------+--------+--------+
 *   0: | generation      | builders| next  |  read by every question
 *      +-----------------+--------+--------+
 *  16: | as_of_ns        | unsent          |
 *      +-----------------+-----------------+
 *  64: | name: its length, its bytes, zeros |
 *      +-----------------+-----------------+
 * 128: | descriptor[0]                     |  in force while generation is even
 * 320: | descriptor[1]                     |  in force while generation is odd
 *      +-----------------+-----------------+
 * 512: | items[0]        | items[1]        |  written by every add of a new key
 *      +-----------------+-----------------+
 * 528: | false_positives | false_positives |  confirmed by loaders: [0] and [1]
 *      +-----------------+-----------------+
 * 544: | usage[0]                          |  48 bytes each: what the filter was asked
 * 592: | usage[1]                          |
 *      +-----------------------------------+
 *
 *  generation   under the lock, release: the one store that publishes; grows for ever
 *  builders     under the lock: 1 while an op with a journal will publish here
 *  next, name   under the lock, directory_version odd
 *  as_of_ns     under the lock: 0 before a set is published, then as often as its origin is heard
 *  unsent       fetch_add by adders to a filter that sends; 0 by who publishes one that does not
 *  items[slot]  fetch_add by adders to the set whose descriptor names the slot; set before that
 *               set is published
 *  false_positives[slot]  as items
 *  usage[slot]  as items; fetch_add by processes that have asked: usage.c
 */
typedef struct {
	uint64_t generation;
	uint32_t builders;
	uint32_t next;     /* index + 1 of the next entry with this name hash; 0 = last */
	uint64_t as_of_ns; /* followed: if it is later than the descriptor's, it counts instead */
	uint64_t unsent;   /* keys of adds that found no room in the outbox */
	uint8_t reserved0[32];
	uint8_t name[BSHM_NAME_MAX + 1]; /* length 0: the entry is free */
	bshm_descriptor descriptor[2];
	uint64_t items[2];
	uint64_t false_positives[2];
	bshm_usage usage[2];
} bshm_entry;

BSHM_STATIC_ASSERT(usage, sizeof(bshm_usage) == 48);
BSHM_STATIC_ASSERT(entry, sizeof(bshm_entry) == 640);
BSHM_AT(entry, generation, 0);
BSHM_AT(entry, builders, 8);
BSHM_AT(entry, next, 12);
BSHM_AT(entry, as_of_ns, 16);
BSHM_AT(entry, unsent, 24);
BSHM_AT(entry, name, 64);
BSHM_AT(entry, descriptor, 128);
BSHM_AT(entry, items, 512);
BSHM_AT(entry, false_positives, 528);
BSHM_AT(entry, usage, 544);

/*
 * epochs[], one word a partition, for partitions of sliding filters: the newest epoch that a lane
 * holds in the high half, and in the low half the epoch it is rotated to; equal at rest. Lane e % 4
 * holds epoch e, for the four epochs up to the newest. Epochs are counted modulo 2^32. Written
 * under the lock (sliding.c).
 */
#define BSHM_LANES       4u
#define BSHM_EPOCH_FIRST 8u /* of a new filter; room for lanes of the epochs before it */

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

#endif
