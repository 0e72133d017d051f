/*
 * test_descriptors.c - descriptors that other code of the process closes, uses again, or prints to.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/filter/mend.h"
#include "core/segment/lock.h"
#include "core/segment/owners.h"
#include "core/segment/sound.h"
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define HIGHEST 64 /* descriptor of a test, and more */

static bshm_segment *segment;

static void close_all(void)
{
	for (int fd = 3; fd < HIGHEST; fd++) {
		close(fd);
	}
}

/* Every number belongs to another file afterwards. */
static void use_all_again(void)
{
	close_all();
	for (int fd = 3; fd < HIGHEST; fd++) {
		REQUIRE(open("/dev/null", O_RDWR) == fd);
	}
}

static bool all_are_null(void)
{
	struct stat null;
	REQUIRE(stat("/dev/null", &null) == 0);
	for (int fd = 3; fd < HIGHEST; fd++) {
		struct stat st;
		if (fstat(fd, &st) != 0 || st.st_rdev != null.st_rdev) {
			return false;
		}
	}
	return true;
}

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

/* ------------------------------------------------------------------ the slot's lock */

static void (*lose)(void);
static bool by_descriptor;

/* With a slot of the kind that is tested. */
static void attach_anew(void)
{
	segment->locks = by_descriptor ? BSHM_LOCKS_OPEN : segment->locks;
	REQUIRE(bshm__owner_attach(segment, &last_error) == BSHM_OK);
	REQUIRE((segment->lock_fd >= 0) == by_descriptor);
}

static void lock_and_lose(void)
{
	attach_anew();
	REQUIRE(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error) == BSHM_OK);
	lose();
	test_words[0] = segment->owner;
	raise_flag_and_sleep(0);
}

static void expect_a_living_holder(void (*how)(void))
{
	lose = how;
	segment = open_segment(MB(1));
	REQUIRE(segment->locks == BSHM_LOCKS_MAPPED);
	const pid_t child = spawn(lock_and_lose);
	await_flag(0);
	CHECK(bshm__owner_alive(segment, test_words[0]));
	CHECK_INT(bshm__owner_count(segment), 2);
	CHECK_INT(bshm__lock(segment, BSHM_LOCK_PAGE_NS, &last_error), BSHM_E_TIMEOUT);
	CHECK_INT(segment->header->lock, test_words[0]);
	kill_child(child);
	CHECK(!bshm__owner_alive(segment, test_words[0]));
	CHECK_INT(bshm__lock(segment, BSHM_LOCK_BATCH_NS, &last_error), BSHM_OK);
	bshm__unlock(segment);
}

TEST(a_process_that_closes_all_descriptors_is_alive)
{
	expect_a_living_holder(close_all);
}

TEST(a_process_that_uses_all_numbers_again_is_alive)
{
	expect_a_living_holder(use_all_again);
}

/* Keys that are added while a process clears their filter and has closed its descriptors. */
#define ADDED 5000

static void clear_without_descriptors(void)
{
	REQUIRE(bshm__owner_attach(segment, &last_error) == BSHM_OK);
	close_all();
	CHECK_INT(clear(segment, "f"), 1);
}

static bool is_being_cleared(void)
{
	const bshm_entry *entry = entry_of(segment, "f");
	const uint64_t generation = BSHM_LOAD(&entry->generation, ACQUIRE);
	return bshm__descriptor_read(entry, generation).state == BSHM_STATE_CLEARING;
}

TEST(a_clear_without_descriptors_loses_no_key)
{
	segment = open_segment(MB(64));
	CHECK_INT(reserve(segment, "f", 40000000, 0.01), 1);
	pid_t clearer = spawn(clear_without_descriptors);
	while (!stop_child_when(clearer, is_being_cleared)) {
		CHECK_INT(finish(clearer), 0);
		clearer = spawn(clear_without_descriptors);
	}
	for (uint64_t i = 0; i < ADDED; i++) {
		CHECK(add_number(segment, "f", i) >= 0); /* noted; the next owner publishes */
	}
	kill(clearer, SIGCONT);
	CHECK_INT(finish(clearer), 0);
	CHECK_INT(absent(segment, "f", 0, ADDED), 0);
	CHECK_INT(present(segment, "f", 0, ADDED), ADDED);
	CHECK_INT(segment->header->repairs, 0);
}

