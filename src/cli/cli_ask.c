/*
 * cli_ask.c - has: the keys that are maybe in a filter, or those that are certainly not.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_json.h"
#include "cli/cli_keys.h"
#include "cli/cli_run.h"

#include <string.h>

typedef struct {
	cli *c;
	const char *filter;
	size_t filter_length;
	json_t *list; /* of the keys to print; NULL: they are printed */
	uint64_t asked;
	uint64_t found; /* keys to print, or to count */
} question;

static int fail(const question *q, bshm_status status)
{
	const bshm_error error = {.status = status, .cause = BSHM_CAUSE_FILTER};
	return cli_fail(q->c, &error, q->filter);
}

/* Asks the filter, and again if it was replaced meanwhile. */
static bshm_status ask(const question *q, const bshm_key *keys, unsigned count, bool *answers)
{
	bshm_view *view;
	bshm_status status;
	do {
		status = bshm_view_open(q->c->segment, q->c->views, q->filter, q->filter_length, &view);
		if (status == BSHM_OK) {
			bshm_view_has(view, keys, count, answers);
		}
	} while (status == BSHM_OK && !bshm_view_current(view));
	unsigned maybes = 0;
	for (unsigned i = 0; status == BSHM_OK && i < count; i++) {
		maybes += answers[i];
	}
	if (status == BSHM_OK) {
		bshm_view_answered(view, count, maybes);
	}
	return status;
}

static void report(question *q, const bshm_key *key)
{
	q->found++;
	if (q->list != NULL) {
		json_array_append_new(q->list, cli_json_text(key->bytes, key->length));
	} else if (!cli_given(q->c, CLI_SILENT) && !cli_given(q->c, CLI_COUNT)) {
		cli_print(q->c, key->bytes, key->length);
	}
}

/* With --quiet the first key that would be printed ends it: CLI_NO. */
static int ask_batch(void *context, const bshm_key *keys, unsigned count)
{
	question *q = context;
	bool answers[BSHM_BATCH];
	const bool wanted = !cli_given(q->c, CLI_INVERT);
	const bshm_status status = ask(q, keys, count, answers);
	if (status != BSHM_OK) {
		return fail(q, status);
	}
	q->asked += count;
	for (unsigned i = 0; i < count; i++) {
		if (answers[i] == wanted) {
			report(q, &keys[i]);
		}
	}
	return q->found != 0 && cli_given(q->c, CLI_SILENT) ? CLI_NO : CLI_YES;
}

static void print_counts(const question *q)
{
	if (q->list == NULL) {
		printf("%llu\n", (unsigned long long) q->found);
		return;
	}
	const char *name = cli_given(q->c, CLI_INVERT) ? "absent" : "maybe";
	json_t *out = json_pack("{s:o, s:I, s:I}", "filter", cli_json_text(q->filter, q->filter_length),
		"asked", (json_int_t) q->asked, "count", (json_int_t) q->found);
	if (!cli_given(q->c, CLI_COUNT)) {
		json_object_set(out, name, q->list);
	}
	cli_json_print(q->c, out, CLI_YES);
}

int cli_has(cli *c)
{
	if (!cli_filter_name(c, 0)) {
		return CLI_USAGE;
	}
	int status = cli_attach(c, false);
	if (status != CLI_YES) {
		return status;
	}
	const bool json = cli_given(c, CLI_JSON) && !cli_given(c, CLI_SILENT);
	question q = {.c = c,
		.filter = c->arguments[0],
		.filter_length = strlen(c->arguments[0]),
		.list = json ? json_array() : NULL};
	bshm_view *view; /* a filter that is not there is an error, also without keys */
	const bshm_status found =
		bshm_view_open(c->segment, c->views, q.filter, q.filter_length, &view);
	if (found != BSHM_OK) {
		return fail(&q, found);
	}
	status = cli_each_batch(c, 1, ask_batch, &q);
	if (status == CLI_FAILED) {
		return status;
	}
	if (json || (cli_given(c, CLI_COUNT) && !cli_given(c, CLI_SILENT))) {
		print_counts(&q);
	}
	return q.found != 0 ? CLI_YES : CLI_NO;
}
