/*
 * test_segment_damage.c - files that are damaged, or forged: refused, or used without harm.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "test_segment.h"

#include "core/hash.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
	uint8_t *bytes;
	size_t count;
} contents;

static contents read_segment(void)
{
	const int fd = open(test_path("segment"), O_RDONLY);
	struct stat st;
	REQUIRE(fd >= 0 && fstat(fd, &st) == 0);
	contents c = {malloc((size_t) st.st_size + 1), (size_t) st.st_size};
	REQUIRE(c.bytes != NULL && read(fd, c.bytes, c.count) == (ssize_t) c.count);
	close(fd);
	return c;
}

static void write_segment(const void *bytes, size_t count)
{
	const int fd = open(test_path("segment"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	REQUIRE(fd >= 0 && write(fd, bytes, count) == (ssize_t) count);
	close(fd);
}

/* The file at the path is refused with `status`, not changed, and not replaced. */
static void expect_refused(const void *bytes, size_t count, bshm_status status)
{
	write_segment(bytes, count);
	CHECK_INT(try_open(), status);
	bshm_options options = standard();
	options.readonly = true;
	bshm_segment *segment;
	CHECK_INT(open_with(&options, &segment), status);
	const contents after = read_segment();
	CHECK_INT(after.count, count);
	CHECK(memcmp(after.bytes, bytes, count) == 0);
	CHECK(!exists("segment.new"));
	free(after.bytes);
}

/* Where the partitions of a segment of 1 MB begin, and the outbox behind them. */
static size_t partitions_at(const bshm_segment *segment)
{
	return (size_t) (segment->partitions - (const uint8_t *) segment->header);
}

static contents sound_segment(void)
{
	bshm_segment *segment = open_segment(MB(1));
	CHECK_INT(reserve(segment, "f", 100, 0.01), 1);
	bshm_segment_close(segment);
	return read_segment();
}

TEST(files_of_another_length_are_refused)
{
	const contents c = sound_segment();
	const size_t lengths[] = {
		0, 1, 63, 64, 4095, 4096, 4097, c.count / 2, c.count - 4096, c.count - 1};
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		expect_refused(c.bytes, lengths[i], BSHM_E_CORRUPT);
		CHECK(last_error.cause == BSHM_CAUSE_SIZE);
		CHECK_INT(last_error.available, lengths[i]);
	}
	c.bytes[c.count] = 0;
	expect_refused(c.bytes, c.count + 1, BSHM_E_CORRUPT);
	write_segment(c.bytes, c.count);
	CHECK_INT(try_open(), BSHM_OK);
	free(c.bytes);
}

TEST(files_of_zeros_or_of_anything_are_refused)
{
	uint64_t random = test_seed();
	const contents c = sound_segment();
	memset(c.bytes, 0, c.count);
	expect_refused(c.bytes, c.count, BSHM_E_CORRUPT);
	memset(c.bytes, 0xff, c.count);
	expect_refused(c.bytes, c.count, BSHM_E_CORRUPT);
	for (size_t i = 0; i + 8 <= c.count; i += 8) {
		const uint64_t word = test_random(&random);
		memcpy(c.bytes + i, &word, sizeof(word));
	}
	expect_refused(c.bytes, c.count, BSHM_E_CORRUPT);
	expect_refused(c.bytes, 5000, BSHM_E_CORRUPT);
	free(c.bytes);
}

/* A copy may come with holes; the first touch of one on a full disk would be a SIGBUS. */
TEST(holes_are_filled_before_anything_is_mapped)
{
	const contents c = sound_segment();
	write_segment(c.bytes, c.count - MB(1));
	REQUIRE(truncate(test_path("segment"), (off_t) c.count) == 0);
	REQUIRE(stat_file().reserved_bytes < stat_file().bytes);
	bshm_options options = standard();
	options.readonly = true;
	bshm_segment *segment;
	CHECK_INT(open_with(&options, &segment), BSHM_E_UNAVAILABLE);
	CHECK_INT(try_open(), BSHM_OK);
	CHECK(stat_file().reserved_bytes >= stat_file().bytes);
	CHECK_INT(open_with(&options, &segment), BSHM_OK);
	CHECK_INT(has(segment, "f", "a"), 0);
	free(c.bytes);
}

