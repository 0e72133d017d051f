/*
 * php_mapping.c - the process's mapping of its segment, which all threads share.
 *
 * No question waits for another thread. The thread that attaches has claimed that; a question that
 * comes meanwhile says "maybe", as it does before. Other calls try again until their own wait is
 * over. The guard, which gives shares of the mapping out, is held for a few instructions, without
 * any call. A mapping is closed with its last thread.
 *
 * After a failed attach, questions go on without a segment and try again once a second; all other
 * calls try at once. Once a second, one thread looks whether the file is still at the path.
 *
 * Not here: when a call may leave its mapping (php_segment.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_error.h"
#include "php_mapping.h"
#include "php_path.h"

#include <stdatomic.h>
#include <stdlib.h>

#define RETRY_NS      UINT64_C(1000000000)
#define LOOK_NS       UINT64_C(1000000000)
#define WAIT_PAGE_NS  UINT64_C(50000000)
#define WAIT_BATCH_NS UINT64_C(1000000000)
#define NAP_US        2000
#define GUARD_TRIES   1000 /* of a question; then it goes on without a segment */
#define GUARD_NAP_US  50

/* A mapping. Each thread that uses it counts as a user, and so does the process while it is
 * `current`. */
struct php_bloomshm_mapping {
	bshm_segment *segment;
	_Atomic uint32_t users; /* goes up under the guard only, while it is `current` */
	atomic_bool gone;       /* at the last look, its file was not at the path */
};

static _Atomic uint64_t look_at_ns; /* the path is not checked before */
static _Atomic uint64_t wait_at_ns; /* after a wait in vain: no wait for a creator before */
static atomic_bool left;            /* the process has detached because its file was gone */
/* Set by the thread that attaches, to NULL under the guard. */
static php_bloomshm_mapping *_Atomic current;

static atomic_bool attaching; /* a thread attaches, or settles: tried, and never waited for */
static atomic_bool guard;     /* a thread has the two below, or gives a share of `current` out */
static bshm_error last_failure;
static uint64_t retry_at_ns; /* after a failure: no attach before */

/* ------------------------------------------------------------------ threads */

static bool claim(atomic_bool *word)
{
	return !atomic_exchange_explicit(word, true, memory_order_acquire); /* pairs with give_back() */
}

static void give_back(atomic_bool *word)
{
	atomic_store_explicit(word, false, memory_order_release); /* pairs with claim() */
}

/* False, of a question only: the thread that has the guard has lost its processor. */
static bool enter_guard(php_bloomshm_purpose why)
{
	for (int tries = 0; !claim(&guard); tries++) {
		if (why == BLOOMSHM_TO_ASK && tries == GUARD_TRIES) {
			return false;
		}
		if (why != BLOOMSHM_TO_ASK) {
			bshm_sleep_us(GUARD_NAP_US);
		}
	}
	return true;
}

/* So long a call waits for another thread. */
static uint64_t wait_ns(php_bloomshm_purpose why)
{
	return why == BLOOMSHM_TO_ASK           ? 0
		   : php_bloomshm_is_command_line() ? WAIT_BATCH_NS
											: WAIT_PAGE_NS;
}

bshm_error php_bloomshm_busy(void)
{
	return (bshm_error){.status = BSHM_E_BUSY,
		.cause = BSHM_CAUSE_CREATE,
		.process_id = bshm_process_id(),
		.uid = bshm_user_id()};
}

/* The process's mapping, of which the thread is a user from now on. NULL: *error is why not, which
 * is the last failure, if there was one, and *retry_ns is when to try again. */
static php_bloomshm_mapping *share(php_bloomshm_purpose why, bshm_error *error, uint64_t *retry_ns)
{
	if (!enter_guard(why)) {
		*error = php_bloomshm_busy();
		return NULL;
	}
	/* Pairs with attach(). */
	php_bloomshm_mapping *mapping = atomic_load_explicit(&current, memory_order_acquire);
	if (mapping != NULL) {
		atomic_fetch_add_explicit(&mapping->users, 1, memory_order_relaxed);
	}
	*error = last_failure;
	*retry_ns = retry_at_ns;
	give_back(&guard);
	return mapping;
}

static void note_failure(const bshm_error *error, uint64_t retry_ns)
{
	enter_guard(BLOOMSHM_TO_LOOK);
	last_failure = *error;
	retry_at_ns = retry_ns;
	give_back(&guard);
}

