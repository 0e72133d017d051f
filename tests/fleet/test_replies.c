/*
 * test_replies.c - a server of streams that may say anything.
 *
 * It says all its answers as soon as somebody connects. Whatever they are, reading ends: with what
 * was told, or with a reason; the place never goes back; and no byte is touched that is not there.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "fleet/fleet_stream.h"
#include "platform/platform.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ROUNDS     3000
#define REPLY_ROOM 80000
#define FIELDS     5000
/* The entry at the place is gone: so the rest is asked in a transaction. */
#define QUEUED "*0\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n"
/* What XINFO says of a stream whose newest entry is 9-9. */
#define ABOUT                                                                                      \
 "*6\r\n$6\r\nlength\r\n:2\r\n$17\r\nlast-generated-id\r\n$3\r\n9-9\r\n"                           \
 "$13\r\nentries-added\r\n:3\r\n"
#define ENTRY(id, name, value) "*2\r\n" id "*2\r\n" name value
#define K                      "$1\r\nk\r\n"
#define HEAD                   "$4\r\nhead\r\n"
#define OTHER                  "$5\r\nother\r\n"
#define ID(text)               "$3\r\n" text "\r\n"
#define PLACE                  ENTRY(ID("1-1"), K, "$1\r\na\r\n")

static char url[256];
static int listener;
static uint64_t seed;
/* What is said to each who connects; `rest` again and again, with a pause after each. */
static char said[REPLY_ROOM];
static size_t said_bytes;
static const char *rest;
static size_t rest_bytes;
static unsigned pause_us;

static void *serve(void *unused)
{
	char ignored[4096];
	(void) unused;
	for (;;) {
		const int peer = accept(listener, NULL, NULL);
		bool heard = send(peer, said, said_bytes, MSG_NOSIGNAL) == (ssize_t) said_bytes;
		while (heard && rest != NULL) {
			heard = send(peer, rest, rest_bytes, MSG_NOSIGNAL) > 0;
			bshm_os_sleep_us(pause_us);
		}
		shutdown(peer, SHUT_WR);
		while (read(peer, ignored, sizeof(ignored)) > 0) {
		}
		close(peer);
	}
	return NULL;
}

static void begin(void)
{
	pthread_t thread;
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", test_path("server"));
	snprintf(url, sizeof(url), "unix://%s", name.sun_path);
	signal(SIGPIPE, SIG_IGN);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	REQUIRE(bind(listener, (struct sockaddr *) &name, sizeof(name)) == 0);
	REQUIRE(listen(listener, 8) == 0);
	REQUIRE(pthread_create(&thread, NULL, serve, NULL) == 0);
}

static void say(const char *text)
{
	said_bytes = (size_t) snprintf(said, sizeof(said), "%s", text);
}

typedef struct {
	unsigned keys;
	unsigned wakes;
	uint64_t sum; /* of all bytes */
} heard;

static void hear(void *context, const char *key, size_t length)
{
	heard *h = context;
	h->keys += key != NULL;
	h->wakes += key == NULL;
	for (size_t i = 0; i < length; i++) {
		h->sum += (unsigned char) key[i];
	}
}

/* Reads once, from 1-1 on. */
static int read_once(heard *h)
{
	fleet_stream *s;
	fleet_error error = {""};
	fleet_entry_id at = {1, 1};
	*h = (heard){0};
	REQUIRE(fleet_stream_open(&s, url, "f", 1, 60, &error));
	const int result = fleet_stream_read(s, &at, hear, h, &error);
	fleet_stream_close(s);
	CHECK(fleet_entry_id_compare(at, (fleet_entry_id){1, 1}) >= 0);
	CHECK((result == FLEET_STREAM_FAILED) == (*error.text != '\0'));
	return result;
}

TEST(sound_answers_are_read)
{
	heard h;
	begin();
	say(QUEUED "*2\r\n" ABOUT "*3\r\n" ENTRY(ID("1-1"), K, "$1\r\na\r\n")
			ENTRY(ID("1-2"), HEAD, "$0\r\n\r\n") ENTRY(ID("9-9"), K, "$2\r\nbc\r\n"));
	CHECK_INT(read_once(&h), FLEET_STREAM_END);
	CHECK_INT(h.keys, 1);
	CHECK_INT(h.wakes, 1);
	CHECK_INT(h.sum, 'b' + 'c');
}

