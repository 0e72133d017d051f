/*
 * calls.c - every public call of the engine, on a segment that may be anything.
 *
 * What they answer is looked at only where there is something to be said whatever the segment is:
 * a status is one that there is, a length is one that was asked for. Filters "kept..." are only
 * asked and added to, so that what they must still have can be told after all calls.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fuzz.h"

#include "core/bshm_origin.h"
#include "core/hash.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A found record says how long it is: more is not copied out. */
#define COPY_BYTES_MAX (UINT64_C(4) << 20)
#define SCAN_STEPS_MAX 100000u

typedef struct {
	bshm_segment *segment;
	bshm_views *views;
	bshm_error error;
	uint64_t sum; /* so that all bytes of a key are read */
} subject;

static void status_is_known(int status)
{
	if (status < -14) {
		fuzz_defect("a status that there is not", "");
	}
}

#define KNOWN(call) status_is_known((int) (call))

static const char *const other_names[] = {"plain", "growing", "counting", "sliding"};

/* ------------------------------------------------------------------ filters */

static void ask(subject *s)
{
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		const char *name = fuzz_filters[i].name;
		for (uint64_t k = 0; k < 4; k++) {
			const bshm_key key = fuzz_key(k * 100003);
			KNOWN(bshm_filter_has(s->segment, s->views, name, strlen(name), key.bytes, key.length));
			KNOWN(
				bshm_filter_count(s->segment, s->views, name, strlen(name), key.bytes, key.length));
		}
		KNOWN(bshm_filter_ready(s->segment, s->views, name, strlen(name)));
	}
	KNOWN(bshm_filter_has(s->segment, s->views, "none", 4, "key", 3));
	KNOWN(bshm_filter_has(s->segment, s->views, "", 0, "key", 3));
}

static void ask_many(subject *s)
{
	bshm_key keys[BSHM_BATCH];
	bool answers[BSHM_BATCH];
	char bytes[BSHM_BATCH];
	for (unsigned i = 0; i < BSHM_BATCH; i++) {
		bytes[i] = (char) i;
		keys[i] = (bshm_key){&bytes[i], 1};
	}
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		const char *name = fuzz_filters[i].name;
		bshm_view *view;
		if (bshm_view_open(s->segment, s->views, name, strlen(name), &view) == BSHM_OK) {
			bshm_view_has(view, keys, BSHM_BATCH, answers);
			const bshm_set set = bshm_view_set(view);
			(void) bshm_view_current(view);
			bshm_view_answered(view, BSHM_BATCH, 1);
			bshm_filter_fetched(
				s->segment, s->views, name, strlen(name), &set, BSHM_FETCHED_NOTHING, i);
		}
	}
}

static void add(subject *s)
{
	bshm_key keys[3];
	bool fresh[3];
	uint64_t added;
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		const char *name = fuzz_filters[i].name;
		const bshm_key key = fuzz_key(5000000 + i);
		KNOWN(bshm_filter_add(
			s->segment, s->views, name, strlen(name), key.bytes, key.length, &s->error));
		for (uint64_t k = 0; k < 3; k++) {
			keys[k] = fuzz_key(6000000 + i * 3 + k);
		}
		KNOWN(bshm_filter_add_many(
			s->segment, s->views, name, strlen(name), keys, 3, fresh, &added, &s->error));
	}
}

/* So many that a growing filter grows, and a journal is full. */
static void add_lots(subject *s)
{
	enum {
		LOTS = 8000
	};
	static uint64_t numbers[LOTS];
	static bshm_key keys[LOTS];
	uint64_t added;
	for (uint64_t i = 0; i < LOTS; i++) {
		numbers[i] = i;
		keys[i] = (bshm_key){(const char *) &numbers[i], sizeof(numbers[i])};
	}
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++) {
		KNOWN(bshm_filter_add_many(s->segment, s->views, other_names[i], strlen(other_names[i]),
			keys, LOTS, NULL, &added, &s->error));
	}
}

static void take_back(subject *s)
{
	KNOWN(bshm_filter_remove(s->segment, s->views, "counting", 8, "key1", 4, &s->error));
	KNOWN(bshm_filter_remove(s->segment, s->views, "plain", 5, "key1", 4, &s->error));
	KNOWN(bshm_filter_count(s->segment, s->views, "counting", 8, "key1", 4));
}

