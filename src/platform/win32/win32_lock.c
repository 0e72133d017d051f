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
 * Licensed under the MIT licence; see LICENSE.
 */
#include "win32.h"

#include <errno.h>
#include <string.h>

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

/* Releases all locks of this open file there: an exclusive one first, then shared ones. */
static bool unlock_all(HANDLE file, int64_t offset)
{
	bool any = false;
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
	const int code = lock(file, offset, 1, 0);
	if (code == 0 && lock(file, offset, 1, 0) == 0) {
		unlock(file, offset, 1);
	}
	return code;
}

int bshm_os_release_byte(int fd, int64_t offset)
{
	unlock_all(bshm__win32_handle(fd), offset);
	return 0;
}

/* Could a lock be taken through a handle that has none? */
static int try_lock(int fd, int64_t offset, uint64_t bytes, DWORD how)
{
	const HANDLE file = ReOpenFile(bshm__win32_handle(fd), GENERIC_READ,
		FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, 0);
	if (file == INVALID_HANDLE_VALUE) {
		return bshm__win32_code() == EAGAIN ? EIO : bshm__win32_code();
	}
	const int code = lock(file, offset, bytes, how);
	CloseHandle(file);
	return code;
}

bool bshm_os_byte_shared(int fd, int64_t offset)
{
	return try_lock(fd, offset, 1, LOCKFILE_EXCLUSIVE_LOCK) == EAGAIN &&
		   try_lock(fd, offset, 1, 0) == 0;
}

int bshm_os_byte_taken(int fd, int64_t offset, bool *taken)
{
	const int code = try_lock(fd, offset, 1, 0);
	*taken = code == EAGAIN;
	return *taken ? 0 : code;
}

/* Finds exclusive locks only: a wider question would keep others from sharing. */
int bshm_os_lock_find(int fd, int64_t offset, uint64_t bytes, bshm_os_lock *out)
{
	memset(out, 0, sizeof(*out));
	int code = try_lock(fd, offset, bytes, 0);
	while (code == EAGAIN && bytes > 1) {
		const uint64_t half = bytes / 2;
		code = try_lock(fd, offset, half, 0);
		if (code == EAGAIN) {
			bytes = half;
		} else if (code == 0) {
			offset += (int64_t) half;
			bytes -= half;
			code = try_lock(fd, offset, bytes, 0);
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
