/*
 * evict.c - recency: who was used when, and who goes.
 *
 * There is no list. A record bears a stamp of 16 bits: the epoch in which it was last used. An epoch
 * ends when a 64th of the shard's records have been stamped in it, so up to 127 records the order is
 * exact, and above that to a 64th of them. Who looks a record up stamps it once an epoch, with one
 * compare-and-swap; a record that is used all the time is not written to.
 *
 *      clock = | base | floor | quarter | now |      16 bits each
 *
 * A quarter is a span of epochs in which 5/16 of the records were stamped for the first time: that
 * many different ones were used in it. `quarter` is the epoch in which the present one began, `floor`
 * that of the one before. What was last used before `floor` has seen a whole quarter go by; nothing
 * else is evicted. So no record goes that is among the most recent quarter of the shard's records, and
 * the sixteenth on top pays for keys that are not spread evenly over the shards. At most two quarters
 * of records are younger than `floor`, so there is always one that may go.
 *
 * A record is on probation until it is used again in a later epoch than its last use. To evict, a hand
 * goes over the slots in the order of memory and takes the next 32 records: if a quarter of them or
 * more are on probation, the oldest of those goes, else the oldest of the others. (On the traces of
 * script/traces this misses less often than LRU at every size; CLOCK, SIEVE and W-TinyLFU do not.)
 *
 * For a large record many go at once. If an eighth of the store is needed, it is an eighth of each 32, the same that would go one
 * by one; so the hand goes round once, and not once for each of them.
 *
 * Stamps are compared modulo 65,536. `base` is no younger than any of them: when `now` has gone far
 * ahead of it, writers renumber the old ones, a page at a time; should nobody write, `now` stands
 * still before it can overtake them, and uses are not noted until somebody does.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/store.h"

#define SAMPLE      32u
#define EPOCH_SHARE 64u
/* What one step for a large record comes to: others wait for a millisecond or two. */
#define STEP_EVICTIONS 1024u
#define STEP_PAGES     8u
#define PART_MOST      16u /* of SAMPLE */
#define AHEAD          16u /* slots */
#define ALL_CLASSES    BSHM_CLASS_COUNT
#define MASK           0xffffu
#define AGE_MAX        0xf000u             /* `now` goes no further from base */
#define AGE_KEPT       0x4000u             /* above it, stamps are renumbered when it is time */
#define FRESH_ONE      (UINT64_C(1) << 32) /* in `touches` */

/* ------------------------------------------------------------------ the clock */

typedef struct {
	uint32_t now;
	uint32_t quarter;
	uint32_t floor;
	uint32_t base;
} epochs;

static epochs unpack(uint64_t clock)
{
	return (epochs){(uint32_t) clock & MASK, (uint32_t) (clock >> 16) & MASK,
		(uint32_t) (clock >> 32) & MASK, (uint32_t) (clock >> 48)};
}

static uint64_t pack(epochs e)
{
	return (uint64_t) (e.now & MASK) | (uint64_t) (e.quarter & MASK) << 16 |
		   (uint64_t) (e.floor & MASK) << 32 | (uint64_t) (e.base & MASK) << 48;
}

static uint32_t age(epochs e, uint32_t stamp)
{
	return (e.now - stamp) & MASK;
}

/* Begins the next epoch, and with it a quarter; `clock` is what the counts were compared under. */
static void advance(const bshm__shard *s, uint64_t clock, bool quarter)
{
	epochs e = unpack(clock);
	if (((e.now + 1 - e.base) & MASK) >= AGE_MAX) {
		return;
	}
	e.now++;
	/* The counts before the new clock is seen: whoever counts under it begins at 0. */
	if (quarter) {
		e.floor = e.quarter;
		e.quarter = e.now;
		BSHM_STORE(&s->shard->touches, 0, RELAXED);
	} else {
		BSHM_AND(&s->shard->touches, ~(uint64_t) UINT32_MAX, RELAXED);
	}
	BSHM_CAS(&s->shard->clock, &clock, pack(e), RELEASE); /* pairs with bshm__touch_count() */
}

