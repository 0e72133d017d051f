/*
 * test_segment.c - the file: creating it, attaching to it, refusing what is not one.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ creating */

TEST(a_new_segment_is_whole_and_private)
{
	const bshm_options options = standard();
	bshm_segment *segment;
	REQUIRE(open_with(&options, &segment) == BSHM_OK);
	const bshm_os_stat st = stat_file();
	CHECK(st.regular);
	CHECK_INT(st.mode, 0600);
	CHECK_INT(st.owner_uid, bshm_os_effective_uid());
	CHECK_INT(st.bytes, segment->segment_bytes);
	CHECK(st.reserved_bytes >= st.bytes); /* not only promised */
	CHECK(!exists("segment.new"));
	const bshm_stat stat = stat_of(segment);
	CHECK_INT(stat.layout_version, BSHM_LAYOUT_VERSION);
	CHECK_INT(stat.owner_uid, bshm_os_effective_uid());
	CHECK_INT(stat.mode, 0600);
	CHECK_INT(stat.filter_bytes, MB(1));
	CHECK_INT(stat.filter_bytes_free, MB(1));
	CHECK_INT(stat.largest_free_bytes, MB(1));
	CHECK_INT(stat.filters, 0);
	CHECK_INT(stat.attached, 1);
	CHECK_INT(stat.repairs, 0);
	CHECK_INT(stat.lock_timeouts, 0);
	CHECK_INT(faults(segment), 0);
	bshm_segment_close(segment);
	bshm_segment_close(NULL);
	CHECK(exists("segment"));
}

TEST(a_standing_segment_keeps_its_size_and_seed)
{
	bshm_segment *first = open_segment(MB(1));
	CHECK_INT(reserve(first, "f", 100, 0.01), 1);
	CHECK_INT(add(first, "f", "a"), 1);
	const uint64_t seed = first->name_seed;
	forget_views(); /* the next mapping may be elsewhere */
	bshm_segment_close(first);
	bshm_segment *second = open_segment(MB(64));
	CHECK_INT(stat_of(second).filter_bytes, MB(1));
	CHECK(second->name_seed == seed);
	CHECK_INT(has(second, "f", "a"), 1);
	CHECK_INT(has(second, "f", "b"), 0);
	bshm_segment_close(second);
}

TEST(seeds_are_not_the_same_twice)
{
	bshm_options options = standard();
	bshm_segment *segments[2];
	REQUIRE(open_with(&options, &segments[0]) == BSHM_OK);
	options.path = test_path("another");
	REQUIRE(open_with(&options, &segments[1]) == BSHM_OK);
	CHECK(segments[0]->name_seed != segments[1]->name_seed);
	CHECK(segments[0]->name_seed != 0);
}

TEST(the_mode_is_as_asked_whatever_the_umask)
{
	umask(0277);
	bshm_options options = standard();
	options.mode = 0660;
	bshm_segment *segment;
	REQUIRE(open_with(&options, &segment) == BSHM_OK);
	CHECK_INT(stat_of(segment).mode, 0660);
}

TEST(sizes_are_whole_partitions)
{
	bshm_options options = standard();
	options.filter_bytes = MB(1) + 8191;
	bshm_segment *segment;
	REQUIRE(open_with(&options, &segment) == BSHM_OK);
	CHECK_INT(stat_of(segment).filter_bytes, MB(1));
}

TEST(huge_pages_are_only_advice)
{
	bshm_options options = standard();
	options.huge_pages = true;
	bshm_segment *segment;
	REQUIRE(open_with(&options, &segment) == BSHM_OK);
	CHECK_INT(reserve(segment, "f", 100, 0.01), 1);
	CHECK_INT(has(segment, "f", "a"), 0);
}

