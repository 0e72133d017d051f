/*
 * cli_adds.c - the adds of a fleet: from the outbox to the stream, and from there to the filter.
 *
 * A key leaves the outbox when the server of the stream has it, so a follower that dies sends some
 * keys twice. It reads the stream from the entry at which the image was made on, so one that begins
 * anew adds some keys twice. Neither does harm.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_adds.h"

#include "core/bshm_origin.h"
#include "message/message.h"

#include <stdlib.h>
#include <string.h>

#define PATIENCE_S 5
#define RETRY_NS   UINT64_C(1000000000)
#define ALL_NS     UINT64_C(250000000)
#define BATCH_KEYS 1024

static void end_watch(cli_adds *a)
{
	fleet_stream_close(a->watch);
	a->watch = NULL;
	a->is_watched = false;
}

void cli_adds_end(cli_adds *a)
{
	fleet_stream_close(a->stream);
	a->stream = NULL;
	end_watch(a);
}

/* `insists`: also right after a failure. */
static bool connect_to(const cli_adds_of *of, cli_adds *a, bool insists, fleet_error *error)
{
	if (a->stream != NULL) {
		return true;
	}
	if (!insists && bshm_now_ns() < a->retry_ns) {
		*error = a->failure;
		return false;
	}
	a->all_ns = 0;
	return fleet_stream_open(&a->stream, of->url, of->name, strlen(of->name), PATIENCE_S, error);
}

/* After a failure the connection is made anew, but not at once. */
static int fail(const cli_adds_of *of, cli_adds *a, const fleet_error *error)
{
	cli_adds_end(a);
	if (bshm_now_ns() >= a->retry_ns) {
		a->retry_ns = bshm_now_ns() + RETRY_NS;
		a->failure = *error;
		of->counts->failures[CLI_FAILS_STREAM]++;
	}
	return FLEET_STREAM_FAILED;
}

/* ------------------------------------------------------------------ from the outbox */

/* Keys of one filter. Those that do not fit are left for another reading. */
typedef struct {
	uint64_t name;
	size_t count;
	bool more;
	bool no_memory;
	bshm_outbox_letter letters[BATCH_KEYS];
	fleet_added keys[BATCH_KEYS];
} batch;

static void take_letter(
	void *context, const bshm_outbox_letter *letter, uint64_t name, const bshm_key *key)
{
	batch *b = context;
	if (name != b->name) {
		return;
	}
	char *copy = b->count < BATCH_KEYS ? malloc(key->length + 1) : NULL;
	if (copy == NULL) {
		b->no_memory |= b->count < BATCH_KEYS;
		b->more = true;
		return;
	}
	memcpy(copy, key->bytes, key->length);
	b->letters[b->count] = *letter;
	b->keys[b->count++] = (fleet_added){copy, key->length};
}

static void forget(batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		free((void *) (uintptr_t) b->keys[i].bytes);
	}
	b->count = 0;
}

/*
 * Sends the keys of the outbox: `all`, or those of pages with new ones. A letter of another filter,
 * and one that was written at that moment, may have lost its mark: so it reads all now and then.
 */
static bool send(const cli_adds_of *of, cli_adds *a, bool all, fleet_error *error)
{
	if (bshm_now_ns() >= a->all_ns) {
		a->all_ns = bshm_now_ns() + ALL_NS;
		all = true;
	}
	static batch room; /* 32 kB: too much to get, and to clear, ten times a second */
	batch *b = &room;
	bool sent = true;
	while (sent) {
		b->more = b->no_memory = false;
		b->name = bshm_outbox_name(of->c->segment, of->name, strlen(of->name));
		bshm_outbox_read(of->c->segment, all, take_letter, b);
		sent = fleet_stream_add(a->stream, b->keys, b->count, &a->sent, error);
		if (sent) {
			of->counts->sent += b->count;
			bshm_outbox_free(of->c->segment, b->letters, b->count);
		}
		forget(b);
		if (b->no_memory) {
			sent = fleet_fail(error, "no private memory left");
		}
		if (!b->more) {
			break;
		}
		if (cli_signal() != 0) {
			sent = fleet_fail(error, "a signal came");
		}
		all = true;
	}
	return sent;
}

/* ------------------------------------------------------------------ from the stream */

typedef struct {
	const cli_adds_of *of;
	bshm_build *build; /* NULL: to the filter in the segment */
	bool is_woken;
	bshm_status status;
	bshm_error error;
} target;

static void add_one(void *context, const char *bytes, size_t length)
{
	target *t = context;
	uint64_t added;
	const cli *c = t->of->c;
	const bshm_key key = {bytes, length};
	if (bytes == NULL) {
		t->is_woken = true;
		return;
	}
	if (t->status != BSHM_OK) {
		return;
	}
	t->of->counts->received++;
	t->status = t->build != NULL ? bshm_build_receive(t->build, bytes, length, &t->error)
								 : bshm_filter_receive(c->segment, c->views, t->of->name,
									   strlen(t->of->name), &key, 1, &added, &t->error);
}

