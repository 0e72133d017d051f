/*
 * directory.c - filter names, and which generation of each is published.
 *
 * A name hashes to a chain of entries. Chains and names change only under the lock, with
 * directory_version odd; every step of a change is one store, so a reader that walks meanwhile
 * at worst misses a name, sees that the version moved, and looks again.
 *
 * An entry has two descriptors. Its generation number selects the one in force (even: 0, odd: 1)
 * and only grows. Publishing fills the other descriptor and then stores generation + 1: before that
 * store the old set is in force, after it the new one. A process that reads the same generation
 * before and after its work has worked on one published set.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/directory.h"

#include "core/base.h"
#include "core/hash.h"
#include "core/segment/name.h"
#include "core/segment/ops.h"
#include "core/segment/segment.h"
#include "core/segment/sound.h"
#include "core/segment/space.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <string.h>

#define DESCRIPTOR_WORDS (sizeof(bshm_descriptor) / sizeof(uint64_t))

/* ------------------------------------------------------------------ reading */

uint32_t bshm__name_head(const bshm_segment *segment, const bshm__name *name)
{
	return (uint32_t) bshm__checksum(name, sizeof(*name), segment->name_seed) &
		   (segment->head_count - 1);
}

static uint32_t *head_of(const bshm_segment *segment, const bshm__name *name)
{
	return &segment->heads[bshm__name_head(segment, name)];
}

bshm_status bshm__entry_find(const bshm_segment *segment, const bshm__name *name, uint32_t *index)
{
	const uint64_t *version_word = &segment->header->directory_version;
	const uint32_t *head = head_of(segment, name);
	for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
		const uint64_t version = BSHM_LOAD(version_word, ACQUIRE); /* pairs with end_change() */
		uint32_t at = BSHM_LOAD(head, ACQUIRE); /* pairs with link_entry(), unlink_entry() */
		for (uint32_t steps = 0; at != 0 && steps < segment->entry_count; steps++) {
			if (at > segment->entry_count) {
				return BSHM_E_CORRUPT;
			}
			const bshm_entry *entry = &segment->entries[at - 1];
			if (bshm__entry_named(entry, name)) {
				*index = at - 1;
				return BSHM_OK;
			}
			at = BSHM_LOAD(&entry->next, ACQUIRE); /* pairs with link_entry() */
		}
		BSHM_FENCE(
			ACQUIRE); /* pairs with begin_change(): a miss counts only in a quiet directory */
		if ((version & 1) == 0 && BSHM_LOAD(version_word, RELAXED) == version) {
			return BSHM_E_NOT_FOUND;
		}
	}
	return BSHM_E_BUSY;
}

size_t bshm__entry_next(const bshm_segment *segment, uint32_t *cursor, char *name,
	const bshm_entry **found, bshm_descriptor *out)
{
	for (uint32_t i = *cursor; i < segment->entry_count; i++) {
		const bshm_entry *entry = &segment->entries[i];
		for (int tries = 0; tries < BSHM_READ_TRIES; tries++) {
			/* Pairs with put_in_force(). */
			const uint64_t generation = BSHM_LOAD(&entry->generation, ACQUIRE);
			const bshm__name padded = bshm__entry_name(entry);
			const bshm_descriptor descriptor = bshm__descriptor_read(entry, generation);
			BSHM_FENCE(ACQUIRE); /* pairs with the first fence of put_in_force() */
			if (BSHM_LOAD(&entry->generation, RELAXED) != generation) {
				continue;
			}
			const size_t length = padded.bytes[0];
			if (generation == 0 || length == 0 || length > BSHM_NAME_MAX ||
				descriptor.state == BSHM_STATE_ABSENT ||
				!bshm__descriptor_sound(segment, &padded, &descriptor, generation)) {
				break;
			}
			memcpy(name, padded.bytes + 1, length);
			name[length] = '\0';
			*found = entry;
			*out = descriptor;
			*cursor = i + 1 < segment->entry_count ? i + 1 : 0;
			return length;
		}
	}
	*cursor = 0;
	return 0;
}

