/*
 * test_find_threads.c - the record store between threads: whole values, and records that do not
 * vanish.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_store.h"

#include "platform/platform.h"

#include <pthread.h>

#define KEYS    64
#define STEADY  1000 /* from this number on: keys that are always there */
#define WRITERS 2

static bshm_segment *store;
static bshm_segment *attached[WRITERS];
static uint32_t stop;

static void *write_records(void *argument)
{
	bshm_segment *own = *(bshm_segment **) argument;
	uint64_t seed = (uint64_t) getpid() + (uint64_t) (uintptr_t) own;
	for (uint64_t serial = 1; BSHM_LOAD(&stop, RELAXED) == 0; serial++) {
		const uint32_t number = (uint32_t) (test_random(&seed) % KEYS);
		const uint32_t length = 16 + (uint32_t) (test_random(&seed) % (number < 8 ? 20000 : 200));
		if (test_random(&seed) % 8 == 0) {
			store_remove(own, number);
		} else {
			CHECK_INT(store_put(own, number, serial, length, 0, BSHM_PUT_SET), 1);
		}
		/* Replaced all the time, and never absent. */
		CHECK_INT(store_put(own, STEADY + number % 4, serial, length, 0, BSHM_PUT_SET), 1);
	}
	return NULL;
}

static void share(uint64_t bytes, uint64_t for_ns, bool steady)
{
	store = open_store(bytes, 0);
	for (uint32_t i = 0; i < 4; i++) {
		CHECK_INT(store_put(store, STEADY + i, 1, 100, 0, BSHM_PUT_SET), 1);
	}
	pthread_t writers[WRITERS];
	for (unsigned i = 0; i < WRITERS; i++) {
		attached[i] = attach_store();
		share_mapping(attached[i], store);
		REQUIRE(pthread_create(&writers[i], NULL, write_records, &attached[i]) == 0);
	}
	uint64_t seed = test_seed();
	uint64_t hits = 0;
	const uint64_t until = bshm_os_monotonic_ns() + for_ns;
	while (bshm_os_monotonic_ns() < until && !test_failed()) {
		uint64_t serial = 0;
		uint32_t length = 0;
		const uint32_t number = (uint32_t) (test_random(&seed) % KEYS);
		const int found = store_get(store, number, &serial, &length);
		CHECK(found == 0 || found == 1);
		const int always = store_get(store, STEADY + number % 4, &serial, &length);
		CHECK(always == 1 || (always == 0 && !steady));
		hits += found == 1;
	}
	BSHM_STORE(&stop, 1, RELAXED);
	for (unsigned i = 0; i < WRITERS; i++) {
		pthread_join(writers[i], NULL);
	}
	CHECK(hits > 0);
	bshm_store_info info;
	CHECK_INT(bshm_store_stat(store, &info), BSHM_OK);
	CHECK_INT(info.lock_timeouts, *test_refused); /* each is counted */
	check_sound(store);
}

THREAD_TEST(readers_see_whole_values_and_never_miss_a_replaced_one)
{
	share(MB(16), 2000000000, true);
}

/* So little memory that records are evicted and moved all the time. */
THREAD_TEST(readers_see_whole_values_while_records_are_moved)
{
	share(MB(1), 2000000000, false);
}
