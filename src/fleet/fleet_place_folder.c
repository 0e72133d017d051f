/*
 * fleet_place_folder.c - an origin that is a folder, for its publisher.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_place.h"

static int folder_read(const fleet_origin *o, const char *file, fleet_text *out, fleet_error *error)
{
	return fleet_folder_read(&o->folder, o->filter, file, out, error);
}

static bool folder_write(
	const fleet_origin *o, const char *file, const char *bytes, size_t length, fleet_error *error)
{
	return fleet_folder_write(&o->folder, o->filter, file, bytes, length, 0, error);
}

static bool folder_has(const fleet_origin *o, const fleet_hash *hash, uint64_t bytes)
{
	return fleet_folder_has(&o->folder, hash, bytes);
}

static bool folder_take(const fleet_origin *o, const char *bytes, size_t length, fleet_error *error)
{
	return folder_write(o, FLEET_PUBLISHER_FILE, bytes, length, error);
}

/* A sweep may have removed it since it was written. */
static bool folder_deliver(
	const fleet_origin *o, const fleet_hash *hash, uint64_t bytes, fleet_error *error)
{
	return fleet_folder_has(&o->folder, hash, bytes) ||
		   fleet_fail(error, "a blob is not there any more; nothing was announced");
}

/* The copy first: a publisher that dies in between has announced nothing. */
static bool folder_announce(
	const fleet_origin *o, uint64_t version, const char *bytes, size_t length, fleet_error *error)
{
	char kept[FLEET_KEPT_ROOM];
	fleet_kept_name(kept, version);
	return folder_write(o, kept, bytes, length, error) &&
		   folder_write(o, FLEET_HEAD_FILE, bytes, length, error);
}

static void folder_clean(const fleet_origin *o, uint64_t from, uint64_t next)
{
	(void) next;
	fleet_folder_forget(&o->folder, o->filter, from, NULL);
	fleet_folder_sweep(&o->folder, FLEET_GRACE_S, NULL);
}

const fleet_place fleet_place_folder = {
	folder_read, folder_take, folder_has, folder_deliver, NULL, folder_announce, folder_clean};
