/*
 * aging.c - renumbers the stamps of records before they are used up.
 *
 * A stamp has 15 bits. So when `now` is far ahead of `base`, all records get stamps that are closer
 * to it, in the same order. No record may be so old that its order does not count: where nearly
 * every request is a hit, a store of 200 records is read 100,000 times between two puts, and an LRU
 * tells its oldest records apart. (When those not used for 8,192 epochs got one stamp, 10 to 80 %
 * more misses than LRU, where 99.9 % of the requests are hits.)
 *
 * Of up to FEW records the n-th lowest age becomes n, at once, those of the lowest ages first: so a
 * death on the way leaves the order as it was. Of more, ages up to AGE_SAME stay. The others are
 * divided at the `knots`, into parts that each get as many of the new ages, AGE_PART, in proportion
 * to the old ones. So the order stays, and records that are far apart in it stay apart. Some pages
 * are renumbered at a time. Until that is done an eviction asks what the ages of the other records,
 * and of the floor, will be. A record that is moved to a page that has been renumbered gets its new
 * stamp with that; one that is moved the other way, or whose page belongs to a step that a death
 * has ended, may be renumbered twice, and looks younger. The periods never are: they would be
 * younger than what is safe because of them. A death there leaves them older than before.
 *
 * The cells of `shadow` and some epochs are of the same clock. They get new ones by the same rule,
 * when all records have. (When those of the ghosts' turns did not, each turn ended with a
 * renumbering, and a store of 1,000 records beside a loop learnt nothing.)
 *
 * A process makes a step of that with each put and removal, and each use under the lock, from half
 * of the epochs on; and with one of BSHM_HELP_HITS hits, if the lock is free just then. But
 * look-ups begin it only every HELP_S seconds. So where each record is read some hundred times a
 * second, or more, and nothing is put, `now` stops for a time: uses are told apart to within
 * seconds. (If it went on, two processes that read hot records would set stamps all the time, and
 * take the lines from each other: they would read 0.66 x as much as one does, and not 2.0 x.)
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/aging.h"

#include "core/cache/shard_lock.h"
#include "core/cache/walk.h"

#define FEW       1024u  /* records: they are renumbered at once, */
#define FEW_PAGES 16384u /* in a shard that has no more pages */
#define AGE_SAME  0x800u
#define AGE_PART  0x400u
#define AGE_KEPT  (AGE_SAME + BSHM_KNOTS * AGE_PART) /* no new one is higher */
/* A step ends with the page with which it has cost so much: a record 1, a page with records
 * PAGE_COST besides; or after so many pages, if few of them have records. */
#define PAGE_COST    16u
#define COST_STEP    512u
#define PAGES_STEP   64u
#define COST_LATE    4096u /* the same if the renumbering is late */
#define PAGES_LATE   0x8000u
#define SAMPLE_PAGES 128u /* of which the sample has a few records each */
#define SAMPLE_EACH  2u
#define SAMPLE_LOOKS 32u /* pages that are looked at for one with records */

#define HELP_S 4u /* after a step by a look-up no other one begins a renumbering for so long */

#define WORDS      ((BSHM_SLOT_STAMP + 1) / 64)
#define CELL_STAMP UINT64_C(0x7fff)
#define KNOWN      0x8000u /* in shadow_oldest: shadow.c */

typedef struct {
	uint64_t seen[WORDS]; /* a bit for each age that there is; */
	uint16_t sums[WORDS]; /* how many there are up to the end of this word */
} ranks;

/* How an age becomes another one; both are those at the time of `now`. */
typedef struct {
	uint32_t now;
	const ranks *ranks; /* NULL: by the knots */
	uint32_t knots[BSHM_KNOTS];
} rule;

/* Has the stamp been set since `then`? The clock may have gone on far; or the stamp may be of an
 * epoch that this processor does not see yet. */
static bool is_later(const bshm__shard *s, uint32_t stamp, uint32_t then)
{
	const uint32_t now = bshm__stamp_now(s);
	const uint32_t age = bshm__age(now, stamp);
	return age < bshm__age(now, then) || age >= BSHM_AGE_MAX;
}

static uint32_t rank(const ranks *r, uint32_t age)
{
	const uint64_t up_to = r->seen[age / 64] << (63 - age % 64);
	return (age < 64 ? 0 : r->sums[age / 64 - 1]) + BSHM_BIT_COUNT(up_to);
}

