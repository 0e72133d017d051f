/*
 * cli_store.c - cache scan, info, clear, dump, restore: the record store as a whole.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_run.h"
#include "cli/cli_stream.h"
#include "cli/cli_value.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------ scan */

typedef struct {
	const cli *c;
	bshm_key prefix;
	uint64_t limit;
	uint64_t count;
	bool json;
} walk;

static bool is_number(bshm_value_type type)
{
	return type == BSHM_VALUE_INT || type == BSHM_VALUE_FLOAT;
}

static void print_json(walk *w, const bshm_key *key, const cli_value *value, uint64_t bytes)
{
	json_t *record = json_pack("{s:o, s:s, s:I}", "key", cli_json_text(key->bytes, key->length),
		"type", cli_type_name(value->type), "size", (json_int_t) bytes);
	if (value->type < BSHM_VALUE_STRING) {
		cli_value_json(record, value);
	}
	fputs(w->count == 0 ? "" : ",\n", stdout);
	json_dumpf(record, stdout, JSON_REAL_PRECISION(17));
	json_decref(record);
}

/* Its type, its size in bytes, or the value if it is a number, a bool or null, and the key. */
static void print_line(const cli *c, const bshm_key *key, const cli_value *value, uint64_t bytes)
{
	char text[CLI_VALUE_TEXT];
	char size[CLI_VALUE_TEXT];
	const char *shown = cli_value_text(text, value);
	snprintf(size, sizeof(size), "%" PRIu64 " B", bytes);
	printf("%-8s %12s  ", cli_type_name(value->type), shown == NULL ? size : shown);
	cli_print(c, key->bytes, key->length);
}

/* The value of a number is read; of others only the type and the size are. */
static int print_record(walk *w, const bshm_key *key)
{
	bshm_found found;
	cli_value value = {.bytes = NULL};
	if (bshm_record_find(w->c->segment, BSHM_SPACE_CACHE, key, 0, &found) != 1) {
		return CLI_YES; /* it is gone */
	}
	value.type = found.type;
	if (is_number(found.type)) {
		const int there = cli_value_read(w->c, key, 0, &value);
		if (there <= 0) {
			cli_value_free(&value);
			return there == 0 ? CLI_YES : CLI_FAILED;
		}
	}
	if (w->json) {
		print_json(w, key, &value, found.length);
	} else if (cli_given(w->c, CLI_NUL)) {
		cli_print(w->c, key->bytes, key->length);
	} else {
		print_line(w->c, key, &value, found.length);
	}
	w->count++;
	cli_value_free(&value);
	return CLI_YES;
}

static bool is_wanted(const walk *w, const bshm_scan *scan, unsigned i)
{
	const bshm_key *key = &scan->keys[i];
	return scan->spaces[i] == BSHM_SPACE_CACHE && key->length >= w->prefix.length &&
		   memcmp(key->bytes, w->prefix.bytes, w->prefix.length) == 0;
}

static int walk_records(walk *w)
{
	bshm_scan scan = {.cursor = 0};
	int status = CLI_YES;
	do {
		if (!bshm_scan_next(w->c->segment, &scan, 0)) {
			status = cli_no_memory(w->c);
		}
		for (unsigned i = 0; status == CLI_YES && i < scan.count && w->count < w->limit; i++) {
			if (is_wanted(w, &scan, i)) {
				status = print_record(w, &scan.keys[i]);
			}
		}
	} while (status == CLI_YES && scan.cursor != 0 && w->count < w->limit);
	bshm_scan_free(&scan);
	return status;
}

