/*
 * steps.h - a build option of the tests: a process may be made to die after any change of a shared
 * word.
 *
 * With -DBSHM_STEPS every store, exchange and arithmetic operation that atomic.h spells is a step,
 * identified by its place in the sources: locks, intents, publications, all of them. The program
 * defines bshm_step_done(), which counts, and may raise SIGKILL (tests/deaths) or wait
 * (tests/order). Between two steps a process changes only private memory, or bytes that nothing
 * leads to yet. So a death there is a death after the step before.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_STEPS_H
#define BSHM_STEPS_H

/* Aligned to its size, because the linker might leave gaps otherwise. */
typedef struct __attribute__((aligned(32))) {
	const char *file;
	const char *function;
	long line;
} bshm_step;

/* All steps of the program: the linker puts them side by side. */
extern const bshm_step __start_bshm_steps[];
extern const bshm_step __stop_bshm_steps[];

void bshm_step_done(const bshm_step *step);

#define BSHM_STEP()                                                                                \
 do {                                                                                              \
  static const bshm_step step_                                                                     \
	  __attribute__((section("bshm_steps"), used)) = {__FILE__, __func__, __LINE__};               \
  bshm_step_done(&step_);                                                                          \
 } while (0)

#define BSHM_STORE(word, value, order)                                                             \
 do {                                                                                              \
  BSHM__STORE(word, value, order);                                                                 \
  BSHM_STEP();                                                                                     \
 } while (0)

#define BSHM_STEP_GIVES(operation)                                                                 \
 ({                                                                                                \
const __auto_type gives_ = (operation);                                                                \
BSHM_STEP();                                                                                           \
gives_;                                                                                                \
 })
#define BSHM_ADD(word, value, order) BSHM_STEP_GIVES(BSHM__ADD(word, value, order))
#define BSHM_SUB(word, value, order) BSHM_STEP_GIVES(BSHM__SUB(word, value, order))
#define BSHM_AND(word, value, order) BSHM_STEP_GIVES(BSHM__AND(word, value, order))
#define BSHM_OR(word, value, order)  BSHM_STEP_GIVES(BSHM__OR(word, value, order))
#define BSHM_CAS(word, expected, value, order)                                                     \
 BSHM_STEP_GIVES(BSHM__CAS(word, expected, value, order))

#endif
