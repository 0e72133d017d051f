/*
 * cli_screen.h - the terminal of a live view: its keys, its size, and its state from before.
 *
 * However the process ends, but by SIGKILL, the terminal is as it was.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include "cli/cli.h"

/* What cli_screen_wait() returns besides a letter. */
enum {
	SCREEN_TIME = 256, /* the time is over */
	SCREEN_CHANGED,    /* the size, or the process was stopped and goes on */
	SCREEN_ENDED,      /* by a signal, or the terminal is gone */
	SCREEN_UP,
	SCREEN_DOWN,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END
};

/* Are standard input and output a terminal that can be drawn on? */
bool cli_screen_exists(void);
/* Takes the terminal. CLI_FAILED if it cannot, which was said. */
int cli_screen_open(const cli *c);
void cli_screen_close(void);
void cli_screen_size(int *lines, int *columns);
/* Draws over the frame before. */
void cli_screen_show(const char *bytes, size_t length);
/* Waits for a key or an event. */
int cli_screen_wait(double seconds);
/* After SCREEN_ENDED: the signal. */
int cli_screen_signal(void);

#endif
