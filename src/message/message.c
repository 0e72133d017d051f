/*
 * message.c - makes one English sentence of a bshm_error.
 *
 * The sentence says which limit was met, how much was asked for, how much there is, and which
 * setting changes it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "message/message.h"

#include "platform/compiler.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES   1024 /* a record's key may be longer: it is cut */
#define FOLDER_BYTES 4096

#define FOR_A_NEW_SEGMENT   " (for a new segment)"
#define RAISE_FILTER_MEMORY "raise bloomshm.filter_memory" FOR_A_NEW_SEGMENT

/* Writes the sentence, which is cut where it is longer than the room. */
static BSHM_PRINTF(2, 3) const char *say(bshm_message *m, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(m->text, sizeof(m->text), format, arguments);
	va_end(arguments);
	return m->text;
}

const char *bshm_size_text(char out[32], uint64_t bytes)
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

/* A file or folder that the system denies to this process: its owner and mode. */
static const char *denied_message(bshm_message *m, const char *call, int os_code, const char *path)
{
	uint32_t uid;
	uint32_t mode;
	char folder[FOLDER_BYTES];
	const bool file = bshm_owner_of(path, &uid, &mode);
	bshm_folder_of(path, folder, sizeof(folder));
	if (!file && !bshm_owner_of(folder, &uid, &mode)) {
		return say(m,
			"cannot %s %s (bloomshm.path): %s; uid %u may not enter its folder, or one above it",
			call, path, strerror(os_code), bshm_user_id());
	}
	return say(m,
		"cannot %s %s (bloomshm.path): %s; %s belongs to uid %u with the mode %04o, and this "
		"process runs as uid %u; run it as that user, or set bloomshm.path to a place that it may "
		"write",
		call, path, strerror(os_code), file ? "it" : folder, uid, mode, bshm_user_id());
}

/* A system call on the segment's file failed. */
static const char *call_message(bshm_message *m, const bshm_error *e, const char *path)
{
	const char *call = bshm_cause_str(e->cause);
	switch (e->os_code) {
		case EMFILE:
			return say(m,
				"cannot %s %s (bloomshm.path): all %" PRIu64
				" descriptors that this process may have are taken (ulimit -n)",
				call, path, e->available);
		case ELOOP:
			return e->cause == BSHM_CAUSE_CREATE
					   ? say(m, "cannot create %s: a symbolic link %s.new is in the way; remove it",
							 path, path)
					   : say(m,
							 "%s is a symbolic link, and links are not followed; set "
							 "bloomshm.path to the file itself",
							 path);
		case EACCES:
		case EPERM:
			return denied_message(m, call, e->os_code, path);
		default:
			return say(m, "cannot %s %s (bloomshm.path): %s", call, path, strerror(e->os_code));
	}
}

static const char *not_a_file(bshm_message *m, const char *path)
{
	return say(m, "%s is not a regular file", path);
}

