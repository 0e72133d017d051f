/*
 * php_segment.c - this process's attachment to the segment.
 *
 * Nothing happens at startup. The first call that needs the segment attaches, and all threads share
 * the mapping. Only a call that stores something creates a segment. After a failed attach,
 * questions go on without a segment and try again once a second; all other calls try at once.
 *
 * Another process may remove the file and make a new one. New processes then use the new file, and
 * keys that they add are not in the old one: its "no" would be wrong. So a process checks once a
 * second whether its file is still the one at the path, and detaches if not. It does so at the
 * first call of a request, at each call that changes a filter or stores something, and at one
 * question in QUESTIONS_PER_LOOK, or at each question of a process that seldom asks. Rare calls (a
 * load, a drop, a report) check at once. (PHP calls no hook of this extension when a request
 * begins.) Such a check, and the end of a request, also hand the counts of questions in, once a
 * second.
 *
 * A preload script may run in the process that later forks the workers of all pools: what it used
 * is given up when it ends. The first call of a fork's child compares the path with the settings.
 *
 * A call uses the segment that it has taken until it returns. So a thread may not detach while
 * another call of this extension is on its stack or in a suspended fiber (a loader, a lease, a
 * value that is being read). A call that is nested in another one uses the same file. A fiber may
 * stay suspended for ever: while one is, a call whose file is gone gets no segment, questions
 * answer "maybe", and nothing is stored in that file. A mapping is closed with its last thread.
 *
 * No question waits for another thread. The thread that attaches has claimed that; a question that
 * comes meanwhile says "maybe", as it does before. Other calls try again until their own wait is
 * over. The guard, which gives shares of the mapping out, is held for a few instructions, without
 * any call.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_error.h"
#include "php_path.h"
#include "php_segment.h"
#include "php_state.h"

#include "Zend/zend_fibers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_NS      UINT64_C(1000000000)
#define LOOK_NS       UINT64_C(1000000000)
#define WAIT_PAGE_NS  UINT64_C(50000000)
#define WAIT_BATCH_NS UINT64_C(1000000000)
#define NAP_US        2000
#define GUARD_TRIES   1000 /* of a question; then it goes on without a segment */
#define GUARD_NAP_US  50

#define HAND_IN_NS UINT64_C(1000000000)
#define SELDOM_NS  UINT64_C(50000000) /* so long after the last look, the next call looks too */

#define QUESTIONS_PER_LOOK 64 /* so many questions read the clock once */

/* What a segment is wanted for. */
typedef enum {
	TO_ASK,  /* never waits */
	TO_ADD,  /* waits for a moment while another process prepares it: an add must not be lost */
	TO_LOOK, /* tries at once after a failure; waits only for another thread that attaches */
	TO_STORE /* creates the segment, or waits for a moment while another process does */
} purpose;

/* A mapping. Each thread that uses it counts as a user, and so does the process while it is
 * `current`. */
struct php_bloomshm_mapping {
	bshm_segment *segment;
	_Atomic uint32_t users; /* goes up under the guard only, while it is `current` */
	atomic_bool gone;       /* at the last look, its file was not at the path */
};

static int the_module;
static _Atomic uint64_t look_at_ns; /* the path is not checked before */
static _Atomic uint64_t wait_at_ns; /* after a wait in vain: no wait for a creator before */
static atomic_bool left;            /* the process has detached because its file was gone */
/* Set by the thread that attaches, to NULL under the guard. */
static php_bloomshm_mapping *_Atomic current;

static atomic_bool attaching; /* a thread attaches: this is tried, and never waited for */
static atomic_bool guard;     /* a thread has the two below, or gives a share of `current` out */
static bshm_error last_failure;
static uint64_t retry_at_ns; /* after a failure: no attach before */
static atomic_bool forked;   /* and has not compared its path since */

static void in_child(void)
{
	atomic_store_explicit(&forked, true, memory_order_relaxed);
	atomic_store_explicit(&look_at_ns, 0, memory_order_relaxed);
	/* Another thread of the parent may have had them, and the child has no such thread. */
	atomic_store_explicit(&guard, false, memory_order_relaxed);
	atomic_store_explicit(&attaching, false, memory_order_relaxed);
	last_failure = (bshm_error){0}; /* that thread may have been writing it */
	retry_at_ns = 0;
#ifdef ZTS
	if (the_module == 0 || tsrm_get_ls_cache() == NULL) { /* PHP ends, or it is not PHP's thread */
		return;
	}
#endif
	BLOOMSHM_G(questions_left) = 0;
}

