/*
 * bshm.h - the engine: many Bloom filters in one shared-memory segment.
 *
 * The PHP binding, the tests and the benchmarks call these functions, and those of bshm_records.h
 * for the record store. The engine knows no PHP type, prints nothing, and calls no function of its
 * caller while it holds a lock.
 *
 * A `bshm_segment` is one process's attachment; several threads may call its functions at once. A
 * `bshm_views` (names resolved to filters) belongs to one thread and one segment, and is freed
 * before the segment is closed. A filter's name has 1 to BSHM_NAME_BYTES_MAX bytes: the caller of a
 * function that changes filters checks that; all other functions return BSHM_E_RANGE.
 *
 * Statuses are ints: 0 or positive is success, negative one of BSHM_E_*. Functions with a
 * `bshm_error *` fill it on every failure; it may not be NULL. Two groups of statuses have a name:
 *
 *   view statuses  NOT_FOUND; CORRUPT; BUSY, the filter is being cleared or was replaced again and
 *                  again; RANGE, a name of a wrong length; NO_SPACE, no private memory. Such a
 *                  function takes no lock and writes nothing shared.
 *   lock statuses  READ_ONLY; TIMEOUT, the segment's lock was not free in time; UNAVAILABLE, this
 *                  process cannot take locks (no descriptor, say). Adds and removals wait 50 ms for
 *                  the lock, all others a second. As a rule it is held for microseconds.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_H
#define BSHM_H

#include "core/bshm_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------ segment */

#define BSHM_FILTER_BYTES_MIN  (UINT64_C(1) << 20)
#define BSHM_FILTER_BYTES_MAX  (UINT64_C(1) << 43)
#define BSHM_CACHE_BYTES_MIN   (UINT64_C(1) << 20)
#define BSHM_CACHE_BYTES_MAX   (UINT64_C(1) << 34)
#define BSHM_FILTER_UNIT_BYTES UINT64_C(8192) /* memory is given out in partitions of this size */
#define BSHM_FILTER_COUNT_MAX  16384          /* of a segment, however large it is */
#define BSHM_CAPACITY_MAX      (UINT64_C(1) << 40)
#define BSHM_NAME_BYTES_MAX    63
#define BSHM_WINDOW_MAX_S      315360000
#define BSHM_SOURCE_BYTES_MAX  200 /* of the text that says where a followed filter comes from */
#define BSHM_MAX_LAG_MAX_S     315360000

typedef struct bshm_segment bshm_segment;

typedef struct {
	const char *path;
	uint64_t
		filter_bytes;     /* BSHM_FILTER_BYTES_*, of a new segment; an existing one keeps its own */
	uint64_t cache_bytes; /* the record store: BSHM_CACHE_BYTES_*; 0 = none; the same */
	uint64_t cache_records; /* at most; 0 = as many as fit */
	uint32_t mode;          /* permission bits of a new file; an existing one may not have more */
	bool readonly;
	bool huge_pages;
	bool attach_only; /* never create a segment; `readonly` means that too */
} bshm_options;

/*
 * Attaches to the segment at options->path. Creates it where there is no file and the options allow
 * that. Does not wait for another creator, or for a process that wakes a segment on a disk or
 * brings it to rest: that is BUSY, try again soon. Of a creator error->process_id is the process id
 * by its own count (0: not known), error->uid the user. BUSY also: a file on a disk was not at
 * rest, and has been removed; the next call makes a new one. UNAVAILABLE (not openable, foreign
 * owner, wider mode, not a file, not at rest; ABSENT: there is no file, and none was to be
 * created), NO_SPACE, INCOMPATIBLE (another layout), CORRUPT (damaged or truncated), TIMEOUT
 * (another thread attaches or forks). Cost: about 50 microseconds for an existing segment; for a
 * new one the reservation of its memory; on a disk a sync.
 */
bshm_status bshm_segment_open(const bshm_options *options, bshm_segment **out, bshm_error *error);
/*
 * Unmaps the segment, and keeps what it holds. NULL is allowed. On a disk the last process that
 * closes the segment waits until all of it is written there, and marks it: only then is it believed
 * after a reboot.
 */
