/*
 * cli_dump.c - dump and restore: one filter as a file.
 *
 * What a signal ends has published nothing; the next process takes the memory back.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_filter_args.h"
#include "cli/cli_keys.h"
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

/* Looks before a segment is made for it. */
static bool is_there(const cli *c, const char *file)
{
	struct stat st;
	if (file == NULL || strcmp(file, "-") == 0 || stat(file, &st) == 0) {
		return true;
	}
	cli_say(c, CLI_FAILED, "cannot open the file %s: %s", file, strerror(errno));
	return false;
}

static int add_keys(const cli *c, bshm_build *build, cli_file *file)
{
	const char delimiter = cli_given(c, CLI_NUL) ? '\0' : '\n';
	bshm_key keys[BSHM_BATCH];
	bshm_error error;
	int count;
	while ((count = cli_file_keys(file, delimiter, keys)) > 0) {
		for (int i = 0; i < count; i++) {
			if (bshm_build_key(build, keys[i].bytes, keys[i].length, &error) != BSHM_OK) {
				return cli_fail(c, &error, c->arguments[0]);
			}
		}
	}
	return count == 0 ? CLI_YES : CLI_FAILED;
}

/* Adds the keys of --add. */
static int add_file(const cli *c, bshm_build *build)
{
	if (!cli_given(c, CLI_ADD)) {
		return CLI_YES;
	}
	cli_file *file = cli_file_open(c, c->values[CLI_ADD]);
	const int status = file == NULL ? CLI_FAILED : add_keys(c, build, file);
	if (file != NULL) {
		cli_file_close(file);
	}
	return status;
}

static int restore(cli *c, const cli_stream *s)
{
	const char *name = c->arguments[0];
	bshm_build *build;
	bshm_error error;
	if (bshm_restore_begin(c->segment, name, strlen(name), s->path, &build, &error) != BSHM_OK) {
		return cli_stream_fail(c, s, &error, name, true);
	}
	const int status = add_file(c, build);
	if (status != CLI_YES) {
		bshm_build_abort(build);
		return status;
	}
	return bshm_build_publish(build, 1, NULL, &error) == BSHM_OK
			   ? cli_published(c)
			   : cli_stream_fail(c, s, &error, name, true);
}

int cli_restore(cli *c)
{
	cli_stream s;
	const char *file = c->arguments[1];
	const char *keys = c->values[CLI_ADD];
	if (!cli_filter_name(c, 0) || (keys == NULL && !cli_without(c, CLI_WITH(NUL), CLI_ADD))) {
		return CLI_USAGE;
	}
	if (keys != NULL && strcmp(file, "-") == 0 && strcmp(keys, "-") == 0) {
		return cli_say(c, CLI_USAGE, "only one of FILE and --add can be the standard input");
	}
	if (!is_there(c, file) || !is_there(c, keys)) {
		return CLI_FAILED;
	}
	int status = cli_attach(c, true);
	if (status == CLI_YES) {
		status = cli_stream_in(c, file, &s);
	}
	return status == CLI_YES ? restore(c, &s) : status;
}
