/*
 * find.c - finds a record and copies it out, without a lock.
 *
 * A look-up reads the shard's sequence; then the bucket, the record's state, its key and its value;
 * then the state and the sequence once more. If the slot was freed meanwhile, the state has another
 * version. A version has 12 bits: it comes back after 4,096 frees of the slot, but then the
 * sequence has moved by as many. Where memory gets another meaning, so that the word is no state
 * any more, the sequence jumps by 2^24. So if the state is the same and the sequence has moved by
 * less than 4,096, all bytes are from one write. Else the look-up begins anew.
 *
 * While a large record is copied, other processes may free thousands of slots, and give memory
 * another meaning. It has a serial of 24 bits besides its version; after a jump, the index tells
 * whether that is still its slot (record.c). So its readers begin anew only if it was replaced. If
 * chunks of its own were moved, they copy these parts of it again.
 *
 * A record is replaced by one store of its ref, and its slot is freed after that. So a look-up that
 * meets a slot without a live record, or with another key, may have read an old ref. It reads the
 * ref and the state once more, the ref first. If both are unchanged, the ref led to what was read;
 * else the look-up begins anew, and finds the new record. No look-up waits for a writer, dead or
 * stopped.
 *
 * Sizes and refs are checked against the shard's pages before they are used: the segment may be
 * damaged. Not here: changes (put.c, remove.c, move.c), recency (recency.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/find.h"

#include "core/cache/aging.h"
#include "core/cache/ghost.h"
#include "core/cache/recency.h"
#include "core/cache/record.h"
#include "core/cache/shadow.h"
#include "core/segment/owners.h"

#define TRIES      4096 /* before a record in constant change counts as absent; with pauses, ms */
#define PAUSE_FROM 16

/* Has the cell, or the record, changed since it was read? Then the search may have read an old
 * ref. */
static bool ref_changed(const uint32_t *word, uint32_t ref, const bshm__record *record)
{
	BSHM_FENCE(ACQUIRE);                   /* pairs with the fence of free_taken() */
	if (BSHM_LOAD(word, ACQUIRE) != ref) { /* pairs with its publication */
		return true;
	}
	return record->slot != NULL && !bshm__record_same_state(record);
}

/* One search: 1 = found, 0 = absent, -1 = look again. */
static int search(const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key,
	uint64_t sequence, bshm__record *record)
{
	bshm__search at = bshm__search_begin(s, home);
	bool again = false;
	while (bshm__search_next(s, &at)) {
		const uint32_t *word = &at.bucket->ref[at.cell];
		const uint32_t ref = BSHM_LOAD(word, ACQUIRE); /* pairs with its publication */
		if (ref == 0) {
			continue;
		}
		if (bshm__record_load(s, ref, record) && bshm__record_has_key(s, record, space, key)) {
			return bshm__record_current(s, record, sequence) ? 1 : -1;
		}
		again |= ref_changed(word, ref, record);
	}
	BSHM_FENCE(ACQUIRE); /* pairs with bshm__sequence_jump(), and the fence of free_taken() */
	return again || bshm__versions_passed(s, sequence) ? -1 : 0;
}

/* For the child of a fork, which has no owner slot yet. It takes one, to count in a cache line of
 * its own. */
static BSHM_NOINLINE uint64_t tally_shared(bshm_segment *segment, bool hit)
{
	bshm_tally *all = &segment->tallies[BSHM_OWNER_COUNT];
	const uint64_t before = BSHM_ADD(hit ? &all->hits : &all->misses, 1, RELAXED);
	if (!segment->slotless) {
		bshm_error error;
		segment->slotless = bshm__owner_attach(segment, &error) != BSHM_OK;
	}
	return before + 1;
}

/* Counts a look-up in the process's own tally. Returns how many it has; 0 = it may not count. */
static inline uint64_t tally(bshm_segment *segment, bool hit)
{
	bshm_tally *own = segment->tally;
	if (BSHM_LIKELY(own != NULL)) {
		uint64_t *count = hit ? &own->hits : &own->misses;
		const uint64_t now = BSHM_LOAD(count, RELAXED) + 1;
		BSHM_STORE(count, now, RELAXED);
		return now;
	}
	return segment->store_writable ? tally_shared(segment, hit) : 0;
}

