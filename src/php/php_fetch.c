/*
 * php_fetch.c - values that are loaded when they are missing: bloom_cache_remember(),
 * bloom_fetch().
 *
 * One process loads a key's value, under a lease (lease.c). The other processes wait until the
 * lease has ended, or return a value that has just expired. Every change of the record ends the
 * lease: then the loaded value is returned, and not stored. No lock is held while the loader runs:
 * it may call this extension, change the same key, throw, run out of memory or be killed.
 *
 * bloom_fetch() asks its filter first. Where the filter answers "maybe" and the loader returns
 * null, a record of the type "nothing" is stored. It holds the publication number of the filter,
 * and is valid only while that publication is current. Adding or forgetting a key removes its
 * record, and ends the lease of a loader that may have asked the backend before.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_arguments.h"
#include "php_cleanup.h"
#include "php_error.h"
#include "php_fetch.h"
#include "php_keys.h"
#include "php_segment.h"
#include "php_value.h"

#include "Zend/zend_exceptions.h"

#include <string.h>

#define WAIT_NS     UINT64_C(5000000000)
#define PROBE_NS    UINT64_C(2000000)
#define NAP_US      50
#define NAP_US_MOST 1000
/* Attempts to ask the filter within one generation. */
#define ASK_TRIES 16

/* A record's key, and its loader. */
typedef struct {
	bshm_segment *segment;
	uint32_t space;
	bshm_key key;
	zend_string *argument; /* of the loader */
	zend_fcall_info *call;
	zend_fcall_info_cache *cached;
	zend_long ttl;
	zend_string *filter; /* of bloom_fetch(); NULL: bloom_cache_remember() */
	bool asked;          /* the filter has answered, from the publication `set` */
	bshm_set set;
} job;

/* ------------------------------------------------------------------ the loader */

/* Calls the loader; false: it threw. */
static bool call_loader(const job *j, zval *result)
{
	zval argument;
	ZVAL_STR(&argument, j->argument);
	ZVAL_UNDEF(result);
	j->call->retval = result;
	j->call->params = &argument;
	j->call->param_count = 1;
	zend_call_function(j->call, j->cached);
	if (EG(exception) != NULL || Z_TYPE_P(result) == IS_UNDEF) {
		zval_ptr_dtor(result);
		ZVAL_UNDEF(result);
		return false;
	}
	if (Z_ISREF_P(result)) {
		zend_unwrap_reference(result);
	}
	return true;
}

/* Counts for bloom_info(): bloom_fetch() only, and only if the filter has answered. */
static void count_fetch(const job *j, bshm_segment *segment, bshm_fetched outcome)
{
	if (j->asked) {
		bshm_filter_fetched(segment, php_bloomshm_views(), ZSTR_VAL(j->filter), ZSTR_LEN(j->filter),
			&j->set, outcome);
	}
}

static bshm_fetched outcome_of(const zval *loaded)
{
	return Z_TYPE_P(loaded) == IS_UNDEF  ? BSHM_FETCHED_FAILED
		   : Z_TYPE_P(loaded) == IS_NULL ? BSHM_FETCHED_NOTHING
										 : BSHM_FETCHED_LOADED;
}

/*
 * Loads the value into *result. With a grant, the value is stored and the lease released in one
 * step. Without one it is not stored: it may be older than what another process has stored
 * meanwhile.
 */
static void load(const job *j, const bshm_lease_grant *grant, zval *result)
{
	php_bloomshm_value value = {.string = NULL};
	bshm_error error;
	const bool loaded = call_loader(j, result);
	const bool nothing = loaded && j->filter != NULL && Z_TYPE_P(result) == IS_NULL;
	bool keep = loaded && grant->serial != 0;
	count_fetch(j, j->segment, outcome_of(result));
	if (nothing && j->asked) {
		value.value = (bshm_value){BSHM_VALUE_NOTHING, &j->set, sizeof(j->set)};
	} else {
		keep = keep && !nothing && php_bloomshm_value_of(&value, result);
	}
	const bshm_put put = {
		.space = j->space,
		.key = j->key,
		.value = value.value,
		.ttl_s = (uint32_t) j->ttl,
		.mode = keep ? BSHM_PUT_SET : BSHM_PUT_NEVER,
	};
	bshm_lease_release(j->segment, grant, loaded ? &put : NULL, &error);
	php_bloomshm_value_release(&value);
	if (EG(exception) != NULL) {
		zval_ptr_dtor(result);
		ZVAL_UNDEF(result);
	}
}

