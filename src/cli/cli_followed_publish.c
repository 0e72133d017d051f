/*
 * cli_followed_publish.c - a filter that is followed, in the segment: published with the adds that
 * came since, and heard of again.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_followed_publish.h"

#include "core/bshm_origin.h"
#include "message/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACK_OFF_MOST 8 /* after failures with one head it waits for at most 2^8 s */

/* gap_after of a gap that was found elsewhere: from the head's place on perhaps nothing is missing.
 */
static const fleet_entry_id nowhere = {UINT64_MAX, UINT64_MAX};

/* ------------------------------------------------------------------ what is said */

bool cli_followed_say(const cli_follower *all, cli_followed *f, const fleet_error *error)
{
	if (cli_signal() == 0 && strcmp(error->text, f->said.text) != 0) {
		f->said = *error;
		cli_say(all->c, CLI_FAILED, "%s: %s", f->name, error->text);
	}
	return false;
}

bool cli_followed_fail(
	const cli_follower *all, cli_followed *f, cli_failure kind, const fleet_error *error)
{
	f->counts->failures[kind]++;
	return cli_followed_say(all, f, error);
}

static bool fail_engine(
	const cli_follower *all, cli_followed *f, const bshm_error *error, const char *file)
{
	fleet_error why = {""};
	bshm_message message;
	const bshm_message_about about = {.path = all->c->path, .name = f->name, .command = true};
	const char *text = file == NULL ? NULL : bshm_message_file(&message, error, file, true);
	fleet_fail(&why, "%s", text != NULL ? text : bshm_message_say(&message, error, &about));
	return cli_followed_fail(all, f, CLI_FAILS_LOCAL, &why);
}

/* ------------------------------------------------------------------ the segment */

/* A filter that may lack adds for good is published as one that was never heard of: all is "maybe".
 */
static bshm_origin origin_of(const cli_follower *all, const cli_followed *f)
{
	const char *source = fleet_link_source(all->fetch);
	return (bshm_origin){.source = source,
		.source_length = strlen(source),
		.epoch = f->head.epoch,
		.version = f->head.version,
		.heard_ns = f->adds.gap ? BSHM_NEVER_HEARD : f->heard_ns,
		.max_lag_s = f->adds.gap && all->max_lag_s == 0 ? 1 : all->max_lag_s,
		.sends = all->stream != NULL};
}

void cli_followed_end_build(cli_followed *f)
{
	bshm_build_abort(f->build);
	f->build = NULL;
}

bool cli_followed_hold(cli_followed *f)
{
	f->is_held = true;
	f->due_ns = bshm_now_ns();
	return false;
}

bool cli_followed_attach(const cli_follower *all, cli_followed *f)
{
	bshm_error error;
	cli *c = all->c;
	const bool is_attached = c->segment != NULL && bshm_segment_at_path(c->segment);
	if (is_attached || all->is_passing) {
		return is_attached;
	}
	if (c->segment != NULL) {
		cli_followed_end_build(f);
		cli_detach(c);
	}
	free(c->path);
	c->path = NULL;
	return cli_attach_or(c, true, &error) == CLI_YES || fail_engine(all, f, &error, NULL);
}

static cli_adds_of adds_of(const cli_follower *all, const cli_followed *f)
{
	return (cli_adds_of){all->c, all->stream, f->name, f->counts};
}

/* Entries may be gone that the filter lacks, until an image is made after them. */
static bool say_gap(const cli_follower *all, cli_followed *f)
{
	return cli_followed_say(all, f,
		&(fleet_error){
			"adds of other hosts may be missing (the stream was trimmed or begun anew, or has "
			"entries of 8 MB): it answers maybe until the next version"});
}

/* Nothing is gained by publishing it anew. */
static bool is_gap_of_head(const cli_followed *f)
{
	return f->adds.gap && fleet_entry_id_compare(f->head.adds_after, f->adds.gap_after) == 0;
}

