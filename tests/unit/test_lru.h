/*
 * test_lru.h - a strict LRU of keys below LRU_KEYS, to compare the store with.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_TEST_LRU_H
#define BSHM_TEST_LRU_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LRU_KEYS 20000

/* A list, LRU_KEYS its end: before that is the oldest key. */
typedef struct {
	uint32_t before[LRU_KEYS + 1];
	uint32_t after[LRU_KEYS + 1];
	bool in[LRU_KEYS];
	uint32_t count;
	uint32_t capacity;
} lru;

static inline void lru_begin(lru *l, uint32_t capacity)
{
	memset(l, 0, sizeof(*l));
	l->before[LRU_KEYS] = l->after[LRU_KEYS] = LRU_KEYS;
	l->capacity = capacity;
}

static inline void lru_unlink(lru *l, uint32_t key)
{
	l->after[l->before[key]] = l->after[key];
	l->before[l->after[key]] = l->before[key];
	l->in[key] = false;
}

static inline bool lru_use(lru *l, uint32_t key)
{
	const bool hit = l->in[key];
	if (hit) {
		lru_unlink(l, key);
	} else if (l->count == l->capacity) {
		lru_unlink(l, l->before[LRU_KEYS]);
	} else {
		l->count++;
	}
	l->before[key] = LRU_KEYS;
	l->after[key] = l->after[LRU_KEYS];
	l->before[l->after[key]] = key;
	l->after[LRU_KEYS] = key;
	l->in[key] = true;
	return hit;
}

static lru same;
static lru quarter;

#endif
