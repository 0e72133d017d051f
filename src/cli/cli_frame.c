/*
 * cli_frame.c - lines of text in columns.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_frame.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const sequences[STYLE_COUNT][2] = {
	[STYLE_PLAIN] = {"", ""},
	[STYLE_BOLD] = {"\033[1m", "\033[1m"},
	[STYLE_DIM] = {"\033[2m", "\033[90m"},
	[STYLE_GOOD] = {"", "\033[32m"},
	[STYLE_BAD] = {"\033[1m", "\033[1;31m"},
	[STYLE_LABEL] = {"", "\033[36m"},
	[STYLE_BAR] = {"", "\033[32m"},
	[STYLE_HEAD] = {"\033[7m", "\033[30;42m"},
	[STYLE_ORDER] = {"\033[1;7m", "\033[30;46m"},
	[STYLE_KEY] = {"\033[7m", "\033[30;46m"},
};

static void append(cli_frame *f, const char *bytes, size_t length)
{
	if (f->length + length > f->room) {
		const size_t room = 2 * (f->length + length) + 4096;
		char *more = f->failed ? NULL : realloc(f->bytes, room);
		if (more == NULL) {
			f->failed = true;
			return;
		}
		f->bytes = more;
		f->room = room;
	}
	memcpy(f->bytes + f->length, bytes, length);
	f->length += length;
}

static void append_spaces(cli_frame *f, int count)
{
	static const char spaces[] = "                                ";
	for (int left = count; left > 0; left -= (int) sizeof(spaces) - 1) {
		append(f, spaces, left < (int) sizeof(spaces) ? (size_t) left : sizeof(spaces) - 1);
	}
}

static void begin_style(cli_frame *f, frame_style style)
{
	if (f->kind != FRAME_TEXT) {
		const char *sequence = sequences[style][f->kind == FRAME_COLOURS];
		append(f, sequence, strlen(sequence));
	}
}

static void end_style(cli_frame *f, frame_style style)
{
	if (f->kind != FRAME_TEXT && *sequences[style][f->kind == FRAME_COLOURS] != '\0') {
		append(f, "\033[0m", 4);
	}
}

void cli_frame_text(cli_frame *f, frame_style style, const char *text)
{
	int wide;
	const size_t length = cli_cut(text, f->width - f->column, &wide);
	if (length == 0) {
		return;
	}
	append_spaces(f, f->due);
	f->due = 0;
	begin_style(f, style);
	append(f, text, length);
	end_style(f, style);
	f->column += wide;
}

void cli_frame_print(cli_frame *f, frame_style style, const char *format, ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	cli_frame_text(f, style, text);
}

void cli_frame_to(cli_frame *f, frame_style style, int column)
{
	const int until = column < f->width ? column : f->width;
	if (until <= f->column) {
		return;
	}
	if (f->kind == FRAME_TEXT || *sequences[style][0] == '\0') {
		f->due += until - f->column;
	} else {
		append_spaces(f, f->due);
		f->due = 0;
		begin_style(f, style);
		append_spaces(f, until - f->column);
		end_style(f, style);
	}
	f->column = until;
}

void cli_frame_right(cli_frame *f, frame_style style, int wide, const char *text)
{
	int columns;
	cli_cut(text, wide, &columns);
	cli_frame_to(f, style, f->column + wide - columns);
	cli_frame_text(f, style, text);
}

void cli_frame_bar(cli_frame *f, double share, int wide, const char *text)
{
	const int inside = wide - 2;
	const int filled = share <= 0 ? 0 : share >= 1 ? inside : (int) (share * inside + 0.5);
	const int from = inside - (int) strlen(text);
	cli_frame_text(f, STYLE_BOLD, "[");
	for (int i = 0; i < inside; i++) {
		const char one[2] = {i < from ? (i < filled ? '|' : ' ') : text[i - from], '\0'};
		if (*one == ' ' && i >= filled) {
			cli_frame_to(f, STYLE_PLAIN, f->column + 1);
		} else {
			cli_frame_text(f, i < filled ? STYLE_BAR : STYLE_DIM, one);
		}
	}
	cli_frame_text(f, STYLE_BOLD, "]");
}

void cli_frame_end_line(cli_frame *f, bool last)
{
	if (f->kind == FRAME_TEXT) {
		append(f, "\n", 1);
	} else {
		/* The rest of the line, and of the screen, may show the frame before. */
		append(f, last ? "\033[0m\033[J" : "\033[0m\033[K\r\n", last ? 7 : 9);
	}
	f->column = 0;
	f->due = 0;
}
