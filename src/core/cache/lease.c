/*
 * lease.c - one process at a time loads what belongs to a key.
 *
 * A lease is a place in the key's shard that holds the key's hash and who loads it. It is given and
 * taken back under the shard's lock, which is not held while anything is loaded. It ends with its
 * owner: whoever meets a lease of a process that is gone takes it.
 *
 * Between "the backend does not know this key" and the record that says so, another process may have
 * added the key. So whoever adds or forgets a key spoils the lease that is out for it, and what was
 * loaded under a spoilt lease is not stored. An adder looks only if there are leases in the shard:
 *
 *     loader                               adder
 *     leases + 1      (under the lock)     key into the backend, bits into the filter
 *     fence           (seq_cst)            fence              (seq_cst)
 *     ask the backend                      leases == 0?       nothing to spoil
 *
 * An adder that does not see the lease has finished before the backend is asked.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/store.h"

#define RELEASE_NS UINT64_C(1000000000)

void bshm_store_note_fetch(bshm_segment *segment)
{
	if (segment->store_writable && BSHM_LOAD(&segment->store->fetched, RELAXED) == 0) {
		BSHM_STORE(&segment->store->fetched, 1, SEQ_CST);
	}
}

bool bshm_store_has_fetched(const bshm_segment *segment)
{
	BSHM_FENCE(SEQ_CST); /* pairs with bshm_lease_take() */
	return segment->shard_count != 0 && BSHM_LOAD(&segment->store->fetched, RELAXED) != 0;
}

static bshm_lease *lease_at(const bshm__shard *s, uint32_t slot)
{
	return &s->segment->leases[(size_t) s->index * BSHM_LEASE_COUNT + slot];
}

/* Under the lock: the lease of a hash, or NULL; *vacant is one that can be given; counts them anew. */
static bshm_lease *find_lease(const bshm__shard *s, uint64_t hash, bshm_lease **vacant)
{
	bshm_lease *found = NULL;
	uint32_t out = 0;
	*vacant = NULL;
	for (uint32_t i = 0; i < BSHM_LEASE_COUNT; i++) {
		bshm_lease *lease = lease_at(s, i);
		const uint64_t owner = BSHM_LOAD(&lease->owner, RELAXED);
		if (owner == 0) {
			*vacant = lease;
			continue;
		}
		out++;
		if (BSHM_LOAD(&lease->hash, RELAXED) == hash) {
			found = lease;
		}
	}
	BSHM_STORE(&s->shard->leases, out, RELAXED);
	for (uint32_t i = 0; i < BSHM_LEASE_COUNT && *vacant == NULL; i++) {
		bshm_lease *lease = lease_at(s, i);
		if (!bshm__owner_alive(s->segment, BSHM_LOAD(&lease->owner, RELAXED))) {
			*vacant = lease;
		}
	}
	return found;
}

static void give(const bshm__shard *s, bshm_lease *lease, uint64_t hash, bshm_lease_grant *grant)
{
	const bool was_out = BSHM_LOAD(&lease->owner, RELAXED) != 0;
	const uint64_t serial = BSHM_LOAD(&lease->serial, RELAXED) + 1;
	BSHM_STORE(&lease->hash, hash, RELAXED);
	BSHM_STORE(&lease->thread, bshm_os_thread_id(), RELAXED);
	BSHM_STORE(&lease->spoilt, 0, RELAXED);
	BSHM_STORE(&lease->serial, serial, RELAXED);
	BSHM_STORE(&lease->owner, s->segment->owner, RELEASE);
	if (!was_out) {
		BSHM_STORE(&s->shard->leases, BSHM_LOAD(&s->shard->leases, RELAXED) + 1, RELAXED);
	}
	*grant = (bshm_lease_grant){
		.hash = hash,
		.serial = serial,
		.shard = s->index,
		.slot = (uint32_t) (lease - lease_at(s, 0)),
	};
}

bshm_lease_status bshm_lease_take(
	bshm_segment *segment, uint32_t space, const bshm_key *key, bshm_lease_grant *grant)
{
	*grant = (bshm_lease_grant){.serial = 0};
	if (segment->shard_count == 0) {
		return BSHM_LEASE_NONE;
	}
	bshm__quota_settle(segment);
	const bshm__home home = bshm__home_of(segment, space, key);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	bshm_error error;
	if (bshm__shard_lock(&s, BSHM_LOCK_PAGE_NS, &error) != BSHM_OK) {
		return BSHM_LEASE_NONE;
	}
	bshm_lease *vacant;
	bshm_lease *lease = find_lease(&s, home.hash, &vacant);
	bshm_lease_status status = BSHM_LEASE_NONE;
	if (lease != NULL && BSHM_LOAD(&lease->owner, RELAXED) == segment->owner) {
		const bool mine = BSHM_LOAD(&lease->thread, RELAXED) == bshm_os_thread_id();
		status = mine ? BSHM_LEASE_OWN : BSHM_LEASE_TAKEN;
	} else if (lease != NULL && bshm__owner_alive(segment, BSHM_LOAD(&lease->owner, RELAXED))) {
		status = BSHM_LEASE_TAKEN;
	} else if (lease != NULL || vacant != NULL) {
		give(&s, lease != NULL ? lease : vacant, home.hash, grant);
		status = BSHM_LEASE_MINE;
	}
	bshm__shard_unlock(&s);
	BSHM_FENCE(SEQ_CST); /* pairs with bshm_record_forget() */
	return status;
}

