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

#define PATIENCE_S 5
#define TURN_S     60
#define USED_S     30 /* the last step begins before, */
#define SENT_S     55 /* and what it sends was sent: it takes a while to be there */
#define ASK_NS     100000000

#define BOOT_ID_CHARACTERS 36

static double over_s; /* when no more is to be sent, by fleet_now_s(); 0: there are no turns */

/* The id of the boot, too: hosts that were copied have one name, and perhaps one inode. */
static void name_self(fleet_turn *t, const fleet_folder *copy)
{
	struct stat st = {0};
	char host[HOST_NAME_MAX + 1] = "";
	char boot[BOOT_ID_CHARACTERS + 1] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (file != NULL) {
		boot[fread(boot, 1, sizeof(boot) - 1, file)] = '\0';
		fclose(file);
	}
	gethostname(host, sizeof(host) - 1);
	fstat(copy->fd, &st);
	snprintf(t->who, sizeof(t->who), "%s:%s:%jx:%jx", host, boot, (uintmax_t) st.st_dev,
		(uintmax_t) st.st_ino);
}

bool fleet_turn_begin(fleet_turn *t, const char *url, const fleet_head *next,
	const fleet_folder *copy, bool (*is_stopped)(void), fleet_error *error)
{
	static const struct timespec nap = {.tv_nsec = ASK_NS};
	const double first_s = fleet_now_s();
	fleet_error why = {""};
	*t = (fleet_turn){.stream = NULL};
	over_s = 0;
	if (url == NULL ||
		!fleet_stream_open(&t->stream, url, next->filter, next->filter_length, PATIENCE_S, &why)) {
		return true;
	}
	name_self(t, copy);
	for (;;) {
		t->begun_s = fleet_now_s();
		const int taken = fleet_stream_take_turn(t->stream, t->who, TURN_S, &why);
		if (taken > 0) {
			over_s = t->begun_s + SENT_S;
			return true;
		}
		const bool waits =
			taken == 0 && t->begun_s <= first_s + TURN_S && (is_stopped == NULL || !is_stopped());
		if (!waits) {
			fleet_stream_close(t->stream);
			return fleet_fail(error, "%s; nothing was announced",
				taken < 0 ? why.text : "another publisher has the turn");
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

bool fleet_turn_is_over(void)
{
	return over_s != 0 && fleet_now_s() > over_s;
}

bool fleet_turn_end(fleet_turn *t, fleet_error *error)
{
	const int ended = t->stream == NULL ? 1 : fleet_stream_end_turn(t->stream, t->who, error);
	fleet_stream_close(t->stream);
	t->stream = NULL;
	return ended != 0 ||
		   fleet_fail(error, "it was announced, but the turn had ended before: "
							 "another publisher may have announced something at the same time");
}