static const char *unavailable_message(
	bshm_message *m, const bshm_error *e, const bshm_message_about *about)
{
	const char *path = about->path;
	switch (e->cause) {
		case BSHM_CAUSE_DISABLED:
			return say(m, "bloomshm is switched off (bloomshm.enable = 0)");
		case BSHM_CAUSE_ABSENT:
		case BSHM_CAUSE_ABSENT_AGAIN:
			return say(m, "no segment yet at %s%s; %s", path,
				e->cause == BSHM_CAUSE_ABSENT_AGAIN ? ": the file that this process was attached "
													  "to was removed or renamed, or lies "
													  "outside of the root folder"
													: "",
				about->readonly ? "this process never creates one (bloomshm.readonly = 1), "
								  "one that may write does"
								: "the first call that stores something creates it");
		case BSHM_CAUSE_REMOVED:
			return say(m,
				"%s was removed or replaced while the filter was published in it; repeat the call",
				path);
		case BSHM_CAUSE_HELD:
			return say(m,
				"%s was removed or replaced, and a suspended fiber of this process still uses the "
				"old file; this process changes to the new one when the fiber's call has ended",
				path);
		case BSHM_CAUSE_OTHER_PATH:
			return say(m,
				"this process uses %s since an earlier request, and bloomshm.path is another one "
				"in this request; a process has one path",
				path);
		case BSHM_CAUSE_NO_STORE:
			return say(m,
				"%s has no record store, or one that this process may not write; "
				"bloomshm.cache_memory sets its size" FOR_A_NEW_SEGMENT,
				path);
		case BSHM_CAUSE_TYPE:
			return not_a_file(m, path);
		case BSHM_CAUSE_OWNER:
			return say(m,
				"%s belongs to uid %u, and this process runs as uid %u; run it as that user, or "
				"share the segment within a group with bloomshm.mode = 0660",
				path, e->uid, bshm_user_id());
		case BSHM_CAUSE_TEMPORARY:
			return say(m,
				"cannot create %s: a file %s.new of uid %u is in the way; remove it, or use a "
				"folder of your own (bloomshm.path)",
				path, path, e->uid);
		case BSHM_CAUSE_WIDE_MODE:
			return say(m,
				"%s has the mode %04o, which gives access to more users than bloomshm.mode = %04o",
				path, (unsigned) e->available, (unsigned) e->asked);
		case BSHM_CAUSE_OWNERS:
			return say(m,
				"%s has places for %" PRIu64
				" processes, and all are taken; stop some of its users",
				path, e->available);
		case BSHM_CAUSE_STRANGE_LOCK:
			return say(m,
				"process %" PRIu64 " (0: not known) has locked %s, and is none of the %" PRIu64
				" processes attached to it; stop that process",
				e->process_id, path, e->available);
		case BSHM_CAUSE_REPLACED:
			return say(m, "%s was removed or replaced while this process was attached to it", path);
		case BSHM_CAUSE_REOPEN:
			return say(m,
				"this process is attached to %s, and cannot open it once more to take a lock: %s",
				path, strerror(e->os_code));
		case BSHM_CAUSE_RANDOM:
			return say(m, "the kernel gave no random seed: %s", strerror(e->os_code));
		case BSHM_CAUSE_REST:
			return say(m,
				"%s was in use when the machine stopped, and was not brought to rest before: its "
				"contents may be damaged, and are not used; the next call that stores something "
				"creates a new segment",
				path);
		case BSHM_CAUSE_HOLES:
			return say(m,
				"%s is a sparse copy; attach to it once without bloomshm.readonly, which fills it",
				path);
		case BSHM_CAUSE_DESCRIPTORS:
			return say(m,
				"other code of this process closed the descriptor of %s, and the locks ended with "
				"it; repeat the call",
				path);
		case BSHM_CAUSE_FORK:
			return say(m, "only the process that began a load can finish it");
		case BSHM_CAUSE_PATH:
			return say(m, path[0] == '\0' ? "bloomshm.path is empty, or there is no private memory"
										  : "bloomshm.path is longer than 4,095 bytes");
		default:
			return call_message(m, e, path);
	}
}

/* The segment is not available because another process is working on it. */
static const char *busy_message(bshm_message *m, const bshm_error *e, const char *path)
{
	if (e->cause == BSHM_CAUSE_REPLACED) {
		return say(m, "%s was replaced while this process attached to it", path);
	}
	if (e->cause == BSHM_CAUSE_PRESENCE) {
		return say(m, "another process is writing %s to its disk", path);
	}
	if (e->process_id == 0) {
		return say(m, "another process is still creating %s", path);
	}
	return say(m,
		"process %" PRIu64
		" of uid %u is still creating %s; if it is stopped, continue it or kill it",
		e->process_id, e->uid, path);
}

/* How much is free on the file system of the path, to this user. */
static const char *free_text(char out[32], const char *path)
{
	uint64_t bytes;
	char folder[FOLDER_BYTES];
	bshm_folder_of(path, folder, sizeof(folder));
	return bshm_disk_free(folder, &bytes) ? bshm_size_text(out, bytes) : "some bytes";
}

