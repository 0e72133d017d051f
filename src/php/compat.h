/*
 * compat.h - the only place that asks which PHP this is, and for which system.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_COMPAT_H
#define PHP_BLOOMSHM_COMPAT_H

#include "php.h"

#if PHP_VERSION_ID < 80200
# error "bloomshm needs PHP 8.2 or newer"
#endif

/*
 * Has memory_limit been met? From 8.2.35 on PHP says so only when a function has returned, and
 * gives it all memory that it asks for until then. So a loop whose result grows asks.
 */
#ifndef ZEND_HAS_OOM
# define ZEND_HAS_OOM() false
#endif

/*
 * Where the segment is. PHP's own settings know no variable of the environment, and on Windows the
 * folder of all users' data has no fixed name.
 */
#ifdef PHP_WIN32
# include "win32/glob.h"
# define PHP_BLOOMSHM_PROGRAM_DATA "%ProgramData%"
# define PHP_BLOOMSHM_PATH         PHP_BLOOMSHM_PROGRAM_DATA "\\bloomshm\\%u.seg"
# define PHP_BLOOMSHM_IN_PROGRAM_DATA(path)                                                        \
  (strncasecmp((path), PHP_BLOOMSHM_PROGRAM_DATA "\\", sizeof(PHP_BLOOMSHM_PROGRAM_DATA)) == 0)
#else
# include <glob.h>
# define PHP_BLOOMSHM_PROGRAM_DATA          ""
# define PHP_BLOOMSHM_PATH                  "/dev/shm/bloomshm.%u"
# define PHP_BLOOMSHM_IN_PROGRAM_DATA(path) false
#endif

#endif