static void reserve(subject *s)
{
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		KNOWN(bshm_filter_reserve(s->segment, fuzz_filters[i].name, strlen(fuzz_filters[i].name),
			&fuzz_filters[i].parameters, &s->error));
		KNOWN(bshm_filter_reserve(s->segment, "new", 3, &fuzz_filters[i].parameters, &s->error));
		KNOWN(bshm_filter_drop(s->segment, "new", 3, &s->error));
	}
}

static void drop(subject *s)
{
	KNOWN(bshm_filter_drop(s->segment, "plain", 5, &s->error));
	KNOWN(bshm_filter_drop(s->segment, "none", 4, &s->error));
}

static void clear(subject *s)
{
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++) {
		KNOWN(bshm_filter_clear(s->segment, other_names[i], strlen(other_names[i]), &s->error));
	}
}

static void move(subject *s)
{
	KNOWN(bshm_filter_rename(s->segment, "growing", 7, "plain", 5, &s->error));
	KNOWN(bshm_filter_rename(s->segment, "plain", 5, "growing", 7, &s->error));
	KNOWN(bshm_filter_rename(s->segment, "none", 4, "other", 5, &s->error));
}

static void copy(subject *s)
{
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		const char *name = fuzz_filters[i].name;
		KNOWN(bshm_filter_copy(s->segment, name, strlen(name), "copied", 6, &s->error));
	}
	KNOWN(bshm_filter_drop(s->segment, "copied", 6, &s->error));
}

static void merge(subject *s)
{
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		const char *name = fuzz_filters[i].name;
		const bshm_key from[2] = {{name, strlen(name)}, {"growing", 7}};
		KNOWN(bshm_filter_merge(s->segment, "merged", 6, from, i == 3 ? 2 : 1, &s->error));
		KNOWN(bshm_filter_merge(s->segment, "merged", 6, from, 1, &s->error));
		KNOWN(bshm_filter_drop(s->segment, "merged", 6, &s->error));
	}
}

static void inform(subject *s)
{
	bshm_info info;
	char name[BSHM_NAME_BYTES_MAX + 1];
	uint32_t cursor = 0;
	for (unsigned steps = 0; steps == 0 || cursor != 0; steps++) {
		const size_t length = bshm_filter_next(s->segment, &cursor, name);
		if (length > BSHM_NAME_BYTES_MAX || steps > BSHM_ENTRY_COUNT_MAX) {
			fuzz_defect("a name too long, or too many", "");
		}
		if (length != 0) {
			KNOWN(bshm_filter_info(s->segment, s->views, name, length, &info));
			KNOWN(bshm_filter_estimate(s->segment, s->views, name, length, 2, &info));
		}
	}
}

static void build(subject *s)
{
	bshm_info info;
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		bshm_build *build;
		if (bshm_build_begin(s->segment, "built", 5, &fuzz_filters[i].parameters, &build,
				&s->error) != BSHM_OK) {
			continue;
		}
		for (uint64_t k = 0; k < 600; k++) {
			const bshm_key key = fuzz_key(k);
			KNOWN(bshm_build_key(build, key.bytes, key.length, &s->error));
			if (k % 2 == 0) {
				KNOWN(bshm_filter_add(
					s->segment, s->views, "built", 5, key.bytes, key.length, &s->error));
			}
		}
		if (bshm_build_offered(build) != 600) {
			fuzz_defect("a build has lost count", "");
		}
		if (i == 0) {
			bshm_build_abort(build);
		} else {
			KNOWN(bshm_build_publish(build, 0.5, &info, &s->error));
		}
	}
	KNOWN(bshm_filter_drop(s->segment, "built", 5, &s->error));
}

static void restore_with_keys(subject *s, const char *path)
{
	bshm_build *build;
	bshm_info info;
	if (bshm_restore_begin(s->segment, "restored", 8, path, &build, &s->error) != BSHM_OK) {
		return;
	}
	int status = BSHM_OK;
	for (uint64_t k = 0; k < 3000 && status == BSHM_OK; k++) {
		const bshm_key key = fuzz_key(k);
		status = bshm_build_key(build, key.bytes, key.length, &s->error);
	}
	if (status == BSHM_OK) {
		KNOWN(bshm_build_publish(build, 1, &info, &s->error));
	} else {
		KNOWN(status);
		bshm_build_abort(build);
	}
}

