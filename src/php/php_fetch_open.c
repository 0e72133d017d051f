/*
 * php_fetch_open.c - obtains the keys of a call that are neither stored nor denied by the filter.
 *
 * It does so in rounds. A round takes a lease for each open key, as php_fetch.c does for its one,
 * and calls the loader once, for all keys that no other process loads. It stores the values and
 * gives all its leases back, and only then does it wait for the other processes. So a call that
 * waits holds no lease, and two processes that want each other's keys do not wait for each other.
 * Keys that are open after the wait (their loader has died, or it threw) go into the next round.
 * All waits of a call together end after 5 seconds; the round after that loads all that is left.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_cleanup.h"
#include "php_fetch_open.h"
#include "php_segment.h"
#include "php_value.h"

typedef struct {
	zend_string *argument; /* in the loader's list */
	zend_string *joined;   /* the record's key, to be released; NULL: nothing is stored for it */
	uint32_t place;        /* of its answer */
	uint32_t twin;         /* place of the first answer to the same key; it may be its own */
	bshm_lease_status lease;
	bshm_lease_grant grant;
	bool beside; /* its loader is not waited for again */
	bool done;   /* it has its answer, or its twin will have it */
	bool tried;  /* `value` was made of its answer; `keep`: it may be stored */
	bool keep;
	php_bloomshm_value value;
} open_key;

/* Leases that a call holds. */
typedef struct {
	bshm_segment *segment;
	size_t count;
	bshm_lease_grant grants[];
} leases;

typedef struct {
	php_bloomshm_many *call;
	bshm_segment *segment; /* the call's; NULL: nothing is stored */
	open_key *keys;
	uint32_t count;
	leases *held;
	uint64_t left_ns; /* of the time to wait for other processes */
} work;

static bool is_twin(const open_key *k)
{
	return k->twin != k->place;
}

/* Does this call load the key in this round? */
static bool is_ours(const open_key *k)
{
	return !k->done && k->lease != BSHM_LEASE_TAKEN;
}

static zval *answer_of(const work *w, const open_key *k)
{
	return php_bloomshm_answer_at(w->call, k->place);
}

/* ------------------------------------------------------------------ answers */

void php_bloomshm_count_many(const php_bloomshm_many *m, bshm_fetched outcome, uint64_t count)
{
	if (!m->all.asked || count == 0) {
		return;
	}
	/* If nothing is stored, user code may have run meanwhile: there may be another segment. */
	bshm_segment *segment = m->all.segment != NULL ? m->all.segment : php_bloomshm_segment();
	if (segment != NULL) {
		php_bloomshm_fetch_count(&m->all, segment, outcome, count);
	}
}

bool php_bloomshm_use_record(php_bloomshm_many *m, size_t place, const bshm_key *key,
	bshm_found *found, const bshm_lease_grant *taken)
{
	zval value = {0};
	if (!php_bloomshm_fetch_use(&m->all, key, found, taken, &m->patience, &value)) {
		return false;
	}
	ZVAL_COPY_VALUE(php_bloomshm_answer_at(m, place), &value);
	return true;
}

/* ------------------------------------------------------------------ begin and end */

static zend_string *record_key(const work *w, zend_string *key)
{
	const zend_string *filter = w->call->all.filter;
	return filter == NULL ? zend_string_copy(key)
						  : php_bloomshm_fetch_key(filter, ZSTR_VAL(key), ZSTR_LEN(key));
}

static work begin(php_bloomshm_many *call)
{
	work w = {
		.call = call,
		.segment = call->all.segment,
		.keys = safe_emalloc(call->open_count, sizeof(*w.keys), 0),
		.held = safe_emalloc(call->open_count, sizeof(*w.held->grants), sizeof(*w.held)),
		.left_ns = PHP_BLOOMSHM_FETCH_WAIT_NS,
	};
	HashTable places;
	*w.held = (leases){.segment = w.segment};
	zend_hash_init(&places, call->open_count, NULL, NULL, false);
	for (uint32_t i = 0; i < call->list.count; i++) {
		if (call->is_open[i]) {
			zend_string *key = call->list.strings[i];
			zval *place = zend_hash_lookup(&places, key);
			if (Z_TYPE_P(place) == IS_NULL) {
				ZVAL_LONG(place, i);
			}
			open_key *k = &w.keys[w.count++];
			*k = (open_key){.argument = key, .place = i, .twin = (uint32_t) Z_LVAL_P(place)};
			k->done = is_twin(k);
			k->joined = k->done ? NULL : record_key(&w, key);
		}
	}
	zend_hash_destroy(&places);
	return w;
}

/* Each twin gets the answer of the first. After an exception, what is not done has failed. */
static void end(work *w)
{
	const bool failed = php_bloomshm_is_over();
	uint64_t twins = 0;
	uint64_t others = 0;
	for (uint32_t i = 0; i < w->count; i++) {
		const open_key *k = &w->keys[i];
		if (is_twin(k)) {
			twins++;
			ZVAL_COPY(answer_of(w, k), php_bloomshm_answer_at(w->call, k->twin));
		}
		others += !k->done;
		if (k->joined != NULL) {
			zend_string_release(k->joined);
		}
	}
	php_bloomshm_count_many(w->call, BSHM_FETCHED_FAILED, failed ? twins + others : 0);
	php_bloomshm_count_many(w->call, BSHM_FETCHED_STORED, failed ? 0 : twins);
	efree(w->keys);
	efree(w->held);
}

