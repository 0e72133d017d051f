/*
 * test_evict_streams.c - streams of requests: what the store misses, and what an LRU does.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_lru.h"
#include "test_store.h"

#include <math.h>

static lru same;
static lru quarter;

static double uniform(uint64_t *seed)
{
	return (double) (test_random(seed) >> 11) * 0x1p-53;
}

/* A mixture of popular keys, scans and new ones; misses of the store against LRU's. */
static void play(uint32_t capacity, double *store_misses, double *lru_misses)
{
	uint64_t seed = test_seed();
	bshm_segment *segment = open_store(MB(4), capacity);
	lru_begin(&same, capacity);
	lru_begin(&quarter, capacity / 4);
	uint32_t scan = 0;
	*store_misses = *lru_misses = 0;
	for (unsigned i = 0; i < 150000 && !test_failed(); i++) {
		const double u = uniform(&seed);
		uint32_t key = (uint32_t) (LRU_KEYS * pow(u, 4)); /* the small numbers are popular */
		if (i % 20000 > 17000) {
			key = scan++ % LRU_KEYS;
		}
		const bool hit = store_use(segment, key);
		const bool floor_hit = lru_use(&quarter, key);
		*lru_misses += !lru_use(&same, key);
		*store_misses += !hit;
		CHECK(hit || !floor_hit);
		if (!hit) {
			CHECK_INT(store_put(segment, key, i, 16, 0, BSHM_PUT_SET), 1);
			CHECK(store_has(segment, key));
			CHECK(records_of(segment) <= capacity);
		}
	}
	CHECK_INT(records_of(segment), capacity);
	check_sound(segment);
	bshm_segment_close(segment);
}

TEST(fewer_misses_than_lru_and_none_that_a_quarter_of_it_would_not_have)
{
	test_counts();
	static const uint32_t capacities[] = {100, 800, 4000};
	for (unsigned i = 0; i < 3; i++) {
		double store_misses;
		double lru_misses;
		play(capacities[i], &store_misses, &lru_misses);
		test_note("%u records: %.1f %% fewer misses than LRU", capacities[i],
			100 - 100 * store_misses / lru_misses);
		CHECK(store_misses <= lru_misses * 1.01);
	}
}

/* Keys that are polled: each is used USES times, and waits half as long or half longer than there
 * are keys; then a new one takes its place. */
#define POLLED 1000u
#define USES   20u
typedef struct {
	double due[POLLED];
	uint32_t key[POLLED];
	uint32_t left[POLLED];
	uint32_t keys;
	uint64_t seed;
} polls;

static void polls_begin(polls *p)
{
	p->seed = test_seed();
	p->keys = POLLED;
	for (uint32_t i = 0; i < POLLED; i++) {
		p->due[i] = (double) i;
		p->key[i] = i;
		p->left[i] = 1 + i % USES;
	}
}

/* *is_new: it was not used before. */
static uint32_t polls_next(polls *p, bool *is_new)
{
	uint32_t at = 0;
	for (uint32_t i = 1; i < POLLED; i++) {
		at = p->due[i] < p->due[at] ? i : at;
	}
	const uint32_t key = p->key[at];
	const double u = uniform(&p->seed);
	*is_new = p->left[at] == USES;
	p->due[at] += POLLED * (0.5 + u);
	if (--p->left[at] == 0) {
		p->key[at] = p->keys++;
		p->left[at] = USES;
	}
	return key;
}

/* All but a few of the records are in use: an LRU evicts the few that are not. */
TEST(where_an_lru_just_serves_a_stream_the_store_does)
{
	static polls p;
	const uint32_t capacity = POLLED * 103 / 100;
	bshm_segment *segment = open_store(MB(4), capacity);
	uint32_t lru_misses = 0;
	uint32_t misses = 0;
	bool is_new;
	polls_begin(&p);
	lru_begin(&same, capacity);
	for (uint32_t i = 0; i < 250000; i++) {
		const uint32_t key = polls_next(&p, &is_new);
		const bool hit = store_use(segment, key);
		const bool lru_hit = lru_use(&same, key);
		lru_misses += i > 50000 && !lru_hit;
		misses += i > 50000 && !hit;
		if (!hit) {
			CHECK_INT(store_put(segment, key, i, 16, 0, BSHM_PUT_SET), 1);
		}
	}
	test_note("%u misses; LRU %u", misses, lru_misses);
	CHECK(misses < lru_misses * 1.05);
	check_sound(segment);
}

