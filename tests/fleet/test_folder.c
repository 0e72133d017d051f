/*
 * test_folder.c - folders of heads and blobs: what has a name is whole, and what is needed stays.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test.h"

#include "fleet/fleet_folder.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static fleet_folder folder;
static fleet_error error;

static void open_folder(void)
{
	REQUIRE(sodium_init() >= 0);
	REQUIRE(fleet_folder_open_own(&folder, test_path("state"), &error));
}

static void write_file(const char *path, const char *bytes)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	REQUIRE(fd >= 0 && write(fd, bytes, strlen(bytes)) == (ssize_t) strlen(bytes));
	close(fd);
}

static fleet_hash make_blob(const char *bytes)
{
	fleet_hash hash;
	uint64_t count;
	char *part = fleet_folder_part(&folder, &error);
	write_file(part, bytes);
	REQUIRE(fleet_folder_take(&folder, part, &hash, &count, &error));
	CHECK_INT(count, strlen(bytes));
	free(part);
	return hash;
}

static void write_head(const char *file, const fleet_hash *hash)
{
	char text[128];
	const int length = snprintf(text, sizeof(text), "image %s 1\n", hash->text);
	REQUIRE(fleet_folder_write(&folder, "f", file, text, (size_t) length, 0, &error));
}

TEST(a_blob_has_the_name_of_its_bytes)
{
	open_folder();
	const fleet_hash hash = make_blob("abc");
	CHECK(
		strcmp(hash.text, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319") == 0);
	CHECK(fleet_folder_has(&folder, &hash, 3));
	CHECK(!fleet_folder_has(&folder, &hash, 4));
	char *part = fleet_folder_part(&folder, &error);
	CHECK(!fleet_folder_keep(&folder, part, &hash, &error));
	CHECK(fleet_folder_has(&folder, &hash, 3));
	write_file(part, "abcd"); /* is believed to be what it is said to be */
	CHECK(fleet_folder_keep(&folder, part, &hash, &error));
	CHECK(access(part, F_OK) != 0);
	CHECK(fleet_folder_has(&folder, &hash, 4));
	free(part);
}

TEST(a_sweep_leaves_what_a_head_names)
{
	open_folder();
	const fleet_hash named = make_blob("named");
	const fleet_hash kept = make_blob("kept");
	const fleet_hash garbage = make_blob("garbage");
	char *part = fleet_folder_part(&folder, &error);
	write_file(part, "half");
	free(part);
	write_head("head", &named);
	write_head("head-7", &kept);
	CHECK_INT(fleet_folder_sweep(&folder, 3600, NULL), 0);
	CHECK_INT(fleet_folder_sweep(&folder, 0, NULL), 2);
	CHECK(fleet_folder_has(&folder, &named, 5) && fleet_folder_has(&folder, &kept, 4));
	CHECK(!fleet_folder_has(&folder, &garbage, 7));
	fleet_folder_forget(&folder, "f", 7, NULL);
	CHECK_INT(fleet_folder_sweep(&folder, 0, NULL), 0);
	fleet_folder_forget(&folder, "f", 8, NULL);
	CHECK_INT(fleet_folder_sweep(&folder, 0, NULL), 1);
	CHECK(fleet_folder_has(&folder, &named, 5));
}

TEST(a_head_that_cannot_be_read_stops_the_sweep)
{
	open_folder();
	const fleet_hash hash = make_blob("named");
	write_head("head", &hash);
	CHECK(mkdir(test_path("state/g"), 0700) == 0);
	CHECK(symlink("../f/head", test_path("state/g/head")) == 0);
	CHECK(unlink(test_path("state/f/head")) == 0);
	CHECK_INT(fleet_folder_sweep(&folder, 0, NULL), 0);
}

TEST(small_files_come_back_and_large_ones_are_refused)
{
	char large[FLEET_HEAD_BYTES_MAX + 1];
	fleet_text text;
	open_folder();
	CHECK_INT(fleet_folder_read(&folder, "f", "head", &text, &error), 0);
	memset(large, 'x', sizeof(large));
	CHECK(fleet_folder_write(&folder, "f", "head", large, FLEET_HEAD_BYTES_MAX, 0, &error));
	CHECK_INT(fleet_folder_read(&folder, "f", "head", &text, &error), 1);
	CHECK_INT(text.length, FLEET_HEAD_BYTES_MAX);
	CHECK(fleet_folder_write(&folder, "f", "head", large, sizeof(large), 0, &error));
	CHECK_INT(fleet_folder_read(&folder, "f", "head", &text, &error), -1);
}

