/*
 * slab.c - memory of the record store: pages of 16 kB, divided into slots of one size each.
 *
 * A page that is not free belongs to a class of slot sizes. Which of its slots are taken is a bit
 * each in the page's map: taking and freeing are one store, so a death between the steps of a call
 * leaves no doubt, and no list can be broken. The counts of pages and slots are hints: a death may
 * leave them one off. Whoever takes the lock over notes that, and the next who looks for a page
 * counts anew.
 *
 * A free slot's state word is not live, and its version is one higher than it was: whoever was
 * still reading the record sees that (record.c).
 *
 * A page whose last slot is freed belongs to no class again, unless its class has few others to spare. A
 * record larger than a slot of 4 kB is a chain of slots of 8 kB and less, so no request needs neighbouring
 * pages, and what is free can be used: page_to_empty() names a page whose slots fit into the others of
 * their class.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/slab.h"

/* A class's hint: the number of a page, + 1, and which word of its map. */
#define HINT_WORD 24u
#define HINT_PAGE ((1u << HINT_WORD) - 1)

/* Free units that stay the index's: a table that grows is made anew beside the old one. */
#define INDEX_RESERVE 16u

/*
 * Slots that a class keeps free when pages of it are given up: a share of those that are taken, but no
 * more than this. Without any, it would need a page itself at once.
 */
#define SPARE_SHARE 32u
#define SPARE_MOST  256u

/* Pages looked at to find one that is quickly emptied: more cost more than they save. */
#define EMPTY_SAMPLE 512u

/* A slot's number without a division: offset x inverse / 2^32, for the error is below 2^-18. */
#define SIZE(bytes)                                                                                \
 {                                                                                                 \
  bytes, BSHM_SLAB_BYTES / (bytes), (uint32_t) ((UINT64_C(1) << 32) / (bytes)) + 1                 \
 }

/* 4 bytes apart to 64, 8 to 128; then a page divided by whole numbers, a twelfth apart or more. */
static const struct {
	uint16_t bytes;
	uint16_t slots; /* of a page */
	uint32_t inverse;
} class_sizes[] = {SIZE(16), SIZE(20), SIZE(24), SIZE(28), SIZE(32), SIZE(36), SIZE(40), SIZE(44),
	SIZE(48), SIZE(52), SIZE(56), SIZE(60), SIZE(64), SIZE(72), SIZE(80), SIZE(88), SIZE(96),
	SIZE(104), SIZE(112), SIZE(120), SIZE(128), SIZE(140), SIZE(152), SIZE(168), SIZE(184),
	SIZE(200), SIZE(220), SIZE(240), SIZE(264), SIZE(292), SIZE(320), SIZE(348), SIZE(380),
	SIZE(420), SIZE(468), SIZE(512), SIZE(564), SIZE(628), SIZE(712), SIZE(780), SIZE(860),
	SIZE(960), SIZE(1092), SIZE(1260), SIZE(1488), SIZE(1636), SIZE(1820), SIZE(2048), SIZE(2340),
	SIZE(2728), SIZE(3276), SIZE(4096), SIZE(8192)};

#define CHUNKS ((uint32_t) (sizeof(class_sizes) / sizeof(class_sizes[0])) - 1)

/* What is no record's first slot: half chunks and the index have the largest slots of those. */
static uint32_t size_of_class(uint32_t size_class)
{
	return size_class < CHUNKS ? size_class : CHUNKS - (size_class != BSHM_CLASS_CHUNK);
}

