/*
 * cli_signal.c - SIGINT and SIGTERM in a verb that has something to take back.
 *
 * Other verbs leave them to the kernel: the engine is correct when a process dies anywhere.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t noted;
static struct rlimit limit; /* of the size of files */
static bool stops_writes;
static const char *last_line;
static bool (*is_undone)(void);

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

static void say_and_exit(int signal)
{
	const bool undone = is_undone();
	if (!undone && noted == 0) {
		noted = signal;
		return;
	}
	const char *line = undone ? last_line : "bloomshm: interrupted\n";
	const ssize_t ignored = write(STDERR_FILENO, line, strlen(line));
	(void) ignored;
	_exit(CLI_SIGNAL + signal);
}

/* A signal that the caller ignores, as a shell does for a job in the background, stays ignored. */
static void handle_one(int signal, void (*handler)(int))
{
	struct sigaction action;
	if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
		action = (struct sigaction){.sa_handler = handler};
		sigemptyset(&action.sa_mask);
		sigaction(signal, &action, NULL);
	}
}

static void handle(void (*handler)(int))
{
	handle_one(SIGINT, handler);
	handle_one(SIGTERM, handler);
}

static void let_writes_be(void)
{
	if (stops_writes) {
		setrlimit(RLIMIT_FSIZE, &limit);
	}
}

void cli_signals_note(void)
{
	handle(note);
	let_writes_be();
}

void cli_signals_stop_writes(void)
{
	if (!stops_writes && getrlimit(RLIMIT_FSIZE, &limit) == 0) {
		stops_writes = true;
		signal(SIGXFSZ, SIG_IGN); /* a write past the limit returns EFBIG instead */
	}
	handle(stops_writes ? note_and_stop : note);
}

void cli_signals_exit(const char *line, bool (*undone)(void))
{
	last_line = line;
	is_undone = undone;
	handle(say_and_exit);
}

void cli_signals_end(void)
{
	handle(SIG_DFL);
	let_writes_be();
}

int cli_signal(void)
{
	return noted;
}

/* The signals are blocked but while it waits, so none can come between the look at `noted` and the
 * wait. */
static bool wait_for(int fd, const struct timespec *most)
{
	sigset_t both;
	sigset_t before;
	struct pollfd wanted = {.fd = fd, .events = POLLIN};
	sigemptyset(&both);
	sigaddset(&both, SIGINT);
	sigaddset(&both, SIGTERM);
	sigprocmask(SIG_BLOCK, &both, &before);
	while (noted == 0 && ppoll(&wanted, 1, most, &before) < 0 && errno == EINTR) {
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return noted == 0;
}

bool cli_wait(int fd)
{
	return wait_for(fd, NULL);
}

double cli_unix_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

bool cli_nap(uint64_t ns)
{
	const struct timespec most = {
		.tv_sec = (time_t) (ns / 1000000000), .tv_nsec = (long) (ns % 1000000000)};
	return wait_for(-1, &most);
}
