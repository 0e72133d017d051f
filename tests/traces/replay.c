/*
 * replay.c - the record store's misses on a stream of requests, against a strict LRU.
 *
 *   replay NAME WIDTH MOST WAY <KEYS     big-endian keys of WIDTH bytes, MOST of them at most
 *   replay NAME 0 MOST WAY               a stream made here: one of the table below
 *
 * Looks each key up, and stores it if it is not there. The WAY says how large the records are, and
 * what the limit is:
 *
 *   fixed    all of one size; the limit is a count of records
 *   digits   the key is a decimal number, in the order of the first requests: the records lie in
 *            neighbouring size classes, which go with their age; the same limit
 *   sizes    16 B to 60 kB by the key's hash; the limit is memory
 *   shards   all of one size, in a store of several shards; the limit is memory
 *   falling  the later a key is first requested, the smaller its record, from 60 kB to 16 B; so
 *            popular records are large as a rule. The limit is memory
 *   rising   the later, the larger
 *
 * At 1, 5, 10 and 25 % of the distinct keys, or of their bytes. Where memory is the limit, the LRU
 * has as many bytes of keys and values as the store held at the end. Requests are counted that an
 * LRU a quarter of the size would have served and the store did not: the floor of recency.c says
 * that there are none. Where memory is the limit, that is a fifth, as not all of it is keys and
 * values. Prints a line for each size; 2: a promise was broken.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm_records.h"

#include <math.h>
#include <stdbool.h>
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
static trace number_keys(const uint64_t *raw, size_t count)
{
	trace t = {NULL, count, 0};
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
	free(seen);
	free(key_of);
	return t;
}

static size_t read_keys(unsigned width, uint64_t *raw, size_t most)
{
	unsigned char bytes[8];
	size_t count = 0;
	while (count < most && fread(bytes, 1, width, stdin) == width) {
		uint64_t key = 0;
		for (unsigned i = 0; i < width; i++) {
			key = key << 8 | bytes[i];
		}
		raw[count++] = key;
	}
	return count;
}

/* ------------------------------------------------------------------ streams made here */

static double uniform(void)
{
	static uint64_t state = UINT64_C(88172645463325252);
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double) (state >> 11) * 0x1p-53;
}

#define RANKS 20000u

