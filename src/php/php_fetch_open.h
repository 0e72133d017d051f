/*
 * php_fetch_open.h - obtains the keys of a call that are neither stored nor denied by the filter.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_FETCH_OPEN_H
#define PHP_BLOOMSHM_FETCH_OPEN_H

#include "php.h"

#include "compat.h"
#include "php_fetch.h"
#include "php_keys.h"

#include "core/bshm_records.h"

/* A call with many keys. */
typedef struct {
	php_bloomshm_fetch all;
	uint32_t load_argument; /* the loader's position among the arguments */
	php_bloomshm_list list; /* a key for each answer */
	HashTable *answers;     /* in the order of the list; null at first */
	bool *is_open;          /* one for each answer; before the look-up: the filter's maybe */
	uint32_t open_count;
	bshm_patience patience; /* of its look-ups */
} php_bloomshm_many;

static inline zval *php_bloomshm_answer_at(const php_bloomshm_many *m, size_t place)
{
	return HT_IS_PACKED(m->answers) ? &m->answers->arPacked[place] : &m->answers->arData[place].val;
}

/* Must the call end, though keys are still open? */
static inline bool php_bloomshm_is_over(void)
{
	return EG(exception) != NULL || ZEND_HAS_OOM();
}

/* Counts for bloom_info(). */
void php_bloomshm_count_many(const php_bloomshm_many *m, bshm_fetched outcome, uint64_t count);
/* Is the record that was found one that the call may return? Then it is the answer. */
bool php_bloomshm_use_record(php_bloomshm_many *m, size_t place, const bshm_key *key,
	bshm_found *found, const bshm_lease_grant *taken);

/* Obtains the answers of the keys that are open. May throw; runs user code. */
void php_bloomshm_obtain_open(php_bloomshm_many *m);

#endif