/* The array is printed record by record: there may be millions. */
int cli_cache_scan(cli *c)
{
	const char *prefix = cli_given(c, CLI_PREFIX) ? c->values[CLI_PREFIX] : "";
	walk w = {.c = c, .prefix = {prefix, strlen(prefix)}, .json = cli_given(c, CLI_JSON)};
	if (!cli_number(c, CLI_LIMIT, 1, UINT64_MAX, UINT64_MAX, &w.limit)) {
		return CLI_USAGE;
	}
	int status = cli_attach_store(c, false);
	if (status != CLI_YES) {
		return status;
	}
	fputs(w.json ? "[" : "", stdout);
	status = walk_records(&w);
	fputs(w.json ? "]\n" : "", stdout);
	return status == CLI_YES && w.count == 0 ? CLI_NO : status;
}

/* ------------------------------------------------------------------ info */

int cli_cache_info(cli *c)
{
	bshm_store_info info;
	const int status = cli_attach_store(c, false);
	if (status != CLI_YES) {
		return status;
	}
	bshm_store_stat(c->segment, &info);
	return cli_json_show(c, cli_json_store(&info));
}

/* ------------------------------------------------------------------ clear */

static int print_count(const cli *c, const char *name, uint64_t count)
{
	if (cli_given(c, CLI_JSON)) {
		return cli_json_print(c, json_pack("{s:I}", name, (json_int_t) count), CLI_YES);
	}
	printf("%" PRIu64 "\n", count);
	return CLI_YES;
}

int cli_cache_clear(cli *c)
{
	bshm_store_info before;
	bshm_store_info after;
	const bool given = cli_given(c, CLI_PREFIX);
	if (given && c->argument_count != 0) {
		return cli_say(c, CLI_USAGE, "the prefix is given twice");
	}
	const char *prefix = given ? c->values[CLI_PREFIX] : c->argument_count ? c->arguments[0] : NULL;
	if (prefix != NULL && *prefix == '\0') {
		return cli_say(c, CLI_USAGE, "the prefix is empty; without one all records are removed");
	}
	const int status = cli_attach_store(c, false);
	if (status != CLI_YES) {
		return status;
	}
	const bshm_key beginning = {prefix == NULL ? "" : prefix, prefix == NULL ? 0 : strlen(prefix)};
	bshm_store_stat(c->segment, &before);
	const uint64_t removed = bshm_records_clear(c->segment, &beginning);
	bshm_store_stat(c->segment, &after);
	print_count(c, "removed", removed);
	if (after.lock_timeouts > before.lock_timeouts) {
		return cli_say(c, CLI_FAILED,
			"records may be left: another process holds a lock of the record store, which could "
			"not be taken in time");
	}
	return CLI_YES;
}

/* ------------------------------------------------------------------ files */

int cli_cache_dump(cli *c)
{
	cli_stream s;
	uint64_t count = 0;
	bshm_error error;
	int status = cli_attach_store(c, false);
	if (status != CLI_YES) {
		return status;
	}
	status = cli_stream_out(c, c->arguments[0], &s);
	if (status == CLI_YES && bshm_store_dump(c->segment, s.path, &count, &error) != BSHM_OK) {
		status = cli_stream_fail(c, &s, &error, NULL, false);
	}
	const bool piped = s.fd >= 0;
	status = cli_stream_sent(c, &s, status);
	return status == CLI_YES && !piped ? print_count(c, "records", count) : status;
}

int cli_cache_restore(cli *c)
{
	cli_stream s;
	uint64_t count = 0;
	struct stat st;
	bshm_error error;
	const char *file = c->arguments[0];
	if (strcmp(file, "-") != 0 && stat(file, &st) != 0) { /* before a segment is made for it */
		return cli_say(c, CLI_FAILED, "cannot open the file %s: %s", file, strerror(errno));
	}
	int status = cli_attach_store(c, true);
	if (status == CLI_YES) {
		status = cli_stream_in(c, file, &s);
	}
	if (status != CLI_YES) {
		return status;
	}
	if (bshm_store_restore(c->segment, s.path, &count, &error) != BSHM_OK) {
		return cli_stream_fail(c, &s, &error, NULL, false);
	}
	print_count(c, "records", count);
	return cli_published(c);
}