void bshm_segment_close(bshm_segment *segment);
/*
 * Is the attached file still the one at its path? False only when there is no file, or another one:
 * then processes that attach from now on do not see this segment. Cost: one look at the path.
 */
bool bshm_segment_at_path(const bshm_segment *segment);
/* Is there certainly no file at the path? Cost: one look at it. */
bool bshm_segment_absent(const char *path);
/*
 * As bshm_segment_close(), and returns whether the segment is at rest: OK (always in memory, where
 * there is nothing to do), BUSY (other processes use it), UNAVAILABLE or NO_SPACE (of the disk).
 * NULL is not allowed. Cost: the time in which the disk writes all changes.
 */
bshm_status bshm_segment_rest(bshm_segment *segment, bshm_error *error);

typedef struct {
	uint32_t layout_version;
	uint32_t owner_uid;
	uint32_t mode;
	uint64_t filter_bytes;
	uint64_t filter_bytes_free;
	uint64_t largest_free_bytes; /* the largest run of neighbouring free partitions */
	uint64_t filters;
	uint64_t attached; /* processes; above 255 an estimate */
	uint64_t repairs;  /* since the segment was created, as lock_timeouts */
	uint64_t lock_timeouts;
	uint64_t questions; /* sums of the filters' usage */
	uint64_t maybes;
	uint64_t outbox_keys;  /* that wait to be sent to other hosts */
	uint64_t outbox_bytes; /* the room for them: 0 = the segment has no outbox */
	uint64_t outbox_bytes_free;
	uint64_t unsent; /* sum of the filters' */
} bshm_stat;

/*
 * Figures for the operator. Waits 50 ms for the lock, to take back what dead processes left;
 * without the lock it goes on, and the free bytes are an estimate. UNAVAILABLE (the file cannot be
 * opened again), TIMEOUT (another thread attaches), NO_SPACE (private memory: a bit for each
 * partition). Cost: all descriptors, the links of scattered filters and up to 35,000 letters of the
 * outbox, about 1 ms; and up to 6 ms to count the processes.
 */
bshm_status bshm_segment_stat(bshm_segment *segment, bshm_stat *out, bshm_error *error);

/*
 * Checks the whole segment. After the lock has been released it calls `problem`, with `context`,
 * for each of the first 64 faults. Returns how many there were, or a negative status. UNAVAILABLE:
 * this process cannot take locks, so the record store was not checked. TIMEOUT: a lock was not free
 * within a second; faults of the record store up to there are reported. NO_SPACE (private memory).
 * A process without the lock (UNAVAILABLE, or read-only) may take work in progress for a fault.
 * Cost: the directory and the link table, no filter bits; and all records, a thousand under one
 * hold of a shard's lock.
 */
typedef void (*bshm_problem)(void *context, const char *what, const char *name);
int bshm_segment_check(
	bshm_segment *segment, bshm_problem problem, void *context, bshm_error *error);

/* ------------------------------------------------------------------ questions */

typedef struct bshm_views bshm_views;

/*
 * Private to a thread; NULL: no memory. Up to 256 views, about 100 kB, and the links of scattered
 * filters.
 */
bshm_views *bshm_views_new(void);
/* Hands in first, so the segment must still be open. By the thread that made them; in the child of
 * a fork it does nothing with the views of another thread. */
void bshm_views_free(bshm_views *views);

/* What a filter was asked since it was published. */
typedef struct {
	uint64_t questions; /* keys */
	uint64_t maybes;    /* of these: answered "maybe" */
	uint64_t fetches;   /* values asked for with a loader, where the filter has answered */
	uint64_t denied;    /* of these: the filter said no, and no value was stored */
	uint64_t found;     /* of these: a stored value was returned */
	uint64_t loaded;    /* of these: the loader has returned a value */
} bshm_usage;

/*
 * A thread counts its questions in its views. This call adds the counts to the filters, where other
 * processes read them. A fork and bshm_views_free() do so too. A killed process loses what it has
 * not handed in. A read-only segment takes no counts. Takes no lock. Cost: a look at 256 views, and
 * up to six atomic additions for each that was asked.
 */
void bshm_views_hand_in(bshm_views *views);

