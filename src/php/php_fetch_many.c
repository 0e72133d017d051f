/*
 * php_fetch_many.c - many values, of which one call of the loader loads those that are missing:
 * bloom_cache_remember_many(), bloom_fetch_many().
 *
 * All keys are asked of the filter at once, from one generation, and looked up at once. Not here:
 * what then is open (php_fetch_open.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_arguments.h"
#include "php_error.h"
#include "php_fetch_open.h"
#include "php_segment.h"

#include <string.h>

#define KEY_ROOM 4096 /* bytes of the records' keys of a batch; longer ones take memory */

typedef php_bloomshm_many many;

/* ------------------------------------------------------------------ answers */

/* A null under each of the caller's array keys. */
static void prepare_answers(HashTable *keys, zval *answers)
{
	const uint32_t count = zend_hash_num_elements(keys);
	zend_ulong index;
	zend_string *name;
	array_init_size(answers, count);
	if (HT_IS_PACKED(keys) && HT_IS_WITHOUT_HOLES(keys)) {
		zend_hash_real_init_packed(Z_ARRVAL_P(answers));
		ZEND_HASH_FILL_PACKED(Z_ARRVAL_P(answers))
		{
			for (uint32_t i = 0; i < count; i++) {
				ZEND_HASH_FILL_SET_NULL();
				ZEND_HASH_FILL_NEXT();
			}
		}
		ZEND_HASH_FILL_END();
		return;
	}
	zend_hash_real_init_mixed(Z_ARRVAL_P(answers)); /* in its final size: its elements never move */
	ZEND_HASH_FOREACH_KEY(keys, index, name)
	{
		if (name != NULL) {
			zend_hash_add_new(Z_ARRVAL_P(answers), name, &EG(uninitialized_zval));
		} else {
			zend_hash_index_add_new(Z_ARRVAL_P(answers), index, &EG(uninitialized_zval));
		}
	}
	ZEND_HASH_FOREACH_END();
}

/* ------------------------------------------------------------------ filter and records */

/* Asks the filter for all keys: OK, or a status: it cannot answer, and all are "maybe". */
static bshm_status ask_filter(many *m)
{
	bshm_segment *segment = m->all.segment != NULL ? m->all.segment : php_bloomshm_segment();
	const zend_string *name = m->all.filter;
	bshm_status status = segment != NULL ? BSHM_OK : php_bloomshm_segment_status();
	for (int tries = 0; tries < PHP_BLOOMSHM_ASK_TRIES && status == BSHM_OK; tries++) {
		bshm_view *view;
		status =
			bshm_view_open(segment, php_bloomshm_views(), ZSTR_VAL(name), ZSTR_LEN(name), &view);
		if (status != BSHM_OK) {
			break;
		}
		uint64_t maybes = 0;
		for (size_t done = 0; done < m->list.count; done += BSHM_BATCH) {
			const size_t part = MIN(m->list.count - done, BSHM_BATCH);
			bshm_view_has(view, m->list.keys + done, (unsigned) part, m->is_open + done);
			for (size_t i = done; i < done + part; i++) {
				maybes += m->is_open[i];
			}
		}
		m->all.set = bshm_view_set(view);
		if (bshm_view_current(view)) {
			bshm_view_answered(view, m->list.count, maybes);
			m->all.asked = true;
			return BSHM_OK;
		}
	}
	memset(m->is_open, true, m->list.count);
	return status != BSHM_OK ? status : BSHM_E_BUSY; /* BUSY: replaced at each attempt */
}

/* The keys of records for keys of a filter: they get one piece of memory, which may be `room`. */
static char *join_keys(const many *m, size_t first, size_t count, char *room, bshm_key *joined)
{
	const size_t head = 1 + ZSTR_LEN(m->all.filter);
	size_t bytes = 0;
	for (size_t i = 0; i < count; i++) {
		const size_t length = head + m->list.keys[first + i].length;
		joined[i].length = length <= BSHM_KEY_BYTES_MAX ? length : 0; /* 0: of no record */
		bytes += joined[i].length;
	}
	char *at = bytes <= KEY_ROOM ? room : emalloc(bytes);
	char *const memory = at;
	for (size_t i = 0; i < count; i++) {
		joined[i].bytes = at;
		if (joined[i].length != 0) {
			at[0] = (char) ZSTR_LEN(m->all.filter);
			memcpy(at + 1, ZSTR_VAL(m->all.filter), head - 1);
			memcpy(at + head, m->list.keys[first + i].bytes, joined[i].length - head);
			at += joined[i].length;
		}
	}
	return memory;
}

