/*
 * fleet_folder.h - a folder of heads and blobs: an origin, and what a follower keeps.
 *
 *      FILTER/head       the newest head (fleet_folder_name() makes the name of the folder)
 *      FILTER/head-7     at an origin: the head of an earlier version, whose blobs are kept
 *      FILTER/publisher  at an origin: the epoch of the last publisher that began
 *      blobs/HASH        images and deltas
 *
 * A file gets its name in one step once it is whole and synced; a head once its blobs are.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef FLEET_FOLDER_H
#define FLEET_FOLDER_H

#include "fleet/fleet.h"

#include <sys/types.h>

typedef struct {
	char *path;
	int fd;
	int blobs;
	mode_t mode; /* of new files */
} fleet_folder;

typedef struct {
	size_t length;
	char bytes[FLEET_HEAD_BYTES_MAX + 1];
	double changed_s; /* of the file, unix time */
} fleet_text;

/*
 * Opens the folder at an origin, or makes it (mode 0700). Others may read its files if they may
 * read the folder.
 */
bool fleet_folder_open(fleet_folder *f, const char *path, fleet_error *error);
/* The same for what a follower keeps: a folder of this user, which nobody else may change, and no
 * link. */
bool fleet_folder_open_own(fleet_folder *f, const char *path, fleet_error *error);
void fleet_folder_close(fleet_folder *f);
/*
 * Opens again what a follower keeps, with its lock, if it is not at its path any more: 1; 0: it is;
 * -1: that failed, and what is open stays. Other threads may use the folder meanwhile.
 */
int fleet_folder_renew(fleet_folder *f, fleet_error *error);
/* Takes the lock of the folder: 1; 0: another process has had it for `wait_s`; -1: it failed. */
int fleet_folder_lock(const fleet_folder *f, unsigned wait_s, fleet_error *error);
void fleet_folder_unlock(const fleet_folder *f);

#define FLEET_KEPT_ROOM 32
/* The name of the file with the head of an earlier version: "head-7". */
void fleet_kept_name(char out[FLEET_KEPT_ROOM], uint64_t version);
/* Reads a small file of a filter's folder, such as "head": 1; 0: there is none; -1: it cannot be
 * read, or has more bytes than a head. */
int fleet_folder_read(const fleet_folder *f, const char *filter, const char *file, fleet_text *out,
	fleet_error *error);
/* Writes it, once all blobs are synced, as one that was changed at `changed_s`, in unix time; 0:
 * now. */
bool fleet_folder_write(const fleet_folder *f, const char *filter, const char *file,
	const char *bytes, size_t length, double changed_s, fleet_error *error);
/* Removes it, if it is there. */
void fleet_folder_remove(const fleet_folder *f, const char *filter, const char *file);
/* Sets when the file was changed, in whole seconds. */
void fleet_folder_set_time(
	const fleet_folder *f, const char *filter, const char *file, double changed_s);
/* The highest N of the files head-N; 0: there is none. */
uint64_t fleet_folder_newest(const fleet_folder *f, const char *filter);

/* Of what is about to be removed: false keeps it. NULL: all is removed. */
typedef struct {
	bool (*may_go)(void *context, const char *name);
	void *context;
} fleet_leave;

/* Removes the files head-N of versions below `version`. */
void fleet_folder_forget(
	const fleet_folder *f, const char *filter, uint64_t version, const fleet_leave *leave);

/* The path of a blob; and of a file that is not there yet, beside the blobs. NULL: no memory. To be
 * freed. */
char *fleet_folder_blob(const fleet_folder *f, const fleet_hash *hash);
char *fleet_folder_part(const fleet_folder *f, fleet_error *error);
/* Has it this blob, with so many bytes? Then the blob is as young as a new one, and may be read by
 * the same users. */
bool fleet_folder_has(const fleet_folder *f, const fleet_hash *hash, uint64_t bytes);
/* There is such a blob elsewhere: it has a file here, which is empty if the blob is not. The sweep
 * sees it as touched now. */
void fleet_folder_note(const fleet_folder *f, const fleet_hash *hash);
/* Opens it to read; -1: it is not there. */
int fleet_folder_open_blob(const fleet_folder *f, const fleet_hash *hash);
/*
 * Hashes the whole file at `part`, syncs it, and gives it the name of its hash. If that fails the
 * file is gone.
 */
bool fleet_folder_take(
	const fleet_folder *f, const char *part, fleet_hash *out, uint64_t *bytes, fleet_error *error);
/* The same for a file that is known to be what `hash` names: it is not read. */
bool fleet_folder_keep(
	const fleet_folder *f, const char *part, const fleet_hash *hash, fleet_error *error);
/*
 * Removes blobs, and files that were never finished, that no head of the folder names and that were
 * not touched for `age_s`. Returns how many. Nothing if a head cannot be read. `leave` is asked
 * about blobs.
 */
unsigned fleet_folder_sweep(const fleet_folder *f, double age_s, const fleet_leave *leave);

#endif
