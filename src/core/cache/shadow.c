/*
 * shadow.c - which records an LRU would hold: of a sample of the keys.
 *
 * Two settings make the store more than an LRU: the lean (ghost.c) and the power of the sizes
 * (size.c). Each is moved by records that return. But a return tells that a record came too late,
 * not that an LRU would still have had it, nor what was kept in its place. So the store is compared
 * with an LRU as large as it is. For a sample of the keys a cell says when the key was last used,
 * also after its record has been evicted. An LRU holds the keys that were used last: as many as the
 * store has records. So the cells in the order of their use say where an LRU ends: `shadow_oldest`
 * is the epoch of the last key that it holds. A record that is used and was last used before that
 * epoch is a hit that an LRU would not have had. A key that is put, has no record, and was last
 * used after that epoch, is a hit that is lost. gain.c counts both. (Sources: for the LRU of a
 * sample, the miniature simulation of Waldspurger and others, 2017; for a size that follows what is
 * in the sample, SHARDS, 2015.)
 *
 * Nothing is guessed. Before, the age at which an LRU evicts was measured by how much was used, and
 * lost hits by the ghosts that returned soon. Few of them are met, and what is used twice, or goes
 * and comes back, was counted twice: streams that take turns, by day and night, had up to 25 % more
 * misses than an LRU.
 *
 * A record is in the sample as likely as it is large: with a share of BSHM_SHADOW_KEYS / the
 * shard's limit in each byte, or, where a count of records is the limit, in each record. So each
 * cell stands for as much of the limit, and a hit of it for more, the smaller the record is. What
 * takes more than a cell stands for is always in the sample, and counts as so many cells. A shard
 * that is full has about 160 cells of stored records, whatever its size. An LRU is as large as
 * those are, not as the limit: so it does not matter whether the sample has a few more than its
 * share, and what the store cannot use of its memory an LRU cannot use either.
 *
 *      cell = | tag | units | stored | stamp |      28, 20, 1 and 15 bits; 0 = free
 *
 * The tag are bits of the key's hash. `units` is how much of the limit the record takes: 16 for
 * what a cell stands for. `stored`: the key has a record. A set of eight cells is a cache line. A
 * key that finds no room in its set takes the cell of the one without a record that was used the
 * longest ago; if all have records, it gets none.
 *
 * `shadow_oldest` only moves on: what an LRU has evicted does not come back. It is found anew when
 * eight keys have been put, or used, that an LRU did not hold. Cells
 * that an LRU does not hold, and that have no record, are free then. The stamps are those of
 * recency.c, which are renumbered now and then. Cells that are older than all records are free
 * after that, as no age can be told of them. (Their records, if they have some, are not in the
 * sample until they are put again.) If another limit is near, all are.
 *
 * Cells are hints. A use stamps its cell by compare-and-swap; all else is stored under the lock. A
 * death leaves a cell that says of its key what was true before, or one without a record; each is
 * right again when the key is put, or goes when the stamps are renumbered.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/shadow.h"

#include "core/cache/gain.h"
#include "core/cache/recency.h"

#include <string.h>

#define SET        8u
#define SETS       (BSHM_SHADOW_CELLS / SET)
#define TAG_SHIFT  36u
#define TAG_BITS   28u
#define UNIT_SHIFT 16u
#define UNIT_MOST  0xfffffu
#define UNITS_CELL 16u /* of what a cell stands for */
#define STORED     UINT64_C(0x8000)

/* In shadow_oldest, besides the epoch: it is known. An LRU has evicted nothing yet if it is not. */
#define KNOWN    0x10000u
#define AGE_MOST BSHM_SLOT_STAMP /* no record is older */

/* `shadow_oldest` is found anew when so many units were put that an LRU did not hold. */
#define RANK_AFTER (8 * UNITS_CELL)

/* In shadow_base, besides the epoch: the limit is a count of records. */
#define BY_RECORDS 0x8000u