void php_bloomshm_mapping_release(php_bloomshm_mapping *mapping)
{
	/* What the other users have done comes before the end. */
	if (atomic_fetch_sub_explicit(&mapping->users, 1, memory_order_acq_rel) == 1) {
		bshm_segment_close(mapping->segment);
		free(mapping);
	}
}

/* ------------------------------------------------------------------ attach */

bool php_bloomshm_is_absent(const bshm_error *error)
{
	return error->status == BSHM_E_UNAVAILABLE &&
		   (error->cause == BSHM_CAUSE_ABSENT || error->cause == BSHM_CAUSE_ABSENT_AGAIN);
}

/* Of the thread that attaches: the mapping, of which the process and the thread are users. */
static php_bloomshm_mapping *attach(bool create, bshm_error *error)
{
	const bshm_options options = {
		.path = php_bloomshm_path(),
		.filter_bytes = (uint64_t) BLOOMSHM_G(filter_memory),
		.cache_bytes = (uint64_t) BLOOMSHM_G(cache_memory),
		.cache_records = (uint64_t) BLOOMSHM_G(cache_records),
		.mode = (uint32_t) BLOOMSHM_G(mode),
		.readonly = BLOOMSHM_G(readonly),
		.huge_pages = BLOOMSHM_G(huge_pages),
		.attach_only = !create,
	};
	php_bloomshm_mapping *mapping = malloc(sizeof(*mapping));
	*error = (bshm_error){.status = BSHM_E_NO_SPACE, .cause = BSHM_CAUSE_MEMORY};
	if (mapping == NULL || bshm_segment_open(&options, &mapping->segment, error) != BSHM_OK) {
		free(mapping);
		return NULL;
	}
	mapping->users = 2;
	mapping->gone = false;
	note_failure(&(bshm_error){0}, 0);
	atomic_store_explicit(&left, false, memory_order_relaxed);
	atomic_store_explicit(&look_at_ns, bshm_now_coarse_ns() + LOOK_NS, memory_order_relaxed);
	/* Pairs with share(), is_replaced() and php_bloomshm_mapping_retire(). */
	atomic_store_explicit(&current, mapping, memory_order_release);
	return mapping;
}

static bshm_error absent(void)
{
	return (bshm_error){.status = BSHM_E_UNAVAILABLE,
		.cause = atomic_load_explicit(&left, memory_order_relaxed) ? BSHM_CAUSE_ABSENT_AGAIN
																   : BSHM_CAUSE_ABSENT};
}

/* The process's mapping, which the thread attaches if there is none; NULL: *error says why, and
 * *thread whether another thread is in the way. An absent file is no failure: every call looks for
 * it. */
static php_bloomshm_mapping *share_or_attach(
	php_bloomshm_purpose why, bshm_error *error, bool *thread)
{
	uint64_t retry_ns = 0;
	php_bloomshm_mapping *mapping = share(why, error, &retry_ns);
	*thread = mapping == NULL && error->status == BSHM_E_BUSY;
	if (mapping != NULL || *thread) {
		return mapping;
	}
	if (why != BLOOMSHM_TO_STORE && bshm_segment_absent(php_bloomshm_path())) {
		*error = error->status == BSHM_OK ? absent() : *error;
		return NULL;
	}
	const uint64_t now = bshm_now_ns();
	if ((why == BLOOMSHM_TO_ASK || why == BLOOMSHM_TO_ADD) && now < retry_ns) {
		return NULL;
	}
	if (!claim(&attaching)) {
		*error = php_bloomshm_busy();
		*thread = true;
		return NULL;
	}
	mapping = share(why, error, &retry_ns); /* another thread may have attached just now */
	if (mapping == NULL && error->status != BSHM_E_BUSY) {
		mapping = attach(why == BLOOMSHM_TO_STORE, error);
	}
	if (mapping == NULL && php_bloomshm_is_absent(error)) {
		*error = absent();
	} else if (mapping == NULL && error->status != BSHM_E_BUSY) {
		note_failure(error, now + RETRY_NS);
	}
	give_back(&attaching);
	return mapping;
}

