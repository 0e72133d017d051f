/*
 * rates.c - is the rate that the bits say the rate that absent keys meet?
 *
 *   rates [PROBES]      how many absent keys are asked of each filter (default 10,000,000)
 *
 * Each kind of filter is filled to 10, 50, 100 and 150 % of its capacity. What bshm_filter_info()
 * estimates must be within 5 % of what absent keys measure, plus three standard deviations of that
 * measurement. Fill beyond the capacity of a filter that does not grow comes from a union. At low
 * fill the rates of 1 % filters are too small to be measured: there the filter is asked for more.
 * Then one filter is grown to 10 million keys, and its rate is measured at each doubling.
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
static char path[128];
static uint64_t probes = 10000000;
static unsigned passed;
static unsigned failed;

static void must(int status, const char *what)
{
	if (status < 0) {
		printf(
			"Bail out! %s: %s (%s)\n", what, bshm_status_str(status), bshm_cause_str(error.cause));
		unlink(path);
		exit(1);
	}
}

static void tell(bool good, const char *name)
{
	printf("%s - %s\n", good ? "ok" : "not ok", name);
	fflush(stdout);
	*(good ? &passed : &failed) += 1;
}

static void add(const char *name, uint64_t from, uint64_t to)
{
	while (from < to) {
		uint64_t numbers[1000];
		bshm_key keys[1000];
		uint64_t added;
		size_t count = 0;
		while (count < 1000 && from < to) {
			numbers[count] = from++;
			keys[count] = (bshm_key){(const char *) &numbers[count], sizeof(numbers[0])};
			count++;
		}
		must(bshm_filter_add_many(
				 segment, views, name, strlen(name), keys, count, NULL, &added, &error),
			"add");
	}
}

/* Of `probes` absent keys, how many are maybe there. */
static uint64_t ask_absent(const char *name)
{
	bshm_view *view;
	must(bshm_view_open(segment, views, name, strlen(name), &view), "view");
	uint64_t hits = 0;
	for (uint64_t done = 0; done < probes; done += BSHM_BATCH) {
		uint64_t numbers[BSHM_BATCH];
		bshm_key keys[BSHM_BATCH];
		bool answers[BSHM_BATCH];
		for (unsigned i = 0; i < BSHM_BATCH; i++) {
			numbers[i] = (UINT64_C(1) << 62) + done + i;
			keys[i] = (bshm_key){(const char *) &numbers[i], sizeof(numbers[0])};
		}
		bshm_view_has(view, keys, BSHM_BATCH, answers);
		for (unsigned i = 0; i < BSHM_BATCH; i++) {
			hits += answers[i];
		}
	}
	return hits;
}

static bshm_info info_of(const char *name)
{
	bshm_info info;
	must(bshm_filter_info(segment, views, name, strlen(name), &info), "info");
	return info;
}

/* Compares what the filter says of itself with what it does. */
static void compare(const char *what, const char *name)
{
	const double estimated = info_of(name).estimated_error_rate;
	const uint64_t asked = (probes + BSHM_BATCH - 1) / BSHM_BATCH * BSHM_BATCH;
	const double measured = (double) ask_absent(name) / (double) asked;
	const double noise = 3 * sqrt(estimated * (1 - estimated) / (double) asked);
	char line[200];
	snprintf(line, sizeof(line), "%s: estimated %.6g, measured %.6g (%.2f %% apart)", what,
		estimated, measured, 100 * fabs(measured / estimated - 1));
	tell(fabs(measured - estimated) <= 0.05 * estimated + noise, line);
}

/* ------------------------------------------------------------------ kinds and fills */

typedef struct {
	const char *name;
	uint32_t expansion;
	uint32_t window_s;
	bool counting;
} kind;

static const kind kinds[] = {
	{"fixed", 0, 0, false},
	{"scalable", 2, 0, false},
	{"sliding", 0, 300, false},
	{"counting", 0, 0, true},
};

#define CAPACITY UINT64_C(300000)

static void reserve(const char *name, const kind *k, double error_rate)
{
	const bshm_parameters parameters = {
		.error_rate = error_rate,
		.capacity = CAPACITY,
		.expansion = k->expansion,
		.window_s = k->window_s,
		.counting = k->counting,
		.seed = "rates",
		.seed_length = 5,
	};
	must(bshm_filter_reserve(segment, name, strlen(name), &parameters, &error), "reserve");
}

