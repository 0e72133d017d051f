/*
 * cli_folder.c - a folder that is complete, or not there.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "cli/cli_folder.h"

#include "cli/cli_manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 16 /* while other saves of the same folder end */
#define NEW   ".new-"
#define OLD   ".old-" /* between two renames, where the kernel cannot exchange */

static int fail(const cli *c, const char *what, const char *path)
{
	return cli_say(c, CLI_FAILED, "cannot %s the folder %s: %s", what, path, strerror(errno));
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash == NULL ? path : slash + 1;
}

/* The path without slashes at its end, and the folder around it. */
static int open_parent(const cli *c, const char *path, cli_folder *f)
{
	*f = (cli_folder){.path = strdup(path), .parent = -1, .fd = -1};
	if (f->path == NULL) {
		return cli_no_memory(c);
	}
	char *end = f->path + strlen(f->path);
	while (end > f->path && end[-1] == '/') {
		*--end = '\0';
	}
	const char *name = name_of(f->path);
	if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		return cli_say(c, CLI_USAGE, "the folder needs a name of its own, \"%s\" given", path);
	}
	char *parent = strdup(f->path);
	if (parent == NULL) {
		return cli_no_memory(c);
	}
	parent[name - f->path] = '\0';
	f->parent = open(*parent == '\0' ? "." : parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int status = f->parent < 0 ? fail(c, "open", *parent == '\0' ? "." : parent) : CLI_YES;
	free(parent);
	return status;
}

void cli_folder_close(cli_folder *f)
{
	if (f->fd >= 0) {
		close(f->fd);
	}
	if (f->parent >= 0) {
		close(f->parent);
	}
	free(f->path);
	free(f->work);
	*f = (cli_folder){.parent = -1, .fd = -1};
}

/* ------------------------------------------------------------------ removing */

/* A file that this command, or the engine for it, makes in such a folder. */
static bool is_ours(const char *name)
{
	return cli_manifest_has_file(name) || strncmp(name, ".bloomshm.", 10) == 0;
}

/* Removes the files of a folder that is locked, and the folder. Other files stay, and so does the
 * folder then. */