TEST(an_answer_with_the_place_is_enough)
{
	heard h;
	begin();
	say("*3\r\n" PLACE ENTRY(ID("1-2"), HEAD, "$0\r\n\r\n") ENTRY(ID("9-9"), K, "$2\r\nbc\r\n"));
	CHECK_INT(read_once(&h), FLEET_STREAM_END);
	CHECK(h.keys == 1 && h.wakes == 1 && h.sum == 'b' + 'c');
	say("*2\r\n" PLACE ENTRY(ID("1-1"), K, "$1\r\na\r\n"));
	CHECK_INT(read_once(&h), FLEET_STREAM_FAILED);
	say("-ERR no\r\n");
	CHECK_INT(read_once(&h), FLEET_STREAM_FAILED);
}

TEST(an_entry_has_any_number_of_fields)
{
	heard h;
	begin();
	say(QUEUED "*2\r\n" ABOUT "*2\r\n" PLACE "*2\r\n" ID("9-9") "*10\r\n" K "$1\r\na\r\n" OTHER
																"$1\r\nx\r\n" K "$0\r\n\r\n" HEAD
																"$0\r\n\r\n" K "$1\r\nb\r\n");
	CHECK_INT(read_once(&h), FLEET_STREAM_END);
	CHECK_INT(h.keys, 3);
	CHECK_INT(h.wakes, 1);
	CHECK_INT(h.sum, 'a' + 'b');
	/* Of keys behind the note nothing is told. */
	say(QUEUED "*2\r\n" ABOUT "*2\r\n" PLACE
			   "*2\r\n" ID("9-9") "*6\r\n" K "$1\r\na\r\n$4\r\nlost\r\n$0\r\n\r\n" K "$1\r\nb\r\n");
	CHECK_INT(read_once(&h), FLEET_STREAM_GAP);
	CHECK_INT(h.sum, 'a');
}

TEST(an_entry_of_very_many_fields_is_read)
{
	heard h;
	begin();
	size_t at = (size_t) snprintf(said, sizeof(said),
		QUEUED "*2\r\n" ABOUT "*2\r\n" PLACE "*2\r\n" ID("9-9") "*%d\r\n", 2 * FIELDS);
	for (int i = 0; i < FIELDS; i++) {
		at += (size_t) snprintf(said + at, sizeof(said) - at, K "$1\r\nb\r\n");
	}
	said_bytes = at;
	CHECK_INT(read_once(&h), FLEET_STREAM_END);
	CHECK_INT(h.sum, FIELDS * 'b');
}

TEST(entries_that_are_none_are_refused)
{
	static const char *const entries[] = {
		ENTRY(ID("1-1"), K, "$1\r\na\r\n"),         /* as the one before */
		ENTRY(ID("0-9"), K, "$1\r\na\r\n"),         /* before it */
		ENTRY("$-1\r\n", K, "$1\r\na\r\n"),         /* nil */
		ENTRY(":12\r\n", K, "$1\r\na\r\n"),         /* a number */
		ENTRY("$2\r\n12\r\n", K, "$1\r\na\r\n"),    /* half an id */
		ENTRY("*0\r\n", K, "$1\r\na\r\n"),          /* an array */
		ENTRY(ID("2-2"), "$-1\r\n", "$1\r\na\r\n"), /* no name */
		ENTRY(ID("2-2"), ":1\r\n", "$1\r\na\r\n"),
		ENTRY(ID("2-2"), "*1\r\n:1\r\n", "$1\r\na\r\n"),
		ENTRY(ID("2-2"), K, "$-1\r\n"), /* no value */
		ENTRY(ID("2-2"), K, ":1\r\n"),
		ENTRY(ID("2-2"), K, "*1\r\n" K),
		"*2\r\n" ID("2-2") "*-1\r\n",
		"*2\r\n" ID("2-2") "*1\r\n" K,
		"*2\r\n" ID("2-2") "*0\r\n",
		"*2\r\n" ID("2-2") "*3\r\n" K K K, /* a name without a value */
		"*2\r\n" ID("2-2") "*4\r\n" K K K ":1\r\n",
		"*2\r\n" ID("2-2") "*4\r\n" K K "$-1\r\n" K,
		"*-1\r\n",
		"$-1\r\n",
		":1\r\n",
		"-ERR no\r\n",
		"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
	};
	heard h;
	begin();
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		char text[1000];
		snprintf(text, sizeof(text), QUEUED "*2\r\n" ABOUT "*2\r\n%s%s",
			ENTRY(ID("1-1"), K, "$1\r\na\r\n"), entries[i]);
		say(text);
		if (read_once(&h) != FLEET_STREAM_FAILED || h.keys + h.wakes != 0) {
			test_fail(__FILE__, __LINE__, "read: %s", entries[i]);
		}
	}
}

/* ------------------------------------------------------------------ without an end */

