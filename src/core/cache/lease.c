/*
 * lease.c - one process at a time loads the value of a key.
 *
 * A lease is an entry in the key's shard with the key's hash and the loading process. It is given
 * and ended under the shard's lock, which is not held during the load; its own process may also end
 * it without the lock. It ends with its process: a lease of a dead process is free.
 *
 * A loaded value may be older than a value that another process stores meanwhile, or than a key
 * that it adds to a filter. So every change of a key's value ends the leases of the key, under the
 * same lock. A loaded value is stored only if its lease has not ended. A value that was loaded
 * without a lease is not stored. A change looks for leases only if the shard has any.
 *
 * An adder to a filter takes no lock if there is no record to remove. Between "the backend does not
 * know this key" and the record that says so, it may have added the key:
 *
 *     loader                               adder
 *     leases + 1      (under the lock)     key into the backend, bits into the filter
 *     fence           (seq_cst)            fence              (seq_cst)
 *     ask the backend                      leases == 0?       nothing to end
 *
 * An adder that does not see the lease has finished before the backend is asked.
 *
 * A key may have several leases: a process that has waited too long gets a second one, and so does
 * a process that learns that the last loaded value could not be stored. The first that stores its
 * value ends the others.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/change.h"
#include "core/cache/ghost.h"
#include "core/cache/large.h"
#include "core/cache/lease_table.h"
#include "core/cache/parked.h"
#include "core/cache/quota_recount.h"
#include "core/cache/shadow.h"
#include "core/cache/shard_lock.h"
#include "core/segment/lock.h"
#include "core/segment/owners.h"
#include "core/status.h"
#include "platform/platform.h"

/* Calls with many keys leave the others to calls with one. */
#define MANY_COUNT (BSHM_LEASE_COUNT / 4 * 3)
/* An expired value may stand in for a load that began at most so long after its expiry. */
#define STALE_S 5u
/* So long after a value could not be stored, other processes do not wait for a load of the key. */
#define UNSTORED_S 5u

void bshm_store_note_fetch(bshm_segment *segment)
{
	if (segment->store_writable && BSHM_LOAD(&segment->store->fetched, RELAXED) == 0) {
		BSHM_STORE(&segment->store->fetched, 1, SEQ_CST); /* pairs with bshm_store_has_fetched() */
	}
}

bool bshm_store_has_fetched(const bshm_segment *segment)
{
	BSHM_FENCE(SEQ_CST); /* pairs with bshm_lease_take() */
	return segment->shard_count != 0 && BSHM_LOAD(&segment->store->fetched, RELAXED) != 0;
}

/* The leases that matter for a key. */
typedef struct {
	bshm_lease *own;     /* this thread's */
	bshm_lease *other;   /* of a living process */
	bshm_lease *free;    /* can be given */
	uint32_t unstored_s; /* the latest of the key */
} choice;

static void consider(
	const bshm__shard *s, bshm_lease *lease, uint64_t owner, uint64_t hash, choice *p)
{
	const bool same = BSHM_LOAD(&lease->hash, RELAXED) == hash;
	if (same && BSHM_LOAD(&lease->unstored_s, RELAXED) > p->unstored_s) {
		p->unstored_s = BSHM_LOAD(&lease->unstored_s, RELAXED);
	}
	if (owner == 0) {
		p->free = same || p->free == NULL ? lease : p->free;
	} else if (same && owner == s->segment->owner &&
			   BSHM_LOAD(&lease->thread, RELAXED) == bshm_os_thread_id()) {
		p->own = lease;
	} else if (same && bshm__owner_alive(s->segment, owner)) {
		p->other = lease;
	} else if (same) {
		p->free = lease;
	}
}

/*
 * Under the lock. Looks up to the last lease in use, and the first free one. After a death the
 * count may be too high; this search sets it right.
 */
static choice look_for(const bshm__shard *s, uint64_t hash)
{
	choice p = {.unstored_s = 0};
	const uint32_t count = BSHM_LOAD(&s->shard->leases, RELAXED);
	uint32_t out = 0;
	for (uint32_t i = 0; i < BSHM_LEASE_COUNT && (out < count || p.free == NULL); i++) {
		const uint64_t owner = BSHM_LOAD(&bshm__lease_at(s, i)->owner, RELAXED);
		out += owner != 0;
		consider(s, bshm__lease_at(s, i), owner, hash, &p);
	}
	BSHM_STORE(&s->shard->leases, out, RELAXED);
	for (uint32_t i = 0; i < BSHM_LEASE_COUNT && p.free == NULL; i++) {
		if (!bshm__owner_alive(s->segment, BSHM_LOAD(&bshm__lease_at(s, i)->owner, RELAXED))) {
			p.free = bshm__lease_at(s, i);
		}
	}
	return p;
}

