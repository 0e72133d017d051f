/*
 * format_store.h - the structs of the record store, whose regions follow the partitions; format.h
 * has the order of the regions, and the rules.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_FORMAT_STORE_H
#define BSHM_FORMAT_STORE_H

#include "core/format.h"

/*
 * A `ref` names a word in the pages: the number of the page + 1 in the high 20 bits, the offset in
 * the page, in units of 4 bytes, in the low 12. 0 = none.
 */
#define BSHM_SLAB_BYTES    16384u
#define BSHM_SLAB_MAX      ((1u << 20) - 1)
#define BSHM_SLOT_UNIT     4u
#define BSHM_REF_PAGE      (BSHM_SLAB_BYTES / BSHM_SLOT_UNIT)
#define BSHM_SHARD_MAX     64u
#define BSHM_CLASS_COUNT   67u
#define BSHM_CLASS_RECORDS 52u  /* classes from here on do not hold records */
#define BSHM_CLASS_SHORT   52u  /* to 58: short chunks, for the last bytes of a large record */
#define BSHM_CLASS_CHUNK   59u  /* whole chunks */
#define BSHM_CLASS_UNITS   60u  /* to 65: small units, of 1, 2, 4, 8, 16 and 32 buckets */
#define BSHM_CLASS_INDEX   66u  /* units: 64 buckets each */
#define BSHM_LEASE_COUNT   256u /* a shard */
#define BSHM_MAP_BYTES     128u /* at the end of a page, where no slot begins */
#define BSHM_MAP_BYTES_FEW 16u  /* of them the bitmap of a page of 65 to 128 slots */
#define BSHM_TABLE_UNITS   32u
#define BSHM_SHADOW_CELLS  640u
#define BSHM_SHADOW_KEYS   160u /* of them hold stored records if a shard is full, about */
#define BSHM_TABLE_MISSED  15u
#define BSHM_UNIT_BUCKETS  64u
#define BSHM_BUCKET_CELLS  10u
#define BSHM_POSITION_BITS 18u
#define BSHM_PERIOD_BITS   24u /* of `touches`, for each of two periods */

/*
 *  off   0                 8        12       16
 *      +-----------------+--------+
 *   0: | reserved        | epochs |
 *      +-----------------+--------+--------+--------+
 *  64: | holders         | recount| fetched| period |
 *      +-----------------+--------+--------+--------+
 *
 * reserved and holders only where there are several shards and a limit: quota.c; epochs and period
 * only where there are several shards: recency.c. Each use reads the second line.
 *
 *  reserved  compare-and-swap, and fetch_sub, by the holder of a shard's lock: never less than the
 *            records and credits of all shards
 *  holders   fetch_or, fetch_and: a bit for each shard that may have credit, under its lock
 *  epochs    fetch_add by any process
 *  period    compare-and-swap by any process
 *  recount, fetched   stored by any process: `reserved` may be too high; bloom_fetch has been used
 */
typedef struct {
	uint64_t reserved;
	uint32_t epochs; /* how many have ended, of all shards */
	uint8_t reserved0[52];
	uint64_t holders;
	uint32_t recount;
	uint32_t fetched;
	uint32_t period; /* how many have ended */
	uint8_t reserved1[44];
} bshm_store;

BSHM_STATIC_ASSERT(store, sizeof(bshm_store) == 128);
BSHM_AT(store, reserved, 0);
BSHM_AT(store, epochs, 8);
BSHM_AT(store, holders, 64);
BSHM_AT(store, recount, 72);
BSHM_AT(store, fetched, 76);
BSHM_AT(store, period, 80);

/*
 *  off   0                 8                 16
 *      +-----------------+-----------------+-----------------+
 *   0: | hits            | misses          | sets            |
 *      +-----------------+-----------------+-----------------+
 *
 * By the process that has the owner slot of the same number; what an earlier owner counted stays.
 * All processes without a slot share the last one (fetch_add).
 */
typedef struct {
	uint64_t hits;
	uint64_t misses;
	uint64_t sets;
	uint8_t reserved[40];
} bshm_tally;

BSHM_STATIC_ASSERT(tally, sizeof(bshm_tally) == 64);
BSHM_AT(tally, hits, 0);
BSHM_AT(tally, misses, 8);
BSHM_AT(tally, sets, 16);

