/*
 * space.c - the note that a search found too few free partitions.
 *
 * The search for room reads every filter (blocks.c). So when it fails, the header notes how much
 * room there was, and until when the note is valid. An adder to a filter that cannot grow reads the
 * note, and needs no lock. A process that gives partitions back clears the note, under the lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/segment/space.h"

#include "core/segment/owners.h"
#include "core/segment/segment.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#define NOTE_UNIT_BITS 20 /* of the clock: about a millisecond */
#define NOTE_LASTS     100u

void bshm__space_note(bshm_segment *segment, uint32_t free)
{
	const uint64_t now = bshm_os_monotonic_ns() >> NOTE_UNIT_BITS;
	BSHM_STORE(&segment->header->no_room, now << 32 | (free + 1), RELAXED);
}

void bshm__space_forget(bshm_segment *segment)
{
	if (BSHM_LOAD(&segment->header->no_room, RELAXED) != 0) {
		BSHM_STORE(&segment->header->no_room, 0, RELAXED);
	}
}

bool bshm__space_lacks(bshm_segment *segment, uint64_t count, uint32_t *free)
{
	const uint64_t note = BSHM_LOAD(&segment->header->no_room, RELAXED);
	const uint32_t now = (uint32_t) (bshm_os_monotonic_ns() >> NOTE_UNIT_BITS);
	*free = (uint32_t) note - 1;
	if (note == 0 || now - (uint32_t) (note >> 32) > NOTE_LASTS || count <= *free) {
		return false;
	}
	/*
	 * What the dead and those that gave up have taken comes back to the next one that has the lock.
	 */
	for (uint32_t i = 0; i < BSHM_OP_COUNT; i++) {
		const bshm_op *op = &segment->ops[i];
		const uint64_t owner = BSHM_LOAD(&op->owner, RELAXED);
		if (BSHM_LOAD(&op->entry, RELAXED) != 0 && BSHM_LOAD(&op->run.count, RELAXED) != 0 &&
			(owner == 0 || !bshm__owner_alive(segment, owner))) {
			return false;
		}
	}
	return true;
}
