/*
 * test_head.c - heads: what is signed is what is read, and nothing else is.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "fleet/fleet_head.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static fleet_secret_key secret;
static fleet_public_key public;
static fleet_error error;
static char text[FLEET_HEAD_BYTES_MAX + 1];

static fleet_hash hash_of(char digit)
{
	fleet_hash hash = {""};
	memset(hash.text, digit, FLEET_HASH_CHARACTERS);
	return hash;
}

static fleet_head head_with(unsigned deltas)
{
	fleet_head head = {.filter = "articles",
		.filter_length = 8,
		.epoch = 3,
		.version = 17,
		.made_s = 1764000000,
		.valid_until_s = 1764007200,
		.spread_s = 30,
		.adds_after = {1764000000123, 4},
		.items = 4450000,
		.image = hash_of('a'),
		.image_bytes = 5801248,
		.delta_count = deltas};
	for (unsigned i = 0; i < deltas; i++) {
		head.deltas[i] = (fleet_delta){hash_of((char) ('0' + i % 10)), 331000 + i, i, i + 1};
	}
	return head;
}

/* The head in `text`, signed. */
static size_t sign(const fleet_head *head)
{
	static bool is_made;
	is_made = is_made || fleet_key_pair(&secret, &public, &error);
	REQUIRE(is_made);
	return fleet_head_sign(head, &secret, text);
}

static bool is_read(size_t length, fleet_head *out)
{
	return fleet_head_open(text, length, &public, "articles", 8, out, &error);
}

TEST(what_is_signed_is_what_is_read)
{
	for (unsigned deltas = 0; deltas <= FLEET_DELTAS_MAX; deltas++) {
		fleet_head out;
		const fleet_head head = head_with(deltas);
		const size_t length = sign(&head);
		CHECK(is_read(length, &out));
		CHECK_INT(memcmp(&out, &head, sizeof(head)), 0);
	}
}

TEST(a_head_has_this_text)
{
	fleet_head head = head_with(1);
	fleet_head_write(&head, text);
	CHECK(strcmp(text,
			  "bloomshm head 1\nfilter 61727469636c6573\nepoch 3\nversion 17\nmade 1764000000\n"
			  "valid-until 1764007200\nspread 30\npinned 0\nitems 4450000\n"
			  "adds-after 1764000000123-4\n"
			  "image aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 5801248\n"
			  "delta 0000000000000000000000000000000000000000000000000000000000000000 331000 "
			  "0000000000000000 0000000000000001\n") == 0);
}

TEST(the_largest_head_fits)
{
	fleet_head out;
	fleet_head head = head_with(FLEET_DELTAS_MAX);
	memset(head.filter, 0xff, FLEET_NAME_BYTES_MAX);
	head.filter_length = FLEET_NAME_BYTES_MAX;
	head.epoch = head.version = head.items = FLEET_NUMBER_MAX;
	head.pinned = head.version - 1;
	head.made_s = head.valid_until_s = FLEET_TIME_MAX_S;
	head.spread_s = FLEET_SPREAD_MAX_S;
	head.adds_after = (fleet_entry_id){UINT64_MAX, UINT64_MAX};
	head.image_bytes = FLEET_IMAGE_BYTES_MAX;
	for (unsigned i = 0; i < FLEET_DELTAS_MAX; i++) {
		head.deltas[i].bytes = FLEET_IMAGE_BYTES_MAX;
	}
	const size_t length = sign(&head);
	test_note("it has %zu bytes", length);
	CHECK(length <= FLEET_HEAD_BYTES_MAX);
	CHECK(fleet_head_open(text, length, &public, head.filter, head.filter_length, &out, &error));
}

TEST(no_flipped_bit_passes)
{
	fleet_head out;
	const fleet_head head = head_with(2);
	const size_t length = sign(&head);
	for (size_t i = 0; i < 8 * length; i++) {
		text[i / 8] = (char) (text[i / 8] ^ 1 << i % 8);
		CHECK(!is_read(length, &out));
		text[i / 8] = (char) (text[i / 8] ^ 1 << i % 8);
	}
	CHECK(is_read(length, &out));
}

TEST(no_part_of_a_head_passes_and_no_more_than_one)
{
	fleet_head out;
	const fleet_head head = head_with(2);
	const size_t length = sign(&head);
	for (size_t i = 0; i < length; i++) {
		CHECK(!is_read(i, &out));
	}
	memset(text + length, '\n', 100);
	for (size_t i = 1; i < 100; i++) {
		CHECK(!is_read(length + i, &out));
	}
	CHECK(!is_read(FLEET_HEAD_BYTES_MAX + 1, &out));
}

TEST(another_key_and_another_filter_are_refused)
{
	fleet_head out;
	fleet_secret_key other;
	const fleet_head head = head_with(0);
	const size_t length = sign(&head);
	CHECK(!fleet_head_open(text, length, &public, "article", 7, &out, &error));
	CHECK(strstr(error.text, "articles") != NULL);
	REQUIRE(fleet_key_pair(&other, &public, &error));
	CHECK(!is_read(length, &out));
	CHECK(strstr(error.text, "signature") != NULL);
}

