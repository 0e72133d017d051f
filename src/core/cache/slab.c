/*
 * slab.c - memory of the record store: pages of 16 kB, each divided into slots of one size.
 *
 * A page that is not free belongs to a size class. Its bitmap has a bit for each taken slot. The
 * bitmaps of pages of few slots lie side by side; a page of many ends with its own. Taking and
 * freeing are one store each, so a death in the middle of a call leaves a definite state, and there
 * is no list that could be broken. The counts of pages and slots are hints: a death may leave them
 * one off. The process that takes the lock over notes that, and the next search for a page counts
 * anew; so does one that finds counts that cannot be.
 *
 * The state word of a free slot is not LIVE, and its version is one higher than before: a look-up
 * that is still reading the record sees that (find.c).
 *
 * A page whose last slot is freed belongs to no class again, unless its class has few other free
 * slots. A record of more than 4 kB is a chain of slots of 8 kB or less, so no record needs
 * neighbouring pages; one of more than 2 kB may be one, where a slot of its own would be far too
 * large. Free slots in partly used pages can be used by other classes:
 * bshm__page_to_empty() chooses a page whose records fit into the other pages of its class.
 *
 * A class's hints name two pages that have room. Each process notes some more of each shard, those
 * that it has made room in itself: else a search would go over thousands of headers. In 1 GB that
 * was 0.2 microseconds for most puts; 3 to 10 where one shard has all pages.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/slab.h"

/* A class's hint: the number of a page, and a word of its bitmap. */
#define HINT_WORD 24u
#define HINT_PAGE ((1u << HINT_WORD) - 1)

/* Slots that a class keeps free when one of its pages is emptied: a share of the taken slots, up to
 * so many and so many bytes. Without them the class would need a new page at once. A page of few
 * slots is soon emptied: so they keep less. */
#define KEPT_SHARE     64u
#define KEPT_SHARE_FEW 256u
#define KEPT_MOST      256u
#define KEPT_BYTES     65536u
#define FEW_SLOTS      32u

/* Pages that a search for one to empty looks at. A longer search costs more than it saves. */
#define EMPTY_SAMPLE 512u

/* The bytes at the end of a page that no slot has; of how many words a bitmap there is: a power of
 * two. */
#define END_BYTES(bytes)                                                                           \
 ((bytes) <= BSHM_MAP_BYTES            ? BSHM_MAP_BYTES                                            \
	 : 64u * (bytes) < BSHM_SLAB_BYTES ? BSHM_MAP_BYTES_FEW                                        \
									   : 0)
#define SLOTS(bytes) ((BSHM_SLAB_BYTES - END_BYTES(bytes)) / (bytes))
#define MAP_WORDS(slots)                                                                           \
 ((slots) <= 64 ? 0 : (slots) <= 128 ? 2 : (slots) <= 256 ? 4 : (slots) <= 512 ? 8 : 16)

/* The number of a slot without a division: offset x inverse / 2^32. The error is below 2^-18. */
#define SIZE(bytes)                                                                                \
 {                                                                                                 \
  bytes, SLOTS(bytes), (uint32_t) ((UINT64_C(1) << 32) / (bytes)) + 1, MAP_WORDS(SLOTS(bytes))     \
 }

/* In steps of 4 bytes up to 64, of 8 up to 128; then fractions of a page, in steps of a twelfth or
 * more. */
