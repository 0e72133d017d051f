/*
 * test_stream.c - the stream of adds, in a real Redis.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "fleet/fleet_stream.h"
#include "platform/platform.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEYS_MAX  5000
#define FULL_KEYS (251 * 128) /* as many as an answer may have */
#define BYTES_MAX 100000
#define MIXED     9

static fleet_error failure;
static fleet_entry_id sent; /* the last */
static pid_t server;
static char url[256];
static char path[200];

static void run_server(const char *password)
{
	snprintf(path, sizeof(path), "%s", test_path("redis"));
	snprintf(url, sizeof(url), "unix://%s?db=1", path);
	server = fork();
	REQUIRE(server >= 0);
	if (server == 0) {
		const int null = open("/dev/null", O_WRONLY);
		dup2(null, 1);
		execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path, "--save", "",
			"--requirepass", password, (char *) NULL);
		_exit(1);
	}
}

static fleet_stream *open_stream(const char *filter)
{
	fleet_stream *s = NULL;
	for (int i = 0; i < 2000 && !fleet_stream_open(&s, url, filter, strlen(filter), 30, &failure);
		 i++) {
		bshm_os_sleep_us(10000); /* it has not begun to listen */
	}
	if (s == NULL) {
		test_fail(__FILE__, __LINE__, "%s", failure.text);
		test_stop();
	}
	return s;
}

static fleet_stream *begin(const char *filter)
{
	run_server("");
	return open_stream(filter);
}

static void end(fleet_stream *s)
{
	fleet_stream_close(s);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

static void command(const char *text)
{
	char line[400];
	snprintf(line, sizeof(line), "redis-cli -s %s -n 1 %s >/dev/null", path, text);
	REQUIRE(system(line) == 0);
}

static void add_number_of_keys(fleet_stream *s, unsigned from, unsigned to)
{
	static uint32_t numbers[KEYS_MAX];
	static fleet_added keys[KEYS_MAX];
	for (unsigned i = from; i < to; i++) {
		numbers[i] = i;
		keys[i] = (fleet_added){(const char *) &numbers[i], sizeof(uint32_t)};
	}
	REQUIRE(fleet_stream_add(s, keys + from, to - from, &sent, &failure));
}

/* What was told of: numbers in order. */
typedef struct {
	unsigned next;
	bool in_order;
} numbers;

static void note(void *context, const char *key, size_t length)
{
	numbers *n = context;
	uint32_t number = 0;
	memcpy(&number, key, length < sizeof(number) ? length : sizeof(number));
	n->in_order &= length == sizeof(number) && number == n->next;
	n->next++;
}

/* Reads to the end; the last result. */
static int read_all(fleet_stream *s, fleet_entry_id *at, numbers *n)
{
	int result;
	do {
		result = fleet_stream_read(s, at, note, n, &failure);
	} while (result == FLEET_STREAM_MORE);
	return result;
}

TEST(ids_are_read_and_compared)
{
	fleet_entry_id id;
	char text[FLEET_ENTRY_ID_ROOM];
	CHECK(fleet_entry_id_parse("18446744073709551615-7", &id));
	CHECK(id.ms == UINT64_MAX && id.serial == 7);
	fleet_entry_id_text(text, id);
	CHECK(strcmp(text, "18446744073709551615-7") == 0);
	const char *wrong[] = {"", "-", "1", "1-", "-1", "1-2-3", "1-2 ", " 1-2", "+1-2", "1--2",
		"18446744073709551616-0", "1-18446744073709551616"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK(!fleet_entry_id_parse(wrong[i], &id));
	}
	CHECK(fleet_entry_id_compare((fleet_entry_id){1, 2}, (fleet_entry_id){1, 2}) == 0);
	CHECK(fleet_entry_id_compare((fleet_entry_id){1, 9}, (fleet_entry_id){2, 0}) < 0);
	CHECK(fleet_entry_id_compare((fleet_entry_id){2, 1}, (fleet_entry_id){2, 0}) > 0);
}

TEST(keys_come_in_order_and_once)
{
	fleet_stream *s = begin("tags");
	fleet_entry_id at = {0, 0};
	fleet_entry_id last;
	numbers n = {0, true};
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_END); /* there is no stream yet */
	for (unsigned i = 0; i < 1500; i++) { /* an entry each: more than are read at a time */
		add_number_of_keys(s, i, i + 1);
	}
	add_number_of_keys(s, 1500, 2500);
	CHECK_INT(fleet_stream_read(s, &at, note, &n, &failure), FLEET_STREAM_MORE);
	CHECK_INT(n.next, 251);
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_END);
	CHECK(n.next == 2500 && n.in_order);
	CHECK(fleet_stream_mark(s, &last, &failure) && fleet_entry_id_compare(last, at) == 0);
	add_number_of_keys(s, 2500, 2600);
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_END);
	CHECK(n.next == 2600 && n.in_order);
	end(s);
}