/* ------------------------------------------------------------------ leases and records */

/* Asks for the leases that are another's. True: some still are. */
static bool ask_for_leases(work *w)
{
	bshm_patience patience = {0};
	bool taken = false;
	for (uint32_t i = 0; i < w->count; i++) {
		open_key *k = &w->keys[i];
		if (k->lease == BSHM_LEASE_TAKEN) {
			const bshm_key key = php_bloomshm_key_of_string(k->joined);
			k->lease = bshm_lease_take(
				w->segment, w->call->all.space, &key, k->beside, &patience, &k->grant);
			taken |= k->lease == BSHM_LEASE_TAKEN;
		}
		if (k->lease == BSHM_LEASE_MINE) {
			w->held->grants[w->held->count++] = k->grant;
		}
	}
	return taken;
}

static void take_leases(work *w)
{
	for (uint32_t i = 0; i < w->count; i++) {
		open_key *k = &w->keys[i];
		const bool leased = !k->done && k->joined != NULL && w->segment != NULL;
		k->lease = leased ? BSHM_LEASE_TAKEN : BSHM_LEASE_NONE;
	}
	w->held->count = 0;
	const bool taken = ask_for_leases(w);
	/* Another process may have died while its leases were asked for: one call is to load all. */
	if (taken && w->held->count != 0) {
		w->held->count = 0;
		ask_for_leases(w);
	}
}

/* Gives back the leases that have not ended. Nothing is stored. */
static void release_leases(const void *argument)
{
	const leases *held = argument;
	bshm_patience patience = {.batch = true};
	bshm_error error;
	for (size_t i = 0; i < held->count; i++) {
		bshm_lease_release(held->segment, &held->grants[i], NULL, &patience, &error);
	}
}

/* The next keys that are open, from *next on: up to BSHM_BATCH. */
static unsigned next_open(work *w, uint32_t *next, open_key **batch, bshm_key *keys)
{
	unsigned count = 0;
	for (; *next < w->count && count < BSHM_BATCH; ++*next) {
		open_key *k = &w->keys[*next];
		if (!k->done && k->joined != NULL) {
			batch[count] = k;
			keys[count++] = php_bloomshm_key_of_string(k->joined);
		}
	}
	return count;
}

/* Looks the open keys up once more: other processes may have stored them meanwhile. */
static void look_up(work *w)
{
	bshm_found found[BSHM_BATCH];
	bool present[BSHM_BATCH];
	bshm_key keys[BSHM_BATCH];
	open_key *batch[BSHM_BATCH];
	bshm_patience patience = {.batch = true};
	uint64_t stored = 0;
	uint32_t next = 0;
	unsigned count;
	while (w->segment != NULL && !php_bloomshm_is_over() &&
		   (count = next_open(w, &next, batch, keys)) != 0) {
		bshm_record_find_many(
			w->segment, w->call->all.space, keys, count, BSHM_FIND_STALE, found, present);
		for (unsigned i = 0; i < count && !php_bloomshm_is_over(); i++) {
			open_key *k = batch[i];
			const bshm_lease_grant *taken = k->lease == BSHM_LEASE_TAKEN ? &k->grant : NULL;
			if (present[i] &&
				php_bloomshm_use_record(w->call, k->place, &keys[i], &found[i], taken)) {
				bshm_error error;
				if (k->lease == BSHM_LEASE_MINE) {
					bshm_lease_release(w->segment, &k->grant, NULL, &patience, &error);
				}
				k->lease = BSHM_LEASE_NONE;
				k->done = true;
				stored++;
			}
		}
	}
	php_bloomshm_count_many(w->call, BSHM_FETCHED_STORED, stored);
}

/* ------------------------------------------------------------------ the loader */

/* Only in an array is "1" the key 1. */
static zval *loaded_value(const HashTable *loaded, const open_key *k)
{
	zval *value = zend_symtable_find(loaded, k->argument);
	if (value != NULL) {
		ZVAL_DEREF(value);
	}
	return value;
}

/*
 * Is it an array by key? A loader may return less than it was asked for, and more: a key in another
 * spelling, for instance. But a list, none of whose indexes was asked for, is a mistake: all keys
 * would count as missing in the backend.
 */
static bool check_loaded(const work *w, const zval *loaded)
{
	if (Z_TYPE_P(loaded) != IS_ARRAY) {
		zend_argument_type_error(w->call->load_argument,
			"must return an array of values by key, %s returned", zend_zval_type_name(loaded));
		return false;
	}
	HashTable *values = Z_ARRVAL_P(loaded);
	bool has_key = zend_hash_num_elements(values) == 0 || !zend_array_is_list(values);
	for (uint32_t i = 0; i < w->count && !has_key; i++) {
		has_key = is_ours(&w->keys[i]) && loaded_value(values, &w->keys[i]) != NULL;
	}
	if (!has_key) {
		zend_argument_type_error(w->call->load_argument,
			"must return an array of values by key, a list was returned, and no key is an index "
			"of it");
	}
	return has_key;
}

