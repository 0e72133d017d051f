/*
 * php_segment.c - this process's attachment to the segment.
 *
 * Nothing happens at startup. The first call that needs the segment attaches, and all threads share
 * the mapping. Only a call that stores something creates a segment.
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
 * is given up when it ends. The first call of a fork's child compares the path with the settings;
 * of several threads, one does that for all.
 *
 * A call uses the segment that it has taken until it returns. So a thread may not detach while
 * another call of this extension is on its stack or in a suspended fiber (a loader, a lease, a
 * value that is being read). A call that is nested in another one uses the same file. A fiber may
 * stay suspended for ever: while one is, a call whose file is gone gets no segment, questions
 * answer "maybe", and nothing is stored in that file.
 *
 * Not here: how the process attaches, and what its threads share (php_mapping.c).
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
#include "php_segment.h"
#include "php_state.h"

#include "Zend/zend_fibers.h"

#define HAND_IN_NS UINT64_C(1000000000)
#define SELDOM_NS  UINT64_C(50000000) /* so long after the last look, the next call looks too */

#define QUESTIONS_PER_LOOK 64 /* so many questions read the clock once */

static int the_module;

static void in_child(void)
{
	php_bloomshm_path_in_child();
	php_bloomshm_mapping_in_child();
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

/* Has the process left the thread's mapping, or has its file been removed or replaced? A nested
 * call sets *later instead of looking: the next call that is not nested looks. */
static bool is_over(php_bloomshm_mapping *mapping, bool *later)
{
	if (!php_bloomshm_mapping_may_be_gone(mapping)) {
		return false;
	}
	*later = is_nested();
	return !*later && php_bloomshm_mapping_is_gone(mapping);
}

void php_bloomshm_segment_detach(zend_bloomshm_globals *globals)
{
	bshm_views_free(globals->views); /* they point into the mapping */
	globals->views = NULL;
	globals->segment = NULL;
	globals->questions_left = 0;
	if (globals->mapping != NULL) {
		php_bloomshm_mapping_release(globals->mapping);
		globals->mapping = NULL;
	}
}

/* The process, of one thread, gives up its path, and what it knows of the file there. */
static void forget(void)
{
	php_bloomshm_segment_detach(ZEND_MODULE_GLOBALS_BULK(bloomshm));
	php_bloomshm_mapping_forget();
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

static bool is_off(const bshm_error *error)
{
	return error->status == BSHM_E_UNAVAILABLE && error->cause == BSHM_CAUSE_DISABLED;
}

/* The thread becomes a user of the process's mapping. Another thread may have attached that, and
 * looked at its path long ago. False: *error says why. */
static bool join(php_bloomshm_purpose why, bshm_error *error)
{
	php_bloomshm_mapping *mapping;
	while ((mapping = php_bloomshm_mapping_obtain(why, error)) != NULL &&
		   php_bloomshm_mapping_is_gone(mapping)) {
		const bool retired = php_bloomshm_mapping_retire(mapping, why);
		php_bloomshm_mapping_release(mapping);
		if (!retired) {
			*error = php_bloomshm_busy();
			return false;
		}
	}
	php_bloomshm_path_warn();
	BLOOMSHM_G(mapping) = mapping;
	return mapping != NULL;
}

/* The thread's segment, with its mapping and its views; NULL: *error says why there is none. */
static bshm_segment *take(php_bloomshm_purpose why, bshm_error *error)
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
	if (!php_bloomshm_mapping_settle(why)) {
		*error = php_bloomshm_busy();
		return NULL;
	}
	if (mine != NULL && is_over(mine, &later)) {
		if (is_suspended()) { /* its call still uses the mapping */
			*error = (bshm_error){.status = BSHM_E_UNAVAILABLE, .cause = BSHM_CAUSE_HELD};
			return NULL;
		}
		if (!php_bloomshm_mapping_retire(mine, why)) {
			*error = php_bloomshm_busy();
			return NULL;
		}
		php_bloomshm_segment_detach(ZEND_MODULE_GLOBALS_BULK(bloomshm));
		mine = NULL;
	}
	/* Settings change between requests only. */
	const bool first = BLOOMSHM_G(request_time) != SG(global_request_time) || mine == NULL;
	if (first && php_bloomshm_path_is_other()) {
		*error = (bshm_error){.status = BSHM_E_UNAVAILABLE, .cause = BSHM_CAUSE_OTHER_PATH};
		return NULL;
	}
	if (mine == NULL && !join(why, error)) {
		return NULL;
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
	BLOOMSHM_G(segment) = php_bloomshm_mapping_segment(BLOOMSHM_G(mapping));
	return BLOOMSHM_G(segment);
}

/* The same; without a segment it notes the status for php_bloomshm_segment_status(). */
static bshm_segment *segment_get(php_bloomshm_purpose why, bshm_error *error)
{
	bshm_segment *segment = take(why, error);
	if (segment == NULL) {
		BLOOMSHM_G(segment_status) = php_bloomshm_is_absent(error) ? BSHM_E_NOT_FOUND
									 : is_off(error)               ? BSHM_E_BUSY
																   : BSHM_E_UNAVAILABLE;
	}
	return segment;
}

/* The same for calls that do not throw the error: it is logged, unless there is just no file. */
static bshm_segment *get_or_log(php_bloomshm_purpose why, bshm_error *error)
{
	bshm_segment *segment = segment_get(why, error);
	if (segment == NULL && !php_bloomshm_is_absent(error) && !is_off(error) &&
		(error->status != BSHM_E_BUSY || why == BLOOMSHM_TO_STORE)) {
		php_bloomshm_log(error);
	}
	return segment;
}

bshm_segment *php_bloomshm_segment_look(void)
{
	bshm_error error;
	return get_or_log(BLOOMSHM_TO_ASK, &error);
}

bshm_segment *php_bloomshm_segment_try(bshm_error *error)
{
	php_bloomshm_look_anew();
	return get_or_log(BLOOMSHM_TO_LOOK, error);
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
	if (php_bloomshm_look_is_due()) {
		BLOOMSHM_G(questions_left) = 0;
	}
	bshm_segment *segment = php_bloomshm_segment();
	if (segment == NULL && BLOOMSHM_G(enable)) {
		bshm_error error;
		segment = get_or_log(BLOOMSHM_TO_ADD, &error);
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
		php_bloomshm_look_anew();
	}
	bshm_error error;
	bshm_segment *segment = segment_get(BLOOMSHM_TO_STORE, &error);
	if (segment == NULL) {
		php_bloomshm_throw(&error, NULL);
	}
	return segment;
}

bshm_segment *php_bloomshm_segment_of(const char *filter)
{
	php_bloomshm_look_anew();
	bshm_error error;
	bshm_segment *segment = segment_get(BLOOMSHM_TO_LOOK, &error);
	if (segment == NULL) {
		if (php_bloomshm_is_absent(&error)) {
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
	bshm_segment *segment = get_or_log(BLOOMSHM_TO_STORE, &error);
	return segment != NULL && bshm_store_exists(segment) ? segment : NULL;
}

bshm_segment *php_bloomshm_segment_with_store_or_throw(bool create)
{
	bshm_error error;
	bshm_segment *segment = segment_get(create ? BLOOMSHM_TO_STORE : BLOOMSHM_TO_LOOK, &error);
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
	php_bloomshm_path_forget(); /* and the path before it */
	the_module = 0;
}
