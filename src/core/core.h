/*
 * core.h - what the engine's own files share, and nobody else includes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CORE_H
#define BSHM_CORE_H

#include "core/bshm.h"
#include "core/filter/partition.h"
#include "core/layout.h"
#include "core/hash.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#ifdef BSHM_DEBUG
# include <assert.h>
# define BSHM_ASSERT(condition) assert(condition)
#else
# define BSHM_ASSERT(condition) ((void) 0)
#endif

#define BSHM_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define BSHM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* How long a writer waits for the lock: a page's add, and a batch job's step. */
#define BSHM_LOCK_SLEEP_US 50 /* at a time, while somebody waits for a lock */
#define BSHM_LOCK_PAGE_NS  UINT64_C(50000000)
#define BSHM_LOCK_BATCH_NS UINT64_C(1000000000)

/* Attempts to read a consistent generation before a question is answered "maybe". */
#define BSHM_READ_TRIES 16

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
	bshm_shard *shards;
	bshm_lease *leases;
	bshm_table *tables;
	bshm_page *pages;
	bshm_map *maps;
	uint8_t *slabs;
	/* Copies of the header's numbers as they were checked: the header may be scribbled on later. */
	uint64_t segment_bytes;
	uint64_t name_seed;
	uint32_t partition_count;
	uint32_t entry_count;
	uint32_t head_count;
	uint32_t chunk_count;
	uint32_t layer_count;
	uint32_t shard_count;
	uint32_t shard_tables; /* of each shard */
	uint32_t shard_pages;
	uint64_t shard_bytes; /* of its pages */
	uint64_t cache_bytes;
	uint64_t cache_records;
	uint64_t store_off;    /* of its regions in the file */
	uint64_t clock_offset; /* engine clock = monotonic clock + this */
	int fd; /* the file, to ask the kernel about; without locks. Perhaps not ours any more: owners.c */
	int lock_fd;         /* BSHM_LOCKS_OPEN: holds this process's slot; else -1 */
	void *lock_kept;     /* BSHM_LOCKS_MAPPED: the same; else NULL */
	uint32_t locks;      /* what keeps a lock on this file: BSHM_LOCKS_... */
	bool slot_lost;      /* a slot's descriptor was closed by other code of this process */
	bool readonly;       /* the filters are mapped for reading */
	bool store_writable; /* the record store is not */
	bool slotless;       /* there was no owner slot to be had for counting */
	bool sleeps;         /* on a disk, and brought to rest by the last that closes it */
	uint64_t device;     /* the file, to find it again after a fork */
	uint64_t inode;
	uint64_t owner; /* this process's owner word; 0 = has no slot */
	uint64_t
		quick_owner; /* the same if locks of the record store may be taken with it at once; else 0 */
	uint64_t
		full_until_ns; /* there was no free slot (`full_error`): none is looked for until then */
	bshm_error full_error;
	bshm_tally
		*tally;    /* its own; NULL: no slot, no record store, or another thread is taking one */
	uint32_t busy; /* 1 while a thread of this process has, or waits for, the lock */
	uint32_t busy_starving; /* 1: a thread has waited long for `busy` */
	uint32_t shard_locks;   /* taken: for bshm__lock_breathe() */
	uint64_t locked_ns;     /* when a lock was last taken, and since when again and again: lock.c */
	uint64_t streak_ns;
	bshm_segment *next; /* all of this process's segments, for the child of a fork */
	char path[4096];
};

/* ------------------------------------------------------------------ errors */

/* Fill *error and return its status: here, so that analysers of the callers see which. */
static inline bshm_status bshm__fail_sizes(
	bshm_error *error, bshm_status status, const char *op, uint64_t asked, uint64_t available)
{
	*error = (bshm_error){.status = status, .op = op, .asked = asked, .available = available};
	return status;
}

static inline bshm_status bshm__fail(bshm_error *error, bshm_status status, const char *op)
{
	return bshm__fail_sizes(error, status, op, 0, 0);
}

