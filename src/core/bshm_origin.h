/*
 * bshm_origin.h - filters that follow those of another host.
 *
 * As bshm.h, which this stands on.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_ORIGIN_H
#define BSHM_ORIGIN_H

#include "core/bshm.h"

#define BSHM_NEVER_HEARD INT64_MIN

/* What the origin of a filter, another host, has said about it. */
typedef struct {
	const char *source; /* whence, its URL say: 1..BSHM_SOURCE_BYTES_MAX bytes, no NUL. A segment
						   has room for 16 different ones; filters of one source share it */
	size_t source_length;
	uint64_t epoch; /* of the publisher, and the number of the set: as the origin counts them, from
					   1 on */
	uint64_t version;
	int64_t heard_ns; /* when, by bshm_now_ns(), the origin said that this is its newest version: a
						   moment, so that a process that is stopped meanwhile does not take it for
						   newer. Ahead of now: now. BSHM_NEVER_HEARD: that is not known */
	uint32_t max_lag_s; /* the filter is stale when that is longer ago, and every "no" a "maybe";
						   0 = never; at most BSHM_MAX_LAG_MAX_S */
	bool sends;         /* the keys of adds to the filter are left in the outbox (bshm.h) */
} bshm_origin;

/*
 * What the build publishes follows an origin: to be called before bshm_build_publish(), which then
 * may also fail with NO_SPACE, cause SOURCES. Time runs from this call on. INCOMPATIBLE, cause
 * FOLLOW: the segment was made by a build that does not know followed filters; cause SENDS: a
 * counting filter cannot send, because it would count its own keys again. RANGE: the origin is
 * out of its ranges. Takes no lock.
 *
 * A filter that is published in any other way is a local one; so are a copy, a union, what a dump
 * is restored to, and a filter that was cleared. An add and one more layer change nothing. After a
 * rename it lags on, as version 0, which no origin announces, and its adds are not sent. Adds are
 * as to any filter, but while it is stale no key counts as certainly new, and a key's count is
 * BSHM_COUNT_MAX.
 */
bshm_status bshm_build_follow(bshm_build *build, const bshm_origin *origin, bshm_error *error);
/*
 * The origin has said again that this version is its newest: the lag begins anew, from
 * origin->heard_ns on. If the filter has heard a later word, nothing changes. NOT_FOUND, CORRUPT;
 * INCOMPATIBLE, cause ORIGIN: what is published is another version, of another source or limit,
 * with another `sends`, or a local set: publish the version. RANGE, lock statuses. Cost: the lock
 * for a microsecond.
 */
bshm_status bshm_filter_heard(bshm_segment *segment, const char *name, size_t name_length,
	const bshm_origin *origin, bshm_error *error);

/*
 * The filter may lack keys for good: every "no" is a "maybe" until a set is published, or its
 * origin is heard. Without a limit it gets one of 1 s. Needs no room. 1; 0 if it was so before.
 * NOT_FOUND, CORRUPT; INCOMPATIBLE, cause ORIGIN: it is a local one. Lock statuses. Cost: the lock
 * for a microsecond.
 */
int bshm_filter_doubt(
	bshm_segment *segment, const char *name, size_t name_length, bshm_error *error);

/*
 * As bshm_filter_add_many(), for keys that came from other hosts: they are not left in the outbox.
 * Never FULL: a filter of fixed size takes them beyond its capacity, as bshm_info.items and the
 * estimated error rate tell. Without them each "no" would be wrong, or a "maybe" for all keys; with
 * them a few more of its answers are "maybe".
 */
bshm_status bshm_filter_receive(bshm_segment *segment, bshm_views *views, const char *name,
	size_t name_length, const bshm_key *keys, size_t count, uint64_t *added, bshm_error *error);
/* The same for a build: as bshm_build_key(), but never FULL. */
bshm_status bshm_build_receive(
	bshm_build *build, const char *key, size_t key_length, bshm_error *error);

/*
 * Frees the letters (bshm.h) of names that no filter has: of filters that were dropped, or renamed,
 * and that nobody follows any more, so that those of others have room. OK, NO_SPACE (private
 * memory), lock statuses. Cost: a reading of all letters; if there is one, the lock for a look at
 * all names.
 */
bshm_status bshm_outbox_sweep(bshm_segment *segment, bshm_error *error);

#endif