typedef struct {
	const char *bytes;
	size_t length;
} bshm_key;

/*
 * Is `key` (maybe) in the filter? 1 = maybe, 0 = certainly not, negative = no answer is possible
 * (view statuses): the caller says "maybe". Never waits. Cost: one hash and `hash_count` loads
 * within 8 kB; in a growing filter one line of 64 bytes a layer first; a name that the thread has
 * not asked about for long costs a look-up in the directory.
 */
int bshm_filter_has(bshm_segment *segment, bshm_views *views, const char *name, size_t name_length,
	const char *key, size_t key_length);

/* A filter at one generation; valid until the next call that resolves a name. */
typedef struct bshm_view bshm_view;

#define BSHM_BATCH 64

/*
 * The current view of a filter: OK, or a view status. Cost: as bshm_filter_has() without the key.
 */
bshm_status bshm_view_open(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, bshm_view **out);
/*
 * Asks `count` (1..BSHM_BATCH) keys at once. All memory is requested before any is used, which
 * makes a large filter fast. The answers hold only if bshm_view_current() is true after the last
 * batch. Cost: that of `count` questions, whose cache misses overlap.
 */
void bshm_view_has(const bshm_view *view, const bshm_key *keys, unsigned count, bool *answers);
/* True: all that was read through the view belongs to its generation, which is still in force. */
bool bshm_view_current(const bshm_view *view);
/*
 * Where the filter lies in the memory of filters: calls `told` for each run of neighbouring
 * partitions, from the oldest layer's first one on. True of the filter if bshm_view_current() is
 * true afterwards. Cost: a step for each partition.
 */
typedef void (*bshm_run_told)(void *context, uint64_t first, uint64_t count);
void bshm_view_runs(const bshm_view *view, bshm_run_told told, void *context);
/*
 * The same with the fill of each partition, as bshm_info has the filter's. Cost: reads every bit of
 * the filter, about 0.1 s a GB.
 */
typedef void (*bshm_fill_told)(void *context, double fill);
void bshm_view_fills(const bshm_view *view, bshm_fill_told told, void *context);
/* Counts questions whose answers held, and how many of them were "maybe". */
void bshm_view_answered(bshm_view *view, uint64_t questions, uint64_t maybes);

/* Identifies one published set of keys in the segment, whatever names its filter had or has. */
typedef struct {
	uint64_t publication;
} bshm_set;

bshm_set bshm_view_set(const bshm_view *view);
/* How a value was obtained for a key that the set was asked about. */
typedef enum {
	BSHM_FETCHED_DENIED,  /* not at all: the set does not have the key */
	BSHM_FETCHED_STORED,  /* it was stored */
	BSHM_FETCHED_LOADED,  /* by its loader */
	BSHM_FETCHED_NOTHING, /* the loader found none: a false positive */
	BSHM_FETCHED_FAILED   /* the loader failed */
} bshm_fetched;

/*
 * Counts fetches of one outcome. Does nothing if the set is not in force any more, or the filters
 * are read-only. Takes no lock.
 */
void bshm_filter_fetched(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const bshm_set *set, bshm_fetched outcome, uint64_t count);

/* ------------------------------------------------------------------ adding */

/*
 * Adds a key. 1 = it was certainly not there, 0 = it was (maybe) there. NOT_FOUND (nothing was
 * changed; with the cause JOURNAL: a set is being made, and will have the key if it is published),
 * CORRUPT, FULL, NO_SPACE (no room to grow, no private memory, or the journal of a clear is full),
 * lock statuses; TIMEOUT also if the filter is replaced again and again. Takes no lock, except: a
 * build or clear of this filter runs; the filter counts; the call is the first in a sliding
 * filter's epoch that touches a partition; or it makes a filter grow, which costs the zeroing of
 * the new layer. A call that needs a layer that another process is making waits for that up to 50
 * ms. A key of a sliding filter is found for another window, also if it was there. Cost: a
 * question, and an atomic OR for each bit that was not set.
 */
int bshm_filter_add(bshm_segment *segment, bshm_views *views, const char *name, size_t name_length,
	const char *key, size_t key_length, bshm_error *error);