/* Polled keys that all fit, and between them a loop that does not, and comes round after longer
 * than an LRU keeps a record: it must not take the room. */
TEST(a_long_loop_beside_keys_that_fit_takes_no_room)
{
	static polls p;
	const uint32_t capacity = POLLED * 143 / 100;
	bshm_segment *segment = open_store(MB(4), capacity);
	uint32_t lru_misses = 0;
	uint32_t misses = 0;
	uint32_t loop = 0;
	bool is_new;
	polls_begin(&p);
	lru_begin(&same, capacity);
	for (uint32_t i = 0; i < 300000; i++) {
		const uint32_t key = i % 5 == 0 ? 18000 + loop++ % 800 : polls_next(&p, &is_new);
		const bool hit = store_use(segment, key);
		const bool lru_hit = lru_use(&same, key);
		lru_misses += i > 100000 && !lru_hit;
		misses += i > 100000 && !hit;
		if (!hit) {
			CHECK_INT(store_put(segment, key, i, 16, 0, BSHM_PUT_SET), 1);
		}
	}
	test_note("%u misses; LRU %u", misses, lru_misses);
	CHECK(misses < lru_misses * 1.05);
	check_sound(segment);
}

/* Where memory is the limit, too: then a record in use is not evicted because it is large. The
 * values of all keys that are in use are 16 B to 16 kB, and take three quarters of the memory. */
TEST(a_large_record_in_use_is_kept_where_all_that_are_in_use_fit)
{
	static polls p;
	bshm_segment *segment = open_store(MB(4), 0);
	uint32_t returned = 0;
	bool is_new;
	polls_begin(&p);
	for (uint32_t i = 0; i < 200000; i++) {
		const uint32_t key = polls_next(&p, &is_new);
		if (!store_use(segment, key)) {
			const uint32_t length = 16u << (key * 2654435761u >> 16) % 11;
			returned += i > 100000 && !is_new;
			CHECK_INT(store_put(segment, key, i, length, 0, BSHM_PUT_SET), 1);
		}
	}
	test_note("%u of 100,000 were missed again", returned);
	CHECK(returned < 250);
	check_sound(segment);
}

/* Three loops take turns, each goes round one to three times. What the store learns from keys that
 * return must not keep the next loop out. By how much it misses more than an LRU, in percent, with
 * the worst of so many streams. */
static double loops_in_turn(uint32_t capacity, uint32_t turns, uint64_t streams)
{
	static const uint32_t lengths[] = {300, 900, 1500};
	double worst = -100;
	for (uint64_t stream = 0; stream < streams; stream++) {
		bshm_segment *segment = open_with_seed(MB(4), capacity);
		uint64_t seed = stream;
		uint32_t lru_misses = 0;
		uint32_t misses = 0;
		lru_begin(&same, capacity);
		for (uint32_t i = 0; i < turns; i++) {
			const uint32_t rounds = 1 + (uint32_t) (3 * uniform(&seed));
			for (uint32_t k = 0; k < rounds * lengths[i % 3]; k++) {
				const uint32_t key = i % 3 * 1500 + k % lengths[i % 3];
				lru_misses += !lru_use(&same, key);
				if (!store_use(segment, key)) {
					misses++;
					CHECK_INT(store_put(segment, key, i, 16, 0, BSHM_PUT_SET), 1);
				}
			}
		}
		const double more = 100.0 * misses / lru_misses - 100;
		worst = more > worst ? more : worst;
		bshm_segment_close(segment);
		unlink(test_path("segment"));
	}
	test_note("%u records: %.1f %% more misses than LRU at most", capacity, worst);
	return worst;
}

TEST(loops_that_take_turns_are_served_as_by_an_lru_or_better)
{
	CHECK(loops_in_turn(1755, 12, 8) < 10);
	CHECK(loops_in_turn(2430, 30, 4) < -5);
}

/* Of what returns soon after its eviction a part is protected, and stays: a loop that does not fit
 * has hits, whatever the seed of the hash. */