static void describe_found(const bshm__shard *s, const bshm__record *record, uint64_t sequence,
	bool expired, bshm_found *found)
{
	found->type = bshm__record_type(record);
	found->key_length = record->key_bytes;
	found->length = record->value_bytes;
	found->expires_s = record->expires_s;
	found->space = record->shape >> BSHM_SHAPE_SPACE & 1;
	found->expired = expired;
	found->segment = s->segment;
	found->slot = record->slot;
	found->bytes = record->bytes;
	found->sequence = sequence;
	found->shard = s->index;
	found->state = record->state;
	found->shape = record->shape;
	found->first = record->first;
	found->next = record->next;
}

/* Before the record is stamped: processes that use it at the same moment each note that. It is
 * rare, and a step more does little. No pointer to a variable: these can stay in registers. */
static BSHM_NOINLINE void note_late_use(bshm_segment *segment, const bshm_shard_header *shard,
	uint64_t hash, uint32_t state, uint64_t bytes)
{
	const bshm__shard s = bshm__shard_at(segment, (uint32_t) (shard - segment->shards));
	bshm__ghost_used(&s, hash, state, bytes);
}

/* Does a use in another epoch than the record's last one tell what an LRU would hold? In a shard
 * that has not evicted only that of a key of the sample: from the first eviction on its cell has to
 * say when it was used. */
static BSHM_ALWAYS_INLINE bool tells_of_an_lru(const bshm__shard *s, uint64_t hash, uint64_t bytes)
{
	return BSHM_LOAD(&s->shard->evictions, RELAXED) != 0 ||
		   BSHM_UNLIKELY(
			   bshm__shadow_samples(hash, bshm__shadow_limit_of(s), bshm__shadow_size(bytes)));
}

/* Counts a look-up, and notes the use of the record, if the caller uses it. */
static BSHM_ALWAYS_INLINE void note_hit(
	const bshm__shard *s, uint64_t hash, const bshm__record *record, bool expired, unsigned flags)
{
	if ((flags & BSHM_FIND_USE) != 0) {
		const uint64_t nth = tally(s->segment, !expired);
		if (BSHM_LIKELY(s->segment->store_writable)) {
			if (BSHM_UNLIKELY(nth % BSHM_HELP_HITS == 0)) {
				bshm__aging_help(s->segment, nth);
			}
			const uint64_t bytes = bshm__record_size(record);
			if (BSHM_UNLIKELY((record->state & BSHM_SLOT_STAMP) != bshm__stamp_now(s)) &&
				!expired && tells_of_an_lru(s, hash, bytes)) {
				note_late_use(s->segment, s->shard, hash, record->state, bytes);
			}
			bshm__touch(s, record->slot, record->state, bytes);
		}
	}
}

static BSHM_NOINLINE void note_asked(
	bshm_segment *segment, const bshm_shard_header *shard, uint64_t hash)
{
	const bshm__shard s = bshm__shard_at(segment, (uint32_t) (shard - segment->shards));
	bshm__shadow_asked(&s, hash);
}

/* `bucket`: the key's home; NULL: it does not matter whether there is a ghost. No pointer to a
 * variable: these can stay in registers. */
static BSHM_ALWAYS_INLINE int note_miss(
	const bshm__shard *s, uint64_t hash, const bshm_bucket *bucket, unsigned flags)
{
	if ((flags & BSHM_FIND_USE) != 0) {
		tally(s->segment, false);
		if (bucket != NULL && s->segment->store_writable &&
			BSHM_LOAD(&s->shard->evictions, RELAXED) != 0) {
			note_asked(s->segment, s->shard, hash);
			if (BSHM_UNLIKELY(bshm__ghost_likely(hash, bucket))) {
				bshm__ghost_missed(s->segment, hash);
			}
		}
	}
	return 0;
}