bool bshm_lease_held(bshm_segment *segment, uint32_t space, const bshm_key *key, bool probe)
{
	const bshm__home home = bshm__home_of(segment, space, key);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	for (uint32_t i = 0; i < BSHM_LEASE_COUNT; i++) {
		const bshm_lease *lease = lease_at(&s, i);
		const uint64_t owner = BSHM_LOAD(&lease->owner, ACQUIRE);
		if (owner != 0 && BSHM_LOAD(&lease->hash, RELAXED) == home.hash) {
			return !probe || bshm__owner_alive(segment, owner);
		}
	}
	return false;
}

/* Is the lease still what was granted? */
static bool is_granted(const bshm__shard *s, const bshm_lease *lease, const bshm_lease_grant *grant)
{
	return BSHM_LOAD(&lease->owner, RELAXED) == s->segment->owner &&
		   BSHM_LOAD(&lease->serial, RELAXED) == grant->serial;
}

static bool may_store(const bshm__shard *s, const bshm_lease *lease, const bshm_lease_grant *grant)
{
	return is_granted(s, lease, grant) && BSHM_LOAD(&lease->spoilt, RELAXED) == 0;
}

int bshm_lease_release(
	bshm_segment *segment, const bshm_lease_grant *grant, const bshm_put *put, bshm_error *error)
{
	if (grant->serial == 0) {
		return 0;
	}
	const bshm__shard s = bshm__shard_at(segment, grant->shard);
	const bshm__home home = bshm__home_of_hash(segment, grant->hash);
	bshm_lease *lease = lease_at(&s, grant->slot);
	bshm_status status = bshm__shard_lock(&s, RELEASE_NS, error);
	if (status == BSHM_OK && put != NULL && may_store(&s, lease, grant)) {
		bshm_patience own = {0};
		status = bshm__prepare_large(&s, &home, put, &own, error);
	}
	if (status != BSHM_OK) {
		if (is_granted(&s, lease, grant)) {
			BSHM_STORE(&lease->owner, 0, RELEASE); /* counted when the next one is given */
		}
		return status;
	}
	int stored = 0;
	if (is_granted(&s, lease, grant)) {
		if (put != NULL && may_store(&s, lease, grant)) {
			stored = bshm__record_put_locked(&s, &home, put);
		}
		BSHM_STORE(&lease->owner, 0, RELEASE);
		/* After the record: pairs with bshm_record_forget(). */
		BSHM_STORE(&s.shard->leases, BSHM_LOAD(&s.shard->leases, RELAXED) - 1, RELEASE);
	}
	bshm__shard_unlock(&s);
	return stored;
}

/* Under the lock: what is loaded for keys of this hash is not stored. */
static void spoil(const bshm__shard *s, bool all, uint64_t hash)
{
	for (uint32_t i = 0; i < BSHM_LEASE_COUNT; i++) {
		bshm_lease *lease = lease_at(s, i);
		if (BSHM_LOAD(&lease->owner, RELAXED) != 0 &&
			(all || BSHM_LOAD(&lease->hash, RELAXED) == hash)) {
			BSHM_STORE(&lease->spoilt, 1, RELAXED);
		}
	}
}

void bshm_leases_spoil(bshm_segment *segment, bshm_patience *patience)
{
	BSHM_FENCE(SEQ_CST); /* pairs with bshm_lease_take() */
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		const bshm__shard s = bshm__shard_at(segment, i);
		bshm_error error;
		/* Records are looked for after that: pairs with bshm_lease_release(). */
		if (BSHM_LOAD(&s.shard->leases, ACQUIRE) != 0 &&
			bshm__shard_lock_patient(&s, patience, &error) == BSHM_OK) {
			spoil(&s, true, 0);
			bshm__shard_unlock(&s);
		}
	}
}

int bshm_record_forget(bshm_segment *segment, uint32_t space, const bshm_key *key,
	bshm_patience *patience, bshm_error *error)
{
	if (segment->shard_count == 0) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, "store");
	}
	const bshm__home home = bshm__home_of(segment, space, key);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	bshm_found found;
	BSHM_FENCE(SEQ_CST); /* pairs with bshm_lease_take() */
	/* The record is looked for after that: pairs with bshm_lease_release(). */
	if (BSHM_LOAD(&s.shard->leases, ACQUIRE) == 0 &&
		bshm_record_find(segment, space, key, BSHM_FIND_STALE, &found) == 0) {
		return 0;
	}
	const bshm_status status = bshm__shard_lock_patient(&s, patience, error);
	if (status != BSHM_OK) {
		return status;
	}
	spoil(&s, false, home.hash);
	const int removed = bshm__record_remove_locked(&s, &home, space, key);
	bshm__shard_unlock(&s);
	return removed;
}
