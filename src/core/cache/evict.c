/*
 * evict.c - chooses the records that are evicted when there is no room.
 *
 * 32 records are sampled, and the one that counts as the oldest is evicted; an expired one before
 * all others. The sample is taken in the order of the index: a hand goes over the buckets. That is
 * the order of the keys' hashes, so the records of a sample are alike neither in age nor in size
 * nor in place, and each record is looked at once a round. Where records are large, the next sample
 * is looked at too: that costs less than to copy the new record.
 *
 * Age is the time since the last use (recency.c). A record that was not used again is on probation
 * and counts as 2^lean times as old as it is, a FREQUENT one as 2^-(lean / 2) times as old. With a
 * lean of 0 that is LRU; with a large one, records on probation go first, as in 2Q or S3-FIFO.
 * Ghosts move the lean to what fits the traffic (ghost.c).
 *
 * Where memory is the limit, and not a count of records, age is multiplied by size^(5/4): the hits
 * are wanted that a byte of the memory brings. So a record of twice the size has to be twice as
 * likely to be used again; and the likelihood falls a little slower than age grows, because some
 * keys are popular. Where all records have one size, that changes nothing. Where the popular ones
 * are the large ones, it costs no more than what probation gains. A large value may be expensive to
 * make; the floor of recency.c keeps it while it is in use.
 *
 * Sources: for the sample, Redis and hyperbolic caching (Blankstein, 2017); for probation and
 * ghosts that adapt, ARC (Megiddo and Modha, 2003) and S3-FIFO (Yang, 2023); for age weighed by
 * kind and size, LHD (Beckmann, 2018). LRU is one of the settings, so the worst case is that of
 * LRU: CLOCK, SIEVE, ARC and S3-FIFO miss up to a fifth more often than LRU where only recency
 * counts. Set dueling (DIP, DRRIP) would need two parts of the store with a share of the memory
 * each.
 *
 * Where whole pages are needed and records are small, records go page by page: evicted one by one,
 * they would leave free slots all over the store, and those that are left would have to be moved.
 * Of some pages the one is taken that has the most records of the heaviest eighth of the store, by
 * a sample. These are evicted; what is left on the page is moved (room.c). With a larger part than
 * an eighth fewer would be moved, but records would go that are asked for again: up to a tenth more
 * misses. A large record of that eighth goes first, and no page: it brings as much room. A record
 * that is not large itself needs a page only now and then, and soon: there it is the heavier half.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/evict.h"

#include "core/cache/ghost.h"
#include "core/cache/recency.h"
#include "core/cache/record.h"
#include "core/cache/remove.h"
#include "core/cache/table.h"
#include "core/cache/walk.h"

#define ALL_CLASSES BSHM_CLASS_COUNT

/* ------------------------------------------------------------------ the sample */

/* A record of the sample. */
typedef struct {
	uint32_t ref;   /* 0: chosen already */
	uint32_t *cell; /* where it was found */
	uint32_t state;
	uint32_t age;
	uint64_t weight; /* its age, size, and how soon its kind is evicted */
	bool expired;
} member;

/* Where a record has so many bytes on average, two samples are looked at for one eviction. */
#define LARGE_ON_AVERAGE 512u

/* The sample ends with a bucket. */
#define SAMPLE_ROOM (BSHM_EVICT_SAMPLE + BSHM_BUCKET_CELLS - 1)

/* Puts the refs of a bucket into the sample, and prefetches their slots. */
static uint32_t take_bucket(const bshm__shard *s, bshm_bucket *bucket, member *sample)
{
	uint32_t count = 0;
	bshm__ghosts_age(s, bucket);
	for (uint32_t k = 0; k < BSHM_BUCKET_CELLS; k++) {
		const uint32_t ref = BSHM_LOAD(&bucket->ref[k], RELAXED);
		const uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
		if (slot != NULL) { /* 0 is no place in the pages */
			__builtin_prefetch(slot);
			sample[count++] = (member){.ref = ref, .cell = &bucket->ref[k]};
		}
	}
	return count;
}

