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
 * epoch is a hit that an LRU would not have had. A key that is asked for, has no record, and was
 * last used after that epoch, is a hit that is lost. gain.c counts both. (Sources: for the LRU of a
 * sample, the miniature simulation of Waldspurger and others, 2017; for a size that follows what is
 * in the sample, SHARDS, 2015.)
 *
 * Nothing is guessed. Before, the age at which an LRU evicts was measured by how much was used, and
 * lost hits by the ghosts that returned soon. Few of them are met, and what is used twice, or goes
 * and comes back, was counted twice: streams that take turns, by day and night, had up to 23 % more
 * misses than an LRU. A key is lost when it is asked for, once an epoch, as a record is used: so
 * sessions that are not put again count, and keys that are written and never asked for do not.
 *
 * A record is in the sample as likely as it is large: with a share of BSHM_SHADOW_KEYS / the
 * shard's limit in each byte, or, where a count of records is the limit, in each record. So each
 * cell stands for as much of the limit, and a hit of it for more, the smaller the record is. What
 * takes more than a cell stands for is always in the sample, and counts as much as it takes. A
 * shard that is full has about 160 cells of stored records, whatever its size. An LRU is as large
 * as those are, not as the limit: where it holds the same keys, it does not matter whether the
 * sample has a few more than its share. Of keys that it alone holds, the sample has no more than
 * their share for that: so such a cell counts for as much as a stored one should. And for an eighth
 * less, as 160 cells are off by an 8th to a 16th by chance: what is in doubt an LRU holds. (Counted
 * like stored ones, loops of 300, 900 and 1,500 keys that take turns had up to 3.9 % more misses
 * than LRU, for good, with 944 records: an LRU seemed too small for the second one by chance.)
 * (A store that has lost large records may waste more memory than an LRU would: then it takes the
 * LRU for too small, and does not see all that it loses.)
 *
 *      cell = | tag | size | stored | stamp |      24, 24, 1 and 15 bits; 0 = free
 *
 * The tag are bits of the key's hash. `size` is that of the record, in steps of 16 bytes. `stored`:
 * the key has a record. A set of eight cells is a cache line. A key that finds no room in its set
 * takes the cell of the one without a record that was used the longest ago; if all have records, it
 * gets none.
 *
 * `shadow_oldest` only moves on: what an LRU has evicted does not come back. It is found anew by a
 * put of a key of the sample, when four such keys have been missed: put, or used, that an LRU did
 * not hold. Until then an LRU seems to be larger, by as many: so it is taken for two keys smaller.
 * (Taken for as large as the store, what was in doubt counted for it. Pages beside tiny keys that
 * come once had 10 % more misses than with the settings of now.) A put of a key that an LRU did
 * hold counts, too. (Else all keys of a loop just larger than the store seemed lost, the end of an
 * LRU was not found any more, and every seventh store stayed an LRU, which has no hits there.)
 * Cells that an LRU does not hold, and that have no record, are free then.
 *
 * The stamps are those of recency.c, which are renumbered now and then. Cells that are older than
 * all records then tell no age any more. A record without a cell does not count: its loss would not
 * be counted either. (Where it did, an idle night was renumbered, its records had no cells, and by
 * day counted as gained: 2 to 7 % more misses than LRU.)
 *
 * Cells are hints. A use stamps its cell by compare-and-swap, and so does a call that misses; all
 * else is stored under the lock. A death leaves a cell that says of its key what was true before,
 * or one without a record; each is right again when the key is put or removed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/shadow.h"

#include "core/cache/gain.h"
#include "core/cache/recency.h"

#define SET        8u
#define SETS       (BSHM_SHADOW_CELLS / SET)
#define TAG_SHIFT  40u
#define SIZE_SHIFT 16u
#define SIZE_BITS  24u
#define STORED     UINT64_C(0x8000)

/* In shadow_oldest, besides the epoch: it is known. An LRU has evicted nothing yet if it is not. */
#define KNOWN    0x8000u
#define AGE_MOST BSHM_SLOT_STAMP /* no record is older */

/* What counts of a cell when the end of an LRU is looked for, in such parts of what it stands for:
 * all if it has a record, else 7/8. */
#define WHOLE  256u
#define OTHERS (WHOLE / 8 * 7)

#define RANK_AFTER 4u /* keys that were missed: `shadow_oldest` is found anew */

/* In shadow_base, besides the epoch: the limit is a count of records. */
#define BY_RECORDS 0x8000u

static uint64_t size_in(uint64_t says)
{
	return says >> SIZE_SHIFT & ((1u << SIZE_BITS) - 1);
}

