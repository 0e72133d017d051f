/*
 * walk.c - every call dies after each of its steps, without harm to other processes.
 *
 *   walk FOLDER [RANDOM]
 *
 * The core is built with BSHM_STEPS: each change of a shared word is a step that a process can be
 * made to die after. A scenario is run once, and its steps are noted. Then it is run again and
 * again, and killed after a step: for each place in the sources, the first time and the last time
 * it came, and RANDOM (60) other steps. The next process then finds every key that had been added,
 * every record whole, a segment without a fault, and no memory lost; and never waits for the dead
 * one. Where that left something to mend, others die while they mend it.
 *
 * At the end all places of the core that no scenario came to are told; only those in `unreached`
 * may be.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE
#endif

#include "deaths.h"

#include "platform/platform.h"
#include "platform/steps.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_MAX     (1u << 20)
#define STEPS_MAX   1024u
#define CONFIRM_MAX 8192u
#define NAPS_US     2000u /* more than a process asks to sleep that need not wait; 50 ms: 20,000 */
#define MENDERS     8     /* deaths while mending, for each death that left something */

static const char path[] = "segment";

/* The last one has several shards under one limit. */
static const bshm_options layouts[IMAGES] = {
	{.path = path, .filter_bytes = 4 << 20, .cache_bytes = 1 << 20, .mode = 0600},
	{.path = path, .filter_bytes = 4 << 20, .cache_bytes = 1 << 20, .mode = 0600},
	{.path = path,
		.filter_bytes = 4 << 20,
		.cache_bytes = 66 << 20,
		.cache_records = 3000000,
		.mode = 0600},
};
static const bshm_options *options = layouts;

typedef struct {
	uint32_t steps; /* of the last run */
	uint16_t log[LOG_MAX];
	bool reached[STEPS_MAX];
	uint32_t confirmed;
	confirmed_key confirmed_keys[CONFIRM_MAX];
} shared_state;

static shared_state *S;
static uint64_t random_state = 1;
static unsigned failures;
static unsigned deaths;
static const char *doing = "";

/* ------------------------------------------------------------------ steps */

static uint32_t die_at; /* of this process; 0 = it counts nothing */
static uint32_t count;

void bshm_step_done(const bshm_step *step)
{
	if (die_at == 0) {
		return;
	}
	const size_t place = (size_t) (step - __start_bshm_steps);
	S->reached[place] = true;
	if (count < LOG_MAX) {
		S->log[count] = (uint16_t) place;
	}
	S->steps = ++count;
	if (count == die_at) {
		kill(getpid(), SIGKILL);
	}
}

/* ------------------------------------------------------------------ telling */

static void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void fault(const char *format, ...)
{
	va_list arguments;
	failures++;
	printf("# %s: ", doing);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
}

_Noreturn void broken(const char *what, int status)
{
	printf("# %s: %s: %s\n", doing, what, bshm_status_str((bshm_status) status));
	fflush(stdout);
	_exit(3);
}

static uint64_t draw(void)
{
	random_state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t x = random_state;
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ (x >> 31);
}

/* ------------------------------------------------------------------ what there is */

void confirm(const char *filter, uint32_t key)
{
	if (S->confirmed < CONFIRM_MAX) {
		confirmed_key *one = &S->confirmed_keys[S->confirmed];
		snprintf(one->filter, sizeof(one->filter), "%s", filter);
		one->key = key;
		__atomic_store_n(&S->confirmed, S->confirmed + 1, __ATOMIC_RELEASE);
	}
}

void record_bytes(uint8_t *bytes, uint32_t number, uint32_t serial, uint32_t length)
{
	const uint32_t head[] = {number, serial, length};
	for (uint32_t i = 0; i < length; i++) {
		bytes[i] = (uint8_t) (number * 31 + serial * 7 + i * 13);
	}
	memcpy(bytes, head, length < sizeof(head) ? length : sizeof(head));
}

