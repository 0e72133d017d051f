/*
 * geometry.c - sizes and rates: how many probes, keys a partition and partitions; how the layers
 * of a growing filter share its error; what rate the bits say.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/geometry.h"

#include "core/base.h"
#include "core/filter/partition.h"
#include "core/filter/sliding.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "platform/atomic.h"

#include <math.h>

/* Positions of a partition that a probe can pick. */
static double positions(uint32_t kind)
{
	const bool bits = kind == BSHM_KIND_PLAIN || kind == BSHM_KIND_GROWING;
	return bits ? BSHM_PARTITION_BITS : BSHM_PARTITION_BITS / 4.0;
}

static double partition_limit(uint32_t kind, double error_rate, uint32_t hash_count)
{
	const double k = hash_count;
	return -positions(kind) / k * log1p(-pow(error_rate, 1.0 / k));
}

bshm_geometry bshm__geometry(uint32_t kind, double error_rate, uint64_t capacity, double used)
{
	/* A sliding filter asks four lanes, each of which holds a third of the window's keys. */
	const bool sliding = kind == BSHM_KIND_SLIDING;
	const double rate = sliding ? error_rate / BSHM_LANES : error_rate;
	double best = 0;
	for (uint32_t k = 1; k <= BSHM_HASHES_MAX; k++) {
		best = fmax(best, partition_limit(kind, rate, k));
	}
	/* Six probes are the fastest, and most filters are asked for 1 %. There a growing filter, which
	 * shares its error, and a sliding one, which has four lanes, may be a little larger for it. */
	const double enough = best * (sliding ? 0.95 : kind == BSHM_KIND_GROWING ? 0.985 : 0.99);
	uint32_t hash_count = 1;
	while (hash_count < BSHM_HASHES_MAX && partition_limit(kind, rate, hash_count) < enough) {
		hash_count++;
	}
	const double share = sliding ? BSHM_LANES - 1 : 1;
	const double keys = floor(partition_limit(kind, rate, hash_count) * share * used);
	/* A damaged filter's rate may be no rate, and give any number, or none. */
	const uint32_t keys_per_partition =
		keys >= 1 && keys < BSHM_PARTITION_BITS ? (uint32_t) keys : 1;
	return (bshm_geometry){
		.hash_count = hash_count,
		.keys_per_partition = keys_per_partition,
		.partition_count = capacity / keys_per_partition + (capacity % keys_per_partition != 0),
	};
}

bshm_geometry bshm_geometry_for(double error_rate, uint64_t capacity)
{
	return bshm__geometry(BSHM_KIND_PLAIN, error_rate, capacity, BSHM_USED_FIXED);
}

/* ------------------------------------------------------------------ layers */

/*
 * The share of the error that layers take whose size is more than 2^from, and at most 2^to times
 * the first one's. Whatever the sizes, all shares together stay below 1, and a layer keeps its
 * share for ever: a filter does not know how far it will grow.
 *
 * A filter whose capacity was told will rarely grow far: the first layer has 60 %, and what is left
 * decreases by 35 % with each doubling. A filter that began with one partition, because nothing
 * was known, has most of its growth ahead, and the large layers decide about its size: the share
 * rises by 30 % with each doubling, up to the tenth and eleventh (10 million keys at 1 %), and is
 * halved by each after that.
 */
#define SIZED_FIRST  0.6
#define SIZED_NEXT   0.65
#define SMALL_RISE   1.3
#define SMALL_PEAK   10
#define SMALL_FALL   0.5
#define SMALL_WEIGHT 6.1 /* the sum of all weights, rounded up */

static double small_weight(uint32_t doubling)
{
	return doubling <= SMALL_PEAK       ? pow(SMALL_RISE, (double) doubling - SMALL_PEAK)
		   : doubling == SMALL_PEAK + 1 ? 1
										: pow(SMALL_FALL, doubling - SMALL_PEAK - 1.0);
}