static void check_odd(void *context, const char *key, size_t length)
{
	unsigned *seen = context;
	*seen += length == 0 ? 1 : length == 4072 && key[4071] == '\n' && key[0] == '\0' ? 10 : 100;
}

TEST(keys_and_names_are_any_bytes)
{
	static char key[4072];
	fleet_stream *s = begin("a b\r\n*\xff");
	unsigned seen = 0;
	fleet_entry_id at = {0, 0};
	key[4071] = '\n';
	const fleet_added keys[] = {{"", 0}, {key, sizeof(key)}};
	CHECK(fleet_stream_add(s, keys, 2, &sent, &failure));
	CHECK_INT(fleet_stream_read(s, &at, check_odd, &seen, &failure), FLEET_STREAM_END);
	CHECK_INT(seen, 11);
	end(s);
}

/* How many entries has the stream? */
static unsigned entry_count(void)
{
	char line[400];
	unsigned count = 0;
	snprintf(line, sizeof(line), "redis-cli -s %s -n 1 xlen bloomshm:adds:tags", path);
	FILE *pipe = popen(line, "r");
	REQUIRE(pipe != NULL && fscanf(pipe, "%u", &count) == 1);
	pclose(pipe);
	return count;
}

/* Adds so many keys of that length at once; how many entries are these? */
static unsigned entries_of(fleet_stream *s, size_t count, size_t length)
{
	static char bytes[BYTES_MAX];
	static fleet_added keys[FULL_KEYS];
	const unsigned before = entry_count();
	for (size_t i = 0; i < count; i++) {
		keys[i] = (fleet_added){bytes, length};
	}
	REQUIRE(fleet_stream_add(s, keys, count, &sent, &failure));
	return entry_count() - before;
}

static void sum_up(void *context, const char *key, size_t length)
{
	size_t *seen = context;
	seen[0] += key != NULL;
	seen[1] += length;
}

TEST(an_entry_has_many_keys)
{
	fleet_stream *s = begin("tags");
	fleet_entry_id at = {0, 0};
	size_t seen[2] = {0};
	/* 4104 bytes, of which each key takes 32 more than its length. */
	CHECK_INT(entries_of(s, 0, 1), 0);
	CHECK_INT(entries_of(s, 1, 1), 1);
	CHECK_INT(entries_of(s, 124, 1), 1);
	CHECK_INT(entries_of(s, 125, 1), 2);
	CHECK_INT(entries_of(s, 1000, 1), 9);
	CHECK_INT(entries_of(s, 128, 0), 1);
	CHECK_INT(entries_of(s, 129, 0), 2);
	CHECK_INT(entries_of(s, 2, 2020), 1);
	CHECK_INT(entries_of(s, 2, 2021), 2);
	CHECK_INT(entries_of(s, 3, 4072), 3);
	CHECK_INT(entries_of(s, 2, BYTES_MAX), 2); /* longer than any in an outbox */
	CHECK_INT(fleet_stream_read(s, &at, sum_up, seen, &failure), FLEET_STREAM_END);
	CHECK_INT(seen[0], 1250 + 257 + 4 + 3 + 2);
	CHECK_INT(seen[1], 1250 + 2 * 2020 + 2 * 2021 + 3 * 4072 + 2 * BYTES_MAX);
	end(s);
}