/* With the system's error number: NO_SPACE or UNAVAILABLE (segment.c). */
bshm_status bshm__fail_os(bshm_error *error, const char *op, int code);

/* ------------------------------------------------------------------ owners.c */

#define BSHM_LOCKS_UNTRIED 0u
#define BSHM_LOCKS_MAPPED  1u /* a mapping of it, without a descriptor */
#define BSHM_LOCKS_OPEN    2u /* a descriptor */

/* Makes a fork's child let go of its parent's slot; false: another thread is in the way for long. */
bool bshm__owner_remember(bshm_segment *segment);
/* Undoes it, and gives back the slot and the file. */
void bshm__owner_forget(bshm_segment *segment);
/* Does a mapping of the file keep a lock without a descriptor? Tries it out, if that was not done yet. */
bool bshm__owner_lasts(bshm_segment *segment);
/* Sees to it that segment->fd is the file that is mapped: UNAVAILABLE if it is not to be had. */
bshm_status bshm__owner_file(bshm_segment *segment, bshm_error *error);
/* Has, or takes, a slot for this process; UNAVAILABLE, or TIMEOUT. */
bshm_status bshm__owner_attach(bshm_segment *segment, bshm_error *error);
/* Is the process behind an owner word alive? False only when the kernel says so. */
bool bshm__owner_alive(bshm_segment *segment, uint64_t owner);

/* Who has locks where the slots' bytes are. */
typedef struct {
	uint64_t owners;      /* processes that are attached; more than 255: about so many */
	bool strange;         /* and somebody who is none */
	uint64_t strange_pid; /* 0: not known */
} bshm__owner_survey;

void bshm__owners_look(bshm_segment *segment, bshm__owner_survey *out);
uint64_t bshm__owner_count(bshm_segment *segment);

/* ------------------------------------------------------------------ clock.c */

/* Fills the clock's words of a new segment; 0, or the error that kept the boot from being told. */
int bshm__clock_begin(bshm_header *header);
/* Works out what this process adds to its monotonic clock. `in_memory`: the file is on no disk. */
void bshm__clock_attach(bshm_segment *segment, bool in_memory);
/* Is it known that the header's clock is of the present boot? 0, or the error that kept it from being told. */
int bshm__clock_boot(const bshm_header *header, bool *same);
/* Changes a copy of the header, for a segment that nobody uses: its clock goes on from when it was brought
 * to rest, by this process's monotonic clock. As bshm__clock_begin(). */
int bshm__clock_resume(bshm_header *copy);

/* ------------------------------------------------------------------ rest.c: files on a disk */

/*
 * For a mapped segment whose header is sound: may what it holds be believed? `fd` is the open file
 * that is mapped. BUSY: try again soon. UNAVAILABLE "rest": the machine stopped while it was in use;
 * if `writable`, fd keeps everybody else out until it is closed.
 */
bshm_status bshm__rest_enter(
	bshm_segment *segment, int fd, const bshm_os_stat *st, bool writable, bshm_error *error);
/* Removes a file that bshm__rest_enter() did not believe, for a new one. */
bshm_status bshm__rest_discard(const char *path, int fd, bshm_error *error);
/* After unmapping: brings the segment to rest if nobody has it mapped any more; else BUSY. */
bshm_status bshm__rest_leave(const bshm_segment *segment, bshm_error *error);

/* ------------------------------------------------------------------ lock.c */

/*
 * Takes a lock word of the segment, waiting until `deadline` (monotonic, ns). *dead: it was taken
 * from a process that is gone, and the caller mends what that has left. *starving is 1 while a waiter
 * has waited long; those who have not waited long do not take the lock then.
 */
bool bshm__word_lock(
	bshm_segment *segment, uint64_t *word, uint32_t *starving, uint64_t deadline, bool *dead);
/*
 * Before a lock is taken, while the process has none: gives the processor away where the process
 * takes locks again and again. Returns the time.
 */
