/*
 * fleet_folder.c - a folder of heads and blobs.
 *
 * Every name is looked up in an open folder, and no link is followed below it.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fleet/fleet_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PART          ".part-"
#define ENGINE_PART   ".bloomshm." /* of a file that the engine is writing */
#define BUFFER_BYTES  65536
#define NAPS_A_SECOND 20

/* ------------------------------------------------------------------ the folder */

static bool fail(fleet_error *error, const char *what, const char *path)
{
	return fleet_fail(error, "cannot %s %s: %s", what, path, strerror(errno));
}

/* Whatever the umask was when it was made, and the mode of the folder around it. */
static void permit(int fd, mode_t mode)
{
	struct stat st;
	if (fstat(fd, &st) == 0 && (st.st_mode & mode) != mode) {
		fchmod(fd, (st.st_mode | mode) & 07777);
	}
}

/*
 * A folder in an open one, which is made if it is not there; -1. Where its files may be read it may
 * be searched.
 */
static int open_inside(int parent, const char *name, mode_t files)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(parent, name, flags);
	if (fd < 0 && errno == ENOENT) {
		mkdirat(parent, name, 0700);
		fd = openat(parent, name, flags);
	}
	if (fd >= 0) {
		permit(fd, files | 0100 | (files & 0444) >> 2);
	}
	return fd;
}

/* The folder's name may be new. It stays so where this user may not read the folder around it. */
static void sync_around(int fd)
{
	const int parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent >= 0) {
		fsync(parent);
		close(parent);
	}
}

static bool open_at(fleet_folder *f, const char *path, int flags, fleet_error *error)
{
	struct stat st;
	*f = (fleet_folder){.path = strdup(path), .fd = -1, .blobs = -1};
	if (f->path == NULL) {
		return fleet_fail(error, "no private memory left");
	}
	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		return fail(error, "make the folder", path);
	}
	f->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	if (f->fd < 0 || fstat(f->fd, &st) != 0) {
		return fail(error, "open the folder", path);
	}
	sync_around(f->fd);
	f->mode = 0600 | (st.st_mode & 0044);
	return true;
}

static bool open_blobs(fleet_folder *f, fleet_error *error)
{
	f->blobs = open_inside(f->fd, FLEET_BLOBS, f->mode);
	return f->blobs >= 0 || fail(error, "open the folder of blobs in", f->path);
}

bool fleet_folder_open(fleet_folder *f, const char *path, fleet_error *error)
{
	return open_at(f, path, 0, error) && open_blobs(f, error);
}

bool fleet_folder_open_own(fleet_folder *f, const char *path, fleet_error *error)
{
	struct stat st;
	if (!open_at(f, path, O_NOFOLLOW, error)) {
		return false;
	}
	if (fstat(f->fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 0022) != 0) {
		return fleet_fail(error,
			"the folder %s is not trusted: it must belong to this user, and nobody else may write "
			"to it (uid %u, mode %04o)",
			path, (unsigned) st.st_uid, (unsigned) st.st_mode & 07777);
	}
	return open_blobs(f, error);
}

void fleet_folder_close(fleet_folder *f)
{
	if (f->path == NULL) {
		return;
	}
	if (f->blobs >= 0) {
		close(f->blobs);
	}
	if (f->fd >= 0) {
		close(f->fd);
	}
	free(f->path);
	*f = (fleet_folder){0};
}

/* Is the open folder the one at the path below `parent`? */
static bool is_at(int fd, int parent, const char *path)
{
	struct stat open;
	struct stat named;
	return fstat(fd, &open) == 0 && fstatat(parent, path, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		   open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

int fleet_folder_renew(fleet_folder *f, fleet_error *error)
{
	fleet_folder next;
	const bool stands = is_at(f->fd, AT_FDCWD, f->path);
	if (stands && is_at(f->blobs, f->fd, FLEET_BLOBS)) {
		return 0;
	}
	/* The lock is that of the open folder: one that stands is not locked again. */
	const bool opened = fleet_folder_open_own(&next, f->path, error) &&
						(stands || fleet_folder_lock(&next, 0, error) > 0) &&
						(stands || dup3(next.fd, f->fd, O_CLOEXEC) >= 0) &&
						dup3(next.blobs, f->blobs, O_CLOEXEC) >= 0;
	fleet_folder_close(&next);
	return opened ? 1 : -1;
}

int fleet_folder_lock(const fleet_folder *f, unsigned wait_s, fleet_error *error)
{
	static const struct timespec nap = {.tv_nsec = 1000000000 / NAPS_A_SECOND};
	for (unsigned naps = 0; flock(f->fd, LOCK_EX | LOCK_NB) != 0; naps++) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			fail(error, "lock the folder", f->path);
			return -1;
		}
		if (naps == wait_s * NAPS_A_SECOND) {
			fleet_fail(error, "another process has held the lock of %s for %u s", f->path, wait_s);
			return 0;
		}
		nanosleep(&nap, NULL);
	}
	return 1;
}

