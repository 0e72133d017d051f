/*
 * ghost.c - ghosts: which records were evicted lately. Adapts the eviction to those that return.
 *
 * A ghost is 16 bits: 11 of the key's hash, whether the record was larger than others that were
 * evicted, of which kind it was (recency.c), and the turn in which it was evicted. It is stored in
 * the key's home bucket, in the half word beside the overflow count. If the record's cell is in
 * that bucket, the ghost that was in the half word moves to the cell's tag, because a tag of a free
 * cell has no other use; else it is lost. So ghosts take no memory: there is room for one in each
 * bucket and in each free cell, about one for every third or fourth record. A put into the cell,
 * and a resize of the table, end ghosts. So does age: a ghost counts in its turn and in the next
 * one. The hand of evict.c goes over the index in each turn, and removes older ones.
 *
 * A turn has half as many evictions as there are records. But where evictions are rare it ends
 * sooner: after 5/2 of the age of the floor. That of a quarter is so old about when an LRU would
 * have evicted what was used at the beginning of the turn. A record that returns much later tells
 * nothing: to keep it until then would have taken the room of others for longer than it is worth.
 * (Where the other keys in use nearly fit, a loop three times as long as the store took their room:
 * up to 80 % more misses than LRU.)
 *
 * A record that would have expired within a turn leaves none: if it is read again after that, it
 * would have been missed anyhow, and its ghost does not know.
 *
 * A record is missed if a call asks for it and meets its ghost: then it was evicted too soon. (One
 * that is put and put again, and never asked for, was not.) `turn` counts the missed ones. All
 * processes that serve a popular page may miss it before the first of them has put it: so the table
 * notes the last few keys that were counted, and in which epoch, and such a key is not counted
 * again in this one. A put takes its own from the count: two if its note has gone, as it may have
 * been counted again then. The record is PROTECTED at once, and `lean` (evict.c) changes: it goes
 * down if the record was on probation, else up. The step is larger for the kind that is evicted
 * less often, as in ARC. So `lean` comes to rest where both kinds of records, when they are
 * evicted, are about equally likely to be asked for again. Where memory is the limit, that is for
 * each byte: small records that come once would count as much as pages, and free hardly anything.
 *
 * A new store is an LRU. Where a count of records is the limit, its first steps are larger, until
 * it has evicted twice as many records as it holds. (Where it began with a lean of 1 instead, it
 * kept that while evictions were rare: where the popular keys drift, and half of all keys fit, 1.6
 * percent more misses than LRU. With the usual steps traces of 100,000 requests had 0.5 % more.)
 *
 * FREQUENT records count as younger than those that are only PROTECTED: by 0 to 3/4 of the lean,
 * the bonus. It is learnt in the same way: it goes up if a FREQUENT record returns, and down if one
 * that was only PROTECTED does. A step down is half as large: in a loop all return as surely, and
 * those that are FREQUENT by now should stay. In most stores the bonus is high, as what was used
 * often will be. But the records of a nightly batch are FREQUENT by the morning, and none of them
 * returns. (With a bonus of 3/8 for ever they stayed for most of the day. Others had to return,
 * that kept the lean up, and the lean kept them: up to 45 % more misses than LRU.)
 *
 * Sessions, and results of long work, are not put again when they are missed. If they were not
 * counted, the store would not learn that it has lost them. One costs all of its reads: so it
 * counts in each epoch. (If it counted once, and a page that returns took two, the store never
 * learnt of sessions larger than the pages beside them: half of their reads were lost.)
 *
 * A use of a record that would have been evicted soon (size.c) tells as much as one that returns
 * soon after it was. It counts half, as a small part of a lifetime has as many of them as a turn
 * has ghosts; and of a kind that stays longer the less, as that part is longer. (Counted alike,
 * they drew the lean up where it was up: 1 to 4 % more misses than LRU.) What was the record's age
 * at the last eviction? If it was young then, it was never about to go. (While all that is in use
 * fits, ages grow, and none goes. Counted, the uses of such records drew the lean up until the
 * keys changed, and the new ones had to go first: 12 to 51 % more misses than LRU.)
 *
 * While the store has lost hits against an LRU, less raises the lean, or nothing, and less of it
 * counts (gain.c).
 *
 * Where the kinds differ by chance only, LRU is best. Chance comes in bursts, because whole files
 * return, or whole pages of a site, and it goes as far as the steps are large. So a step up is a
 * sixth smaller, near 0 each step is smaller, and a small store learns from hundreds of ghosts. One
 * of several shards learns from its part of them: all learn the same, as keys are spread by chance.
 * (Where each took hundreds, eight shards of 250 records had 4 % more misses than one of 2,000.)
 *
 * If more than half of the evicted records are PROTECTED ones, not all that return can stay: the
 * keys come in a loop that is larger than the store, and each would be evicted just before it is
 * asked for. So only some of them are PROTECTED, which then stay. They are chosen by their hash, so
 * that they are the same ones in each round. The others return as surely, and say hardly more about
 * `lean` than that it should not be 0. (Where they drew it on, so did a nightly batch which did not
 * quite fit beside the keys of the day, in its first pass. In its next ones it then evicted its own
 * records, and the day's until noon: 16 to 45 % more misses than LRU, each day.) But what the store
 * has gained (gain.c) it may lose: the more that is, the further they draw it. (Where they drew it
 * no further then, hardly a key of a loop was PROTECTED for more than a round. Of one a tenth
 * longer than a store of 12 kB records that others had filled, 94 % of the requests missed for
 * good, now 25 to 55 %. It is paid for where a batch follows that does not quite fit: the first one
 * after a loop had 52 % more misses than LRU, not 14; loop, day and batch together 25 % fewer, not
 * 28.)
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/ghost.h"

#include "core/cache/gain.h"
#include "core/cache/ghost_lane.h"
#include "core/cache/recency.h"
#include "core/cache/settings.h"
#include "core/cache/share.h"
#include "core/cache/shadow.h"

#define HASH_MASK  ((1u << BSHM_GHOST_BITS) - 1)
#define LARGE      (1u << BSHM_GHOST_BITS)
#define MARK_SHIFT (BSHM_GHOST_BITS + 1) /* 1 + the turn * BSHM_KINDS + the kind */
#define TURNS      3u
#define TURN_MASK  0xffu /* of the turn in its word */

