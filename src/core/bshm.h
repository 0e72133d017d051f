/*
 * bshm.h - the engine: many Bloom filters in one shared-memory segment.
 *
 * Everything the PHP binding, the tests and the benchmarks call. The engine keeps no PHP type,
 * prints nothing, and never calls back while it holds a lock.
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* X(name, code, text): codes are the class constants of BloomShm\Exception, negated. */
#define BSHM_STATUS_LIST(X)                                                                        \
 X(UNAVAILABLE, 1, "the segment is not available")                                                 \
 X(NO_SPACE, 2, "not enough space")                                                                \
 X(FULL, 3, "the filter is full")                                                                  \
 X(EMPTY, 4, "no key was offered")                                                                 \
 X(EXISTS, 5, "a filter with other parameters exists already")                                     \
 X(NOT_FOUND, 6, "no such filter")                                                                 \
 X(INCOMPATIBLE, 7, "incompatible layout or parameters")                                           \
 X(ERROR_RATE, 8, "the measured false-positive rate is above the limit")                           \
 X(CORRUPT, 9, "the segment is damaged")                                                           \
 X(RANGE, 10, "out of range")                                                                      \
 X(READ_ONLY, 11, "the segment is mapped read-only")                                               \
 X(TIMEOUT, 12, "the lock could not be taken in time")                                             \
 X(IO, 13, "input or output failed")                                                               \
 X(BUSY, 14, "the directory is being changed")

enum {
	BSHM_OK = 0,
#define BSHM_STATUS_ENUM(name, code, text) BSHM_E_##name = -(code),
	BSHM_STATUS_LIST(BSHM_STATUS_ENUM)
#undef BSHM_STATUS_ENUM
};
typedef int bshm_status;

/* The English text of a status; never NULL. */
const char *bshm_status_str(bshm_status status);

/* X(name, text): what an error is about. The text names it in messages that have no other word. */
#define BSHM_CAUSE_LIST(X)                                                                         \
 X(NONE, "")                                                                                       \
 /* system calls, "cannot ... the file" */                                                         \
 X(OPEN, "open")                                                                                   \
 X(CREATE, "create")                                                                               \
 X(LINK, "link")                                                                                   \
 X(STAT, "stat")                                                                                   \
 X(MAP, "map")                                                                                     \
 X(RESERVE, "reserve")                                                                             \
 X(SET_MODE, "set the mode of")                                                                    \
 X(SYNC, "sync")                                                                                   \
 X(READ, "read")                                                                                   \
 X(WRITE, "write")                                                                                 \
 X(PUBLISH, "replace")                                                                             \
 X(USE, "use")                                                                                     \
 /* no segment */                                                                                  \
 X(DISABLED, "enable")                                                                             \
 X(ABSENT, "absent")                                                                               \
 X(ABSENT_AGAIN, "absent again")                                                                   \
 X(REMOVED, "removed")                                                                             \
 X(HELD, "held")                                                                                   \
 X(NO_STORE, "store")                                                                              \
 X(TYPE, "type")                                                                                   \
 X(PATH, "path")                                                                                   \
 X(OPEN_BASEDIR, "open_basedir")                                                                   \
 X(OWNER, "owner")                                                                                 \
 X(TEMPORARY, "temporary")                                                                         \
 X(WIDE_MODE, "mode")                                                                              \
 X(OWNERS, "owners")                                                                               \
 X(STRANGE_LOCK, "strange lock")                                                                   \
 X(REPLACED, "replaced")                                                                           \
 X(REOPEN, "reopen")                                                                               \
 X(RANDOM, "random")                                                                               \
 X(REST, "rest")                                                                                   \
 X(PRESENCE, "presence")                                                                           \
 X(HOLES, "holes")                                                                                 \
 X(DESCRIPTORS, "descriptors")                                                                     \
 X(FORK, "fork")                                                                                   \
 X(READONLY, "readonly")                                                                           \
 /* no space */                                                                                    \
 X(MEMORY, "memory")                                                                               \
 X(FILTER_MEMORY, "filter_memory")                                                                 \
 X(GROW, "grow")                                                                                   \
 X(OPS, "ops")                                                                                     \
 X(DIRECTORY, "directory")                                                                         \
 X(JOURNAL, "journal")                                                                             \
 X(RECORD_SIZE, "record size")                                                                     \
 X(RECORD_ROOM, "record room")                                                                     \
 /* parameters of a filter */                                                                      \
 X(CAPACITY, "capacity")                                                                           \
 X(ERROR_RATE, "error_rate")                                                                       \
 X(EXPANSION, "expansion")                                                                         \
 X(WINDOW, "window")                                                                               \
 X(COUNTING, "counting")                                                                           \
 X(SEED, "seed")                                                                                   \
 X(KIND, "kind")                                                                                   \
 X(GEOMETRY, "geometry")                                                                           \
 X(MAX_ERROR_RATE, "max_error_rate")                                                               \
 /* records */                                                                                     \
 X(INT, "int")                                                                                     \
 X(STRING, "string")                                                                               \
 X(INCREMENT, "increment")                                                                         \
 X(DECREMENT, "decrement")                                                                         \
 /* not in time, or changed meanwhile */                                                           \
 X(LOCK, "lock")                                                                                   \
 X(SHARD, "shard")                                                                                 \
 X(ATTACH, "attach")                                                                               \
 X(CLEAR, "clear")                                                                                 \
 X(EPOCH, "epoch")                                                                                 \
 X(GENERATION, "generation")                                                                       \
 X(FILTER, "filter")                                                                               \
 X(FROM, "from")                                                                                   \
 /* damage of a segment or of a file */                                                            \
 X(MAGIC, "magic")                                                                                 \
 X(LAYOUT, "layout")                                                                               \
 X(SIZE, "size")                                                                                   \
 X(HEADER, "header")                                                                               \
 X(COUNTS, "counts")                                                                               \
 X(DESCRIPTOR, "descriptor")                                                                       \
 X(LAYERS, "layers")                                                                               \
 X(LINKS, "links")                                                                                 \
 X(OP, "op")                                                                                       \
 X(BYTE_ORDER, "byte order")                                                                       \
 X(VERSION, "version")                                                                             \
 X(TRUNCATED, "truncated")                                                                         \
 X(TRAILING_BYTES, "trailing bytes")                                                               \
 X(LAYER, "layer")                                                                                 \
 X(RECORD, "record")                                                                               \
 X(CHECKSUM, "checksum")

