/*
 * change.c - changes of one record: put on a condition, increment, append, touch, remove.
 *
 * Each call takes the lock of the key's shard, looks up the existing record, decides, and puts
 * (put.c) or removes (remove.c).
 *
 * A change that needs the bytes of the old value (append; touch, if the record has no word for a
 * ttl) copies them under the lock, into private memory that it took before the lock. Those of a
 * large value it copies without the lock, and begins again if the record has changed since.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/change.h"

#include "core/cache/aging.h"
#include "core/cache/ghost.h"
#include "core/cache/large.h"
#include "core/cache/lease_table.h"
#include "core/cache/parked.h"
#include "core/cache/put.h"
#include "core/cache/quota_recount.h"
#include "core/cache/remove.h"
#include "core/cache/room.h"
#include "core/cache/shadow.h"
#include "core/cache/shard_lock.h"
#include "core/cache/table.h"
#include "core/segment/lock.h"
#include "core/status.h"
#include "platform/platform.h"

#include <stdlib.h>

#define CHANGE_TRIES 64 /* while the value outgrows the memory taken for it */
#define COPY_TRIES   8  /* while a large value changes; then it is copied under the lock */
#define ROOM_TO_GROW 4096u
#define PAUSE_EVERY  4u   /* steps; few puts need so many */
#define STEPS_MOST   256u /* more than are needed; then room is made at once */

static void reject(const bshm__shard *s)
{
	BSHM_STORE(&s->shard->rejected, BSHM_LOAD(&s->shard->rejected, RELAXED) + 1, RELAXED);
}

static uint32_t expiry(const bshm_segment *segment, uint32_t ttl_s)
{
	return ttl_s == 0 ? 0 : bshm__store_next_s(segment) + ttl_s;
}

/* A call asked for a record, and puts none. */
static void note_absent(const bshm__shard *s, const bshm__home *home, const bshm__existing *at)
{
	if (at->cell == 0) {
		bshm__shadow_asked(s, home->hash);
		bshm__ghost_missed(s->segment, home->hash);
	}
}

/* An add that finds a record is a use of it, as in memcached and Redis: a key that is only added
 * would soon be the oldest, however often that is. */
static bool refuses(
	const bshm__shard *s, const bshm__home *home, const bshm__existing *at, const bshm_put *put)
{
	if (BSHM_LIKELY(put->mode == BSHM_PUT_SET) || bshm__may_put(s, at, put, UINT64_MAX)) {
		return false;
	}
	if (at->cell != 0 && !at->expired && put->mode == BSHM_PUT_ADD && !put->is_restored) {
		bshm__note_use(s, home, at);
	}
	note_absent(s, home, at);
	return true;
}

/* The expiry of the existing record, if there is one. */
static void keep_ttl(bshm__new_record *r, const bshm__existing *at)
{
	if (at->cell != 0 && !at->expired) {
		r->expires_s = at->record.expires_s;
	}
}

int bshm__record_put_step(const bshm__shard *s, const bshm__home *home, const bshm_put *put,
	uint32_t chain, uint32_t step)
{
	bshm__new_record r = {
		.space = put->space,
		.step = step,
		.key = put->key,
		.value = put->value,
		.expires_s = put->expires_s != 0 ? put->expires_s : expiry(s->segment, put->ttl_s),
		.is_protected = put->is_protected,
		.asked = put->mode != BSHM_PUT_SET,
		.chain = chain,
	};
	const bool fits = !bshm__too_large(s->segment, put->key.length, put->value.length);
	if (fits && !put->keeps_ttl) {
		bshm__put_prepare(s, &r);
	}
	bshm__existing at;
	bshm__locate(s, home, put->space, &put->key, &at);
	if (refuses(s, home, &at, put)) {
		bshm__parked_end(s, chain);
		return 0;
	}
	if (put->keeps_ttl) {
		keep_ttl(&r, &at);
	}
	if (fits && bshm__put_record(s, home, &r, &at)) {
		bshm__leases_end(s, home->hash);
		return 1;
	}
	if (r.step == BSHM_STEP_LATER) {
		return BSHM_E_BUSY;
	}
	bshm__parked_end(s, chain);
	reject(s);
	if (fits) { /* there should have been room */
		bshm__slabs_doubt(s);
	}
	if (put->mode == BSHM_PUT_SET) {
		bshm__locate(s, home, put->space, &put->key, &at);
		if (at.cell != 0) {
			bshm__record_remove(s, home, at.cell, at.ref);
		}
		bshm__leases_end(s, home->hash);
	}
	return 0;
}

