/*
 * gain.c - what the settings of the eviction have brought, against an LRU, and what they have cost.
 *
 * The lean (ghost.c) and the power of the sizes (size.c) are moved by records that return. What is
 * best by day may be the worst by night, and a store that changes from one to the other is at its
 * worst on the way. So `gain` counts the hits that the store has had and an LRU would not have,
 * less those that it has lost (shadow.c). While it has lost more than an 8th of its records, no
 * setting moves away from LRU; up to there, the less the more was lost. (With a 16th, one store of
 * fourteen stayed an LRU by chance, where it should have had 24 % fewer misses.) Steps back to LRU
 * are never smaller. And at such a loss both settings go back by an eighth with each turn of the
 * ghosts, too, as steps back come only from records that return.
 *
 * What was lost stays lost when the store has fewer records. (Where it was cut to a share of those
 * that were left, each night of large records forgave what the day of small ones had cost: up to
 * 50 % more misses than LRU.)
 *
 * While the settings are those of an LRU, or nearly, nothing is counted: what the sample tells then
 * is chance, and nothing is gained that would make up for it. (Counted, an LRU seemed to have lost
 * a seventh of its records where all keys are as popular.)
 *
 * The store tries again in the end: one hit of what was lost is forgotten with every 256th
 * eviction, and one more for each time that as many were lost as there are records. So what all
 * tries cost is 0.4 % of the misses as a rule. (A count that was forgotten by a part of it each
 * turn let a store of 60 records try too often, with 6 % more misses than LRU, and a large one too
 * seldom: it missed 50 % fewer in one case, and stayed an LRU. With one hit alone, what 100,000
 * small records had lost would be left to 1,000 large ones for 6,400 turnovers, in which the store
 * is an LRU; so it is for 800.) Of what was gained, a 128th is forgotten with each turn, and more
 * than the number of records does not count: it can all be lost again when the traffic changes.
 *
 * One count for both settings is enough. (With one for each, what one had gained did not pay for
 * the other. Each then went back where both together were better than an LRU.)
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/gain.h"

#include "core/cache/recency.h"
#include "core/cache/settings.h"

/* Hits are counted in parts: a 64th of the records each. */
#define PART       64
#define PART_LEAST 4
#define PARTS_LOST 16  /* no more are added; gained ones: PART */
#define PARTS_STOP 8   /* at such a loss no setting moves away from LRU, and all go back, */
#define BACK       8   /* by such a part with each turn */
#define EVICTIONS  256 /* after so many a lost hit is forgotten */
#define TURNS      128 /* a turn takes such a part of what was gained */

/* No more hits are counted than a shard can have records: the word may be damaged. */
static int64_t hits_in(const bshm__shard *s, uint32_t word)
{
	const int64_t most = (int64_t) (s->segment->shard_bytes / BSHM_SLOT_BYTES_MIN);
	const int64_t hits = (int32_t) word;
	return hits < -most ? -most : hits > most ? most : hits;
}

static int64_t hits_now(const bshm__shard *s)
{
	return hits_in(s, BSHM_LOAD(&s->shard->gain, RELAXED));
}

static int64_t part_of(const bshm__shard *s)
{
	const int64_t part = (int64_t) BSHM_LOAD(&s->shard->records, RELAXED) / PART;
	return part < PART_LEAST ? PART_LEAST : part;
}

/* If another process counts meanwhile, that one does. */
static void count_hits(const bshm__shard *s, int64_t hits)
{
	uint32_t word = BSHM_LOAD(&s->shard->gain, RELAXED);
	const int64_t part = part_of(s);
	const int64_t before = hits_in(s, word);
	const int64_t after = before + hits;
	/* It may have been lost when the store had more records. */
	const int64_t least = before < -PARTS_LOST * part ? before : -PARTS_LOST * part;
	const int64_t kept = after < least ? least : after > PART * part ? PART * part : after;
	if (kept != (int32_t) word) { /* look-ups share the line */
		BSHM_CAS(&s->shard->gain, &word, (uint32_t) (int32_t) kept, RELAXED);
	}
}

void bshm__gain_add(const bshm__shard *s, int64_t hits)
{
	if (!bshm__is_lru(s)) {
		count_hits(s, hits);
	}
}

void bshm__gain_evicted(const bshm__shard *s, uint64_t evictions)
{
	if (evictions % EVICTIONS == 0 && hits_now(s) < 0) {
		count_hits(s, 1 - hits_now(s) / ((int64_t) BSHM_LOAD(&s->shard->records, RELAXED) + 1));
	}
}

int64_t bshm__gain_earned(const bshm__shard *s, int64_t step)
{
	const int64_t hits = hits_now(s);
	const int64_t stop = PARTS_STOP * part_of(s);
	return hits >= 0 ? step : hits <= -stop ? 0 : step * (stop + hits) / stop;
}

int64_t bshm__gain_back(const bshm__shard *s, int64_t setting)
{
	return hits_now(s) <= -PARTS_STOP * part_of(s) ? -setting / BACK : 0;
}

void bshm__gain_turn(const bshm__shard *s)
{
	const int64_t hits = hits_now(s);
	/* Rounded up as often as the rest is large: a turn begins in any epoch. */
	const int64_t chance = (int64_t) (bshm__stamp_now(s) % TURNS);
	if (hits > 0) {
		count_hits(s, -((hits + chance) / TURNS));
	}
}