static bshm_lease_grant describe(const bshm__shard *s, const bshm_lease *lease)
{
	return (bshm_lease_grant){
		.hash = BSHM_LOAD(&lease->hash, RELAXED),
		.serial = BSHM_LOAD(&lease->serial, RELAXED),
		.shard = s->index,
		.slot = (uint32_t) (lease - bshm__lease_at(s, 0)),
		.begun_s = BSHM_LOAD(&lease->begun_s, RELAXED),
	};
}

/* The count goes up first: a death leaves it too high, never too low. */
static void give(const bshm__shard *s, bshm_lease *lease, uint64_t hash, uint32_t unstored_s)
{
	if (BSHM_LOAD(&lease->owner, RELAXED) == 0) {
		BSHM_STORE(&s->shard->leases, BSHM_LOAD(&s->shard->leases, RELAXED) + 1, RELAXED);
	}
	BSHM_STORE(&lease->hash, hash, RELAXED);
	BSHM_STORE(&lease->thread, bshm_os_thread_id(), RELAXED);
	BSHM_STORE(&lease->begun_s, bshm__store_now_s(s->segment), RELAXED);
	BSHM_STORE(&lease->unstored_s, unstored_s, RELAXED);
	BSHM_STORE(&lease->serial, BSHM_LOAD(&lease->serial, RELAXED) + 1, RELAXED);
	BSHM_STORE(&lease->owner, s->segment->owner, RELEASE); /* pairs with bshm_lease_held() */
}

/* Is it less than UNSTORED_S since a value could not be stored? */
static bool is_recent(const bshm_segment *segment, uint32_t unstored_s)
{
	return unstored_s != 0 && bshm__store_now_s(segment) - unstored_s <= UNSTORED_S;
}

/* May the call be given a free lease of the shard? */
static bool may_give(const bshm__shard *s, const choice *p, const bshm_patience *patience)
{
	return p->free != NULL &&
		   (patience == NULL || BSHM_LOAD(&s->shard->leases, RELAXED) < MANY_COUNT);
}

bshm_lease_status bshm_lease_take(bshm_segment *segment, uint32_t space, const bshm_key *key,
	bool beside, bshm_patience *patience, bshm_lease_grant *grant)
{
	*grant = (bshm_lease_grant){.serial = 0};
	if (segment->shard_count == 0) {
		return BSHM_LEASE_NONE;
	}
	bshm__quota_settle(segment, patience);
	const bshm__home home = bshm__home_of(segment, space, key);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	const uint64_t bit = UINT64_C(1) << home.shard;
	bshm_error error;
	if ((patience != NULL && (patience->no_lease & bit) != 0) ||
		bshm__shard_lock_patient(&s, patience, &error) != BSHM_OK) {
		return BSHM_LEASE_NONE;
	}
	const choice p = look_for(&s, home.hash);
	const bool unstored = is_recent(segment, p.unstored_s);
	bshm_lease_status status = BSHM_LEASE_NONE;
	if (p.own != NULL) {
		status = BSHM_LEASE_OWN;
	} else if (p.other != NULL && !beside && !unstored) {
		*grant = describe(&s, p.other);
		status = BSHM_LEASE_TAKEN;
	} else if (may_give(&s, &p, patience)) {
		give(&s, p.free, home.hash, unstored ? p.unstored_s : 0);
		*grant = describe(&s, p.free);
		status = BSHM_LEASE_MINE;
	} else if (patience != NULL) {
		patience->no_lease |= bit;
	}
	bshm__shard_unlock(&s);
	BSHM_FENCE(SEQ_CST); /* pairs with bshm_record_forget() */
	return status;
}

bool bshm_lease_held(bshm_segment *segment, const bshm_lease_grant *grant, bool probe)
{
	const bshm__shard s = bshm__shard_at(segment, grant->shard);
	const bshm_lease *lease = bshm__lease_at(&s, grant->slot);
	const uint64_t owner = BSHM_LOAD(&lease->owner, ACQUIRE); /* pairs with bshm__lease_end() */
	return owner != 0 && BSHM_LOAD(&lease->serial, RELAXED) == grant->serial &&
		   (!probe || bshm__owner_alive(segment, owner));
}