/* In the part of the ages that it lies in, as far as before. No age becomes higher. */
static uint32_t pressed(const rule *r, uint32_t age)
{
	uint32_t low = AGE_SAME;
	uint32_t to = AGE_SAME;
	for (uint32_t i = 0; i < BSHM_KNOTS && age > low; i++, to += AGE_PART) {
		const uint32_t high = r->knots[i];
		if (age <= high) {
			const uint32_t part = to + (age - low) * AGE_PART / (high - low);
			return part < age ? part : age;
		}
		low = high > low ? high : low; /* the word may be damaged */
	}
	return age < to ? age : to;
}

/* The rule of the renumbering that goes on, or would with this `aging`. */
static rule rule_of_pages(const bshm_shard_header *shard, uint32_t aging)
{
	rule r = {.now = (aging - 1 + AGE_KEPT) & BSHM_SLOT_STAMP};
	for (uint32_t i = 0; i < BSHM_KNOTS; i++) { /* two in a word, the first one below */
		r.knots[i] = BSHM_LOAD(&shard->knots[i / 2], RELAXED) >> 16 * (i % 2) & BSHM_SLOT_STAMP;
	}
	return r;
}

static uint32_t renumbered(const bshm__shard *s, const rule *r, uint32_t stamp)
{
	if (is_later(s, stamp, r->now)) {
		return stamp;
	}
	const uint32_t age = bshm__age(r->now, stamp);
	return (r->now - (r->ranks != NULL ? rank(r->ranks, age) : pressed(r, age))) & BSHM_SLOT_STAMP;
}

/* ------------------------------------------------------------------ ranks */

static void note_age(const bshm__shard *s, ranks *r, uint32_t now, uint32_t stamp)
{
	const uint32_t age = bshm__age(now, stamp);
	if (age != 0 && !is_later(s, stamp, now)) { /* 0 stays: so no age becomes higher */
		r->seen[age / 64] |= UINT64_C(1) << age % 64;
	}
}

static void note_cells(const bshm__shard *s, ranks *r, uint32_t now)
{
	for (uint32_t i = 0; i < BSHM_SHADOW_CELLS; i++) {
		const uint64_t says = BSHM_LOAD(&s->shard->shadow[i], RELAXED);
		if (says != 0) {
			note_age(s, r, now, (uint32_t) (says & CELL_STAMP));
		}
	}
}

static void add_up(ranks *r)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < WORDS; i++) {
		sum += BSHM_BIT_COUNT(r->seen[i]);
		r->sums[i] = (uint16_t) sum;
	}
}

/* ------------------------------------------------------------------ stamps */

/* If the compare-and-swap fails, the record has just been used. */
static void renumber(const bshm__shard *s, const rule *r, uint32_t ref, uint32_t state)
{
	const uint32_t stamp = renumbered(s, r, state & BSHM_SLOT_STAMP);
	uint32_t *word = bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), 0);
	if (stamp != (state & BSHM_SLOT_STAMP)) {
		BSHM_CAS(word, &state, (state & ~BSHM_SLOT_STAMP) | stamp, RELAXED);
	}
}

/* The periods that get this age; ALL: each one. */
#define ALL UINT32_MAX
static void renumber_periods(const bshm__shard *s, const rule *r, uint32_t age)
{
	uint64_t clock = BSHM_LOAD(&s->shard->clock, RELAXED);
	uint64_t after;
	do {
		bshm__epochs e = bshm__epochs_of(clock);
		uint32_t *const began[] = {&e.last, &e.middle, &e.floor};
		for (unsigned i = 0; i < 3; i++) {
			const uint32_t stamp = renumbered(s, r, *began[i]);
			*began[i] = age == ALL || bshm__age(r->now, stamp) == age ? stamp : *began[i];
		}
		after = bshm__clock_of(e);
	} while (after != clock && !BSHM_CAS(&s->shard->clock, &clock, after, RELAXED));
}

/* If the clock has stopped, all that is read has the stamp `now`: no use would end that epoch. */
static void set_on(const bshm__shard *s)
{
	uint64_t clock = BSHM_LOAD(&s->shard->clock, RELAXED);
	bshm__epochs e;
	do {
		e = bshm__epochs_of(clock);
		e.now++;
		/* Pairs with bshm__touch_count(). */
	} while (!BSHM_CAS(&s->shard->clock, &clock, bshm__clock_of(e), RELEASE));
}

