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

bool bshm_owner_of(const char *path, uint32_t *uid, uint32_t *mode)
{
	bshm_os_stat st;
	if (bshm_os_stat_path(path, &st) != 0) {
		return false;
	}
	*uid = st.owner_uid;
	*mode = st.mode;
	return true;
}

void bshm_folder_of(const char *path, char *out, size_t room)
{
	bshm_os_folder(path, out, room);
}

bool bshm_disk_free(const char *folder, uint64_t *bytes)
{
	return bshm_os_disk_free(folder, bytes);
}

void bshm_at_fork(void (*in_child)(void))
{
	bshm_os_at_fork(NULL, NULL, in_child);
}