/* `touches` is only added to, and cleared: a quarter may get longer by what is lost, never shorter. */
void bshm__touch_count(const bshm__shard *s, uint32_t before)
{
	bshm_shard *shard = s->shard;
	const uint64_t clock = BSHM_LOAD(&shard->clock, ACQUIRE);
	const epochs e = unpack(clock);
	const uint64_t records = BSHM_LOAD(&shard->records, RELAXED);
	const bool first = before == 0 || age(e, before & MASK) > age(e, e.quarter);
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
	const uint32_t after = (state & ~BSHM_SLOT_STAMP) | bshm__stamp_now(s) | BSHM_SLOT_MAIN;
	if (BSHM_CAS(bshm__slot_word(slot, 0), &state, after, RELAXED)) {
		bshm__touch_count(s, before);
	}
}

/* ------------------------------------------------------------------ going over the records */

/* A position among the shard's slots that hold the first part of a record. */
typedef struct {
	uint32_t page; /* number in the shard */
	uint32_t slot;
	uint32_t visited; /* pages */
} walk;

/* The next record's ref, and its state; 0: the pages have been gone over once. */
static uint32_t next_record(const bshm__shard *s, walk *w, uint32_t *state)
{
	while (w->visited <= s->segment->shard_pages) {
		const uint32_t size_class = bshm__page_class(s, w->page + 1);
		const uint32_t slots = size_class < BSHM_CLASS_HALF ? bshm__class_slots(size_class) : 0;
		while (w->slot < slots) {
			const uint64_t taken = bshm__page_taken(s, w->page + 1, w->slot / 64) >> (w->slot % 64);
			if (taken == 0) {
				w->slot = (w->slot / 64 + 1) * 64;
				continue;
			}
			w->slot += (uint32_t) __builtin_ctzll(taken);
			if (w->slot >= slots) {
				break; /* damaged: the page has no such slot, and it could not be freed */
			}
			const uint32_t ref = bshm__page_ref(s, w->page + 1, w->slot++);
			uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
			*state = slot == NULL ? 0 : BSHM_LOAD(bshm__slot_word(slot, 0), RELAXED);
			if ((*state & BSHM_SLOT_LIVE) != 0) {
				return ref;
			}
		}
		w->slot = 0;
		w->page = w->page + 1 < s->segment->shard_pages ? w->page + 1 : 0;
		w->visited++;
	}
	return 0;
}

static bool has_expired(const bshm__shard *s, uint32_t ref, uint32_t state, uint32_t now_s)
{
	const uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	return (state & BSHM_SLOT_EXPIRES) != 0 &&
		   bshm__expired(
			   BSHM_LOAD(bshm__slot_word((uint8_t *) (uintptr_t) slot, 2), RELAXED), now_s);
}

/* ------------------------------------------------------------------ evicting */

typedef struct {
	uint32_t ref;
	uint32_t age;
} candidate;

static void consider(candidate *best, uint32_t ref, uint32_t its_age)
{
	if (best->ref == 0 || its_age > best->age) {
		*best = (candidate){ref, its_age};
	}
}

/* The record that is worth least among the next ones; 0 = none. Without `above_floor` any may go. */
static uint32_t choose(const bshm__shard *s, bool above_floor, bool *expired)
{
	bshm_shard *shard = s->shard;
	const epochs e = unpack(BSHM_LOAD(&shard->clock, RELAXED));
	const uint32_t now_s = bshm__store_now_s(s->segment);
	walk w = {BSHM_LOAD(&shard->hand_page, RELAXED), BSHM_LOAD(&shard->hand_slot, RELAXED), 0};
	w.page = w.page < s->segment->shard_pages ? w.page : 0;
	candidate probation = {0, 0};
	candidate main = {0, 0};
	uint32_t seen = 0;
	uint32_t on_probation = 0;
	uint32_t state;
	uint32_t ref;
	*expired = false;
	while ((seen < SAMPLE || (probation.ref == 0 && main.ref == 0)) &&
		   (ref = next_record(s, &w, &state)) != 0) {
		if (has_expired(s, ref, state, now_s)) {
			*expired = true;
			probation.ref = ref;
			on_probation = seen = 1;
			break;
		}
		const uint32_t its_age = age(e, state & MASK);
		const bool is_main = (state & BSHM_SLOT_MAIN) != 0;
		seen++;
		on_probation += !is_main;
		if (!above_floor || its_age > age(e, e.floor)) {
			consider(is_main ? &main : &probation, ref, its_age);
		}
	}
	BSHM_STORE(&shard->hand_page, w.page, RELAXED);
	BSHM_STORE(&shard->hand_slot, w.slot, RELAXED);
	const bool young = on_probation * 4 >= seen && probation.ref != 0;
	return young || main.ref == 0 ? probation.ref : main.ref;
}

