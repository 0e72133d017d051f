/*
 * cli_followed_image.c - brings the image that a head names to the state folder: by deltas from the
 * one that is there, or whole.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_followed_image.h"

#include "cli/cli_followed_publish.h"
#include "fleet/fleet_plan.h"
#include "message/message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	const bool taken = found > 0 && fleet_folder_keep(&all->state, part, blob, error);
	if (found == 0) {
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
	const bool applied = (last && cli_followed_attach(all, f)
								 ? bshm_delta_restore(all->c->segment, f->name, strlen(f->name),
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

bool cli_followed_take(const cli_follower *all, cli_followed *f, const fleet_head *head)
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
		cli_followed_say(all, f, &error);
	}
	if (cli_signal() != 0 || !get_blob(all, f, &head->image, head->image_bytes, &error)) {
		return cli_followed_say(all, f, &error);
	}
	f->counts->images++;
	cli_tell(all->c, f->name, "version %" PRIu64 " by its image, %s", head->version,
		bshm_size_text(size, head->image_bytes));
	return true;
}