/* However long it takes to sync what is written before it. */
TEST(a_head_is_of_the_time_at_which_it_was_heard)
{
	fleet_text text;
	open_folder();
	CHECK(fleet_folder_write(&folder, "f", "head", "x", 1, 1764000000.75, &error));
	CHECK_INT(fleet_folder_read(&folder, "f", "head", &text, &error), 1);
	CHECK(text.changed_s == 1764000000);
	fleet_folder_set_time(&folder, "f", "head", 1764000005.25);
	CHECK_INT(fleet_folder_read(&folder, "f", "head", &text, &error), 1);
	CHECK(text.changed_s == 1764000005);
}

TEST(links_are_refused)
{
	fleet_folder other;
	fleet_text text;
	open_folder();
	CHECK(mkdir(test_path("state/f"), 0700) == 0);
	write_file(test_path("secret"), "secret");
	CHECK(symlink(test_path("secret"), test_path("state/f/head")) == 0);
	CHECK_INT(fleet_folder_read(&folder, "f", "head", &text, &error), -1);
	CHECK(symlink("f", test_path("state/g")) == 0);
	CHECK_INT(fleet_folder_read(&folder, "g", "head", &text, &error), -1);
	CHECK(!fleet_folder_write(&folder, "g", "head", "x", 1, 0, &error));
	CHECK(symlink("state", test_path("link")) == 0);
	CHECK(!fleet_folder_open_own(&other, test_path("link"), &error));
	fleet_folder_close(&other);
	CHECK(mkfifo(test_path("state/f/publisher"), 0600) == 0);
	CHECK_INT(fleet_folder_read(&folder, "f", "publisher", &text, &error), -1);
}

TEST(a_folder_that_others_may_change_is_refused)
{
	fleet_folder other;
	CHECK(mkdir(test_path("wide"), 0700) == 0 && chmod(test_path("wide"), 0770) == 0);
	CHECK(!fleet_folder_open_own(&other, test_path("wide"), &error));
	fleet_folder_close(&other);
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	return stat(test_path(path), &st) == 0 ? st.st_mode & 07777 : 0;
}

TEST(who_may_read_the_folder_may_read_what_is_in_it)
{
	REQUIRE(sodium_init() >= 0);
	umask(0077); /* a cron job's, say */
	REQUIRE(fleet_folder_open(&folder, test_path("origin"), &error));
	const fleet_hash hash = make_blob("abc");
	write_head("head", &hash);
	CHECK_INT(mode_of("origin"), 0700);
	CHECK_INT(mode_of("origin/blobs"), 0700);
	fleet_folder_close(&folder);
	/* Then a web server is to offer it. */
	CHECK(chmod(test_path("origin"), 0755) == 0);
	REQUIRE(fleet_folder_open(&folder, test_path("origin"), &error));
	CHECK(fleet_folder_has(&folder, &hash, 3));
	write_head("head", &hash);
	CHECK_INT(mode_of("origin/blobs"), 0755);
	CHECK_INT(mode_of("origin/f"), 0755);
	CHECK_INT(mode_of("origin/f/head"), 0644);
	char *blob = fleet_folder_blob(&folder, &hash);
	struct stat st;
	CHECK(stat(blob, &st) == 0 && (st.st_mode & 07777) == 0644);
	free(blob);
}

TEST(one_process_has_the_lock)
{
	fleet_folder other;
	open_folder();
	CHECK_INT(fleet_folder_lock(&folder, 0, &error), 1);
	REQUIRE(fleet_folder_open_own(&other, test_path("state"), &error));
	CHECK_INT(fleet_folder_lock(&other, 0, &error), 0);
	fleet_folder_unlock(&folder);
	CHECK_INT(fleet_folder_lock(&other, 0, &error), 1);
	fleet_folder_close(&other);
}

TEST(names_become_one_part_of_a_path)
{
	static const struct {
		const char *name;
		const char *wanted;
	} names[] = {{"articles", "articles"}, {"a/b", "a=2fb"}, {"..", "=2e."}, {".x", "=2ex"},
		{"x.y_Z-1", "x.y_Z-1"}, {"=", "=3d"}, {"blobs", "=62lobs"}, {"blobs2", "blobs2"},
		{"\xff \n", "=ff=20=0a"}, {"%2F", "=252F"}};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char out[FLEET_FOLDER_ROOM];
		fleet_folder_name(out, names[i].name, strlen(names[i].name));
		if (strcmp(out, names[i].wanted) != 0) {
			test_fail(__FILE__, __LINE__, "%s is %s", names[i].name, out);
		}
	}
}
