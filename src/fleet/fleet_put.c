/*
 * fleet_put.c - writes to an origin on a web server that takes PUT.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_put.h"

#include "fleet/fleet_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRIES         4
#define FIRST_NAP_MS  250u /* and then twice as long, and so on */
#define NAP_MS        50
#define BODY_MOST     65536 /* of an answer that nobody reads */
#define STATUS_ABSENT 404
#define STATUS_LATE   408
#define STATUS_GONE   410
#define STATUS_RACE   409 /* S3: another one was writing. WebDAV: there is no folder */
#define STATUS_UNMET  412
#define STATUS_MANY   429
#define STATUS_BROKEN 500

/* ------------------------------------------------------------------ credentials */

static const char *variable(const char *name)
{
	const char *text = getenv(name);
	return text == NULL || *text == '\0' ? NULL : text;
}

static bool sign(fleet_link *f, const char *id, fleet_error *error)
{
	char scheme[128];
	const char *secret = variable("AWS_SECRET_ACCESS_KEY");
	const char *region = variable("AWS_REGION");
	const char *token = variable("AWS_SESSION_TOKEN");
	if (secret == NULL || region == NULL) {
		return fleet_fail(error, "AWS_ACCESS_KEY_ID is set, but %s is not",
			secret == NULL ? "AWS_SECRET_ACCESS_KEY" : "AWS_REGION");
	}
	snprintf(scheme, sizeof(scheme), "aws:amz:%s:s3", region);
	f->is_signed = true;
	return fleet_curl.easy_setopt(f->curl, CURLOPT_AWS_SIGV4, scheme) == CURLE_OK &&
		   fleet_curl.easy_setopt(f->curl, CURLOPT_USERNAME, id) == CURLE_OK &&
		   fleet_curl.easy_setopt(f->curl, CURLOPT_PASSWORD, secret) == CURLE_OK &&
		   (token == NULL || asprintf(&f->token, "x-amz-security-token: %s", token) > 0);
}

bool fleet_put_log_in(fleet_link *f, fleet_error *error)
{
	const char *id = variable("AWS_ACCESS_KEY_ID");
	if (strncmp(f->base, "http", 4) != 0) {
		return fleet_fail(error, "a publisher writes to a folder, or to http:// or https://");
	}
	if (strcmp(f->base, f->source) != 0) { /* it has a user */
		return true;
	}
	if (id != NULL) {
		fleet_fail(error, "no private memory left");
		return sign(f, id, error);
	}
	fleet_curl.easy_setopt(f->curl, CURLOPT_NETRC, (long) CURL_NETRC_OPTIONAL);
	return true;
}

/* ------------------------------------------------------------------ requests */

/* False: it was stopped. */
static bool nap(const fleet_link *f, unsigned ms)
{
	static const struct timespec step = {.tv_nsec = NAP_MS * 1000000};
	for (unsigned i = 0; i < ms / NAP_MS; i++) {
		if (f->is_stopped != NULL && f->is_stopped()) {
			return false;
		}
		nanosleep(&step, NULL);
	}
	return true;
}

static bool is_passing(long status)
{
	return status < 0 || status == STATUS_LATE || status == STATUS_MANY || status >= STATUS_BROKEN;
}

/* The status of the first answer that stands, or of the last one. */
static long insist(fleet_link *f, const fleet_request *r, fleet_answer *a, fleet_error *error)
{
	const fleet_answer empty = *a;
	for (unsigned tries = 1;; tries++) {
		*a = empty;
		const long status = fleet_link_send(f, r, a, error);
		if (!is_passing(status) || tries == TRIES || !nap(f, FIRST_NAP_MS << (tries - 1))) {
			return status;
		}
	}
}

static bool is_absent(long status)
{
	return status == STATUS_ABSENT || status == STATUS_GONE;
}

static bool is_done(long status)
{
	return status >= 200 && status < 300;
}

/* 1; 0: there is no such file; -1. */
static int ask(fleet_link *f, const fleet_request *r, fleet_answer *a, fleet_error *error)
{
	const long status = insist(f, r, a, error);
	if (is_done(status) || is_absent(status)) {
		return is_done(status);
	}
	if (status >= 0) {
		fleet_link_refused(f, r, status, a, error);
	}
	return -1;
}

int fleet_put_read(fleet_link *f, const char *path, fleet_text *out, char etag[FLEET_ETAG_ROOM],
	fleet_error *error)
{
	const fleet_request r = {.path = path, .is_fresh = true};
	fleet_answer a = {.bytes = out->bytes, .room = FLEET_HEAD_BYTES_MAX};
	const int found = ask(f, &r, &a, error);
	out->length = found > 0 ? (size_t) a.count : 0;
	out->bytes[out->length] = '\0';
	memcpy(etag, a.etag, FLEET_ETAG_ROOM);
	return found;
}

int fleet_put_fetch(
	fleet_link *f, const fleet_hash *hash, uint64_t bytes, const char *path, fleet_error *error)
{
	for (unsigned tries = 1;; tries++) {
		const int found = fleet_fetch_blob(f, hash, bytes, path, error);
		if (found != -1 || tries == TRIES || !nap(f, FIRST_NAP_MS << (tries - 1))) {
			return found;
		}
	}
}

int fleet_put_size(fleet_link *f, const char *path, uint64_t *bytes, fleet_error *error)
{
	const fleet_request r = {.method = "HEAD", .path = path};
	fleet_answer a = {.fd = -1, .room = BODY_MOST};
	const int found = ask(f, &r, &a, error);
	*bytes = a.length;
	return found;
}

/* The folder that a file is to be in, for a server of WebDAV that does not make it by itself. */
static void make_folder(fleet_link *f, const char *path)
{
	char folder[FLEET_FOLDER_ROOM + 1];
	fleet_answer a = {.fd = -1, .room = BODY_MOST};
	fleet_error ignored = {""};
	snprintf(folder, sizeof(folder), "%.*s/", (int) strcspn(path, "/"), path);
	fleet_link_send(f, &(fleet_request){.method = "MKCOL", .path = folder}, &a, &ignored);
}

int fleet_put_write(fleet_link *f, const fleet_put *put, fleet_error *error)
{
	char condition[FLEET_ETAG_ROOM + 32] = "If-None-Match: *";
	const bool has_etag = put->etag != NULL && *put->etag != '\0';
	if (!put->is_new) {
		snprintf(condition, sizeof(condition), "If-Match: %s", has_etag ? put->etag : "");
	}
	const fleet_request r = {.method = "PUT",
		.path = put->path,
		.condition = put->is_new || has_etag ? condition : NULL,
		.bytes = put->bytes,
		.fd = put->fd,
		.length = put->length};
	fleet_answer a = {.fd = -1, .room = BODY_MOST};
	long status = insist(f, &r, &a, error);
	if (status == STATUS_RACE || status == STATUS_ABSENT) {
		make_folder(f, put->path);
		a = (fleet_answer){.fd = -1, .room = BODY_MOST};
		status = insist(f, &r, &a, error);
	}
	if (is_done(status)) {
		return 1;
	}
	if (status >= 0) {
		fleet_link_refused(f, &r, status, &a, error);
	}
	return r.condition != NULL && (status == STATUS_UNMET || status == STATUS_RACE) ? 0 : -1;
}

bool fleet_put_delete(fleet_link *f, const char *path, fleet_error *error)
{
	const fleet_request r = {.method = "DELETE", .path = path};
	fleet_answer a = {.fd = -1, .room = BODY_MOST};
	return ask(f, &r, &a, error) >= 0;
}
