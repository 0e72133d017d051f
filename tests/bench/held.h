/*
 * held.h - included before all else in a build of the engine that measures how long locks are held.
 *
 * Processor time counts, so that it is not the machine's other work that is measured.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_BENCH_HELD_H
#define BSHM_BENCH_HELD_H

/* bench_locks.c */
void held_begin(void);
void held_end(void);

#define BSHM_HELD_BEGIN() held_begin()
#define BSHM_HELD_END()   held_end()

#endif