/* Describes the record that was found to the caller, unless it has expired, and notes the use. */
static BSHM_ALWAYS_INLINE int conclude(const bshm__shard *s, uint64_t hash,
	const bshm__record *record, uint64_t sequence, bool fetched, unsigned flags, bshm_found *found)
{
	const bool expired = BSHM_UNLIKELY(record->expires_s != 0) &&
						 bshm__expired(record->expires_s, bshm__store_now_s(s->segment));
	if (BSHM_UNLIKELY(expired && (flags & BSHM_FIND_STALE) == 0)) {
		return note_miss(s, 0, NULL, flags);
	}
	found->fetched = fetched;
	if (fetched && (flags & BSHM_FIND_VALUE) != 0) {
		found->type = bshm__record_type(record);
		found->length = record->value_bytes;
	} else {
		describe_found(s, record, sequence, expired, found);
	}
	note_hit(s, hash, record, expired, flags);
	return 1;
}

/* The general case: all buckets, again until the answer is consistent. */
static BSHM_NOINLINE int find_all(
	bshm_segment *segment, uint32_t space, const bshm_key *key, unsigned flags, bshm_found *found)
{
	const bshm__home home = bshm__home_of(segment, space, key);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	bshm__record record;
	uint64_t sequence;
	int result;
	unsigned tries = 0;
	do {
		if (tries > PAUSE_FROM) {
			BSHM_PAUSE();
		}
		sequence = BSHM_LOAD(&s.shard->sequence, ACQUIRE); /* pairs with bshm__sequence_jump() */
		result = search(&s, &home, space, key, sequence, &record);
	} while (result < 0 && ++tries < TRIES);
	return result == 1 ? conclude(&s, home.hash, &record, sequence, false, flags, found)
					   : note_miss(&s, home.hash, bshm__home_bucket(&s, &home), flags);
}

#define LINES_AHEAD 16u

/*
 * The same for a record in several slots that a ref led to: -1 = it is not the key's, or has
 * changed. A copy will wait for its first chunk: so lines of that come while the key is compared,
 * and the caller makes room. (A get of 8 kB takes 4 to 10 % less where memory has the value. GCC
 * drops the call of a function that does only this.)
 */
static BSHM_NOINLINE int find_large(bshm_segment *segment, const bshm__home *home, uint32_t ref,
	uint32_t space, const bshm_key *key, uint64_t sequence, unsigned flags, bshm_found *found)
{
	const bshm__shard s = bshm__shard_at(segment, home->shard);
	bshm__record record;
	const bool loaded = bshm__record_load(&s, ref, &record);
	if (loaded && (flags & (BSHM_FIND_USE | BSHM_FIND_VALUE)) != 0) {
		const uint8_t *chunk = bshm__ref_at(&s, record.next, LINES_AHEAD * BSHM_COPY_LINE);
		for (unsigned i = 0; chunk != NULL && i < LINES_AHEAD; i++) {
			BSHM_PREFETCH(chunk + i * BSHM_COPY_LINE);
		}
	}
	return loaded && bshm__record_has_key(&s, &record, space, key) &&
				   bshm__record_current(&s, &record, sequence)
			   ? conclude(&s, home->hash, &record, sequence, false, flags, found)
			   : -1;
}

/* Copies a value of up to 32 bytes with the look-up, without a loop: of less than 8 bytes, 8. */
static BSHM_ALWAYS_INLINE bool fetch_short(const uint8_t *from, uint32_t count, uint8_t *to)
{
	if (count > BSHM_SHORT_MAX) {
		return false;
	}
	if (count <= 16) {
		bshm__racy_copy(to, from, count < 8 ? 8 : count);
	} else {
		bshm__racy_copy(to, from, 16);
		bshm__racy_copy(to + count - 16, from + count - 16, 16);
	}
	return true;
}

/* The most bytes that a record in one slot can claim to have, its words included. */
#define PLAIN_BYTES_MAX (BSHM_SLOT_HEADER + 4 + 2 * BSHM_SHAPE_BYTES)

/*
 * Most searches end in the home bucket, at the first cell with the key's tag, and most records lie
 * in one slot. This is that case alone: without a loop, and with few enough variables for the
 * processor's registers. -1: find_all() has to search.
 */