uint64_t bshm__lock_breathe(bshm_segment *segment);
/* OK or TIMEOUT, READ_ONLY, UNAVAILABLE. What dead processes left is mended before it returns. */
bshm_status bshm__lock(bshm_segment *segment, uint64_t wait_ns, bshm_error *error);
void bshm__unlock(bshm_segment *segment);

/* ------------------------------------------------------------------ directory.c */

/* A name padded with zeros to the 64 bytes that an entry holds. */
typedef union {
	uint8_t bytes[BSHM_NAME_MAX + 1];
	uint64_t words[(BSHM_NAME_MAX + 1) / 8];
} bshm__name;

bshm__name bshm__name_of(const char *name, size_t length);
/* Copies a descriptor out of the segment word by word. */
bshm_descriptor bshm__descriptor_read(const bshm_entry *entry, uint64_t generation);
bool bshm__descriptor_sound(const bshm_segment *segment, const bshm__name *name,
	const bshm_descriptor *descriptor, uint64_t generation);
/* Finds a name without a lock: OK and its index, NOT_FOUND, or BUSY. */
bshm_status bshm__entry_find(const bshm_segment *segment, const bshm__name *name, uint32_t *index);

/* Which chain a name belongs to. */
uint32_t bshm__name_head(const bshm_segment *segment, const bshm__name *name);
bshm__name bshm__entry_name(const bshm_entry *entry);
bool bshm__entry_named(const bshm_entry *entry, const bshm__name *name);

/*
 * Takes the lock once the filter is not being cleared any more (waiting for that until `deadline`:
 * TIMEOUT); *current is what bshm__entry_current() then says. Not OK: no lock is held.
 */
bshm_status bshm__lock_settled(bshm_segment *segment, const bshm__name *name, uint64_t deadline,
	uint32_t *index, bshm_descriptor *descriptor, bshm_status *current, bshm_error *error);

/* All below: under the lock. */

/* What a name stands for: OK (published), BUSY (being cleared), CORRUPT, or NOT_FOUND. */
bshm_status bshm__entry_current(
	bshm_segment *segment, const bshm__name *name, uint32_t *index, bshm_descriptor *descriptor);
bshm_status bshm__entry_create(
	bshm_segment *segment, const bshm__name *name, uint32_t *index, bshm_error *error);
/*
 * Makes `descriptor` the one in force, with one store, as a new set of `items` keys; fills its
 * generation, publication, counter and checksum.
 */
void bshm__entry_publish(
	bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor, uint64_t items);
/* The same for a set that goes on: it keeps its publication and its counter. */
void bshm__entry_extend(bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor);
/* Publishes "absent", and frees the entry when no op is going to publish here. */
void bshm__entry_drop(bshm_segment *segment, uint32_t index);
/* Frees the entry when it has neither a filter nor an op; sets its `builders`. */
void bshm__entry_tidy(bshm_segment *segment, uint32_t index);
/* After a holder died: finishes its rename, rebuilds chains and builder flags. */
void bshm__directory_repair(bshm_segment *segment);

/* ------------------------------------------------------------------ blocks.c */

bool bshm__run_in_bounds(const bshm_segment *segment, const bshm_run *run);
/*
 * Walks a run's partitions in order, checking bounds and checksum; false: it is damaged. Fills
 * `list` (run->count numbers) and sets the bits in `claimed`, where they are not NULL.
 */
bool bshm__run_walk(
	const bshm_segment *segment, const bshm_run *run, uint32_t *list, uint64_t *claimed);

typedef struct {
	uint32_t free;
	uint32_t largest;
} bshm__space;

/* Private scratch: one bit a partition, set where it is claimed. Free with free(). */
uint64_t *bshm__blocks_map(const bshm_segment *segment);
/*
 * Fills the map from what descriptors and ops claim. Under the lock (`locked`) it is exact, and
 * a filter whose descriptor is damaged is unpublished.
 */
bshm__space bshm__blocks_survey(bshm_segment *segment, uint64_t *claimed, bool locked);
/*
 * Under the lock: takes `count` free partitions, neighbours where there are, any otherwise.
 * False: there are not so many; *space says how many there are.
 */
