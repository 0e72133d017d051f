/*
 * test_origin.c - filters that follow those of another host: lag, staleness, and what ends it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/bshm_origin.h"
#include "core/filter/build.h"
#include "core/segment/sound.h"
#include "core/segment/source.h"
#include "platform/platform.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static bshm_segment *segment;
static uint64_t clock_ns;

static void let_pass(uint64_t seconds)
{
	clock_ns += seconds * SECOND;
	bshm_clock_set(clock_ns);
}

static void begin(uint64_t bytes)
{
	clock_ns = bshm_now_ns();
	let_pass(0);
	segment = open_segment(bytes);
}

static bshm_origin origin(uint64_t version)
{
	return (bshm_origin){
		.source = "https://origin.example/articles",
		.source_length = 31,
		.epoch = 3,
		.version = version,
		.heard_ns = INT64_MAX, /* now */
		.max_lag_s = 60,
	};
}

static int64_t seconds_ago(int64_t seconds)
{
	return (int64_t) bshm_now_ns() - seconds * (int64_t) SECOND;
}

static bshm_status follow_as(
	const char *name, const bshm_parameters *p, const bshm_origin *o, uint64_t from, uint64_t to)
{
	bshm_build *build = NULL;
	bshm_info info;
	REQUIRE(bshm_build_begin(segment, name, strlen(name), p, &build, &last_error) == BSHM_OK);
	CHECK_INT(offer(build, from, to), BSHM_OK);
	const bshm_status status = bshm_build_follow(build, o, &last_error);
	if (status != BSHM_OK) {
		bshm_build_abort(build);
		return status;
	}
	return bshm_build_publish(build, 0, &info, &last_error);
}

static const bshm_parameters growing = {.error_rate = 0.01, .expansion = 2};

static bshm_status follow(const char *name, uint64_t version, uint64_t from, uint64_t to)
{
	const bshm_origin o = origin(version);
	return follow_as(name, &growing, &o, from, to);
}

static bshm_status heard(const char *name, const bshm_origin *o)
{
	return bshm_filter_heard(segment, name, strlen(name), o, &last_error);
}

/* Does "no" come to absent keys, by every way to ask? One of a hundred may get a false "maybe". */
static bool says_no(const char *name)
{
	bool no = false;
	bshm_views *views = bshm_views_new();
	for (uint64_t i = 0; i < 8; i++) {
		const uint64_t number = (UINT64_C(1) << 60) + i;
		const bshm_key key = {(const char *) &number, sizeof(number)};
		const int one = has_number(segment, name, number);
		bshm_view *view;
		bool many = true;
		REQUIRE(bshm_view_open(segment, views, name, strlen(name), &view) == BSHM_OK);
		bshm_view_has(view, &key, 1, &many);
		CHECK(one >= 0 && (one == 0) == !many);
		no |= one == 0;
	}
	bshm_views_free(views);
	CHECK(info_of(segment, name).stale == !no);
	return no;
}

TEST(info_names_the_origin)
{
	begin(MB(1));
	CHECK_INT(load(segment, "local", 0, 10), BSHM_OK);
	bshm_info info = info_of(segment, "local");
	CHECK(!info.followed && !info.stale && info.source[0] == '\0' && info.max_lag_s == 0);
	bshm_origin o = origin(7);
	o.heard_ns = seconds_ago(5);
	CHECK_INT(follow_as("f", &growing, &o, 0, 100), BSHM_OK);
	let_pass(2);
	info = info_of(segment, "f");
	CHECK(info.followed && !info.stale);
	CHECK(strcmp(info.source, o.source) == 0);
	CHECK_INT(info.epoch, 3);
	CHECK_INT(info.version, 7);
	CHECK_INT(info.max_lag_s, 60);
	CHECK(info.lag_s >= 7 && info.lag_s < 14);
	CHECK_INT(faults(segment), 0);
}

