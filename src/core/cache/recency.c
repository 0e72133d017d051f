/*
 * recency.c - when each record was last used.
 *
 * There is no list. A record has a stamp of 15 bits: the epoch of its last use. An epoch ends when
 * a 64th of the shard's records have been stamped in it. So up to 127 records the order is exact,
 * and above that to a 64th of them. A look-up stamps its record, with one compare-and-swap, if the
 * record has not been stamped in this epoch. Where memory is the limit, an epoch also ends when a
 * 16th of it, or less, has been used that was not used before. Else a few large puts could use up
 * the memory in one epoch, and what was used just before them would be as old as all other records.
 *
 *      clock = | last | middle | floor | now |      15 bits each, and in bit 15 a bit of `period`
 *
 * Three periods began in the epochs `floor`, `middle` and `last`, and go on. For the later two it
 * is counted which part of the capacity the records have that were used in them: their number where
 * a count of records is the limit, else their bytes. (A limit of records may be one that the memory
 * does not hold: puts note which is near.) A use counts in each period that began after the
 * record's stamp. When an epoch ends and the period since `middle` has a quarter, it becomes the
 * oldest: `floor` is set to `middle`, `middle` to `last`, and a new one begins. It is some more
 * than a quarter where uses are counted by chance (COUNT_MANY). (What is overwritten or removed
 * stays counted.) Only records that were last used before `floor` are evicted. So the most recently
 * used quarter is safe. At most twice as much is younger than `floor`, so as a rule there is a
 * record that may be evicted.
 *
 * In a store of several shards it is a quarter of the store, of which one shard has more than
 * another: keys are spread by chance. (With periods of a shard's own these had to be up to 5/4 of a
 * quarter. With 5,450 records of 12 kB that cost 1.8 % of the misses.) So the store has a period,
 * too: a number. Of all epochs that end, one in as many as there are shards looks at the counts of
 * all, and ends the store's period (end_period_of_store). Each shard follows at its next use
 * (follow): `period` in its clock is the number, modulo 16, up to which it has. One that is far
 * ahead of the others does not wait for them: else hardly a record is left in it that may go. (A
 * record that has 3/8 of its shard takes it there by one use: then less than a quarter is safe.)
 *
 * A record is new, then PROTECTED, then FREQUENT: it goes up when it is used and was last used
 * before `middle`. Many uses in a short time count as one.
 *
 * Stamps are compared modulo 32,768. `base` is no younger than any stamp. When `now` is far ahead
 * of it, the old stamps are renumbered (aging.c). If that is late, epochs get longer, up to an 8th
 * of the records, and reads end none by bytes. Before it can overtake the old stamps `now` stops:
 * then uses are told apart no more until these are renumbered.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/recency.h"

#include "core/cache/aging.h"
#include "core/cache/walk.h"

#define AGE_MAX     BSHM_AGE_MAX
#define AGE_DONE    BSHM_AGE_DONE
#define AGE_OF_PUTS 0x7000u /* by then a put ends no epoch by bytes */
#define AGE_DOUBLES 0x200u  /* from there on epochs are twice as long after so many */
#define LONG_SHARE  8u      /* but no longer than that part of the records */

/* In `touches`: stamps set in this epoch, records used since `middle`, and since `last`. */
#define EPOCH_BITS  16u
#define EPOCH_MASK  ((UINT64_C(1) << EPOCH_BITS) - 1)
#define PERIOD_BITS BSHM_PERIOD_BITS
#define PERIOD_MASK ((UINT64_C(1) << PERIOD_BITS) - 1)
#define EPOCH_MOST  0xff00u

/* Of a limit of records, in eighths: from there on it is the limit, until there are fewer. Between
 * the two a shard would go to and fro, as large records go where memory is the limit. */
#define RECORDS_NEAR 7u
#define RECORDS_FAR  6u
/* While neither is near, it is the limit of which more is taken: by a quarter more than of the
 * memory, as slots and index take some, too. */
#define RECORDS_MORE 5u /* quarters */

#define NEW UINT32_MAX /* the age of what had no record */

