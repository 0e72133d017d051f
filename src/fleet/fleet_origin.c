/*
 * fleet_origin.c - an origin for its publisher.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_origin.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define PUBLISHER "publisher"
/* A publisher that found a blob there may need so long until it announces it. */
#define GRACE_S 3600
#define WAIT_S  60 /* for another publisher's first or last step */

/* ------------------------------------------------------------------ epochs */

/* Of the last publisher that began; 0: there was none. */
static bool read_epoch(const fleet_origin *o, uint64_t *epoch, fleet_error *error)
{
	fleet_text text;
	char end;
	*epoch = 0;
	const int found = fleet_folder_read(&o->folder, o->filter, PUBLISHER, &text, error);
	if (found > 0 && (sscanf(text.bytes, "epoch %" SCNu64 "%c", epoch, &end) != 2 || end != '\n')) {
		return fleet_fail(
			error, "the file %s/%s/" PUBLISHER " is damaged", o->folder.path, o->filter);
	}
	return found >= 0;
}

static bool write_epoch(const fleet_origin *o, fleet_error *error)
{
	char text[32];
	const int length = snprintf(text, sizeof(text), "epoch %" PRIu64 "\n", o->epoch);
	return fleet_folder_write(&o->folder, o->filter, PUBLISHER, text, (size_t) length, 0, error);
}

static bool read_head(fleet_origin *o, const char *filter, size_t filter_length, fleet_error *error)
{
	fleet_error why = {""};
	fleet_public_key key;
	const int found =
		fleet_folder_read(&o->folder, o->filter, FLEET_HEAD_FILE, &o->last_text, error);
	o->is_first = found == 0;
	if (found <= 0) {
		return found == 0;
	}
	fleet_key_public_of(&o->key, &key);
	return fleet_head_open(o->last_text.bytes, o->last_text.length, &key, filter, filter_length,
			   &o->last, &why) ||
		   fleet_fail(error, "the head that stands at %s/%s cannot be used: %s", o->folder.path,
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

bool fleet_origin_begin(fleet_origin *o, const char *path, const char *filter, size_t filter_length,
	const fleet_secret_key *key, uint64_t epoch, fleet_error *error)
{
	*o = (fleet_origin){.key = *key};
	fleet_folder_name(o->filter, filter, filter_length);
	if (!fleet_folder_open(&o->folder, path, error) ||
		fleet_folder_lock(&o->folder, WAIT_S, error) <= 0) {
		return false;
	}
	const bool begun = read_head(o, filter, filter_length, error) && take_epoch(o, epoch, error);
	const uint64_t newest = fleet_folder_newest(&o->folder, o->filter);
	const bool is_above = newest > o->last.version && newest < FLEET_NUMBER_MAX;
	o->next_version = 1 + (is_above ? newest : o->last.version);
	fleet_folder_sweep(&o->folder, GRACE_S); /* of publishers that announced nothing */
	fleet_folder_unlock(&o->folder);
	return begun;
}

void fleet_origin_end(fleet_origin *o)
{
	fleet_folder_close(&o->folder);
	sodium_memzero(&o->key, sizeof(o->key));
}

/* ------------------------------------------------------------------ announcing */

static void name_earlier(char out[32], uint64_t version)
{
	snprintf(out, 32, FLEET_HEAD_FILE "-%" PRIu64, version);
}

bool fleet_origin_earlier(
	const fleet_origin *o, uint64_t version, fleet_head *out, fleet_error *error)
{
	char file[32];
	fleet_text text;
	fleet_public_key key;
	name_earlier(file, version);
	fleet_key_public_of(&o->key, &key);
	const int found = fleet_folder_read(&o->folder, o->filter, file, &text, error);
	if (found < 0) {
		return false;
	}
	if (found == 0 || version >= o->last.version) {
		return fleet_fail(error, "version %" PRIu64 " is not kept at %s", version, o->folder.path);
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
	const int found = fleet_folder_read(&o->folder, o->filter, FLEET_HEAD_FILE, &text, error);
	if (found < 0) {
		return false;
	}
	return (found == 0 && o->is_first) ||
		   (text.length == o->last_text.length &&
			   memcmp(text.bytes, o->last_text.bytes, text.length) == 0) ||
		   fleet_fail(
			   error, "another publisher has announced something meanwhile; nothing was announced");
}

/* A sweep may have removed one since it was written. */
static bool has_blobs(const fleet_origin *o, const fleet_head *next, fleet_error *error)
{
	bool all = fleet_folder_has(&o->folder, &next->image, next->image_bytes);
	for (unsigned i = 0; i < next->delta_count; i++) {
		const fleet_delta *d = &next->deltas[i];
		all = all && fleet_folder_has(&o->folder, &d->blob, d->bytes);
	}
	return all || fleet_fail(error, "a blob is not there any more; nothing was announced");
}

static bool write_head(
	const fleet_origin *o, const fleet_head *next, uint64_t keep, fleet_error *error)
{
	char file[32];
	char text[FLEET_HEAD_BYTES_MAX + 1];
	const size_t length = fleet_head_sign(next, &o->key, text);
	name_earlier(file, next->version);
	/* The copy first: a publisher that dies in between has announced nothing. */
	if (!fleet_folder_write(&o->folder, o->filter, file, text, length, 0, error) ||
		!fleet_folder_write(&o->folder, o->filter, FLEET_HEAD_FILE, text, length, 0, error)) {
		return false;
	}
	fleet_folder_forget(&o->folder, o->filter, next->version > keep ? next->version - keep : 0);
	fleet_folder_sweep(&o->folder, GRACE_S);
	return true;
}

bool fleet_origin_announce(
	const fleet_origin *o, const fleet_head *next, uint64_t keep, fleet_error *error)
{
	if (fleet_folder_lock(&o->folder, WAIT_S, error) <= 0) {
		return false;
	}
	const bool announced =
		is_in_charge(o, error) && has_blobs(o, next, error) && write_head(o, next, keep, error);
	fleet_folder_unlock(&o->folder);
	return announced;
}
