/*
 * cli_stream.c - dumps through a pipe: the engine reads and writes files only.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES 65536

/* Is the argument `file` the standard one, or an existing file that is neither a regular one nor a
 * folder? A link like /dev/stdout would be replaced by the dump. */
static bool is_pipe(const char *file, int standard)
{
	struct stat st;
	struct stat own;
	if (strcmp(file, "-") == 0) {
		return true;
	}
	if (stat(file, &st) != 0 || S_ISDIR(st.st_mode)) {
		return false;
	}
	return !S_ISREG(st.st_mode) ||
		   (fstat(standard, &own) == 0 && own.st_dev == st.st_dev && own.st_ino == st.st_ino);
}

/* The dump would replace it. */
static bool is_segment(const cli *c, const char *file)
{
	struct stat st;
	struct stat segment;
	return stat(file, &st) == 0 && stat(c->path, &segment) == 0 && st.st_dev == segment.st_dev &&
		   st.st_ino == segment.st_ino;
}

static int open_pipe(const cli *c, const char *file, int flags, int standard, cli_stream *s)
{
	s->fd = strcmp(file, "-") == 0 ? standard : open(file, flags | O_CLOEXEC);
	if (s->fd < 0) {
		return cli_say(c, CLI_FAILED, "cannot open the file \"%s\": %s", file, strerror(errno));
	}
	if (isatty(s->fd)) {
		return cli_say(c, CLI_FAILED, "\"%s\" is a terminal, and a dump is not text", s->file);
	}
	return CLI_YES;
}

/* A name for mkstemp() or mkdtemp(); NULL: no memory. */
static char *temporary_name(void)
{
	const char *folder = getenv("TMPDIR");
	char *name;
	const bool given = folder != NULL && *folder != '\0';
	return asprintf(&name, "%s/bloomshm.XXXXXX", given ? folder : "/tmp") < 0 ? NULL : name;
}

static int fail_temporary(const cli *c, const char *name)
{
	return cli_say(c, CLI_FAILED,
		"cannot write the temporary file \"%s\" (in $TMPDIR, or else in /tmp): %s", name,
		strerror(errno));
}

/* Copies all bytes. *wrote: errno is of the write. */
static bool copy(int from, int to, bool *wrote)
{
	char bytes[COPY_BYTES];
	ssize_t got;
	*wrote = false;
	while ((got = read(from, bytes, sizeof(bytes))) != 0) {
		if (got < 0 && errno != EINTR) {
			return false;
		}
		for (ssize_t done = 0; done < got;) {
			const ssize_t put = write(to, bytes + done, (size_t) (got - done));
			if (put < 0 && errno != EINTR) {
				*wrote = true;
				return false;
			}
			done += put > 0 ? put : 0;
		}
	}
	return true;
}

/* ------------------------------------------------------------------ out */

int cli_stream_out(const cli *c, const char *file, cli_stream *s)
{
	*s = (cli_stream){.path = file, .file = file, .fd = -1};
	if (!is_pipe(file, STDOUT_FILENO)) {
		if (is_segment(c, file)) {
			return cli_say(c, CLI_FAILED, "%s is the segment itself", file);
		}
		cli_signals_stop_writes();
		return CLI_YES;
	}
	const int status = open_pipe(c, file, O_WRONLY, STDOUT_FILENO, s);
	if (status != CLI_YES) {
		return status;
	}
	cli_signals_stop_writes();
	char *folder = temporary_name();
	char *path = NULL;
	if (folder == NULL) {
		return cli_no_memory(c);
	}
	if (mkdtemp(folder) == NULL) {
		return fail_temporary(c, folder);
	}
	s->folder = folder;
	if (asprintf(&path, "%s/dump", folder) < 0) {
		return cli_no_memory(c);
	}
	s->path = path;
	return CLI_YES;
}

static int copy_out(const cli *c, int from, const cli_stream *s)
{
	bool wrote;
	if (copy(from, s->fd, &wrote)) {
		return CLI_YES;
	}
	return wrote ? cli_say(c, CLI_FAILED, "cannot write \"%s\": %s", s->file, strerror(errno))
				 : fail_temporary(c, s->path);
}

int cli_stream_sent(const cli *c, cli_stream *s, int status)
{
	int from = -1;
	if (s->folder != NULL) {
		from = open(s->path, O_RDONLY | O_CLOEXEC);
		if (from < 0 && status == CLI_YES) {
			status = fail_temporary(c, s->path);
		}
		unlink(s->path);
		rmdir(s->folder);
	}
	const int signal = cli_signal();
	cli_signals_end();
	if (signal != 0 && (status != CLI_YES || s->folder != NULL)) {
		status = cli_say(c, CLI_SIGNAL + signal, "%s; nothing was written", strsignal(signal));
	}
	if (from >= 0 && status == CLI_YES) {
		status = copy_out(c, from, s);
	}
	if (from >= 0) {
		close(from);
	}
	return status;
}

/* ------------------------------------------------------------------ in */

int cli_stream_in(const cli *c, const char *file, cli_stream *s)
{
	bool wrote;
	*s = (cli_stream){.path = file, .file = file, .fd = -1};
	if (!is_pipe(file, STDIN_FILENO)) {
		return CLI_YES;
	}
	const int status = open_pipe(c, file, O_RDONLY, STDIN_FILENO, s);
	char *name = status == CLI_YES ? temporary_name() : NULL;
	if (name == NULL) {
		return status == CLI_YES ? cli_no_memory(c) : status;
	}
	const int to = mkostemp(name, O_CLOEXEC);
	if (to < 0) {
		return fail_temporary(c, name);
	}
	unlink(name);
	if (!copy(s->fd, to, &wrote)) {
		return wrote ? fail_temporary(c, name)
					 : cli_say(c, CLI_FAILED, "cannot read \"%s\": %s", s->file, strerror(errno));
	}
	snprintf(s->spool, sizeof(s->spool), "/proc/self/fd/%d", to);
	s->path = s->spool;
	return CLI_YES;
}

int cli_stream_fail(
	const cli *c, const cli_stream *s, const bshm_error *error, const char *name, bool filter)
{
	/* What fails in writing is the temporary file; what is wrong in reading is what was copied. */
	return cli_signal() != 0
			   ? CLI_SIGNAL + cli_signal()
			   : cli_fail_file(c, error, name, s->folder != NULL ? s->path : s->file, filter);
}