/* ------------------------------------------------------------------ the descriptor that asks */

static void attach_and_sleep(void)
{
	attach_anew();
	test_words[0] = segment->owner;
	raise_flag_and_sleep(0);
}

static void expect_true_answers(void (*how)(void))
{
	segment = open_segment(MB(1));
	const pid_t child = spawn(attach_and_sleep);
	await_flag(0);
	how();
	CHECK(bshm__owner_alive(segment, test_words[0]));
	how();
	kill_child(child);
	CHECK(!bshm__owner_alive(segment, test_words[0]));
	how();
	CHECK_INT(stat_of(segment).attached, 1);
	how();
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
}

TEST(who_asks_opens_a_closed_file_again)
{
	expect_true_answers(close_all);
}

static void give_the_number_to_another_file(void)
{
	const int other = open("/dev/null", O_RDWR);
	REQUIRE(dup2(other, segment->fd) == segment->fd);
	close(other);
}

TEST(another_files_answer_does_not_count)
{
	expect_true_answers(give_the_number_to_another_file);
}

TEST(a_number_that_belongs_to_another_file_is_not_closed)
{
	segment = open_segment(MB(1));
	bshm_segment *other = open_segment(MB(1));
	use_all_again();
	bshm_segment_close(segment);
	CHECK(all_are_null());
	close(HIGHEST - 1); /* so that there is one to be had */
	segment = other;
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	bshm_segment_close(segment);
	REQUIRE(open("/dev/null", O_RDWR) == HIGHEST - 1);
	CHECK(all_are_null());
}

/* Nothing leads to the file any more: a process that cannot be asked about counts as alive. */
TEST(in_doubt_everybody_is_alive)
{
	segment = open_segment(MB(1));
	const pid_t child = spawn(attach_and_sleep);
	await_flag(0);
	kill_child(child);
	CHECK(!bshm__owner_alive(segment, test_words[0]));
	unlink(test_path("segment"));
	CHECK(!bshm__owner_alive(segment, test_words[0]));
	use_all_again();
	CHECK(bshm__owner_alive(segment, test_words[0]));
	CHECK_INT(reserve(segment, "f", 10, 0.01), 1); /* its own slot is as it was */
}

/* ------------------------------------------------------------------ where a mapping keeps no
 * lock */

static void check_slot_is_taken_anew(void)
{
	attach_anew();
	const uint64_t before = segment->owner;
	const int lock_fd = segment->lock_fd;
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(load(segment, "g", 0, 10), BSHM_OK);
	CHECK_INT(segment->owner, before);
	lose();
	CHECK_INT(load(segment, "g", 0, 20), BSHM_OK); /* notices, and has another slot */
	CHECK(segment->owner != before && segment->owner != 0);
	CHECK(segment->lock_fd >= 3);
	CHECK(!bshm__owner_alive(segment, before));
	CHECK_INT(publish(build, NULL), BSHM_E_UNAVAILABLE);
	CHECK(last_error.cause == BSHM_CAUSE_DESCRIPTORS);
	if (lose != close_all) { /* the number is another's: it was left alone */
		CHECK(!bshm_os_is_file(lock_fd, segment->device, segment->inode));
		CHECK(fcntl(lock_fd, F_GETFD) >= 0);
	}
	CHECK_INT(absent(segment, "g", 0, 20), 0);
	CHECK_INT(faults(segment), 0);
}

static void give_all_but_one_to_another_file(void)
{
	use_all_again();
	for (int fd = HIGHEST - 1; fd > HIGHEST - 4; fd--) {
		close(fd);
	}
}

