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

/* A list, LRU_KEYS its end: before that is the oldest key. A key that is in it has a size. */
typedef struct {
	uint32_t before[LRU_KEYS + 1];
	uint32_t after[LRU_KEYS + 1];
	uint32_t size[LRU_KEYS]; /* 0 = it is not in the list */
	uint32_t used;
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
	l->used -= l->size[key];
	l->size[key] = 0;
}

static inline bool lru_use_sized(lru *l, uint32_t key, uint32_t size)
{
	const bool hit = l->size[key] != 0;
	if (hit) {
		lru_unlink(l, key);
	}
	while (l->used + size > l->capacity) {
		lru_unlink(l, l->before[LRU_KEYS]);
	}
	l->before[key] = LRU_KEYS;
	l->after[key] = l->after[LRU_KEYS];
	l->before[l->after[key]] = key;
	l->after[LRU_KEYS] = key;
	l->size[key] = size;
	l->used += size;
	return hit;
}

static inline bool lru_use(lru *l, uint32_t key)
{
	return lru_use_sized(l, key, 1);
}

#endif
