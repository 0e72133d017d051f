/*
 * test_outbox.c - keys of adds that other hosts are to be told of.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "core/segment/name.h"
#include "core/segment/outbox.h"
#include "platform/platform.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A segment of 1 MB has 16 pages of letters: 8 of 64, 4 of 8, 4 of 1. */
#define LETTERS   (8 * 64 + 4 * 8 + 4)
#define KEYS_MAX  4096
#define WRITERS   4
#define KEYS_EACH 3000
#define KILLS     30
#define KEYS_TOLD (WRITERS * KEYS_EACH)

static bshm_segment *segment;

static bool put_bytes(const char *filter, const char *bytes, size_t length)
{
	const bshm__name name = bshm__name_of(filter, strlen(filter));
	return bshm__outbox_put(segment, &name, &(bshm_key){bytes, length});
}

static bool put(const char *filter, const char *key)
{
	return put_bytes(filter, key, strlen(key));
}

/* What a reading told of. */
typedef struct {
	size_t count;
	bshm_outbox_letter letters[KEYS_MAX];
	uint64_t names[KEYS_MAX];
	size_t lengths[KEYS_MAX];
	char last[BSHM_OUTBOX_KEY_MAX];
} reading;

static void note(
	void *context, const bshm_outbox_letter *letter, uint64_t name, const bshm_key *key)
{
	reading *r = context;
	REQUIRE(r->count < KEYS_MAX);
	r->letters[r->count] = *letter;
	r->names[r->count] = name;
	r->lengths[r->count++] = key->length;
	memcpy(r->last, key->bytes, key->length);
}

static reading *read_outbox(bool all)
{
	static reading r;
	r.count = 0;
	bshm_outbox_read(segment, all, note, &r);
	return &r;
}

TEST(a_key_is_told_until_it_is_freed)
{
	segment = open_segment(MB(1));
	CHECK(put("tags", "cat"));
	reading *r = read_outbox(false);
	REQUIRE(r->count == 1);
	CHECK(r->names[0] == bshm_outbox_name(segment, "tags", 4));
	CHECK(r->names[0] != bshm_outbox_name(segment, "tag", 3));
	CHECK(r->lengths[0] == 3 && memcmp(r->last, "cat", 3) == 0);
	CHECK_INT(read_outbox(false)->count, 0); /* nothing new */
	r = read_outbox(true);
	REQUIRE(r->count == 1);
	bshm_outbox_free(segment, r->letters, 1);
	CHECK_INT(read_outbox(true)->count, 0);
}

TEST(keys_of_each_length_come_back)
{
	char key[BSHM_OUTBOX_KEY_MAX + 1];
	for (size_t i = 0; i < sizeof(key); i++) {
		key[i] = (char) (i * 7 + i / 256);
	}
	segment = open_segment(MB(1));
	for (size_t length = 0; length <= BSHM_OUTBOX_KEY_MAX; length++) {
		REQUIRE(put_bytes("tags", key, length));
		reading *r = read_outbox(false);
		REQUIRE(r->count == 1 && r->lengths[0] == length && memcmp(r->last, key, length) == 0);
		bshm_outbox_free(segment, r->letters, 1);
	}
	CHECK(!put_bytes("tags", key, BSHM_OUTBOX_KEY_MAX + 1));
	CHECK_INT(read_outbox(true)->count, 0);
}

static bshm_stat outbox_stat(void)
{
	bshm_stat stat;
	REQUIRE(bshm_segment_stat(segment, &stat, &(bshm_error){0}) == BSHM_OK);
	return stat;
}

TEST(what_lies_there_is_counted)
{
	char key[500];
	memset(key, 'k', sizeof(key));
	segment = open_segment(MB(1));
	bshm_stat stat = outbox_stat();
	CHECK_INT(stat.outbox_bytes, 16 * BSHM_PAGE_BYTES);
	CHECK_INT(stat.outbox_bytes_free, stat.outbox_bytes);
	CHECK_INT(stat.outbox_keys, 0);
	CHECK(put("tags", "cat") && put_bytes("tags", key, 100) && put_bytes("tags", key, 500));
	stat = outbox_stat();
	CHECK_INT(stat.outbox_keys, 3);
	CHECK_INT(stat.outbox_bytes_free, stat.outbox_bytes - 64 - 512 - 4096);
	const reading *r = read_outbox(true);
	bshm_outbox_free(segment, r->letters, r->count);
	CHECK_INT(outbox_stat().outbox_bytes_free, stat.outbox_bytes);
	segment->outbox = NULL;
	CHECK_INT(outbox_stat().outbox_bytes, 0);
}

