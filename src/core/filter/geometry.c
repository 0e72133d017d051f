/*
 * geometry.c - sizes and rates: how many probes, keys a partition and partitions.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"
#include "core/core.h"

#include <math.h>

/* Part of a partition's limit that is used: see bshm_geometry_for(). */
#define USED_SHARE 0.955

static double partition_limit(double error_rate, uint32_t hash_count)
{
	const double k = hash_count;
	return -(double) BSHM_PARTITION_BITS / k * log1p(-pow(error_rate, 1.0 / k));
}

bshm_geometry bshm_geometry_for(double error_rate, uint64_t capacity)
{
	double best = 0;
	for (uint32_t k = 1; k <= BSHM_HASHES_MAX; k++) {
		best = fmax(best, partition_limit(error_rate, k));
	}
	uint32_t hash_count = 1;
	while (hash_count < BSHM_HASHES_MAX && partition_limit(error_rate, hash_count) < best * 0.99) {
		hash_count++;
	}
	const double keys = floor(partition_limit(error_rate, hash_count) * USED_SHARE);
	const uint32_t keys_per_partition = keys < 1 ? 1 : (uint32_t) keys;
	return (bshm_geometry){
		.hash_count = hash_count,
		.keys_per_partition = keys_per_partition,
		.partition_count = capacity / keys_per_partition + (capacity % keys_per_partition != 0),
	};
}

bshm__rates bshm__view_rates(const bshm_view *view)
{
	bshm__rates rates = {0};
	for (uint32_t i = 0; i < view->partition_count; i++) {
		const double fill =
			bshm__partition_popcount(bshm__view_partition(view, i)) / (double) BSHM_PARTITION_BITS;
		const double rate = pow(fill, view->hash_count);
		rates.fill += fill;
		rates.mean += rate;
		rates.worst = fmax(rates.worst, rate);
	}
	rates.fill /= view->partition_count;
	rates.mean /= view->partition_count;
	return rates;
}

bshm_info bshm__info_of(const bshm_view *view, const bshm_descriptor *descriptor, uint64_t items)
{
	const bshm__rates rates = bshm__view_rates(view);
	return (bshm_info){
		.error_rate = bshm__double(descriptor->error_rate),
		.capacity = descriptor->capacity,
		.items = items,
		.expansion = descriptor->expansion,
		.window_s = descriptor->window_s,
		.hash_count = view->hash_count,
		.partition_count = view->partition_count,
		.bytes = (uint64_t) view->partition_count * BSHM_PARTITION_BYTES,
		.fill = rates.fill,
		.estimated_error_rate = rates.mean,
		.worst_partition_error_rate = rates.worst,
		.generation = descriptor->generation,
		.published_s = bshm__double(descriptor->published_s),
	};
}
