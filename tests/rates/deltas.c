/*
 * deltas.c - what deltas take, beside what they must.
 *
 *   deltas [KEYS]       of the filters (default 8,000,000)
 *
 * A filter is loaded; then it is loaded again with a part of the keys taken out and as many put in,
 * under the same seed. Each bit of an image changes with the probability p. If they did so by
 * chance, no code could take less than H(p) bits for each of them: the delta of the two dumps may
 * take 3 % more. It must lead from one dump to the other and back.
 *
 * TAP, and a closing line. Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bshm_segment *segment;
static bshm_views *views;
static bshm_error error;
static char folder[64];
static uint64_t keys = 8000000;
static unsigned passed;
static unsigned failed;

static const char *path(const char *file)
{
	static char paths[4][128];
	static unsigned turn;
	char *out = paths[turn++ % 4];
	snprintf(out, sizeof(paths[0]), "%s/%s", folder, file);
	return out;
}

static void clean_up(void)
{
	static const char *const files[] = {"segment", "from", "to", "delta", "made"};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		unlink(path(files[i]));
	}
	rmdir(folder);
}

static void must(int status, const char *what)
{
	if (status < 0) {
		printf(
			"Bail out! %s: %s (%s)\n", what, bshm_status_str(status), bshm_cause_str(error.cause));
		clean_up();
		exit(1);
	}
}

static void tell(bool good, const char *name)
{
	printf("%s - %s\n", good ? "ok" : "not ok", name);
	fflush(stdout);
	*(good ? &passed : &failed) += 1;
}

/* Publishes the filter of the keys first .. first + keys - 1, and dumps it. */
static void make_image(const char *file, uint32_t expansion, uint64_t first)
{
	const bshm_parameters p = {.error_rate = 0.01,
		.capacity = keys + keys / 50,
		.expansion = expansion,
		.seed = "seed",
		.seed_length = 4};
	bshm_build *build;
	bshm_info info;
	uint64_t bytes;
	must(bshm_build_begin(segment, "f", 1, &p, &build, &error), "begin");
	for (uint64_t i = first; i < first + keys; i++) {
		must(bshm_build_key(build, (const char *) &i, sizeof(i), &error), "key");
	}
	must(bshm_build_publish(build, 0.02, &info, &error), "publish");
	must(bshm_filter_dump(segment, views, "f", 1, path(file), &bytes, &error), "dump");
}

static bool same_files(const char *a, const char *b)
{
	FILE *one = fopen(path(a), "rb");
	FILE *two = fopen(path(b), "rb");
	static char bytes[2][1 << 16];
	size_t count;
	bool same = one != NULL && two != NULL;
	do {
		count = same ? fread(bytes[0], 1, sizeof(bytes[0]), one) : 0;
		same = same && fread(bytes[1], 1, sizeof(bytes[1]), two) == count &&
			   memcmp(bytes[0], bytes[1], count) == 0;
	} while (count != 0);
	fclose(one);
	fclose(two);
	return same;
}

/* Takes out `gone` of the keys, and puts as many in. */
static void compare(const char *kind, uint32_t expansion, uint64_t gone)
{
	bshm_delta_stat stat;
	bshm_delta_stat again;
	char line[256];
	make_image("to", expansion, gone);
	must(bshm_delta_make(path("from"), path("to"), path("delta"), &stat, &error), "make");
	const double bits = 8.0 * (double) stat.from_bytes;
	const double p = (double) stat.changed_bits / bits;
	const double bound = -bits / 8 * (p * log2(p) + (1 - p) * log2(1 - p));
	const double ratio = (double) stat.delta_bytes / bound;
	snprintf(line, sizeof(line),
		"%s, %g %% of the keys: %.4g %% of the bits, %llu bytes, %.2f %% of the image, %.4f of "
		"the entropy",
		kind, 100.0 * (double) gone / (double) keys, 100 * p, (unsigned long long) stat.delta_bytes,
		100.0 * (double) stat.delta_bytes / (double) stat.to_bytes, ratio);
	tell(ratio <= 1.03, line);
	must(bshm_delta_apply(path("from"), path("delta"), path("made"), &again, &error), "apply");
	bool same = same_files("made", "to");
	must(bshm_delta_apply(path("to"), path("delta"), path("made"), &again, &error), "go back");
	same = same && same_files("made", "from");
	tell(same, "it leads there, and back");
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		keys = strtoull(argv[1], NULL, 10);
	}
	snprintf(folder, sizeof(folder), "/dev/shm/bloomshm-deltas.XXXXXX");
	if (mkdtemp(folder) == NULL) {
		return 1;
	}
	const bshm_options options = {
		.path = path("segment"), .filter_bytes = (keys * 4 / (1 << 20) + 16) << 20, .mode = 0600};
	must(bshm_segment_open(&options, &segment, &error), "open");
	views = bshm_views_new();
	for (uint32_t expansion = 0; expansion <= 2; expansion += 2) {
		make_image("from", expansion, 0);
		for (uint64_t part = 10000; part >= 10; part /= 10) {
			compare(expansion == 0 ? "fixed" : "scalable", expansion, keys / part);
		}
	}
	bshm_views_free(views);
	bshm_segment_close(segment);
	clean_up();
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
