/*
 * cli_diff.c - diff and patch: what two dumps of one filter differ in.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_json.h"
#include "cli/cli_run.h"
#include "cli/cli_stream.h"

#include <string.h>

/* The engine's call: two files that it reads, and one that it writes. */
typedef bshm_status carry(
	const char *, const char *, const char *, bshm_delta_stat *, bshm_error *);

/* The files in the order of the arguments. */
static int fail(const cli *c, const cli_stream *files, const bshm_error *error)
{
	const cli_stream *file = &files[error->source - 1];
	const bool patches = c->verb->run == cli_patch;
	if (error->cause == BSHM_CAUSE_IMAGE) {
		return cli_say(c, CLI_FAILED, "%s is neither of the two files that %s was made of",
			files[0].file, files[1].file);
	}
	if (error->cause == BSHM_CAUSE_WINDOW || error->cause == BSHM_CAUSE_COUNTING) {
		return cli_say(c, CLI_FAILED, "%s holds a %s filter, which has no deltas; send it whole",
			file->file, error->cause == BSHM_CAUSE_WINDOW ? "sliding" : "counting");
	}
	if (error->cause == BSHM_CAUSE_KIND || error->cause == BSHM_CAUSE_SEED ||
		error->cause == BSHM_CAUSE_GEOMETRY) {
		return cli_say(c, CLI_FAILED, "%s and %s are not of one filter: they have another %s",
			files[0].file, files[1].file, bshm_cause_str(error->cause));
	}
	if (error->cause == BSHM_CAUSE_MAGIC && patches && error->source == 2) {
		return cli_say(c, CLI_FAILED, "the file %s was not made by bloomshm diff", file->file);
	}
	return cli_stream_fail(c, file, error, NULL, true);
}

/* *piped: what was written went to a pipe. */
static int carry_over(cli *c, carry *call, bshm_delta_stat *stat, bool *piped)
{
	cli_stream files[3];
	bshm_error error;
	if (strcmp(c->arguments[0], "-") == 0 && strcmp(c->arguments[1], "-") == 0) {
		return cli_say(c, CLI_USAGE, "only one of the files can be the standard input");
	}
	int status = cli_place(c);
	for (int i = 0; status == CLI_YES && i < 2; i++) {
		status = cli_stream_in(c, c->arguments[i], &files[i]);
	}
	if (status != CLI_YES) {
		return status;
	}
	status = cli_stream_out(c, c->argument_count == 3 ? c->arguments[2] : "-", &files[2]);
	*piped = files[2].fd >= 0;
	if (status == CLI_YES &&
		call(files[0].path, files[1].path, files[2].path, stat, &error) != BSHM_OK) {
		status = fail(c, files, &error);
	}
	return cli_stream_sent(c, &files[2], status);
}

int cli_diff(cli *c)
{
	bshm_delta_stat stat = {0};
	bool piped = false;
	const int status = carry_over(c, bshm_delta_make, &stat, &piped);
	return status != CLI_YES || piped
			   ? status
			   : cli_json_show(
					 c, json_pack("{s:I, s:I, s:I, s:I, s:I}", "from_bytes",
							(json_int_t) stat.from_bytes, "to_bytes", (json_int_t) stat.to_bytes,
							"delta_bytes", (json_int_t) stat.delta_bytes, "changed_bits",
							(json_int_t) stat.changed_bits, "raw_partitions",
							(json_int_t) stat.raw_partitions));
}

int cli_patch(cli *c)
{
	bshm_delta_stat stat = {0};
	bool piped = false;
	return carry_over(c, bshm_delta_apply, &stat, &piped);
}
