/*
 * scenarios.c - every kind of call that changes the segment.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "deaths.h"

#include "core/bshm_origin.h"
#include "core/cache/aging.h"
#include "core/cache/shard.h"
#include "platform/atomic.h"

#include <unistd.h>

static bshm_error error;

int add_key(desk *d, const char *filter, uint32_t number)
{
	char key[24];
	const size_t length = key_name(key, number);
	const int added =
		bshm_filter_add(d->segment, d->views, filter, strlen(filter), key, length, &error);
	must(added, "add");
	confirm(filter, number);
	return added;
}

int put_record(desk *d, uint32_t number, uint32_t serial, uint32_t length, uint32_t ttl_s)
{
	static uint8_t bytes[LARGEST];
	record_bytes(bytes, number, serial, length);
	const bshm_put put = {
		.key = {(const char *) &number, sizeof(number)},
		.value = {BSHM_VALUE_STRING, bytes, length},
		.ttl_s = ttl_s,
	};
	return bshm_record_put(d->segment, &put, &error);
}

/* ------------------------------------------------------------------ filters */

static void reserve(desk *d, const char *name, const bshm_parameters *parameters)
{
	must(bshm_filter_reserve(d->segment, name, strlen(name), parameters, &error), "reserve");
}

static void reserve_all_kinds(desk *d)
{
	reserve(d, "new", &(bshm_parameters){.error_rate = 0.01, .capacity = 9000});
	reserve(d, "new g", &(bshm_parameters){.error_rate = 0.01, .capacity = 99, .expansion = 2});
	reserve(d, "new s", &(bshm_parameters){.error_rate = 0.01, .capacity = 99, .window_s = 60});
	reserve(d, "new c", &(bshm_parameters){.error_rate = 0.01, .capacity = 99, .counting = true});
	reserve(d, "fixed",
		&(bshm_parameters){.error_rate = 0.01, .capacity = 5000, .seed = "s", .seed_length = 1});
}

static void add_some(desk *d)
{
	for (uint32_t i = KEYS; i < KEYS + 5; i++) {
		add_key(d, "fixed", i);
		add_key(d, "sliding", i);
		add_key(d, "counting", i);
	}
}

static void grow(desk *d)
{
	for (uint32_t i = 200000; i < 200100; i++) {
		add_key(d, "growing", i);
	}
}

/* The first of a new epoch. */
static void slide(desk *d)
{
	for (uint32_t i = 0; i < 40; i++) {
		add_key(d, "sliding", i);
	}
}

/* All, or none; those of other hosts all. */
static void add_to_a_full_one(desk *d)
{
	bshm_key keys[40];
	char bytes[40][24];
	uint64_t added;
	for (uint32_t i = 0; i < 40; i++) {
		keys[i] = (bshm_key){bytes[i], key_name(bytes[i], 300000 + i)};
	}
	const int status =
		bshm_filter_add_many(d->segment, d->views, "full", 4, keys, 40, NULL, &added, &error);
	if (status != BSHM_E_FULL) {
		broken("it is not full", status);
	}
	must(bshm_filter_receive(d->segment, d->views, "full", 4, keys, 40, &added, &error),
		"adds of other hosts");
}

static void take_back(desk *d)
{
	char key[24];
	for (uint32_t i = 1000; i < 1010; i++) {
		const size_t length = key_name(key, i);
		must(
			bshm_filter_remove(d->segment, d->views, "counting", 8, key, length, &error), "remove");
	}
}

static void clear_all_kinds(desk *d)
{
	static const char *const names[] = {"fixed", "growing", "sliding", "counting"};
	for (unsigned i = 0; i < 4; i++) {
		must(bshm_filter_clear(d->segment, names[i], strlen(names[i]), &error), "clear");
	}
}

static void drop_all_kinds(desk *d)
{
	static const char *const names[] = {"fixed", "growing", "sliding", "counting"};
	for (unsigned i = 0; i < 4; i++) {
		must(bshm_filter_drop(d->segment, names[i], strlen(names[i]), &error), "drop");
	}
}

static void rename_twice(desk *d)
{
	must(bshm_filter_rename(d->segment, "fixed", 5, "other", 5, &error), "rename onto another");
	must(bshm_filter_rename(d->segment, "growing", 7, "elsewhere", 9, &error), "rename");
}