/* From so many records of a store on, look-ups count a part of the uses of short ones, and each
 * stands for so many: all processes write `touches`. The count of a quarter of 65,536 then has a
 * standard deviation of 1.4 %. So a period has some 256ths of the records more. */
#define COUNT_MANY  65536u
#define COUNT_MORE  3u
#define COUNT_BYTES 256u
#define COUNT_EACH  4u
#define MIX         UINT64_C(0x9e3779b97f4a7c15)

/* How much of a shard, and of the store, a period has: in 256ths. */
#define QUARTER  64u
#define FAR_MORE 96u /* with so much a shard of several does not wait for the others */

#define PERIODS BSHM_PERIODS
#define AHEAD   (PERIODS - 1) /* the store's period, less that of a shard that has not waited */
#define LATE    (PERIODS / 2) /* the same of one that has not been used for so long */

#define ADVANCE_TRIES 16u

#define PAGES_NEAR 4u /* where the next of the oldest records is looked for first */

/* ------------------------------------------------------------------ the clock */

/* How far the clock is ahead of the oldest stamp. */
static uint32_t epoch_age(const bshm_shard_header *shard, uint64_t clock)
{
	return bshm__age(bshm__epochs_of(clock).now, BSHM_LOAD(&shard->base, RELAXED));
}

/* False: the stamps are used up, so `now` has stopped. The counts are kept then: they cannot begin
 * anew without a new period. */
static bool may_advance(const bshm_shard_header *shard, uint64_t clock)
{
	return epoch_age(shard, clock) + 1 < AGE_MAX;
}

/* Begins the next epoch; `clock` is the one that the caller read. False: another process has, or
 * `now` has stopped. */
static BSHM_NOINLINE bool advance(bshm_shard_header *shard, uint64_t clock)
{
	bshm__epochs e = bshm__epochs_of(clock);
	if (!may_advance(shard, clock)) {
		return false;
	}
	e.now++;
	/* Pairs with bshm__touch_count(). */
	return BSHM_CAS(&shard->clock, &clock, bshm__clock_of(e), RELEASE);
}

/* How many uses an epoch has. */
static uint64_t epoch_uses(const bshm_shard_header *shard, uint64_t clock, uint64_t records)
{
	const uint32_t age = epoch_age(shard, clock);
	const uint64_t usual = records < BSHM_EPOCH_SHARE ? 1 : records / BSHM_EPOCH_SHARE;
	const uint64_t most = records < LONG_SHARE ? 1 : records / LONG_SHARE;
	const uint64_t uses = age < AGE_DONE ? usual : usual << (age - AGE_DONE) / AGE_DOUBLES;
	return uses < most ? uses : most;
}

static uint64_t bytes_stored(const bshm_shard_header *shard)
{
	return BSHM_LOAD(&shard->data_bytes, RELAXED) +
		   BSHM_LOAD(&shard->records, RELAXED) * BSHM_RECORD_EXTRA;
}

/* What a period counts if all is used in it. */
static uint64_t all_of(const bshm_segment *segment, const bshm_shard_header *shard)
{
	const uint64_t records = BSHM_LOAD(&shard->records, RELAXED);
	const uint64_t stored = bytes_stored(shard);
	const uint64_t most = (uint64_t) segment->shard_pages * BSHM_SLAB_BYTES;
	const uint64_t bytes = stored < most ? stored : most; /* else no period would end again */
	return bshm__memory_is_limit(segment, shard) ? bytes >> segment->period_shift : records;
}

static inline bool counts_part(const bshm_segment *segment, const bshm_shard_header *shard)
{
	const uint32_t records = BSHM_LOAD(&shard->records, RELAXED);
	return (uint64_t) records * segment->shard_count >= COUNT_MANY;
}

/* In 256ths. */
static uint32_t share_of_period(const bshm_segment *segment, const bshm_shard_header *shard)
{
	return QUARTER + (counts_part(segment, shard) ? COUNT_MORE : 0);
}

/* Has enough been used since `middle`, so that the shard need not wait for the store's period? */
static bool period_is_full(
	const bshm_segment *segment, const bshm_shard_header *shard, uint64_t touches)
{
	const uint64_t used = touches >> EPOCH_BITS & PERIOD_MASK;
	const uint64_t share = segment->shard_count > 1 ? FAR_MORE : share_of_period(segment, shard);
	return used * 256 >= all_of(segment, shard) * share;
}

