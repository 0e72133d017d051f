/*
 * cli_manage.c - reserve, drop, clear, rename, copy, merge: whole filters.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_filter_args.h"
#include "cli/cli_json.h"
#include "cli/cli_run.h"

#include <stdlib.h>
#include <string.h>

int cli_reserve(cli *c)
{
	bshm_parameters parameters;
	bshm_error error;
	if (!cli_filter_name(c, 0) || !cli_filter_parameters(c, CLI_CAPACITY_NEEDED, &parameters)) {
		return CLI_USAGE;
	}
	int status = cli_attach(c, true);
	if (status != CLI_YES) {
		return status;
	}
	const char *name = c->arguments[0];
	const int created = bshm_filter_reserve(c->segment, name, strlen(name), &parameters, &error);
	if (created < 0) {
		return cli_fail(c, &error, name);
	}
	status = cli_published(c);
	if (status != CLI_YES) {
		return status;
	}
	if (cli_given(c, CLI_JSON)) {
		return cli_json_print(c,
			json_pack(
				"{s:o, s:b}", "filter", cli_json_text(name, strlen(name)), "created", created),
			CLI_YES);
	}
	puts(created != 0 ? "created" : "exists already, with these parameters");
	return CLI_YES;
}

/* ------------------------------------------------------------------ drop, clear */

typedef int (*removal)(bshm_segment *, const char *, size_t, bshm_error *);

static int remove_filter(cli *c, removal remove)
{
	bshm_error error = {.status = BSHM_E_NOT_FOUND, .cause = BSHM_CAUSE_FILTER};
	if (!cli_filter_name(c, 0)) {
		return CLI_USAGE;
	}
	const int status = cli_attach(c, false);
	if (status != CLI_YES) {
		return status;
	}
	const char *name = c->arguments[0];
	const int done = remove(c->segment, name, strlen(name), &error);
	if (done > 0) {
		return CLI_YES;
	}
	cli_fail(c, &error, name);
	return done == 0 ? CLI_NO : CLI_FAILED;
}

int cli_drop(cli *c)
{
	return remove_filter(c, bshm_filter_drop);
}

int cli_clear(cli *c)
{
	return remove_filter(c, bshm_filter_clear);
}

/* ------------------------------------------------------------------ rename, copy, merge */

typedef bshm_status (*movement)(
	bshm_segment *, const char *, size_t, const char *, size_t, bshm_error *);

static int move_filter(cli *c, movement move)
{
	bshm_error error;
	if (!cli_filter_name(c, 0) || !cli_filter_name(c, 1)) {
		return CLI_USAGE;
	}
	const int status = cli_attach(c, false);
	if (status != CLI_YES) {
		return status;
	}
	const char *from = c->arguments[0];
	const char *to = c->arguments[1];
	return move(c->segment, from, strlen(from), to, strlen(to), &error) == BSHM_OK
			   ? cli_published(c)
			   : cli_fail(c, &error, from);
}

int cli_rename(cli *c)
{
	return move_filter(c, bshm_filter_rename);
}

int cli_copy(cli *c)
{
	return move_filter(c, bshm_filter_copy);
}

int cli_merge(cli *c)
{
	bshm_error error;
	const size_t count = (size_t) c->argument_count - 1;
	for (int i = 0; i < c->argument_count; i++) {
		if (!cli_filter_name(c, i)) {
			return CLI_USAGE;
		}
	}
	const int status = cli_attach(c, false);
	if (status != CLI_YES) {
		return status;
	}
	const char *into = c->arguments[0];
	bshm_key *from = calloc(count, sizeof(*from));
	if (from == NULL) {
		return cli_no_memory(c);
	}
	for (size_t i = 0; i < count; i++) {
		from[i] = (bshm_key){c->arguments[i + 1], strlen(c->arguments[i + 1])};
	}
	const bshm_status merged =
		bshm_filter_merge(c->segment, into, strlen(into), from, count, &error);
	free(from);
	return merged == BSHM_OK
			   ? cli_published(c)
			   : cli_fail(c, &error, error.source == 0 ? into : c->arguments[error.source]);
}
