/*
 * test_descriptors.c - descriptors that other code of the process closes, uses again, or prints to.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bshm_segment *segment;

/* ------------------------------------------------------------------ standard descriptors */

static unsigned closed; /* bit n: descriptor n */

static int lowest_of_files(void)
{
	char name[256];
	int lowest;
	int fd;
	REQUIRE(bshm_os_file_create(test_path("dump"), name, &lowest) == 0);
	REQUIRE(bshm_os_file_open(test_path("segment"), &fd) == 0);
	lowest = fd < lowest ? fd : lowest;
	REQUIRE(bshm_os_open(test_path("segment"), false, &fd) == 0);
	return fd < lowest ? fd : lowest;
}

/* Exit code 1 to 3 instead of lines: there may be nowhere to print. */
static void open_without_standard(void)
{
	for (int fd = 0; fd < 3; fd++) {
		if ((closed >> fd & 1) != 0) {
			close(fd);
		}
	}
	const bshm_options options = {
		.path = test_path("segment"), .filter_bytes = MB(1), .mode = 0600};
	if (bshm_segment_open(&options, &segment, &last_error) != BSHM_OK || segment->owner == 0) {
		_exit(1);
	}
	for (int fd = 0; fd < 3; fd++) {
		if ((closed >> fd & 1) != 0 && (write(fd, "printed", 7) >= 0 || errno != EBADF)) {
			_exit(2);
		}
	}
	if (segment->fd < 3 || lowest_of_files() < 3 || load(segment, "f", 0, 100) != BSHM_OK) {
		_exit(3);
	}
}

TEST(no_file_is_opened_at_a_standard_descriptor)
{
	for (closed = 0; closed < 8; closed++) {
		unlink(test_path("segment"));
		CHECK_INT(finish(spawn(open_without_standard)), 0); /* creates it */
		CHECK_INT(finish(spawn(open_without_standard)), 0); /* attaches */
		segment = open_segment(MB(1));
		CHECK_INT(absent(segment, "f", 0, 100), 0);
		CHECK_INT(faults(segment), 0);
		forget_views();
		bshm_segment_close(segment);
	}
}

static uint32_t done;

static void *print_all_the_time(void *unused)
{
	(void) unused;
	while (BSHM_LOAD(&done, RELAXED) == 0) {
		(void) !write(1, "printed", 7);
	}
	return NULL;
}

static void open_beside_a_thread_that_prints(void)
{
	pthread_t thread;
	close(1);
	pthread_create(&thread, NULL, print_all_the_time, NULL);
	for (int i = 0; i < 20000; i++) {
		int fd;
		struct stat st;
		if (bshm_os_create(test_path("file"), &fd) != 0 || fd < 3 || fstat(fd, &st) != 0 ||
			st.st_size != 0) {
			_exit(1);
		}
		bshm_os_close(fd);
		unlink(test_path("file"));
	}
	BSHM_STORE(&done, 1, RELAXED);
	pthread_join(thread, NULL);
}

TEST(what_a_thread_prints_does_not_go_into_a_file_that_is_being_opened)
{
	CHECK_INT(finish(spawn(open_beside_a_thread_that_prints)), 0);
}
