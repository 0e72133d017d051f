/*
 * php_message.h - makes one English sentence of a bshm_error, which the caller releases.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_MESSAGE_H
#define PHP_BLOOMSHM_MESSAGE_H

#include "php.h"

#include "core/bshm.h"

/* `filter` may be NULL; for an error about one record it is the record's key. */
zend_string *php_bloomshm_message(const bshm_error *error, const char *filter);
/* For an error about the file of a dump, at `path`; NULL: the error is not about a file. */
zend_string *php_bloomshm_message_file(const bshm_error *error, const char *path);

#endif
