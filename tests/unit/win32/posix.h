/*
 * posix.h - what the unit tests use of POSIX, for Windows; included before each of their sources.
 *
 * What Windows has goes by another name. What it lacks ends the test as one that cannot be carried
 * out, with the reason.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_POSIX_H
#define BSHM_TEST_POSIX_H

#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

_Noreturn void test_skip(const char *why);

/* ------------------------------------------------------------------ by another name */

#define mkdir(path, mode) _mkdir(path)
#define lstat(path, out)  stat(path, out)
#define O_CLOEXEC         _O_NOINHERIT

static inline int64_t bshm_test_at(int fd, int64_t offset)
{
	return _lseeki64(fd, offset, SEEK_SET);
}
#define pread(fd, bytes, count, offset)                                                            \
 (bshm_test_at((fd), (offset)) < 0 ? -1 : read((fd), (bytes), (unsigned) (count)))
#define pwrite(fd, bytes, count, offset)                                                           \
 (bshm_test_at((fd), (offset)) < 0 ? -1 : write((fd), (bytes), (unsigned) (count)))

/* ------------------------------------------------------------------ lacking */

static inline int lacks(const char *what, ...)
{
	test_skip(what);
}

typedef unsigned uid_t;
struct rlimit {
	uint64_t rlim_cur, rlim_max;
};
struct flock {
	short l_type, l_whence;
	int64_t l_start, l_len;
	pid_t l_pid;
};
struct statvfs {
	uint64_t f_bsize, f_frsize, f_blocks, f_bfree, f_bavail;
};

#define fork()             ((pid_t) lacks("needs fork()"))
#define getppid()          ((pid_t) lacks("needs fork()"))
#define kill(...)          lacks("needs signals", __VA_ARGS__)
#define waitpid(...)       lacks("needs fork()", __VA_ARGS__)
#define ptrace(...)        lacks("needs ptrace()", __VA_ARGS__)
#define prctl(...)         lacks("needs prctl()", __VA_ARGS__)
#define mmap(...)          ((void *) (intptr_t) lacks("needs mmap()", __VA_ARGS__))
#define munmap(...)        lacks("needs mmap()", __VA_ARGS__)
#define mprotect(...)      lacks("needs mprotect()", __VA_ARGS__)
#define setrlimit(...)     lacks("needs setrlimit()", __VA_ARGS__)
#define getrlimit(...)     lacks("needs getrlimit()", __VA_ARGS__)
#define mount(...)         lacks("needs mount()", __VA_ARGS__)
#define umount(...)        lacks("needs mount()", __VA_ARGS__)
#define unshare(...)       lacks("needs namespaces", __VA_ARGS__)
#define syscall(...)       lacks("needs syscall()", __VA_ARGS__)
#define fcntl(...)         lacks("needs fcntl()", __VA_ARGS__)
#define statvfs(path, out) lacks("needs statvfs()", (path), (out))
#define symlink(...)       lacks("needs symbolic links", __VA_ARGS__)
#define link(...)          lacks("needs link()", __VA_ARGS__)
#define mkfifo(...)        lacks("needs a FIFO", __VA_ARGS__)
#define chown(...)         lacks("needs chown()", __VA_ARGS__)
#define geteuid()          ((uid_t) lacks("needs numbers of users"))
#define getuid()           ((uid_t) lacks("needs numbers of users"))
#define seteuid(...)       lacks("needs numbers of users", __VA_ARGS__)
#define setegid(...)       lacks("needs numbers of groups", __VA_ARGS__)
#define getegid()          ((uid_t) lacks("needs numbers of groups"))

#define WIFSTOPPED(status)  (status)
#define WIFEXITED(status)   (status)
#define WIFSIGNALED(status) (status)
#define WEXITSTATUS(status) (status)
#define WTERMSIG(status)    (status)
enum {
	SIGKILL = 9,
	SIGSTOP = 19,
	SIGCONT = 18,
	SIGXFSZ = 25,
	SIGUSR1 = 10,
	PTRACE_TRACEME = 0,
	PTRACE_CONT = 7,
	PTRACE_SINGLESTEP = 9,
	PR_SET_PDEATHSIG = 1,
	PR_SET_DUMPABLE = 4,
	PROT_NONE = 0,
	PROT_READ = 1,
	PROT_WRITE = 2,
	MAP_SHARED = 1,
	MAP_PRIVATE = 2,
	MAP_ANONYMOUS = 32,
	CLONE_NEWNS = 0x20000,
	MS_REC = 16384,
	MS_PRIVATE = 1 << 18,
	RLIMIT_NOFILE = 7,
	RLIMIT_FSIZE = 1,
	SYS_close = 3,
	SYS_fsync = 74,
	SYS_fchmod = 91,
	F_GETFD = 1,
	F_SETLK = 6,
	F_OFD_SETLK = 37,
	F_RDLCK = 0,
	F_WRLCK = 1,
};
#define MAP_FAILED ((void *) -1)

#endif