uint32_t bshm__class_of(uint32_t bytes)
{
	if (bytes <= 64) {
		return bytes <= 16 ? 0 : (bytes - 13) / 4;
	}
	uint32_t low = 13;
	uint32_t high = CHUNKS - 1;
	while (low < high) {
		const uint32_t middle = (low + high) / 2;
		if (class_sizes[middle].bytes < bytes) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

uint32_t bshm__class_bytes(uint32_t size_class)
{
	return class_sizes[size_of_class(size_class)].bytes;
}

uint32_t bshm__class_slots(uint32_t size_class)
{
	return class_sizes[size_of_class(size_class)].slots;
}

/* Under the lock: a hint goes up or down. */
static void bump(uint32_t *count, int by)
{
	BSHM_STORE(count, BSHM_LOAD(count, RELAXED) + (uint32_t) by, RELAXED);
}

static bshm_page *page_at(const bshm__shard *s, uint32_t i)
{
	return &s->segment->pages[s->first_page + i];
}

/* The class of one of the shard's pages; BSHM_CLASS_COUNT: it is free. */
static uint32_t page_class(const bshm_page *page)
{
	const uint32_t number = BSHM_LOAD(&page->size_class, RELAXED) - 1; /* 0 wraps */
	return number < BSHM_CLASS_COUNT ? number : BSHM_CLASS_COUNT;
}

static bshm_map *map_at(const bshm__shard *s, uint32_t i)
{
	return &s->segment->maps[s->first_page + i];
}

static uint32_t count_taken(const bshm_map *map)
{
	uint32_t taken = 0;
	for (uint32_t i = 0; i < BSHM_PAGE_WORDS; i++) {
		taken += (uint32_t) __builtin_popcountll(BSHM_LOAD(&map->taken[i], RELAXED));
	}
	return taken;
}

/* A free slot of the page, or its count of slots. */
static uint32_t free_slot(const bshm_map *map, uint32_t slots)
{
	for (uint32_t i = 0; i < slots; i += 64) {
		const uint64_t free = ~BSHM_LOAD(&map->taken[i / 64], RELAXED);
		if (free != 0) {
			const uint32_t slot = i + (uint32_t) __builtin_ctzll(free);
			return slot < slots ? slot : slots;
		}
	}
	return slots;
}

/* The slot that a ref leads to: its page, its number in it, and its class. */
typedef struct {
	bshm_page *page; /* NULL: no such slot */
	bshm_map *map;
	uint32_t number;
	uint32_t slot;
	uint32_t size_class;
	bool exact; /* the ref is the slot's first byte */
} slot_place;

static inline __attribute__((always_inline)) slot_place place_of(const bshm__shard *s, uint32_t ref)
{
	slot_place place = {.size_class = BSHM_CLASS_COUNT};
	if (bshm__ref_at(s, ref, BSHM_SLOT_UNIT) == NULL) {
		return place;
	}
	place.number = bshm__page_number(s, ref) - 1;
	bshm_page *page = page_at(s, place.number);
	place.size_class = page_class(page);
	if (place.size_class == BSHM_CLASS_COUNT) {
		return place;
	}
	const uint32_t offset = (ref & 0xfff) * BSHM_SLOT_UNIT;
	const uint32_t size = size_of_class(place.size_class);
	place.slot = (uint32_t) ((uint64_t) offset * class_sizes[size].inverse >> 32);
	if (place.slot < class_sizes[size].slots) {
		place.page = page;
		place.map = map_at(s, place.number);
		place.exact = place.slot * class_sizes[size].bytes == offset;
	}
	return place;
}

uint32_t bshm__ref_class(const bshm__shard *s, uint32_t ref)
{
	return place_of(s, ref).size_class;
}

static bool is_taken(const slot_place *place)
{
	return place->exact &&
		   (BSHM_LOAD(&place->map->taken[place->slot / 64], RELAXED) >> (place->slot % 64) & 1) !=
			   0;
}

bool bshm__slot_taken(const bshm__shard *s, uint32_t ref)
{
	const slot_place place = place_of(s, ref);
	return is_taken(&place);
}

static uint32_t ref_of(const bshm__shard *s, uint32_t page, uint32_t slot, uint32_t size_class)
{
	return (s->first_page + page + 1) << 12 | slot * bshm__class_bytes(size_class) / BSHM_SLOT_UNIT;
}

/* Sets all counts right: of each page, of each class. */
static void recount(const bshm__shard *s)
{
	uint32_t used[BSHM_CLASS_COUNT] = {0};
	uint32_t pages[BSHM_CLASS_COUNT] = {0};
	uint32_t given = 0;
	for (uint32_t i = 0; i < s->segment->shard_pages; i++) {
		bshm_page *page = page_at(s, i);
		const uint32_t size_class = page_class(page);
		if (size_class != BSHM_CLASS_COUNT) {
			const uint32_t taken = count_taken(map_at(s, i));
			BSHM_STORE(&page->vacant, bshm__class_slots(size_class) - taken, RELAXED);
			used[size_class] += taken;
			pages[size_class]++;
			given++;
		}
	}
	for (uint32_t i = 0; i < BSHM_CLASS_COUNT; i++) {
		BSHM_STORE(&s->shard->classes[i].used, used[i], RELAXED);
		BSHM_STORE(&s->shard->classes[i].pages, pages[i], RELAXED);
	}
	BSHM_STORE(&s->shard->given_pages, given, RELAXED);
	BSHM_STORE(&s->shard->recount, 0, RELAXED);
}

void bshm__slabs_doubt(const bshm__shard *s)
{
	BSHM_STORE(&s->shard->recount, 1, RELAXED);
}

static void settle(const bshm__shard *s)
{
	if (BSHM_UNLIKELY(BSHM_LOAD(&s->shard->recount, RELAXED) != 0)) {
		recount(s);
	}
}

/* A page of the class that is not full, + 1: the next after `from`. 0: there is none. */
static uint32_t search_pages(
	const bshm__shard *s, uint32_t size_class, uint32_t from, uint32_t avoid)
{
	const uint32_t slots = bshm__class_slots(size_class);
	const uint32_t count = s->segment->shard_pages;
	for (uint32_t i = 0, at = from; i < count; i++, at++) {
		at = at < count ? at : 0;
		const bshm_page *page = page_at(s, at);
		if (page_class(page) == size_class && BSHM_LOAD(&page->vacant, RELAXED) != 0 &&
			at + 1 != avoid && free_slot(map_at(s, at), slots) != slots) {
			return at + 1;
		}
	}
	return 0;
}

/*
 * What was read of a free page's slots stays void while it is divided as before: their versions go on. Else its words
 * get another meaning. `vacant` of a free page says how it was divided; 0: not yet.
 */
static void divide(const bshm__shard *s, bshm_page *page, uint32_t size_class)
{
	const uint32_t before = BSHM_LOAD(&page->vacant, RELAXED);
	if (before != 0 && (before != size_class + 1 || size_class == BSHM_CLASS_INDEX)) {
		bshm__sequence_jump(s);
	}
	/* A death between the two must leave `before` to whoever takes the page: pairs with that
	 * process's divide(). */
	BSHM_STORE(&page->size_class, size_class + 1, RELAXED);
	BSHM_STORE(&page->vacant, bshm__class_slots(size_class), RELEASE);
}

/* Gives a free page to the class; 0 = there is none, else its number + 1. */
static uint32_t free_page(const bshm__shard *s, uint32_t size_class)
{
	bshm_shard *shard = s->shard;
	const uint32_t count = s->segment->shard_pages;
	settle(s);
	if (BSHM_LOAD(&shard->given_pages, RELAXED) == count) {
		return 0;
	}
	uint32_t at = BSHM_LOAD(&shard->free_page, RELAXED);
	for (uint32_t i = 0; i < count; i++, at++) {
		at = at < count ? at : 0;
		bshm_page *page = page_at(s, at);
		if (page_class(page) != BSHM_CLASS_COUNT) {
			continue;
		}
		bshm_map *map = map_at(s, at);
		for (uint32_t k = 0; k < BSHM_PAGE_WORDS; k++) {
			BSHM_STORE(&map->taken[k], 0, RELAXED);
		}
		divide(s, page, size_class);
		BSHM_STORE(&shard->free_page, at + 1, RELAXED);
		bump(&shard->given_pages, 1);
		bump(&shard->classes[size_class].pages, 1);
		return at + 1;
	}
	BSHM_STORE(&shard->given_pages, count, RELAXED);
	return 0;
}

static void set_hint(const bshm__shard *s, uint32_t size_class, uint32_t number, uint32_t slot)
{
	BSHM_STORE(&s->shard->classes[size_class].hint, number | slot / 64 << HINT_WORD, RELAXED);
}

/* Is it one of the class's pages, and may it be taken from? */
static inline bool usable(
	const bshm__shard *s, uint32_t size_class, uint32_t number, uint32_t avoid)
{
	return number - 1 < s->segment->shard_pages && number != avoid &&
		   page_class(page_at(s, number - 1)) == size_class;
}

/* Where the hint does not lead to a free slot at once. */
static __attribute__((noinline)) uint32_t find_slowly(
	const bshm__shard *s, uint32_t size_class, uint32_t number, uint32_t avoid)
{
	bshm_shard *shard = s->shard;
	const uint32_t slots = bshm__class_slots(size_class);
	uint32_t slot = slots;
	if (usable(s, size_class, number, avoid)) {
		slot = free_slot(map_at(s, number - 1), slots);
	}
	if (slot == slots) {
		settle(s);
		const uint64_t room =
			(uint64_t) BSHM_LOAD(&shard->classes[size_class].pages, RELAXED) * slots;
		const bool full = room == BSHM_LOAD(&shard->classes[size_class].used, RELAXED);
		number = full ? 0 : search_pages(s, size_class, number, avoid);
		if (number == 0) {
			number = free_page(s, size_class);
		}
		if (number == 0) {
			return 0;
		}
		slot = free_slot(map_at(s, number - 1), slots);
	}
	set_hint(s, size_class, number, slot);
	return slot == slots ? 0 : ref_of(s, number - 1, slot, size_class);
}

uint32_t bshm__slot_find(const bshm__shard *s, uint32_t size_class, uint32_t avoid)
{
	const uint32_t hint = BSHM_LOAD(&s->shard->classes[size_class].hint, RELAXED);
	const uint32_t number = hint & HINT_PAGE;
	if (usable(s, size_class, number, avoid)) {
		const uint32_t word = hint >> HINT_WORD & (BSHM_PAGE_WORDS - 1);
		const uint64_t free = ~BSHM_LOAD(&map_at(s, number - 1)->taken[word], RELAXED);
		const uint32_t slot = word * 64 + (free == 0 ? 0 : (uint32_t) __builtin_ctzll(free));
		if (BSHM_LIKELY(free != 0 && slot < bshm__class_slots(size_class))) {
			return ref_of(s, number - 1, slot, size_class);
		}
	}
	return find_slowly(s, size_class, number, avoid);
}

void bshm__slot_take(const bshm__shard *s, uint32_t ref)
{
	const slot_place place = place_of(s, ref);
	if (place.page == NULL) {
		return; /* damaged meanwhile: the page is of another class */
	}
	uint64_t *word = &place.map->taken[place.slot / 64];
	/* After the intent that names it: pairs with bshm__intent_repair(). */
	BSHM_STORE(word, BSHM_LOAD(word, RELAXED) | UINT64_C(1) << (place.slot % 64), RELEASE);
	bump(&place.page->vacant, -1);
	bump(&s->shard->classes[place.size_class].used, 1);
}

static bool map_empty(const bshm_map *map)
{
	uint64_t any = 0;
	for (uint32_t i = 0; i < BSHM_PAGE_WORDS; i++) {
		any |= BSHM_LOAD(&map->taken[i], RELAXED);
	}
	return any == 0;
}

void bshm__sequence_jump(const bshm__shard *s)
{
	uint64_t *sequence = &s->shard->sequence;
	/* What was published before is seen by a search that begins after it: pairs with search_first(),
	 * find_all(). */
	BSHM_STORE(sequence, BSHM_LOAD(sequence, RELAXED) + BSHM_SEQUENCE_JUMP, RELEASE);
	BSHM_FENCE(RELEASE); /* pairs with search(), bshm__record_stands() */
}

/* Free slots in pages that the class has. */
static uint64_t spare_slots(const bshm__shard *s, uint32_t size_class)
{
	const uint64_t pages = BSHM_LOAD(&s->shard->classes[size_class].pages, RELAXED);
	if (pages == 0) {
		return 0;
	}
	const uint64_t room = pages * bshm__class_slots(size_class);
	const uint64_t used = BSHM_LOAD(&s->shard->classes[size_class].used, RELAXED);
	return room > used ? room - used : 0;
}

static bool is_wasteful(
	const bshm__shard *s, uint32_t size_class, uint32_t needed, bool to_the_last)
{
	const uint64_t share = BSHM_LOAD(&s->shard->classes[size_class].used, RELAXED) / SPARE_SHARE;
	const uint64_t kept = to_the_last ? 0 : share < SPARE_MOST ? share : SPARE_MOST;
	const uint64_t reserved = size_class == BSHM_CLASS_INDEX ? INDEX_RESERVE : 0;
	return spare_slots(s, size_class) >= kept + reserved + needed + bshm__class_slots(size_class);
}

bool bshm__class_wasteful(
	const bshm__shard *s, uint32_t size_class, uint32_t needed, bool to_the_last)
{
	settle(s);
	return is_wasteful(s, size_class, needed, to_the_last);
}

bool bshm__page_release(const bshm__shard *s, uint32_t number)
{
	bshm_page *page = page_at(s, number - 1);
	const uint32_t size_class = page_class(page);
	if (size_class == BSHM_CLASS_COUNT || !map_empty(map_at(s, number - 1)) ||
		(size_class == BSHM_CLASS_INDEX && spare_slots(s, size_class) <= INDEX_RESERVE)) {
		return false;
	}
	BSHM_STORE(&page->vacant, size_class + 1, RELAXED); /* divide() */
	BSHM_STORE(&page->size_class, 0, RELAXED);
	bump(&s->shard->classes[size_class].pages, -1);
	bump(&s->shard->given_pages, -1);
	BSHM_STORE(&s->shard->free_page, number - 1, RELAXED);
	return true;
}

uint32_t bshm__page_class(const bshm__shard *s, uint32_t number)
{
	return page_class(page_at(s, number - 1));
}

uint64_t bshm__page_taken(const bshm__shard *s, uint32_t number, uint32_t word)
{
	return BSHM_LOAD(&map_at(s, number - 1)->taken[word], RELAXED);
}

uint32_t bshm__page_ref(const bshm__shard *s, uint32_t number, uint32_t slot)
{
	return ref_of(s, number - 1, slot, page_class(page_at(s, number - 1)));
}

/*
 * The page is given up when the class has another one's worth of free slots: whoever takes and frees
 * the same few slots all the time would give up a page each time.
 */
static void free_taken(const bshm__shard *s, uint32_t ref, bool may_be_next)
{
	const slot_place place = place_of(s, ref);
	if (!is_taken(&place)) {
		return;
	}
	bshm_shard *shard = s->shard;
	uint32_t *state = bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_UNIT), 0);
	const uint32_t version =
		(BSHM_LOAD(state, RELAXED) & BSHM_SLOT_VERSION_MASK) + (1u << BSHM_SLOT_VERSION);
	/* Counted first: a death between the two must not leave more versions than frees. */
	BSHM_STORE(&shard->sequence, BSHM_LOAD(&shard->sequence, RELAXED) + 1, RELAXED);
	/* A reader that sees it sees the record that replaced it: pairs with bshm__record_load(). */
	BSHM_STORE(state, version, RELEASE);
	/* What is written here next comes after it: pairs with bshm__record_current(). */
	BSHM_FENCE(RELEASE);
	uint64_t *word = &place.map->taken[place.slot / 64];
	const uint64_t left = BSHM_LOAD(word, RELAXED) & ~(UINT64_C(1) << (place.slot % 64));
	BSHM_STORE(word, left, RELAXED);
	bump(&place.page->vacant, 1);
	bump(&shard->classes[place.size_class].used, -1);
	const bool released =
		left == 0 && is_wasteful(s, place.size_class, bshm__class_slots(place.size_class), false) &&
		bshm__page_release(s, place.number + 1);
	if (!released && may_be_next) {
		set_hint(s, place.size_class, place.number + 1, place.slot);
	}
}

