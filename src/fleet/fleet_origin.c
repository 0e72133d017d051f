/*
 * fleet_origin.c - an origin for its publisher.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_origin.h"

#include "fleet/fleet_put.h"
#include "fleet/fleet_turn.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPY_FILE ".copy-of" /* in the folder of a copy: the URL of its server */
#define WAIT_S    60         /* for another publisher's first or last step */

static const char *where(const fleet_origin *o)
{
	return o->web == NULL ? o->folder.path : fleet_link_source(o->web->link);
}

/* ------------------------------------------------------------------ epochs */

/* Of the last publisher that began; 0: there was none. */
static bool read_epoch(const fleet_origin *o, uint64_t *epoch, fleet_error *error)
{
	fleet_text text;
	char end;
	*epoch = 0;
	const int found = o->place->read(o, FLEET_PUBLISHER_FILE, &text, error);
	if (found > 0 && (sscanf(text.bytes, "epoch %" SCNu64 "%c", epoch, &end) != 2 || end != '\n')) {
		return fleet_fail(
			error, "the file %s/%s/" FLEET_PUBLISHER_FILE " is damaged", where(o), o->filter);
	}
	return found >= 0;
}

static bool write_epoch(const fleet_origin *o, fleet_error *error)
{
	char text[32];
	const int length = snprintf(text, sizeof(text), "epoch %" PRIu64 "\n", o->epoch);
	return o->place->take(o, text, (size_t) length, error);
}

static bool read_head(fleet_origin *o, const char *filter, size_t filter_length, fleet_error *error)
{
	fleet_error why = {""};
	fleet_public_key key;
	const int found = o->place->read(o, FLEET_HEAD_FILE, &o->last_text, error);
	o->is_first = found == 0;
	if (found <= 0) {
		return found == 0;
	}
	fleet_key_public_of(&o->key, &key);
	return fleet_head_open(o->last_text.bytes, o->last_text.length, &key, filter, filter_length,
			   &o->last, &why) ||
		   fleet_fail(error, "the head that stands at %s/%s cannot be used: %s", where(o),
			   o->filter, why.text);
}

/* Under the lock. */
static bool take_epoch(fleet_origin *o, uint64_t wanted, fleet_error *error)
{
	uint64_t there;
	if (!read_epoch(o, &there, error)) {
		return false;
	}
	const uint64_t last = o->is_first || o->last.epoch < there ? there : o->last.epoch;
	o->epoch = wanted != 0 ? wanted : last != 0 ? last : 1;
	if (o->epoch < last) {
		return fleet_fail(error,
			"a publisher of epoch %" PRIu64 " is in charge; --epoch %" PRIu64 " is too low", last,
			wanted);
	}
	return o->epoch == there || write_epoch(o, error);
}

/* A copy is of one server: what may be removed there is known by the heads that are here. */
static bool check_copy(const fleet_origin *o, fleet_error *error)
{
	fleet_text text = {0};
	if (o->web == NULL) {
		return true;
	}
	const char *url = where(o);
	const int found = fleet_folder_read(&o->folder, ".", COPY_FILE, &text, error);
	if (found > 0 && strcmp(text.bytes, url) != 0) {
		return fleet_fail(error, "the folder %s has the copy of %s: %s needs another --state",
			o->folder.path, text.bytes, url);
	}
	return found > 0 || (found == 0 && fleet_folder_write(
										   &o->folder, ".", COPY_FILE, url, strlen(url), 0, error));
}

/* A copy knows the head before anything is removed. */
static bool note_head(const fleet_origin *o, fleet_error *error)
{
	if (o->web == NULL || o->is_first) {
		return true;
	}
	fleet_place_note(o, &o->last);
	return fleet_folder_write(
		&o->folder, o->filter, FLEET_HEAD_FILE, o->last_text.bytes, o->last_text.length, 0, error);
}

bool fleet_origin_begin(fleet_origin *o, const char *path, fleet_web *web, const char *filter,
	size_t filter_length, const fleet_secret_key *key, uint64_t epoch, fleet_error *error)
{
	*o = (fleet_origin){
		.key = *key, .web = web, .place = web == NULL ? &fleet_place_folder : &fleet_place_web};
	fleet_folder_name(o->filter, filter, filter_length);
	if (!(web == NULL ? fleet_folder_open(&o->folder, path, error)
					  : fleet_folder_open_own(&o->folder, path, error)) ||
		fleet_folder_lock(&o->folder, WAIT_S, error) <= 0) {
		return false;
	}
	const bool begun = check_copy(o, error) && read_head(o, filter, filter_length, error) &&
					   note_head(o, error) && take_epoch(o, epoch, error);
	const uint64_t newest = fleet_folder_newest(&o->folder, o->filter);
	const bool is_above = newest > o->last.version && newest < FLEET_NUMBER_MAX;
	o->next_version = 1 + (is_above ? newest : o->last.version);
	if (web == NULL) {
		fleet_folder_sweep(&o->folder, FLEET_GRACE_S, NULL); /* of those that announced nothing */
	}
	fleet_folder_unlock(&o->folder);
	return begun;
}

