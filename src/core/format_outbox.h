/*
 * format_outbox.h - the outbox in the segment: keys of adds that other hosts are to be told of.
 *
 * A segment has it if the bit BSHM_FEATURE_FLEET of its header's features is set: behind all other
 * regions. docs/FORMAT.md has the same for other programs.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_FORMAT_OUTBOX_H
#define BSHM_FORMAT_OUTBOX_H

#include "core/format.h"

/*
 * Room for one key. Half of the outbox's pages have letters of 64 bytes, a quarter of 512, and a
 * quarter of 4,096.
 *
 *  off   0                 8        12       16                24
 *      +-----------------+--------+--------+-----------------+---------------
 *   0: | state           | serial | zero   | name            | the key
 *      +-----------------+--------+--------+-----------------+---------------
 *
 *  state   0 = free; an owner word: that process writes the letter; else it is ready: the low 16
 *          bits are 0xffff (which no owner word has), then 16 of the key's length, 32 of the serial
 *  all else  by the process whose owner word is the state
 */
typedef struct {
	uint64_t state;
	uint32_t serial; /* one more with each key: so two readers do not free a letter twice */
	uint32_t reserved;
	uint64_t name; /* XXH3-64 of the padded name of the filter, seeded with name_seed */
} bshm_letter;

BSHM_STATIC_ASSERT(letter, sizeof(bshm_letter) == 24);
BSHM_AT(letter, serial, 8);
BSHM_AT(letter, name, 16);

#define BSHM_LETTER_READY       0xffffu
#define BSHM_LETTER_BYTES_SMALL 64u
#define BSHM_LETTER_BYTES_MAX   BSHM_PAGE_BYTES

/*
 * The outbox's first page. A bit of `marks` for each page of letters: set by the process that has
 * made one of them ready, cleared by a reader before it looks at them; a hint.
 */
typedef struct {
	uint64_t marks[BSHM_CHUNK_COUNT_MAX / 64];
	uint8_t reserved[BSHM_PAGE_BYTES - BSHM_CHUNK_COUNT_MAX / 8];
} bshm_outbox;

BSHM_STATIC_ASSERT(outbox, sizeof(bshm_outbox) == BSHM_PAGE_BYTES);

#endif