/*
 *  off   0                 8                 16                24
 *      +--------+--------+--------+--------+-----------------+-----------------+
 *   0: | kind   | word   | fresh  | old    | records_after   | data_after      |
 *      +--------+--------+--------+--------+-----------------+-----------------+
 *  32: | table  | count  | step   | margin |
 *      +--------+--------+--------+--------+
 *
 * The change that the holder of a shard's lock is making. If it dies, the process that takes the
 * lock over finishes or undoes the change. Under the shard's lock; `kind` is stored last, with
 * release, and set to 0 when the change is done.
 */
typedef struct {
	uint32_t kind;  /* BSHM_INTENT_* */
	uint32_t word;  /* ref of the word that publishes */
	uint32_t fresh; /* the ref that the word will hold: of a chain of slots not in use yet */
	uint32_t old;   /* the ref that it held: of a chain of slots that will be free */
	uint64_t records_after;
	uint64_t data_after;
	uint32_t table; /* resize, move of a unit: index of the table */
	uint32_t count; /* resize: how many units it had; `fresh` is the low half of its new root */
	uint32_t step;  /* resize: how many of them are taken */
	uint32_t size_margin; /* no part of the intent, which leaves the place: size.c; 0 = none yet */
#define BSHM_RECORDS_ARE_LIMIT 0x80000000u /* in it: a count of records is the limit, not memory */
} bshm_intent;

BSHM_STATIC_ASSERT(intent, sizeof(bshm_intent) == 48);
BSHM_AT(intent, kind, 0);
BSHM_AT(intent, word, 4);
BSHM_AT(intent, fresh, 8);
BSHM_AT(intent, old, 12);
BSHM_AT(intent, records_after, 16);
BSHM_AT(intent, data_after, 24);
BSHM_AT(intent, table, 32);
BSHM_AT(intent, count, 36);
BSHM_AT(intent, step, 40);
BSHM_AT(intent, size_margin, 44);

#define BSHM_INTENT_NONE       0u
#define BSHM_INTENT_PUT        1u /* the word: old -> fresh; then the old slots are freed */
#define BSHM_INTENT_REMOVE     2u /* the word: old -> 0; the same */
#define BSHM_INTENT_MOVE       3u /* the word: old -> fresh; the rest of the chain stays */
#define BSHM_INTENT_MOVE_CHUNK 4u /* the same for a part of a large record */
#define BSHM_INTENT_MOVE_UNIT  5u /* the same for a unit of the index */
#define BSHM_INTENT_RESIZE     6u /* a table gets other units */

/*
 * What a class of slots has. Under the shard's lock; nothing of it is exact after a death: hints.
 */
typedef struct {
	uint32_t
		hint; /* bits 0..23: a page that may have room, + 1; the others: a word of its bitmap */
	uint32_t pages; /* of the class */
	uint32_t used;  /* its slots that are taken */
	uint32_t other; /* another page that may have room, + 1 */
} bshm_class;

BSHM_STATIC_ASSERT(class, sizeof(bshm_class) == 16);
BSHM_AT(class, hint, 0);
BSHM_AT(class, pages, 4);
BSHM_AT(class, used, 8);
BSHM_AT(class, other, 12);

#define BSHM_CANDIDATES 6u
#define BSHM_KNOTS      8u

