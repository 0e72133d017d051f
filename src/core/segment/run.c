/*
 * run.c - runs: which partitions belong together.
 *
 * A run is `count` neighbours from `first` on. If its `check` is not 0, it is scattered: `count`
 * partitions, each of which names the next one in links[]. The check covers their numbers, so a
 * reader that walks a run sees if its links were given to another run.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/run.h"

#include "core/segment/segment.h"
#include "platform/atomic.h"

bool bshm__run_in_bounds(const bshm_segment *segment, const bshm_run *run)
{
	if (run->count == 0 || run->count > segment->partition_count) {
		return false;
	}
	const uint32_t last_first =
		run->check == 0 ? segment->partition_count - run->count : segment->partition_count - 1;
	return run->first <= last_first;
}

/* Sets the bits of neighbours, a word at a time. */
static void claim_neighbours(uint64_t *claimed, uint32_t first, uint32_t count)
{
	while (count != 0) {
		const uint32_t bit = first % 64;
		const uint32_t part = count < 64 - bit ? count : 64 - bit;
		const uint64_t ones = part == 64 ? UINT64_MAX : (UINT64_C(1) << part) - 1;
		claimed[first / 64] |= ones << bit;
		first += part;
		count -= part;
	}
}

bool bshm__run_walk(
	const bshm_segment *segment, const bshm_run *run, uint32_t *list, uint64_t *claimed)
{
	if (!bshm__run_in_bounds(segment, run)) {
		return false;
	}
	if (run->check == 0 && list == NULL) {
		if (claimed != NULL) {
			claim_neighbours(claimed, run->first, run->count);
		}
		return true;
	}
	uint64_t check = segment->name_seed;
	uint32_t at = run->first;
	for (uint32_t i = 0; i < run->count; i++) {
		if (at >= segment->partition_count) {
			return false;
		}
		check = run->check == 0 ? 0 : bshm__run_check_step(check, at);
		if (list != NULL) {
			list[i] = at;
		}
		if (claimed != NULL) {
			claimed[at / 64] |= UINT64_C(1) << (at % 64);
		}
		at = run->check == 0 ? at + 1 : BSHM_LOAD(&segment->links[at], RELAXED);
	}
	return run->check == 0 || bshm__run_check_end(check) == run->check;
}

bool bshm__run_divide(const bshm_segment *segment, const bshm_run *run, const uint32_t *counts,
	uint32_t parts, bshm_run *out)
{
	uint32_t at = run->first;
	for (uint32_t i = 0; i < parts; i++) {
		out[i] = (bshm_run){at, counts[i], run->check == 0 ? 0 : segment->name_seed};
		for (uint32_t k = 0; k < counts[i]; k++) {
			if (at >= segment->partition_count) {
				return false;
			}
			if (run->check != 0) {
				out[i].check = bshm__run_check_step(out[i].check, at);
				at = BSHM_LOAD(&segment->links[at], RELAXED);
			} else {
				at++;
			}
		}
		out[i].check = run->check == 0 ? 0 : bshm__run_check_end(out[i].check);
	}
	return true;
}

/* Appends a run to `out`; *last is the last partition so far. */
static bool append_run(
	const bshm_segment *segment, const bshm_run *run, bshm_run *out, uint32_t *last)
{
	if (!bshm__run_walk(segment, run, NULL, NULL)) {
		return false;
	}
	uint32_t at = run->first;
	for (uint32_t i = 0; i < run->count; i++) {
		const uint32_t next = run->check == 0 ? at + 1 : BSHM_LOAD(&segment->links[at], RELAXED);
		if (out->count == 0) {
			out->first = at;
		} else {
			BSHM_STORE(&segment->links[*last], at, RELAXED);
		}
		out->check = bshm__run_check_step(out->check, at);
		out->count++;
		*last = at;
		at = next;
	}
	return true;
}

bool bshm__run_join(
	const bshm_segment *segment, const bshm_run *one, const bshm_run *two, bshm_run *out)
{
	if (one->check == 0 && two->check == 0 && one->first + one->count == two->first) {
		*out = (bshm_run){one->first, one->count + two->count, 0};
		return true;
	}
	uint32_t last = 0;
	*out = (bshm_run){.check = segment->name_seed};
	const bool joined =
		append_run(segment, one, out, &last) && append_run(segment, two, out, &last);
	out->check = bshm__run_check_end(out->check);
	return joined;
}