bool bshm__blocks_take(
	bshm_segment *segment, uint32_t count, uint64_t *claimed, bshm_run *run, bshm__space *space);

/* Under the lock: `free` partitions were found, and were too few; and: that may be over. */
void bshm__space_note(bshm_segment *segment, uint32_t free);
void bshm__space_forget(bshm_segment *segment);
/* Without the lock: was there no room for `count` partitions some ms ago, and has none come back since? */
bool bshm__space_lacks(bshm_segment *segment, uint64_t count, uint32_t *free);

/*
 * Divides a run whose partitions the caller has claimed: part i takes the next counts[i] of them.
 * False: the run is damaged.
 */
bool bshm__run_divide(const bshm_segment *segment, const bshm_run *run, const uint32_t *counts,
	uint32_t parts, bshm_run *out);

/* ------------------------------------------------------------------ layers.c */

/*
 * All layers of a sound descriptor, the oldest first, checked one by the other; false: damaged, or
 * the descriptor is not in force any more.
 */
bool bshm__layers_read(const bshm_segment *segment, const bshm_descriptor *descriptor,
	bshm_layer layers[BSHM_LAYERS_MAX]);
bool bshm__layer_sound(const bshm_segment *segment, const bshm_layer *layer);
/*
 * Under the lock: makes the `count` layers, the oldest first, those of a descriptor that is not in
 * force yet: all but the last go into free places of layers[]. `map` is scratch
 * (bshm__blocks_map()). False: there are no places, which cannot be while the segment is sound.
 */
bool bshm__layers_store(bshm_segment *segment, bshm_descriptor *descriptor,
	const bshm_layer *layers, uint32_t count, uint64_t *map);

/* ------------------------------------------------------------------ ops.c */

/* All under the lock. */

/* Registers work on an entry; for a build or clear, adders keep a journal of hashes under
 * `seed` from now on. NULL: 64 are running. */
bshm_op *bshm__op_begin(
	bshm_segment *segment, uint32_t kind, uint32_t entry, uint64_t seed, bool counting);
/* Does somebody make the filter grow right now? */
bool bshm__entry_is_growing(const bshm_segment *segment, uint32_t index);
/* Puts a run into the op: claims its partitions. */
void bshm__op_claim(bshm_segment *segment, bshm_op *op, const bshm_run *run);
bool bshm__op_sound(const bshm_segment *segment, const bshm_op *op);
void bshm__op_end(bshm_segment *segment, bshm_op *op);
/* Takes back what dead or given-up ops hold; finishes a clear whose process died. */
void bshm__ops_reap(bshm_segment *segment);
bool bshm__entry_has_op(const bshm_segment *segment, uint32_t index);
/* Has it one for which adders keep a journal? */
bool bshm__entry_has_journal(const bshm_segment *segment, uint32_t index);
/*
 * Notes a key in the journal of every build and clear of the entry. 1 = noted, 0 = there is none
 * that keeps a journal, -1 = a journal is full (a build then fails by itself). `stands`: the key is
 * in a published set, too.
 */
int bshm__journal_add(bshm_segment *segment, uint32_t index, const bshm_key *key, bool stands);
/* Moves up to `room` hashes of the op's journal to `out`; 0 = it is empty. */
size_t bshm__journal_take(bshm_segment *segment, bshm_op *op, bshm_hash *out, size_t room);
/*
 * Sets a filter's bits for all keys of the journal; returns how many were new there. Takes
 * nothing out, so it may be interrupted and done again.
 */
uint64_t bshm__journal_apply(bshm_segment *segment, bshm_op *op, const bshm_view *view);

/* ------------------------------------------------------------------ query.c */

/* Where the bits of one layer are. */
typedef struct {
	uint8_t *partitions; /* the first partition; a scattered run: the segment's first */
	uint32_t *map;       /* scattered run: partition -> its place; private; else NULL */
	uint32_t partition_count;
	uint32_t hash_count;
} bshm__parts;

