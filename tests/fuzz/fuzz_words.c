/*
 * fuzz_words.c - a libFuzzer target: the words of a segment change all the time while it is used.
 *
 * fuzz_segment.c makes a few edits at places that an input names. Here any word may change just
 * before it is loaded, as often as once in eight loads, and each call leaves more damage to the
 * next. The segment is that of fuzz_segment.c, with all its calls. Or it is a larger record store:
 * values fit into it that are so large that they are put in steps.
 *
 *      +--------+--------+--------+
 *      | memory | rate   | limit  |  then any bytes, of which all chance is made
 *      +--------+--------+--------+
 *
 * No call may crash, and no input take more than 10 s of the processor.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fuzz.h"

#include "core/cache/slab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEYS       40u
#define SMALL_KEYS 3000u
#define SMALL_PUTS 60u
#define CALLS      300u
#define SOUND      100u /* so many come before the first edit */
#define ROUNDS     3u   /* of all calls */
#define VALUE_MOST (UINT64_C(1) << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bshm_segment *segment;
static const uint8_t *first;   /* no word before it is changed */
static char bytes[VALUE_MOST]; /* of all values */
static uint64_t chance;
static uint64_t rate;  /* loads for each edit, about */
static uint64_t loads; /* until the next one */

static uint64_t draw(uint64_t below)
{
	chance += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t x = chance;
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (x ^ (x >> 31)) % below;
}

/* ------------------------------------------------------------------ edits */

/* If a lock was taken by an edit, all calls would be refused. And any bits are a filter. */
static bool is_left_alone(const uint8_t *at)
{
	if (at >= (const uint8_t *) segment->partitions && at < (const uint8_t *) segment->store) {
		return true;
	}
	for (uint32_t i = 0; i < segment->shard_count; i++) {
		const uint8_t *lock = (const uint8_t *) &segment->shards[i].lock;
		if (at >= lock && at < lock + sizeof(uint64_t)) {
			return true;
		}
	}
	return false;
}

/* Many lead somewhere in the store, if they are refs; or to another partition. */
static uint32_t another(uint32_t word)
{
	const uint64_t units = (uint64_t) segment->shard_count * segment->shard_pages << 12;
	switch (draw(9)) {
		case 0:
			return 0;
		case 1:
			return UINT32_MAX;
		case 2:
			return word ^ 1u << draw(32);
		case 3:
			return word + 1;
		case 4:
			return (uint32_t) draw(segment->partition_count + 2);
		default:
			return (1u << 12) + (uint32_t) draw(units);
	}
}

static void before_load(const void *at)
{
	const uint8_t *byte = at;
	if (byte < first || byte >= world.end) {
		return;
	}
	if (loads != 0) {
		loads--;
	} else if (!is_left_alone(byte)) {
		uint32_t *word = (uint32_t *) ((uintptr_t) byte & ~(uintptr_t) 3);
		*word = another(*word);
		loads = draw(2 * rate);
	}
}

/* ------------------------------------------------------------------ calls */

static bshm_key key_of(char first, uint64_t number)
{
	static char text[24];
	return (bshm_key){
		text, (size_t) snprintf(text, sizeof(text), "%c%u", first, (unsigned) number)};
}

static uint64_t a_length(void)
{
	const uint64_t most = segment->shard_bytes / 4;
	const uint64_t below[] = {100, 3000, 20000, 200000, most};
	const uint64_t length = draw(below[draw(5)]);
	return length < VALUE_MOST ? length : VALUE_MOST;
}

static void put(bshm_put *p)
{
	const bshm_value expected = {BSHM_VALUE_STRING, bytes, a_length()};
	bshm_error error;
	p->mode = draw(2) ? BSHM_PUT_SET : draw(2) ? BSHM_PUT_REPLACE : BSHM_PUT_CAS;
	p->expected = p->mode == BSHM_PUT_CAS ? &expected : NULL;
	bshm_record_put(segment, p, &error);
	p->expected = NULL;
}

static void put_small(void)
{
	bshm_error error;
	for (uint32_t i = 0; i < SMALL_PUTS; i++) {
		bshm_put p = {
			.key = key_of('s', draw(SMALL_KEYS)), .value = {BSHM_VALUE_STRING, bytes, draw(120)}};
		bshm_record_put(segment, &p, &error);
	}
}

