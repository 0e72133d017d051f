/*
 * put.c - records are put, changed and removed.
 *
 * Under the lock of the key's shard: look at what stands, decide, evict until there is room, fill
 * slots that nothing leads to yet, and publish with one store (write.c). Nothing is allocated there,
 * and nobody is called back.
 *
 * A change that needs the old value's bytes (append; touch, where the record has no place for a ttl)
 * copies them out as a reader does, without the lock, and puts the new record only if the old one
 * still stands.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/store.h"

#include <stdlib.h>

#define PUT_TRIES    8
#define CHANGE_TRIES 64
/* A large record's room is made in steps of so many evictions, so that nobody waits long. */
#define LARGE_CHUNKS 64u
#define LARGE_STEP   4096u

static uint32_t load(const bshm__shard *s, uint32_t ref, uint32_t word)
{
	return BSHM_LOAD(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), word), RELAXED);
}

static void store(const bshm__shard *s, uint32_t ref, uint32_t word, uint32_t value)
{
	BSHM_STORE(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), word), value, RELAXED);
}

/* ------------------------------------------------------------------ putting */

/* What a new record will be. */
typedef struct {
	uint32_t space;
	bshm_key key;
	bshm_value value;
	bshm_key tail; /* more of the value, behind it */
	uint32_t expires_s;
	bool used_again;
	uint32_t first; /* bytes in the first slot */
	uint32_t chunks;
	uint32_t size_class; /* of the first slot */
	uint32_t slot;       /* a free one of that class that is known; 0 = none */
} recipe;

static uint64_t recipe_bytes(const recipe *r)
{
	return (uint64_t) r->key.length + r->value.length + r->tail.length;
}

static void work_out(recipe *r)
{
	const uint64_t bytes = recipe_bytes(r);
	const uint32_t head = BSHM_SLOT_HEAD + (r->expires_s != 0 ? 4 : 0);
	r->chunks = 0;
	r->first = (uint32_t) bytes;
	if (head + bytes > BSHM_SLOT_BYTES_MAX) {
		r->first = bshm__record_first(bytes);
		r->chunks = (uint32_t) ((bytes - r->first + BSHM_CHUNK_BYTES - 1) / BSHM_CHUNK_BYTES);
		r->size_class = bshm__class_of(head + BSHM_CHAIN_HEAD + r->first);
	} else {
		r->size_class = bshm__class_of(head + r->first);
	}
}

/* Copies `count` bytes of key, value and tail, from `off` on. */
static void write_bytes(const recipe *r, uint64_t off, uint8_t *to, uint64_t count)
{
	const bshm_key parts[] = {
		r->key, {(const char *) r->value.bytes, (size_t) r->value.length}, r->tail};
	for (unsigned i = 0; i < 3 && count != 0; i++) {
		if (off < parts[i].length) {
			const uint64_t here = parts[i].length - off < count ? parts[i].length - off : count;
			bshm__racy_copy(to, parts[i].bytes + off, (size_t) here);
			to += here;
			count -= here;
			off = 0;
		} else {
			off -= parts[i].length;
		}
	}
}

