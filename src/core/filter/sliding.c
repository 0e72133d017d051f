/*
 * sliding.c - filters that forget: a key is found for a window after its last add.
 *
 * A partition holds 16,384 positions of four lanes, interleaved: the four bits of a position lie
 * side by side. Time is cut into epochs a third of the window long. A key that is added in epoch e
 * sets its positions in lane e % 4, and is found while the epoch is e to e + 3: at least three
 * whole epochs, which is the window, and at most four. Each lane is a Bloom filter of its own, so a
 * key is found if one lane has all of its positions.
 *
 * Nothing happens when an epoch ends. Every partition has a word that says which epoch its newest
 * lane holds (epochs[]). A reader leaves out the lanes whose epochs are over, however long ago. The
 * first who adds to a partition in a new epoch turns it: he zeroes the lanes that the new epochs
 * take over, 8 kB at most, under the lock. The word says so before the first lane is touched, so an
 * adder that set its bits meanwhile sees it and adds again, and whoever takes over from a dead one
 * zeroes the same lanes again; nobody adds to them before the word says that they are clean.
 *
 * A reader needs the clock only for a "maybe": if no lane at all has the key, it is not there. That
 * answer counts if the partition was not turned while it was read.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/sliding.h"

#include "core/base.h"
#include "core/filter/mend.h"
#include "core/filter/partition.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "core/segment/lock.h"
#include "core/segment/segment.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#define LANE_LOW     UINT64_C(0x1111111111111111) /* lane 0 of all 16 positions of a word */
#define CLOCK_LAG_NS UINT64_C(20000000)           /* of the cheap clock, at most, and some more */

/* ------------------------------------------------------------------ epochs */

uint64_t bshm__epoch_width(uint32_t window_s)
{
	return (uint64_t) window_s * UINT64_C(1000000000) / 3;
}

uint64_t bshm__epoch_origin(const bshm_segment *segment, uint32_t window_s)
{
	const uint64_t width = bshm__epoch_width(window_s);
	const uint64_t now = bshm_os_clock_ns() + segment->clock_offset;
	return now - now % width - BSHM_EPOCH_FIRST * width;
}

/* 0 for a clock that is before the filter's beginning: then every lane is taken for live. */
static uint64_t age_ns(
	const bshm_segment *segment, const bshm_descriptor *descriptor, uint64_t clock_ns)
{
	const int64_t age = (int64_t) (clock_ns + segment->clock_offset - descriptor->origin_ns);
	return age < 0 ? 0 : (uint64_t) age;
}

bshm__moment bshm__moment_now(const bshm_segment *segment, const bshm_descriptor *descriptor)
{
	const uint64_t age = age_ns(segment, descriptor, bshm_os_clock_ns());
	const uint64_t width = bshm__epoch_width(descriptor->window_s);
	return (bshm__moment){
		.epoch = descriptor->epoch_base + (uint32_t) (age / width), .phase_ns = age % width};
}

uint32_t bshm__epoch_now(const bshm_segment *segment, const bshm_descriptor *descriptor)
{
	return bshm__moment_now(segment, descriptor).epoch;
}

void bshm__epoch_skip(const bshm_segment *segment, bshm_descriptor *descriptor)
{
	const uint32_t epoch = bshm__epoch_now(segment, descriptor) + BSHM_LANES;
	descriptor->origin_ns = bshm__epoch_origin(segment, descriptor->window_s);
	descriptor->epoch_base = epoch - BSHM_EPOCH_FIRST;
}

/*
 * The same by a clock that is cheap to read and lags behind: it is asked whether the epoch that was
 * worked out last still lasts, for surely so long as it lags. Near the end, the exact one decides.
 */
static __attribute__((noinline)) uint32_t work_out_epoch(bshm_view *view)
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