static void take_out(const bshm__shard *s, uint32_t ref)
{
	bshm__record record;
	bshm__home home;
	uint32_t place = 0;
	if (bshm__record_load(s, ref, &record) && bshm__record_home(s, &record, &home)) {
		place = bshm__place_of(s, &home, ref);
	}
	if (place != 0) {
		bshm__record_remove(s, &home, place, ref);
		bshm__table_tidy(s, home.table);
	} else {
		bshm__slot_free(s, ref); /* nothing leads to it: the index was damaged */
	}
}

static bool count_up(uint64_t *count)
{
	BSHM_STORE(count, BSHM_LOAD(count, RELAXED) + 1, RELAXED);
	return true;
}

/* The class whose free slots an eviction made more; ALL_CLASSES: more than one's. */
static uint32_t class_of_victim(const bshm__shard *s, uint32_t ref)
{
	const bool chained = (bshm__word(s, ref, 0) & BSHM_SLOT_CHAINED) != 0;
	return chained ? ALL_CLASSES : bshm__ref_class(s, ref);
}

static bool evict_one(const bshm__shard *s, uint32_t *size_class)
{
	bool expired;
	uint32_t ref = choose(s, true, &expired);
	if (ref == 0) {
		/* Few records, or the clock stands still. */
		advance(s, BSHM_LOAD(&s->shard->clock, RELAXED), true);
		ref = choose(s, true, &expired);
	}
	if (ref == 0) {
		ref = choose(s, false, &expired);
	}
	if (ref == 0) {
		return false;
	}
	*size_class = class_of_victim(s, ref);
	take_out(s, ref);
	return count_up(expired ? &s->shard->expired : &s->shard->evictions);
}

bool bshm__evict(const bshm__shard *s)
{
	uint32_t size_class;
	return evict_one(s, &size_class);
}

/* ------------------------------------------------------------------ evicting many */

/* A record of those that the hand comes to next. */
typedef struct {
	uint32_t ref; /* 0: it has been chosen */
	uint32_t age;
	bool main;
	bool expired;
} member;

static uint32_t next_group(const bshm__shard *s, member *group)
{
	bshm_shard *shard = s->shard;
	const epochs e = unpack(BSHM_LOAD(&shard->clock, RELAXED));
	const uint32_t now_s = bshm__store_now_s(s->segment);
	walk w = {BSHM_LOAD(&shard->hand_page, RELAXED), BSHM_LOAD(&shard->hand_slot, RELAXED), 0};
	w.page = w.page < s->segment->shard_pages ? w.page : 0;
	uint32_t count = 0;
	uint32_t state;
	uint32_t ref;
	while (count < SAMPLE && (ref = next_record(s, &w, &state)) != 0) {
		const bool expired = has_expired(s, ref, state, now_s);
		group[count++] =
			(member){ref, age(e, state & MASK), (state & BSHM_SLOT_MAIN) != 0 && !expired, expired};
	}
	BSHM_STORE(&shard->hand_page, w.page, RELAXED);
	BSHM_STORE(&shard->hand_slot, w.slot, RELAXED);
	return count;
}

/* The one that choose() would choose of these: those that have expired first; NULL: none is below the floor. */
static member *choose_of(member *group, uint32_t count, uint32_t floor_age)
{
	member *oldest[2] = {NULL, NULL}; /* on probation, and not */
	uint32_t seen = 0;
	uint32_t on_probation = 0;
	for (member *m = group; m < group + count; m++) {
		if (m->ref == 0) {
			continue;
		}
		if (m->expired) {
			return m;
		}
		seen++;
		on_probation += !m->main;
		if (m->age > floor_age && (oldest[m->main] == NULL || m->age > oldest[m->main]->age)) {
			oldest[m->main] = m;
		}
	}
	const bool young = on_probation * 4 >= seen && oldest[0] != NULL;
	return young || oldest[1] == NULL ? oldest[0] : oldest[1];
}

