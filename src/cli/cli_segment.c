/*
 * cli_segment.c - which segment, as which user.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli.h"

#include "message/message.h"

#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PATH  "/dev/shm/bloomshm.%u"
#define WAIT_NS       UINT64_C(1000000000)
#define NAP_US        2000
#define FILTER_MEMORY (UINT64_C(32) << 20)
#define CACHE_MEMORY  (UINT64_C(16) << 20)
#define RECORDS_MAX   (UINT64_C(1) << 32)

/* ------------------------------------------------------------------ user */

/* For good, or not at all. */
int cli_become(const cli *c)
{
	const char *name = c->values[CLI_USER];
	if (name == NULL) {
		return CLI_YES;
	}
	errno = 0;
	const struct passwd *user = getpwnam(name);
	if (user == NULL) {
		return errno == 0 ? cli_say(c, CLI_USAGE, "there is no user \"%s\" (--user)", name)
						  : cli_say(c, CLI_FAILED, "cannot look up the user \"%s\": %s", name,
								strerror(errno));
	}
	if (user->pw_uid == getuid() && user->pw_uid == geteuid()) {
		return CLI_YES;
	}
	if (geteuid() != 0) {
		return cli_say(c, CLI_FAILED, "only root can become another user (--user %s)", name);
	}
	const uid_t uid = user->pw_uid;
	const gid_t gid = user->pw_gid;
	if (initgroups(name, gid) != 0 || setgid(gid) != 0 || setuid(uid) != 0) {
		return cli_say(c, CLI_FAILED, "cannot become the user \"%s\": %s", name, strerror(errno));
	}
	if (getuid() != uid || geteuid() != uid || getegid() != gid || (uid != 0 && setuid(0) == 0)) {
		return cli_say(c, CLI_FAILED, "cannot become the user \"%s\" for good", name);
	}
	return CLI_YES;
}

/* ------------------------------------------------------------------ path */

/* The pattern with each %u replaced by `user`; NULL: no memory. */
static char *expand(const char *pattern, const char *user)
{
	const size_t length = strlen(user);
	char *out = malloc(strlen(pattern) * (length + 1) + 1);
	char *to = out;
	while (out != NULL && *pattern != '\0') {
		if (pattern[0] == '%' && pattern[1] == 'u') {
			to = mempcpy(to, user, length);
			pattern += 2;
		} else {
			*to++ = *pattern++;
		}
	}
	if (out != NULL) {
		*to = '\0';
	}
	return out;
}

static const char *pattern_of(const cli *c)
{
	const char *named = cli_given(c, CLI_PATH) ? c->values[CLI_PATH] : getenv("BLOOMSHM_PATH");
	return named == NULL || (*named == '\0' && !cli_given(c, CLI_PATH)) ? DEFAULT_PATH : named;
}

/* The segment of another user at the default path; NULL: there is none. */
static const char *others_segment(const cli *c, const char **owner)
{
	glob_t found = {0};
	char *pattern = strstr(pattern_of(c), "%u") == NULL ? NULL : expand(pattern_of(c), "[0-9]*");
	if (pattern == NULL || glob(pattern, 0, NULL, &found) != 0) {
		return NULL;
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct stat st;
		const char *path = found.gl_pathv[i];
		const char *digits = path + strlen(path);
		while (digits > path && digits[-1] >= '0' && digits[-1] <= '9') {
			digits--;
		}
		if (strcmp(path, c->path) != 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
			strtoul(digits, NULL, 10) == st.st_uid) {
			const struct passwd *user = getpwuid(st.st_uid);
			*owner = user == NULL ? "NAME" : user->pw_name;
			return path;
		}
	}
	return NULL;
}

/* ------------------------------------------------------------------ attach */