/* What a record takes, and of how much. */
typedef struct {
	uint64_t one;
	uint64_t all;
} share;

static bool is_by_records(const bshm__shard *s)
{
	return !bshm__memory_is_limit(s->segment, s->shard);
}

static share share_of(const bshm__shard *s, uint64_t bytes)
{
	const bshm_segment *segment = s->segment;
	return is_by_records(s) ? (share){segment->shard_count, segment->cache_records}
							: (share){bytes + BSHM_RECORD_EXTRA, segment->shard_bytes};
}

static uint64_t mixed(uint64_t hash)
{
	return hash * UINT64_C(0x9e3779b97f4a7c15);
}

static bool is_sampled(uint64_t hash, share part)
{
	const uint64_t draw = mixed(hash) >> 40;
	return (draw * part.all >> 24) < part.one * BSHM_SHADOW_KEYS;
}

static uint32_t units_of(share part)
{
	const uint64_t units = part.one * BSHM_SHADOW_KEYS * UNITS_CELL / part.all;
	return units < UNITS_CELL ? UNITS_CELL : units < UNIT_MOST ? (uint32_t) units : UNIT_MOST;
}

/* For how many hits one of such a record stands. */
static int64_t hits_of(share part)
{
	const uint64_t hits = part.all / BSHM_SHADOW_KEYS / part.one;
	return hits < 1 ? 1 : (int64_t) hits;
}

static uint64_t *set_of(const bshm__shard *s, uint64_t hash)
{
	return &s->shard->shadow[(mixed(hash) >> 32) % SETS * SET];
}

static uint64_t tag_of(uint64_t hash)
{
	return hash & ((UINT64_C(1) << TAG_BITS) - 1);
}

/* The key's cell, and what it says; NULL: it has none. */
static uint64_t *find(const bshm__shard *s, uint64_t hash, uint64_t *says)
{
	uint64_t *set = set_of(s, hash);
	for (uint32_t i = 0; i < SET; i++) {
		*says = BSHM_LOAD(&set[i], RELAXED);
		if (*says != 0 && *says >> TAG_SHIFT == tag_of(hash)) {
			return &set[i];
		}
	}
	return NULL;
}

/* How long an LRU keeps a record, in epochs. */
static uint32_t lru_age(const bshm__shard *s)
{
	const uint32_t oldest = BSHM_LOAD(&s->shard->shadow_oldest, RELAXED);
	return (oldest & KNOWN) == 0 ? AGE_MOST : bshm__age(bshm__stamp_now(s), oldest);
}

static uint32_t units_in(uint64_t says)
{
	return (uint32_t) (says >> UNIT_SHIFT) & UNIT_MOST;
}

/* ------------------------------------------------------------------ where an LRU ends */

/* The age below which the units, counted by their ages, are no more than `most`. */
typedef struct {
	uint32_t units[BSHM_SHADOW_CELLS];
	uint16_t ages[BSHM_SHADOW_CELLS];
	uint32_t count;
} ranked;

#define STEP 256u /* ages: first so many at once, then one by one */

static uint32_t age_of_rank(const ranked *r, uint64_t most)
{
	uint32_t sums[(AGE_MOST + 1) / STEP] = {0};
	uint32_t single[STEP] = {0};
	uint64_t units = 0;
	uint32_t part = 0;
	uint32_t age = 0;
	for (uint32_t i = 0; i < r->count; i++) {
		sums[r->ages[i] / STEP] += r->units[i];
	}
	while (part < AGE_MOST / STEP && units + sums[part] <= most) {
		units += sums[part++];
	}
	for (uint32_t i = 0; i < r->count; i++) {
		if (r->ages[i] / STEP == part) {
			single[r->ages[i] % STEP] += r->units[i];
		}
	}
	while (age < STEP - 1 && units + single[age] <= most) {
		units += single[age++];
	}
	return part * STEP + age;
}