TEST(a_loop_just_larger_than_the_store_is_served_in_part)
{
	static const struct {
		uint32_t length;
		uint32_t hits; /* at least */
	} loops[] = {{1100, 30000}, {1100, 30000}, {1100, 30000}, {1300, 10000}, {1300, 10000}};
	for (uint32_t round = 0; round < 5; round++) {
		const uint32_t length = loops[round].length;
		bshm_segment *segment = open_store(MB(4), 1000);
		uint32_t hits = 0;
		for (uint32_t i = 0; i < 60000; i++) {
			const bool hit = store_use(segment, i % length);
			hits += hit;
			if (!hit) {
				CHECK_INT(store_put(segment, i % length, i, 16, 0, BSHM_PUT_SET), 1);
			}
		}
		test_note("a loop of %u: %u hits of 60,000; LRU has none", length, hits);
		CHECK(hits > loops[round].hits);
		check_sound(segment);
	}
}

/* A site whose pages all fit, of 100 bytes to 2 kB: each gets a new version after 15,000 requests.
 * Between them come small keys that are never asked for again, and large records of 4 to 40 kB. How
 * many pages and large records that were there are missed in the second half. Without the large
 * ones an LRU loses hardly one. */
static uint32_t pages_lost(bshm_segment *segment, uint32_t pages, uint32_t requests, double once,
	double of_large, bool at_once)
{
	enum {
		PAGES = 600,
		LIFE = 15000,
		LARGE = 32
	};
	static uint32_t known[PAGES];
	uint64_t seed = 88172645463325252u;
	uint64_t serial = 0;
	uint32_t length = 0;
	uint32_t lost = 0;
	memset(known, 0, sizeof(known));
	for (uint32_t i = 0; i < requests; i++) {
		if (uniform(&seed) < once) {
			if (store_get(segment, UINT32_MAX - i, &serial, &length) == 0) {
				CHECK_INT(store_put(segment, UINT32_MAX - i, 1, 40, 0, BSHM_PUT_SET), 1);
			}
			continue;
		}
		if (uniform(&seed) < of_large) {
			const uint32_t number = (uint32_t) (LARGE * pow(uniform(&seed), 2));
			if (store_get(segment, UINT32_MAX / 2 + number, &serial, &length) == 0) {
				lost += i > requests / 2;
				CHECK_INT(store_put(segment, UINT32_MAX / 2 + number, 1,
							  4000u + number * 7919u % 36000u, 0, BSHM_PUT_SET),
					1);
			}
			continue;
		}
		const uint32_t page = (uint32_t) pow(pages, uniform(&seed)) % pages; /* Zipf, 1 */
		const uint32_t phase = at_once ? 0 : page * (LIFE / pages);
		const uint32_t key = page + pages * (1 + (i + phase) / LIFE);
		if (store_get(segment, key, &serial, &length) == 0) {
			lost += known[page] == key && i > requests / 2;
			const uint32_t bytes = 100u << page * 2654435769u % 5000u / 1000u;
			CHECK_INT(store_put(segment, key, 1, bytes + page, 0, BSHM_PUT_SET), 1);
		}
		known[page] = key;
	}
	return lost;
}

static void check_lost(
	uint32_t pages, uint32_t requests, double once, double of_large, bool at_once, uint32_t most)
{
	test_counts();
	const uint32_t lost =
		pages_lost(open_store(MB(1), 0), pages, requests, once, of_large, at_once);
	test_note("%u lost", lost);
	CHECK(lost < most);
}

TEST(small_keys_that_come_once_do_not_take_the_room_of_pages)
{
	check_lost(500, 600000, 0.3, 0, false, 2000);
}

/* Large records beside them should not let the sizes count too much. */
TEST(large_records_beside_them_are_kept_too)
{
	check_lost(500, 400000, 0.3, 0.03, false, 12000);
}

/* A release: all keys are new at once. */
TEST(what_a_release_has_left_goes_first)
{
	check_lost(600, 120000, 0, 0, true, 85);
}

/* Sessions of 4 kB, each read 30 times, and not put again when they are lost; beside them smaller
 * pages that do not all fit. Sessions have a quarter of the memory, and an LRU loses none. */
