/*
 * fuzz.h - what the fuzzers share: a system without chance, a segment with everything in it, and
 * every public call of the engine.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_FUZZ_H
#define BSHM_FUZZ_H

#include "core/bshm_records.h"
#include "core/segment/segment.h"

/* ------------------------------------------------------------------ world.c */

/*
 * The system as the engine sees it: clocks that only move when they are read, or in a sleep, one
 * process id, no chance, and one owner slot that may belong to a living stranger. A wait of 50 ms
 * costs nothing, and an input does the same each time. Segments are mapped between pages that
 * cannot be touched.
 */
#define FUZZ_OWN_SLOT      7u
#define FUZZ_STRANGER_SLOT 3u

typedef struct {
	uint8_t *begin; /* of the segment that is mapped; NULL: none is */
	uint8_t *end;
	bool stranger_lives;
	void (*before_load)(const void *at); /* called before each load of the core's, unless NULL */
	uint64_t now_ns;
	uint64_t chance;
} fuzz_world;

extern fuzz_world world;

/* Makes the world as it was in the beginning; the next input has so much of the processor anew. */
void fuzz_world_reset(void);
/* A path in the fuzzer's own folder, which is removed at the end; valid until the fourth call
 * after. */
const char *fuzz_path(const char *file);
/* All of a file. */
typedef struct {
	uint8_t *bytes;
	size_t count;
} fuzz_content;

/* Of at most `most` bytes; to be freed. */
fuzz_content fuzz_read_file(const char *path, size_t most);
void fuzz_write_file(const char *path, const void *bytes, size_t count);
/* Ends the program as a defect that the fuzzer keeps the input of. */
_Noreturn void fuzz_defect(const char *what, const char *name);

/* ------------------------------------------------------------------ template.c */

#define FUZZ_FILTER_COUNT 9u
#define FUZZ_KEY_COUNT    40u
#define FUZZ_RECORD_COUNT 700u

/* Filters that no call of calls.c changes but by adding keys: "kept0", and so on. */
typedef struct {
	const char *name;
	bshm_parameters parameters;
	uint64_t keys; /* "key0", and so on */
} fuzz_filter;

extern const fuzz_filter fuzz_filters[FUZZ_FILTER_COUNT];

/* A segment's file, whole: filters of every kind, records of every shape. */
typedef struct {
	uint8_t *bytes;
	size_t count;
} fuzz_template;

fuzz_template fuzz_template_make(void);
bshm_options fuzz_options(const char *path);
/* Key and value of a record; valid until the next call. */
bshm_key fuzz_record_key(uint32_t i);
bshm_value fuzz_record_value(uint32_t i);
/* "key" and a number; valid until the fourth call after. */
bshm_key fuzz_key(uint64_t i);

/* ------------------------------------------------------------------ calls.c */

/* All public calls, or a part of them, one after the other; `order` picks the first, the steps, and
 * how many there are. */
void fuzz_calls(bshm_segment *segment, bshm_views *views, unsigned order);

#endif
