/*
 * test_owners.c - which processes are attached, and which of them still live.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/segment/owners.h"
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static bshm_segment *segment;

static bool attach(void)
{
	return bshm__owner_attach(segment, &last_error) == BSHM_OK;
}

/* ------------------------------------------------------------------ life and death */

static void attach_and_sleep(void)
{
	REQUIRE(attach());
	BSHM_STORE(&test_words[0], segment->owner, RELEASE);
	raise_flag_and_sleep(0);
}

static void attach_and_exit(void)
{
	REQUIRE(attach());
	BSHM_STORE(&test_words[0], segment->owner, RELEASE);
}

TEST(a_process_lives_until_it_is_killed)
{
	segment = open_segment(MB(1));
	CHECK(segment->owner != 0);
	CHECK(bshm__owner_alive(segment, segment->owner));
	const pid_t child = spawn(attach_and_sleep);
	await_flag(0);
	const uint64_t owner = test_words[0];
	CHECK(owner != 0 && owner != segment->owner);
	CHECK(bshm__owner_alive(segment, owner));
	CHECK_INT(bshm__owner_count(segment), 2);
	stop_child(child);
	CHECK(bshm__owner_alive(segment, owner)); /* stopped is not dead */
	kill(child, SIGCONT);
	CHECK(bshm__owner_alive(segment, owner));
	kill_child(child);
	CHECK(!bshm__owner_alive(segment, owner));
	CHECK_INT(bshm__owner_count(segment), 1);
}

TEST(a_process_that_ended_by_itself_is_dead)
{
	segment = open_segment(MB(1));
	CHECK_INT(finish(spawn(attach_and_exit)), 0);
	CHECK(test_words[0] != 0);
	CHECK(!bshm__owner_alive(segment, test_words[0]));
	CHECK_INT(bshm__owner_count(segment), 1);
}

/* Not reaped by its parent yet: its files are closed all the same. */
TEST(a_zombie_is_dead)
{
	segment = open_segment(MB(1));
	const pid_t child = spawn(attach_and_sleep);
	await_flag(0);
	kill(child, SIGKILL);
	for (int i = 0; i < 20000 && bshm__owner_alive(segment, test_words[0]); i++) {
		bshm_os_sleep_us(100);
	}
	CHECK(!bshm__owner_alive(segment, test_words[0]));
	finish(child);
}

TEST(a_closed_segment_is_dead)
{
	segment = open_segment(MB(1));
	bshm_segment *other = open_segment(MB(1));
	const uint64_t owner = other->owner;
	CHECK(owner != segment->owner);
	CHECK(bshm__owner_alive(segment, owner));
	CHECK_INT(bshm__owner_count(segment), 2);
	CHECK_INT(stat_of(other).attached, 2);
	bshm_segment_close(other);
	CHECK(!bshm__owner_alive(segment, owner));
	CHECK_INT(bshm__owner_count(segment), 1);
}

TEST(words_that_never_were_owners_are_dead)
{
	segment = open_segment(MB(1));
	const uint64_t words[] = {0xffff, 1, UINT64_C(1) << 16, UINT64_MAX, BSHM_OWNER_COUNT + 1,
		segment->owner + 0x10000, segment->owner - 0x10000, segment->owner & 0xffff};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		CHECK(!bshm__owner_alive(segment, words[i]));
	}
}

/* ------------------------------------------------------------------ forks */

static void leave_a_child_behind(void)
{
	const pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, 0);
		CHECK_INT(segment->owner, 0);
		CHECK(segment->lock_fd < 0 && segment->lock_kept == NULL);
		raise_flag_and_sleep(1);
	}
	raise_flag_and_sleep(0);
}

static void attach_and_leave_a_child_behind(void)
{
	REQUIRE(attach());
	BSHM_STORE(&test_words[0], segment->owner, RELEASE);
	leave_a_child_behind();
}

static void open_and_leave_a_child_behind(void)
{
	segment = open_segment(MB(1));
	BSHM_STORE(&test_words[0], segment->owner, RELEASE);
	leave_a_child_behind();
}

/* The child of a fork holds nothing of its parent's, also not by what it has mapped. */
static void expect_parent_dead(void (*parent)(void))
{
	segment = open_segment(MB(1));
	const pid_t child = spawn(parent);
	await_flag(0);
	await_flag(1);
	CHECK(bshm__owner_alive(segment, test_words[0]));
	kill_child(child);
	CHECK(!bshm__owner_alive(segment, test_words[0]));
	CHECK_INT(bshm__owner_count(segment), 1);
}