static void copy_twice(desk *d)
{
	must(bshm_filter_copy(d->segment, "growing", 7, "other", 5, &error), "copy onto another");
	must(bshm_filter_copy(d->segment, "counting", 8, "copied", 6, &error), "copy");
}

static void merge(desk *d)
{
	const bshm_key from[] = {{"other", 5}};
	must(bshm_filter_merge(d->segment, "fixed", 5, from, 1, &error), "merge");
}

/* A load that another's adds, here our own, come into. */
static void load_as(desk *d, const char *name, const bshm_parameters *parameters, bool publish)
{
	bshm_build *build;
	bshm_info info;
	char key[24];
	must(bshm_build_begin(d->segment, name, strlen(name), parameters, &build, &error), "begin");
	for (uint32_t i = 0; i < 2 * KEYS; i++) {
		const size_t length = key_name(key, i);
		must(bshm_build_key(build, key, length, &error), "key");
		if (i % 50 == 0 && strcmp(name, "new") != 0) {
			add_key(d, name, 10000 + i);
		}
	}
	if (publish) {
		must(bshm_build_publish(build, 0.5, &info, &error), "publish");
	} else {
		bshm_build_abort(build);
	}
}

static const bshm_parameters plain = {.error_rate = 0.01};
static const bshm_parameters counts = {.error_rate = 0.01, .counting = true};

static void load_new(desk *d)
{
	load_as(d, "new", &plain, true);
}

static void load_anew(desk *d)
{
	load_as(d, "fixed", &plain, true);
}

static void load_counting(desk *d)
{
	load_as(d, "counting", &counts, true);
}

static void load_in_vain(desk *d)
{
	load_as(d, "fixed", &plain, false);
}

static void travel(desk *d)
{
	char file[64];
	uint64_t bytes;
	snprintf(file, sizeof(file), "dump.%d", (int) getppid());
	must(bshm_filter_dump(d->segment, d->views, "growing", 7, file, &bytes, &error), "dump");
	must(bshm_filter_restore(d->segment, "other", 5, file, &error), "restore");
	unlink(file);
}

/* A filter's file, and more keys than its newest layer has room for. */
static void travel_with_more(desk *d)
{
	char file[64];
	char key[24];
	uint64_t bytes;
	bshm_build *build;
	snprintf(file, sizeof(file), "dump.%d", (int) getppid());
	must(bshm_filter_dump(d->segment, d->views, "growing", 7, file, &bytes, &error), "dump");
	must(bshm_restore_begin(d->segment, "other", 5, file, &build, &error), "begin");
	for (uint32_t i = 0; i < 400; i++) {
		const size_t length = key_name(key, 200000 + i);
		add_key(d, "other", 10000 + i);
		must(bshm_build_key(build, key, length, &error), "key");
	}
	must(bshm_build_publish(build, 1, NULL, &error), "publish");
	for (uint32_t i = 0; i < 400; i++) {
		confirm("other", 10000 + i);
		confirm("other", 200000 + i);
	}
	unlink(file);
}

/* The file of another host's next set, made by a delta; the build has its bits already. */
static void travel_by_delta(desk *d)
{
	char files[4][64];
	uint64_t bytes;
	bshm_delta_stat stat;
	bshm_build *build;
	for (int i = 0; i < 4; i++) {
		snprintf(files[i], sizeof(files[i]), "%d.%d", i, (int) getppid());
	}
	must(bshm_filter_dump(d->segment, d->views, "growing", 7, files[0], &bytes, &error), "dump");
	for (uint32_t i = 0; i < 100; i++) {
		add_key(d, "growing", 30000 + i);
	}
	must(bshm_filter_dump(d->segment, d->views, "growing", 7, files[1], &bytes, &error), "dump");
	must(bshm_delta_make(files[0], files[1], files[2], &stat, &error), "diff");
	must(bshm_delta_restore(
			 d->segment, "other", 5, files[0], files[2], files[3], &stat, &build, &error),
		"patch");
	add_key(d, "other", 40000);
	must(bshm_build_publish(build, 1, NULL, &error), "publish");
	for (uint32_t i = 0; i < 100; i++) {
		confirm("other", 30000 + i);
	}
	for (int i = 0; i < 4; i++) {
		unlink(files[i]);
	}
}

/* Another host's filter: published, heard again, published in its next version, doubted,
 * and renamed. */
