/*
 * gain.c - what the settings of the eviction have brought, against an LRU, and what they have cost.
 *
 * The lean (ghost.c) and the power of the sizes (size.c) are moved by records that return. What is
 * best by day may be the worst by night, and a store that changes from one to the other is at its
 * worst on the way. So `gain` counts the hits that the store has had and an LRU would not have,
 * less those that it has lost (shadow.c).
 *
 * How many lost hits are too many, the sample says: as many as 20 of its keys stand for, an 8th of
 * those of a full store. Fewer may be chance. (With a 16th, one store of fourteen stayed an LRU by
 * chance, where it should have had 24 % fewer misses.) From there on no setting moves away from
 * LRU; up to there the steps are smaller, the more was lost. Steps back to LRU are never smaller.
 * And at such a loss both settings go back by an eighth with each turn of the ghosts, too, as steps
 * back come only from records that return. That takes turns, and `lean` can rise to its most within
 * one. So no more of it counts than has been earned: the less, the more was lost, and nothing at
 * such a loss. (Where all of it counted until it was back, loops of 300, 900 and 1,500 keys that
 * take turns had up to 17 % more misses than LRU in 20,000 requests, now 10; in 500,000 up to 2.5 %
 * more, now 1.) `gain_each` is the mean of what the keys stand for that were counted last: a small
 * record for many, a large one for itself. (With an 8th of all records instead, tiny ones that no
 * call asks for let some hundred hits of pages be lost: 13 to 15 % more misses than LRU.)
 *
 * What was lost stays lost when the keys that are counted stand for fewer hits. (Where it was cut
 * to what is too many then, each night of large records forgave what the day of small ones had
 * cost: up to 50 % more misses than LRU.)
 *
 * While the settings are those of an LRU, or nearly, nothing is counted: what the sample tells then
 * is chance, and nothing is gained that would make up for it. (Counted, an LRU seemed to have lost
 * a seventh of its records where all keys are as popular.)
 *
 * The store tries again in the end: one hit of what was lost is forgotten with one miss of 256 and
 * one eviction of 256, and one more for each time that as many were lost as 40 keys of the sample
 * stand for. So what all tries cost is 0.4 % of the misses, and up to 2 % where a try costs more
 * than it should; more is forgotten only where keys stand for fewer hits than before. (A count that
 * was forgotten by a part of it each turn let a store of 60 records try too often, with 6 % more
 * misses than LRU, and a large one too seldom: it missed 50 % fewer in one case, and stayed an LRU.
 * Evictions alone are too many where tiny records are put that no call asks for: 9 % more, for
 * good. Misses alone are, where most calls ask for keys that are never put: 5 % more. With one hit
 * alone, what 100,000 small records had lost would be left to 1,000 large ones.) Of what was
 * gained, a 128th is forgotten with each turn. More than 160 keys stand for does not count, lost or
 * gained: it can all be lost again when the traffic changes. (With 40 for what was lost, a try that
 * lost more was forgiven the rest: 8 % more misses near the end of an LRU.)
 *
 * In a store of several shards each turn of one moves half of what its count and that of another
 * shard differ by, in keys, so that both have the same; their sum stays. For all misses of the
 * store count, and by the keys' hashes the traffic of all shards is alike. (Where each had its own,
 * one of three lost by chance of its sample what the two others had won, and stayed an LRU for a
 * million requests: 7.2 % fewer misses than LRU instead of 10.)
 *
 * What is lost is counted when its key is asked for, and by then more may be gone. (Where no lean
 * counted while the store lacked more of what an LRU holds than it had gained, and 30 keys more,
 * the worst streams that a search found were half as bad: 1.5 to 7 % more misses than LRU, not 3.5
 * to 12. But it ended tries before they paid: a loop and a scan by day, and popular keys by night,
 * had as many misses as with an LRU, not 27 % fewer.)
 *
 * One count for both settings is enough. (With one for each, what one had gained did not pay for
 * the other. Each then went back where both together were better than an LRU.)
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/gain.h"

#include "core/cache/recency.h"
#include "core/cache/settings.h"

/* Hits that so many keys of the sample stand for. */
#define KEYS_STOP 20  /* lost: no setting moves away from LRU, and all go back, */
#define BACK      8   /* by such a part with each turn */
#define KEYS_MANY 40  /* each time that so many were lost, a hit more is forgotten at once */
#define KEYS_MOST 160 /* no more are counted, lost or gained, or shared with another shard */

#define KEYS_ONE INT64_C(1024) /* what is shared is told in such parts of a key */

/* What each key stands for, of those that were counted last. */
#define EACH_ONE   64  /* in such parts of a hit */
#define EACH_LEAST 104 /* 13/8 hits: 20 keys stand for 32, and fewer are never too many */
#define EACH_EVERY 16  /* keys that the mean is taken over */

/* A lost hit is forgotten with an eviction of so many, and a miss of 2^8. */
#define EVICTIONS  256
#define MISS_BITS  8
#define DRAWN_MOST 4 /* such misses: no more wait for their evictions */

#define TURNS 128 /* a turn takes such a part of what was gained */

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

