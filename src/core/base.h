/*
 * base.h - assertions, hints to the compiler, and a double from and to its 64 bits.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_BASE_H
#define BSHM_BASE_H

#include <stdint.h>

#ifdef BSHM_DEBUG
# include <assert.h>
# define BSHM_ASSERT(condition) assert(condition)
#else
# define BSHM_ASSERT(condition) ((void) 0)
#endif

#define BSHM_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define BSHM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define BSHM_ALWAYS_INLINE       inline __attribute__((always_inline))

static inline double bshm__double(uint64_t bits)
{
	double value;
	__builtin_memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint64_t bshm__bits(double value)
{
	uint64_t bits;
	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

#endif