TEST(a_forks_child_does_not_keep_its_parent_alive)
{
	expect_parent_dead(open_and_leave_a_child_behind);
}

static void attach_by_descriptor_and_leave_a_child_behind(void)
{
	segment->locks = BSHM_LOCKS_OPEN;
	attach_and_leave_a_child_behind();
}

TEST(a_forks_child_does_not_keep_its_parents_descriptor)
{
	expect_parent_dead(attach_by_descriptor_and_leave_a_child_behind);
}

TEST(a_forks_grandchild_does_not_keep_its_parent_alive)
{
	expect_parent_dead(attach_and_leave_a_child_behind);
}

static void use_everything(void)
{
	CHECK_INT(absent(segment, "f", 0, 100), 0);
	const bshm_stat stat = stat_of(segment); /* its first call: with no file of its own yet */
	CHECK_INT(stat.filters, 1);
	CHECK(add(segment, "f", "child") >= 0);
	CHECK_INT(load(segment, "child", 0, 100), BSHM_OK);
	CHECK(segment->owner != 0);
	CHECK_INT(stat_of(segment).attached, 2);
	CHECK_INT(faults(segment), 0);
	test_words[1] = segment->owner;
}

TEST(a_forks_child_uses_the_segment_as_its_own)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	CHECK_INT(finish(spawn(use_everything)), 0);
	CHECK(test_words[1] != segment->owner);
	CHECK_INT(has(segment, "f", "child"), 1);
	CHECK_INT(absent(segment, "child", 0, 100), 0);
	CHECK_INT(stat_of(segment).attached, 1);
	CHECK_INT(faults(segment), 0);
}

static void stat_and_check(void)
{
	CHECK_INT(stat_of(segment).filters, 1);
	CHECK_INT(faults(segment), 0);
}

TEST(a_forks_child_of_a_reader_reads)
{
	bshm_segment *writer = open_segment(MB(1));
	CHECK_INT(load(writer, "f", 0, 100), BSHM_OK);
	segment = open_segment_readonly();
	CHECK_INT(finish(spawn(stat_and_check)), 0);
}

static void lock_is_refused(bshm_cause cause, int os_code)
{
	CHECK_INT(absent(segment, "f", 0, 100), 0); /* answers still */
	CHECK_INT(reserve(segment, "g", 10, 0.01), BSHM_E_UNAVAILABLE);
	CHECK_INT(last_error.status, BSHM_E_UNAVAILABLE);
	CHECK(last_error.cause == cause);
	CHECK_INT(last_error.os_code, os_code);
	CHECK_INT(segment->owner, 0);
}

static void lock_is_refused_without_a_file(void)
{
	lock_is_refused(BSHM_CAUSE_REOPEN, ENOENT);
}

static void lock_is_refused_on_another_file(void)
{
	lock_is_refused(BSHM_CAUSE_REPLACED, 0);
}

static void lock_is_refused_without_descriptors(void)
{
	const struct rlimit limit = {1, 1};
	REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	lock_is_refused(BSHM_CAUSE_REOPEN, EMFILE);
}

TEST(without_a_descriptor_questions_are_answered_still)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	CHECK_INT(finish(spawn(lock_is_refused_without_descriptors)), 0);
}

/* Whatever lies at the path now is not what the parent had mapped. */
TEST(a_forks_child_does_not_attach_to_another_file)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	unlink(test_path("segment"));
	CHECK_INT(finish(spawn(lock_is_refused_without_a_file)), 0);
	bshm_segment *other = open_segment(MB(1));
	CHECK_INT(finish(spawn(lock_is_refused_on_another_file)), 0);
	CHECK_INT(stat_of(other).filters, 0);
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK); /* the parent goes on as before */
}

/* ------------------------------------------------------------------ slots */

TEST(a_slot_used_again_has_another_generation)
{
	segment = open_segment(MB(1));
	uint64_t before = 0;
	for (int i = 0; i < 20; i++) {
		bshm_segment *next = open_segment(MB(1)); /* of one process: the same slot each time */
		CHECK(before == 0 || (next->owner & 0xffff) == (before & 0xffff));
		CHECK((next->owner >> 16) > (before >> 16));
		CHECK(before == 0 || !bshm__owner_alive(segment, before));
		CHECK(bshm__owner_alive(segment, next->owner));
		before = next->owner;
		bshm_segment_close(next);
	}
}

