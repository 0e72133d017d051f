/*
 * evict.c - chooses the records that are evicted when there is no room.
 *
 * 16 records are sampled, and the one that counts as the oldest is evicted; an expired one before
 * all others. The sample is taken in the order of the index: a hand goes over the buckets. That is
 * the order of the keys' hashes, so the records of a sample are alike neither in age nor in size
 * nor in place, and each record is looked at once a round. The six that come next are candidates:
 * they are compared with the next sample. So the choice is as good as one of about 128. Where
 * records are large, a sample has 32, and the next 32 are looked at too: that costs less than to
 * copy the new record.
 *
 * Where only age counts, a sample has 32 or more: what is used again just before an LRU would evict
 * it should not go by chance. If nearly all keys that are in use fit, only a few records in a
 * hundred are not in use any more, and they should be found. Evictions are rare there. So where
 * those on probation hardly count as older, 16 records are looked at for each use of one since the
 * last eviction, up to 192. (Where large records end epochs by their bytes, more uses are counted
 * than there are. That is left so: the larger samples bring 2 to 3 % fewer misses.)
 *
 * Age is the time since the last use (recency.c). A record that was not used again is on probation
 * and counts as 2^lean times as old as it is, a FREQUENT one as 2^-(bonus * lean) times as old.
 * With a lean of 0 that is LRU; with a large one, records on probation go first, as in 2Q or
 * S3-FIFO. Ghosts move both to what fits the traffic (ghost.c).
 *
 * Where memory is the limit, and not a count of records, age is multiplied by size^(5/4) at most:
 * the hits are wanted that a byte of the memory brings. So a record of twice the size has to be
 * twice as likely to be used again; and the likelihood falls a little slower than age grows,
 * because some keys are popular. Ghosts move the power between 0 and 5/4 (size.c). Where all
 * records have one size, that changes nothing. Where the popular ones are the large ones, it costs
 * no more than what probation gains. A large value may be expensive to make; the floor of recency.c
 * keeps it while it is in use.
 *
 * A loop that is more than twice as long as the store has no hits, as in an LRU: when its keys come
 * back, their ghosts are gone. (Where shadow.c kept its cells for longer, such loops were found,
 * and a part of their keys stayed: of 4 times the store, 13 % of the requests were hits. But where
 * a loop led to keys that fit, the store had 3 to 7 % more misses than LRU. And where memory is the
 * limit, loops of records of several sizes had fewer hits than without it.)
 *
 * Loops that take turns cost up to 10 % more misses than LRU in the first 20,000 requests: what one
 * teaches keeps the next out. (Where no more than half an octave of a lean counted that had gained
 * nothing yet, that was 4 %. But loops of 1.3 to 2 times the store had no hits then: with so little
 * of it no key stays for a whole round, so nothing is ever gained.)
 *
 * Sources: for sample and candidates, Redis and hyperbolic caching (Blankstein, 2017); for
 * probation and ghosts that adapt, ARC (Megiddo and Modha, 2003) and S3-FIFO (Yang, 2023); for age
 * weighed by kind and size, LHD (Beckmann, 2018). LRU is one of the settings, so the worst case is
 * that of LRU: CLOCK, SIEVE, ARC and S3-FIFO miss up to a fifth more often than LRU where only
 * recency counts. Set dueling (DIP, DRRIP) would need two parts of the store with a share of the
 * memory each.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/evict.h"

#include "core/cache/evict_old.h"
#include "core/cache/evict_record.h"
#include "core/cache/ghost.h"
#include "core/cache/record.h"
#include "core/cache/remove.h"
#include "core/cache/sample.h"
#include "core/cache/shadow.h"
#include "core/cache/table.h"

/* Where a record has so many bytes on average, two larger samples are looked at. */
#define LARGE_ON_AVERAGE 512u
/* Where hardly more than age counts, so many records are looked at for each use of one since the
 * last eviction, if that is more. */
#define LOOKS_OF_USE 16u
/* What a sample has above that counts as buckets that are looked at. */
#define LOOKS_INCLUDED 64u

/* ------------------------------------------------------------------ eviction */

static void count_up(uint64_t *count)
{
	BSHM_STORE(count, BSHM_LOAD(count, RELAXED) + 1, RELAXED);
}

/* Has a look-up used the record since it was weighed? Then it is one of the youngest. */
static bool was_used(const bshm__shard *s, const bshm__member *m)
{
	return !m->expired && bshm__word(s, m->ref, 0) != m->state;
}

