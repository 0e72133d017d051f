/*
 * records.c - a hundred million records: bytes a record, with a ttl and without, and all of them
 * found.
 *
 *   records COUNT
 *
 * Keys and values have 8 bytes. What is counted is what the store uses of its memory: records,
 * index, descriptors, locks, in whole pages. The limit is the number of records, as an operator
 * sets it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE
#endif

#include "core/bshm_records.h"
#include "platform/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_PLAIN 33.0
#define MOST_TTL   37.0

static const char path[] = "/dev/shm/bloomshm-scale-records";

static void stop(const char *what, int status)
{
	fprintf(stderr, "records: %s: %s\n", what, bshm_status_str(status));
	unlink(path);
	exit(1);
}

/* Puts all records, and asks for a tenth of them; false: too many bytes, or one is missing. */
static bool measure(uint64_t count, uint32_t ttl_s, double most)
{
	const bshm_options options = {
		.path = path,
		.filter_bytes = BSHM_FILTER_BYTES_MIN,
		.cache_bytes = (UINT64_C(1) << 20) + count * 40,
		.cache_records = count,
		.mode = 0600,
	};
	bshm_segment *segment;
	bshm_error error;
	bshm_found found;
	unlink(path);
	int status = bshm_segment_open(&options, &segment, &error);
	if (status != BSHM_OK) {
		stop("segment", status);
	}
	uint64_t number;
	bshm_put put = {
		.key = {(const char *) &number, sizeof(number)},
		.value = {BSHM_VALUE_STRING, &number, sizeof(number)},
		.ttl_s = ttl_s,
	};
	uint64_t start = bshm_os_monotonic_ns();
	for (number = 0; number < count; number++) {
		status = bshm_record_put(segment, &put, &error);
		if (status != 1) {
			stop("put", status);
		}
	}
	const double set_ns = (double) (bshm_os_monotonic_ns() - start) / (double) count;
	uint64_t missing = 0;
	start = bshm_os_monotonic_ns();
	for (number = 0; number < count; number += 10) {
		uint64_t value = 0;
		missing += bshm_record_find(segment, BSHM_SPACE_CACHE, &put.key, 0, &found) != 1 ||
				   !bshm_found_copy(&found, &value) || value != number;
	}
	const double get_ns = (double) (bshm_os_monotonic_ns() - start) * 10 / (double) count;
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	const double bytes = (double) info.bytes_used / (double) info.records;
	const bool good = missing == 0 && info.records == count && info.evictions == 0 && bytes <= most;
	printf("%s - %llu records%s in %llu shards: %.2f bytes each (at most %.0f), %llu missing; set "
		   "%.0f ns, get %.0f ns\n",
		good ? "ok" : "not ok", (unsigned long long) info.records, ttl_s != 0 ? " with a ttl" : "",
		(unsigned long long) info.shards, bytes, most, (unsigned long long) missing, set_ns,
		get_ns);
	fflush(stdout);
	bshm_segment_close(segment);
	unlink(path);
	return good;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: records COUNT\n");
		return 1;
	}
	const uint64_t count = strtoull(argv[1], NULL, 10);
	const bool plain = measure(count, 0, MOST_PLAIN);
	return measure(count, 86400, MOST_TTL) && plain ? 0 : 1;
}