static void expect(const bshm__shard *s, uint32_t ref)
{
	bshm__record record;
	bshm__home home;
	if (bshm__record_load(s, ref, &record) && record.first >= record.key_bytes &&
		bshm__record_home(s, &record, &home)) {
		bshm__home_prefetch(s->segment, &home);
	}
}

/*
 * Of the next 32 records as many as of all must go: so that one round of the hand does it, and the places of those that go
 * are asked for at once. How many went.
 */
static uint32_t evict_group(const bshm__shard *s, uint32_t most, uint32_t *size_class)
{
	const epochs e = unpack(BSHM_LOAD(&s->shard->clock, RELAXED));
	member group[SAMPLE];
	member gone[SAMPLE];
	const uint32_t count = next_group(s, group);
	uint32_t chosen = 0;
	member *m;
	while (chosen < most && (m = choose_of(group, count, age(e, e.floor))) != NULL) {
		gone[chosen++] = *m;
		m->ref = 0;
	}
	for (uint32_t i = 0; i < chosen; i++) {
		expect(s, gone[i].ref);
	}
	uint32_t done = 0;
	for (uint32_t i = 0; i < chosen; i++) {
		if ((bshm__word(s, gone[i].ref, 0) & BSHM_SLOT_LIVE) == 0) {
			continue; /* where there are few, the hand comes to one twice */
		}
		const uint32_t its_class = class_of_victim(s, gone[i].ref);
		*size_class = done++ == 0 || its_class == *size_class ? its_class : ALL_CLASSES;
		take_out(s, gone[i].ref);
		count_up(gone[i].expired ? &s->shard->expired : &s->shard->evictions);
	}
	return done;
}

/* Evicts one record or, of those that are many small ones for a large one, a part of a group: how many. */
static uint32_t evict_some(const bshm__shard *s, uint32_t most, uint32_t *size_class)
{
	const uint32_t gone = most > 1 ? evict_group(s, most, size_class) : 0;
	return gone != 0 ? gone : evict_one(s, size_class);
}

/* ------------------------------------------------------------------ making room */

/* Asks for the places of the records in some slots of a page at once. */
static void expect_slots(const bshm__shard *s, uint32_t number, uint32_t from, uint32_t until)
{
	for (uint32_t i = from; i < until; i++) {
		if ((bshm__page_taken(s, number, i / 64) >> (i % 64) & 1) != 0) {
			expect(s, bshm__page_ref(s, number, i));
		}
	}
}

/* Moves everything out of a page, which is free then. */
static bool empty_page(const bshm__shard *s, uint32_t number)
{
	const uint32_t size_class = bshm__page_class(s, number);
	if (size_class == BSHM_CLASS_COUNT) {
		return true;
	}
	const uint32_t slots = bshm__class_slots(size_class);
	for (uint32_t i = 0; i < slots && bshm__page_class(s, number) == size_class; i++) {
		if (i % AHEAD == 0 && size_class < BSHM_CLASS_HALF) {
			expect_slots(s, number, i, i + AHEAD < slots ? i + AHEAD : slots);
		}
		if ((bshm__page_taken(s, number, i / 64) >> (i % 64) & 1) == 0) {
			continue;
		}
		const uint32_t ref = bshm__page_ref(s, number, i);
		const bool moved = bshm__class_of_chunks(size_class) ? bshm__chunk_move(s, ref)
						   : size_class == BSHM_CLASS_INDEX  ? bshm__unit_move(s, ref)
															 : bshm__record_move(s, ref);
		if (!moved) {
			return false;
		}
	}
	return bshm__page_class(s, number) != size_class || bshm__page_release(s, number);
}

/*
 * Where a page's worth of slots of a class is free, but not in one page: makes it one. Not of the class
 * that the room is for; of those in `keep` so that a slot is free still.
 */