typedef struct {
	size_t count;
	size_t lengths[MIXED];
} lengths_seen;

static void note_length(void *context, const char *key, size_t length)
{
	lengths_seen *seen = context;
	if (key != NULL && seen->count < MIXED) {
		seen->lengths[seen->count++] = length;
	}
}

TEST(keys_of_all_lengths_keep_their_order)
{
	static char key[4072];
	const size_t lengths[MIXED] = {1, 4072, 1, 1, 4000, 40, 1, 4039, 1};
	fleet_added keys[MIXED];
	fleet_stream *s = begin("tags");
	fleet_entry_id at = {0, 0};
	lengths_seen seen = {0};
	for (size_t i = 0; i < MIXED; i++) {
		keys[i] = (fleet_added){key, lengths[i]};
	}
	CHECK(fleet_stream_add(s, keys, MIXED, &sent, &failure));
	CHECK_INT(entry_count(), 5); /* 1; 4072; 1, 1, 4000; 40, 1; 4039, 1 */
	CHECK_INT(fleet_stream_read(s, &at, note_length, &seen, &failure), FLEET_STREAM_END);
	CHECK(seen.count == MIXED && memcmp(seen.lengths, lengths, sizeof(lengths)) == 0);
	end(s);
}

TEST(an_answer_of_full_entries_is_read)
{
	const size_t lengths[] = {0, 1, 4072};
	fleet_stream *s = begin("tags");
	for (size_t i = 0; i < 3; i++) {
		fleet_entry_id at = {0, 0};
		size_t seen[2] = {0};
		command("del bloomshm:adds:tags");
		const size_t keys = 251 * (4104 / (lengths[i] + 32));
		CHECK_INT(entries_of(s, keys, lengths[i]), 251);
		CHECK_INT(fleet_stream_read(s, &at, sum_up, seen, &failure), FLEET_STREAM_MORE);
		CHECK(seen[0] == keys && seen[1] == keys * lengths[i]);
	}
	end(s);
}

/* Another host adds a key for each that is read. */
static void add_another(void *context, const char *key, size_t length)
{
	const fleet_added more = {key, length};
	CHECK(fleet_stream_add(context, &more, 1, &sent, &failure));
}

TEST(a_stream_that_grows_while_it_is_read_has_an_end)
{
	fleet_stream *s = begin("tags");
	fleet_stream *other = open_stream("tags");
	fleet_entry_id at = {0, 0};
	add_number_of_keys(s, 0, 200);
	CHECK_INT(fleet_stream_read(s, &at, add_another, other, &failure), FLEET_STREAM_END);
	CHECK_INT(fleet_stream_read(s, &at, add_another, other, &failure), FLEET_STREAM_END);
	fleet_stream_close(other);
	end(s);
}

/* What the server says to the reader that waits; 0: it has said nothing for a minute. */
static int watched(fleet_stream *s)
{
	int told = 0;
	for (int i = 0; i < 6000 && told == 0; i++) {
		told = fleet_stream_watched(s, &failure);
		bshm_os_sleep_us(10000);
	}
	return told;
}