/*
 * Adds all keys, or none (FULL). Returns in *added how many were certainly new, and in `fresh`,
 * where it is not NULL, for each key whether it was. Statuses as bshm_filter_add(). On TIMEOUT and
 * NO_SPACE some may have been added; adding again is harmless (in a counting filter it counts
 * again). Cost: 17 bytes of private memory a key; the lock, if it is needed, once for each 256
 * keys.
 */
bshm_status bshm_filter_add_many(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const bshm_key *keys, size_t count, bool *fresh, uint64_t *added,
	bshm_error *error);

/* ------------------------------------------------------------------ counting */

#define BSHM_COUNT_MAX 15 /* a counter that has reached it does not change any more */

/*
 * Takes one add of a key back. 1 = done, 0 = it was certainly absent, and nothing was changed. If
 * the key was never added but is maybe present, other keys lose counts, and may be denied.
 * NOT_FOUND, CORRUPT, RANGE, INCOMPATIBLE (not a counting filter), NO_SPACE (private memory), lock
 * statuses (TIMEOUT also: the filter is being cleared). Keys that a running load has gathered are
 * not changed. Cost: a question under the lock.
 */
int bshm_filter_remove(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const char *key, size_t key_length, bshm_error *error);

/*
 * How often a key was added, at most: 0 = certainly not, BSHM_COUNT_MAX = that often or more. View
 * statuses, INCOMPATIBLE (not a counting filter). Cost: as a question.
 */
int bshm_filter_count(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const char *key, size_t key_length);

/* ------------------------------------------------------------------ filters */

typedef struct {
	double error_rate;  /* (0, 0.5] */
	uint64_t capacity;  /* keys, 1..BSHM_CAPACITY_MAX; a hint for builds: 0 = from the keys */
	uint32_t expansion; /* 0 = does not grow, 2..32 = how much larger each next layer is */
	uint32_t window_s;  /* > 0: sliding, 1..BSHM_WINDOW_MAX_S; then expansion is 0 */
	bool counting;      /* then window_s and expansion are 0 */
	const char *seed;   /* NULL = random */
	size_t seed_length;
	bool like;      /* builds: as the existing filter, if there is one: bshm_build_begin() */
	uint32_t named; /* with `like`: BSHM_NAMED_..., which must be as in the existing filter */
} bshm_parameters;

#define BSHM_NAMED_ERROR_RATE 1u
#define BSHM_NAMED_EXPANSION  2u
#define BSHM_NAMED_COUNTING   4u

/*
 * 1 = created, 0 = one with the same parameters exists (without a seed any seed is the same);
 * EXISTS (error->cause names the parameter that differs, error->asked and ->available, or the
 * rates, are its two values), NO_SPACE (filter memory, directory, 64 ops, private memory), CORRUPT
 * (the filter is damaged: it stays, and answers "maybe"), UNAVAILABLE (no random seed), lock
 * statuses. Cost: zeroing the filter, about 0.1 s a GB, without the lock.
 */
int bshm_filter_reserve(bshm_segment *segment, const char *name, size_t name_length,
	const bshm_parameters *parameters, bshm_error *error);

/*
 * 1 = done, 0 = no such filter; lock statuses. A clear answers "maybe" while it zeroes (about 0.1 s
 * a GB, without the lock; a sliding filter is cleared at once). Clear only: CORRUPT, NO_SPACE (64
 * ops, private memory), TIMEOUT also if another clear of the filter runs.
 */
int bshm_filter_drop(
	bshm_segment *segment, const char *name, size_t name_length, bshm_error *error);
int bshm_filter_clear(
	bshm_segment *segment, const char *name, size_t name_length, bshm_error *error);

/*
 * A filter that has the name `to` is replaced in one step. NOT_FOUND, CORRUPT, NO_SPACE (directory;
 * copy: also filter memory, 64 ops, private memory), lock statuses (TIMEOUT also: `from` is being
 * cleared, or was replaced again and again). A filter that is renamed or copied to its own name
 * stays as it is. Cost: a rename copies no bit; a copy reads and writes all, without the lock.
 */
bshm_status bshm_filter_rename(bshm_segment *segment, const char *from, size_t from_length,
	const char *to, size_t to_length, bshm_error *error);