static int receive(cli_adds *a, target *t, fleet_entry_id *at, fleet_error *error)
{
	fleet_entry_id next = *at;
	int result = fleet_stream_read(a->stream, &next, add_one, t, error);
	if (t->status != BSHM_OK) {
		bshm_message message;
		const bshm_message_about about = {
			.path = t->of->c->path, .name = t->of->name, .command = true};
		fleet_fail(error, "%s", bshm_message_say(&message, &t->error, &about));
		return FLEET_STREAM_FAILED;
	}
	*at = next;
	if (result == FLEET_STREAM_END && fleet_entry_id_compare(next, a->sent) < 0) {
		/* The server has lost what it had, and perhaps no other reader has seen it there. */
		result = fleet_stream_lost(a->stream, error) ? FLEET_STREAM_GAP : FLEET_STREAM_FAILED;
		a->sent = result == FLEET_STREAM_GAP ? (fleet_entry_id){0, 0} : a->sent;
	}
	return result;
}

bool cli_adds_send(const cli_adds_of *of, cli_adds *a, fleet_error *error)
{
	const bool sent = connect_to(of, a, false, error) && send(of, a, false, error);
	if (!sent) {
		fail(of, a, error);
	}
	return sent;
}

/* Sends between two readings, too: pages need room in the outbox, however much there is to read. */
static int exchange(const cli_adds_of *of, cli_adds *a, bshm_build *build, bool all,
	fleet_entry_id *at, fleet_error *error)
{
	target t = {.of = of, .build = build, .status = BSHM_OK};
	/* A build is tried ever later, and must not find each time what failed in between. */
	int result = connect_to(of, a, build != NULL, error) ? FLEET_STREAM_MORE : FLEET_STREAM_FAILED;
	while (result == FLEET_STREAM_MORE) {
		result = send(of, a, all, error) ? receive(a, &t, at, error) : FLEET_STREAM_FAILED;
		all = false;
		if (result == FLEET_STREAM_MORE && cli_signal() != 0) {
			fleet_fail(error, "a signal came");
			result = FLEET_STREAM_FAILED;
		}
	}
	a->is_woken |= t.is_woken;
	if (result == FLEET_STREAM_GAP) {
		cli_adds_end(a);
	}
	return result == FLEET_STREAM_FAILED ? fail(of, a, error) : result;
}

static void fail_watch(cli_adds *a)
{
	a->watch_ns = bshm_now_ns() + RETRY_NS;
	end_watch(a);
}

/* Is all read that is known of? The server has been asked to say when there is more. */
static bool is_quiet(cli_adds *a)
{
	fleet_error ignored = {""};
	const int told = a->is_watched ? fleet_stream_watched(a->watch, &ignored) : 0;
	if (told < 0) {
		fail_watch(a);
	}
	a->is_watched &= told == 0;
	return a->is_watched && fleet_entry_id_compare(a->watched, a->at) == 0;
}

/* The next that comes is told of. If that fails, each call asks, as before. */
static void watch(const cli_adds_of *of, cli_adds *a)
{
	fleet_error ignored = {""};
	if (a->is_watched && fleet_entry_id_compare(a->watched, a->at) != 0) {
		end_watch(a); /* it would tell of what was read */
	}
	if (a->is_watched || bshm_now_ns() < a->watch_ns) {
		return;
	}
	a->watched = a->at;
	a->is_watched = (a->watch != NULL || fleet_stream_open(&a->watch, of->url, of->name,
											 strlen(of->name), PATIENCE_S, &ignored)) &&
					fleet_stream_watch(a->watch, a->at, &ignored);
	if (!a->is_watched) {
		fail_watch(a);
	}
}

int cli_adds_exchange(const cli_adds_of *of, cli_adds *a, bool asks, fleet_error *error)
{
	if (!asks && is_quiet(a)) {
		return cli_adds_send(of, a, error) ? FLEET_STREAM_END : FLEET_STREAM_FAILED;
	}
	const fleet_entry_id before = a->at;
	const int result = exchange(of, a, NULL, false, &a->at, error);
	if (result == FLEET_STREAM_END && !asks && fleet_entry_id_compare(before, a->at) == 0) {
		watch(of, a); /* not while more comes each time: that would be one more to ask */
	}
	return result;
}

int cli_adds_build(
	const cli_adds_of *of, cli_adds *a, bshm_build *build, fleet_entry_id after, fleet_error *error)
{
	fleet_entry_id at = after;
	/* All letters: an add before the build began has left its key, or notes it in the journal. */
	const int result = exchange(of, a, build, true, &at, error);
	if (result != FLEET_STREAM_FAILED) {
		a->at = at;
	}
	return result;
}

bool cli_adds_doubt(const cli_adds_of *of)
{
	bshm_error error;
	return bshm_filter_doubt(of->c->segment, of->name, strlen(of->name), &error) == 1;
}

uint64_t cli_adds_unsent(const cli_adds_of *of, cli_adds *a)
{
	bshm_info info;
	bshm_error error;
	const cli *c = of->c;
	bshm_outbox_sweep(c->segment, &error); /* or with the next look */
	if (bshm_filter_estimate(c->segment, c->views, of->name, strlen(of->name), 1, &info) !=
		BSHM_OK) {
		return 0;
	}
	const uint64_t more = info.unsent > a->unsent ? info.unsent - a->unsent : 0;
	a->unsent = info.unsent;
	return more;
}
