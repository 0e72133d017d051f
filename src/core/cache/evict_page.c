/*
 * evict_page.c - chooses records that are evicted together, so that a page gets free.
 *
 * Where whole pages are needed and records are small, records go page by page: evicted one by one,
 * they would leave free slots all over the store, and those that are left would have to be moved.
 * Of some pages the one is taken that has the most records of the heaviest eighth of the store, by
 * a sample. These are evicted; what is left on the page is moved (room.c). With a larger part than
 * an eighth fewer would be moved, but records would go that are asked for again: up to a tenth more
 * misses, and what returns tells ghost.c a wrong thing. A large record of that eighth goes first,
 * and no page, if the room is for a large one: it brings as much.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/evict.h"
#include "core/cache/evict_old.h"
#include "core/cache/evict_record.h"
#include "core/cache/recency.h"
#include "core/cache/record.h"
#include "core/cache/sample.h"

#define PAGE_SAMPLES  4u   /* to choose a page, for a large record */
#define PAGE_CHOICE   8u   /* pages with a gain, of which one is chosen */
#define PAGES_MOST    512u /* that are looked at to find them */
#define PAGE_WHOLE    64u  /* a gain */
#define GROUP         32u
#define FEW_OLD       8u /* a part of a sample */
#define HEAVIEST      8u /* a part of it */
#define LARGE_OF_PAGE (BSHM_SLAB_BYTES / 16)

/* What a page is compared with. */
typedef struct {
	uint64_t weight;    /* of the lightest record in the heaviest part of a sample */
	bshm__member large; /* the heaviest large one among them; ref 0: there is none */
} measure;

static uint64_t bytes_of(const bshm__shard *s, const bshm__member *m)
{
	uint8_t *slot = bshm__ref_at(s, m->ref, BSHM_SLOT_BYTES_MIN);
	return bshm__slot_bytes(s, slot, m->state);
}

/* Is a part of the records so old, by their number or, where memory is the limit, by their bytes?
 * Of a record no more than a page counts: a sample that has a single large one tells little of the
 * others. */
static bool has_old(
	const bshm__shard *s, const bshm__member *sample, uint32_t count, uint32_t least_age)
{
	const bool by_bytes = bshm__memory_is_limit(s->segment, s->shard);
	uint32_t old = 0;
	uint64_t old_bytes = 0;
	uint64_t bytes = 0;
	for (const bshm__member *m = sample; m < sample + count; m++) {
		const bool is_old = m->expired || m->age >= least_age;
		const uint64_t own = by_bytes ? bytes_of(s, m) + BSHM_RECORD_EXTRA : 0;
		const uint64_t part = own < BSHM_SLAB_BYTES ? own : BSHM_SLAB_BYTES;
		old += is_old;
		old_bytes += is_old ? part : 0;
		bytes += part;
	}
	return old >= count / FEW_OLD || (by_bytes && old_bytes >= bytes / FEW_OLD);
}

/* Where hardly any record is older than the floor, more than half of the store has to go. Then the
 * next period begins at the floor, or else the youngest. Records of that one go only one by one:
 * the heaviest of them may be the one that was put just now. */
static uint32_t take_floor(
	const bshm__shard *s, const bshm__scales *by, const bshm__member *sample, uint32_t count)
{
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&s->shard->clock, RELAXED));
	const uint32_t later[] = {e.middle, e.last};
	uint32_t least_age = by->least_age;
	for (uint32_t i = 0; i < 2 && !has_old(s, sample, count, least_age); i++) {
		least_age = bshm__least_age(s, by->now, later[i]);
	}
	return least_age;
}

static measure take_measure(const bshm__shard *s, bshm__scales *by, bshm__page_wish *wish)
{
	const bool large = wish->for_large;
	bshm__member sample[PAGE_SAMPLES * BSHM_SAMPLE_ROOM(BSHM_EVICT_SAMPLE_LARGE)];
	measure of = {UINT64_MAX, {0}};
	uint32_t count = 0;
	bshm__member *m;
	for (uint32_t i = 0; i < (large ? PAGE_SAMPLES : 1); i++) {
		count += bshm__sample_next(s, by, BSHM_EVICT_SAMPLE_LARGE, sample + count, &wish->looks);
	}
	if (!has_old(s, sample, count, by->least_age)) {
		of.large = bshm__find_old(s, by, &wish->looks);
		if (of.large.ref != 0) {
			return of;
		}
	}
	by->least_age = take_floor(s, by, sample, count);
	for (uint32_t i = 0; i < count / HEAVIEST && of.large.ref == 0 &&
						 (m = bshm__choose(sample, count, by->least_age)) != NULL;
		 i++) {
		of.weight = m->expired ? of.weight : m->weight;
		of.large = large && bytes_of(s, m) >= LARGE_OF_PAGE ? *m : of.large;
		m->ref = 0;
	}
	return of;
}

