/*
 * scale.c - a thousand million keys: loaded, asked, dumped and restored.
 *
 *   scale KEYS FILE     FILE is for the dump, and is removed
 *
 * A load needs 16 bytes of private memory a key beside the filter: 24 GB of memory for 10^9 keys.
 * The restore is compared with what the system takes for the same bytes: reading the file (it is in
 * the page cache), and one copy of them into shared memory that was reserved, but never touched, as
 * the segment was: much of the time goes into the first touch.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE
#endif

#include "core/bshm.h"
#include "platform/platform.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SAMPLE 20000000

static const char path[] = "/dev/shm/bloomshm-scale";
static bshm_segment *segment;
static bshm_views *views;
static bshm_error error;
static bool good = true;
static int reserved = -1; /* shared memory of the filter's size */

static double now(void)
{
	return (double) bshm_os_monotonic_ns() / 1e9;
}

static void must(int status, const char *what)
{
	if (status < 0) {
		fprintf(stderr, "scale: %s: %s (%s)\n", what, bshm_status_str(status),
			bshm_cause_str(error.cause));
		unlink(path);
		exit(1);
	}
}

static void expect(bool condition, const char *what)
{
	printf("%s - %s\n", condition ? "ok" : "not ok", what);
	fflush(stdout);
	good = good && condition;
}

static bool has(const char *name, uint64_t key)
{
	return bshm_filter_has(segment, views, name, strlen(name), (const char *) &key, sizeof(key)) !=
		   0;
}

static void load(uint64_t keys)
{
	const bshm_parameters parameters = {.error_rate = 0.01};
	bshm_build *build;
	bshm_info info;
	const double start = now();
	must(bshm_build_begin(segment, "f", 1, &parameters, &build, &error), "begin");
	for (uint64_t key = 0; key < keys; key++) {
		must(bshm_build_key(build, (const char *) &key, sizeof(key), &error), "key");
	}
	must(bshm_build_publish(build, 0.015, &info, &error), "publish");
	const double took = now() - start;
	printf("loaded %llu keys in %.1f s (%.1f M/s): %llu bytes, %.2f bits a key, rate %.5f\n",
		(unsigned long long) keys, took, (double) keys / took / 1e6,
		(unsigned long long) info.bytes, 8.0 * (double) info.bytes / (double) keys,
		info.estimated_error_rate);
	expect(info.estimated_error_rate <= 0.01, "the rate is kept");
}

/* Keys all over the filter, and as many that are not in it. */
static void ask(const char *name, uint64_t keys)
{
	uint64_t lost = 0;
	uint64_t found = 0;
	uint64_t state = 1;
	for (uint64_t i = 0; i < SAMPLE; i++) {
		state = state * UINT64_C(6364136223846793005) + 1;
		lost += !has(name, (state >> 11) % keys);
	}
	const double start = now();
	for (uint64_t i = 0; i < SAMPLE; i++) {
		found += has(name, (UINT64_C(1) << 60) + i);
	}
	printf(
		"%s: %llu of %d present keys denied, %.5f of the absent ones maybe, %.0f ns a question\n",
		name, (unsigned long long) lost, SAMPLE, (double) found / SAMPLE,
		(now() - start) * 1e9 / SAMPLE);
	expect(lost == 0 && (double) found / SAMPLE <= 0.01, "asked");
}

/* What the system takes to read the file, and to copy as much. */
static double baseline(const char *file, uint64_t bytes)
{
	static char buffer[1 << 17];
	double start = now();
	const int fd = open(file, O_RDONLY);
	while (read(fd, buffer, sizeof(buffer)) > 0) {
	}
	close(fd);
	const double reading = now() - start;
	char *from = mmap(
		NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	char *to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reserved, 0);
	if (from == MAP_FAILED || to == MAP_FAILED) {
		perror("scale: mmap");
		exit(1);
	}
	start = now();
	memcpy(to, from, bytes);
	const double copying = now() - start;
	munmap(from, bytes);
	munmap(to, bytes);
	printf("reading the file %.2f s, one copy %.2f s\n", reading, copying);
	return reading + copying;
}

static void travel(const char *file)
{
	uint64_t bytes;
	double start = now();
	must(bshm_filter_dump(segment, views, "f", 1, file, &bytes, &error), "dump");
	printf("dumped %llu bytes in %.2f s\n", (unsigned long long) bytes, now() - start);
	const double least = baseline(file, bytes);
	start = now();
	must(bshm_filter_restore(segment, "g", 1, file, &error), "restore");
	const double took = now() - start;
	printf("restored in %.2f s: %.2f times that\n", took, took / least);
	expect(took <= 2 * least, "restored at the speed of the disk");
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: scale KEYS FILE\n");
		return 1;
	}
	const uint64_t keys = strtoull(argv[1], NULL, 10);
	const uint64_t filter = bshm_geometry_for(0.01, keys).partition_count * BSHM_FILTER_UNIT_BYTES;
	const bshm_options options = {
		.path = path, .filter_bytes = 2 * filter + (64 << 20), .mode = 0600};
	unlink(path);
	must(bshm_segment_open(&options, &segment, &error), "segment");
	reserved = memfd_create("copy", 0);
	if (reserved < 0 || posix_fallocate(reserved, 0, (off_t) filter + (1 << 20)) != 0) {
		perror("scale: memory for the comparison");
		return 1;
	}
	views = bshm_views_new();
	load(keys);
	ask("f", keys);
	travel(argv[2]);
	ask("g", keys);
	const bshm_parameters huge = {.error_rate = 0.01, .capacity = BSHM_CAPACITY_MAX};
	const int refused = bshm_filter_reserve(segment, "huge", 4, &huge, &error);
	printf("2^40 keys: %llu bytes asked, %llu free\n", (unsigned long long) error.asked,
		(unsigned long long) error.available);
	expect(refused == BSHM_E_NO_SPACE, "a reserve of 2^40 keys is refused");
	bshm_segment_close(segment);
	unlink(path);
	unlink(argv[2]);
	return good ? 0 : 1;
}
