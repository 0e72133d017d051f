/*
 * counters.h - a partition of a counting filter.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_COUNTERS_H
#define BSHM_COUNTERS_H

#include "core/format.h"

#include <stdbool.h>

/* Adds one to the counters of a hash; true: one of them was 0. */
bool bshm__counters_add(uint64_t *words, bshm_hash h, uint32_t hash_count);
/* The smallest of the hash's counters. */
uint32_t bshm__counters_least(const uint64_t *words, bshm_hash h, uint32_t hash_count);
/* Adds the counters of one partition to those of another that nobody else writes. */
void bshm__counters_merge(uint64_t *to, const uint64_t *from);
/* Takes one away from each of the hash's counters. */
void bshm__counters_take(uint64_t *words, bshm_hash h, uint32_t hash_count);

#endif
