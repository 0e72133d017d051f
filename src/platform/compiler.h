/*
 * compiler.h - what the sources ask of a compiler beyond C11: hints, operations on bits, storage.
 *
 * GCC, clang and MinGW take the first half. MSVC's own compiler takes the second; a build with
 * -DBSHM_MSVC takes it too, where the intrinsics of MSVC exist (MinGW, clang for Windows), so that
 * it can be tried without MSVC.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_COMPILER_H
#define BSHM_COMPILER_H

#include <stdbool.h>
#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__) && !defined(BSHM_MSVC)
# define BSHM_MSVC
#endif

#ifndef BSHM_MSVC

# define BSHM_LIKELY(condition)   __builtin_expect(!!(condition), 1)
# define BSHM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
# define BSHM_UNREACHABLE()       __builtin_unreachable()
# define BSHM_ALWAYS_INLINE       inline __attribute__((always_inline))
# define BSHM_NOINLINE            __attribute__((noinline))
# define BSHM_FLATTEN             __attribute__((flatten)) /* inlines all that it calls */
# define BSHM_MAYBE_UNUSED        __attribute__((unused))
# define BSHM_THREAD_LOCAL        __thread

/* The numbers of two arguments: the format, and the first that it formats. */
# ifdef __MINGW32__
#  define BSHM_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
# else
#  define BSHM_PRINTF(text, first) __attribute__((format(printf, text, first)))
# endif

# define BSHM_PREFETCH(address) __builtin_prefetch(address)
/* The number of the lowest, and of the highest, bit that is set; not for 0. */
# define BSHM_LOWEST_BIT(word)  ((uint32_t) __builtin_ctzll(word))
# define BSHM_HIGHEST_BIT(word) (63 - (uint32_t) __builtin_clzll(word))
# define BSHM_BIT_COUNT(word)   ((uint32_t) __builtin_popcountll(word))
# define BSHM_SWAP32(word)      __builtin_bswap32(word)
# define BSHM_SWAP64(word)      __builtin_bswap64(word)
/* Of int64_t: true if the result does not fit. */
# define BSHM_ADD_OVERFLOWS(a, b, sum)        __builtin_add_overflow((a), (b), (sum))
# define BSHM_SUB_OVERFLOWS(a, b, difference) __builtin_sub_overflow((a), (b), (difference))

# if defined(__x86_64__) || defined(__i386__)
#  define BSHM_PAUSE() __builtin_ia32_pause()
# elif defined(__aarch64__)
#  define BSHM_PAUSE() __asm__ volatile("yield")
# else
#  define BSHM_PAUSE() ((void) 0)
# endif
# define BSHM_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
# ifdef __SSE2__
#  define BSHM_SSE2
#  include <emmintrin.h>
# endif

#else

# include <intrin.h>
# include <stdlib.h>

# ifdef __GNUC__ /* MinGW, for the trial */
#  define BSHM_ALWAYS_INLINE inline __attribute__((always_inline))
#  define BSHM_MAYBE_UNUSED  __attribute__((unused))
#  define BSHM_THREAD_LOCAL  __thread
#  define BSHM_UNREACHABLE() __builtin_unreachable()
# else
#  define BSHM_ALWAYS_INLINE __forceinline
#  define BSHM_MAYBE_UNUSED
#  define BSHM_THREAD_LOCAL  __declspec(thread)
#  define BSHM_UNREACHABLE() __assume(0)
# endif

# define BSHM_LIKELY(condition)   (condition)
# define BSHM_UNLIKELY(condition) (condition)
# define BSHM_NOINLINE            __declspec(noinline)
# define BSHM_FLATTEN
# define BSHM_PRINTF(text, first)

# if defined(_M_ARM64)
#  define BSHM_PREFETCH(address) __prefetch(address)
#  define BSHM_PAUSE()           __yield()
# else
#  define BSHM_PREFETCH(address) _mm_prefetch((const char *) (address), _MM_HINT_T0)
#  define BSHM_PAUSE()           _mm_pause()
# endif

static BSHM_ALWAYS_INLINE uint32_t bshm__lowest_bit(uint64_t word)
{
	unsigned long number;
	_BitScanForward64(&number, word);
	return (uint32_t) number;
}

static BSHM_ALWAYS_INLINE uint32_t bshm__highest_bit(uint64_t word)
{
	unsigned long number;
	_BitScanReverse64(&number, word);
	return (uint32_t) number;
}

/* Not __popcnt64(): a processor may lack that instruction. */
static BSHM_ALWAYS_INLINE uint32_t bshm__bit_count(uint64_t word)
{
	word -= word >> 1 & UINT64_C(0x5555555555555555);
	word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
	word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t) (word * UINT64_C(0x0101010101010101) >> 56);
}

static BSHM_ALWAYS_INLINE bool bshm__add_overflows(int64_t a, int64_t b, int64_t *sum)
{
	*sum = (int64_t) ((uint64_t) a + (uint64_t) b);
	return ((a ^ *sum) & (b ^ *sum)) < 0;
}

static BSHM_ALWAYS_INLINE bool bshm__sub_overflows(int64_t a, int64_t b, int64_t *difference)
{
	*difference = (int64_t) ((uint64_t) a - (uint64_t) b);
	return ((a ^ b) & (a ^ *difference)) < 0;
}

# define BSHM_LOWEST_BIT(word)                bshm__lowest_bit(word)
# define BSHM_HIGHEST_BIT(word)               bshm__highest_bit(word)
# define BSHM_BIT_COUNT(word)                 bshm__bit_count(word)
# define BSHM_SWAP32(word)                    _byteswap_ulong(word)
# define BSHM_SWAP64(word)                    _byteswap_uint64(word)
# define BSHM_ADD_OVERFLOWS(a, b, sum)        bshm__add_overflows((a), (b), (sum))
# define BSHM_SUB_OVERFLOWS(a, b, difference) bshm__sub_overflows((a), (b), (difference))
# define BSHM_BIG_ENDIAN                      0

#endif

#endif
