/*
 * test_put.c - the record store against a model that always tells the truth.
 *
 * A value tells its key, a serial number and its length, so whatever is read can be judged alone.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/slab.h"
#include "test.h"
#include "test_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEYS 3000

typedef struct {
	bool present;
	uint64_t serial;
	uint32_t length;
} truth;

static truth model[KEYS];

static void check_key(bshm_segment *segment, uint32_t number, bool may_be_gone)
{
	const truth *t = &model[number];
	uint64_t serial = t->serial; /* short values do not tell theirs */
	uint32_t length = 0;
	const int found = store_get(segment, number, &serial, &length);
	if (found == 0) {
		CHECK(!t->present || may_be_gone);
	} else {
		CHECK_INT(found, 1);
		CHECK(t->present);
		CHECK_INT(serial, t->serial);
		CHECK_INT(length, t->length);
	}
}

/* Random changes and look-ups, with values of 0 to `longest` bytes. */
static void run_model(bshm_segment *segment, unsigned steps, uint32_t longest, bool may_be_gone)
{
	uint64_t seed = test_seed();
	memset(model, 0, sizeof(model));
	for (unsigned i = 0; i < steps && !test_failed(); i++) {
		const uint32_t number = (uint32_t) (test_random(&seed) % KEYS);
		const uint32_t what = (uint32_t) (test_random(&seed) % 10);
		truth *t = &model[number];
		if (what < 5) {
			uint32_t length = (uint32_t) (test_random(&seed) % (longest + 1));
			length = test_random(&seed) % 4 == 0 ? length : length % 200;
			const int stored = store_put(segment, number, i + 1, length, 0, BSHM_PUT_SET);
			CHECK_INT(stored, 1);
			*t = (truth){true, i + 1, length};
		} else if (what < 6) {
			const bool removed = store_remove(segment, number) == 1;
			CHECK(removed == t->present || (may_be_gone && !removed));
			t->present = false;
		} else {
			check_key(segment, number, may_be_gone);
		}
	}
	for (uint32_t i = 0; i < KEYS; i++) {
		check_key(segment, i, may_be_gone);
	}
	check_sound(segment);
}

TEST(small_values_agree_with_the_model)
{
	run_model(open_store(MB(8), 0), 60000, 64, false);
}

TEST(values_of_all_sizes_agree_with_the_model)
{
	run_model(open_store(MB(64), 0), 30000, 20000, false);
}

TEST(what_is_evicted_is_gone_and_nothing_else_is_wrong)
{
	run_model(open_store(MB(1), 0), 60000, 9000, true);
	run_model(open_store(MB(1), 500), 30000, 100, true);
}

TEST(large_values_come_back_whole)
{
	bshm_segment *segment = open_store(MB(64), 0);
	/* With 8 bytes of key: what fits into the first slot, and half a chunk, and a chunk, and one
	 * more. */
	static const uint32_t lengths[] = {4000, 4060, 4063, 4064, 4065, 4071, 4072, 4073, 4080, 4084,
		4088, 8143, 8144, 8145, 8167, 8168, 8169, 12239, 12240, 12241, 12248, 12249, 16320, 16321,
		65535, 65536, 1000000, 16 * 1024 * 1024 - 64};
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint64_t serial = i;
		uint32_t length = 0;
		CHECK_INT(store_put(segment, i, i, lengths[i], 0, BSHM_PUT_SET), 1);
		CHECK_INT(store_get(segment, i, &serial, &length), 1);
		CHECK_INT(length, lengths[i]);
		CHECK_INT(store_put(segment, i, i, lengths[i], 60, BSHM_PUT_SET), 1);
		CHECK_INT(store_get(segment, i, &serial, &length), 1);
	}
	check_sound(segment);
}

/* And stay as they were found, whatever becomes of the record. */
TEST(short_values_come_with_what_is_found)
{
	bshm_segment *segment = open_store(MB(1), 0);
	const bshm_key key = {"key", 3};
	bshm_error error;
	for (unsigned length = 0; length <= BSHM_SHORT_MAX + 8; length++) {
		char bytes[64] = {0};
		char copy[64] = {0};
		for (unsigned i = 0; i < length; i++) {
			bytes[i] = (char) (length + i);
		}
		const bshm_put put = {.key = key, .value = {BSHM_VALUE_STRING, bytes, length}};
		bshm_found found;
		CHECK_INT(bshm_record_put(segment, &put, &error), 1);
		CHECK_INT(bshm_record_find(segment, 0, &key, BSHM_FIND_VALUE, &found), 1);
		CHECK_INT(found.type, BSHM_VALUE_STRING);
		CHECK_INT(found.length, length);
		CHECK_INT(found.fetched, length <= BSHM_SHORT_MAX);
		if (found.fetched) {
			CHECK_INT(bshm_record_remove(segment, 0, &key, &error), 1);
		}
		CHECK(bshm_found_copy(&found, copy));
		CHECK(memcmp(copy, bytes, sizeof(bytes)) == 0);
	}
	check_sound(segment);
}

