/*
 * cli_top_show.c - a frame of `bloomshm top`: what the segment does, and a line for each filter.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_top_show.h"

#include "message/message.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define LABEL_WIDE 9
#define NAME_WIDE  12 /* at least; without a terminal names are not cut */

/* ------------------------------------------------------------------ figures */

/* "1,234,567" */
static const char *count_text(char out[32], double value)
{
	char digits[32];
	char *to = out;
	const int length = snprintf(digits, sizeof(digits), "%.0f", fmin(value, 1e15));
	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0) {
			*to++ = ',';
		}
		*to++ = digits[i];
	}
	*to = '\0';
	return out;
}

/* "0.5", "987", "12.3k", "1.23M": in at most 5 columns. */
static const char *short_text(char out[32], double value)
{
	static const char units[] = " kMGTPE";
	size_t unit = 0;
	while (value >= 999.5 && unit + 2 < sizeof(units)) {
		value /= 1000;
		unit++;
	}
	const bool whole = unit == 0 && (value >= 9.95 || value == floor(value));
	const int digits = whole || value >= 99.95 ? 0 : value >= 9.995 || unit == 0 ? 1 : 2;
	snprintf(out, 32, "%.*f%.*s", digits, value, unit != 0, &units[unit]);
	return out;
}

static const char *share_text(char out[32], double share)
{
	if (share < 0) {
		return "-";
	}
	snprintf(
		out, 32, share > 0.9995 && share < 1 ? "99.9 %%" : "%.*f %%", share < 0.9995, 100 * share);
	return out;
}

/* ------------------------------------------------------------------ columns */

/* Where there is no room for all, those of the largest `spare` are left out first. */
static const struct {
	const char *head;
	int wide;
	int spare;
	char key;
} columns[TOP_COLUMNS] = {
	[TOP_ASKED] = {"ASKED/S", 7, 0, 'a'},
	[TOP_SAVED] = {"SAVED/S", 7, 1, 's'},
	[TOP_SHARE] = {"SAVED", 7, 2, 'p'},
	[TOP_KEYS] = {"KEYS", 6, 3, 'k'},
	[TOP_USED] = {"USED", 5, 4, 'u'},
	[TOP_RATE] = {"RATE", 7, 5, 'e'},
	[TOP_SIZE] = {"SIZE", 8, 8, 'z'},
	[TOP_KIND] = {"KIND", 8, 6, 't'},
	[TOP_AGE] = {"AGE", 7, 7, 'g'},
	[TOP_NAME] = {"FILTER", NAME_WIDE, 0, 'n'},
};

top_column cli_top_key(int key)
{
	unsigned i = 0;
	while (i < TOP_COLUMNS && columns[i].key != key) {
		i++;
	}
	return (top_column) i;
}

/* Which columns there is room for; that of the order always. */
static void choose(bool shown[TOP_COLUMNS], int width, top_column order)
{
	for (int most = 8;; most--) {
		int wide = 0;
		for (int i = 0; i < TOP_COLUMNS; i++) {
			shown[i] = columns[i].spare <= most || i == (int) order;
			wide += shown[i] ? columns[i].wide + 1 : 0;
		}
		if (wide - 1 <= width || most == 0) {
			return;
		}
	}
}

static const char *cell_text(char out[32], const top_filter *f, top_column column, bool rates)
{
	char age[16];
	switch (column) {
		case TOP_ASKED:
			return rates ? short_text(out, f->asked) : "-";
		case TOP_SAVED:
			return rates ? short_text(out, f->saved) : "-";
		case TOP_SHARE:
			return share_text(out, cli_top_saved_share(f->asked, f->saved));
		case TOP_KEYS:
			return short_text(out, (double) f->items);
		case TOP_USED:
			snprintf(out, 32, "%.0f %%", floor(100 * fmax(0, cli_top_used(f))));
			return out;
		case TOP_RATE:
			return cli_percent_text(out, f->error_rate);
		case TOP_SIZE:
			return bshm_size_text(out, f->bytes);
		case TOP_AGE:
			snprintf(out, 32, "%s", cli_age_text(age, fmax(0, cli_unix_now() - f->published_s)));
			return out;
		default:
			return "";
	}
}