static bool read_settings(const cli *c, bool create, bshm_options *o)
{
	uint64_t mode;
	char *end;
	const char *octal = cli_given(c, CLI_MODE) ? c->values[CLI_MODE] : "0600";
	mode = strtoul(octal, &end, 8);
	if (*octal == '\0' || *end != '\0' || mode > 0777) {
		cli_say(c, CLI_USAGE, "--mode must be octal, from 0 to 0777, \"%s\" given", octal);
		return false;
	}
	*o = (bshm_options){.path = c->path,
		.mode = (uint32_t) mode,
		.readonly = cli_given(c, CLI_READONLY),
		.attach_only = !create};
	if (!cli_size(c, CLI_CACHE_MEMORY, 0, BSHM_CACHE_BYTES_MAX, CACHE_MEMORY, &o->cache_bytes)) {
		return false;
	}
	if (o->cache_bytes != 0 && o->cache_bytes < BSHM_CACHE_BYTES_MIN) {
		cli_say(c, CLI_USAGE, "--cache-memory must be 0, or at least 1M, \"%s\" given",
			c->values[CLI_CACHE_MEMORY]);
		return false;
	}
	return cli_size(c, CLI_FILTER_MEMORY, BSHM_FILTER_BYTES_MIN, BSHM_FILTER_BYTES_MAX,
			   FILTER_MEMORY, &o->filter_bytes) &&
		   cli_number(c, CLI_CACHE_RECORDS, 0, RECORDS_MAX, 0, &o->cache_records);
}

bool cli_is_absent(const bshm_error *error)
{
	return error->status == BSHM_E_UNAVAILABLE && error->cause == BSHM_CAUSE_ABSENT;
}

int cli_place(cli *c)
{
	char user[BSHM_USER_TEXT_BYTES];
	const int status = cli_become(c);
	if (status != CLI_YES) {
		return status;
	}
	bshm_user_text(user);
	c->path = expand(pattern_of(c), user);
	return c->path == NULL ? cli_no_memory(c) : CLI_YES;
}

int cli_attach_or(cli *c, bool create, bshm_error *error)
{
	bshm_options options;
	*error = (bshm_error){0};
	const int status = cli_place(c);
	if (status != CLI_YES) {
		return status;
	}
	if (!read_settings(c, create, &options)) {
		return CLI_USAGE;
	}
	const uint64_t start = bshm_now_ns();
	while (bshm_segment_open(&options, &c->segment, error) == BSHM_E_BUSY &&
		   bshm_now_ns() - start < WAIT_NS) {
		bshm_sleep_us(NAP_US);
	}
	if (c->segment != NULL && (c->views = bshm_views_new()) == NULL) {
		return cli_no_memory(c);
	}
	return c->segment == NULL ? CLI_FAILED : CLI_YES;
}

int cli_attach_fail(const cli *c, int status, const bshm_error *error)
{
	if (status == CLI_YES || error->status == BSHM_OK) {
		return status;
	}
	const char *owner = NULL;
	const char *other = cli_is_absent(error) ? others_segment(c, &owner) : NULL;
	if (other != NULL) {
		return cli_say(c, CLI_FAILED, "no segment yet at %s; another user's is at %s: --user %s",
			c->path, other, owner);
	}
	return cli_fail(c, error, NULL);
}

int cli_attach(cli *c, bool create)
{
	bshm_error error;
	return cli_attach_fail(c, cli_attach_or(c, create, &error), &error);
}

void cli_detach(cli *c)
{
	bshm_views_free(c->views);
	bshm_segment_close(c->segment);
	c->views = NULL;
	c->segment = NULL;
}

int cli_published(cli *c)
{
	if (bshm_segment_at_path(c->segment)) {
		return CLI_YES;
	}
	const bshm_error error = {.status = BSHM_E_UNAVAILABLE, .cause = BSHM_CAUSE_REMOVED};
	return cli_fail(c, &error, NULL);
}

/* ------------------------------------------------------------------ names */

static int compare_names(const void *a, const void *b)
{
	const cli_name *x = a;
	const cli_name *y = b;
	const int order = memcmp(x->bytes, y->bytes, x->length < y->length ? x->length : y->length);
	return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

cli_name *cli_names(cli *c, size_t *count)
{
	size_t room = 64;
	cli_name *names = malloc(room * sizeof(*names));
	uint32_t cursor = 0;
	*count = 0;
	do {
		if (*count == room) {
			room *= 2;
			cli_name *more = realloc(names, room * sizeof(*names));
			if (more == NULL) {
				free(names);
			}
			names = more;
		}
		if (names == NULL) {
			cli_no_memory(c);
			return NULL;
		}
		cli_name *name = &names[*count];
		name->length = bshm_filter_next(c->segment, &cursor, name->bytes);
		name->bytes[name->length] = '\0';
		*count += name->length != 0;
	} while (cursor != 0);
	qsort(names, *count, sizeof(*names), compare_names);
	return names;
}
