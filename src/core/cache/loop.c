/*
 * loop.c - loops that are longer than the store: some of their records stay.
 *
 * A crawler, a nightly report or a scan of all files asks for the same keys in the same order. If
 * there are more of them than the store holds, an LRU evicts each just before it is asked for, and
 * has no hits at all. Ghosts (ghost.c) see a loop that is a little longer than the store: they are
 * there for one and a half times its records. But the cells of shadow.c are kept for longer. They
 * tell how many of the keys in use an LRU would hold, how many return that it has evicted, and how
 * long ago those were used. Where the second are many more than the first, there is a loop.
 *
 * Then the records of a part of the keys are PROTECTED when they are put, and all others go first.
 * The keys are chosen by their hash, so they are the same in each round, and each of them is a hit
 * in each round. How many fit? Let the loop be d times as long as an LRU holds a record, and T the
 * part. All others of the loop pass through what is left of the store. The floor of recency.c
 * spares up to a half of that from eviction, also the chosen ones among it: so T * d + (1 - T) / 2
 * is 1 where they just fit. If more are chosen, they evict each other, and there are no hits. So T
 * is 7/8 of that: 7/16 / (d - 1/2).
 *
 * It must not cost the hits that an LRU has. The part takes T * d of the store, and brings T hits
 * for each return. An LRU that is smaller by a part loses less than that part of its hits, as a
 * rule. So it is worth it where there are d times as many returns as hits.
 *
 * `lean` is not moved: when the loop ends, the store is again what it has learnt from other keys.
 * (Moved, it kept the records of a nightly batch in the morning: 1 to 2 % more misses than LRU
 * each day.) Nor do the records that stay move it while the loop goes on. Where the store has
 * learnt a lean of 1, it sees what returns without this, and nothing is done. And hits that are
 * lost against an LRU stop it, as all settings (gain.c).
 *
 * Sources: that a part of a working set should stay which is larger than the cache is the idea of
 * BIP (Qureshi and others, 2007); there it is a part of the misses, drawn by chance.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/loop.h"

#include "core/cache/index.h"
#include "core/cache/settings.h"

#define SHARE_ONE   65535
#define SHARE_EVERY 160 /* uses that the shares are averaged over: a sample's, and */
#define EVERY       64  /* returns, the length */
#define SHARE_LEAST (SHARE_ONE / 64)

/* The length, in times that an LRU holds a record. */
#define LENGTH_ONE  1024u
#define LENGTH_MOST (16 * LENGTH_ONE)

#define LEAN_MORE (2 * BSHM_OCTAVE) /* than the length: records of a sample go by chance, too */

/* Of the last uses: 65535ths. */
typedef struct {
	int32_t returned;
	int32_t held;
} shares;

static shares shares_in(uint32_t word)
{
	return (shares){(int32_t) (word >> 16), (int32_t) (word & SHARE_ONE)};
}

/* If another process counts meanwhile, only that one does. */
static void count_shares(const bshm__shard *s, int32_t returned, int32_t held)
{
	uint32_t word = BSHM_LOAD(&s->shard->loop_shares, RELAXED);
	shares of = shares_in(word);
	of.returned += (returned - of.returned) / SHARE_EVERY;
	of.held += (held - of.held) / SHARE_EVERY;
	const uint32_t after = (uint32_t) of.returned << 16 | (uint32_t) of.held;
	if (after != word) { /* look-ups share the line */
		BSHM_CAS(&s->shard->loop_shares, &word, after, RELAXED);
	}
}

static uint32_t length_now(const bshm__shard *s)
{
	const uint32_t length = BSHM_LOAD(&s->shard->loop_length, RELAXED);
	return length < LENGTH_ONE ? LENGTH_ONE : length < LENGTH_MOST ? length : LENGTH_MOST;
}

void bshm__loop_held(const bshm__shard *s)
{
	count_shares(s, 0, SHARE_ONE);
}

void bshm__loop_new(const bshm__shard *s)
{
	count_shares(s, 0, 0);
}

void bshm__loop_returns(const bshm__shard *s, uint32_t age, uint32_t lru_age)
{
	const uint64_t times = (uint64_t) age * LENGTH_ONE / (lru_age == 0 ? 1 : lru_age);
	const int64_t length = (int64_t) (times < LENGTH_MOST ? times : LENGTH_MOST);
	const int64_t before = BSHM_LOAD(&s->shard->loop_length, RELAXED) == 0 ? length : length_now(s);
	BSHM_STORE(&s->shard->loop_length, (uint32_t) (before + (length - before) / EVERY), RELAXED);
	count_shares(s, SHARE_ONE, 0);
}

bool bshm__loop_goes_on(const bshm__shard *s)
{
	const shares of = shares_in(BSHM_LOAD(&s->shard->loop_shares, RELAXED));
	return of.returned >= SHARE_LEAST &&
		   (uint64_t) of.returned * LENGTH_ONE >= (uint64_t) of.held * length_now(s) &&
		   bshm__lean_in(BSHM_LOAD(&s->shard->lean, RELAXED)) < BSHM_OCTAVE;
}

uint32_t bshm__loop_share(const bshm__shard *s)
{
	const uint32_t all = 1u << BSHM_GHOST_BITS;
	return BSHM_LIKELY(!bshm__loop_goes_on(s))
			   ? 0
			   : all * 7 / 16 * LENGTH_ONE / (length_now(s) - LENGTH_ONE / 2);
}

int32_t bshm__loop_lean(const bshm__shard *s)
{
	if (BSHM_LIKELY(!bshm__loop_goes_on(s))) {
		return 0;
	}
	return bshm__lean_within(LEAN_MORE + bshm__age_log(length_now(s)) - bshm__age_log(LENGTH_ONE));
}