/* Finds the oldest record that an LRU holds. */
static BSHM_NOINLINE void rank(const bshm__shard *s)
{
	const uint32_t now = bshm__stamp_now(s);
	const uint32_t before = lru_age(s);
	uint64_t stored = 0;
	ranked r;
	r.count = 0;
	for (uint32_t i = 0; i < BSHM_SHADOW_CELLS; i++) {
		const uint64_t says = BSHM_LOAD(&s->shard->shadow[i], RELAXED);
		const uint32_t age = bshm__age_of(s, now, (uint32_t) says);
		if (says != 0 && (says & STORED) == 0 && age > before) {
			BSHM_STORE(&s->shard->shadow[i], 0, RELAXED);
		} else if (says != 0) {
			r.ages[r.count] = (uint16_t) age;
			r.units[r.count++] = units_in(says);
			stored += (says & STORED) != 0 ? units_in(says) : 0;
		}
	}
	/* Until the next time an LRU seems to hold up to RANK_AFTER more: half of that on average. */
	const uint64_t most = stored < RANK_AFTER ? stored : stored - RANK_AFTER / 2;
	const uint32_t age = age_of_rank(&r, most);
	if (age < before) {
		BSHM_STORE(&s->shard->shadow_oldest, KNOWN | ((now - age) & BSHM_SLOT_STAMP), RELAXED);
	}
	BSHM_STORE(&s->shard->shadow_missed, 0, RELAXED);
}

/* Frees the cells that no longer tell an age: those older than all records, or, where another limit
 * is near, all. */
static BSHM_NOINLINE void renew(const bshm__shard *s, uint32_t base)
{
	const uint32_t known = BSHM_LOAD(&s->shard->shadow_base, RELAXED);
	const bool all = ((known ^ base) & BY_RECORDS) != 0;
	const uint32_t now = bshm__stamp_now(s);
	for (uint32_t i = 0; i < BSHM_SHADOW_CELLS; i++) {
		const uint64_t says = BSHM_LOAD(&s->shard->shadow[i], RELAXED);
		if (all || bshm__age(now, (uint32_t) says) > bshm__age(now, base)) {
			BSHM_STORE(&s->shard->shadow[i], 0, RELAXED);
		}
	}
	if (all || lru_age(s) > bshm__age(now, base)) {
		BSHM_STORE(&s->shard->shadow_oldest, 0, RELAXED);
	}
	BSHM_STORE(&s->shard->shadow_base, base, RELAXED);
}

static void renew_if_needed(const bshm__shard *s)
{
	const uint32_t base = (BSHM_LOAD(&s->shard->base, RELAXED) & BSHM_SLOT_STAMP) |
						  (is_by_records(s) ? BY_RECORDS : 0);
	if (BSHM_UNLIKELY(base != BSHM_LOAD(&s->shard->shadow_base, RELAXED))) {
		renew(s, base);
	}
}

/* ------------------------------------------------------------------ what happens to records */

/* An LRU did not hold it. */
static void lru_missed(const bshm__shard *s, share part)
{
	BSHM_ADD(&s->shard->shadow_missed, units_of(part), RELAXED);
}

void bshm__shadow_used(const bshm__shard *s, uint64_t hash, uint32_t state, uint64_t bytes)
{
	const uint32_t now = bshm__stamp_now(s);
	const share part = share_of(s, bytes);
	if (!is_sampled(hash, part) || (state & BSHM_SLOT_STAMP) == now) {
		return;
	}
	if (bshm__age_of(s, now, state) > lru_age(s)) {
		bshm__gain_add(s, hits_of(part));
		lru_missed(s, part);
	}
	uint64_t says;
	uint64_t *cell = find(s, hash, &says);
	if (cell != NULL) {
		BSHM_CAS(cell, &says, (says & ~(uint64_t) BSHM_SLOT_STAMP) | now, RELAXED);
	}
}