/* In turn_rounds: ghost.h. */
#define LENGTH_SHIFT 2u
#define BEGAN_SHIFT  8u
#define BEGAN_MASK   0xffffffu

#define NOTE_EPOCHS  63u /* a mask */
#define MISSED_BITS  12u
#define MISSED_MOST  4000u /* counted: the rest is room for those who count at the same moment */
#define MISSED_SOON  2048u /* so many may be about to be put */
#define MISSED_TWICE 2u    /* a put takes so many if its note has gone */
#define MISSED_STEP  4u    /* more than that are learnt from with an eviction, up to so many */

#define TURN_SHARE  2u /* of the records: a turn has no more evictions */
#define TURN_FLOORS 5u /* and lasts no longer than so many halves of the age of the floor */
#define USES_MOST   0xffffu
#define EVERY_LANE  UINT64_C(0x0001000100010001)
/* The share of those on probation is averaged over such a part of a turn's evictions, and that of
 * FREQUENT ones over half of it. The least is that of a store: its shards share it, except for
 * what may_stay() takes. */
#define EVERY_PART  8u
#define EVERY_LEAST 256u
#define EVERY_MOST  4096u

/* A ghost that returns moves `lean` by STEP / (records + STEP_RECORDS), or up to STEP_MOST times
 * that; by a part of it where `lean` is less than 3/4: none at -3/4, half at 0. STEP_RECORDS is
 * that of a store: its shards share it. */
#define STEP         (INT64_C(9) * BSHM_OCTAVE)
#define STEP_RECORDS 256
#define STEP_MOST    32
#define STEP_LESS    84 /* percent: of a step up, and of one by a record that is not PROTECTED */
#define STEP_LATE    50 /* of one by a late use (size.c) */
#define STEP_NEW     3  /* times as large in a store that has not evicted */
#define NEW_ROUNDS   2  /* times as many records as it holds */
#define LEAN_WHOLE   (BSHM_OCTAVE / 4 * 3) /* from there on the steps are whole */
#define LEAN_LOOP    (BSHM_OCTAVE / 8) /* no higher by what may not stay, if nothing was gained */
#define MUCH_LARGER  4                 /* times the mean size: it does all the same */