uint32_t bshm__lanes_live(uint64_t word, uint32_t epoch)
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
static inline __attribute__((always_inline)) uint32_t lanes_with(
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

/* One look: 1 and 0 are answers, -1 = the partition was turned meanwhile. */
static inline __attribute__((always_inline)) int look(
	bshm_view *view, const uint64_t *words, bshm_hash h)
{
	const uint64_t *epoch_word = bshm__epoch_word(view->segment, words);
	const uint64_t word = BSHM_LOAD(epoch_word, ACQUIRE); /* pairs with turn() */
	const uint32_t lanes = lanes_with(words, h, view->newest.hash_count);
	if (lanes != 0 && (lanes & bshm__lanes_live(word, epoch_cheaply(view))) != 0) {
		return 1;
	}
	BSHM_FENCE(ACQUIRE); /* pairs with turn(): lanes zeroed meanwhile are not seen as empty */
	return BSHM_LIKELY(BSHM_LOAD(epoch_word, RELAXED) == word) ? 0 : -1;
}

static __attribute__((noinline)) bool look_again(
	bshm_view *view, const uint64_t *words, bshm_hash h)
{
	int answer = -1;
	for (int tries = 0; answer < 0 && tries < BSHM_READ_TRIES; tries++) {
		answer = look(view, words, h);
	}
	return answer != 0;
}

bool bshm__sliding_has(bshm_view *view, const uint64_t *words, bshm_hash h)
{
	const int answer = look(view, words, h);
	return BSHM_LIKELY(answer >= 0) ? answer : look_again(view, words, h);
}

/* ------------------------------------------------------------------ adding */

/* Zeroes the lanes that epochs up to `epoch` take over. Under the lock, or nobody else writes. */
static void turn(uint64_t *epoch_word, uint64_t *words, uint32_t epoch)
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
	/* A process that sees a lane being zeroed, or sets bits in it before, sees that it is being
	 * turned: pairs with look(), add_once(). */
	BSHM_STORE(epoch_word, (uint64_t) newest << 32 | target, RELAXED);
	BSHM_FENCE(SEQ_CST);
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		if ((BSHM_LOAD(&words[i], RELAXED) & stale) != 0) {
			BSHM_AND(&words[i], ~stale, RELAXED); /* others set bits of the other lanes */
		}
	}
	BSHM_STORE(epoch_word, resting(target), RELEASE); /* pairs with add_once(), look() */
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

/* Turns a published filter's partition, if it still is the filter's. */
static bshm_status turn_published(bshm_segment *segment, const bshm_view *view,
	uint64_t *epoch_word, uint64_t *words, uint32_t epoch, bshm_error *error)
{
	const bshm_status status = bshm__lock(segment, BSHM_LOCK_PAGE_NS, error);
	if (status == BSHM_OK) {
		if (bshm__view_current(view)) {
			turn(epoch_word, words, epoch);
		}
		bshm__unlock(segment);
	}
	return status;
}

/* One attempt: 1 = done, 0 = the partition was turned meanwhile. */
static int add_once(bshm_segment *segment, const bshm_view *view, uint64_t *words, bshm_hash h,
	bool *had, bshm_error *error)
{
	uint64_t *epoch_word = bshm__epoch_word(segment, words);
	const uint32_t epoch = bshm__epoch_now(segment, &view->descriptor);
	uint64_t word = BSHM_LOAD(epoch_word, ACQUIRE); /* pairs with turn(): the lane is clean */
	if (!at_rest(word) || (int32_t) (newest_of(word) - epoch) < 0) {
		const bshm_status status = turn_published(segment, view, epoch_word, words, epoch, error);
		if (status != BSHM_OK) {
			return status;
		}
		word = BSHM_LOAD(epoch_word, ACQUIRE); /* pairs with turn() */
	}
	const uint32_t lanes = lanes_with(words, h, view->newest.hash_count);
	*had |= (lanes & bshm__lanes_live(word, epoch)) != 0;
	set_lane(words, h, view->newest.hash_count, newest_of(word) % BSHM_LANES);
	/* Pairs with turn(): either we see that the lane is being zeroed, or our bits came after. */
	BSHM_FENCE(SEQ_CST);
	return (BSHM_LOAD(epoch_word, RELAXED) == word &&
			   bshm__epoch_now(segment, &view->descriptor) == epoch) ||
		   !bshm__view_current(view);
}

int bshm__sliding_add(bshm_segment *segment, const bshm_view *view, bshm_hash h, bshm_error *error)
{
	uint64_t *words = bshm__parts_of(&view->newest, h);
	bool had = false;
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		bool found = false;
		const int status = add_once(segment, view, words, h, &found, error);
		had |= tries == 0 && found; /* later it finds itself */
		if (status != 0) {
			return status < 0 ? status : !had;
		}
	}
	return bshm__fail(error, BSHM_E_TIMEOUT, BSHM_CAUSE_EPOCH);
}

bool bshm__sliding_put(const bshm_view *view, bshm_hash h)
{
	uint64_t *words = bshm__parts_of(&view->newest, h);
	uint64_t *epoch_word = bshm__epoch_word(view->segment, words);
	const uint32_t epoch = bshm__epoch_now(view->segment, &view->descriptor);
	turn(epoch_word, words, epoch);
	const uint64_t word = BSHM_LOAD(epoch_word, RELAXED);
	const uint32_t had =
		lanes_with(words, h, view->newest.hash_count) & bshm__lanes_live(word, epoch);
	set_lane(words, h, view->newest.hash_count, newest_of(word) % BSHM_LANES);
	return had == 0;
}