/* What the slot's last owner left is not taken for its successor's. */
TEST(a_successor_in_the_slot_does_not_inherit)
{
	static bshm_build *volatile left; /* not lost, though it is not used again */
	bshm_segment *looker = open_segment(MB(1));
	bshm_segment *first = open_segment(MB(1));
	left = begin_build(first, "f");
	REQUIRE(left != NULL);
	const uint64_t dead = first->owner;
	bshm_segment_close(first);
	segment = open_segment(MB(1)); /* the same process: the same slot */
	CHECK_INT(segment->owner & 0xffff, dead & 0xffff);
	CHECK(segment->owner != dead);
	CHECK(!bshm__owner_alive(looker, dead));
	CHECK(bshm__owner_alive(looker, segment->owner));
	CHECK_INT(add(segment, "f", "a"), BSHM_E_NOT_FOUND); /* the build is over */
	CHECK_INT(segment->header->repairs, 1);
	CHECK_INT(load(segment, "f", 0, 10), BSHM_OK);
	CHECK_INT(absent(segment, "f", 0, 10), 0);
	CHECK_INT(faults(segment), 0);
}

/* Takes a slot as a process does that has nothing else of the segment. */
static void *occupy(uint32_t slot)
{
	void *kept = NULL;
	int fd;
	REQUIRE(bshm_os_open(test_path("segment"), false, &fd) == 0);
	REQUIRE(bshm_os_lock_byte(fd, BSHM_OWNER_LOCK_OFF + slot) == 0);
	REQUIRE(bshm_os_keep(fd, &kept) == 0);
	bshm_os_close(fd);
	BSHM_ADD(&segment->owners[slot].generation, 1, RELEASE);
	return kept;
}

static uint32_t slot_of(const bshm_segment *of)
{
	return (uint32_t) (of->owner & 0xffff) - 1;
}

static void reserve_soon(bshm_segment *late, const char *name)
{
	int status;
	do {
		bshm_os_sleep_us(1000); /* a slot is not looked for all the time */
		status = reserve(late, name, 10, 0.01);
	} while (status == BSHM_E_UNAVAILABLE && last_error.cause == BSHM_CAUSE_OWNERS);
	CHECK_INT(status, 1);
}

TEST(without_a_free_slot_questions_are_answered_still)
{
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	const bshm_parameters grows = parameters(0.01, 100, 2);
	CHECK_INT(bshm_filter_reserve(segment, "g", 1, &grows, &last_error), 1);
	const uint32_t own = slot_of(segment);
	void *last = NULL;
	for (uint32_t i = 1; i < BSHM_OWNER_COUNT; i++) {
		last = occupy((own + i) % BSHM_OWNER_COUNT);
	}
	bshm_segment *late = open_segment(MB(1));
	CHECK_INT(late->owner, 0);
	CHECK_INT(absent(late, "f", 0, 100), 0);
	CHECK_INT(has(late, "f", "absent"), 0);
	CHECK_INT(add(late, "g", "late"), 1);
	CHECK_INT(has(segment, "g", "late"), 1);
	CHECK_INT(load(segment, "h", 0, 100), BSHM_OK);
	CHECK_INT(reserve(late, "i", 10, 0.01), BSHM_E_UNAVAILABLE);
	CHECK(last_error.cause == BSHM_CAUSE_OWNERS);
	CHECK_INT(last_error.available, BSHM_OWNER_COUNT);
	CHECK_INT(stat_of(late).filters, 3);
	CHECK_INT(stat_of(late).attached, BSHM_OWNER_COUNT);
	bshm_os_release(last);
	reserve_soon(late, "i"); /* tried again when it is needed */
	CHECK(late->owner != 0);
	CHECK_INT(slot_of(late), (own + BSHM_OWNER_COUNT - 1) % BSHM_OWNER_COUNT);
}

