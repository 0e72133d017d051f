/*
 * cli_show.c - status, verify, ls, info: what the segment holds.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_json.h"
#include "cli/cli_run.h"

#include "message/message.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int cli_status(cli *c)
{
	bshm_error error;
	bshm_stat stat = {0};
	bshm_store_info store = {0};
	const int status = cli_attach(c, false);
	if (status != CLI_YES) {
		return status;
	}
	if (bshm_segment_stat(c->segment, &stat, &error) != BSHM_OK) {
		return cli_fail(c, &error, NULL);
	}
	bshm_store_stat(c->segment, &store);
	return cli_json_show(c, cli_json_stat(c->path, NULL, &stat, &store));
}

/* ------------------------------------------------------------------ verify */

static void add_problem(void *context, const char *what, const char *name)
{
	char line[256];
	snprintf(line, sizeof(line), *name == '\0' ? "%s" : "%s: filter \"%s\"", what, name);
	json_array_append_new(context, cli_json_text(line, strlen(line)));
}

int cli_verify(cli *c)
{
	bshm_error error;
	json_t *problems = json_array();
	const int status = cli_attach(c, false);
	if (status != CLI_YES) {
		return status;
	}
	const int count = bshm_segment_check(c->segment, add_problem, problems, &error);
	const int answer = json_array_size(problems) == 0 ? CLI_YES : CLI_NO;
	if (cli_given(c, CLI_JSON)) {
		cli_json_print(c, problems, answer);
	} else {
		size_t i;
		json_t *problem;
		json_array_foreach(problems, i, problem)
		{
			puts(json_string_value(problem));
		}
	}
	if (count > 0 && (size_t) count > json_array_size(problems) && !cli_given(c, CLI_JSON)) {
		printf("and %zu more\n", (size_t) count - json_array_size(problems));
	}
	return count < 0 ? cli_fail(c, &error, NULL) : answer;
}

/* ------------------------------------------------------------------ ls */

static void print_row(const cli_name *name, const bshm_info *info)
{
	char rate[16];
	char asked[16];
	char age[16];
	char size[32];
	const uint64_t saved = info->usage.questions - info->usage.maybes;
	const double used = info->capacity == 0 ? 0 : (double) info->items / (double) info->capacity;
	printf("%-8s %12" PRIu64 " %4.0f %% %9s %9s %9s %7s %12" PRIu64 "  %s\n", info->type,
		info->items, floor(100 * used), bshm_size_text(size, info->bytes),
		cli_percent_text(rate, info->estimated_error_rate),
		cli_percent_text(asked, info->error_rate),
		cli_age_text(age, fmax(0, cli_unix_now() - info->published_s)),
		info->usage.maybes > info->usage.questions ? 0 : saved,
		cli_shown(name->bytes, name->length));
}

/* A filter that is dropped meanwhile is left out; one that is damaged is named. */
static int list_long(cli *c, const cli_name *names, size_t count, json_t *all)
{
	int status = CLI_YES;
	if (all == NULL) {
		printf("%-8s %12s %6s %9s %9s %9s %7s %12s  %s\n", "KIND", "KEYS", "USED", "SIZE", "RATE",
			"WANTED", "AGE", "SAVED", "FILTER");
	}
	for (size_t i = 0; i < count; i++) {
		bshm_info info;
		const bshm_status found =
			bshm_filter_info(c->segment, c->views, names[i].bytes, names[i].length, &info);
		if (found == BSHM_OK && all != NULL) {
			json_array_append_new(all, cli_json_info(&names[i], &info));
		} else if (found == BSHM_OK) {
			print_row(&names[i], &info);
		} else if (found != BSHM_E_NOT_FOUND) {
			const bshm_error error = {.status = found, .cause = BSHM_CAUSE_FILTER};
			status = cli_fail(c, &error, names[i].bytes);
		}
	}
	return status;
}

int cli_ls(cli *c)
{
	size_t count;
	int status = cli_attach(c, false);
	if (status != CLI_YES) {
		return status;
	}
	cli_name *names = cli_names(c, &count);
	json_t *all = cli_given(c, CLI_JSON) ? json_array() : NULL;
	if (names == NULL) {
		return CLI_FAILED;
	}
	if (cli_given(c, CLI_LONG)) {
		status = list_long(c, names, count, all);
	}
	for (size_t i = 0; i < count && !cli_given(c, CLI_LONG); i++) {
		if (all != NULL) {
			json_array_append_new(all, cli_json_text(names[i].bytes, names[i].length));
		} else {
			cli_print(c, names[i].bytes, names[i].length);
		}
	}
	free(names);
	return all == NULL ? status : cli_json_print(c, all, status);
}

int cli_info(cli *c)
{
	cli_name name;
	bshm_info info;
	if (!cli_filter_name(c, 0)) {
		return CLI_USAGE;
	}
	const int status = cli_attach(c, false);
	if (status != CLI_YES) {
		return status;
	}
	snprintf(name.bytes, sizeof(name.bytes), "%s", c->arguments[0]);
	name.length = strlen(name.bytes);
	bshm_error error = {.cause = BSHM_CAUSE_FILTER};
	error.status = bshm_filter_info(c->segment, c->views, name.bytes, name.length, &info);
	return error.status == BSHM_OK ? cli_json_show(c, cli_json_info(&name, &info))
								   : cli_fail(c, &error, name.bytes);
}