static void create_with_all(void)
{
	const bshm_options options = standard();
	bshm_segment *segment;
	await_flag(0);
	bshm_status status = open_with(&options, &segment);
	while (status == BSHM_E_BUSY) { /* "try again soon" */
		bshm_os_sleep_us(100);
		status = open_with(&options, &segment);
	}
	REQUIRE(status == BSHM_OK);
	const bshm_os_stat st = stat_file();
	uint64_t none = 0;
	CHECK(
		BSHM_CAS(&test_words[0], &none, segment->name_seed, RELAXED) || none == segment->name_seed);
	none = 0;
	CHECK(BSHM_CAS(&test_words[1], &none, segment->inode, RELAXED) || none == segment->inode);
	CHECK_INT(segment->inode, st.inode);
	const int created = reserve(segment, "f", 100, 0.01);
	CHECK(created == 0 || created == 1);
	BSHM_ADD(&test_words[2], created == 1, RELAXED);
	BSHM_ADD(&test_words[3], 1, RELAXED);
	raise_flag_and_sleep(1);
}

/* Eight processes start at once and get one segment between them. */
TEST(processes_that_create_at_once_get_one_segment)
{
	for (int round = 0; round < 5; round++) {
		memset(test_words, 0, sizeof(*test_words) * 4);
		unlink(test_path("segment"));
		pid_t children[8];
		for (int i = 0; i < 8; i++) {
			children[i] = spawn(create_with_all);
		}
		raise_flag(0);
		while (BSHM_LOAD(&test_words[3], RELAXED) < 8 && !test_failed()) {
			bshm_os_sleep_us(100);
		}
		CHECK_INT(test_words[2], 1);
		CHECK_INT(try_open(), BSHM_OK);
		CHECK(!exists("segment.new"));
		for (int i = 0; i < 8; i++) {
			kill_child(children[i]);
		}
	}
}

static void create_for_ever(void)
{
	for (;;) {
		unlink(test_path("segment"));
		const bshm_status status = try_open();
		CHECK(status == BSHM_OK || status == BSHM_E_BUSY);
	}
}

TEST(creators_that_are_killed_leave_nothing_in_the_way)
{
	uint64_t random = test_seed();
	for (int round = 0; round < 60; round++) {
		const pid_t child = spawn(create_for_ever);
		bshm_os_sleep_us((unsigned) (test_random(&random) % 4000));
		kill_child(child);
		CHECK_INT(try_open(), BSHM_OK);
		unlink(test_path("segment"));
		CHECK_INT(try_open(), BSHM_OK);
		CHECK(!exists("segment.new"));
	}
}

/* A creator that is at work: it has made the temporary file and holds its lock. */
static void create_and_sleep(void)
{
	int fd;
	REQUIRE(bshm_os_create(test_path("segment.new"), &fd) == 0);
	REQUIRE(bshm_os_lock_byte(fd, BSHM_CREATE_LOCK_OFF) == 0);
	const uint64_t process_id = bshm_os_process_id();
	REQUIRE(bshm_os_file_write(fd, &process_id, sizeof(process_id)) == 0);
	raise_flag_and_sleep(0);
}

TEST(a_live_creator_is_not_disturbed_and_a_dead_one_replaced)
{
	const pid_t child = spawn(create_and_sleep);
	await_flag(0);
	CHECK_INT(try_open(), BSHM_E_BUSY);
	stop_child(child);
	CHECK_INT(try_open(), BSHM_E_BUSY);
	CHECK_INT(last_error.process_id, child);
	CHECK_INT(last_error.uid, getuid());
	CHECK(exists("segment.new"));
	CHECK(!exists("segment"));
	kill_child(child);
	CHECK_INT(try_open(), BSHM_OK);
	CHECK(!exists("segment.new"));
}

/* A creator died between giving the file its name and taking the temporary one away. */
TEST(a_leftover_second_name_is_removed_by_the_next_creator)
{
	bshm_segment *old = open_segment(MB(1));
	REQUIRE(link(test_path("segment"), test_path("segment.new")) == 0);
	CHECK_INT(try_open(), BSHM_OK);
	REQUIRE(unlink(test_path("segment")) == 0);
	bshm_segment *fresh = open_segment(MB(1));
	CHECK(fresh->inode != old->inode);
	CHECK(fresh->name_seed != old->name_seed);
	CHECK(!exists("segment.new"));
	CHECK_INT(reserve(fresh, "f", 10, 0.01), 1);
	CHECK_INT(has(old, "f", "a"), BSHM_E_NOT_FOUND);
}

