/*
 * php_fetch.c - a value that is loaded when it is missing: bloom_cache_remember(), bloom_fetch().
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
 * Not here: calls with many keys (php_fetch_many.c).
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

#define PROBE_NS    UINT64_C(2000000)
#define NAP_US      50
#define NAP_US_MOST 1000

typedef php_bloomshm_fetch fetching;

/* A call with one key. */
typedef struct {
	fetching of;
	bshm_key key;          /* the record's */
	zend_string *argument; /* of the loader */
} job;

/* ------------------------------------------------------------------ the loader */

bool php_bloomshm_fetch_load(fetching *f, zval *argument, zval *result)
{
	ZVAL_UNDEF(result);
	f->call.retval = result;
	f->call.params = argument;
	f->call.param_count = 1;
	zend_call_function(&f->call, &f->cached);
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

static bool call_loader(job *j, zval *result)
{
	zval argument;
	ZVAL_STR(&argument, j->argument);
	return php_bloomshm_fetch_load(&j->of, &argument, result);
}

void php_bloomshm_fetch_count(
	const fetching *f, bshm_segment *segment, bshm_fetched outcome, uint64_t count)
{
	if (f->asked && count != 0) {
		bshm_filter_fetched(segment, php_bloomshm_views(), ZSTR_VAL(f->filter), ZSTR_LEN(f->filter),
			&f->set, outcome, count);
	}
}

static bshm_fetched outcome_of(const zval *loaded)
{
	return Z_TYPE_P(loaded) == IS_UNDEF  ? BSHM_FETCHED_FAILED
		   : Z_TYPE_P(loaded) == IS_NULL ? BSHM_FETCHED_NOTHING
										 : BSHM_FETCHED_LOADED;
}

bool php_bloomshm_fetch_value(const fetching *f, zval *loaded, php_bloomshm_value *value)
{
	value->string = NULL;
	if (f->filter == NULL || Z_TYPE_P(loaded) != IS_NULL) {
		return php_bloomshm_value_of(value, loaded);
	}
	value->value = (bshm_value){BSHM_VALUE_NOTHING, &f->set, sizeof(f->set)};
	return f->asked;
}

/*
 * Loads the value into *result. With a grant, the value is stored and the lease released in one
 * step. Without one it is not stored: it may be older than what another process has stored
 * meanwhile.
 */
static void load(job *j, const bshm_lease_grant *grant, zval *result)
{
	php_bloomshm_value value = {.string = NULL};
	bshm_error error;
	const bool loaded = call_loader(j, result);
	php_bloomshm_fetch_count(&j->of, j->of.segment, outcome_of(result), 1);
	const bool keep =
		loaded && grant->serial != 0 && php_bloomshm_fetch_value(&j->of, result, &value);
	const bshm_put put = {
		.space = j->of.space,
		.key = j->key,
		.value = value.value,
		.ttl_s = (uint32_t) j->of.ttl,
		.mode = keep ? BSHM_PUT_SET : BSHM_PUT_NEVER,
	};
	bshm_lease_release(j->of.segment, grant, loaded ? &put : NULL, NULL, &error);
	php_bloomshm_value_release(&value);
	if (EG(exception) != NULL) {
		zval_ptr_dtor(result);
		ZVAL_UNDEF(result);
	}
}

/* ------------------------------------------------------------------ stored values */

/* Is a "nothing" of the filter's current publication? */
static bool is_current_nothing(const fetching *f, const bshm_found *found)
{
	bshm_set set;
	return f->asked && found->length == sizeof(set) && bshm_found_copy(found, &set) &&
		   set.publication == f->set.publication;
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
static bool is_usable(const fetching *f, const bshm_found *found, const bshm_lease_grant *taken)
{
	if (found->type == BSHM_VALUE_NOTHING) {
		return !found->expired && is_current_nothing(f, found);
	}
	return !found->expired || (taken != NULL && bshm_lease_allows_stale(taken, found));
}

/* A value that cannot be unserialized, because its class has changed, say, counts as missing: it is
 * loaded again. */
static zend_always_inline bool use(const fetching *f, const bshm_key *key, bshm_found *found,
	const bshm_lease_grant *taken, bshm_patience *patience, zval *out)
{
	if (!is_usable(f, found, taken)) {
		return false;
	}
	if (found->type == BSHM_VALUE_NOTHING) {
		ZVAL_NULL(out);
		return true;
	}
	int got = php_bloomshm_value_get(found, out);
	php_bloomshm_value value;
	if (UNEXPECTED(got == 0) && /* replaced meanwhile */
		php_bloomshm_value_again(found, key, BSHM_FIND_STALE, patience, &value)) {
		if (is_usable(f, found, taken)) {
			got = php_bloomshm_value_take(&value, out);
		} else {
			php_bloomshm_value_release(&value);
		}
	}
	clear_exception();
	return got > 0;
}

bool php_bloomshm_fetch_use(const fetching *f, const bshm_key *key, bshm_found *found,
	const bshm_lease_grant *taken, bshm_patience *patience, zval *out)
{
	return use(f, key, found, taken, patience, out);
}

/* True: there is a value, in *out. */
static bool look(const job *j, unsigned flags, const bshm_lease_grant *taken, zval *out)
{
	bshm_found found;
	flags |= BSHM_FIND_STALE;
	if (bshm_record_find(j->of.segment, j->of.space, &j->key, flags, &found) != 1 ||
		!use(&j->of, &j->key, &found, taken, NULL, out)) {
		return false;
	}
	php_bloomshm_fetch_count(&j->of, j->of.segment, BSHM_FETCHED_STORED, 1);
	return true;
}

bool php_bloomshm_fetch_wait(const fetching *f, const bshm_lease_grant *taken, uint64_t deadline)
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
		if (!bshm_lease_held(f->segment, taken, probe)) {
			return bshm_lease_unstored(f->segment, taken);
		}
		bshm_sleep_us(nap_us);
		nap_us = nap_us * 2 > NAP_US_MOST ? NAP_US_MOST : nap_us * 2;
	}
}