TEST(the_server_says_when_there_is_more)
{
	fleet_stream *s = begin("tags");
	fleet_stream *watch = open_stream("tags");
	fleet_stream *other = open_stream("other");
	fleet_entry_id at = {0, 0};
	fleet_entry_id mark;
	numbers n = {0, true};
	CHECK(fleet_stream_watch(watch, at, &failure)); /* there is no stream yet */
	CHECK(fleet_stream_mark(other, &mark, &failure));
	CHECK_INT(fleet_stream_watched(watch, &failure), 0);
	for (unsigned i = 0; i < 3; i++) {
		add_number_of_keys(s, 100 * i, 100 * i + 100);
		CHECK_INT(watched(watch), 1);
		CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_END);
		CHECK(fleet_stream_watch(watch, at, &failure));
		CHECK(fleet_stream_mark(s, &mark, &failure)); /* the server has done all there is to do */
		CHECK_INT(fleet_stream_watched(watch, &failure), 0);
	}
	CHECK(n.next == 300 && n.in_order);
	fleet_stream_close(watch);
	watch = open_stream("tags");
	CHECK(fleet_stream_watch(watch, (fleet_entry_id){0, 0}, &failure)); /* it is there already */
	CHECK_INT(watched(watch), 1);
	CHECK(fleet_stream_watch(watch, at, &failure));
	command("client kill type normal skipme yes");
	CHECK_INT(watched(watch), -1);
	fleet_stream_close(watch);
	fleet_stream_close(other);
	end(s);
}

TEST(a_server_that_cannot_say_when_there_is_more_fails)
{
	fleet_stream *s = begin("tags");
	command("acl setuser default -xread");
	CHECK(fleet_stream_watch(s, (fleet_entry_id){0, 0}, &failure));
	CHECK_INT(watched(s), -1);
	CHECK(strstr(failure.text, "NOPERM") != NULL);
	end(s);
	s = begin("tags");
	signal(SIGPIPE, SIG_IGN);
	CHECK(fleet_stream_watch(s, (fleet_entry_id){0, 0}, &failure));
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	CHECK_INT(watched(s), -1);
	CHECK(!fleet_stream_watch(s, (fleet_entry_id){0, 0}, &failure));
	fleet_stream_close(s);
}

TEST(two_filters_have_streams_of_their_own)
{
	fleet_stream *s = begin("tags");
	fleet_stream *other = open_stream("other");
	numbers n = {0, true};
	fleet_entry_id at = {0, 0};
	add_number_of_keys(s, 0, 3);
	CHECK_INT(read_all(other, &at, &n), FLEET_STREAM_END);
	CHECK_INT(n.next, 0);
	fleet_stream_close(other);
	end(s);
}

TEST(a_gap_is_seen)
{
	fleet_stream *s = begin("tags");
	numbers n = {0, true};
	fleet_entry_id at = {0, 0};
	fleet_entry_id middle;
	add_number_of_keys(s, 0, 5);
	add_number_of_keys(s, 5, 10);
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_END);
	middle = at;
	add_number_of_keys(s, 10, 20);
	CHECK(fleet_stream_trim(s, middle, &failure));
	/* The entry at the watermark is still there, so nothing after it is gone. */
	at = middle;
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_END);
	CHECK(n.next == 20 && n.in_order);
	/* Entries before the watermark are gone: who stands there, or begins, may have missed some. */
	fleet_entry_id early = {1, 0};
	fleet_entry_id zero = {0, 0};
	CHECK_INT(read_all(s, &early, &n), FLEET_STREAM_GAP);
	CHECK_INT(read_all(s, &zero, &n), FLEET_STREAM_GAP);
	CHECK_INT(n.next, 20);
	fleet_entry_id last;
	CHECK(fleet_stream_mark(s, &last, &failure) && fleet_entry_id_compare(last, at) == 0);
	/* The last one: all others are gone, and who has read it misses nothing. */
	CHECK(fleet_stream_trim(s, at, &failure));
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_END);
	CHECK_INT(read_all(s, &middle, &n), FLEET_STREAM_GAP);
	command("xtrim bloomshm:adds:tags maxlen 0");
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_END);
	CHECK_INT(read_all(s, &middle, &n), FLEET_STREAM_GAP);
	end(s);
}

