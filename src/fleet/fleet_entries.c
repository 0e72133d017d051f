/*
 * fleet_entries.c - what the server of a stream says of it: its entries, and whether some are gone.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_entries.h"

#include <hiredis/hiredis.h>
#include <string.h>

bool fleet_entry_id_said(const redisReply *reply, fleet_entry_id *out)
{
	return reply->type == REDIS_REPLY_STRING && fleet_entry_id_parse(reply->str, out);
}

const redisReply *fleet_entry_fields(const redisReply *entry, fleet_entry_id *id)
{
	if (entry->type != REDIS_REPLY_ARRAY || entry->elements != 2 ||
		!fleet_entry_id_said(entry->element[0], id)) {
		return NULL;
	}
	const redisReply *fields = entry->element[1];
	if (fields->type != REDIS_REPLY_ARRAY || fields->elements == 0 || fields->elements % 2 != 0) {
		return NULL;
	}
	for (size_t i = 0; i < fields->elements; i++) {
		if (fields->element[i]->type != REDIS_REPLY_STRING) {
			return NULL;
		}
	}
	return fields;
}

/* Names and values in turn. */
bool fleet_about_read(const redisReply *reply, fleet_about *out)
{
	*out = (fleet_about){.whole = true};
	if (reply->type == REDIS_REPLY_ERROR) {
		return strstr(reply->str, "no such key") != NULL;
	}
	bool known = false;
	long long length = 0;
	long long added = -1;
	for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i + 1 < reply->elements; i += 2) {
		const redisReply *value = reply->element[i + 1];
		const char *name =
			reply->element[i]->type == REDIS_REPLY_STRING ? reply->element[i]->str : "";
		if (strcmp(name, "last-generated-id") == 0) {
			known = fleet_entry_id_said(value, &out->last);
		} else if (strcmp(name, "first-entry") == 0) {
			fleet_entry_fields(value, &out->first);
		} else if (strcmp(name, "length") == 0) {
			length = value->integer;
		} else if (strcmp(name, "entries-added") == 0) {
			added = value->integer;
		}
	}
	out->whole = added == length;
	return known && added >= 0;
}

/* Names are any bytes. */
static bool is_named(const redisReply *name, const char *text)
{
	return (size_t) name->len == strlen(text) && memcmp(name->str, text, strlen(text)) == 0;
}

/* False: entries before this one are lost. */
static bool tell_fields(const redisReply *fields, fleet_stream_told told, void *context)
{
	for (size_t i = 0; i < fields->elements; i += 2) {
		const redisReply *name = fields->element[i];
		const redisReply *value = fields->element[i + 1];
		if (is_named(name, FLEET_FIELD_LOST)) {
			return false;
		}
		if (is_named(name, FLEET_FIELD_KEY)) {
			told(context, value->str, value->len);
		} else if (is_named(name, FLEET_FIELD_WAKE)) {
			told(context, NULL, 0);
		}
	}
	return true;
}

/* XRANGE: each entry is its id, above that of the one before, and its fields. */
static int tell(const redisReply *entries, size_t from, fleet_entry_id *at, fleet_stream_told told,
	void *context)
{
	for (size_t i = from; i < entries->elements; i++) {
		fleet_entry_id id;
		const redisReply *fields = fleet_entry_fields(entries->element[i], &id);
		if (fields == NULL || fleet_entry_id_compare(id, *at) <= 0) {
			return FLEET_STREAM_FAILED;
		}
		if (!tell_fields(fields, told, context)) {
			return FLEET_STREAM_GAP;
		}
		*at = id;
	}
	/* Not "none was left": where others add all the time there is always one more. */
	return entries->elements < FLEET_ENTRIES_MAX ? FLEET_STREAM_END : FLEET_STREAM_MORE;
}

int fleet_entries_tell(const redisReply *entries, fleet_entry_id *at, fleet_stream_told told,
	void *context, fleet_error *error)
{
	const size_t from = !fleet_entry_id_is_zero(*at) && entries->elements > 0 ? 1 : 0;
	const int result = tell(entries, from, at, told, context);
	if (result == FLEET_STREAM_FAILED) {
		fleet_fail(error, "the stream has an entry that is no key");
	}
	return result;
}

bool fleet_entries_begin_at(const redisReply *entries, fleet_entry_id at)
{
	fleet_entry_id first;
	return entries->elements > 0 && fleet_entry_fields(entries->element[0], &first) != NULL &&
		   fleet_entry_id_compare(first, at) == 0;
}

bool fleet_about_has_gap(const fleet_about *about, const redisReply *entries, fleet_entry_id at)
{
	if (fleet_entry_id_is_zero(at)) {
		return !about->whole;
	}
	return fleet_entry_id_compare(about->last, at) != 0 && !fleet_entries_begin_at(entries, at);
}

bool fleet_about_has_lost(const fleet_about *about, fleet_entry_id at)
{
	return about->whole || fleet_entry_id_compare(about->last, at) < 0 ||
		   (!fleet_entry_id_is_zero(about->first) && fleet_entry_id_compare(about->first, at) < 0);
}
