/*
 * room.c - makes room in a size class: empties pages of other classes, and evicts records.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/room.h"

#include "core/cache/evict.h"
#include "core/cache/move.h"
#include "core/cache/record.h"
#include "core/cache/table.h"
#include "core/segment/lock.h"

/* The limits of one step for a large record: a waiter waits for a millisecond or two. */
#define STEP_EVICTIONS 128u
#define STEP_PAGES     8u
/* The same for any other record. */
#define SMALL_PAGES    2u
#define ONE_BY_ONE     64u /* evictions, before records go page by page */
#define MANY           256u
#define MANY_OF_A_PAGE 16u
#define OF_A_PAGE      4096u /* evictions for each page that is needed: more than ever are */
#define CLASS_PAGES    4u    /* a class of fewer has no room for what is left of a page */
/* To choose a page may take 8,000 looks and find none. So many cost as much as an eviction. */
#define LOOKS_OF_ONE 32u
/* A sparse index has few records in a thousand buckets, and an eviction may make a table smaller.
 * So many buckets count as an eviction. */
#define BUCKETS_OF_ONE 64u
#define AHEAD          16u /* slots */
#define ALL_CLASSES    BSHM_CLASS_COUNT

/* Prefetches the home buckets of the records in some slots of a page. */
static void prefetch_slots(
	const bshm__shard *s, uint32_t number, uint32_t size_class, uint32_t from, uint32_t until)
{
	for (uint32_t i = from; i < until; i++) {
		if ((bshm__page_taken(s, number, size_class, i / 64) >> (i % 64) & 1) != 0) {
			bshm__record_prefetch_home(s, bshm__page_ref(s, number, size_class, i));
		}
	}
}

/* Moves all slots out of a page, which is free then. */
static bool empty_page(const bshm__shard *s, uint32_t number)
{
	const uint32_t size_class = bshm__page_class(s, number);
	if (size_class == BSHM_CLASS_COUNT) {
		return true;
	}
	const uint32_t slots = bshm__class_slots(size_class);
	for (uint32_t i = 0; i < slots && bshm__page_class(s, number) == size_class; i++) {
		if (i % AHEAD == 0 && size_class < BSHM_CLASS_RECORDS) {
			prefetch_slots(s, number, size_class, i, i + AHEAD < slots ? i + AHEAD : slots);
		}
		if ((bshm__page_taken(s, number, size_class, i / 64) >> (i % 64) & 1) == 0) {
			continue;
		}
		const uint32_t ref = bshm__page_ref(s, number, size_class, i);
		const bool moved = bshm__class_of_chunks(size_class)  ? bshm__chunk_move(s, ref)
						   : bshm__class_of_units(size_class) ? bshm__unit_move(s, ref)
															  : bshm__record_move(s, ref);
		if (!moved) {
			return false;
		}
	}
	return bshm__page_class(s, number) != size_class || bshm__page_release(s, number);
}

/* Is it a class of `keep`? That has no classes of units. */
static bool is_kept(uint64_t keep, uint32_t size_class)
{
	return size_class < BSHM_CLASS_UNITS && (keep >> size_class & 1) != 0;
}

/*
 * Empties a page of a class that has a page's worth of free slots in other pages. Not of the class
 * that room is made for, nor of one of which the call could not empty a page before: `stuck`. Of
 * the classes in `keep`, one slot more stays free.
 */
static bool compact(const bshm__shard *s, uint32_t size_class, uint64_t keep, bool to_the_last,
	uint32_t *pages, bool *stuck)
{
	for (uint32_t i = 0; i < BSHM_CLASS_COUNT; i++) {
		/* Most stores use few classes. */
		if (BSHM_LOAD(&s->shard->classes[i].pages, RELAXED) == 0) {
			continue;
		}
		if (*pages != 0 && i != size_class && !stuck[i] &&
			bshm__class_wasteful(s, i, is_kept(keep, i), to_the_last)) {
			--*pages;
			const uint32_t given = BSHM_LOAD(&s->shard->given_pages, RELAXED);
			const uint32_t number = bshm__page_to_empty(s, i);
			if (number != 0 && empty_page(s, number)) {
				if ((int32_t) (given - BSHM_LOAD(&s->shard->given_pages, RELAXED)) > 0) {
					return true;
				}
				/* Its slots needed another page: the counts are damaged. */
				bshm__slabs_doubt(s);
			}
			stuck[i] = true;
		}
	}
	return false;
}

/* For one slot, bshm__slot_find() gives the class a free page at once; other classes do not count
 * it then. */
static bool has_room(const bshm__shard *s, uint32_t size_class, uint64_t count)
{
	return count == 1 ? bshm__slot_find(s, size_class, 0) != 0
					  : bshm__slots_free(s, size_class) >= count;
}

/* After a search found no wasteful class, only a class that an eviction has changed can be one. */
static bool may_be_wasteful(const bshm__shard *s, uint32_t changed, uint64_t keep)
{
	return changed == ALL_CLASSES ||
		   bshm__class_wasteful(s, changed, is_kept(keep, changed), false);
}

/* Will so many records have to go that it matters what each costs? If they are large, a page has
 * few, and the oldest of the store had better go. */
static bool many_go(const bshm__shard *s, uint32_t size_class, uint64_t count)
{
	const bshm_shard_header *shard = s->shard;
	const uint64_t given = BSHM_LOAD(&shard->given_pages, RELAXED);
	uint64_t of_chunks = 0;
	for (uint32_t i = BSHM_CLASS_SHORT; i <= BSHM_CLASS_CHUNK; i++) {
		of_chunks += BSHM_LOAD(&shard->classes[i].pages, RELAXED);
	}
	const uint64_t pages = of_chunks < given ? given - of_chunks : 1;
	const uint64_t of_a_page = BSHM_LOAD(&shard->records, RELAXED) / pages;
	return of_a_page >= MANY_OF_A_PAGE &&
		   count * bshm__class_bytes(size_class) / BSHM_SLAB_BYTES * of_a_page >= MANY;
}

