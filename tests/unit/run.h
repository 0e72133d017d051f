/*
 * run.h - how a test gets a process of its own: run_posix.c, run_win32.c.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_RUN_H
#define BSHM_TEST_RUN_H

#include "test.h"

#define EXIT_SKIPPED 77
/* Only for what hangs or spins for ever: on a busy machine a test takes many times its time. */
#define WATCHDOG_SECONDS  1200
#define PROCESSOR_SECONDS 300

typedef struct {
	const char *file;
	const char *name;
	void (*function)(void);
	bool threads;
} test;

/* One page or more, shared by a test and its children. */
typedef struct {
	uint32_t failures;
	uint32_t flags[TEST_FLAG_COUNT];
	uint64_t words[TEST_WORD_COUNT];
	uint64_t refused;
	char directory[128]; /* the test's own */
} blackboard;

extern blackboard *board;

/* Memory for `board`, zeroed; NULL: there is none. */
blackboard *run_board(void);
/* Makes a new directory, and writes its path into the board. */
bool run_make_directory(void);
void run_remove_directory(void);
/* Runs the test in a process of its own: its exit code, or the negated number of the signal that
 * ended it. Nothing that it started is left. */
int run_alone(const test *t);
const char *run_why_ended(int signal_number);
/* Is this process the one of a test? Then which; else NULL. */
const char *run_is_alone(int argc, char **argv);

#endif
