/*
 * fleet_stream.c - the stream of adds in Redis or Valkey: from each host to all others.
 *
 * A reader that was away must see whether entries are missing: a key that it never reads is a wrong
 * "no". Entries are removed from the oldest on. So as long as the entry at the reader's own place
 * is there, all after it are. The place is read with the entries behind it, in one command. If it
 * is gone the newest id is read too, in one transaction, because a reader at the end misses nothing
 * although all were removed.
 *
 * A server that has lost its data begins the stream anew; one that has a copy of it, or takes over
 * from another one, may lack the newest entries. Who has read them finds that its place is gone,
 * though older entries are there. But who has not would read on, and miss them. So the first who
 * sees it notes it in the stream: a gap for all who read from before the note.
 *
 * Whoever trims leaves the entry at the mark.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_stream.h"

#include "fleet/fleet_address.h"
#include "fleet/fleet_library.h"
#include "fleet/fleet_tls.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "bloomshm:adds:"
#define TURN   "bloomshm:turn:"
/*
 * An entry has keys while their lengths, and 32 for each, have at most that sum: one of the longest
 * that an outbox has, or up to 128 short ones. In an answer a key takes at most 16 bytes more than
 * its length, for its field and both their sizes, and an entry less than 100: so a batch has at
 * most 251 * (4104 + 100) bytes, an eighth of ANSWER_BYTES_MAX.
 */
#define ENTRY_BYTES_MAX 4104
#define KEY_BYTES_MORE  32
#define ENTRY_KEYS_MAX  (ENTRY_BYTES_MAX / KEY_BYTES_MORE)
#define DEFAULT_PORT    "6379"
/* As of redis-cli: a password in an URL is seen by all users of the host. */
#define PASSWORD_VARIABLE "REDISCLI_AUTH"
#define ANSWER_BYTES_MAX  (8u << 20)
#define ANSWER_PATIENCES  4 /* so often patience_s for a whole answer */

struct fleet_stream {
	redisContext *redis;
	fleet_tls *tls; /* of rediss:// */
	char name[sizeof(PREFIX) + FLEET_NAME_BYTES_MAX];
	size_t name_length;
	unsigned patience_s;
	bool has_answered; /* anything */
	bool is_too_long;  /* the last answer was */
};

/* ------------------------------------------------------------------ the connection */

static bool fail_server(const fleet_stream *s, const redisReply *reply, fleet_error *error)
{
	if (reply != NULL && reply->type == REDIS_REPLY_ERROR) {
		return fleet_fail(error, "the stream's server says \"%s\"", reply->str);
	}
	if (reply == NULL && s->redis->err == REDIS_ERR_IO && errno == EAGAIN) {
		return fleet_fail(error, "the stream's server does not answer within %u s", s->patience_s);
	}
	if (reply == NULL) {
		/* With TLS 1.3 a client is refused when it believes that it is connected. */
		return fleet_fail(error, "the stream's server does not answer: %s%s",
			s->redis->errstr[0] != '\0' ? s->redis->errstr : "the connection has ended",
			s->tls == NULL || s->has_answered
				? ""
				: " (perhaps it wants a certificate, or another one, of this client)");
	}
	return fleet_fail(error, "the stream's server gives an answer of an unknown form");
}

/*
 * The next answer, or NULL: as redisGetReply(), which waits for ever for an answer without an end,
 * and keeps all of it. An answer is to be freed.
 */
static redisReply *next(fleet_stream *s, fleet_error *error)
{
	void *got = NULL;
	int written = 0;
	size_t bytes = 0;
	const unsigned limit_s = ANSWER_PATIENCES * s->patience_s;
	const double end_s = fleet_now_s() + limit_s;
	while (redisGetReplyFromReader(s->redis, &got) == REDIS_OK && got == NULL) {
		while (written == 0 && redisBufferWrite(s->redis, &written) == REDIS_OK) {
		}
		const size_t before = s->redis->reader->len;
		if (s->redis->err != 0 || redisBufferRead(s->redis) != REDIS_OK) {
			break;
		}
		bytes += s->redis->reader->len - before;
		if (bytes > ANSWER_BYTES_MAX) {
			fleet_fail(error, "the stream's server gives an answer of more than %u bytes",
				ANSWER_BYTES_MAX);
			s->is_too_long = true;
			return NULL;
		}
		if (fleet_now_s() > end_s) {
			fleet_fail(error, "the stream's server does not answer within %u s", limit_s);
			return NULL;
		}
	}
	if (got == NULL) {
		fail_server(s, NULL, error);
	}
	s->has_answered |= got != NULL;
	return got;
}

