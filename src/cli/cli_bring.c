/*
 * cli_bring.c - bring: what a folder holds, into a segment.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_folder.h"
#include "cli/cli_json.h"
#include "cli/cli_manifest.h"
#include "cli/cli_progress.h"
#include "cli/cli_run.h"

#include "message/message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	cli *c;
	cli_folder folder;
	cli_manifest manifest;
	bool created;
	json_t *filters; /* what was brought; NULL: it is printed */
	uint64_t replaced;
	uint64_t records;
} bringing;

/* ------------------------------------------------------------------ room */

static uint64_t partitions_of(uint64_t file_bytes)
{
	return file_bytes / BSHM_FILTER_UNIT_BYTES; /* all else in the file is less than one */
}

static int refuse_room(const bringing *b, uint64_t needed, uint64_t available)
{
	char need[32];
	char have[32];
	return cli_say(b->c, CLI_FAILED,
		"the filters need %s at once, and %s are free for them; nothing was changed; "
		"--filter-memory sets it, for a new segment",
		bshm_size_text(need, needed * BSHM_FILTER_UNIT_BYTES),
		bshm_size_text(have, available * BSHM_FILTER_UNIT_BYTES));
}

/* Would they fit into a new segment? */
static int check_new(const bringing *b)
{
	uint64_t size;
	uint64_t needed = 0;
	if (!cli_size(
			b->c, CLI_FILTER_MEMORY, BSHM_FILTER_BYTES_MIN, BSHM_FILTER_BYTES_MAX, 0, &size)) {
		return CLI_USAGE;
	}
	for (size_t i = 0; i < b->manifest.count; i++) {
		needed += partitions_of(b->manifest.filters[i].bytes);
	}
	const uint64_t available = size / BSHM_FILTER_UNIT_BYTES;
	return needed <= available ? CLI_YES : refuse_room(b, needed, available);
}

/* A filter and the one that it replaces must fit at once. */
static int check_room(const bringing *b)
{
	bshm_error error;
	bshm_stat stat;
	if (bshm_segment_stat(b->c->segment, &stat, &error) != BSHM_OK) {
		return cli_fail(b->c, &error, NULL);
	}
	const uint64_t available = stat.filter_bytes_free / BSHM_FILTER_UNIT_BYTES;
	uint64_t used = 0;
	uint64_t freed = 0;
	for (size_t i = 0; i < b->manifest.count; i++) {
		const cli_saved *filter = &b->manifest.filters[i];
		bshm_info info;
		used += partitions_of(filter->bytes);
		if (used > available + freed) {
			return refuse_room(b, used - freed, available);
		}
		if (bshm_filter_estimate(b->c->segment, b->c->views, filter->name.bytes,
				filter->name.length, 1, &info) == BSHM_OK) {
			freed += info.bytes / BSHM_FILTER_UNIT_BYTES;
		}
	}
	return CLI_YES;
}

/* ------------------------------------------------------------------ the segment */

/* The sizes and the mode of the saved segment, where no option says others. */
static void take_sizes(bringing *b)
{
	static char texts[4][24];
	const struct {
		cli_option_id id;
		const char *format;
		uint64_t value;
	} options[] = {{CLI_FILTER_MEMORY, "%" PRIu64, b->manifest.filter_bytes},
		{CLI_CACHE_MEMORY, "%" PRIu64, b->manifest.cache_bytes},
		{CLI_CACHE_RECORDS, "%" PRIu64, b->manifest.cache_records},
		{CLI_MODE, "%" PRIo64, b->manifest.mode}};
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!cli_given(b->c, options[i].id)) {
			snprintf(texts[i], sizeof(texts[i]), options[i].format, options[i].value);
			b->c->values[options[i].id] = texts[i];
		}
	}
}

static int create(bringing *b)
{
	take_sizes(b);
	b->created = true;
	const int status = check_new(b);
	return status == CLI_YES ? cli_attach(b->c, true) : status;
}

/* ------------------------------------------------------------------ bringing */

static void tell_filter(bringing *b, const cli_saved *filter, bool replaced)
{
	char size[32];
	b->replaced += replaced;
	if (b->filters != NULL) {
		json_array_append_new(
			b->filters, json_pack("{s:o, s:b, s:I}", "name",
							cli_json_text(filter->name.bytes, filter->name.length), "replaced",
							replaced, "bytes", (json_int_t) filter->bytes));
		return;
	}
	printf("filter   %9s  %s%s\n", bshm_size_text(size, filter->bytes),
		cli_shown(filter->name.bytes, filter->name.length),
		replaced ? " (replaced the one that was there)" : "");
}

