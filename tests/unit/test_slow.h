/*
 * test_slow.h - a process that is slow for a moment while it holds a lock, as if it met many page
 * faults, or pages that come from a disk. Does it end its step soon after that?
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_SLOW_H
#define BSHM_TEST_SLOW_H

#include "platform/counted.h"
#include "platform/platform.h"

#include <stddef.h>

static struct {
	uint64_t again; /* slow again after so many accesses; 0: once */
	uint64_t end;   /* so many accesses later the hold has ended */
	uint64_t hold;
	unsigned times;
	unsigned late; /* the hold that met it went on */
} slow;

static void become_slow(void);

static inline void look_for_end(void)
{
	slow.late += bshm__held.depth != 0 && bshm__held.holds == slow.hold;
	bshm__held.call = become_slow;
	bshm__held.call_at = slow.again == 0 ? 0 : bshm__held.accesses + slow.again;
}

static void become_slow(void)
{
	if (bshm__held.depth == 0) {
		bshm__held.call_at = bshm__held.accesses + 1;
		return;
	}
	slow.times++;
	slow.hold = bshm__held.holds;
	bshm_os_sleep_us(2000);
	bshm__held.call = look_for_end;
	bshm__held.call_at = bshm__held.accesses + slow.end;
}

/* The first access under a lock after so many accesses is slow. */
static inline void begin_slow(uint64_t at)
{
	bshm__held = (bshm_held){.call_at = at, .call = become_slow};
}

#endif