/* Of each kind, and each way in which a question is asked. */
TEST(a_stale_filter_says_maybe)
{
	begin(MB(4));
	const bshm_parameters all[] = {
		{.error_rate = 0.01},
		{.error_rate = 0.01, .expansion = 2},
		{.error_rate = 0.0001},
		{.error_rate = 0.0001, .expansion = 4},
		{.error_rate = 0.01, .counting = true},
		{.error_rate = 0.01, .window_s = 10000, .capacity = 9000},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const bshm_origin o = origin(1);
		CHECK_INT(follow_as("f", &all[i], &o, 0, 1000), BSHM_OK);
		let_pass(60);
		CHECK(says_no("f"));
		let_pass(1);
		CHECK(!says_no("f"));
		CHECK_INT(present(segment, "f", 0, 1000), 1000);
		CHECK_INT(heard("f", &o), BSHM_OK);
		CHECK(says_no("f"));
		let_pass(61);
		CHECK(!says_no("f"));
	}
	CHECK_INT(faults(segment), 0);
}

TEST(without_a_limit_it_never_gets_stale)
{
	begin(MB(1));
	bshm_origin o = origin(1);
	o.max_lag_s = 0;
	CHECK_INT(follow_as("f", &growing, &o, 0, 100), BSHM_OK);
	let_pass(1000000);
	CHECK(says_no("f"));
	CHECK(info_of(segment, "f").lag_s >= 1000000);
}

TEST(layers_follow_too)
{
	begin(MB(4));
	CHECK_INT(follow("f", 1, 0, 1000), BSHM_OK);
	let_pass(30);
	const bshm_origin o = origin(1);
	CHECK_INT(heard("f", &o), BSHM_OK);
	CHECK(add_numbers(segment, "f", 10000, 40000) > 0);
	bshm_info info = info_of(segment, "f");
	CHECK(info.layer_count > 1 && info.followed && info.lag_s < 0.1);
	let_pass(60);
	CHECK(says_no("f"));
	let_pass(1);
	CHECK(!says_no("f"));
	CHECK_INT(heard("f", &o), BSHM_OK);
	CHECK(says_no("f"));
	CHECK_INT(present(segment, "f", 10000, 40000), 30000);
}

TEST(what_was_heard_earlier_changes_nothing)
{
	begin(MB(1));
	CHECK_INT(follow("f", 1, 0, 100), BSHM_OK);
	let_pass(20);
	bshm_origin o = origin(1);
	CHECK_INT(heard("f", &o), BSHM_OK);
	o.heard_ns = seconds_ago(10);
	CHECK_INT(heard("f", &o), BSHM_OK);
	CHECK(info_of(segment, "f").lag_s < 0.1);
	let_pass(15);
	CHECK_INT(heard("f", &o), BSHM_OK);
	const double lag_s = info_of(segment, "f").lag_s;
	CHECK(lag_s >= 10 && lag_s < 15);
	o.heard_ns = BSHM_NEVER_HEARD;
	CHECK_INT(heard("f", &o), BSHM_OK);
	CHECK(info_of(segment, "f").lag_s == lag_s);
}

TEST(no_moment_is_too_long_ago)
{
	begin(MB(1));
	bshm_origin o = origin(1);
	for (int i = 0; i < 64; i++) {
		o.heard_ns = i == 63 ? BSHM_NEVER_HEARD + 1 : seconds_ago(61) - (INT64_C(1) << i);
		CHECK_INT(follow_as("f", &growing, &o, 0, 100), BSHM_OK);
		CHECK(!says_no("f"));
	}
}

