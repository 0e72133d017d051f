/*
 * fleet_origin.h - an origin for its publisher: what stands there, and the one step that changes
 * it.
 *
 * Two publishers of one filter: the one with the higher epoch is in charge. A publisher takes its
 * epoch when it begins, and looks at its last step, under the folder's lock, whether another one
 * has taken over, or has announced something.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_ORIGIN_H
#define FLEET_ORIGIN_H

#include "fleet/fleet_folder.h"
#include "fleet/fleet_head.h"

typedef struct {
	fleet_folder folder;
	char filter[FLEET_FOLDER_ROOM]; /* its name in paths */
	fleet_secret_key key;
	uint64_t epoch;
	bool is_first;   /* nothing was announced yet */
	fleet_head last; /* else: the head when it began */
	fleet_text last_text;
	uint64_t next_version; /* above all that followers may have seen: a power loss may have taken
							  the head back, but not its copy head-N, which is synced before it */
} fleet_origin;

/*
 * Begins. `epoch` 0: that of the publisher before. False also: another publisher has a higher one,
 * or the head is not of this key. Waits a minute for another publisher's last step.
 */
bool fleet_origin_begin(fleet_origin *o, const char *path, const char *filter, size_t filter_length,
	const fleet_secret_key *key, uint64_t epoch, fleet_error *error);
/* The head of an earlier version that is kept: `version` is below the last one's. */
bool fleet_origin_earlier(
	const fleet_origin *o, uint64_t version, fleet_head *out, fleet_error *error);
/*
 * Announces a head: all its blobs are there. Keeps those of `keep` earlier versions. False: what
 * was announced before stands. Waits a minute for another publisher's last step.
 */
bool fleet_origin_announce(
	const fleet_origin *o, const fleet_head *next, uint64_t keep, fleet_error *error);
void fleet_origin_end(fleet_origin *o);

#endif
