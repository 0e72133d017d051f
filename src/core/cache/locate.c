/*
 * locate.c - where a record stands, or where it could be put, under the shard's lock.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "core/cache/locate.h"

/* Most keys that are new meet an empty place in their line, and nothing with their tag: false if not. */
static inline bool locate_new(const bshm__shard *s, const bshm__home *home, bshm__standing *at)
{
	const bshm__lines lines = bshm__lines_of(s->segment, home->table);
	const uint32_t number = bshm__line_of(home->position, lines.lines);
	const bshm_line *line = lines.lines == 0 ? NULL : bshm__line_at(s, &lines, number);
	if (line == NULL) {
		return false;
	}
	uint32_t passed;
	if (bshm__line_match(line, home->position, &passed) != 0 || passed != 0) {
		return false;
	}
	const uint32_t vacant = bshm__line_vacant(line);
	at->vacant = bshm__place_in(s, line, vacant);
	return vacant != BSHM_LINE_SLOTS;
}

static __attribute__((noinline)) void locate_any(const bshm__shard *s, const bshm__home *home,
	uint32_t space, const bshm_key *key, bshm__standing *at)
{
	at->vacant = 0;
	const bshm__lines lines = bshm__lines_of(s->segment, home->table);
	uint32_t number = bshm__line_of(home->position, lines.lines);
	bool passed_on = lines.lines != 0;
	for (uint32_t i = 0; i <= BSHM_PASSED_MAX && (passed_on || at->vacant == 0); i++) {
		const bshm_line *line = lines.lines == 0 ? NULL : bshm__line_at(s, &lines, number);
		uint32_t passed;
		if (line == NULL) {
			break;
		}
		uint64_t match = bshm__line_match(line, home->position, &passed);
		for (match = passed_on ? match : 0; match != 0; match &= match - 1) {
			const uint32_t slot = bshm__match_slot(match);
			const uint32_t ref = BSHM_LOAD(&line->ref[slot], RELAXED);
			bshm__page_prefetch(s, ref); /* if it is the one, its slot is given up */
			if (ref != 0 && bshm__record_load(s, ref, &at->record) &&
				bshm__record_has_key(s, &at->record, space, key)) {
				at->ref = ref;
				at->place = bshm__place_in(s, line, slot);
				at->expired = bshm__expired(at->record.expires_s,
					at->record.expires_s == 0 ? 0 : bshm__store_now_s(s->segment));
				return;
			}
		}
		const uint32_t vacant = at->vacant != 0 ? BSHM_LINE_SLOTS : bshm__line_vacant(line);
		if (vacant != BSHM_LINE_SLOTS) {
			at->vacant = bshm__place_in(s, line, vacant);
			at->far = i != 0;
		}
		passed_on = passed_on && passed != 0;
		number = bshm__line_next(number, lines.lines);
	}
}

void bshm__locate(const bshm__shard *s, const bshm__home *home, uint32_t space, const bshm_key *key,
	bshm__standing *at)
{
	at->place = at->ref = 0;
	at->expired = at->far = false;
	at->sequence = BSHM_LOAD(&s->shard->sequence, RELAXED);
	if (!locate_new(s, home, at)) {
		locate_any(s, home, space, key, at);
	}
}