bool bshm__evict_record(
	const bshm__shard *s, const bshm__member *m, uint32_t *size_class, uint32_t *looks)
{
	bshm__record record;
	bshm__home home;
	uint32_t cell = 0;
	if (bshm__record_load(s, m->ref, &record) && bshm__record_home(s, &record, &home)) {
		cell = bshm__cell_of(s, &home, m->ref);
	}
	if (cell == 0 || was_used(s, m)) {
		return false;
	}
	*size_class =
		(m->state & BSHM_SLOT_CHAINED) != 0 ? BSHM_CLASS_COUNT : bshm__ref_class(s, m->ref);
	if (!m->expired) {
		bshm__shadow_evicted(s, home.hash, m->state, bshm__record_size(&record));
	}
	bshm__record_remove(s, &home, cell, m->ref);
	if (!m->expired) {
		const bshm__evicted evicted = {m->state, record.expires_s, bshm__record_size(&record)};
		bshm__ghost_leave(s, &home, cell, &evicted);
	}
	const uint32_t buckets = bshm__buckets_of(s->segment, home.table).count;
	if (bshm__table_tidy(s, home.table)) {
		*size_class = BSHM_CLASS_COUNT; /* units are free, too */
		*looks += BSHM_LOOKS_OF_RESIZE * buckets;
	}
	count_up(m->expired ? &s->shard->expired : &s->shard->evictions);
	return true;
}

bool bshm__evict_surely(
	const bshm__shard *s, const bshm__member *m, uint32_t *size_class, uint32_t *looks)
{
	if (bshm__evict_record(s, m, size_class, looks)) {
		return true;
	}
	if (m->cell == NULL || was_used(s, m)) {
		return false;
	}
	*size_class = BSHM_CLASS_COUNT;
	BSHM_STORE(m->cell, 0, RELEASE); /* pairs with search() */
	bshm__slot_free(s, m->ref);
	return true;
}

/* ------------------------------------------------------------------ candidates */

/* Adds the candidates that earlier samples have left: how many. A ref may lead to another record by
 * now, or to none: bshm__evict_record() finds that out. */
static uint32_t recall(const bshm__shard *s, const bshm__scales *by, bshm__member *sample)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < BSHM_CANDIDATES; i++) {
		const uint32_t ref = BSHM_LOAD(&s->shard->candidates[i], RELAXED);
		if (bshm__ref_class(s, ref) < BSHM_CLASS_RECORDS) { /* not for 0 */
			const bshm__member m = bshm__weigh(s, by, ref);
			if (m.ref != 0 && !bshm__is_spared(s, &m)) {
				sample[count++] = m;
			}
		}
	}
	return count;
}

/* Puts a record where its weight belongs among `count` of them, of which the last may fall out: how
 * many there are then. */
static uint32_t insert(const bshm__member **best, uint32_t count, const bshm__member *m)
{
	uint32_t at = count;
	for (uint32_t i = 0; i < count; i++) {
		if (best[i]->ref == m->ref) { /* of this sample, and of one before */
			return count;
		}
	}
	for (; at > 0 && best[at - 1]->weight < m->weight; at--) {
		if (at < BSHM_CANDIDATES) {
			best[at] = best[at - 1];
		}
	}
	if (at < BSHM_CANDIDATES) {
		best[at] = m;
	}
	return count + (count < BSHM_CANDIDATES);
}

/* Leaves the heaviest of those that are old enough for the next sample, except the one that is
 * evicted. */
static void remember(const bshm__shard *s, const bshm__member *sample, uint32_t count,
	uint32_t least_age, const bshm__member *evicted)
{
	const bshm__member *best[BSHM_CANDIDATES];
	uint32_t kept = 0;
	for (const bshm__member *m = sample; m < sample + count; m++) {
		if ((m->expired || m->age >= least_age) && m->ref != 0 && m->ref != evicted->ref &&
			(kept < BSHM_CANDIDATES || m->weight > best[kept - 1]->weight)) {
			kept = insert(best, kept, m);
		}
	}
	for (uint32_t i = 0; i < BSHM_CANDIDATES; i++) {
		BSHM_STORE(&s->shard->candidates[i], i < kept ? best[i]->ref : 0, RELAXED);
	}
}

/* ------------------------------------------------------------------ one record */

/* How many records are looked at, and how many of them the hand passes. */
typedef struct {
	uint32_t wanted;
	uint32_t passed;
} sample_size;

