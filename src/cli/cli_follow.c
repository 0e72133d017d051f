/*
 * cli_follow.c - follow: keeps filters as an origin announces them.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_followed.h"
#include "cli/cli_followed_publish.h"
#include "cli/cli_run.h"

#include "fleet/fleet_library.h"
#include "fleet/fleet_notify.h"
#include "fleet/fleet_serve.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVERY_S     5
#define EVERY_MAX_S 86400
#define LAG_MAX_S   315360000
#define SECOND_NS   UINT64_C(1000000000)
#define EXCHANGE_NS UINT64_C(100000000) /* adds travel so often */
#define PASSING_S   5                   /* what is asked in passing waits for at most so long */

typedef struct {
	cli_follower all;
	cli_followed *filters;
	cli_counts *counts; /* of each */
	size_t count;
	bool has_told;     /* it has tried to write the counts */
	bool is_told;      /* and that did not fail, the last time */
	bool is_whole;     /* this turn does all there is to do, and not only what adds need */
	uint64_t whole_ns; /* when such a turn is due */
	const char *said;  /* to systemd, last; or NULL */
	uint64_t every_s;
	fleet_server *server;
	size_t next; /* whose turn it is in passing */
} service;

/* Two would write one file, and their metrics would have one name. */
static bool is_repeated(const cli *c, int argument)
{
	const char *name = c->arguments[argument];
	for (int i = 1; i < argument; i++) {
		if (strcmp(c->arguments[i], name) == 0) {
			cli_say(c, CLI_USAGE, "\"%s\" is named twice", cli_shown(name, strlen(name)));
			return true;
		}
	}
	return false;
}

static bool read_options(const cli *c, service *s)
{
	uint64_t max_lag_s;
	if (!cli_given(c, CLI_STATE) || !cli_given(c, CLI_VERIFY_KEY)) {
		cli_say(c, CLI_USAGE, "it needs --state and --verify-key");
		return false;
	}
	if (cli_given(c, CLI_LOOK_ONCE) && (cli_given(c, CLI_SERVE) || cli_given(c, CLI_EVERY))) {
		cli_say(c, CLI_USAGE, "--once goes without --serve and --every");
		return false;
	}
	for (int i = 1; i < c->argument_count; i++) {
		if (!cli_filter_name(c, i) || is_repeated(c, i)) {
			return false;
		}
	}
	if (!cli_number(c, CLI_MAX_LAG, 0, LAG_MAX_S, 0, &max_lag_s) ||
		!cli_number(c, CLI_EVERY, 1, EVERY_MAX_S, EVERY_S, &s->every_s)) {
		return false;
	}
	s->all.max_lag_s = (uint32_t) max_lag_s;
	s->all.stream = c->values[CLI_STREAM];
	return true;
}

static bool is_stopped(void)
{
	return cli_signal() != 0;
}

/* Writes the file of metrics; says why it cannot, once. */
static bool tell_counts(service *s)
{
	fleet_error error = {""};
	const cli *c = s->all.c;
	s->has_told = true;
	const bool was_told = s->is_told;
	s->is_told = !cli_given(c, CLI_METRICS) ||
				 cli_counts_write(c->values[CLI_METRICS], s->counts, s->count, &error);
	if (was_told && !s->is_told) {
		cli_say(c, CLI_FAILED, "%s", error.text);
	}
	return s->is_told;
}

