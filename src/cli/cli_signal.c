/*
 * cli_signal.c - SIGINT and SIGTERM in a verb that has something to take back.
 *
 * Other verbs leave them to the kernel: the engine is correct when a process dies anywhere.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli.h"

#include <signal.h>

static volatile sig_atomic_t noted;

static void note(int signal)
{
	noted = signal;
}

static void handle(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void cli_signals_note(void)
{
	handle(note);
}

void cli_signals_end(void)
{
	handle(SIG_DFL);
}

int cli_signal(void)
{
	return noted;
}