/* Fills the first slot, which nothing leads to yet and which is not taken. */
static void write_first(
	const bshm__shard *s, const recipe *r, uint32_t ref, uint32_t state, uint32_t next)
{
	const uint64_t bytes = recipe_bytes(r) - r->key.length;
	uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	uint32_t *words = bshm__slot_word(slot, 0);
	uint32_t shape = (uint32_t) r->value.type << BSHM_SHAPE_TYPE | r->space << BSHM_SHAPE_SPACE;
	uint32_t word = 2;
	state |= BSHM_LOAD(words, RELAXED) & BSHM_SLOT_VERSION_MASK;
	if (r->expires_s != 0) {
		state |= BSHM_SLOT_EXPIRES;
		BSHM_STORE(&words[word++], r->expires_s, RELAXED);
	}
	if (r->chunks != 0) {
		state |= BSHM_SLOT_CHAINED;
		BSHM_STORE(&words[word++], (uint32_t) r->key.length, RELAXED);
		BSHM_STORE(&words[word++], (uint32_t) bytes, RELAXED);
		BSHM_STORE(&words[word++], next, RELAXED);
	} else {
		shape |= (uint32_t) r->key.length | (uint32_t) bytes << BSHM_SHAPE_VALUE;
	}
	BSHM_STORE(&words[1], shape, RELAXED);
	uint8_t *to = slot + 4 * (size_t) word;
	if (BSHM_LIKELY(r->chunks == 0 && r->tail.length == 0)) {
		bshm__racy_copy(to, r->key.bytes, r->key.length);
		bshm__racy_copy(to + r->key.length, r->value.bytes, (size_t) r->value.length);
	} else {
		write_bytes(r, 0, to, r->first);
	}
	BSHM_STORE(words, state, RELAXED);
}

/* Takes and fills all slots, the last chunk first; 0: there was no room, and nothing is taken. */
static uint32_t build(const bshm__shard *s, const recipe *r, uint32_t state)
{
	uint32_t *named = &s->shard->intent.fresh;
	uint32_t next = 0;
	for (uint32_t i = r->chunks; i-- > 0;) {
		const uint32_t chunk = bshm__slot_find(s, BSHM_CLASS_CHUNK, 0);
		if (chunk == 0) {
			bshm__chain_free(s, next);
			return 0;
		}
		store(s, chunk, 0, (load(s, chunk, 0) & BSHM_SLOT_VERSION_MASK) | BSHM_SLOT_CHAINED);
		store(s, chunk, 1, next);
		BSHM_STORE(named, chunk, RELEASE);
		bshm__slot_take(s, chunk);
		const uint64_t off = r->first + (uint64_t) i * BSHM_CHUNK_BYTES;
		const uint64_t left = recipe_bytes(r) - off;
		write_bytes(r, off, bshm__ref_at(s, chunk, BSHM_SLOT_BYTES_MAX) + BSHM_CHUNK_HEAD,
			left < BSHM_CHUNK_BYTES ? left : BSHM_CHUNK_BYTES);
		if (next != 0) {
			store(s, next, 2, chunk);
		}
		next = chunk;
	}
	const uint32_t first = r->slot != 0 ? r->slot : bshm__slot_find(s, r->size_class, 0);
	if (first == 0) {
		bshm__chain_free(s, next);
		return 0;
	}
	write_first(s, r, first, state, next);
	BSHM_STORE(named, first, RELEASE);
	bshm__slot_take(s, first);
	if (next != 0) {
		store(s, next, 2, first);
	}
	return first;
}

/* A record that stands, as a change meets it, or where it could be put. */
typedef struct {
	uint32_t place; /* 0: there is none */
	uint32_t ref;
	uint32_t vacant; /* the place of a new one; 0: the table has to grow */
	uint64_t sequence;
	bshm__record record;
	bool expired;
} standing;

/* Does what stands still stand: has nothing of the shard been given up since? */
static bool still(const bshm__shard *s, const standing *at)
{
	return BSHM_LOAD(&s->shard->sequence, RELAXED) == at->sequence;
}