static const struct {
	uint16_t bytes;
	uint16_t slots; /* of a page */
	uint32_t inverse;
	uint32_t map_words; /* of the bitmap at the end of the page; 0: it lies with the others */
} class_sizes[] = {SIZE(16), SIZE(20), SIZE(24), SIZE(28), SIZE(32), SIZE(36), SIZE(40), SIZE(44),
	SIZE(48), SIZE(52), SIZE(56), SIZE(60), SIZE(64), SIZE(72), SIZE(80), SIZE(88), SIZE(96),
	SIZE(104), SIZE(112), SIZE(120), SIZE(128), SIZE(140), SIZE(152), SIZE(168), SIZE(184),
	SIZE(200), SIZE(220), SIZE(240), SIZE(264), SIZE(292), SIZE(320), SIZE(348), SIZE(380),
	SIZE(420), SIZE(468), SIZE(512), SIZE(564), SIZE(628), SIZE(712), SIZE(780), SIZE(860),
	SIZE(960), SIZE(1092), SIZE(1260), SIZE(1488), SIZE(1636), SIZE(1820), SIZE(2048), SIZE(2340),
	SIZE(2728), SIZE(3276), SIZE(4096),
	/* chunks: the short ones, and the whole one */
	SIZE(512), SIZE(1024), SIZE(1488), SIZE(2048), SIZE(3276), SIZE(4096), SIZE(5460), SIZE(8192),
	/* units: of 1 to 64 buckets */
	SIZE(64), SIZE(128), SIZE(256), SIZE(512), SIZE(1024), SIZE(2048), SIZE(4096)};

BSHM_STATIC_ASSERT(classes, sizeof(class_sizes) / sizeof(class_sizes[0]) == BSHM_CLASS_COUNT);