static const char *no_space_message(
	bshm_message *m, const bshm_error *e, const char *name, const char *path)
{
	char asked[32];
	char there[32];
	bshm_size_text(asked, e->asked);
	bshm_size_text(there, e->available);
	switch (e->cause) {
		case BSHM_CAUSE_FILTER_MEMORY:
			return say(m,
				"the filter takes %s (%" PRIu64 " bytes), and %s (%" PRIu64
				" bytes) are free; " RAISE_FILTER_MEMORY,
				asked, e->asked, there, e->available);
		case BSHM_CAUSE_GROW:
			return say(m,
				"filter \"%s\" is full and must grow by %s (%" PRIu64 " bytes), and %s (%" PRIu64
				" bytes) are free; " RAISE_FILTER_MEMORY,
				name, asked, e->asked, there, e->available);
		case BSHM_CAUSE_RECORD_ROOM:
			return say(m,
				"no room could be made for key and value of %" PRIu64
				" bytes; bloom_verify() tells whether the record store is damaged",
				e->asked);
		case BSHM_CAUSE_RECORD_SIZE:
			return say(m,
				"key and value would be %" PRIu64 " bytes; the record store takes %" PRIu64
				" (a quarter of bloomshm.cache_memory, for a new segment, and 64 MB at most)",
				e->asked, e->available);
		case BSHM_CAUSE_RESERVE:
			return say(m,
				"cannot reserve %s for %s: %s; lower bloomshm.filter_memory or "
				"bloomshm.cache_memory, or make room: %s are free there (a removed file counts "
				"until its last process has detached: reload php-fpm)",
				asked, path, strerror(e->os_code), free_text(there, path));
		case BSHM_CAUSE_OPS:
			return say(m, "%" PRIu64 " loads, copies and clears are running already", e->available);
		case BSHM_CAUSE_DIRECTORY:
			return say(m, "the directory has %" PRIu64 " places for filters, and all are taken; %s",
				e->available,
				e->available < BSHM_FILTER_COUNT_MAX
					? RAISE_FILTER_MEMORY
					: "no segment holds more: drop some, or use another bloomshm.path");
		case BSHM_CAUSE_SOURCES:
			return say(m,
				"the segment names %" PRIu64
				" sources of followed filters, and no more; drop filters that are not needed",
				e->available);
		case BSHM_CAUSE_JOURNAL:
			return say(m,
				"more than %" PRIu64
				" keys were added to the filter while it was loaded or copied; " RAISE_FILTER_MEMORY
				", or repeat the call when fewer keys are added",
				e->available);
		case BSHM_CAUSE_MEMORY:
			return e->available == 0
					   ? say(m, "no private memory left")
					   : say(m, "no private memory left for the load (%s in use)", there);
		default:
			return say(m, "cannot %s %s: %s", bshm_cause_str(e->cause), path, strerror(e->os_code));
	}
}

static const char *type_text(uint32_t type)
{
	static const char *const texts[] = {"null", "false", "true", "an int", "a float", "a string",
		"a serialized array or object", "an array or object of igbinary"};
	return type < sizeof(texts) / sizeof(texts[0]) ? texts[type] : "another value";
}

/* A filter that a call cannot work with; or a record, whose key is `name`. */
static const char *incompatible_message(
	bshm_message *m, const bshm_error *e, const char *name, bool command)
{
	const char *geometry = "";
	switch (e->cause) {
		case BSHM_CAUSE_INT:
		case BSHM_CAUSE_STRING:
			return say(m, "the record \"%s\" holds %s, and %s is needed; it was not changed", name,
				type_text(e->value_type), e->cause == BSHM_CAUSE_INT ? "an int" : "a string");
		case BSHM_CAUSE_COUNTING:
			return say(m, "filter \"%s\" does not count; reserve or load it with %s", name,
				command ? "--counting" : "counting: true");
		case BSHM_CAUSE_FOLLOW:
			return say(m,
				"the segment was made by an older build, which knows no filter that follows "
				"another; save it, remove it and bring it back");
		case BSHM_CAUSE_SENDS:
			return say(m,
				"filter \"%s\" counts, and its adds would come back from the stream and be counted "
				"twice; follow it without --stream",
				name);
		case BSHM_CAUSE_ORIGIN:
			return say(m, "filter \"%s\" is not this version of this source, or a local one", name);
		case BSHM_CAUSE_GEOMETRY:
			geometry = " (made for another capacity or error rate)";
			/* fall through */
		default:
			return say(m, "filter \"%s\" cannot be merged with the others: it has another %s%s",
				name, bshm_cause_str(e->cause), geometry);
	}
}