static void remove_locked(int parent, const char *name, int fd)
{
	const int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = own < 0 ? NULL : fdopendir(own);
	const struct dirent *entry;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (is_ours(entry->d_name)) {
			unlinkat(fd, entry->d_name, 0);
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* Has the open folder this name still? A save may have given it another one. */
static bool is_named(int parent, const char *name, int fd)
{
	struct stat own;
	struct stat st;
	return fstat(fd, &own) == 0 && fstatat(parent, name, &st, 0) == 0 && own.st_dev == st.st_dev &&
		   own.st_ino == st.st_ino;
}

/* Removes a folder of this user, unless a process reads or writes it. One that was opened while it
 * was written may be published and unlocked by now: it has another name then. */
static void remove_folder(int parent, const char *name)
{
	struct stat st;
	const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		if (fstat(fd, &st) == 0 && (st.st_uid == geteuid() || geteuid() == 0) &&
			flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(parent, name, fd)) {
			remove_locked(parent, name, fd);
		}
		close(fd);
	}
}

/* Removes what killed saves of this folder have left. */
static void sweep(const cli_folder *f, const char *mark)
{
	const char *base = name_of(f->path);
	const size_t length = strlen(base);
	const int own = openat(f->parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = own < 0 ? NULL : fdopendir(own);
	const struct dirent *entry;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		const char *name = entry->d_name;
		if (strncmp(name, base, length) == 0 && strncmp(name + length, mark, 5) == 0 &&
			strlen(name) == length + 5 + 6) {
			remove_folder(f->parent, name);
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
}

void cli_folder_abort(cli_folder *f)
{
	remove_locked(f->parent, name_of(f->work), f->fd);
	cli_folder_close(f);
}

/* ------------------------------------------------------------------ its place */

/* A name of no file: "DIR.new-XXXXXX". NULL: no memory. */
static char *beside(const cli_folder *f, const char *mark)
{
	char *name;
	return asprintf(&name, "%s%sXXXXXX", f->path, mark) < 0 ? NULL : name;
}

/* Has the folder a manifest, and no file that is not ours? */
static bool is_saved(int fd)
{
	DIR *folder = fdopendir(fd);
	const struct dirent *entry;
	bool manifest = false;
	bool sound = true;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		const char *name = entry->d_name;
		manifest = manifest || strcmp(name, CLI_MANIFEST_FILE) == 0;
		sound = sound && (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || is_ours(name));
	}
	if (folder == NULL) {
		close(fd);
	} else {
		closedir(folder);
	}
	return manifest && sound;
}

/* Is it the folder at the place still? */
static bool is_at_place(const cli_folder *f, int fd)
{
	return is_named(f->parent, name_of(f->path), fd);
}

/* CLI_YES: a saved folder; CLI_NO: it is not; -1: it was replaced meanwhile, and is being removed.
 */
static int look_into(const cli_folder *f, int fd)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* is_saved() closes it */
	const bool saved = copy >= 0 && is_saved(copy);
	return saved ? CLI_YES : is_at_place(f, fd) ? CLI_NO : -1;
}

/* What is at the place: CLI_NO: nothing; CLI_YES: a saved folder; else it was refused. */
static int look(const cli *c, const cli_folder *f)
{
	struct stat st;
	const char *name = name_of(f->path);
	int found = -1;
	for (int tries = 0; tries < TRIES && found < 0; tries++) {
		if (fstatat(f->parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
			return errno == ENOENT ? CLI_NO : fail(c, "look at", f->path);
		}
		if (!S_ISDIR(st.st_mode)) {
			return cli_say(c, CLI_FAILED, "%s is a %s; it stays as it is", f->path,
				S_ISLNK(st.st_mode) ? "link" : "file");
		}
		const int fd = openat(f->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0) {
			return errno == ENOENT ? CLI_NO : fail(c, "open", f->path);
		}
		found = look_into(f, fd);
		close(fd);
	}
	return found == CLI_YES
			   ? CLI_YES
			   : cli_say(c, CLI_FAILED, "%s is a folder that no save has made; it stays as it is",
					 f->path);
}

int cli_folder_new(const cli *c, const char *path, cli_folder *f)
{
	int status = open_parent(c, path, f);
	if (status == CLI_YES) {
		status = look(c, f);
	}
	if (status > CLI_NO) {
		cli_folder_close(f);
		return status;
	}
	sweep(f, NEW);
	for (int tries = 0; tries < TRIES; tries++) {
		struct stat st;
		free(f->work);
		f->work = beside(f, NEW);
		if (f->work == NULL || mkdtemp(f->work) == NULL) {
			break;
		}
		f->fd = open(f->work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (f->fd >= 0 && flock(f->fd, LOCK_EX) == 0 && fstat(f->fd, &st) == 0 &&
			st.st_nlink != 0) {
			return CLI_YES;
		}
		rmdir(f->work); /* a save that began meanwhile took it for one that was left */
	}
	status = fail(c, "make", f->work == NULL ? path : f->work);
	cli_folder_close(f);
	return status;
}

/* For file systems that cannot exchange: CLI_YES; CLI_NO: try again. A process that is killed
 * between the two renames leaves both folders, and none at the place. */
static int replace(cli_folder *f)
{
	char *old = beside(f, OLD);
	if (old == NULL || mkdtemp(old) == NULL) {
		free(old);
		return CLI_NO;
	}
	int status = rename(f->path, old) == 0 && rename(f->work, f->path) == 0 ? CLI_YES : CLI_NO;
	const int code = errno;
	if (status == CLI_NO && rmdir(old) != 0 && rename(old, f->path) != 0) {
		status = CLI_FAILED;
	}
	errno = code;
	free(old);
	return status;
}

/* CLI_YES; CLI_NO: the place has changed, or errno says why it is not possible. */
static int take_place(cli_folder *f, bool there)
{
	const unsigned flags = there ? RENAME_EXCHANGE : RENAME_NOREPLACE;
	if (renameat2(AT_FDCWD, f->work, AT_FDCWD, f->path, flags) == 0) {
		return CLI_YES;
	}
	if (errno != EINVAL && errno != ENOSYS) {
		return CLI_NO;
	}
	return there ? replace(f) : rename(f->work, f->path) == 0 ? CLI_YES : CLI_NO;
}

int cli_folder_publish(const cli *c, cli_folder *f)
{
	int status = CLI_NO;
	bool there = false;
	for (int tries = 0; tries < TRIES && status == CLI_NO; tries++) {
		const int found = look(c, f);
		if (found > CLI_NO) {
			return found;
		}
		there = found == CLI_YES;
		status = take_place(f, there);
		if (status == CLI_NO && errno != EEXIST && errno != ENOENT && errno != ENOTEMPTY) {
			break;
		}
	}
	if (status != CLI_YES) {
		return fail(c, "replace", f->path);
	}
	fsync(f->parent);
	if (there) {
		remove_folder(f->parent, name_of(f->work));
	}
	sweep(f, OLD);
	return CLI_YES;
}

/* ------------------------------------------------------------------ reading */

int cli_folder_open(const cli *c, const char *path, cli_folder *f)
{
	struct stat st;
	const int status = open_parent(c, path, f);
	if (status != CLI_YES) {
		return status;
	}
	for (int tries = 0; tries < TRIES; tries++) {
		f->fd = openat(f->parent, name_of(f->path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (f->fd < 0) {
			return errno == ENOENT ? CLI_NO : fail(c, "open", f->path);
		}
		if (fstat(f->fd, &st) != 0 || flock(f->fd, LOCK_SH) != 0) {
			return fail(c, "lock", f->path);
		}
		if (is_at_place(f, f->fd)) {
			break;
		}
		close(f->fd); /* a save has replaced it */
		f->fd = -1;
	}
	if (st.st_uid != geteuid() && st.st_uid != 0) {
		return cli_say(c, CLI_FAILED, "the folder %s belongs to uid %u; it is not trusted", f->path,
			(unsigned) st.st_uid);
	}
	return CLI_YES;
}

int cli_folder_remove(const cli *c, cli_folder *f)
{
	if (!is_at_place(f, f->fd)) {
		return CLI_YES; /* a save has replaced it */
	}
	f->work = beside(f, NEW);
	if (f->work == NULL || mkdtemp(f->work) == NULL) {
		return fail(c, "remove", f->path);
	}
	if (rename(f->path, f->work) != 0) { /* as that of a link */
		const int status = fail(c, "remove", f->path);
		rmdir(f->work);
		return status;
	}
	fsync(f->parent);
	if (flock(f->fd, LOCK_EX | LOCK_NB) == 0) {
		remove_locked(f->parent, name_of(f->work), f->fd);
	}
	return CLI_YES;
}