/* All that has stamps besides the records and the periods. */
static void finish_renumbering(const bshm__shard *s, const rule *r, uint32_t oldest)
{
	bshm_shard_header *shard = s->shard;
	for (uint32_t i = 0; i < BSHM_SHADOW_CELLS; i++) {
		uint64_t says = BSHM_LOAD(&shard->shadow[i], RELAXED);
		if (says != 0) {
			const uint32_t stamp = renumbered(s, r, (uint32_t) (says & CELL_STAMP));
			BSHM_CAS(&shard->shadow[i], &says, (says & ~CELL_STAMP) | stamp, RELAXED);
		}
	}
	const uint32_t lru = BSHM_LOAD(&shard->shadow_oldest, RELAXED);
	if ((lru & KNOWN) != 0) {
		BSHM_STORE(&shard->shadow_oldest, KNOWN | renumbered(s, r, lru & BSHM_SLOT_STAMP), RELAXED);
	}
	/* How long a turn of the ghosts has lasted is compared with the age of the floor: ghost.c. */
	const uint32_t turn = BSHM_LOAD(&shard->turn_began, RELAXED);
	BSHM_STORE(&shard->turn_began,
		(turn & ~BSHM_SLOT_STAMP) | renumbered(s, r, turn & BSHM_SLOT_STAMP), RELAXED);
	const uint32_t evicted = BSHM_LOAD(&shard->evicted_epoch, RELAXED);
	BSHM_STORE(&shard->evicted_epoch, renumbered(s, r, evicted & BSHM_SLOT_STAMP), RELAXED);
	BSHM_STORE(&shard->base, oldest, RELAXED);
	set_on(s);
}

/* The records by their ranks: each list has those of one, by their numbers + 1. */
typedef struct {
	ranks all;
	uint32_t count;
	uint32_t refs[FEW];
	uint32_t states[FEW];
	uint16_t next[FEW];
	uint16_t first[FEW + BSHM_SHADOW_CELLS + 1];
} by_rank;

/* False: there are too many records. */
static bool find_ranks(const bshm__shard *s, by_rank *r, uint32_t now)
{
	bshm__walk w = {0, 0, 0};
	uint32_t state;
	uint32_t ref;
	while ((ref = bshm__walk_next(s, &w, &state)) != 0 && w.visited < s->segment->shard_pages) {
		if (r->count == FEW) { /* the shard's count is damaged */
			return false;
		}
		r->refs[r->count] = ref;
		r->states[r->count++] = state;
		note_age(s, &r->all, now, state & BSHM_SLOT_STAMP);
	}
	note_cells(s, &r->all, now);
	add_up(&r->all);
	for (uint32_t i = 0; i < r->count; i++) {
		const uint32_t age = bshm__age(now, r->states[i]);
		const uint32_t its_rank = rank(&r->all, age);
		r->next[i] = r->first[its_rank];
		r->first[its_rank] = (uint16_t) (i + 1);
	}
	return true;
}

/* The youngest ones first: what has its rank already is never older than what has not. So a death
 * on the way leaves the order as it was. False: they are too many, or there are too many pages to
 * look through. */
static bool renumber_few(const bshm__shard *s, uint32_t now)
{
	by_rank records = {.count = 0};
	const rule r = {.now = now, .ranks = &records.all};
	if (BSHM_LOAD(&s->shard->records, RELAXED) > FEW || s->segment->shard_pages > FEW_PAGES ||
		!find_ranks(s, &records, now)) {
		return false;
	}
	const uint32_t last = records.all.sums[WORDS - 1];
	for (uint32_t its_rank = 0; its_rank <= last; its_rank++) {
		for (uint32_t i = records.first[its_rank]; i != 0; i = records.next[i - 1]) {
			renumber(s, &r, records.refs[i - 1], records.states[i - 1]);
		}
		renumber_periods(s, &r, its_rank);
	}
	finish_renumbering(s, &r, (now - last) & BSHM_SLOT_STAMP);
	return true;
}

/* ------------------------------------------------------------------ page by page */

/* The records of a page, at most so many. */
static uint32_t visit_page(const bshm__shard *s, uint32_t page, uint32_t most,
	void (*visit)(const bshm__shard *s, void *context, uint32_t ref, uint32_t state), void *context)
{
	bshm__walk w = {page, 0, s->segment->shard_pages};
	uint32_t state;
	uint32_t ref;
	uint32_t count = 0;
	while (count < most && (ref = bshm__walk_next(s, &w, &state)) != 0 && w.page == page) {
		visit(s, context, ref, state);
		count++;
	}
	return count;
}

