/*
 * origin.c - filters that follow those of another host.
 *
 * The host that publishes a filter is its origin; this one publishes what it got from there
 * (bshm_build_follow()), and notes whenever the origin says again that this is its newest version
 * (bshm_filter_heard()), or that the set may lack keys that other hosts have (bshm_filter_doubt()).
 * A set that somebody else publishes under the name is a local one.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/bshm_origin.h"

#include "core/filter/build.h"
#include "core/filter/lag.h"
#include "core/filter/mend.h"
#include "core/filter/view.h"
#include "core/format_outbox.h"
#include "core/segment/directory.h"
#include "core/segment/lock.h"
#include "core/segment/name.h"
#include "core/segment/segment.h"
#include "core/segment/source.h"
#include "core/status.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

#define NEVER 1u /* as a moment: the origin was never heard */

static bool is_sound(const bshm_origin *origin)
{
	return origin->source_length >= 1 && origin->source_length <= BSHM_SOURCE_BYTES_MAX &&
		   memchr(origin->source, '\0', origin->source_length) == NULL &&
		   origin->max_lag_s <= BSHM_MAX_LAG_MAX_S;
}

static uint64_t engine_now(const bshm_segment *segment)
{
	return bshm_os_clock_ns() + segment->clock_offset;
}

/*
 * The moment at which the origin said it, on the engine clock, of which `now_ns` was read before: a
 * process that is stopped in between takes the word for older. Never 0, which is of a local set.
 */
static uint64_t as_of(uint64_t now_ns, const bshm_origin *origin)
{
	if (origin->heard_ns == BSHM_NEVER_HEARD) {
		return NEVER;
	}
	const int64_t ticks_ns = (int64_t) bshm_os_monotonic_ns();
	if (origin->heard_ns >= ticks_ns) {
		return now_ns;
	}
	const uint64_t age_ns = (uint64_t) ticks_ns - (uint64_t) origin->heard_ns;
	return age_ns < now_ns ? now_ns - age_ns : NEVER;
}

bshm_status bshm_build_follow(bshm_build *build, const bshm_origin *origin, bshm_error *error)
{
	if (!is_sound(origin)) {
		return bshm__fail(error, BSHM_E_RANGE, BSHM_CAUSE_ORIGIN);
	}
	if ((build->segment->features & BSHM_FEATURE_FLEET) == 0) {
		return bshm__fail(error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_FOLLOW);
	}
	if (origin->sends && bshm__counts(&build->descriptor)) {
		return bshm__fail(error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_SENDS);
	}
	memset(build->source, 0, sizeof(build->source));
	memcpy(build->source, origin->source, origin->source_length);
	build->sends = origin->sends;
	build->descriptor.max_lag_s = origin->max_lag_s;
	build->descriptor.source_epoch = origin->epoch;
	build->descriptor.source_version = origin->version;
	build->descriptor.as_of_ns = as_of(engine_now(build->segment), origin);
	return BSHM_OK;
}

/* Is the set in force the one that the origin speaks of? */
static bool is_of(const bshm_segment *segment, const bshm_descriptor *d, const bshm_origin *origin)
{
	char source[BSHM_SOURCE_BYTES_MAX + 1];
	return d->as_of_ns != 0 && d->source_epoch == origin->epoch &&
		   d->source_version == origin->version && d->max_lag_s == origin->max_lag_s &&
		   ((d->source & BSHM_SOURCE_SENDS) != 0) == origin->sends &&
		   bshm__source_read(segment, d->source, source) &&
		   strlen(source) == origin->source_length &&
		   memcmp(source, origin->source, origin->source_length) == 0;
}

bshm_status bshm_filter_heard(bshm_segment *segment, const char *name, size_t name_length,
	const bshm_origin *origin, bshm_error *error)
{
	const bshm__name padded = bshm__name_of(name, name_length);
	uint32_t index;
	bshm_descriptor descriptor;
	if (!is_sound(origin)) {
		return bshm__fail(error, BSHM_E_RANGE, BSHM_CAUSE_ORIGIN);
	}
	bshm_status status = bshm__lock(segment, BSHM_LOCK_BATCH_NS, error);
	if (status != BSHM_OK) {
		return status;
	}
	status = bshm__entry_current(segment, &padded, &index, &descriptor);
	if (status == BSHM_E_NOT_FOUND || status == BSHM_E_CORRUPT) {
		bshm__fail(error, status, BSHM_CAUSE_FILTER);
	} else if (status == BSHM_E_BUSY || !is_of(segment, &descriptor, origin)) {
		status = bshm__fail(error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_ORIGIN);
	} else {
		bshm_entry *entry = &segment->entries[index];
		const uint64_t now_ns = engine_now(segment);
		const uint64_t moment_ns = as_of(now_ns, origin);
		if (moment_ns != NEVER && bshm__lag(entry, &descriptor, now_ns) > now_ns - moment_ns) {
			/* Who sees this sees that the set is in force: pairs with bshm__view_current(). */
			BSHM_STORE(&entry->as_of_ns, moment_ns, RELEASE);
		}
	}
	bshm__unlock(segment);
	return status;
}