static void seal(contents c)
{
	bshm_header *header = (bshm_header *) (void *) c.bytes;
	header->check = bshm__checksum(header, offsetof(bshm_header, check), 0);
	header->cache_check = bshm__checksum(&header->shard_count,
		offsetof(bshm_header, cache_check) - offsetof(bshm_header, shard_count), header->name_seed);
}

TEST(every_word_of_the_header_is_checked)
{
	const contents c = sound_segment();
	bshm_header *header = (bshm_header *) (void *) c.bytes;
	const bshm_header saved = *header;
	for (size_t i = 0; i < 64; i++) { /* any bit of what the creator wrote */
		c.bytes[i] ^= (uint8_t) (1 << (i % 8));
		const bool layout = i >= 8 && i < 16;
		expect_refused(c.bytes, c.count, layout ? BSHM_E_INCOMPATIBLE : BSHM_E_CORRUPT);
		*header = saved;
	}
	free(c.bytes);
}

TEST(another_layout_or_byte_order_is_told_apart)
{
	const contents c = sound_segment();
	bshm_header *header = (bshm_header *) (void *) c.bytes;
	header->layout++;
	seal(c);
	expect_refused(c.bytes, c.count, BSHM_E_INCOMPATIBLE);
	header->layout--;
	header->magic = __builtin_bswap64(header->magic);
	seal(c);
	expect_refused(c.bytes, c.count, BSHM_E_CORRUPT);
	CHECK(last_error.cause == BSHM_CAUSE_MAGIC);
	free(c.bytes);
}

TEST(a_feature_that_is_not_known_is_refused)
{
	const contents c = sound_segment();
	bshm_header *header = (bshm_header *) (void *) c.bytes;
	header->features = UINT32_C(1) << 31;
	seal(c);
	expect_refused(c.bytes, c.count, BSHM_E_INCOMPATIBLE);
	CHECK(last_error.cause == BSHM_CAUSE_LAYOUT);
	free(c.bytes);
}

/* Counts under a right checksum: a forger knows the format. */
TEST(forged_counts_are_refused)
{
	const contents c = sound_segment();
	bshm_header *header = (bshm_header *) (void *) c.bytes;
	const bshm_header saved = *header;
	uint32_t *counts[] = {
		&header->partition_count, &header->entry_count, &header->head_count, &header->chunk_count};
	const uint32_t values[] = {0, 1, 127, 129, 256, 0x7fffffff, 0x80000000, 0xffffffff};
	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
			*counts[i] = values[j];
			seal(c);
			expect_refused(c.bytes, c.count, BSHM_E_CORRUPT);
			*header = saved;
		}
	}
	header->segment_bytes += 4096;
	seal(c);
	expect_refused(c.bytes, c.count, BSHM_E_CORRUPT);
	*header = saved;
	header->partition_count *= 2; /* consistent with itself, but not with the file */
	header->entry_count *= 2;
	header->head_count *= 2;
	seal(c);
	expect_refused(c.bytes, c.count, BSHM_E_CORRUPT);
	free(c.bytes);
}

static void ignore_fault(void *context, const char *what, const char *name)
{
	(void) context;
	CHECK(what != NULL && name != NULL);
}

static void ignore_letter(
	void *context, const bshm_outbox_letter *letter, uint64_t name, const bshm_key *key)
{
	(void) name;
	CHECK(key->length <= BSHM_OUTBOX_KEY_MAX);
	bshm_outbox_free(context, letter, 1);
}

