/*
 * evict_old.c - finds a record that is older than the floor by its place in the pages.
 *
 * Where memory is the limit, the floor is one of bytes, and a sample one of records. If a few large
 * records have most bytes, among thousands of small young ones, samples see none of them. Then
 * pages from all over the shard are looked at: half of the bytes or more are old. The heaviest of
 * the first few is taken.
 *
 * If there is none, no record gets older than the floor until that moves. So it is not looked for
 * again until then, or until the next second: one may have expired. (A value of half the shard,
 * which is put after nothing but puts, evicts ten thousand records that are all young. Where each
 * eviction followed the chunks of such a value that was as young, the put took 4 to 14 seconds.)
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/evict_old.h"

#include "core/cache/slab.h"

#define OLD_PAGES  32u     /* that are looked at */
#define OLD_CHOICE 4u      /* old records, of which one is chosen */
#define OLD_CHUNKS 8192u   /* that are followed to their records: the largest has as many */
#define VAIN_KNOWN 0x8000u /* in old_in_vain: it is not 0 */

bshm__member bshm__in_slot(
	const bshm__shard *s, const bshm__scales *by, uint32_t number, uint32_t slot)
{
	const uint32_t its_class = bshm__page_class(s, number);
	const bool taken = its_class < BSHM_CLASS_RECORDS &&
					   (bshm__page_taken(s, number, its_class, slot / 64) >> (slot % 64) & 1) != 0;
	return bshm__weigh(s, by, taken ? bshm__page_ref(s, number, its_class, slot) : 0);
}

/* The record that a chunk belongs to: 0: it is damaged, or belongs to none yet. */
static uint32_t owner_of(const bshm__shard *s, uint32_t ref, uint32_t *steps)
{
	while (bshm__class_of_chunks(bshm__ref_class(s, ref))) {
		const uint32_t before =
			bshm__ref_at(s, ref, BSHM_CHUNK_HEADER) == NULL ? 0 : bshm__word(s, ref, 2);
		if (*steps == 0 || !bshm__slot_taken(s, before)) {
			return 0;
		}
		ref = before;
		--*steps;
	}
	return bshm__ref_class(s, ref) < BSHM_CLASS_RECORDS ? ref : 0;
}

/* The oldest record of some of a page's; or the one that one of its chunks belongs to. */
static bshm__member oldest_of_page(
	const bshm__shard *s, const bshm__scales *by, uint32_t number, uint32_t *steps)
{
	const uint32_t its_class = bshm__page_class(s, number);
	const uint64_t taken = bshm__page_taken(s, number, its_class, 0);
	bshm__member oldest = {0};
	if (bshm__class_of_chunks(its_class) && taken != 0) {
		const uint32_t ref = bshm__page_ref(s, number, its_class, BSHM_LOWEST_BIT(taken));
		return bshm__weigh(s, by, owner_of(s, ref, steps));
	}
	const uint32_t slots = its_class < BSHM_CLASS_RECORDS ? bshm__class_slots(its_class) : 0;
	for (uint32_t i = 0; i < slots; i += slots / BSHM_PAGE_LOOKS | 1) {
		const bshm__member m = bshm__in_slot(s, by, number, i);
		oldest = m.ref != 0 && (oldest.ref == 0 || m.age > oldest.age) ? m : oldest;
	}
	return oldest;
}

bshm__member bshm__find_old(const bshm__shard *s, const bshm__scales *by, uint32_t *looks)
{
	const bshm__epochs e = bshm__epochs_of(BSHM_LOAD(&s->shard->clock, RELAXED));
	const uint32_t vain = by->now_s << 16 | VAIN_KNOWN | (e.floor & BSHM_SLOT_STAMP);
	const bool in_vain = BSHM_LOAD(&s->shard->old_in_vain, RELAXED) == vain;
	const uint32_t count =
		bshm__memory_is_limit(s->segment, s->shard) && !in_vain ? s->segment->shard_pages : 0;
	const uint32_t stride = count / OLD_PAGES + 1;
	uint32_t at = BSHM_LOAD(&s->shard->empty_page, RELAXED);
	uint32_t steps = OLD_CHUNKS;
	uint32_t found = 0;
	bshm__member best = {0};
	for (uint32_t i = 0; i < count && i < OLD_PAGES && found < OLD_CHOICE; i++, at += stride) {
		at = at < count ? at : at % count;
		const bshm__member m = oldest_of_page(s, by, at + 1, &steps);
		const bool is_old = m.ref != 0 && (m.expired || m.age >= by->least_age);
		if (is_old && !bshm__is_spared(s, &m)) {
			best = best.ref == 0 || m.weight > best.weight ? m : best;
			found++;
		}
	}
	*looks += count == 0 ? 0 : OLD_PAGES + OLD_CHUNKS - steps;
	if (count != 0 && found == 0) {
		BSHM_STORE(&s->shard->old_in_vain, vain, RELAXED);
	}
	return best;
}
