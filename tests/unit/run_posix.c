/*
 * run_posix.c - a process for each test, and the children of a test, by fork().
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "run.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------ processes */

pid_t spawn(void (*work)(void))
{
	const pid_t parent = getpid();
	const pid_t child = fork();
	REQUIRE(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent) {
			work();
		}
		_exit(0);
	}
	return child;
}

int finish(pid_t child)
{
	int status = 0;
	pid_t got;
	do {
		got = waitpid(child, &status, 0);
	} while (got < 0 && errno == EINTR);
	REQUIRE(got == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void kill_child(pid_t child)
{
	kill(child, SIGKILL);
	finish(child);
}

void stop_child(pid_t child)
{
	int status;
	kill(child, SIGSTOP);
	REQUIRE(waitpid(child, &status, WUNTRACED) == child);
	REQUIRE(WIFSTOPPED(status));
}

bool stop_child_when(pid_t child, bool (*condition)(void))
{
	siginfo_t end = {0};
	while (!condition()) {
		if (waitid(P_PID, (id_t) child, &end, WEXITED | WNOHANG | WNOWAIT) != 0 ||
			end.si_pid == child) {
			return false;
		}
	}
	kill(child, SIGSTOP);
	REQUIRE(waitid(P_PID, (id_t) child, &end, WEXITED | WSTOPPED | WNOWAIT) == 0);
	return end.si_code == CLD_STOPPED && condition();
}

void raise_flag_and_sleep(unsigned flag)
{
	raise_flag(flag);
	for (;;) {
		pause();
	}
}

/* ------------------------------------------------------------------ running */

blackboard *run_board(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	void *memory =
		mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

bool run_make_directory(void)
{
	/* Memory, where there is some: the segment reserves what it is asked for. */
	const char *base = getenv("TMPDIR");
	base = base != NULL ? base : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(board->directory, sizeof(board->directory), "%s/bshm-test-XXXXXX", base);
	return mkdtemp(board->directory) != NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void) st;
	(void) type;
	(void) ftw;
	return remove(path);
}

void run_remove_directory(void)
{
	nftw(board->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Children have the limit of processor time too, each its own. */
static void watch(void)
{
	const struct rlimit limit = {PROCESSOR_SECONDS, PROCESSOR_SECONDS + 10};
	setrlimit(RLIMIT_CPU, &limit);
	alarm(WATCHDOG_SECONDS);
}

const char *run_why_ended(int signal_number)
{
	return signal_number == SIGALRM   ? ": it took too long"
		   : signal_number == SIGXCPU ? ": it took too much of the processor"
									  : "";
}

int run_alone(const test *t)
{
	const pid_t runner = getpid();
	const pid_t child = fork();
	if (child == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		watch();
		if (getppid() == runner) {
			t->function();
		}
		exit(0); /* not _exit: the leak checker looks now */
	}
	int status = -1;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
	}
	kill(-child, SIGKILL); /* what it left running */
	while (waitpid(-1, NULL, 0) > 0) {
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

const char *run_is_alone(int argc, char **argv)
{
	(void) argc;
	(void) argv;
	return NULL; /* it is a child, and never comes here */
}