/* Keys of every length around where they stop fitting into a slot. */
TEST(long_keys_are_told_apart)
{
	bshm_segment *segment = open_store(MB(16), 0);
	static char bytes[BSHM_KEY_BYTES_MAX];
	memset(bytes, 'k', sizeof(bytes));
	static const uint32_t lengths[] = {0, 1, 8, 255, 4070, 4080, 4096, 8160, 8176, 12256, 65535};
	bshm_error error;
	bshm_found found;
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (unsigned last = 0; last < 2; last++) {
			if (lengths[i] != 0) {
				bytes[lengths[i] - 1] = (char) ('0' + last);
			} else if (last == 1) {
				continue;
			}
			const bshm_put put = {
				.key = {bytes, lengths[i]}, .value = {BSHM_VALUE_STRING, &last, sizeof(last)}};
			CHECK_INT(bshm_record_put(segment, &put, &error), 1);
		}
		for (unsigned last = 0; last < (lengths[i] != 0 ? 2u : 1u); last++) {
			if (lengths[i] != 0) {
				bytes[lengths[i] - 1] = (char) ('0' + last);
			}
			const bshm_key key = {bytes, lengths[i]};
			unsigned value = 9;
			CHECK_INT(bshm_record_find(segment, 0, &key, 0, &found), 1);
			CHECK(bshm_found_copy(&found, &value));
			CHECK_INT(value, last);
		}
		if (lengths[i] != 0) {
			bytes[lengths[i] - 1] = 'k';
		}
	}
	check_sound(segment);
}

TEST(expecting_keys_changes_nothing)
{
	for (uint64_t cache_bytes = 0; cache_bytes <= MB(1); cache_bytes += MB(1)) {
		bshm_segment *segment = open_store(cache_bytes, 0);
		uint64_t numbers[BSHM_BATCH];
		bshm_key keys[BSHM_BATCH];
		for (uint32_t i = 0; i < BSHM_BATCH; i++) {
			numbers[i] = i;
			keys[i] = (bshm_key){(const char *) &numbers[i], 8};
			store_put(segment, 2 * i, 0, i < 9 ? 9000 * i : i, 0, BSHM_PUT_SET);
		}
		bshm_store_info before;
		bshm_store_info after;
		bshm_store_stat(segment, &before);
		bshm_records_prefetch(segment, BSHM_SPACE_CACHE, keys, BSHM_BATCH);
		bshm_store_stat(segment, &after);
		CHECK(memcmp(&before, &after, sizeof(before)) == 0);
		check_sound(segment);
	}
}

TEST(a_record_too_large_is_refused_and_a_set_removes_the_old_one)
{
	bshm_segment *segment = open_store(MB(4), 0);
	uint64_t serial = 0;
	uint32_t length = 0;
	CHECK_INT(store_put(segment, 1, 1, 100, 0, BSHM_PUT_SET), 1);
	CHECK_INT(store_put(segment, 1, 2, MB(1), 0, BSHM_PUT_REPLACE), 0);
	CHECK_INT(store_get(segment, 1, &serial, &length), 1);
	CHECK_INT(serial, 1);
	CHECK_INT(store_put(segment, 1, 2, MB(1), 0, BSHM_PUT_SET), 0);
	CHECK_INT(store_get(segment, 1, &serial, &length), 0);
	CHECK_INT(store_put(segment, 1, 2, MB(1) - 8, 0, BSHM_PUT_SET), 1);
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	CHECK_INT(info.rejected, 2);
	check_sound(segment);
}

/* No size of value is ever refused for how the memory was used before. */
TEST(memory_is_used_whatever_was_stored_before)
{
	bshm_segment *segment = open_store(MB(8), 0);
	static const uint32_t sizes[] = {100, 10000, 100, 24, 3000, 1000000, 100};
	uint64_t serial = 0;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (uint64_t bytes = 0; bytes < 3 * MB(8); bytes += sizes[i] + 40) {
			const uint32_t number = (uint32_t) ++serial;
			if (store_put(segment, number, serial, sizes[i], 0, BSHM_PUT_SET) != 1) {
				test_fail(__FILE__, __LINE__, "%u bytes were refused", sizes[i]);
				check_sound(segment);
				return;
			}
		}
		bshm_store_info info;
		bshm_store_stat(segment, &info);
		CHECK(info.bytes_used <= info.bytes_total);
		if (sizes[i] <= 10000) {
			CHECK(info.bytes_used * 10 >= info.bytes_total * 9);
		}
		if (sizes[i] >= 100 && sizes[i] <= 10000) {
			const uint64_t held = info.data_bytes; /* older records of other sizes may be left */
			test_note("%u bytes: %.1f %% of the store are keys and values", sizes[i],
				100.0 * (double) held / (double) info.bytes_total);
			CHECK(held * 100 >= info.bytes_total * 75);
		}
		check_sound(segment);
	}
}

