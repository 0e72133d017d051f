/*
 * platform.h - what the engine needs of an operating system.
 *
 * Each system has a folder that implements these functions. Only bshm_os_private() takes memory.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_PLATFORM_H
#define BSHM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t bytes;
	uint64_t reserved_bytes; /* less than `bytes` if the file has holes */
	uint64_t device;
	uint64_t inode;
	uint32_t owner_uid;
	uint32_t mode; /* permission bits */
	bool regular;
	bool shares_group; /* the file's group is one of the caller's */
} bshm_os_stat;

/*
 * A function that returns int returns 0 or the system's error number.
 *
 * A descriptor from one of these functions is never 0, 1 or 2, not even while the file is being
 * opened: what a process prints goes to these numbers, whatever file they belong to.
 */

/* Does this error number mean that memory or disk is lacking? */
bool bshm_os_no_space(int code);
/* Opens an existing file for the segment; never follows a link, never blocks on a FIFO. */
int bshm_os_open(const char *path, bool readonly, int *fd);
/* Creates `path`, which must not exist, readable and writable by the owner alone. */
int bshm_os_create(const char *path, int *fd);
void bshm_os_close(int fd);
/* Is the descriptor open, and of this file? Another part of the program may have closed it. */
bool bshm_os_is_file(int fd, uint64_t device, uint64_t inode);
int bshm_os_stat_fd(int fd, bshm_os_stat *out);
int bshm_os_stat_path(const char *path, bshm_os_stat *out);
/* The folder that a file is in. */
void bshm_os_folder(const char *path, char *out, size_t room);
/* How many bytes may this user still write in the folder? False: not known. */
bool bshm_os_disk_free(const char *folder, uint64_t *bytes);
/* Reserves `bytes` of real memory or disk for the file, in huge pages if `huge` and the system
 * allows it; or fails with the system's "no space". */
int bshm_os_reserve(int fd, uint64_t bytes, bool huge);
int bshm_os_set_mode(int fd, uint32_t mode);
/* Returns when all of the file is on its disk, also what was changed in mappings of it. */
int bshm_os_sync(int fd);
int bshm_os_write_at(int fd, const void *bytes, size_t count, uint64_t offset);
int bshm_os_read_at(int fd, void *bytes, size_t count, uint64_t offset);
/* Gives the file at `from` the name `to`, which must not exist; `from` may be gone after that. */
int bshm_os_link(const char *from, const char *to);
void bshm_os_unlink(const char *path);
/*
 * Files of dumps. Create: makes a file in the folder of `path`, under a new name, which is written
 * into `name` (the path's length + 32 bytes); nothing is left if that fails. Publish: syncs the
 * file and gives it its path in one step. A failed write or publish leaves `name` for
 * bshm_os_unlink(). Read: fewer bytes than asked for only at the file's end. Seek: the next read
 * begins at `offset`.
 */
int bshm_os_file_open(const char *path, int *fd);
int bshm_os_file_create(const char *path, char *name, int *fd);
int bshm_os_file_write(int fd, const void *bytes, size_t count);
int bshm_os_file_publish(int fd, const char *name, const char *path);
int bshm_os_file_read(int fd, void *bytes, size_t count, size_t *got);
int bshm_os_file_seek(int fd, uint64_t offset);
int bshm_os_map(int fd, uint64_t bytes, bool readonly, void **base);
/* Makes a part of a read-only mapping writable, with the whole pages that it begins and ends in. */
int bshm_os_protect(void *begin, uint64_t bytes);
void bshm_os_unmap(void *base, uint64_t bytes);
void bshm_os_advise_huge(void *base, uint64_t bytes);

/*
 * A lock on one byte, which belongs to this open file and ends with it, also when the process is
 * killed. Try: 0 = taken, EAGAIN = a lock of another open file is in the way. Lock: others have
 * none there; makes a shared one exclusive, or may lose it when that fails. Share: others may share
 * it; makes an exclusive one shared.
 */
int bshm_os_lock_byte(int fd, int64_t offset);
int bshm_os_share_byte(int fd, int64_t offset);
int bshm_os_release_byte(int fd, int64_t offset);
/* Does another open file share it? False also when the kernel cannot tell. */
bool bshm_os_byte_shared(int fd, int64_t offset);
/* Has another open file an exclusive lock there? */
int bshm_os_byte_taken(int fd, int64_t offset, bool *taken);

typedef struct {
	int64_t offset;
	uint64_t bytes;
	uint64_t process_id; /* 0: the system does not say */
	bool of_one_byte;    /* it may have been made by bshm_os_lock_byte() */
} bshm_os_lock;

/* Any one lock, shared ones too where the system tells, that another open file has in this part of
 * the file; bytes 0: there is none. */
int bshm_os_lock_find(int fd, int64_t offset, uint64_t bytes, bshm_os_lock *out);

/*
 * Keeps an open file, and so its locks, until bshm_os_release() or the process's end, without a
 * descriptor. The child of a fork does not have it.
 */
int bshm_os_keep(int fd, void **kept);
void bshm_os_release(void *kept);

uint32_t bshm_os_effective_uid(void);
/* What tells the effective user from all others: the number; on Windows the SID, which ends with
 * the number. */
void bshm_os_user_text(char *out, size_t room);
uint64_t bshm_os_process_id(void);
/* How many descriptors this process may have. */
uint64_t bshm_os_descriptor_limit(void);
/* Different for any two living threads of the system. */
uint32_t bshm_os_thread_id(void);
uint64_t bshm_os_monotonic_ns(void);
/* The clock of sliding filters: the monotonic one, unless a test has set it. The cheap clock costs
 * a fifth of that, and lags behind by the length of the system's tick, 1 to 10 ms. */
uint64_t bshm_os_clock_ns(void);
uint64_t bshm_os_clock_cheap_ns(void);
void bshm_os_clock_set(uint64_t ns);
/*
 * Which monotonic clock this process reads. Boot: a number for the system's present boot; 0 =
 * unknown; a container may have a number of its own. Shift: what the time namespace of the process
 * adds to the system's clock. Numbers are modulo 2^64.
 */
typedef struct {
	uint64_t boot;
	uint64_t shift_ns;
	bool shift_known;
	int os_code; /* why `boot` is 0, if it may be known later: no descriptor is left, say */
} bshm_os_host;
/* Without the boot, which takes 10 microseconds to read, that is 0. */
bshm_os_host bshm_os_host_now(bool with_boot);
/* The clock less the kernel's count of its ticks, which no namespace shifts: constant to some 20
 * ms. */
uint64_t bshm_os_clock_less_ticks_ns(void);
/* For tests: what bshm_os_host_now() returns from now on; NULL = the real host again. */
void bshm_os_host_set(const bshm_os_host *host);
/* Does the file lie in memory only? Then it cannot be older than the system's boot. */
bool bshm_os_in_memory(int fd);
/* For tests: every file counts as on a disk. */
void bshm_os_disk_set(bool on_disk);
double bshm_os_wall_s(void);
/* For tests: by how much the wall clock is set forward. */
void bshm_os_wall_set(double ahead_s);
void bshm_os_sleep_us(unsigned microseconds);
void bshm_os_yield(void);
/* Unpredictable bytes; 0 or the system's error number. */
int bshm_os_random(void *out, size_t bytes);
/* Calls `before` before each fork() of this process, and then the others; each may be NULL. */
void bshm_os_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/* Private memory, given back to the system at once when released; NULL when there is none. */
void *bshm_os_private(size_t bytes);
void bshm_os_private_release(void *memory, size_t bytes);

#endif
