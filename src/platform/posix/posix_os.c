/*
 * posix_os.c - the engine's view of Linux: files, mappings, clocks.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE
#endif

#include "platform/platform.h"

#include "platform/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define STANDARD 3 /* descriptors 0 to 2: input, output, errors */

/* Takes the standard descriptors that are free, with a descriptor that refuses to be written to, so
 * that no output vanishes in it. */
static void take_standard(int taken[STANDARD])
{
	for (int number = 0; number < STANDARD; number++) {
		taken[number] = fcntl(number, F_GETFD) < 0 ? epoll_create1(EPOLL_CLOEXEC) : -1;
	}
}

/*
 * Opens a file at a descriptor above the standard ones. Their numbers are taken meanwhile, because
 * another thread may be printing. If a thread closes one of them at this moment, the file may get
 * its number, and is moved.
 */
static int open_above(const char *path, int flags, int *fd)
{
	int taken[STANDARD];
	take_standard(taken);
	*fd = open(path, flags | O_CLOEXEC, 0600);
	int code = *fd < 0 ? errno : 0;
	if (code == 0 && *fd < STANDARD) {
		const int low = *fd;
		*fd = fcntl(low, F_DUPFD_CLOEXEC, STANDARD);
		code = *fd < 0 ? errno : 0;
		close(low);
	}
	for (int number = 0; number < STANDARD; number++) {
		bshm_os_close(taken[number]);
	}
	return code;
}

