/*
 * clock.c - the engine clock: one time for all processes of a segment, whatever their own clocks.
 *
 * The engine clock is the wall clock of the segment's creation, continued by the monotonic clock:
 * setting the wall clock does not move it. The header has the offset from a monotonic clock, and
 * says from which. The offset never changes while a process uses the segment. A process with
 * another monotonic clock adds another offset, which gives the same time. It finds the difference
 * of the clocks
 *
 *   - under the same kernel (the file lies in memory, or the boot is the same) by the two time
 *     namespaces, exactly; or, where one of them cannot be read (no /proc), by the kernel's count
 *     of ticks, which no namespace shifts; less than 100 ms count as no difference;
 *   - else by the wall clock, and the note in the header of how far the engine clock was from it.
 *     The wall clock may have been set since, so less than a second counts as no difference.
 *
 * A segment on a disk that is woken after a boot (rest.c) gets another offset, while no process
 * uses it.
 *
 * The boot id alone does not decide: a container may have one of its own, or none.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/clock.h"

#include "core/segment/segment.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#define SAME_TICKS_NS INT64_C(100000000)
#define SAME_WALL_NS  INT64_C(1000000000)
#define WALL_MOVED_NS INT64_C(1000000) /* longer than reading both clocks takes */
#define READINGS      3

typedef struct {
	uint64_t monotonic_ns;
	uint64_t wall_ns;
} reading;

/* Both clocks at one time: of several readings, the one that took the least. */
static reading read_clocks(void)
{
	reading best = {0};
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < READINGS; i++) {
		const uint64_t before = bshm_os_clock_ns();
		const uint64_t wall = (uint64_t) (bshm_os_wall_s() * 1e9);
		const uint64_t took = bshm_os_clock_ns() - before;
		if (took < least) {
			least = took;
			best = (reading){before + took / 2, wall};
		}
	}
	return best;
}

int bshm__clock_begin(bshm_header *header)
{
	const bshm_os_host host = bshm_os_host_now(true);
	const reading now = read_clocks();
	header->clock_boot = host.boot;
	header->clock_offset = now.wall_ns - now.monotonic_ns;
	header->clock_shift = host.shift_ns;
	header->clock_wall = 0;
	header->clock_ticks = bshm_os_clock_less_ticks_ns();
	header->clock_shift_known = host.shift_known;
	return host.os_code;
}

static bool is_near(uint64_t apart, int64_t most)
{
	return (int64_t) apart > -most && (int64_t) apart < most;
}

/* By how much this process's monotonic clock is ahead of the header's, under the same kernel. */
static uint64_t shift_between(const bshm_header *header, const bshm_os_host *host)
{
	if (host->shift_known && BSHM_LOAD(&header->clock_shift_known, RELAXED) == 1) {
		return host->shift_ns - BSHM_LOAD(&header->clock_shift, RELAXED);
	}
	const uint64_t apart = bshm_os_clock_less_ticks_ns() - BSHM_LOAD(&header->clock_ticks, RELAXED);
	return is_near(apart, SAME_TICKS_NS) ? 0 : apart;
}

/* The same by the wall clock, which all processes share. */
static uint64_t shift_by_wall(const bshm_header *header, reading now)
{
	const uint64_t engine_ns = now.wall_ns + BSHM_LOAD(&header->clock_wall, RELAXED);
	const uint64_t apart = now.monotonic_ns + BSHM_LOAD(&header->clock_offset, RELAXED) - engine_ns;
	return is_near(apart, SAME_WALL_NS) ? 0 : apart;
}

int bshm__clock_boot(const bshm_header *header, bool *same)
{
	const bshm_os_host host = bshm_os_host_now(true);
	*same = host.boot != 0 && host.boot == BSHM_LOAD(&header->clock_boot, RELAXED);
	return host.os_code;
}

/* The wall clock says how long the machine was off. It may be wrong, or have been set back: but the
 * engine clock never goes back. */
int bshm__clock_resume(bshm_header *copy)
{
	const reading now = read_clocks();
	const uint64_t offset = copy->clock_offset - shift_by_wall(copy, now);
	uint64_t engine_ns = now.monotonic_ns + offset;
	if ((int64_t) (copy->rest_clock - engine_ns) > 0) {
		engine_ns = copy->rest_clock;
	}
	const int code = bshm__clock_begin(copy);
	copy->clock_offset = engine_ns - now.monotonic_ns;
	copy->clock_wall = engine_ns - now.wall_ns;
	return code;
}

void bshm__clock_attach(bshm_segment *segment, bool in_memory)
{
	bshm_header *header = segment->header;
	const bshm_os_host host = bshm_os_host_now(!in_memory);
	const reading now = read_clocks();
	const uint64_t offset = BSHM_LOAD(&header->clock_offset, RELAXED);
	const uint64_t boot = BSHM_LOAD(&header->clock_boot, RELAXED);
	/* Where no boot can be told, a file on a disk was woken under this one. */
	const bool same_kernel = in_memory || (segment->sleeps && (boot == 0 || host.boot == 0)) ||
							 (host.boot != 0 && host.boot == boot);
	if (!same_kernel) {
		segment->clock_offset = offset - shift_by_wall(header, now);
		return;
	}
	segment->clock_offset = offset - shift_between(header, &host);
	const uint64_t ahead = now.monotonic_ns + segment->clock_offset - now.wall_ns;
	if (!segment->readonly &&
		!is_near(ahead - BSHM_LOAD(&header->clock_wall, RELAXED), WALL_MOVED_NS)) {
		BSHM_STORE(&header->clock_wall, ahead, RELAXED);
	}
}

void bshm_clock_set(uint64_t ns)
{
	bshm_os_clock_set(ns);
}