size_t bshm_filter_next(bshm_segment *segment, uint32_t *cursor, char *name)
{
	const bshm_entry *entry;
	bshm_descriptor descriptor;
	return bshm__entry_next(segment, cursor, name, &entry, &descriptor);
}

/* ------------------------------------------------------------------ changing (under the lock) */

static uint64_t begin_change(bshm_segment *segment)
{
	/* A dead holder may have left it odd: start from the even number before. */
	const uint64_t version = BSHM_LOAD(&segment->header->directory_version, RELAXED) & ~UINT64_C(1);
	BSHM_STORE(&segment->header->directory_version, version + 1, RELAXED);
	BSHM_FENCE(RELEASE); /* pairs with bshm__entry_find() */
	return version;
}

static void end_change(bshm_segment *segment, uint64_t version)
{
	/* Pairs with bshm__entry_find(). */
	BSHM_STORE(&segment->header->directory_version, version + 2, RELEASE);
}

static void write_name(bshm_entry *entry, const bshm__name *name)
{
	uint64_t *words = (uint64_t *) (void *) entry->name;
	for (size_t i = 0; i < BSHM_NAME_WORDS; i++) {
		BSHM_STORE(&words[i], name->words[i], RELAXED);
	}
}

static void link_entry(bshm_segment *segment, uint32_t index, const bshm__name *name)
{
	uint32_t *head = head_of(segment, name);
	BSHM_STORE(&segment->entries[index].next, BSHM_LOAD(head, RELAXED), RELAXED);
	BSHM_STORE(head, index + 1, RELEASE); /* pairs with bshm__entry_find() */
}

/* False: the entry is not in its name's chain, so one of the two is damaged. */
static bool unlink_entry(bshm_segment *segment, uint32_t index, const bshm__name *name)
{
	uint32_t *at = head_of(segment, name);
	for (uint32_t steps = 0; steps < segment->entry_count; steps++) {
		const uint32_t next = BSHM_LOAD(at, RELAXED);
		if (next == index + 1) {
			/* Pairs with bshm__entry_find(). */
			BSHM_STORE(at, BSHM_LOAD(&segment->entries[index].next, RELAXED), RELEASE);
			return true;
		}
		if (next == 0 || next > segment->entry_count) {
			return false;
		}
		at = &segment->entries[next - 1].next;
	}
	return false;
}

/* Chains are derived from names, and can be made anew at any time. */
static void rebuild_chains(bshm_segment *segment)
{
	const uint64_t version = begin_change(segment);
	for (uint32_t i = 0; i < segment->head_count; i++) {
		BSHM_STORE(&segment->heads[i], 0, RELAXED);
	}
	for (uint32_t i = 0; i < segment->entry_count; i++) {
		const bshm__name name = bshm__entry_name(&segment->entries[i]);
		if (name.bytes[0] != 0 && name.bytes[0] <= BSHM_NAME_MAX) {
			link_entry(segment, i, &name);
		}
	}
	end_change(segment, version);
}