static double small_share(uint32_t from, uint32_t to)
{
	double sum = 0;
	for (uint32_t doubling = from; doubling <= to; doubling++) {
		sum += small_weight(doubling);
	}
	return sum / SMALL_WEIGHT;
}

static double sized_share(uint32_t from, uint32_t to)
{
	return (1 - SIZED_FIRST) * (pow(SIZED_NEXT, from) - pow(SIZED_NEXT, to));
}

static uint32_t log2_floor(uint64_t ratio)
{
	return 63 - (uint32_t) __builtin_clzll(ratio | 1);
}

static bshm_layer layer_of(
	uint32_t kind, double error_rate, double used, uint64_t capacity, uint64_t *partition_count)
{
	const bshm_geometry geometry = bshm__geometry(kind, error_rate, capacity, used);
	*partition_count = geometry.partition_count;
	return (bshm_layer){
		.capacity = capacity,
		.error_rate = bshm__bits(error_rate),
		.hash_count = geometry.hash_count,
	};
}

bshm_layer bshm__layer_first(const bshm_descriptor *descriptor, uint64_t *partition_count)
{
	const double rate = bshm__double(descriptor->error_rate);
	if (descriptor->expansion == 0) {
		return layer_of(
			descriptor->kind, rate, BSHM_USED_FIXED, descriptor->capacity, partition_count);
	}
	if (descriptor->sized != 0) {
		return layer_of(BSHM_KIND_GROWING, rate * SIZED_FIRST, BSHM_USED_GROWING,
			descriptor->capacity, partition_count);
	}
	/* One partition costs what it costs: it is used to the full. */
	const double small = rate * small_share(0, 0);
	const bshm_geometry one = bshm__geometry(BSHM_KIND_GROWING, small, 1, BSHM_USED_GROWING);
	return layer_of(
		BSHM_KIND_GROWING, small, BSHM_USED_GROWING, one.keys_per_partition, partition_count);
}

bool bshm__is_sized(double error_rate, uint64_t capacity)
{
	const double small = error_rate * small_share(0, 0);
	return capacity >
		   bshm__geometry(BSHM_KIND_GROWING, small, 1, BSHM_USED_GROWING).keys_per_partition;
}

bshm_layer bshm__layer_next(const bshm_descriptor *descriptor, const bshm_layer *first,
	const bshm_layer *last, uint64_t *partition_count)
{
	const uint64_t count = (uint64_t) last->run.count * descriptor->expansion;
	const uint32_t from = log2_floor(last->run.count / first->run.count);
	const uint32_t to = log2_floor(count / first->run.count);
	const double share = descriptor->sized != 0 ? sized_share(from, to) : small_share(from + 1, to);
	const double rate = bshm__double(descriptor->error_rate) * share;
	const bshm_geometry one = bshm__geometry(BSHM_KIND_GROWING, rate, 1, BSHM_USED_GROWING);
	return layer_of(BSHM_KIND_GROWING, rate, BSHM_USED_GROWING, one.keys_per_partition * count,
		partition_count);
}

/* ------------------------------------------------------------------ rates */

typedef struct {
	double fill;
	double mean;
	double worst;
	double items;
} rates;

/* How many keys set a share of `fill` of the positions (Swamidass and Baldi 2007). */
static double keys_of(uint32_t kind, double fill, uint32_t hash_count)
{
	const double m = positions(kind);
	const double most = 1 - 0.5 / m; /* all set: as if half of one were not */
	return -m / hash_count * log1p(-fmin(fill, most));
}

static void add_rate(rates *sum, double fill, double rate, double items)
{
	sum->fill += fill;
	sum->mean += rate;
	sum->items += items;
	sum->worst = fmax(sum->worst, rate);
}

static void add_plain(rates *sum, const uint64_t *words, uint32_t hash_count)
{
	const double fill = bshm__partition_popcount(words) / (double) BSHM_PARTITION_BITS;
	add_rate(sum, fill, pow(fill, hash_count), keys_of(BSHM_KIND_PLAIN, fill, hash_count));
}