typedef struct {
	uint32_t now;
	uint32_t count;
	uint8_t counts[BSHM_SLOT_STAMP + 1]; /* of each age */
} sample;

static void sample_record(const bshm__shard *s, void *context, uint32_t ref, uint32_t state)
{
	sample *all = context;
	(void) ref;
	const uint32_t age = bshm__age(all->now, state);
	if (age > AGE_SAME && all->counts[age] != UINT8_MAX &&
		!is_later(s, state & BSHM_SLOT_STAMP, all->now)) {
		all->counts[age]++;
		all->count++;
	}
}

/* A few records of pages everywhere; and if too few of them are old, many of the first pages, where
 * small records lie. */
static void take_sample(const bshm__shard *s, sample *all)
{
	const uint32_t pages = s->segment->shard_pages;
	for (uint32_t i = 0; i < SAMPLE_PAGES; i++) {
		const uint32_t first = (uint32_t) ((uint64_t) i * pages / SAMPLE_PAGES);
		uint32_t page = first;
		while (page < first + SAMPLE_LOOKS && page < pages &&
			   bshm__page_class(s, page + 1) >= BSHM_CLASS_RECORDS) {
			page++;
		}
		if (page < first + SAMPLE_LOOKS && page < pages) {
			visit_page(s, page, SAMPLE_EACH, sample_record, all);
		}
	}
	const uint32_t most = SAMPLE_PAGES * SAMPLE_LOOKS;
	uint32_t cost = all->count < SAMPLE_PAGES ? 0 : COST_LATE;
	for (uint32_t page = 0; page < pages && page < most && cost < COST_LATE; page++) {
		if (bshm__page_class(s, page + 1) < BSHM_CLASS_RECORDS) {
			cost += PAGE_COST + visit_page(s, page, COST_LATE - cost, sample_record, all);
		}
	}
}

/*
 * The knots: each part has as much of the sample and of the ages, added up, as the others. (With
 * as many records alone, a part that begins where they are few and ends where they are many makes
 * the latter's ages alike.) `most` is the oldest age. Where hot records alone were used for long,
 * there is a gap between their ages and the others': that is one part, so the others keep their
 * distances.
 */
static void find_knots(const bshm__shard *s, uint32_t now, uint32_t most)
{
	sample all = {.now = now};
	take_sample(s, &all);
	uint32_t low = AGE_SAME;
	while (low + 1 < most && all.counts[low + 1] == 0) {
		low++;
	}
	const bool gap = all.count != 0 && low > AGE_SAME + 2 * AGE_PART;
	low = gap ? low : AGE_SAME;
	uint32_t knots[BSHM_KNOTS] = {low};
	const uint64_t span = most - low;
	const uint64_t parts = BSHM_KNOTS - gap;
	const uint64_t count = all.count + 1; /* with the oldest */
	uint64_t amount = span;
	for (uint32_t age = low + 1, knot = gap; age <= most && knot < BSHM_KNOTS; age++) {
		amount += count + (all.counts[age] == 0 ? 0 : all.counts[age] * span);
		while (knot < BSHM_KNOTS && amount * parts >= 2 * count * span * (knot - gap + 1)) {
			knots[knot++] = age;
		}
	}
	for (uint32_t i = 0; i < BSHM_KNOTS / 2; i++) {
		BSHM_STORE(&s->shard->knots[i], knots[2 * i] | knots[2 * i + 1] << 16, RELAXED);
	}
}

static void renumber_record(const bshm__shard *s, void *context, uint32_t ref, uint32_t state)
{
	renumber(s, context, ref, state);
}

/* How many pages should have been renumbered by now. */
static uint32_t pages_due(const bshm__shard *s, uint32_t now)
{
	const uint32_t span = BSHM_AGE_DONE - BSHM_AGE_RENUMBER;
	const uint32_t age = bshm__age(now, BSHM_LOAD(&s->shard->base, RELAXED));
	const uint64_t part = age < BSHM_AGE_RENUMBER ? 0 : age - BSHM_AGE_RENUMBER;
	return (uint32_t) (s->segment->shard_pages * (part < span ? part : span) / span);
}