static BSHM_ALWAYS_INLINE int find_plain(const bshm__shard *s, const bshm__home *home,
	uint32_t space, const bshm_key *key, unsigned flags, bshm_found *found)
{
	/* Pairs with bshm__sequence_jump(). */
	const uint64_t sequence = BSHM_LOAD(&s->shard->sequence, ACQUIRE);
	const bshm_bucket *bucket = bshm__home_bucket(s, home);
	if (BSHM_UNLIKELY(bucket == NULL)) {
		return -1;
	}
	uint32_t overflow;
	const uint64_t match = bshm__bucket_match(bucket, home->position, &overflow);
	if (match == 0) {
		return overflow == 0 && !bshm__sequence_jumped(s, sequence)
				   ? note_miss(s, home->hash, bucket, flags)
				   : -1;
	}
	/* Pairs with its publication. */
	const uint32_t ref = BSHM_LOAD(&bucket->ref[bshm__match_cell(match)], ACQUIRE);
	/* The last records of a shard may be nearer to its end: find_all() finds them. */
	uint8_t *slot = bshm__ref_at(s, ref, PLAIN_BYTES_MAX);
	if (BSHM_UNLIKELY(slot == NULL)) {
		return -1;
	}
	/* Pairs with bshm__slot_live(), and with free_taken(). */
	const uint32_t state = BSHM_LOAD(bshm__slot_word(slot, 0), ACQUIRE);
	const uint32_t shape = BSHM_LOAD(bshm__slot_word(slot, 1), RELAXED);
	const uint32_t key_and_space = shape & (BSHM_SHAPE_BYTES | 1u << BSHM_SHAPE_SPACE);
	const uint32_t expires = (state & BSHM_SLOT_EXPIRES) != 0;
	uint8_t *bytes = slot + BSHM_SLOT_HEADER + 4 * expires;
	if (BSHM_UNLIKELY((state & BSHM_SLOT_CHAINED) != 0)) {
		return find_large(s->segment, home, ref, space, key, sequence, flags, found);
	}
	if (BSHM_UNLIKELY((state & BSHM_SLOT_LIVE) == 0) ||
		BSHM_UNLIKELY(key_and_space != (key->length | (uint64_t) space << BSHM_SHAPE_SPACE)) ||
		BSHM_UNLIKELY(!bshm__racy_equal(bytes, key->bytes, key->length))) {
		return -1;
	}
	const uint32_t value_bytes = shape >> BSHM_SHAPE_VALUE & BSHM_SHAPE_BYTES;
	const uint32_t expires_s = BSHM_LOAD(bshm__slot_word(slot, 2 * expires), RELAXED);
	const bool fetched = (flags & (BSHM_FIND_USE | BSHM_FIND_VALUE)) != 0 &&
						 fetch_short(bytes + key->length, value_bytes, found->value);
	BSHM_FENCE(ACQUIRE); /* pairs with the fence of free_taken() */
	if (BSHM_UNLIKELY(!bshm__same_state(BSHM_LOAD(bshm__slot_word(slot, 0), RELAXED), state)) ||
		BSHM_UNLIKELY(bshm__versions_passed(s, sequence))) {
		return -1;
	}
	const bshm__record record = {
		.slot = slot,
		.state = state,
		.shape = shape,
		.key_bytes = (uint32_t) key->length,
		.value_bytes = value_bytes,
		.expires_s = expires ? expires_s : 0,
		.first = (uint32_t) key->length + value_bytes,
		.bytes = bytes,
	};
	return conclude(s, home->hash, &record, sequence, fetched, flags, found);
}

static inline int find(bshm_segment *segment, const bshm__home *home, uint32_t space,
	const bshm_key *key, unsigned flags, bshm_found *found)
{
	const bshm__shard s = bshm__shard_at(segment, home->shard);
	const int result = find_plain(&s, home, space, key, flags, found);
	return BSHM_LIKELY(result >= 0) ? result : find_all(segment, space, key, flags, found);
}

/* `flatten` inlines the hash and the search: calling them would cost as much as they do. */
BSHM_FLATTEN int bshm_record_find(
	bshm_segment *segment, uint32_t space, const bshm_key *key, unsigned flags, bshm_found *found)
{
	if (BSHM_UNLIKELY(segment->shard_count == 0)) {
		return BSHM_E_UNAVAILABLE;
	}
	const bshm__home home = bshm__home_of(segment, space, key);
	return find(segment, &home, space, key, flags, found);
}

/* Prefetches the records with the key's tag in its home bucket; for a change, their pages' headers
 * too. */
