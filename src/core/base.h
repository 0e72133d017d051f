/*
 * base.h - assertions, and a double from and to its 64 bits.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_BASE_H
#define BSHM_BASE_H

#include "platform/compiler.h"

#include <stdint.h>
#include <string.h>

#ifdef BSHM_DEBUG
# include <assert.h>
# define BSHM_ASSERT(condition) assert(condition)
#else
# define BSHM_ASSERT(condition) ((void) 0)
#endif

static inline double bshm__double(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint64_t bshm__bits(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

#endif
