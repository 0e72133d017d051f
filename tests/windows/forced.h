/*
 * forced.h - what PHP's sources take for granted of Microsoft's compiler and mingw does not have.
 * The Makefile of build_php.js includes it before each source.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef BSHM_FORCED_H
#define BSHM_FORCED_H

#define _PID_T_
typedef int pid_t;
typedef int _pid_t;

#include <basetsd.h>
#include <intrin.h>
#include <sys/types.h>

/* PHP's win32/time.h has its own of these. */
#include <pthread_time.h>
#include <sys/time.h>
#include <time.h>
#define timezone     php_timezone
#define timespec     timespec /* PHP: it exists */
#define nanosleep    php_nanosleep
#define gettimeofday php_gettimeofday
#undef _POSIX_TIMERS /* PHP then takes Windows' clock, not that of mingw's library */

#undef _M_X64 /* else execute_ex() is expected in an assembler file for MASM */
#undef __forceinline
#define __forceinline inline

#define __assume(condition)       ((void) 0)
#define _AddressOfReturnAddress() __builtin_frame_address(0)

#define _InterlockedExchange8(word, to) __atomic_exchange_n((word), (to), __ATOMIC_SEQ_CST)

#define ERROR_DIRECTORY_NOT_SUPPORTED 336L

#define ARG_MAX 32767 /* characters of a command line */

#endif
