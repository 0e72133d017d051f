/*
 * cli_change.c - add, remove, count: the keys of one filter.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_filter_args.h"
#include "cli/cli_json.h"
#include "cli/cli_keys.h"
#include "cli/cli_run.h"

#include <string.h>

/* Attempts to make a filter and to add to it before another process drops it. */
#define CREATE_TRIES 10000
/* A filter that is being cleared tells no counts. */
#define CLEAR_NS UINT64_C(1000000000)
#define NAP_US   1000

typedef struct {
	cli *c;
	const char *filter;
	size_t filter_length;
	bshm_parameters parameters; /* add --create */
	json_t *list;               /* count --json */
	uint64_t keys;
	uint64_t found; /* of them: new ones, removed ones, ones that have a count */
} change;

static int fail(const change *ch, bshm_status status, bshm_cause cause)
{
	const bshm_error error = {.status = status, .cause = cause};
	return cli_fail(ch->c, &error, ch->filter);
}

/* Attaches, and looks for the filter: one that is not there is an error, also without keys. */
static int begin(change *ch, bool create)
{
	bshm_view *view;
	cli *c = ch->c;
	const int status = cli_attach(c, create);
	if (status != CLI_YES) {
		return status;
	}
	ch->filter = c->arguments[0];
	ch->filter_length = strlen(ch->filter);
	const bshm_status found =
		bshm_view_open(c->segment, c->views, ch->filter, ch->filter_length, &view);
	return found == BSHM_OK || found == BSHM_E_BUSY || (create && found == BSHM_E_NOT_FOUND)
			   ? CLI_YES
			   : fail(ch, found, BSHM_CAUSE_FILTER);
}

/* Keys may come from a pipe for hours; a change of a segment that is no longer there is lost. */
static int check_path(const change *ch, int status)
{
	return status != CLI_YES || bshm_segment_at_path(ch->c->segment)
			   ? status
			   : fail(ch, BSHM_E_UNAVAILABLE, BSHM_CAUSE_REPLACED);
}

/* Prints how many keys there were, also before one that failed. */
static int finish(const change *ch, int status, const char *what)
{
	if (status != CLI_YES && ch->keys == 0) {
		return status;
	}
	if (cli_given(ch->c, CLI_JSON)) {
		json_t *out =
			json_pack("{s:o, s:I, s:I}", "filter", cli_json_text(ch->filter, ch->filter_length),
				"keys", (json_int_t) ch->keys, what, (json_int_t) ch->found);
		return cli_json_print(ch->c, out, status);
	}
	printf("%llu\n", (unsigned long long) ch->found);
	return status;
}

/* ------------------------------------------------------------------ add */

/* Makes the filter if there is none; another process may do it first. A damaged filter stays. */
static int make(const change *ch)
{
	bshm_view *view;
	bshm_error error;
	cli *c = ch->c;
	if (bshm_view_open(c->segment, c->views, ch->filter, ch->filter_length, &view) !=
		BSHM_E_NOT_FOUND) {
		return CLI_YES;
	}
	const int made =
		bshm_filter_reserve(c->segment, ch->filter, ch->filter_length, &ch->parameters, &error);
	return made < 0 && made != BSHM_E_EXISTS ? cli_fail(c, &error, ch->filter) : CLI_YES;
}

static int add_batch(void *context, const bshm_key *keys, unsigned count)
{
	change *ch = context;
	cli *c = ch->c;
	const bool create = cli_given(c, CLI_CREATE);
	bshm_error error;
	uint64_t added = 0;
	bshm_status status;
	unsigned tries = 0;
	do { /* another process may drop the filter between the two steps */
		const int made = create ? make(ch) : CLI_YES;
		if (made != CLI_YES) {
			return made;
		}
		status = bshm_filter_add_many(
			c->segment, c->views, ch->filter, ch->filter_length, keys, count, NULL, &added, &error);
	} while (create && status == BSHM_E_NOT_FOUND && ++tries < CREATE_TRIES);
	if (status != BSHM_OK) {
		return cli_fail(c, &error, ch->filter);
	}
	ch->keys += count;
	ch->found += added;
	return CLI_YES;
}

