/*
 * fleet_pages.c - what script/bench-fleet needs besides the command: a filter whose bits are drawn,
 * and a page that asks.
 *
 *   fleet_pages stir SEGMENT FILTER SHARE   turns so large a share of the filter's bits, by
 *                                           chance; from 0.4 on each bit is set by that chance
 *   fleet_pages ask SEGMENT FILTER          asks until SIGTERM, and then prints how long the
 *                                           questions took; at SIGUSR1 too, and begins anew
 *
 * That an image of 1 GB has the bits of 850 million keys is drawn in seconds; to add them takes
 * minutes. No one else may use the filter that is stirred.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include "core/filter/view.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUCKETS   4096 /* of durations, */
#define BUCKET_NS 10u  /* so wide; the last one has all that are longer */
#define EVEN_FROM 0.4
#define COIN_BITS 8

static volatile sig_atomic_t asked_to_tell;
static volatile sig_atomic_t asked_to_end;
static uint64_t state = 1;

static uint64_t draw(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A word whose bits are set with the chance coin / 2^COIN_BITS. */
static uint64_t draw_word(unsigned coin)
{
	uint64_t word = 0;
	for (unsigned i = 0; i < COIN_BITS; i++) {
		word = (coin >> i & 1) != 0 ? word | draw() : word & draw();
	}
	return word;
}

static uint64_t draw_gap(double share)
{
	return (uint64_t) (log((double) (draw() >> 11) * 0x1p-53 + 0x1p-54) / log1p(-share));
}

static void stir(const bshm_view *view, double share)
{
	const bshm__parts *parts = &view->newest;
	uint64_t next = draw_gap(share);
	for (uint32_t i = 0; i < parts->partition_count; i++) {
		uint64_t *words = bshm__parts_at(parts, i);
		for (uint32_t w = 0; share >= EVEN_FROM && w < BSHM_PARTITION_WORDS; w++) {
			words[w] = draw_word((unsigned) (share * (1 << COIN_BITS)));
		}
		while (share < EVEN_FROM && next < BSHM_PARTITION_BITS) {
			words[next >> 6] ^= UINT64_C(1) << (next & 63);
			next += 1 + draw_gap(share);
		}
		next -= BSHM_PARTITION_BITS;
	}
}

/* ------------------------------------------------------------------ questions */

static uint64_t counts[BUCKETS];
static uint64_t longest_ns;

static void note(int signal_number)
{
	*(signal_number == SIGTERM ? &asked_to_end : &asked_to_tell) = 1;
}

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * UINT64_C(1000000000) + (uint64_t) now.tv_nsec;
}

/* The duration that a share of the questions did not exceed. */
static unsigned quantile(double share)
{
	uint64_t sum = 0;
	uint64_t seen = 0;
	unsigned i = 0;
	for (unsigned k = 0; k < BUCKETS; k++) {
		sum += counts[k];
	}
	while (i < BUCKETS - 1 && (double) (seen += counts[i]) < share * (double) sum) {
		i++;
	}
	return (i + 1) * BUCKET_NS;
}

static void tell(void)
{
	printf("p50 %u p99 %u p99.9 %u longest %llu ns\n", quantile(0.5), quantile(0.99),
		quantile(0.999), (unsigned long long) longest_ns);
	fflush(stdout);
	memset(counts, 0, sizeof(counts));
	longest_ns = 0;
	asked_to_tell = 0;
}

static void ask(bshm_segment *segment, const char *name)
{
	bshm_views *views = bshm_views_new();
	signal(SIGTERM, note);
	signal(SIGUSR1, note);
	while (!asked_to_end) {
		const uint64_t key = draw();
		const uint64_t begun_ns = now_ns();
		bshm_filter_has(segment, views, name, strlen(name), (const char *) &key, sizeof(key));
		const uint64_t took_ns = now_ns() - begun_ns;
		counts[took_ns / BUCKET_NS < BUCKETS ? took_ns / BUCKET_NS : BUCKETS - 1]++;
		longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
		if (asked_to_tell) {
			tell();
		}
	}
	tell();
	bshm_views_free(views);
}

int main(int argc, char **argv)
{
	bshm_error error;
	bshm_segment *segment;
	bshm_view *view;
	if (argc < 4) {
		return 2;
	}
	const bshm_options options = {.path = argv[2], .mode = 0600, .attach_only = true};
	if (bshm_segment_open(&options, &segment, &error) != BSHM_OK) {
		fprintf(
			stderr, "fleet_pages: cannot open %s: %s\n", argv[2], bshm_status_str(error.status));
		return 1;
	}
	bshm_views *views = bshm_views_new();
	if (bshm_view_open(segment, views, argv[3], strlen(argv[3]), &view) != BSHM_OK) {
		fprintf(stderr, "fleet_pages: there is no filter %s\n", argv[3]);
		return 1;
	}
	if (strcmp(argv[1], "stir") == 0 && argc == 5) {
		state = now_ns();
		stir(view, atof(argv[4]));
	} else {
		ask(segment, argv[3]);
	}
	bshm_views_free(views);
	bshm_segment_close(segment);
	return 0;
}