static inline uint64_t *bshm__parts_at(const bshm__parts *parts, uint32_t i)
{
	const size_t place = parts->map == NULL ? i : parts->map[i];
	return (uint64_t *) (void *) (parts->partitions + place * BSHM_PARTITION_BYTES);
}

static inline uint64_t *bshm__parts_of(const bshm__parts *parts, bshm_hash h)
{
	return bshm__parts_at(parts, bshm__hash_partition(h, parts->partition_count));
}

/* An epoch that was worked out, and when it surely lasts, by the system's clock. */
typedef struct {
	uint64_t from_ns;
	uint64_t sure_ns; /* from then on */
	uint32_t epoch;
} bshm__epoch_span;

/* What a question needs comes first, in two lines of the processor's cache. */
struct bshm_view {
	const uint64_t *generation_word; /* NULL: this place in the cache is empty */
	uint64_t generation;
	uint64_t seed;
	bshm__parts newest;
	bshm__parts *older; /* the layers before, newest first; private; NULL: there are none */
	uint32_t older_count;
	uint32_t path; /* how it is asked: query.c */
	bshm__name name;
	const bshm_segment *segment;
	uint32_t entry;
	uint32_t line_probes;   /* growing: that the keys of all layers have in a line */
	bshm__epoch_span epoch; /* sliding: the last that was asked for */
	bshm_descriptor descriptor;
};

/* Lays a view over layers: OK, NO_SPACE (private memory), or CORRUPT. */
bshm_status bshm__view_lay(const bshm_segment *segment, bshm_view *view,
	const bshm_descriptor *descriptor, const bshm_layer *layers);
void bshm__view_release(bshm_view *view);
/* Is the hash maybe in the filter? */
bool bshm__view_has(const bshm_view *view, bshm_hash h);

/* The layer that holds layer i of the view, the oldest first. */
static inline const bshm__parts *bshm__view_layer(const bshm_view *view, uint32_t i)
{
	return i == view->older_count ? &view->newest : &view->older[view->older_count - 1 - i];
}

/* ------------------------------------------------------------------ geometry.c */

#define BSHM_USED_FIXED   0.955 /* part of a partition's limit that is used: bshm_geometry_for() */
#define BSHM_USED_GROWING 0.985

bshm_geometry bshm__geometry(uint32_t kind, double error_rate, uint64_t capacity, double used);
/* Is a growing filter of this capacity more than the one partition that all begin with? */
bool bshm__is_sized(double error_rate, uint64_t capacity);
/* Describes the first layer of a filter of descriptor->capacity keys, or more; and the next one. */
bshm_layer bshm__layer_first(const bshm_descriptor *descriptor, uint64_t *partition_count);
bshm_layer bshm__layer_next(const bshm_descriptor *descriptor, const bshm_layer *first,
	const bshm_layer *last, uint64_t *partition_count);

bshm_info bshm__info_of(const bshm_view *view, const bshm_layer *layers, uint64_t items);
/* About how many different keys set the bits of a layer, the oldest being layer 0. */
double bshm__layer_items(const bshm_view *view, uint32_t layer);

/* ------------------------------------------------------------------ counting.c */

/* Adds one to the counters of a hash; true: one of them was 0. */
bool bshm__counters_add(uint64_t *words, bshm_hash h, uint32_t hash_count);
/* The smallest of the hash's counters. */
uint32_t bshm__counters_least(const uint64_t *words, bshm_hash h, uint32_t hash_count);
/* Adds the counters of one partition to those of another that nobody else writes. */
void bshm__counters_merge(uint64_t *to, const uint64_t *from);

/* ------------------------------------------------------------------ sliding.c */

/* A third of the window, in ns. */
uint64_t bshm__epoch_width(uint32_t window_s);
/* The origin of a new filter, whose epoch is BSHM_EPOCH_FIRST now. All filters' epochs of one
 * length begin at the same times. */
