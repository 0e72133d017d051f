/*
 * bshm.h - the engine: many Bloom filters in one shared-memory segment.
 *
 * What the PHP binding, the tests and the benchmarks call: the segment and its filters here, the
 * record store in bshm_records.h. The engine keeps no PHP type, prints nothing, and never calls
 * back while it holds a lock.
 *
 * A `bshm_segment` is one process's attachment; its functions may be called by several threads
 * at once. A `bshm_views` (names resolved to filters) belongs to one thread and one segment, and
 * must not outlive it. Filter names are 1 to BSHM_NAME_BYTES_MAX bytes: the caller checks that,
 * except for questions, which answer BSHM_E_RANGE.
 *
 * Statuses are ints: 0 or positive is success, negative one of BSHM_E_*. Functions with a
 * `bshm_error *` fill it on every failure; it may not be NULL.
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

typedef struct bshm_segment bshm_segment;

typedef struct {
	const char *path;
	uint64_t filter_bytes;  /* for a new segment; an existing one keeps its own */
	uint64_t cache_bytes;   /* the record store; 0 = none */
	uint64_t cache_records; /* at most; 0 = as many as fit */
	uint32_t mode;          /* permission bits of a new file; an existing one may not have more */
	bool readonly;
	bool huge_pages;
	bool attach_only; /* never create a segment; `readonly` means that too */
} bshm_options;

/*
 * Attaches to the segment at options->path, creating it where there is no file. Never waits for
 * another creator, or for a process that brings a segment on a disk to rest: BSHM_E_BUSY then, try
 * again soon; for a creator error->process_id is its process id by its own count (0: not known),
 * error->uid its user. Costs about 20 microseconds for an existing
 * segment; creating one costs the reservation of its memory.
 * UNAVAILABLE (not openable, foreign owner, wider mode, not a file; ABSENT: there is no file, and
 * none was to be created), NO_SPACE, INCOMPATIBLE (another layout), CORRUPT (damaged or truncated),
 * BUSY.
 */
bshm_status bshm_segment_open(const bshm_options *options, bshm_segment **out, bshm_error *error);
/*
 * Unmaps; never changes what the segment holds. NULL is allowed. On a disk the last process that
 * closes it waits until all of it is written there, and marks it: only then is it believed after a
 * reboot.
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
 * As bshm_segment_close(), and says whether it is at rest: OK (always in memory, where there is
 * nothing to do), BUSY (others use it), UNAVAILABLE. Cost: what the disk takes to write what was
 * changed.
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
	uint64_t attached; /* processes */
	uint64_t repairs;
	uint64_t lock_timeouts;
} bshm_stat;

/*
 * Figures for the operator. Takes the lock for a moment to take back what dead processes left,
 * and goes on without when it cannot have it. Cost: the directory's size, about 1 ms at most.
 */
bshm_status bshm_segment_stat(bshm_segment *segment, bshm_stat *out, bshm_error *error);

/*
 * Checks the whole segment. Calls `problem` once for each fault, with `context`, after the lock
 * has been released; returns how many there were, or a negative status. UNAVAILABLE: this process
 * cannot take locks, so the record store was not checked; TIMEOUT. A process without the lock
 * (UNAVAILABLE, or read-only) may take work in progress for a fault. Cost: the directory and the
 * link table, no filter bits.
 */
typedef void (*bshm_problem)(void *context, const char *what, const char *name);
int bshm_segment_check(
	bshm_segment *segment, bshm_problem problem, void *context, bshm_error *error);

/* ------------------------------------------------------------------ questions */

typedef struct bshm_views bshm_views;

/* Private to a thread; NULL when there is no memory. About 100 kB, touched as it is used. */
bshm_views *bshm_views_new(void);
void bshm_views_free(bshm_views *views);

typedef struct {
	const char *bytes;
	size_t length;
} bshm_key;

/*
 * Is `key` (maybe) in the filter? 1 = maybe, 0 = certainly not, negative = not answerable
 * (NOT_FOUND, CORRUPT, BUSY): the caller says "maybe". Takes no lock, never waits, writes
 * nothing shared. Cost: one hash and `hash_count` loads within 8 kB.
 */
int bshm_filter_has(bshm_segment *segment, bshm_views *views, const char *name, size_t name_length,
	const char *key, size_t key_length);

/* A filter at one generation; valid until the next call that resolves a name. */
typedef struct bshm_view bshm_view;

#define BSHM_BATCH 64

/* The current view of a filter: OK, or NOT_FOUND, CORRUPT, BUSY. */
bshm_status bshm_view_open(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const bshm_view **out);
/*
 * Asks `count` (1..BSHM_BATCH) keys at once: all memory is requested before any is used, which
 * is what makes a large filter fast. The answers hold only if bshm_view_current() says so after
 * the last batch.
 */
void bshm_view_has(const bshm_view *view, const bshm_key *keys, unsigned count, bool *answers);
/* Was everything read from the view read from one generation, and is that the current one still? */
bool bshm_view_current(const bshm_view *view);

