/*
 * cli_announce.h - load --publish: what a load has published in the segment is announced, too.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_ANNOUNCE_H
#define CLI_ANNOUNCE_H

#include "cli/cli.h"

#include <jansson.h>

/*
 * Before the first row is read: checks the options and the key, and finds the place in the stream.
 * `is_piped`: no key comes from a file, which may be of any age. CLI_YES, CLI_USAGE or CLI_FAILED.
 */
int cli_announce_begin(cli *c, bool is_piped);
/*
 * Announces the filter, and prints a line; with --json *figures is a document instead.
 * `published_s`: of what was loaded; if it is not that any more, nothing is announced.
 */
int cli_announce(cli *c, double published_s, json_t **figures);

#endif