bshm_status bshm__entry_create(
	bshm_segment *segment, const bshm__name *name, uint32_t *index, bshm_error *error)
{
	bshm_status status = bshm__entry_find(segment, name, index);
	if (status == BSHM_E_BUSY || status == BSHM_E_CORRUPT) {
		bshm__directory_repair(segment); /* under the lock it does not change */
		status = bshm__entry_find(segment, name, index);
	}
	if (status == BSHM_OK) {
		return BSHM_OK;
	}
	/* All entries are looked at: a name that is there, but in no chain, must not come twice. */
	uint32_t free_at = segment->entry_count;
	for (uint32_t i = segment->entry_count; i-- > 0;) {
		bshm_entry *entry = &segment->entries[i];
		if (BSHM_LOAD(&entry->name[0], RELAXED) == 0) {
			free_at = i;
		} else if (bshm__entry_named(entry, name)) {
			bshm__directory_repair(segment); /* links it, or frees it */
			if (bshm__entry_find(segment, name, index) == BSHM_OK) {
				return BSHM_OK;
			}
			free_at = BSHM_LOAD(&entry->name[0], RELAXED) == 0 ? i : free_at;
			break;
		}
	}
	if (free_at == segment->entry_count) {
		return bshm__fail_sizes(error, BSHM_E_NO_SPACE, BSHM_CAUSE_DIRECTORY,
			segment->entry_count + 1, segment->entry_count);
	}
	const uint64_t version = begin_change(segment);
	write_name(&segment->entries[free_at], name);
	link_entry(segment, free_at, name);
	end_change(segment, version);
	*index = free_at;
	return BSHM_OK;
}

/*
 * One more than the last one. If the word is damaged, it may have been set back, and one more may
 * be a number that a worker still holds for an old set. Then the clock gives a number that was
 * never used, of the parity that selects the other descriptor.
 */
static uint64_t next_generation(const bshm_segment *segment, const bshm_entry *entry)
{
	const uint64_t last = BSHM_LOAD(&entry->generation, RELAXED);
	const bool unused = last == 0 && BSHM_LOAD(&entry->descriptor[0].generation, RELAXED) == 0 &&
						BSHM_LOAD(&entry->descriptor[1].generation, RELAXED) == 0;
	const bshm__name name = bshm__entry_name(entry);
	const bshm_descriptor descriptor = bshm__descriptor_read(entry, last);
	if (unused || bshm__descriptor_sound(segment, &name, &descriptor, last)) {
		return last + 1;
	}
	return ((uint64_t) (bshm_os_wall_s() * 1e9) & ~UINT64_C(1)) | ((last + 1) & 1);
}

/* One more than the last one, and at least the clock in ns: so no number comes twice, even if the
 * word is damaged and set back. */
static uint64_t next_publication(bshm_segment *segment)
{
	const uint64_t next = BSHM_LOAD(&segment->header->publications, RELAXED) + 1;
	const uint64_t clock = (uint64_t) (bshm_os_wall_s() * 1e9);
	const uint64_t number = next > clock ? next : clock;
	BSHM_STORE(&segment->header->publications, number, RELAXED);
	return number;
}

static void zero_usage(bshm_usage *usage)
{
	BSHM_STORE(&usage->questions, 0, RELAXED);
	BSHM_STORE(&usage->maybes, 0, RELAXED);
	BSHM_STORE(&usage->fetches, 0, RELAXED);
	BSHM_STORE(&usage->denied, 0, RELAXED);
	BSHM_STORE(&usage->found, 0, RELAXED);
	BSHM_STORE(&usage->loaded, 0, RELAXED);
}

static void put_in_force(
	bshm_entry *entry, const bshm_descriptor *descriptor, const uint64_t *items)
{
	const uint64_t generation = descriptor->generation;
	uint64_t words[DESCRIPTOR_WORDS];
	memcpy(words, descriptor, sizeof(words));
	uint64_t *to = (uint64_t *) (void *) &entry->descriptor[generation & 1];
	/* A reader still copying this slot's last descriptor sees that the generation has moved:
	 * pairs with look(), bshm_filter_next(). */
	BSHM_FENCE(RELEASE);
	for (size_t i = 0; i < DESCRIPTOR_WORDS; i++) {
		BSHM_STORE(&to[i], words[i], RELAXED);
	}
	if (items != NULL) {
		/* What was heard of the set before: a reader of the new one must not see it. */
		BSHM_STORE(&entry->as_of_ns, 0, RELAXED);
		BSHM_STORE(&entry->items[descriptor->items_slot & 1], *items, RELAXED);
		BSHM_STORE(&entry->false_positives[descriptor->items_slot & 1], 0, RELAXED);
		zero_usage(&entry->usage[descriptor->items_slot & 1]);
	}
	if ((descriptor->source & BSHM_SOURCE_SENDS) == 0) {
		BSHM_STORE(&entry->unsent, 0, RELAXED);
	}
	BSHM_STORE(&entry->generation, generation, SEQ_CST); /* pairs with every read of it */
	/* The old partitions are used again only after the generation has moved: pairs with
	 * bshm__view_current(). */
	BSHM_FENCE(RELEASE);
	/* So that a damaged generation word does not bring the old descriptor back. */
	BSHM_STORE(&entry->descriptor[(generation + 1) & 1].generation, 0, RELAXED);
}

