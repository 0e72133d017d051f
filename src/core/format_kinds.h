/*
 * format_kinds.h - the kinds of filters: one row each.
 *
 * A row has the kind's name and number, the name of its functions (filter/kind.h), and what the
 * directory must know of it. A new kind is one more row here, and one file in filter/.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_FORMAT_KINDS_H
#define BSHM_FORMAT_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#define BSHM_F_GROWS  1u /* has an expansion, and up to BSHM_LAYERS_MAX layers */
#define BSHM_F_WINDOW 2u /* has a window: its keys age */
#define BSHM_F_COUNTS 4u /* a key that is added twice is not the same as one that is added once */

/* X(NAME, number, functions, flags): what the 65,536 bits of a partition are. */
#define BSHM_KIND_LIST(X)                                                                          \
 X(PLAIN, 0, plain, 0u)                  /* as many bits */                                        \
 X(SLIDING, 1, sliding, BSHM_F_WINDOW)   /* 16,384 positions in 4 lanes, one an epoch */           \
 X(COUNTING, 2, counting, BSHM_F_COUNTS) /* 16,384 counters from 0 to 15 */                        \
 X(GROWING, 3, growing, BSHM_F_GROWS)    /* as many bits; a key's first six lie in one line */

enum {
#define BSHM_KIND_NUMBER(name, number, functions, flags) BSHM_KIND_##name = (number),
	BSHM_KIND_LIST(BSHM_KIND_NUMBER)
#undef BSHM_KIND_NUMBER
#define BSHM_KIND_ONE(name, number, functions, flags) +1
	BSHM_KIND_COUNT = BSHM_KIND_LIST(BSHM_KIND_ONE)
#undef BSHM_KIND_ONE
};

/* The flags of a kind, which must be less than BSHM_KIND_COUNT. */
static inline uint32_t bshm__kind_flags(uint32_t kind)
{
	static const uint32_t all[BSHM_KIND_COUNT] = {
#define BSHM_KIND_FLAGS(name, number, functions, flags) [number] = (flags),
		BSHM_KIND_LIST(BSHM_KIND_FLAGS)
#undef BSHM_KIND_FLAGS
	};
	return all[kind];
}

/* Can a descriptor, or a file, have these values together? */
static inline bool bshm__kind_fits(
	uint32_t kind, uint32_t expansion, uint32_t window_s, uint32_t layer_count)
{
	if (kind >= BSHM_KIND_COUNT) {
		return false;
	}
	const bool grows = (bshm__kind_flags(kind) & BSHM_F_GROWS) != 0;
	const bool window = (bshm__kind_flags(kind) & BSHM_F_WINDOW) != 0;
	return grows == (expansion != 0) && window == (window_s != 0) && (grows || layer_count == 1);
}

#endif