/* For how many hits a key stands, in EACH_ONE: no more than if all records were of one size. */
static int64_t each_now(const bshm__shard *s)
{
	const uint32_t word = BSHM_LOAD(&s->shard->gain_each, RELAXED);
	const uint64_t records = BSHM_LOAD(&s->shard->records, RELAXED);
	const int64_t most = (int64_t) (records * EACH_ONE / BSHM_SHADOW_KEYS);
	const int64_t each = word == 0 || word > most ? most : word;
	return each < EACH_LEAST ? EACH_LEAST : each;
}

static int64_t hits_of_keys(const bshm__shard *s, int64_t keys)
{
	return keys * each_now(s) / EACH_ONE;
}

/* If another process counts meanwhile, only that one does. */
static void count_hits(const bshm__shard *s, int64_t hits)
{
	uint32_t word = BSHM_LOAD(&s->shard->gain, RELAXED);
	const int64_t before = hits_in(s, word);
	const int64_t after = before + hits;
	const int64_t most = hits_of_keys(s, KEYS_MOST);
	const int64_t least = before < -most ? before : -most; /* when keys stood for more */
	const int64_t kept = after < least ? least : after > most ? most : after;
	if (kept != (int32_t) word) { /* look-ups share the line */
		BSHM_CAS(&s->shard->gain, &word, (uint32_t) (int32_t) kept, RELAXED);
	}
}

void bshm__gain_add(const bshm__shard *s, int64_t hits)
{
	if (!bshm__is_lru(s)) {
		const uint32_t word = BSHM_LOAD(&s->shard->gain_each, RELAXED);
		const int64_t each = (hits < 0 ? -hits : hits) * EACH_ONE;
		const int64_t before = word == 0 ? each : each_now(s);
		const uint32_t mean = (uint32_t) (before + (each - before) / EACH_EVERY);
		if (mean != word) { /* look-ups share the line */
			BSHM_STORE(&s->shard->gain_each, mean, RELAXED);
		}
		count_hits(s, hits);
	}
}

void bshm__gain_missed(const bshm__shard *s, uint64_t hash)
{
	const uint64_t draw = (hash ^ bshm__stamp_now(s)) * UINT64_C(0x9e3779b97f4a7c15);
	if (BSHM_UNLIKELY(draw >> (64 - MISS_BITS) == 0)) {
		const uint32_t drawn = BSHM_LOAD(&s->shard->gain_misses, RELAXED);
		if (drawn < DRAWN_MOST) {
			BSHM_STORE(&s->shard->gain_misses, drawn + 1, RELAXED);
		}
	}
}

void bshm__gain_evicted(const bshm__shard *s, uint64_t evictions)
{
	const uint32_t drawn = BSHM_LOAD(&s->shard->gain_misses, RELAXED);
	if (drawn == 0 || evictions % EVICTIONS != 0) {
		return;
	}
	BSHM_STORE(&s->shard->gain_misses, (drawn < DRAWN_MOST ? drawn : DRAWN_MOST) - 1, RELAXED);
	const int64_t hits = hits_now(s);
	if (hits < 0) {
		count_hits(s, 1 - hits / hits_of_keys(s, KEYS_MANY));
	}
}

/* What was gained, or lost, in KEYS_ONE of a key. */
static int64_t keys_now(const bshm__shard *s)
{
	const int64_t keys = hits_now(s) * KEYS_ONE * EACH_ONE / each_now(s);
	const int64_t most = KEYS_MOST * KEYS_ONE;
	return keys < -most ? -most : keys > most ? most : keys;
}

/* Moves half of what this shard has more or less than another one, which the epoch chooses. */
static void share(const bshm__shard *s)
{
	const uint32_t others = s->segment->shard_count - 1;
	if (others != 0) {
		const uint32_t chance = bshm__stamp_now(s) % others;
		const uint32_t index = (s->index + 1 + chance) % (others + 1);
		const bshm__shard other = bshm__shard_at(s->segment, index);
		const int64_t half = (keys_now(&other) - keys_now(s)) / 2;
		count_hits(s, half * each_now(s) / (KEYS_ONE * EACH_ONE));
		count_hits(&other, -half * each_now(&other) / (KEYS_ONE * EACH_ONE));
	}
}

int64_t bshm__gain_earned(const bshm__shard *s, int64_t amount)
{
	const int64_t hits = hits_now(s);
	const int64_t stop = hits_of_keys(s, KEYS_STOP);
	return hits >= 0 ? amount : hits <= -stop ? 0 : amount * (stop + hits) / stop;
}

int64_t bshm__gain_part(const bshm__shard *s, int64_t amount)
{
	const int64_t keys = keys_now(s);
	return keys <= 0 ? 0 : amount * keys / (KEYS_MOST * KEYS_ONE);
}

int64_t bshm__gain_back(const bshm__shard *s, int64_t setting)
{
	return hits_now(s) <= -hits_of_keys(s, KEYS_STOP) ? -setting / BACK : 0;
}

void bshm__gain_turn(const bshm__shard *s)
{
	share(s);
	const int64_t hits = hits_now(s);
	/* Rounded up as often as the rest is large: a turn begins in any epoch. */
	const int64_t chance = (int64_t) (bshm__stamp_now(s) % TURNS);
	if (hits > 0) {
		count_hits(s, -((hits + chance) / TURNS));
	}
}