/* Publishes as generation `generation`, which next_generation() gave. */
static void publish_as(bshm_segment *segment, uint32_t index, uint64_t generation,
	bshm_descriptor *descriptor, uint64_t items)
{
	bshm_entry *entry = &segment->entries[index];
	const bshm_descriptor last =
		bshm__descriptor_read(entry, BSHM_LOAD(&entry->generation, RELAXED));
	bshm__space_forget(segment); /* the last set's partitions are free from here on */
	descriptor->generation = generation;
	descriptor->publication = next_publication(segment);
	descriptor->items_slot = (last.items_slot & 1) ^ 1; /* late adders count in the other one */
	const bshm__name name = bshm__entry_name(entry);
	descriptor->check = bshm__descriptor_check(segment, descriptor, &name);
	put_in_force(entry, descriptor, &items);
}

void bshm__entry_publish(
	bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor, uint64_t items)
{
	const uint64_t generation = next_generation(segment, &segment->entries[index]);
	publish_as(segment, index, generation, descriptor, items);
}

void bshm__entry_extend(bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor)
{
	bshm_entry *entry = &segment->entries[index];
	descriptor->generation = next_generation(segment, entry);
	const bshm__name name = bshm__entry_name(entry);
	descriptor->check = bshm__descriptor_check(segment, descriptor, &name);
	put_in_force(entry, descriptor, NULL);
}

/* False: the entry was freed, but is still in a chain: its damaged name does not lead to that
 * chain. */
static bool tidy(bshm_segment *segment, uint32_t index)
{
	bshm_entry *entry = &segment->entries[index];
	const bool building = bshm__entry_has_op(segment, index);
	/* Pairs with add_published(): an adder that sees 0 sees the new generation. */
	BSHM_STORE(&entry->builders, bshm__entry_has_journal(segment, index) ? 1 : 0, SEQ_CST);
	const uint64_t generation = BSHM_LOAD(&entry->generation, RELAXED);
	const bshm_descriptor descriptor = bshm__descriptor_read(entry, generation);
	if (building || (generation != 0 && descriptor.state != BSHM_STATE_ABSENT)) {
		return true;
	}
	const bshm__name name = bshm__entry_name(entry);
	const bshm__name none = {{0}};
	const uint64_t version = begin_change(segment);
	const bool found = unlink_entry(segment, index, &name);
	write_name(entry, &none);
	end_change(segment, version);
	return found;
}

void bshm__entry_tidy(bshm_segment *segment, uint32_t index)
{
	if (!tidy(segment, index)) {
		rebuild_chains(segment);
	}
}

void bshm__op_end(bshm_segment *segment, bshm_op *op)
{
	const uint32_t entry = BSHM_LOAD(&op->entry, RELAXED) - 1;
	bshm__op_retire(segment, op);
	if (entry < segment->entry_count) {
		bshm__entry_tidy(segment, entry);
	}
}

void bshm__entry_drop(bshm_segment *segment, uint32_t index)
{
	bshm_descriptor absent = {
		.state = BSHM_STATE_ABSENT, .published_s = bshm__bits(bshm_os_wall_s())};
	bshm__entry_publish(segment, index, &absent, 0);
	bshm__entry_tidy(segment, index);
}

