/*
 * rest.h - files on a disk: may a process believe what it finds there?
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_REST_H
#define BSHM_REST_H

#include "core/bshm.h"
#include "platform/platform.h"

/*
 * For a mapped segment whose header is sound: may a process believe its contents? `fd` is the open
 * file that is mapped. BUSY: try again soon. UNAVAILABLE with the cause REST: the machine stopped
 * while the segment was in use; if `writable`, fd keeps all other processes out until it is closed.
 */
bshm_status bshm__rest_enter(
	bshm_segment *segment, int fd, const bshm_os_stat *st, bool writable, bshm_error *error);
/* Removes a file that bshm__rest_enter() did not believe, for a new one. */
bshm_status bshm__rest_discard(const char *path, int fd, bshm_error *error);
/* After unmapping: brings the segment to rest if no process has it mapped any more; else BUSY. */
bshm_status bshm__rest_leave(const bshm_segment *segment, bshm_error *error);

#endif
