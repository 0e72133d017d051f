/*
 * cli_top_show.h - a frame of `bloomshm top`.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_TOP_SHOW_H
#define CLI_TOP_SHOW_H

#include "cli/cli_frame.h"
#include "cli/cli_top_sample.h"

/* How the list is looked at. */
typedef struct {
	top_column order;
	bool reverse;
	bool paused;
	bool help;
	double interval;
	size_t from;      /* the first row that is shown */
	size_t rows;      /* how many there was room for */
	char notice[256]; /* "" for none */
	uint64_t repairs; /* when the view began */
	uint64_t lock_timeouts;
} top_look;

/* Writes the frame: of so many lines, the last one without its end; 0: a line for each filter. */
void cli_top_show(cli_frame *f, const char *path, const top_sample *s, top_look *look, int lines);
/* The column whose key it is; TOP_COLUMNS: none. */
top_column cli_top_key(int key);

#endif