/* Tells one published set of keys from every other of the segment, whatever name it had or has. */
typedef struct {
	uint64_t publication;
} bshm_set;

bshm_set bshm_view_set(const bshm_view *view);
/* Counts a false positive: a loader found no value for a key that this set maybe has. Only if the
 * set is still in force. */
void bshm_filter_false_positive(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const bshm_set *set);

/* ------------------------------------------------------------------ adding */

/*
 * Adds a key. 1 = it was certainly not there, 0 = it was (maybe) there. NOT_FOUND (nothing was
 * changed; with the cause JOURNAL: a set is being made, and will have the key if it is published),
 * CORRUPT, FULL, NO_SPACE (it would have to grow), READ_ONLY, TIMEOUT. Takes no lock, unless a
 * load, copy or clear of this filter is running, the filter counts, or this call is the first in a
 * sliding filter's epoch to touch a partition, or the one that makes a filter grow: that costs the
 * zeroing of the new layer. A key of a sliding filter is found for another window, also if it was
 * there.
 */
int bshm_filter_add(bshm_segment *segment, bshm_views *views, const char *name, size_t name_length,
	const char *key, size_t key_length, bshm_error *error);

/*
 * Adds all keys, or none (FULL). Returns in *added how many were certainly new, and in `fresh`,
 * where it is not NULL, for each key whether it was. On TIMEOUT and NO_SPACE some may have been
 * added; adding again is harmless (in a counting filter it counts again).
 */
bshm_status bshm_filter_add_many(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const bshm_key *keys, size_t count, bool *fresh, uint64_t *added,
	bshm_error *error);

/* ------------------------------------------------------------------ counting */

#define BSHM_COUNT_MAX 15 /* where counts stay: they are then no longer taken back */

/*
 * Takes one add of a key back. 1 = done, 0 = it was certainly absent, and nothing was changed.
 * Removing a key that was never added, but is maybe present, takes away from the keys it looks
 * like. NOT_FOUND, CORRUPT, INCOMPATIBLE (not a counting filter), READ_ONLY, TIMEOUT. Takes the
 * segment's lock for a moment. What a running load has gathered is not changed.
 */
int bshm_filter_remove(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const char *key, size_t key_length, bshm_error *error);

/*
 * How often a key was added, at most: 0 = certainly not, BSHM_COUNT_MAX = that often or more.
 * NOT_FOUND, CORRUPT, BUSY, INCOMPATIBLE. Takes no lock and writes nothing shared.
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
} bshm_parameters;

/*
 * 1 = created, 0 = one with the same parameters exists; EXISTS (error->cause names the parameter
 * that differs, error->asked and ->available or the rates are its two values), NO_SPACE, READ_ONLY,
 * TIMEOUT.
 */
int bshm_filter_reserve(bshm_segment *segment, const char *name, size_t name_length,
	const bshm_parameters *parameters, bshm_error *error);

/* 1 = done, 0 = no such filter; READ_ONLY, TIMEOUT. A clear answers "maybe" while it zeroes. */
int bshm_filter_drop(
	bshm_segment *segment, const char *name, size_t name_length, bshm_error *error);
int bshm_filter_clear(
	bshm_segment *segment, const char *name, size_t name_length, bshm_error *error);

/* `to` takes the place of what has that name. NOT_FOUND, READ_ONLY, TIMEOUT, NO_SPACE (copy). */
bshm_status bshm_filter_rename(bshm_segment *segment, const char *from, size_t from_length,
	const char *to, size_t to_length, bshm_error *error);
bshm_status bshm_filter_copy(bshm_segment *segment, const char *from, size_t from_length,
	const char *to, size_t to_length, bshm_error *error);

/*
 * The union of `count` filters and of `into`, if it exists, published as `into` with one store.
 * All must be of one kind, seed and geometry, layer by layer (one that has grown more than another
 * has layers that the other lacks); a counting filter's counts are added up. NOT_FOUND (a source),
 * INCOMPATIBLE, NO_SPACE, READ_ONLY, TIMEOUT. error->source: which source it was, from 1 on.
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
	 * What an absent key's chance of "maybe" is, from the bits: a partition of a plain filter says
	 * it with fill^k; of a sliding one with the sum, over the sets of live lanes, of +-(share of
	 * positions set in all of them)^k; layers with 1 - product of (1 - rate). Mean, and for a
	 * key that meets the worst partition of each layer.
	 */
	double estimated_error_rate;
	double worst_partition_error_rate;
	uint64_t generation;
	double published_s;
	uint64_t false_positives; /* confirmed by loaders */
	uint32_t layer_count;
	bshm_layer_info layers[BSHM_INFO_LAYERS_MAX]; /* the oldest first */
} bshm_info;

/* Reads every bit of the filter (about 0.1 s a GB). OK, or NOT_FOUND, CORRUPT, BUSY. */
bshm_status bshm_filter_info(
	bshm_segment *segment, bshm_views *views, const char *name, size_t name_length, bshm_info *out);

