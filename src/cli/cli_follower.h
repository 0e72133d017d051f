/*
 * cli_follower.h - a follower, and a filter that it follows.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_FOLLOWER_H
#define CLI_FOLLOWER_H

#include "cli/cli_adds.h"
#include "fleet/fleet_fetch.h"
#include "fleet/fleet_head.h"

#define CLI_BAD_BLOBS 64

/* What all filters of a follower share. */
typedef struct {
	cli *c;
	fleet_link *fetch;
	fleet_link *passing; /* a second one, for heads; used while an answer comes by the first: */
	bool is_passing;     /* nothing is published, fetched or attached to now */
	fleet_folder state;
	fleet_public_key key;
	uint32_t max_lag_s;
	const char *stream; /* the URL; NULL: adds stay on this host */
} cli_follower;

typedef struct {
	const char *name;
	char folder[FLEET_FOLDER_ROOM];
	bool has_head;   /* it has taken one: */
	fleet_head head; /* the last one */
	fleet_text text; /* of it */
	bool has_image;  /* its image is in the state folder */
	char etag[FLEET_ETAG_ROOM];
	int64_t heard_ns;  /* by bshm_now_ns(): when the origin said that it is the newest */
	uint64_t wait_ns;  /* the end of the random wait before the next blobs; 0: it has not begun */
	uint64_t due_ns;   /* when to look again */
	bool is_held;      /* not in passing: it is looked at now, or has something to publish */
	fleet_text seen;   /* the head that the origin had last, taken or not */
	unsigned failures; /* to take or to publish this one, one after the other */
	uint64_t retry_ns; /* not before */
	unsigned bad_count;
	fleet_hash bad[CLI_BAD_BLOBS]; /* blobs of other bytes than the head says */
	cli_adds adds;
	uint64_t begun_ns;  /* when it began to take the head, or to read what was kept */
	bshm_build *build;  /* of the image of the head that is being taken; or NULL */
	cli_counts *counts; /* set by the caller */
	bool is_published;  /* the segment had an image of this origin */
	fleet_error said;   /* the failure that was told last; "": none since a success */
} cli_followed;

#endif
