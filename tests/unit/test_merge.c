/*
 * test_merge.c - unions of filters: what can be united, what is in the result, who interferes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_step.h"

#include <string.h>

static bshm_segment *segment;

/* A filter of `keys` keys, with the seed that all share. */
static void make(
	const char *name, uint64_t capacity, uint32_t expansion, uint64_t from, uint64_t to)
{
	bshm_parameters p = parameters(0.01, capacity, expansion);
	p.seed = "seed";
	p.seed_length = 4;
	REQUIRE(bshm_filter_reserve(segment, name, strlen(name), &p, &last_error) == 1);
	REQUIRE(add_numbers(segment, name, from, to) >= 0);
}

static bshm_status merge(const char *into, const char *a, const char *b)
{
	const bshm_key from[] = {{a, strlen(a)}, {b, b == NULL ? 0 : strlen(b)}};
	return bshm_filter_merge(segment, into, strlen(into), from, b == NULL ? 1 : 2, &last_error);
}

TEST(a_union_has_the_keys_of_all)
{
	segment = open_segment(MB(4));
	make("a", 50000, 0, 0, 20000);
	make("b", 50000, 0, 10000, 30000);
	make("c", 50000, 0, 30000, 40000);
	CHECK_INT(merge("new", "a", "b"), BSHM_OK);
	CHECK_INT(absent(segment, "new", 0, 30000), 0);
	CHECK(absent(segment, "new", 30000, 40000) > 9900);
	CHECK_INT(merge("c", "a", "b"), BSHM_OK);
	CHECK_INT(absent(segment, "c", 0, 40000), 0);
	const uint64_t items = info_of(segment, "c").items;
	CHECK(items > 39200 && items < 40800);
	CHECK_INT(absent(segment, "a", 0, 20000), 0);
	CHECK(absent(segment, "a", 20000, 40000) > 19900);
	CHECK_INT(faults(segment), 0);
}

TEST(a_union_with_itself_changes_nothing)
{
	segment = open_segment(MB(4));
	make("a", 50000, 0, 0, 20000);
	const uint64_t generation = info_of(segment, "a").generation;
	CHECK_INT(merge("a", "a", NULL), BSHM_OK);
	CHECK_INT(merge("a", "a", "a"), BSHM_OK);
	CHECK_INT(bshm_filter_merge(segment, "a", 1, NULL, 0, &last_error), BSHM_OK);
	CHECK_INT(info_of(segment, "a").generation, generation);
	CHECK_INT(merge("missing", "missing", NULL), BSHM_E_NOT_FOUND);
	CHECK_INT(bshm_filter_merge(segment, "missing", 7, NULL, 0, &last_error), BSHM_E_NOT_FOUND);
}

static void expect_refused(const char *into, const char *other, bshm_cause cause, uint32_t which)
{
	const bshm_info before = info_of(segment, into);
	CHECK_INT(merge(into, "good", other), BSHM_E_INCOMPATIBLE);
	CHECK(last_error.cause == cause);
	CHECK_INT(last_error.source, which);
	CHECK_INT(info_of(segment, into).generation, before.generation);
}

TEST(what_does_not_fit_is_refused)
{
	segment = open_segment(MB(4));
	make("a", 20000, 0, 0, 10);
	make("good", 20000, 0, 0, 10);
	make("larger", 40000, 0, 0, 10);
	REQUIRE(reserve(segment, "other-seed", 20000, 0.01) == 1);
	REQUIRE(reserve(segment, "other-rate", 20000, 0.001) == 1);
	make("grows", 20000, 2, 0, 10);
	bshm_parameters p = parameters(0.01, 5000, 0);
	p.seed = "seed";
	p.seed_length = 4;
	p.counting = true;
	REQUIRE(bshm_filter_reserve(segment, "counts", 6, &p, &last_error) == 1);
	expect_refused("a", "larger", BSHM_CAUSE_GEOMETRY, 2);
	expect_refused("a", "other-seed", BSHM_CAUSE_SEED, 2);
	expect_refused("a", "other-rate", BSHM_CAUSE_GEOMETRY, 2);
	expect_refused("a", "grows", BSHM_CAUSE_KIND, 2);
	expect_refused("a", "counts", BSHM_CAUSE_KIND, 2);
	CHECK_INT(merge("a", "good", "missing"), BSHM_E_NOT_FOUND);
	CHECK_INT(last_error.source, 2);
	CHECK_INT(faults(segment), 0);
	CHECK_INT(stat_of(segment).filters, 7);
}

TEST(of_two_that_have_grown_one_may_have_more_layers)
{
	segment = open_segment(MB(8));
	make("a", 100, 2, 0, 100000);
	make("b", 100, 2, 200000, 210000);
	CHECK(info_of(segment, "a").layer_count > info_of(segment, "b").layer_count);
	CHECK_INT(merge("u", "a", "b"), BSHM_OK);
	CHECK_INT(merge("b", "a", NULL), BSHM_OK);
	const char *const names[] = {"u", "b"};
	for (int i = 0; i < 2; i++) {
		CHECK_INT(absent(segment, names[i], 0, 100000), 0);
		CHECK_INT(absent(segment, names[i], 200000, 210000), 0);
		const bshm_info info = info_of(segment, names[i]);
		CHECK_INT(info.layer_count, info_of(segment, "a").layer_count);
		CHECK(info.items > 107000 && info.items < 113000);
		CHECK(add_numbers(segment, names[i], 500000, 700000) > 190000);
		CHECK_INT(absent(segment, names[i], 500000, 700000), 0);
	}
	CHECK_INT(faults(segment), 0);
}