static void follow(desk *d)
{
	static const char source[] = "https://origin.example/";
	bshm_origin origin = {.source = source, .source_length = sizeof(source) - 1, .max_lag_s = 60};
	bshm_build *build;
	bshm_info info;
	char key[24];
	for (origin.version = 1; origin.version <= 2; origin.version++) {
		must(bshm_build_begin(d->segment, "other", 5, &plain, &build, &error), "begin");
		for (uint32_t i = 0; i < KEYS; i++) {
			const size_t length = key_name(key, i);
			must(bshm_build_key(build, key, length, &error), "key");
		}
		add_key(d, "other", 10000 + (uint32_t) origin.version);
		origin.heard_ns = (int64_t) bshm_now_ns();
		must(bshm_build_follow(build, &origin, &error), "follow");
		must(bshm_build_publish(build, 0, &info, &error), "publish");
		origin.heard_ns = INT64_MAX;
		must(bshm_filter_heard(d->segment, "other", 5, &origin, &error), "hear");
	}
	must(bshm_filter_doubt(d->segment, "other", 5, &error), "doubt");
	must(bshm_filter_rename(d->segment, "other", 5, "followed", 8, &error), "rename");
}

static void usage(desk *d)
{
	bshm_view *view;
	must(bshm_view_open(d->segment, d->views, "fixed", 5, &view), "view");
	const bshm_set set = bshm_view_set(view);
	bshm_filter_fetched(d->segment, d->views, "fixed", 5, &set, BSHM_FETCHED_NOTHING, 1);
	bshm_filter_fetched(d->segment, d->views, "fixed", 5, &set, BSHM_FETCHED_LOADED, 1);
	bshm_view_answered(view, 2, 1);
	bshm_views_hand_in(d->views);
}

static void stat(desk *d)
{
	bshm_stat out;
	must(bshm_segment_stat(d->segment, &out, &error), "stat");
}

/* ------------------------------------------------------------------ records */

static void put_new(desk *d)
{
	must(put_record(d, VICTIM + 1, 1, 50, 0), "put");
	must(put_record(d, VICTIM + 2, 1, 50, 100), "put with a ttl");
}

static void replace(desk *d)
{
	must(put_record(d, VICTIM, 2, 60, 0), "replace by as many bytes");
	must(put_record(d, VICTIM, 3, 300, 60), "replace by more");
	must(put_record(d, VICTIM, 4, 20, 0), "replace by fewer");
}

static void put_large(desk *d)
{
	must(put_record(d, VICTIM, 2, 20000, 0), "put a chain");
	must(put_record(d, VICTIM, 3, 30000, 60), "replace it by a longer one");
	must(put_record(d, VICTIM, 4, 5000, 0), "and by a shorter one");
	must(put_record(d, VICTIM, 5, 10, 0), "and by a slot");
}

static void touch_large(desk *d)
{
	const uint32_t number = VICTIM;
	const bshm_key key = {(const char *) &number, sizeof(number)};
	must(put_record(d, VICTIM, 2, LARGEST, 0), "put a large record");
	must(bshm_record_touch(d->segment, &key, 60, &error), "touch it, with no place for a ttl");
}

static void put_many(desk *d)
{
	for (uint32_t i = 0; i < 5000; i++) {
		must(put_record(d, 20000 + i, 1, 8, 0), "put");
	}
	for (uint32_t i = 0; i < 5000; i++) {
		const uint32_t number = 20000 + i;
		const bshm_key key = {(const char *) &number, sizeof(number)};
		must(bshm_record_remove(d->segment, 0, &key, &error), "remove");
	}
}