TEST(what_cannot_be_a_temporary_file_is_left_alone)
{
	REQUIRE(mkdir(test_path("segment.new"), 0700) == 0);
	CHECK_INT(try_open(), BSHM_E_UNAVAILABLE);
	REQUIRE(rmdir(test_path("segment.new")) == 0);
	REQUIRE(symlink(test_path("elsewhere"), test_path("segment.new")) == 0);
	CHECK_INT(try_open(), BSHM_E_UNAVAILABLE);
	CHECK(!exists("elsewhere"));
	REQUIRE(unlink(test_path("segment.new")) == 0);
	CHECK_INT(try_open(), BSHM_OK);
}

static void create_in_a_small_file_system(void)
{
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("none", test_path(""), "tmpfs", 0, "size=2m") != 0) {
		_exit(77);
	}
	bshm_options options = standard();
	options.filter_bytes = MB(8);
	bshm_segment *segment;
	CHECK_INT(open_with(&options, &segment), BSHM_E_NO_SPACE);
	CHECK_INT(last_error.os_code, ENOSPC);
	CHECK(last_error.asked > MB(8));
	CHECK(!exists("segment"));
	CHECK(!exists("segment.new"));
	CHECK_INT(try_open(), BSHM_OK); /* a smaller one fits */
}

TEST(a_full_file_system_is_told_and_nothing_is_left)
{
	const int result = finish(spawn(create_in_a_small_file_system));
	if (result == 77) {
		test_skip("a file system cannot be mounted here");
	}
	CHECK_INT(result, 0);
}

TEST(a_limit_on_file_sizes_is_told_and_nothing_is_left)
{
	const struct rlimit limit = {65536, 65536};
	REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK_INT(try_open(), BSHM_E_NO_SPACE);
	CHECK_INT(last_error.os_code, EFBIG);
	CHECK(!exists("segment"));
	CHECK(!exists("segment.new"));
}

TEST(paths_that_lead_nowhere_are_unavailable)
{
	bshm_options options = standard();
	bshm_segment *segment;
	options.path = "";
	CHECK_INT(open_with(&options, &segment), BSHM_E_UNAVAILABLE);
	options.path = test_path("no/such/folder");
	CHECK_INT(open_with(&options, &segment), BSHM_E_UNAVAILABLE);
	CHECK_INT(last_error.os_code, ENOENT);
	char path[5000];
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	options.path = path;
	CHECK_INT(open_with(&options, &segment), BSHM_E_UNAVAILABLE);
	memset(path, '/', sizeof(path) - 1);
	path[4094] = '\0';
	CHECK_INT(open_with(&options, &segment), BSHM_E_UNAVAILABLE);
}

/* ------------------------------------------------------------------ attaching */

TEST(readonly_needs_a_standing_segment)
{
	bshm_options options = standard();
	options.readonly = true;
	bshm_segment *segment;
	CHECK_INT(open_with(&options, &segment), BSHM_E_UNAVAILABLE);
	CHECK_INT(last_error.os_code, ENOENT);
	CHECK(!exists("segment"));
	CHECK(!exists("segment.new"));
	bshm_segment *writer = open_segment(MB(1));
	CHECK_INT(reserve(writer, "f", 100, 0.01), 1);
	REQUIRE(open_with(&options, &segment) == BSHM_OK);
	CHECK_INT(segment->owner, 0);
	CHECK_INT(add(writer, "f", "a"), 1);
	CHECK_INT(has(segment, "f", "a"), 1);
	CHECK_INT(has(segment, "f", "b"), 0);
	CHECK_INT(stat_of(segment).attached, 1);
	CHECK_INT(stat_of(segment).filter_bytes, MB(1));
}

