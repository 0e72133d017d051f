/*
 * test_room_damage.c - a writer in a damaged store comes to an end: counts, maps and records that
 * cannot be are changed by hand, then at random. A call that goes on for ever meets the test's
 * watchdog.
 *
 * Not here: what the validator says of damage (test_verify.c); all bytes, guided (tests/fuzz).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/table.h"
#include "core/cache/verify.h"
#include "test_shard.h"

#define KEYS    100u
#define STORES  (TEST_UNDER_TSAN ? 2u : 25u)
#define CALLS   300u
#define LONGEST 20000u

static bshm_found find_number(uint64_t number)
{
	const bshm_key key = {(const char *) &number, 8};
	bshm_found found;
	REQUIRE(bshm_record_find(segment, BSHM_SPACE_CACHE, &key, 0, &found) == 1);
	return found;
}

/* A page that is never empty, and a class that always seems to have too many: what is in it goes to
 * and fro. */
TEST(room_is_not_sought_for_ever_where_counts_are_wrong)
{
	segment = open_store(MB(1), 0);
	s = bshm__shard_at(segment, 0);
	REQUIRE(store_put(segment, 0, 1, 5000, 0, BSHM_PUT_SET) == 1);
	const bshm_found found = find_number(0);
	const uint32_t of_chunk = bshm__ref_class(&s, found.next);
	uint32_t *state = bshm__slot_word(found.slot, 0);
	BSHM_STORE(state, *state & ~BSHM_SLOT_LIVE, RELAXED); /* it cannot be evicted */
	for (uint32_t page = 1; page <= segment->shard_pages; page++) {
		if (bshm__page_class(&s, page) == of_chunk) {
			/* Slots that there are not. */
			segment->page_bitmaps[page - 1].taken |= UINT64_C(3) << 40;
			segment->page_headers[page - 1].vacant = 1;
		}
	}
	s.shard->classes[of_chunk].pages = 1000;
	s.shard->classes[BSHM_CLASS_CHUNK].used = INT32_MAX;
	const int stored = store_put(segment, 9, 1, 41000, 0, BSHM_PUT_SET);
	CHECK(stored == 0 || stored == 1);
}

/* Else the counts taken anew could be ones that cannot be, and would be taken anew each time. */
TEST(bits_of_slots_that_there_are_not_are_not_counted)
{
	segment = open_store(MB(1), 0);
	s = bshm__shard_at(segment, 0);
	REQUIRE(store_put(segment, 0, 1, 5000, 0, BSHM_PUT_SET) == 1);
	const uint32_t of_chunk = bshm__ref_class(&s, find_number(0).next);
	for (uint32_t page = 1; page <= segment->shard_pages; page++) {
		if (bshm__page_class(&s, page) == of_chunk) {
			segment->page_bitmaps[page - 1].taken |= UINT64_C(3) << 40;
		}
	}
	bshm__slabs_doubt(&s);
	bshm__slots_free(&s, of_chunk);
	CHECK_INT(s.shard->classes[of_chunk].used, 1);
}

/* Its page cannot be emptied, and no other is taken for it again and again. */
TEST(a_unit_that_no_table_has_is_not_moved)
{
	segment = open_store(MB(1), 0);
	s = bshm__shard_at(segment, 0);
	REQUIRE(store_put(segment, 0, 1, 100, 0, BSHM_PUT_SET) == 1);
	const uint32_t unit = bshm__slot_find(&s, BSHM_CLASS_INDEX, 0);
	bshm__slot_take(&s, unit);
	const uint32_t pages = s.shard->given_pages;
	CHECK(!bshm__unit_move(&s, unit));
	CHECK_INT(s.shard->given_pages, pages);
	bshm__slot_free(&s, unit);
	check_sound(segment);
}

/* Pages that cannot be emptied, in a class that has slots to spare, are no reason to refuse what
 * evicting makes room for. */
TEST(nothing_is_refused_for_units_that_no_table_has)
{
	enum {
		UNITS = 40
	};
	uint32_t units[UNITS];
	uint32_t refused = 0;
	uint32_t number = 0;
	uint64_t seed = test_seed();
	segment = open_store(MB(1), 0);
	s = bshm__shard_at(segment, 0);
	for (uint32_t i = 0; i < UNITS; i++) {
		units[i] = bshm__slot_find(&s, BSHM_CLASS_INDEX, 0);
		bshm__slot_take(&s, units[i]);
	}
	for (uint32_t i = 0; i < UNITS; i++) {
		if (i % 4 != 0) {
			bshm__slot_free(&s, units[i]);
		}
	}
	for (uint32_t phase = 0; phase < 12; phase++) {
		const bool small = phase % 2 != 0;
		for (uint32_t i = 0; i < (small ? 30000u : 300u); i++) {
			const uint64_t chance = test_random(&seed);
			const uint32_t length = (uint32_t) (small ? 4 + chance % 60 : 500 + chance % 3000);
			refused += store_put(segment, number++, 1, length, 0, BSHM_PUT_SET) != 1;
		}
	}
	CHECK_INT(refused, 0);
}