/*
 * The rate of the first six probes: two, one after the other, are asked of each of three words of
 * a line, each word and each of its bits as likely as any other.
 */
static double line_rate(const uint64_t *line, uint32_t hash_count, uint32_t *bits)
{
	double one = 0;
	double two = 0;
	for (uint32_t i = 0; i < BSHM_LINE_WORDS; i++) {
		const int count = __builtin_popcountll(BSHM_LOAD(&line[i], RELAXED));
		const double fill = count / 64.0;
		one += fill / BSHM_LINE_WORDS;
		two += fill * fill / BSHM_LINE_WORDS;
		*bits += (uint32_t) count;
	}
	double rate = 1;
	for (uint32_t i = 0; i < BSHM_LINE_PROBES; i += 2) {
		rate *= hash_count > i + 1 ? two : hash_count > i ? one : 1;
	}
	return rate;
}

static void add_growing(rates *sum, const uint64_t *words, uint32_t hash_count)
{
	double lines = 0;
	uint32_t bits = 0;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i += BSHM_LINE_WORDS) {
		lines += line_rate(&words[i], hash_count, &bits);
	}
	const double fill = bits / (double) BSHM_PARTITION_BITS;
	double rate = lines * BSHM_LINE_WORDS / BSHM_PARTITION_WORDS;
	if (hash_count > BSHM_LINE_PROBES) {
		rate *= pow(fill, hash_count - BSHM_LINE_PROBES);
	}
	add_rate(sum, fill, rate, keys_of(BSHM_KIND_GROWING, fill, hash_count));
}

#define CELL_LOW UINT64_C(0x1111111111111111)

static void add_counting(rates *sum, const uint64_t *words, uint32_t hash_count)
{
	uint32_t used = 0;
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		const uint64_t word = BSHM_LOAD(&words[i], RELAXED);
		used +=
			(uint32_t) __builtin_popcountll((word | word >> 1 | word >> 2 | word >> 3) & CELL_LOW);
	}
	const double fill = used / positions(BSHM_KIND_COUNTING);
	add_rate(sum, fill, pow(fill, hash_count), keys_of(BSHM_KIND_COUNTING, fill, hash_count));
}

/* How many positions have all lanes of a set in them, for each of the sets of live lanes. */
static void count_lanes(const uint64_t *words, uint32_t live, uint32_t counts[16])
{
	for (uint32_t set = 1; set < 16; set++) {
		counts[set] = 0;
	}
	for (uint32_t i = 0; i < BSHM_PARTITION_WORDS; i++) {
		const uint64_t word = BSHM_LOAD(&words[i], RELAXED);
		uint64_t all[16] = {CELL_LOW};
		for (uint32_t set = 1; set < 16; set++) {
			const uint32_t lane = (uint32_t) __builtin_ctz(set);
			all[set] = (live >> lane & 1) == 0 ? 0 : all[set & (set - 1)] & word >> lane;
			counts[set] += (uint32_t) __builtin_popcountll(all[set]);
		}
	}
}

/* By inclusion and exclusion over the sets: a key is found if one lane has all of its positions. */
static void add_sliding(rates *sum, const uint64_t *words, uint32_t live, uint32_t hash_count)
{
	const double m = positions(BSHM_KIND_SLIDING);
	uint32_t counts[16];
	count_lanes(words, live, counts);
	double rate = 0;
	double any = 0;
	double fill = 0;
	double items = 0;
	for (uint32_t set = 1; set < 16; set++) {
		const double share = counts[set] / m;
		const double sign = __builtin_popcount(set) % 2 != 0 ? 1 : -1;
		rate += sign * pow(share, hash_count);
		any += sign * share;
		if ((set & (set - 1)) == 0) {
			fill += share;
			items += keys_of(BSHM_KIND_SLIDING, share, hash_count);
		}
	}
	/* A key that was refreshed is in several lanes: in their union it is one. */
	const double different = keys_of(BSHM_KIND_SLIDING, any, hash_count);
	const int lanes = __builtin_popcount(live);
	add_rate(sum, lanes == 0 ? 0 : fill / lanes, fmax(rate, 0), fmin(items, different));
}