/*
 *  off   0                 8                 16                24
 *      +-----------------+-----------------+--------+--------+--------+--------+
 *   0: | sequence        | clock           | starv. | base   | candid.| candid.|
 *      +--------+--------+--------+--------+--------+--------+--------+--------+
 *  32: | four more                         | s.power| s.evict| t.began| rounds |
 *      +-----------------+-----------------+-----------------+-----------------+
 *  64: | lock            | touches         | records| credit | data_bytes      |
 *      +-----------------+-----------------+-----------------+-----------------+
 *  96: | intent: 48 bytes, half of them used by each put                       |
 *      +-----------------+-----------------+--------+--------+--------+--------+
 * 128: | of the intent                     | table  | bucket | given  | leases |
 *      +--------+--------+--------+--------+--------+--------+--------+--------+
 * 160: | a.page | aging  | p.page | p.stamp| free   | empty  | recount| parked |
 *      +--------+--------+--------+--------+--------+--------+--------+--------+
 * 192: | evictions       | expired         | rejected        | timeouts        |
 *      +-----------------+-----------------+-----------------+-----------------+
 * 224: | repairs         | parked_owner    | lean   | proba. | ghosts | turn   |
 *      +-----------------+-----------------+--------+--------+--------+--------+
 * 256: | evicted         | freq.  | gain   | shadow                            |
 *      +-----------------+--------+--------+-----------------------------------+
 * 288: | g.each | g.miss.| vain   | helped | zero                              |
 *      +--------+--------+--------+--------+-----------------------------------+
 * 320: | shadow[640]: 8 bytes each                                             |
 *      +-----------------------------------------------------------------------+
 *5440: | classes[67]: 16 bytes each; knots[8]: 2 bytes each                    |
 *      +-----------------------------------------------------------------------+
 *
 * A put writes one cache line of this struct, and that of one class, and of the keys of a sample
 * that of their cell of `shadow`, and that of shadow_missed: moving a cache line between processors
 * costs as much as the rest of the put.
 *
 *  lock            as the header's
 *  sequence        under the lock: one more whenever a slot's contents end; BSHM_SEQUENCE_JUMP more
 *                  when memory gets another meaning
 *  clock           compare-and-swap by any process: four 16-bit numbers, recency.c
 *  touches         fetch_add, and compare-and-swap, by any process
 *  size_power, lean
 *                  compare-and-swap by any process
 *  timeouts        fetch_add by any process
 *  starving        by any process: 1 while one has waited long for the lock; a hint
 *  gain, frequent  compare-and-swap by any process
 *  gain_each, gain_misses
 *                  by any process: hints, which are cut to their bounds when they are read
 *  shadow_missed   fetch_add by any process; 0 under the lock
 *  shadow          compare-and-swap by any process, of a stamp; else under the lock
 *  pop_page, pop_stamp
 *                  by any process: hints
 *  parked_owner    under the lock; set to 0 by its owner at any time
 *  all others      under the lock
 */
typedef struct {
	uint64_t sequence;
	uint64_t clock;
	uint32_t starving;                    /* 1: a process has waited long for the lock */
	uint32_t base;                        /* no younger than any stamp */
	uint32_t candidates[BSHM_CANDIDATES]; /* refs of records to evict soon: evict.c; 0 = none */
	uint32_t size_power;                  /* to which the size of a record counts: size.c */
	uint32_t size_evicted;                /* the mean size of what was evicted; 0 = nothing yet */
	uint32_t turn_began;  /* in which epoch; and how rare evictions were in the last one: ghost.c */
	uint32_t turn_rounds; /* of the hand in this turn; and how long turns last: ghost.h */
	uint64_t lock;
	uint64_t touches; /* three counts of records that were stamped: recency.c */
	uint32_t records;
	uint32_t credit;     /* records of the limit that the shard may still put: quota.c */
	uint64_t data_bytes; /* of keys and values */
	bshm_intent intent;
	uint32_t hand_table; /* where the next sample begins: a table, numbered in the shard, */
	uint32_t hand_bucket;
	uint32_t given_pages; /* to classes; not exact after a death: only a hint */
	uint32_t leases;      /* in use */
	uint32_t aging_page;  /* how far the renumbering of old stamps has come */
	uint32_t aging;       /* 1 + the stamp that is the oldest from then on; 0 = none is going on */
	uint32_t pop_page;    /* where to go on looking for the oldest: recency.c */
	uint32_t pop_stamp;   /* 1 + the youngest stamp that will do, 0 = not known; of how many */
	uint32_t free_page;   /* where to look for a free page first */
	uint32_t empty_page;  /* where to go on looking for one to empty */
	uint32_t recount;     /* 1: given_pages and the classes' counts are in doubt */
	uint32_t parked;      /* the first chunk of a record that is not put yet: parked.h; 0 = none */
	uint64_t evictions;
	uint64_t expired;
	uint64_t rejected;
	uint64_t timeouts;
	uint64_t repairs;
	uint64_t parked_owner;   /* the process that fills these chunks; 0 by it at any time */
	uint32_t lean;           /* how much sooner records on probation are evicted: evict.c */
	uint32_t probation;      /* the share of the last evictions that were of such records, twice */
	uint32_t ghosts;         /* left in this turn */
	uint32_t turn;           /* of the ghosts; and which of them were missed */
	uint32_t evicted_age;    /* the mean age of what was evicted: size.c; 0 = none yet */
	uint32_t evicted_epoch;  /* of the last eviction: ghost.c */
	uint32_t frequent;       /* of FREQUENT records: ghost.c; 0 = nothing yet */
	uint32_t gain;           /* hits that an LRU would not have had, less those lost: gain.c */
	uint32_t shadow_oldest;  /* since when an LRU holds what was used: shadow.c; 0 = not known */
	uint32_t shadow_missed;  /* what was missed since that was found */
	uint32_t shadow_base;    /* the base that the cells of `shadow` know; and which limit */
	uint32_t shadow_largest; /* no cell is of a larger record */
	uint32_t gain_each;   /* hits that a counted key stands for, in 64ths: gain.c; 0 = none yet */
	uint32_t gain_misses; /* drawn ones, with which no lost hit was forgotten yet */
	uint32_t old_in_vain; /* when no record was older than which floor: evict_old.c; 0 = none */
	uint32_t helped_s;    /* when a look-up renumbered stamps: aging.c */
	uint32_t zero[4];
	uint64_t shadow[BSHM_SHADOW_CELLS]; /* when keys of a sample were used: shadow.c; 0 = free */
	bshm_class classes[BSHM_CLASS_COUNT];
	uint32_t knots[BSHM_KNOTS / 2]; /* ages, two in a word: aging.c */
} bshm_shard_header;