/* ------------------------------------------------------------------ stored values */

/* Is a "nothing" of the filter's current publication? */
static bool is_current_nothing(const job *j, const bshm_found *found)
{
	bshm_set set;
	return j->asked && found->length == sizeof(set) && bshm_found_copy(found, &set) &&
		   set.publication == j->set.publication;
}

/*
 * Clears the exception that a value threw while it was unserialized. exit() still ends the request.
 */
static void clear_exception(void)
{
	if (EG(exception) != NULL && !zend_is_unwind_exit(EG(exception)) &&
		!zend_is_graceful_exit(EG(exception))) {
		zend_clear_exception();
	}
}

/* May the call return this record's value? An expired one only if `taken` says that another process
 * loads it. */
static bool is_usable(const job *j, const bshm_found *found, const bshm_lease_grant *taken)
{
	if (found->type == BSHM_VALUE_NOTHING) {
		return !found->expired && is_current_nothing(j, found);
	}
	return !found->expired || (taken != NULL && bshm_lease_allows_stale(taken, found));
}

/* True: there is a value, in *out. A value that cannot be unserialized, because its class has
 * changed, say, counts as missing: it is loaded again. */
static bool look(const job *j, unsigned flags, const bshm_lease_grant *taken, zval *out)
{
	bshm_found found;
	if (bshm_record_find(j->segment, j->space, &j->key, flags | BSHM_FIND_STALE, &found) != 1 ||
		!is_usable(j, &found, taken)) {
		return false;
	}
	if (found.type == BSHM_VALUE_NOTHING) {
		ZVAL_NULL(out);
		count_fetch(j, j->segment, BSHM_FETCHED_STORED);
		return true;
	}
	int got = php_bloomshm_value_get(&found, out);
	php_bloomshm_value value;
	if (UNEXPECTED(got == 0) && /* replaced meanwhile */
		php_bloomshm_value_again(&found, &j->key, BSHM_FIND_STALE, NULL, &value)) {
		if (is_usable(j, &found, taken)) {
			got = php_bloomshm_value_take(&value, out);
		} else {
			php_bloomshm_value_release(&value);
		}
	}
	clear_exception();
	if (got > 0) {
		count_fetch(j, j->segment, BSHM_FETCHED_STORED);
	}
	return got > 0;
}

/* Waits until the lease, or its process, has ended. True: the time is up, or the value cannot be
 * stored, so the caller need not wait again. */
static bool wait_for_loader(const job *j, const bshm_lease_grant *taken, uint64_t deadline)
{
	unsigned nap_us = NAP_US;
	uint64_t next_probe = 0;
	for (;;) {
		const uint64_t now = bshm_now_ns();
		const bool probe = now >= next_probe;
		next_probe = probe ? now + PROBE_NS : next_probe;
		if (now > deadline) {
			return true;
		}
		if (!bshm_lease_held(j->segment, taken, probe)) {
			return bshm_lease_unstored(j->segment, taken);
		}
		bshm_sleep_us(nap_us);
		nap_us = nap_us * 2 > NAP_US_MOST ? NAP_US_MOST : nap_us * 2;
	}
}

/* Under the lease: loads, unless another process has stored a value before. */
static void load_leased(const job *j, const bshm_lease_grant *grant, zval *result)
{
	bshm_error error;
	if (look(j, 0, NULL, result) || EG(exception) != NULL) {
		bshm_lease_release(j->segment, grant, NULL, &error);
		return;
	}
	load(j, grant, result);
}

/* A lease that this call holds. */
typedef struct {
	bshm_segment *segment;
	bshm_lease_grant grant;
} lease;

