/*
 * fleet_turn.c - publishers of one filter that write to a web server from several hosts take turns.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_turn.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TURN_S 60
#define USED_S 30 /* the last step begins before */
#define ASK_NS 100000000

static void name_self(fleet_turn *t, const fleet_folder *copy)
{
	struct stat st = {0};
	char host[HOST_NAME_MAX + 1] = "";
	gethostname(host, sizeof(host) - 1);
	fstat(copy->fd, &st);
	snprintf(
		t->who, sizeof(t->who), "%s:%jx:%jx", host, (uintmax_t) st.st_dev, (uintmax_t) st.st_ino);
}

bool fleet_turn_begin(fleet_turn *t, fleet_stream *stream, const fleet_folder *copy,
	bool (*is_stopped)(void), fleet_error *error)
{
	static const struct timespec nap = {.tv_nsec = ASK_NS};
	const double first_s = fleet_now_s();
	*t = (fleet_turn){.stream = stream};
	if (stream == NULL) {
		return true;
	}
	name_self(t, copy);
	for (;;) {
		t->begun_s = fleet_now_s();
		const int taken = fleet_stream_take_turn(stream, t->who, TURN_S, error);
		if (taken != 0) {
			return taken > 0;
		}
		if (t->begun_s > first_s + TURN_S || (is_stopped != NULL && is_stopped())) {
			return fleet_fail(error, "another publisher has the turn; nothing was announced");
		}
		nanosleep(&nap, NULL);
	}
}

bool fleet_turn_lasts(const fleet_turn *t, fleet_error *error)
{
	return t->stream == NULL || fleet_now_s() < t->begun_s + USED_S ||
		   fleet_fail(error,
			   "the last step took longer than %d s, and another publisher may have the turn; "
			   "nothing was announced",
			   USED_S);
}

bool fleet_turn_end(const fleet_turn *t, fleet_error *error)
{
	const int ended = t->stream == NULL ? 1 : fleet_stream_end_turn(t->stream, t->who, error);
	return ended != 0 ||
		   fleet_fail(error, "it was announced, but the turn had ended before: "
							 "another publisher may have announced something at the same time");
}