static void prefetch_record(bshm_segment *segment, const bshm__home *home, bool change)
{
	const bshm__shard s = bshm__shard_at(segment, home->shard);
	const bshm_bucket *bucket = bshm__home_bucket(&s, home);
	uint32_t overflow;
	uint64_t match = bucket == NULL ? 0 : bshm__bucket_match(bucket, home->position, &overflow);
	for (; match != 0; match &= match - 1) {
		const uint32_t ref = BSHM_LOAD(&bucket->ref[bshm__match_cell(match)], RELAXED);
		const uint8_t *slot = bshm__ref_at(&s, ref, BSHM_SLOT_BYTES_MIN);
		if (slot != NULL) {
			BSHM_PREFETCH(slot);
			if (change) {
				bshm__page_prefetch(&s, ref);
			}
		}
	}
}

/* First all roots, then all buckets, then all records: each step overlaps the cache misses of all
 * keys. */
static void prefetch_all(bshm_segment *segment, uint32_t space, const bshm_key *keys,
	unsigned count, bool change, bshm__home *homes)
{
	for (unsigned i = 0; i < count; i++) {
		homes[i] = bshm__home_of(segment, space, &keys[i]);
		BSHM_PREFETCH(&segment->roots[homes[i].table]);
	}
	for (unsigned i = 0; i < count; i++) {
		bshm__home_prefetch(segment, &homes[i]);
	}
	for (unsigned i = 0; i < count; i++) {
		prefetch_record(segment, &homes[i], change);
	}
}

void bshm_records_prefetch(
	bshm_segment *segment, uint32_t space, const bshm_key *keys, unsigned count)
{
	if (segment->shard_count != 0) {
		bshm__home homes[BSHM_BATCH];
		prefetch_all(segment, space, keys, count, true, homes);
	}
}

int bshm_record_find_many(bshm_segment *segment, uint32_t space, const bshm_key *keys,
	unsigned count, unsigned flags, bshm_found *found, bool *present)
{
	if (segment->shard_count == 0) {
		return BSHM_E_UNAVAILABLE;
	}
	bshm__home homes[BSHM_BATCH];
	prefetch_all(segment, space, keys, count, false, homes);
	int hits = 0;
	for (unsigned i = 0; i < count; i++) {
		present[i] = find(segment, &homes[i], space, &keys[i], flags, &found[i]) != 0;
		hits += present[i];
	}
	return hits;
}

static inline bshm__record record_of(const bshm_found *found)
{
	return (bshm__record){
		.slot = found->slot,
		.state = found->state,
		.shape = found->shape,
		.key_bytes = found->key_length,
		.bytes = found->bytes,
		.first = found->first,
		.next = found->next,
	};
}

/* Builds the record anew. A pointer to the caller's would put that into memory, in pieces that
 * reach over words just stored: the processor would wait for these stores, about 10 ns. */
static BSHM_NOINLINE bool found_survived(
	const bshm_found *found, uint64_t off, void *to, uint64_t count, bshm__places *places)
{
	const bshm__shard s = bshm__shard_at(found->segment, found->shard);
	const bshm__record record = record_of(found);
	return bshm__record_survived(&s, &record, off, to, count, places);
}

static bool copy_found(const bshm_found *found, uint64_t off, void *to, uint64_t count)
{
	const bshm__shard s = bshm__shard_at(found->segment, found->shard);
	const bshm__record record = record_of(found);
	bshm__places places;
	return bshm__record_read(&s, &record, off, to, count, &places) &&
		   (BSHM_LIKELY(bshm__record_unchanged(&s, &record, found->sequence)) ||
			   found_survived(found, off, to, count, &places));
}

BSHM_FLATTEN bool bshm_found_copy(const bshm_found *found, void *to)
{
	if (found->fetched) {
		bshm_found_short(found, to);
		return true;
	}
	return copy_found(found, found->key_length, to, found->length);
}

bool bshm_found_copy_key(const bshm_found *found, void *to)
{
	return copy_found(found, 0, to, found->key_length);
}

bool bshm__found_of(
	const bshm__shard *s, uint32_t ref, uint64_t sequence, uint32_t now_s, bshm_found *found)
{
	bshm__record record;
	if (!bshm__record_load(s, ref, &record)) {
		return false;
	}
	found->fetched = false;
	describe_found(s, &record, sequence, bshm__expired(record.expires_s, now_s), found);
	return bshm__record_current(s, &record, sequence);
}