static bool compact(
	const bshm__shard *s, uint32_t size_class, uint64_t keep, bool to_the_last, uint32_t *pages)
{
	for (uint32_t i = 0; i < BSHM_CLASS_COUNT; i++) {
		if (*pages != 0 && i != size_class &&
			bshm__class_wasteful(s, i, keep >> i & 1, to_the_last)) {
			--*pages;
			const uint32_t given = BSHM_LOAD(&s->shard->given_pages, RELAXED);
			const uint32_t number = bshm__page_to_empty(s, i);
			if (number != 0 && empty_page(s, number)) {
				if ((int32_t) (given - BSHM_LOAD(&s->shard->given_pages, RELAXED)) > 0) {
					return true;
				}
				/* What was in it has taken another page: the counts are damaged. */
				bshm__slabs_doubt(s);
			}
		}
	}
	return false;
}

/* Who looks for one slot is given the page that it is in: other classes do not count it from then on. */
static bool has_room(const bshm__shard *s, uint32_t size_class, uint64_t count)
{
	return count == 1 ? bshm__slot_find(s, size_class, 0) != 0
					  : bshm__slots_free(s, size_class) >= count;
}

/* Where it was seen that no class is, only those that an eviction left more room in can be. */
static bool may_be_wasteful(const bshm__shard *s, uint32_t changed, uint64_t keep)
{
	return changed == ALL_CLASSES ||
		   bshm__class_wasteful(s, changed, (keep >> changed & 1) != 0, false) ||
		   bshm__class_wasteful(s, BSHM_CLASS_INDEX, (keep >> BSHM_CLASS_INDEX & 1) != 0, false);
}

static bool make_room(
	const bshm__shard *s, uint32_t size_class, uint64_t count, uint64_t keep, bool step)
{
	const uint64_t bytes = count * bshm__class_bytes(size_class);
	const uint32_t part = (uint32_t) (SAMPLE * bytes / s->segment->shard_bytes);
	const uint32_t most = !step ? 1 : part < PART_MOST ? part : PART_MOST;
	uint32_t evictions = 0;
	/* Each page that is emptied is a free one then, if the counts are right. */
	uint32_t pages = step ? STEP_PAGES : s->segment->shard_pages;
	uint32_t changed = ALL_CLASSES;
	while (!has_room(s, size_class, count)) {
		if (step && (evictions >= STEP_EVICTIONS || pages == 0)) {
			return false;
		}
		/* What lies free in other classes first, then what is worth least. */
		const uint32_t before = pages;
		if (may_be_wasteful(s, changed, keep) && compact(s, size_class, keep, false, &pages)) {
			changed = ALL_CLASSES;
			continue;
		}
		uint32_t evicted = ALL_CLASSES;
		const uint32_t gone = evict_some(s, most, &evicted);
		evictions += gone;
		changed = pages == before ? evicted : ALL_CLASSES;
		if (gone == 0 && !compact(s, size_class, keep, true, &pages)) {
			return false;
		}
	}
	return true;
}

bool bshm__make_room(const bshm__shard *s, uint32_t size_class, uint64_t count, uint64_t keep)
{
	return make_room(s, size_class, count, keep, false);
}

bool bshm__make_room_step(const bshm__shard *s, uint32_t size_class, uint64_t count)
{
	return make_room(s, size_class, count, 0, true);
}

/* ------------------------------------------------------------------ renumbering */

static void renumber_page(const bshm__shard *s, uint32_t page, uint32_t oldest)
{
	walk w = {page, 0, s->segment->shard_pages};
	uint32_t state;
	uint32_t ref;
	while ((ref = next_record(s, &w, &state)) != 0 && w.page == page) {
		const epochs e = unpack(BSHM_LOAD(&s->shard->clock, RELAXED));
		if (age(e, state & MASK) > age(e, oldest)) {
			uint32_t *word = bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), 0);
			/* If it fails, the record was just used. */
			BSHM_CAS(word, &state, (state & ~BSHM_SLOT_STAMP) | oldest, RELAXED);
		}
	}
}

