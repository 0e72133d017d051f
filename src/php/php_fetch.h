/*
 * php_fetch.h - what bloom_fetch() has stored, for the calls that add keys to a filter.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_FETCH_H
#define PHP_BLOOMSHM_FETCH_H

#include "php.h"

#include "core/bshm_records.h"

/* Keys were added to the filter: removes what was stored for them. May throw. */
void php_bloomshm_forget_added(
	bshm_segment *segment, const zend_string *filter, const bshm_key *keys, size_t count);

#endif
