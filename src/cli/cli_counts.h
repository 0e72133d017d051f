/*
 * cli_counts.h - what a follower has done with one filter, as a file of metrics.
 *
 * The counts are the follower's own, and begin at 0 with it. They are not in the segment, where
 * those of a dead follower would look like those of a living one, and which a follower whose first
 * head is refused does not have. The file has the time of the last look; a follower that ends
 * removes it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_COUNTS_H
#define CLI_COUNTS_H

#include "fleet/fleet.h"

/* Why something failed. */
typedef enum {
	CLI_FAILS_NETWORK,   /* the origin does not answer, or not with what was asked for */
	CLI_FAILS_SIGNATURE, /* the head is not the publisher's, or of another filter */
	CLI_FAILS_REPLAY,    /* it is older than the one that stands */
	CLI_FAILS_EXPIRED,
	CLI_FAILS_HASH,   /* a blob or an image has other bytes than the head says */
	CLI_FAILS_STREAM, /* its server, or what it says */
	CLI_FAILS_GAP,    /* adds may be missing in what was published */
	CLI_FAILS_LOCAL,  /* the segment, the state folder, memory */
	CLI_FAILURE_COUNT
} cli_failure;

typedef struct {
	const char *filter;
	uint64_t versions; /* published */
	uint64_t deltas;   /* applied */
	uint64_t images;   /* fetched whole */
	uint64_t bytes;    /* fetched */
	uint64_t sent;     /* keys, to the stream */
	uint64_t received; /* keys, from the stream */
	uint64_t failures[CLI_FAILURE_COUNT];
	uint64_t announced; /* the version of the last head that was sound; 0: there was none */
	uint64_t version;   /* that is published */
	uint64_t looked_s;  /* unix time of the last look at the origin; 0: there was none */
	uint64_t success_s; /* of the last one in which nothing failed */
} cli_counts;

/*
 * Replaces the file, in one step, by the counts of filters in Prometheus's text format. All users
 * may read it. False: *error says why; the file is as it was.
 */
bool cli_counts_write(
	const char *path, const cli_counts *filters, size_t count, fleet_error *error);

#endif