void fleet_folder_unlock(const fleet_folder *f)
{
	flock(f->fd, LOCK_UN);
}

/* ------------------------------------------------------------------ small files */

/* Never waits for a FIFO. -1: errno says why. */
static int open_file(int folder, const char *name)
{
	struct stat st;
	const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

/* Whole, or not at all. */
static bool read_all(int fd, fleet_text *out)
{
	struct stat st;
	ssize_t got = 1;
	out->length = 0;
	while (got > 0 && out->length < sizeof(out->bytes)) {
		got = read(fd, out->bytes + out->length, sizeof(out->bytes) - out->length);
		out->length += got > 0 ? (size_t) got : 0;
	}
	if (got < 0 || fstat(fd, &st) != 0) {
		return false;
	}
	if (out->length > FLEET_HEAD_BYTES_MAX) {
		errno = EFBIG;
		return false;
	}
	out->bytes[out->length] = '\0';
	out->changed_s = (double) st.st_mtim.tv_sec + (double) st.st_mtim.tv_nsec / 1e9;
	return true;
}

static int read_in(int folder, const char *file, fleet_text *out)
{
	const int fd = open_file(folder, file);
	if (fd < 0) {
		return errno == ENOENT ? 0 : -1;
	}
	const bool whole = read_all(fd, out);
	const int code = errno;
	close(fd);
	errno = code;
	return whole ? 1 : -1;
}

/* The filter's folder, which must be there; -1. */
static int open_filter(const fleet_folder *f, const char *filter)
{
	return openat(f->fd, filter, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int fail_file(const fleet_folder *f, const char *what, const char *filter, const char *file,
	fleet_error *error)
{
	fleet_fail(error, "cannot %s %s/%s/%s: %s", what, f->path, filter, file, strerror(errno));
	return -1;
}

int fleet_folder_read(const fleet_folder *f, const char *filter, const char *file, fleet_text *out,
	fleet_error *error)
{
	const int folder = open_filter(f, filter);
	if (folder < 0) {
		return errno == ENOENT ? 0 : fail_file(f, "open", filter, file, error);
	}
	const int found = read_in(folder, file, out);
	const int code = errno;
	close(folder);
	errno = code;
	return found < 0 ? fail_file(f, "read", filter, file, error) : found;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		const ssize_t done = write(fd, bytes, length);
		if (done < 0 && errno != EINTR) {
			return false;
		}
		bytes += done > 0 ? done : 0;
		length -= done > 0 ? (size_t) done : 0;
	}
	return true;
}

/* When the file was changed; 0: now. */
static void set_time(int folder, const char *file, double changed_s)
{
	const struct timespec then = {
		.tv_sec = (time_t) floor(changed_s), .tv_nsec = changed_s == 0 ? UTIME_NOW : 0};
	const struct timespec times[2] = {then, then};
	utimensat(folder, file, times, AT_SYMLINK_NOFOLLOW);
}

/* The processes that write this file hold the folder's lock. */
static bool write_in(
	int folder, const char *file, const char *bytes, size_t length, mode_t mode, double changed_s)
{
	static const char part[] = PART "head";
	unlinkat(folder, part, 0);
	const int fd = openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		return false;
	}
	bool written = write_all(fd, bytes, length) && fchmod(fd, mode) == 0;
	set_time(folder, part, changed_s);
	written = written && fsync(fd) == 0;
	const int code = errno;
	close(fd);
	errno = code;
	return written && renameat(folder, part, folder, file) == 0 && fsync(folder) == 0;
}

bool fleet_folder_write(const fleet_folder *f, const char *filter, const char *file,
	const char *bytes, size_t length, double changed_s, fleet_error *error)
{
	const int folder = open_inside(f->fd, filter, f->mode);
	const bool written = folder >= 0 && fsync(f->blobs) == 0 && fsync(f->fd) == 0 &&
						 write_in(folder, file, bytes, length, f->mode, changed_s);
	if (!written) {
		fail_file(f, "write", filter, file, error);
	}
	if (folder >= 0) {
		close(folder);
	}
	return written;
}

void fleet_folder_remove(const fleet_folder *f, const char *filter, const char *file)
{
	const int folder = open_filter(f, filter);
	if (folder >= 0) {
		unlinkat(folder, file, 0);
		close(folder);
	}
}

void fleet_folder_set_time(
	const fleet_folder *f, const char *filter, const char *file, double changed_s)
{
	const int folder = open_filter(f, filter);
	if (folder >= 0) {
		set_time(folder, file, changed_s);
		close(folder);
	}
}

/* Calls `seen` for each name in the folder. False: it cannot be read. */
static bool walk(int folder, void (*seen)(void *, int, const char *), void *context)
{
	const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *open = own < 0 ? NULL : fdopendir(own);
	const struct dirent *entry;
	if (open == NULL) {
		if (own >= 0) {
			close(own);
		}
		return false;
	}
	while ((entry = readdir(open)) != NULL) {
		seen(context, folder, entry->d_name);
	}
	closedir(open);
	return true;
}

void fleet_kept_name(char out[FLEET_KEPT_ROOM], uint64_t version)
{
	snprintf(out, FLEET_KEPT_ROOM, FLEET_HEAD_FILE "-%" PRIu64, version);
}

/* Is it a head of an earlier version? */
static bool is_kept(const char *name, uint64_t *version)
{
	char *end;
	if (strncmp(name, FLEET_HEAD_FILE "-", 5) != 0) {
		return false;
	}
	*version = strtoull(name + 5, &end, 10);
	return *end == '\0';
}

static void note_newest(void *context, int folder, const char *name)
{
	uint64_t version;
	uint64_t *newest = context;
	(void) folder;
	if (is_kept(name, &version) && version > *newest) {
		*newest = version;
	}
}

uint64_t fleet_folder_newest(const fleet_folder *f, const char *filter)
{
	uint64_t newest = 0;
	const int folder = open_filter(f, filter);
	if (folder >= 0) {
		walk(folder, note_newest, &newest);
		close(folder);
	}
	return newest;
}

static bool may_go(const fleet_leave *leave, const char *name)
{
	return leave == NULL || leave->may_go(leave->context, name);
}

typedef struct {
	uint64_t version; /* below it */
	const fleet_leave *leave;
} forgetting;

static void forget(void *context, int folder, const char *name)
{
	uint64_t version;
	const forgetting *g = context;
	if (is_kept(name, &version) && version < g->version && may_go(g->leave, name)) {
		unlinkat(folder, name, 0);
	}
}

void fleet_folder_forget(
	const fleet_folder *f, const char *filter, uint64_t version, const fleet_leave *leave)
{
	forgetting g = {version, leave};
	const int folder = open_filter(f, filter);
	if (folder >= 0) {
		walk(folder, forget, &g);
		close(folder);
	}
}

/* ------------------------------------------------------------------ blobs */

char *fleet_folder_blob(const fleet_folder *f, const fleet_hash *hash)
{
	char *path;
	return asprintf(&path, "%s/" FLEET_BLOBS "/%s", f->path, hash->text) < 0 ? NULL : path;
}

char *fleet_folder_part(const fleet_folder *f, fleet_error *error)
{
	char *path;
	uint8_t bytes[8];
	char hex[2 * sizeof(bytes) + 1];
	randombytes_buf(bytes, sizeof(bytes));
	fleet_hex(hex, bytes, sizeof(bytes));
	if (asprintf(&path, "%s/" FLEET_BLOBS "/" PART "%s", f->path, hex) < 0) {
		fleet_fail(error, "no private memory left");
		return NULL;
	}
	return path;
}

bool fleet_folder_has(const fleet_folder *f, const fleet_hash *hash, uint64_t bytes)
{
	struct stat st;
	const int fd = open_file(f->blobs, hash->text);
	const bool found = fd >= 0 && fstat(fd, &st) == 0 && (uint64_t) st.st_size == bytes;
	if (found) {
		futimens(fd, NULL);
		permit(fd, f->mode);
	}
	if (fd >= 0) {
		close(fd);
	}
	return found;
}

void fleet_folder_note(const fleet_folder *f, const fleet_hash *hash)
{
	const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	const int fd = openat(f->blobs, hash->text, flags, f->mode);
	if (fd >= 0) {
		futimens(fd, NULL);
		close(fd);
	}
}

int fleet_folder_open_blob(const fleet_folder *f, const fleet_hash *hash)
{
	return open_file(f->blobs, hash->text);
}

static bool hash_file(int fd, fleet_hash *out, uint64_t *bytes)
{
	uint8_t buffer[BUFFER_BYTES];
	crypto_generichash_state state;
	ssize_t got;
	*bytes = 0;
	fleet_hash_begin(&state);
	while ((got = read(fd, buffer, sizeof(buffer))) > 0) {
		crypto_generichash_update(&state, buffer, (size_t) got);
		*bytes += (uint64_t) got;
	}
	fleet_hash_end(&state, out);
	return got == 0;
}

/* Syncs a file that is `sound`, or says that it is not, and closes it. */
static bool sync_part(const fleet_folder *f, int fd, bool sound, fleet_error *error)
{
	const bool whole = sound && fchmod(fd, f->mode) == 0 && fsync(fd) == 0;
	if (!whole) {
		fail(error, "read and sync a new blob in", f->path);
	}
	if (fd >= 0) {
		close(fd);
	}
	return whole;
}

static bool name_part(
	const fleet_folder *f, const char *name, const fleet_hash *hash, fleet_error *error)
{
	return renameat(f->blobs, name, f->blobs, hash->text) == 0 ||
		   fail(error, "name a new blob in", f->path);
}

static bool take(
	const fleet_folder *f, const char *name, fleet_hash *out, uint64_t *bytes, fleet_error *error)
{
	*out = (fleet_hash){""};
	const int fd = open_file(f->blobs, name);
	return sync_part(f, fd, fd >= 0 && hash_file(fd, out, bytes), error) &&
		   name_part(f, name, out, error);
}

bool fleet_folder_take(
	const fleet_folder *f, const char *part, fleet_hash *out, uint64_t *bytes, fleet_error *error)
{
	const char *name = strrchr(part, '/') + 1;
	const bool taken = take(f, name, out, bytes, error);
	if (!taken) {
		unlinkat(f->blobs, name, 0);
	}
	return taken;
}

bool fleet_folder_keep(
	const fleet_folder *f, const char *part, const fleet_hash *hash, fleet_error *error)
{
	const char *name = strrchr(part, '/') + 1;
	const int fd = open_file(f->blobs, name);
	const bool kept = sync_part(f, fd, fd >= 0, error) && name_part(f, name, hash, error);
	if (!kept) {
		unlinkat(f->blobs, name, 0);
	}
	return kept;
}

/* ------------------------------------------------------------------ the sweep */

typedef struct {
	char *texts; /* of all heads */
	size_t length;
	bool failed;
	double before_s; /* what was touched later stays */
	const fleet_leave *leave;
	unsigned removed;
} sweep;

static void gather_head(void *context, int folder, const char *name)
{
	sweep *s = context;
	uint64_t version;
	fleet_text text;
	if (strcmp(name, FLEET_HEAD_FILE) != 0 && !is_kept(name, &version)) {
		return;
	}
	const int found = read_in(folder, name, &text);
	char *more = found <= 0 ? NULL : realloc(s->texts, s->length + text.length + 1);
	if (more == NULL) {
		s->failed |= found != 0;
		return;
	}
	s->texts = more;
	memcpy(more + s->length, text.bytes, text.length + 1);
	s->length += text.length;
}

static void gather_filter(void *context, int folder, const char *name)
{
	sweep *s = context;
	if (*name == '.') {
		return;
	}
	const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		s->failed |= errno != ENOTDIR && errno != ELOOP;
		return;
	}
	s->failed |= strcmp(name, FLEET_BLOBS) != 0 && !walk(fd, gather_head, s);
	close(fd);
}

static void sweep_blob(void *context, int folder, const char *name)
{
	sweep *s = context;
	struct stat st;
	const bool is_part = strncmp(name, PART, strlen(PART)) == 0 ||
						 strncmp(name, ENGINE_PART, strlen(ENGINE_PART)) == 0;
	if ((!is_part && !fleet_is_hash(name)) ||
		fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		(double) st.st_mtim.tv_sec >= s->before_s) {
		return;
	}
	const bool is_named =
		s->texts != NULL && memmem(s->texts, s->length, name, strlen(name)) != NULL;
	if (is_part || (!is_named && may_go(s->leave, name))) {
		s->removed += unlinkat(folder, name, 0) == 0;
	}
}

unsigned fleet_folder_sweep(const fleet_folder *f, double age_s, const fleet_leave *leave)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	sweep s = {.before_s = (double) now.tv_sec + 1 - age_s, .leave = leave};
	if (walk(f->fd, gather_filter, &s) && !s.failed) {
		walk(f->blobs, sweep_blob, &s);
	}
	free(s.texts);
	return s.removed;
}