/* 8-byte keys and values: all structures included. */
TEST(records_are_small)
{
	for (unsigned ttl = 0; ttl <= 1; ttl++) {
		bshm_segment *segment = open_store(MB(64), 0);
		bshm_error error;
		for (uint64_t i = 0; i < 1000000; i++) {
			const bshm_put put = {.key = {(const char *) &i, 8},
				.value = {BSHM_VALUE_STRING, &i, 8},
				.ttl_s = ttl * 1000};
			if (bshm_record_put(segment, &put, &error) != 1) {
				CHECK(false);
			}
		}
		bshm_store_info info;
		bshm_store_stat(segment, &info);
		CHECK_INT(info.records, 1000000);
		test_note("%.2f bytes a record", (double) info.bytes_used / 1e6);
		CHECK((double) info.bytes_used / 1e6 <= (ttl == 0 ? 32.7 : 36.7));
		bshm_segment_close(segment);
		unlink(test_path("segment"));
	}
}

/* Of slots and index, and of the whole store: what they have beyond the bytes of the records, in
 * percent. */
static void waste(bshm_segment *segment, double *used, double *all)
{
	bshm_class_info classes[BSHM_CLASSES_MAX];
	const unsigned count = bshm_store_classes(segment, classes);
	double slots = 0;
	for (unsigned i = 0; i < count; i++) {
		slots += (double) classes[i].used * classes[i].slot_bytes;
	}
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	*used = 100 * slots / (double) info.data_bytes - 100;
	*all = 100 * (double) info.bytes_total / (double) info.data_bytes - 100;
}

/* A process that is late may stamp what was a slot's state: that is never a page's bitmap. */
TEST(no_slot_begins_where_a_page_may_have_its_bitmap)
{
	for (uint32_t i = 0; i < BSHM_CLASS_COUNT; i++) {
		const uint32_t slots = bshm__class_slots(i);
		const uint32_t words = bshm__class_map_words(i);
		CHECK((slots - 1) * bshm__class_bytes(i) < BSHM_SLAB_BYTES - BSHM_MAP_BYTES);
		CHECK(slots * bshm__class_bytes(i) + 8 * words <= BSHM_SLAB_BYTES);
		CHECK(8 * words <= BSHM_MAP_BYTES && slots <= 64 * (words == 0 ? 1 : words));
	}
}

#define STORES 10u

/* Where the sizes differ, some pages of each class are not full: in a small store that is much. */
TEST(values_of_8_to_10_kb_waste_little)
{
	test_counts();
	static const uint32_t sizes[] = {8192, 9000, 9500, 10000, 10240};
	double used;
	double all;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bshm_segment *segment = open_store(MB(64), 0);
		store_fill_up(segment, 0, sizes[i]);
		waste(segment, &used, &all);
		test_note("%u bytes: slots and index %.2f %%, the whole store %.2f %% more than the data",
			sizes[i], used, all);
		CHECK(all <= 1.5);
		bshm_segment_close(segment);
	}
	/* Which pages are not full depends on the hashes, so it differs between two stores. */
	static const double most[][2] = {{1, 25}, {4, 8}, {64, 1.6}};
	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		double used_sum = 0;
		double all_sum = 0;
		for (unsigned store = 0; store < STORES; store++) {
			bshm_segment *segment = open_store(MB((uint64_t) most[i][0]), 0);
			for (uint32_t k = 0; k < (most[i][0] < 64 ? 8000 : 30000); k++) {
				CHECK_INT(store_put(segment, k, 1, 8000 + k * 7919 % 2001, 0, BSHM_PUT_SET), 1);
			}
			waste(segment, &used, &all);
			used_sum += used;
			all_sum += all;
			bshm_segment_close(segment);
		}
		used = used_sum / STORES;
		all = all_sum / STORES;
		test_note("8 to 10 kB in %.0f MB: %.2f %%, %.2f %%", most[i][0], used, all);
		CHECK(all <= most[i][1]);
		CHECK(most[i][0] < 64 || used <= 1.2);
	}
}