static standing locate(
	const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key)
{
	standing at = {.sequence = BSHM_LOAD(&s->shard->sequence, RELAXED)};
	const bshm__lines lines = bshm__lines_of(s->segment, home->table);
	uint32_t number = bshm__line_of(home->position, lines.lines);
	bool passed_on = lines.lines != 0;
	for (uint32_t i = 0; i <= BSHM_PASSED_MAX && (passed_on || at.vacant == 0); i++) {
		const bshm_line *line = lines.lines == 0 ? NULL : bshm__line_at(s, &lines, number);
		uint32_t passed;
		if (line == NULL) {
			break;
		}
		uint32_t match = bshm__line_match(line, home->position, &passed);
		for (match = passed_on ? match : 0; match != 0; match &= match - 1) {
			const uint32_t slot = (uint32_t) __builtin_ctz(match);
			const uint32_t ref = BSHM_LOAD(&line->ref[slot], RELAXED);
			bshm__page_prefetch(s, ref); /* if it is the one, its slot is given up */
			if (ref != 0 && bshm__record_load(s, ref, &at.record) &&
				bshm__record_has_key(s, &at.record, space, key)) {
				at.ref = ref;
				at.place = bshm__place_in(&lines, number, slot);
				at.expired = bshm__expired(at.record.expires_s,
					at.record.expires_s == 0 ? 0 : bshm__store_now_s(s->segment));
				return at;
			}
		}
		const uint32_t vacant = at.vacant != 0 ? 0 : bshm__line_free(line);
		if (vacant != 0) {
			at.vacant = bshm__place_in(&lines, number, (uint32_t) __builtin_ctz(vacant));
		}
		passed_on = passed_on && passed != 0;
		number = bshm__line_next(number, lines.lines);
	}
	return at;
}

/* Makes room in the table for one more; false: cannot be. */
static bool make_place(const bshm__shard *s, const bshm__home *home, bool must)
{
	const uint32_t units = bshm__table_growth(s, home->table);
	const uint32_t lines = bshm__lines_of(s->segment, home->table).lines;
	const uint32_t more = lines / BSHM_UNIT_LINES + 1;
	const uint32_t wanted = units != 0 ? units : must ? more : 0;
	if (wanted == 0) {
		return true;
	}
	return wanted <= BSHM_TABLE_UNITS &&
		   bshm__make_room(s, BSHM_CLASS_INDEX, wanted, BSHM_CLASS_COUNT, UINT32_MAX) &&
		   bshm__table_resize(s, home->table, wanted);
}

/* Makes room for the record itself: the chunks' room is not made of the first slot's. */
static bool make_slots(const bshm__shard *s, recipe *r)
{
	r->slot = bshm__slot_find(s, r->size_class, 0);
	if (BSHM_LIKELY(r->slot != 0 && r->chunks == 0)) {
		return true;
	}
	r->slot = 0;
	return bshm__make_room(s, r->size_class, 1, BSHM_CLASS_COUNT, UINT32_MAX) &&
		   (r->chunks == 0 ||
			   bshm__make_room(s, BSHM_CLASS_CHUNK, r->chunks, r->size_class, UINT32_MAX));
}

/* One more of all shards' records, if the limit allows. */
static bool reserve_one(const bshm__shard *s)
{
	bshm_segment *segment = s->segment;
	const uint64_t most = segment->cache_records;
	if (most == 0) {
		return true;
	}
	if (segment->shard_count == 1) {
		return BSHM_LOAD(&s->shard->records, RELAXED) < most;
	}
	uint64_t reserved = BSHM_LOAD(&segment->store->reserved, RELAXED);
	while (reserved < most) {
		if (BSHM_CAS(&segment->store->reserved, &reserved, reserved + 1, RELAXED)) {
			return true;
		}
	}
	return false;
}

