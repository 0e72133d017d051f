/*
 * atomic.h - the only spelling of an atomic access in the engine.
 *
 * Shared words are plain fixed-width integers in the segment's structs; every access to one goes
 * through these macros, with its memory order at the call. Only 32-bit and 64-bit words that the
 * machine handles without a lock may be used, because a library would take a lock of its own
 * process, which other processes do not see.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_ATOMIC_H
#define BSHM_ATOMIC_H

#include "platform/compiler.h"

#ifdef BSHM_MSVC
# include "platform/atomic_msvc.h"
#else
# define BSHM__LOAD(word, order)         __atomic_load_n((word), __ATOMIC_##order)
# define BSHM__STORE(word, value, order) __atomic_store_n((word), (value), __ATOMIC_##order)
# define BSHM__ADD(word, value, order)   __atomic_fetch_add((word), (value), __ATOMIC_##order)
# define BSHM__SUB(word, value, order)   __atomic_fetch_sub((word), (value), __ATOMIC_##order)
# define BSHM__AND(word, value, order)   __atomic_fetch_and((word), (value), __ATOMIC_##order)
# define BSHM__OR(word, value, order)    __atomic_fetch_or((word), (value), __ATOMIC_##order)
# define BSHM__CAS(word, expected, value, order)                                                   \
  __atomic_compare_exchange_n((word), (expected), (value), 0, __ATOMIC_##order, __ATOMIC_RELAXED)
# define BSHM__FENCE(order) __atomic_thread_fence(__ATOMIC_##order)
#endif

#ifdef BSHM_COUNTED
# include "platform/counted.h" /* for tests/unit: the same, counted */
#else
# define BSHM_LOAD(word, order) BSHM__LOAD(word, order)
/* Called when a lock has been taken, and before it is released; tests/bench measures the time. */
# ifndef BSHM_HELD_BEGIN
#  define BSHM_HELD_BEGIN() ((void) 0)
#  define BSHM_HELD_END()   ((void) 0)
# endif
#endif

#ifdef BSHM_STEPS
# include "platform/steps.h" /* for tests/deaths: the same, each a place to die at */
#elif !defined(BSHM_COUNTED)
# define BSHM_STORE(word, value, order)         BSHM__STORE(word, value, order)
# define BSHM_ADD(word, value, order)           BSHM__ADD(word, value, order)
# define BSHM_SUB(word, value, order)           BSHM__SUB(word, value, order)
# define BSHM_AND(word, value, order)           BSHM__AND(word, value, order)
# define BSHM_OR(word, value, order)            BSHM__OR(word, value, order)
# define BSHM_CAS(word, expected, value, order) BSHM__CAS(word, expected, value, order)
#endif

/*
 * ThreadSanitizer knows no fences. Nothing shared is accessed other than by the macros above,
 * so a fence never protects a plain access, and leaving it to the compiler loses no report.
 */
#define BSHM_FENCE(order) BSHM__FENCE(order)

/*
 * Copies and comparisons that may race with a writer of the same bytes. The result is thrown away
 * unless a version word, read before and after, shows that there was no writer. For the sanitizer
 * they are relaxed atomics of single bytes; else the functions of the library, which are faster.
 */
#if defined(__has_feature)
# if __has_feature(thread_sanitizer)
#  define BSHM_RACY_BYTES
# endif
#endif
#include "platform/copy.h"

/* From, or to, the segment. */
static inline void bshm__racy_copy(void *to, const void *from, size_t count)
{
#ifdef BSHM_RACY_BYTES
	for (size_t i = 0; i < count; i++) {
		BSHM_STORE((uint8_t *) to + i, BSHM_LOAD((const uint8_t *) from + i, RELAXED), RELAXED);
	}
#else
	/* 8 to 16 bytes, as many keys and values are: two words that may overlap. */
	if (BSHM_LIKELY(count - 8 <= 8)) {
		uint64_t first;
		uint64_t last;
		memcpy(&first, from, 8);
		memcpy(&last, (const char *) from + count - 8, 8);
		memcpy(to, &first, 8);
		memcpy((char *) to + count - 8, &last, 8);
		return;
	}
	if (BSHM_UNLIKELY(count > BSHM_COPY_PIECE)) {
		bshm__copy_long(to, from, count);
		return;
	}
	memmove(to, from, count);
#endif
}

/*
 * A part of a copy of `whole` bytes. Where they are more than the processor's second cache holds,
 * `rep movsb` takes a quarter less time than pieces, because it does not read the lines that it
 * overwrites.
 */
#define BSHM_COPY_CACHED (512u << 10)

static inline void bshm__racy_copy_part(void *to, const void *from, size_t count, uint64_t whole)
{
#ifdef BSHM_RACY_BYTES
	(void) whole;
#else
	if (BSHM_UNLIKELY(whole > BSHM_COPY_CACHED) &&
		((uintptr_t) to - (uintptr_t) from) % 4096 >= BSHM_COPY_LINE) {
		memcpy(to, from, count);
		return;
	}
#endif
	bshm__racy_copy(to, from, count);
}

static inline int bshm__racy_equal(const void *shared, const void *own, size_t count)
{
#ifdef BSHM_RACY_BYTES
	for (size_t i = 0; i < count; i++) {
		if (BSHM_LOAD((const uint8_t *) shared + i, RELAXED) != ((const uint8_t *) own)[i]) {
			return 0;
		}
	}
	return 1;
#else
	if (BSHM_LIKELY(count - 8 <= 8)) {
		uint64_t a[2];
		uint64_t b[2];
		memcpy(&a[0], shared, 8);
		memcpy(&a[1], (const char *) shared + count - 8, 8);
		memcpy(&b[0], own, 8);
		memcpy(&b[1], (const char *) own + count - 8, 8);
		return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
	}
	return memcmp(shared, own, count) == 0;
#endif
}

#endif