TEST(sessions_stay_beside_smaller_pages)
{
	enum {
		LIVE = 70,
		READS = 30,
		PAGES = 2100,
		REQUESTS = 400000
	};
	static uint32_t name[LIVE];
	test_counts();
	bshm_segment *segment = open_store(MB(1), 0);
	uint64_t seed = 88172645463325252u;
	uint32_t names = 1u << 30;
	uint32_t reads = 0;
	uint32_t lost = 0;
	for (uint32_t i = 0; i < REQUESTS; i++) {
		if (uniform(&seed) < 0.5) {
			const uint32_t k = (uint32_t) (LIVE * uniform(&seed));
			if (name[k] == 0 || uniform(&seed) * READS < 1) {
				name[k] = ++names;
				CHECK_INT(store_put(segment, name[k], 1, 4000, 0, BSHM_PUT_SET), 1);
			} else {
				reads += i > REQUESTS / 2;
				lost += !store_use(segment, name[k]) && i > REQUESTS / 2;
			}
			continue;
		}
		const uint32_t page = (uint32_t) (PAGES * pow(uniform(&seed), 3));
		if (!store_use(segment, page)) {
			const uint32_t bytes = 300 + page * 2654435769u % 1700u;
			CHECK_INT(store_put(segment, page, 1, bytes, 0, BSHM_PUT_SET), 1);
		}
	}
	test_note("%u of %u reads lost", lost, reads);
	CHECK(lost < reads / 5);
}

typedef enum {
	BY_GET,
	BY_TOUCH,
	BY_REPLACE
} use;

/* Is the page there? */
static bool use_page(bshm_segment *segment, uint32_t page, use how)
{
	const uint64_t key_bytes = page;
	const bshm_key key = {(const char *) &key_bytes, 8};
	bshm_error error;
	return how == BY_GET     ? store_use(segment, page)
		   : how == BY_TOUCH ? bshm_record_touch(segment, &key, 0, &error) == 1
							 : store_put(segment, page, 1, 4000, 0, BSHM_PUT_REPLACE) == 1;
}

/* Small records that are asked for twice, the second time too late for an LRU and for any store.
 * Pages of 4 kB beside them, in a circle, have three quarters of the memory: an LRU loses none.
 * Which share of them is lost, in the second half? */
static double circle_lost(use how)
{
	enum {
		PAGES = 190,
		LATE = 8000,
		REQUESTS = 400000
	};
	bshm_segment *segment = open_store(MB(1), 0);
	uint64_t seed = 88172645463325252u;
	uint32_t page = 0;
	uint32_t lost = 0;
	uint32_t asked = 0;
	for (uint32_t i = 0; i < REQUESTS; i++) {
		if (uniform(&seed) < 0.23) {
			page = (page + 1) % PAGES;
			if (!use_page(segment, page, how)) {
				lost += i > REQUESTS / 2;
				CHECK_INT(store_put(segment, page, 1, 4000, 0, BSHM_PUT_SET), 1);
			}
			continue;
		}
		const uint32_t back = LATE / 2 + (uint32_t) (LATE / 2 * uniform(&seed));
		const bool again = ++asked % 2 == 0 && asked > LATE;
		const uint32_t key = (1u << 30) + (again ? asked - back / 2 * 2 - 1 : asked);
		if (!store_use(segment, key)) {
			CHECK_INT(store_put(segment, key, 1, 100, 0, BSHM_PUT_SET), 1);
		}
	}
	bshm_segment_close(segment);
	return lost / (0.23 * REQUESTS / 2);
}

TEST(what_returns_too_late_does_not_take_the_room_of_pages)
{
	test_counts();
	for (use how = BY_GET; how <= BY_REPLACE; how++) {
		const double lost = circle_lost(how);
		test_note("%.2f %% lost", 100 * lost);
		CHECK(lost < 0.02);
	}
}

/* Pages of 8 to 40 kB, of which some are popular, and each is replaced by another one in time;
 * beside them keys of a few bytes that come once. These last the longer the more the size of a
 * record counts, and then are most of the store. */
TEST(tiny_records_that_come_once_do_not_take_the_room_of_pages)
{
	enum {
		PAGES = 100,
		TINY = 12 + 8,
		BYTES = 1920000, /* of keys and values, which the store has at the end */
		REQUESTS = 400000
	};
	test_counts();
	bshm_segment *segment = open_store(MB(2), 0);
	uint64_t seed = 88172645463325252u;
	static uint32_t used[PAGES];
	static uint32_t name[PAGES];
	double store_misses = 0;
	double lru_misses = 0;
	for (uint32_t i = 0; i < REQUESTS; i++) {
		if (i % 2 == 0) {
			CHECK_INT(store_put(segment, (1u << 30) + i, 1, TINY - 8, 0, BSHM_PUT_SET), 1);
			continue;
		}
		const uint32_t page = (uint32_t) (PAGES * pow(uniform(&seed), 2));
		if (uniform(&seed) < 0.01) {
			name[page] += PAGES;
			used[page] = 0;
		}
		double younger = TINY * (i - used[page]) / 2.0; /* bytes of what was used since */
		for (uint32_t k = 0; k < PAGES; k++) {
			younger += used[k] > used[page] ? 8008 + k * 320 : 0;
		}
		const bool counts = i > REQUESTS / 2;
		lru_misses += counts && (used[page] == 0 || younger + 8008 + page * 320 > BYTES);
		used[page] = i;
		if (!store_use(segment, name[page] + page)) {
			store_misses += counts;
			CHECK_INT(
				store_put(segment, name[page] + page, 1, 8000 + page * 320, 0, BSHM_PUT_SET), 1);
		}
	}
	test_note("%.1f %% fewer misses than LRU", 100 - 100 * store_misses / lru_misses);
	CHECK(store_misses <= lru_misses * 1.05); /* more than twice as many once */
}

