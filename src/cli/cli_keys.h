/*
 * cli_keys.h - keys from files: plain, or compressed by gzip or zstd.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include "cli/cli.h"

typedef struct cli_file cli_file;

/*
 * Opens a file, "-" for the standard input. NULL: that was not possible, and was said. How it is
 * compressed is told from its first bytes.
 */
cli_file *cli_file_open(const cli *c, const char *path);
void cli_file_close(cli_file *file);
/* How many bytes were read of it, and how many it has; *size 0: that is not known. */
uint64_t cli_file_position(const cli_file *file, uint64_t *size);

/*
 * The next 1..BSHM_BATCH keys; 0: there are no more; -1: it could not be read on, which was said,
 * unless a signal came (cli_signal()). Empty keys are skipped; a line that ends in "\r\n" is taken
 * without the "\r". The keys are valid until the next call.
 */
int cli_file_keys(cli_file *file, char delimiter, bshm_key keys[BSHM_BATCH]);

/*
 * Calls `each` for 1..BSHM_BATCH keys at a time: the arguments from `first` on; or, if there are
 * none, the keys of the standard input. Ends when `each` returns another status than CLI_YES, and
 * returns that.
 */
typedef int (*cli_each)(void *context, const bshm_key *keys, unsigned count);
int cli_each_batch(const cli *c, int first, cli_each each, void *context);

#endif
