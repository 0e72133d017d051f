/*
 * template.c - the segment that all inputs are edits of: filters of every kind, records of every
 * shape, and what dead processes leave.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fuzz.h"

#include "core/segment/name.h"
#include "core/segment/outbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last one has the holes between the others, and is scattered. */
const fuzz_filter fuzz_filters[FUZZ_FILTER_COUNT] = {
	{"kept0", {.error_rate = 0.01, .capacity = 1000}, FUZZ_KEY_COUNT},
	{"kept1", {.error_rate = 0.0001, .capacity = 20000}, FUZZ_KEY_COUNT},
	{"kept2", {.error_rate = 0.3, .capacity = 1000}, FUZZ_KEY_COUNT},
	{"kept3", {.error_rate = 0.01, .capacity = 100, .expansion = 2}, 30000},
	{"kept4", {.error_rate = 0.001, .capacity = 20000, .expansion = 4}, FUZZ_KEY_COUNT},
	{"kept5", {.error_rate = 0.01, .capacity = 3000, .window_s = 3600}, FUZZ_KEY_COUNT},
	{"kept6", {.error_rate = 0.01, .capacity = 3000, .counting = true}, FUZZ_KEY_COUNT},
	{"kept7-with-the-longest-name-that-a-filter-may-have-of-63-letter",
		{.error_rate = 0.01, .capacity = 1000, .seed = "seed", .seed_length = 4}, FUZZ_KEY_COUNT},
	{"kept8", {.error_rate = 0.01, .capacity = 85000}, FUZZ_KEY_COUNT},
};

static void must(bool condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "the template cannot be made: %s\n", what);
		exit(1);
	}
}

bshm_key fuzz_key(uint64_t i)
{
	static char bytes[4][32];
	static unsigned next;
	char *to = bytes[next++ % 4];
	return (bshm_key){
		to, (size_t) snprintf(to, sizeof(bytes[0]), "key%llu", (unsigned long long) i)};
}

bshm_options fuzz_options(const char *path)
{
	return (bshm_options){
		.path = path,
		.filter_bytes = BSHM_FILTER_BYTES_MIN,
		.cache_bytes = BSHM_CACHE_BYTES_MIN,
		.cache_records = 4000, /* one table, of more than one unit */
		.mode = 0600,
	};
}

/* Most are small; a few have long keys, or go on in chunks. */
bshm_key fuzz_record_key(uint32_t i)
{
	static char bytes[12000];
	const int digits = snprintf(bytes, sizeof(bytes), "record%u", i);
	const size_t length = i == 1 ? 3000 : i == 2 ? 9000 : i == 3 ? 4090 : (size_t) digits;
	memset(bytes + digits, 'k', sizeof(bytes) - (size_t) digits);
	return (bshm_key){bytes, length};
}

bshm_value fuzz_record_value(uint32_t i)
{
	static char bytes[30000];
	static const uint64_t number = 41;
	memset(bytes, 'a' + (int) (i % 26), sizeof(bytes));
	switch (i % 8) {
		case 0:
			return (bshm_value){BSHM_VALUE_NULL, bytes, 0};
		case 1:
			return (bshm_value){BSHM_VALUE_INT, &number, sizeof(number)};
		case 2:
			return (bshm_value){BSHM_VALUE_FLOAT, &number, sizeof(number)};
		case 5: /* some chains */
			return (bshm_value){BSHM_VALUE_STRING, bytes, i < 48 ? 3000 + i * 500 : 40};
		default:
			return (bshm_value){BSHM_VALUE_STRING, bytes, i % 64};
	}
}

static void put_records(bshm_segment *segment)
{
	bshm_error error;
	for (uint32_t i = 0; i < FUZZ_RECORD_COUNT; i++) {
		const bshm_put put = {
			.space = i % 50 == 49 ? BSHM_SPACE_FETCH : BSHM_SPACE_CACHE,
			.key = fuzz_record_key(i),
			.value = fuzz_record_value(i),
			.ttl_s = i % 5 == 0    ? 1000
					 : i % 31 == 0 ? 1
								   : 0,
		};
		must(bshm_record_put(segment, &put, &error) == 1, "a record");
	}
}

static void add_keys(bshm_segment *segment, bshm_views *views, const fuzz_filter *f)
{
	bshm_error error;
	for (uint64_t i = 0; i < f->keys; i++) {
		const bshm_key key = fuzz_key(i);
		const int status = bshm_filter_add(
			segment, views, f->name, strlen(f->name), key.bytes, key.length, &error);
		must(status >= 0, f->name);
	}
}