static void renumber_pages(const bshm__shard *s, uint32_t now, uint32_t aging)
{
	rule r = rule_of_pages(s->shard, aging);
	const uint32_t pages = s->segment->shard_pages;
	const uint32_t due = pages_due(s, now);
	uint32_t page = BSHM_LOAD(&s->shard->aging_page, RELAXED);
	uint32_t looks = 0;
	uint32_t cost = 0;
	while (page < pages && cost < (page < due ? COST_LATE : COST_STEP) &&
		   looks < (page < due ? PAGES_LATE : PAGES_STEP)) {
		looks++;
		if (bshm__page_class(s, ++page) < BSHM_CLASS_RECORDS) {
			cost += PAGE_COST + visit_page(s, page - 1, UINT32_MAX, renumber_record, &r);
		}
	}
	BSHM_STORE(&s->shard->aging_page, page, RELAXED);
	if (page >= pages) {
		if (page == pages) { /* else a process has died in here: it may have renumbered them */
			BSHM_STORE(&s->shard->aging_page, pages + 1, RELAXED);
			renumber_periods(s, &r, ALL);
		}
		finish_renumbering(s, &r, (aging - 1) & BSHM_SLOT_STAMP);
		BSHM_STORE(&s->shard->aging, 0, RELAXED);
	}
}

/* Does a record of this page have its old stamp still, or a period? They come after the pages. */
static bool is_to_come(const bshm_shard_header *shard, uint32_t aging, uint32_t page)
{
	return aging != 0 && page > BSHM_LOAD(&shard->aging_page, RELAXED);
}

uint32_t bshm__aging_age(const bshm__shard *s, uint32_t now, uint32_t page, uint32_t age)
{
	const uint32_t aging = BSHM_LOAD(&s->shard->aging, RELAXED);
	if (BSHM_LIKELY(!is_to_come(s->shard, aging, page))) {
		return age;
	}
	const rule r = rule_of_pages(s->shard, aging);
	const uint32_t since = bshm__age(now, r.now);
	return age <= since ? age : since + pressed(&r, age - since);
}

uint32_t bshm__aging_moved(const bshm__shard *s, uint32_t from, uint32_t to, uint32_t state)
{
	const uint32_t aging = BSHM_LOAD(&s->shard->aging, RELAXED);
	if (BSHM_LIKELY(!is_to_come(s->shard, aging, bshm__page_number(s, from))) ||
		is_to_come(s->shard, aging, bshm__page_number(s, to))) {
		return state;
	}
	const rule r = rule_of_pages(s->shard, aging);
	return (state & ~BSHM_SLOT_STAMP) | renumbered(s, &r, state & BSHM_SLOT_STAMP);
}

void bshm__aging_go_on(const bshm__shard *s)
{
	bshm_shard_header *shard = s->shard;
	const uint32_t now = bshm__stamp_now(s);
	const uint32_t aging = BSHM_LOAD(&shard->aging, RELAXED);
	const uint32_t most = bshm__age(now, BSHM_LOAD(&shard->base, RELAXED));
	if (aging != 0) {
		renumber_pages(s, now, aging);
	} else if (most > BSHM_AGE_RENUMBER) {
		BSHM_STORE(&shard->pop_stamp, 0, RELAXED);
		if (!renumber_few(s, now)) {
			find_knots(s, now, most);
			BSHM_STORE(&shard->aging_page, 0, RELAXED);
			BSHM_STORE(&shard->aging, 1 + ((now - AGE_KEPT) & BSHM_SLOT_STAMP), RELAXED);
		}
	}
}

void bshm__aging_help(bshm_segment *segment, uint64_t n)
{
	/* One after the other: if a script reads 2^k keys, each such hit may be in the same one. */
	const bshm__shard s =
		bshm__shard_at(segment, (uint32_t) (n / BSHM_HELP_HITS % segment->shard_count));
	bshm_shard_header *shard = s.shard;
	if (!bshm__aging_due(shard)) {
		return;
	}
	/* Where the clock is set back, the difference is large. */
	const uint32_t now_s = bshm__store_now_s(segment);
	const bool begins = BSHM_LOAD(&shard->aging, RELAXED) == 0;
	if ((!begins || now_s - BSHM_LOAD(&shard->helped_s, RELAXED) >= HELP_S) &&
		bshm__shard_lock_free(&s)) {
		BSHM_STORE(&shard->helped_s, now_s, RELAXED);
		bshm__aging_step(&s);
		bshm__shard_unlock(&s);
	}
}
