/*
 * settings.h - the two settings of the eviction, the lean (ghost.c) and the power of the sizes
 * (size.c): what their words say.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CACHE_SETTINGS_H
#define BSHM_CACHE_SETTINGS_H

#include "core/cache/octave.h"

#define BSHM_LEAN_LOW  (-BSHM_OCTAVE / 2) /* below 0, chance does not make it more than 0 */
#define BSHM_LEAN_HIGH (5 * BSHM_OCTAVE)

#define BSHM_POWER_MOST (BSHM_OCTAVE / 4 * 5)
#define BSHM_POWER_NEW  (BSHM_POWER_MOST / 4) /* of an empty store, where the word is 0 */

/* Less of a setting hardly counts. Sizes differ by up to ten octaves, so less of the power does. */
#define BSHM_LEAN_NEARLY  (BSHM_OCTAVE / 16)
#define BSHM_POWER_NEARLY (BSHM_OCTAVE / 64)

static inline int32_t bshm__lean_within(int64_t lean)
{
	return (int32_t) (lean < BSHM_LEAN_LOW    ? BSHM_LEAN_LOW
					  : lean > BSHM_LEAN_HIGH ? BSHM_LEAN_HIGH
											  : lean);
}

static inline int32_t bshm__lean_in(uint32_t word)
{
	return bshm__lean_within((int32_t) word);
}

static inline int32_t bshm__power_within(int64_t power)
{
	return (int32_t) (power < 0 ? 0 : power > BSHM_POWER_MOST ? BSHM_POWER_MOST : power);
}

static inline int32_t bshm__power_in(uint32_t word)
{
	return bshm__power_within(BSHM_POWER_NEW + (int64_t) (int32_t) word);
}

/* Is the store an LRU, or nearly? Takes no lock. */
static inline bool bshm__is_lru(const bshm__shard *s)
{
	const int32_t lean = bshm__lean_in(BSHM_LOAD(&s->shard->lean, RELAXED));
	const int32_t power = bshm__power_in(BSHM_LOAD(&s->shard->size_power, RELAXED));
	return lean < BSHM_LEAN_NEARLY &&
		   (power < BSHM_POWER_NEARLY || !bshm__memory_is_limit(s->segment, s->shard));
}

#endif
