/*
 * cli_frame.h - lines of text in columns, cut at the width of the terminal, with styles or without.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_FRAME_H
#define CLI_FRAME_H

#include "cli/cli.h"

typedef enum {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_GOOD,
	STYLE_BAD,
	STYLE_LABEL,
	STYLE_BAR,
	STYLE_HEAD,  /* of the list */
	STYLE_ORDER, /* the column of the list's order in it */
	STYLE_KEY,
	STYLE_COUNT
} frame_style;

typedef enum {
	FRAME_TEXT,       /* no control sequence */
	FRAME_ATTRIBUTES, /* for a terminal: bold, dim and reverse */
	FRAME_COLOURS     /* for a terminal */
} frame_kind;

#define FRAME_NO_END 1000000

typedef struct {
	frame_kind kind;
	int width;  /* in columns, or FRAME_NO_END */
	int column; /* of the line so far, with spaces that are due */
	int due;    /* spaces that come before the next text, if there is one */
	char *bytes;
	size_t length;
	size_t room;
	bool failed; /* no memory */
} cli_frame;

/* Text that can be printed, as cli_shown() gives it. What is beyond the width is left out. */
void cli_frame_text(cli_frame *f, frame_style style, const char *text);
void cli_frame_print(cli_frame *f, frame_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Spaces up to the column; at the end of a line only where `style` shows them. */
void cli_frame_to(cli_frame *f, frame_style style, int column);
/* Text that ends at the column, `wide` columns before it the text before has ended. */
void cli_frame_right(cli_frame *f, frame_style style, int wide, const char *text);
/* A line of `wide` columns, filled to that share; `text` at its right end. */
void cli_frame_bar(cli_frame *f, double share, int wide, const char *text);
/* Ends the line; `last`: nothing comes after it. */
void cli_frame_end_line(cli_frame *f, bool last);

#endif