static void filter_files(subject *s)
{
	const char *path = fuzz_path("dump");
	uint64_t bytes;
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		const char *name = fuzz_filters[i].name;
		if (bshm_filter_dump(s->segment, s->views, name, strlen(name), path, &bytes, &s->error) ==
			BSHM_OK) {
			KNOWN(bshm_filter_restore(s->segment, "restored", 8, path, &s->error));
			restore_with_keys(s, path);
		}
	}
	KNOWN(bshm_filter_drop(s->segment, "restored", 8, &s->error));
	unlink(path);
}

/* Frees the letter: what lies there is any number of bytes, all of which are read. */
static void pass_on(
	void *context, const bshm_outbox_letter *letter, uint64_t name, const bshm_key *key)
{
	subject *s = context;
	if (key->length > BSHM_OUTBOX_KEY_MAX) {
		fuzz_defect("a key in the outbox is too long", "");
	}
	s->sum += name + bshm__checksum(key->bytes, key->length, 0);
	bshm_outbox_free(s->segment, letter, 1);
}

static void send(subject *s)
{
	const bshm_key long_key = fuzz_record_key(1);
	bshm_outbox_read(s->segment, false, pass_on, s);
	for (uint64_t i = 0; i < 4; i++) {
		const bshm_key key = i == 3 ? long_key : fuzz_key(i);
		KNOWN(
			bshm_filter_add(s->segment, s->views, "followed", 8, key.bytes, key.length, &s->error));
	}
	bshm_outbox_read(s->segment, true, pass_on, s);
}

static void follow(subject *s)
{
	const bshm_parameters parameters = {.error_rate = 0.01, .expansion = 2};
	const bshm_origin origin = {.source = "origin",
		.source_length = 6,
		.heard_ns = INT64_MAX,
		.max_lag_s = 1,
		.sends = true};
	bshm_build *build;
	bshm_info info;
	for (uint32_t i = 0; i < FUZZ_FILTER_COUNT; i++) {
		const char *name = fuzz_filters[i].name;
		KNOWN(bshm_filter_heard(s->segment, name, strlen(name), &origin, &s->error));
		KNOWN(bshm_filter_doubt(s->segment, name, strlen(name), &s->error));
	}
	if (bshm_build_begin(s->segment, "followed", 8, &parameters, &build, &s->error) != BSHM_OK) {
		return;
	}
	KNOWN(bshm_build_follow(build, &origin, &s->error));
	KNOWN(bshm_build_publish(build, 1, &info, &s->error));
	KNOWN(bshm_filter_heard(s->segment, "followed", 8, &origin, &s->error));
	if (bshm_filter_info(s->segment, s->views, "followed", 8, &info) == BSHM_OK &&
		info.source[BSHM_SOURCE_BYTES_MAX] != '\0') {
		fuzz_defect("the text of a source has no end", "");
	}
	send(s);
	KNOWN(bshm_filter_drop(s->segment, "followed", 8, &s->error));
	KNOWN(bshm_outbox_sweep(s->segment, &s->error));
}

static void figures(subject *s)
{
	bshm_stat stat;
	bshm_store_info info;
	KNOWN(bshm_segment_stat(s->segment, &stat, &s->error));
	KNOWN(bshm_store_stat(s->segment, &info));
}

static void problem(void *context, const char *what, const char *name)
{
	*(size_t *) context += strlen(what) + strlen(name);
}

static void check(subject *s)
{
	size_t length = 0;
	KNOWN(bshm_segment_check(s->segment, problem, &length, &(bshm_error){0}));
}

/* ------------------------------------------------------------------ records */

static void copy_out(const bshm_found *found)
{
	if (found->length + found->key_length > COPY_BYTES_MAX) {
		return;
	}
	char *bytes = malloc((size_t) found->length + found->key_length + 1);
	bshm_found_copy(found, bytes);
	bshm_found_copy_key(found, bytes + found->length);
	free(bytes);
}

