/*
 * cli_top.c - top: the filters by what they are asked, and what the segment does, live.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_json.h"
#include "cli/cli_run.h"
#include "cli/cli_screen.h"
#include "cli/cli_top_show.h"

#include "message/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_S       2
#define INTERVAL_LEAST_S 0.1
#define INTERVAL_MOST_S  3600
#define FIRST_S          1 /* after so long there are rates for the first time, if not sooner */

typedef struct {
	cli *c;
	top_sample sample; /* the newest */
	top_look look;
	frame_kind kind;
	bool attached;
} view;

/* ------------------------------------------------------------------ once */

static json_t *filter_json(const top_filter *f)
{
	const double share = cli_top_saved_share(f->asked, f->saved);
	return json_pack("{s:o, s:s, s:f, s:I, s:I, s:I, s:f, s:I, s:I, s:f, s:f, s:o}", "name",
		cli_json_text(f->name.bytes, f->name.length), "type", f->type, "error_rate", f->error_rate,
		"capacity", (json_int_t) f->capacity, "items", (json_int_t) f->items, "bytes",
		(json_int_t) f->bytes, "published_at", f->published_s, "questions",
		(json_int_t) f->questions, "maybes", (json_int_t) f->maybes, "questions_per_second",
		f->asked, "saved_per_second", f->saved, "saved_ratio",
		share < 0 ? json_null() : json_real(share));
}

static int print_json(const cli *c, const top_sample *s)
{
	const double age = cli_top_eviction_age(s);
	json_t *filters = json_array();
	for (size_t i = 0; i < s->count; i++) {
		json_array_append_new(filters, filter_json(&s->filters[i]));
	}
	json_t *rates = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "questions", s->asked, "saved",
		s->saved, "hits", s->hits, "misses", s->misses, "sets", s->sets, "evictions", s->evictions,
		"eviction_age", age > 0 ? json_real(age) : json_null());
	return cli_json_print(c,
		json_pack("{s:f, s:o, s:o, s:o, s:o}", "seconds", s->seconds, "status",
			cli_json_stat(c->path, NULL, &s->stat, &s->store), "cache", cli_json_store(&s->store),
			"per_second", rates, "filters", filters),
		CLI_YES);
}

static void print_frame(const cli *c, const top_sample *s, top_look *look)
{
	cli_frame f = {.kind = FRAME_TEXT, .width = FRAME_NO_END};
	cli_top_show(&f, c->path, s, look, 0);
	fwrite(f.bytes, 1, f.length, stdout);
	free(f.bytes);
}

static int once(view *v)
{
	bshm_error error;
	const top_sample none = {0};
	top_sample first;
	int status = cli_top_sample(v->c, &none, &first, &error);
	if (status == CLI_YES) {
		bshm_sleep_us((unsigned) (v->look.interval * 1e6));
		status = cli_top_sample(v->c, &first, &v->sample, &error);
	}
	if (status != CLI_YES) {
		return error.status == BSHM_OK ? status : cli_fail(v->c, &error, NULL);
	}
	cli_top_sort(&v->sample, v->look.order, v->look.reverse);
	if (cli_given(v->c, CLI_JSON)) {
		status = print_json(v->c, &v->sample);
	} else {
		print_frame(v->c, &v->sample, &v->look);
	}
	cli_top_free(&first);
	cli_top_free(&v->sample);
	return status;
}

/* ------------------------------------------------------------------ live */

static void notice(view *v, const char *text)
{
	snprintf(v->look.notice, sizeof(v->look.notice), "%s", text);
}

/* Is there a segment at the path? Leaves one that was removed or replaced, and attaches to the one
 * that is there now. */
static bool follow(view *v)
{
	bshm_error error;
	cli *c = v->c;
	if (v->attached && bshm_segment_at_path(c->segment)) {
		return true;
	}
	if (v->attached) {
		cli_detach(c);
		v->attached = false;
		cli_top_free(&v->sample);
	}
	notice(v, "the segment was removed; waiting for a new one");
	free(c->path);
	c->path = NULL;
	v->attached = cli_attach_or(c, false, &error) == CLI_YES;
	if (v->attached) {
		notice(v, "the segment was replaced: this is the new one");
		return true;
	}
	if (error.status != BSHM_OK && error.cause != BSHM_CAUSE_ABSENT) {
		const bshm_message_about about = {.path = c->path};
		bshm_message message;
		notice(v, bshm_message_say(&message, &error, &about));
	}
	return false;
}

/* Takes a new sample. */
static void refresh(view *v)
{
	bshm_error error;
	top_sample fresh;
	if (!follow(v)) {
		return;
	}
	if (cli_top_sample(v->c, &v->sample, &fresh, &error) != CLI_YES) {
		const bshm_message_about about = {.path = v->c->path};
		bshm_message message;
		notice(v, bshm_message_say(&message, &error, &about));
		cli_top_free(&fresh);
		return;
	}
	if (v->sample.at_ns == 0) {
		v->look.repairs = fresh.stat.repairs;
		v->look.lock_timeouts = fresh.stat.lock_timeouts;
	}
	cli_top_free(&v->sample);
	v->sample = fresh;
}

