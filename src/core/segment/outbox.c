/*
 * outbox.c - keys of adds that other hosts are to be told of.
 *
 * A page that adds a key must not wait for a network, and must not make a call of the system. So it
 * leaves the key in the segment, and another process, the reader, sends it on.
 *
 * The order of adds does not matter, so there is no queue and no end that all writers share. The
 * outbox is many letters, each with a state of its own:
 *
 *      free --(a writer's compare-and-swap)--> an owner word --(the same writer)--> ready
 *       ^                                          |                                  |
 *       +-------(a reader: that owner is dead)-----+                                  |
 *       +-------(a reader, after the key was passed on)-------------------------------+
 *
 * A writer that is stopped keeps one letter from others, no more. One that dies has not returned
 * from its add; its letter is free again when a reader looks. A ready letter stays until a reader
 * has passed its key on, whatever dies meanwhile. A reader that dies between passing on and freeing
 * leaves keys that are passed on twice, which is harmless: an add is.
 *
 * Each thread looks for a free letter behind the one that it has found last, so two seldom meet.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/outbox.h"

#include "core/base.h"
#include "core/format_outbox.h"
#include "core/hash.h"
#include "core/segment/owners.h"
#include "core/segment/segment.h"
#include "platform/atomic.h"
#include "platform/platform.h"

BSHM_STATIC_ASSERT(outbox_key, BSHM_OUTBOX_KEY_MAX == BSHM_LETTER_BYTES_MAX - sizeof(bshm_letter));

#define TRIES   64u /* letters of a size that a writer looks at before it takes a larger one */
#define CLASSES 3u

/* The pages of one size of letters. */
typedef struct {
	uint32_t first;
	uint32_t pages;
	uint32_t bytes; /* of a letter */
} letter_size;

/* Small ones are most: few keys have more than 40 bytes. */
static letter_size class_at(const bshm_segment *segment, unsigned i)
{
	const uint32_t quarter = segment->chunk_count / 4;
	const letter_size all[CLASSES] = {
		{0, segment->chunk_count - 2 * quarter, BSHM_LETTER_BYTES_SMALL},
		{segment->chunk_count - 2 * quarter, quarter, 512},
		{segment->chunk_count - quarter, quarter, BSHM_LETTER_BYTES_MAX},
	};
	return all[i];
}

/* In bytes from the outbox on. */
static uint64_t place_of(uint32_t page, uint32_t off)
{
	return sizeof(bshm_outbox) + (uint64_t) page * BSHM_PAGE_BYTES + off;
}

static bshm_letter *letter_at(const bshm_segment *segment, uint64_t place)
{
	return (bshm_letter *) (void *) ((uint8_t *) segment->outbox + place);
}

static uint64_t hash_of(const bshm_segment *segment, const bshm__name *name)
{
	return bshm__checksum(name->bytes, sizeof(name->bytes), segment->name_seed);
}

static uint64_t ready_word(size_t length, uint32_t serial)
{
	return BSHM_LETTER_READY | (uint64_t) length << 16 | (uint64_t) serial << 32;
}

/* ------------------------------------------------------------------ a writer */

static bshm_letter *claim(
	bshm_segment *segment, const letter_size *c, uint64_t owner, uint32_t *near, uint32_t *page)
{
	const uint32_t a_page = BSHM_PAGE_BYTES / c->bytes;
	const uint32_t count = c->pages * a_page;
	for (uint32_t tries = 0; tries < TRIES && tries < count; tries++) {
		const uint32_t i = ++*near % count;
		bshm_letter *letter =
			letter_at(segment, place_of(c->first + i / a_page, i % a_page * c->bytes));
		uint64_t none = 0;
		/* Pairs with set_free(). */
		if (BSHM_LOAD(&letter->state, RELAXED) == 0 &&
			BSHM_CAS(&letter->state, &none, owner, ACQUIRE)) {
			*page = c->first + i / a_page;
			return letter;
		}
	}
	return NULL;
}

static void write_letter(bshm_letter *letter, uint64_t name, const bshm_key *key)
{
	BSHM_FENCE(RELEASE); /* pairs with look_at() */
	const uint32_t serial = BSHM_LOAD(&letter->serial, RELAXED) + 1;
	BSHM_STORE(&letter->serial, serial, RELAXED);
	BSHM_STORE(&letter->name, name, RELAXED);
	bshm__racy_copy(letter + 1, key->bytes, key->length);
	BSHM_STORE(&letter->state, ready_word(key->length, serial), RELEASE); /* pairs with look_at() */
}

/* This process's owner word; 0: it has no slot. */
static uint64_t owner_of(bshm_segment *segment)
{
	uint64_t owner = BSHM_LOAD(&segment->quick_owner, ACQUIRE); /* pairs with occupy() */
	if (BSHM_UNLIKELY(owner == 0)) {
		bshm_error unused;
		owner = bshm__owner_attach(segment, &unused) == BSHM_OK ? segment->owner : 0;
	}
	return owner;
}

