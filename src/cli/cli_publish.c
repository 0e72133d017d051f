/*
 * cli_publish.c - publish: a filter for the hosts that follow it; and the keys of a fleet.
 *
 * Blobs first, the head last: until then nothing is announced, and a publisher that dies leaves
 * blobs that nobody names. It proves each delta on its own images before it names it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_announce.h"
#include "cli/cli_json.h"
#include "cli/cli_mark.h"
#include "cli/cli_progress.h"
#include "cli/cli_run.h"

#include "fleet/fleet_origin.h"
#include "fleet/fleet_put.h"
#include "message/message.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEEP          4
#define KEEP_MAX      1000
#define SHORTCUTS     3  /* of the deltas of a head, beside one of this version */
#define MAX_CHANGE    20 /* per cent */
#define RATE_FACTOR   1.5
#define PER_CENT_MOST 1000000
#define PIPE_AGE_S    60 /* rows that come through a pipe are not older, when a load begins */

typedef struct {
	cli *c;
	const char *name;
	uint64_t epoch;
	uint64_t max_change;
	uint64_t valid_s;
	uint64_t spread_s;
	uint64_t keep;
	uint64_t pin;
	fleet_entry_id adds_after; /* if it was given */
	fleet_secret_key key;
	fleet_web web; /* if it is one */
	fleet_origin origin;
	fleet_head next;
	bshm_info info;
	double published_s;    /* what is to be announced; 0: whatever is there */
	uint64_t changed_bits; /* between the last image and this one */
	bool compared;         /* they have a delta */
	unsigned made_count;   /* of the next head's deltas, its first ones: they are new blobs */
	bool is_renewed;       /* the last head is signed again */
	json_t *figures;       /* of the report, with --json */
} publication;

static int refuse(const publication *p, const fleet_error *error)
{
	return cli_signal() != 0 ? CLI_SIGNAL + cli_signal()
							 : cli_say(p->c, CLI_FAILED, "%s", error->text);
}

/* A signal makes the engine fail, and says all. */
static int fail(const publication *p, const bshm_error *error, const char *file)
{
	return cli_signal() != 0 ? CLI_SIGNAL + cli_signal()
							 : cli_fail_file(p->c, error, p->name, file, true);
}

/* ------------------------------------------------------------------ options */

static bool is_url(const cli *c)
{
	return strstr(c->values[CLI_TO], "://") != NULL;
}

/* Of an origin on a web server. */
static bool read_place(const cli *c)
{
	const bool is_sound =
		is_url(c) ? cli_given(c, CLI_STATE) : !cli_given(c, CLI_STATE) && !cli_given(c, CLI_CA);
	if (!is_sound) {
		cli_say(c, CLI_USAGE,
			is_url(c) ? "an URL needs --state" : "--state and --ca are for an URL, not a folder");
	}
	return is_sound;
}

static bool read_options(publication *p)
{
	const cli *c = p->c;
	const char *id = c->values[CLI_ADDS_AFTER];
	if (cli_given(c, CLI_MARK) ? !cli_given(c, CLI_STREAM)
							   : !cli_given(c, CLI_TO) || !cli_given(c, CLI_KEY)) {
		cli_say(c, CLI_USAGE, "it needs --to and --key, or --stream and --mark");
		return false;
	}
	if (id != NULL && !fleet_entry_id_parse(id, &p->adds_after)) {
		cli_say(c, CLI_USAGE,
			"--adds-after is what --mark prints, such as 1764000000123-0; not \"%s\"",
			cli_shown(id, strlen(id)));
		return false;
	}
	return (cli_given(c, CLI_MARK) || read_place(c)) && cli_filter_name(c, 0) &&
		   cli_number(c, CLI_EPOCH, 1, FLEET_NUMBER_MAX, 0, &p->epoch) &&
		   cli_number(c, CLI_MAX_CHANGE, 0, PER_CENT_MOST, MAX_CHANGE, &p->max_change) &&
		   cli_number(c, CLI_VALID, 0, FLEET_TIME_MAX_S / 2, 0, &p->valid_s) &&
		   cli_number(c, CLI_SPREAD, 0, FLEET_SPREAD_MAX_S, 0, &p->spread_s) &&
		   cli_number(c, CLI_KEEP, 0, KEEP_MAX, KEEP, &p->keep) &&
		   cli_number(c, CLI_PIN, 1, FLEET_NUMBER_MAX, 0, &p->pin);
}

/* ------------------------------------------------------------------ what is refused */