int bshm_os_open(const char *path, bool readonly, int *fd)
{
	/* O_NONBLOCK: a FIFO or device left at the path must not block the worker that looks at it. */
	return open_above(path, (readonly ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_NONBLOCK, fd);
}

int bshm_os_create(const char *path, int *fd)
{
	return open_above(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, fd);
}

void bshm_os_close(int fd)
{
	if (fd >= 0) {
		close(fd);
	}
}

bool bshm_os_no_space(int code)
{
	return code == ENOSPC || code == EDQUOT || code == EFBIG || code == ENOMEM;
}

bool bshm_os_is_file(int fd, uint64_t device, uint64_t inode)
{
	struct stat st;
	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

static bool in_group(gid_t group)
{
	if (group == getegid()) {
		return true;
	}
	gid_t groups[256];
	const int count = getgroups(256, groups);
	for (int i = 0; i < count; i++) {
		if (groups[i] == group) {
			return true;
		}
	}
	return false;
}

static void fill_stat(const struct stat *st, bshm_os_stat *out)
{
	out->bytes = (uint64_t) st->st_size;
	out->reserved_bytes = (uint64_t) st->st_blocks * 512;
	out->device = (uint64_t) st->st_dev;
	out->inode = (uint64_t) st->st_ino;
	out->owner_uid = st->st_uid;
	out->mode = st->st_mode & 07777;
	out->regular = S_ISREG(st->st_mode);
	out->shares_group = in_group(st->st_gid);
}

int bshm_os_stat_fd(int fd, bshm_os_stat *out)
{
	struct stat st;
	if (fstat(fd, &st) != 0) {
		return errno;
	}
	fill_stat(&st, out);
	return 0;
}

int bshm_os_stat_path(const char *path, bshm_os_stat *out)
{
	struct stat st;
	if (lstat(path, &st) != 0) {
		return errno;
	}
	fill_stat(&st, out);
	return 0;
}

bool bshm_os_disk_free(const char *folder, uint64_t *bytes)
{
	struct statvfs system;
	if (statvfs(folder, &system) != 0) {
		return false;
	}
	*bytes = (uint64_t) system.f_bavail * system.f_frsize;
	return true;
}

/*
 * The advice applies to pages when a mapping touches them, not when they are reserved: so the pages
 * are touched first. Only in memory: on a disk, all pages would be written.
 */
static void populate_huge(int fd, uint64_t bytes)
{
#ifdef MADV_POPULATE_WRITE
	void *base = NULL;
	struct statfs system;
	if (fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC &&
		ftruncate(fd, (off_t) bytes) == 0 && bshm_os_map(fd, bytes, false, &base) == 0) {
		bshm_os_advise_huge(base, bytes);
		madvise(base, (size_t) bytes, MADV_POPULATE_WRITE); /* missing pages are reserved below */
		bshm_os_unmap(base, bytes);
	}
#else
	(void) fd;
	(void) bytes;
#endif
}

/* May no file be so long (ulimit -f)? Past that limit the kernel ends the process by SIGXFSZ,
 * instead of returning an error. */
static bool too_long(uint64_t bytes)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur;
}

int bshm_os_reserve(int fd, uint64_t bytes, bool huge)
{
	if (too_long(bytes)) {
		return EFBIG;
	}
	if (huge) {
		populate_huge(fd, bytes);
	}
	int status;
	do {
		status = posix_fallocate(fd, 0, (off_t) bytes);
	} while (status == EINTR);
	return status;
}

int bshm_os_set_mode(int fd, uint32_t mode)
{
	return fchmod(fd, (mode_t) mode) != 0 ? errno : 0;
}

int bshm_os_sync(int fd)
{
	int failed;
	do {
		failed = fsync(fd);
	} while (failed != 0 && errno == EINTR);
	return failed != 0 ? errno : 0;
}

int bshm_os_write_at(int fd, const void *bytes, size_t count, uint64_t offset)
{
	ssize_t put;
	do {
		put = pwrite(fd, bytes, count, (off_t) offset);
	} while (put < 0 && errno == EINTR);
	return put < 0 ? errno : (size_t) put == count ? 0 : EIO;
}

int bshm_os_read_at(int fd, void *bytes, size_t count, uint64_t offset)
{
	ssize_t got;
	do {
		got = pread(fd, bytes, count, (off_t) offset);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? errno : (size_t) got == count ? 0 : EIO;
}

int bshm_os_link(const char *from, const char *to)
{
	return link(from, to) != 0 ? errno : 0;
}

void bshm_os_unlink(const char *path)
{
	unlink(path);
}

int bshm_os_file_open(const char *path, int *fd)
{
	return open_above(path, O_RDONLY | O_NONBLOCK, fd); /* a FIFO must not block its reader */
}

/* The folder of a path, with its slash; "" for none. */
static int folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash == NULL ? 0 : (int) (slash - path) + 1;
}

void bshm_os_folder(const char *path, char *out, size_t room)
{
	const int length = folder_length(path);
	const int shown = length > 1 ? length - 1 : length;
	snprintf(out, room, "%.*s", length == 0 ? 1 : shown, length == 0 ? "." : path);
}

int bshm_os_file_create(const char *path, char *name, int *fd)
{
	uint64_t number;
	const int code = bshm_os_random(&number, sizeof(number));
	if (code != 0) {
		return code;
	}
	/* Not the path with a suffix: that may be longer than a name can be. */
	sprintf(
		name, "%.*s.bloomshm.%016llx.tmp", folder_length(path), path, (unsigned long long) number);
	const int created = bshm_os_create(name, fd);
	const int moded =
		created != 0 ? created : bshm_os_set_mode(*fd, 0600); /* whatever the umask is */
	if (created == 0 && moded != 0) {
		unlink(name);
		close(*fd);
		*fd = -1;
	}
	return moded;
}

int bshm_os_file_write(int fd, const void *bytes, size_t count)
{
	const char *at = bytes;
	const off_t offset = lseek(fd, 0, SEEK_CUR); /* below 0: a pipe, which may take any length */
	if (offset >= 0 && too_long((uint64_t) offset + count)) {
		return EFBIG;
	}
	while (count != 0) {
		const ssize_t put = write(fd, at, count);
		if (put < 0 && errno != EINTR) {
			return errno;
		}
		if (put > 0) {
			at += put;
			count -= (size_t) put;
		}
	}
	return 0;
}

/* The name is on disk once the folder is. Some file systems cannot sync a folder, and need not. */
static void sync_folder(const char *path)
{
	char folder[4096];
	const int length = folder_length(path);
	if (length >= (int) sizeof(folder)) {
		return;
	}
	snprintf(folder, sizeof(folder), length == 0 ? "." : "%.*s", length, path);
	int fd;
	if (open_above(folder, O_RDONLY | O_DIRECTORY, &fd) == 0) {
		fsync(fd);
		close(fd);
	}
}

int bshm_os_file_publish(int fd, const char *name, const char *path)
{
	if (fsync(fd) != 0 || rename(name, path) != 0) {
		return errno;
	}
	sync_folder(path);
	return 0;
}

int bshm_os_file_read(int fd, void *bytes, size_t count, size_t *got)
{
	char *at = bytes;
	*got = 0;
	while (*got < count) {
		const ssize_t part = read(fd, at + *got, count - *got);
		if (part < 0 && errno != EINTR) {
			return errno;
		}
		if (part == 0) {
			break;
		}
		*got += part > 0 ? (size_t) part : 0;
	}
	return 0;
}

int bshm_os_file_seek(int fd, uint64_t offset)
{
	return lseek(fd, (off_t) offset, SEEK_SET) < 0 ? errno : 0;
}

int bshm_os_map(int fd, uint64_t bytes, bool readonly, void **base)
{
	void *p = mmap(
		NULL, (size_t) bytes, readonly ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		return errno;
	}
	*base = p;
	return 0;
}

int bshm_os_protect(void *begin, uint64_t bytes)
{
	const size_t into_page = (uintptr_t) begin % (size_t) sysconf(_SC_PAGESIZE);
	const size_t pages = (size_t) bytes + into_page;
	return mprotect((char *) begin - into_page, pages, PROT_READ | PROT_WRITE) != 0 ? errno : 0;
}

void bshm_os_unmap(void *base, uint64_t bytes)
{
	munmap(base, (size_t) bytes);
}

void bshm_os_advise_huge(void *base, uint64_t bytes)
{
	madvise(base, (size_t) bytes,
		MADV_HUGEPAGE); /* only advice: a kernel that does not know it is fine */
}

uint32_t bshm_os_effective_uid(void)
{
	return geteuid();
}

void bshm_os_user_text(char *out, size_t room)
{
	snprintf(out, room, "%u", (unsigned) geteuid());
}

uint64_t bshm_os_process_id(void)
{
	return (uint64_t) getpid();
}

uint64_t bshm_os_descriptor_limit(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (uint64_t) limit.rlim_cur : 0;
}

uint32_t bshm_os_thread_id(void)
{
	return (uint32_t) syscall(SYS_gettid);
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t) now.tv_sec * UINT64_C(1000000000) + (uint64_t) now.tv_nsec;
}

