/*
 * php_info.h - a filter's figures as an array.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_INFO_H
#define PHP_BLOOMSHM_INFO_H

#include "php.h"

#include "core/bshm.h"

/* Makes *array what bloom_info() returns. */
void php_bloomshm_info_array(zval *array, const zend_string *name, const bshm_info *info);

#endif