/*
 * The build has all adds since its image was made. A build with a gap goes on. So does one whose
 * adds cannot be read now, if there is no set: it says maybe, as if it was not there, but takes the
 * adds of pages.
 */
static bool build_adds(const cli_follower *all, cli_followed *f, bshm_build *build)
{
	fleet_error error = {""};
	const cli_adds_of of = adds_of(all, f);
	if (all->stream == NULL) {
		return true;
	}
	const int result = cli_adds_build(&of, &f->adds, build, f->head.adds_after, &error);
	if (result == FLEET_STREAM_FAILED) {
		cli_followed_say(all, f, &error);
		if (cli_signal() != 0 ||
			bshm_filter_ready(all->c->segment, all->c->views, f->name, strlen(f->name))) {
			return false;
		}
	}
	f->adds.gap = result != FLEET_STREAM_END;
	f->adds.gap_after = result == FLEET_STREAM_FAILED ? nowhere : f->head.adds_after;
	return true;
}

/* Publishes the build as what f->head says; ends it. */
static bshm_status publish_build(
	const cli_follower *all, cli_followed *f, bshm_build *build, bshm_error *error)
{
	const bshm_origin origin = origin_of(all, f);
	const bshm_status status = bshm_build_follow(build, &origin, error);
	if (status != BSHM_OK) {
		bshm_build_abort(build);
		return status;
	}
	return bshm_build_publish(build, 1, NULL, error);
}

/* Publishes the image of f->head, with all adds since. */
static bool publish(const cli_follower *all, cli_followed *f)
{
	bshm_error error = {0};
	bshm_build *build = f->build; /* made with the image; else of its file */
	const bool had_gap = f->adds.gap;
	const fleet_entry_id at = f->adds.at; /* of what is published */
	char *path = fleet_folder_blob(&all->state, &f->head.image);
	if (path == NULL) {
		return cli_followed_fail(all, f, CLI_FAILS_LOCAL, &(fleet_error){"no private memory left"});
	}
	f->build = NULL;
	bshm_status status = build != NULL ? BSHM_OK
									   : bshm_restore_begin(all->c->segment, f->name,
											 strlen(f->name), path, &build, &error);
	const bool is_busy = error.os_code == EMFILE || error.os_code == ENFILE;
	if (status == BSHM_E_CORRUPT || (status == BSHM_E_IO && !is_busy)) { /* it is fetched again */
		f->has_image = false;
		unlink(path);
	}
	if (status == BSHM_OK && !build_adds(all, f, build)) {
		bshm_build_abort(build);
		free(path);
		return false;
	}
	if (status == BSHM_OK) {
		status = publish_build(all, f, build, &error);
	}
	const bool published = status == BSHM_OK || fail_engine(all, f, &error, path);
	free(path);
	if (!published) {
		f->adds.gap = had_gap;
		f->adds.at = at;
		return false;
	}
	f->is_published = true;
	f->counts->versions++;
	f->counts->version = f->head.version;
	cli_tell(all->c, f->name,
		"published version %" PRIu64 " of epoch %" PRIu64 ", %" PRIu64 " keys, in %.2f s",
		f->head.version, f->head.epoch, f->head.items,
		(double) (bshm_now_ns() - f->begun_ns) / 1e9);
	if (f->adds.gap) {
		f->counts->failures[CLI_FAILS_GAP]++;
	}
	if (is_gap_of_head(f)) {
		say_gap(all, f);
	} else if (f->adds.gap) {
		cli_tell(all->c, f->name, "it answers maybe until the stream is read");
	}
	return true;
}

bool cli_followed_costly(cli_followed *f, bool done)
{
	const unsigned shift = f->failures < BACK_OFF_MOST ? f->failures : BACK_OFF_MOST;
	f->failures = done ? 0 : f->failures + 1;
	f->retry_ns = done ? 0 : bshm_now_ns() + (CLI_SECOND_NS << shift);
	return done;
}

