/*
 * order.c - calls of administrators on one name at once have an order that explains what came of
 * them.
 *
 *   order FOLDER [ROUNDS]
 *
 * Every kind of call that makes, moves, changes or ends a filter meets every other, on filters of
 * each kind. The core is built with BSHM_STEPS: a call is stopped between two of its steps,
 * wherever it does not hold the lock, while another process carries out the other call. Then both
 * run freely. Of three that are drawn all run freely, or the first is stopped while the others are
 * carried out. Afterwards the names and keys that stand, and what each
 * call returned, must be those of a model that does one call after the other, in some order. Keys
 * of an add need only be there where the model has them: elsewhere they are a needless "maybe". An
 * add to a name under which nothing stands is kept by those who are making a filter of that name,
 * if they succeed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE
#endif

#include "core/segment/segment.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS    3
#define TOKEN_KEYS 12      /* a set of keys that come and go together */
#define CAPACITY   9000    /* more than one partition */
#define FAR_STEPS  701     /* steps without the lock from one place to stop to the next */
#define PLACES     6       /* where the first of three calls may be stopped */
#define BLOCKED_MS 20      /* then the other call waits for the one that is stopped */
#define HANGS_MS   1200000 /* only what hangs takes so long, on a busy machine too */
#define UNKNOWN    (-1000)
#define FAILED     (-2000)
#define NOTED      2 /* an add found no x, but a process that was making one */

enum {
	X,
	Y,
	Z,
	NAMES
};
enum {
	TOKEN_FILE = NAMES,
	TOKEN_LOAD,
	TOKEN_ADD = TOKEN_LOAD + WORKERS,
	TOKENS = TOKEN_ADD + WORKERS
};
#define ADDS (((1u << WORKERS) - 1) << TOKEN_ADD)

static const char *const names[NAMES] = {"x", "y", "z"};
static const char *const kinds[] = {"fixed", "sliding", "counting", "growing"};

typedef struct {
	bool stands[NAMES];
	uint32_t tokens[NAMES];
	uint32_t noted; /* added while no x stood, and to be in what is being made of it */
} state;

/* What a worker is to do, and how it went. */
typedef struct {
	sem_t begin;
	sem_t stopped; /* or the call has ended before */
	sem_t resume;
	sem_t ended;
	size_t call;
	uint32_t kind;
	uint32_t stop_at; /* a place, counted from 1; 0 = nowhere */
	bool is_stopped;
	bool takes_part; /* in the trial */
	int result;
} desk;

static desk *desks;
static bshm_segment *segment;
static bshm_views *views;
static bshm_error error;
static uint32_t kind; /* BSHM_KIND_* of all filters now */
static desk *mine;    /* a worker's own */
static unsigned who;  /* its number */
static unsigned trials;
static unsigned unknown;
static unsigned failures;

static void need(bool condition, const char *what)
{
	if (!condition) {
		printf("not ok - %s: %s, %s (%d)\n", what, bshm_status_str(error.status),
			bshm_cause_str(error.cause), errno);
		fflush(stdout);
		exit(2);
	}
}

/* ------------------------------------------------------------------ stopping */

static uint32_t places;
static uint32_t far;
static bool was_inside;

void bshm_step_done(const bshm_step *step)
{
	if (mine == NULL || mine->stop_at == 0) {
		return;
	}
	const bool inside = BSHM_LOAD(&segment->header->lock, RELAXED) == segment->owner;
	const bool place = !inside && (was_inside || strcmp(step->function, "enter_process") == 0 ||
									  ++far % FAR_STEPS == 0);
	was_inside = inside;
	if (place && ++places == mine->stop_at) {
		mine->is_stopped = true;
		sem_post(&mine->stopped);
		while (sem_wait(&mine->resume) != 0) {
		}
	}
}

/* ------------------------------------------------------------------ calls */

static bshm_parameters parameters(void)
{
	return (bshm_parameters){
		.error_rate = 0.01,
		.capacity = CAPACITY,
		.expansion = kind == BSHM_KIND_GROWING ? 2 : 0,
		.window_s = kind == BSHM_KIND_SLIDING ? 360000 : 0,
		.counting = kind == BSHM_KIND_COUNTING,
		.seed = "order",
		.seed_length = 5,
	};
}

static bshm_key token_key(unsigned token, unsigned i)
{
	static char text[TOKEN_KEYS][24];
	const int length = snprintf(text[i], sizeof(text[i]), "token %u, key %u", token, i);
	return (bshm_key){text[i], (size_t) length};
}

