/*
 * php_bloomshm.h - the module, for a PHP that the extension is compiled into.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_H
#define PHP_BLOOMSHM_H

#include "php.h"

#define PHP_BLOOMSHM_VERSION "0.4.0-dev"

extern zend_module_entry bloomshm_module_entry;
#define phpext_bloomshm_ptr &bloomshm_module_entry

#endif