static rates rates_of(const bshm_view *view, const bshm__parts *parts)
{
	const uint32_t kind = view->descriptor.kind;
	const uint32_t epoch =
		kind == BSHM_KIND_SLIDING ? bshm__epoch_now(view->segment, &view->descriptor) : 0;
	rates sum = {0};
	for (uint32_t i = 0; i < parts->partition_count; i++) {
		const uint64_t *words = bshm__parts_at(parts, i);
		if (kind == BSHM_KIND_PLAIN) {
			add_plain(&sum, words, parts->hash_count);
		} else if (kind == BSHM_KIND_GROWING) {
			add_growing(&sum, words, parts->hash_count);
		} else if (kind == BSHM_KIND_COUNTING) {
			add_counting(&sum, words, parts->hash_count);
		} else {
			/* Pairs with turn(). */
			const uint64_t word = BSHM_LOAD(bshm__epoch_word(view->segment, words), ACQUIRE);
			add_sliding(&sum, words, bshm__lanes_live(word, epoch), parts->hash_count);
		}
	}
	sum.fill /= parts->partition_count;
	sum.mean /= parts->partition_count;
	return sum;
}

double bshm__layer_items(const bshm_view *view, uint32_t layer)
{
	return rates_of(view, bshm__view_layer(view, layer)).items;
}

static bshm_type type_of(const bshm_descriptor *descriptor)
{
	return descriptor->kind == BSHM_KIND_SLIDING    ? BSHM_SLIDING
		   : descriptor->kind == BSHM_KIND_COUNTING ? BSHM_COUNTING
		   : descriptor->expansion != 0             ? BSHM_SCALABLE
													: BSHM_FIXED;
}

static void add_layer(bshm_info *info, const bshm_view *view, const bshm_layer *layers, uint32_t i)
{
	const bshm__parts *parts = bshm__view_layer(view, i);
	const rates r = rates_of(view, parts);
	if (view->descriptor.kind == BSHM_KIND_SLIDING) {
		info->items = (uint64_t) llround(r.items);
	}
	const uint64_t before = layers[i].items_before;
	const uint64_t until = i == view->older_count ? info->items : layers[i + 1].items_before;
	bshm_layer_info *layer = &info->layers[info->layer_count++];
	*layer = (bshm_layer_info){
		.capacity = layers[i].capacity,
		.items = until > before ? until - before : 0,
		.error_rate = bshm__double(layers[i].error_rate),
		.hash_count = parts->hash_count,
		.partition_count = parts->partition_count,
		.bytes = (uint64_t) parts->partition_count * BSHM_PARTITION_BYTES,
		.fill = r.fill,
		.estimated_error_rate = r.mean,
	};
	info->fill += r.fill * parts->partition_count;
	info->partition_count += parts->partition_count;
	info->bytes += layer->bytes;
	info->estimated_error_rate += (1 - info->estimated_error_rate) * r.mean;
	info->worst_partition_error_rate += (1 - info->worst_partition_error_rate) * r.worst;
	info->capacity += info->type == BSHM_SCALABLE ? layer->capacity : 0;
}

bshm_info bshm__info_of(const bshm_view *view, const bshm_layer *layers, uint64_t items)
{
	const bshm_descriptor *descriptor = &view->descriptor;
	const bshm_type type = type_of(descriptor);
	bshm_info info = {
		.type = type,
		.error_rate = bshm__double(descriptor->error_rate),
		.capacity = type == BSHM_SCALABLE ? 0 : descriptor->capacity,
		.items = items,
		.expansion = descriptor->expansion,
		.window_s = descriptor->window_s,
		.hash_count = view->newest.hash_count,
		.generation = descriptor->generation,
		.published_s = bshm__double(descriptor->published_s),
	};
	for (uint32_t i = 0; i <= view->older_count; i++) {
		add_layer(&info, view, layers, i);
	}
	info.fill /= info.partition_count;
	return info;
}