/* Puts the recipe's record in force, in the place of `at` or in a new one; false: no room. */
static bool publish(
	const bshm__shard *s, const bshm__home *home, const recipe *r, const standing *at)
{
	bshm_shard *shard = s->shard;
	const uint32_t place = at->place != 0 ? at->place : at->vacant;
	const uint32_t now = bshm__stamp_now(s);
	uint32_t state = now | BSHM_SLOT_LIVE | (r->used_again ? BSHM_SLOT_MAIN : 0);
	uint64_t replaced = 0;
	if (at->place != 0) {
		const uint32_t before = load(s, at->ref, 0);
		const bool again = (before & BSHM_SLOT_MAIN) != 0 || (before & BSHM_SLOT_STAMP) != now;
		state |= again && !at->expired ? BSHM_SLOT_MAIN : 0;
		replaced = (uint64_t) at->record.key_bytes + at->record.value_bytes;
	}
	bshm__intent_plan(s, BSHM_LOAD(&shard->records, RELAXED) + (at->place == 0),
		BSHM_LOAD(&shard->data_bytes, RELAXED) + recipe_bytes(r) - replaced);
	bshm__intent_begin(s, BSHM_INTENT_PUT, place, at->place != 0 ? at->ref : 0, 0);
	const uint32_t first = build(s, r, state);
	if (first != 0) {
		if (at->place == 0) {
			bshm__place_enter(s, home, place);
		}
		BSHM_STORE(bshm__place_word(s, place), first, RELEASE); /* others see it from here on */
		bshm__intent_carry_out(s);
		if (at->place != 0) {
			bshm__chain_free(s, at->ref);
		}
	}
	bshm__intent_end(s);
	return first != 0;
}

/* Is it too large for this store, whatever is evicted? */
static bool too_large(const bshm_segment *segment, uint64_t key_bytes, uint64_t value_bytes)
{
	const uint64_t bytes = key_bytes + value_bytes;
	return key_bytes > BSHM_KEY_BYTES_MAX || bytes > BSHM_RECORD_BYTES_MAX ||
		   bytes > segment->cache_bytes / 4;
}

/*
 * Stores the recipe's record; what stands has been looked at under the same lock. What is evicted to
 * make room may be that record itself: so it is looked for again.
 */
static bool put_record(const bshm__shard *s, const bshm__home *home, recipe *r, standing at)
{
	work_out(r);
	bool reserved = false;
	bool must_grow = false;
	for (unsigned tries = 0; tries < PUT_TRIES; tries++) {
		bool ready = true;
		while (ready && at.place == 0 && !reserved && !(reserved = reserve_one(s))) {
			ready = bshm__evict(s);
		}
		if (!ready || (at.place == 0 && !make_place(s, home, must_grow || at.vacant == 0)) ||
			!make_slots(s, r)) {
			break;
		}
		if (!still(s, &at)) { /* room was made, perhaps of what stood */
			at = locate(s, home, r->space, &r->key);
		}
		if (at.place != 0 && reserved) {
			bshm__give_back_one(s);
			reserved = false;
		}
		const uint32_t before = at.place != 0 ? load(s, at.ref, 0) : 0;
		if ((at.place != 0 || (reserved && at.vacant != 0)) && publish(s, home, r, &at)) {
			BSHM_STORE(&s->shard->sets, BSHM_LOAD(&s->shard->sets, RELAXED) + 1, RELAXED);
			const uint32_t now = bshm__stamp_now(s);
			if (before == 0 || (before & BSHM_SLOT_STAMP) != now) {
				bshm__touch_count(s, before);
			}
			bshm__aging_step(s);
			return true;
		}
		must_grow = at.place == 0 && at.vacant == 0;
		at.sequence--; /* look again */
	}
	if (reserved) {
		bshm__give_back_one(s);
	}
	return false;
}

static void reject(const bshm__shard *s)
{
	BSHM_STORE(&s->shard->rejected, BSHM_LOAD(&s->shard->rejected, RELAXED) + 1, RELAXED);
}

static uint32_t expiry(const bshm_segment *segment, uint32_t ttl_s)
{
	return ttl_s == 0 ? 0 : bshm__store_now_s(segment) + ttl_s;
}

/* ------------------------------------------------------------------ public */