bshm_status bshm_filter_copy(bshm_segment *segment, const char *from, size_t from_length,
	const char *to, size_t to_length, bshm_error *error);

/*
 * The union of `count` filters and of `into`, if it exists, published as `into` with one store. All
 * must be of one kind, seed and geometry, layer by layer (one that has grown more than another has
 * layers that the other lacks); a counting filter's counts are added up. NOT_FOUND (a source),
 * INCOMPATIBLE, CORRUPT, NO_SPACE, lock statuses (TIMEOUT also: a source was replaced again and
 * again). error->source: which source it was, from 1 on; 0: `into`, or none of them. Cost: reading
 * all sources, and writing the union, without the lock.
 */
bshm_status bshm_filter_merge(bshm_segment *segment, const char *into, size_t into_length,
	const bshm_key *from, size_t count, bshm_error *error);

#define BSHM_INFO_LAYERS_MAX 32

typedef struct {
	uint64_t capacity;
	uint64_t items;
	double error_rate; /* the layer's share of the filter's */
	uint32_t hash_count;
	uint32_t partition_count;
	uint64_t bytes;
	double fill;
	double estimated_error_rate;
} bshm_layer_info;

typedef struct {
	const char *type; /* "fixed", "scalable", "sliding" or "counting" */
	double error_rate;
	uint64_t capacity; /* keys; scalable: of all its layers */
	uint64_t items;    /* sliding: estimated, of the keys that are still found */
	uint32_t expansion;
	uint32_t window_s;
	uint32_t hash_count;      /* of the newest layer */
	uint32_t partition_count; /* of all layers */
	uint64_t bytes;
	double fill; /* share of bits set (counting: of counters not 0; sliding: mean of live lanes) */
	/*
	 * An absent key's chance of "maybe", from the bits. In a partition of a plain filter: fill^k;
	 * of a sliding one: the sum, over the sets of live lanes, of +-(share of positions set in all
	 * of them)^k. Of several layers: 1 - product of (1 - rate). The first is the mean, the second
	 * that of a key that meets the worst partition of each layer.
	 */
	double estimated_error_rate;
	double worst_partition_error_rate;
	uint64_t generation;
	double published_s;       /* unix time */
	uint64_t false_positives; /* confirmed by loaders */
	bshm_usage usage;         /* as far as it is handed in; the calling thread's is */
	bool followed;            /* it follows a filter of another host: bshm_origin.h */
	bool stale;               /* it lags more than max_lag_s: every answer is "maybe" */
	uint32_t max_lag_s;       /* 0 = it never gets stale */
	double lag_s;             /* since its origin last said that this is its newest version */
	uint64_t epoch;           /* the origin's */
	uint64_t version;
	char source[BSHM_SOURCE_BYTES_MAX + 1]; /* "" if it is not followed, or the text is damaged */
	bool sends;                             /* keys of adds are left in the outbox */
	uint64_t unsent; /* such keys that found no room there, or are too long: other hosts may never
						have them, and this one loses them with the next version */
	uint32_t layer_count;
	bshm_layer_info layers[BSHM_INFO_LAYERS_MAX]; /* the oldest first */
} bshm_info;

/* Reads every bit of the filter (about 0.1 s a GB). OK, or a view status. */
bshm_status bshm_filter_info(
	bshm_segment *segment, bshm_views *views, const char *name, size_t name_length, bshm_info *out);
/*
 * The same from at most `partitions` (not 0) partitions of each layer, spread over it. A key may
 * lie in any partition, so they are much alike: fill, rates and a sliding filter's items are
 * estimates in a larger layer, 1 or 2 % off from 64 partitions. The worst rate is that of those
 * that are read. All else is exact. Cost: 8 kB of reading for each.
 */
bshm_status bshm_filter_estimate(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, uint32_t partitions, bshm_info *out);

/* 1 = published and sound, 0 = not (any view status). Cost: as bshm_view_open(). */
int bshm_filter_ready(
	bshm_segment *segment, bshm_views *views, const char *name, size_t name_length);

