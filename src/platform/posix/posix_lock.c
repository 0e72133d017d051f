/*
 * posix_lock.c - locks on bytes of a file that tell which processes live, on Linux.
 *
 * They are open-file-description locks: the kernel drops them when nothing refers to that open file
 * any more, they work across PID namespaces, and no pid is compared. A mapping refers to its open
 * file too. So one page that is mapped through the open file, and never touched, keeps a lock
 * without a descriptor, which other code could close by its number. The child of a fork does not
 * get that page.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE
#endif

#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define KEPT_BYTES 4096u

static struct flock lock_of(short type, int64_t offset, uint64_t bytes)
{
	struct flock lock;
	memset(&lock, 0, sizeof(lock)); /* l_pid must be 0 for locks of an open file */
	lock.l_type = type;
	lock.l_whence = SEEK_SET;
	lock.l_start = (off_t) offset;
	lock.l_len = (off_t) bytes;
	return lock;
}

static int set_lock(int fd, short type, int64_t offset)
{
	struct flock lock = lock_of(type, offset, 1);
	if (fcntl(fd, F_OFD_SETLK, &lock) == 0) {
		return 0;
	}
	return errno == EACCES ? EAGAIN : errno;
}

int bshm_os_lock_byte(int fd, int64_t offset)
{
	return set_lock(fd, F_WRLCK, offset);
}

int bshm_os_share_byte(int fd, int64_t offset)
{
	return set_lock(fd, F_RDLCK, offset);
}

int bshm_os_release_byte(int fd, int64_t offset)
{
	return set_lock(fd, F_UNLCK, offset);
}

bool bshm_os_byte_shared(int fd, int64_t offset)
{
	struct flock lock = lock_of(F_WRLCK, offset, 1);
	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_RDLCK;
}

/* Asks whether a shared lock would be possible: only exclusive locks conflict with it, and a user
 * with read access only cannot have one. */
int bshm_os_byte_taken(int fd, int64_t offset, bool *taken)
{
	struct flock lock = lock_of(F_RDLCK, offset, 1);
	if (fcntl(fd, F_OFD_GETLK, &lock) != 0) {
		return errno;
	}
	*taken = lock.l_type != F_UNLCK;
	return 0;
}

int bshm_os_lock_find(int fd, int64_t offset, uint64_t bytes, bshm_os_lock *out)
{
	struct flock lock = lock_of(F_WRLCK, offset, bytes);
	memset(out, 0, sizeof(*out));
	if (fcntl(fd, F_OFD_GETLK, &lock) != 0) {
		return errno;
	}
	if (lock.l_type != F_UNLCK) {
		out->offset = lock.l_start;
		out->bytes = lock.l_len == 0 ? INT64_MAX : (uint64_t) lock.l_len; /* 0: to the end */
		out->process_id = lock.l_pid > 0 ? (uint64_t) lock.l_pid : 0;
		out->of_one_byte = lock.l_type == F_WRLCK && lock.l_pid == -1 && lock.l_len == 1;
	}
	return 0;
}

int bshm_os_keep(int fd, void **kept)
{
	void *page = mmap(NULL, KEPT_BYTES, PROT_NONE, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED) {
		return errno;
	}
	if (madvise(page, KEPT_BYTES, MADV_DONTFORK) != 0) {
		const int code = errno;
		munmap(page, KEPT_BYTES);
		return code;
	}
	*kept = page;
	return 0;
}

void bshm_os_release(void *kept)
{
	if (kept != NULL) {
		munmap(kept, KEPT_BYTES);
	}
}