uint64_t bshm__epoch_origin(const bshm_segment *segment, uint32_t window_s);
uint32_t bshm__epoch_now(const bshm_segment *segment, const bshm_descriptor *descriptor);
/* An epoch, and how far into it the filter is: of one reading of the clock. */
typedef struct {
	uint32_t epoch;
	uint64_t phase_ns;
} bshm__moment;
bshm__moment bshm__moment_now(const bshm_segment *segment, const bshm_descriptor *descriptor);
/* Ends the epochs of all keys: the next epoch is as many later as there are lanes. */
void bshm__epoch_skip(const bshm_segment *segment, bshm_descriptor *descriptor);
/* The epochs[] word of a partition. */
uint64_t *bshm__epoch_word(const bshm_segment *segment, const uint64_t *partition);
/* Which lanes of a partition with this word are in the window at `epoch`: four bits. */
uint32_t bshm__lanes_live(uint64_t word, uint32_t epoch);
bool bshm__sliding_has(bshm_view *view, const uint64_t *words, bshm_hash h);
/* 1 = added and was certainly not there, 0 = added; TIMEOUT and the lock's other failures. */
int bshm__sliding_add(bshm_segment *segment, const bshm_view *view, bshm_hash h, bshm_error *error);
/* The same where nobody else writes the partitions, or under the lock. */
bool bshm__sliding_put(const bshm_view *view, bshm_hash h);
/* Marks a partition that has just been zeroed. */
void bshm__lanes_reset(const bshm_segment *segment, const uint64_t *partition);
/*
 * Adds the lanes of one partition of `from` to one of `to`, which nobody else writes: each to the
 * lane that has its age there.
 */
void bshm__lanes_merge(
	const bshm_view *to, uint64_t *to_words, const bshm_view *from, const uint64_t *from_words);
/* A private copy of a partition's live lanes, as if `epoch`, the present one, were the first. */
void bshm__lanes_export(
	uint64_t *to, const bshm_view *from, const uint64_t *from_words, uint32_t epoch);

/* ------------------------------------------------------------------ add.c */

/* Sets a hash in the newest layer, whatever its kind; true: it was certainly not there. Under the
 * lock, or in a filter that is not published yet. */
bool bshm__view_put(const bshm_view *view, bshm_hash h);
/* Sorts the hashes; returns how many different ones there are. */
size_t bshm__hashes_distinct(bshm_hash *hashes, size_t count);

/* ------------------------------------------------------------------ grow.c */

/*
 * Gives the viewed filter one more layer. OK: it has one more, or has been replaced: look again.
 * `wait`: if somebody else is growing it, wait for him, and after a page's time do it oneself; else
 * leave it to him. NO_SPACE, TIMEOUT, CORRUPT.
 */
bshm_status bshm__filter_grow(
	bshm_segment *segment, const bshm_view *view, bool wait, bshm_error *error);

/* ------------------------------------------------------------------ spool.c */

/*
 * Hashes set aside in private memory, grouped by their top bits, which is also the order of
 * their partitions whatever the number of partitions will be.
 */
typedef struct bshm__spool bshm__spool;

/* With `keep_copies` a hash is kept as often as it comes; else there may be one of each. */
bshm__spool *bshm__spool_new(bool keep_copies);
void bshm__spool_free(bshm__spool *spool);
/* False: no memory left. */
bool bshm__spool_add(bshm__spool *spool, bshm_hash hash);
uint64_t bshm__spool_count(const bshm__spool *spool);
/* About how many different hashes there are: exact when all are, or when there are few. */
bool bshm__spool_distinct(const bshm__spool *spool, uint64_t *distinct);
/* Sets all of them in a new filter that nobody else writes; returns how many keys were new. */
uint64_t bshm__spool_apply(const bshm__spool *spool, const bshm_view *view);

static inline double bshm__double(uint64_t bits)
{
	double value;
	__builtin_memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint64_t bshm__bits(double value)
{
	uint64_t bits;
	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

#endif