static desk open_desk(void)
{
	desk d;
	bshm_error error;
	const int status = bshm_segment_open(options, &d.segment, &error);
	must(status, "open");
	d.views = bshm_views_new();
	return d;
}

static void close_desk(desk *d)
{
	bshm_views_free(d->views);
	bshm_segment_close(d->segment);
}

static const struct {
	const char *name;
	bshm_parameters parameters;
} filters[] = {
	{"golden", {.error_rate = 0.01, .capacity = 5000}},
	{"fixed", {.error_rate = 0.01, .capacity = 5000, .seed = "s", .seed_length = 1}},
	{"other", {.error_rate = 0.01, .capacity = 5000, .seed = "s", .seed_length = 1}},
	{"growing", {.error_rate = 0.01, .capacity = 100, .expansion = 2}},
	{"full", {.error_rate = 0.01, .capacity = KEYS}},
	{"sliding", {.error_rate = 0.01, .capacity = 2000, .window_s = 3600}},
	{"counting", {.error_rate = 0.01, .capacity = 2000, .counting = true}},
};
#define FILTERS (sizeof(filters) / sizeof(filters[0]))
#define GROWING 3

static void add_extra(desk *d, const char *filter, uint32_t number)
{
	char key[24];
	bshm_error error;
	const size_t length = key_name(key, number);
	must(bshm_filter_add(d->segment, d->views, filter, strlen(filter), key, length, &error), "add");
}

/* Adds keys until another few would make the filter grow: as many as another one took. */
static void fill_up(desk *d, const char *filter, const bshm_parameters *parameters)
{
	bshm_error error;
	bshm_info info = {.layer_count = 0};
	uint32_t count = 0;
	must(bshm_filter_reserve(d->segment, "scratch", 7, parameters, &error), "reserve");
	while (info.layer_count < 3) {
		add_extra(d, "scratch", 100000 + count++);
		must(bshm_filter_info(d->segment, d->views, "scratch", 7, &info), "info");
	}
	must(bshm_filter_drop(d->segment, "scratch", 7, &error), "drop");
	for (uint32_t i = KEYS; i + 40 < count; i++) {
		add_extra(d, filter, 100000 + i);
	}
}

static void fill(bool crowded)
{
	bshm_clock_set(THEN);
	desk d = open_desk();
	bshm_error error;
	for (size_t f = 0; f < FILTERS; f++) {
		const char *name = filters[f].name;
		must(bshm_filter_reserve(d.segment, name, strlen(name), &filters[f].parameters, &error),
			"reserve");
		for (uint32_t i = 0; i < KEYS; i++) {
			add_key(&d, name, i);
		}
	}
	for (uint32_t i = 1000; i < 1010; i++) {
		add_key(&d, "counting", i);
	}
	fill_up(&d, "growing", &filters[GROWING].parameters);
	for (uint32_t i = 0; i < RECORDS; i++) {
		must(put_record(&d, i, 1, 20 + i % 200, i % 3 == 0 ? 9000 : 0), "put");
	}
	must(put_record(&d, VICTIM, 1, 60, 0), "put");
	for (uint32_t i = 0; crowded && i < 12000; i++) {
		must(put_record(&d, 50000 + i, 1, 100, 0), "put");
	}
	close_desk(&d);
}

/* ------------------------------------------------------------------ running */

typedef struct {
	uint8_t *bytes;
	size_t size;
	uint64_t filter_bytes_free; /* without any filter */
} image;

static void write_image(const image *what)
{
	const int file = open(path, O_WRONLY | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, (off_t) what->size) != 0 ||
		pwrite(file, what->bytes, what->size, 0) != (ssize_t) what->size) {
		perror("walk: segment");
		exit(1);
	}
	close(file);
	S->confirmed = 0;
}

/* Runs in a process of its own, which dies after so many steps, or not; how many it made. */
static uint32_t run(void (*work)(desk *), uint32_t steps, int *status)
{
	S->steps = 0;
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		desk d = open_desk();
		die_at = steps;
		work(&d);
		die_at = 0;
		close_desk(&d);
		_exit(0);
	}
	waitpid(child, status, 0);
	return S->steps;
}

