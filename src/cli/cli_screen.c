/*
 * cli_screen.c - the terminal of a live view.
 *
 * Signals are blocked but while it waits or writes, so none comes between a look at what the
 * handlers have noted and the wait for more.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Another screen, no cursor, no wrapping; and back. */
#define TAKE "\033[?1049h\033[?25l\033[?7l\033[2J"
#define GIVE "\033[0m\033[?7h\033[?25h\033[?1049l"

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int changing[] = {SIGWINCH, SIGCONT, SIGTSTP};
static const int fatal[] = {SIGBUS, SIGSEGV, SIGABRT, SIGFPE, SIGILL};

static volatile sig_atomic_t ended; /* the signal */
static volatile sig_atomic_t changed;
static volatile sig_atomic_t stopping;
static volatile sig_atomic_t taken;
static struct termios before;
static sigset_t while_waiting;
static sigset_t otherwise;
static bool lost; /* the terminal */
static unsigned char keys[64];
static size_t key_count;

bool cli_screen_exists(void)
{
	const char *kind = getenv("TERM");
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && kind != NULL && *kind != '\0' &&
		   strcmp(kind, "dumb") != 0;
}

/* ------------------------------------------------------------------ state */

static void put(const char *bytes, size_t length)
{
	while (length > 0 && ended == 0) {
		const ssize_t count = write(STDOUT_FILENO, bytes, length);
		if (count < 0 && errno != EINTR) {
			lost = true;
			return;
		}
		bytes += count < 0 ? 0 : count;
		length -= count < 0 ? 0 : (size_t) count;
	}
}

/* Ctrl-S must not stop a write; signals by keys stay. */
static bool take(void)
{
	struct termios raw;
	if (tcgetattr(STDIN_FILENO, &before) != 0) {
		return false;
	}
	raw = before;
	raw.c_iflag &= ~(tcflag_t) (IXON | ICRNL);
	raw.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) != 0) {
		return false;
	}
	taken = 1;
	put(TAKE, sizeof(TAKE) - 1);
	return true;
}

/* Calls nothing that a handler may not call. */
static void give_back(void)
{
	if (taken != 0) {
		taken = 0;
		const ssize_t written = write(STDOUT_FILENO, GIVE, sizeof(GIVE) - 1);
		(void) written;
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	}
}

/* ------------------------------------------------------------------ signals */

static void note(int signal)
{
	if (signal == SIGTSTP) {
		stopping = 1;
	} else if (signal == SIGWINCH || signal == SIGCONT) {
		changed = signal == SIGCONT ? 2 : changed == 0 ? 1 : changed;
	} else {
		ended = signal;
	}
}

/* The handler is gone already; the fault comes again, and ends the process. */
static void give_back_and_fail(int signal)
{
	give_back();
	raise(signal);
}

static void handle(const int *signals, size_t count, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < count / sizeof(*signals); i++) {
		sigaction(signals[i], &action, NULL);
		if (flags == 0) {
			sigaddset(&otherwise, signals[i]);
		}
	}
}

/* As Ctrl-Z stops a program that notes no signals. */
static void stop(void)
{
	const int signals[] = {SIGTSTP};
	stopping = 0;
	give_back();
	handle(signals, sizeof(signals), SIG_DFL, 0);
	kill(getpid(), SIGTSTP);
	sigprocmask(SIG_SETMASK, &while_waiting, NULL); /* it stops here, and goes on here */
	sigprocmask(SIG_SETMASK, &otherwise, NULL);
	handle(signals, sizeof(signals), note, 0);
	changed = 2;
}

/* ------------------------------------------------------------------ open, close */

int cli_screen_open(const cli *c)
{
	sigprocmask(SIG_SETMASK, NULL, &while_waiting);
	otherwise = while_waiting;
	handle(ending, sizeof(ending), note, 0);
	handle(changing, sizeof(changing), note, 0);
	sigprocmask(SIG_SETMASK, &otherwise, NULL);
	handle(fatal, sizeof(fatal), give_back_and_fail, (int) SA_RESETHAND);
	if (!take()) {
		return cli_say(c, CLI_FAILED, "cannot use the terminal: %s", strerror(errno));
	}
	return CLI_YES;
}

void cli_screen_close(void)
{
	give_back();
}

void cli_screen_size(int *lines, int *columns)
{
	struct winsize size = {0};
	const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
	*lines = known && size.ws_row != 0 ? size.ws_row : 24;
	*columns = known && size.ws_col != 0 ? size.ws_col : 80;
}

/* A terminal that is slow may block the write: signals end it. */
void cli_screen_show(const char *bytes, size_t length)
{
	sigprocmask(SIG_SETMASK, &while_waiting, NULL);
	put("\033[H", 3);
	put(bytes, length);
	sigprocmask(SIG_SETMASK, &otherwise, NULL);
}

int cli_screen_signal(void)
{
	return ended != 0 ? ended : SIGHUP; /* which comes when the terminal goes away */
}

/* ------------------------------------------------------------------ keys */

/* What the bytes after an escape and a bracket stand for; 0: nothing that is known. */
static int sequence_of(const unsigned char *bytes, size_t length)
{
	static const struct {
		const char *bytes;
		int key;
	} known[] = {{"A", SCREEN_UP}, {"B", SCREEN_DOWN}, {"5~", SCREEN_PAGE_UP},
		{"6~", SCREEN_PAGE_DOWN}, {"H", SCREEN_HOME}, {"F", SCREEN_END}, {"1~", SCREEN_HOME},
		{"4~", SCREEN_END}, {"7~", SCREEN_HOME}, {"8~", SCREEN_END}};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].bytes) == length && memcmp(known[i].bytes, bytes, length) == 0) {
			return known[i].key;
		}
	}
	return 0;
}

/* Takes one key from those that were read; 0: there is none, or none that is known. */
static int next_key(void)
{
	size_t used = 1;
	int key = keys[0];
	if (key_count >= 2 && key == '\033' && (keys[1] == '[' || keys[1] == 'O')) {
		used = 2;
		while (used < key_count && (keys[used] < 0x40 || keys[used] > 0x7e)) {
			used++;
		}
		used += used < key_count;
		key = sequence_of(keys + 2, used - 2);
	} else if (key == '\033' || key > '~') {
		key = 0;
	}
	key_count -= used;
	memmove(keys, keys + used, key_count);
	return key;
}

/* What has happened already; 0: nothing. */
static int event(void)
{
	if (stopping != 0) {
		stop();
	}
	if (ended != 0 || lost) {
		return SCREEN_ENDED;
	}
	if (changed != 0) {
		if (changed == 2) {
			give_back(); /* stopped by SIGSTOP, it did not do so itself */
			lost = !take();
		}
		changed = 0;
		return SCREEN_CHANGED;
	}
	while (key_count > 0) {
		const int key = next_key();
		if (key != 0) {
			return key;
		}
	}
	return 0;
}

int cli_screen_wait(double seconds)
{
	const uint64_t until = bshm_now_ns() + (uint64_t) (seconds * 1e9);
	for (;;) {
		const int what = event();
		const uint64_t now = bshm_now_ns();
		if (what != 0) {
			return what;
		}
		if (now >= until) {
			return SCREEN_TIME;
		}
		const struct timespec left = {
			(time_t) ((until - now) / 1000000000), (long) ((until - now) % 1000000000)};
		struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
		if (ppoll(&in, 1, &left, &while_waiting) > 0) {
			const ssize_t count = read(STDIN_FILENO, keys, sizeof(keys));
			key_count = count > 0 ? (size_t) count : 0;
			lost = count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
		}
	}
}