/* A rank from 0 on, with the popularity of Zipf's law: of the first `ranks`. */
static uint64_t zipf(double exponent, unsigned ranks)
{
	static double sums[RANKS];
	static double of = -1;
	if (of != exponent) {
		double sum = 0;
		for (unsigned i = 0; i < RANKS; i++) {
			sums[i] = sum += pow(i + 1, -exponent);
		}
		of = exponent;
	}
	const double wanted = uniform() * sums[ranks - 1];
	unsigned low = 0;
	for (unsigned high = ranks - 1; low < high;) {
		const unsigned middle = (low + high) / 2;
		if (sums[middle] < wanted) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

#define ONCE UINT64_C(1000000) /* numbers of keys that come once, or once a round */

/* Request number i of a stream that is made for `size` records. */
typedef uint64_t make(size_t i, uint32_t size, double with);

static uint64_t make_loop(size_t i, uint32_t size, double with)
{
	return i % (uint64_t) (size * with);
}

static uint64_t make_zipf(size_t i, uint32_t size, double with)
{
	(void) i;
	(void) size;
	return zipf(with, RANKS);
}

/* A hot set, and a scan of new keys for 3 of 10 parts of the time. */
static uint64_t make_scan(size_t i, uint32_t size, double with)
{
	return i % 10000 < 7000 ? zipf(with, size) : ONCE + i;
}

/* The popular keys change all at once. */
static uint64_t make_shift(size_t i, uint32_t size, double with)
{
	return zipf(with, 2 * size) + i / 30000 * ONCE;
}

/* `with` of the keys come once. */
static uint64_t make_once(size_t i, uint32_t size, double with)
{
	return uniform() < with ? ONCE + i : zipf(0.8, 2 * size);
}

/* Distances in a stack of recency: keys that were used lately come again soon. */
#define BLOCKS 7000u
static uint64_t make_stack(size_t i, uint32_t size, double with)
{
	static uint32_t stack[BLOCKS]; /* the last is the newest */
	for (unsigned k = 0; i == 0 && k < BLOCKS; k++) {
		stack[k] = k;
	}
	(void) size;
	const double u = uniform();
	const double part = with == 0 ? u * u * u : -log(1 - u) * with;
	const unsigned depth = part < 1 ? (unsigned) (part * BLOCKS) : BLOCKS - 1;
	const uint32_t key = stack[BLOCKS - 1 - depth];
	memmove(&stack[BLOCKS - 1 - depth], &stack[BLOCKS - depth], depth * sizeof(*stack));
	stack[BLOCKS - 1] = key;
	return key;
}

/* What is new is popular, and is not any more when it is old. */
static uint64_t make_news(size_t i, uint32_t size, double with)
{
	const double back = -log(1 - uniform()) * with * size;
	return ONCE + i / 20 - (uint64_t) (back < 6999 ? back : 6999);
}

/* A file server: files of some blocks, read from their begin to their end, some of them lately. */
static uint64_t make_files(size_t i, uint32_t size, double with)
{
	static uint32_t lately[256][2]; /* first block, blocks */
	static unsigned files;
	static uint32_t file[2];
	static uint32_t at;
	(void) size;
	if (i == 0 || at == file[1]) {
		const double u = uniform();
		const unsigned known = files < 200 ? files : 200;
		if (known != 0 && uniform() < with) {
			memcpy(file, lately[(files - 1 - (unsigned) (u * u * known)) % 256], sizeof(file));
		} else {
			file[0] = (uint32_t) (u * BLOCKS);
			file[1] = 1 + (uint32_t) (-log(1 - uniform()) * 20);
		}
		memcpy(lately[files++ % 256], file, sizeof(file));
		at = 0;
	}
	return (file[0] + at++) % BLOCKS;
}

/* Keys that are polled: each comes so many times, after a wait of half as many requests as there
 * are keys, to half more; then another one takes its place. All that are in use fit. */
#define WAITS 4096u /* more than the longest wait */
static uint64_t poll_key(size_t i, uint32_t keys, uint32_t times)
{
	static uint32_t at[WAITS];    /* number of a key, + 1: when it comes next */
	static uint32_t count[WAITS]; /* how often the keys of this number came */
	static size_t now;
	for (uint32_t k = 0; i == 0 && k < keys; k++) {
		at[k] = k + 1;
		count[k] = k % times;
	}
	while (at[now % WAITS] == 0) {
		now++;
	}
	const uint32_t number = at[now % WAITS] - 1;
	size_t next = now + (size_t) (keys * (0.5 + uniform()));
	while (at[next % WAITS] != 0) {
		next++;
	}
	at[now % WAITS] = 0;
	at[next % WAITS] = number + 1;
	return count[number]++ / times * ONCE + number;
}

static uint64_t make_polls(size_t i, uint32_t size, double with)
{
	return poll_key(i, (uint32_t) (size * with), 8);
}

/* Beside them, for a fifth of the requests, a loop that does not fit: it comes round after nearly
 * twice as long as an LRU keeps a record. */
static uint64_t make_loop_polls(size_t i, uint32_t size, double with)
{
	return i % 5 == 4 ? 1000 * ONCE + i / 5 % (size * 9 / 16)
					  : poll_key(i, (uint32_t) (size * with), 20);
}

/* Three loops take turns, of 300, 900 and 1,500 keys; each goes round one to three times. */
static uint64_t make_turns(size_t i, uint32_t size, double with)
{
	static uint32_t loop;
	static uint32_t at;
	static uint32_t end;
	(void) size;
	(void) with;
	if (i == 0 || at == end) {
		loop = i == 0 ? 0 : (loop + 1) % 3;
		at = 0;
		end = (300 + 600 * loop) * (1 + (uint32_t) (uniform() * 3));
	}
	return loop * ONCE + at++ % (300 + 600 * loop);
}

static const struct {
	const char *name;
	make *make;
	double with;
	uint32_t size;
} streams[] = {
	{"loop", make_loop, 1.1, 2000},
	{"loop-3", make_loop, 3, 2000},
	{"scan", make_scan, 0.8, 2000},
	{"shift", make_shift, 0.9, 2000},
	{"zipf-0.7", make_zipf, 0.7, 2000},
	{"zipf-0.9", make_zipf, 0.9, 2000},
	{"zipf-1.0", make_zipf, 1.0, 2000},
	{"zipf-1.2", make_zipf, 1.2, 2000},
	{"once-50", make_once, 0.5, 2000},
	{"once-90", make_once, 0.9, 2000},
	{"recency", make_stack, 0, BLOCKS / 4},
	{"recency-8", make_stack, 0.125, BLOCKS / 4},
	{"news", make_news, 0.45, BLOCKS / 4},
	{"files", make_files, 0.6, BLOCKS / 4},
	{"polls", make_polls, 0.85, 2000},
	{"loop-polls", make_loop_polls, 0.64, 2000},
	{"turns", make_turns, 0, 1755},
};

#define STREAMS (sizeof(streams) / sizeof(streams[0]))

/* Its keys, and the size of the store; 0: there is no such stream. */
static uint32_t make_keys(const char *name, uint64_t *raw, size_t count)
{
	for (size_t k = 0; k < STREAMS; k++) {
		if (strcmp(streams[k].name, name) == 0) {
			for (size_t i = 0; i < count; i++) {
				raw[i] = streams[k].make(i, streams[k].size, streams[k].with);
			}
			return streams[k].size;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------ records */

typedef enum {
	FIXED,
	DIGITS,
	SIZES,
	SHARDS,
	FALLING,
	RISING,
	WAYS
} way;
static const char *const way_names[WAYS] = {
	"fixed", "digits", "sizes", "shards", "falling", "rising"};

#define LARGEST      60000u
#define SHARDS_BYTES (UINT64_C(70) << 20) /* of a store that has several shards */
#define OVERHEAD     24u                  /* bytes of the store for each record, about */
#define FLOOR_PART   5u                   /* of the memory: never evicted */

static char value_bytes[2u << 20];

/* Up to LARGEST, each octave as often. */
static size_t length_of(double part)
{
	return (size_t) (16 * pow(LARGEST / 16, part));
}

/* The record of a key in a WAY; `size` of all of them in `shards`; of so many keys else. */
static bshm_put record_of(way how, uint32_t number, uint32_t size, char key[24])
{
	bshm_put put = {.key = {key, 8}, .value = {BSHM_VALUE_STRING, value_bytes, size}};
	const uint64_t wide = number;
	memcpy(key, &wide, 8);
	if (how == FIXED || how == DIGITS) {
		put.value = (bshm_value){BSHM_VALUE_INT, &value_bytes, 8};
	}
	if (how == DIGITS) {
		put.key.length = (size_t) snprintf(key, 24, "%u", (unsigned) number);
	}
	if (how == SIZES) {
		const uint64_t mixed = (number + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
		const double u = (double) ((mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 11);
		put.value.length = length_of(u * 0x1p-53);
	}
	if (how == FALLING || how == RISING) {
		const double part = (double) number / size;
		put.value.length = length_of(how == RISING ? part : 1 - part);
	}
	return put;
}

/* ------------------------------------------------------------------ a strict LRU */

/* A list through arrays. A key may have a weight: then the capacity is one of weights. */
typedef struct {
	uint32_t *before;
	uint32_t *after;
	const uint32_t *weights; /* NULL: each is 1 */
	uint64_t used;
	uint64_t capacity;
	uint32_t end; /* the list's number: after[end] is the newest, before[end] the oldest */
} lru;

static lru lru_new(uint32_t keys, uint64_t capacity, const uint32_t *weights)
{
	lru l = {or_die(malloc((keys + 1) * sizeof(uint32_t))),
		or_die(malloc((keys + 1) * sizeof(uint32_t))), weights, 0, capacity, keys};
	memset(l.after, 0xff, (keys + 1) * sizeof(uint32_t));
	l.before[keys] = l.after[keys] = keys;
	return l;
}

static uint64_t lru_weight(const lru *l, uint32_t key)
{
	return l->weights == NULL ? 1 : l->weights[key];
}

static void lru_unlink(lru *l, uint32_t key)
{
	l->after[l->before[key]] = l->after[key];
	l->before[l->after[key]] = l->before[key];
	l->after[key] = UINT32_MAX;
	l->used -= lru_weight(l, key);
}

/* Was the key there? It is the newest now. */
static bool lru_use(lru *l, uint32_t key)
{
	const bool hit = l->after[key] != UINT32_MAX;
	if (hit) {
		lru_unlink(l, key);
	}
	while (l->used != 0 && l->used + lru_weight(l, key) > l->capacity) {
		lru_unlink(l, l->before[l->end]);
	}
	l->used += lru_weight(l, key);
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

static uint64_t lru_misses(const trace *t, uint64_t capacity, const uint32_t *weights)
{
	lru l = lru_new(t->keys, capacity, weights);
	uint64_t misses = 0;
	for (size_t i = 0; i < t->count; i++) {
		misses += !lru_use(&l, t->requests[i]);
	}
	lru_free(&l);
	return misses;
}

/* ------------------------------------------------------------------ the replay */

typedef struct {
	way how;
	uint64_t bytes;   /* of the store */
	uint64_t records; /* its limit; 0 = none */
	uint32_t size;    /* of a value in `shards`; else the count of keys */
} plan;

static plan plan_of(way how, const trace *t, const uint32_t *weights, double share)
{
	plan p = {how, 0, (uint64_t) (t->keys * share), t->keys};
	if (how == FIXED || how == DIGITS) {
		p.bytes = (UINT64_C(1) << 20) + p.records * 64;
	} else if (how == SHARDS) {
		p.bytes = SHARDS_BYTES;
		const uint64_t size = (SHARDS_BYTES - (UINT64_C(2) << 20)) / p.records - OVERHEAD;
		p.size = (uint32_t) (size < sizeof(value_bytes) ? size : sizeof(value_bytes));
		p.records = 0;
	} else {
		for (uint32_t k = 0; k < t->keys; k++) {
			p.bytes += weights[k] + OVERHEAD;
		}
		p.bytes = (UINT64_C(1) << 20) + (uint64_t) ((double) p.bytes * share);
		p.records = 0;
	}
	return p;
}

static bshm_segment *open_store(const char *path, const plan *p)
{
	bshm_error error;
	bshm_segment *segment;
	const bshm_options options = {
		.path = path,
		.filter_bytes = BSHM_FILTER_BYTES_MIN,
		.cache_bytes = p->bytes,
		.cache_records = p->records,
		.mode = 0600,
	};
	unlink(path);
	if (bshm_segment_open(&options, &segment, &error) != BSHM_OK) {
		fprintf(stderr, "%s: %s\n", path, bshm_status_str(error.status));
		exit(1);
	}
	return segment;
}

typedef struct {
	uint64_t misses;
	uint64_t below_floor;
	uint64_t records; /* at the end */
	uint64_t bytes;   /* of keys and values, at the end */
	bool broken;
} outcome;

static outcome replay(const trace *t, const plan *p, const uint32_t *weights)
{
	char path[64];
	char key[24];
	snprintf(path, sizeof(path), "/dev/shm/bloomshm-replay.%ld", (long) getpid());
	bshm_segment *segment = open_store(path, p);
	lru quarter = p->records != 0 ? lru_new(t->keys, p->records / 4, NULL)
								  : lru_new(t->keys, p->bytes / FLOOR_PART, weights);
	outcome out = {0};
	bshm_store_info info;
	for (size_t i = 0; i < t->count; i++) {
		const bshm_put put = record_of(p->how, t->requests[i], p->size, key);
		bshm_found found;
		bshm_error error;
		const int hit =
			bshm_record_find(segment, BSHM_SPACE_CACHE, &put.key, BSHM_FIND_USE, &found);
		const bool quarter_hit = lru_use(&quarter, t->requests[i]);
		out.misses += hit != 1;
		out.below_floor += hit != 1 && quarter_hit;
		if (hit != 1) {
			out.broken |= bshm_record_put(segment, &put, &error) != 1;
			out.broken |= bshm_record_find(segment, BSHM_SPACE_CACHE, &put.key, 0, &found) != 1;
		}
		if (i % 1024 == 0 && p->records != 0) {
			bshm_store_stat(segment, &info);
			out.broken |= info.records > p->records;
		}
	}
	bshm_store_stat(segment, &info);
	out.records = info.records;
	out.bytes = info.data_bytes;
	out.broken |= (p->records != 0 && info.records != p->records) || out.below_floor != 0 ||
				  (p->how == SHARDS && info.shards < 2);
	lru_free(&quarter);
	bshm_segment_close(segment);
	unlink(path);
	return out;
}

/* One line. False: a promise was broken. */
static bool compare(const char *name, const trace *t, way how, double share)
{
	char key[24];
	uint32_t *weights = or_die(malloc((t->keys + 1) * sizeof(*weights)));
	for (uint32_t k = 0; k < t->keys; k++) {
		const bshm_put put = record_of(how, k, t->keys, key);
		weights[k] = (uint32_t) (put.key.length + put.value.length);
	}
	const plan p = plan_of(how, t, weights, share);
	for (uint32_t k = 0; k < t->keys && how == SHARDS; k++) {
		weights[k] = p.size + 8;
	}
	const outcome out = replay(t, &p, weights);
	const uint64_t lru =
		p.records == 0 ? lru_misses(t, out.bytes, weights) : lru_misses(t, out.records, NULL);
	const double better = 100.0 - 100.0 * (double) out.misses / (double) lru;
	printf("%-11s %-6s %5.1f %%  %7llu records  LRU %8llu misses  store %8llu  %+5.1f %%", name,
		way_names[how], 100 * share, (unsigned long long) out.records, (unsigned long long) lru,
		(unsigned long long) out.misses, better);
	printf("  below the floor %llu%s\n", (unsigned long long) out.below_floor,
		out.broken ? "  BROKEN" : "");
	fflush(stdout);
	free(weights);
	return !out.broken && better >= -1.0;
}

static int usage(void)
{
	fprintf(stderr, "usage: replay NAME WIDTH MOST WAY <KEYS\nmade here, WIDTH 0:");
	for (size_t k = 0; k < STREAMS; k++) {
		fprintf(stderr, " %s", streams[k].name);
	}
	fprintf(stderr, "\n");
	return 1;
}

int main(int argc, char **argv)
{
	static const double shares[] = {0.01, 0.05, 0.1, 0.25};
	unsigned how = 0;
	while (argc == 5 && how < WAYS && strcmp(way_names[how], argv[4]) != 0) {
		how++;
	}
	if (argc != 5 || how == WAYS || atoi(argv[2]) < 0 || atoi(argv[2]) > 8) {
		return usage();
	}
	const unsigned width = (unsigned) atoi(argv[2]);
	const size_t most = strtoull(argv[3], NULL, 10);
	uint64_t *raw = or_die(malloc((most + 1) * sizeof(*raw)));
	const uint32_t size = width == 0 ? make_keys(argv[1], raw, most) : 0;
	if (width == 0 && size == 0) {
		return usage();
	}
	const trace t = number_keys(raw, width == 0 ? most : read_keys(width, raw, most));
	bool good = t.keys >= 400;
	if (width == 0) {
		good = good && compare(argv[1], &t, (way) how, (double) size / t.keys);
	}
	for (unsigned i = how == SHARDS; width != 0 && t.keys >= 400 && i < 4; i++) {
		good = compare(argv[1], &t, (way) how, shares[i]) && good;
	}
	free(raw);
	free(t.requests);
	return good ? 0 : 2;
}
