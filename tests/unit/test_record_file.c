/*
 * test_record_file.c - the records' way into a file and back: what comes back, and which files are
 * refused whole.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/locate.h"
#include "test_store.h"

#include "core/filter/mend.h"
#include "core/segment/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define RECORDS 50u

static bshm_segment *segment;
static bshm_error error;
static uint64_t count;

static void stand(void)
{
	segment = open_store(MB(8), 0);
	for (uint32_t i = 0; i < RECORDS; i++) {
		REQUIRE(store_put(segment, i, i, 20 + i * 400, 0, BSHM_PUT_SET) == 1);
	}
	REQUIRE(store_put(segment, RECORDS, 5, 1000000, 3600, BSHM_PUT_SET) == 1);
}

static bshm_status restore(bshm_segment *into, const char *file)
{
	count = 12345;
	return bshm_store_restore(into, test_path(file), &count, &error);
}

/* The bytes of a file; freed by the caller. */
static uint8_t *bytes_of(const char *file, size_t *size)
{
	struct stat st;
	const int fd = open(test_path(file), O_RDONLY);
	REQUIRE(fd >= 0 && fstat(fd, &st) == 0);
	*size = (size_t) st.st_size;
	uint8_t *bytes = malloc(*size + 100);
	REQUIRE(read(fd, bytes, *size) == (ssize_t) *size);
	close(fd);
	return bytes;
}

