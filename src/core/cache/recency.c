/*
 * recency.c - when each record was last used.
 *
 * There is no list. A record has a stamp of 16 bits: the epoch of its last use. An epoch ends when
 * a 64th of the shard's records have been stamped in it. So up to 127 records the order is exact,
 * and above that to a 64th of them. A look-up stamps its record once an epoch, with one
 * compare-and-swap. A record that is used all the time is written once an epoch, not at every use.
 *
 *      clock = | base | floor | quarter | now |      16 bits each
 *
 * A quarter is a span of epochs in which 5/16 of the records were stamped for the first time: that
 * many different records were used in it. `quarter` is the epoch in which the present quarter
 * began, `floor` that of the one before. A record that was last used before `floor` has not been
 * used for a whole quarter; only such records are evicted. So the most recently used quarter of the
 * shard's records is safe, and the sixteenth on top makes up for keys that are not spread evenly
 * over the shards. At most two quarters of the records are younger than `floor`, so there is always
 * one that may be evicted.
 *
 * Stamps are compared modulo 65,536. `base` is no younger than any stamp. When `now` is far ahead
 * of it, writers renumber the old stamps, a page with each put. If there is no writer, `now` stops
 * before it can overtake them, and uses are not noted until a process writes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/recency.h"

#include "core/cache/walk.h"

#define EPOCH_SHARE 64u
#define AGE_MAX     0xf000u             /* `now` stops so far ahead of `base` */
#define AGE_KEPT    0x4000u             /* a renumbering makes no stamp older than that */
#define FRESH_ONE   (UINT64_C(1) << 32) /* in `touches` */

/* ------------------------------------------------------------------ the clock */

static uint64_t pack(bshm__epochs e)
{
	return (uint64_t) (e.now & BSHM_SLOT_STAMP) | (uint64_t) (e.quarter & BSHM_SLOT_STAMP) << 16 |
		   (uint64_t) (e.floor & BSHM_SLOT_STAMP) << 32 |
		   (uint64_t) (e.base & BSHM_SLOT_STAMP) << 48;
}

/* Begins the next epoch, and with `quarter` the next quarter; `clock` is the one that the caller
 * read. */
static void advance(const bshm__shard *s, uint64_t clock, bool quarter)
{
	bshm__epochs e = bshm__epochs_of(clock);
	if (((e.now + 1 - e.base) & BSHM_SLOT_STAMP) >= AGE_MAX) {
		return;
	}
	e.now++;
	/* The counts first: a process that sees the new clock counts from 0 on. */
	if (quarter) {
		e.floor = e.quarter;
		e.quarter = e.now;
		BSHM_STORE(&s->shard->touches, 0, RELAXED);
	} else {
		BSHM_AND(&s->shard->touches, ~(uint64_t) UINT32_MAX, RELAXED);
	}
	BSHM_CAS(&s->shard->clock, &clock, pack(e), RELEASE); /* pairs with bshm__touch_count() */
}

void bshm__quarter_end(const bshm__shard *s)
{
	advance(s, BSHM_LOAD(&s->shard->clock, RELAXED), true);
}

/* A count may be lost when another process clears `touches`. That makes a quarter longer, never
 * shorter. */
void bshm__touch_count(const bshm__shard *s, uint32_t before)
{
	bshm_shard_header *shard = s->shard;
	const uint64_t clock = BSHM_LOAD(&shard->clock, ACQUIRE); /* pairs with advance() */
	const bshm__epochs e = bshm__epochs_of(clock);
	const uint64_t records = BSHM_LOAD(&shard->records, RELAXED);
	const bool first =
		before == 0 || bshm__age(e.now, before & BSHM_SLOT_STAMP) > bshm__age(e.now, e.quarter);
	const uint64_t one = first ? FRESH_ONE + 1 : 1;
	const uint64_t counts = BSHM_ADD(&shard->touches, one, RELAXED) + one;
	if ((counts >> 32) * 16 >= records * 5 && first) {
		advance(s, clock, true);
	} else if ((counts & UINT32_MAX) >= records / EPOCH_SHARE) {
		advance(s, clock, false);
	}
}

void bshm__touch_set(const bshm__shard *s, uint8_t *slot, uint32_t state)
{
	const uint32_t before = state;
	const uint32_t after = (state & ~BSHM_SLOT_STAMP) | bshm__stamp_now(s) | BSHM_SLOT_PROTECTED;
	if (BSHM_CAS(bshm__slot_word(slot, 0), &state, after, RELAXED)) {
		bshm__touch_count(s, before);
	}
}

/* ------------------------------------------------------------------ renumbering */