/* By how many periods a shard with this clock is behind the store: AHEAD, or less as a rule. The
 * clock is read first, with acquire: so the store's period is no older than the clock's. */
static inline uint32_t periods_behind(const bshm_segment *segment, uint64_t clock)
{
	const uint32_t of_store = BSHM_LOAD(&segment->store->period, RELAXED);
	return (of_store - bshm__epochs_of(clock).period) % PERIODS;
}

static inline bool is_behind(const bshm_segment *segment, uint64_t clock, uint32_t periods)
{
	const uint32_t behind = periods_behind(segment, clock);
	return behind >= periods && behind != AHEAD;
}

/* The oldest period of the shard ends. The new one has this number, and begins with the next epoch
 * (`later` is 1) or with the present one (0). The process whose compare-and-swap sets the counts
 * anew does the rest: a process that sees the new clock counts in the new periods. */
static BSHM_NOINLINE void end_period(
	bshm_shard_header *shard, uint64_t clock, uint64_t touches, uint32_t later, uint32_t period)
{
	const bshm__epochs before = bshm__epochs_of(clock);
	bshm__epochs e = before;
	/* What was used since `last` was used since the new `middle`. */
	const uint64_t since_last = touches >> (EPOCH_BITS + PERIOD_BITS);
	const uint64_t in_epoch = later == 0 ? touches & EPOCH_MASK : 0;
	if (!BSHM_CAS(&shard->touches, &touches, since_last << EPOCH_BITS | in_epoch, RELAXED)) {
		return;
	}
	for (unsigned tries = 0; tries < ADVANCE_TRIES; tries++) {
		if (later != 0 && !may_advance(shard, clock)) {
			return;
		}
		e.now += later;
		e.floor = e.middle;
		e.middle = e.last;
		e.last = e.now;
		e.period = period;
		/* Pairs with bshm__touch_count(). */
		if (BSHM_CAS(&shard->clock, &clock, bshm__clock_of(e), RELEASE)) {
			return;
		}
		e = bshm__epochs_of(clock);
		if (e.last != before.last || e.period != before.period) {
			return; /* another process has done so */
		}
	}
}

/*
 * Begins the periods that the store has begun since this shard was used last. They begin with the
 * present epoch. A use of a record that has its stamp already is not counted, and may have been
 * since: so the record is one of theirs. The clock is set after the counts, and says what has been
 * done. If this process dies or rests meanwhile, another one sets the counts anew once more, and
 * loses some: then periods get longer.
 */
static BSHM_NOINLINE uint64_t follow(
	const bshm_segment *segment, bshm_shard_header *shard, uint64_t clock)
{
	for (unsigned tries = 0; tries < ADVANCE_TRIES && is_behind(segment, clock, 1); tries++) {
		const uint64_t touches = BSHM_LOAD(&shard->touches, RELAXED);
		end_period(shard, clock, touches, 0, bshm__epochs_of(clock).period + 1);
		clock = BSHM_LOAD(&shard->clock, ACQUIRE); /* pairs with end_period() */
	}
	return clock;
}

/* Which part of a shard has been used in the period that is the store's oldest: in 2^-16. */
static uint64_t part_used(const bshm_segment *segment, const bshm_shard_header *shard)
{
	const uint64_t clock = BSHM_LOAD(&shard->clock, ACQUIRE); /* pairs with advance() */
	const uint64_t touches = BSHM_LOAD(&shard->touches, RELAXED);
	const uint64_t all = all_of(segment, shard);
	const uint32_t behind = periods_behind(segment, clock);
	if (behind == AHEAD) {
		return FAR_MORE << 8;
	}
	const uint64_t used = behind == 0   ? touches >> EPOCH_BITS & PERIOD_MASK
						  : behind == 1 ? touches >> (EPOCH_BITS + PERIOD_BITS)
										: 0;
	return used < all ? (used << 16) / all : 1 << 16;
}

