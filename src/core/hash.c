/*
 * hash.c - lists of hashes.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/hash.h"

#include "core/format.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	const bshm_hash *x = a;
	const bshm_hash *y = b;
	if (x->high != y->high) {
		return x->high < y->high ? -1 : 1;
	}
	return x->low < y->low ? -1 : x->low > y->low;
}

size_t bshm__hashes_distinct(bshm_hash *hashes, size_t count)
{
	qsort(hashes, count, sizeof(*hashes), by_value);
	size_t distinct = 0;
	for (size_t i = 0; i < count; i++) {
		distinct += i == 0 || by_value(&hashes[i - 1], &hashes[i]) != 0;
	}
	return distinct;
}
