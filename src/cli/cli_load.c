/*
 * cli_load.c - load: a filter of all the keys in some files.
 *
 * A signal ends the load before it publishes: the build is aborted, and the filter from before
 * stays. The engine does not return from its last step, which takes a second for 10 million keys,
 * before it is done; so a signal then ends the process, unless the filter is published already. The
 * next process takes the memory back.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_announce.h"
#include "cli/cli_filter_args.h"
#include "cli/cli_json.h"
#include "cli/cli_keys.h"
#include "cli/cli_progress.h"
#include "cli/cli_run.h"

#include "message/message.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
	cli *c;
	const char *filter;
	bshm_parameters parameters;
	double max_error_rate;
	char delimiter;
	bshm_build *build;
	uint64_t size; /* of all files; 0: not known */
	uint64_t done; /* of them, before the current one */
	bool is_piped; /* none of them is on a disk */
} load;

/* ------------------------------------------------------------------ arguments */

static bool read_delimiter(load *l)
{
	const char *given = l->c->values[CLI_DELIMITER];
	l->delimiter = '\n';
	if (cli_given(l->c, CLI_NUL)) {
		l->delimiter = '\0';
		if (given != NULL) {
			cli_say(l->c, CLI_USAGE, "--null and --delimiter exclude each other");
		}
		return given == NULL;
	}
	if (given != NULL && strlen(given) != 1) {
		cli_say(l->c, CLI_USAGE, "--delimiter must be one byte, \"%s\" given", given);
		return false;
	}
	l->delimiter = given == NULL ? '\n' : given[0];
	return true;
}

/* With --like: which parameters are given, and so must be those of the filter. */
static bool read_like(load *l)
{
	const cli *c = l->c;
	l->parameters.like = cli_given(c, CLI_LIKE);
	l->parameters.named = (cli_given(c, CLI_ERROR_RATE) ? BSHM_NAMED_ERROR_RATE : 0) |
						  (cli_given(c, CLI_EXPANSION) ? BSHM_NAMED_EXPANSION : 0) |
						  (cli_given(c, CLI_COUNTING) ? BSHM_NAMED_COUNTING : 0);
	if (l->parameters.like && l->parameters.seed != NULL) {
		cli_say(c, CLI_USAGE, "--like and --seed exclude each other");
		return false;
	}
	return true;
}

/* Adds the size of a file. False: it is not there. */
static bool look_at(load *l, const char *path, bool *known)
{
	struct stat st;
	const bool standard = strcmp(path, "-") == 0;
	if (standard ? fstat(STDIN_FILENO, &st) != 0
				 : stat(path, &st) != 0 || euidaccess(path, R_OK) != 0) {
		cli_say(l->c, CLI_FAILED, "cannot read %s: %s", standard ? "the standard input" : path,
			strerror(errno));
		return false;
	}
	*known = *known && S_ISREG(st.st_mode);
	l->is_piped = l->is_piped && !S_ISREG(st.st_mode);
	l->size += (uint64_t) st.st_size;
	return true;
}

/* The size of all files. A missing file is said before others are read for minutes. */
static bool look_at_files(load *l)
{
	bool known = true;
	l->is_piped = true;
	bool sound = l->c->argument_count > 1 || look_at(l, "-", &known);
	for (int i = 1; i < l->c->argument_count && sound; i++) {
		sound = look_at(l, l->c->arguments[i], &known);
	}
	l->size = known ? l->size : 0;
	return sound;
}

/* ------------------------------------------------------------------ keys */

static int interrupted(const load *l)
{
	return cli_say(l->c, CLI_SIGNAL + cli_signal(), "%s after %llu keys; nothing was published",
		strsignal(cli_signal()), (unsigned long long) bshm_build_offered(l->build));
}

static int offer(load *l, const bshm_key *keys, int count)
{
	bshm_error error;
	for (int i = 0; i < count; i++) {
		if (bshm_build_key(l->build, keys[i].bytes, keys[i].length, &error) != BSHM_OK) {
			return cli_signal() != 0 ? interrupted(l) : cli_fail(l->c, &error, l->filter);
		}
	}
	return cli_signal() != 0 ? interrupted(l) : CLI_YES;
}

static int offer_file(load *l, const char *path)
{
	bshm_key keys[BSHM_BATCH];
	uint64_t size;
	int status = CLI_YES;
	int count = 0;
	cli_file *file = cli_file_open(l->c, path);
	if (file == NULL) {
		return CLI_FAILED;
	}
	while (status == CLI_YES && (count = cli_file_keys(file, l->delimiter, keys)) > 0) {
		status = offer(l, keys, count);
		cli_progress_show("reading", bshm_build_offered(l->build),
			l->done + cli_file_position(file, &size), l->size);
	}
	l->done += cli_file_position(file, &size);
	cli_file_close(file);
	if (count < 0) {
		return cli_signal() != 0 ? interrupted(l) : CLI_FAILED;
	}
	return status;
}

static int offer_all(load *l)
{
	if (l->c->argument_count == 1) {
		return offer_file(l, "-");
	}
	int status = CLI_YES;
	for (int i = 1; i < l->c->argument_count && status == CLI_YES; i++) {
		status = offer_file(l, l->c->arguments[i]);
	}
	return status;
}

/* ------------------------------------------------------------------ publish */