static int add_token(unsigned name, unsigned token)
{
	bshm_key keys[TOKEN_KEYS];
	uint64_t added;
	for (unsigned i = 0; i < TOKEN_KEYS; i++) {
		keys[i] = token_key(token, i);
	}
	return bshm_filter_add_many(
		segment, views, names[name], 1, keys, TOKEN_KEYS, NULL, &added, &error);
}

static int load_x(void)
{
	const bshm_parameters p = parameters();
	bshm_build *build;
	bshm_info info;
	int status = bshm_build_begin(segment, "x", 1, &p, &build, &error);
	for (unsigned i = 0; status == BSHM_OK && i < TOKEN_KEYS; i++) {
		const bshm_key key = token_key(TOKEN_LOAD + who, i);
		status = bshm_build_key(build, key.bytes, key.length, &error);
	}
	return status == BSHM_OK ? bshm_build_publish(build, 1.0, &info, &error) : status;
}

static int merge(unsigned into, unsigned from)
{
	const bshm_key key = {names[from], 1};
	return bshm_filter_merge(segment, names[into], 1, &key, 1, &error);
}

static int merge_y_into_x(void)
{
	return merge(X, Y);
}

static int merge_z_into_x(void)
{
	return merge(X, Z);
}

static int merge_x_into_y(void)
{
	return merge(Y, X);
}

static int copy_y_to_x(void)
{
	return bshm_filter_copy(segment, "y", 1, "x", 1, &error);
}

static int copy_x_to_y(void)
{
	return bshm_filter_copy(segment, "x", 1, "y", 1, &error);
}

static int rename_y_to_x(void)
{
	return bshm_filter_rename(segment, "y", 1, "x", 1, &error);
}

static int rename_x_to_y(void)
{
	return bshm_filter_rename(segment, "x", 1, "y", 1, &error);
}

static const char *file_of(unsigned token)
{
	static char path[64];
	snprintf(path, sizeof(path), "%s.%u", kinds[kind], token);
	return path;
}

static int restore_x(void)
{
	return bshm_filter_restore(segment, "x", 1, file_of(TOKEN_FILE), &error);
}

static int clear_x(void)
{
	return bshm_filter_clear(segment, "x", 1, &error);
}

static int drop_x(void)
{
	return bshm_filter_drop(segment, "x", 1, &error);
}

static int reserve_x(void)
{
	const bshm_parameters p = parameters();
	const int made = bshm_filter_reserve(segment, "x", 1, &p, &error);
	return made == BSHM_E_EXISTS ? 0 : made;
}

static int add_to_x(void)
{
	const int status = add_token(X, TOKEN_ADD + who);
	return status == BSHM_E_NOT_FOUND && error.cause == BSHM_CAUSE_JOURNAL ? NOTED : status;
}

/* ------------------------------------------------------------------ the model of each */

/* A whole set: what was noted before is replaced with it. */
static int put(state *s, unsigned name, uint32_t tokens)
{
	s->stands[name] = true;
	s->tokens[name] = tokens;
	s->noted = name == X ? 0 : s->noted;
	return BSHM_OK;
}

static int model_load(state *s, unsigned worker)
{
	return put(s, X, 1u << (TOKEN_LOAD + worker));
}

static int unite(state *s, unsigned into, unsigned from)
{
	uint32_t before = s->stands[into] ? s->tokens[into] : 0;
	before |= into == X ? s->noted : 0;
	return s->stands[from] ? put(s, into, before | s->tokens[from]) : BSHM_E_NOT_FOUND;
}

static int model_merge_y(state *s, unsigned worker)
{
	(void) worker;
	return unite(s, X, Y);
}

static int model_merge_z(state *s, unsigned worker)
{
	(void) worker;
	return unite(s, X, Z);
}

static int model_merge_x(state *s, unsigned worker)
{
	(void) worker;
	return unite(s, Y, X);
}

static int model_copy_y(state *s, unsigned worker)
{
	(void) worker;
	return s->stands[Y] ? put(s, X, s->tokens[Y]) : BSHM_E_NOT_FOUND;
}

static int model_copy_x(state *s, unsigned worker)
{
	(void) worker;
	return s->stands[X] ? put(s, Y, s->tokens[X]) : BSHM_E_NOT_FOUND;
}

static int model_rename_y(state *s, unsigned worker)
{
	const int status = model_copy_y(s, worker);
	s->stands[Y] = false;
	return status;
}

static int model_rename_x(state *s, unsigned worker)
{
	const int status = model_copy_x(s, worker);
	s->stands[X] = false;
	return status;
}