/* On a processor with pages of 16 or 64 kB no region begins a page. */
TEST(a_part_of_a_page_becomes_writable_with_the_whole)
{
	int fd;
	void *base;
	REQUIRE(bshm_os_create(test_path("pages"), &fd) == 0);
	CHECK_INT(bshm_os_reserve(fd, 1 << 20, false), 0);
	CHECK_INT(bshm_os_map(fd, 1 << 20, true, &base), 0);
	char *middle = (char *) base + (1 << 19);
	CHECK_INT(bshm_os_protect(middle + 1000, 10), 0);
	*middle = 'a';
	CHECK_INT(bshm_os_protect(middle + (1 << 17) - 1, 2), 0);
	middle[(1 << 17) - 1] = 'b';
	middle[1 << 17] = 'c';
	bshm_os_unmap(base, 1 << 20);
	bshm_os_close(fd);
}

TEST(who_only_looks_needs_a_standing_segment_too)
{
	bshm_options options = standard();
	options.attach_only = true;
	bshm_segment *segment;
	CHECK_INT(open_with(&options, &segment), BSHM_E_UNAVAILABLE);
	CHECK(last_error.cause == BSHM_CAUSE_ABSENT);
	CHECK(!exists("segment"));
	CHECK(!exists("segment.new"));
	open_segment(MB(1));
	REQUIRE(open_with(&options, &segment) == BSHM_OK);
	CHECK_INT(reserve(segment, "f", 100, 0.01), 1);
}

TEST(a_segment_is_at_its_path_until_the_file_is_removed_or_replaced)
{
	bshm_segment *old = open_segment(MB(1));
	CHECK(bshm_segment_at_path(old));
	REQUIRE(rename(test_path("segment"), test_path("moved")) == 0);
	CHECK(!bshm_segment_at_path(old));
	bshm_segment *fresh = open_segment(MB(1));
	CHECK(!bshm_segment_at_path(old));
	CHECK(bshm_segment_at_path(fresh));
	REQUIRE(rename(test_path("moved"), test_path("segment")) == 0);
	CHECK(bshm_segment_at_path(old));
	CHECK(!bshm_segment_at_path(fresh));
}

TEST(no_descriptor_left_is_told_as_that)
{
	open_segment(MB(1));
	const bshm_options options = standard();
	bshm_segment *segment;
	const struct rlimit few = {64, 64};
	REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
	int last = -1;
	for (int fd = dup(0); fd >= 0; fd = dup(0)) {
		last = fd;
	}
	for (int left = 0; left < 2; left++) {
		const bshm_status status = open_with(&options, &segment);
		if (status != BSHM_OK) { /* one is enough, perhaps */
			CHECK_INT(status, BSHM_E_UNAVAILABLE);
			CHECK_INT(last_error.os_code, EMFILE);
			CHECK_INT(last_error.available, 64);
		}
		close(last--);
	}
	close(last--);
	CHECK_INT(open_with(&options, &segment), BSHM_OK);
}

TEST(a_wider_mode_is_refused)
{
	CHECK_INT(try_open(), BSHM_OK);
	const mode_t wider[] = {0644, 0606, 0660, 0666, 0700, 02600, 04600};
	for (size_t i = 0; i < sizeof(wider) / sizeof(wider[0]); i++) {
		REQUIRE(chmod(test_path("segment"), wider[i]) == 0);
		CHECK_INT(try_open(), BSHM_E_UNAVAILABLE);
		CHECK(last_error.cause == BSHM_CAUSE_WIDE_MODE);
		CHECK_INT(last_error.asked, 0600);
		CHECK_INT(last_error.available, wider[i]);
	}
	REQUIRE(chmod(test_path("segment"), 0600) == 0);
	CHECK_INT(try_open(), BSHM_OK);
	bshm_options options = standard();
	options.mode = 0660;
	bshm_segment *segment;
	CHECK_INT(open_with(&options, &segment), BSHM_OK); /* narrower is fine */
}