/* Collects refs from the hand on: how many. Looks at BSHM_EVICT_BUCKETS buckets and tables at most,
 * or at all tables where these have no record. */
static uint32_t collect(const bshm__shard *s, member *sample)
{
	bshm_shard_header *shard = s->shard;
	const uint32_t tables = s->segment->shard_tables;
	uint32_t table = BSHM_LOAD(&shard->hand_table, RELAXED);
	uint32_t number = BSHM_LOAD(&shard->hand_bucket, RELAXED);
	uint32_t count = 0;
	uint32_t wraps = 0;
	table = table < tables ? table : 0;
	for (uint32_t steps = 0;
		 count < BSHM_EVICT_SAMPLE && wraps <= tables && (count == 0 || steps < BSHM_EVICT_BUCKETS);
		 steps++) {
		const uint32_t of = s->index * tables + table;
		const bshm__buckets buckets = bshm__buckets_of(s->segment, of);
		if (number < buckets.count && BSHM_LOAD(&s->segment->tables[of].records, RELAXED) != 0) {
			bshm_bucket *bucket = bshm__bucket_at(s, &buckets, number++);
			count += bucket == NULL ? 0 : take_bucket(s, bucket, sample + count);
		} else {
			table = table + 1 < tables ? table + 1 : 0;
			number = 0;
			wraps++;
		}
	}
	BSHM_STORE(&shard->hand_table, table, RELAXED);
	BSHM_STORE(&shard->hand_bucket, number, RELAXED);
	return count;
}

/* 2^lean in 256ths, by straight lines between the powers of two. */
static uint64_t power(int32_t lean)
{
	const uint32_t octaves = (uint32_t) (lean / BSHM_LEAN_OCTAVE);
	return (256 + (uint32_t) (lean % BSHM_LEAN_OCTAVE) / (BSHM_LEAN_OCTAVE / 256)) << octaves;
}

/* What the size of a record counts, to the power of 5/4. */
static uint64_t size_weight(const bshm__shard *s, uint32_t ref, uint32_t state)
{
	if (s->segment->cache_records != 0) {
		return 1;
	}
	uint8_t *slot = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN);
	const uint64_t bytes = bshm__slot_bytes(s, slot, state) + BSHM_RECORD_EXTRA;
	const uint32_t octaves = 63 - (uint32_t) __builtin_clzll(bytes);
	const uint64_t log = (bytes * BSHM_LEAN_OCTAVE >> octaves) + (octaves - 1) * BSHM_LEAN_OCTAVE;
	return bytes * power((int32_t) (log / 4)) / 256;
}

/* What makes a record's weight. */
typedef struct {
	uint32_t now; /* the epoch */
	uint32_t now_s;
	uint32_t least_age; /* of a record that may be evicted: older than the floor */
	uint64_t probation; /* how much an epoch weighs, by kind */
	uint64_t frequent;
} scales;

static scales scales_of(const bshm__shard *s)
{
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&s->shard->clock, RELAXED));
	const int32_t leaning = bshm__ghost_lean(s);
	const int32_t lean = leaning < 0 ? 0 : leaning;
	return (scales){
		.now = e.now,
		.now_s = bshm__store_now_s(s->segment),
		.least_age = bshm__age(e.now, e.floor) + 1,
		.probation = power(lean),
		.frequent = 256 * 256 / power(lean / 2),
	};
}

/* The record at a ref; its own ref is 0 where there is none. */
static BSHM_ALWAYS_INLINE member weigh(
	const bshm__shard *s, const scales *by, uint32_t ref, uint32_t *cell)
{
	const uint32_t state = bshm__word(s, ref, 0);
	if ((state & BSHM_SLOT_LIVE) == 0) {
		return (member){0}; /* damaged */
	}
	const uint32_t age = bshm__age(by->now, state & BSHM_SLOT_STAMP);
	const uint64_t kind = (state & BSHM_SLOT_PROTECTED) == 0  ? by->probation
						  : (state & BSHM_SLOT_FREQUENT) == 0 ? 256
															  : by->frequent;
	return (member){ref, cell, state, age, (age + 1) * kind * size_weight(s, ref, state),
		bshm__walk_expired(s, ref, state, by->now_s)};
}

