/*
 * size.c - how much the size of a record counts when one has to go, where memory is the limit.
 *
 * The age of a record is multiplied by size^power, and the heaviest ones go (evict.c). Which power
 * is best depends on the traffic. Where many more keys are in use than fit, a power of 5/4 has the
 * fewest misses: it keeps many small records instead of a few large ones. Where nearly all of them
 * fit, it would evict large ones that are in use, and keep small ones that are not any more. There
 * a power of 0 is best, which is LRU. So the power adapts. It begins low: a store in which nearly
 * all fits evicts little, and would come down from 5/4 in weeks.
 *
 * The memory is used best where a byte more of it brings as many hits with small records as with
 * large ones. A record that is not used again stays for a time in proportion to size^-power: its
 * lifetime. A higher power makes that longer for small records, and shorter for large ones, each by
 * a share of its own. So the bytes that this gives or takes are the evicted ones times their
 * lifetime, and the hits are the records that return times theirs: of those that live long, more
 * return within the same share of it. `size_margin` is the mean of log2(size) over these bytes. A
 * record whose ghost is met (ghost.c) raises the power if it is smaller than that, and lowers it if
 * it is larger, by the octaves between them times its lifetime. That is one step of a stochastic
 * gradient, and the power comes to rest where the steps up are as large as those down. (Without the
 * lifetimes it came to rest far too high where pages and a few large records lie beside small keys
 * that come once: 7 to 35 % more misses than LRU.)
 *
 * A return tells what was lost: what a lifetime would bring if it were longer. What it would cost
 * to make one shorter is told by late uses: those in the last quarter octave of a lifetime, that
 * is, of records which would be evicted soon. Without them the power went on up where small records
 * return just too late, whatever the lifetime, until the larger ones were lost that an LRU serves:
 * 4 to 28 % more misses than LRU. So `evicted_age` is the mean age at eviction, of a record of the
 * mean size. A large record that is used late lowers the power like one that returns. A small one
 * raises it, but by a fifth: its use says that the power should not fall, not that a higher one
 * would bring more. (At a release the records of the old names go, and no longer lifetime would
 * bring anything. Counted in full, late uses drew the power up there: 4 to 7 % more misses.) A
 * ghost of the turn before counts half, as its record came too late by more.
 *
 * While the store has lost hits against an LRU, less raises the power, or nothing (gain.c).
 *
 * Where all records have one size, none changes the power. Of a record that is missed and not put
 * again, the ghost tells whether it was larger than the mean.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/size.h"

#include "core/cache/gain.h"
#include "core/cache/settings.h"

#define EVERY_SIZE 256 /* records of the mean size that the mean is taken over */

/* A record that is missed and not put again moves the power by STEP / (records + STEP_RECORDS),
 * where the memory has so many of the mean size. One that returns moves it by STEP_PERCENT of that
 * for each octave between its size and the margin, but two at most, and times its lifetime. Shards
 * share STEP_RECORDS. */
#define STEP         (INT64_C(8) * BSHM_OCTAVE)
#define STEP_RECORDS 1024
#define STEP_PERCENT 30
#define STEP_OCTAVES (INT64_C(2) * BSHM_OCTAVE)

/* A use is late in the last quarter octave of a lifetime. */
#define LATE       (BSHM_OCTAVE / 4)
#define LATE_SMALL 5 /* one of a small record counts so many times less */
#define EVERY_AGE  4 /* the mean age is taken over so many times fewer records than a mean size */

/* Lifetimes are told in those of a record of the mean size: from 2^-6 to 2^8. (With 2^4 as the
 * most, small records that come once and fill the store beside pages of 4 kB and more were taken
 * for a small part of it: the power stayed at 5/4, and 17 % more were missed than with LRU.) */
#define LIFE_SHORT (INT64_C(6) * BSHM_OCTAVE)
#define LIFE_LONG  (INT64_C(8) * BSHM_OCTAVE)

