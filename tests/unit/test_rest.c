/*
 * test_rest.c - segments on a disk: which are believed after the machine has stopped.
 *
 * Every file counts as on a disk here. A power loss is played by a copy of the file, some pages of
 * which are older than others, that is opened under another boot.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static bshm_segment *segment;
static bshm_os_host host = {.boot = 1, .shift_known = true};

static bshm_status open_at(const char *path, bool readonly)
{
	const bshm_options options = {.path = path,
		.filter_bytes = MB(2),
		.cache_bytes = MB(1),
		.mode = 0600,
		.readonly = readonly};
	forget_views();
	segment = NULL;
	return bshm_segment_open(&options, &segment, &last_error);
}

static void open_whole(void)
{
	REQUIRE(open_at(test_path("segment"), false) == BSHM_OK);
}

static void close_it(void)
{
	forget_views();
	bshm_segment_close(segment);
	segment = NULL;
}

/* A segment on a disk with a filter. */
static void stand(void)
{
	bshm_os_host_set(&host);
	bshm_os_disk_set(true);
	open_whole();
	REQUIRE(reserve(segment, "f", 50000, 0.01) == 1);
}

static void reboot(void)
{
	host.boot++;
}

/* What the file says of itself. */
static uint64_t rest_of(const char *path)
{
	uint64_t rest = 9;
	const int fd = open(path, O_RDONLY);
	CHECK(pread(fd, &rest, sizeof(rest), offsetof(bshm_header, rest)) == sizeof(rest));
	close(fd);
	return rest;
}

static void set_rest(uint64_t rest)
{
	int fd;
	REQUIRE(bshm_os_open(test_path("segment"), false, &fd) == 0);
	CHECK(bshm_os_write_at(fd, &rest, sizeof(rest), offsetof(bshm_header, rest)) == 0);
	bshm_os_close(fd);
}

static bool is_asleep(void)
{
	return rest_of(test_path("segment")) == BSHM_REST_ASLEEP;
}

static uint64_t inode_of(const char *path)
{
	struct stat st;
	REQUIRE(stat(path, &st) == 0);
	return st.st_ino;
}