static bool is_heavy(const bshm__scales *by, const bshm__member *m, uint64_t weight)
{
	return m->expired || (m->age >= by->least_age && m->weight >= weight);
}

/* How much of a page would be free if its heavy records were evicted; 0: it has none. *all: looks
 * of all pages. */
static uint32_t page_gain(
	const bshm__shard *s, const bshm__scales *by, uint32_t number, uint64_t weight, uint32_t *all)
{
	const uint32_t slots = bshm__class_slots(bshm__page_class(s, number));
	const uint32_t step =
		slots / BSHM_PAGE_LOOKS | 1; /* odd: neighbours often come and go in pairs */
	uint32_t heavy = 0;
	uint32_t kept = 0;
	uint32_t looks = 0;
	for (uint32_t i = 0; i < slots; i += step, looks++) {
		const bshm__member m = bshm__in_slot(s, by, number, i);
		if (m.ref != 0) {
			heavy += is_heavy(by, &m, weight);
			kept += !is_heavy(by, &m, weight);
		}
	}
	*all += looks;
	return heavy == 0 ? 0 : (looks - kept) * PAGE_WHOLE / looks;
}

static bool is_choice(const bshm__shard *s, const bshm__page_wish *wish, uint32_t size_class)
{
	return size_class < BSHM_CLASS_RECORDS &&
		   (wish->size_class == BSHM_CLASS_COUNT
				   ? BSHM_LOAD(&s->shard->classes[size_class].pages, RELAXED) >= wish->pages
				   : size_class == wish->size_class);
}

/* Of some pages, the one with the highest gain; 0: none has one. The next search for a page to
 * empty begins there. */
static uint32_t choose_page(
	const bshm__shard *s, const bshm__scales *by, bshm__page_wish *wish, uint64_t weight)
{
	const uint32_t count = s->segment->shard_pages;
	uint32_t at = BSHM_LOAD(&s->shard->empty_page, RELAXED);
	uint32_t most = 0;
	uint32_t found = 0;
	uint32_t choice = 0;
	for (uint32_t i = 0; i < count && i < PAGES_MOST && choice < PAGE_CHOICE && most != PAGE_WHOLE;
		 i++, at++) {
		at = at < count ? at : 0;
		wish->looks++;
		if (!is_choice(s, wish, bshm__page_class(s, at + 1))) {
			continue;
		}
		const uint32_t gain = page_gain(s, by, at + 1, weight, &wish->looks);
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
static uint32_t evict_group(
	const bshm__shard *s, const bshm__member *group, uint32_t count, uint32_t *looks)
{
	uint32_t done = 0;
	uint32_t size_class;
	for (uint32_t i = 0; i < count; i++) {
		bshm__record_prefetch_home(s, group[i].ref);
	}
	for (uint32_t i = 0; i < count; i++) {
		done += bshm__evict_record(s, &group[i], &size_class, looks);
	}
	return done;
}

uint32_t bshm__evict_page(const bshm__shard *s, bshm__page_wish *wish, uint32_t most)
{
	bshm__member group[GROUP];
	bshm__scales by = bshm__scales_of(s);
	const measure of = take_measure(s, &by, wish);
	/* One that was found by its place may be in no cell of a damaged index. */
	if (of.large.ref != 0 && bshm__evict_surely(s, &of.large, &wish->size_class, &wish->searched)) {
		wish->size_class = BSHM_CLASS_COUNT;
		return 1;
	}
	const uint64_t weight = of.weight;
	const uint32_t number = choose_page(s, &by, wish, weight);
	if (number == 0) {
		wish->looks += PAGES_MOST; /* for the samples, of which each record was looked up */
		return 0;
	}
	const uint32_t its_class = bshm__page_class(s, number);
	const uint32_t slots = bshm__class_slots(its_class);
	uint32_t done = 0;
	uint32_t chosen = 0;
	/* The page has another class when its last record has gone. */
	for (uint32_t i = 0; i < slots && done < most && bshm__page_class(s, number) == its_class;
		 i++) {
		const bshm__member m = bshm__in_slot(s, &by, number, i);
		if (m.ref != 0 && is_heavy(&by, &m, weight) && !bshm__is_spared(s, &m)) {
			group[chosen++] = m;
		}
		if (chosen == GROUP || done + chosen == most) {
			done += evict_group(s, group, chosen, &wish->searched);
			chosen = 0;
		}
	}
	wish->size_class = its_class;
	return done + evict_group(s, group, chosen, &wish->searched);
}
