/*
 * test_store.h - what the tests of the record store share.
 *
 * A value tells its key's number, a serial number and its length, and the rest of it follows from
 * those: so a torn one, or another key's, is seen.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_STORE_H
#define BSHM_TEST_STORE_H

#include "core/bshm_records.h"
#include "core/cache/shard_lock.h"
#include "core/hash.h"
#include "core/segment/lock.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline bshm_segment *open_store(uint64_t cache_bytes, uint64_t cache_records)
{
	const bshm_options options = {
		.path = test_path("segment"),
		.filter_bytes = MB(1),
		.cache_bytes = cache_bytes,
		.cache_records = cache_records,
		.mode = 0600,
	};
	unlink(options.path);
	bshm_segment *segment;
	bshm_error error;
	REQUIRE(bshm_segment_open(&options, &segment, &error) == BSHM_OK);
	return segment;
}

/* With the same hashes in each run: of some thousand keys two look alike, and where a key lies is
 * chance. */
static inline bshm_segment *open_with_seed(uint64_t cache_bytes, uint64_t cache_records)
{
	bshm_segment *segment = open_store(cache_bytes, cache_records);
	bshm_header *header = segment->header;
	segment->name_seed = header->name_seed = 7;
	header->check = bshm__checksum(header, offsetof(bshm_header, check), 0);
	return segment;
}

/* Once more, with an owner of its own. */
static inline bshm_segment *attach_store(void)
{
	const bshm_options options = {.path = test_path("segment"), .mode = 0600};
	bshm_segment *segment;
	bshm_error error;
	REQUIRE(bshm_segment_open(&options, &segment, &error) == BSHM_OK);
	return segment;
}

static inline uint8_t store_byte(uint32_t number, uint64_t serial, uint32_t i)
{
	return (uint8_t) ((number * 2654435761u + (uint32_t) serial * 40503u + i * 97u) >> 7);
}

static inline void store_fill(uint8_t *bytes, uint32_t number, uint64_t serial, uint32_t length)
{
	uint8_t head[16];
	memcpy(head, &number, 4);
	memcpy(head + 4, &length, 4);
	memcpy(head + 8, &serial, 8);
	for (uint32_t i = 0; i < length; i++) {
		bytes[i] = i < 16 ? head[i] : store_byte(number, serial, i);
	}
}

static inline int store_put_once(bshm_segment *segment, uint32_t number, uint64_t serial,
	uint32_t length, uint32_t ttl_s, bshm_put_mode mode)
{
	uint8_t *bytes = malloc(length + 1);
	store_fill(bytes, number, serial, length);
	const uint64_t key = number;
	const bshm_put put = {
		.key = {(const char *) &key, 8},
		.value = {BSHM_VALUE_STRING, bytes, length},
		.ttl_s = ttl_s,
		.mode = mode,
	};
	bshm_error error;
	const int stored = bshm_record_put(segment, &put, &error);
	free(bytes);
	return stored;
}

static inline int store_put(bshm_segment *segment, uint32_t number, uint64_t serial,
	uint32_t length, uint32_t ttl_s, bshm_put_mode mode)
{
	return PATIENTLY(store_put_once(segment, number, serial, length, ttl_s, mode));
}

/* 1 = found and whole, 0 = absent, -1 = torn. The serial number only of values of 16 bytes or
 * more. */
static inline int store_get(
	bshm_segment *segment, uint32_t number, uint64_t *serial, uint32_t *length)
{
	const uint64_t key_bytes = number;
	const bshm_key key = {(const char *) &key_bytes, 8};
	bshm_found found;
	uint8_t *bytes = NULL;
	for (;;) {
		if (bshm_record_find(segment, 0, &key, BSHM_FIND_USE, &found) != 1) {
			free(bytes);
			return 0;
		}
		bytes = realloc(bytes, found.length + 1);
		if (bshm_found_copy(&found, bytes)) {
			break;
		}
	}
	*length = (uint32_t) found.length;
	uint64_t told = 0;
	if (*length >= 16) {
		memcpy(&told, bytes + 8, 8);
		*serial = told;
	}
	int whole = 1;
	uint8_t *expected = malloc(*length + 1);
	store_fill(expected, number, *length >= 16 ? told : *serial, *length);
	if (memcmp(bytes, expected, *length < 8 ? 0 : *length) != 0) {
		whole = -1;
	}
	free(expected);
	free(bytes);
	return whole;
}