static void put_crowded(desk *d)
{
	for (uint32_t i = 0; i < 20; i++) {
		must(put_record(d, 60000 + i, 1, 100, 0), "put where another must go");
	}
	must(put_record(d, 70000, 1, 9000, 0), "put where many must go, and move");
	must(put_record(d, 70001, 1, 40000, 0), "and more");
	must(put_record(d, 70002, 1, LARGEST, 0), "and so many that they are chosen in groups");
	d->segment->shards[0].size_power =
		(uint32_t) - (1 << 24); /* 0: the small ones go, as they are old */
	/* More than fit: in the end they are most of what there is, and samples are larger. */
	for (uint32_t i = 0; i < 120; i++) {
		must(put_record(d, 80000 + i, 1, i % 4 < 2 ? 9000 : 13000, 0), "put chains");
	}
	for (uint32_t i = 80; i < 120; i += 2) {
		const uint32_t number = 80000 + i;
		const bshm_key key = {(const char *) &number, sizeof(number)};
		must(bshm_record_remove(d->segment, 0, &key, &error), "remove");
	}
	for (uint32_t i = 0; i < 3000; i++) {
		must(put_record(d, 90000 + i, 1, 100, 0), "put where chunks must move");
	}
	bshm_shard_header *shard = d->segment->shards;
	const uint64_t floor = BSHM_LOAD(&shard->base, RELAXED) & BSHM_SLOT_STAMP;
	shard->clock = (shard->clock & ~(UINT64_C(0xffff) << 16)) | floor << 16;
	must(put_record(d, 100000, 1, 40000, 0), "put where all are young");
}

static void put_too_large(desk *d)
{
	static const char bytes[1 << 20];
	const uint32_t number = VICTIM + 1;
	const bshm_put put = {
		.key = {(const char *) &number, sizeof(number)},
		.value = {BSHM_VALUE_STRING, bytes, sizeof(bytes)},
	};
	must(put_record(d, number, 1, 50, 0), "put");
	must(bshm_record_put(d->segment, &put, &error), "put what is too large");
}

/* When the stamps are about to come round: a few records get others at once, and an epoch that has
 * been noted does, */
static void renumber_few(desk *d)
{
	bshm_shard_header *shard = d->segment->shards;
	BSHM_STORE(&shard->shadow_oldest, 0x8000, RELAXED);
	BSHM_STORE(&shard->clock, BSHM_LOAD(&shard->clock, RELAXED) + 0x4100, RELAXED);
	for (uint32_t i = 0; i < 50; i++) {
		must(put_record(d, VICTIM + 1, 1, 50, 0), "put");
	}
}

/* and many page by page. */
static void renumber(desk *d)
{
	for (uint32_t i = 0; i < 1100; i++) {
		must(put_record(d, VICTIM + 2 + i, 1, 50, 0), "put");
	}
	renumber_few(d);
}

/* Several shards have one limit; a process died after counting a record and before putting it. */
static void count_anew(desk *d)
{
	bshm_store *store = d->segment->store;
	must(put_record(d, VICTIM + 1, 1, 50, 0), "put");
	BSHM_STORE(&store->reserved, d->segment->cache_records, RELAXED);
	BSHM_STORE(&store->recount, 1, RELAXED);
	must(put_record(d, VICTIM + 2, 1, 50, 0), "put");
	const uint32_t number = VICTIM + 2;
	const bshm_key key = {(const char *) &number, sizeof(number)};
	must(bshm_record_remove(d->segment, 0, &key, &error), "remove");
}

/* What a shard has at most, of the limit: quota.c. */
#define SPARE_MOST 128u

/* One shard has some to spare of a limit that is all given out, and another needs it; and one has
 * too much. */
static void share_limit(desk *d)
{
	bshm_store *store = d->segment->store;
	bshm_shard_header *shards = d->segment->shards;
	for (uint32_t i = 0; i < d->segment->shard_count; i++) {
		BSHM_STORE(&shards[i].credit, 0, RELAXED);
		shards[i].intent.size_margin |= BSHM_RECORDS_ARE_LIMIT; /* a put notes that they are few */
	}
	must(put_record(d, VICTIM + 4, 1, 50, 0), "put");
	for (uint32_t i = 0; i < d->segment->shard_count; i++) {
		BSHM_STORE(&shards[i].credit, 0, RELAXED);
	}
	/* The first record's shard has none left, and takes that of another. */
	const uint32_t first = VICTIM + 1;
	const bshm_key first_key = {(const char *) &first, sizeof(first)};
	const uint32_t home = bshm__home_of(d->segment, BSHM_SPACE_CACHE, &first_key).shard;
	const uint32_t other = (home + 1) % d->segment->shard_count;
	BSHM_STORE(&shards[other].credit, SPARE_MOST, RELAXED);
	BSHM_STORE(&store->holders, UINT64_C(1) << other, RELAXED);
	BSHM_STORE(&store->reserved, d->segment->cache_records, RELAXED);
	for (uint32_t i = 1; i <= 3; i++) {
		must(put_record(d, VICTIM + i, 1, 50, 0), "put");
	}
	BSHM_STORE(&shards[home].credit, SPARE_MOST, RELAXED);
	must(bshm_record_remove(d->segment, 0, &first_key, &error), "remove");
}