/* The next answer: of that type, or NULL. */
static redisReply *answer(fleet_stream *s, int type, fleet_error *error)
{
	redisReply *reply = next(s, error);
	if (reply != NULL && reply->type != type) {
		fail_server(s, reply, error);
		freeReplyObject(reply);
		return NULL;
	}
	return reply;
}

static bool ask(fleet_stream *s, int type, fleet_error *error, int count, const char **words,
	const size_t *lengths)
{
	redisAppendCommandArgv(s->redis, count, words, lengths);
	redisReply *reply = answer(s, type, error);
	freeReplyObject(reply);
	return reply != NULL;
}

static bool log_in(fleet_stream *s, const fleet_address *a, fleet_error *error)
{
	const char *password = a->password != NULL ? a->password : getenv(PASSWORD_VARIABLE);
	if (password != NULL && *password != '\0') {
		const bool named = a->user != NULL && a->user[0] != '\0';
		const char *words[] = {"AUTH", named ? a->user : password, password};
		if (!ask(s, REDIS_REPLY_STATUS, error, named ? 3 : 2, words, NULL)) {
			return false;
		}
	}
	const char *words[] = {"SELECT", a->database};
	return a->database == NULL || a->database[0] == '\0' ||
		   ask(s, REDIS_REPLY_STATUS, error, 2, words, NULL);
}

static redisContext *connect_tls(fleet_stream *s, const fleet_address *a, const char *port,
	unsigned patience_s, fleet_error *error)
{
	const fleet_tls_place place = {a->host, port, a->ca, a->cert, a->key};
	const int fd = fleet_tls_open(&s->tls, &place, patience_s, error);
	redisContext *redis = fd < 0 ? NULL : redisConnectFd(fd);
	if (redis == NULL && fd >= 0) {
		close(fd);
		fleet_fail(error, "there is no memory for a connection");
	}
	return redis;
}

static bool connect_to(
	fleet_stream *s, const fleet_address *a, unsigned patience_s, fleet_error *error)
{
	const struct timeval patience = {.tv_sec = patience_s};
	const char *port = a->port == NULL ? DEFAULT_PORT : a->port;
	s->redis = a->is_tls         ? connect_tls(s, a, port, patience_s, error)
			   : a->path != NULL ? redisConnectUnixWithTimeout(a->path, patience)
								 : redisConnectWithTimeout(a->host, atoi(port), patience);
	if (s->redis == NULL) {
		return a->is_tls ? false : fleet_fail(error, "there is no memory for a connection");
	}
	if (s->redis->err != 0) {
		return fleet_fail(error, "cannot reach the stream's server: %s", s->redis->errstr);
	}
	redisSetTimeout(s->redis, patience);
	if (a->path == NULL && !a->is_tls) {
		redisEnableKeepAlive(s->redis);
	}
	return log_in(s, a, error);
}

bool fleet_stream_open(fleet_stream **out, const char *url, const char *filter,
	size_t filter_length, unsigned patience_s, fleet_error *error)
{
	*out = NULL;
	if (!fleet_curl_load(error)) {
		return false;
	}
	fleet_stream *s = calloc(1, sizeof(*s));
	if (s == NULL) {
		return fleet_fail(error, "there is no memory for a connection");
	}
	memcpy(s->name, PREFIX, sizeof(PREFIX) - 1);
	memcpy(s->name + sizeof(PREFIX) - 1, filter, filter_length);
	s->name_length = sizeof(PREFIX) - 1 + filter_length;
	s->patience_s = patience_s;
	fleet_address a;
	const bool open =
		fleet_address_parse(url, &a)
			? connect_to(s, &a, patience_s, error)
			: fleet_fail(error,
				  "a stream is redis[s]://HOST[:PORT][/DATABASE] or unix:///PATH; what "
				  "follows ? may be ca, cert, key of rediss, db, user, password of unix");
	fleet_address_forget(&a);
	if (!open) {
		fleet_stream_close(s);
		return false;
	}
	*out = s;
	return true;
}