int cli_add(cli *c)
{
	change ch = {.c = c};
	const bool create = cli_given(c, CLI_CREATE);
	const uint64_t others =
		CLI_PARAMETERS | CLI_WITH(CAPACITY_NEEDED) | CLI_WITH(WINDOW) | CLI_CREATES;
	if (!cli_filter_name(c, 0) || (!create && !cli_without(c, others, CLI_CREATE)) ||
		(create && !cli_filter_parameters(c, CLI_CAPACITY_NEEDED, &ch.parameters))) {
		return CLI_USAGE;
	}
	int status = begin(&ch, create);
	if (status == CLI_YES && create) {
		status = make(&ch);
	}
	if (status == CLI_YES) {
		status = cli_each_batch(c, 1, add_batch, &ch);
	}
	return finish(&ch, check_path(&ch, status), "added");
}

/* ------------------------------------------------------------------ remove, count */

static int remove_batch(void *context, const bshm_key *keys, unsigned count)
{
	change *ch = context;
	cli *c = ch->c;
	bshm_error error;
	for (unsigned i = 0; i < count; i++) {
		const int removed = bshm_filter_remove(c->segment, c->views, ch->filter, ch->filter_length,
			keys[i].bytes, keys[i].length, &error);
		if (removed < 0) {
			return cli_fail(c, &error, ch->filter);
		}
		ch->keys++;
		ch->found += (uint64_t) removed;
	}
	return CLI_YES;
}

int cli_remove(cli *c)
{
	change ch = {.c = c};
	if (!cli_filter_name(c, 0)) {
		return CLI_USAGE;
	}
	int status = begin(&ch, false);
	if (status == CLI_YES) {
		status = cli_each_batch(c, 1, remove_batch, &ch);
	}
	status = finish(&ch, check_path(&ch, status), "removed");
	return status == CLI_YES && ch.found == 0 ? CLI_NO : status;
}

static int count_of(const change *ch, const bshm_key *key)
{
	const uint64_t start = bshm_now_ns();
	int count;
	while ((count = bshm_filter_count(ch->c->segment, ch->c->views, ch->filter, ch->filter_length,
				key->bytes, key->length)) == BSHM_E_BUSY &&
		   bshm_now_ns() - start < CLEAR_NS) {
		bshm_sleep_us(NAP_US);
	}
	return count;
}

static int count_batch(void *context, const bshm_key *keys, unsigned count)
{
	change *ch = context;
	for (unsigned i = 0; i < count; i++) {
		const int times = count_of(ch, &keys[i]);
		if (times < 0) {
			return fail(
				ch, times, times == BSHM_E_INCOMPATIBLE ? BSHM_CAUSE_COUNTING : BSHM_CAUSE_FILTER);
		}
		ch->keys++;
		ch->found += times != 0;
		if (ch->list != NULL) {
			json_array_append_new(
				ch->list, json_pack("{s:o, s:i}", "key",
							  cli_json_text(keys[i].bytes, keys[i].length), "count", times));
		} else {
			printf("%d ", times);
			cli_print(ch->c, keys[i].bytes, keys[i].length);
		}
	}
	return CLI_YES;
}

int cli_count(cli *c)
{
	change ch = {.c = c, .list = cli_given(c, CLI_JSON) ? json_array() : NULL};
	if (!cli_filter_name(c, 0)) {
		return CLI_USAGE;
	}
	int status = begin(&ch, false);
	if (status == CLI_YES) {
		status = cli_each_batch(c, 1, count_batch, &ch);
	}
	if (status == CLI_YES && ch.list != NULL) {
		json_t *out = json_pack(
			"{s:o, s:O}", "filter", cli_json_text(ch.filter, ch.filter_length), "counts", ch.list);
		status = cli_json_print(c, out, status);
	}
	json_decref(ch.list);
	return status == CLI_YES && ch.found == 0 ? CLI_NO : status;
}