/* Is the standing value what was expected? */
static bool is_value(const bshm__shard *s, const standing *at, const bshm_value *value)
{
	if ((bshm_value_type) (at->record.shape >> BSHM_SHAPE_TYPE & 15) != value->type ||
		at->record.value_bytes != value->length) {
		return false;
	}
	uint8_t piece[256];
	for (uint64_t off = 0; off < value->length; off += sizeof(piece)) {
		const uint64_t left = value->length - off;
		const uint64_t count = left < sizeof(piece) ? left : sizeof(piece);
		if (!bshm__record_copy(s, &at->record, at->record.key_bytes + off, piece, count) ||
			memcmp(piece, (const uint8_t *) value->bytes + off, (size_t) count) != 0) {
			return false;
		}
	}
	return true;
}

static bool allowed(const bshm__shard *s, const standing *at, const bshm_put *put)
{
	const bool present = at->place != 0 && !at->expired;
	switch (put->mode) {
		case BSHM_PUT_ADD:
			return !present;
		case BSHM_PUT_REPLACE:
			return present;
		case BSHM_PUT_CAS:
			return put->expected == NULL ? !present : present && is_value(s, at, put->expected);
		default:
			return true;
	}
}

int bshm__record_put_locked(const bshm__shard *s, const bshm__home *home, const bshm_put *put)
{
	const standing at = locate(s, home, put->space, &put->key);
	if (!allowed(s, &at, put)) {
		return 0;
	}
	recipe r = {
		.space = put->space,
		.key = put->key,
		.value = put->value,
		.expires_s = expiry(s->segment, put->ttl_s),
		.used_again = put->used_again,
	};
	if (!too_large(s->segment, put->key.length, put->value.length) && put_record(s, home, &r, at)) {
		return 1;
	}
	reject(s);
	const standing now = locate(s, home, put->space, &put->key);
	if (put->mode == BSHM_PUT_SET && now.place != 0) {
		bshm__record_remove(s, home, now.place, now.ref);
	}
	return 0;
}

/*
 * A process that died may have left `reserved` too high. Once it matters, all shards are stopped for a
 * moment, and it is set right.
 */
static void recount(bshm_segment *segment)
{
	bshm_error error;
	uint64_t records = 0;
	uint32_t locked = 0;
	BSHM_STORE(&segment->store->recount, 0, RELAXED);
	for (; locked < segment->shard_count; locked++) {
		const bshm__shard s = bshm__shard_at(segment, locked);
		if (bshm__shard_lock(&s, BSHM_LOCK_PAGE_NS, &error) != BSHM_OK) {
			break;
		}
		records += BSHM_LOAD(&s.shard->records, RELAXED);
	}
	const bool all = locked == segment->shard_count;
	BSHM_STORE(all ? &segment->store->reserved : &records, records, RELAXED);
	while (locked > 0) {
		const bshm__shard s = bshm__shard_at(segment, --locked);
		bshm__shard_unlock(&s);
	}
	if (!all) {
		BSHM_STORE(&segment->store->recount, 1, RELAXED);
	}
}

/* Takes the lock of a key's shard. */
static bshm_status enter(bshm_segment *segment, uint32_t space, const bshm_key *key,
	bshm__home *home, bshm__shard *s, bshm_error *error)
{
	if (segment->shard_count == 0) {
		return bshm__fail(error, BSHM_E_UNAVAILABLE, "store");
	}
	if (BSHM_UNLIKELY(BSHM_LOAD(&segment->store->recount, RELAXED) != 0) &&
		segment->store_writable && segment->shard_count > 1 && segment->cache_records != 0 &&
		BSHM_LOAD(&segment->store->reserved, RELAXED) >= segment->cache_records) {
		recount(segment);
	}
	*home = bshm__home_of(segment, space, key);
	*s = bshm__shard_at(segment, home->shard);
	bshm__home_prefetch(segment, home);
	return bshm__shard_lock(s, BSHM_LOCK_PAGE_NS, error);
}