/* `name` is NULL while the segment itself is looked at. */
static const char *damage_message(
	bshm_message *m, const bshm_error *e, const char *name, const char *path)
{
	if (e->status == BSHM_E_INCOMPATIBLE) {
		return say(
			m, "%s was made by a build with another layout; stop its users and remove it", path);
	}
	if (name != NULL) {
		return say(m, "filter \"%s\" in %s is damaged (%s); drop it, or load it anew", name, path,
			bshm_cause_str(e->cause));
	}
	if (e->cause == BSHM_CAUSE_MAGIC) {
		return say(m, "%s is not a bloomshm segment", path);
	}
	if (e->cause == BSHM_CAUSE_SIZE && e->available < e->asked && e->asked <= 4096) {
		return say(m,
			"%s is not a bloomshm segment: it is %" PRIu64
			" bytes long, and the header of a segment is %" PRIu64,
			path, e->available, e->asked);
	}
	if (e->cause == BSHM_CAUSE_SIZE) {
		return say(m,
			"%s is %" PRIu64 " bytes long and should be %" PRIu64 "; it was cut short or extended",
			path, e->available, e->asked);
	}
	return say(m, "%s is damaged (%s)", path, bshm_cause_str(e->cause));
}

static const char *exists_message(bshm_message *m, const bshm_error *e, const char *name)
{
	switch (e->cause) {
		case BSHM_CAUSE_SEED:
			return say(m, "filter \"%s\" exists already, with another seed", name);
		case BSHM_CAUSE_COUNTING:
			return say(m, "filter \"%s\" exists already, with counting: %s; asked for: %s", name,
				e->available != 0 ? "true" : "false", e->asked != 0 ? "true" : "false");
		case BSHM_CAUSE_ERROR_RATE:
			return say(m, "filter \"%s\" exists already, with error_rate: %.6g; asked for: %.6g",
				name, e->rate, e->rate_asked);
		default:
			return say(m, "filter \"%s\" exists already, with %s: %" PRIu64 "; asked for: %" PRIu64,
				name, bshm_cause_str(e->cause), e->available, e->asked);
	}
}

static const char *timeout_message(
	bshm_message *m, const bshm_error *e, const char *name, const char *path)
{
	switch (e->cause) {
		case BSHM_CAUSE_SHARD:
			return say(m, "another process holds a lock of the record store, which "
						  "could not be taken in time");
		case BSHM_CAUSE_ATTACH:
			return say(m, "another thread of this process attaches to %s", path);
		case BSHM_CAUSE_LOCK:
			return say(
				m, "the lock of %s could not be taken within %" PRIu64 " ms", path, e->asked);
		default:
			return say(m, "filter \"%s\" kept changing (%s)", name, bshm_cause_str(e->cause));
	}
}

