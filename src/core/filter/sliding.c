/*
 * sliding.c - filters whose keys age: a key is found for a window after its last add.
 *
 * A partition has 16,384 positions of four lanes, interleaved: the four bits of a position lie side
 * by side. Each lane is a Bloom filter of its own. Time is cut into epochs, each a third of the
 * window long. A key that is added in epoch e sets its positions in lane e % 4. It is found if one
 * live lane has all of its positions, while the epoch is e to e + 3: for three whole epochs at
 * least, which is the window, and for four at most.
 *
 *      epoch               8       9       10      11      12
 *      its lane            0       1       2       3       0, which held epoch 8 until then
 *      live epochs         5-8     6-9     7-10    8-11    9-12
 *
 * Nothing happens when an epoch ends. Every partition has a word in epochs[] that says which epoch
 * its newest lane holds. A reader ignores the lanes whose epochs are over, however long ago. The
 * first process that adds to a partition in a new epoch rotates it under the lock: it zeroes the
 * lanes that the new epochs take over, 8 kB at most.
 *
 * The word names the new epoch before the first lane is zeroed, and is at rest again after the
 * last:
 *
 *      (9, 9)  at rest      (9, 11)  lanes 2 and 3 are being zeroed      (11, 11)  at rest
 *
 * If the partition was rotated while an adder set its bits, the adder finds the word changed, and
 * adds again. A process that takes over from a dead one zeroes the same lanes again. No process
 * adds to them before the word is at rest.
 *
 * A reader needs the clock only for a "maybe": if no lane at all has the key, the key is absent.
 * That answer counts only if the partition was not rotated while it was read.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/sliding.h"

#include "core/base.h"
#include "core/filter/kind.h"
#include "core/filter/partition.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "core/segment/segment.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <math.h>

#define POSITIONS    (BSHM_PARTITION_BITS / 4.0)
#define LANE_LOW     UINT64_C(0x1111111111111111) /* lane 0 of all 16 positions of a word */
#define CLOCK_LAG_NS UINT64_C(20000000)           /* the cheap clock lags by less than this */

/* ------------------------------------------------------------------ epochs */

uint64_t bshm__epoch_width(uint32_t window_s)
{
	return (uint64_t) window_s * UINT64_C(1000000000) / 3;
}

/*
 * The origin of a new filter, whose epoch is BSHM_EPOCH_FIRST now. The epochs of all filters that
 * have one length begin at the same times.
 */
static uint64_t epoch_origin(const bshm_segment *segment, uint32_t window_s)
{
	const uint64_t width = bshm__epoch_width(window_s);
	const uint64_t now = bshm_os_clock_ns() + segment->clock_offset;
	return now - now % width - BSHM_EPOCH_FIRST * width;
}

/* 0 if the clock is before the filter's origin: then every lane counts as live. */
static uint64_t age_ns(
	const bshm_segment *segment, const bshm_descriptor *descriptor, uint64_t clock_ns)
{
	const int64_t age = (int64_t) (clock_ns + segment->clock_offset - descriptor->origin_ns);
	return age < 0 ? 0 : (uint64_t) age;
}

static bshm__moment moment_now(const bshm_segment *segment, const bshm_descriptor *descriptor)
{
	const uint64_t age = age_ns(segment, descriptor, bshm_os_clock_ns());
	const uint64_t width = bshm__epoch_width(descriptor->window_s);
	return (bshm__moment){
		.epoch = descriptor->epoch_base + (uint32_t) (age / width), .phase_ns = age % width};
}

static uint32_t epoch_now(const bshm_segment *segment, const bshm_descriptor *descriptor)
{
	return moment_now(segment, descriptor).epoch;
}

static void begin(const bshm_segment *segment, bshm_descriptor *descriptor)
{
	descriptor->origin_ns = epoch_origin(segment, descriptor->window_s);
}

/* The epoch was BSHM_EPOCH_FIRST when the filter was exported, and time has gone on since. */
static void resume(
	const bshm_segment *segment, bshm_descriptor *descriptor, uint64_t phase_ns, double aged_s)
{
	const uint64_t width = bshm__epoch_width(descriptor->window_s);
	const double most_s = 4.0 * (double) descriptor->window_s;
	descriptor->origin_ns = segment->clock_offset + bshm_os_clock_ns() - phase_ns -
							(uint64_t) (fmin(aged_s, most_s) * 1e9) - BSHM_EPOCH_FIRST * width;
}