/* Makes room for a large record, letting others in now and then. Not OK: the lock is lost. */
static bshm_status prepare_large(const bshm__shard *s, const bshm_put *put, bshm_error *error)
{
	const uint64_t chunks = put->value.length / BSHM_CHUNK_BYTES + 1;
	if (too_large(s->segment, put->key.length, put->value.length)) {
		return BSHM_OK;
	}
	while (!bshm__make_room(s, BSHM_CLASS_CHUNK, chunks, BSHM_CLASS_COUNT, LARGE_STEP) &&
		   BSHM_LOAD(&s->shard->records, RELAXED) != 0) {
		bshm__shard_unlock(s);
		const bshm_status status = bshm__shard_lock(s, BSHM_LOCK_PAGE_NS, error);
		if (status != BSHM_OK) {
			return status;
		}
	}
	return BSHM_OK;
}

int bshm_record_put(bshm_segment *segment, const bshm_put *put, bshm_error *error)
{
	bshm__home home;
	bshm__shard s;
	const bshm_status status = enter(segment, put->space, &put->key, &home, &s, error);
	if (status != BSHM_OK) {
		return status;
	}
	if (put->value.length > LARGE_CHUNKS * BSHM_CHUNK_BYTES) {
		const bshm_status ready = prepare_large(&s, put, error);
		if (ready != BSHM_OK) {
			return ready;
		}
	}
	const int stored = bshm__record_put_locked(&s, &home, put);
	bshm__shard_unlock(&s);
	return stored;
}

/* Under the lock: stores a changed value with the ttl that stands. */
static bshm_status put_changed(
	const bshm__shard *s, const bshm__home *home, recipe *r, const standing *at, bshm_error *error)
{
	if (at->place != 0 && !at->expired) {
		r->expires_s = at->record.expires_s;
	}
	const uint64_t value_bytes = r->value.length + r->tail.length;
	if (too_large(s->segment, r->key.length, value_bytes)) {
		reject(s);
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, "record", r->key.length + value_bytes,
			s->segment->cache_bytes / 4 < BSHM_RECORD_BYTES_MAX ? s->segment->cache_bytes / 4
																: BSHM_RECORD_BYTES_MAX);
	}
	if (!put_record(s, home, r, *at)) {
		reject(s);
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, "record", r->key.length + value_bytes, 0);
	}
	return BSHM_OK;
}

bshm_status bshm_record_increment(bshm_segment *segment, const bshm_key *key, int64_t by,
	int64_t initial, uint32_t ttl_s, int64_t *out, bshm_error *error)
{
	bshm__home home;
	bshm__shard s;
	bshm_status status = enter(segment, BSHM_SPACE_CACHE, key, &home, &s, error);
	if (status != BSHM_OK) {
		return status;
	}
	const standing at = locate(&s, &home, BSHM_SPACE_CACHE, key);
	int64_t value = initial;
	if (at.place != 0 && !at.expired) {
		const bool is_int = (at.record.shape >> BSHM_SHAPE_TYPE & 15) == BSHM_VALUE_INT &&
							at.record.value_bytes == sizeof(value);
		if (!is_int ||
			!bshm__record_copy(&s, &at.record, at.record.key_bytes, &value, sizeof(value))) {
			status = bshm__fail(error, BSHM_E_INCOMPATIBLE, "int");
		}
	}
	if (status == BSHM_OK && __builtin_add_overflow(value, by, out)) {
		status = bshm__fail(error, BSHM_E_RANGE, "int");
	}
	if (status == BSHM_OK) {
		recipe r = {
			.space = BSHM_SPACE_CACHE,
			.key = *key,
			.value = {BSHM_VALUE_INT, out, sizeof(*out)},
			.expires_s = expiry(segment, ttl_s),
		};
		status = put_changed(&s, &home, &r, &at, error);
	}
	bshm__shard_unlock(&s);
	return status;
}

/* Is what was found still what stands? NULL: nothing was. */
static bool unchanged(const bshm__shard *s, const standing *at, const bshm_found *found)
{
	if (found == NULL || at->place == 0 || at->expired) {
		return found == NULL && (at->place == 0 || at->expired);
	}
	return at->record.slot == found->slot &&
		   ((at->record.state ^ found->state) & ~(BSHM_SLOT_STAMP | BSHM_SLOT_MAIN)) == 0 &&
		   BSHM_LOAD(&s->shard->sequence, RELAXED) - found->sequence < BSHM_SEQUENCE_JUMP;
}

