/*
 * rest.c - a segment on a disk: is the file whole after the machine has stopped?
 *
 * The kernel writes changed pages back at any time and in any order. After a power loss the file is
 * a mixture of moments: each page may be sound, but keys are missing whose adds had returned. So a
 * file of another boot is believed only if it was *brought to rest*: no process had it mapped, all
 * of it was synced, then the mark was written and synced.
 *
 *      ASLEEP --- a waker: WAKING, sync, then AWAKE --------> AWAKE: processes write
 *        ^                                                    |     ^
 *        |                                 the last closes it |     | another attaches
 *        |                                                    v     |
 *        +------- synced: no other process attached ---------- SYNCING
 *
 * Every process that may write holds a shared lock of the kernel's on one byte, the presence lock,
 * through the open file behind its mapping: a fork's child has both, and a killed process neither.
 * A process that holds the lock exclusively, through an open file that was never mapped, knows that
 * no other process uses the segment; the others wait. A file is woken, marked, or given up only
 * under the exclusive lock.
 *
 * A sync may take seconds, and other processes must not wait for it. So the process that leaves
 * holds the lock shared while it syncs. A process that attaches meanwhile shares the lock too, and
 * stores AWAKE: nothing has to be synced, because the mark is not on the disk yet. The leaving
 * process finds AWAKE when it has the lock exclusively again, and syncs anew. Only in the fourth
 * round does it sync under the exclusive lock.
 *
 * The mark is off the disk before any other write can get there: no process writes before AWAKE,
 * and AWAKE comes after the sync of WAKING. If a waker dies before that, it leaves WAKING, and the
 * next waker syncs again. Within one boot a segment needs no mark: its pages in memory are whole,
 * whichever process was killed. An unknown boot counts as another one.
 *
 * Files in memory never outlive their boot, so none of this is done for them. A process that may
 * only read the file takes no lock, and only looks. Two machines must not share a file.
 *
 * Where a mapping keeps no lock (owners.c: overlay), a process whose descriptors were closed is not
 * seen by the others. There no file is brought to rest after a use: it is believed under its own
 * boot only.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/rest.h"

#include "core/segment/clock.h"
#include "core/segment/segment.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <errno.h>

#define CLAIM_TRIES  20
#define CLAIM_NAP_US 100
#define SYNC_ROUNDS  4

static bool is_at(const char *path, uint64_t device, uint64_t inode)
{
	bshm_os_stat st;
	return bshm_os_stat_path(path, &st) == 0 && st.device == device && st.inode == inode;
}

/* By a call of the system: the mapping of a process may be for reading only. */
static int write_rest(int fd, uint64_t rest)
{
	return bshm_os_write_at(fd, &rest, sizeof(rest), offsetof(bshm_header, rest));
}

/* Takes the mark away, on the disk too, before any process writes. */
static int wake(const bshm_header *header, int fd, bool same_boot)
{
	bshm_header copy;
	bshm__racy_copy(&copy, header, sizeof(copy));
	int code = 0;
	if (!same_boot) {
		code = bshm__clock_resume(&copy);
		code = code != 0 ? code
						 : bshm_os_write_at(fd, &copy.clock_boot,
							   offsetof(bshm_header, reserved2) - offsetof(bshm_header, clock_boot),
							   offsetof(bshm_header, clock_boot));
	}
	code = code != 0 ? code : write_rest(fd, BSHM_REST_WAKING);
	code = code != 0 ? code : bshm_os_sync(fd);
	return code != 0 ? code : write_rest(fd, BSHM_REST_AWAKE);
}

/* May a file that no other process has mapped be believed? */
static bshm_status judge(const bshm_header *header, bool *same_boot, bshm_error *error)
{
	const int code = bshm__clock_boot(header, same_boot);
	/* Pairs with the kernel's write of write_rest(). */
	if (*same_boot || BSHM_LOAD(&header->rest, ACQUIRE) == BSHM_REST_ASLEEP) {
		return BSHM_OK;
	}
	return code != 0 ? bshm__fail_os(error, BSHM_CAUSE_OPEN, code)
					 : bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_REST);
}

