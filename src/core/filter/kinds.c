/*
 * kinds.c - the table of kinds.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/filter/kind.h"

#define KIND_ROW(name, number, functions, flags) [number] = &bshm__##functions,
const bshm__kind *const bshm__kinds[BSHM_KIND_COUNT] = {BSHM_KIND_LIST(KIND_ROW)};

uint32_t bshm__kind_of(const bshm_parameters *parameters)
{
	const uint32_t asked = (parameters->expansion != 0 ? BSHM_F_GROWS : 0) |
						   (parameters->window_s != 0 ? BSHM_F_WINDOW : 0) |
						   (parameters->counting ? BSHM_F_COUNTS : 0);
	uint32_t kind = 0;
	while (kind < BSHM_KIND_COUNT - 1 && bshm__kind_flags(kind) != asked) {
		kind++;
	}
	return kind;
}
