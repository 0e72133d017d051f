/*
 * bshm_error.h - statuses of calls, and why a call failed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_ERROR_H
#define BSHM_ERROR_H

#include <stdint.h>

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
 X(OTHER_PATH, "other path")                                                                       \
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
 X(SOURCES, "sources")                                                                             \
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
 X(FOLLOW, "follow")                                                                               \
 X(ORIGIN, "origin")                                                                               \
 X(SENDS, "sends")                                                                                 \
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
 X(CHECKSUM, "checksum")                                                                           \
 X(GROUP, "group")                                                                                 \
 X(IMAGE, "image")

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
	uint32_t source;     /* bshm_filter_merge(): which of the sources; bshm_delta_...(): which of
	                      * the files, as they are given; from 1 on */
	uint32_t value_type; /* INT, STRING: the bshm_value_type of the record */
	uint64_t process_id; /* CREATE, STRANGE_LOCK: the process in the way; 0: not known */
	uint64_t magic;      /* MAGIC, of a dump: the first bytes of the file */
	uint64_t asked;      /* bytes, keys, ms, mode, version, parameter: what was asked for, */
	uint64_t available;  /* and what there is */
	double rate_asked;   /* the same for error rates */
	double rate;
} bshm_error;

#endif
