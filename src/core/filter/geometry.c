/*
 * geometry.c - sizes and rates.
 *
 * How many probes, keys a partition and partitions a filter has; how the layers of a growing filter
 * share its error rate; which rate follows from the bits that are set.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/geometry.h"

#include "core/base.h"
#include "core/filter/kind.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "platform/atomic.h"

#include <math.h>

static double partition_limit(const bshm__kind *kind, double error_rate, uint32_t hash_count)
{
	const double k = hash_count;
	return -kind->positions / k * log1p(-pow(error_rate, 1.0 / k));
}

bshm_geometry bshm__geometry(const bshm__kind *kind, double error_rate, uint64_t capacity)
{
	/* A question reads all lanes, so each lane has only a share of the error rate. With four lanes,
	 * each holds a third of the keys of the window. */
	const double rate = error_rate / kind->lanes;
	const double spread = kind->lanes == 1 ? 1 : kind->lanes - 1;
	double best = 0;
	for (uint32_t k = 1; k <= BSHM_HASHES_MAX; k++) {
		best = fmax(best, partition_limit(kind, rate, k));
	}
	const double enough = best * kind->near_best;
	uint32_t hash_count = 1;
	while (hash_count < BSHM_HASHES_MAX && partition_limit(kind, rate, hash_count) < enough) {
		hash_count++;
	}
	const double keys = floor(partition_limit(kind, rate, hash_count) * spread * kind->used);
	/* The rate in a damaged filter may be any number, or not a number. */
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
	return bshm__geometry(&bshm__plain, error_rate, capacity);
}

/* ------------------------------------------------------------------ layers */

/*
 * How far a filter will grow is not known, and a layer keeps its share of the error rate for ever.
 * So each doubling of the size has a fixed share, and all shares together stay below 1. A layer
 * whose size is more than 2^from and at most 2^to times that of the first has the shares in
 * between.
 *
 * A filter with a given capacity rarely grows far: its first layer has 60 % of the error rate, and
 * each doubling has 35 % less than the one before. A filter without one begins with one partition,
 * and most of its growth is ahead: its large layers decide about its size. So the share rises by 30
 * % with each doubling, up to the tenth and eleventh (10 million keys at 1 %), and is halved with
 * each doubling after that.
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
	return BSHM_HIGHEST_BIT(ratio | 1);
}

static bshm_layer layer_of(
	const bshm__kind *kind, double error_rate, uint64_t capacity, uint64_t *partition_count)
{
	const bshm_geometry geometry = bshm__geometry(kind, error_rate, capacity);
	*partition_count = geometry.partition_count;
	return (bshm_layer){
		.capacity = capacity,
		.error_rate = bshm__bits(error_rate),
		.hash_count = geometry.hash_count,
	};
}

bshm_layer bshm__layer_first(const bshm_descriptor *descriptor, uint64_t *partition_count)
{
	const bshm__kind *kind = bshm__kinds[descriptor->kind];
	const double rate = bshm__double(descriptor->error_rate);
	if (descriptor->expansion == 0) {
		return layer_of(kind, rate, descriptor->capacity, partition_count);
	}
	if (descriptor->sized != 0) {
		return layer_of(kind, rate * SIZED_FIRST, descriptor->capacity, partition_count);
	}
	/* The smallest filter has one partition: use all of it. */
	const double small = rate * small_share(0, 0);
	const bshm_geometry one = bshm__geometry(kind, small, 1);
	return layer_of(kind, small, one.keys_per_partition, partition_count);
}

bool bshm__is_sized(const bshm__kind *kind, double error_rate, uint64_t capacity)
{
	const double small = error_rate * small_share(0, 0);
	return capacity > bshm__geometry(kind, small, 1).keys_per_partition;
}

bshm_layer bshm__layer_next(const bshm_descriptor *descriptor, const bshm_layer *first,
	const bshm_layer *last, uint64_t *partition_count)
{
	const bshm__kind *kind = bshm__kinds[descriptor->kind];
	const uint64_t count = (uint64_t) last->run.count * descriptor->expansion;
	const uint32_t from = log2_floor(last->run.count / first->run.count);
	const uint32_t to = log2_floor(count / first->run.count);
	const double share = descriptor->sized != 0 ? sized_share(from, to) : small_share(from + 1, to);
	const double rate = bshm__double(descriptor->error_rate) * share;
	const bshm_geometry one = bshm__geometry(kind, rate, 1);
	return layer_of(kind, rate, one.keys_per_partition * count, partition_count);
}

/* ------------------------------------------------------------------ rates */

typedef struct {
	double fill;
	double mean;
	double worst;
	double items;
} layer_rates;

static uint32_t epoch_of(const bshm_view *view)
{
	const bshm__kind *kind = view->kind;
	return kind->now == NULL ? 0 : kind->now(view->segment, &view->descriptor).epoch;
}

void bshm_view_fills(const bshm_view *view, bshm_fill_told told, void *context)
{
	const uint32_t epoch = epoch_of(view);
	for (uint32_t i = 0; i <= view->older_count; i++) {
		const bshm__parts *parts = bshm__view_layer(view, i);
		for (uint32_t k = 0; k < parts->partition_count; k++) {
			told(context,
				view->kind->rate(view, bshm__parts_at(parts, k), parts->hash_count, epoch).fill);
		}
	}
}

/* Of at most so many partitions of a layer, which are spread over it. */
static layer_rates rates_of(const bshm_view *view, const bshm__parts *parts, uint32_t most)
{
	const bshm__kind *kind = view->kind;
	const uint32_t epoch = epoch_of(view);
	const uint32_t all = parts->partition_count;
	const uint32_t count = all < most ? all : most;
	layer_rates sum = {0};
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t at = (uint32_t) ((uint64_t) i * all / count);
		const bshm__rates one =
			kind->rate(view, bshm__parts_at(parts, at), parts->hash_count, epoch);
		sum.fill += one.fill;
		sum.mean += one.rate;
		sum.items += one.items;
		sum.worst = fmax(sum.worst, one.rate);
	}
	sum.fill /= count;
	sum.mean /= count;
	sum.items *= (double) all / count;
	return sum;
}

double bshm__layer_items(const bshm_view *view, uint32_t layer)
{
	return rates_of(view, bshm__view_layer(view, layer), UINT32_MAX).items;
}

static void add_layer(
	bshm_info *info, const bshm_view *view, const bshm_layer *layers, uint32_t i, uint32_t most)
{
	const bshm__parts *parts = bshm__view_layer(view, i);
	const layer_rates r = rates_of(view, parts, most);
	if (view->descriptor.window_s != 0) {
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
	info->capacity += info->expansion != 0 ? layer->capacity : 0;
}

bshm_info bshm__info_of(
	const bshm_view *view, const bshm_layer *layers, uint64_t items, uint32_t most)
{
	const bshm_descriptor *descriptor = &view->descriptor;
	bshm_info info = {
		.type = view->kind->type,
		.error_rate = bshm__double(descriptor->error_rate),
		.capacity = descriptor->expansion != 0 ? 0 : descriptor->capacity,
		.items = items,
		.expansion = descriptor->expansion,
		.window_s = descriptor->window_s,
		.hash_count = view->newest.hash_count,
		.generation = descriptor->generation,
		.published_s = bshm__double(descriptor->published_s),
	};
	for (uint32_t i = 0; i <= view->older_count; i++) {
		add_layer(&info, view, layers, i, most);
	}
	info.fill /= info.partition_count;
	return info;
}