/* The file is not believed: a process that looks is told so, and who may create makes another. */
static void check_not_believed(void)
{
	const uint64_t inode = inode_of(test_path("segment"));
	CHECK_INT(open_at(test_path("segment"), true), BSHM_E_UNAVAILABLE);
	CHECK(last_error.cause == BSHM_CAUSE_REST);
	CHECK(inode_of(test_path("segment")) == inode);
	CHECK_INT(open_at(test_path("segment"), false), BSHM_E_BUSY);
	open_whole();
	CHECK_INT(stat_of(segment).filters, 0);
	CHECK_INT(has(segment, "f", "a"), BSHM_E_NOT_FOUND);
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ rest */

TEST(the_last_to_close_brings_it_to_rest)
{
	stand();
	CHECK(!is_asleep());
	CHECK(add_numbers(segment, "f", 0, 1000) > 0);
	close_it();
	CHECK(is_asleep());
	reboot();
	open_whole();
	CHECK(!is_asleep());
	CHECK_INT(absent(segment, "f", 0, 1000), 0);
	CHECK(absent(segment, "f", 10000, 20000) > 9800);
	CHECK_INT(faults(segment), 0);
	CHECK_INT(bshm_segment_rest(segment, &last_error), BSHM_OK);
	CHECK(is_asleep());
}

TEST(one_that_was_never_used_is_at_rest)
{
	stand();
	const bshm_options other = {.path = test_path("other"), .filter_bytes = MB(1), .mode = 0600};
	bshm_segment *second;
	REQUIRE(bshm_segment_open(&other, &second, &last_error) == BSHM_OK);
	bshm_segment_close(second);
	CHECK(rest_of(test_path("other")) == BSHM_REST_ASLEEP);
}

TEST(in_memory_nothing_is_done)
{
	segment = open_segment(MB(2));
	CHECK(!segment->sleeps || !bshm_os_in_memory(open(test_path("segment"), O_RDONLY)));
	if (segment->sleeps) {
		test_skip("the tests' folder is on a disk");
	}
	host.boot = 5;
	bshm_os_host_set(&host);
	CHECK_INT(reserve(segment, "f", 100, 0.01), 1);
	bshm_segment_close(segment);
	CHECK(rest_of(test_path("segment")) == BSHM_REST_AWAKE);
	reboot(); /* a container's boot: a file in memory is not older than the kernel's */
	segment = open_segment(MB(2));
	CHECK_INT(has(segment, "f", "a"), 0);
}

static void use_and_sleep(void)
{
	open_whole();
	CHECK(add(segment, "f", "child") >= 0);
	raise_flag_and_sleep(0);
}

TEST(not_while_another_uses_it)
{
	stand();
	const pid_t child = spawn(use_and_sleep);
	await_flag(0);
	CHECK_INT(bshm_segment_rest(segment, &last_error), BSHM_E_BUSY);
	CHECK(!is_asleep());
	stop_child(child);
	open_whole();
	close_it();
	CHECK(!is_asleep());
	kill_child(child);
	CHECK(!is_asleep());
	open_whole(); /* the same boot: believed */
	CHECK_INT(has(segment, "f", "child"), 1);
	close_it();
	CHECK(is_asleep());
}

static void only_fork(void)
{
	raise_flag(1);
	await_flag(2);
	CHECK_INT(add(segment, "f", "forked"), 1);
	close_it();
}

/* A fork's child has the mapping, so it counts, whichever ends first. */
TEST(not_while_a_forks_child_uses_it)
{
	stand();
	const pid_t child = spawn(only_fork);
	await_flag(1);
	close_it();
	CHECK(!is_asleep());
	raise_flag(2);
	CHECK_INT(finish(child), 0);
	CHECK(is_asleep());
	reboot();
	open_whole();
	CHECK_INT(has(segment, "f", "forked"), 1);
}

TEST(killed_users_are_mended_under_the_same_boot)
{
	stand();
	for (int i = 0; i < 20; i++) {
		test_words[0] = 0;
		const pid_t child = spawn(use_and_sleep);
		bshm_os_sleep_us(1000 * (unsigned) i / 4);
		kill_child(child);
	}
	close_it();
	CHECK(is_asleep());
	open_whole();
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ not at rest */

TEST(what_was_in_use_when_the_machine_stopped_is_not_believed)
{
	stand();
	CHECK(add_numbers(segment, "f", 0, 1000) > 0);
	const pid_t child = spawn(use_and_sleep);
	await_flag(0);
	close_it();
	kill_child(child);
	reboot();
	check_not_believed();
}

TEST(a_boot_that_cannot_be_told_is_another)
{
	host.boot = 0;
	stand();
	CHECK_INT(add(segment, "f", "a"), 1);
	const pid_t child = spawn(use_and_sleep);
	await_flag(0);
	close_it();
	open_whole(); /* others use it */
	CHECK_INT(has(segment, "f", "a"), 1);
	kill_child(child);
	close_it();
	CHECK(is_asleep());
	open_whole();
	CHECK_INT(has(segment, "f", "a"), 1);
	const pid_t second = spawn(use_and_sleep);
	close_it();
	kill_child(second);
	set_rest(BSHM_REST_AWAKE); /* perhaps we were last, after all */
	check_not_believed();
}

TEST(who_only_looks_believes_what_others_use)
{
	stand();
	CHECK_INT(add(segment, "f", "a"), 1);
	bshm_segment *writer = segment;
	reboot(); /* a container with a boot of its own */
	REQUIRE(open_at(test_path("segment"), true) == BSHM_OK);
	CHECK_INT(has(segment, "f", "a"), 1);
	close_it();
	bshm_segment_close(writer);
	REQUIRE(open_at(test_path("segment"), true) == BSHM_OK);
	CHECK_INT(has(segment, "f", "a"), 1);
}

/* For want of a descriptor the boot cannot be told just now: that is no reason to give a file
 * up. */
TEST(what_cannot_be_told_just_now_is_not_given_up)
{
	stand();
	CHECK_INT(add(segment, "f", "a"), 1);
	const pid_t child = spawn(use_and_sleep);
	await_flag(0);
	close_it();
	kill_child(child);
	const bshm_os_host none_left = {.os_code = EMFILE};
	bshm_os_host_set(&none_left);
	CHECK_INT(open_at(test_path("segment"), false), BSHM_E_UNAVAILABLE);
	CHECK_INT(last_error.os_code, EMFILE);
	CHECK_INT(open_at(test_path("segment"), true), BSHM_E_UNAVAILABLE);
	CHECK_INT(open_at(test_path("new"), false), BSHM_E_UNAVAILABLE);
	bshm_os_host_set(&host);
	open_whole();
	CHECK_INT(has(segment, "f", "a"), 1);
}

/* Wherever a waker dies, the mark is synced away before any process writes. */
TEST(a_waker_that_died_is_followed_by_another)
{
	stand();
	CHECK_INT(add(segment, "f", "a"), 1);
	close_it();
	set_rest(BSHM_REST_WAKING);
	open_whole();
	CHECK_INT(has(segment, "f", "a"), 1);
	CHECK(rest_of(test_path("segment")) == BSHM_REST_AWAKE);
	close_it();
	set_rest(BSHM_REST_WAKING);
	reboot();
	check_not_believed();
}

static void wake_too(void)
{
	await_flag(0);
	for (int tries = 0; open_at(test_path("segment"), false) != BSHM_OK; tries++) {
		REQUIRE(last_error.status == BSHM_E_BUSY && tries < 100000);
		bshm_os_sleep_us(100);
	}
	CHECK_INT(absent(segment, "f", 0, 100), 0);
	CHECK(add_number(segment, "f", 1000 + (uint64_t) getpid()) >= 0);
	CHECK(rest_of(test_path("segment")) != BSHM_REST_ASLEEP);
	BSHM_ADD(&test_words[0], 1, RELAXED);
	while (BSHM_LOAD(&test_words[0], RELAXED) % 6 != 0) {
		bshm_os_sleep_us(100); /* so that all of them are in at one time */
	}
	close_it();
}

TEST(several_wake_it_at_once_and_the_last_puts_it_to_rest)
{
	stand();
	CHECK(add_numbers(segment, "f", 0, 100) > 0);
	for (int round = 0; round < 10; round++) {
		close_it();
		CHECK(is_asleep());
		reboot();
		pid_t children[6];
		for (int i = 0; i < 6; i++) {
			children[i] = spawn(wake_too);
		}
		raise_flag(0);
		for (int i = 0; i < 6; i++) {
			CHECK_INT(finish(children[i]), 0);
		}
		CHECK(is_asleep());
		open_whole();
	}
}

/* Called in place of the system's, which then follows: what others do while a process syncs. */
static void (*during_sync)(void);
static int synced_fd;

int fsync(int fd)
{
	void (*others)(void) = during_sync;
	synced_fd = fd;
	if (others != NULL) {
		during_sync = NULL;
		others();
		during_sync = others;
	}
	return (int) syscall(SYS_fsync, fd);
}

static void (*before_close)(void);

int close(int fd)
{
	void (*others)(void) = before_close;
	before_close = NULL;
	if (others != NULL) {
		others();
	}
	return (int) syscall(SYS_close, fd);
}

static bshm_segment *other;
static int syncs;

static void attach_other(void)
{
	syncs++;
	if (other == NULL && open_at(test_path("segment"), false) == BSHM_OK) {
		other = segment;
		CHECK(rest_of(test_path("segment")) == BSHM_REST_AWAKE);
		CHECK(add_number(other, "f", 1000 + (uint64_t) syncs) == 1);
	}
}

static void visit(void)
{
	attach_other();
	if (other != NULL) {
		forget_views();
		during_sync = NULL;
		/* Later the mark is set already, and the lock released: the visitor brings it to rest. */
		CHECK_INT(bshm_segment_rest(other, &last_error), syncs <= 3 ? BSHM_E_BUSY : BSHM_OK);
		other = NULL;
	}
}

TEST(a_process_attaches_while_the_last_one_syncs)
{
	stand();
	CHECK(add_numbers(segment, "f", 0, 100) > 0);
	syncs = 0;
	other = NULL;
	during_sync = attach_other;
	CHECK_INT(bshm_segment_rest(segment, &last_error), BSHM_E_BUSY);
	during_sync = NULL;
	CHECK_INT(syncs, 1);
	REQUIRE(other != NULL);
	CHECK_INT(absent(other, "f", 0, 100), 0);
	forget_views();
	CHECK_INT(bshm_segment_rest(other, &last_error), BSHM_OK);
	CHECK(is_asleep());
	reboot();
	open_whole();
	CHECK_INT(absent(segment, "f", 0, 100), 0);
	CHECK_INT(absent(segment, "f", 1001, 1002), 0);
}

/* A visitor that is gone again has written: the file is synced once more before the mark. At last
 * visitors are kept out. */
TEST(visitors_during_a_sync_make_it_begin_anew)
{
	stand();
	CHECK(add_numbers(segment, "f", 0, 100) > 0);
	syncs = 0;
	other = NULL;
	during_sync = visit;
	CHECK_INT(bshm_segment_rest(segment, &last_error), BSHM_OK);
	during_sync = NULL;
	CHECK_INT(syncs, 5); /* three with visitors, one without, one of the mark */
	CHECK(is_asleep());
	reboot();
	open_whole();
	CHECK_INT(absent(segment, "f", 0, 100), 0);
	CHECK_INT(absent(segment, "f", 1001, 1004), 0);
}

static void visit_and_stay(void)
{
	during_sync = NULL;
	await_flag(0);
	open_whole();
	CHECK(add(segment, "f", "visitor") >= 0);
	raise_flag(1);
	await_flag(2);
	CHECK_INT(bshm_segment_rest(segment, &last_error), BSHM_OK);
	raise_flag(3);
}

static void let_the_visitor_leave(void)
{
	raise_flag(2);
	await_flag(3);
}

static void let_a_visitor_in(void)
{
	if (syncs++ == 0) {
		raise_flag(0);
		await_flag(1);
		before_close = let_the_visitor_leave;
	}
}

/* The visitor is there when the first process wants the lock, and gone before that process has
 * closed its descriptor. One of the two must bring the file to rest. */
TEST(of_two_that_leave_at_once_one_brings_it_to_rest)
{
	stand();
	CHECK(add(segment, "f", "mine") >= 0);
	close_it();
	const pid_t child = spawn(visit_and_stay);
	open_whole();
	syncs = 0;
	during_sync = let_a_visitor_in;
	bshm_segment_rest(segment, &last_error);
	during_sync = NULL;
	CHECK_INT(finish(child), 0);
	CHECK(is_asleep());
	reboot();
	open_whole();
	CHECK_INT(has(segment, "f", "mine"), 1);
	CHECK_INT(has(segment, "f", "visitor"), 1);
}

TEST(a_word_that_nothing_stores_is_synced_before_the_mark)
{
	stand();
	CHECK_INT(add(segment, "f", "a"), 1);
	set_rest(77);
	syncs = 0;
	during_sync = attach_other;
	other = NULL;
	CHECK_INT(bshm_segment_rest(segment, &last_error), BSHM_E_BUSY);
	during_sync = NULL;
	CHECK_INT(syncs, 1); /* before the mark: the other could attach at once */
	REQUIRE(other != NULL);
	bshm_segment_close(other);
	CHECK(is_asleep());
}

static void reuse_descriptor(void)
{
	syscall(SYS_close, synced_fd);
	const int fd = open(test_path("foreign"), O_RDWR | O_CREAT, 0600);
	REQUIRE(ftruncate(fd, sizeof(bshm_header)) == 0);
	REQUIRE(fd == synced_fd || dup2(fd, synced_fd) == synced_fd);
}

/* Another part of the program closes the descriptor during a sync, and gets its number. */
TEST(a_descriptor_that_was_reused_is_neither_written_to_nor_closed)
{
	stand();
	CHECK_INT(add(segment, "f", "a"), 1);
	during_sync = reuse_descriptor;
	CHECK(bshm_segment_rest(segment, &last_error) != BSHM_OK);
	during_sync = NULL;
	CHECK(fcntl(synced_fd, F_GETFD) >= 0);
	CHECK(rest_of(test_path("foreign")) == 0);
	open_whole();
	CHECK_INT(has(segment, "f", "a"), 1);
	CHECK_INT(bshm_segment_rest(segment, &last_error), BSHM_OK);
	CHECK(is_asleep());
}

static void see_mark(void)
{
	syncs++;
	CHECK(is_asleep());
}

/* SYNCING would say that the mark is not on the disk. */
TEST(a_mark_that_another_process_set_is_left)
{
	stand();
	CHECK_INT(add(segment, "f", "a"), 1);
	set_rest(BSHM_REST_ASLEEP); /* as if this process had unmapped before */
	syncs = 0;
	during_sync = see_mark;
	CHECK_INT(bshm_segment_rest(segment, &last_error), BSHM_OK);
	during_sync = NULL;
	CHECK_INT(syncs, 1);
	CHECK(is_asleep());
}

TEST(a_process_that_died_while_it_synced_leaves_the_file_in_use)
{
	stand();
	CHECK_INT(add(segment, "f", "a"), 1);
	close_it();
	set_rest(BSHM_REST_SYNCING);
	open_whole();
	CHECK_INT(has(segment, "f", "a"), 1);
	CHECK(rest_of(test_path("segment")) == BSHM_REST_AWAKE);
	close_it();
	set_rest(BSHM_REST_SYNCING);
	reboot();
	check_not_believed();
}

/* ------------------------------------------------------------------ the clock */

static uint64_t engine_ns(void)
{
	return bshm_os_clock_ns() + segment->clock_offset;
}

TEST(the_clock_goes_on_after_a_reboot)
{
	bshm_clock_set(5000 * SECOND);
	stand();
	const uint64_t before = engine_ns();
	close_it();
	reboot();
	bshm_clock_set(60 * SECOND);
	bshm_os_wall_set(7200);
	open_whole();
	const double passed = (double) (engine_ns() - before) / 1e9;
	CHECK(passed > 7199 && passed < 7800);
	const uint64_t offset = segment->header->clock_offset;
	CHECK(segment->clock_offset == offset);
	CHECK(segment->header->clock_boot == host.boot);
	bshm_os_wall_set(9999999); /* setting it moves no process */
	CHECK_INT(open_at(test_path("segment"), false), BSHM_OK);
	CHECK(segment->clock_offset == offset);
}

/* A machine without a battery wakes up in 1970. */
TEST(the_clock_never_goes_back)
{
	bshm_clock_set(5000 * SECOND);
	stand();
	const uint64_t before = engine_ns();
	close_it();
	reboot();
	bshm_clock_set(60 * SECOND);
	bshm_os_wall_set(-1e9);
	open_whole();
	CHECK(engine_ns() == before);
}

/* ------------------------------------------------------------------ power losses */

#define PAGE 4096u

static uint8_t *image; /* what is on the disk */
static uint64_t image_bytes;

/* The kernel writes some of the pages back. */
static void write_back(uint64_t *random, unsigned of_ten)
{
	const int fd = open(test_path("segment"), O_RDONLY);
	for (uint64_t at = 0; at < image_bytes; at += PAGE) {
		if (test_random(random) % 10 < of_ten) {
			CHECK(pread(fd, image + at, PAGE, (off_t) at) == PAGE);
		}
	}
	close(fd);
}

static void keep_changing(void)
{
	open_whole();
	for (uint64_t i = 0;; i++) {
		if (add_number(segment, "f", i % 40000) >= 0) {
			BSHM_ADD(&test_words[1], 1, RELAXED); /* confirmed */
		}
		if (i % 64 == 0) {
			const char *name = numbered("x-", i % 4096);
			reserve(segment, name, 100, 0.01);
			drop(segment, numbered("x-", (i + 2048) % 4096));
		}
	}
}

static void lose_power(uint64_t *random)
{
	pid_t writers[2];
	REQUIRE(pread(open(test_path("segment"), O_RDONLY), image, image_bytes, 0) ==
			(ssize_t) image_bytes);
	for (int i = 0; i < 2; i++) {
		writers[i] = spawn(keep_changing);
	}
	while (BSHM_LOAD(&test_words[1], ACQUIRE) < 100 && !test_failed()) {
		bshm_os_sleep_us(100);
	}
	for (int i = 0; i < 5; i++) {
		write_back(random, 3);
		bshm_os_sleep_us((unsigned) (test_random(random) % 2000));
	}
	for (int i = 0; i < 2; i++) {
		kill_child(writers[i]);
	}
	const int fd = open(test_path("segment"), O_WRONLY);
	CHECK(pwrite(fd, image, image_bytes, 0) == (ssize_t) image_bytes);
	close(fd);
	reboot();
}

/* Some of these files are sound, by every checksum, and lack keys. */
TEST(torn_files_are_not_believed)
{
	uint64_t random = test_seed();
	stand();
	image_bytes = segment->segment_bytes;
	image = mmap(NULL, image_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(image != MAP_FAILED);
	for (int round = 0; round < 14; round++) {
		/* Synced when it was woken: the page with the mark is never older on the disk than this. */
		test_words[1] = 0;
		bshm_segment *user = segment;
		lose_power(&random);
		bshm_segment *none = NULL;
		segment = none;
		forget_views();
		user->sleeps = false; /* it stopped with the machine */
		bshm_segment_close(user);
		check_not_believed();
		REQUIRE(reserve(segment, "f", 50000, 0.01) == 1);
	}
}
