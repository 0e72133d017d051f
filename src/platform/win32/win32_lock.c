/*
 * win32_lock.c - locks on bytes of a file that tell which processes live, on Windows.
 *
 * They belong to an open file, as on Linux: the kernel drops them when the last handle of the open
 * file is closed, also when the process is terminated. The bytes lie far beyond the end of the
 * file, because a lock denies reading and writing to other handles.
 *
 * Windows answers no questions about locks. So a question tries to take one, through a handle of
 * its own: through the handle that has the lock it would be granted, and releasing it would release
 * that lock. While the question lasts, another process that wants the same byte alone is refused,
 * and takes the next byte, or tries again.
 *
 * No two tries tell a shared lock from exclusive ones that come and go, questions among them. So
 * who shares a byte also has a mark for as long: one byte exclusively, in a part of the file that
 * belongs to the shared byte, of which a segment has one. The mark is another one for each handle
 * of each process.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "win32.h"

#include <errno.h>
#include <string.h>

#define MARKS_BELOW (INT64_C(1) << 59) /* a byte's marks lie so far below it */
#define MARKS       (UINT64_C(1) << 54)
#define MARK_TRIES  1000 /* a question is in the way for microseconds */

static OVERLAPPED place_of(int64_t offset)
{
	OVERLAPPED place;
	memset(&place, 0, sizeof(place));
	place.Offset = (DWORD) offset;
	place.OffsetHigh = (DWORD) ((uint64_t) offset >> 32);
	return place;
}

static int lock(HANDLE file, int64_t offset, uint64_t bytes, DWORD how)
{
	OVERLAPPED place = place_of(offset);
	return LockFileEx(file, how | LOCKFILE_FAIL_IMMEDIATELY, 0, (DWORD) bytes,
			   (DWORD) (bytes >> 32), &place)
			   ? 0
			   : bshm__win32_code();
}

static bool unlock(HANDLE file, int64_t offset, uint64_t bytes)
{
	OVERLAPPED place = place_of(offset);
	return UnlockFileEx(file, 0, (DWORD) bytes, (DWORD) (bytes >> 32), &place);
}

/* Numbers of processes and handles are multiples of 4; there are at most 2^24 handles. */
static int64_t mark_of(HANDLE file, int64_t offset)
{
	const uint64_t process = GetCurrentProcessId() / 4;
	const uint64_t handle = (uintptr_t) file / 4 % (UINT64_C(1) << 24);
	return offset - MARKS_BELOW + (int64_t) (process << 24 | handle);
}

static int put_mark(HANDLE file, int64_t offset)
{
	int code = EAGAIN;
	for (int tries = 0; code == EAGAIN && tries < MARK_TRIES; tries++) {
		if (tries > 0) {
			bshm_os_yield();
		}
		code = lock(file, mark_of(file, offset), 1, LOCKFILE_EXCLUSIVE_LOCK);
	}
	return code;
}

/* Releases all locks of this open file there: the mark first, then an exclusive lock, then shared
 * ones. */
static bool unlock_all(HANDLE file, int64_t offset)
{
	bool any = false;
	unlock(file, mark_of(file, offset), 1);
	while (unlock(file, offset, 1)) {
		any = true;
	}
	return any;
}

/* A shared lock of this open file is in its own way: it is given up, and lost if another process
 * takes the byte in between. */
int bshm_os_lock_byte(int fd, int64_t offset)
{
	const HANDLE file = bshm__win32_handle(fd);
	const int code = lock(file, offset, 1, LOCKFILE_EXCLUSIVE_LOCK);
	return code == EAGAIN && unlock_all(file, offset)
			   ? lock(file, offset, 1, LOCKFILE_EXCLUSIVE_LOCK)
			   : code;
}

/* An exclusive lock does not keep its own open file from sharing, and is released first: so two
 * shared ones and a release leave a shared lock, whatever there was before. */
int bshm_os_share_byte(int fd, int64_t offset)
{
	const HANDLE file = bshm__win32_handle(fd);
	int code = lock(file, offset, 1, 0);
	if (code != 0) {
		return code;
	}
	if (lock(file, offset, 1, 0) == 0) {
		unlock(file, offset, 1);
	}
	unlock(file, mark_of(file, offset), 1);
	code = put_mark(file, offset);
	if (code != 0) {
		unlock_all(file, offset);
	}
	return code;
}

int bshm_os_release_byte(int fd, int64_t offset)
{
	unlock_all(bshm__win32_handle(fd), offset);
	return 0;
}

/* Could a shared lock be taken through a handle that has none? */
static int try_lock(int fd, int64_t offset, uint64_t bytes)
{
	const HANDLE file = ReOpenFile(bshm__win32_handle(fd), GENERIC_READ,
		FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, 0);
	if (file == INVALID_HANDLE_VALUE) {
		return bshm__win32_code() == EAGAIN ? EIO : bshm__win32_code();
	}
	const int code = lock(file, offset, bytes, 0);
	CloseHandle(file);
	return code;
}

bool bshm_os_byte_shared(int fd, int64_t offset)
{
	return try_lock(fd, offset - MARKS_BELOW, MARKS) == EAGAIN;
}

int bshm_os_byte_taken(int fd, int64_t offset, bool *taken)
{
	const int code = try_lock(fd, offset, 1);
	*taken = code == EAGAIN;
	return *taken ? 0 : code;
}

/* Finds exclusive locks only: a wider question would keep others from sharing. */
int bshm_os_lock_find(int fd, int64_t offset, uint64_t bytes, bshm_os_lock *out)
{
	memset(out, 0, sizeof(*out));
	int code = try_lock(fd, offset, bytes);
	while (code == EAGAIN && bytes > 1) {
		const uint64_t half = bytes / 2;
		code = try_lock(fd, offset, half);
		if (code == EAGAIN) {
			bytes = half;
		} else if (code == 0) {
			offset += (int64_t) half;
			bytes -= half;
			code = try_lock(fd, offset, bytes);
		}
	}
	if (code == EAGAIN) {
		out->offset = offset;
		out->bytes = 1;
		out->of_one_byte = true; /* Windows does not say how far a lock reaches */
		return 0;
	}
	return code;
}

/* The locks of an open file stay until its last handle is closed. */
int bshm_os_keep(int fd, void **kept)
{
	const HANDLE self = GetCurrentProcess();
	HANDLE copy;
	if (!DuplicateHandle(
			self, bshm__win32_handle(fd), self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS)) {
		return bshm__win32_code();
	}
	*kept = copy;
	return 0;
}

void bshm_os_release(void *kept)
{
	if (kept != NULL) {
		CloseHandle(kept);
	}
}