/* Published and sound: 1 or 0. */
int bshm_filter_ready(
	bshm_segment *segment, bshm_views *views, const char *name, size_t name_length);

/*
 * Walks the published filters in no order: start with *cursor = 0, ends with 0. `name` takes
 * BSHM_NAME_BYTES_MAX + 1 bytes. Returns the name's length.
 */
size_t bshm_filter_next(bshm_segment *segment, uint32_t *cursor, char *name);

/* ------------------------------------------------------------------ building */

/*
 * A build gathers keys aside (16 bytes of private memory a key), lays out a filter of the right
 * size in one pass, and publishes it with one store. Keys that are added to the name meanwhile
 * are in it too. Between these calls no lock is held; if a process dies at any point, the filter
 * from before stays in force.
 */
typedef struct bshm_build bshm_build;

/* NO_SPACE (64 builds running, the directory is full, no private memory), READ_ONLY, TIMEOUT. */
bshm_status bshm_build_begin(bshm_segment *segment, const char *name, size_t name_length,
	const bshm_parameters *parameters, bshm_build **out, bshm_error *error);
/* NO_SPACE when the different keys cannot fit the segment any more (looked at when it would be
 * full, and at every doubling after that), or private memory ends. About 20 ns. */
bshm_status bshm_build_key(
	bshm_build *build, const char *key, size_t key_length, bshm_error *error);
/* How many keys were offered so far. */
uint64_t bshm_build_offered(const bshm_build *build);
/*
 * Lays out, measures, publishes; `out` describes what was published. ERROR_RATE when the
 * measured mean rate is above max_error_rate; NO_SPACE, TIMEOUT, CORRUPT. Ends the build
 * whatever it returns.
 */
bshm_status bshm_build_publish(
	bshm_build *build, double max_error_rate, bshm_info *out, bshm_error *error);
/* Gives everything up. NULL is allowed. Takes no lock. */
void bshm_build_abort(bshm_build *build);

/* ------------------------------------------------------------------ files */

/* The first eight bytes of files, the lowest first: bshm_filter_dump(), bshm_store_dump(), a
 * segment. A file that is CORRUPT for its MAGIC has them in error->magic. */
#define BSHM_FILTER_FILE_MAGIC UINT64_C(0x4d48534d4f4f4c42) /* "BLOOMSHM" */
#define BSHM_RECORD_FILE_MAGIC UINT64_C(0x4345524d4f4f4c42) /* "BLOOMREC" */
#define BSHM_SEGMENT_MAGIC     UINT64_C(0x4d485342304d4c42) /* "BLM0BSHM" */

/*
 * Writes a published filter to a file: under a temporary name beside it, synced, then renamed, so
 * that a file at `path` is always whole. Mode 0600. *bytes is its size. NOT_FOUND, CORRUPT, BUSY,
 * IO (error->os_code), NO_SPACE (private memory). Takes no lock. docs/FORMAT.md has the format.
 */
bshm_status bshm_filter_dump(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const char *path, uint64_t *bytes, bshm_error *error);

/*
 * Publishes a filter from a file, in the place of any filter of that name. Everything is checked
 * before anything is published. A sliding filter has aged by the wall clock. IO, CORRUPT
 * (error->cause says what is wrong with the file), INCOMPATIBLE (another version or byte order),
 * NO_SPACE, READ_ONLY, TIMEOUT.
 */
bshm_status bshm_filter_restore(bshm_segment *segment, const char *name, size_t name_length,
	const char *path, bshm_error *error);

/* ------------------------------------------------------------------ the host */

/*
 * The system's monotonic clock. The coarse one costs a fifth, lags behind by the length of the
 * system's tick, 1 to 10 ms, and is that of bshm_clock_set().
 */
uint64_t bshm_now_ns(void);
uint64_t bshm_now_coarse_ns(void);
void bshm_sleep_us(unsigned microseconds);
uint64_t bshm_process_id(void);
uint32_t bshm_user_id(void); /* the effective one: it owns the files that this process creates */

/*
 * For tests: the clock of sliding filters stays at `ns` in this process from now on; 0 = it is the
 * system's monotonic clock again.
 */
void bshm_clock_set(uint64_t ns);

/* ------------------------------------------------------------------ arithmetic */

typedef struct {
	uint32_t hash_count;
	uint32_t keys_per_partition;
	uint64_t partition_count;
} bshm_geometry;

/*
 * The smallest sound filter for `capacity` keys at `error_rate`. A partition of m bits holds
 * -m/k ln(1 - p^(1/k)) keys at rate p (Bloom 1970); 4.5 % are kept back, so that the mean over
 * partitions whose loads differ by chance stays below the rate asked for. k is the smallest
 * within 1 % of the best size. Cost: 64 pow() and log().
 */
bshm_geometry bshm_geometry_for(double error_rate, uint64_t capacity);

#endif