static sample_size size_of_sample(const bshm__shard *s, const bshm__scales *by)
{
	const bshm_shard_header *shard = s->shard;
	const uint64_t records = BSHM_LOAD(&shard->records, RELAXED);
	const bool large = BSHM_LOAD(&shard->data_bytes, RELAXED) >= records * LARGE_ON_AVERAGE;
	const bool only_age = by->of_kind[BSHM_KIND_PROBATION] == BSHM_SCALE_ONE;
	const uint32_t usual = large || only_age ? BSHM_EVICT_SAMPLE_LARGE : BSHM_EVICT_SAMPLE;
	const uint32_t wanted = large ? 2 * usual : usual;
	const uint32_t uses =
		by->of_kind[BSHM_KIND_PROBATION] < 2 * BSHM_SCALE_ONE ? bshm__ghost_uses(s) : 0;
	const uint32_t most = BSHM_EVICT_SAMPLE_MOST;
	const uint32_t paid = uses < most / LOOKS_OF_USE ? uses * LOOKS_OF_USE : most;
	return paid > wanted ? (sample_size){paid, paid} : (sample_size){wanted, usual};
}

/* The next sample. What the hand does not pass is looked at again. */
static uint32_t sample_for_one(const bshm__shard *s, const bshm__scales *by, sample_size size,
	bshm__member *sample, uint32_t *looks)
{
	bshm_shard_header *shard = s->shard;
	const uint32_t count = bshm__sample_next(s, by, size.passed, sample, looks);
	if (size.wanted == size.passed) {
		return count;
	}
	const uint32_t table = BSHM_LOAD(&shard->hand_table, RELAXED);
	const uint32_t bucket = BSHM_LOAD(&shard->hand_bucket, RELAXED);
	const uint32_t rounds = BSHM_LOAD(&shard->turn_rounds, RELAXED);
	const uint32_t ahead = size.wanted - size.passed;
	const uint32_t more = bshm__sample_next(s, by, ahead, sample + count, looks);
	BSHM_STORE(&shard->hand_table, table, RELAXED);
	BSHM_STORE(&shard->hand_bucket, bucket, RELAXED);
	BSHM_STORE(&shard->turn_rounds, rounds, RELAXED);
	return count + more;
}

bool bshm__evict_one(const bshm__shard *s, uint32_t *size_class, uint32_t *looks)
{
	bshm__member sample[BSHM_SAMPLE_ROOM(BSHM_EVICT_SAMPLE_MOST) + BSHM_CANDIDATES];
	bshm__member oldest = {0};
	const bshm__scales by = bshm__scales_of(s);
	const sample_size size = size_of_sample(s, &by);
	const uint32_t most = size.wanted + 2 * (BSHM_BUCKET_CELLS - 1); /* it ends with a bucket */
	const uint32_t recalled = recall(s, &by, sample);
	uint32_t seen = recalled;
	for (uint32_t i = 0; i < BSHM_EVICT_SAMPLES && seen + most <= BSHM_EVICT_LOOKS; i++) {
		const uint32_t count = recalled + sample_for_one(s, &by, size, sample + recalled, looks);
		*looks += count < LOOKS_INCLUDED ? 0 : count - LOOKS_INCLUDED;
		bshm__member *m;
		while ((m = bshm__choose(sample, count, by.least_age)) != NULL) {
			remember(s, sample, count, by.least_age, m);
			if (bshm__evict_surely(s, m, size_class, looks)) {
				return true;
			}
			if (oldest.ref == 0 && m->cell != NULL) { /* other processes may use all of them */
				oldest = *m;
				oldest.age = 0;
			}
			m->ref = 0;
		}
		for (m = sample + recalled; m < sample + count; m++) {
			if (m->ref != 0 && (oldest.ref == 0 || m->age > oldest.age)) {
				oldest = *m;
			}
		}
		seen += count == recalled ? BSHM_EVICT_LOOKS : count - recalled;
	}
	const bshm__member old = bshm__find_old(s, &by, looks);
	if (old.ref != 0 && bshm__evict_surely(s, &old, size_class, looks)) {
		return true;
	}
	/* There are few records, or the clock has stopped: they may be in use all the time. */
	if (oldest.ref != 0) {
		oldest.state = bshm__word(s, oldest.ref, 0);
		bshm__evict_surely(s, &oldest, size_class, looks);
	}
	return oldest.ref != 0;
}

bool bshm__evict(const bshm__shard *s)
{
	uint32_t size_class;
	uint32_t looks = 0;
	return bshm__evict_one(s, &size_class, &looks);
}