/* What one of the means says; before the first eviction, `log`. */
static uint64_t mean_in(uint32_t word, uint64_t log)
{
	const uint64_t mean = word & ~BSHM_RECORDS_ARE_LIMIT;
	const uint64_t least = bshm__size_log(0); /* the word may be damaged */
	const uint64_t most = bshm__size_log(BSHM_RECORD_BYTES_MAX);
	return mean == 0 ? log : mean < least ? least : mean > most ? most : mean;
}

static uint64_t mean_of(const uint32_t *word, uint64_t log)
{
	return mean_in(BSHM_LOAD(word, RELAXED), log);
}

/* The mean size of what was evicted. */
static uint64_t mean_log(const bshm_shard_header *shard, uint64_t log)
{
	return mean_of(&shard->size_evicted, log);
}

/* A mean goes on to a size that counts as so many parts. */
static void mean_goes_on(uint32_t *word, uint64_t log, int64_t parts)
{
	const uint32_t before = BSHM_LOAD(word, RELAXED);
	const uint32_t flag = before & BSHM_RECORDS_ARE_LIMIT;
	const int64_t mean = (int64_t) mean_in(before, log);
	const int64_t change = ((int64_t) log - mean) * parts / (BSHM_SIZE_ONE * EVERY_SIZE);
	BSHM_STORE(word, (uint32_t) (mean + change) | flag, RELAXED);
}

int32_t bshm__size_power(const bshm__shard *s)
{
	return bshm__power_in(BSHM_LOAD(&s->shard->size_power, RELAXED));
}

/* How many of the mean size a record is, times `one`: at most BSHM_SIZE_MOST, in parts. */
static uint32_t parts_of(const bshm__shard *s, uint64_t bytes, uint64_t one)
{
	const uint64_t mean_256 = bshm__power_of(mean_log(s->shard, bshm__size_log(bytes)));
	const uint64_t parts = (bytes + BSHM_RECORD_EXTRA) * 256 * one / mean_256;
	return (
		uint32_t) (parts < BSHM_SIZE_MOST * BSHM_SIZE_ONE ? parts : BSHM_SIZE_MOST * BSHM_SIZE_ONE);
}

uint32_t bshm__size_parts(const bshm__shard *s, uint64_t bytes)
{
	return bshm__memory_is_limit(s->segment, s->shard) ? parts_of(s, bytes, BSHM_SIZE_ONE)
													   : BSHM_SIZE_ONE;
}

static int64_t heavier(const bshm__shard *s, uint64_t log)
{
	const int64_t more = (int64_t) log - (int64_t) mean_log(s->shard, log);
	const bool by_size = bshm__memory_is_limit(s->segment, s->shard);
	return by_size ? more * bshm__size_power(s) / BSHM_OCTAVE : 0;
}

/* The lifetime of a record that is so much heavier: BSHM_SIZE_ONE for one of the mean size. */
static int64_t lifetime(int64_t heavy)
{
	const int64_t longer = -heavy;
	const int64_t kept = longer < -LIFE_SHORT ? -LIFE_SHORT
						 : longer > LIFE_LONG ? LIFE_LONG
											  : longer;
	const uint64_t life = bshm__power_of((uint64_t) (kept + LIFE_SHORT));
	return (int64_t) (life >> LIFE_SHORT / BSHM_OCTAVE);
}

bool bshm__size_evicted(const bshm__shard *s, uint64_t bytes, int64_t age)
{
	bshm_shard_header *shard = s->shard;
	const uint64_t log = bshm__size_log(bytes);
	const int64_t parts = bshm__size_parts(s, bytes);
	const int64_t heavy = heavier(s, log);
	const int64_t aged = age + heavy; /* of a record of the mean size that weighs as much */
	const uint64_t aged_log = bshm__size_log(0) + (uint64_t) (aged < 0 ? 0 : aged); /* a mean's */
	mean_goes_on(&s->shard->evicted_age, aged_log, EVERY_AGE * parts);
	if (!bshm__memory_is_limit(s->segment, shard)) {
		return false;
	}
	const uint64_t margin = mean_of(&shard->intent.size_margin, log);
	/* Not from the parts, which are 0 for the smallest. */
	const int64_t lasting = parts_of(s, bytes, (uint64_t) lifetime(heavy));
	mean_goes_on(&shard->size_evicted, log, parts);
	mean_goes_on(&shard->intent.size_margin, log, lasting);
	return log > margin;
}