TEST(of_another_version_source_or_limit_nothing_is_heard)
{
	begin(MB(1));
	bshm_origin o = origin(2);
	CHECK_INT(heard("f", &o), BSHM_E_NOT_FOUND);
	CHECK_INT(follow("f", 2, 0, 100), BSHM_OK);
	CHECK_INT(load(segment, "local", 0, 10), BSHM_OK);
	let_pass(50);
	for (int i = 0; i < 6; i++) {
		o = origin(2);
		o.version += i == 0;
		o.epoch += i == 1;
		o.max_lag_s += i == 2;
		o.source_length -= i == 3;
		o.source = i == 4 ? "https://another.example/article" : o.source;
		CHECK_INT(heard(i == 5 ? "local" : "f", &o), BSHM_E_INCOMPATIBLE);
		CHECK_INT(last_error.cause, BSHM_CAUSE_ORIGIN);
	}
	CHECK(info_of(segment, "f").lag_s >= 50);
	CHECK(!info_of(segment, "local").followed);
}

/* What was heard of one set says nothing about the next. */
TEST(a_new_set_has_a_lag_of_its_own)
{
	begin(MB(1));
	CHECK_INT(follow("f", 1, 0, 100), BSHM_OK);
	const bshm_origin o = origin(1);
	CHECK_INT(heard("f", &o), BSHM_OK);
	bshm_origin next = origin(2);
	next.heard_ns = seconds_ago(61);
	CHECK_INT(follow_as("f", &growing, &next, 0, 100), BSHM_OK);
	CHECK(!says_no("f"));
	CHECK(info_of(segment, "f").lag_s >= 61);
}

static bool is_followed(const char *name)
{
	const bshm_info info = info_of(segment, name);
	CHECK(info.followed == (info.source[0] != '\0'));
	return info.followed;
}

TEST(a_publication_by_somebody_else_is_local)
{
	begin(MB(4));
	for (int i = 0; i < 5; i++) {
		CHECK_INT(follow("f", 1, 0, 100), BSHM_OK);
		CHECK(is_followed("f"));
		uint64_t bytes;
		bshm_views *views = bshm_views_new();
		switch (i) {
			case 0:
				CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
				break;
			case 1:
				CHECK_INT(clear(segment, "f"), 1);
				break;
			case 2:
				CHECK_INT(copy_filter(segment, "f", "g"), BSHM_OK);
				CHECK(!is_followed("g"));
				CHECK(is_followed("f"));
				CHECK_INT(copy_filter(segment, "g", "f"), BSHM_OK);
				break;
			case 3:
				CHECK_INT(bshm_filter_merge(segment, "f", 1, &(bshm_key){"f", 1}, 1, &last_error),
					BSHM_OK);
				CHECK(is_followed("f")); /* with itself: nothing was published */
				CHECK_INT(copy_filter(segment, "f", "g"), BSHM_OK);
				CHECK_INT(bshm_filter_merge(segment, "f", 1, &(bshm_key){"g", 1}, 1, &last_error),
					BSHM_OK);
				break;
			default:
				CHECK_INT(bshm_filter_dump(
							  segment, views, "f", 1, test_path("dump"), &bytes, &last_error),
					BSHM_OK);
				CHECK_INT(
					bshm_filter_restore(segment, "f", 1, test_path("dump"), &last_error), BSHM_OK);
		}
		bshm_views_free(views);
		CHECK(!is_followed("f"));
		let_pass(100);
		CHECK(says_no("f"));
		const bshm_origin o = origin(1);
		CHECK_INT(heard("f", &o), BSHM_E_INCOMPATIBLE);
	}
	const bshm_parameters sliding = {.error_rate = 0.01, .window_s = 100, .capacity = 1000};
	const bshm_origin o = origin(1);
	CHECK_INT(follow_as("f", &sliding, &o, 0, 10), BSHM_OK);
	CHECK_INT(clear(segment, "f"), 1);
	CHECK(!is_followed("f"));
	CHECK_INT(faults(segment), 0);
}