/* ------------------------------------------------------------------ copying */

void bshm__lanes_reset(const bshm_segment *segment, const uint64_t *partition)
{
	BSHM_STORE(bshm__epoch_word(segment, partition), resting(BSHM_EPOCH_FIRST), RELAXED);
}

/*
 * Where the live lanes of a partition with this word go, in a filter whose epoch is `present` and
 * is `shift` more than the own one. Newer lanes than the present one go there too: it outlives every
 * key that was added until now.
 */
static void place_lanes(
	uint64_t word, uint32_t live, uint32_t shift, uint32_t present, uint8_t place[4])
{
	for (uint32_t lane = 0; lane < BSHM_LANES; lane++) {
		const uint32_t own = newest_of(word) - (newest_of(word) - lane) % BSHM_LANES;
		const int32_t ahead = (int32_t) (own + shift - present);
		const uint32_t there = ahead < 0 ? own + shift : present;
		const bool goes = (live >> lane & 1) != 0 && ahead > -(int32_t) BSHM_LANES;
		place[lane] = goes ? (uint8_t) (there % BSHM_LANES) : BSHM_LANES;
	}
}

/*
 * How many more epochs `to` has had than `from`. Both have epochs of the same length, but they may
 * begin within each other: a lane goes to the epoch that begins with it or next after it, for its
 * keys must live as long as they would have.
 */
static uint32_t epochs_apart(const bshm_view *to, const bshm_view *from)
{
	const int64_t width = (int64_t) bshm__epoch_width(to->descriptor.window_s);
	const int64_t apart = (int64_t) (from->descriptor.origin_ns - to->descriptor.origin_ns);
	return (uint32_t) (apart / width + (apart % width > 0)) + to->descriptor.epoch_base -
		   from->descriptor.epoch_base;
}

static void merge_words(uint64_t *to, const uint64_t *from, const uint8_t place[4])
{
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		const uint64_t word = BSHM_LOAD(&from[i], RELAXED);
		uint64_t moved = BSHM_LOAD(&to[i], RELAXED);
		for (uint32_t lane = 0; lane < BSHM_LANES; lane++) {
			if (place[lane] < BSHM_LANES) {
				moved |= (word >> lane & LANE_LOW) << place[lane];
			}
		}
		BSHM_STORE(&to[i], moved, RELAXED);
	}
}

void bshm__lanes_merge(
	const bshm_view *to, uint64_t *to_words, const bshm_view *from, const uint64_t *from_words)
{
	const uint64_t *from_epoch = bshm__epoch_word(from->segment, from_words);
	uint64_t *to_epoch = bshm__epoch_word(to->segment, to_words);
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		const uint64_t word = BSHM_LOAD(from_epoch, ACQUIRE); /* pairs with turn() */
		const uint32_t epoch = bshm__epoch_now(from->segment, &from->descriptor);
		const uint32_t present = bshm__epoch_now(to->segment, &to->descriptor);
		uint8_t place[BSHM_LANES];
		place_lanes(word, bshm__lanes_live(word, epoch), epochs_apart(to, from), present, place);
		turn(to_epoch, to_words, present);
		merge_words(to_words, from_words, place);
		BSHM_FENCE(ACQUIRE); /* pairs with turn() */
		if (BSHM_LOAD(from_epoch, RELAXED) == word) {
			return;
		}
		/* It was turned meanwhile. Merging once more can only add keys that were just live. */
	}
}

void bshm__lanes_export(
	uint64_t *to, const bshm_view *from, const uint64_t *from_words, uint32_t epoch)
{
	const uint64_t *from_epoch = bshm__epoch_word(from->segment, from_words);
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		to[i] = 0;
	}
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		const uint64_t word = BSHM_LOAD(from_epoch, ACQUIRE); /* pairs with turn() */
		const uint32_t shift = BSHM_EPOCH_FIRST - epoch;
		uint8_t place[BSHM_LANES];
		place_lanes(word, bshm__lanes_live(word, epoch), shift, BSHM_EPOCH_FIRST, place);
		merge_words(to, from_words, place);
		BSHM_FENCE(ACQUIRE); /* pairs with turn() */
		if (BSHM_LOAD(from_epoch, RELAXED) == word) {
			return;
		}
	}
}
