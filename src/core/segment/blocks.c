/*
 * blocks.c - finds free partitions, and takes some.
 *
 * There is no free list that could be damaged: a partition is in use exactly when a sound
 * descriptor in force, or a live op, claims it. To take partitions, a process collects these claims
 * in a private bitmap, under the lock, and writes its own claim into its op. A process that dies at
 * any moment leaves at most an op whose claim no longer counts.
 *
 * Neighbouring partitions are preferred, because a question then computes the address of a
 * partition, and needs no table. If the free partitions are scattered, links[] joins them to a run:
 * the word of each partition names the next one, and the descriptor has a checksum of their
 * numbers. So all free partitions can be used, and no partition is ever moved.
 *
 * A search reads the descriptors of all filters. If it finds too few free partitions, it notes that
 * (space.c).
 *
 * A damaged descriptor claims nothing. Its filter is unpublished before its partitions can be given
 * to another filter: a worker that resolved it while it was sound must not take the bits of the
 * other filter for its own.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/blocks.h"

#include "core/segment/directory.h"
#include "core/segment/name.h"
#include "core/segment/ops.h"
#include "core/segment/run.h"
#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "core/segment/space.h"
#include "platform/atomic.h"

#include <stdlib.h>
#include <string.h>

static size_t map_bytes(const bshm_segment *segment)
{
	return ((size_t) segment->partition_count + 63) / 64 * sizeof(uint64_t);
}

uint64_t *bshm__blocks_map(const bshm_segment *segment)
{
	return malloc(map_bytes(segment));
}

/* Claims the partitions of all layers; false: one of them is damaged. */
static bool claim_layers(
	bshm_segment *segment, const bshm_descriptor *descriptor, uint64_t *claimed)
{
	bshm_layer layers[BSHM_LAYERS_MAX];
	bool sound = bshm__layers_read(segment, descriptor, layers);
	for (uint32_t i = 0; sound && i < descriptor->layer_count; i++) {
		sound = bshm__run_walk(segment, &layers[i].run, NULL, claimed);
	}
	return sound;
}

static void claim_all(bshm_segment *segment, uint64_t *claimed, bool locked)
{
	memset(claimed, 0, map_bytes(segment));
	for (uint32_t i = 0; i < segment->entry_count; i++) {
		const bshm_entry *entry = &segment->entries[i];
		/* Pairs with put_in_force(). */
		const uint64_t generation = BSHM_LOAD(&entry->generation, ACQUIRE);
		if (generation == 0) {
			continue;
		}
		const bshm_descriptor descriptor = bshm__descriptor_read(entry, generation);
		const bshm__name name = bshm__entry_name(entry);
		const bool sound =
			bshm__descriptor_sound(segment, &name, &descriptor, generation) &&
			(descriptor.state == BSHM_STATE_ABSENT || claim_layers(segment, &descriptor, claimed));
		if (!sound && locked) {
			BSHM_ADD(&segment->header->repairs, 1, RELAXED);
			bshm__entry_drop(segment, i);
		}
	}
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		/* A copy, so that the run that is walked is the one that was checked. */
		const bshm_op op = bshm__op_read(&segment->ops[i]);
		if (op.entry != 0 && bshm__op_sound(segment, &op)) {
			bshm__run_walk(segment, &op.run, NULL, claimed);
		}
	}
}

/* The first partition from `at` on that is claimed, or is not; else how many partitions there
 * are. */
static uint32_t find(const bshm_segment *segment, const uint64_t *claimed, uint32_t at, bool wanted)
{
	while (at < segment->partition_count) {
		const uint64_t word = (wanted ? claimed[at / 64] : ~claimed[at / 64]) >> (at % 64);
		if (word != 0) {
			at += BSHM_LOWEST_BIT(word);
			break;
		}
		at = (at / 64 + 1) * 64;
	}
	return at < segment->partition_count ? at : segment->partition_count;
}

bshm__space bshm__blocks_survey(bshm_segment *segment, uint64_t *claimed, bool locked)
{
	claim_all(segment, claimed, locked);
	bshm__space space = {0};
	uint32_t end = 0;
	while (end < segment->partition_count) {
		const uint32_t begin = find(segment, claimed, end, false);
		end = find(segment, claimed, begin, true);
		space.free += end - begin;
		space.largest = end - begin > space.largest ? end - begin : space.largest;
	}
	return space;
}

/* The smallest hole of neighbours that holds `count`, so that large holes stay large. */
static uint32_t best_hole(const bshm_segment *segment, const uint64_t *claimed, uint32_t count)
{
	uint32_t best = 0;
	uint32_t best_length = UINT32_MAX;
	uint32_t end = 0;
	while (end < segment->partition_count) {
		const uint32_t begin = find(segment, claimed, end, false);
		end = find(segment, claimed, begin, true);
		if (end - begin >= count && end - begin < best_length) {
			best = begin;
			best_length = end - begin;
		}
	}
	return best;
}

/* Strings the first `count` free partitions together. */
static bshm_run string_together(bshm_segment *segment, uint32_t count, const uint64_t *claimed)
{
	bshm_run run = {0, count, segment->name_seed};
	uint32_t last = 0;
	uint32_t found = 0;
	for (uint32_t i = 0; found < count; i++) {
		i = find(segment, claimed, i, false);
		if (found == 0) {
			run.first = i;
		} else {
			BSHM_STORE(&segment->links[last], i, RELAXED);
		}
		run.check = bshm__run_check_step(run.check, i);
		last = i;
		found++;
	}
	run.check = bshm__run_check_end(run.check);
	return run;
}

bool bshm__blocks_take(
	bshm_segment *segment, uint32_t count, uint64_t *claimed, bshm_run *run, bshm__space *space)
{
	*space = bshm__blocks_survey(segment, claimed, true);
	if (count > space->free) {
		bshm__space_note(segment, space->free);
		return false;
	}
	*run = count <= space->largest ? (bshm_run){best_hole(segment, claimed, count), count, 0}
								   : string_together(segment, count, claimed);
	return true;
}