/* In place, beside whatever else is done to it. */
TEST(a_filter_in_doubt_says_maybe)
{
	begin(MB(1));
	CHECK_INT(bshm_filter_doubt(segment, "f", 1, &last_error), BSHM_E_NOT_FOUND);
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	CHECK_INT(bshm_filter_doubt(segment, "f", 1, &last_error), BSHM_E_INCOMPATIBLE);
	for (uint32_t limit = 0; limit <= 60; limit += 60) {
		bshm_origin o = origin(1);
		o.max_lag_s = limit;
		CHECK_INT(follow_as("f", &growing, &o, 0, 1000), BSHM_OK);
		CHECK(add_numbers(segment, "f", 10000, 20000) > 0);
		CHECK_INT(heard("f", &o), BSHM_OK);
		CHECK(says_no("f"));
		bshm_build *build = begin_build(segment, "f");
		CHECK_INT(bshm_filter_doubt(segment, "f", 1, &last_error), 1);
		CHECK(!says_no("f"));
		CHECK_INT(bshm_filter_doubt(segment, "f", 1, &last_error), 0);
		CHECK_INT(heard("f", &o), limit == 0 ? BSHM_E_INCOMPATIBLE : BSHM_OK);
		CHECK(says_no("f") == (limit != 0));
		CHECK_INT(bshm_filter_doubt(segment, "f", 1, &last_error), limit != 0);
		CHECK_INT(add_number(segment, "f", 77777), 0); /* none is certainly new */
		CHECK_INT(present(segment, "f", 10000, 20000), 10000);
		bshm_info info;
		CHECK_INT(bshm_build_publish(build, 0, &info, &last_error), BSHM_OK);
		CHECK(says_no("f"));
		CHECK_INT(has_number(segment, "f", 77777), 1);
	}
	CHECK_INT(faults(segment), 0);
}

/* What was heard goes with the set. But no origin announces it under that name: a follower of the
 * name must not take it for its own, though both are of one source and have the same version. */
TEST(a_renamed_filter_lags_on)
{
	begin(MB(2));
	CHECK_INT(follow("f", 1, 0, 100), BSHM_OK);
	let_pass(50);
	const bshm_origin o = origin(1);
	CHECK_INT(heard("f", &o), BSHM_OK);
	CHECK_INT(rename_filter(segment, "f", "g"), BSHM_OK);
	CHECK(is_followed("g"));
	CHECK(info_of(segment, "g").lag_s < 0.1);
	CHECK_INT(heard("f", &o), BSHM_E_NOT_FOUND);
	CHECK_INT(heard("g", &o), BSHM_E_INCOMPATIBLE);
	CHECK_INT(info_of(segment, "g").epoch, 3);
	CHECK_INT(info_of(segment, "g").version, 0);
	let_pass(61);
	CHECK(!says_no("g"));
	CHECK_INT(follow("g", 1, 0, 100), BSHM_OK);
	CHECK_INT(heard("g", &o), BSHM_OK);
	CHECK_INT(load(segment, "f", 0, 10), BSHM_OK);
	CHECK_INT(rename_filter(segment, "f", "g"), BSHM_OK);
	CHECK(!is_followed("g"));
	CHECK_INT(faults(segment), 0);
}

TEST(adds_to_a_stale_filter_are_kept_and_not_certainly_new)
{
	begin(MB(2));
	const bshm_parameters all[] = {
		{.error_rate = 0.01, .capacity = 1000},
		{.error_rate = 0.01, .capacity = 1000, .expansion = 2},
		{.error_rate = 0.01, .capacity = 1000, .counting = true},
	};
	for (int i = 0; i < 3; i++) {
		const bshm_origin o = origin(1);
		CHECK_INT(follow_as("f", &all[i], &o, 0, 100), BSHM_OK);
		CHECK_INT(add_number(segment, "f", 1000), 1);
		let_pass(61);
		CHECK_INT(add_number(segment, "f", 1001), 0);
		CHECK_INT(add_numbers(segment, "f", 1002, 1010), 0);
		CHECK_INT(info_of(segment, "f").items, 110);
		CHECK_INT(heard("f", &o), BSHM_OK);
		CHECK_INT(present(segment, "f", 1000, 1010), 10);
		CHECK(says_no("f"));
	}
}

