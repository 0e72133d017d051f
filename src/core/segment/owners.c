/*
 * owners.c - which processes are attached, and which of them still live.
 *
 * A process that attaches takes a slot by locking the slot's byte in the file. The kernel drops
 * that lock when the process ends, however it ends, so a lock that can be had means that the
 * slot's last owner is gone. Nobody compares pids: they repeat, and differ between containers.
 *
 * The slot's generation goes up with every owner. Owner words (slot and generation) therefore
 * never repeat, and one left behind by a dead process is never taken for its successor's.
 *
 * The lock belongs to the open file, which a fork shares with its child: the child would keep
 * its dead parent "alive". So the child closes the file at once, and opens it anew when it first
 * needs a slot. A mapping counts as an open file too; therefore the file is opened once to be
 * mapped, and once more for its locks (segment.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/core.h"

#define GENERATION_MASK ((UINT64_C(1) << 48) - 1)

static bshm_segment *all_segments;

static void let_go_in_child(void)
{
	for (bshm_segment *segment = all_segments; segment != NULL; segment = segment->next) {
		bshm_os_close(segment->fd);
		segment->fd = -1;
		segment->owner = 0;
		segment->tally = NULL;
		segment->slotless = false;
		segment->attaching = 0;
		segment->busy = 0; /* the thread that had it does not exist here */
	}
}

void bshm__owner_remember(bshm_segment *segment)
{
	static bool registered;
	if (!registered) {
		registered = true;
		bshm_os_at_fork(let_go_in_child);
	}
	segment->next = all_segments;
	all_segments = segment;
}

void bshm__owner_forget(bshm_segment *segment)
{
	for (bshm_segment **at = &all_segments; *at != NULL; at = &(*at)->next) {
		if (*at == segment) {
			*at = segment->next;
			return;
		}
	}
}

bool bshm__owner_reopen(bshm_segment *segment)
{
	bshm_os_stat st;
	if (segment->fd >= 0) {
		return true;
	}
	if (bshm_os_open(segment->path, segment->readonly && !segment->store_writable, &segment->fd) !=
		0) {
		return false;
	}
	if (bshm_os_stat_fd(segment->fd, &st) == 0 && st.device == segment->device &&
		st.inode == segment->inode) {
		return true;
	}
	bshm_os_close(segment->fd);
	segment->fd = -1;
	return false;
}

static bool take_slot(bshm_segment *segment)
{
	if (segment->owner != 0) {
		return true;
	}
	if (!bshm__owner_reopen(segment)) {
		return false;
	}
	const uint64_t process_id = bshm_os_process_id();
	for (uint32_t i = 0; i < BSHM_OWNER_COUNT; i++) {
		const uint32_t slot = (uint32_t) (process_id + i) % BSHM_OWNER_COUNT;
		if (bshm_os_lock_byte(segment->fd, BSHM_OWNER_LOCK_OFF + slot) != 0) {
			continue;
		}
		bshm_owner *owner = &segment->owners[slot];
		const uint64_t generation = (BSHM_LOAD(&owner->generation, RELAXED) + 1) & GENERATION_MASK;
		BSHM_STORE(&owner->pid, process_id, RELAXED);
		BSHM_STORE(&owner->generation, generation, RELEASE);
		segment->tally = segment->tallies == NULL ? NULL : &segment->tallies[slot];
		segment->owner = generation << 16 | (slot + 1);
		return true;
	}
	return false;
}

bool bshm__owner_attach(bshm_segment *segment)
{
	uint32_t nobody = 0;
	while (!BSHM_CAS(&segment->attaching, &nobody, 1, ACQUIRE)) {
		nobody = 0; /* another thread of this process */
		bshm_os_yield();
	}
	const bool attached = take_slot(segment);
	BSHM_STORE(&segment->attaching, 0, RELEASE);
	return attached;
}

bool bshm__owner_alive(bshm_segment *segment, uint64_t owner)
{
	if (owner == segment->owner) {
		return true;
	}
	const uint32_t slot = (uint32_t) (owner & 0xffff) - 1; /* 0 wraps: no such slot */
	if (slot >= BSHM_OWNER_COUNT ||
		(BSHM_LOAD(&segment->owners[slot].generation, ACQUIRE) & GENERATION_MASK) != owner >> 16) {
		return false;
	}
	return bshm_os_byte_held(segment->fd, BSHM_OWNER_LOCK_OFF + slot);
}

uint64_t bshm__owner_count(bshm_segment *segment)
{
	uint64_t count = segment->owner != 0; /* one's own lock does not show */
	if (segment->fd < 0) {
		return count;
	}
	for (uint32_t slot = 0; slot < BSHM_OWNER_COUNT; slot++) {
		if (BSHM_LOAD(&segment->owners[slot].generation, RELAXED) != 0) {
			count += bshm_os_byte_held(segment->fd, BSHM_OWNER_LOCK_OFF + slot);
		}
	}
	return count;
}