/* The next epoch is as many later as there are lanes: no lane is live any more. */
static void expire(const bshm_segment *segment, bshm_descriptor *descriptor)
{
	const uint32_t epoch = epoch_now(segment, descriptor) + BSHM_LANES;
	descriptor->origin_ns = epoch_origin(segment, descriptor->window_s);
	descriptor->epoch_base = epoch - BSHM_EPOCH_FIRST;
}

/*
 * Finds the present epoch by the exact clock. It also notes for how long the cheap clock, which
 * lags behind, will be in the same epoch.
 */
static BSHM_NOINLINE uint32_t work_out_epoch(bshm_view *view)
{
	const bshm_descriptor *d = &view->descriptor;
	const uint64_t width = bshm__epoch_width(d->window_s);
	const uint64_t now = bshm_os_clock_ns();
	const uint64_t age = age_ns(view->segment, d, now);
	view->epoch.epoch = d->epoch_base + (uint32_t) (age / width);
	view->epoch.from_ns = now - age % width;
	view->epoch.sure_ns = width > CLOCK_LAG_NS && age != 0 ? width - CLOCK_LAG_NS : 0;
	return view->epoch.epoch;
}

/* The present epoch, by the cheap clock where that is certain. */
static inline uint32_t epoch_cheaply(bshm_view *view)
{
	const uint64_t since = bshm_os_clock_cheap_ns() - view->epoch.from_ns;
	return BSHM_LIKELY(since < view->epoch.sure_ns) ? view->epoch.epoch : work_out_epoch(view);
}

uint64_t *bshm__epoch_word(const bshm_segment *segment, const uint64_t *partition)
{
	const size_t bytes = (size_t) ((const uint8_t *) partition - segment->partitions);
	return &segment->epochs[bytes / BSHM_PARTITION_BYTES];
}

static uint32_t newest_of(uint64_t word)
{
	return (uint32_t) (word >> 32);
}

static bool at_rest(uint64_t word)
{
	return newest_of(word) == (uint32_t) word;
}

static uint64_t resting(uint32_t epoch)
{
	return (uint64_t) epoch << 32 | epoch;
}

/* Which lanes of a partition with this word are in the window at `epoch`: four bits. */
static uint32_t lanes_live(uint64_t word, uint32_t epoch)
{
	const int32_t ahead = (int32_t) (newest_of(word) - epoch);
	if (ahead >= 0) {
		return 15;
	}
	if (ahead <= -(int32_t) BSHM_LANES) {
		return 0;
	}
	const int32_t count = ahead + (int32_t) BSHM_LANES; /* the epochs epoch - 3 .. newest */
	const uint32_t oldest = (epoch + 1) % BSHM_LANES;   /* the lane of epoch - 3 */
	const uint32_t twice = ((1u << count) - 1) << oldest;
	return (twice | twice >> BSHM_LANES) & 15;
}

/* ------------------------------------------------------------------ asking */

/* The lanes that have all positions of the hash. */
static BSHM_ALWAYS_INLINE uint32_t lanes_with(
	const uint64_t *words, bshm_hash h, uint32_t hash_count)
{
	uint64_t lanes = 15;
	if (hash_count < 6) {
		for (uint32_t i = 0; i < hash_count; i++) {
			lanes &= bshm__cell(words, bshm__hash_probe(h, i));
		}
		return (uint32_t) lanes;
	}
	lanes &= bshm__cell(words, h.low & 0xffff);
	lanes &= bshm__cell(words, h.low >> 16 & 0xffff);
	lanes &= bshm__cell(words, h.low >> 32 & 0xffff);
	lanes &= bshm__cell(words, h.low >> 48);
	lanes &= bshm__cell(words, h.high & 0xffff);
	lanes &= bshm__cell(words, h.high >> 16 & 0xffff);
	uint64_t more = 0;
	for (uint32_t i = 6; i < hash_count && lanes != 0; i++) {
		more = (i - 6) % 4 == 0 ? bshm__hash_more(h, (i - 6) / 4) : more >> 16;
		lanes &= bshm__cell(words, more & 0xffff);
	}
	return (uint32_t) lanes;
}