void bshm__slot_free(const bshm__shard *s, uint32_t ref)
{
	free_taken(s, ref, true);
}

void bshm__slot_vacate(const bshm__shard *s, uint32_t ref)
{
	free_taken(s, ref, false);
}

uint64_t bshm__slots_free(const bshm__shard *s, uint32_t size_class)
{
	const bshm_shard *shard = s->shard;
	const uint64_t slots = bshm__class_slots(size_class);
	const uint64_t given = BSHM_LOAD(&shard->given_pages, RELAXED);
	const uint64_t free_pages =
		s->segment->shard_pages > given ? s->segment->shard_pages - given : 0;
	const uint64_t room =
		(BSHM_LOAD(&shard->classes[size_class].pages, RELAXED) + free_pages) * slots;
	const uint64_t used = BSHM_LOAD(&shard->classes[size_class].used, RELAXED);
	return room > used ? room - used : 0;
}

uint32_t bshm__page_to_empty(const bshm__shard *s, uint32_t size_class)
{
	const uint32_t slots = bshm__class_slots(size_class);
	const uint32_t count = s->segment->shard_pages;
	uint32_t *hand = &s->shard->empty_page;
	uint32_t at = BSHM_LOAD(hand, RELAXED);
	uint32_t most = 0;
	uint32_t found = 0;
	for (uint32_t i = 0; i < count && (i < EMPTY_SAMPLE || found == 0); i++, at++) {
		at = at < count ? at : 0;
		const bshm_page *page = page_at(s, at);
		const uint32_t vacant = BSHM_LOAD(&page->vacant, RELAXED);
		if (page_class(page) == size_class && vacant >= most && vacant <= slots) {
			most = vacant + 1;
			found = at + 1;
		}
	}
	BSHM_STORE(hand, at, RELAXED);
	return found;
}

uint64_t bshm__store_pages_used(const bshm_segment *segment)
{
	uint64_t used = 0;
	for (uint64_t i = 0; i < (uint64_t) segment->shard_count * segment->shard_pages; i++) {
		used += page_class(&segment->pages[i]) != BSHM_CLASS_COUNT;
	}
	return used;
}