BSHM_STATIC_ASSERT(shard_header, sizeof(bshm_shard_header) == 6528);
BSHM_AT(shard_header, sequence, 0);
BSHM_AT(shard_header, clock, 8);
BSHM_AT(shard_header, candidates, 24);
BSHM_AT(shard_header, size_power, 48);
BSHM_AT(shard_header, size_evicted, 52);
BSHM_AT(shard_header, turn_began, 56);
BSHM_AT(shard_header, turn_rounds, 60);
BSHM_AT(shard_header, starving, 16);
BSHM_AT(shard_header, base, 20);
BSHM_AT(shard_header, lock, 64);
BSHM_AT(shard_header, touches, 72);
BSHM_AT(shard_header, records, 80);
BSHM_AT(shard_header, credit, 84);
BSHM_AT(shard_header, data_bytes, 88);
BSHM_AT(shard_header, intent, 96);
BSHM_AT(shard_header, hand_table, 144);
BSHM_AT(shard_header, hand_bucket, 148);
BSHM_AT(shard_header, given_pages, 152);
BSHM_AT(shard_header, leases, 156);
BSHM_AT(shard_header, aging_page, 160);
BSHM_AT(shard_header, aging, 164);
BSHM_AT(shard_header, pop_page, 168);
BSHM_AT(shard_header, pop_stamp, 172);
BSHM_AT(shard_header, free_page, 176);
BSHM_AT(shard_header, empty_page, 180);
BSHM_AT(shard_header, recount, 184);
BSHM_AT(shard_header, parked, 188);
BSHM_AT(shard_header, evictions, 192);
BSHM_AT(shard_header, expired, 200);
BSHM_AT(shard_header, rejected, 208);
BSHM_AT(shard_header, timeouts, 216);
BSHM_AT(shard_header, repairs, 224);
BSHM_AT(shard_header, parked_owner, 232);
BSHM_AT(shard_header, lean, 240);
BSHM_AT(shard_header, probation, 244);
BSHM_AT(shard_header, ghosts, 248);
BSHM_AT(shard_header, turn, 252);
BSHM_AT(shard_header, evicted_age, 256);
BSHM_AT(shard_header, evicted_epoch, 260);
BSHM_AT(shard_header, frequent, 264);
BSHM_AT(shard_header, gain, 268);
BSHM_AT(shard_header, shadow_oldest, 272);
BSHM_AT(shard_header, shadow_missed, 276);
BSHM_AT(shard_header, shadow_base, 280);
BSHM_AT(shard_header, shadow_largest, 284);
BSHM_AT(shard_header, gain_each, 288);
BSHM_AT(shard_header, gain_misses, 292);
BSHM_AT(shard_header, old_in_vain, 296);
BSHM_AT(shard_header, helped_s, 300);
BSHM_AT(shard_header, shadow, 320);
BSHM_AT(shard_header, classes, 5440);
BSHM_AT(shard_header, knots, 6512);