/* One look: 1 = maybe, 0 = no, -1 = the partition was rotated meanwhile. */
static BSHM_ALWAYS_INLINE int look(bshm_view *view, const uint64_t *words, bshm_hash h)
{
	const uint64_t *epoch_word = bshm__epoch_word(view->segment, words);
	const uint64_t word = BSHM_LOAD(epoch_word, ACQUIRE); /* pairs with rotate() */
	const uint32_t lanes = lanes_with(words, h, view->newest.hash_count);
	if (lanes != 0 && (lanes & lanes_live(word, epoch_cheaply(view))) != 0) {
		return 1;
	}
	BSHM_FENCE(ACQUIRE); /* pairs with rotate(): lanes zeroed meanwhile are not seen as empty */
	return BSHM_LIKELY(BSHM_LOAD(epoch_word, RELAXED) == word) ? 0 : -1;
}

static BSHM_NOINLINE bool look_again(bshm_view *view, const uint64_t *words, bshm_hash h)
{
	int answer = -1;
	for (int tries = 0; answer < 0 && tries < BSHM_READ_TRIES; tries++) {
		answer = look(view, words, h);
	}
	return answer != 0;
}

static bool has(const bshm_view *view, const uint64_t *words, bshm_hash h)
{
	bshm_view *own = (bshm_view *) view; /* private to the thread: it remembers the epoch */
	const int answer = look(own, words, h);
	return BSHM_LIKELY(answer >= 0) ? answer : look_again(own, words, h);
}

/* ------------------------------------------------------------------ adding */

/*
 * Zeroes the lanes that the epochs up to `epoch` take over. Under the lock, or in partitions that
 * no other process writes. If a process died in the middle of this, goes on to the epoch that it
 * was rotating to.
 */
static void rotate(uint64_t *epoch_word, uint64_t *words, uint32_t epoch)
{
	const uint64_t word = BSHM_LOAD(epoch_word, RELAXED);
	const uint32_t newest = newest_of(word);
	const uint32_t aimed = (uint32_t) word;
	const uint32_t target = (int32_t) (aimed - epoch) > 0 ? aimed : epoch;
	if ((int32_t) (target - newest) <= 0) {
		return;
	}
	uint64_t stale = 0;
	for (uint32_t e = newest; e != target && stale != UINT64_MAX; e++) {
		stale |= LANE_LOW << ((e + 1) % BSHM_LANES);
	}
	/* A process that sees a lane being zeroed, or sets bits in it before, sees that the partition
	 * is being rotated: pairs with look(), add(). */
	BSHM_STORE(epoch_word, (uint64_t) newest << 32 | target, RELAXED);
	BSHM_FENCE(SEQ_CST);
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		if ((BSHM_LOAD(&words[i], RELAXED) & stale) != 0) {
			BSHM_AND(&words[i], ~stale, RELAXED); /* adders may set bits of other lanes */
		}
	}
	BSHM_STORE(epoch_word, resting(target), RELEASE); /* pairs with add(), look() */
}

/* Sets the hash's positions in a lane. */
static void set_lane(uint64_t *words, bshm_hash h, uint32_t hash_count, uint32_t lane)
{
	for (uint32_t i = 0; i < hash_count; i++) {
		const uint32_t probe = bshm__hash_probe(h, i);
		const uint64_t bit = UINT64_C(1) << (bshm__cell_shift(probe) + lane);
		uint64_t *word = &words[probe >> 6];
		if ((BSHM_LOAD(word, RELAXED) & bit) == 0) {
			BSHM_OR(word, bit, RELAXED);
		}
	}
}

static int add(const bshm_view *view, uint64_t *words, bshm_hash h)
{
	const uint64_t *epoch_word = bshm__epoch_word(view->segment, words);
	const uint32_t epoch = epoch_now(view->segment, &view->descriptor);
	/* Pairs with rotate(): the lane is clean. */
	const uint64_t word = BSHM_LOAD(epoch_word, ACQUIRE);
	if (!at_rest(word) || (int32_t) (newest_of(word) - epoch) < 0) {
		return BSHM_ADD_ROTATE;
	}
	const uint32_t lanes = lanes_with(words, h, view->newest.hash_count);
	const int added = (lanes & lanes_live(word, epoch)) == 0 ? BSHM_ADD_NEW : BSHM_ADD_MAYBE;
	set_lane(words, h, view->newest.hash_count, newest_of(word) % BSHM_LANES);
	/* Pairs with rotate(): either this sees another word, or the zeroing came before the bits. */
	BSHM_FENCE(SEQ_CST);
	const bool kept = BSHM_LOAD(epoch_word, RELAXED) == word &&
					  epoch_now(view->segment, &view->descriptor) == epoch;
	return kept ? added : added | BSHM_ADD_AGAIN;
}