const char *bshm_message_say(bshm_message *m, const bshm_error *e, const bshm_message_about *about)
{
	const char *path = about->path;
	char name[NAME_BYTES] = "";
	if (about->name != NULL) {
		snprintf(name, sizeof(name), "%s", about->name);
	}
	const char *filter = about->name == NULL ? NULL : name;
	switch (e->status) {
		case BSHM_E_UNAVAILABLE:
			return unavailable_message(m, e, about);
		case BSHM_E_NO_SPACE:
			return no_space_message(m, e, name, path);
		case BSHM_E_INCOMPATIBLE:
			return e->cause == BSHM_CAUSE_LAYOUT ? damage_message(m, e, filter, path)
												 : incompatible_message(m, e, name, about->command);
		case BSHM_E_CORRUPT:
			return damage_message(m, e, filter, path);
		case BSHM_E_FULL:
			return say(m,
				"filter \"%s\" is full: it would hold %" PRIu64 " keys, its capacity is %" PRIu64
				" and it does not grow (expansion 0)",
				name, e->asked, e->available);
		case BSHM_E_EXISTS:
			return exists_message(m, e, name);
		case BSHM_E_NOT_FOUND:
			return say(m,
				e->cause == BSHM_CAUSE_ABSENT
					? "filter \"%s\" is not published: there is no segment yet at %s"
					: "filter \"%s\" is not published in %s",
				name, path);
		case BSHM_E_READ_ONLY:
			return say(m, "the filters are mapped read-only (bloomshm.readonly = 1)");
		case BSHM_E_ERROR_RATE:
			return say(m,
				"filter \"%s\" would be wrong for %.6g of all absent keys, which is more than "
				"%s, %.6g; nothing was published",
				name, e->rate, about->command ? "--max-error-rate" : "$max_error_rate",
				e->rate_asked);
		case BSHM_E_RANGE:
			return say(m,
				"%" PRId64 " %s %" PRId64
				" is outside the range of an int; the record \"%s\" was not changed",
				(int64_t) e->available, e->cause == BSHM_CAUSE_DECREMENT ? "minus" : "plus",
				(int64_t) e->asked, name);
		case BSHM_E_TIMEOUT:
			return timeout_message(m, e, name, path);
		case BSHM_E_BUSY:
			return busy_message(m, e, path);
		default:
			return say(m, "%s", bshm_status_str(e->status));
	}
}

/* Is the file of a filter or of records damaged? Every other damage is the segment's. */
static bool is_damaged_file(const bshm_error *e)
{
	switch (e->cause) {
		case BSHM_CAUSE_MAGIC:
		case BSHM_CAUSE_TRUNCATED:
		case BSHM_CAUSE_TRAILING_BYTES:
		case BSHM_CAUSE_HEADER:
		case BSHM_CAUSE_LAYER:
		case BSHM_CAUSE_RECORD:
		case BSHM_CAUSE_CHECKSUM:
		case BSHM_CAUSE_GROUP:
			return e->status == BSHM_E_CORRUPT;
		default:
			return false;
	}
}

static const char *io_message(bshm_message *m, const bshm_error *e, const char *path)
{
	if (e->cause == BSHM_CAUSE_OPEN_BASEDIR) {
		return say(m, "open_basedir does not allow the file %s", path);
	}
	if (e->cause == BSHM_CAUSE_OPEN && e->os_code == EINVAL) {
		return not_a_file(m, path);
	}
	return say(
		m, "cannot %s the file %s: %s", bshm_cause_str(e->cause), path, strerror(e->os_code));
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
	if (magic == BSHM_DELTA_FILE_MAGIC) {
		return "; it holds a delta, for bloomshm patch";
	}
	if (magic == BSHM_SEGMENT_MAGIC) {
		return "; it is a segment, for bloomshm.path";
	}
	return (magic & 0xffff) == 0x8b1f ? "; it is compressed by gzip" : "";
}

const char *bshm_message_file(bshm_message *m, const bshm_error *e, const char *path, bool filter)
{
	if (e->status == BSHM_E_IO) {
		return io_message(m, e, path);
	}
	if (e->status == BSHM_E_INCOMPATIBLE && e->cause == BSHM_CAUSE_BYTE_ORDER) {
		return say(m, "the file %s holds %s in the other byte order", path,
			filter ? "a filter" : "records");
	}
	if (e->status == BSHM_E_INCOMPATIBLE && e->cause == BSHM_CAUSE_VERSION) {
		return say(m,
			"the file %s has the format version %" PRIu64 ", and this build reads version %" PRIu64,
			path, e->available, e->asked);
	}
	if (!is_damaged_file(e)) {
		return NULL;
	}
	if (e->cause == BSHM_CAUSE_MAGIC) {
		return say(m, "the file %s was not made by %s()%s", path,
			filter ? "bloom_dump" : "bloom_cache_dump", sort_of_file(e->magic));
	}
	return say(
		m, "the file %s is damaged (%s); nothing was changed", path, bshm_cause_str(e->cause));
}