bshm_status bshm__entry_current(
	bshm_segment *segment, const bshm__name *name, uint32_t *index, bshm_descriptor *descriptor)
{
	if (bshm__entry_find(segment, name, index) != BSHM_OK) {
		return BSHM_E_NOT_FOUND;
	}
	const bshm_entry *entry = &segment->entries[*index];
	const uint64_t generation = BSHM_LOAD(&entry->generation, RELAXED);
	if (generation == 0) {
		return BSHM_E_NOT_FOUND;
	}
	*descriptor = bshm__descriptor_read(entry, generation);
	if (!bshm__descriptor_sound(segment, name, descriptor, generation)) {
		return BSHM_E_CORRUPT;
	}
	switch (descriptor->state) {
		case BSHM_STATE_LIVE:
			return BSHM_OK;
		case BSHM_STATE_CLEARING:
			return BSHM_E_BUSY;
		default:
			return BSHM_E_NOT_FOUND;
	}
}

/* ------------------------------------------------------------------ repair (under the lock) */

/* A rename publishes `target`, then drops `source`. After a death in between, finish_rename() does
 * the second. */
void bshm__entry_rename(
	bshm_segment *segment, uint32_t source, uint32_t target, bshm_descriptor *descriptor)
{
	bshm_header *header = segment->header;
	const bshm_entry *from_entry = &segment->entries[source];
	/* Computed once: for a damaged target, the clock gives another number each time. */
	const uint64_t generation = next_generation(segment, &segment->entries[target]);
	const uint64_t items = BSHM_LOAD(&from_entry->items[descriptor->items_slot & 1], RELAXED);
	const uint64_t heard_ns = BSHM_LOAD(&from_entry->as_of_ns, RELAXED);
	if (descriptor->as_of_ns != 0 && heard_ns > descriptor->as_of_ns) {
		descriptor->as_of_ns = heard_ns;
	}
	/* No origin announces the set under this name, and nobody takes its keys out of the outbox. */
	descriptor->source_version = 0;
	descriptor->source &= ~BSHM_SOURCE_SENDS;
	BSHM_STORE(&header->intent_from, source, RELAXED);
	BSHM_STORE(&header->intent_to, target, RELAXED);
	BSHM_STORE(&header->intent_generation, generation, RELAXED);
	BSHM_STORE(&header->intent, 1, RELEASE); /* pairs with finish_rename() */
	publish_as(segment, target, generation, descriptor, items);
	bshm__entry_drop(segment, source);
	BSHM_STORE(&header->intent, 0, RELEASE); /* pairs with finish_rename() */
}

/* A rename publishes `to`, then drops `from`. If `to` was published, `from` is dropped now. */
static void finish_rename(bshm_segment *segment)
{
	bshm_header *header = segment->header;
	const uint32_t from = BSHM_LOAD(&header->intent_from, RELAXED);
	const uint32_t to = BSHM_LOAD(&header->intent_to, RELAXED);
	/* Pairs with bshm__entry_rename(). */
	if (BSHM_LOAD(&header->intent, ACQUIRE) == 1 && from < segment->entry_count &&
		to < segment->entry_count && from != to &&
		BSHM_LOAD(&segment->entries[to].generation, RELAXED) ==
			BSHM_LOAD(&header->intent_generation, RELAXED)) {
		bshm__entry_drop(segment, from);
	}
	BSHM_STORE(&header->intent, 0, RELEASE); /* pairs with finish_rename() */
}

void bshm__directory_repair(bshm_segment *segment)
{
	rebuild_chains(segment);
	for (uint32_t i = 0; i < segment->entry_count; i++) {
		if (bshm__entry_name(&segment->entries[i]).bytes[0] != 0) {
			tidy(segment, i); /* the chains are sound now: the result does not matter */
		}
	}
	finish_rename(segment);
}