/* To `percent` of the capacity. A fixed filter takes no more than all: two halves, and their
 * union. */
static void fill(const char *name, const kind *k, double error_rate, unsigned percent)
{
	const uint64_t keys = CAPACITY * percent / 100;
	reserve(name, k, error_rate);
	if (k->expansion != 0 || k->window_s != 0 || percent < 100) {
		add(name, 0, keys);
		return;
	}
	add(name, 0, keys / 2);
	reserve("other half", k, error_rate);
	add("other half", keys / 2, keys);
	const bshm_key other = {"other half", 10};
	must(bshm_filter_merge(segment, name, strlen(name), &other, 1, &error), "merge");
	must(bshm_filter_drop(segment, "other half", 10, &error), "drop");
}

static void compare_kinds(void)
{
	static const struct {
		unsigned percent;
		double error_rate;
	} fills[] = {{10, 0.5}, {50, 0.2}, {100, 0.01}, {100, 0.1}, {150, 0.01}};
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (size_t f = 0; f < sizeof(fills) / sizeof(fills[0]); f++) {
			char what[100];
			snprintf(what, sizeof(what), "%s, %g asked for, %u %% full", kinds[k].name,
				fills[f].error_rate, fills[f].percent);
			fill("f", &kinds[k], fills[f].error_rate, fills[f].percent);
			compare(what, "f");
			must(bshm_filter_drop(segment, "f", 1, &error), "drop");
		}
	}
}

/* Lanes of different ages, some keys in several of them. */
static void compare_a_sliding_window(void)
{
	uint64_t clock = UINT64_C(1000000000000000);
	bshm_clock_set(clock);
	reserve("window", &kinds[2], 0.1);
	for (uint64_t epoch = 0; epoch < 6; epoch++) {
		add("window", epoch * 80000, epoch * 80000 + 120000);
		clock += UINT64_C(100000000000);
		bshm_clock_set(clock);
	}
	add("window", 6 * 80000, 6 * 80000 + 60000);
	compare("sliding, keys refreshed in three of four lanes", "window");
	must(bshm_filter_drop(segment, "window", 6, &error), "drop");
	bshm_clock_set(0);
}

/* ------------------------------------------------------------------ growth */

static void compare_growth(void)
{
	const bshm_parameters parameters = {.error_rate = 0.01, .capacity = 100, .expansion = 2};
	must(bshm_filter_reserve(segment, "grown", 5, &parameters, &error), "reserve");
	uint64_t keys = 0;
	uint64_t most = 0;
	bool kept = true;
	for (uint64_t until = 10000; keys < 10000000; until *= 2) {
		until = until > 10000000 ? 10000000 : until;
		add("grown", keys, until);
		keys = until;
		const bshm_info info = info_of("grown");
		most = info.bytes > most ? info.bytes : most;
		kept = kept && info.estimated_error_rate <= 0.01;
		char what[100];
		snprintf(what, sizeof(what), "grown to %llu keys, %u layers, %.1f bits a key",
			(unsigned long long) keys, info.layer_count, 8.0 * (double) info.bytes / (double) keys);
		compare(what, "grown");
	}
	tell(kept, "grown: at no size above the 1 % asked for");
	tell(info_of("grown").layer_count <= 12 && most <= 36000000,
		"grown: 12 layers and 36 MB at most");
}

int main(int argc, char **argv)
{
	probes = argc > 1 ? strtoull(argv[1], NULL, 10) : probes;
	snprintf(path, sizeof(path), "/dev/shm/bloomshm-rates.%d", (int) getpid());
	const bshm_options options = {.path = path, .filter_bytes = 48 << 20, .mode = 0600};
	must(bshm_segment_open(&options, &segment, &error), "segment");
	views = bshm_views_new();
	compare_kinds();
	compare_a_sliding_window();
	compare_growth();
	bshm_segment_close(segment);
	unlink(path);
	printf("%u passed, %u failed\n", passed, failed);
	return failed == 0 ? 0 : 1;
}
