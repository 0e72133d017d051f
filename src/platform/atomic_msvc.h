/*
 * atomic_msvc.h - the atomic accesses of atomic.h for MSVC's own compiler.
 *
 * The documentation of the intrinsics says which order they have: `_Interlocked*` is a full barrier
 * to the compiler and to x86-64, and acquires and releases on ARM64. A volatile access of an
 * aligned word is never torn. On x86-64 each load acquires and each store releases, so only the
 * compiler has to be kept from moving accesses; on ARM64 a barrier stands after a load and before a
 * store, as in MSVC's own <atomic>.
 *
 * Words are of 32 or 64 bits: the type of the pointer selects the function.
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

static __forceinline void bshm__fence(int order)
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
static __forceinline void bshm__order_access(int order)
{
	bshm__fence(order == BSHM__ORDER_SEQ_CST ? BSHM__ORDER_ACQ_REL : order);
}

/* NAME: the suffix; TYPE: of the word; WIDE: what the intrinsics take, with their suffix. */
#define BSHM__ATOMIC_FUNCTIONS(NAME, TYPE, WIDE, SUFFIX)                                           \
 static __forceinline TYPE bshm__load_##NAME(const volatile TYPE *word, int order)                 \
 {                                                                                                 \
  const TYPE value = *word;                                                                        \
  bshm__order_access(order);                                                                       \
  return value;                                                                                    \
 }                                                                                                 \
 static __forceinline void bshm__store_##NAME(volatile TYPE *word, TYPE value, int order)          \
 {                                                                                                 \
  if (order == BSHM__ORDER_SEQ_CST) {                                                              \
   (void) _InterlockedExchange##SUFFIX((volatile WIDE *) word, (WIDE) value);                      \
   return;                                                                                         \
  }                                                                                                \
  bshm__order_access(order);                                                                       \
  *word = value;                                                                                   \
 }                                                                                                 \
 static __forceinline TYPE bshm__add_##NAME(volatile TYPE *word, TYPE value)                       \
 {                                                                                                 \
  return (TYPE) _InterlockedExchangeAdd##SUFFIX((volatile WIDE *) word, (WIDE) value);             \
 }                                                                                                 \
 static __forceinline TYPE bshm__sub_##NAME(volatile TYPE *word, TYPE value)                       \
 {                                                                                                 \
  return (TYPE) _InterlockedExchangeAdd##SUFFIX((volatile WIDE *) word, (WIDE) (0 - value));       \
 }                                                                                                 \
 static __forceinline TYPE bshm__and_##NAME(volatile TYPE *word, TYPE value)                       \
 {                                                                                                 \
  return (TYPE) _InterlockedAnd##SUFFIX((volatile WIDE *) word, (WIDE) value);                     \
 }                                                                                                 \
 static __forceinline TYPE bshm__or_##NAME(volatile TYPE *word, TYPE value)                        \
 {                                                                                                 \
  return (TYPE) _InterlockedOr##SUFFIX((volatile WIDE *) word, (WIDE) value);                      \
 }                                                                                                 \
 static __forceinline bool bshm__cas_##NAME(volatile TYPE *word, TYPE *expected, TYPE value)       \
 {                                                                                                 \
  const TYPE wanted = *expected;                                                                   \
  *expected = (TYPE) _InterlockedCompareExchange##SUFFIX(                                          \
	  (volatile WIDE *) word, (WIDE) value, (WIDE) wanted);                                        \
  return *expected == wanted;                                                                      \
 }

BSHM__ATOMIC_FUNCTIONS(int, int, long, )
BSHM__ATOMIC_FUNCTIONS(u32, uint32_t, long, )
BSHM__ATOMIC_FUNCTIONS(u64, uint64_t, __int64, 64)

#define BSHM__TYPED(function, word)                                                                \
 _Generic((word),                                                                                  \
	 int *: bshm__##function##_int,                                                                \
	 const int *: bshm__##function##_int,                                                          \
	 uint32_t *: bshm__##function##_u32,                                                           \
	 const uint32_t *: bshm__##function##_u32,                                                     \
	 uint64_t *: bshm__##function##_u64,                                                           \
	 const uint64_t *: bshm__##function##_u64)

#define BSHM__LOAD(word, order) BSHM__TYPED(load, word)((word), BSHM__ORDER_##order)
#define BSHM__STORE(word, value, order)                                                            \
 BSHM__TYPED(store, word)((word), (value), BSHM__ORDER_##order)
#define BSHM__ADD(word, value, order)           BSHM__TYPED(add, word)((word), (value))
#define BSHM__SUB(word, value, order)           BSHM__TYPED(sub, word)((word), (value))
#define BSHM__AND(word, value, order)           BSHM__TYPED(and, word)((word), (value))
#define BSHM__OR(word, value, order)            BSHM__TYPED(or, word)((word), (value))
#define BSHM__CAS(word, expected, value, order) BSHM__TYPED(cas, word)((word), (expected), (value))
#define BSHM__FENCE(order)                      bshm__fence(BSHM__ORDER_##order)

#endif
