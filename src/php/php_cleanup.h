/*
 * php_cleanup.h - gives back what a call has when a fatal error ends its request in the middle.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_CLEANUP_H
#define PHP_BLOOMSHM_CLEANUP_H

#include "php.h"

typedef void (*php_bloomshm_cleanup)(const void *argument);

void php_bloomshm_cleanup_startup(int module_number);

/*
 * In a fiber: calls cleanup(argument) at the end of the request, unless
 * php_bloomshm_cleanup_cancel() comes first; keeps a copy of the `bytes` bytes at `argument`.
 * Outside of a fiber it does nothing and returns NULL: there the caller catches the fatal error
 * itself (zend_try).
 */
zend_resource *php_bloomshm_cleanup_register(
	php_bloomshm_cleanup cleanup, const void *argument, size_t bytes);
void php_bloomshm_cleanup_cancel(zend_resource *registered);

#endif