static void release_lease(const void *argument)
{
	const lease *l = argument;
	bshm_error error;
	bshm_lease_release(l->segment, &l->grant, NULL, &error);
}

/* The same; if memory_limit or another fatal error ends the request in the middle, the lease is
 * released. */
static void load_guarded(const job *j, const bshm_lease_grant *grant, zval *result)
{
	volatile bool bailed_out = false;
	const lease mine = {j->segment, *grant};
	zend_resource *volatile registered = NULL;
	zend_try
	{
		registered = php_bloomshm_cleanup_register(release_lease, &mine, sizeof(mine));
		load_leased(j, grant, result);
	}
	zend_catch
	{
		bailed_out = true;
	}
	zend_end_try();
	php_bloomshm_cleanup_cancel(registered);
	if (bailed_out) {
		release_lease(&mine);
		zend_bailout();
	}
}

/* The stored value, or else the loader's; UNDEF: an exception was thrown. */
static void obtain(const job *j, unsigned flags, zval *result)
{
	const uint64_t deadline = bshm_now_ns() + WAIT_NS;
	bshm_lease_grant grant = {.serial = 0};
	bshm_lease_status lease;
	for (bool beside = false;; beside = wait_for_loader(j, &grant, deadline)) {
		if (look(j, flags, NULL, result) || EG(exception) != NULL) {
			return;
		}
		flags = 0;
		lease = bshm_lease_take(j->segment, j->space, &j->key, beside, &grant);
		if (lease != BSHM_LEASE_TAKEN) {
			break;
		}
		if (look(j, 0, &grant, result) || EG(exception) != NULL) {
			return;
		}
	}
	ZVAL_UNDEF(result);
	if (lease == BSHM_LEASE_MINE) {
		load_guarded(j, &grant, result);
	} else {
		load(j, &grant, result);
	}
}

PHP_FUNCTION(bloom_cache_remember)
{
	job j = {.space = BSHM_SPACE_CACHE};
	zend_string *key;
	zend_fcall_info call;
	zend_fcall_info_cache cached;
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(key)
		Z_PARAM_FUNC(call, cached)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(j.ttl)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_key(key, 1) || !php_bloomshm_check_ttl(j.ttl, 3)) {
		RETURN_THROWS();
	}
	j.segment = php_bloomshm_segment_to_store();
	j.key = php_bloomshm_key_of_string(key);
	j.argument = key;
	j.call = &call;
	j.cached = &cached;
	ZVAL_UNDEF(return_value);
	if (j.segment == NULL) {
		call_loader(&j, return_value);
	} else {
		obtain(&j, BSHM_FIND_USE, return_value);
	}
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
}

/* ------------------------------------------------------------------ fetch */

/* The record's key for a key of a filter, to be released; NULL: it would be too long. */
static zend_string *fetch_key(const zend_string *filter, const char *key, size_t length)
{
	const size_t bytes = 1 + ZSTR_LEN(filter) + length;
	if (bytes > BSHM_KEY_BYTES_MAX) {
		return NULL;
	}
	zend_string *joined = zend_string_alloc(bytes, false);
	ZSTR_VAL(joined)[0] = (char) ZSTR_LEN(filter);
	memcpy(ZSTR_VAL(joined) + 1, ZSTR_VAL(filter), ZSTR_LEN(filter));
	memcpy(ZSTR_VAL(joined) + 1 + ZSTR_LEN(filter), key, length);
	ZSTR_VAL(joined)[bytes] = '\0';
	return joined;
}