static void renumber_page(const bshm__shard *s, uint32_t page, uint32_t oldest)
{
	bshm__walk w = {page, 0, s->segment->shard_pages};
	uint32_t state;
	uint32_t ref;
	while ((ref = bshm__walk_next(s, &w, &state)) != 0 && w.page == page) {
		const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&s->shard->clock, RELAXED));
		if (bshm__age(e.now, state & BSHM_SLOT_STAMP) > bshm__age(e.now, oldest)) {
			uint32_t *word = bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), 0);
			/* If this fails, the record has just been used. */
			BSHM_CAS(word, &state, (state & ~BSHM_SLOT_STAMP) | oldest, RELAXED);
		}
	}
}

static void finish_renumbering(const bshm__shard *s, uint32_t oldest)
{
	uint64_t clock = BSHM_LOAD(&s->shard->clock, RELAXED);
	bshm__epochs e;
	do {
		e = bshm__epochs_of(clock);
		e.quarter = bshm__age(e.now, e.quarter) > bshm__age(e.now, oldest) ? oldest : e.quarter;
		e.floor = bshm__age(e.now, e.floor) > bshm__age(e.now, oldest) ? oldest : e.floor;
		e.base = oldest;
	} while (!BSHM_CAS(&s->shard->clock, &clock, pack(e), RELAXED));
}

void bshm__aging_go_on(const bshm__shard *s)
{
	bshm_shard_header *shard = s->shard;
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&shard->clock, RELAXED));
	const uint32_t aging = BSHM_LOAD(&shard->aging, RELAXED);
	if (aging == 0) {
		if (bshm__age(e.now, e.base) > BSHM_AGE_RENUMBER) {
			BSHM_STORE(&shard->aging_page, 0, RELAXED);
			BSHM_STORE(&shard->pop_stamp, 0, RELAXED);
			BSHM_STORE(&shard->aging, 1 + ((e.now - AGE_KEPT) & BSHM_SLOT_STAMP), RELAXED);
		}
		return;
	}
	const uint32_t page = BSHM_LOAD(&shard->aging_page, RELAXED);
	if (page < s->segment->shard_pages) {
		renumber_page(s, page, (aging - 1) & BSHM_SLOT_STAMP);
		BSHM_STORE(&shard->aging_page, page + 1, RELAXED);
	} else {
		finish_renumbering(s, (aging - 1) & BSHM_SLOT_STAMP);
		BSHM_STORE(&shard->aging, 0, RELAXED);
	}
}

/* ------------------------------------------------------------------ the oldest */

/* The first record from `page` on with this stamp; with a stamp above all, the oldest record. */
static uint32_t find_stamp(const bshm__shard *s, uint32_t page, uint32_t stamp, uint32_t *state)
{
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&s->shard->clock, RELAXED));
	const uint32_t now_s = bshm__store_now_s(s->segment);
	bshm__walk w = {page, 0, page};
	uint32_t oldest = 0;
	uint32_t oldest_age = 0;
	uint32_t its_state;
	uint32_t ref;
	while ((ref = bshm__walk_next(s, &w, &its_state)) != 0) {
		if (w.visited >= s->segment->shard_pages || bshm__walk_expired(s, ref, its_state, now_s)) {
			continue;
		}
		const uint32_t shape =
			BSHM_LOAD(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), 1), RELAXED);
		if ((shape >> BSHM_SHAPE_SPACE & 1) != BSHM_SPACE_CACHE) {
			continue;
		}
		const uint32_t its_age = bshm__age(e.now, its_state & BSHM_SLOT_STAMP);
		if (stamp > BSHM_SLOT_STAMP && (oldest == 0 || its_age > oldest_age)) {
			oldest = ref;
			oldest_age = its_age;
			*state = its_state;
		} else if ((its_state & BSHM_SLOT_STAMP) == stamp) {
			*state = its_state;
			return ref;
		}
	}
	return oldest;
}

/* The next search begins there. A read-only process cannot note it. */
static void note_oldest(const bshm__shard *s, uint32_t ref, uint32_t state)
{
	if (s->segment->store_writable) {
		BSHM_STORE(&s->shard->pop_page, bshm__page_number(s, ref) - 1, RELAXED);
		BSHM_STORE(&s->shard->pop_stamp, (state & BSHM_SLOT_STAMP) + 1, RELAXED);
	}
}

uint32_t bshm__oldest(const bshm__shard *s, uint32_t *its_age)
{
	const bshm_shard_header *shard = s->shard;
	const uint32_t known = BSHM_LOAD(&shard->pop_stamp, RELAXED);
	const uint32_t page = BSHM_LOAD(&shard->pop_page, RELAXED);
	uint32_t state = 0;
	uint32_t ref = 0;
	if (known != 0 && page < s->segment->shard_pages) {
		ref = find_stamp(s, page, (known - 1) & BSHM_SLOT_STAMP, &state);
	}
	if (ref == 0) {
		ref = find_stamp(s, 0, BSHM_SLOT_STAMP + 1, &state);
	}
	if (ref != 0) {
		*its_age = bshm__age((uint32_t) BSHM_LOAD(&shard->clock, RELAXED), state);
		note_oldest(s, ref, state);
	}
	return ref;
}
