/*
 * child.c - the threads of a fork's child, whose path is not that of its parent.
 *
 *   child FOLDER
 *
 * They begin in the child, and all ask at once. In another child they are those of two virtual
 * hosts with two paths, of which the first call decides.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "embed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 20
#define THREADS  4

/* A thread's path, and what it evaluates: each to be 1, and the second when all have the first. */
typedef struct {
	const char *path;
	char first[160];
	char second[160];
	bool fine;
} work;

static char paths[2][256];
static pthread_barrier_t together;

/* As mod_php does for a virtual host. */
static void set_path(const char *path)
{
	zend_string *name = zend_string_init("bloomshm.path", strlen("bloomshm.path"), false);
	zend_alter_ini_entry_chars(name, path, strlen(path), ZEND_INI_SYSTEM, ZEND_INI_STAGE_ACTIVATE);
	zend_string_release(name);
}

static void run(void *argument)
{
	work *w = argument;
	set_path(w->path);
	pthread_barrier_wait(&together);
	w->fine = embed_value(w->first) == 1;
	pthread_barrier_wait(&together);
	w->fine = w->fine && embed_value(w->second) == 1;
}

/* Is all as it should be in so many threads of a child? */
static bool runs_in_child(work *works, unsigned count)
{
	pthread_t threads[THREADS];
	bool fine = true;
	int status;
	const pid_t pid = fork();
	if (pid != 0) {
		return waitpid(pid, &status, 0) == pid && status == 0;
	}
	pthread_barrier_init(&together, NULL, count);
	for (unsigned i = 0; i < count; i++) {
		threads[i] = embed_thread(run, &works[i]);
	}
	for (unsigned i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		fine = fine && works[i].fine;
	}
	_exit(fine ? 0 : 1);
}

/* The parent has no path yet. Each host's filter has another key. */
static void two_hosts(void)
{
	work works[THREADS];
	int fine = 0;
	for (int i = 0; i < THREADS; i++) {
		const int host = i % 2;
		works[i] = (work){.path = paths[host], .second = "1"};
		snprintf(works[i].first, sizeof(works[i].first), "bloom_load('f', ['%d'])['keys']", host);
		if (i < 2 && !runs_in_child(&works[i], 1)) {
			printf("# host %d loads nothing\n", host);
		}
		snprintf(works[i].first, sizeof(works[i].first), "bloom_maybe_has('f', '%d')", host);
		strcpy(works[i].second, works[i].first);
	}
	for (int i = 0; i < CHILDREN; i++) {
		fine += runs_in_child(works, THREADS);
	}
	embed_check("no thread asks the segment of the other path", fine == CHILDREN);
	unlink(paths[0]);
	unlink(paths[1]);
}

/* The parent has a segment at its path, and the child another path. */
static void moved(void)
{
	work works[THREADS];
	int fine = 0;
	for (int i = 0; i < THREADS; i++) {
		works[i] = (work){.path = paths[1],
			.second = "bloom_cache_get('0') + bloom_cache_get('1') + bloom_cache_get('2')"
					  " + bloom_cache_get('3') === 4"};
		snprintf(works[i].first, sizeof(works[i].first),
			"bloom_maybe_has('f', 'absent') &&"
			" (function () { while (!bloom_cache_set('%d', 1)); return true; })()",
			i);
	}
	embed_value_of_thread("bloom_load('f', ['a'])['keys']");
	for (int i = 0; i < CHILDREN; i++) {
		fine += runs_in_child(works, THREADS);
		unlink(paths[1]);
	}
	embed_check(
		"all threads of a child use its path, and none that of its parent", fine == CHILDREN);
	embed_check("the parent keeps its own",
		embed_value_of_thread("bloom_maybe_has('f', 'a') && !bloom_maybe_has('f', 'absent')") == 1);
	unlink(paths[0]);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: child FOLDER\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	char ini[512];
	snprintf(paths[0], sizeof(paths[0]), "%s/child.0.seg", argv[1]);
	snprintf(paths[1], sizeof(paths[1]), "%s/child.1.seg", argv[1]);
	snprintf(ini, sizeof(ini),
		"bloomshm.path=%s\nbloomshm.filter_memory=1M\nbloomshm.cache_memory=1M\n", paths[0]);
	embed_start("embed", ini, NULL);
	two_hosts();
	moved();
	embed_stop();
	return embed_status();
}
