/*
 * image.c - builds that begin with a whole filter: keys that are added to it.
 *
 * A restore (filter_file.c) has filled the partitions of the build with the bits of a file. Keys
 * are added to these at once, so no hash is set aside. They are private to the build, but the rules
 * are those of an add to a published filter (add.c): a key that is maybe there takes no room, a
 * filter of fixed size gets full, and one that grows gets a layer.
 *
 * Keys from the journal are added in any case, as a restore without further keys adds them: their
 * adds have returned. So are those of other hosts, whose adds have returned there.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/image.h"

#include "core/filter/build.h"
#include "core/filter/geometry.h"
#include "core/filter/kind.h"
#include "core/filter/view.h"
#include "core/status.h"

/* The next layer of the filter: its partitions are taken, and zeroed. */
static bshm_status grow(bshm_build *build, bshm_error *error)
{
	bshm_descriptor *d = &build->descriptor;
	const uint32_t count = d->layer_count;
	uint64_t partitions;
	const bshm_layer next =
		bshm__layer_next(d, &build->layers[0], &build->layers[count - 1], &partitions);
	if (count == BSHM_LAYERS_MAX || partitions > build->segment->partition_count) {
		return bshm__build_fail_size(build, partitions, error);
	}
	build->layers[count] = next;
	build->layers[count].items_before = build->items;
	build->layers[count].run.count = (uint32_t) partitions;
	const bshm_status status = bshm__build_extend(build, error);
	if (status == BSHM_OK) {
		bshm__build_zero(build, count);
	}
	return status;
}

bshm_status bshm__image_put(bshm_build *build, bshm_hash h, bool anyway, bshm_error *error)
{
	const bshm_descriptor *d = &build->descriptor;
	const bshm_layer *newest = &build->layers[d->layer_count - 1];
	const bshm__kind *kind = build->view.kind;
	const bool ages = kind->now != NULL;
	const bool absent = !kind->has(&build->view, bshm__parts_of(&build->view.newest, h), h);
	if (!absent && !ages && kind->count == NULL) {
		return BSHM_OK;
	}
	if (absent && !ages && build->items >= newest->items_before + newest->capacity) {
		bshm_status status = BSHM_OK;
		if (d->expansion != 0) {
			status = grow(build, error);
		} else if (!anyway) {
			status = bshm__fail_sizes(
				error, BSHM_E_FULL, BSHM_CAUSE_CAPACITY, build->items + 1, d->capacity);
		}
		if (status != BSHM_OK) {
			return status;
		}
	}
	build->items += kind->put(&build->view, &h, 1, true);
	return BSHM_OK;
}

bshm_status bshm__image_measure(
	const bshm_build *build, double max_error_rate, bshm_info *out, bshm_error *error)
{
	if (out == NULL) {
		return BSHM_OK;
	}
	*out = bshm__info_of(&build->view, build->layers, build->items, UINT32_MAX);
	return out->estimated_error_rate <= max_error_rate
			   ? BSHM_OK
			   : bshm__build_fail_rate(build->items, out, max_error_rate, error);
}