bool bshm__outbox_put(bshm_segment *segment, const bshm__name *name, const bshm_key *key)
{
	/* Threads begin at places that have nothing to do with each other. */
	static BSHM_THREAD_LOCAL uint32_t near[CLASSES];
	if (segment->outbox == NULL) {
		return false;
	}
	const uint64_t owner = owner_of(segment);
	if (owner == 0) {
		return false;
	}
	if (BSHM_UNLIKELY(near[0] == 0)) {
		near[0] = near[1] = near[2] =
			(uint32_t) bshm__checksum(&owner, sizeof(owner), bshm_os_thread_id()) | 1;
	}
	for (unsigned i = 0; i < CLASSES; i++) {
		const letter_size c = class_at(segment, i);
		uint32_t page;
		bshm_letter *letter = key->length > c.bytes - sizeof(*letter)
								  ? NULL
								  : claim(segment, &c, owner, &near[i], &page);
		if (letter == NULL) {
			continue;
		}
		write_letter(letter, hash_of(segment, name), key);
		uint64_t *mark = &segment->outbox->marks[page / 64];
		const uint64_t bit = UINT64_C(1) << page % 64;
		if ((BSHM_LOAD(mark, RELAXED) & bit) == 0) {
			BSHM_OR(mark, bit, RELEASE); /* pairs with bshm_outbox_read() */
		}
		return true;
	}
	return false;
}

void bshm__outbox_describe(const bshm_segment *segment, bshm_stat *out)
{
	for (unsigned i = 0; segment->outbox != NULL && i < CLASSES; i++) {
		const letter_size c = class_at(segment, i);
		const uint64_t end = place_of(c.first + c.pages, 0);
		for (uint64_t place = place_of(c.first, 0); place < end; place += c.bytes) {
			const uint64_t state = BSHM_LOAD(&letter_at(segment, place)->state, RELAXED);
			out->outbox_keys += (state & BSHM_LETTER_READY) == BSHM_LETTER_READY;
			out->outbox_bytes_free += state == 0 ? c.bytes : 0;
			out->outbox_bytes += c.bytes;
		}
	}
}

/* ------------------------------------------------------------------ a reader */

uint64_t bshm_outbox_name(const bshm_segment *segment, const char *name, size_t name_length)
{
	const bshm__name padded = bshm__name_of(name, name_length);
	return hash_of(segment, &padded);
}

/* Has it an outbox, and may this process write there? A reader clears marks and frees letters. */
static bool may_read(const bshm_segment *segment)
{
	return segment->outbox != NULL && !segment->readonly;
}

/* What a dead writer has claimed, or damage has made unreadable, is free again. */
static void set_free(bshm_letter *letter, uint64_t state)
{
	BSHM_CAS(&letter->state, &state, 0, RELEASE); /* pairs with claim() */
}

static void look_at(
	bshm_segment *segment, uint64_t place, uint32_t bytes, bshm_outbox_told told, void *context)
{
	bshm_letter *letter = letter_at(segment, place);
	const uint64_t state = BSHM_LOAD(&letter->state, ACQUIRE); /* pairs with write_letter() */
	const size_t length = state >> 16 & 0xffff;
	if (state == 0) {
		return;
	}
	if ((state & BSHM_LETTER_READY) != BSHM_LETTER_READY || length > bytes - sizeof(*letter)) {
		if ((state & BSHM_LETTER_READY) == BSHM_LETTER_READY ||
			!bshm__owner_alive(segment, state)) {
			set_free(letter, state);
		}
		return;
	}
	char key[BSHM_OUTBOX_KEY_MAX];
	const uint64_t name = BSHM_LOAD(&letter->name, RELAXED);
	bshm__racy_copy(key, letter + 1, length);
	BSHM_FENCE(ACQUIRE);                               /* pairs with the fence of write_letter() */
	if (BSHM_LOAD(&letter->state, RELAXED) == state) { /* else another reader was faster */
		const bshm_outbox_letter read = {place, state};
		told(context, &read, name, &(bshm_key){key, length});
	}
}

void bshm_outbox_read(bshm_segment *segment, bool all, bshm_outbox_told told, void *context)
{
	const unsigned classes = may_read(segment) ? CLASSES : 0;
	for (unsigned i = 0; i < classes; i++) {
		const letter_size c = class_at(segment, i);
		for (uint32_t page = c.first; page < c.first + c.pages; page++) {
			uint64_t *mark = &segment->outbox->marks[page / 64];
			const uint64_t bit = UINT64_C(1) << page % 64;
			if ((BSHM_LOAD(mark, RELAXED) & bit) != 0) {
				BSHM_AND(mark, ~bit, ACQUIRE); /* pairs with bshm__outbox_put() */
			} else if (!all) {
				continue;
			}
			for (uint32_t off = 0; off < BSHM_PAGE_BYTES; off += c.bytes) {
				look_at(segment, place_of(page, off), c.bytes, told, context);
			}
		}
	}
}

void bshm_outbox_free(bshm_segment *segment, const bshm_outbox_letter *letters, size_t count)
{
	for (size_t i = 0; i < count && may_read(segment); i++) {
		set_free(letter_at(segment, letters[i].place), letters[i].state);
	}
}
