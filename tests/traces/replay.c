/*
 * replay.c - the record store's misses on a stream of requests, against a strict LRU of as many
 * records.
 *
 *   replay NAME WIDTH MOST <KEYS     big-endian keys of WIDTH bytes, MOST of them at most
 *
 * Looks each key up, and stores it if it is not there, at 1, 5, 10 and 25 % of the distinct keys.
 * Also counts the requests that an LRU a quarter of the size would have served and the store did
 * not: the floor of evict.c says that there are none. Prints a line for each size; 2: a promise was
 * broken.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
	uint32_t *requests; /* numbers of keys, in the order of their first request */
	size_t count;
	uint32_t keys;
} trace;

static void *or_die(void *memory)
{
	if (memory == NULL) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return memory;
}

/* Numbers keys as they come: an open hash of at least twice as many places as requests. */
static trace read_trace(unsigned width, size_t most)
{
	size_t room = 1 << 16;
	uint64_t *raw = or_die(malloc(room * sizeof(*raw)));
	unsigned char bytes[8];
	trace t = {NULL, 0, 0};
	while (t.count < most && fread(bytes, 1, width, stdin) == width) {
		if (t.count == room) {
			room *= 2;
			raw = or_die(realloc(raw, room * sizeof(*raw)));
		}
		uint64_t key = 0;
		for (unsigned i = 0; i < width; i++) {
			key = key << 8 | bytes[i];
		}
		raw[t.count++] = key;
	}
	size_t places = 1 << 16;
	while (places < 2 * t.count) {
		places *= 2;
	}
	uint32_t *seen = or_die(calloc(places, sizeof(*seen)));
	uint64_t *key_of = or_die(malloc((t.count + 1) * sizeof(*key_of)));
	t.requests = or_die(malloc((t.count + 1) * sizeof(*t.requests)));
	for (size_t i = 0; i < t.count; i++) {
		size_t at = (size_t) ((raw[i] * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (places - 1);
		while (seen[at] != 0 && key_of[seen[at] - 1] != raw[i]) {
			at = (at + 1) & (places - 1);
		}
		if (seen[at] == 0) {
			key_of[t.keys] = raw[i];
			seen[at] = ++t.keys;
		}
		t.requests[i] = seen[at] - 1;
	}
	free(raw);
	free(seen);
	free(key_of);
	return t;
}

/* A strict LRU: a list through arrays. */
typedef struct {
	uint32_t *before;
	uint32_t *after;
	uint32_t count;
	uint32_t capacity;
	uint32_t end; /* the list's number: after[end] is the newest, before[end] the oldest */
} lru;

static lru lru_new(uint32_t keys, uint32_t capacity)
{
	lru l = {or_die(malloc((keys + 1) * sizeof(uint32_t))),
		or_die(malloc((keys + 1) * sizeof(uint32_t))), 0, capacity, keys};
	memset(l.after, 0xff, (keys + 1) * sizeof(uint32_t));
	l.before[keys] = l.after[keys] = keys;
	return l;
}

static void lru_unlink(lru *l, uint32_t key)
{
	l->after[l->before[key]] = l->after[key];
	l->before[l->after[key]] = l->before[key];
	l->after[key] = UINT32_MAX;
}

/* Was the key there? It is the newest now. */
static int lru_use(lru *l, uint32_t key)
{
	const int hit = l->after[key] != UINT32_MAX;
	if (hit) {
		lru_unlink(l, key);
	} else if (l->count == l->capacity) {
		lru_unlink(l, l->before[l->end]);
	} else {
		l->count++;
	}
	l->before[key] = l->end;
	l->after[key] = l->after[l->end];
	l->before[l->after[key]] = key;
	l->after[l->end] = key;
	return hit;
}

static void lru_free(lru *l)
{
	free(l->before);
	free(l->after);
}

static bshm_segment *open_store(const char *path, uint64_t records)
{
	bshm_error error;
	bshm_segment *segment;
	const bshm_options options = {
		.path = path,
		.filter_bytes = BSHM_FILTER_BYTES_MIN,
		.cache_bytes = (UINT64_C(1) << 20) + records * 64,
		.cache_records = records,
		.mode = 0600,
	};
	unlink(path);
	if (bshm_segment_open(&options, &segment, &error) != BSHM_OK) {
		fprintf(stderr, "%s: %s\n", path, bshm_status_str(error.status));
		exit(1);
	}
	return segment;
}

/* How many percent fewer misses than LRU. */
static double replay(const char *name, const trace *t, unsigned percent, int *broken)
{
	char path[64];
	snprintf(path, sizeof(path), "/dev/shm/bloomshm-replay.%ld", (long) getpid());
	const uint32_t records = (uint32_t) ((uint64_t) t->keys * percent / 100);
	bshm_segment *segment = open_store(path, records);
	lru same = lru_new(t->keys, records);
	lru quarter = lru_new(t->keys, records / 4);
	uint64_t misses = 0;
	uint64_t lru_misses = 0;
	uint64_t below_floor = 0;
	bshm_store_info info;
	for (size_t i = 0; i < t->count; i++) {
		const uint64_t number = t->requests[i];
		const bshm_put put = {
			.key = {(const char *) &number, sizeof(number)},
			.value = {BSHM_VALUE_INT, &number, sizeof(number)},
		};
		bshm_found found;
		bshm_error error;
		const int hit =
			bshm_record_find(segment, BSHM_SPACE_CACHE, &put.key, BSHM_FIND_USE, &found);
		const int quarter_hit = lru_use(&quarter, t->requests[i]);
		lru_misses += !lru_use(&same, t->requests[i]);
		misses += hit != 1;
		below_floor += hit != 1 && quarter_hit;
		if (hit != 1) {
			*broken |= bshm_record_put(segment, &put, &error) != 1;
			*broken |= bshm_record_find(segment, BSHM_SPACE_CACHE, &put.key, 0, &found) != 1;
		}
		if (i % 1024 == 0) {
			bshm_store_stat(segment, &info);
			*broken |= info.records > records;
		}
	}
	bshm_store_stat(segment, &info);
	*broken |= info.records != records || below_floor != 0;
	const double better = 100.0 - 100.0 * (double) misses / (double) lru_misses;
	printf("%-12s %3u %%  %7u records  LRU %8llu misses  store %8llu  %+5.1f %%  below the floor "
		   "%llu\n",
		name, percent, (unsigned) records, (unsigned long long) lru_misses,
		(unsigned long long) misses, better, (unsigned long long) below_floor);
	fflush(stdout);
	lru_free(&same);
	lru_free(&quarter);
	bshm_segment_close(segment);
	unlink(path);
	return better;
}

int main(int argc, char **argv)
{
	if (argc != 4 || atoi(argv[2]) < 1 || atoi(argv[2]) > 8) {
		fprintf(stderr, "usage: replay NAME WIDTH MOST <KEYS\n");
		return 1;
	}
	static const unsigned percents[] = {1, 5, 10, 25};
	const trace t = read_trace((unsigned) atoi(argv[2]), strtoull(argv[3], NULL, 10));
	int broken = t.keys < 400;
	for (unsigned i = 0; i < 4 && t.keys >= 400; i++) {
		broken |= replay(argv[1], &t, percents[i], &broken) < -1.0;
	}
	free(t.requests);
	return broken ? 2 : 0;
}
