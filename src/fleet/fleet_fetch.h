/*
 * fleet_fetch.h - fetches heads and blobs from an origin: a web server, or a folder.
 *
 * Nothing that is fetched is trusted here: the caller checks signatures and hashes. A server of
 * https must have a certificate for its name, of an authority that is known. No redirect is
 * followed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_FETCH_H
#define FLEET_FETCH_H

#include "fleet/fleet_folder.h"

typedef struct fleet_fetch fleet_fetch;

#define FLEET_ETAG_ROOM 256

/*
 * `url`: http://, https:// or file://, or a folder. `ca`: a file with the authorities that are
 * known, as PEM; NULL: those that the host knows. `is_stopped` is asked now and then; when it
 * holds, what is fetched fails. NULL: an URL of another kind, no memory.
 */
fleet_fetch *fleet_fetch_new(
	const char *url, const char *ca, bool (*is_stopped)(void), fleet_error *error);
/* NULL is allowed. */
void fleet_fetch_free(fleet_fetch *f);
/* The URL without a user and a password. */
const char *fleet_fetch_source(const fleet_fetch *f);
/*
 * Fetches the head of a filter: 1; 0: it is still the one with this ETag, which a head that was
 * fetched has set ("" if the next one may have the same); -1. *age_s: how long ago the answer was
 * the origin's, as caches in between say.
 */
int fleet_fetch_head(fleet_fetch *f, const char *filter, fleet_text *out,
	char etag[FLEET_ETAG_ROOM], double *age_s, fleet_error *error);
/* How many bytes of heads and blobs have come, of all that was fetched. */
uint64_t fleet_fetch_bytes(const fleet_fetch *f);
/* Fetches a blob of so many bytes to a new file: 1; 0: what is there has another size; -1: it
 * cannot be fetched now; -2: it cannot be written. Then the file is gone. */
int fleet_fetch_blob(
	fleet_fetch *f, const fleet_hash *hash, uint64_t bytes, const char *path, fleet_error *error);

#endif