/* Asks the filter: 1 = maybe, 0 = no, negative = a status: it cannot answer. */
static int ask_filter(job *j, bshm_segment *segment)
{
	if (segment == NULL) {
		return php_bloomshm_segment_status();
	}
	const bshm_key key = php_bloomshm_key_of_string(j->argument);
	for (int tries = 0; tries < ASK_TRIES; tries++) {
		bshm_view *view;
		const bshm_status status = bshm_view_open(
			segment, php_bloomshm_views(), ZSTR_VAL(j->filter), ZSTR_LEN(j->filter), &view);
		if (status != BSHM_OK) {
			return status;
		}
		bool maybe;
		bshm_view_has(view, &key, 1, &maybe);
		j->set = bshm_view_set(view);
		if (bshm_view_current(view)) {
			bshm_view_answered(view, 1, maybe);
			j->asked = true;
			return maybe;
		}
	}
	return BSHM_E_BUSY; /* replaced at each attempt */
}

/* A stored value comes first, then the filter's "no", then the loader. */
static void fetch(job *j, zval *result)
{
	bshm_segment *segment = j->segment != NULL ? j->segment : php_bloomshm_segment();
	const int maybe = ask_filter(j, segment);
	ZVAL_UNDEF(result);
	if (j->segment != NULL) {
		if (look(j, BSHM_FIND_USE, NULL, result) || EG(exception) != NULL) {
			return;
		}
	}
	if (maybe == 0) {
		ZVAL_NULL(result);
		count_fetch(j, segment, BSHM_FETCHED_DENIED);
	} else if (maybe > 0 || php_bloomshm_unanswered(maybe, ZSTR_VAL(j->filter), 1)) {
		if (j->segment == NULL) { /* nothing is stored */
			call_loader(j, result);
			segment = php_bloomshm_segment(); /* the loader ran: it may be another one, or none */
			if (segment != NULL) {
				count_fetch(j, segment, outcome_of(result));
			}
		} else {
			bshm_store_note_fetch(j->segment);
			obtain(j, 0, result);
		}
	}
}

PHP_FUNCTION(bloom_fetch)
{
	job j = {.space = BSHM_SPACE_FETCH};
	zend_fcall_info call;
	zend_fcall_info_cache cached;
	ZEND_PARSE_PARAMETERS_START(3, 4)
		Z_PARAM_STR(j.filter)
		Z_PARAM_STR(j.argument)
		Z_PARAM_FUNC(call, cached)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(j.ttl)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(j.filter, 1) || !php_bloomshm_check_ttl(j.ttl, 4)) {
		RETURN_THROWS();
	}
	zend_string *joined = fetch_key(j.filter, ZSTR_VAL(j.argument), ZSTR_LEN(j.argument));
	if (joined != NULL) {
		j.segment = php_bloomshm_segment_to_store();
		j.key = php_bloomshm_key_of_string(joined);
	}
	j.call = &call;
	j.cached = &cached;
	fetch(&j, return_value);
	if (joined != NULL) {
		zend_string_release(joined);
	}
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
}

static bool forget(bshm_segment *segment, const zend_string *filter, const bshm_key *key)
{
	zend_string *joined = fetch_key(filter, key->bytes, key->length);
	bool forgotten = false;
	if (joined != NULL) {
		const bshm_key wanted = php_bloomshm_key_of_string(joined);
		bshm_error error;
		const int status = bshm_record_forget(segment, BSHM_SPACE_FETCH, &wanted, NULL, &error);
		if (UNEXPECTED(status < 0 && status != BSHM_E_UNAVAILABLE)) {
			php_bloomshm_throw(&error, NULL); /* the record is still there, and may be wrong */
		}
		forgotten = status == 1;
		zend_string_release(joined);
	}
	return forgotten;
}

PHP_FUNCTION(bloom_forget)
{
	zend_string *filter;
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(filter)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(filter, 1)) {
		RETURN_THROWS();
	}
	bshm_segment *segment = php_bloomshm_segment_with_store();
	const bshm_key wanted = php_bloomshm_key_of_string(key);
	RETURN_BOOL(segment != NULL && forget(segment, filter, &wanted));
}

void php_bloomshm_forget_added(
	bshm_segment *segment, const zend_string *filter, const bshm_key *keys, size_t count)
{
	if (!bshm_store_has_fetched(segment)) {
		return;
	}
	for (size_t i = 0; i < count && EG(exception) == NULL; i++) {
		forget(segment, filter, &keys[i]);
	}
}
