/*
 * outbox.h - keys of adds that other hosts are to be told of.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_OUTBOX_H
#define BSHM_OUTBOX_H

#include "core/bshm.h"
#include "core/segment/name.h"

/*
 * Leaves a key of an add to the named filter for the process that sends it on. False: there is no
 * outbox, no room, the key is longer than BSHM_OUTBOX_KEY_MAX, or this process has no owner slot.
 * Takes no lock, and makes no call of the system but a thread's first time. Cost: a hash of 64
 * bytes, a compare-and-swap and a copy; where the outbox is nearly full a look at up to 192 lines.
 */
bool bshm__outbox_put(bshm_segment *segment, const bshm__name *name, const bshm_key *key);
/* Adds the figures of the outbox to those of *out. Cost: a look at each letter, up to 35,000. */
void bshm__outbox_describe(const bshm_segment *segment, bshm_stat *out);

#endif