static inline bool store_find(bshm_segment *segment, uint32_t number, unsigned flags)
{
	const uint64_t bytes = number;
	const bshm_key key = {(const char *) &bytes, 8};
	bshm_found found;
	return bshm_record_find(segment, 0, &key, flags, &found) == 1;
}

static inline bool store_use(bshm_segment *segment, uint32_t number)
{
	return store_find(segment, number, BSHM_FIND_USE);
}

/* Not a use. */
static inline bool store_has(bshm_segment *segment, uint32_t number)
{
	return store_find(segment, number, 0);
}

/* Removes the oldest record. */
static inline uint32_t store_pop(bshm_segment *segment)
{
	bshm_found found;
	bshm_error error;
	uint64_t number = 0;
	CHECK_INT(bshm_record_oldest(segment, &found), 1);
	CHECK(bshm_found_copy_key(&found, &number));
	const bshm_key key = {(const char *) &number, 8};
	CHECK_INT(bshm_found_remove(&found, &key, NULL, &error), 1);
	return (uint32_t) number;
}

static inline uint64_t store_evictions(bshm_segment *segment)
{
	bshm_store_info info;
	bshm_store_stat(segment, &info);
	return info.evictions;
}

/* Puts records until something is evicted; what the next number is. */
static inline uint32_t store_fill_up(bshm_segment *segment, uint32_t number, uint32_t length)
{
	do {
		CHECK_INT(store_put(segment, number, 1, length, 0, BSHM_PUT_SET), 1);
	} while (++number % 256 != 0 || store_evictions(segment) == 0);
	return number;
}

static inline int store_remove(bshm_segment *segment, uint32_t number)
{
	const uint64_t key_bytes = number;
	const bshm_key key = {(const char *) &key_bytes, 8};
	bshm_error error;
	return PATIENTLY(bshm_record_remove(segment, 0, &key, &error));
}

static inline void store_told(void *context, const char *what, const char *name)
{
	(void) context;
	(void) name;
	test_note("%s", what);
}

static inline uint64_t records_of(bshm_segment *segment)
{
	bshm_store_info info;
	CHECK_INT(bshm_store_stat(segment, &info), BSHM_OK);
	return info.records;
}

/* Of a limit that several shards share: what they have, and what they may still put. */
static inline uint64_t given_out(const bshm_segment *segment)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		sum += BSHM_LOAD(&segment->shards[i].records, RELAXED);
		sum += BSHM_LOAD(&segment->shards[i].credit, RELAXED);
	}
	return sum;
}

static inline void check_sound(bshm_segment *segment)
{
	CHECK_INT(bshm_segment_check(segment, store_told, NULL, &(bshm_error){0}), 0);
}

/* The first key, from *k on, whose position in the first table is from `from` to before `until`. */
static inline uint32_t key_at(
	const bshm_segment *segment, uint64_t *k, uint32_t from, uint32_t until)
{
	for (;; ++*k) {
		const bshm__home home = bshm__home_of(segment, 0, &(bshm_key){(const char *) k, 8});
		if (home.table == 0 && home.position >= from && home.position < until) {
			return (uint32_t) (*k)++;
		}
	}
}

/* In a child: holds the lock of the last shard until it is killed. */
static inline void hold_the_last_shard(void)
{
	bshm_error error;
	bshm_segment *own = attach_store();
	const bshm__shard last = bshm__shard_at(own, own->shard_count - 1);
	REQUIRE(bshm__shard_lock(&last, BSHM_LOCK_BATCH_NS, &error) == BSHM_OK);
	raise_flag_and_sleep(0);
}

#endif
