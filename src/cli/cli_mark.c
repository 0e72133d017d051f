/*
 * cli_mark.c - what publish has to do with the stream of adds.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_mark.h"

#include <string.h>

#define PATIENCE_S 5

int cli_mark(const cli *c, unsigned age_s, char text[FLEET_ENTRY_ID_ROOM])
{
	fleet_error why = {""};
	fleet_stream *stream;
	fleet_entry_id place;
	const char *name = c->arguments[0];
	const bool known =
		fleet_stream_open(&stream, c->values[CLI_STREAM], name, strlen(name), PATIENCE_S, &why) &&
		(age_s == 0 ? fleet_stream_mark(stream, &place, &why)
					: fleet_stream_mark_before(stream, age_s, &place, &why));
	fleet_stream_close(stream);
	if (!known) {
		return cli_say(c, CLI_FAILED, "%s", why.text);
	}
	fleet_entry_id_text(text, place);
	return CLI_YES;
}

/* The first place at which a follower of the last head, or of an image that is kept, begins. */
static fleet_entry_id first_place(const fleet_origin *o, const fleet_head *next, uint64_t keep)
{
	fleet_error why = {""};
	fleet_head earlier;
	const uint64_t version = next->version;
	fleet_entry_id first = o->last.adds_after;
	if (fleet_entry_id_compare(next->adds_after, first) < 0) {
		first = next->adds_after; /* of a batch that began before the last one */
	}
	for (uint64_t v = version > keep ? version - keep : 1; v < version; v++) {
		if (fleet_origin_earlier(o, v, &earlier, &why) &&
			fleet_entry_id_compare(earlier.adds_after, first) < 0) {
			first = earlier.adds_after;
		}
	}
	return first;
}

void cli_mark_announced(const cli *c, const fleet_origin *o, const fleet_head *next, uint64_t keep)
{
	fleet_error why = {""};
	fleet_stream *stream;
	const char *name = c->arguments[0];
	if (!cli_given(c, CLI_STREAM)) {
		return;
	}
	/* Trimmed first: a server whose memory is full takes no wake-up before. */
	if (!fleet_stream_open(&stream, c->values[CLI_STREAM], name, strlen(name), PATIENCE_S, &why) ||
		(!o->is_first && !fleet_stream_trim(stream, first_place(o, next, keep), &why)) ||
		!fleet_stream_wake(stream, &why)) {
		cli_say(
			c, CLI_FAILED, "the filter was announced, but the stream was not told: %s", why.text);
	}
	fleet_stream_close(stream);
}
