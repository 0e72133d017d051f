/*
 * late.c - a thread that begins when the file has been replaced uses the new file.
 *
 *   late FOLDER
 *
 * Another thread of the process has the old file, and makes no call meanwhile: so no thread has
 * looked at the path.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "embed.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char ini[512];
static sem_t attached;
static sem_t over;

static void stay(void *argument)
{
	(void) argument;
	embed_value("bloom_reserve('old', 1)");
	sem_post(&attached);
	sem_wait(&over);
}

/* A process that makes the file anew when it is told to; *tell is where. */
static pid_t start_maker(int *tell)
{
	int ends[2];
	if (pipe(ends) != 0) {
		perror("pipe");
		exit(1);
	}
	const pid_t pid = fork();
	if (pid == 0) {
		char byte;
		if (read(ends[0], &byte, 1) != 1) {
			_exit(1);
		}
		embed_start("embed", ini, NULL);
		_exit(embed_value_of_thread("bloom_reserve('new', 1)") == 1 ? 0 : 1);
	}
	*tell = ends[1];
	return pid;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: late FOLDER\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	char path[256];
	snprintf(path, sizeof(path), "%s/late.seg", argv[1]);
	snprintf(ini, sizeof(ini),
		"bloomshm.path=%s\nbloomshm.filter_memory=1M\nbloomshm.cache_memory=1M\n", path);
	sem_init(&attached, 0, 0);
	sem_init(&over, 0, 0);
	int tell;
	const pid_t maker = start_maker(&tell); /* a fork before there are threads */
	embed_start("embed", ini, NULL);
	const pthread_t staying = embed_thread(stay, NULL);
	sem_wait(&attached);
	int status = unlink(path);
	const bool made = status == 0 && write(tell, "", 1) == 1 &&
					  waitpid(maker, &status, 0) == maker && status == 0;
	embed_check("another process makes the file anew", made);
	embed_check("a new thread uses it", embed_value_of_thread("bloom_copy('new', 'copy')") == 1);
	sem_post(&over);
	pthread_join(staying, NULL);
	embed_stop();
	unlink(path);
	return embed_status();
}
