/*
 * patience.c - no thread's question waits for what another thread waits for.
 *
 *   patience FOLDER
 *
 * While one thread has a long call, the others ask. What is compared is the order of events: how
 * often they were answered before the long call returned. A question that waits for it would be
 * answered once.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "embed.h"

#include "core/format.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ASKING 4
#define ENOUGH 20 /* answers during a long call: one of 50 ms, on a busy machine, has far more */
#define FILTER "bloom_maybe_has('f', 'absent')"
#define RECORD "bloom_cache_get('r') === null"
#define LOADING                                                                                    \
 "(function () { try { return bloom_load('f', ['a'])['keys']; }"                                   \
 " catch (BloomShm\\Exception $e) { return -$e->getCode(); } })()"

/* After a wait in vain, no call waits for a creator for a second: so it is made again. */
#define LOADED "(function () { do { $keys = " LOADING "; } while ($keys < 0); return $keys; })()"

static char path[256];
static atomic_bool stop;
static atomic_int ready; /* threads that have asked */
static atomic_uint answered[ASKING];
static pthread_barrier_t begin;

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* ------------------------------------------------------------------ threads that ask */

static unsigned sum(void)
{
	unsigned total = 0;
	for (int i = 0; i < ASKING; i++) {
		total += atomic_load(&answered[i]);
	}
	return total;
}

/* Asks what is answered "maybe" until there is a segment. */
static void ask(void *argument)
{
	atomic_uint *count = argument;
	pthread_barrier_wait(&begin); /* what each process does once, all try */
	while (!atomic_load(&stop)) {
		embed_value(RECORD);
		embed_value(FILTER);
		if (atomic_fetch_add(count, 1) == 0) {
			atomic_fetch_add(&ready, 1);
		}
	}
}

static void start_asking(pthread_t *threads)
{
	atomic_store(&stop, false);
	atomic_store(&ready, 0);
	pthread_barrier_init(&begin, NULL, ASKING);
	for (int i = 0; i < ASKING; i++) {
		atomic_store(&answered[i], 0);
		threads[i] = embed_thread(ask, &answered[i]);
	}
	while (atomic_load(&ready) != ASKING) {
		usleep(1000);
	}
}

static void stop_asking(pthread_t *threads)
{
	atomic_store(&stop, true);
	for (int i = 0; i < ASKING; i++) {
		pthread_join(threads[i], NULL);
	}
}

/* ------------------------------------------------------------------ the long call */

typedef struct {
	const char *expression;
	zend_long value;
	double begun;
	double ended;
	unsigned fewest; /* answers that a thread got meanwhile */
} call;

static atomic_bool calling;

static void make(void *argument)
{
	call *c = argument;
	atomic_store(&calling, true);
	unsigned before[ASKING];
	for (int i = 0; i < ASKING; i++) {
		before[i] = atomic_load(&answered[i]);
	}
	c->begun = seconds();
	c->value = embed_value(c->expression);
	c->ended = seconds();
	c->fewest = ~0u;
	for (int i = 0; i < ASKING; i++) {
		const unsigned got = atomic_load(&answered[i]) - before[i];
		c->fewest = got < c->fewest ? got : c->fewest;
	}
}

static void make_together(call *calls, int count)
{
	pthread_t asking[ASKING];
	pthread_t making[ASKING];
	start_asking(asking);
	for (int i = 0; i < count; i++) {
		making[i] = embed_thread(make, &calls[i]);
	}
	for (int i = 0; i < count; i++) {
		pthread_join(making[i], NULL);
	}
	stop_asking(asking);
}

/* ------------------------------------------------------------------ what lasts */

/* A process that has begun to make the segment, and is stopped: section 3 of FORMAT.md. */
static pid_t stopped_creator(void)
{
	char temporary[sizeof(path) + 8];
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	const pid_t pid = fork();
	if (pid == 0) {
		const uint64_t self = (uint64_t) getpid();
		struct flock lock = {.l_type = F_WRLCK, .l_start = BSHM_CREATE_LOCK_OFF, .l_len = 1};
		const int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (write(fd, &self, sizeof(self)) != sizeof(self) || fcntl(fd, F_OFD_SETLK, &lock) != 0) {
			_exit(1);
		}
		raise(SIGSTOP);
		_exit(0);
	}
	int status;
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status)) {
		embed_check("a process that makes a segment stops", false);
	}
	return pid;
}

static void beside_a_stopped_creator(pid_t creator)
{
	call calls[2] = {{.expression = LOADING}, {.expression = LOADING}};
	make_together(calls, 2);
	printf("# loads waited %.3f s and %.3f s; meanwhile each thread had at least %u answers\n",
		calls[0].ended - calls[0].begun, calls[1].ended - calls[1].begun, calls[0].fewest);
	embed_check(
		"two loads beside a stopped creator give up", calls[0].value < 0 && calls[1].value < 0);
	embed_check("each thread is answered again and again while they wait",
		calls[0].fewest >= ENOUGH && calls[1].fewest >= ENOUGH);
	const double first = calls[0].ended - calls[0].begun;
	const double last = calls[1].ended > calls[0].ended ? calls[1].ended : calls[0].ended;
	embed_check("they wait at the same time", last - calls[0].begun < 1.5 * first);
	kill(creator, SIGKILL);
	waitpid(creator, NULL, 0);
}

/* A fork's child goes on where a thread of its parent's was in the middle. */
static void fork_beside(void *argument)
{
	int *status = argument;
	while (!atomic_load(&calling)) {
		usleep(100);
	}
	const unsigned then = sum();
	while (sum() < then + ENOUGH) {
		usleep(100);
	}
	const pid_t pid = fork();
	if (pid == 0) {
		_exit(embed_value(LOADED) == 1 && embed_value(FILTER) == 0 ? 0 : 1);
	}
	waitpid(pid, status, 0);
}

static void while_a_large_segment_is_made(void)
{
	int status = -1;
	call c = {.expression = LOADED};
	atomic_store(&calling, false);
	const pthread_t forking = embed_thread(fork_beside, &status);
	make_together(&c, 1);
	pthread_join(forking, NULL);
	printf("# it took %.3f s; meanwhile each thread had at least %u answers\n", c.ended - c.begun,
		c.fewest);
	embed_check("a large segment is made", c.value == 1);
	embed_check("each thread is answered again and again while it is made", c.fewest >= ENOUGH);
	embed_check("a process that is forked meanwhile uses it", status == 0);
	embed_check("then questions are answered from it",
		embed_value_of_thread(FILTER) == 0 && embed_value_of_thread(RECORD) == 1);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: patience FOLDER\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(path, sizeof(path), "%s/patience.seg", argv[1]);
	const pid_t creator = stopped_creator(); /* a fork before there are threads */
	char ini[1024];
	snprintf(ini, sizeof(ini),
		"bloomshm.path=%s\nbloomshm.filter_memory=1G\nbloomshm.cache_memory=1M\n", path);
	embed_start("cli", ini, NULL);
	beside_a_stopped_creator(creator);
	while_a_large_segment_is_made();
	embed_stop();
	unlink(path);
	return embed_status();
}