/* The cell of a set that a new key takes; NULL: all have records. */
static uint64_t *cell_to_take(const bshm__shard *s, uint64_t *set)
{
	const uint32_t now = bshm__stamp_now(s);
	uint64_t *oldest = NULL;
	uint32_t its_age = 0;
	for (uint32_t i = 0; i < SET; i++) {
		const uint64_t says = BSHM_LOAD(&set[i], RELAXED);
		const uint32_t age = bshm__age_of(s, now, (uint32_t) says);
		if (says == 0) {
			return &set[i];
		}
		if ((says & STORED) == 0 && (oldest == NULL || age > its_age)) {
			oldest = &set[i];
			its_age = age;
		}
	}
	return oldest;
}

/* The key has a record now, which is used. `cell`: its own; NULL: it has none. */
static void enter(const bshm__shard *s, uint64_t hash, share part, uint64_t *cell)
{
	if (cell == NULL) {
		cell = cell_to_take(s, set_of(s, hash));
	}
	if (cell != NULL) {
		const uint64_t units = (uint64_t) units_of(part) << UNIT_SHIFT;
		const uint64_t key_and_units = tag_of(hash) << TAG_SHIFT | units;
		BSHM_STORE(cell, key_and_units | STORED | bshm__stamp_now(s), RELAXED);
	}
}

void bshm__shadow_put(const bshm__shard *s, uint64_t hash, uint64_t bytes)
{
	const share part = share_of(s, bytes);
	if (!is_sampled(hash, part)) {
		return;
	}
	renew_if_needed(s);
	uint64_t says;
	uint64_t *cell = find(s, hash, &says);
	if (cell != NULL && (says & STORED) == 0 &&
		bshm__age_of(s, bshm__stamp_now(s), (uint32_t) says) < lru_age(s)) {
		bshm__gain_add(s, -hits_of(part));
	} else {
		lru_missed(s, part);
	}
	enter(s, hash, part, cell);
	if (BSHM_LOAD(&s->shard->shadow_missed, RELAXED) >= RANK_AFTER &&
		BSHM_LOAD(&s->shard->evictions, RELAXED) != 0) {
		rank(s);
	}
}

void bshm__shadow_replaced(
	const bshm__shard *s, uint64_t hash, uint32_t state, uint64_t before, uint64_t bytes)
{
	const share part = share_of(s, bytes);
	uint64_t says;
	if (is_sampled(hash, part)) {
		if (bshm__age_of(s, bshm__stamp_now(s), state) > lru_age(s)) {
			lru_missed(s, part);
		}
		enter(s, hash, part, find(s, hash, &says));
	} else if (before != bytes) {
		bshm__shadow_removed(s, hash, before);
	}
}

void bshm__shadow_evicted(const bshm__shard *s, uint64_t hash, uint32_t state, uint64_t bytes)
{
	uint64_t says;
	uint64_t *cell = is_sampled(hash, share_of(s, bytes)) ? find(s, hash, &says) : NULL;
	if (cell != NULL) {
		const uint64_t others = says & ~(STORED | BSHM_SLOT_STAMP);
		BSHM_STORE(cell, others | (state & BSHM_SLOT_STAMP), RELAXED);
	}
}

void bshm__shadow_removed(const bshm__shard *s, uint64_t hash, uint64_t bytes)
{
	uint64_t says;
	uint64_t *cell = is_sampled(hash, share_of(s, bytes)) ? find(s, hash, &says) : NULL;
	if (cell != NULL && (says & STORED) != 0) {
		BSHM_STORE(cell, 0, RELAXED);
	}
}

bool bshm__shadow_exists(const bshm__shard *s, uint64_t hash)
{
	uint64_t says;
	return find(s, hash, &says) != NULL && (says & STORED) == 0;
}

void bshm__shadow_forget(const bshm__shard *s, uint64_t hash)
{
	uint64_t says;
	uint64_t *cell = find(s, hash, &says);
	if (cell != NULL && (says & STORED) == 0) {
		BSHM_STORE(cell, 0, RELAXED);
	}
}
