/*
 * cli_dump.c - dump and restore: one filter as a file.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_run.h"
#include "cli/cli_stream.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int cli_dump(cli *c)
{
	cli_stream s;
	bshm_error error;
	uint64_t bytes;
	if (!cli_filter_name(c, 0)) {
		return CLI_USAGE;
	}
	int status = cli_attach(c, false);
	if (status != CLI_YES) {
		return status;
	}
	const char *name = c->arguments[0];
	status = cli_stream_out(c, c->arguments[1], &s);
	if (status == CLI_YES && bshm_filter_dump(c->segment, c->views, name, strlen(name), s.path,
								 &bytes, &error) != BSHM_OK) {
		status = cli_stream_fail(c, &s, &error, name, true);
	}
	return cli_stream_sent(c, &s, status);
}

int cli_restore(cli *c)
{
	cli_stream s;
	bshm_error error;
	struct stat st;
	const char *name = c->arguments[0];
	const char *file = c->arguments[1];
	if (!cli_filter_name(c, 0)) {
		return CLI_USAGE;
	}
	if (strcmp(file, "-") != 0 && stat(file, &st) != 0) { /* before a segment is made for it */
		return cli_say(c, CLI_FAILED, "cannot open the file %s: %s", file, strerror(errno));
	}
	int status = cli_attach(c, true);
	if (status == CLI_YES) {
		status = cli_stream_in(c, file, &s);
	}
	if (status != CLI_YES) {
		return status;
	}
	return bshm_filter_restore(c->segment, name, strlen(name), s.path, &error) == BSHM_OK
			   ? cli_published(c)
			   : cli_stream_fail(c, &s, &error, name, true);
}