static void rotate_now(const bshm_view *view, uint64_t *words)
{
	rotate(
		bshm__epoch_word(view->segment, words), words, epoch_now(view->segment, &view->descriptor));
}

static bool put_one(const bshm_view *view, bshm_hash h)
{
	uint64_t *words = bshm__parts_of(&view->newest, h);
	uint64_t *epoch_word = bshm__epoch_word(view->segment, words);
	const uint32_t epoch = epoch_now(view->segment, &view->descriptor);
	rotate(epoch_word, words, epoch);
	const uint64_t word = BSHM_LOAD(epoch_word, RELAXED);
	const uint32_t had = lanes_with(words, h, view->newest.hash_count) & lanes_live(word, epoch);
	set_lane(words, h, view->newest.hash_count, newest_of(word) % BSHM_LANES);
	return had == 0;
}

static uint64_t put(const bshm_view *view, const bshm_hash *hashes, size_t count, bool alone)
{
	(void) alone;
	uint64_t added = 0;
	for (size_t i = 0; i < count; i++) {
		added += put_one(view, hashes[i]);
	}
	return added;
}

/* ------------------------------------------------------------------ copying */

static void reset(const bshm_view *view, const uint64_t *words)
{
	BSHM_STORE(bshm__epoch_word(view->segment, words), resting(BSHM_EPOCH_FIRST), RELAXED);
}

/*
 * Which lane each live lane of a partition goes to, in a filter whose epochs are numbered `shift`
 * higher and whose present epoch is `present`; BSHM_LANES: to none. A lane that would be newer than
 * the present one goes to the present one, which outlives every key that was added until now.
 */
static void target_lanes(
	uint64_t word, uint32_t live, uint32_t shift, uint32_t present, uint8_t target[4])
{
	for (uint32_t lane = 0; lane < BSHM_LANES; lane++) {
		const uint32_t own = newest_of(word) - (newest_of(word) - lane) % BSHM_LANES;
		const int32_t ahead = (int32_t) (own + shift - present);
		const uint32_t there = ahead < 0 ? own + shift : present;
		const bool goes = (live >> lane & 1) != 0 && ahead > -(int32_t) BSHM_LANES;
		target[lane] = goes ? (uint8_t) (there % BSHM_LANES) : BSHM_LANES;
	}
}

/*
 * By how much the number of an epoch is higher in `to` than in `from`. The epochs of both are
 * equally long, but need not begin at the same time. A lane goes to the epoch that begins with its
 * own or next after it: its keys must not expire sooner than in `from`.
 */
static uint32_t epochs_apart(const bshm_view *to, const bshm_view *from)
{
	const int64_t width = (int64_t) bshm__epoch_width(to->descriptor.window_s);
	const int64_t apart = (int64_t) (from->descriptor.origin_ns - to->descriptor.origin_ns);
	return (uint32_t) (apart / width + (apart % width > 0)) + to->descriptor.epoch_base -
		   from->descriptor.epoch_base;
}

static void merge_words(uint64_t *to, const uint64_t *from, const uint8_t target[4])
{
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		const uint64_t word = BSHM_LOAD(&from[i], RELAXED);
		uint64_t moved = BSHM_LOAD(&to[i], RELAXED);
		for (uint32_t lane = 0; lane < BSHM_LANES; lane++) {
			if (target[lane] < BSHM_LANES) {
				moved |= (word >> lane & LANE_LOW) << target[lane];
			}
		}
		BSHM_STORE(&to[i], moved, RELAXED);
	}
}