TEST(a_mark_is_a_place_to_read_on_from)
{
	fleet_stream *s = begin("tags");
	numbers n = {0, true};
	fleet_entry_id mark;
	fleet_entry_id again;
	CHECK(fleet_stream_mark(s, &mark, &failure) && mark.ms != 0);
	CHECK(fleet_stream_mark(s, &again, &failure) && fleet_entry_id_compare(mark, again) == 0);
	add_number_of_keys(s, 0, 10);
	fleet_entry_id at = mark;
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_END);
	CHECK(n.next == 10 && n.in_order);
	at = (fleet_entry_id){0, 0};
	n.next = 0;
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_END);
	CHECK(n.next == 10 && n.in_order); /* what begins the stream is no key */
	command("flushall");
	add_number_of_keys(s, 0, 10);
	CHECK_INT(read_all(s, &mark, &n), FLEET_STREAM_GAP);
	end(s);
}

static void count_wake_ups(void *context, const char *key, size_t length)
{
	unsigned *seen = context;
	*seen += key == NULL && length == 0 ? 1 : 100;
}

TEST(a_wake_up_is_no_key)
{
	fleet_stream *s = begin("tags");
	fleet_entry_id at = {0, 0};
	unsigned seen = 0;
	command("xadd bloomshm:adds:tags '*' other x"); /* nor is a field of another name */
	command("xadd bloomshm:adds:tags '*' a 1 b 2");
	command("eval 'return redis.call(\"xadd\", KEYS[1], \"*\", \"k\\0\", \"x\", \"lost\\0\", "
			"\"x\")' 1 bloomshm:adds:tags");
	CHECK(fleet_stream_wake(s, &failure) && fleet_stream_wake(s, &failure));
	CHECK_INT(fleet_stream_read(s, &at, count_wake_ups, &seen, &failure), FLEET_STREAM_END);
	CHECK_INT(seen, 2);
	end(s);
}

TEST(a_stream_that_was_begun_anew_is_a_gap)
{
	fleet_stream *s = begin("tags");
	numbers n = {0, true};
	fleet_entry_id at = {0, 0};
	add_number_of_keys(s, 0, 10);
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_END);
	command("flushall");
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_GAP);
	command("xadd bloomshm:adds:tags 5-1 k x");
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_GAP);
	add_number_of_keys(s, 0, 10); /* after the reader's place */
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_GAP);
	end(s);
}

/* Who has not read what the server has lost learns it from who has. */
TEST(what_a_server_has_lost_is_noted)
{
	fleet_stream *s = begin("tags");
	numbers n = {0, true};
	fleet_entry_id at = {0, 0};
	fleet_entry_id other = {0, 0};
	fleet_entry_id mark;
	add_number_of_keys(s, 0, 10);
	CHECK_INT(read_all(s, &other, &n), FLEET_STREAM_END);
	add_number_of_keys(s, 10, 11);
	at = sent;
	add_number_of_keys(s, 11, 12);
	char line[100];
	snprintf(line, sizeof(line), "xdel bloomshm:adds:tags %" PRIu64 "-%" PRIu64, at.ms, at.serial);
	command(line);
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_GAP);
	CHECK_INT(read_all(s, &other, &n), FLEET_STREAM_GAP);
	CHECK(fleet_stream_mark(s, &mark, &failure)); /* a batch that begins now has all */
	add_number_of_keys(s, 12, 13);
	CHECK_INT(read_all(s, &mark, &(numbers){12, true}), FLEET_STREAM_END);
	command("flushall");
	CHECK_INT(read_all(s, &mark, &n), FLEET_STREAM_GAP);
	at = (fleet_entry_id){0, 0};
	CHECK_INT(read_all(s, &at, &n), FLEET_STREAM_GAP);
	end(s);
}