static void find(subject *s)
{
	bshm_found found;
	for (uint32_t i = 0; i < FUZZ_RECORD_COUNT; i += i < 64 ? 1 : 37) {
		const bshm_key key = fuzz_record_key(i);
		const uint32_t space = i % 50 == 49 ? BSHM_SPACE_FETCH : BSHM_SPACE_CACHE;
		const unsigned flags = BSHM_FIND_USE | (i % 2 == 0 ? BSHM_FIND_STALE : 0);
		if (bshm_record_find(s->segment, space, &key, flags, &found) == 1) {
			copy_out(&found);
		}
		if (bshm_record_find(s->segment, space, &key, BSHM_FIND_VALUE, &found) == 1 &&
			found.fetched) {
			char bytes[BSHM_SHORT_MAX];
			bshm_found_copy(&found, bytes);
		}
	}
}

static void find_many(subject *s)
{
	static char bytes[BSHM_BATCH][16];
	bshm_key keys[BSHM_BATCH];
	bshm_found found[BSHM_BATCH];
	bool present[BSHM_BATCH];
	for (uint32_t i = 0; i < BSHM_BATCH; i++) {
		const bshm_key key = fuzz_record_key(40 + i);
		memcpy(bytes[i], key.bytes, key.length);
		keys[i] = (bshm_key){bytes[i], key.length};
	}
	bshm_records_prefetch(s->segment, BSHM_SPACE_CACHE, keys, BSHM_BATCH);
	const int hits = bshm_record_find_many(
		s->segment, BSHM_SPACE_CACHE, keys, BSHM_BATCH, BSHM_FIND_USE, found, present);
	KNOWN(hits);
	for (uint32_t i = 0; hits >= 0 && i < BSHM_BATCH; i++) {
		if (present[i]) {
			copy_out(&found[i]);
		}
	}
}

static void put(subject *s)
{
	for (uint32_t i = 0; i < FUZZ_RECORD_COUNT; i += i < 64 ? 1 : 37) {
		const bshm_value value = fuzz_record_value(i + 3);
		const bshm_value expected = value;
		const bshm_put p = {
			.space = i % 50 == 49 ? BSHM_SPACE_FETCH : BSHM_SPACE_CACHE,
			.key = fuzz_record_key(i),
			.value = value,
			.ttl_s = i % 3 == 0 ? 100 : 0,
			.mode = (bshm_put_mode) (i % 4),
			.expected = i % 8 < 4 ? &expected : NULL,
		};
		KNOWN(bshm_record_put(s->segment, &p, &s->error));
	}
}

/* So many that others have to go, and so large that room must be made. */
static void put_lots(subject *s)
{
	static char bytes[300000];
	for (uint32_t i = 0; i < 30; i++) {
		const bshm_put large = {
			.key = fuzz_key(i),
			.value = {BSHM_VALUE_STRING, bytes, i % 3 == 0 ? 20000 * (i % 14) : 3000 + i},
		};
		KNOWN(bshm_record_put(s->segment, &large, &s->error));
	}
	const bshm_put largest = {
		.key = fuzz_key(0),
		.value = {BSHM_VALUE_STRING, bytes, BSHM_CACHE_BYTES_MIN / 4 - 500},
	};
	KNOWN(bshm_record_put(s->segment, &largest, &s->error));
	const bshm_put rejected = {
		.key = fuzz_key(0),
		.value = {BSHM_VALUE_STRING, bytes, sizeof(bytes)},
	};
	KNOWN(bshm_record_put(s->segment, &rejected, &s->error));
	for (uint32_t i = 0; i < 600; i++) {
		const bshm_put small = {
			.key = fuzz_key(1000 + i),
			.value = {BSHM_VALUE_STRING, bytes, i % 200},
		};
		KNOWN(bshm_record_put(s->segment, &small, &s->error));
	}
}

static void change(subject *s)
{
	const bshm_key suffix = {"suffix", 6};
	const bshm_key delimiter = {", ", 2};
	int64_t number;
	uint64_t length;
	for (uint32_t i = 0; i < 64; i++) {
		const bshm_key key = fuzz_record_key(i);
		const bshm_increment one = {
			.key = key, .by = 1, .ttl_s = i % 2, .only_present = i % 4 == 0};
		KNOWN(bshm_record_increment(s->segment, &one, &number, &s->error));
		KNOWN(bshm_record_append(s->segment, &key, &suffix, &delimiter, &length, &s->error));
		KNOWN(bshm_record_touch(s->segment, &key, i % 3 * 50, &s->error));
	}
}