TEST(a_full_outbox_refuses_and_has_room_again)
{
	segment = open_segment(MB(1));
	for (int round = 0; round < 3; round++) {
		size_t count = 0;
		while (put("tags", numbered("key", count))) {
			count++;
		}
		/* Nearly full counts as full: a writer looks at 64 letters of a size. */
		CHECK(count <= LETTERS && count > LETTERS / 2);
		reading *r = read_outbox(false);
		CHECK_INT(r->count, count);
		bshm_outbox_free(segment, r->letters, r->count);
	}
	CHECK_INT(read_outbox(true)->count, 0);
}

TEST(a_reader_does_not_free_a_later_key)
{
	segment = open_segment(MB(1));
	CHECK(put("tags", "cat"));
	const bshm_outbox_letter first = read_outbox(false)->letters[0];
	bshm_outbox_free(segment, &first, 1);
	/* Until a key lies in the same letter. */
	bool same = false;
	for (int i = 0; i < 100000 && !same; i++) {
		REQUIRE(put("tags", "dog"));
		const bshm_outbox_letter letter = read_outbox(false)->letters[0];
		same = letter.place == first.place;
		if (!same) {
			bshm_outbox_free(segment, &letter, 1);
		}
	}
	REQUIRE(same);
	bshm_outbox_free(segment, &first, 1);
	CHECK_INT(read_outbox(true)->count, 1);
}

/* As a process that was stopped, or killed, while it wrote. */
static bshm_letter *any_letter(void)
{
	return (bshm_letter *) (void *) (segment->outbox + 1);
}

static void attach_and_wait(void)
{
	REQUIRE(put("tags", "cat"));
	BSHM_STORE(&test_words[0], segment->owner, RELEASE);
	raise_flag_and_sleep(0);
}

TEST(what_a_dead_writer_began_is_free_again)
{
	segment = open_segment(MB(1));
	const pid_t child = spawn(attach_and_wait);
	await_flag(0);
	BSHM_STORE(&any_letter()->state, test_words[0], RELAXED);
	read_outbox(true);
	CHECK(any_letter()->state == test_words[0]); /* it lives */
	kill_child(child);
	reading *r = read_outbox(true);
	CHECK_INT(any_letter()->state, 0);
	CHECK_INT(r->count, 1); /* the key that it did put */
}

TEST(damage_is_read_without_harm)
{
	uint64_t random = test_seed();
	segment = open_segment(MB(1));
	uint64_t *words = (uint64_t *) (void *) segment->outbox;
	const size_t count = (sizeof(bshm_outbox) + 16 * BSHM_PAGE_BYTES) / sizeof(uint64_t);
	for (int round = 0; round < 50; round++) {
		for (size_t i = 0; i < count; i++) {
			words[i] = test_random(&random);
			if (test_random(&random) % 2 == 0) {
				words[i] |= BSHM_LETTER_READY;
			}
		}
		reading *r = read_outbox(true);
		bshm_outbox_free(segment, r->letters, r->count);
		put("tags", "cat");
	}
	memset(words, 0, count * sizeof(uint64_t));
	CHECK(put("tags", "cat"));
	CHECK_INT(read_outbox(true)->count, 1);
}

/* ------------------------------------------------------------------ many at once */

/* Which numbered keys were told of, to any process of the test. */
static uint8_t *told;