/* A copy of a found record's value; NULL: there is no memory, or (*again) it has changed. */
static char *copy_value(const bshm_found *found, bool *again)
{
	char *bytes = malloc((size_t) found->length + 1);
	*again = false;
	if (bytes != NULL && !bshm_found_copy(found, bytes)) {
		*again = true;
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

/*
 * Puts a record made of what was found, if that still stands: 1 = done, 0 = it has changed. The ttl
 * stays, unless `touch` is set.
 */
static int put_found(bshm_segment *segment, recipe *r, const bshm_found *found, bool touch,
	uint32_t ttl_s, bshm_error *error)
{
	bshm__home home;
	bshm__shard s;
	bshm_status status = enter(segment, BSHM_SPACE_CACHE, &r->key, &home, &s, error);
	if (status != BSHM_OK) {
		return status;
	}
	const standing at = locate(&s, &home, BSHM_SPACE_CACHE, &r->key);
	const bool same = unchanged(&s, &at, found);
	if (same && touch) {
		r->expires_s = expiry(segment, ttl_s);
		status =
			put_record(&s, &home, r, at) ? BSHM_OK : bshm__fail(error, BSHM_E_NO_SPACE, "record");
	} else if (same) {
		status = put_changed(&s, &home, r, &at, error);
	}
	bshm__shard_unlock(&s);
	return status != BSHM_OK ? status : same;
}

/* One attempt: 1 = done, 0 = what stands has changed meanwhile. */
static int append_once(bshm_segment *segment, const bshm_key *key, const bshm_key *suffix,
	const bshm_key *delimiter, uint64_t *length, bshm_error *error)
{
	bshm_found found;
	recipe r = {.space = BSHM_SPACE_CACHE, .key = *key};
	const int present = bshm_record_find(segment, BSHM_SPACE_CACHE, key, 0, &found);
	if (present <= 0) {
		r.value = (bshm_value){BSHM_VALUE_STRING, suffix->bytes, suffix->length};
		*length = suffix->length;
		return put_found(segment, &r, NULL, false, 0, error);
	}
	if (found.type != BSHM_VALUE_STRING) {
		return bshm__fail(error, BSHM_E_INCOMPATIBLE, "string");
	}
	*length = found.length + delimiter->length + suffix->length;
	if (too_large(segment, key->length, *length)) {
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, "record", key->length + *length,
			segment->cache_bytes / 4 < BSHM_RECORD_BYTES_MAX ? segment->cache_bytes / 4
															 : BSHM_RECORD_BYTES_MAX);
	}
	char *bytes = malloc((size_t) *length + 1);
	if (bytes == NULL) {
		return bshm__fail(error, BSHM_E_NO_SPACE, "memory");
	}
	int done = 0;
	if (bshm_found_copy(&found, bytes)) {
		memcpy(bytes + found.length, delimiter->bytes, delimiter->length);
		memcpy(bytes + found.length + delimiter->length, suffix->bytes, suffix->length);
		r.value = (bshm_value){BSHM_VALUE_STRING, bytes, *length};
		done = put_found(segment, &r, &found, false, 0, error);
	}
	free(bytes);
	return done;
}

bshm_status bshm_record_append(bshm_segment *segment, const bshm_key *key, const bshm_key *suffix,
	const bshm_key *delimiter, uint64_t *length, bshm_error *error)
{
	for (unsigned tries = 0; tries < CHANGE_TRIES; tries++) {
		const int done = append_once(segment, key, suffix, delimiter, length, error);
		if (done != 0) {
			return done < 0 ? done : BSHM_OK;
		}
	}
	return bshm__fail(error, BSHM_E_TIMEOUT, "shard");
}

/* Where the record has a place for it: 1 = set, 0 = absent, -1 = it has none. */
static int touch_in_place(const bshm__shard *s, const standing *at, uint32_t expires_s)
{
	if (at->place == 0 || at->expired) {
		return 0;
	}
	const bool has_word = (at->record.state & BSHM_SLOT_EXPIRES) != 0;
	if (has_word) {
		store(s, at->ref, 2, expires_s);
	}
	if (has_word || expires_s == 0) {
		bshm__touch(s, at->record.slot, load(s, at->ref, 0));
		return 1;
	}
	return -1;
}

/* One attempt: 1 = done, 0 = absent, BSHM_E_BUSY = it has changed meanwhile. */
static int touch_once(bshm_segment *segment, const bshm_key *key, uint32_t ttl_s, bshm_error *error)
{
	bshm__home home;
	bshm__shard s;
	const bshm_status status = enter(segment, BSHM_SPACE_CACHE, key, &home, &s, error);
	if (status != BSHM_OK) {
		return status;
	}
	const standing at = locate(&s, &home, BSHM_SPACE_CACHE, key);
	const int touched = touch_in_place(&s, &at, expiry(segment, ttl_s));
	bshm__shard_unlock(&s);
	bshm_found found;
	if (touched >= 0) {
		return touched;
	}
	if (bshm_record_find(segment, BSHM_SPACE_CACHE, key, 0, &found) <= 0) {
		return 0;
	}
	bool again;
	char *bytes = copy_value(&found, &again);
	if (bytes == NULL) {
		return again ? BSHM_E_BUSY : bshm__fail(error, BSHM_E_NO_SPACE, "memory");
	}
	recipe r = {
		.space = BSHM_SPACE_CACHE,
		.key = *key,
		.value = {found.type, bytes, found.length},
	};
	const int done = put_found(segment, &r, &found, true, ttl_s, error);
	free(bytes);
	return done == 0 ? BSHM_E_BUSY : done;
}

int bshm_record_touch(bshm_segment *segment, const bshm_key *key, uint32_t ttl_s, bshm_error *error)
{
	for (unsigned tries = 0; tries < CHANGE_TRIES; tries++) {
		const int done = touch_once(segment, key, ttl_s, error);
		if (done != BSHM_E_BUSY) {
			return done;
		}
	}
	return bshm__fail(error, BSHM_E_TIMEOUT, "shard");
}

/* Under the lock: 1 = removed, 0 = was absent. */
static int remove_located(const bshm__shard *s, const bshm__home *home, const standing *at)
{
	if (at->place == 0) {
		return 0;
	}
	bshm__record_remove(s, home, at->place, at->ref);
	bshm__table_tidy(s, home->table);
	return !at->expired;
}

int bshm__record_remove_locked(
	const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key)
{
	const standing at = locate(s, home, space, key);
	return remove_located(s, home, &at);
}

int bshm_record_remove(
	bshm_segment *segment, uint32_t space, const bshm_key *key, bshm_error *error)
{
	bshm__home home;
	bshm__shard s;
	const bshm_status status = enter(segment, space, key, &home, &s, error);
	if (status != BSHM_OK) {
		return status;
	}
	const int removed = bshm__record_remove_locked(&s, &home, space, key);
	bshm__shard_unlock(&s);
	return removed;
}

int bshm_found_remove(const bshm_found *found, const bshm_key *key, bshm_error *error)
{
	bshm__home home;
	bshm__shard s;
	const bshm_status status = enter(found->segment, found->space, key, &home, &s, error);
	if (status != BSHM_OK) {
		return status;
	}
	const standing at = locate(&s, &home, found->space, key);
	const int removed = at.place != 0 && (at.expired || unchanged(&s, &at, found)) &&
						remove_located(&s, &home, &at);
	bshm__shard_unlock(&s);
	return removed;
}