static frame_style cell_style(const top_filter *f, top_column column)
{
	const double share = cli_top_saved_share(f->asked, f->saved);
	switch (column) {
		case TOP_ASKED:
			return f->asked > 0 ? STYLE_BOLD : STYLE_DIM;
		case TOP_SAVED:
		case TOP_SHARE:
			return share < 0 ? STYLE_DIM : share < 0.1 ? STYLE_BAD : STYLE_GOOD;
		case TOP_USED:
			return strcmp(f->type, "fixed") == 0 && cli_top_used(f) >= 1 ? STYLE_BAD : STYLE_PLAIN;
		case TOP_NAME:
			return f->asked > 0 ? STYLE_BOLD : STYLE_PLAIN;
		case TOP_RATE:
		case TOP_AGE:
		case TOP_KIND:
			return STYLE_DIM;
		default:
			return STYLE_PLAIN;
	}
}

static void show_heads(cli_frame *f, const top_look *look, const bool shown[TOP_COLUMNS])
{
	for (int i = 0; i < TOP_COLUMNS; i++) {
		const frame_style style = i == (int) look->order ? STYLE_ORDER : STYLE_HEAD;
		if (!shown[i]) {
			continue;
		}
		if (i == TOP_KIND || i == TOP_NAME) {
			cli_frame_text(f, style, columns[i].head);
			cli_frame_to(
				f, STYLE_HEAD, f->column + columns[i].wide - (int) strlen(columns[i].head));
		} else {
			cli_frame_right(f, STYLE_HEAD, columns[i].wide - (int) strlen(columns[i].head), "");
			cli_frame_text(f, style, columns[i].head);
		}
		if (i != TOP_NAME) {
			cli_frame_to(f, STYLE_HEAD, f->column + 1);
		}
	}
	if (f->width != FRAME_NO_END) {
		cli_frame_to(f, STYLE_HEAD, f->width);
	}
}

static void show_name(cli_frame *f, const top_filter *filter)
{
	char cut[4 * BSHM_NAME_BYTES_MAX + 8];
	int columns_used;
	const char *name = cli_shown(filter->name.bytes, filter->name.length);
	if (name == NULL) {
		return;
	}
	if (name[cli_cut(name, f->width - f->column, &columns_used)] != '\0') {
		const size_t length = cli_cut(name, f->width - f->column - 1, &columns_used);
		snprintf(cut, sizeof(cut), "%.*s\u2026", (int) length, name);
		name = cut;
	}
	cli_frame_text(f, cell_style(filter, TOP_NAME), name);
}

static void show_row(
	cli_frame *f, const top_filter *filter, const bool shown[TOP_COLUMNS], bool rates)
{
	char text[32];
	for (int i = 0; i < TOP_NAME; i++) {
		const frame_style style = cell_style(filter, (top_column) i);
		if (!shown[i]) {
			continue;
		}
		if (i == TOP_KIND) {
			cli_frame_text(f, style, filter->type);
			cli_frame_to(f, STYLE_PLAIN, f->column + 9 - (int) strlen(filter->type));
			continue;
		}
		cli_frame_right(f, style, columns[i].wide, cell_text(text, filter, (top_column) i, rates));
		cli_frame_to(f, STYLE_PLAIN, f->column + 1);
	}
	show_name(f, filter);
}

/* ------------------------------------------------------------------ head */

static void label(cli_frame *f, const char *text)
{
	cli_frame_text(f, STYLE_LABEL, text);
	cli_frame_to(f, STYLE_PLAIN, LABEL_WIDE);
}

/* A figure and what it is. */
static void fact(cli_frame *f, frame_style style, const char *figure, const char *what)
{
	cli_frame_text(f, style, figure);
	cli_frame_text(f, STYLE_PLAIN, what);
}