/* Is it the record that the call makes room for, or rather for its next value? */
static bool is_spared(const bshm__shard *s, const member *m)
{
	bshm__record record;
	bshm__home home;
	return s->spared != 0 && (m->state & BSHM_SLOT_CHAINED) != 0 &&
		   bshm__record_load(s, m->ref, &record) && bshm__record_home(s, &record, &home) &&
		   (uint32_t) home.hash == s->spared;
}

/* The next sample: how many records. 0: there is none. */
static uint32_t next_sample(const bshm__shard *s, const scales *by, member *sample)
{
	const uint32_t collected = collect(s, sample);
	uint32_t count = 0;
	for (uint32_t i = 0; i < collected; i++) {
		const member m = weigh(s, by, sample[i].ref, sample[i].cell);
		if (m.ref != 0 && !is_spared(s, &m)) {
			sample[count++] = m;
		}
	}
	return count;
}

/* The record to evict: an expired one, or the heaviest of those that are old enough. NULL: there is
 * none. */
static member *choose(member *sample, uint32_t count, uint32_t least_age)
{
	member *best = NULL;
	for (member *m = sample; m < sample + count; m++) {
		if (m->ref == 0) {
			continue;
		}
		if (m->expired) {
			return m;
		}
		if (m->age >= least_age && (best == NULL || m->weight > best->weight)) {
			best = m;
		}
	}
	return best;
}

/* ------------------------------------------------------------------ eviction */

static void count_up(uint64_t *count)
{
	BSHM_STORE(count, BSHM_LOAD(count, RELAXED) + 1, RELAXED);
}

/* Removes the record. *size_class: the one that gains a free slot; ALL_CLASSES: several do. False:
 * no cell of its key's has it. The index is damaged. */
static bool evict(const bshm__shard *s, const member *m, uint32_t *size_class)
{
	bshm__record record;
	bshm__home home;
	uint32_t cell = 0;
	if (bshm__record_load(s, m->ref, &record) && bshm__record_home(s, &record, &home)) {
		cell = bshm__cell_of(s, &home, m->ref);
	}
	if (cell == 0) {
		return false;
	}
	*size_class = (m->state & BSHM_SLOT_CHAINED) != 0 ? ALL_CLASSES : bshm__ref_class(s, m->ref);
	bshm__record_remove(s, &home, cell, m->ref);
	if (!m->expired) {
		bshm__ghost_leave(s, &home, cell, m->state);
	}
	if (bshm__table_tidy(s, home.table)) {
		*size_class = ALL_CLASSES; /* units are free, too */
	}
	count_up(m->expired ? &s->shard->expired : &s->shard->evictions);
	return true;
}

static void evict_surely(const bshm__shard *s, const member *m, uint32_t *size_class)
{
	if (!evict(s, m, size_class)) {
		*size_class = ALL_CLASSES;
		BSHM_STORE(m->cell, 0, RELEASE); /* pairs with search() */
		bshm__slot_free(s, m->ref);
	}
}

/* The next sample; of large records the next two, and the hand moves over the first one. */
static uint32_t sample_for_one(const bshm__shard *s, const scales *by, member *sample)
{
	bshm_shard_header *shard = s->shard;
	const uint32_t count = next_sample(s, by, sample);
	const uint64_t records = BSHM_LOAD(&shard->records, RELAXED);
	if (BSHM_LOAD(&shard->data_bytes, RELAXED) < records * LARGE_ON_AVERAGE) {
		return count;
	}
	const uint32_t table = BSHM_LOAD(&shard->hand_table, RELAXED);
	const uint32_t bucket = BSHM_LOAD(&shard->hand_bucket, RELAXED);
	const uint32_t more = next_sample(s, by, sample + count);
	BSHM_STORE(&shard->hand_table, table, RELAXED);
	BSHM_STORE(&shard->hand_bucket, bucket, RELAXED);
	return count + more;
}