static void attach(desk *d)
{
	bshm_segment *own = d->segment;
	const bshm_options options = {.path = "segment", .mode = 0600};
	must(bshm_segment_open(&options, &d->segment, &error), "open");
	must(put_record(d, VICTIM + 1, 1, 50, 0), "put");
	add_some(d);
	bshm_segment_close(d->segment);
	d->segment = own;
}

static void change(desk *d)
{
	const bshm_key number = {"number", 6};
	const bshm_key text = {"text", 4};
	const bshm_increment five = {.key = number, .by = 5, .initial = 1};
	int64_t out;
	uint64_t length;
	for (int i = 0; i < 3; i++) {
		must(bshm_record_increment(d->segment, &five, &out, &error), "increment");
		must(bshm_record_append(d->segment, &text, &number, &text, &length, &error), "append");
	}
	must(bshm_record_touch(d->segment, &number, 60, &error), "touch, with no place for a ttl");
	must(bshm_record_touch(d->segment, &number, 70, &error), "touch");
	must(bshm_record_remove(d->segment, 0, &number, &error), "remove");
	must(bshm_record_remove(d->segment, 0, &text, &error), "remove");
}

static void use(desk *d)
{
	bshm_found found;
	for (uint32_t i = 0; i < RECORDS; i++) {
		const bshm_key key = {(const char *) &i, sizeof(i)};
		must(bshm_record_find(d->segment, 0, &key, BSHM_FIND_USE, &found), "find");
	}
	must(bshm_record_oldest(d->segment, &found), "oldest");
}

/* A look-up that takes the lock for it. */
static void use_and_renumber(desk *d)
{
	bshm_shard_header *shard = &d->segment->shards[0];
	BSHM_STORE(&shard->clock, BSHM_LOAD(&shard->clock, RELAXED) + 0x5100, RELAXED);
	BSHM_STORE(&d->segment->tally->hits, BSHM_HELP_HITS - 1, RELAXED);
	use(d);
	if (BSHM_LOAD(&shard->helped_s, RELAXED) == 0) {
		broken("renumber by a look-up", 0);
	}
}

static void lease(desk *d)
{
	const uint32_t victim = VICTIM;
	const bshm_key keys[] = {{(const char *) &victim, sizeof(victim)}, {"fetched", 7}};
	uint8_t bytes[60];
	record_bytes(bytes, VICTIM, 2, sizeof(bytes));
	for (unsigned i = 0; i < 2; i++) {
		bshm_lease_grant grant;
		const bshm_put put = {
			.space = i, .key = keys[i], .value = {BSHM_VALUE_STRING, bytes, sizeof(bytes)}};
		if (bshm_lease_take(d->segment, i, &keys[i], false, NULL, &grant) != BSHM_LEASE_MINE) {
			broken("lease", 0);
		}
		must(bshm_lease_release(d->segment, &grant, &put, NULL, &error), "release");
	}
	bshm_lease_grant grant;
	bshm_store_note_fetch(d->segment);
	bshm_lease_take(d->segment, 1, &keys[1], false, NULL, &grant);
	bshm_records_clear(d->segment, &(bshm_key){"no such key", 11});
	must(bshm_record_forget(d->segment, 1, &keys[1], NULL, &error), "forget what is being loaded");
	must(bshm_lease_release(d->segment, &grant, NULL, NULL, &error), "give back");
}

static void clear_records(desk *d)
{
	bshm_records_clear(d->segment, &(bshm_key){"\1", 1});
	bshm_records_clear(d->segment, &(bshm_key){"", 0});
}

static void travel_records(desk *d)
{
	char file[64];
	uint64_t count;
	snprintf(file, sizeof(file), "records.%d", (int) getppid());
	must(bshm_store_dump(d->segment, file, &count, &error), "dump");
	for (uint32_t i = 0; i < 20; i++) {
		const uint32_t number = VICTIM + i;
		const bshm_key key = {(const char *) &number, sizeof(number)};
		must(bshm_record_remove(d->segment, 0, &key, &error), "remove");
	}
	must(bshm_store_restore(d->segment, file, &count, &error), "restore");
	unlink(file);
}