static image make_image(unsigned which)
{
	image made;
	options = &layouts[which];
	struct stat st;
	bshm_stat figures;
	bshm_error error;
	unlink(path);
	desk d = open_desk();
	must(bshm_segment_stat(d.segment, &figures, &error), "stat");
	made.filter_bytes_free = figures.filter_bytes_free;
	close_desk(&d);
	const pid_t child = fork(); /* its owner slot stays that of a process that is gone */
	if (child == 0) {
		fill(which == IMAGE_CROWDED);
		_exit(0);
	}
	int status;
	waitpid(child, &status, 0);
	const int file = open(path, O_RDONLY);
	if (status != 0 || fstat(file, &st) != 0) {
		broken("image", 0);
	}
	made.size = (size_t) st.st_size;
	made.bytes = malloc(made.size);
	if (read(file, made.bytes, made.size) != (ssize_t) made.size) {
		broken("image", 0);
	}
	close(file);
	return made;
}

/* ------------------------------------------------------------------ judging */

static uint64_t slept_us; /* that was asked for: how long it was depends on the machine */

void __wrap_bshm_os_sleep_us(unsigned microseconds);
void __real_bshm_os_sleep_us(unsigned microseconds);

void __wrap_bshm_os_sleep_us(unsigned microseconds)
{
	slept_us += microseconds;
	__real_bshm_os_sleep_us(microseconds);
}

static void prompt(const char *what)
{
	if (slept_us > NAPS_US) {
		fault("%s waited for a dead process: %llu us", what, (unsigned long long) slept_us);
	}
	slept_us = 0;
}

static bool is_gone(const scenario *s, const char *filter)
{
	char between[20];
	snprintf(between, sizeof(between), " %s ", filter);
	return strstr(s->gone, between) != NULL;
}

static void must_be_found(desk *d, const char *filter, uint32_t number)
{
	char key[24];
	const size_t length = key_name(key, number);
	if (bshm_filter_has(d->segment, d->views, filter, strlen(filter), key, length) == 0) {
		fault("%s: %s is denied", filter, key);
	}
}

static void judge_filters(desk *d, const scenario *s)
{
	for (size_t f = 0; f < FILTERS; f++) {
		for (uint32_t i = 0; i < KEYS && !is_gone(s, filters[f].name); i++) {
			must_be_found(d, filters[f].name, i);
		}
	}
	for (uint32_t i = 0; i < S->confirmed; i++) {
		if (!is_gone(s, S->confirmed_keys[i].filter)) {
			must_be_found(d, S->confirmed_keys[i].filter, S->confirmed_keys[i].key);
		}
	}
	prompt("asking");
}

/* 1 = there, whole; 0 = absent; -1 = torn. */
static int look(desk *d, uint32_t number)
{
	static uint8_t bytes[LARGEST];
	static uint8_t expected[LARGEST];
	const bshm_key key = {(const char *) &number, sizeof(number)};
	bshm_found found;
	if (bshm_record_find(d->segment, 0, &key, BSHM_FIND_USE, &found) != 1) {
		return 0;
	}
	if (found.length > sizeof(bytes) || !bshm_found_copy(&found, bytes)) {
		return -1;
	}
	uint32_t serial = 1;
	memcpy(&serial, bytes + 4, found.length >= 8 ? 4 : 0);
	record_bytes(expected, number, serial, (uint32_t) found.length);
	return memcmp(bytes, expected, (size_t) found.length) == 0 ? 1 : -1;
}

static void judge_records(desk *d, const scenario *s)
{
	for (uint32_t i = 0; i <= RECORDS; i++) {
		const uint32_t number = i == RECORDS ? VICTIM : i;
		const int there = look(d, number);
		if (there < 0 || (there == 0 && !s->record_may_go)) {
			fault("record %u is %s", number, there < 0 ? "torn" : "gone");
		}
	}
	prompt("reading");
}

