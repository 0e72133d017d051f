/*
 * observer.h - a process that may not wait, for tests of what never waits.
 *
 * From then on the kernel kills the process (SIGSYS) at any system call but those for memory, the
 * clock, a failure's line and the end. A limit of time would count what the host takes, and the
 * times it gave up the processor would, too: a page that the kernel moves is waited for.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_OBSERVER_H
#define BSHM_OBSERVER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* False where there is no seccomp (qemu-user). */
static inline bool forbid_waiting(void)
{
	static const uint32_t allowed[] = {SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise,
		SYS_clock_gettime, SYS_write, SYS_exit_group};
	enum {
		count = sizeof(allowed) / sizeof(allowed[0])
	};
	struct sock_filter code[count + 3];
	code[0] =
		(struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < count; i++) {
		code[1 + i] = (struct sock_filter) BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, allowed[i], (uint8_t) (count - i), 0);
	}
	code[count + 1] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[count + 2] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = {.len = count + 3, .filter = code};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#endif