bool bshm_lease_unstored(bshm_segment *segment, const bshm_lease_grant *grant)
{
	const bshm__shard s = bshm__shard_at(segment, grant->shard);
	const bshm_lease *lease = bshm__lease_at(&s, grant->slot);
	return BSHM_LOAD(&lease->hash, RELAXED) == grant->hash &&
		   is_recent(segment, BSHM_LOAD(&lease->unstored_s, RELAXED));
}

bool bshm_lease_allows_stale(const bshm_lease_grant *grant, const bshm_found *found)
{
	/* A record expires as a second begins; the load began up to a second after `begun_s`. */
	return grant->begun_s < (uint64_t) found->expires_s + STALE_S;
}

/* Under the lock: stores the value in steps, unless the lease ends before. Below 0: the lock is
 * lost. */
static int put_granted(const bshm__shard *s, const bshm__home *home, const bshm_lease_grant *grant,
	const bshm_put *put, bshm_patience *patience, bshm_error *error)
{
	bshm_lease *lease = bshm__lease_at(s, grant->slot);
	uint32_t chain = 0;
	uint32_t step = 1;
	int stored = 0;
	bshm_put leased = *put;
	leased.lease = grant;
	bshm_status status = bshm__prepare_large(s, home, &leased, patience, &chain, error);
	if (status != BSHM_OK) {
		return status;
	}
	while (bshm__lease_granted(s, grant)) {
		stored = bshm__record_put_step(s, home, put, chain, step);
		if (stored != BSHM_E_BUSY) {
			BSHM_STORE(&lease->unstored_s, stored ? 0 : bshm__store_now_s(s->segment), RELAXED);
			break;
		}
		stored = 0;
		status = bshm__yield_step(s, chain, patience, &step, error);
		if (status != BSHM_OK) {
			return status;
		}
	}
	bshm__parked_end(s, chain);
	return stored;
}

int bshm_lease_release(bshm_segment *segment, const bshm_lease_grant *grant, const bshm_put *put,
	bshm_patience *patience, bshm_error *error)
{
	bshm_patience own = {.batch = true};
	if (grant->serial == 0) {
		return 0;
	}
	patience = patience != NULL ? patience : &own;
	const bshm__shard s = bshm__shard_at(segment, grant->shard);
	const bshm__home home = bshm__home_of_hash(segment, grant->hash);
	bshm_lease *lease = bshm__lease_at(&s, grant->slot);
	int stored = bshm__shard_lock_patient(&s, patience, error);
	if (stored == BSHM_OK && put != NULL && bshm__lease_granted(&s, grant)) {
		stored = put_granted(&s, &home, grant, put, patience, error);
	}
	if (stored < 0) {
		uint64_t owner = segment->owner;
		if (bshm__lease_granted(&s, grant)) {
			/* shard.leases is set right by the next look_for(). Pairs with bshm_lease_held(). */
			BSHM_CAS(&lease->owner, &owner, 0, RELEASE);
		}
		return stored;
	}
	if (bshm__lease_granted(&s, grant)) { /* not if the put has ended it */
		bshm__lease_end(&s, lease);
	}
	bshm__shard_unlock(&s);
	return stored;
}

int bshm_record_forget(bshm_segment *segment, uint32_t space, const bshm_key *key,
	bshm_patience *patience, bshm_error *error)
{
	if (segment->shard_count == 0) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_NO_STORE);
	}
	const bshm__home home = bshm__home_of(segment, space, key);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	bshm_found found;
	BSHM_FENCE(SEQ_CST); /* pairs with bshm_lease_take() */
	/* The record is looked up after that: pairs with bshm__lease_end(). */
	if (BSHM_LOAD(&s.shard->leases, ACQUIRE) == 0 &&
		bshm_record_find(segment, space, key, BSHM_FIND_STALE, &found) == 0) {
		/* They are hints: not worth a wait. */
		if ((bshm__ghost_exists(&s, &home) || bshm__shadow_exists(&s, home.hash)) &&
			bshm__shard_lock_free(&s)) {
			bshm__ghost_end(&s, &home);
			bshm__shard_unlock(&s);
		}
		return 0;
	}
	const bshm_status status = bshm__shard_lock_patient(&s, patience, error);
	if (status != BSHM_OK) {
		return status;
	}
	const int removed = bshm__record_remove_locked(&s, &home, space, key);
	bshm__leases_end(&s, home.hash);
	bshm__shard_unlock(&s);
	return removed;
}