static int model_restore(state *s, unsigned worker)
{
	(void) worker;
	return put(s, X, 1u << TOKEN_FILE);
}

static int model_clear(state *s, unsigned worker)
{
	(void) worker;
	s->tokens[X] = 0;
	return s->stands[X];
}

static int model_drop(state *s, unsigned worker)
{
	(void) worker;
	const bool stood = s->stands[X];
	s->stands[X] = false;
	return stood;
}

static int model_reserve(state *s, unsigned worker)
{
	(void) worker;
	const bool stood = s->stands[X];
	if (!stood) {
		s->stands[X] = true;
		s->tokens[X] = 0;
	}
	return !stood;
}

static int model_add(state *s, unsigned worker);

static const struct {
	const char *what;
	int (*run)(void);
	int (*model)(state *s, unsigned worker);
} calls[] = {
	{"load x", load_x, model_load},
	{"merge y into x", merge_y_into_x, model_merge_y},
	{"merge z into x", merge_z_into_x, model_merge_z},
	{"merge x into y", merge_x_into_y, model_merge_x},
	{"copy y to x", copy_y_to_x, model_copy_y},
	{"copy x to y", copy_x_to_y, model_copy_x},
	{"rename y to x", rename_y_to_x, model_rename_y},
	{"rename x to y", rename_x_to_y, model_rename_x},
	{"restore x", restore_x, model_restore},
	{"clear x", clear_x, model_clear},
	{"drop x", drop_x, model_drop},
	{"reserve x", reserve_x, model_reserve},
	{"add to x", add_to_x, model_add},
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* Does the call make a filter beside the one that stands, so that adders keep a journal for it? */
static bool builds_x(size_t call)
{
	return calls[call].run == load_x || calls[call].run == merge_y_into_x ||
		   calls[call].run == merge_z_into_x || calls[call].run == copy_y_to_x ||
		   calls[call].run == restore_x;
}

static int model_add(state *s, unsigned worker)
{
	const uint32_t token = 1u << (TOKEN_ADD + worker);
	bool built = false;
	bool failed = false;
	for (unsigned i = 0; i < WORKERS; i++) {
		const bool builds = desks[i].takes_part && builds_x(desks[i].call);
		built |= builds;
		failed |= builds && desks[i].result != BSHM_OK;
	}
	if (s->stands[X]) {
		s->tokens[X] |= token;
		return BSHM_OK;
	}
	if (built && desks[worker].result == NOTED) {
		s->noted |= failed ? 0 : token;
		return NOTED;
	}
	return BSHM_E_NOT_FOUND;
}

/* A sliding filter cannot be loaded. */
static bool is_possible(size_t call)
{
	return kind != BSHM_KIND_SLIDING || calls[call].run != load_x;
}

/* ------------------------------------------------------------------ workers */

static void open_segment(void)
{
	const bshm_options options = {.path = "segment", .filter_bytes = 8 << 20, .mode = 0600};
	bshm_stat stat;
	bshm_status status;
	while ((status = bshm_segment_open(&options, &segment, &error)) == BSHM_E_BUSY) {
		bshm_os_sleep_us(1000); /* another creates it */
	}
	need(status == BSHM_OK, "open");
	need(bshm_segment_stat(segment, &stat, &error) == BSHM_OK, "attach");
	views = bshm_views_new();
	need(views != NULL, "memory");
}

static int carry_out(size_t call)
{
	const int result = calls[call].run();
	if (result == BSHM_E_TIMEOUT) {
		return UNKNOWN;
	}
	if (result < 0 && result != BSHM_E_NOT_FOUND) {
		printf("# %s: %s (%s)\n", calls[call].what, bshm_status_str((bshm_status) result),
			bshm_cause_str(error.cause));
		fflush(stdout);
		return FAILED;
	}
	return result;
}

_Noreturn static void work(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_segment();
	for (;;) {
		while (sem_wait(&desks[who].begin) != 0) {
		}
		places = far = 0;
		was_inside = false;
		kind = desks[who].kind;
		mine = &desks[who];
		mine->result = carry_out(mine->call);
		if (!mine->is_stopped) {
			sem_post(&mine->stopped);
		}
		mine = NULL;
		sem_post(&desks[who].ended);
	}
}

static void begin(unsigned worker, size_t call, uint32_t stop_at)
{
	desk *d = &desks[worker];
	d->call = call;
	d->kind = kind;
	d->stop_at = stop_at;
	d->is_stopped = false;
	sem_post(&d->begin);
}

static bool await(sem_t *semaphore, int milliseconds)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += milliseconds % 1000 * 1000000L;
	until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	int status;
	do {
		status = sem_timedwait(semaphore, &until);
	} while (status != 0 && errno == EINTR);
	return status == 0;
}

