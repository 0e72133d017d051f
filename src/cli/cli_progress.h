/*
 * cli_progress.h - how far a long verb is: one line on the terminal.
 *
 * There is one such line. Whatever is said on stderr removes it first.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Shows no line if `quiet`, or if stderr is no terminal. */
void cli_progress_begin(bool quiet);
/*
 * Shows, a few times a second: what is done, per cent (of `size`; 0: it is not known), keys, keys a
 * second, time left. Cost: a look at the coarse clock.
 */
void cli_progress_show(const char *what, uint64_t keys, uint64_t done, uint64_t size);
/* Shows a text at once. */
void cli_progress_say(const char *text);
/* Removes the line. */
void cli_progress_clear(void);

#endif