static void draw(view *v)
{
	cli_frame f = {.kind = v->kind};
	int lines;
	cli_screen_size(&lines, &f.width);
	cli_top_sort(&v->sample, v->look.order, v->look.reverse);
	cli_top_show(&f, v->c->path, &v->sample, &v->look, lines);
	cli_screen_show(f.bytes, f.length);
	free(f.bytes);
}

/* 1, 2, 5, 10 s and so on. */
static void change_interval(view *v, bool longer)
{
	static const double steps[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 300, 600, 3600};
	const size_t count = sizeof(steps) / sizeof(steps[0]);
	size_t i = 0;
	while (i + 1 < count &&
		   (longer ? steps[i] <= v->look.interval : steps[i + 1] < v->look.interval)) {
		i++;
	}
	v->look.interval = steps[i];
}

static void scroll(view *v, int key)
{
	const size_t page = v->look.rows > 1 ? v->look.rows - 1 : 1;
	size_t *from = &v->look.from;
	switch (key) {
		case SCREEN_UP:
			*from -= *from > 0;
			break;
		case SCREEN_DOWN:
			++*from;
			break;
		case SCREEN_PAGE_UP:
			*from -= *from < page ? *from : page;
			break;
		case SCREEN_PAGE_DOWN:
			*from += page;
			break;
		case SCREEN_HOME:
			*from = 0;
			break;
		case SCREEN_END:
			*from = v->sample.count;
			break;
		default:
			break;
	}
}

/* False: the key quits. */
static bool obey(view *v, int key)
{
	const top_column column = cli_top_key(key);
	if (column != TOP_COLUMNS) {
		v->look.reverse = v->look.order == column && !v->look.reverse && column == TOP_NAME;
		v->look.order = column;
		v->look.from = 0;
	} else if (key == 'r') {
		v->look.reverse = !v->look.reverse;
	} else if (key == '+' || key == '-') {
		change_interval(v, key == '+');
	} else if (key == ' ') {
		v->look.paused = !v->look.paused;
	} else if (key == 'h' || key == '?') {
		v->look.help = !v->look.help;
	} else {
		scroll(v, key);
	}
	return key != 'q';
}

static int watch(view *v)
{
	bool goes_on = true;
	refresh(v);
	uint64_t due = bshm_now_ns() + (uint64_t) (fmin(v->look.interval, FIRST_S) * 1e9);
	while (goes_on) {
		const uint64_t now = bshm_now_ns();
		draw(v);
		const int key = cli_screen_wait(v->look.paused ? INTERVAL_MOST_S
										: due > now    ? (double) (due - now) / 1e9
													   : 0);
		if (key == SCREEN_ENDED) {
			break;
		}
		if (key != SCREEN_TIME) {
			const double before = v->look.interval;
			goes_on = obey(v, key);
			if (before == v->look.interval) {
				continue;
			}
		} else if (!v->look.paused) {
			v->look.notice[0] = '\0';
			refresh(v);
		}
		due = bshm_now_ns() + (uint64_t) (v->look.interval * 1e9);
	}
	return goes_on ? CLI_SIGNAL + cli_screen_signal() : CLI_YES;
}

static int live(view *v)
{
	const char *no_colour = getenv("NO_COLOR");
	v->kind = no_colour != NULL && *no_colour != '\0' ? FRAME_ATTRIBUTES : FRAME_COLOURS;
	int status = cli_screen_open(v->c);
	if (status == CLI_YES) {
		status = watch(v);
		cli_screen_close();
	}
	cli_top_free(&v->sample);
	return status;
}

/* ------------------------------------------------------------------ the verb */

int cli_top(cli *c)
{
	view v = {.c = c, .attached = true, .look.order = TOP_ASKED};
	const bool only_once = cli_given(c, CLI_ONCE);
	if (!cli_rate(c, CLI_INTERVAL, INTERVAL_MOST_S, INTERVAL_S, &v.look.interval)) {
		return CLI_USAGE;
	}
	if (v.look.interval < INTERVAL_LEAST_S) {
		return cli_say(c, CLI_USAGE, "--interval must be at least %g", INTERVAL_LEAST_S);
	}
	if (cli_given(c, CLI_JSON) && !only_once) {
		return cli_say(c, CLI_USAGE, "--json is for --once");
	}
	if (!only_once && !cli_screen_exists()) {
		return cli_say(
			c, CLI_USAGE, "this is no terminal that can be drawn on; --once prints one frame");
	}
	const int status = cli_attach(c, false);
	return status != CLI_YES ? status : only_once ? once(&v) : live(&v);
}
