/*
 * create.h - makes the file of a new segment.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_CREATE_H
#define BSHM_CREATE_H

#include "core/bshm.h"
#include "platform/platform.h"

/* Is the file of this user, or of a user with whom the segment is shared? */
bool bshm__file_trusted(const bshm_options *options, const bshm_os_stat *st);
/*
 * OK: there is a file at the path, this process's or that of another one that was faster. BUSY:
 * another process is making it.
 */
bshm_status bshm__file_create(const bshm_options *options, bshm_error *error);

#endif