static void finish_renumbering(const bshm__shard *s, uint32_t oldest)
{
	uint64_t clock = BSHM_LOAD(&s->shard->clock, RELAXED);
	epochs e;
	do {
		e = unpack(clock);
		e.quarter = age(e, e.quarter) > age(e, oldest) ? oldest : e.quarter;
		e.floor = age(e, e.floor) > age(e, oldest) ? oldest : e.floor;
		e.base = oldest;
	} while (!BSHM_CAS(&s->shard->clock, &clock, pack(e), RELAXED));
}

void bshm__aging_go_on(const bshm__shard *s)
{
	bshm_shard *shard = s->shard;
	const epochs e = unpack(BSHM_LOAD(&shard->clock, RELAXED));
	const uint32_t aging = BSHM_LOAD(&shard->aging, RELAXED);
	if (aging == 0) {
		if (age(e, e.base) > BSHM_AGE_RENUMBER) {
			BSHM_STORE(&shard->aging_page, 0, RELAXED);
			BSHM_STORE(&shard->pop_stamp, 0, RELAXED);
			BSHM_STORE(&shard->aging, 1 + ((e.now - AGE_KEPT) & MASK), RELAXED);
		}
		return;
	}
	const uint32_t page = BSHM_LOAD(&shard->aging_page, RELAXED);
	if (page < s->segment->shard_pages) {
		renumber_page(s, page, (aging - 1) & MASK);
		BSHM_STORE(&shard->aging_page, page + 1, RELAXED);
	} else {
		finish_renumbering(s, (aging - 1) & MASK);
		BSHM_STORE(&shard->aging, 0, RELAXED);
	}
}

/* ------------------------------------------------------------------ the oldest */

/* The first record from `page` on with this stamp, or (stamp > MASK) the oldest of all. */
static uint32_t find_stamp(const bshm__shard *s, uint32_t page, uint32_t stamp, uint32_t *state)
{
	const epochs e = unpack(BSHM_LOAD(&s->shard->clock, RELAXED));
	const uint32_t now_s = bshm__store_now_s(s->segment);
	walk w = {page, 0, page};
	candidate oldest = {0, 0};
	uint32_t its_state;
	uint32_t ref;
	while ((ref = next_record(s, &w, &its_state)) != 0) {
		if (w.visited >= s->segment->shard_pages || has_expired(s, ref, its_state, now_s)) {
			continue;
		}
		const uint32_t shape =
			BSHM_LOAD(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), 1), RELAXED);
		if ((shape >> BSHM_SHAPE_SPACE & 1) != BSHM_SPACE_CACHE) {
			continue;
		}
		const uint32_t its_age = age(e, its_state & MASK);
		if (stamp > MASK && (oldest.ref == 0 || its_age > oldest.age)) {
			oldest = (candidate){ref, its_age};
			*state = its_state;
		} else if ((its_state & MASK) == stamp) {
			*state = its_state;
			return ref;
		}
	}
	return oldest.ref;
}

/* So that the next search begins there; whoever may only read has nobody to tell. */
static void note_oldest(const bshm__shard *s, uint32_t ref, uint32_t state)
{
	if (s->segment->store_writable) {
		BSHM_STORE(&s->shard->pop_page, bshm__page_number(s, ref) - 1, RELAXED);
		BSHM_STORE(&s->shard->pop_stamp, (state & MASK) + 1, RELAXED);
	}
}

uint32_t bshm__oldest(const bshm__shard *s, uint32_t *its_age)
{
	const bshm_shard *shard = s->shard;
	const uint32_t known = BSHM_LOAD(&shard->pop_stamp, RELAXED);
	const uint32_t page = BSHM_LOAD(&shard->pop_page, RELAXED);
	uint32_t state = 0;
	uint32_t ref = 0;
	if (known != 0 && page < s->segment->shard_pages) {
		ref = find_stamp(s, page, (known - 1) & MASK, &state);
	}
	if (ref == 0) {
		ref = find_stamp(s, 0, MASK + 1, &state);
	}
	if (ref != 0) {
		*its_age = bshm__stamp_age(BSHM_LOAD(&shard->clock, RELAXED), state);
		note_oldest(s, ref, state);
	}
	return ref;
}
