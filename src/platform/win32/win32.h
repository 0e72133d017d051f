/*
 * win32.h - what the files of this folder share.
 *
 * A descriptor of platform.h is a handle: all 32 bits of one that matter. So it is never 0, 1 or 2,
 * and a program that closes C descriptors by their numbers does not meet it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_WIN32_H
#define BSHM_WIN32_H

#ifndef WIN32_LEAN_AND_MEAN
# define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
# define NOMINMAX
#endif
#ifndef _WIN32_WINNT
# define _WIN32_WINNT 0x0A00 /* Windows 10 */
#endif
#include <windows.h>

#include "platform/platform.h"

#define BSHM_WIDE_PATH 4100u /* characters of a path */

static inline HANDLE bshm__win32_handle(int fd)
{
	return (HANDLE) (intptr_t) fd;
}

/* The error number of C for the last error of this thread. */
int bshm__win32_code(void);
/* A path as Windows takes it, from UTF-8 or else the system's code page. False: too long. */
bool bshm__win32_path(const char *path, WCHAR wide[BSHM_WIDE_PATH]);

/* Who may use a file (win32_access.c). */
typedef struct {
	SECURITY_ATTRIBUTES attributes; /* for CreateFile() */
	SECURITY_DESCRIPTOR descriptor;
	uint64_t sids[40];
	uint64_t list[32];
} bshm__win32_private;
/* Access for the owner alone; NULL: it cannot be told who that is. */
SECURITY_ATTRIBUTES *bshm__win32_owner_only(bshm__win32_private *room);
int bshm__win32_access(HANDLE file, bshm_os_stat *out);

#endif
