/*
 * fleet_fetch.c - fetches heads and blobs from an origin.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STATUS_FOUND 200
#define STATUS_SAME  304
/* nginx makes an ETag of a file's size and second. So one of a file that is younger, by the clocks
 * of the server and of whoever wrote the file, may be that of the next one too. */
#define ETAG_AGE_S 10

uint64_t fleet_fetch_bytes(const fleet_link *f)
{
	return f->bytes;
}

/* 1; 0: the server says that it is still what the condition says; -1. */
static int request(fleet_link *f, const fleet_request *r, fleet_answer *a, fleet_error *error)
{
	const long status = fleet_link_send(f, r, a, error);
	f->bytes += a->count;
	if (status == STATUS_FOUND || (status == STATUS_SAME && r->condition != NULL)) {
		return status == STATUS_FOUND;
	}
	if (status >= 0) {
		fleet_link_refused(f, r, status, a, error);
	}
	return -1;
}

int fleet_fetch_head(fleet_link *f, const char *filter, fleet_text *out, char etag[FLEET_ETAG_ROOM],
	double *age_s, fleet_error *error)
{
	char path[FLEET_FOLDER_ROOM + 8];
	fleet_answer a = {.bytes = out->bytes, .room = FLEET_HEAD_BYTES_MAX};
	char condition[FLEET_ETAG_ROOM + 32];
	snprintf(path, sizeof(path), "%s/" FLEET_HEAD_FILE, filter);
	snprintf(condition, sizeof(condition), "If-None-Match: %s", etag);
	const fleet_request r = {
		.path = path, .condition = *etag == '\0' ? NULL : condition, .is_fresh = true};
	const int found = request(f, &r, &a, error);
	out->length = (size_t) a.count;
	out->bytes[out->length] = '\0';
	*age_s = a.age_s;
	if (found > 0) {
		if (a.changed_s > 0 && a.sent_s > 0 && a.sent_s - a.changed_s < ETAG_AGE_S) {
			*a.etag = '\0';
		}
		memcpy(etag, a.etag, FLEET_ETAG_ROOM);
	}
	return found;
}

/* 1; 0: the hash of what came is another one. */
static int check_hash(crypto_generichash_state *state, const fleet_hash *hash, fleet_error *error)
{
	fleet_hash made;
	fleet_hash_end(state, &made);
	if (strcmp(made.text, hash->text) == 0) {
		return 1;
	}
	fleet_fail(
		error, "the blob %.16s... has other bytes: its hash is %.16s...", hash->text, made.text);
	return 0;
}

int fleet_fetch_blob(
	fleet_link *f, const fleet_hash *hash, uint64_t bytes, const char *path, fleet_error *error)
{
	char name[FLEET_HASH_CHARACTERS + 16];
	crypto_generichash_state hashed;
	fleet_answer a = {.room = bytes, .hash = &hashed};
	snprintf(name, sizeof(name), FLEET_BLOBS "/%s", hash->text);
	a.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (a.fd < 0) {
		const char *end = strrchr(path, '/'); /* the name is new each time */
		fleet_fail(
			error, "cannot make a file in %.*s: %s", (int) (end - path), path, strerror(errno));
		return -2;
	}
	fleet_hash_begin(&hashed);
	const fleet_request r = {.path = name};
	int found = request(f, &r, &a, error);
	close(a.fd);
	if (found > 0 && a.count != bytes) {
		fleet_fail(
			error, "%s/%s has %" PRIu64 " bytes, not %" PRIu64, f->source, name, a.count, bytes);
		found = 0;
	}
	if (found > 0) {
		found = check_hash(&hashed, hash, error);
	}
	if (found <= 0) {
		unlink(path);
	}
	return a.is_too_long ? 0 : a.code != 0 ? -2 : found;
}
