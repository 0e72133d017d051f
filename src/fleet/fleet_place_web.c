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
#include "fleet/fleet_turn.h"

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

/* "" if it is a weak one, which never matches. */
static void note_etag(char out[FLEET_ETAG_ROOM], const char etag[FLEET_ETAG_ROOM])
{
	snprintf(out, FLEET_ETAG_ROOM, "%s", etag[0] == 'W' ? "" : etag);
}

static int web_read(const fleet_origin *o, const char *file, fleet_text *out, fleet_error *error)
{
	char path[PATH_ROOM];
	char etag[FLEET_ETAG_ROOM];
	fleet_web *web = o->web;
	name_file(path, o, file);
	const int found = fleet_put_read(web->link, path, out, etag, error);
	if (strcmp(file, FLEET_HEAD_FILE) == 0) {
		note_etag(web->etag, etag);
	}
	if (strcmp(file, FLEET_PUBLISHER_FILE) == 0) {
		web->has_epoch = found > 0;
		note_etag(web->epoch, etag);
	}
	return found;
}

/* Has the file these bytes? 1; 0; -1: that is not known. */
static int web_is(
	const fleet_origin *o, const char *file, const char *bytes, size_t length, fleet_error *error)
{
	fleet_text there = {0};
	const int found = web_read(o, file, &there, error);
	return found <= 0 ? found : there.length == length && memcmp(there.bytes, bytes, length) == 0;
}

/* A publisher of a lower epoch that was stopped here does not take over from one that has begun. */
static bool web_take(const fleet_origin *o, const char *bytes, size_t length, fleet_error *error)
{
	char path[PATH_ROOM];
	fleet_error why = {""};
	name_file(path, o, FLEET_PUBLISHER_FILE);
	const fleet_put put = {.path = path,
		.bytes = bytes,
		.length = length,
		.is_new = !o->web->has_epoch,
		.etag = o->web->epoch};
	const int written = fleet_put_write(o->web->link, &put, &why);
	if (written > 0 || web_is(o, FLEET_PUBLISHER_FILE, bytes, length, error) > 0) {
		return true;
	}
	*error = why;
	return written == 0 &&
		   fleet_fail(error, "another publisher has begun meanwhile (%s)", why.text);
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

/* 1; 0: nothing was announced; -1: that is not known. `kept`: as which another publisher that came
 * after it has kept it. */
static int put_head(
	const fleet_origin *o, const char *kept, const char *bytes, size_t length, fleet_error *error)
{
	char path[PATH_ROOM];
	fleet_error why = {""};
	fleet_error unread = {""};
	name_file(path, o, FLEET_HEAD_FILE);
	const fleet_put put = {.path = path,
		.bytes = bytes,
		.length = length,
		.is_new = o->is_first,
		.etag = o->web->etag};
	fleet_link_stopped_by(o->web->link, fleet_turn_is_over);
	const int written = fleet_put_write(o->web->link, &put, &why);
	fleet_link_stopped_by(o->web->link, NULL);
	if (written > 0) {
		return 1;
	}
	/* If the connection was lost it may have been written; and then the condition does not hold any
	 * more. */
	int there = web_is(o, FLEET_HEAD_FILE, bytes, length, &unread);
	there = there != 0 ? there : web_is(o, kept, bytes, length, &unread);
	if (there < 0) {
		fleet_fail(error, "it is not known whether it was announced: %s", why.text);
	} else if (there == 0 && written == 0) {
		fleet_fail(error,
			"another publisher has announced something meanwhile; nothing was announced (%s)",
			why.text);
	} else if (there == 0) {
		fleet_fail(error, "%s%s; nothing was announced", why.text,
			fleet_turn_is_over() ? ", and the turn has ended" : "");
	}
	return there;
}

/*
 * The copy of the last head, which is kept: not one of the new head, because two publishers may
 * make the same version, and one of them is refused.
 */
static bool web_prepare(const fleet_origin *o, fleet_error *error)
{
	char kept[FLEET_KEPT_ROOM];
	char path[PATH_ROOM];
	fleet_kept_name(kept, o->last.version);
	name_file(path, o, kept);
	const fleet_put put = {
		.path = path, .bytes = o->last_text.bytes, .length = o->last_text.length};
	return o->is_first || fleet_put_write(o->web->link, &put, error) > 0;
}

/*
 * The folder knows the new head first: whatever comes, its version is not made again, and its blobs
 * stay.
 */
static bool web_announce(
	const fleet_origin *o, uint64_t version, const char *bytes, size_t length, fleet_error *error)
{
	char kept[FLEET_KEPT_ROOM];
	char last[FLEET_KEPT_ROOM];
	fleet_error ignored = {""};
	fleet_kept_name(kept, version);
	fleet_kept_name(last, o->last.version);
	if (!fleet_folder_write(&o->folder, o->filter, kept, bytes, length, 0, error)) {
		return false;
	}
	bool (*const is_stopped)(void) = fleet_link_stopped_by(o->web->link, NULL);
	const int announced = put_head(o, kept, bytes, length, error);
	fleet_link_stopped_by(o->web->link, is_stopped);
	if (announced == 0) {
		fleet_folder_remove(&o->folder, o->filter, kept);
	}
	if (announced > 0) {
		if (!o->is_first) {
			fleet_folder_write(
				&o->folder, o->filter, last, o->last_text.bytes, o->last_text.length, 0, &ignored);
		}
		fleet_folder_write(&o->folder, o->filter, FLEET_HEAD_FILE, bytes, length, 0, &ignored);
	}
	return announced > 0;
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
	web_read, web_take, web_has, web_deliver, web_prepare, web_announce, web_clean};