/* The folder may get another name meanwhile: its files are reached through its descriptor. */
static int bring_file(bringing *b, const cli_saved *file, bool filter)
{
	char path[64];
	bshm_error error;
	const cli_name *name = &file->name;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", b->folder.fd, file->file);
	const bshm_status status =
		filter ? bshm_filter_restore(b->c->segment, name->bytes, name->length, path, &error)
			   : bshm_store_restore(b->c->segment, path, &b->records, &error);
	if (status == BSHM_OK) {
		return CLI_YES;
	}
	char *shown;
	if (asprintf(&shown, "%s/%s", b->folder.path, file->file) < 0) {
		return cli_no_memory(b->c);
	}
	cli_fail_file(b->c, &error, filter ? name->bytes : NULL, shown, filter);
	free(shown);
	return CLI_FAILED;
}

static int bring_all(bringing *b)
{
	const cli_manifest *m = &b->manifest;
	int status = CLI_YES;
	for (size_t i = 0; i < m->count && status == CLI_YES; i++) {
		char text[64];
		const cli_name *name = &m->filters[i].name;
		const bool replaced =
			bshm_filter_ready(b->c->segment, b->c->views, name->bytes, name->length) == 1;
		snprintf(text, sizeof(text), "filter %zu of %zu", i + 1, m->count);
		cli_progress_say(text);
		status = bring_file(b, &m->filters[i], true);
		cli_progress_clear();
		if (status == CLI_YES) {
			tell_filter(b, &m->filters[i], replaced);
		}
	}
	if (status == CLI_YES && *m->records.file != '\0' && bshm_store_exists(b->c->segment)) {
		status = bring_file(b, &m->records, false);
	}
	return status == CLI_YES ? cli_published(b->c) : status;
}

static int report(const bringing *b)
{
	if (b->filters != NULL) {
		return cli_json_print(b->c,
			json_pack("{s:o, s:f, s:b, s:O, s:I, s:I}", "folder",
				cli_json_text(b->folder.path, strlen(b->folder.path)), "saved_at",
				b->manifest.saved_s, "created", b->created, "filters", b->filters, "records",
				(json_int_t) b->records, "records_saved", (json_int_t) b->manifest.record_count),
			CLI_YES);
	}
	printf("brought %zu filters and %" PRIu64 " of %" PRIu64 " records%s\n", b->manifest.count,
		b->records, b->manifest.record_count,
		bshm_store_exists(b->c->segment) ? "" : " (the segment has no record store)");
	return CLI_YES;
}

/* At boot a segment that has filters already is newer than the folder. */
static bool is_newer(const bringing *b)
{
	uint32_t cursor = 0;
	char name[BSHM_NAME_BYTES_MAX + 1];
	return cli_given(b->c, CLI_BOOT) && b->c->segment != NULL &&
		   bshm_filter_next(b->c->segment, &cursor, name) != 0;
}

static int bring(bringing *b)
{
	int status = cli_manifest_read(b->c, b->folder.fd, b->folder.path, &b->manifest);
	if (status == CLI_YES && b->c->segment == NULL) {
		status = create(b);
	}
	if (status == CLI_YES) {
		status = check_room(b);
	}
	if (status == CLI_YES) {
		status = bring_all(b);
	}
	return status == CLI_YES ? report(b) : status;
}

int cli_bring(cli *c)
{
	bshm_error error;
	bringing b = {.c = c, .filters = cli_given(c, CLI_JSON) ? json_array() : NULL};
	int status = cli_attach_or(c, false, &error);
	if (status != CLI_YES && !cli_is_absent(&error)) {
		return cli_attach_fail(c, status, &error);
	}
	status = cli_folder_open(c, c->arguments[0], &b.folder);
	if (status == CLI_NO) {
		cli_folder_close(&b.folder);
		return cli_given(c, CLI_BOOT)
				   ? CLI_YES
				   : cli_say(c, CLI_FAILED, "there is no folder %s", c->arguments[0]);
	}
	cli_progress_begin(cli_given(c, CLI_QUIET));
	if (status == CLI_YES && is_newer(&b)) {
		cli_say(c, CLI_YES, "the segment has filters, which are newer: nothing was brought");
	} else if (status == CLI_YES) {
		status = bring(&b);
	}
	if (status == CLI_YES && cli_given(c, CLI_BOOT)) {
		status = cli_folder_remove(c, &b.folder);
	}
	cli_folder_close(&b.folder);
	json_decref(b.filters);
	free(b.manifest.filters);
	return status;
}