static void get(const bshm_key *key, bshm_patience *patience)
{
	bshm_error error;
	bshm_found found;
	if (bshm_record_find(segment, BSHM_SPACE_CACHE, key, BSHM_FIND_USE, &found) == 1 &&
		found.length <= BSHM_RECORD_BYTES_MAX) {
		char *to = malloc(found.length + 1);
		const bshm_room room = {to, found.length};
		bshm_found_copy(&found, to);
		bshm_record_copy(segment, BSHM_SPACE_CACHE, key, 0, &room, patience, &found, &error);
		free(to);
	}
}

static void ignore(void *context, const char *what, const char *name)
{
	(void) context;
	(void) what;
	(void) name;
}

static void look_at_all(void)
{
	bshm_scan scan = {0};
	bshm_found found;
	for (uint32_t i = 0; i < 30 && (i == 0 || scan.cursor != 0); i++) {
		bshm_scan_next(segment, &scan, 0);
	}
	bshm_scan_free(&scan);
	bshm_record_oldest(segment, &found);
	if (draw(8) == 0) {
		bshm_segment_check(segment, ignore, NULL, &(bshm_error){0});
	}
}

static void call(void)
{
	bshm_put p = {.key = key_of('k', draw(KEYS)),
		.value = {BSHM_VALUE_STRING, bytes, a_length()},
		.ttl_s = draw(3) == 0 ? 1 + (uint32_t) draw(30) : 0};
	const bshm_increment one = {.key = {"counter", 7}, .by = 1};
	bshm_patience patience = {0};
	bshm_lease_grant grant;
	bshm_error error;
	int64_t value;
	switch (draw(12)) {
		case 0:
			put_small();
			break;
		case 1:
			bshm_record_touch(segment, &p.key, p.ttl_s, &error);
			break;
		case 2:
			bshm_record_remove(segment, BSHM_SPACE_CACHE, &p.key, &error);
			break;
		case 3:
			if (bshm_lease_take(segment, BSHM_SPACE_CACHE, &p.key, false, &patience, &grant) ==
				BSHM_LEASE_MINE) {
				bshm_lease_release(segment, &grant, &p, &patience, &error);
			}
			break;
		case 4:
			bshm_record_increment(segment, &one, &value, &error);
			break;
		case 5:
			look_at_all();
			break;
		case 6:
			if (draw(8) == 0) {
				bshm_records_clear(segment, &(bshm_key){"k1", draw(2) * 2});
			}
			break;
		case 7:
		case 8:
			get(&p.key, &patience);
			break;
		default:
			put(&p);
			break;
	}
}

static void use_store(void)
{
	first = (const uint8_t *) segment->store;
	for (uint32_t i = 0; i < CALLS; i++) {
		world.before_load = i < SOUND ? NULL : before_load;
		call();
	}
}

static void use_all(void)
{
	bshm_views *views = bshm_views_new();
	first = (const uint8_t *) (&segment->header->lock + 1);
	world.before_load = before_load;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		fuzz_calls(segment, views, (unsigned) draw(65536));
	}
	bshm_views_free(views);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static fuzz_template sound;
	if (sound.bytes == NULL) {
		sound = fuzz_template_make();
	}
	if (size < 3) {
		return 0;
	}
	fuzz_world_reset();
	chance = size;
	for (size_t i = 0; i < size; i++) {
		chance = (chance ^ data[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
	}
	const char *path = fuzz_path("words");
	const bool all = data[0] % 4 == 3;
	bshm_options options = fuzz_options(path);
	bshm_error error;
	unlink(path);
	if (all) {
		fuzz_write_file(path, sound.bytes, sound.count);
	} else {
		options.cache_bytes = UINT64_C(1048576) << data[0] % 4;
		options.cache_records = data[2] % 4 == 0 ? 100 + data[2] : 0;
	}
	if (bshm_segment_open(&options, &segment, &error) != BSHM_OK) {
		fuzz_defect("no segment", bshm_cause_str(error.cause));
	}
	rate = UINT64_C(4) << data[1] % 12;
	loads = draw(2 * rate);
	if (all) {
		use_all();
	} else {
		use_store();
	}
	world.before_load = NULL;
	bshm_segment_close(segment);
	unlink(path);
	return 0;
}