bool bshm__evict_one(const bshm__shard *s, uint32_t *size_class)
{
	member sample[2 * SAMPLE_ROOM];
	member oldest = {0};
	const scales by = scales_of(s);
	uint32_t seen = 0;
	for (uint32_t i = 0; i < BSHM_EVICT_SAMPLES / 2 && seen + 2 * SAMPLE_ROOM <= BSHM_EVICT_LOOKS;
		 i++) {
		const uint32_t count = sample_for_one(s, &by, sample);
		const member *m = choose(sample, count, by.least_age);
		if (m != NULL) {
			evict_surely(s, m, size_class);
			return true;
		}
		for (m = sample; m < sample + count; m++) {
			oldest = oldest.ref == 0 || m->age > oldest.age ? *m : oldest;
		}
		seen += count == 0 ? BSHM_EVICT_LOOKS : count;
	}
	/* There are few records, or the clock has stopped. */
	if (oldest.ref != 0) {
		evict_surely(s, &oldest, size_class);
	}
	return oldest.ref != 0;
}

bool bshm__evict(const bshm__shard *s)
{
	uint32_t size_class;
	return bshm__evict_one(s, &size_class);
}

/* ------------------------------------------------------------------ a page of records */

#define PAGE_SAMPLES  4u   /* to choose a page, for a large record */
#define PAGE_LOOKS    8u   /* slots of a page that are looked at to choose it */
#define PAGE_CHOICE   8u   /* pages with a gain, of which one is chosen */
#define PAGES_MOST    512u /* that are looked at to find them */
#define PAGE_WHOLE    64u  /* a gain */
#define GROUP         32u
#define FEW_OLD       8u /* a part of a sample */
#define HEAVIEST      8u /* a part of it */
#define LARGE_OF_PAGE (BSHM_SLAB_BYTES / 16)

/* What a page is compared with. */
typedef struct {
	uint64_t weight; /* of the lightest record in the heaviest part of a sample */
	member large;    /* the heaviest large one among them; ref 0: there is none */
} measure;

static bool is_large(const bshm__shard *s, const member *m)
{
	uint8_t *slot = bshm__ref_at(s, m->ref, BSHM_SLOT_BYTES_MIN);
	return bshm__slot_bytes(s, slot, m->state) >= LARGE_OF_PAGE;
}

/* Where hardly any record is older than the floor, all count as old enough from now on: more than
 * half of the store has to go. */
static measure take_measure(const bshm__shard *s, scales *by, bool large)
{
	member sample[PAGE_SAMPLES * SAMPLE_ROOM];
	measure of = {UINT64_MAX, {0}};
	uint32_t count = 0;
	uint32_t old = 0;
	member *m;
	for (uint32_t i = 0; i < (large ? PAGE_SAMPLES : 1); i++) {
		count += next_sample(s, by, sample + count);
	}
	for (m = sample; m < sample + count; m++) {
		old += m->expired || m->age >= by->least_age;
	}
	by->least_age = old < count / FEW_OLD ? 0 : by->least_age;
	for (uint32_t i = 0; i < count / (large ? HEAVIEST : 2) && of.large.ref == 0 &&
						 (m = choose(sample, count, by->least_age)) != NULL;
		 i++) {
		of.weight = m->expired ? of.weight : m->weight;
		of.large = large && is_large(s, m) ? *m : of.large;
		m->ref = 0;
	}
	return of;
}

static bool is_heavy(const scales *by, const member *m, uint64_t weight)
{
	return m->expired || (m->age >= by->least_age && m->weight >= weight);
}

/* The record in a slot of a page; ref 0: there is none. */
static member in_slot(const bshm__shard *s, const scales *by, uint32_t number, uint32_t slot)
{
	const bool taken = (bshm__page_taken(s, number, slot / 64) >> (slot % 64) & 1) != 0;
	const uint32_t ref = taken ? bshm__page_ref(s, number, slot) : 0;
	const bool is_sound = bshm__ref_at(s, ref, BSHM_SLOT_BYTES_MIN) != NULL; /* not for 0 */
	return is_sound ? weigh(s, by, ref, NULL) : (member){0};
}