/* FREQUENT records count as younger by so much of the lean at most, and in a new store. A ghost
 * that returns moves that up by BONUS_STEP / (records + STEP_RECORDS), or up to STEP_MOST times
 * that, but not by more than BONUS_FAR; or down by half of that. */
#define BONUS_ONE    32768
#define BONUS_MOST   (BONUS_ONE / 4 * 3)
#define BONUS_NEW    (BONUS_ONE / 8 * 3)
#define BONUS_STEP   (INT64_C(8) * BONUS_ONE)
#define BONUS_FAR    (BONUS_ONE / 4)
#define FREQUENT_NEW ((uint32_t) BONUS_NEW << 16 | BSHM_SHARE_ONE / 2)

static uint32_t turn_now(const bshm_shard_header *shard)
{
	return (BSHM_LOAD(&shard->turn, RELAXED) & TURN_MASK) % TURNS;
}

/* In `turn`: how often ghosts of small records, or of large ones, were missed, and not put since
 * then. */
static uint32_t missed_unit(bool large)
{
	return large ? (TURN_MASK + 1) << MISSED_BITS : TURN_MASK + 1;
}

static uint32_t missed(const bshm_shard_header *shard, bool large)
{
	const uint32_t word = BSHM_LOAD(&shard->turn, RELAXED);
	return word / missed_unit(large) & ((1u << MISSED_BITS) - 1);
}

/* By this name a missed key is noted; the low bits of the note are those of the epoch. */
static uint32_t name_of(const bshm__home *home)
{
	return (uint32_t) (home->hash >> 32) & ~NOTE_EPOCHS;
}

static uint32_t *note_of(const bshm__shard *s, const bshm__home *home)
{
	return &s->segment->tables[home->table]
				.missed[name_of(home) / (NOTE_EPOCHS + 1) % BSHM_TABLE_MISSED];
}

static bool is_noted(const bshm__shard *s, const bshm__home *home)
{
	return ((BSHM_LOAD(note_of(s, home), RELAXED) ^ name_of(home)) & ~NOTE_EPOCHS) == 0;
}

/* Takes a key from the count of the missed. False: it was not missed. */
static bool take_missed(const bshm__shard *s, const bshm__home *home, bool large)
{
	const bool noted = is_noted(s, home);
	const uint32_t count = missed(s->shard, large);
	const uint32_t most = noted ? 1 : MISSED_TWICE;
	const uint32_t own = count < most ? count : most;
	if (noted) {
		BSHM_STORE(note_of(s, home), 0, RELAXED);
	}
	BSHM_SUB(&s->shard->turn, own * missed_unit(large), RELAXED);
	return noted || count != 0;
}

static int32_t probation_share(const bshm_shard_header *shard)
{
	return bshm__share_in(BSHM_LOAD(&shard->probation, RELAXED));
}

/* How many evictions a turn has at most. */
static uint32_t most_of_turn(const bshm_shard_header *shard)
{
	return BSHM_LOAD(&shard->records, RELAXED) / TURN_SHARE;
}

/* How many this turn has had. */
static uint32_t evictions_of_turn(const bshm_shard_header *shard)
{
	const uint32_t most = most_of_turn(shard);
	const uint32_t left = BSHM_LOAD(&shard->ghosts, RELAXED);
	return left < most ? most - left : 0;
}

/* How often records were used for each of them: an epoch has a part of the records in uses. */
static uint32_t uses_of_turn(const bshm_shard_header *shard, uint32_t evictions)
{
	const uint32_t began = BSHM_LOAD(&shard->turn_began, RELAXED);
	const uint64_t epochs = bshm__age((uint32_t) BSHM_LOAD(&shard->clock, RELAXED), began);
	const uint64_t records = BSHM_LOAD(&shard->records, RELAXED);
	const uint64_t uses = epochs * records / BSHM_EPOCH_SHARE / (evictions == 0 ? 1 : evictions);
	return uses < USES_MOST ? (uint32_t) uses : USES_MOST;
}

/* This turn tells if a 16th of it is over; else the last one does. */
uint32_t bshm__ghost_uses(const bshm__shard *s)
{
	const uint32_t done = evictions_of_turn(s->shard);
	return done > most_of_turn(s->shard) / 16 ? uses_of_turn(s->shard, done)
											  : BSHM_LOAD(&s->shard->turn_began, RELAXED) >> 16;
}

