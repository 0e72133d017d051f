/*
 * fleet_stream.h - the stream of adds in Redis or Valkey: from each host to all others.
 *
 * An entry of the stream `bloomshm:adds:FILTER` has one key or several, each as a field `k`, or an
 * empty field: `head` is a wake-up, the first entry may be `begin`, and `lost` says that there were
 * more entries before it. Their ids order them; what is older than the batch that the newest image
 * was made from is trimmed. Redis from 7.0 on, or Valkey.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_STREAM_H
#define FLEET_STREAM_H

#include "fleet/fleet_entries.h"

/*
 * One connection, and the stream of one filter. After any failure it is only closed. The process
 * ignores SIGPIPE.
 */
typedef struct fleet_stream fleet_stream;

/*
 * redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]; rediss:// is the same over TLS, and may have
 * ?ca=FILE&cert=FILE&key=FILE (fleet_tls.h); or unix:///PATH, with
 * ?db=DATABASE&user=USER&password=PASSWORD as far as they are needed. Without a password there it
 * is $REDISCLI_AUTH, if that is set.
 * No call of the server waits more than `patience_s` seconds for the next byte, and four times as
 * long for a whole answer, which has at most 8 MB.
 */
bool fleet_stream_open(fleet_stream **out, const char *url, const char *filter,
	size_t filter_length, unsigned patience_s, fleet_error *error);
/* NULL is allowed. */
void fleet_stream_close(fleet_stream *s);

typedef struct {
	const char *bytes;
	size_t length;
} fleet_added;

/* Appends the keys in order, as few entries, and returns when the server has all of them. *last is
 * the last entry; of no keys it stays as it is. */
bool fleet_stream_add(fleet_stream *s, const fleet_added *keys, size_t count, fleet_entry_id *last,
	fleet_error *error);
/*
 * The newest entry's id, of one that was removed too. Whoever reads on from there is told of all
 * that is added from now on, or sees a gap. Begins the stream with an entry that is no key, so that
 * a mark is never 0-0: from there on a loss of the whole stream would not be seen.
 */
bool fleet_stream_mark(fleet_stream *s, fleet_entry_id *out, fleet_error *error);
/* The newest entry that the server was given at least `age_s` seconds ago; 0-0 if it has none. Of a
 * stream that never had an entry it is that which fleet_stream_mark() begins it with. */
bool fleet_stream_mark_before(
	fleet_stream *s, unsigned age_s, fleet_entry_id *out, fleet_error *error);
/* Notes that entries are gone which the server had: a gap for all who read from before the note. */
bool fleet_stream_lost(fleet_stream *s, fleet_error *error);
/* Appends a wake-up: those who read the stream look at the head at once. */
bool fleet_stream_wake(fleet_stream *s, fleet_error *error);

/*
 * Tells of what is in up to 250 entries after *at, the oldest first, and sets *at to the last.
 * GAP: the entry *at is gone, and later ones may be, too; or the server has lost entries: who finds
 * that first notes it in the stream. Or the answer is too long, because of an entry that is none of
 * fleet_stream_add(): it would be the next time, too. The connection is only closed.
 */
int fleet_stream_read(
	fleet_stream *s, fleet_entry_id *at, fleet_stream_told told, void *context, fleet_error *error);
/*
 * Asks the server to say when there is an entry after `at`. Does not wait for that: next is only
 * fleet_stream_watched(), until it is not 0. For a connection that nothing is read by.
 */
bool fleet_stream_watch(fleet_stream *s, fleet_entry_id at, fleet_error *error);
/*
 * Has the server said so? 1; 0: not yet; -1: it will not, *error says why. Costs a system call.
 * Waits for the rest of an answer that has begun.
 */
int fleet_stream_watched(fleet_stream *s, fleet_error *error);
/* Removes the entries before this one. */
bool fleet_stream_trim(fleet_stream *s, fleet_entry_id before, fleet_error *error);

/*
 * The turn among publishers of the filter, of which one has it at a time: `who` has it now, for at
 * most `seconds`, or has it again: 1; another one has it: 0; -1.
 */
int fleet_stream_take_turn(fleet_stream *s, const char *who, unsigned seconds, fleet_error *error);
/* Ends it: 1; 0: it had ended before, and another one may have had its turn; -1. */
int fleet_stream_end_turn(fleet_stream *s, const char *who, fleet_error *error);

#endif