TEST(a_server_that_dies_is_a_failure_and_no_gap)
{
	fleet_stream *s = begin("tags");
	numbers n = {0, true};
	fleet_entry_id at = {0, 0};
	signal(SIGPIPE, SIG_IGN);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	CHECK_INT(fleet_stream_read(s, &at, note, &n, &failure), FLEET_STREAM_FAILED);
	CHECK(strstr(failure.text, "the stream's server") != NULL);
	fleet_stream_close(s);
	CHECK(!fleet_stream_open(&s, url, "tags", 4, 1, &failure));
	CHECK(s == NULL && strstr(failure.text, "cannot reach") != NULL);
}

TEST(a_key_of_another_type_is_an_error)
{
	fleet_stream *s = begin("tags");
	numbers n = {0, true};
	fleet_entry_id at = {0, 0};
	command("set bloomshm:adds:tags 5");
	CHECK_INT(fleet_stream_read(s, &at, note, &n, &failure), FLEET_STREAM_FAILED);
	CHECK(strstr(failure.text, "WRONGTYPE") != NULL);
	end(s);
}

TEST(an_empty_password_is_none)
{
	setenv("REDISCLI_AUTH", "", 1);
	end(begin("tags"));
	unsetenv("REDISCLI_AUTH");
}

TEST(a_password_is_given)
{
	run_server("p:w&rd");
	fleet_stream *s = NULL;
	snprintf(url, sizeof(url), "unix://%s?db=2&password=p%%3Aw%%26rd", path);
	s = open_stream("tags");
	add_number_of_keys(s, 0, 1);
	fleet_stream_close(s);
	setenv("REDISCLI_AUTH", "p:w&rd", 1);
	snprintf(url, sizeof(url), "unix://%s?db=2", path);
	s = open_stream("tags");
	numbers n = {0, true};
	CHECK_INT(read_all(s, &(fleet_entry_id){0, 0}, &n), FLEET_STREAM_END);
	CHECK(n.next == 1);
	fleet_stream_close(s);
	snprintf(url, sizeof(url), "unix://%s?password=wrong", path);
	CHECK(!fleet_stream_open(&s, url, "tags", 4, 1, &failure));
	CHECK(strstr(failure.text, "WRONGPASS") != NULL);
	snprintf(url, sizeof(url), "unix://%s?password=p%%3Aw%%26rd&db=99", path);
	CHECK(!fleet_stream_open(&s, url, "tags", 4, 1, &failure));
	unsetenv("REDISCLI_AUTH");
	end(NULL);
}

TEST(other_addresses_are_refused)
{
	const char *wrong[] = {"", "redis:", "http://127.0.0.1", "rediss://127.0.0.1:1",
		"127.0.0.1:6379", "redis://127.0.0.1?ca=/etc/ssl/ca.pem", "redis://127.0.0.1:99999",
		"redis://127.0.0.1?db=1", "rediss://127.0.0.1:1/?ca=a&verify=no", "rediss://h/?ca",
		"unix:///path?ca=a", "unix:///path?db=1&", "redis://127.0.0.1:1/0#1", "unix://"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		fleet_stream *s;
		CHECK(!fleet_stream_open(&s, wrong[i], "tags", 4, 1, &failure));
		CHECK(s == NULL);
		if (i != 3 && strstr(failure.text, "a stream is") == NULL) {
			test_fail(__FILE__, __LINE__, "%s: %s", wrong[i], failure.text);
		}
	}
}

TEST(addresses_are_of_both_kinds)
{
	fleet_stream *s;
	CHECK(!fleet_stream_open(&s, "redis://[::1]:1", "tags", 4, 1, &failure));
	CHECK(strstr(failure.text, "not known") == NULL); /* it is no name */
	CHECK(!fleet_stream_open(&s, "redis://127.0.0.1:1", "tags", 4, 1, &failure));
	CHECK(strstr(failure.text, "refused") != NULL);
}
