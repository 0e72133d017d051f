/*
 * compat.h - the only place that asks which PHP this is.
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

#endif