TEST(a_stale_count_is_the_most)
{
	begin(MB(1));
	const bshm_parameters counting = {.error_rate = 0.01, .counting = true};
	const bshm_origin o = origin(1);
	const uint64_t key = 5;
	bshm_views *views = bshm_views_new();
	CHECK_INT(follow_as("f", &counting, &o, 0, 100), BSHM_OK);
	CHECK_INT(bshm_filter_count(segment, views, "f", 1, (const char *) &key, 8), 1);
	let_pass(61);
	CHECK_INT(bshm_filter_count(segment, views, "f", 1, (const char *) &key, 8), BSHM_COUNT_MAX);
	bshm_views_free(views);
}

/* ------------------------------------------------------------------ sources */

static bshm_origin from(const char *source)
{
	bshm_origin o = origin(1);
	o.source = source;
	o.source_length = strlen(source);
	return o;
}

TEST(sixteen_sources_and_one_too_many)
{
	begin(MB(2));
	for (uint64_t i = 0; i < BSHM_SOURCE_COUNT; i++) {
		for (uint64_t k = 0; k < 3; k++) { /* filters of one source share it */
			const bshm_origin o = from(numbered("source ", i));
			CHECK_INT(follow_as(numbered("f", 3 * i + k), &growing, &o, 0, 10), BSHM_OK);
		}
	}
	const bshm_origin more = from("one more");
	CHECK_INT(follow_as("more", &growing, &more, 0, 10), BSHM_E_NO_SPACE);
	CHECK_INT(last_error.cause, BSHM_CAUSE_SOURCES);
	CHECK(!ready(segment, "more"));
	CHECK_INT(op_count(segment), 0);
	CHECK_INT(faults(segment), 0);
	for (uint64_t k = 0; k < 3; k++) { /* a place is free when no filter names it */
		CHECK_INT(drop(segment, numbered("f", 3 * 5 + k)), 1);
	}
	CHECK_INT(follow_as("more", &growing, &more, 0, 10), BSHM_OK);
	CHECK(strcmp(info_of(segment, "more").source, "one more") == 0);
	for (uint64_t i = 0; i < BSHM_SOURCE_COUNT; i++) {
		if (i != 5) {
			CHECK(
				strcmp(info_of(segment, numbered("f", 3 * i)).source, numbered("source ", i)) == 0);
		}
	}
}

TEST(texts_of_every_length)
{
	begin(MB(1));
	char text[BSHM_SOURCE_BYTES_MAX + 2] = "";
	bshm_origin o = from(text);
	CHECK_INT(follow_as("f", &growing, &o, 0, 10), BSHM_E_RANGE);
	for (size_t i = 0; i <= BSHM_SOURCE_BYTES_MAX; i++) {
		text[i] = (char) ('a' + i % 26);
		o = from(text);
		const bshm_status wanted = i < BSHM_SOURCE_BYTES_MAX ? BSHM_OK : BSHM_E_RANGE;
		CHECK_INT(follow_as("f", &growing, &o, 0, 10), wanted);
		CHECK_INT(heard("f", &o), wanted);
		CHECK(wanted != BSHM_OK || strcmp(info_of(segment, "f").source, text) == 0);
	}
	o = from("with a NUL");
	o.source_length++;
	CHECK_INT(follow_as("f", &growing, &o, 0, 10), BSHM_E_RANGE);
	o = origin(1);
	o.max_lag_s = BSHM_MAX_LAG_MAX_S + 1;
	CHECK_INT(follow_as("f", &growing, &o, 0, 10), BSHM_E_RANGE);
}

/* ------------------------------------------------------------------ damage, deaths, age */

