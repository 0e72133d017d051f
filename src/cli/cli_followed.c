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

#include "cli/cli_followed_image.h"
#include "cli/cli_followed_publish.h"

#include <sodium.h>
#include <string.h>
#include <time.h>

/* ------------------------------------------------------------------ heads */

/* A moment as unix time. A process that is stopped between two readings of clocks, here and below,
 * takes what was heard for older, never for newer. */
static double unix_time_of(int64_t heard_ns)
{
	const double now_s = cli_unix_now();
	return now_s - (double) ((int64_t) bshm_now_ns() - heard_ns) / 1e9;
}

/* The moment that was so long before another one. */
static int64_t moment_before(int64_t ns, double age_s)
{
	return ns - (int64_t) ((age_s < FLEET_AGE_UNKNOWN_S ? age_s : FLEET_AGE_UNKNOWN_S) * 1e9);
}

/* The head in the state folder is the one in `text`, as old as what was heard. */
static bool keep(const cli_follower *all, cli_followed *f, const fleet_text *text, int64_t heard_ns)
{
	fleet_error error = {""};
	if (text->length != f->text.length || memcmp(text->bytes, f->text.bytes, text->length) != 0) {
		if (!fleet_folder_write(&all->state, f->folder, FLEET_HEAD_FILE, text->bytes, text->length,
				unix_time_of(heard_ns), &error)) {
			return cli_followed_fail(all, f, CLI_FAILS_LOCAL, &error);
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
	return cli_followed_fail(all, f, is_sound ? CLI_FAILS_REPLAY : CLI_FAILS_SIGNATURE, &error);
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
		f->wait_ns = now + randombytes_uniform((uint32_t) head->spread_s * 1000 + 1) *
							   (CLI_SECOND_NS / 1000);
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
		return cli_followed_fail(all, f, CLI_FAILS_EXPIRED, &(fleet_error){"the head has expired"});
	}
	if (is_new &&
		(bshm_now_ns() < f->retry_ns || !cli_followed_costly(f, cli_followed_take(all, f, head)))) {
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
	const bool settled = cli_followed_settle(all, f);
	if (is_new) {
		f->wait_ns = 0;
		fleet_folder_sweep(&all->state, 0, NULL);
	}
	if (settled) {
		fleet_folder_set_time(&all->state, f->folder, FLEET_HEAD_FILE, unix_time_of(heard_ns));
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

static fleet_link *link_of(const cli_follower *all)
{
	return all->is_passing ? all->passing : all->fetch;
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
	const int found = fleet_fetch_head(link_of(all), f->folder, &text, etag, &age_s, &error);
	if (found < 0) {
		return cli_followed_fail(all, f, CLI_FAILS_NETWORK, &error);
	}
	if (found > 0 && !read_head(all, f, &text, &head)) {
		return false;
	}
	if (found > 0) {
		note_seen(f, &text);
	}
	if (needs_image(f, &head) && !(all->is_passing ? cli_followed_hold(f) : has_waited(f, &head))) {
		return true;
	}
	const bool taken =
		take_head(all, f, &head, found > 0 ? &text : &f->text, moment_before(start_ns, age_s));
	cli_followed_end_build(f); /* that was not needed */
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
	const uint64_t before = fleet_fetch_bytes(link_of(all));
	f->is_held = !all->is_passing;
	const bool is_well = look(all, f, every_ns);
	f->is_held = all->is_passing && f->is_held;
	f->counts->bytes += fleet_fetch_bytes(link_of(all)) - before;
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
	f->begun_ns = bshm_now_ns();
	f->name = name;
	fleet_folder_name(f->folder, name, strlen(name));
	const int found = fleet_folder_read(&all->state, f->folder, FLEET_HEAD_FILE, &f->text, &error);
	if (found <= 0) {
		if (found < 0) {
			cli_followed_fail(all, f, CLI_FAILS_LOCAL, &error);
		}
		f->text.length = 0;
		return;
	}
	if (!fleet_head_open(
			f->text.bytes, f->text.length, &all->key, name, strlen(name), &f->head, &why)) {
		fleet_fail(&error, "the head in the state folder cannot be used: %s", why.text);
		cli_followed_fail(all, f, CLI_FAILS_LOCAL, &error);
		f->text.length = 0;
		return;
	}
	f->has_head = true;
	f->has_image = fleet_folder_has(&all->state, &f->head.image, f->head.image_bytes);
	if (!f->has_image) {
		cli_followed_fail(
			all, f, CLI_FAILS_LOCAL, &(fleet_error){"the image in the state folder is missing"});
		return;
	}
	const int64_t now_ns = (int64_t) bshm_now_ns();
	const double age_s = cli_unix_now() - f->text.changed_s;
	/* A clock that was set back does not say how long ago it was. */
	f->heard_ns = moment_before(now_ns, age_s >= 0 ? age_s : FLEET_AGE_UNKNOWN_S);
	cli_followed_settle(all, f);
}