/* Is the turn as long as it may be? The hand has to come round first, and remove old ghosts: else
 * they would be young again three turns later. */
static bool is_over(const bshm__shard *s)
{
	const bshm_shard_header *shard = s->shard;
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&shard->clock, RELAXED));
	const uint32_t epochs = bshm__age(e.now, BSHM_LOAD(&shard->turn_began, RELAXED));
	const bool is_long = 2 * epochs >= TURN_FLOORS * bshm__age(e.now, e.floor);
	return (is_long || BSHM_LOAD(&shard->ghosts, RELAXED) == 0) &&
		   (BSHM_LOAD(&shard->turn_rounds, RELAXED) & BSHM_ROUNDS_MOST) >= 2;
}

/* How long this turn has lasted; 0: not known, or the clock has been set back. */
static uint32_t length_so_far(const bshm_shard_header *shard, uint32_t now_s)
{
	const uint32_t began_s = BSHM_LOAD(&shard->turn_rounds, RELAXED) >> BEGAN_SHIFT;
	const uint32_t length = (now_s - began_s) & BEGAN_MASK;
	return began_s == 0 || length > BEGAN_MASK / 2 ? 0 : length;
}

/* Will it have expired when a turn has gone by? */
static bool expires_soon(const bshm__shard *s, uint32_t expires_s)
{
	if (BSHM_LIKELY(expires_s == 0)) {
		return false;
	}
	const uint32_t now_s = bshm__store_now_s(s->segment);
	const uint32_t this_turn = length_so_far(s->shard, now_s);
	const uint32_t rounds = BSHM_LOAD(&s->shard->turn_rounds, RELAXED);
	const uint32_t last_turn = bshm__unpacked(rounds >> LENGTH_SHIFT & BSHM_PACKED_MOST);
	const uint32_t length = this_turn > last_turn ? this_turn : last_turn;
	return expires_s < now_s + length;
}

int32_t bshm__ghost_lean(const bshm__shard *s)
{
	return bshm__lean_in(BSHM_LOAD(&s->shard->lean, RELAXED));
}

/* If another process moves it meanwhile, that one does. */
static void move_lean(const bshm__shard *s, int64_t steps)
{
	uint32_t word = BSHM_LOAD(&s->shard->lean, RELAXED);
	const int64_t lean = bshm__lean_within(bshm__lean_in(word) + steps);
	BSHM_CAS(&s->shard->lean, &word, (uint32_t) (int32_t) lean, RELAXED);
}

static void begin_turn(const bshm__shard *s, bool first)
{
	bshm_shard_header *shard = s->shard;
	const uint32_t now_s = bshm__store_now_s(s->segment);
	const uint32_t length = bshm__packed(length_so_far(shard, now_s));
	const uint32_t uses = first ? 0 : uses_of_turn(shard, evictions_of_turn(shard));
	BSHM_STORE(&shard->turn_began, uses << 16 | bshm__stamp_now(s), RELAXED);
	const uint32_t turn = turn_now(shard);
	BSHM_ADD(&shard->turn, (turn + 1) % TURNS - turn, RELAXED);
	BSHM_STORE(&shard->turn_rounds, now_s << BEGAN_SHIFT | length << LENGTH_SHIFT, RELAXED);
	BSHM_STORE(&shard->ghosts, most_of_turn(shard), RELAXED);
	move_lean(s, bshm__gain_back(s, bshm__ghost_lean(s)));
	bshm__size_turn(s);
	bshm__gain_turn(s);
}

/* How many evictions the share of those on probation is averaged over. (With 256 in each store, it
 * changed sooner than the ghosts returned that it stands for, after a nightly batch. The steps were
 * too large, and up to 28 % more were missed than with LRU, each day.) */
static uint32_t every_share(uint32_t most_of_turn, uint32_t least)
{
	const uint32_t every = most_of_turn / EVERY_PART;
	return every < least ? least : every < EVERY_MOST ? every : EVERY_MOST;
}

/* What is known of FREQUENT records: the share of them in the last evictions of records that were
 * not on probation, and by how much they count as younger, in BONUS_ONE of the lean. */