static void write_file(const char *file, const uint8_t *bytes, size_t size)
{
	const int fd = open(test_path(file), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	REQUIRE(fd >= 0 && write(fd, bytes, size) == (ssize_t) size);
	close(fd);
}

static uint64_t records(void)
{
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	return info.records;
}

TEST(what_was_dumped_comes_back)
{
	stand();
	CHECK_INT(bshm_store_dump(segment, test_path("dump"), &count, &error), BSHM_OK);
	CHECK_INT(count, RECORDS + 1);
	bshm_segment_close(segment);
	segment = open_store(MB(8), 0);
	CHECK_INT(restore(segment, "dump"), BSHM_OK);
	CHECK_INT(count, RECORDS + 1);
	for (uint32_t i = 0; i <= RECORDS; i++) {
		uint64_t serial = 0;
		uint32_t length = 0;
		CHECK_INT(store_get(segment, i, &serial, &length), 1);
		CHECK_INT(length, i == RECORDS ? 1000000 : 20 + i * 400);
	}
	check_sound(segment);
}

/* A file with one of them would be refused whole. */
TEST(a_record_that_no_call_could_read_is_left_out)
{
	stand();
	const uint64_t key_bytes = 3;
	const bshm_key key = {(const char *) &key_bytes, 8};
	const bshm__home home = bshm__home_of(segment, BSHM_SPACE_CACHE, &key);
	const bshm__shard s = bshm__shard_at(segment, home.shard);
	bshm__existing at;
	bshm__locate(&s, &home, BSHM_SPACE_CACHE, &key, &at);
	bshm__word_set(&s, at.ref, 1, bshm__word(&s, at.ref, 1) ^ 8u << BSHM_SHAPE_TYPE);
	CHECK_INT(bshm_store_dump(segment, test_path("dump"), &count, &error), BSHM_OK);
	CHECK_INT(count, RECORDS);
	bshm_segment_close(segment);
	segment = open_store(MB(8), 0);
	CHECK_INT(restore(segment, "dump"), BSHM_OK);
	CHECK_INT(count, RECORDS);
	CHECK(!store_has(segment, 3));
}

TEST(an_existing_record_is_not_replaced)
{
	stand();
	CHECK_INT(bshm_store_dump(segment, test_path("dump"), &count, &error), BSHM_OK);
	CHECK_INT(store_put(segment, 1, 999, 64, 0, BSHM_PUT_SET), 1);
	store_remove(segment, 2);
	CHECK_INT(restore(segment, "dump"), BSHM_OK);
	CHECK_INT(count, 1);
	uint64_t serial = 0;
	uint32_t length = 0;
	CHECK_INT(store_get(segment, 1, &serial, &length), 1);
	CHECK_INT(serial, 999);
}

static uint32_t expires(uint32_t number)
{
	const uint64_t key_bytes = number;
	const bshm_key key = {(const char *) &key_bytes, 8};
	bshm_found found;
	REQUIRE(bshm_record_find(segment, BSHM_SPACE_CACHE, &key, 0, &found) == 1);
	return found.expires_s;
}

/* Whatever part of a second it is. */
TEST(no_way_through_a_file_changes_when_a_record_expires)
{
	stand();
	const uint32_t before = expires(RECORDS);
	for (unsigned i = 0; i < 8; i++) {
		CHECK_INT(bshm_store_dump(segment, test_path("dump"), &count, &error), BSHM_OK);
		store_remove(segment, RECORDS);
		usleep(170000);
		CHECK_INT(restore(segment, "dump"), BSHM_OK);
		CHECK_INT(expires(RECORDS), before);
	}
}

TEST(of_more_than_there_may_be_the_newest_come_back)
{
	stand();
	CHECK_INT(bshm_store_dump(segment, test_path("dump"), &count, &error), BSHM_OK);
	bshm_segment_close(segment);
	segment = open_store(MB(8), 10);
	CHECK_INT(restore(segment, "dump"), BSHM_OK);
	CHECK_INT(count, 10);
	CHECK_INT(records(), 10);
	check_sound(segment);
}

/* Those that have expired take no place. */
TEST(of_more_than_there_may_be_the_newest_that_live_come_back)
{
	segment = open_store(MB(8), 0);
	unsigned tries = 0;
	do { /* until the dump is written before they expire */
		for (uint32_t i = 0; i < 15; i++) {
			REQUIRE(store_put(segment, i, i, 20, i < 5 ? 0 : 1, BSHM_PUT_SET) == 1);
		}
		CHECK_INT(bshm_store_dump(segment, test_path("dump"), &count, &error), BSHM_OK);
	} while (count < 15 && tries++ < 20);
	CHECK_INT(count, 15);
	bshm_segment_close(segment);
	usleep(2200000);
	segment = open_store(MB(8), 10);
	CHECK_INT(restore(segment, "dump"), BSHM_OK);
	CHECK_INT(count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		uint64_t serial = 0;
		uint32_t length = 0;
		CHECK_INT(store_get(segment, i, &serial, &length), 1);
	}
}

/* What a dump says about when each record was used: the most of keys below `end`, of others. */
static void oldest_of_dump(uint32_t end, uint64_t *below, uint64_t *others)
{
	enum {
		HEAD = 32
	};
	size_t size;
	uint8_t *bytes = bytes_of("dump", &size);
	*below = *others = 0;
	for (size_t off = HEAD; off + HEAD < size;) {
		uint64_t words[HEAD / 8];
		uint64_t number;
		memcpy(words, bytes + off, HEAD);
		memcpy(&number, bytes + off + HEAD, 8);
		uint64_t *most = number < end ? below : others;
		*most = words[0] > *most ? words[0] : *most;
		off += HEAD + (uint32_t) words[2] + (words[2] >> 32);
	}
	free(bytes);
}

static uint64_t epoch(void)
{
	return BSHM_LOAD(&segment->shards[0].clock, RELAXED) & BSHM_SLOT_STAMP;
}

/* What another process uses during a dump is the newest of all in it. */
TEST(what_is_used_during_a_dump_is_not_old)
{
	enum {
		ALL = 50000,
		USED = 1000
	};
	uint64_t serial = 0;
	uint32_t length = 0;
	segment = open_store(MB(16), 0);
	for (uint32_t i = 0; i < ALL; i++) {
		REQUIRE(store_put(segment, i, i, 20, 0, BSHM_PUT_SET) == 1);
	}
	const pid_t parent = getpid();
	const pid_t child = fork();
	if (child == 0) {
		for (uint32_t i = 0; getppid() == parent; i = (i + 1) % USED) {
			store_get(segment, i, &serial, &length);
		}
		_exit(0);
	}
	REQUIRE(child > 0);
	const uint64_t begin = epoch();
	while (epoch() < begin + 8) { /* until it has used all of them */
		usleep(1000);
	}
	uint64_t passed;
	do { /* and has had a processor during the dump */
		passed = epoch();
		REQUIRE(bshm_store_dump(segment, test_path("dump"), &count, &error) == BSHM_OK);
		passed = epoch() - passed;
	} while (passed < 2);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	uint64_t used;
	uint64_t others;
	oldest_of_dump(USED, &used, &others);
	test_note("%llu epochs; used: %llu, others: %llu", (unsigned long long) passed,
		(unsigned long long) used, (unsigned long long) others);
	CHECK(used < others);
}

/* The bytes of a dump of five records; the segment is empty then. */
static uint8_t *five_dumped(size_t *size)
{
	segment = open_store(MB(1), 0);
	for (uint32_t i = 0; i < 5; i++) {
		REQUIRE(store_put(segment, i, i, 20, 0, BSHM_PUT_SET) == 1);
	}
	REQUIRE(bshm_store_dump(segment, test_path("dump"), &count, &error) == BSHM_OK);
	bshm_segment_close(segment);
	segment = open_store(MB(1), 0);
	return bytes_of("dump", size);
}

TEST(a_file_cut_off_anywhere_is_refused_whole)
{
	size_t size;
	uint8_t *bytes = five_dumped(&size);
	for (size_t cut = 0; cut < size; cut++) {
		write_file("cut", bytes, cut);
		CHECK_INT(restore(segment, "cut"), BSHM_E_CORRUPT);
		CHECK_INT(count, 0);
	}
	bytes[size] = 0;
	write_file("cut", bytes, size + 1);
	CHECK_INT(restore(segment, "cut"), BSHM_E_CORRUPT);
	CHECK(error.cause == BSHM_CAUSE_TRAILING_BYTES);
	CHECK_INT(records(), 0);
	write_file("cut", bytes, size);
	CHECK_INT(restore(segment, "cut"), BSHM_OK);
	CHECK_INT(count, 5);
	free(bytes);
}

TEST(a_file_with_any_byte_changed_is_refused_whole)
{
	size_t size;
	uint8_t *bytes = five_dumped(&size);
	for (size_t i = 0; i < size; i++) {
		bytes[i] ^= 0xff;
		write_file("changed", bytes, size);
		const bshm_status status = restore(segment, "changed");
		CHECK(status == BSHM_E_CORRUPT || status == BSHM_E_INCOMPATIBLE);
		CHECK_INT(count, 0);
		bytes[i] ^= 0xff;
	}
	CHECK_INT(records(), 0);
	free(bytes);
}

TEST(what_is_no_file_is_an_error_of_the_system)
{
	stand();
	CHECK_INT(restore(segment, "absent"), BSHM_E_IO);
	CHECK_INT(error.os_code, ENOENT);
	CHECK_INT(mkdir(test_path("folder"), 0700), 0);
	CHECK_INT(restore(segment, "folder"), BSHM_E_IO);
	CHECK(error.os_code == EINVAL || error.os_code == EISDIR);
	CHECK_INT(bshm_store_dump(segment, test_path("absent/dump"), &count, &error), BSHM_E_IO);
	CHECK_INT(error.os_code, ENOENT);
	CHECK(error.cause == BSHM_CAUSE_CREATE);
	CHECK_INT(bshm_store_dump(segment, test_path("folder"), &count, &error), BSHM_E_IO);
	CHECK(error.cause == BSHM_CAUSE_PUBLISH);
}

TEST(a_disk_that_is_full_leaves_what_was_there)
{
	stand();
	write_file("dump", (const uint8_t *) "before", 6);
	const struct rlimit small = {100000, 100000};
	REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
	CHECK_INT(bshm_store_dump(segment, test_path("dump"), &count, &error), BSHM_E_IO);
	CHECK_INT(error.os_code, EFBIG);
	CHECK(error.cause == BSHM_CAUSE_WRITE);
	size_t size;
	uint8_t *bytes = bytes_of("dump", &size);
	CHECK(size == 6 && memcmp(bytes, "before", 6) == 0);
	free(bytes);
}

TEST(a_segment_without_a_record_store_has_no_dump)
{
	segment = open_segment(MB(1));
	CHECK_INT(bshm_store_dump(segment, test_path("dump"), &count, &error), BSHM_E_UNAVAILABLE);
	CHECK_INT(restore(segment, "dump"), BSHM_E_UNAVAILABLE);
	CHECK_INT(count, 0);
}

static void hold(void)
{
	bshm_segment *own = attach_store();
	bshm_error failure;
	REQUIRE(bshm__lock(own, BSHM_LOCK_BATCH_NS, &failure) == BSHM_OK);
	raise_flag_and_sleep(0);
}

/* The lock of the filters is not the records'. */
TEST(records_come_back_while_the_filters_are_locked)
{
	stand();
	REQUIRE(bshm_store_dump(segment, test_path("dump"), &count, &error) == BSHM_OK);
	const pid_t child = spawn(hold);
	await_flag(0);
	store_remove(segment, 3);
	CHECK_INT(restore(segment, "dump"), BSHM_OK);
	CHECK_INT(count, 1);
	kill_child(child);
}

static bool no_modes;

/* In the place of the system's: of a file system that knows no modes. */
int fchmod(int fd, mode_t mode)
{
	if (no_modes) {
		errno = EPERM;
		return -1;
	}
	return (int) syscall(SYS_fchmod, fd, mode);
}

static unsigned files_of_folder(void)
{
	unsigned files = 0;
	DIR *folder = opendir(test_path("."));
	REQUIRE(folder != NULL);
	while (readdir(folder) != NULL) {
		files++;
	}
	closedir(folder);
	return files;
}

TEST(a_file_that_cannot_be_made_private_is_not_left)
{
	stand();
	const unsigned files = files_of_folder();
	no_modes = true;
	CHECK_INT(bshm_store_dump(segment, test_path("dump"), &count, &error), BSHM_E_IO);
	CHECK_INT(error.os_code, EPERM);
	CHECK_INT(files_of_folder(), files);
	no_modes = false;
	CHECK_INT(bshm_store_dump(segment, test_path("dump"), &count, &error), BSHM_OK);
	CHECK_INT(files_of_folder(), files + 1);
}
