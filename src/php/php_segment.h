/*
 * php_segment.h - this process's segment, for each kind of call.
 *
 * A call takes its segment once, from one of these functions. The next time the process may have
 * another segment, and the first one may be unmapped.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_SEGMENT_H
#define PHP_BLOOMSHM_SEGMENT_H

#include "php.h"
#include "php_state.h"

#include "SAPI.h"
#include "core/bshm_records.h"

void php_bloomshm_segment_startup(int module_number);
void php_bloomshm_segment_shutdown(void);
void php_bloomshm_segment_request_end(void);
/* After all objects and resources of the request. */
void php_bloomshm_segment_request_over(void);
/* The thread gives its segment back. */
void php_bloomshm_segment_detach(zend_bloomshm_globals *globals);

/* ------------------------------------------------------------------ questions */

bshm_segment *php_bloomshm_segment_look(void);

/*
 * For questions. NULL: bloomshm is off, there is no file, or it cannot be attached. Never waits,
 * never throws, never creates a segment. A failed attach is repeated after a second.
 */
static inline bshm_segment *php_bloomshm_segment(void)
{
	/* A request has another time than the one before it, 0 until it is asked for. */
	if (EXPECTED(BLOOMSHM_G(request_time) == SG(global_request_time)) &&
		EXPECTED(BLOOMSHM_G(questions_left) != 0)) {
		BLOOMSHM_G(questions_left)--;
		return BLOOMSHM_G(segment);
	}
	return php_bloomshm_segment_look();
}

/*
 * Why there is no segment, for php_bloomshm_unanswered(). NOT_FOUND: there is no file, so every
 * filter is missing; BUSY: bloomshm is off; UNAVAILABLE.
 */
static inline bshm_status php_bloomshm_segment_status(void)
{
	return BLOOMSHM_G(segment_status);
}

/* The filters that this thread has resolved. Only after a call above or below gave a segment. */
static inline bshm_views *php_bloomshm_views(void)
{
	return BLOOMSHM_G(views);
}

/* For status pages; NULL: *error says why. */
bshm_segment *php_bloomshm_segment_try(bshm_error *error);

/* ------------------------------------------------------------------ filters */

/*
 * For adds and removals. NULL: there is none (the call returns false), or an exception was thrown.
 */
bshm_segment *php_bloomshm_segment_to_add(void);
/*
 * All others throw instead of returning NULL. For calls that make a filter: creates the segment, or
 * waits for a moment while another process does. `fresh`: looks at the path, whenever that was done
 * last.
 */
bshm_segment *php_bloomshm_segment_to_create(bool fresh);
/* For calls that need the filter `filter`: without a file they throw NOT_FOUND for it. */
bshm_segment *php_bloomshm_segment_of(const char *filter);
/* The same for calls that write. */
bshm_segment *php_bloomshm_segment_to_move(const char *filter);
/* After a publication. False: the file was removed meanwhile, and an exception was thrown. */
bool php_bloomshm_check_published(const bshm_segment *segment, const char *filter);

/* ------------------------------------------------------------------ the record store */

/* For calls that read records, or remove them; NULL: there is no segment, or it has no record
 * store. */
static inline bshm_segment *php_bloomshm_segment_with_store(void)
{
	bshm_segment *segment = php_bloomshm_segment();
	return EXPECTED(segment != NULL && bshm_store_exists(segment)) ? segment : NULL;
}

/* The same for calls that store a record: creates the segment, or waits for a moment as above. */
bshm_segment *php_bloomshm_segment_to_store(void);
/* The same for calls that throw instead of returning NULL. `create`: creates the segment. */
bshm_segment *php_bloomshm_segment_with_store_or_throw(bool create);

#endif