TEST(a_damaged_moment_is_stale_and_is_mended)
{
	begin(MB(1));
	CHECK_INT(follow("f", 1, 0, 100), BSHM_OK);
	bshm_entry *entry = entry_of(segment, "f");
	const uint64_t now_ns = clock_ns + segment->clock_offset;
	entry->as_of_ns = 1; /* an older one is not believed */
	CHECK(says_no("f"));
	entry->as_of_ns = now_ns + SECOND / 2; /* within what clocks are apart */
	CHECK(says_no("f"));
	entry->as_of_ns = now_ns + 2 * SECOND;
	CHECK(!says_no("f"));
	const bshm_origin o = origin(1);
	CHECK_INT(heard("f", &o), BSHM_OK);
	CHECK(says_no("f"));
}

TEST(a_damaged_source_is_not_told)
{
	begin(MB(1));
	CHECK_INT(follow("f", 1, 0, 100), BSHM_OK);
	segment->header->sources[0].text[3] ^= 1;
	const bshm_info info = info_of(segment, "f");
	CHECK(info.followed && info.source[0] == '\0');
	CHECK(says_no("f"));
	CHECK_INT(faults(segment), 1);
	const bshm_origin o = origin(1);
	CHECK_INT(heard("f", &o), BSHM_E_INCOMPATIBLE); /* publish it again */
	CHECK_INT(follow("f", 1, 0, 100), BSHM_OK);
	CHECK_INT(faults(segment), 0);
	CHECK_INT(heard("f", &o), BSHM_OK);
}

TEST(a_segment_of_an_older_build_takes_no_followed_filter)
{
	begin(MB(1));
	segment->features = 0; /* as attached to one without the bit */
	CHECK_INT(follow("f", 1, 0, 100), BSHM_E_INCOMPATIBLE);
	CHECK_INT(last_error.cause, BSHM_CAUSE_FOLLOW);
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	CHECK_INT(present(segment, "f", 0, 100), 100);
	CHECK_INT(faults(segment), 0);
}

TEST(a_readonly_process_asks_and_hears_nothing)
{
	begin(MB(1));
	CHECK_INT(follow("f", 1, 0, 100), BSHM_OK);
	segment = open_segment_readonly();
	CHECK(says_no("f"));
	const bshm_origin o = origin(1);
	CHECK_INT(heard("f", &o), BSHM_E_READ_ONLY);
	let_pass(61);
	CHECK(!says_no("f"));
}

/* A follower that dies is heard no more. */
static void follow_and_die(void)
{
	CHECK_INT(follow("f", 1, 0, 100), BSHM_OK);
	raise_flag_and_sleep(0);
}

TEST(a_dead_followers_filter_gets_stale_by_itself)
{
	begin(MB(1));
	const pid_t child = spawn(follow_and_die);
	await_flag(0);
	kill_child(child);
	CHECK(says_no("f"));
	let_pass(61);
	CHECK(!says_no("f"));
}

/* ------------------------------------------------------------------ keys for other hosts */

/* How many keys lie in the outbox for "f"; the last of them. */
typedef struct {
	size_t count;
	uint64_t last;
} letters;

static void note(
	void *context, const bshm_outbox_letter *letter, uint64_t name, const bshm_key *key)
{
	letters *l = context;
	CHECK(name == bshm_outbox_name(segment, "f", 1) && key->length == sizeof(l->last));
	memcpy(&l->last, key->bytes, sizeof(l->last));
	l->count++;
	bshm_outbox_free(segment, letter, 1);
}

static letters take_letters(void)
{
	letters l = {0};
	bshm_outbox_read(segment, true, note, &l);
	return l;
}

static bshm_status follow_and_send(uint64_t version, uint64_t from, uint64_t to)
{
	bshm_origin o = origin(version);
	o.sends = true;
	return follow_as("f", &growing, &o, from, to);
}

static bshm_status receive(uint64_t number)
{
	uint64_t added;
	const bshm_key key = {(const char *) &number, sizeof(number)};
	bshm_views *views = bshm_views_new();
	const bshm_status status =
		bshm_filter_receive(segment, views, "f", 1, &key, 1, &added, &last_error);
	bshm_views_free(views);
	return status;
}