/* Takes the lock of a key's shard. */
static bshm_status enter(bshm_segment *segment, uint32_t space, const bshm_key *key,
	bshm_patience *patience, bshm__home *home, bshm__shard *s, bshm_error *error)
{
	if (segment->shard_count == 0) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_NO_STORE);
	}
	bshm__quota_settle(segment, patience);
	*home = bshm__home_of(segment, space, key);
	*s = bshm__shard_at(segment, home->shard);
	bshm__home_prefetch(segment, home);
	return bshm__shard_lock_patient(s, patience, error);
}

/* May room be made in steps for a record that takes the place of an existing one? If it is large,
 * and no chunks are taken for it, it may need the existing record's (put.c). */
static bool is_stepped(uint64_t bytes, uint32_t chain)
{
	return chain != 0 || bytes <= BSHM_LARGE_CHUNKS * BSHM_CHUNK_BYTES;
}

/* Between two steps: `status` says whether the lock is held. Not OK: the chain is given up. */
static bshm_status go_on(const bshm__shard *s, uint32_t chain, bshm_status status, uint32_t *step)
{
	*step = *step < STEPS_MOST ? *step + 1 : 0;
	if (status != BSHM_OK && chain != 0) {
		bshm__parked_give_up(s);
	}
	return status;
}

/* Between two steps of a put that depends on no record: leaves the lock to others for a moment, now
 * and then for a pause. */
static bshm_status next_step(const bshm__shard *s, uint32_t chain, bshm__low *low,
	bshm_patience *patience, uint32_t *step, bshm_error *error)
{
	if (!bshm__may_pause(s, 0, low, patience)) {
		return bshm__yield_step(s, chain, patience, step, error);
	}
	if (*step % PAUSE_EVERY == 0) {
		return go_on(s, chain, bshm__shard_lock_pause(s, patience, error), step);
	}
	bshm__shard_unlock(s);
	return go_on(s, chain, bshm__shard_lock_patient(s, patience, error), step);
}

bshm_status bshm__yield_step(const bshm__shard *s, uint32_t chain, bshm_patience *patience,
	uint32_t *step, bshm_error *error)
{
	return go_on(s, chain, bshm__shard_lock_yield(s, patience, error), step);
}

/* Under the lock, which it releases: a put; the room that is missing is made in steps. Below 0: the
 * lock was lost. */
static int put_in_steps(const bshm__shard *s, const bshm__home *home, const bshm_put *put,
	uint32_t chain, bshm_patience *patience, bshm_error *error)
{
	const bool depends = put->mode != BSHM_PUT_ADD && bshm__put_depends(put);
	uint32_t step = !depends || is_stepped(put->key.length + put->value.length, chain);
	bshm__low low = BSHM_LOW_NONE;
	int stored;
	while (
		BSHM_UNLIKELY((stored = bshm__record_put_step(s, home, put, chain, step)) == BSHM_E_BUSY)) {
		const bshm_status again = depends ? bshm__yield_step(s, chain, patience, &step, error)
										  : next_step(s, chain, &low, patience, &step, error);
		if (again != BSHM_OK) {
			return again;
		}
	}
	bshm__shard_unlock(s);
	return stored;
}

/* The same for a large record. */
static BSHM_NOINLINE int put_large(const bshm__shard *s, const bshm__home *home,
	const bshm_put *put, bshm_patience *patience, bshm_error *error)
{
	uint32_t chain = 0;
	bshm__existing at;
	bshm__locate(s, home, put->space, &put->key, &at);
	if (refuses(s, home, &at, put)) { /* asked before records are evicted for it */
		bshm__shard_unlock(s);
		return 0;
	}
	const bshm_status status = bshm__prepare_large(s, home, put, patience, &chain, error);
	return status == BSHM_OK ? put_in_steps(s, home, put, chain, patience, error) : (int) status;
}