typedef struct {
	int32_t share;
	int32_t bonus;
} frequents;

static frequents frequents_in(uint32_t word)
{
	const uint32_t both = word ^ FREQUENT_NEW;
	const int32_t bonus = (int32_t) (both >> 16);
	return (frequents){(int32_t) (both % BSHM_SHARE_ONE), bonus < BONUS_MOST ? bonus : BONUS_MOST};
}

/* If another process has changed it since `before`, that one does. */
static void frequents_set(const bshm__shard *s, uint32_t before, frequents f)
{
	const uint32_t both = ((uint32_t) f.bonus << 16 | (uint32_t) f.share) ^ FREQUENT_NEW;
	if (both != before) {
		BSHM_CAS(&s->shard->frequent, &before, both, RELAXED);
	}
}

static void count_frequent(const bshm__shard *s, uint32_t kind, uint32_t every)
{
	const uint32_t word = BSHM_LOAD(&s->shard->frequent, RELAXED);
	frequents f = frequents_in(word);
	const int32_t change = (kind == BSHM_KIND_FREQUENT ? BSHM_SHARE_ONE - 1 : 0) - f.share;
	f.share += change / (int32_t) every;
	frequents_set(s, word, f);
}

/* `parts`: what counts of the record (size.h). */
static void count_eviction(const bshm__shard *s, uint32_t kind, uint32_t parts)
{
	bshm_shard_header *shard = s->shard;
	const uint32_t left = BSHM_LOAD(&shard->ghosts, RELAXED);
	const uint32_t most = most_of_turn(shard);
	const uint64_t evictions = BSHM_LOAD(&shard->evictions, RELAXED);
	const bool first = evictions == 0; /* no turn goes on */
	bshm__gain_evicted(s, evictions);
	if (first || is_over(s)) {
		begin_turn(s, first);
	} else {
		BSHM_STORE(&shard->ghosts, left > most ? most : left - (left != 0), RELAXED);
	}
	const uint32_t word = BSHM_LOAD(&shard->probation, RELAXED);
	const uint32_t part = EVERY_LEAST / s->segment->shard_count;
	const uint32_t every = every_share(most, part < BSHM_SIZE_MOST ? BSHM_SIZE_MOST : part);
	const uint32_t more = every_share(most, EVERY_LEAST);
	const uint32_t its = kind == BSHM_KIND_PROBATION ? parts : 0;
	const uint32_t lately = bshm__share_after(word, its, parts, every, evictions);
	const uint32_t longer = bshm__share_after(word >> 16, its, parts, more, evictions);
	BSHM_STORE(&shard->probation, longer << 16 | lately, RELAXED);
	if (kind != BSHM_KIND_PROBATION) {
		count_frequent(s, kind, every / 2);
	}
}

/* Is it PROTECTED when it returns? As many are as go of those on probation. In a loop that shows
 * only a round later. (With the mean of fewer, too many were, and then too few: one of three shards
 * whose part of the loop was the largest had up to 1.7 times as many misses.) */
static bool may_stay(const bshm__shard *s, const bshm__home *home)
{
	const int32_t half = BSHM_SHARE_ONE / 2;
	const int32_t share = bshm__share_in(BSHM_LOAD(&s->shard->probation, RELAXED) >> 16);
	return (int32_t) bshm__ghost_hash(home->hash) < share * (int32_t) (HASH_MASK + 1) / half;
}

/* How large a step is, in 256ths: the larger, the smaller the share of what was evicted lately that
 * is like the record. */
static int64_t step_times(int64_t its_share)
{
	const int64_t rare = 256 * (BSHM_SHARE_ONE - its_share) / (its_share < 1 ? 1 : its_share);
	return rare < 256 ? 256 : rare < 256 * STEP_MOST ? rare : 256 * STEP_MOST;
}

static bool is_new(const bshm__shard *s)
{
	const uint64_t records = BSHM_LOAD(&s->shard->records, RELAXED);
	return !bshm__memory_is_limit(s->segment, s->shard) &&
		   BSHM_LOAD(&s->shard->evictions, RELAXED) < NEW_ROUNDS * records;
}

static int64_t step_records(const bshm__shard *s)
{
	return STEP_RECORDS / (int64_t) s->segment->shard_count +
		   (int64_t) BSHM_LOAD(&s->shard->records, RELAXED);
}

