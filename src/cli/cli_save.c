/*
 * cli_save.c - save: the whole segment in a folder.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_folder.h"
#include "cli/cli_json.h"
#include "cli/cli_manifest.h"
#include "cli/cli_progress.h"
#include "cli/cli_run.h"

#include "message/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
	cli *c;
	cli_folder folder;
	cli_manifest manifest;
	uint64_t bytes;
} saving;

/* The path of a file in the new folder; NULL: no memory, which was said. */
static char *path_of(const saving *s, const char *file)
{
	char *path;
	if (asprintf(&path, "%s/%s", s->folder.work, file) < 0) {
		cli_no_memory(s->c);
		return NULL;
	}
	return path;
}

/* A signal makes the engine fail, and says all. */
static int fail(
	const saving *s, const bshm_error *error, const char *name, const char *path, bool filter)
{
	return cli_signal() != 0 ? CLI_SIGNAL + cli_signal()
							 : cli_fail_file(s->c, error, name, path, filter);
}

static int measure(saving *s, cli_saved *file)
{
	const int status = cli_manifest_measure(s->c, s->folder.fd, s->folder.work, file);
	s->bytes += file->bytes;
	return status;
}

/* A "no" of such a filter is certain for so long only, which a dump does not know. Its follower has
 * it in a folder, with its time. */
static bool has_limit(const saving *s, const cli_name *name)
{
	bshm_info info;
	return bshm_filter_estimate(s->c->segment, s->c->views, name->bytes, name->length, 1, &info) ==
			   BSHM_OK &&
		   info.followed && info.max_lag_s != 0;
}

/* CLI_NO: the filter has been dropped, or is its follower's. */
static int save_filter(saving *s, const cli_name *name, cli_saved *out)
{
	bshm_error error;
	uint64_t bytes;
	if (has_limit(s, name)) {
		cli_say(s->c, CLI_NO,
			"\"%s\" was not saved: it follows another host's, and its follower publishes it again",
			cli_shown(name->bytes, name->length));
		return CLI_NO;
	}
	char *path = path_of(s, out->file);
	if (path == NULL) {
		return CLI_FAILED;
	}
	int status = CLI_YES;
	out->name = *name;
	if (bshm_filter_dump(s->c->segment, s->c->views, name->bytes, name->length, path, &bytes,
			&error) != BSHM_OK) {
		status =
			error.status == BSHM_E_NOT_FOUND ? CLI_NO : fail(s, &error, name->bytes, path, true);
	}
	free(path);
	return status == CLI_YES ? measure(s, out) : status;
}

static int save_filters(saving *s)
{
	size_t count;
	int status = CLI_YES;
	cli_manifest *m = &s->manifest;
	cli_name *names = cli_names(s->c, &count);
	if (names == NULL) {
		return CLI_FAILED;
	}
	m->filters = calloc(count + 1, sizeof(*m->filters));
	if (m->filters == NULL) {
		free(names);
		return cli_no_memory(s->c);
	}
	for (size_t i = 0; i < count && status <= CLI_NO; i++) {
		char text[64];
		snprintf(text, sizeof(text), "filter %zu of %zu", i + 1, count);
		cli_progress_say(text);
		cli_manifest_file(m->filters[m->count].file, m->count);
		status = cli_signal() != 0 ? CLI_SIGNAL + cli_signal()
								   : save_filter(s, &names[i], &m->filters[m->count]);
		m->count += status == CLI_YES;
	}
	free(names);
	return status == CLI_NO ? CLI_YES : status;
}

static int save_records(saving *s)
{
	bshm_error error;
	cli_saved *out = &s->manifest.records;
	if (!bshm_store_exists(s->c->segment)) {
		return CLI_YES;
	}
	cli_progress_say("records");
	snprintf(out->file, sizeof(out->file), "%s", CLI_RECORDS_FILE);
	char *path = path_of(s, out->file);
	if (path == NULL) {
		return CLI_FAILED;
	}
	int status = CLI_YES;
	if (bshm_store_dump(s->c->segment, path, &s->manifest.record_count, &error) != BSHM_OK) {
		status = fail(s, &error, NULL, path, false);
	}
	free(path);
	return status == CLI_YES ? measure(s, out) : status;
}

static int describe(saving *s)
{
	bshm_error error;
	bshm_stat stat;
	bshm_store_info store = {0};
	if (bshm_segment_stat(s->c->segment, &stat, &error) != BSHM_OK) {
		return cli_fail(s->c, &error, NULL);
	}
	bshm_store_stat(s->c->segment, &store);
	s->manifest.saved_s = cli_unix_now();
	s->manifest.filter_bytes = stat.filter_bytes;
	s->manifest.cache_bytes = store.bytes_total;
	s->manifest.cache_records = store.max_records;
	s->manifest.mode = stat.mode;
	s->manifest.layout_version = stat.layout_version;
	return CLI_YES;
}

/* Everything but its place. */
static int save_all(saving *s)
{
	int status = describe(s);
	if (status == CLI_YES) {
		status = save_filters(s);
	}
	if (status == CLI_YES) {
		status = save_records(s);
	}
	if (status == CLI_YES) {
		status = cli_published(s->c);
	}
	if (status == CLI_YES) {
		status = cli_manifest_write(s->c, s->folder.fd, s->folder.work, &s->manifest);
	}
	if (cli_signal() != 0) {
		return CLI_SIGNAL + cli_signal();
	}
	if (status == CLI_YES && fsync(s->folder.fd) != 0) {
		status = cli_say(
			s->c, CLI_FAILED, "cannot sync the folder %s: %s", s->folder.work, strerror(errno));
	}
	return status;
}

static int report(const saving *s)
{
	char size[32];
	const cli_manifest *m = &s->manifest;
	if (cli_given(s->c, CLI_JSON)) {
		return cli_json_print(s->c,
			json_pack("{s:o, s:I, s:I, s:I}", "folder",
				cli_json_text(s->c->arguments[0], strlen(s->c->arguments[0])), "filters",
				(json_int_t) m->count, "records", (json_int_t) m->record_count, "bytes",
				(json_int_t) s->bytes),
			CLI_YES);
	}
	printf("saved %zu filters and %" PRIu64 " records, %s\n", m->count, m->record_count,
		bshm_size_text(size, s->bytes));
	return CLI_YES;
}

static int save_to(saving *s)
{
	int status = cli_folder_new(s->c, s->c->arguments[0], &s->folder);
	if (status != CLI_YES) {
		return status;
	}
	status = save_all(s);
	if (status == CLI_YES) {
		status = cli_folder_publish(s->c, &s->folder);
	}
	if (status == CLI_YES) {
		cli_folder_close(&s->folder);
	} else {
		cli_folder_abort(&s->folder);
	}
	return status;
}

int cli_save(cli *c)
{
	bshm_error error;
	saving s = {.c = c};
	int status = cli_attach_or(c, false, &error);
	if (status != CLI_YES && cli_given(c, CLI_IF_EXISTS) && cli_is_absent(&error)) {
		return CLI_YES;
	}
	if (status != CLI_YES) {
		return cli_attach_fail(c, status, &error);
	}
	cli_signals_stop_writes();
	cli_progress_begin(cli_given(c, CLI_QUIET));
	status = save_to(&s);
	cli_progress_clear();
	/* From here on files are written again: a segment on a disk comes to rest. */
	if (status != CLI_YES) {
		cli_signals_end();
		return status;
	}
	cli_signals_note(); /* it is too late for them: the folder is there */
	return report(&s);
}