php_bloomshm_mapping *php_bloomshm_mapping_obtain(php_bloomshm_purpose why, bshm_error *error)
{
	const uint64_t start = bshm_now_ns();
	const bool patient = (why == BLOOMSHM_TO_STORE || why == BLOOMSHM_TO_ADD) &&
						 start >= atomic_load_explicit(&wait_at_ns, memory_order_relaxed);
	const uint64_t wait = wait_ns(why);
	php_bloomshm_mapping *mapping;
	bool thread;
	while ((mapping = share_or_attach(why, error, &thread)) == NULL &&
		   error->status == BSHM_E_BUSY && (patient || thread) && bshm_now_ns() - start < wait) {
		bshm_sleep_us(NAP_US);
	}
	if (mapping == NULL && patient && !thread && error->status == BSHM_E_BUSY) {
		atomic_store_explicit(&wait_at_ns, bshm_now_ns() + RETRY_NS, memory_order_relaxed);
	}
	return mapping;
}

bshm_segment *php_bloomshm_mapping_segment(const php_bloomshm_mapping *mapping)
{
	return mapping->segment;
}

/* ------------------------------------------------------------------ the file at the path */

/* Does the process have another one, or none? */
static bool is_replaced(const php_bloomshm_mapping *mapping)
{
	return mapping !=
		   atomic_load_explicit(&current, memory_order_acquire); /* pairs with attach() */
}

bool php_bloomshm_look_is_due(void)
{
	return bshm_now_coarse_ns() >= atomic_load_explicit(&look_at_ns, memory_order_relaxed);
}

void php_bloomshm_look_anew(void)
{
	atomic_store_explicit(&look_at_ns, 0, memory_order_relaxed);
}

bool php_bloomshm_mapping_may_be_gone(php_bloomshm_mapping *mapping)
{
	return php_bloomshm_look_is_due() || is_replaced(mapping) ||
		   atomic_load_explicit(&mapping->gone, memory_order_relaxed);
}

bool php_bloomshm_mapping_is_gone(php_bloomshm_mapping *mapping)
{
	const uint64_t now = bshm_now_coarse_ns();
	uint64_t at = atomic_load_explicit(&look_at_ns, memory_order_relaxed);
	const bool replaced = is_replaced(mapping);
	if (!replaced && now >= at && atomic_compare_exchange_strong(&look_at_ns, &at, now + LOOK_NS)) {
		atomic_store(&mapping->gone, !bshm_segment_at_path(mapping->segment));
	}
	return replaced || atomic_load_explicit(&mapping->gone, memory_order_relaxed);
}

bool php_bloomshm_mapping_retire(php_bloomshm_mapping *mapping, php_bloomshm_purpose why)
{
	if (!enter_guard(why)) {
		return false;
	}
	const bool found = !is_replaced(mapping);
	if (found) { /* else another thread has found it before */
		atomic_store_explicit(&left, true, memory_order_relaxed);
		atomic_store_explicit(&current, NULL, memory_order_release);
	}
	give_back(&guard);
	if (found) {
		php_bloomshm_mapping_release(mapping);
		const bshm_error error = {.status = BSHM_E_UNAVAILABLE, .cause = BSHM_CAUSE_REPLACED};
		php_bloomshm_log(&error);
	}
	return true;
}

void php_bloomshm_mapping_forget(void)
{
	enter_guard(BLOOMSHM_TO_LOOK);
	php_bloomshm_mapping *mapping = atomic_exchange(&current, NULL);
	last_failure = (bshm_error){0};
	retry_at_ns = 0;
	give_back(&guard);
	wait_at_ns = 0;
	left = false;
	php_bloomshm_path_forget(); /* last: who finds no path finds no mapping */
	if (mapping != NULL) {
		php_bloomshm_mapping_release(mapping);
	}
}

bool php_bloomshm_mapping_settle(php_bloomshm_purpose why)
{
	if (!php_bloomshm_path_is_inherited()) {
		return true;
	}
	const uint64_t start = bshm_now_ns();
	while (php_bloomshm_path_is_inherited()) {
		if (claim(&attaching)) {
			if (php_bloomshm_path_is_inherited() && php_bloomshm_path_moved()) {
				php_bloomshm_mapping_forget();
			}
			php_bloomshm_path_settle();
			give_back(&attaching);
		} else if (bshm_now_ns() - start >= wait_ns(why)) {
			return false;
		} else {
			bshm_sleep_us(NAP_US);
		}
	}
	return true;
}

void php_bloomshm_mapping_in_child(void)
{
	atomic_store_explicit(&look_at_ns, 0, memory_order_relaxed);
	/* Another thread of the parent may have had them, and the child has no such thread. */
	atomic_store_explicit(&guard, false, memory_order_relaxed);
	atomic_store_explicit(&attaching, false, memory_order_relaxed);
	last_failure = (bshm_error){0}; /* that thread may have been writing it */
	retry_at_ns = 0;
}
