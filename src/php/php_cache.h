/*
 * php_cache.h - a record's value by its key.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_CACHE_H
#define PHP_BLOOMSHM_CACHE_H

#include "php.h"

#include "core/bshm_records.h"

/* 1 = the record's value is in *out; 0 = there is none (an exception may be set). May run user
 * code. */
int php_bloomshm_record_get(bshm_segment *segment, uint32_t space, const bshm_key *key,
	unsigned flags, bshm_patience *patience, zval *out);

#endif