static void show_title(cli_frame *f, const char *path, const top_look *look)
{
	char right[64];
	char clock[16] = "";
	const time_t now = time(NULL);
	struct tm parts;
	const char *shown = cli_shown(path, strlen(path));
	if (localtime_r(&now, &parts) != NULL) {
		strftime(clock, sizeof(clock), "%H:%M:%S", &parts);
	}
	const int wide = snprintf(right, sizeof(right), "%s%.3g s  %s",
		look->paused ? "paused, " : "every ", look->interval, clock);
	cli_frame_text(f, STYLE_BOLD, "bloomshm ");
	cli_frame_text(f, STYLE_PLAIN, shown == NULL ? "" : shown);
	cli_frame_to(f, STYLE_PLAIN, f->width == FRAME_NO_END ? f->column + 2 : f->width - wide);
	cli_frame_text(
		f, look->paused ? STYLE_BAD : STYLE_DIM, f->column + wide > f->width ? "" : right);
}

static void show_memory(
	cli_frame *f, const char *name, uint64_t used, uint64_t all, uint64_t count, const char *what)
{
	char text[64];
	char size[32];
	char total[32];
	const int width = f->width == FRAME_NO_END ? 80 : f->width < 120 ? f->width : 120;
	bshm_size_text(size, used);
	snprintf(text, sizeof(text), " %s of %s", size, bshm_size_text(total, all));
	label(f, name);
	if (all == 0) {
		cli_frame_text(f, STYLE_DIM, "none");
		return;
	}
	cli_frame_bar(f, (double) used / (double) all, width > 64 ? width - 30 : 34, text);
	cli_frame_text(f, STYLE_BOLD, "  ");
	fact(f, STYLE_BOLD, count_text(size, (double) count), what);
}

static void show_questions(cli_frame *f, const top_sample *s)
{
	char text[32];
	const double share = cli_top_saved_share(s->asked, s->saved);
	label(f, "Asked");
	fact(f, STYLE_BOLD, s->seconds > 0 ? count_text(text, s->asked) : "-", "/s   ");
	fact(f, share < 0 ? STYLE_PLAIN : STYLE_GOOD, share_text(text, share), " saved: ");
	fact(f, STYLE_BOLD, s->seconds > 0 ? count_text(text, s->saved) : "-",
		"/s that the backend was not asked");
}

static void show_store(cli_frame *f, const top_sample *s)
{
	char text[32];
	const double gets = s->hits + s->misses;
	const double evicted = cli_top_eviction_age(s);
	if (s->store.bytes_total == 0) {
		return;
	}
	label(f, "Store");
	fact(f, STYLE_BOLD, s->seconds > 0 ? count_text(text, gets) : "-", " gets/s  ");
	fact(f, gets > 0 ? STYLE_GOOD : STYLE_PLAIN, share_text(text, gets > 0 ? s->hits / gets : -1),
		" hits  ");
	fact(f, STYLE_BOLD, s->seconds > 0 ? count_text(text, s->sets) : "-", " sets/s  ");
	fact(f, STYLE_BOLD, s->seconds > 0 ? count_text(text, s->evictions) : "-", " evicted/s");
	if (evicted > 0) {
		char age[16];
		cli_frame_text(f, STYLE_PLAIN, " after ");
		cli_frame_text(f, STYLE_BOLD, cli_age_text(age, evicted));
	}
}

/* Red: more than when the view began. */
static void show_health(cli_frame *f, const top_sample *s, const top_look *look)
{
	char text[32];
	label(f, "Health");
	fact(f, STYLE_BOLD, count_text(text, (double) s->stat.attached),
		s->stat.attached == 1 ? " process   " : " processes   ");
	fact(f, s->stat.repairs > look->repairs ? STYLE_BAD : STYLE_BOLD,
		count_text(text, (double) s->stat.repairs), " repairs   ");
	fact(f, s->stat.lock_timeouts > look->lock_timeouts ? STYLE_BAD : STYLE_BOLD,
		count_text(text, (double) s->stat.lock_timeouts), " lock timeouts");
}