/* Every call, on a segment whose directory, ops, journal, links and outbox are anything. */
static void use_a_damaged_segment(void)
{
	forget_views();
	bshm_segment *segment = open_segment(MB(1));
	CHECK_INT(absent(segment, "f", 0, 1000), 0); /* they were in it, or there is no such filter */
	CHECK_INT(absent(segment, "other", 0, 1000), 0);
	CHECK(add(segment, "f", "a") < 0 || has(segment, "f", "a") != 0);
	stat_of(segment);
	char name[BSHM_NAME_BYTES_MAX + 1];
	uint32_t cursor = 0;
	do {
		bshm_filter_next(segment, &cursor, name);
	} while (cursor != 0);
	bshm_outbox_read(segment, true, ignore_letter, segment);
	rename_filter(segment, "f", "g");
	copy_filter(segment, "f", "g");
	clear(segment, "f");
	drop(segment, "f");
	CHECK(bshm_segment_check(segment, ignore_fault, NULL, &(bshm_error){0}) >= 0);
	const int status = load(segment, "f", 0, 1000);
	CHECK(status == BSHM_OK || status == BSHM_E_NO_SPACE);
	if (status == BSHM_OK) {
		CHECK_INT(absent(segment, "f", 0, 1000), 0);
		CHECK(add_number(segment, "f", 5000) >= 0);
		CHECK_INT(has_number(segment, "f", 5000), 1);
	}
	CHECK(bshm_segment_check(segment, ignore_fault, NULL, &(bshm_error){0}) >= 0);
}

TEST(random_bytes_after_the_header_harm_nobody)
{
	uint64_t random = test_seed();
	const contents c = sound_segment();
	bshm_segment *segment = open_segment(MB(1));
	const size_t meta = partitions_at(segment);
	bshm_segment_close(segment); /* Windows rewrites no file that is mapped */
	for (int round = 0; round < 40; round++) {
		const int kind = round % 4;
		for (size_t i = 4096; i + 8 <= c.count; i += i + 8 == meta ? 8 + MB(1) : 8) {
			const uint64_t word = kind == 0   ? test_random(&random)
								  : kind == 1 ? test_random(&random) % 200
								  : kind == 2 ? UINT64_MAX
											  : test_random(&random) % 2 * test_random(&random);
			memcpy(c.bytes + i, &word, sizeof(word));
		}
		write_segment(c.bytes, c.count);
		CHECK_INT(finish(spawn(use_a_damaged_segment)), 0);
	}
	free(c.bytes);
}

/* The same with a few words damaged, and the rest as it was. */
TEST(a_few_damaged_words_harm_nobody)
{
	uint64_t random = test_seed();
	bshm_segment *segment = open_segment(MB(1));
	CHECK_INT(load(segment, "f", 0, 1000), BSHM_OK);
	CHECK_INT(load(segment, "other", 0, 1000), BSHM_OK);
	bshm_build *build = begin_build(segment, "f");
	CHECK(add_numbers(segment, "f", 2000, 2300) > 290);
	const contents c = read_segment();
	const size_t meta = partitions_at(segment);
	bshm_build_abort(build);
	uint64_t *words = (uint64_t *) (void *) c.bytes;
	for (int round = 0; round < 150; round++) {
		size_t places[8];
		uint64_t saved[8];
		for (int i = 0; i < 8; i++) {
			/* Mostly where there is something: the non-zero words; not in what attaching checks. */
			do {
				places[i] = 8 + test_random(&random) % (meta / 8 - 8);
			} while ((words[places[i]] == 0 && test_random(&random) % 200 != 0) ||
					 (places[i] >= offsetof(bshm_header, shard_count) / 8 &&
						 places[i] < offsetof(bshm_header, reserved5) / 8));
			saved[i] = words[places[i]];
			words[places[i]] ^= UINT64_C(1) << (test_random(&random) % 64);
		}
		write_segment(c.bytes, c.count);
		CHECK_INT(finish(spawn(use_a_damaged_segment)), 0);
		for (int i = 8; i-- > 0;) {
			words[places[i]] = saved[i];
		}
	}
	free(c.bytes);
}