/* A number that is likely to matter, or any. */
static uint32_t odd_number(uint64_t *seed)
{
	static const uint32_t likely[] = {0, 1, 2, BSHM_CLASS_SHORT, BSHM_CLASS_CHUNK, BSHM_CLASS_INDEX,
		BSHM_CLASS_COUNT, BSHM_CLASS_COUNT + 1, 4072, 4080, 4081, BSHM_CHUNK_BYTES, INT32_MAX,
		UINT32_MAX};
	const uint64_t random = test_random(seed);
	return random % 2 == 0 ? likely[random / 2 % (sizeof(likely) / sizeof(likely[0]))]
						   : (uint32_t) (random >> 32);
}

static void damage_record(uint64_t *seed, uint32_t page)
{
	const uint32_t size_class = bshm__page_class(&s, page);
	if (size_class == BSHM_CLASS_COUNT) {
		return;
	}
	const uint32_t slot = (uint32_t) (test_random(seed) % bshm__class_slots(size_class));
	uint8_t *bytes =
		bshm__ref_at(&s, bshm__page_ref(&s, page, size_class, slot), BSHM_SLOT_BYTES_MIN);
	REQUIRE(bytes != NULL);
	const uint32_t which = (uint32_t) (test_random(seed) % 4);
	uint32_t *word = bshm__slot_word(bytes, which);
	switch (test_random(seed) % 3) {
		case 0:
			BSHM_STORE(word, odd_number(seed), RELAXED);
			break;
		case 1: /* of a state: stands for another kind of slot */
			BSHM_STORE(word, *word ^ 1u << (16 + test_random(seed) % 4), RELAXED);
			break;
		default: /* leads to another page */
			BSHM_STORE(
				word, (uint32_t) (test_random(seed) % (segment->shard_pages + 2)) << 12, RELAXED);
	}
}

/* The bitmap of a page. */
static uint64_t *words_of(uint32_t page, uint32_t *count)
{
	const uint32_t size_class = bshm__page_class(&s, page);
	const uint32_t words = size_class == BSHM_CLASS_COUNT ? 0 : bshm__class_map_words(size_class);
	uint8_t *end = s.pages + (size_t) page * BSHM_SLAB_BYTES;
	*count = words == 0 ? 1 : words;
	return words == 0 ? &segment->page_bitmaps[page - 1].taken : (uint64_t *) (void *) end - words;
}

static void damage(uint64_t *seed)
{
	uint32_t count;
	const uint32_t page = (uint32_t) (test_random(seed) % segment->shard_pages) + 1;
	bshm_class *its_class =
		&s.shard
			 ->classes[test_random(seed) % 4 == 0 ? test_random(seed) % BSHM_CLASS_COUNT
												  : BSHM_CLASS_COUNT - 1 - test_random(seed) % 4];
	switch (test_random(seed) % 8) {
		case 0:
			segment->page_headers[page - 1].size_class = odd_number(seed) % (BSHM_CLASS_COUNT + 2);
			break;
		case 1:
			words_of(page, &count)[test_random(seed) % count] ^= UINT64_C(1)
																 << test_random(seed) % 64;
			break;
		case 2:
			its_class->used = odd_number(seed);
			break;
		case 3:
			its_class->pages = odd_number(seed);
			break;
		case 4:
			its_class->hint = odd_number(seed);
			break;
		default:
			damage_record(seed, page);
	}
}

static void ignore(void *context, const char *what)
{
	(void) context;
	(void) what;
}

static void call(uint64_t *seed)
{
	static uint8_t bytes[1 << 20];
	const uint64_t number = test_random(seed) % KEYS;
	const bshm_key key = {(const char *) &number, 8};
	const uint32_t longest = test_random(seed) % 5 == 0 ? 13 * LONGEST : LONGEST;
	bshm_found found;
	bshm_error error;
	switch (test_random(seed) % 5) {
		case 0:
		case 1:
			store_put(segment, (uint32_t) number, 1, (uint32_t) (test_random(seed) % longest),
				(uint32_t) (test_random(seed) % 2), BSHM_PUT_SET);
			break;
		case 2:
			if (bshm_record_find(segment, 0, &key, BSHM_FIND_USE, &found) == 1 &&
				found.length <= sizeof(bytes)) {
				bshm_found_copy(&found, bytes);
			}
			break;
		case 3:
			bshm_record_remove(segment, 0, &key, &error);
			break;
		default:
			if (test_random(seed) % 20 == 0) {
				bshm__store_verify(segment, ignore, NULL, &(bshm_error){0});
			}
	}
}

TEST(calls_on_a_store_damaged_at_random_come_to_an_end)
{
	uint64_t seed = test_seed();
	for (uint32_t i = 0; i < STORES; i++) {
		segment = open_store(MB(1), 0);
		s = bshm__shard_at(segment, 0);
		for (uint32_t k = 0; k < 150; k++) {
			store_put(segment, (uint32_t) (test_random(&seed) % KEYS), k,
				(uint32_t) (test_random(&seed) % LONGEST), 0, BSHM_PUT_SET);
		}
		for (uint32_t k = 0; k < CALLS; k++) {
			for (uint64_t n = test_random(&seed) % 4; n != 0; n--) {
				damage(&seed);
			}
			call(&seed);
		}
		bshm_segment_close(segment);
	}
}