/* For a signal handler. */
static struct {
	bshm_segment *segment;
	const char *filter;
	const bshm_view *before; /* NULL: there was no such filter */
} publication;

/* Is the filter the one from before? Takes no lock, and no memory. */
static bool is_unpublished(void)
{
	char name[BSHM_NAME_BYTES_MAX + 1];
	uint32_t cursor = 0;
	if (publication.before != NULL) {
		return bshm_view_current(publication.before);
	}
	do {
		if (bshm_filter_next(publication.segment, &cursor, name) != 0 &&
			strcmp(name, publication.filter) == 0) {
			return false;
		}
	} while (cursor != 0);
	return true;
}

/* From now on a signal ends the process, unless the filter has just been published. */
static void let_signals_end(const load *l)
{
	cli *c = l->c;
	bshm_view *view;
	const bshm_status found =
		bshm_view_open(c->segment, c->views, l->filter, strlen(l->filter), &view);
	publication.segment = c->segment;
	publication.filter = l->filter;
	publication.before = found == BSHM_OK ? view : NULL;
	cli_signals_exit("bloomshm load: interrupted; nothing was published\n", is_unpublished);
}

/* Ends the build. */
static int publish(load *l, bshm_info *info)
{
	bshm_error error;
	const uint64_t offered = bshm_build_offered(l->build);
	if (offered == 0 && !cli_given(l->c, CLI_ALLOW_EMPTY)) {
		bshm_build_abort(l->build);
		return cli_say(l->c, CLI_FAILED,
			"no key was offered for filter \"%s\"; nothing was published (--allow-empty publishes "
			"an empty filter)",
			l->filter);
	}
	cli_progress_say("making the filter");
	let_signals_end(l);
	if (cli_signal() != 0) { /* it came before that */
		const int status = interrupted(l);
		bshm_build_abort(l->build);
		return status;
	}
	const bshm_status status = bshm_build_publish(l->build, l->max_error_rate, info, &error);
	cli_signals_note(); /* it is too late for them */
	return status == BSHM_OK ? cli_published(l->c) : cli_fail(l->c, &error, l->filter);
}

static int announce(const load *l, const bshm_info *info, json_t **figures)
{
	fflush(stdout); /* what is done is told, whatever comes */
	return cli_given(l->c, CLI_PUBLISH) ? cli_announce(l->c, info->published_s, figures) : CLI_YES;
}

/* One line for the mail of a cron job; all figures as JSON. Then the filter is announced. */
static int report(const load *l, uint64_t offered, double seconds, const bshm_info *info)
{
	json_t *announced = NULL;
	cli_name name = {.length = strlen(l->filter)};
	memcpy(name.bytes, l->filter, name.length + 1);
	if (!cli_given(l->c, CLI_JSON)) {
		char size[32];
		char rate[16];
		printf("%s: %llu keys in %s, %s of absent keys get \"maybe\", %.2f s\n",
			cli_shown(name.bytes, name.length), (unsigned long long) offered,
			bshm_size_text(size, info->bytes), cli_percent_text(rate, info->estimated_error_rate),
			seconds);
		return announce(l, info, &announced);
	}
	json_t *figures = cli_json_info(&name, info);
	json_object_set_new(figures, "keys", json_integer((json_int_t) offered));
	json_object_set_new(figures, "seconds", json_real(seconds));
	const int status = announce(l, info, &announced);
	if (announced != NULL) {
		json_object_set_new(figures, "announced", announced);
	}
	return cli_json_print(l->c, figures, status);
}

static int run(load *l)
{
	const uint64_t start = bshm_now_ns();
	bshm_error error;
	bshm_info info = {0};
	cli_signals_note();
	cli_progress_begin(cli_given(l->c, CLI_QUIET));
	if (bshm_build_begin(l->c->segment, l->filter, strlen(l->filter), &l->parameters, &l->build,
			&error) != BSHM_OK) {
		return cli_fail(l->c, &error, l->filter);
	}
	int status = offer_all(l);
	if (status != CLI_YES) {
		bshm_build_abort(l->build);
		return status;
	}
	const uint64_t offered = bshm_build_offered(l->build);
	status = publish(l, &info);
	cli_progress_clear();
	if (status != CLI_YES) {
		return status;
	}
	return report(l, offered, (double) (bshm_now_ns() - start) / 1e9, &info);
}

int cli_load(cli *c)
{
	load l = {.c = c, .filter = c->arguments[0]};
	if (!cli_filter_name(c, 0) || !cli_filter_parameters(c, CLI_CAPACITY, &l.parameters) ||
		!cli_rate(c, CLI_MAX_ERROR_RATE, 1, 0, &l.max_error_rate) || !read_like(&l) ||
		!read_delimiter(&l) ||
		(!cli_given(c, CLI_PUBLISH) && !cli_without(c, CLI_ANNOUNCES, CLI_PUBLISH))) {
		return CLI_USAGE;
	}
	int status = cli_become(c);
	if (status == CLI_YES && !look_at_files(&l)) {
		status = CLI_FAILED;
	}
	if (status == CLI_YES && cli_given(c, CLI_PUBLISH)) {
		status = cli_announce_begin(c, l.is_piped);
	}
	if (status == CLI_YES) { /* what fails before makes no segment */
		status = cli_attach(c, true);
	}
	return status == CLI_YES ? run(&l) : status;
}