int bshm_record_put(bshm_segment *segment, const bshm_put *put, bshm_error *error)
{
	bshm_patience own = {0};
	bshm_patience *patience = put->patience != NULL ? put->patience : &own;
	bshm__home home;
	bshm__shard s;
	const bshm_status status = enter(segment, put->space, &put->key, patience, &home, &s, error);
	if (status != BSHM_OK) {
		return status;
	}
	if (BSHM_UNLIKELY(put->key.length + put->value.length >= BSHM_STEP_CHUNKS * BSHM_CHUNK_BYTES)) {
		return put_large(&s, &home, put, patience, error);
	}
	return put_in_steps(&s, &home, put, 0, patience, error);
}

static bshm_status check_size(
	const bshm__shard *s, uint64_t key_bytes, uint64_t value_bytes, bshm_error *error)
{
	if (!bshm__too_large(s->segment, key_bytes, value_bytes)) {
		return BSHM_OK;
	}
	reject(s);
	return bshm__fail_sizes(error, BSHM_E_NO_SPACE, BSHM_CAUSE_RECORD_SIZE, key_bytes + value_bytes,
		bshm__record_most(s->segment));
}

/* BUSY: r->step has not made all of the room. */
static bshm_status no_room(const bshm__shard *s, const bshm__new_record *r, bshm_error *error)
{
	if (r->step == BSHM_STEP_LATER) {
		return BSHM_E_BUSY;
	}
	reject(s);
	bshm__slabs_doubt(s); /* there should have been room */
	return bshm__fail_sizes(
		error, BSHM_E_NO_SPACE, BSHM_CAUSE_RECORD_ROOM, r->key.length + r->value.length, 0);
}

/* Under the lock: stores a changed value, with the expiry of the existing record. BUSY: as
 * no_room(). */
static bshm_status put_changed(const bshm__shard *s, const bshm__home *home, bshm__new_record *r,
	bshm__existing *at, bshm_error *error)
{
	keep_ttl(r, at);
	const bshm_status fits = check_size(s, r->key.length, r->value.length, error);
	if (fits == BSHM_OK && !bshm__put_record(s, home, r, at)) {
		return no_room(s, r, error);
	}
	if (fits == BSHM_OK) {
		bshm__leases_end(s, home->hash);
	}
	return fits;
}

/* Under the lock: 1 = done, 0 = absent. BUSY: as no_room(). */
static int increment_locked(const bshm__shard *s, const bshm__home *home, const bshm_increment *i,
	uint32_t step, int64_t *out, bshm_error *error)
{
	bshm__existing at;
	bshm__locate(s, home, BSHM_SPACE_CACHE, &i->key, &at);
	const bool exists = at.cell != 0 && !at.expired;
	int64_t value = i->initial;
	if (!exists && i->only_present) {
		note_absent(s, home, &at);
		return 0;
	}
	if (exists) {
		const bool is_int = bshm__record_type(&at.record) == BSHM_VALUE_INT &&
							at.record.value_bytes == sizeof(value);
		if (!is_int ||
			!bshm__record_copy(s, &at.record, at.record.key_bytes, &value, sizeof(value))) {
			return bshm__fail_type(error, BSHM_CAUSE_INT, bshm__record_type(&at.record));
		}
	}
	if (i->down ? BSHM_SUB_OVERFLOWS(value, i->by, out) : BSHM_ADD_OVERFLOWS(value, i->by, out)) {
		return bshm__fail_sizes(error, BSHM_E_RANGE,
			i->down ? BSHM_CAUSE_DECREMENT : BSHM_CAUSE_INCREMENT, (uint64_t) i->by,
			(uint64_t) value);
	}
	bshm__new_record r = {
		.space = BSHM_SPACE_CACHE,
		.key = i->key,
		.value = {BSHM_VALUE_INT, out, sizeof(*out)},
		.asked = true,
		.expires_s = expiry(s->segment, i->ttl_s),
		.step = step,
	};
	const bshm_status status = put_changed(s, home, &r, &at, error);
	return status == BSHM_OK ? 1 : status;
}