/* If another process has moved it since `word`, that one does. */
static void set_power(const bshm__shard *s, uint32_t word, int64_t power)
{
	BSHM_CAS(&s->shard->size_power, &word, (uint32_t) (bshm__power_within(power) - BSHM_POWER_NEW),
		RELAXED);
}

void bshm__size_turn(const bshm__shard *s)
{
	const uint32_t word = BSHM_LOAD(&s->shard->size_power, RELAXED);
	const int64_t back = bshm__gain_back(s, bshm__power_in(word));
	if (back != 0) {
		set_power(s, word, bshm__power_in(word) + back);
	}
}

/* Moves the power by so many steps, in 2^-24. */
static void move_power(const bshm__shard *s, uint64_t mean, int64_t wanted)
{
	const int64_t steps = wanted > 0 ? bshm__gain_earned(s, wanted) : wanted;
	if (steps == 0) { /* all readers read the word's line */
		return;
	}
	const uint64_t bytes_256 = BSHM_LOAD(&s->shard->data_bytes, RELAXED) << 8;
	const uint64_t records =
		bytes_256 / bshm__power_of(mean) + STEP_RECORDS / s->segment->shard_count;
	const uint32_t word = BSHM_LOAD(&s->shard->size_power, RELAXED);
	set_power(s, word, bshm__power_in(word) + STEP / (int64_t) records * steps / BSHM_OCTAVE);
}

/* A record of this size would have been a hit if it had stayed, or is one as it has. */
static void learn(const bshm__shard *s, uint64_t bytes, int64_t percent)
{
	const uint64_t log = bshm__size_log(bytes);
	const int64_t less = (int64_t) mean_of(&s->shard->intent.size_margin, log) - (int64_t) log;
	const int64_t octaves = less < -STEP_OCTAVES  ? -STEP_OCTAVES
							: less > STEP_OCTAVES ? STEP_OCTAVES
												  : less;
	move_power(s, mean_log(s->shard, log),
		octaves * lifetime(heavier(s, log)) / BSHM_SIZE_ONE * percent / 100);
}

bool bshm__size_used(const bshm__shard *s, uint64_t bytes, int64_t age)
{
	const uint64_t log = bshm__size_log(bytes);
	const int64_t heavy = heavier(s, log);
	const int64_t aged = (int64_t) bshm__size_log(0) + age + heavy;
	const int64_t evicted = (int64_t) mean_of(&s->shard->evicted_age, UINT32_MAX);
	const bool late = aged > evicted - LATE; /* not before the first eviction */
	const bool by_size = bshm__memory_is_limit(s->segment, s->shard);
	if (late && by_size) {
		const bool large = log > mean_of(&s->shard->intent.size_margin, log);
		learn(s, bytes, large ? STEP_PERCENT : STEP_PERCENT / LATE_SMALL);
	}
	return late;
}

void bshm__size_returned(const bshm__shard *s, uint64_t bytes, bool this_turn)
{
	if (bshm__memory_is_limit(s->segment, s->shard)) {
		learn(s, bytes, this_turn ? STEP_PERCENT : STEP_PERCENT / 2);
	}
}

void bshm__size_missed(const bshm__shard *s, bool large, uint32_t count)
{
	if (bshm__memory_is_limit(s->segment, s->shard)) {
		const int64_t steps = (int64_t) count * BSHM_OCTAVE;
		move_power(s, mean_log(s->shard, bshm__size_log(0)), large ? -steps : steps);
	}
}