static void finish(unsigned worker)
{
	need(await(&desks[worker].ended, HANGS_MS), "a call does not end");
	while (sem_trywait(&desks[worker].stopped) == 0) {
	}
}

/* ------------------------------------------------------------------ what came of it */

static bool has_token(unsigned name, unsigned token)
{
	for (unsigned i = 0; i < TOKEN_KEYS; i++) {
		const bshm_key key = token_key(token, i);
		if (bshm_filter_has(segment, views, names[name], 1, key.bytes, key.length) != 1) {
			return false;
		}
	}
	return true;
}

static state observe(void)
{
	state s = {0};
	for (unsigned name = 0; name < NAMES; name++) {
		s.stands[name] = bshm_filter_ready(segment, views, names[name], 1);
		for (unsigned token = 0; s.stands[name] && token < TOKENS; token++) {
			s.tokens[name] |= (uint32_t) has_token(name, token) << token;
		}
	}
	return s;
}

static bool is_like(const state *found, const state *model)
{
	for (unsigned name = 0; name < NAMES; name++) {
		const uint32_t more = found->tokens[name] & ~model->tokens[name];
		const uint32_t less = model->tokens[name] & ~found->tokens[name];
		if (found->stands[name] != model->stands[name] ||
			(model->stands[name] && ((more & ~ADDS) != 0 || less != 0))) {
			return false;
		}
	}
	return true;
}

/* Is there an order of the calls that are not in `done` which leads from `s` to what was found? */
static bool is_explained(const state *found, const state *s, unsigned count, uint32_t done)
{
	if (done == (1u << count) - 1) {
		return is_like(found, s);
	}
	for (unsigned i = 0; i < count; i++) {
		if ((done >> i & 1) != 0) {
			continue;
		}
		state next = *s;
		const int result = calls[desks[i].call].model(&next, i);
		const bool open = desks[i].result == UNKNOWN; /* it was done, or it was not */
		if (((open || desks[i].result == result) &&
				is_explained(found, &next, count, done | 1u << i)) ||
			(open && is_explained(found, s, count, done | 1u << i))) {
			return true;
		}
	}
	return false;
}

static void tell_fault(void *context, const char *what, const char *name)
{
	(void) context;
	printf("# %s (%s)\n", what, name);
}

static void tell(const state *found, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		printf("%s%s = %d", i == 0 ? "# " : "; ", calls[desks[i].call].what, desks[i].result);
	}
	printf("; %s, stopped at %u:", kinds[kind], desks[0].stop_at);
	for (unsigned name = 0; name < NAMES; name++) {
		printf(" %s %s %x", names[name], found->stands[name] ? "has" : "is missing",
			found->tokens[name]);
	}
	printf("\n");
}

static void judge(const state *before, unsigned count)
{
	const state found = observe();
	trials++;
	for (unsigned i = 0; i < WORKERS; i++) {
		desks[i].takes_part = i < count;
		unknown += i < count && desks[i].result == UNKNOWN;
	}
	if (!is_explained(&found, before, count, 0)) {
		failures++;
		if (failures <= 40) {
			tell(&found, count);
		}
	}
}

/* ------------------------------------------------------------------ trials */

/* The filters as they are before each trial. */
static state set_up(bool with_x)
{
	state s = {0};
	for (unsigned name = 0; name < NAMES; name++) {
		if (name == X && !with_x) {
			need(bshm_filter_drop(segment, "x", 1, &error) >= 0, "drop");
		} else {
			need(bshm_filter_restore(segment, names[name], 1, file_of(name), &error) == BSHM_OK,
				"restore");
			put(&s, name, 1u << name);
		}
	}
	return s;
}

/* One call is stopped at a place, the other carried out. False: the first has no such place. */
static bool try_stopped(size_t first, size_t second, bool with_x, uint32_t stop_at)
{
	const state before = set_up(with_x);
	begin(0, first, stop_at);
	need(await(&desks[0].stopped, HANGS_MS), "a call does not come to its place");
	if (!desks[0].is_stopped) {
		finish(0);
		return false;
	}
	begin(1, second, 0);
	const bool free = await(&desks[1].ended, BLOCKED_MS);
	sem_post(&desks[0].resume);
	finish(0);
	if (!free) {
		finish(1);
	}
	judge(&before, 2);
	return true;
}