void fleet_stream_close(fleet_stream *s)
{
	if (s != NULL && s->redis != NULL) {
		redisFree(s->redis);
	}
	if (s != NULL) {
		fleet_tls_close(s->tls);
	}
	free(s);
}

/* ------------------------------------------------------------------ writing */

/* Sends an entry of as many keys as it may have, at least one; returns how many. */
static size_t append_entry(fleet_stream *s, const fleet_added *keys, size_t count)
{
	const char *words[3 + 2 * ENTRY_KEYS_MAX] = {"XADD", s->name, "*"};
	size_t lengths[3 + 2 * ENTRY_KEYS_MAX] = {4, s->name_length, 1};
	size_t bytes = 0;
	size_t i = 0;
	for (; i < count && i < ENTRY_KEYS_MAX; i++) {
		bytes += keys[i].length + KEY_BYTES_MORE;
		if (i > 0 && bytes > ENTRY_BYTES_MAX) {
			break;
		}
		words[3 + 2 * i] = FLEET_FIELD_KEY;
		lengths[3 + 2 * i] = 1;
		words[4 + 2 * i] = keys[i].bytes;
		lengths[4 + 2 * i] = keys[i].length;
	}
	redisAppendCommandArgv(s->redis, (int) (3 + 2 * i), words, lengths);
	return i;
}

/* The answer to XADD. */
static bool take_id(fleet_stream *s, fleet_entry_id *out, fleet_error *error)
{
	redisReply *reply = answer(s, REDIS_REPLY_STRING, error);
	const bool added =
		reply != NULL && (fleet_entry_id_said(reply, out) || fail_server(s, reply, error));
	freeReplyObject(reply);
	return added;
}

bool fleet_stream_add(fleet_stream *s, const fleet_added *keys, size_t count, fleet_entry_id *last,
	fleet_error *error)
{
	size_t entries = 0;
	for (size_t i = 0; i < count; i += append_entry(s, keys + i, count - i)) {
		entries++;
	}
	while (entries > 0 && take_id(s, last, error)) {
		entries--;
	}
	return entries == 0;
}

/* An entry that is no key: an empty field. */
static bool append_empty(
	fleet_stream *s, const char *field, fleet_entry_id *out, fleet_error *error)
{
	const char *words[] = {"XADD", s->name, "*", field, ""};
	const size_t lengths[] = {4, s->name_length, 1, strlen(field), 0};
	redisAppendCommandArgv(s->redis, 5, words, lengths);
	return take_id(s, out, error);
}

bool fleet_stream_wake(fleet_stream *s, fleet_error *error)
{
	fleet_entry_id ignored;
	return append_empty(s, FLEET_FIELD_WAKE, &ignored, error);
}

bool fleet_stream_lost(fleet_stream *s, fleet_error *error)
{
	fleet_entry_id ignored;
	return append_empty(s, FLEET_FIELD_LOST, &ignored, error);
}

bool fleet_stream_trim(fleet_stream *s, fleet_entry_id before, fleet_error *error)
{
	char id[FLEET_ENTRY_ID_ROOM];
	fleet_entry_id_text(id, before);
	const char *words[] = {"XTRIM", s->name, "MINID", id};
	const size_t lengths[] = {5, s->name_length, 5, strlen(id)};
	return ask(s, REDIS_REPLY_INTEGER, error, 4, words, lengths);
}

/* ------------------------------------------------------------------ reading */

static int read_answers(fleet_stream *s, const redisReply *both, fleet_entry_id *at,
	fleet_stream_told told, void *context, fleet_error *error)
{
	fleet_about server;
	const redisReply *entries = both->elements == 2 ? both->element[1] : NULL;
	if (entries == NULL || entries->type != REDIS_REPLY_ARRAY ||
		!fleet_about_read(both->element[0], &server)) {
		fail_server(s, entries != NULL ? both->element[0] : both, error);
		return FLEET_STREAM_FAILED;
	}
	if (fleet_about_has_gap(&server, entries, *at)) {
		const bool noted = !fleet_about_has_lost(&server, *at) || fleet_stream_lost(s, error);
		return noted ? FLEET_STREAM_GAP : FLEET_STREAM_FAILED;
	}
	return fleet_entries_tell(entries, at, told, context, error);
}