/*
 * Walks the published filters in no order, those that are being cleared too: start with *cursor =
 * 0; at the end it is 0 again. `name` takes BSHM_NAME_BYTES_MAX + 1 bytes. Returns the name's
 * length; 0: there was none left. Takes no lock. Cost of all steps: the directory.
 */
size_t bshm_filter_next(bshm_segment *segment, uint32_t *cursor, char *name);

/* ------------------------------------------------------------------ building */

/*
 * A build gathers hashes of keys aside (16 bytes of private memory a key), lays out a filter of the
 * right size in one pass, and publishes it with one store. One that bshm_restore_begin() has begun
 * with the file of a filter adds the keys to that filter's bits instead. Keys that are added to the
 * name meanwhile are in it too. Between these calls no lock is held; if a process dies at any
 * point, the filter from before stays in force. A build is used by one thread at a time, and by the
 * process that began it. After any failure it is only aborted.
 */
typedef struct bshm_build bshm_build;

/*
 * NO_SPACE (64 builds and clears run, the directory is full, no private memory), UNAVAILABLE (no
 * random seed), lock statuses.
 *
 * With `like` the build takes seed, kind, window, expansion and error rate of the filter that
 * exists at this moment; `parameters` count only if there is none, or a damaged one. EXISTS: a
 * parameter that is `named` differs. The caller gives no seed. If the existing filter has one
 * layer, and the keys are 0.6 to 1.0 of its capacity, its partitions, probes and capacity are kept
 * too: then two sets that differ in few keys differ in few bits. Else, and for the first filter,
 * the capacity is the keys divided by 0.8, so that the next loads fit. What is published meanwhile
 * changes nothing of this. `capacity` counts as so many keys at least.
 */
bshm_status bshm_build_begin(bshm_segment *segment, const char *name, size_t name_length,
	const bshm_parameters *parameters, bshm_build **out, bshm_error *error);
/*
 * NO_SPACE: the different keys cannot fit into the segment any more (checked when it would be full,
 * and at every doubling after that), or private memory ends, or the journal is full. If keys are
 * added to the name meanwhile, it takes the lock now and then: lock statuses, CORRUPT. About 20 ns.
 *
 * In a build that began with a file, as an add to a published filter: FULL, or, where a filter that
 * grows needs one more layer, NO_SPACE if there is no room for that. Cost: a question and a few
 * stores; no memory but that of layers.
 */
bshm_status bshm_build_key(
	bshm_build *build, const char *key, size_t key_length, bshm_error *error);
/* How many keys were offered so far, repeated ones counted. */
uint64_t bshm_build_offered(const bshm_build *build);
/*
 * Lays out, measures, publishes; `out` describes what was published. ERROR_RATE when the measured
 * mean rate is above max_error_rate (0: above 1.5 times the error rate asked for); NO_SPACE (filter
 * memory, private memory, journal), CORRUPT, lock statuses, UNAVAILABLE also in the child of a
 * fork. Ends the build whatever it returns. Cost: setting all bits and reading them, without the
 * lock; the journal's keys are added under it.
 *
 * In a build that began with a file `out` may be NULL: then nothing is measured.
 */
bshm_status bshm_build_publish(
	bshm_build *build, double max_error_rate, bshm_info *out, bshm_error *error);
/* Ends a build without publishing. NULL is allowed. Takes no lock. */
void bshm_build_abort(bshm_build *build);

/* ------------------------------------------------------------------ files */

/* The first eight bytes of files, the lowest first: bshm_filter_dump(), bshm_store_dump(), a
 * segment. A file that is CORRUPT for its MAGIC has them in error->magic. */
#define BSHM_FILTER_FILE_MAGIC UINT64_C(0x4d48534d4f4f4c42) /* "BLOOMSHM" */
#define BSHM_RECORD_FILE_MAGIC UINT64_C(0x4345524d4f4f4c42) /* "BLOOMREC" */
#define BSHM_DELTA_FILE_MAGIC  UINT64_C(0x544c444d4f4f4c42) /* "BLOOMDLT" */
#define BSHM_SEGMENT_MAGIC     UINT64_C(0x4d485342304d4c42) /* "BLM0BSHM" */

