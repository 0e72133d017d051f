/*
 * php_fetch.h - values that are loaded when they are missing: what calls with one key (php_fetch.c)
 * and with many (php_fetch_many.c) share, and what calls that add keys to a filter need.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_FETCH_H
#define PHP_BLOOMSHM_FETCH_H

#include "php.h"

#include "php_value.h"

#include "core/bshm_records.h"

/* Keys were added to the filter: removes what was stored for them. May throw. */
void php_bloomshm_forget_added(
	bshm_segment *segment, const zend_string *filter, const bshm_key *keys, size_t count);

/* ------------------------------------------------------------------ one call */

/* How long a call waits for other processes that load its keys. */
#define PHP_BLOOMSHM_FETCH_WAIT_NS UINT64_C(5000000000)
/* Attempts to ask the filter within one generation. */
#define PHP_BLOOMSHM_ASK_TRIES 16

/* What is the same for all keys of a call. */
typedef struct {
	bshm_segment *segment; /* NULL: nothing is stored */
	uint32_t space;
	zend_fcall_info call; /* the loader */
	zend_fcall_info_cache cached;
	zend_long ttl;
	zend_string *filter; /* of bloom_fetch(); NULL: bloom_cache_remember() */
	bool asked;          /* the filter has answered, from the publication `set` */
	bshm_set set;
} php_bloomshm_fetch;

/* Calls the loader. False: it threw, or exited. */
bool php_bloomshm_fetch_load(php_bloomshm_fetch *f, zval *argument, zval *result);
/* Counts for bloom_info(): only keys of a filter that has answered. */
void php_bloomshm_fetch_count(
	const php_bloomshm_fetch *f, bshm_segment *segment, bshm_fetched outcome, uint64_t count);
/* To be released; NULL: the record's key for this key of a filter would be too long. */
zend_string *php_bloomshm_fetch_key(const zend_string *filter, const char *key, size_t length);

/*
 * Does the call return the record that was found? Then its value is in *out. `taken`: the lease of
 * the process that loads the key, or NULL. `patience`: NULL, or that of a call with many keys. Runs
 * user code; exit() in it leaves an exception.
 */
bool php_bloomshm_fetch_use(const php_bloomshm_fetch *f, const bshm_key *key, bshm_found *found,
	const bshm_lease_grant *taken, bshm_patience *patience, zval *out);
/*
 * The value of a record: `loaded`, or that the backend has none. False: it is not to be stored; an
 * exception may be set. Runs user code.
 */
bool php_bloomshm_fetch_value(const php_bloomshm_fetch *f, zval *loaded, php_bloomshm_value *value);
/* Waits until the lease, or its process, has ended. True: the time is up, or the value cannot be
 * stored, so the caller need not wait again. */
bool php_bloomshm_fetch_wait(
	const php_bloomshm_fetch *f, const bshm_lease_grant *taken, uint64_t deadline);

#endif