/* An epoch of one of several shards has ended. If it is the turn of this process, looks whether a
 * period of the store ends. If the process dies here, the next one whose turn it is will do. */
static BSHM_NOINLINE void end_period_of_store(
	const bshm_segment *segment, const bshm_shard_header *shard)
{
	if (BSHM_ADD(&segment->store->epochs, 1, RELAXED) % segment->shard_count != 0) {
		return;
	}
	uint32_t period = BSHM_LOAD(&segment->store->period, RELAXED);
	uint64_t used = 0;
	uint64_t all = 0;
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		bshm_shard_header *other = &segment->shards[i];
		const uint64_t clock = BSHM_LOAD(&other->clock, ACQUIRE); /* pairs with end_period() */
		const uint64_t bytes = bytes_stored(other);
		if (is_behind(segment, clock, LATE)) {
			follow(segment, other, clock); /* it is not used: lest it seems to be ahead */
		}
		used += bytes * part_used(segment, other);
		all += bytes;
	}
	if (used >= all * share_of_period(segment, shard) << 8) {
		BSHM_CAS(&segment->store->period, &period, period + 1, RELAXED);
	}
}

/* The clock by which a record is used now. */
static inline uint64_t clock_of_use(const bshm_segment *segment, bshm_shard_header *shard)
{
	const uint64_t clock = BSHM_LOAD(&shard->clock, ACQUIRE); /* pairs with advance() */
	if (segment->shard_count > 1 && BSHM_UNLIKELY(is_behind(segment, clock, 1))) {
		return follow(segment, shard, clock);
	}
	return clock;
}

void bshm__touch_prepare(const bshm__shard *s)
{
	clock_of_use(s->segment, s->shard);
}

/* The uses of an epoch are complete, as a rule: it ends, or the oldest period does. */
static BSHM_NOINLINE void end_epoch(const bshm_segment *segment, bshm_shard_header *shard,
	uint64_t clock, uint64_t touches, bool by_bytes)
{
	const uint64_t in_epoch = touches & EPOCH_MASK;
	const uint64_t records = BSHM_LOAD(&shard->records, RELAXED);
	if (by_bytes || in_epoch >= EPOCH_MOST || in_epoch >= epoch_uses(shard, clock, records)) {
		if (may_advance(shard, clock) && period_is_full(segment, shard, touches)) {
			const uint32_t step =
				segment->shard_count > 1 && periods_behind(segment, clock) != AHEAD;
			end_period(shard, clock, touches, 1, bshm__epochs_of(clock).period + step);
		} else {
			BSHM_AND(&shard->touches, ~EPOCH_MASK, RELAXED);
			advance(shard, clock);
		}
		if (segment->shard_count > 1) {
			end_period_of_store(segment, shard);
		}
	}
}

/* Counts a use and ends its epoch, with one write of `touches` for both, or none: in a shard of few
 * records epochs are short. False: nothing is counted, as another process has counted meanwhile, or
 * epochs are longer, or the oldest period ends. */
static inline bool count_last(const bshm_segment *segment, bshm_shard_header *shard, uint64_t clock,
	uint64_t before, uint64_t one)
{
	const uint64_t counts = before + one;
	const uint64_t after = counts & ~EPOCH_MASK;
	const uint64_t next = (clock & ~(uint64_t) BSHM_SLOT_STAMP) | ((clock + 1) & BSHM_SLOT_STAMP);
	if (epoch_age(shard, clock) >= AGE_DONE || period_is_full(segment, shard, counts) ||
		(after != before && !BSHM_CAS(&shard->touches, &before, after, RELAXED))) {
		return false;
	}
	BSHM_CAS(&shard->clock, &clock, next, RELEASE); /* pairs with bshm__touch_count() */
	if (segment->shard_count > 1) {
		end_period_of_store(segment, shard);
	}
	return true;
}

/* Have the bytes of a use gone past a multiple of an epoch's? One process sees that. */
static inline bool has_passed(
	const bshm_segment *segment, const bshm_shard_header *shard, uint64_t before, uint64_t after)
{
	const uint64_t changed = (before ^ after) >> EPOCH_BITS & PERIOD_MASK;
	return changed >= segment->epoch_units && bshm__memory_is_limit(segment, shard);
}

