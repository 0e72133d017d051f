/*
 * random_load.c - what one dependent random load costs in the memory of a file.
 *
 *     random_load FILE LOADS
 *
 * Maps the file as a segment is mapped (shared, pages of the system's size) with every page
 * present, and makes LOADS loads of 8 bytes from random cache lines, each of whose places is
 * known only when the load before has returned: a generator of random numbers gives the places
 * and every loaded word goes through it, masked to nothing. So the walk can go through the very
 * memory the filter lies in, without writing a chain of pointers there.
 *
 * Prints {"nanoseconds": N}, net of the same walk over a single cache line.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 64

/* Zero, but the compiler does not know. */
static volatile uint64_t nothing = 0;

static void die(const char *what)
{
	fprintf(stderr, "random_load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

static double walk_ns(const unsigned char *memory, uint64_t line_count, uint64_t loads)
{
	const uint64_t mask = nothing;
	uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
	const double start = now_ns();
	for (uint64_t i = 0; i < loads; i++) {
		const uint64_t line = (uint64_t) (((unsigned __int128) state * line_count) >> 64);
		uint64_t word;
		memcpy(&word, memory + line * LINE_BYTES, sizeof word);
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		state += word & mask;
	}
	const double taken = now_ns() - start;
	nothing = state & mask;
	return taken / (double) loads;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: random_load FILE LOADS\n");
		return 2;
	}
	const uint64_t loads = strtoull(argv[2], NULL, 10);
	const int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	struct stat file;
	if (fd < 0 || fstat(fd, &file) != 0) {
		die(argv[1]);
	}
	const size_t bytes = (size_t) file.st_size;
	const unsigned char *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (memory == MAP_FAILED) {
		die("mmap");
	}
	const double everywhere = walk_ns(memory, bytes / LINE_BYTES, loads);
	const double in_place = walk_ns(memory, 1, loads);
	printf("{\"nanoseconds\": %.3f}\n", everywhere - in_place);
	return 0;
}