typedef enum {
#define BSHM_CAUSE_ENUM(name, text) BSHM_CAUSE_##name,
	BSHM_CAUSE_LIST(BSHM_CAUSE_ENUM)
#undef BSHM_CAUSE_ENUM
} bshm_cause;

/* The text of a cause; never NULL. */
const char *bshm_cause_str(bshm_cause cause);

/* Why a call failed. A figure that does not apply is 0. */
typedef struct {
	bshm_status status;
	bshm_cause cause;
	int os_code;         /* the system's error number */
	uint32_t uid;        /* OWNER, TEMPORARY, CREATE: the owner of the file */
	uint32_t source;     /* bshm_filter_merge(): which of the sources, from 1 on */
	uint32_t value_type; /* INT, STRING: the bshm_value_type of the record */
	uint64_t process_id; /* CREATE, STRANGE_LOCK: the process in the way; 0: not known */
	uint64_t magic;      /* MAGIC, of a dump: the first bytes of the file */
	uint64_t asked;      /* bytes, keys, ms, mode, version, parameter: what was asked for, */
	uint64_t available;  /* and what there is */
	double rate_asked;   /* the same for error rates */
	double rate;
} bshm_error;

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

/* ------------------------------------------------------------------ records */

/* The first eight bytes of files, the lowest first: bshm_filter_dump(), bshm_store_dump(), a
 * segment. A file that is CORRUPT for its MAGIC has them in error->magic. */
#define BSHM_FILTER_FILE_MAGIC UINT64_C(0x4d48534d4f4f4c42) /* "BLOOMSHM" */
#define BSHM_RECORD_FILE_MAGIC UINT64_C(0x4345524d4f4f4c42) /* "BLOOMREC" */
#define BSHM_SEGMENT_MAGIC     UINT64_C(0x4d485342304d4c42) /* "BLM0BSHM" */

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

/* ------------------------------------------------------------------ files */

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