/* As one that was never heard of. It is the same set, with the same bits: so it is published as one
 * that has grown, and no adder has to add again. */
static void put_in_doubt(bshm_segment *segment, uint32_t index, bshm_descriptor *descriptor)
{
	descriptor->as_of_ns = NEVER;
	descriptor->max_lag_s = descriptor->max_lag_s == 0 ? 1 : descriptor->max_lag_s;
	BSHM_STORE(&segment->entries[index].as_of_ns, 0, RELAXED);
	bshm__entry_extend(segment, index, descriptor);
}

int bshm_filter_doubt(
	bshm_segment *segment, const char *name, size_t name_length, bshm_error *error)
{
	const bshm__name padded = bshm__name_of(name, name_length);
	uint32_t index;
	bshm_descriptor descriptor;
	int status = bshm__lock(segment, BSHM_LOCK_BATCH_NS, error);
	if (status != BSHM_OK) {
		return status;
	}
	status = bshm__entry_current(segment, &padded, &index, &descriptor);
	if (status == BSHM_E_NOT_FOUND || status == BSHM_E_CORRUPT) {
		bshm__fail(error, status, BSHM_CAUSE_FILTER);
	} else if (status == BSHM_E_BUSY || descriptor.as_of_ns == 0) {
		status = bshm__fail(error, BSHM_E_INCOMPATIBLE, BSHM_CAUSE_ORIGIN);
	} else {
		const uint64_t heard_ns = BSHM_LOAD(&segment->entries[index].as_of_ns, RELAXED);
		status = descriptor.as_of_ns != NEVER || heard_ns > NEVER || descriptor.max_lag_s == 0;
		if (status == 1) {
			put_in_doubt(segment, index, &descriptor);
		}
	}
	bshm__unlock(segment);
	return status;
}

/* ------------------------------------------------------------------ the outbox */

typedef struct {
	bshm_outbox_letter letter;
	uint64_t name;
} note;

typedef struct {
	size_t count;
	size_t room;
	note *notes;
} sweep;

static void note_letter(
	void *context, const bshm_outbox_letter *letter, uint64_t name, const bshm_key *key)
{
	sweep *s = context;
	(void) key;
	if (s->count < s->room) {
		s->notes[s->count++] = (note){*letter, name};
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *) a;
	const uint64_t y = *(const uint64_t *) b;
	return x < y ? -1 : x > y;
}

/* Under the lock: the numbers of all names that there are. */
static size_t read_names(const bshm_segment *segment, uint64_t *names)
{
	size_t count = 0;
	for (uint32_t i = 0; i < segment->entry_count; i++) {
		const bshm__name name = bshm__entry_name(&segment->entries[i]);
		if (name.bytes[0] != 0 && name.bytes[0] <= BSHM_NAME_MAX) {
			names[count++] =
				bshm_outbox_name(segment, (const char *) name.bytes + 1, name.bytes[0]);
		}
	}
	return count;
}

static bshm_status sweep_letters(
	bshm_segment *segment, const sweep *s, uint64_t *names, bshm_error *error)
{
	const bshm_status status = bshm__lock(segment, BSHM_LOCK_BATCH_NS, error);
	if (status != BSHM_OK) {
		return status;
	}
	const size_t count = read_names(segment, names);
	bshm__unlock(segment);
	qsort(names, count, sizeof(*names), by_value);
	for (size_t i = 0; i < s->count; i++) {
		if (bsearch(&s->notes[i].name, names, count, sizeof(*names), by_value) == NULL) {
			bshm_outbox_free(segment, &s->notes[i].letter, 1);
		}
	}
	return BSHM_OK;
}

/* The letters are read before the names: a key is left for a filter that has its name by then. */
bshm_status bshm_outbox_sweep(bshm_segment *segment, bshm_error *error)
{
	bshm_status status = BSHM_OK;
	sweep s = {.room = (size_t) segment->chunk_count * (BSHM_PAGE_BYTES / BSHM_LETTER_BYTES_SMALL)};
	s.notes = malloc((s.room + 1) * sizeof(*s.notes));
	uint64_t *names = malloc((segment->entry_count + 1) * sizeof(*names));
	if (s.notes == NULL || names == NULL) {
		status = bshm__fail(error, BSHM_E_NO_SPACE, BSHM_CAUSE_MEMORY);
	} else {
		bshm_outbox_read(segment, true, note_letter, &s);
	}
	if (status == BSHM_OK && s.count != 0) {
		status = sweep_letters(segment, &s, names, error);
	}
	free(names);
	free(s.notes);
	return status;
}