TEST(keys_of_adds_are_left_for_other_hosts)
{
	begin(MB(1));
	CHECK_INT(follow_and_send(1, 0, 100), BSHM_OK);
	CHECK_INT(take_letters().count, 0); /* those of the set are its origin's */
	CHECK_INT(add_number(segment, "f", 1000), 1);
	CHECK_INT(add_number(segment, "f", 50), 0); /* it was there, by accident perhaps */
	CHECK_INT(take_letters().count, 2);
	CHECK_INT(add_numbers(segment, "f", 2000, 2300), 300);
	CHECK_INT(take_letters().count, 300);
	CHECK_INT(receive(3000), BSHM_OK);
	CHECK_INT(has_number(segment, "f", 3000), 1);
	CHECK_INT(take_letters().count, 0);
	/* Also beside a build. */
	bshm_build *build = begin_build(segment, "f");
	CHECK_INT(add_number(segment, "f", 4000), 1);
	CHECK_INT(take_letters().last, 4000);
	bshm_build_abort(build);
}

TEST(keys_of_other_hosts_find_a_full_filter_with_room)
{
	begin(MB(1));
	static const bshm_parameters fixed = {.error_rate = 0.01, .capacity = 100};
	bshm_origin o = origin(1);
	CHECK_INT(follow_as("f", &fixed, &o, 0, 100), BSHM_OK);
	uint64_t last = 1000;
	while (add_number(segment, "f", last) >= 0) {
		last++;
	}
	CHECK_INT(last_error.status, BSHM_E_FULL);
	const uint64_t items = info_of(segment, "f").items;
	for (uint64_t i = last; i < last + 20; i++) {
		CHECK_INT(receive(i), BSHM_OK);
	}
	CHECK_INT(present(segment, "f", last, last + 20), 20);
	CHECK(info_of(segment, "f").items > items + 10); /* they count */
	uint64_t other = last + 100;
	while (has_number(segment, "f", other) != 0) { /* one of a hundred: it would not be new */
		other++;
	}
	CHECK_INT(add_number(segment, "f", other), BSHM_E_FULL);
	CHECK_INT(faults(segment), 0);
}

TEST(keys_of_other_filters_are_not)
{
	begin(MB(1));
	CHECK_INT(follow("f", 1, 0, 100), BSHM_OK);
	CHECK_INT(add_number(segment, "f", 1000), 1);
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	CHECK_INT(add_number(segment, "f", 1000), 1);
	CHECK_INT(follow_and_send(2, 0, 100), BSHM_OK);
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK); /* a local set again */
	CHECK_INT(add_number(segment, "f", 1000), 1);
	CHECK_INT(follow_and_send(2, 0, 100), BSHM_OK);
	/* Nobody would ever take them out under the other name. */
	CHECK_INT(rename_filter(segment, "f", "g"), BSHM_OK);
	CHECK_INT(add_number(segment, "g", 1001), 1);
	CHECK_INT(take_letters().count, 0);
	CHECK(!info_of(segment, "g").sends);
}

static uint64_t unsent(void)
{
	bshm_views *views = bshm_views_new();
	bshm_info info;
	CHECK_INT(bshm_filter_info(segment, views, "f", 1, &info), BSHM_OK);
	bshm_views_free(views);
	return info.unsent;
}

TEST(a_counting_filter_sends_nothing)
{
	begin(MB(1));
	bshm_origin o = origin(1);
	o.sends = true;
	const bshm_parameters counting = {.error_rate = 0.01, .counting = true};
	CHECK_INT(follow_as("f", &counting, &o, 0, 100), BSHM_E_INCOMPATIBLE);
	CHECK_INT(last_error.cause, BSHM_CAUSE_SENDS);
	o.sends = false;
	CHECK_INT(follow_as("f", &counting, &o, 0, 100), BSHM_OK);
}

