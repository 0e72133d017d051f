/*
 * fleet_fetch.h - fetches heads and blobs from an origin: a web server, or a folder.
 *
 * Nothing that is fetched is trusted here: the caller checks signatures and hashes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_FETCH_H
#define FLEET_FETCH_H

#include "fleet/fleet_folder.h"
#include "fleet/fleet_link.h"

/*
 * Fetches the head of a filter: 1; 0: it is still the one with this ETag, which a head that was
 * fetched has set ("" if the next one may have the same); -1. *age_s: how long ago the answer was
 * the origin's, as caches in between say.
 */
int fleet_fetch_head(fleet_link *f, const char *filter, fleet_text *out, char etag[FLEET_ETAG_ROOM],
	double *age_s, fleet_error *error);
/* How many bytes of heads and blobs have come, of all that was fetched. */
uint64_t fleet_fetch_bytes(const fleet_link *f);
/* Fetches a blob of so many bytes to a new file: 1; 0: what is there has another size, or another
 * hash; -1: it cannot be fetched now; -2: it cannot be written. Then the file is gone. */
int fleet_fetch_blob(
	fleet_link *f, const fleet_hash *hash, uint64_t bytes, const char *path, fleet_error *error);

#endif
