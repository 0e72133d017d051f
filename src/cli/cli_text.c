/*
 * cli_text.c - what the command prints: errors, names of any bytes, figures.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli.h"
#include "cli/cli_progress.h"

#include "message/message.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

/* ------------------------------------------------------------------ any bytes */

/* Unicode's Cf, Co and the like, which a terminal does not show, or obeys. glibc's iswprint() knows
 * control characters and code points without a character. */
static bool is_hidden(wchar_t c)
{
	static const wchar_t ranges[][2] = {{0xad, 0xad}, {0x600, 0x605}, {0x61c, 0x61c},
		{0x6dd, 0x6dd}, {0x70f, 0x70f}, {0x890, 0x891}, {0x8e2, 0x8e2}, {0x180e, 0x180e},
		{0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xe000, 0xf8ff}, {0xfeff, 0xfeff},
		{0xfff9, 0xfffb}, {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
		{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}, {0xf0000, 0x10ffff}};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (c >= ranges[i][0] && c <= ranges[i][1]) {
			return true;
		}
	}
	return false;
}

/* How long the character at the bytes is; 0: they are not UTF-8. *shown: can it be printed? */
static size_t character(const char *bytes, size_t length, bool *shown)
{
	mbstate_t state = {0};
	wchar_t c;
	const size_t count = mbrtowc(&c, bytes, length, &state);
	if (count == 0) { /* NUL */
		*shown = false;
		return 1;
	}
	if (count > length) {
		return 0;
	}
	*shown = iswprint((wint_t) c) != 0 && !is_hidden(c);
	return count;
}

static bool is_utf8(const char *bytes, size_t length)
{
	bool shown;
	for (size_t i = 0; i < length;) {
		const size_t count = character(bytes + i, length - i, &shown);
		if (count == 0) {
			return false;
		}
		i += count;
	}
	return true;
}

/* Bytes that need no look at their neighbours, and are most of all. */
static bool is_plain(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] < ' ' || bytes[i] > '~' || bytes[i] == '\\') {
			return false;
		}
	}
	return true;
}

static void know_utf8(void)
{
	static bool begun;
	if (!begun) {
		begun = true;
		setlocale(LC_CTYPE, "C.UTF-8");
	}
}

/* Writes the bytes as printable text: at most four bytes for each; returns the end. */
static char *escape(char *to, const char *bytes, size_t length)
{
	know_utf8();
	const bool utf8 = is_utf8(bytes, length);
	for (size_t i = 0; i < length;) {
		bool shown = bytes[i] >= ' ' && bytes[i] <= '~';
		const size_t count = utf8 ? character(bytes + i, length - i, &shown) : 1;
		shown = shown && !(bytes[i] == '\\' && i + 1 < length && bytes[i + 1] == 'x');
		for (size_t k = 0; k < count; k++) {
			to += shown ? (*to = bytes[i + k], 1)
						: sprintf(to, "\\x%02X", (unsigned) (unsigned char) bytes[i + k]);
		}
		i += count;
	}
	return to;
}

const char *cli_shown(const char *bytes, size_t length)
{
	static char *texts[4];
	static unsigned turn;
	char **text = &texts[turn++ % 4];
	free(*text);
	*text = malloc(4 * length + 1);
	if (*text != NULL) {
		*escape(*text, bytes, length) = '\0';
	}
	return *text;
}

size_t cli_cut(const char *text, int most, int *columns)
{
	const char *at = text;
	*columns = 0;
	know_utf8();
	while (*at != '\0') {
		wchar_t c;
		mbstate_t state = {0};
		const size_t count = mbrtowc(&c, at, MB_CUR_MAX, &state);
		const int wide = count > MB_CUR_MAX ? 1 : wcwidth(c);
		if (*columns + (wide < 0 ? 1 : wide) > most) {
			break;
		}
		*columns += wide < 0 ? 1 : wide;
		at += count > MB_CUR_MAX ? 1 : count;
	}
	return (size_t) (at - text);
}

void cli_print(const cli *c, const char *bytes, size_t length)
{
	if (cli_given(c, CLI_NUL)) {
		fwrite_unlocked(bytes, 1, length, stdout);
		putchar_unlocked('\0');
		return;
	}
	const char *text = is_plain(bytes, length) ? NULL : cli_shown(bytes, length);
	fwrite_unlocked(text == NULL ? bytes : text, 1, text == NULL ? length : strlen(text), stdout);
	putchar_unlocked('\n');
}

void cli_print_escaped(FILE *out, const char *text, const char *which)
{
	for (; *text != '\0'; text++) {
		if (strchr(which, *text) != NULL) {
			putc_unlocked('\\', out);
		}
		putc_unlocked(*text, out);
	}
}

/* ------------------------------------------------------------------ errors */

int cli_say(const cli *c, int status, const char *format, ...)
{
	char line[sizeof(bshm_message) + 256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	const char *text = cli_shown(line, strlen(line));
	cli_progress_clear();
	fflush(stdout); /* what was printed before comes before it */
	fprintf(stderr, "bloomshm%s%s: %s\n", c->verb == NULL ? "" : " ",
		c->verb == NULL ? "" : c->verb->name, text == NULL ? line : text);
	return status;
}

void cli_tell(const cli *c, const char *name, const char *format, ...)
{
	va_list arguments;
	if (cli_given(c, CLI_QUIET)) {
		return;
	}
	printf("%s: ", cli_shown(name, strlen(name)));
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

static bshm_message_about about(const cli *c, const char *name)
{
	return (bshm_message_about){
		.path = c->path, .name = name, .readonly = cli_given(c, CLI_READONLY), .command = true};
}

int cli_fail(const cli *c, const bshm_error *error, const char *name)
{
	const bshm_message_about what = about(c, name);
	bshm_message message;
	bshm_error e = *error;
	if (e.status == BSHM_E_BUSY && e.cause == BSHM_CAUSE_FILTER) { /* not the segment */
		e.status = BSHM_E_TIMEOUT;
	}
	const char *text = bshm_message_say(&message, &e, &what);
	const bool foreign = error->cause == BSHM_CAUSE_OWNER && geteuid() == 0;
	return cli_say(
		c, CLI_FAILED, "%s%s", text, foreign ? "; root becomes that user with --user NAME" : "");
}

int cli_fail_file(
	const cli *c, const bshm_error *error, const char *name, const char *file, bool filter)
{
	bshm_message message;
	const char *text = bshm_message_file(&message, error, file, filter);
	return text == NULL ? cli_fail(c, error, name) : cli_say(c, CLI_FAILED, "%s", text);
}

int cli_no_memory(const cli *c)
{
	return cli_say(c, CLI_FAILED, "no private memory left");
}

int cli_finish(const cli *c, int status)
{
	const bool written = fflush(stdout) == 0 && !ferror(stdout);
	if (written || status == CLI_FAILED) {
		return status;
	}
	return cli_say(c, CLI_FAILED, "cannot write the output: %s", strerror(errno));
}

/* ------------------------------------------------------------------ figures */

const char *cli_age_text(char out[16], double seconds)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
	unsigned i = 0;
	while (i < 3 && seconds < units[i].seconds) {
		i++;
	}
	const double value = seconds / units[i].seconds;
	snprintf(out, 16, value < 9.95 && i < 3 ? "%.1f %s" : "%.0f %s", value, units[i].name);
	return out;
}

const char *cli_percent_text(char out[16], double share)
{
	const double percent = 100 * share;
	snprintf(out, 16, percent == 0 ? "0 %%" : percent < 0.0001 ? "%.0e %%" : "%.3g %%", percent);
	return out;
}
