/*
 * host.c - clocks, sleep, forks, numbers of process and user, for the callers of the engine.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include "platform/platform.h"

uint64_t bshm_now_ns(void)
{
	return bshm_os_monotonic_ns();
}

uint64_t bshm_now_coarse_ns(void)
{
	return bshm_os_clock_cheap_ns();
}

void bshm_sleep_us(unsigned microseconds)
{
	bshm_os_sleep_us(microseconds);
}

uint64_t bshm_process_id(void)
{
	return bshm_os_process_id();
}

uint32_t bshm_user_id(void)
{
	return bshm_os_effective_uid();
}

void bshm_user_text(char out[BSHM_USER_TEXT_BYTES])
{
	bshm_os_user_text(out, BSHM_USER_TEXT_BYTES);
}

void bshm_at_fork(void (*in_child)(void))
{
	bshm_os_at_fork(NULL, NULL, in_child);
}