static bool publish_later(const cli_follower *all, cli_followed *f)
{
	if (all->is_passing) {
		return cli_followed_hold(f);
	}
	return bshm_now_ns() >= f->retry_ns && cli_followed_costly(f, publish(all, f));
}

/* Other hosts need the keys of pages, whatever this one has. */
static bool send_adds(const cli_follower *all, cli_followed *f)
{
	fleet_error error = {""};
	const cli_adds_of of = adds_of(all, f);
	return cli_adds_send(&of, &f->adds, &error) || cli_followed_say(all, f, &error);
}

/*
 * What is published has all adds there are. If it may lack some for good, it is published anew: as
 * one that was never heard of, or with a head whose image has them.
 */
static bool catch_up(const cli_follower *all, cli_followed *f, bool asks)
{
	fleet_error error = {""};
	const cli_adds_of of = adds_of(all, f);
	if (is_gap_of_head(f)) {
		return send_adds(all, f) && say_gap(all, f);
	}
	if (f->adds.gap) {
		return send_adds(all, f) && publish_later(all, f) && !f->adds.gap;
	}
	const int result = cli_adds_exchange(&of, &f->adds, asks, &error);
	if (result == FLEET_STREAM_FAILED) {
		return cli_followed_say(all, f, &error);
	}
	if (result == FLEET_STREAM_END) {
		return true;
	}
	f->adds.gap = true;
	f->adds.gap_after = nowhere;
	if (cli_adds_doubt(&of)) {
		say_gap(all, f);
	}
	return publish_later(all, f) && !f->adds.gap;
}

bool cli_followed_exchange(cli_follower *all, cli_followed *f, bool asks)
{
	const bool looks = asks || all->c->segment == NULL; /* is it there, and at its path? */
	return all->stream == NULL ||
		   ((!looks || cli_followed_attach(all, f)) &&
			   (f->is_published ? catch_up(all, f, asks) : send_adds(all, f)));
}

/* Says how many adds of pages could not be sent. */
static void tell_unsent(const cli_follower *all, cli_followed *f)
{
	const cli_adds_of of = adds_of(all, f);
	const uint64_t unsent = cli_adds_unsent(&of, &f->adds);
	if (unsent != 0) { /* no failure after which all would be well again */
		cli_say(all->c, CLI_FAILED,
			"%s: %" PRIu64
			" adds were not sent: the outbox was full, or their keys are longer than "
			"%d bytes; other hosts lack them until the next version",
			f->name, unsent, BSHM_OUTBOX_KEY_MAX);
	}
}

/* The origin said that f->head is its newest. `probe`: is that published? Nothing changes. */
static bshm_status hear(
	const cli_follower *all, const cli_followed *f, bool probe, bshm_error *error)
{
	bshm_origin origin = origin_of(all, f);
	origin.heard_ns = probe ? BSHM_NEVER_HEARD : origin.heard_ns;
	return bshm_filter_heard(all->c->segment, f->name, strlen(f->name), &origin, error);
}

bool cli_followed_settle(const cli_follower *all, cli_followed *f)
{
	bshm_error error;
	if (!cli_followed_attach(all, f)) {
		return false;
	}
	bshm_status status = hear(all, f, true, &error);
	if (status == BSHM_OK) {
		if (!f->is_published) {
			f->is_published = true;
			f->adds.at = f->head.adds_after;
		}
		if (all->stream != NULL) {
			tell_unsent(all, f);
			if (!catch_up(all, f, true)) {
				return false;
			}
		}
		status = hear(all, f, false, &error);
	}
	if (status == BSHM_OK) {
		f->counts->version = f->head.version;
		return true;
	}
	if (status != BSHM_E_NOT_FOUND && status != BSHM_E_INCOMPATIBLE && status != BSHM_E_CORRUPT) {
		return fail_engine(all, f, &error, NULL);
	}
	return publish_later(all, f) && !f->adds.gap;
}