/* Looks up to BSHM_BATCH keys up. Adds to *stored how many have a record. */
static void look_up_batch(many *m, size_t first, unsigned count, uint64_t *stored)
{
	bshm_found found[BSHM_BATCH];
	bool present[BSHM_BATCH];
	bshm_key joined[BSHM_BATCH];
	char room[KEY_ROOM];
	char *memory = room;
	const bshm_key *keys = m->list.keys + first;
	if (m->all.filter != NULL) {
		memory = join_keys(m, first, count, room, joined);
		keys = joined;
	}
	bshm_record_find_many(
		m->all.segment, m->all.space, keys, count, BSHM_FIND_USE | BSHM_FIND_STALE, found, present);
	for (unsigned i = 0; i < count && !php_bloomshm_is_over(); i++) {
		if (present[i] && php_bloomshm_use_record(m, first + i, &keys[i], &found[i], NULL)) {
			m->is_open[first + i] = false;
			++*stored;
		} else {
			m->open_count += m->is_open[first + i];
		}
	}
	if (memory != room) {
		efree(memory);
	}
}

/* Answers all keys that are stored or denied. */
static void look_up(many *m)
{
	uint64_t stored = 0;
	if (m->all.segment == NULL) {
		for (size_t i = 0; i < m->list.count; i++) {
			m->open_count += m->is_open[i];
		}
	}
	for (size_t done = 0; m->all.segment != NULL && done < m->list.count && !php_bloomshm_is_over();
		 done += BSHM_BATCH) {
		look_up_batch(m, done, (unsigned) MIN(m->list.count - done, BSHM_BATCH), &stored);
	}
	if (!php_bloomshm_is_over()) {
		php_bloomshm_count_many(m, BSHM_FETCHED_STORED, stored);
		php_bloomshm_count_many(m, BSHM_FETCHED_DENIED, m->list.count - stored - m->open_count);
	}
}

/* ------------------------------------------------------------------ functions */

static void fetch_many(many *m)
{
	bool few[BSHM_BATCH];
	m->is_open = m->list.count <= BSHM_BATCH ? few : safe_emalloc(m->list.count, sizeof(bool), 0);
	m->all.segment = php_bloomshm_segment_to_store();
	bshm_status status = BSHM_OK;
	if (m->all.filter != NULL) {
		status = ask_filter(m);
	} else {
		memset(m->is_open, true, m->list.count);
	}
	look_up(m);
	if (!php_bloomshm_is_over() && m->open_count != 0 &&
		(status == BSHM_OK ||
			php_bloomshm_unanswered(status, ZSTR_VAL(m->all.filter), m->open_count))) {
		if (m->all.filter != NULL && m->all.segment != NULL) {
			bshm_store_note_fetch(m->all.segment);
		}
		php_bloomshm_obtain_open(m);
	}
	if (m->is_open != few) {
		efree(m->is_open);
	}
	m->is_open = NULL;
}

/* Collects the keys and answers them. */
static void answer(many *m, zval *keys, uint32_t argument, zval *return_value)
{
	bool sound = php_bloomshm_list_collect(&m->list, keys, argument, false);
	for (size_t i = 0; i < m->list.count && sound && m->all.filter == NULL; i++) {
		sound = php_bloomshm_check_key_in(m->list.strings[i], argument);
	}
	if (sound) {
		prepare_answers(Z_ARRVAL_P(keys), return_value);
		m->answers = Z_ARRVAL_P(return_value);
		if (m->list.count != 0) {
			fetch_many(m);
		}
	}
	php_bloomshm_list_release(&m->list);
}

PHP_FUNCTION(bloom_cache_remember_many)
{
	many m = {.all.space = BSHM_SPACE_CACHE, .load_argument = 2};
	zval *keys;
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_ARRAY(keys)
		Z_PARAM_FUNC(m.all.call, m.all.cached)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(m.all.ttl)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_ttl(m.all.ttl, 3)) {
		RETURN_THROWS();
	}
	answer(&m, keys, 1, return_value);
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
}

PHP_FUNCTION(bloom_fetch_many)
{
	many m = {.all.space = BSHM_SPACE_FETCH, .load_argument = 3};
	zval *keys;
	ZEND_PARSE_PARAMETERS_START(3, 4)
		Z_PARAM_STR(m.all.filter)
		Z_PARAM_ARRAY(keys)
		Z_PARAM_FUNC(m.all.call, m.all.cached)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(m.all.ttl)
	ZEND_PARSE_PARAMETERS_END();

	if (!php_bloomshm_check_name(m.all.filter, 1) || !php_bloomshm_check_ttl(m.all.ttl, 4)) {
		RETURN_THROWS();
	}
	answer(&m, keys, 2, return_value);
	if (EG(exception) != NULL) {
		RETURN_THROWS();
	}
}
