/*
 * copy.c - copies a value again that was replaced during the copy, in the end under the lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/find.h"
#include "core/cache/locate.h"
#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"
#include "core/status.h"
#include "platform/platform.h"

#define TRIES 4096 /* before a record in constant change counts as absent */
/* How long a large value is copied without the lock while it changes; longer for the first tries,
 * as under the lock others would wait for the copy, and if the lock cannot be taken. */
#define COPY_NS         UINT64_C(10000000)
#define COPY_FIRST      4
#define COPY_LONGEST_NS BSHM_LOCK_PAGE_NS
#define OS_PAGE_BYTES   4096u

/* One that fits into a slot is copied so fast that a copy is undisturbed sooner or later. */
static bool is_short(const bshm_found *found)
{
	return (uint64_t) found->key_length + found->length <= BSHM_SLOT_BYTES_MAX - BSHM_SLOT_HEADER;
}

/* Finds the record and copies its value: 1, 0 = absent, TIMEOUT = it has changed, BUSY = the room
 * is too small. */
static int copy_again(bshm_segment *segment, uint32_t space, const bshm_key *key, unsigned flags,
	const bshm_room *room, bshm_found *found)
{
	if (bshm_record_find(segment, space, key, flags, found) != 1) {
		return 0;
	}
	if (found->length > room->count) {
		return BSHM_E_BUSY;
	}
	return bshm_found_copy(found, room->bytes) ? 1 : BSHM_E_TIMEOUT;
}

/* The same under the lock: 1, 0 = absent or damaged, BUSY. */
static int copy_locked(const bshm__shard *s, const bshm__home *home, uint32_t space,
	const bshm_key *key, unsigned flags, const bshm_room *room, bshm_found *found)
{
	bshm__existing at;
	bshm__locate(s, home, space, key, &at);
	if (at.cell == 0 || (at.expired && (flags & BSHM_FIND_STALE) == 0) ||
		!bshm__found_of(s, at.ref, at.sequence, bshm__store_now_s(s->segment), found)) {
		return 0;
	}
	if (found->length > room->count) {
		return BSHM_E_BUSY;
	}
	return bshm__record_copy(s, &at.record, found->key_length, room->bytes, found->length);
}

/* Page faults now, not under the lock. */
static void touch_room(const bshm_room *room)
{
	for (uint64_t i = 0; i < room->count; i += OS_PAGE_BYTES) {
		((volatile uint8_t *) room->bytes)[i] = 0;
	}
}

/* Without the lock: 1, 0 = absent, BUSY; TIMEOUT: it changed during each try. */
static int copy_patiently(bshm_segment *segment, uint32_t space, const bshm_key *key,
	unsigned flags, const bshm_room *room, uint64_t *since_ns, bshm_found *found)
{
	const uint64_t most_ns = segment->store_writable ? COPY_NS : COPY_LONGEST_NS;
	for (unsigned tries = 1;; tries++) {
		const int copied = copy_again(segment, space, key, flags, room, found);
		if (copied != BSHM_E_TIMEOUT) {
			return copied;
		}
		if (is_short(found)) {
			if (tries < TRIES) {
				continue;
			}
			return BSHM_E_TIMEOUT;
		}
		const uint64_t now_ns = bshm_os_monotonic_ns();
		*since_ns = *since_ns == 0 ? now_ns : *since_ns;
		if (now_ns - *since_ns > (tries < COPY_FIRST ? COPY_LONGEST_NS : most_ns)) {
			return BSHM_E_TIMEOUT;
		}
	}
}

int bshm_record_copy(bshm_segment *segment, uint32_t space, const bshm_key *key, unsigned flags,
	const bshm_room *room, bshm_patience *patience, bshm_found *found, bshm_error *error)
{
	if (segment->shard_count == 0) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_NO_STORE);
	}
	int copied =
		copy_patiently(segment, space, key, flags, room, &patience->copying_since_ns, found);
	if (copied != BSHM_E_TIMEOUT || is_short(found)) {
		return copied;
	}
	touch_room(room);
	const bshm__home home = bshm__home_of(segment, space, key);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	copied = bshm__shard_lock_patient(&s, patience, error);
	if (copied == BSHM_OK) {
		copied = copy_locked(&s, &home, space, key, flags, room, found);
		bshm__shard_unlock(&s);
	}
	return copied;
}