/* A record of that kind would have been a hit if it had stayed, or is one as it has. */
static void learn(const bshm__shard *s, uint32_t kind, int64_t percent)
{
	const bool was_on_probation = kind == BSHM_KIND_PROBATION;
	const int64_t share = probation_share(s->shard);
	const int64_t times = step_times(was_on_probation ? share : BSHM_SHARE_ONE - share);
	int64_t step = STEP / step_records(s) * times / 256;
	step = was_on_probation ? step : bshm__gain_earned(s, step * STEP_LESS / 100);
	step = step * percent / 100 * (is_new(s) ? STEP_NEW : 1);
	const int64_t part = bshm__ghost_lean(s) + LEAN_WHOLE;
	step = part < 2 * LEAN_WHOLE ? step * part / (2 * LEAN_WHOLE) : step;
	const int64_t most = step < BSHM_OCTAVE ? step : BSHM_OCTAVE;
	move_lean(s, was_on_probation ? -most : most);
}

/* The same for the bonus of FREQUENT records. What is over of a whole step counts as one as
 * often as it is large: the count of an epoch is another number at each use. */
static void learn_bonus(const bshm__shard *s, uint32_t kind, int64_t percent)
{
	if (kind == BSHM_KIND_PROBATION) {
		return;
	}
	const uint32_t word = BSHM_LOAD(&s->shard->frequent, RELAXED);
	frequents f = frequents_in(word);
	const int64_t times =
		step_times(kind == BSHM_KIND_FREQUENT ? f.share : BSHM_SHARE_ONE - f.share);
	const int64_t step_256 = BONUS_STEP * times / step_records(s) * percent / 100;
	const int64_t rest = (int64_t) (BSHM_LOAD(&s->shard->touches, RELAXED) % 256);
	const int64_t step = (step_256 + rest) / 256;
	const int32_t most = (int32_t) (step < BONUS_FAR ? step : BONUS_FAR);
	const int32_t bonus = f.bonus + (kind == BSHM_KIND_FREQUENT ? most : -most / 2);
	f.bonus = bonus < 0 ? 0 : bonus < BONUS_MOST ? bonus : BONUS_MOST;
	frequents_set(s, word, f);
}

/*
 * An eviction learns from missed ghosts whose records no process puts: from what the count has
 * above MISSED_SOON, as the others may still be put. What was kept instead of them may have been
 * kept in vain: so `lean` goes to 0, and the store becomes an LRU.
 */
static void learn_missed(const bshm__shard *s, bool large)
{
	const uint32_t count = missed(s->shard, large);
	if (count <= MISSED_SOON) {
		return;
	}
	const uint32_t beyond = count - MISSED_SOON;
	const uint32_t now = beyond < MISSED_STEP ? beyond : MISSED_STEP;
	const int64_t step = now * (STEP / step_records(s));
	const int64_t lean = bshm__ghost_lean(s);
	move_lean(s, lean > step ? -step : lean < -step ? step : -lean);
	bshm__size_missed(s, large, now);
	BSHM_SUB(&s->shard->turn, now * missed_unit(large), RELAXED);
}

int32_t bshm__ghost_older(const bshm__shard *s, uint32_t kind)
{
	int32_t lean = kind == BSHM_KIND_PROTECTED ? 0 : bshm__ghost_lean(s);
	lean = lean <= 0 ? 0 : (int32_t) bshm__gain_earned(s, lean);
	if (lean == 0 || kind == BSHM_KIND_PROBATION) {
		return lean;
	}
	return -(lean / BONUS_ONE * frequents_in(BSHM_LOAD(&s->shard->frequent, RELAXED)).bonus);
}

/* How much a late use of a record counts that stays longer than others by so many octaves. (Both
 * may have changed meanwhile.) */
static int64_t percent_of_late(int32_t longer)
{
	return STEP_LATE * 256 / (int64_t) bshm__power_of((uint64_t) (longer < 0 ? 0 : longer));
}