TEST(a_union_that_does_not_fit_changes_nothing)
{
	segment = open_segment(MB(1));
	make("a", 300000, 0, 0, 10);
	make("b", 300000, 0, 10, 20);
	CHECK_INT(merge("a", "b", NULL), BSHM_E_NO_SPACE);
	CHECK_INT(absent(segment, "a", 0, 10), 0);
	CHECK_INT(absent(segment, "a", 10, 20), 10);
	CHECK_INT(faults(segment), 0);
}

static void add_to_the_target(void)
{
	raise_flag(0);
	for (uint64_t i = 0; i < 20000; i++) {
		REQUIRE(add_number(segment, "a", 1000000 + i) >= 0);
	}
}

TEST(what_is_added_to_the_target_meanwhile_is_in_it)
{
	segment = open_segment(MB(16));
	make("a", 100000, 0, 0, 1000);
	make("b", 100000, 0, 1000, 2000);
	const pid_t child = spawn(add_to_the_target);
	await_flag(0);
	for (int i = 0; i < 200; i++) {
		const bshm_status status = merge("a", "b", NULL);
		CHECK(status == BSHM_OK || status == BSHM_E_NO_SPACE); /* the journal is full */
	}
	CHECK_INT(finish(child), 0);
	CHECK_INT(absent(segment, "a", 0, 2000), 0);
	CHECK_INT(absent(segment, "a", 1000000, 1020000), 0);
	CHECK_INT(faults(segment), 0);
}

/* ------------------------------------------------------------------ others meanwhile */

static void do_nothing(void)
{
}

static void merge_a_into_u(void)
{
	test_words[1] = (uint64_t) merge("u", "a", NULL);
}

static bool is_building(void)
{
	return BSHM_LOAD(&segment->ops[0].owner, SEQ_CST) != 0 && segment->ops[0].run.count != 0 &&
		   BSHM_LOAD(&segment->header->lock, SEQ_CST) == 0;
}

/* A union of a and u that has its partitions, and has yet to read what it unites. */
static pid_t stopped_union(void)
{
	pid_t child;
	bool over;
	prepare = do_nothing;
	call = merge_a_into_u;
	stop_after(0, &child, &over);
	while (!is_building()) {
		REQUIRE(step(child));
	}
	return child;
}

static void let_end(pid_t child)
{
	int status;
	REQUIRE(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
	CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status)); /* at the end of its call */
	CHECK_INT(test_words[MARK], 2);
	kill_child(child);
	CHECK_INT(test_words[1], BSHM_OK);
}

TEST(a_union_of_the_same_target_that_came_first_is_in_it)
{
	test_slow();
	segment = open_segment(MB(4));
	make("a", 20000, 0, 0, 1000);
	make("b", 20000, 0, 1000, 2000);
	make("u", 20000, 0, 2000, 3000);
	const pid_t child = stopped_union();
	CHECK_INT(merge("u", "b", NULL), BSHM_OK);
	CHECK(add_numbers(segment, "u", 3000, 4000) >= 0);
	let_end(child);
	CHECK_INT(absent(segment, "u", 0, 4000), 0);
	CHECK_INT(faults(segment), 0);
}

/* Adds that met no filter are kept by who makes one, however often it begins again. */
TEST(what_was_added_before_there_was_a_target_is_in_it)
{
	test_slow();
	for (int counting = 0; counting <= 1; counting++) {
		segment = open_segment(MB(4));
		bshm_parameters p = parameters(0.01, 20000, 0);
		p.seed = "seed";
		p.seed_length = 4;
		p.counting = counting;
		REQUIRE(bshm_filter_reserve(segment, "a", 1, &p, &last_error) == 1);
		const pid_t child = stopped_union();
		CHECK_INT(add_number(segment, "u", 5000), BSHM_E_NOT_FOUND);
		CHECK_INT(bshm_filter_reserve(segment, "u", 1, &p, &last_error), 1);
		let_end(child);
		CHECK_INT(has_number(segment, "u", 5000), 1);
		CHECK_INT(faults(segment), 0);
		CHECK_INT(drop(segment, "u"), 1);
		CHECK_INT(drop(segment, "a"), 1);
	}
}

static void replace_a_source(void)
{
	for (uint64_t i = 0;; i++) {
		bshm_parameters p = parameters(0.01, 20000 + i % 2 * 20000, 0);
		p.seed = "seed";
		p.seed_length = 4;
		bshm_build *build;
		REQUIRE(bshm_build_begin(segment, "b", 1, &p, &build, &last_error) == BSHM_OK);
		REQUIRE(offer(build, 0, 1000) == BSHM_OK);
		REQUIRE(publish(build, NULL) == BSHM_OK);
		raise_flag(0);
	}
}

/* Of two sizes, one of which fits: it is united, refused, or it kept changing; never half of it. */
TEST(a_source_may_be_replaced_meanwhile)
{
	segment = open_segment(MB(16));
	make("a", 20000, 0, 5000, 6000);
	make("b", 20000, 0, 0, 1000);
	const pid_t child = spawn(replace_a_source);
	await_flag(0);
	for (int i = 0; i < 100; i++) {
		const bshm_status status = merge("u", "a", "b");
		CHECK(status == BSHM_OK || status == BSHM_E_INCOMPATIBLE || status == BSHM_E_TIMEOUT);
		if (status == BSHM_OK) {
			CHECK_INT(absent(segment, "u", 0, 1000), 0);
			CHECK_INT(absent(segment, "u", 5000, 6000), 0);
		}
	}
	kill_child(child);
	CHECK_INT(faults(segment), 0);
}
