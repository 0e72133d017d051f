/*
 * name.h - filter names, as they are stored in an entry.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_NAME_H
#define BSHM_NAME_H

#include "core/base.h"
#include "core/format.h"
#include "platform/atomic.h"

#include <stdbool.h>
#include <string.h>

/* A name padded with zeros to the 64 bytes that an entry holds. */
typedef union {
	uint8_t bytes[BSHM_NAME_MAX + 1];
	uint64_t words[(BSHM_NAME_MAX + 1) / 8];
} bshm__name;

#define BSHM_NAME_WORDS ((BSHM_NAME_MAX + 1) / sizeof(uint64_t))

static inline bshm__name bshm__name_of(const char *name, size_t length)
{
	bshm__name padded = {{0}};
	BSHM_ASSERT(length >= 1 && length <= BSHM_NAME_MAX);
	padded.bytes[0] = (uint8_t) length;
	memcpy(padded.bytes + 1, name, length);
	return padded;
}

static inline const uint64_t *bshm__name_words(const bshm_entry *entry)
{
	return (const uint64_t *) (const void *) entry->name;
}

static inline bshm__name bshm__entry_name(const bshm_entry *entry)
{
	bshm__name name;
	for (size_t i = 0; i < BSHM_NAME_WORDS; i++) {
		name.words[i] = BSHM_LOAD(&bshm__name_words(entry)[i], RELAXED);
	}
	return name;
}

static inline bool bshm__entry_named(const bshm_entry *entry, const bshm__name *name)
{
	for (size_t i = 0; i < BSHM_NAME_WORDS; i++) {
		if (BSHM_LOAD(&bshm__name_words(entry)[i], RELAXED) != name->words[i]) {
			return false;
		}
	}
	return true;
}

#endif