static void show_head_line(
	cli_frame *f, int line, const char *path, const top_sample *s, const top_look *look)
{
	switch (line) {
		case 0:
			show_title(f, path, look);
			break;
		case 1:
			show_memory(f, "Filters", s->stat.filter_bytes - s->stat.filter_bytes_free,
				s->stat.filter_bytes, s->count, s->count == 1 ? " filter" : " filters");
			break;
		case 2:
			show_memory(f, "Records", s->store.bytes_used, s->store.bytes_total, s->store.records,
				s->store.records == 1 ? " record" : " records");
			break;
		case 3:
			show_questions(f, s);
			break;
		case 4:
			show_store(f, s);
			break;
		case 5:
			show_health(f, s, look);
			break;
		default:
			cli_frame_text(f, STYLE_BAD, look->notice);
			break;
	}
}

/* ------------------------------------------------------------------ frame */

static const char *const help[] = {
	"ASKED/S   keys a second that the filter was asked about: handed in once a second",
	"SAVED/S   of these: answered \"no\", so the backend was not asked",
	"USED      keys of the capacity        RATE  of wrong \"maybe\", as it was asked for",
	"AGE       since it was published",
	"evicted   after so long, if a record is not used again: an estimate, the records",
	"          of the store divided by those that are evicted a second",
	"",
	"sort by   a asked/s   s saved/s   p saved %   k keys   u used   e rate   z size",
	"          t kind   g age   n name      r the other way round",
	"scroll    up, down, page up, page down, home, end",
	"          + and - change the interval   space pauses   h ends this help  q quits",
};

static void show_keys(cli_frame *f)
{
	static const char *const texts[][3] = {{"", "q", " quit"}, {"", "h", " help"},
		{"", "a", "sked"}, {"", "s", "aved"}, {"", "k", "eys"}, {"si", "z", "e"}, {"", "n", "ame"},
		{"", "r", "everse"}, {"", "+-", " seconds"}, {"", "space", " pause"}};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cli_frame_text(f, STYLE_PLAIN, texts[i][0]);
		cli_frame_text(f, STYLE_KEY, texts[i][1]);
		cli_frame_text(f, STYLE_PLAIN, texts[i][2]);
		cli_frame_to(f, STYLE_PLAIN, f->column + 2);
	}
}

/* A line of the list's part of the screen. */
static void show_list_line(cli_frame *f, size_t line, const top_sample *s, const top_look *look,
	const bool shown[TOP_COLUMNS])
{
	if (look->help && line < sizeof(help) / sizeof(help[0])) {
		cli_frame_text(f, STYLE_PLAIN, help[line]);
	} else if (!look->help && look->from + line < s->count) {
		show_row(f, &s->filters[look->from + line], shown, s->seconds > 0);
	}
}

void cli_top_show(cli_frame *f, const char *path, const top_sample *s, top_look *look, int lines)
{
	bool shown[TOP_COLUMNS];
	const bool all = lines == 0;
	/* A low screen keeps the list, and of the head what comes first. */
	const int head = all ? 6 : lines >= 14 ? 7 : lines - 7 < 1 ? 1 : lines - 7;
	look->rows = all ? s->count : (size_t) (lines - head - 2 < 0 ? 0 : lines - head - 2);
	if (look->from + look->rows > s->count) {
		look->from = s->count > look->rows ? s->count - look->rows : 0;
	}
	choose(shown, f->width, look->order);
	for (int i = 0; i < head; i++) {
		show_head_line(f, i, path, s, look);
		cli_frame_end_line(f, lines == i + 1);
	}
	if (all) {
		cli_frame_end_line(f, false);
	}
	if (all || lines > head) {
		show_heads(f, look, shown);
		cli_frame_end_line(f, lines == head + 1);
	}
	for (size_t i = 0; i < look->rows; i++) {
		show_list_line(f, i, s, look, shown);
		cli_frame_end_line(f, false);
	}
	if (!all && lines > head + 1) {
		show_keys(f);
		cli_frame_end_line(f, true);
	}
}