#define BSHM_SEQUENCE_JUMP                                                                         \
 (1u << 24) /* more than the slots that are freed while anything is read */

/*
 *  off   0                 8                 16                24
 *      +-----------------+-----------------+-----------------+-----------------+
 *   0: | owner           | hash            | serial          | thread | begun  |
 *      +--------+--------+-----------------+-----------------+--------+--------+
 *  32: | unsto. | reserved (zero)                                              |
 *      +--------+--------------------------------------------------------------+
 *
 * All under the shard's lock, but the owner may set `owner` to 0 at any time. owner 0 = free: the
 * hash and unstored_s stay until it is given again.
 */
typedef struct {
	uint64_t owner;
	uint64_t hash;
	uint64_t serial; /* differs each time the lease is given */
	uint32_t thread;
	uint32_t begun_s; /* when it was given, by the clock of the records */
	uint32_t
		unstored_s; /* when a value that was loaded for the key was last not stored; 0 = none */
	uint8_t reserved[28];
} bshm_lease;

BSHM_STATIC_ASSERT(lease, sizeof(bshm_lease) == 64);
BSHM_AT(lease, owner, 0);
BSHM_AT(lease, hash, 8);
BSHM_AT(lease, serial, 16);
BSHM_AT(lease, thread, 24);
BSHM_AT(lease, begun_s, 28);
BSHM_AT(lease, unstored_s, 32);

/*
 *  off   0                128              256       260                  320
 *      +----------------+----------------+---------+--------------------+
 *   0: | units[0]       | units[1]       | records | missed             |
 *      +----------------+----------------+---------+--------------------+
 *
 * A part of the index: the refs of its units, with 64 buckets each. A table of few records has one
 * small unit of 1, 2, 4, 8, 16 or 32 buckets. So the index is in proportion to the records, however
 * large the store is. All under the shard's lock, but `missed`, a hint, which any process stores.
 *
 * Each table has a root, one word of an array of their own, which every search reads: the roots of
 * a store of 64 MB lie in 2 kB. The root (release) has the count of the table's buckets, the ref of
 * its first unit, and which of the two lists has the others; the other list is free to be written.
 */
typedef struct {
	uint32_t units[2][BSHM_TABLE_UNITS]; /* number 0 of the list in force is in the root */
	uint32_t records;                    /* in its buckets */
	uint32_t missed[BSHM_TABLE_MISSED];  /* which ghosts were missed lately: ghost.c */
} bshm_table;

/* In a root: bit 0 which list, bits 1 to 31 the count of buckets, bits 32 to 63 the first unit. */
#define BSHM_ROOT_UNIT 32

BSHM_STATIC_ASSERT(table, sizeof(bshm_table) == 320);
BSHM_AT(table, units, 0);
BSHM_AT(table, records, 256);
BSHM_AT(table, missed, 260);

/*
 *  off   0                 8                 16                24
 *      +-----------------+-----------------+-----------------+-------------------------+
 *   0: | tags 0..3       | tags 4..7       | 8, 9 and overfl.| ref[10], 4 bytes each   |
 *      +-----------------+-----------------+-----------------+-------------------------+
 *
 * A bucket of the index: ten cells, each a tag and a ref. A tag has 16 bits, the first tag the
 * lowest; bits 32 to 47 of the third word are the overflow count: how many records lie in later
 * buckets because this one was full. Bits 48 to 63, and the tags of free cells, are ghosts of
 * records that were evicted (ghost.c). All under the shard's lock; ref (release) after the record
 * that it leads to is whole.
 */
typedef struct {
	uint64_t tags[3];
	uint32_t ref[BSHM_BUCKET_CELLS]; /* 0 = free */
} bshm_bucket;

BSHM_STATIC_ASSERT(bucket, sizeof(bshm_bucket) == 64);
BSHM_AT(bucket, tags, 0);
BSHM_AT(bucket, ref, 24);

