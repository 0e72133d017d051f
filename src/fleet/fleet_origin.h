/*
 * fleet_origin.h - an origin for its publisher: what stands there, and the one step that changes
 * it.
 *
 * An origin is a folder, or a web server that takes PUT: then `folder` is this host's copy of what
 * it needs. Two publishers of one filter: the one with the higher epoch is in charge. A publisher
 * takes its epoch when it begins, and looks at its last step, under the folder's lock, whether
 * another one has taken over, or has announced something. Two hosts have no lock in common: the
 * server decides between them (fleet_place_web.c), and where they have a stream they take turns.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_ORIGIN_H
#define FLEET_ORIGIN_H

#include "fleet/fleet_place.h"
#include "fleet/fleet_stream.h"

/*
 * Begins with the origin `path`; or with that of `web`, which o->web then keeps, and `path` is the
 * copy, a folder that nobody else may change. `epoch` 0: that of the publisher before. False also:
 * another publisher has a higher one, or the head is not of this key. Waits a minute for another
 * publisher's last step.
 */
bool fleet_origin_begin(fleet_origin *o, const char *path, fleet_web *web, const char *filter,
	size_t filter_length, const fleet_secret_key *key, uint64_t epoch, fleet_error *error);
/* The image of the last head is in the folder afterwards, if it can be had. */
void fleet_origin_bring(const fleet_origin *o);
/* Has the origin this blob? */
bool fleet_origin_has(const fleet_origin *o, const fleet_hash *hash, uint64_t bytes);
/* The head of an earlier version that is kept: `version` is below the last one's. */
bool fleet_origin_earlier(
	const fleet_origin *o, uint64_t version, fleet_head *out, fleet_error *error);
/*
 * Announces a head: all its blobs are in the folder, or at the origin. Keeps those of `keep`
 * earlier versions. False: what was announced before stands, unless the error says that this is not
 * known. Waits a minute for another publisher's last step. `turns`: the URL of the stream at
 * which publishers that write to a web server take turns; NULL: they take none.
 */
bool fleet_origin_announce(const fleet_origin *o, const fleet_head *next, uint64_t keep,
	const char *turns, fleet_error *error);
void fleet_origin_end(fleet_origin *o);

#endif