/* Attachments one after another until there is no slot, as so many processes would. */
TEST(every_slot_is_given_out)
{
	const uint32_t wanted = 300;
	segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	const uint32_t own = slot_of(segment);
	for (uint32_t i = wanted; i < BSHM_OWNER_COUNT; i++) {
		occupy((own + i) % BSHM_OWNER_COUNT);
	}
	for (uint32_t i = 1; i < wanted; i++) {
		const bshm_segment *next = open_segment(MB(1));
		CHECK_INT(slot_of(next), (own + i) % BSHM_OWNER_COUNT);
	}
	bshm_segment *late = open_segment(MB(1));
	CHECK_INT(late->owner, 0);
	CHECK_INT(absent(late, "f", 0, 100), 0);
	CHECK_INT(has_fresh(late, "f", "absent"), 0);
}

/* ------------------------------------------------------------------ counting */

/* Of the first `count` slots, in the order of a walk that a permutation makes; then each second
 * one. */
TEST(owners_are_counted)
{
	segment = open_segment(MB(1));
	const uint32_t own = slot_of(segment);
	uint32_t owners = 1;
	for (uint32_t i = 0; i < BSHM_OWNER_COUNT; i++) {
		const uint32_t slot = i * 1001 % BSHM_OWNER_COUNT;
		if (slot == own) {
			continue;
		}
		occupy(slot);
		owners++;
		const uint64_t counted = bshm__owner_count(segment);
		if (owners <= 255) {
			CHECK_INT(counted, owners);
		} else if (counted < owners - owners / 8 || counted > owners + owners / 8) {
			CHECK_INT(counted, owners); /* an estimate, but not so far off */
		}
		i += owners >= 300 ? 200 : 0; /* the rest in large steps */
	}
	for (uint32_t slot = 0; slot < BSHM_OWNER_COUNT; slot++) {
		int fd;
		REQUIRE(bshm_os_open(test_path("segment"), false, &fd) == 0);
		const bool vacant = bshm_os_lock_byte(fd, BSHM_OWNER_LOCK_OFF + slot) == 0;
		bshm_os_close(fd);
		if (vacant) {
			occupy(slot);
		}
	}
	CHECK_INT(bshm__owner_count(segment), BSHM_OWNER_COUNT);
}

/* ------------------------------------------------------------------ locks of others */

static int lock_slots(bool exclusive, int command)
{
	struct flock lock = {.l_type = exclusive ? F_WRLCK : F_RDLCK,
		.l_whence = SEEK_SET,
		.l_start = BSHM_OWNER_LOCK_OFF};
	const int fd = open(test_path("segment"), exclusive ? O_RDWR : O_RDONLY);
	REQUIRE(fd >= 0 && fcntl(fd, command, &lock) == 0);
	return fd;
}

/* A user who may only read the file can have shared locks on it: they keep no dead process
 * alive. */
TEST(a_shared_lock_keeps_nobody_alive)
{
	segment = open_segment(MB(1));
	CHECK_INT(finish(spawn(attach_and_exit)), 0);
	const int fd = open(test_path("segment"), O_RDONLY);
	struct flock lock = {.l_type = F_RDLCK,
		.l_whence = SEEK_SET,
		.l_start = BSHM_OWNER_LOCK_OFF + (int64_t) (test_words[0] & 0xffff) - 1,
		.l_len = 1};
	REQUIRE(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
	CHECK(!bshm__owner_alive(segment, test_words[0]));
	CHECK_INT(bshm__owner_count(segment), 1);
}

static void lock_all_and_sleep(void)
{
	lock_slots(false, F_SETLK);
	raise_flag_and_sleep(0);
}

TEST(a_strange_lock_is_told_from_an_owners)
{
	bshm_segment_close(open_segment(MB(1)));
	const pid_t child = spawn(lock_all_and_sleep);
	await_flag(0);
	segment = open_segment(MB(1));
	CHECK_INT(segment->owner, 0);
	CHECK_INT(reserve(segment, "f", 10, 0.01), BSHM_E_UNAVAILABLE);
	CHECK(last_error.cause == BSHM_CAUSE_STRANGE_LOCK);
	CHECK_INT(last_error.process_id, child);
	CHECK_INT(last_error.available, 0);
	kill_child(child);
	int status;
	do {
		bshm_os_sleep_us(1000);
		status = reserve(segment, "f", 10, 0.01);
	} while (status == BSHM_E_UNAVAILABLE && last_error.cause == BSHM_CAUSE_STRANGE_LOCK);
	CHECK_INT(status, 1);
	CHECK_INT(bshm__owner_count(segment), 1);
}
