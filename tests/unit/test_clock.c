/*
 * test_clock.c - the engine clock: one time for processes with different clocks, and clocks that
 * are set.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
# define CLONE_NEWTIME 0x00000080
#endif

#define SECOND UINT64_C(1000000000)
#define HOUR   (3600 * SECOND)

static bshm_segment *segment;

static uint64_t engine_ns(const bshm_segment *s)
{
	return bshm_os_clock_ns() + s->clock_offset;
}

static void reserve_window(const char *name, uint32_t window_s)
{
	bshm_parameters p = parameters(0.01, 3000, 0);
	p.window_s = window_s;
	REQUIRE(bshm_filter_reserve(segment, name, strlen(name), &p, &last_error) == 1);
}

/* Opens the segment as a process with this host and this monotonic clock does; closes it again. */
static uint64_t engine_as(bshm_os_host host, uint64_t clock_ns)
{
	bshm_os_host_set(&host);
	bshm_clock_set(clock_ns);
	bshm_segment *other = open_segment(MB(2));
	const uint64_t now = engine_ns(other);
	bshm_segment_close(other);
	return now;
}

static void check_near(uint64_t a, uint64_t b, uint64_t most)
{
	CHECK((a > b ? a - b : b - a) <= most);
}

static const bshm_os_host home = {.boot = 7, .shift_ns = 0, .shift_known = true};

/* A segment of a process at home, whose monotonic clock stands. */
static void stand(void)
{
	bshm_os_host_set(&home);
	bshm_clock_set(1000 * SECOND);
	segment = open_segment(MB(2));
}

TEST(every_process_has_one_time)
{
	stand();
	const uint64_t offset = segment->header->clock_offset;
	const uint64_t now = engine_ns(segment);
	static const uint64_t shifts[] = {0, 1000, SECOND, 5000 * HOUR, -SECOND, -999 * SECOND};
	for (int i = 0; i < 6; i++) {
		const uint64_t shift = shifts[i];
		bshm_os_host host = home;
		host.shift_ns = shift;
		CHECK(engine_as(host, 1000 * SECOND + shift) == now);
		host.boot = 0; /* hidden */
		CHECK(engine_as(host, 1000 * SECOND + shift) == now);
		host.boot = 8; /* a container's own */
		CHECK(engine_as(host, 1000 * SECOND + shift) == now);
		host.shift_known = false; /* by the ticks */
		check_near(engine_as(host, 1000 * SECOND + shift), now, 1000);
		host.boot = 0; /* no /proc */
		check_near(engine_as(host, 1000 * SECOND + shift), now, 1000);
	}
	CHECK(segment->header->clock_offset == offset);
	CHECK(segment->header->clock_boot == 7);
}

/* The same where the creator cannot read its own namespace. */
TEST(every_process_has_the_time_of_a_creator_that_knows_little)
{
	bshm_os_host host = {.boot = 0, .shift_ns = 50 * SECOND, .shift_known = false};
	bshm_os_host_set(&host);
	bshm_clock_set(1050 * SECOND);
	segment = open_segment(MB(2));
	const uint64_t now = engine_ns(segment);
	CHECK(engine_as(host, 1050 * SECOND) == now);
	CHECK(engine_as(home, 1000 * SECOND) == now);
	host.shift_ns = 9 * HOUR;
	CHECK(engine_as(host, 1000 * SECOND + 9 * HOUR) == now);
}

/* Small differences without a namespace's word are the ticks' own. */
TEST(ticks_that_nearly_agree_are_of_one_clock)
{
	stand();
	const uint64_t now = engine_ns(segment);
	const bshm_os_host host = {.boot = 0, .shift_ns = SECOND / 50, .shift_known = false};
	CHECK(engine_as(host, 1000 * SECOND) == now);
}

TEST(setting_the_wall_clock_moves_nothing)
{
	stand();
	const uint64_t now = engine_ns(segment);
	static const double steps[] = {-100000, -1, 0.5, 1, 37, 1e8};
	const bshm_os_host hosts[] = {home, {.boot = 0, .shift_ns = 0, .shift_known = false},
		{.boot = 9, .shift_ns = 0, .shift_known = true}};
	for (int i = 0; i < 6; i++) {
		bshm_os_wall_set(steps[i]);
		for (int h = 0; h < 3; h++) {
			CHECK(engine_as(hosts[h], 1000 * SECOND) == now);
		}
		check_near(now - segment->header->clock_wall, (uint64_t) (bshm_os_wall_s() * 1e9),
			600 * SECOND); /* the engine clock stands still */
	}
}