TEST(keys_without_room_are_counted)
{
	begin(MB(1));
	CHECK_INT(follow_and_send(1, 0, 100), BSHM_OK);
	CHECK(add_numbers(segment, "f", 1000, 2000) > 900);
	const uint64_t counted = unsent();
	CHECK(counted > 0);
	CHECK_INT(stat_of(segment).unsent, counted);
	CHECK_INT(absent(segment, "f", 1000, 2000), 0); /* they are in the filter all the same */
	CHECK_INT(take_letters().count, 1000 - counted);
	CHECK_INT(follow_and_send(2, 0, 100), BSHM_OK);
	CHECK_INT(unsent(), counted);
	CHECK_INT(load(segment, "f", 0, 100), BSHM_OK);
	CHECK_INT(unsent(), 0);
}

/* A filter that nobody follows any more must not take the room of all others. */
TEST(letters_of_filters_that_are_gone_make_room)
{
	begin(MB(1));
	bshm_origin o = origin(1);
	o.sends = true;
	CHECK_INT(follow_and_send(1, 0, 100), BSHM_OK);
	CHECK_INT(follow_as("gone", &growing, &o, 0, 100), BSHM_OK);
	CHECK(add_numbers(segment, "gone", 1000, 2000) > 900);
	CHECK_INT(add_number(segment, "f", 5000), 1);
	CHECK_INT(unsent(), 1);
	const uint64_t keys = stat_of(segment).outbox_keys;
	CHECK_INT(bshm_outbox_sweep(segment, &last_error), BSHM_OK);
	CHECK_INT(stat_of(segment).outbox_keys, keys);
	CHECK_INT(bshm_filter_drop(segment, "gone", 4, &last_error), 1);
	CHECK_INT(bshm_outbox_sweep(segment, &last_error), BSHM_OK);
	CHECK_INT(stat_of(segment).outbox_keys, 0);
	CHECK_INT(add_number(segment, "f", 5001), 1);
	CHECK_INT(bshm_outbox_sweep(segment, &last_error), BSHM_OK);
	CHECK_INT(take_letters().last, 5001);
}

/* ------------------------------------------------------------------ at once */

#define ROUNDS 3000

/*
 * Sets take turns: of a fresh one, which lacks the key, and of one that was stale when it was
 * published, which lacks it too. "No" may only come while the fresh one is in force.
 */
static void *ask_on(void *context)
{
	uint64_t *nos = context;
	const uint64_t number = 77;
	bshm_views *views = bshm_views_new();
	while (BSHM_LOAD(&test_words[0], ACQUIRE) != ROUNDS) {
		const uint64_t before = BSHM_LOAD(&test_words[0], ACQUIRE);
		const int answer =
			bshm_filter_has(segment, views, "f", 1, (const char *) &number, sizeof(number));
		const uint64_t after = BSHM_LOAD(&test_words[1], ACQUIRE);
		/* The stale set of round `before` was in force all the time. */
		if (answer == 0 && before == after && before % 2 == 1) {
			CHECK_INT(before, -1);
			break;
		}
		*nos += answer == 0;
	}
	bshm_views_free(views);
	return NULL;
}

THREAD_TEST(no_is_never_said_by_a_stale_set)
{
	begin(MB(1));
	CHECK_INT(follow("f", 0, 0, 10), BSHM_OK);
	pthread_t thread;
	uint64_t nos = 0;
	REQUIRE(pthread_create(&thread, NULL, ask_on, &nos) == 0);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		bshm_origin o = origin(i);
		o.heard_ns = i % 2 == 1 ? seconds_ago(61) : INT64_MAX;
		BSHM_STORE(&test_words[1], i, RELEASE); /* is being published */
		CHECK_INT(follow_as("f", &growing, &o, 0, 10), BSHM_OK);
		BSHM_STORE(&test_words[0], i, RELEASE); /* was */
		o.heard_ns = INT64_MAX;
		if (i % 2 == 0) {
			CHECK_INT(heard("f", &o), BSHM_OK);
		}
	}
	pthread_join(thread, NULL);
	CHECK(nos > 0);
}
