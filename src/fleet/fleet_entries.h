/*
 * fleet_entries.h - what the server of a stream says of it: its entries, and whether some are gone.
 *
 * An answer may have any form. Nothing here asks or waits.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_ENTRIES_H
#define FLEET_ENTRIES_H

#include "fleet/fleet.h"

struct redisReply; /* of hiredis.h */

/* That are read at a time, with the one at the place: 1 MB at most, which 53 kB/s bring in time. */
#define FLEET_ENTRIES_MAX 251
/* The names of an entry's fields. */
#define FLEET_FIELD_KEY   "k"
#define FLEET_FIELD_WAKE  "head"
#define FLEET_FIELD_BEGIN "begin"
#define FLEET_FIELD_LOST  "lost"

/* `key` NULL: a wake-up. */
typedef void (*fleet_stream_told)(void *context, const char *key, size_t length);

enum {
	FLEET_STREAM_FAILED = -1,
	FLEET_STREAM_END,  /* there were no more */
	FLEET_STREAM_MORE, /* perhaps */
	FLEET_STREAM_GAP   /* entries after *at may be gone: no more is told */
};

static inline bool fleet_entry_id_is_zero(fleet_entry_id id)
{
	return id.ms == 0 && id.serial == 0;
}

/* False: it is no id. */
bool fleet_entry_id_said(const struct redisReply *reply, fleet_entry_id *out);
/* Names and values in turn, all of them strings; at least one pair. NULL: it is no entry. */
const struct redisReply *fleet_entry_fields(const struct redisReply *entry, fleet_entry_id *id);
/* Does the range begin with the entry `at`? */
bool fleet_entries_begin_at(const struct redisReply *entries, fleet_entry_id at);
/* Tells of a range from *at on, the entry *at left out, as fleet_stream_read(). */
int fleet_entries_tell(const struct redisReply *entries, fleet_entry_id *at, fleet_stream_told told,
	void *context, fleet_error *error);

/* What the server says of a stream. */
typedef struct {
	fleet_entry_id first; /* 0-0: there are no entries */
	fleet_entry_id last;  /* that it gave */
	bool whole;           /* none was ever removed */
} fleet_about;

/* The answer to XINFO STREAM. Of no stream all is 0-0. False: it says something else. */
bool fleet_about_read(const struct redisReply *reply, fleet_about *out);
/* May entries after `at` be gone? Not if the one at the place, where the range begins, is there. */
bool fleet_about_has_gap(
	const fleet_about *about, const struct redisReply *entries, fleet_entry_id at);
/*
 * The entry `at` is gone. Was it lost, and not removed? Entries are removed from the oldest on, and
 * the newest id that was given stays.
 */
bool fleet_about_has_lost(const fleet_about *about, fleet_entry_id at);

#endif
