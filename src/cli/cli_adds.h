/*
 * cli_adds.h - the adds of a fleet: from the outbox to the stream, and from there to the filter.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_ADDS_H
#define CLI_ADDS_H

#include "cli/cli.h"
#include "cli/cli_counts.h"
#include "fleet/fleet_stream.h"

/* Of one filter; zeros to begin with. */
typedef struct {
	fleet_stream *stream; /* NULL: there is no connection */
	uint64_t retry_ns;    /* not before, after a failure: */
	fleet_error failure;
	uint64_t all_ns;          /* when to look at all letters of the outbox */
	fleet_entry_id at;        /* what is published has all entries up to this one */
	fleet_entry_id sent;      /* the last that was: then the stream has it */
	bool gap;                 /* it may lack later ones for good */
	fleet_entry_id gap_after; /* the head's adds_after when that was found */
	uint64_t unsent;          /* that were told of */
	bool is_woken;            /* the stream says that there is a new head */
	fleet_stream *watch;      /* by which the server says that there is more than was read; NULL */
	bool is_watched;          /* it will, or has: of entries after this one */
	fleet_entry_id watched;
	uint64_t watch_ns; /* after a failure not before */
} cli_adds;

/* What the functions below are about. */
typedef struct {
	cli *c;
	const char *url; /* of the stream */
	const char *name;
	cli_counts *counts;
} cli_adds_of;

/* Closes the connections. */
void cli_adds_end(cli_adds *a);
/* Sends what pages have added. False: *error says why, the next call tries again. */
bool cli_adds_send(const cli_adds_of *of, cli_adds *a, fleet_error *error);
/*
 * The same, and adds what others have sent. The filter is in the segment, and has all up to a->at.
 * `asks`: or only what is new, if the server has said that something is; else nothing is asked.
 * FLEET_STREAM_END: it has all there is; _GAP: entries may be gone for good; _FAILED: *error
 * says why, the next call tries again.
 */
int cli_adds_exchange(const cli_adds_of *of, cli_adds *a, bool asks, fleet_error *error);
/*
 * The same for a build that has been begun: adds all entries after `after` to it, with those of
 * pages up to its beginning. Sets a->at.
 */
int cli_adds_build(const cli_adds_of *of, cli_adds *a, bshm_build *build, fleet_entry_id after,
	fleet_error *error);
/* What is published lacks adds, and says maybe: at once, as there may be no room for another image.
 * False: it did so before, or cannot. */
bool cli_adds_doubt(const cli_adds_of *of);
/* How many more adds of pages could not be sent since the last call. What lies in the outbox for
 * filters that are gone makes room for others. */
uint64_t cli_adds_unsent(const cli_adds_of *of, cli_adds *a);

#endif