/* Signed texts that are not as a publisher spells them. */
TEST(a_head_has_one_spelling)
{
	static const struct {
		const char *from;
		const char *to;
	} changes[] = {{"epoch 3", "epoch 03"}, {"epoch 3", "epoch 0"}, {"epoch 3", "epoch +3"},
		{"epoch 3", "epoch  3"}, {"epoch 3", "epoch -3"}, {"epoch 3", "epoch 0x3"},
		{"epoch 3", "epoch 99999999999999999999999"}, {"version 17", "version 0"},
		{"version 17", "version 17\nversion 17"}, {"version 17\n", ""}, {"version 17", "version"},
		{"version 17\n", "version 17\r\n"}, {"spread 30", "spread 86401"}, {"made 1", "made x1"},
		{"pinned 0", "pinned 17"}, {"items 4450000", "items "},
		{"filter 61727469636c6573", "filter 6172746963006573"}, {"filter 617", "filter 17"},
		{"filter 61727469636c6573", "filter 61727469636C6573"}, {"image a", "image A"},
		{"image a", "image "}, {" 5801248", " 99999999999999999"}, {"head 1", "head 2"},
		{"331000 0", "331000 0x"}, {"331000 0", "331000 "}, {"0001\n", "0001"},
		{"0001\n", "0001\n\n"}, {"0001\n", "0001 \n"}, {"bloomshm", "\nbloomshm"}};
	char plain[FLEET_HEAD_BYTES_MAX + 1];
	char changed[2 * FLEET_HEAD_BYTES_MAX];
	fleet_head out;
	const fleet_head head = head_with(1);
	const size_t length = fleet_head_write(&head, plain);
	CHECK(fleet_head_parse(plain, length, &out, &error));
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const char *at = strstr(plain, changes[i].from);
		REQUIRE(at != NULL);
		const int count = snprintf(changed, sizeof(changed), "%.*s%s%s", (int) (at - plain), plain,
			changes[i].to, at + strlen(changes[i].from));
		if (fleet_head_parse(changed, (size_t) count, &out, &error)) {
			test_fail(__FILE__, __LINE__, "read: %s", changes[i].to);
		}
	}
	memcpy(changed, plain, length + 1);
	changed[20] = '\0';
	CHECK(!fleet_head_parse(changed, length, &out, &error));
}

TEST(one_delta_too_many_is_refused)
{
	char long_text[2 * FLEET_HEAD_BYTES_MAX];
	fleet_head out;
	fleet_head head = head_with(FLEET_DELTAS_MAX);
	size_t length = fleet_head_write(&head, long_text);
	const char *last = strstr(long_text, "delta ");
	const size_t line = strcspn(last, "\n") + 1;
	memcpy(long_text + length, last, line);
	CHECK(fleet_head_parse(long_text, length, &out, &error));
	CHECK(!fleet_head_parse(long_text, length + line, &out, &error));
}

TEST(nothing_goes_back)
{
	const fleet_head last = head_with(0);
	fleet_head next = last;
	CHECK(fleet_head_follows(&last, &next, &error));
	next.made_s++;
	CHECK(fleet_head_follows(&last, &next, &error));
	next.made_s = last.made_s - 1;
	CHECK(!fleet_head_follows(&last, &next, &error));
	next = last;
	next.image = hash_of('b');
	CHECK(!fleet_head_follows(&last, &next, &error));
	next.version = 18;
	CHECK(fleet_head_follows(&last, &next, &error));
	next.version = 16;
	CHECK(!fleet_head_follows(&last, &next, &error));
	next.pinned = 15;
	CHECK(!fleet_head_follows(&last, &next, &error));
	next.version = 1;
	next.epoch = 4;
	CHECK(fleet_head_follows(&last, &next, &error));
	next.version = 99;
	next.epoch = 2;
	CHECK(!fleet_head_follows(&last, &next, &error));
}

TEST(keys_come_back_from_their_files)
{
	char path[512];
	char other[520];
	fleet_secret_key a;
	fleet_public_key b;
	fleet_public_key c;
	struct stat st;
	snprintf(path, sizeof(path), "%s", test_path("key"));
	snprintf(other, sizeof(other), "%s.pub", path);
	REQUIRE(fleet_key_make(path, &error));
	CHECK(!fleet_key_make(path, &error));
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	CHECK(fleet_key_secret(path, &a, &error));
	CHECK(fleet_key_public(other, &b, &error));
	fleet_key_public_of(&a, &c);
	CHECK_INT(memcmp(&b, &c, sizeof(b)), 0);
	CHECK(!fleet_key_public(path, &b, &error));
	CHECK(!fleet_key_secret(other, &a, &error));
	chmod(path, 0640);
	CHECK(!fleet_key_secret(path, &a, &error));
	CHECK(strstr(error.text, "chmod 600") != NULL);
	chmod(path, 0600);
	CHECK(truncate(path, 60) == 0);
	CHECK(!fleet_key_secret(path, &a, &error));
}