static void append_range(fleet_stream *s, fleet_entry_id at)
{
	char from[FLEET_ENTRY_ID_ROOM];
	char count[16];
	fleet_entry_id_text(from, at);
	snprintf(count, sizeof(count), "%d", FLEET_ENTRIES_MAX);
	const char *words[] = {"XRANGE", s->name, from, "+", "COUNT", count};
	const size_t lengths[] = {6, s->name_length, strlen(from), 1, 5, strlen(count)};
	redisAppendCommandArgv(s->redis, 6, words, lengths);
}

/* The entry at the place is not there: is there a gap? */
static int read_with_about(
	fleet_stream *s, fleet_entry_id *at, fleet_stream_told told, void *context, fleet_error *error)
{
	const char *info[] = {"XINFO", "STREAM", s->name};
	const size_t info_lengths[] = {5, 6, s->name_length};
	redisAppendCommand(s->redis, "MULTI");
	redisAppendCommandArgv(s->redis, 3, info, info_lengths);
	append_range(s, *at);
	redisAppendCommand(s->redis, "EXEC");
	for (int i = 0; i < 3; i++) {
		redisReply *queued = answer(s, REDIS_REPLY_STATUS, error);
		freeReplyObject(queued);
		if (queued == NULL) {
			return FLEET_STREAM_FAILED;
		}
	}
	redisReply *both = answer(s, REDIS_REPLY_ARRAY, error);
	const int result =
		both == NULL ? FLEET_STREAM_FAILED : read_answers(s, both, at, told, context, error);
	freeReplyObject(both);
	return result;
}

static int read_on(
	fleet_stream *s, fleet_entry_id *at, fleet_stream_told told, void *context, fleet_error *error)
{
	if (fleet_entry_id_is_zero(*at)) {
		return read_with_about(s, at, told, context, error);
	}
	append_range(s, *at);
	redisReply *entries = answer(s, REDIS_REPLY_ARRAY, error);
	if (entries == NULL) {
		return FLEET_STREAM_FAILED;
	}
	const int result = fleet_entries_begin_at(entries, *at)
						   ? fleet_entries_tell(entries, at, told, context, error)
						   : read_with_about(s, at, told, context, error);
	freeReplyObject(entries);
	return result;
}

int fleet_stream_read(
	fleet_stream *s, fleet_entry_id *at, fleet_stream_told told, void *context, fleet_error *error)
{
	const int result = read_on(s, at, told, context, error);
	if (!s->is_too_long) {
		return result;
	}
	*error = (fleet_error){""};
	return FLEET_STREAM_GAP; /* it is as long the next time */
}

bool fleet_stream_watch(fleet_stream *s, fleet_entry_id at, fleet_error *error)
{
	char after[FLEET_ENTRY_ID_ROOM];
	int written = 0;
	fleet_entry_id_text(after, at);
	const char *words[] = {"XREAD", "COUNT", "1", "BLOCK", "0", "STREAMS", s->name, after};
	const size_t lengths[] = {5, 5, 1, 5, 1, 7, s->name_length, strlen(after)};
	redisAppendCommandArgv(s->redis, 8, words, lengths);
	while (written == 0) {
		if (redisBufferWrite(s->redis, &written) != REDIS_OK) {
			return fail_server(s, NULL, error);
		}
	}
	return true;
}

int fleet_stream_watched(fleet_stream *s, fleet_error *error)
{
	struct pollfd answers = {.fd = s->redis->fd, .events = POLLIN};
	if (poll(&answers, 1, 0) <= 0) {
		return 0;
	}
	redisReply *reply = answer(s, REDIS_REPLY_ARRAY, error);
	freeReplyObject(reply);
	return reply != NULL ? 1 : -1;
}

/* The newest entry's id, of one that was removed too; 0-0 if there has been none. */
static bool read_last(fleet_stream *s, fleet_entry_id *out, fleet_error *error)
{
	const char *words[] = {"XINFO", "STREAM", s->name};
	const size_t lengths[] = {5, 6, s->name_length};
	redisAppendCommandArgv(s->redis, 3, words, lengths);
	redisReply *reply = next(s, error);
	fleet_about server;
	const bool known =
		reply != NULL && (fleet_about_read(reply, &server) || fail_server(s, reply, error));
	if (known) {
		*out = server.last;
	}
	freeReplyObject(reply);
	return known;
}