/* What a use adds to the periods. A part of a unit counts as one as often as it is large: the count
 * of an epoch is another number at each use. */
static inline uint64_t part_of(
	const bshm_segment *segment, const bshm_shard_header *shard, uint64_t touches, uint64_t bytes)
{
	if (!bshm__memory_is_limit(segment, shard)) {
		return 1;
	}
	const uint32_t shift = segment->period_shift;
	return (bytes + BSHM_RECORD_EXTRA + (touches & ((1u << shift) - 1))) >> shift;
}

/* Counts so many uses of a record of this age. A count may be lost when another process sets the
 * counts anew. That makes a period longer, never shorter. No epoch ends by bytes if the clock is so
 * far ahead of the oldest stamp as `most_age`. */
static inline void count_use(const bshm_segment *segment, bshm_shard_header *shard, uint64_t clock,
	uint32_t age, uint64_t bytes, uint32_t most_age, uint32_t uses)
{
	const bshm__epochs e = bshm__epochs_of(clock);
	const uint64_t before_middle = age > bshm__age(e.now, e.middle);
	const uint64_t before_last = age > bshm__age(e.now, e.last);
	const uint64_t periods = before_middle | before_last << PERIOD_BITS;
	const uint64_t full = BSHM_LOAD(&shard->records, RELAXED) / BSHM_EPOCH_SHARE;
	uint64_t before = BSHM_LOAD(&shard->touches, RELAXED);
	const uint64_t one =
		uses * (1 | periods * part_of(segment, shard, before, bytes) << EPOCH_BITS);
	if ((before & EPOCH_MASK) + uses >= full && count_last(segment, shard, clock, before, one)) {
		return;
	}
	before = BSHM_ADD(&shard->touches, one, RELAXED);
	const uint64_t counts = before + one;
	const uint64_t in_epoch = counts & EPOCH_MASK;
	const bool by_bytes =
		has_passed(segment, shard, before, counts) && epoch_age(shard, clock) < most_age;
	if (BSHM_UNLIKELY(by_bytes) || in_epoch >= EPOCH_MOST || in_epoch >= full) {
		end_epoch(segment, shard, clock, counts, by_bytes);
	}
}

/*
 * Which limit is near, or will be when the shard is full of such records? That is known early: when
 * the shard is full, shadow.c has a sample for this limit. (Where memory was the limit up to 7/8 of
 * the records, the sample was empty then. Sessions by day and a batch by night, a quarter of the
 * keys: 5 % more misses than LRU; now 2.7 %.)
 *
 * Where it is another one, `touches` counts something else: it begins anew, so periods get longer.
 * Before, in case this process dies; and after, as others may have counted.
 */
static BSHM_NOINLINE void note_limit(const bshm__shard *s)
{
	/* So many never fit: a larger limit would not fit into 64 bits below. */
	const uint64_t fit = s->segment->shard_count * s->segment->shard_bytes / BSHM_SLOT_BYTES_MIN;
	const uint64_t limit = s->segment->cache_records < fit ? s->segment->cache_records : fit;
	const uint64_t records =
		BSHM_LOAD(&s->shard->records, RELAXED) * (uint64_t) s->segment->shard_count;
	const uint64_t pages = bytes_stored(s->shard) / BSHM_SLAB_BYTES + 1;
	const uint64_t of_records = records * s->segment->shard_pages;
	const uint64_t of_memory = pages * limit;
	const bool changes =
		bshm__memory_is_limit(s->segment, s->shard)
			? records * 8 / RECORDS_NEAR >= limit || of_records * 4 / RECORDS_MORE >= of_memory
			: records * 8 / RECORDS_FAR < limit && of_records < of_memory;
	if (changes) {
		const uint32_t margin = BSHM_LOAD(&s->shard->intent.size_margin, RELAXED);
		BSHM_STORE(&s->shard->touches, 0, RELAXED);
		BSHM_STORE(&s->shard->intent.size_margin, margin ^ BSHM_RECORDS_ARE_LIMIT, RELAXED);
		BSHM_STORE(&s->shard->touches, 0, RELAXED);
	}
}

