/*
 * cli_progress.c - how far a long verb is: one line on the terminal.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_progress.h"

#include "core/bshm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EVERY_NS UINT64_C(200000000)
#define COLUMNS  80 /* where the terminal does not tell */

static struct {
	bool wanted;
	bool shown;
	uint64_t start_ns;
	uint64_t next_ns;
} line;

void cli_progress_begin(bool quiet)
{
	line.wanted = !quiet && isatty(STDERR_FILENO) == 1;
	line.start_ns = bshm_now_coarse_ns();
	line.next_ns = line.start_ns + EVERY_NS;
}

void cli_progress_say(const char *text)
{
	struct winsize window = {0};
	if (line.wanted) {
		/* A longer one would go on in the next line, and stay there. The cursor goes back to the
		 * begin, for the line that a signal prints. */
		const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
		fprintf(stderr, "\r%.*s\033[K\r", (known ? window.ws_col : COLUMNS) - 1, text);
		line.shown = true;
	}
}

void cli_progress_show(const char *what, uint64_t keys, uint64_t done, uint64_t size)
{
	if (!line.wanted) {
		return;
	}
	const uint64_t now = bshm_now_coarse_ns();
	if (now < line.next_ns) {
		return;
	}
	line.next_ns = now + EVERY_NS;
	const double seconds = (double) (now - line.start_ns) / 1e9;
	char text[160];
	char *const end = text + sizeof(text);
	char *to = text + snprintf(text, sizeof(text), "%s:", what);
	if (size != 0) {
		to += snprintf(to, (size_t) (end - to), " %.0f %%,",
			done < size ? 100 * (double) done / (double) size : 100);
	}
	to += snprintf(
		to, (size_t) (end - to), " %" PRIu64 " keys, %.0f keys/s", keys, (double) keys / seconds);
	if (size != 0 && done != 0) {
		const double left = done < size ? seconds * (double) (size - done) / (double) done : 0;
		snprintf(to, (size_t) (end - to), ", %.0f:%02.0f left", (double) ((uint64_t) left / 60),
			(double) ((uint64_t) left % 60));
	}
	cli_progress_say(text);
}

void cli_progress_clear(void)
{
	if (line.shown) {
		line.shown = false;
		fputs("\r\033[K", stderr);
	}
}