static void pass_on(
	void *context, const bshm_outbox_letter *letter, uint64_t name, const bshm_key *key)
{
	(void) name, (void) key;
	bshm_outbox_free(context, letter, 1);
}

/* Keys of each size, and one that is too long. */
static void send(desk *d)
{
	static const char long_key[BSHM_OUTBOX_KEY_MAX + 1];
	const bshm_origin origin = {.source = "origin", .source_length = 6, .sends = true};
	bshm_build *build;
	bshm_info info;
	must(bshm_build_begin(d->segment, "sending", 7, &plain, &build, &error), "begin");
	must(bshm_build_follow(build, &origin, &error), "follow");
	must(bshm_build_publish(build, 0, &info, &error), "publish");
	for (int i = 0; i < 2; i++) {
		const bshm_key keys[] = {{"key", 3}, {long_key, 600}, {long_key, sizeof(long_key)}};
		uint64_t added;
		must(
			bshm_filter_add_many(d->segment, d->views, "sending", 7, keys, 3, NULL, &added, &error),
			"add");
		bshm_outbox_read(d->segment, i == 0, pass_on, d->segment);
	}
}

const scenario scenarios[] = {
	{"reserve", reserve_all_kinds, "", false, IMAGE_ROOMY},
	{"add", add_some, "", false, IMAGE_ROOMY},
	{"grow", grow, "", false, IMAGE_ROOMY},
	{"slide", slide, "", false, IMAGE_ROOMY},
	{"remove a counted key", take_back, "", false, IMAGE_ROOMY},
	{"clear", clear_all_kinds, " fixed growing sliding counting ", false, IMAGE_ROOMY},
	{"drop", drop_all_kinds, " fixed growing sliding counting ", false, IMAGE_ROOMY},
	{"rename", rename_twice, " fixed growing other ", false, IMAGE_ROOMY},
	{"copy", copy_twice, " other ", false, IMAGE_ROOMY},
	{"merge", merge, "", false, IMAGE_ROOMY},
	{"load", load_new, "", false, IMAGE_ROOMY},
	{"load anew", load_anew, "", false, IMAGE_ROOMY},
	{"load a counting filter", load_counting, "", false, IMAGE_ROOMY},
	{"load and give up", load_in_vain, "", false, IMAGE_ROOMY},
	{"dump and restore", travel, " other ", false, IMAGE_ROOMY},
	{"restore with more keys", travel_with_more, " other ", false, IMAGE_ROOMY},
	{"restore by a delta", travel_by_delta, " other ", false, IMAGE_ROOMY},
	{"follow another host's filter", follow, " other ", false, IMAGE_ROOMY},
	{"count what a filter was asked", usage, "", false, IMAGE_ROOMY},
	{"look at the figures", stat, "", false, IMAGE_ROOMY},
	{"leave keys for other hosts", send, "", false, IMAGE_ROOMY},
	{"put", put_new, "", false, IMAGE_ROOMY},
	{"replace", replace, "", false, IMAGE_ROOMY},
	{"put large values", put_large, "", false, IMAGE_ROOMY},
	{"touch a large value", touch_large, "", false, IMAGE_ROOMY},
	{"put many, and take them out", put_many, "", false, IMAGE_ROOMY},
	{"put where there is no room", put_crowded, "", true, IMAGE_CROWDED},
	{"increment, append, touch", change, "", false, IMAGE_ROOMY},
	{"use records", use, "", false, IMAGE_ROOMY},
	{"lease", lease, "", false, IMAGE_ROOMY},
	{"put what is too large", put_too_large, "", false, IMAGE_ROOMY},
	{"clear records", clear_records, "", true, IMAGE_ROOMY},
	{"renumber stamps", renumber, "", false, IMAGE_ROOMY},
	{"renumber stamps of a few", renumber_few, "", false, IMAGE_ROOMY},
	{"renumber stamps by a look-up", use_and_renumber, "", false, IMAGE_ROOMY},
	{"count records anew", count_anew, "", true, IMAGE_SHARDS},
	{"share the limit of records", share_limit, "", true, IMAGE_SHARDS},
	{"attach", attach, "", false, IMAGE_ROOMY},
	{"add to a full filter", add_to_a_full_one, "", false, IMAGE_ROOMY},
	{"dump and restore records", travel_records, "", true, IMAGE_ROOMY},
};
const size_t scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