/*
 * Writes a published filter to a file: under a temporary name beside it, synced, then renamed, so
 * that a file at `path` is always whole. Mode 0600. *bytes is its size. NOT_FOUND, CORRUPT, RANGE,
 * IO (error->os_code), NO_SPACE (private memory), TIMEOUT (being cleared, or replaced again and
 * again). Takes no lock. Cost: reading the filter, writing and syncing the file. docs/FORMAT.md has
 * the format.
 */
bshm_status bshm_filter_dump(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const char *path, uint64_t *bytes, bshm_error *error);

/*
 * Publishes a filter from a file, in the place of any filter of that name. The whole file is
 * checked before the filter is published. A sliding filter has aged by the wall clock. IO, CORRUPT
 * (error->cause says what is wrong with the file), INCOMPATIBLE (another version or byte order),
 * NO_SPACE, lock statuses. Cost: reading the file once, and its hash, without the lock.
 */
bshm_status bshm_filter_restore(bshm_segment *segment, const char *name, size_t name_length,
	const char *path, bshm_error *error);

/*
 * Begins a build with the filter in such a file: its seed, sizes and keys. The whole file is read
 * and checked as by bshm_filter_restore(), which is this and bshm_build_publish(). Any number of
 * keys may be added by bshm_build_key() before that; of a sliding filter they are added now, and
 * each copy counts in a counting one. Statuses and cost as bshm_filter_restore().
 */
bshm_status bshm_restore_begin(bshm_segment *segment, const char *name, size_t name_length,
	const char *path, bshm_build **out, bshm_error *error);

/*
 * An image is a file that bshm_filter_dump() has made. Its check stands for all of its bytes: it is
 * XXH3-64 of its header, its layers and the checksums of all partitions. Reads and checks these
 * alone, so that damaged partitions are not seen. IO, CORRUPT, INCOMPATIBLE, NO_SPACE. Cost: 5 kB
 * of reading at most.
 */
bshm_status bshm_image_check(
	const char *image, uint64_t *check, uint64_t *bytes, bshm_error *error);

typedef struct {
	uint64_t from_bytes; /* the images */
	uint64_t to_bytes;
	uint64_t from_check;
	uint64_t to_check;
	uint64_t delta_bytes;
	uint64_t changed_bits;
	uint64_t raw_partitions; /* whose changes are so many that they are not coded */
} bshm_delta_stat;

/*
 * A delta is what two images of one filter differ in: of one kind (fixed or scalable), one seed and
 * one geometry, layer by layer; one that has grown more than the other has layers that the other
 * lacks. Either image and the delta make the other, byte for byte.
 *
 * Make: reads both images to their end, checks them, and writes the delta. Apply: reads the delta
 * and one of its images, `from`, and writes the other, `to`; *out has them in that order. With NULL
 * as `to` it checks all, and writes nothing: a proof that the delta makes the image. The
 * written file is complete, synced and checked, or not there; mode 0600; it may have the path of
 * one that is read. error->source is the file that the error is about, 1 to 3 in the order of the
 * arguments. IO, CORRUPT (damaged; MAGIC: something else), NO_SPACE (private memory), INCOMPATIBLE:
 * VERSION, BYTE_ORDER; WINDOW, COUNTING (filters that have no deltas: they travel whole); make also
 * KIND, SEED, GEOMETRY (the images differ in it); apply also IMAGE (`from` is neither image of the
 * delta). Cost: reading and hashing the images, writing the file, 4 MB of private memory. A delta
 * of some kB may make an image of any size, which bshm_delta_read() says before.
 */
bshm_status bshm_delta_make(
	const char *from, const char *to, const char *delta, bshm_delta_stat *out, bshm_error *error);
bshm_status bshm_delta_apply(
	const char *from, const char *delta, const char *to, bshm_delta_stat *out, bshm_error *error);
/*
 * As bshm_delta_apply(), and *build is one that bshm_restore_begin() would begin with the file that
 * was written: the partitions are filled while it is made. NULL: that cannot be begun, and
 * bshm_restore_begin() says why. From the moment when the head of the delta was read, keys that are
 * added to the name are in the build.
 */