static void open_with_told(void)
{
	segment = open_segment(MB(1));
	told = mmap(NULL, KEYS_TOLD, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	REQUIRE(told != MAP_FAILED);
}

static void mark_told(
	void *context, const bshm_outbox_letter *letter, uint64_t name, const bshm_key *key)
{
	uint32_t number;
	REQUIRE(key->length >= sizeof(number));
	memcpy(&number, key->bytes, sizeof(number));
	REQUIRE(number < KEYS_TOLD);
	for (size_t i = sizeof(number); i < key->length; i++) {
		REQUIRE(key->bytes[i] == (char) number);
	}
	CHECK(name == bshm_outbox_name(segment, "tags", 4));
	BSHM_STORE(&told[number], 1, RELAXED);
	note(context, letter, name, key);
}

static size_t pass_on(bool all)
{
	static reading r;
	r.count = 0;
	bshm_outbox_read(segment, all, mark_told, &r);
	bshm_outbox_free(segment, r.letters, r.count);
	return r.count;
}

/* Keys of different lengths, each full of its number. */
static bool put_number(uint32_t number)
{
	char key[600];
	memset(key, (int) number, sizeof(key));
	memcpy(key, &number, sizeof(number));
	return put_bytes("tags", key, sizeof(number) + number % 7 * 90);
}

static void *write_keys(void *argument)
{
	const uint32_t first = (uint32_t) (uintptr_t) argument;
	for (uint32_t i = first; i < first + KEYS_EACH; i++) {
		while (!put_number(i)) {
			bshm_os_yield();
		}
	}
	BSHM_ADD(&test_words[1], 1, RELEASE);
	return NULL;
}

static uint64_t untold(uint64_t count)
{
	uint64_t missing = 0;
	for (uint64_t i = 0; i < count; i++) {
		missing += BSHM_LOAD(&told[i], RELAXED) == 0;
	}
	return missing;
}

THREAD_TEST(no_key_of_several_writers_is_lost)
{
	open_with_told();
	pthread_t threads[WRITERS];
	for (uintptr_t i = 0; i < WRITERS; i++) {
		pthread_create(&threads[i], NULL, write_keys, (void *) (i * KEYS_EACH));
	}
	while (BSHM_LOAD(&test_words[1], ACQUIRE) < WRITERS) {
		pass_on(false);
		bshm_os_yield();
	}
	for (int i = 0; i < WRITERS; i++) {
		pthread_join(threads[i], NULL);
	}
	pass_on(true);
	CHECK_INT(untold(KEYS_TOLD), 0);
}

/* Puts numbers from test_words[2] on, and says how far it has come. */
static void write_until_killed(void)
{
	for (uint64_t i = BSHM_LOAD(&test_words[2], RELAXED); i < KEYS_TOLD; i++) {
		while (!put_number((uint32_t) i)) {
			bshm_os_yield();
		}
		BSHM_STORE(&test_words[2], i + 1, RELEASE);
	}
}

static void read_until_killed(void)
{
	pass_on(true); /* the reader before it may have cleared the marks of full pages */
	for (;;) {
		pass_on(false);
	}
}

static void expect_all_free(void)
{
	CHECK_INT(pass_on(true), 0);
	size_t count = 0;
	while (put("tags", numbered("key", count))) {
		count++;
	}
	CHECK(count > LETTERS / 2);
}

/* The model: each key whose put has returned is told of, whoever was killed. */
TEST(no_key_is_lost_by_killed_writers)
{
	uint64_t random = test_seed();
	open_with_told();
	for (int i = 0; i < KILLS; i++) {
		const uint64_t until = BSHM_LOAD(&test_words[2], RELAXED) + test_random(&random) % 300;
		const pid_t writer = spawn(write_until_killed);
		while (BSHM_LOAD(&test_words[2], RELAXED) < until) {
			pass_on(false);
			bshm_os_yield();
		}
		kill_child(writer);
	}
	pass_on(true);
	CHECK(BSHM_LOAD(&test_words[2], ACQUIRE) > 0);
	CHECK_INT(untold(BSHM_LOAD(&test_words[2], ACQUIRE)), 0);
	expect_all_free();
}

TEST(no_key_is_lost_by_killed_readers)
{
	uint64_t random = test_seed();
	open_with_told();
	uint32_t number = 0;
	for (int i = 0; i < KILLS; i++) {
		const pid_t reader = spawn(read_until_killed);
		for (uint64_t count = test_random(&random) % 300; count > 0; count--) {
			while (!put_number(number)) {
				bshm_os_yield();
			}
			number++;
		}
		kill_child(reader);
	}
	pass_on(true);
	CHECK_INT(untold(number), 0);
	expect_all_free();
}

TEST(a_readonly_process_reads_and_frees_nothing)
{
	segment = open_segment(MB(1));
	CHECK(put("tags", "cat"));
	const bshm_outbox_letter letter = read_outbox(true)->letters[0];
	CHECK(put("tags", "dog")); /* a page has a mark */
	bshm_segment *own = segment;
	segment = open_segment_readonly();
	CHECK_INT(read_outbox(true)->count, 0);
	bshm_outbox_free(segment, &letter, 1);
	segment = own;
	CHECK_INT(read_outbox(true)->count, 2);
}

TEST(a_segment_without_an_outbox_refuses)
{
	segment = open_segment(MB(1));
	segment->outbox = NULL;
	CHECK(!put("tags", "cat"));
	CHECK_INT(read_outbox(true)->count, 0);
}