void php_bloomshm_segment_startup(int module_number)
{
	the_module = module_number;
	bshm_at_fork(in_child);
}

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
static bool enter_guard(purpose why)
{
	for (int tries = 0; !claim(&guard); tries++) {
		if (why == TO_ASK && tries == GUARD_TRIES) {
			return false;
		}
		if (why != TO_ASK) {
			bshm_sleep_us(GUARD_NAP_US);
		}
	}
	return true;
}

/* Another thread has what the call needs. */
static bshm_error busy(void)
{
	return (bshm_error){.status = BSHM_E_BUSY,
		.cause = BSHM_CAUSE_CREATE,
		.process_id = bshm_process_id(),
		.uid = bshm_user_id()};
}

/* The process's mapping, of which the thread is a user from now on. NULL: *error is why not, which
 * is the last failure, if there was one, and *retry_ns is when to try again. */
static php_bloomshm_mapping *share(purpose why, bshm_error *error, uint64_t *retry_ns)
{
	if (!enter_guard(why)) {
		*error = busy();
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
	enter_guard(TO_LOOK);
	last_failure = *error;
	retry_at_ns = retry_ns;
	give_back(&guard);
}

/* The last user closes it, which may last. */
static void release(php_bloomshm_mapping *mapping)
{
	/* What the other users have done comes before the end. */
	if (atomic_fetch_sub_explicit(&mapping->users, 1, memory_order_acq_rel) == 1) {
		bshm_segment_close(mapping->segment);
		free(mapping);
	}
}

/* ------------------------------------------------------------------ attach */

static bool is_absent(const bshm_error *error)
{
	return error->status == BSHM_E_UNAVAILABLE &&
		   (error->cause == BSHM_CAUSE_ABSENT || error->cause == BSHM_CAUSE_ABSENT_AGAIN);
}

static bool is_off(const bshm_error *error)
{
	return error->status == BSHM_E_UNAVAILABLE && error->cause == BSHM_CAUSE_DISABLED;
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
	/* Pairs with share(), is_over() and retire(). */
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
static php_bloomshm_mapping *share_or_attach(purpose why, bshm_error *error, bool *thread)
{
	uint64_t retry_ns;
	php_bloomshm_mapping *mapping = share(why, error, &retry_ns);
	*thread = mapping == NULL && error->status == BSHM_E_BUSY;
	if (mapping != NULL || *thread) {
		return mapping;
	}
	if (why != TO_STORE && bshm_segment_absent(php_bloomshm_path())) {
		*error = error->status == BSHM_OK ? absent() : *error;
		return NULL;
	}
	const uint64_t now = bshm_now_ns();
	if ((why == TO_ASK || why == TO_ADD) && now < retry_ns) {
		return NULL;
	}
	if (!claim(&attaching)) {
		*error = busy();
		*thread = true;
		return NULL;
	}
	mapping = share(why, error, &retry_ns); /* another thread may have attached just now */
	if (mapping == NULL && error->status != BSHM_E_BUSY) {
		mapping = attach(why == TO_STORE, error);
	}
	if (mapping == NULL && is_absent(error)) {
		*error = absent();
	} else if (mapping == NULL && error->status != BSHM_E_BUSY) {
		note_failure(error, now + RETRY_NS);
	}
	give_back(&attaching);
	return mapping;
}

/*
 * The same. A call that stores waits while another process creates the segment, or has it alone;
 * after a wait in vain, no call does for a second. All but questions wait while another thread
 * attaches.
 */
static php_bloomshm_mapping *obtain(purpose why, bshm_error *error)
{
	const uint64_t start = bshm_now_ns();
	const bool patient = (why == TO_STORE || why == TO_ADD) &&
						 start >= atomic_load_explicit(&wait_at_ns, memory_order_relaxed);
	const uint64_t wait = why == TO_ASK                    ? 0
						  : php_bloomshm_is_command_line() ? WAIT_BATCH_NS
														   : WAIT_PAGE_NS;
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

/* ------------------------------------------------------------------ detach */

static bool is_ours(const zend_execute_data *frame)
{
	const zend_function *function = frame->func;
	return function != NULL && function->type == ZEND_INTERNAL_FUNCTION &&
		   function->internal_function.module != NULL &&
		   function->internal_function.module->module_number == the_module;
}

static bool encloses(const zend_execute_data *frame)
{
	while (frame != NULL && !is_ours(frame)) {
		frame = frame->prev_execute_data;
	}
	return frame != NULL;
}

/* Does the stack end where a fiber begins? Then PHP is destroying the fiber, and does not show the
 * calls around it. */
static bool is_cut(const zend_execute_data *frame)
{
	while (frame->prev_execute_data != NULL) {
		frame = frame->prev_execute_data;
	}
	return frame->func != NULL && frame->func->type == ZEND_INTERNAL_FUNCTION;
}

/* Is this call, or may it be, inside another call of ours: in its loader, say? */
static bool is_nested(void)
{
	const zend_execute_data *self = EG(current_execute_data);
	return self != NULL &&
		   (encloses(self->prev_execute_data) || (EG(active_fiber) != NULL && is_cut(self)));
}

/* Is a fiber suspended inside a call of ours? */
static bool is_suspended(void)
{
	for (uint32_t i = 1; i < EG(objects_store).top; i++) {
		const zend_object *object = EG(objects_store).object_buckets[i];
		if (!IS_OBJ_VALID(object) || object->ce != zend_ce_fiber) {
			continue;
		}
		const zend_fiber *fiber = (const zend_fiber *) (const void *) object;
		if (fiber->context.status == ZEND_FIBER_STATUS_SUSPENDED && encloses(fiber->execute_data)) {
			return true;
		}
	}
	return false;
}

/* Has the process been forked from one with another path? */
static bool is_moved(void)
{
	if (!atomic_load_explicit(&forked, memory_order_relaxed)) {
		return false;
	}
	const bool moved = php_bloomshm_path_differs();
	atomic_store_explicit(&forked, moved, memory_order_relaxed);
	return moved;
}

/* Has the process moved, or has the file of the thread's mapping been removed or replaced? A nested
 * call sets *later instead of looking: the next call that is not nested looks. */
static bool is_over(php_bloomshm_mapping *mapping, bool *later, bool *moved)
{
	const uint64_t now = bshm_now_coarse_ns();
	uint64_t at = atomic_load_explicit(&look_at_ns, memory_order_relaxed);
	const bool replaced = mapping != atomic_load_explicit(&current, memory_order_acquire);
	if (now < at && !replaced && !atomic_load_explicit(&mapping->gone, memory_order_relaxed)) {
		return false;
	}
	*later = is_nested();
	if (*later) {
		return false;
	}
	*moved = is_moved();
	if (*moved) {
		return true;
	}
	if (!replaced && now >= at && atomic_compare_exchange_strong(&look_at_ns, &at, now + LOOK_NS)) {
		atomic_store(&mapping->gone, !bshm_segment_at_path(mapping->segment));
	}
	return replaced || atomic_load_explicit(&mapping->gone, memory_order_relaxed);
}

void php_bloomshm_segment_detach(zend_bloomshm_globals *globals)
{
	bshm_views_free(globals->views); /* they point into the mapping */
	globals->views = NULL;
	globals->segment = NULL;
	globals->questions_left = 0;
	if (globals->mapping != NULL) {
		release(globals->mapping);
		globals->mapping = NULL;
	}
}

/* The file of the thread's mapping is gone: the thread gives it up, and the process. False: the
 * guard could not be had. */
static bool retire(php_bloomshm_mapping *mapping, purpose why)
{
	if (!enter_guard(why)) {
		return false;
	}
	/* Pairs with attach(). */
	const bool found = atomic_load_explicit(&current, memory_order_acquire) == mapping;
	if (found) { /* else another thread has found it before */
		atomic_store_explicit(&left, true, memory_order_relaxed);
		atomic_store_explicit(&current, NULL, memory_order_release);
	}
	give_back(&guard);
	if (found) {
		release(mapping);
		const bshm_error error = {.status = BSHM_E_UNAVAILABLE, .cause = BSHM_CAUSE_REPLACED};
		php_bloomshm_log(&error);
	}
	php_bloomshm_segment_detach(ZEND_MODULE_GLOBALS_BULK(bloomshm));
	return true;
}

/* The process gives up its path, and what it knows of the file there. It has one thread. */
static void forget(void)
{
	php_bloomshm_segment_detach(ZEND_MODULE_GLOBALS_BULK(bloomshm));
	php_bloomshm_mapping *mapping = atomic_exchange(&current, NULL);
	if (mapping != NULL) {
		release(mapping);
	}
	last_failure = (bshm_error){0};
	retry_at_ns = 0;
	wait_at_ns = 0;
	left = false;
	atomic_store_explicit(&forked, false, memory_order_relaxed);
	php_bloomshm_path_forget();
}

/* ------------------------------------------------------------------ what the calls take */

/* Hands the counts of questions in, when it is time to. */
static void hand_in(uint64_t now)
{
	if (now >= BLOOMSHM_G(hand_in_ns)) {
		BLOOMSHM_G(hand_in_ns) = now + HAND_IN_NS;
		bshm_views_hand_in(BLOOMSHM_G(views));
	}
}

void php_bloomshm_segment_request_end(void)
{
	if (BLOOMSHM_G(views) != NULL) {
		hand_in(bshm_now_coarse_ns());
	}
}

void php_bloomshm_segment_request_over(void)
{
	if (php_bloomshm_path_of_preload()) { /* PHP ends a preload like a request */
		forget();
	}
}

/* The thread's segment, with its mapping and its views; NULL: *error says why there is none. */
static bshm_segment *take(purpose why, bshm_error *error)
{
	*error = (bshm_error){0};
	BLOOMSHM_G(segment) = NULL;
	BLOOMSHM_G(questions_left) = 0;
	if (!BLOOMSHM_G(enable)) {
		*error = (bshm_error){.status = BSHM_E_UNAVAILABLE, .cause = BSHM_CAUSE_DISABLED};
		return NULL;
	}
	php_bloomshm_mapping *mine = BLOOMSHM_G(mapping);
	bool later = false;
	bool moved = mine == NULL && is_moved();
	if (moved || (mine != NULL && is_over(mine, &later, &moved))) {
		if (is_suspended()) { /* its call still uses the mapping */
			*error = (bshm_error){.status = BSHM_E_UNAVAILABLE, .cause = BSHM_CAUSE_HELD};
			return NULL;
		}
		if (moved) {
			forget();
		} else if (!retire(mine, why)) {
			*error = busy();
			return NULL;
		}
		mine = NULL;
	}
	if (mine == NULL) {
		BLOOMSHM_G(mapping) = obtain(why, error);
		php_bloomshm_path_warn();
		if (BLOOMSHM_G(mapping) == NULL) {
			return NULL;
		}
	}
	if (BLOOMSHM_G(views) == NULL && (BLOOMSHM_G(views) = bshm_views_new()) == NULL) {
		*error = (bshm_error){.status = BSHM_E_NO_SPACE, .cause = BSHM_CAUSE_MEMORY};
		return NULL;
	}
	const uint64_t now = bshm_now_coarse_ns();
	const bool seldom = now - BLOOMSHM_G(looked_ns) > SELDOM_NS;
	BLOOMSHM_G(looked_ns) = now;
	hand_in(now);
	BLOOMSHM_G(request_time) = sapi_get_request_time();
	BLOOMSHM_G(questions_left) = later || seldom ? 0 : QUESTIONS_PER_LOOK;
	BLOOMSHM_G(segment) = BLOOMSHM_G(mapping)->segment;
	return BLOOMSHM_G(segment);
}

/* The same; without a segment it notes the status for php_bloomshm_segment_status(). */
static bshm_segment *segment_get(purpose why, bshm_error *error)
{
	bshm_segment *segment = take(why, error);
	if (segment == NULL) {
		BLOOMSHM_G(segment_status) = is_absent(error) ? BSHM_E_NOT_FOUND
									 : is_off(error)  ? BSHM_E_BUSY
													  : BSHM_E_UNAVAILABLE;
	}
	return segment;
}

/* The same for calls that do not throw the error: it is logged, unless there is just no file. */
static bshm_segment *get_or_log(purpose why, bshm_error *error)
{
	bshm_segment *segment = segment_get(why, error);
	if (segment == NULL && !is_absent(error) && !is_off(error) &&
		(error->status != BSHM_E_BUSY || why == TO_STORE)) {
		php_bloomshm_log(error);
	}
	return segment;
}

bshm_segment *php_bloomshm_segment_look(void)
{
	bshm_error error;
	return get_or_log(TO_ASK, &error);
}

/* The next call looks at the path, even if that was done just now: for rare calls. */
static void look_anew(void)
{
	atomic_store_explicit(&look_at_ns, 0, memory_order_relaxed);
}

bshm_segment *php_bloomshm_segment_try(bshm_error *error)
{
	look_anew();
	return get_or_log(TO_LOOK, error);
}

/* For calls that write filters: throws where bloomshm.readonly forbids it. */
static bool check_writable(void)
{
	if (BLOOMSHM_G(enable) && BLOOMSHM_G(readonly)) {
		const bshm_error error = {.status = BSHM_E_READ_ONLY, .cause = BSHM_CAUSE_READONLY};
		php_bloomshm_throw(&error, NULL);
		return false;
	}
	return true;
}

bshm_segment *php_bloomshm_segment_to_add(void)
{
	if (!check_writable()) {
		return NULL;
	}
	if (bshm_now_coarse_ns() >= atomic_load_explicit(&look_at_ns, memory_order_relaxed)) {
		BLOOMSHM_G(questions_left) = 0;
	}
	bshm_segment *segment = php_bloomshm_segment();
	if (segment == NULL && BLOOMSHM_G(enable)) {
		bshm_error error;
		segment = get_or_log(TO_ADD, &error);
		if (segment == NULL && error.status == BSHM_E_BUSY) {
			php_bloomshm_throw(&error, NULL); /* the filter may exist: the key must not get lost */
		}
	}
	return segment;
}

bshm_segment *php_bloomshm_segment_to_create(bool fresh)
{
	if (!check_writable()) {
		return NULL;
	}
	if (fresh) {
		look_anew();
	}
	bshm_error error;
	bshm_segment *segment = segment_get(TO_STORE, &error);
	if (segment == NULL) {
		php_bloomshm_throw(&error, NULL);
	}
	return segment;
}

bshm_segment *php_bloomshm_segment_of(const char *filter)
{
	look_anew();
	bshm_error error;
	bshm_segment *segment = segment_get(TO_LOOK, &error);
	if (segment == NULL) {
		if (is_absent(&error)) {
			error = (bshm_error){.status = BSHM_E_NOT_FOUND, .cause = BSHM_CAUSE_ABSENT};
		}
		php_bloomshm_throw(&error, filter);
	}
	return segment;
}

bshm_segment *php_bloomshm_segment_to_move(const char *filter)
{
	return check_writable() ? php_bloomshm_segment_of(filter) : NULL;
}

bool php_bloomshm_check_published(const bshm_segment *segment, const char *filter)
{
	if (bshm_segment_at_path(segment)) {
		return true;
	}
	const bshm_error error = {.status = BSHM_E_UNAVAILABLE, .cause = BSHM_CAUSE_REMOVED};
	php_bloomshm_throw(&error, filter);
	return false;
}

bshm_segment *php_bloomshm_segment_to_store(void)
{
	bshm_error error;
	bshm_segment *segment = get_or_log(TO_STORE, &error);
	return segment != NULL && bshm_store_exists(segment) ? segment : NULL;
}

bshm_segment *php_bloomshm_segment_with_store_or_throw(bool create)
{
	bshm_error error;
	bshm_segment *segment = segment_get(create ? TO_STORE : TO_LOOK, &error);
	if (segment != NULL && !bshm_store_exists(segment)) {
		error = (bshm_error){.status = BSHM_E_UNAVAILABLE, .cause = BSHM_CAUSE_NO_STORE};
		segment = NULL;
	}
	if (segment == NULL) {
		php_bloomshm_throw_unavailable(&error);
	}
	return segment;
}

void php_bloomshm_segment_shutdown(void)
{
	forget();
	the_module = 0;
}
