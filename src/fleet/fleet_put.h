/*
 * fleet_put.h - writes to an origin on a web server that takes PUT: S3, or WebDAV.
 *
 * A request that fails on the way, or with a status of 408, 429 or from 500 on, is sent again,
 * three times within two seconds. What one request says or writes is whole, or not there.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_PUT_H
#define FLEET_PUT_H

#include "fleet/fleet_fetch.h"

/*
 * From now on all requests have credentials: those of the URL; or SigV4 with AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_SESSION_TOKEN of the environment; or those of ~/.netrc.
 * False: the URL is not of http or https, or a variable is missing.
 */
bool fleet_put_log_in(fleet_link *f, fleet_error *error);
/* A file of at most as many bytes as a head, and its ETag, or "": 1; 0: there is none; -1. */
int fleet_put_read(fleet_link *f, const char *path, fleet_text *out, char etag[FLEET_ETAG_ROOM],
	fleet_error *error);
/* As fleet_fetch_blob(). */
int fleet_put_fetch(
	fleet_link *f, const fleet_hash *hash, uint64_t bytes, const char *path, fleet_error *error);
/* How many bytes a file has there: 1; 0: there is none; -1. */
int fleet_put_size(fleet_link *f, const char *path, uint64_t *bytes, fleet_error *error);

typedef struct {
	const char *path;
	const char *bytes; /* NULL: all of `fd` */
	int fd;
	uint64_t length;
	bool is_new;      /* only if there is none yet */
	const char *etag; /* only if it is still the one with this ETag; NULL, "": of any */
} fleet_put;

/*
 * Writes a file, and makes the folder that it is in, of the origin's, where the server of WebDAV
 * does not. 1; 0: the condition does not hold, or did not when it was sent again; -1: it may
 * be there nevertheless.
 */
int fleet_put_write(fleet_link *f, const fleet_put *put, fleet_error *error);
/* True also if there is none. */
bool fleet_put_delete(fleet_link *f, const char *path, fleet_error *error);

#endif
