/*
 * deaths.h - what tests/deaths share: what a scenario is, and what the segment holds before it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_DEATHS_H
#define BSHM_DEATHS_H

#include "core/bshm_records.h"
#include "core/segment/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS    400u /* of each filter, but for "counting" */
#define RECORDS 300u
#define VICTIM  5000u /* the number of the record that scenarios write */
#define LARGEST                                                                                    \
 262000u /* bytes of a value: a little less than a quarter of the store, more than 32 chunks */

/* Engine clock, in ns: it stands still at NOW; what stands before a scenario was put in at THEN. */
#define NOW  UINT64_C(100000000000000)
#define THEN (NOW - UINT64_C(1500000000000))

typedef struct {
	bshm_segment *segment;
	bshm_views *views;
} desk;

/* One call, or a few that belong together; all of them succeed. */
typedef struct {
	const char *name;
	void (*run)(desk *d);
	const char *gone;   /* filters whose keys need not be found afterwards, each between spaces */
	bool record_may_go; /* the victim's, and others' */
	unsigned image;     /* IMAGE_* */
} scenario;

/* What the segment holds before. */
enum {
	IMAGE_ROOMY,
	IMAGE_CROWDED,
	IMAGE_SHARDS,
	IMAGES
};

extern const scenario scenarios[];
extern const size_t scenario_count;

/* What a scenario relies on failed: ends the process. */
_Noreturn void broken(const char *what, int status);
static inline void must(int status, const char *what)
{
	if (status < 0) {
		broken(what, status);
	}
}

/* Keys that were added, so that their calls have returned, in shared memory. */
typedef struct {
	char filter[16];
	uint32_t key;
} confirmed_key;
void confirm(const char *filter, uint32_t key);

static inline size_t key_name(char out[24], uint32_t number)
{
	return (size_t) snprintf(out, 24, "key %u", number);
}

int add_key(desk *d, const char *filter, uint32_t number);
int put_record(desk *d, uint32_t number, uint32_t serial, uint32_t length, uint32_t ttl_s);

/* The bytes of a record's value, which tell its number, serial number and length. */
void record_bytes(uint8_t *bytes, uint32_t number, uint32_t serial, uint32_t length);

#endif
