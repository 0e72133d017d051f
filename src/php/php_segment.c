/*
 * php_segment.c - this process's one attachment to the segment.
 *
 * Nothing happens at startup. The first call that needs the segment fixes the path (so that a
 * later request's INI cannot redirect the worker) and attaches; all threads share the mapping. A
 * failed attach is remembered: questions go on without, and try again once a second; everything
 * else tries at once.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php_bloomshm.h"

#include "SAPI.h"
#include "platform/atomic.h"
#include "platform/platform.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RETRY_NS       UINT64_C(1000000000)
#define CREATE_WAIT_NS UINT64_C(10000000000)
#define CREATE_NAP_US  2000

bshm_segment *php_bloomshm_attached;
static char *the_path;
static bshm_error last_failure;
static uint64_t retry_at_ns;
#ifdef ZTS
static MUTEX_T guard;
# define GUARD()   tsrm_mutex_lock(guard)
# define UNGUARD() tsrm_mutex_unlock(guard)
#else
# define GUARD()   ((void) 0)
# define UNGUARD() ((void) 0)
#endif

void php_bloomshm_segment_startup(void)
{
#ifdef ZTS
	guard = tsrm_mutex_alloc();
#endif
}

/* The configured path with every %u replaced by `user`. */
static char *expand_path(const char *user)
{
	const char *pattern = BLOOMSHM_G(path);
	const size_t user_length = strlen(user);
	char *out = malloc(strlen(pattern) * (user_length + 1) + 1);
	char *to = out;
	if (out == NULL) {
		return NULL;
	}
	for (const char *from = pattern; *from != '\0';) {
		if (from[0] == '%' && from[1] == 'u') {
			memcpy(to, user, user_length);
			to += user_length;
			from += 2;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return out;
}

const char *php_bloomshm_path(void)
{
	if (BSHM_LOAD(&the_path, ACQUIRE) == NULL) {
		char user[16];
		snprintf(user, sizeof(user), "%u", (unsigned) bshm_os_effective_uid());
		char *path = expand_path(user);
		char *none = NULL;
		if (path != NULL && !BSHM_CAS(&the_path, &none, path, RELEASE)) {
			free(path); /* another thread was faster */
		}
	}
	return the_path == NULL ? "" : the_path;
}

/*
 * The classic mistake: the batch job fills its own user's segment, and the pages read another's.
 * Said once, by the command line, when it makes a new segment beside others.
 */
static void warn_about_siblings(void)
{
	if (strcmp(sapi_module.name, "cli") != 0 || strstr(BLOOMSHM_G(path), "%u") == NULL) {
		return;
	}
	char *pattern = expand_path("[0-9]*");
	glob_t found = {0};
	if (pattern != NULL && glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *path = found.gl_pathv[i];
			const size_t length = strlen(path);
			const bool temporary = length > 4 && strcmp(path + length - 4, ".new") == 0;
			if (strcmp(path, the_path) != 0 && !temporary) {
				fprintf(stderr,
					"bloomshm: created %s, but another user's segment is at %s; pages that run as "
					"that user will not see what is loaded here\n",
					the_path, path);
				break;
			}
		}
		globfree(&found);
	}
	free(pattern);
}

static bool attach(bshm_error *error)
{
	const char *path = php_bloomshm_path();
	const bool existed = access(path, F_OK) == 0;
	const bshm_options options = {
		.path = path,
		.filter_bytes = (uint64_t) BLOOMSHM_G(filter_memory),
		.cache_bytes = (uint64_t) BLOOMSHM_G(cache_memory),
		.cache_records = (uint64_t) BLOOMSHM_G(cache_records),
		.mode = (uint32_t) BLOOMSHM_G(mode),
		.readonly = BLOOMSHM_G(readonly),
		.huge_pages = BLOOMSHM_G(huge_pages),
	};
	bshm_segment *segment;
	if (bshm_segment_open(&options, &segment, error) != BSHM_OK) {
		return false;
	}
	BSHM_STORE(&php_bloomshm_attached, segment, RELEASE);
	if (!existed) {
		warn_about_siblings();
	}
	return true;
}

/* With `patient`: tries at once, and waits while another process creates the segment. */
static bshm_segment *segment_get(bool patient, bshm_error *error)
{
	if (!BLOOMSHM_G(enable)) {
		*error = (bshm_error){.status = BSHM_E_UNAVAILABLE, .op = "enable"};
		return NULL;
	}
	bshm_segment *segment = BSHM_LOAD(&php_bloomshm_attached, ACQUIRE);
	if (segment != NULL) {
		return segment;
	}
	GUARD();
	const uint64_t start = bshm_os_monotonic_ns();
	*error = last_failure;
	while (php_bloomshm_attached == NULL && (patient || start >= retry_at_ns)) {
		if (attach(error)) {
			break;
		}
		last_failure = *error;
		if (error->status != BSHM_E_BUSY) {
			retry_at_ns = bshm_os_monotonic_ns() + RETRY_NS;
			break;
		}
		if (!patient || bshm_os_monotonic_ns() - start > CREATE_WAIT_NS) {
			break;
		}
		bshm_os_sleep_us(CREATE_NAP_US);
	}
	segment = php_bloomshm_attached;
	UNGUARD();
	return segment;
}

bshm_segment *php_bloomshm_segment_attach(void)
{
	bshm_error error;
	return segment_get(false, &error);
}

bshm_segment *php_bloomshm_segment_try(bshm_error *error)
{
	return segment_get(true, error);
}

bshm_segment *php_bloomshm_segment_standing(bshm_error *error)
{
	if (BSHM_LOAD(&php_bloomshm_attached, ACQUIRE) == NULL &&
		access(php_bloomshm_path(), F_OK) != 0) {
		*error = (bshm_error){.status = BSHM_E_UNAVAILABLE, .op = "absent"};
		return NULL;
	}
	return segment_get(true, error);
}

bshm_segment *php_bloomshm_segment_or_throw(void)
{
	bshm_error error;
	bshm_segment *segment = segment_get(true, &error);
	if (segment == NULL) {
		php_bloomshm_throw(&error, NULL);
	}
	return segment;
}

bshm_segment *php_bloomshm_store_patient(void)
{
	bshm_error error;
	bshm_segment *segment = segment_get(true, &error);
	return segment != NULL && bshm_store_exists(segment) ? segment : NULL;
}

bshm_segment *php_bloomshm_store_or_throw(void)
{
	bshm_error error;
	bshm_segment *segment = segment_get(true, &error);
	if (segment != NULL && !bshm_store_exists(segment)) {
		error = (bshm_error){.status = BSHM_E_UNAVAILABLE, .op = "store"};
		segment = NULL;
	}
	if (segment == NULL) {
		php_bloomshm_throw_unavailable(&error);
	}
	return segment;
}

bshm_cache *php_bloomshm_cache_make(void)
{
	BLOOMSHM_G(cache) = bshm_cache_new();
	if (BLOOMSHM_G(cache) == NULL) {
		zend_error_noreturn(E_ERROR, "bloomshm: out of memory");
	}
	return BLOOMSHM_G(cache);
}

void php_bloomshm_segment_shutdown(void)
{
	bshm_segment_close(php_bloomshm_attached);
	php_bloomshm_attached = NULL;
	free(the_path);
	the_path = NULL;
#ifdef ZTS
	tsrm_mutex_free(guard);
#endif
}