/* Everything that one look needs. */
static int begin(service *s)
{
	fleet_error error = {""};
	cli *c = s->all.c;
	s->count = (size_t) c->argument_count - 1;
	s->filters = calloc(s->count, sizeof(*s->filters));
	s->counts = calloc(s->count, sizeof(*s->counts));
	if (s->filters == NULL || s->counts == NULL) {
		return cli_no_memory(c);
	}
	for (size_t i = 0; i < s->count; i++) {
		s->counts[i].filter = c->arguments[1 + i];
		s->filters[i].counts = &s->counts[i];
	}
	if (!fleet_key_public(c->values[CLI_VERIFY_KEY], &s->all.key, &error) ||
		!fleet_folder_open_own(&s->all.state, c->values[CLI_STATE], &error) ||
		!fleet_curl_load(&error)) {
		return cli_say(c, CLI_FAILED, "%s", error.text);
	}
	const int locked = fleet_folder_lock(&s->all.state, 0, &error);
	if (locked <= 0) {
		return cli_say(
			c, CLI_FAILED, "%s", locked < 0 ? error.text : "another follower uses this --state");
	}
	s->all.fetch = fleet_link_new(c->arguments[0], c->values[CLI_CA], is_stopped, &error);
	s->all.passing = fleet_link_new(c->arguments[0], c->values[CLI_CA], is_stopped, &error);
	if (s->all.fetch == NULL || s->all.passing == NULL) {
		return cli_say(c, CLI_USAGE, "%s", error.text);
	}
	fleet_link_limit(s->all.passing, PASSING_S);
	if (strlen(fleet_link_source(s->all.fetch)) > BSHM_SOURCE_BYTES_MAX) {
		return cli_say(c, CLI_USAGE, "the URL has more than %d bytes", BSHM_SOURCE_BYTES_MAX);
	}
	fleet_folder_sweep(&s->all.state, 0, NULL);
	if (cli_given(c, CLI_SERVE)) {
		s->server = fleet_serve_begin(&s->all.state, c->values[CLI_SERVE], &error);
		if (s->server == NULL) {
			return cli_say(c, CLI_FAILED, "%s", error.text);
		}
	}
	s->is_told = true;
	return tell_counts(s) ? CLI_YES : CLI_FAILED;
}

static void give_back(service *s)
{
	if (s->has_told && cli_given(s->all.c, CLI_METRICS) && !cli_given(s->all.c, CLI_LOOK_ONCE)) {
		unlink(s->all.c->values[CLI_METRICS]); /* a follower that has ended counts nothing */
	}
	for (size_t i = 0; s->filters != NULL && i < s->count; i++) {
		cli_adds_end(&s->filters[i].adds);
	}
	fleet_serve_end(s->server);
	fleet_link_free(s->all.fetch);
	fleet_link_free(s->all.passing);
	fleet_folder_close(&s->all.state);
	free(s->filters);
	free(s->counts);
}

/* If that fails, what is to be kept next fails, and says so. */
static void keep_state(service *s)
{
	fleet_error ignored = {""};
	if (fleet_folder_renew(&s->all.state, &ignored) <= 0) {
		return;
	}
	cli_say(s->all.c, CLI_FAILED, "the folder %s was removed: it is made again", s->all.state.path);
	for (size_t i = 0; i < s->count; i++) {
		cli_followed_forget(&s->filters[i]);
	}
}

/* Looks at the filter if it is due. False: that failed. */
static bool give_turn(service *s, cli_followed *f)
{
	const bool is_due = f->due_ns <= bshm_now_ns() && !(s->all.is_passing && f->is_held);
	const bool sound = is_due ? cli_followed_look(&s->all, f, s->every_s * SECOND_NS)
							  : cli_followed_exchange(&s->all, f, s->is_whole);
	if (f->adds.is_woken) {
		f->adds.is_woken = false;
		f->due_ns = bshm_now_ns();
	}
	return sound;
}

static bool look_at_due(service *s)
{
	bool sound = true;
	for (size_t i = 0; i < s->count && cli_signal() == 0; i++) {
		sound = give_turn(s, &s->filters[i]) && sound;
	}
	return sound;
}

/*
 * While an answer comes: the same in passing. After a turn that has lasted long, because a server
 * did not answer, the answer goes on; the next call begins with the filter behind that one.
 */