TEST(a_key_is_found_and_kept_by_processes_with_other_clocks)
{
	stand();
	reserve_window("f", 3);
	CHECK(add_number(segment, "f", 1) == 1);
	bshm_os_host host = {.boot = 8, .shift_ns = 30000 * HOUR, .shift_known = true};
	for (int i = 0; i < 2; i++, host.shift_known = false) {
		bshm_os_host_set(&host);
		bshm_clock_set(1000 * SECOND + host.shift_ns);
		bshm_segment *other = open_segment(MB(2));
		forget_views();
		CHECK_INT(has_number(other, "f", 1), 1);
		CHECK(add_number(other, "f", 2) >= 0); /* turns no lane that is not over */
		forget_views();
		bshm_segment_close(other);
		bshm_os_host_set(&home);
		bshm_clock_set(1003 * SECOND);
		CHECK_INT(has_number(segment, "f", 1), 1);
		CHECK_INT(has_number(segment, "f", 2), 1);
		forget_views();
	}
	bshm_clock_set(1007 * SECOND);
	CHECK_INT(has_number(segment, "f", 1), 0);
	CHECK_INT(has_number(segment, "f", 2), 0);
}

/* ------------------------------------------------------------------ real ones */

static void look_from_there(void)
{
	forget_views(); /* they are of the parent's attachment */
	bshm_segment *other = open_segment(MB(2));
	test_words[1] = bshm_os_clock_ns();
	test_words[0] = engine_ns(other);
	CHECK_INT(has_number(other, "f", 1), 1);
	CHECK(add_number(other, "f", 2) >= 0);
	bshm_segment_close(other);
}

static void live_in_another_time(void)
{
	if (unshare(CLONE_NEWTIME) != 0) {
		_exit(77);
	}
	const int fd = open("/proc/self/timens_offsets", O_WRONLY);
	const char *shift = "monotonic 7200 500000000";
	if (fd < 0 || write(fd, shift, strlen(shift)) != (ssize_t) strlen(shift)) {
		_exit(77);
	}
	close(fd);
	_exit(finish(spawn(look_from_there)));
}

/* The kernel's files that tell of boots and namespaces are hidden. */
static void live_without_proc(void)
{
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("none", "/proc", "tmpfs", 0, NULL) != 0) {
		_exit(77);
	}
	CHECK(!bshm_os_host_now(true).shift_known);
	CHECK(bshm_os_host_now(true).boot == 0);
	look_from_there();
}

static void live_in_another_time_without_proc(void)
{
	if (unshare(CLONE_NEWTIME) != 0) {
		_exit(77);
	}
	const int fd = open("/proc/self/timens_offsets", O_WRONLY);
	const char *shift = "monotonic 7200 0";
	if (fd < 0 || write(fd, shift, strlen(shift)) != (ssize_t) strlen(shift)) {
		_exit(77);
	}
	close(fd);
	_exit(finish(spawn(live_without_proc)));
}

/* Runs `work`, which looks from elsewhere; its engine clock must be ours to `most`. */
static void check_from(void (*work)(void), uint64_t most)
{
	segment = open_segment(MB(2));
	reserve_window("f", 3000);
	CHECK_INT(add_number(segment, "f", 1), 1);
	const uint64_t before = engine_ns(segment);
	const int result = finish(spawn(work));
	if (result == 77) {
		test_skip("namespaces cannot be made here");
	}
	CHECK_INT(result, 0);
	CHECK(test_words[0] + most >= before);
	CHECK(test_words[0] <= engine_ns(segment) + most);
	CHECK_INT(has_number(segment, "f", 1), 1);
	CHECK_INT(has_number(segment, "f", 2), 1);
}

TEST(a_process_in_another_time_namespace_has_our_time)
{
	check_from(live_in_another_time, 0);
	CHECK(test_words[1] > bshm_os_clock_ns() + HOUR); /* it has a clock of its own */
}

TEST(a_process_without_proc_has_our_time)
{
	check_from(live_without_proc, 0);
}

TEST(a_process_without_proc_in_another_time_namespace_has_nearly_our_time)
{
	check_from(live_in_another_time_without_proc, SECOND / 20);
	CHECK(test_words[1] > bshm_os_clock_ns() + HOUR);
}

/* The count of ticks goes with the monotonic clock. */
TEST(ticks_and_the_clock_keep_together)
{
	const uint64_t first = bshm_os_clock_less_ticks_ns();
	for (int i = 0; i < 50; i++) {
		bshm_os_sleep_us(2000);
		check_near(bshm_os_clock_less_ticks_ns() + SECOND, first + SECOND, SECOND / 10);
	}
}
