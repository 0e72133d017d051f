/*
 * php_mapping.h - the process's mapping of its segment, which all threads share.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_MAPPING_H
#define PHP_BLOOMSHM_MAPPING_H

#include "php_state.h"

#include "core/bshm.h"

/* What a segment is wanted for. */
typedef enum {
	BLOOMSHM_TO_ASK,  /* never waits */
	BLOOMSHM_TO_ADD,  /* waits for a moment while another process prepares it: no add may be lost */
	BLOOMSHM_TO_LOOK, /* tries at once after a failure; waits only for a thread that attaches */
	BLOOMSHM_TO_STORE /* creates the segment, or waits for a moment while another process does */
} php_bloomshm_purpose;

/*
 * The process's mapping, of which the calling thread is a user from now on; attaches if there is
 * none. NULL: *error is why not. A call that stores waits while another process creates the
 * segment, or has it alone; after a wait in vain, no call does for a second. All but questions wait
 * while another thread attaches.
 */
php_bloomshm_mapping *php_bloomshm_mapping_obtain(php_bloomshm_purpose why, bshm_error *error);
/* The thread is no user any more. The last user closes it, which may last. */
void php_bloomshm_mapping_release(php_bloomshm_mapping *mapping);
bshm_segment *php_bloomshm_mapping_segment(const php_bloomshm_mapping *mapping);

/* Is there just no file? */
bool php_bloomshm_is_absent(const bshm_error *error);
/* The error when another thread has what the call needs. */
bshm_error php_bloomshm_busy(void);

/* Is the path to be looked at: was that a second ago? */
bool php_bloomshm_look_is_due(void);
/* The next call looks at the path, even if that was done just now: for rare calls. */
void php_bloomshm_look_anew(void);
/* Is it time to ask the next function? Two loads and the coarse clock. */
bool php_bloomshm_mapping_may_be_gone(php_bloomshm_mapping *mapping);
/* Has its file been removed or replaced? Looks at the path once a second. */
bool php_bloomshm_mapping_is_gone(php_bloomshm_mapping *mapping);
/* Its file is gone: the process gives it up, and the thread stays its user. False, of a question
 * only: the guard could not be had. */
bool php_bloomshm_mapping_retire(php_bloomshm_mapping *mapping, php_bloomshm_purpose why);
/* The process gives it up, its path, and what it knows of the file. By one thread at a time. */
void php_bloomshm_mapping_forget(void);
/* Before a call uses the path. In a fork's child, one thread gives up what is its parent's, if
 * another path is configured. False: another thread is about to; a question does not wait. */
bool php_bloomshm_mapping_settle(php_bloomshm_purpose why);
/* At the beginning of a fork's child. */
void php_bloomshm_mapping_in_child(void);

#endif
