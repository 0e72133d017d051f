/*
 * cli_mark.h - what publish has to do with the stream of adds.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef CLI_MARK_H
#define CLI_MARK_H

#include "cli/cli.h"
#include "fleet/fleet_origin.h"

/*
 * The place in the stream of the filter, the first argument, before which a batch whose rows are at
 * most `age_s` seconds old has all adds; "0-0": it is not known. CLI_YES or CLI_FAILED. The process
 * ignores SIGPIPE.
 */
int cli_mark(const cli *c, unsigned age_s, char text[FLEET_ENTRY_ID_ROOM]);
/*
 * After `next` was announced, with --stream: wakes the followers, and removes what none of them
 * needs any more. If that fails, which is said, they look at the head when they would have, and the
 * next publication trims the stream.
 */
void cli_mark_announced(const cli *c, const fleet_origin *o, const fleet_head *next, uint64_t keep);

#endif
