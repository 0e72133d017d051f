/*
 * cli_signal.c - SIGINT and SIGTERM in a verb that has something to take back.
 *
 * Other verbs leave them to the kernel: the engine is correct when a process dies anywhere.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli.h"

#include <signal.h>
#include <sys/resource.h>

static volatile sig_atomic_t noted;
static struct rlimit limit; /* of the size of files */
static bool stops_writes;

static void note(int signal)
{
	noted = signal;
}

/* setrlimit() is one system call, so a handler may call it. */
static void note_and_stop(int signal)
{
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
	noted = signal;
	setrlimit(RLIMIT_FSIZE, &none);
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

void cli_signals_stop_writes(void)
{
	if (!stops_writes && getrlimit(RLIMIT_FSIZE, &limit) == 0) {
		stops_writes = true;
		signal(SIGXFSZ, SIG_IGN); /* a write past the limit returns EFBIG instead */
	}
	handle(stops_writes ? note_and_stop : note);
}

void cli_signals_end(void)
{
	handle(SIG_DFL);
	if (stops_writes) {
		setrlimit(RLIMIT_FSIZE, &limit);
	}
}

int cli_signal(void)
{
	return noted;
}