/* Under the lease: loads, unless another process has stored a value before. */
static void load_leased(job *j, const bshm_lease_grant *grant, zval *result)
{
	bshm_error error;
	if (look(j, 0, NULL, result) || EG(exception) != NULL) {
		bshm_lease_release(j->of.segment, grant, NULL, NULL, &error);
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
	bshm_lease_release(l->segment, &l->grant, NULL, NULL, &error);
}

/* The same; if memory_limit or another fatal error ends the request in the middle, the lease is
 * released. */
static void load_guarded(job *j, const bshm_lease_grant *grant, zval *result)
{
	volatile bool bailed_out = false;
	const lease mine = {j->of.segment, *grant};
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
static void obtain(job *j, unsigned flags, zval *result)
{
	const uint64_t deadline = bshm_now_ns() + PHP_BLOOMSHM_FETCH_WAIT_NS;
	bshm_lease_grant grant = {.serial = 0};
	bshm_lease_status lease;
	for (bool beside = false;; beside = php_bloomshm_fetch_wait(&j->of, &grant, deadline)) {
		if (look(j, flags, NULL, result) || EG(exception) != NULL) {
			return;
		}
		flags = 0;
		lease = bshm_lease_take(j->of.segment, j->of.space, &j->key, beside, NULL, &grant);
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
	job j = {.of.space = BSHM_SPACE_CACHE};
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(j.argument)
		Z_PARAM_FUNC(j.of.call, j.of.cached)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(j.of.ttl)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_key(j.argument, 1) || !php_bloomshm_check_ttl(j.of.ttl, 3)) {
		RETURN_THROWS();
	}
	j.of.segment = php_bloomshm_segment_to_store();
	j.key = php_bloomshm_key_of_string(j.argument);
	ZVAL_UNDEF(return_value);
	if (j.of.segment == NULL) {
		call_loader(&j, return_value);
	} else {
		obtain(&j, BSHM_FIND_USE, return_value);
	}
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
}

/* ------------------------------------------------------------------ fetch */

zend_string *php_bloomshm_fetch_key(const zend_string *filter, const char *key, size_t length)
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
	for (int tries = 0; tries < PHP_BLOOMSHM_ASK_TRIES; tries++) {
		bshm_view *view;
		const bshm_status status = bshm_view_open(
			segment, php_bloomshm_views(), ZSTR_VAL(j->of.filter), ZSTR_LEN(j->of.filter), &view);
		if (status != BSHM_OK) {
			return status;
		}
		bool maybe;
		bshm_view_has(view, &key, 1, &maybe);
		j->of.set = bshm_view_set(view);
		if (bshm_view_current(view)) {
			bshm_view_answered(view, 1, maybe);
			j->of.asked = true;
			return maybe;
		}
	}
	return BSHM_E_BUSY; /* replaced at each attempt */
}

/* A stored value comes first, then the filter's "no", then the loader. */
static void fetch(job *j, zval *result)
{
	bshm_segment *segment = j->of.segment != NULL ? j->of.segment : php_bloomshm_segment();
	const int maybe = ask_filter(j, segment);
	ZVAL_UNDEF(result);
	if (j->of.segment != NULL) {
		if (look(j, BSHM_FIND_USE, NULL, result) || EG(exception) != NULL) {
			return;
		}
	}
	if (maybe == 0) {
		ZVAL_NULL(result);
		php_bloomshm_fetch_count(&j->of, segment, BSHM_FETCHED_DENIED, 1);
	} else if (maybe > 0 || php_bloomshm_unanswered(maybe, ZSTR_VAL(j->of.filter), 1)) {
		if (j->of.segment == NULL) { /* nothing is stored */
			call_loader(j, result);
			segment = php_bloomshm_segment(); /* the loader ran: it may be another one, or none */
			if (segment != NULL) {
				php_bloomshm_fetch_count(&j->of, segment, outcome_of(result), 1);
			}
		} else {
			bshm_store_note_fetch(j->of.segment);
			obtain(j, 0, result);
		}
	}
}

PHP_FUNCTION(bloom_fetch)
{
	job j = {.of.space = BSHM_SPACE_FETCH};
	ZEND_PARSE_PARAMETERS_START(3, 4)
		Z_PARAM_STR(j.of.filter)
		Z_PARAM_STR(j.argument)
		Z_PARAM_FUNC(j.of.call, j.of.cached)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(j.of.ttl)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(j.of.filter, 1) || !php_bloomshm_check_ttl(j.of.ttl, 4)) {
		RETURN_THROWS();
	}
	zend_string *joined =
		php_bloomshm_fetch_key(j.of.filter, ZSTR_VAL(j.argument), ZSTR_LEN(j.argument));
	if (joined != NULL) {
		j.of.segment = php_bloomshm_segment_to_store();
		j.key = php_bloomshm_key_of_string(joined);
	}
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
	zend_string *joined = php_bloomshm_fetch_key(filter, key->bytes, key->length);
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