/* Is it still what was loaded, and checked? A place in the stream is that of one set of keys. */
static int check_same(const publication *p)
{
	bshm_info now;
	const cli *c = p->c;
	const bshm_status status =
		bshm_filter_estimate(c->segment, c->views, p->name, strlen(p->name), 1, &now);
	if (status != BSHM_OK || now.published_s != p->published_s) {
		return cli_say(c, CLI_FAILED,
			"another process has replaced \"%s\" meanwhile; nothing was announced", p->name);
	}
	return CLI_YES;
}

/* CLI_YES: the filter is fit to be announced. */
static int check_filter(publication *p)
{
	double most;
	const cli *c = p->c;
	const bshm_status status =
		bshm_filter_info(c->segment, c->views, p->name, strlen(p->name), &p->info);
	if (status != BSHM_OK) {
		return cli_fail(c, &(bshm_error){.status = status, .cause = BSHM_CAUSE_FILTER}, p->name);
	}
	if (p->published_s == 0) {
		p->published_s = p->info.published_s;
	}
	if (!cli_rate(c, CLI_MAX_RATE_NOW, 1, RATE_FACTOR * p->info.error_rate, &most)) {
		return CLI_USAGE;
	}
	if (p->info.items == 0 && !cli_given(c, CLI_ANNOUNCE_EMPTY)) {
		return cli_say(c, CLI_FAILED,
			"\"%s\" has no keys: followers would deny everything; nothing was announced "
			"(--allow-empty)",
			p->name);
	}
	if (p->info.estimated_error_rate > most) {
		return cli_say(c, CLI_FAILED,
			"the error rate of \"%s\" is %.3g, more than %.3g; nothing was announced", p->name,
			p->info.estimated_error_rate, most);
	}
	return CLI_YES;
}

/*
 * The share of the keys that have changed. Where 1 - e^-c of the bits are set, and a share f of the
 * keys was replaced by others, 2 e^-c (1 - e^-cf) of the bits have turned. A filter that only grows
 * or shrinks turns half of that, but its count says so.
 */
static double change_of(const publication *p)
{
	const fleet_head *last = &p->origin.last;
	const double counted =
		fabs((double) p->next.items - (double) last->items) / fmax(1, (double) last->items);
	if (!p->compared) {
		return counted;
	}
	const double c = -log1p(-fmin(fmax(p->info.fill, 1e-9), 0.999));
	const double turned = (double) p->changed_bits / (8 * (double) p->next.image_bytes);
	return fmax(counted, fmin(-log1p(-fmin(turned * exp(c) / 2, 0.9999)) / c, 1));
}

static int check_change(const publication *p)
{
	const double change = 100 * change_of(p);
	if (change <= (double) p->max_change) {
		return CLI_YES;
	}
	return cli_say(p->c, CLI_FAILED,
		"about %.0f %% of the keys of \"%s\" have changed since version %" PRIu64
		", more than --max-change %" PRIu64 "; nothing was announced",
		change, p->name, p->origin.last.version, p->max_change);
}

/* ------------------------------------------------------------------ blobs */

/* The dump of the filter becomes the image. */
static int write_image(publication *p)
{
	bshm_error error;
	fleet_error why = {""};
	uint64_t bytes;
	cli_progress_say("image");
	char *part = fleet_folder_part(&p->origin.folder, &why);
	if (part == NULL) {
		return refuse(p, &why);
	}
	int status = CLI_YES;
	if (bshm_filter_dump(p->c->segment, p->c->views, p->name, strlen(p->name), part, &bytes,
			&error) != BSHM_OK) {
		status = fail(p, &error, part);
	} else if (!fleet_folder_take(
				   &p->origin.folder, part, &p->next.image, &p->next.image_bytes, &why)) {
		status = refuse(p, &why);
	} else {
		status = check_same(p);
	}
	free(part);
	return status;
}

typedef struct {
	char *from; /* paths */
	char *to;
	char *delta;
} delta_paths;

static bool make_paths(const publication *p, const fleet_hash *from, delta_paths *out)
{
	fleet_error why = {""};
	const fleet_folder *folder = &p->origin.folder;
	*out = (delta_paths){fleet_folder_blob(folder, from), fleet_folder_blob(folder, &p->next.image),
		fleet_folder_part(folder, &why)};
	return out->from != NULL && out->to != NULL && out->delta != NULL;
}

/* Removes what has not become a blob. */
static void free_part(char *path)
{
	if (path != NULL) {
		unlink(path);
	}
	free(path);
}

static void free_paths(delta_paths *paths)
{
	free(paths->from);
	free(paths->to);
	free_part(paths->delta);
}

