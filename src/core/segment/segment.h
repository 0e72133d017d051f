/*
 * segment.h - one process's attachment: where the regions are, and its own state.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_SEGMENT_H
#define BSHM_SEGMENT_H

#include "core/bshm.h"
#include "core/format.h"
#include "core/format_outbox.h"
#include "core/format_store.h"

/* Attempts to read a consistent generation before a question is answered "maybe". */
#define BSHM_READ_TRIES 16

#define BSHM_ROOMY_PAGES 64u

/* Pages of a shard that may have room for a class, by number: slab.c. Under the shard's lock. */
typedef struct {
	uint32_t pages[BSHM_CLASS_COUNT][BSHM_ROOMY_PAGES];
	uint32_t next[BSHM_CLASS_COUNT];
} bshm__roomy;

struct bshm_segment {
	bshm_header *header;
	bshm_owner *owners;
	bshm_op *ops;
	uint32_t *heads;
	bshm_entry *entries;
	uint64_t *tags;
	bshm_chunk *chunks;
	bshm_layer *layers;
	uint32_t *links;
	uint64_t *epochs;
	uint8_t *partitions;
	/* The record store; all NULL and 0 when there is none. */
	bshm_store *store;
	bshm_tally *tallies;
	bshm_shard_header *shards;
	bshm_lease *leases;
	uint64_t *roots; /* of the tables */
	bshm_table *tables;
	bshm_page_header *page_headers;
	bshm_page_bitmap *page_bitmaps;
	uint8_t *pages;
	bshm_outbox *outbox; /* NULL: the segment has none */
	/* Copies of the header's numbers as they were checked: the header may be damaged later. */
	uint64_t segment_bytes;
	uint64_t name_seed;
	uint32_t partition_count;
	uint32_t entry_count;
	uint32_t head_count;
	uint32_t chunk_count;
	uint32_t layer_count;
	uint32_t features;
	uint32_t shard_count;
	uint32_t shard_tables; /* of each shard */
	uint32_t table_count;  /* of all shards */
	uint32_t shard_pages;
	uint64_t shard_bytes;  /* of its pages */
	uint32_t period_shift; /* recency.c counts uses in units of 2^this bytes */
	uint32_t epoch_units;  /* of which an epoch has no more: a power of two */
	uint64_t cache_bytes;
	uint64_t cache_records;
	uint64_t store_off;    /* of its regions in the file */
	uint64_t clock_offset; /* engine clock = monotonic clock + this */
	int fd;          /* the file, for questions to the kernel; perhaps closed by now: owners.c */
	int lock_fd;     /* BSHM_LOCKS_OPEN: holds this process's slot; else -1 */
	void *lock_kept; /* BSHM_LOCKS_MAPPED: the same; else NULL */
	uint32_t locks;  /* how a lock on this file is kept: BSHM_LOCKS_... */
	bool slot_lost;  /* a slot's descriptor was closed by other code of this process */
	bool readonly;   /* the filters are mapped for reading */
	bool store_writable; /* the record store is not */
	bool slotless;       /* no owner slot could be taken for counting */
	bool sleeps;         /* on a disk: the last process that closes it brings it to rest */
	uint64_t device;     /* the file, to find it again after a fork */
	uint64_t inode;
	uint64_t owner;       /* this process's owner word; 0 = has no slot */
	uint64_t quick_owner; /* the same if shard locks may be taken with it at once; else 0 */
	uint64_t
		full_until_ns; /* there was no free slot (`full_error`): none is looked for until then */
	bshm_error full_error;
	bshm_tally
		*tally;    /* its own; NULL: no slot, no record store, or another thread is taking one */
	uint32_t busy; /* 1 while a thread of this process has, or waits for, the lock */
	uint32_t busy_starving; /* 1: a thread has waited long for `busy` */
	uint64_t locked_ns;     /* when a lock was last taken; since when without a pause: lock.c */
	uint64_t streak_ns;
	bshm_segment *next; /* all of this process's segments, for the child of a fork */
	bshm__roomy *roomy; /* of each shard; NULL: there was no private memory */
	char path[4096];
};

#endif
