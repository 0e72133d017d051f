/*
 * lay.c - lays a view over the layers of a filter.
 *
 * A view is a private copy of the descriptor and the layers. What a process reads through it is
 * valid only if bshm_view_current() says so afterwards: partitions are zeroed, or given to another
 * filter, only after the generation has moved (directory.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/lay.h"

#include "core/filter/kind.h"
#include "core/filter/lag.h"
#include "core/filter/view.h"
#include "core/hash.h"
#include "core/segment/run.h"
#include "core/segment/segment.h"

#include <stdlib.h>

/* Where a run's partitions are: OK, NO_SPACE or CORRUPT. */
static bshm_status lay_bits(
	const bshm_segment *segment, const bshm_layer *layer, bshm__parts *parts)
{
	const bshm_run *run = &layer->run;
	uint32_t *map = NULL;
	if (!bshm__run_in_bounds(segment, run)) {
		return BSHM_E_CORRUPT;
	}
	if (run->check != 0) {
		map = malloc(sizeof(*map) * run->count);
		if (map == NULL) {
			return BSHM_E_NO_SPACE;
		}
		if (!bshm__run_walk(segment, run, map, NULL)) {
			free(map);
			return BSHM_E_CORRUPT;
		}
	}
	const size_t first = map == NULL ? run->first : 0;
	*parts = (bshm__parts){
		.partitions = segment->partitions + first * BSHM_PARTITION_BYTES,
		.map = map,
		.partition_count = run->count,
		.hash_count = layer->hash_count,
	};
	return BSHM_OK;
}

static uint32_t path_of(const bshm_descriptor *descriptor)
{
	return descriptor->newest.hash_count + (descriptor->kind << 8) +
		   ((descriptor->layer_count - 1) << 16) +
		   (descriptor->max_lag_s != 0 ? BSHM_PATH_FOLLOWED : 0);
}

bshm_status bshm__view_lay(const bshm_segment *segment, bshm_view *view,
	const bshm_descriptor *descriptor, const bshm_layer *layers)
{
	const uint32_t older = descriptor->layer_count - 1;
	*view = (bshm_view){
		.segment = segment,
		.generation = descriptor->generation,
		.seed = descriptor->seed,
		.kind = bshm__kinds[descriptor->kind],
		.descriptor = *descriptor,
	};
	bshm_status status = lay_bits(segment, &layers[older], &view->newest);
	if (status == BSHM_OK && older != 0) {
		view->older = calloc(older, sizeof(*view->older));
		status = view->older == NULL ? BSHM_E_NO_SPACE : BSHM_OK;
	}
	while (status == BSHM_OK && view->older_count < older) {
		const uint32_t i = view->older_count;
		status = lay_bits(segment, &layers[older - 1 - i], &view->older[i]);
		view->older_count += status == BSHM_OK;
	}
	view->path = path_of(descriptor);
	view->has = descriptor->max_lag_s != 0 ? bshm__followed_has : view->kind->has;
	view->line_probes = BSHM_LINE_PROBES;
	for (uint32_t i = 0; i <= older; i++) {
		const uint32_t hash_count = layers[i].hash_count;
		view->line_probes = hash_count < view->line_probes ? hash_count : view->line_probes;
	}
	if (status != BSHM_OK) {
		bshm__view_release(view);
	}
	return status;
}

void bshm__view_release(bshm_view *view)
{
	for (uint32_t i = 0; i < view->older_count; i++) {
		free(view->older[i].map);
	}
	free(view->older);
	free(view->newest.map);
	*view = (bshm_view){0};
}

void bshm_view_runs(const bshm_view *view, bshm_run_told told, void *context)
{
	uint64_t first = 0;
	uint64_t count = 0;
	for (uint32_t i = 0; i <= view->older_count; i++) {
		const bshm__parts *parts = bshm__view_layer(view, i);
		for (uint32_t k = 0; k < parts->partition_count; k++) {
			const uint8_t *partition = (const uint8_t *) bshm__parts_at(parts, k);
			const uint64_t at =
				(uint64_t) (partition - view->segment->partitions) / BSHM_PARTITION_BYTES;
			if (count != 0 && at == first + count) {
				count++;
				continue;
			}
			if (count != 0) {
				told(context, first, count);
			}
			first = at;
			count = 1;
		}
	}
	told(context, first, count);
}
