/*
 * busy.h - time, for tests on a machine that is busy with other work.
 *
 * Where time is what is tested, the time in which a thread could run and had no processor is taken
 * off: the kernel counts it (the second number in schedstat, nanoseconds).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_BUSY_H
#define BSHM_BUSY_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* How long this thread could run so far and had no processor; 0 where the kernel does not count
 * it. */
static inline uint64_t delayed_ns(void)
{
	static __thread int file = -1;
	static __thread pid_t opened_by;
	char text[64] = "";
	uint64_t ran = 0;
	uint64_t delayed = 0;
	if (opened_by != getpid()) { /* a child's is another one */
		if (file >= 0) {
			close(file);
		}
		file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
		opened_by = getpid();
	}
	if (file < 0 || pread(file, text, sizeof(text) - 1, 0) <= 0 ||
		sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &delayed) != 2) {
		return 0;
	}
	return delayed;
}

/* Nanoseconds on a clock that stands still meanwhile. */
static inline int64_t undelayed_ns(void)
{
	struct timespec now;
	uint64_t delayed;
	do {
		delayed = delayed_ns();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (delayed != delayed_ns()); /* of one moment */
	return (int64_t) now.tv_sec * INT64_C(1000000000) + now.tv_nsec - (int64_t) delayed;
}

#endif