/* Of a record that was last used before the floor. */
static void note_avoided(const bshm__shard *s, uint32_t now, uint32_t state, uint64_t bytes)
{
	const uint32_t since = bshm__age(now, BSHM_LOAD(&s->shard->evicted_epoch, RELAXED));
	const uint32_t age = bshm__age_of(s, now, state);
	const uint32_t kind = bshm__kind_of(state);
	const int32_t older = bshm__ghost_older(s, kind);
	if (age <= since) {
		return;
	}
	const int64_t then = bshm__age_log(age - since); /* at the last eviction */
	if (bshm__size_used(s, bytes, then + older)) {
		const int32_t lean = bshm__ghost_older(s, BSHM_KIND_PROBATION);
		learn(s, kind, percent_of_late(lean - older));
		learn_bonus(s, kind, percent_of_late(-older));
	}
}

void bshm__ghost_used(const bshm__shard *s, uint64_t hash, uint32_t state, uint64_t bytes)
{
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&s->shard->clock, RELAXED));
	bshm__shadow_used(s, hash, state, bytes);
	if (BSHM_LOAD(&s->shard->evictions, RELAXED) != 0 &&
		bshm__age(e.now, state) > bshm__age(e.now, e.floor)) {
		note_avoided(s, e.now, state, bytes);
	}
}

/* Is it a ghost of this turn, or of the one before? */
static bool is_ghost(uint32_t lane, uint32_t now)
{
	const uint32_t turn = ((lane >> MARK_SHIFT) - 1) / BSHM_KINDS; /* wraps for none */
	return turn == now || (turn < TURNS && (turn + 1) % TURNS == now);
}

uint32_t bshm__ghost_spares(const bshm__shard *s, const bshm__home *home, uint32_t cell)
{
	if (!bshm__is_tiny(bshm__buckets_of(s->segment, home->table).count)) {
		return cell;
	}
	const bshm_bucket *bucket = bshm__cell_bucket(s, cell);
	const uint32_t now = turn_now(s->shard);
	for (uint32_t lane = 0; lane < BSHM_BUCKET_CELLS; lane++) {
		const uint32_t ghost = bshm__lane_get(bucket, lane);
		/* No free cell before the record's may have its tag: find_plain() would look there. */
		if (bshm__lane_free(bucket, lane) &&
			(ghost == (home->position & BSHM_TAG_MASK) || !is_ghost(ghost, now))) {
			return bshm__cell_in(s, bucket, lane);
		}
	}
	return cell;
}

void bshm__ghost_leave(
	const bshm__shard *s, const bshm__home *home, uint32_t cell, const bshm__evicted *record)
{
	bshm_bucket *bucket = bshm__home_bucket(s, home);
	const uint32_t kind = bshm__kind_of(record->state);
	const uint32_t now = bshm__stamp_now(s);
	const int64_t age = bshm__age_log(bshm__age_of(s, now, record->state));
	const int32_t older = bshm__ghost_older(s, kind);
	const uint32_t large = bshm__size_evicted(s, record->bytes, age + older) ? LARGE : 0;
	BSHM_STORE(&s->shard->evicted_epoch, now, RELAXED);
	count_eviction(s, kind, bshm__size_parts(s, record->bytes));
	learn_missed(s, true);
	learn_missed(s, false);
	if (bucket == NULL || expires_soon(s, record->expires_s)) {
		return;
	}
	if (bshm__cell_bucket(s, cell) == bucket) {
		const uint32_t lane = (uint32_t) (bshm__cell_word(s, cell) - bucket->ref);
		bshm__lane_set(bucket, lane, bshm__lane_get(bucket, BSHM_OWN_LANE));
	}
	const uint32_t mark = 1 + BSHM_KINDS * turn_now(s->shard) + kind;
	bshm__lane_set(
		bucket, BSHM_OWN_LANE, mark << MARK_SHIFT | large | bshm__ghost_hash(home->hash));
}

void bshm__ghosts_age(const bshm__shard *s, bshm_bucket *bucket)
{
	const uint32_t now = turn_now(s->shard);
	for (uint32_t lane = 0; lane <= BSHM_OWN_LANE; lane++) {
		if (bshm__lane_free(bucket, lane) && bshm__lane_get(bucket, lane) != 0 &&
			!is_ghost(bshm__lane_get(bucket, lane), now)) {
			bshm__lane_set(bucket, lane, 0);
		}
	}
}

