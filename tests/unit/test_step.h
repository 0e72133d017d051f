/*
 * test_step.h - a call that is stopped, or dies, after any number of machine instructions.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_STEP_H
#define BSHM_TEST_STEP_H

#include "test.h"

#include "platform/platform.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define MARK      0     /* test_words[]: 1 = the call begins, 2 = it is over */
#define TAKEN     15    /* test_words[]: nanoseconds of the call */
#define STEPS_MAX 20000 /* a longer call is not stepped through */

static void (*prepare)(void); /* in the child, before its call */
static void (*call)(void);

static inline void run(void)
{
	BSHM_STORE(&test_words[MARK], 1, SEQ_CST);
	const uint64_t start = bshm_os_monotonic_ns();
	call();
	test_words[TAKEN] = bshm_os_monotonic_ns() - start;
	BSHM_STORE(&test_words[MARK], 2, SEQ_CST);
	raise(SIGSTOP);
}

static inline void marked(void)
{
	prepare();
	run();
}

static inline void traced(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	prepare();
	raise(SIGSTOP);
	run();
}

static inline bool step(pid_t child)
{
	int status;
	return ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 &&
		   waitpid(child, &status, 0) == child && WIFSTOPPED(status);
}

/* qemu-user has none; see script/test-aarch64. */
static inline bool can_trace(void)
{
	return ptrace(PTRACE_CONT, 0, NULL, NULL) == 0 || errno != ENOSYS;
}

/* Begins the call in a child, and stops it after so many instructions; how many it was. *over: it
 * had ended before. */
static inline long stop_after(long instructions, pid_t *child, bool *over)
{
	if (!can_trace()) {
		test_skip("no ptrace");
	}
	BSHM_STORE(&test_words[MARK], 0, SEQ_CST);
	*child = spawn(traced);
	int status;
	waitpid(*child, &status, 0);
	long steps = 0;
	while (BSHM_LOAD(&test_words[MARK], SEQ_CST) == 0 && steps++ < STEPS_MAX && step(*child)) {
	}
	REQUIRE(BSHM_LOAD(&test_words[MARK], SEQ_CST) == 1);
	*over = false;
	for (steps = 0; !*over && steps < instructions && step(*child); steps++) {
		*over = BSHM_LOAD(&test_words[MARK], SEQ_CST) == 2;
	}
	return steps;
}

/* Lets a stopped child go on to the end of its call. */
static inline void go_on(pid_t child, bool over)
{
	int status;
	if (!over && ptrace(PTRACE_CONT, child, NULL, NULL) == 0) {
		waitpid(child, &status, 0); /* it stops at the end, or where it crashes */
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static inline long kill_after(long instructions, bool *over)
{
	pid_t child;
	const long steps = stop_after(instructions, &child, over);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return steps;
}

#endif
