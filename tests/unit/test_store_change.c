/*
 * test_store_change.c - changes that read what stands, of one record by many processes at once: none is lost,
 * and nobody is kept out by the others.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_store.h"

#define WORKERS 6u
#define CALLS   4000u

static bshm_segment *segment;
static const bshm_key log_key = {"log", 3};
static const bshm_key none = {"", 0};

/* Values long enough that copying them takes a while. */
static void append(void)
{
	bshm_segment *own = attach_store();
	const bshm_key suffix = {"0123456789", 10};
	bshm_error error;
	uint64_t length;
	for (unsigned i = 0; i < CALLS && !test_failed(); i++) {
		CHECK_INT(bshm_record_append(own, &log_key, &suffix, &none, &length, &error), BSHM_OK);
	}
}

TEST(all_who_append_to_one_record_get_through)
{
	segment = open_store(MB(16), 0);
	pid_t children[WORKERS];
	for (unsigned i = 0; i < WORKERS; i++) {
		children[i] = spawn(append);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		CHECK_INT(finish(children[i]), 0);
	}
	bshm_found found;
	CHECK_INT(bshm_record_find(segment, BSHM_SPACE_CACHE, &log_key, 0, &found), 1);
	CHECK_INT(found.length, WORKERS * CALLS * 10);
	check_sound(segment);
}

/* Each touch puts it anew, for it has no place for a time; each set takes that place away. */
static void touch(void)
{
	bshm_segment *own = attach_store();
	const bshm_put put = {.key = log_key, .value = {BSHM_VALUE_STRING, "0123456789", 10}};
	bshm_error error;
	for (unsigned i = 0; i < CALLS && !test_failed(); i++) {
		CHECK_INT(bshm_record_touch(own, &log_key, 100, &error), 1);
		CHECK_INT(bshm_record_put(own, &put, &error), 1);
	}
}

TEST(all_who_touch_one_record_get_through)
{
	segment = open_store(MB(1), 0);
	const bshm_put put = {.key = log_key, .value = {BSHM_VALUE_STRING, "0123456789", 10}};
	bshm_error error;
	REQUIRE(bshm_record_put(segment, &put, &error) == 1);
	pid_t children[WORKERS];
	for (unsigned i = 0; i < WORKERS; i++) {
		children[i] = spawn(touch);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		CHECK_INT(finish(children[i]), 0);
	}
	check_sound(segment);
}