/* How much of a page would be free if its heavy records were evicted; 0: it has none. */
static uint32_t page_gain(const bshm__shard *s, const scales *by, uint32_t number, uint64_t weight)
{
	const uint32_t slots = bshm__class_slots(bshm__page_class(s, number));
	const uint32_t step = slots / PAGE_LOOKS | 1; /* odd: neighbours often come and go in pairs */
	uint32_t heavy = 0;
	uint32_t kept = 0;
	uint32_t looks = 0;
	for (uint32_t i = 0; i < slots; i += step, looks++) {
		const member m = in_slot(s, by, number, i);
		if (m.ref != 0) {
			heavy += is_heavy(by, &m, weight);
			kept += !is_heavy(by, &m, weight);
		}
	}
	return heavy == 0 ? 0 : (looks - kept) * PAGE_WHOLE / looks;
}

static bool is_choice(const bshm__shard *s, const bshm__page_wish *wish, uint32_t size_class)
{
	return size_class < BSHM_CLASS_RECORDS &&
		   (wish->size_class == ALL_CLASSES
				   ? BSHM_LOAD(&s->shard->classes[size_class].pages, RELAXED) >= wish->pages
				   : size_class == wish->size_class);
}

/* Of some pages, the one with the highest gain; 0: none has one. The next search for a page to
 * empty begins there. */
static uint32_t choose_page(
	const bshm__shard *s, const scales *by, const bshm__page_wish *wish, uint64_t weight)
{
	const uint32_t count = s->segment->shard_pages;
	uint32_t at = BSHM_LOAD(&s->shard->empty_page, RELAXED);
	uint32_t most = 0;
	uint32_t found = 0;
	uint32_t choice = 0;
	for (uint32_t i = 0; i < count && i < PAGES_MOST && choice < PAGE_CHOICE && most != PAGE_WHOLE;
		 i++, at++) {
		at = at < count ? at : 0;
		if (!is_choice(s, wish, bshm__page_class(s, at + 1))) {
			continue;
		}
		const uint32_t gain = page_gain(s, by, at + 1, weight);
		choice += gain != 0;
		if (gain > most) {
			most = gain;
			found = at + 1;
		}
	}
	BSHM_STORE(&s->shard->empty_page, found != 0 ? found - 1 : at, RELAXED);
	return found;
}

/* How many of them were evicted. Their home buckets are prefetched together. */
static uint32_t evict_group(const bshm__shard *s, const member *group, uint32_t count)
{
	uint32_t done = 0;
	uint32_t size_class;
	for (uint32_t i = 0; i < count; i++) {
		bshm__record_prefetch_home(s, group[i].ref);
	}
	for (uint32_t i = 0; i < count; i++) {
		done += evict(s, &group[i], &size_class);
	}
	return done;
}

uint32_t bshm__evict_page(const bshm__shard *s, bshm__page_wish *wish, uint32_t most)
{
	member group[GROUP];
	scales by = scales_of(s);
	const measure of = take_measure(s, &by, wish->for_large);
	if (of.large.ref != 0) {
		evict_surely(s, &of.large, &wish->size_class);
		wish->size_class = ALL_CLASSES;
		return 1;
	}
	const uint64_t weight = of.weight;
	const uint32_t number = choose_page(s, &by, wish, weight);
	if (number == 0) {
		return 0;
	}
	const uint32_t its_class = bshm__page_class(s, number);
	const uint32_t slots = bshm__class_slots(its_class);
	uint32_t done = 0;
	uint32_t chosen = 0;
	/* The page has another class when its last record has gone. */
	for (uint32_t i = 0; i < slots && done < most && bshm__page_class(s, number) == its_class;
		 i++) {
		const member m = in_slot(s, &by, number, i);
		if (m.ref != 0 && is_heavy(&by, &m, weight) && !is_spared(s, &m)) {
			group[chosen++] = m;
		}
		if (chosen == GROUP || done + chosen == most) {
			done += evict_group(s, group, chosen);
			chosen = 0;
		}
	}
	wish->size_class = its_class;
	return done + evict_group(s, group, chosen);
}