/* Keys that all fit: nothing is evicted, and ages grow. Then all are renamed, and the old ones have
 * to go: those that were used late in the calm do not stay for it. */
TEST(a_long_calm_does_not_favour_what_was_used_in_it)
{
	enum {
		KEYS = 1200,
		CALM = 200000
	};
	test_counts();
	bshm_segment *segment = open_store(MB(4), 1500);
	uint64_t seed = 88172645463325252u;
	static uint8_t known[6 * KEYS];
	uint32_t lost = 0;
	memset(known, 0, sizeof(known));
	for (uint32_t i = 0; i < 6 * CALM; i++) {
		const uint32_t release = i / CALM;
		const uint32_t key = release * KEYS + (uint32_t) (KEYS * pow(uniform(&seed), 3));
		if (!store_use(segment, key)) {
			lost += known[key];
			known[key] = 1;
			CHECK_INT(store_put(segment, key, 1, 16, 0, BSHM_PUT_SET), 1);
		}
	}
	test_note("%u lost", lost);
	CHECK(lost < KEYS / 20);
}

/* By day popular keys, at night a job that goes five times over other ones. After it they are not
 * used again until the next night, and have to go. */
typedef struct {
	uint32_t capacity; /* of records; 0: a memory of 1 MB */
	uint32_t popular;  /* keys of the day */
	double power;      /* how popular: the exponent of Zipf's law, without its steps */
	uint32_t day;      /* requests */
	uint32_t batch;    /* keys of the night */
	uint32_t bytes;    /* of each value of the day */
	uint32_t batch_bytes;
	double most; /* misses, for each of an LRU */
} nights;

enum {
	NIGHTS = 6
};

static uint32_t key_of(const nights *n, uint32_t request, uint64_t *seed)
{
	const double most = pow(n->popular, 1 - n->power) - 1;
	const double rank = pow(1 + uniform(seed) * most, 1 / (1 - n->power)) - 1;
	const uint32_t hour = request % (n->day + 5 * n->batch);
	return hour < n->day ? (uint32_t) rank % n->popular : n->popular + (hour - n->day) % n->batch;
}

/* How many are missed, and what is stored on average, as an LRU counts it. */
static double play_nights(const nights *n, uint64_t seed, uint32_t *stored)
{
	const uint32_t both = n->day + 5 * n->batch;
	bshm_segment *segment = open_store(n->capacity == 0 ? MB(1) : MB(4), n->capacity);
	double misses = 0;
	double bytes = 0;
	for (uint32_t i = 0; i < NIGHTS * both; i++) {
		const uint32_t key = key_of(n, i, &seed);
		if (!store_use(segment, key)) {
			misses++;
			const uint32_t length = key < n->popular ? n->bytes : n->batch_bytes;
			CHECK_INT(store_put(segment, key, 1, length, 0, BSHM_PUT_SET), 1);
		}
		bytes += (double) bshm__shard_at(segment, 0).shard->data_bytes;
	}
	*stored = n->capacity != 0 ? n->capacity : (uint32_t) (bytes / NIGHTS / both);
	check_sound(segment);
	bshm_segment_close(segment);
	unlink(test_path("segment"));
	return misses;
}

static double lru_nights(const nights *n, uint64_t seed, uint32_t capacity)
{
	double misses = 0;
	lru_begin(&same, capacity);
	for (uint32_t i = 0; i < NIGHTS * (n->day + 5 * n->batch); i++) {
		const uint32_t key = key_of(n, i, &seed);
		const uint32_t length = key < n->popular ? n->bytes : n->batch_bytes;
		misses += !lru_use_sized(&same, key, n->capacity != 0 ? 1 : length + 8);
	}
	return misses;
}