TEST(what_is_not_a_regular_file_is_refused)
{
	const char *path = test_path("segment");
	REQUIRE(mkdir(path, 0700) == 0);
	CHECK_INT(try_open(), BSHM_E_UNAVAILABLE);
	REQUIRE(rmdir(path) == 0);
	REQUIRE(mkfifo(path, 0600) == 0);
	CHECK_INT(try_open(), BSHM_E_UNAVAILABLE); /* and no call waits for its other end */
	REQUIRE(unlink(path) == 0);
	REQUIRE(symlink("/dev/zero", path) == 0);
	CHECK_INT(try_open(), BSHM_E_UNAVAILABLE);
	REQUIRE(unlink(path) == 0);
	REQUIRE(symlink("/dev/null", path) == 0);
	CHECK_INT(try_open(), BSHM_E_UNAVAILABLE);
	REQUIRE(unlink(path) == 0);

	bshm_options options = standard();
	options.path = test_path("real");
	bshm_segment *segment;
	REQUIRE(open_with(&options, &segment) == BSHM_OK);
	REQUIRE(symlink("real", path) == 0);
	CHECK_INT(try_open(), BSHM_E_UNAVAILABLE); /* not even a link to a sound segment */
	REQUIRE(unlink(path) == 0);
	REQUIRE(symlink("nowhere", path) == 0);
	CHECK_INT(try_open(), BSHM_E_UNAVAILABLE);
	CHECK(!exists("nowhere"));
}

TEST(another_users_segment_is_refused_unless_it_is_shared)
{
	if (geteuid() != 0) {
		test_skip("only root can give a file away");
	}
	const uid_t stranger = 12345;
	const char *path = test_path("segment");
	CHECK_INT(try_open(), BSHM_OK);
	REQUIRE(chown(path, stranger, stranger) == 0);
	CHECK_INT(try_open(), BSHM_E_UNAVAILABLE);
	CHECK(last_error.cause == BSHM_CAUSE_OWNER);
	CHECK_INT(last_error.uid, stranger);

	/* Shared with the group, and we are in it: allowed if we asked for that mode. */
	REQUIRE(chown(path, stranger, getegid()) == 0);
	REQUIRE(chmod(path, 0660) == 0);
	CHECK_INT(try_open(), BSHM_E_UNAVAILABLE);
	bshm_options options = standard();
	options.mode = 0660;
	bshm_segment *segment;
	CHECK_INT(open_with(&options, &segment), BSHM_OK);
	bshm_segment_close(segment);
	/* A group that we are not in says nothing about us. */
	REQUIRE(chown(path, stranger, stranger) == 0);
	CHECK_INT(open_with(&options, &segment), BSHM_E_UNAVAILABLE);
	/* Readable for the group is enough to read. */
	REQUIRE(chown(path, stranger, getegid()) == 0);
	REQUIRE(chmod(path, 0640) == 0);
	options.mode = 0640;
	CHECK_INT(open_with(&options, &segment), BSHM_E_UNAVAILABLE);
	options.readonly = true;
	CHECK_INT(open_with(&options, &segment), BSHM_OK);
	bshm_segment_close(segment);
}

static void open_as_a_stranger(void)
{
	REQUIRE(setegid(12345) == 0 && seteuid(12345) == 0);
	CHECK_INT(try_open(), BSHM_E_UNAVAILABLE);
	CHECK_INT(last_error.os_code, EACCES);
}

TEST(an_unprivileged_stranger_cannot_open_a_private_segment)
{
	if (geteuid() != 0) {
		test_skip("only root can become another user");
	}
	CHECK_INT(try_open(), BSHM_OK);
	REQUIRE(chmod(test_path(""), 0755) == 0);
	CHECK_INT(finish(spawn(open_as_a_stranger)), 0);
}