/* Does the delta make the new image of the old one? Then it is a blob. */
static int prove(const publication *p, const delta_paths *paths, fleet_delta *out)
{
	bshm_error error;
	fleet_error why = {""};
	bshm_delta_stat stat;
	if (bshm_delta_apply(paths->from, paths->delta, NULL, &stat, &error) != BSHM_OK) {
		return fail(p, &error, paths->from);
	}
	return fleet_folder_take(&p->origin.folder, paths->delta, &out->blob, &out->bytes, &why)
			   ? CLI_YES
			   : refuse(p, &why);
}

/*
 * The delta that leads from an earlier image to the new one. CLI_NO: there is none, because the
 * filters are not alike, the earlier image is damaged, or it would be no shorter than the image.
 */
static int make_delta(const publication *p, const fleet_head *from, const delta_paths *paths,
	fleet_delta *out, uint64_t *changed_bits)
{
	bshm_error error;
	bshm_delta_stat stat;
	if (bshm_delta_make(paths->from, paths->to, paths->delta, &stat, &error) != BSHM_OK) {
		const bool is_damaged = error.status == BSHM_E_CORRUPT && error.source == 1; /* from */
		return error.status == BSHM_E_INCOMPATIBLE || is_damaged ? CLI_NO
																 : fail(p, &error, paths->from);
	}
	*changed_bits = stat.changed_bits;
	if (stat.changed_bits == 0 || stat.delta_bytes >= p->next.image_bytes) {
		return stat.changed_bits == 0 ? CLI_YES : CLI_NO;
	}
	out->from = fleet_image_id(&from->image);
	out->to = fleet_image_id(&p->next.image);
	return prove(p, paths, out);
}

/* The same; adds it to the head. */
static int add_delta(publication *p, const fleet_head *from, bool *compared, uint64_t *changed_bits)
{
	delta_paths paths;
	fleet_delta delta = {0};
	*compared = false;
	*changed_bits = 0;
	if (!fleet_folder_has(&p->origin.folder, &from->image, from->image_bytes)) {
		return CLI_YES;
	}
	int status = make_paths(p, &from->image, &paths)
					 ? make_delta(p, from, &paths, &delta, changed_bits)
					 : cli_no_memory(p->c);
	free_paths(&paths);
	*compared = status == CLI_YES;
	if (status == CLI_YES && *changed_bits > 0) {
		p->next.deltas[p->next.delta_count++] = delta;
		p->made_count++;
	}
	return status == CLI_NO ? CLI_YES : status;
}

/* From the last image; and now and then from the earliest one that is kept: a follower that was
 * away takes fewer steps. */
static int add_deltas(publication *p)
{
	bool compared;
	uint64_t ignored;
	fleet_head earlier;
	fleet_error why = {""};
	const fleet_origin *o = &p->origin;
	cli_progress_say("delta");
	int status = add_delta(p, &o->last, &p->compared, &p->changed_bits);
	const bool due = p->compared && p->changed_bits > 0 && p->keep > 1 &&
					 p->next.version > p->keep && p->next.version % p->keep == 0;
	if (status == CLI_YES && due &&
		fleet_origin_earlier(o, p->next.version - p->keep, &earlier, &why)) {
		status = add_delta(p, &earlier, &compared, &ignored);
	}
	return status;
}

/* Names a delta of the last head, if it is still there. */
static void inherit(publication *p, const fleet_delta *delta)
{
	if (fleet_origin_has(&p->origin, &delta->blob, delta->bytes)) {
		p->next.deltas[p->next.delta_count++] = *delta;
	}
}

/*
 * The last head's deltas behind the new ones: they lead to where the new ones begin. Of those that
 * shorten the way the newest only: the others are the only way, and 24 of them are a day's.
 */
static void inherit_deltas(publication *p)
{
	const fleet_head *last = &p->origin.last;
	unsigned shortcuts = 0;
	for (unsigned i = 0; i < last->delta_count && p->next.delta_count < FLEET_DELTAS_MAX; i++) {
		if (i > 0 && last->deltas[i].to == last->deltas[i - 1].to && shortcuts++ >= SHORTCUTS) {
			continue;
		}
		inherit(p, &last->deltas[i]);
	}
}

/* ------------------------------------------------------------------ the head */

static void begin_head(publication *p)
{
	const fleet_head *last = &p->origin.last;
	fleet_head *next = &p->next;
	const uint64_t now_s = (uint64_t) time(NULL);
	*next = (fleet_head){.epoch = p->origin.epoch,
		.version = p->origin.next_version,
		.made_s = now_s > last->made_s ? now_s : last->made_s,
		.spread_s = p->spread_s,
		.items = p->info.items,
		.adds_after = cli_given(p->c, CLI_ADDS_AFTER) ? p->adds_after : last->adds_after};
	next->valid_until_s = p->valid_s == 0 ? 0 : now_s + p->valid_s;
	next->filter_length = strlen(p->name);
	memcpy(next->filter, p->name, next->filter_length);
}