/* The first: 1.05 to 1.08 where FREQUENT records stay as ever. The second: 1.22 to 1.29 where all
 * that return draw the lean on. The last: 1.08 to 1.09 where sizes count whatever it costs. */
TEST(a_nightly_batch_does_not_take_the_room_of_the_day)
{
	test_counts();
	static const nights cases[] = {{4000, 16000, 0.9, 40000, 2000, 16, 16, 1.05},
		{4000, 2400, 0.5, 40000, 2000, 16, 16, 1.05}, {0, 4366, 0.5, 72000, 1278, 100, 500, 1.03}};
	uint64_t seed = test_seed();
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double misses = 0;
		double lru_misses = 0;
		for (uint32_t k = 0; k < 3; k++, seed++) {
			uint32_t stored;
			misses += play_nights(&cases[i], seed, &stored);
			lru_misses += lru_nights(&cases[i], seed, stored);
		}
		test_note("%.1f %% fewer misses than LRU", 100 - 100 * misses / lru_misses);
		CHECK(misses < lru_misses * cases[i].most);
	}
}

static double misses_where_sizes_differ_by_little(uint64_t *seed)
{
	enum {
		KEYS = 5000,
		REQUESTS = 600000
	};
	bshm_segment *segment = open_store(MB(4), 0);
	double misses = 0;
	double lru_misses = 0;
	lru_begin(&same, MB(4) / 100 * 97);
	for (uint32_t i = 0; i < REQUESTS; i++) {
		const double rank = pow(1 + uniform(seed) * (pow(KEYS, 0.4) - 1), 1 / 0.4) - 1;
		const uint32_t key = (uint32_t) rank % KEYS;
		const uint32_t length = 500 << key * 2654435761u % 3;
		const bool counts = i > REQUESTS / 2;
		lru_misses += !lru_use_sized(&same, key, length + 30) && counts;
		if (!store_use(segment, key)) {
			misses += counts;
			CHECK_INT(store_put(segment, key, 1, length, 0, BSHM_PUT_SET), 1);
		}
	}
	bshm_segment_close(segment);
	return misses / lru_misses;
}

/* Popular keys, and sizes that do not differ by much: to weigh them serves a fifth more than an LRU
 * does, whatever was lost before that was learnt. By chance one store in some hundred stays an LRU:
 * so it is two of three. */
TEST(sizes_count_where_they_differ_by_little)
{
	uint32_t fewer = 0;
	uint64_t seed = test_seed();
	test_counts();
	for (uint32_t store = 0; store < 3 && fewer < 2; store++) {
		const double of_lru = misses_where_sizes_differ_by_little(&seed);
		test_note("%.1f %% fewer misses than LRU", 100 - 100 * of_lru);
		fewer += of_lru < 0.9; /* 1.06 where half an octave is asked of each gain */
	}
	CHECK_INT(fewer, 2);
}

/* Two loops that take turns, and each fits: what the day has once and a half, the night has six
 * times, in larger records. Those must not stay by day: 1.4 where the lean counts whatever it
 * costs. */
TEST(what_goes_round_by_night_does_not_take_the_room_by_day)
{
	enum {
		SMALL = 5100,
		LARGE = 1090,
		HALF = 7300,
		DAYS = 30
	};
	test_counts();
	bshm_segment *segment = open_store(MB(4), 0);
	double misses = 0;
	double lru_misses = 0;
	uint32_t round[2] = {0, 0};
	lru_begin(&same, MB(4) / 100 * 93);
	for (uint32_t i = 0; i < 2 * HALF * DAYS; i++) {
		const uint32_t night = i / HALF % 2;
		const uint32_t key = night == 0 ? round[0]++ % SMALL : SMALL + round[1]++ % LARGE;
		const uint32_t length = night == 0 ? 500 : 3000;
		lru_misses += !lru_use_sized(&same, key, length + 34);
		if (!store_use(segment, key)) {
			misses++;
			CHECK_INT(store_put(segment, key, 1, length, 0, BSHM_PUT_SET), 1);
		}
	}
	test_note("%.1f %% fewer misses than LRU", 100 - 100 * misses / lru_misses);
	CHECK(misses < lru_misses * 1.06);
	check_sound(segment);
}
