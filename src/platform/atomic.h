/*
 * atomic.h - the only spelling of an atomic access in bloomshm.
 *
 * Shared words are plain fixed-width integers in the segment's structs; every access to one
 * goes through these macros, with its memory order at the call. Only 32-bit and 64-bit words
 * that the machine handles without a lock may be used: a library fallback would take a lock
 * that is private to the process, and be wrong between processes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_ATOMIC_H
#define BSHM_ATOMIC_H

#define BSHM_LOAD(word, order)         __atomic_load_n((word), __ATOMIC_##order)
#define BSHM_STORE(word, value, order) __atomic_store_n((word), (value), __ATOMIC_##order)
#define BSHM_ADD(word, value, order)   __atomic_fetch_add((word), (value), __ATOMIC_##order)
#define BSHM_SUB(word, value, order)   __atomic_fetch_sub((word), (value), __ATOMIC_##order)
#define BSHM_AND(word, value, order)   __atomic_fetch_and((word), (value), __ATOMIC_##order)
#define BSHM_OR(word, value, order)    __atomic_fetch_or((word), (value), __ATOMIC_##order)
#define BSHM_CAS(word, expected, value, order)                                                     \
 __atomic_compare_exchange_n((word), (expected), (value), 0, __ATOMIC_##order, __ATOMIC_RELAXED)

/*
 * ThreadSanitizer knows no fences. Nothing shared is accessed other than by the macros above,
 * so a fence never protects a plain access, and leaving it to the compiler loses no report.
 */
#define BSHM_FENCE(order) __atomic_thread_fence(__ATOMIC_##order)

#if defined(__x86_64__) || defined(__i386__)
# define BSHM_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
# define BSHM_PAUSE() __asm__ volatile("yield")
#else
# define BSHM_PAUSE() ((void) 0)
#endif

#endif