/* Removes a blob that nobody will name. */
static void discard(const publication *p, const fleet_hash *blob)
{
	char *path = fleet_folder_blob(&p->origin.folder, blob);
	if (path != NULL && *blob->text != '\0' && strcmp(blob->text, p->origin.last.image.text) != 0) {
		unlink(path);
	}
	free(path);
}

/* No bit has changed: the version stands, and its head is signed again. */
static void renew(publication *p)
{
	const fleet_head *last = &p->origin.last;
	const fleet_head fresh = p->next;
	discard(p, &fresh.image);
	p->is_renewed = true;
	p->next = *last;
	p->next.epoch = fresh.epoch;
	p->next.made_s = fresh.made_s;
	p->next.valid_until_s = fresh.valid_until_s;
	p->next.spread_s = fresh.spread_s;
	p->next.pinned = 0;
	p->next.adds_after = fresh.adds_after;
	p->next.delta_count = 0;
	for (unsigned i = 0; i < last->delta_count; i++) {
		inherit(p, &last->deltas[i]);
	}
}

/* How the next version differs from the last one. */
static int compare(publication *p)
{
	fleet_origin_bring(&p->origin);
	const int status = add_deltas(p);
	if (status != CLI_YES) {
		return status;
	}
	if (p->compared && p->changed_bits == 0) {
		renew(p);
		return CLI_YES;
	}
	if (p->compared) {
		inherit_deltas(p);
	}
	return check_change(p);
}

/* A version that is refused, or finds no room, leaves no blobs: the next try needs the room. */
static int make_version(publication *p)
{
	if (p->origin.last.pinned != 0 && !cli_given(p->c, CLI_UNPIN)) {
		return cli_say(p->c, CLI_FAILED,
			"version %" PRIu64 " is pinned; nothing was announced (--unpin)",
			p->origin.last.pinned);
	}
	begin_head(p);
	int status = write_image(p);
	if (status == CLI_YES && !p->origin.is_first) {
		status = compare(p);
	}
	if (status != CLI_YES) {
		discard(p, &p->next.image);
		for (unsigned i = 0; i < p->made_count; i++) {
			discard(p, &p->next.deltas[i].blob);
		}
	}
	return status;
}

/* An earlier image is the next version: its deltas lead back, too. */
static int make_pin(publication *p)
{
	fleet_error why = {""};
	fleet_head earlier;
	if (p->origin.is_first) {
		return cli_say(p->c, CLI_FAILED, "nothing was announced yet");
	}
	if (!fleet_origin_earlier(&p->origin, p->pin, &earlier, &why)) {
		return refuse(p, &why);
	}
	begin_head(p);
	p->next.pinned = p->pin;
	p->next.items = earlier.items;
	p->next.adds_after = earlier.adds_after;
	p->next.image = earlier.image;
	p->next.image_bytes = earlier.image_bytes;
	inherit_deltas(p);
	return CLI_YES;
}

/* ------------------------------------------------------------------ the verb */

static int report(publication *p)
{
	char size[32];
	const fleet_head *next = &p->next;
	const uint64_t delta_bytes =
		!p->is_renewed && p->compared && next->delta_count > 0 ? next->deltas[0].bytes : 0;
	if (cli_given(p->c, CLI_JSON)) {
		p->figures = json_pack("{s:o, s:I, s:I, s:b, s:I, s:I, s:I, s:I, s:I}", "filter",
			cli_json_text(p->name, strlen(p->name)), "epoch", (json_int_t) next->epoch, "version",
			(json_int_t) next->version, "new", !p->is_renewed, "pinned", (json_int_t) next->pinned,
			"items", (json_int_t) next->items, "image_bytes", (json_int_t) next->image_bytes,
			"delta_bytes", (json_int_t) delta_bytes, "changed_bits", (json_int_t) p->changed_bits);
		return p->figures != NULL ? CLI_YES : cli_no_memory(p->c);
	}
	printf("version %" PRIu64 " %s: %" PRIu64 " keys, image %s", next->version,
		p->is_renewed ? "announced again, no bit has changed" : "announced", next->items,
		bshm_size_text(size, next->image_bytes));
	if (delta_bytes > 0) {
		printf(", delta %s", bshm_size_text(size, delta_bytes));
	}
	puts(next->pinned != 0 ? ", pinned" : "");
	return CLI_YES;
}