static void tell(void *context, const char *what, const char *name)
{
	(void) context;
	fault("the validator: %s %s", what, name);
}

/* Takes both locks: whatever the dead one left is mended. */
static void mend(desk *d)
{
	bshm_error error;
	const uint32_t number = 99999;
	const bshm_key key = {(const char *) &number, sizeof(number)};
	must(bshm_filter_reserve(d->segment, "probe", 5,
			 &(bshm_parameters){.error_rate = 0.01, .capacity = 10}, &error),
		"reserve");
	must(bshm_filter_drop(d->segment, "probe", 5, &error), "drop");
	must(put_record(d, number, 1, 10, 0), "put");
	must(bshm_record_remove(d->segment, 0, &key, &error), "remove");
}

/* Takes everything out: is all memory back? */
static void judge_memory(desk *d, uint64_t filter_bytes_free)
{
	bshm_error error;
	bshm_stat figures;
	bshm_store_info store;
	char name[BSHM_NAME_BYTES_MAX + 1];
	uint32_t cursor = 0;
	do {
		const size_t length = bshm_filter_next(d->segment, &cursor, name);
		if (length != 0) {
			must(bshm_filter_drop(d->segment, name, length, &error), "drop");
		}
	} while (cursor != 0);
	must(bshm_segment_stat(d->segment, &figures, &error), "stat");
	if (figures.filter_bytes_free != filter_bytes_free) {
		fault("%lld bytes of filters are lost",
			(long long) (filter_bytes_free - figures.filter_bytes_free));
	}
	bshm_scan scan = {0};
	do {
		bshm_scan_next(d->segment, &scan, 0);
		for (unsigned i = 0; i < scan.count; i++) {
			must(bshm_record_remove(d->segment, scan.spaces[i], &scan.keys[i], &error), "remove");
		}
	} while (scan.cursor != 0);
	bshm_scan_free(&scan);
	bshm_store_stat(d->segment, &store);
	if (store.records != 0 || store.data_bytes != 0) {
		fault("%llu records and %llu bytes are left", (unsigned long long) store.records,
			(unsigned long long) store.data_bytes);
	}
	bshm_segment_check(d->segment, tell, NULL, &(bshm_error){0});
}

static void judge(const scenario *s, uint64_t filter_bytes_free)
{
	desk d = open_desk();
	slept_us = 0;
	judge_filters(&d, s); /* as the dead one left it, */
	judge_records(&d, s);
	mend(&d);
	prompt("mending");
	judge_filters(&d, s); /* and mended */
	judge_records(&d, s);
	bshm_segment_check(d.segment, tell, NULL, &(bshm_error){0});
	judge_memory(&d, filter_bytes_free);
	close_desk(&d);
}

/* ------------------------------------------------------------------ walking */

static void die_and_judge(const scenario *s, const image *before, uint32_t step)
{
	char where[200];
	int status;
	write_image(before);
	const uint32_t made = run(s->run, step, &status);
	if (status == 0) {
		return; /* chance made it shorter */
	}
	if (!WIFSIGNALED(status) || made != step) {
		fault("step %u of a run was not come to: %u, status %d", step, made, status);
		return;
	}
	const bshm_step *place = &__start_bshm_steps[S->log[step - 1]];
	snprintf(where, sizeof(where), "%s, dead after %s:%ld", s->name, place->file, place->line);
	doing = where;
	deaths++;
	judge(s, before->filter_bytes_free);
	doing = s->name;
}

/* The same death again; then others die mending. */
static void die_mending(const scenario *s, const image *before, uint32_t step)
{
	char where[200];
	int status;
	write_image(before);
	run(s->run, step, &status);
	const uint32_t steps = run(mend, UINT32_MAX, &status);
	for (int i = 0; i < MENDERS; i++) {
		const uint32_t second = 1 + (uint32_t) (draw() % steps);
		write_image(before);
		run(s->run, step, &status);
		if (run(mend, second, &status) != second) {
			continue;
		}
		const bshm_step *place = &__start_bshm_steps[S->log[second - 1]];
		snprintf(where, sizeof(where), "%s, dead after step %u, its mender after %s:%ld", s->name,
			step, place->file, place->line);
		doing = where;
		deaths++;
		judge(s, before->filter_bytes_free);
		doing = s->name;
	}
}