static void expect_refused(const char *words)
{
	fleet_stream *s;
	fleet_error error = {""};
	fleet_entry_id at = {1, 1};
	heard h = {0};
	REQUIRE(fleet_stream_open(&s, url, "f", 1, 1, &error));
	CHECK_INT(fleet_stream_read(s, &at, hear, &h, &error), FLEET_STREAM_FAILED);
	fleet_stream_close(s);
	if (strstr(error.text, words) == NULL) {
		test_fail(__FILE__, __LINE__, "it says: %s", error.text);
	}
}

TEST(an_answer_that_grows_without_end_is_a_gap)
{
	heard h;
	static char many[65536];
	begin();
	memset(many, 'x', sizeof(many));
	rest = many;
	rest_bytes = sizeof(many);
	say(QUEUED "*2\r\n" ABOUT "*1\r\n*2\r\n" ID("1-1") "*2\r\n" K "$500000000\r\n");
	CHECK_INT(read_once(&h), FLEET_STREAM_GAP);
	say(QUEUED "+"); /* a line without an end: to look for it may also take too long */
	const int result = read_once(&h);
	CHECK(result == FLEET_STREAM_GAP || result == FLEET_STREAM_FAILED);
	for (size_t i = 0; i + 4 <= sizeof(many); i += 4) {
		memcpy(many + i, ":1\r\n", 4);
	}
	say(QUEUED "*2\r\n" ABOUT "*9000000\r\n");
	CHECK_INT(read_once(&h), FLEET_STREAM_GAP);
}

TEST(an_answer_that_lasts_too_long_is_refused)
{
	begin();
	rest = "x";
	rest_bytes = 1;
	pause_us = 20000;
	say(QUEUED "*2\r\n" ABOUT "*1\r\n*2\r\n" ID("1-1") "*2\r\n" K "$5000000\r\n");
	expect_refused("does not answer within");
}

/* ------------------------------------------------------------------ anything */

static size_t append(size_t at, const char *text)
{
	const size_t length = strlen(text);
	if (at + length < sizeof(said)) {
		memcpy(said + at, text, length);
		at += length;
	}
	return at;
}

static size_t any_value(size_t at, unsigned depth)
{
	static const char *const values[] = {"$-1\r\n", "*-1\r\n", ":-7\r\n",
		":99999999999999999999\r\n", "-ERR x\r\n", "+OK\r\n", "$0\r\n\r\n", "$1\r\nk\r\n",
		"$3\r\n9-9\r\n", "$3\r\n1-1\r\n", "$4\r\nhead\r\n", "$17\r\nlast-generated-id\r\n",
		"$6\r\nlength\r\n", "$-5\r\n", "$x\r\n", "*0\r\n", "$3\r\n1-2\r\n", "$5\r\nbegin\r\n",
		"\r\n", "?\r\n", "_\r\n", "$7\r\nshort\r\n", "$13\r\nentries-added\r\n", "*2000000\r\n",
		ABOUT};
	const uint64_t draw = test_random(&seed);
	if (depth < 9 && draw % 3 != 0) {
		char count[16];
		const unsigned elements = (unsigned) (draw >> 8) % 4;
		snprintf(count, sizeof(count), "*%u\r\n", elements);
		at = append(at, count);
		for (unsigned i = 0; i < elements; i++) {
			at = any_value(at, depth + 1);
		}
		return at;
	}
	return append(at, values[(draw >> 8) % (sizeof(values) / sizeof(values[0]))]);
}

#define SOUND                                                                                      \
 "*3\r\n" PLACE ENTRY(ID("1-2"), K, "$4\r\nabcd\r\n") ENTRY(ID("9-9"), K, "$2\r\nbc\r\n")

/* Half of them are sound but for some bytes. */
static void say_anything(void)
{
	const bool is_near = test_random(&seed) % 2 == 0;
	if (is_near) {
		say(test_random(&seed) % 2 == 0 ? QUEUED "*2\r\n" ABOUT SOUND : SOUND);
		for (uint64_t i = test_random(&seed) % 3; i < 3; i++) {
			said[test_random(&seed) % said_bytes] = "0129-+:*$\r\nkax"[test_random(&seed) % 14];
		}
		said_bytes -= test_random(&seed) % 4 == 0 ? test_random(&seed) % said_bytes : 0;
		return;
	}
	said_bytes = append(0, test_random(&seed) % 4 == 0 ? "" : QUEUED "*2\r\n" ABOUT);
	said_bytes = any_value(said_bytes, 0);
}

TEST(whatever_is_said_reading_ends)
{
	unsigned ends[4] = {0};
	seed = test_seed();
	begin();
	for (int i = 0; i < ROUNDS; i++) {
		heard h;
		say_anything();
		ends[read_once(&h) + 1]++;
	}
	test_note("failed %u, end %u, more %u, gap %u", ends[0], ends[1], ends[2], ends[3]);
	CHECK(ends[0] > 0 && ends[1] > 0 && ends[3] > 0);
}
