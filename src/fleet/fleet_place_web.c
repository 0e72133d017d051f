/*
 * fleet_place_web.c - an origin behind a web server that takes PUT, for its publisher.
 *
 * The folder of the origin is this host's copy: it has the last image, which the next delta is made
 * from, and a file for each blob that was put, or that a head names. So what may be removed at the
 * server is known without a list of what is there.
 *
 * Of two publishers that are at the last step at once the server lets one through, by the condition
 * If-Match. A server that does not know conditions has nothing against the second one, if it comes
 * between this one's look at the head and its PUT.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_place.h"
#include "fleet/fleet_put.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_ROOM (FLEET_FOLDER_ROOM + FLEET_HASH_CHARACTERS + 16)

static void name_file(char out[PATH_ROOM], const fleet_origin *o, const char *file)
{
	snprintf(out, PATH_ROOM, "%s/%s", o->filter, file);
}

static void name_blob(char out[PATH_ROOM], const char *hash)
{
	snprintf(out, PATH_ROOM, FLEET_BLOBS "/%s", hash);
}

/* ------------------------------------------------------------------ small files */

static int web_read(const fleet_origin *o, const char *file, fleet_text *out, fleet_error *error)
{
	char path[PATH_ROOM];
	char etag[FLEET_ETAG_ROOM];
	name_file(path, o, file);
	const int found = fleet_put_read(o->web->link, path, out, etag, error);
	if (strcmp(file, FLEET_HEAD_FILE) == 0) {
		/* A weak one never matches. */
		snprintf(o->web->etag, sizeof(o->web->etag), "%s", etag[0] == 'W' ? "" : etag);
	}
	return found;
}

static bool web_write(
	const fleet_origin *o, const char *file, const char *bytes, size_t length, fleet_error *error)
{
	char path[PATH_ROOM];
	name_file(path, o, file);
	const fleet_put put = {.path = path, .bytes = bytes, .length = length};
	return fleet_put_write(o->web->link, &put, error) > 0;
}

/* ------------------------------------------------------------------ blobs */

/* Is it there, as large as it is to be? *found: it is there, whatever its size. */
static bool is_there(
	const fleet_origin *o, const fleet_hash *hash, uint64_t bytes, int *found, fleet_error *error)
{
	char path[PATH_ROOM];
	uint64_t there;
	name_blob(path, hash->text);
	*found = fleet_put_size(o->web->link, path, &there, error);
	return *found > 0 && there == bytes;
}

static bool web_has(const fleet_origin *o, const fleet_hash *hash, uint64_t bytes)
{
	int found;
	fleet_error ignored = {""};
	return is_there(o, hash, bytes, &found, &ignored);
}

static bool put_blob(
	const fleet_origin *o, const fleet_hash *hash, uint64_t bytes, bool is_new, fleet_error *error)
{
	int found;
	char path[PATH_ROOM];
	name_blob(path, hash->text);
	const int fd = fleet_folder_open_blob(&o->folder, hash);
	const fleet_put put = {.path = path, .fd = fd, .length = bytes, .is_new = is_new};
	if (fd < 0) {
		return fleet_fail(error, "cannot open the blob %.16s...", hash->text);
	}
	const int written = fleet_put_write(o->web->link, &put, error);
	close(fd);
	/* Another publisher may have put it meanwhile; or this one, and the answer was lost. */
	return written > 0 || (written == 0 && is_there(o, hash, bytes, &found, error));
}

static bool web_deliver(
	const fleet_origin *o, const fleet_hash *hash, uint64_t bytes, fleet_error *error)
{
	int found;
	const bool there = is_there(o, hash, bytes, &found, error);
	if (there) {
		fleet_folder_note(&o->folder, hash);
	}
	if (there || found < 0) {
		return there;
	}
	return fleet_folder_has(&o->folder, hash, bytes)
			   ? put_blob(o, hash, bytes, found == 0, error)
			   : fleet_fail(error, "the blob %.16s... is not there any more; nothing was announced",
					 hash->text);
}

/* ------------------------------------------------------------------ announcing */

