/*
 * counted.h - a build option of the tests: counts the accesses to shared words under a lock.
 *
 * With -DBSHM_COUNTED every access that atomic.h spells is counted, apart for each thread. So a
 * test can say how much work a call does under a lock at most, without a clock; and it can do in
 * the middle of a call what another process might. The program defines bshm__held: tests/unit.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_COUNTED_H
#define BSHM_COUNTED_H

#include "platform/compiler.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t accesses;
	uint64_t began;     /* the same when the first lock was taken */
	uint64_t most;      /* accesses while a lock was held */
	uint64_t holds;     /* how often one was taken */
	unsigned depth;     /* locks held now */
	uint64_t call_at;   /* before this access ... */
	void (*call)(void); /* ... this is called, if it is not NULL */
} bshm_held;

extern BSHM_THREAD_LOCAL bshm_held bshm__held;

static inline void bshm__held_count(void)
{
	if (++bshm__held.accesses == bshm__held.call_at && bshm__held.call != NULL) {
		bshm__held.call();
	}
}

static inline void bshm__held_begin(void)
{
	if (bshm__held.depth++ == 0) {
		bshm__held.began = bshm__held.accesses;
		bshm__held.holds++;
	}
}

static inline void bshm__held_end(void)
{
	if (bshm__held.depth != 0 && --bshm__held.depth == 0) {
		const uint64_t count = bshm__held.accesses - bshm__held.began;
		bshm__held.most = count > bshm__held.most ? count : bshm__held.most;
	}
}

#define BSHM_HELD_BEGIN() bshm__held_begin()
#define BSHM_HELD_END()   bshm__held_end()

#define BSHM_COUNT(operation)                  (bshm__held_count(), (operation))
#define BSHM_LOAD(word, order)                 BSHM_COUNT(BSHM__LOAD(word, order))
#define BSHM_STORE(word, value, order)         BSHM_COUNT(BSHM__STORE(word, value, order))
#define BSHM_ADD(word, value, order)           BSHM_COUNT(BSHM__ADD(word, value, order))
#define BSHM_SUB(word, value, order)           BSHM_COUNT(BSHM__SUB(word, value, order))
#define BSHM_AND(word, value, order)           BSHM_COUNT(BSHM__AND(word, value, order))
#define BSHM_OR(word, value, order)            BSHM_COUNT(BSHM__OR(word, value, order))
#define BSHM_CAS(word, expected, value, order) BSHM_COUNT(BSHM__CAS(word, expected, value, order))

#endif