bool fleet_stream_mark(fleet_stream *s, fleet_entry_id *out, fleet_error *error)
{
	if (!read_last(s, out, error)) {
		return false;
	}
	if (!fleet_entry_id_is_zero(*out)) {
		return true;
	}
	/* Two publishers at once begin it twice, which does no harm. */
	return append_empty(s, FLEET_FIELD_BEGIN, out, error);
}

/* By the server's clock, which the ids have. */
static bool read_time_s(fleet_stream *s, uint64_t *out, fleet_error *error)
{
	redisAppendCommand(s->redis, "TIME");
	redisReply *reply = answer(s, REDIS_REPLY_ARRAY, error);
	const bool known =
		reply != NULL && reply->elements == 2 && reply->element[0]->type == REDIS_REPLY_STRING;
	*out = known ? strtoull(reply->element[0]->str, NULL, 10) : 0;
	if (reply != NULL && !known) {
		fail_server(s, reply, error);
	}
	freeReplyObject(reply);
	return known;
}

bool fleet_stream_mark_before(
	fleet_stream *s, unsigned age_s, fleet_entry_id *out, fleet_error *error)
{
	fleet_entry_id last;
	uint64_t time_s;
	char before[FLEET_ENTRY_ID_ROOM];
	if (!read_last(s, &last, error)) {
		return false;
	}
	if (fleet_entry_id_is_zero(last)) {
		return fleet_stream_mark(s, out, error);
	}
	if (!read_time_s(s, &time_s, error)) {
		return false;
	}
	fleet_entry_id_text(before, (fleet_entry_id){(time_s - age_s) * 1000, 0});
	const char *words[] = {"XREVRANGE", s->name, before, "-", "COUNT", "1"};
	const size_t lengths[] = {9, s->name_length, strlen(before), 1, 5, 1};
	redisAppendCommandArgv(s->redis, 6, words, lengths);
	redisReply *reply = answer(s, REDIS_REPLY_ARRAY, error);
	if (reply == NULL) {
		return false;
	}
	*out = (fleet_entry_id){0, 0};
	const bool sound = reply->elements == 0 || fleet_entry_fields(reply->element[0], out) != NULL ||
					   fail_server(s, reply, error);
	freeReplyObject(reply);
	return sound;
}

/* ------------------------------------------------------------------ turns */

/* Runs a script on the filter's key of turns, and returns the 0 or 1 that it does; or -1. */
static int run_script(fleet_stream *s, const char *script, const char *who,
	const char *milliseconds, fleet_error *error)
{
	char name[sizeof(TURN) + FLEET_NAME_BYTES_MAX];
	const size_t filter_length = s->name_length - (sizeof(PREFIX) - 1);
	memcpy(name, TURN, sizeof(TURN) - 1);
	memcpy(name + sizeof(TURN) - 1, s->name + sizeof(PREFIX) - 1, filter_length);
	const char *words[] = {"EVAL", script, "1", name, who, milliseconds};
	const size_t lengths[] = {
		4, strlen(script), 1, sizeof(TURN) - 1 + filter_length, strlen(who), strlen(milliseconds)};
	redisAppendCommandArgv(s->redis, 6, words, lengths);
	redisReply *reply = answer(s, REDIS_REPLY_INTEGER, error);
	const int result = reply == NULL ? -1 : reply->integer == 1;
	freeReplyObject(reply);
	return result;
}

int fleet_stream_take_turn(fleet_stream *s, const char *who, unsigned seconds, fleet_error *error)
{
	char milliseconds[24];
	snprintf(milliseconds, sizeof(milliseconds), "%u000", seconds);
	/* A server whose memory is full has room for this; what is announced then is trimmed. */
	return run_script(s,
		"#!lua flags=allow-oom\n"
		"local held = redis.call('GET', KEYS[1]) "
		"if held and held ~= ARGV[1] then return 0 end "
		"redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) "
		"return 1",
		who, milliseconds, error);
}

int fleet_stream_end_turn(fleet_stream *s, const char *who, fleet_error *error)
{
	return run_script(s,
		"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
		"return redis.call('DEL', KEYS[1])",
		who, "", error);
}