/* As keys that are counted up do. The first ones fill the store, so later ones find their slots. */
TEST(records_that_get_longer_are_not_divided_as_the_first_were)
{
	test_counts();
	double used;
	double all;
	for (uint32_t mb = 16; mb <= 32; mb *= 2) {
		bshm_segment *segment = open_store(MB((uint64_t) mb), 0);
		for (uint32_t k = 0, bytes = 9995, next = 10; k < 8000; k++) {
			if (k == next) {
				next *= 10;
				bytes++;
			}
			CHECK_INT(store_put(segment, k, 1, bytes, 0, BSHM_PUT_SET), 1);
		}
		waste(segment, &used, &all);
		test_note("in %u MB: %.2f %%, the whole store %.2f %% more than the data", mb, used, all);
		CHECK(all <= 1.5);
		bshm_segment_close(segment);
	}
}

/* They would fit into one slot, but the next larger slot may be larger by a fourth. */
TEST(values_of_2_to_4_kb_waste_little)
{
	test_counts();
	double used;
	double all;
	static const uint32_t most[][3] = {{64, 3300, 3}, {16, 2800, 4}, {4, 3400, 5}, {1, 3400, 8}};
	bshm_segment *segment = NULL;
	for (size_t i = sizeof(most) / sizeof(most[0]); i-- != 0;) {
		if (segment != NULL) {
			bshm_segment_close(segment);
		}
		segment = open_store(MB(most[i][0]), 0);
		store_fill_up(segment, 0, most[i][1]);
		waste(segment, &used, &all);
		test_note("%u bytes in %u MB: %.2f %%, the whole store %.2f %% more than the data",
			most[i][1], most[i][0], used, all);
		CHECK(all <= most[i][2]);
	}
	for (uint32_t k = 0; k < 60000; k++) {
		CHECK_INT(store_put(segment, k, 1, 2048 + k * 7919 % 2049, 0, BSHM_PUT_SET), 1);
	}
	waste(segment, &used, &all);
	test_note("2 to 4 kB: %.2f %%, the whole store %.2f %% more than the data", used, all);
	CHECK(all <= 6);
	check_sound(segment);
	bshm_segment_close(segment);
}

/* A shard has fewer pages than the store: so a class of its own costs more there. */
TEST(several_shards_hold_about_as_many_records_as_one)
{
	uint64_t held[2];
	for (uint32_t i = 0; i < 2; i++) {
		bshm_segment *segment = open_store(MB(70), i == 0 ? 0 : 1000000);
		CHECK_INT(segment->shard_count, i == 0 ? 3 : 1);
		for (uint32_t k = 0; k < 30000; k++) {
			CHECK_INT(store_put(segment, k, 1, 2750, 0, BSHM_PUT_SET), 1);
		}
		held[i] = records_of(segment);
		bshm_segment_close(segment);
		unlink(test_path("segment"));
	}
	test_note("%u and %u records", (unsigned) held[0], (unsigned) held[1]);
	CHECK(held[0] * 100 >= held[1] * 98);
}

/* There are not enough pages for each class of sizes to have some. */
TEST(a_small_store_of_many_sizes_has_room_for_data)
{
	bshm_segment *segment = open_store(MB(1), 0);
	for (uint32_t k = 0; k < 30000; k++) {
		CHECK_INT(store_put(segment, k, 1, 20 + k * 7919 % 1981, 0, BSHM_PUT_SET), 1);
	}
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	test_note("20 to 2,000 bytes in 1 MB: %.1f %% are keys and values",
		100.0 * (double) info.data_bytes / (double) info.bytes_total);
	CHECK(info.data_bytes * 100 >= info.bytes_total * 60);
	check_sound(segment);
	bshm_segment_close(segment);
}

/* The first size has given all pages to a class whose slots are a fourth too large; or it has freed
 * parts that are together larger than the slot. */
TEST(a_size_that_stays_gets_slots_of_its_own)
{
	static const struct {
		uint32_t before;
		uint32_t count;
		uint32_t after;
		uint32_t percent; /* of the store that are keys and values */
	} cases[] = {{2974, 1500, 2340, 78}, {5300, 395, 3830, 88}};
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		bshm_segment *segment = open_store(MB(1), 0);
		for (uint32_t i = 0; i < 16000; i++) {
			const uint32_t length = i < cases[k].count ? cases[k].before : cases[k].after;
			CHECK_INT(store_put(segment, i, 1, length - 8, 0, BSHM_PUT_SET), 1);
		}
		bshm_store_info info;
		bshm_store_stat(segment, &info);
		test_note("%u bytes: %.1f %% are keys and values", cases[k].after,
			100.0 * (double) info.data_bytes / (double) info.bytes_total);
		CHECK(info.data_bytes * 100 >= info.bytes_total * cases[k].percent);
		check_sound(segment);
		bshm_segment_close(segment);
	}
}
