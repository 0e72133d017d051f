/*
 * php_explain.c - an error record to one English sentence.
 *
 * The sentence says which limit was met, how much was asked for, how much there is, and which
 * setting changes it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_explain.h"
#include "php_path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* "12.8 MB": decimal, as the sizes of files are told. */
static const char *size_text(char out[32], uint64_t bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
	double value = (double) bytes;
	size_t unit = 0;
	while (value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1000;
		unit++;
	}
	snprintf(out, 32, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
	return out;
}

/* A file or folder that the system does not let this process have: whose it is. */
static zend_string *explain_denied(const char *op, int os_code, const char *path)
{
	zend_stat_t st;
	char folder[MAXPATHLEN];
	const bool file = VCWD_LSTAT(path, &st) == 0;
	snprintf(folder, sizeof(folder), "%s", path);
	if (!file) {
		zend_dirname(folder, strlen(folder));
	}
	if (!file && VCWD_LSTAT(folder, &st) != 0) {
		return zend_strpprintf(0,
			"cannot %s %s (bloomshm.path): %s; uid %u may not enter its folder, or one above it",
			op, path, strerror(os_code), (unsigned) geteuid());
	}
	return zend_strpprintf(0,
		"cannot %s %s (bloomshm.path): %s; %s belongs to uid %u with the mode %04o, and this "
		"process runs as "
		"uid %u; run it as that user, or set bloomshm.path to a place that it may write",
		op, path, strerror(os_code), file ? "it" : folder, (unsigned) st.st_uid,
		(unsigned) st.st_mode & 07777, (unsigned) geteuid());
}

static zend_string *explain_path(const char *op, int os_code, const char *path)
{
	if (os_code == ELOOP && strcmp(op, "create") == 0) {
		return zend_strpprintf(
			0, "cannot create %s: a symbolic link %s.new is in the way; remove it", path, path);
	}
	if (os_code == ELOOP) {
		return zend_strpprintf(0,
			"%s is a symbolic link, and links are not followed; set bloomshm.path to the file "
			"itself",
			path);
	}
	if (os_code == EACCES || os_code == EPERM) {
		return explain_denied(op, os_code, path);
	}
	return zend_strpprintf(0, "cannot %s %s (bloomshm.path): %s", op, path, strerror(os_code));
}

static zend_string *explain_unavailable(const bshm_error *e, const char *path)
{
	const char *op = e->op;
	if (strcmp(op, "enable") == 0) {
		return zend_strpprintf(0, "bloomshm is switched off (bloomshm.enable = 0)");
	}
	if (strcmp(op, "absent") == 0) {
		return zend_strpprintf(0, "no segment yet at %s%s; %s", path,
			e->asked ? ": the file that this process was attached to was removed" : "",
			e->available
				? "this process never creates one (bloomshm.readonly = 1), one that may write does"
				: "the first call that stores something creates it");
	}
	if (strcmp(op, "removed") == 0) {
		return zend_strpprintf(
			0, "%s was removed meanwhile, and what was published in it with it; do it again", path);
	}
	if (strcmp(op, "held") == 0) {
		return zend_strpprintf(0,
			"%s was removed or replaced, and a suspended fiber of this process still uses what was "
			"there; "
			"when its call has ended, this process goes over to what is there now",
			path);
	}
	if (strcmp(op, "store") == 0) {
		return zend_strpprintf(0,
			"%s has no record store that could be written (bloomshm.cache_memory, for a new "
			"segment)",
			path);
	}
	if (strcmp(op, "type") == 0) {
		return zend_strpprintf(0, "%s is not a regular file", path);
	}
	if (strcmp(op, "owner") == 0) {
		return zend_strpprintf(0,
			"%s belongs to uid %" PRIu64 ", and this process runs as uid %" PRIu64
			"; run it as that user, or share the segment within a group with bloomshm.mode = 0660",
			path, e->available, e->asked);
	}
	if (strcmp(op, "temporary") == 0) {
		return zend_strpprintf(0,
			"cannot create %s: a file %s.new of uid %" PRIu64
			" is in the way; remove it, or use a folder of your own (bloomshm.path)",
			path, path, e->available);
	}
	if (strcmp(op, "mode") == 0 && e->os_code == 0) {
		return zend_strpprintf(0,
			"%s has the mode %04o, which lets in more users than bloomshm.mode = %04o", path,
			(unsigned) e->available, (unsigned) e->asked);
	}
	if (strcmp(op, "owners") == 0) {
		return zend_strpprintf(0,
			"%" PRIu64 " processes are attached to %s already, and no more can be", e->available,
			path);
	}
	if (strcmp(op, "strange lock") == 0) {
		return zend_strpprintf(0,
			"a program that is none of the %" PRIu64 " processes attached to %s has locked it "
			"(process %" PRIu64 "; 0: not known); stop that program",
			e->available, path, e->asked);
	}
	if (strcmp(op, "replaced") == 0) {
		return zend_strpprintf(0, "%s was replaced while this process was attached to it", path);
	}
	if (strcmp(op, "reopen") == 0) {
		return zend_strpprintf(0,
			"this process is attached to %s, and cannot open it once more to take a lock: %s", path,
			strerror(e->os_code));
	}
	if (strcmp(op, "random") == 0) {
		return zend_strpprintf(0, "the kernel gave no random seed: %s", strerror(e->os_code));
	}
	if (strcmp(op, "rest") == 0) {
		return zend_strpprintf(0,
			"%s was in use when the machine stopped, and was not brought to rest before: what it "
			"holds "
			"may be torn and is not believed; the next call that stores something makes a new one",
			path);
	}
	if (strcmp(op, "holes") == 0) {
		return zend_strpprintf(
			0, "%s is a copy with holes; attach to it once without bloomshm.readonly", path);
	}
	if (strcmp(op, "descriptors") == 0) {
		return zend_strpprintf(0,
			"the work was given up: other code of this process closed the descriptor of %s, on "
			"whose "
			"file system the locks end with it",
			path);
	}
	if (strcmp(op, "fork") == 0) {
		return zend_strpprintf(0, "a load can only be finished by the process that began it");
	}
	if (strcmp(op, "path") == 0) {
		return zend_strpprintf(
			0, path[0] == '\0' ? "bloomshm.path is empty, or there was no private memory left "
								 "to work it out"
							   : "bloomshm.path is longer than 4,095 bytes");
	}
	if (e->os_code == EMFILE) {
		return zend_strpprintf(0,
			"cannot %s %s (bloomshm.path): all %" PRIu64
			" descriptors that this process may have are taken (ulimit -n)",
			op, path, e->available);
	}
	return explain_path(op, e->os_code, path);
}

/* The segment could not be had because of what another process does just now. */
static zend_string *explain_busy(const bshm_error *e, const char *path)
{
	if (strcmp(e->op, "replaced") == 0) {
		return zend_strpprintf(0, "%s was replaced while this process attached to it", path);
	}
	if (strcmp(e->op, "presence") == 0) {
		return zend_strpprintf(0, "another process is writing %s to its disk", path);
	}
	if (e->asked == 0) {
		return zend_strpprintf(0, "another process is still creating %s", path);
	}
	return zend_strpprintf(0,
		"another process, %" PRIu64 " of uid %" PRIu64
		", is still creating %s; if it is stopped, let it go on or kill it",
		e->asked, e->available, path);
}

/* How much is free on the file system of the path, to this user. */
static const char *free_text(char out[32], const char *path)
{
	struct statvfs system;
	char folder[MAXPATHLEN];
	snprintf(folder, sizeof(folder), "%s", path);
	zend_dirname(folder, strlen(folder));
	const bool known = statvfs(folder, &system) == 0;
	return known ? size_text(out, (uint64_t) system.f_bavail * system.f_frsize) : "some bytes";
}

static zend_string *explain_no_space(const bshm_error *e, const char *name, const char *path)
{
	const char *op = e->op;
	char asked[32];
	char there[32];
	size_text(asked, e->asked);
	size_text(there, e->available);
	if (strcmp(op, "filter_memory") == 0) {
		return zend_strpprintf(0,
			"the filter takes %s (%" PRIu64 " bytes), and %s (%" PRIu64
			" bytes) are free; raise bloomshm.filter_memory (for a new segment)",
			asked, e->asked, there, e->available);
	}
	if (strcmp(op, "grow") == 0) {
		return zend_strpprintf(0,
			"filter \"%s\" is full and must grow by %s (%" PRIu64 " bytes), and %s (%" PRIu64
			" bytes) are free; raise bloomshm.filter_memory (for a new segment)",
			name, asked, e->asked, there, e->available);
	}
	if (strcmp(op, "record") == 0 && e->available == 0) {
		return zend_strpprintf(0,
			"no room could be made for key and value of %" PRIu64
			" bytes; bloom_verify() tells whether the record store "
			"is damaged",
			e->asked);
	}
	if (strcmp(op, "record") == 0) {
		return zend_strpprintf(0,
			"key and value would be %" PRIu64 " bytes; the record store takes %" PRIu64
			" (a quarter of bloomshm.cache_memory, for a new segment, and 64 MB at most)",
			e->asked, e->available);
	}
	if (strcmp(op, "reserve") == 0) {
		return zend_strpprintf(0,
			"cannot reserve %s for %s: %s; lower bloomshm.filter_memory or bloomshm.cache_memory, "
			"or "
			"make room: %s are free there (a removed file counts until its last user has let go: "
			"reload php-fpm)",
			asked, path, strerror(e->os_code), free_text(there, path));
	}
	if (strcmp(op, "ops") == 0) {
		return zend_strpprintf(
			0, "%" PRIu64 " loads, copies and clears are running already", e->available);
	}
	if (strcmp(op, "directory") == 0) {
		return zend_strpprintf(0, "the directory holds %" PRIu64 " filters, and all are taken; %s",
			e->available,
			e->available < BSHM_FILTER_COUNT_MAX
				? "raise bloomshm.filter_memory (for a new segment)"
				: "no segment holds more: drop some, or use another bloomshm.path");
	}
	if (strcmp(op, "journal") == 0) {
		return zend_strpprintf(0,
			"more than %" PRIu64 " keys were added to the filter while it was made anew; raise "
			"bloomshm.filter_memory (for a new segment), or do it when less is added",
			e->available);
	}
	if (strcmp(op, "memory") == 0) {
		return e->available == 0
				   ? zend_strpprintf(0, "no private memory left")
				   : zend_strpprintf(0, "no private memory left for the load (%s in use)", there);
	}
	return zend_strpprintf(0, "cannot %s %s: %s", op, path, strerror(e->os_code));
}

static const char *type_text(uint64_t type)
{
	static const char *const texts[] = {"null", "false", "true", "an int", "a float", "a string",
		"a serialized array or object", "an array or object of igbinary"};
	return type < sizeof(texts) / sizeof(texts[0]) ? texts[type] : "another value";
}

/* A filter that a call cannot work with; or a record, whose key is `name`. */
static zend_string *explain_incompatible(const bshm_error *e, const char *name)
{
	if (strcmp(e->op, "int") == 0 || strcmp(e->op, "string") == 0) {
		return zend_strpprintf(0,
			"the record \"%s\" holds %s, and %s %s is needed; it was not changed", name,
			type_text(e->available), strcmp(e->op, "int") == 0 ? "an" : "a", e->op);
	}
	if (strcmp(e->op, "counting") == 0) {
		return zend_strpprintf(
			0, "filter \"%s\" does not count; reserve or load it with counting: true", name);
	}
	return zend_strpprintf(0, "filter \"%s\" cannot be merged with the others: it has another %s%s",
		name, e->op,
		strcmp(e->op, "geometry") == 0 ? " (made for another capacity or error rate)" : "");
}

/* `name` is NULL while the segment itself is looked at. */
static zend_string *explain_damage(const bshm_error *e, const char *name, const char *path)
{
	if (e->status == BSHM_E_INCOMPATIBLE) {
		return zend_strpprintf(
			0, "%s was made by a build with another layout; stop its users and remove it", path);
	}
	if (name != NULL) {
		return zend_strpprintf(0, "filter \"%s\" in %s is damaged (%s)", name, path, e->op);
	}
	if (strcmp(e->op, "magic") == 0) {
		return zend_strpprintf(0, "%s is not a bloomshm segment", path);
	}
	if (strcmp(e->op, "size") == 0 && e->available < e->asked && e->asked <= 4096) {
		return zend_strpprintf(0,
			"%s is no bloomshm segment: it is %" PRIu64
			" bytes long, and a segment's header is %" PRIu64,
			path, e->available, e->asked);
	}
	if (strcmp(e->op, "size") == 0) {
		return zend_strpprintf(0,
			"%s is %" PRIu64 " bytes long and should be %" PRIu64 "; it was cut short or extended",
			path, e->available, e->asked);
	}
	return zend_strpprintf(0, "%s is damaged (%s)", path, e->op);
}

static zend_string *explain_exists(const bshm_error *e, const char *name)
{
	if (strcmp(e->op, "seed") == 0) {
		return zend_strpprintf(0, "filter \"%s\" exists already, with another seed", name);
	}
	if (strcmp(e->op, "counting") == 0) {
		return zend_strpprintf(0, "filter \"%s\" exists already, with counting: %s; asked for: %s",
			name, e->available != 0 ? "true" : "false", e->asked != 0 ? "true" : "false");
	}
	if (strcmp(e->op, "error_rate") == 0) {
		return zend_strpprintf(0,
			"filter \"%s\" exists already, with error_rate: %.6g; asked for: %.6g", name, e->rate,
			e->rate_asked);
	}
	return zend_strpprintf(0,
		"filter \"%s\" exists already, with %s: %" PRIu64 "; asked for: %" PRIu64, name, e->op,
		e->available, e->asked);
}

zend_string *php_bloomshm_explain(const bshm_error *e, const char *filter)
{
	const char *path = php_bloomshm_path();
	const char *name = filter == NULL ? "" : filter;
	switch (e->status) {
		case BSHM_E_UNAVAILABLE:
			return explain_unavailable(e, path);
		case BSHM_E_NO_SPACE:
			return explain_no_space(e, name, path);
		case BSHM_E_INCOMPATIBLE:
			return strcmp(e->op, "layout") == 0 ? explain_damage(e, filter, path)
												: explain_incompatible(e, name);
		case BSHM_E_CORRUPT:
			return explain_damage(e, filter, path);
		case BSHM_E_FULL:
			return zend_strpprintf(0,
				"filter \"%s\" is full: it would hold %" PRIu64 " keys, its capacity is %" PRIu64
				" and it does not grow (expansion 0)",
				name, e->asked, e->available);
		case BSHM_E_EXISTS:
			return explain_exists(e, name);
		case BSHM_E_NOT_FOUND:
			return zend_strpprintf(0, "filter \"%s\" is not published in %s", name, path);
		case BSHM_E_READ_ONLY:
			return zend_strpprintf(0, "the filters are mapped read-only (bloomshm.readonly = 1)");
		case BSHM_E_ERROR_RATE:
			return zend_strpprintf(0,
				"filter \"%s\" would be wrong for %.6g of all absent keys, which is more than "
				"$max_error_rate, %.6g; nothing was published",
				name, e->rate, e->rate_asked);
		case BSHM_E_RANGE:
			return zend_strpprintf(0,
				"%" PRId64 " %s %" PRId64
				" would go past the edge of an int; the record \"%s\" was not changed",
				(int64_t) e->available, strcmp(e->op, "int, down") == 0 ? "less" : "and",
				(int64_t) e->asked, name);
		case BSHM_E_TIMEOUT:
			if (strcmp(e->op, "shard") == 0) {
				return zend_strpprintf(
					0, "the record could not be changed in time: another process held the lock");
			}
			if (strcmp(e->op, "attach") == 0) {
				return zend_strpprintf(0, "another thread of this process attaches to %s", path);
			}
			return strcmp(e->op, "lock") == 0
					   ? zend_strpprintf(0, "the lock of %s could not be had within %" PRIu64 " ms",
							 path, e->asked)
					   : zend_strpprintf(0, "filter \"%s\" kept changing (%s)", name, e->op);
		case BSHM_E_BUSY:
			return explain_busy(e, path);
		default:
			return zend_strpprintf(0, "%s", bshm_status_str(e->status));
	}
}

/* What a file of a filter can have wrong; every other damage is the segment's. */
static bool is_damaged_file(const bshm_error *e)
{
	static const char *const faults[] = {
		"magic", "truncated", "trailing bytes", "header", "layer", "record", "checksum"};
	for (size_t i = 0; e->status == BSHM_E_CORRUPT && i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (strcmp(e->op, faults[i]) == 0) {
			return true;
		}
	}
	return false;
}

static zend_string *explain_io(const bshm_error *e, const char *path)
{
	if (strcmp(e->op, "open_basedir") == 0) {
		return zend_strpprintf(0, "open_basedir does not allow the file %s", path);
	}
	if (strcmp(e->op, "open") == 0 && e->os_code == EINVAL) {
		return zend_strpprintf(0, "%s is not a regular file", path);
	}
	return zend_strpprintf(0, "cannot %s the file %s: %s",
		strcmp(e->op, "publish") == 0 ? "replace" : e->op, path, strerror(e->os_code));
}

static bool is_filter_file(void)
{
	return strcmp(get_active_function_name(), "bloom_restore") == 0;
}

/* What else the file is, by its first bytes. */
static const char *sort_of_file(uint64_t magic)
{
	if (magic == BSHM_FILTER_FILE_MAGIC) {
		return "; it holds a filter, for bloom_restore()";
	}
	if (magic == BSHM_RECORD_FILE_MAGIC) {
		return "; it holds records, for bloom_cache_restore()";
	}
	if (magic == BSHM_SEGMENT_MAGIC) {
		return "; it is a segment, for bloomshm.path";
	}
	return (magic & 0xffff) == 0x8b1f ? "; it is compressed by gzip" : "";
}

zend_string *php_bloomshm_explain_file(const bshm_error *e, const char *path)
{
	if (e->status == BSHM_E_IO) {
		return explain_io(e, path);
	}
	if (e->status == BSHM_E_INCOMPATIBLE && strcmp(e->op, "byte order") == 0) {
		return zend_strpprintf(0, "the file %s holds %s in the other byte order", path,
			is_filter_file() ? "a filter" : "records");
	}
	if (e->status == BSHM_E_INCOMPATIBLE && strcmp(e->op, "version") == 0) {
		return zend_strpprintf(0,
			"the file %s has the format version %" PRIu64 ", and this build reads version %" PRIu64,
			path, e->available, e->asked);
	}
	if (!is_damaged_file(e)) {
		return NULL;
	}
	if (strcmp(e->op, "magic") == 0) {
		return zend_strpprintf(0, "the file %s was not made by %s()%s", path,
			is_filter_file() ? "bloom_dump" : "bloom_cache_dump", sort_of_file(e->available));
	}
	return zend_strpprintf(0, "the file %s is damaged (%s); nothing was changed", path, e->op);
}