void bshm__touch_count(const bshm__shard *s, uint32_t before, uint64_t bytes)
{
	const uint64_t clock = BSHM_LOAD(&s->shard->clock, ACQUIRE); /* pairs with advance() */
	const uint32_t now = bshm__epochs_of(clock).now;
	const uint32_t age = before == 0 ? NEW : bshm__age(now, before);
	if (s->segment->cache_records != 0) {
		note_limit(s);
	}
	count_use(s->segment, s->shard, clock, age, bytes, AGE_OF_PUTS, 1);
}

static inline uint32_t state_used(bshm__epochs e, uint32_t state)
{
	const bool again = bshm__age(e.now, state) > bshm__age(e.now, e.middle);
	const uint32_t up = !again                               ? 0
						: (state & BSHM_SLOT_PROTECTED) == 0 ? BSHM_SLOT_PROTECTED
															 : BSHM_SLOT_FREQUENT;
	return (state & ~BSHM_SLOT_STAMP) | e.now | up;
}

uint32_t bshm__state_used(const bshm__shard *s, uint32_t state)
{
	return state_used(bshm__epochs_of(BSHM_LOAD(&s->shard->clock, RELAXED)), state);
}

/* The state was not `before` any more. Another process has used the record, and that will do; or it
 * has renumbered the stamp. */
static BSHM_NOINLINE void touch_again(const bshm_segment *segment, bshm_shard_header *shard,
	uint32_t *state_word, uint32_t before, uint64_t bytes)
{
	const uint32_t state = BSHM_LOAD(state_word, RELAXED);
	const uint32_t age = bshm__age((uint32_t) BSHM_LOAD(&shard->clock, RELAXED), state);
	if (((state ^ before) & ~BSHM_SLOT_STAMP) == 0 && age != 0 && age < AGE_MAX) {
		bshm__touch_set(segment, shard, state_word, state, bytes);
	}
}

/* For how many uses this one counts: another part of the records in each epoch. Mixed twice: else
 * records at equal distances in memory, read in turn, could count more often than others. */
static inline uint32_t uses_of(const bshm_segment *segment, const bshm_shard_header *shard,
	const uint32_t *state_word, uint32_t now, uint64_t bytes)
{
	if (bytes > COUNT_BYTES || !counts_part(segment, shard)) {
		return 1;
	}
	const uint64_t mixed = ((uintptr_t) state_word ^ (uint64_t) now << 48) * MIX;
	return ((mixed ^ mixed >> 32) * MIX >> 32) % COUNT_EACH == 0 ? COUNT_EACH : 0;
}

/* `flatten`: a walk over many keys notes a use with each get. */
BSHM_FLATTEN void bshm__touch_set(const bshm_segment *segment, bshm_shard_header *shard,
	uint32_t *state_word, uint32_t state, uint64_t bytes)
{
	const uint32_t before = state;
	const uint64_t clock = clock_of_use(segment, shard);
	const bshm__epochs e = bshm__epochs_of(clock);
	if (BSHM_LIKELY(BSHM_CAS(state_word, &state, state_used(e, state), RELAXED))) {
		const uint32_t uses = uses_of(segment, shard, state_word, e.now, bytes);
		if (uses != 0) {
			count_use(segment, shard, clock, bshm__age(e.now, before), bytes, AGE_DONE, uses);
		}
	} else {
		touch_again(segment, shard, state_word, before, bytes);
	}
}

/* ------------------------------------------------------------------ the oldest */

typedef struct {
	uint32_t now;
	uint32_t least_age; /* a record that is so old will do */
	uint32_t ref;       /* of the oldest one; 0 = none */
	uint32_t state;     /* which record it is: another one may have got the slot since */
	uint32_t age;
} search;

/* How many records there are of AGES_EACH ages each, and in all. */
#define AGES_EACH 16u
typedef struct {
	uint32_t records;
	uint32_t of[(BSHM_SLOT_STAMP + 1) / AGES_EACH];
} counts;