/* Makes answers of what was loaded. A key that is missing from it, or null, has no value. */
static void answer_loaded(work *w, const HashTable *loaded)
{
	uint64_t values = 0;
	uint64_t nothing = 0;
	for (uint32_t i = 0; i < w->count; i++) {
		open_key *k = &w->keys[i];
		if (is_ours(k)) {
			zval *value = loaded_value(loaded, k);
			const bool has_value = value != NULL && Z_TYPE_P(value) != IS_NULL;
			if (has_value) {
				ZVAL_COPY(answer_of(w, k), value);
			}
			values += has_value;
			nothing += !has_value;
			k->done = true;
		}
	}
	php_bloomshm_count_many(w->call, BSHM_FETCHED_LOADED, values);
	php_bloomshm_count_many(w->call, BSHM_FETCHED_NOTHING, nothing);
}

/* Stores the value with its lease. After an exception it only ends the lease. Processes that wait
 * for a value that cannot be stored learn that from the lease. */
static void store(const work *w, open_key *k, bshm_patience *patience)
{
	const bshm_put put = {
		.space = w->call->all.space,
		.key = php_bloomshm_key_of_string(k->joined),
		.value = k->value.value,
		.ttl_s = (uint32_t) w->call->all.ttl,
		.mode = k->keep ? BSHM_PUT_SET : BSHM_PUT_NEVER,
	};
	const bool unused = k->keep && EG(exception) != NULL;
	bshm_error error;
	bshm_lease_release(w->segment, &k->grant, unused ? NULL : &put, patience, &error);
	php_bloomshm_value_release(&k->value);
	k->lease = BSHM_LEASE_NONE;
	k->tried = false;
}

/* All answers are made into values before the first is stored, because that runs user code. If one
 * cannot be stored, none is. */
static void store_loaded(work *w)
{
	bshm_patience patience = {.batch = true};
	for (uint32_t i = 0; i < w->count && EG(exception) == NULL; i++) {
		open_key *k = &w->keys[i];
		if (k->lease == BSHM_LEASE_MINE) {
			k->keep = php_bloomshm_fetch_value(&w->call->all, answer_of(w, k), &k->value);
			k->tried = true;
		}
	}
	for (uint32_t i = 0; i < w->count; i++) {
		if (w->keys[i].tried) {
			store(w, &w->keys[i], &patience);
		}
	}
}

/* Calls the loader for the open keys that no other process loads, if there are any. */
static void load(work *w)
{
	zval keys;
	zval loaded;
	array_init(&keys);
	for (uint32_t i = 0; i < w->count; i++) {
		if (is_ours(&w->keys[i])) {
			add_next_index_str(&keys, zend_string_copy(w->keys[i].argument));
		}
	}
	if (zend_hash_num_elements(Z_ARRVAL(keys)) != 0 &&
		php_bloomshm_fetch_load(&w->call->all, &keys, &loaded)) {
		if (check_loaded(w, &loaded)) {
			answer_loaded(w, Z_ARRVAL(loaded));
			store_loaded(w);
		}
		zval_ptr_dtor(&loaded);
	}
	zval_ptr_dtor(&keys);
}

/* ------------------------------------------------------------------ rounds */

/* Loads under leases. None is left, not even if a fatal error ends the request. */
static void load_round(work *w)
{
	volatile bool bailed_out = false;
	zend_resource *volatile registered = NULL;
	take_leases(w);
	zend_try
	{
		const size_t bytes = sizeof(*w->held) + w->held->count * sizeof(*w->held->grants);
		registered = php_bloomshm_cleanup_register(release_leases, w->held, bytes);
		look_up(w);
		if (!php_bloomshm_is_over()) {
			load(w);
		}
	}
	zend_catch
	{
		bailed_out = true;
	}
	zend_end_try();
	php_bloomshm_cleanup_cancel(registered);
	if (bailed_out || php_bloomshm_is_over()) {
		release_leases(w->held);
	}
	if (bailed_out) {
		zend_bailout();
	}
}

/* Waits for the processes that load the keys that are open, and looks these up. False: there are
 * none. */
static bool wait_round(work *w)
{
	const uint64_t began = bshm_now_ns();
	bool any = false;
	for (uint32_t i = 0; i < w->count; i++) {
		open_key *k = &w->keys[i];
		if (!k->done) {
			any = true;
			k->beside = php_bloomshm_fetch_wait(&w->call->all, &k->grant, began + w->left_ns);
			k->lease = BSHM_LEASE_NONE;
		}
	}
	const uint64_t waited = bshm_now_ns() - began;
	w->left_ns -= MIN(waited, w->left_ns);
	look_up(w);
	return any;
}

void php_bloomshm_obtain_open(php_bloomshm_many *call)
{
	work w = begin(call);
	do {
		load_round(&w);
	} while (!php_bloomshm_is_over() && wait_round(&w) && !php_bloomshm_is_over());
	end(&w);
}