static void reserve(bshm_segment *segment, const char *name, const bshm_parameters *parameters)
{
	bshm_error error;
	must(bshm_filter_reserve(segment, name, strlen(name), parameters, &error) == 1, name);
}

static void make_filters(bshm_segment *segment, bshm_views *views)
{
	const bshm_parameters small = {.error_rate = 0.01, .capacity = 6000};
	bshm_error error;
	char name[16];
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		snprintf(name, sizeof(name), "hole%u", i);
		reserve(segment, name, &small);
		if (i + 1 < FUZZ_FILTER_COUNT) {
			reserve(segment, fuzz_filters[i].name, &fuzz_filters[i].parameters);
			add_keys(segment, views, &fuzz_filters[i]);
		}
	}
	bshm_stat stat;
	must(bshm_segment_stat(segment, &stat, &error) == BSHM_OK, "stat");
	bshm_parameters rest = small;
	rest.capacity = (stat.largest_free_bytes / BSHM_FILTER_UNIT_BYTES - 6) * 6000;
	reserve(segment, "rest", &rest);
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		snprintf(name, sizeof(name), "hole%u", i);
		must(bshm_filter_drop(segment, name, strlen(name), &error) == 1, name);
	}
	const fuzz_filter *last = &fuzz_filters[FUZZ_FILTER_COUNT - 1];
	reserve(segment, last->name, &last->parameters);
	add_keys(segment, views, last);
	must(bshm_filter_drop(segment, "rest", 4, &error) == 1, "rest");
	bshm_parameters other = fuzz_filters[3].parameters;
	reserve(segment, "growing", &other);
	reserve(segment, "plain", &small);
	reserve(segment, "counting", &fuzz_filters[6].parameters);
	reserve(segment, "sliding", &fuzz_filters[5].parameters);
}

/* Keys of each size of letters. */
static void fill_outbox(bshm_segment *segment)
{
	static const uint32_t lengths[] = {0, 3, 40, 41, 488, 489, BSHM_OUTBOX_KEY_MAX};
	const bshm__name name = bshm__name_of("followed", 8);
	const char *bytes = fuzz_record_key(2).bytes;
	for (uint32_t i = 0; i < 70; i++) {
		const uint32_t length = lengths[i < 63 ? i % 3 : i - 63];
		must(bshm__outbox_put(segment, &name, &(bshm_key){bytes, length}), "a letter");
	}
}

/* A lease, an op with keys in its journal, all of a process that is gone. */
static void leave_work(bshm_segment *segment, bshm_views *views)
{
	const bshm_key key = fuzz_record_key(1);
	const bshm_parameters parameters = {.error_rate = 0.01, .expansion = 2};
	bshm_lease_grant grant;
	bshm_build *build;
	bshm_error error;
	must(bshm_lease_take(segment, BSHM_SPACE_CACHE, &key, false, NULL, &grant) == BSHM_LEASE_MINE,
		"a lease");
	must(bshm_build_begin(segment, "plain", 5, &parameters, &build, &error) == BSHM_OK, "a load");
	must(bshm_filter_add(segment, views, "plain", 5, "added", 5, &error) == 1, "an add");
	bshm_op left[BSHM_OP_COUNT];
	memcpy(left, segment->ops, sizeof(left));
	bshm_build_abort(build);
	memcpy(segment->ops, left, sizeof(left));
}

static void no_problem(void *context, const char *what, const char *name)
{
	(void) context;
	fprintf(stderr, "%s: %s\n", name, what);
}

fuzz_template fuzz_template_make(void)
{
	const char *path = fuzz_path("template");
	const bshm_options options = fuzz_options(path);
	bshm_segment *segment;
	bshm_error error;
	fuzz_world_reset();
	must(bshm_segment_open(&options, &segment, &error) == BSHM_OK, "a segment");
	bshm_views *views = bshm_views_new();
	make_filters(segment, views);
	put_records(segment);
	fill_outbox(segment);
	must(bshm_segment_check(segment, no_problem, NULL, &(bshm_error){0}) == 0, "a sound segment");
	leave_work(segment, views);
	fuzz_template t = {malloc(segment->segment_bytes), segment->segment_bytes};
	memcpy(t.bytes, segment->header, t.count);
	bshm_views_free(views);
	bshm_segment_close(segment);
	unlink(path);
	return t;
}