static void walk(const scenario *s, const image *before, unsigned random_steps)
{
	static uint16_t log[LOG_MAX];
	uint32_t last[STEPS_MAX] = {0};
	bool seen[STEPS_MAX] = {false};
	int status;
	doing = s->name;
	options = &layouts[s->image];
	write_image(before);
	const uint32_t steps = run(s->run, UINT32_MAX, &status);
	const unsigned failed_before = failures;
	const unsigned deaths_before = deaths;
	unsigned places = 0;
	if (status != 0 || steps > LOG_MAX) {
		fault("status %d after %u steps", status, steps);
	}
	memcpy(log, S->log, sizeof(log));
	for (uint32_t i = 0; i < steps; i++) {
		last[log[i]] = i + 1;
	}
	for (uint32_t i = 0; i < steps && failures - failed_before < 10; i++) {
		const bool first = !seen[log[i]];
		seen[log[i]] = true;
		places += first;
		if (first || last[log[i]] == i + 1) {
			die_and_judge(s, before, i + 1);
		}
		if (first && places % 4 == 0) {
			die_mending(s, before, i + 1);
		}
	}
	for (unsigned i = 0; i < random_steps && steps != 0 && failures - failed_before < 10; i++) {
		die_and_judge(s, before, 1 + (uint32_t) (draw() % steps));
	}
	printf("%s - %s: %u deaths at %u places, in %u steps\n",
		failures == failed_before ? "ok" : "not ok", s->name, deaths - deaths_before, places,
		steps);
	fflush(stdout);
}

static void create(desk *d)
{
	bshm_segment *own = d->segment;
	bshm_error error;
	unlink(path);
	must(bshm_segment_open(options, &d->segment, &error), "create");
	bshm_segment_close(d->segment);
	d->segment = own;
}

/* A process that dies while it creates the segment does not disturb others. */
static void walk_creation(void)
{
	int status;
	doing = "create";
	options = &layouts[IMAGE_ROOMY];
	const unsigned failed_before = failures;
	const uint32_t steps = run(create, UINT32_MAX, &status);
	for (uint32_t i = 1; i <= steps; i++) {
		run(create, i, &status);
		desk d = open_desk();
		mend(&d);
		bshm_segment_check(d.segment, tell, NULL, &(bshm_error){0});
		close_desk(&d);
		deaths++;
	}
	printf("%s - create: %u deaths\n", failures == failed_before ? "ok" : "not ok", steps);
}

