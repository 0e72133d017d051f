/*
 * cli_followed.c - one filter that is followed: looks at the head, takes the image, publishes.
 *
 * An image is in the state folder, whole, synced and of the hash that a signed head names, before
 * that head is there; and the head is there before the image is published. So after a death at any
 * step the head in the folder is of a whole image, and the segment has this or an earlier one. The
 * last delta makes a build of the segment beside the file; it waits for the head.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_followed.h"

#include "core/bshm_origin.h"
#include "fleet/fleet_plan.h"
#include "message/message.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS     UINT64_C(1000000000)
#define BACK_OFF_MOST 8 /* after failures with one head it waits for at most 2^8 s */

/* ------------------------------------------------------------------ what is said */

/* Says why something failed, but not the same again and again. Returns false. */
static bool say(const cli_follower *all, cli_followed *f, const fleet_error *error)
{
	if (cli_signal() == 0 && strcmp(error->text, f->said.text) != 0) {
		f->said = *error;
		cli_say(all->c, CLI_FAILED, "%s: %s", f->name, error->text);
	}
	return false;
}

/* The same of something that is counted here. */
static bool fail(
	const cli_follower *all, cli_followed *f, cli_failure kind, const fleet_error *error)
{
	f->counts->failures[kind]++;
	return say(all, f, error);
}