/*
 * Evicts up to `most` records of a page; one record, if that is 0 or none is found: how many.
 * *changed: the class that has gained free slots. No page is chosen before so many records have
 * gone as cost what the choices before have cost: where all pages are young, or of other classes,
 * one choice after the other would find none.
 */
static uint32_t evict_some(
	const bshm__shard *s, bshm__page_wish *wish, uint32_t most, uint32_t *changed)
{
	uint32_t gone = 0;
	*changed = ALL_CLASSES;
	if (most != 0 && wish->looks == 0) {
		gone = bshm__evict_page(s, wish, most);
		wish->size_class = gone == 0 ? ALL_CLASSES : wish->size_class;
	}
	gone = gone == 0 ? bshm__evict_one(s, changed, &wish->searched) : gone;
	wish->looks -= wish->looks < gone * LOOKS_OF_ONE ? wish->looks : gone * LOOKS_OF_ONE;
	return gone;
}

/* How far a call goes. */
typedef struct {
	uint32_t evictions;   /* and what counts as one */
	uint32_t pages;       /* so many may be emptied */
	bool is_step;         /* it ends when they have been; else records go without that */
	uint32_t single;      /* so many records go one by one, before they go page by page */
	uint32_t class_pages; /* a page is one of a class that has so many */
} limits;

static bool make_room(
	const bshm__shard *s, uint32_t size_class, uint64_t count, uint64_t keep, limits most)
{
	uint32_t evictions = 0;
	uint32_t pages = most.pages;
	uint32_t changed = ALL_CLASSES;
	bool stuck[BSHM_CLASS_COUNT] = {false};
	/* A large record has whole pages, which chunks can take. */
	bshm__page_wish wish = {ALL_CLASSES, most.class_pages, most.class_pages == 1, 0, 0};
	while (!has_room(s, size_class, count)) {
		const uint32_t done = evictions + wish.searched / BUCKETS_OF_ONE;
		if (done >= most.evictions || (most.is_step && pages == 0)) {
			return false;
		}
		/* First the free slots of other classes, then an eviction. */
		const uint32_t before = pages;
		const uint32_t hand = BSHM_LOAD(&s->shard->empty_page, RELAXED);
		if (may_be_wasteful(s, changed, keep) &&
			compact(s, size_class, keep, false, &pages, stuck)) {
			changed = ALL_CLASSES;
			if (most.single == 0) { /* evictions go on with the same page */
				BSHM_STORE(&s->shard->empty_page, hand, RELAXED);
			}
			continue;
		}
		const uint32_t left = most.evictions - done;
		const uint32_t of_page = left < STEP_EVICTIONS ? left : STEP_EVICTIONS;
		const uint32_t gone = evict_some(s, &wish, evictions < most.single ? 0 : of_page, &changed);
		changed = pages == before ? changed : ALL_CLASSES;
		evictions += gone;
		if (gone == 0 && !compact(s, size_class, keep, true, &pages, stuck)) {
			return false;
		}
	}
	return true;
}

bool bshm__make_room(const bshm__shard *s, uint32_t size_class, uint64_t count, uint64_t keep)
{
	/* An emptied page is a free page, if the counts are right; the limits end the loop if they are
	 * not. */
	const uint64_t wanted = count * bshm__class_bytes(size_class) / BSHM_SLAB_BYTES + 1;
	const uint64_t evictions = ONE_BY_ONE + wanted * OF_A_PAGE;
	const limits most = {evictions < UINT32_MAX ? (uint32_t) evictions : UINT32_MAX,
		s->segment->shard_pages, false, ONE_BY_ONE, CLASS_PAGES};
	const bool made = make_room(s, size_class, count, keep, most);
	if (!made) {
		bshm__slabs_doubt(s);
	}
	return made;
}

bool bshm__make_room_step(
	const bshm__shard *s, uint32_t size_class, uint64_t count, uint64_t keep, bool first)
{
	const limits most = {ONE_BY_ONE, SMALL_PAGES, true, first ? ONE_BY_ONE : 0, CLASS_PAGES};
	return make_room(s, size_class, count, keep, most);
}

bool bshm__make_large_room_step(const bshm__shard *s, uint32_t size_class, uint64_t count)
{
	const uint32_t single = many_go(s, size_class, count) ? 0 : UINT32_MAX;
	return make_room(
		s, size_class, count, 0, (limits){STEP_EVICTIONS, STEP_PAGES, true, single, 1});
}

bool bshm__may_pause(
	const bshm__shard *s, uint64_t chunks, bshm__low *low, const bshm_patience *patience)
{
	const bshm_shard_header *shard = s->shard;
	const uint64_t bytes = BSHM_LOAD(&shard->data_bytes, RELAXED) + chunks * BSHM_CHUNK_BYTES;
	const uint64_t pages = (uint64_t) BSHM_LOAD(&shard->given_pages, RELAXED) -
						   BSHM_LOAD(&shard->classes[BSHM_CLASS_CHUNK].pages, RELAXED);
	const bool less = bytes < low->bytes || pages < low->pages;
	low->bytes = bytes < low->bytes ? bytes : low->bytes;
	low->pages = pages < low->pages ? pages : low->pages;
	const bool has_time = patience->batch || patience->waited_ns < BSHM_LOCK_BATCH_NS / 2;
	return less && (has_time || patience->gone);
}
