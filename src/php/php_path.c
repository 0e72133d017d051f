/*
 * php_path.c - the path of this process's segment.
 *
 * The first call that needs the path fixes it, so that a later request's INI cannot redirect the
 * worker. In two processes it is fixed too early: in php-fpm's master, where a preload script runs
 * before the workers have the settings of their pools, and in the parent of a fork, whose child may
 * become another user. php_segment.c forgets it in the first, php_mapping.c in a child with another
 * path. docs/CONCURRENCY.md, section 11, says who writes what.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "compat.h"
#include "php_path.h"
#include "php_state.h"

#include "SAPI.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *_Atomic the_path; /* NULL until a call needs it */
static char *_Atomic old_path; /* the one before: threads may still read it */
static atomic_bool of_preload; /* a preload script fixed it */
static atomic_bool forked;     /* and nobody has compared the path since */

bool php_bloomshm_path_is_absolute(const char *path, size_t length)
{
	(void) length; /* PHP's macro needs it on Windows only */
	return IS_ABSOLUTE_PATH(path, length) || PHP_BLOOMSHM_IN_PROGRAM_DATA(path);
}

/* The configured path with every %u replaced by `user`. */
static char *expand_path(const char *user)
{
	const char *pattern = BLOOMSHM_G(path);
	const char *folder = "";
	if (PHP_BLOOMSHM_IN_PROGRAM_DATA(pattern)) {
		pattern += strlen(PHP_BLOOMSHM_PROGRAM_DATA);
		folder = getenv("ProgramData") == NULL ? "C:\\ProgramData" : getenv("ProgramData");
	}
	const size_t folder_length = strlen(folder);
	const size_t user_length = strlen(user);
	char *out = malloc(folder_length + strlen(pattern) * (user_length + 1) + 1);
	if (out == NULL) {
		return NULL;
	}
	memcpy(out, folder, folder_length);
	char *to = out + folder_length;
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

static char *configured_path(void)
{
	char user[BSHM_USER_TEXT_BYTES];
	bshm_user_text(user);
	return expand_path(user);
}

/* The path, and behind it the setting that it is of. */
static char *path_and_setting(void)
{
	char *path = configured_path();
	const size_t path_bytes = path == NULL ? 0 : strlen(path) + 1;
	const size_t setting_bytes = strlen(BLOOMSHM_G(path)) + 1;
	char *both = path == NULL ? NULL : realloc(path, path_bytes + setting_bytes);
	if (both == NULL) {
		free(path);
		return NULL;
	}
	memcpy(both + path_bytes, BLOOMSHM_G(path), setting_bytes);
	return both;
}

const char *php_bloomshm_path(void)
{
	char *path = the_path;
	if (path == NULL) {
		char *mine = path_and_setting();
		if (mine == NULL) {
			return "";
		}
		if (atomic_compare_exchange_strong(&the_path, &path, mine)) {
			path = mine;
		} else {
			free(mine); /* another thread was faster */
		}
		if ((CG(compiler_options) & ZEND_COMPILE_PRELOAD) != 0) {
			of_preload = true;
		}
	}
	return path;
}

bool php_bloomshm_path_of_preload(void)
{
	return of_preload;
}

void php_bloomshm_path_in_child(void)
{
	atomic_store_explicit(&forked, true, memory_order_relaxed); /* no other thread exists yet */
}

/* Is it what is configured, for the user that the process is now? */
static bool is_configured(const char *path)
{
	char *now = configured_path();
	const bool same = now != NULL && strcmp(path, now) == 0;
	free(now);
	return same;
}

bool php_bloomshm_path_is_other(void)
{
	const char *path = php_bloomshm_path();
	return *path != '\0' && strcmp(path + strlen(path) + 1, BLOOMSHM_G(path)) != 0 &&
		   !is_configured(path);
}

bool php_bloomshm_path_is_inherited(void)
{
	/* Pairs with php_bloomshm_path_settle(). */
	return atomic_load_explicit(&forked, memory_order_acquire);
}

bool php_bloomshm_path_moved(void)
{
	const char *path = the_path;
	return path == NULL || !is_configured(path);
}

void php_bloomshm_path_settle(void)
{
	/* Pairs with php_bloomshm_path_is_inherited(). */
	atomic_store_explicit(&forked, false, memory_order_release);
}

/* ------------------------------------------------------------------ another user's segment */

bool php_bloomshm_is_command_line(void)
{
	return strcmp(sapi_module.name, "cli") == 0;
}

/* Is this a segment of the user whose number is at `digits`, and not this process's? PHP knows no
 * number of a file's owner on Windows, and says 0. */
static bool is_users_segment(const char *path, const char *digits)
{
	zend_stat_t st;
	return strcmp(path, the_path) != 0 && php_sys_lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		   strtoul(digits, NULL, 10) == (unsigned long) st.st_uid;
}

/* Warns about a common mistake: the batch job fills the segment of its own user, and the pages read
 * that of another user. */
void php_bloomshm_path_warn(void)
{
	static atomic_bool done;
	if (atomic_load_explicit(&done, memory_order_relaxed) || !php_bloomshm_is_command_line() ||
		atomic_exchange_explicit(&done, true, memory_order_relaxed)) {
		return;
	}
	char *pattern = strstr(BLOOMSHM_G(path), "%u") == NULL ? NULL : expand_path("[0-9]*");
	glob_t found = {0};
	if (pattern != NULL && glob(pattern, 0, NULL, &found) == 0) {
		const ptrdiff_t user_at = strchr(pattern, '[') - pattern;
		for (size_t i = 0; i < (size_t) found.gl_pathc; i++) {
			if (is_users_segment(found.gl_pathv[i], found.gl_pathv[i] + user_at)) {
				fprintf(stderr,
					"bloomshm: this process uses %s, but another user's segment is at %s; pages "
					"that "
					"run as that user do not see what is loaded here\n",
					the_path, found.gl_pathv[i]);
				break;
			}
		}
		globfree(&found);
	}
	free(pattern);
}

void php_bloomshm_path_forget(void)
{
	/* A process does this once with threads: what this frees is of its parent, or of a preload. A
	 * fork between two of the steps finds no word that leads to freed memory. */
	free(atomic_exchange(&old_path, atomic_exchange(&the_path, NULL)));
	of_preload = false;
}