uint64_t bshm_os_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t test_clock_ns; /* 0: not in a test */

uint64_t bshm_os_clock_ns(void)
{
	const uint64_t set = BSHM_LOAD(&test_clock_ns, RELAXED);
	return set != 0 ? set : clock_ns(CLOCK_MONOTONIC);
}

uint64_t bshm_os_clock_cheap_ns(void)
{
	const uint64_t set = BSHM_LOAD(&test_clock_ns, RELAXED);
	return set != 0 ? set : clock_ns(CLOCK_MONOTONIC_COARSE);
}

void bshm_os_clock_set(uint64_t ns)
{
	BSHM_STORE(&test_clock_ns, ns, RELAXED);
}

/* Reads a small file of the kernel as a string. Returns its length, or 0 and *code. */
static size_t read_kernel(const char *path, char *out, size_t room, int *code)
{
	ssize_t got = 0;
	int fd;
	*code = open_above(path, O_RDONLY, &fd);
	if (*code == 0) {
		got = read(fd, out, room - 1);
		close(fd);
	}
	out[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t) got : 0;
}

static uint64_t boot_number(int *code)
{
	char id[64];
	uint64_t number = 1;
	const size_t count = read_kernel("/proc/sys/kernel/random/boot_id", id, sizeof(id), code);
	if (count < 36) {
		return 0; /* the file may be empty where the id is hidden */
	}
	for (size_t i = 0; i < count; i++) {
		number = (number ^ (uint8_t) id[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
	}
	return number == 0 ? 1 : number;
}

/* The file shows the shift of the namespace of the children, which differs after unshare(). It is
 * not read with sscanf(), whose first call takes longer than all else here. */
static void read_shift(bshm_os_host *host)
{
	static const char name[] = "monotonic ";
	char text[256];
	struct stat own;
	struct stat children;
	char *end;
	char *last;
	int code;
	if (stat("/proc/self/ns/time", &own) != 0 ||
		stat("/proc/self/ns/time_for_children", &children) != 0 || own.st_ino != children.st_ino ||
		read_kernel("/proc/self/timens_offsets", text, sizeof(text), &code) == 0 ||
		strncmp(text, name, sizeof(name) - 1) != 0) {
		return;
	}
	const long long seconds = strtoll(text + sizeof(name) - 1, &end, 10);
	const long long nanoseconds = strtoll(end, &last, 10);
	if (last == end) {
		return;
	}
	host->shift_ns = (uint64_t) seconds * UINT64_C(1000000000) + (uint64_t) nanoseconds;
	host->shift_known = true;
}

static const bshm_os_host *test_host;

bshm_os_host bshm_os_host_now(bool with_boot)
{
	if (test_host != NULL) {
		return *test_host;
	}
	bshm_os_host host = {0};
	int code = 0;
	host.boot = with_boot ? boot_number(&code) : 0;
	host.os_code = code == EMFILE || code == ENFILE || code == ENOMEM ? code : 0;
	read_shift(&host);
	return host;
}

void bshm_os_host_set(const bshm_os_host *host)
{
	test_host = host;
}

uint64_t bshm_os_clock_less_ticks_ns(void)
{
	if (BSHM_LOAD(&test_clock_ns, RELAXED) != 0) {
		return test_host == NULL ? 0 : test_host->shift_ns;
	}
	struct tms unused;
	const uint64_t tick_ns = UINT64_C(1000000000) / (uint64_t) sysconf(_SC_CLK_TCK);
	return clock_ns(CLOCK_MONOTONIC) - (uint64_t) times(&unused) * tick_ns;
}

static bool test_disk;

void bshm_os_disk_set(bool on_disk)
{
	test_disk = on_disk;
}

bool bshm_os_in_memory(int fd)
{
	struct statfs system;
	return !test_disk && fstatfs(fd, &system) == 0 &&
		   (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC ||
			   system.f_type == HUGETLBFS_MAGIC);
}

static double test_wall_ahead_s;

double bshm_os_wall_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9 + test_wall_ahead_s;
}

void bshm_os_wall_set(double ahead_s)
{
	test_wall_ahead_s = ahead_s;
}

void bshm_os_sleep_us(unsigned microseconds)
{
	const struct timespec span = {microseconds / 1000000, (long) (microseconds % 1000000) * 1000};
	nanosleep(&span, NULL);
}

void bshm_os_yield(void)
{
	sched_yield();
}

int bshm_os_random(void *out, size_t bytes)
{
	ssize_t got;
	do {
		got = getrandom(out, bytes, 0);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		return errno;
	}
	return (size_t) got == bytes ? 0 : EIO; /* never short for up to 256 bytes */
}

void bshm_os_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
	pthread_atfork(before, in_parent, in_child);
}

void *bshm_os_private(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void bshm_os_private_release(void *memory, size_t bytes)
{
	if (memory != NULL) {
		munmap(memory, bytes);
	}
}