bshm_status bshm_delta_restore(bshm_segment *segment, const char *name, size_t name_length,
	const char *from, const char *delta, const char *to, bshm_delta_stat *out, bshm_build **build,
	bshm_error *error);
/* What the header of a delta says: changed_bits and raw_partitions are 0. IO, CORRUPT,
 * INCOMPATIBLE; the rest of the file is not looked at. */
bshm_status bshm_delta_read(const char *delta, bshm_delta_stat *out, bshm_error *error);

/* ------------------------------------------------------------------ the outbox */

/*
 * Keys that were added to filters that follow another host's, and that the hosts are to be told of.
 * They lie in the segment until a reader has passed them on, whichever process dies meanwhile. A
 * reader that dies may leave keys that are passed on twice. There may be several readers.
 */
#define BSHM_OUTBOX_KEY_MAX 4072

/* One key in the outbox: for bshm_outbox_free(). */
typedef struct {
	uint64_t place;
	uint64_t state;
} bshm_outbox_letter;

/* `name`: the filter, as bshm_outbox_name() says. `key` is valid during the call only. */
typedef void (*bshm_outbox_told)(
	void *context, const bshm_outbox_letter *letter, uint64_t name, const bshm_key *key);

/* A number for a filter's name in this segment. Two names share one by accident only (2^-64). */
uint64_t bshm_outbox_name(const bshm_segment *segment, const char *name, size_t name_length);
/*
 * Tells of the keys that lie in the outbox, in no order; of all (`all`), or of those in pages where
 * one was left since the last reading: then a key may be missed, and is found by a reading of all.
 * Frees what dead writers had begun. A read-only process is told of none. Takes no lock. Cost: a
 * look at each page's mark, and at 64 lines of each page that is read; of all 64 kB to 4 MB, a
 * sixty-fourth of the filter memory.
 */
void bshm_outbox_read(bshm_segment *segment, bool all, bshm_outbox_told told, void *context);
/* The keys have been passed on: their room is free. What another reader has freed stays as it is.
 */
void bshm_outbox_free(bshm_segment *segment, const bshm_outbox_letter *letters, size_t count);

/* ------------------------------------------------------------------ the host */

/*
 * The system's monotonic clock, in nanoseconds. The coarse clock costs a fifth of that, and lags
 * behind by the length of the system's tick, 1 to 10 ms. Only the coarse one obeys
 * bshm_clock_set().
 */
uint64_t bshm_now_ns(void);
uint64_t bshm_now_coarse_ns(void);
void bshm_sleep_us(unsigned microseconds);
uint64_t bshm_process_id(void);
uint32_t bshm_user_id(void); /* the effective one: it owns the files that this process creates */
/* What %u in a path stands for: that number; on Windows the user's SID. */
#define BSHM_USER_TEXT_BYTES 192
void bshm_user_text(char out[BSHM_USER_TEXT_BYTES]);
/* For messages: who owns a file or folder; the folder that a file is in; how many bytes this user
 * may still write there. False: not known. */
bool bshm_owner_of(const char *path, uint32_t *uid, uint32_t *mode);
void bshm_folder_of(const char *path, char *out, size_t room);
bool bshm_disk_free(const char *folder, uint64_t *bytes);
/* Calls it in each child that this process forks. */
void bshm_at_fork(void (*in_child)(void));

/*
 * For tests: the clock of sliding filters and of expiry stays at `ns` in this process from now on;
 * 0 = the system's monotonic clock again.
 */
void bshm_clock_set(uint64_t ns);

/* ------------------------------------------------------------------ arithmetic */

typedef struct {
	uint32_t hash_count;
	uint32_t keys_per_partition;
	uint64_t partition_count;
} bshm_geometry;

/*
 * The smallest sound filter of a fixed size for `capacity` keys at `error_rate`, (0, 0.5]. A
 * partition of m bits holds -m/k ln(1 - p^(1/k)) keys at rate p (Bloom 1970); 4.5 % are kept back,
 * so that the mean over partitions whose loads differ by chance stays below the rate asked for. k
 * is the smallest number of probes within 1 % of the best size. Cost: at most 128 pow() and log().
 */
bshm_geometry bshm_geometry_for(double error_rate, uint64_t capacity);

#endif