static bool fail_engine(
	const cli_follower *all, cli_followed *f, const bshm_error *error, const char *file)
{
	fleet_error why = {""};
	bshm_message message;
	const bshm_message_about about = {.path = all->c->path, .name = f->name, .command = true};
	const char *text = file == NULL ? NULL : bshm_message_file(&message, error, file, true);
	fleet_fail(&why, "%s", text != NULL ? text : bshm_message_say(&message, error, &about));
	return fail(all, f, CLI_FAILS_LOCAL, &why);
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

static void end_build(cli_followed *f)
{
	bshm_build_abort(f->build);
	f->build = NULL;
}

/* Somebody may have removed the file since. */
static bool attach(const cli_follower *all, cli_followed *f)
{
	bshm_error error;
	cli *c = all->c;
	if (c->segment != NULL && !bshm_segment_at_path(c->segment)) {
		end_build(f);
		cli_detach(c);
	}
	if (c->segment != NULL) {
		return true;
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
	return say(all, f,
		&(fleet_error){
			"adds of other hosts may be missing (the stream was trimmed or begun anew, or "
			"the filter is full): it answers maybe until the next version"});
}

/* The build has all adds since its image was made. A build with a gap goes on. */
static bool build_adds(const cli_follower *all, cli_followed *f, bshm_build *build)
{
	fleet_error error = {""};
	const cli_adds_of of = adds_of(all, f);
	if (all->stream == NULL) {
		return true;
	}
	const int result = cli_adds_build(&of, &f->adds, build, f->head.adds_after, &error);
	if (result == FLEET_STREAM_FAILED) {
		return say(all, f, &error);
	}
	f->adds.gap = result == FLEET_STREAM_GAP;
	f->adds.gap_after = f->head.adds_after;
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
		return fail(all, f, CLI_FAILS_LOCAL, &(fleet_error){"no private memory left"});
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
		say_gap(all, f);
	}
	return true;
}

/* What costs much is tried ever later after failures. Returns whether it was done. */
static bool costly(cli_followed *f, bool done)
{
	const unsigned shift = f->failures < BACK_OFF_MOST ? f->failures : BACK_OFF_MOST;
	f->failures = done ? 0 : f->failures + 1;
	f->retry_ns = done ? 0 : bshm_now_ns() + (SECOND_NS << shift);
	return done;
}

static bool publish_later(const cli_follower *all, cli_followed *f)
{
	return bshm_now_ns() >= f->retry_ns && costly(f, publish(all, f));
}

/* Other hosts need the keys of pages, whatever this one has. */
static bool send_adds(const cli_follower *all, cli_followed *f)
{
	fleet_error error = {""};
	const cli_adds_of of = adds_of(all, f);
	return cli_adds_send(&of, &f->adds, &error) || say(all, f, &error);
}

/*
 * What is published has all adds there are. If it may lack some for good, it is published anew: as
 * one that was never heard of, or with a head whose image has them.
 */
static bool catch_up(const cli_follower *all, cli_followed *f)
{
	fleet_error error = {""};
	const cli_adds_of of = adds_of(all, f);
	if (f->adds.gap && fleet_entry_id_compare(f->head.adds_after, f->adds.gap_after) == 0) {
		return send_adds(all, f) && say_gap(all, f);
	}
	if (f->adds.gap) {
		return publish_later(all, f) && !f->adds.gap;
	}
	const int result = cli_adds_exchange(&of, &f->adds, &error);
	if (result == FLEET_STREAM_FAILED) {
		return say(all, f, &error);
	}
	if (result == FLEET_STREAM_GAP && cli_adds_doubt(&of)) {
		say_gap(all, f);
	}
	/* From the head's place on perhaps nothing is missing. */
	return result == FLEET_STREAM_END || (publish_later(all, f) && !f->adds.gap);
}

bool cli_followed_exchange(cli_follower *all, cli_followed *f)
{
	return all->stream == NULL ||
		   (attach(all, f) && (f->is_published ? catch_up(all, f) : send_adds(all, f)));
}

/* Says how many adds of pages could not be sent. */
static void tell_unsent(const cli_follower *all, cli_followed *f)
{
	fleet_error error = {""};
	const cli_adds_of of = adds_of(all, f);
	const uint64_t unsent = cli_adds_unsent(&of, &f->adds);
	if (unsent != 0) {
		fleet_fail(&error,
			"%" PRIu64 " adds were not sent: the outbox was full, or their keys are longer than %d "
			"bytes; other hosts lack them until the next version",
			unsent, BSHM_OUTBOX_KEY_MAX);
		say(all, f, &error);
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

/* The segment has the image of f->head, as of the moment when it was heard. */
static bool settle(const cli_follower *all, cli_followed *f)
{
	bshm_error error;
	if (!attach(all, f)) {
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
			if (!catch_up(all, f)) {
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
	return publish_later(all, f);
}

/* ------------------------------------------------------------------ blobs */

static bool is_bad(const cli_followed *f, const fleet_hash *blob)
{
	for (unsigned i = 0; i < f->bad_count; i++) {
		if (strcmp(f->bad[i].text, blob->text) == 0) {
			return true;
		}
	}
	return false;
}

/* It is not fetched again before there is another head. */
static void mark_bad(cli_followed *f, const fleet_hash *blob)
{
	if (f->bad_count < CLI_BAD_BLOBS) {
		f->bad[f->bad_count++] = *blob;
	}
}

/* Fetches a blob, unless it is here. */
static bool get_blob(const cli_follower *all, cli_followed *f, const fleet_hash *blob,
	uint64_t bytes, fleet_error *error)
{
	fleet_hash hash;
	uint64_t count;
	if (fleet_folder_has(&all->state, blob, bytes)) {
		return true;
	}
	if (is_bad(f, blob)) {
		return fleet_fail(error, "the blob %.16s... was refused already", blob->text);
	}
	char *part = fleet_folder_part(&all->state, error);
	if (part == NULL) {
		return false;
	}
	const int found = fleet_fetch_blob(all->fetch, blob, bytes, part, error);
	const bool taken =
		found > 0 && fleet_folder_take(&all->state, part, blob, &hash, &count, error);
	if (found == 0 || (found > 0 && !taken && *hash.text != '\0')) {
		mark_bad(f, blob);
		f->counts->failures[CLI_FAILS_HASH]++;
	} else if (!taken) {
		f->counts->failures[found == -1 ? CLI_FAILS_NETWORK : CLI_FAILS_LOCAL]++;
	}
	free(part);
	return taken;
}

/* One step of the route: the image at `from` becomes that at `to`; the last makes f->build, too. */
static bool apply(const cli_follower *all, cli_followed *f, const fleet_delta *delta,
	const char *from, const char *to, bool last, fleet_error *error)
{
	bshm_error why;
	bshm_message message;
	bshm_delta_stat stat;
	char *path = fleet_folder_blob(&all->state, &delta->blob);
	if (path == NULL) {
		return fleet_fail(error, "no private memory left");
	}
	const bool applied =
		(last && attach(all, f) ? bshm_delta_restore(all->c->segment, f->name, strlen(f->name),
									  from, path, to, &stat, &f->build, &why)
								: bshm_delta_apply(from, path, to, &stat, &why)) == BSHM_OK;
	if (!applied) {
		const char *text = bshm_message_file(&message, &why, path, true);
		fleet_fail(error, "%s", text == NULL ? bshm_status_str(why.status) : text);
		const bool is_wrong = why.status == BSHM_E_CORRUPT || why.status == BSHM_E_INCOMPATIBLE;
		if (is_wrong) {
			mark_bad(f, &delta->blob);
		}
		f->counts->failures[is_wrong ? CLI_FAILS_HASH : CLI_FAILS_LOCAL]++;
	}
	free(path);
	return applied;
}

/* Fetches the deltas of the route, and applies them to the image that is here. */
static bool take_deltas(const cli_follower *all, cli_followed *f, const fleet_head *head,
	const fleet_route *route, fleet_error *error)
{
	char *from = fleet_folder_blob(&all->state, &f->head.image);
	bool sound = from != NULL;
	for (unsigned i = 0; i < route->count && sound; i++) {
		const fleet_delta *delta = &head->deltas[route->deltas[i]];
		char *to = fleet_folder_part(&all->state, error);
		sound = to != NULL && get_blob(all, f, &delta->blob, delta->bytes, error) &&
				apply(all, f, delta, from, to, i + 1 == route->count, error);
		if (i > 0) {
			unlink(from);
		}
		free(from);
		from = to;
	}
	if (sound && !fleet_folder_keep(&all->state, from, &head->image, error)) {
		sound = false;
		f->counts->failures[CLI_FAILS_LOCAL]++;
	}
	free(from);
	return sound;
}

static uint32_t bad_deltas(const cli_followed *f, const fleet_head *head)
{
	uint32_t out = 0;
	for (unsigned i = 0; i < head->delta_count; i++) {
		out |= (uint32_t) is_bad(f, &head->deltas[i].blob) << i;
	}
	return out;
}

/* The image of the head is in the state folder afterwards. */
static bool take(const cli_follower *all, cli_followed *f, const fleet_head *head)
{
	char size[32];
	fleet_error error = {""};
	fleet_route route = {.bytes = head->image_bytes};
	if (fleet_folder_has(&all->state, &head->image, head->image_bytes)) {
		return true;
	}
	if (f->has_image) {
		fleet_plan(head, fleet_image_id(&f->head.image), bad_deltas(f, head), &route);
	}
	if (route.count > 0) {
		if (take_deltas(all, f, head, &route, &error)) {
			f->counts->deltas += route.count;
			cli_tell(all->c, f->name, "version %" PRIu64 " by %u delta%s, %s", head->version,
				route.count, route.count == 1 ? "" : "s", bshm_size_text(size, route.bytes));
			return true;
		}
		say(all, f, &error);
	}
	if (cli_signal() != 0 || !get_blob(all, f, &head->image, head->image_bytes, &error)) {
		return say(all, f, &error);
	}
	f->counts->images++;
	cli_tell(all->c, f->name, "version %" PRIu64 " by its image, %s", head->version,
		bshm_size_text(size, head->image_bytes));
	return true;
}

/* ------------------------------------------------------------------ heads */

static double age_of(int64_t heard_ns)
{
	return (double) ((int64_t) bshm_now_ns() - heard_ns) / 1e9;
}

/* The head in the state folder is the one in `text`, as old as what was heard. */
static bool keep(const cli_follower *all, cli_followed *f, const fleet_text *text, int64_t heard_ns)
{
	fleet_error error = {""};
	if (text->length != f->text.length || memcmp(text->bytes, f->text.bytes, text->length) != 0) {
		if (!fleet_folder_write(&all->state, f->folder, FLEET_HEAD_FILE, text->bytes, text->length,
				age_of(heard_ns), &error)) {
			return fail(all, f, CLI_FAILS_LOCAL, &error);
		}
		f->text = *text;
	}
	return true;
}

static bool is_expired(const fleet_head *head)
{
	return head->valid_until_s != 0 && (uint64_t) time(NULL) > head->valid_until_s;
}

/* Reads the head that was fetched: is it one that may be taken? */
static bool read_head(
	const cli_follower *all, cli_followed *f, const fleet_text *text, fleet_head *out)
{
	fleet_error why = {""};
	fleet_error error = {""};
	const bool is_sound =
		fleet_head_open(text->bytes, text->length, &all->key, f->name, strlen(f->name), out, &why);
	if (is_sound && (!f->has_head || fleet_head_follows(&f->head, out, &why))) {
		f->counts->announced = out->version;
		return true;
	}
	fleet_fail(&error, "the head is refused: %s", why.text);
	return fail(all, f, is_sound ? CLI_FAILS_REPLAY : CLI_FAILS_SIGNATURE, &error);
}

static bool needs_image(const cli_followed *f, const fleet_head *head)
{
	return !f->has_image || strcmp(f->head.image.text, head->image.text) != 0;
}

/*
 * Has the random wait before the next blobs ended? Else f->due_ns is its end. A version that is
 * announced meanwhile begins no other wait: else one that came often would never be fetched.
 */
static bool has_waited(cli_followed *f, const fleet_head *head)
{
	const uint64_t now = bshm_now_ns();
	if (head->spread_s == 0) {
		return true;
	}
	if (f->wait_ns == 0) {
		f->wait_ns =
			now + randombytes_uniform((uint32_t) head->spread_s * 1000 + 1) * (SECOND_NS / 1000);
	}
	if (f->wait_ns > now) {
		f->due_ns = f->wait_ns;
	}
	return f->wait_ns <= now;
}

/* A head that may be taken, which the origin had at `heard_ns`. */
static bool take_head(const cli_follower *all, cli_followed *f, const fleet_head *head,
	const fleet_text *text, int64_t heard_ns)
{
	const bool is_new = needs_image(f, head);
	f->begun_ns = bshm_now_ns();
	if (is_expired(head)) {
		return fail(all, f, CLI_FAILS_EXPIRED, &(fleet_error){"the head has expired"});
	}
	if (is_new && (bshm_now_ns() < f->retry_ns || !costly(f, take(all, f, head)))) {
		return false;
	}
	if (!keep(all, f, text, heard_ns)) {
		return false;
	}
	f->head = *head;
	*f->etag = '\0'; /* it was the last one's */
	f->has_head = true;
	f->has_image = true;
	f->heard_ns = heard_ns;
	const bool settled = settle(all, f);
	if (is_new) {
		f->wait_ns = 0;
		fleet_folder_sweep(&all->state, 0, NULL);
	}
	if (settled) {
		fleet_folder_set_age(&all->state, f->folder, FLEET_HEAD_FILE, age_of(heard_ns));
	}
	return settled;
}

/* A head that was not seen before may be taken at once, and its blobs are tried again. */
static void note_seen(cli_followed *f, const fleet_text *text)
{
	if (f->seen.length != text->length || memcmp(f->seen.bytes, text->bytes, text->length) != 0) {
		f->seen = *text;
		f->failures = 0;
		f->retry_ns = 0;
		f->bad_count = 0;
	}
}

static bool look(cli_follower *all, cli_followed *f, uint64_t every_ns)
{
	double age_s;
	fleet_text text = {0};
	fleet_error error = {""};
	fleet_head head = f->head;
	char etag[FLEET_ETAG_ROOM];
	const int64_t start_ns = (int64_t) bshm_now_ns();
	memcpy(etag, f->etag, sizeof(etag));
	f->due_ns = bshm_now_ns() + every_ns;
	const int found = fleet_fetch_head(all->fetch, f->folder, &text, etag, &age_s, &error);
	if (found < 0) {
		return fail(all, f, CLI_FAILS_NETWORK, &error);
	}
	if (found > 0 && !read_head(all, f, &text, &head)) {
		return false;
	}
	if (found > 0) {
		note_seen(f, &text);
	}
	if (needs_image(f, &head) && !has_waited(f, &head)) {
		return true;
	}
	age_s = age_s < FLEET_AGE_UNKNOWN_S ? age_s : FLEET_AGE_UNKNOWN_S;
	const bool taken =
		take_head(all, f, &head, found > 0 ? &text : &f->text, start_ns - (int64_t) (age_s * 1e9));
	end_build(f); /* that was not needed */
	if (!taken) {
		return false;
	}
	/* From now on the origin need not send this one again. */
	memcpy(f->etag, etag, sizeof(etag));
	if (*f->said.text != '\0') {
		cli_tell(all->c, f->name, "all is well again");
		f->said = (fleet_error){""};
	}
	return true;
}

bool cli_followed_look(cli_follower *all, cli_followed *f, uint64_t every_ns)
{
	const uint64_t before = fleet_fetch_bytes(all->fetch);
	const bool is_well = look(all, f, every_ns);
	f->counts->bytes += fleet_fetch_bytes(all->fetch) - before;
	f->counts->looked_s = (uint64_t) time(NULL);
	f->counts->success_s = is_well ? f->counts->looked_s : f->counts->success_s;
	return is_well;
}

void cli_followed_forget(cli_followed *f)
{
	f->has_image = false;
	f->text.length = 0;
	*f->etag = '\0';
}

/* ------------------------------------------------------------------ the beginning */

void cli_followed_begin(cli_follower *all, cli_followed *f, const char *name)
{
	fleet_error why = {""};
	fleet_error error = {""};
	struct timespec now;
	f->begun_ns = bshm_now_ns();
	f->name = name;
	fleet_folder_name(f->folder, name, strlen(name));
	const int found = fleet_folder_read(&all->state, f->folder, FLEET_HEAD_FILE, &f->text, &error);
	if (found <= 0) {
		if (found < 0) {
			fail(all, f, CLI_FAILS_LOCAL, &error);
		}
		f->text.length = 0;
		return;
	}
	if (!fleet_head_open(
			f->text.bytes, f->text.length, &all->key, name, strlen(name), &f->head, &why)) {
		fleet_fail(&error, "the head in the state folder cannot be used: %s", why.text);
		fail(all, f, CLI_FAILS_LOCAL, &error);
		f->text.length = 0;
		return;
	}
	f->has_head = true;
	f->has_image = fleet_folder_has(&all->state, &f->head.image, f->head.image_bytes);
	if (!f->has_image) {
		fail(all, f, CLI_FAILS_LOCAL, &(fleet_error){"the image in the state folder is missing"});
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	const double age_s = (double) now.tv_sec + (double) now.tv_nsec / 1e9 - f->text.changed_s;
	/* A clock that was set back does not say how long ago it was. */
	f->heard_ns =
		(int64_t) bshm_now_ns() - (int64_t) ((age_s >= 0 ? age_s : FLEET_AGE_UNKNOWN_S) * 1e9);
	settle(all, f);
}