static void pass(void *context)
{
	service *s = context;
	const bool was_whole = s->is_whole;
	const uint64_t begun_ns = bshm_now_ns();
	s->is_whole = begun_ns >= s->whole_ns;
	s->whole_ns = s->is_whole ? begun_ns + SECOND_NS : s->whole_ns;
	s->all.is_passing = true;
	for (size_t i = 0; i < s->count && cli_signal() == 0 && bshm_now_ns() - begun_ns < EXCHANGE_NS;
		 i++) {
		give_turn(s, &s->filters[s->next]);
		s->next = (s->next + 1) % s->count;
	}
	s->all.is_passing = false;
	if (s->is_whole) {
		tell_counts(s);
	}
	s->is_whole = was_whole;
}

/* When the next filter is due. */
static uint64_t first_due(const service *s)
{
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < s->count; i++) {
		first = s->filters[i].due_ns < first ? s->filters[i].due_ns : first;
	}
	return first;
}

/* Waits for the filter that is due first, or for the next exchange of adds. */
static void wait_for_due(const service *s)
{
	uint64_t first = first_due(s);
	const uint64_t now = bshm_now_ns();
	if (s->all.stream != NULL && first > now + EXCHANGE_NS) {
		first = now + EXCHANGE_NS;
	}
	if (first > now) {
		cli_nap(first - now);
	}
}

/* A filter whose random wait has begun is looked at again. */
static int look_once(service *s)
{
	bool sound = true;
	for (size_t i = 0; i < s->count; i++) {
		cli_followed *f = &s->filters[i];
		do {
			const uint64_t now = bshm_now_ns();
			if (f->wait_ns > now && !cli_nap(f->wait_ns - now)) {
				return CLI_SIGNAL + cli_signal();
			}
			sound = cli_followed_look(&s->all, f, SECOND_NS) && sound;
		} while (f->due_ns == f->wait_ns);
	}
	return cli_signal() != 0 ? CLI_SIGNAL + cli_signal() : sound ? CLI_YES : CLI_FAILED;
}

static void tell_systemd(service *s, bool sound)
{
	const char *text =
		sound ? "STATUS=all filters are followed" : "STATUS=a filter cannot be followed";
	if (text != s->said) {
		fleet_notify(text);
		s->said = text;
	}
}

/*
 * Ten turns a second are for adds. What asks the kernel, or a server, is for those in which a
 * filter is due, and for one a second.
 */
static void take_turn(service *s)
{
	const uint64_t now = bshm_now_ns();
	s->is_whole = now >= s->whole_ns || now >= first_due(s);
	if (s->is_whole) {
		s->whole_ns = now + SECOND_NS;
		keep_state(s);
	}
	tell_systemd(s, look_at_due(s));
	if (s->is_whole) {
		tell_counts(s);
	}
}

static int follow(service *s)
{
	cli_signals_note();
	for (size_t i = 0; i < s->count; i++) {
		cli_followed_begin(&s->all, &s->filters[i], s->all.c->arguments[1 + i]);
	}
	fleet_link_meanwhile(s->all.fetch, pass, s);
	if (cli_given(s->all.c, CLI_LOOK_ONCE)) {
		const int status = look_once(s);
		return tell_counts(s) || status != CLI_YES ? status : CLI_FAILED;
	}
	fleet_notify("READY=1"); /* what was kept is published: pages need not wait for the origin */
	while (cli_signal() == 0) {
		take_turn(s);
		wait_for_due(s);
	}
	fleet_notify("STOPPING=1");
	return CLI_YES;
}

int cli_follow(cli *c)
{
	service s = {.all = {.c = c}};
	if (!read_options(c, &s)) {
		return CLI_USAGE;
	}
	signal(SIGPIPE, SIG_IGN); /* of a connection that ends */
	signal(SIGXFSZ, SIG_IGN); /* a file that is too long is a failure like others */
	int status = cli_become(c);
	if (status == CLI_YES) {
		status = begin(&s);
	}
	if (status == CLI_YES) {
		status = cli_attach(c, true);
	}
	if (status == CLI_YES) {
		status = follow(&s);
	}
	give_back(&s);
	return status;
}