int bshm_record_increment(
	bshm_segment *segment, const bshm_increment *increment, int64_t *out, bshm_error *error)
{
	bshm_patience patience = {0};
	bshm__home home;
	bshm__shard s;
	bshm_status status =
		enter(segment, BSHM_SPACE_CACHE, &increment->key, &patience, &home, &s, error);
	if (status != BSHM_OK) {
		return status;
	}
	uint32_t step = 1;
	int done;
	while ((done = increment_locked(&s, &home, increment, step, out, error)) == BSHM_E_BUSY) {
		status = bshm__yield_step(&s, 0, &patience, &step, error);
		if (status != BSHM_OK) {
			return status;
		}
	}
	bshm__shard_unlock(&s);
	return done;
}

/* A record that is put anew: a string with a suffix, or any value with another expiry. */
typedef struct {
	const bshm_key *key;
	const bshm_key *delimiter; /* NULL: touch */
	const bshm_key *suffix;
	uint32_t ttl_s;
	char *bytes; /* room for the value and the suffix */
	uint64_t room;
	uint64_t length; /* of the new value */
	bshm_found old;  /* the record, as it was found before the lock was taken */
	bool present;    /* or there was none */
	bool copied;     /* `bytes` has the whole new value: that of `old`, and the suffix */
	uint32_t chain;  /* its chunks */
	bool is_later;   /* the last step has not made all of the room */
} rewriting;

/* Under the lock: is the existing record the one that was found? A large one has a serial, so it is
 * known again when other memory of the shard has got another meaning. */
static bool unchanged(const bshm__shard *s, const bshm__existing *at, const bshm_found *found)
{
	if (at->record.slot != found->slot) {
		return false;
	}
	if ((found->state & BSHM_SLOT_CHAINED) != 0) {
		return bshm__same_state(at->record.state, found->state) && at->record.shape == found->shape;
	}
	const bshm__record record = {.slot = found->slot, .state = found->state, .shape = found->shape};
	return bshm__record_unchanged(s, &record, found->sequence);
}

/* How many bytes follow an old value. */
static uint64_t tail_of(const rewriting *w, bool exists)
{
	return w->delimiter == NULL ? 0 : (exists ? w->delimiter->length : 0) + w->suffix->length;
}

/* The room has the old value: what follows it. */
static void write_tail(rewriting *w, bool exists, uint64_t length)
{
	w->length = length + tail_of(w, exists);
	if (w->delimiter != NULL) {
		const uint64_t between = exists ? w->delimiter->length : 0;
		memcpy(w->bytes + length, w->delimiter->bytes, between);
		memcpy(w->bytes + length + between, w->suffix->bytes, w->suffix->length);
	}
}

/* Under the lock: 1 = done, 0 = absent, BSHM_E_BUSY = the value has outgrown the memory, or has
 * changed since it was copied; or `step` has not made all of the room. */
static int rewrite_locked(
	const bshm__shard *s, const bshm__home *home, rewriting *w, uint32_t step, bshm_error *error)
{
	w->is_later = false;
	bshm__existing at;
	bshm__locate(s, home, BSHM_SPACE_CACHE, w->key, &at);
	const bool exists = at.cell != 0 && !at.expired;
	const bool append = w->delimiter != NULL;
	if (w->copied && (exists != w->present || (exists && !unchanged(s, &at, &w->old)))) {
		return BSHM_E_BUSY;
	}
	if (!exists && !append) {
		note_absent(s, home, &at);
		return 0;
	}
	bshm_value_type type = BSHM_VALUE_STRING;
	uint64_t length = 0;
	if (exists) {
		type = bshm__record_type(&at.record);
		length = at.record.value_bytes;
		if (append && type != BSHM_VALUE_STRING) {
			return bshm__fail_type(error, BSHM_CAUSE_STRING, type);
		}
	}
	const uint64_t total = length + tail_of(w, exists);
	const bshm_status fits = check_size(s, w->key->length, total, error);
	if (fits != BSHM_OK) {
		return fits;
	}
	if (!w->copied) {
		if (total > w->room ||
			(exists && !bshm__record_copy(s, &at.record, at.record.key_bytes, w->bytes, length))) {
			return BSHM_E_BUSY;
		}
		write_tail(w, exists, length);
	}
	bshm__new_record r = {
		.space = BSHM_SPACE_CACHE,
		.key = *w->key,
		.value = {type, w->bytes, total},
		.asked = true,
		.expires_s = expiry(s->segment, w->ttl_s),
		.chain = w->chain,
		.step = is_stepped(w->key->length + total, w->chain) ? step : 0,
	};
	bshm_status status = BSHM_OK;
	if (append) {
		status = put_changed(s, home, &r, &at, error);
	} else if (!bshm__put_record(s, home, &r, &at)) {
		status = no_room(s, &r, error);
	}
	w->is_later = r.step == BSHM_STEP_LATER;
	return status == BSHM_OK ? 1 : status;
}

