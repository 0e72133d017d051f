/*
 * watch.c - how long adds on one host take to be seen on all.
 *
 *   watch FOLDER FILTER HOSTS RATE SECONDS
 *
 * The segments are FOLDER/h0.seg and so on. Adds RATE keys a second on the first, as a page does;
 * looks for some of them in all segments, again and again, every 20 ms. Prints, in milliseconds
 * from the add on: at how many pairs of such a key and a host it was seen by when, and by when it
 * was seen on all hosts. Status 1: some were never seen.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROBES_A_SECOND 2
#define NAP_NS          20000000
#define SECOND_NS       UINT64_C(1000000000)
#define PATIENCE_S      60
#define KEY_ROOM        32

typedef struct {
	bshm_segment *segment;
	bshm_views *views;
} host;

typedef struct {
	char key[KEY_ROOM];
	uint64_t added_ns;
	bool *seen; /* by host */
	size_t missing;
} probe;

typedef struct {
	const char *filter;
	host *hosts;
	size_t host_count;
	uint64_t rate;
	uint64_t seconds;
	uint64_t begin_ns;
	uint64_t added;
	probe *probes;
	size_t probe_count;
	double *pairs; /* ms */
	size_t pair_count;
	double *whole;
	size_t whole_count;
} watch;

static void *must(void *memory)
{
	if (memory == NULL) {
		fputs("watch: no memory\n", stderr);
		exit(2);
	}
	return memory;
}

static void open_hosts(watch *w, const char *folder)
{
	w->hosts = must(calloc(w->host_count, sizeof(*w->hosts)));
	for (size_t i = 0; i < w->host_count; i++) {
		char path[4096];
		bshm_error error;
		snprintf(path, sizeof(path), "%s/h%zu.seg", folder, i);
		const bshm_options options = {.path = path, .mode = 0600, .attach_only = true};
		const bshm_status status = bshm_segment_open(&options, &w->hosts[i].segment, &error);
		if (status != BSHM_OK) {
			fprintf(stderr, "watch: %s: %s\n", path, bshm_status_str(status));
			exit(2);
		}
		w->hosts[i].views = must(bshm_views_new());
	}
}

/* Adds what is due. */
static void add(watch *w)
{
	const uint64_t due = (bshm_now_ns() - w->begin_ns) * w->rate / SECOND_NS;
	const uint64_t last = w->rate * w->seconds;
	for (; w->added < (due < last ? due : last); w->added++) {
		char key[KEY_ROOM];
		bshm_error error;
		const int length = snprintf(key, sizeof(key), "%zu", (size_t) (w->begin_ns + w->added));
		const uint64_t now = bshm_now_ns();
		if (bshm_filter_add(w->hosts[0].segment, w->hosts[0].views, w->filter, strlen(w->filter),
				key, (size_t) length, &error) != 1) {
			continue; /* a host may have said "maybe" before */
		}
		if (w->added * PROBES_A_SECOND / w->rate >= w->probe_count) {
			probe *p = &w->probes[w->probe_count++];
			memcpy(p->key, key, sizeof(key));
			p->added_ns = now;
			p->missing = w->host_count;
			p->seen = must(calloc(w->host_count, sizeof(*p->seen)));
		}
	}
}

static void look_for(watch *w, probe *p)
{
	for (size_t i = 0; i < w->host_count && p->missing > 0; i++) {
		const host *h = &w->hosts[i];
		if (p->seen[i] || bshm_filter_has(h->segment, h->views, w->filter, strlen(w->filter),
							  p->key, strlen(p->key)) != 1) {
			continue;
		}
		const double ms = (double) (bshm_now_ns() - p->added_ns) / 1e6;
		p->seen[i] = true;
		w->pairs[w->pair_count++] = ms;
		if (--p->missing == 0) {
			w->whole[w->whole_count++] = ms;
		}
	}
}

static int order(const void *a, const void *b)
{
	const double x = *(const double *) a;
	const double y = *(const double *) b;
	return (x > y) - (x < y);
}

static void print(const char *what, double *ms, size_t count)
{
	qsort(ms, count, sizeof(*ms), order);
	if (count > 0) {
		printf("%s: %zu, median %.0f, p99 %.0f, most %.0f ms\n", what, count, ms[count / 2],
			ms[count * 99 / 100], ms[count - 1]);
	}
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fputs("usage: watch FOLDER FILTER HOSTS RATE SECONDS\n", stderr);
		return 2;
	}
	watch w = {.filter = argv[2],
		.host_count = strtoull(argv[3], NULL, 10),
		.rate = strtoull(argv[4], NULL, 10),
		.seconds = strtoull(argv[5], NULL, 10)};
	const size_t most = PROBES_A_SECOND * w.seconds;
	open_hosts(&w, argv[1]);
	w.probes = must(calloc(most, sizeof(*w.probes)));
	w.pairs = must(calloc(most * w.host_count, sizeof(*w.pairs)));
	w.whole = must(calloc(most, sizeof(*w.whole)));
	w.begin_ns = bshm_now_ns();
	while (
		w.whole_count < most && bshm_now_ns() < w.begin_ns + (w.seconds + PATIENCE_S) * SECOND_NS) {
		add(&w);
		for (size_t i = 0; i < w.probe_count; i++) {
			look_for(&w, &w.probes[i]);
		}
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	}
	print("a key on a host", w.pairs, w.pair_count);
	print("a key on all hosts", w.whole, w.whole_count);
	return w.whole_count < most;
}