static void try_free(const size_t *drawn, unsigned count, bool with_x)
{
	const state before = set_up(with_x);
	for (unsigned i = 0; i < count; i++) {
		begin(i, drawn[i], 0);
	}
	for (unsigned i = 0; i < count; i++) {
		finish(i);
	}
	judge(&before, count);
}

/* The first call is stopped, if it has that place, while the others are carried out in turn. */
static void try_in_turn(const size_t *drawn, bool with_x, uint32_t stop_at)
{
	const state before = set_up(with_x);
	bool free[WORKERS] = {false};
	begin(0, drawn[0], stop_at);
	need(await(&desks[0].stopped, HANGS_MS), "a call does not come to its place");
	for (unsigned i = 1; i < WORKERS; i++) {
		begin(i, drawn[i], 0);
		free[i] = await(&desks[i].ended, BLOCKED_MS);
	}
	if (desks[0].is_stopped) {
		sem_post(&desks[0].resume);
	}
	finish(0);
	for (unsigned i = 1; i < WORKERS; i++) {
		if (!free[i]) {
			finish(i);
		}
	}
	judge(&before, WORKERS);
}

static void try_pair(size_t first, size_t second, unsigned rounds)
{
	const size_t both[] = {first, second};
	for (int with_x = 0; with_x <= 1; with_x++) {
		for (uint32_t at = 1; try_stopped(first, second, with_x, at); at++) {
		}
		for (unsigned i = 0; first <= second && i < rounds; i++) {
			try_free(both, 2, with_x);
		}
	}
}

static void try_kind(unsigned rounds)
{
	for (size_t first = 0; first < CALLS; first++) {
		for (size_t second = 0; second < CALLS; second++) {
			if (is_possible(first) && is_possible(second)) {
				try_pair(first, second, rounds);
			}
		}
	}
	for (unsigned i = 0; i < 500 * rounds; i++) {
		size_t drawn[WORKERS];
		for (unsigned k = 0; k < WORKERS; k++) {
			do {
				drawn[k] = (size_t) rand() % CALLS;
			} while (!is_possible(drawn[k]));
		}
		const bool with_x = rand() % 4 != 0;
		if (i % 2 == 0) {
			try_free(drawn, WORKERS, with_x);
		} else {
			try_in_turn(drawn, with_x, 1 + (uint32_t) rand() % PLACES);
		}
	}
}

static void make_files(void)
{
	const bshm_parameters p = parameters();
	uint64_t bytes;
	for (unsigned token = 0; token <= TOKEN_FILE; token++) {
		need(bshm_filter_reserve(segment, "x", 1, &p, &error) == 1 &&
				 add_token(X, token) == BSHM_OK &&
				 bshm_filter_dump(segment, views, "x", 1, file_of(token), &bytes, &error) ==
					 BSHM_OK &&
				 bshm_filter_drop(segment, "x", 1, &error) == 1,
			"make a file");
	}
}

int main(int argc, char **argv)
{
	if (argc < 2 || chdir(argv[1]) != 0) {
		fprintf(stderr, "usage: order FOLDER [ROUNDS]\n");
		return 1;
	}
	const unsigned rounds = argc > 2 ? (unsigned) atoi(argv[2]) : 3;
	const unsigned seed = (unsigned) bshm_os_monotonic_ns();
	srand(seed);
	printf("# seed %u\n", seed);
	fflush(stdout);
	desks = mmap(
		NULL, sizeof(*desks) * WORKERS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(desks != MAP_FAILED, "shared memory");
	for (who = 0; who < WORKERS; who++) {
		sem_init(&desks[who].begin, 1, 0);
		sem_init(&desks[who].stopped, 1, 0);
		sem_init(&desks[who].resume, 1, 0);
		sem_init(&desks[who].ended, 1, 0);
		if (fork() == 0) {
			work();
		}
	}
	open_segment();
	unsigned wrong = 0;
	for (kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		trials = unknown = failures = 0;
		make_files();
		try_kind(rounds);
		failures += bshm_segment_check(segment, tell_fault, NULL, &(bshm_error){0}) != 0;
		printf("%s - %s: %u of %u trials have no order (%u calls timed out)\n",
			failures == 0 ? "ok" : "not ok", kinds[kind], failures, trials, unknown);
		fflush(stdout);
		wrong += failures != 0;
		for (unsigned name = 0; name < NAMES; name++) {
			need(bshm_filter_drop(segment, names[name], 1, &error) >= 0, "drop");
		}
	}
	return wrong == 0 ? 0 : 1;
}