/* No other process uses it, and none can attach meanwhile. One that died while it synced has left
 * SYNCING: the mark is not on the disk. */
static bshm_status enter_alone(const bshm_header *header, int fd, bshm_error *error)
{
	bool same_boot;
	const bshm_status status = judge(header, &same_boot, error);
	if (status != BSHM_OK) {
		return status;
	}
	/* Pairs with the kernel's write of write_rest(). */
	const uint64_t rest = BSHM_LOAD(&header->rest, ACQUIRE);
	int code = rest == BSHM_REST_AWAKE     ? 0
			   : rest == BSHM_REST_SYNCING ? write_rest(fd, BSHM_REST_AWAKE)
										   : wake(header, fd, same_boot);
	if (code != 0) {
		return bshm__fail_os(error, BSHM_CAUSE_SYNC, code);
	}
	code = bshm_os_share_byte(fd, BSHM_PRESENCE_LOCK_OFF);
	return code != 0 ? bshm__fail_os(error, BSHM_CAUSE_LOCK, code) : BSHM_OK;
}

/* Other processes use it, or one brings it to rest and has not marked it yet. */
static bshm_status enter_shared(const bshm_header *header, int fd, bshm_error *error)
{
	/* Pairs with the kernel's write of write_rest(). */
	const uint64_t rest = BSHM_LOAD(&header->rest, ACQUIRE);
	if (rest == BSHM_REST_AWAKE) {
		return BSHM_OK;
	}
	if (rest != BSHM_REST_SYNCING) {
		return bshm__fail(error, BSHM_E_BUSY, BSHM_CAUSE_PRESENCE); /* they have just left */
	}
	const int code = write_rest(fd, BSHM_REST_AWAKE);
	return code != 0 ? bshm__fail_os(error, BSHM_CAUSE_SYNC, code) : BSHM_OK;
}

/*
 * Shared only if another process was seen to share it: that process has found the file whole. A
 * process that has the lock alone may be finding that the file is torn. EAGAIN: another process has
 * it alone, for longer than a moment.
 */
static int claim_presence(int fd, bool *alone)
{
	int code = EAGAIN;
	for (int tries = 0; code == EAGAIN && tries < CLAIM_TRIES; tries++) {
		if (tries > 0) {
			bshm_os_sleep_us(CLAIM_NAP_US);
		}
		code = bshm_os_lock_byte(fd, BSHM_PRESENCE_LOCK_OFF);
		*alone = code == 0;
		if (code == EAGAIN && bshm_os_byte_shared(fd, BSHM_PRESENCE_LOCK_OFF)) {
			code = bshm_os_share_byte(fd, BSHM_PRESENCE_LOCK_OFF);
		}
	}
	return code;
}

bshm_status bshm__rest_enter(
	bshm_segment *segment, int fd, const bshm_os_stat *st, bool writable, bshm_error *error)
{
	const bshm_header *header = segment->header;
	if (bshm_os_in_memory(fd)) {
		return BSHM_OK;
	}
	if (!writable) {
		bool same_boot; /* a process that can only read changes nothing, and takes no lock */
		return bshm_os_byte_shared(fd, BSHM_PRESENCE_LOCK_OFF) ? BSHM_OK
															   : judge(header, &same_boot, error);
	}
	bool alone;
	const int code = claim_presence(fd, &alone);
	if (code != 0) {
		return code == EAGAIN ? bshm__fail(error, BSHM_E_BUSY, BSHM_CAUSE_PRESENCE)
							  : bshm__fail_os(error, BSHM_CAUSE_LOCK, code);
	}
	if (!is_at(segment->path, st->device, st->inode)) {
		return bshm__fail(error, BSHM_E_BUSY, BSHM_CAUSE_REPLACED);
	}
	const bshm_status status =
		alone ? enter_alone(header, fd, error) : enter_shared(header, fd, error);
	segment->sleeps = status == BSHM_OK;
	return status;
}

bshm_status bshm__rest_discard(const char *path, int fd, bshm_error *error)
{
	bshm_os_stat st;
	if (bshm_os_stat_fd(fd, &st) != 0 || !is_at(path, st.device, st.inode)) {
		return bshm__fail(error, BSHM_E_BUSY, BSHM_CAUSE_REPLACED);
	}
	bshm_os_unlink(path);
	return BSHM_OK;
}