/* How much the cell of such a record stands for. */
static uint32_t weight_of(bshm__shadow_limit most, uint64_t size)
{
	const uint64_t part = bshm__shadow_part(most, size);
	return (uint32_t) (part > most.cell ? part : most.cell);
}

/* For how many hits one of such a record stands: rounded up as often as the rest is large. */
static int64_t hits_of(uint64_t hash, bshm__shadow_limit most, uint64_t size)
{
	const uint64_t cells = bshm__shadow_part(most, size) * BSHM_SHADOW_KEYS;
	const uint64_t chance = (bshm__shadow_mixed(hash) >> 24 & 0xff) * cells >> 8;
	return most.all < cells ? 1 : (int64_t) ((most.all + chance) / cells);
}

static uint64_t *set_of(const bshm__shard *s, uint64_t hash)
{
	return &s->shard->shadow[(bshm__shadow_mixed(hash) >> 32) % SETS * SET];
}

/* The key's cell, and what it says; NULL: it has none. */
static uint64_t *find(const bshm__shard *s, uint64_t hash, uint64_t *says)
{
	const uint64_t tag = hash << TAG_SHIFT;
	uint64_t *set = set_of(s, hash);
	for (uint64_t *cell = set; cell < set + SET; cell++) {
		const uint64_t word = BSHM_LOAD(cell, RELAXED);
		if (BSHM_UNLIKELY((word ^ tag) >> TAG_SHIFT == 0 && word != 0)) {
			*says = word;
			return cell;
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

static uint32_t base_now(const bshm__shard *s, bshm__shadow_limit most)
{
	const uint32_t base = BSHM_LOAD(&s->shard->base, RELAXED) & BSHM_SLOT_STAMP;
	return most.each != 0 ? base | BY_RECORDS : base;
}

/* Do the cells count this limit, and in stamps of these days? */
static bool is_current(const bshm__shard *s, bshm__shadow_limit most)
{
	return base_now(s, most) == BSHM_LOAD(&s->shard->shadow_base, RELAXED);
}

/* ------------------------------------------------------------------ where an LRU ends */

typedef struct {
	uint64_t weights[BSHM_SHADOW_CELLS];
	uint16_t ages[BSHM_SHADOW_CELLS];
	uint32_t count;
} ranks;

#define AGES 256u /* first so many at once, then one by one */

/* The age below which the cells stand for no more than `most`. */
static uint32_t age_of_rank(const ranks *r, uint64_t most)
{
	uint64_t sums[(AGE_MOST + 1) / AGES] = {0};
	uint64_t single[AGES] = {0};
	uint64_t sum = 0;
	uint32_t at = 0;
	uint32_t age = 0;
	for (uint32_t i = 0; i < r->count; i++) {
		sums[r->ages[i] / AGES] += r->weights[i];
	}
	while (at < AGE_MOST / AGES && sum + sums[at] <= most) {
		sum += sums[at++];
	}
	for (uint32_t i = 0; i < r->count; i++) {
		if (r->ages[i] / AGES == at) {
			single[r->ages[i] % AGES] += r->weights[i];
		}
	}
	while (age < AGES - 1 && sum + single[age] <= most) {
		sum += single[age++];
	}
	return at * AGES + age;
}

/* What the cells with records stand for together. */
static uint64_t stored_in_cells(const bshm__shard *s, bshm__shadow_limit most)
{
	uint64_t stored = 0;
	for (uint32_t i = 0; i < BSHM_SHADOW_CELLS; i++) {
		const uint64_t says = BSHM_LOAD(&s->shard->shadow[i], RELAXED);
		stored += (says & STORED) != 0 ? weight_of(most, size_in(says)) : 0;
	}
	return stored;
}

/* What they would stand for if there were neither more nor fewer of them by chance; at least 1. The
 * counts may be damaged: then an LRU seems to end anywhere, and no more. */
static uint64_t stored_by_share(const bshm__shard *s, bshm__shadow_limit most)
{
	const uint64_t records = BSHM_LOAD(&s->shard->records, RELAXED);
	const uint64_t bytes = BSHM_LOAD(&s->shard->data_bytes, RELAXED) + records * BSHM_RECORD_EXTRA;
	const uint64_t all = most.each != 0 ? records * most.each : bytes / BSHM_SHADOW_STEP;
	/* Unless each record has a cell: what a cell stands for is rounded down. */
	const uint64_t rest = most.cell == most.each ? 0 : most.all % BSHM_SHADOW_KEYS;
	const uint64_t share = rest == 0 ? all : all - all * rest / most.all;
	return share == 0 ? 1 : share;
}

/* Finds the oldest record that an LRU holds. */
static BSHM_NOINLINE void rank(const bshm__shard *s, bshm__shadow_limit most)
{
	const uint32_t now = bshm__stamp_now(s);
	const uint32_t before = lru_age(s);
	const uint64_t stored = stored_in_cells(s, most);
	const uint64_t others = stored * OTHERS / stored_by_share(s, most);
	ranks r;
	r.count = 0;
	for (uint32_t i = 0; i < BSHM_SHADOW_CELLS; i++) {
		const uint64_t says = BSHM_LOAD(&s->shard->shadow[i], RELAXED);
		const uint32_t age = says == 0 ? 0 : bshm__age_of(s, now, (uint32_t) says);
		if ((says & STORED) == 0 && age > before) {
			BSHM_STORE(&s->shard->shadow[i], 0, RELAXED);
		} else if (says != 0) {
			const uint64_t weight = weight_of(most, size_in(says));
			r.ages[r.count] = (uint16_t) age;
			r.weights[r.count++] = weight * ((says & STORED) != 0 ? WHOLE : others);
		}
	}
	/* Until the next time an LRU seems to hold up to RANK_AFTER keys more: half of that on
	 * average. */
	const uint64_t more = RANK_AFTER * most.cell;
	const uint64_t held = stored < more ? stored : stored - more / 2;
	const uint32_t age = age_of_rank(&r, held * WHOLE);
	if (age < before) {
		BSHM_STORE(&s->shard->shadow_oldest, KNOWN | ((now - age) & BSHM_SLOT_STAMP), RELAXED);
	}
	BSHM_STORE(&s->shard->shadow_missed, 0, RELAXED);
}

/* Records were renumbered, or another limit is near. Cells that are older than all records tell no
 * age any more: of a key with a record they get that of the oldest, others are free. All are, where
 * they count another limit. */
static BSHM_NOINLINE void renew(const bshm__shard *s, uint32_t base)
{
	const uint32_t now = bshm__stamp_now(s);
	const bool all = ((BSHM_LOAD(&s->shard->shadow_base, RELAXED) ^ base) & BY_RECORDS) != 0;
	for (uint32_t i = 0; i < BSHM_SHADOW_CELLS; i++) {
		const uint64_t says = BSHM_LOAD(&s->shard->shadow[i], RELAXED);
		if (all || bshm__age(now, (uint32_t) says) > bshm__age(now, base)) {
			const uint64_t oldest = (says & ~(uint64_t) BSHM_SLOT_STAMP) | (base & BSHM_SLOT_STAMP);
			BSHM_STORE(&s->shard->shadow[i], all || (says & STORED) == 0 ? 0 : oldest, RELAXED);
		}
	}
	if (all) {
		BSHM_STORE(&s->shard->shadow_largest, 0, RELAXED);
	}
	if (all || lru_age(s) > bshm__age(now, base)) {
		BSHM_STORE(&s->shard->shadow_oldest, 0, RELAXED);
	}
	BSHM_STORE(&s->shard->shadow_base, base, RELAXED);
}

static void renew_if_needed(const bshm__shard *s, bshm__shadow_limit most)
{
	if (BSHM_UNLIKELY(!is_current(s, most))) {
		renew(s, base_now(s, most));
	}
}

/* ------------------------------------------------------------------ what happens to records */

/* The store or an LRU did not hold it. */
static void count_missed(const bshm__shard *s, bshm__shadow_limit most, uint64_t size)
{
	BSHM_ADD(&s->shard->shadow_missed, weight_of(most, size), RELAXED);
}

/* The key is used now. If its cell is another key's by now, or was just used, that stays. */
static void stamp(const bshm__shard *s, uint64_t *cell, uint64_t says)
{
	const uint64_t used = (says & ~(uint64_t) BSHM_SLOT_STAMP) | bshm__stamp_now(s);
	BSHM_CAS(cell, &says, used, RELAXED);
}

void bshm__shadow_used(const bshm__shard *s, uint64_t hash, uint32_t state, uint64_t bytes)
{
	const bshm__shadow_limit most = bshm__shadow_limit_of(s);
	const uint64_t size = bshm__shadow_size(bytes);
	const uint32_t now = bshm__stamp_now(s);
	uint64_t says;
	if (!bshm__shadow_samples(hash, most, size) || (state & BSHM_SLOT_STAMP) == now) {
		return;
	}
	uint64_t *cell = find(s, hash, &says);
	if (cell == NULL) { /* its loss would not be counted either */
		return;
	}
	if (is_current(s, most) && bshm__age_of(s, now, state) > lru_age(s)) {
		bshm__gain_add(s, hits_of(hash, most, size));
		count_missed(s, most, size);
	}
	stamp(s, cell, says);
}

/* Would an LRU have a key that has a cell and no record? In this epoch it does not count. */
static bool is_lost(const bshm__shard *s, uint64_t says)
{
	const uint32_t age = bshm__age_of(s, bshm__stamp_now(s), (uint32_t) says);
	return (says & STORED) == 0 && age != 0 && age < lru_age(s);
}

void bshm__shadow_asked(const bshm__shard *s, uint64_t hash)
{
	const bshm__shadow_limit most = bshm__shadow_limit_of(s);
	uint64_t says;
	bshm__gain_missed(s, hash);
	/* Its size is not known. Most keys would not be in the sample with any. */
	if (!bshm__shadow_samples(hash, most, BSHM_LOAD(&s->shard->shadow_largest, RELAXED))) {
		return;
	}
	uint64_t *cell = find(s, hash, &says);
	if (cell != NULL && is_current(s, most) && is_lost(s, says)) {
		bshm__gain_add(s, -hits_of(hash, most, size_in(says)));
		stamp(s, cell, says);
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
static void enter(const bshm__shard *s, uint64_t hash, uint64_t size, uint64_t *cell)
{
	const uint64_t kept = (hash << SIZE_BITS | size) << SIZE_SHIFT;
	if (size > BSHM_LOAD(&s->shard->shadow_largest, RELAXED)) {
		BSHM_STORE(&s->shard->shadow_largest, (uint32_t) size, RELAXED);
	}
	if (cell == NULL) {
		cell = cell_to_take(s, set_of(s, hash));
	}
	if (cell != NULL) {
		BSHM_STORE(cell, kept | STORED | bshm__stamp_now(s), RELAXED);
	}
}

void bshm__shadow_put(const bshm__shard *s, uint64_t hash, uint64_t bytes, bool asked)
{
	const bshm__shadow_limit most = bshm__shadow_limit_of(s);
	const uint64_t size = bshm__shadow_size(bytes);
	uint64_t says;
	if (asked) {
		bshm__gain_missed(s, hash);
	}
	if (!bshm__shadow_samples(hash, most, size)) {
		return;
	}
	renew_if_needed(s, most);
	uint64_t *cell = find(s, hash, &says);
	if (asked && cell != NULL && is_lost(s, says)) {
		bshm__gain_add(s, -hits_of(hash, most, size));
	}
	count_missed(s, most, size);
	enter(s, hash, size, cell);
	if (BSHM_LOAD(&s->shard->shadow_missed, RELAXED) >= RANK_AFTER * most.cell &&
		BSHM_LOAD(&s->shard->evictions, RELAXED) != 0) {
		rank(s, most);
	}
}

void bshm__shadow_replaced(const bshm__shard *s, uint64_t hash, uint64_t before, uint64_t bytes)
{
	const bshm__shadow_limit most = bshm__shadow_limit_of(s);
	const uint64_t size = bshm__shadow_size(bytes);
	uint64_t says;
	if (bshm__shadow_samples(hash, most, size)) {
		renew_if_needed(s, most);
		enter(s, hash, size, find(s, hash, &says));
	} else if (before != bytes) {
		bshm__shadow_removed(s, hash, before);
	}
}

void bshm__shadow_evicted(const bshm__shard *s, uint64_t hash, uint32_t state, uint64_t bytes)
{
	uint64_t says;
	if (bshm__shadow_samples(hash, bshm__shadow_limit_of(s), bshm__shadow_size(bytes))) {
		uint64_t *cell = find(s, hash, &says);
		if (cell != NULL) {
			const uint64_t others = says & ~(STORED | BSHM_SLOT_STAMP);
			BSHM_STORE(cell, others | (state & BSHM_SLOT_STAMP), RELAXED);
		}
	}
}

void bshm__shadow_removed(const bshm__shard *s, uint64_t hash, uint64_t bytes)
{
	uint64_t says;
	if (bshm__shadow_samples(hash, bshm__shadow_limit_of(s), bshm__shadow_size(bytes))) {
		uint64_t *cell = find(s, hash, &says);
		if (cell != NULL && (says & STORED) != 0) {
			BSHM_STORE(cell, 0, RELAXED);
		}
	}
}

bool bshm__shadow_exists(const bshm__shard *s, uint64_t hash)
{
	uint64_t says;
	return find(s, hash, &says) != NULL;
}

void bshm__shadow_forget(const bshm__shard *s, uint64_t hash)
{
	uint64_t says;
	uint64_t *cell = find(s, hash, &says);
	if (cell != NULL) {
		BSHM_STORE(cell, 0, RELAXED);
	}
}