static int announce(publication *p)
{
	fleet_error why = {""};
	if (cli_signal() != 0) {
		return CLI_SIGNAL + cli_signal();
	}
	if (p->origin.web == NULL) {
		cli_signals_note(); /* too late for them: the next step is the last one */
	}
	const char *turns = p->c->values[CLI_STREAM];
	if (!fleet_origin_announce(&p->origin, &p->next, p->keep, turns, &why)) {
		return refuse(p, &why);
	}
	cli_signals_note();
	cli_mark_announced(p->c, &p->origin, &p->next, p->keep);
	return report(p);
}

static bool is_stopped(void)
{
	return cli_signal() != 0;
}

static bool begin(publication *p, fleet_error *why)
{
	const cli *c = p->c;
	const bool is_web = is_url(c);
	if (!fleet_key_secret(c->values[CLI_KEY], &p->key, why)) {
		return false;
	}
	if (is_web) {
		p->web.link = fleet_link_new(c->values[CLI_TO], c->values[CLI_CA], is_stopped, why);
		if (p->web.link == NULL || !fleet_put_log_in(p->web.link, why)) {
			return false;
		}
	}
	return fleet_origin_begin(&p->origin, c->values[is_web ? CLI_STATE : CLI_TO],
		is_web ? &p->web : NULL, p->name, strlen(p->name), &p->key, p->epoch, why);
}

static int run(publication *p)
{
	fleet_error why = {""};
	const cli *c = p->c;
	if (!begin(p, &why)) {
		return refuse(p, &why);
	}
	cli_signals_stop_writes();
	cli_progress_begin(cli_given(c, CLI_QUIET));
	int status = p->pin != 0 ? CLI_YES : check_filter(p);
	if (status == CLI_YES) {
		status = p->pin != 0 ? make_pin(p) : make_version(p);
	}
	cli_progress_clear();
	return status == CLI_YES ? announce(p) : status;
}

static int print_mark(const cli *c)
{
	char text[FLEET_ENTRY_ID_ROOM];
	const int status = cli_mark(c, 0, text);
	if (status == CLI_YES) {
		puts(text);
	}
	return status;
}

int cli_publish(cli *c)
{
	publication p = {.c = c, .name = c->arguments[0]};
	if (!read_options(&p)) {
		return CLI_USAGE;
	}
	signal(SIGPIPE, SIG_IGN); /* of the stream's connection */
	if (cli_given(c, CLI_MARK)) {
		return print_mark(c);
	}
	int status = p.pin != 0 ? cli_become(c) : cli_attach(c, false);
	if (status == CLI_YES) {
		status = run(&p);
		fleet_origin_end(&p.origin);
	}
	return p.figures == NULL ? status : cli_json_print(c, p.figures, status);
}

int cli_announce_begin(cli *c, bool is_piped)
{
	static char place[FLEET_ENTRY_ID_ROOM];
	fleet_error why = {""};
	publication p = {.c = c, .name = c->arguments[0]};
	if (!cli_given(c, CLI_KEY)) {
		return cli_say(c, CLI_USAGE, "--publish needs --key");
	}
	c->values[CLI_TO] = c->values[CLI_PUBLISH];
	c->values[CLI_MAX_RATE_NOW] = c->values[CLI_MAX_ERROR_RATE];
	c->values[CLI_ANNOUNCE_EMPTY] = c->values[CLI_ALLOW_EMPTY];
	if (!read_options(&p)) {
		return CLI_USAGE;
	}
	signal(SIGPIPE, SIG_IGN); /* of the stream's connection */
	if (!fleet_key_secret(c->values[CLI_KEY], &p.key, &why)) {
		return refuse(&p, &why);
	}
	if (!cli_given(c, CLI_STREAM) || cli_given(c, CLI_ADDS_AFTER) || !is_piped) {
		return CLI_YES;
	}
	const int status = cli_mark(c, PIPE_AGE_S, place);
	if (status == CLI_YES && strcmp(place, "0-0") != 0) {
		c->values[CLI_ADDS_AFTER] = place;
	}
	return status;
}

int cli_announce(cli *c, double published_s, json_t **figures)
{
	publication p = {.c = c, .name = c->arguments[0], .published_s = published_s};
	if (!read_options(&p)) {
		return CLI_USAGE;
	}
	const int status = run(&p);
	fleet_origin_end(&p.origin);
	*figures = p.figures;
	return status;
}

int cli_key(cli *c)
{
	fleet_error error = {""};
	const int status = cli_become(c);
	if (status != CLI_YES) {
		return status;
	}
	return fleet_key_make(c->arguments[0], &error) ? CLI_YES
												   : cli_say(c, CLI_FAILED, "%s", error.text);
}
