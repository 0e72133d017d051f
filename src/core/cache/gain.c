/*
 * gain.c - what a setting of the eviction has brought, against an LRU, and what it has cost.
 *
 * Two settings make the store more than an LRU: the power of the sizes (size.c) and the lean
 * (ghost.c). Each is moved by records that return. But a return tells that a record came too late,
 * not that it needed only a little longer. And what is best by day may be the worst by night: a
 * store that changes from one to the other is at its worst on the way. (A nightly batch of larger
 * records was evicted in its own passes, after a morning had drawn the power up: 8 to 16 % more
 * misses than LRU, each day. Two loops that take turns, each of which fits, drew the lean up: the
 * large records of the night stayed all day, and the small ones of the day lost their second pass:
 * 35 % more.)
 *
 * So the hits are counted that a setting has brought, less those that it has cost. It has brought a
 * hit if a record that it keeps is used at an age at which an LRU would have evicted it. It has
 * cost one if a record that it evicts sooner returns at an age at which an LRU would still have it.
 * While it has cost more than it has brought, the steps away from LRU are smaller, and those back
 * are not: so a setting that costs goes back to LRU. If it has cost much, it goes back by an eighth
 * with each turn of the ghosts, too, as steps back come only from records that return. (Without
 * that, the power stayed where it cost hits for weeks: 11 % more misses than LRU.) Each turn takes
 * a part of the count, so the store tries again in the end: after a hundred turns and more, if much
 * was lost. That part is small, as each try costs. (With a 32nd, the loops that take turns had 2 to
 * 5 % more misses than LRU.)
 *
 * How long an LRU keeps a record is measured (recency.c): the epochs until as much has been used as
 * the store holds. What has been used twice counts once.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/gain.h"

#include "core/cache/octave.h"
#include "core/cache/recency.h"

/* The steps are smaller where hits have been lost; none is left where these are a 64th of the
 * records. The count goes up to that of the records, and down to a quarter of that. */
#define PART       64
#define PART_LEAST 16 /* of such a part */
#define PARTS_LOST 16
#define PARTS_BACK 4   /* where so many are lost, the setting goes back */
#define BACK       8   /* by such a part, with each turn */
#define TURNS      128 /* a turn takes such a part of the count */

/* No age is longer: a clock has so many epochs. */
#define AGE_MOST (INT64_C(15) * BSHM_OCTAVE)

bool bshm__lru_had_evicted(const bshm__shard *s, int64_t age)
{
	return age > bshm__age_log(bshm__lru_age(s));
}

bool bshm__lru_had_kept(const bshm__shard *s, int64_t evicted_age)
{
	const int64_t age = evicted_age < 0 ? 0 : evicted_age < AGE_MOST ? evicted_age : AGE_MOST;
	const uint32_t began = BSHM_LOAD(&s->shard->turn_began, RELAXED);
	const uint32_t since = bshm__age(bshm__stamp_now(s), began); /* or less */
	const uint32_t at_return = (uint32_t) (bshm__power_of((uint64_t) age) / 256) + since;
	return at_return < bshm__lru_age(s);
}

static int64_t gain_of(const uint32_t *gain)
{
	return (int32_t) BSHM_LOAD(gain, RELAXED);
}

static int64_t part_of(const bshm__shard *s)
{
	const int64_t part = (int64_t) BSHM_LOAD(&s->shard->records, RELAXED) / PART;
	return part < PART_LEAST ? PART_LEAST : part;
}

/* If another process counts meanwhile, that one does. */
void bshm__gain_add(const bshm__shard *s, uint32_t *gain, int64_t hits)
{
	uint32_t before = BSHM_LOAD(gain, RELAXED);
	const int64_t part = part_of(s);
	const int64_t after = (int32_t) before + hits;
	const int64_t kept = after < -PARTS_LOST * part ? -PARTS_LOST * part
						 : after > PART * part      ? PART * part
													: after;
	if (kept != (int32_t) before) { /* look-ups share the line */
		BSHM_CAS(gain, &before, (uint32_t) (int32_t) kept, RELAXED);
	}
}

int64_t bshm__gain_earned(const bshm__shard *s, const uint32_t *gain, int64_t step)
{
	const int64_t hits = gain_of(gain);
	const int64_t part = part_of(s);
	return hits >= 0 ? step : hits <= -part ? 0 : step * (part + hits) / part;
}

int64_t bshm__gain_turn(const bshm__shard *s, uint32_t *gain, int64_t setting)
{
	const int64_t hits = gain_of(gain);
	/* Rounded up as often as the rest is large: a turn begins in any epoch. (Where one hit was
	 * the least, a store of 250 records forgot a loss in 16 turns: 6 to 11 % more misses.) */
	const int64_t chance = (int64_t) (bshm__stamp_now(s) % TURNS);
	const int64_t part = ((hits < 0 ? -hits : hits) + chance) / TURNS;
	bshm__gain_add(s, gain, hits < 0 ? part : -part);
	return hits <= -PARTS_BACK * part_of(s) ? -setting / BACK : 0;
}