static void merge(
	const bshm_view *to, uint64_t *to_words, const bshm_view *from, const uint64_t *from_words)
{
	const uint64_t *from_epoch = bshm__epoch_word(from->segment, from_words);
	uint64_t *to_epoch = bshm__epoch_word(to->segment, to_words);
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		const uint64_t word = BSHM_LOAD(from_epoch, ACQUIRE); /* pairs with rotate() */
		const uint32_t epoch = epoch_now(from->segment, &from->descriptor);
		const uint32_t present = epoch_now(to->segment, &to->descriptor);
		uint8_t target[BSHM_LANES];
		target_lanes(word, lanes_live(word, epoch), epochs_apart(to, from), present, target);
		rotate(to_epoch, to_words, present);
		merge_words(to_words, from_words, target);
		BSHM_FENCE(ACQUIRE); /* pairs with rotate() */
		if (BSHM_LOAD(from_epoch, RELAXED) == word) {
			return;
		}
		/*
		 * Rotated meanwhile: merge again. All keys that were merged so far were live a moment ago.
		 */
	}
}

static void export(uint64_t *to, const bshm_view *from, const uint64_t *from_words, uint32_t epoch)
{
	const uint64_t *from_epoch = bshm__epoch_word(from->segment, from_words);
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		to[i] = 0;
	}
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		const uint64_t word = BSHM_LOAD(from_epoch, ACQUIRE); /* pairs with rotate() */
		const uint32_t shift = BSHM_EPOCH_FIRST - epoch;
		uint8_t target[BSHM_LANES];
		target_lanes(word, lanes_live(word, epoch), shift, BSHM_EPOCH_FIRST, target);
		merge_words(to, from_words, target);
		BSHM_FENCE(ACQUIRE); /* pairs with rotate() */
		if (BSHM_LOAD(from_epoch, RELAXED) == word) {
			return;
		}
	}
}

/* ------------------------------------------------------------------ rates */

/* For each set of live lanes: how many positions are set in all lanes of the set. */
static void count_lanes(const uint64_t *words, uint32_t live, uint32_t counts[16])
{
	for (uint32_t set = 1; set < 16; set++) {
		counts[set] = 0;
	}
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		const uint64_t word = BSHM_LOAD(&words[i], RELAXED);
		uint64_t all[16] = {LANE_LOW};
		for (uint32_t set = 1; set < 16; set++) {
			const uint32_t lane = BSHM_LOWEST_BIT(set);
			all[set] = (live >> lane & 1) == 0 ? 0 : all[set & (set - 1)] & word >> lane;
			counts[set] += BSHM_BIT_COUNT(all[set]);
		}
	}
}

/*
 * A key is found if one lane has all of its positions. The chance is a sum over all sets of live
 * lanes, by inclusion and exclusion.
 */
static bshm__rates rate(
	const bshm_view *view, const uint64_t *words, uint32_t hash_count, uint32_t epoch)
{
	/* Pairs with rotate(). */
	const uint64_t word = BSHM_LOAD(bshm__epoch_word(view->segment, words), ACQUIRE);
	const uint32_t live = lanes_live(word, epoch);
	uint32_t counts[16];
	count_lanes(words, live, counts);
	bshm__rates said = {0};
	double any = 0;
	for (uint32_t set = 1; set < 16; set++) {
		const double share = counts[set] / POSITIONS;
		const double sign = (int) BSHM_BIT_COUNT(set) % 2 != 0 ? 1 : -1;
		said.rate += sign * pow(share, hash_count);
		any += sign * share;
		if ((set & (set - 1)) == 0) {
			said.fill += share;
			said.items += bshm__keys_of(POSITIONS, share, hash_count);
		}
	}
	const int lanes = (int) BSHM_BIT_COUNT(live);
	said.fill = lanes == 0 ? 0 : said.fill / lanes;
	said.rate = fmax(said.rate, 0);
	/* A key that was added again is in several lanes: in their union it is one. */
	said.items = fmin(said.items, bshm__keys_of(POSITIONS, any, hash_count));
	return said;
}

const bshm__kind bshm__sliding = {
	.type = "sliding",
	.positions = POSITIONS,
	.lanes = BSHM_LANES,
	/* Six probes are the fastest; a filter of four lanes may be a little larger for it. */
	.near_best = 0.95,
	.used = 0.955,
	.has = has,
	.put = put,
	.add = add,
	.rotate = rotate_now,
	.reset = reset,
	.merge = merge,
	.export = export,
	.rate = rate,
	.now = moment_now,
	.begin = begin,
	.resume = resume,
	.expire = expire,
};