/* The lane of a key's ghost; BSHM_BUCKET_LANES: it has none. */
static uint32_t find_ghost(const bshm__shard *s, const bshm__home *home, const bshm_bucket *bucket)
{
	for (uint32_t lane = 0; lane < BSHM_BUCKET_LANES; lane++) {
		const uint32_t ghost = bshm__lane_get(bucket, lane);
		if (bshm__lane_free(bucket, lane) && (ghost & HASH_MASK) == bshm__ghost_hash(home->hash) &&
			is_ghost(ghost, turn_now(s->shard))) {
			return lane;
		}
	}
	return BSHM_BUCKET_LANES;
}

bool bshm__ghost_exists(const bshm__shard *s, const bshm__home *home)
{
	const bshm_bucket *bucket = bshm__home_bucket(s, home);
	return bucket != NULL && find_ghost(s, home, bucket) != BSHM_BUCKET_LANES;
}

void bshm__ghost_end(const bshm__shard *s, const bshm__home *home)
{
	bshm_bucket *bucket = bshm__home_bucket(s, home);
	bshm__shadow_forget(s, home->hash);
	const uint32_t lane = bucket == NULL ? BSHM_BUCKET_LANES : find_ghost(s, home, bucket);
	if (lane != BSHM_BUCKET_LANES) {
		if (is_noted(s, home)) {
			take_missed(s, home, (bshm__lane_get(bucket, lane) & LARGE) != 0);
		}
		bshm__lane_set(bucket, lane, 0);
	}
}

/* Is it much larger than most of the shard's records? Then those on probation may have been most
 * that went, though they had few of the bytes. */
static bool is_beside_small(const bshm__shard *s, uint64_t bytes)
{
	const uint64_t records = BSHM_LOAD(&s->shard->records, RELAXED);
	return bshm__memory_is_limit(s->segment, s->shard) &&
		   bytes * records / MUCH_LARGER > BSHM_LOAD(&s->shard->data_bytes, RELAXED);
}

bool bshm__ghost_returns(const bshm__shard *s, const bshm__home *home, uint64_t bytes, bool asked)
{
	bshm_bucket *bucket = bshm__home_bucket(s, home);
	if (BSHM_LIKELY(bucket == NULL || !bshm__ghost_likely(home->hash, bucket))) {
		return false;
	}
	const uint32_t lane = find_ghost(s, home, bucket);
	if (lane == BSHM_BUCKET_LANES) {
		return false;
	}
	const uint32_t ghost = bshm__lane_get(bucket, lane);
	bshm__lane_set(bucket, lane, 0);
	if (!take_missed(s, home, (ghost & LARGE) != 0) && !asked) {
		return false;
	}
	const bool stays = may_stay(s, home);
	const uint32_t mark = (ghost >> MARK_SHIFT) - 1;
	const uint32_t kind = mark % BSHM_KINDS;
	const bool this_turn = mark / BSHM_KINDS == turn_now(s->shard);
	bshm__size_returned(s, bytes, this_turn);
	if (stays || kind == BSHM_KIND_PROBATION || is_beside_small(s, bytes) ||
		bshm__ghost_lean(s) < LEAN_LOOP + bshm__gain_part(s, BSHM_LEAN_HIGH)) {
		learn(s, kind, stays ? 100 : STEP_LESS);
	}
	learn_bonus(s, kind, 100);
	return stays;
}

void bshm__ghost_missed(bshm_segment *segment, uint64_t hash)
{
	const bshm__home home = bshm__home_of_hash(segment, hash);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	const bshm_bucket *bucket = bshm__home_bucket(&s, &home);
	const uint32_t lane = bucket == NULL ? BSHM_BUCKET_LANES : find_ghost(&s, &home, bucket);
	if (lane == BSHM_BUCKET_LANES) {
		return;
	}
	const bool large = (bshm__lane_get(bucket, lane) & LARGE) != 0;
	const uint32_t epoch = (uint32_t) BSHM_LOAD(&s.shard->clock, RELAXED) & NOTE_EPOCHS;
	if (BSHM_LOAD(note_of(&s, &home), RELAXED) != (name_of(&home) | epoch) &&
		missed(s.shard, large) < MISSED_MOST) {
		BSHM_STORE(note_of(&s, &home), name_of(&home) | epoch, RELAXED);
		BSHM_ADD(&s.shard->turn, missed_unit(large), RELAXED);
	}
}