void fleet_origin_bring(const fleet_origin *o)
{
	fleet_error ignored = {""};
	if (o->web == NULL || o->is_first ||
		fleet_folder_has(&o->folder, &o->last.image, o->last.image_bytes)) {
		return;
	}
	char *part = fleet_folder_part(&o->folder, &ignored);
	if (part != NULL &&
		fleet_put_fetch(o->web->link, &o->last.image, o->last.image_bytes, part, &ignored) > 0) {
		fleet_folder_keep(&o->folder, part, &o->last.image, &ignored);
	}
	free(part);
}

bool fleet_origin_has(const fleet_origin *o, const fleet_hash *hash, uint64_t bytes)
{
	return o->place->has(o, hash, bytes);
}

void fleet_origin_end(fleet_origin *o)
{
	fleet_folder_close(&o->folder);
	if (o->web != NULL) {
		fleet_link_free(o->web->link);
		o->web->link = NULL;
	}
	sodium_memzero(&o->key, sizeof(o->key));
}

/* ------------------------------------------------------------------ announcing */

bool fleet_origin_earlier(
	const fleet_origin *o, uint64_t version, fleet_head *out, fleet_error *error)
{
	char file[FLEET_KEPT_ROOM];
	fleet_text text;
	fleet_public_key key;
	fleet_kept_name(file, version);
	fleet_key_public_of(&o->key, &key);
	const int found = o->place->read(o, file, &text, error);
	if (found < 0) {
		return false;
	}
	if (found == 0 || version >= o->last.version) {
		return fleet_fail(error, "version %" PRIu64 " is not kept at %s", version, where(o));
	}
	return fleet_head_open(
		text.bytes, text.length, &key, o->last.filter, o->last.filter_length, out, error);
}

/* Is it still this publisher's turn? */
static bool is_in_charge(const fleet_origin *o, fleet_error *error)
{
	uint64_t there;
	fleet_text text = {0};
	if (!read_epoch(o, &there, error)) {
		return false;
	}
	if (there != o->epoch) {
		return fleet_fail(error,
			"a publisher of epoch %" PRIu64 " has taken over from this one, of epoch %" PRIu64
			"; nothing was announced",
			there, o->epoch);
	}
	const int found = o->place->read(o, FLEET_HEAD_FILE, &text, error);
	if (found < 0) {
		return false;
	}
	return (found == 0 && o->is_first) ||
		   (text.length == o->last_text.length &&
			   memcmp(text.bytes, o->last_text.bytes, text.length) == 0) ||
		   fleet_fail(
			   error, "another publisher has announced something meanwhile; nothing was announced");
}

static bool deliver(const fleet_origin *o, const fleet_head *next, fleet_error *error)
{
	bool all = o->place->deliver(o, &next->image, next->image_bytes, error);
	for (unsigned i = 0; i < next->delta_count && all; i++) {
		all = o->place->deliver(o, &next->deltas[i].blob, next->deltas[i].bytes, error);
	}
	return all;
}

/* One that was stopped for long, and is not in charge any more, leaves nothing there. */
static bool prepare(const fleet_origin *o, fleet_error *error)
{
	return o->place->prepare == NULL || (is_in_charge(o, error) && o->place->prepare(o, error));
}

static bool announce(
	const fleet_origin *o, const fleet_head *next, const char *turns, fleet_error *error)
{
	fleet_turn turn;
	fleet_error ignored = {""};
	char text[FLEET_HEAD_BYTES_MAX + 1];
	const size_t length = fleet_head_sign(next, &o->key, text);
	bool (*const is_stopped)(void) = o->web == NULL ? NULL : o->web->link->is_stopped;
	turns = o->web == NULL ? NULL : turns;
	if (!fleet_turn_begin(&turn, turns, next, &o->folder, is_stopped, error)) {
		return false;
	}
	const bool announced = prepare(o, error) && is_in_charge(o, error) &&
						   fleet_turn_lasts(&turn, error) &&
						   o->place->announce(o, next->version, text, length, error);
	return fleet_turn_end(&turn, announced ? error : &ignored) && announced;
}

bool fleet_origin_announce(const fleet_origin *o, const fleet_head *next, uint64_t keep,
	const char *turns, fleet_error *error)
{
	if (fleet_folder_lock(&o->folder, WAIT_S, error) <= 0) {
		return false;
	}
	const bool announced = deliver(o, next, error) && announce(o, next, turns, error);
	if (announced) {
		o->place->clean(o, next->version > keep ? next->version - keep : 0, next->version);
	}
	fleet_folder_unlock(&o->folder);
	return announced;
}