uint32_t bshm__class_of(uint32_t bytes)
{
	if (bytes <= 64) {
		return bytes <= 16 ? 0 : (bytes - 13) / 4;
	}
	uint32_t low = 13;
	uint32_t high = BSHM_CLASS_RECORDS - 1;
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

uint32_t bshm__chunk_class(uint64_t bytes)
{
	uint32_t size_class = BSHM_CLASS_SHORT;
	while (size_class < BSHM_CLASS_CHUNK &&
		   class_sizes[size_class].bytes < bytes + BSHM_CHUNK_HEADER) {
		size_class++;
	}
	return size_class;
}

/* A class that there is not, where a ref is damaged, counts as one of units. */
static uint32_t known(uint32_t size_class)
{
	return size_class < BSHM_CLASS_COUNT ? size_class : BSHM_CLASS_INDEX;
}

uint32_t bshm__class_bytes(uint32_t size_class)
{
	return class_sizes[known(size_class)].bytes;
}

uint32_t bshm__class_slots(uint32_t size_class)
{
	return class_sizes[known(size_class)].slots;
}

uint32_t bshm__class_map_words(uint32_t size_class)
{
	return class_sizes[known(size_class)].map_words;
}

/* Under the lock: a hint goes up or down. */
static void bump(uint32_t *count, int by)
{
	BSHM_STORE(count, BSHM_LOAD(count, RELAXED) + (uint32_t) by, RELAXED);
}

static bshm_page_header *page_at(const bshm__shard *s, uint32_t i)
{
	return &s->segment->page_headers[s->first_page + i];
}

/* The class of one of the shard's pages; BSHM_CLASS_COUNT: it is free. */
static uint32_t page_class(const bshm_page_header *page)
{
	const uint32_t number = BSHM_LOAD(&page->size_class, RELAXED) - 1; /* 0 wraps */
	return number < BSHM_CLASS_COUNT ? number : BSHM_CLASS_COUNT;
}

/* The words of the bitmap of a page that has this class, or gets it. */
static uint64_t *bitmap_at(const bshm__shard *s, uint32_t i, uint32_t size_class)
{
	const size_t words = class_sizes[size_class].map_words;
	return words != 0
			   ? (uint64_t *) (void *) (s->pages + (size_t) (i + 1) * BSHM_SLAB_BYTES) - words
			   : &s->segment->page_bitmaps[s->first_page + i].taken;
}

/* How many words such a bitmap has. */
static uint32_t bitmap_words(uint32_t size_class)
{
	return class_sizes[size_class].map_words + (class_sizes[size_class].map_words == 0);
}

/* Not the bits of slots that there are not: damage may set them. */
static uint32_t count_taken(const bshm__shard *s, uint32_t i, uint32_t size_class)
{
	const uint64_t *words = bitmap_at(s, i, size_class);
	const uint32_t slots = bshm__class_slots(size_class);
	uint32_t taken = 0;
	for (uint32_t k = 0; k < slots; k += 64) {
		const uint64_t real = slots - k < 64 ? (UINT64_C(1) << (slots - k)) - 1 : UINT64_MAX;
		taken += BSHM_BIT_COUNT(BSHM_LOAD(&words[k / 64], RELAXED) & real);
	}
	return taken;
}

/* A free slot of the page, or its count of slots. */
static uint32_t free_slot(const uint64_t *words, uint32_t slots)
{
	for (uint32_t i = 0; i < slots; i += 64) {
		const uint64_t free = ~BSHM_LOAD(&words[i / 64], RELAXED);
		if (free != 0) {
			const uint32_t slot = i + BSHM_LOWEST_BIT(free);
			return slot < slots ? slot : slots;
		}
	}
	return slots;
}

/* The slot that a ref leads into. */
typedef struct {
	bshm_page_header *page; /* NULL: no such slot */
	uint64_t *bitmap;
	uint32_t number; /* of the page, from 0 on */
	uint32_t slot;   /* its number in the page */
	uint32_t size_class;
	bool exact; /* the ref is the slot's first byte */
} slot_info;

static BSHM_ALWAYS_INLINE slot_info info_of(const bshm__shard *s, uint32_t ref)
{
	slot_info at = {.size_class = BSHM_CLASS_COUNT};
	if (bshm__ref_at(s, ref, BSHM_SLOT_UNIT) == NULL) {
		return at;
	}
	at.number = bshm__page_number(s, ref) - 1;
	bshm_page_header *page = page_at(s, at.number);
	at.size_class = page_class(page);
	if (at.size_class == BSHM_CLASS_COUNT) {
		return at;
	}
	const uint32_t offset = (ref & 0xfff) * BSHM_SLOT_UNIT;
	at.slot = (uint32_t) ((uint64_t) offset * class_sizes[at.size_class].inverse >> 32);
	if (at.slot < class_sizes[at.size_class].slots) {
		at.page = page;
		at.bitmap = bitmap_at(s, at.number, at.size_class);
		at.exact = at.slot * class_sizes[at.size_class].bytes == offset;
	}
	return at;
}

uint32_t bshm__ref_class(const bshm__shard *s, uint32_t ref)
{
	return info_of(s, ref).size_class;
}

static bool is_taken(const slot_info *at)
{
	return at->exact &&
		   (BSHM_LOAD(&at->bitmap[at->slot / 64], RELAXED) >> (at->slot % 64) & 1) != 0;
}

bool bshm__slot_taken(const bshm__shard *s, uint32_t ref)
{
	const slot_info at = info_of(s, ref);
	return is_taken(&at);
}

static uint32_t ref_of(const bshm__shard *s, uint32_t page, uint32_t slot, uint32_t size_class)
{
	return (s->first_page + page + 1) << 12 | slot * bshm__class_bytes(size_class) / BSHM_SLOT_UNIT;
}

/* Counts the taken slots of each page and each class anew. */
static void recount(const bshm__shard *s)
{
	uint32_t used[BSHM_CLASS_COUNT] = {0};
	uint32_t pages[BSHM_CLASS_COUNT] = {0};
	uint32_t given = 0;
	for (uint32_t i = 0; i < s->segment->shard_pages; i++) {
		bshm_page_header *page = page_at(s, i);
		const uint32_t size_class = page_class(page);
		if (size_class != BSHM_CLASS_COUNT) {
			const uint32_t taken = count_taken(s, i, size_class);
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

/* Before a class's counts are used. That more slots are taken than its pages have, or more pages
 * given than there are, comes of damage: then no eviction would seem to make room. */
static void settle(const bshm__shard *s, uint32_t size_class)
{
	const bshm_shard_header *shard = s->shard;
	const bshm_class *c = &shard->classes[size_class];
	const uint64_t slots = (uint64_t) BSHM_LOAD(&c->pages, RELAXED) * bshm__class_slots(size_class);
	if (BSHM_UNLIKELY(BSHM_LOAD(&shard->recount, RELAXED) != 0 ||
					  BSHM_LOAD(&c->used, RELAXED) > slots ||
					  BSHM_LOAD(&shard->given_pages, RELAXED) > s->segment->shard_pages)) {
		recount(s);
	}
}

/* The next page of the class after `from` that is not full; 0: there is none. */
static uint32_t search_pages(
	const bshm__shard *s, uint32_t size_class, uint32_t from, uint32_t avoid)
{
	const uint32_t slots = bshm__class_slots(size_class);
	const uint32_t count = s->segment->shard_pages;
	for (uint32_t i = 0, at = from; i < count; i++, at++) {
		at = at < count ? at : 0;
		const bshm_page_header *page = page_at(s, at);
		if (BSHM_LOAD(&page->size_class, RELAXED) == size_class + 1 &&
			BSHM_LOAD(&page->vacant, RELAXED) != 0 && at + 1 != avoid &&
			free_slot(bitmap_at(s, at, size_class), slots) != slots) {
			return at + 1;
		}
	}
	return 0;
}

/*
 * Gives a free page to a class. If it had the same class before, the versions of its slots go on,
 * and a look-up that still reads an old record sees that. Else its words get another meaning, and
 * the sequence jumps. `vacant` of a free page says which class it had; 0: none yet.
 */
static void give_page(const bshm__shard *s, uint32_t i, uint32_t size_class)
{
	bshm_page_header *page = page_at(s, i);
	const uint32_t before = BSHM_LOAD(&page->vacant, RELAXED);
	if (before != 0 && (before != size_class + 1 || bshm__class_of_units(size_class))) {
		bshm__sequence_jump(s);
	}
	/* The bitmap may lie where the class before had a slot: so `vacant` says first which class the
	 * words are of, and still does after a death. Pairs with the next give_page(). */
	BSHM_STORE(&page->vacant, size_class + 1, RELEASE);
	uint64_t *words = bitmap_at(s, i, size_class);
	for (uint32_t k = 0; k < bitmap_words(size_class); k++) {
		BSHM_STORE(&words[k], 0, RELAXED);
	}
	BSHM_STORE(&page->size_class, size_class + 1, RELEASE); /* pairs with give_page(), too */
	BSHM_STORE(&page->vacant, bshm__class_slots(size_class), RELEASE);
}

/* Gives a free page to the class; 0 = there is none. */
static uint32_t free_page(const bshm__shard *s, uint32_t size_class)
{
	bshm_shard_header *shard = s->shard;
	const uint32_t count = s->segment->shard_pages;
	settle(s, size_class);
	if (BSHM_LOAD(&shard->given_pages, RELAXED) == count) {
		return 0;
	}
	uint32_t at = BSHM_LOAD(&shard->free_page, RELAXED);
	for (uint32_t i = 0; i < count; i++, at++) {
		at = at < count ? at : 0;
		if (page_class(page_at(s, at)) != BSHM_CLASS_COUNT) {
			continue;
		}
		give_page(s, at, size_class);
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

/* Is it a page of the class, and not the one to avoid? */
static inline bool usable(
	const bshm__shard *s, uint32_t size_class, uint32_t number, uint32_t avoid)
{
	return number - 1 < s->segment->shard_pages && number != avoid &&
		   page_class(page_at(s, number - 1)) == size_class;
}

static void note_roomy(const bshm__shard *s, uint32_t size_class, uint32_t number)
{
	if (s->segment->roomy != NULL && number != 0) {
		bshm__roomy *roomy = &s->segment->roomy[s->index];
		roomy->pages[size_class][roomy->next[size_class]++ % BSHM_ROOMY_PAGES] = number;
	}
}

/* The page noted last that still has room; 0 = none. What is taken is 0, so a 0 ends the notes. */
static uint32_t take_roomy(const bshm__shard *s, uint32_t size_class, uint32_t avoid)
{
	if (s->segment->roomy == NULL) {
		return 0;
	}
	uint32_t *noted = s->segment->roomy[s->index].pages[size_class];
	uint32_t *next = &s->segment->roomy[s->index].next[size_class];
	const uint32_t slots = bshm__class_slots(size_class);
	uint32_t number;
	while ((number = noted[(*next - 1) % BSHM_ROOMY_PAGES]) != 0) {
		noted[--*next % BSHM_ROOMY_PAGES] = 0;
		if (usable(s, size_class, number, avoid) &&
			free_slot(bitmap_at(s, number - 1, size_class), slots) != slots) {
			return number;
		}
	}
	return 0;
}

/* The general case: the hint does not lead to a free slot. */
static BSHM_NOINLINE uint32_t find_slowly(
	const bshm__shard *s, uint32_t size_class, uint32_t number, uint32_t avoid)
{
	bshm_shard_header *shard = s->shard;
	const uint32_t slots = bshm__class_slots(size_class);
	uint32_t slot = slots;
	if (usable(s, size_class, number, avoid)) {
		slot = free_slot(bitmap_at(s, number - 1, size_class), slots);
	}
	const uint32_t other = BSHM_LOAD(&shard->classes[size_class].other, RELAXED);
	if (slot == slots && usable(s, size_class, other, avoid)) {
		slot = free_slot(bitmap_at(s, other - 1, size_class), slots);
		number = slot == slots ? number : other;
	}
	if (slot == slots) {
		settle(s, size_class);
		const uint64_t room =
			(uint64_t) BSHM_LOAD(&shard->classes[size_class].pages, RELAXED) * slots;
		const bool full = room == BSHM_LOAD(&shard->classes[size_class].used, RELAXED);
		const uint32_t roomy = full ? 0 : take_roomy(s, size_class, avoid);
		number = full ? 0 : roomy != 0 ? roomy : search_pages(s, size_class, number, avoid);
		if (number == 0) {
			number = free_page(s, size_class);
		}
		if (number == 0) {
			return 0;
		}
		slot = free_slot(bitmap_at(s, number - 1, size_class), slots);
	}
	set_hint(s, size_class, number, slot);
	return slot == slots ? 0 : ref_of(s, number - 1, slot, size_class);
}

uint32_t bshm__slot_find(const bshm__shard *s, uint32_t size_class, uint32_t avoid)
{
	const uint32_t hint = BSHM_LOAD(&s->shard->classes[size_class].hint, RELAXED);
	const uint32_t number = hint & HINT_PAGE;
	if (usable(s, size_class, number, avoid)) {
		const uint32_t word = hint >> HINT_WORD & (bitmap_words(size_class) - 1);
		const uint64_t free = ~BSHM_LOAD(&bitmap_at(s, number - 1, size_class)[word], RELAXED);
		const uint32_t slot = word * 64 + (free == 0 ? 0 : BSHM_LOWEST_BIT(free));
		if (BSHM_LIKELY(free != 0 && slot < bshm__class_slots(size_class))) {
			return ref_of(s, number - 1, slot, size_class);
		}
	}
	return find_slowly(s, size_class, number, avoid);
}

void bshm__slot_take(const bshm__shard *s, uint32_t ref)
{
	const slot_info at = info_of(s, ref);
	if (at.page == NULL) {
		return; /* damaged: the page has another class */
	}
	uint64_t *word = &at.bitmap[at.slot / 64];
	/* After the intent that names it: pairs with bshm__intent_repair(). */
	BSHM_STORE(word, BSHM_LOAD(word, RELAXED) | UINT64_C(1) << (at.slot % 64), RELEASE);
	bump(&at.page->vacant, -1);
	bump(&s->shard->classes[at.size_class].used, 1);
}

void bshm__sequence_jump(const bshm__shard *s)
{
	uint64_t *sequence = &s->shard->sequence;
	/* A look-up that begins after the jump also sees what was published before it: pairs with
	 * find_plain(), find_all(). */
	BSHM_STORE(sequence, BSHM_LOAD(sequence, RELAXED) + BSHM_SEQUENCE_JUMP, RELEASE);
	BSHM_FENCE(RELEASE); /* pairs with search(), bshm__record_unchanged() */
}

/* Free slots in the pages of the class. */
static uint64_t free_slots(const bshm__shard *s, uint32_t size_class)
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
	const uint32_t of_bytes = KEPT_BYTES / bshm__class_bytes(size_class);
	const bool few = bshm__class_slots(size_class) < FEW_SLOTS;
	uint64_t kept = BSHM_LOAD(&s->shard->classes[size_class].used, RELAXED) /
					(few ? KEPT_SHARE_FEW : KEPT_SHARE);
	kept = kept < KEPT_MOST ? kept : KEPT_MOST;
	kept = to_the_last ? 0 : kept < of_bytes ? kept : of_bytes;
	return free_slots(s, size_class) >= kept + needed + bshm__class_slots(size_class);
}

bool bshm__class_wasteful(
	const bshm__shard *s, uint32_t size_class, uint32_t needed, bool to_the_last)
{
	settle(s, size_class);
	return is_wasteful(s, size_class, needed, to_the_last);
}

bool bshm__page_release(const bshm__shard *s, uint32_t number)
{
	bshm_page_header *page = page_at(s, number - 1);
	const uint32_t size_class = page_class(page);
	if (size_class == BSHM_CLASS_COUNT || count_taken(s, number - 1, size_class) != 0) {
		return false;
	}
	BSHM_STORE(&page->vacant, size_class + 1, RELAXED); /* give_page() */
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

uint64_t bshm__page_taken(const bshm__shard *s, uint32_t number, uint32_t size_class, uint32_t word)
{
	return BSHM_LOAD(&bitmap_at(s, number - 1, known(size_class))[word], RELAXED);
}

uint32_t bshm__page_ref(const bshm__shard *s, uint32_t number, uint32_t size_class, uint32_t slot)
{
	return ref_of(s, number - 1, slot, size_class);
}

/*
 * An empty page is taken from its class only if the class has a page's worth of other free slots.
 * Else a process that takes and frees the same few slots would give and take a page each time.
 */
static void free_taken(const bshm__shard *s, uint32_t ref, bool may_be_next)
{
	const slot_info at = info_of(s, ref);
	if (!is_taken(&at)) {
		return;
	}
	bshm_shard_header *shard = s->shard;
	uint32_t *state = bshm__slot_word(bshm__ref_at(s, ref, BSHM_SLOT_UNIT), 0);
	const uint32_t version =
		(BSHM_LOAD(state, RELAXED) & BSHM_SLOT_VERSION_MASK) + (1u << BSHM_SLOT_VERSION);
	/* Counted first: a death between the two must not leave more versions than frees. */
	BSHM_STORE(&shard->sequence, BSHM_LOAD(&shard->sequence, RELAXED) + 1, RELAXED);
	/* A reader that sees it sees the record that replaced it: pairs with bshm__record_load(),
	 * find_plain(). */
	BSHM_STORE(state, version, RELEASE);
	/* What is written here next comes after it: pairs with bshm__record_current(). */
	BSHM_FENCE(RELEASE);
	uint64_t *word = &at.bitmap[at.slot / 64];
	const uint64_t left = BSHM_LOAD(word, RELAXED) & ~(UINT64_C(1) << (at.slot % 64));
	BSHM_STORE(word, left, RELAXED);
	bump(&at.page->vacant, 1);
	bump(&shard->classes[at.size_class].used, -1);
	const bool released = left == 0 &&
						  is_wasteful(s, at.size_class, bshm__class_slots(at.size_class), false) &&
						  bshm__page_release(s, at.number + 1);
	if (!released && may_be_next) {
		bshm_class *c = &shard->classes[at.size_class];
		const uint32_t hint = BSHM_LOAD(&c->hint, RELAXED) & HINT_PAGE;
		if (hint != at.number + 1 && hint - 1 < s->segment->shard_pages &&
			BSHM_LOAD(&page_at(s, hint - 1)->vacant, RELAXED) != 0) {
			note_roomy(s, at.size_class, BSHM_LOAD(&c->other, RELAXED));
			BSHM_STORE(&c->other, hint, RELAXED); /* it still has room */
		}
		set_hint(s, at.size_class, at.number + 1, at.slot);
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
	settle(s, size_class);
	const bshm_shard_header *shard = s->shard;
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
		const bshm_page_header *page = page_at(s, at);
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
		used += page_class(&segment->page_headers[i]) != BSHM_CLASS_COUNT;
	}
	return used;
}