TEST(a_lost_slot_is_noticed_at_the_next_lock)
{
	by_descriptor = true;
	segment = open_segment(MB(1));
	lose = close_all;
	CHECK_INT(finish(spawn(check_slot_is_taken_anew)), 0);
	lose = give_all_but_one_to_another_file;
	CHECK_INT(finish(spawn(check_slot_is_taken_anew)), 0);
	CHECK_INT(faults(segment), 0);
}

/* The same number, the same file, and yet another open file: fopen() of the segment's path. */
static void open_the_same_file_there(void)
{
	const int other = open(test_path("segment"), O_RDWR);
	REQUIRE(dup2(other, segment->lock_fd) == segment->lock_fd);
	close(other);
}

static void lose_it_to_the_same_file(void)
{
	attach_anew();
	const uint64_t before = segment->owner;
	open_the_same_file_there();
	CHECK_INT(load(segment, "f", 0, 10), BSHM_OK);
	CHECK(segment->owner != before && segment->owner != 0);
	CHECK(!bshm__owner_alive(segment, before));
	CHECK_INT(faults(segment), 0);
}

TEST(a_slot_whose_number_is_another_open_file_is_lost)
{
	by_descriptor = true;
	segment = open_segment(MB(1));
	CHECK_INT(finish(spawn(lose_it_to_the_same_file)), 0);
}

static void mount_overlay(void)
{
	static const char *const folders[] = {"lower", "upper", "work", "merged"};
	char options[512];
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
		test_skip("not allowed to mount");
	}
	for (int i = 0; i < 4; i++) {
		REQUIRE(mkdir(test_path(folders[i]), 0700) == 0);
	}
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", test_path("lower"),
		test_path("upper"), test_path("work"));
	if (mount("overlay", test_path("merged"), "overlay", 0, options) != 0) {
		test_skip("no overlay to be mounted");
	}
}

static void attach_there(void)
{
	REQUIRE(bshm__owner_attach(segment, &last_error) == BSHM_OK);
	CHECK_INT(segment->locks, BSHM_LOCKS_OPEN);
	CHECK(segment->lock_fd >= 3);
	test_words[0] = segment->owner;
	raise_flag_and_sleep(0);
}

/* The file that is mapped is another than the one that was opened: its locks end with the
 * descriptor. */
TEST(an_overlay_keeps_its_descriptor)
{
	mount_overlay();
	const bshm_options options = {
		.path = test_path("merged/segment"), .filter_bytes = MB(1), .mode = 0600};
	REQUIRE(bshm_segment_open(&options, &segment, &last_error) == BSHM_OK);
	const pid_t child = spawn(attach_there);
	await_flag(0);
	CHECK(bshm__owner_alive(segment, test_words[0]));
	CHECK_INT(bshm__owner_count(segment), 2);
	kill_child(child);
	CHECK(!bshm__owner_alive(segment, test_words[0]));
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	bshm_segment_close(segment);
	umount(test_path("merged"));
}

static void use_without_descriptors(void)
{
	forget_views();
	const bshm_options options = {
		.path = test_path("merged/segment"), .filter_bytes = MB(1), .mode = 0600};
	REQUIRE(bshm_segment_open(&options, &segment, &last_error) == BSHM_OK);
	close_all();
	raise_flag_and_sleep(0);
}

/* Whether another process, without descriptors, still writes cannot be told there. */
TEST(a_file_on_an_overlay_is_not_brought_to_rest)
{
	mount_overlay();
	const bshm_options options = {
		.path = test_path("merged/segment"), .filter_bytes = MB(1), .mode = 0600};
	REQUIRE(bshm_segment_open(&options, &segment, &last_error) == BSHM_OK);
	const pid_t child = spawn(use_without_descriptors);
	await_flag(0);
	CHECK_INT(bshm_segment_rest(segment, &last_error), BSHM_E_BUSY);
	REQUIRE(bshm_segment_open(&options, &segment, &last_error) == BSHM_OK);
	CHECK_INT(segment->header->rest, BSHM_REST_AWAKE);
	kill_child(child);
	bshm_segment_close(segment);
	umount(test_path("merged"));
}