/* Where no scenario comes to, and why: other tests do, or it takes a damaged segment. */
static const struct {
	const char *function;
	const char *why;
} unreached[] = {
	{"bshm__shard_lock_wait", "a holder who lives does not let go in time: test_find_stopped"},
	{"bshm__lock_take", "the same: test_lock"},
	{"set_starving", "a lock is not to be had for 5 ms: test_change"},
	{"bshm__space_note", "there is no room: test_blocks"},
	{"bshm__space_forget", "there was no room before: test_blocks"},
	{"tally_shared", "a fork's child with no place of its own: test_find_fork"},
	{"bshm_lease_release", "the lock cannot be had in a second: test_repair"},
	{"bshm__quota_recount", "one shard's lock cannot be had: test_repair"},
	{"bshm__parked_give_up", "the lock is not to be had again: test_large"},
	{"await_room", "a living process does not put its chunks in time: test_large_most"},
	{"give_up", "a lock is not to be had: lists_wait_once.phpt"},
	{"free_page", "the counts were wrong: test_repair"},
	{"bshm__unit_move", "a unit lies alone in a page, and the others have room: test_repair"},
	{"set_unit", "the same"},
	{"settle_places", "two adders meet at the last place: test_add"},
	{"merge_words", "a sliding filter is merged: test_merge"},
	{"rotate", "bits of a lane that rests: test_sliding"},
	{"bshm__line_add", "two adders set one word at once: test_add"},
	{"string_together", "no run of free partitions is long enough: test_blocks"},
	{"append_run", "free partitions are no neighbours of a build's own: test_image"},
	{"bshm__evict_surely", "a segment that is damaged: test_room_damage"},
	{"frequents_set", "one that was used again is evicted; a hint: test_ghost"},
	{"move_lean", "a record returns after its eviction; a hint: test_ghost"},
	{"learn_missed", "the same, of one that is not put again"},
	{"bshm__ghost_returns", "the same"},
	{"take_missed", "the same"},
	{"bshm__ghost_missed", "the same"},
	{"set_power", "the same"},
	{"bshm__gain_add", "the same"},
	{"bshm__gain_missed", "the same"},
	{"bshm__gain_evicted", "the same"},
	{"count_hits", "the same"},
	{"stamp", "a hint: test_shadow"},
	{"bshm__shadow_forget", "the same"},
	{"renew", "the same"},
	{"bshm__quota_doubt", "a count of records is damaged: test_bounds_damage"},
	{"draw", "a count of the limit is damaged: test_quota"},
	{"bshm__quota_take", "the same"},
	{"claim_all", "a segment that is damaged: test_check"},
	{"clear_zero", "no private memory: test_ops"},
	{"bshm__clear_finish", "no private memory: test_ops"},
	{"find_file", "other code has closed the descriptor: test_descriptors"},
	{"bshm__clock_attach", "the wall clock was set: test_clock"},
	{"bshm_os_clock_set", "of tests only"},
};

static bool is_excused(const bshm_step *step)
{
	for (size_t i = 0; i < sizeof(unreached) / sizeof(unreached[0]); i++) {
		if (strcmp(unreached[i].function, step->function) == 0) {
			return true;
		}
	}
	return false;
}

/* An inline function has its places once for each file that uses it. */
static bool is_reached(const bshm_step *step, size_t places)
{
	for (size_t i = 0; i < places; i++) {
		const bshm_step *other = &__start_bshm_steps[i];
		if (S->reached[i] && other->line == step->line && strcmp(other->file, step->file) == 0) {
			return true;
		}
	}
	return false;
}

static void tell_unreached(size_t places)
{
	unsigned missing = 0;
	for (size_t i = 0; i < places; i++) {
		const bshm_step *step = &__start_bshm_steps[i];
		if (!is_reached(step, places) && !is_excused(step)) {
			missing++;
			printf("# never: %s:%ld, %s()\n", step->file, step->line, step->function);
		}
	}
	failures += missing != 0;
	printf("%s - all %zu places were come to, but for those that are excused\n",
		missing == 0 ? "ok" : "not ok", places);
}

int main(int argc, char **argv)
{
	if (argc < 2 || chdir(argv[1]) != 0) {
		fprintf(stderr, "usage: walk FOLDER [RANDOM]\n");
		return 1;
	}
	const unsigned random_steps = argc > 2 ? (unsigned) atoi(argv[2]) : 60;
	const size_t places = (size_t) (__stop_bshm_steps - __start_bshm_steps);
	S = mmap(NULL, sizeof(*S), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (S == MAP_FAILED || places > STEPS_MAX) {
		broken("shared memory", 0);
	}
	random_state = bshm_os_monotonic_ns();
	printf("# seed %llu\n", (unsigned long long) random_state);
	bshm_clock_set(NOW);
	image images[IMAGES];
	for (unsigned i = 0; i < IMAGES; i++) {
		images[i] = make_image(i);
	}
	walk_creation();
	for (size_t i = 0; i < scenario_count; i++) {
		walk(&scenarios[i], &images[scenarios[i].image], random_steps);
	}
	tell_unreached(places);
	printf("# %u deaths\n", deaths);
	return failures == 0 ? 0 : 1;
}
