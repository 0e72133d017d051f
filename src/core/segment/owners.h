/*
 * owners.h - which processes are attached, and whether they live.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_OWNERS_H
#define BSHM_OWNERS_H

#include "core/bshm.h"

#define BSHM_LOCKS_UNTRIED 0u
#define BSHM_LOCKS_MAPPED  1u /* a mapping of it, without a descriptor */
#define BSHM_LOCKS_OPEN    2u /* a descriptor */

/* Remembers the segment, so that the child of a fork does not use its parent's slot. False: another
 * thread has held the guard for too long. */
bool bshm__owner_remember(bshm_segment *segment);
/* Forgets the segment, and gives back the slot and the file. */
void bshm__owner_forget(bshm_segment *segment);
/* Does a mapping of the file keep a lock without a descriptor? Tries it out, if that was not done
 * yet. */
bool bshm__owner_lasts(bshm_segment *segment);
/*
 * Makes segment->fd the file that is mapped, if it is not. UNAVAILABLE: the file cannot be opened.
 */
bshm_status bshm__owner_file(bshm_segment *segment, bshm_error *error);
/* Takes a slot for this process, if it has none; OK, UNAVAILABLE or TIMEOUT. */
bshm_status bshm__owner_attach(bshm_segment *segment, bshm_error *error);
/* Is the process behind an owner word alive? False only when the kernel says so. */
bool bshm__owner_alive(bshm_segment *segment, uint64_t owner);

/* The locks on the slots' bytes. */
typedef struct {
	uint64_t owners;      /* processes that are attached; more than 255: about so many */
	bool strange;         /* and a program that is no owner */
	uint64_t strange_pid; /* 0: not known */
} bshm__owner_survey;

void bshm__owners_look(bshm_segment *segment, bshm__owner_survey *out);
uint64_t bshm__owner_count(bshm_segment *segment);

#endif