/* Makes room for the new value in steps, and puts it. `refused`: it will not be put, unless the
 * record has changed. */
static int rewrite_in_steps(
	bshm_segment *segment, rewriting *w, bool refused, bshm_patience *patience, bshm_error *error)
{
	bshm__home home;
	bshm__shard s;
	int done = enter(segment, BSHM_SPACE_CACHE, w->key, patience, &home, &s, error);
	if (done != BSHM_OK) {
		return done;
	}
	w->chain = 0;
	if (!refused) {
		const uint64_t length = w->present ? w->old.length : 0;
		const bshm_put put = {
			.key = *w->key,
			.value = {BSHM_VALUE_STRING, w->bytes, length + tail_of(w, w->present)},
			.mode = w->delimiter == NULL ? BSHM_PUT_REPLACE
					: !w->copied         ? BSHM_PUT_SET /* whatever is there then */
					: w->present         ? BSHM_PUT_REPLACE
										 : BSHM_PUT_ADD,
			.keeps_ttl = true,
		};
		done = bshm__prepare_large(&s, &home, &put, patience, w->copied ? &w->chain : NULL, error);
		if (done != BSHM_OK) {
			return done;
		}
	}
	uint32_t step = 1;
	while ((done = rewrite_locked(&s, &home, w, step, error)) == BSHM_E_BUSY && w->is_later) {
		const bshm_status again = bshm__yield_step(&s, w->chain, patience, &step, error);
		if (again != BSHM_OK) {
			return again;
		}
	}
	bshm__parked_end(&s, w->chain);
	bshm__shard_unlock(&s);
	return done;
}

/* Copies the old value, if there still is one, and what follows it. False: it has outgrown the
 * room, or the lock was not free in time. */
static bool copy_old(bshm_segment *segment, rewriting *w, bshm_patience *patience)
{
	const bshm_room room = {w->bytes, w->room - tail_of(w, true)};
	bshm_error ignored;
	const int found = !w->present ? 0
								  : bshm_record_copy(segment, BSHM_SPACE_CACHE, w->key, 0, &room,
										patience, &w->old, &ignored);
	w->present = found == 1;
	w->copied = found >= 0;
	if (w->copied) {
		write_tail(w, w->present, w->present ? w->old.length : 0);
	}
	return w->copied;
}

/*
 * Puts a record anew. The memory for its value is taken before the lock, for the present length and
 * some more. The value is copied under the lock, so a process that changes the record all the time
 * cannot keep others from changing it; a large one only after COPY_TRIES.
 */
static int rewrite(bshm_segment *segment, rewriting *w, bshm_error *error)
{
	bshm_patience own = {0};
	int done = BSHM_E_BUSY;
	for (unsigned tries = 0; tries < CHANGE_TRIES && done == BSHM_E_BUSY; tries++) {
		w->present = bshm_record_find(segment, BSHM_SPACE_CACHE, w->key, 0, &w->old) == 1;
		const uint64_t length = w->present ? w->old.length : 0;
		const uint64_t total = length + tail_of(w, w->present);
		const bool refused =
			(w->present && w->delimiter != NULL && w->old.type != BSHM_VALUE_STRING) ||
			bshm__too_large(segment, w->key->length, total);
		w->room = (refused ? 0 : total + length / 8 + tail_of(w, true)) + ROOM_TO_GROW;
		w->bytes = malloc((size_t) w->room);
		if (w->bytes == NULL) {
			return bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
		}
		for (uint64_t i = 0; i < w->room; i += ROOM_TO_GROW) {
			((volatile char *) w->bytes)[i] = 0; /* page faults now, not under the lock */
		}
		w->copied = false;
		const bool large = total > BSHM_LARGE_CHUNKS * BSHM_CHUNK_BYTES;
		if (!large || refused || tries >= COPY_TRIES || copy_old(segment, w, &own)) {
			done = rewrite_in_steps(segment, w, refused, &own, error);
		}
		free(w->bytes);
	}
	return done == BSHM_E_BUSY ? bshm__fail(error, BSHM_E_TIMEOUT, BSHM_CAUSE_SHARD) : done;
}