/* Looks through so many pages, from `page` on, up to the first record that is old enough: true.
 * Else counts those of users, unless `all` is NULL. */
static bool look_for(
	const bshm__shard *s, search *oldest, uint32_t page, uint32_t pages, counts *all)
{
	const uint32_t now_s = bshm__store_now_s(s->segment);
	bshm__walk w = {page, 0, 0};
	uint32_t state;
	uint32_t ref;
	while ((ref = bshm__walk_next(s, &w, &state)) != 0 && w.visited < pages) {
		const uint32_t shape =
			BSHM_LOAD(bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN), 1), RELAXED);
		if ((shape >> BSHM_SHAPE_SPACE & 1) != BSHM_SPACE_CACHE ||
			bshm__walk_expired(s, ref, state, now_s)) {
			continue;
		}
		const uint32_t age =
			bshm__aging_age(s, oldest->now, w.page + 1, bshm__age_of(s, oldest->now, state));
		if (oldest->ref == 0 || age > oldest->age) {
			oldest->ref = ref;
			oldest->state = state;
			oldest->age = age;
		}
		if (age >= oldest->least_age) {
			return true;
		}
		if (all != NULL) {
			all->records++;
			all->of[age / AGES_EACH]++;
		}
	}
	return false;
}

/* From which age on records will do: for a 64th of them at most, or those of one age. */
static uint32_t least_age(const counts *all, uint32_t oldest)
{
	uint32_t least = oldest;
	uint32_t sum = 0;
	for (uint32_t i = oldest / AGES_EACH; i != 0; i--) {
		sum += all->of[i];
		if (sum > all->records / BSHM_EPOCH_SHARE) {
			break;
		}
		least = i * AGES_EACH;
	}
	return least;
}

/* Looks through all pages. */
static BSHM_NOINLINE void look_everywhere(const bshm__shard *s, search *oldest, uint32_t page)
{
	counts all = {.records = 0};
	oldest->ref = 0;
	if (!look_for(s, oldest, page, s->segment->shard_pages, &all) && oldest->ref != 0) {
		oldest->least_age = least_age(&all, oldest->age);
	}
}

/* Beside the stamp that will do, it is noted how many records there were, in octaves: of far fewer
 * it would be more than a 64th. */
#define NOTED_COUNT 16u

/* A search begins where the last one has ended. A read-only process cannot note it. */
uint32_t bshm__oldest(const bshm__shard *s, uint32_t *state, uint32_t *age)
{
	const uint32_t note = BSHM_LOAD(&s->shard->pop_stamp, RELAXED);
	const uint32_t known = note & ((1u << NOTED_COUNT) - 1);
	const uint32_t count = BSHM_HIGHEST_BIT(BSHM_LOAD(&s->shard->records, RELAXED) | UINT64_C(1));
	const uint32_t noted = BSHM_LOAD(&s->shard->pop_page, RELAXED);
	const uint32_t page = noted < s->segment->shard_pages ? noted : 0;
	search oldest = {.now = bshm__stamp_now(s), .least_age = NEW};
	const uint32_t most = bshm__age(oldest.now, BSHM_LOAD(&s->shard->base, RELAXED));
	const bool holds = known != 0 && note >> NOTED_COUNT <= count &&
					   bshm__age(oldest.now, known - 1) <= most; /* else it is out of date */
	if (holds) {
		oldest.least_age = bshm__age(oldest.now, known - 1);
	}
	if (oldest.least_age == NEW || !look_for(s, &oldest, page, PAGES_NEAR, NULL)) {
		look_everywhere(s, &oldest, page);
	}
	*state = oldest.state;
	*age = oldest.age;
	if (oldest.ref != 0 && s->segment->store_writable) {
		const uint32_t stamp = (oldest.now - oldest.least_age) & BSHM_SLOT_STAMP;
		BSHM_STORE(&s->shard->pop_page, bshm__page_number(s, oldest.ref) - 1, RELAXED);
		if (!holds || stamp + 1 != known) { /* else it is of as many as before */
			BSHM_STORE(&s->shard->pop_stamp, (stamp + 1) | count << NOTED_COUNT, RELAXED);
		}
	}
	return oldest.ref;
}