/* Another part of the program may have closed the descriptor, and reused its number, while this
 * process synced. */
static bool is_ours(const bshm_segment *segment, int fd)
{
	return bshm_os_is_file(fd, segment->device, segment->inode);
}

static int lock_and_look(const bshm_segment *segment, int fd, uint64_t *rest)
{
	if (!is_ours(segment, fd)) {
		return EBADF;
	}
	const int code = bshm_os_lock_byte(fd, BSHM_PRESENCE_LOCK_OFF);
	return code != 0 ? code : bshm_os_read_at(fd, rest, sizeof(*rest), offsetof(bshm_header, rest));
}

/* ASLEEP, or WAKING of a process that died: others have left, and nothing was written since. It
 * must not become SYNCING, which says that the mark is not on the disk. */
static bool is_marked(uint64_t rest)
{
	return rest == BSHM_REST_ASLEEP || rest == BSHM_REST_WAKING;
}

/*
 * Syncs a file that no other process uses, and has the presence lock exclusively then. EAGAIN:
 * others use it. Others that come and go make this process sync anew; at last it keeps them out.
 */
static int sync_alone(const bshm_segment *segment, int fd)
{
	uint64_t rest;
	int code = lock_and_look(segment, fd, &rest);
	bool synced = code == 0 && is_marked(rest);
	for (int round = 1; code == 0 && !synced; round++) {
		code = write_rest(fd, BSHM_REST_SYNCING);
		if (code == 0 && round < SYNC_ROUNDS) {
			code = bshm_os_share_byte(fd, BSHM_PRESENCE_LOCK_OFF);
		}
		code = code != 0 ? code : bshm_os_sync(fd);
		code = code != 0 ? code : lock_and_look(segment, fd, &rest);
		synced = code == 0 && rest == BSHM_REST_SYNCING;
		if (code == EAGAIN) {
			/* Another process uses the file. If it leaves now, it finds this lock shared, and does
			 * not bring the file to rest: so look once more, without the lock. */
			bshm_os_release_byte(fd, BSHM_PRESENCE_LOCK_OFF);
			code = lock_and_look(segment, fd, &rest);
			synced = code == 0 && is_marked(rest);
		}
	}
	return code;
}

/* With the file open anew: a mapping of this process's own would look like another's. */
static bshm_status sleep_in(const bshm_segment *segment, int fd, bshm_error *error)
{
	int code = sync_alone(segment, fd);
	if (code == EAGAIN) {
		return bshm__fail(error, BSHM_E_BUSY, BSHM_CAUSE_PRESENCE);
	}
	const uint64_t mark[2] = {BSHM_REST_ASLEEP, bshm_os_clock_ns() + segment->clock_offset};
	code = code != 0 ? code : bshm_os_write_at(fd, mark, sizeof(mark), offsetof(bshm_header, rest));
	/* A process that attaches from here on syncs the file itself. */
	code = code != 0 ? code : bshm_os_release_byte(fd, BSHM_PRESENCE_LOCK_OFF);
	code = code != 0 ? code : bshm_os_sync(fd);
	return code != 0 ? bshm__fail_os(error, BSHM_CAUSE_SYNC, code) : BSHM_OK;
}

bshm_status bshm__rest_leave(const bshm_segment *segment, bshm_error *error)
{
	if (!segment->sleeps) {
		return BSHM_OK;
	}
	int fd;
	const int code = bshm_os_open(segment->path, false, &fd);
	if (code != 0) {
		return bshm__fail_os(error, BSHM_CAUSE_OPEN, code);
	}
	if (!is_ours(segment, fd)) {
		bshm_os_close(fd);
		return bshm__fail(error, BSHM_E_UNAVAILABLE, BSHM_CAUSE_REPLACED);
	}
	const bshm_status status = sleep_in(segment, fd, error);
	if (is_ours(segment, fd)) {
		/* Not by the close alone: the child of a fork may have the descriptor too. */
		bshm_os_release_byte(fd, BSHM_PRESENCE_LOCK_OFF);
		bshm_os_close(fd);
	}
	return status;
}