static bool put_head(const fleet_origin *o, const char *bytes, size_t length, fleet_error *error)
{
	char path[PATH_ROOM];
	fleet_text there = {0};
	fleet_error why = {""};
	name_file(path, o, FLEET_HEAD_FILE);
	const fleet_put put = {.path = path,
		.bytes = bytes,
		.length = length,
		.is_new = o->is_first,
		.etag = o->web->etag};
	const int written = fleet_put_write(o->web->link, &put, error);
	if (written > 0) {
		return true;
	}
	/* If the connection was lost it may have been written; and then the condition does not hold any
	 * more. */
	const int found = web_read(o, FLEET_HEAD_FILE, &there, &why);
	if (found > 0 && there.length == length && memcmp(there.bytes, bytes, length) == 0) {
		return true;
	}
	why = *error;
	return written == 0 ? fleet_fail(error,
							  "another publisher has announced something meanwhile; nothing was "
							  "announced (%s)",
							  why.text)
		   : found < 0 ? fleet_fail(error, "it is not known whether it was announced: %s", why.text)
					   : fleet_fail(error, "%s; nothing was announced", why.text);
}

/*
 * The copy of the last head, which is kept, is put before the head is replaced: not one of the new
 * head, because two publishers may make the same version, and one of them is refused.
 */
static bool web_announce(
	const fleet_origin *o, uint64_t version, const char *bytes, size_t length, fleet_error *error)
{
	char kept[FLEET_KEPT_ROOM];
	fleet_error ignored = {""};
	bool (*const is_stopped)(void) = fleet_link_stopped_by(o->web->link, NULL);
	(void) version;
	fleet_kept_name(kept, o->last.version);
	const bool announced =
		(o->is_first || web_write(o, kept, o->last_text.bytes, o->last_text.length, error)) &&
		put_head(o, bytes, length, error);
	fleet_link_stopped_by(o->web->link, is_stopped);
	if (announced) {
		if (!o->is_first) {
			fleet_folder_write(
				&o->folder, o->filter, kept, o->last_text.bytes, o->last_text.length, 0, &ignored);
		}
		fleet_folder_write(&o->folder, o->filter, FLEET_HEAD_FILE, bytes, length, 0, &ignored);
	}
	return announced;
}

/* ------------------------------------------------------------------ what may go */

void fleet_place_note(const fleet_origin *o, const fleet_head *head)
{
	fleet_folder_note(&o->folder, &head->image);
	for (unsigned i = 0; i < head->delta_count; i++) {
		fleet_folder_note(&o->folder, &head->deltas[i].blob);
	}
}

static bool remove_file(void *context, const char *name)
{
	const fleet_origin *o = context;
	char path[PATH_ROOM];
	fleet_error ignored = {""};
	name_file(path, o, name);
	return fleet_put_delete(o->web->link, path, &ignored);
}

static bool remove_blob(void *context, const char *name)
{
	const fleet_origin *o = context;
	char path[PATH_ROOM];
	fleet_error ignored = {""};
	name_blob(path, name);
	return fleet_put_delete(o->web->link, path, &ignored);
}

/* The folder has the copy of this head, and knows of its blobs. False: that is not known. */
static bool learn(const fleet_origin *o, uint64_t version)
{
	char file[FLEET_KEPT_ROOM];
	fleet_text text;
	fleet_head head;
	fleet_public_key key;
	fleet_error ignored = {""};
	fleet_kept_name(file, version);
	int found = fleet_folder_read(&o->folder, o->filter, file, &text, &ignored);
	if (found != 0) {
		return found > 0;
	}
	found = web_read(o, file, &text, &ignored);
	if (found <= 0) {
		return found == 0;
	}
	fleet_key_public_of(&o->key, &key);
	if (!fleet_head_open(text.bytes, text.length, &key, o->last.filter, o->last.filter_length,
			&head, &ignored)) {
		return false;
	}
	fleet_place_note(o, &head);
	return fleet_folder_write(&o->folder, o->filter, file, text.bytes, text.length, 0, &ignored);
}

static void web_clean(const fleet_origin *o, uint64_t from, uint64_t next)
{
	const fleet_leave files = {remove_file, (void *) (uintptr_t) o};
	const fleet_leave blobs = {remove_blob, (void *) (uintptr_t) o};
	/* And of the one that goes now: another host may have put it. */
	for (uint64_t version = from > 1 ? from - 1 : 1; version < next; version++) {
		if (!learn(o, version)) {
			return; /* a later publisher cleans */
		}
	}
	fleet_folder_forget(&o->folder, o->filter, from, &files);
	fleet_folder_sweep(&o->folder, FLEET_GRACE_S, &blobs);
}

const fleet_place fleet_place_web = {
	web_read, web_write, web_has, web_deliver, web_announce, web_clean};
