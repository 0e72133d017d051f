/*
 * cli_folder.h - a folder that is complete, or not there.
 *
 * A new folder is made beside its place as DIR.new-XXXXXX, locked (flock) as long as its process
 * lives. It gets its name, or takes the place of a saved folder, in one step. What a killed process
 * has left is removed by the next save of the same DIR. A folder that is being read is locked too,
 * and is not removed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include "cli/cli.h"

typedef struct {
	char *path; /* where it shall be, without a slash at its end */
	char *work; /* where it is until then */
	int parent; /* the folder around both */
	int fd;     /* of the folder; locked */
} cli_folder;

/* Makes a new folder. CLI_YES, or another status, and why was said: then nothing is left. */
int cli_folder_new(const cli *c, const char *path, cli_folder *f);
/* Gives it its place. The same. */
int cli_folder_publish(const cli *c, cli_folder *f);
/* Removes a new folder. */
void cli_folder_abort(cli_folder *f);

/* Opens a saved folder to read it. CLI_YES; CLI_NO: there is none; CLI_FAILED, which was said. */
int cli_folder_open(const cli *c, const char *path, cli_folder *f);
/* Removes the folder that was opened, in one step. CLI_YES, or CLI_FAILED, which was said. */
int cli_folder_remove(const cli *c, cli_folder *f);
void cli_folder_close(cli_folder *f);

#endif