static void remove_records(subject *s)
{
	bshm_found found;
	for (uint32_t i = 0; i < 128; i += 3) {
		const bshm_key key = fuzz_record_key(i);
		if (bshm_record_find(s->segment, BSHM_SPACE_CACHE, &key, 0, &found) == 1 && i % 2 == 0) {
			KNOWN(bshm_found_remove(&found, &key, NULL, &s->error));
		} else {
			KNOWN(bshm_record_remove(s->segment, BSHM_SPACE_CACHE, &key, &s->error));
		}
		KNOWN(bshm_record_forget(s->segment, BSHM_SPACE_FETCH, &key, NULL, &s->error));
	}
	const bshm_key prefix = {fuzz_record_key(1).bytes, 1};
	bshm_records_clear(s->segment, &prefix);
}

static void oldest(subject *s)
{
	bshm_found found;
	char bytes[256];
	for (uint32_t i = 0; i < 10; i++) {
		if (bshm_record_oldest(s->segment, &found) != 1 || found.key_length > sizeof(bytes) ||
			!bshm_found_copy_key(&found, bytes)) {
			return;
		}
		const bshm_key key = {bytes, found.key_length};
		KNOWN(bshm_found_remove(&found, &key, NULL, &s->error));
	}
}

static void scan(subject *s)
{
	bshm_scan at = {.cursor = 0};
	for (unsigned steps = 0; bshm_scan_next(s->segment, &at, BSHM_FIND_STALE); steps++) {
		if (at.count > BSHM_SCAN_ROOM || steps > SCAN_STEPS_MAX) {
			fuzz_defect("a scan does not end", "");
		}
		for (unsigned i = 0; i < at.count; i++) {
			bshm_found found;
			KNOWN(bshm_record_find(s->segment, at.spaces[i], &at.keys[i], 0, &found));
		}
		if (at.cursor == 0) {
			break;
		}
	}
	at.cursor = UINT64_C(0x123456789abcdef0);
	bshm_scan_next(s->segment, &at, 0);
	bshm_scan_free(&at);
}

static void record_files(subject *s)
{
	const char *path = fuzz_path("records");
	uint64_t count;
	if (bshm_store_dump(s->segment, path, &count, &s->error) == BSHM_OK) {
		KNOWN(bshm_store_restore(s->segment, path, &count, &s->error));
	}
	unlink(path);
}

static void lease(subject *s)
{
	if (!bshm_store_exists(s->segment)) {
		return;
	}
	bshm_store_note_fetch(s->segment);
	(void) bshm_store_has_fetched(s->segment);
	for (uint32_t i = 0; i < 70; i++) {
		bshm_lease_grant grant;
		const bshm_key key = fuzz_record_key(i);
		const bshm_lease_status status =
			bshm_lease_take(s->segment, BSHM_SPACE_FETCH, &key, i % 5 == 0, NULL, &grant);
		(void) bshm_lease_held(s->segment, &grant, i % 2 == 0);
		if (status == BSHM_LEASE_MINE && i % 3 != 0) {
			const bshm_put p = {
				.space = BSHM_SPACE_FETCH,
				.key = key,
				.value = fuzz_record_value(i),
			};
			KNOWN(bshm_lease_release(s->segment, &grant, &p, NULL, &s->error));
		}
	}
}

/* ------------------------------------------------------------------ all */

static void (*const all[])(subject *) = {ask, ask_many, add, add_lots, take_back, reserve, drop,
	clear, move, copy, merge, inform, build, filter_files, follow, figures, check, find, find_many,
	put, put_lots, change, remove_records, oldest, scan, record_files, lease};

#define ALL   ((unsigned) (sizeof(all) / sizeof(all[0])))
#define PRIME 29u /* not less than ALL: every step leads to all of them */

void fuzz_calls(bshm_segment *segment, bshm_views *views, unsigned order)
{
	subject s = {.segment = segment, .views = views};
	const unsigned first = order % PRIME;
	const unsigned stride = 1 + order / PRIME % (PRIME - 1);
	const unsigned part = order / PRIME / (PRIME - 1) % PRIME;
	for (unsigned i = 0; i < (part == 0 ? PRIME : part); i++) {
		const unsigned which = (first + i * stride) % PRIME;
		if (which < ALL) {
			all[which](&s);
		}
	}
}
