/*
 * php_state.c - defines the module globals.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_state.h"

ZEND_DECLARE_MODULE_GLOBALS(bloomshm)

#if defined(ZTS) && defined(COMPILE_DL_BLOOMSHM)
ZEND_TSRMLS_CACHE_DEFINE()
#endif