bshm_status bshm_record_append(bshm_segment *segment, const bshm_key *key, const bshm_key *suffix,
	const bshm_key *delimiter, uint64_t *length, bshm_error *error)
{
	rewriting w = {.key = key, .delimiter = delimiter, .suffix = suffix};
	const int done = rewrite(segment, &w, error);
	*length = w.length;
	return done < 0 ? done : BSHM_OK;
}

/* Sets the expiry of a record that has a word for it: 1 = set, 0 = absent, -1 = it has no such
 * word. */
static int touch_in_place(
	const bshm__shard *s, const bshm__home *home, const bshm__existing *at, uint32_t expires_s)
{
	if (at->cell == 0 || at->expired) {
		return 0;
	}
	const bool has_word = (at->record.state & BSHM_SLOT_EXPIRES) != 0;
	if (has_word) {
		bshm__word_set(s, at->ref, 2, expires_s);
	}
	if (has_word || expires_s == 0) {
		bshm__note_use(s, home, at);
		return 1;
	}
	return -1;
}

int bshm_record_touch(bshm_segment *segment, const bshm_key *key, uint32_t ttl_s, bshm_error *error)
{
	bshm__home home;
	bshm__shard s;
	const bshm_status status = enter(segment, BSHM_SPACE_CACHE, key, NULL, &home, &s, error);
	if (status != BSHM_OK) {
		return status;
	}
	bshm__existing at;
	bshm__locate(&s, &home, BSHM_SPACE_CACHE, key, &at);
	const int touched = touch_in_place(&s, &home, &at, expiry(segment, ttl_s));
	if (touched == 0) {
		note_absent(&s, &home, &at);
	}
	bshm__shard_unlock(&s);
	if (touched >= 0) {
		return touched;
	}
	rewriting w = {.key = key, .ttl_s = ttl_s};
	return rewrite(segment, &w, error);
}

/* Under the lock: 1 = removed, 0 = was absent. */
static int remove_located(const bshm__shard *s, const bshm__home *home, const bshm__existing *at)
{
	if (at->cell == 0) {
		bshm__ghost_end(s, home);
		return 0;
	}
	bshm__record_remove(s, home, at->cell, at->ref);
	bshm__table_tidy(s, home->table);
	bshm__aging_step(s);
	return !at->expired;
}

int bshm__record_remove_locked(
	const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key)
{
	bshm__existing at;
	bshm__locate(s, home, space, key, &at);
	return remove_located(s, home, &at);
}

int bshm_record_remove(
	bshm_segment *segment, uint32_t space, const bshm_key *key, bshm_error *error)
{
	bshm__home home;
	bshm__shard s;
	const bshm_status status = enter(segment, space, key, NULL, &home, &s, error);
	if (status != BSHM_OK) {
		return status;
	}
	const int removed = bshm__record_remove_locked(&s, &home, space, key);
	bshm__shard_unlock(&s);
	return removed;
}

int bshm_found_remove(
	const bshm_found *found, const bshm_key *key, bshm_patience *patience, bshm_error *error)
{
	bshm__home home;
	bshm__shard s;
	const bshm_status status = enter(found->segment, found->space, key, patience, &home, &s, error);
	if (status != BSHM_OK) {
		return status;
	}
	bshm__existing at;
	bshm__locate(&s, &home, found->space, key, &at);
	const int removed =
		at.cell != 0 && (at.expired || unchanged(&s, &at, found)) && remove_located(&s, &home, &at);
	bshm__shard_unlock(&s);
	return removed;
}
