/*
 * cli_stream.h - dumps through a pipe: the engine reads and writes files only.
 *
 * The argument "-" is the standard input or output. So is any other file that is not a regular one:
 * a FIFO, a device. Such a dump goes through a temporary file in $TMPDIR, or /tmp.
 *
 *      cli_stream s;
 *      int status = cli_stream_out(c, file, &s);
 *      if (status == CLI_YES && bshm_..._dump(..., s.path, ..., &error) != BSHM_OK) {
 *              status = cli_stream_fail(c, &s, &error, name, filter);
 *      }
 *      return cli_stream_sent(c, &s, status);
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli/cli.h"

typedef struct {
	const char *file; /* the argument */
	const char *path; /* for the engine */
	int fd;           /* the pipe; -1: the argument is a regular file */
	char *folder;     /* of the temporary file; NULL: there is none */
	char spool[64];
} cli_stream;

/*
 * To write a dump: CLI_YES, or CLI_FAILED, which was said. To be called once the command has become
 * its user: after cli_attach() or cli_place(). From now on a signal makes the engine's next write
 * fail, so that it removes what it has begun.
 */
int cli_stream_out(const cli *c, const char *file, cli_stream *s);
/*
 * The dump has been written, if `status` is CLI_YES: copies it to where it goes. Removes the
 * temporary file. To be called whatever happened; returns the status of the verb.
 */
int cli_stream_sent(const cli *c, cli_stream *s, int status);

/* To read a dump: copies it to a temporary file without a name. CLI_YES, or CLI_FAILED, which was
 * said. */
int cli_stream_in(const cli *c, const char *file, cli_stream *s);

/* Says why the engine failed, unless it was a signal. Returns the status. */
int cli_stream_fail(
	const cli *c, const cli_stream *s, const bshm_error *error, const char *name, bool filter);

#endif
