/*
 * atomic_msvc.h - the atomic accesses of atomic.h for MSVC's own compiler.
 *
 * The documentation of the intrinsics says which order they have: `_Interlocked*` is a full barrier
 * to the compiler and to x86-64, and acquires and releases on ARM64. A volatile access of an
 * aligned word is never torn. On x86-64 each load acquires and each store releases, so only the
 * compiler has to be kept from moving accesses; on ARM64 a barrier stands after a load and before a
 * store, as in MSVC's own <atomic>.
 *
 * The type of the pointer selects the function. Words that are changed in one step have 32 or 64
 * bits.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_ATOMIC_MSVC_H
#define BSHM_ATOMIC_MSVC_H

#include "platform/compiler.h"

#define BSHM__ORDER_RELAXED 0
#define BSHM__ORDER_ACQUIRE 1
#define BSHM__ORDER_RELEASE 2
#define BSHM__ORDER_ACQ_REL 3
#define BSHM__ORDER_SEQ_CST 4

static BSHM_ALWAYS_INLINE void bshm__fence(int order)
{
#if defined(_M_ARM64)
	if (order != BSHM__ORDER_RELAXED) {
		__dmb(_ARM64_BARRIER_ISH);
	}
#else
	if (order == BSHM__ORDER_SEQ_CST) {
		_mm_mfence();
	}
	_ReadWriteBarrier();
#endif
}

/* Beside a load or a store: less than a fence on x86-64. */
static BSHM_ALWAYS_INLINE void bshm__order_access(int order)
{
	bshm__fence(order == BSHM__ORDER_SEQ_CST ? BSHM__ORDER_ACQ_REL : order);
}

/* NAME: the suffix; TYPE: of the word. */
#define BSHM__ATOMIC_ACCESS(NAME, TYPE)                                                            \
 static BSHM_ALWAYS_INLINE TYPE bshm__load_##NAME(const volatile TYPE *word, int order)            \
 {                                                                                                 \
  const TYPE value = *word;                                                                        \
  bshm__order_access(order);                                                                       \
  return value;                                                                                    \
 }                                                                                                 \
 static BSHM_ALWAYS_INLINE void bshm__store_##NAME(volatile TYPE *word, TYPE value, int order)     \
 {                                                                                                 \
  bshm__order_access(order);                                                                       \
  *word = value;                                                                                   \
  if (order == BSHM__ORDER_SEQ_CST) {                                                              \
   bshm__fence(order);                                                                             \
  }                                                                                                \
 }

/* WIDE: what the intrinsics take, with their suffix. */
#define BSHM__ATOMIC_CHANGES(NAME, TYPE, WIDE, SUFFIX)                                             \
 static BSHM_ALWAYS_INLINE TYPE bshm__add_##NAME(volatile TYPE *word, TYPE value)                  \
 {                                                                                                 \
  return (TYPE) _InterlockedExchangeAdd##SUFFIX((volatile WIDE *) word, (WIDE) value);             \
 }                                                                                                 \
 static BSHM_ALWAYS_INLINE TYPE bshm__sub_##NAME(volatile TYPE *word, TYPE value)                  \
 {                                                                                                 \
  return (TYPE) _InterlockedExchangeAdd##SUFFIX((volatile WIDE *) word, (WIDE) (0 - value));       \
 }                                                                                                 \
 static BSHM_ALWAYS_INLINE TYPE bshm__and_##NAME(volatile TYPE *word, TYPE value)                  \
 {                                                                                                 \
  return (TYPE) _InterlockedAnd##SUFFIX((volatile WIDE *) word, (WIDE) value);                     \
 }                                                                                                 \
 static BSHM_ALWAYS_INLINE TYPE bshm__or_##NAME(volatile TYPE *word, TYPE value)                   \
 {                                                                                                 \
  return (TYPE) _InterlockedOr##SUFFIX((volatile WIDE *) word, (WIDE) value);                      \
 }                                                                                                 \
 static BSHM_ALWAYS_INLINE bool bshm__cas_##NAME(volatile TYPE *word, TYPE *expected, TYPE value)  \
 {                                                                                                 \
  const TYPE wanted = *expected;                                                                   \
  *expected = (TYPE) _InterlockedCompareExchange##SUFFIX(                                          \
	  (volatile WIDE *) word, (WIDE) value, (WIDE) wanted);                                        \
  return *expected == wanted;                                                                      \
 }

BSHM__ATOMIC_ACCESS(u8, uint8_t)
BSHM__ATOMIC_ACCESS(int, int)
BSHM__ATOMIC_ACCESS(u32, uint32_t)
BSHM__ATOMIC_ACCESS(u64, uint64_t)
BSHM__ATOMIC_CHANGES(int, int, long, )
BSHM__ATOMIC_CHANGES(u32, uint32_t, long, )
BSHM__ATOMIC_CHANGES(u64, uint64_t, __int64, 64)

#define BSHM__CHANGED(function, word)                                                              \
 _Generic((word), int *: bshm__##function##_int, uint32_t *: bshm__##function##_u32, \
	 uint64_t *: bshm__##function##_u64)
#define BSHM__LOADED(word)                                                                         \
 _Generic((word), uint8_t *: bshm__load_u8, const uint8_t *: bshm__load_u8, int *: bshm__load_int, \
	 const int *: bshm__load_int, uint32_t *: bshm__load_u32, const uint32_t *: bshm__load_u32, \
	 uint64_t *: bshm__load_u64, const uint64_t *: bshm__load_u64)
#define BSHM__STORED(word)                                                                         \
 _Generic((word), uint8_t *: bshm__store_u8, int *: bshm__store_int, uint32_t *: bshm__store_u32, \
	 uint64_t *: bshm__store_u64)

#define BSHM__LOAD(word, order)         BSHM__LOADED(word)((word), BSHM__ORDER_##order)
#define BSHM__STORE(word, value, order) BSHM__STORED(word)((word), (value), BSHM__ORDER_##order)
#define BSHM__ADD(word, value, order)   BSHM__CHANGED(add, word)((word), (value))
#define BSHM__SUB(word, value, order)   BSHM__CHANGED(sub, word)((word), (value))
#define BSHM__AND(word, value, order)   BSHM__CHANGED(and, word)((word), (value))
#define BSHM__OR(word, value, order)    BSHM__CHANGED(or, word)((word), (value))
#define BSHM__CAS(word, expected, value, order)                                                    \
 BSHM__CHANGED(cas, word)((word), (expected), (value))
#define BSHM__FENCE(order) bshm__fence(BSHM__ORDER_##order)

#endif