/*
 * The class of a page, and which of its slots are taken: a bit each. Under the shard's lock. The
 * pages of a shard are neighbours: page_count / shard_count of them. Headers and bitmaps lie apart,
 * because a search for a page reads thousands of headers. A page of more than 64 slots ends with
 * its bitmap, of up to 128 bytes: as much for each page would be 1 % of all memory. No slot of any
 * class begins in these bytes: so no process that is late stamps them for a slot's state.
 */
typedef struct {
	uint32_t size_class; /* + 1; 0 = the page is free */
	uint32_t vacant;     /* free slots, a hint; of a free page: the class it had + 1, or 0 */
} bshm_page_header;

BSHM_STATIC_ASSERT(page_header, sizeof(bshm_page_header) == 8);
BSHM_AT(page_header, size_class, 0);
BSHM_AT(page_header, vacant, 4);

typedef struct {
	uint64_t taken;
} bshm_page_bitmap;

BSHM_STATIC_ASSERT(page_bitmap, sizeof(bshm_page_bitmap) == 8);

/*
 *  off   0        4        8
 *      +--------+--------+---------------+-----+-------+
 *   0: | state  | shape  | [expires_s]   | key | value |      a record in one slot
 *      +--------+--------+---------------+-----+-------+
 *
 *      +--------+--------+---------------+-----------+-------------+------+
 *   0: | state  | shape  | [expires_s]   | key, first| value_bytes | next | first part
 *      +--------+--------+---------------+-----------+-------------+------+   a large record
 *
 *      +--------+--------+---------------+
 *   0: | state  | next   | prev  | moved | 8,176 bytes of key and value; in
 *      +--------+--------+---------------+   the last there may be fewer       a chunk of it
 *
 * All words have 4 bytes.
 *
 *  state   stamp of recency in the low 15 bits (compare-and-swap by any process); BSHM_SLOT_*;
 *          version in the high 12: by the lock holder, one more each time the slot is freed
 *  expires_s   by touch, under the lock, at any time; else before the record is published
 *  prev, next of chunks   under the lock
 *  moved   when the chunk is moved to this slot, before a word leads to it: the number of a jump;
 *          0 = it was put here
 *  all others  before the record is published, and never after
 */
#define BSHM_SLOT_STAMP        0x7fffu
#define BSHM_SLOT_FREQUENT     (1u << 15) /* was used again when it was PROTECTED */
#define BSHM_SLOT_PROTECTED    (1u << 16) /* was used again, after other records */
#define BSHM_SLOT_LEVEL        (BSHM_SLOT_FREQUENT | BSHM_SLOT_PROTECTED)
#define BSHM_SLOT_LIVE         (1u << 17)
#define BSHM_SLOT_CHAINED      (1u << 18)
#define BSHM_SLOT_EXPIRES      (1u << 19) /* has the word expires_s */
#define BSHM_SLOT_VERSION      20
#define BSHM_SLOT_VERSION_MASK 0xfff00000u
#define BSHM_SLOT_VERSIONS     4096u

/* shape: key_bytes (12 bits), value_bytes (12 bits), type (4), space (1); of a large record the
 * first 24 are its serial: the low bits of the shard's sequence when it was put, or moved */
#define BSHM_SHAPE_VALUE  12
#define BSHM_SHAPE_TYPE   24
#define BSHM_SHAPE_SPACE  28
#define BSHM_SHAPE_BYTES  0xfffu
#define BSHM_SHAPE_SERIAL (BSHM_SEQUENCE_JUMP - 1)

/* key, first: how long the key is (16 bits), and how many bytes of key and value the first slot has
 * (16) */
#define BSHM_CHAIN_FIRST 16
#define BSHM_CHAIN_KEY   0xffffu

#define BSHM_SLOT_BYTES_MIN 16u
#define BSHM_SLOT_BYTES_MAX 4096u
#define BSHM_SLOT_HEADER    8u
#define BSHM_CHAIN_HEADER   12u /* key and first, value_bytes, next */
#define BSHM_CHUNK_HEADER   16u
#define BSHM_CHUNK_BYTES    (2 * BSHM_SLOT_BYTES_MAX - BSHM_CHUNK_HEADER)

#endif
